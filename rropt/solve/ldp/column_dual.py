"""The `column-dual` proof of an information under LDP, from section 6 of docs/certificate-format.md.

Every leaf is tested in integers with the roundings that the format prescribes, and the prices are raised along the
prior until all of them hold.

The tree of an information under LDP whose corners can all be listed: split on inputs alone, part by part.

`pricing.py` bounds hundreds of parts together. A part of a few inputs is bounded by one walk along them, in the order
in which a knapsack takes them, without any array.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from rropt.errors import Refusal
from rropt.exact import rational_text, summed
from rropt.program.cones import CompleteCone, FloatArray
from rropt.program.programs import ColumnSum, Program
from rropt.prove.balls import PRICE_BITS
from rropt.prove.certificates import Proof
from rropt.prove.trees import PricesOfPrior, column_dual, leaves_below, raised
from rropt.prove.uninformative import or_entropy
from rropt.solve.engine.budget import LEAF_BITS, WORK_BITS
from rropt.solve.engine.curves import Curve, curve_of, down, has_curve, shares_of, up
from rropt.solve.engine.method import Dual, ProofGoal, never
from rropt.solve.ldp.generation import Staircases
from rropt.solve.ldp.pricing import Found, LdpPricer, Node, Split
from rropt.solve.ldp.starts import attained_price, divided_price, few_masses

LEAVES = 8
"""Leaves for each input, at most, of a tree without limits on number and weight: the checker takes longer for a larger
one than a search for a smaller one does."""


def small_tree(p: FloatArray, curve: Curve, a: FloatArray, best: float, accept: float) -> Found | None:
    """The tree at prices a (k,) of a prior p (k,) in which every part is bounded by max(best, accept), where `best` is
    the largest reduced price of a corner. None where that takes more than LEAVES leaves for each input: limits on
    number and weight may take fewer."""
    q = ((curve.gamma - 1) * p).tolist()
    if min(q) <= 0:
        return None
    c = (curve.linear * p - (curve.gamma - 1) * a).tolist()
    walk = _Walk(curve, c, q, max(best, accept) + 1e-14)
    order = sorted(range(len(q)), key=lambda x: -c[x] / q[x])
    root, split = walk.part(-float(a.sum()), 1.0, order)
    pending, leaves = [(root, split, -float(a.sum()), 1.0, order)], []
    while pending:
        node, split, sum_c, w, free = pending.pop()
        if split is None:
            leaves.append(node.bound)
            continue
        if len(leaves) + len(pending) > LEAVES * len(q):
            return None
        free = [x for x in free if x != split]
        taken, left = (sum_c + c[split], w + q[split], free), (sum_c, w, free)
        (first, at_first), (second, at_second) = walk.part(*taken), walk.part(*left)
        node.split, node.parts = Split("input", split), (first, second)
        pending += [(first, at_first, *taken), (second, at_second, *left)]
    return Found(0, root, best, max(best, *leaves))


@dataclass(frozen=True)
class _Walk:
    """The inputs' c and q (k each), and what bounds must reach."""

    curve: Curve
    c: list[float]
    q: list[float]
    enough: float

    def part(self, sum_c: float, w: float, free: list[int]) -> tuple[Node, int | None]:
        """(the part with these C and w of its inputs that are in, and these inputs free, from the largest c / q on;
        the input to split it at, None where its bound reaches `enough`).

        At the slope l = c_x / q_x an input x may be taken in part. The bound at l falls with l while the peak of
        -G(l) = w l - C is below w, see `knapsack.py`.
        """
        curve, split = self.curve, None
        for x in free:
            slope = self.c[x] / self.q[x]
            peak = float(curve.peak(w * slope - sum_c))
            if peak < w:
                break
            if peak <= w + self.q[x]:
                split = x
                break
            sum_c += self.c[x]
            w += self.q[x]
        if split is None:
            slope = float(curve.own(sum_c, w))
        bound = float(curve.bound(slope, w * slope - sum_c))
        return Node(bound, slope, None, None, 0), None if bound <= self.enough else split


