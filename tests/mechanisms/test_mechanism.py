"""Mechanism: exact integers, what they give away, where they come from and go to."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from drawing import exact, information_ball, random_prior, random_rows, two_valued_rows
from flint import arb, ctx, fmpq
from hypothesis import given, settings, strategies as st

from rropt.declare.constraints import LDP
from rropt.errors import InputError
from rropt.exact import Interval
from rropt.mechanisms.columns import DenseColumn, TwoValuedColumn
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import GRID, Mechanism, grid_row
from rropt.model.prior import Prior

F = Fraction
AB = ("a", "b")

# -- making one --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "denominator"),
    [
        ([[F(3, 4), F(1, 4)], [F(1, 3), F(2, 3)]], None),
        ([["3/4", "1/4"], ["1/3", "2/3"]], None),
        ([["0.75", "0.25"], ["1/3", "2/3"]], None),
        ([[9, 3], [4, 8]], 12),
        (np.array([[9, 3], [4, 8]]), 12),
        (((F(3, 4), "1/4"), ("1/3", F(2, 3))), None),
        (np.array([[F(3, 4), F(1, 4)], [F(1, 3), F(2, 3)]], dtype=object), None),
    ],
)
def test_exact_matrices_are_kept_exactly(matrix: object, denominator: int | None) -> None:
    mechanism = Mechanism.from_matrix(matrix, inputs=AB, outputs=("y", "n"), denominator=denominator)
    assert [mechanism.column(y) for y in (0, 1)] == [(F(3, 4), F(1, 3)), (F(1, 4), F(2, 3))]
    assert mechanism.entry(1, 0) == F(1, 3)
    assert mechanism.denominators == (12,)
    assert (mechanism.inputs, mechanism.outputs, mechanism.shape) == (AB, ("y", "n"), (2, 2))


def test_decimals_are_exact_numbers_too() -> None:
    mechanism = Mechanism.from_matrix([[Decimal("0.1"), Decimal("0.9")], [Decimal("0.7"), Decimal("0.3")]])
    assert mechanism.entry(0, 0) == F(1, 10)


def test_integers_that_are_probabilities_need_no_denominator() -> None:
    assert Mechanism.from_matrix([[1, 0], [0, 1]]).denominators == (GRID,)


def test_floats_are_rounded_to_the_grid_and_zeros_stay() -> None:
    mechanism = Mechanism.from_matrix(np.array([[0.1, 0.9, 0.0], [0.3, 0.3, 0.4]]))
    assert mechanism.denominators == (GRID,)
    assert mechanism.entry(0, 2) == 0
    for x, row in enumerate([[F(1, 10), F(9, 10), F(0)], [F(3, 10), F(3, 10), F(4, 10)]]):
        assert sum(mechanism.entry(x, y) for y in range(3)) == 1
        assert all(abs(mechanism.entry(x, y) - value) < F(1, GRID) for y, value in enumerate(row))
    np.testing.assert_allclose(mechanism.matrix, [[0.1, 0.9, 0.0], [0.3, 0.3, 0.4]], atol=2**-53)


def test_float32_means_its_own_shortest_decimals() -> None:
    """As for a prior: float32(0.1) is 0.1, and ten of them are a row."""
    mechanism = Mechanism.from_matrix(np.full((2, 10), 0.1, dtype=np.float32))
    assert abs(mechanism.entry(0, 0) - F(1, 10)) < F(1, GRID)


def test_row_sums_within_the_tolerance_are_divided_out() -> None:
    mechanism = Mechanism.from_matrix([[0.5, 0.5000000005], [0.5, 0.5]])
    assert abs(mechanism.entry(0, 0) - F(1, 2) / (1 + F(5, 10**10))) < F(1, GRID)
    kept = Mechanism.from_matrix([["0.5", "0.5000000005"], ["0.5", "0.5"]])
    assert kept.entry(0, 0) == F(1, 2) / (1 + F(5, 10**10))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 6))
@settings(max_examples=60, derandomize=True)
def test_random_rationals_survive(seed: int, k: int, m: int) -> None:
    rows = random_rows(random.Random(seed), k, m, zeros=0.3)
    mechanism = Mechanism.from_matrix(rows)
    assert [[mechanism.entry(x, y) for y in range(m)] for x in range(k)] == rows
    sums = [sum(column[x] for column in mechanism.numerators) for x in range(k)]
    assert tuple(sums) == mechanism.row_denominators


@given(st.lists(st.fractions(0, 1, max_denominator=10**20), min_size=1, max_size=9).filter(any), st.integers(1, 2**53))
@settings(max_examples=60, derandomize=True)
def test_largest_remainder(numbers: list[Fraction], grid: int) -> None:
    row = [number / sum(numbers) for number in numbers]
    found = grid_row(row, grid)
    assert sum(found) == 1
    assert all(grid % entry.denominator == 0 and entry >= 0 for entry in found)
    assert all(abs(a - b) < F(1, grid) for a, b in zip(row, found, strict=True))
    assert all(b == 0 for a, b in zip(row, found, strict=True) if a == 0)


@pytest.mark.parametrize("denominators", [(3, 7), (GRID, 10), (10**40, 3)])
def test_one_denominator_a_row(denominators: tuple[int, int]) -> None:
    columns = tuple(DenseColumn(tuple(1 if y else n - 1 for n in denominators)) for y in (0, 1))
    mechanism = Mechanism(AB, ("y", "n"), columns, denominators)
    assert mechanism.column(1) == tuple(F(1, n) for n in denominators)
    assert mechanism.row_denominators == denominators
    low, high = sorted(denominators)
    assert mechanism.privacy_ratio == max(
        F(high, low), F(low - 1, low) / F(high - 1, high), F(high - 1, high) / F(low - 1, low)
    )


def test_from_rationals_finds_one_denominator_a_row_where_a_common_one_would_be_huge() -> None:
    big, other = 10**30 + 57, 10**30 + 33
    mechanism = Mechanism.from_matrix([[F(1, big), F(big - 1, big)], [F(1, other), F(other - 1, other)]])
    assert mechanism.denominators == (big, other)


def test_two_valued_columns_are_the_dense_ones() -> None:
    k = 9
    low, high = 2, 6
    two = tuple(TwoValuedColumn(low, high, 1 << x) for x in range(k))
    mechanism = Mechanism(tuple(map(str, range(k))), tuple(map(str, range(k))), two, (high + (k - 1) * low,))
    dense = exact(two_valued_rows(k, F(3)), mechanism.inputs, mechanism.outputs)
    np.testing.assert_array_equal(mechanism.matrix, dense.matrix)
    assert mechanism.privacy_ratio == 3
    assert TwoValuedColumn(1, 2, 0b101).entries(4) == (2, 1, 2, 1)
    assert TwoValuedColumn(1, 2, 0).entries(3) == (1, 1, 1)
    assert TwoValuedColumn(1, 2, 0b101).payload(5) == {"low": "1", "high": "2", "members": "05"}


def test_column_stochastic_in_and_out() -> None:
    wide = [[0.5, 0.25, 1.0], [0.5, 0.75, 0.0]]
    mechanism = Mechanism.from_column_stochastic(wide, inputs=("a", "b", "c"), outputs=("y", "n"))
    np.testing.assert_array_equal(mechanism.to_column_stochastic(), wide)
    np.testing.assert_array_equal(mechanism.matrix, np.array(wide).T)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.to_column_stochastic()[0, 0] = 1.0


# -- the wrong ones ------------------------------------------------

BAD: list[tuple[str, Callable[[], object], str]] = [
    (
        "column-stochastic",
        lambda: Mechanism.from_matrix([[0.5, 0.1], [0.5, 0.9]]),
        r"row 0 sums to 0.6.*axis 0.*column-stochastic; use Mechanism.from_column_stochastic",
    ),
    ("neither", lambda: Mechanism.from_matrix([[0.5, 0.1], [0.5, 0.8]]), "row 0 sums to 0.6.*axis 0.*axis 1"),
    ("beyond the tolerance", lambda: Mechanism.from_matrix([[0.5, 0.500000002], [0.5, 0.5]]), "row 0 sums to"),
    ("integers", lambda: Mechanism.from_matrix([[3, 1], [1, 3]]), "row 0 sums to 4"),
    ("integers over a wrong one", lambda: Mechanism.from_matrix([[3, 1], [1, 3]], denominator=5), "0.8"),
    ("negative", lambda: Mechanism.from_matrix([[1.5, -0.5], [0.5, 0.5]]), "row 0 column 1 is negative"),
    ("nan", lambda: Mechanism.from_matrix([[math.nan, 1], [0.5, 0.5]]), "row 0 column 0.*finite"),
    ("infinite", lambda: Mechanism.from_matrix([[0.5, 0.5], [math.inf, 0.5]]), "row 1 column 0.*finite"),
    ("truth values", lambda: Mechanism.from_matrix([[True, False], [0, 1]]), "row 0 column 0.*truth"),
    ("truth values, numpy", lambda: Mechanism.from_matrix(np.eye(2, dtype=bool)), "row 0 column 0.*truth"),
    ("text", lambda: Mechanism.from_matrix([["x", "1"], ["0", "1"]]), "row 0 column 0.*not a number"),
    ("ragged", lambda: Mechanism.from_matrix([[1.0], [0.5, 0.5]]), "different lengths"),
    ("one axis", lambda: Mechanism.from_matrix([0.5, 0.5]), "not a list of rows"),
    ("one axis, numpy", lambda: Mechanism.from_matrix(np.ones(2)), "1 axis"),
    ("three axes", lambda: Mechanism.from_matrix(np.ones((2, 2, 1))), "3 axes"),
    ("empty", lambda: Mechanism.from_matrix([]), "not a list of rows"),
    ("empty rows", lambda: Mechanism.from_matrix([[], []]), "rows are empty"),
    ("one row", lambda: Mechanism.from_matrix([[1.0]]), "at least two inputs"),
    ("text for a matrix", lambda: Mechanism.from_matrix("ab"), "not a list of rows"),
    ("nothing", lambda: Mechanism.from_matrix(None), "not a list of rows"),
    ("too few labels", lambda: Mechanism.from_matrix([[1, 0], [0, 1]], inputs=["a"]), "inputs"),
    ("too many labels", lambda: Mechanism.from_matrix([[1, 0], [0, 1]], inputs=["a", "b", "c"]), "3 inputs|missing"),
    ("too few outputs", lambda: Mechanism.from_matrix([[1, 0], [0, 1]], inputs=None, outputs=["a"]), "outputs"),
    ("duplicate labels", lambda: Mechanism.from_matrix([[1, 0], [0, 1]], inputs=["a", "a"]), "'a'.*twice"),
    ("labels a number", lambda: Mechanism.from_matrix([[1, 0], [0, 1]], inputs=2), "inputs"),  # type: ignore[arg-type]
    ("denominator 0", lambda: Mechanism.from_matrix([[0, 0], [0, 0]], denominator=0), "denominator"),
    ("denominator true", lambda: Mechanism.from_matrix([[1, 0], [0, 1]], denominator=True), "denominator"),
    ("columns of a vector", lambda: Mechanism.from_column_stochastic([0.5, 0.5]), "not a list of rows"),
    ("columns, ragged", lambda: Mechanism.from_column_stochastic([[1], [0, 1]]), "different lengths"),
    ("a row short", lambda: Mechanism(AB, ("y",), (DenseColumn((3, 4)),), (4,)), "'a' sums to 0.75"),
    (
        "negative integer",
        lambda: Mechanism(AB, ("y", "n"), (DenseColumn((5, 4)), DenseColumn((-1, 0))), (4,)),
        "'n' has a negative",
    ),
    ("a column short", lambda: Mechanism(AB, ("y",), (DenseColumn((4,)),), (4,)), "'y'.*missing"),
    ("members too many", lambda: Mechanism(AB, ("y",), (TwoValuedColumn(4, 4, 0b100),), (4,)), "'y'"),
    ("denominators too many", lambda: Mechanism(AB, ("y",), (DenseColumn((4, 4)),), (4, 4, 4)), "denominators"),
    ("denominator negative", lambda: Mechanism(AB, ("y",), (DenseColumn((4, 4)),), (-4,)), "denominators"),
]


@pytest.mark.parametrize(("make", "what"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_mechanisms(make: Callable[[], object], what: str) -> None:
    with pytest.raises(InputError, match=what) as info:
        make()
    assert "\n" not in str(info.value)


def test_a_row_stochastic_matrix_given_as_column_stochastic_gets_the_right_remedy() -> None:
    """The remedy must be the other method, not the one that was just called."""
    with pytest.raises(InputError) as info:
        Mechanism.from_column_stochastic([[0.5, 0.5], [0.1, 0.9]])
    assert "row-stochastic" in str(info.value)
    assert "use Mechanism.from_column_stochastic" not in str(info.value)


# -- the numbers ------------------------------------------------


def test_the_matrix_at_2_53_equals_the_integers() -> None:
    rng = random.Random(53)
    for _ in range(20):
        table = [grid_row(row, GRID) for row in random_rows(rng, 4, 5, zeros=0.2)]
        mechanism = Mechanism.from_matrix(table)
        assert mechanism.denominators == (GRID,)
        assert mechanism.matrix.dtype == np.float64
        assert [[Fraction(float(value)) for value in row] for row in mechanism.matrix] == table


def test_the_matrix_over_other_denominators_is_correctly_rounded() -> None:
    rng = random.Random(3)
    for _ in range(30):
        rows = random_rows(rng, 3, 4)
        mechanism = Mechanism.from_matrix(rows)
        for x in range(3):
            for y in range(4):
                value = float(mechanism.matrix[x, y])
                miss = abs(Fraction(value) - rows[x][y])
                assert miss <= abs(Fraction(math.nextafter(value, 2)) - rows[x][y])
                assert miss <= abs(Fraction(math.nextafter(value, -1)) - rows[x][y])


def test_entries_below_the_smallest_float_do_no_harm() -> None:
    tiny = F(1, 10**400)
    mechanism = Mechanism.from_matrix([[tiny, 1 - tiny], [F(1, 2), F(1, 2)]])
    assert mechanism.matrix[0, 0] == 0.0
    assert mechanism.privacy_ratio == 10**400 / F(2)
    assert abs(float(mechanism.epsilon) - (400 * math.log(10) - math.log(2))) < 1e-9


def test_nothing_can_be_changed() -> None:
    mechanism = Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    with pytest.raises(ValueError, match="read-only"):
        mechanism.matrix[0, 0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.outputs = ("x", "y")  # type: ignore[misc]
    outputs = mechanism.payload()["outputs"]
    assert isinstance(outputs, list)
    outputs.append("more")
    assert mechanism.outputs == ("0", "1")
    assert hash(mechanism) == hash(Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]]))


def brute_privacy_ratio(mechanism: Mechanism) -> Fraction | float:
    worst: Fraction | float = Fraction(1)
    for y in range(len(mechanism.outputs)):
        column = mechanism.column(y)
        for a in column:
            for b in column:
                if a > 0:
                    worst = math.inf if b == 0 else max(worst, a / b)
    return worst


@pytest.mark.parametrize("zeros", [0.0, 0.15])
def test_privacy_ratio_is_exact_and_epsilon_encloses_its_logarithm(zeros: float) -> None:
    rng = random.Random(f"privacy ratio {zeros}")
    for _ in range(40):
        k, m = rng.randint(2, 5), rng.randint(1, 5)
        mechanism = Mechanism.from_matrix(random_rows(rng, k, m, zeros))
        privacy_ratio = mechanism.privacy_ratio
        assert privacy_ratio == brute_privacy_ratio(mechanism)
        epsilon = mechanism.epsilon
        if privacy_ratio == math.inf:
            assert (epsilon.lower, epsilon.upper) == (math.inf, math.inf)
            continue
        assert isinstance(privacy_ratio, Fraction)
        with ctx.workprec(500):
            truth = arb(fmpq(privacy_ratio.numerator, privacy_ratio.denominator)).log()
            assert not arb(fmpq(epsilon.lower.numerator, epsilon.lower.denominator)) > truth
            assert not arb(fmpq(epsilon.upper.numerator, epsilon.upper.denominator)) < truth
        assert epsilon.upper - epsilon.lower < F(1, 2**200)


def test_columns_that_are_never_released_do_not_count() -> None:
    mechanism = Mechanism.from_matrix([[F(1, 2), 0, F(1, 2)], [F(1, 4), 0, F(3, 4)]])
    assert mechanism.privacy_ratio == 2
    assert Mechanism.from_matrix([[1], [1]]).privacy_ratio == 1
    assert Mechanism.from_matrix([[1], [1]]).epsilon == Interval.point(F(0))


@pytest.mark.parametrize("units", ["nats", "bits"])
def test_mutual_information_against_another_formula(units: str) -> None:
    rng = random.Random(f"information {units}")
    for number in range(40):
        k, m = rng.randint(2, 7), rng.randint(1, 7)
        prior = random_prior(rng, k, zeros=0.2 * (number % 2))
        mechanism = exact(random_rows(rng, k, m, zeros=0.2), prior.labels, [f"y{y}" for y in range(m)])
        found = mechanism.mutual_information(prior, units=units)
        with ctx.workprec(400):
            truth = information_ball(mechanism, prior)
            truth = truth / arb(2).log() if units == "bits" else truth
            lower, upper = (arb(fmpq(end.numerator, end.denominator)) for end in (found.lower, found.upper))
            assert not lower > truth
            assert not upper < truth
        assert 0 <= found.lower <= found.upper < found.lower + F(1, 2**230)


def test_mutual_information_at_its_ends() -> None:
    prior = Prior.from_counts([1, 1, 2])
    truth = Mechanism.from_matrix(np.eye(3))
    assert abs(float(truth.mutual_information(prior, units="bits")) - 1.5) < 1e-15
    assert Mechanism.from_matrix([[F(1, 3), F(2, 3)]] * 3).mutual_information(prior).upper < F(1, 2**240)
    sure = Prior.from_counts([0, 1, 0])
    assert truth.mutual_information(sure).upper < F(1, 2**240)


def test_mutual_information_refuses_other_priors_and_units() -> None:
    mechanism = Mechanism.from_matrix(np.eye(2), inputs=AB)
    with pytest.raises(InputError, match="prior: its labels are in another order; they must be 'a', 'b'"):
        mechanism.mutual_information(Prior.uniform(("b", "a")))
    with pytest.raises(InputError, match="unit"):
        mechanism.mutual_information(Prior.uniform(AB), units="dits")


def test_rank_is_exact() -> None:
    assert Mechanism.from_matrix(np.eye(4)).rank == 4
    assert Mechanism.from_matrix([[F(1, 3), F(2, 3)]] * 4).rank == 1
    hair = F(1, 10**30)
    rows = [[F(1, 3), F(2, 3)], [F(1, 3) + hair, F(2, 3) - hair]]
    assert Mechanism.from_matrix(rows).rank == 2
    assert Mechanism.from_matrix([[F(1, 3), F(2, 3)], [F(1, 7), F(6, 7)], [F(1, 2), F(1, 2)]]).rank == 2


# -- k-RR, and everybody judged by the same code ------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 7, 64])
@pytest.mark.parametrize(
    "level", [{"epsilon": e} for e in ("1e-10", 0.01, 1, 8, 20)] + [{"gamma": "3"}, {"gamma": "7/3"}]
)
def test_k_rr_never_exceeds_its_level_and_is_close_to_it(k: int, level: dict[str, object]) -> None:
    mechanism = RandomizedResponse(k, **level).to_mechanism()
    constraint = LDP(**level)
    assert constraint.violation(mechanism) <= 0
    ratio = constraint.level.ratio
    share = ratio.upper / (ratio.upper + k - 1)
    assert abs(mechanism.entry(0, 0) - share) <= k * F(1, GRID) + (ratio.upper - ratio.lower)
    assert mechanism.denominators == (GRID,)


@pytest.mark.parametrize("epsilon", ["1e-15", "1e-16", "1e-17", "1e-30"])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_k_rr_never_exceeds_a_level_below_the_grid(k: int, epsilon: str) -> None:
    """Where rounding up turns the off-diagonal entries into the larger ones."""
    assert LDP(epsilon).violation(RandomizedResponse(k, epsilon=epsilon).to_mechanism()) <= 0


def test_k_rr_is_a_channel() -> None:
    k_rr = RandomizedResponse(["a", "b", "c"], gamma=3)
    assert k_rr.inputs == ("a", "b", "c")
    assert k_rr.privacy_ratio == k_rr.to_mechanism().privacy_ratio <= 3
    assert k_rr.epsilon == k_rr.to_mechanism().epsilon
    prior = Prior.uniform(("a", "b", "c"))
    assert k_rr.mutual_information(prior) == k_rr.to_mechanism().mutual_information(prior)
    assert k_rr == RandomizedResponse(["a", "b", "c"], gamma=3)


@pytest.mark.parametrize(
    ("categories", "level", "what"),
    [
        (1, {"epsilon": 1}, "at least 2"),
        (-1, {"epsilon": 1}, "at least 2"),
        (True, {"epsilon": 1}, "categories"),
        (3.0, {"epsilon": 1}, "categories"),
        (None, {"epsilon": 1}, "categories"),
        (["a", "a"], {"epsilon": 1}, "twice"),
        (3, {}, "neither epsilon nor gamma"),
        (3, {"epsilon": 1, "gamma": 3}, "both given"),
        (3, {"epsilon": -1}, "below 0"),
        (10**9, {"epsilon": 1}, "too many"),
    ],
)
def test_bad_k_rr(categories: object, level: dict[str, object], what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A domain that cannot be written out must be refused before it is: here the first label would already stop it.
    if categories == 10**9:
        monkeypatch.setattr(
            "rropt.model.prior.clean_labels",
            lambda *_: pytest.fail("a billion labels are being made"),
        )
    with pytest.raises(InputError, match=what):
        RandomizedResponse(categories, **level)  # type: ignore[arg-type]


def test_k_rr_takes_numpy_integers() -> None:
    assert RandomizedResponse(np.int64(3), epsilon=1) == RandomizedResponse(3, epsilon=1)  # type: ignore[arg-type]


def test_a_leak_of_1e_12_shows_in_privacy_ratio_and_epsilon() -> None:
    """k-RR, the same matrix as floats, and the matrix with a leak: one judge for all."""
    constraint = LDP(1)
    k_rr = RandomizedResponse(4, epsilon=1).to_mechanism()
    again = Mechanism.from_matrix(k_rr.matrix)
    assert again == k_rr
    leaking = k_rr.matrix.copy()
    leaking[1, 1] += 1e-12
    leaking[1, 2] -= 1e-12
    leaky = Mechanism.from_matrix(leaking)
    assert constraint.violation(k_rr) <= 0 < constraint.violation(leaky)
    assert k_rr.epsilon.upper <= 1 < leaky.epsilon.lower
    assert leaky.epsilon.lower - 1 < F(1, 10**10)


# -- files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["grid", "common", "rows", "two-valued", "odd labels"])
def test_save_and_load(tmp_path: Path, kind: str) -> None:
    big = 10**50 + 151
    mechanism = {
        "grid": lambda: Mechanism.from_matrix([[0.1, 0.9], [0.7, 0.3]]),
        "common": lambda: Mechanism.from_matrix([["1/3", "2/3"], ["1/7", "6/7"]]),
        "rows": lambda: Mechanism.from_matrix([[F(1, big), 1 - F(1, big)], ["1/7", "6/7"]]),
        "two-valued": lambda: Mechanism(AB, AB, (TwoValuedColumn(1, 3, 1), TwoValuedColumn(1, 3, 2)), (4,)),
        "odd labels": lambda: Mechanism.from_matrix(
            np.eye(2), inputs=["Zoë\n\"'\\", "\u2028<b>"], outputs=["\x7f", "\x00"]
        ),
    }[kind]()
    path = mechanism.save(tmp_path / "deep" / "mechanism.json")
    assert path == tmp_path / "deep" / "mechanism.json"
    assert Mechanism.load(path) == mechanism
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["format"] == "rropt-mechanism"
    assert all(isinstance(text, str) for text in document["denominators"])


def saved(tmp_path: Path) -> tuple[Path, dict[str, object]]:
    path = Mechanism.from_matrix([[0.25, 0.75], [0.5, 0.5]], inputs=AB, outputs=("y", "n")).save(tmp_path / "m.json")
    return path, json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"format": "other"}, "not a mechanism file"),
        ({"version": 1}, "keys missing or unknown: version"),
        ({"off_diagonal": ["1"]}, "keys missing or unknown: columns"),
        ({"family": "Rappor"}, "keys missing or unknown: columns, denominators, outputs, parameters"),
        ({"more": 1}, "more"),
        ({"inputs": ["a", "a"]}, "'a'.*twice"),
        ({"inputs": ["a", 1]}, "not a string"),
        ({"inputs": "ab"}, "inputs"),
        ({"outputs": []}, "outputs"),
        ({"outputs": ["y"]}, "2 columns for 1 output"),
        ({"denominators": ["0"]}, "denominators"),
        ({"denominators": ["-4"]}, "denominators"),
        ({"denominators": [4]}, "denominators"),
        ({"denominators": ["04"]}, "denominators"),
        ({"denominators": ["4", "4", "4"]}, "denominators"),
        ({"columns": [{"dense": ["1", "1"]}, {"dense": ["1", "1"]}]}, "sums to"),
        ({"columns": [{"dense": ["1"]}, {"dense": ["1", "1"]}]}, "columns.0.*1 entry"),
        ({"columns": [{"dense": ["1", "-1"]}, {"dense": ["1", "1"]}]}, "columns.0"),
        ({"columns": [{"dense": ["1", 1.5]}, {"dense": ["1", "1"]}]}, "columns.0"),
        ({"columns": [{"low": "1", "high": "1", "members": "4"}, {"dense": ["1", "1"]}]}, "columns.0.*members"),
        ({"columns": [{"low": "1", "high": "1", "members": "003"}, {"dense": ["1", "1"]}]}, "columns.0.*members"),
        ({"columns": [{"low": "1"}, {"dense": ["1", "1"]}]}, "columns.0"),
        ({"columns": {}}, "columns"),
    ],
)
def test_changed_files_are_refused_in_one_line(tmp_path: Path, change: dict[str, object], what: str) -> None:
    path, document = saved(tmp_path)
    path.write_text(json.dumps(document | change), encoding="utf-8")
    with pytest.raises(InputError, match=what) as info:
        Mechanism.load(path)
    assert str(path) in str(info.value)
    assert "\n" not in str(info.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "[" * 100_000, '{"format": "rropt-mechanism", "format": 1}', "\ufeff{}"]
)
def test_what_is_no_mechanism_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as info:
        Mechanism.load(path)
    assert str(path) in str(info.value)
    with pytest.raises(InputError, match="cannot read"):
        Mechanism.load(tmp_path / "missing.json")


# -- pictures ----------------------------------------------------------------------------------------------------


def test_repr_is_a_small_table() -> None:
    mechanism = Mechanism.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=("yes", "no"), outputs=("yes", "no"))
    head, *table = repr(mechanism).splitlines()
    assert head.startswith("Mechanism(2 inputs x 2 outputs over 2^53, epsilon <= 1.0986")
    assert table == [
        "         yes       no",
        "yes  0.75000  0.25000",
        "no   0.25000  0.75000",
    ]
    large = RandomizedResponse(60, epsilon=1).to_mechanism()
    assert len(repr(large).splitlines()) == 15
    assert "48 more inputs" in repr(large)
    assert all(len(line) < 110 for line in repr(large).splitlines())


@pytest.mark.parametrize("privacy_ratio", [F(3), F(7, 3), F(1001, 1000), F(10**8)])
def test_a_shown_epsilon_is_never_below_the_true_one(privacy_ratio: Fraction) -> None:
    """What reads `epsilon <= number` has to be true of the number that is shown."""
    mechanism = exact(two_valued_rows(2, privacy_ratio), AB, AB)
    shown = repr(mechanism).splitlines()[0].split("epsilon <= ")[1].rstrip(")")
    assert F(shown) >= mechanism.epsilon.lower


def test_pictures_of_a_mechanism_that_tells_all() -> None:
    """An infinite epsilon can be shown: the identity is the first thing that anybody tries."""
    mechanism = Mechanism.from_matrix(np.eye(2))
    assert "inf" in repr(mechanism)
    assert "inf" in mechanism._repr_html_()


def test_html_escapes_labels() -> None:
    mechanism = Mechanism.from_matrix(
        [[0.5, 0.5], [0.4, 0.6]], inputs=["<script>", "a&b"], outputs=['"><img src=x>', "'"]
    )
    html = mechanism._repr_html_()
    for raw in ("<script>", "<img", "a&b<"):
        assert raw not in html
    for escaped in ("&lt;script&gt;", "a&amp;b", "&quot;&gt;&lt;img src=x&gt;"):
        assert escaped in html
    large = RandomizedResponse(60, epsilon=1).to_mechanism()._repr_html_()
    assert large.count("<tr>") == 41
    assert "20 more inputs, 20 more outputs" in large


@pytest.mark.parametrize("kind", ["floats", "rationals", "counts"])
def test_reading_a_matrix_divides_out_the_row_sums_and_nothing_else(kind: str) -> None:
    """Against the definition, entry by entry: each over its row's sum; then by largest remainder for floats."""
    rng = random.Random(kind)
    for _ in range(20):
        k, m = rng.randint(2, 6), rng.randint(1, 7)
        rows = random_rows(rng, k, m, zeros=0.2)
        table: list[list[object]]
        if kind == "floats":
            table = [[float(entry) for entry in row] for row in rows]
            exact = [[F(str(entry)) for entry in row] for row in table]
        elif kind == "rationals":
            table = [[str(entry * (1 + F(x, 10**10))) for entry in row] for x, row in enumerate(rows)]
            exact = [[F(str(entry)) for entry in row] for row in table]
        else:
            scale = math.lcm(*(entry.denominator for row in rows for entry in row))
            table = [[int(entry * scale) for entry in row] for row in rows]
            exact = [[F(int(str(entry)), scale) for entry in row] for row in table]
        found = Mechanism.from_matrix(table, denominator=scale if kind == "counts" else None)
        for x, row in enumerate(exact):
            wanted = [entry / sum(row) for entry in row]
            if kind == "floats":
                whole = [entry * GRID // 1 for entry in wanted]
                order = sorted(range(m), key=lambda y: whole[y] - wanted[y] * GRID)
                for y in order[: GRID - sum(whole)]:
                    whole[y] += 1
                wanted = [F(number, GRID) for number in whole]
            assert [found.entry(x, y) for y in range(m)] == wanted
