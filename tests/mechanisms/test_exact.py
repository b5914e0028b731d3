"""Numbers to trust: what declared numbers mean, directed roundings, enclosures."""

from __future__ import annotations

import gc
import math
import numbers
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings, strategies as st

from rropt.errors import InputError, WrongType
from rropt.exact import (
    Interval,
    cleared,
    coefficient,
    declared_text,
    dyadic_down,
    dyadic_up,
    enclosure,
    exp_enclosure,
    float_down,
    float_up,
    log_enclosure,
    of_each,
    over_one,
    rational,
    rational_table,
    rational_text,
    rounded,
    shown,
    weighted_sum,
    xlogx_ball,
)
from rropt.model.privacy import LARGEST_EPSILON, Level

F = Fraction
RATIONALS = st.fractions(max_denominator=10**12)
POSITIVE = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9)


@pytest.mark.parametrize(
    ("number", "meaning"),
    [
        (0.1, F(1, 10)),
        (1e-12, F(1, 10**12)),
        (5e-324, F(5, 10**324)),
        (1.7976931348623157e308, F(17976931348623157 * 10**292)),
        (-0.0, F(0)),
        (3, F(3)),
        (10**400, F(10**400)),
        (Decimal("0.30"), F(3, 10)),
        (F(2, 6), F(1, 3)),
        ("0.1", F(1, 10)),
        ("1e-3", F(1, 1000)),
        ("-2/6", F(-1, 3)),
        (" 1/4 ", F(1, 4)),
        (np.float64(0.1), F(1, 10)),
        (np.float32(0.1), F(1, 10)),
        (np.int64(7), F(7)),
        (np.uint8(255), F(255)),
    ],
)
def test_what_a_declared_number_means(number: object, meaning: Fraction) -> None:
    assert rational(number) == meaning


@pytest.mark.parametrize(
    "number",
    [
        True,
        np.True_,
        None,
        math.nan,
        math.inf,
        -math.inf,
        np.float64("nan"),
        np.float32("inf"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        "nan",
        "inf",
        "",
        "one",
        "1/0",
        "1/2/3",
        "0x10",
        "1" * 4001,
        "1e4001",
        "1e-999999999",
        b"1",
        1j,
        [1],
        np.array([1.0, 2.0]),
        {"a": 1},
        object(),
    ],
)
def test_what_is_no_number_is_refused_in_one_line(number: object) -> None:
    with pytest.raises(InputError) as info:
        rational(number, "the place")
    assert str(info.value).startswith("the place: ")
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("number", [Decimal("1e5000"), Decimal("-1e-5000"), Decimal("1e1000000")])
def test_a_decimal_far_out_of_range_is_refused_before_it_is_expanded(number: Decimal) -> None:
    """As in text: numbers of a TOML file arrive as Decimal, and 1e999999999 must not eat the memory."""
    with pytest.raises(InputError, match="range"):
        rational(number)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_more_than_4000_digits_is_refused(sign: int) -> None:
    with pytest.raises(InputError, match="at most 4,000 digits"):
        rational(sign * 10**4100)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=100, derandomize=True)
def test_a_float_means_its_shortest_decimal(number: float) -> None:
    meaning = rational(number)
    assert meaning == Fraction(repr(number))
    assert meaning.numerator / meaning.denominator == number


@given(RATIONALS)
@settings(max_examples=100, derandomize=True)
def test_texts_read_back(value: Fraction) -> None:
    assert rational(rational_text(value)) == value
    assert rational(declared_text(value)) == value
    assert ("/" in declared_text(value)) == (10**40 % value.denominator != 0)


