"""Numbers that several modules of this theory share."""

from fractions import Fraction

ROWS = 64
"""Columns that climb together."""
HAIR = 1e-9
"""The share by which points stay on their side of lo, and of a sum of r, whatever rounds them."""
UNCHANGED = 1e-13
"""The share by which rounding changes G, or a condition of the vertex list that holds: the vertex is kept."""
SHARE = (5**0.5 - 2) * 2
"""The place where two weights are separated. The middle is exactly the weight of a third vertex where ratios are simple
(gamma = 300, every r = 0), and floats and the checker would put that one on different sides."""
SLACK = Fraction(1, 2**76)
"""The slack of a leaf, as a share of its terms: more than the format's 2^-80."""
SHARE = 0.6
"""How far trial prices are on the way from those that no known column exceeds to the master's."""
