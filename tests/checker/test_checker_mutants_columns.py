"""The checker's cones, as they were read, and what it asks of the columns of a mechanism.

What is here is what a change of one condition (tests/mutation.py) of section 5 of the checker would alter, but for the
utilities. Small tables are compared with the words of the format in plain fractions.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from checker_pieces import read, refused
from test_checker_mutants_problem import (
    BALL,
    BAYES,
    CHI,
    COMPLETE,
    FREE,
    GIVEN,
    GRAPH,
    LINEAR,
    MI,
    MIN,
    OUT,
    OVER,
    QUERIES,
    RISK,
    STRUCTURE,
    TRACE,
    Json,
    problem,
)

from rropt import checker
from rropt.checker import _Column, _Mechanism

# -- what was read -------------------------------------------------------------------------------------


def test_how_many_columns_are_tested() -> None:
    assert (read(problem(MI)).m, read(problem(MI, [*OUT, "c"])).m) == (1, 3)


def test_queries_are_those_given_or_the_unit_vectors() -> None:
    assert read(problem(TRACE, **MIN)).queries == [[1, 0], [0, 1]]
    assert read(problem(QUERIES, **MIN)).queries == [[1, -1]]
    assert read(problem({"kind": "inverse_determinant"}, **MIN)).queries == []


def test_ratios_of_cones() -> None:
    """Both ends are a gamma itself; of an epsilon they enclose exp."""
    assert read(problem(MI, cone=COMPLETE)).cone.gamma == (3, 3)
    low, high = read(problem(MI, cone={"kind": "complete", "epsilon": "1"})).cone.gamma
    assert 2.718281828 < low < high < 2.718281829
    edges = read(problem(MI, cone=GRAPH)).cone.edges
    assert edges[0, 1] == (low, high)
    assert list(edges) == [(0, 1), (1, 0)]
    assert read(problem(MI, cone={**GRAPH, "unit": "gamma", "edges": [[1, 0, "7"]]})).cone.edges == {(1, 0): (7, 7)}
    assert read(problem(MI, cone=FREE)).cone.gamma == (1, 1)


def test_pairs_of_cones() -> None:
    free, graph, whole = (read(problem(MI, cone=cone)).cone for cone in (FREE, GRAPH, COMPLETE))
    assert [cone.has_edge(0, 1) for cone in (free, graph, whole)] == [False, True, True]
    assert [cone.has_edge(1, 1) for cone in (free, graph, whole)] == [False, False, False]
    over = read(problem(MI, cone={**OVER, "base": COMPLETE})).cone
    assert [cone.is_complete for cone in (free, graph, whole, over)] == [False, False, True, False]
    assert over.has_edge(1, 0)


def test_how_many_matches_count() -> None:
    for at_most, most in (("1/3", 2), ("2/5", 2), ("1/2", 1), ("99/100", 1), ("1/1001", 1000)):
        risk = read(problem(LINEAR, OUT, identification_risk={**RISK, "at_most": at_most})).risk
        assert risk is not None
        assert risk.most == most
        assert [risk.others(x, 0) for x in (0, 1)] == [4, 0]


def test_the_parts_of_sets() -> None:
    sets = read(problem(MI, cone={**BALL, "form": "product"})).cone.sets
    assert isinstance(sets, checker._Confidence)
    assert not sets.exact
    assert sets.sizes == [3, 0]
    low, high = sets.excess(up=False), sets.excess(up=True)
    root = [(3 * (1 + r) ** 0.5 - 3) * 2.0**checker.P for r in (1 / 9, 1 / 8)]
    assert abs(low / root[0] - 1) < 1e-9
    assert abs(high / root[1] - 1) < 1e-9


@pytest.mark.parametrize("radius", ["1/9", "3", "8/1000003"])
def test_both_ends_of_a_root(radius: str) -> None:
    """N (sqrt(B + 1) - 1): exact where the root is, else two units at most between the ends."""
    cone = {**BALL, "radius": {"lower": radius, "upper": radius}}
    sets = read(problem(MI, cone=cone)).cone.sets
    assert isinstance(sets, checker._Confidence)
    low, high = sets.excess(up=False), sets.excess(up=True)
    if radius == "3":
        assert low == high == 3 << checker.P
    else:
        assert low < high <= low + 2
        square = (Fraction(high, 3 << checker.P) + 1) ** 2, (Fraction(low, 3 << checker.P) + 1) ** 2
        assert square[1] < Fraction(radius) + 1 < square[0]


# -- columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 4, 5, 8, 9])
def test_bits_of_columns(k: int) -> None:
    for bits in range(1 << k):
        column = checker._read_column({"low": "2", "high": "7", "members": f"{bits:0{-(-k // 4)}x}"}, "a", k)
        expected = [7 if bits >> x & 1 else 2 for x in range(k)]
        assert column.entries(k) == expected
        assert [column.entry(x) for x in range(k)] == expected
    dense = checker._read_column({"dense": [str(x + 5) for x in range(k)]}, "a", k)
    assert dense.entries(k) == [dense.entry(x) for x in range(k)] == [x + 5 for x in range(k)]


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
    if what:
        with pytest.raises(checker.Unreadable) as caught:
            checker._read_column(value, "a", k)
        assert str(caught.value) == what
    else:
        checker._read_column(value, "a", k)


ONES: Json = {"dense": ["1", "1"]}
TABLE: Json = {"denominators": ["2"], "outputs": ["a", "b"], "columns": [ONES, ONES]}
BITS: Json = {"low": "1", "high": "1", "members": "0"}


def table_said(made: Json, table: Json, version: int = 4) -> str:
    rats = checker._Rationals()
    own = checker._read_problem(made, "problem", rats, version)
    try:
        checker._read_mechanism(table, "mechanism", own, rats)
    except checker.Unreadable as error:
        return str(error)
    return ""


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


def test_the_numbers_of_a_mechanism() -> None:
    columns = [_Column([1, 2]), _Column([5, 4])]
    one, two = _Mechanism(2, [6], OUT, columns), _Mechanism(2, [6, 7], OUT, columns)
    assert [one.denominator(x) for x in (0, 1)] == [6, 6]
    assert [two.denominator(x) for x in (0, 1)] == [6, 7]
    assert two.probability(1, 0) == (2, 7)
    assert list(one.directions()) == [[(1, 1), (2, 1)], [(5, 1), (4, 1)]]
    assert list(two.directions()) == [[(1, 6), (2, 7)], [(5, 6), (4, 7)]]


# -- what is asked of columns --------------------------------------------------------------------------


def test_outputs_and_row_sums() -> None:
    made = _Mechanism(2, [6], OUT, [_Column([1, 2]), _Column([5, 4])])
    for outputs, holds in ((None, True), (OUT, True), (["b", "a"], False)):
        own = read(problem(CHI, outputs))
        assert (refused(lambda own=own: checker._check_outputs(own, made)) == "") == holds
    assert refused(lambda: checker._check_row_sums(made)) == ""
    for denominators, x in (([7, 6], 0), ([6, 5], 1), ([7], 0)):
        other = _Mechanism(2, denominators, OUT, made.columns)
        what = f"mechanism.columns: row {x} does not sum to its denominator"
        assert refused(lambda other=other: checker._check_row_sums(other)) == what


def test_diagonals() -> None:
    for off, holds in (([3, 0, 2], True), ([4, 0, 2], False)):
        made = _Mechanism(3, [6], ["a", "b", "c"], [], off)
        what = "" if holds else "mechanism.off_diagonal[0]: more than 1/(k-1)"
        assert refused(lambda made=made: checker._check_diagonal(made)) == what


@pytest.mark.parametrize("k", [2, 3, 4])
def test_extremes_of_off_diagonals(k: int) -> None:
    """Of column y: Q[y, y], and the least and the largest of the others, also among equal ones."""
    for off in itertools.product(range(4), repeat=k):
        denominators = [20 + x % 2 for x in range(k)]
        made = _Mechanism(k, denominators, [str(x) for x in range(k)], [], list(off))
        o = [Fraction(n, d) for n, d in zip(off, denominators, strict=True)]
        for y, (own, least, largest) in enumerate(checker._extremes(made)):
            others = o[:y] + o[y + 1 :]
            assert Fraction(*own) == 1 - (k - 1) * o[y]
            assert (Fraction(*least), Fraction(*largest)) == (min(others), max(others))


def test_complete_cones_and_edges() -> None:
    graph = read(
        problem(MI, cone={"kind": "graph", "unit": "gamma", "edges": [[0, 2, "2"], [1, 0, "3/2"]]}, **WIDE)
    ).cone
    for v in itertools.product(range(5), repeat=3):
        pairs = [(n, 1 + x) for x, n in enumerate(v)]
        q = [Fraction(*pair) for pair in pairs]
        complete = refused(lambda pairs=pairs: checker._check_complete(pairs, Fraction(5, 2), 1))
        expected = "mechanism.columns[1]: the largest entry is above gamma times the smallest"
        assert complete == ("" if max(q) <= Fraction(5, 2) * min(q) else expected)
        edges = refused(lambda pairs=pairs: checker._check_edges(pairs, graph, 1))
        bad = [edge for edge, g in (((0, 2), 2), ((1, 0), Fraction(3, 2))) if q[edge[0]] > g * q[edge[1]]]
        assert edges == (
            f"mechanism.columns[1]: the edge [{bad[0][0]}, {bad[0][1]}] of the cone is violated" if bad else ""
        )


def test_rows_of_cones() -> None:
    rows = [[Fraction(1), Fraction(0), Fraction(-2)], [Fraction(0), Fraction(0), Fraction(0)]]
    sparse = checker._sparse(rows)
    assert sparse == [[(0, 0, 1), (0, 2, -2)], []]
    for v, holds in (
        ([(2, 1), (9, 1), (1, 1)], True),
        ([(2, 3), (9, 5), (1, 3)], True),
        ([(3, 1), (0, 1), (1, 1)], False),
    ):
        what = "" if holds else "mechanism.columns[4]: problem.cone.rows[0] is violated"
        assert refused(lambda v=v: checker._check_cone_rows(v, sparse, 4)) == what


def test_robust_cones() -> None:
    """M_s <= g m_z for all s != z, of three blocks, by the words of the format."""
    blocks, lower = [[0, 1], [2], [3, 4]], [Fraction(1, 4), Fraction(1, 2), Fraction(1, 3), Fraction(0), Fraction(1, 5)]
    rest = [1 - sum((lower[x] for x in block), Fraction(0)) for block in blocks]
    sets = checker._Robust(blocks, lower, rest)
    rng, seen, gl = random.Random(4), set(), Fraction(2)
    for _ in range(600):
        v = [(rng.randint(0, 6), 4) for _ in lower]
        q = [Fraction(*entry) for entry in v]
        shared = [sum((lower[x] * q[x] for x in block), Fraction(0)) for block in blocks]
        most = [r * max(q[x] for x in block) + own for r, block, own in zip(rest, blocks, shared, strict=True)]
        least = [r * min(q[x] for x in block) + own for r, block, own in zip(rest, blocks, shared, strict=True)]
        gaps = [gl * least[z] - most[s] for s in range(3) for z in range(3) if s != z]
        found = refused(lambda v=v: checker._check_robust(v, sets, gl, 0))
        assert (found == "") == (min(gaps) >= 0)
        assert not found or found.startswith("mechanism.columns[0]: M of block ")
        seen.add((min(gaps) > 0) - (min(gaps) < 0))
    assert seen == {-1, 0, 1}


def test_approximate_privacy() -> None:
    """Every ordered pair of rows, of one denominator or of different ones, by the words of the format."""
    seen: set[tuple[bool, int]] = set()
    for gamma, delta in ((Fraction(3, 2), Fraction(1, 4)), (Fraction(2), Fraction(1, 6))):
        bound = checker._Approximate((gamma, gamma), delta, "")
        for a, b, d in itertools.product(range(7), range(13), (6, 12)):
            if b > d:
                continue
            rows = [[Fraction(a, 6), Fraction(6 - a, 6)], [Fraction(b, d), Fraction(d - b, d)]]
            columns = [_Column([a, b]), _Column([6 - a, d - b])]
            for denominators in ([[6, d]], [[6], [6, 6]])[d == 6]:
                made = _Mechanism(2, denominators, OUT, columns)
                gaps = [
                    delta - sum(max(Fraction(0), p - gamma * q) for p, q in zip(rows[x], rows[1 - x], strict=True))
                    for x in (0, 1)
                ]
                bad = [x for x in (0, 1) if gaps[x] < 0]
                what = f"mechanism: the rows {bad[0]} and {1 - bad[0]} differ by more than " if bad else ""
                found = refused(lambda made=made, bound=bound: checker._check_approximate(bound, made))
                assert found == (what and what + "problem.approximate allows")
                seen.add((d == 6, (min(gaps) > 0) - (min(gaps) < 0)))
    assert len(seen) == 6


def test_rows_of_a_problem() -> None:
    made = _Mechanism(2, [6], OUT, [_Column([1, 2]), _Column([5, 4])])
    for sense, rhs, holds in (("<=", "1/6", True), ("<=", "1/7", False), ("<=", "1", True),
                              ("=", "1/6", True), ("=", "1/7", False), ("=", "1", False)):  # fmt: skip
        row = {"name": "r", "sense": sense, "rhs": rhs, "terms": [[0, 0, "1"]]}
        own = read(problem(LINEAR, OUT, rows=[row]))
        what = "" if holds else "problem.rows[0] ('r'): the mechanism violates it"
        assert refused(lambda own=own: checker._check_problem_rows(own, made)) == what


def test_every_part_of_a_cone_counts() -> None:
    made = _Mechanism(2, [6], OUT, [_Column([1, 5]), _Column([5, 1])])
    free = "mechanism.columns[0]: "
    for cone, what in (
        (FREE, ""),
        (COMPLETE, f"{free}the largest entry is above gamma times the smallest"),
        ({**COMPLETE, "gamma": "5"}, ""),
        ({**GRAPH, "unit": "gamma", "edges": [[1, 0, "4"]]}, f"{free}the edge [1, 0] of the cone is violated"),
        ({**GRAPH, "unit": "gamma", "edges": [[1, 0, "5"]]}, ""),
        ({**OVER, "rows": [["-5", "1"]]}, ""),
        ({**OVER, "rows": [["1", "-9"], ["-4", "1"]]}, f"{free}problem.cone.rows[1] is violated"),
        (
            {**OVER, "base": COMPLETE, "rows": [["-5", "1"]]},
            f"{free}the largest entry is above gamma times the smallest",
        ),
    ):
        own = read(problem(MI, cone=cone)).cone
        assert refused(lambda own=own: checker._check_mechanism_in_cone(own, made)) == what
    own = read(problem(MI, cone={**COMPLETE, "gamma": "2"})).cone
    for off in ([2, 2], [3, 1], [1, 1], [4, 4], [1, 3]):
        uniform = _Mechanism(2, [6], OUT, [], off)
        q = [[Fraction(6 - off[0], 6), Fraction(off[1], 6)], [Fraction(off[0], 6), Fraction(6 - off[1], 6)]]
        found = refused(lambda uniform=uniform: checker._check_mechanism_in_cone(own, uniform))
        assert (found == "") == all(max(column) <= 2 * min(column) for column in q) == (off in ([2, 2], [4, 4]))
