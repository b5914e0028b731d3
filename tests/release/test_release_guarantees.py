"""A release says what its design guarantees, before the level of plain LDP that its matrix happens to have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.model.guarantees import Guarantee

pytest.importorskip("pyarrow")

PAIRS = rr.Prior.from_counts([[20, 60], [30, 20]], pairs=rr.Pairs(["ill", "well"], ["young, mostly", "old"]))
COUNTED = rr.Prior.from_counts({"a": 5, "b": 3, "c": 1})
DESIGNS: dict[str, tuple[Any, list[Any], str]] = {
    "robust": (
        rr.MutualInformation(PAIRS),
        [rr.RLDP(1, rr.robust.ChiSquareSet(PAIRS), form="exact")],
        "robust LDP (epsilon 1) over the confidence set of 130 counted records stated in its certificate, up to "
        "chi-square distance 0.0601132; plain LDP "
        "(epsilon ",
    ),
    "approximate": (
        rr.Trace(COUNTED),
        [rr.ApproximateLDP(1, delta="0.05")],
        "approximate LDP (epsilon 1, delta 0.05); plain LDP (epsilon ",
    ),
    "plain": (rr.MutualInformation(COUNTED), [rr.LDP(1)], "LDP (epsilon 1)"),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    respondents = [("ill", '"young, mostly"', "a"), ("well", "old", "b"), ("well", '"young, mostly"', "c")] * 40
    lines = [f"{at},{','.join(one)}" for at, one in enumerate(respondents)]
    Path("d.csv").write_text("id,state,age,x\n" + "\n".join(lines) + "\n", encoding="utf-8")


def solve(name: str) -> None:
    objective, constraints, _ = DESIGNS[name]
    cli.write_results(rr.Problem(rr.Maximize(objective), constraints).solve(), Path(name))


@pytest.mark.parametrize("name", DESIGNS)
def test_manifest_and_output_tell_the_guarantee_first(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    solve(name)
    pair = ["--column", "state", "--column", "age", "--as", "answer"]
    assert cli.main(["apply", name, "d.csv", *(pair if name == "robust" else ["--column", "x"]), "--unidentified"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    told = json.loads(Path("d.protected.csv.manifest.json").read_text(encoding="utf-8"))
    (column,) = told["columns"]
    assert column["guarantee"].startswith(DESIGNS[name][2])
    assert f"randomised: {column['guarantee']}" in out
    assert column["certificate"] == "checked"
    (guarantee,) = column["guarantees"]
    assert str(Guarantee(**guarantee)) in column["guarantee"]
    # The accountant keeps the notion, and adds up by plain LDP.
    assert cli.main(["accountant", "show", "d.csv.accountant", "--json"]) == 0
    account = json.loads(capsys.readouterr().out)
    assert account["draws"][0]["columns"][0]["guarantee"] == column["guarantee"]
    plain = "infinite" if column["epsilon"] is None else column["epsilon"]
    assert account["spent"] == plain or 0 <= float(account["spent"]) - plain < 1e-9
    assert cli.main(["accountant", "show", "d.csv.accountant"]) == 0
    assert ("robust LDP: it holds for one release alone" in capsys.readouterr().out) == (name == "robust")


def test_a_design_for_pairs_is_applied_and_estimated_by_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    rr.RandomizedResponse(PAIRS.labels, epsilon=2).to_mechanism().save("m.json")
    pair = ["--column", "state", "--column", "age"]
    assert cli.main(["apply", "m.json", "d.csv", *pair, "--as", "answer", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"][0]["released_as"] == ["answer"]
    assert told["unprotected"] == ["id", "x"]
    assert Path("d.protected.csv").read_text(encoding="utf-8").partition("\n")[0] == "id,answer,x"
    assert cli.main(["estimate", "m.json", "d.protected.csv", "--column", "answer", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["categories"] == list(PAIRS.labels)
    assert found["n"] == 120


def test_outputs_of_their_own_ask_for_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    solve("robust")
    assert cli.main(["apply", "robust", "d.csv", "--column", "state", "--column", "age"]) == 2
    assert "--as NAME" in capsys.readouterr().err
    Path("plan.toml").write_text('schema = 1\ndata = "d.csv"\n[[column]]\nname = "x"\nmechanism = "robust"\n')
    assert cli.main(["apply", "plan.toml", "--as", "answer"]) == 2
    assert "--as is given together with a release file" in capsys.readouterr().err


def test_several_strata_tell_the_guarantee_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    solve("plain")
    rr.RandomizedResponse(["a", "b", "c"], epsilon=2).to_mechanism().save("m.json")
    Path("plan.toml").write_text(
        'schema = 1\ndata = "d.csv"\n[[column]]\nname = "x"\nby = "state"\n'
        'mechanisms = { ill = "plain", well = "m.json" }\n'
    )
    assert cli.main(["apply", "plan.toml", "--unidentified"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "ill: LDP (epsilon 1); well: LDP (epsilon 2)" in out
    assert "within each state; no certificate" in out
    (column,) = json.loads(Path("d.protected.csv.manifest.json").read_text(encoding="utf-8"))["columns"]
    assert {name: one["certificate"] for name, one in column["designs"].items()} == {"ill": "checked", "well": "none"}


def test_strata_with_one_guarantee_are_told_together() -> None:
    two, one = (rr.RandomizedResponse(["a", "b", "c"], epsilon=level).to_mechanism() for level in (2, 1))
    given = {"ill": two, "well": one, "dead": two}
    column = rr.release.ProtectedColumn("x", given, by="state")
    assert column.guarantee == "ill, dead: LDP (epsilon 2); well: LDP (epsilon 1)"
    assert rr.release.ProtectedColumn("x", dict.fromkeys(given, one), by="state").guarantee == "LDP (epsilon 1)"


@pytest.mark.parametrize(
    ("gain", "told"),
    [
        ([[1], [0], [0]], "excludes no mechanism"),
        ([[1, 0], [0, 1], [0, 0]], "limit on a gain (at most 2/3)"),
    ],
    ids=["one action", "two actions"],
)
def test_a_gain_that_is_no_notion_is_not_called_one_anywhere(
    gain: list[list[int]], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One action of three is taken for every output: its gain is what it is, and the optimum is the identity matrix."""
    own = rr.BayesSuccess(COUNTED, gain=gain, actions=["hiv", "flu"][: len(gain[0])])
    problem = rr.Problem(rr.Maximize(rr.Trace(COUNTED)), [rr.AtMost(own, "2/3")], name="no notion")
    cli.write_results(problem.solve(), Path("design"))
    Path("p.toml").write_text(rr.problem_file.problem_to_toml(problem), encoding="utf-8")
    assert cli.main(["solve", "p.toml"]) == 0
    assert cli.main(["report", "design", "-o", "r.html"]) == 0
    assert cli.main(["solve", "p.toml", "--json"]) == 0
    assert cli.main(["apply", "design", "d.csv", "--column", "x", "--force"]) == 0
    pages = [capsys.readouterr().out, Path("r.html").read_text(encoding="utf-8")]
    pages += [path.read_text(encoding="utf-8") for path in (Path("design/solution.json"), *Path().glob("*.json"))]
    pages = [re.sub(r"\s+", " ", page.replace("\u00a0", " ")) for page in pages]
    assert all(told in page for page in pages[:2])
    assert not any("Bayes success" in page for page in pages)
