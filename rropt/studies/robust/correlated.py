"""The best mechanism for an input that is correlated with what is sensitive, exactly robust, with a proved bound.

Over all pairs (s, x) a column of such a mechanism is one vector v repeated for every s, so it is (epsilon, F)-private
exactly where that repeated column lies in the cone of the confidence set (`confidence_cone`). Each P of F demands one
linear inequality of v. Finitely many of them leave too many mechanisms: their certified optimum is a bound. The worst P
of a column found there is the next inequality; and the small violation of the last mechanism is removed by
mixing in an uninformative output.
"""

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.declare.constraints import RLDP, ConeConstraint
from rropt.declare.objectives import MutualInformation
from rropt.errors import InputError, WrongType
from rropt.exact import Interval, float_up
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import same_labels
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.convex_terms import xlogx
from rropt.model.distributions import ChiSquareSet, Joint
from rropt.model.distributions.quantile import significant_down, significant_up
from rropt.model.prior import Prior
from rropt.problem import Maximize, Problem, Solution
from rropt.program.confidence_cones import ConfidenceCone, chi_square_cone
from rropt.solve.engine.lp import LpModel
from rropt.solve.rounding import round_to_mechanism

GRAIN = 1 << 40
"""Conditionals of a cut are in proportion to multiples of 2^-40."""
TINY = 1e-9
"""Columns that miss an inequality by less than this share of their largest entry are not cut again."""
Row = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class CorrelatedOptimum(ByContent):
    """A mechanism that is (epsilon, F)-RLDP, and a bound on all of them.

    `value` encloses its information about X at the centre, in nats; that it satisfies `constraint` (form exact) was
    verified in rationals. No mechanism that does has more than `bound`, the certified optimum of `solution`: the same
    objective under the inequalities of `cuts` distributions of F (None where X itself is private, which is the
    optimum).
    """

    mechanism: Mechanism
    value: Interval
    bound: Fraction
    constraint: RLDP
    solution: Solution | None
    cuts: int

    @property
    def gap(self) -> float:
        """bound - value, nats, rounded up."""
        return float_up(self.bound - self.value.lower)


@checked
def correlated_optimum(
    joint: Joint,
    epsilon: Number | None = None,
    *,
    gamma: Number | None = None,
    prior: Prior | None = None,
    gap: float = 1e-5,
    rounds: int = 40,
    time_limit: float = 120.0,
) -> CorrelatedOptimum:
    """The mechanism of most mutual information with X among those that are exactly robust over `joint`, a `Joint` of a
    `ChiSquareSet`; at `prior` of X (default: the observed one).

    Stops when value and bound are within `gap` nats, after `rounds`, or when time is up. Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> found = rr.robust.correlated_optimum(rr.robust.Joint(known), 1, gap=0.1, rounds=1, time_limit=2)
        >>> type(found).__name__
        'CorrelatedOptimum'
    """
    if not isinstance(joint, Joint) or not isinstance(joint.of, ChiSquareSet):
        raise WrongType(
            f"{joint!r} is not a Joint of a ChiSquareSet", "correlated_optimum", "give Joint(ChiSquareSet(t))"
        )
    if prior is not None:
        same_labels(prior.labels, joint.inputs, "correlated_optimum, prior")
    exact = RLDP(epsilon, joint, form="exact", gamma=gamma)
    search = _Search(joint, exact, joint.prior if prior is None else prior)
    if not search.rows:
        whole = Mechanism.from_rationals(
            [[Fraction(int(x == y)) for y in joint.inputs] for x in joint.inputs], inputs=joint.inputs
        )
        value = whole.mutual_information(search.prior)
        if exact.violation(whole) <= 0:
            return CorrelatedOptimum(whole, value, value.upper, exact, None, 0)
    until = time.monotonic() + time_limit
    for _ in range(rounds):
        search.improve(gap, max(1.0, until - time.monotonic()))
        if search.gap <= gap or not search.cut() or time.monotonic() > until:
            break
    return search.result()


