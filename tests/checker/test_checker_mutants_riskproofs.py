"""Proofs about identification risk inside: the gradients of cuts, and the leaves of a risk-branch, each against its
text in rational numbers.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from math import prod
from typing import Any

import pytest

from rropt import checker
from rropt.checker import ONE, P

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def risk(
    at_most: Fraction, counts: list[int], categories: list[int] | None = None, blocks: Any = None
) -> checker._Risk:
    return checker._Risk(at_most, counts, categories or [c for c, n in enumerate(counts) if n], blocks)


def problem(own: checker._Risk, cost: Any = (), rows: Any = (), sense: str = "maximize", **more: Any) -> Any:
    k = len(own.counts)
    weights = more.get("weights", [1] * k)
    cone = checker._Cone("free", (Fraction(1), Fraction(1)), {}, None, "")
    return checker._Problem(
        sense,
        k,
        [str(x) for x in range(k)],
        weights,
        sum(weights),
        more.get("utility", "linear"),
        list(cost),
        [],
        cone,
        list(rows),
        None,
        False,
        risk=own,
    )


def proof(kind: str = "risk-branch", unit: int = 1, **more: Any) -> Any:
    return checker._Proof(kind, [], [], [], [], [], unit, **more)


# -- cuts ----------------------------------------------------------------------------------------------


def symmetric(numbers: list[Fraction], j: int) -> Fraction:
    return sum((prod(own) for own in itertools.combinations(numbers, j)), Fraction(0)) if j >= 0 else Fraction(0)


def by_hand(own: checker._Risk, c: int, a: int, point: list[int]) -> Any:
    """(h, g) in rational numbers, by the text; None where there is no cut."""
    n = [own.others(x, c) for x in range(len(point))]
    all_of = [Fraction(point[x]) for x in range(len(point)) for _ in range(n[x])]
    before = symmetric(all_of, a - 1)
    if before == 0:
        return None
    g: list[Fraction] = []
    for x in range(len(point)):
        if n[x] == 0:
            g.append(Fraction(0))
            continue
        rest = list(all_of)
        rest.remove(Fraction(point[x]))
        e = symmetric(rest, a - 1) * before - symmetric(all_of, a) * symmetric(rest, a - 2)
        g.append(n[x] * e / before**2)
    xi = own.at_most
    h = (1 - a * xi) / (a * xi) - g[c]
    return (h, g) if h > 0 else None


def test_the_gradient_of_a_cut() -> None:
    rng = random.Random(5)
    cuts = none = 0
    for _ in range(300):
        counts = [rng.choice([0, 1, 1, 2, 3]) for _ in range(rng.choice([2, 3, 4]))]
        if not any(counts):
            continue
        own = risk(rng.choice([Fraction(2, 5), Fraction(1, 4), Fraction(2, 9), Fraction(1, 7)]), counts)
        c, a = rng.choice(own.categories), rng.randint(1, min(own.most, 5))
        point = [rng.choice([0, 0, 1, 2, 5]) for _ in counts]
        expected, found = by_hand(own, c, a, point), checker._gradient(own, checker._RiskCut(c, a, point))
        assert (expected is None) == (found is None)
        if found is None:
            none += 1
            continue
        cuts += 1
        h, g = expected
        assert found.category == c
        assert found.h == h * ONE // 1
        others = [x for x in range(len(counts)) if x != c]
        assert [found.g[x] for x in others] == [-(-g[x] * ONE // 1) for x in others]
        assert found.needed == [x for x in others if counts[x]]
    assert min(cuts, none) > 50


def test_a_cut_with_h_of_zero_is_none() -> None:
    # a = 1: h = 1 / xi - T_c.
    for counts, there in (([2, 1], True), ([3, 1], False), ([4, 1], False)):
        own = risk(THIRD, counts)
        assert (checker._gradient(own, checker._RiskCut(0, 1, [1, 1])) is not None) == there
    with pytest.raises(checker.Refuted, match=r"proof.cuts\[4\]: its point gives no cut"):
        checker._check_risk_cut(None, 4)
    checker._check_risk_cut(checker._Gradient(0, 1, [0], []), 4)


def test_which_rows_are_packing_rows() -> None:
    row = lambda *terms: checker._Row("r", "<=", Fraction(1), [(0, y, Fraction(c)) for y, c in enumerate(terms)])  # noqa: E731
    rows = (1, 2), (1, -1), (1, 0), (-1, -1), ()
    assert [checker._is_packing(row(*terms)) for terms in rows] == [True, False, False, False, True]


# -- the leaves of a risk-branch -----------------------------------------------------------------------

ROWS = [
    checker._Row("packing", "<=", Fraction(3, 4), [(0, 0, HALF), (1, 0, Fraction(1, 3))]),
    checker._Row("other", "=", Fraction(1, 5), [(0, 1, Fraction(1)), (1, 1, Fraction(-1, 7))]),
]


def search(cuts: Any = (), cost: Any = (), rows: Any = (), unit: int = 1, sense: str = "maximize", k: int = 2) -> Any:
    made = problem(risk(THIRD, [2] * k), cost, rows, sense)
    return checker._RiskSearch(made, proof(unit=unit), list(cuts))


def leaf(a: list[int], rows: Any = (), s: Any = ()) -> Any:
    return checker._RiskLeaf(a, list(rows), list(s))


def test_the_rows_of_a_search() -> None:
    own = search(rows=ROWS, cost=[(0, 1, Fraction(3)), (1, 1, Fraction(-1, 9))], sense="minimize", unit=5)
    assert own.packing == [([(0, 1), (1, 1)], 1), ([(2, 1), (3, 1)], 1), ([(0, 6), (2, 4)], 9)]
    scale = 1 << own.fine
    of = lambda c: (c * scale // 1, -(-c * scale // 1))  # noqa: E731
    assert own.rows == [[(0, *of(HALF)), (2, *of(THIRD))], [(1, *of(Fraction(1))), (3, *of(Fraction(-1, 7)))]]
    assert own.rhs == [of(Fraction(3, 4)), of(Fraction(1, 5))]
    assert own.base == [0, -15 * scale, 0, 5 * of(Fraction(1, 9))[1]]
    assert search(cost=[(0, 1, Fraction(3))]).base[1] == 3 << own.fine


@pytest.mark.parametrize(
    ("costs", "more"),
    [
        ([], 0),
        ([1], 0),
        ([0, Fraction(1, 2**40)], 40),
        ([Fraction(1, 2**40), Fraction(1, 2**50)], 40),
        ([8, Fraction(1, 2**9)], 0),
    ],
)
def test_the_precision_of_a_search(costs: list[Any], more: int) -> None:
    own = search(cost=[(0, y, Fraction(c)) for y, c in enumerate(costs)])
    assert own.fine == P + 64 + more


def assert_most(own: Any, one: Any, value: Fraction) -> None:
    """`value` is the smallest number that this leaf proves."""
    step = Fraction(1, own.unit << own.fine + P)
    for own.most, holds in ((value, True), (value - step / 2, False), (value - step, False)):
        assert own.holds(one) == holds


@pytest.mark.parametrize("unit", [1, 3])
@pytest.mark.parametrize("a", [[0, 0], [4, -5], [-2, 1]])
@pytest.mark.parametrize("rows", [[], [(0, 2)], [(0, 1), (1, -3)], [(1, 2)]])
def test_a_leaf_without_cuts(unit: int, a: list[int], rows: Any) -> None:
    """The numbers of rows are taken far apart, so that it is seen which end is used."""
    own = search(rows=ROWS, cost=[(0, 0, Fraction(3)), (1, 1, Fraction(-2))], unit=unit)
    one = 1 << own.fine
    own.rows = [[(cell, below - 2 * one, above + 5 * one) for cell, below, above in row] for row in own.rows]
    own.rhs = [(below - 3 * one, above + 7 * one) for below, above in own.rhs]
    own.packing = []
    own.lo, own.hi = [0, ONE // 4, ONE // 8, ONE // 2], [ONE, ONE // 2, ONE // 8, ONE]
    b = sum(a) * one
    r = [unit * 3 * one, 0, 0, -unit * 2 * one]
    r = [n - a[cell // 2] * one for cell, n in enumerate(r)]
    for i, n in rows:
        b += max(n * end for end in own.rhs[i])
        for cell, below, above in own.rows[i]:
            r[cell] -= min(n * below, n * above)
    left = b * ONE + sum(max(n * lo, n * hi) for n, lo, hi in zip(r, own.lo, own.hi, strict=True))
    assert_most(own, leaf(a, rows), Fraction(left, unit * one * ONE))


def test_limits_are_tightened_by_packing_rows() -> None:
    own = search(cost=[(0, 0, Fraction(1)), (0, 1, Fraction(1)), (1, 0, Fraction(1))])
    own.packing = [([(0, 1), (1, 1)], 1), ([(0, 6), (2, 4)], 3)]
    own.lo, own.hi = [ONE // 8, ONE // 4, ONE // 8, 0], [ONE] * 4
    # hi_00: min(1 - 1/4, (3 - 4/8) / 6); hi_01: 1 - 1/8; hi_10: (3 - 6/8) / 4.
    tops = [-(-5 * ONE // 12), 7 * ONE // 8, 9 * ONE // 16]
    assert_most(own, leaf([0, 0]), Fraction(sum(tops), ONE))
    own.hi = [ONE // 9, ONE // 3, ONE // 3, ONE]
    own.lo = [0, 0, 0, 0]
    assert_most(own, leaf([0, 0]), Fraction(ONE // 9 + 2 * (ONE // 3), ONE))
    assert own.hi == [ONE // 9, ONE // 3, ONE // 3, ONE]


@pytest.mark.parametrize(("lo", "closed"), [(ONE // 2 + 1, True), (ONE // 2, False), (ONE // 2 - 1, False)])
def test_crossed_limits_close_a_leaf(lo: int, closed: bool) -> None:
    own = search()
    own.packing = []
    own.hi[3], own.lo[3] = ONE // 2, lo
    own.most = Fraction(-9)
    assert own.holds(leaf([0, 0])) == closed


def test_the_terms_of_cuts() -> None:
    """Three inputs, category 1; of input 2 there is no other record, so that its limits do not matter."""
    cut = checker._Gradient(1, 5 * ONE // 3, [ONE // 3, 10**60, 0], [0])
    own = search([cut, cut], [(1, 1, Fraction(2))], unit=3, k=3)
    own.packing = []
    own.lo, own.hi = [0, ONE // 8] + [0] * 7, [ONE, ONE // 2] + [ONE] * 7
    one, unit = 1 << own.fine, 3
    r, b = [Fraction(0)] * 9, Fraction(0)
    r[4] = Fraction(2 * unit)
    for s, t in ((4, Fraction(1, 3)), (1, Fraction(0))):
        g, h = Fraction(ONE // 3, ONE), Fraction(5 * ONE // 3, ONE)
        below = Fraction(7, 8) * HALF
        r[1] += Fraction(-(-s * g * one / below // 1), one)
        b -= Fraction(s * g * Fraction(1, 8) * HALF / below * one // 1, one)
        r[4] -= Fraction(s * h / (1 - t) ** 2 * one // 1, one)
        b += Fraction(-(-s * h * t * t / (1 - t) ** 2 * one // 1), one)
    ends = zip(r, own.lo, own.hi, strict=True)
    left = b + sum(max(n * lo, n * hi) for n, lo, hi in ends) / ONE
    assert_most(own, leaf([0] * 3, s=[(0, 4, Fraction(1, 3)), (1, 1, Fraction(0))]), left / unit)
    own.most = Fraction(10**9)
    own.hi[1] = ONE
    assert not own.holds(leaf([0] * 3, s=[(0, 4, Fraction(1, 3))]))
    assert own.holds(leaf([0] * 3))
    two = checker._Gradient(1, ONE, [ONE, 0, ONE], [0, 2])
    own.cuts = [two]
    own.hi[1] = ONE // 2
    assert not own.holds(leaf([0] * 3, s=[(0, 1, Fraction(0))]))
    own.hi[7] = ONE // 2
    assert own.holds(leaf([0] * 3, s=[(0, 1, Fraction(0))]))


# -- the walk ------------------------------------------------------------------------------------------


def split(x: int, y: int, c: Any) -> Any:
    return checker._Split(x, y, Fraction(c))


def test_the_limits_of_each_leaf_of_a_risk_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def look(own: Any, token: Any, where: str) -> None:
        seen.append((where, own.lo[1:3], own.hi[1:3], own.base[0] > 0, own.base[2] > 0, own.most, list(own.root)))

    monkeypatch.setattr(checker, "_check_risk_leaf", look)
    any_leaf = leaf([0, 0])
    tree = [
        split(0, 1, THIRD),
        split(0, 1, HALF),
        any_leaf,
        any_leaf,
        split(1, 0, THIRD),
        split(0, 1, "1/4"),
        any_leaf,
        any_leaf,
        any_leaf,
    ]
    limits = [
        checker._RiskLimit(1, 0, Fraction(2, 3), [split(1, 0, HALF), any_leaf, any_leaf]),
        checker._RiskLimit(1, 0, Fraction(5, 6), [any_leaf]),
        checker._RiskLimit(0, 1, Fraction(3), [any_leaf]),
    ]
    made = problem(risk(THIRD, [2, 2]), [(0, 0, Fraction(1))])
    cut = checker._RiskCut(0, 1, [1, 1])
    checker._check_risk_trees(made, proof(most=Fraction(9), risk_cuts=[cut], risk_limits=limits, risk_tree=tree))
    low, high = ONE // 3, ONE // 3 + 1
    top = 2 * ONE // 3 + 1
    first, second = [ONE] * 4, [ONE, ONE, top, ONE]
    assert seen == [
        ("proof.limits[0].tree[1]", [0, 0], [ONE, ONE // 2], False, True, Fraction(2, 3), first),
        ("proof.limits[0].tree[2]", [0, ONE // 2], [ONE, ONE], False, True, Fraction(2, 3), first),
        ("proof.limits[1].tree[0]", [0, 0], [ONE, top], False, True, Fraction(5, 6), second),
        ("proof.limits[2].tree[0]", [0, 0], [ONE, top], False, False, Fraction(3), second),
        ("proof.tree[2]", [0, 0], [high, top], True, False, Fraction(9), second),
        ("proof.tree[3]", [ONE // 2, 0], [high, top], True, False, Fraction(9), second),
        ("proof.tree[6]", [low, 0], [ONE // 4, high], True, False, Fraction(9), second),
        ("proof.tree[7]", [low, 0], [ONE, high], True, False, Fraction(9), second),
        ("proof.tree[8]", [low, low], [ONE, top], True, False, Fraction(9), second),
    ]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, None),
        (
            {"risk_cuts": [checker._RiskCut(0, 1, [1, 1]), checker._RiskCut(0, 2, [0, 0])]},
            r"proof.cuts\[1\]: its point",
        ),
        ({"most": HALF}, r"proof.tree\[1\]: the inequality of this leaf fails"),
        ({"risk_tree": [split(0, 0, HALF), leaf([0, 0])]}, "proof.tree: ends with 1 subtrees missing"),
        (
            {"risk_limits": [checker._RiskLimit(0, 0, HALF, [leaf([0, 0])])]},
            r"proof.limits\[0\].tree\[0\]: the inequality",
        ),
        ({"risk_limits": [checker._RiskLimit(0, 0, Fraction(1), [])]}, r"proof.limits\[0\].tree: ends with 1 subtrees"),
    ],
)
def test_a_risk_branch(changed: Any, words: str | None) -> None:
    parts: dict[str, Any] = {
        "most": Fraction(1),
        "risk_tree": [split(0, 0, "3/4"), leaf([0, 0]), leaf([0, 0])],
        "risk_limits": [checker._RiskLimit(0, 0, Fraction(1), [leaf([0, 0])])],
        "risk_cuts": [checker._RiskCut(0, 1, [1, 1])],
        **changed,
    }
    made = problem(risk(THIRD, [2, 2]), [(0, 0, Fraction(1))])
    if words is None:
        checker._check_risk_trees(made, proof(**parts))
    else:
        with pytest.raises(checker.Refuted, match=words):
            checker._check_risk_trees(made, proof(**parts))
