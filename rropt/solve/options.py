"""How a problem is to be solved."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction

from rropt.errors import InputError, shown
from rropt.exact import coefficient


@dataclass(frozen=True)
class SolveOptions:
    """How to solve: the `[solve]` table of a problem file.

    `route` is "auto" or a route's name, `gap` the wanted distance of value and bound as a share of |bound|,
    `absolute_gap` one in the objective's unit (0: none): to reach either is enough. `time_limit` is seconds or None,
    `solver` a solver of the route, `workers` the most processes.
    """

    route: str = "auto"
    _: KW_ONLY
    gap: Fraction | float = Fraction(1, 10**6)
    absolute_gap: Fraction | float = Fraction(0)
    time_limit: Fraction | float | None = None
    solver: str | None = None
    workers: int = 2

    def __post_init__(self) -> None:
        for name in ("gap", "absolute_gap"):
            number = coefficient(getattr(self, name), name)
            if number < 0:
                raise InputError(f"it is {float(number)}, negative", name, "try 1e-6")
            object.__setattr__(self, name, number)
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", coefficient(self.time_limit, "time_limit"))
            if self.time_limit <= 0:
                raise InputError(f"it is {float(self.time_limit)}, not above 0", "time_limit", "give seconds")
        if self.solver is not None and not (isinstance(self.solver, str) and self.solver.isprintable()):
            raise InputError(
                f"{shown(self.solver)} is not the name of a solver", "solver", 'give text, such as "clarabel"'
            )
        if self.route != "auto":
            self._check_route()
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or self.workers < 1:
            raise InputError(f"it is {shown(self.workers)}, which is not a positive integer", "workers", "try 2")

    def _check_route(self) -> None:
        """The name of a route, for which all routes are loaded. Raises InputError."""
        from rropt.solve.registry import ROUTES

        names = [known.name for known in ROUTES]
        if self.route not in names:
            raise InputError(f"{shown(self.route)} is not a route", "route", f"use auto or one of: {', '.join(names)}")
