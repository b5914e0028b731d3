"""Bistochastic mechanisms: columns sum to one as well as rows."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraint import Constraint
from rropt.io.arguments import checked
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.programs import Row


@checked
@dataclass(frozen=True)
class Bistochastic(Constraint):
    """Every column of Q sums to one, so the uniform distribution is kept. Outputs are the inputs.

    Source: ruiz Definition 1 (bistochastic privacy).

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.patterns.Bistochastic()], inputs=["a", "b", "c"])
        >>> mechanism = problem.solve().mechanism
        >>> float(abs(mechanism.matrix.sum(axis=0) - 1).max()) < 1e-9
        True
    """

    kind: ClassVar[str] = "bistochastic"

    def violation(self, mechanism: Mechanism) -> Fraction:
        return max(abs(sum(mechanism.column(y), Fraction(0)) - 1) for y in range(len(mechanism.outputs)))

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        # The last column's sum follows from those of the rows and of the other columns.
        one = Fraction(1)
        return tuple(
            Row(f"column {label}", "=", one, tuple((x, y, one) for x in range(len(inputs))))
            for y, label in enumerate(outputs[:-1])
        )
