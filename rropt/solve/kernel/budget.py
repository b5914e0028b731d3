"""The tuned numbers of the kernel, by the module that uses them, each with what it trades."""

# anchor.py
POSITIVE = 1e-7
"""A multiplier above this shows that its inequality is tight at every feasible point."""

# climb.py
RISE = 1e-12
"""A step that gains no more is the last one."""
LEAST = 1e-9
"""Near a zero the slope of x log x is large; at one it is only its direction that counts."""
SINGULAR = 1e12
"""A condition number of the information matrix above this means that the frequencies are not identified."""
DOUBTFUL = 2.0**-44
"""A matrix whose least eigenvalue is below this share of the largest, for each row, may be singular."""

# curves.py
WORK_BITS = 224
"""Fixed-point precision of the leaf test."""

# highs_run.py
DEAF = 0.5
"""Seconds after which a HiGHS that ignores its time limit and its cancellation is abandoned."""

# interior.py
STEPS = 60
"""Steps after which the path is given up; a dozen are usual."""
INSIDE = 0.98
"""The share of the way to the border that a step may take: nearer to it, prices are less central."""
PIVOT = 1e-9
"""Entries of a column of the tableau that count as zero, relative to its largest."""
FEASIBLE = 1e-9
"""Residuals up to which a point counts as feasible: proofs repair what is left."""

# lp.py
FEASIBILITY = 1e-10
"""The tightest tolerance that HiGHS takes, primal and dual: the proofs repair what is left."""
PLAIN = 8
"""Costs whose largest is between 2^-8 and 2^8 are handed over as they are; others are scaled, for tolerances are
absolute."""
SPREAD = 20
"""Entries smaller than 2^-20 times the largest of their row or column do not count when a matrix is balanced."""
PASSES = 2
"""Passes over the rows and columns of a matrix that is balanced."""
RERUN = 60.0
"""Seconds after which one of many small programmes is given up: they take milliseconds."""
PATIENCE = 600.0
"""Seconds for programmes that no time limit governs, those of rounding and of proofs: small beside the search."""
LARGE = 50_000
"""Entries from which a programme may take longer than the time that is left: it runs in a thread of its own, where
it can be abandoned."""

# master.py
CLOSE = 0.75
"""The share of the wanted gap at which to stop: the rest is for losses of rounding and proof."""
BRIEF = 100_000
"""Entries of a master that HiGHS solves again within milliseconds, without interruption."""
DENSE = 128
"""Rows from which an interior point solves the master: a simplex takes seconds, at times minutes, where many columns
are nearly as good as the best."""
SHARE, TIGHT, LOOSE = 1 / 16, 1e-12, 1e-8
"""The gap of the interior point, as a share of the wanted one; and its limits, relative to the largest utility."""
FAR = 16
"""An interior point with this times the gap that it should have has failed."""
KEPT = 12
"""Columns the master keeps, for each input, before the idle half is dropped; twice as many after each
drop without a gain, as dropped columns may be regenerated indefinitely."""
GAIN = 1e-12
"""A reduced price, or an increase of the value (relative to it above 1), that is more than the rounding of floats."""

# milp.py
INTEGER_FEASIBILITY = 1e-7
"""Tolerance on rows, bounds and integrality: solutions are made exact elsewhere. At 1e-9, its tightest, HiGHS
calls programmes infeasible that have a solution."""

# polyhedral.py

# rays.py
LISTED = 16
"""Inputs up to which all 2^k corners are listed, each with what is computed for it."""
ENUMERATED = 20
"""Largest k whose 2^k staircase rays are priced by enumeration (8 MB an array at 20)."""
LARGEST_CDD = 12
"""Largest k that is handed to cddlib."""
NARROW = 2.0**-4
"""Entries that differ by less than this share are handed over as differences."""
LARGEST_GRAPH = 7
"""Largest k of a graph of ratios that is handed to cddlib: it may have C(2k - 2, k - 1) rays."""

# route.py
GRACE = 2.0
"""Seconds that proving may take, after a time limit or Ctrl-C too."""
PROVING = 1.5
"""Seconds after the end of the whole solve when proving must be over."""

# several theories
CLIMB_STEPS = 40
"""Steps of one climb at most: nearly all end before, where nothing is gained."""
HALVED = 60
"""How often a share is halved at most, on the way to an anchor or to the mass at which light inputs are divided."""
CELLS = 4096
"""The certificate format takes no more cells of a matrix in proofs by branches over it."""
RATIO_BITS = 40
"""Ratios are rounded to multiples of 2^-40, on the side that keeps the constraint."""
SLACK = 1e-9
"""A best slack, or an elastic optimum, below this counts as zero: floats cannot prove so small a violation."""
LEAF_BITS = 48
"""A leaf's t is a multiple of 2^-48: where two sets tie at a leaf, its bound has a kink in t, and a rounding of t costs
its own size."""
LEAST_GAP = 1e-9
"""Gaps below this share of the value are not attempted: the linear programmes are exact to about 1e-10."""
ROUNDED = 1e-12
"""The error that is assumed of floats, as a share of their terms: a thousand times their rounding."""
