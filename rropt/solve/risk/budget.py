"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# climb.py
SAFE = 1e-9
"""Margins are kept this far from zero, as slack for rounding."""
TRIES, CLOSE = 40, 2**-32
"""Tries of a step back to the bound, and how near to it, as a share of the way, they end: the rest is lost value."""
CALMER = 8
"""Matrices with little truth that are averaged, at most."""
GAIN = 1e-9
"""A step that gains less, times max(1, |value|), is the last one."""

# floats.py
NEVER = 1e3
"""The margin of a number of records that cannot occur: far above every other one, and finite."""
LARGEST_ODDS = 1e12
"""The odds of a cell that is one, in floats."""

# private.py
ROWS = 512
"""No more rows of the cone are handed to the search over cells; where all pairs are more, a category's own cell is
compared with the others of its column."""
STARTS = 6
"""Costs that climbs start from: the truth, shifts of it, and random ones."""
PLACED, TRUTH = 32, 1e-3
"""Inputs up to which columns are put into another order, and what a cell of truth counts against a broken bound."""
CLIMBING, CLIMBING_ONLY, LONGEST = 0.3, 0.9, 15.0
"""The share of a time limit after which mechanisms are no longer searched: where a search follows, and where none
does, for information, whose bound takes half of it; the seconds of that bound where there is no limit."""

# proof.py
BITS = 52
"""Multipliers are multiples of one power of two, as small as lets the largest be an integer below 2^52."""
TANGENT_BITS = 40
"""A tangent point is a multiple of 2^-40: any point gives a true tangent."""
YIELD_BITS = 100
"""Yields are rounded up to multiples of 2^-100."""
THRESHOLD_BITS = 120
"""An irrational yield of thresholds is rounded up to a multiple of 2^-120."""
SLACK_BITS = 80
"""Each unit of size adds 2^-80, which is above what is rounded."""

# risk.py
LINEAR_CLIMBING = 0.2
"""The share of a time limit after which good mechanisms are no longer searched."""

# search.py
ROUNDS = 12
"""Times that one node's linear programme gets new cuts."""
PENALTY = 1e3
"""The penalty of breaking a row in the linear programmes, times the largest cost: with it they always have a
solution.
"""
STEEPEST = 1 - 1e-7
"""Tangents are not taken closer to one than this."""
STAYING = 200
"""Boxes spent on how many records of one category may stay, each."""
CHUNK = 50
"""Nodes between two reports of progress."""
LIMITING = 0.6
"""The share of a time limit after which limits of single cells are no longer searched."""
MOST = 4_000
"""Nodes of one search at most: a larger tree cannot be written or checked."""
POINT_BITS = 30
"""Points of tangents are multiples of 2^-30, which keeps the numbers of a proof short."""
BRANCH_BITS = 40
"""Branches are at multiples of 2^-40, and of 2^-60 below 2^-20."""
