"""The restricted master of a column generation: max sum theta mu(v), sum theta v = 1, theta >= 0.

Columns are scaled to anchor . v = 1 for a positive anchor, so that reduced prices are per unit of mass and a
float tolerance means the same for all of them. A pricer proposes columns; any prices a with largest reduced
price d give the bound sum(a) + d, so the loop may stop at any time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.program.programs import ChiSquare, ColumnSum, Information, Program
from rropt.solve.engine.budget import GAIN
from rropt.solve.engine.interior import central_prices, vertex
from rropt.solve.engine.lp import LpModel, cost_scale
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim

CLOSE = 0.75
"""The share of the requested gap at which to stop: the rest is for losses of rounding and proof."""
BRIEF = 100_000
"""Entries of a master that HiGHS solves again within milliseconds, without interruption."""
DENSE = 128
"""Rows from which an interior point solves the master: a simplex takes seconds, at times minutes, where many columns
are nearly as good as the best."""
SHARE, TIGHT, LOOSE = 1 / 16, 1e-12, 1e-8
"""The gap of the interior point, as a share of the target gap; and its limits, relative to the largest utility."""
FAR = 16
"""An interior point with this times the gap that it should have has failed."""
KEPT = 12
"""Columns the master keeps, for each input, before the idle half is dropped; twice as many after each drop without a
gain, as dropped columns may be regenerated indefinitely."""


@dataclass(frozen=True)
class Priced:
    """A pricer's answer at some prices: the largest reduced price (per unit of anchor . v) that any column of
    the cone can have, and k x n columns worth adding."""

    excess: float
    columns: FloatArray


Pricer = Callable[[FloatArray, int], Priced]
"""From prices and a level of effort, 0 upwards, to columns and a bound on all."""


def of_groups(program: Program, groups: np.ndarray) -> Program:
    """The program of groups of inputs with equal rows, of which the weights are summed up; `groups` are k numbers."""
    assert isinstance(program.utility, ChiSquare | Information)
    sums = [0] * (int(groups.max()) + 1)
    for group, weight in zip(groups.tolist(), program.weights, strict=True):
        sums[group] += weight
    labels, weights = tuple(map(str, range(len(sums)))), tuple(sums)
    return replace(program, inputs=labels, weights=weights, utility=replace(program.utility, weights=weights))


def tie_groups(weights: tuple[int, ...]) -> list[np.ndarray]:
    """Index groups of inputs with equal prior, larger than one."""
    groups: dict[int, list[int]] = {}
    for x, weight in enumerate(weights):
        groups.setdefault(weight, []).append(x)
    return [np.array(group) for group in groups.values() if len(group) > 1]


def polished(columns: FloatArray, theta: FloatArray) -> FloatArray:
    """theta re-solved on its support by least squares: a simplex vertex is exact up to rounding there, which
    takes the solver's feasibility tolerance out of the mechanism."""
    support = np.flatnonzero(theta > 1e-12)
    best = np.where(theta > 1e-12, theta, 0.0)
    refined, *_ = np.linalg.lstsq(columns[:, support], np.ones(columns.shape[0]), rcond=None)
    if (refined > 0).all():
        before = np.abs(columns @ best - 1.0).max()
        if np.abs(columns[:, support] @ refined - 1.0).max() <= before:
            best[support] = refined
    return np.asarray(best)


