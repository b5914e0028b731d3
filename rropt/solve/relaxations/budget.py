"""The tuned numbers of the methods over several theories, each with what it trades and how it was chosen."""

import numpy as np

# actions.py
RESERVE = 8.0
"""Seconds for another mechanism where the time limit ended the programme of a Bayes gain. Chosen: by reason, as no case
has a clock: more would let a limit be exceeded for longer, less may give no mechanism at large sizes."""
NEAR = 1e-9
"""Actions whose gains in floats differ by less, relative to their terms, are compared in rationals. Chosen: by reason:
sums of some hundred floats err by less than 1e-13 of their terms, and few actions come as near to each other."""

# events.py
TRUTH_STEPS = 30
"""Steps to the best share of the truth at most. Chosen: measured in one case: the same from 15 to 60."""
LONGEST = 20.0
"""Seconds of all relaxations, and of all local searches, where there is no time limit. Chosen: by reason, as no case
has a clock: further searches gain less and less, and a longer wait has to be asked for by a time limit."""
PURE = 0.3
"""The share of the time for the mechanism of pure privacy. Chosen: by reason, as no case has a clock: what pure privacy
gives is the start of the longer half."""
GAINED = 1e-10
"""A step that gains less is the last one. Chosen: measured in one case: the same from 1e-11 to 1e-09."""
ENTRIES = 512
"""Up to so many entries there are linear programmes: beyond, one takes minutes. Chosen: measured in one case: the same
from 256 to 1,024."""
ADDED = 4
"""Events added a round, for each input. Chosen: measured in one case: the same from 2 to 8."""
ROUNDS = 100
"""Rounds at most, each a programme with what the one before violates. Chosen: measured in 2 cases: the same from 50 to
200."""

# general.py
BOUNDING, SEARCHING = 0.45, 0.85
"""The shares of a time limit after which relaxations, and then local searches, end. Chosen: by reason, as no case has a
clock: relaxations and searches get about equal shares, and the rest is for rounding and proof."""
LEVEL = 1e-9
"""Bounds that differ by less, relative to their size, are as good: a proof that is machine-checked is preferred.
Chosen: measured in 2 cases: the same from 1e-10 to 1e-08."""

# lifted.py
LIFTING, LIFTS, ROUGHLY, LISTED = 0.7, 4, 0.05, 30
"""The share of a time limit for bounds, the rounds of forms at most, the share of what is left that each takes but the
last, and the rounds where rays are listed. Chosen: by reason, as no case has a clock: the rest is for mechanisms and
the proof, each round makes the next search larger, and a list takes no time."""
MOST_DIVERGING = 6
"""Inputs of a problem with divergences at most: each pair of them is an input of its own, in both directions. Chosen:
by reason: with 16 inputs no bound was found in ten seconds."""
NEARBY = 16
"""Forms of one divergence are alike where the logarithms of their slopes differ by less than 1/16 or so. Chosen: by
reason: between two of them the divergence errs by less than 1e-3 of itself."""
EXCEEDED = 1e-9
"""A matrix that exceeds a limit by less keeps it: the rounding moves it that far. Chosen: by reason: it is far below
the gaps that are wanted."""
SEARCHES = 3
"""Local searches, each from several random directions. Chosen: by reason: they end early where the bound is reached."""

# local.py
STEPS, STARTS = 40, 6
"""Steps of one search at most, and searches from random directions. Chosen: STEPS measured in 2 cases: the same from 20
to 80; STARTS measured in 2 cases: at 3 the work 0.80 times (0.69 to 0.92); at 12 the work 1.32 times (1.15 to 1.52)."""
SHARES = np.concatenate([2.0 ** -np.arange(16), [0.0]])
"""How much of a step is tried. Chosen: measured in 2 cases: at half the work 3.04 times (1.16 to 7.93); at double the
work 1.06 times (1.00 to 1.13)."""
HALVINGS = 30
"""Halvings on the way to the first point that breaks a constraint. Chosen: measured in one case: at 15 the work 0.73
times; at 60 the work 1.63 times."""
MISSED = 1e-10
"""What a float matrix may break a constraint by: the rounding moves it that far. Chosen: measured in 2 cases: the same
from 1e-11 to 1e-09."""
CURVED = 1 << 10
"""Cells up to which an entropy floor is part of every step: a conic programme each. Chosen: measured in 2 cases: the
same from 512 to 2,048."""
ENTERED = 1 << 12
"""Entries of a matrix up to which each is a variable of the linear programme. Chosen: by reason, as no case is so
large: at 10,000 entries under LDP one programme takes more than a minute."""
ENCLOSED = 16
"""Inputs up to which divergences are enclosed at every point. Chosen: by reason, as no case has a clock: beyond, a
point takes seconds, and the rounding moves a mechanism into the constraint all the same."""

