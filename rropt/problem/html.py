"""Problems and solutions as HTML, for notebooks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rropt.declare.constraint import described
from rropt.errors import counted, escaped

if TYPE_CHECKING:
    from rropt.problem.declared import Problem
    from rropt.problem.solution import Solution

SHOWN = 12
"""Labels and constraints of each kind that are written out."""


def problem_html(problem: Problem) -> str:
    """The goal, the constraints and the labels."""
    lines = [f"<b>{problem.goal.sense}</b> {escaped(problem.objective.describe())}"]
    lines += [f"subject to {escaped(name)}" for name in described(problem.constraints)[:SHOWN]]
    lines += [f"and {more} more constraints"] if (more := len(problem.constraints) - SHOWN) > 0 else []
    labels = ", ".join(map(escaped, problem.inputs[:SHOWN])) + (", ..." if len(problem.inputs) > SHOWN else "")
    lines.append(f"over {counted(len(problem.inputs), 'inputs')}: {labels}")
    return f"<div><p>Problem: {escaped(problem.title)}</p><p>{'<br>'.join(lines)}</p></div>"


def solution_html(solution: Solution) -> str:
    """The status, bars of value and bound, remarks, and the matrix."""
    parts = [f"<p><b>{solution.status}</b> by method {escaped(solution.method)}</p>"]
    numbers = {"value": solution.value, "bound": solution.bound}
    known = {word: number for word, number in numbers.items() if number is not None and math.isfinite(number)}
    largest = max(map(abs, known.values()), default=0.0) or 1.0
    for word, number in known.items():
        bar = f'<div style="background:#1f77b4;height:0.6em;width:{16 * abs(number) / largest:.3f}em"></div>'
        parts.append(f"<div>{word} {number!r}\u00a0{escaped(solution.units)}{bar}</div>")
    if solution.gap is not None:
        parts.append(f"<p>gap {solution.gap:.1e}</p>")
    said = [*solution.warnings, *(f"conflict: {rule}" for rule in solution.conflict)]
    parts += [f"<p>{escaped(remark)}</p>" for remark in said[:SHOWN]]
    matrix = "" if solution.mechanism is None else solution.mechanism._repr_html_()
    return f"<div>{''.join(parts)}{matrix}</div>"
