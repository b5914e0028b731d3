"""`branch-tree` proofs over off-diagonals: mutual information with one number off the diagonal in each row.

Written from docs/certificate-format.md, section 6 (branch-tree, over off-diagonals). The float search suggests cuts,
multipliers and points; every leaf is bounded in Arb balls, and the largest of them is the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from rropt.certificates import Proof
from rropt.cones import CompleteCone
from rropt.exact import ball, dyadic_up, rational_text
from rropt.programs import Program
from rropt.proofs.balls import LARGEST, PRECISION, PRICE_BITS, SLACK, UNIT_BITS, exact_ball, phi, upper_end
from rropt.routes.base import Dual, Effort
from rropt.routes.offdiagonal import Leaf, OffDiagonalSearch, Split

CUT_BITS = 72
"""Cuts and points are multiples of 2^-72: at k = 10,000 the numbers themselves are about 2^-13, and limits on them are
parted by little more than 2^-40."""

EMPTY = arb(-(2**30))
"""What stands for minus infinity where nothing is left."""
OWN_NODES = 6000
"""Nodes of a search that is made for a proof alone."""
Interval = tuple[arb, arb]
Values = list["tuple[arb, arb] | None"]
"""T_x at both ends of C, input by input; None where its interval is empty."""


@dataclass(frozen=True)
class _Path:
    """Limits on C, s, M, and on some of the numbers."""

    c: tuple[Fraction, Fraction]
    s: tuple[Fraction, Fraction]
    m: tuple[Fraction, Fraction]
    inputs: dict[int, tuple[Fraction, Fraction]]

    def parts(self, way: object, at: Fraction) -> tuple[_Path, _Path]:
        """The two halves of a cut."""
        if isinstance(way, int):
            low, high = self.inputs.get(way, self._whole())
            first, second = (low, min(high, at)), (max(low, at), high)
            return (
                replace(self, inputs={**self.inputs, way: first}),
                replace(self, inputs={**self.inputs, way: second}),
            )
        name = {"C": "c", "s": "s", "M": "m"}[str(way)]
        low, high = getattr(self, name)
        return replace(self, **{name: (low, min(high, at))}), replace(self, **{name: (max(low, at), high)})

    @staticmethod
    def _whole() -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(1)


def prove_off_diagonals(program: Program, dual: Dual | None, effort: Effort) -> Proof | None:
    """The `branch-tree` proof of the search that `dual` carries, or of one of our own; None where it bounds nothing."""
    assert isinstance(program.cone, CompleteCone)
    tree = None if dual is None else dual.off_diagonals
    if tree is None:
        search = OffDiagonalSearch(program.weights, float(program.cone.level.ratio))
        tree = search.search(effort.gap / 2, OWN_NODES, effort.closing()).tree
    unit = 1 << UNIT_BITS
    largest = max((abs(item.nu) for item in tree if isinstance(item, Leaf)), default=0.0)
    if not math.isfinite(largest):
        return None
    while unit > 1 and largest * unit >= LARGEST:
        unit >>= 1
    with ctx.workprec(PRECISION):
        leaves = _Leaves(program, unit)
        items: list[Any] = []
        worst = EMPTY
        edge = Fraction(1, program.size - 1)
        whole = Fraction(0), edge
        stack = [_Path(whole, whole, whole, {})]
        for item in tree:
            path = stack.pop()
            if isinstance(item, Split):
                at = _grid(item.at)
                items.append([item.way, rational_text(at)])
                first, second = path.parts(item.way, at)
                stack += [second, first]
                continue
            nu, point = round(item.nu * unit), _grid(item.point)
            items.append({"n": nu, "c": rational_text(point)})
            if path.c[0] > path.c[1] or path.s[0] > path.s[1] or path.m[0] > path.m[1]:
                continue
            left = leaves.left(path, nu, point)
            if left is None:
                return None
            worst = worst.max(left)
        if stack or not worst.is_finite():
            return None
        bound = dyadic_up(upper_end(worst) + SLACK, PRICE_BITS)
    payload: dict[str, object] = {
        "kind": "branch-tree",
        "yield": rational_text(bound),
        "unit": str(unit),
        "boxes": items,
    }
    return Proof(payload, bound, (), 2)


def _grid(value: float) -> Fraction:
    return Fraction(round(Fraction(value) * 2**CUT_BITS), 2**CUT_BITS)


class _Leaves:
    """What leaves are bounded with, in the words of the format."""

    def __init__(self, program: Program, unit: int) -> None:
        assert isinstance(program.cone, CompleteCone)
        level = program.cone.level
        self._g = ball(level.gamma) if level.gamma is not None else ball(level.epsilon or Fraction(0)).exp()
        self._k, self._unit = program.size, unit
        self._weights = program.weights
        self._p = [exact_ball(p) for p in program.prior]

    def left(self, path: _Path, nu: int, point: Fraction) -> arb | None:
        """The larger left side of a leaf's condition at both ends of C; None where the format's rules do not hold."""
        k, g, rest = self._k, self._g, self._k - 1
        s0, s1 = map(exact_ball, path.s)
        m0, m1 = map(exact_ball, path.m)
        low = s0.max((1 - rest * s1) / g).max((1 - g * s1) / rest)
        high = m1.min((g - m0) / (g * rest)).min(g - g * rest * m0)
        least_end, most_end = s0, m1
        if k >= 3:
            least_end, most_end = s0.max(m0 / g), m1.min(g * s1)
            low, high = low.max(m0 / g), high.min(g * s1)
        n = arb(nu) / self._unit
        ends = [exact_ball(path.c[0]), exact_ball(path.c[1])]
        at = exact_ball(point)
        between, least, most = (
            self._values(kind, path, ends, at, n)
            for kind in ((low, high), (least_end, s1.min(high)), (m0.max(low), most_end))
        )
        if between is None or least is None or most is None:
            return None
        empty = [x for x, pair in enumerate(between) if pair is None]
        result = EMPTY
        if len(empty) > 2:
            # Only two inputs can attain s and M.
            return result
        for end in (0, 1):
            base = n * ends[end] + sum((pair[end] for pair in between if pair is not None), arb(0))
            best = self._best_pair(between, least, most, empty, end)
            if best is not None:
                result = result.max(base + best)
        return result

    @staticmethod
    def _best_pair(between: Values, least: Values, most: Values, empty: list[int], end: int) -> arb | None:
        """The most that T_j(J_j) + T_i(K_i) adds to the sum of all T_x(I_x), over pairs i != j that leave no empty I_x
        to another input; None where there is no such pair."""

        def gains(kind: Values) -> list[tuple[arb, int]]:
            """What each input gains over its T_x(I_x) (nothing to compare with where that is empty), best two first,
            those that must attain something always."""
            found = []
            for x, (pair, own) in enumerate(zip(kind, between, strict=True)):
                if pair is not None:
                    found.append((pair[end] if own is None else pair[end] - own[end], x))
            found.sort(key=lambda entry: -float(entry[0].mid()))
            return found[:3] + [entry for entry in found[3:] if entry[1] in empty]

        tops = gains(most)
        sums = [a + b for a, j in gains(least) for b, i in tops if i != j and all(x in (i, j) for x in empty)]
        return max_of(sums) if sums else None

    def _own(self, kind: Interval, path: _Path, x: int) -> Interval | None:
        """The interval of one input, None where it is empty for sure."""
        low, high = kind
        if x in path.inputs:
            a, b = path.inputs[x]
            low, high = low.max(exact_ball(a)), high.min(exact_ball(b))
        return None if low > high else (low, high)

    def _values(self, kind: Interval, path: _Path, ends: list[arb], at: arb, n: arb) -> Values | None:
        """T_x at both ends of C for every input (None: empty); None where the rules do not hold. What inputs with the
        same interval share is computed once."""
        shared = None if kind[0] > kind[1] else self._parts(kind)
        found: Values = []
        for x in range(self._k):
            own = self._own(kind, path, x)
            pair = None if own is None else self._t(x, own, ends, at, n, None if x in path.inputs else shared)
            if own is not None and pair is None:
                return None
            found.append(pair)
        return found

    def _parts(self, interval: Interval) -> list[arb]:
        """phi(1 - (k-1) o) + (k-1) phi(o) at both ends."""
        rest = self._k - 1
        return [phi((1 - rest * o).max(arb(0)), False) + rest * phi(o.max(arb(0)), False) for o in interval]

    def _t(
        self, x: int, interval: Interval, ends: list[arb], at: arb, n: arb, parts: list[arb] | None = None
    ) -> tuple[arb, arb] | None:
        """T_x(interval, C) for both ends of C."""
        k, p, rest = self._k, self._p[x], self._k - 1
        a, b = interval
        if parts is None:
            parts = self._parts(interval)
        slack = [p * (1 - k * o) for o in interval]
        if self._weights[x]:
            # The quadratic's lowest point in o, (2k - 1) / (2 k (k - 1)), moved into the interval.
            lowest = exact_ball(Fraction(2 * k - 1, 2 * k * rest)).max(a).min(b)
            convex = rest * (p * (1 - k * lowest) + ends[0]) >= p * k * k * lowest * (1 - rest * lowest)
        else:
            convex = True
        points = [own + at for own in slack]
        if not (convex and all(point > 0 for point in points)):
            middle = (a + b) / 2
            points = [p * (1 - k * middle) + at] * 2
            if not points[0] > 0:
                return None
        logs = [1 + t.log() for t in points]
        fixed = [p * (part - n * o) + t for part, t, o in zip(parts, points, interval, strict=True)]
        pairs = []
        for c in ends:
            low, high = (own - (w + c) * log for own, w, log in zip(fixed, slack, logs, strict=True))
            pairs.append(low.max(high))
        return pairs[0], pairs[1]


def max_of(values: list[arb]) -> arb:
    """The largest of some balls, enclosed."""
    largest = values[0]
    for value in values[1:]:
        largest = largest.max(value)
    return largest
