"""Pairs of a sensitive and another value: labels that stay apart, priors from tables and files, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rropt import InputError, MaximalRLDP, Pairs, Prior

PAIRS = Pairs(["f", "m"], ["a", "b", "c"])


def test_pairs_are_flattened_with_the_sensitive_value_first() -> None:
    assert PAIRS.labels == ("f, a", "f, b", "f, c", "m, a", "m, b", "m, c")
    assert PAIRS.groups == ("f", "f", "f", "m", "m", "m")
    assert len(PAIRS) == 6
    assert PAIRS.labels[PAIRS.block(1)] == ("m, a", "m, b", "m, c")
    assert Pairs(2, 2).labels == ("0, 0", "0, 1", "1, 0", "1, 1")
    assert repr(PAIRS) == "Pairs(['f', 'm'], ['a', 'b', 'c'])"


text = st.text(alphabet="ab, \\", min_size=1, max_size=5)
names = st.lists(text, min_size=2, max_size=5, unique=True)


@given(names, names)
def test_labels_of_different_pairs_differ(sensitive: list[str], other: list[str]) -> None:
    """Also where labels hold the separator or the escape."""
    labels = Pairs(sensitive, other).labels
    assert len(set(labels)) == len(sensitive) * len(other)


@given(text, text, text, text)
def test_a_label_can_be_taken_apart(s: str, u: str, t: str, v: str) -> None:
    """The label determines the pair: over all pairs there are, not only those of one table."""
    if (s, u) != (t, v):
        one = Pairs([s, s + "x"], [u, u + "x"]).labels[0]
        other = Pairs([t, t + "x"], [v, v + "x"]).labels[0]
        assert one != other


def test_a_label_with_a_comma_is_escaped() -> None:
    assert Pairs(["a, b", "c"], ["x", "y\\"]).labels[0] == "a\\, b, x"
    assert Pairs(["a, b", "c"], ["x", "y\\"]).labels[3] == "c, y\\\\"


def test_a_prior_of_a_table() -> None:
    table = [[1, 2, 3], [4, 0, 6]]
    made = [Prior.from_counts(kind, pairs=PAIRS) for kind in (table, np.array(table), [1, 2, 3, 4, 0, 6])]
    for prior in made:
        assert prior.weights == (1, 2, 3, 4, 0, 6)
        assert prior.labels == PAIRS.labels
        assert prior.pairs == PAIRS
        assert prior.declared == "counts"
        assert prior == made[0]
    assert made[0] != Prior(PAIRS.labels, (1, 2, 3, 4, 0, 6)), "a prior knows whether its inputs are pairs"
    assert Prior.from_counts({"a": 1, "b": 2}).pairs is None


def test_probabilities_and_weighted_counts_of_pairs() -> None:
    prior = Prior.from_probabilities([["1/2", 0.25, 0], [0, 0.125, "1/8"]], pairs=PAIRS)
    assert prior.probabilities[0] == Fraction(1, 2)
    assert prior.pairs == PAIRS
    # Weighted counts do not say how many were observed, so nothing may take their sum for that.
    assert Prior.from_counts([["1/2", 1, 1], [1, 1, 1]], pairs=PAIRS).declared == "fractional counts"


def test_maximal_rldp_takes_pairs_for_groups() -> None:
    assert MaximalRLDP(1, groups=PAIRS) == MaximalRLDP(1, groups=["f", "f", "f", "m", "m", "m"])


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "one sensitive value": (
        lambda: Pairs(["a"], ["x", "y"]),
        "sensitive values: 1 given, at least 2 needed; add categories",
    ),
    "one other value": (lambda: Pairs(["a", "b"], 1), "other values: 1 given, at least 2 needed; add categories"),
    "a label twice": (
        lambda: Pairs(["a", "a"], 2),
        "sensitive values: label 'a' appears twice; make the labels distinct",
    ),
    "too many": (lambda: Pairs(1000, 1000), "Pairs: 1,000,000 pairs are too many; give at most 100,000"),
    "transposed": (
        lambda: Prior.from_counts([[1, 2], [3, 4], [5, 6]], pairs=PAIRS),
        "counts: it is 3 x 2; it must be 2 sensitive x 3 other values: transpose it",
    ),
    "another shape": (
        lambda: Prior.from_counts(np.ones((2, 2)), pairs=PAIRS),
        "counts: it is 2 x 2; it must be 2 sensitive x 3 other values",
    ),
    "flat": (
        lambda: Prior.from_counts([1, 2, 3], pairs=PAIRS),
        "counts: 3 numbers for 6 labels; give one number each",
    ),
    "ragged": (
        lambda: Prior.from_counts([[1, 2, 3], [4, 5]], pairs=PAIRS),
        "counts: it is ragged: its rows have different lengths; give every row as many numbers",
    ),
    "half nested": (
        lambda: Prior.from_counts([[1, 2, 3], 4], pairs=PAIRS),
        "counts: row 1 is not a list of numbers; give one list of numbers per row",
    ),
    "a word": (
        lambda: Prior.from_counts("123456", pairs=PAIRS),
        "counts: it is not a table of numbers; give one row per sensitive value",
    ),
    "negative": (
        lambda: Prior.from_counts([[1, 2, 3], [4, -5, 6]], pairs=PAIRS),
        "count of 'm, b': -5 is negative; give numbers >= 0",
    ),
    "missing": (
        lambda: Prior.from_counts([[1, 2, 3], [4, None, 6]], pairs=PAIRS),
        "count of 'm, b': None is not a number; write 0.25 or \"1/4\"",
    ),
    "not finite": (
        lambda: Prior.from_counts(np.array([[1, 2, 3], [4, np.nan, 6]]), pairs=PAIRS),
        "count of 'm, b': nan is not a finite number; give a finite one",
    ),
    "all zero": (
        lambda: Prior.from_counts(np.zeros((2, 3), dtype=int), pairs=PAIRS),
        "count: all numbers are zero; give at least one positive number",
    ),
    "labels besides": (
        lambda: Prior.from_counts([[1, 2, 3], [4, 5, 6]], labels=list("abcdef"), pairs=PAIRS),
        "counts: labels and pairs are both given, and pairs already name the inputs; leave labels out",
    ),
    "no pairs": (
        lambda: Prior.from_probabilities([[1, 0]], pairs=(2, 1)),  # type: ignore[arg-type]
        "pairs: expected Pairs, got (2, 1); give rropt.Pairs(sensitive, other)",
    ),
    "other labels": (
        lambda: Prior(("a", "b"), (1, 2), pairs=PAIRS),
        "prior: its labels are not those of its pairs; leave the labels to the pairs",
    ),
    "groups of one value": (
        lambda: MaximalRLDP(1, groups=["s", "s"]),
        "MaximalRLDP groups: all inputs share one sensitive value; give at least two values",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(InputError) as found:
        make()
    assert str(found.value) == message


# ---- files -------------------------------------------------------------------------------------------

GOOD = "sex,race,count\nf,a,1\nm,b,4\nf,b,2\nm,a,0\n"


def test_a_file_of_pairs(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(GOOD, encoding="utf-8")
    prior = Prior.from_csv(path, pairs=("sex", "race"))
    assert prior.pairs == Pairs(["f", "m"], ["a", "b"])
    assert prior.weights == (1, 2, 0, 4)


FILES = {
    "the columns are turned": (
        GOOD.replace("sex,race", "race,sex"),
        "the first line is 'race,sex,count'; it must be: sex,race,count",
    ),
    "semicolons": (
        GOOD.replace(",", ";"),
        "the first line is 'sex;race;count'; use commas, and it must be: sex,race,count",
    ),
    "empty": ("", "the first line is 'nothing'; it must be: sex,race,count"),
    "a pair is missing": (
        GOOD.replace("m,a,0\n", ""),
        "counts: the pair 'm, a' is missing; add the line m,a,0 if it is 0",
    ),
    "a pair twice": (GOOD + "m,a,1\n", "the pair 'm, a' appears twice (line 6); add the two up"),
    "a short line": (GOOD + "m,3\n", "line 6 is 'm,3'; write sex,race,count"),
    "an empty value": (GOOD + "m,,3\n", "line 6 is 'm,,3'; write sex,race,count"),
    "no number": (GOOD + "m,c,x\n", " line 6: 'x' is not a number; write 0.25 or \"1/4\""),
    "negative": (GOOD.replace("m,b,4", "m,b,-4"), "count of 'm, b': -4 is negative; give numbers >= 0"),
    "one sensitive value": (
        "sex,race,count\nf,a,1\nf,b,4\n",
        "sensitive values: 1 given, at least 2 needed; add categories",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, name: str) -> None:
    text, message = FILES[name]
    path = tmp_path / "counts.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as found:
        Prior.from_csv(path, pairs=("sex", "race"))
    assert str(found.value).startswith(str(path))
    assert str(found.value).endswith(message)


@pytest.mark.parametrize("names", ["sex", ("sex",), ("sex", "race", "age")])
def test_two_columns_are_named(tmp_path: Path, names: object) -> None:
    with pytest.raises(InputError, match="not two names of columns; as pairs="):
        Prior.from_csv(tmp_path / "none.csv", pairs=names)  # type: ignore[arg-type]
