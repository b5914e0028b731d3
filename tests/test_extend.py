"""The page on adding an objective, a constraint and a method, taken at its word: each in a file outside the package."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rropt.testing import BrokenLaw

HEAD = """
from fractions import Fraction

import rropt as rr
from cap import PosteriorCap
from renyi import RenyiGain

"""


def blocks(checkout: Path) -> list[str]:
    page = (checkout / "docs" / "extend.md").read_text(encoding="utf-8")
    return re.findall(r"(?ms)^```python\n(.*?)^```$", page)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Runs a program in a folder, beside the files of the page, and gives its names. In this process: the start of an
    interpreter takes longer than most programs."""
    monkeypatch.syspath_prepend(tmp_path)

    def call(main: str) -> dict[str, Any]:
        for name in ("cap", "renyi"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        known: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(main, "main.py", "exec"), known)
        return known

    return call


def written(checkout: Path, folder: Path) -> list[str]:
    """Write the files that the page names into a folder; what else it runs."""
    named = {}
    rest = []
    for block in blocks(checkout):
        name = re.match(r"# (\w+\.py)\n", block)
        if name:
            named[name[1]] = block
        else:
            rest.append(block)
    assert named.keys() == {"renyi.py", "cap.py"}
    for name, block in named.items():
        (folder / name).write_text(block, encoding="utf-8")
    return rest


def test_the_files_of_the_page_stand_alone(
    checkout: Path, tmp_path: Path, page: Callable[[str], dict[str, Any]]
) -> None:
    """An objective that the format does not know ends bounded; built-in ones with the same rules certify."""
    found = page(HEAD + "\n".join(written(checkout, tmp_path)))
    assert [found[name].status for name in ("solution", "known", "combined")] == ["bounded", "certified", "certified"]


def test_the_law_of_the_page_finds_a_class_that_says_two_things(
    checkout: Path, tmp_path: Path, page: Callable[[str], dict[str, Any]]
) -> None:
    """The laws at the end of the page are not a decoration: a wrong definition, or a wrong cone, breaks them."""
    rest = written(checkout, tmp_path)
    declared = [line for line in rest[0].splitlines() if line.startswith(("prior =", "rules ="))]
    laws = next(block for block in rest if "import run" in block)
    known = HEAD + "\n".join([*declared, laws])
    for name, right, wrong in (
        ("cap.py", "(x == z) - self.at_most", "(x == z) - self.at_most / 2"),
        ("renyi.py", "p * v * v for", "p * p * v * v for"),
    ):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count(right) == 1
        (tmp_path / name).write_text(text.replace(right, wrong), encoding="utf-8")
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        with pytest.raises(BrokenLaw, match="definition says"):
            page(known)
        (tmp_path / name).write_text(text, encoding="utf-8")


WORD = (
    """
import rropt as rr
from rropt.declare.objectives import WORDS
from rropt.studies.reports.descriptions import goal_sentence
from rropt.testing import run

assert "subset_truth" in WORDS
problem = rr.problem_file.parse_problem(
    """
    + repr(
        """schema = 1
[input]
counts = { a = 4, b = 3, c = 2 }
[objective]
maximize = "subset_truth"
categories = ["a", "c"]
[[constraint]]
kind = "ldp"
epsilon = 1
"""
    )
    + """
)
again = rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem))
assert again.objective == problem.objective == rr.SubsetTruth(problem.objective.prior, ["a", "c"])
run(problem.objective)
print(problem.solve().status, goal_sentence(problem))
"""
)


def test_an_objective_with_its_word_is_one_file_and_one_line(checkout: Path, tmp_path: Path) -> None:
    """A class in the folder of objectives and its public name: problem files, reports, laws and pages know it."""
    # With the bytecode that is there, but not what another process is writing.
    shutil.copytree(checkout / "rropt", tmp_path / "rropt", ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(checkout / "tests" / "subset_truth.py", tmp_path / "rropt" / "declare" / "objectives")
    public = tmp_path / "rropt" / "__init__.py"
    text, line = public.read_text(encoding="utf-8"), '    "errors": "InputError NoMethod RroptError",\n'
    assert text.count(line) == 1
    own = '    "declare.objectives.subset_truth": "SubsetTruth",\n'
    public.write_text(text.replace(line, own + line), encoding="utf-8")
    (tmp_path / "main.py").write_text(WORD, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("certified")
    assert "how often one of the chosen answers is released as it is" in done.stdout


def test_each_class_of_the_page_has_fifteen_lines(checkout: Path) -> None:
    """Besides docstrings, blank lines and imports."""
    sizes = {}
    for block in blocks(checkout):
        for node in ast.parse(block).body:
            if isinstance(node, ast.ClassDef):
                first = min((node.lineno, *(each.lineno for each in node.decorator_list)))
                text = block.splitlines()[first - 1 : node.end_lineno]
                quoted = sum(
                    (one.body[0].end_lineno or 0) - one.body[0].lineno + 1
                    for one in ast.walk(node)
                    if isinstance(one, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(one) is not None
                )
                sizes[node.name] = sum(map(bool, map(str.strip, text))) - quoted
    assert sizes.keys() == {"RenyiGain", "PosteriorCap", "OneGuess", "KeepTruth"}
    assert max(sizes.values()) <= 15, sizes
