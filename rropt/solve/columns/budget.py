"""The tuned numbers of columns on any cone, each with what it trades and how it was chosen."""

# generation.py
BOXES = (300, 3_000, 30_000, 300_000, 3_000_000)
"""Boxes of one pricing search on a general cone, level by level after the local search that comes first. Chosen:
measured in one case: at half the work 0.61 times, the certificate 0.54 times, the gap 1.44 times; at double the work
1.73 times, the certificate 1.89 times, the gap 0.43 times."""
LAST = 0.6
"""The share of a time limit after which prices no longer change and one search goes on to the end. Chosen: by reason,
as no case has a clock: the last search is the longest, and without it there is no bound."""

# boxes.py
NODES = 200_000
"""Boxes of the search of a proof whose method has no tree. Chosen: by reason: a method that searches brings its tree,
and a checker takes long for a larger one."""
RAISED = 2.0**-36
"""Added to the prices of inputs without weight if nothing bounds these from above, so that the multipliers of a leaf,
once they are rounded, must not exceed their prices. Chosen: by reason: it is above the unit of multipliers, and far
below the gaps that are wanted."""

# rays.py
WORK, LONGEST = 5 * 10**7, 4000
"""The work on a list of rays, and the bits of their numbers, at most. Chosen: by reason: half of what the format
allows, as a checker rounds the ratios in its own way."""
