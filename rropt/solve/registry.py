"""Routes: ways to solve a program, one file each behind one interface."""

from __future__ import annotations

from rropt.errors import InputError, NoRoute, Refusal
from rropt.program.block_cones import RobustCone
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.entropy_floors import has_entropy
from rropt.program.events import ApproximateBound
from rropt.program.identification_bound import PosteriorRisk
from rropt.program.permutation_mixtures import Mixture
from rropt.program.programs import Linear, Program, RowEntropy
from rropt.program.worst_case import LeastInformation
from rropt.solve.compose.branch import BranchRoute
from rropt.solve.compose.columns import ColumnsRoute
from rropt.solve.compose.relaxed import RelaxedRoute
from rropt.solve.compose.vertices import VerticesRoute
from rropt.solve.entropy.conic import ConicRoute
from rropt.solve.events.events import EventsRoute
from rropt.solve.kernel.route import Answer, Dual, Effort, MatrixDraft, Route, SolverClaim
from rropt.solve.linear.linear import LinearRoute
from rropt.solve.maximin.maximin import MaximinRoute
from rropt.solve.permutations.mixtures import MixturesRoute
from rropt.solve.risk.risk import RiskRoute
from rropt.solve.robust_exact.confidence_cuts import CutsRoute

__all__ = ["ROUTES", "Answer", "Dual", "Effort", "MatrixDraft", "Route", "SolverClaim", "choose"]

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
"""The built-in routes, in the order in which `auto` tries them."""
ONLY = {Mixture: MixturesRoute.name, PosteriorRisk: RiskRoute.name}
"""The one route that knows an extra: its refusal is the reason."""


def route_named(name: str) -> Route:
    """The built-in route of that name; theories hand parts of a problem to each other by it."""
    return next(known for known in ROUTES if known.name == name)


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
        raise InputError(f"{route!r} is not a route", "route", f"use auto or one of: {', '.join(by_name)}")
    if route != "auto":
        if route not in by_name:
            raise InputError(f"{route!r} is not a route", "route", f"use auto or one of: {', '.join(by_name)}")
        return choose(program, by_name[route], solver)
    reasons: list[str] = []
    remedies: list[str] = []
    only = next((name for kind, name in ONLY.items() if program.extra(kind) is not None), "")
    only = _of_events(program) if program.extra(ApproximateBound) is not None else only
    only = MaximinRoute.name if isinstance(program.utility, LeastInformation) else only
    for candidate in ROUTES if not only else (by_name[only],):
        refusal = _refusal(candidate, program, solver)
        if refusal is None:
            return candidate, candidate.because
        reasons.append(refusal.why)
        if refusal.instead != "use route auto":
            remedies.append(refusal.instead)
    # Every route refuses: the reasons, each once, and the first remedy; for an unknown solver, the names of
    # the known ones (most routes have one only, and say to leave it out).
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
    if program.extra(Mixture) is not None and not isinstance(route, MixturesRoute):
        return Refusal(f"{route.name} does not take weights of permutations", "use route auto")
    if program.extra(PosteriorRisk) is not None and not isinstance(route, RiskRoute):
        return Refusal(f"{route.name} does not take identification risk", "use route auto")
    if program.extra(ApproximateBound) is not None and not isinstance(route, (LinearRoute, EventsRoute)):
        return Refusal(f"{route.name} does not take events", "use route auto")
    if has_entropy(program) and not route.concave:
        return Refusal(f"{route.name} does not take entropy", "use route conic")
    if isinstance(program.cone, ConfidenceCone) and route in ROUTES and not isinstance(route, CutsRoute):
        return Refusal(f"{route.name} does not take the exact cone of a confidence set", "use route auto")
    if isinstance(program.cone, ConfidenceCone) and not isinstance(route, CutsRoute):
        return Refusal(f"{route.name} does not take the exact cone of a confidence set", "use route auto")
    if isinstance(program.cone, RobustCone) and route in ROUTES and not isinstance(route, ColumnsRoute):
        return Refusal(f"{route.name} does not take blocks of inputs", "use route columns")
    return route.refuse(program, solver)