PROVING = 200_000
"""Nodes of one search of a proof at most."""
TREE = 20_000
"""Nodes of the tree of one output at most."""
LISTED = 12
"""Inputs up to which all corners are priced before prices that the search did not ask for are proved."""
LONG = 1000
"""Inputs from which on one number stands for prices that are proportional to the weights."""
NOISE = 1e-14
"""The error of the float search, for utilities of size 1."""


@dataclass(frozen=True)
class Leaf:
    """A leaf: its tangent point t, and a slope of its own where a limit on weight stops it."""

    t: Fraction
    slope: Fraction | None = None

    def element(self) -> object:
        """As the format writes it."""
        t = rational_text(self.t)
        return t if self.slope is None else [t, rational_text(self.slope)]


def prove_information(
    program: Program,
    prices: FloatArray | None,
    target: float | None,
    stop: Callable[[], bool] = never,
) -> Proof:
    """The best `column-dual` proof from float `prices` (k,) in nats; the universal bound is always
    compared. The search ends when the bound is at most `target` (None: when no corner allows a better one), at
    PROVING nodes or when `stop()` is true: the bound is true at any time."""
    assert has_curve(program)
    prior = shares_of(program)
    corners = _corners(program, prior)
    if prices is not None and target is not None and corners is not None and corners.bound(prices) <= target:
        proof = _from_prices(program, prices, target, stop, corners)
        if proof is not None and proof.bound is not None and proof.bound <= target:
            return proof
    best = _universal(program)
    # Where sets have few different masses, the best price over these is a bound too, by a tree of few leaves.
    candidates: list[tuple[FloatArray | None, FloatArray | None]] = [(prices, None)]
    if few_masses(program.weights):
        height, _ = attained_price(program.weights, curve_of(program))
        candidates.insert(0, (height * prior, np.ones(program.size, dtype=bool)))
    # A search may have ended at the bound of divided inputs, and then its own prices do not reach the target.
    height, divided, mass = divided_price(prior, curve_of(program))
    if prices is None or (target is not None and height <= target):
        candidates.insert(-1, (divided, prior <= mass))
    for tried, light in candidates:
        assert best.bound is not None
        if tried is None or (target is not None and best.bound <= target):
            continue
        reaches = corners is None or target is None or corners.bound(tried) <= target + NOISE
        if tried is not prices and not reaches:
            continue
        proof = _from_prices(program, tried, target, stop, corners, light)
        if proof is not None and proof.bound is not None and proof.bound < best.bound:
            best = proof
    return best


def _corners(program: Program, p: FloatArray) -> Staircases | None:
    """All corners of a prior p (k,); None where these are too many to list."""
    if program.size > LISTED or not isinstance(program.utility, ColumnSum):
        return None
    return Staircases.of(program.utility, p, curve_of(program).gamma)


def _universal(program: Program) -> Proof:
    """Prices U * prior and a tree of one leaf: valid for every prior."""
    height, w = curve_of(program).ceiling()
    alone = Node(height, 0.0, None, None, 0)
    for margin in (2.0**-50, 2.0**-46, 2.0**-40, 2.0**-30, 2.0**-20):
        everywhere = np.ones(program.size, dtype=bool)
        prices = _prices(program, np.zeros(program.size), height + margin, everywhere)
        if (proof := _proof(program, prices, alone, lambda _: _leaf(w))) is not None:
            return proof
    raise ArithmeticError("the universal bound could not be proved: this is a defect of rropt, please report it")


