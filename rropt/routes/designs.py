"""Minimax designs: the inverse trace by column generation, with a lower bound from every price vector.

tr(A M^-1) >= 2 tr(C'W) - tr(W'M W) for any W (A = C C'), and tr(W'M W) is the sum over columns of v'S v / (p.v),
S = W W'. So at W = M^-1 C prices a with a.v >= v'S v / (p.v) on the whole cone prove 2 tr(C'W) - sum(a). The
interior-point method gives such prices for the columns it has; pricing looks for columns that break them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rropt.cones import CompleteCone, FloatArray
from rropt.inverse_trace import InverseTrace
from rropt.programs import ColumnSum, Program
from rropt.routes.base import Answer, Dual, Effort, SolverClaim
from rropt.routes.boxes import BoxPricer, ColumnForms
from rropt.routes.boxtree import BoxTree
from rropt.routes.corners import ENUMERATED, all_corners, climbed_corners
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


def solve_design(program: Program, effort: Effort) -> Answer:
    """The design of least risk over the columns of the program's cone."""
    begun = time.monotonic()
    utility = program.utility
    assert isinstance(utility, InverseTrace)
    queries = np.array([[float(c) for c in row] for row in utility.rows]).T
    pricer = _Corners(program, effort) if isinstance(program.cone, CompleteCone) else _Boxes(program, effort)
    columns = pricer.starts()
    if not columns.size:
        claim = SolverClaim("interior point", "the constant column is outside the cone", None, 0.0)
        return Answer(claim, farkas=farkas_candidate(program, effort))
    best: tuple[float, Dual] | None = None
    last: Dual | None = None
    point: DesignPoint | None = None
    matrix: FloatArray | None = None
    stopped, level, value = "", 0, np.inf
    ridge = 0.0
    if np.linalg.matrix_rank(queries) < program.size:
        # What no query asks for may be given up in the limit, where M has no inverse: a trace of it is kept.
        ridge = (effort.gap / RIDGE) ** 2 * float(np.sum(queries**2))
    for _ in range(ROUNDS):
        found = best_design(columns, utility.prior, queries, min(1e-11, effort.gap * 1e-3), ridge)
        if found is None:
            break
        point, value, forms = found, found.value, found.forms
        matrix = columns * found.mass
        last = Dual(found.prices, forms=forms)
        gap = effort.gap * max(1.0, value)
        excess, new, tree = pricer.price(forms, found.prices, gap / 8, level)
        bound = 2 * float(np.sum(queries * forms)) - float(found.prices.sum()) - max(excess, 0.0)
        if np.isfinite(bound) and (best is None or bound > best[0]):
            best = bound, Dual(found.prices, forms=forms, search=tree)
        offset = float(utility.offset)
        effort.monitor(value - offset, None if best is None else best[0] - offset)
        stopped = effort.stopped()
        if (best is not None and value - best[0] <= gap / 2) or stopped:
            break
        if not new.size:
            if level + 1 >= pricer.levels:
                break
            level += 1
            continue
        level = 0
        kept = columns[:, found.mass > KEPT * found.mass.max()]
        columns = np.unique(np.hstack([kept, new]).round(13), axis=1)
    reached = None if point is None else value - float(utility.offset)
    claim = SolverClaim(
        "interior point",
        "converged" if point is not None else "no design of full rank",
        reached,
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
        search.run(accept, BOXES[level - 1], enough)
        good = [v for value, v in pricer.found.values() if value > max(accept, 1e-11)]
        new = np.array(good).T if good else np.zeros((self.k, 0))
        return search.bound, new, search.tree
