"""Certificates with a `tree` for chi-square information under a complete cone, made by hand from the text alone.

Matrix and prices are those of the linear programme over all 2^k corners, solved exactly; each leaf is tried over every
set of inputs that its path leaves. Fractions only, and nothing of either checker.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

Corner = frozenset[int]
ONE = Fraction(1)
SLACK = Fraction(1, 1 << 64)  # more than section 2 asks for, of what is compared here


def _above(value: Fraction, bits: int) -> Fraction:
    return Fraction(math.ceil(value * (1 << bits)), 1 << bits)


def _below(value: Fraction, bits: int) -> Fraction:
    return -_above(-value, bits)


def exponential(value: Fraction) -> Fraction:
    """exp of a number in (0, 20] from above, within 2^-200: the sum of its powers, and twice the first left out."""
    found, term, n = ONE, ONE, 0
    while n < 2 * value or term > Fraction(1, 1 << 210):
        n += 1
        term = term * value / n
        found += term
    return _above(found + 2 * term, 202)


@dataclass(frozen=True)
class Path:
    """What the branches say of the inputs at gamma: those fixed, those free, limits on their number and weight."""

    inside: Corner
    free: tuple[int, ...]
    least: int
    most: int
    lightest: int
    heaviest: int

    def branched(self, element: Any) -> tuple[Path, Path]:
        if isinstance(element, int):
            rest = tuple(x for x in self.free if x != element)
            return replace(self, inside=self.inside | {element}, free=rest), replace(self, free=rest)
        (s,) = element
        if isinstance(s, int):
            return replace(self, most=min(self.most, s)), replace(self, least=max(self.least, s + 1))
        s = int(s)
        return replace(self, heaviest=min(self.heaviest, s)), replace(self, lightest=max(self.lightest, s + 1))


@dataclass(frozen=True)
class Corners:
    """One problem: maximise chi-square information under a complete cone.

    `gamma` is a ratio, or else `epsilon` its logarithm. With an epsilon the matrix keeps a ratio a little below it, and
    the leaves have slack.
    """

    weights: tuple[int, ...]
    gamma: Fraction | None = None
    epsilon: Fraction | None = None
    listed: bool = False

    @cached_property
    def gh(self) -> Fraction:
        if self.gamma is not None:
            return self.gamma
        assert self.epsilon is not None
        return exponential(self.epsilon)

    @property
    def k(self) -> int:
        return len(self.weights)

    @cached_property
    def p(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(weight, sum(self.weights)) for weight in self.weights)

    @cached_property
    def corners(self) -> tuple[Corner, ...]:
        return tuple(subsets(range(self.k)))

    def vector(self, corner: Corner, ratio: Fraction) -> list[Fraction]:
        return [ratio if x in corner else ONE for x in range(self.k)]

    def mean(self, corner: Corner, ratio: Fraction) -> Fraction:
        """w = p.v."""
        return sum((p * v for p, v in zip(self.p, self.vector(corner, ratio), strict=True)), Fraction(0))

    def mu(self, corner: Corner, ratio: Fraction) -> Fraction:
        """The term of one column, as section 4 defines it."""
        w = self.mean(corner, ratio)
        return sum((p * v * v for p, v in zip(self.p, self.vector(corner, ratio), strict=True)), Fraction(0)) / w - w

    def excess(self, corner: Corner, prices: list[Fraction]) -> Fraction:
        """F(v) = mu(v) - a.v at gh."""
        return self.mu(corner, self.gh) - _dot(prices, self.vector(corner, self.gh))

    def programme(self, ratio: Fraction) -> tuple[dict[Corner, Fraction], list[Fraction]]:
        """The largest sum of theta_v mu(v) with sum of theta_v v = 1, and its prices: simplex, by Bland's rule."""
        order = {corner: i for i, corner in enumerate(self.corners)}
        basis = [frozenset({x}) for x in range(self.k)]
        while True:
            columns = [self.vector(corner, ratio) for corner in basis]
            theta = solved([list(row) for row in zip(*columns, strict=True)], [ONE] * self.k)
            prices = solved(columns, [self.mu(corner, ratio) for corner in basis])
            enters = next(
                (one for one in self.corners if self.mu(one, ratio) > _dot(prices, self.vector(one, ratio))), None
            )
            if enters is None:
                return dict(zip(basis, theta, strict=True)), prices
            rate = solved([list(row) for row in zip(*columns, strict=True)], self.vector(enters, ratio))
            leaves = min((i for i in range(self.k) if rate[i] > 0), key=lambda i: (theta[i] / rate[i], order[basis[i]]))
            basis[leaves] = enters

    def certificate(self, seed: int, spare: Fraction = Fraction(0)) -> Any:
        """A certificate; `spare` is added to the prices along the prior, which gives smaller trees.

        With a gamma and nothing spare the leaves are tight: a checker may round such a one away.
        """
        ratio = self.gh if self.gamma is not None else _below(self.gh, 12)
        theta, prices = self.programme(ratio)
        if self.gamma is None:
            raised = max(self.excess(one, prices) / self.mean(one, self.gh) for one in self.corners)
            prices = [_above(a + (raised + Fraction(1, 1 << 40)) * p, 50) for a, p in zip(prices, self.p, strict=True)]
        prices = [a + spare * p for a, p in zip(prices, self.p, strict=True)]
        columns = [(number, corner) for corner, number in theta.items() if number > 0]
        value = sum((number * self.mu(corner, ratio) for number, corner in columns), Fraction(0))
        slack = SLACK if self.gamma is None or spare > 0 else Fraction(0)
        return self.document(columns, ratio, value, prices, Tree(self, prices).drawn(seed, slack))

    def document(
        self,
        columns: list[tuple[Fraction, Corner]],
        ratio: Fraction,
        value: Fraction,
        prices: list[Fraction],
        tree: list[Any],
    ) -> Any:
        whole = math.lcm(*(end.denominator for number, _ in columns for end in (number, number * ratio)))
        outputs = [f"output {i + 1}" for i in range(len(columns))]
        cone = {"gamma": str(self.gamma)} if self.gamma is not None else {"epsilon": str(self.epsilon)}
        return {
            "format": "rropt-certificate",
            "problem": {
                "sense": "maximize",
                "inputs": [chr(97 + x) for x in range(self.k)],
                "outputs": outputs if self.listed else None,
                "weights": [str(weight) for weight in self.weights],
                "utility": {"kind": "chi_square"},
                "cone": {"kind": "complete", **cone},
                "rows": [],
            },
            "mechanism": {
                "denominators": [str(whole)],
                "outputs": outputs,
                "columns": [
                    {
                        "low": str(number * whole),
                        "high": str(number * ratio * whole),
                        "members": f"{sum(1 << x for x in corner):0{(self.k + 3) // 4}x}",
                    }
                    for number, corner in columns
                ],
            },
            "value": {"lower": str(value), "upper": str(value)},
            "bound": str(sum(prices, Fraction(0))),
            "proof": {"kind": "column-dual", "prices": [str(price) for price in prices], "tree": tree},
            "assumptions": ["chi-square-column-convex"],
        }


