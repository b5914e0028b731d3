"""Chai and Nayak, chapter 7: estimators of t-subset designs, their mixtures, and RAPPOR."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

from flint import fmpq, fmpq_poly
from rropt.models.claims.designs import (
    agreed,
    best_estimator,
    channel,
    height,
    least_risk,
    rappor,
    risks,
    ruled,
    subset_design,
    unbiased,
)

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.comparison.orders.admissible import admissible, improve
from rropt.comparison.orders.blackwell import dominates

DESIGNS = (("k", (4, 5)), ("t", (1, 2, 3)), ("g", ("1.5", "2", "5")))
"""The designs on which formulas are compared."""


@cache
def moments(k: int, t: int, gamma: Fraction) -> tuple[Fraction, Fraction]:
    """(slope, constant) of L_t from its definition: the estimate of pi_j is the mean of constant + slope [j in S]."""
    rows = subset_design(k, t, gamma)
    found = {(row[0] == max(row), one) for row, one in zip(rows, best_estimator(rows)[0], strict=True)}
    known = dict(found)
    if len(found) != 2:
        raise ArithmeticError("the estimator depends on more than membership")
    return known[True] - known[False], known[False]


def chance(k: int, t: int, gamma: Fraction, members: Sequence[int], prior: Sequence[Fraction]) -> Fraction:
    """P(Z_j = 1 for all j of `members`) under P_t, from the matrix."""
    total = Fraction(0)
    for row, chosen in zip(subset_design(k, t, gamma), combinations(range(k), t), strict=True):
        if set(members) <= set(chosen):
            total += sum((one * share for one, share in zip(row, prior, strict=True)), Fraction(0))
    return total


def spread(k: int, members: int, mass: Fraction) -> list[Fraction]:
    """A prior whose first `members` categories have `mass` in unequal parts, the others the rest in unequal parts."""
    first = [mass * (x + 1) / (members * (members + 1) // 2) for x in range(members)]
    rest = k - members
    return first + [(1 - mass) * (x + 1) / (rest * (rest + 1) // 2) for x in range(rest)]


SLOPE = "(k-1)*(t*g+k-t)/(t*(g-1)*(k-t))"
CONSTANT = "1/k*((1-k)*(t*g+k-t)/((g-1)*(k-t))+1)"
PAIR = "t*(t-1)*((k-t)*(g-1)*s+(t*g-2*g+k-t))/((k-1)*(k-2)*(t*g+k-t))"
SINGLE = "t/((k-1)*(t*g+k-t))*((g-1)*(k-t)*s+((t-1)*g+k-t))"
PRINTED_SINGLE = "t/((k-1)*(t*g+k-t))*((g-1)*(k-t)*s+(t*(g-1)+k-t))"
SHARES = (*DESIGNS, ("s", ("0.1", "0.5")))
ON_GRID = "exact from the matrices, k = 4, 5, t = 1, 2, 3, gamma = 1.5, 2, 5"


def _eq72(full: bool) -> Evidence:
    return Evidence(
        {
            "slope": agreed(SLOPE, DESIGNS, lambda k, t, g: moments(int(k), int(t), g)[0]),
            "constant": agreed(CONSTANT, DESIGNS, lambda k, t, g: moments(int(k), int(t), g)[1]),
        },
        f"L_t = (P' D^-1 P)^-1 P' D^-1 at equal frequencies against the coefficients of (7.2), {ON_GRID}",
    )


def _eq75(full: bool) -> Evidence:
    def pair(k: Fraction, t: Fraction, g: Fraction, s: Fraction) -> Fraction:
        return chance(int(k), int(t), g, (0, 1), spread(int(k), 2, s))

    return Evidence({"P(Z_i = 1, Z_j = 1)": agreed(PAIR, SHARES, pair)}, f"{ON_GRID}; s = pi_i + pi_j = 0.1, 0.5")


def _pzj(full: bool) -> Evidence:
    def single(k: Fraction, t: Fraction, g: Fraction, s: Fraction) -> Fraction:
        return chance(int(k), int(t), g, (0,), spread(int(k), 1, s))

    true = agreed(SINGLE, SHARES, single)
    return Evidence(
        {"P(Z_j = 1)": true},
        f"{ON_GRID}; s = pi_j = 0.1, 0.5",
        errata={"P(Z_j = 1)": "the braces hold (t-1) gamma + k - t, and not t (gamma-1) + k - t"} if true else {},
        witness=(
            "k = 3, t = 1, gamma = 2, pi_j = 0: Z_j = 1 has the probability 1/4. Printed: 1/(2*4) * (0 + 1 + 2) = 3/8;"
            " corrected: 1/(2*4) * (0 + 0 + 2) = 1/4"
        ),
    )


def _mixture(full: bool) -> Evidence:
    mixed, bad = True, True
    for k in (2, 3, 4):
        for root in (Fraction(3, 2), Fraction(2)):
            outputs, rows = rappor(k, root)
            for z, row in zip(outputs, rows, strict=True):
                t = sum(z)
                weight = sum((one[0] for other, one in zip(outputs, rows, strict=True) if sum(other) == t), Fraction(0))
                small = 1 / (sum(math.comb(k - 1, t - 1) for _ in range(t > 0)) * root**2 + math.comb(k - 1, t))
                design = [small * (root**2 if bit else 1) if 0 < t < k else Fraction(1) for bit in z]
                mixed = mixed and row == [weight * one for one in design]
            better = improve(channel(rows), gamma=root**2)
            judged = admissible(channel(rows), gamma=root**2)
            bad = bad and judged.private and not judged and not dominates(channel(rows), better.mechanism)
    return Evidence(
        {"a mixture of t-subset designs": mixed, "inadmissible": bad},
        "exact from the definition, k = 2, 3, 4 and sqrt(gamma) = 3/2, 2; a design of the same privacy ratio that dominates"
        " it and is not dominated by it, both decided exactly",
    )


LARGER = "P_M that is not P_q has rows with more than q large values (the proof)"


def _thm72(full: bool) -> Evidence:
    least = all(
        mixture_risk(k, g, weights) >= least_risk(k, g)
        for k, g in ((3, Fraction(2)), (4, Fraction(2)), (4, Fraction(5)), (10, Fraction(6)))
        for weights in two_sizes(k)
    )
    direct = all(
        risks(rows, best_estimator(rows))[0] - Fraction(1, k) == mixture_risk(k, g, weights)
        for k, g in ((3, Fraction(2)), (4, Fraction(5)))
        for weights in two_sizes(k)
        for rows in [
            [[w * one for one in row] for t, w in enumerate(weights, 1) if w for row in subset_design(k, t, g)]
        ]
    )
    half = (Fraction(1, 2), Fraction(1, 2), *[Fraction(0)] * 7)
    tie = mixture_risk(10, Fraction(6), half) == least_risk(10, Fraction(6))
    # The proof: which rows a mixture has that is not P_q.
    larger = all(
        any(w and t > ruled(k, g) for t, w in enumerate(weights, 1))
        for k, g in ((4, Fraction(2)), (10, Fraction(2)))
        for weights in two_sizes(k)
        if any(w and t != ruled(k, g) for t, w in enumerate(weights, 1))
    )
    errata = {
        "equality only for P_q": "unless f(q) = f(q + 1): then every mixture of P_q and P_(q+1) has the same risk",
        LARGER: "another number than q of large values, more or fewer, and f is less there unless f(q) = f(q + 1)",
    }
    return Evidence(
        {"P_q has the least risk": least and direct, "equality only for P_q": not tie, LARGER: larger},
        "the risk of a mixture is (k-1)/a with a the mean of a_t, largest for f(t) largest; against L from its"
        " definition, exact, on mixtures of two sizes, k = 3, 4; equality by a counterexample",
        errata=errata if tie and least and direct else {},
        witness=(
            "k = 10, gamma = 6: f(1) = 100*45/225 = 20 and f(2) = 100*80/400 = 20, so q = 1, and P_1, P_2 and every"
            " mixture of the two have the risk 81/10\nk = 10, gamma = 2: q = 3, and each row of P_1 has one large value"
        ),
    )


def mixture_risk(k: int, gamma: Fraction, weights: Sequence[Fraction]) -> Fraction:
    """The minimax risk of the mixture with these weights of t = 1, ..., k - 1."""
    a = sum((w * (height(k, gamma, t) - k) / (k - 1) for t, w in enumerate(weights, 1)), Fraction(0))
    return (k - 1) / a


def two_sizes(k: int) -> list[tuple[Fraction, ...]]:
    """Weights of t = 1, ..., k - 1 of mixtures of one or two sizes."""
    found = []
    for t, other in combinations(range(k - 1), 2):
        for share in (Fraction(1, 3), Fraction(1)):
            found.append(tuple(share * (x == t) + (1 - share) * (x == other) for x in range(k - 1)))
    return found


def _thm73(full: bool) -> Evidence:
    top = 24 if full else 12
    proved = [k for k in range(2, top + 1) if all(one > 0 for one in advantage(k))]
    direct = all(_direct(k, root) for k in (2, 3, 4) for root in (Fraction(3, 2), Fraction(2)))
    return Evidence(
        {"strictly less for every gamma > 1": direct and len(proved) == top - 1},
        f"both risks are the same up to a constant, so their difference does not depend on pi; times its"
        f" denominators it is a polynomial in sqrt(gamma) - 1 whose coefficients are all positive, k = 2..{top}; the"
        " formulas against the matrices,"
        " exact, k = 2, 3, 4; for all k by Gauss and Markov: the empirical estimator is linear and unbiased, and not"
        " L_R",
    )


def kept(k: int) -> tuple[fmpq_poly, fmpq_poly]:
    """(A, B) in x = sqrt(gamma) - 1: the mean of a_t under RAPPOR is (s^2 - 1)^2 A / (B (1 + s)^k), s = 1 + x."""
    s = fmpq_poly([1, 1])
    above, below = fmpq_poly([0]), fmpq_poly([1])
    for t in range(1, k):
        one = math.comb(k, t) * t * (k - t) * s ** (k - t - 1)
        other = (k - 1) * (t * s * s + (k - t))
        above, below = above * other + one * below, below * other
    return above, below


def advantage(k: int) -> list[Fraction]:
    """Coefficients in x = sqrt(gamma) - 1 (those from the first that is not 0) of the numerator of (7.14)'s risk less
    the minimax risk under RAPPOR, over a positive denominator."""
    s = fmpq_poly([1, 1])
    above, below = kept(k)
    # The difference is k s / (s-1)^2 + 1 - 1/k - (k-1)/a; here times (s-1)^2 (s+1)^2 A.
    top = (k * s + (s - 1) ** 2 * fmpq(k - 1, k)) * above * (s + 1) ** 2 - (k - 1) * below * (1 + s) ** k
    found = [Fraction(int(one.p), int(one.q)) for one in top.coeffs()]
    while found and found[0] == 0:
        found.pop(0)
    return found or [Fraction(-1)]


def _direct(k: int, root: Fraction) -> bool:
    """At one gamma, from the matrices: both unbiased, the empirical trace larger, and the polynomials right."""
    outputs, rows = rappor(k, root)
    empirical = [[((root + 1) * z[x] - 1) / (root - 1) for z in outputs] for x in range(k)]
    best = best_estimator(rows)
    one, other = risks(rows, empirical), risks(rows, best)
    x = fmpq(root.numerator - root.denominator, root.denominator)
    above, below = (Fraction(int(v.p), int(v.q)) for v in (poly(x) for poly in kept(k)))
    a = (root**2 - 1) ** 2 * above / (below * (1 + root) ** k)
    formulas = one[0] == k * root / (root - 1) ** 2 + 1 and other[0] == (k - 1) / a + Fraction(1, k)
    fair = unbiased(rows, empirical) and unbiased(rows, best)
    return formulas and fair and len(set(one)) == len(set(other)) == 1 and one[0] > other[0]


def _thm71(full: bool) -> Evidence:
    good = True
    for k, g in ((3, Fraction(2)), (4, Fraction(3)), (4, Fraction(5))):
        for weights in two_sizes(k):
            rows = [[w * one for one in row] for t, w in enumerate(weights, 1) if w for row in subset_design(k, t, g)]
            best = best_estimator(rows)
            a = sum((w * (height(k, g, t) - k) / (k - 1) for t, w in enumerate(weights, 1)), Fraction(0))
            formula = [
                [
                    (row[x] * math.comb(k, t) - (1 - a / k)) / a
                    for t, w in enumerate(weights, 1)
                    if w
                    for row in subset_design(k, t, g)
                ]
                for x in range(k)
            ]
            good = good and formula == best and unbiased(rows, best) and len(set(risks(rows, best))) == 1
    return Evidence(
        {"L_M is minimax": good},
        "L_M is the best unbiased estimator at equal frequencies (Gauss and Markov; (7.11) against the definition,"
        " exact), and its tr(L D L') is the same at every prior (equal at all one-point priors, and linear), so its"
        " worst risk is that at equal frequencies, which no other estimator undercuts; exhaustive on mixtures of two"
        " sizes, k = 3, 4",
    )


def _eq714(full: bool) -> Evidence:
    over = (("k", (2, 3, 4)), ("s", ("1.5", "2", "4")))

    def trace(k: Fraction, s: Fraction) -> Fraction:
        outputs, rows = rappor(int(k), s)
        empirical = [[((s + 1) * z[x] - 1) / (s - 1) for z in outputs] for x in range(int(k))]
        found = risks(rows, empirical)
        return found[0] if len(set(found)) == 1 and unbiased(rows, empirical) else Fraction(-1)

    return Evidence(
        {"risk plus sum pi^2": agreed("k*s/(s-1)**2+1", over, trace)},
        "tr(L D L') of the empirical estimator from all 2^k outputs, exact, at every one-point prior; k = 2, 3, 4,"
        " s = sqrt(gamma) = 1.5, 2, 4",
    )


ROOTS = (("k", (2, 3, 4)), ("s", ("1.5", "2", "4")))
NO_TWO = "no two rows of the TPM of RAPPOR are proportional, as Theorem 5.5 needs"
BY_THEOREM = "RAPPOR is inadmissible"


def _proportional(full: bool) -> Evidence:
    none = inadmissible = constant = True
    for k in (3, 4, 5):
        _, rows = rappor(k, Fraction(2))
        shapes = [tuple(one / sum(row) for one in row) for row in rows]
        repeated = {shape for shape in shapes if shapes.count(shape) > 1}
        none = none and not repeated
        constant = constant and repeated == {(Fraction(1, k),) * k}
        inadmissible = inadmissible and not admissible(channel(rows), gamma=4)
    return Evidence(
        {NO_TWO: none, BY_THEOREM: inadmissible},
        "the rows of RAPPOR at ratio 4 for k = 3, 4, 5, exactly: those of no category and of all are both constant, all"
        " others differ; admissibility is decided exactly",
        {"the only proportional rows are the two constant ones": constant},
        {NO_TWO: "the two constant rows are proportional: first they are merged, and the merged row violates C1"}
        if constant and inadmissible
        else {},
        "k = 3, gamma = 4: the report of no category has the probability 4/27 at every value, that of all 2/27",
    )


CLAIMS = (
    Claim(
        "chai.rappor.rows",
        "section 7.2, with Theorem 5.5",
        "the basic RAPPOR design is inadmissible by Theorem 5.5, as its TPM includes two constant rows",
        {NO_TWO: True, BY_THEOREM: True},
        _proportional,
    ),
    Claim(
        "chai.eq7.2",
        "(7.2), Proposition 7.1",
        "the moment estimator is the minimax estimator",
        {"slope": Formula(SLOPE, DESIGNS), "constant": Formula(CONSTANT, DESIGNS)},
        _eq72,
    ),
    Claim("chai.eq7.5", "(7.5)", "the pair probability", {"P(Z_i = 1, Z_j = 1)": Formula(PAIR, SHARES)}, _eq75),
    Claim("chai.pzj", "after Proposition 7.1", "P(Z_j = 1)", {"P(Z_j = 1)": Formula(PRINTED_SINGLE, SHARES)}, _pzj),
    Claim(
        "chai.rappor.mixture",
        "section 7.2",
        "RAPPOR is a mixture of t-subset designs with t = 0, ..., k, and inadmissible",
        {"a mixture of t-subset designs": True, "inadmissible": True},
        _mixture,
    ),
    Claim("chai.thm7.1", "Theorem 7.1", "L_M is a linear unbiased minimax estimator", {"L_M is minimax": True}, _thm71),
    Claim(
        "chai.thm7.2",
        "Theorem 7.2",
        "(P_q, L_q) dominates every mixture of t-subset designs, with equality only for P_q",
        {"P_q has the least risk": True, "equality only for P_q": True, LARGER: True},
        _thm72,
    ),
    Claim(
        "chai.thm7.3",
        "Theorem 7.3",
        "under RAPPOR the minimax estimator has less risk than the empirical one at every prior",
        {"strictly less for every gamma > 1": True},
        _thm73,
    ),
    Claim(
        "chai.eq7.14",
        "(7.14)",
        "the risk of the empirical RAPPOR estimator, k sqrt(gamma) / (sqrt(gamma)-1)^2 + 1 - sum pi^2",
        {"risk plus sum pi^2": Formula("k*s/(s-1)**2+1", ROOTS)},
        _eq714,
    ),
)
