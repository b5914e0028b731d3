"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# conic.py
STEEP = 2.0**36
"""A floor that leaves one point has no largest multiplier: this one, times the costs, is off by about 2^-37 of them.
Chosen: measured in one case: at 6.872e+09 the same; at 6.872e+11 the gap 3.25 times."""
NOTHING = 100.0
"""exp(-100) is negligible beside a sum of at least one. Chosen: by reason, as no case reads it: exp(-100) is 4e-44, far
below the rounding of a sum of one."""

# entropy_dual.py
LEAST_WEIGHT = 2.0**-200
"""A multiplier of the floor below this is taken for zero. Chosen: measured in 2 cases: the same from 6.223e-62 to
6.223e-60."""
FAR = -256
"""Below this the format has exp(d) replaced by 2^-369, which is above it. Chosen: measured in 2 cases: the same from
-128 to -512."""

# floor_bound.py
LARGEST = 400
"""More multipliers than this are not searched for. Chosen: measured in 2 cases: the same from 200 to 800."""
STARTS = (1.0, 1.05, 1.5, 0.8, 0.5, 3.0)
"""First multipliers of the floor, in units of the one from which on every row has a Gibbs form. Chosen: measured in one
case: the same from half to double."""

# gibbs.py
ACTIVE = 1e-7
"""Inequalities with a multiplier below this, relative to the costs, are left as they are. Chosen: measured in 2 cases:
the same from 1e-08 to 1e-06."""
MOST_ROWS = 2_000
"""Beyond this many coupling rows the Hessian costs too much. Chosen: measured in 2 cases: the same from 1,000 to
4,000."""
