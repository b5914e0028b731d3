"""Trees of inverse_trace to the last unit: leaves that just hold or just fail, and what is rounded, which goes up."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import encode, rat
from test_checker_designs import Case, Quadratic, Vector, leaves_of_tree, responses

from rropt.checker import check_bytes

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
Tree = list[Any]


def said(tree: Tree, weights: Sequence[int], prices: Vector, forms: list[Vector], gamma: Fraction) -> str:
    """Why a tree is refused, "" where it is not; the bound is below what the prices yield."""
    case = Case({"kind": "complete", "gamma": rat(gamma)}, weights, responses(len(weights), 2))
    case.c = [[Fraction(0)] * case.k for _ in forms]  # what is claimed does not matter
    case.queries = [[0] * case.k for _ in forms]
    made = case.document({"tree": tree}, prices, forms)
    made["bound"] = rat(-1 - abs(sum(prices)))
    reason = check_bytes(encode(made)).reason
    assert reason == "" or reason.startswith("proof.tree["), reason
    return reason


def fails(at: int) -> str:
    return f"proof.tree[{at}]: the inequality of this leaf fails"


def by_the_text(tree: Tree, quadratic: Quadratic) -> str:
    """The first leaf that fails, in rational numbers."""
    places = [i for i, item in enumerate(tree) if isinstance(item, str)]
    for place, leaf in zip(places, leaves_of_tree(tree, quadratic.k), strict=True):
        height = quadratic.height(*leaf)
        if height is not None and height > 0:
            return fails(place)
    return ""


PLAIN = ["1/4"]
TREES: dict[str, Tree] = {
    "one leaf": PLAIN,
    "a negative e": ["-3/2"],
    "a large e": ["5"],
    "none": ["0"],
    "branches": [1, 0, "1/4", "0", 3, "-1", [2], "1/2", "1/4"],
    "numbers": [[1], "1/4", [2], "-1/2", [3], "0", "1"],
    "empty ranges": [[0], 2, "0", "1/4", [1], [1], 0, "1/4", "0", "7", [2], 3, "0", "1", "1/4"],
    "numbers and branches": [2, [1], "1/4", 0, "0", [3], "1/4", "3", [2], [0], "1/4", 1, "0", "1/2", "-1/4"],
}
WEIGHTS = [1, 1, 4, 2]
FORMS = [[Fraction(1), HALF, Fraction(-1), Fraction(0)], [HALF, HALF, HALF, Fraction(-3, 2)]]


@pytest.mark.parametrize("name", TREES)
def test_leaves_that_just_hold(name: str) -> None:
    """Dyadic numbers, of which nothing is rounded. All prices are moved to where the tree just holds."""
    rng, two = random.Random(name), Fraction(2)
    for _ in range(3):
        own = [Fraction(rng.randint(-8, 16), 8) for _ in WEIGHTS]
        low, high = Fraction(-64), Fraction(256)

        def moved(shift: Fraction, own: Vector = own) -> Vector:
            return [a + shift for a in own]

        while high - low > Fraction(1, 2**70):
            middle = (low + high) / 2
            holds = by_the_text(TREES[name], Quadratic(case_of(WEIGHTS), two, moved(middle), FORMS)) == ""
            low, high = (low, middle) if holds else (middle, high)
        for shift in (high, low, high - 1, low - Fraction(rng.randint(1, 9))):
            expected = by_the_text(TREES[name], Quadratic(case_of(WEIGHTS), two, moved(shift), FORMS))
            assert said(TREES[name], WEIGHTS, moved(shift), FORMS, two) == expected
            assert shift > low or expected


def case_of(weights: Sequence[int]) -> Case:
    return Case({"kind": "complete", "gamma": "2"}, weights, responses(len(weights), 2))


def at_most_none(sum_of_prices: Fraction, forms: list[Vector], weights: Sequence[int] = (1, 1, 1, 1)) -> bool:
    """Whether the leaf of no input at gh holds, with prices of this sum: N_0 = sum_j (sum W_j)^2 - sum a."""
    k = len(weights)
    prices = [sum_of_prices / k * n for n in [*[1] * (k - 2), 2, 0]]
    reason = said([[0], "0", "0"], weights, prices, forms, Fraction(2))
    assert reason in ("", fails(1), fails(2))
    return reason != fails(1)


def test_what_is_equal_holds() -> None:
    square = Fraction(4)
    assert at_most_none(square, [[HALF] * 4])
    assert at_most_none(Fraction(0), [[Fraction(0)] * 4])
    assert not at_most_none(square - Fraction(1, 2**300), [[HALF] * 4])


FACTORS = [(4, 1), (1, 4), (2, 2), (1, 1)]


@pytest.mark.parametrize("signs", list(itertools.product((1, -1), repeat=2)))
@pytest.mark.parametrize("factors", FACTORS)
def test_products_of_forms_are_rounded_up(signs: tuple[int, int], factors: tuple[int, int]) -> None:
    """One entry is a third, the other one an integer or a third: N_0 is 0 exactly, and a unit above it as rounded."""
    for scales in ((Fraction(1), THIRD), (THIRD, Fraction(1)), (THIRD, THIRD)):
        w = [s * f * scale for s, f, scale in zip(signs, factors, scales, strict=True)]
        if sum(w) == 0:
            continue
        for form in ([*w, Fraction(0), Fraction(0)], [Fraction(0), Fraction(0), *w]):
            assert not at_most_none(sum(form) ** 2, [form])
            assert at_most_none(sum(form) ** 2 + Fraction(1, 2**140), [form])


def test_prices_are_rounded_down() -> None:
    """The sum of the squares is 1; of the prices no one is a dyadic number, but their sum is."""
    forms = [[HALF, HALF, Fraction(0), Fraction(0)]]
    for third in (THIRD, -THIRD):
        tree = [[0], "0", "0"]
        prices = [third, third, third, 1 - 3 * third]
        assert said(tree, [1] * 4, prices, forms, Fraction(2)) == fails(1)
        finer = [a + Fraction(1, 2**340) for a in prices]
        assert said(tree, [1] * 4, finer, forms, Fraction(2)) == fails(1)
        more = [a + Fraction(1, 2**250) for a in prices]
        assert said(tree, [1] * 4, more, forms, Fraction(2)) != fails(1)


@pytest.mark.parametrize(("bits", "is_exact"), [(320, True), (321, False)])
def test_the_unit_of_forms_that_are_zero(bits: int, is_exact: bool) -> None:
    prices = [Fraction(1, 2**bits), -Fraction(1, 2**bits), Fraction(0), Fraction(0)]
    reason = said([[0], "0", "0"], [1] * 4, prices, [[Fraction(0)] * 4], Fraction(2))
    assert (reason == fails(1)) == (not is_exact)


def test_what_a_ratio_divides_is_rounded_up() -> None:
    """N = 0 at v = (1, 1), and so at (gh, gh), where three numbers with denominator 9 are added to it: with any of them
    rounded up the sum is above 0."""
    tree, gamma, seen = [0, 1, "0", "0", "0"], Fraction(7, 3), set()
    for numerator in range(20):
        a = Fraction(numerator, 2**320)  # some units of 2^-2F
        form = [Fraction(1), -HALF]
        prices = [a, Fraction(1, 4) - a]
        quadratic = Quadratic(case_of([3, 1]), gamma, prices, [form])
        numbers = [*quadratic.d, quadratic.e[0][1]]
        assert quadratic.n_0 == quadratic.n_0 + sum(numbers) == 0
        fractions = [2 * number * 4 * 2**320 % 1 for number in numbers]
        assert said(tree, [3, 1], prices, [form], gamma) == fails(2)
        seen.add(sum(fractions))
    assert seen == {1, 2}


def test_one_input_at_gh_that_is_equal_holds() -> None:
    """T is 0, and e is above every e_xy: nothing is taken off or added."""
    assert said([[1], "5", "0"], [1, 1], [Fraction(2)] * 2, [[Fraction(1)] * 2], Fraction(2)) == ""


def test_the_largest_entry_makes_the_unit() -> None:
    form = [Fraction(2**20), Fraction(1, 3 * 2**30), Fraction(0), Fraction(0)]
    assert at_most_none(sum(form) ** 2 + Fraction(1, 2**100), [form])
    assert not at_most_none(sum(form) ** 2 + Fraction(1, 2**140), [form])


def test_forms_of_any_size_keep_their_digits() -> None:
    """The unit goes with the largest entry of the forms: what is lost is relative to its square."""
    for power in (30, -30, 200, -200):
        scale = Fraction(2) ** power
        form = [[THIRD * scale, scale, Fraction(0), -THIRD * scale / 2]]
        square = sum(form[0]) ** 2
        assert not at_most_none(square, form)
        assert at_most_none(square + scale**2 / 2**140, form)
        assert not at_most_none(square - scale**2 / 2**140, form)
