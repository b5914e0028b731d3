"""Routes: ways to solve a program, one file each behind one interface."""

from __future__ import annotations

from rropt.block_cones import RobustCone
from rropt.confidence_cone import ConfidenceCone
from rropt.errors import InputError, NoRoute, Refusal
from rropt.least_information import LeastInformation
from rropt.programs import Linear, Program, RowEntropy
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.branch import BranchRoute
from rropt.routes.columns import ColumnsRoute
from rropt.routes.conic import ConicRoute
from rropt.routes.cuts import CutsRoute
from rropt.routes.events import EventsRoute
from rropt.routes.linear import LinearRoute
from rropt.routes.maximin import MaximinRoute
from rropt.routes.mixtures import MixturesRoute
from rropt.routes.relaxed import RelaxedRoute
from rropt.routes.risk import RiskRoute
from rropt.routes.vertices import VerticesRoute

__all__ = ["ROUTES", "Answer", "Dual", "Effort", "Route", "SolverClaim", "choose"]

ROUTES: tuple[Route, ...] = (
    LinearRoute(),
    BranchRoute(),
    VerticesRoute(),
    ColumnsRoute(),
    CutsRoute(),
    MixturesRoute(),
    RiskRoute(),
    ConicRoute(),
    RelaxedRoute(),
    EventsRoute(),
    MaximinRoute(lambda program: choose(program, "auto", None)[0]),
)
"""The built-in routes, in the order in which `auto` asks them."""


def choose(program: Program, route: str | Route, solver: str | None) -> tuple[Route, str]:
    """(the route to take, why). `route` is "auto", a name, or a Route of the user's own.

    Raises NoRoute with the reasons where the route, or every route, refuses; InputError for an unknown name.
    """
    if isinstance(route, Route):
        refusal = _refusal(route, program, solver)
        if refusal is not None:
            raise NoRoute(refusal.why, f"route {route.name}", refusal.instead)
        return route, "asked for"
    by_name = {known.name: known for known in ROUTES}
    if not isinstance(route, str):
        raise InputError(f"{route!r} is no route", "route", f"use auto or one of: {', '.join(by_name)}")
    if route != "auto":
        if route not in by_name:
            raise InputError(f"{route!r} is no route", "route", f"use auto or one of: {', '.join(by_name)}")
        return choose(program, by_name[route], solver)
    reasons: list[str] = []
    remedies: list[str] = []
    # Weights of permutations, bounds on risk and worst cases are for one route only: what it says is the reason.
    only = MixturesRoute.name if program.mixture is not None else RiskRoute.name if program.risk is not None else ""
    only = _of_events(program) if program.approximate is not None else only
    only = MaximinRoute.name if isinstance(program.utility, LeastInformation) else only
    for candidate in ROUTES if not only else (by_name[only],):
        refusal = _refusal(candidate, program, solver)
        if refusal is None:
            return candidate, candidate.because
        reasons.append(refusal.why)
        if refusal.instead != "use route auto":
            remedies.append(refusal.instead)
    # Every route refuses: the reasons, each once, and the first remedy; for a solver that no route knows, the names of
    # those that one does (most have one only, and say to leave it out).
    why = ", and ".join(dict.fromkeys(reasons))
    if solver:
        remedies.sort(key=lambda text: not text.startswith("use one of"))
    raise NoRoute(
        f"no route takes this problem: {why}",
        "route auto",
        next(filter(None, remedies), ""),
    )


def _of_events(program: Program) -> str:
    """The route that may take a program with events that are not listed as rows."""
    return LinearRoute.name if isinstance(program.utility, (Linear, RowEntropy)) else EventsRoute.name


def _refusal(route: Route, program: Program, solver: str | None) -> Refusal | None:
    if isinstance(route, MaximinRoute):
        return route.refuse(program, solver)
    if program.mixture is not None and not isinstance(route, MixturesRoute):
        return Refusal(f"{route.name} knows no weights of permutations", "use route auto")
    if program.risk is not None and not isinstance(route, RiskRoute):
        return Refusal(f"{route.name} knows no identification risk", "use route auto")
    if program.approximate is not None and not isinstance(route, (LinearRoute, EventsRoute)):
        return Refusal(f"{route.name} knows no events", "use route auto")
    if program.has_entropy and not route.concave:
        return Refusal(f"{route.name} knows no entropy", "use route conic")
    if isinstance(program.cone, ConfidenceCone) and route in ROUTES and not isinstance(route, CutsRoute):
        return Refusal(f"{route.name} knows no exact cone of a confidence set", "use route auto")
    if isinstance(program.cone, ConfidenceCone) and not isinstance(route, CutsRoute):
        return Refusal(f"{route.name} knows no exact cone of a confidence set", "use route auto")
    if isinstance(program.cone, RobustCone) and route in ROUTES and not isinstance(route, ColumnsRoute):
        return Refusal(f"{route.name} knows no blocks of inputs", "use route columns")
    return route.refuse(program, solver)
