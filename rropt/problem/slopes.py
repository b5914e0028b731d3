"""The derivative of an optimum with a number of its problem, by the envelope theorem.

Where the matrix Q is optimal there are multipliers: the gradient of the utility is a combination of those of the
conditions that hold with equality, with non-negative factors for inequalities. The derivative of the optimum is that of
the Lagrangian at these, sum_i m_i (b_i' - c_i') for conditions c_i(Q) <= b_i. Several combinations are possible where
conditions depend on each other. Both ends of what they give are found by linear programmes; if they differ, the optimum
may have a kink, and no number is returned. If they agree, the number is the derivative, or lies between those to either
side where other matrices are optimal too. Source: Fiacco 1983; Milgrom and Segal 2002.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.declare.constraints.notions.divergences import PairNotion, RenyiNotion
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import capacity_prior
from rropt.program.block_cones import RobustCone
from rropt.program.cones import (
    CompleteCone,
    Cone,
    FloatArray,
    FreeCone,
    GraphCone,
    PolyhedralCone,
    base_cone,
    cone_rows,
)
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.events import ApproximateBound
from rropt.program.extras import Extra, OffDiagonalForm
from rropt.program.limits import Capacity, CapacityLimit, DivergenceLimits, Limits, Notion, Sum
from rropt.program.programs import BayesGain, ColumnSum, Linear, Program, RowEntropy, Utility
from rropt.solve.engine.lp import LpModel

TIGHT = 1e-7
"""A condition holds with equality where its slack is below this share of its terms."""
CURVED = 1e-5
"""The same for a condition whose mechanism was moved inside by a solver's tolerance."""
NEARBY = 1e-6
"""How far columns are moved to find other worst conditionals, as a share of their largest entry."""
NEVER = 1e-9
"""Entries below this are rounding, and mean 0."""
MATCH = 1e-3
"""The gradient is a combination of others where no entry differs by more than this share of the largest."""
SAME = 1e-4
"""Both ends agree where they differ by no more than this share."""
LARGEST = 20_000
"""Multipliers beyond which no derivative is looked for."""
FAINT = 1e-6
"""Outputs of designs that are rarer are what rounding leaves, and not extreme."""
DIRECTIONS = 512
"""Combinations of two queries that are taken for all of them: others are nearer than 1e-5 to a mean of these."""
MARGIN = 1e-9
"""What the least difference is exceeded by in the search for the ends, beyond the tolerance of the solver."""


def slope(program: Program, low: Program, high: Program, width: Fraction, mechanism: Mechanism) -> float | None:
    """The derivative of the optimum of `program`, which `mechanism` attains, in the utility's own unit; `low` and
    `high` are the program with the number `width` apart, around it. None where it is not known."""
    matrix = np.asarray(mechanism.matrix, dtype=float)
    least = _least_gains(program.utility, program.sign)
    utility = _gradient(program.utility, matrix, program.sign)
    worst = None if utility is None else _worst_queries(program.utility, matrix)
    if worst is not None:
        utility = np.where(np.isfinite(worst[0]), 0.0, np.nan)
    made = None if utility is None else _conditions(program, low, high, float(width), matrix)
    if utility is None or made is None or len(made.ends) > LARGEST:
        return None
    for weight, part in least:
        # As much as a condition with this multiplier: that the sum of the maxima is at most its value.
        made.maxima(made.add([], 0.0, fixed=weight), _best_actions(part, matrix))
    if worst is not None:
        whole = made.add([], 0.0, fixed=1.0)
        cells = [[(x, y, v) for (x, y), v in np.ndenumerate(own) if np.isfinite(v)] for own in worst]
        made.tie([(whole, -1.0), *((made.add(terms, 0.0), 1.0) for terms in cells)])
    found = made.ends_of(utility)
    return None if found is None else program.sign * found + 0.0


def _least_gains(utility: Utility, sign: int) -> list[tuple[float, BayesGain]]:
    """(|weight|, gain) of the sums of maxima that are minimised: where two actions are equally good they have no
    gradient."""
    parts = utility.parts if isinstance(utility, Sum) else [(Fraction(1), utility)]
    return [(abs(float(w)), part) for w, part in parts if isinstance(part, BayesGain) and sign * w < 0]


