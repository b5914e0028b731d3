"""The `merge_outputs` method: Bayes gains under constraints that merging outputs keeps, with one output per action.

Outputs with the same best action can be merged, and each named after its action, without loss: the gain is linear then.
Limits on leakage and divergences, cones of columns and approximate privacy are kept by both, as are rows about sets of
outputs where those of all sets are there.

The `identity` method: where no constraint forbids them, the true answers are optimal, and so are their permutations.

An information or a Bayes gain is a sum over columns of a convex, homogeneous mu, so that mu(q) <= sum_x q_x mu(e_x) for
every column q, and rows sum to one: no mechanism has more than sum_x mu(e_x), which the true answers have. Every
mechanism is the true answers and a random choice that does not look at the input again, which lessens the information
matrix: no design has less risk.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from operator import add

import numpy as np

from rropt.errors import NoMethod, Refusal
from rropt.exact import Interval
from rropt.mechanisms.columns import DenseColumn, TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import Cone, FloatArray, FreeCone, PolyhedralCone, base_cone
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.events import ApproximateBound
from rropt.program.extras import Extra
from rropt.program.permutation_mixtures import Mixture
from rropt.program.programs import BayesGain, ColumnSum, Divergence, Linear, Program, Utility
from rropt.prove.steps import EXTRAS, drop
from rropt.solve.designs.criteria import DesignForms
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.engine.method import AUTO, Answer, Dual, ExactDraft, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.relaxations.approximate_ldp import pure_and_truth

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


NEAR = 1e-9
"""Actions whose gains in floats differ by less, relative to their terms, are compared in rationals."""
RESERVE = 8.0
"""Seconds for another mechanism where the time limit ended the programme of a Bayes gain."""

NOTE = "outputs with the same best action were merged: the bound is that of one output for each action"


class MergeOutputsMethod(Method):
    """The linear problem with one output per action."""

    name = "merge_outputs"
    because = "outputs with the same best action can be merged within all constraints: with one for each it is linear"
    takes = (Extra, Cone)
    goals = "maximises Bayes gains only"
    solvers = ()

    def __init__(self, choose: Callable[[Program], Method]) -> None:
        self._choose = choose

    def takes_goal(self, program: Program) -> bool:
        return program.sense == "maximize" and isinstance(program.utility, BayesGain)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        linear = one_output_an_action(program)
        if not program.rows and not program.extras:
            return Refusal("merge_outputs is for constraints on several outputs together", "use method linear")
        if linear is None:
            return Refusal(
                "merge_outputs needs one output per action, and constraints that still hold when outputs are merged",
                "give more outputs, or leave the rows out",
            )
        try:
            self._choose(linear)
        except NoMethod as error:
            return Refusal(str(error), AUTO)
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        linear = one_output_an_action(program)
        assert linear is not None
        answer = self._choose(linear).solve(linear, effort)
        if answer.claim.stopped and program.extra(ApproximateBound) is not None:
            answer = _unfinished(program, answer, effort)
        return replace(answer, relaxed=(answer.stated or linear, *answer.steps)).with_notes(NOTE)


def _unfinished(program: Program, answer: Answer, effort: SolveLimits) -> Answer:
    """The answer if the time limit ended the programme over events, without multipliers: the bound is the gain of the
    truth."""
    utility = program.utility
    assert isinstance(utility, BayesGain)
    pure = pure_and_truth(program, effort, time.monotonic() + 0.8 * RESERVE)
    matrix = None if pure is None else np.zeros_like(pure)
    if pure is not None and matrix is not None:
        for column in pure.T:
            matrix[:, (utility.table @ column).argmax()] += column
    dual = Dual(utility.table.max(axis=0), np.zeros(len(program.rows)))
    return replace(answer, draft=MatrixDraft.of(matrix, program.outputs), dual=dual)


def one_output_an_action(program: Program) -> Program | None:
    """The linear programme with output g for action g that has the optimum of a Bayes gain. Outputs beyond the actions
    stay empty: they are worth no more than any action, be it a loss. None where that is not so of `program`."""
    utility = program.utility
    if program.sense != "maximize" or not isinstance(utility, BayesGain) or not is_merged(program):
        return None
    outputs = utility.actions if program.outputs is None else program.outputs
    if len(utility.actions) > len(outputs):
        return None
    scores = utility.scores()
    none = tuple(min(Fraction(0), *(row[x] for row in scores)) for x in range(program.size))
    scores = (*scores, *[none] * (len(outputs) - len(scores)))
    cost = tuple((x, g, row[x]) for x in range(program.size) for g, row in enumerate(scores) if row[x])
    return replace(program, outputs=outputs, utility=Linear(cost))


def is_by_actions(program: Program, stated: Program | None) -> bool:
    """Whether a Bayes gain is stated as a linear objective, with an output for each action."""
    linear = stated is not None and isinstance(stated.utility, Linear) and stated.outputs is not None
    return linear and isinstance(program.utility, BayesGain)


def linear_value(stated: Program, mechanism: Mechanism) -> Interval | None:
    """The value of a mechanism in the linear problem that replaces that of a Bayes gain: rounding may change the best
    action of an output of next to no mass, and so the gain very slightly. None where it has other outputs."""
    assert isinstance(stated.utility, Linear)
    if mechanism.outputs != stated.outputs:
        return None
    terms = stated.utility.cost
    return Interval.point(sum((value * mechanism.entry(x, y) for x, y, value in terms), Fraction(0)))


def merge_outputs(mechanism: Mechanism, utility: BayesGain, linear: Program) -> Mechanism:
    """The mechanism with the outputs of `linear`, which has one for each action (`one_output_an_action`): each output
    becomes that of its best action, its own where that is among the best. The gain is the same."""
    outputs = linear.outputs
    assert outputs is not None
    scores = utility.scores()
    gains, sizes = utility.table @ mechanism.matrix, np.abs(utility.table) @ mechanism.matrix
    merged = [(0,) * len(mechanism.inputs) for _ in outputs]
    for y, numbers in enumerate(mechanism.numerators):
        # Floats leave few actions, mostly one; among several, rationals decide.
        best = np.flatnonzero(gains[:, y] >= gains[:, y].max() - NEAR * sizes[:, y].max()).tolist()
        if len(best) > 1:
            column = mechanism.column(y)
            exact = [sum((s * q for s, q in zip(scores[g], column, strict=True) if q), Fraction(0)) for g in best]
            most = max(exact)
            best = [g for g, gain in zip(best, exact, strict=True) if gain == most]
        place = next((g for g in best if outputs[g] == mechanism.outputs[y]), best[0])
        merged[place] = tuple(map(add, merged[place], numbers))
    if mechanism.outputs == outputs and tuple(merged) == mechanism.numerators:
        return mechanism
    return Mechanism(mechanism.inputs, outputs, tuple(map(DenseColumn, merged)), mechanism.denominators)


def is_merged(program: Program) -> bool:
    """Whether every mechanism of a program is one after outputs are merged and named otherwise. So are rows
    sum over y of a set of c.q_y <= r, where those of all sets are there, for the same c and r."""
    if not all(extra.merges for extra in program.extras):
        return False
    outputs = len(program.outputs or ())
    everything = (1 << outputs) - 1
    sets: dict[tuple[frozenset[tuple[int, Fraction]], Fraction], set[int]] = {}
    for row in program.rows:
        columns: dict[int, set[tuple[int, Fraction]]] = {}
        for x, y, value in row.terms:
            columns.setdefault(y, set()).add((x, value))
        alike = {frozenset(column) for column in columns.values()}
        if row.sense != "<=" or len(alike) != 1:
            return False
        sets.setdefault((alike.pop(), row.rhs), set()).add(sum(1 << y for y in columns))
    # A set may become empty or the whole: such a row must hold by itself.
    return all(
        len(own - {everything}) == everything - 1 and right >= 0 and sum(value for _, value in form) <= right
        for (form, right), own in sets.items()
    )
