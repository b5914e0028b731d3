"""Methods: ways to solve a program, one file per method, one interface."""

from collections.abc import Sequence
from dataclasses import replace

from rropt.errors import NoMethod, UnknownName, shown
from rropt.io.plugins import plugin, plugin_words
from rropt.program.programs import Program
from rropt.solve.convex_minimum.method import ConvexMinimumMethod
from rropt.solve.designs.designs import mixed_design
from rropt.solve.engine.method import AUTO, Answer, Dual, MatrixDraft, Method, SolveLimits, SolverClaim, particulars
from rropt.solve.entropy.conic import ConicMethod
from rropt.solve.linear.linear import LinearMethod
from rropt.solve.maximin.maximin import MaximinMethod
from rropt.solve.permutations.mixtures import MixturesMethod
from rropt.solve.relaxations.approximate_ldp import ApproximateLdpMethod
from rropt.solve.relaxations.branch import BranchMethod
from rropt.solve.relaxations.column_limits import ColumnLimitsMethod
from rropt.solve.relaxations.columns import ColumnsMethod
from rropt.solve.relaxations.entropy_floor import EntropyFloorMethod
from rropt.solve.relaxations.fallback import FallbackMethod
from rropt.solve.relaxations.identity import IdentityMethod
from rropt.solve.relaxations.merge_outputs import MergeOutputsMethod
from rropt.solve.relaxations.outer_approximation import CapacityMethod, OuterApproximationMethod
from rropt.solve.relaxations.vertices import VerticesMethod
from rropt.solve.relaxed_bound import relaxed_bound
from rropt.solve.risk.risk import RiskMethod
from rropt.solve.robust_exact.confidence_cuts import RobustExactMethod

__all__ = ["METHODS", "Answer", "Dual", "MatrixDraft", "Method", "SolveLimits", "SolverClaim", "choose"]

METHODS: tuple[Method, ...] = (
    LinearMethod(),
    ConvexMinimumMethod(),
    IdentityMethod(),
    BranchMethod(lambda program: choose(program, "auto", None)[0]),
    VerticesMethod(),
    ColumnsMethod(),
    RobustExactMethod(lambda program: choose(program, "auto", None)[0], mixed_design),
    MixturesMethod(),
    RiskMethod(),
    ConicMethod(),
    EntropyFloorMethod(),
    ApproximateLdpMethod(),
    MergeOutputsMethod(lambda program: choose(program, "auto", None)[0]),
    MaximinMethod(lambda program: choose(program, "auto", None)[0]),
    ColumnLimitsMethod(lambda program: choose(program, "auto", None)[0], relaxed_bound),
    OuterApproximationMethod(lambda program: choose(program, "auto", None)[0], relaxed_bound),
    CapacityMethod(lambda program: choose(program, "auto", None)[0]),
    FallbackMethod(lambda program: _first(program, None, METHODS[:-1])[0], relaxed_bound),
)
"""The built-in methods, in the order in which `auto` tries them."""


def method_named(name: str) -> Method:
    """The built-in method of that name; theories hand parts of a problem to each other by it."""
    return next(known for known in METHODS if known.name == name)


def method_names() -> list[str]:
    """The built-in methods in their order, then those of entry points."""
    return [*(known.name for known in METHODS), *plugin_words("methods")]


def known_method(name: str) -> Method | None:
    """The method of that name: built in, or of an entry point; None where there is none. Raises InputError."""
    own = next((known for known in METHODS if known.name == name), None)
    if own is None and (made := plugin("methods", name, Method)) is not None:
        own = made()
    return own


def choose(program: Program, method: str | Method, solver: str | None) -> tuple[Method, str]:
    """(the method to take, why). `method` is "auto", a name (built in, or of an entry point), or a Method.

    Raises NoMethod with the reasons where the method, or every method, refuses; InputError for an unknown name.
    """
    if isinstance(method, str) and method == "auto":
        return _first(program, solver, METHODS)
    chosen = known_method(method) if isinstance(method, str) else method
    if not isinstance(chosen, Method):
        names = ", ".join(method_names())
        raise UnknownName(f"{shown(method)} is not a method", "method", f"use auto or one of: {names}")
    if (refused := chosen.refusal(program, solver)) is not None:
        raise NoMethod(refused[1].why, f"method {chosen.name}", refused[1].instead)
    return chosen, "asked for"


def _first(program: Program, solver: str | None, methods: Sequence[Method]) -> tuple[Method, str]:
    """The first method that takes a program; else NoMethod with the turned sense, or the sentences of the nearest."""
    found = []
    for method in methods:
        refused = method.refusal(program, solver)
        if refused is not None:
            found.append(refused)
        elif not method.waits(program):
            return method, method.because
    if solver is not None:
        # The method that takes it without this solver says why it does not with it.
        method, _ = _first(program, None, methods)
        own = method.refusal(program, solver)
        assert own is not None
        raise NoMethod(f"no method takes this problem with {solver}: {own[1].why}", "method auto", own[1].instead)
    turned = replace(program, sense="minimize" if program.sense == "maximize" else "maximize")
    if any(method.refusal(turned, solver) is None for method in methods):
        verb = turned.sense.replace("ize", "ise")
        raise NoMethod(f"no method takes this problem: this objective can be {verb}d only", "method auto", f"{verb} it")
    least = min(distance for distance, _ in found)
    nearest = [refusal for distance, refusal in found if distance == least]
    remedies = [refusal.instead for refusal in nearest if refusal.instead not in ("", AUTO)]
    parts = [name for part, name in particulars(program) if part is not program.utility]
    alone = [f"leave out {' or '.join(parts)}"] if parts else []
    remedies.append(", or ".join(alone + ["change the objective"] * bool(least % 2 or not parts)))
    why = "; ".join(dict.fromkeys(refusal.why for refusal in nearest))
    raise NoMethod(f"no method takes this problem: {why}", "method auto", remedies[0])
