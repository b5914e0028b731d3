"""The `linear` route: HiGHS for linear utilities over polyhedral cones and coupling rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.approximate import Event
from rropt.cones import BlockMeans, CompleteCone, FloatArray, base_cone
from rropt.errors import Refusal
from rropt.programs import ColumnSum, Linear, Program
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.elastic import farkas_candidate
from rropt.routes.lp import LpAnswer, LpModel
from rropt.routes.mean_rows import MeanModel, block_means
from rropt.routes.polyhedral import EntryModel, entry_model


def linear_refusal(program: Program, route: str) -> Refusal | None:
    """Why a route that takes linear utilities (and Bayes gains, which reduce to them) refuses a program."""
    reduced = program.linearised()
    if isinstance(reduced.utility, Linear):
        return None
    if isinstance(reduced.utility, ColumnSum) and program.sense == "minimize":
        return Refusal("a convex objective can be maximised only", "maximise it, or minimise expected_loss")
    if isinstance(reduced.utility, ColumnSum) and program.rows:
        return Refusal(
            f"{route} takes linear objectives only, and this one is convex with coupling rows",
            "leave out the constraints on the whole matrix, or maximise trace or expected_gain",
        )
    return Refusal(f"{route} takes linear objectives only", "use route auto")


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


ROUNDS = 200
"""Of new events at most."""


class LinearRoute(Route):
    """One linear programme over the entries of Q, solved by HiGHS (`solver`: "highs")."""

    name = "linear"
    because = "the objective is linear: one linear programme over the entries of Q"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver not in (None, "highs"):
            return Refusal(f"linear knows the solver highs only, not {solver!r}", "use route conic")
        refusal = linear_refusal(program, self.name)
        if refusal is not None and program.approximate is not None:
            return Refusal(
                "approximate privacy over that many events is for linear objectives",
                "use fewer outputs, or maximise trace or expected_gain",
            )
        return refusal

    def solve(self, program: Program, effort: Effort) -> Answer:
        if program.approximate is not None:
            return _by_events(program, effort)
        return _solved(program, effort)


def _solved(program: Program, effort: Effort) -> Answer:
    reduced = program.linearised()
    if (means := block_means(reduced)) is not None:
        return _by_means(reduced, means, effort)
    complete = isinstance(base_cone(reduced.cone), CompleteCone)
    model = shifted(entry_model(reduced)) if complete else entry_model(reduced)
    entries = unshifted if complete else EntryModel.entries
    lp = LpModel(
        model.cost,
        model.matrix,
        model.row_lower,
        model.row_upper,
        np.zeros_like(model.upper),
        model.upper,
    )
    found = lp.solve(effort.remaining(), effort.interrupted)
    claim = SolverClaim("highs", found.status, program.sign * found.objective, found.seconds)
    matrix = None if found.x is None else entries(model, found.x)
    return _answered(reduced, effort, found, claim, matrix, model.dual)


def _by_means(program: Program, means: BlockMeans, effort: Effort) -> Answer:
    """The same where the rows of the cone bound means of blocks."""
    model = MeanModel.of(program, means)
    ends = np.zeros_like(model.cost), np.full_like(model.cost, np.inf)
    found = LpModel(model.cost, model.matrix, model.row_lower, model.row_upper, *ends).solve(
        effort.remaining(), effort.interrupted
    )
    claim = SolverClaim("highs", found.status, program.sign * found.objective, found.seconds)
    matrix = None if found.x is None else model.entries(found.x)
    return _answered(program, effort, found, claim, matrix, model.dual)


def _answered(
    program: Program,
    effort: Effort,
    found: LpAnswer,
    claim: SolverClaim,
    matrix: FloatArray | None,
    dual: Callable[[FloatArray], Dual],
) -> Answer:
    if found.status in ("time limit", "interrupted"):
        # The last iterate is no optimum, but rounding and repair make something true of it.
        prices = None if found.row_dual is None else dual(found.row_dual)
        return Answer(claim, matrix, program.outputs, prices, stopped=found.status)
    if found.status != "optimal" or matrix is None or found.row_dual is None:
        return Answer(claim, outputs=program.outputs, farkas=farkas_candidate(program, effort))
    return Answer(claim, matrix, program.outputs, dual(found.row_dual))


def _by_events(program: Program, effort: Effort) -> Answer:
    """The programme with the rows of a few events, as many as it takes until every event keeps its bound."""
    bound = program.approximate
    assert bound is not None
    reduced = program.linearised()
    events: list[Event] = []
    answer = _solved(reduced.with_events(events), effort)
    for _ in range(ROUNDS):
        if answer.matrix is None or answer.stopped:
            break
        fresh = [event for event in bound.breached(answer.matrix) if event not in events]
        if not fresh:
            break
        events += fresh
        answer = _solved(reduced.with_events(events), effort)
    return replace(
        answer,
        dual=None if answer.dual is None else replace(answer.dual, events=tuple(events)),
        farkas=None if answer.farkas is None else replace(answer.farkas, events=tuple(events)),
    )
