"""Numbers that several modules of this theory share."""

LARGEST = 6
"""Inputs at most: they have 9,365 rays."""
