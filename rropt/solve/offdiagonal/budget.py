"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# bound.py
STEPS = 60
"""Cutting planes in nu for one bound; a handful is the rule."""
ROUNDS = 8
"""Points Ch tried for one bound."""
WORTH = 0.02
"""The share of the possible gain that cutting an input must reach, and a further step in nu or Ch."""

# boxes.py
MARGIN = 1e-13
"""Relative: intervals are called empty, and functions convex, only where rounding cannot have made them so."""
FIRST = 2.0**20
"""Added to the gains of inputs that must be chosen: above any gain, and small enough to leave their digits."""

# proof.py
CUT_BITS = 72
"""Cuts and points are multiples of 2^-72: at k = 10,000 the numbers themselves are about 2^-13, and limits on them are
parted by little more than 2^-40."""
OWN_NODES = 6000
"""Nodes of a search that is made for a proof alone."""

# search.py
CELLS = 1 << 16
"""Boxes bounded in one call, times inputs: what keeps numpy busy without filling memory."""
WON_ANYWAY = 1e-3
"""Added to the gain of each half, so that closing one half counts even where the other gains nothing."""
ROUGH = 2e-2
"""Where nothing wins more than this, the input with the worst tangent is cut: that wins late, and then all at once."""

# starts.py
FEW, SOME = 48, 24
"""Largest k at which every input is tried as the one outside the box, and how many inputs at either end of the order by
prior are tried at a larger one."""
