"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

from fractions import Fraction

# block_knapsack.py
LARGEST = 1e6
"""Multipliers are no larger."""
TOUCHES = 12
"""Lines that touch the bound of a cell as a function of its multiplier at most."""

# block_knapsack_climb.py
STEPS = 12
"""Linearisations of one climb at most."""
GRID = 9
"""Values of b that are always tried."""
ROWS = 64
"""Columns that climb together."""

# block_knapsack_points.py
POINTS = 4
"""Cells of q in each of the two zones, below and above lo."""
EXTRA = 4
"""Further points of a block: where vertices that may be best lie."""
HEAVY = 2
"""Inputs of a block whose own r, and all but whose own r, are points."""
HAIR = 1e-9
"""The share by which points stay on their side of lo, and of a sum of r, whatever rounds them."""

# block_knapsack_proof.py
LEVEL_MARGIN = 1e-10
"""The share of the prices by which they are raised more at first."""
LEVEL_CHUNK = 16
"""Leaves whose cells are made at once."""
SHORT, LARGEST_PROOF = 60, 8000
"""Elements of the proof that always comes first, and of the next one at most: trees are cut off higher up."""
SECONDS_CHECKED = 2.2
"""Seconds that the checker takes for a proof that is written in one second."""

# block_knapsack_search.py
FLAT = 1e-10
"""A slope whose bound could fall by no more is kept."""
WIDE, PARTED = 0.3, 0.1
"""Relative widths of b above which it is split first, and where the ends of b are of interest alike."""
REFINED, PER_TURN = 4, 2
"""Times that the cells of a node are made, and further points of a block each time."""
LOOSE = 0.3
"""The share of a node's excess from which its cells are made finer."""
MEANT = 0.02
"""Points are no nearer to the ends of a cell than this share of it."""
STALLED = 0.03
"""The share of a positive bound by which splitting b has to lessen it; otherwise something else is split next."""

# block_knapsack_start.py
ALIKE = 96
"""Inputs above which rare ones are first treated alike."""
ROUNDS = 40
"""Rounds of climbs at most, with rare inputs treated alike and with all of them."""
STALE, RISEN = 6, 1e-3
"""Rounds that may pass while the value of the master rises by less than this share of it."""
BALANCED_ROUNDS = 6
"""Rounds in which columns are accompanied by the rest of a constant one."""
BOX_WIDTH = 0.5
"""Half the width of the box around the last prices, as a share of the mean of the prior and the uniform one."""
MIDDLE = 0.02
"""The master's own gap is left at this share of its value."""
WILD = 4.0
"""The logarithms of entries to start from have standard deviations up to this."""
FEW = 32
"""Sets at random a round, at least."""
PATIENCE = 20.0
"""Seconds for one master."""
FIRST = 0.4
"""Entropy prices are this much too high to begin with."""

# block_vertices.py
UNCHANGED = 1e-13
"""The share by which rounding changes G, or a condition of the vertex list that holds: the vertex is kept."""
TIED = 1e-12
"""Weights of vertices that differ by less than this share are not separated."""
SHARE = (5**0.5 - 2) * 2
"""The place where two weights are separated. The middle is exactly the weight of a third vertex where ratios are simple
(gamma = 300, every r = 0), and floats and the checker would put that one on different sides."""

# block_vertices_proof.py
ASSUMED_ERROR = 1e-10
"""The error that is assumed of floats, as a share of their terms."""
CHUNK = 64
"""Leaves whose vertex lists are made at once."""
EARLIER, CHECKED = 10**8, 4 * 10**8
"""The limits of versions 3 and 4 of the format on the elements times what the vertex lists of all blocks take."""
MARGIN = 4e-15
"""The share of the prices by which they are raised more at first."""
GIVEN_UP = 0.02
"""The share of a missed target that may be lost for a shorter proof."""

# blocks.py
TABLED = 20_000_000
"""Numbers of one table that is kept; a larger one is made row by row as it is needed."""

# leaves.py
SLACK = Fraction(1, 2**76)
"""The slack of a leaf, as a share of its terms: more than the format's 2^-80."""
TRIALS = 12
"""Margins tried, each eight times the one before."""
STEEPEST = 600.0
"""Logarithms of t beyond this only show that a node is empty."""

# pricing.py
ROUNDING = 1e-14
"""Bounds that are above the best column by no more are not split."""
TURNS = 60
"""Slopes tried for a node at most; about six are usual."""
STEEPEST_SLOPE = 1e4
"""Slopes beyond this only show that a node is empty."""

# robust.py
NODES = 50_000
"""Nodes of one pricing search at most."""
WIDE_NODES = 80
"""Nodes of one pricing search at most where blocks are too large to list their vertices."""
PATIENT = ((0.5, 500), (0.7, 2_000), (0.85, NODES))
"""Shares of a time limit after which a search over such large blocks may have more nodes."""
WARM = 0.4
"""The share of a time limit for the columns that a solve with large blocks starts from."""
SPENT, GROWN = 0.25, 3
"""Where the best column is below this share of a search's gap, the next one has so many times the nodes."""
RESERVED = 0.35
"""The share of a time limit that is left to prove what a search over large blocks found, and to check the proof."""
CENTRAL = 10.0
"""The master's own gap is left at the whole one over this."""
ADDED = 2
"""Columns added a round, for each input."""
BALANCED = 0.05
"""Columns are accompanied while the gap is above this share of the bound."""
SERIOUS = 0.1
"""The box moves where a bound falls by this share of the reduction that the master predicted."""
