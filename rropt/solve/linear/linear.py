"""The `linear` method: HiGHS for linear utilities over polyhedral cones and rows; on graphs an interior point."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np
from scipy import sparse

from rropt.errors import Refusal
from rropt.program.cones import BlockMeans, CompleteCone, FloatArray, GraphCone, base_cone, ratio_edges
from rropt.program.events import ApproximateBound, Event
from rropt.program.programs import Linear, Program, Row
from rropt.solve.engine.lp import LpAnswer, LpModel
from rropt.solve.engine.mean_rows import MeanModel, block_means
from rropt.solve.engine.method import Answer, ColumnMultipliers, Dual, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import EntryModel, entry_model, farkas_candidate, signed_costs
from rropt.solve.linear.angular import Graph, least_cost

ROUNDS = 200
"""Rounds of new events at most."""
FEW = 1024
"""Entries up to which HiGHS solves a programme over a graph: its vertices are sparser, and it takes little longer."""
MOST = 20_000_000
"""Edges of all columns together, above which the interior point would take gigabytes."""
LEVELS = 1e-6, 100.0
"""The logs of ratios between which the interior point keeps its digits."""
LEFT = 0.25
"""The share of the requested gap that is left to the interior point: the rest is for rounding."""

F = TypeVar("F")


def shifted(model: EntryModel) -> EntryModel:
    """The entry model of a complete cone, over (D, low) with Q[x, y] = low_y + D[x, y] and D, low >= 0.

    Of the ratio rows, which come last, the first half low_y <= Q[x, y] turns into signs; D[x, y] <= (gamma - 1) low_y
    is left. The simplex method needs a fifth to a tenth of the time. Other rows keep their places and multipliers.
    """
    cells = model.size * model.width
    kept = np.ones(model.matrix.shape[0], dtype=bool)
    kept[-2 * cells : -cells] = False
    columns = model.matrix[kept].tocsc()
    spread = sparse.kron(np.ones((model.size, 1)), sparse.eye(model.width), format="csc")
    entries = columns[:, :cells]
    return replace(
        model,
        cost=np.concatenate([model.cost[:cells], spread.T @ model.cost[:cells] + model.cost[cells:]]),
        matrix=sparse.hstack([entries, columns[:, cells:] + entries @ spread], format="csr"),
        row_lower=model.row_lower[kept],
        row_upper=model.row_upper[kept],
    )


def unshifted(model: EntryModel, z: FloatArray) -> FloatArray:
    """Q (k x m) of a solution (D, low) of a shifted model."""
    return np.asarray(model.entries(z) + z[model.size * model.width :])


class LinearMethod(Method):
    """One linear programme over the entries of Q, solved by HiGHS (`solver`: "highs"), or by an interior point of its
    own where only the edges of a graph bound the columns and these have many entries."""

    name = "linear"
    because = "the objective is linear: one linear programme over the entries of Q"
    takes = (ApproximateBound,)
    goals = "takes linear objectives only"
    solvers = ("highs",)

    def takes_goal(self, program: Program) -> bool:
        return isinstance(program.linearised().utility, Linear)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        if program.extra(ApproximateBound) is not None:
            return _by_events(program, effort)
        reduced = program.linearised()
        least, centred = _centred(reduced)
        if centred is None:
            return _solve(program, effort)
        # Floats would not see the rest of the costs. The gap that is asked for is a share of what they leave.
        effort = replace(effort, absolute_gap=max(effort.absolute_gap, effort.gap * _reach(centred)), gap=0.0)
        answer = _solve(centred, effort)
        if answer.claim.objective is not None:
            whole = replace(answer.claim, objective=answer.claim.objective + float(sum(least)))
            answer = replace(answer, claim=whole)
        if answer.dual is None:
            return answer
        prices = answer.dual.prices + program.sign * np.array([float(own) for own in least])
        return replace(answer, dual=replace(answer.dual, prices=prices))


def _reach(program: Program) -> float:
    """The greatest cost of a linear programme."""
    assert isinstance(program.utility, Linear)
    return float(max(value for *_, value in program.utility.cost))


def _centred(program: Program) -> tuple[list[Fraction], Program | None]:
    """(what every input costs with any output, the programme of the rest); None where that is a small part of it."""
    utility, width = program.utility, len(program.outputs or ())
    assert isinstance(utility, Linear)
    row = Row("", "<=", Fraction(0), utility.cost)
    moved = row.centred(width)
    if moved is row:
        return [], None
    own: dict[int, list[Fraction]] = {}
    for x, _, value in utility.cost:
        own.setdefault(x, []).append(value)
    least = [min(own[x]) if len(own.get(x, ())) == width else Fraction(0) for x in range(program.size)]
    return least, replace(program, utility=Linear(moved.terms))


def _solve(program: Program, effort: SolveLimits) -> Answer:
    reduced = program.linearised()
    if (means := block_means(reduced)) is not None:
        return _by_means(reduced, means, effort)
    if effort.solver is None and (graph := own_graph(reduced)) is not None:
        return _on_graph(reduced, graph, effort)
    complete = isinstance(base_cone(reduced.cone), CompleteCone)
    model = shifted(entry_model(reduced)) if complete else entry_model(reduced)
    entries = unshifted if complete else EntryModel.entries
    found = model.programme().solve(effort.remaining(), effort.interrupted)
    claim = SolverClaim("highs", found.status, program.sign * found.objective, found.seconds)
    matrix = None if found.x is None else entries(model, found.x)
    return _answer(reduced, effort, found, claim, matrix, model.dual)


def own_graph(program: Program) -> Graph | None:
    """The graph of a program that `least_cost` solves: more than FEW entries, no rows, and edges in both directions
    whose ratios are within floats and leave room, at most MOST for all columns together."""
    cone = program.cone
    if not isinstance(cone, GraphCone) or program.rows or program.outputs is None or program.extras:
        return None
    width = len(program.outputs)
    if program.size * width <= FEW or not 0 < len(cone.edges) * width <= MOST:
        return None
    edges = ratio_edges(cone, program.size)
    pairs, logs = {(x, z) for x, z, _ in edges}, [log for *_, log in edges]
    if not all((z, x) in pairs for x, z in pairs) or len({x for x, _ in pairs}) < program.size:
        return None
    if not LEVELS[0] <= min(logs) <= max(logs) <= LEVELS[1]:
        return None
    x, z = np.array([edge[:2] for edge in edges]).T
    return Graph(program.size, x, z, np.exp(logs))


def _on_graph(program: Program, graph: Graph, effort: SolveLimits) -> Answer:
    """The least cost by an interior point: whenever it ends, it has a mechanism and flows that prove a bound."""
    begun, sign = time.monotonic(), program.sign
    gain = signed_costs(program, program.size * len(program.outputs or ())).reshape(program.size, -1)

    def watch(value: float, bound: float) -> float:
        effort.found(value)
        effort.monitor(-sign * value, -sign * bound)
        return LEFT * effort.allowed

    found = least_cost(graph, -gain, watch, effort.stopped)
    status = effort.stopped() or "optimal"
    claim = SolverClaim("rropt", status, -sign * found.value, time.monotonic() - begun)
    dual = Dual(found.prices, np.zeros(0), ColumnMultipliers(None, found.flows.T))
    return Answer(claim, MatrixDraft.of(found.matrix, program.outputs), dual)


def _by_means(program: Program, means: BlockMeans, effort: SolveLimits) -> Answer:
    """The same where the rows of the cone bound means of blocks."""
    model = MeanModel.of(program, means)
    found = LpModel(model.cost, model.matrix, model.row_lower, model.row_upper).solve(
        effort.remaining(), effort.interrupted
    )
    claim = SolverClaim("highs", found.status, program.sign * found.objective, found.seconds)
    matrix = None if found.x is None else model.entries(found.x)
    return _answer(program, effort, found, claim, matrix, model.dual)


def _answer(
    program: Program,
    effort: SolveLimits,
    found: LpAnswer,
    claim: SolverClaim,
    matrix: FloatArray | None,
    dual: Callable[[FloatArray], Dual],
) -> Answer:
    # The last iterate of a stopped run is not optimal, but rounding and repair give a valid mechanism and bound.
    if not claim.stopped and (found.status != "optimal" or matrix is None or found.row_dual is None):
        return Answer(claim, farkas_candidate(program, effort))
    prices = None if found.row_dual is None else dual(found.row_dual)
    return Answer(claim, MatrixDraft.of(matrix, program.outputs), prices)


def _by_events(program: Program, effort: SolveLimits) -> Answer:
    """The programme with the rows of a few events, as many as it takes until every event keeps its bound."""
    bound = program.required(ApproximateBound)
    reduced = program.linearised()
    events: list[Event] = []
    answer = _solve(bound.relaxed(reduced, events), effort)
    for _ in range(ROUNDS):
        if answer.matrix is None or answer.claim.stopped:
            break
        fresh = [event for event in bound.breached(answer.matrix) if event not in events]
        if not fresh:
            break
        events += fresh
        answer = _solve(bound.relaxed(reduced, events), effort)
    return replace(answer, draft=_with_events(answer.draft, events), dual=_with_events(answer.dual, events))


def _with_events(found: F, events: Sequence[Event]) -> F:
    """Multipliers that say what events their last rows are of; anything else as it is."""
    if not isinstance(found, Dual):
        return found
    return replace(found, evidence=replace(found.columns, events=tuple(events)))
