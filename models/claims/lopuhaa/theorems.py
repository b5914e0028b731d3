"""Robust local differential privacy: the theorems on confidence sets, cones and their optima."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
from flint import fmpq, fmpq_mat
from rropt.models.claims.designs import agreed

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.comparison.robust_audit import robust_audit
from rropt.declare.constraints import RLDP, ConeConstraint, MaximalRLDP
from rropt.declare.objectives import MutualInformation
from rropt.exact import Interval
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust import SecretRandomizedResponse
from rropt.model.distributions import ChiSquareBall, ChiSquareSet
from rropt.model.distributions.vertices import vertices
from rropt.model.prior import Pairs, Prior
from rropt.problem import Maximize, Problem, Solution

F = Fraction
ONE = F(1)
TABLES: dict[str, tuple[tuple[int, ...], ...]] = {
    "37 38 | 828 97": ((37, 38), (828, 97)),
    "35 3 130 | 0 24 209 | 40 0 559": ((35, 3, 130), (0, 24, 209), (40, 0, 559)),
    "1 4 465 | 1 62 80 | 59 298 30": ((1, 4, 465), (1, 62, 80), (59, 298, 30)),
}
"""Observed counts, one row per sensitive value."""


@cache
def confidence_of(name: str) -> ChiSquareSet:
    """The chi-square set of a table at alpha = 0.05."""
    return ChiSquareSet(np.array(TABLES[name]))


@cache
def polyopt(name: str, gamma: Fraction) -> Solution:
    """The optimum over the cone of Theorem 11 at the centre."""
    confidence = confidence_of(name)
    return Problem(Maximize(MutualInformation(confidence.center)), [RLDP(gamma=gamma, confidence=confidence)]).solve(
        gap=1e-7
    )


# -- Theorems 11 and 12 ----------------------------------------------------------------------------------------


def _eq44(full: bool) -> Evidence:
    name, gamma = "37 38 | 828 97", F(6, 5)
    confidence, free = confidence_of(name), polyopt(name, gamma)
    assert free.mechanism is not None
    rows, broken = [], F(0)
    for s in (0, 1):
        least = [confidence.lower(s, u) for u in (0, 1)]
        for first, second in ((0, 1), (1, 0)):
            row = [F(0)] * 4
            for u in (0, 1):
                row[2 * s + u] += (1 - gamma) * least[u]
            row[2 * s + first] += 1 - sum(least)
            row[2 * s + second] -= gamma * (1 - sum(least))
            rows.append(row)
    for y in range(len(free.mechanism.outputs)):
        column = free.mechanism.column(y)
        broken = max(broken, *(sum((a * b for a, b in zip(row, column, strict=True)), F(0)) for row in rows))
    short = [[f"{float(entry):.12f}" for entry in row] for row in rows]
    constraints = [RLDP(gamma=gamma, confidence=confidence), ConeConstraint(short)]
    cut = Problem(Maximize(MutualInformation(confidence.center)), constraints).solve(gap=1e-7)
    level = robust_audit(free.mechanism, confidence)
    # Over all conditionals above the smallest of F, in rationals: more than F has.
    private = RLDP(gamma=gamma, confidence=confidence).violation(free.mechanism) <= 0
    assert free.attained is not None
    cuts = broken > 0 and cut.limit is not None and cut.limit < free.attained.lower
    text = "(44) belongs to s1 != s2 only"
    return Evidence(
        {"private mechanisms satisfy (44) at s1 = s2": not (private and broken > 0)},
        "(2) says nothing for s = s'. The certified optimum under (44) for s1 != s2 keeps its level over F"
        " (worst case in rationals) and breaks (44) at s1 = s2; with those rows too (to 12 digits) the optimum is"
        " lower",
        {
            "optimum for s1 != s2, nats": free.attained,
            "optimum for all s1, s2, nats": cut.attained,
            "level": level.epsilon,
        },
        {"private mechanisms satisfy (44) at s1 = s2": text} if private and cuts else {},
        "where nothing is known the bounds P^min are 0 and (44) reads T_(s1,u1) <= e^eps T_(s2,u2). SRR is private then"
        "\n(Lemma 6), and has T_(s,u) = e^(2 eps) T_(s,u') in its column (s, u): s1 = s2 would forbid it",
        {"s1 != s2": free, "all s1, s2": cut},
    )


def _outputs(full: bool) -> Evidence:
    solutions, held, numbers = {}, True, {}
    for name, gamma in product(TABLES, (F(3, 2), F(6))):
        found = polyopt(name, gamma)
        assert found.mechanism is not None
        size = len(found.mechanism.inputs)
        label = f"{name}, exp(epsilon) = {gamma}"
        solutions[label], numbers[label] = found, (len(found.mechanism.outputs), size)
        held = held and len(found.mechanism.outputs) <= size
    return Evidence(
        {"at most a outputs": held},
        "for all: the programme (47) has a equations, so a basic optimum has at most a positive weights; six certified"
        " optima that have no more",
        {"outputs, inputs": numbers},
        solutions=solutions,
    )


# -- section IV ------------------------------------------------------------------------------------------------

HALVES = ((F(1, 5), F(5, 4)), (F(1, 10), F(5, 3)), (F(1, 17), F(17, 8)))
"""R_1 and sqrt(1 / (4 R_1 (1 - R_1))): conditionals (R_1, 1 - R_1) whose chi against (1/2, 1/2) is a square."""


def _lemma8(full: bool) -> Evidence:
    grid: tuple[tuple[str, tuple[object, ...]], ...] = (("r", ("11/10", "3/2", "3")), ("p", ("1/10", "1/2", "9/10")))

    def true(r: Fraction, p: Fraction) -> Fraction:
        # sum Phat^2 / P at least (p sqrt(chi) + 1 - p)^2, by Cauchy and Schwarz twice, equal for P of the proof.
        return ((r - (1 - p)) / p) ** 2 - 1

    inside, outside = True, True
    for (first, root), p in product(HALVES, (F(1, 10), F(1, 2), F(9, 10))):
        r = p * root + 1 - p
        observed = [p / 2, p / 2, (1 - p) / 3, 2 * (1 - p) / 3]
        ball = ChiSquareBall(tuple(observed), Interval.point(r * r - 1))
        mass = 1 - (1 - p) / r
        rest = [one / r for one in observed[2:]]
        # Exactly on the boundary of F, as R is on that of the ball of radius B_s.
        inside = inside and ball.statistic([mass * first, mass * (1 - first), *rest]) == r * r - 1
        beyond = first * F(999, 1000)
        for share in (F(-1, 100), F(0), F(1, 100)):
            m = mass + share * min(mass, 1 - mass)
            scale = (1 - m) / (1 - p)
            point = [m * beyond, m * (1 - beyond), *(scale * one for one in observed[2:])]
            outside = outside and ball.statistic(point) > r * r - 1
    return Evidence(
        {"B_s": agreed("(r+p-1)**2/p**2-1", grid, true), "they are the ball of B_s": inside and outside},
        "for all: the least of sum Phat^2 / P at conditional R of s is (Phat_s sqrt(chi(R)) + 1 - Phat_s)^2; r ="
        f" sqrt(B + 1). Exactly for {3 * len(HALVES)} tables with a rational r: R on the boundary is reached by (31), R"
        " a little beyond by no marginal near it",
    )


def _lemma9(full: bool) -> Evidence:
    shares = [F(n, 20) for n in range(1, 20)]
    ends = {"min": True, "max": True}
    for own, v in product(shares, shares):
        if own == v:
            continue
        excess = own * own / v + (1 - own) ** 2 / (1 - v) - 1
        # v is a root of (B+1) v^2 - (B + 2p) v + p^2, so the discriminant is a square.
        root = abs(2 * (excess + 1) * v - (excess + 2 * own))
        exact = root * root == excess**2 + 4 * excess * own * (1 - own)
        side = -1 if v < own else 1
        value = (excess + 2 * own + side * root) / (2 * excess + 2)
        name = "min" if v < own else "max"
        others = [(1 - own) / 4, 3 * (1 - own) / 4]
        ball = ChiSquareBall((own, *others), Interval.point(excess))
        scale = (1 - v) / (1 - own)
        attained = ball.statistic([v, *(scale * one for one in others)]) == excess
        further = v + side * min(v, 1 - v) / 1000
        scale = (1 - further) / (1 - own)
        past = ball.statistic([further, *(scale * one for one in others)]) > excess
        ends[name] = ends[name] and exact and value == v and attained and past
    return Evidence(
        {"min P_x is (36)": ends["min"], "max P_x is (37)": ends["max"]},
        "for all: the other cells cost least in proportion to Phat (Cauchy and Schwarz), which leaves the quadratic"
        " (41); exactly for 342 pairs (Phat_x, P_x), B the one that they meet at",
        {"(36) loses all digits for small Phat_x": "Phat_x^2 / ((B+1) (37)) is the same without a difference"},
    )


def _root(value: Fraction) -> Interval:
    """sqrt(value) to 2^-60, outwards."""
    scaled = int(value * 4**60)
    whole = math.isqrt(scaled)
    return Interval(F(whole, 2**60), F(whole + 1, 2**60))


def _largest(p: Fraction, excess: Fraction) -> Interval:
    """2 (max P_A - p_A) by (37), enclosed."""
    root = _root(excess**2 + 4 * excess * p * (1 - p))
    low, high = ((excess + 2 * p + end) / (2 * excess + 2) for end in (root.lower, root.upper))
    return Interval(2 * (low - p), 2 * (high - p))


def _prop10(full: bool) -> Evidence:
    exact, bound, loose = True, True, {}
    for weights in ((1, 2, 3, 4), (0, 1, 3), (1, 1, 1), (1, 4, 465, 1, 62, 80, 59, 298, 30), (5, 95)):
        total = sum(weights)
        own = [F(w, total) for w in weights]
        masses = {sum(part, F(0)) for size in range(1, len(own)) for part in combinations(own, size)}
        for excess in (F(1, 50), F(1, 4), F(9, 10), F(1), F(3, 2), F(4)):
            ends = [_largest(mass, excess) for mass in masses]
            most = max(ends, key=lambda end: end.upper)
            if excess >= 1:
                paper = _largest(min(own), excess)
                exact = exact and most.upper <= paper.upper
            else:
                bound = bound and most.lower <= _root(excess).upper
                loose[f"{len(own)} cells, B = {float(excess):g}"] = (most, _root(excess))
    return Evidence(
        {"B >= 1: the maximum is (43)": exact, "B < 1: at most sqrt(B)": bound},
        "the l1 distance is 2 max over sets A of P_A - Phat_A, and P_A is at most (37) at Phat_A (merge the cells of A"
        " and the others): the maximum over all sets A but the empty one, for 5 tables and 6 B",
        {"maximum and sqrt(B) for B < 1": loose},
    )


# -- section III -----------------------------------------------------------------------------------------------

FULL = {"1 2 | 3 4": 300, "5 1 2 | 2 3 1": 1000, "1 1 | 1 1 | 1 1": 300}
"""Weights of priors without zeros, and the gamma at which SRR is tried."""


def _prior(text: str) -> Prior:
    table = np.array([[int(one) for one in row.split()] for row in text.split("|")])
    return Prior.from_counts(table, pairs=Pairs(*table.shape))


def _best(prior: Prior, gamma: int, gap: float) -> Solution:
    assert prior.pairs is not None
    return Problem(Maximize(MutualInformation(prior)), [MaximalRLDP(gamma=gamma, groups=prior.pairs)]).solve(gap=gap)


def without_the_dead_pair(gamma: Fraction) -> Mechanism:
    """Three outputs for the pairs (0, 0), (0, 1), (1, 0); (1, 1) is treated as (1, 0)."""
    one, other = gamma / (gamma + 1), 1 / (gamma + 1)
    own, cross = (gamma - 1) / (gamma + 1), (gamma - 1) / (gamma * (gamma + 1))
    rows = [[one, other / gamma, cross], [other / gamma, one, cross], [other, other, own], [other, other, own]]
    labels = Pairs(2, 2).labels
    return Mechanism.from_rationals(rows, inputs=labels, outputs=labels[:3])


def _thm7(full: bool) -> Evidence:
    solutions, attained = {}, True
    for text, gamma in FULL.items():
        prior = _prior(text)
        found = _best(prior, gamma, 1e-9)
        solutions[f"{text}, gamma = {gamma}"] = found
        assert prior.pairs is not None
        value = SecretRandomizedResponse(prior.pairs, gamma=gamma).to_mechanism().mutual_information(prior)
        attained = attained and found.limit is not None and value.lower >= found.limit - F(1, 10**8)
    dead = _prior("2 1 | 1 0")
    assert dead.pairs is not None
    solutions["2 1 | 1 0, gamma = 10"] = _best(dead, 10, 1e-9)
    worse, beaten = {}, True
    for gamma in (2, 10, 1000, 10**6):
        other = without_the_dead_pair(F(gamma))
        private = all(
            other.entry(x, y) <= gamma * other.entry(z, y)
            for x, z in product(range(4), repeat=2)
            if x // 2 != z // 2
            for y in range(3)
        )
        ours = other.mutual_information(dead)
        paper = SecretRandomizedResponse(dead.pairs, gamma=gamma).to_mechanism().mutual_information(dead)
        worse[f"gamma = {gamma}"] = (paper, ours)
        beaten = beaten and private and paper.upper < ours.lower
    return Evidence(
        {"for every P": not beaten},
        "certified optima at three priors without zeros, attained within 1e-8; with P(1, 1) = 0 a mechanism with three"
        " outputs is private and better at gamma = 2, 10, 1000 and a million (its loss against H(X) is of the same"
        " order in gamma, with a smaller factor)",
        {"SRR attains the optimum without zeros": attained, "SRR and the other at P = (2 1 | 1 0) / 4, nats": worse},
        {"for every P": "for every P without zeros"} if beaten and attained else {},
        "P = (2 1 | 1 0) / 4, g = exp(epsilon). Columns over (0,0), (0,1), (1,0) = (1,1):"
        "\n(g, 1/g, 1) / (g+1), (1/g, g, 1) / (g+1), (1/g, 1/g, 1) (g-1) / (g+1); at g = 10 0.6523 nats against 0.6204",
        solutions,
    )


# -- the rays of (105) -----------------------------------------------------------------------------------------


def spanning(first: int, second: int, gamma: Fraction) -> set[tuple[Fraction, ...]]:
    """The vectors of (105), each with entries that sum to one."""
    found = set()
    for vector in product((ONE, gamma), repeat=first * second):
        if sum(max(vector[s * second : (s + 1) * second]) == gamma for s in range(first)) >= 2:
            found.add(vector)
    for s, block in product(range(first), product((1 / gamma, gamma), repeat=second)):
        found.add((ONE,) * (s * second) + block + (ONE,) * ((first - s - 1) * second))
    return {tuple(entry / sum(vector) for entry in vector) for vector in found}


def cone_rows(first: int, second: int, gamma: Fraction) -> list[tuple[Fraction, ...]]:
    """The a with a . C >= 0: (104), and C >= 0."""
    size = first * second
    rows = [tuple(F(z == x) for z in range(size)) for x in range(size)]
    for x, z in product(range(size), repeat=2):
        if x // second != z // second:
            row = [F(0)] * size
            row[z], row[x] = gamma, -ONE
            rows.append(tuple(row))
    return rows


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), F(0))


def _eq105(full: bool) -> Evidence:
    inside, spans, numbers = True, True, {}
    for first, second in ((2, 2), (2, 3), (3, 2)):
        gamma, size = F(3), first * second
        rows = cone_rows(first, second, gamma)
        rays = vertices([(row, F(0)) for row in rows], [((ONE,) * size, -ONE)], size)
        given = spanning(first, second, gamma)
        inside = inside and all(_dot(row, vector) >= 0 for row in rows for vector in given)
        spans = spans and set(rays) <= given
        # Each ray has size - 1 independent tight rows.
        for ray in rays:
            tight = [[fmpq(a.numerator, a.denominator) for a in row] for row in rows if _dot(row, ray) == 0]
            spans = spans and fmpq_mat(tight).rank() == size - 1
        numbers[f"{first} x {second}"] = (len(given), len(rays))
    return Evidence(
        {"(105) lies in the cone": inside, "(105) spans the cone": spans},
        "all extreme rays by double description in integers at gamma = 3, for 2 x 2, 2 x 3 and 3 x 2: each is one of"
        " (105)",
        {"vectors of (105), extreme rays among them": numbers},
        witness="not all are extreme: for 2 x 2 (g, g, g, g) is in (105), it is g / (g+1) times\n(g, 1, g, 1) + (1, g,"
        " 1, g)",
    )


CLAIMS = (
    Claim(
        "lopuhaa.eq44",
        "section V, (44)",
        "the cone of Theorem 11 asks (44) for all s1, s2",
        {"private mechanisms satisfy (44) at s1 = s2": True},
        _eq44,
    ),
    Claim(
        "lopuhaa.lemma8",
        "Lemma 8",
        "the conditionals of U given s that F has are a chi-square ball of B_s = (sqrt(B+1) + p - 1)^2 / p^2 - 1, p the"
        " observed share of s; r = sqrt(B+1)",
        {
            "B_s": Formula("(r+p-1)**2/p**2-1", (("r", ("11/10", "3/2", "3")), ("p", ("1/10", "1/2", "9/10")))),
            "they are the ball of B_s": True,
        },
        _lemma8,
    ),
    Claim(
        "lopuhaa.lemma9",
        "Lemma 9",
        "the smallest and largest P_x over F, (36) and (37)",
        {"min P_x is (36)": True, "max P_x is (37)": True},
        _lemma9,
    ),
    Claim(
        "lopuhaa.prop10",
        "Proposition 10",
        "the largest l1 distance over F is (43) for B >= 1, and at most sqrt(B) below",
        {"B >= 1: the maximum is (43)": True, "B < 1: at most sqrt(B)": True},
        _prop10,
    ),
    Claim(
        "lopuhaa.thm7",
        "Theorem 7",
        "for every P, SRR maximises the information among the mechanisms that are private for all distributions, for"
        " large epsilon",
        {"for every P": True},
        _thm7,
    ),
    Claim(
        "lopuhaa.thm12.outputs",
        "Theorem 12",
        "the optimum over the cone of Theorem 11 needs at most a = |S| |U| outputs",
        {"at most a outputs": True},
        _outputs,
    ),
    Claim(
        "lopuhaa.eq105",
        "appendix A, (105)",
        "the cone of Proposition 4 is spanned by (105)",
        {"(105) lies in the cone": True, "(105) spans the cone": True},
        _eq105,
    ),
)
