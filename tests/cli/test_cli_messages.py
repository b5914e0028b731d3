"""What the command line says of bad input is one line that a terminal can show, whatever the input holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    assert len(said) < 500 + len("rropt: \n")
    assert " [...] " in said
    assert [path.name for path in tmp_path.iterdir()] == ["long.csv"]


ROOT = Path(__file__).resolve().parents[2]
# Pages of the documentation, in Markdown.
MARKDOWN = ("release/sheet.py", "studies/reproducibility.py", "declare/objective")


def test_no_message_has_a_backtick() -> None:
    """A terminal and a report show it as it is. The docstrings of commands are their help."""
    found = []
    for path in sorted((ROOT / "rropt").rglob("*.py")):
        name = path.relative_to(ROOT / "rropt").as_posix()
        if name.startswith(MARKDOWN):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = ""  # a docstring
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "`" in node.value:
                found.append(f"{name}:{node.lineno}: {node.value}")
    for command in walk(cli.command()):
        found += [text for text in (command.help, command.short_help) if text is not None and "`" in text]
    assert found == []


def walk(command: Any) -> Iterator[Any]:
    """A command and those inside it."""
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from walk(inner)