def generate(
    utility: ColumnSum,
    start: FloatArray,
    anchor: FloatArray,
    pricer: Pricer,
    effort: SolveLimits,
    ties: list[np.ndarray],
    ceiling: float = np.inf,
    levels: int = 1,
    halfway: bool = True,
) -> Answer:
    """Column generation from the k x n columns `start` (whose cone must contain the vector 1).

    Prices are averaged over `ties` (inputs that the problem treats alike): by convexity and symmetry
    that never worsens the bound. Stops when the value is within CLOSE times the requested gap of the bound or half of
    it from the `ceiling` (a bound known from elsewhere), when no column improves at any of the pricer's `levels` of
    effort, at the time limit, or on Ctrl-C.
    """
    master = Master(utility, start, anchor, dense=len(anchor) >= DENSE)
    best = np.inf
    best_prices: FloatArray | None = None
    stopped = ""
    while master.solve(effort):
        prices = _average(master.prices, ties)
        if ceiling - master.value <= effort.allowed / 2:
            break
        trials = [prices]
        if best_prices is not None and halfway:
            # Prices half way to the best ones so far vary less.
            trials.append((prices + best_prices) / 2)
        if not np.array_equal(prices, master.prices):
            # A column that gains at averaged prices need not gain at those of the master: its own are asked last.
            trials.append(master.prices)
        # Columns are looked for at all of them; long searches, for a proof, at one after the other.
        for level, asked in [(0, trials), *((level, [trial]) for level in range(1, levels) for trial in trials)]:
            columns = [np.zeros((len(anchor), 0))]
            for trial in asked:
                priced = pricer(trial, level)
                columns.append(priced.columns)
                if (reached := float(trial.sum()) + priced.excess) < best:
                    best, best_prices = reached, trial
            fresh = master.improving(np.hstack(columns))
            if fresh.shape[1] or min(best, ceiling) - master.value <= CLOSE * effort.allowed or effort.stopped():
                break
        effort.monitor(master.value, min(best, ceiling))
        stopped = effort.stopped()
        if min(best, ceiling) - master.value <= CLOSE * effort.allowed or not fresh.shape[1] or stopped:
            break
        master.add(fresh)
    value = None if master.theta is None else master.value
    claim = SolverClaim("highs", stopped or master.status, value, master.seconds)
    return Answer(claim, MatrixDraft.of(master.matrix()), None if best_prices is None else Dual(best_prices))


def column_model(worth: FloatArray, columns: FloatArray, method: str = "simplex") -> LpModel:
    """max worth . theta, columns theta = 1, theta >= 0, for k x n columns."""
    ones = np.ones(len(columns))
    return LpModel(worth, as_sparse(columns), ones, ones, method=method)


def as_sparse(columns: FloatArray) -> sparse.csc_matrix:
    """A small table as a sparse matrix, without the detour by triples that SciPy takes."""
    at, rows = np.nonzero(columns.T)
    starts = np.searchsorted(at, np.arange(columns.shape[1] + 1)).astype(np.int32)
    return sparse.csc_matrix((columns.T[at, rows], rows.astype(np.int32), starts), columns.shape)


