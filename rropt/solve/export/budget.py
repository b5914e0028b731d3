"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# names.py
LONGEST = 60
"""Characters of a part of a name; the LP format takes 255 for the whole. Chosen: by reason, as no case reads it: a name
has up to four parts, and 255 / 4 is 63."""

# rays.py
MOST = 20_000
"""Rays in one step of the enumeration. Chosen: by reason, as no case reads it: a step compares pairs of rays, up to 4e8
of them."""
