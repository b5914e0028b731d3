"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# bound.py
STEPS = 60
"""Cutting planes in nu for one bound; a handful is the rule. Chosen: measured in one case: the same from 30 to 120."""
ROUNDS = 8
"""Points Ch tried for one bound. Chosen: measured in one case: at 4 the work 0.97 times, the certificate 1.04 times; at
16 the work 1.02 times."""
WORTH = 0.02
"""The share of the possible gain that cutting an input must reach, and a further step in nu or Ch. Chosen: measured in
one case: at 0.01 the work 1.04 times; at 0.04 the same."""

# boxes.py
MARGIN = 1e-13
"""Relative: intervals are called empty, and functions convex, only where rounding cannot have made them so. Chosen:
measured in one case: the same from 1e-14 to 1e-12."""
FIRST = 2.0**20
"""Added to the gains of inputs that must be chosen: above any gain, and small enough to leave their digits. Chosen:
measured in one case: the same from 1.049e+05 to 1.049e+07."""

# proof.py
CUT_BITS = 72
"""Cuts and points are multiples of 2^-72: at k = 10,000 the numbers themselves are about 2^-13, and limits on them are
parted by little more than 2^-40. Chosen: measured in one case: the same from 64 to 80."""
OWN_NODES = 6000
"""Nodes of a search that is made for a proof alone. Chosen: by reason, as no case reads it: a guard: a proof of more
nodes takes the checker long."""

# search.py
CELLS = 1 << 16
"""Boxes bounded in one call, times inputs: what keeps numpy busy without filling memory. Chosen: measured in one case:
the same from 32,768 to 131,072."""
WON_ANYWAY = 1e-3
"""Added to the gain of each half, so that closing one half counts even where the other gains nothing. Chosen: measured
in one case: the same from 0.0001 to 0.01."""
ROUGH = 2e-2
"""Where nothing wins more than this, the input with the worst tangent is cut: that wins late, and then all at once.
Chosen: measured in one case: the same from 0.01 to 0.04."""

# starts.py
FEW, SOME = 48, 24
"""Largest k at which every input is tried as the one outside the box, and how many inputs at either end of the order by
prior are tried at a larger one. Chosen: FEW measured in one case: the same from 24 to 96; SOME measured in one case:
the same from 12 to 48."""
