"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# names.py
LONGEST = 60
"""Characters of a part of a name; the LP format takes 255 for the whole."""

# rays.py
MOST = 20_000
"""Rays in one step of the enumeration."""
