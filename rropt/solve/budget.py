"""The tuned numbers of assembly, candidates and rounding, by the module that uses them, each with what it trades."""

# assembly.py
LARGEST_RANK = 1 << 18
"""Entries of a matrix whose rank is computed in floats too."""
ROUNDED, PROVED, CHECKED, COMPARED, LAST = 1.3, 1.8, 2.1, 2.3, 2.5
"""Seconds after the end of a solve when each of the remaining steps is ended, so that the next ones have time: a step
that begins late still has a tick of the clock, and there are four steps."""
LEAST = 1.0
"""Seconds that a last resort has whatever the time is: no answer at all is worse than one that is late."""
VALUE_BITS = 96
"""An irrational value is widened by 2^-96 before it is written, so that the checker's enclosure fits inside."""

# candidates.py
LARGEST = 1 << 16
"""Cells of a matrix that is written out as a candidate."""
GROUPED = 1 << 18
"""Cells of a matrix of k-RR among groups, where there are more than two."""
MIXED = 1 << 11
"""Cells of a matrix that constants are mixed into."""
SHIFTED = 64
"""Inputs up to which all shifts are tried."""
HALVINGS = 12
"""Halvings in search of the least share of a constant."""
STEEPEST = 300.0
"""The largest level that is used: above it groups are chosen alike, and ratios exceed floats."""
ROWS = 4
"""Inequalities over the matrix that a candidate is made for, each; most problems have fewer."""

# rounding.py
CANDIDATES = 8
"""Cells of one equation that are tried first to solve it."""
NEGLIGIBLE = 1e-13
"""Free columns with less mass than this (summed over the inputs) are dropped before rounding."""
