"""The `branch` route: convex objectives over whole matrices, by spatial branch and bound.

Where rows tie the columns together, these are no longer exchangeable, and no column prices the others once and for all.
The objective is convex in the matrix all the same: the points of its columns are branched on.
"""

from __future__ import annotations

import time

import numpy as np

from rropt.cones import CompleteCone, FloatArray
from rropt.errors import Refusal
from rropt.programs import ChiSquare, ColumnSum, Information, Program
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.elastic import farkas_candidate
from rropt.routes.lp import LpModel
from rropt.routes.matrices import MatrixSearch
from rropt.routes.offdiagonal import OffDiagonalSearch

CELLS = 4096
"""The certificate format takes no more cells than this."""
CLIMBS = 40
"""Random directions from which local maxima are climbed to before the search."""
STEPS = 60
"""Steps of one climb at most."""
CHUNK = 500
"""Boxes between two reports of progress."""


class BranchRoute(Route):
    """Branch and bound over the columns of the matrix."""

    name = "branch"
    because = "constraints on the whole matrix tie the columns of a convex objective: all are branched on together"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver not in (None, "highs"):
            return Refusal(f"branch knows the solver highs only, not {solver!r}", "leave the solver out")
        utility = program.utility
        known = isinstance(utility, ChiSquare) or (isinstance(utility, Information) and utility.given is None)
        if not known or program.sense == "minimize":
            return Refusal("branch maximises mutual information and chi-square information only", "use route auto")
        if program.structure is not None:
            return None
        if program.outputs is None:
            return Refusal("branch needs fixed outputs", "use route auto")
        if not all(program.weights):
            return Refusal("branch needs a prior without zeros", "leave out the inputs that nobody has")
        if program.size * len(program.outputs) > CELLS:
            return Refusal(f"branch takes {CELLS:,} cells at most", "merge categories")
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        if program.structure is not None:
            return self._off_diagonals(program, effort)
        begun = time.monotonic()
        search = MatrixSearch(program)
        climber = _Climber(search, program)
        if not climber.feasible:
            claim = SolverClaim("highs", climber.status, None, time.monotonic() - begun)
            return Answer(claim, outputs=program.outputs, farkas=farkas_candidate(program, effort))
        climber.start(effort)
        search.note = climber.note
        while not (stopped := effort.stopped()):
            # What is within half of the gap of the best matrix is good enough.
            accept, before = climber.value + effort.gap / 2, search.nodes
            search.aim(climber.best)
            search.run(accept, search.nodes + CHUNK, lambda: bool(effort.stopped()))
            effort.monitor(climber.value, search.bound)
            if search.bound <= accept or search.nodes == before:
                break
        claim = SolverClaim("rropt", stopped or f"{search.nodes} boxes", climber.value, time.monotonic() - begun)
        dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), matrices=search.root)
        return Answer(claim, climber.best, program.outputs, dual, stopped=stopped)

    @staticmethod
    def _off_diagonals(program: Program, effort: Effort) -> Answer:
        """The best mechanism with one number off the diagonal in each row."""
        assert isinstance(program.cone, CompleteCone)
        begun = time.monotonic()
        search = OffDiagonalSearch(program.weights, float(program.cone.level.ratio))

        def stop() -> bool:
            # As long again is left for writing and checking what was found.
            left = effort.remaining()
            late = left is not None and effort.time_limit is not None and left < effort.time_limit / 2
            return late or bool(effort.stopped())

        found = search.search(effort.gap / 2, stop=stop)
        effort.monitor(found.value, found.bound)
        stopped = effort.stopped() or ("time limit" if stop() and found.bound - found.value > effort.gap else "")
        claim = SolverClaim("rropt", stopped or f"{found.nodes} nodes", found.value, time.monotonic() - begun)
        dual = Dual(np.zeros(program.size), off_diagonals=found.tree)
        return Answer(claim, None, program.outputs, dual, stopped=stopped, off_diagonal=found.off_diagonal)


class _Climber:
    """Local maxima: linearise, go to the best vertex, repeat. Keeps the best matrix (k x m) that it met."""

    def __init__(self, search: MatrixSearch, program: Program) -> None:
        assert isinstance(program.utility, ColumnSum)
        self._model, self._utility = search.model, program.utility
        variables = self._model.matrix.shape[1]
        self._limits = np.zeros(variables), np.ones(variables)
        self._lp = LpModel(
            np.zeros(variables),
            self._model.matrix.tocsc(),
            self._model.row_lower,
            self._model.row_upper,
            *self._limits,
            "simplex",
            presolve=False,
        )
        self._random = np.random.default_rng(0)
        self._noted, self.status = 0, "not started"
        found = self._vertex(np.zeros((self._model.size, self._model.width)))
        self.feasible = found is not None
        self.best: FloatArray = np.zeros((self._model.size, self._model.width)) if found is None else found
        self.value = self._value(self.best) if self.feasible else -np.inf

    def _value(self, matrix: FloatArray) -> float:
        return float(self._utility.mu(matrix).sum())

    def _vertex(self, gradient: FloatArray) -> FloatArray | None:
        cost = np.zeros(len(self._limits[0]))
        cost[: gradient.size] = gradient.ravel()
        found = self._lp.rerun(cost, *self._limits)
        self.status = found.status
        return None if found.x is None else np.maximum(self._model.entries(found.x), 0.0)

    def start(self, effort: Effort) -> None:
        """Climb from random vertices."""
        for _ in range(CLIMBS):
            matrix = self._vertex(np.asarray(self._random.standard_normal(self.best.shape)))
            if matrix is not None:
                self.climb(matrix)
            if effort.stopped():
                return

    def note(self, matrix: FloatArray) -> None:
        """Climb from some of the matrices that a search meets."""
        self._noted += 1
        if self._noted <= CLIMBS or self._noted % CLIMBS == 0:
            self.climb(np.maximum(matrix, 0.0))

    def climb(self, matrix: FloatArray) -> None:
        """Go uphill from a matrix as long as it pays."""
        best = self._value(matrix)
        for _ in range(STEPS):
            # Near a zero the gradient of x log x is large; at one it is only its direction that counts.
            gradient = self._utility.gradient(np.maximum(matrix, 1e-9))
            assert gradient is not None
            further = self._vertex(gradient)
            if further is None or (value := self._value(further)) <= best + 1e-12:
                break
            matrix, best = further, value
        if best > self.value:
            self.best, self.value = matrix, best
