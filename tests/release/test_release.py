"""Releases of tables: the law and the domain are the mechanism's, nothing unknown passes, levels add up."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sampling import insecure_seeded_source, relabel
from rropt.mechanisms.sampling.sums import SumsSampler
from rropt.model.prior import Pairs
from rropt.release import CrossClassification, ProtectedColumn, Release, privacy_of, release_table
from rropt.release.plans.cross import joined, split
from rropt.release.plans.stack import Stack

pa = pytest.importorskip("pyarrow")
pytest.importorskip("narwhals")

LABELS = ("a", "b", "c")
ABC = RandomizedResponse(LABELS, epsilon=1)
COUNTS = RandomizedResponse([1, 2, 10], epsilon=1)


def drawn(family: RandomizedResponse, values: list[str], seed: int) -> list[str]:
    """What a release draws with the words of a source."""
    made, source = family.to_mechanism(), insecure_seeded_source(seed)
    sampler = SumsSampler(list(zip(*made.numerators, strict=True)), made.row_denominators)
    return list(relabel(values, made.inputs, made.outputs, lambda codes: sampler.sample(codes, source=source)))


def matrix(rows: list[list[int]], inputs: Any, outputs: Any) -> Mechanism:
    """A mechanism of small integers over their common row sum."""
    return Mechanism.from_matrix([[Fraction(n, sum(row)) for n in row] for row in rows], inputs=inputs, outputs=outputs)


def shifted(labels: Any) -> Mechanism:
    """Gives the next label, always: what a release does with it can be foretold."""
    size = len(labels)
    return matrix([[int(y == (x + 1) % size) for y in range(size)] for x in range(size)], labels, labels)


def pandas_frame(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pandas_frame,
    "polars": polars_frame,
    "pyarrow": pa.table,
}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest) -> Callable[[dict[str, list[Any]]], Any]:
    return FRAMES[request.param]


def column(table: Any, name: str) -> list[Any]:
    """One column as a list, missing values as None."""
    found = table[name]
    values = found.to_pylist() if hasattr(found, "to_pylist") else found.to_list()
    return [None if value != value else value for value in values]


def names(table: Any) -> list[str]:
    return list(table.column_names if isinstance(table, pa.Table) else table.columns)


# -- the law ---------------------------------------------------------------------------------------------------


def test_what_is_drawn_is_what_the_mechanism_draws(frame: Callable[..., Any]) -> None:
    values = [LABELS[at * at % 3] for at in range(300)]
    table = frame({"id": list(range(300)), "x": values, "y": list(range(300, 0, -1))})
    made = release_table(table, ProtectedColumn("x", ABC), source=insecure_seeded_source(7))
    assert type(made) is type(table)
    assert names(made) == ["id", "x", "y"]
    assert column(made, "x") == drawn(ABC, values, 7)
    assert column(made, "x") != values
    assert column(made, "id") == list(range(300))
    assert column(table, "x") == values, "the table that was given is left alone"


@pytest.mark.parametrize(
    "type_",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint16(), pa.large_string()),
        pa.int8(),
        pa.uint8(),
        pa.int64(),
        pa.uint64(),
        pa.dictionary(pa.int32(), pa.int16()),
    ],
    ids=str,
)
def test_every_type_that_holds_labels_means_its_values(type_: Any) -> None:
    """Text and integers of all layouts, cut into chunks and slices: the same values give the same draws."""
    values = [(1, 2, 10)[at % 3] for at in range(60)]
    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    typed = values if pa.types.is_integer(inner) else list(map(str, values))
    whole = pa.array([typed[0], *typed], inner)
    whole = whole.dictionary_encode().cast(type_) if inner is not type_ else whole
    chunks = pa.chunked_array([whole[1:20], whole[20:20], whole[20:]])
    made = release_table(pa.table({"x": chunks}), ProtectedColumn("x", COUNTS), source=insecure_seeded_source(3))
    expected = drawn(COUNTS, list(map(str, values)), 3)
    assert list(map(str, made["x"].to_pylist())) == expected
    told = made.schema.field("x").type
    # Integers stay integers of their type, dictionaries dictionaries, text text.
    assert pa.types.is_dictionary(told) == pa.types.is_dictionary(type_)
    assert pa.types.is_integer(told.value_type if pa.types.is_dictionary(told) else told) == pa.types.is_integer(inner)
    if pa.types.is_integer(type_):
        assert told == type_


@pytest.mark.parametrize("words", [("True", "False"), ("false", "true"), ("FALSE", "TRUE", "unknown")])
def test_truth_values_mean_the_same_in_every_format(words: tuple[str, ...], tmp_path: Path) -> None:
    """They are counted, released and counted again as the words that a text file has for them."""
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    values = [True, True, False] * 20
    text = {word.lower(): word for word in words}
    pandas.DataFrame({"x": [text[str(value).lower()] for value in values]}).to_csv(tmp_path / "t.csv", index=False)
    parquet.write_table(pa.table({"x": values}), tmp_path / "t.parquet")
    outputs = words[1:] + words[:1]  # every answer becomes the next one
    plan = ProtectedColumn("x", matrix([[int(a == b) for a in outputs] for b in words], words, outputs))
    flipped = ProtectedColumn("x", shifted(words))
    for name in ("t.csv", "t.parquet"):
        for number, one in enumerate((plan, flipped)):
            out = tmp_path / f"{number}.{name}"
            rr.release.release_file(tmp_path / name, one, out, force=True, warn=lambda _: None)
            found = rr.release.counts_of(out, "x", one.strata[0][1])
            mechanism = one.strata[0][1]
            told = dict(zip(mechanism.outputs, found.tolist(), strict=True))
            after = {text["true"]: 40, text["false"]: 20}
            if one is flipped:
                after = {words[(words.index(word) + 1) % len(words)]: count for word, count in after.items()}
            assert {label: count for label, count in told.items() if count} == after
    assert parquet.read_schema(tmp_path / "0.t.parquet").field("x").type == (
        pa.bool_() if len(words) == 2 else pa.string()
    )
    found = release_table(pandas.DataFrame({"x": values}), plan, force=True, warn=lambda _: None)
    assert found["x"].tolist() == (values if len(words) == 2 else [text[str(value).lower()] for value in values])
    if words == ("True", "False"):
        count = pytest.importorskip("rropt.release.tables.count_column").count_column
        assert count(tmp_path / "t.parquet", "x") == {"False": 20, "True": 40}
        assert rr.Prior.from_csv(tmp_path / "t.csv", column="x") == rr.Prior.from_counts({"False": 20, "True": 40})


def test_the_codes_of_the_data_mean_nothing() -> None:
    """Categories in any order, with some that no record has: only the values count, in pandas and polars too."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    values = ["b", "a", "c", "b", "b", "a"] * 20
    expected = drawn(ABC, values, 1)
    for order in (["c", "b", "a"], ["z", "b", "a", "y", "c"]):
        series = pandas.Series(pandas.Categorical(values, categories=order))
        for table in (
            pandas.DataFrame({"x": series}),
            polars.DataFrame({"x": polars.Series(values, dtype=polars.Enum(order))}),
            polars.DataFrame({"x": polars.Series(values, dtype=polars.Categorical)}),
        ):
            made = release_table(table, ProtectedColumn("x", ABC), source=insecure_seeded_source(1))
            assert list(map(str, column(made, "x"))) == expected


