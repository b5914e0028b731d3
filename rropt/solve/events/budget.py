"""The tuned numbers of approximate privacy, by the module that uses them, each with what it trades."""

# anchor.py
ROUNDS = 60
"""Linear programmes at most, each with the events that the one before violates."""
SPARE = 1e-6
"""Events within this of their bound (or a quarter of delta) are listed too, so that they get slack."""

# moments.py
LARGEST = 6
"""Inputs at most whose rays are listed: six have thousands, and each more has ten times as many."""
