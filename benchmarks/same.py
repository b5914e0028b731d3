"""Whether the answers are still the same: `make same` (a sample of ten minutes), `make same SAME=--all` (all of it).

Compares with what is stored, and with an earlier revision that runs beside this one (`--base`):

- cells of docs/support.json and docs/support-leakage.json that no time limit ended: the same status, and value and
  bound within 1e-9. A cell that differs from the stored one is solved by the earlier revision on this machine too, and
  only a difference from that counts: other processors lead to other optima of the same quality;
- cells that the time limit ended: three runs of both revisions in turn; the median gap is at most 1.05 times that of
  the earlier one. Three more runs decide where it is not;
- every stored certificate: its verdict, problem, value and bound;
- the counts of benchmarks.effort, a sample of the claims of papers, and a sample of the robust reference table.

`--write` stores the verdicts of certificates and claims in benchmarks/same.json. `make support` stores the cells.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from support_cells import Cell, read, settle

from rropt.checker import check_file

CHECKOUT = Path(__file__).resolve().parent.parent
STORED = CHECKOUT / "benchmarks" / "same.json"
CELLS = [CHECKOUT / "docs" / name for name in ("support.json", "support-leakage.json")]
CLOSE = 1e-9
WORSE = 1.05


class Revision:
    """A checkout that solves cells in a process of its own, one line of JSON for each."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.same", "--worker"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def settle(self, cell: Cell) -> Cell:
        """The cell solved again. Raises RuntimeError where the process ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(cell.key) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that solves {cell.key} ended with status {self.process.wait()}")
        return Cell(**json.loads(line))


def work() -> None:
    """Solve the cells whose keys come from standard input."""
    for line in sys.stdin:
        print(json.dumps(asdict(settle(*json.loads(line))[0])), flush=True)


@contextmanager
def revisions(base: str) -> Iterator[tuple[Revision, Revision]]:
    """This checkout, and `base` in a temporary one."""

    def git(*command: str) -> None:
        subprocess.run(["git", *command], cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "base"
        git("worktree", "add", "--quiet", "--detach", str(folder), base)
        try:
            both = Revision(CHECKOUT), Revision(folder)
            yield both
            for one in both:
                one.process.stdin.close()  # type: ignore[union-attr]
                one.process.wait()
        finally:
            git("worktree", "remove", "--force", str(folder))


def timed(cell: Cell) -> bool:
    """Whether a time limit ended the solve of a cell."""
    return "stopped early: time limit" in cell.reason


def near(first: float | None, second: float | None) -> bool:
    """Whether two values or bounds are the same."""
    if first is None or second is None or not (math.isfinite(first) and math.isfinite(second)):
        return first == second
    return abs(first - second) <= CLOSE * max(1.0, abs(first))


def alike(first: Cell, second: Cell) -> bool:
    """Whether two results of a cell are the same."""
    if second.value is None and second.bound is None and second.gap is not None:  # a cell stored without its numbers
        return first.status == second.status
    same = first.status == second.status and near(first.value, second.value) and near(first.bound, second.bound)
    return same or (timed(first) and timed(second))


def ratio(pairs: Sequence[tuple[Cell, Cell]]) -> float:
    """The median gap of the first ones over that of the second ones; 1 where neither has a finite gap."""
    mine, other = (
        statistics.median(math.inf if one.gap is None else one.gap for one in side) for side in zip(*pairs, strict=True)
    )
    if not math.isfinite(mine) or not math.isfinite(other):
        return 1.0 if mine == other else math.inf if math.isinf(mine) else 0.0
    return max(mine, CLOSE) / max(other, CLOSE)


def certificates() -> dict[str, list[Any]]:
    """Status, digest of the problem, value and bound of every stored certificate."""
    folders = [
        CHECKOUT / "docs" / "examples",
        *(CHECKOUT / "tests" / "data" / name for name in ("independent_checker", "least", "older")),
    ]
    found = {}
    for path in [file for folder in folders for file in sorted(folder.glob("*.json"))]:
        said = check_file(path)
        found[str(path.relative_to(CHECKOUT))] = [
            said.status,
            *(
                None if end is None else str(end)
                for end in (said.lower, said.upper, said.value_lower, said.value_upper)
            ),
        ]
    return found


def verdicts(names: Sequence[str] = ()) -> dict[str, str]:
    """The verdict of every claim of papers, or of these."""
    from rropt.models import claims

    from rropt.studies import reproducibility

    return {entry.claim.id: entry.verdict for entry in reproducibility.run(claims.select(names))}


class Tally:
    """The problems of one kind that were compared, and those that differed."""

    def __init__(self, kind: str, minutes: float = math.inf) -> None:
        self.kind, self.end = kind, time.monotonic() + 60 * minutes
        self.compared, self.differ = 0, 0

    @property
    def late(self) -> bool:
        """Whether the time of this kind is over."""
        return time.monotonic() > self.end

    def compare(self, what: object, same: bool, note: object = "") -> None:
        """Count one comparison, and print it where it differs."""
        self.compared += 1
        if not same:
            self.differ += 1
            print(f"{self.kind}: {what}: {note}", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        return f"{self.compared - self.differ} of {self.compared} {self.kind}"


def compared(minutes: float, base: str, seed: str) -> tuple[bool, str]:
    """Whether everything that fits in the time is the same, and the line that says what was compared."""
    import robust_gain

    from benchmarks import effort

    chance = random.Random(seed)

    def mixed(things: Sequence[Any]) -> list[Any]:
        return chance.sample(things, len(things))

    stored = json.loads(STORED.read_text(encoding="utf-8"))
    every = mixed([cell for path in CELLS for cell in read(path)])

    proofs = Tally("certificates")
    now = certificates()
    for name in sorted(stored["certificates"].keys() | now.keys()):
        before = stored["certificates"].get(name)
        proofs.compare(name, now.get(name) == before, f"{now.get(name)}, stored {before}")

    counts = Tally("counts of effort")
    limits = json.loads(effort.STORED.read_text(encoding="utf-8"))
    for name, count in effort.measured().items():
        counts.compare(name, not (above := effort.excess(limits.get(name, {}), count)), above)

    with revisions(base) as (mine, other):
        cells = Tally("cells", minutes * 0.4)
        for cell in every:
            if cells.late:
                break
            if not timed(cell):
                found = mine.settle(cell)
                same = alike(found, cell) or alike(found, other.settle(cell))
                cells.compare(cell.key, same, f"{found}, stored {cell}")

        clock = Tally("clock", minutes * 0.3)
        ratios = []
        for cell in every:
            if clock.late:
                break
            if timed(cell):
                pairs = [(mine.settle(cell), other.settle(cell)) for _ in range(3)]
                if ratio(pairs) > WORSE:
                    pairs += [(mine.settle(cell), other.settle(cell)) for _ in range(3)]
                ratios.append(ratio(pairs))
                clock.compare(cell.key, ratios[-1] <= WORSE, f"{ratios[-1]:.3f} times the gap of {base}")

    papers = Tally("claims", minutes * 0.15)
    for name in mixed(list(stored["claims"])):
        if papers.late:
            break
        found = verdicts([name])[name]
        papers.compare(name, found == stored["claims"][name], f"{found}, stored {stored['claims'][name]}")

    robust = Tally("robust rows", minutes * 0.15)
    known = {row.key: row for row in robust_gain.read(CHECKOUT / robust_gain.FILES[1])}
    for row in mixed(robust_gain.instances(CHECKOUT / robust_gain.FILES[0])):
        if robust.late:
            break
        before = known[row.key]
        if row.size in robust_gain.LARGE or any(one.status != "certified" for one in before.optima.values()):
            continue  # what the time limit ended
        found = robust_gain.settle(row)
        for form, one in found.optima.items():
            was = before.optima[form]
            # Two certified intervals contain the same optimum.
            meet = one.status == "certified" and max(one.value, was.value) <= min(one.bound, was.bound)
            robust.compare((*row.key, form), meet, f"[{one.value}, {one.bound}], stored [{was.value}, {was.bound}]")

    tallies = [proofs, counts, cells, clock, papers, robust]
    typical, worst = (statistics.median(ratios), max(ratios)) if ratios else (math.nan, math.nan)
    line = f"same: {', '.join(map(str, tallies))} (gap ratios: median {typical:.3f}, largest {worst:.3f}; base {base})"
    return not any(one.differ for one in tallies), line


def main() -> int:
    """Compare, or store verdicts; the exit status is 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of a sample (10)")
    parser.add_argument("--all", action="store_true", help="everything, in some hours")
    parser.add_argument("--base", help="the earlier revision (default: the last one that changed docs/support.json)")
    parser.add_argument("--seed", default=time.strftime("%Y-%m-%d"), help="of the sample (today's date)")
    parser.add_argument("--write", action="store_true", help=f"store verdicts in {STORED.relative_to(CHECKOUT)}")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        work()
        return 0
    if chosen.write:
        text = json.dumps({"certificates": certificates(), "claims": verdicts()}, indent=1)
        STORED.write_text(text + "\n", encoding="utf-8")
        return 0
    last = ["git", "log", "-1", "--format=%h", "--", "docs/support.json"]
    base = chosen.base or subprocess.run(last, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.strip()
    same, line = compared(math.inf if chosen.all else chosen.minutes, base, chosen.seed)
    print(line)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
