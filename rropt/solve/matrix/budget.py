"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

import numpy as np

# branch.py
CLIMBS = 40
"""Random directions from which local maxima are climbed to before the search."""
CHUNK = 500
"""Boxes between two reports of progress."""
FIRST, LATER, PIECE = 5_000, 250, 50
"""The most kicks before the search, and after every further piece of it; the cells of a piece."""
PATIENCE, WORK = 5, 400_000
"""Kicks end after this many without a better matrix for each of its entries, if that is at most WORK entries in all."""
KICKING = 0.5
"""The share of a time limit after which the first kicks end."""
KICKED = 3
"""A kick changes about one output in so many, at most."""
LOOSE = 1e-4
"""The relative gap of a bound without the rows, which they leave open by more."""
NEARLY_EQUAL = 1.021
"""Below this ratio the gains of corners are lost in the tolerances of a solver; entries are branched on instead."""
BOXES = 8
"""And so many times where the tree of an output divides its columns into boxes."""
TANGENTS = 3
"""A proof takes so many times as long where something is given."""
PROVING = 2e-4
"""Seconds that the proof of a cell takes to be written and checked, for each entry of the matrix."""

# cell_proof.py
MARGINS = (1e-13, 1e-11, 1e-9, 1e-7)
"""Shares of the bound that prices are raised by, the next where one is too little for the exact tests."""
SPARE = 0.01
"""The share of what a search left open by which the bound may be larger."""

# cells.py
DEAR = 64.0
"""A unit of what a row lacks costs so many times the largest utility of a column: cells without a matrix are bounded
like others."""
CLOSED = 1e-11
"""A corner that gains less than this share of the largest utility is no better than those that are there."""
PART = 0.02
"""Corners are generated until they gain less than this share of what the cell has above the accepted bound."""
ADDED = 4
"""Corners added a round for each output."""
ROUNDS = 400
"""Rounds of corners of one cell at most: any multipliers bound it."""
KEPT = 6
"""A cell hands at most so many corners for each row of its programme on to its parts."""
INNER = 0.1
"""A part of a split is no narrower than this share of the whole."""
EXACT = 1e-9
"""Points closer than this to an end of a box are at that end."""
REMEMBERED = 1 << 26
"""Corners whose utilities are kept for further prices, in all boxes together."""

# corner_trees.py
MOST = 200_000
"""Elements of the trees of one leaf at most."""
PASSES, BISECTIONS = 2, 14
"""Passes over several tangents, and halvings for each, until they are near the best ones."""

# corners.py
QUOTIENT_ROUNDS = 30
"""Steps of a quotient of two linear forms at most: each rises, and it ends after three or four."""

# proof.py
LOWEST = -100
"""The least excess of an empty leaf that is written: low enough not to matter."""

# search.py
EMPTY = 1e-12
"""Columns with less mass than this have no point worth splitting at."""
LADDER = 4.0 ** np.arange(-2, 7)
"""Sizes of the multiples of a ray that are tried on an empty node: large ones would cost the others their digits."""

# count_proof.py
AT_ONCE = 8
"""Elements of the tree of a box that sets with a price divide, before it is divided itself."""

# counts.py
COUNTED = (3, 9)
"""The numbers of inputs where numbers of outputs are branched on: the corners of all boxes are listed. Above them kicks
swap where masses are fixed: at 8 inputs swaps end 3 % lower, at 16 they end 0.2 % higher."""
LISTS = 1 << 19
"""The most corners that are listed."""
GRIDS = 4
"""Lists of corners that are kept."""
POINTS = 400
"""Columns that a cell hands on to its parts."""
FRESH = 20
"""Columns added a round."""
TRIED = 4
"""Splits that are tried before one is made."""
TOGETHER = (3.0, 1.5, 1.0, 0.7)
"""How much is thought of a split by one entry, by two and by three together, and by an entry at a second limit."""
PREFERRED = 0.1
"""A split is as good as the lesser fall of its two bounds, and this share of the other one."""
WHOLE = 1e-6
"""A number of outputs is whole where it is as near to an integer."""
NARROW = 1e-3
"""Limits nearer to one another, relatively, are not divided."""
