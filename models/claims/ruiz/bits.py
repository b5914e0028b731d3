"""Bistochastic privacy: the tridiagonal matrix (7), and the bits of several attributes by Definitions 2 and 3."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

from rropt.models.claims.designs import agreed

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.exact import Interval, exp_enclosure, float_up
from rropt.mechanisms.families.bistochastic import anatomy, classes_of, entropy_bits, keeping, tridiagonal
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior

F = Fraction
HALF, QUARTER = F(1, 2), F(1, 4)
NARROW = F(1, 10**12)
CELLS = 64
"""The flips that products are bounded on are multiples of 1 / 128, from 0 to 1/2."""
SURE, MIXED = (F(1), F(0), F(0), F(0)), (F(0), HALF, QUARTER, QUARTER)
JOINT = (SURE, MIXED, MIXED, (F(0), F(0), HALF, HALF))
"""Of two binary attributes in the order (0, 0), (0, 1), (1, 0), (1, 1): one bit."""
REST = (SURE, *[(F(0), F(1, 3), F(1, 3), F(1, 3))] * 3)
DEPENDENT = ("0.4", "0.1", "0.1", "0.4")
INDEPENDENT = ("0.81", "0.09", "0.09", "0.01")


def square(rows: Sequence[Sequence[Fraction]]) -> Mechanism:
    """The mechanism with outputs that are its inputs."""
    labels = [str(x + 1) for x in range(len(rows))]
    return Mechanism.from_rationals([list(row) for row in rows], inputs=labels, outputs=labels)


def together(one: Mechanism, other: Mechanism) -> Mechanism:
    """Both attributes released, each by its own matrix: P_1 (x) P_2."""
    pairs = list(product(range(len(one.inputs)), range(len(other.inputs))))
    return square([[one.entry(a, c) * other.entry(b, d) for c, d in pairs] for a, b in pairs])


def flip(share: Fraction) -> Mechanism:
    """The bistochastic 2 x 2 matrix that changes its input with that probability."""
    return square([[1 - share, share], [share, 1 - share]])


def bound_of_products(prior: Prior, bits: Fraction) -> Fraction:
    """An upper bound, in nats, of the information that a pair of bistochastic 2 x 2 matrices with H(P_1) + H(P_2) >=
    bits keeps.

    Flips a and b of at most 1/2 are enough (else exchange the outputs). The information falls in both, as more flips
    are a garbling. For a in [n, n + 1] / 128 the other has at least the entropy that is missing at (n + 1) / 128.
    """
    flips = [F(n, 2 * CELLS) for n in range(CELLS + 1)]
    rates = [entropy_bits(flip(one)) for one in flips]
    most = F(0)
    for n in range(CELLS):
        least = max(m for m in range(CELLS + 1) if m == 0 or rates[m].upper + rates[n + 1].lower <= bits)
        matrix = together(flip(flips[n]), flip(flips[least]))
        most = max(most, matrix.mutual_information(prior).upper)
    return most


def _bits(full: bool) -> Evidence:
    made = (
        keeping(F(2, 3), 3),
        anatomy(classes_of(4, 2)),
        tridiagonal([F(1, 5)] * 3),
        keeping(F(1, 3), 3),
        square(JOINT),
    )
    same = True
    for one, other in product(made, repeat=2):
        whole, parts = entropy_bits(together(one, other)), (entropy_bits(one), entropy_bits(other))
        low, high = sum(part.lower for part in parts), sum(part.upper for part in parts)
        same = same and whole.lower <= high and low <= whole.upper
        same = same and max(whole.upper, high) - min(whole.lower, low) < NARROW
    flat = {size: keeping(F(1, size), size) for size in (2, 3, 4)}
    most = all(
        together(flat[one], flat[other]).columns == keeping(F(1, one * other), one * other).columns
        for one, other in product(flat, repeat=2)
    )
    found: dict[str, tuple[Interval, Fraction]] = {}
    for name, shares, matrix in (("dependent", DEPENDENT, JOINT), ("independent", INDEPENDENT, REST)):
        prior = Prior.from_probabilities(list(shares))
        bits = entropy_bits(square(matrix)).upper
        kept = square(matrix).mutual_information(Prior(("1", "2", "3", "4"), prior.weights))
        found[name] = kept, bound_of_products(Prior(("1", "2", "3", "4"), prior.weights), F(1))
        if bits < 1 - NARROW:
            raise ArithmeticError("the joint matrix has less than a bit")
    better = {name: kept.lower > bound for name, (kept, bound) in found.items()}
    names = (
        "Definition 2 injects more bits than the joint matrix",
        "at the same bits a joint matrix can keep more information",
        "but not where the attributes are independent",
    )
    return Evidence(
        {
            "the most bits are the sum of the most bits": same and most,
            names[0]: not same,
            names[1]: better["dependent"],
            names[2]: not better["independent"],
        },
        "the matrix of attributes that are released one by one is P_1 (x) ... (x) P_K; each row's entropy is the sum of"
        " the rows', so H is the sum, whatever X is: enclosed to 10^-12 for 25 pairs. Subadditivity speaks of the"
        " entropy of X, which (4) does not contain. The information of all products of two binary attributes with at"
        " least one bit is bounded from above by enclosures on cells of 1/128; joint matrices with at least one bit are"
        " exact",
        {
            f"{name} attributes, nats kept": f"joint {float(kept):.4f}, products at most {float_up(bound):.4f}"
            for name, (kept, bound) in found.items()
        },
        {names[0]: "it injects as many; what it loses is the choice among all joint matrices with these bits"}
        if same and better["dependent"]
        else {},
        "X = (0,0), (0,1), (1,0), (1,1) with 0.4, 0.1, 0.1, 0.4. Rows (1 0 0 0), (0 2 1 1)/4, (0 2 1 1)/4, (0 0 1 1)/2:"
        " bistochastic,\nH = (0 + 1.5 + 1.5 + 1)/4 = 1 bit, keeps 0.8047 nats; products with one bit keep at most"
        " 0.726. Independent, 0.81, 0.09,\n0.09, 0.01: the last three made one class has 1.19 bits and keeps 0.4862;"
        " products with one bit keep at most 0.344",
    )


# -- the tridiagonal matrix (7) --------------------------------------------------------------------------------

SIZES: tuple[tuple[str, tuple[object, ...]], ...] = (("n", (3, 4, 5, 6)),)


def band(alphas: Sequence[Fraction]) -> list[list[Fraction]]:
    """(7) with these numbers: the first and last row have one of them beside the diagonal, every other row two."""
    size = len(alphas) + 1
    rows = [[F(0)] * size for _ in range(size)]
    for at, alpha in enumerate(alphas):
        rows[at][at + 1] = rows[at + 1][at] = alpha
    for at, row in enumerate(rows):
        row[at] = 1 - sum(row, F(0))
    return rows


def _band(full: bool) -> Evidence:
    def needed(n: Fraction) -> Fraction:
        return F(next(count for count in range(1, 9) if len(band([F(0)] * count)) == n))

    printed, corrected = True, True
    for size in (3, 4, 5, 6):
        for alphas in product((F(0), HALF, F(3, 5), F(1)), repeat=size - 1):
            sums = [a + b for a, b in zip((F(0), *alphas), (*alphas, F(0)), strict=True)]
            stochastic = all(one >= 0 for row in band(alphas) for one in row)
            # sums[i - 1] is alpha_(i-1) + alpha_i with alpha_0 = 0.
            printed = printed and (stochastic or max(sums[: size - 2]) > 1)
            corrected = corrected and stochastic == (max(sums[1 : size - 1]) <= 1)
    names = ("numbers alpha of an n x n matrix", "the condition keeps every entry from 0 on")
    count = agreed("n-1", SIZES, needed)
    return Evidence(
        {names[0]: count, names[1]: printed},
        "the matrix built row by row for n = 3 to 6 and alphas 0, 1/2, 3/5 and 1, exactly: its entries are at least 0"
        " where alpha_(i-1) + alpha_i <= 1 for i = 2, ..., n - 1, and only there",
        errata={
            names[0]: "alpha_1, ..., alpha_(n-1)",
            names[1]: "alpha_(i-1) + alpha_i <= 1 for i = 2, ..., n - 1",
        }
        if count and corrected
        else {},
        witness="n = 3, alpha = (0.6, 0.6): i = 1 asks for alpha_1 <= 1, and the second row is (0.6, -0.2, 0.6).\nThe"
        " last row of (7), (alpha_n, 1 - alpha_n), is row n + 1",
    )


# -- classes of records (3), and the probability of no permutation (section 2.2) --------------------------------

CLASS = ("a", "a", "b")
"""The quasi-identifiers of a class of three records, two of which have the same combination."""
NOT_PERMUTED = "the probability of not permuting is proportional to epsilon"


def _classes(full: bool) -> Evidence:
    orders = list(permutations(range(len(CLASS))))
    kept = F(sum(CLASS[order[0]] == CLASS[0] for order in orders), len(orders))
    matrix = anatomy([["1", "2", "3"]])
    of_records = sum((matrix.entry(0, y) for y, one in enumerate(CLASS) if one == CLASS[0]), F(0))
    stated = F(1, len(set(CLASS)))
    name = "probability that a keeps a in the class a, a, b"
    return Evidence(
        {name: kept},
        "all six orders of the three records, counted; and the block of (3) over records, exactly",
        {"by the block over records": of_records, "by the block over combinations": stated},
        {name: "n_l is the number of records of the class, and a row of Q_l is that of a record"}
        if of_records == kept
        else {},
        "a a b: the orders of the records 1, 2, 3 that put record 1 or 2 in the first place are four of six",
    )


def _not_permuted(full: bool) -> Evidence:
    def share(epsilon: str) -> Interval:
        gamma = exp_enclosure(F(epsilon))
        # e / (e + 2) rises with e.
        return Interval(gamma.lower / (gamma.lower + 2), gamma.upper / (gamma.upper + 2))

    found = {epsilon: share(epsilon) for epsilon in ("0", "1", "2")}
    twice = found["2"].lower <= 2 * found["1"].upper and 2 * found["1"].lower <= found["2"].upper
    none = found["0"].lower <= 0
    return Evidence(
        {NOT_PERMUTED: twice and none},
        "e^epsilon / (e^epsilon + r - 1), the identity's weight as the text decomposes (2), enclosed for r = 3: what is"
        " proportional to epsilon is 0 at 0, and twice as much at 2 as at 1",
        {f"at epsilon {epsilon}": value for epsilon, value in found.items()},
        witness="r = 3: 1/3 at epsilon 0, e / (e + 2) = 0.576 at 1, e^2 / (e^2 + 2) = 0.787 at 2",
    )


CLAIMS = (
    Claim(
        "ruiz.eq3",
        "section 2.3, (3)",
        "with n_l different combinations of quasi-identifiers in class l, Q_l has 1 / n_l in all places",
        {"probability that a keeps a in the class a, a, b": HALF},
        _classes,
    ),
    Claim(
        "ruiz.section2.2.rate",
        "section 2.2",
        "the privacy budget epsilon can be seen as being proportional to the probability of not permuting the data",
        {NOT_PERMUTED: True},
        _not_permuted,
    ),
    Claim(
        "ruiz.eq7",
        "section 4, (7)",
        "the n x n tridiagonal matrix has alpha_1, ..., alpha_n with alpha_(i-1) + alpha_i <= 1 for i = 1, ..., n - 2",
        {
            "numbers alpha of an n x n matrix": Formula("n", SIZES),
            "the condition keeps every entry from 0 on": True,
        },
        _band,
    ),
    Claim(
        "ruiz.definition2",
        "Proposition 2, after Definition 2",
        "entropy is subadditive, so Definition 2 injects more bits than the joint distribution needs and more"
        " information is lost, unless the attributes are independent",
        {
            "the most bits are the sum of the most bits": True,
            "Definition 2 injects more bits than the joint matrix": True,
            "at the same bits a joint matrix can keep more information": True,
            "but not where the attributes are independent": True,
        },
        _bits,
    ),
)
