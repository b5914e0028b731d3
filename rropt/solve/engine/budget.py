"""The tuned numbers of the kernel, by the module that uses them, each with what it trades and how it was chosen."""

# anchor.py
POSITIVE = 1e-7
"""A multiplier above this shows that its inequality is tight at every feasible point. Chosen: by reason, as no case
reads it: a thousand times the tolerance of the programmes, so that rounding does not make a row tight."""

# climb.py
RISE = 1e-12
"""A step that gains no more is the last one. Chosen: measured in 2 cases: the same from 1e-13 to 1e-11."""
LEAST = 1e-9
"""Near a zero the slope of x log x is large; at one it is only its direction that counts. Chosen: measured in 2 cases:
the same from 1e-10 to 1e-08."""
SINGULAR = 1e12
"""A condition number of the information matrix above this means that the frequencies are not identified. Chosen:
measured in one case: the same from 1e+11 to 1e+13."""
DOUBTFUL = 2.0**-44
"""A matrix whose least eigenvalue is below this share of the largest, for each row, may be singular. Chosen: by reason,
as no case reads it: 256 times the rounding of floats."""

# curves.py
WORK_BITS = 224
"""Fixed-point precision of the leaf test. Chosen: measured in 2 cases: the same from 216 to 232."""

# highs_run.py
DEAF = 0.5
"""Seconds after which a HiGHS that ignores its time limit and its cancellation is abandoned. Chosen: by reason, as no
case has a clock: a quarter of the grace: longer takes the time of the proof, shorter abandons runs that would
answer."""

# interior.py
STEPS = 60
"""Steps after which the path is given up; a dozen are usual. Chosen: measured in 2 cases: the same from 30 to 120."""
INSIDE = 0.98
"""The share of the way to the border that a step may take: nearer to it, prices are less central. Chosen: measured in 2
cases: at 0.49 the work 1.15 times (1.08 to 1.24); at 0.99 the same."""
PIVOT = 1e-9
"""Entries of a column of the tableau that count as zero, relative to its largest. Chosen: by reason, as no case reads
it: ten times the tolerance of HiGHS."""
FEASIBLE = 1e-9
"""Residuals up to which a point counts as feasible: proofs repair what is left. Chosen: measured in 2 cases: the same
from 1e-10 to 1e-08."""

# lp.py
FEASIBILITY = 1e-10
"""The tightest tolerance that HiGHS takes, primal and dual: the proofs repair what is left. Chosen: measured in 2
cases: at 1e-11 the same; at 1e-09 the work 1.04 times (1.00 to 1.09)."""
PLAIN = 8
"""Costs whose largest is between 2^-8 and 2^8 are handed over as they are; others are scaled, for tolerances are
absolute. Chosen: measured in 2 cases: the same from 4 to 16."""
SPREAD = 20
"""Entries smaller than 2^-20 times the largest of their row or column do not count when a matrix is balanced. Chosen:
by reason, as no case reads it: a millionth: smaller entries hardly count beside a largest one that is scaled to one."""
PASSES = 2
"""Passes over the rows and columns of a matrix that is balanced. Chosen: by reason, as no case reads it: the second
pass corrects what scaling the columns has changed in the rows."""
REFUSING = 1e15
"""HiGHS refuses a model with an entry from this size on: such a matrix is balanced before. Chosen: by reason: it is
HiGHS's own `large_matrix_value`, which the newest versions keep to and older ones did not."""
RERUN = 60.0
"""Seconds after which one of many small programmes is given up: they take milliseconds. Chosen: by reason, as no case
has a clock: thousands of times the usual, which a programme takes only if it cycles."""
PATIENCE = 600.0
"""Seconds for programmes that no time limit governs, those of rounding and of proofs: small beside the search. Chosen:
by reason, as no case has a clock: a guard against programmes that never end."""
LARGE = 50_000
"""Entries from which a programme may take longer than the time that is left: it runs in a thread of its own, where it
can be abandoned. Chosen: measured in 2 cases: the same from 25,000 to 100,000."""

