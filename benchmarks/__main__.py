"""`python -m benchmarks [NAME...]`: measure the tables, print them, and write docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import rropt as rr
from benchmarks.measure import PATIENCE, REPEATS, warm_up
from benchmarks.table import Scale, Table
from benchmarks.tables import PARTS, TABLES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
PACKAGES = ("numpy", "scipy", "highspy", "cvxpy", "clarabel", "scs", "cryptography")


def processor() -> str:
    """The processor's own name, as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine(warm: float) -> str:
    """Day, processor, cores, load and versions; `warm` is the seconds of the warming up. Call it before measuring."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    load = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"| | |\n|---|---|\n| measured on | {time.strftime('%Y-%m-%d')} |\n"
        f"| processor | {processor()}, {os.cpu_count()} cores |\n"
        f"| load before measuring | {load} (mean of one minute, including the warming up) |\n"
        f"| system | {platform.system()}, Python {platform.python_version()} |\n"
        f"| versions | rropt {rr.__version__}, {versions} |\n"
        f"| warming up | {warm:.2f} s: one small solve per method, which loads the libraries; not included below |"
    )


HEAD = f"""\
# Benchmarks

`make bench` writes this page: what a user gains, then rropt and other packages side by side in one run, then the largest
problems. Times are seconds of wall clock, the median of {REPEATS} runs, or one run where it takes longer than
{PATIENCE:g} s. On another day they may differ by a factor of two. How much work fixed problems take is counted in every
run of the tests (`tests/data/effort.json`).
"""


def processor_time() -> float:
    """Seconds of processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def run(tables: Sequence[Table], scale: Scale, out: Path | None) -> str:
    """Measure `tables` one after the other, print each when it is there, and return the page; written with its
    pictures to `out` (a file) unless that is None."""
    begun, worked = time.perf_counter(), processor_time()
    heading = machine(warm_up())
    print(heading, flush=True)
    sections: dict[str, str] = {}
    pictures: dict[str, str] = {}
    for table in tables:
        result = table.measure(scale)
        sections[table.name] = table.section(result)
        pictures |= result.pictures
        print(f"\n{sections[table.name]}", flush=True)
    took = (
        f"The whole run took {time.perf_counter() - begun:.0f} s of wall clock and {processor_time() - worked:.0f} s of "
        "processor time. If the first is well above the second, other work used the processor, and all times are too "
        "long."
    )
    print(f"\n{took}", flush=True)
    parts = [HEAD.strip(), heading, took]
    for title, names in PARTS.items():
        if own := [sections[table.name] for table in names if table.name in sections]:
            parts += [f"## {title}", *own]
    text = "\n\n".join(parts) + "\n"
    if out is not None:
        for path, content in {out: text, **{out.parent / name: svg for name, svg in pictures.items()}}.items():
            path.write_text(content, encoding="utf-8")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 when every table was measured."""
    by_name = {table.name: table for table in TABLES}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure rropt beside what a user would take instead. All tables are written to "
        "docs/benchmarks.md; a choice of them is only printed, unless --out says where to.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"a table: {', '.join(by_name)} (default: all)")
    parser.add_argument("--full", action="store_true", help="larger sizes, and 60 s for each problem: an hour")
    parser.add_argument("--out", type=Path, help="write the page to this file")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in by_name]:
        parser.error(f"no table {unknown[0]!r}; there are: {', '.join(by_name)}")
    out = given.out or (None if given.names else PAGE)
    run([by_name[name] for name in given.names] or list(TABLES), "full" if given.full else "default", out)
    if out is not None:
        print(f"written: {out.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
