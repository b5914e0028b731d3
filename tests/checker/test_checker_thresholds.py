"""Thresholds to the last unit: how large a theta may be, what it violates, and the yield, against the text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, encode, put, rat
from flint import arb, ctx, fmpq
from test_checker_risk import blocked, document, is_safe, risk_of

from rropt.checker import ONE, P, check_bytes

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
BLOCKS = [[0, 1], [2], [3, 4, 5]]
COUNTS = [1, 3, 2, 4, 2, 5]
Thetas = Sequence[int | Fraction]


def made(thetas: Thetas, xi: Fraction = HALF, counts: Sequence[int] = COUNTS, blocks: Any = BLOCKS, **more: Any) -> Any:
    """A certificate with these numbers and a mechanism at the largest ones; its bound is above every value."""
    most = [Fraction(min(counts[x] for x in block)) if len(block) > 1 else Fraction(0) for block in blocks]
    risk = {**risk_of(counts, rat(xi), more.pop("categories", None)), "blocks": blocks}
    proof = {"kind": "thresholds", "thetas": [rat(Fraction(h)) for h in thetas]}
    return document(blocked(blocks, counts, most), risk, proof, Fraction(10**6), more.pop("cost", None), **more)


def said(document: Document) -> str:
    return check_bytes(encode(document)).reason


@pytest.mark.parametrize(
    ("thetas", "wrong"),
    [
        ((1, 0, 2), None),
        ((0, 0, 0), None),
        ((Fraction(11, 10), 0, 2), 0),
        ((1, Fraction(1, 10**9), 2), 1),
        ((1, 2, 2), 1),
        ((1, 0, Fraction(21, 10)), 2),
    ],
)
def test_how_large_a_theta_may_be(thetas: Thetas, wrong: int | None) -> None:
    reason = said(made(thetas))
    assert ("more than the block allows" in reason) == (wrong is not None)
    assert wrong is None or reason == f"proof.thetas[{wrong}]: more than the block allows"


@pytest.mark.parametrize(
    ("counts", "categories", "h", "violates"),
    [
        # Two units of one record each: (1 - h)^2 > h^2.
        ([1, 1], [0, 1], Fraction(2, 5), True),
        ([1, 1], [0, 1], HALF, False),
        ([1, 1], [1], Fraction(2, 5), True),
        # With two records of one category the risk is at most 1/2 there.
        ([1, 2], [1], Fraction(1, 5), False),
        ([1, 2], [0, 1], Fraction(1, 5), True),
        ([2, 2], [0, 1], Fraction(1, 5), False),
    ],
)
def test_what_a_threshold_violates(counts: list[int], categories: list[int], h: Fraction, violates: bool) -> None:
    def reason(theta: Fraction) -> str:
        return said(made([theta, 0], counts=[*counts, 1], blocks=[[0, 1], [2]], categories=categories))

    assert is_safe(blocked([[0, 1]], counts, [h]), counts, HALF, categories) is not violates
    assert reason(Fraction(0)) == ""
    assert reason(h) == (
        "" if violates else "proof.thetas[0]: not proved that the matrix of this number violates the risk"
    )


def is_yield(document: Document, expected: Fraction, unit: Fraction, below: Fraction | None = None) -> None:
    """That a bound is enough from `expected` on, for the part of the bound that the proof yields."""
    sign = -1 if document["problem"]["sense"] == "minimize" else 1
    for most, is_enough in ((expected, True), ((below or expected) - unit, False)):
        reason = said(put(document, "bound", value=rat(sign * most)))
        assert reason.startswith("bound: claims more than the proof yields") != is_enough, reason


COST = [(0, 0, Fraction(2)), (0, 1, Fraction(-3)), (1, 1, THIRD), (2, 2, Fraction(5)), (0, 2, Fraction(99)),
        (3, 4, Fraction(7)), (4, 4, Fraction(-1)), (5, 0, Fraction(77))]  # fmt: skip


def ends(thetas: Thetas) -> list[tuple[Fraction, Fraction]]:
    """Of each block its number and the largest one."""
    most = [Fraction(min(COUNTS[x] for x in block)) if len(block) > 1 else Fraction(0) for block in BLOCKS]
    return [(Fraction(h), m) for h, m in zip(thetas, most, strict=True)]


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize("thetas", [(HALF, 0, THIRD), (0, 0, 2), (1, 0, 0)])
def test_the_yield_of_thresholds(sense: str, thetas: Thetas) -> None:
    sign = -1 if sense == "minimize" else 1
    expected = Fraction(0)
    for at, block in enumerate(BLOCKS):
        tables = [blocked(BLOCKS, COUNTS, [h if i == at else 0 for i in range(3)]) for h in ends(thetas)[at]]
        inside = [(x, y, c) for x, y, c in COST if x in block and y in block]
        expected += max(sign * sum((c * own[x][y] for x, y, c in inside), Fraction(0)) for own in tables)
    cost = [[Fraction(0)] * 6 for _ in range(6)]
    for x, y, c in COST:
        cost[x][y] = c
    is_yield(made(thetas, cost=cost, sense=sense), expected, Fraction(1, 10**30))


def test_the_yield_of_thresholds_for_information() -> None:
    """Upper ends of enclosures: above the exact number, and by less than 2^-140 (a dozen logs, rounded up)."""
    thetas, weights = (Fraction(1, 4), Fraction(0), HALF), [2, 1, 3, 0, 1, 1]
    before, ctx.prec = ctx.prec, 400
    try:
        total = arb(0)
        for at, block in enumerate(BLOCKS):
            values = []
            for h in ends(thetas)[at]:
                own = blocked(BLOCKS, COUNTS, [h if i == at else Fraction(0) for i in range(3)])
                value = arb(0)
                for x, y in itertools.product(block, repeat=2):
                    p, q = Fraction(weights[x], 8), own[x][y]
                    value += ball(p * q) * ball(q).log() if p * q else 0
                for y in block:
                    w = sum((Fraction(weights[x], 8) * own[x][y] for x in block), Fraction(0))
                    value -= ball(w) * ball(w).log() if w else 0
                values.append(value)
            total += max(values, key=float)
        low = Fraction(int((total * arb(2) ** P).floor().unique_fmpz()), ONE)
    finally:
        ctx.prec = before
    assert low > Fraction(1, 10)
    information = made(thetas, utility={"kind": "mutual_information"}, weights=[str(n) for n in weights])
    is_yield(information, low + Fraction(1, 2**140), Fraction(1, ONE), low)


def test_information_without_weights_is_nothing() -> None:
    """A single output has weight, and its column is 1: not a unit of the fixed point is added."""
    weights = [str(int(x == 2)) for x in range(6)]
    information = made((HALF, 0, THIRD), utility={"kind": "mutual_information"}, weights=weights)
    is_yield(information, Fraction(0), Fraction(1, ONE))


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