# outer.py
SLOW_ROUNDS = 3
"""Rounds of rows at most where a problem with rows is a search of its own. Chosen: measured in 2 cases: the same from 1
to 6."""
SURVEY, DIRECTIONS = 0.3, 12
"""The share of the time, and linear goals besides the trace, for the first rows of a search. Chosen: SURVEY by reason,
as no case has a clock: the search that follows is the longer part; DIRECTIONS by reason, as no case reads it: more of
them cut more sides of the set before the search, and each costs a programme."""
ROUNDING = 0.6
"""The share of the time after which no further round begins. Chosen: by reason, as no case has a clock: a round that
begins later has no time for its proof."""
LOOKING = 0.2
"""The share of the time that the search for a mechanism has at least. Chosen: by reason, as no case has a clock: it is
beyond the limit where the rounds took all of it, and a mechanism of no use is worse."""
ROUGH = 1e-4
"""A best point for one of these goals exceeds a constraint by less at its last round. Chosen: by reason, as no case
reads it: rows that move a bound by less than the usual gap of 1e-3 are not worth a round."""
SHARE = 0.5
"""The share of the time left that a round takes at most. Chosen: by reason, as no case has a clock: half of what is
left leaves time for a further round, whatever it takes."""
NEAR = 1e-8
"""A matrix that exceeds a constraint by less keeps it: the rounding moves it that far. Chosen: measured in 2 cases: the
same from 1e-09 to 1e-07."""
GRAIN = 1 << 40
"""Probabilities of the worst prior are multiples of 2^-40 or so. Chosen: by reason: 2^-40 is far below the gaps that
are wanted, and the numbers stay short."""
TOLERANCES = 1e-11, 1e-8
"""Tolerances of the conic solver, the second where it has no answer to the first. Chosen: measured in 12 cases: by
default, at 1e-8, the bound is 1e-6 of a least capacity below it; at 1e-11 it is 3e-9."""
MOST_POWERS = 40_000
"""Powers of entries, k * k * m for each divergence, that a conic programme has at most. Chosen: by reason: at 16 inputs
4,096 take 0.2 s, and the time grows faster than their number."""
ORDER_ROUNDS = 6
"""Programmes at most where all orders of a divergence are limited: each has one order more. Chosen: by reason: the
worst orders of a few pairs decide, and three or four programmes find them in the cases of the page of leakage."""
KEPT = 1e-7
"""A matrix of the conic solver that exceeds a divergence by less keeps it. Chosen: by reason: its own tolerance."""
APART = 1e-3
"""Orders that are nearer than this are not both stated. Chosen: by reason: between them a divergence changes by less
than its bound moves."""
FLAT = 1.02
"""Orders below this are stated as a relative entropy. Chosen: by reason: at 1.001 the solver stops with an error, at
1.15 it does not."""
SURE = 1e-5
"""A matrix of the conic solver that exceeds a divergence by less is the one that is rounded. Chosen: by reason: moved
inside it loses about as much, and a matrix of rows alone exceeds more."""
SHORTEST = 0.1
"""Seconds that a round has at least. Chosen: by reason, as no case has a clock: less would end a round before its first
programme."""
SMALLEST = 2.0**-40
"""The least share of the point with the most slack that is tried. Chosen: measured in one case: the same from 9.095e-14
to 9.095e-12."""

# relaxed.py
FLOOR_ROUNDS = 12
"""Rounds of rows from the floor at most: each tightens the bound, and makes the next search larger. Chosen: measured in
one case: the same from 6 to 24."""
FLOOR_LONGEST = 15.0
"""Seconds of all rounds together where there is no time limit: the last ones take the longest and gain the least.
Chosen: by reason, as no case has a clock: the last rounds take the longest and gain the least."""
SLOW = 0.02
"""A round that lessens the gap by less than this share of it is the last one. Chosen: measured in one case: the same
from 0.01 to 0.04."""
LAST_ROUND = 0.5
"""A round for a risk that took this share of what was left is the last one. Chosen: by reason, as no case has a clock:
the next one would have less time than this one needed."""
RELABELLED = 4
"""Up to this many outputs the rows of a point are added for all orders of its columns: each is as good a mechanism.
Chosen: measured in one case: the same from 2 to 8."""
LEAST = 1e-6
"""Entries of a reference distribution are kept above this. Chosen: measured in one case: the same from 1e-07 to
1e-05."""
BITS = 50
"""Entries of a reference distribution are multiples of 2^-50 of its sum: more lengthen the certificate. Chosen:
measured in one case: the same from 42 to 58."""

# truth.py
SHIFTS = 8
"""Permutations that are tried: the true answers, and those shifted by so few places. Chosen: measured in 2 cases: the
same from 4 to 16."""

# vertices.py
LARGEST_PRODUCT = 300_000
"""Largest number of (output, ray) variables of a linear utility. Chosen: measured in 2 cases: the same from 150,000 to
600,000."""
LARGEST_HANDED = 12
"""Largest k whose rays are listed for a solver of the user's own. Chosen: by reason, as no case reads it: 2^12 rays
times as many outputs are already large for a conic solver."""
LEAST_WEIGHT, DUST = 1e-12, 1e-7
"""The weight below which a ray is left out, and the share of the largest one where a solver gives no vertices. Chosen:
LEAST_WEIGHT measured in 2 cases: the same from 1e-13 to 1e-11; DUST measured in 2 cases: the same from 1e-08 to
1e-06."""

# branch.py
CLIMBING = 0.1
"""The share of a time limit after which the local search for a risk ends. Chosen: by reason, as no case has a clock:
the search over boxes finds better matrices."""
