"""The elastic linear programme: how little must give way before a mechanism exists.

Its optimum is zero where the program is feasible; where it is not, its multipliers are Farkas multipliers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.programs import Linear, Program
from rropt.routes.base import Dual, Effort
from rropt.routes.lp import LpModel
from rropt.routes.polyhedral import entry_model

SLACK = 1e-9
"""An elastic optimum below this is taken for feasible: nothing that small could be proved from floats."""


def farkas_candidate(program: Program, effort: Effort) -> Dual | None:
    """Float multipliers that may prove a program infeasible, or None where it looks feasible.

    Minimises the total amount by which row sums and coupling rows give way, cones being kept hard.
    """
    outputs = program.outputs or ("any",)
    model = entry_model(replace(program, outputs=outputs, utility=Linear(()), sense="maximize"))
    hard = model.matrix.shape[0] - model.size - model.coupling
    soft = model.size + model.coupling
    give = sparse.vstack([sparse.eye(soft), sparse.csr_matrix((hard, soft))], format="csr")
    matrix = sparse.hstack([model.matrix, give, -give], format="csr")
    variables = model.matrix.shape[1]
    cost = np.concatenate([np.zeros(variables), -np.ones(2 * soft)])
    upper = np.concatenate([model.upper, np.full(2 * soft, np.inf)])
    lp = LpModel(cost, matrix, model.row_lower, model.row_upper, np.zeros_like(upper), upper)
    found = lp.solve(effort.remaining(), effort.interrupted)
    if found.status != "optimal" or found.row_dual is None or found.objective > -SLACK:
        return None
    return model.dual(found.row_dual)
