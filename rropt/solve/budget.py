"""The tuned numbers of assembly, candidates and rounding, each with what it trades and how it was chosen."""

# assembly.py
LARGEST_RANK = 1 << 18
"""Entries of a matrix whose rank is computed in floats too. Chosen: measured in 2 cases: the same from 131,072 to
524,288."""
ROUNDED, PROVED, CHECKED, COMPARED, LAST = 1.3, 1.8, 2.1, 2.3, 2.5
"""Seconds after the end of a solve when each of the remaining steps is ended, so that the next ones have time: a step
that begins late still has a tick of the clock, and there are four steps. Chosen: by reason, as no case has a clock:
rounding gets most of what is left below three seconds, as a mechanism is worth more than its proof."""
LEAST = 1.0
"""Seconds that a last resort has whatever the time is: no answer at all is worse than one that is late. Chosen: by
reason, as no case has a clock: less may not be enough for the constant mechanism, and more is late."""
VALUE_BITS = 96
"""An irrational value is widened by 2^-96 before it is written, so that the checker's enclosure fits inside. Chosen:
measured in 2 cases: the same from 88 to 104."""

# candidates.py
LARGEST = 1 << 18
"""Cells of a matrix that is written out as a candidate. Chosen: by reason: k-RR of 512 inputs takes milliseconds."""
ESTIMATED = 1 << 20
"""Cells of k-RR for estimation. Chosen: by reason: k-RR of 1,024 inputs takes a second."""
SUBSETS = 1 << 13
"""Cells of a matrix of subset selection. Chosen: by reason: all sizes of ten inputs, in milliseconds."""
GROUPED = 1 << 18
"""Cells of a matrix of k-RR among groups, where there are more than two. Chosen: by reason, as no case reads it: four
times what another candidate may have, as most of its rows are alike."""
MIXED = 1 << 11
"""Cells of a matrix that constants are mixed into. Chosen: measured in 2 cases: the same from 1,024 to 4,096."""
SHIFTED = 64
"""Inputs up to which all shifts are tried. Chosen: measured in 2 cases: the same from 32 to 128."""
HALVINGS = 12
"""Halvings in search of the least share of a constant. Chosen: measured in 2 cases: at 6 the work 0.58 times (0.58 to
0.58); at 24 the work 1.83 times (1.82 to 1.83)."""
STEEPEST = 300.0
"""The largest level that is used: above it groups are chosen alike, and ratios exceed floats. Chosen: by reason, as no
case reads it: exp(300) is a float, and so is its square."""
ROWS = 4
"""Inequalities over the matrix that a candidate is made for, each; most problems have fewer. Chosen: measured in 2
cases: the same from 2 to 8."""

# exact_points.py
EXACT_ROWS = 400
"""Conditions of a polytope whose points are solved for in rationals. Chosen: by reason: each point takes a system of as
many equations as there are entries, of about a second at this number."""
FINEST = 2.0**-50
"""The least share of the point inside. Chosen: by reason: rounding moves an entry by 2^-53."""

# rounding.py
LOOSE = 2.0**-36
"""The share of the anchor above which an exact point is sought instead. Chosen: by reason: it costs less than a
thousandth of the gap of 1e-6 that is allowed by default."""
CANDIDATES = 8
"""Cells of one equation that are tried first to solve it. Chosen: by reason, as no case reads it: the largest cell
usually gives in, and each further one costs a trial."""
NEGLIGIBLE = 1e-13
"""Free columns with less mass than this (summed over the inputs) are dropped before rounding. Chosen: measured in 2
cases: the same from 1e-14 to 1e-12."""
