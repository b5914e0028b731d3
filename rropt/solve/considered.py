"""A dry run: which routes take a program, why the others do not, what would be proved, and how large it is."""

from dataclasses import dataclass
from typing import Literal

from rropt.errors import NoRoute, counted
from rropt.program.cones import CompleteCone, FreeCone, GraphCone, base_cone, cone_rows
from rropt.program.extras import OffDiagonalForm
from rropt.program.programs import ColumnSum, Program
from rropt.solve.compose.branch import BranchRoute
from rropt.solve.compose.events import EventsRoute
from rropt.solve.compose.general import GeneralRoute
from rropt.solve.compose.relaxed import RelaxedRoute
from rropt.solve.compose.vertices import VerticesRoute
from rropt.solve.entropy.conic import ConicRoute
from rropt.solve.linear.linear import LinearRoute
from rropt.solve.maximin.maximin import MaximinRoute
from rropt.solve.registry import ROUTES, choose
from rropt.solve.risk.risk import RiskRoute

BY_RELAXATION = (RelaxedRoute.name, EventsRoute.name, MaximinRoute.name, GeneralRoute.name)
"""Routes whose bound is that of a relaxation, or that the certificate format cannot state."""
ENTRYWISE = (LinearRoute.name, ConicRoute.name)
SAID = {"optimum": "may prove the optimum", "bound": "proves a bound", "": ""}


@dataclass(frozen=True)
class Considered:
    """A route and a problem. Where it `takes` it, `why` says when it is the right one, `proves` what its proofs are of
    ("optimum": of bounds that the optimum can reach; "bound": of bounds that it need not reach), which does not
    guarantee that they are found: only a solve shows that. `size` is what is solved; else `why` is the refusal,
    `instead` its remedy, the rest is empty. `chosen`: `auto` takes it."""

    route: str
    takes: bool
    why: str
    instead: str = ""
    proves: Literal["optimum", "bound", ""] = ""
    size: str = ""
    chosen: bool = False

    def __str__(self) -> str:
        if not self.takes:
            return f"{self.route}: no; {self.why}" + (f"; {self.instead}" if self.instead else "")
        return f"{self.route}: yes{' (auto)' if self.chosen else ''}, {SAID[self.proves]}, {self.size}; {self.why}"


def considered(program: Program, solver: str | None) -> tuple[Considered, ...]:
    """Every built-in route, in the order in which `auto` tries them, with this solver (None: the route's own)."""
    try:
        best = choose(program, "auto", solver)[0].name
    except NoRoute:
        best = ""
    return tuple(_one(program, route.name, solver, best) for route in ROUTES)


def _one(program: Program, name: str, solver: str | None, best: str) -> Considered:
    try:
        route = choose(program, name, solver)[0]
    except NoRoute as refusal:
        return Considered(name, False, refusal.what, refusal.remedy)
    return Considered(name, True, route.because, "", proved(program, name), size(program, name), name == best)


def proved(program: Program, route: str) -> Literal["optimum", "bound"]:
    """What the proofs of a route that takes a program are of."""
    stated = program.utility.payload() is not None and route not in BY_RELAXATION
    # Without a cone identification risk is branched on for linear objectives only.
    free = isinstance(program.cone, FreeCone)
    loose = route == RiskRoute.name and free and isinstance(program.utility, ColumnSum)
    return "optimum" if stated and not loose else "bound"


def size(program: Program, route: str) -> str:
    """The programme that a route solves, in words."""
    program = program.linearised() if route in ENTRYWISE else program
    k, m = program.size, len(program.outputs or ())
    base, more = base_cone(program.cone), len(cone_rows(program.cone))
    if program.extra(OffDiagonalForm) is not None:
        return f"{k} numbers off the diagonal"
    if route in ENTRYWISE:
        complete, edges = isinstance(base, CompleteCone), len(base.edges) if isinstance(base, GraphCone) else 0
        rows = k + len(program.rows) + (more + edges + 2 * k * complete) * m
        return f"{counted(k * m + m * complete, 'variables')}, {counted(rows, 'rows')}"
    if route == VerticesRoute.name:
        listed = f"{2**k - 2} extreme rays" if isinstance(program.cone, CompleteCone) else "all extreme rays"
        each = f" for each of {counted(m, 'outputs')}" if m else ""
        return f"{listed}{each}, {counted(k + len(program.rows), 'rows')}"
    if m or route == BranchRoute.name:
        return f"a matrix of {k:,} x {m:,}, {counted(k + len(program.rows), 'rows')}"
    return f"columns of {counted(k, 'entries')}, generated, {counted(k, 'rows')}"
