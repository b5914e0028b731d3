"""What routes share that hand relaxations of their problem to other routes."""

from collections.abc import Callable
from fractions import Fraction

from rropt.program.programs import Program
from rropt.solve.kernel.route import Route


class ComposedRoute(Route):
    """A route over others: `choose` gives the route for a program, `relaxed_bound` a bound known without any."""

    def __init__(
        self,
        choose: Callable[[Program], Route],
        relaxed_bound: Callable[[Program], tuple[Fraction, str] | None],
    ) -> None:
        self._choose, self._relaxed_bound = choose, relaxed_bound
