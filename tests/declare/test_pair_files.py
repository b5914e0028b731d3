"""Problem files whose inputs are pairs: the constraint rldp takes pairs and counts from [input]."""

from __future__ import annotations

from pathlib import Path

import pytest

import rropt as rr
from rropt.problem_file import parse_problem

GOAL = '[objective]\nmaximize = "mutual_information"\n'
RLDP = '[[constraint]]\nkind = "rldp"\nepsilon = 1\n'
LABELS = 'sensitive = ["f", "m"]\nother = ["a", "b", "c"]\n'
TABLE = "counts = [[35, 3, 130], [0, 24, 209]]\n"
PRIOR = rr.Prior.from_counts([[35, 3, 130], [0, 24, 209]], pairs=rr.Pairs(["f", "m"], ["a", "b", "c"]))


def text(given: str, constraint: str = RLDP) -> str:
    return f"schema = 1\n[input]\n{given}{GOAL}{constraint}"


def test_pairs_and_counts_of_the_input_are_those_of_the_constraint() -> None:
    problem = parse_problem(text(LABELS + TABLE))
    assert problem.objective.prior == PRIOR
    assert problem.constraints == (rr.RLDP(1, rr.robust.ChiSquareSet(PRIOR)),)
    assert problem.inputs == PRIOR.labels


def test_numbers_of_values_and_probabilities_serve_too() -> None:
    known = RLDP + 'confidence = "known"\n'
    problem = parse_problem(text('sensitive = 2\nother = 2\nprobabilities = [[0.25, 0.5], ["1/8", 0.125]]\n', known))
    prior = rr.Prior.from_probabilities([["1/4", "1/2"], ["1/8", "1/8"]], pairs=rr.Pairs(2, 2))
    assert problem.objective.prior == prior
    assert problem.constraints == (rr.RLDP(1, rr.robust.KnownDistribution(prior)),)


def test_a_file_of_counts_names_its_two_columns(tmp_path: Path) -> None:
    rows = "".join(f"{s},{u},{count}\n" for (s, u), count in zip(
        [(s, u) for s in "fm" for u in "abc"], PRIOR.weights, strict=True
    ))  # fmt: skip
    (tmp_path / "pairs.csv").write_text("sex,race,count\n" + rows, encoding="utf-8")
    given = 'counts_file = "pairs.csv"\npairs = ["sex", "race"]\n'
    problem = parse_problem(text(given), source=str(tmp_path / "problem.toml"))
    assert problem.objective.prior == PRIOR
    assert problem.constraints == (rr.RLDP(1, rr.robust.ChiSquareSet(PRIOR)),)


@pytest.mark.parametrize("form", ["polytope", "exact"])
def test_what_is_written_reads_the_same(form: str) -> None:
    for prior in (PRIOR, rr.Prior.from_probabilities([["1/3", "1/6"], ["1/4", "1/4"]], pairs=rr.Pairs(2, 2))):
        of = rr.robust.ChiSquareSet(PRIOR) if prior is PRIOR else rr.robust.KnownDistribution(prior)
        given = form if prior is PRIOR else "polytope"
        problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.RLDP("0.3", of, form=given)])
        again = parse_problem(rr.problem_file.problem_to_toml(problem))
        assert again == problem
        assert again.objective.prior is not None
        assert again.objective.prior.pairs == prior.pairs


WRONG = {
    "no table": (LABELS + "counts = [1, 2, 3]\n", "3 numbers for 6 labels"),
    "half of the labels": ("other = [1, 2]\ncounts = [[1, 2], [3, 4]]\n", "pairs need sensitive, other and a table"),
    "uniform pairs": (LABELS + "uniform = 6\n", "pairs need sensitive, other and a table"),
    "labels twice": (LABELS + TABLE + 'categories = ["a"]\n', "categories is given together with pairs"),
    "a file without names": ('counts_file = "x.csv"\nsensitive = 2\nother = 2\n', "takes the key pairs"),
    "names that are none": ('counts_file = "x.csv"\npairs = "sex"\n', "not a path and two names"),
    "a table turned": ("sensitive = 2\nother = 3\ncounts = [[1, 2], [3, 4], [5, 6]]\n", "transpose it"),
    "no pairs at all": ('categories = ["a", "b"]\ncounts = [1, 2]\n', "it is not given which inputs are pairs"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    given, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        parse_problem(text(given), source="file.toml")
    assert message in str(found.value)
    assert "file.toml" in str(found.value)
    assert "\n" not in str(found.value)
