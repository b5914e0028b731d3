"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# linear.py
ROUNDS = 200
"""Rounds of new events at most. Chosen: measured in one case: the same from 100 to 400."""
FEW = 1024
"""Entries up to which HiGHS solves a programme over a graph: its vertices are sparser, and it takes little longer.
Chosen: measured in 2 cases: at 512 the same; at 2,048 the work 1.21 times (1.00 to 1.46), the certificate 1.12 times
(1.00 to 1.26), the gap 0.33 times (0.11 to 1.00)."""
MOST = 20_000_000
"""Edges of all columns together, above which the interior point would take gigabytes. Chosen: measured in 2 cases: the
same from 10,000,000 to 40,000,000."""
LEVELS = 1e-6, 100.0
"""The logs of ratios between which the interior point keeps its digits. Chosen: measured in one case: the same from
half to double."""
LEFT = 0.25
"""The share of the wanted gap that is left to the interior point: the rest is for rounding. Chosen: measured in one
case: at 0.125 the same; at 0.5 the gap 3.64 times."""

# linear_dual.py
FINE = 88
"""Residuals are raised to multiples of 2^-88, which costs less than the rounding of the shift. Chosen: measured in 2
cases: at 44 the work 0.87 times (0.76 to 1.00), costs far apart: bounded; at 176 the same."""

# angular.py
THIN = 0.05
"""The share of the gap that rounding the flows may cost: coarser flows make smaller certificates. Chosen: measured in
one case: the same from 0.025 to 0.1."""
BAND = 8
"""Inputs of a block at least: smaller ones take more calls, larger ones more arithmetic. Chosen: measured in one case:
the same from 4 to 16."""
CHUNK = 500_000
"""Numbers of a row of blocks that are handled at once: more leave the processor's caches, fewer take more calls.
Chosen: measured in one case: the same from 250,000 to 1,000,000."""
RIDGE = 1e-16
"""A pivot is at least this share of the sums of rows, which rounding may make negative. Chosen: measured in one case:
the same from 1e-17 to 1e-15."""
SHARPER = 1e-14
"""What is added to the diagonal of the scaled sum of inverses: degenerate programmes have a singular one. Chosen:
measured in one case: the same from 1e-15 to 1e-13."""
ROUNDS_INSIDE = 80
"""Steps after which the path is given up; fifteen to thirty are usual. Chosen: measured in one case: the same from 40
to 160."""
CORRECTORS = 3
"""Further correctors of a step at most: each takes a tenth of what a factor takes. Chosen: measured in one case: at 1
the gap 1.33 times; at 6 the gap 0.72 times."""
LONGER = 0.3
"""How much longer a step a further corrector aims at. Chosen: measured in one case: at 0.15 the gap 1.54 times; at 0.6
the gap 1.61 times."""
MIDDLE = 0.01
"""Products of slacks and flows between this share of their goal and its inverse are left as they are. Chosen: measured
in one case: the same from 0.005 to 0.02."""
WITHIN = 0.95
"""The share of the way to the border that a step may take. Chosen: measured in one case: at 0.475 the same; at 0.975
the gap 1.58 times."""
BEYOND = 1e-8
"""A step shorter than this is the last one: it was rounding. Chosen: measured in one case: the same from 1e-09 to
1e-07."""
