"""Bistochastic privacy: the twelve percentages of Table 1, and the statements about bistochastic matrices."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations, product

from flint import arb, fmpq, fmpq_mat
from rropt.models import ruiz2021 as paper
from rropt.models.claims.designs import agreed
from rropt.models.permutation_model import entropy, majorisation, majorises, weight_range

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.comparison.permutations.birkhoff import birkhoff
from rropt.declare.constraints import LDP
from rropt.declare.objectives import MutualInformation, Trace
from rropt.exact import Interval, ball, enclosure, exp_enclosure
from rropt.mechanisms.families.bistochastic import anatomy, beta, circulant, classes_of, keeping, tridiagonal
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem

F = Fraction
Matrix = tuple[tuple[Fraction, ...], ...]
HALF = F(1, 2)
ONES = (F(1),) * 3


# -- Table 1 ---------------------------------------------------------------------------------------------------


def _percent(mechanism: Mechanism) -> Interval:
    rate = beta(mechanism)
    return Interval(100 * rate.lower, 100 * rate.upper)


def _rounds_to(value: Interval, whole: int) -> bool:
    return whole - HALF <= value.lower and value.upper <= whole + HALF


def _short_rows(keep: Fraction) -> Interval:
    """100 beta of twelve rows with `keep` once and (1 - keep) / 12 eleven times, which sum to less than one."""

    def compute() -> arb:
        rest = (1 - keep) / paper.SIZE
        bits = -(ball(keep) * ball(keep).log() + 11 * ball(rest) * ball(rest).log())
        return 100 * bits / ball(F(paper.SIZE)).log()

    return enclosure(compute)


def _table(row: str) -> Callable[[bool], Evidence]:
    def derive(full: bool) -> Evidence:
        found = {f"{one.parameter} = {float(one.value):g}": one.percent for one in paper.table_1() if one.row == row}
        computed: dict[str, object] = {}
        errata: dict[str, str] = {}
        if row == "kanonymity":
            four = _percent(anatomy(classes_of(paper.SIZE, 4)))
            computed["k = 4"] = four
            if _rounds_to(four, 56):
                errata["k = 3"] = "56 % is the rate of k = 4; classes of three give 44 %"
        if row == "tridiagonal":
            fifth = _percent(tridiagonal([F(1, 5)] * (paper.SIZE - 1)))
            computed["alpha = 0.2"] = fifth
            growing = all(a.upper < b.lower for a, b in pairwise(found.values()))
            computed["each has more entropy than the one before"] = growing
            if _rounds_to(fifth, 35):
                errata["alpha = 0.3"] = "35 % is the rate of alpha = 0.2; alpha = 0.3 gives 41 %, more than alpha = 0.4"
        witness = ""
        if row == "circulant":
            short = {f"p11 = {text}": _short_rows(F(text)) for text in ("0.9", "0.6", "0.2")}
            computed["with (1 - p11) / 12 in eleven places (the rows do not sum to 1)"] = short
            witness = (
                "p11 = 0.2: the other eleven are 0.8 / 11 each, H = -0.2 log2 0.2 - 0.8 log2(0.8 / 11) = 3.4895 bits,"
                "\n3.4895 / log2 12 = 0.973. With 0.8 / 12 instead, rows sum to 0.933 and it is 0.929; so the others"
            )
        return Evidence(
            found,
            "100 H(P) / log 12 enclosed, zeros kept as zeros (infinitesimal entries in their place change it by as"
            " little); a printed number is right when the true one rounds to it",
            computed,
            errata,
            witness,
        )

    return derive


# -- statements about matrices ---------------------------------------------------------------------------------


def _prop1(full: bool) -> Evidence:
    gamma = F(2)
    small = Mechanism.from_matrix(((F(2, 3), F(1, 3)), (HALF, HALF)))
    prior = Prior.from_probabilities(["0.6", "0.3", "0.1"])
    best = Problem(Maximize(MutualInformation(prior)), [LDP(gamma=gamma)]).solve(gap=1e-9)
    truest = Problem(Maximize(Trace()), [LDP(gamma=gamma)], inputs=range(3)).solve(gap=1e-9)
    assert best.mechanism is not None
    assert best.attained is not None
    response = keeping(gamma / (gamma + 2), list(prior.labels)).mutual_information(prior)
    private = small.privacy_ratio <= gamma
    form = all(small.entry(x, x) == F(2, 3) for x in (0, 1))
    square = all(sum((small.entry(x, y) for x in (0, 1)), F(0)) == 1 for y in (0, 1))
    largest = truest.limit is not None and truest.limit <= 3 * gamma / (gamma + 2) + F(1, 10**8)
    return Evidence(
        {"every eps-LDP matrix has the form (2)": private and form, "eps-LDP enforces bistochasticity": square},
        "counterexample; (2) is the one with the largest trace (certified for r = 3), and not the one with most"
        " information unless the prior is near uniform",
        {
            "largest trace at exp(eps) = 2, r = 3, is that of (2)": largest,
            "information at p = (0.6, 0.3, 0.1), nats: best and that of (2)": (best.attained, response),
        },
        witness=(
            "P = (2/3, 1/3; 1/2, 1/2): the ratios in its columns are 4/3 and 3/2, so it is eps-LDP at eps = log 2;\nits"
            " columns sum to 7/6 and 5/6"
        ),
        solutions={"most information": best, "largest trace": truest},
    )


def _eps2(full: bool) -> Evidence:
    g = exp_enclosure(F(2))
    stays = Interval(g.lower / (2 + g.lower), g.upper / (2 + g.upper))
    moves = Interval(1 / (2 + g.upper), 1 / (2 + g.lower))
    # The same at a rational e^2, exactly.
    ratio = F("7.389")
    one, other = ratio / (2 + ratio), 1 / (2 + ratio)
    weights = weight_range(keeping(one, 3), (0, 1, 2))
    ends = (weights.smallest, weights.largest) == (one - other, one)
    errata = {}
    if 78 <= 100 * stays.lower and 100 * stays.upper < 79:
        errata["e^2 / (2 + e^2)"] = "it is 0.787, which rounds to 0.79"
    if ends and weights.smallest < weights.largest:
        errata["P determines the identity's weight"] = (
            "it is the largest that the identity can have; any from (e^2 - 1) / (2 + e^2) = 0.68 on is possible"
        )
    return Evidence(
        {
            "e^2 / (2 + e^2)": stays,
            "1 / (2 + e^2)": moves,
            "P determines the identity's weight": weights.smallest == weights.largest,
        },
        "exp(2) enclosed; the range of a permutation's weight by a packing of cycles and its dual, exactly at e^2 ="
        " 7.389",
        {"identity's weight, least and most": (weights.smallest, weights.largest)},
        errata,
        "The three exchanges of two categories sum to the matrix of ones. So with a = e^2 / (2 + e^2) and b = 1 /"
        " (2 + e^2),\nP = (a - b) identity + b (exchange 12 + exchange 13 + exchange 23), and a - b = 0.68",
    )


@cache
def _span(size: int) -> int:
    """The dimension of the affine hull of all permutation matrices of `size` inputs, exactly."""
    cells = list(product(range(size), repeat=2))
    rows = [[fmpq(int(permutation[x] == y)) for x, y in cells] for permutation in permutations(range(size))]
    return int(fmpq_mat(rows).rank()) - 1


def _bound(full: bool) -> Evidence:
    sizes: tuple[tuple[str, tuple[object, ...]], ...] = (("r", (2, 3, 4, 5)),)
    most = agreed("r**2-2*r+2", sizes, lambda r: F(_span(int(r)) + 1))
    # Weights 1, 2, 3 of the shifts and 1, 2 of two exchanges.
    given = {(0, 1, 2): 1, (1, 2, 0): 2, (2, 0, 1): 3, (1, 0, 2): 1, (0, 2, 1): 2}
    total = [[F(sum(w for p, w in given.items() if p[x] == y), 9) for y in range(3)] for x in range(3)]
    five = birkhoff(Mechanism.from_matrix(total), method="fewest")
    even, odd = ((0, 1, 2), (1, 2, 0), (2, 0, 1)), ((1, 0, 2), (0, 2, 1), (2, 1, 0))
    lines = [[[int(p[x] == y) for p in kind] for x in range(3) for y in range(3)] for kind in (even, odd)]
    # The only relation among the six: both kinds sum to the matrix of ones, and five of them are independent.
    one_relation = all(sum(line) == 1 for kind in lines for line in kind) and _span(3) == 4
    fewest = [sum(1 for w in (1 + t, 2 + t, 3 + t, 1 - t, 2 - t, -t) if w) for t in (F(-1), F(-HALF), F(0))]
    return Evidence(
        {
            "permutations that are enough": most,
            "attained (some matrix needs as many)": most is not None and one_relation and min(fewest) == 5,
        },
        "Caratheodory: the affine hull has dimension (r-1)^2 (rank of all r! permutations, exactly, r = 2..5; for all r"
        " by the r + r - 1 independent sums). Fewer than (r-1)^2 + 1 give finitely many pieces of lower dimension, so"
        " almost every bistochastic matrix needs that many. The same for one 3 x 3 matrix by hand",
        {"terms of the decomposition found for it": len(five)},
        witness=f"9 P = {[[int(9 * one) for one in row] for row in total]}\n"
        "is 1, 2, 3 times the three shifts and 1, 2, 0 times the three exchanges. The one relation among the six is\n"
        "shifts - exchanges = 0, so every decomposition has the weights 1+t, 2+t, 3+t, 1-t, 2-t, -t over 9 with\n"
        "-1 <= t <= 0: five of them or six are positive",
    )


MATRICES: tuple[Matrix, ...] = (
    ((HALF, HALF, F(0)), (F(0), HALF, HALF), (HALF, F(0), HALF)),
    ((F(2, 3), F(1, 6), F(1, 6)), (F(1, 6), F(2, 3), F(1, 6)), (F(1, 6), F(1, 6), F(2, 3))),
    ((HALF, HALF, F(0)), (HALF, HALF, F(0)), (F(0), F(0), F(1))),
    ((F(0), F(1), F(0)), (F(1), F(0), F(0)), (F(0), F(0), F(1))),
    ((F(1), F(0), F(0)), (F(1), F(0), F(0)), (F(0), F(0), F(1))),
    ((F(2, 3), F(1, 3), F(0)), (HALF, HALF, F(0)), (F(0), F(0), F(1))),
    ((F(1, 3),) * 3, (F(1, 4), F(1, 4), HALF), (F(1, 5), F(2, 5), F(2, 5))),
)
"""Four bistochastic matrices (one per permutation), and three that are not."""
GRID = tuple((F(a, 6), F(b, 6), F(6 - a - b, 6)) for a in range(7) for b in range(7 - a))


def _out(p: Sequence[Fraction], matrix: Matrix) -> tuple[Fraction, ...]:
    return tuple(sum((p[x] * matrix[x][y] for x in range(3)), F(0)) for y in range(3))


def _thm2(full: bool) -> Evidence:
    always, mended, only, order = True, True, True, True
    for matrix in MATRICES:
        bistochastic = _out(ONES, matrix) == ONES
        fixed = all(one in (0, 1) for row in matrix for one in row) and bistochastic
        falls = False
        for p in GRID:
            q = _out(p, matrix)
            before, after = entropy(p), entropy(q)
            same = sorted(p) == sorted(q)
            falls = falls or (not same and after.upper < before.lower)
            if bistochastic:
                always = always and (fixed or after.lower > before.upper)
                mended = mended and (same or after.lower > before.upper)
                order = order and majorises(p, q)
        only = only and bistochastic != falls
    for p, q in product(GRID, repeat=2):
        # `majorisation` proves by itself that its matrix is bistochastic and carries p to q.
        order = order and (not majorises(p, q) or majorisation(p, q).after == q)
    name = "a bistochastic matrix that is not a permutation increases entropy"
    return Evidence(
        {
            "Theorem 2": order,
            "only bistochastic matrices never decrease entropy": only,
            name: always,
        },
        "for all: at the uniform distribution only bistochastic matrices do not lose entropy; entropy is strictly"
        f" Schur-concave, so it grows unless P'p is p rearranged. Exactly on {len(MATRICES)} matrices and {len(GRID)}"
        " distributions; Theorem 2 on all their pairs, with the matrix",
        errata={name: "unless P' p is a rearrangement of p, as it is for uniform p"} if mended and not always else {},
        witness="any bistochastic P: p = (1/3, 1/3, 1/3) stays. P = (1/2, 1/2, 0; 1/2, 1/2, 0; 0, 0, 1): p = (1/4, 1/4,"
        " 1/2) stays",
    )


def _mean(full: bool) -> Evidence:
    vectors = ((1, 3, 8), (0, 0, 1), (5, -2, 7), (1, 2, 4))
    kept = {True: True, False: True}
    forward = {True: True, False: False}
    for matrix in MATRICES:
        bistochastic = _out(ONES, matrix) == ONES
        for vector in vectors:
            given = [F(one) for one in vector]
            kept[bistochastic] = kept[bistochastic] and sum(_out(given, matrix)) == sum(given)
        images = [[sum((row[v] * vector[v] for v in range(3)), F(0)) for row in matrix] for vector in vectors]
        same = all(sum(image) == sum(vector) for image, vector in zip(images, vectors, strict=True))
        forward[bistochastic] = forward[bistochastic] and same if bistochastic else forward[bistochastic] or same
    return Evidence(
        {
            "bistochastic matrices preserve the mean under Y = P' X": kept[True],
            "no other Markov matrix does": not kept[False],
        },
        "counterexample: sum_v Y_v = sum_u X_u sum_v p_uv = sum_u X_u, for every P whose rows sum to one. Exactly on"
        f" {len(MATRICES)} matrices, 4 vectors",
        {"under Y = P X the bistochastic ones do and the others do not": forward[True] and not forward[False]},
        witness="P = (1, 0; 1, 0), X = (1, 3): P' X = (4, 0), mean 2 as before; the columns of P sum to 2 and 0",
    )


def _beta0(full: bool) -> Evidence:
    silent = []
    for size in (2, 3, 4):
        for targets in permutations(range(size)):
            matrix = [[F(targets[x] == y) for y in range(size)] for x in range(size)]
            silent.append((targets == tuple(range(size)), beta(Mechanism.from_matrix(matrix)).upper == 0))
    others = all(beta(Mechanism.from_matrix(matrix)).lower > 0 for matrix in MATRICES[:3])
    zero = all(none for _, none in silent)
    untouched = all(identity for identity, none in silent if none)
    name = "H(P) = 0 means untouched data"
    return Evidence(
        {name: untouched},
        "H(P) is the mean entropy of the rows, 0 exactly where every row has one 1: bistochastic ones are the"
        " permutations. All of 2, 3 and 4 categories, and three matrices that are none",
        {"Definition 1 at beta = 0": "asks H(P) >= 0, which every bistochastic matrix has"},
        {name: "H(P) = 0 means that one permutation, known with P, was applied"} if zero and others else {},
        "P = (0, 1; 1, 0): beta = 0, and every value is exchanged",
    )


def _prop3(full: bool) -> Evidence:
    good, tried = True, 0
    for row in product(range(11), repeat=3):
        rest = 20 - sum(row)
        if rest > 10:
            numbers = [F(one, 20) for one in (rest, *row)]
            good = good and _determinant(circulant(numbers)) != 0
            tried += 1
    for a, b, c in product(range(5), repeat=3):
        if a + b < 5 and b + c < 5:
            good = good and _determinant(tridiagonal([F(a, 10), F(b, 10), F(c, 10)])) != 0
            tried += 1
    weak = _determinant(keeping(HALF, 2)) != 0
    swap = _determinant(keeping(F(0), 2)) != 0
    name = "so does >= 0.5 (the definition in the text)"
    return Evidence(
        {
            "diagonal > 0.5 implies non-singular": good,
            name: weak,
            "non-singular implies diagonal > 0.5 (not said)": not swap,
        },
        "Levy-Desplanques for strictly dominant diagonals: at the largest |x_u| of x, (P x)_u is at least (2 p_uu - 1)"
        f" |x_u| > 0; determinants of {tried} circulant and tridiagonal 4 x 4 matrices exactly",
        errata={name: "the entry must be larger than the sum of the others, not equal"} if good and not weak else {},
        witness="(1/2, 1/2; 1/2, 1/2) is singular; (0, 1; 1, 0) has determinant -1",
    )


def _determinant(mechanism: Mechanism) -> fmpq:
    size = range(len(mechanism.inputs))
    entries = [[mechanism.entry(x, y) for y in size] for x in size]
    return fmpq_mat([[fmpq(one.numerator, one.denominator) for one in row] for row in entries]).det()


ROWS = {
    "dp": ("differential privacy by (2)", "epsilon", (("5", "17"), ("3", "60"), ("1", "97"))),
    "kanonymity": ("k-anonymity by (3)", "k", (("2", "28"), ("3", "56"), ("6", "72"))),
    "tridiagonal": ("tridiagonal matrices (7)", "alpha", (("0.1", "24"), ("0.3", "35"), ("0.4", "40"))),
    "circulant": ("circulant matrices (6), equal rest", "p11", (("0.9", "21"), ("0.6", "63"), ("0.2", "93"))),
}
CLAIMS = (
    *(
        Claim(
            f"ruiz.table1.{row}",
            "Table 1",
            f"beta of {name}, 12 x 12, in percent",
            {f"{parameter} = {value}": percent for value, percent in cells},
            _table(row),
        )
        for row, (name, parameter, cells) in ROWS.items()
    ),
    Claim(
        "ruiz.prop1",
        "Proposition 1",
        "every eps-LDP randomised-response matrix has the form (2), so differential privacy enforces bistochasticity",
        {"every eps-LDP matrix has the form (2)": True, "eps-LDP enforces bistochasticity": True},
        _prop1,
    ),
    Claim(
        "ruiz.example.eps2",
        "section 2.2",
        "eps = 2, r = 3: the data stay unaltered with probability 0.78, the other permutations have 0.11",
        {"e^2 / (2 + e^2)": "0.78", "1 / (2 + e^2)": "0.11", "P determines the identity's weight": True},
        _eps2,
    ),
    Claim(
        "ruiz.birkhoff.bound",
        "Theorem 1",
        "at most r^2 - 2r + 2 permutations are needed (is it attained?)",
        {
            "permutations that are enough": Formula("r**2-2*r+2", (("r", (2, 3, 4, 5)),)),
            "attained (some matrix needs as many)": True,
        },
        _bound,
    ),
    Claim(
        "ruiz.thm2.always",
        "after Theorem 2",
        "a bistochastic matrix that is not a permutation always increases entropy, and only bistochastic ones never"
        " decrease it",
        {
            "Theorem 2": True,
            "only bistochastic matrices never decrease entropy": True,
            "a bistochastic matrix that is not a permutation increases entropy": True,
        },
        _thm2,
    ),
    Claim(
        "ruiz.mean",
        "section 3.2",
        "the mean is preserved under Y = P' X, which would not be possible with a non-bistochastic Markov matrix",
        {"bistochastic matrices preserve the mean under Y = P' X": True, "no other Markov matrix does": True},
        _mean,
    ),
    Claim(
        "ruiz.beta0",
        "section 3.1",
        "beta = 0 means that the attribute is left untouched, H(P) = 0",
        {"H(P) = 0 means untouched data": True},
        _beta0,
    ),
    Claim(
        "ruiz.prop3",
        "Proposition 3",
        "a bistochastic matrix with diagonal > 0.5 is non-singular; it is diagonally dominant, the entry >= the others'"
        " sum; and its converse",
        {
            "diagonal > 0.5 implies non-singular": True,
            "so does >= 0.5 (the definition in the text)": True,
            "non-singular implies diagonal > 0.5 (not said)": False,
        },
        _prop3,
    ),
)
