"""Run the tables: `python -m benchmarks [NAME...]`, or `python benchmarks/run.py [NAME...]`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
if __package__ in (None, ""):  # run as a file: only its own folder is on the path then
    sys.path.insert(0, str(CHECKOUT))

from benchmarks.measure import warm_up  # noqa: E402
from benchmarks.page import effort, machine, page, section, summary  # noqa: E402
from benchmarks.table import Result, Scale, Table  # noqa: E402
from benchmarks.tables import TABLES  # noqa: E402

PAGE = CHECKOUT / "docs" / "benchmarks.md"


def processor_time() -> float:
    """Seconds of processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def run(tables: Sequence[Table], scale: Scale, out: Path | None) -> str:
    """Measure `tables` one after the other, print each when it is there, and return the page; written with its
    pictures to `out` (a file) unless that is None."""
    started, worked = time.perf_counter(), processor_time()
    warm = warm_up()
    heading = machine(warm)
    print(heading, flush=True)
    sections: list[str] = []
    measured: list[tuple[Table, Result]] = []
    pictures: dict[str, str] = {}
    for table in tables:
        begun = time.perf_counter()
        result = table.measure(scale)
        sections.append(section(table, result, time.perf_counter() - begun))
        measured.append((table, result))
        pictures |= result.pictures
        print(sections[-1], end="\n\n", flush=True)
    spent = effort(time.perf_counter() - started, processor_time() - worked)
    overview = f"{summary(measured)}\n\n{spent}"
    print(overview, flush=True)
    text = page(scale, heading, overview, sections)
    if out is not None:
        for path, content in {out: text, **{out.parent / name: svg for name, svg in pictures.items()}}.items():
            path.write_text(content, encoding="utf-8")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 when every table was measured, whether or not it reaches its targets."""
    by_name = {table.name: table for table in TABLES}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure rropt beside what a user would take instead. All tables are written to "
        "docs/benchmarks.md; a choice of them is only printed, unless --out says where to.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"a table: {', '.join(by_name)} (default: all)")
    parser.add_argument("--full", action="store_true", help="larger sizes and more seeds: two hours")
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
