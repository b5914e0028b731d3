"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

from fractions import Fraction

# block_knapsack.py
LARGEST = 1e6
"""Multipliers are no larger. Chosen: measured in one case: the same from 1e+05 to 1e+07."""
STEEP = (1e1, 1e2, 1e3, 1e4)
"""Multipliers that are tried where a cell may be without columns. Chosen: by reason, as no case of the usual effort
reads it: rates of columns are below ten, and a proof's rounding grows with a multiplier."""
TOUCHES = 12
"""Lines that touch the bound of a cell as a function of its multiplier at most. Chosen: measured in one case: at 6 the
same; at 24 the work 1.03 times."""

# block_knapsack_climb.py
STEPS = 12
"""Linearisations of one climb at most. Chosen: measured in one case: the same from 6 to 24."""
GRID = 9
"""Values of b that are always tried. Chosen: by reason, as no case of the usual effort reads it: a ninth of the range
is near enough for a linearisation to climb from."""
ROWS = 64
"""Columns that climb together. Chosen: by reason, as no case of the usual effort reads it: enough columns for one call
of numpy."""

# block_knapsack_points.py
POINTS = 4
"""Cells of q in each of the two zones, below and above lo. Chosen: by reason, as no case of the usual effort reads it:
points are added where the bound is loose, so a start needs few."""
EXTRA = 4
"""Further points of a block: where vertices that may be best lie. Chosen: by reason, as no case of the usual effort
reads it: as many vertices of a block as lie on either side of the best one."""
HEAVY = 2
"""Inputs of a block whose own r, and all but whose own r, are points. Chosen: by reason, as no case of the usual effort
reads it: the two heaviest inputs carry most of a block whose counts are uneven."""
HAIR = 1e-9
"""The share by which points stay on their side of lo, and of a sum of r, whatever rounds them. Chosen: by reason, as no
case of the usual effort reads it: a thousand times the rounding of the sums it stands beside."""

# block_knapsack_proof.py
LEVEL_MARGIN = 1e-10
"""The share of the prices by which they are raised more at first. Chosen: by reason, as no case of the usual effort
reads it: a hundred times ROUNDED, and a share of every gap that does not matter."""
LEVEL_CHUNK = 16
"""Leaves whose cells are made at once. Chosen: by reason, as no case of the usual effort reads it: enough leaves for
one call of numpy, and few enough to stop soon."""
SHORT, LARGEST_PROOF = 60, 8000
"""Elements of the proof that always comes first, and of the next one at most: trees are cut off higher up. Chosen:
SHORT by reason, as no case of the usual effort reads it: such a proof takes the checker seconds, so there is always
one; LARGEST_PROOF by reason, as no case of the usual effort reads it: a guard: a proof of more elements takes the
checker minutes."""
LONGER = 1.5
"""A longer proof is written where it may have so many times the elements. Chosen: by reason, as no case of the usual
effort reads it: below that the bound hardly gains, and the time is lost.
"""
SECONDS_CHECKED = 2.2
"""Seconds that the checker takes for a proof that is written in one second. Chosen: by reason, as no case has a clock:
a ratio of two times, which processors change little; too small a one leaves the check unfinished."""

# block_knapsack_search.py
FLAT = 1e-10
"""A slope whose bound could fall by no more is kept. Chosen: by reason, as no case of the usual effort reads it: a
hundred times ROUNDED, below which slopes are rounding."""
WIDE, PARTED = 0.3, 0.1
"""Relative widths of b above which it is split first, and where the ends of b are of interest alike. Chosen: WIDE by
reason, as no case of the usual effort reads it: a b known to a third still leaves cells too wide to bound; PARTED by
reason, as no case of the usual effort reads it: a third of WIDE, below which both ends bound alike."""
REFINED, PER_TURN = 4, 2
"""Times that the cells of a node are made, and further points of a block each time. Chosen: REFINED by reason, as no
case of the usual effort reads it: each time makes the cells of a node dearer, and splitting is then better; PER_TURN by
reason, as no case of the usual effort reads it: one point on either side of the best one."""
LOOSE = 0.3
"""The share of a node's excess from which its cells are made finer. Chosen: by reason, as no case of the usual effort
reads it: cells are made finer where they hold a third of what is missing."""
MEANT = 0.02
"""Points are no nearer to the ends of a cell than this share of it. Chosen: by reason, as no case of the usual effort
reads it: cells of less than a fiftieth bound nothing better."""
STALLED = 0.03
"""The share of a positive bound by which splitting b has to lessen it; otherwise something else is split next. Chosen:
by reason, as no case of the usual effort reads it: three percent of a bound pays for two further nodes."""

