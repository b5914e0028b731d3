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

# block_knapsack_joined.py
ORDERS = 16
"""Orders of the inputs of a block in one call. Chosen: by reason, as no case of the usual effort reads it: on three
pairs of Adult 12 missed more columns, 24 took a third longer."""
LEFT_OUT = 5
"""Inputs of largest r that sets may lack. Chosen: by reason, as no case of the usual effort reads it: with two, columns
of the pair with the fewest inputs were missed by a tenth of the optimum."""
SLOPES, BINS, POLISHED = 24, 60, 16
"""Candidates of a block that others may go with: the best ones for so many slopes and in so many intervals of w; and
the columns whose blocks may then take any candidate. Chosen: by reason, as no case of the usual effort reads it: with
40 intervals and no such columns half of the best reduced price was missed."""
EVEN, TURNED = 3, 5
"""Values of b between its ends, and values at which vertices change their kind. Chosen: by reason, as no case of the
usual effort reads it: each costs the same, and the best b is an end or such a turn."""
SWEEPS = 8
"""Times that every block may change. Chosen: by reason, as no case of the usual effort reads it: a guard: two or three
are usual."""

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
LONGER, GROWTH, CAUTION = 1.5, 8, 0.7
"""A longer proof is written where it may have so many times the elements, so many times at most, and as many as this
share of the time seems to allow. Chosen: by reason, as no case of the usual effort reads it: below LONGER the bound
hardly gains; GROWTH leaves a long proof where a longer one does not end in time; elements further down take longer.
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
MOST_NODES = 400_000
"""Nodes of the search of a proof whose method has none. Chosen: by reason: a method that searches brings its search, and
a checker takes long for a larger tree."""
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
MIDDLING = 12
"""Columns of the master, for each input, that prices are found from at first. Chosen: measured in 3 cases of 49 pairs:
at 4 the seconds 1.15 to 1.45 times, with all of them the same."""
CENTRAL = 10.0
"""The master's own gap is left at the whole one over this. Chosen: measured in 2 cases: the same from 5 to 20."""
ADDED = 2
"""Columns added a round, for each input. Chosen: measured in 2 cases: at 1 the work 1.09 times (1.05 to 1.14); at 4 the
work 1.05 times (1.02 to 1.07)."""
SERIOUS = 0.1
"""The box moves where a bound falls by this share of the reduction that the master predicted. Chosen: measured in 2
cases: the same from 0.05 to 0.2."""

# wide.py
SMALL_BLOCK = 8
"""Inputs of a block up to which a search takes milliseconds, so that columns put together do not pay. Chosen: by
reason, as no case of the usual effort reads it: on tables of 2 x 10 they save a third of the time, on 4 x 8 nothing."""
SHARE = 0.6
"""How far trial prices are on the way from those that no known column exceeds to the master's. Chosen: by reason, as no
case of the usual effort reads it: the same from 0.5 to 0.75 on two pairs of Adult, at 0.3 twice as slow."""
KEPT_WORD, LITTLE = 0.3, 1e-3
"""Shares of what the sum of prices promised to fall by: below the first the box grows where it binds, below the other
there was no progress. Chosen: by reason, as no case of the usual effort reads it: as for SERIOUS; LITTLE is a guard."""
FEWER = 4
"""A round adds one column for so many inputs at most. Chosen: by reason, as no case of the usual effort reads it: with
two for each input the master took most of the time."""
NEARER = 0.06
"""A search follows when the optimum is nearer than this share of the gap. Chosen: by reason, as no case of the usual
effort reads it: the same from 0.03 to 0.1: rounds are cheap at first, and slow near the optimum."""
ACCEPTED, EXPLAINED = 0.1, 0.9
"""A search ends at this share of the gap, and where its best column has this share of what is left. Chosen: by reason,
as no case of the usual effort reads it: each search lessens the gap ten times; better prices are cheaper than nodes."""
RESERVED = 0.15
"""The share of a time limit that is left at least to prove what a search over large blocks found, and to check the
proof. Chosen: by reason, as no case has a clock: a bound without a proof is worth less, and both take a tenth in most
cases."""
PROVED = 3.8
"""Times as long as an element of the shortest proof takes one of the whole proof, with shorter proofs before it and the
check. Chosen: by reason, as no case has a clock: writing and checking alone took 1.9 to 3.2 on four pairs of Adult."""
