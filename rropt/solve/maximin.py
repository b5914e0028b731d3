"""The `maximin` method: the largest least information over a set of distributions, as a game.

For one mechanism I_P(X; Y) is concave in P, which makes its least value hard. But over the measures theta on columns it
is linear, for I_P = sum_v theta_v mu_P(v). So max over mechanisms of min over P of I_P is a matrix game, and its value
is the least, over mixtures lambda of distributions P_i of F, of

    max over mechanisms of sum_i lambda_i I_{P_i}(X; Y) = max of I(X; Y | Z),

Z the index of the P_i that was drawn: mutual information given another variable, a problem with certificates. The
optimum of every mixture is no less than the maximin; at the best mixture they are equal. Both players grow their lists
in turn: columns from the optimum of the mixture, distributions from descents on I_P.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
from scipy import sparse

from rropt.errors import InputError, NoMethod, Refusal
from rropt.exact import cleared
from rropt.model.convex_terms import xlogx
from rropt.model.distributions import ChiSquareSet
from rropt.program.cones import Cone, FloatArray, FreeCone
from rropt.program.extras import Extra
from rropt.program.programs import Information, Program
from rropt.program.worst_case import LeastInformation
from rropt.prove.steps import relax
from rropt.solve.engine.climb import climb
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Answer, MatrixDraft, Method, SolveLimits, SolverClaim, solve_part

GRAIN, SHARE_GRAIN = 1 << 30, 1 << 20
"""Probabilities are multiples of 2^-30 or so, shares of a mixture of 2^-20. Chosen: GRAIN measured in one case: at
536,870,912 the work 0.98 times; at 2,147,483,648 the work 0.98 times; SHARE_GRAIN measured in one case: at 524,288 the
work 0.97 times; at 2,097,152 the work 0.97 times."""
SHARES = (0.0, 2.0**-26, 2.0**-18, 2.0**-10, 0.5)
"""Shares by which a distribution is moved toward the observed one until it is surely in F. Chosen: measured in one
case: at half the work 0.97 times; at double the work 0.97 times."""
REPLIES, DESCENTS, STARTS = 30, 60, 6
"""Rounds of a game, steps of one descent to a worse distribution, and the last points from which descents start.
Chosen: REPLIES measured in one case: at 15 the work 0.97 times; at 60 the work 0.97 times; DESCENTS measured in one
case: at 30 the work 0.78 times; at 120 the work 1.04 times; STARTS measured in one case: at 3 the work 0.82 times; at
12 the work 0.97 times."""
ROUNDS = 12
"""Optima of mixtures at most. Chosen: measured in one case: at 6 the work 0.97 times; at 24 the work 0.97 times."""
RESERVED = 0.4
"""The share of a time limit that is left to enclose the least information of the mechanism and to prove the bound.
Chosen: by reason, as no case has a clock: without the enclosure there is no value, so it has nearly half."""

Point = tuple[Fraction, ...]
P = TypeVar("P")


@dataclass(frozen=True)
class Mixture(Generic[P]):
    """Distributions with their shares, exact, and the optimum of information given which of them was drawn: a float
    matrix (k x m), a bound in nats, and `proof`, the source of the bound."""

    points: tuple[Point, ...]
    shares: tuple[Fraction, ...]
    matrix: FloatArray
    bound: float
    proof: P


Optimum = Callable[[tuple[Point, ...], tuple[Fraction, ...]], Mixture[P] | None]
"""The optimum of a mixture, or None where no method takes it, or nothing was found."""


class Game(Generic[P]):
    """The columns and distributions found so far. `allowed`: the gap that is allowed
    at some value, nats; `over`: when to stop; `optimum` solves a mixture."""

    def __init__(
        self,
        confidence: ChiSquareSet,
        allowed: Callable[[float], float],
        over: Callable[[], bool],
        optimum: Optimum[P],
    ) -> None:
        self.confidence, self.allowed, self.over, self.optimum = confidence, allowed, over, optimum
        self.points: list[Point] = [confidence.center.probabilities]
        size = len(confidence.pairs)
        self.columns = np.ones((size, 1)) / size
        self.best: Mixture[P] | None = None
        self.value = 0.0

    def run(self, rounds: int, monitor: Callable[[float | None, float | None], None]) -> tuple[FloatArray, int]:
        """(the columns of the last game times their weights, optima solved), after optima of mixtures and replies to
        them in turn; `best` is the mixture of the least bound."""
        shares, done, theta = np.ones(1), 0, np.ones(1)
        for _ in range(rounds):
            before = self.columns.shape[1]
            done += 1
            self._solve(shares)
            shares, theta, self.value = self._replies()
            monitor(self.value, None if self.best is None else self.best.bound)
            if self.best is None or self.best.bound - self.value <= self.allowed(self.value) / 2 or self.over():
                break
            if self.columns.shape[1] == before:
                break
        return self.columns * theta, done

    # -- the mixtures --------------------------------------------------------------------------------

    def _solve(self, shares: FloatArray) -> None:
        """The optimum of I(X; Y | Z) for a mixture: its columns, and its bound if it is the best."""
        whole = [round(float(share) * SHARE_GRAIN) for share in shares]
        kept = [at for at, number in enumerate(whole) if number > 0]
        total = sum(whole[at] for at in kept)
        weights = tuple(Fraction(whole[at], total) for at in kept)
        found = self.optimum(tuple(self.points[at] for at in kept), weights)
        if found is None:
            return
        if np.isfinite(found.bound) and (self.best is None or found.bound < self.best.bound):
            self.best = found
        matrix = found.matrix[:, found.matrix.sum(axis=0) > 1e-12]
        matrix = matrix / matrix.sum(axis=0)
        known = self.columns
        new = [y for y in range(matrix.shape[1]) if np.abs(known - matrix[:, y : y + 1]).max(axis=0).min() > 1e-9]
        self.columns = np.hstack([known, matrix[:, new]])

    # -- the game over the columns and distributions found
    # -----------------------------------------------------------------

    def _replies(self) -> tuple[FloatArray, FloatArray, float]:
        """(shares of the distributions, theta, value) once no descent finds a worse distribution for theta."""
        for _ in range(REPLIES):
            shares, theta, value = self._game()
            matrix = self.columns[:, theta > 1e-12] * theta[theta > 1e-12]
            own = xlogx(matrix).sum(axis=1)
            worst, point = value, None
            # Descents begin at the centre and at the distributions that have been worst lately.
            lately = [np.array([float(p) for p in at]) for at in self.points[-STARTS:]]
            for start in (self.confidence.center.array, *lately):
                found, at = descend(own, matrix, self.confidence, start)
                if found < worst - self.allowed(value) / 64:
                    worst, point = found, at
            exact = None if point is None else surely(self.confidence, point)
            if exact is None or exact in self.points:
                return shares, theta, worst
            self.points.append(exact)
            if self.over():
                break
        return (*self._game()[:2], worst)

    def _game(self) -> tuple[FloatArray, FloatArray, float]:
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
            raise InputError(f"the game of the columns ended {found.status}", "least information", "try another gap")
        shares = np.maximum(found.row_dual[:points], 0.0)
        return shares / shares.sum(), np.maximum(found.x[:count], 0.0), found.objective


class MaximinMethod(Method):
    """The game, its mixtures solved by the method that `choose` names for them."""

    name = "maximin"
    because = "the least information over a set is a game: mixtures of its distributions are solved in turn"
    takes = (LeastInformation, Extra, Cone)
    purpose = "the least information over a set"
    solvers = ()

    def __init__(self, choose: Callable[[Program], Method]) -> None:
        self._choose = choose

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        assert isinstance(program.utility, LeastInformation)
        if program.sense == "minimize":
            return Refusal("the least information can be maximised only", "maximise it")
        try:
            self._choose(_at_center(program))
        except NoMethod as error:
            return Refusal(error.what, error.remedy)
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        assert isinstance(program.utility, LeastInformation)
        if program.outputs is not None or isinstance(program.cone, FreeCone):
            # Columns that are tied together do not make a game: the mechanism and the bound are those of one
            # distribution.
            alone = _at_center(program)
            found = self._choose(alone).solve(alone, effort)
            return replace(found, relaxed=found.stated or relax(alone, found.steps))
        begun = time.monotonic()
        limit = effort.time_limit
        own = effort if limit is None else replace(effort, time_limit=(1 - RESERVED) * limit)

        def optimum(points: tuple[Point, ...], shares: tuple[Fraction, ...]) -> Mixture[tuple[Program, Answer]] | None:
            one = mixed(program, points, shares)
            left = own.remaining()
            finer = replace(own, gap=effort.gap / 8, absolute_gap=effort.absolute_gap / 8)
            try:
                answer, bound = solve_part(self._choose(one), one, finer, None if left is None else max(1.0, left))
            except NoMethod:
                # The first bound is kept.
                return None
            if answer.matrix is None or answer.claim.objective is None:
                return None
            proof = relax(one, answer.steps), answer
            return Mixture(points, shares, answer.matrix, bound, proof)

        def allowed(value: float) -> float:
            effort.found(value)
            return effort.allowed

        game = Game(program.utility.confidence, allowed, lambda: bool(own.stopped()), optimum)
        matrix, done = game.run(ROUNDS, effort.monitor)
        status = effort.stopped() or own.stopped() or f"{done} mixtures"
        claim, draft = SolverClaim("rropt", status, game.value, time.monotonic() - begun), MatrixDraft.of(matrix)
        if game.best is None:
            return Answer(claim, draft).with_notes("no mixture of distributions was solved")
        relaxed, answer = game.best.proof
        return Answer(claim, draft, answer.dual, relaxed)


def _at_center(program: Program) -> Program:
    """The program that maximises the information at the observed distribution, which exceeds the least one."""
    assert isinstance(program.utility, LeastInformation)
    return mixed(program, (program.utility.confidence.center.probabilities,), (Fraction(1),))


def mixed(program: Program, points: tuple[Point, ...], shares: tuple[Fraction, ...]) -> Program:
    """The program that maximises I(X; Y | Z) for a mixture of distributions, exact."""
    size, count = program.size, len(points)
    table = [share * point[x] for x in range(size) for share, point in zip(shares, points, strict=True)]
    whole = cleared(table)
    rows = tuple(whole[x * count : (x + 1) * count] for x in range(size))
    weights = tuple(map(sum, rows))
    return replace(program, weights=weights, utility=Information(weights, rows if count > 1 else None))


def descend(
    own: FloatArray, matrix: FloatArray, confidence: ChiSquareSet, start: FloatArray
) -> tuple[float, FloatArray]:
    """(I_P, P) at a local minimum over F from `start`, for a k x m float matrix; `own` is sum_y Q log Q of each row."""

    def slope(at: FloatArray) -> FloatArray:
        return np.asarray(matrix @ np.log(np.maximum(at @ matrix, 1e-300)) - own)

    def worth(at: FloatArray) -> float:
        return float(xlogx(at @ matrix).sum() - own @ at)

    point, value = climb(start, worth, slope, lambda cost: confidence.support(cost)[1], DESCENTS, 1e-13)
    return -value, point


def surely(confidence: ChiSquareSet, point: FloatArray) -> Point | None:
    """A short rational distribution of F next to `point`, or None."""
    center = confidence.center.array
    for share in SHARES:
        whole = [max(0, round(float(value) * GRAIN)) for value in point + share * (center - point)]
        total = sum(whole)
        found = tuple(Fraction(number, total) for number in whole)
        if confidence.joint.contains(found, surely=True):
            return found
    return None


def informations(prior: FloatArray, columns: FloatArray) -> FloatArray:
    """mu_P(v) of every column: sum_x P_x v_x log v_x - w log w, w = P . v."""
    return np.asarray(prior @ xlogx(columns) - xlogx(prior @ columns))