@given(RATIONALS)
@settings(max_examples=100, derandomize=True)
def test_directed_floats_are_the_closest_on_their_side(value: Fraction) -> None:
    down, up = float_down(value), float_up(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert Fraction(math.nextafter(down, math.inf)) > value
    assert Fraction(math.nextafter(up, -math.inf)) < value
    assert (down == up) == (Fraction(float(value)) == value)


@given(RATIONALS, st.integers(0, 200))
@settings(max_examples=100, derandomize=True)
def test_dyadic_roundings(value: Fraction, bits: int) -> None:
    step = Fraction(1, 1 << bits)
    down, up = dyadic_down(value, bits), dyadic_up(value, bits)
    assert down <= value <= up
    assert value - down < step
    assert up - value < step
    assert (down / step).denominator == (up / step).denominator == 1


@given(st.fractions(min_value=-50, max_value=50, max_denominator=10**6))
@settings(max_examples=70, derandomize=True)
def test_exp_is_enclosed_narrowly(value: Fraction) -> None:
    found = exp_enclosure(value)
    with ctx.workprec(400):
        truth = (arb(value.numerator) / value.denominator).exp()
        low, high = (arb(end.numerator) / end.denominator for end in (found.lower, found.upper))
        assert not low > truth
        assert not high < truth
    assert found.upper - found.lower <= found.upper / 2**240


@given(POSITIVE)
@settings(max_examples=70, derandomize=True)
def test_log_undoes_exp(value: Fraction) -> None:
    found = log_enclosure(value)
    assert exp_enclosure(found.lower).lower <= value <= exp_enclosure(found.upper).upper
    assert found.upper - found.lower <= F(1, 2**240)


def test_exact_points_of_the_enclosures() -> None:
    assert exp_enclosure(F(0)) == Interval.point(F(1))
    assert log_enclosure(F(1)) == Interval.point(F(0))
    assert xlogx_ball(0, 5) == 0
    assert enclosure(lambda: xlogx_ball(7, 7)) == Interval.point(F(0))


def test_an_argument_outside_the_domain_is_an_error() -> None:
    for value in (F(0), F(-1)):
        with pytest.raises(ArithmeticError, match="domain"):
            log_enclosure(value)


def test_intervals() -> None:
    interval = Interval(F(1, 3), F(1, 2))
    assert F(2, 5) in interval
    assert F(1, 2) in interval
    assert F(3, 5) not in interval
    assert -interval == Interval(F(-1, 2), F(-1, 3))
    assert repr(interval) == "Interval(0.3333333333333333, 0.5)"
    with pytest.raises(ValueError, match="above"):
        Interval(F(1), F(0))


@given(RATIONALS, st.integers(1, 120))
@settings(max_examples=100, derandomize=True)
def test_widening_moves_both_ends_outwards(value: Fraction, bits: int) -> None:
    wide = Interval.point(value).widened(bits)
    step = F(1, 1 << bits)
    assert step <= value - wide.lower <= 2 * step
    assert step <= wide.upper - value <= 2 * step
    assert (1 << (bits + 2)) % wide.lower.denominator == 0


@given(st.lists(st.fractions(min_value=0, max_value=1000, max_denominator=1000), min_size=1, max_size=6).filter(any))
@settings(max_examples=100, derandomize=True)
def test_cleared_keeps_proportions_in_smallest_integers(values: list[Fraction]) -> None:
    integers = cleared(values)
    assert math.gcd(*integers) == 1
    assert [F(n, sum(integers)) for n in integers] == [v / sum(values) for v in values]


# -- levels ----------------------------------------------------------------------------------------------


def test_a_level_encloses_its_ratio_and_its_epsilon() -> None:
    level = Level(epsilon=F(1))
    assert float_down(level.ratio.lower) <= math.e <= float_up(level.ratio.upper)
    assert level.log_ratio == Interval.point(F(1))
    three = Level(gamma=F(3))
    assert three.ratio == Interval.point(F(3))
    assert abs(float(three.log_ratio) - math.log(3)) < 1e-15
    assert (str(level), str(Level(epsilon=F(1, 10))), str(three), str(Level(gamma=F(7, 3)))) == (
        "epsilon 1",
        "epsilon 0.1",
        "gamma 3",
        "gamma 7/3",
    )


def test_levels_are_ordered_across_the_two_ways_to_declare_them() -> None:
    assert Level(epsilon=F(1)) < Level(gamma=F(3)) < Level(epsilon=F(11, 10)) < Level(epsilon=F(20))
    assert not Level(gamma=F(3)) < Level(epsilon=F(1))
    assert not Level(epsilon=F(1)) < Level(epsilon=F(1))


@pytest.mark.parametrize(
    ("epsilon", "gamma", "what"),
    [
        (None, None, "neither epsilon nor gamma"),
        (F(1), F(3), "both given"),
        (F(0), None, "not above 0"),
        (F(-1), None, "below 0"),
        (F(LARGEST_EPSILON) + F(1, 10**9), None, "above 20"),
        (None, F(1), "not above 1"),
        (None, F(1, 2), "below 1"),
        (None, F(485165196), "exp"),
    ],
)
def test_levels_out_of_range(epsilon: Fraction | None, gamma: Fraction | None, what: str) -> None:
    with pytest.raises(InputError, match=what):
        Level(epsilon, gamma=gamma)


def test_the_largest_levels_are_taken() -> None:
    assert Level(epsilon=F(LARGEST_EPSILON)).ratio.lower > 485165195
    assert Level(gamma=F(485165195)).log_ratio.upper < 20


def test_zero_is_shown_as_zero() -> None:
    """Not as -0: the epsilon of a mechanism that says nothing is printed."""
    for directed in (float_down, float_up):
        assert math.copysign(1.0, directed(F(0))) == 1.0


def test_a_rational_of_another_library_means_itself() -> None:
    class Ratio:
        numerator, denominator = 6, 8

    numbers.Rational.register(Ratio)
    assert rational(Ratio()) == F(3, 4)


@pytest.mark.parametrize("text", ["0._5", "1_0", "1_0/3", "\uff11", "\u0661/2", "0.5_", "1/2/3", "0x1", ""])
def test_a_text_that_only_python_reads_is_not_a_number(text: str) -> None:
    """The same on every version of Python, and as `float` reads it, which comes next for a matrix."""
    with pytest.raises(WrongType):
        rational(text)


@pytest.mark.parametrize("number", [0, "1e-100", -(10**100), F(1, 3), 2.5])
def test_a_coefficient_that_a_solver_can_take(number: object) -> None:
    assert coefficient(number, "here") == rational(number)


@pytest.mark.parametrize("number", ["0.99e-100", "-0.99e-100", 10**100 + 1, -(10**100) - 1, 1e101])
def test_a_coefficient_beyond_a_solver(number: object) -> None:
    with pytest.raises(InputError, match=r"here.*too large or too small for a solver"):
        coefficient(number, "here")


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (F(1, 3), 3, "0.333", "0.334"),
        (F(-1, 3), 3, "-0.334", "-0.333"),
        (F(2, 3) * 10**16, 2, "6.6e+15", "6.7e+15"),
        (F(1, 3 * 10**8), 2, "3.3e-9", "3.4e-9"),
        (F(10**14), 2, "100000000000000", "100000000000000"),
        (F(1, 10**6), 2, "0.000001", "0.000001"),
        (F(1, 10**7), 2, "1e-7", "1e-7"),
        (0.5, 3, "0.5", "0.5"),
        (0, 3, "0", "0"),
        (math.inf, 3, "infinite", "infinite"),
        (-math.inf, 3, "-infinite", "-infinite"),
    ],
)
def test_what_a_table_shows_stays_true(value: Fraction | float, digits: int, down: str, up: str) -> None:
    assert shown(value, digits, up=False) == down
    assert shown(value, digits, up=True) == up


