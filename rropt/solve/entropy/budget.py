"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# conic.py
STEEP = 2.0**36
"""A floor that leaves one point has no largest multiplier: this one, times the costs, is off by about 2^-37 of them."""
NOTHING = 100.0
"""exp(-100) is negligible beside a sum of at least one."""

# entropy_dual.py
LEAST_WEIGHT = 2.0**-200
"""A multiplier of the floor below this is taken for zero."""
FAR = -256
"""Below this the format has exp(d) replaced by 2^-369, which is above it."""

# floor_bound.py
LARGEST = 400
"""More multipliers than this are not searched for."""
STARTS = (1.0, 1.05, 1.5, 0.8, 0.5, 3.0)
"""First multipliers of the floor, in units of the one from which on every row has a Gibbs form."""

# gibbs.py
ACTIVE = 1e-7
"""Inequalities with a multiplier below this, relative to the costs, are left as they are."""
MOST_ROWS = 2_000
"""Beyond this many coupling rows the Hessian costs too much."""
