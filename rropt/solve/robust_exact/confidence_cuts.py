"""The `robust_exact` method: column generation on the exact cone of robust local differential privacy, known by its
cuts.

Points of climbs are moved into the cone toward the constant column, which lies strictly inside. Prices are raised
evenly for all inputs by most of the requested gap: raised along the prior, rare inputs would need far more boxes.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rropt.errors import NoMethod, Refusal
from rropt.io.clock import LATE
from rropt.program.block_cones import LARGEST_BLOCK, RobustCone
from rropt.program.cones import FloatArray
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.extras import Extra
from rropt.program.programs import Information, Program, RowEntropy
from rropt.prove.steps import relax
from rropt.solve.engine.boxes.tree import PROVING
from rropt.solve.engine.budget import GRACE, LEAST_GAP
from rropt.solve.engine.master import Master
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, Method, SolveLimits, SolverClaim, never, solve_part
from rropt.solve.robust_exact.climb import Climber
from rropt.solve.robust_exact.cut_program import CutPool, CutTree
from rropt.solve.robust_exact.cut_search import BatchedCutSearch, Probe
from rropt.solve.robust_exact.dominant_input import Cases, CaseSearch
from rropt.solve.robust_exact.outer import Mixer, Outer

RANDOM, MOST_RANDOM = 4, 40
"""Points for each input, and at most, from which a batch climbs besides the columns in use: half of them are one block
away from such a column."""
ROUGH, FIRST = 1e-4, 0.15
"""The gap to which the polytope form is solved for a start, and its share of the time."""
KEPT = 4
"""Columns that are crossed, for each input."""
BATCHES = (0.25, 0.75)
"""Batches without a column before a search, for each input: at first, and at most; two more after every search, which
takes as long as many batches."""
USEFUL, LEAST = 0.2, 0.02
"""Shares of the gap: climbs from the columns in use alone are enough where they gain more than the first, and columns
that gain less than the second are left out."""
LAST = 0.5
"""The share of a time limit after which one search goes on to the end."""
SHARE = 0.7
"""The share of the requested gap that the prices are raised by before their bound is proved."""
BOXES = 5_000_000
"""Boxes of a search at most."""


class RobustExactMethod(Method):
    """Cuts of a confidence cone: column generation for mutual information, outer cones for everything else."""

    name = "robust_exact"
    because = "the cone is that of a confidence set: columns are generated, bounded by boxes over cuts"
    takes = (ConfidenceCone, Extra, RowEntropy)
    purpose = "robust LDP in form exact or product"
    solvers = ("highs",)

    def __init__(self, choose: Callable[[Program], Method], mix: Mixer) -> None:
        self._choose, self._mix = choose, mix

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        assert isinstance(program.cone, ConfidenceCone)
        if _is_plain(program):
            return None
        try:
            self._choose(relax(program, [Outer(program, program.cone, SolveLimits(), self._choose, self._mix).cut()]))
        except NoMethod as error:
            return Refusal(error.what.removeprefix("no method takes this problem: "), error.remedy)
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        assert isinstance(program.cone, ConfidenceCone)
        if _is_plain(program):
            return _Generation(program, program.cone, effort).run()
        return Outer(program, program.cone, effort, self._choose, self._mix).run()


def _is_plain(program: Program) -> bool:
    """Whether the problem is the one that has proofs of its own: mutual information and free outputs."""
    return program.utility.plain and program.sense == "maximize" and not program.rows and program.outputs is None


class _Generation:
    """The loop of master, climbs and searches."""

    def __init__(self, program: Program, cone: ConfidenceCone, effort: SolveLimits) -> None:
        self.effort = effort
        self.size = program.size
        self.prior = np.array([float(value) for value in program.prior])
        # Climbs make far more cuts than a proof needs: searches have a pool of their own.
        self.pool = CutPool(cone)
        self._climber = Climber(CutPool(cone), self.prior, effort.stopped)
        self._program, self._cone = program, cone
        self.used = np.ones((1, self.size))
        self.searches = 0
        # The bound, its prices, and the trees that prove it where they are those of cases.
        self._best: tuple[float, FloatArray, CutTree | None] | None = None
        self._search: BatchedCutSearch | None = None

    @property
    def gap(self) -> float:
        """The gap that is allowed, and at least what the linear programmes resolve."""
        return max(self.effort.allowed, LEAST_GAP * max(self.master.value, 0.0))

    def run(self) -> Answer:
        """The answer, with prices and their tree."""
        polytope = self._polytope()
        self._climber.stop = self._begun
        start = np.vstack([polytope, self._climber.covering()])
        self._climber.stop = self.effort.stopped
        assert isinstance(self._program.utility, Information)
        master = self.master = Master(self._program.utility, start.T, np.full(self.size, 1 / self.size))
        prices, closed = None, False
        while master.solve(self._patient()):
            prices, self.used = master.prices, self._used()
            if self.effort.stopped():
                break
            self.effort.monitor(master.value, None if self._best is None else self._best[0])
            last = self._late()
            good = self._climbs(prices)
            if not len(good) or last:
                met, closed = self._searched(prices, last)
                if closed:
                    break
                good = np.vstack([good, met])
            master.add(good.T)
        if prices is not None and not closed:
            # Stopped before the first search, or after one that ended at a column: a short one proves more.
            self._searched(prices, True)
        status = self.effort.stopped() or master.status
        if master.theta is None:
            return Answer(SolverClaim("highs", status, None, master.seconds))
        claim = SolverClaim("highs", status, master.value, master.seconds)
        dual = None
        if self._best is not None:
            _, prices, tree = self._best
            evidence = self._search.tree if tree is None and self._search is not None else tree
            dual = Dual(prices, evidence=evidence)
        return Answer(claim, MatrixDraft.of(master.matrix()), dual)

    def _polytope(self) -> FloatArray:
        """Columns (n x k) of the best mechanism over the polytope, a smaller cone: the answer is no worse."""
        none = np.zeros((0, self.size))
        if max(map(len, self._cone.blocks)) > LARGEST_BLOCK:
            return none
        left, rough = self.effort.remaining(), replace(self.effort, gap=max(self.effort.gap, ROUGH))
        inner = replace(self._program, cone=RobustCone(self._cone.level, self._cone.blocks, self._cone.lower_bounds))
        method = self.effort.method("columns")
        found = solve_part(method, inner, rough, None if left is None else FIRST * left)[0].matrix
        if found is None:
            return none
        points = found.T[found.sum(axis=0) > 1e-12]
        inside, _, _ = self.pool.pulled(points / points.mean(axis=1, keepdims=True))
        return np.asarray(inside / inside.mean(axis=1, keepdims=True))

    def _begun(self) -> bool:
        """Whether a start has had its share of the time."""
        left, limit = self.effort.remaining(), self.effort.time_limit
        return bool(self.effort.stopped()) or (
            left is not None and limit is not None and left < (1 - 2 * FIRST) * limit
        )

    def _late(self) -> bool:
        """Whether the remaining time goes into one bound."""
        left, limit = self.effort.remaining(), self.effort.time_limit
        return left is not None and limit is not None and left < (1 - LAST) * limit

    def _climbs(self, prices: FloatArray) -> FloatArray:
        """Columns worth adding, by climbs from those in use, which are few and near, or else from batches with more."""
        points, worth = self._climber.climbed(self.used, prices)
        good = self._climber.fresh(points, worth, LEAST * self.gap)
        if worth.max() > USEFUL * self.gap:
            return good
        near = self._good(prices)
        first, most = (max(int(share * self.size), 1) for share in BATCHES)
        count = min(RANDOM * self.size, MOST_RANDOM)
        for _ in range(min(first + 2 * self.searches, most)):
            if self.effort.stopped():
                break
            random = [
                self._climber.altered(self.used, near, count // 2),
                self._climber.altered(near, near, count // 4),
                self._climber.crossed(near, count // 8),
                self._climber.sparse_points(count // 8),
            ]
            points, worth = self._climber.climbed(np.vstack(random), prices)
            more = self._climber.fresh(points, worth, LEAST * self.gap)
            if len(more):
                return np.vstack([good, more])
        return good

    def _good(self, prices: FloatArray) -> FloatArray:
        """The columns with the smallest reduced losses."""
        loss = prices @ self.master.columns - self.master.worth
        return self.master.columns.T[np.argsort(loss, kind="stable")[: KEPT * self.size]]

    def _searched(self, prices: FloatArray, last: bool) -> tuple[FloatArray, bool]:
        """(columns worth adding, whether it was the last search) at raised prices: by cases where they promise more."""
        self.pool.take(self._climber.pool, self.used, self.size)
        self.searches += 1
        slack = SHARE * self.gap * (1 / self.size + self.prior) / 2
        cases = CaseSearch(Cases(self.pool, self.prior, prices + slack, self.used, slack))
        cases.cases.margin = (1 - SHARE) * self.gap
        if cases.promising(self.master.value):
            return self._by_cases(cases, prices, last)
        return self._by_boxes(prices, last)

    def _by_cases(self, search: CaseSearch, prices: FloatArray, last: bool) -> tuple[FloatArray, bool]:
        """The search case by case."""
        cases = search.cases
        stop = self._closing(lambda: search.nodes + cases.parted)
        ended = search.search(stop, None if last else self._probe(prices), last)
        total = float(cases.prices.sum()) + max(search.bound, 0.0)
        if np.isfinite(total) and (self._best is None or total < self._best[0]):
            self._best = total, cases.prices, search.tree
        return self._met(ended, cases.columns, prices)

    def _probe(self, prices: FloatArray) -> Probe:
        """The probe of a search: climbs from its points."""

        def probe(points: FloatArray) -> FloatArray:
            found, worth = self._climber.climbed(points, prices)
            return self._climber.fresh(found, worth, SHARE * self.gap)

        return probe

    def _met(self, ended: str, columns: list[FloatArray], prices: FloatArray) -> tuple[FloatArray, bool]:
        """(columns that a search met and what is climbed to from them, whether the search was the last one)."""
        self.effort.monitor(self.master.value, None if self._best is None else self._best[0])
        if ended == "open" or not columns:
            return np.zeros((0, self.size)), True
        points = np.array(columns)
        points /= points.mean(axis=1, keepdims=True)
        climbs, worth = self._climber.climbed(points, prices)
        return np.vstack([points, self._climber.fresh(climbs, worth, LEAST * self.gap)]), False

    def _by_boxes(self, prices: FloatArray, last: bool) -> tuple[FloatArray, bool]:
        """The search in one tree of boxes, kept from one time to the next."""
        raised = prices + SHARE * self.gap / self.size
        if self._search is None:
            self._search = BatchedCutSearch(self.pool, self.prior, raised, self.used)
            self._search.cuts.margin = (1 - SHARE) * self.gap
        else:
            self._search.at(raised, self.used)
        search = self._search
        ended = search.search(BOXES, self._closing(lambda: search.nodes), None if last else self._probe(prices), last)
        total = float(raised.sum()) + max(search.bound, 0.0)
        best = self._best
        if best is not None and best[2] is None and best[0] < total:
            # The tree has changed since: its bound at the best prices is computed again.
            before = float(best[1].sum()) + max(search.worst(best[1]), 0.0)
            if before < total:
                raised, total = best[1], before
        if np.isfinite(total) and (best is None or best[2] is None or total < best[0]):
            self._best = total, raised, None
        return self._met(ended, search.cuts.columns, prices)

    def _closing(self, nodes: Callable[[], int]) -> Callable[[], bool]:
        """Whether the remaining time is needed to write and check a tree of `nodes()`. A search that has just
        begun may go on a little beyond the limit: stopped at once, its bound would be poor."""
        least = self._grace()

        def stop() -> bool:
            if time.monotonic() <= least:
                return False
            left = self.effort.remaining()
            late = left is not None and left < PROVING * self.size * nodes()
            return late or bool(self.effort.stopped())

        return stop

    def _grace(self) -> float:
        """The moment of time.monotonic until which work that begins now may go on, whatever the time limit: before the
        method is ended as late."""
        return min(time.monotonic() + GRACE, self.effort.clock.end + LATE / 2)

    def _used(self) -> FloatArray:
        """The columns of the master's optimum."""
        assert self.master.theta is not None
        return np.asarray(self.master.columns.T[self.master.theta > 1e-12])

    def _patient(self) -> SolveLimits:
        """The effort for a master: the first optimum is awaited, as a bound needs prices."""
        left = self.effort.remaining()
        if left is None or self.master.theta is not None or left > GRACE:
            return self.effort
        return replace(self.effort, time_limit=self._grace() - self.effort.begun, interrupted=never)
