"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# block_cuts.py
STILL = 0.1
"""After two rounds that lower a bound by less than this share of the tolerance there are no more. Chosen: measured in
one case: at 0.05 the same; at 0.2 the certificate 1.02 times."""
VIOLATED = 1e-9
"""Cuts that a point violates by more than this share of its largest entry are added. Chosen: measured in one case: the
same from 1e-10 to 1e-08."""
NEARLY_EXACT = 1e-10
"""Chords that over-estimate by less than this are taken for exact. Chosen: measured in one case: the same from 1e-11 to
1e-09."""

# climb.py
TRIES = 6
"""Steps without gain after which a climb ends. Chosen: measured in 2 cases: the same from 3 to 12."""
SPARSE = 0.3
"""Random columns are Dirichlet with this parameter: a few large entries, many small ones. Chosen: measured in 2 cases:
at 0.15 the work 0.91 times (0.84 to 0.99); at 0.6 the work 0.96 times (0.92 to 1.01)."""
CLIMB_PRESENT = 40
"""Cuts that the linear programme keeps, for each input. Chosen: measured in 2 cases: the same from 20 to 80."""
MOVED = 0.1
"""Entries above this share of a column's largest are moved to its least one, others to its largest. Chosen: measured in
2 cases: the same from 0.05 to 0.2."""
LEAST_ENTRY = 1e-9
"""Logarithms of entries are taken from here on. Chosen: measured in 2 cases: the same from 1e-10 to 1e-08."""

# confidence_cuts.py
RANDOM, MOST_RANDOM = 4, 40
"""Points for each input, and at most, from which a batch climbs besides the columns in use: half of them are one block
away from such a column. Chosen: RANDOM measured in 2 cases: at 2 the same; at 8 the work 1.03 times (1.02 to 1.03);
MOST_RANDOM measured in 2 cases: the same from 20 to 80."""
ROUGH, FIRST = 1e-4, 0.15
"""The gap to which the polytope form is solved for a start, and its share of the time. Chosen: ROUGH by reason, as no
other value was tried: the start is left for the exact cone, so a thousandth of its value would do, and a tenth of that
is a safe one; FIRST by reason, as no case has a clock: the start need not be good, and the search gets the rest."""
KEPT = 4
"""Columns that are crossed, for each input. Chosen: measured in 2 cases: the same from 2 to 8."""
BATCHES = (0.25, 0.75)
"""Batches without a column before a search, for each input: at first, and at most; two more after every search, which
takes as long as many batches. Chosen: measured in 2 cases: at half the same; at double the work 1.04 times (1.03 to
1.05)."""
USEFUL, LEAST = 0.2, 0.02
"""Shares of the gap: climbs from the columns in use alone are enough where they gain more than the first, and columns
that gain less than the second are left out. Chosen: USEFUL measured in 2 cases: the same from 0.1 to 0.4; LEAST
measured in 2 cases: the same from 0.01 to 0.04."""
LAST = 0.5
"""The share of a time limit after which one search goes on to the end. Chosen: by reason, as no case has a clock: the
last search has to close what batches leave open."""
SHARE = 0.7
"""The share of the wanted gap that the prices are raised by before their bound is proved. Chosen: measured in 2 cases:
at 0.35 the work 1.04 times (1.03 to 1.06), the certificate 1.04 times (1.03 to 1.05), the gap 0.47 times (0.44 to
0.50); at 0.85 the same."""
BOXES = 5_000_000
"""Boxes of a search at most. Chosen: measured in 2 cases: the same from 2,500,000 to 10,000,000."""

# cut_batches.py
ROWS = 16
"""Cuts in use, for each input, beyond which half of them are dropped when new ones come. Chosen: measured in 2 cases:
the same from 8 to 32."""
WAITING = 24
"""Boxes that wait for cuts before these are put to use, at most. Chosen: measured in one case: the same from 12 to
48."""

# cut_pool.py
CUT_BITS = 60
"""Weights of a cut are whole numbers that sum to about 2^60. Chosen: measured in 2 cases: the same from 52 to 68."""
TIGHT = 1e-11
"""Violations below this, per unit of the largest entry, are rounding. Chosen: measured in 2 cases: at 1e-12 the work
1.42 times (1.00 to 2.03); at 1e-10 the same."""

# cut_program.py
NOISE = 1e-12
"""Residuals of inputs without prior below this are zero: their prices are raised by more when they are written. Chosen:
measured in 2 cases: the same from 1e-13 to 1e-11."""
RAY_SPARED = 1e-6
"""Shadow prices of a ray, the largest of which is one, are rounding below this. Chosen: measured in one case: the same
from 1e-07 to 1e-05."""
NO_CONFLICT = 1e-9
"""Rays that contradict limits by less than this show nothing. Chosen: measured in one case: the same from 1e-10 to
1e-08."""
BEYOND = 1e-6
"""Empty limits are bounded by so much less than is asked. Chosen: measured in one case: the same from 1e-07 to
1e-05."""

