"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

import numpy as np

# branch.py
CLIMBS = 40
"""Random directions from which local maxima are climbed to before the search. Chosen: measured in 2 cases: at 20 the
work 0.90 times (0.89 to 0.91); at 80 the work 1.12 times (1.07 to 1.17)."""
CHUNK = 500
"""Boxes between two reports of progress. Chosen: measured in 2 cases: the same from 250 to 1,000."""
FIRST, LATER, PIECE = 5_000, 250, 50
"""The most kicks before the search, and after every further piece of it; the cells of a piece. Chosen: FIRST measured
in 2 cases: the same from 2,500 to 10,000; LATER measured in 2 cases: the same from 125 to 500; PIECE measured in 2
cases: the same from 25 to 100."""
PATIENCE, WORK = 5, 400_000
"""Kicks end after this many without a better matrix for each of its entries, if that is at most WORK entries in all.
Chosen: PATIENCE measured in 2 cases: at 2 the work 0.79 times (0.72 to 0.86); at 10 the work 1.27 times (1.21 to 1.34);
WORK measured in 2 cases: the same from 200,000 to 800,000."""
KICKING = 0.5
"""The share of a time limit after which the first kicks end. Chosen: by reason, as no case has a clock: bounds get the
other half."""
KICKED = 3
"""A kick changes about one output in so many, at most. Chosen: measured in 2 cases: at 1 corner-tree-numbers:
ValueError, corner-tree: ValueError; at 6 the same."""
NEARLY_EQUAL = 1.021
"""Below this ratio the gains of corners are lost in the tolerances of a solver; entries are branched on instead.
Chosen: measured in 2 cases: the same from 0.5105 to 2.042."""
BOXES = 8
"""And so many times where the tree of an output divides its columns into boxes. Chosen: measured in one case: the same
from 4 to 16."""
TANGENTS = 3
"""A proof takes so many times as long where something is given. Chosen: by reason, as no case reads it: an estimate:
too large a number ends the search too early, too small a one leaves the proof unfinished."""
PROVING = 2e-4
"""Seconds that the proof of a cell takes to be written and checked, for each entry of the matrix. Chosen: by reason, as
no case has a clock: an estimate: too large a number ends the search too early, too small a one leaves the proof
unfinished."""

# cell_proof.py
MARGINS = (1e-13, 1e-11, 1e-9, 1e-7)
"""Shares of the bound that prices are raised by, the next where one is too little for the exact tests. Chosen: measured
in 2 cases: the same from half to double."""
SPARE = 0.01
"""The share of what a search left open by which the bound may be larger. Chosen: measured in 2 cases: the same from
0.005 to 0.02."""

# cells.py
DEAR = 64.0
"""A unit of what a row lacks costs so many times the largest utility of a column: cells without a matrix are bounded
like others. Chosen: measured in 2 cases: the same from 32 to 128."""
CLOSED = 1e-11
"""A corner that gains less than this share of the largest utility is no better than those that are there. Chosen:
measured in 2 cases: the same from 1e-12 to 1e-10."""
PART = 0.02
"""Corners are generated until they gain less than this share of what the cell has above the accepted bound. Chosen:
measured in 2 cases: the same from 0.01 to 0.04."""
ADDED = 4
"""Corners added a round for each output. Chosen: measured in 2 cases: the same from 2 to 8."""
ROUNDS = 400
"""Rounds of corners of one cell at most: any multipliers bound it. Chosen: measured in 2 cases: the same from 200 to
800."""
KEPT = 6
"""A cell hands at most so many corners for each row of its programme on to its parts. Chosen: measured in 2 cases: the
same from 3 to 12."""
INNER = 0.1
"""A part of a split is no narrower than this share of the whole. Chosen: measured in 2 cases: the same from 0.05 to
0.2."""
EXACT = 1e-9
"""Points closer than this to an end of a box are at that end. Chosen: measured in 2 cases: the same from 1e-10 to
1e-08."""
REMEMBERED = 1 << 26
"""Corners whose utilities are kept for further prices, in all boxes together. Chosen: measured in 2 cases: the same
from 33,554,432 to 134,217,728."""

# corner_trees.py
MOST = 200_000
"""Elements of the trees of one leaf at most. Chosen: measured in one case: at 100,000 the work 1.02 times; at 400,000
the work 1.02 times."""
PASSES, BISECTIONS = 2, 14
"""Passes over several tangents, and halvings for each, until they are near the best ones. Chosen: PASSES by reason, as
no case reads it: the second pass corrects the first tangents by the last ones; BISECTIONS by reason, as no case reads
it: 2^-14 of the range is near enough, as a tangent's loss is the square of its distance."""

