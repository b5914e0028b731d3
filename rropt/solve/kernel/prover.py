"""The interface of provers: every theory has one that proves bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rropt.errors import Refusal
from rropt.program.programs import Program
from rropt.prove.certificates import Proof
from rropt.solve.kernel.route import Dual, Effort


@dataclass(frozen=True)
class Wanted:
    """The goal of a proof: the effort of the solve, and the mechanism's value in the utility's unit (None: there
    is no mechanism). A proof within the wanted gap of it may be short, and looks no further."""

    effort: Effort
    attained: float | None = None

    @property
    def target(self) -> float | None:
        """The bound that is good enough for a maximisation. The rest of the gap is for the rounding of the
        mechanism and the prices."""
        return None if self.attained is None else self.attained + 0.9 * self.effort.allowed


Prover = Callable[[Program, "Dual | None", Wanted], "Proof | Refusal | None"]
"""The bound that multipliers prove after repair (without multipliers: a bound on all mechanisms), or why they
prove none; None where the theory does not cover the program."""
