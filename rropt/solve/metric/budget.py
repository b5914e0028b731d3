"""Numbers that several modules of this theory share."""

BOXED = 8
"""Inputs up to which boxes are used, since the verified core checks their proofs: they take less than a second there.
Above it labels are far quicker; the checker alone has their proofs."""
BATCH = 32
"""Cells of a tree that are bounded at once."""
ROOM = 4_000_000
"""Labels of a batch at most."""
