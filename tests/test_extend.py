"""The page on adding an objective, a constraint and a route, taken at its word: each in a file outside the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HEAD = """
from fractions import Fraction

import rropt as rr
from cap import PosteriorCap
from renyi import RenyiGain

"""


def blocks(checkout: Path) -> list[str]:
    page = (checkout / "docs" / "extend.md").read_text(encoding="utf-8")
    return re.findall(r"(?ms)^```python\n(.*?)^```$", page)


def run(folder: Path, main: str) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(main, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


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


def test_the_files_of_the_page_stand_alone(checkout: Path, tmp_path: Path) -> None:
    """An objective that the format does not know ends bounded; built-in ones with the same rules certify."""
    rest = written(checkout, tmp_path)
    done = run(tmp_path, HEAD + "\n".join(rest) + "\nprint(solution.status, known.status, combined.status)\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "bounded certified certified"


def test_the_law_of_the_page_finds_a_class_that_says_two_things(checkout: Path, tmp_path: Path) -> None:
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
        assert "BrokenLaw: definition says" in run(tmp_path, known).stderr
        (tmp_path / name).write_text(text, encoding="utf-8")
