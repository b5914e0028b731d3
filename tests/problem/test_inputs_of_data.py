"""Data give the frequencies of the inputs that a problem file names; which inputs there are, and their order, stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli

SCALE = """schema = 1
[input]
{input}
[objective]
{goal}
[[constraint]]
kind = "metric_dp"
epsilon = 1
distances = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
"""
INFORMED = 'maximize = "mutual_information"'
NAMED = {
    "counts": "counts = { low = 60, mid = 25, high = 15 }",
    "a list": 'counts = [60, 25, 15]\ncategories = ["low", "mid", "high"]',
    "a file": 'counts_file = "counts.csv"',
    "probabilities": 'probabilities = { low = "1/2", mid = "1/4", high = "1/4" }',
    "uniform": 'uniform = ["low", "mid", "high"]',
    "labels": 'categories = ["low", "mid", "high"]',
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text("category,count\nlow,60\nmid,25\nhigh,15\n", encoding="utf-8")


def respondents(**counts: int) -> None:
    text = "".join(f"{label}\n" * count for label, count in counts.items())
    Path("d.csv").write_text(f"answer\n{text}", encoding="utf-8")


def solve(own: str, goal: str = INFORMED, *more: str) -> int:
    Path("p.toml").write_text(SCALE.format(input=own, goal=goal), encoding="utf-8")
    return cli.main(["solve", "p.toml", "--data", "d.csv", "--column", "answer", "--out", "o", *more])


def written() -> rr.Problem:
    document = json.loads(Path("o/solution.json").read_text(encoding="utf-8"))
    return rr.problem_file.parse_problem(document["problem"])


@pytest.mark.parametrize("own", NAMED)
def test_the_order_of_the_problem_stays(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    respondents(high=2, low=6, mid=3)
    assert solve(NAMED[own]) == 0
    found = rr.Mechanism.load("o/mechanism.json")
    assert found.inputs == ("low", "mid", "high")
    # "high" is beside "mid" on the scale, not beside "low".
    (rule,) = rr.load_problem("p.toml", prior=rr.Prior.uniform(found.inputs)).constraints
    assert rule.violation(found) <= 0
    prior = written().objective.prior
    assert prior is not None
    assert prior.weights == (6, 3, 2)
    assert cli.main(["check", "o", "--problem", "p.toml", "--data", "d.csv", "--column", "answer"]) == 0
    assert "OF THIS PROBLEM" in capsys.readouterr().out


def test_a_matrix_is_about_the_inputs_as_they_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    respondents(high=2, low=6, mid=3)
    goal = 'minimize = "expected_loss"\nmatrix = [[0, 1, 5], [1, 0, 1], [7, 1, 0]]'
    assert solve(NAMED["counts"], goal) == 0
    loss = rr.ExpectedLoss(rr.Prior.from_counts({"low": 6, "mid": 3, "high": 2}), [[0, 1, 5], [1, 0, 1], [7, 1, 0]])
    assert written().objective == loss


def test_categories_without_people_stay(capsys: pytest.CaptureFixture[str]) -> None:
    respondents(high=2, low=6)
    assert solve(NAMED["counts"]) == 0
    prior = written().objective.prior
    assert prior is not None
    assert dict(zip(prior.labels, prior.weights, strict=True)) == {"low": 6, "mid": 0, "high": 2}
    assert "note: no record of d.csv has 'mid' (prior 0); it is protected all the same\n" in capsys.readouterr().out
    # An objective that divides by every frequency says so, in one line.
    assert solve(NAMED["counts"], 'minimize = "minimax_risk"') == 2
    assert "MinimaxRisk: 'mid' has prior zero; leave it out" in capsys.readouterr().err


def test_a_category_called_none_is_told_as_a_label() -> None:
    """ "prior probability 0: none" read as if there were no such category."""
    prior = rr.Prior.from_counts({"a": 1, "b": 2, "none": 0, "other": 0})
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)])
    assert problem.warnings() == ("the prior of 'none', 'other' is 0; they are protected all the same",)


@pytest.mark.parametrize("own", [NAMED["counts"], "uniform = 3", "counts = [3, 2, 1]"])
def test_other_values_are_refused(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    respondents(hgih=2, low=6, mid=3, none=1)
    assert solve(own) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert line.startswith("rropt: d.csv: column 'answer' has ")
    assert "undeclared values: 'hgih'" in line
    assert "delete [input] and the lines below it from p.toml" in line
    assert not Path("o").exists()


@pytest.mark.parametrize("own", ["", 'data_file = "none.csv"\ncolumn = "answer"'])
def test_where_no_input_is_named_they_are_the_values_sorted(own: str) -> None:
    respondents(low=6, mid=3, high=2)
    assert solve(own) == 0
    assert rr.Mechanism.load("o/mechanism.json").inputs == ("high", "low", "mid")


def test_pairs_stay_pairs() -> None:
    Path("d.csv").write_text('answer\n"t, v"\n"s, u"\n"t, u"\n"t, v"\n', encoding="utf-8")
    text = SCALE.format(input='sensitive = ["s", "t"]\nother = ["u", "v"]\ncounts = [[9, 9], [9, 9]]', goal=INFORMED)
    robust = '[[constraint]]\nkind = "rldp"\nepsilon = 1\nconfidence = "known"\n'
    Path("p.toml").write_text(text.partition("[[constraint]]")[0] + robust, encoding="utf-8")
    assert cli.main(["solve", "p.toml", "--data", "d.csv", "--column", "answer", "--out", "o"]) == 0
    prior = written().objective.prior
    assert prior is not None
    assert (prior.pairs, prior.weights) == (rr.Pairs(["s", "t"], ["u", "v"]), (1, 0, 1, 2))


def test_priors_in_another_order_are_put_in_that_of_the_problem() -> None:
    """Also those of a sweep, and of an audit against a problem."""
    Path("p.toml").write_text(SCALE.format(input=NAMED["counts"], goal=INFORMED), encoding="utf-8")
    other = rr.Prior.from_counts({"high": 2, "low": 6, "mid": 3})
    wanted = rr.load_problem("p.toml", prior=rr.Prior.from_counts({"low": 6, "mid": 3, "high": 2}))
    assert rr.load_problem("p.toml", prior=other) == wanted
    (row,) = rr.sweep(rr.load_problem("p.toml"), over={"prior": [other]}).rows
    assert row["value"] == float(wanted.solve().value)
    with pytest.raises(rr.InputError, match=r"p\.toml: the prior has 1 undeclared value: 'x'"):
        rr.load_problem("p.toml", prior=rr.Prior.from_counts({"low": 2, "x": 6}))
    # Equal shares of two of them are not equal shares of all.
    two = rr.load_problem("p.toml", prior=rr.Prior.uniform(["mid", "low"]))
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(two)) == two


TRACE = """schema = 1
[input]
{input}
[objective]
maximize = "trace"
{weighted}
[[constraint]]
kind = "ldp"
epsilon = 1
"""
COUNTED, PEOPLE = "counts = { low = 90, mid = 9, high = 1 }", ("--data", "d.csv", "--column", "answer")


@pytest.mark.parametrize(
    ("own", "weighted", "data", "place"),
    [
        (COUNTED, "", PEOPLE, "column 'answer' of d.csv"),
        (COUNTED, "", (), "[input]"),
        (NAMED["probabilities"], "", (), "[input]"),
        ("", "", PEOPLE, "column 'answer' of d.csv"),
        (COUNTED, "weighted = true", PEOPLE, None),
        (NAMED["uniform"], "", (), None),
        (NAMED["labels"], "", (), None),
    ],
)
def test_frequencies_that_an_objective_does_not_use_are_told(
    own: str, weighted: str, data: tuple[str, ...], place: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the report says what was sought: a sum over categories, or how often an answer stays."""
    respondents(low=90, mid=9, high=1)
    Path("p.toml").write_text(TRACE.format(input=own, weighted=weighted), encoding="utf-8")
    for more in ((), ("--json",)):
        assert cli.main(["solve", "p.toml", *data, *more, "--out", "o"]) == 0
        told = capsys.readouterr()
        text = told.err if more else told.out
        said = f"note: trace does not use the frequencies of {place}; weighted = true in [objective] weighs"
        assert (said in text) == (place is not None)
        assert ("does not use" in text) == (place is not None)
    assert cli.main(["report", "o", "-o", "r.html"]) == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert ("how often the released answer is the true one" in page) == bool(weighted)
    assert ("the sum over the categories of the probability that an answer is not changed" in page) != bool(weighted)


