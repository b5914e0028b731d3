"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# column_dual.py
TREE = 20_000
"""Nodes of the tree of one output at most."""
LISTED = 12
"""Inputs up to which all corners are priced before prices that the search did not ask for are proved."""
LONG = 1000
"""Inputs from which on one number stands for prices that are proportional to the weights. Fewer are short to write in
the version of the format that every checker reads."""
NOISE = 1e-14
"""The error of the float search, for utilities of size 1."""

# enumeration.py
ADDED_OF_ALL = 6
"""Columns returned by one pricing, for each input."""

# generation.py
GROUPS = 32
"""The number of groups of nearly equal mass into which light inputs are merged first, at least."""
IN_A_SET = 4
"""Groups in a set of the best mass, at least: fewer would not come near it."""
GROUPED = 48
"""Inputs up to which the first columns are those of single inputs."""
BALANCED = 2
"""Balanced sets to start from, for each input and mass."""
PRECISE, NEAR = 2e-4, 1e-3
"""The mass of balanced sets is precise to the first, and to the second relative to the w of the best sets: the loss is
half its square."""
MERGED = 0.8
"""Groups are made where they are at most this share of the inputs."""
LARGEST = 2048
"""Inputs up to which columns are generated for each of them: their table has some ten times its square of cells."""
NODES = (160, 640, 2560, 10_240)
"""Nodes of one pricing search, level by level: more only where fewer found neither a column nor a proof."""
ADDED = 3
"""Columns added a round, for each input."""

# knapsack.py
STEEPEST = 1e6
"""Slopes beyond this only show that no set of a part has so small a weight."""
STEPS = 200
"""Steps of one search for a slope at most; a handful are usual."""

# neighbourhood.py
SOURCES = 16
"""Corners whose neighbours are priced together, at most."""
NEIGHBOURS = 500_000
"""Neighbours that are priced together, at most."""
KEPT = 64
"""Neighbours that are kept from one sweep."""
SWEEPS = 3
"""The number of sweeps: each prices the neighbours of the best neighbours before."""

# pricing.py
FEWEST, MOST = 16, 512
"""Nodes that are split together: half of those that there are, within these limits."""
CELLS = 100_000
"""Nodes times inputs that are split together, at most: more would fall out of the processor's cache."""

# small.py
LEAVES = 8
"""Leaves for each input, at most, of a tree without limits on number and weight: the checker takes longer for a larger
one than a search for a smaller one does."""

# starts.py
CLOSERS = 512
"""Inputs of which all pairs are tried as the last two of a set."""
ENDS = 64
"""Pairs that are compared by how often they are covered, at most."""
MISSED = 0.5
"""What a set that was not found counts for its first input, in coverages."""
UNEVEN = 6.0
"""The largest of the masses of groups over the smallest: sums of equal groups would miss the mass that is wanted by up
to half a group, and the largest groups need small ones beside them."""

# universal.py
LARGEST_WEIGHT = 20_000
"""Sets of inputs have few different masses where the weights' total, in units, is at most this."""
