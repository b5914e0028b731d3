"""The weights of listed permutations as functions of the matrix that they make up, and their elimination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from rropt.errors import TooLarge

LARGEST = 2_000
"""Inequalities that an elimination may grow to."""

Cell = tuple[int, int]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Inequality:
    """constant + sum of value * Q[x, y] over `terms` + sum of share * weight over `free` >= 0.

    `terms` are (x, y, value) sorted by (x, y); `free` are (number, share) of the weights that Q does not determine.
    """

    constant: Fraction
    terms: tuple[tuple[int, int, Fraction], ...]
    free: tuple[tuple[int, Fraction], ...] = ()

    def value(self, table: Mapping[Cell, Fraction]) -> Fraction:
        """The left side at a matrix, the undetermined weights left out."""
        return self.constant + sum((value * table[x, y] for x, y, value in self.terms), Fraction(0))

    def at(self, table: Mapping[Cell, Fraction]) -> Inequality:
        """The inequality that is left at a matrix."""
        return Inequality(self.value(table), (), self.free)


@dataclass(frozen=True)
class Mixing:
    """Q = sum_j w_j P_j solved for the weights.

    Weight j is constant + terms . Q + free (`solved`[j]); the weights `undetermined` are their own. `equations` (left
    side zero) say that Q is some combination, `inequalities` that the weights keep their bounds.
    """

    permutations: tuple[tuple[int, ...], ...]
    solved: tuple[Inequality, ...]
    undetermined: tuple[int, ...]
    equations: tuple[Inequality, ...]
    inequalities: tuple[Inequality, ...]

    @classmethod
    def of(cls, permutations: Sequence[tuple[int, ...]], bounds: Sequence[tuple[Fraction, Fraction]]) -> Mixing:
        """The weights of `permutations` (positions) with `bounds` (low, high), by exact row reduction."""
        size, count = len(permutations[0]), len(permutations)
        pivots: dict[int, tuple[dict[int, Fraction], dict[Cell, Fraction]]] = {}
        equations = []
        for x in range(size):
            for y in range(size):
                left = {j: Fraction(1) for j, places in enumerate(permutations) if places[x] == y}
                right: dict[Cell, Fraction] = {(x, y): Fraction(1)}
                for j, (own, cells) in pivots.items():
                    if factor := left.get(j):
                        _subtract(left, own, factor)
                        _subtract(right, cells, factor)
                if not left:
                    equations.append(Inequality(Fraction(0), _terms(right)))
                    continue
                j = min(left)
                scale = left[j]
                left = {i: value / scale for i, value in left.items()}
                right = {cell: value / scale for cell, value in right.items()}
                for own, cells in pivots.values():
                    if factor := own.get(j):
                        _subtract(own, left, factor)
                        _subtract(cells, right, factor)
                pivots[j] = (left, right)
        undetermined = tuple(j for j in range(count) if j not in pivots)
        solved = tuple(
            Inequality(
                Fraction(0), _terms(pivots[j][1]), tuple(sorted((i, -v) for i, v in pivots[j][0].items() if i != j))
            )
            if j in pivots
            else Inequality(Fraction(0), (), ((j, Fraction(1)),))
            for j in range(count)
        )
        inequalities = []
        for weight, (low, high) in zip(solved, bounds, strict=True):
            inequalities.append(Inequality(weight.constant - low, weight.terms, weight.free))
            if high < 1:
                inequalities.append(
                    Inequality(
                        high - weight.constant,
                        tuple((x, y, -value) for x, y, value in weight.terms),
                        tuple((i, -value) for i, value in weight.free),
                    )
                )
        return cls(tuple(permutations), solved, undetermined, tuple(equations), tuple(inequalities))

    def weights(self, table: Mapping[Cell, Fraction]) -> tuple[Fraction, ...]:
        """Weights within their bounds that make up a matrix which satisfies everything: each undetermined one is taken
        at the lowest place that the others leave it."""
        known: dict[int, Fraction] = {}
        system = [inequality.at(table) for inequality in self.inequalities]
        for j in self.undetermined:
            rest = eliminate(system, keep=j)
            least = max(-one.constant / share for one in rest for i, share in one.free if i == j and share > 0)
            known[j] = least
            system = [_fixed(inequality, j, least) for inequality in system]
        return tuple(
            weight.value(table) + sum((share * known[i] for i, share in weight.free), Fraction(0))
            for weight in self.solved
        )


def eliminate(system: Sequence[Inequality], keep: int | None = None) -> list[Inequality]:
    """The projection of `system` without its undetermined weights (but `keep`): Fourier-Motzkin, each direction once.

    Raises InputError where the system grows beyond 2,000 inequalities.
    """
    current = list(system)
    left = {i for one in current for i, _ in one.free} - {keep}
    while left:
        # The weight whose elimination makes fewest new inequalities.
        signs = {i: [sum(1 for one in current if dict(one.free).get(i, 0) * s > 0) for s in (1, -1)] for i in left}
        chosen = min(left, key=lambda i: (signs[i][0] * signs[i][1] - sum(signs[i]), i))
        left.discard(chosen)
        found: dict[object, Inequality] = {}
        above: list[tuple[Inequality, Fraction]] = []
        below: list[tuple[Inequality, Fraction]] = []
        for one in current:
            share = dict(one.free).get(chosen)
            if share is None:
                _keep(found, one)
            else:
                (above if share > 0 else below).append((one, share))
        for one, share in above:
            for other, negative in below:
                _keep(found, _combine(one, -negative, other, share))
            if len(found) > LARGEST:
                raise TooLarge(
                    "too many of the listed permutations are linearly dependent",
                    "PermutationMixture",
                    "list fewer, at most (n - 1)^2 + 1 independent ones",
                )
        current = list(found.values())
    return current


def _keep(found: dict[object, Inequality], one: Inequality) -> None:
    """Add an inequality, scaled, unless a tighter one of the same direction is there."""
    values = [value for *_, value in one.terms] + [value for _, value in one.free]
    first = abs(values[0]) if values else Fraction(1)
    scaled = Inequality(
        one.constant / first,
        tuple((x, y, value / first) for x, y, value in one.terms),
        tuple((i, value / first) for i, value in one.free),
    )
    before = found.get((scaled.terms, scaled.free))
    if before is None or scaled.constant < before.constant:
        found[scaled.terms, scaled.free] = scaled


def _combine(one: Inequality, times: Fraction, other: Inequality, other_times: Fraction) -> Inequality:
    terms: dict[Cell, Fraction] = {(x, y): times * value for x, y, value in one.terms}
    _subtract(terms, {(x, y): value for x, y, value in other.terms}, -other_times)
    free = {i: times * value for i, value in one.free}
    _subtract(free, dict(other.free), -other_times)
    constant = times * one.constant + other_times * other.constant
    return Inequality(constant, _terms(terms), tuple(sorted(free.items())))


def _fixed(one: Inequality, number: int, value: Fraction) -> Inequality:
    shares = dict(one.free)
    share = shares.pop(number, Fraction(0))
    return Inequality(one.constant + share * value, one.terms, tuple(sorted(shares.items())))


def _subtract(target: dict[Key, Fraction], other: Mapping[Key, Fraction], factor: Fraction) -> None:
    """target -= factor * other, zeros dropped."""
    for key, value in list(other.items()):
        total = target.get(key, Fraction(0)) - factor * value
        if total:
            target[key] = total
        else:
            target.pop(key, None)


def _terms(cells: Mapping[Cell, Fraction]) -> tuple[tuple[int, int, Fraction], ...]:
    return tuple((x, y, value) for (x, y), value in sorted(cells.items()))
