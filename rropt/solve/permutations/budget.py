"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# master.py
PRICED = 1 << 52
"""Scores are priced as multiples of their largest over this. Chosen: measured in one case: the same from
2,251,799,813,685,248 to 9,007,199,254,740,992."""
WORTH = 1e-10
"""A permutation whose reduced price is less than this times the scores is not added. Chosen: measured in one case: the
same from 1e-11 to 1e-09."""
ELASTIC = 1e-8
"""Rows that are violated by more than this cannot be satisfied. Chosen: measured in one case: the same from 1e-09 to
1e-07."""

# mixtures.py
CHOICES = 1_000
"""Permutations that the integer programme chooses from, at most. Chosen: by reason, as no case reads it: each is a
binary variable, and more of them take HiGHS very long."""
LEAST = 1e-9
"""A weight below this counts as zero. Chosen: measured in one case: the same from 1e-10 to 1e-08."""
