"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# interior.py
STEPS = 120
"""Steps after which the path is given up; thirty are usual. Chosen: measured in 2 cases: the same from 60 to 240."""
INSIDE = 0.995
"""The share of the way to the border that a step may take. Chosen: measured in 2 cases: at 0.4975 the work 1.49 times
(1.24 to 1.79); at 0.9975 the same."""
FINAL = 4e-11
"""What is left of the complementarity at the end of the path, relative to the value. There it is kept, so that
residuals fall as squares. Chosen: measured in 2 cases: at 4e-12 the work 1.15 times (1.08 to 1.22); at 4e-10 the
same."""
EXACT = 1e-13
"""Residuals of what is exact but for rounding. Chosen: measured in 2 cases: the same from 1e-14 to 1e-12."""
STALLED, LOST, PATIENCE = 1e-3, 1e6, 4
"""A step shorter than the first makes no progress, and a point worse by the second; after so many in sequence rounding
errors rule. Chosen: STALLED measured in 2 cases: the same from 0.0001 to 0.01; LOST measured in 2 cases: the same from
1e+05 to 1e+07; PATIENCE measured in 2 cases: the same from 2 to 8."""
SHORT = 0.2
"""To which share of itself complementarity falls in a short step. Chosen: by reason, as no case reads it: a short step
is for where a long one fails, and a fifth is still progress."""
EARLY, CENTRED = 3.0, 30
"""Where the path is left for a matrix with slack, relative to the value; the steps that this may take. Chosen: EARLY
measured in 2 cases: the same from 1.5 to 6; CENTRED measured in 2 cases: the same from 15 to 60."""

# minorants.py
UNIT = 2.0**60
"""The largest number of a point, about. Chosen: measured in 2 cases: the same from 1.153e+17 to 1.153e+19."""

# model.py
START = 2.0
"""Multipliers and slacks of forms at the start, times the number of inputs. Chosen: measured in 2 cases: at 1 the same;
at 4 the work 1.03 times (1.00 to 1.06)."""

# newton.py
ADDED, TINY = (0.0, 1e-14, 1e-12, 1e-10), 1e-250
"""Shares of a diagonal that are added to it where it needs it; diagonals that are nothing. Chosen: ADDED measured in 2
cases: the same from half to double; TINY measured in 2 cases: the same from 1e-251 to 1e-249."""
REFINED = 2
"""How often a step is corrected by what it misses of its equations. Chosen: measured in 2 cases: at 1 the same; at 4
the work 1.04 times (1.02 to 1.06)."""
FALL, BEHIND = 1e-4, 0.1
"""Complementarity falls to this share of itself in a step at most, and not below the second share of the residuals.
Chosen: FALL measured in 2 cases: the same from 1e-05 to 0.001; BEHIND measured in 2 cases: at 0.05 the same; at 0.2 the
work 1.03 times (1.00 to 1.05)."""
NEAR = 1e-13
"""A share of the diagonal of each K that is added to it: what is linear along a ray leaves K singular. Chosen: measured
in 2 cases: the same from 1e-14 to 1e-12."""
ENDLESS = 1e100
"""A step with a larger number ends the iteration. Chosen: by reason: its squares and products are finite, and the
numbers of no useful step come near it."""
FAR = 1.0
"""How far a step takes a form, in the norm of the second derivative of C: beyond that exponentials rule. Chosen:
measured in 2 cases: the same from 0.5 to 2."""

# method.py
NOTHING = 1e-12
"""An information below this is taken for none: its forms are zero then, and so is the bound. Chosen: measured in 2
cases: the same from 1e-13 to 1e-11."""
OPTIMAL = 1e-6
"""Residuals and complementarity, relative to the value, of an end that is an optimum. Chosen: measured in 2 cases: the
same from 1e-07 to 1e-05."""
BROKEN = 1e-7
"""Limits that are exceeded by more than this at least are taken for unattainable. Chosen: by reason, as no case reads
it: a tenth of OPTIMAL, below which a residual is rounding."""

# anchor.py
TOUCHING = 1e-6
"""A point that a limit leaves less than this share of it has no slack to round in. Chosen: by reason: with more,
rounding errors of 1e-16 are covered by a weight of 1e-10."""
