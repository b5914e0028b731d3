"""Numbers that several modules of this theory share."""

FEASIBLE = 1e-12
"""Residuals up to which a point counts as feasible: those of interior points vanish up to rounding."""
FEW = 24
"""Open boxes up to which HiGHS bounds them one at a time: each is split at its own optimum, and the certificates of
paths become shorter."""
PROVING = 3e-5
"""Seconds that the proof of a box takes to be written and checked, for each input."""
STALE = 1e-6
"""Where a column that the master has gains more than this, the prices are not its own: no proof comes from them."""
SCALE = 1024.0
"""Costs are scaled by this: HiGHS takes an absolute tolerance of 1e-10, and prices are wanted more exactly."""
EXACT = 1e-14
"""Chords that over-estimate by less than this are taken for exact; where all variables are near one, by less than this
times the square of what they can be away from it."""
