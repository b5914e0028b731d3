"""The tuned numbers of this theory, by the module that uses them, each with what it trades."""

# designs.py
ROUNDS = 200
"""Rounds of column generation at most; the interior point ends in far fewer."""
ADDED = 3
"""Columns added a round, for each input; those within TIED of the best come besides, up to TIES."""
TIED, TIES = 1e-7, 200
"""With equal frequencies many columns tie, and all of them are in an optimum."""
KEPT = 1e-9
"""Columns below this share of the largest mass are dropped."""
BOXES = (300, 3_000, 30_000, 300_000)
"""Boxes of a search, level by level: a longer search begins when a shorter one does not find a column."""
TESTS = 10**8
"""The format's limit of k * max(k, forms) * nodes."""
STARTS = 60
"""Random corners that are climbed from where there are too many to be listed."""
LAST = 0.4
"""The share of a time limit that is left for the last search over boxes."""
ALWAYS = 100
"""Boxes that are searched even after the time limit: without any there is no bound."""
HALVINGS = 30
"""Distances from the constant column that are tried: 1/2, 1/4, ..."""
PLAIN = 0.999
"""Forms that would be multiplied by more than this stay as they are."""
RIDGE = 30.0
"""Where queries do not span all directions, (gap / RIDGE)^2 of these are added: a loss of about gap / RIDGE."""

# eigenvalue.py
FAINT = 1e-13
"""Factors of a share below this are left out."""
CLUSTER = 1e-7
"""Eigenvectors of a share below this are not counted in the largest eigenvalue's space."""
FINEST = 1e-9, 1e-7
"""Relative tolerances of the smoothing: weights of eigenvectors have an error of 1e-15 beside them."""
LARGEST_MULTIPLICITY = 32
"""Multiplicities above this are not polished: that takes the sixth power of them."""
ACCURACY = 1e-11
"""The barrier ends when it is below this share of the value."""

# interior_point.py
SHRINK = 0.1
"""Each outer step multiplies mu by this."""
ROUGH = 1e-5
"""A relative gap that is still an answer where doubles allow no less."""
NEAR = 0.5
"""Up to this Newton decrement whole steps are taken, damped or not."""
SINGULAR = 1e-12
"""A design whose root of M has a smaller pivot beside its largest one does not count as one of full rank: rounding
gives dependent columns pivots of 1e-14, and its risk would be 1e24."""

# proof.py
FORM_BITS = 52
"""W is written as multiples of 2^-52: it need not be the best one."""
WORK_BITS = 200
"""Terms of a leaf are integers over 2^200, rounded upwards."""
NODES = 400_000
"""Boxes of a proof at most: more take minutes to check."""
WILD = 1e60
"""Doubles lose the sums of squares of numbers beyond this."""
YIELD_BITS = 78
"""A bound that is not a rational is rounded down to a multiple of 2^-78."""

# quadratics.py
MARGINS = (0.1, 0.01)
"""Pass by pass, the share of a form's range that its limits stay away from it: the less, the larger are the multipliers
that show the rest to be empty, and the first pass makes what these must outweigh small."""
DOUBLINGS = 4
"""Multipliers that are tried to prove one part empty."""
WORTH = 1e-3
"""Limits are moved where chords then err less by this share of the bound."""
LARGEST_MULTIPLIER = 2.0**18
"""Multipliers that prove a part empty are below this, as larger ones would cost all others their digits in the
certificate.
"""