# corners.py
QUOTIENT_ROUNDS = 30
"""Steps of a quotient of two linear forms at most: each rises, and it ends after three or four. Chosen: measured in one
case: the same from 15 to 60."""

# proof.py
LOWEST = -100
"""The least excess of an empty leaf that is written: low enough not to matter. Chosen: measured in 2 cases: the same
from -50 to -200."""

# search.py
EMPTY = 1e-12
"""Columns with less mass than this have no point worth splitting at. Chosen: measured in 2 cases: the same from 1e-13
to 1e-11."""
LADDER = 4.0 ** np.arange(-2, 7)
"""Sizes of the multiples of a ray that are tried on an empty node: large ones would cost the others their digits.
Chosen: measured in one case: the same from half to double."""

# count_proof.py
AT_ONCE = 8
"""Elements of the tree of a box that sets with a price divide, before it is divided itself. Chosen: measured in one
case: the same from 4 to 16."""

# counts.py
COUNTED = (3, 9)
"""The numbers of inputs where numbers of outputs are branched on: the corners of all boxes are listed. Above them kicks
swap where masses are fixed: at 8 inputs swaps end 3 % lower, at 16 they end 0.2 % higher. Chosen: measured in 2 cases:
at half the same; at double the work 1.65 times (1.00 to 2.74), the certificate 2.04 times (1.00 to 4.18)."""
LISTS = 1 << 19
"""The most corners that are listed. Chosen: measured in one case: the same from 262,144 to 1,048,576."""
GRIDS = 4
"""Lists of corners that are kept. Chosen: measured in one case: the same from 2 to 8."""
POINTS = 400
"""Columns that a cell hands on to its parts. Chosen: measured in one case: the same from 200 to 800."""
FRESH = 20
"""Columns added a round. Chosen: measured in one case: the same from 10 to 40."""
TRIED = 4
"""Splits that are tried before one is made. Chosen: measured in one case: at 2 the work 1.05 times, the certificate
1.09 times; at 8 the same."""
TOGETHER = (3.0, 1.5, 1.0, 0.7)
"""How much is thought of a split by one entry, by two and by three together, and by an entry at a second limit. Chosen:
measured in one case: the same from half to double."""
PREFERRED = 0.1
"""A split is as good as the lesser fall of its two bounds, and this share of the other one. Chosen: measured in one
case: the same from 0.05 to 0.2."""
WHOLE = 1e-6
"""A number of outputs is whole where it is as near to an integer. Chosen: measured in one case: the same from 1e-07 to
1e-05."""
NARROW = 1e-3
"""Limits nearer to one another, relatively, are not divided. Chosen: measured in one case: the same from 0.0001 to
0.01."""

# design_cells.py
CORNERS = 1024
"""Corners of all columns at most. Chosen: by reason: a programme over them takes a twentieth of a second."""
SMALLEST = 1e-12
"""M counts as singular below this share of its largest eigenvalue. Chosen: by reason: it is far above rounding."""
FAINT = 1e-9
"""Factors of a share below this are left out. Chosen: by reason: they change a bound by this share."""
LACKING = 1e-6
"""What a mixture may miss of its rows to be a matrix. Chosen: by reason: the rounding repairs as much."""
EDGE = 1e-12
"""A matrix is better where its value is, by this share. Chosen: by reason: less is rounding."""
COSTLY = 1e4
"""What a unit costs that a cell's best mixture lacks of the rows, for each unit of the best risk. Chosen: by reason:
prices of the rows are far below it, and as large as this they do not cost all others their digits."""
LARGEST = 1e9
"""Multipliers beyond this are those of a solver that failed. Chosen: by reason: all are below COSTLY risks."""
STEPS_BACK, SHARPER = 16, 0.5
"""Programmes of a climb, and the share by which the box around the best matrix shrinks where none is better. Chosen: by
reason: the last box is then a ten-thousandth of the first."""

# designs.py
LARGEST_TREE = 20_000
"""Cells at most. Chosen: by reason: so many take minutes, and their proof has ten megabytes."""
WRITING = 5e-6
"""Seconds that the proof of a cell takes to be written and checked, for each input of each corner. Chosen: by reason,
as no case has a clock: an estimate."""
