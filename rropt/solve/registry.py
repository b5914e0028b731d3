"""Methods and provers: all of them in the order in which they are tried, the choice of one, and why the others refuse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from rropt.errors import NoMethod, Refusal, UnknownName, counted, shown
from rropt.io.plugins import plugin, plugin_words
from rropt.program.cones import CompleteCone, FreeCone, GraphCone, base_cone, cone_rows
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import DivergenceLimits, Limits, PosteriorRisk
from rropt.program.programs import ColumnSum, Information, Program
from rropt.prove.certificates import Proof
from rropt.prove.steps import Drop, Step, relax
from rropt.solve.columns import boxes, rays
from rropt.solve.convex_minimum.method import ConvexMinimumMethod
from rropt.solve.designs import proof as designs
from rropt.solve.designs.designs import mixed_design
from rropt.solve.engine.method import (
    AUTO,
    Answer,
    Dual,
    MatrixDraft,
    Method,
    ProofGoal,
    Prover,
    SolveLimits,
    SolverClaim,
    particulars,
)
from rropt.solve.entropy import entropy_dual
from rropt.solve.entropy.conic import ConicMethod
from rropt.solve.entropy.gibbs import EntropyMultipliers
from rropt.solve.ldp import column_dual
from rropt.solve.linear import linear_dual
from rropt.solve.linear.linear import LinearMethod
from rropt.solve.matrix import cell_proof as cells, design_proof as risks, proof as matrix
from rropt.solve.maximin import MaximinMethod
from rropt.solve.metric import proof as metric
from rropt.solve.offdiagonal import proof as offdiagonal
from rropt.solve.permutations import MixturesMethod
from rropt.solve.relaxations.approximate_ldp import ApproximateLdpMethod
from rropt.solve.relaxations.branch import BranchMethod
from rropt.solve.relaxations.column_limits import ColumnLimitsMethod
from rropt.solve.relaxations.entropy_floor import EntropyFloorMethod
from rropt.solve.relaxations.fallback import FallbackMethod
from rropt.solve.relaxations.merge_outputs import IdentityMethod, MergeOutputsMethod
from rropt.solve.relaxations.outer_approximation import CapacityMethod, OuterApproximationMethod
from rropt.solve.relaxations.vertices import ColumnsMethod, VerticesMethod
from rropt.solve.relaxed_bound import relaxed_bound
from rropt.solve.risk import proof as risk
from rropt.solve.risk.risk import RiskMethod
from rropt.solve.robust import block_knapsack_proof as robust
from rropt.solve.robust_exact import cuts_proof as robust_exact
from rropt.solve.robust_exact.confidence_cuts import RobustExactMethod

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


PROVERS: tuple[Prover, ...] = (
    entropy_dual.prove,
    risk.prove,
    offdiagonal.prove,
    partial(cells.prove, whole=column_dual.tree_at),
    risks.prove,
    matrix.prove,
    column_dual.prove,
    robust.prove,
    robust_exact.prove,
    metric.prove,
    rays.prove,
    boxes.prove,
    designs.prove,
    linear_dual.prove,
)
"""The first that covers a program proves its bound. Those that cover less come first."""
UNDER_RISK: tuple[Prover, ...] = (entropy_dual.prove, risk.prove, linear_dual.prove)
"""Those that apply where identification risk is bounded: the others prove bounds of all matrices."""


def prove(
    program: Program, dual: Dual | None, effort: SolveLimits, attained: float | None, steps: tuple[Step, ...] = ()
) -> Proof | Refusal:
    """The bound that `dual` proves after repair, of the program after `steps`, or why no proof kind covers that.
    `attained` is the mechanism's value in the utility's unit, None where there is no mechanism."""
    found = _prove_last(relax(program, steps), dual, effort, attained)
    return of_steps(found, steps) if isinstance(found, Proof) else found


STATED = {"cone_rows", "rows", "entropy", "limits", "outputs"}
"""Parts of a problem that lines state: no step needs to leave them out."""


def of_steps(proof: Proof, steps: tuple[Step, ...]) -> Proof:
    """The proof of the problem after the steps as one of the first problem."""
    left = [isinstance(step, Drop) and STATED.issuperset(step.parts) for step in steps]
    return replace(proof, steps=() if proof.payload["kind"] == "lines" and all(left) else steps)


def _prove_last(program: Program, dual: Dual | None, effort: SolveLimits, attained: float | None) -> Proof | Refusal:
    if isinstance(program.utility, ColumnSum) and program.sense == "minimize":
        return Refusal("no proof kind covers the minimum of a convex objective")
    if program.extra(Limits) is not None:
        return Refusal("no proof kind covers limits on mutual information")
    if program.extra(DivergenceLimits) is not None:
        return Refusal("no proof kind covers limits on divergences or on the capacity")
    if isinstance(program.cone, ConfidenceCone) and not (
        isinstance(program.utility, Information) and program.utility.plain
    ):
        return Refusal(
            "the certificate format states an exact cone of robust LDP only together with mutual information"
        )
    wanted = ProofGoal(effort, attained)
    for prover in PROVERS if program.extra(PosteriorRisk) is None else UNDER_RISK:
        proof = prover(program, dual, wanted)
        if proof is not None:
            return proof
    if program.extra(PosteriorRisk) is not None:
        return Refusal("no proof kind covers mutual information over all matrices under a bound on risk")
    return Refusal("the certificate format cannot state this objective")


def prove_infeasible(program: Program, dual: Dual, steps: tuple[Step, ...] = ()) -> Proof | None:
    """The `farkas` proof that no mechanism of the program after `steps` exists, or the `entropy-farkas` one where
    `dual` has a multiplier of the floor; None where the multipliers do not survive their repair."""
    last, floor = relax(program, steps), dual.evidence_of(EntropyMultipliers)
    if last.extra(Limits) is not None:
        return None
    if floor is None or floor.floor is None:
        found = linear_dual.prove_infeasible(last, dual)
    else:
        found = entropy_dual.prove_too_little_entropy(last, dual)
    return None if found is None else replace(found, steps=steps)
