"""Mechanisms whose mutual information is large at every distribution of a set: the maximin, with a proved bound.

For one mechanism I_P(X; Y) is concave in P, which makes its least value hard. But over the measures theta on columns it
is linear, for I_P = sum_v theta_v mu_P(v). So max over mechanisms of min over P of I_P is a matrix game, and its value
is the least, over mixtures lambda of distributions of F, of

    max over mechanisms of sum_i lambda_i I_{P_i}(X; Y) = max of I(X; Y | Z),

Z telling which P_i was drawn: mutual information given another variable, a problem with certificates. Whatever the
mixture, its optimum is no less than the maximin; at the best mixture they are equal. Both players grow their lists in
turn: columns from the certified optimum of the mixture, distributions from descents on I_P.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import optimize, sparse

from rropt.comparison.worst_information import WorstInformation, worst_columns, worst_information
from rropt.confidence import ChiSquareSet
from rropt.constraints import RLDP
from rropt.constraints.base import Constraint
from rropt.errors import InputError, NoRoute, Refusal
from rropt.exact import float_up
from rropt.mechanisms.mechanism import Mechanism
from rropt.objectives import MutualInformation
from rropt.priors import Prior
from rropt.problem import Maximize, Problem, Solution
from rropt.programs import xlogx
from rropt.rounding import round_to_mechanism
from rropt.routes.lp import LpModel
from rropt.routes.rays import cdd_rays

GRAIN, SHARE_GRAIN = 1 << 30, 1 << 20
"""Probabilities are multiples of 2^-30 or so, shares of a mixture of 2^-20."""
SHARES = (0.0, 2.0**-26, 2.0**-18, 2.0**-10, 0.5)
"""Shares by which a distribution is moved toward the observed one until it is surely in F."""
REPLIES, DESCENTS, STARTS = 30, 60, 6
LARGEST_LISTED = 9
"""Inputs up to which all vertices are listed for the protocol of Theorem 12."""

Array = np.ndarray
Point = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Maximin:
    """A mechanism with a large least mutual information over F, in nats, and what is proved of it.

    `worst.value` encloses its least information, with a distribution of F. No mechanism under the same constraints has
    a least information above `bound`: the certified optimum of `solution`, mutual information given which of
    `distributions` (all in F) was drawn, with their `shares`. `rounds` is how many such problems were solved.
    """

    mechanism: Mechanism
    worst: WorstInformation
    bound: Fraction
    solution: Solution
    distributions: tuple[Point, ...]
    shares: tuple[Fraction, ...]
    rounds: int

    @property
    def value(self) -> Fraction:
        """What it has at every distribution of F, at least."""
        return self.worst.value.lower

    @property
    def gap(self) -> float:
        """bound - value, rounded up."""
        return float_up(self.bound - self.value)

    @property
    def certified(self) -> bool:
        """Whether the independent checker accepted the proof of `bound`."""
        return self.solution.verdict is not None and self.solution.verdict.proved


def maximin_information(
    confidence: ChiSquareSet,
    constraints: Sequence[Constraint],
    gap: float = 1e-3,
    rounds: int = 12,
    time_limit: float = 120.0,
    boxes: int = 400,
) -> Maximin:
    """The mechanism under `constraints` (none on the whole matrix) whose least mutual information over F is largest.

    F is `confidence`; that of the constraints may be another. Stops when the float estimates of both sides are within
    `gap` nats, after `rounds` certified optima, when a round brings nothing new, or at `time_limit` seconds; then the
    least information of the mechanism found is enclosed (`boxes` as in `worst_information`), which takes its own time.
    Raises InputError and NoRoute.
    """
    if not isinstance(confidence, ChiSquareSet):
        raise InputError(f"{confidence!r} is no ChiSquareSet", "maximin_information", "give ChiSquareSet(counts)")
    if not (gap > 0 and rounds >= 1 and time_limit > 0):
        raise InputError(
            f"gap is {gap}, rounds {rounds}, time_limit {time_limit}", "maximin_information", "give numbers above 0"
        )
    return _Game(confidence, tuple(constraints), gap, time.monotonic() + time_limit).run(rounds, boxes)


class _Game:
    """The columns and distributions found so far."""

    def __init__(self, confidence: ChiSquareSet, constraints: tuple[Constraint, ...], gap: float, until: float) -> None:
        self.confidence, self.constraints, self.gap, self.until = confidence, constraints, gap, until
        self.points: list[Point] = [confidence.center.probabilities]
        size = len(confidence.pairs)
        self.columns = np.ones((size, 1)) / size
        self.best: tuple[Fraction, Solution, tuple[Point, ...], tuple[Fraction, ...]] | None = None

    def run(self, rounds: int, boxes: int) -> Maximin:
        """Optima of mixtures and replies to them in turn, then what is proved of the last game's mechanism."""
        shares, done, theta = np.ones(1), 0, np.ones(1)
        for _ in range(rounds):
            before = self.columns.shape[1]
            done += 1
            self._solved(shares)
            shares, theta, value = self._replies()
            assert self.best is not None
            if float(self.best[0]) - value <= self.gap / 2 or time.monotonic() > self.until:
                break
            if self.columns.shape[1] == before:
                break
        assert self.best is not None
        bound, solution, points, weights = self.best
        made = round_to_mechanism(solution.problem.compile(), self.columns * theta, None)
        if isinstance(made, Refusal):
            raise InputError(str(made), "maximin_information", "loosen the constraints")
        worst = worst_information(made, self.confidence, self.gap / 4, boxes)
        return Maximin(made, worst, bound, solution, points, weights, done)

    # -- the certified side --------------------------------------------------------------------------

    def _solved(self, shares: Array) -> None:
        """The optimum of I(X; Y | Z) for a mixture: its columns, and its bound if it is the best."""
        whole = [round(float(share) * SHARE_GRAIN) for share in shares]
        kept = [at for at, number in enumerate(whole) if number > 0]
        total = sum(whole[at] for at in kept)
        weights = tuple(Fraction(whole[at], total) for at in kept)
        points = tuple(self.points[at] for at in kept)
        table = [
            [share * point[x] for share, point in zip(weights, points, strict=True)] for x in range(len(points[0]))
        ]
        pairs = self.confidence.pairs
        mean = Prior.from_probabilities([sum(row, Fraction(0)) for row in table], pairs=pairs)
        goal = MutualInformation(mean) if len(points) == 1 else MutualInformation(mean, given=table)
        left = max(1.0, self.until - time.monotonic())
        problem = Problem(Maximize(goal), self.constraints)
        if problem.compile().outputs is not None:
            raise InputError("they tie columns together", "constraints", "give constraints on single columns, as RLDP")
        try:
            solution = problem.solve(gap=self.gap / 8, time_limit=left)
        except NoRoute:
            # The exact cone of a confidence set knows plain mutual information alone: its first bound stands.
            if self.best is None:
                raise
            return
        if solution.mechanism is None:
            raise InputError(
                "no mechanism satisfies them", "constraints", "; ".join(solution.warnings) or "loosen them"
            )
        if solution.limit is not None and (self.best is None or solution.limit < self.best[0]):
            self.best = solution.limit, solution, points, weights
        if self.best is None:
            raise InputError("no bound could be proved", "maximin_information", "give more time, or fewer inputs")
        found = solution.mechanism.matrix
        found = found[:, found.sum(axis=0) > 1e-12]
        found = found / found.sum(axis=0)
        known = self.columns
        new = [y for y in range(found.shape[1]) if np.abs(known - found[:, y : y + 1]).max(axis=0).min() > 1e-9]
        self.columns = np.hstack([known, found[:, new]])

    # -- the game over what is known -----------------------------------------------------------------

    def _replies(self) -> tuple[Array, Array, float]:
        """(shares of the distributions, theta, value) once no descent finds a worse distribution for theta."""
        for _ in range(REPLIES):
            shares, theta, value = self._game()
            matrix = self.columns[:, theta > 1e-12] * theta[theta > 1e-12]
            own = xlogx(matrix).sum(axis=1)
            worst, point = value, None
            for start in self._starts():
                found, at = descend(own, matrix, self.confidence, start)
                if found < worst - self.gap / 64:
                    worst, point = found, at
            exact = None if point is None else surely(self.confidence, point)
            if exact is None or exact in self.points:
                return shares, theta, worst
            self.points.append(exact)
        return (*self._game()[:2], worst)

    def _starts(self) -> list[Array]:
        """Where descents begin: the centre and the distributions that have been worst lately."""
        return [self.confidence.center.array, *[np.array([float(p) for p in at]) for at in self.points[-STARTS:]]]

    def _game(self) -> tuple[Array, Array, float]:
        """max over theta of the least sum theta_v mu_P(v) over the points: a linear programme, its duals the shares."""
        size, count, points = *self.columns.shape, len(self.points)
        worth = np.array([informations(np.array([float(p) for p in point]), self.columns) for point in self.points])
        top = sparse.hstack([sparse.csr_matrix(-worth), np.ones((points, 1))])
        sums = sparse.hstack([sparse.csr_matrix(self.columns), sparse.csr_matrix((size, 1))])
        cost = np.append(np.zeros(count), 1.0)
        upper = np.concatenate([np.zeros(points), np.ones(size)])
        lower = np.concatenate([np.full(points, -np.inf), np.ones(size)])
        ends = np.append(np.zeros(count), -np.inf), np.full(count + 1, np.inf)
        found = LpModel(cost, sparse.vstack([top, sums], format="csr"), lower, upper, *ends).solve(None, None)
        if found.x is None or found.row_dual is None:
            raise InputError(f"the game of the columns ended {found.status}", "maximin_information", "try another gap")
        shares = np.maximum(found.row_dual[:points], 0.0)
        return shares / shares.sum(), np.maximum(found.x[:count], 0.0), found.objective


