"""A release of a table in memory keeps all that it does not protect: index, order, names and types."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt.release import ProtectedColumn, release_table

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("narwhals")

LABELS = ["low", "mid", "high"]
NEXT = rr.Mechanism.from_matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]], inputs=LABELS, outputs=LABELS)
"""Gives the next label, always: what a release does with it can be foretold."""
AFTER = dict(zip(LABELS, [*LABELS[1:], LABELS[0]], strict=True))


def protect(table: Any, name: str = "s") -> Any:
    """The release of a column, forced, without a word."""
    return release_table(table, ProtectedColumn(name, NEXT), force=True, warn=lambda _: None)


INDEXES: dict[str, Any] = {
    "numbers": lambda n: pd.RangeIndex(n),
    "every other number": lambda n: pd.RangeIndex(5, 5 + 2 * n, 2, name="k"),
    "filtered": lambda n: pd.RangeIndex(3 * n)[::3],
    "shuffled": lambda n: pd.Index([(7 * at + 3) % 11 for at in range(n)], name="s"),
    "duplicated": lambda n: pd.Index([at // 2 for at in range(n)]),
    "text": lambda n: pd.Index([f"p{at}" for at in range(n)], name=0),
    "mixed": lambda n: pd.Index([(at, str(at), 0.5)[at % 3] for at in range(n)], dtype=object),
    "dates": lambda n: pd.date_range("2024-03-30", periods=n, tz="Europe/Berlin", name="day"),
    "periods": lambda n: pd.period_range("2024", periods=n, freq="M"),
    "categories": lambda n: pd.CategoricalIndex(["v", "u"] * (n // 2) + ["v"] * (n % 2), categories=["v", "u", "w"]),
    "floats": lambda n: pd.Index(np.linspace(1, 0, n) if n else np.array([], float)),
    "levels": lambda n: pd.MultiIndex.from_arrays([[at // 2 for at in range(n)], ["x"] * n], names=["a", None]),
    "intervals": lambda n: pd.interval_range(0, n) if n else pd.RangeIndex(0),
}
COLUMNS: dict[str, Any] = {
    "numbers": lambda n: np.arange(n)[::-1],
    "small numbers": lambda n: np.arange(n, dtype=np.int8),
    "nullable numbers": lambda n: pd.array([None, 2][: n % 3] + [1] * (n - len([None, 2][: n % 3])), dtype="Int16"),
    "nullable truth": lambda n: pd.array(([True, None] * n)[:n], dtype="boolean"),
    "truth": lambda n: np.arange(n) % 2 == 0,
    "floats": lambda n: np.array(([0.5, np.nan] * n)[:n], dtype=np.float32),
    "ordered": lambda n: pd.Categorical((["v", "u"] * n)[:n], categories=["w", "v", "u"], ordered=True),
    "categories of numbers": lambda n: pd.Categorical(([3, 1] * n)[:n], categories=[3, 2, 1]),
    "dates": lambda n: pd.date_range("2024", periods=n, tz="UTC"),
    "spans": lambda n: pd.to_timedelta(np.arange(n), unit="s"),
    "periods": lambda n: pd.period_range("2024", periods=n, freq="D"),
    "objects": lambda n: np.array([([1], {"k": 1}, None, "x")[at % 4] for at in range(n)] + [None], dtype=object)[:n],
    "text": lambda n: pd.array(([None, "é"] * n)[:n], dtype="string"),
    "arrow": lambda n: pd.array(([None, 3] * n)[:n], dtype=pd.ArrowDtype(pa.int32())),
    "complex": lambda n: np.arange(n) * 1j,
    "intervals": lambda n: pd.array([pd.Interval(at, at + 1) for at in range(n)], dtype="interval[int64]"),
    "categories of intervals": lambda n: pd.Categorical.from_codes(np.arange(n) % 2, pd.interval_range(0, 2), True),
    "categories of periods": lambda n: pd.Categorical(pd.period_range("2024", periods=n, freq="M")),
}
PROTECTED: dict[str, Any] = {
    "objects": lambda v: np.array([*v, None], dtype=object)[:-1],
    "string": lambda v: pd.array(v, dtype="string"),
    "category": lambda v: pd.Categorical(v, categories=LABELS[::-1]),
    "ordered": lambda v: pd.Categorical(v, categories=LABELS, ordered=True),
    "arrow": lambda v: pd.array(v, dtype=pd.ArrowDtype(pa.string())),
}
NAMES: list[Any] = ["u", 0, 1.5, None, ("u", "v"), "0", dt.date(2024, 1, 1), True, float("nan"), "a b", ""]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_pandas_keeps_index_order_names_and_types(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, 9))
    values = data.draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n))
    kinds = data.draw(st.lists(st.sampled_from(sorted(COLUMNS)), max_size=4))
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=len(kinds), max_size=len(kinds), unique_by=repr))
    at = data.draw(st.integers(0, len(kinds)))
    index = INDEXES[data.draw(st.sampled_from(sorted(INDEXES)))](n)
    protected = data.draw(st.sampled_from(sorted(PROTECTED)))
    made = {f"c{place}": pd.Series(COLUMNS[kind](n), index=index) for place, kind in enumerate(kinds)}
    parts = list(made.values())
    parts.insert(at, pd.Series(PROTECTED[protected](values), index=index))
    table = pd.concat(parts, axis=1)
    labels = [*names[:at], "s", *names[at:]]
    form = data.draw(st.sampled_from(["plain", "object", "levels", "named"]))
    if form == "levels":
        table.columns = pd.MultiIndex.from_tuples(
            [("s", "") if name == "s" else (f"x{i}", i) for i, name in enumerate(labels)]
        )
    else:
        table.columns = pd.Index(labels, dtype=object if form == "object" else None, tupleize_cols=False)
        if form == "named":
            table.columns.name = "names"
    before = table.copy()
    found = protect(table, name=str(table.columns[at]))
    pd.testing.assert_frame_equal(table, before)
    assert found.iloc[:, at].tolist() == [AFTER[value] for value in values]
    rest = [place for place in range(len(labels)) if place != at]
    pd.testing.assert_frame_equal(found.iloc[:, rest], table.iloc[:, rest], check_exact=True, check_freq=True)
    pd.testing.assert_index_equal(found.index, table.index, exact=True)
    pd.testing.assert_index_equal(found.columns, table.columns, exact=True)
    if protected != "category":  # their order is that of the mechanism's outputs
        assert found.dtypes.iloc[at] == table.dtypes.iloc[at]


def test_what_is_not_text_names_a_column_of_pandas_by_its_text() -> None:
    table = pd.DataFrame([["low", "mid"], ["high", "mid"]], index=[7, 5])
    pd.testing.assert_frame_equal(protect(table, "0"), pd.DataFrame([["mid", "mid"], ["low", "mid"]], index=[7, 5]))
    both = table.set_axis([0, "0"], axis=1)
    assert protect(both, "0").to_numpy().tolist() == [["low", "high"], ["high", "high"]]
    with pytest.raises(rr.InputError, match=r"there is no column 's'; its columns are '0', '1'") as caught:
        protect(table)
    assert len(str(caught.value).splitlines()) == 1
    pair = rr.Mechanism.from_matrix(
        [[int(x % 3 == y) for y in range(3)] for x in range(9)],
        inputs=[f"{one}, {other}" for one in LABELS for other in LABELS],
        outputs=LABELS,
    )
    for labels in ([0, 1, 2], pd.date_range("2024", periods=3), pd.MultiIndex.from_product([range(3), [0]])):
        table = pd.DataFrame([[9, "low", "mid"]], index=["p"], columns=labels)
        names = tuple(map(str, table.columns.tolist()[1:]))
        found = release_table(table, ProtectedColumn(names, pair, name="new"), unidentified=True, warn=lambda _: None)
        assert found.to_numpy().tolist() == [[9, "mid"]]
        assert found.columns[0] == table.columns[0]
        assert "new" in (found.columns[1], found.columns[1][0])
        assert found.index.tolist() == ["p"]


POLARS: dict[str, Any] = {
    "Enum": pl.Series(["v", "u", None, "v"], dtype=pl.Enum(["w", "v", "u"])),
    "Categorical": pl.Series(["v", "u", None, "v"], dtype=pl.Categorical),
    "Decimal": pl.Series(["1.5", "2.5", None, "0"]).cast(pl.Decimal(10, 2)),
    "Date": pl.Series([dt.date(2024, 1, day) for day in (4, 3, 2, 1)]),
    "Datetime": pl.Series([dt.datetime(2024, 1, 1)] * 4).dt.replace_time_zone("Europe/Berlin"),
    "List": pl.Series([[1], [], None, [2, 3]]),
    "Struct": pl.Series([{"a": 1}, {"a": None}, {"a": 2}, {"a": 3}]),
    "Int8": pl.Series([1, None, 3, 4], dtype=pl.Int8),
    "Object": pl.Series([object(), 1, "x", None], dtype=pl.Object),
    "Null": pl.Series([None] * 4),
    "Binary": pl.Series([b"a", None, b"", b"c"]),
}


@pytest.mark.parametrize("at", range(2))
@pytest.mark.parametrize("kind", POLARS)
@pytest.mark.parametrize("type_", [pl.String, pl.Enum(LABELS), pl.Enum(LABELS[::-1])], ids=str)
def test_polars_keeps_order_and_types(kind: str, at: int, type_: Any) -> None:
    columns = [POLARS[kind].alias("u")]
    columns.insert(at, pl.Series("s", ["low", "high", "low", "mid"], dtype=type_))
    table = pl.DataFrame(columns)
    found = protect(table)
    assert found.schema == table.schema
    assert found["s"].to_list() == ["mid", "low", "mid", "high"]
    assert found["u"].to_list() == table["u"].to_list()


def test_pyarrow_keeps_types_nullability_chunks_and_the_index_of_pandas() -> None:
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), pa.array(["v", "u"]), ordered=True)
    chunks = pa.chunked_array([[1], [2, 3], [4]], pa.int16())
    types = [("u", ordered.type), ("s", pa.large_string()), ("k", chunks.type)]
    schema = pa.schema([pa.field(name, type_, nullable=name == "u", metadata={"note": "x"}) for name, type_ in types])
    table = pa.Table.from_arrays(
        [ordered, pa.array(["low", "high", "low", "mid"], pa.large_string()), chunks], schema=schema
    )
    found = protect(table)
    assert [(one.name, one.type, one.nullable) for one in found.schema] == [
        (one.name, one.type, one.nullable) for one in schema
    ]
    assert (found["u"].chunk(0), found["k"].num_chunks) == (ordered, 3)
    assert found["s"].to_pylist() == ["mid", "low", "mid", "high"]
    frame = pd.DataFrame({"s": ["low", "mid"], "d": [1, 2]}, index=pd.Index([9, 4], name="person"))
    frame["d"] = frame["d"].astype("Int8")
    expected = frame.assign(s=["mid", "high"])
    pd.testing.assert_frame_equal(protect(pa.Table.from_pandas(frame)).to_pandas(), expected, check_dtype=False)
    assert protect(pa.Table.from_pandas(frame)).to_pandas().dtypes["d"] == frame.dtypes["d"]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([["low", 1, 2]], columns=["s", "u", "u"]),
        pd.DataFrame([["low", 1, 2]], columns=["s", 0, 0]),
        pa.Table.from_arrays([pa.array(["low"]), pa.array([1]), pa.array([1])], names=["s", "u", "u"]),
    ],
    ids=["pandas", "pandas numbers", "pyarrow"],
)
def test_two_columns_of_one_name_are_one_line(table: Any) -> None:
    with pytest.raises(rr.InputError, match=r"two columns are named '[u0]'") as caught:
        protect(table)
    assert len(str(caught.value).splitlines()) == 1