# block_knapsack_start.py
ALIKE = 96
"""Inputs above which rare ones are first treated alike. Chosen: by reason, as no case of the usual effort reads it: a
master with more rows takes longer than all climbs."""
ROUNDS = 40
"""Rounds of climbs at most, with rare inputs treated alike and with all of them. Chosen: by reason, as no case of the
usual effort reads it: a guard: STALE ends nearly all starts before."""
STALE, RISEN = 6, 1e-3
"""Rounds that may pass while the value of the master rises by less than this share of it. Chosen: STALE by reason, as
no case of the usual effort reads it: one round without a gain may be bad luck, six are not; RISEN by reason, as no case
of the usual effort reads it: a thousandth is below the gap at which a start is left."""
BALANCED_ROUNDS = 6
"""Rounds in which columns are accompanied by the rest of a constant one. Chosen: by reason, as no case of the usual
effort reads it: after a few rounds columns balance one another."""
BOX_WIDTH = 0.5
"""Half the width of the box around the last prices, as a share of the mean of the prior and the uniform one. Chosen: by
reason, as no case of the usual effort reads it: half of the mean lets prices reach zero, and keeps them from
leaping."""
MIDDLE = 0.02
"""The master's own gap is left at this share of its value. Chosen: by reason, as no case of the usual effort reads it:
an exact master of a start is work for nothing."""
WILD = 4.0
"""The logarithms of entries to start from have standard deviations up to this. Chosen: by reason, as no case of the
usual effort reads it: exp(4) is above most ratios that the tables have."""
FEW = 32
"""Sets at random a round, at least. Chosen: by reason, as no case of the usual effort reads it: enough sets for one
call of numpy."""
PATIENCE = 20.0
"""Seconds for one master. Chosen: by reason, as no case has a clock: a guard against masters that degenerate."""
FIRST = 0.4
"""Entropy prices are this much too high to begin with. Chosen: by reason, as no case of the usual effort reads it:
prices that begin too high find columns that are large everywhere."""

# block_vertices.py
UNCHANGED = 1e-13
"""The share by which rounding changes G, or a condition of the vertex list that holds: the vertex is kept. Chosen:
measured in 2 cases: the same from 1e-14 to 1e-12."""
TIED = 1e-12
"""Weights of vertices that differ by less than this share are not separated. Chosen: measured in 2 cases: the same from
1e-13 to 1e-11."""
SHARE = (5**0.5 - 2) * 2
"""The place where two weights are separated. The middle is exactly the weight of a third vertex where ratios are simple
(gamma = 300, every r = 0), and floats and the checker would put that one on different sides. Chosen: measured in 2
cases: at 0.2361 the same; at 0.9443 the certificate 1.03 times (1.00 to 1.06)."""

# block_vertices_proof.py
ASSUMED_ERROR = 1e-10
"""The error that is assumed of floats, as a share of their terms. Chosen: measured in 2 cases: the same from 1e-11 to
1e-09."""
CHUNK = 64
"""Leaves whose vertex lists are made at once. Chosen: measured in 2 cases: the same from 32 to 128."""
EARLIER, CHECKED = 10**8, 4 * 10**8
"""The limits of versions 3 and 4 of the format on the elements times what the vertex lists of all blocks take. Chosen:
EARLIER measured in 2 cases: the same from 50,000,000 to 200,000,000; CHECKED by reason, as no case reads it: the format
sets both limits."""
MARGIN = 4e-15
"""The share of the prices by which they are raised more at first. Chosen: measured in 2 cases: the same from 4e-16 to
4e-14."""
GIVEN_UP = 0.02
"""The share of a missed target that may be lost for a shorter proof. Chosen: measured in 2 cases: the same from 0.01 to
0.04."""

# blocks.py
TABLED = 20_000_000
"""Numbers of one table that is kept; a larger one is made row by row as it is needed. Chosen: measured in 2 cases: the
same from 10,000,000 to 40,000,000."""

# leaves.py
SLACK = Fraction(1, 2**76)
"""The slack of a leaf, as a share of its terms: more than the format's 2^-80. Chosen: measured in 2 cases: the same
from half to double."""
TRIALS = 12
"""Margins tried, each eight times the one before. Chosen: measured in 2 cases: the same from 6 to 24."""
STEEPEST = 600.0
"""Logarithms of t beyond this only show that a node is empty. Chosen: measured in 2 cases: the same from 300 to
1200."""