def test_an_empty_table_is_released_empty(frame: Callable[..., Any]) -> None:
    table = frame({"x": ["a"], "y": [1]})[:0]
    made = release_table(table, ProtectedColumn("x", ABC))
    assert names(made) == ["x", "y"]
    assert column(made, "x") == []


def test_every_call_draws_anew() -> None:
    table = pa.table({"x": ["a"] * 500})
    first, second = (release_table(table, ProtectedColumn("x", ABC))["x"].to_pylist() for _ in range(2))
    assert first != second


def test_integers_become_text_where_an_output_is_none() -> None:
    mechanism = matrix([[1, 1, 0], [0, 1, 1]], ["1", "2"], ["1", "or", "2"])
    made = release_table(pa.table({"x": [1, 2, 1]}), ProtectedColumn("x", mechanism))
    assert made.schema.field("x").type == pa.string()
    small = RandomizedResponse(["1", "300"], epsilon=1)
    made = release_table(pa.table({"x": pa.array([1, 1], pa.int8())}), ProtectedColumn("x", small))
    assert made.schema.field("x").type == pa.string(), "300 has no room in eight bits"


# -- the domain ------------------------------------------------------------------------------------------------


def test_unknown_and_missing_values_are_counted_and_listed(frame: Callable[..., Any]) -> None:
    table = frame({"x": ["a", "q", None, "q", "b ", "", "b"] * 3})
    with pytest.raises(InputError) as caught:
        release_table(table, ProtectedColumn("x", ABC))
    line = str(caught.value)
    assert "column 'x': 15 of 21 are unknown" in line
    for part in ("'q' (6 times)", "missing (3 times)", "'b ' (3 times)", "'a', 'b', 'c'"):
        assert part in line
    assert "\n" not in line
    # Of many different ones five are shown.
    with pytest.raises(InputError, match="7 of 7 are unknown: ") as caught:
        release_table(frame({"x": list("pqrstuv")}), ProtectedColumn("x", ABC))
    shown = str(caught.value).split("unknown: ")[1].split(" (known")[0]
    assert shown.endswith(", ...")
    assert shown.count("'") == 2 * 5


