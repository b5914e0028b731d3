"""What the command line says of bad input is one line that a terminal can show, whatever the input holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from rropt.cli import main as cli

PROBLEM = Path(__file__).resolve().parents[2] / "docs" / "examples" / "linear.toml"


COMMANDS = (["sweep", str(PROBLEM), "--prior"], ["solve", str(PROBLEM), "--column", "c", "--data"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_quoted_in_a_message_is_cut(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.csv").write_text("[" * 100_000)
    assert cli.main([*command, "long.csv"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("rropt: long.csv")
    assert said.count("\n") == 1
    assert len(said) < cli.LONGEST + cli.TAIL + 20
    assert " [...] " in said
    assert [path.name for path in tmp_path.iterdir()] == ["long.csv"]
