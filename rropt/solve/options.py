"""Options of a solve."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any

from rropt.errors import Missing, OutOfRange, UnknownName, WrongType, positive_integer, shown
from rropt.exact import coefficient
from rropt.io.arguments import checked


@checked
@dataclass(frozen=True)
class SolveOptions:
    """Options of a solve: the `[solve]` table of a problem file.

    `method` is "auto" or a method's name, `gap` the requested distance of value and bound as a share of |bound|,
    `absolute_gap` one in the objective's unit (0: none): to reach either is enough, if no more than 1 % of |bound| is
    left. `time_limit` is seconds or None, `solver` a solver that is installed and that the method takes,
    `solver_options` what it is given besides, under its own names, `threads` how many it may use (None: one for HiGHS,
    else its default), `workers` the most processes.

        >>> import rropt as rr
        >>> options = rr.SolveOptions(gap=1e-9)
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["no", "yes"], options=options)
        >>> problem.solve().gap <= 1e-9
        True
    """

    method: str = "auto"
    _: KW_ONLY
    gap: Fraction | float = Fraction(1, 10**6)
    absolute_gap: Fraction | float = Fraction(0)
    time_limit: Fraction | float | None = None
    solver: str | None = None
    workers: int = 2
    solver_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("gap", "absolute_gap"):
            number = coefficient(getattr(self, name), name)
            if number < 0:
                raise OutOfRange(f"it is {float(number)}, negative", name, "try 1e-6")
            object.__setattr__(self, name, number)
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", coefficient(self.time_limit, "time_limit"))
            if self.time_limit <= 0:
                raise OutOfRange(f"it is {float(self.time_limit)}, not above 0", "time_limit", "give seconds")
        if self.solver is not None and not (isinstance(self.solver, str) and self.solver.isprintable()):
            raise WrongType(
                f"{shown(self.solver)} is not the name of a solver", "solver", 'give text, such as "clarabel"'
            )
        if self.solver is not None:
            # cvxpy's own names are in capitals: cvxpy.CLARABEL is "CLARABEL".
            object.__setattr__(self, "solver", self.solver.lower())
        if not isinstance(self.method, str):
            raise WrongType(f"{shown(self.method)} is not the name of a method", "method", "use auto")
        if self.method != "auto":
            self._check_method()
        counts = {"workers": self.workers} | ({} if self.threads is None else {"threads": self.threads})
        for name, count in counts.items():
            positive_integer(count, name)
        given = self.solver_options
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise WrongType(f"{shown(given)} is not a table of options", "solver_options", 'as {"eps_abs": 1e-10}')
        if given and self.solver is None:
            raise Missing("they are given without a solver", "solver_options", 'name it, as solver="scs"')
        object.__setattr__(self, "solver_options", dict(given))

    def _check_method(self) -> None:
        """The name of a method, for which all methods are loaded. Raises InputError."""
        from rropt.solve.registry import method_names

        names = method_names()
        if self.method not in names:
            raise UnknownName(
                f"{shown(self.method)} is not a method", "method", f"use auto or one of: {', '.join(names)}"
            )
