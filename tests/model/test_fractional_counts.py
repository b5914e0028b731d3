"""Weighted counts are frequencies, exactly; they are never numbers of people."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.problem_file import parse_problem, problem_to_toml

FILE = """schema = 1
[input]
{input}
[objective]
maximize = "mutual_information"
[[constraint]]
{rule}
"""
PRIVATE = 'kind = "ldp"\nepsilon = 1'
RISK = 'kind = "identification_risk"\nat_most = 0.15'
ROBUST = 'kind = "rldp"\nepsilon = 1\nconfidence = "counts"'
SINGLE = {
    "two cents": "counts = { a = 2.01, b = 40, c = 25 }",
    "a half": "counts = { a = 1.5, b = 40, c = 25 }",
    "even halves": "counts = { a = 1.5, b = 3, c = 4.5 }",
    "one input": "counts = { a = 0.5, b = 0, c = 0 }",
    "a file": 'counts_file = "counts.csv"',
}
PAIRS = 'sensitive = ["s", "t"]\nother = ["u", "v"]\ncounts = [[3.5, 6.5], [1, 9]]'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text("category,count\na,2.01\nb,40\nc,25\n", encoding="utf-8")


def problem(own: str, rule: str) -> rr.Problem:
    return parse_problem(FILE.format(input=own, rule=rule), source="p.toml")


@pytest.mark.parametrize("own", SINGLE)
def test_what_needs_people_refuses_them(own: str) -> None:
    with pytest.raises(rr.InputError, match=r"declared by fractional counts; give whole counts of records"):
        problem(SINGLE[own], RISK)


def test_a_set_that_needs_people_says_what_they_are() -> None:
    with pytest.raises(rr.InputError, match=r"was declared as fractional counts; give whole counts: the size"):
        problem(PAIRS, ROBUST)


@pytest.mark.parametrize("own", [*SINGLE.values(), PAIRS])
def test_they_are_exact_frequencies_and_stay_what_they_are(own: str) -> None:
    """Written to a problem file and read again, by which solutions, reports and checks know them."""
    declared = problem(own, PRIVATE)
    again = parse_problem(problem_to_toml(declared))
    assert again == declared
    assert again.objective.prior is not None
    assert again.objective.prior.declared == "fractional counts"
    if "2.01" in own:
        shares = again.objective.prior.probabilities
        assert shares == tuple(Fraction(part, 6701) for part in (201, 4000, 2500))
    rule = RISK if "sensitive" not in own else ROBUST
    with pytest.raises(rr.InputError, match="fractional counts"):
        parse_problem(problem_to_toml(declared).partition("[[constraint]]")[0] + f"[[constraint]]\n{rule}\n")


def test_nothing_says_that_they_were_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.toml").write_text(FILE.format(input=SINGLE["two cents"], rule=PRIVATE), encoding="utf-8")
    assert cli.main(["solve", "p.toml", "--out", "o"]) == 0
    assert cli.main(["report", "o", "-o", "r.html"]) == 0
    told = capsys.readouterr().out + Path("r.html").read_text(encoding="utf-8")
    assert "6,701" not in told
    assert "counted" not in told
    # They are not public because they are weighted: the proof stays behind.
    assert cli.main(["publish", "o", "-o", "public"]) == 0
    assert not Path("public/certificate.json").exists()


def test_people_are_drawn_by_number_where_a_model_has_counts_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "records", "survey-yes-no", "-o", "people.csv"]) == 2
    assert "has frequencies, not numbers of people; give --count, as 5000" in capsys.readouterr().err
    assert cli.main(["models", "records", "survey-yes-no", "--count", "50", "-o", "people.csv"]) == 0