def test_declared_labels_take_missing_and_unknown_values(frame: Callable[..., Any]) -> None:
    table = frame({"x": ["a", "q", None, "", "b"]})
    move = shifted(LABELS)
    made = release_table(table, ProtectedColumn("x", move, null="b", other="c"), force=True)
    assert column(made, "x") == ["b", "a", "c", "c", "c"]
    with pytest.raises(InputError, match="1 of 5 is unknown: 'q'"):
        release_table(table, ProtectedColumn("x", move, null="b"))
    with pytest.raises(InputError, match=r"2 of 5 are unknown: (missing|blank)"):
        release_table(table, ProtectedColumn("x", move, other="b"))


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_unknown_text_of_every_layout_is_listed(type_: Any) -> None:
    for array in (pa.array(["a", "q", None], type_), pa.array(["q", None, "a"], pa.string()).dictionary_encode()):
        with pytest.raises(InputError, match="2 of 3 are unknown: 'q', missing"):
            release_table(pa.table({"x": array}), ProtectedColumn("x", ABC))


def test_what_several_columns_read_is_counted_once() -> None:
    release = Release([ProtectedColumn("x", {"n": ABC}, by="g"), ProtectedColumn("y", {"n": ABC}, by="g")])
    with pytest.raises(InputError) as caught:
        release_table(pa.table({"x": ["a", "z"], "y": ["z", "z"], "g": ["n", "e"]}), release)
    line = str(caught.value)
    strata = "'g': 1 of 2 is in a stratum without a mechanism: 'e'"
    for part in (strata, "'x': 1 of 2 is unknown: 'z'", "'y': 2 of 2 are unknown"):
        assert line.count(part) == 1


def test_integers_outside_the_domain_are_unknown() -> None:
    for type_ in (pa.int8(), pa.uint8(), pa.int64(), pa.uint64()):
        table = pa.table({"x": pa.array([1, 2, 3, 10, None], type_)})
        with pytest.raises(InputError, match="2 of 5 are unknown: 3, missing"):
            release_table(table, ProtectedColumn("x", COUNTS))
    # "01" and "1.0" are labels that no integer means.
    odd = RandomizedResponse(["01", "1", "-0", "1.0", "-5"], epsilon=1)
    with pytest.raises(InputError, match="1 of 3 is unknown: 0"):
        release_table(pa.table({"x": [1, -5, 0]}), ProtectedColumn("x", odd))


@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0], [b"a", b"b"], [["a"], ["b"]], [Fraction(1, 2).numerator + 0.5, None]],
    ids=str,
)
def test_types_that_hold_no_labels_are_refused(values: list[Any]) -> None:
    with pytest.raises(InputError, match=r"column 'x': its type .* does not hold labels"):
        release_table(pa.table({"x": values}), ProtectedColumn("x", ABC, other="a"))


def test_mixed_types_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    for values in (["a", 1, "b"], [1, "a"], ["a", 1.5], [b"a", "b"]):
        table = pandas.DataFrame({"x": pandas.Series(values, dtype=object)})
        with pytest.raises(InputError, match="column 'x'"):
            release_table(table, ProtectedColumn("x", ABC, other="a"))


def test_many_different_wrong_values_cost_constant_memory() -> None:
    from rropt.release.plans.stack import Part
    from rropt.release.tables.coding import MOST_EXAMPLES, Faults

    faults = Faults()
    part = Part("x", LABELS)
    for start in range(0, 20_000, 5_000):
        array = pa.array([f"v{n}" for n in range(start, start + 5_000)])
        faults.rows += len(array)
        faults.values(part, np.full(len(array), -2), array)
    assert sum(map(len, faults._examples.values())) <= MOST_EXAMPLES
    assert "20,000 of 20,000 are unknown" in str(faults.error("t"))


