"""Noise of the cell key method: of all distributions that keep the rules, the one of the largest entropy, with a proof.

Sources: Fraser and Wooton 2005, "A proposed method for confidentialising tabular output to protect against
differencing"; Giessing 2016, "Computational issues in the design of transition probabilities and disclosure risk
estimation for additive noise"; the file format is that of the R package ptable.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import arb

from rropt.errors import (
    Conflict,
    InputError,
    Missing,
    OutOfRange,
    Unreadable,
    WrongType,
    counted,
    in_file,
    positive_integer,
    shown,
)
from rropt.exact import Interval, enclosure, rational, rounded, xlogx_ball
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import Limits, read_text, write_whole
from rropt.io.frames import array_of
from rropt.io.tables import Table, further
from rropt.io.types import Number

if TYPE_CHECKING:
    from rropt.problem import Problem, Solution

MOST_ROWS = 100
"""The largest bound D together with the largest forbidden count."""
DIGITS = 15
"""Decimals of the numbers of a file."""
ROUNDED = Fraction(1, 10**6)
"""What the probabilities of a row of a file may miss of one: other programs write eight decimals."""
LIMITS = Limits(1 << 24)
WORDS = 1 << 64
"""The number of keys."""

Row = tuple[tuple[int, Fraction], ...]


@checked
@dataclass(frozen=True)
class CellKey:
    """Rules for the noise of counts: at most `D` either way, on average 0, a variance of at most `V`, and no released
    count from 1 to `js`; a count of 0 stays 0. `solve` finds the noise of the largest entropy, and proves it.

    `D` is a positive integer, `js` an integer from 0 to `D`, `V` a number > 0: where `js` > 0, it is at least
    (js + 1)^2 / 4 rounded down, the least variance of noise without bias that avoids the counts 1, ..., js. With
    `monotone` a larger reduction of a count is never more probable than a smaller one (the default of ptable).
    Counts from D + js + 1 on (without `js` from D on) all have the same noise. Raises InputError.

    Cell keys protect against the comparison of tables; they are not differentially private.

        >>> import rropt as rr
        >>> table = rr.CellKey(D=2, V=1).solve()
        >>> [(noise, round(float(p), 4)) for noise, p in table.row(10)]
        [(-2, 0.0638), (-1, 0.2447), (0, 0.383), (1, 0.2447), (2, 0.0638)]
    """

    D: int
    V: Number
    js: int = field(default=0, kw_only=True)
    monotone: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        where = "CellKey"
        object.__setattr__(self, "V", rational(self.V, f"{where}, V"))
        positive_integer(self.D, f"{where}, D")
        positive_integer(self.js + 1, f"{where}, js + 1")
        if not 0 <= self.js <= self.D:
            raise OutOfRange(
                f"js is {self.js}, and D is {self.D}", where, "take js from 0 to D, so that every count has a place"
            )
        if self.D + self.js > MOST_ROWS:
            raise OutOfRange(f"D + js is {self.D + self.js}", where, f"take at most {MOST_ROWS}")
        least = (self.js + 1) ** 2 // 4
        if self.variance < least or not self.variance:
            needed = f"from {least} on" if self.js else "above 0"
            raise OutOfRange(
                f"V is {self.V}, and no noise without bias has it at js = {self.js}", where, f"take V {needed}"
            )

    @property
    def variance(self) -> Fraction:
        """V, exactly."""
        return rational(self.V, "V")

    @property
    def targets(self) -> tuple[int, ...]:
        """The counts that may be released, up to the largest of the table."""
        return tuple(j for j in range(self._largest + self.D + 1) if not 1 <= j <= self.js)

    @property
    def _largest(self) -> int:
        """The first count that all larger ones are treated like."""
        return self.D + self.js + 1 if self.js else self.D

    def support(self, count: int) -> tuple[int, ...]:
        """The noise that a count may get, in increasing order."""
        if count == 0:
            return (0,)
        return tuple(v for v in range(-min(count, self.D), self.D + 1) if not 1 <= count + v <= self.js)

    def problem(self) -> Problem:
        """The problem: the mean entropy of the rows, each of which is the noise of one count."""
        from rropt.declare.constraints import LinearConstraint
        from rropt.declare.objectives import InjectedEntropy
        from rropt.problem import Maximize, Problem

        counts, targets = range(self._largest + 1), self.targets
        place = {target: at for at, target in enumerate(targets)}

        def row(count: int, values: dict[int, int]) -> list[list[int]]:
            found = [[0] * len(targets) for _ in counts]
            for noise, value in values.items():
                found[count][place[count + noise]] = value
            return found

        outside = [[int(j - i not in self.support(i)) for j in targets] for i in counts]
        rules = [LinearConstraint(outside, "<=", 0, name="no other counts")]
        for i in counts[1:]:
            noise = self.support(i)
            rules.append(LinearConstraint(row(i, {v: v for v in noise}), "=", 0, name=f"mean of {i}"))
            rules.append(
                LinearConstraint(row(i, {v: v * v for v in noise}), "<=", self.variance, name=f"variance of {i}")
            )
            # A count that may not be released has no smallest reduction.
            if self.monotone and 0 in noise:
                for less, more in pairwise(v for v in noise if v <= 0):
                    rules.append(LinearConstraint(row(i, {less: 1, more: -1}), "<=", 0, name=f"order of {i}, {less}"))
        inputs = [str(i) for i in counts]
        return Problem(
            Maximize(InjectedEntropy()), rules, inputs=inputs, outputs=[str(j) for j in targets], name="cell-keys"
        )

    def solve(self, gap: Number = "1e-8", *, time_limit: float | None = None) -> PerturbationTable:
        """The table of the largest entropy, with its certificate: no row has `gap` nats less than the largest entropy.

        Where the `time_limit` (seconds) ends the search, `table.gap` is larger. Raises InputError where no table was
        found.
        """
        wanted = rational(gap, "gap")
        if not 0 < wanted < 1:
            raise OutOfRange(f"gap is {shown(gap)}", "CellKey.solve", "give a gap between 0 and 1")
        rows = self._largest + 1
        # The proof is of the mean of the rows, and its gap is relative to a bound of at most log(2 D + 1).
        target = float(wanted) / rows / max(1.0, math.log(2 * self.D + 1))
        solution = self.problem().solve(gap=target, time_limit=time_limit)
        if solution.mechanism is None:
            raise InputError(f"the search found no table ({solution.status})", "CellKey", "give more time")
        # Outputs are in the order of the targets, under names that cannot be taken for counts.
        made, targets = solution.mechanism, self.targets
        found = [
            tuple((j - i, p) for y, j in enumerate(targets) if (p := made.entry(i, y)) or j == i) for i in range(rows)
        ]
        return PerturbationTable(
            tuple(tuple((v, p) for v, p in row if p) for row in found), rules=self, solution=solution
        )


@checked
@dataclass(frozen=True, eq=False)
class PerturbationTable(ByContent):
    """The noise of each count: `rows[i]` are pairs (noise, probability) of the count i, exact; the last row is also that
    of all larger counts. `rules` and `solution`, with the certificate, are those of a table that `CellKey.solve` made.

        >>> from fractions import Fraction
        >>> import rropt as rr
        >>> half = Fraction(1, 2)
        >>> table = rr.release.PerturbationTable((((0, Fraction(1)),), ((-1, half), (1, half))))
        >>> table.mean(7), table.variance(7)
        (Fraction(0, 1), Fraction(1, 1))
    """

    rows: tuple[Row, ...]
    rules: CellKey | None = field(default=None, kw_only=True)
    solution: Solution | None = field(default=None, repr=False, compare=False, kw_only=True)

    def row(self, count: int) -> Row:
        """The noise of a count, with its probabilities."""
        return self.rows[min(count, len(self.rows) - 1)]

    def mean(self, count: int) -> Fraction:
        """The mean of the noise of a count, exactly."""
        return sum((v * p for v, p in self.row(count)), Fraction(0))

    def variance(self, count: int) -> Fraction:
        """The variance of the noise of a count, exactly."""
        return sum((v * v * p for v, p in self.row(count)), Fraction(0)) - self.mean(count) ** 2

    def entropy(self, count: int) -> Interval:
        """The entropy of the noise of a count in nats, enclosed."""
        return enclosure(lambda: -sum((xlogx_ball(*p.as_integer_ratio()) for _, p in self.row(count)), arb(0)))

    @property
    def gap(self) -> float | None:
        """No row has an entropy that is so much (nats) below the largest one; None without a proof."""
        if self.solution is None or self.solution.gap is None:
            return None
        return self.solution.gap * len(self.rows)

    @property
    def D(self) -> int:
        """The largest noise."""
        return max(abs(v) for row in self.rows for v, _ in row)

    @property
    def js(self) -> int:
        """The counts 1, ..., js are never released."""
        return min(i + v for i, row in enumerate(self.rows) for v, _ in row if i + v > 0) - 1

    @cached_property
    def _ends(self) -> tuple[np.ndarray, ...]:
        """Of each row, the keys from which on the next noise is taken."""
        found = []
        for row in self.rows:
            ends = accumulate(p for _, p in row[:-1])
            found.append(np.array([math.ceil(end * WORDS) for end in ends], dtype=np.uint64))
        return tuple(found)

    def perturb(self, counts: Sequence[int] | np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Counts (n integers >= 0) with noise: the count i gets the noise in whose interval of its row the cell key
        lies. `keys` (n integers, uint64) are cell keys times 2^64. Returns int64. Raises InputError."""
        given, at = array_of(counts, "perturb, counts"), array_of(keys, "perturb, keys")
        if given.ndim != 1 or given.dtype.kind not in "iu" or (given < 0).any():
            raise WrongType("they are not a list of counts", "perturb, counts", "give integers from 0 on")
        if at.dtype != np.uint64 or at.shape != given.shape:
            raise WrongType(
                "they are not a list of keys", "perturb, keys", "give an array of uint64, one for each count"
            )
        found = given.astype(np.int64)
        which = np.minimum(found, len(self.rows) - 1)
        for i in np.unique(which):
            noise = np.array([v for v, _ in self.rows[i]], dtype=np.int64)
            mine = which == i
            found[mine] += noise[np.searchsorted(self._ends[i], at[mine], side="right")]
        return found

    def save(self, path: str | os.PathLike[str], *, form: Literal["TauArgus", "SAS"] = "TauArgus") -> Path:
        """Write the table as ptable does (a CSV with semicolons): columns i, j, p, v, p_int_ub, and p_int_lb before the
        last for "SAS". Returns the path. Raises InputError."""
        lines = ["i;j;p;v;p_int_lb;p_int_ub" if form == "SAS" else "i;j;p;v;p_int_ub"]
        for i, row in enumerate(self.rows):
            ends = [_decimal(end) for end in accumulate(p for _, p in row)]
            for (v, _), low, high in zip(row, [Fraction(0), *ends[:-1]], ends, strict=True):
                parts = [low, high] if form == "SAS" else [high]
                lines.append(";".join([str(i), str(i + v), _text(high - low), str(v), *map(_text, parts)]))
        return write_whole(path, "\n".join([*lines, ""]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values: D, js, the gap, and for each count its `count`, `mean`, `variance`, `entropy` (nats) and `noise`."""
        rows = [
            {
                "count": i,
                "mean": float(self.mean(i)),
                "variance": float(self.variance(i)),
                "entropy": float(self.entropy(i)),
                "noise": [[v, float(p)] for v, p in row],
            }
            for i, row in enumerate(self.rows)
        ]
        return {"D": self.D, "js": self.js, "gap": self.gap, "rows": rows}

    def _tables(self) -> Iterator[Table]:
        proved = "" if self.gap is None else f", within {self.gap:.1e} nats of the largest entropy (proved)"
        shown = range(min(len(self.rows), 12))
        lines = [
            (
                f"{i}" if i < len(self.rows) - 1 else f"{i} and more",
                f"{float(self.variance(i)):.4f}",
                f"{float(self.entropy(i)):.6f}",
                " ".join(f"{v:+d}:{float(p):.4f}" for v, p in self.rows[i]),
            )
            for i in shown
        ]
        title = f"Noise of at most {self.D}{f', no counts from 1 to {self.js}' if self.js else ''}{proved}"
        heads = ("count", "variance", "entropy (nats)", "noise: probability")
        yield Table(title, lines, heads, right=(0, 1, 2))
        for line in further(len(self.rows), "counts", len(shown)):
            yield Table("", [(line,)])


def _decimal(value: Fraction) -> Fraction:
    return Fraction(round(value * 10**DIGITS), 10**DIGITS)


def _text(value: Fraction) -> str:
    whole, rest = divmod(int(value * 10**DIGITS), 10**DIGITS)
    return f"{whole}.{rest:0{DIGITS}d}"


@checked
def load_perturbation_table(path: str | os.PathLike[str]) -> PerturbationTable:
    """A table for counts in the format of ptable, as `PerturbationTable.save` or ptable's `pt_export` wrote it.

    Probabilities are the differences of the ends of intervals (p_int_ub), exact as written; the last end of a count is
    taken for 1 if it is within 1e-6 of it. Raises InputError that names the line.

        >>> import pathlib, tempfile
        >>> import rropt as rr
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     saved = rr.CellKey(D=2, V=1, js=1).solve().save(pathlib.Path(folder) / "ptable.csv")
        ...     again = rr.release.load_perturbation_table(saved)
        >>> again.D, again.js
        (2, 1)
    """
    with in_file(path):
        return _read(read_text(path, "table of noise", limits=LIMITS).splitlines())


def _read(lines: list[str]) -> PerturbationTable:
    reader = csv.reader(lines, delimiter=";" if ";" in "".join(lines[:1]) else ",")
    heads = [name.strip() for name in next(reader, [])]
    for name in ("i", "j", "v", "p_int_ub"):
        if name not in heads:
            raise Missing(f"it has no column {name!r}", "header", "give a table that pt_export wrote")
    if "type" in heads:
        raise Conflict("it is a table for magnitudes (it has a column 'type')", "header", "give one for counts")
    rows: list[list[tuple[int, Fraction]]] = []
    end = Fraction(1)
    for number, cells in enumerate(reader, 2):
        if not any(map(str.strip, cells)):
            continue
        where = f"line {number}"
        if len(cells) != len(heads):
            raise Unreadable(f"it has {counted(len(cells), 'fields')}, not {len(heads)}", where, "correct it")
        line = dict(zip(heads, map(str.strip, cells), strict=True))
        try:
            i, j, v = (int(line[name]) for name in ("i", "j", "v"))
        except ValueError:
            raise Unreadable("i, j and v are not integers", where, "correct them") from None
        high = rational(line["p_int_ub"], where)
        if i == len(rows):
            _refuse_open(end, len(rows) - 1)
            rows.append([])
            end = Fraction(0)
        if i != len(rows) - 1:
            raise Unreadable(f"the count {i} follows {len(rows) - 1}", where, "order the counts: 0, 1, 2, ...")
        if j != i + v or j < 0:
            raise Unreadable(f"j is {j}, and i + v is {i + v}", where, "correct them")
        if not end <= high <= 1 + ROUNDED or any(v <= other for other, _ in rows[-1]):
            raise Unreadable("its interval does not follow the one before it", where, "order each count by j")
        rows[-1].append((v, high - end))
        end = high
    _refuse_open(end, len(rows) - 1)
    if not rows:
        raise Missing("it has no rows", "rows", "give a table that pt_export wrote")
    closed = []
    for row in rows:
        (v, p), missing = row[-1], 1 - sum(p for _, p in row)
        closed.append(tuple((noise, q) for noise, q in [*row[:-1], (v, p + missing)] if q))
    if closed[0] != ((0, Fraction(1)),):
        raise Unreadable("a count of 0 does not stay 0", "count 0", "give a table that keeps it")
    return PerturbationTable(tuple(closed))


def _refuse_open(end: Fraction, count: int) -> None:
    if abs(end - 1) > ROUNDED:
        raise Unreadable(f"its intervals end at {rounded(end)}, not 1", f"count {count}", "correct them")