def test_a_float_is_its_own_directed_rounding() -> None:
    for value in (0.1, -0.1, 0.0, math.inf, -math.inf):
        assert float_down(value) == value == float_up(value)


def test_a_function_is_asked_once_for_each_object() -> None:
    half, other, third = F(1, 2), F(1, 2), F(1, 3)
    asked: list[F] = []

    def doubled(value: F) -> F:
        asked.append(value)
        return 2 * value

    found = of_each(doubled, [half, third, half, other])
    assert found == {id(half): 1, id(third): F(2, 3), id(other): 1}
    assert len(asked) == 3


def test_a_weighted_sum_of_entries_is_the_sum_of_the_fractions() -> None:
    columns, denominators = [[1, 2, 0], [3, 1, 5]], [4, 3, 4]
    terms = [(0, 0, F(1, 2)), (0, 1, F(-2, 3)), (1, 1, F(5)), (2, 1, F(1, 7)), (2, 0, F(9))]
    plain = sum((value * F(columns[y][x], denominators[x]) for x, y, value in terms), F(0))
    assert weighted_sum(terms, columns, denominators) == plain != 0
    assert weighted_sum([], columns, denominators) == 0


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1),
    st.integers(-(10**30), 10**30),
    st.fractions(),
    st.sampled_from(["0.1", "1/3", "1e-5", "-7/4", "+1/2"]),
)