def test_columns_that_are_not_there(frame: Callable[..., Any]) -> None:
    table = frame({"x": ["a"], "g": ["n"]})
    for release in (
        ProtectedColumn("y", ABC),
        ProtectedColumn("x", {"n": ABC}, by="h"),
        Release(ProtectedColumn("x", ABC), drop=["z"]),
    ):
        with pytest.raises(InputError, match=r"there is no column '[yhz]'; its columns are 'x', 'g'"):
            release_table(table, release)


def test_what_is_no_table() -> None:
    polars = pytest.importorskip("polars")
    for thing in ([1], {"x": ["a"]}, polars.LazyFrame({"x": ["a"]}), None):
        with pytest.raises(InputError, match="not a table that rropt takes"):
            release_table(thing, ProtectedColumn("x", ABC))


def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(InputError, match=r"narwhals is not installed; pip install 'rropt\[tables\]'"):
        release_table(pa.table({"x": ["a"]}), ProtectedColumn("x", ABC))


# -- several columns, strata, joint columns --------------------------------------------------------------------


def test_several_columns_and_dropped_ones(frame: Callable[..., Any]) -> None:
    table = frame({"x": ["a", "b"], "name": ["Ann", "Bo"], "n": [1, 10], "k": [3, 4]})
    release = Release(
        [ProtectedColumn("n", shifted(["1", "2", "10"])), ProtectedColumn("x", shifted(LABELS), name="noisy x")],
        drop=["name"],
    )
    made = release_table(table, release, force=True)
    assert names(made) == ["noisy x", "n", "k"]
    assert (column(made, "noisy x"), column(made, "n"), column(made, "k")) == (["b", "c"], [2, 1], [3, 4])


def test_each_stratum_has_its_mechanism(frame: Callable[..., Any]) -> None:
    turned = matrix([[1, 0], [0, 1]], ["a", "b"], ["A", "B"])
    release = ProtectedColumn("x", {"n": shifted(LABELS), "s": turned}, by="g")
    made = release_table(frame({"g": ["n", "s", "n", "s"], "x": ["a", "a", "c", "b"]}), release, force=True)
    assert column(made, "x") == ["b", "A", "a", "B"]
    assert column(made, "g") == ["n", "s", "n", "s"]
    other = (
        "columns 'x' with 'g': 2 of 3 are no input of the mechanism of the stratum: 'c' with 's' .2 times.; give each "
        "stratum a mechanism of this column: that of 's' has the inputs 'a', 'b'$"
    )
    with pytest.raises(InputError, match=other):
        release_table(frame({"g": ["s", "s", "n"], "x": ["c", "c", "c"]}), release)
    lacks = "column 'g': 1 of 1 is in a stratum without a mechanism: 'e' .known: 'n', 's'.; add the stratum under mech"
    with pytest.raises(InputError, match=lacks):
        release_table(frame({"g": ["e"], "x": ["a"]}), release)
    # Each kind of fault has its remedy.
    plan = Release([release, ProtectedColumn("y", shifted(LABELS))])
    with pytest.raises(InputError, match=r"; column 'g': add the .*; column 'y': recode them, or name the"):
        release_table(frame({"g": ["e"], "x": ["a"], "y": ["d"]}), plan)


def test_strata_of_two_columns_that_have_no_mechanism_are_told(frame: Callable[..., Any]) -> None:
    made = {("n", "u"): shifted(LABELS), ("s", "v"): shifted(LABELS)}
    plan, table = ProtectedColumn("x", made, by=["g", "h"]), frame({"g": ["n", "s"], "h": ["v", "v"], "x": ["a", "a"]})
    with pytest.raises(InputError, match="'g' with 'h': 1 of 2 is in a stratum without a mechanism: 'n' with 'v'"):
        release_table(table, plan)


def test_strata_of_several_columns_and_missing_strata() -> None:
    release = ProtectedColumn(
        "x",
        {("n", "1"): shifted(LABELS), "s, 2": matrix([[1], [1]], ["a", "b"], ["z"])},
        by=["g", "h"],
        null={"g": "s", "x": "b"},
    )
    table = pa.table({"g": ["n", None, "s"], "h": [1, 2, 2], "x": ["a", "a", None]})
    assert release_table(table, release, force=True)["x"].to_pylist() == ["b", "z", "z"]


