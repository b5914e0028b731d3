"""The `column-dual` proof of mutual information under LDP: repaired prices and a pricing tree.

Written from docs/certificate-format.md, section 6. The float search suggests the prices and the tree; every
leaf is then tested in integers with the roundings that the format prescribes, and the prices are raised along
the prior until all of them hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import numpy as np

from rropt.certificates import Proof
from rropt.exact import dyadic_up, log_enclosure, rational_text
from rropt.programs import CompleteCone, FloatArray, Information, Program
from rropt.routes.pricing import LdpPricer, Node, universal_price

PRICE_BITS = 72
"""Prices are multiples of 2^-72: far finer than any float dual, and short to write."""
LEAF_BITS = 48
"""A leaf's t is a multiple of 2^-48: where two sets tie at a leaf, its bound has a kink in t, and a rounding of t
costs its own size."""
WORK_BITS = 224
"""Fixed-point precision of the leaf test."""
ASSUMPTIONS = ("mi-column-convex",)

TreeItem = int | list[int] | Fraction


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
    assert isinstance(program.utility, Information) and isinstance(program.cone, CompleteCone)
    best = _universal(program)
    assert best.bound is not None
    if prices is not None and (target is None or best.bound > target):
        tried = _from_prices(program, prices, target, node_limit, stop)
        if tried is not None and tried.bound is not None and tried.bound < best.bound:
            best = tried
    return best


def _universal(program: Program) -> Proof:
    """Prices U * prior and a tree of one leaf: valid for every prior."""
    assert isinstance(program.cone, CompleteCone)
    height, w = universal_price(float(program.cone.level.log_ratio))
    for margin in (2.0**-50, 2.0**-46, 2.0**-40, 2.0**-30, 2.0**-20):
        prices = _shifted(program, np.zeros(program.size), height + margin)
        tree: list[TreeItem] = [_leaf(w)]
        if _holds(program, prices, tree):
            return _proof(prices, tree)
    raise ArithmeticError("the universal bound could not be proved: this is a fault of rropt, please report it")


def _from_prices(
    program: Program, a: FloatArray, target: float | None, node_limit: int, stop: Callable[[], bool]
) -> Proof | None:
    assert isinstance(program.cone, CompleteCone)
    p = np.array([float(value) for value in program.prior])
    pricer = LdpPricer(p, float(program.cone.level.ratio), np.asarray(a, dtype=np.float64))
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
        _write(found.root, shift, tree)
        if _holds(program, prices, tree):
            return _proof(prices, tree)
        margin *= 8
    return None


def _shifted(program: Program, a: FloatArray, shift: float) -> list[Fraction]:
    """a + shift * prior, rounded up to multiples of 2^-72 (a price may always be raised)."""
    exact = Fraction(shift)
    return [dyadic_up(Fraction(float(own)) + exact * p, PRICE_BITS) for own, p in zip(a, program.prior, strict=True)]


def _leaf(t: float) -> Fraction:
    return max(Fraction(1), Fraction(round(t * 2**LEAF_BITS), 2**LEAF_BITS))


def _write(root: Node, shift: float, tree: list[TreeItem]) -> None:
    """The tree in preorder; a leaf's t is exp(slope - 1 - shift), the tangent point of its bound."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.parts is None or node.split is None:
            tree.append(_leaf(math.exp(node.slope - 1.0 - shift)))
        else:
            tree.append(node.split)
            stack += [node.parts[1], node.parts[0]]


def _proof(prices: list[Fraction], tree: list[TreeItem]) -> Proof:
    payload: dict[str, object] = {
        "kind": "column-dual",
        "prices": [rational_text(price) for price in prices],
        "tree": [rational_text(item) if isinstance(item, Fraction) else item for item in tree],
    }
    return Proof(payload, sum(prices, Fraction(0)), ASSUMPTIONS)


def _holds(program: Program, prices: list[Fraction], tree: list[TreeItem]) -> bool:
    """Whether every leaf holds with slack 2^-80 of its terms, in integers over 2^WORK_BITS."""
    assert isinstance(program.cone, CompleteCone)
    level = program.cone.level
    gh, e = level.ratio.upper, level.log_ratio.upper
    one = 1 << WORK_BITS

    def up(value: Fraction) -> int:
        return -((-value.numerator * one) // value.denominator)

    def down(value: Fraction) -> int:
        return (value.numerator * one) // value.denominator

    prior = program.prior
    c = [up(gh * e * p - (gh - 1) * a) for p, a in zip(prior, prices, strict=True)]
    q = [down((gh - 1) * p) for p in prior]
    minus_sum = up(-sum(prices, Fraction(0)))
    size = program.size
    logs: dict[Fraction, int] = {}
    # A pending subtree is the state of its path: inputs in and out as bit sets, and the limits on their number.
    stack: list[tuple[int, int, int, int, bool]] = [(0, 0, 0, size, False)]
    for item in tree:
        if not stack:
            return False
        inside, outside, lo, hi, limited = stack.pop()
        if isinstance(item, int):
            stack.append((inside, outside | 1 << item, lo, hi, limited))
            stack.append((inside | 1 << item, outside, lo, hi, limited))
            continue
        if isinstance(item, list):
            stack.append((inside, outside, max(lo, item[0] + 1), hi, True))
            stack.append((inside, outside, lo, min(hi, item[0]), True))
            continue
        if item not in logs:
            logs[item] = one + down(log_enclosure(item).lower)
        slope = logs[item]
        chosen = [x for x in range(size) if inside >> x & 1]
        free = [x for x in range(size) if not (inside | outside) >> x & 1]
        weight = one + sum(q[x] for x in chosen)
        gains = [c[x] - (q[x] * slope >> WORK_BITS) for x in free]
        if limited:
            first, last = max(lo - len(chosen), 0), min(hi - len(chosen), len(free))
            if first > last:
                continue
            partial = list(accumulate(sorted(gains, reverse=True), initial=0))
            best = max(partial[first : last + 1])
        else:
            best = sum(gain for gain in gains if gain > 0)
        terms = (up(item), sum(c[x] for x in chosen), -(weight * slope >> WORK_BITS), minus_sum, best)
        if sum(terms) > -(sum(map(abs, terms)) >> 80):
            return False
    return not stack
