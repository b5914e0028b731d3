"""`branch-tree` proofs over off-diagonals: mutual information with equal off-diagonal entries in each row.

Written from docs/certificate-format.md, section 6 (branch-tree, over off-diagonals). The float search suggests cuts,
multipliers and points; every leaf is bounded in Arb balls, and the largest of them is the bound.
"""

import math
from fractions import Fraction

from flint import arb, ctx

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_up, rational_text
from rropt.model.convex_terms import X_LOG_X
from rropt.program.cones import CompleteCone
from rropt.program.extras import OffDiagonalForm
from rropt.program.programs import Program
from rropt.prove.balls import LARGEST, PRECISION, PRICE_BITS, SLACK, max_of, ratio_ball, unit_bits, upper_end
from rropt.prove.certificates import Proof
from rropt.prove.trees import EMPTY as LOWEST, branch_tree, written
from rropt.solve.engine.method import Dual, ProofGoal, SolveLimits
from rropt.solve.offdiagonal.search import SHARED, OffDiagonalAnswer, OffDiagonalSearch, Part, Way

CUT_BITS = 72
"""Cuts and points are multiples of 2^-72: at k = 10,000 the numbers themselves are about 2^-13, and limits on them are
parted by little more than 2^-40."""
OWN_NODES = 6000
"""Nodes of a search that is made for a proof alone."""

EMPTY = arb(LOWEST)
"""The number that stands for minus infinity where a leaf is empty."""
Limits = dict[Way, tuple[Fraction, Fraction]]
"""On C, s, M, and on some of the numbers."""
Interval = tuple[arb, arb]
Values = list["tuple[arb, arb] | None"]
"""T_x at both ends of C, input by input; None where its interval is empty."""


def prove_off_diagonals(program: Program, dual: Dual | None, effort: SolveLimits) -> Proof | None:
    """The `branch-tree` proof of the search that `dual` carries, or of a new one; None where it bounds nothing."""
    assert isinstance(program.cone, CompleteCone)
    found = None if dual is None else dual.evidence_of(OffDiagonalAnswer)
    if found is None:
        search = OffDiagonalSearch(program.weights, float(program.cone.level.ratio))
        found = search.search(effort.allowed / 2, OWN_NODES, effort.closing())
    unit = 1 << unit_bits(effort.incumbent.value)
    largest = max(abs(part.nu) for part in found.root.leaves())
    if not math.isfinite(largest):
        return None
    while unit > 1 and largest * unit >= LARGEST:
        unit >>= 1
    with ctx.workprec(PRECISION):
        leaves = _Leaves(program, unit)
        whole = Fraction(0), Fraction(1, program.size - 1)
        start: Limits = {"C": whole, "s": whole, "M": whole}
        items, worst = written(found.root, start, _branch, leaves.leaf)
        if not worst.is_finite():
            return None
        bound = dyadic_up(upper_end(worst) + SLACK, PRICE_BITS)
    return branch_tree(bound, unit, items)


def _branch(part: Part, limits: Limits) -> tuple[object, Limits, Limits]:
    assert part.split is not None
    way, at = part.split.way, _grid(part.split.at)
    low, high = limits.get(way, (Fraction(0), Fraction(1)))
    return [way, rational_text(at)], {**limits, way: (low, min(high, at))}, {**limits, way: (max(low, at), high)}


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

    def leaf(self, part: Part, limits: Limits) -> tuple[object, arb | None]:
        """The element of a leaf, and the left side of its condition: very low where the limits are empty, None where
        the format's rules do not hold."""
        nu, point = round(part.nu * self._unit), _grid(part.point)
        element = {"n": nu, "c": rational_text(point)}
        if any(limits[name][0] > limits[name][1] for name in SHARED):
            return element, EMPTY
        return element, self._left(limits, nu, point)

    def _left(self, limits: Limits, nu: int, point: Fraction) -> arb | None:
        """The larger left side at both ends of C."""
        k, g, rest = self._k, self._g, self._k - 1
        s0, s1 = map(ball, limits["s"])
        m0, m1 = map(ball, limits["M"])
        low = s0.max((1 - rest * s1) / g).max((1 - g * s1) / rest)
        high = m1.min((g - m0) / (g * rest)).min(g - g * rest * m0)
        least_end, most_end = s0, m1
        if k >= 3:
            least_end, most_end = s0.max(m0 / g), m1.min(g * s1)
            low, high = low.max(m0 / g), high.min(g * s1)
        n = arb(nu) / self._unit
        ends = [ball(end) for end in limits["C"]]
        at = ball(point)
        between, least, most = (
            self._values(kind, limits, ends, at, n)
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

    def _own(self, kind: Interval, limits: Limits, x: int) -> Interval | None:
        """The interval of one input, None where it is empty for sure."""
        low, high = kind
        if x in limits:
            a, b = limits[x]
            low, high = low.max(ball(a)), high.min(ball(b))
        return None if low > high else (low, high)

    def _values(self, kind: Interval, limits: Limits, ends: list[arb], at: arb, n: arb) -> Values | None:
        """T_x at both ends of C by input (None: empty), equal intervals once; None where the rules do not hold."""
        shared = None if kind[0] > kind[1] else self._parts(kind)
        found: Values = []
        for x in range(self._k):
            own = self._own(kind, limits, x)
            pair = None if own is None else self._t(x, own, ends, at, n, None if x in limits else shared)
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


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """One number off the diagonal in each row."""
    if program.extra(OffDiagonalForm) is None:
        return None
    proof = prove_off_diagonals(program, dual, wanted.effort)
    return Refusal("no tree bounds every off-diagonal") if proof is None else proof
