"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

# balance.py
BALANCED = 40
"""Prices that are tried at most. Chosen: by reason, as the clock or `NEAR` ends nearly every run: on grids of 10 x 10
and 14 x 14 some 15 are enough for a bound that is 5 % above what its cells allow."""
PART = 10
"""A master may leave open the gap wanted over this. Chosen: by reason, as a tenth does not count: prices in the middle
of its optimal ones are better than those of a vertex."""
SMALL = 1000
"""A row is scaled by its excess, or by this part of the largest where that is more: HiGHS keeps rows to 1e-7 of it.
Chosen: by reason, as no case reads it: what is left open is added along the prior."""

# climb.py
STARTS = 100
"""Known labellings from which to climb, those first that exceed the prices most. Chosen: measured in 2 cases: the same
from 50 to 200."""

# generation.py
FOR_PROOF = 0.15
"""The share of a time limit that is left for the flows of the proof. Chosen: by reason, as no case has a clock: flows
of the proof are made once, those of the search many times."""
FOR_BOUND = 0.4
"""The share of a time limit that is left for the bound of a search that has not ended, and for its proof. Chosen: by
reason, as no case has a clock: a grid of 14 x 14 is closed in 68 of 120 seconds, and in the same time its bound by the
cells of the first inputs alone comes within 6 %."""
NEAR = 0.01
"""The share of the value within which these cells need not be bounded better. Chosen: by reason: they allow some 5 %
more than the value."""

ENOUGH = 0.05
"""The share of the value above which a search that has not ended is bounded by these cells as well. Chosen: by reason:
they allow some 5 %, and the proof of the tree needs the time that they would take: it has thousands of flows."""

# labels.py
BOXED = 8
"""Inputs up to which boxes are used, since the verified core checks their proofs: they take less than a second there.
Above it labels are far quicker; the checker alone has their proofs. Chosen: measured in 2 cases: at 4 the same; at 16
the work 5.78 times (1.00 to 33.45), the certificate 4.58 times (1.00 to 21.01)."""
CUT_TOGETHER = 2000
"""Labels of the cells that one flow bounds together: more take longer paths, fewer take more calls. Chosen: by reason,
as no case reads it: larger flows take longer paths, and at this size a call no longer counts."""
MOST_INPUTS = 512
"""Inputs of a proof by labels at most. Chosen: measured in 2 cases: the same from 256 to 1,024."""
MOST_NODES, MOST_OF_A_TREE = 10_000, 100_000
"""Inputs and labels of one graph: finer lengths make it too large. Chosen: MOST_NODES measured in 2 cases: the same
from 5,000 to 20,000; MOST_OF_A_TREE measured in 2 cases: the same from 50,000 to 200,000."""
LEAST = 0.1
"""The least unit: below it all columns are nearly alike, and what they are worth is lost in the rounding of a flow.
Chosen: measured in 2 cases: the same from 0.05 to 0.2."""
LONGEST = 500.0
"""The log of the largest ratio of a column, so that all entries are floats. Chosen: measured in 2 cases: the same from
250 to 1000."""
SCALE = 2.0**29
"""What all capacities out of the source come to: SciPy's flows are integers of 32 bits. Chosen: by reason, as no case
reads it: a quarter of the largest integer of 32 bits, so that sums of two stay below it."""
ENDLESS = 2**30
"""A capacity above all of them; a flow can still be added to it. Chosen: by reason, as no case reads it: twice SCALE,
and half of the largest integer of 32 bits."""

# proof.py
UNIT, FINER = 2**36, 10
"""Flows are counted in one over UNIT, and in up to FINER bits more where an input is rarer than in a uniform prior.
Chosen: UNIT measured in 2 cases: the same from 34,359,738,368 to 137,438,953,472; FINER by reason: numbers stay below
the largest integer of the format, and with inputs of 1e-9 bounds came 10 to 70 times nearer."""
TANGENT_BITS = 30
"""Tangents are rounded to a share of one over two to this: columns of rare inputs have masses, and tangents, of 1e-9.
Chosen: measured in 2 cases: the same from 29 to 31."""
FLOWS = 2
"""Flows of a leaf at most: a second one starts from the first, and its rounding is finer. Chosen: measured in 2 cases:
the same from 1 to 4."""
LEAST_RAISE, RAISES = 1e-4, 2
"""The least share tried of the raise of all prices that surely bounds a leaf, and the factor from one to the next.
Chosen: by reason, as both cost a bound of a few leaves: the first has a gap of a ten thousandth, the second loses at
most half of what is left."""

# search.py
TANGENTS = 12
"""Cuts of one cell at most. Chosen: measured in 2 cases: the same from 6 to 24."""
EXACT = 1e-15
"""A distance of floats that no further tangent lessens. Chosen: measured in 2 cases: the same from 1e-16 to 1e-14."""
MOST_MET = 4000
"""Labellings of a search that climbs at the next prices start from, at most. Chosen: measured in 2 cases: the same from
2,000 to 8,000."""
MOST_LIMITS = 20_000_000
"""Inputs times cells of one search. Chosen: measured in 2 cases: the same from 10,000,000 to 40,000,000."""
MOST_OPERATIONS = 1.9e8
"""What the checker may need for the leaves of a proof, by the table of the certificate format; it stops at 2e8, and
the rest of a certificate takes some. Chosen: measured in 2 cases: the same from 1.5e+07 to 1.5e+09."""
TOLERATED = 4
"""The largest share of what may stay open by which a known column may exceed its price. Chosen: measured in 2 cases:
the same from 2 to 8."""
MANY = 4
"""Columns worth adding, one for so many inputs, after which a search ends at once. Chosen: measured in 2 cases: the
same from 2 to 8."""
BATCH = 32
"""Cells of a tree that are bounded at once. Chosen: measured in 2 cases: the same from 16 to 64."""
ROOM = 4_000_000
"""Labels of a batch at most. Chosen: measured in 2 cases: the same from 2,000,000 to 8,000,000."""
