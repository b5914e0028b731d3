"""The gain of the exact cone of robust local differential privacy over PolyOpt, on the whole reference file.

For each row of tests/data/rldp_reference.csv (counts, epsilon; alpha 0.05) the certified optima of mutual information
in the forms polytope (PolyOpt), product and exact, with their bounds, and the audited level of the exact one.
`python docs/tools/robust_gain.py` solves the missing rows, large ones last, writes
docs/robust-gain.json after each, and the tables of docs/robust.md at the end; it can be stopped and started again.
"""

import argparse
import csv
import json
import math
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

import rropt as rr
from rropt.errors import Missing, counted
from rropt.io.content import ByContent
from rropt.io.files import write_whole

FORMS: tuple[Literal["polytope", "product", "exact"], ...] = ("polytope", "product", "exact")
FILES = Path("tests/data/rldp_reference.csv"), Path("docs/robust-gain.json"), Path("docs/robust.md")
TIME_LIMIT = 30.0
"""Seconds for a form of a row; the proof comes on top."""
POLYTOPE_GAP = 1e-7
SHARE = 5e-4
"""The target gap of the other forms, as a share of PolyOpt's optimum: gains are then known to 0.05 % of it."""
SIZES = ("2x2", "2x3", "3x2", "3x3", "3x4", "4x4", "5x5")
LARGE = ("4x4", "5x5")
FIRST = ("0.5", "1.0", "2.0", "4.0")
"""The levels that are solved before the others."""
MARKS = "<!-- gain: begin -->", "<!-- gain: end -->"


@dataclass(frozen=True)
class Instance:
    """A row of the reference file: counts of sensitive x other values, and a level."""

    size: str
    number: int
    epsilon: str
    counts: tuple[int, ...]

    @property
    def key(self) -> tuple[str, int, str]:
        """Its key."""
        return self.size, self.number, self.epsilon

    @property
    def confidence(self) -> rr.robust.ChiSquareSet:
        """The chi-square set of the counts, alpha 0.05."""
        sensitive, other = map(int, self.size.split("x"))
        counts = np.reshape(self.counts, (sensitive, other))
        return rr.robust.ChiSquareSet(rr.Prior.from_counts(counts, pairs=rr.Pairs(sensitive, other)))


@dataclass(frozen=True)
class Optimum:
    """The result of one form: a certified mechanism's value and a certified bound (nats), and seconds of computing."""

    status: str
    value: float
    bound: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Gain(ByContent):
    """One row solved; `optima` by form, `level` the two ends of the audited level of the exact mechanism (nats)."""

    size: str
    number: int
    epsilon: str
    optima: Mapping[str, Optimum]
    level: tuple[float, float]

    @property
    def key(self) -> tuple[str, int, str]:
        """The key of the row."""
        return self.size, self.number, self.epsilon

    def percent(self, form: str) -> float:
        """The gain of a form's mechanism over PolyOpt's bound, in percent."""
        return 100.0 * (self.optima[form].value / self.optima["polytope"].bound - 1.0)

    @property
    def most(self) -> float:
        """The largest possible gain of the exact form over PolyOpt's mechanism, in percent."""
        return 100.0 * (self.optima["exact"].bound / self.optima["polytope"].value - 1.0)

    @property
    def closed(self) -> bool:
        """Whether the gain of exact is known: it and PolyOpt were certified to the target gap."""
        polytope, exact = self.optima["polytope"], self.optima["exact"]
        certified = polytope.status == exact.status == "certified"
        return certified and exact.bound - exact.value <= SHARE * polytope.bound


def instances(source: Path) -> list[Instance]:
    """The rows of the reference file: the first instance of every size, the second, and so on; large sizes last."""
    with source.open(newline="") as file:
        rows = [
            Instance(row["size"], int(row["instance"]), row["epsilon"], tuple(map(int, row["counts"].split())))
            for row in csv.DictReader(file)
        ]

    def late(row: Instance) -> tuple[bool, int, bool, int, float]:
        # A large size at small epsilon takes longest.
        return row.size in LARGE, row.number, row.epsilon not in FIRST, SIZES.index(row.size), -float(row.epsilon)

    return sorted(rows, key=late)


def settle(row: Instance, time_limit: float = TIME_LIMIT) -> Gain:
    """Solve a row in every form; `time_limit` is that of each. Raises RroptError where a form has no answer at all."""
    confidence = row.confidence
    goal = rr.Maximize(rr.MutualInformation(confidence.counts))
    optima: dict[str, Optimum] = {}
    level = (0.0, math.inf)
    for form in FORMS:
        # A gap is relative for values above 1.
        gap = POLYTOPE_GAP if form == "polytope" else max(SHARE * min(optima["polytope"].value, 1.0), POLYTOPE_GAP)
        begun = time.process_time()
        found = rr.Problem(goal, [rr.RLDP(row.epsilon, confidence, form=form)]).solve(
            gap=gap, absolute_gap=gap, time_limit=time_limit
        )
        seconds = time.process_time() - begun
        if found.value is None or found.bound is None or found.mechanism is None:
            raise rr.RroptError(f"no mechanism of form {form} at {row.key} within {time_limit:g} seconds")
        optima[form] = Optimum(found.status, float(found.value), float(found.bound), round(seconds, 3))
        if form == "exact":
            audit = rr.robust.robust_audit(found.mechanism, confidence)
            level = float(audit.epsilon.lower), float(audit.epsilon.upper)
    return Gain(*row.key, optima, level)


