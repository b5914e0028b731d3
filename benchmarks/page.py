"""The page docs/benchmarks.md: the machine, then one section a table."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import rropt as rr
from benchmarks.measure import PATIENCE, REPEATS
from benchmarks.table import Result, Row, Scale, Table

PACKAGES = ("numpy", "scipy", "highspy", "cvxpy", "clarabel", "scs", "cryptography")


def processor() -> str:
    """The processor's own name, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine(warm: float) -> str:
    """Processor, cores, load and versions; `warm` is the seconds of the warming up. Call it before measuring."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    load = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"| | |\n|---|---|\n| processor | {processor()}, {os.cpu_count()} cores |\n"
        f"| load before measuring | {load} (mean of one minute, including the warming up) |\n"
        f"| system | {platform.system()}, Python {platform.python_version()} |\n"
        f"| versions | rropt {rr.__version__}, {versions} |\n"
        f"| warming up | {warm:.2f} s: one small solve per method, which loads the libraries; not included below |\n"
    )


MOST = 7
"""Tables on one page of the site."""


def grid(table: Table, rows: Sequence[Row]) -> str:
    """The rows as a Markdown table; columns without a single value are left out, a missing value is a dash."""
    shown = [column for column in table.columns if any(row[column.key] is not None for row in rows)]
    lines = [[column.heading for column in shown], ["---"] * len(shown)]
    for row in rows:
        lines.append(["-" if (value := row[column.key]) is None else column.show(value) for column in shown])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def section(table: Table, result: Result, seconds: float) -> str:
    """One table with its heading, what it compares, its rows and notes; `seconds` is what measuring took."""
    took = f"Measuring this table took {seconds:.0f} s."
    return "\n\n".join([f"## {table.title}", table.about, grid(table, result.rows), *result.notes, took])


def summary(measured: Sequence[tuple[Table, Result]]) -> str:
    """One line a table: how many of its targets are reached."""
    lines = ["| table | targets reached |", "|---|---|"]
    for table, result in measured:
        reached, judged = result.targets
        shown = f"{reached} of {judged}" if judged else "no target"
        lines.append(f"| `{table.name}`: {table.title} | {shown if reached == judged else f'**{shown}**'} |")
    return "\n".join(lines)


def effort(wall: float, processor_time: float) -> str:
    """What the whole run took; both in seconds. Wall clock far above processor time means a machine shared."""
    return (
        f"The whole run took {wall:.0f} s of wall clock and {processor_time:.0f} s of processor time. If the first "
        "is well above the second, other work used the processor, and all times are too long."
    )


def page(scale: Scale, heading: str, overview: str, sections: Sequence[str]) -> str:
    """The whole page; `heading` comes from `machine`, `overview` from `summary` and `effort`."""
    command = "make bench" + (" BENCH=--full" if scale == "full" else "")
    introduction = f"""\
# Benchmarks

`{command}` writes this page. All figures, of rropt and of other packages, are from one run on this machine, except in a
table that says otherwise.

{heading}
Times are seconds of wall clock: the median of {REPEATS} runs, or one run where it takes longer than {PATIENCE:g} s.
On another day they may differ by a factor of two. A target that is not reached is marked **missed**.

{overview}"""
    marks = {
        at: f"<!-- page: benchmarks-{at // MOST + 1} Benchmarks (part {at // MOST + 1}) -->"
        for at in range(MOST, len(sections), MOST)
    }
    parts = [part for at, one in enumerate(sections) for part in ([marks[at], one] if at in marks else [one])]
    return "\n\n".join([introduction, *parts]) + "\n"
