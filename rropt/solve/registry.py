"""Routes: ways to solve a program, one file each behind one interface."""

from collections.abc import Sequence
from dataclasses import replace

from rropt.errors import InputError, NoRoute, shown
from rropt.program.programs import Program
from rropt.solve.compose.actions import ActionsRoute
from rropt.solve.compose.branch import BranchRoute
from rropt.solve.compose.columns import ColumnsRoute
from rropt.solve.compose.events import EventsRoute
from rropt.solve.compose.general import GeneralRoute
from rropt.solve.compose.lifted import LiftedRoute
from rropt.solve.compose.outer import CapacityRoute, OuterRoute
from rropt.solve.compose.relaxed import RelaxedRoute
from rropt.solve.compose.truth import TruthRoute
from rropt.solve.compose.vertices import VerticesRoute
from rropt.solve.designs.designs import mixed_design
from rropt.solve.entropy.conic import ConicRoute
from rropt.solve.kernel.route import AUTO, Answer, Dual, Effort, MatrixDraft, Route, SolverClaim, particulars
from rropt.solve.linear.linear import LinearRoute
from rropt.solve.maximin.maximin import MaximinRoute
from rropt.solve.permutations.mixtures import MixturesRoute
from rropt.solve.relaxed_bound import relaxed_bound
from rropt.solve.risk.risk import RiskRoute
from rropt.solve.robust_exact.confidence_cuts import CutsRoute
from rropt.solve.tangent.route import TangentRoute

__all__ = ["ROUTES", "Answer", "Dual", "Effort", "MatrixDraft", "Route", "SolverClaim", "choose"]

ROUTES: tuple[Route, ...] = (
    LinearRoute(),
    TangentRoute(),
    TruthRoute(),
    BranchRoute(lambda program: choose(program, "auto", None)[0]),
    VerticesRoute(),
    ColumnsRoute(),
    CutsRoute(lambda program: choose(program, "auto", None)[0], mixed_design),
    MixturesRoute(),
    RiskRoute(),
    ConicRoute(),
    RelaxedRoute(),
    EventsRoute(),
    ActionsRoute(lambda program: choose(program, "auto", None)[0]),
    MaximinRoute(lambda program: choose(program, "auto", None)[0]),
    LiftedRoute(lambda program: choose(program, "auto", None)[0], relaxed_bound),
    OuterRoute(lambda program: choose(program, "auto", None)[0], relaxed_bound),
    CapacityRoute(lambda program: choose(program, "auto", None)[0]),
    GeneralRoute(lambda program: _first(program, None, ROUTES[:-1])[0], relaxed_bound),
)
"""The built-in routes, in the order in which `auto` tries them."""


def route_named(name: str) -> Route:
    """The built-in route of that name; theories hand parts of a problem to each other by it."""
    return next(known for known in ROUTES if known.name == name)


def choose(program: Program, route: str | Route, solver: str | None) -> tuple[Route, str]:
    """(the route to take, why). `route` is "auto", a name, or a Route of the user's own.

    Raises NoRoute with the reasons where the route, or every route, refuses; InputError for an unknown name.
    """
    by_name = {known.name: known for known in ROUTES}
    if isinstance(route, str) and route == "auto":
        return _first(program, solver, ROUTES)
    chosen = by_name.get(route) if isinstance(route, str) else route
    if not isinstance(chosen, Route):
        raise InputError(f"{shown(route)} is not a route", "route", f"use auto or one of: {', '.join(by_name)}")
    if (refused := chosen.refusal(program, solver)) is not None:
        raise NoRoute(refused[1].why, f"route {chosen.name}", refused[1].instead)
    return chosen, "asked for"


def _first(program: Program, solver: str | None, routes: Sequence[Route]) -> tuple[Route, str]:
    """The first route that takes a program; else NoRoute with the turned sense, or the sentences of the nearest."""
    found = []
    for route in routes:
        refused = route.refusal(program, solver)
        if refused is not None:
            found.append(refused)
        elif not route.waits(program):
            return route, route.because
    if solver is not None:
        # The route that takes it without this solver says why it does not with it.
        route, _ = _first(program, None, routes)
        own = route.refusal(program, solver)
        assert own is not None
        raise NoRoute(f"no route takes this problem with {solver}: {own[1].why}", "route auto", own[1].instead)
    turned = replace(program, sense="minimize" if program.sense == "maximize" else "maximize")
    if any(route.refusal(turned, solver) is None for route in routes):
        verb = turned.sense.replace("ize", "ise")
        raise NoRoute(f"no route takes this problem: this objective can be {verb}d only", "route auto", f"{verb} it")
    least = min(distance for distance, _ in found)
    nearest = [refusal for distance, refusal in found if distance == least]
    remedies = [refusal.instead for refusal in nearest if refusal.instead not in ("", AUTO)]
    parts = [name for part, name in particulars(program) if part is not program.utility]
    alone = [f"leave out {' or '.join(parts)}"] if parts else []
    remedies.append(", or ".join(alone + ["change the objective"] * bool(least % 2 or not parts)))
    why = "; ".join(dict.fromkeys(refusal.why for refusal in nearest))
    raise NoRoute(f"no route takes this problem: {why}", "route auto", remedies[0])
