"""The `column-dual` proof of an information under LDP: repaired prices and a pricing tree.

Written from docs/certificate-format.md, section 6. The float search suggests the prices and the tree; every
leaf is then tested in integers with the roundings that the format prescribes, and the prices are raised along
the prior until all of them hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from rropt.certificates import Proof
from rropt.cones import FloatArray
from rropt.exact import dyadic_up, rational_text
from rropt.programs import Program
from rropt.proofs.tangents import WORK_BITS, Tangents, down, tangents_of, up
from rropt.routes.curves import Curve, curve_of, has_curve
from rropt.routes.pricing import LdpPricer, Node, Split
from rropt.routes.universal import attained_price, few_masses

PRICE_BITS = 72
"""Prices are multiples of 2^-72: far finer than any float dual, and short to write."""
LEAF_BITS = 48
"""A leaf's t is a multiple of 2^-48: where two sets tie at a leaf, its bound has a kink in t, and a rounding of t
costs its own size."""


@dataclass(frozen=True)
class Leaf:
    """A leaf: its tangent point t, and a slope of its own where a limit on weight stops it (version 2)."""

    t: Fraction
    slope: Fraction | None = None


TreeItem = Split | Leaf


def prove_information(
    program: Program,
    prices: FloatArray | None,
    target: float | None,
    node_limit: int = 200_000,
    stop: Callable[[], bool] = lambda: False,
) -> Proof:
    """The best `column-dual` proof from float `prices` (k,) in nats; the universal bound competes and is always
    available. The search ends when the bound is at most `target` (None: when no corner allows a better one), at
    `node_limit` nodes or when `stop()` says so: the bound is true at any time."""
    assert has_curve(program)
    best = _universal(program)
    # Where sets have few different masses, the best price over these is a bound too, by a tree of few leaves.
    candidates = [prices]
    if few_masses(program.weights):
        height, _ = attained_price(program.weights, curve_of(program))
        candidates.insert(0, height * np.array([float(p) for p in program.prior]))
    for tried in candidates:
        assert best.bound is not None
        if tried is None or (target is not None and best.bound <= target):
            continue
        proof = _from_prices(program, tried, target, node_limit, stop)
        if proof is not None and proof.bound is not None and proof.bound < best.bound:
            best = proof
    return best


def _universal(program: Program) -> Proof:
    """Prices U * prior and a tree of one leaf: valid for every prior."""
    height, w = curve_of(program).ceiling()
    for margin in (2.0**-50, 2.0**-46, 2.0**-40, 2.0**-30, 2.0**-20):
        prices = _shifted(program, np.zeros(program.size), height + margin)
        tree: list[TreeItem] = [_leaf(w)]
        if _holds(program, prices, tree):
            return _proof(program, prices, tree)
    raise ArithmeticError("the universal bound could not be proved: this is a fault of rropt, please report it")


def _from_prices(
    program: Program, a: FloatArray, target: float | None, node_limit: int, stop: Callable[[], bool]
) -> Proof | None:
    curve = curve_of(program)
    pricer = LdpPricer(program.weights, curve, np.asarray(a, dtype=np.float64))
    accept = -math.inf if target is None else target - math.fsum(a)
    found = pricer.search(accept=accept, node_limit=node_limit, stop=stop)
    if not math.isfinite(found.bound):
        return None
    scale = max(1.0, float(np.abs(pricer.c).sum()), float(np.abs(a).sum()))
    margin = 2e-15 * scale
    for _ in range(12):
        shift = found.bound + margin
        prices = _shifted(program, a, shift)
        tree: list[TreeItem] = []
        _write(found.root, shift, curve, tree)
        if _holds(program, prices, tree):
            return _proof(program, prices, tree)
        margin *= 8
    return None


def _shifted(program: Program, a: FloatArray, shift: float) -> list[Fraction]:
    """a + shift * prior, rounded up to multiples of 2^-72 (a price may always be raised)."""
    exact = Fraction(shift)
    return [dyadic_up(Fraction(float(own)) + exact * p, PRICE_BITS) for own, p in zip(a, program.prior, strict=True)]


def _leaf(t: float, slope: float | None = None) -> Leaf:
    """A leaf with its numbers on the grid of 2^-48."""
    scale = 2**LEAF_BITS
    point = max(Fraction(1), Fraction(round(t * scale), scale))
    return Leaf(point, None if slope is None else max(Fraction(0), Fraction(round(slope * scale), scale)))


def _write(root: Node, shift: float, curve: Curve, tree: list[TreeItem]) -> None:
    """The tree in preorder. Prices that are `shift` higher along the prior lower every slope by it; a leaf's t is
    where the tangent has that slope, or the end of its limits on weight."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.parts is not None and node.split is not None:
            tree.append(node.split)
            stack += [node.parts[1], node.parts[0]]
        elif node.end is None:
            tree.append(_leaf(curve.touch(node.slope - shift)))
        else:
            tree.append(_leaf(node.end, node.slope - shift))


