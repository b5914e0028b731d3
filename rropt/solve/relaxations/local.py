"""Feasible mechanisms for any objective and any constraints, by local searches.

A step goes toward the best matrix of the linearised objective, as far as the objective grows: a whole step where it is
convex. Constraints that the linear programme lacks hold because each step ends before the first point that breaks them,
seen from a mechanism that keeps all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rropt.mechanisms.mechanism import Mechanism
from rropt.program.block_cones import RobustCone
from rropt.program.cones import Cone, FloatArray, PolyhedralCone
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import InverseEigenvalue, InverseTrace
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.limits import DivergenceLimits, PosteriorRisk
from rropt.program.permutation_mixtures import Mixture
from rropt.program.programs import Linear, Program
from rropt.solve.designs.symmetric import circulant_designs
from rropt.solve.engine.anchor import equal_rows
from rropt.solve.engine.budget import RISE
from rropt.solve.engine.climb import ColumnMixtures, Oracle, Vertices, worth_and_slope
from rropt.solve.engine.method import Draft, MatrixDraft, MixedWeights, SolveLimits
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.entropy.conic import most_entropy, solve_conic
from rropt.solve.risk.climb import RiskClimber
from rropt.solve.risk.risk import placed

STEPS, STARTS = 40, 6
"""Steps of one search at most, and searches from random directions."""
SHARES = np.concatenate([2.0 ** -np.arange(16), [0.0]])
"""The share of a step that is tried."""
HALVINGS = 30
"""Halvings on the way to the first point that breaks a constraint."""
MISSED = 1e-10
"""What a float matrix may break a constraint by: the rounding moves it that far."""
CURVED = 1 << 10
"""Cells up to which an entropy floor is part of every step: a conic programme each."""
ENTERED = 1 << 12
"""Entries of a matrix up to which each is a variable of the linear programme."""
ENCLOSED = 16
"""Inputs up to which divergences are enclosed at every point."""

LOCAL = "a local search found the mechanism"
"""The note of an answer."""


class LocalSearch:
    """The best k x m matrix found so far and its worth, for a program with fixed or free outputs, until `over()`."""

    def __init__(self, program: Program, effort: SolveLimits, over: Callable[[], bool]) -> None:
        self.program, self.effort, self.over = program, effort, over
        self.width = program.size if program.outputs is None else len(program.outputs)
        outputs = program.outputs or tuple(f"output {y + 1}" for y in range(self.width))
        self.whole = replace(program, outputs=outputs)
        # Screen pairs of rows in floats first: interval arithmetic takes seconds.
        self.notions = program.extra(DivergenceLimits)
        self.enclosed = self.whole if program.size <= ENCLOSED else self.whole.without(DivergenceLimits)
        self.best: FloatArray | None = None
        self.worth = -np.inf
        self.random = np.random.default_rng(0)
        self.middle: FloatArray | None = None
        self.linear: Oracle | None = None
        self.mixed: MixedWeights | None = None

    @property
    def draft(self) -> Draft | None:
        """The best mechanism, before it is rounded; None where none was found."""
        labels = None if self.program.outputs is None else self.whole.outputs
        return self.mixed or MatrixDraft.of(self.best, labels)

    def run(self, offered: list[FloatArray]) -> None:
        """Search from the matrices `offered` and from random directions."""
        if self.program.extra(Mixture) is not None:
            self._of_permutations()
            return
        if self.program.extra(PosteriorRisk) is not None:
            self._under_risk(offered)
            return
        self.linear = self.linear or self._over_columns(offered) or _oracle(self.whole, self.effort)
        self.middle = self._middle()
        if self.middle is None:
            return
        self._take(self.middle)
        for matrix in [*self._of_all_variances(offered), *offered, *circulant_designs(self.program)]:
            self.offer(matrix)
        for cost in self._costs():
            if self.over():
                break
            if (matrix := self.linear(cost)) is not None:
                self.offer(matrix)

    def _over_columns(self, offered: list[FloatArray]) -> Oracle | None:
        """The mixtures of the columns of some matrices, where there are too many entries for a linear programme over
        them, and where the rows allow such a mixture."""
        size = self.program.size
        if not offered or not self.program.rows or size * self.width <= ENTERED:
            return None
        columns = [column for matrix in offered for column in matrix.T if self._is_within_cone(column)]
        mixtures = ColumnMixtures(self.whole, np.column_stack([*columns, np.ones(size)]))
        return None if mixtures(np.zeros((size, self.width))) is None else mixtures

    def _is_within_cone(self, column: FloatArray) -> bool:
        most = float(column.max())
        return most > 0 and float(self.program.cone.excess([Fraction(float(v) / most) for v in column])) <= MISSED

    def _of_all_variances(self, offered: list[FloatArray]) -> list[FloatArray]:
        """For the largest variance as objective, the matrix of a search for the least sum of all variances: steps that
        lessen the largest one raise the next."""
        utility = self.program.utility
        if not isinstance(utility, InverseEigenvalue):
            return []
        search = LocalSearch(replace(self.program, utility=InverseTrace(utility.weights)), self.effort, self.over)
        search.run(offered)
        return [] if search.best is None else [search.best]

    def offer(self, matrix: FloatArray) -> None:
        """Take the last point toward a matrix that keeps all constraints, and climb from there."""
        inside = self.inside(self.middle, _fitted(matrix, self.width))
        if inside is None or self.linear is None:
            return
        value, slope = worth_and_slope(self.program, inside)
        if slope is None and self.middle is not None:
            # Where a risk is infinite, half way to another point it may be finite.
            inside = (inside + self.middle) / 2
            value, slope = worth_and_slope(self.program, inside)
        self._take(inside)
        for _ in range(STEPS):
            if slope is None or self.over() or (toward := self.linear(slope)) is None:
                return
            toward = self.inside(inside, toward)
            if toward is None:
                return
            tried = [worth_and_slope(self.program, (1 - s) * inside + s * toward)[0] for s in SHARES.tolist()]
            share = float(SHARES[int(np.argmax(tried))])
            if max(tried) <= value + RISE * abs(value):
                return
            inside = (1 - share) * inside + share * toward
            value, slope = worth_and_slope(self.program, inside)
            self._take(inside)

    def _take(self, matrix: FloatArray) -> None:
        value = worth_and_slope(self.program, matrix)[0]
        if self.best is None or value > self.worth:
            self.best, self.worth = matrix, value

    def keeps(self, matrix: FloatArray) -> bool:
        """Whether a float matrix keeps every constraint, but for what the rounding takes care of."""
        rows = np.maximum(matrix, 0.0)
        sums = rows.sum(axis=1, keepdims=True)
        if not (sums > 0.5).all():
            # The last iterate of a stopped solver.
            return False
        if self.notions is not None and self.notions.missed(rows / sums) > MISSED:
            return False
        exact = Mechanism.from_matrix(rows / sums, inputs=self.whole.inputs, outputs=self.whole.outputs)
        return all(float(miss) <= MISSED for miss in self.enclosed.excess(exact).values())

    def inside(self, start: FloatArray | None, matrix: FloatArray) -> FloatArray | None:
        """The last point on the way from `start`, which keeps everything, to a matrix that need not."""
        if self.keeps(matrix):
            return matrix
        if start is None:
            return None
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            share = (low + high) / 2
            if self.over():
                break
            low, high = (share, high) if self.keeps((1 - share) * start + share * matrix) else (low, share)
        return np.asarray((1 - low) * start + low * matrix)

    def _costs(self) -> Iterator[FloatArray]:
        shape = self.program.size, self.width
        yield np.eye(*shape)
        for _ in range(STARTS):
            yield np.eye(*shape) + self.random.standard_normal(shape)

    def _middle(self) -> FloatArray | None:
        """A matrix that keeps every constraint: of equal rows, of the largest entropy, or the mean of several that the
        linear programme gives; None where none of these does."""
        assert self.linear is not None
        shape = self.program.size, self.width
        even = np.full(shape, 1.0 / self.width)
        if self.keeps(even):
            return even
        if isinstance(self.linear, ColumnMixtures):
            # Many matrices would have to be tried for one with slack. A risk of estimation is infinite at equal rows.
            alike = equal_rows(self.whole)
            if alike is not None and self.keeps(alike.matrix):
                return alike.matrix
        found = [self.linear(np.zeros(shape))]
        if found[0] is None:
            return None
        if self.program.extra(ConcaveFloor) is not None:
            most = most_entropy(_plain(self.whole, (ConcaveFloor,)), self.effort).matrix
            if most is not None and self.keeps(most):
                return most
        for cost in self._costs():
            if (matrix := self.linear(-cost)) is not None:
                found.append(matrix)
            middle = np.asarray(np.mean([one for one in found if one is not None], axis=0))
            if self.keeps(middle):
                return middle
            if self.over():
                break
        return None

    def _of_permutations(self) -> None:
        """Climb over mixtures of permutations, whose weights are the answer."""
        method, plain = self.effort.method("mixtures"), _plain(self.whole, (Mixture,))
        for cost in self._costs():
            value = -np.inf
            for _ in range(STEPS):
                if self.over():
                    return
                draft = method.solve(_priced(plain, cost), self.effort).draft
                if not isinstance(draft, MixedWeights) or not self.keeps(matrix := draft.floats()):
                    break
                reached, slope = worth_and_slope(self.program, matrix)
                if self.mixed is None or reached > self.worth:
                    self.mixed, self.best, self.worth = draft, matrix, reached
                if slope is None or reached <= value + RISE * abs(value):
                    break
                value, cost = reached, slope

    def _under_risk(self, offered: list[FloatArray]) -> None:
        """Climb within a trust region under the bound on risk; the rest draws back toward the uninformative matrix."""
        program = replace(self.whole, cone=inner_cone(self.program.cone))
        climber = RiskClimber(program, self.over)
        others = len(program.extras) > 1 or program.cone is not self.program.cone
        if climber.calm is not None and (not others or self.keeps(climber.calm)):
            self.middle = climber.calm
            self._take(climber.calm)
        for matrix in offered:
            fitted = _fitted(matrix, self.width)
            # The best mechanism without the bound may keep it under other names of its outputs.
            if self.width == self.program.size and self.keeps(renamed := placed(fitted, climber.risk)):
                self._take(renamed)
            if climber.fits(fitted):
                climber.offer(fitted)
        climber.start()
        for cost in self._costs():
            if self.over():
                break
            if (matrix := climber.extreme(cost)) is not None:
                climber.offer(matrix)
        if climber.best is not None and (inside := self.inside(self.middle, climber.best)) is not None:
            self._take(inside)


def inner_cone(cone: Cone) -> Cone:
    """A polyhedral cone inside of `cone`: the one that bounds every distribution of a confidence set entry by entry."""
    if isinstance(cone, ConfidenceCone):
        return RobustCone(cone.level, cone.blocks, cone.lower_bounds).general()
    return cone


def _plain(program: Program, extras: tuple[type, ...]) -> Program:
    """The linear constraints of a program and its extras of these kinds, without its utility."""
    kept = tuple(extra for extra in program.extras if isinstance(extra, extras))
    return replace(program, sense="maximize", utility=Linear(()), cone=inner_cone(program.cone), extras=kept)


def _oracle(program: Program, effort: SolveLimits) -> Oracle:
    """The best matrix for linear costs under the linear constraints, and under one of the others."""
    assert program.outputs is not None
    shape = program.size, len(program.outputs)
    kind = ApproximateBound if program.extra(ApproximateBound) is not None else ConcaveFloor
    plain = _plain(program, (kind,))
    if plain.extras and kind is ConcaveFloor and shape[0] * shape[1] <= CURVED:
        return conic_oracle(plain, effort)
    plain = plain if kind is ApproximateBound else replace(plain, extras=())
    if plain.extras or (isinstance(plain.cone, PolyhedralCone) and plain.cone.means is not None):
        return lambda cost: effort.method("linear").solve(_priced(plain, cost), effort).matrix
    return Vertices(entry_model(plain))


def conic_oracle(program: Program, effort: SolveLimits) -> Oracle:
    """The best matrix for linear costs under linear constraints and an entropy floor."""

    def best(cost: FloatArray) -> FloatArray | None:
        found = solve_conic(_priced(program, cost), effort)
        return found.matrix if found.claim.status.startswith("optimal") else None

    return best


def _priced(program: Program, cost: FloatArray) -> Program:
    terms = tuple((x, y, Fraction(float(cost[x, y]))) for x, y in np.ndindex(*cost.shape) if cost[x, y])
    return replace(program, utility=Linear(terms))


def _fitted(matrix: FloatArray, width: int) -> FloatArray:
    """The matrix with so many columns: empty ones are added, and those with the least mass are joined."""
    columns = matrix[:, np.argsort(-matrix.sum(axis=0), kind="stable")] if matrix.shape[1] > width else matrix
    while columns.shape[1] > width:
        columns = np.hstack([columns[:, :-2], columns[:, -2:].sum(axis=1, keepdims=True)])
        columns = columns[:, np.argsort(-columns.sum(axis=0), kind="stable")]
    return np.hstack([columns, np.zeros((len(columns), width - columns.shape[1]))])