def _best_actions(utility: BayesGain, matrix: FloatArray) -> list[tuple[int, list[tuple[FloatArray, float]]]]:
    """For each output the gradients of the actions that are best there."""
    scores = utility.table @ matrix
    near = scores >= scores.max(axis=0) - TIGHT * matrix.max(axis=0)
    every = range(matrix.shape[1])
    return [(y, [(utility.table[a], 0.0) for a in np.flatnonzero(near[:, y]).tolist()]) for y in every]


def _gradient(utility: Utility, matrix: FloatArray, sign: int) -> FloatArray | None:
    """sign times the gradient of a utility at a k x m matrix, not finite where it has none, without the parts of
    `_least_gains`; None where not known."""
    if isinstance(utility, Linear):
        return sign * utility.matrix(*matrix.shape)
    if isinstance(utility, Sum):
        total = np.zeros(matrix.shape)
        for weight, part in utility.terms:
            own = _gradient(part, matrix, sign if weight > 0 else -sign)
            if own is None:
                return None
            total += abs(float(weight)) * own
        return total
    if isinstance(utility, ColumnSum):
        if isinstance(utility, BayesGain) and sign < 0:
            return np.zeros(matrix.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = utility.gradient(matrix)
        return None if found is None else sign * found
    if isinstance(utility, RowEntropy):
        shares = np.array(utility.shares, dtype=float)
        with np.errstate(divide="ignore"):
            return np.asarray(-sign * (shares / shares.sum())[:, None] * (1 + np.log(matrix)))
    if isinstance(utility, Capacity):
        return sign * _of_capacity(matrix)
    return _of_design(utility, matrix, sign) if isinstance(utility, DesignUtility) else None


def _of_capacity(matrix: FloatArray) -> FloatArray:
    """The gradient of the information at the prior at which it is largest (Danskin 1967)."""
    prior, *_ = capacity_prior(matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(prior[:, None] * np.log(matrix / (prior @ matrix)))


def _of_design(utility: DesignUtility, matrix: FloatArray, sign: int) -> FloatArray | None:
    """Of a function of M = sum_y q_y q_y' / (p.q_y), whose derivative by M is a matrix G: 2 G q / (p.q) - p (q'G q) /
    (p.q)^2 for each column q."""
    p = utility.prior
    means = p @ matrix
    used = means > 0
    columns, means = matrix[:, used], means[used]
    moments = (columns / means) @ columns.T
    if np.linalg.cond(moments) > 1e12:
        return None
    inverse = np.linalg.inv(moments)
    if isinstance(utility, InverseTrace):
        slopes = -inverse @ utility.table.T @ utility.table @ inverse
    elif isinstance(utility, InverseDeterminant):
        slopes = -inverse
    elif isinstance(utility, InverseEigenvalue):
        values, vectors = np.linalg.eigh(inverse - np.outer(p, p))
        if len(values) > 2 and values[-1] - values[-3] < MATCH * values[-1]:
            return None  # three queries are estimated worst: their combinations are too many
        worst = inverse @ vectors[:, -1]
        slopes = -np.outer(worst, worst)
    else:
        return None
    return sign * _of_moments(slopes, matrix, p)


def _of_moments(slopes: FloatArray, matrix: FloatArray, p: FloatArray) -> FloatArray:
    """The gradient by the matrix where that by the moments is `slopes`; not finite at outputs that are not used."""
    means = p @ matrix
    used = means > FAINT
    columns, means = matrix[:, used], means[used]
    turned = slopes @ columns
    found = np.full(matrix.shape, np.nan)
    found[:, used] = 2 * turned / means - np.outer(p, (columns * turned).sum(axis=0) / means**2)
    return found


def _worst_queries(utility: Utility, matrix: FloatArray) -> list[FloatArray] | None:
    """The gradients of the variances of queries that are estimated worst, where these are all combinations of two: their
    maximum has no gradient there. None where one query alone is worst, or the utility is another one."""
    if not isinstance(utility, InverseEigenvalue):
        return None
    p = utility.prior
    means = p @ matrix
    columns = matrix[:, means > 0]
    inverse = np.linalg.inv((columns / means[means > 0]) @ columns.T)
    values, vectors = np.linalg.eigh(inverse - np.outer(p, p))
    if values[-1] - values[-2] >= MATCH * values[-1]:
        return None
    angles = np.arange(DIRECTIONS) * np.pi / DIRECTIONS
    queries = inverse @ vectors[:, -2:] @ np.stack([np.cos(angles), np.sin(angles)])
    return [_of_moments(-np.outer(query, query), matrix, p) for query in queries.T]


@dataclass
class _Conditions:
    """The conditions that hold with equality at a k x m matrix: one multiplier each, from `ends` (0 or -inf) to `tops`
    (infinite, or what it is fixed to), what `change` it makes to the derivative, and its gradient as entries (equation, multiplier, value). The first k m
    equations are those of the matrix's entries; others say what multipliers of one condition have to do with each
    other."""

    matrix: FloatArray
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    tops: list[float] = field(default_factory=list)
    change: list[float] = field(default_factory=list)
    more: int = 0

    def add(
        self, terms: Sequence[tuple[int, int, float]], change: float, free: bool = False, fixed: float | None = None
    ) -> int:
        """A multiplier of a condition with the gradient of these terms (x, y, value); its number."""
        number, m = len(self.ends), self.matrix.shape[1]
        self.entries += [(x * m + y, number, value) for x, y, value in terms if value]
        self.ends.append(-np.inf if free else 0.0 if fixed is None else fixed)
        self.tops.append(np.inf if fixed is None else fixed)
        self.change.append(change)
        return number

    def tie(self, numbers: Sequence[tuple[int, float]]) -> None:
        """The weighted sum of these multipliers is 0."""
        self.entries += [(self.matrix.size + self.more, number, value) for number, value in numbers]
        self.more += 1

    def maxima(self, whole: int, columns: Sequence[tuple[int, Sequence[tuple[FloatArray, float]]]]) -> None:
        """A condition on a sum over columns y of maxima, whose multiplier is `whole`: for each the gradients that
        attain the maximum, and their changes."""
        for y, attained in columns:
            parts = [self.add([(x, y, v) for x, v in enumerate(own.tolist())], change) for own, change in attained]
            self.tie([(whole, -1.0), *((part, 1.0) for part in parts)])

    def ends_of(self, gradient: FloatArray) -> float | None:
        """The derivative: None where these gradients do not make up the one of the utility, or in ways that differ."""
        wanted = np.concatenate([gradient.ravel(), np.zeros(self.more)])
        known = [*np.abs(wanted[np.isfinite(wanted)]), *(top for top in self.tops if np.isfinite(top))]
        scale = float(max(known, default=0.0)) or 1.0
        used = np.isfinite(gradient)
        kept = np.concatenate([used.ravel(), np.ones(self.more, dtype=bool)])
        rows, numbers, values = (np.array(part) for part in zip(*self.entries, strict=True))
        count = len(self.ends)
        table = sparse.csr_matrix((values, (rows, numbers)), shape=(len(wanted), count))[kept]
        loose = np.concatenate([np.ones(int(used.sum())), np.zeros(self.more)])[:, None]
        both = sparse.vstack([sparse.hstack([table, -loose]), sparse.hstack([table, loose])]).tocsc()
        target = wanted[kept] / scale
        free = np.full(len(target), np.inf)
        row_lower, row_upper = np.concatenate([-free, target]), np.concatenate([target, free])
        # Multipliers are found as shares of the scale.
        lower, upper = np.array([*self.ends, 0.0]) / scale, np.array([*self.tops, np.inf]) / scale

        def best(cost: FloatArray) -> tuple[float, FloatArray] | None:
            answer = LpModel(cost, both, row_lower, row_upper, lower, upper).solve(interrupted=None)
            return None if answer.status != "optimal" or answer.x is None else (answer.objective, answer.x)

        nearest = best(np.concatenate([np.zeros(count), [-1.0]]))
        if nearest is None or -nearest[0] > MATCH:
            return None
        upper[-1] = 1.01 * max(-nearest[0], 0.0) + MARGIN
        cost = np.array([*self.change, 0.0])
        size = float(np.abs(cost).max()) or 1.0
        ends = [best(way * cost / size) for way in (1, -1)]
        if ends[0] is None or ends[1] is None:
            return None
        most, least = ends[0][0] * size * scale, -ends[1][0] * size * scale
        if most - least > SAME * max(abs(most), abs(least), scale * 1e-3):
            return None
        return scale * float(cost @ nearest[1])


def _kind(extra: Extra) -> tuple[type[Extra], int]:
    return type(extra), len(extra.limits) if isinstance(extra, Limits) else 1


def _conditions(program: Program, low: Program, high: Program, width: float, matrix: FloatArray) -> _Conditions | None:
    """The conditions that hold with equality at the matrix, and their change from `low` to `high`; None where a
    condition is not known here."""
    known = ConcaveFloor, ApproximateBound, Limits, OffDiagonalForm, DivergenceLimits
    if not all(isinstance(extra, known) for extra in program.extras):
        return None
    # At its least or greatest value a limit is a cone, or nothing, and to one side of it a limit.
    if len({tuple(map(_kind, own.extras)) for own in (program, low, high)}) > 1:
        return None
    own, before, after = (
        one.cone.general() if isinstance(one.cone, RobustCone) else one.cone for one in (program, low, high)
    )
    if not isinstance(own, FreeCone | CompleteCone | GraphCone | PolyhedralCone | ConfidenceCone):
        return None
    k, m = matrix.shape
    made = _Conditions(matrix)
    for x in range(k):
        made.add([(x, y, 1.0) for y in range(m)], 0.0, free=True)
    for x, y in zip(*np.nonzero(matrix <= NEVER), strict=True):
        made.add([(int(x), int(y), -1.0)], 0.0)
    if len({len(one.rows) for one in (program, low, high)}) > 1 or not _rows(made, program, low, high, width):
        return None
    if isinstance(own, ConfidenceCone):
        _confidence(made, own, before, after, width)
    elif not _cone(made, own, before, after, width):
        return None
    return made if _extras(made, program, low, high, width) else None


def _rows(made: _Conditions, program: Program, low: Program, high: Program, width: float) -> bool:
    """The rows over the whole matrix; False where they are others from `low` to `high`."""
    for row, before, after in zip(program.rows, low.rows, high.rows, strict=True):
        cells = [(x, y) for x, y, _ in row.terms]
        if any([(x, y) for x, y, _ in other.terms] != cells for other in (before, after)):
            return False
        terms = [(x, y, float(value)) for x, y, value in row.terms]
        own = [value * made.matrix[x, y] for x, y, value in terms]
        if row.sense == "=" or float(row.rhs) - sum(own) <= TIGHT * max(abs(float(row.rhs)), *map(abs, own), TIGHT):
            change = float(after.rhs - before.rhs)
            for (x, y, one), (_, _, other) in zip(before.terms, after.terms, strict=True):
                change -= float(other - one) * made.matrix[x, y]
            made.add(terms, change / width, free=row.sense == "=")
    return True


def _cone(made: _Conditions, cone: Cone, low: Cone, high: Cone, width: float) -> bool:
    """The conditions on columns; False where those of `low` and `high` are of another kind."""
    base, before, after = base_cone(cone), base_cone(low), base_cone(high)
    further = [cone_rows(one) for one in (cone, low, high)]
    if not type(base) is type(before) is type(after) or len({len(one) for one in further}) > 1:
        return False
    lines = [
        (np.array(row, dtype=float), np.array([float(b - a) for a, b in zip(one, other, strict=True)]) / width)
        for row, one, other in zip(*further, strict=True)
    ]
    if isinstance(base, GraphCone):
        assert isinstance(before, GraphCone)
        assert isinstance(after, GraphCone)
        if not [e[:2] for e in base.edges] == [e[:2] for e in before.edges] == [e[:2] for e in after.edges]:
            return False
        for (x, z, _), ratio, one, other in zip(base.edges, base.ratios, before.ratios, after.ratios, strict=True):
            line, change = np.zeros(base.size), np.zeros(base.size)
            line[x], line[z], change[z] = 1.0, -float(ratio.upper), -float(other.upper - one.upper) / width
            lines.append((line, change))
    for y, column in enumerate(made.matrix.T):
        empty, clean = bool(column.max() <= NEVER), np.where(column <= NEVER, 0.0, column)
        for line, change in lines:
            if empty or -line @ clean <= TIGHT * float(np.abs(line * column).max()):
                made.add([(x, y, value) for x, value in enumerate(line.tolist())], -float(change @ column))
        if isinstance(base, CompleteCone):
            assert isinstance(before, CompleteCone)
            assert isinstance(after, CompleteCone)
            gamma, least = float(base.level.ratio.upper), float(column.min())
            faster = float(after.level.ratio.upper - before.level.ratio.upper) / width
            tops = np.flatnonzero(empty | (column >= gamma * least * (1 - TIGHT))).tolist()
            lows = np.flatnonzero(empty | (column <= least * (1 + TIGHT))).tolist()
            parts = [(made.add([(x, y, 1.0)], faster * least), gamma) for x in tops]
            made.tie([*parts, *((made.add([(z, y, -1.0)], 0.0), -1.0) for z in lows)])
    return True


def _confidence(made: _Conditions, cone: Cone, low: Cone, high: Cone, width: float) -> None:
    """R.v <= gamma T.v at the pairs (R, T) that are worst for a column, where it is tight."""
    assert isinstance(cone, ConfidenceCone)
    assert isinstance(low, ConfidenceCone)
    assert isinstance(high, ConfidenceCone)
    faster = float(high.level.ratio.upper - low.level.ratio.upper) / width
    gamma, cone_size = float(cone.level.ratio), len(cone.counts)
    for y, column in enumerate(made.matrix.T):
        largest = float(column.max())
        # Where all entries of a block are alike, every conditional of it is worst: those of columns nearby are taken.
        near = np.vstack([np.zeros(cone_size), np.eye(cone_size), -np.eye(cone_size)])
        found = cone.adversary.worst(np.maximum(column + NEARBY * largest * near, 0.0), gamma)
        for at, (s, z) in enumerate(cone.pairs):
            one, two = list(cone.blocks[s]), list(cone.blocks[z])
            for first, second in zip(found.first[:, at, : len(one)], found.second[:, at, : len(two)], strict=True):
                own = float(second @ column[two])
                if float(first @ column[one]) - gamma * own >= -CURVED * largest:
                    terms = [(x, y, v) for x, v in zip(one, first.tolist(), strict=True)]
                    terms += [(x, y, -gamma * v) for x, v in zip(two, second.tolist(), strict=True)]
                    made.add(terms, faster * own)


def _divergences(
    made: _Conditions, notions: DivergenceLimits, low: DivergenceLimits, high: DivergenceLimits, width: float
) -> bool:
    """The divergences of pairs of rows and the capacities that are tight; False for one that is not known."""
    matrix = made.matrix
    for notion, less, larger in zip(notions.notions, low.notions, high.notions, strict=True):
        if isinstance(notion, CapacityLimit):
            assert isinstance(less, CapacityLimit)
            assert isinstance(larger, CapacityLimit)
            if -notion.missed(matrix) <= CURVED * max(float(notion.at_most), CURVED):
                slopes = _of_capacity(matrix)
                terms = [(x, y, float(v)) for (x, y), v in np.ndenumerate(slopes) if np.isfinite(v)]
                made.add(terms, float(larger.at_most - less.at_most) / width)
            continue
        if not isinstance(notion, PairNotion):
            return False
        for x in range(len(matrix)):
            for z in range(len(matrix)):
                rows = np.maximum(matrix[[x, z]], NEVER)
                order = float(notion.order_at(rows))
                room = _divergence(notion, rows, order)
                if x == z or room < -CURVED * float(notion.height(Fraction(order))):
                    continue
                shares = rows[0] / rows[1]
                # That the sum of the powers is one at the order 1 takes nothing from the slope, as rows sum to one.
                total = float(rows[0] @ shares ** (order - 1))
                first = order * (shares ** (order - 1) / total - 1) / (order - 1)
                terms = [(x, y, float(v)) for y, v in enumerate(first)]
                terms += [(z, y, -float(v)) for y, v in enumerate(shares**order / total)]
                change = _divergence(less, rows, order) - _divergence(larger, rows, order)
                made.add(terms, change / width)
    return True


def _divergence(notion: Notion, rows: FloatArray, order: float) -> float:
    """By how much the divergence of the first of two rows (2 x m) from the second exceeds its limit, at this order
    where all orders are limited."""
    assert isinstance(notion, PairNotion)
    own = float(notion.order) if isinstance(notion, RenyiNotion) else order
    total = float(rows[0] @ (rows[0] / rows[1]) ** (own - 1))
    return float(np.log(total)) / (own - 1) - float(notion.height(Fraction(own)))


def _extras(made: _Conditions, program: Program, low: Program, high: Program, width: float) -> bool:
    """Add the conditions that are neither rows nor cones; False where its gradient is not known."""
    matrix = made.matrix
    k, m = matrix.shape
    floor, before, after = (one.extra(ConcaveFloor) for one in (program, low, high))
    missing = np.inf if floor is None else floor.entropy(matrix) - floor.height
    if floor is not None and before is not None and after is not None and missing <= TIGHT * max(floor.height, TIGHT):
        logs = np.log(np.maximum(matrix, np.finfo(float).tiny))
        slopes = np.array(floor.shares, dtype=float)[:, None] * (1 + logs)
        made.add([(x, y, float(v)) for (x, y), v in np.ndenumerate(slopes)], (before.height - after.height) / width)
    if program.extra(OffDiagonalForm) is not None:
        for x in range(k):
            first, *others = (y for y in range(m) if y != x)
            for y in others:
                made.add([(x, y, 1.0), (x, first, -1.0)], 0.0, free=True)
    event, one, other = (own.extra(ApproximateBound) for own in (program, low, high))
    if event is not None and one is not None and other is not None:
        gamma, delta = float(event.level.ratio.upper), float(event.delta)
        faster = float(other.level.ratio.upper - one.level.ratio.upper) / width
        for x in range(k):
            for z in range(k):
                above = matrix[x] - gamma * matrix[z]
                if x == z or delta - np.maximum(above, 0.0).sum() > TIGHT:
                    continue
                line, nothing = np.zeros(k), (np.zeros(k), 0.0)
                line[x], line[z] = 1.0, -gamma
                attained = [
                    (y, [(line, faster * float(matrix[z, y]))] * (own >= -TIGHT) + [nothing] * (own <= TIGHT))
                    for y, own in enumerate(above.tolist())
                ]
                made.maxima(made.add([], float(other.delta - one.delta) / width), attained)
    notions, fewer, more = (own.extra(DivergenceLimits) for own in (program, low, high))
    if notions is not None and fewer is not None and more is not None:
        if len({len(own.notions) for own in (notions, fewer, more)}) > 1:
            return False
        if not _divergences(made, notions, fewer, more, width):
            return False
    limits, lower, upper = (own.extra(Limits) for own in (program, low, high))
    if limits is None or lower is None or upper is None:
        return limits is None
    for limit, less, larger in zip(limits.limits, lower.limits, upper.limits, strict=True):
        utility, most = limit.utility, float(limit.at_most)
        if most - float(utility.mu(matrix).sum()) > 100 * TIGHT * max(most, TIGHT):
            continue
        change = float(larger.at_most - less.at_most) / width
        if isinstance(utility, BayesGain):
            made.maxima(made.add([], change), _best_actions(utility, matrix))
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            found = utility.gradient(matrix)
        if found is None:
            return False
        made.add([(x, y, float(v)) for (x, y), v in np.ndenumerate(found) if np.isfinite(v)], change)
    return True
