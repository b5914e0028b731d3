"""Trees of corners where a leaf has nothing to spare: what is met to the last unit of a price, and missed by one less.

The mechanism says nothing and the bound is far away, so that only the leaf is at stake. At the ratio R and with
1 + l = 1 + log t, a leaf t of information is t - (1 + l) + S - sum of the prices, S the sum of the c_x - q_x (1 + l)
that are above 0; of chi-square it is A - T + S - sum of the prices, A = 2 R (1 - 1/t) and T = R (1 - 1/t^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, rat
from shells import checked, member, table

from rropt.checker import ONE, log_bounds

UNIT = Fraction(1, ONE)
"""What prices are rounded to."""


def corners(kind: str, gamma: int, weights: Sequence[int], prices: Sequence[Fraction], tree: list[Any]) -> Document:
    made = member(
        table([[1]] * len(weights)),
        outputs=None,
        weights=[str(n) for n in weights],
        utility={"kind": kind},
        cone={"kind": "complete", "gamma": str(gamma)},
    )
    proof = {"kind": "column-dual", "prices": [rat(a) for a in prices], "tree": tree}
    return {**made, "bound": "1000", "proof": proof}


def leaf_holds(made: Document, i: int) -> bool:
    """Whether element i does, all those before it being fine."""
    verdict = checked(made)
    place, _, what = verdict.reason.partition(": ")
    assert verdict.proved or what.startswith("the inequality of this leaf"), verdict.reason
    failed = len(made["proof"]["tree"]) if verdict.proved else int(place.removeprefix("proof.tree[")[:-1])
    assert failed >= i
    return failed != i


@pytest.mark.parametrize(
    ("a_0", "a_1", "s"),
    [
        (Fraction(-1), Fraction(0), Fraction(3)),
        (-UNIT / 3, Fraction(0), UNIT),  # an input of all the weight that adds one unit
        (Fraction(0), -UNIT / 3, UNIT),  # an input without a weight that adds one unit
        (Fraction(0), Fraction(0), Fraction(0)),
    ],
)
def test_every_input_counts_that_has_something_to_add(a_0: Fraction, a_1: Fraction, s: Fraction) -> None:
    """Chi-square at R = 4 and t = 2: A - T = 1, and 3 (3 - a_0) - 3 T = -3 a_0 and -3 a_1 are added where above 0."""
    for step, enough in ((0, True), (-1, False)):
        prices = [a_0, a_1, 1 + s - a_0 - a_1 + step * UNIT]
        assert leaf_holds(corners("chi_square", 4, [1, 0, 0], prices, ["2"]), 0) == enough


def test_an_input_without_a_weight_and_with_a_price_counts_nowhere() -> None:
    """Chi-square at R = 4 and t = 1, so that A = T = 0: 3 (3 - a_0) is added, and -3 a_1 is not."""
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(2), 1 + step * UNIT]
        assert leaf_holds(corners("chi_square", 4, [1, 0], prices, ["1"]), 0) == enough


def test_the_logarithm_of_the_ratio_is_rounded_up_and_that_of_one_is_0() -> None:
    """Information at R = 3 and t = 1: 3 log 3 - 2 is added."""
    least = 3 * log_bounds(3, 1)[1] - 2 * ONE
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(0), (least + step) * UNIT]
        assert leaf_holds(corners("mutual_information", 3, [1, 0], prices, ["1"]), 0) == enough


def test_a_tangent_is_rounded_up_where_the_count_is_limited() -> None:
    """Information at t = 4/3, with no input at R: 4/3 - (1 + log(4/3)). With inputs at R the leaf does not hold."""
    least = -(-4 * ONE // 3) - ONE - log_bounds(4, 3)[0]
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(0), (least + step) * UNIT]
        made = corners("mutual_information", 2, [1, 1], prices, [[0], "4/3", "4/3"])
        assert leaf_holds(made, 1) == enough
        assert not leaf_holds({**made, "proof": {**made["proof"], "tree": ["4/3"]}}, 0)


def test_the_upper_limit_on_the_weight_is_rounded_up() -> None:
    """Chi-square at R = 2 and t = 1, with the slope 3 and a third of the weight: 3/3; no input adds anything."""
    least = 3 * -(-ONE // 3)
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(1, 2), (least + step) * UNIT - Fraction(1, 2)]
        assert leaf_holds(corners("chi_square", 2, [1, 2], prices, [["1"], ["1", "3"], "1"]), 1) == enough


def test_the_lower_limit_on_the_weight_is_rounded_down() -> None:
    """Chi-square at R = 2 and t = 4, with the slope 0, a third of the weight and no input at R: 9/8 - 15/8 / 3."""
    least = -((15 * (ONE // 3) - 9 * ONE) // 8)
    for step, enough in ((0, True), (-1, False)):
        prices = [Fraction(0), (least + step) * UNIT]
        assert leaf_holds(corners("chi_square", 2, [1, 2], prices, [[0], ["0"], "1", ["4", "0"], "1"]), 3) == enough
