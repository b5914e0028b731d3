"""Designs to estimate with: risks minimised by column generation, with a lower bound from every price vector.

Each criterion has a bound (a number that forms W give) - sum(a), for prices a with a.v >= v'W W'v / (p.v) on the whole
cone (`design_criteria`). The interior-point method gives such forms and prices for the columns it has; pricing looks
for columns that break them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from rropt.cones import CompleteCone, FloatArray
from rropt.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.programs import ColumnSum, Program
from rropt.routes.base import Answer, Dual, Effort, SolverClaim
from rropt.routes.boxes import BoxPricer, ColumnForms
from rropt.routes.boxtree import BoxTree
from rropt.routes.corners import ENUMERATED, all_corners, climbed_corners
from rropt.routes.design_criteria import DesignCriterion, DeterminantCriterion, TraceCriterion
from rropt.routes.design_eigenvalue import EigenvalueCriterion
from rropt.routes.design_point import DesignPoint, best_design
from rropt.routes.elastic import farkas_candidate
from rropt.routes.quadratics import quadratic_forms
from rropt.routes.separable import BoxSearch

ROUNDS = 200
ADDED = 3
"""Columns added a round, for each input; those within TIED of the best come besides, up to TIES."""
TIED, TIES = 1e-7, 200
KEPT = 1e-9
"""Columns below this share of the largest mass are dropped."""
BOXES = (300, 3_000, 30_000, 300_000)
TESTS = 10**8
"""The format's limit of k * max(k, forms) * nodes."""
STARTS = 60
RIDGE = 30.0
"""Where queries leave directions open, (gap / RIDGE)^2 of these is asked for besides: a loss of about gap / RIDGE."""


@dataclass(frozen=True)
class QuadraticOverLinear(ColumnSum):
    """v'S v / (p.v): what a column costs at a given W."""

    table: FloatArray
    prior: FloatArray

    def payload(self) -> dict[str, object] | None:
        return None

    def mu(self, columns: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("xn,xn->n", columns, self.table @ columns) / (self.prior @ columns))

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        w = self.prior @ columns
        own = self.table @ columns
        square = np.einsum("xn,xn->n", columns, own)
        return np.asarray(2 * own / w - self.prior[:, None] * square / w**2)


def most_nodes(inputs: int, forms: int) -> int:
    """Boxes of a tree that a checker still reads; a search may end two above what it is given."""
    return TESTS // (inputs * max(inputs, forms)) - 2


def criterion_of(utility: DesignUtility, gap: float) -> DesignCriterion:
    """The criterion of a utility; `gap` is what may be lost."""
    if isinstance(utility, InverseTrace):
        queries = np.array([[float(c) for c in row] for row in utility.rows]).T
        ridge = 0.0
        if np.linalg.matrix_rank(queries) < len(queries):
            # What no query asks for may be given up in the limit, where M has no inverse: a trace of it is kept.
            ridge = (gap / RIDGE) ** 2 * float(np.sum(queries**2))
        return TraceCriterion(queries, float(utility.offset), ridge)
    if isinstance(utility, InverseDeterminant):
        return DeterminantCriterion()
    assert isinstance(utility, InverseEigenvalue)
    return EigenvalueCriterion(utility.prior)


def solve_design(program: Program, effort: Effort) -> Answer:
    """The best design over the columns of the program's cone."""
    begun = time.monotonic()
    utility = program.utility
    assert isinstance(utility, DesignUtility)
    criterion = criterion_of(utility, effort.gap)
    pricer = _Corners(program, effort) if isinstance(program.cone, CompleteCone) else _Boxes(program, effort)
    columns = pricer.starts()
    if not columns.size:
        claim = SolverClaim("interior point", "the constant column is outside the cone", None, 0.0)
        return Answer(claim, farkas=farkas_candidate(program, effort))
    best: tuple[float, Dual] | None = None
    last: Dual | None = None
    point: DesignPoint | None = None
    matrix: FloatArray | None = None
    stopped, level = "", 0
    for _ in range(ROUNDS):
        found = best_design(columns, utility.prior, criterion, max(min(1e-11, effort.gap * 1e-3), criterion.least))
        if found is None:
            break
        point, own = found, found.found
        matrix = columns * found.mass
        gap = effort.gap * max(1.0, abs(own.value))
        last = Dual(found.prices, forms=own.forms, factors=own.factors)
        excess, new, tree = pricer.price(own.forms, found.prices, gap / 8, level)
        bound = own.gained - float(found.prices.sum()) - max(excess, 0.0)
        if np.isfinite(bound) and (best is None or bound > best[0]):
            best = bound, replace(last, search=tree)
        effort.monitor(own.value, None if best is None else best[0])
        stopped = effort.stopped()
        if (best is not None and own.value - best[0] <= gap / 2) or stopped:
            break
        if not new.size:
            if level + 1 >= pricer.levels:
                break
            level += 1
            continue
        level = 0
        kept = columns if criterion.keeps else columns[:, found.mass > KEPT * found.mass.max()]
        columns = np.unique(np.hstack([kept, new]).round(13), axis=1)
    claim = SolverClaim(
        "interior point",
        "converged" if point is not None else "no design of full rank",
        None if point is None else point.found.value,
        time.monotonic() - begun,
    )
    if matrix is not None:
        matrix = matrix[:, matrix.max(axis=0) > 1e-12]
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return Answer(claim, matrix, dual=last if best is None else best[1], stopped=stopped)


