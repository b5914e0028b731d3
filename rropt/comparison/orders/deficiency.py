"""Le Cam's deficiency: how far a mechanism is from being a garbling of another, enclosed between two proofs."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy import sparse

from rropt.errors import RroptError
from rropt.exact import Interval
from rropt.io.arguments import checked
from rropt.io.tables import Readable
from rropt.mechanisms.garbling import AnyMechanism, Garbling, Rational, explicit_pair, flint_rows, table
from rropt.mechanisms.mechanism import GRID, Mechanism, grid_row
from rropt.solve.engine.lp import LpModel

STEP = 1 << 40
"""Gains of a decision problem found in floats are rounded to multiples of 1/STEP."""


@dataclass(frozen=True)
class DecisionProblem:
    """Guess with a mechanism's output: `prior` over the k inputs, `gain` (k inputs x actions) in [0, 1], both exact."""

    prior: tuple[Fraction, ...]
    gain: Rational

    def value(self, mechanism: Mechanism) -> Fraction:
        """The best expected gain of an action chosen after seeing the output, exact."""
        total = sum(map(max, self.scores(table(mechanism)).tolist()), fmpq(0))
        return Fraction(int(total.p), int(total.q))

    def scores(self, matrix: fmpq_mat) -> fmpq_mat:
        """m x actions: probability of the output times its expected gain under each action."""
        weighted = [[p * gain for gain in row] for p, row in zip(self.prior, self.gain, strict=True)]
        return matrix.transpose() * flint_rows(weighted)


@dataclass(frozen=True)
class Deficiency(Readable):
    """delta(a, b) = min over garblings C of max over inputs of the total variation (half the L1 distance) between
    the rows of a C and of b: 0 exactly when b is a garbling of a.

    `value` encloses it. The upper end is attained by `garbling`; the lower end is what `problem`, whose actions are
    the outputs of b, gains more by b (taking its output as the action) than by a.
    """

    value: Interval
    garbling: Garbling
    problem: DecisionProblem


@checked
def deficiency(a: AnyMechanism, b: AnyMechanism) -> Deficiency:
    """Le Cam's deficiency of mechanism `a` with respect to `b`, both over the same inputs.

    Both ends are verified in exact arithmetic, independently of the linear programme. Raises InputError for an argument
    that is not a mechanism and for different inputs, RroptError where the solver fails. Source: Le Cam 1964; Torgersen
    1991, theorem 6.2.2 (the dual).

        >>> import rropt as rr
        >>> first = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> second = rr.RandomizedResponse(["no", "yes"], gamma=2).to_mechanism()
        >>> round(float(rr.ordering.deficiency(first, second).value), 6)
        0.0
    """
    first, second = explicit_pair(a, b)
    return bracket(first, second)[0]


def bracket(a: Mechanism, b: Mechanism) -> tuple[Deficiency, np.ndarray]:
    """The deficiency, and the float garbling (m_a x m_b) of the linear programme, a basic solution."""
    (size, wide), narrow = a.shape, len(b.outputs)
    answer = _model(a, b).solve()
    if answer.x is None or answer.row_dual is None:
        raise RroptError(f"the linear programme ended with {answer.status!r}", "deficiency", "merge outputs")
    floats = answer.x[: wide * narrow].reshape(wide, narrow).clip(0.0)
    garbling = Garbling(tuple(tuple(_stochastic(row)) for row in floats))
    upper = farthest(a, garbling, b)
    weights = np.abs(answer.row_dual[: size * narrow]).reshape(size, narrow)
    shares = np.abs(answer.row_dual[size * narrow : size * (narrow + 1)])
    prior = tuple(_stochastic(shares))
    gain = tuple(tuple(_gain(weight, float(p)) for weight in row) for row, p in zip(weights, prior, strict=True))
    problem = DecisionProblem(prior, gain)
    lower = max(Fraction(0), obedient(problem, b) - problem.value(a))
    return Deficiency(Interval(lower, upper), garbling, problem), floats


def farthest(a: Mechanism, garbling: Garbling, b: Mechanism) -> Fraction:
    """The largest total variation between a row of a C and the row of b, exact."""
    difference = table(a) * flint_rows(garbling.rows) - table(b)
    worst = max(sum((entry for entry in row if entry > 0), fmpq(0)) for row in difference.tolist())
    return Fraction(int(worst.p), int(worst.q))


def obedient(problem: DecisionProblem, b: Mechanism) -> Fraction:
    """The exact gain of taking the output of b as the action: at most `problem.value(b)`."""
    scores = problem.scores(table(b))
    total = sum((scores[y, y] for y in range(len(b.outputs))), fmpq(0))
    return Fraction(int(total.p), int(total.q))


def _model(a: Mechanism, b: Mechanism) -> LpModel:
    """max -t over (C, s, t): a C + s >= b, row sums of s at most t, C row-stochastic, all >= 0."""
    (size, wide), narrow = a.shape, len(b.outputs)
    cells, excess = wide * narrow, size * narrow
    cost = np.zeros(cells + excess + 1)
    cost[-1] = -1.0
    ones = np.ones((1, narrow))
    matrix = sparse.bmat(
        [
            [sparse.kron(sparse.csr_matrix(a.matrix), sparse.identity(narrow)), sparse.identity(excess), None],
            [None, sparse.kron(sparse.identity(size), ones), -np.ones((size, 1))],
            [sparse.kron(sparse.identity(wide), ones), None, None],
        ]
    )
    lower = np.concatenate([b.matrix.ravel(), np.full(size, -np.inf), np.ones(wide)])
    upper = np.concatenate([np.full(excess, np.inf), np.zeros(size), np.ones(wide)])
    bounds = np.zeros(len(cost)), np.full(len(cost), np.inf)
    return LpModel(cost, matrix, lower, upper, *bounds, method="simplex")


def _stochastic(row: np.ndarray) -> list[Fraction]:
    entries = [Fraction(float(entry)) for entry in row]
    total = sum(entries)
    if not total:
        return [Fraction(1, len(entries))] * len(entries)
    return grid_row([entry / total for entry in entries], GRID)


def _gain(weight: float, p: float) -> Fraction:
    return Fraction(min(STEP, max(0, round(weight / p * STEP))), STEP) if p > 0 else Fraction(0)
