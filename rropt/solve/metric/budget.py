"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# climb.py
STARTS = 100
"""Known labellings from which to climb, those first that exceed the prices most."""

# generation.py
FOR_PROOF = 0.15
"""The share of a time limit that is left for the flows of the proof."""

# labels.py
BOXED = 8
"""Inputs up to which boxes are used, since the verified core checks their proofs: they take less than a second there.
Above it labels are far quicker; the checker alone has their proofs."""
CUT_TOGETHER = 2000
"""Labels of the cells that one flow bounds together: more take longer paths, fewer take more calls."""
MOST_INPUTS = 512
"""Inputs of a proof by labels at most."""
MOST_NODES, MOST_OF_A_TREE = 10_000, 100_000
"""Inputs and labels of one graph: finer lengths make it too large."""
LEAST = 0.1
"""The least unit: below it all columns are nearly alike, and what they are worth is lost in the rounding of a flow."""
LONGEST = 500.0
"""The log of the largest ratio of a column, so that all entries are floats."""
SCALE = 2.0**29
"""What all capacities out of the source come to: SciPy's flows are integers of 32 bits."""
ENDLESS = 2**30
"""A capacity above all of them; a flow can still be added to it."""

# proof.py
UNIT = 2**36
"""Flows are counted in one over this."""
TANGENT = 2**30
"""Tangents are multiples of one over this."""
FLOWS = 2
"""Flows of a leaf at most: a second one starts from the first, and its rounding is finer."""

# search.py
TANGENTS = 12
"""Cuts of one cell at most."""
EXACT = 1e-15
"""A distance of floats that no further tangent lessens."""
MOST_MET = 4000
"""Labellings of a search that climbs at the next prices start from, at most."""
MOST_LIMITS = 20_000_000
"""Inputs times cells of one search."""
MOST_OPERATIONS = 1.5e8
"""What the checker may need for the leaves of a proof, by the table of the certificate format; it stops at 2e8."""
TOLERATED = 4
"""The largest share of what may stay open by which a known column may exceed its price."""
MANY = 4
"""Columns worth adding, one for so many inputs, after which a search ends at once."""
BATCH = 32
"""Cells of a tree that are bounded at once."""
ROOM = 4_000_000
"""Labels of a batch at most."""
