"""The tuned numbers of the search over boxes, by the module that uses them, each with what it trades."""

import numpy as np

# executor.py
CHUNK = 64
"""Boxes of a chunk at most. With it the products of dense tables of up to ten variables stay below what OpenBLAS
distributes among threads, whose sums may differ in the last bit from those of one."""
WIDEST = 128
"""Variables up to which a chunk may be bounded by another process: beyond, linear algebra may use threads as well."""
START = 5.0
"""Processor seconds that chunks must have taken before processes are started for more: loading takes them two."""
WORTH = 10.0
"""Seconds that must be left where processes are started."""
SILENT = 60.0
"""Seconds without an answer after which a process is given up: a chunk takes a tenth of a second."""
KEPT = 4
"""Problems that a process keeps in memory."""

# pool.py
ROOM = 128
"""Boxes in flight at most."""
LOOSE = 0.05
"""A bound is good enough for splitting when its error is this share of its distance above the wanted one."""
FEASIBLE = 1e-12
"""Residuals up to which a point counts as feasible: those of interior points vanish up to rounding."""
NEAR = 0.995
"""The share of the way to the boundary that one step goes."""
SMALLEST = 1e-14
"""Complementarity below which a step gains nothing in doubles."""
SPARED = 0.01
"""The loss by that which an open bound allows, as a share of its distance above the wanted one."""
DENSE = 4096
"""Entries of the rows up to which they are kept as a dense table, which is the faster of the two for complete metrics
of 8 inputs and the slower on paths."""
SPARING = 10.0 ** -np.arange(1, 9)
"""Flows below this share of a box's largest are left out where the bound allows it: certificates of random metrics of
7 and 8 inputs become a fifth as long, those of paths stay as they are."""

# pooled.py
FEW = 24
"""Open boxes up to which HiGHS bounds them one at a time: each is split at its own optimum, and the certificates of
paths become shorter."""
FLIGHTS = 2, 8
"""Chunks on the way at most, where few boxes are open and where many are: the worst are bounded first, but more
than two processes need more chunks to be busy."""
SPARE = 1024
"""Open boxes for each chunk on the way beyond the first."""

# search.py
CLIMBS = 24
"""Random directions from which each pricing climbs."""
PROVING = 3e-5
"""Seconds that the proof of a box takes to be written and checked, for each input."""
STALE = 1e-6
"""Where a column that the master has gains more than this, the prices are not its own: no proof comes from them."""
REMEMBERED = 4
"""Price vectors whose search is kept, to be resumed with more nodes."""

# separable.py
TANGENT_ROUNDS = 6
"""Rounds of new tangents for one box."""
TANGENT_ERROR = 1e-9
"""Tangents are added where the concave terms are over-estimated by more than this share of their mass, times the square
of what variables can be away from one where that is less than one."""
SCALE = 1024.0
"""Costs are scaled by this: HiGHS takes an absolute tolerance of 1e-10, and prices are wanted more exactly."""
LARGEST = 64.0
"""Multipliers that show a box to be empty are kept below this."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact; where all variables are near one, by less than this
times the square of what they can be away from it."""
