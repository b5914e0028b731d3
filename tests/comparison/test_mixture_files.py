"""Weights of permutations as a file: written by `rropt solve`, read back exactly, refused where they are wrong."""

from __future__ import annotations

import csv
import random
from fractions import Fraction
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.comparison.matrix_files import read_matrix
from rropt.comparison.permutations.mixture_files import save_mixture
from rropt.errors import InputError

F = Fraction
PROBLEM = """schema = 1
name = "shift"
[input]
categories = ["north, east", "south", "w\\"est", "=up"]
[objective]
maximize = "trace"
[[constraint]]
kind = "permutation_mixture"
weights = [["identity", 0, 0.3]]
"""


def test_solve_writes_the_weights_and_they_are_read_back(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PROBLEM)
    assert cli.main(["solve", str(tmp_path / "p.toml"), "--out", str(tmp_path / "o")]) == 0
    mechanism = rr.Mechanism.load(tmp_path / "o" / "mechanism.json")
    weights = rr.ordering.load_mixture(tmp_path / "o" / "mixture.csv", mechanism=mechanism)
    assert weights == rr.load_problem(tmp_path / "p.toml").solve().decomposition
    assert weights[mechanism.inputs] == F("0.3")
    # Added up here once more, without the reader.
    for x, given in enumerate(mechanism.inputs):
        for y, answer in enumerate(mechanism.inputs):
            told = sum((w for outputs, w in weights.items() if outputs[x] == answer), F(0))
            assert told == mechanism.entry(x, y), (given, answer)


STRANGE = ["a\rb", "\r", "\n", "c\r\nd", "e\nf", 'q"q', "g,h", "#x", " i", "0", "\t", "\\", "\u2028\x85", "weight", "="]


@pytest.mark.parametrize("labels", [STRANGE, STRANGE[1:], STRANGE[7:], STRANGE[::-1]])
def test_labels_with_ends_of_lines_survive(tmp_path: Path, labels: list[str]) -> None:
    inputs = tuple(labels)
    weights = {inputs: F(1, 3), inputs[::-1]: F(2, 3)}
    path = save_mixture(weights, inputs, tmp_path / "mixture.csv")
    assert rr.ordering.load_mixture(path) == weights
    # What any reader of CSV makes of the float matrix.
    mechanism = rr.RandomizedResponse(inputs, epsilon=1).to_mechanism()
    with mechanism.to_csv(tmp_path / "m.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, strict=True))
    assert rows[0] == ["input", *inputs]
    assert [row[0] for row in rows[1:]] == labels


def test_a_label_that_looks_like_a_remark_is_not_skipped(tmp_path: Path) -> None:
    """An audit that left a row out would miss what it gives away."""
    rows = [[F(5, 10), F(5, 10)], [F(4, 10), F(6, 10)], [F(1, 10), F(9, 10)]]
    mechanism = rr.Mechanism.from_rationals(rows, inputs=["a", "b", "#c"], outputs=["x", "y"])
    raw = read_matrix(mechanism.to_csv(tmp_path / "m.csv"))
    assert len(raw.entries) == 3


def test_counts_of_labels_with_ends_of_lines_are_read(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes(b'category,count\r\n"a\rb",2\r\n"c\r\nd",3\r\ne,4\r\n')
    assert rr.Prior.from_csv(tmp_path / "c.csv").labels == ("a\rb", "c\r\nd", "e")


def test_a_result_without_weights_leaves_none_of_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PROBLEM)
    for text in (PROBLEM, PROBLEM.split("[[constraint]]")[0] + '[[constraint]]\nkind = "bistochastic"\n'):
        (tmp_path / "p.toml").write_text(text)
        assert cli.main(["solve", str(tmp_path / "p.toml"), "--out", str(tmp_path / "o")]) == 0
    assert not (tmp_path / "o" / "mixture.csv").exists()


def test_long_weights_stay_exact(tmp_path: Path) -> None:
    rng = random.Random(3)
    inputs = tuple("abcdefgh")
    drawn = {tuple(rng.sample(inputs, 8)): rng.getrandbits(200) + 1 for _ in range(30)}
    total = sum(drawn.values())
    weights = {outputs: F(weight, total) for outputs, weight in drawn.items()}
    path = save_mixture(weights, inputs, tmp_path / "mixture.csv")
    assert rr.ordering.load_mixture(path) == weights


GOOD = "weight,a,b\n1/3,a,b\n2/3,b,a\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no head"),
        ("a,b\n1,1\n", "has no head"),
        ("weight,a,a\n1,a,a\n", "appears twice"),
        (GOOD.replace("2/3,b,a\n", ""), "sum to 0.333333333333, not to one"),
        (GOOD.replace("b,a", "b"), "line 3: it is not a permutation"),
        (GOOD.replace("b,a", "b,b"), "line 3: it is not a permutation"),
        (GOOD.replace("b,a", "a,b"), "second time"),
        (GOOD.replace("2/3", "two"), "'two' is not a number"),
        (GOOD.replace("1/3", "-1/3").replace("2/3", "4/3"), "line 2: its weight -1/3 is not positive"),
        (GOOD.replace("2/3", '"2/3'), "line 3 cannot be read"),
        (GOOD.replace("1/3", "1/2").replace("2/3", "1/2"), "another matrix than the mechanism"),
        ("weight,c,b\n1,c,b\n", "not the inputs and outputs of the mechanism"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, text: str, words: str) -> None:
    mechanism = rr.Mechanism.from_rationals(
        [[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]], inputs=["a", "b"], outputs=["a", "b"]
    )
    path = tmp_path / "mixture.csv"
    path.write_text(GOOD)
    assert rr.ordering.load_mixture(path, mechanism=mechanism) == {("a", "b"): F(1, 3), ("b", "a"): F(2, 3)}
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        rr.ordering.load_mixture(path, mechanism=mechanism)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_no_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read this mixture file"):
        rr.ordering.load_mixture(tmp_path / "none.csv")
