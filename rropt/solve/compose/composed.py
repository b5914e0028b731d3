"""What routes share that hand relaxations of their problem to other routes."""

import time
from collections.abc import Callable
from fractions import Fraction

from rropt.program.programs import Program
from rropt.solve.kernel.route import Effort, Route


class ComposedRoute(Route):
    """A route over others: `choose` gives the route for a program, `relaxed_bound` a bound known without any."""

    def __init__(
        self,
        choose: Callable[[Program], Route],
        relaxed_bound: Callable[[Program], tuple[Fraction, str] | None],
    ) -> None:
        self._choose, self._relaxed_bound = choose, relaxed_bound


def left_from_now(effort: Effort, longest: float) -> Callable[[float], float]:
    """The seconds left of a share of the time limit, or of `longest` without one, counted from now; none when work
    should stop."""
    begun, limit = time.monotonic(), longest if effort.time_limit is None else effort.time_limit
    return lambda share: 0.0 if effort.stopped() else begun + share * limit - time.monotonic()