class Master:
    """The restricted master: its columns, scaled to anchor . v = 1, and HiGHS's last answer. Where columns are
    very much alike a `warm` simplex may stall for minutes; from the start, with presolve, it does not. A `dense` one is
    solved by an interior point, and by HiGHS where that fails."""

    def __init__(
        self, utility: ColumnSum, start: FloatArray, anchor: FloatArray, warm: bool = True, dense: bool = False
    ) -> None:
        self.utility, self.anchor, self.warm, self.dense = utility, anchor, warm, dense
        masses = anchor @ start
        # Rays of inputs without weight have no mass; without them prices would not be bounded.
        self.columns = start / np.where(masses > 0, masses, 1.0)
        self._seen = set(_keys(self.columns))
        self.worth = utility.mu(self.columns)
        self._lp = None if dense else self._cold()
        self.status, self.seconds, self.value = "not started", 0.0, -np.inf
        self.theta: FloatArray | None = None
        self.prices: FloatArray = np.zeros(len(anchor))
        self._kept, self._dropped_at = KEPT * len(anchor), -np.inf

    def _cold(self) -> LpModel:
        return column_model(self.worth, self.columns)

    def solve(self, effort: SolveLimits) -> bool:
        """Whether HiGHS found an optimum in the time that is left."""
        if self.dense and self._solve_dense(effort):
            return True
        brief = self.columns.size <= BRIEF
        if self._lp is None or not self.warm:
            self._lp = self._cold()
        found = self._lp.solve(effort.remaining(), None if brief else effort.interrupted)
        if found.status not in ("optimal", "time limit", "interrupted"):
            # A warm basis that has gone bad; from the start it works.
            self._lp = self._cold()
            found = self._lp.solve(effort.remaining(), None if brief else effort.interrupted)
        self.status = found.status
        self.seconds += found.seconds
        if found.status != "optimal" or found.x is None or found.row_dual is None:
            return False
        self.theta, self.value, self.prices = found.x, found.objective, found.row_dual
        effort.found(self.value, _mixture(self.columns, found.x))
        return True

    def _solve_dense(self, effort: SolveLimits) -> bool:
        """Whether the interior point gave a vertex near the optimum."""
        begun = time.monotonic()
        largest, ones = float(np.abs(self.worth).max()), np.ones(len(self.anchor))
        wanted = SHARE * max(effort.gap * largest, effort.absolute_gap)
        wanted = min(max(wanted, TIGHT * largest), LOOSE * largest)
        found = central_prices(self.worth, self.columns, ones, wanted, effort.stopped)
        # Where rounding ended the path early, a simplex goes on; where time did, its vertex is an answer all the same.
        near = found.gap <= FAR * wanted or bool(effort.stopped())
        theta = vertex(found.x, self.worth, self.columns, ones) if near else None
        self.seconds += time.monotonic() - begun
        if theta is None or not np.isfinite(found.prices).all():
            return False
        # A path that the time limit cuts short may end below the optimum of the columns before.
        if self.theta is not None and self.worth @ theta < self.worth @ self.theta:
            theta = self.theta
        self.status, self.theta, self.prices, self._lp = "optimal", theta, found.prices, None
        self.value = float(self.worth @ theta)
        effort.found(self.value, _mixture(self.columns, theta))
        return True

    def improving(self, columns: FloatArray) -> FloatArray:
        """Those of some columns, scaled, that are not in the master and have a positive reduced price."""
        if not columns.shape[1]:
            return columns
        scaled = columns / (self.anchor @ columns)
        gain = self.utility.mu(scaled) - self.prices @ scaled
        least = GAIN * min(float(np.abs(self.worth).max()), 1.0)
        order = np.argsort(-gain)
        order = order[gain[order] > least]
        named = {key: y for y, key in zip(order.tolist(), _keys(scaled[:, order]), strict=True)}
        return scaled[:, [y for key, y in named.items() if key not in self._seen]]

    def unseen(self, columns: FloatArray) -> FloatArray:
        """Those of some columns, scaled, that the master does not have, each once."""
        scaled = columns / (self.anchor @ columns)
        named = {key: y for y, key in reversed(list(enumerate(_keys(scaled))))}
        return scaled[:, sorted(y for name, y in named.items() if name not in self._seen)]

    def add(self, columns: FloatArray) -> None:
        """Append scaled columns, after dropping those that have been idle longest."""
        self._drop_idle()
        worth = self.utility.mu(columns)
        self._seen.update(_keys(columns))
        self.columns = np.hstack([self.columns, columns])
        self.worth = np.concatenate([self.worth, worth])
        if self.theta is not None:
            self.theta = np.concatenate([self.theta, np.zeros(columns.shape[1])])
        if self._lp is None:
            return
        if self._lp.scale == cost_scale(self.worth):
            self._lp.add_columns(worth, as_sparse(columns))
        else:
            self._lp = self._cold()

    def _drop_idle(self) -> None:
        if self.columns.shape[1] <= self._kept or self.theta is None:
            return
        if self.value - self._dropped_at <= GAIN * max(1.0, abs(self.value)):
            self._kept *= 2
            return
        self._dropped_at = self.value
        loss = self.prices @ self.columns - self.worth
        keep = (self.theta > 0) | (loss <= np.partition(loss, self._kept // 2)[self._kept // 2])
        keep |= self.anchor @ self.columns == 0
        if self._lp is not None:
            self._lp.keep_columns(keep)
        self._seen -= set(_keys(self.columns[:, ~keep]))
        self.columns, self.worth, self.theta = self.columns[:, keep], self.worth[keep], self.theta[keep]

    def matrix(self) -> FloatArray | None:
        """The k x m matrix of the last optimum, or None."""
        if self.theta is None:
            return None
        return _mixture(self.columns, polished(self.columns, self.theta))


def _mixture(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """The matrix of columns (k x n) with weights (n), those above 0."""
    return np.asarray(columns[:, weights > 0] * weights[weights > 0])


def _average(prices: FloatArray, ties: list[np.ndarray]) -> FloatArray:
    averaged = prices.copy()
    for group in ties:
        averaged[group] = prices[group].mean()
    return averaged


def _keys(columns: FloatArray) -> list[bytes]:
    """A name for each of some columns, by which equal ones are recognised."""
    return [row.tobytes() for row in np.round(columns.T, 12)]
