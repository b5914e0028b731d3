"""Draw the pictures of the README from real results: python docs/pictures.py."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rropt.models import model_path

from rropt import terminal
from rropt.declarations import load_problem

HERE = Path(__file__).parent


def demo() -> None:
    """What `rropt solve adult-education` shows, as docs/demo.svg."""
    problem = load_problem(model_path("adult-education"))
    console = Console(record=True, force_terminal=True, color_system="truecolor", width=100, file=io.StringIO())
    console.print("$ rropt solve adult-education", style="bold")
    console.print(terminal.problem_table(problem))
    console.print()
    terminal.show_solution(problem.solve(), console)
    console.save_svg(str(HERE / "demo.svg"), title="rropt")


if __name__ == "__main__":
    demo()
