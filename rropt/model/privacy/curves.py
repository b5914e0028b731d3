"""Boundaries of privacy breach: functions from prior to posterior probability, as tables, expressions or functions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from rropt.errors import Conflict, Duplicate, Missing, NotWritten, OutOfRange, WrongType
from rropt.exact import Interval, declared_text, rational
from rropt.io.types import Number
from rropt.model.privacy.expressions import Node, parse
from rropt.model.privacy.infimum import of_node, of_values, smallest
from rropt.model.privacy.lattice import of_lattice
from rropt.model.privacy.spans import ONE, Span, least

ONE_LESS_P = Node("-", (Node("number", value=Fraction(1)), Node("p")))


class Curve(ABC):
    """A function h from [0, 1] to [0, 1]; values above one count as one."""

    @abstractmethod
    def at(self, p: Number) -> Interval:
        """h(p), enclosed; where h jumps, both sides. Raises InputError for p outside [0, 1]."""

    @abstractmethod
    def demand(self) -> Interval:
        """B(h): the largest privacy ratio that keeps every posterior probability at most h(prior), enclosed; both ends
        infinite where h is one everywhere. Raises InputError where h(p) < p. Source: Chai and Nayak, Theorem 4.1."""

    @abstractmethod
    def reflected(self) -> Curve:
        """1 - h(1 - p): the bound from above on "not Q" that h is from below on Q."""

    @abstractmethod
    def declaration(self) -> object:
        """Its text in a problem file. Raises InputError where it cannot."""


def _probability(p: object, where: str) -> Fraction:
    value = rational(p, where)
    if not 0 <= value <= 1:
        raise OutOfRange(f"it is {p}, outside [0, 1]", where, "it is a probability")
    return value


@dataclass(frozen=True)
class Piece:
    """A straight piece: from (x0, y0) to (x1, y1), x0 < x1."""

    x0: Fraction
    x1: Fraction
    y0: Fraction
    y1: Fraction

    def at(self, p: Fraction) -> Fraction:
        """Its value at p."""
        return self.y0 + (self.y1 - self.y0) * (p - self.x0) / (self.x1 - self.x0)

    def demand(self) -> Interval:
        """The infimum over it."""
        slope = (self.y1 - self.y0) / (self.x1 - self.x0)
        rise = Node("*", (Node("number", value=slope), Node("p")))
        line = Node("+", (Node("number", value=self.y0 - slope * self.x0), rise))
        found = of_lattice(line, self.x0, self.x1, "boundary")
        assert found is not None  # a line is a rational function
        return found


@dataclass(frozen=True)
class Table(Curve):
    """Straight pieces from 0 to 1, possibly with jumps between them. Make one with `steps` or `points`."""

    pieces: tuple[Piece, ...]

    @classmethod
    def steps(cls, steps: Iterable[Sequence[Number]], where: str = "steps") -> Table:
        """Pairs (p, h): h from that p on, to the next; the first p is 0. Raises InputError."""
        listed = _pairs(steps, where)
        if listed[0][0] != 0 or listed[-1][0] == 1:
            raise OutOfRange("the first step begins at 0 and the last before 1", where, "as [[0, 0.2], [0.1, 1]]")
        ends = [x for x, _ in listed[1:]] + [Fraction(1)]
        if any(x >= end for (x, _), end in zip(listed, ends, strict=True)):
            raise OutOfRange("the steps do not begin one after the other", where, "sort them")
        return cls(tuple(Piece(x, end, y, y) for (x, y), end in zip(listed, ends, strict=True)))

    @classmethod
    def points(cls, points: Iterable[Sequence[Number]], where: str = "points") -> Table:
        """Pairs (p, h) joined by straight lines, from p = 0 to p = 1; a p that appears twice is a jump. Raises
        InputError."""
        listed = _pairs(points, where)
        if listed[0][0] != 0 or listed[-1][0] != 1 or any(x > z for (x, _), (z, _) in pairwise(listed)):
            raise OutOfRange(
                "the points do not go from p = 0 to p = 1 in order", where, "as [[0, 0], [0.1, 0.3], [1, 1]]"
            )
        if any(x == z == w for (x, _), (z, _), (w, _) in zip(listed, listed[1:], listed[2:], strict=False)):
            raise Duplicate("three points have the same p", where, "two make a jump")
        return cls(tuple(Piece(x, z, y, u) for (x, y), (z, u) in pairwise(listed) if x < z))

    def at(self, p: Number) -> Interval:
        value = _probability(p, "prior probability")
        near = [piece.at(value) for piece in self.pieces if piece.x0 <= value <= piece.x1]
        return Interval(min(near), max(near))

    def demand(self) -> Interval:
        return smallest([piece.demand() for piece in self.pieces])

    def reflected(self) -> Table:
        return Table(tuple(Piece(1 - p.x1, 1 - p.x0, 1 - p.y1, 1 - p.y0) for p in reversed(self.pieces)))

    def declaration(self) -> object:
        listed: list[list[Fraction]] = []
        if all(piece.y0 == piece.y1 for piece in self.pieces):
            return {"steps": [[piece.x0, piece.y0] for piece in self.pieces]}
        for piece in self.pieces:
            listed += [point for point in ([piece.x0, piece.y0], [piece.x1, piece.y1]) if point not in listed[-1:]]
        return {"points": listed}


@dataclass(frozen=True)
class Expression(Curve):
    """A formula in p, such as "min(1, 3*p)" or "p / (p + (1 - p)/20)"; see `model.privacy.expressions.parse`.

    B(h) is found exactly, up to roots of polynomials, for rational functions and minima of these; other formulas are
    bounded on intervals. Raises InputError.
    """

    text: str
    node: Node

    @classmethod
    def read(cls, text: str, where: str = "expression") -> Expression:
        """From its text."""
        return cls(text, parse(text, where))

    def at(self, p: Number) -> Interval:
        found = least((self.node.dual(Span.point(_probability(p, "prior probability")))[0], ONE)).interval()
        if math.isinf(found.lower):
            raise OutOfRange(f"it is not defined at p = {p}", self.text, "change it")
        return found

    def demand(self) -> Interval:
        found = of_lattice(self.node, Fraction(0), Fraction(1), self.text)
        return found if found is not None else of_node(self.node, self.text)

    def reflected(self) -> Expression:
        one = Node("number", value=Fraction(1))
        words = {"max": "min", "min": "max"}
        if self.node.word in words:
            parts = tuple(Node("-", (one, part.put(ONE_LESS_P))) for part in self.node.parts)
            return Expression(f"1 - h(1 - p) of {self.text}", Node(words[self.node.word], parts))
        return Expression(f"1 - h(1 - p) of {self.text}", Node("-", (one, self.node.put(ONE_LESS_P))))

    def declaration(self) -> object:
        return self.text


@dataclass(frozen=True)
class Monotone(Curve):
    """A Python function h of a float, declared non-decreasing, with its behaviour at both ends stated.

    `at_zero` = (z, r) states h(p) >= r p for 0 < p <= z, `at_one` = (z, r) states 1 - p >= r (1 - h(p)) for
    1 - z <= p < 1, with 0 < z < 1/2 and r > 1; a returned float means its shortest decimal. The
    statements are assumed; values that contradict them raise InputError. B(h) is enclosed by values alone, so less
    tightly than for a table or a formula. Raises InputError.
    """

    function: Callable[[float], object]
    at_zero: tuple[Fraction, Fraction]
    at_one: tuple[Fraction, Fraction]

    @classmethod
    def declared(
        cls, function: Callable[[float], Any], at_zero: Sequence[Number], at_one: Sequence[Number]
    ) -> Monotone:
        """From what is stated. Raises InputError for an argument that is not, and for numbers out of range."""
        if not callable(function):
            raise WrongType(f"{function!r} is not a function", "boundary", "give a function of p")
        return cls(function, _statement(at_zero, "at_zero"), _statement(at_one, "at_one"))

    def _value(self, p: Fraction) -> Fraction:
        return _probability(self.function(float(p)), f"h({float(p):.6g})")

    def at(self, p: Number) -> Interval:
        return Interval.point(self._value(_probability(p, "prior probability")))

    def demand(self) -> Interval:
        return of_values(self._value, self.at_zero, self.at_one, "boundary")

    def reflected(self) -> Monotone:
        raise Conflict("a lower boundary cannot be a function", "boundary", "give 1 - h(1 - p) as an upper one")

    def declaration(self) -> object:
        raise NotWritten("a function cannot be written to a problem file", "boundary", "declare a table or a formula")


def _statement(stated: object, where: str) -> tuple[Fraction, Fraction]:
    if isinstance(stated, (str, bytes)) or not isinstance(stated, Sequence) or len(stated) != 2:
        raise Missing(
            "a function does not state its behaviour at 0 and 1",
            where,
            "state (z, r): h(p) >= r p for p <= z, or 1 - p >= r (1 - h(p)) for p >= 1 - z",
        )
    reach, ratio = rational(stated[0], where), rational(stated[1], where)
    if not 0 < reach < Fraction(1, 2) or ratio <= 1:
        raise OutOfRange(
            f"({declared_text(reach)}, {declared_text(ratio)}) is out of range", where, "0 < z < 1/2, r > 1"
        )
    return reach, ratio


def _pairs(values: object, where: str) -> list[tuple[Fraction, Fraction]]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
        raise WrongType("it is not a list of pairs (p, h)", where, "as [[0, 0.2], [0.1, 1]]")
    listed = []
    for number, pair in enumerate(values):
        if isinstance(pair, (str, bytes)) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise WrongType(f"entry {number} is not a pair (p, h)", where, "as [0.1, 0.3]")
        listed.append((_probability(pair[0], f"{where} {number}"), _probability(pair[1], f"{where} {number}")))
    return listed


def curve(declared: object, where: str = "boundary") -> Curve:
    """A curve from what a problem file or a caller gives: a Curve itself, the text of an expression, or a table with
    the one key `steps` or `points`. A bare function is refused: see `Monotone.declared`. Raises InputError."""
    if isinstance(declared, Curve):
        return declared
    if isinstance(declared, str):
        return Expression.read(declared, where)
    if isinstance(declared, Mapping) and len(declared) == 1:
        ((word, values),) = declared.items()
        if word in ("steps", "points"):
            return Table.steps(values, f"{where} steps") if word == "steps" else Table.points(values, f"{where} points")
    if callable(declared):
        raise Missing(
            "a function does not state its behaviour at 0 and 1",
            where,
            "give Monotone.declared(function, at_zero=(z, r), at_one=(z, r))",
        )
    raise WrongType(f"{declared!r} is not a boundary", where, "give an expression, { steps = ... } or { points = ... }")
