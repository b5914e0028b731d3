"""Numbers that several modules of this theory share."""

LEAST = 1.0
"""Seconds that a last resort has whatever the time is: no answer at all is worse than one that is late."""
RISE = 1e-12
"""A step that gains no more is the last one."""
WORK_BITS = 224
"""Fixed-point precision of the leaf test."""
STEPS = 60
"""Steps after which the path is given up; a dozen are usual."""
PATIENCE = 600.0
"""Seconds for programmes that no time limit governs, those of rounding and of proofs: small beside the search."""
GAIN = 1e-12
"""A reduced price, or an increase of the value (relative to it above 1), that is more than the rounding of floats."""
LISTED = 16
"""Inputs up to which all 2^k corners are listed, each with what is computed for it."""
GRACE = 2.0
"""Seconds that proving may take, after a time limit or Ctrl-C too."""
CLIMB_STEPS = 40
"""Steps of one climb at most: nearly all end before, where nothing is gained."""
HALVED = 60
"""How often a share is halved at most, on the way to an anchor or to the mass at which light inputs are divided."""
CELLS = 4096
"""The certificate format takes no more cells of a matrix in proofs by branches over it."""
RATIO_BITS = 40
"""Ratios are rounded to multiples of 2^-40, on the side that keeps the constraint."""
SLACK = 1e-9
"""A best slack, or an elastic optimum, below this counts as zero: floats cannot prove so small a violation."""
LEAF_BITS = 48
"""A leaf's t is a multiple of 2^-48: where two sets tie at a leaf, its bound has a kink in t, and a rounding of t costs
its own size."""
LEAST_GAP = 1e-9
"""Gaps below this share of the value are not attempted: the linear programmes are exact to about 1e-10."""
ROUNDED = 1e-12
"""The error that is assumed of floats, as a share of their terms: a thousand times their rounding."""
