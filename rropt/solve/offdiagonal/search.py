"""Mutual information over mechanisms with equal off-diagonal entries in each row (ayed eq. 8): best first.

Nearly every vertex is a strict local maximum: nothing local proves anything. Parts are bounded by `bound.py`, and cut
first by the smallest and the largest o, a little outside the box [l, u]: so the core, where every o is in the box, is
parted from the points with one number below l or above u. Then in whichever of a few ways wins most in both halves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rropt.errors import counted
from rropt.program.cones import CompleteCone, FloatArray
from rropt.program.programs import Program
from rropt.solve.engine.method import Answer, Dual, OffDiagonals, SolveLimits, SolverClaim, never
from rropt.solve.engine.search import Budget, Cell, Search, Serial
from rropt.solve.offdiagonal.bound import Bounder, Boxes, others_high, others_low, reach
from rropt.solve.offdiagonal.vertices import best_of, box, extremes, one_information, snapped, starts

CELLS = 1 << 16
"""Boxes bounded in one call, times inputs: what keeps numpy busy without filling memory."""
WON_ANYWAY = 1e-3
"""Added to the gain of each half, so that closing one half counts even where the other gains nothing."""
ROUGH = 2e-2
"""Where nothing wins more than this, the input with the worst tangent is cut: that wins late, and then all at once."""

Way = Literal["C", "s", "M"] | int
Range = tuple[float, float]
ANY: Range = (-math.inf, math.inf)
SHARED: tuple[Literal["C", "s", "M"], ...] = ("C", "s", "M")
"""The numbers that every part has limits on: the mean, the smallest and the largest off-diagonal."""


@dataclass(frozen=True)
class Split:
    """A node of the tree: cut on C, on the smallest ("s") or the largest ("M") o, or on that of input `way`; first
    comes the part where it is at most `at`, then the one where it is at least that."""

    way: Way
    at: float


@dataclass(eq=False)
class Part(Cell):
    """A part of the feasible o: `limits` on C, s and M, and on some o_x; `bound` with the multiplier `nu` of C and the
    `point` at which C is linearised, which prove it, and the hints of `Bounds` on where it is loose."""

    limits: dict[Way, Range]
    bound: float = math.inf
    nu: float = math.nan
    point: float = math.nan
    hints: dict[str, float] = field(default_factory=dict)
    split: Split | None = None
    parts: tuple[Part, Part] | None = None

    def cut(self, split: Split) -> tuple[Part, Part]:
        """The two parts at either side of a split."""
        a, b = self.limits.get(split.way, ANY)
        first, second = (
            Part({**self.limits, split.way: own}, nu=self.nu, point=self.point)
            for own in ((a, min(b, split.at)), (max(a, split.at), b))
        )
        return first, second


@dataclass(frozen=True)
class OffDiagonalAnswer:
    """The best `off_diagonal` found (k,), its mutual information in nats, an upper `bound`, and the `root` of the tree
    whose leaves prove it, all in floats; `nodes` counts its parts."""

    off_diagonal: FloatArray
    value: float
    bound: float
    root: Part
    nodes: int


def _link(outer: Part, margins: list[tuple[Split, int]], inner: Part) -> list[Part]:
    """Cut `outer` by `margins` until `inner` is left, and put it there; returns what was cut off."""
    cut_off = []
    for number, (split, side) in enumerate(margins):
        halves = list(outer.cut(split))
        cut_off.append(halves[1 - side])
        if number == len(margins) - 1:
            halves[side] = inner
        outer.split, outer.parts = split, (halves[0], halves[1])
        outer = halves[side]
    return cut_off


class OffDiagonalSearch:
    """Best-first branch and bound for the largest mutual information with uniform off-diagonals under LDP.

    `weights` are k non-negative numbers proportional to the prior, `ratio` is g = exp(epsilon) > 1, as a float.
    """

    def __init__(self, weights: Sequence[float], ratio: float) -> None:
        # The weights may be integers of any size.
        total = sum(weights)
        self.p = np.array([weight / total for weight in weights])
        self.k, self.g = len(self.p), float(ratio)
        self.bounder = Bounder(self.p, self.g)
        self.low, self.high = box(self.k, self.g)
        self.value = -math.inf
        self._take(starts(self.p, self.g))

    def search(self, gap: float = 1e-10, nodes: int = 100_000, stop: Callable[[], bool] = never) -> OffDiagonalAnswer:
        """Search until bound and value are at most `gap` nats apart, the tree has `nodes` nodes, or `stop()`."""
        self._mark(gap)
        # Some slack, so that the rounding of a proof in rationals still fits into the gap.
        found = Search(self, Serial(self, lambda made: CELLS // (16 * self.k) + 1))
        found.run(lambda: self.value + 0.9 * gap, Budget(nodes, stop))
        root = found.roots[0]
        return OffDiagonalAnswer(self.o, self.value, max(found.bound, self.value), root, sum(1 for _ in root.nodes()))

    def roots(self) -> list[Part]:
        """All feasible o."""
        whole = 0.0, 1 / (self.k - 1)
        return [Part({"C": whole, "s": whole, "M": whole})]

    def _mark(self, gap: float) -> None:
        """The places where s and M are cut first: just outside of their range, and of the box."""
        slack = min(max(gap / (100 * max(1.0, math.log(self.g))), 2e-13), 1e-6)
        least, most = extremes(self.k, self.g)
        self.slack = slack
        self.inner, self.outer = self.low * (1 - slack), self.high * (1 + slack)
        self.marks: list[tuple[Literal["s", "M"], float]] = [
            ("s", least - 8 * slack * self.high),
            ("M", most + 8 * slack * self.low),
            ("s", self.outer),
            ("M", self.inner),
            ("s", self.inner),
            ("M", self.outer),
        ]

    def _take(self, o: FloatArray) -> None:
        value = one_information(o, self.p)
        if value > self.value:
            self.o, self.value = o, value

    def split(self, nodes: Sequence[Part], enough: float) -> list[Part]:
        """Cut each part in the way that wins most in both halves; returns the new parts, bounded but for what was cut
        off at their margins."""
        trials = [(part, split, part.cut(split)) for part in nodes for split in self._splits(part)]
        if not trials:
            return []  # none is wide enough to be cut: their bounds stand
        halves = [half for _, _, both in trials for half in both]
        inner, margins = self._without_margins(halves)
        self._bound(inner, enough)
        chosen: dict[int, tuple[float, int]] = {}
        for at, (part, _, _) in enumerate(trials):
            # The gain in both halves, as a share of the possible gain.
            whole = min(part.bound, 1e3) - enough
            won = [(whole + enough - min(max(half.bound, enough), 1e3)) / whole for half in inner[2 * at : 2 * at + 2]]
            score = math.prod(max(share, 0.0) + WON_ANYWAY for share in won)
            way = trials[at][1].way
            if way == part.hints.get("rough") and score < ROUGH:
                score += ROUGH
            if id(part) not in chosen or score > chosen[id(part)][0]:
                chosen[id(part)] = score, at
        made, cut_off = [], []
        for _, at in chosen.values():
            part, split, both = trials[at]
            part.split, part.parts = split, both
            for half in (2 * at, 2 * at + 1):
                cut_off += _link(halves[half], margins[half], inner[half])
                made.append(inner[half])
        return made + cut_off

    def _without_margins(self, parts: list[Part]) -> tuple[list[Part], list[list[tuple[Split, int]]]]:
        """The parts with s, M and C limited to their ranges, and the cuts that do it, each with the side kept."""
        cuts: list[list[tuple[Split, int]]] = [[] for _ in parts]
        found = list(parts)
        turns: tuple[tuple[Literal["C", "s", "M"], ...], ...] = (("s", "M"), ("C",))
        for names in turns:
            left = reach(self._boxes(found), self.p, self.g)
            for row, name in ((row, name) for row in range(len(parts)) for name in names):
                own = found[row].limits[name]
                bottom, top = (float(end[row]) for end in left[name])
                width = min(own[1], top) - max(own[0], bottom)
                # An empty part has no width; a narrow one needs no narrower limits.
                spare = max(width, 1e-4 * top if name == "C" else 1e3 * self.slack * top)
                if width < 0:
                    continue
                if own[0] < bottom - 0.2 * spare:
                    cuts[row].append((Split(name, bottom - 0.02 * spare), 1))
                    found[row] = found[row].cut(cuts[row][-1][0])[1]
                if own[1] > top + 0.2 * spare:
                    cuts[row].append((Split(name, top + 0.02 * spare), 0))
                    found[row] = found[row].cut(cuts[row][-1][0])[0]
        return found, cuts

    def _splits(self, part: Part) -> list[Split]:
        """Ways to cut a part; a single one where s or M still go beyond the smallest width."""
        for way, at in self.marks:
            if part.limits[way][0] < at < part.limits[way][1]:
                return [Split(way, at)]
        boxes = self._boxes([part])
        left = {name: (float(a[0]), float(b[0])) for name, (a, b) in reach(boxes, self.p, self.g).items()}
        return list(self._ways(part, boxes, left))

    def _ways(self, part: Part, boxes: Boxes, left: dict[str, tuple[float, float]]) -> Iterator[Split]:
        (s0, s1), (m0, m1), hints = part.limits["s"], part.limits["M"], part.hints
        c = max(part.limits["C"][0], left["C"][0]), min(part.limits["C"][1], left["C"][1])
        if c[1] - c[0] > 1e-12 * c[1]:
            yield Split("C", (c[0] + c[1]) / 2)
        low = float(others_low(boxes, self.k, self.g)[0])
        high = float(others_high(boxes, self.k, self.g)[0])
        if s1 <= self.inner:
            yield from self._nearer("s", self.low - s1, self.low - s0, lambda d: self.low - d)
        if m0 >= self.outer:
            yield from self._nearer("M", m0 - self.high, m1 - self.high, lambda d: self.high + d)
        for name, at in (
            ("rough", (low + high) / 2),
            ("torn", hints.get("cut", 0.0)),
            ("least", (s1 + low) / 2),
            ("most", (m0 + high) / 2),
        ):
            x = int(hints.get(name, -1))
            if x < 0 or (name == "least" and s1 >= low) or (name == "most" and m0 <= high):
                continue
            a, b = part.limits.get(x, ANY)
            if name == "rough":
                at = (max(a, low) + min(b, high)) / 2
            if a < at < b:
                yield Split(x, at)

    def _nearer(self, way: Way, near: float, far: float, place: Callable[[float], float]) -> Iterator[Split]:
        """Cut a limit beyond the box in the middle, and by ratio of distances: near it gain and loss go together."""
        if far - near > 1e-3 * self.slack * self.low:
            yield Split(way, place((near + far) / 2))
            start = max(near, self.slack * self.low / 4)
            if far > 6 * start:
                yield Split(way, place(math.sqrt(start * far)))

    def _boxes(self, parts: list[Part]) -> Boxes:
        lo = hi = None
        if any(len(part.limits) > 3 for part in parts):
            lo, hi = np.full((len(parts), self.k), -np.inf), np.full((len(parts), self.k), np.inf)
            for row, part in enumerate(parts):
                for x, (a, b) in part.limits.items():
                    if isinstance(x, int):
                        lo[row, x], hi[row, x] = a, b
        c, s, m = (np.array([part.limits[name] for part in parts]) for name in SHARED)
        nu, point = (np.array([getattr(part, name) for part in parts]) for name in ("nu", "point"))
        return Boxes(c, s, m, nu, point, lo, hi)

    def bound(self, nodes: Sequence[Part], enough: float) -> None:
        """Bound the parts that are not yet."""
        self._bound([part for part in nodes if part.bound == math.inf], enough)

    def _bound(self, parts: list[Part], target: float) -> None:
        """Bound parts, keep the hints for cutting them, and take the vertices that their bounds point at."""
        rows = max(1, CELLS // self.k)
        for start in range(0, len(parts), rows):
            some = parts[start : start + rows]
            found = self.bounder.bounds(self._boxes(some), target)
            tables = []
            for row, part in enumerate(some):
                part.bound, part.nu, part.point = (float(one[row]) for one in (found.value, found.nu, found.point))
                if part.bound > target:
                    names = ("least", "most", "torn", "cut", "rough")
                    part.hints = {name: float(getattr(found, name)[row]) for name in names}
                    tables.append(snapped(found.o[row], int(found.least[row]), int(found.most[row]), self.g))
            if tables:
                self._take(best_of(np.vstack(tables), self.p))


def solve_off_diagonals(program: Program, effort: SolveLimits) -> Answer:
    """The best mechanism with equal off-diagonal entries in each row."""
    assert isinstance(program.cone, CompleteCone)
    begun = time.monotonic()
    search = OffDiagonalSearch(program.weights, float(program.cone.level.ratio))

    def stop() -> bool:
        # As much time again is reserved for writing and checking the result.
        left = effort.remaining()
        late = left is not None and effort.time_limit is not None and left < effort.time_limit / 2
        return late or bool(effort.stopped())

    effort.found(search.value)
    found = search.search(effort.allowed / 2, stop=stop)
    effort.monitor(found.value, found.bound)
    stopped = effort.stopped() or ("time limit" if stop() and found.bound - found.value > effort.allowed else "")
    claim = SolverClaim("rropt", stopped or counted(found.nodes, "nodes"), found.value, time.monotonic() - begun)
    return Answer(claim, OffDiagonals(found.off_diagonal), Dual(np.zeros(program.size), evidence=found))
