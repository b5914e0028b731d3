"""The user's own linear constraints, for building models in code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from rropt.cones import Cone, FreeCone, PolyhedralCone
from rropt.constraints.base import Constraint
from rropt.errors import InputError
from rropt.exact import coefficient
from rropt.mechanisms.mechanism import Mechanism
from rropt.priors import clean_labels
from rropt.programs import Row


def _table(matrix: object, where: str) -> tuple[tuple[Fraction, ...], ...]:
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise InputError("it is no matrix", where, "give a list of rows of numbers")
    for row in rows:
        if not isinstance(row, (Sequence, np.ndarray)) or isinstance(row, str) or not len(row):
            raise InputError("it is no matrix", where, "give a list of rows of numbers")
    table = tuple(
        tuple(coefficient(entry, f"{where}[{x}][{y}]") for y, entry in enumerate(row)) for x, row in enumerate(rows)
    )
    if len({len(row) for row in table}) != 1:
        raise InputError("its rows have different lengths", where, "mend it")
    return table


@dataclass(frozen=True, init=False)
class LinearConstraint(Constraint):
    """sum over x, y of `coefficients[x][y] Q[x, y]` is <=, >= or = rhs.

    `coefficients` is an inputs x outputs matrix, so the outputs must be fixed by the objective, a structure or
    `Problem(outputs=...)`. `name` stands in messages and in the certificate.
    """

    kind: ClassVar[str] = "linear"

    coefficients: tuple[tuple[Fraction, ...], ...]
    sense: Literal["<=", ">=", "="]
    rhs: Fraction
    name: str

    def __init__(self, coefficients: object, sense: str, rhs: object, name: str = "") -> None:
        if sense not in ("<=", ">=", "=", "=="):
            raise InputError(f"{sense!r} is no sense of a constraint", "LinearConstraint", "use <=, >= or =")
        object.__setattr__(self, "coefficients", _table(coefficients, "LinearConstraint coefficients"))
        object.__setattr__(self, "sense", "=" if sense == "==" else sense)
        object.__setattr__(self, "rhs", coefficient(rhs, "LinearConstraint rhs"))
        object.__setattr__(self, "name", clean_labels([name], "LinearConstraint name")[0] if name else "")

    def _check_shape(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> None:
        if not outputs:
            raise InputError(
                "it needs outputs, and they are free here",
                self.describe(),
                "give Problem(outputs=[labels]), or an objective with fixed outputs such as Trace",
            )
        shape = len(self.coefficients), len(self.coefficients[0])
        if shape != (len(inputs), len(outputs)):
            raise InputError(
                f"its coefficients are {shape[0]} x {shape[1]}",
                self.describe(),
                f"the mechanism is {len(inputs)} inputs x {len(outputs)} outputs",
            )

    def violation(self, mechanism: Mechanism) -> Fraction:
        self._check_shape(mechanism.inputs, mechanism.outputs)
        total = sum(
            (
                entry * mechanism.entry(x, y)
                for x, row in enumerate(self.coefficients)
                for y, entry in enumerate(row)
                if entry
            ),
            Fraction(0),
        )
        miss = total - self.rhs
        return {"<=": miss, ">=": -miss, "=": abs(miss)}[self.sense]

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        return None

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        self._check_shape(inputs, outputs)
        sign = -1 if self.sense == ">=" else 1
        terms = tuple(
            (x, y, sign * entry) for x, row in enumerate(self.coefficients) for y, entry in enumerate(row) if entry
        )
        return (Row(self.name or "linear", "=" if self.sense == "=" else "<=", sign * self.rhs, terms),)

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {
            "coefficients": [list(row) for row in self.coefficients],
            "sense": self.sense,
            "rhs": self.rhs,
        }
        return keys | ({"name": self.name} if self.name else {})

    def describe(self) -> str:
        return f"linear constraint {self.name!r}" if self.name else "linear constraint"


@dataclass(frozen=True, init=False)
class ConeConstraint(Constraint):
    """A v <= 0 for every column v of the mechanism; `matrix` A has one column an input."""

    kind: ClassVar[str] = "cone"

    matrix: tuple[tuple[Fraction, ...], ...]

    def __init__(self, matrix: object) -> None:
        object.__setattr__(self, "matrix", _table(matrix, "ConeConstraint matrix"))

    def violation(self, mechanism: Mechanism) -> Fraction:
        self._check_width(mechanism.inputs)
        return max(
            sum((a * v for a, v in zip(row, mechanism.column(y), strict=True) if a), Fraction(0))
            for row in self.matrix
            for y in range(len(mechanism.outputs))
        )

    def _check_width(self, inputs: tuple[str, ...]) -> None:
        if len(self.matrix[0]) != len(inputs):
            raise InputError(
                f"its rows have {len(self.matrix[0])} numbers", "ConeConstraint", f"there are {len(inputs)} inputs"
            )

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        self._check_width(inputs)
        return PolyhedralCone(FreeCone(), self.matrix)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        return ()

    def keys(self) -> dict[str, object]:
        return {"matrix": [list(row) for row in self.matrix]}

    def describe(self) -> str:
        return f"cone of {len(self.matrix)} rows"