@dataclass(frozen=True, eq=False)
class Columnwise:
    """The protocol Q^2 of Theorem 12 and its guarantee: `bound` = L, at most its mutual information (nats) at every
    distribution of F, in rationals; `rays` is how many columns it was chosen from."""

    mechanism: Mechanism
    bound: Fraction
    rays: int


def columnwise_maximin(confidence: ChiSquareSet, epsilon: object = None, gamma: object = None) -> Columnwise:
    """Q^2 of Theorem 12: of all extreme columns of the polytope form the mixture with the largest L, up to 9 inputs.

    L = sum theta_v mu^2(v), where every column has a worst distribution of its own (46); mu^2 is found in floats by
    its one-dimensional form (-q log q is the least -kappa q + e^{kappa - 1}), and L of the rounded mechanism is then
    proved in rationals. `maximin_information` does better: there one distribution has to be bad for all columns.
    Raises InputError.
    """
    if not isinstance(confidence, ChiSquareSet):
        raise InputError(f"{confidence!r} is no ChiSquareSet", "columnwise_maximin", "give ChiSquareSet(counts)")
    size = len(confidence.pairs)
    if size > LARGEST_LISTED:
        raise InputError(
            f"{size} pairs",
            "columnwise_maximin",
            f"it lists vertices: at most {LARGEST_LISTED}; use maximin_information",
        )
    rule = RLDP(epsilon, confidence, gamma=gamma)
    problem = Problem(Maximize(MutualInformation(confidence.center)), [rule])
    cone = rule.cone(confidence.pairs.labels)
    assert cone is not None
    rays = cdd_rays(cone.general(), size)
    if isinstance(rays, Refusal):
        raise InputError(str(rays), "columnwise_maximin", "use maximin_information")
    worth = np.array([least_column(confidence, rays[:, y]) for y in range(rays.shape[1])])
    ends = np.zeros(rays.shape[1]), np.full(rays.shape[1], np.inf)
    found = LpModel(worth, sparse.csr_matrix(rays), np.ones(size), np.ones(size), *ends).solve(None, None)
    if found.x is None:
        raise InputError(f"no mixture of the columns ({found.status})", "columnwise_maximin", "use maximin_information")
    made = round_to_mechanism(problem.compile(), rays * np.maximum(found.x, 0.0), None)
    if isinstance(made, Refusal):
        raise InputError(str(made), "columnwise_maximin", "try another epsilon")
    return Columnwise(made, worst_columns(made, confidence), rays.shape[1])


