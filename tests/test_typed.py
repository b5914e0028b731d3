"""What type checkers see of `import rropt as rr`: the pages' code is free of errors, and mistakes are found."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from documented import INTERNAL, callables

import rropt as rr

ROOT = Path(__file__).resolve().parents[1]
MISTAKES = ROOT / "tests" / "typed" / "mistakes.py"
KINDS = re.compile(r"\[(arg-type|attr-defined|call-arg|list-item|name-defined)\]$")
BLOCK = re.compile(r"(?ms)^```python\n(.*?)^```$")


def pyright_errors(folder: Path, *files: Path, **settings: object) -> list[dict[str, Any]]:
    """The errors that basedpyright finds in the mode that its users have."""
    pytest.importorskip("basedpyright")
    project = folder / "pyright.json"
    known = {"include": list(map(str, files)), "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}
    project.write_text(json.dumps(known | {"pythonVersion": "3.11"} | settings), encoding="utf-8")
    command = [sys.executable, "-m", "basedpyright", "-p", str(project), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(files)
    return [one for one in found["generalDiagnostics"] if one["severity"] == "error"]


def errors(*options_and_files: object) -> list[str]:
    """The errors that mypy finds, "file:line: error: message" each. Types of other libraries are not looked at."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports"]
    command += map(str, options_and_files)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


@pytest.mark.long
def test_each_of_sixty_mistakes_is_found_and_nothing_else(tmp_path: Path) -> None:
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if line.endswith("# mistake")}
    assert len(wrong) == 60
    assert {int(line.split(":")[1]) for line in errors("--strict", MISTAKES)} == wrong
    assert {one["range"]["start"]["line"] + 1 for one in pyright_errors(tmp_path, MISTAKES)} == wrong


def written(folder: Path) -> list[Path]:
    """The Python of every page, a file each."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    files = []
    for page in pages:
        if code := BLOCK.findall(page.read_text(encoding="utf-8")):
            files.append(folder / f"{page.stem.replace('-', '_')}_page.py")
            files[-1].write_text("\n".join(code), encoding="utf-8")
    assert len(files) > 10
    return files


@pytest.mark.long
def test_the_calls_of_the_pages_are_free_of_errors(tmp_path: Path) -> None:
    """Names and arguments; pages are short, so they do not ask whether there is a mechanism before they use it."""
    found = errors("--no-strict-optional", "--allow-redefinition", "--check-untyped-defs", *written(tmp_path))
    assert [
        line for line in found if re.search(r"\[(arg-type|attr-defined|call-arg|list-item|name-defined)\]$", line)
    ] == []


SHORT = dict.fromkeys(
    (
        "reportIncompatibleVariableOverride",
        "reportMissingImports",
        "reportOptionalMemberAccess",
        "reportOptionalSubscript",
        "reportRedeclaration",
    ),
    False,
)
"""A frozen class that narrows an attribute; imports of other packages and of files that a page writes; None; names that
a page uses twice."""


@pytest.mark.long
def test_basedpyright_finds_no_error_in_the_pages(tmp_path: Path) -> None:
    """But for what a page leaves out: whether there is a value or a mechanism, which are None without a solution."""
    found = pyright_errors(tmp_path, *written(tmp_path), **SHORT)
    places = [(one["file"], one["range"]["start"]["line"], one["message"]) for one in found]
    short = {(file, line) for file, line, message in places if '"None"' in message or "| None" in message}
    assert [place for place in places if place[:2] not in short] == []


def test_type_checkers_see_the_names_that_are_loaded() -> None:
    tree = ast.parse((ROOT / "rropt" / "__init__.py").read_text(encoding="utf-8"))
    shown = {
        alias.asname
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    assert shown == set(rr.__all__) - {"__version__"}


def test_no_public_parameter_takes_just_anything() -> None:
    loose = []
    for name, thing in callables(INTERNAL):
        try:
            signature = inspect.signature(thing)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        loose += [f"{name}({key})" for key, one in signature.parameters.items() if one.annotation in ("object", object)]
    assert loose == []


MAIN_ARGUMENTS = {
    ("Problem", "constraints"),
    ("RLDP", "confidence"),
    ("release_file", "output"),
    ("release_folder", "output"),
    ("preview_file", "output"),
    ("RandomizedColumn.fit", "y"),
    ("RandomizedEncoder.fit", "y"),
    ("Mechanism", "denominators"),
}
"""What is not an option although it may be left out: `fit` is scikit-learn's protocol."""
LEVELS = {"epsilon", "delta"}
"""The level of privacy may be given by position everywhere, as in `LDP(1)`."""


def test_options_are_given_by_name() -> None:
    """After the first argument, what may be left out is keyword-only: a call says what its numbers are."""
    loose = []
    for name, thing in callables(INTERNAL):
        try:
            given = list(inspect.signature(thing).parameters.values())  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        late = [one for one in given if one.name != "self"][1:]
        loose += [
            f"{name}({one.name})"
            for one in late
            if one.kind is one.POSITIONAL_OR_KEYWORD
            and one.default is not one.empty
            and (name, one.name) not in MAIN_ARGUMENTS
            and one.name not in LEVELS
        ]
    assert loose == []


def test_a_name_that_is_almost_right_gets_a_hint() -> None:
    with pytest.raises(AttributeError, match=r"did you mean rr\.LDP\?"):
        rr.LPD  # noqa: B018