@given(st.integers(0, 10**6))
@settings(max_examples=40, derandomize=True)
def test_the_stacked_rows_are_the_mechanisms(seed: int) -> None:
    """The law of every row, read back from the tables that are drawn from."""
    rng = np.random.default_rng(seed)
    strata = {}
    for stratum in "nsw"[: rng.integers(2, 4)]:
        inputs = [str(n) for n in rng.permutation(5)[: rng.integers(2, 5)]]
        outputs = [f"o{n}" for n in rng.permutation(6)[: rng.integers(1, 6)]]
        weights = rng.integers(0, 9, (len(inputs), len(outputs)))
        weights[:, 0] += 1
        strata[stratum] = matrix(weights.tolist(), inputs, outputs)
    stack = Stack(ProtectedColumn("x", strata, by="g"))
    values, groups = stack.parts
    for (g, group), (v, value) in itertools.product(enumerate(groups.labels), enumerate(values.labels)):
        row = int(stack.row_of([np.array([v]), np.array([g])])[0])
        mechanism = strata[group]
        if value not in mechanism.inputs:
            assert row == -1
            continue
        x = mechanism.inputs.index(value)
        law = dict(zip(stack.outputs, stack.tables.law(row), strict=True))
        expected = {label: mechanism.entry(x, y) for y, label in enumerate(mechanism.outputs)}
        assert {label: share for label, share in law.items() if share} == {a: b for a, b in expected.items() if b}


AGES = {"age": ["child", "adult"], "status": ["single", "married", "n/a, other"]}


def test_impossible_combinations_leave_both_alphabets() -> None:
    cross = CrossClassification(AGES, impossible=[{"age": "child", "status": ["married"]}])
    assert len(cross) == 5
    assert "child, married" not in cross.labels
    release = ProtectedColumn(("age", "status"), RandomizedResponse(cross.labels, epsilon="0.1"))
    pairs = [("child", "single"), ("adult", "married"), ("adult", "n/a, other")] * 2000
    table = pa.table({"status": [s for _, s in pairs], "k": list(range(6000)), "age": [a for a, _ in pairs]})
    made = release_table(table, release)
    assert made.column_names == ["status", "k", "age"]
    assert set(zip(made["age"].to_pylist(), made["status"].to_pylist(), strict=True)) == set(cross.combinations)
    with pytest.raises(InputError, match="columns 'age' with 'status': 1 of 1 is impossible: 'child' with 'married'"):
        release_table(pa.table({"age": ["child"], "status": ["married"]}), release)


def test_a_mechanism_that_could_draw_an_impossible_combination_is_refused() -> None:
    cross = CrossClassification(AGES, impossible=[{"age": "child", "status": "married"}])
    outputs = [joined(parts) for parts in itertools.product(*AGES.values())]
    full = RandomizedResponse(outputs, epsilon=1).to_mechanism()
    some = [x for x, label in enumerate(full.inputs) if label in cross.labels]
    loose = Mechanism.from_rationals(
        [[full.entry(x, y) for y in range(6)] for x in some], inputs=cross.labels, outputs=outputs
    )
    with pytest.raises(InputError, match="output 'child, married' of its mechanism is not a combination of its inputs"):
        Stack(ProtectedColumn(("age", "status"), loose))
    # An output that is never drawn is not a harm; nor is one column that holds the outputs whole.
    harmless = [[Fraction(int(y == x)) for y in range(6)] for x in some]
    Stack(ProtectedColumn(("age", "status"), Mechanism.from_rationals(harmless, inputs=cross.labels, outputs=outputs)))
    table = pa.table({"age": ["adult"], "status": ["single"], "k": [1]})
    made = release_table(table, ProtectedColumn(("age", "status"), loose, name="both"))
    assert made.column_names == ["both", "k"]
    assert made["both"][0].as_py() in outputs


@given(st.lists(st.text(alphabet='ab,\\ "', min_size=1, max_size=5), min_size=2, max_size=4))
@settings(max_examples=300, derandomize=True)
def test_joined_labels_come_apart_again(parts: list[str]) -> None:
    assert split(joined(parts)) == tuple(parts)


