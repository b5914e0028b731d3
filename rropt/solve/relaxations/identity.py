"""The `identity` method: where no constraint forbids them, the true answers are optimal, and so are their permutations.

An information or a Bayes gain is a sum over columns of a convex, homogeneous mu, so that mu(q) <= sum_x q_x mu(e_x) for
every column q, and rows sum to one: no mechanism has more than sum_x mu(e_x), which the true answers have. Every
mechanism is the true answers and a random choice that does not look at the input again, which lessens the information
matrix: no design has less risk.
"""

import numpy as np

from rropt.errors import Refusal
from rropt.mechanisms.columns import TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import Cone, FloatArray, FreeCone, PolyhedralCone, base_cone
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.extras import Extra
from rropt.program.permutation_mixtures import Mixture
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Program, Utility
from rropt.prove.steps import EXTRAS, drop
from rropt.solve.designs.criteria import DesignForms
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.engine.method import AUTO, Answer, Dual, ExactDraft, Method, SolveLimits, SolverClaim

SHIFTS = 8
"""Permutations that are tried: the true answers, and those shifted by so few places."""

EVERY = ("cone", "rows", *EXTRAS, "outputs")
"""All constraints."""


class IdentityMethod(Method):
    """The true answers, perhaps under other names, where they keep every constraint."""

    name = "identity"
    because = "every constraint allows the true answers or a permutation of them, and no mechanism is better"
    takes = (Extra, Cone, Utility)
    goals = "maximises mutual information and Bayes gains, and minimises risks of estimation"
    solvers = ()

    def takes_goal(self, program: Program) -> bool:
        if program.sense == "maximize":
            return isinstance(program.utility, (Divergence, BayesGain))
        return isinstance(program.utility, DesignUtility)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return (
            None
            if true_answers(program) is not None
            else Refusal("the constraints do not let a mechanism release the true answers", AUTO)
        )

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        mechanism = true_answers(program)
        assert mechanism is not None
        value = program.sign * worth_and_slope(program, mechanism.matrix)[0]
        claim = SolverClaim("rropt", "optimal", value, 0.0)
        return Answer(claim, ExactDraft(mechanism), truth_dual(program), drop(program, EVERY))


def true_answers(program: Program) -> Mechanism | None:
    """The true answers, or a shift of them, that keep every constraint exactly; None where none of them does."""
    if not isinstance(base_cone(program.cone), FreeCone) or program.extra(Mixture) is not None:
        return None
    if not isinstance(program.cone, FreeCone | PolyhedralCone):
        return None
    k = program.size
    outputs = program.outputs or tuple(f"output {y + 1}" for y in range(k))
    if len(outputs) < k:
        return None
    for shift in range(min(k, SHIFTS) if program.rows or program.extras else 1):
        columns = tuple(TwoValuedColumn(0, 1, 1 << (y - shift) % k if y < k else 0) for y in range(len(outputs)))
        mechanism = Mechanism(program.inputs, outputs, columns, (1,))
        if not program.excess(mechanism):
            return mechanism
    return None


def truth_dual(program: Program) -> Dual:
    """The multipliers that prove that no mechanism is better than the true answers, of the problem without any
    constraint: prices mu(e_x), or forms for a risk."""
    utility = program.utility
    if isinstance(utility, ColumnSum):
        return Dual(utility.mu(np.eye(program.size)))
    assert isinstance(utility, DesignUtility)
    forms, factors = _forms(utility)
    return Dual((forms**2).sum(axis=1) / utility.prior, evidence=DesignForms(forms, factors))


def _forms(utility: DesignUtility) -> tuple[FloatArray, FloatArray | None]:
    """(W, factors) with W'W the weight of the information matrix diag(1 / p) of the true answers."""
    p = utility.prior
    if isinstance(utility, InverseTrace):
        return p[:, None] * np.array([[float(c) for c in row] for row in utility.rows]).T, None
    if isinstance(utility, InverseDeterminant):
        return np.diag(np.sqrt(p)), None
    assert isinstance(utility, InverseEigenvalue)
    worst = np.linalg.eigh(np.diag(p) - np.outer(p, p))[1][:, -1:]
    return p[:, None] * worst, worst
