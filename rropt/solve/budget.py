"""Numbers that several modules of this theory share."""

LEAST = 1.0
"""Seconds that a last resort has whatever the time is: no answer at all is worse than one that is late."""
HALVINGS = 12
"""Halvings in search of the least share of a constant."""
