"""Numbers that several modules of this theory share."""

SAFE = 1e-9
"""Margins are kept this far from zero, as slack for rounding."""