class _Search:
    """The inequalities so far, and the best mechanism and bound."""

    def __init__(self, joint: Joint, exact: RLDP, prior: Prior) -> None:
        assert isinstance(joint.of, ChiSquareSet)
        self.exact, self.prior, self.width = exact, prior, len(joint.inputs)
        self.blocks = len(joint.of.pairs.sensitive)
        self.cone: ConfidenceCone = chi_square_cone(joint.of, exact.level, "exact")
        # The observed distribution is the first one; of the others the inequality form gives the first guess.
        self.rows: dict[Row, None] = {}
        own = self.cone.conditional
        for s, z in self.cone.pairs:
            if self.cone.masses[s] and self.cone.masses[z]:
                self._add([own[x] for x in self.cone.blocks[s]], [own[x] for x in self.cone.blocks[z]])
        self._cut(np.eye(self.width))
        self.pool = np.ones((self.width, 1))
        self.last: Solution | None = None
        self.bound: tuple[Fraction, Solution, int] | None = None
        self.best: tuple[Interval, Mechanism] | None = None

    @property
    def gap(self) -> float:
        """The gap of value and bound."""
        if self.best is None or self.bound is None:
            return np.inf
        return float(self.bound[0] - self.best[0].lower)

    def _add(self, first: list[Fraction], second: list[Fraction]) -> bool:
        """Add R.v <= gamma T.v, rounded to a weaker inequality that all private columns satisfy; whether it is new."""
        gamma = self.exact.level.ratio.upper
        row = tuple(significant_down(a, 64) - significant_up(gamma * b, 64) for a, b in zip(first, second, strict=True))
        if max(row) <= 0 or row in self.rows:
            return False
        self.rows[row] = None
        return True

    def improve(self, gap: float, seconds: float) -> None:
        """Solve under the inequalities so far; keep the bound, and the mechanism once it is made private."""
        problem = Problem(Maximize(MutualInformation(self.prior)), [ConeConstraint(list(self.rows))])
        # Cuts that nearly coincide are too much for a vertex enumeration in floating point.
        solution = problem.solve("columns", gap=gap / 4, absolute_gap=gap / 4, time_limit=seconds)
        self.last = solution
        if solution.limit is not None and (self.bound is None or solution.limit < self.bound[0]):
            self.bound = solution.limit, solution, len(self.rows)
        if solution.mechanism is not None:
            private = self._pool(solution.mechanism)
            value = private.mutual_information(self.prior)
            if self.best is None or value.lower > self.best[0].lower:
                self.best = value, private

    def _pool(self, mechanism: Mechanism) -> Mechanism:
        """The best mixture of columns that were made private, in rationals near it."""
        table = mechanism.matrix[:, mechanism.matrix.max(axis=0) > 0]
        found = self._shift(table / table.max(axis=0))
        self.pool = np.hstack([self.pool, found])
        prior = np.array([float(p) for p in self.prior.probabilities])
        worth = prior @ xlogx(self.pool) - xlogx(prior @ self.pool)
        ends = np.zeros(self.pool.shape[1]), np.full(self.pool.shape[1], np.inf)
        ones = np.ones(self.width)
        answer = LpModel(worth, sparse.csr_matrix(self.pool), ones, ones, *ends).solve(None, None)
        assert self.last is not None
        theta = np.zeros(self.pool.shape[1]) if answer.x is None else np.maximum(answer.x, 0.0)
        made = round_to_mechanism(self.last.problem.compile(), self.pool * theta, None) if theta.any() else mechanism
        return self._private(made if isinstance(made, Mechanism) else mechanism)

    def _shift(self, table: np.ndarray) -> np.ndarray:
        """Columns (largest entry 1) raised by the least number that makes them private, in floats, by halving."""
        gamma, low, high = float(self.exact.level.ratio), np.zeros(table.shape[1]), np.ones(table.shape[1])
        # At (1 - least) / (gamma - 1) a column is private for every distribution.
        high = (1 - table.min(axis=0)) / (gamma - 1)
        for at in range(50):
            middle = low if not at else (low + high) / 2
            found = self.cone.adversary.worst(np.tile((table + middle).T, (1, self.blocks)), gamma)
            inside = found.bound.max(axis=1) <= 0
            low, high = np.where(inside, low, middle), np.where(inside, middle, high)
        return np.asarray((table + high) / (1 + high))

    def _private(self, mechanism: Mechanism) -> Mechanism:
        """Every column raised by a number that puts it into the exact cone, then all of them scaled; in rationals."""
        columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
        raised = [self._raise(column) for column in columns if any(column)]
        total = sum((column[0] for column in raised), Fraction(0))
        # All rows have the same sum: that of a mechanism, and the numbers added.
        return Mechanism.from_rationals(
            [[column[x] / total for column in raised] for x in range(self.width)], inputs=self.prior.labels
        )

    def _raise(self, column: Row) -> Row:
        scale = max(column)
        for step in (Fraction(0), *(Fraction(2) ** at for at in range(-52, 36))):
            found = tuple(v + step * scale for v in column)
            if self.cone.excess(found * self.blocks) <= 0:
                return found
        return (scale,) * self.width

    def cut(self) -> bool:
        """Add the worst distribution for every column of the last solution; whether any was new."""
        if self.last is None or self.last.mechanism is None:
            return False
        table = self.last.mechanism.matrix
        table = table[:, table.max(axis=0) > 0]
        return self._cut((table / table.max(axis=0)).T)

    def _cut(self, table: np.ndarray) -> bool:
        """The worst distribution for each row of `table`, a column of a mechanism with largest entry 1."""
        found = self.cone.adversary.worst(np.tile(table, (1, self.blocks)), float(self.exact.level.ratio))
        new = False
        for column, pair in zip(*np.nonzero(found.value > TINY), strict=True):
            s, z = self.cone.pairs[pair]
            first = [round(float(v) * GRAIN) for v in found.first[column, pair, : self.width]]
            second = [round(float(v) * GRAIN) for v in found.second[column, pair, : self.width]]
            # A point that rounding put outside the budget is moved toward the observed conditionals.
            for pull in (0, 1 << 8, 1 << 16, 1 << 24):
                one = [v * GRAIN + pull * round(float(c) * GRAIN) for v, c in zip(first, self._own(s), strict=True)]
                two = [v * GRAIN + pull * round(float(c) * GRAIN) for v, c in zip(second, self._own(z), strict=True)]
                if sum(one) and sum(two) and self.cone.affordable(s, z, one, two):
                    new |= self._add([Fraction(v, sum(one)) for v in one], [Fraction(v, sum(two)) for v in two])
                    break
        return new

    def _own(self, s: int) -> list[Fraction]:
        return [self.cone.conditional[x] for x in self.cone.blocks[s]]

    def result(self) -> CorrelatedOptimum:
        """The result. Raises InputError where there is none."""
        if self.best is None or self.bound is None:
            raise InputError(
                "no mechanism was found within the time limit", "correlated_optimum", "give more time, or fewer inputs"
            )
        bound, solution, cuts = self.bound
        value, mechanism = self.best
        return CorrelatedOptimum(mechanism, value, bound, self.exact, solution, cuts)
