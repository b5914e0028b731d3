"""Shared code of the methods that pass relaxations of their problem to other methods."""

import time
from collections.abc import Callable
from fractions import Fraction

from rropt.program.programs import Program
from rropt.solve.engine.method import Method, SolveLimits

LONGEST = 20.0
"""Seconds of all relaxations, and of all local searches, where there is no time limit."""
ROUNDS = 100
"""Rounds at most, each a programme with what the one before violates."""
BOUNDING, SEARCHING = 0.45, 0.85
"""The shares of a time limit after which relaxations, and then local searches, end."""
TOLERANCES = 1e-11, 1e-8
"""Tolerances of the conic solver, the second where it has no answer to the first."""
SHORTEST = 0.1
"""Seconds that a round has at least."""


class ComposedMethod(Method):
    """A method over others: `choose` gives the method for a program, `relaxed_bound` a bound known without any."""

    def __init__(
        self,
        choose: Callable[[Program], Method],
        relaxed_bound: Callable[[Program], tuple[Fraction, str] | None],
    ) -> None:
        self._choose, self._relaxed_bound = choose, relaxed_bound


def left_from_now(effort: SolveLimits, longest: float) -> Callable[[float], float]:
    """The seconds left of a share of the time limit, or of `longest` without one, counted from now; none when work
    should stop."""
    begun, limit = time.monotonic(), longest if effort.time_limit is None else effort.time_limit
    return lambda share: 0.0 if effort.stopped() else begun + share * limit - time.monotonic()
