"""Cuts of a confidence cone: the pool that keeps them, the linear programmes over them, and the trees of their boxes.

Trees of boxes over a confidence cone: how the largest reduced price was bounded, and the multipliers that prove it.

One tree covers the whole slice p . v = 1, or there is one for each input that may have the most mass (`CaseBox`), whose
leaves may have a tree for each block. All are boxes of limits, split alike.

Cuts of a confidence cone: pairs (R, T) of conditional distributions of two blocks with R.v <= gamma T.v on it.

The pool keeps every cut that was ever made, as integers; programmes (`cut_program.py`) use a few of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from rropt.model.convex_terms import X_LOG_X, xlogx
from rropt.model.distributions.worst_ratio import Worst
from rropt.program.cones import FloatArray
from rropt.program.confidence_cones import ConfidenceCone
from rropt.solve.engine.boxes.tree import SCALE, largest_end, ray_multiple
from rropt.solve.engine.lp import LpAnswer, LpModel
from rropt.solve.engine.search import Cell
from rropt.solve.robust_exact.budget import HIGHEST, NOISE


class Multipliers(NamedTuple):
    """`values` > 0 of `cuts` (numbers in a pool), and `nu` of the slice where there is one."""

    cuts: np.ndarray
    values: FloatArray
    nu: float = 0.0

    @classmethod
    def none(cls) -> Multipliers:
        """No cut is used."""
        return cls(np.zeros(0, dtype=int), np.zeros(0))

    @classmethod
    def of(cls, cuts: Sequence[int], values: FloatArray, nu: float = 0.0) -> Multipliers:
        """Those that are positive."""
        at = np.flatnonzero(values > 0)
        return cls(np.array(cuts, dtype=int)[at], values[at], nu)

    def plus(self, other: Multipliers, factor: float) -> Multipliers:
        """These and a multiple of others."""
        together, where = np.unique(np.concatenate([self.cuts, other.cuts]), return_inverse=True)
        both = np.concatenate([self.values, factor * other.values])
        sums = np.asarray(np.bincount(where, both, len(together)), dtype=float)
        return Multipliers(together, sums, self.nu + factor * other.nu)


@dataclass(slots=True, eq=False)
class CutBox(Cell):
    """A node: limits of some inputs, the bound on it, the multipliers that prove it, and the optimum of its programme
    (`point`). A split one keeps `at`, `c` and its two `parts` (v[at] <= c, then >= c) instead."""

    lower: FloatArray
    upper: FloatArray
    use: Multipliers = field(default_factory=Multipliers.none)
    bound: float = np.inf
    point: FloatArray | None = None
    at: int = -1
    c: float = 0.0
    parts: tuple[Self, Self] | None = None

    def part(self) -> Self:
        """A box of its own with these limits and multipliers."""
        return type(self)(self.lower.copy(), self.upper.copy(), self.use)

    def divide(self, at: int, c: float) -> tuple[Self, Self]:
        """Split it, and drop what only a leaf needs; nothing where c is not between the limits."""
        below, above = self.part(), self.part()
        below.upper[at] = above.lower[at] = c
        self.at, self.c, self.parts = at, c, (below, above)
        self.lower = self.upper = np.zeros(0)
        self.use, self.point = Multipliers.none(), None
        return self.parts

    def contains(self, at: int, c: float) -> bool:
        """Whether c is between the limits of an input, so that both parts are smaller."""
        return bool(self.lower[at] < c < self.upper[at])

    @property
    def middle(self) -> FloatArray:
        """A point of it, near the lower limits where the upper ones are far away."""
        return np.asarray((self.lower + np.minimum(self.upper, self.lower + 2.0)) / 2)

    def worst_chord(self, prior: FloatArray) -> tuple[int, float, float]:
        """(the input whose chord errs most at the optimum, where to split its limits, the error). That is at the
        optimum, but a quarter of the way to the middle, so that no half is nearly the whole."""
        high = np.minimum(self.upper, HIGHEST)
        v = np.clip(self.middle if self.point is None else self.point, self.lower, high)
        alpha, beta = X_LOG_X.chord(self.lower, self.upper)
        error = prior * (alpha * v + beta - xlogx(v))
        at = int(np.argmax(error))
        return at, float(0.75 * v[at] + 0.125 * (self.lower[at] + high[at])), float(error[at])


@dataclass(slots=True, eq=False)
class CaseBox(CutBox):
    """A node of the case of input x: `top` is the bound of F on it, found with the tangent at `t`, `bound` is `top`
    over p_x. Where it was found block by block, `blocks` has the root of each block's tree."""

    x: int = -1
    t: float = 1.0
    top: float = np.inf
    blocks: tuple[CutBox, ...] = ()

    def part(self) -> CaseBox:
        """With the same tangent."""
        return CaseBox(self.lower.copy(), self.upper.copy(), self.use, x=self.x, t=self.t)


