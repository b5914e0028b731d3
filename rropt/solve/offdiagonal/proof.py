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

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_up, rational_text
from rropt.model.convex_terms import X_LOG_X
from rropt.program.cones import CompleteCone
from rropt.program.extras import OffDiagonalForm
from rropt.program.programs import Program
from rropt.prove.balls import LARGEST, PRECISION, PRICE_BITS, SLACK, max_of, ratio_ball, unit_bits, upper_end
from rropt.prove.certificates import Proof
from rropt.prove.trees import EMPTY as LOWEST
from rropt.prove.trees import branch_tree
from rropt.solve.kernel.prover import Wanted
from rropt.solve.kernel.route import Dual, Effort
from rropt.solve.offdiagonal.search import Leaf, OffDiagonalAnswer, OffDiagonalSearch, Split

CUT_BITS = 72
"""Cuts and points are multiples of 2^-72: at k = 10,000 the numbers themselves are about 2^-13, and limits on them are
parted by little more than 2^-40."""

EMPTY = arb(LOWEST)
"""The number that stands for minus infinity where a leaf is empty."""
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
    """The `branch-tree` proof of the search that `dual` carries, or of a new one; None where it bounds nothing."""
    assert isinstance(program.cone, CompleteCone)
    found = None if dual is None else dual.evidence_of(OffDiagonalAnswer)
    if found is None:
        search = OffDiagonalSearch(program.weights, float(program.cone.level.ratio))
        found = search.search(effort.allowed / 2, OWN_NODES, effort.closing())
    tree = found.tree
    unit = 1 << unit_bits(effort.size.value)
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
    return branch_tree(bound, unit, items)


def _grid(value: float) -> Fraction:
    return Fraction(round(Fraction(value) * 2**CUT_BITS), 2**CUT_BITS)


class _Leaves:
    """The quantities that leaves are bounded with, named as in the format."""

    def __init__(self, program: Program, unit: int) -> None:
        assert isinstance(program.cone, CompleteCone)
        self._g = ratio_ball(program.cone.level)
        self._k, self._unit = program.size, unit
        self._weights = program.weights
        self._p = [ball(p) for p in program.prior]

    def left(self, path: _Path, nu: int, point: Fraction) -> arb | None:
        """The larger left side of a leaf's condition at both ends of C; None where the format's rules do not hold."""
        k, g, rest = self._k, self._g, self._k - 1
        s0, s1 = map(ball, path.s)
        m0, m1 = map(ball, path.m)
        low = s0.max((1 - rest * s1) / g).max((1 - g * s1) / rest)
        high = m1.min((g - m0) / (g * rest)).min(g - g * rest * m0)
        least_end, most_end = s0, m1
        if k >= 3:
            least_end, most_end = s0.max(m0 / g), m1.min(g * s1)
            low, high = low.max(m0 / g), high.min(g * s1)
        n = arb(nu) / self._unit
        ends = [ball(path.c[0]), ball(path.c[1])]
        at = ball(point)
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
        """The most that T_j(J_j) + T_i(K_i) adds to the sum of all T_x(I_x), over pairs i != j where no other input has
        an empty I_x; None where there is no such pair."""

        def gains(kind: Values) -> list[tuple[arb, int]]:
            """The gain of each input over its T_x(I_x) (where that is not empty), best two first, those that
            must attain s or M always."""
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
            low, high = low.max(ball(a)), high.min(ball(b))
        return None if low > high else (low, high)

    def _values(self, kind: Interval, path: _Path, ends: list[arb], at: arb, n: arb) -> Values | None:
        """T_x at both ends of C for every input (None: empty); None where the rules do not hold. Inputs with the
        same interval are computed once."""
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
        rest, phi = self._k - 1, X_LOG_X.ball
        return [phi((1 - rest * o).max(arb(0))) + rest * phi(o.max(arb(0))) for o in interval]

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
            lowest = ball(Fraction(2 * k - 1, 2 * k * rest)).max(a).min(b)
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


def prove(program: Program, dual: Dual | None, wanted: Wanted) -> Proof | Refusal | None:
    """One number off the diagonal in each row."""
    if program.extra(OffDiagonalForm) is None:
        return None
    proof = prove_off_diagonals(program, dual, wanted.effort)
    return Refusal("no tree bounds every off-diagonal") if proof is None else proof
