"""Numbers that several modules of this theory share."""

from fractions import Fraction

ROWS = 64
"""Columns that climb together."""
HAIR = 1e-9
"""The share by which points stay on their side of lo, and of a sum of r, whatever rounds them."""
UNCHANGED = 1e-13
"""The share by which rounding changes G, or a condition of the vertex list that holds: the vertex is kept."""
SLACK = Fraction(1, 2**76)
"""The slack of a leaf, as a share of its terms: more than the format's 2^-80."""
