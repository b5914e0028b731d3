"""The fewest permutations that a small bistochastic matrix is a mixture of, and how few there must be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import fmpq_mat, fmpz_mat
from scipy import sparse

from rropt.comparison.permutations.matching import Matching, column_sets
from rropt.comparison.permutations.structured import least_terms
from rropt.errors import InputError, TooLarge
from rropt.io.tables import Readable
from rropt.solve.engine.highs_run import solve_milp

MOST_PERMUTATIONS = 1000
"""More permutations than this within the positive entries are too many for the integer programme."""
PAIRED = 10
"""Lines with more positive entries than this are not compared by their subset sums."""
AGREEING = 300
"""Two lines with more pairs of equal subset sums than this are left out as well: they split into many parts."""


def lower_bound(entries: np.ndarray) -> int:
    """A number of terms that no decomposition of the n x n integers goes below; exact. The largest of

    - the most positive entries in a line (row or column): each term has one cell of the line;
    - log2(d + 1) for d different positive entries: each is the sum of a non-empty set of the weights;
    - a + b - c for two lines with a and b positive entries that split into at most c parts of equal sums. Each
      line sorts the terms by their cell in it; take the cells of both as nodes and each term as an edge between
      its two cells. Within a connected part the two lines have equal sums, so there are at most c parts, and a
      graph of a + b nodes in c parts has a + b - c edges at least. Lines without equal subset sums make that
      a + b - 1, which is 2 n - 1 for positive entries.

    The third is left out for lines that `PAIRED` or `AGREEING` excludes.
    """
    positive = [tuple(sorted(int(entry) for entry in line if entry)) for line in [*entries, *entries.T]]
    best = least_terms(entries)
    best = max(best, (len({entry for line in positive for entry in line})).bit_length())
    paired = sorted({line for line in positive if len(line) <= PAIRED})
    for one, other in combinations(paired, 2):
        if best < len(one) + len(other) - 1:
            best = max(best, len(one) + len(other) - _common_parts(one, other))
    return best


def _common_parts(one: Sequence[int], other: Sequence[int]) -> int:
    """The most parts of equal sums that two lines with one total can be split into together, or no fewer than that.

    A split puts its parts in some order; the cells up to each part's end are then a chain of pairs (cells of one
    line, cells of the other) of equal sums, each pair within the next.
    """
    by_sum: dict[int, list[int]] = {}
    for cells, total in enumerate(_subset_sums(other)):
        by_sum.setdefault(total, []).append(cells)
    pairs = [
        (cells, others) for cells, total in enumerate(_subset_sums(one)) for others in by_sum.get(total, ()) if cells
    ]
    if len(pairs) > AGREEING:
        return min(len(one), len(other))
    longest: dict[tuple[int, int], int] = {}
    for cells, others in pairs:  # a subset's number is smaller than that of any set around it
        below = [chain for (a, b), chain in longest.items() if a | cells == cells and b | others == others]
        longest[cells, others] = 1 + max(below, default=0)
    return longest[pairs[-1]]


def _subset_sums(line: Sequence[int]) -> list[int]:
    """The sums of all subsets of a line's cells; bit i of the place says whether cell i is in."""
    sums = [0]
    for entry in line:
        sums += [total + entry for total in sums]
    return sums


def permutations_within(support: np.ndarray, limit: int) -> list[tuple[int, ...]] | None:
    """All permutations of n within the boolean n x n `support`, in lexicographic order; None for more than `limit`."""
    size = len(support)
    allowed = column_sets(support)
    found: list[tuple[int, ...]] = []
    stack: list[tuple[tuple[int, ...], int]] = [((), (1 << size) - 1)]
    while stack:
        chosen, left = stack.pop()
        if len(chosen) == size:
            found.append(chosen)
            if len(found) > limit:
                return None
            continue
        for y in reversed(range(size)):
            if not allowed[len(chosen)] & left & (1 << y):
                continue
            # Only branches that can be completed are walked: as many leaves as permutations.
            after = left ^ (1 << y)
            taken = [1 << column for column in (*chosen, y)]
            if Matching(size).extend(taken + [edges & after for edges in allowed[len(chosen) + 1 :]]):
                stack.append(((*chosen, y), after))
    return found


