"""Mechanisms whose mutual information is large at every distribution of a set: the maximin with every problem of a
mixture certified (the game is that of `solve/maximin/maximin.py`), and the protocol Q^2 of Theorem 12.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from scipy import sparse

from rropt.declare.constraint import Constraint
from rropt.declare.constraints import RLDP
from rropt.declare.objectives import MutualInformation
from rropt.errors import Conflict, InputError, NoMethod, Refusal, WrongType
from rropt.exact import float_up
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.convex_terms import xlogx
from rropt.model.distributions import ChiSquareSet
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem, Solution
from rropt.program.worst_case import WorstInformation, worst_columns, worst_information
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import ignore_progress
from rropt.solve.engine.rays import cdd_rays
from rropt.solve.maximin.maximin import Game, Mixture, Point
from rropt.solve.rounding import round_to_mechanism

LARGEST_LISTED = 9
"""Inputs up to which all vertices are listed for the protocol of Theorem 12."""

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Maximin(ByContent):
    """A mechanism with a large least mutual information over F, in nats, and its proved bounds.

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
        """Its information at every distribution of F, at least."""
        return self.worst.value.lower

    @property
    def gap(self) -> float:
        """bound - value, rounded up."""
        return float_up(self.bound - self.value)

    @property
    def certified(self) -> bool:
        """Whether the independent checker accepted the proof of `bound`."""
        return self.solution.verdict is not None and self.solution.verdict.proved


@checked
def maximin_information(
    confidence: ChiSquareSet,
    constraints: Sequence[Constraint],
    *,
    gap: float = 1e-3,
    rounds: int = 12,
    time_limit: float = 120.0,
    boxes: int = 400,
) -> Maximin:
    """The mechanism under `constraints` (none on the whole matrix) whose least mutual information over F is largest.

    F is `confidence`; that of the constraints may be another. Stops when the float estimates of both sides are within
    `gap` nats, after `rounds` certified optima, when a round brings nothing new, or at `time_limit` seconds; then the
    least information of the mechanism found is enclosed (`boxes` as in `worst_information`), which takes its own time.
    Raises InputError and NoMethod.
    """
    if not isinstance(confidence, ChiSquareSet):
        raise WrongType(f"{confidence!r} is not a ChiSquareSet", "maximin_information", "give ChiSquareSet(counts)")
    if not (gap > 0 and rounds >= 1 and time_limit > 0):
        raise InputError(
            f"gap is {gap}, rounds {rounds}, time_limit {time_limit}", "maximin_information", "give numbers above 0"
        )
    until = time.monotonic() + time_limit
    mixtures = _Mixtures(confidence, tuple(constraints), gap, until)
    game = Game(confidence, lambda value: gap, lambda: time.monotonic() > until, mixtures.optimum)
    matrix, done = game.run(rounds, ignore_progress)
    best = game.best
    if best is None or best.proof.limit is None:
        raise InputError("no bound could be proved", "maximin_information", "give more time, or fewer inputs")
    made = round_to_mechanism(best.proof.problem.compile(), matrix, None)
    if isinstance(made, Refusal):
        raise InputError(str(made), "maximin_information", "loosen the constraints")
    worst = worst_information(made, confidence, gap=gap / 4, boxes=boxes)
    return Maximin(made, worst, best.proof.limit, best.proof, best.points, best.shares, done)


class _Mixtures:
    """Problems of mixtures, each solved, proved and checked."""

    def __init__(self, confidence: ChiSquareSet, constraints: tuple[Constraint, ...], gap: float, until: float) -> None:
        self.pairs, self.constraints, self.gap, self.until = confidence.pairs, constraints, gap, until
        self.started = False

    def optimum(self, points: tuple[Point, ...], shares: tuple[Fraction, ...]) -> Mixture[Solution] | None:
        """The certified optimum of I(X; Y | Z) for a mixture."""
        table = [[share * point[x] for share, point in zip(shares, points, strict=True)] for x in range(len(points[0]))]
        mean = Prior.from_probabilities([sum(row, Fraction(0)) for row in table], pairs=self.pairs)
        goal = MutualInformation(mean) if len(points) == 1 else MutualInformation(mean, given=table)
        left = max(1.0, self.until - time.monotonic())
        problem = Problem(Maximize(goal), self.constraints)
        if problem.compile().outputs is not None:
            raise Conflict("they tie columns together", "constraints", "give constraints on single columns, as RLDP")
        try:
            solution = problem.solve(gap=self.gap / 8, absolute_gap=self.gap / 8, time_limit=left)
        except NoMethod:
            # No method takes this mixture: the first bound is kept.
            if not self.started:
                raise
            return None
        self.started = True
        if solution.mechanism is None:
            raise InputError(
                "no mechanism satisfies them", "constraints", "; ".join(solution.warnings) or "loosen them"
            )
        bound = math.inf if solution.limit is None else float_up(solution.limit)
        return Mixture(points, shares, solution.mechanism.matrix, bound, solution)


@dataclass(frozen=True, eq=False)
class Columnwise(ByContent):
    """The protocol Q^2 of Theorem 12 and its guarantee: `value` = L, at most its mutual information (nats) at every
    distribution of F, in rationals; `rays` is how many columns it was chosen from."""

    mechanism: Mechanism
    value: Fraction
    rays: int


@checked
def columnwise_maximin(
    confidence: ChiSquareSet, *, epsilon: Number | None = None, gamma: Number | None = None
) -> Columnwise:
    """Q^2 of Theorem 12: of all extreme columns of the polytope form the mixture with the largest L, up to 9 inputs.

    L = sum theta_v mu^2(v), where every column has a worst distribution of its own (46); mu^2 is found in floats by
    its one-dimensional form (-q log q is the least -kappa q + e^{kappa - 1}), and L of the rounded mechanism is then
    proved in rationals. `maximin_information` does better: there one distribution has to be bad for all columns.
    Raises InputError.
    """
    if not isinstance(confidence, ChiSquareSet):
        raise WrongType(f"{confidence!r} is not a ChiSquareSet", "columnwise_maximin", "give ChiSquareSet(counts)")
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
        raise InputError(
            rays.why, "columnwise_maximin", " or ".join([*filter(None, [rays.instead]), "use maximin_information"])
        )
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
    found = scipy.optimize.minimize_scalar(
        value, bounds=inside, method="bounded", options={"xatol": 1e-7, "maxiter": 40}
    )
    return min(float(found.fun), values[at])
