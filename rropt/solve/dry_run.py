"""A dry run: which methods take a program, why the others do not, what would be proved, and how large it is."""

from dataclasses import dataclass
from typing import Literal

from rropt.errors import NoMethod, counted
from rropt.program.cones import CompleteCone, FreeCone, GraphCone, base_cone, cone_rows
from rropt.program.extras import OffDiagonalForm
from rropt.program.programs import ColumnSum, Program
from rropt.solve.entropy.conic import ConicMethod
from rropt.solve.linear.linear import LinearMethod
from rropt.solve.maximin.maximin import MaximinMethod
from rropt.solve.registry import METHODS, choose
from rropt.solve.relaxations.approximate_ldp import ApproximateLdpMethod
from rropt.solve.relaxations.branch import BranchMethod
from rropt.solve.relaxations.entropy_floor import EntropyFloorMethod
from rropt.solve.relaxations.fallback import FallbackMethod
from rropt.solve.relaxations.vertices import VerticesMethod
from rropt.solve.risk.risk import RiskMethod

BY_RELAXATION = (EntropyFloorMethod.name, ApproximateLdpMethod.name, MaximinMethod.name, FallbackMethod.name)
"""Methods whose bound is that of a relaxation, or that the certificate format cannot state."""
ENTRYWISE = (LinearMethod.name, ConicMethod.name)
SAID = {"optimum": "may prove the optimum", "bound": "proves a bound", "": ""}


@dataclass(frozen=True)
class DryRun:
    """A method and a problem. Where it `takes` it, `why` says when it is the right one, `proves` what its proofs are of
    ("optimum": of bounds that the optimum can reach; "bound": of bounds that it need not reach), which does not
    guarantee that they are found: only a solve shows that. `size` is what is solved; else `why` is the refusal,
    `instead` its remedy, the rest is empty. `chosen`: `auto` takes it."""

    method: str
    takes: bool
    why: str
    instead: str = ""
    proves: Literal["optimum", "bound", ""] = ""
    size: str = ""
    chosen: bool = False

    def __str__(self) -> str:
        if not self.takes:
            return f"{self.method}: no; {self.why}" + (f"; {self.instead}" if self.instead else "")
        return f"{self.method}: yes{' (auto)' if self.chosen else ''}, {SAID[self.proves]}, {self.size}; {self.why}"


def considered(program: Program, solver: str | None) -> tuple[DryRun, ...]:
    """Every built-in method, in the order in which `auto` tries them, with this solver (None: the method's own)."""
    try:
        best = choose(program, "auto", solver)[0].name
    except NoMethod:
        best = ""
    return tuple(_one(program, method.name, solver, best) for method in METHODS)


def _one(program: Program, name: str, solver: str | None, best: str) -> DryRun:
    try:
        method = choose(program, name, solver)[0]
    except NoMethod as refusal:
        return DryRun(name, False, refusal.what, refusal.remedy)
    return DryRun(name, True, method.because, "", proved(program, name), size(program, name), name == best)


def proved(program: Program, method: str) -> Literal["optimum", "bound"]:
    """Whether a method that takes a program proves its optimum, or only a bound."""
    stated = program.utility.payload() is not None and method not in BY_RELAXATION
    # Without a cone identification risk is branched on for linear objectives only.
    free = isinstance(program.cone, FreeCone)
    loose = method == RiskMethod.name and free and isinstance(program.utility, ColumnSum)
    return "optimum" if stated and not loose else "bound"


def size(program: Program, method: str) -> str:
    """The programme that a method solves, in words."""
    program = program.linearised() if method in ENTRYWISE else program
    k, m = program.size, len(program.outputs or ())
    base, more = base_cone(program.cone), len(cone_rows(program.cone))
    if program.extra(OffDiagonalForm) is not None:
        return f"{k} numbers off the diagonal"
    if method in ENTRYWISE:
        complete, edges = isinstance(base, CompleteCone), len(base.edges) if isinstance(base, GraphCone) else 0
        rows = k + len(program.rows) + (more + edges + 2 * k * complete) * m
        return f"{counted(k * m + m * complete, 'variables')}, {counted(rows, 'rows')}"
    if method == VerticesMethod.name:
        listed = f"{2**k - 2} extreme rays" if isinstance(program.cone, CompleteCone) else "all extreme rays"
        each = f" for each of {counted(m, 'outputs')}" if m else ""
        return f"{listed}{each}, {counted(k + len(program.rows), 'rows')}"
    if m or method == BranchMethod.name:
        return f"a matrix of {k:,} x {m:,}, {counted(k + len(program.rows), 'rows')}"
    return f"columns of {counted(k, 'entries')}, generated, {counted(k, 'rows')}"