# master.py
CLOSE = 0.75
"""The share of the wanted gap at which to stop: the rest is for losses of rounding and proof. Chosen: measured in 2
cases: the same from 0.375 to 0.875."""
BRIEF = 100_000
"""Entries of a master that HiGHS solves again within milliseconds, without interruption. Chosen: measured in 2 cases:
the same from 50,000 to 200,000."""
DENSE = 128
"""Rows from which an interior point solves the master: a simplex takes seconds, at times minutes, where many columns
are nearly as good as the best. Chosen: measured in 2 cases: the same from 64 to 256."""
SHARE, TIGHT, LOOSE = 1 / 16, 1e-12, 1e-8
"""The gap of the interior point, as a share of the wanted one; and its limits, relative to the largest utility. Chosen:
SHARE by reason, as no case reads it: a sixteenth of the gap is left to inexact prices, and fifteen to the search; TIGHT
by reason, as no case reads it: doubles allow little less; LOOSE by reason, as no case reads it: rougher prices would
miss columns."""
FAR = 16
"""An interior point with this times the gap that it should have has failed. Chosen: by reason, as no case reads it: the
inverse of SHARE, so that a gap as large as the wanted one is a failure."""
KEPT = 12
"""Columns the master keeps, for each input, before the idle half is dropped; twice as many after each drop without a
gain, as dropped columns may be regenerated indefinitely. Chosen: measured in 2 cases: the same from 6 to 24."""
GAIN = 1e-12
"""A reduced price, or an increase of the value (relative to it above 1), that is more than the rounding of floats.
Chosen: measured in 2 cases: the same from 1e-13 to 1e-11."""

# milp.py
INTEGER_FEASIBILITY = 1e-7
"""Tolerance on rows, bounds and integrality: solutions are made exact elsewhere. At 1e-9, its tightest, HiGHS calls
programmes infeasible that have a solution. Chosen: by reason, as no case reads it: a tenth of the default of HiGHS, as
the tightest one fails."""

# polyhedral.py

# rays.py
LISTED = 16
"""Inputs up to which all 2^k corners are listed, each with what is computed for it. Chosen: measured in 2 cases: the
same from 8 to 32."""
ENUMERATED = 20
"""Largest k whose 2^k staircase rays are priced by enumeration (8 MB an array at 20). Chosen: measured in 2 cases: the
same from 10 to 40."""
LARGEST_CDD = 12
"""Largest k that is handed to cddlib. Chosen: measured in 2 cases: the same from 6 to 24."""
NARROW = 2.0**-4
"""Entries that differ by less than this share are handed over as differences. Chosen: measured in 2 cases: the same
from 0.03125 to 0.125."""
LARGEST_GRAPH = 7
"""Largest k of a graph of ratios that is handed to cddlib: it may have C(2k - 2, k - 1) rays. Chosen: measured in 2
cases: at 3 the work 1.24 times (1.00 to 1.53), the certificate 1.10 times (1.00 to 1.21), the gap 0.34 times (0.12 to
1.00); at 14 the same."""

# method.py
GRACE = 2.0
"""Seconds that proving may take, after a time limit or Ctrl-C too. Chosen: by reason, as no case has a clock: what
users wait for beyond their limit; half a second more is for writing."""
PROVING = 1.5
"""Seconds after the end of the whole solve when proving must be over. Chosen: by reason, as no case has a clock: half a
second before the grace ends, which is left to the checker."""

# several theories
CLIMB_STEPS = 40
"""Steps of one climb at most: nearly all end before, where nothing is gained. Chosen: measured in 2 cases: the same
from 20 to 80."""
HALVED = 60
"""How often a share is halved at most, on the way to an anchor or to the mass at which light inputs are divided.
Chosen: measured in 2 cases: at 30 the work 0.94 times (0.88 to 1.00); at 120 the work 1.11 times (1.00 to 1.24)."""
CELLS = 4096
"""The certificate format takes no more cells of a matrix in proofs by branches over it. Chosen: measured in 2 cases:
the same from 2,048 to 8,192."""
RATIO_BITS = 40
"""Ratios are rounded to multiples of 2^-40, on the side that keeps the constraint. Chosen: measured in 2 cases: the
same from 32 to 48."""
SLACK = 1e-9
"""A best slack, or an elastic optimum, below this counts as zero: floats cannot prove so small a violation. Chosen:
measured in 2 cases: the same from 1e-10 to 1e-08."""
LEAF_BITS = 48
"""A leaf's t is a multiple of 2^-48: where two sets tie at a leaf, its bound has a kink in t, and a rounding of t costs
its own size. Chosen: measured in 2 cases: the same from 40 to 56."""
LEAST_GAP = 1e-9
"""Gaps below this share of the value are not attempted: the linear programmes are exact to about 1e-10. Chosen:
measured in 2 cases: the same from 1e-10 to 1e-08."""
ROUNDED = 1e-12
"""The error that is assumed of floats, as a share of their terms: a thousand times their rounding. Chosen: measured in
2 cases: the same from 1e-13 to 1e-11."""
