"""Priors: exact proportions of labelled categories, from everything a user may hold in hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from drawing import priors
from hypothesis import given, settings, strategies as st

from rropt.errors import InputError
from rropt.model.prior import Prior, clean_labels

F = Fraction


def test_counts_become_exact_proportions() -> None:
    prior = Prior.from_counts({"HS-grad": 10501, "Bachelors": 5355, "Masters": 1723})
    assert prior.labels == ("HS-grad", "Bachelors", "Masters")
    assert prior.probabilities == (F(10501, 17579), F(5355, 17579), F(1723, 17579))
    assert len(prior) == 3
    assert sum(prior.probabilities) == 1


@pytest.mark.parametrize(
    "counts",
    [
        [1, 2, 3],
        (1, 2, 3),
        np.array([1, 2, 3]),
        np.array([1.0, 2.0, 3.0]),
        np.array([0.1, 0.2, 0.3], dtype=np.float32),
        ["1", "2", "3"],
        [F(1, 3), F(2, 3), 1],
        [Decimal("0.1"), "1/5", 0.3],
        iter([1, 2, 3]),
    ],
)
def test_counts_of_any_kind_of_number(counts: object) -> None:
    prior = Prior.from_counts(counts)  # type: ignore[arg-type]
    assert prior.labels == ("0", "1", "2")
    assert prior.probabilities == (F(1, 6), F(1, 3), F(1, 2))


def test_probabilities_near_one_are_divided_by_their_exact_sum() -> None:
    assert Prior.from_probabilities([0.1] * 10).probabilities == (F(1, 10),) * 10
    third = Prior.from_probabilities([0.3333333333, 0.3333333333, 0.3333333333])
    assert third.probabilities == (F(1, 3),) * 3
    edge = Prior.from_probabilities(["0.5", "0.500000001"])
    assert sum(edge.probabilities) == 1
    assert edge.probabilities[0] == F(1, 2) / (1 + F(1, 10**9))


@pytest.mark.parametrize("second", ["0.5000000011", "0.4999999989", "0.6", "0"])
def test_probabilities_that_do_not_sum_to_one(second: str) -> None:
    with pytest.raises(InputError, match=r"sum to .*not to one; .*counts"):
        Prior.from_probabilities(["0.5", second])


def test_uniform_from_a_number_or_labels() -> None:
    assert Prior.uniform(3) == Prior.uniform([0, 1, 2]) == Prior.uniform(["0", "1", "2"])
    assert Prior.uniform(np.int64(2)).probabilities == (F(1, 2), F(1, 2))
    assert Prior.uniform(("x", "y")).labels == ("x", "y")


def test_the_array_is_float64() -> None:
    array = Prior.from_counts([1, 2]).array
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [1 / 3, 2 / 3])


def test_how_a_prior_was_declared_does_not_matter_for_equality() -> None:
    assert Prior.from_counts([1, 1]) == Prior.uniform(2) == Prior.from_probabilities([0.5, 0.5])
    assert Prior.from_counts([1, 2]) != Prior.from_counts([2, 1])
    assert hash(Prior.uniform(2)) == hash(Prior.from_counts([1, 1]))


def test_a_prior_cannot_be_changed() -> None:
    prior = Prior.uniform(2)
    with pytest.raises(AttributeError):
        prior.weights = (1, 2)  # type: ignore[misc]
    prior.array[0] = 7.0
    assert prior.array[0] == 0.5


def test_repr_is_short() -> None:
    assert repr(Prior.from_counts({"a": 1, "b": 3})) == "Prior({'a': 0.25, 'b': 0.75})"
    assert repr(Prior.uniform(100)).endswith(", ... 96 more})")
    # Rounded numbers need not sum to one, and are called so.
    assert repr(Prior.uniform(["a", "b", "c"])) == "Prior({'a': 0.3333, 'b': 0.3333, 'c': 0.3333}, rounded)"


@given(priors())
@settings(max_examples=100, derandomize=True)
def test_weights_are_proportional_to_the_probabilities(prior: Prior) -> None:
    assert sum(prior.probabilities) == 1
    assert Prior.from_probabilities(list(prior.probabilities)).probabilities == prior.probabilities
    assert Prior.from_counts(dict(zip(prior.labels, prior.weights, strict=True))) == prior


@given(st.lists(st.floats(0, 1e300), min_size=2, max_size=6).filter(any))
@settings(max_examples=100, derandomize=True)
def test_float_counts_mean_their_shortest_decimals(counts: list[float]) -> None:
    prior = Prior.from_counts(counts)
    meant = [F(repr(count)) for count in counts]
    assert prior.probabilities == tuple(count / sum(meant) for count in meant)


# -- bad ones, one line each ------------------------------------------------

BAD: list[tuple[str, Callable[[], object], str]] = [
    ("negative", lambda: Prior.from_counts({"a": 1, "b": -2}), "'b'.*negative"),
    ("nan", lambda: Prior.from_counts({"a": 1, "b": math.nan}), "'b'.*finite"),
    ("infinite", lambda: Prior.from_counts([math.inf, 1]), "'0'.*finite"),
    ("text", lambda: Prior.from_counts({"a": "many", "b": 1}), "'a'.*not a number"),
    ("truth value", lambda: Prior.from_counts({"a": True, "b": 1}), "'a'.*truth value"),
    ("missing number", lambda: Prior.from_counts({"a": None, "b": 1}), "'a'.*not a number"),
    ("all zero", lambda: Prior.from_counts([0, 0]), "zero"),
    ("one category", lambda: Prior.from_counts({"a": 1}), "at least 2"),
    ("none", lambda: Prior.from_counts([]), "at least 2"),
    ("two axes", lambda: Prior.from_counts(np.eye(2)), "number"),  # type: ignore[arg-type]
    ("a string", lambda: Prior.from_counts("12"), "string"),
    ("no list", lambda: Prior.from_counts(5), "not a list"),  # type: ignore[arg-type]
    ("labels twice", lambda: Prior.from_counts({"a": 1, "b": 2}, labels=["a", "b"]), "twice"),
    ("too few labels", lambda: Prior.from_counts([1, 2, 3], labels=["a", "b"]), "3 numbers for 2 labels"),
    ("duplicate label", lambda: Prior.from_counts([1, 2], labels=["a", "a"]), "'a'.*twice"),
    ("duplicate as text", lambda: Prior.from_counts({1: 1, "1": 2}), "'1'.*twice"),
    ("empty label", lambda: Prior.from_counts({"": 1, "b": 2}), "label 1"),
    ("missing label", lambda: Prior.from_counts([1, 2], labels=["a", None]), "label 2"),
    ("nan label", lambda: Prior.from_counts([1, 2], labels=["a", math.nan]), "label 2"),
    ("surrogate", lambda: Prior.from_counts({"\ud800": 1, "b": 2}), "Unicode"),
    ("labels a string", lambda: Prior.from_counts([1, 2], labels="ab"), "string"),
    ("labels a number", lambda: Prior.from_counts([1, 2], labels=3), "label"),  # type: ignore[arg-type]
    ("uniform of 1", lambda: Prior.uniform(1), "1 given"),
    ("uniform of too many", lambda: Prior.uniform(10**6), "categories"),
    ("uniform of a truth value", lambda: Prior.uniform(True), "truth value"),
    ("uniform of 2.5", lambda: Prior.uniform(2.5), "uniform prior"),  # type: ignore[arg-type]
    ("uniform of nothing", lambda: Prior.uniform(None), "uniform prior"),  # type: ignore[arg-type]
    ("proportions too long to write", lambda: Prior.from_counts({"a": "1e3999", "b": "1e-3999"}), "digits|range|long"),
    ("fractional weights", lambda: Prior(("a", "b"), (1, F(1, 2))), "integers"),  # type: ignore[arg-type]
    ("weights too few", lambda: Prior(("a", "b"), (1,)), "1 weight for 2"),
]


@pytest.mark.parametrize(("make", "what"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_priors(make: Callable[[], object], what: str) -> None:
    with pytest.raises(InputError, match=what) as info:
        make()
    assert "\n" not in str(info.value)
    assert info.value.where


# -- files -------------------------------------------------------------------------------------------------


def csv_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "counts.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        'category,count\na,1\n"b, c",2.5\n',
        '\ufeffcategory,count\r\na,1\r\n"b, c",5/2\r\n',
        ' category , count \n\na , 1\n"b, c", 2.5',
    ],
)
def test_counts_from_a_file(tmp_path: Path, text: str) -> None:
    prior = Prior.from_csv(csv_file(tmp_path, text))
    assert prior.labels == ("a", "b, c")
    assert prior.weights == (2, 5)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "first line is 'nothing'"),
        ("a,1\nb,2\n", "first line"),
        ("category,count\na,1\nb\n", "line 3"),
        ("category,count\na,1\nb,2,3\n", "line 3"),
        ("category,count\na,1\n,2\n", "line 3"),
        ("category,count\na,1\nb,x\n", "line 3"),
        ("category,count\na,1\nb,nan\n", "line 3"),
        ("category,count\na,1\nb,-1\n", "'b'"),
        ("category,count\na,1\na,2\n", "'a'.*twice.*line 3"),
        ("category,count\na,1\n", "at least 2"),
        (b"category,count\n\xff,1\n", "UTF-8"),
        ("category,count\n" + "a" * 200_000 + ",1\nb,2\n", "counts.csv"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_files_of_counts(tmp_path: Path, text: str | bytes, what: str) -> None:
    path = csv_file(tmp_path, text)
    with pytest.raises(InputError, match=what) as info:
        Prior.from_csv(path)
    assert str(path) in str(info.value)
    assert "\n" not in str(info.value)


LABELS = [
    "a",
    "b",
    "#a",
    " a",
    "a ",
    "a\nb",
    "a\r\nb",
    'a"b',
    '"',
    "a,b",
    "a;b",
    "a\tb",
    "'a'",
    "=1",
    "0",
    "1",
    "é",
    "\\",
    " 1",
]


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_counts_that_pandas_writes_are_read_again_or_refused_in_one_line(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pd, path = pytest.importorskip("pandas"), tmp_path_factory.getbasetemp() / "pandas.csv"
    labels = data.draw(st.lists(st.sampled_from(LABELS), min_size=2, max_size=4, unique=True))
    counts = data.draw(st.lists(st.integers(1, 99), min_size=len(labels), max_size=len(labels)))
    weighted = data.draw(st.booleans())
    series = pd.Series([count / 2 if weighted else count for count in counts], index=labels, name="count")
    form = {
        "index_label": "category",
        "sep": data.draw(st.sampled_from([",", ",", ";", "\t"])),
        "quoting": data.draw(st.sampled_from(range(3))),
        "quotechar": data.draw(st.sampled_from(['"', '"', "'"])),
        "lineterminator": data.draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "encoding": data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
        "header": data.draw(st.sampled_from([True, True, False])),
    }
    series.to_csv(path, **form)
    sure = [form[name] for name in ("sep", "quotechar", "encoding", "header")] in (
        [",", '"', "utf-8", True],
        [",", '"', "utf-8-sig", True],
    )
    # Older Pythons do not quote a line break that is not the one of the file: what is written can be read in two ways.
    breaks = set("\r\n") - set(form["lineterminator"])
    sure = sure and (bool(form["quoting"]) or not any(breaks & set(label) for label in labels))
    refused: InputError | None = None
    try:
        prior = Prior.from_csv(path)
    except InputError as error:
        refused = error
    if refused is not None:
        assert "\n" not in str(refused)
        assert not sure, refused
        return
    assert prior == Prior.from_counts(series)


@pytest.mark.parametrize("name", ["missing.csv", ".", "a\0b"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot read"):
        Prior.from_csv(f"{tmp_path}/{name}")


def test_labels_are_texts_in_their_order() -> None:
    assert clean_labels(["b", 2, "a"], "test") == ("b", "2", "a")
