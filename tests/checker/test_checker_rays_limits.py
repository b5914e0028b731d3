"""`rays` of a column-dual: what a file may say, the work on the list, and what the claim rests on."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from builders import Document, changed, encode, rat, said
from test_certificate_schema import faults
from test_checker_rays import FREE, INFORMATION, LEMMAS, LESS, SQUARES, Row, claim, polyhedral

from rropt import checker
from rropt.checker import check_bytes

TWO: Document = {"kind": "complete", "gamma": "2"}
LONG = "proof.rays: a ray has too long numbers"
SLOW = "proof.rays: the list of rays takes too long"


def whole_gap(made: Document) -> Document:
    """A claim about randomised response, whose columns are the rays of a complete cone of two at gamma 2."""
    columns = [{"dense": ["2", "1"]}, {"dense": ["1", "2"]}]
    mechanism = {"denominators": ["3"], "outputs": ["0", "1"], "columns": columns}
    return {**made, "mechanism": mechanism}


def test_chi_square_of_two_has_no_gap() -> None:
    made = whole_gap(claim([1, 1], SQUARES, TWO, [Fraction(1, 18)] * 2))
    made["value"] = {"lower": "1/9", "upper": "1/9"}
    assert (made["bound"], said(made)) == ("1/9", ("PROVED", ""))
    below = changed(made, lambda made: made.update(bound=rat(Fraction(1, 9) - LESS)))
    assert said(below) == ("REFUTED", "bound: claims more than the proof yields")


def test_information_of_two() -> None:
    """log 2 - H(1/3) = 0.05663301226513249..."""
    price = Fraction(56633012265133, 10**15) / 2
    made = whole_gap(claim([1, 1], INFORMATION, TWO, [price] * 2))
    made["value"] = {"lower": "56633012265132/1000000000000000", "upper": "56633012265133/1000000000000000"}
    made["value"] = {end: rat(Fraction(number)) for end, number in made["value"].items()}
    assert said(made) == ("PROVED", "")
    made["proof"]["prices"] = [rat(price - Fraction(1, 10**15))] * 2
    assert said(made) == ("REFUTED", "proof.rays: the prices are below the utility at the ray of inputs 0, 1")


def test_what_another_variable_knows_is_worth_nothing() -> None:
    """Each z has inputs of one kind, where a ray is constant: exactly 0."""
    utility = {**INFORMATION, "given": [["1", "0"], ["0", "2"], ["0", "0"]]}
    cone = polyhedral([[3, -5, 1], [0, 1, -2]])
    assert said(claim([1, 2, 0], utility, cone, [Fraction(0)] * 3)) == ("PROVED", "")
    for x in range(3):
        prices = [-Fraction(x == z, 2**200) for z in range(3)]
        assert said(claim([1, 2, 0], utility, cone, prices))[0] == "REFUTED"


@pytest.mark.parametrize("utility", [INFORMATION, SQUARES], ids=["information", "chi-square"])
def test_a_ray_without_weight_is_worth_nothing(utility: Document) -> None:
    for price, status in ((0, "PROVED"), (Fraction(1, 2**200), "PROVED"), (-Fraction(1, 2**200), "REFUTED")):
        assert said(claim([1, 0, 1], utility, FREE, [Fraction(1), Fraction(price), Fraction(1)]))[0] == status


def test_one_input_with_weight_is_worth_nothing() -> None:
    for utility in (INFORMATION, SQUARES):
        assert said(claim([0, 5], utility, FREE, [Fraction(0)] * 2)) == ("PROVED", "")


# -- what a file may say -------------------------------------------------------------------------------

DAMAGE: dict[str, Callable[[Any], object]] = {
    "another word": lambda made: made["proof"].update(rays="ALL"),
    "no word": lambda made: made["proof"].update(rays=""),
    "null": lambda made: made["proof"].update(rays=None),
    "a list": lambda made: made["proof"].update(rays=["all"]),
    "an object": lambda made: made["proof"].update(rays={"all": 1}),
    "true": lambda made: made["proof"].update(rays=True),
    "no prices": lambda made: made["proof"].pop("prices"),
    "prices as an object": lambda made: made["proof"].update(prices={"of_prior": "1", "own": []}),
    "a price as INT": lambda made: made["proof"].update(prices=[1, 1, 1]),
    "known besides": lambda made: made["proof"].update(known="entropy"),
    "tree besides": lambda made: made["proof"].update(tree=["1"]),
    "boxes besides": lambda made: made["proof"].update(unit="1", boxes=[{"n": 0, "f": []}]),
    "unit besides": lambda made: made["proof"].update(unit="1"),
    "flows besides": lambda made: made["proof"].update(flows=[]),
    "multipliers besides": lambda made: made["proof"].update(multipliers=[]),
    "another kind": lambda made: made["proof"].update(kind="linear-dual"),
    "farkas": lambda made: made["proof"].update(kind="farkas"),
    "bayes": lambda made: made["problem"].update(utility={"kind": "bayes", "gain": [["1"] * 3]}),
    "inverse_trace": lambda made: made["problem"].update(utility={"kind": "inverse_trace"}, sense="minimize"),
    "a robust cone": lambda made: made["problem"].update(
        cone={"kind": "robust", "gamma": "2", "blocks": [[0], [1, 2]], "lower": ["0"] * 3}
    ),
    "a confidence cone": lambda made: made["problem"].update(
        cone={"kind": "confidence", "gamma": "2", "blocks": [[0], [1, 2]], "counts": ["1"] * 3, "form": "exact",
              "radius": {"lower": "1", "upper": "1"}}
    ),
}  # fmt: skip


def small(utility: Document = INFORMATION) -> Document:
    return claim([1, 2, 3], utility, TWO, [Fraction(1)] * 3)


@pytest.mark.parametrize("name", DAMAGE)
def test_what_no_file_says(name: str) -> None:
    made = small()
    assert (said(made), faults(made)) == (("PROVED", ""), [])
    wrong = changed(made, DAMAGE[name])
    assert said(wrong)[0] == "UNREADABLE"
    assert faults(wrong) != []


@pytest.mark.parametrize("prices", [[], ["1"], ["1"] * 4, ["2/4"] * 3], ids=len)
def test_prices_that_no_schema_refuses(prices: list[str]) -> None:
    assert said(changed(small(), lambda made: made["proof"].update(prices=prices)))[0] == "UNREADABLE"


@pytest.mark.parametrize("utility", [INFORMATION, SQUARES], ids=["information", "chi-square"])
def test_it_rests_on_these_lemmas(utility: Document) -> None:
    made = small(utility)
    assert said(made) == ("PROVED", "")
    own = LEMMAS[utility["kind"]]
    other = LEMMAS[SQUARES["kind"] if utility is INFORMATION else "mutual_information"]
    for names in (*([name for name in own if name != left] for left in own), own + own[:1], other, [], own + other[1:]):
        assert said(changed(made, lambda made, names=names: made.update(assumptions=names)))[0] == "REFUTED"
    strange = changed(made, lambda made: made.update(assumptions=[*own, "extreme-rays"]))
    assert (said(strange)[0], faults(strange) != []) == ("UNREADABLE", True)


def test_a_problem_with_rows_drops_them_first() -> None:
    rows = [{"name": "r", "sense": "<=", "rhs": "2", "terms": [[0, 0, "1"]]}]
    made = small()
    made["problem"].update(outputs=["0"])
    assert said(made) == ("PROVED", "")
    made["problem"].update(rows=rows)
    assert said(made)[0] == "UNREADABLE"
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["rows"]}]
    assert (said(made), faults(made)) == (("PROVED", ""), [])
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["rows", "cone"]}]
    assert said(made) == ("PROVED", "")
    made["proof"]["prices"] = ["1/8"] * 3  # enough for the cone, and not without it
    assert said(changed(made, lambda made: made.update(bound="3/8")))[0] == "REFUTED"
    made["proof"]["steps"] = [{"kind": "drop", "parts": ["rows"]}]
    assert said(changed(made, lambda made: made.update(bound="3/8"))) == ("PROVED", "")


# -- the work on a list --------------------------------------------------------------------------------


def ample(k: int, cone: Document, utility: Document = INFORMATION) -> Document:
    """Prices that would do under any cone: a_x >= -p_x log p_x."""
    weights = [1] * k
    return claim(weights, utility, cone, [Fraction(8, k)] * k)


def tie(k: int, above: int, below: int, pairs: int, more: int) -> Document:
    """One row on so many inputs, then rows on pairs of other inputs, then rows of zeros.

    The first adds above * below to 10 k, and takes the list from k rays to n; a pair adds 1, and leaves n as it is.
    """
    first = [1] * above + [-1] * below + [0] * (k - above - below)
    rows, x = [first], above + below
    for _ in range(pairs):
        rows.append([(z == x) - (z == x + 1) for z in range(k)])
        x += 2
    return polyhedral(rows + [[0] * k] * more)


def work_of(k: int, above: int, below: int, pairs: int, more: int) -> int:
    rays = k - above + above * below
    return above * below + (above * below + 10 * k) * k + pairs + (pairs + 10 * k * (pairs + more) + 40 * k) * rays


def test_one_operation_more_is_too_many() -> None:
    assert work_of(70, 11, 27, 2, 395) == 10**8 + 1
    assert said(ample(70, tie(70, 11, 27, 2, 395))) == ("REFUTED", SLOW)


@pytest.mark.parametrize(("k", "above", "below", "pairs", "more"), [(81, 2, 36, 8, 805), (83, 9, 15, 5, 567)])
def test_work_of_10_to_the_8th_is_done_and_no_more(k: int, above: int, below: int, pairs: int, more: int) -> None:
    assert work_of(k, above, below, pairs, more) == 10**8
    assert said(ample(k, tie(k, above, below, pairs, more))) == ("PROVED", "")
    assert said(ample(k, tie(k, above, below, pairs + 1, more - 1))) == ("REFUTED", SLOW)  # by the number of rays


def test_each_pair_of_a_complete_cone_is_one_inequality(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice 1 + (1 + 10 k) n with two rays, then 40 k n."""
    for most, found in ((246, ("PROVED", "")), (245, ("REFUTED", SLOW))):
        monkeypatch.setattr(checker, "MAX_RAY_WORK", most)
        monkeypatch.setattr("independent_checker.rays.MOST", most)
        assert said(ample(2, TWO)) == found
        assert said(ample(2, polyhedral([[0, 0]], TWO)))[0] == "REFUTED"


