"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# block_cuts.py
STILL = 0.1
"""After two rounds that lower a bound by less than this share of the tolerance there are no more."""
VIOLATED = 1e-9
"""Cuts that a point violates by more than this share of its largest entry are added."""
NEARLY_EXACT = 1e-10
"""Chords that over-estimate by less than this are taken for exact."""

# climb.py
TRIES = 6
"""Steps without gain after which a climb ends."""
SPARSE = 0.3
"""Random columns are Dirichlet with this parameter: a few large entries, many small ones."""
CLIMB_PRESENT = 40
"""Cuts that the linear programme keeps, for each input."""
MOVED = 0.1
"""Entries above this share of a column's largest are moved to its least one, others to its largest."""
LEAST_ENTRY = 1e-9
"""Logarithms of entries are taken from here on."""

# confidence_cuts.py
RANDOM, MOST_RANDOM = 4, 40
"""Points for each input, and at most, from which a batch climbs besides the columns in use: half of them are one block
away from such a column."""
ROUGH, FIRST = 1e-4, 0.15
"""The gap to which the polytope form is solved for a start, and its share of the time."""
KEPT = 4
"""Columns that are crossed, for each input."""
BATCHES = (0.25, 0.75)
"""Batches without a column before a search, for each input: at first, and at most; two more after every search,
which takes as long as many batches."""
USEFUL, LEAST = 0.2, 0.02
"""Shares of the gap: climbs from the columns in use alone are enough where they gain more than the first, and columns
that gain less than the second are left out."""
LAST = 0.5
"""The share of a time limit after which one search goes on to the end."""
SHARE = 0.7
"""The share of the wanted gap that the prices are raised by before their bound is proved."""
BOXES = 5_000_000
"""Boxes of a search at most."""

# cut_batches.py
ROWS = 16
"""Cuts in use, for each input, beyond which half of them are dropped when new ones come."""
WAITING = 24
"""Boxes that wait for cuts before these are put to use, at most."""

# cut_pool.py
CUT_BITS = 60
"""Weights of a cut are whole numbers that sum to about 2^60."""
TIGHT = 1e-11
"""Violations below this, per unit of the largest entry, are rounding."""

# cut_program.py
NOISE = 1e-12
"""Residuals of inputs without prior below this are zero: their prices are raised by more when they are written."""
RAY_SPARED = 1e-6
"""Shadow prices of a ray, the largest of which is one, are rounding below this."""
NO_CONFLICT = 1e-9
"""Rays that contradict limits by less than this show nothing."""
BEYOND = 1e-6
"""Empty limits are bounded by so much less than is asked."""

# cut_search.py
ROUNDS = 40
"""Rounds of cuts for one box at most."""
PRESENT = 24
"""Cuts that a linear programme keeps, for each input."""
BATCH = 16
"""Optima of boxes that are tried as starts of climbs at a time, and boxes before the first time."""
RARELY = 4096
"""Boxes between two times that climbs start from optima at most: their number is doubled after each."""
WIDER = 1.01
"""Limits that the cuts imply are taken wider by this factor: the rest is to be provably empty."""

# cut_trees.py
HIGHEST = 1e7
"""The number for an absent upper limit in the linear programmes."""

# cuts_proof.py
WRITINGS = 3
"""Times that a tree is written at most, with the prices of inputs without prior raised by what leaves lacked: their
limit may be absent, and then no leaf may leave them a positive residual, not even by rounding."""

# dominant_input.py
MOST, MOST_OF_BLOCK = 24, 16
"""Cuts that a linear programme over all inputs, or over those of a block, keeps for each of them."""
NEAR_TANGENT, TANGENT = 0.02, 1e-4
"""Tangents are moved where the mass of an optimum is away from theirs by more than this share, while boxes are bounded
whole, and by blocks."""
TANGENTS = 4
"""Tangents for one box at most, by blocks."""
PROMISING = 0.1
"""The sum of the bounds of all cases up to which this search is the one to use, as a share of the value."""
TRIED = 0.5
"""Boxes whose bound is less than this share of p_x above what is accepted are tried by blocks."""
PARTED = 400
"""Splits of the trees of all blocks of one box at most."""
CASES = 8
"""Boxes, of different cases, whose blocks are bounded together at most."""
TOGETHER, SHARED = 4, 0.3
"""Boxes of a block that are split at a time; blocks that lose less than this share of what the worst one loses wait."""
FINE = 1 / 8
"""The tolerance of a block, as a share of the slack of the raised prices."""
SPARED = 0.1
"""The gap above the best column at which a search that settles stops, besides its margin, as a share of its price."""
REACHED = 0.02
"""Where a block's best point is more than this share of the box above its lower limit, that limit is split."""

# outer.py
CONES = 100
"""Outer cones at most."""
FIRST_GAP, FIRST_SHARE = 1e-2, 0.3
"""The relative gap to which the first outer cone is solved, and its share of the time."""
FINER = 0.1
"""The gap of the further outer cones, as a share of what the mechanism lost on its way into the exact cone."""
CLIMBS, MIXTURE_CLIMBS, MIXTURES = 20, 1, 2
"""Steps of the climb of a column at most, of one between two mixtures, and mixtures between two outer cones."""
AT_BOUNDARY = 1e-9
"""Shares of the way to a constant column below which a column is on the boundary of the exact cone."""
LEAST_SLOPED = 1e-12
"""Slopes are taken at entries from here on."""
NO_MASS = 1e-11
"""Columns with less mass than this are not looked at."""
SMALL = 0.05
"""Columns that gain less than this share of the gap are not added to a mixture."""
