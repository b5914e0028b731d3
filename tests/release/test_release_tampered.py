"""A mechanism whose certificate no longer fits is not released, whichever way it is named; it can still be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.errors import InputError
from rropt.release import load_mechanism

PLAN = 'schema = 1\ndata = "d.csv"\n[[column]]\nname = "x"\nmechanism = "o/mechanism.json"\n'


@pytest.fixture
def solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a solved problem, data and a plan for its release; the place where commands run."""
    monkeypatch.chdir(tmp_path)
    goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts({"a": 5, "b": 3, "c": 1})))
    cli.write_results(rr.Problem(goal, [rr.LDP(1)]).solve(), tmp_path / "o")
    (tmp_path / "d.csv").write_text("id,x\n" + "".join(f"{at},{'abc'[at % 3]}\n" for at in range(60)))
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path / "o"


def rewrite(path: Path, change: Any) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def more_telling(document: dict[str, Any]) -> None:
    """Rows still sum to one, but the first output says more than the privacy allows."""
    mechanism = document.get("mechanism", document)
    first, second = (list(map(int, one["dense"])) for one in mechanism["columns"][:2])
    step = min(second[0], 10**15)
    for one, moved in zip(mechanism["columns"], (first, second), strict=False):
        sign = 1 if moved is first else -1
        one["dense"] = [str(moved[0] + sign * step), *map(str, moved[1:])]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir())


@pytest.mark.parametrize("given", [["o", "d.csv", "--column", "x"], ["plan.toml"]], ids=["folder", "plan"])
def test_numbers_changed_in_both_files_alike(
    solved: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("mechanism.json", "certificate.json"):
        rewrite(solved / name, more_telling)
    before = names(solved)
    assert cli.main(["apply", *given]) == 2
    told = capsys.readouterr().err.strip()
    assert "the checker does not accept it (REFUTED" in told
    assert "\n" not in told
    assert names(solved) == before
    # Who only looks at the matrix may.
    assert load_mechanism(solved).inputs == ("a", "b", "c")
    (solved / "certificate.json").unlink()
    assert cli.main(["apply", *given, "--unidentified"]) == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda document: document.update(bound="1/1000"), "REFUTED: bound"),
        (lambda document: document["problem"]["cone"].update(epsilon="1/2"), "REFUTED"),
        (lambda document: document.update(version=77), "UNREADABLE"),
        (lambda document: document["proof"].clear(), "UNREADABLE"),
    ],
)
def test_a_changed_certificate(solved: Path, change: Any, words: str) -> None:
    rewrite(solved / "certificate.json", change)
    for path in (solved, solved / "mechanism.json"):
        with pytest.raises(InputError, match="the checker does not accept it") as caught:
            load_mechanism(path, check=True)
        assert words in str(caught.value)
        assert str(solved / "certificate.json") in str(caught.value)


def test_a_certificate_is_checked_however_long_it_is(solved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert load_mechanism(solved, check=True).numerators == load_mechanism(solved).numerators
    rewrite(solved / "certificate.json", lambda document: document.update(bound="1/1000"))
    (solved / "certificate.json").write_text((solved / "certificate.json").read_text() + " " * (1 << 21))
    before = names(solved)
    for given in (["o", "d.csv", "--column", "x"], ["plan.toml"]):
        assert cli.main(["apply", *given]) == 2
        assert "the checker does not accept it (REFUTED" in capsys.readouterr().err
        assert names(solved) == before


@pytest.mark.parametrize("given", [["o", "d.csv", "--column", "x"], ["plan.toml"]], ids=["folder", "plan"])
def test_the_manifest_says_whether_the_certificate_was_checked(
    solved: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["apply", *given, "-o", "checked.csv", "--unidentified"]) == 0
    assert "certificate not checked" not in " ".join(capsys.readouterr().out.split())
    rewrite(solved / "certificate.json", lambda document: document.update(bound="1/1000"))
    assert cli.main(["apply", *given, "-o", "unchecked.csv", "--unchecked", "--force"]) == 0
    assert "certificate not checked" in " ".join(capsys.readouterr().out.split())
    (solved / "certificate.json").unlink()
    assert cli.main(["apply", *given, "-o", "none.csv", "--force"]) == 0
    assert "no certificate" in " ".join(capsys.readouterr().out.split())
    for name in ("checked", "unchecked", "none"):
        (column,) = json.loads(Path(f"{name}.csv.manifest.json").read_text())["columns"]
        assert column["certificate"] == name


@pytest.mark.parametrize(
    "cone",
    [
        {"kind": "complete", "epsilon": "99/100"},
        {"kind": "complete", "gamma": "27/10"},
        {"kind": "graph", "edges": [[x, z, "99/100"] for x in range(3) for z in range(3) if x != z]},
        {"kind": "graph", "unit": "gamma", "edges": [[x, z, "27/10"] for x in range(3) for z in range(3) if x != z]},
        {"kind": "polyhedral", "base": {"kind": "complete", "epsilon": "99/100"}, "rows": [["0", "0", "0"]]},
    ],
)
def test_ratios_that_the_certificate_does_not_guarantee_are_not_drawn(
    solved: Path, cone: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the checker is not asked: the integers that would be drawn are held to the cone."""
    rewrite(solved / "certificate.json", lambda document: document["problem"].update(cone=cone))
    assert cli.main(["apply", "o", "d.csv", "--column", "x", "--unchecked"]) == 2
    assert "larger ratios than its certificate guarantees" in capsys.readouterr().err
    assert not Path("d.protected.csv").exists()
