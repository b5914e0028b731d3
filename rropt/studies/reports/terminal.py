"""The output of the command line: the problem as understood, the result, the matrix as a heat map, progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from rropt.errors import counted, plain, short_labels

if TYPE_CHECKING:
    from rropt.checker import Verdict
    from rropt.io.tables import Readable, Table
    from rropt.mechanisms.mechanism import Mechanism
    from rropt.problem import Solution
    from rropt.release.run import Released

SHADES = " ░▒▓█"
ASCII_SHADES = " .:*#"
NARROWEST = 20
"""The width of a narrower terminal is taken for unknown."""
COLOURS = ("#f7fbff", "#d6e6f4", "#abd0e6", "#6aaed6", "#3787c0", "#105ba4", "#08306b")
"""Blues of even lightness steps, which read the same to the colour-blind."""
STATUS = {
    "certified|confirmed": "green", "bounded|infeasible|killed|not_checkable": "yellow",
    "failed|refuted|REJECTED": "bold red",
}  # fmt: skip
"""Words in colour, by alternatives of a regular expression."""
LARGEST_MAP = 40
"""Inputs and outputs beyond this are left out of the heat map, and counted."""


def console() -> Console:
    """The console of the standard output; one that claims to be narrower than a word is taken to be 80 wide."""
    made = Console()
    return made if made.width >= NARROWEST else Console(width=80)


def show(table: Table, on: Console) -> None:
    """Print a table: folded to the width of a terminal, and there with its title in bold and statuses in colour; a pipe
    gets every row in one line."""
    text = Text(table.text(on.width if on.is_terminal else None))
    text.stylize("bold", 0, len(table.title))
    for words, style in STATUS.items():
        text.highlight_regex(rf"(?<!\S)({words})(?!\S)", style)
    on.print(text, soft_wrap=True)


def remark(line: str, on: Console, fold: bool = True) -> None:
    """Print a sentence, folded on a terminal only, if at all; notes and warnings are in colour there."""
    style = "yellow" if line.startswith(("note: ", "warning: ")) else ""
    on.print(plain(line), style=style, highlight=False, markup=False, soft_wrap=not (fold and on.is_terminal))


def number(value: float | None) -> str:
    """A number on its way with 12 significant digits, "-" where there is none."""
    return "-" if value is None else f"{value:.12g}"


def heat_map(mechanism: Mechanism, console: Console) -> Text:
    """The matrix: one line per input and two characters per output; darker is likelier. Without colour (a pipe,
    NO_COLOR) shades of grey stand in."""
    matrix = mechanism.matrix
    largest = float(matrix.max())
    rows = min(matrix.shape[0], LARGEST_MAP)
    names = short_labels(mechanism.inputs[:rows], max(8, console.width // 3))
    width = max(map(len, names))
    columns = max(1, min(matrix.shape[1], LARGEST_MAP, (console.width - width - 1) // 2))
    # Seven strengths need more than the sixteen colours of old terminals.
    coloured = console.is_terminal and console.color_system in ("256", "truecolor") and not console.no_color
    shades = SHADES if console.encoding.lower().startswith("utf") else ASCII_SHADES
    title = "Probability of each output (column) given each answer (row)"
    text = Text(f"{title}; full shade {largest:.2g}", style="bold")
    for x, name in enumerate(names):
        # Line ends go before each line: a line that ends in blank cells must not be stripped.
        text.append(f"\n{name:<{width}} ", style="default")
        for y in range(columns):
            # The square root keeps unlikely outputs apart from impossible ones.
            strength = math.sqrt(max(float(matrix[x, y]), 0.0) / largest)
            if coloured:
                colour = COLOURS[min(int(strength * len(COLOURS)), len(COLOURS) - 1)]
                text.append("  ", style=f"on {colour}")
            else:
                shade = 0 if matrix[x, y] == 0 else 1 + min(int(strength * 4), 3)
                text.append(shades[shade] * 2, style="default")
    if rows < matrix.shape[0] or columns < matrix.shape[1]:
        left = (matrix.shape[0] - rows, "more inputs"), (matrix.shape[1] - columns, "more outputs")
        text.append(f"\n... {', '.join(counted(number, things) for number, things in left if number)}")
    return text


def show_result(found: Readable, on: Console, title: str | None = None) -> None:
    """Print a result: its tables, the first with another `title` where one is given, and its remarks."""
    for at, table in enumerate(found._tables()):
        show(table if at or title is None else replace(table, title=title), on)
        on.print()
    for line in found._remarks():
        remark(line, on)


def show_solution(solution: Solution, on: Console, records: int | None = None, error: float | None = None) -> None:
    """Print result, plain terms (from so many `records`; how many a standard error of `error` needs), warnings, heat map
    and the checker's verdict."""
    from rropt.problem.display import solution_tables

    for table in solution_tables(solution, records, error):
        show(table, on)
        on.print()
    for note in solution._remarks():
        remark(note, on)
    if solution.mechanism is not None:
        on.print(heat_map(solution.mechanism, on), soft_wrap=not on.is_terminal)
        on.print()
    if solution.verdict is not None:
        # The checker's numbers are in the utility's own unit, whatever that of the objective.
        on.print(f"Certificate check{' (values in nats)' if solution.units else ''}", style="bold")
        # The problem is printed above; the checker's own line on it is left out.
        show_verdict(solution.verdict, on, leave_out=solution.verdict.problem)


