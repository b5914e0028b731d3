"""Mechanisms whose mutual information is large at every distribution of a set: the maximin with every problem of a
mixture certified (the game is that of `solve/maximin.py`).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.declare.constraint import Constraint
from rropt.declare.objectives import MutualInformation
from rropt.errors import Conflict, InputError, NoMethod, Refusal, WrongType
from rropt.exact import float_up
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.distributions import ChiSquareSet
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem, Solution
from rropt.program.worst_case import WorstInformation, worst_information
from rropt.solve.engine.method import ignore_progress
from rropt.solve.maximin import Game, Mixture, Point
from rropt.solve.rounding import round_to_mechanism


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

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> found = rr.robust.maximin_information(known, [rr.LDP(1)], gap=0.1, rounds=1, boxes=3, time_limit=2)
        >>> found.value <= found.bound
        True
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
