"""Numbers that several modules of this theory share."""

MARGIN = 1e-13
"""Relative: intervals are called empty, and functions convex, only where rounding cannot have made them so."""
