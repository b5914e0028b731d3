"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# interior.py
STEPS = 120
"""Steps after which the path is given up; thirty are usual."""
INSIDE = 0.995
"""The share of the way to the border that a step may take."""
FINAL = 4e-11
"""What is left of the complementarity at the end of the path, relative to the value. There it is kept, so that
residuals fall as squares."""
EXACT = 1e-13
"""Residuals of what is exact but for rounding."""
STALLED, LOST, PATIENCE = 1e-3, 1e6, 4
"""A step shorter than the first makes no progress, and a point worse by the second; after so many in sequence rounding
errors rule."""
SHORT = 0.2
"""To which share of itself complementarity falls in a short step."""
EARLY, CENTRED = 3.0, 30
"""Where the path is left for a matrix with slack, relative to the value; the steps that this may take."""

# minorants.py
UNIT = 2.0**60
"""The largest number of a point, about."""

# model.py
START = 2.0
"""Multipliers and slacks of forms at the start, times the number of inputs."""

# newton.py
ADDED, TINY = (0.0, 1e-14, 1e-12, 1e-10), 1e-250
"""Shares of a diagonal that are added to it where it needs it; diagonals that are nothing."""
REFINED = 2
"""How often a step is corrected by what it misses of its equations."""
FALL, BEHIND = 1e-4, 0.1
"""Complementarity falls to this share of itself in a step at most, and not below the second share of the residuals."""
NEAR = 1e-13
"""A share of the diagonal of each K that is added to it: what is linear along a ray leaves K singular."""
FAR = 1.0
"""How far a step takes a form, in the norm of the second derivative of C: beyond that exponentials rule."""

# route.py
NOTHING = 1e-12
"""An information below this is taken for none: its forms are zero then, and so is the bound."""
OPTIMAL = 1e-6
"""Residuals and complementarity, relative to the value, of an end that is an optimum."""
BROKEN = 1e-7
"""Limits that are exceeded by more than this at least are taken for unattainable."""
