"""Structure of a square mechanism: forbidden cells and floors on the diagonal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraint import Constraint
from rropt.errors import Conflict, Missing, OutOfRange, UnknownName, WrongType, counted
from rropt.exact import declared_text, rational
from rropt.io.arguments import checked
from rropt.io.counts import Numbers, is_collection
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared_names
from rropt.model.prior import clean_labels
from rropt.program.programs import Row


def _position(label: str, labels: tuple[str, ...], what: str) -> int:
    try:
        return labels.index(label)
    except ValueError:
        some = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
        raise UnknownName(f"{label!r} is not one of the labels", what, f"they are: {some}") from None


@checked
@dataclass(frozen=True, init=False)
class Forbidden(Constraint):
    """Q[x, y] = 0 for every cell (input label, output label) of `cells`.

    Under a ratio cone such as LDP a zero empties its whole column; `Problem.warnings` lists it.

        >>> import rropt as rr
        >>> rules = [rr.Floor("0.6"), rr.patterns.Forbidden([("a", "c")])]
        >>> problem = rr.Problem(rr.Maximize(rr.InjectedEntropy()), rules, inputs=["a", "b", "c"])
        >>> problem.solve().mechanism["a", "c"]
        Fraction(0, 1)
    """

    kind: ClassVar[str] = "forbidden"

    cells: tuple[tuple[str, str], ...]

    def __init__(self, cells: Iterable[Sequence[Label]]) -> None:
        cleaned = []
        if not isinstance(cells, Iterable) or isinstance(cells, str):
            raise WrongType(f"{cells!r} is not a list of cells", "Forbidden", "give pairs (input, output)")
        for cell in cells:
            if isinstance(cell, str) or not isinstance(cell, Sequence) or len(cell) != 2:
                raise WrongType(f"{cell!r} is not a pair (input, output)", "Forbidden", "give pairs of labels")
            cleaned.append((clean_labels(cell[:1], "Forbidden")[0], clean_labels(cell[1:], "Forbidden")[0]))
        if not cleaned:
            raise Missing("no cells are given", "Forbidden", "give pairs (input, output), or leave it out")
        object.__setattr__(self, "cells", tuple(dict.fromkeys(cleaned)))

    def violation(self, mechanism: Mechanism) -> Fraction:
        outputs = declared_names(mechanism, mechanism.inputs)
        return sum(
            (
                mechanism.entry(
                    _position(x, mechanism.inputs, "Forbidden input"),
                    _position(y, outputs, "Forbidden output"),
                )
                for x, y in self.cells
            ),
            Fraction(0),
        )

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        # One row for all cells: a sum of non-negative numbers is zero only where each of them is.
        places = sorted(
            (_position(x, inputs, "Forbidden input"), _position(y, outputs, "Forbidden output")) for x, y in self.cells
        )
        return (Row("forbidden", "=", Fraction(0), tuple((x, y, Fraction(1)) for x, y in places)),)

    def keys(self) -> dict[str, object]:
        return {"cells": [list(cell) for cell in self.cells]}

    def describe(self) -> str:
        return counted(len(self.cells), "forbidden cells")


@checked
@dataclass(frozen=True, init=False)
class Floor(Constraint):
    """Q[x, x] >= diagonal: one number for all, a list in the order of the inputs, or a table label -> number.

    Numbers in [0, 1]; labels that a table leaves out have no floor. Outputs are the inputs.

        >>> import rropt as rr
        >>> rules = [rr.LDP(2), rr.Floor({"yes": "0.5"})]
        >>> problem = rr.Problem(rr.Minimize(rr.privacy.BayesCapacity()), rules, inputs=["no", "yes"])
        >>> float(problem.solve().mechanism["yes", "yes"]) >= 0.5
        True
    """

    kind: ClassVar[str] = "floor"

    diagonal: Fraction | tuple[Fraction, ...] | tuple[tuple[str, Fraction], ...]

    def __init__(self, diagonal: Number | Counts) -> None:
        def probability(number: object, where: str) -> Fraction:
            value = rational(number, where)
            if not 0 <= value <= 1:
                raise OutOfRange(f"{number} is not a probability", where, "give numbers in [0, 1]")
            return value

        cleaned: Fraction | tuple[Fraction, ...] | tuple[tuple[str, Fraction], ...]
        if is_collection(diagonal):
            read = Numbers.read(diagonal, "Floor")
            names = read.names("Floor")
            where = (
                [f"floor of {label!r}" for label in names]
                if names
                else [f"floor[{x}]" for x in range(len(read.values))]
            )
            numbers = tuple(map(probability, read.values, where))
            cleaned = numbers if names is None else tuple(zip(names, numbers, strict=True))
        else:
            cleaned = probability(diagonal, "floor")
        object.__setattr__(self, "diagonal", cleaned)

    def _floors(self, inputs: tuple[str, ...]) -> list[tuple[str, Fraction]]:
        if isinstance(self.diagonal, Fraction):
            return [(label, self.diagonal) for label in inputs]
        if self.diagonal and isinstance(self.diagonal[0], tuple):
            return [(entry[0], entry[1]) for entry in self.diagonal if isinstance(entry, tuple)]
        if len(self.diagonal) != len(inputs):
            raise Conflict(
                f"{counted(len(self.diagonal), 'numbers')} for {counted(len(inputs), 'inputs')}",
                "Floor",
                "give one per input",
            )
        return [
            (label, entry) for label, entry in zip(inputs, self.diagonal, strict=True) if isinstance(entry, Fraction)
        ]

    def violation(self, mechanism: Mechanism) -> Fraction:
        outputs = declared_names(mechanism, mechanism.inputs)
        return max(
            floor - mechanism.entry(_position(label, mechanism.inputs, "Floor"), _position(label, outputs, "Floor"))
            for label, floor in self._floors(mechanism.inputs)
        )

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        rows = []
        for label, floor in self._floors(inputs):
            x, y = _position(label, inputs, "Floor"), _position(label, outputs, "Floor")
            if floor > 0:
                rows.append(Row(f"floor {label}", "<=", -floor, ((x, y, Fraction(-1)),)))
        return tuple(rows)

    def keys(self) -> dict[str, object]:
        if isinstance(self.diagonal, Fraction):
            return {"diagonal": self.diagonal}
        if self.diagonal and isinstance(self.diagonal[0], tuple):
            return {"diagonal": dict(self._floors(()))}
        return {"diagonal": list(self.diagonal)}

    def describe(self) -> str:
        if isinstance(self.diagonal, Fraction):
            return f"diagonal at least {declared_text(self.diagonal)}"
        return f"floors on {counted(len(self.diagonal), 'diagonal cells')}"