def test_edges_are_taken_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rays each time: one above and one below the first edge, two above and one below the second."""
    cone = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "1"], [1, 2, "1"]]}
    work = 1 + 31 * 3 + 2 + 32 * 3 + 360
    for most, found in ((work, ("PROVED", "")), (work - 1, ("REFUTED", SLOW))):
        monkeypatch.setattr(checker, "MAX_RAY_WORK", most)
        monkeypatch.setattr("independent_checker.rays.MOST", most)
        assert said(ample(3, cone)) == found


def test_pairs_with_few_zeros_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both pairs at the second row have two zeros in common, of the three that neighbours have."""
    cone = polyhedral([[1, 1, -1, -1, 0], [1, 0, 0, -1, 0]])
    work = 4 + (4 + 50) * 5 + 2 + 50 * 7 + 40 * 5 * 6
    for most, found in ((work, ("PROVED", "")), (work - 1, ("REFUTED", SLOW))):
        monkeypatch.setattr(checker, "MAX_RAY_WORK", most)
        monkeypatch.setattr("independent_checker.rays.MOST", most)
        assert said(ample(5, cone)) == found


@pytest.mark.parametrize(("k", "named"), [(8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "0, 1, 2, 3, 4, 5, 6, 7, ...")])
def test_the_first_eight_inputs_are_named(k: int, named: str) -> None:
    rows = [[(z == x) - (z == (x + 1) % k) for z in range(k)] for x in range(k)]
    made = claim([1] * k, INFORMATION, polyhedral(rows), [Fraction(-1)] * k)
    assert said(made) == ("REFUTED", f"proof.rays: the prices are below the utility at the ray of inputs {named}")


