"""Upper bounds of mutual information over boxes of off-diagonals: many boxes at once, in numpy.

With C = sum_x p_x o_x the information is sum_x h_x(o_x, C), where (ayed 3.1, rearranged)
h_x(o, C) = p_x (phi(1 - (k-1) o) + (k-1) phi(o)) - phi(p_x (1 - k o) + C), phi(v) = v log v.
For a fixed C the inputs are coupled by sum_x p_x o_x = C alone: a multiplier nu parts them, and each h_x is convex in
o, so that its largest value lies at an end of the interval of o_x. In C the concave part -phi is below its tangent at a
point Ch; what is left is convex in C, and its largest value lies at an end of the interval of C. Where h_x is not
convex in o, one tangent serves the whole interval. The leaf rule of docs/certificate-format.md, "Over off-diagonals".

Logarithms are taken of k times their argument. Then nu means nu + k log k; `Bounds.nu` is as in the format.

Parts of the mechanisms with uniform off-diagonals: the range of every number under their limits.

A part limits C = sum_x p_x o_x, the smallest number s, the largest number M, and some of the o_x. Where an input j
attains s and another one, i, attains M, the ratio constraints leave an interval I_x to every other input, J_j and K_i
to these two: the section "Over off-diagonals" of docs/certificate-format.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.offdiagonal.vertices import scaled

MARGIN = 1e-13
"""Relative: intervals are called empty, and functions convex, only where rounding cannot have made them so."""


FIRST = 2.0**20
"""Added to the gains of inputs that must be chosen: above any gain, and small enough to leave their digits."""


@dataclass
class Boxes:
    """n parts: limits on C, s and M (each n x 2), and on each o_x (`lo`, `hi`: n x k, or None where no part limits
    one). `nu` and `point` (n,) are where a bound begins: those of a part that this one was cut from, or NaN."""

    c: FloatArray
    s: FloatArray
    m: FloatArray
    nu: FloatArray
    point: FloatArray
    lo: FloatArray | None = None
    hi: FloatArray | None = None


@dataclass
class Intervals:
    """`lower` and `upper` ends (3 x n x k) of I, J and K; `void` where one is empty (there the ends are swapped)."""

    lower: FloatArray
    upper: FloatArray
    void: np.ndarray


def others_low(boxes: Boxes, size: int, ratio: float) -> FloatArray:
    """A lower limit (n,) on all inputs but one that attains s."""
    s, m = boxes.s, boxes.m
    found = np.maximum(s[:, 0], (1 - (size - 1) * s[:, 1]) / ratio)
    found = np.maximum(found, (1 - ratio * s[:, 1]) / (size - 1))
    return np.maximum(found, m[:, 0] / ratio) if size >= 3 else found


def others_high(boxes: Boxes, size: int, ratio: float) -> FloatArray:
    """An upper limit (n,) on all inputs but one that attains M."""
    s, m = boxes.s, boxes.m
    found = np.minimum(m[:, 1], (ratio - m[:, 0]) / (ratio * (size - 1)))
    found = np.minimum(found, ratio - ratio * (size - 1) * m[:, 0])
    return np.minimum(found, ratio * s[:, 1]) if size >= 3 else found


def intervals(boxes: Boxes, size: int, ratio: float) -> Intervals:
    """The intervals I, J and K of all inputs."""
    low, high = others_low(boxes, size, ratio), others_high(boxes, size, ratio)
    least, most = boxes.s[:, 0], boxes.m[:, 1]
    if size >= 3:
        least, most = np.maximum(least, boxes.m[:, 0] / ratio), np.minimum(most, ratio * boxes.s[:, 1])
    # The input at s is not the one at M, so `high` holds of it too, and `low` of the one at M.
    bottoms = np.array([low, least, np.maximum(boxes.m[:, 0], low)])
    tops = np.array([high, np.minimum(boxes.s[:, 1], high), most])
    lower, upper = (np.repeat(one[:, :, None], size, axis=2) for one in (bottoms, tops))
    if boxes.lo is not None and boxes.hi is not None:
        lower, upper = np.maximum(lower, boxes.lo), np.minimum(upper, boxes.hi)
    return Intervals(np.minimum(lower, upper), np.maximum(lower, upper), lower > upper * (1 + MARGIN))


def reach(boxes: Boxes, prior: FloatArray, ratio: float) -> dict[str, tuple[FloatArray, FloatArray]]:
    """The ranges of C, s and M under the limits of each box: least and largest values (n,), by name."""
    k, g, p = len(prior), ratio, prior
    found = intervals(boxes, k, g)
    (low, least, _), (high, _, most) = found.lower, found.upper
    none, no_least, no_most = found.void
    # An input whose I is empty attains s or M, so that its own number lies in J or K; no other one attains the same.
    low = np.where(none, np.where(no_least, found.lower[2], least), low)
    high = np.where(none, np.where(no_most, found.upper[1], most), high)
    taken_least, taken_most = ((none & void).any(axis=1)[:, None] for void in (no_most, no_least))
    bottom = low @ p + np.where(no_least | taken_least, 0, np.minimum((least - low) * p, 0)).min(axis=1)
    top = high @ p + np.where(no_most | taken_most, 0, np.maximum((most - high) * p, 0)).max(axis=1)
    # All but the input at s are at least A(s) and at most M; all but the one at M are at most B(M) and at least s. A
    # third input lies between A(s) and B(M).
    room, floor = boxes.m[:, 1], boxes.s[:, 0]
    if k >= 3:
        room, floor = np.minimum(room, others_high(boxes, k, g)), np.maximum(floor, others_low(boxes, k, g))
    if boxes.lo is not None and boxes.hi is not None:
        room = np.minimum(room, np.where(no_least, boxes.hi, np.inf).min(axis=1))
        floor = np.maximum(floor, np.where(no_most, boxes.lo, -np.inf).max(axis=1))
    s0 = np.maximum(boxes.s[:, 0], np.maximum((1 - g * room) / (k - 1), (1 - (k - 1) * room) / g))
    m1 = np.minimum(boxes.m[:, 1], np.minimum((g - floor) / (g * (k - 1)), g - g * (k - 1) * floor))
    if k >= 3:
        s0, m1 = np.maximum(s0, boxes.m[:, 0] / g), np.minimum(m1, g * boxes.s[:, 1])
    s1 = np.minimum(boxes.s[:, 1], others_high(boxes, k, g))
    m0 = np.maximum(boxes.m[:, 0], others_low(boxes, k, g))
    return {"C": (bottom, top), "s": (s0, s1), "M": (m0, m1)}


def best_pairs(tops: FloatArray, void: np.ndarray) -> tuple[FloatArray, np.ndarray, np.ndarray]:
    """For each row the largest sum over pairs j != i, j at s and i at M, all others in I, and j and i.

    `tops` and `void` are 3 x r x k: values of the inputs in I, J and K, and where these are empty. An input whose I is
    empty must be j or i.
    """
    rows = np.arange(tops.shape[1])
    within = np.where(void[0], 0.0, tops[0])
    gains = np.where(void[1:], -np.inf, tops[1:] - within)
    order = gains + np.where(void[0], FIRST, 0.0)
    first = order.argmax(axis=2)
    clash = np.flatnonzero(first[0] == first[1])
    least, most = first[0].copy(), first[1].copy()
    if len(clash):
        x = first[0][clash]
        kept = order[:, clash, x]
        rest = order[:, clash]
        rest[:, np.arange(len(clash)), x] = -np.inf
        second = rest.argmax(axis=2)
        other = rest.max(axis=2)
        move_most = kept[0] + other[1] >= other[0] + kept[1]
        least[clash] = np.where(move_most, x, second[0])
        most[clash] = np.where(move_most, second[1], x)
    missed = void[0].sum(axis=1) > void[0][rows, least].astype(int) + void[0][rows, most]
    value = within.sum(axis=1) + gains[0][rows, least] + gains[1][rows, most]
    return np.where(missed, -np.inf, value), least, most


STEPS = 60
"""Cutting planes in nu for one bound; a handful is the rule."""
ROUNDS = 8
"""Points Ch tried for one bound."""
WORTH = 0.02
"""The share of the possible gain that cutting an input must reach, and a further step in nu or Ch."""


@dataclass
class Bounds:
    """The results for n boxes: the bound, the nu and Ch that prove it, and the o that attains it.

    `o` (n x k) holds the ends chosen, `least` and `most` the inputs at s and M (-1 where any may be), `torn` the input
    whose two ends tie, `cut` where to split its interval, `rough` the one that loses most because h is not convex on
    its interval (-1 for none).
    """

    value: FloatArray
    nu: FloatArray
    point: FloatArray
    o: FloatArray
    least: np.ndarray
    most: np.ndarray
    torn: np.ndarray
    cut: FloatArray
    rough: np.ndarray


class Bounder:
    """Bounds boxes for one `prior` (k,) and `ratio`."""

    def __init__(self, prior: FloatArray, ratio: float) -> None:
        self.p, self.g, self.k = np.asarray(prior, dtype=np.float64), ratio, len(prior)

    def bounds(self, boxes: Boxes, target: float) -> Bounds:
        """A bound for each box; work on a box ends where it is at most `target`."""
        n, k = len(boxes.c), self.k
        spans = intervals(boxes, k, self.g)
        empty = spans.void[0].sum(axis=1)
        best = Bounds(
            np.full(n, np.inf),
            np.zeros(n),
            np.ones(n),
            np.zeros((n, k)),
            np.full(n, -1),
            np.full(n, -1),
            np.full(n, -1),
            np.zeros(n),
            np.full(n, -1),
        )
        # Only two inputs can lie outside their interval I: where more of them are empty there is nothing to bound.
        best.value[empty >= 3] = -np.inf
        alike = (spans.lower == spans.lower[:1]) & (spans.upper == spans.upper[:1])
        plain = alike.all(axis=(0, 2)) & (empty == 0)
        # The bound is convex in nu and Ch together: for each Ch the best nu, and for Ch Newton's steps between fences.
        point, fence = self._first_points(boxes, spans)
        going = best.value > target
        for turn in range(ROUNDS):
            push, bend = np.zeros(n), np.ones(n)
            for alone in (True, False):
                rows = np.flatnonzero((plain == alone) & going)
                if len(rows):
                    push[rows], bend[rows] = Planes(self, alone, boxes, spans, rows, point[rows], target).run(best)
            fence[0] = np.where(push < 0, point, fence[0])
            fence[1] = np.where(push > 0, point, fence[1])
            width = fence[1] - fence[0]
            # By convexity no Ch between the fences can win more than this.
            going &= (best.value > target) & (np.abs(push) * width > WORTH * (best.value - target))
            if turn == ROUNDS - 1 or not going.any():
                break
            step = -push / np.maximum(bend, 1e-300)
            ahead = point + np.where(np.abs(step) < 0.02 * width, 2 * step, step)
            inside = (ahead > fence[0]) & (ahead < fence[1])
            inside &= (turn % 3 < 2) | (np.abs(step) > 0.1 * width)
            point = np.where(inside, ahead, (fence[0] + fence[1]) / 2)
        best.nu -= k * math.log(k)
        return best

    def _first_points(self, boxes: Boxes, spans: Intervals) -> tuple[FloatArray, list[FloatArray]]:
        """The first values of Ch, and the limits between which the best one lies."""
        a, b = spans.lower, spans.upper
        # Below this some tangent would not exist.
        needed = np.where(spans.void, 0.0, self.p * (self.k * (a + b) / 2 - 1)).max(axis=(0, 2))
        needed = np.maximum(needed, 0.0) * (1 + 1e-9) + 1e-15
        # Ch may leave the limits on C where one tangent serves both ends of an interval, but not by more than this.
        spread = (self.p * self.k * (b - a)).max(axis=(0, 2))
        fence = [np.maximum(needed, boxes.c[:, 0] - spread), np.maximum(needed, boxes.c[:, 1]) + spread]
        bottom, top = reach(boxes, self.p, self.g)["C"]
        middle = (np.maximum(boxes.c[:, 0], bottom) + np.minimum(boxes.c[:, 1], top)) / 2
        middle = np.clip(middle, boxes.c[:, 0], boxes.c[:, 1])
        return np.clip(np.where(np.isnan(boxes.point), middle, boxes.point), *fence), fence

    def dip(self, x: np.ndarray, a: FloatArray, b: FloatArray, nu: FloatArray, point: FloatArray) -> FloatArray:
        """The place at which h_x(o, point) - nu p_x o is least on [a, b] (nu of scaled logarithms), kept away from the
        ends: an interval cut there keeps the values of its ends on either side, for all nu near this one. All arrays
        are (r,)."""
        p, k = self.p[x], self.k
        low, high = a.copy(), b.copy()
        for _ in range(30):
            o = (low + high) / 2
            q, mass = np.maximum(1 - (k - 1) * o, 1e-300), np.maximum(p * (1 - k * o) + point, 1e-300)
            rises = (k - 1) * np.log(np.maximum(o, 1e-300) / q) + k * np.log(k * mass) + k > nu
            low, high = np.where(rises, low, o), np.where(rises, o, high)
        return np.asarray(np.clip(low, a + 0.05 * (b - a), b - 0.05 * (b - a)))


class Planes:
    """The least bound over nu of some `rows` of `boxes`, at fixed tangents: cutting planes in one dimension.

    `plain` where I, J and K are alike. T of an input at end e (0, 1) of its interval is level - C slope - nu weight,
    arrays of kinds of interval x e x rows x k.
    """

    def __init__(
        self,
        bounder: Bounder,
        plain: bool,
        boxes: Boxes,
        spans: Intervals,
        rows: np.ndarray,
        point: FloatArray,
        target: float,
    ) -> None:
        self.bounder, self.plain, self.rows, self.point, self.target = bounder, plain, rows, point, target
        p, k = bounder.p, bounder.k
        used = slice(0, 1) if plain else slice(0, 3)
        self.c = boxes.c[rows]
        self.warm = boxes.nu[rows] + k * math.log(k)
        self.void = spans.void[used][:, rows]
        self.o = np.stack([spans.lower[used][:, rows], spans.upper[used][:, rows]], axis=1)
        a, b = self.o[:, 0], self.o[:, 1]
        # h is convex in o where this quadratic is >= 0; its least value on [a, b]:
        at = np.clip((2 * k - 1) / (2 * k * (k - 1)), a, b)
        left, right = (k - 1) * (p * (1 - k * at) + self.c[:, :1]), p * k**2 * at * (1 - (k - 1) * at)
        slack = p * (1 - k * self.o)
        t = slack + point[:, None]
        # Where rounding decides, one tangent is taken: at C = Ch it is nowhere below two of them.
        self.single = (left - right < MARGIN * (np.abs(left) + right)) | (t <= 0).any(axis=1)
        middle = p * (1 - k * (a + b) / 2) + point[:, None]
        # An empty interval is skipped.
        self.tangent = np.maximum(np.where(self.single[:, None], middle[:, None], t), 1e-300)
        self.slope = 1 + np.log(self.tangent * k)
        shape = scaled(np.maximum(1 - (k - 1) * self.o, 0.0), k) + (k - 1) * scaled(self.o, k)
        self.level = p * shape + self.tangent - slack * self.slope
        self.weight = p * self.o

    def at(self, nu: FloatArray, rows: np.ndarray) -> tuple[FloatArray, ...]:
        """At nu (r,) for `rows` of these: the bound, its slope in nu, the end of C that attains it, the chosen o
        (r x k), and the inputs at s and M."""
        n, k, picked = len(rows), self.bounder.k, np.arange(len(rows))
        pick = slice(None) if n == len(self.rows) else rows
        ends = self.level[:, :, pick] - nu[:, None] * self.weight[:, :, pick]
        ends = ends[:, :, None] - self.c[rows].T[:, :, None] * self.slope[:, :, pick][:, :, None]
        tops = ends.max(axis=1)
        least = most = np.full(2 * n, -1)
        if self.plain:
            value = tops[0].sum(axis=2)
        else:
            value, least, most = best_pairs(tops.reshape(3, 2 * n, k), np.concatenate([self.void[:, pick]] * 2, axis=1))
            value = value.reshape(2, n)
        value = value + nu * self.c[rows].T
        end = (value[1] > value[0]).astype(int)
        upper = (ends[:, 1] > ends[:, 0])[:, end, picked]
        o = np.where(upper, self.o[:, 1, pick], self.o[:, 0, pick])
        least, most = least.reshape(2, n)[end, picked], most.reshape(2, n)[end, picked]
        if not self.plain:
            o[0, picked, least], o[0, picked, most] = o[1, picked, least], o[2, picked, most]
        return value[end, picked], self.c[rows, end] - o[0] @ self.bounder.p, end, o[0], least, most

    def run(self, best: Bounds) -> tuple[FloatArray, FloatArray]:
        """Write the results into `best`, where they are better; returns the first and (without
        what moves nu) the second derivative of the bound in Ch."""
        n = len(self.rows)
        left, right = self._bracket()
        sides = [self._side(best, left, -1.0, right - left), self._side(best, right, 1.0, right - left)]
        active = np.arange(n)
        for turn in range(STEPS):
            # A bound of minus infinity cannot be improved.
            active = active[np.isfinite(best.value[self.rows[active]])]
            (lnu, lv, ls), (rnu, rv, rs) = ([part[active] for part in side[:3]] for side in sides)
            fall = np.where(rs > ls, rs - ls, np.inf)
            nu = (lv - rv + rs * rnu - ls * lnu) / fall
            floor = lv + ls * (nu - lnu)
            held = best.value[self.rows[active]]
            open_ = (held > self.target) & (held - floor > 1e-14 + WORTH / 2 * (held - self.target)) & (rs > ls)
            open_ &= (nu > lnu) & (nu < rnu)
            if not open_.any():
                break
            if turn == 0:
                warm = self.warm[active]
                nu = np.where((warm > lnu) & (warm < rnu), warm, nu)
            elif turn % 8 == 7:
                nu = (lnu + rnu) / 2
            active, nu = active[open_], nu[open_]
            found = self.at(nu, active)
            self._keep(best, active, nu, *found)
            for side, rows in ((0, found[1] < 0), (1, found[1] >= 0)):
                for old, new in zip(sides[side], (nu, *found), strict=True):
                    old[active[rows]] = new[rows]
        return self._describe(best, sides)

    def _side(self, best: Bounds, nu: FloatArray, sign: float, width: FloatArray) -> list[np.ndarray]:
        """nu moved outwards until the bound rises that way, with the values of `at` there."""
        step = np.maximum(width, 1.0)
        found = list(self.at(nu, np.arange(len(nu))))
        self._keep(best, np.arange(len(nu)), nu, *found)
        # Beyond all ties the bound falls without end where C cannot be reached: then the box is empty.
        for _ in range(STEPS):
            falls = (found[1] * sign < 0) & (best.value[self.rows] > self.target) & np.isfinite(found[0])
            wrong = np.flatnonzero(falls)
            if not len(wrong):
                break
            nu[wrong] += sign * step[wrong]
            step[wrong] *= 4
            further = self.at(nu[wrong], wrong)
            for old, new in zip(found, further, strict=True):
                old[wrong] = new
            self._keep(best, wrong, nu[wrong], *further)
        return [nu, *found]

    def _bracket(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest nu at which the two ends of some I tie."""
        width = self.weight[0, 1] - self.weight[0, 0]
        wide = width > 1e-300
        climb = self.slope[0, 1] - self.slope[0, 0]
        rise = (self.level[0, 1] - self.level[0, 0])[None] - self.c.T[:, :, None] * climb
        tie = rise / np.where(wide, width, 1.0)
        least, most = np.where(wide, tie, np.inf).min(axis=(0, 2)), np.where(wide, tie, -np.inf).max(axis=(0, 2))
        # Without ties nu is free; k is where it lies for flat mechanisms.
        free = ~np.isfinite(least) | ~np.isfinite(most)
        least, most = (np.where(free, float(self.bounder.k), one) for one in (least, most))
        return least - 1e-9 * (1 + np.abs(least)), most + 1e-9 * (1 + np.abs(most))

    def _keep(self, best: Bounds, rows: np.ndarray, nu: FloatArray, value: FloatArray, *rest: np.ndarray) -> None:
        _, _, o, least, most = rest
        better = value < best.value[self.rows[rows]]
        own, to = rows[better], self.rows[rows[better]]
        best.value[to], best.nu[to], best.point[to] = value[better], nu[better], self.point[own]
        best.o[to], best.least[to], best.most[to] = o[better], least[better], most[better]
        best.torn[to] = best.rough[to] = -1

    def _describe(self, best: Bounds, sides: Sequence[Sequence[np.ndarray]]) -> tuple[FloatArray, FloatArray]:
        """Note at which inputs the bound is loose (the torn and the rough input); its derivatives in Ch."""
        left, right = sides
        # The best nu mixes what is chosen on either side of it, so that the slope is zero.
        meet = (left[2] < 0) & (right[2] > 0)
        share = np.where(meet, right[2] / np.where(meet, right[2] - left[2], 1.0), (left[1] <= right[1]).astype(float))
        tilts = [self._tilt(side) for side in sides]
        places = np.flatnonzero((best.point[self.rows] == self.point) & (best.value[self.rows] > self.target))
        if len(places):
            p, k, to = self.bounder.p, self.bounder.k, self.rows[places]
            worth = WORTH * (best.value[to] - self.target)
            apart = np.abs(left[4][places] - right[4][places]) * p
            x = apart.argmax(axis=1)
            a, b = self.o[0, 0][places, x], self.o[0, 1][places, x]
            # At most this much does an end lie above what is between; for an input of next to no prior it is nothing.
            middle = (a + b) / 2
            deep = p[x] * (k - 1) / np.maximum(middle * (1 - (k - 1) * middle), 1e-12) * (b - a) ** 2 / 8 > worth
            best.torn[to] = np.where((apart.max(axis=1) > 0) & deep, x, -1)
            best.cut[to] = self.bounder.dip(x, a, b, best.nu[to], self.point[places])
            loss = share[places, None] * tilts[0][2][places] + (1 - share[places, None]) * tilts[1][2][places]
            best.rough[to] = np.where(loss.max(axis=1) > worth, loss.argmax(axis=1), -1)
        push, bend = (share * tilts[0][i] + (1 - share) * tilts[1][i] for i in (0, 1))
        return push, bend

    def _tilt(self, side: Sequence[np.ndarray]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First and second derivative in Ch of the sum of t - w (1 + log t) at the o chosen on one side, and what each
        input loses at the best Ch because one tangent serves its whole interval (r x k)."""
        _, _, _, end, o, *picks = side
        rows = np.arange(len(o))
        t = np.where(o == self.o[0, 1], self.tangent[0, 1], self.tangent[0, 0])
        wide = np.where(self.single[0], self.o[0, 1] - self.o[0, 0], 0.0)
        for kind, x in enumerate(picks if len(self.o) == 3 else (), 1):
            a, b = self.o[kind][:, rows, x]
            t[rows, x] = np.where(o[rows, x] == b, *self.tangent[kind, ::-1][:, rows, x])
            wide[rows, x] = np.where(self.single[kind][rows, x], b - a, 0.0)
        w = np.maximum(self.bounder.p * (1 - self.bounder.k * o) + self.c[rows, end][:, None], 0.0)
        t = np.maximum(t, 1e-15)
        # What a tangent that touches in the middle loses at an end, whatever Ch is. The loss at this Ch would not do:
        # Ch moves until it is 0 at the end that counts, and the input that needs cutting never shows.
        loss = (self.bounder.p * self.bounder.k * wide / 2) ** 2 / (2 * t)
        return (1 - w / t).sum(axis=1), (w / t**2).sum(axis=1), loss
