"""Subdividing the simplex of distributions until each small simplex is decided."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True)
class Point:
    """A distribution over k inputs: integers over 2^`bits`."""

    weights: tuple[int, ...]
    bits: int

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The k probabilities."""
        return tuple(Fraction(weight, 1 << self.bits) for weight in self.weights)

    @property
    def floats(self) -> tuple[float, ...]:
        """The k probabilities as floats."""
        return tuple(weight / (1 << self.bits) for weight in self.weights)

    @property
    def corner(self) -> int | None:
        """The input with probability one, or None."""
        full = 1 << self.bits
        return self.weights.index(full) if full in self.weights else None

    def middle(self, other: Point) -> Point:
        """The point half way to another."""
        bits = max(self.bits, other.bits)
        mixed = (
            (a << (bits - self.bits)) + (b << (bits - other.bits))
            for a, b in zip(self.weights, other.weights, strict=True)
        )
        return Point(tuple(mixed), bits + 1)


Simplex = tuple[Point, ...]


@dataclass(frozen=True)
class Cover:
    """The result of a subdivision: all of the `count` simplices decided ("covered"), a refuting `point` found
    ("refuted"), or the limit reached ("open")."""

    outcome: Literal["covered", "refuted", "open"]
    count: int
    point: Point | None = None


def cover(size: int, settled: Callable[[Simplex], bool], refuted: Callable[[Point], bool], limit: int) -> Cover:
    """Halve the longest edge of the simplex of distributions over `size` inputs, and of its halves, until
    `settled` holds for each, `refuted` holds for a corner of one, or `limit` simplices were examined."""
    whole = tuple(Point(tuple(int(x == at) for x in range(size)), 0) for at in range(size))
    queue: deque[Simplex] = deque([whole])
    count = 0
    while queue:
        if count == limit:
            return Cover("open", count)
        simplex = queue.popleft()
        count += 1
        if settled(simplex):
            continue
        i, j = _longest(simplex)
        middle = simplex[i].middle(simplex[j])
        if refuted(middle):
            return Cover("refuted", count, middle)
        queue.append((*simplex[:i], middle, *simplex[i + 1 :]))
        queue.append((*simplex[:j], middle, *simplex[j + 1 :]))
    return Cover("covered", count)


def _longest(simplex: Simplex) -> tuple[int, int]:
    floats = [point.floats for point in simplex]
    pairs = [(i, j) for i in range(len(simplex)) for j in range(i + 1, len(simplex))]
    return max(pairs, key=lambda pair: math.dist(floats[pair[0]], floats[pair[1]]))
