"""A problem as a `cvxpy.Problem` with named variables and constraints, where it is convex.

What is linear, concave and maximised, or convex and minimised is a programme over the matrix. Where outputs are free, a
convex objective that is maximised, and a design for estimating frequencies, is one over the weights of all extreme rays
of the cone. With r_v rays, w_v weights and p the prior, the matrix is the columns w_v r_v, and the information matrix
M = sum_v w_v r_v r_v' / (p.r_v) is linear in w.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.declare.constraints import Constraint
from rropt.declare.constraints.notions.divergences import PairNotion
from rropt.errors import InputError, WrongType
from rropt.io.extras import need
from rropt.program.cones import BaseCone, CompleteCone, FloatArray, PolyhedralCone, base_cone
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.limits import Capacity, CapacityLimit, DivergenceLimits, Limits, Sum
from rropt.program.permutation_mixtures import Mixture
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
from rropt.solve.export.programme import insist_on_free_columns, permutation_table, ray_table

WHERE = "convex programme"
DUST = 1e-7
"""The share of the largest weight below which a ray is left out."""
FLAT = 1.02
"""Orders below this are stated as a relative entropy."""
Labelled = list[tuple[str, Any]]


def convex_problem(
    program: Program, constraints: Sequence[Constraint], unit: float, orders: Sequence[Sequence[Fraction]] = ()
) -> Any:
    """The problem over the matrix "Q" (k x m), or over the "weights" of the extreme rays; the value is in the
    objective's unit, `unit` of the utility's own. `orders` are those at which each divergence of pairs is stated, which
    one of all orders needs.

    A constraint is labelled "sum", each row by its own name, each cone and extra by the word of its constraint. Raises
    InputError that states what is not convex.
    """
    cvxpy = need("cvxpy")

    cp: Any = cvxpy
    reduced = program.linearised()
    if _is_over_rays(reduced):
        wanted, said = _over_rays(cp, reduced)
    else:
        wanted, said = _over_entries(cp, reduced, constraints, orders)
    goal = cp.Maximize(unit * wanted) if reduced.sense == "maximize" else cp.Minimize(unit * wanted)
    return cp.Problem(goal, [_labelled(constraint, label) for label, constraint in said])


def _is_over_rays(program: Program) -> bool:
    """Whether the best columns are extreme rays: a convex function of every column is maximised, or a decreasing one of
    the information matrix is minimised."""
    utility = program.utility
    if isinstance(utility, Sum):
        return bool(utility.bending(program.sign))
    return isinstance(utility, DesignUtility) or (isinstance(utility, ColumnSum) and program.sense == "maximize")


def matrix_of(program: Program, problem: Any) -> FloatArray | None:
    """The k x m matrix of a model that was solved; None where the solver left no numbers."""
    numbers = {one.name(): one.value for one in problem.variables()}
    if "Q" in numbers or numbers["weights"] is None:
        return numbers.get("Q")
    weights = numbers["weights"]
    # An interior point has a little of every ray.
    used = weights > DUST * weights.max()
    return np.asarray(ray_table(program)[:, used] * weights[used])


# -- over the extreme rays -----------------------------------------------------------------------------


def _over_rays(cp: Any, program: Program) -> tuple[Any, Labelled]:
    utility = program.utility
    insist_on_free_columns(program, WHERE)
    table = ray_table(program)
    weights = cp.Variable(table.shape[1], nonneg=True, name="weights")
    said: Labelled = [("sum", table @ weights == 1)]
    if not isinstance(utility, DesignUtility):
        assert isinstance(utility, ColumnSum | Sum)
        return utility.mu(table) @ weights, said
    k, means = program.size, utility.prior @ table
    if isinstance(utility, InverseTrace):
        # Of the unbiased estimates of the queries that take the value `estimates[v]` at output v the best one has the
        # variance that counts: a second-order cone for each ray.
        estimates = cp.Variable((table.shape[1], len(utility.rows)), name="estimates")
        spent = cp.Variable(table.shape[1], nonneg=True, name="squares")
        said.append(("unbiased", table @ estimates == utility.table.T))
        sides = cp.vstack([2 * estimates.T, cp.reshape(weights - spent, (1, len(means)), order="C")])
        said.append(("squares", cp.SOC(weights + spent, sides, axis=0)))
        return means @ spent - float(utility.offset), said
    information = sum(
        weights[v] * np.outer(ray, ray) / mean for v, (ray, mean) in enumerate(zip(table.T, means, strict=True))
    )
    if isinstance(utility, InverseDeterminant):
        return -cp.log_det(information), said
    assert isinstance(utility, InverseEigenvalue)
    # t I - (M^-1 - p p') >= 0, by Schur's complement.
    most = cp.Variable(name="largest")
    lower = most * np.eye(k) + np.outer(utility.prior, utility.prior)
    said.append(("eigenvalue", cp.bmat([[information, np.eye(k)], [np.eye(k), lower]]) >> 0))
    return most, said


# -- over the entries of the matrix --------------------------------------------------------------------


def _over_entries(
    cp: Any, program: Program, constraints: Sequence[Constraint], orders: Sequence[Sequence[Fraction]]
) -> tuple[Any, Labelled]:
    _insist_on_convexity(program)
    assert program.outputs is not None
    names = Names.of(program, constraints)
    q = cp.Variable((program.size, len(program.outputs)), nonneg=True, name="Q")
    said: Labelled = [("sum", cp.sum(q, axis=1) == 1), *_rows(cp, q, program), *_cone(cp, q, program, names)]
    said += _extras(cp, q, program, orders)
    if isinstance(program.utility, Capacity):
        most = cp.Variable(nonneg=True, name="capacity")
        return most, said + [("capacity", rule) for rule in capacity_rules(cp, q, most)]
    return _utility(cp, q, program.utility, program), said


def _insist_on_convexity(program: Program) -> None:
    """Raise InputError for what is not convex, or not over a matrix with fixed outputs."""
    utility = program.utility
    for extra in program.extras:
        if not isinstance(extra, ApproximateBound | ConcaveFloor | Limits | DivergenceLimits | Mixture):
            raise WrongType(f"{extra.name} is not a convex constraint on the matrix", WHERE, "use solve()")
        if isinstance(extra, Mixture) and extra.max_terms is not None:
            raise WrongType("the number of permutations is not convex", WHERE, "leave max_terms out, or use solve()")
    if isinstance(utility, RowEntropy) and program.sense == "minimize":
        raise InputError("entropy is concave, and minimising it is not convex", WHERE, "maximise it")
    terms = utility.terms if isinstance(utility, Sum) else [(Fraction(1), utility)]
    known = Linear | RowEntropy | Information | ChiSquare | BayesGain | Capacity
    if not all(isinstance(one, known) for _, one in terms):
        raise InputError("the objective is not written as a function of the matrix", WHERE, "use solve()")
    if program.outputs is None:
        raise InputError("the number of outputs is free", WHERE, "give outputs=[labels] and a constraint on them")


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


def _rows(cp: Any, q: Any, program: Program) -> Labelled:
    found, entries = [], cp.vec(q, order="C")
    for row in program.rows:
        places = [x * q.shape[1] + y for x, y, _ in row.terms]
        total = np.array([float(value) for *_, value in row.terms]) @ entries[places]
        right = float(row.rhs)
        found.append((row.name, total == right if row.sense == "=" else total <= right))
    return found


def _cone(cp: Any, q: Any, program: Program, names: Names) -> Labelled:
    if isinstance(program.cone, ConfidenceCone):
        return _confidence(cp, q, program.cone, names.privacy)
    (k, m), cone = q.shape, program.cone.general()
    base, found = base_cone(cone), Labelled()
    assert isinstance(cone, BaseCone | PolyhedralCone)
    if isinstance(base, CompleteCone):
        lows = np.ones((k, 1)) @ cp.reshape(cp.Variable(m, name="low"), (1, m), order="C")
        found += [(f"{names.privacy}.low", q >= lows), (f"{names.privacy}.high", q <= float(base.level.ratio) * lows)]
    edges = edge_table(base, k)
    if edges.shape[0]:
        found.append((names.privacy, edges @ q <= 0))
    if isinstance(cone, PolyhedralCone):
        for word in dict.fromkeys(names.cones):
            own = np.array([name == word for name in names.cones])
            found.append((word, cone.matrix[own] @ q <= 0))
    return found


def _confidence(cp: Any, q: Any, cone: ConfidenceCone, word: str) -> Labelled:
    """The two numbers nu and mu that prove membership (`rropt.program.confidence_cones`), as variables.

    (sum_x c_x sqrt(u_x))^2 >= w says the same as sum_x c_x a_x >= w with a_x^2 <= u_x w: second-order cones. In form
    "exact" both squares of a pair of blocks are combined by two power cones.
    """
    m, found = q.shape[1], Labelled()
    gamma, grown = float(cone.level.ratio.lower), float(np.sqrt(float(cone.radius.upper) + 1) - 1)
    masses = [float(mass) for mass in cone.masses]

    def square(s: int, end: Any, sign: int) -> Any:
        """w of every column, u_x being sign * (end - v_x) >= 0 over block s."""
        inside = list(cone.blocks[s])
        room = cp.vstack([sign * (end - q[x]) for x in inside])
        found.append((word, room >= 0))
        seen = [at for at, x in enumerate(inside) if cone.conditional[x]]
        if not seen:
            return np.zeros(m)
        w, roots = cp.Variable(m, nonneg=True), cp.Variable((len(seen), m))
        shares = np.array([float(cone.conditional[inside[at]]) for at in seen])
        wide = cp.vec(np.ones((len(seen), 1)) @ cp.reshape(w, (1, m), order="C"), order="C")
        u = cp.vec(room[seen], order="C")
        found.append((word, cp.SOC(u + wide, cp.vstack([2 * cp.vec(roots, order="C"), u - wide]), axis=0)))
        found.append((word, shares @ roots >= w))
        return w

    if cone.form == "product":
        highs, lows = [], []
        for s, mass in enumerate(masses):
            nu, mu = cp.Variable(m), cp.Variable(m)
            share = (mass / (grown + mass)) ** 2
            highs.append(nu - share * square(s, nu, 1))
            lows.append(mu + share * square(s, mu, -1))
        return found + [(word, highs[s] <= gamma * lows[z]) for s, z in cone.pairs]
    for s, z in cone.pairs:
        nu, mu, joint = cp.Variable(m), cp.Variable(m), cp.Variable(m, nonneg=True)
        parts = []
        for block, end, sign in ((s, nu, 1), (z, mu, -1)):
            w = square(block, end, sign)
            if masses[block]:
                part = cp.Variable(m)
                found.append((word, cp.PowCone3D(masses[block] ** 2 * w, joint, part, np.full(m, 1 / 3))))
                parts.append(part * (1.0 if sign > 0 else gamma ** (1 / 3)))
        found.append((word, sum(parts) >= joint if parts else joint == 0))
        found.append((word, nu - gamma * mu <= joint / (grown + masses[s] + masses[z]) ** 2))
    return found


def capacity_rules(cp: Any, q: Any, at_most: Any) -> list[Any]:
    """The rules that max_x D(Q_x || r) is at most a number for some r: the least such maximum is the capacity, and the
    multipliers of the first one are the worst prior (Csiszár 1972, A class of measures of informativity)."""
    k, m = q.shape
    mean = cp.Variable((1, m), nonneg=True)
    return [cp.sum(cp.rel_entr(q, np.ones((k, 1)) @ mean), axis=1) <= at_most, cp.sum(mean) == 1]


def power_rules(cp: Any, q: Any, order: Fraction, height: float) -> list[Any]:
    """The constraint that the Renyi divergence of an order a is at most `height` for all x, z: sum_y Q[x, y]^a
    Q[z, y]^(1 - a) is at most exp((a - 1) height). Near the order 1 its limit is stated, the relative entropy, as
    powers are too flat there for the solver."""
    k, m = q.shape
    x, z = np.nonzero(~np.eye(k, dtype=bool))
    one, other, a = q[x], q[z], float(order)
    if a < FLAT:
        return [cp.sum(cp.rel_entr(one, other), axis=1) <= height]
    # Powers are divided by their limit, which is beyond all floats at high orders.
    power, scaled = cp.Variable((len(x), m), nonneg=True), one * float(np.exp(-height * (a - 1) / a))
    total, (p, u, v) = cp.sum(power, axis=1) <= 1, (cp.vec(part, order="C") for part in (power, other, scaled))
    if a == 2:  # a cone of second order, which is quicker
        return [total, cp.SOC(p + u, cp.vstack([2 * v, p - u]), axis=0)]
    return [total, cp.PowCone3D(p, u, v, 1 / a)]


def _mixture(cp: Any, q: Any, mixture: Mixture) -> Labelled:
    table, limits = permutation_table(mixture, WHERE)
    weights = cp.Variable(table.shape[1], nonneg=True, name="permutations")
    made = table @ weights == cp.vec(q, order="C")
    return [(mixture.name, made), (mixture.name, weights >= limits[:, 0]), (mixture.name, weights <= limits[:, 1])]


def _extras(cp: Any, q: Any, program: Program, orders: Sequence[Sequence[Fraction]]) -> Labelled:
    found = Labelled()
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
    if (notions := program.extra(DivergenceLimits)) is not None:
        stated = iter(orders)
        for number, notion in enumerate(notions.notions):
            label = f"divergence {number}"
            if isinstance(notion, CapacityLimit):
                rules = capacity_rules(cp, q, float(notion.at_most))
            else:
                assert isinstance(notion, PairNotion)
                heights = ((order, float(notion.height(order))) for order in next(stated, notion.first_orders))
                rules = [rule for order, height in heights for rule in power_rules(cp, q, order, height)]
            found += [(label, rule) for rule in rules]
    if (mixture := program.extra(Mixture)) is not None:
        found += _mixture(cp, q, mixture)
    return found


def _labelled(constraint: Any, label: str) -> Any:
    # Constraints of older versions of cvxpy have no labels: there it is an attribute like any other.
    if hasattr(constraint, "set_label"):
        constraint.set_label(label)
    else:
        constraint.label = label
    return constraint