def _from_prices(
    program: Program,
    a: FloatArray,
    target: float | None,
    stop: Callable[[], bool],
    corners: Staircases | None,
    light: FloatArray | None = None,
) -> Proof | None:
    curve = curve_of(program)
    accept = -math.inf if target is None else target - math.fsum(a)
    found = None
    if corners is not None:
        p = np.array([float(value) for value in program.prior])
        found = small_tree(p, curve, a, float(corners.reduced(a).max()), accept)
    if found is None:
        pricer = LdpPricer(program.weights, curve, np.asarray(a, dtype=np.float64))
        found = pricer.search(accept, PROVING, stop)
    if not math.isfinite(found.bound):
        return None
    # Floats have errors of some 1e-16: where the bound is that near to the accepted one, the latter is tried first.
    near = 0 < found.bound - accept < NOISE
    margin = 2e-15 * max(abs(found.bound), float(np.abs(a).sum()), 2.0**-16)
    shifts = [accept - program.size * 2.0**-PRICE_BITS] * near + [found.bound + margin * 8**n for n in range(16)]
    for shift in shifts:

        def leaf(node: Node, shift: float = shift) -> Leaf:
            # Prices that are `shift` higher along the prior lower every slope by it; t is where the tangent has that
            # slope, or the end of the node's limits on weight.
            slope = node.slope - shift
            return _leaf(curve.touch(slope)) if node.end is None else _leaf(node.end, slope)

        if (proof := _proof(program, _prices(program, a, shift, light), found.root, leaf)) is not None:
            return proof
    return None


def _prices(program: Program, a: FloatArray, shift: float, light: FloatArray | None) -> list[Fraction] | PricesOfPrior:
    """The prices a (k,) plus `shift` times the prior, raised to the grid; those of `light` inputs (k booleans) are
    proportional to the prior, which a proof with many inputs says in one number."""
    prior = program.prior
    if program.size < LONG or light is None or 2 * light.sum() < program.size:
        return raised(a, prior, shift)
    heavy, one = np.flatnonzero(~light), int(np.argmax(np.where(light, shares_of(program), 0)))
    (each,) = raised([a[one] / float(prior[one])], [Fraction(1)], shift)
    own = raised(a[heavy], [prior[x] for x in heavy], shift)
    return PricesOfPrior(prior, each, dict(zip(heavy.tolist(), own, strict=True)))


def tree_at(program: Program, prices: list[Fraction], slack: float) -> list[object] | None:
    """The `tree` that shows at exact prices that no column gains, where the search comes `slack` below that in floats;
    None where there is none."""
    if not has_curve(program):
        return None
    curve = curve_of(program)
    pricer = LdpPricer(program.weights, curve, np.array([float(price) for price in prices]))
    found = pricer.search(-slack, TREE)

    def leaf(node: Node) -> Leaf:
        return _leaf(curve.touch(node.slope)) if node.end is None else _leaf(node.end, node.slope)

    proof = None if found.bound > 0 else _proof(program, prices, found.root, leaf)
    tree = None if proof is None else proof.payload["tree"]
    return tree if isinstance(tree, list) else None


def _leaf(t: float, slope: float | None = None) -> Leaf:
    """A leaf with its numbers on the grid of 2^-48."""
    scale = 2**LEAF_BITS
    point = Fraction(max(scale, round(t * scale)), scale)
    return Leaf(point, None if slope is None else Fraction(max(0, round(slope * scale)), scale))


def _proof(
    program: Program, prices: list[Fraction] | PricesOfPrior, root: Node, leaf_of: Callable[[Node], Leaf]
) -> Proof | None:
    """The proof by prices and a tree; None where one of its leaves does not hold."""
    listed = prices.listed() if isinstance(prices, PricesOfPrior) else prices
    test, size = _LeafTest.at(program, listed), program.size
    items: list[object] = []
    whole = _Part(0, 0, 0, tuple(range(size)), 0, size, 0, test.total)
    for node, part in leaves_below(root, whole, test.branch, items):
        leaf = leaf_of(node)
        if not test.holds(part, leaf):
            return None
        items.append(leaf.element())
    return column_dual(prices, tree=items)


class _Part(NamedTuple):
    """A pending subtree: the inputs that are in by their number and the sums of their c and q, those that are free,
    the limits on number and on weight, and whether there are any on the number."""

    inside: int
    c: int
    q: int
    free: tuple[int, ...]
    fewest: int
    most: int
    lightest: int
    heaviest: int
    counted: bool = False


