"""What type checkers see of `import rropt as rr`: the pages' code is free of errors, and mistakes are found."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from documented import INTERNAL, callables

import rropt as rr

ROOT = Path(__file__).resolve().parents[1]
MISTAKES = ROOT / "tests" / "typed" / "mistakes.py"
KINDS = re.compile(r"\[(arg-type|attr-defined|call-arg|list-item|name-defined)\]$")
BLOCK = re.compile(r"(?ms)^```python\n(.*?)^```$")


def errors(*options_and_files: object) -> list[str]:
    """The errors that mypy finds, "file:line: error: message" each. Types of other libraries are not looked at."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports"]
    command += map(str, options_and_files)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


@pytest.mark.long
def test_each_of_sixty_mistakes_is_found_and_nothing_else() -> None:
    lines = MISTAKES.read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if line.endswith("# mistake")}
    assert len(wrong) == 60
    assert {int(line.split(":")[1]) for line in errors("--strict", MISTAKES)} == wrong


@pytest.mark.long
def test_the_calls_of_the_pages_are_free_of_errors(tmp_path: Path) -> None:
    """Names and arguments; pages are short, so they do not ask whether there is a mechanism before they use it."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    written = []
    for page in pages:
        if code := BLOCK.findall(page.read_text(encoding="utf-8")):
            written.append(tmp_path / f"{page.stem.replace('-', '_')}_page.py")
            written[-1].write_text("\n".join(code), encoding="utf-8")
    assert len(written) > 10
    found = errors("--no-strict-optional", "--allow-redefinition", "--check-untyped-defs", *written)
    assert [
        line for line in found if re.search(r"\[(arg-type|attr-defined|call-arg|list-item|name-defined)\]$", line)
    ] == []


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
        loose += [f"{name}({key})" for key, one in signature.parameters.items() if str(one.annotation) == "object"]
    assert loose == []


MAIN_ARGUMENTS = {
    ("Problem", "constraints"),
    ("RLDP", "confidence"),
    ("release_file", "output"),
    ("release_folder", "output"),
    ("RandomizedColumn.fit", "y"),
    ("Mechanism", "denominators"),
}
"""What is not an option although it may be left out: `fit` is scikit-learn's protocol."""


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
        ]
    assert loose == []


def test_a_name_that_is_almost_right_gets_a_hint() -> None:
    with pytest.raises(AttributeError, match=r"did you mean rr\.LDP\?"):
        rr.LPD  # noqa: B018
