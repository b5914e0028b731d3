"""Draw the pictures of the README from real results: python docs/pictures.py."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rropt.models import model_path

from rropt.problem_file import load_problem
from rropt.studies.reports import terminal

HERE = Path(__file__).parent


def demo() -> None:
    """What `rropt solve adult-education` shows, as docs/demo.svg."""
    problem = load_problem(model_path("adult-education"))
    console = Console(record=True, force_terminal=True, color_system="truecolor", width=100, file=io.StringIO())
    console.print("$ rropt solve adult-education", style="bold")
    terminal.show_result(problem, console)
    console.print()
    terminal.show_solution(problem.solve(), console)
    # Without the web fonts that rich names: the picture must not fetch anything.
    svg = re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="rropt"), flags=re.DOTALL)
    (HERE / "demo.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    demo()