class Tree:
    """The trees for one problem and its prices: drawn at random, and tried."""

    def __init__(self, problem: Corners, prices: list[Fraction]) -> None:
        self.problem, self.prices = problem, prices
        self.rng, self.slack = random.Random(0), Fraction(0)
        more = problem.gh - 1
        self.q = [more * p for p in problem.p]
        self.c = [more * (more * p - a) for p, a in zip(problem.p, prices, strict=True)]
        k = problem.k
        self.root = Path(frozenset(), tuple(range(k)), 0, k, 0, sum(problem.weights))

    def drawn(self, seed: int, slack: Fraction) -> list[Any]:
        """The flat list of one whose leaves hold: branches of all kinds, leaves of both, the first that is found."""
        self.rng, self.slack = random.Random(seed), slack
        found: list[Any] = []
        stack = [(self.root, 0)]
        while stack:
            path, depth = stack.pop()
            leaf = None if self.rng.random() < 0.3 and depth < 4 and path.free else self._leaf(path)
            if leaf is not None:
                found.append(leaf)
                continue
            found.append(self._branch(path, depth))
            first, second = path.branched(found[-1])
            stack += [(second, depth + 1), (first, depth + 1)]
        return found

    def worst(self, elements: list[Any]) -> Fraction | None:
        """The largest left side of a leaf of these elements, all in range; None where they are not a tree."""
        stack, found = [self.root], Fraction(-1)
        for element in elements:
            if not stack:
                return None
            path = stack.pop()
            if isinstance(element, int) or (isinstance(element, list) and len(element) == 1):
                if isinstance(element, int) and element not in path.free:
                    return None
                stack += path.branched(element)[::-1]
                continue
            t, slope = (element, None) if isinstance(element, str) else (element[0], Fraction(element[1]))
            if Fraction(t) < 1:
                return None
            if path.lightest <= path.heaviest and list(allowed(path)):
                found = max(found, self.left_side(path, Fraction(t), slope))
        return None if stack else found

    def _branch(self, path: Path, depth: int) -> Any:
        kind = self.rng.choice("jsS")
        counts = range(self.problem.k) if depth < 2 else range(path.least, path.most)
        if kind == "s" and counts:
            return [self.rng.choice(counts)]
        weights = range(path.lightest, path.heaviest)
        if kind == "S" and weights:
            return [str(self.rng.choice(weights))]
        return self.rng.choice(path.free)

    def _leaf(self, path: Path) -> Any:
        """A leaf that holds, or None."""
        reached = list(allowed(path))
        if path.lightest > path.heaviest or not reached:
            leaf = str(ONE + Fraction(self.rng.randrange(8), 8))
            return leaf if self.rng.random() < 0.5 else [leaf, "1/2"]
        p, gh = self.problem.p, self.problem.gh
        places = {ONE + (gh - 1) * sum((p[x] for x in corner), Fraction(0)) for corner in reached}
        if self.problem.gamma is None:
            places = {max(ONE, _below(place, 44)) for place in places}
        slopes = {c / q for c, q in zip(self.c, self.q, strict=True) if q > 0 and c > 0}
        if self.problem.gamma is None:
            slopes = {_below(slope, 44) for slope in slopes}
        tries: list[tuple[Fraction, Fraction | None]] = [(t, None) for t in places]
        tries += [(t, slope) for t in places for slope in slopes]
        tries.sort(key=lambda one: (one[0], -1 if one[1] is None else one[1]))
        self.rng.shuffle(tries)
        for t, slope in tries:
            if self.left_side(path, t, slope) <= -self.slack:
                return str(t) if slope is None else [str(t), str(slope)]
        return None

    def left_side(self, path: Path, t: Fraction, slope: Fraction | None) -> Fraction:
        """What a leaf says is <= 0, over all sets of free inputs that the limits on the number leave."""
        gh, whole = self.problem.gh, sum(self.problem.weights)
        height, own = 2 * gh * (1 - 1 / t), gh * (1 - 1 / t**2)
        used = own if slope is None else slope
        best = max(sum((self.c[x] - used * self.q[x] for x in corner), Fraction(0)) for corner in allowed(path))
        found = height - own - sum(self.prices) + best
        if slope is not None:
            ends = [(gh - 1) * Fraction(end, whole) for end in (path.lightest, path.heaviest)]
            found += max(end * (slope - own) for end in ends)
        return found