@dataclass(frozen=True)
class _LeafTest:
    """The test of a leaf in integers over 2^WORK_BITS: c rounded up, q down (k each), minus the sum of the prices."""

    c: list[int]
    q: list[int]
    minus_sum: int
    total: int
    gh: Fraction
    curve: Curve
    known: dict[Fraction, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def at(cls, program: Program, prices: list[Fraction]) -> _LeafTest:
        """The test at some prices."""
        assert isinstance(program.cone, CompleteCone)
        level, curve = program.cone.level, curve_of(program)
        gh, total = level.ratio.upper, sum(program.weights)
        of_weight, rise = curve.exact_linear(gh, level.log_ratio.upper) / total, gh - 1
        unit, share = of_weight.denominator * rise.denominator, rise / total
        n, m = of_weight.numerator * rise.denominator, rise.numerator * of_weight.denominator
        c = []
        for weight, price in zip(program.weights, prices, strict=True):
            # In integers: there are many.
            a, b = price.numerator, price.denominator
            c.append(-(((m * a - n * weight * b) << WORK_BITS) // (unit * b)))
        q = [(share.numerator * weight << WORK_BITS) // share.denominator for weight in program.weights]
        return cls(c, q, up(-summed(prices)), total, gh, curve)

    def tangent(self, t: Fraction) -> tuple[int, int]:
        """A(t) and T(t), each made once."""
        if (found := self.known.get(t)) is None:
            found = self.known[t] = self.curve.exact_tangent(self.gh, t)
        return found

    def branch(self, node: Node, part: _Part) -> tuple[object, _Part, _Part]:
        """The element of a split node, and the two halves of its part in the order of the format."""
        assert node.split is not None
        way, at = node.split.way, node.split.at
        if way == "input":
            free = tuple(x for x in part.free if x != at)
            taken = part._replace(inside=part.inside + 1, c=part.c + self.c[at], q=part.q + self.q[at], free=free)
            return at, taken, part._replace(free=free)
        if way == "count":
            fewer = part._replace(most=min(part.most, at), counted=True)
            return [at], fewer, part._replace(fewest=max(part.fewest, at + 1), counted=True)
        lighter = part._replace(heaviest=min(part.heaviest, at))
        return [str(at)], lighter, part._replace(lightest=max(part.lightest, at + 1))

    def holds(self, part: _Part, leaf: Leaf) -> bool:
        """Whether a leaf holds with slack 2^-80 of its terms, or its part is empty."""
        if part.lightest > part.heaviest:
            return True
        height, tangent = self.tangent(leaf.t)
        slope = tangent if leaf.slope is None else down(leaf.slope)
        c, q = self.c, self.q
        gains = [c[x] - (q[x] * slope >> WORK_BITS) for x in part.free]
        if part.counted:
            first = max(part.fewest - part.inside, 0)
            last = min(part.most - part.inside, len(gains))
            if first > last:
                return True
            best = max(list(accumulate(sorted(gains, reverse=True), initial=0))[first : last + 1])
        else:
            best = sum(gain for gain in gains if gain > 0)
        inner = part.c - (part.q * slope >> WORK_BITS)
        # Q (L - T(t)) over the limits on weight, zero for a leaf without a slope of its own.
        tilt = 0
        if slope != tangent:
            end = part.heaviest if slope > tangent else part.lightest
            tilt = -(-(up((self.gh - 1) * Fraction(end, self.total)) * (slope - tangent)) >> WORK_BITS)
        terms = (height, -tangent, self.minus_sum, inner, best, tilt)
        margin = self.curve.margin(self.gh, len(c), 0 if leaf.slope is None else slope)
        return sum(terms) <= -(sum(map(abs, terms)) >> 80) - margin


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Informations under LDP, with the universal prices where there are no others."""
    if not has_curve(program):
        return None
    prices = None if dual is None else dual.prices
    found = prove_information(program, prices, wanted.target, wanted.effort.closing())
    # The entropy of the input is the smaller bound where the input is nearly certain.
    return or_entropy(program, found, "")
