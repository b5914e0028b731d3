"""Numbers that several modules of this theory share."""

NOISE = 1e-12
"""Residuals of inputs without prior below this are zero: their prices are raised by more when they are written."""
ROUNDS = 40
"""Rounds of cuts for one box at most."""
PRESENT = 24
"""Cuts that a linear programme keeps, for each input."""
HIGHEST = 1e7
"""The number for an absent upper limit in the linear programmes."""
