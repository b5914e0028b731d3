"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# linear.py
ROUNDS = 200
"""Rounds of new events at most."""

# linear_dual.py
FINE = 88
"""Residuals are raised to multiples of 2^-88, which costs less than the rounding of the shift."""