@given(st.one_of(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.lists(NUMBERS, min_size=1)))
@settings(max_examples=100)
def test_a_row_of_integers_is_the_numbers_that_were_given(values: list) -> None:
    found, scale = over_one(values, str)
    assert [F(number, scale) for number in found] == [rational(value) for value in values]


def test_a_row_that_has_what_is_no_number_says_where() -> None:
    with pytest.raises(InputError, match="entry 1"):
        over_one([1.0, math.inf], lambda at: f"entry {at}")
    assert over_one([0.0, -0.0], str)[0] == [0, 0]


def test_a_table_is_read_entry_by_entry_and_equal_numbers_once() -> None:
    asked = []

    def read(entry: object, where: str) -> F:
        asked.append((entry, where))
        return rational(entry, where)

    table = [[0.5, 1, "1/3"], [1, 0.5, F(2, 7)], [1.0, "1/3", 2]]
    found = rational_table(table, "t", read)
    assert found == tuple(tuple(rational(entry) for entry in row) for row in table)
    assert [entry for entry, _ in asked] == [0.5, 1, "1/3", F(2, 7), 1.0, 2]
    with pytest.raises(InputError, match=r"t\[1\]\[0\]"):
        rational_table([[1, 2], ["x", 1]], "t", read)


@pytest.mark.parametrize("collected", [True, False])
def test_reading_a_table_leaves_the_collection_of_garbage_as_it_was(collected: bool) -> None:
    before = gc.isenabled()
    (gc.enable if collected else gc.disable)()
    try:
        rational_table([[1, 2]], "t", rational)
        after = [gc.isenabled()]
        with pytest.raises(InputError):
            rational_table([["x"]], "t", rational)
        after.append(gc.isenabled())
    finally:
        (gc.enable if before else gc.disable)()
    assert after == [collected, collected]


@given(st.fractions().filter(bool), st.integers(-2000, 2000), st.integers(1, 12))
@settings(max_examples=200)
def test_numbers_of_any_size_have_a_float_below_and_digits(number: F, power: int, digits: int) -> None:
    value = number * F(2) ** power
    below = float_down(value)
    assert below == -math.inf or F(below) <= value
    assert below == sys.float_info.max or value < F(math.nextafter(below, math.inf))
    text = rounded(value, digits)
    if abs(value) > F(1, 2**1000):  # below that floats have fewer digits
        assert abs(F(text) - value) * 10**digits <= 6 * abs(value)


def test_rounded_numbers_beyond_floats() -> None:
    assert [rounded(n * F(10) ** 400, 3) for n in (1, -2, F(2, 3))] == ["1.00e+400", "-2.00e+400", "6.67e+399"]
    assert rounded(math.inf) == "inf"


def test_an_interval_in_another_unit() -> None:
    assert Interval(F(1), F(3)).over(F(2)) == Interval(F(1, 2), F(3, 2))
