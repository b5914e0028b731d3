"""Privacy as a cone for every column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.cones import CompleteCone, Cone
from rropt.constraints.base import Constraint
from rropt.criteria import Level
from rropt.exact import rational
from rropt.mechanisms.mechanism import Mechanism
from rropt.programs import Row


@dataclass(frozen=True, init=False)
class LDP(Constraint):
    """epsilon-local differential privacy: Q[x, y] <= exp(epsilon) Q[z, y] for all x, z, y.

    Declare `epsilon` (nats, in (0, 20]) or the ratio `gamma` > 1 itself. Raises InputError.
    Source: Kasiviswanathan et al. 2011; chai Theorem 4.1 (parity).
    """

    kind: ClassVar[str] = "ldp"

    level: Level

    def __init__(self, epsilon: object = None, gamma: object = None) -> None:
        level = Level(
            None if epsilon is None else rational(epsilon, "LDP epsilon"),
            None if gamma is None else rational(gamma, "LDP gamma"),
        )
        object.__setattr__(self, "level", level)

    def violation(self, mechanism: Mechanism) -> Fraction:
        limit = self.level.ratio.lower
        worst = Fraction(-1)
        for y in range(len(mechanism.outputs)):
            least, most = mechanism.extremes(y)
            worst = max(worst, most - limit * least)
        return worst

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        return CompleteCone(self.level)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        return ()

    def keys(self) -> dict[str, object]:
        if self.level.epsilon is not None:
            return {"epsilon": self.level.epsilon}
        assert self.level.gamma is not None
        return {"gamma": self.level.gamma}

    def describe(self) -> str:
        return f"LDP at {self.level}"
