"""Garblings: exact row-stochastic matrices that turn the output of one mechanism into that of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from flint import fmpq, fmpq_mat

from rropt.errors import WrongType
from rropt.exact import cleared
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.mechanisms.mechanism import Mechanism

Rational = tuple[tuple[Fraction, ...], ...]


class HasMatrix(Protocol):
    """A named family whose matrix can be written out."""

    def to_mechanism(self) -> Mechanism:
        """Its explicit matrix."""


AnyMechanism: TypeAlias = Mechanism | HasMatrix


def explicit(channel: AnyMechanism, name: str) -> Mechanism:
    """The explicit mechanism that `channel` is, or that its `to_mechanism()` gives. Raises InputError."""
    if isinstance(channel, Mechanism):
        return channel
    make = getattr(channel, "to_mechanism", None)
    made = make() if callable(make) else None
    if not isinstance(made, Mechanism):
        raise WrongType(f"{type(channel).__name__} is not a mechanism", name, "give Mechanism.from_matrix(...)")
    return made


def explicit_pair(a: AnyMechanism, b: AnyMechanism) -> tuple[Mechanism, Mechanism]:
    """Both as explicit mechanisms over the same inputs in the same order. Raises InputError."""
    first, second = explicit(a, "first mechanism"), explicit(b, "second mechanism")
    same_labels(second.inputs, first.inputs, "inputs of the second mechanism")
    return first, second


def table(mechanism: Mechanism) -> fmpq_mat:
    """Q as a k x m matrix of exact rationals."""
    size, width = mechanism.shape
    rows = (
        (mechanism.numerators[y][x], denominator)
        for x, denominator in enumerate(mechanism.row_denominators)
        for y in range(width)
    )
    return fmpq_mat(size, width, [fmpq(*entry) for entry in rows])


def flint_rows(rows: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    """Rows of rationals as one exact matrix."""
    return fmpq_mat(
        len(rows), len(rows[0]), [fmpq(entry.numerator, entry.denominator) for row in rows for entry in row]
    )


def fraction_rows(matrix: fmpq_mat) -> Rational:
    """An exact matrix as rows of rationals."""
    return tuple(tuple(Fraction(int(entry.p), int(entry.q)) for entry in row) for row in matrix.tolist())


@dataclass(frozen=True)
class Garbling:
    """A row-stochastic m x n matrix C of exact rationals: what is done to the m outputs of one mechanism.

    Raises ArithmeticError for rows that do not sum to one or are negative: it is made by algorithms, which are wrong
    then.
    """

    rows: Rational

    def __post_init__(self) -> None:
        if any(sum(row) != 1 or min(row) < 0 for row in self.rows):
            raise ArithmeticError("a garbling is not row-stochastic")

    @classmethod
    def of(cls, matrix: fmpq_mat) -> Garbling:
        """A garbling from an exact matrix."""
        return cls(fraction_rows(matrix))

    def then(self, other: Garbling) -> Garbling:
        """First this garbling, then `other`."""
        return Garbling.of(flint_rows(self.rows) * flint_rows(other.rows))

    def carries(self, a: Mechanism, b: Mechanism) -> bool:
        """Whether a C = b exactly, in rationals."""
        if len(self.rows) != len(a.outputs) or len(self.rows[0]) != len(b.outputs):
            return False
        return bool(table(a) * flint_rows(self.rows) == table(b))

    def after(self, mechanism: Mechanism, outputs: Sequence[str] | None = None) -> Mechanism:
        """The mechanism a C, its outputs labelled anew (default "0", "1", ...)."""
        made = fraction_rows(table(mechanism) * flint_rows(self.rows))
        return Mechanism.from_rationals(made, inputs=mechanism.inputs, outputs=outputs)


@dataclass(frozen=True)
class Merged:
    """A `mechanism` without empty outputs and without two that are proportional, and the garblings `forward` to it
    and `back` from it. It is equivalent to the given one, and unique but for the order of its outputs.
    """

    mechanism: Mechanism
    forward: Garbling
    back: Garbling


def directions(mechanism: Mechanism) -> dict[tuple[int, ...], list[tuple[int, Fraction]]]:
    """Outputs by the direction of their column: smallest integers in its proportions, and (output, scale) of each.

    The column is scale times the direction. Empty outputs are left out.
    """
    found: dict[tuple[int, ...], list[tuple[int, Fraction]]] = {}
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        if not any(column):
            continue
        direction = cleared(column)
        at = next(x for x, entry in enumerate(direction) if entry)
        found.setdefault(direction, []).append((y, column[at] / direction[at]))
    return found


@checked
def merge_proportional(channel: AnyMechanism) -> Merged:
    """The equivalent mechanism with distinct posteriors: empty outputs dropped, proportional ones merged.

    A merged output keeps the label of its first. Raises InputError for an argument that is not a mechanism.
    Source: Chai and Nayak, Remark 5.1.

        >>> import rropt as rr
        >>> channel = rr.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.375, 0.375]])
        >>> len(rr.mechanisms.merge_proportional(channel).mechanism.outputs)
        2
    """
    mechanism = explicit(channel, "mechanism")
    groups = list(directions(mechanism).items())
    count = len(mechanism.outputs)
    # An empty output does not occur, so its row is arbitrary.
    home = [0] * count
    back = [[Fraction(0)] * count for _ in groups]
    for at, (_, members) in enumerate(groups):
        total = sum((scale for _, scale in members), Fraction(0))
        for y, scale in members:
            home[y] = at
            back[at][y] = scale / total
    rows = [
        [direction[x] * sum((scale for _, scale in members), Fraction(0)) for direction, members in groups]
        for x in range(len(mechanism.inputs))
    ]
    merged = Mechanism.from_rationals(
        rows, inputs=mechanism.inputs, outputs=[mechanism.outputs[group[0][0]] for _, group in groups]
    )
    forward = Garbling(tuple(tuple(Fraction(int(at == home[y])) for at in range(len(groups))) for y in range(count)))
    found = Merged(merged, forward, Garbling(tuple(map(tuple, back))))
    if not (forward.carries(mechanism, merged) and found.back.carries(merged, mechanism)):
        raise ArithmeticError("the merged mechanism is not equivalent to the given one")
    return found
