"""The checker's cones, as they were read, and what it asks of the columns of a mechanism.

What is here is what a change of one condition (tests/mutation.py) of section 5 of the checker would alter, but for the
utilities. Small tables are compared with the words of the format in plain fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import encode
from shells import checked, claimed, is_allowed, member, nothing, table, valued, with_column
from test_checker_mutants_problem import (
    BALL,
    BAYES,
    COMPLETE,
    FREE,
    GIVEN,
    GRAPH,
    MI,
    MIN,
    OUT,
    OVER,
    STRUCTURE,
    TRACE,
    Json,
    problem,
)

from rropt import checker
from rropt.checker import check_bytes

# -- columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 4, 5, 8, 9])
def test_bits_of_columns(k: int) -> None:
    """The other column is 9 less each entry, so that a row with another entry does not sum to 9."""
    for bits in range(0, 1 << k, 1 if k < 5 else 37):
        own = [7 if bits >> x & 1 else 2 for x in range(k)]
        made = member(table([[n, 9 - n] for n in own], [9]), weights=["1"] * k)
        made["mechanism"]["columns"][0] = {"low": "2", "high": "7", "members": f"{bits:0{-(-k // 4)}x}"}
        assert checked(made).proved
        made["mechanism"]["columns"][1]["dense"][bits % k] = str(10 - own[bits % k])
        assert checked(made).reason == f"mechanism.columns: row {bits % k} does not sum to its denominator"


@pytest.mark.parametrize("bits", [0b0001, 0b0110, 0b10010])
def test_each_entry_of_bits_is_what_a_utility_and_a_row_take(bits: int) -> None:
    """An input that is no member has the lower number, where one entry alone is asked for too."""
    own = [7 if bits >> x & 1 else 2 for x in range(5)]
    mechanism = table([[9 - n, n] for n in own], [9])
    mechanism["columns"][1] = {"low": "2", "high": "7", "members": f"{bits:02x}"}
    for x, n in enumerate(own):
        terms = [[x, 1, "1"]]
        worth = f"{n}/9"
        assert claimed(valued(mechanism, [1] * 5, {"kind": "linear", "cost": terms}), worth, worth) == ""
        for rhs, holds in ((worth, True), (str(Fraction(n, 9) - 1), False)):
            assert is_allowed(mechanism, rows=[{"name": "", "sense": "<=", "rhs": rhs, "terms": terms}]) == holds


@pytest.mark.parametrize(
    ("k", "value", "what"),
    [
        (2, 1, "a: expected an object, found the integer 1"),
        (2, ["dense"], "a: expected an object, found a list"),
        (2, {}, "a: the key 'low' is missing"),
        (2, {"dense": ["1"]}, "a.dense: expected 2 elements, found 1"),
        (2, {"dense": ["1", "1"], "low": "1"}, "a: the key 'low' is unknown here"),
        (2, {"low": "1", "high": "1", "members": 1}, "a.members: expected a string, found the integer 1"),
        (2, {"low": "1", "high": "1", "members": "00"}, "a.members: expected 1 lower-case hexadecimal digits"),
        (2, {"low": "1", "high": "1", "members": "A"}, "a.members: expected 1 lower-case hexadecimal digits"),
        (2, {"low": "1", "high": "1", "members": "4"}, "a.members: a bit at or above 2"),
        (5, {"low": "1", "high": "1", "members": "20"}, "a.members: a bit at or above 5"),
        (5, {"low": "1", "high": "1", "members": "1f"}, ""),
        (4, {"low": "1", "high": "1", "members": "f"}, ""),
    ],
)
def test_what_is_said_of_a_column(k: int, value: Any, what: str) -> None:
    made = member(table([[1, 1]] * k))
    made["mechanism"]["columns"][0] = value
    assert checked(made).reason == what.replace("a.", "mechanism.columns[0].").replace("a:", "mechanism.columns[0]:")


ONES: Json = {"dense": ["1", "1"]}
TABLE: Json = {"denominators": ["2"], "outputs": ["a", "b"], "columns": [ONES, ONES]}
BITS: Json = {"low": "1", "high": "1", "members": "0"}


def table_said(made: Json, own: Json) -> str:
    """What makes a mechanism UNREADABLE."""
    document = {"format": "rropt-certificate", "problem": made, "mechanism": own}
    rest = {"value": {"lower": "0", "upper": "0"}, "bound": "0", "proof": nothing(made), "assumptions": []}
    verdict = check_bytes(encode({**document, **rest}))
    assert verdict.status == "REFUTED" or verdict.reason.startswith("mechanism"), verdict
    return verdict.reason if verdict.status == "UNREADABLE" else ""


THREE_BLOCKS: Json = {**BALL, "blocks": [[0], [1], [2]], "counts": ["3", "1", "1"]}
WIDE: Json = {"inputs": ["a", "b", "c"], "weights": ["1", "1", "1"]}
ONE_COLUMN: Json = {"denominators": ["1"], "outputs": ["a"], "columns": [{"dense": ["1", "1", "1"]}]}
TABLES: list[tuple[Json, Json, str]] = [
    (problem(MI), TABLE, ""),
    (problem(MI), {**TABLE, "denominators": ["2", "3"]}, ""),
    (problem(MI), {**TABLE, "denominators": ["2", "3", "2"]},
     "mechanism.denominators: expected 1 or 2 elements, found 3"),
    (problem(MI), {**TABLE, "denominators": []}, "mechanism.denominators: expected 1 or 2 elements, found 0"),
    (problem(MI), {**TABLE, "membership": []}, "mechanism: the key 'membership' is unknown here"),
    (problem(MI), {**TABLE, "columns": [ONES]}, "mechanism.columns: expected 2 elements, found 1"),
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE), TABLE, "mechanism: the key 'off_diagonal' is missing"),
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE), {"denominators": ["2"], "outputs": OUT, "off_diagonal": ["1"]},
     "mechanism.off_diagonal: expected 2 elements, found 1"),
    (problem(MI, OUT, COMPLETE, structure=STRUCTURE), {"denominators": ["2"], "outputs": OUT, "off_diagonal": ["1",
     "0"]},
     ""),
    (problem(MI, cone=BALL), TABLE, "mechanism: the key 'membership' is missing"),
    (problem(MI, cone=BALL), {**TABLE, "membership": [[["1", "1"]] * 2] * 2}, ""),
    (problem(MI, cone=THREE_BLOCKS, **WIDE), {**ONE_COLUMN, "membership": [[["1", "1"]] * 6]}, ""),
    (problem(MI, cone=THREE_BLOCKS, **WIDE), {**ONE_COLUMN, "membership": [[["1", "1"]] * 3]},
     "mechanism.membership[0]: expected 6 elements, found 3"),
    (problem(MI, cone={**THREE_BLOCKS, "form": "product"}, **WIDE), {**ONE_COLUMN, "membership": [[["1", "1"]] * 3]},
     ""),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_what_is_said_of_a_mechanism(number: int) -> None:
    made, table, what = TABLES[number]
    assert table_said(made, table) == what


TABLE_LIMITS: list[tuple[Json, Json, str, int, str]] = [
    (problem(MI, cone=GRAPH), TABLE, "MAX_PRODUCT", 4, "mechanism.outputs: edges * m: 4"),
    (problem(BAYES), TABLE, "MAX_WORK", 8, "mechanism.outputs: actions * k * m: 8"),
    (problem(MI, cone=OVER), TABLE, "MAX_WORK", 4, "mechanism.outputs: cone rows * k * m: 4"),
    (problem(GIVEN), TABLE, "MAX_WORK", 8, "mechanism.outputs: k * J * m of given: 8"),
    (problem(TRACE, **MIN), TABLE, "MAX_QUADRATIC", 8,
     "mechanism.outputs: k * k * m of the utility inverse_trace: 8"),
    (problem(MI), {**TABLE, "columns": [ONES, BITS]}, "MAX_DENSE_ENTRIES", 2,
     "mechanism.columns: entries in dense columns: 2"),
    (problem(MI), {**TABLE, "outputs": ["a", "b", "c"], "columns": [ONES, BITS, BITS]}, "MAX_DENSE_ENTRIES", 2,
     "mechanism.columns: entries in dense columns: 2"),
    (problem(MI, cone=BALL), {**TABLE, "membership": [[["1", "1"]] * 2] * 2}, "MAX_MEMBERSHIP", 8,
     "mechanism.outputs: m * k * blocks of a confidence cone: 8"),
    (problem(MI), TABLE, "MAX_COLUMNS", 2, "mechanism.outputs: m columns: 2"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(TABLE_LIMITS)))
def test_a_limit_of_a_mechanism_may_be_reached_and_no_more(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made, table, name, most, words = TABLE_LIMITS[number]
    monkeypatch.setattr(checker, name, most)
    assert table_said(made, table) == ""
    monkeypatch.setattr(checker, name, most - 1)
    assert table_said(made, table) == f"{words} is beyond the limit of {most - 1}"


def test_only_designs_have_the_limit_of_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_QUADRATIC", 0)
    assert table_said(problem(MI), TABLE) == ""


def test_a_common_denominator_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MAX_DENOMINATOR_BITS", 4)
    assert table_said(problem(MI), {**TABLE, "denominators": ["8", "16"]}) == ""
    assert table_said(problem(MI), {**TABLE, "denominators": ["8", "6"]}) == (
        "mechanism.denominators[1]: the common denominator is beyond the limit of 2^(2^17)"
    )


# -- what is asked of columns --------------------------------------------------------------------------


def said(made: Json, **parts: Any) -> str:
    """Why a mechanism is not allowed, "" where it is."""
    return checked(member(made, **parts)).reason


def test_outputs_and_row_sums() -> None:
    made = table([[1, 5], [2, 4]])
    for outputs, holds in ((["0", "1"], True), (["1", "0"], False)):
        assert (said(made, outputs=outputs) == "") == holds
    for denominators, x in (([7, 6], 0), ([6, 5], 1), ([7], 0)):
        other = table([[1, 5], [2, 4]], denominators)
        assert said(other) == f"mechanism.columns: row {x} does not sum to its denominator"


def uniform(off: Sequence[int], denominators: Sequence[int]) -> Json:
    names = [str(x) for x in range(len(off))]
    numbers = {"denominators": [str(d) for d in denominators], "off_diagonal": [str(n) for n in off]}
    return {"outputs": names, **numbers}


def test_uniform_off_diagonals() -> None:
    """Of column y: Q[y, y], and the least and the largest of the others, also among equal ones."""
    parts: Json = {"cone": {**COMPLETE, "gamma": "2"}, "structure": STRUCTURE, "utility": MI}
    assert said(uniform([4, 1, 2], [6]), **parts) == "mechanism.off_diagonal[0]: more than 1/(k-1)"
    seen = set()
    for k, most in ((2, 4), (3, 4), (4, 3)):
        for off in itertools.product(range(1, most), repeat=k):
            denominators = [7 + x % 2 for x in range(k)]
            o = [Fraction(n, d) for n, d in zip(off, denominators, strict=True)]
            if max(o) * (k - 1) > 1:
                continue
            q = [[1 - (k - 1) * o[x] if x == y else o[x] for y in range(k)] for x in range(k)]
            bad = [y for y, v in enumerate(zip(*q, strict=True)) if max(v) > 2 * min(v)]
            found = said(uniform(off, denominators), **parts)
            if bad:
                assert found == f"mechanism.columns[{bad[0]}]: the largest entry is above gamma times the smallest"
            else:
                assert not found.startswith("mechanism")
            seen.add((k, bool(bad)))
    assert len(seen) == 6


@pytest.mark.parametrize("gamma", [3, 5])
def test_the_second_largest_counts_where_the_largest_is_on_the_diagonal(gamma: int) -> None:
    """In every order of the inputs. Only the columns of the two largest numbers, or of the largest, are too steep."""
    parts: Json = {"cone": {**COMPLETE, "gamma": str(gamma)}, "structure": STRUCTURE, "utility": MI}
    for own in itertools.permutations([50, 50, 93, 94]):
        q = [[300 - 3 * own[x] if x == y else own[x] for y in range(4)] for x in range(4)]
        bad = next(y for y, v in enumerate(zip(*q, strict=True)) if max(v) > gamma * min(v))
        expected = f"mechanism.columns[{bad}]: the largest entry is above gamma times the smallest"
        assert said(uniform(own, [300]), **parts) == expected


def test_complete_cones_and_edges() -> None:
    complete = {"kind": "complete", "gamma": "5/2"}
    graph = {"kind": "graph", "unit": "gamma", "edges": [[0, 2, "2"], [1, 0, "3/2"]]}
    for v in itertools.product(range(4), repeat=3):
        q = [Fraction(n, 1 + x) for x, n in enumerate(v)]
        made = with_column(q) if any(q) else table([[0, 1]] * 3)
        expected = "mechanism.columns[0]: the largest entry is above gamma times the smallest"
        assert said(made, cone=complete) == ("" if max(q) <= Fraction(5, 2) * min(q) else expected)
        bad = [edge for edge, g in (((0, 2), 2), ((1, 0), Fraction(3, 2))) if q[edge[0]] > g * q[edge[1]]]
        expected = f"mechanism.columns[0]: the edge [{bad[0][0]}, {bad[0][1]}] of the cone is violated" if bad else ""
        assert said(made, cone=graph) == expected


def test_rows_of_cones() -> None:
    cone = {"kind": "polyhedral", "base": FREE, "rows": [["1", "0", "-2"], ["0", "0", "0"]]}
    for v, holds in ((["2", "9", "1"], True), (["2/3", "9/5", "1/3"], True), (["3", "0", "1"], False)):
        what = "" if holds else "mechanism.columns[0]: problem.cone.rows[0] is violated"
        assert said(with_column([Fraction(n) for n in v]), cone=cone) == what


def test_approximate_privacy() -> None:
    """Every ordered pair of rows, of one denominator or of different ones, by the words of the format."""
    seen: set[tuple[bool, int]] = set()
    for gamma, delta in ((Fraction(3, 2), Fraction(1, 4)), (Fraction(2), Fraction(1, 6))):
        bound = {"gamma": str(gamma), "delta": str(delta)}
        for a, b, d in itertools.product(range(0, 7, 2), range(13), (6, 12)):
            if b > d:
                continue
            rows = [[Fraction(a, 6), Fraction(6 - a, 6)], [Fraction(b, d), Fraction(d - b, d)]]
            gaps = [
                delta - sum(max(Fraction(0), p - gamma * q) for p, q in zip(rows[x], rows[1 - x], strict=True))
                for x in (0, 1)
            ]
            bad = [x for x in (0, 1) if gaps[x] < 0]
            what = f"mechanism: the rows {bad[0]} and {1 - bad[0]} differ by more than " if bad else ""
            for denominators in ([[6, d]], [[6], [6, 6]])[d == 6]:
                found = said(table([[a, 6 - a], [b, d - b]], denominators), approximate=bound)
                assert found == (what and what + "problem.approximate allows")
            seen.add((d == 6, (min(gaps) > 0) - (min(gaps) < 0)))
    assert len(seen) == 6


def test_rows_of_a_problem() -> None:
    made = table([[1, 5], [2, 4]])
    for sense, rhs, holds in (("<=", "1/6", True), ("<=", "1/7", False), ("<=", "1", True),
                              ("=", "1/6", True), ("=", "1/7", False), ("=", "1", False)):  # fmt: skip
        row = {"name": "r", "sense": sense, "rhs": rhs, "terms": [[0, 0, "1"]]}
        assert said(made, rows=[row]) == ("" if holds else "problem.rows[0] ('r'): the mechanism violates it")


def test_every_part_of_a_cone_counts() -> None:
    made, first = table([[1, 5], [5, 1]]), "mechanism.columns[0]: "
    for cone, what in (
        (FREE, ""),
        (COMPLETE, f"{first}the largest entry is above gamma times the smallest"),
        ({**COMPLETE, "gamma": "5"}, ""),
        ({**GRAPH, "unit": "gamma", "edges": [[1, 0, "4"]]}, f"{first}the edge [1, 0] of the cone is violated"),
        ({**OVER, "rows": [["-5", "1"]]}, ""),
        ({**OVER, "rows": [["1", "-9"], ["-4", "1"]]}, f"{first}problem.cone.rows[1] is violated"),
        (
            {**OVER, "base": COMPLETE, "rows": [["-5", "1"]]},
            f"{first}the largest entry is above gamma times the smallest",
        ),
    ):
        assert said(made, cone=cone) == what
