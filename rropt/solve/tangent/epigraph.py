"""Bayes gains alone, minimised or limited: one linear programme, with the gain of each output as a variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.program.programs import BayesGain, ColumnSum, Linear, Program
from rropt.solve.kernel.lp import LpModel
from rropt.solve.kernel.polyhedral import entry_model
from rropt.solve.kernel.route import Effort, SolverClaim
from rropt.solve.tangent.ends import End


def solve_epigraph(program: Program, limits: Sequence[tuple[ColumnSum, float]], effort: Effort) -> End:
    """The end of the linear programme over Q and the gains t_y of the goal's and of each limit's outputs. Rows s.q_y <= t_y, one an action s, have the actions' weights as multipliers."""
    goal = program.utility
    of_goal = isinstance(goal, BayesGain)
    gains = [*([goal] if isinstance(goal, BayesGain) else []), *(utility for utility, _ in limits)]
    linear = replace(program, utility=Linear(()), sense="maximize") if of_goal else program
    model = entry_model(linear)
    m = model.width
    entries = sparse.csr_matrix(model.matrix)
    rows, variables = entries.shape
    cells = model.size * m
    blocks = [sparse.hstack([entries, sparse.csr_matrix((rows, m * len(gains)))])]
    uppers, places = [], []
    first = rows
    for number, gain in enumerate(gains):
        assert isinstance(gain, BayesGain)
        actions = len(gain.table)
        table = sparse.kron(sparse.csr_matrix(gain.table), sparse.eye(m))
        more = sparse.csr_matrix((actions * m, variables - cells))
        own = [sparse.csr_matrix((actions * m, m)) for _ in gains]
        own[number] = sparse.kron(np.ones((actions, 1)), -sparse.eye(m))
        blocks.append(sparse.hstack([table, more, *own]))
        uppers.append(np.zeros(actions * m))
        places.append((first, actions))
        first += actions * m
    for number, (_, most) in enumerate(limits, start=of_goal):
        total = sparse.csr_matrix(
            (np.ones(m), (np.zeros(m, dtype=int), variables + number * m + np.arange(m))),
            shape=(1, variables + m * len(gains)),
        )
        blocks.append(total)
        uppers.append(np.array([most]))
    above = np.concatenate(uppers)
    cost = np.concatenate([model.cost, np.zeros(m * len(gains))])
    if of_goal:
        cost[variables : variables + m] = -1.0
    lower = np.concatenate([np.zeros(variables), np.full(m * len(gains), -np.inf)])
    found = LpModel(
        cost,
        sparse.vstack(blocks, format="csc"),
        np.concatenate([model.row_lower, np.full(len(above), -np.inf)]),
        np.concatenate([model.row_upper, above]),
        lower,
        np.full(len(cost), np.inf),
    ).solve(effort.remaining(), effort.interrupted)
    objective = -found.objective if of_goal else program.sign * found.objective
    claim = SolverClaim("highs", found.status, objective, found.seconds)
    if found.x is None or found.row_dual is None:
        return End(claim)
    weights = [found.row_dual[at : at + count * m].reshape(count, m).T for at, count in places]
    tables = dict(enumerate(weights, start=1 - of_goal))
    multipliers = found.row_dual[len(found.row_dual) - len(limits) :]
    return End(claim, model.entries(found.x), model.dual(found.row_dual[:rows]), multipliers, tables)
