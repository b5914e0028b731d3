"""Whether an exact matrix is a mixture of permutations with bounded weights, or of few of them, in rationals."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from flint import fmpq, fmpq_mat

from rropt.errors import TooLarge
from rropt.program.permutation_mixtures import Mixture, Places, best_outside

LARGEST = 12
"""More categories than this take minutes."""
TRIED = 200_000
"""Choices of permutations that are tried at most."""
WHERE = "PermutationMixture"

Table = Sequence[Sequence[Fraction]]
Weights = dict[Places, Fraction]


def bounded_weights(mixture: Mixture, table: Table) -> tuple[Fraction, Weights]:
    """(what is missing, the weights): nothing and weights within `bounds` (those that are zero left out) that make up
    the n x n `table` of a bistochastic matrix exactly; or how much of it, summed over its entries, any weights miss at
    least, and none. `max_terms` is left aside.

    A primal simplex method in rationals: least sum of artificial variables, one per cell; the best permutation under
    the prices enters; ties are broken lexicographically, so that it ends. Raises InputError above 12 categories.
    """
    size = mixture.size
    if size > LARGEST:
        raise TooLarge(f"{size} categories are too many to decide this exactly", WHERE, f"at most {LARGEST}")
    low = {name: least for name, least, _ in mixture.bounds}
    right = [entry for row in table for entry in row]
    for name, least in low.items():
        for x, y in enumerate(name):
            right[x * size + y] -= least
    if min(right) < 0:
        return -sum((entry for entry in right if entry < 0), Fraction(0)), {}
    # Bounded permutations have a row of their own each: weight above the lower bound plus slack is what is allowed.
    caps = {name: size * size + j for j, (name, *_) in enumerate(mixture.bounds)}
    right += [high - least for _, least, high in mixture.bounds]
    simplex = _Simplex(right, size * size)
    while missing := simplex.missing():
        entering = _entering(mixture, caps, simplex.prices())
        if entering is None:
            return missing, {}
        simplex.pivot(*entering)
    found = simplex.weights()
    weights = {name: found.get(name, Fraction(0)) + low.get(name, Fraction(0)) for name in {**low, **found}}
    return Fraction(0), {name: weight for name, weight in sorted(weights.items()) if weight}


def _entering(mixture: Mixture, caps: dict[Places, int], prices: list[fmpq]) -> tuple[Places | None, list[int]] | None:
    """The entering column (a permutation, None for a slack; its rows) of the largest positive price, or None."""
    size = mixture.size
    slack = max(caps.values(), key=prices.__getitem__, default=None)
    if slack is not None and prices[slack] > 0:
        return None, [slack]
    scale = math.lcm(*(int(price.q) for price in prices))
    whole = [int(price.p) * (scale // int(price.q)) for price in prices]
    scores = [whole[x * size : (x + 1) * size] for x in range(size)]
    worth = {name: sum(scores[x][y] for x, y in enumerate(name)) + whole[row] for name, row in caps.items()}
    if mixture.listed is None:
        best = best_outside(scores, caps.keys())
        if best is not None:
            worth[best[1]] = best[0]
    else:
        for name in mixture.listed:
            worth.setdefault(name, sum(scores[x][y] for x, y in enumerate(name)))
    chosen = max(worth, key=lambda name: (worth[name], name))
    if worth[chosen] <= 0:
        return None
    return chosen, [x * size + y for x, y in enumerate(chosen)] + ([caps[chosen]] if chosen in caps else [])


class _Simplex:
    """Row i: the value of the i-th basic variable, then row i of the inverse of the basis. The first `cells` rows begin
    with artificial variables, whose sum must vanish; the others with slacks, which cost nothing."""

    def __init__(self, right: Sequence[Fraction], cells: int) -> None:
        count = len(right)
        self._table = [
            [fmpq(value.numerator, value.denominator), *(fmpq(int(at == number)) for at in range(count))]
            for number, value in enumerate(right)
        ]
        self._basis: list[Places | None] = [None] * count
        self._artificial = [number < cells for number in range(count)]

    def prices(self) -> list[fmpq]:
        """One a row: what one more unit of its right side adds to what is missing."""
        rows = [row for row, artificial in zip(self._table, self._artificial, strict=True) if artificial]
        return [sum((row[1 + at] for row in rows), fmpq(0)) for at in range(len(self._table))]

    def missing(self) -> Fraction:
        """The sum of the artificial variables."""
        total = sum((row[0] for row, own in zip(self._table, self._artificial, strict=True) if own), fmpq(0))
        return Fraction(int(total.p), int(total.q))

    def pivot(self, entering: Places | None, rows: Sequence[int]) -> None:
        """Let the column of a permutation (None: of a slack) enter, which has ones in `rows`."""
        steps = [sum((row[1 + at] for at in rows), fmpq(0)) for row in self._table]
        leaving = min(
            (i for i, step in enumerate(steps) if step > 0),
            key=lambda i: [value / steps[i] for value in self._table[i]],
        )
        pivot = self._table[leaving]
        scaled = [value / steps[leaving] for value in pivot]
        for i, step in enumerate(steps):
            if i != leaving and step:
                self._table[i] = [
                    value - step * own if own else value for value, own in zip(self._table[i], scaled, strict=True)
                ]
        self._table[leaving] = scaled
        self._basis[leaving] = entering
        self._artificial[leaving] = False

    def weights(self) -> Weights:
        """The basic permutations with their values."""
        return {
            name: Fraction(int(row[0].p), int(row[0].q))
            for name, row in zip(self._basis, self._table, strict=True)
            if name is not None
        }


def few_weights(mixture: Mixture, table: Table) -> Weights | None:
    """Weights of at most `max_terms` permutations, within `bounds`, that make up the n x n `table` exactly; None where
    there are none. Every choice that covers the positive entries is tried. Raises InputError above 200,000 choices."""
    size, most = mixture.size, mixture.max_terms
    assert most is not None
    support = [(x, y) for x, y in product(range(size), repeat=2) if table[x][y]]
    inside = [one for one in _within(table) if mixture.listed is None or one in set(mixture.listed)]
    tried = 0
    stack: list[tuple[Places, ...]] = [tuple(name for name, low, _ in mixture.bounds if low)]
    seen = set(stack)
    while stack:
        chosen = stack.pop()
        tried += 1
        if tried > TRIED:
            raise TooLarge(
                "there are too many choices of permutations to try", WHERE, "decompose it with rr.ordering.birkhoff"
            )
        open_cell = next(((x, y) for x, y in support if all(one[x] != y for one in chosen)), None)
        if open_cell is None:
            weights = _solve(chosen, table)
            if weights is not None and not mixture.breach(weights):
                return weights
        if len(chosen) == most:
            continue
        for one in inside:
            if one not in chosen and (open_cell is None or one[open_cell[0]] == open_cell[1]):
                further = tuple(sorted((*chosen, one)))
                if further not in seen:
                    seen.add(further)
                    stack.append(further)
    return None


def _within(table: Table) -> Iterator[Places]:
    """All permutations whose entries of the table are positive."""
    stack: list[Places] = [()]
    while stack:
        chosen = stack.pop()
        if len(chosen) == len(table):
            yield chosen
            continue
        stack += [(*chosen, y) for y, entry in enumerate(table[len(chosen)]) if entry and y not in chosen]


def _solve(chosen: Sequence[Places], table: Table) -> Weights | None:
    """The positive weights that make up the table, with zero where the permutations leave them free; None if none."""
    size = len(table)
    system = [
        [fmpq(int(one[x] == y)) for one in chosen] + [fmpq(table[x][y].numerator, table[x][y].denominator)]
        for x, y in product(range(size), repeat=2)
    ]
    reduced, rank = fmpq_mat(system).rref()
    weights: Weights = {}
    for row in range(rank):
        pivot = next(at for at in range(len(chosen) + 1) if reduced[row, at])
        if pivot == len(chosen):
            return None
        value = reduced[row, len(chosen)]
        weights[chosen[pivot]] = Fraction(int(value.p), int(value.q))
    return {name: weight for name, weight in weights.items() if weight} if min(weights.values()) >= 0 else None