def subsets(inputs: Any) -> Iterator[Corner]:
    inputs = list(inputs)
    for size in range(len(inputs) + 1):
        yield from map(frozenset, combinations(inputs, size))


def allowed(path: Path) -> Iterator[Corner]:
    """The sets of inputs at gamma that agree with what is fixed and with the limits on their number."""
    for chosen in subsets(path.free):
        if path.least <= len(path.inside) + len(chosen) <= path.most:
            yield path.inside | chosen


def solved(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of a regular system, by elimination."""
    n = len(rows)
    table = [[*row, end] for row, end in zip(rows, right, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if table[r][i] != 0)
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [number / table[i][i] for number in table[i]]
        for r in range(n):
            if r != i and table[r][i] != 0:
                factor = table[r][i]
                table[r] = [one - factor * other for one, other in zip(table[r], table[i], strict=True)]
    return [row[n] for row in table]


def _dot(one: list[Fraction], other: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


# The stored ones: name -> (problem, seed, what is added to the prices). Between them every element of a tree occurs.
STORED: dict[str, tuple[Corners, int, Fraction]] = {
    "chi-tree": (Corners((8, 4, 3, 1), epsilon=ONE), 1, Fraction(0)),
    "chi-tree-gamma": (Corners((5, 3, 2), gamma=Fraction(3)), 1, Fraction(1, 1 << 50)),
    "chi-tree-five": (Corners((7, 5, 0, 3, 2), gamma=Fraction(5, 2), listed=True), 1, Fraction(1, 1000)),
    "chi-tree-six": (Corners((9, 8, 6, 5, 2, 1), epsilon=Fraction(3, 2)), 1, Fraction(1, 200)),
}