class _Corners:
    """Pricing under LDP: every corner up to 16 inputs, beyond these corners that no single change improves."""

    levels = 1

    def __init__(self, program: Program, effort: Effort) -> None:
        assert isinstance(program.cone, CompleteCone)
        self.k, self.gamma = program.size, float(program.cone.level.ratio)
        self.p = np.array([float(value) for value in program.prior])
        self.effort = effort
        self.every = all_corners(self.k, self.gamma) if self.k <= ENUMERATED else None
        self.turn = 0

    def starts(self) -> FloatArray:
        alone = np.eye(self.k, dtype=bool)
        random = np.random.default_rng(0)
        size = max(1, min(self.k - 1, round(self.k / (1 + self.gamma))))
        some = np.array([random.permutation(self.k) < size for _ in range(3 * self.k)]).T
        return np.unique(np.where(np.hstack([alone, ~alone, some]), self.gamma, 1.0), axis=1)

    def price(
        self, forms: FloatArray, prices: FloatArray, accept: float, level: int
    ) -> tuple[float, FloatArray, BoxTree | None]:
        """(by how much the prices must be raised along the prior, columns that break them, no tree: the proof makes its
        own). Beyond 16 inputs the first is infinite: only the proof's search knows."""
        table = forms @ forms.T - (np.outer(prices, self.p) + np.outer(self.p, prices)) / 2
        columns = self.every
        if columns is None:
            self.turn += 1
            columns = climbed_corners(table, self.gamma, STARTS, self.turn)
        mass = self.p @ columns
        height = np.einsum("xn,xn->n", columns, table @ columns)
        worst = float((height / mass**2).max())
        reduced = height / mass
        order = np.argsort(-reduced)
        chosen = [i for i in order[: ADDED * self.k] if reduced[i] > accept * 1e-3]
        ties = [i for i in order[:TIES] if reduced[i] > reduced[order[0]] - TIED] if reduced[order[0]] > 0 else []
        new = columns[:, sorted(set(chosen) | set(ties))] if chosen else columns[:, :0]
        if self.every is not None or not new.size:
            # Without all corners this is what the design seems worth; its proof decides.
            return worst, new, None
        return np.inf, new, None


class _Boxes:
    """Pricing on any other cone: climbing first, then boxes."""

    levels = 1 + len(BOXES)

    def __init__(self, program: Program, effort: Effort) -> None:
        self.forms = ColumnForms.of(program)
        self.k, self.effort = program.size, effort
        self.p = np.array([float(value) for value in program.prior])
        self.pricer = BoxPricer(self.forms, QuadraticOverLinear(np.eye(self.k), self.p), effort)
        self.search: tuple[bytes, BoxSearch] | None = None

    def starts(self) -> FloatArray:
        if not self.pricer.holds(np.ones(self.k)):
            return np.zeros((self.k, 0))
        # Positive columns only: a mixture with the constant one keeps them in the cone.
        return np.maximum(self.pricer.starts(), 0.0)

    def price(
        self, forms: FloatArray, prices: FloatArray, accept: float, level: int
    ) -> tuple[float, FloatArray, BoxTree | None]:
        """As for corners; the tree where boxes were asked."""
        table = forms @ forms.T
        utility = QuadraticOverLinear(table, self.p)
        pricer = self.pricer = BoxPricer(self.forms, utility, self.effort)
        if level == 0:
            new = pricer.look(prices)
            return np.inf, new[:, : ADDED * self.k], None
        key = prices.tobytes()
        if self.search is None or self.search[0] != key:
            self.search = key, BoxSearch(quadratic_forms(self.forms, forms.T, prices))
        search = self.search[1]
        pricer.prices, pricer.found = prices, {}
        counted = 0

        def note(point: FloatArray) -> None:
            nonlocal counted
            counted += 1
            if counted <= 24 or counted % 24 == 0:
                pricer.climb(point[: self.k])

        def enough() -> bool:
            gains = (value for value, _ in pricer.found.values())
            return bool(self.effort.stopped()) or max(gains, default=0.0) > max(2 * accept, 1e-10)

        search.note = note
        search.run(accept, min(BOXES[level - 1], most_nodes(self.k, forms.shape[1])), enough)
        good = [v for value, v in pricer.found.values() if value > max(accept, 1e-11)]
        new = np.array(good).T if good else np.zeros((self.k, 0))
        return search.bound, new, search.tree
