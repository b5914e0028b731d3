"""A mechanism whose certificate no longer fits is not released, whichever way it is named; it can still be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rropt as rr
from rropt import cli
from rropt.errors import InputError
from rropt.release.provenance import CHECKED, load_mechanism

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
    assert cli.main(["apply", *given]) == 0


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


def test_what_fits_is_released_and_a_long_proof_is_left_to_the_user(solved: Path) -> None:
    assert load_mechanism(solved, check=True).numerators == load_mechanism(solved).numerators
    assert cli.main(["apply", "o/certificate.json", "d.csv", "--column", "x"]) == 0
    rewrite(solved / "certificate.json", lambda document: document.update(bound="1/1000"))
    (solved / "certificate.json").write_text((solved / "certificate.json").read_text() + " " * CHECKED)
    assert load_mechanism(solved, check=True).inputs == ("a", "b", "c")
