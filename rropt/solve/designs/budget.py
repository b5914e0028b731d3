"""The tuned numbers of this theory, by the module that uses them, each with what it trades and how it was chosen."""

from fractions import Fraction

# designs.py
ROUNDS = 200
"""Rounds of column generation at most; the interior point ends in far fewer. Chosen: measured in 2 cases: the same from
100 to 400."""
FIRST, FINER, NEARLY = 1e-2, 0.1, 1e-4
"""For E-optimality: the relative duality gap of the first designs, that of a later one beside the gap that is left, and
the one below which the finest follows. Rough designs have prices that fewer further columns break. Chosen: measured in
7 cases: at a tenth and ten times of FIRST the work 1.2 and 1.4 times; at 0.3 and 0.03 of FINER 1.3 and 1.5 times; at
ten times and a tenth of NEARLY 1.4 times; with the finest from the start two are not solved in 40 s, and one takes
seven times as long."""
MOST = 15
"""Columns for each input that are kept at most; twice as many where the finest design gains nothing. Chosen: measured
in 7 cases: at 10 the work 1.0 times; at 20 the work 1.5 times."""
FEW = 64
"""So many columns, those of six inputs, are taken all at once. Chosen: measured in 135 cases: those of up to six inputs
take 0.5 to 0.9 times as long; at 300 those of eight 1.6 to 2.3 times as long."""
ADDED = 3
"""Columns added a round, for each input; those within TIED of the best come besides, up to TIES. Chosen: measured in 2
cases: the same from 1 to 6."""
TIED, TIES = 1e-7, 200
"""With equal frequencies many columns tie, and all of them are in an optimum. Chosen: TIED measured in 2 cases: the
same from 1e-08 to 1e-06; TIES measured in 2 cases: the same from 100 to 400."""
TINY = 1e-300
"""A value of 0 is divided by as if it were this. Chosen: by reason: it is the smallest number that floats hold well."""
KEPT = 1e-9
"""Columns below this share of the largest mass are dropped. Chosen: measured in 2 cases: at 1e-10 the work 1.05 times
(1.00 to 1.09); at 1e-08 the same."""
ALIKE = 1e-12
"""Sums of entries of M that are this small a share of the largest follow from others. Chosen: by reason: what is below
is rounding, and what is far above is not."""
BOXES = (300, 3_000, 30_000, 300_000)
"""Boxes of a search, level by level: a longer search begins when a shorter one does not find a column. Chosen: measured
in one case: at half the work 1.02 times; at double the work 1.02 times."""
TESTS = 10**8
"""The format's limit of k * max(k, forms) * nodes. Chosen: measured in 2 cases: the same from 50,000,000 to
200,000,000."""
STARTS = 60
"""Random corners that are climbed from where there are too many to be listed. Chosen: measured in one case: at 30 the
certificate 0.93 times; at 120 the same."""
LAST = 0.4
"""The share of a time limit that is left for the last search over boxes. Chosen: by reason, as no case has a clock:
without the last search there is no bound, so it has nearly half."""
ALWAYS = 100
"""Boxes that are searched even after the time limit: without any there is no bound. Chosen: measured in one case: the
same from 50 to 200."""
HALVINGS = 30
"""Distances from the constant column that are tried: 1/2, 1/4, ... Chosen: measured in one case: the same from 15 to
60."""
PLAIN = 0.999
"""Forms that would be multiplied by more than this stay as they are. Chosen: measured in 2 cases: the same from 0.4995
to 0.9995."""
RIDGE = 30.0
"""Where queries do not span all directions, (gap / RIDGE)^2 of these are added: a loss of about gap / RIDGE. Chosen: by
reason, as no case reads it: a loss of a thirtieth of the gap leaves nearly all of it to the solve."""