def test_the_list_counts_k_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 of the mechanism, 63 of its utility, and 3."""
    for most, status in ((69, "PROVED"), (68, "UNREADABLE")):
        monkeypatch.setattr(checker, "MAX_OPERATIONS", most)
        monkeypatch.setattr("independent_checker.work.MOST", most)
        assert said(small())[0] == status


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_each_variable_that_is_given_is_work(columns: int) -> None:
    """10 k^2 (rows + 4 J) = 10^8 without a ray above a row."""
    k, given = 500, {**INFORMATION, "given": [["1"] + ["0"] * (columns - 1)] * 500}
    utility = given if columns > 1 else INFORMATION
    for rows, found in ((40 - 4 * columns, ("PROVED", "")), (41 - 4 * columns, ("REFUTED", SLOW))):
        assert said(ample(k, polyhedral([[-1] * k] * rows), utility)) == found


def test_many_inputs_are_refused_at_once() -> None:
    """Of 20,000 inputs the unit vectors alone would be 4 * 10^8 numbers."""
    before = time.process_time()
    for cone in (FREE, polyhedral([[-1] * 20_000])):
        assert said(ample(20_000, cone)) == ("REFUTED", SLOW)
    assert time.process_time() - before < 20
    assert said(ample(1582, FREE)) == ("REFUTED", SLOW)
    assert said(ample(1581, FREE)) == ("PROVED", "")


@pytest.mark.long
def test_pairs_are_counted_before_they_are_looked_at() -> None:
    """90,600 rays after the first row; above and below the second one are 22,500 each."""
    before = time.process_time()
    rows = [[1] * 300 + [-1] * 300, [(-1) ** x for x in range(600)]]
    assert check_bytes(encode(ample(600, polyhedral(rows)))).reason == SLOW
    assert time.process_time() - before < 60


def test_a_cone_with_too_many_rays() -> None:
    assert said(ample(5, TWO)) == ("PROVED", "")
    assert said(ample(14, TWO)) == ("REFUTED", SLOW)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ([1, -(2**4096) + 1], ("PROVED", "")),
        ([1, -(2**4096)], ("REFUTED", LONG)),
        ([-(2**4096) + 1, 1], ("PROVED", "")),
        ([-(2**4096), 1], ("REFUTED", LONG)),
        ([6, 6 - 6 * 2**4096], ("PROVED", "")),  # the divisor of all goes out
        ([Fraction(1, 3), -Fraction(2**4096 - 1, 3)], ("PROVED", "")),
        ([Fraction(1, 2**4096), -1], ("REFUTED", LONG)),
        ([-1, -(2**4097)], ("PROVED", "")),  # no ray joins
    ],
    ids=str,
)
def test_a_ray_has_numbers_of_4096_bits(row: list[Fraction | int], found: tuple[str, str]) -> None:
    assert said(ample(2, polyhedral([row]))) == found


# -- long numbers --------------------------------------------------------------------------------------

HUGE = 10**1998


def wide(x: int) -> int:
    """So many denominators of 500 digits have a common denominator of the largest size."""
    return 10**499 + 2 * (x % 76) + 1


def split(k: int, above: int, below: int) -> list[Fraction | int]:
    return [1] * above + [-1] * below + [0] * (k - above - below)


def tied(k: int, row: list[Fraction | int], long: bool) -> list[Row]:
    """The last 18 inputs are equal in pairs, so that what they add to the row is 0; its common denominator is long."""
    if not long:
        return [split(k, 0, 0)[: k - 18] + [side * (x // 2 == pair) * (-1) ** x for x in range(18)]
                for pair in range(9) for side in (1, -1)]  # fmt: skip
    return [[*row[: k - 18], *(Fraction((-1) ** x, 10**3990 + x // 2) for x in range(18))]]


def hostile(name: str, k: int) -> Document:
    """A claim on k inputs and more, as slow as long numbers make it."""
    cone, own = polyhedral([split(k, k // 8, k // 8 + 1)]), name.split()
    if "tied" in own:
        k += 18
        cone = polyhedral([*tied(k, [], False), *(tied(k, split(k, 2, k // 4), True) * 8)])
    if "complete" in own:
        cone = {"kind": "complete", "gamma": str(Fraction(2**1359 + 1, 3**857))}
        if "rows" in own:
            rows = [[-Fraction(1, 10**3500 + x) for x in range(k)]] * (2**20 // (3510 * k))
            cone = polyhedral(rows, cone)
    elif "rows" in own:
        cone["rows"] += [[rat(-Fraction(1, wide(x))) for x in range(k)]] * (2**20 // (520 * k))
    made = ample(k, cone, SQUARES if "chi-square" in own else INFORMATION)
    if "prices" in own:
        made["proof"]["prices"] = [str(8 + Fraction(1, wide(x) if k > 20 else 10**1990 + x)) for x in range(k)]
        made["bound"] = "9" * 9
    if "weights" in own:
        made["problem"]["weights"] = [str(HUGE + x) for x in range(k)]
    return made


@pytest.mark.parametrize("share", [pytest.param(1, marks=pytest.mark.long), 30])
@pytest.mark.parametrize(
    "name",
    [
        "prices",
        "prices chi-square",
        "weights",
        "weights prices",
        "weights prices chi-square",
        "rows",
        "tied",
        "complete",
        "complete weights prices",
        "complete weights prices chi-square",
        "complete rows",
    ],
)
def test_long_numbers_take_no_longer_than_short_ones(name: str, share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of the work takes that share of a minute, twice as long where other work slows it."""
    monkeypatch.setattr(checker, "MAX_RAY_WORK", checker.MAX_RAY_WORK // share)
    for k in (6, 8, 9, 10, 11, 12, 13) if name.startswith("complete") else (60, 120, 240, 480, 960):
        data = encode(hostile(name, k))
        if len(data) > 2**20:
            break
        before = time.process_time()
        check_bytes(data)
        assert time.process_time() - before < 2 * 60 / share, (name, k)


@pytest.mark.parametrize("utility", [INFORMATION, SQUARES], ids=["information", "chi-square"])
@pytest.mark.parametrize(
    ("first", "second", "price", "weight"),
    [
        (1, 1, 1, 1),
        (127, 2047, 1, 1),
        (128, 2048, 500, 1),
        (4000, 2000, 3000, 1),
        (4000, 9000, 1, 9000),
        (2100, 9, 6000, 1),
    ],
)
def test_the_work_is_that_of_the_lengths(
    utility: Document, first: int, second: int, price: int, weight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ray of the length of the first row, then a row that no ray joins for, then long prices."""
    cone = polyhedral([[2, -(2**first) - 1, 0], [-1, 0, -(2**second)]])
    made = claim([2**weight, 1, 1], utility, cone, [99 + Fraction(1, 2**price)] * 3)
    q, other, c = (first + 1) // 128, (second + 1) // 128, max(price + 7, weight + 1) // 128
    work = 90 * (1 + q // 16) + 1 + 3 + q * (q + 3) // 4
    work += 90 * (1 + other * (q + 1) // 16) + 360 * (1 + c * (q + 1) // 64)
    for most, found in ((work, "PROVED"), (work - 1, "REFUTED")):
        monkeypatch.setattr(checker, "MAX_RAY_WORK", most)
        monkeypatch.setattr("independent_checker.rays.MOST", most)
        assert said(made)[0] == found


def test_rows_are_taken_in_their_order() -> None:
    """A ray that leaves the list again was in it."""
    first, second = [1, -1], [1, -(2**4096)]
    assert said(ample(2, polyhedral([first, second]))) == ("PROVED", "")
    assert said(ample(2, polyhedral([second, first]))) == ("REFUTED", LONG)
    base = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "1"]]}
    assert said(ample(2, polyhedral([second], base))) == ("PROVED", "")
