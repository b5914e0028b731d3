"""Every option for a place to write to is `--out` and `-o`, makes missing folders, and is refused in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from rropt.cli import main as cli

PROBLEM = """
schema = 1
[input]
counts = { a = 4, b = 3 }
[objective]
maximize = "trace"
[[constraint]]
kind = "ldp"
epsilon = 1
"""
CLAIM = 'schema = 1\nproblem = "p.toml"\nclaimed = "bound"\nvalue = 2\n'
CALLS = {
    "apply": ["design", "t.csv", "--column", "v"],
    "cellkey count": ["noise.csv", "k.csv", "--by", "v", "--record-key", "k"],
    "cellkey design": ["--D", "2", "--V", "1"],
    "claims": ["claim.toml"],
    "compare": ["p.toml", "--methods", "linear"],
    "core": ["design/certificate.json"],
    "identify": ["design", "--share", "0.1"],
    "models copy": ["adult-education"],
    "models figure": ["chai2019", "2"],
    "models records": ["adult-pram", "--count", "5"],
    "models table": ["chai2019", "1"],
    "publish": ["design"],
    "registry": ["released.csv"],
    "report": ["design"],
    "sheet": ["released.csv"],
    "solve": ["p.toml"],
    "survey": ["warner", "truth=3/4"],
    "sweep": ["p.toml", "--epsilon", "1"],
    "verify-claim": ["claim.toml"],
}
ELSEWHERE = {"accountant sign", "protect", "scores"}
"""A receipt of an accountant, a table that is protected with its designs, and scores of a release:
tests/release/test_release_sync.py, test_protect.py, test_release_scores.py."""
SUFFIX = {"identify": ".json", "registry": ".yaml", "sheet": ".md", "survey": ".json"} | dict.fromkeys(
    ("apply", "cellkey count", "compare", "models records", "sweep"), ".csv"
)


def commands(group: typer.core.TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[str, object]]:
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def with_out() -> dict[str, list[str]]:
    """The names of the option of each command that has one."""
    found = {}
    for name, command in commands(typer.main.get_command(cli.app)):  # type: ignore[arg-type]
        for parameter in command.params:  # type: ignore[attr-defined]
            if parameter.name == "out":
                found[name] = sorted(parameter.opts)
    return found


def test_every_place_is_out() -> None:
    found = with_out()
    assert found.keys() == CALLS.keys() | ELSEWHERE
    assert {name: opts for name, opts in found.items() if opts != ["--out", "-o"]} == {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a problem, its design, a claim, a table and a released one."""
    place = tmp_path_factory.mktemp("out")
    (place / "p.toml").write_text(PROBLEM)
    (place / "claim.toml").write_text(CLAIM)
    (place / "t.csv").write_text("v\na\nb\na\n")
    assert cli.main(["solve", str(place / "p.toml"), "--out", str(place / "design")]) == 0
    (place / "k.csv").write_text("v,k\na,0.25\nb,0.75\n")
    assert cli.main(["cellkey", "design", "--D", "2", "--V", "1", "--out", str(place / "noise.csv")]) == 0
    (place / "s.csv").write_text("w\nb\na\nb\nb\n")
    given = [str(place / one) for one in ("design", "s.csv", "released.csv")]
    assert cli.main(["apply", *given[:2], "--column", "w", "--out", given[2]]) == 0
    return place


@pytest.mark.parametrize("name", CALLS)
def test_missing_folders_are_made_and_files_are_not_folders(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    call = [*name.split(), *CALLS[name], "-o"]
    own = name.replace(" ", "-")
    blocked = f"p.toml/{own}{SUFFIX.get(name, '')}"
    assert cli.main([*call, blocked]) == 2
    said = capsys.readouterr().err.splitlines()
    last = [line for line in said if line.startswith("rropt: ")][-1]
    assert last.count("cannot write (Not a directory)") == 1
    assert last.startswith("rropt: p.toml"), "the place is named"
    assert "--out" not in last
    assert Path("p.toml").read_text() == PROBLEM
    place = Path("new") / own / f"x{SUFFIX.get(name, '')}"
    assert cli.main([*call, str(place)]) == 0
    assert place.exists()


@pytest.mark.parametrize("name", CALLS)
def test_no_place_is_not_the_current_folder(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [str(folder / one) if (folder / one).exists() else one for one in CALLS[name]]
    assert cli.main([*name.split(), *given, "-o", ""]) == 2
    assert "no file is named" in capsys.readouterr().err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_other_places_are_refused_alike(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """The file that cannot be written is named, and no option that the command does not have."""
    monkeypatch.chdir(folder)
    Path("m.csv").write_text("0.7,0.3\n0.3,0.7\n")
    for place, said in (("", "'--improved': no file is named"), ("p.toml/i.json", "p.toml/i.json: cannot write (Not")):
        assert cli.main(["audit", "m.csv", "--epsilon", "1", "--improved", place]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
        assert "--out" not in line