@dataclass(frozen=True)
class CutTree:
    """A search over a confidence cone: its root, or that of each input with prior in order where they are cases; the
    bound that the leaves give; and every cut that these may name: (s, z, weights over block s, weights over block z),
    integers."""

    roots: Sequence[CutBox]
    bound: float
    cuts: Sequence[tuple[int, int, tuple[int, ...], tuple[int, ...]]]


CUT_BITS = 60
"""Weights of a cut are whole numbers that sum to about 2^60."""
TIGHT = 1e-11
"""Violations below this, per unit of the largest entry, are rounding."""


class CutPool:
    """Every cut made for one cone: `rows` (cuts x k) in floats, and the integers that they stand for."""

    def __init__(self, cone: ConfidenceCone) -> None:
        self.cone = cone
        self.gamma = float(cone.level.ratio)
        self._rows = np.zeros((64, len(cone.counts)))
        self.cuts: list[tuple[int, int, tuple[int, ...], tuple[int, ...]]] = []
        self._named: dict[bytes, int] = {}
        # The observed conditionals themselves count: the first cuts.
        own = cone.adversary.own
        for s, z in cone.pairs:
            first, second = (np.where(own[b].any(), own[b], cone.adversary.inside[b]) for b in (s, z))
            self.add(s, z, first / first.sum(), second / second.sum())

    def __len__(self) -> int:
        return len(self.cuts)

    @property
    def rows(self) -> FloatArray:
        """R on the first block, -gamma T on the second, for every cut."""
        return self._rows[: len(self.cuts)]

    def add(self, s: int, z: int, first: FloatArray, second: FloatArray) -> int:
        """The number of the cut (R, T), distributions over blocks s and z (padded with zeros)."""
        blocks = self.cone.blocks
        r, t = (
            tuple(round(weight * 2.0**CUT_BITS) for weight in weights[: len(blocks[at])].tolist())
            for at, weights in ((s, first), (z, second))
        )
        return self._keep(s, z, r, t)

    def _keep(self, s: int, z: int, r: tuple[int, ...], t: tuple[int, ...]) -> int:
        blocks = self.cone.blocks
        row = np.zeros(len(self.cone.counts))
        row[list(blocks[s])] = np.array(r, dtype=float) / float(sum(r))
        row[list(blocks[z])] = -self.gamma * np.array(t, dtype=float) / float(sum(t))
        name = np.round(row, 10).tobytes()
        if name not in self._named:
            self._named[name] = len(self.cuts)
            if len(self.cuts) == len(self._rows):
                self._rows = np.vstack([self._rows, np.zeros_like(self._rows)])
            self._rows[len(self.cuts)] = row
            self.cuts.append((s, z, r, t))
        return self._named[name]

    def take(self, other: CutPool, points: FloatArray, most: int) -> None:
        """The cuts of another pool that are tight, or nearly, at n points (n x k) inside the cone."""
        for cut in np.unique(other.nearest(points, most)).tolist():
            s, z, r, t = other.cuts[cut]
            self._keep(s, z, r, t)

    def nearest(self, points: FloatArray, most: int) -> np.ndarray:
        """For each of n points (n x k), inside the cone, the numbers of the cuts that are tight there or nearly."""
        return np.argsort(-(points @ self.rows.T), axis=1)[:, :most]

    def violated(self, v: FloatArray, most: int) -> list[int]:
        """The cuts that a point violates most."""
        excess = self.rows @ v
        bad = np.flatnonzero(excess > 10 * TIGHT * float(v.max()))
        return [int(cut) for cut in bad[np.argsort(-excess[bad])[:most]]]

    def worst(self, points: FloatArray) -> Worst:
        """The worst pairs of n columns (n x k)."""
        return self.cone.adversary.worst(np.maximum(points, 0.0), self.gamma)

    def pulled(self, points: FloatArray) -> tuple[FloatArray, FloatArray, list[list[int]]]:
        """(points moved toward the constant column until they are inside, by which shares, the cuts that they meet).

        n x k points; the constant column has the same sum as each point. On the segment to it the cut of a point is met
        at a share that is easily found; the cut made there is met a little later, and so on.
        """
        count = len(points)
        flat = points.mean(axis=1, keepdims=True)
        shares = np.zeros(count)
        inside = points.copy()
        met: list[list[int]] = [[] for _ in range(count)]
        active = np.arange(count)
        for _ in range(8):
            found = self.worst(inside[active])
            limit = TIGHT * inside[active].max(axis=1)
            worst = found.value.max(axis=1)
            going = worst > limit
            for at, n in enumerate(active.tolist()):
                if not going[at]:
                    continue
                # Pairs that are violated where the point is now: fewer and nearer each time.
                met[n] = [
                    self.add(*self.cone.pairs[j], found.first[at, j], found.second[at, j])
                    for j in np.flatnonzero(found.value[at] > max(limit[at], 0.1 * worst[at]))
                ] + met[n][:4]
            if not going.any():
                break
            active, worst = active[going], worst[going]
            height = flat[active, 0] * (self.gamma - 1)
            step = worst / (worst + height) + 1e-13
            shares[active] += (1 - shares[active]) * step
            inside[active] = points[active] + shares[active, None] * (flat[active] - points[active])
        # A little further, so that rounding to integers leaves them inside.
        inside += 4 * TIGHT / (self.gamma - 1) * (flat - inside)
        return inside, shares, met


