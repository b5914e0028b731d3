"""Numbers that several modules of this theory share."""

PLAIN = 0.999
"""Forms that would be multiplied by more than this stay as they are."""
ROUGH = 1e-5
"""A relative gap that is still an answer where doubles allow no less."""
