"""Cuts of a confidence cone: pairs (R, T) of conditional distributions of two blocks with R.v <= gamma T.v on it.

The pool keeps every cut that was ever made, as integers; programmes (`cut_program.py`) use a few of them at a time.
"""

from __future__ import annotations

import numpy as np

from rropt.model.distributions.worst_ratio import Worst
from rropt.program.cones import FloatArray
from rropt.program.confidence_cones import ConfidenceCone

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