def least_column(confidence: ChiSquareSet, column: Array) -> float:
    """mu^2 (46) of one column in floats: the least over kappa of e^{kappa - 1} + min over P of P . (v log v - kappa v).

    The first term is convex and the second concave in kappa, so a grid comes before the local search.
    """
    own = xlogx(column)
    high, low = confidence.support(column)[0], -confidence.support(-column)[0]
    if high <= 0:
        return 0.0

    def value(kappa: float) -> float:
        return float(np.exp(kappa - 1) - confidence.support(kappa * column - own)[0])

    ends = 1 + np.log(max(low, 1e-12 * high)), 1 + np.log(high)
    grid = np.linspace(*ends, 5)
    values = [value(kappa) for kappa in grid]
    at = int(np.argmin(values))
    if ends[1] - ends[0] < 1e-9:
        return values[at]
    inside = grid[max(at - 1, 0)], grid[min(at + 1, 4)]
    found = optimize.minimize_scalar(value, bounds=inside, method="bounded", options={"xatol": 1e-7, "maxiter": 40})
    return min(float(found.fun), values[at])


def descend(own: Array, matrix: Array, confidence: ChiSquareSet, start: Array) -> tuple[float, Array]:
    """(I_P, P) at a local minimum over F from `start`, for a k x m float matrix; `own` is sum_y Q log Q of each row."""

    def information(at: Array) -> float:
        return float(own @ at - xlogx(at @ matrix).sum())

    point, value = start, information(start)
    for _ in range(DESCENTS):
        with np.errstate(divide="ignore"):
            slope = own - matrix @ np.log(np.maximum(point @ matrix, 1e-300))
        new = confidence.support(-slope)[1]
        found = information(new)
        if not found < value - 1e-13:
            break
        point, value = new, found
    return value, point


def surely(confidence: ChiSquareSet, point: Array) -> Point | None:
    """A short rational distribution of F next to `point`, or None."""
    center = confidence.center.array
    for share in SHARES:
        whole = [max(0, round(float(value) * GRAIN)) for value in point + share * (center - point)]
        total = sum(whole)
        found = tuple(Fraction(number, total) for number in whole)
        if confidence.joint.contains(found, surely=True):
            return found
    return None


def informations(prior: Array, columns: Array) -> Array:
    """mu_P(v) of every column: sum_x P_x v_x log v_x - w log w, w = P . v."""
    return np.asarray(prior @ xlogx(columns) - xlogx(prior @ columns))
