"""Risk-branches to the last unit: the least yield that a leaf proves, and that it does not prove a smaller one.

There are four inputs, and the mechanism always answers 3, so that it keeps every bound and every row here. The cells
[x, y] are those of the matrix Q. Where a branch is in the way, the cells of input 3 are worth 1 each: a leaf that has
the number 1 for input 3 proves that they are worth 1 together, the leaf that is looked at, which has 0, only 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, put, rat
from shells import checked, member, table

from rropt.checker import ONE, P

FINE = 1 << P + 64
"""What costs and prices are rounded to, where no cost is tiny."""
TINY = Fraction(1, 2**600)
K = 4
THIRD = Fraction(1, 3)
WORTH = [(3, y, 1) for y in range(K)]
Costs = Sequence[tuple[int, int, Fraction | int]]


def up(number: Fraction, unit: int) -> Fraction:
    return Fraction(-(-number.numerator * unit // number.denominator), unit)


def down(number: Fraction, unit: int) -> Fraction:
    return -up(-number, unit)


def leaf(a: Sequence[int] = (0,) * K, rows: Sequence[Sequence[int]] = (), s: Sequence[Any] = ()) -> Document:
    return {"a": list(a), "l": [list(own) for own in rows], "s": [list(own) for own in s]}


LEAF, SPARE = leaf(), leaf([0, 0, 0, 1])


def row(name: str, sense: str, rhs: Fraction | int, terms: Costs) -> Document:
    return {"name": name, "sense": sense, "rhs": rat(rhs), "terms": [[x, y, rat(c)] for x, y, c in terms]}


def branch(
    tree: list[Any],
    cost: Costs = (),
    *,
    counts: Sequence[int] = (1, 1, 0, 0),
    xi: str = "1/8",
    rows: Sequence[Document] = (),
    sense: str = "maximize",
    **proof: Any,
) -> Document:
    """A certificate of category 0."""
    risk = {"at_most": xi, "counts": [str(n) for n in counts], "categories": [0]}
    utility = {"kind": "linear", "cost": [[x, y, rat(c)] for x, y, c in cost]}
    made = member(
        table([[0] * (K - 1) + [1]] * K), identification_risk=risk, utility=utility, rows=list(rows), sense=sense
    )
    value = rat(sum((Fraction(c) for _, y, c in cost if y == K - 1), Fraction(0)))
    own = {"kind": "risk-branch", "yield": "0", "unit": "1", "cuts": [], "limits": [], "tree": tree, **proof}
    bound = "-1000" if sense == "minimize" else "1000"
    return {**made, "value": {"lower": value, "upper": value}, "bound": bound, "proof": own}


def fails_at(made: Document, most: Fraction | int) -> str:
    """The first leaf that fails where the yield is `most`; "" where there is none."""
    verdict = checked(put(made, "proof", "yield", value=rat(most)))
    place, _, what = verdict.reason.partition(": ")
    assert verdict.proved or what == "the inequality of this leaf fails", verdict.reason
    return place


def assert_least(made: Document, most: Fraction | int, i: int = 0) -> None:
    """Element i proves `most` and nothing smaller; those before it prove less than both."""
    place = f"proof.tree[{i}]"
    assert fails_at(made, most) in ["", *(f"proof.tree[{j}]" for j in range(i + 1, len(made["proof"]["tree"])))]
    assert fails_at(made, most - TINY) == place


# -- costs, prices and rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("sense", ["maximize", "minimize"])
@pytest.mark.parametrize(
    ("costs", "more"),
    [
        ([THIRD], 1),
        ([5 * THIRD], 0),
        ([Fraction(0), THIRD / 2**40], 41),
        ([THIRD / 2**40, THIRD / 2**50], 41),
        ([5 * THIRD / 2**40], 39),
        ([Fraction(8), THIRD / 2**9], 0),
        ([Fraction(8)], 0),
    ],
)
def test_costs_are_rounded_up_with_more_bits_where_all_are_tiny(sense: str, costs: list[Fraction], more: int) -> None:
    """As many more as the largest cost has zeros behind the point; a cost of 0 does not count."""
    sign = -1 if sense == "minimize" else 1
    made = branch([LEAF], [(0, y, sign * c) for y, c in enumerate(costs)], sense=sense)
    assert_least(made, sum(up(c, FINE << more) for c in costs))


def test_a_cost_below_zero_counts_at_the_lower_limit() -> None:
    """What the number -1 of input 0 adds to its four cells, less 1; the cell that costs 1 counts as 0."""
    assert_least(branch([leaf([-1, 0, 0, 0])], [(0, 0, -1), (1, 1, -1)]), 2)


@pytest.mark.parametrize("n", [1, 3])
def test_a_row_that_counts_is_rounded_up_and_its_cells_down(n: int) -> None:
    """Q[0, 0] / 3 - Q[0, 1] <= 1/3, n times, where Q[0, 0] >= 1/2 and so Q[0, 1] <= 1/2."""
    rows = [row("own", "<=", THIRD, [(0, 0, THIRD), (0, 1, -1)])]
    made = branch([[0, 0, "1/2"], SPARE, leaf(rows=[[0, n]])], WORTH, rows=rows)
    assert_least(made, 4 + n * (up(THIRD, FINE) - down(THIRD, FINE) / 2 + Fraction(1, 2)), 2)


@pytest.mark.parametrize("n", [1, 3])
def test_a_row_that_counts_below_zero_is_rounded_down_and_its_cells_up(n: int) -> None:
    """Q[0, 0] / 3 + Q[3, 3] / 3 = 1/3, -n times."""
    rows = [row("own", "=", THIRD, [(0, 0, THIRD), (3, 3, THIRD)])]
    assert_least(branch([leaf(rows=[[0, -n]])], rows=rows), n * (2 * up(THIRD, FINE) - down(THIRD, FINE)))


# -- limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "most"),
    [
        ([], up(THIRD, ONE)),
        ([(0, 1, 3)], up(THIRD, ONE)),
        ([(0, 1, 0)], Fraction(1)),
        ([(0, 1, Fraction(-1, 2))], Fraction(1)),
    ],
)
def test_a_row_limits_its_cells_where_all_its_coefficients_are_above_zero(others: Costs, most: Fraction) -> None:
    """3 Q[0, 0] <= 1, and what the row has besides."""
    assert_least(branch([LEAF], [(0, 0, 1)], rows=[row("own", "<=", 1, [(0, 0, 3), *others])]), most)


def test_the_limits_of_a_branch_are_rounded_outwards() -> None:
    """Q[0, 0] <= 1/3, where it is worth 1, and Q[0, 0] >= 1/3, where it costs 1."""
    assert_least(branch([[0, 0, "1/3"], LEAF, LEAF], [(0, 0, 1)]), up(THIRD, ONE), 1)
    assert_least(branch([[0, 0, "1/3"], SPARE, LEAF], [(0, 0, -1), *WORTH]), 4 - down(THIRD, ONE), 2)


def test_equal_limits_close_no_leaf() -> None:
    """Q[0, 0] = 1/2: the leaf there has to hold as well. Above 1/2 it is closed."""
    bad = leaf([1, 0, 0, 0])
    for c, place in (("1/2", "proof.tree[3]"), ("5/8", "proof.tree[4]")):
        tree = [[0, 0, "1/2"], [0, 0, c], LEAF, bad, bad]
        assert fails_at(branch(tree, [(0, 0, 1)]), Fraction(1, 2)) == place


BELOW = [row("own", "<=", 1, [(1, 0, -1), (1, 1, 3)]), row("none", "<=", 0, [(1, 0, 1)])]
"""3 Q[1, 1] - Q[1, 0] <= 1 and Q[1, 0] <= 0: a third of the first row proves Q[1, 1] <= 1/3."""
WEAKER = {"cell": [1, 1], "yield": "1", "tree": [LEAF]}


def test_the_limit_of_a_cell_is_rounded_up_and_stays_where_another_one_is_weaker() -> None:
    limit = {"cell": [1, 1], "yield": "1/3", "tree": [leaf(rows=[[0, 1]])]}
    made = branch([LEAF], [(1, 1, 1)], rows=BELOW, unit="3", limits=[limit, WEAKER])
    assert_least(made, up(THIRD, ONE))


def test_the_limit_of_a_cell_is_proved_of_the_cell() -> None:
    """Without any row Q[1, 1] is at most 1, and no less."""
    for most, place in ((Fraction(1), ""), (1 - TINY, "proof.limits[0].tree[0]")):
        assert fails_at(branch([LEAF], limits=[{**WEAKER, "yield": rat(most)}]), 0) == place


# -- cuts ------------------------------------------------------------------------------------------------


def cut(a: int, point: Sequence[int]) -> Document:
    return {"category": 0, "a": a, "point": [str(n) for n in point]}


def test_the_numbers_of_a_cut_are_rounded_so_that_it_says_less() -> None:
    """At a = 2, with one other record of input 1 and two of input 2: g = 1/3 and 2/3, and h = 2/3 of the risk 3/10.

    Where Q[1, 0] <= 1/2 and Q[2, 0] <= 1/2, the chord of odds is twice the cell, and Q[0, 0] >= 1/2. Of input 3 there
    are no records: its cells need no limit.
    """
    h = Fraction(2, 3)
    tree = [[1, 0, "1/2"], [2, 0, "1/2"], [0, 0, "1/2"], SPARE, leaf(s=[[0, 5, "0"]]), LEAF, LEAF]
    made = branch(tree, WORTH, counts=[1, 1, 2, 0], xi="3/10", cuts=[cut(2, [1, 1, 1, 1])])
    assert_least(made, 4 + 5 * (up(THIRD, ONE) + up(2 * THIRD, ONE) - down(h, ONE) / 2), 4)


@pytest.mark.parametrize("point", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_the_chord_of_a_cut_is_rounded_up(point: list[int]) -> None:
    """At a = 1 the point does not matter: g = 1. Here Q[1, 0] is between 1/3 and 4/5, and Q[0, 0] may be 0."""
    lo, hi = down(THIRD, ONE), up(Fraction(4, 5), ONE)
    chord = 1 / ((1 - lo) * (1 - hi))
    tree = [[1, 0, "4/5"], [1, 0, "1/3"], SPARE, leaf(s=[[0, 5, "0"]]), LEAF]
    made = branch(tree, WORTH, cuts=[cut(1, point)])
    assert_least(made, 4 + hi * up(5 * chord, FINE) - down(5 * lo * hi * chord, FINE), 3)


@pytest.mark.parametrize(("x", "z"), [(1, 2), (2, 1)])
def test_a_cut_counts_only_where_each_cell_of_it_is_below_one(x: int, z: int) -> None:
    """The cells [x, 0] and [z, 0], of which the second may be 1 on the first path."""
    own = leaf(s=[[0, 1, "0"]])
    made = branch([[x, 0, "1/2"], own, LEAF], counts=[1, 1, 1, 0], cuts=[cut(1, [1] * K)])
    assert fails_at(made, 100) == "proof.tree[1]"
    both = [[x, 0, "1/2"], [z, 0, "1/2"], own, LEAF, LEAF]
    assert fails_at(put(made, "proof", "tree", value=both), 100) == ""
