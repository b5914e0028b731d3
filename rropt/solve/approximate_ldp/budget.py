"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# anchor.py
ROUNDS = 60
"""Linear programmes at most, each with the events that the one before violates. Chosen: by reason, as no case reads it:
a guard against rounds that gain nothing: each adds all events that are violated."""
SPARE = 1e-6
"""Events within this of their bound (or a quarter of delta) are listed too, so that they get slack. Chosen: by reason,
as no case reads it: ten thousand times the tolerance of the programmes, so that none is missed, and few are added."""

# moments.py
LARGEST = 6
"""Inputs at most: they have 9,365 rays. Chosen: measured in 2 cases: the same from 3 to 12."""
