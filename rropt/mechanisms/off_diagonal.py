"""Mechanisms with one number in all off-diagonal cells of a row, at any size: the matrix is never expanded unasked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpq

from rropt.errors import Conflict, OutOfRange, counted, in_file
from rropt.exact import Interval, enclosure, xlogx_ball
from rropt.io.frames import array_of
from rropt.io.types import Label
from rropt.mechanisms.columns import Column
from rropt.mechanisms.mechanism import GRID, READERS, Mechanism
from rropt.mechanisms.reading import names_of, naturals_of
from rropt.mechanisms.sampling import MechanismSampler, Source
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior, clean_labels

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.recover import Answers

MOST_WRITTEN = 256
"""Inputs up to which a matrix is written out in its file, entry by entry."""


@dataclass(frozen=True)
class OffDiagonalColumn(Column):
    """Column `at`: the rows' off-diagonal numerators, but the diagonal one in row `at`."""

    off_diagonal: tuple[int, ...]
    at: int
    diagonal: int

    def entries(self, size: int) -> tuple[int, ...]:
        return (*self.off_diagonal[: self.at], self.diagonal, *self.off_diagonal[self.at + 1 :])


class OffDiagonalMechanism(Mechanism):
    """Q[x, y] = o_x for y != x and Q[x, x] = 1 - (k - 1) o_x, with o_x = off_diagonal[x] / denominator (ayed eq. 8).

    Costs O(k) for everything that does not need the whole matrix. Output x, by default called as input x, is that of
    column x. Raises InputError for a row that does not fit.
    """

    def __init__(
        self,
        labels: Sequence[Label],
        off_diagonal: Sequence[int],
        denominator: int = GRID,
        outputs: Sequence[Label] | None = None,
    ) -> None:
        names = clean_labels(labels, "inputs", 2)
        if denominator <= 0:
            raise OutOfRange("the denominator is not positive", "mechanism")
        if len(off_diagonal) != len(names):
            raise Conflict(
                f"{counted(len(off_diagonal), 'numbers')} for {counted(len(names), 'inputs')}",
                "mechanism",
                "give one per input",
            )
        for name, number in zip(names, off_diagonal, strict=True):
            if number < 0 or (len(names) - 1) * number > denominator:
                raise OutOfRange(f"the off-diagonal number of {name!r} makes the diagonal negative", "mechanism")
        object.__setattr__(self, "input_labels", names)
        object.__setattr__(self, "outputs", names if outputs is None else clean_labels(outputs, "outputs"))
        if len(self.outputs) != len(names):
            raise Conflict(f"{counted(len(self.outputs), 'outputs')} for {counted(len(names), 'inputs')}", "mechanism")
        object.__setattr__(self, "denominators", (denominator,))
        object.__setattr__(self, "off_diagonal", tuple(int(number) for number in off_diagonal))

    off_diagonal: tuple[int, ...]

    @cached_property
    def diagonal(self) -> tuple[int, ...]:
        """The k numerators of the diagonal."""
        scale, rest = self.denominators[0], len(self.inputs) - 1
        return tuple(scale - rest * number for number in self.off_diagonal)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The m columns; their entries are made when they are asked for."""
        return tuple(OffDiagonalColumn(self.off_diagonal, y, number) for y, number in enumerate(self.diagonal))

    def entry(self, x: int, y: int) -> Fraction:
        number = self.diagonal[x] if x == y else self.off_diagonal[x]
        return Fraction(number, self.denominators[0])

    def column(self, y: int) -> tuple[Fraction, ...]:
        scale = self.denominators[0]
        return tuple(Fraction(number, scale) for number in self.columns[y].entries(len(self.inputs)))

    @cached_property
    def _ends(self) -> tuple[list[int], list[int]]:
        """The inputs with the two smallest and the two largest off-diagonal numbers."""
        order = sorted(range(len(self.inputs)), key=self.off_diagonal.__getitem__)
        return order[:2], order[:-3:-1]

    def extremes(self, y: int) -> tuple[Fraction, Fraction]:
        least, most = self._range(y)
        return Fraction(least, self.denominators[0]), Fraction(most, self.denominators[0])

    @cached_property
    def ranges(self) -> frozenset[tuple[Fraction, Fraction]]:
        scale = self.denominators[0]
        kinds = {self._range(y) for y in range(len(self.outputs))}
        return frozenset((Fraction(least, scale), Fraction(most, scale)) for least, most in kinds)

    def _range(self, y: int) -> tuple[int, int]:
        """The smallest and the largest numerator of column y."""
        # Of the rows besides y the smallest number is one of the two smallest, the largest one of the two largest.
        own = self.diagonal[y]
        least = min(self.off_diagonal[x] for x in self._ends[0] if x != y)
        most = max(self.off_diagonal[x] for x in self._ends[1] if x != y)
        return min(own, least), max(own, most)

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        if prior.labels != self.inputs or units not in ("nats", "bits"):
            # The general method raises the error.
            return super().mutual_information(prior, units=units)
        size, scale, total = len(self.inputs), self.denominators[0], sum(prior.weights)
        shared = sum(weight * number for weight, number in zip(prior.weights, self.off_diagonal, strict=True))

        def compute() -> arb:
            # sum_x p_x (phi(q_x) + (k - 1) phi(o_x)) - sum_y phi(m_y), m_y = p_y (q_y - o_y) + sum_x p_x o_x
            result = arb(0)
            known: dict[int, arb] = {}
            for weight, off, on in zip(prior.weights, self.off_diagonal, self.diagonal, strict=True):
                if weight:
                    if off not in known:
                        known[off] = xlogx_ball(on, scale) + (size - 1) * xlogx_ball(off, scale)
                    result += arb(fmpq(weight, total)) * known[off]
                result -= xlogx_ball(weight * (on - off) + shared, total * scale)
            return result / arb(2).log() if units == "bits" else result

        return never_negative(enclosure(compute))

    @cached_property
    def rank(self) -> int:
        """Rank of Q, exact: of diag(q - o) + o 1', by the matrix determinant lemma."""
        parts = [on - off for on, off in zip(self.diagonal, self.off_diagonal, strict=True)]
        zeros = [x for x, part in enumerate(parts) if part == 0]
        size = len(parts)
        if zeros:
            # Rows with q_x = o_x are multiples of 1'; the others give one unit direction each besides.
            return size - len(zeros) + any(self.off_diagonal[x] for x in zeros)
        one = 1 + sum((Fraction(off, part) for off, part in zip(self.off_diagonal, parts, strict=True)), Fraction(0))
        return size if one else size - 1

    def relabelled(self, outputs: Sequence[str]) -> Mechanism:
        if len(outputs) == len(self.outputs):
            return OffDiagonalMechanism(self.inputs, self.off_diagonal, self.denominators[0], outputs)
        return Mechanism(self.inputs, self.outputs, self.columns, self.denominators).relabelled(outputs)

    @cached_property
    def _samplers(self) -> tuple[MechanismSampler, MechanismSampler]:
        """Whether the truth is reported, and which of the others is reported instead."""
        scale = self.denominators[0]
        truth = MechanismSampler(tuple((on, scale - on) for on in self.diagonal), self.denominators)
        others = len(self.inputs) - 1
        return truth, MechanismSampler(((1,) * others,), (others,))

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        truth, other = self._samplers
        given = array_of(codes, "codes")
        moved = truth.sample(codes, source=source).astype(np.int64)
        shift = other.sample(np.zeros(given.shape, dtype=np.uint8), source=source).astype(np.int64)
        # The others, in a circle from the truth on: each is as likely.
        found = (given.astype(np.int64) + moved * (1 + shift)) % len(self.inputs)
        return np.asarray(found, dtype=np.min_scalar_type(len(self.inputs) - 1))

    def answers(self, counts: np.ndarray) -> Answers:
        from rropt.mechanisms.estimators.off_diagonal import OffDiagonalAnswers

        scale = self.denominators[0]
        own = [(on - off) / scale for on, off in zip(self.diagonal, self.off_diagonal, strict=True)]
        off = [number / scale for number in self.off_diagonal]
        found = OffDiagonalAnswers(np.array(own), np.array(off), counts, self.inputs)
        return found if found.is_clear() else super().answers(counts)

    def _write(self) -> dict[str, object]:
        if len(self.inputs) <= MOST_WRITTEN:
            return super()._write()
        # One number where all rows have the same.
        numbers = self.off_diagonal[:1] if len(set(self.off_diagonal)) == 1 else self.off_diagonal
        named: dict[str, object] = {} if self.outputs == self.inputs else {"outputs": list(self.outputs)}
        return named | {
            "denominators": [str(number) for number in self.denominators],
            "off_diagonal": [str(number) for number in numbers],
        }

    def off_diagonal_payload(self) -> dict[str, object]:
        """The `mechanism` object of a certificate whose problem has this structure (section 5)."""
        return {
            "denominators": [str(number) for number in self.denominators],
            "outputs": list(self.outputs),
            "off_diagonal": [str(number) for number in self.off_diagonal],
        }


