"""A problem as a `cvxpy.Problem` with named variables and constraints, where it is convex."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.declare.constraints import Constraint
from rropt.errors import InputError, WrongType
from rropt.io.extras import need
from rropt.program.cones import BaseCone, CompleteCone, PolyhedralCone, base_cone
from rropt.program.design_utilities import DesignUtility
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.limits import Limits, Sum
from rropt.program.programs import (
    BayesGain,
    ChiSquare,
    ColumnSum,
    Information,
    Linear,
    Program,
    RowEntropy,
    Utility,
)
from rropt.solve.engine.polyhedral import edge_table
from rropt.solve.export.names import Names

WHERE = "convex programme"


def convex_problem(program: Program, constraints: Sequence[Constraint], unit: float) -> Any:
    """The problem over the matrix "Q" (k x m), and "low" (m) where all ratios of a column are bounded; the value is in
    the objective's unit, `unit` of the utility's own.

    A constraint is labelled "sum", each row by its own name, each cone and extra by the word of its constraint. Raises
    InputError that states what is not convex.
    """
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    reduced = program.linearised()
    _insist_on_convexity(reduced)
    assert reduced.outputs is not None
    names = Names.of(reduced, constraints)
    q = cp.Variable((reduced.size, len(reduced.outputs)), nonneg=True, name="Q")
    wanted = unit * _utility(cp, q, reduced.utility, reduced)
    goal = cp.Maximize(wanted) if reduced.sense == "maximize" else cp.Minimize(wanted)
    said = [("sum", cp.sum(q, axis=1) == 1), *_rows(cp, q, reduced), *_cone(cp, q, reduced, names)]
    said += _extras(cp, q, reduced)
    return cp.Problem(goal, [_labelled(constraint, label) for label, constraint in said])


def _insist_on_convexity(program: Program) -> None:
    """Raise InputError for what is not convex, or not over a matrix with fixed outputs."""
    utility, minimised = program.utility, program.sense == "minimize"
    for extra in program.extras:
        if not isinstance(extra, ApproximateBound | ConcaveFloor | Limits):
            raise WrongType(f"{extra.name} is not a convex constraint on the matrix", WHERE, "use solve()")
    if isinstance(utility, RowEntropy) and minimised:
        raise InputError("entropy is concave, and minimising it is not convex", WHERE, "maximise it")
    if not isinstance(program.cone.general(), BaseCone | PolyhedralCone):
        raise InputError("the exact cone of a confidence set is not written in cvxpy", WHERE, "use form='polytope'")
    terms = utility.terms if isinstance(utility, Sum) else [(Fraction(1), utility)]
    bends = utility.bending(program.sign) if isinstance(utility, Sum) else not minimised
    if isinstance(terms[-1][1], ColumnSum) and bends:
        alone = not program.rows and not program.extras
        remedy = "to_highs() has it as a linear programme over extreme rays" if alone else "use solve()"
        raise WrongType("the objective is convex, and maximising it is not a convex problem", WHERE, remedy)
    if not all(isinstance(one, Linear | RowEntropy | Information | ChiSquare | BayesGain) for _, one in terms):
        what = "the risk of estimates" if isinstance(utility, DesignUtility) else "the objective"
        raise InputError(f"{what} is not written as a function of the matrix", WHERE, "use solve()")
    if program.outputs is None:
        remedy = "give outputs=[labels] and a constraint on them"
        raise InputError("the number of outputs is free", WHERE, remedy)


def _utility(cp: Any, q: Any, utility: Utility, program: Program) -> Any:
    k, m = q.shape
    if isinstance(utility, Sum):
        return sum(float(weight) * _utility(cp, q, one, program) for weight, one in utility.terms)
    if isinstance(utility, Linear):
        return cp.sum(cp.multiply(utility.matrix(k, m), q))
    if isinstance(utility, RowEntropy):
        return _entropy(cp, q, utility.shares, program) / float(sum(utility.shares))
    if isinstance(utility, BayesGain):
        return cp.sum(cp.max(utility.table @ q, axis=0))
    if isinstance(utility, ChiSquare):
        roots, p = np.sqrt(utility.prior), utility.prior
        return sum(cp.quad_over_lin(cp.multiply(roots, q[:, y]), p @ q[:, y]) for y in range(m)) - 1.0
    assert isinstance(utility, Information)
    terms = []
    for shares in utility.joint.T[utility.joint.sum(axis=0) > 0]:
        # sum_x P q log(q P_z / w_z), w_z = sum_x P q, jointly convex in the two arguments of rel_entr.
        inside = np.flatnonzero(shares)
        own = cp.multiply(shares[inside][:, None], q[inside])
        mean = shares[inside][:, None] @ (shares[inside][None, :] @ q[inside]) / shares.sum()
        terms.append(cp.sum(cp.rel_entr(own, mean)))
    return sum(terms)


def _entropy(cp: Any, q: Any, shares: Sequence[int], program: Program) -> Any:
    """sum_x shares[x] H(Q_x), without the cells that rows empty: interior-point methods need a point inside."""
    m = q.shape[1]
    cells = [(x, y) for x, share in enumerate(shares) if share for y in range(m) if (x, y) not in program.empty_cells]
    weights = np.array([float(shares[x]) for x, _ in cells])
    return cp.sum(cp.multiply(weights, cp.entr(cp.vec(q, order="C")[[x * m + y for x, y in cells]])))


def _rows(cp: Any, q: Any, program: Program) -> list[tuple[str, Any]]:
    found, entries = [], cp.vec(q, order="C")
    for row in program.rows:
        places = [x * q.shape[1] + y for x, y, _ in row.terms]
        total = np.array([float(value) for *_, value in row.terms]) @ entries[places]
        right = float(row.rhs)
        found.append((row.name, total == right if row.sense == "=" else total <= right))
    return found


def _cone(cp: Any, q: Any, program: Program, names: Names) -> list[tuple[str, Any]]:
    (k, m), base, found = q.shape, base_cone(program.cone), []
    if isinstance(base, CompleteCone):
        lows = np.ones((k, 1)) @ cp.reshape(cp.Variable(m, name="low"), (1, m), order="C")
        found += [(f"{names.privacy}.low", q >= lows), (f"{names.privacy}.high", q <= float(base.level.ratio) * lows)]
    edges = edge_table(base, k)
    if edges.shape[0]:
        found.append((names.privacy, edges @ q <= 0))
    if isinstance(program.cone, PolyhedralCone):
        for word in dict.fromkeys(names.cones):
            own = np.array([name == word for name in names.cones])
            found.append((word, program.cone.matrix[own] @ q <= 0))
    return found


def _extras(cp: Any, q: Any, program: Program) -> list[tuple[str, Any]]:
    found = []
    if (floor := program.extra(ConcaveFloor)) is not None:
        found.append((floor.name, _entropy(cp, q, floor.shares, program) >= floor.height))
    if (bound := program.extra(ApproximateBound)) is not None:
        gamma, k = float(bound.level.ratio), program.size
        for x in range(k):
            others = [z for z in range(k) if z != x]
            over = cp.sum(cp.pos(np.ones((k - 1, 1)) @ q[[x]] - gamma * q[others]), axis=1)
            found.append((f"{bound.name} of {program.inputs[x]}", over <= float(bound.delta)))
    if (limits := program.extra(Limits)) is not None:
        for number, limit in enumerate(limits.limits):
            whole = _utility(cp, q, limit.utility, program)
            found.append((f"limit {number}", whole <= float(limit.at_most)))
    return found


def _labelled(constraint: Any, label: str) -> Any:
    # Constraints of older versions of cvxpy have no labels: there it is an attribute like any other.
    if hasattr(constraint, "set_label"):
        constraint.set_label(label)
    else:
        constraint.label = label
    return constraint
