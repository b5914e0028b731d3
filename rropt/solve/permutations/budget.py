"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# master.py
PRICED = 1 << 52
"""Scores are priced as multiples of their largest over this."""
WORTH = 1e-10
"""A permutation whose reduced price is less than this times the scores is not added."""
ELASTIC = 1e-8
"""Rows that are violated by more than this cannot be satisfied."""

# mixtures.py
CHOICES = 1_000
"""Permutations that the integer programme chooses from, at most."""
LEAST = 1e-9
"""A weight below this counts as zero."""