def show_verdict(verdict: Verdict, on: Console, before: str = "", leave_out: str = "") -> None:
    """Print the checker's lines, each after the name `before`, with the verdict in colour on a terminal."""
    for line in verdict.report().splitlines():
        if line == leave_out:
            continue
        text = Text(f"{plain(before)}: {line}" if before else line)
        text.highlight_regex(r"\b(PROVED|OF THIS PROBLEM)\b", "bold green")
        text.highlight_regex(r"\b(REFUTED|UNREADABLE|OTHER MECHANISM|OTHER PROBLEM|NOT SHOWN)\b", "bold red")
        on.print(text, soft_wrap=not on.is_terminal)


def show_release(released: Released, on: Console) -> None:
    """Print the privacy of a release, column by column and together, and the places of its files."""
    show_result(released, on)
    verb = "wrote" if released.drawn else "found"
    for path in (released.output, released.manifest_file, *released.companions):
        remark(f"{verb} {path}", on, fold=False)
    kept = [(place, "privacy accountant", "data") for place in released.accountants]
    kept += [(released.memory, "memory of the key", "key")] * bool(released.memory)
    for place, what, of in kept:
        remark(f"{verb} {place} ({what}). Keep it with the {of}. Do not publish it.", on, fold=False)


@contextmanager
def working(what: str) -> Iterator[Callable[..., None]]:
    """A progress bar on the error stream, and how to update it (`total`, `completed`, and the text `shown`); nothing
    where that is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda **_: None
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.fields[shown]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield partial(bar.update, bar.add_task(what, total=None, shown=""))


@contextmanager
def rows_progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar of rows."""
    with working(what) as update:
        started = time.monotonic()

        def report(done: int, total: int | None) -> None:
            rate = done / max(time.monotonic() - started, 1e-3)
            update(total=total, completed=done, shown=f"{counted(done, 'rows')}  {rate / 1e6:.1f} million/s")

        yield report


@contextmanager
def points_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar of points done."""
    with working(what) as update:
        yield lambda done, total: update(total=total, completed=done, shown=f"{done:,} of {counted(total, 'points')}")


@contextmanager
def sweep_progress(what: str) -> Iterator[Callable[[int, int, int], None]]:
    """A progress bar of (points done, done in earlier runs, points in all), with the time that is left at the speed of
    this run."""
    with working(what) as update:
        started = time.monotonic()

        def report(done: int, resumed: int, total: int) -> None:
            left = ""
            if done > resumed:
                seconds = (time.monotonic() - started) / (done - resumed) * (total - done)
                left = f"  {clock(seconds)} left"
            update(total=max(total, 1), completed=done, shown=f"{done:,} of {total:,}{left}")

        yield report


def clock(seconds: float) -> str:
    """A time as "1:05" or "2:00:07"."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@contextmanager
def progress(goal: float, absolute: float = 0.0) -> Iterator[Callable[[float | None, float | None], None]]:
    """A progress bar with value, bound and gap: it measures the logarithm of the gap, from the first one seen down to
    `goal` times |bound|, or `absolute`."""
    with working("solving") as update:
        first = 0.0

        def report(value: float | None, bound: float | None) -> None:
            nonlocal first
            line = f"value {number(value)}  bound {number(bound)}"
            done = 0.0
            if value is not None and bound is not None and math.isfinite(value) and math.isfinite(bound):
                grain = 1e-16 * abs(bound) or 1e-16
                gap = max(abs(bound - value), grain)
                first = first or gap
                target = min(max(goal * abs(bound), absolute, grain), first)
                done = math.log(first / gap) / math.log(first / target) if first > target else 1.0
                line += f"  gap {gap:.2g}"
            update(total=1.0, completed=min(max(done, 0.0), 1.0), shown=line)

        yield report
