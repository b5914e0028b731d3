"""Bayes gains alone, minimised or limited: one linear programme, with the gain of each output as a variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.program.programs import BayesGain, ColumnSum, Linear, Program
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Dual, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import entry_model


@dataclass(frozen=True)
class End:
    """The claim of a solver, the matrix (k x m), the multipliers of the linear problem without the rows of limits, and
    those of the limits.

    `tables` is what minorants are made of: by place, -i for part i of the goal and 1 + i for limit i, directions at
    which they touch an information (m x k), or weights of the actions of a Bayes gain (m x actions). `inside` is a
    matrix with slack in all inequalities, where one was found.
    """

    claim: SolverClaim
    matrix: FloatArray | None = None
    dual: Dual | None = None
    limits: FloatArray | None = None
    tables: Mapping[int, FloatArray] = field(default_factory=dict)
    inside: FloatArray | None = None

    def without_multipliers(self) -> End:
        """The same with all multipliers zero, and forms of the goal that are zero: no information is negative."""
        assert self.dual is not None and self.limits is not None
        columns = self.dual.columns.mapped(np.zeros_like)
        dual = Dual(np.zeros_like(self.dual.prices), np.zeros_like(self.dual.rows), columns)
        tables = {**self.tables, 0: np.ones_like(self.tables[0])}
        return replace(self, dual=dual, limits=np.zeros_like(self.limits), tables=tables)


def solve_epigraph(program: Program, limits: Sequence[tuple[ColumnSum, float]], effort: SolveLimits) -> End:
    """The end of the linear programme over Q and the gains t_y of the outputs, those of the goal and of each limit,
    each divided by its largest score. Rows s.q_y <= t_y, one for each action s, have the weights of the actions as
    multipliers."""
    goal = program.utility
    of_goal = isinstance(goal, BayesGain)
    gains = [own for own in (goal, *(utility for utility, _ in limits)) if isinstance(own, BayesGain)]
    model = entry_model(replace(program, utility=Linear(()), sense="maximize") if of_goal else program)
    m, (rows, variables) = model.width, model.matrix.shape
    count = variables + m * len(gains)
    units = np.array([np.abs(gain.table).max() or 1.0 for gain in gains])
    unit = float(units[0]) if of_goal else 1.0
    tables = [gain.table / size for gain, size in zip(gains, units, strict=True)]
    tests = [_tests(table, m, variables, number, len(gains)) for number, table in enumerate(tables)]
    totals = [_total(m, variables + number * m, count) for number in range(of_goal, len(gains))]
    wide = sparse.hstack([model.matrix, sparse.csr_matrix((rows, m * len(gains)))])
    most = [number for _, number in limits] / units[of_goal:]
    above = np.concatenate([np.zeros(sum(test.shape[0] for test in tests)), most])
    cost = np.concatenate([model.cost, np.zeros(m * len(gains))])
    if of_goal:
        cost[variables : variables + m] = -1.0
    found = LpModel(
        cost,
        sparse.vstack([wide, *tests, *totals], format="csc"),
        np.concatenate([model.row_lower, np.full(len(above), -np.inf)]),
        np.concatenate([model.row_upper, above]),
        np.concatenate([np.zeros(variables), np.full(count - variables, -np.inf)]),
        np.full(count, np.inf),
    ).solve(effort.remaining(), effort.interrupted)
    objective = -unit * found.objective if of_goal else program.sign * found.objective
    claim = SolverClaim("highs", found.status, objective, found.seconds)
    if found.x is None or found.row_dual is None:
        return End(claim)
    ends = rows + np.cumsum([0, *(test.shape[0] for test in tests)])
    weights = [found.row_dual[a:b].reshape(-1, m).T for a, b in pairwise(ends)]
    priced = unit * found.row_dual
    shares = dict(enumerate(weights, start=1 - of_goal))
    limited = priced[ends[-1] :] / units[of_goal:]
    return End(claim, model.entries(found.x), model.dual(priced[:rows]), limited, shares)


def _tests(scores: FloatArray, m: int, variables: int, number: int, gains: int) -> sparse.csr_matrix:
    """Rows s.q_y - t_y, action by action."""
    actions = len(scores)
    table = sparse.kron(sparse.csr_matrix(scores), sparse.eye(m))
    rest = [sparse.csr_matrix((actions * m, variables - table.shape[1]))]
    own = sparse.kron(np.ones((actions, 1)), -sparse.eye(m))
    rest += [own if other == number else sparse.csr_matrix((actions * m, m)) for other in range(gains)]
    return sparse.csr_matrix(sparse.hstack([table, *rest]))


def _total(m: int, first: int, count: int) -> sparse.csr_matrix:
    """The row of the sum of m variables."""
    return sparse.csr_matrix((np.ones(m), (np.zeros(m, dtype=int), first + np.arange(m))), shape=(1, count))
