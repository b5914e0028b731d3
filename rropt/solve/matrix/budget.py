"""Numbers that several modules of this theory share."""

PIECE = 50
"""Cells of a piece of the search."""
DEAR = 64.0
"""A unit of what a row lacks costs so many times the largest utility of a column: cells without a matrix are bounded
like others."""
CLOSED = 1e-11
"""A corner that gains less than this share of the largest utility is no better than those that are there."""
PART = 0.02
"""Corners are generated until they gain less than this share of what the cell has above the accepted bound."""
ROUNDS = 400
"""Rounds of corners of one cell at most: any multipliers bound it."""
INNER = 0.1
"""A part of a split is no narrower than this share of the whole."""
MOST = 200_000
"""Elements of the trees of one leaf at most."""
COUNTED = (3, 9)
"""The numbers of inputs where numbers of outputs are branched on: the corners of all boxes are listed. Above them kicks
swap where masses are fixed: at 8 inputs swaps end 3 % lower, at 16 they end 0.2 % higher."""
