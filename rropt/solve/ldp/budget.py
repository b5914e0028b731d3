"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# by_mass.py
MASSES = 4096
"""Steps of the masses of sets. Chosen: measured in 5 cases of 177 to 269 inputs: the same from 2,048 to 8,192."""
TARGETS = 6
"""Masses of which the best sets with each input, and without it, are looked for. Chosen: measured in 5 cases of 177 to
269 inputs: the same from 6 to 24."""
WEIGHTS = 0.7, 1.0, 1.4
"""Weights less 1 of the sets that the scores of a table suit, relative to those of the universal bound. Chosen:
measured in 5 cases of 177 to 269 inputs: with the second alone 1.3 times the seconds, with five of them 1.1 times."""

# column_dual.py
PROVING = 200_000
"""Nodes of one search of a proof at most. Chosen: by reason: it is made for its prices again whatever the method found,
and a checker takes long for a larger tree."""
TREE = 20_000
"""Nodes of the tree of one output at most. Chosen: measured in 2 cases: the same from 10,000 to 40,000."""
LISTED = 12
"""Inputs up to which all corners are priced before prices that the search did not ask for are proved. Chosen: measured
in 2 cases: at 6 the work 1.26 times (1.00 to 1.59), the certificate 1.07 times (1.00 to 1.15); at 24 the same."""
LONG = 1000
"""Inputs from which on one number stands for prices that are proportional to the weights. Chosen: by reason: fewer are
short to write, and each can be read."""
NOISE = 1e-14
"""The error of the float search, for utilities of size 1. Chosen: measured in 2 cases: the same from 1e-15 to 1e-13."""

# enumeration.py
ADDED_OF_ALL = 6
"""Columns returned by one pricing, for each input. Chosen: measured in 2 cases: the same from 3 to 12."""

# generation.py
GROUPS = 32
"""The number of groups of nearly equal mass into which light inputs are merged first, at least. Chosen: measured in 2
cases: at 16 the work 3.68 times (2.14 to 6.35), the certificate 7.07 times (3.28 to 15.24); at 64 the work 1.95 times
(1.83 to 2.07), the certificate 3.05 times (2.83 to 3.28)."""
IN_A_SET = 4
"""Groups in a set of the best mass, at least: fewer would not come near it. Chosen: measured in 2 cases: the same from
2 to 8."""
GROUPED = 48
"""Inputs up to which the first columns are those of single inputs. Chosen: measured in 2 cases: at 24 the same; at 96
the work 1.44 times (1.00 to 2.07), the certificate 1.81 times (1.00 to 3.28)."""
BALANCED = 2
"""Balanced sets to start from, for each input and mass. Chosen: measured in 2 cases: at 1 the work 1.44 times (0.99 to
2.09), the certificate 1.81 times (1.00 to 3.29), the gap 4.69 times (1.00 to 21.99); at 4 the work 1.03 times (1.02 to
1.05)."""
PRECISE, NEAR = 2e-4, 1e-3
"""The mass of balanced sets is precise to the first, and to the second relative to the w of the best sets: the loss is
half its square. Chosen: PRECISE measured in 2 cases: at 2e-05 the work 1.49 times (1.00 to 2.22), the certificate 1.81
times (1.00 to 3.27); at 0.002 the gap 3.23 times (1.00 to 10.44); NEAR measured in 2 cases: the same from 0.0001 to
0.01."""
MERGED = 0.8
"""Groups are made where they are at most this share of the inputs. Chosen: measured in 2 cases: at 0.4 the work 1.44
times (1.00 to 2.07), the certificate 1.81 times (1.00 to 3.28); at 0.9 the same."""
LARGEST = 2048
"""Inputs up to which columns are generated for each of them: their table has some ten times its square of cells.
Chosen: measured in 2 cases: the same from 1,024 to 4,096."""
SEARCHES = (0.125, 160), (0.35, 200_000)
"""For each level the share of the wanted gap that is enough, and the nodes of a search at most: the first comes with
columns of each mass, the second where they are none. Chosen: measured in 5 cases of 177 to 269 inputs: with 320 nodes
first 1.3 times the seconds, with 100,000 at last 1.15 times, with other shares 1.01 to 1.08 times."""
ADDED = 3
"""Columns added a round, for each input. Chosen: measured in one case: the same from 1 to 6."""

# knapsack.py
STEEPEST = 1e6
"""Slopes beyond this only show that no set of a part has so small a weight. Chosen: by reason, as no case reads it: far
above the slopes of sets that exist, and far from the largest float."""
STEPS = 200
"""Steps of one search for a slope at most; a handful are usual. Chosen: measured in 2 cases: the same from 100 to
400."""

# pricing.py
FEWEST, MOST = 16, 512
"""Nodes that are split together: half of those that there are, within these limits. Chosen: FEWEST measured in 2 cases:
the same from 8 to 32; MOST measured in 2 cases: the same from 256 to 1,024."""
CELLS = 100_000
"""Nodes times inputs that are split together, at most: more would fall out of the processor's cache. Chosen: measured
in 2 cases: the same from 50,000 to 200,000."""

# small.py
LEAVES = 8
"""Leaves for each input, at most, of a tree without limits on number and weight: the checker takes longer for a larger
one than a search for a smaller one does. Chosen: measured in 2 cases: the same from 4 to 16."""

# starts.py
CLOSERS = 512
"""Inputs of which all pairs are tried as the last two of a set. Chosen: measured in 2 cases: the same from 256 to
1,024."""
ENDS = 64
"""Pairs that are compared by how often they are covered, at most. Chosen: measured in 2 cases: the same from 32 to
128."""
MISSED = 0.5
"""What a set that was not found counts for its first input, in coverages. Chosen: measured in 2 cases: the same from
0.25 to 1."""
UNEVEN = 6.0
"""The largest of the masses of groups over the smallest: sums of equal groups would miss the mass that is wanted by up
to half a group, and the largest groups need small ones beside them. Chosen: measured in 2 cases: the same from 3 to
12."""

# universal.py
LARGEST_WEIGHT = 20_000
"""Sets of inputs have few different masses where the weights' total, in units, is at most this. Chosen: measured in 2
cases: the same from 10,000 to 40,000."""
