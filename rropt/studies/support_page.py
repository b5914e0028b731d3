"""The page docs/support.md: what comes out of every objective with every constraint, and why.

`python -m rropt.studies.support_page` solves every cell in a child process and writes docs/support.json and the page;
with `--only TEXT` the cells whose words have that text in them, with `--missing` those that are not there yet, with
`--refused` those that no route took (a new route changes what they say), the others as they were; with `--page` the
page alone.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from rropt.files import write_whole
from rropt.studies.support import (
    CONSTRAINTS,
    GAP,
    OBJECTIVES,
    SIZES,
    STATUSES,
    TIME_LIMIT,
    Cell,
    Key,
    cells,
    read,
    settle,
    write,
)

__all__ = ["page", "settled"]

PATIENCE = 20.0
"""Seconds of computing after which a cell is given up, whatever its time limit says."""
FILES = Path("docs/support.json"), Path("docs/support.md")
LATE = f"no answer within {PATIENCE:.0f} seconds of computing"
FAULT = "a fault of rropt: it ended with an error, please report it"
PREFIX = "route auto: no route takes this problem: "
HEAD = f"""# What can be proved

Every objective with every constraint, solved at {", ".join(map(str, SIZES[:-1]))} and {SIZES[-1]} inputs with uneven
frequencies, {TIME_LIMIT:.0f} seconds a problem and a relative gap of {GAP:.0e}. No entry is written down:
`make support` solves them all again, the tests a part (`make test-all` all). More time, or even frequencies, certify
more.

- **certified**: the independent checker accepted the certificate, and value and bound are within the gap.
- **bounded**: a mechanism and a true bound, with their distance; the number in brackets says why not more.
- **infeasible**: no mechanism exists, and the checker accepted the proof.
- **no route**: refused, or {LATE}; the number in brackets says why.

Privacy is at epsilon 1 nat (0.5 where RLDP sees the other values), delta 0.1, alpha 0.05; `metric_dp` protects
neighbours on a path; `rldp` takes the inputs for pairs of as many sensitive as other values; entropy floors are 0.95 of
the most, identification risk is at most 1/4. `+` joins constraints. What is alone without privacy is there for
completeness: where nothing forbids it, the best mechanism tells the truth.
"""


def _serve(line: Connection, time_limit: float, patience: float) -> None:
    """Solve what comes along the line; the system ends the process where a cell computes for too long."""
    while (key := line.recv()) is not None:
        soft = int(time.process_time() + patience) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        line.send(settle(key[0], key[1], key[2], time_limit))


def settled(
    keys: Sequence[Key],
    note: Callable[[Cell], None] = lambda cell: None,
    time_limit: float = TIME_LIMIT,
    patience: float = PATIENCE,
) -> list[Cell]:
    """The cells of these keys, solved one after another in a child process, which is ended where one computes for more
    than `patience` seconds; `note` is told of each."""
    spawn = multiprocessing.get_context("spawn")
    found: list[Cell] = []
    child, line = None, None
    for key in keys:
        if child is None or line is None:
            line, theirs = spawn.Pipe()
            child = spawn.Process(target=_serve, args=(theirs, time_limit, patience), daemon=True)
            child.start()
            theirs.close()
        line.send(key)
        try:
            cell: Cell = line.recv()
        except (EOFError, ConnectionResetError):
            child.join()
            late = child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
            cell = Cell(*key, "no_route", LATE if late else FAULT, None, patience)
            child = None
        found.append(cell)
        note(cell)
    if child is not None and line is not None:
        line.send(None)
        child.join()
    return found


def page(found: Sequence[Cell]) -> str:
    """The page as Markdown."""
    numbers: dict[str, int] = {}
    parts = [HEAD, _counts(found)]
    by_key = {cell.key: cell for cell in found}
    for size in SIZES:
        heads = " | ".join(f"`{name}`" for name in OBJECTIVES)
        lines = [f"## {size} inputs", "", f"| | {heads} |", "|---" * (len(OBJECTIVES) + 1) + "|"]
        for rule in CONSTRAINTS:
            row = (_said(by_key.get((objective, rule, size)), numbers) for objective in OBJECTIVES)
            lines.append(f"| `{rule}` | {' | '.join(row)} |")
        parts.append("\n".join(lines))
    reasons = "\n".join(f"{number}. {reason}" for reason, number in numbers.items())
    parts.append(f"## Reasons\n\n{reasons}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _counts(found: Sequence[Cell]) -> str:
    tally = Counter((cell.size, cell.status) for cell in found)
    lines = [f"| inputs | {' | '.join(STATUSES).replace('_', ' ')} |", "|---" * (len(STATUSES) + 1) + "|"]
    lines += [f"| {size} | {' | '.join(str(tally[size, status]) for status in STATUSES)} |" for size in SIZES]
    return "\n".join(lines)


def _said(cell: Cell | None, numbers: dict[str, int]) -> str:
    if cell is None:
        return "not computed"
    word = cell.status.replace("_", " ")
    if not cell.reason:
        return word
    number = numbers.setdefault(cell.reason.removeprefix(PREFIX).replace("|", "\\|"), len(numbers) + 1)
    if cell.gap is not None and math.isfinite(cell.gap):
        word += f" {max(cell.gap, 0.0):.0e}"
    return f"{word} [{number}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute cells and write the two files."""
    parser = argparse.ArgumentParser(prog="python -m rropt.studies.support_page", description=__doc__)
    parser.add_argument("--only", default="", help="cells whose objective|constraint|size has this text in it")
    parser.add_argument("--page", action="store_true", help="write the page alone, from the cells that are there")
    parser.add_argument("--missing", action="store_true", help="only cells that are not in the file yet")
    parser.add_argument("--refused", action="store_true", help="only cells that no route took, which takes seconds")
    chosen = parser.parse_args(arguments)
    table, text = FILES
    known = {cell.key: cell for cell in read(table)} if table.is_file() else {}
    wanted = [] if chosen.page else [key for key in cells() if chosen.only in "|".join(map(str, key))]
    if chosen.missing:
        wanted = [key for key in wanted if key not in known]
    if chosen.refused:
        wanted = [key for key in wanted if key in known and known[key].reason.startswith(PREFIX)]

    def note(cell: Cell) -> None:
        known[cell.key] = cell
        write(table, [known[key] for key in cells() if key in known])
        print(*cell.key, cell.status, cell.gap, f"{cell.seconds:.1f} s", cell.reason[:100], sep=" | ", file=sys.stderr)

    settled(wanted, note=note)
    write_whole(text, page([known[key] for key in cells() if key in known]))


if __name__ == "__main__":
    main()