def read(path: Path) -> list[Gain]:
    """The rows of a file that `write` wrote."""
    return [
        Gain(
            one["size"],
            one["number"],
            one["epsilon"],
            {form: Optimum(**what) for form, what in one["optima"].items()},
            (one["level"][0], one["level"][1]),
        )
        for one in json.loads(path.read_text())["rows"]
    ]


def write(path: Path, rows: Iterable[Gain]) -> None:
    """Write rows, one per line."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    write_whole(path, f'{{"source": "{FILES[0].name}", "alpha": "0.05", "unit": "nats", "rows": [\n{lines}\n]}}\n')


def _group(rows: Iterable[Gain]) -> tuple[list[str], dict[tuple[str, str], list[Gain]]]:
    """(epsilons, rows by size and epsilon)."""
    groups: dict[tuple[str, str], list[Gain]] = {}
    for row in rows:
        groups.setdefault((row.size, row.epsilon), []).append(row)
    return sorted({epsilon for _, epsilon in groups}, key=float), groups


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _show(percent: float) -> str:
    # Adding 0 takes the sign of a zero away.
    return f"{percent:.1f}" if abs(percent) >= 9.95 else f"{round(percent, 2) + 0.0:.2f}"


def short(rows: Sequence[Gain]) -> str:
    """The small table: mean gain by size and epsilon, in percent."""
    epsilons, groups = _group(rows)
    heads = " | ".join(f"{float(epsilon):g}" for epsilon in epsilons)
    lines = [f"| pairs \\ epsilon | {heads} |", "|---" * (len(epsilons) + 1) + "|"]
    for size in SIZES:
        cells = []
        for epsilon in epsilons:
            group = groups.get((size, epsilon), [])
            least = "" if all(row.closed for row in group) else ">= "
            cells.append(least + _show(_mean(row.percent("exact") for row in group)) if group else "")
        if any(cells):
            lines.append(f"| {size.replace('x', ' x ')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(rows: Sequence[Gain], asked: int) -> str:
    """The section of docs/robust.md: what was solved of `asked` rows, and the tables."""
    epsilons, groups = _group(rows)
    closed = sum(row.closed for row in rows)
    paragraphs = [
        f"{len(rows)} of {counted(asked, 'rows')}, PolyOpt and exact certified in {closed} of them, to a gap of "
        f"{100 * SHARE:g} % of PolyOpt's optimum. Mean gain in percent (`>=`: some rows of the cell are only bounded, "
        "and the gain is that of the mechanism found):",
        "In detail: rows solved (certified ones), gain of exact, mean and from least to most; the most that the bounds "
        "of any of these rows allow; mean gain of product (`>=` as above); seconds of computing for form exact, mean.",
    ]
    first, second = (textwrap.fill(text, 120) for text in paragraphs)
    lines = ["| pairs | epsilon | rows | exact, % | at most, % | product, % | s |", "|---" * 7 + "|"]
    for size in SIZES:
        for epsilon in epsilons:
            group = groups.get((size, epsilon), [])
            if not group:
                continue
            gains = [row.percent("exact") for row in group]
            spread = f"{_show(_mean(gains))} ({_show(min(gains))} to {_show(max(gains))})"
            done = sum(row.closed for row in group)
            least = "" if all(row.optima["product"].status == "certified" for row in group) else ">= "
            product = least + _show(_mean(row.percent("product") for row in group))
            lines.append(
                f"| {size.replace('x', ' x ')} | {float(epsilon):g} | {len(group)} ({done}) | {spread} "
                f"| {_show(max(row.most for row in group))} | {product} "
                f"| {_mean(row.optima['exact'].seconds for row in group):.1f} |"
            )
    return "\n\n".join([first, short(rows), second, "\n".join(lines)])


def placed(text: str, section: str) -> str:
    """A page with what is between its two marks replaced. Raises InputError where it has no marks."""
    start, end = (text.find(mark) for mark in MARKS)
    if start < 0 or end < start:
        raise Missing("the marks of the table are missing", str(FILES[2]), f"put in {MARKS[0]} and {MARKS[1]}")
    return f"{text[:start]}{MARKS[0]}\n{section}\n{text[end:]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve the missing rows, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=TIME_LIMIT, help="for each form of a row (default 30)")
    parser.add_argument("--only", default="", help="rows whose size|instance|epsilon has this text in it")
    parser.add_argument("--page", action="store_true", help="write the tables alone, from the rows that are there")
    chosen = parser.parse_args(arguments)
    every = instances(FILES[0])
    known = {row.key: row for row in read(FILES[1])}

    wanted = [] if chosen.page else [row for row in every if chosen.only in "|".join(map(str, row.key))]
    for row in [one for one in wanted if one.key not in known]:
        try:
            known[row.key] = found = settle(row, chosen.seconds)
        except rr.RroptError as error:
            print(f"{row.key}: {error}", file=sys.stderr)
            continue
        write(FILES[1], [known[one.key] for one in every if one.key in known])
        last = found.optima["exact"]
        print(*row.key, last.status, f"{found.percent('exact'):.3f} %", f"{last.seconds:.1f} s", sep=" | ", flush=True)
    rows = [known[one.key] for one in every if one.key in known]
    write_whole(FILES[2], placed(FILES[2].read_text(), page(rows, len(every))))


if __name__ == "__main__":
    main()
