"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# climb.py
SAFE = 1e-9
"""Margins are kept this far from zero, as slack for rounding. Chosen: measured in 2 cases: at 1e-10 the work 0.97 times
(0.95 to 1.00); at 1e-08 the work 0.92 times (0.84 to 1.00)."""
TRIES, CLOSE = 40, 2**-32
"""Tries of a step back to the bound, and how near to it, as a share of the way, they end: the rest is lost value.
Chosen: TRIES measured in one case: the same from 20 to 80; CLOSE measured in one case: the same from 2.328e-11 to
2.328e-09."""
CALMER = 8
"""Matrices with little truth that are averaged, at most. Chosen: by reason, as no case reads it: averages of more are
near the constant matrix, which is a candidate of its own."""
GAIN = 1e-9
"""A step that gains less, times max(1, |value|), is the last one. Chosen: measured in one case: the same from 1e-10 to
1e-08."""

# floats.py
NEVER = 1e3
"""The margin of a number of records that cannot occur: far above every other one, and finite. Chosen: measured in 2
cases: the same from 500 to 2000."""
LARGEST_ODDS = 1e12
"""The odds of a cell that is one, in floats. Chosen: measured in 2 cases: the same from 1e+11 to 1e+13."""

# private.py
ROWS = 512
"""No more rows of the cone are handed to the search over cells; where all pairs are more, a category's own cell is
compared with the others of its column. Chosen: measured in one case: the same from 256 to 1,024."""
STARTS = 6
"""Costs that climbs start from: the truth and random ones. Chosen: by reason, as no case reads it: both kinds are among
them; each costs a climb."""
TRUTH = 1e-3
"""What a cell of truth counts against a broken bound where columns are put into another order. Chosen: measured in one
case: the same from 0.0001 to 0.01."""
CLIMBING = 0.3
"""The share of a time limit after which mechanisms are no longer searched. Chosen: by reason, as no case has a clock:
the search that follows gets most of the time."""

# proof.py
BITS = 52
"""Multipliers are multiples of one power of two, as small as lets the largest be an integer below 2^52. Chosen:
measured in one case: at 44 the certificate 0.98 times; at 60 the work 1.92 times, risk-branch: bounded."""
TANGENT_BITS = 40
"""A tangent point is a multiple of 2^-40: any point gives a true tangent. Chosen: measured in one case: the same from
32 to 48."""
YIELD_BITS = 100
"""Yields are rounded up to multiples of 2^-100. Chosen: measured in one case: the same from 92 to 108."""
THRESHOLD_BITS = 120
"""An irrational yield of thresholds is rounded up to a multiple of 2^-120. Chosen: measured in one case: the same from
112 to 128."""
SLACK_BITS = 80
"""Each unit of size adds 2^-80, which is above what is rounded. Chosen: measured in one case: the same from 72 to
88."""

# risk.py
LINEAR_CLIMBING = 0.2
"""The share of a time limit after which good mechanisms are no longer searched. Chosen: by reason, as no case has a
clock: climbs of a linear goal are short, and the search gets the rest."""

# search.py
ROUNDS = 12
"""Times that one node's linear programme gets new cuts. Chosen: measured in one case: at 6 the work 0.97 times; at 24
the work 1.06 times."""
PENALTY = 1e3
"""The penalty of breaking a row in the linear programmes, times the largest cost: with it they always have a solution.
Chosen: measured in one case: the same from 500 to 2000."""
STEEPEST = 1 - 1e-7
"""Tangents are not taken closer to one than this. Chosen: measured in one case: at 0.5 the work 2.59 times, the
certificate 1.47 times, the gap 92.42 times, risk-branch: bounded; at 1 the same."""
STAYING = 200
"""Boxes spent on how many records of one category may stay, each. Chosen: by reason, as no case reads it: there is one
such search a category, each over a few numbers."""
CHUNK = 50
"""Nodes between two reports of progress. Chosen: measured in one case: the same from 25 to 100."""
LIMITING = 0.6
"""The share of a time limit after which limits of single cells are no longer searched. Chosen: by reason, as no case
has a clock: limits of cells serve the search, which gets the rest."""
MOST = 4_000
"""Nodes of one search at most: a larger tree cannot be written or checked. Chosen: measured in one case: the same from
2,000 to 8,000."""
POINT_BITS = 30
"""Points of tangents are multiples of 2^-30, which keeps the numbers of a proof short. Chosen: measured in one case:
the same from 22 to 38."""
BRANCH_BITS = 40
"""Branches are at multiples of 2^-40, and of 2^-60 below 2^-20. Chosen: measured in one case: the same from 32 to
48."""
