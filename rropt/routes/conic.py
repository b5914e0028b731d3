"""The `conic` route: cvxpy with a named solver, for concave problems.

Until an entropy constraint brings truly concave ones it serves as the cross-check of the linear ones.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from rropt.cones import CompleteCone, GraphCone, PolyhedralCone, base_cone, ratio_edges
from rropt.errors import Refusal
from rropt.programs import Linear, Program
from rropt.routes.base import Answer, Dual, Effort, Route, SolverClaim
from rropt.routes.elastic import farkas_candidate
from rropt.routes.linear import linear_refusal
from rropt.routes.polyhedral import edge_matrix

SOLVERS = {"clarabel": "CLARABEL", "scs": "SCS", "highs": "HIGHS"}
DEFAULT = "clarabel"


class ConicRoute(Route):
    """The problem written in cvxpy, solved by Clarabel (default), SCS or HiGHS: never left to chance."""

    name = "conic"
    because = "an independent solver cross-checks the linear route"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver is not None and solver not in SOLVERS:
            return Refusal(f"conic knows no solver {solver!r}", f"use one of: {', '.join(SOLVERS)}")
        return linear_refusal(program, self.name)

    def solve(self, program: Program, effort: Effort) -> Answer:
        import cvxpy as cp

        reduced = program.linearised()
        assert reduced.outputs is not None and isinstance(reduced.utility, Linear)
        k, m = reduced.size, len(reduced.outputs)
        q = cp.Variable((k, m), nonneg=True)
        row_sums = cp.sum(q, axis=1) == 1
        constraints: list[Any] = [row_sums]
        coupling = self._coupling(cp, q, reduced)
        constraints += coupling
        own = None
        if isinstance(reduced.cone, PolyhedralCone):
            own = reduced.cone.matrix @ q <= 0
            constraints.append(own)
        base = base_cone(reduced.cone)
        if isinstance(base, CompleteCone):
            low = cp.Variable(m)
            ones = np.ones((k, 1))
            lows = ones @ cp.reshape(low, (1, m), order="C")
            constraints += [q >= lows, q <= float(base.level.ratio) * lows]
        if isinstance(base, GraphCone):
            edges = ratio_edges(base, k)
            ends, logs = np.array([edge[:2] for edge in edges]), np.array([log for *_, log in edges])
            constraints.append(edge_matrix(ends, logs, k) @ q <= 0)
        cost = reduced.sign * reduced.utility.matrix(k, m)
        problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(cost, q))), constraints)
        name = effort.solver or DEFAULT
        begun = time.monotonic()
        try:
            with warnings.catch_warnings():
                # An inaccurate solution says so in its status, which is passed on as the solver's claim.
                warnings.filterwarnings("ignore", message="Solution may be inaccurate")
                problem.solve(solver=SOLVERS[name], **self._settings(name, effort))
            status = str(problem.status)
        except cp.SolverError as error:
            # The solver gave up: a status like any other, and no numbers.
            status = f"failed ({error})"
        objective = None if problem.value is None else reduced.sign * float(problem.value)
        claim = SolverClaim(name, status, objective, time.monotonic() - begun)
        if q.value is None or row_sums.dual_value is None or not np.isfinite(q.value).all():
            stopped = effort.stopped()
            farkas = None if stopped else farkas_candidate(reduced, effort)
            return Answer(claim, outputs=reduced.outputs, farkas=farkas, stopped=stopped)
        # cvxpy prices a maximisation's constraints as those of the negated minimisation.
        prices = np.asarray(row_sums.dual_value, dtype=np.float64)
        rows = np.array([float(np.ravel(row.dual_value)[0]) for row in coupling])
        multipliers = None if own is None else np.asarray(own.dual_value).T
        return Answer(claim, np.asarray(q.value), reduced.outputs, Dual(prices, rows, multipliers))

    @staticmethod
    def _coupling(cp: Any, q: Any, program: Program) -> list[Any]:
        constraints = []
        for row in program.rows:
            table = np.zeros(q.shape)
            for x, y, value in row.terms:
                table[x, y] = float(value)
            total = cp.sum(cp.multiply(table, q))
            constraints.append(total == float(row.rhs) if row.sense == "=" else total <= float(row.rhs))
        return constraints

    @staticmethod
    def _settings(name: str, effort: Effort) -> dict[str, object]:
        """Tight tolerances, and the time limit in each solver's own words."""
        left = effort.remaining()
        if name == "clarabel":
            tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)
            return tight if left is None else {**tight, "time_limit": left}
        if name == "scs":
            tight = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 100_000}
            return tight if left is None else {**tight, "time_limit_secs": left}
        return {} if left is None else {"time_limit": left}