RAY_SPARED = 1e-6
"""Shadow prices of a ray, the largest of which is one, are rounding below this."""
NO_CONFLICT = 1e-9
"""Rays that contradict limits by less than this show nothing."""
BEYOND = 1e-6
"""Empty limits are bounded by so much less than is asked."""


class CutRows:
    """The cuts of a pool that are in use (`present`, numbers in order), and when each was last of use; `most` of them
    are kept."""

    def __init__(self, most: int) -> None:
        self.present: list[int] = []
        self._here: set[int] = set()
        self._used = np.zeros(0, dtype=int)
        self._most, self._clock = most, 0

    def added(self, cuts: Iterable[int]) -> list[int]:
        """Those of some cuts that were not there: they are, from now on, after the others."""
        fresh = [cut for cut in dict.fromkeys(cuts) if cut not in self._here]
        self.present += fresh
        self._here.update(fresh)
        self._used = np.append(self._used, np.full(len(fresh), self._clock))
        return fresh

    def touched(self, duals: np.ndarray) -> None:
        """Mark the cuts with a dual as used."""
        self._used[np.flatnonzero(duals)] = self._clock

    def aged(self) -> np.ndarray | None:
        """Begin a new period. Returns which rows stay (booleans) where there are more than `most`: half as many, those
        that were used lately; None where all do."""
        self._clock += 1
        if len(self.present) <= self._most:
            return None
        keep = np.zeros(len(self.present), dtype=bool)
        keep[np.argsort(-self._used, kind="stable")[: self._most // 2]] = True
        self.present = [cut for cut, stays in zip(self.present, keep.tolist(), strict=True) if stays]
        self._here, self._used = set(self.present), self._used[keep]
        return keep


class CutProgram:
    """max cost . v over limits of `inputs` (all of them by default) under some of the cuts of a pool, those that were
    used lately; with `sliced` also prior . v = 1, else with given contributions of the other inputs (`hold`)."""

    def __init__(
        self, pool: CutPool, prior: FloatArray, most: int, inputs: Sequence[int] | None = None, sliced: bool = False
    ) -> None:
        self.pool, self.inputs = pool, np.arange(len(prior)) if inputs is None else np.array(inputs)
        self.prior = prior[self.inputs]
        self._cuts, self._sliced = CutRows(most), int(sliced)
        self._rest = np.zeros(len(prior))
        one, table = np.ones(self._sliced), sparse.csc_matrix(self.prior[None, :][: self._sliced])
        self._lp = LpModel(np.zeros(len(self.inputs)), table, one, one, method="simplex", presolve=False)

    @property
    def present(self) -> list[int]:
        """The cuts in the programme, in the order of its rows."""
        return self._cuts.present

    def hold(self, values: FloatArray) -> None:
        """Fix the other inputs at values (k,) from now on, 0 at those of the programme, which has no slice."""
        if not np.array_equal(values, self._rest):
            self._rest = values
            self._lp.change_row_uppers(-(self.pool.rows[self.present] @ self._rest))

    def add(self, cuts: Iterable[int]) -> int:
        """Add cuts of the pool (by number) to the programme; returns how many are new."""
        fresh = self._cuts.added(cuts)
        if fresh:
            table = self.pool.rows[fresh]
            self._lp.add_dense_rows(table[:, self.inputs], -(table @ self._rest))
        return len(fresh)

    def solve(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> LpAnswer:
        """HiGHS's answer; its duals are per unit of the unscaled cost times `SCALE`."""
        if (keep := self._cuts.aged()) is not None:
            self._lp.keep_rows(np.append(np.ones(self._sliced, dtype=bool), keep))
        found = self._lp.rerun(SCALE * cost, lower, np.minimum(upper, HIGHEST))
        if found.row_dual is not None:
            self._cuts.touched(found.row_dual[self._sliced :])
        return found

    def tighten(self, box: CutBox, cost: FloatArray, base: float, target: float = 0.0) -> FloatArray | None:
        """Lower the bound of a box on base + cost . v by its own programme, where that proves less; the optimum, None
        where the box is empty, for which `target` is low enough."""
        found = self.solve(cost, box.lower, box.upper)
        if found.x is None or found.row_dual is None:
            if found.ray is not None:
                self._empty(box, found.ray, cost, base, target)
            return None
        self.offer(box, self._multipliers(found.row_dual / SCALE), cost, base)
        return np.clip(found.x, box.lower, np.minimum(box.upper, HIGHEST))

    def offer(self, box: CutBox, use: Multipliers, cost: FloatArray, base: float) -> None:
        """Give multipliers to a box where they prove more than those that it has."""
        bound = self.proved(use, cost, base, box)
        if bound < box.bound:
            box.bound, box.use = bound, use

    def proved(self, use: Multipliers, cost: FloatArray, base: float, box: CutBox) -> float:
        """The bound that multipliers prove on base + cost . v in a box: any are valid."""
        rows = use.values @ self.pool.rows[use.cuts]
        residual = cost - use.nu * self.prior - rows[self.inputs]
        residual = np.where((self.prior <= 0) & (np.abs(residual) < NOISE), 0.0, residual)
        return base + use.nu - float(rows @ self._rest) + largest_end(residual, box.lower, box.upper)

    def _multipliers(self, duals: FloatArray) -> Multipliers:
        """Those of duals of the rows."""
        nu = float(duals[0]) if self._sliced else 0.0
        return Multipliers.of(self.present, duals[self._sliced :], nu)

    def _empty(self, box: CutBox, ray: FloatArray, cost: FloatArray, base: float, target: float) -> None:
        """Use a ray that shows a box to be empty: enough of it proves any bound there."""
        for sign in (1.0, -1.0):
            along = self._multipliers(np.where(np.abs(ray) > RAY_SPARED, sign * ray, 0.0))
            empty = self.proved(along, np.zeros(len(cost)), 0.0, box)
            if empty >= -NO_CONFLICT:
                continue
            # Terms without a limit are infinite until enough of the ray is added.
            least = self._falling(box, along, cost)
            whole = self.proved(box.use.plus(along, least), cost, base, box)
            if np.isfinite(whole):
                largest = max(float(along.values.max(initial=0.0)), abs(along.nu))
                factor = least + ray_multiple(max(whole - target, 0.0) + BEYOND, empty, largest)
                self.offer(box, box.use.plus(along, factor), cost, base)

    def _falling(self, box: CutBox, along: Multipliers, cost: FloatArray) -> float:
        """The multiple of a ray from which terms without a limit no longer rise; 0 where it changes no sign."""
        rising, falling = (
            own - use.nu * self.prior - (use.values @ self.pool.rows[use.cuts])[self.inputs]
            for own, use in ((cost, box.use), (np.zeros(len(cost)), along))
        )
        turned = np.isinf(box.upper) & (rising > 0) & (falling < 0)
        return float(np.max(1.01 * rising[turned] / -falling[turned], initial=0.0))