@dataclass(frozen=True)
class Fewest(Readable):
    """Exact weights (summing to one) of the permutations found, and the bound on their number that HiGHS claims,
    which is not proved; None where it was not asked."""

    weights: tuple[Fraction, ...]
    permutations: tuple[tuple[int, ...], ...]
    claimed: float | None


def fewer_terms(entries: np.ndarray, denominator: int, known: int, time_limit: float | None) -> Fewest | None:
    """A decomposition with fewer terms than the `known` one, by an integer programme over all permutations within the
    positive entries; without terms where HiGHS found none whose weights are exactly right.

    None where there are more than `MOST_PERMUTATIONS` of them.
    """
    size = len(entries)
    candidates = permutations_within(entries != 0, MOST_PERMUTATIONS)
    if candidates is None:
        return None
    count = len(candidates)
    cells = {cell: number for number, cell in enumerate(zip(*(at.tolist() for at in np.nonzero(entries)), strict=True))}
    shares = np.array([int(entries[cell]) / denominator for cell in cells])
    rows = np.array([[cells[x, y] for x, y in enumerate(candidate)] for candidate in candidates])
    incidence = sparse.csc_matrix(
        (np.ones(rows.size), rows.ravel(), np.arange(0, rows.size + 1, size)), shape=(len(cells), count)
    )
    caps = sparse.diags(shares[rows].min(axis=1))
    # Weights, then choices: weights add up to the entries, a weight needs its choice, every cell needs a choice.
    matrix = sparse.bmat(
        [
            [incidence, None],
            [sparse.identity(count), -caps],
            [None, incidence],
            [None, np.ones((1, count))],
        ]
    )
    answer = solve_milp(
        np.concatenate([np.zeros(count), np.ones(count)]),
        matrix,
        np.concatenate([shares, np.full(count, -np.inf), np.ones(len(cells)), [lower_bound(entries)]]),
        np.concatenate([shares, np.zeros(count), np.full(len(cells), np.inf), [known - 1]]),
        np.zeros(2 * count),
        np.ones(2 * count),
        np.repeat([False, True], count),
        time_limit,
    )
    # Without a shorter decomposition the programme is infeasible: then HiGHS claims the known number.
    claimed = float(known) if answer.status == "infeasible" else min(max(answer.bound, 0.0), float(known))
    nothing = Fewest((), (), claimed)
    if answer.x is None:
        return nothing
    chosen = [candidates[number] for number in np.flatnonzero(answer.x[count:] > 0.5)]
    weights = exact_weights(entries, denominator, chosen)
    if weights is None:
        return nothing
    pairs = [(weight, permutation) for weight, permutation in zip(weights, chosen, strict=True) if weight]
    if len(pairs) >= known:
        return nothing
    return Fewest(tuple(weight for weight, _ in pairs), tuple(permutation for _, permutation in pairs), claimed)


def exact_weights(
    entries: np.ndarray, denominator: int, permutations: Sequence[Sequence[int]]
) -> list[Fraction] | None:
    """Non-negative rational weights with which these permutations sum to entries / denominator; None where the
    solution of the linear system (with zero for what it leaves free) is none."""
    size, count = len(entries), len(permutations)
    table = [[0] * count + [int(entry)] for entry in entries.ravel().tolist()]
    for number, permutation in enumerate(permutations):
        for x, y in enumerate(permutation):
            table[x * size + y][number] = 1
    reduced, rank = fmpq_mat(fmpz_mat(table)).rref()
    weights = [Fraction(0)] * count
    for row in range(rank):
        pivot = next(column for column in range(count + 1) if reduced[row, column])
        if pivot == count:
            return None  # the system contradicts itself
        value = reduced[row, count]
        weights[pivot] = Fraction(int(value.p), int(value.q)) / denominator
    return weights if min(weights) >= 0 else None


def too_many(size: int) -> InputError:
    """The refusal of `method="fewest"` for a matrix that has too many permutations."""
    return TooLarge(
        f"more than {MOST_PERMUTATIONS} permutations lie within the positive entries of this {size} x {size} matrix",
        "birkhoff",
        'method="fewest" is for up to 6 inputs, or few positive entries; use method="bottleneck"',
    )


def common_weights(weights: Sequence[Fraction]) -> tuple[tuple[int, ...], int]:
    """(integers, denominator) of rational weights."""
    denominator = math.lcm(*(weight.denominator for weight in weights))
    return tuple(weight.numerator * (denominator // weight.denominator) for weight in weights), denominator
