"""The bound on identity disclosure: which statements hold as printed, Table 1 and its minimum."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

from rropt.models import identity_bound as paper
from rropt.models.claims.bound.example import CATEGORIES, near
from rropt.models.claims.designs import agreed

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks
from rropt.model.identification import closed_theta, match_risks, paper_block_size, psi

F = Fraction


# -- what the matrix keeps, and which of its columns the risk needs --------------------------------------------


def _invariance(full: bool) -> Evidence:
    kept, printed = paper.invariance()
    mechanism = paper.example().mechanism
    expected = [sum((t * mechanism.entry(x, y) for x, t in enumerate(paper.COUNTS)), F(0)) for y in CATEGORIES]
    unbiased = tuple(expected) == paper.COUNTS
    # Both ways of reading (2) on two tables: (1, 1) is fixed by P as a column, (1, 2) as a row.
    matrix = ((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4)))
    column = [sum((matrix[x][y] for y in (0, 1)), F(0)) for x in (0, 1)] == [1, 1]
    row = [sum((matrix[x][y] for x in (0, 1)), F(0)) for y in (0, 1)] == [1, 1]
    right = [matrix[0][y] + 2 * matrix[1][y] for y in (0, 1)] == [1, 2]
    equivalent = not (column and not row and right)
    errata = {}
    if unbiased and kept == 0:
        errata["the matrix (3) has P T = T"] = "with p_ij = P(Z = c_j | X = c_i) it is T' P = T'"
        errata["E[S | T] = T / n"] = "E[S | T] = T, and E[S / n | T] = T / n"
        errata["equivalent to P T = T"] = "E[S | T] = P' T, so it is equivalent to P' T = T"
    return Evidence(
        {
            "the matrix (3) leaves frequencies unbiased": unbiased,
            "the matrix (3) has P T = T": printed == 0,
            "E[S | T] = T / n": tuple(expected) == tuple(F(t, sum(paper.COUNTS)) for t in paper.COUNTS),
            "equivalent to P T = T": equivalent,
        },
        "E[S_j | T] = sum_i T_i p_ij, exactly, for the example's matrix with theta* rounded up by less than 2^-24",
        {"largest |T' P - T'|": kept, "largest |P T - T|": near(printed)},
        errata,
        "P = (1/2, 1/2; 1/4, 3/4). T = (1, 1): P T = T, but E[S | T] = (3/4, 5/4). T = (1, 2): E[S | T] = T,\nbut P T ="
        " (3/2, 7/4)",
    )


SMALL_BLOCKS = (((1, 2), F(2, 3)), ((2, 3), F(3, 2)), ((1, 1, 3), F(1, 2)), ((2, 2, 3), F(5, 4)))
"""Frequencies of blocks that can be enumerated, with a theta each."""


@cache
def enumerated(counts: tuple[int, ...], theta: Fraction) -> tuple[Fraction, ...]:
    """R_1(1), R_1(2), ... by adding up all releases: which of the records get c_1, B being the first."""
    blocks = FrequencyBlocks(counts, (tuple(range(len(counts))),), (theta,))
    chances = [blocks.mechanism().entry(x, 0) for x, count in enumerate(counts) for _ in range(count)]
    matched, reached = [F(0)] * len(chances), [F(0)] * len(chances)
    for release in product((0, 1), repeat=len(chances)):
        a = sum(release)
        if a:
            weight = F(math.prod(one if bit else 1 - one for one, bit in zip(chances, release, strict=True)))
            reached[a - 1] += weight
            matched[a - 1] += weight * release[0] / a
    return tuple(m / r for m, r in zip(matched, reached, strict=True))


def _alpha(full: bool) -> Evidence:
    along_row, along_column = True, True
    for counts, theta in SMALL_BLOCKS:
        mechanism = FrequencyBlocks(counts, (tuple(range(len(counts))),), (theta,)).mechanism()
        size = range(len(counts))
        row, column = [mechanism.entry(0, x) for x in size], [mechanism.entry(x, 0) for x in size]
        true = list(enumerated(counts, theta))
        along_row = along_row and match_risks(row, counts, 0, sum(counts)) == true
        along_column = along_column and match_risks(column, counts, 0, sum(counts)) == true
    return Evidence(
        {"(10) with alpha_i = p_1i is R_1(a, t)": along_row},
        "counterexample; with alpha_i = p_i1, (10) is what adding up all releases gives, for every a, exactly, for"
        f" {len(SMALL_BLOCKS)} blocks with up to 7 records",
        errata={"(10) with alpha_i = p_1i is R_1(a, t)": "alpha_i = p_i1 = P(Z = c_1 | X = c_i)"}
        if along_column
        else {},
        witness=(
            "T = (1, 2), theta = 2/3: p_11 = 1/3, p_12 = 2/3, p_21 = 1/3. One record is released as c_1. It is B's with"
            "\nprobability (1/3)(2/3)^2 / ((1/3)(2/3)^2 + (2/3) 2 (1/3)(2/3)) = 1/3 = R_1(1). With p_12 in the place of"
            "\np_21: (1/3)(1/3)^2 / ((1/3)(1/3)^2 + (2/3) 2 (2/3)(1/3)) = 1/9"
        ),
    )


# -- Theorem 3.1 and its proof ---------------------------------------------------------------------------------


def _odds() -> Iterator[tuple[list[Fraction], list[int]]]:
    """beta_1 >= the other odds, and T*: 0, 1 or 2 more records like B, 1 to 3 of each of the others."""
    numbers = (F(1, 7), F(1, 2), F(1), F(4))
    for others in (1, 2):
        for rest in combinations_with_replacement(numbers, others):
            for first in numbers:
                if first >= max(rest):
                    for times in product((0, 1, 2), *[(1, 2, 3)] * others):
                        yield [first, *rest], list(times)


def _theorem(full: bool) -> Evidence:
    good, tried = True, 0
    for odds, times in _odds():
        column = [b / (1 + b) for b in odds]
        counts = [times[0] + 1, *times[1:]]
        risks = match_risks(column, counts, 0, sum(counts))
        good, tried = good and max(risks) == risks[0], tried + 1
    first, largest, _ = paper.unneeded_order()
    needed = first < largest
    return Evidence(
        {"R_1(1, t) >= R_1(a, t) if beta_1 is largest": good, "needs its condition": needed},
        "for all t: with the elementary symmetric polynomials e_j of the odds, a e_a counts each set once for each of"
        " its members, so a e_a >= (e_1 - (a-1) beta_1) e_(a-1), and 1 / R_1(a) = a + a e_a / (beta_1 e_(a-1)) >= 1 +"
        f" e_1 / beta_1 = 1 / R_1(1). Computed exactly for {tried} tables with up to 9 records, all a",
        witness="without the condition: T = (1, 2), theta = 9/10, p_11 = 1/10, p_21 = 9/20: R_1(1) = 11/173 (about"
        " 0.064), R_1(3) = 1/3"
        if needed and first == F(11, 173)
        else "",
    )


def _eq12(full: bool) -> Evidence:
    printed, meant, proof, tried = True, True, True, 0
    for odds, times in _odds():
        column = [b / (1 + b) for b in odds]
        counts = [times[0] + 1, *times[1:]]
        risks = match_risks(column, counts, 0, sum(counts))
        for a in range(1, sum(times)):
            left, mended = paper.inequality_12(odds, times, a)
            printed, meant, tried = printed and left >= 0, meant and mended >= 0, tried + 1
            proof = proof and (mended >= 0) == (risks[a] <= risks[0])
    left, mended = paper.inequality_12([F(1), F(1, 2)], [2, 2], 2)
    name = "(12) if beta_1 is largest"
    return Evidence(
        {name: printed},
        f"counterexample; a beta_1 in the place of beta_1 gives what R_1(a+1) <= R_1(1) says, and holds: {tried} cases"
        " exactly, and for all by the argument at bound.thm3.1",
        errata={name: "Sigma~_(a+1) - Sigma Sigma~_a + a beta_1 Sigma~_a >= 0 (the proof uses it so)"}
        if meant and proof and not printed
        else {},
        witness=(
            "beta = (1, 1, 1/2, 1/2), a = 2: Sigma = 3, Sigma_2 = 1 + 4/2 + 1/4 = 13/4, Sigma_3 = 2/2 + 2/4 = 3/2,"
            f"\n6 Sigma_3 - 3 (2 Sigma_2) + 2 Sigma_2 = {left}; with a beta_1 it is {mended}"
        ),
    )


BLOCKS = (("T", ("1", "2", "3")), ("x", ("1/5", "2/3", "9/10")), ("U", (3, 7, 205)), ("V", (4, 50)))
"""T_1, theta / T_1, T_2 and T_3 of blocks of three."""


def _eq11(full: bool) -> Evidence:
    def true(T: Fraction, x: Fraction, U: Fraction, V: Fraction) -> Fraction:
        return paper.risk_at_one((int(T), int(U), int(V)), x * T)[0]

    def bound(T: Fraction, x: Fraction) -> Fraction:
        return psi(int(T), x * T)

    risk = agreed("(T-T*x)/(T*(T-T*x)+(T*x)**2*(U/(2*U-T*x)+V/(2*V-T*x)))", BLOCKS, true)
    most = agreed("(T-T*x)/(T*(T-T*x)+(T*x)**2)", BLOCKS[:2], bound)
    below, near = True, True
    for sizes in product((3, 7, 205), repeat=3):
        for count in (1, 2, 3):
            for share in (F(1, 5), F(2, 3), F(9, 10)):
                at_one, limit = paper.risk_at_one((count, *sizes), count * share)
                below = below and at_one <= limit
                far = paper.risk_at_one((count, *[10**6] * 3), count * share)[0]
                near = near and limit - far < F(1, 10**5)
    return Evidence(
        {"R_1(1, T) of three categories": risk, "psi": most, "R_1(1, T) <= psi": below},
        "(10) exactly; the sum over i of T_i / ((k_1-1) T_i - theta) is above (k_1-1) / (k_1-1) = 1, and tends to it"
        " as the T_i grow, so psi is the least such bound. Computed for blocks of three and four",
        {"psi is attained in the limit": near},
    )


# -- Table 1 ---------------------------------------------------------------------------------------------------


def _k1(full: bool) -> Evidence:
    needed = [
        (count, level) for count, level in product(range(1, len(paper.TABLE_1) + 1), paper.LEVELS) if count * level < 1
    ]
    down, up = True, True
    for count, level in needed:
        theta = closed_theta(count, level)
        least = [theta.lower / (count - theta.lower), theta.upper / (count - theta.upper)]
        down = down and paper_block_size(count, level, rounded_up=False) - 1 >= least[1]
        up = up and paper_block_size(count, level) - 1 >= least[0]
    name = "the largest integer in K suffices for Theorem 3.1"
    return Evidence(
        {name: down},
        f"K = T_1 / (T_1 - theta*) enclosed for the {len(needed)} cells of Table 1 with T_1 < 1 / xi: the condition"
        " k_1 - 1 >= theta* / (T_1 - theta*) that the text derives (for T_j = T_1)",
        {"smallest integer not below K": "suffices in all of them, and is what Table 1 prints (bound.table1)"}
        if up
        else {},
        {name: "K_1 is the smallest integer not below K"} if up else {},
        "T_1 = 1, xi = 0.1: theta* = (sqrt(117) - 9) / 2 = 0.9083, K = 10.91. k_1 = 10 has 9 < theta* / (1 - theta*) ="
        " 9.91",
    )


def _rows(sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    width = len(paper.LEVELS)
    return {f"T_1 = {t + 1}": tuple(sizes[t * width : (t + 1) * width]) for t in range(len(sizes) // width)}


@cache
def cells() -> tuple[paper.Cell, ...]:
    """The 70 cells of Table 1, derived."""
    return paper.table_1()


def _table(full: bool) -> Evidence:
    free = [cell for cell in cells() if cell.rounded_up is None]
    return Evidence(
        _rows([cell.rounded_up or 2 for cell in cells()]),
        "K = T_1 / (T_1 - theta*), psi(T_1, theta*) = xi, rounded up exactly (sign of a quadratic); 2, the least block"
        " that (3) has, where T_1 >= 1 / xi and no block is needed",
        {"cells that need no block": len(free)},
    )


def _minimum(full: bool) -> Evidence:
    need = [cell for cell in cells() if cell.rounded_up is not None]
    return Evidence(
        _rows([cell.least for cell in cells()]),
        "least block with R_1(a) <= xi for all a and all partners with T_j >= T_1, theta free in (0, T_1): fewer than"
        " 1 / xi records are never enough (all of them may be released as c_1, then B is found with probability 1 / n),"
        " that many are, with theta near T_1. So it is max(2, ceil(1 / (T_1 xi))), and 1 (no block) where T_1 >= 1 /"
        " xi",
        {
            "cells above the minimum, of those that need a block": (
                sum(cell.least < cell.published for cell in need),
                len(need),
            ),
            "with the paper's theta*, least sizes": _rows([cell.least_at_theta for cell in cells()]),
        },
        witness="import numpy as np\n"
        "theta = 5.9  # T = (6, 6): two categories where Table 1 asks for three, xi = 0.1\n"
        "p, q = 1 - theta / 6, theta / 6  # kept as c_1, moved to c_1\n"
        "w = np.array([1.0])\n"
        "for chance in [p] * 5 + [q] * 6:\n"
        "    w = np.convolve(w, [1 - chance, chance])\n"
        "w = np.append(w, 0)\n"
        "risk = [p * w[a - 1] / (a * (p * w[a - 1] + (1 - p) * w[a])) for a in range(1, 13)]\n"
        "print('largest R_1(a):', max(risk), '< 0.1')",
    )


TABLE_1 = _rows([size for row in paper.TABLE_1 for size in row])
CLAIMS = (
    Claim(
        "bound.invariance",
        "section 1, (2)",
        "E[S | T] = T / n, or equivalently P T = T, makes S / n unbiased; the matrix (3) has it",
        {
            "the matrix (3) leaves frequencies unbiased": True,
            "the matrix (3) has P T = T": True,
            "E[S | T] = T / n": True,
            "equivalent to P T = T": True,
        },
        _invariance,
    ),
    Claim(
        "bound.alpha",
        "section 3, (8) to (10)",
        "alpha_i = p_1i",
        {"(10) with alpha_i = p_1i is R_1(a, t)": True},
        _alpha,
    ),
    Claim(
        "bound.thm3.1",
        "Theorem 3.1",
        "if beta_1 is the largest, R_1(1, t) >= R_1(a, t) for all t and a > 1; not in general",
        {"R_1(1, t) >= R_1(a, t) if beta_1 is largest": True, "needs its condition": True},
        _theorem,
    ),
    Claim(
        "bound.eq11",
        "section 3, (11)",
        "R_1(1, T) <= psi(T_1, theta) = (T_1 - theta) / (T_1 (T_1 - theta) + theta^2)",
        {
            "R_1(1, T) of three categories": Formula("1/(T+T*x/(T-T*x)*(T*x*U/(2*U-T*x)+T*x*V/(2*V-T*x)))", BLOCKS),
            "psi": Formula("(T-T*x)/(T*(T-T*x)+(T*x)**2)", BLOCKS[:2]),
            "R_1(1, T) <= psi": True,
        },
        _eq11,
    ),
    Claim(
        "bound.eq12",
        "appendix, (12)",
        "Sigma~_(a+1) - Sigma Sigma~_a + beta_1 Sigma~_a >= 0 for all a, if beta_1 is the largest",
        {"(12) if beta_1 is largest": True},
        _eq12,
    ),
    Claim(
        "bound.k1",
        "after Lemma 3.2",
        "K_1, the largest integer contained in K = T_1 / (T_1 - theta), is enough for Theorem 3.1",
        {"the largest integer in K suffices for Theorem 3.1": True},
        _k1,
    ),
    Claim(
        "bound.table1",
        "Table 1",
        "the 70 block sizes K_1(xi, T_1); columns xi = 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3",
        TABLE_1,
        _table,
    ),
    Claim("bound.table1.minimum", "Table 1", "they are the minimum block sizes required", TABLE_1, _minimum),
)
