"""The search for the least risk of estimation over whole matrices with fixed outputs."""

import time
from dataclasses import replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import Linear, Program
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import farkas_candidate
from rropt.solve.engine.search import Budget, Search
from rropt.solve.matrix.budget import PIECE
from rropt.solve.matrix.design_cells import DesignBounds, DesignCells

LARGEST_TREE = 20_000
"""Cells at most."""
WRITING = 5e-6
"""Seconds that the proof of a cell takes to be written and checked, for each input of each corner."""


def solve_risks(program: Program, effort: SolveLimits, start: FloatArray | None) -> Answer:
    """The matrix of least risk, from one that is known (k x m; None where there is none), and the tree that bounds all
    others."""
    begun = time.monotonic()
    bounds = DesignBounds(program)
    cells = DesignCells(bounds, start, lambda: bool(effort.stopped()))
    search = Search(cells)
    search.run(np.inf)
    if cells.best is None and (farkas := farkas_candidate(program, effort)) is not None:
        # That nothing keeps the constraints is a statement without a risk.
        plain = replace(program, sense="maximize", utility=Linear(()))
        return Answer(SolverClaim("highs", "infeasible", None, time.monotonic() - begun), farkas, relaxed=plain)
    if cells.best is None:
        # The means of the first mixtures may be singular, as outputs that are alike have the same.
        search.run(-np.inf, Budget(PIECE, lambda: bool(effort.stopped())))
    cells.climb()
    each = WRITING * (len(program.outputs or ()) << program.size) * program.size

    def over() -> bool:
        """Whether the rest of the time is needed to prove what the search has."""
        left = effort.remaining()
        return bool(effort.stopped()) or (left is not None and left < each * search.nodes)

    while True:
        effort.found(cells.value)
        accept, before = cells.value + effort.allowed / 2, search.nodes
        effort.monitor(None if cells.best is None else -cells.value, -search.bound)
        if search.bound <= accept or over() or search.nodes > LARGEST_TREE:
            break
        search.run(accept, Budget(search.nodes + PIECE, over))
        if search.nodes == before:
            break
    status = str(effort.stopped()) or f"{search.nodes} boxes"
    value = -cells.value if np.isfinite(cells.value) else None
    claim = SolverClaim("clarabel", status, value, time.monotonic() - begun)
    dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), search.roots[0])
    return Answer(claim, MatrixDraft.of(cells.best, program.outputs), dual)
