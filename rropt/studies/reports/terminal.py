"""The output of the command line: the problem as understood, the result, the matrix as a heat map, progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from rropt.declare.constraint import described
from rropt.errors import counted, plain, short_labels
from rropt.exact import shown
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.privacy import Level
from rropt.problem import Problem, Solution
from rropt.program.cones import CompleteCone, base_cone
from rropt.prove.gaps import share
from rropt.studies.reports.descriptions import counted_from
from rropt.studies.reports.statements import guarantee_of

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.release.run import Released

SHADES = " ░▒▓█"
ASCII_SHADES = " .:*#"
NARROWEST = 20
"""The width of a narrower terminal is taken for unknown."""
COLOURS = ("#f7fbff", "#d6e6f4", "#abd0e6", "#6aaed6", "#3787c0", "#105ba4", "#08306b")
"""Blues of even lightness steps, which read the same to the colour-blind."""
LARGEST_MAP = 40
"""Inputs and outputs beyond this are left out of the heat map, and counted."""


def console() -> Console:
    """The console of the standard output; one that claims to be narrower than a word is taken to be 80 wide."""
    made = Console()
    return made if made.width >= NARROWEST else Console(width=80)


def number(value: float | None) -> str:
    """A number on its way with 12 significant digits, "-" where there is none."""
    return "-" if value is None else f"{value:.12g}"


def directed(value: float | None, up: bool) -> str:
    """A number with 12 significant digits that is true as shown: rounded up or down."""
    return "-" if value is None else shown(value, 12, up)


def privacy_words(level: Level) -> str:
    """epsilon and the privacy ratio it allows, both rounded to be safe to read."""
    epsilon, gamma = level.log_ratio, level.ratio
    return f"epsilon {shown(epsilon.upper, 12, up=True)}, privacy ratio at most {shown(gamma.lower, 12, up=False)}"


def _two_columns(title: str) -> Table:
    table = Table(title=Text(title), title_justify="left", show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def problem_table(problem: Problem) -> Table:
    """The problem as understood, for the user to compare with what was meant."""
    program = problem.compile()
    prior = problem.objective.prior
    # Of a shipped model only the rules are those of the user's own column.
    named = problem.name if prior is None or prior.source is None else str(prior.source)
    table = _two_columns(f"Problem: {plain(named)}")

    def row(name: str, value: str) -> None:
        # As Text, for a label may look like markup.
        table.add_row(name, Text(plain(value)))

    row(problem.goal.sense, problem.objective.describe())
    if prior is not None:
        order = sorted(range(len(prior)), key=lambda x: -prior.weights[x])
        most = ", ".join(f"{prior.labels[x]} {float(prior.probabilities[x]):.4f}" for x in order[:3])
        respondents = f", {counted_from(prior, prior.source)}" if prior.declared == "counts" else ""
        more = ", ..." if len(prior) > 3 else ""
        row("prior", f"{counted(len(prior), 'inputs')}{respondents}: {most}{more}")
    else:
        row("inputs", f"{program.size}, no prior")
    for name in described(problem.constraints):
        row("subject to", name)
    cone = base_cone(program.cone)
    if isinstance(cone, CompleteCone):
        row("privacy", privacy_words(cone.level))
    outputs = "free" if program.outputs is None else str(len(program.outputs))
    row("outputs", outputs)
    return table


def solution_table(solution: Solution) -> Table:
    """The result: every number in it is proved, or marked as not proved."""
    colour = {"certified": "green", "bounded": "yellow", "infeasible": "red"}[solution.status]
    table = _two_columns("Result")
    table.add_row("status", Text(solution.status, style=f"bold {colour}"))
    unit = f" {solution.units}" if solution.units else ""
    if solution.status == "infeasible":
        table.add_row("conflict", Text(plain(" and ".join(solution.conflict))))
    else:
        best = "at most" if solution.problem.goal.sense == "maximize" else "at least"
        up = solution.problem.goal.sense == "maximize"
        table.add_row("value", directed(solution.value, not up) + unit)
        checked = "" if solution.verdict is not None and solution.verdict.proved else " (not machine-checked)"
        table.add_row("bound", f"{best} {directed(solution.bound, up)}{unit}{checked}")
        gap = "-" if solution.gap is None else f"{shown(solution.gap, 2, up=True)}{unit}"
        absolute, part = solution.target_absolute_gap, None
        if solution.attained is not None and solution.limit is not None:
            part = share(solution.attained.lower if up else solution.attained.upper, solution.limit)
        document = "no share of the bound" if part is None else f"{shown(part, 2, up=True)} of the bound"
        wanted = f"{solution.target_gap:.2g}" + (f", or {absolute:.2g}{unit}" if absolute else "")
        table.add_row("gap", f"{gap}, {document} (wanted {wanted})")
        if solution.mechanism is not None:
            table.add_row("guarantees", Text(plain(guarantee_of(solution.problem, solution.mechanism))))
    table.add_row("method", solution.method)
    table.add_row("seconds", f"{solution.seconds:.2f}")
    return table


def heat_map(mechanism: Mechanism, console: Console) -> Text:
    """The matrix, one line an input and two characters an output; darker is likelier. Without colour (a pipe,
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
    text = Text(f"Q[input, output], {matrix.shape[0]} x {matrix.shape[1]}; darkest = {largest:.4f}", style="bold")
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
        hidden = counted(matrix.shape[0] - rows, "more inputs"), counted(matrix.shape[1] - columns, "more outputs")
        text.append(f"\n... {', '.join(hidden)}")
    return text


def show_solution(solution: Solution, console: Console) -> None:
    """Print result, heat map, the checker's verdict and the notes."""
    console.print(solution_table(solution))
    for warning in solution.warnings:
        console.print(f"note: {plain(warning)}", style="yellow", highlight=False, markup=False)
    console.print()
    if solution.mechanism is not None:
        console.print(heat_map(solution.mechanism, console))
        console.print()
    if solution.verdict is not None:
        # The problem is printed above; the checker's own line on it is left out.
        lines = [line for line in solution.verdict.report().splitlines() if line != solution.verdict.problem]
        # The checker's numbers are in the utility's own unit, whatever that of the objective.
        unit = " (values in nats)" if solution.units else ""
        console.print(f"checker{unit}: " + "\n         ".join(lines), highlight=False, markup=False)


def show_release(released: Released, console: Console) -> None:
    """Print the privacy of a release, column by column and together, and the places of its files."""
    from rropt.release.plans.plan import by_stratum

    document = released.manifest
    table = _two_columns(f"Release of {plain(document['data'])}")
    for level, column in zip(released.privacy.levels, document["columns"], strict=True):
        named = column.get("designs", {"": column})
        designs = list(named.values())
        strata = f", within each {', '.join(level.strata)}" if level.strata else ""
        # A release of an earlier version has fewer fields.
        proofs = {one.get("certificate") for one in designs}
        plain_level = f"LDP (epsilon {shown(level.epsilon, 12, up=True)})"
        unproved = "; certificate not checked" if "unchecked" in proofs else ""
        unproved = "; no certificate" if "none" in proofs else unproved
        words = by_stratum((name, one.get("guarantee", plain_level)) for name, one in named.items())
        table.add_row(plain(", ".join(level.columns)), Text(plain(f"randomised: {words}{strata}{unproved}")))
    total = f"plain LDP (epsilon {shown(released.privacy.epsilon, 12, up=True)})"
    if document["earlier_draws"]:
        more = document["epsilon_with_earlier"]
        total += f"; with the draws made from this data before {'infinite' if more is None else f'{more:.12g}'}"
    table.add_row("together", Text(total))
    table.add_row("as they are", Text(plain(", ".join(document["unprotected"]) or "no column")))
    if document["dropped"]:
        table.add_row("left out", Text(plain(", ".join(document["dropped"]))))
    table.add_row("rows", f"{document['rows']:,}")
    console.print(table)
    for note in released.notes:
        console.print(f"note: {plain(note)}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    console.print()
    for path, what in (
        (released.output, ""),
        (released.manifest_file, ""),
        *(
            (place, " (a record of draws from the data: keep it with them, unpublished)")
            for place in released.accountants
        ),
        *([(released.memory, " (the memory of the key: keep it with the key, unpublished)")] * bool(released.memory)),
    ):
        verb = "wrote" if released.drawn else "found"
        console.print(f"{verb} {plain(str(path))}{what}", highlight=False, markup=False, soft_wrap=True)


def show_draws(draws: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print the draws of an accountant, one a line, with what their designs guarantee in other notions than LDP."""
    table = Table(box=None)
    for name in ("time", "data", "columns", "population", "epsilon", "state", "guarantee"):
        table.add_column(name)
    for one in draws:
        names = ", ".join(name for column in one["columns"] for name in column["columns"])
        told = [column.get("guarantee", "") for column in one["columns"]]
        if len(set(told)) > 1:
            told = [f"{', '.join(column['columns'])}: {column.get('guarantee', '')}" for column in one["columns"]]
        cells = (one["time"], one["data"], names, one["population"], one["epsilon"], one["state"])
        table.add_row(*(Text(plain(cell)) for cell in cells), Text("\n".join(map(plain, dict.fromkeys(told)))))
    if draws:
        console.print(table)


def show_estimate(found: Estimate, level: float, console: Console) -> None:
    """Print frequencies with their standard errors and intervals, one category a line."""
    table = Table(title=f"Frequencies by {found.method}, {counted(found.n, 'answers')}", title_justify="left", box=None)
    table.add_column("category", overflow="fold")
    for name in ("estimate", "standard error", f"{100 * level:g} % from", "to"):
        table.add_column(name, justify="right")
    ends = found.intervals(level)
    for label, value, error, (low, high) in zip(
        found.categories, found.values, found.standard_errors, ends, strict=True
    ):
        table.add_row(Text(plain(label)), f"{value:.5f}", f"{error:.5f}", f"{low:.5f}", f"{high:.5f}")
    console.print(table)


@contextmanager
def rows_progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar of rows on the error stream; nothing where that is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.fields[shown]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None, shown="")
        started = time.monotonic()

        def report(done: int, total: int | None) -> None:
            rate = done / max(time.monotonic() - started, 1e-3)
            bar.update(task, total=total, completed=done, shown=f"{counted(done, 'rows')}  {rate / 1e6:.1f} million/s")

        yield report


@contextmanager
def points_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar of points done on the error stream; nothing where that is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f} points"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=1)
        yield lambda done, total: bar.update(task, total=total, completed=done)


@contextmanager
def sweep_progress(what: str) -> Iterator[Callable[[int, int, int], None]]:
    """A progress bar of (points done, done in earlier runs, points in all) on the error stream, with the time that is
    left at the speed of this run; nothing where that is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, resumed, total: None
        return
    done_of = TextColumn("{task.completed:,.0f} of {task.total:,.0f}")
    columns = (TextColumn(what), BarColumn(), done_of, TextColumn("{task.fields[left]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=1, left="")
        started = time.monotonic()

        def report(done: int, resumed: int, total: int) -> None:
            left = ""
            if done > resumed:
                seconds = (time.monotonic() - started) / (done - resumed) * (total - done)
                left = f"{clock(seconds)} left"
            bar.update(task, total=max(total, 1), completed=done, left=left)

        yield report


def clock(seconds: float) -> str:
    """A time as "1:05" or "2:00:07"."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


@contextmanager
def progress(goal: float, absolute: float = 0.0) -> Iterator[Callable[[float | None, float | None], None]]:
    """A progress bar on the error stream with value, bound and gap; nothing where that is not a terminal.

    The bar measures the logarithm of the gap, from the first one seen down to `goal` times |bound|, or `absolute`.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda value, bound: None
        return
    columns = (TextColumn("solving"), BarColumn(), TextColumn("{task.fields[shown]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("solve", total=None, shown="")
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
            bar.update(task, total=1.0, completed=min(max(done, 0.0), 1.0), shown=line)

        yield report