TYPED = {"nevr": "never", "neever": "never", "nexer": "never", "dailyy": "daily"}


@pytest.mark.parametrize("typed", TYPED)
def test_a_value_that_looks_like_a_typing_error_is_named_where_no_value_is_declared(
    typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any letter added, left out or replaced; nothing is said of codes and of values that many people gave."""
    counts = {"never": 60, "daily": 60, "10th": 60}
    respondents(**counts, **{typed: 2, "11th": 1, "rare": 1})
    problem = SCALE.partition("[[")[0].format(input="", goal=INFORMED) + '[[constraint]]\nkind = "ldp"\nepsilon = 1\n'
    Path("p.toml").write_text(problem, encoding="utf-8")
    command = ["solve", "p.toml", "--data", "d.csv", "--column", "answer", "--out", "o", "--gap", "0.5"]
    assert cli.main(command) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if " letter from " in line]
    assert notes == [
        f"note: {typed!r} occurs 2 times and is one letter from {TYPED[typed]!r}: if it is a typing error, correct it, "
        "or declare the values in [input]"
    ]
    respondents(**counts, **{typed: 4})
    assert cli.main(command) == 0
    assert " letter from " not in capsys.readouterr().out


def test_the_lines_of_input_are_not_taken_without_their_heading(capsys: pytest.CaptureFixture[str]) -> None:
    respondents(low=6, mid=3)
    for own in (*NAMED.values(), 'pairs = ["a"]'):
        Path("p.toml").write_text(SCALE.replace("[input]\n", "").format(input=own, goal=INFORMED), encoding="utf-8")
        assert cli.main(["solve", "p.toml", "--data", "d.csv", "--column", "answer"]) == 2
        key = own.partition(" ")[0]
        assert capsys.readouterr().err == (
            f"rropt: p.toml: {key!r} belongs below [input]; write [input] above it; for the values of --data, delete "
            f"{key!r} too\n"
        )