def test_joint_labels_are_those_of_pairs() -> None:
    pairs = Pairs(["m", "f, x"], ["a\\b", "c", ","])
    cross = CrossClassification({"s": pairs.sensitive, "u": pairs.other})
    assert cross.labels == pairs.labels


def test_counts_of_a_cross_classification() -> None:
    cross = CrossClassification(AGES, impossible=[{"age": "child", "status": "married"}])
    counts = cross.counts(np.array([[5, 0, 1], [2, 3, 4]]))
    assert rr.Prior.from_counts(counts).weights == (5, 1, 2, 3, 4)
    with pytest.raises(InputError, match="7 counted in impossible combinations, as 'child, married'"):
        cross.counts(np.array([[5, 7, 1], [2, 3, 4]]))
    with pytest.raises(InputError, match="shape"):
        cross.counts([1, 2])


# -- privacy ---------------------------------------------------------------------------------------------------


def law(stack: Stack, values: tuple[str, ...]) -> tuple[Fraction, ...] | None:
    """The distribution of what is drawn for a record, or None where the record is impossible."""
    places = [part.labels.index(value) for part, value in zip(stack.parts, values, strict=True)]
    row = int(stack.row_of([np.array([place]) for place in places])[0])
    if row < 0:
        return None
    strata = [(one, x) for _, one in stack.column.strata for x in range(len(one.inputs))]
    mechanism, x = strata[row]
    entries = {label: mechanism.entry(x, y) for y, label in enumerate(mechanism.outputs)}
    return tuple(entries.get(label, Fraction(0)) for label in stack.outputs)


def worst_ratio(release: Release, records: list[dict[str, str]], public: set[str]) -> Fraction | float:
    """By brute force: the largest ratio of the probabilities of any released record, between two records that agree on
    what is public."""
    stacks = [Stack(one) for one in release.columns]
    worst: Fraction | float = Fraction(1)
    for one, other in itertools.permutations(records, 2):
        if any(one[name] != other[name] for name in public):
            continue
        total: Fraction | float = Fraction(1)
        for stack in stacks:
            p, q = (law(stack, tuple(record[part.name] for part in stack.parts)) for record in (one, other))
            assert p is not None
            assert q is not None
            ratios = [math.inf if b == 0 else a / b for a, b in zip(p, q, strict=True) if a]
            total = math.inf if math.inf in (total, max(ratios)) else total * max(ratios)
        worst = max(worst, total)
    return worst


def test_levels_add_up_to_the_brute_force_ratio() -> None:
    x = matrix([[5, 3, 2], [2, 6, 2], [1, 3, 6]], LABELS, LABELS)
    y = matrix([[3, 1], [1, 2]], ["u", "v"], ["0", "1"])
    release = Release([ProtectedColumn("x", x), ProtectedColumn("y", y)])
    records = [{"x": a, "y": b} for a, b in itertools.product(LABELS, "uv")]
    found = privacy_of(release)
    assert [level.privacy_ratio for level in found.levels] == [x.privacy_ratio, y.privacy_ratio]
    assert found.privacy_ratio == x.privacy_ratio * y.privacy_ratio == worst_ratio(release, records, set())
    assert math.log(found.privacy_ratio) <= found.epsilon <= math.log(found.privacy_ratio) + 1e-15


def test_the_level_of_strata_depends_on_whether_they_are_public() -> None:
    strata = {
        "n": matrix([[5, 1], [1, 3]], ["a", "b"], ["0", "1"]),
        "s": matrix([[1, 1], [1, 9]], ["a", "b"], ["0", "1"]),
    }
    one = ProtectedColumn("x", strata, by="g")
    records = [{"x": a, "g": g} for a, g in itertools.product("ab", "ns")]
    public = privacy_of(Release(one))
    assert public.levels[0].strata == ("g",)
    assert (
        public.privacy_ratio
        == worst_ratio(Release(one), records, {"g"})
        == max(m.privacy_ratio for m in strata.values())
    )
    hidden = privacy_of(Release(one, drop=["g"]))
    assert hidden.levels[0].strata == ()
    assert hidden.privacy_ratio == worst_ratio(Release(one), records, set()) > public.privacy_ratio
    both = Release([one, ProtectedColumn("g", RandomizedResponse(["n", "s"], epsilon=1))])
    found = privacy_of(both)
    assert (
        found.privacy_ratio == hidden.privacy_ratio * found.levels[1].privacy_ratio >= worst_ratio(both, records, set())
    )


