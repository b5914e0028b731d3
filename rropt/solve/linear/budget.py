"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# linear.py
ROUNDS = 200
"""Rounds of new events at most."""
FEW = 1024
"""Entries up to which HiGHS solves a programme over a graph: its vertices are sparser, and it takes little longer."""
MOST = 20_000_000
"""Edges of all columns together, above which the interior point would take gigabytes."""
LEVELS = 1e-6, 100.0
"""The logs of ratios between which the interior point keeps its digits."""
LEFT = 0.25
"""The share of the wanted gap that is left to the interior point: the rest is for rounding."""

# linear_dual.py
FINE = 88
"""Residuals are raised to multiples of 2^-88, which costs less than the rounding of the shift."""

# angular.py
THIN = 0.05
"""The share of the gap that rounding the flows may cost: coarser flows make smaller certificates."""
BAND = 8
"""Inputs of a block at least: smaller ones take more calls, larger ones more arithmetic."""
CHUNK = 500_000
"""Numbers of a row of blocks that are handled at once: more leave the processor's caches, fewer take more calls."""
RIDGE = 1e-16
"""A pivot is at least this share of the sums of rows, which rounding may make negative."""
SHARPER = 1e-14
"""What is added to the diagonal of the scaled sum of inverses: degenerate programmes have a singular one."""
ROUNDS_INSIDE = 80
"""Steps after which the path is given up; fifteen to thirty are usual."""
CORRECTORS = 3
"""Further correctors of a step at most: each takes a tenth of what a factor takes."""
LONGER = 0.3
"""How much longer a step a further corrector aims at."""
MIDDLE = 0.01
"""Products of slacks and flows between this share of their goal and its inverse are left as they are."""
WITHIN = 0.95
"""The share of the way to the border that a step may take."""
BEYOND = 1e-8
"""A step shorter than this is the last one: it was rounding."""