# eigenvalue.py
FAINT = 1e-13
"""Factors of a share below this are left out. Chosen: measured in one case: the same from 1e-14 to 1e-12."""
CLUSTER = 1e-7
"""Eigenvectors of a share below this are not counted in the largest eigenvalue's space. Chosen: measured in one case:
at 1e-08 the work 1.03 times, the certificate 1.09 times; at 1e-06 the same."""
FINEST = 1e-9, 1e-7
"""Relative tolerances of the smoothing: weights of eigenvectors have an error of 1e-15 beside them. Chosen: measured in
one case: at half the work 1.02 times; at double the certificate 1.10 times."""
LARGEST_MULTIPLICITY = 32
"""Multiplicities above this are not polished: that takes the sixth power of them. Chosen: measured in one case: the
same from 16 to 64."""
ACCURACY = 1e-11
"""The barrier ends when it is below this share of the value. Chosen: measured in one case: the same from 1e-12 to
1e-10."""

# interior_point.py
WARM = 0.1
"""Where the barrier begins from known masses, as a share of where it begins without. Chosen: measured in 7 cases: at
0.01 the work 1.5 times, and one is not solved; at 1 the work 1.6 times."""
SHRINK = 0.1
"""Each outer step multiplies mu by this. Chosen: measured in 2 cases: at 0.05 the work 0.77 times (0.71 to 0.84), the
certificate 1.08 times (1.07 to 1.10); at 0.2 the work 0.80 times (0.74 to 0.88), the certificate 1.08 times (1.06 to
1.10)."""
ROUGH = 1e-5
"""A relative gap that is still an answer where doubles allow no less. Chosen: measured in 2 cases: the same from 1e-06
to 0.0001."""
NEAR = 0.5
"""Up to this Newton decrement whole steps are taken, damped or not. Chosen: measured in 2 cases: the same from 0.25 to
1."""
SINGULAR = 1e-12
"""A design whose root of M has a smaller pivot beside its largest one does not count as one of full rank: rounding
gives dependent columns pivots of 1e-14, and its risk would be 1e24. Chosen: measured in 2 cases: the same from 1e-13 to
1e-11."""

# proof.py
FORM_BITS = 52
"""W is written as multiples of 2^-52: it need not be the best one. Chosen: measured in 2 cases: at 44 the certificate
0.97 times (0.97 to 0.98); at 60 the same."""
WORK_BITS = 200
"""Terms of a leaf are integers over 2^200, rounded upwards. Chosen: measured in 2 cases: the same from 192 to 208."""
REPAIRS = Fraction(1, 2**40), Fraction(1, 2**30), Fraction(1, 2**20)
"""What prices of forms that were made smaller are raised by, until their leaves hold. Chosen: by reason: with the first
alone a bound of a largest eigenvalue was -13.9, and 0.97 with the second; the last is far below the gaps of such
bounds."""
NODES = 400_000
"""Boxes of a proof at most: more take minutes to check. Chosen: measured in 2 cases: the same from 200,000 to
800,000."""
WILD = 1e60
"""Doubles lose the sums of squares of numbers beyond this. Chosen: measured in 2 cases: the same from 1e+59 to
1e+61."""
YIELD_BITS = 78
"""A bound that is not a rational is rounded down to a multiple of 2^-78. Chosen: measured in one case: the same from 70
to 86."""

# quadratics.py
MARGINS = (0.1, 0.01)
"""Pass by pass, the share of a form's range that its limits stay away from it: the less, the larger are the multipliers
that show the rest to be empty, and the first pass makes what these must outweigh small. Chosen: measured in one case:
at half the certificate 1.03 times, the gap 0.54 times; at double the certificate 1.02 times, the gap 0.66 times."""
DOUBLINGS = 4
"""Multipliers that are tried to prove one part empty. Chosen: measured in one case: the same from 2 to 8."""
WORTH = 1e-3
"""Limits are moved where chords then err less by this share of the bound. Chosen: measured in one case: the same from
0.0001 to 0.01."""
LARGEST_MULTIPLIER = 2.0**18
"""Multipliers that prove a part empty are below this, as larger ones would cost all others their digits in the
certificate. Chosen: measured in one case: the same from 2.621e+04 to 2.621e+06."""

# circulants.py
SIZES, DRAWN, OFFERED = 12, 10, 4
"""Sizes of sets, sets of each, and the best of all that a local search climbs from. Chosen: by reason:
with 16 inputs all take 0.2 s."""
LEAST_SHARE = 1e-3
"""The polishing of weights ends where no larger share of a step stays inside its cone: rounding decides there. Chosen:
by reason: in exact numbers the whole step stays inside."""