def test_strata_with_other_outputs_are_told_apart_by_them() -> None:
    strata = {"n": ABC, "s": RandomizedResponse(["a", "b"], epsilon=1)}
    release = ProtectedColumn("x", strata, by="g")
    assert privacy_of(Release(release)).epsilon <= 1
    assert math.isinf(privacy_of(Release(release, drop=["g"])).epsilon)


def test_a_hard_zero_is_no_privacy() -> None:
    release = Release([ProtectedColumn("x", shifted(LABELS)), ProtectedColumn("y", ABC)])
    assert privacy_of(release).epsilon == math.inf


# -- declarations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: ProtectedColumn([], ABC), "names no column"),
        (lambda: ProtectedColumn(["x", "x"], ABC), "twice"),
        (lambda: ProtectedColumn("x", 3), "is not a mechanism"),
        (lambda: ProtectedColumn("x", {"n": ABC}), "without a column that defines them"),
        (lambda: ProtectedColumn("x", ABC, by="g"), "it has one mechanism"),
        (lambda: ProtectedColumn("x", {}, by="g"), "no mechanism"),
        (lambda: ProtectedColumn("x", {"n": ABC}, by="x"), "its own stratum"),
        (lambda: ProtectedColumn("x", {"n": ABC}, by=["g", "h"]), "is not a value of g, h"),
        (lambda: ProtectedColumn("x", ABC, null=""), "is not a label"),
        (lambda: ProtectedColumn("x", ABC, null={"y": "a"}), "not one of its columns"),
        (lambda: ProtectedColumn("x", ABC, name=""), "not a name"),
        (lambda: Stack(ProtectedColumn("x", ABC, null="z")), "null 'z' is not a label of column 'x'"),
        (lambda: Stack(ProtectedColumn("x", ABC, other="z")), "other 'z' is not a label"),
        (lambda: Stack(ProtectedColumn(["x", "y"], ABC)), "does not have 2 parts"),
        (lambda: Release([]), "does not protect any column"),
        (lambda: Release([ProtectedColumn("x", ABC), ProtectedColumn(["x", "y"], ABC)]), "protected twice"),
        (lambda: Release([ProtectedColumn("x", ABC, name="y"), ProtectedColumn("y", ABC)]), "released twice"),
        (lambda: Release(ProtectedColumn("x", ABC), drop=["x"]), "both protected and dropped"),
        (lambda: release_table(pa.table({"x": ["a"]}), ABC), "is not a release"),  # type: ignore[arg-type]
        (
            lambda: release_table(pa.table({"x": ["a"], "y": [1]}), ProtectedColumn("x", ABC, name="y")),
            "two columns 'y'",
        ),
        (lambda: CrossClassification({"a": ["x", "y"]}), "fewer than two columns"),
        (lambda: CrossClassification(AGES, impossible=[{"sex": "m"}]), "'sex' is not a column"),
        (lambda: CrossClassification(AGES, impossible=[{"age": "old"}]), "'old' is not a label"),
        (lambda: CrossClassification(AGES, impossible=[{}]), "not a pattern"),
        (lambda: CrossClassification(AGES, impossible=[{"age": ["child", "adult"]}]), "it has 0 possible combinations"),
    ],
)
def test_bad_declarations(make: Callable[[], Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        make()


WITHOUT = """
import sys
for name in ("sklearn", "pyarrow", "narwhals"):
    sys.modules[name] = None
import rropt as rr
from rropt import *
mechanism = rr.RandomizedResponse(["a", "b"], epsilon=1)
release = rr.release.Release(rr.release.ProtectedColumn("x", mechanism))
calls = {
    "sklearn": lambda: rr.release.RandomizedColumn(mechanism),
    "pyarrow": lambda: rr.release.release_file("x.csv", release),
    "narwhals": lambda: rr.release.release_table(None, release),
}
for call in calls.values():
    try:
        call()
    except rr.InputError as error:
        print(error)
"""


def test_public_names_load_without_the_packages() -> None:
    """`from rropt import *` does not fail where the optional packages are missing; using them is one clear line."""
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False, timeout=100)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "release: the package sklearn is not installed; pip install 'rropt[learn]'",
        "release: the package pyarrow is not installed; pip install 'rropt[tables]'",
        "release: the package pyarrow is not installed; pip install 'rropt[tables]'",
    ]