# cut_search.py
ROUNDS = 40
"""Rounds of cuts for one box at most. Chosen: measured in 2 cases: the same from 20 to 80."""
PRESENT = 24
"""Cuts that a linear programme keeps, for each input. Chosen: measured in 2 cases: the same from 12 to 48."""
BATCH = 16
"""Optima of boxes that are tried as starts of climbs at a time, and boxes before the first time. Chosen: measured in 2
cases: the same from 8 to 32."""
RARELY = 4096
"""Boxes between two times that climbs start from optima at most: their number is doubled after each. Chosen: measured
in 2 cases: the same from 2,048 to 8,192."""
WIDER = 1.01
"""Limits that the cuts imply are taken wider by this factor: the rest is to be provably empty. Chosen: by reason, as no
case reads it: one percent is far above rounding, and adds little to the limits."""

# cut_trees.py
HIGHEST = 1e7
"""The number for an absent upper limit in the linear programmes. Chosen: measured in 2 cases: the same from 1e+06 to
1e+08."""

# cuts_proof.py
WRITINGS = 3
"""Times that a tree is written at most, with the prices of inputs without prior raised by what leaves lacked: their
limit may be absent, and then no leaf may leave them a positive residual, not even by rounding. Chosen: measured in 2
cases: the same from 1 to 6."""

# dominant_input.py
MOST, MOST_OF_BLOCK = 24, 16
"""Cuts that a linear programme over all inputs, or over those of a block, keeps for each of them. Chosen: MOST measured
in 2 cases: the same from 12 to 48; MOST_OF_BLOCK measured in one case: at 8 the certificate 1.02 times; at 32 the
same."""
NEAR_TANGENT, TANGENT = 0.02, 1e-4
"""Tangents are moved where the mass of an optimum is away from theirs by more than this share, while boxes are bounded
whole, and by blocks. Chosen: NEAR_TANGENT measured in 2 cases: the same from 0.01 to 0.04; TANGENT by reason, as no
case reads it: a tangent that is off by a share d costs d^2, here 1e-8."""
TANGENTS = 4
"""Tangents for one box at most, by blocks. Chosen: measured in 2 cases: the same from 2 to 8."""
PROMISING = 0.1
"""The sum of the bounds of all cases up to which this search is the one to use, as a share of the value. Chosen:
measured in 2 cases: at 0.05 the certificate 1.10 times (1.00 to 1.21); at 0.2 the same."""
TRIED = 0.5
"""Boxes whose bound is less than this share of p_x above what is accepted are tried by blocks. Chosen: measured in one
case: the same from 0.25 to 1."""
PARTED = 400
"""Splits of the trees of all blocks of one box at most. Chosen: measured in one case: the same from 200 to 800."""
CASES = 8
"""Boxes, of different cases, whose blocks are bounded together at most. Chosen: measured in 2 cases: the same from 4 to
16."""
TOGETHER, SHARED = 4, 0.3
"""Boxes of a block that are split at a time; blocks that lose less than this share of what the worst one loses wait.
Chosen: TOGETHER measured in one case: the same from 2 to 8; SHARED measured in one case: the same from 0.15 to 0.6."""
FINE = 1 / 8
"""The tolerance of a block, as a share of the slack of the raised prices. Chosen: measured in one case: at 0.0625 the
same; at 0.25 the certificate 1.02 times."""
SPARED = 0.1
"""The gap above the best column at which a search that settles stops, besides its margin, as a share of its price.
Chosen: by reason, as no case reads it: a tenth of the gap above the best column changes the bound little, and ends the
search earlier."""
REACHED = 0.02
"""Where a block's best point is more than this share of the box above its lower limit, that limit is split. Chosen: by
reason, as no case reads it: a lower limit is worth a split only where the point is away from it."""

# outer.py
CONES = 100
"""Outer cones at most. Chosen: measured in one case: the same from 50 to 200."""
FIRST_GAP, FIRST_SHARE = 1e-2, 0.3
"""The relative gap to which the first outer cone is solved, and its share of the time. Chosen: FIRST_GAP by reason, as
no other value was tried: the first cone is left for finer ones, so one percent is enough; FIRST_SHARE by reason, as no
case has a clock: the first cone starts from nothing, the later ones from its columns."""
FINER = 0.1
"""The gap of the further outer cones, as a share of what the mechanism lost on its way into the exact cone. Chosen:
measured in one case: the same from 0.05 to 0.2."""
CLIMBS, MIXTURE_CLIMBS, MIXTURES = 20, 1, 2
"""Steps of the climb of a column at most, of one between two mixtures, and mixtures between two outer cones. Chosen:
CLIMBS by reason, as no case reads it: climbs start from columns that are good already; MIXTURE_CLIMBS measured in one
case: the same from 2; MIXTURES measured in one case: at 1 the work 0.92 times, the certificate 0.89 times, the gap 1.23
times; at 4 the same."""
AT_BOUNDARY = 1e-9
"""Shares of the way to a constant column below which a column is on the boundary of the exact cone. Chosen: measured in
one case: the same from 1e-10 to 1e-08."""
LEAST_SLOPED = 1e-12
"""Slopes are taken at entries from here on. Chosen: measured in one case: the same from 1e-13 to 1e-11."""
NO_MASS = 1e-11
"""Columns with less mass than this are not looked at. Chosen: measured in one case: the same from 1e-12 to 1e-10."""
SMALL = 0.05
"""Columns that gain less than this share of the gap are not added to a mixture. Chosen: measured in one case: the same
from 0.025 to 0.1."""