# pricing.py
ROUNDING = 1e-14
"""Bounds that are above the best column by no more are not split. Chosen: measured in 2 cases: the same from 1e-15 to
1e-13."""
TURNS = 60
"""Slopes tried for a node at most; about six are usual. Chosen: measured in 2 cases: the same from 30 to 120."""
STEEPEST_SLOPE = 1e4
"""Slopes beyond this only show that a node is empty. Chosen: measured in 2 cases: the same from 5000 to 2e+04."""

# robust.py
NODES = 50_000
"""Nodes of one pricing search at most. Chosen: measured in 2 cases: at 25,000 the work 1.03 times (1.01 to 1.04); at
100,000 the work 1.03 times (1.01 to 1.04)."""
CENTRAL = 10.0
"""The master's own gap is left at the whole one over this. Chosen: measured in 2 cases: the same from 5 to 20."""
ADDED = 2
"""Columns added a round, for each input. Chosen: measured in 2 cases: at 1 the work 1.09 times (1.05 to 1.14); at 4 the
work 1.05 times (1.02 to 1.07)."""
BALANCED = 0.05
"""Columns are accompanied while the gap is above this share of the bound. Chosen: measured in 2 cases: the same from
0.025 to 0.1."""
SERIOUS = 0.1
"""The box moves where a bound falls by this share of the reduction that the master predicted. Chosen: measured in 2
cases: the same from 0.05 to 0.2."""

# wide.py
WIDE_NODES = 80
"""Nodes of one pricing search at most where blocks are too large to list their vertices. Chosen: by reason, as no case
of the usual effort reads it: a node of such a block takes as long as hundreds of others."""
PATIENT = ((0.5, 500), (0.7, 2_000), (0.85, NODES))
"""Shares of a time limit after which a search over such large blocks may have more nodes. Chosen: by reason, as no case
has a clock: long searches at prices that still move are lost work."""
WARM = 0.4
"""The share of a time limit for the columns that a solve with large blocks starts from. Chosen: by reason, as no case
has a clock: better first prices save searches, which get the rest."""
SPENT, GROWN = 0.5, 3
"""Where the best column is below this share of a search's gap, the next one has so many times the nodes. Chosen: SPENT
measured in 2 cases: the same from 0.125 to 0.5; GROWN measured in one case: at 1 the work 0.98 times, the certificate
0.58 times, the gap 1.82 times; at 6 the same."""
CLIMBED, QUIET = 8, 0.3
"""Rounds of climbs before a search at most, and the share of what the bound may fall by: where a climb finds a column
that is above, another round follows. Chosen: CLIMBED by reason, as no case of the usual effort reads it: a guard, QUIET
ends nearly all; QUIET by reason, as no case of the usual effort reads it: a search takes as long as three rounds."""
SHARES = (0.5, 0.75)
"""How far prices are on the way from those of the best bound to the master's, in turn. Chosen: by reason, as no case of
the usual effort reads it: half is best for the pair with most inputs, more for the one whose searches leave most open.
"""
SOLVED = 8
"""Rounds after which the master is solved to a vertex. Chosen: by reason, as no case of the usual effort reads it: it
takes as long as two rounds, whose prices do not need it."""
DEEPER = 0.25
"""The share of the time that the search of the best bound is continued in, where no column explains what it leaves
open. Chosen: by reason, as no case has a clock: at other prices a new search would have to become as deep first."""
KEPT_WORD = 0.3
"""A bound that falls by less than this share of what its prices promised, without a column that explains it, asks for
larger searches. Chosen: by reason, as no case of the usual effort reads it: above it, better prices gain more."""
NEAR, TREES = 0.25, 8
"""The share of a search's bound above which cells have their best fractional columns kept, and of how many searches
these are. Chosen: by reason, as no case of the usual effort reads it: cells that bound less do not matter for the next
prices, and the cells of earlier searches are others."""
RESERVED = 0.15
"""The share of a time limit that is left at least to prove what a search over large blocks found, and to check the
proof. Chosen: by reason, as no case has a clock: a bound without a proof is worth less, and both take a tenth in most
cases."""
PROVED = 2.5
"""Times as long as a node of a search takes its element of the proof, with the check. Chosen: by reason, as no case has
a clock: 1.6 to 2.2 on four pairs of the Adult data."""
