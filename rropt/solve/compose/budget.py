"""The tuned numbers of the routes over several theories, by the module that uses them, each with what it trades."""

import numpy as np

# actions.py
RESERVE = 8.0
"""Seconds for another mechanism where the time limit ended the programme of a Bayes gain."""

# events.py
TRUTH_STEPS = 30
"""Steps to the best share of the truth at most."""
LONGEST = 20.0
"""Seconds of all relaxations, and of all local searches, where there is no time limit."""
PURE = 0.3
"""The share of the time for the mechanism of pure privacy."""
GAINED = 1e-10
"""A step that gains less is the last one."""
ENTRIES = 512
"""Up to so many entries there are linear programmes: beyond, one takes minutes."""
ADDED = 4
"""Events added a round, for each input."""
ROUNDS = 100
"""Rounds at most, each a programme with what the one before violates."""

# general.py
BOUNDING, SEARCHING = 0.45, 0.85
"""The shares of a time limit after which relaxations, and then local searches, end."""
LEVEL = 1e-9
"""Bounds that differ by less, relative to their size, are as good: a proof that is machine-checked is preferred."""

# local.py
STEPS, STARTS = 40, 6
"""Steps of one search at most, and searches from random directions."""
SHARES = np.concatenate([2.0 ** -np.arange(16), [0.0]])
"""How much of a step is tried."""
HALVINGS = 30
"""Halvings on the way to the first point that breaks a constraint."""
MISSED = 1e-10
"""What a float matrix may break a constraint by: the rounding moves it that far."""
CURVED = 1 << 10
"""Cells up to which an entropy floor is part of every step: a conic programme each."""

# outer.py
SLOW_ROUNDS = 3
"""Rounds of rows at most where a problem with rows is a search of its own."""
SURVEY, DIRECTIONS = 0.3, 12
"""The share of the time, and linear goals besides the trace, for the first rows of a search."""
ROUNDING = 0.6
"""The share of the time after which no further round begins."""
ROUGH = 1e-4
"""A best point for one of these goals exceeds a constraint by less at its last round."""
SHARE = 0.5
"""The share of the time left that a round takes at most."""
NEAR = 1e-8
"""A matrix that exceeds a constraint by less keeps it: the rounding moves it that far."""
GRAIN = 1 << 40
"""Probabilities of the worst prior are multiples of 2^-40 or so."""
CONIC = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
"""Tolerances for the worst prior: by default its bound is 1e-6 of a capacity below it."""
SHORTEST = 0.1
"""Seconds that a round has at least."""
SMALLEST = 2.0**-40
"""The least share of the point with the most slack that is tried."""

# relaxed.py
FLOOR_ROUNDS = 12
"""Rounds of rows from the floor at most: each tightens the bound, and makes the next search larger."""
FLOOR_LONGEST = 15.0
"""Seconds of all rounds together where there is no time limit: the last ones take the longest and gain the least."""
SLOW = 0.02
"""A round that lessens the gap by less than this share of it is the last one."""
RELABELLED = 4
"""Up to this many outputs the rows of a point are added for all orders of its columns: each is as good a mechanism."""
LEAST = 1e-6
"""Entries of a reference distribution are kept above this."""
BITS = 50
"""Entries of a reference distribution are multiples of 2^-50 of its sum: more lengthen the certificate."""

# truth.py
SHIFTS = 8
"""Permutations that are tried: the true answers, and those shifted by so few places."""

# vertices.py
LARGEST_PRODUCT = 300_000
"""Largest number of (output, ray) variables of a linear utility."""
LARGEST_HANDED = 12
"""Largest k whose rays are listed for a solver of the user's own."""
LEAST_WEIGHT, DUST = 1e-12, 1e-7
"""The weight below which a ray is left out, and the share of the largest one where a solver gives no vertices."""
