"""The tuned numbers of the search over boxes, each with what it trades and how it was chosen."""

import numpy as np

# executor.py
CHUNK = 64
"""Boxes of a chunk at most. With it the products of dense tables of up to ten variables stay below what OpenBLAS
distributes among threads, whose sums may differ in the last bit from those of one. Chosen: measured in 2 cases: the
same from 32 to 128."""
WIDEST = 128
"""Variables up to which a chunk may be bounded by another process: beyond, linear algebra may use threads as well.
Chosen: measured in 2 cases: the same from 64 to 256."""
START = 5.0
"""Processor seconds that chunks must have taken before processes are started for more: loading takes them two. Chosen:
by reason, as no case has a clock: processes must save more than the two seconds that starting them takes."""
WORTH = 10.0
"""Seconds that must be left where processes are started. Chosen: by reason, as no case has a clock: five times what
starting takes."""
SILENT = 60.0
"""Seconds without an answer after which a process is given up: a chunk takes a tenth of a second. Chosen: by reason, as
no case has a clock: six hundred times what a chunk takes, as a busy machine is not a dead process."""
KEPT = 4
"""Problems that a process keeps in memory. Chosen: by reason, as no case reads it: as many as searches are kept
(REMEMBERED)."""

# pool.py
ROOM = 128
"""Boxes in flight at most. Chosen: measured in 2 cases: the same from 64 to 256."""
LOOSE = 0.05
"""A bound is good enough for splitting when its error is this share of its distance above the wanted one. Chosen:
measured in 2 cases: at 0.025 the gap 0.70 times (0.49 to 1.00); at 0.1 the same."""
FEASIBLE = 1e-12
"""Residuals up to which a point counts as feasible: those of interior points vanish up to rounding. Chosen: measured in
2 cases: the same from 1e-13 to 1e-11."""
NEAR = 0.995
"""The share of the way to the boundary that one step goes. Chosen: measured in 2 cases: at 0.4975 the work 1.10 times
(1.09 to 1.12), the certificate 0.97 times (0.94 to 1.00), the gap 0.33 times (0.22 to 0.49); at 0.9975 the same."""
SMALLEST = 1e-14
"""Complementarity below which a step gains nothing in doubles. Chosen: measured in 2 cases: the same from 1e-15 to
1e-13."""
SPARED = 0.01
"""The loss by that which an open bound allows, as a share of its distance above the wanted one. Chosen: measured in 2
cases: the same from 0.005 to 0.02."""
DENSE = 4096
"""Entries of the rows up to which they are kept as a dense table, which is the faster of the two for complete metrics
of 8 inputs and the slower on paths. Chosen: measured in 2 cases: the same from 2,048 to 8,192."""
SPARING = 10.0 ** -np.arange(1, 9)
"""Flows below this share of a box's largest are left out where the bound allows it: certificates of random metrics of 7
and 8 inputs become a fifth as long, those of paths stay as they are. Chosen: measured in 2 cases: the same from half to
double."""

# pooled.py
FEW = 24
"""Open boxes up to which HiGHS bounds them one at a time: each is split at its own optimum, and the certificates of
paths become shorter. Chosen: measured in 2 cases: the same from 12 to 48."""
FLIGHTS = 2, 8
"""Chunks on the way at most, where few boxes are open and where many are: the worst are bounded first, but more than
two processes need more chunks to be busy. Chosen: measured in one case: at half the gap 0.67 times; at double the
same."""
SPARE = 1024
"""Open boxes for each chunk on the way beyond the first. Chosen: measured in one case: the same from 512 to 2,048."""

# search.py
CLIMBS = 24
"""Random directions from which each pricing climbs. Chosen: measured in 2 cases: at 12 the same; at 48 the work 1.13
times (1.10 to 1.16), the gap 0.75 times (0.56 to 1.00)."""
PROVING = 3e-5
"""Seconds that the proof of a box takes to be written and checked, for each input. Chosen: by reason, as no case has a
clock: too large a number ends the search too early, too small a one leaves the proof unfinished."""
STALE = 1e-6
"""Where a column that the master has gains more than this, the prices are not its own: no proof comes from them.
Chosen: measured in one case: the same from 1e-07 to 1e-05."""
REMEMBERED = 4
"""Price vectors whose search is kept, to be resumed with more nodes. Chosen: measured in one case: the same from 2 to
8."""

# separable.py
TANGENT_ROUNDS = 6
"""Rounds of new tangents for one box. Chosen: measured in 2 cases: the same from 3 to 12."""
TANGENT_ERROR = 1e-9
"""Tangents are added where the concave terms are over-estimated by more than this share of their mass, times the square
of what variables can be away from one where that is less than one. Chosen: by reason, as no case reads it: below the
gaps that are wanted, and above what HiGHS leaves."""
SCALE = 1024.0
"""Costs are scaled by this: HiGHS takes an absolute tolerance of 1e-10, and prices are wanted more exactly. Chosen:
measured in 2 cases: the same from 512 to 2048."""
LARGEST = 64.0
"""Multipliers that show a box to be empty are kept below this. Chosen: measured in 2 cases: the same from 32 to 128."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact; where all variables are near one, by less than this
times the square of what they can be away from it. Chosen: measured in 2 cases: the same from 1e-15 to 1e-13."""
IDLE = 1e-9
"""The cost of an input without weight at least, which nothing bounds from above. Chosen: by reason: far below the
prices of limits that matter, and above the rounding of a linear programme."""
