"""Parametrised forms of a square mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraints.base import Constraint
from rropt.io.arguments import checked
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.extras import Extra, OffDiagonalForm
from rropt.program.programs import Row


@checked
@dataclass(frozen=True)
class UniformOffDiagonal(Constraint):
    """Every row of Q has one number in all cells off its diagonal: a wrong answer is any other one, equally likely.

    Outputs are the inputs. With mutual information under LDP, and nothing else, it is solved at thousands of inputs;
    together with other constraints it is k (k - 2) linear rows. Source: ayed equation (8).
    """

    kind: ClassVar[str] = "uniform_off_diagonal"

    def violation(self, mechanism: Mechanism) -> Fraction:
        return OffDiagonalForm().excess(mechanism)

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        return (OffDiagonalForm(),)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        rows = []
        for x, label in enumerate(inputs):
            first, *others = (y for y in range(len(outputs)) if y != x)
            for y in others:
                terms = tuple(sorted([(x, first, Fraction(1)), (x, y, Fraction(-1))]))
                rows.append(Row(f"off the diagonal of {label}: {outputs[y]}", "=", Fraction(0), terms))
        return tuple(rows)

    def keys(self) -> dict[str, object]:
        return {}

    def describe(self) -> str:
        return "one number off the diagonal in each row"