def off_diagonal_of_document(document: dict[str, object], where: str) -> OffDiagonalMechanism:
    """The mechanism of a file of this form: one off-diagonal number for all rows, or one per row. Raises InputError."""
    inputs = names_of(document["inputs"], f"{where}: inputs")
    denominators = naturals_of(document["denominators"], f"{where}: denominators")
    numbers = naturals_of(document["off_diagonal"], f"{where}: off_diagonal")
    if len(denominators) != 1:
        raise Conflict(f"{counted(len(denominators), 'denominators')}", where, "one is needed")
    outputs = names_of(document["outputs"], f"{where}: outputs") if "outputs" in document else None
    every = numbers * len(inputs) if len(numbers) == 1 else numbers
    with in_file(where):
        return OffDiagonalMechanism(inputs, every, denominators[0], outputs)


READERS["off_diagonal"] = off_diagonal_of_document


def off_diagonal_from_file(
    inputs: tuple[str, ...], off_diagonal: tuple[int, ...], denominators: tuple[int, ...]
) -> Mechanism:
    """The mechanism of a certificate over off-diagonals: o_x = off_diagonal[x] over the denominator of row x, of which
    there are one or k (section 5 of the format). Raises InputError."""
    k = len(inputs)
    if len(denominators) not in (1, k) or len(off_diagonal) != k:
        raise Conflict(
            f"{counted(len(off_diagonal), 'numbers')} over {counted(len(denominators), 'denominators')} for {k} inputs",
            "mechanism",
        )
    if len(set(denominators)) == 1:
        return OffDiagonalMechanism(inputs, off_diagonal, denominators[0])
    diagonal = [scale - (k - 1) * number for scale, number in zip(denominators, off_diagonal, strict=True)]
    columns = tuple(OffDiagonalColumn(off_diagonal, y, number) for y, number in enumerate(diagonal))
    return Mechanism(inputs, inputs, columns, denominators)