def _proof(program: Program, prices: list[Fraction], tree: list[TreeItem]) -> Proof:
    items: list[object] = []
    for item in tree:
        if isinstance(item, Leaf):
            t = rational_text(item.t)
            items.append(t if item.slope is None else [t, rational_text(item.slope)])
        elif item.way == "input":
            items.append(item.at)
        elif item.way == "count":
            items.append([item.at])
        else:
            items.append([str(item.at)])
    by_weight = any(item.way == "weight" for item in tree if isinstance(item, Split))
    payload: dict[str, object] = {
        "kind": "column-dual",
        "prices": [rational_text(price) for price in prices],
        "tree": items,
    }
    tangents = tangents_of(program)
    return Proof(payload, sum(prices, Fraction(0)), tangents.assumptions, max(tangents.version, 2 if by_weight else 1))


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
    """The test of a leaf at exact prices, in integers over 2^WORK_BITS: c rounded up, q down (k each), and minus the
    sum of the prices."""

    c: list[int]
    q: list[int]
    minus_sum: int
    total: int
    tangents: Tangents

    @classmethod
    def at(cls, program: Program, prices: list[Fraction]) -> _LeafTest:
        """The test at some prices."""
        tangents = tangents_of(program)
        return cls(
            [up(tangents.c(p, a)) for p, a in zip(program.prior, prices, strict=True)],
            [down((tangents.gh - 1) * p) for p in program.prior],
            up(-sum(prices, Fraction(0))),
            sum(program.weights),
            tangents,
        )

    def halves(self, part: _Part, split: Split) -> tuple[_Part, _Part]:
        """The two halves of a part, in the order of the format."""
        at = split.at
        if split.way == "input":
            free = tuple(x for x in part.free if x != at)
            taken = part._replace(inside=part.inside + 1, c=part.c + self.c[at], q=part.q + self.q[at], free=free)
            return taken, part._replace(free=free)
        if split.way == "count":
            return (
                part._replace(most=min(part.most, at), counted=True),
                part._replace(fewest=max(part.fewest, at + 1), counted=True),
            )
        return part._replace(heaviest=min(part.heaviest, at)), part._replace(lightest=max(part.lightest, at + 1))

    def holds(self, part: _Part, leaf: Leaf) -> bool:
        """Whether a leaf holds with slack 2^-80 of its terms, or its part is empty."""
        if part.lightest > part.heaviest:
            return True
        height, tangent = self.tangents.at(leaf.t)
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
            tilt = -(-(up((self.tangents.gh - 1) * Fraction(end, self.total)) * (slope - tangent)) >> WORK_BITS)
        terms = (height, -tangent, self.minus_sum, inner, best, tilt)
        margin = self.tangents.margin(len(c), 0 if leaf.slope is None else slope)
        return sum(terms) <= -(sum(map(abs, terms)) >> 80) - margin


def _holds(program: Program, prices: list[Fraction], tree: list[TreeItem]) -> bool:
    """Whether the tree covers all corners and every leaf holds."""
    test = _LeafTest.at(program, prices)
    size = program.size
    stack = [_Part(0, 0, 0, tuple(range(size)), 0, size, 0, test.total)]
    for item in tree:
        if not stack:
            return False
        part = stack.pop()
        if isinstance(item, Split):
            first, second = test.halves(part, item)
            stack += [second, first]
        elif not test.holds(part, item):
            return False
    return not stack
