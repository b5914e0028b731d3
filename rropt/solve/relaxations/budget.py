"""Numbers that several modules of this theory share."""

NEAR = 1e-9
"""Actions whose gains in floats differ by less, relative to their terms, are compared in rationals."""
LONGEST = 20.0
"""Seconds of all relaxations, and of all local searches, where there is no time limit."""
ROUNDS = 100
"""Rounds at most, each a programme with what the one before violates."""
BOUNDING, SEARCHING = 0.45, 0.85
"""The shares of a time limit after which relaxations, and then local searches, end."""
NEAR = 1e-8
"""A matrix that exceeds a constraint by less keeps it: the rounding moves it that far."""
TOLERANCES = 1e-11, 1e-8
"""Tolerances of the conic solver, the second where it has no answer to the first."""
SHORTEST = 0.1
"""Seconds that a round has at least."""
