"""Short tables of results: the one writer of text and the one writer of HTML."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.errors import counted, escaped, plain
from rropt.exact import Interval, declared_text, shown

GAP, LEAST = "  ", 8
"""The separator of two columns; no column is made narrower than so many characters to fit a line."""
MOST, NAMED, FEW = 24, 6, 2
"""Rows of a table of a result, entries of one of its fields, and fields of a result in it, that are written out."""
DIGITS = 12


@dataclass(frozen=True)
class Table:
    """`rows` of cells, the first of which names the row, under a `title` and `heads`.

    Columns in `right` are numbers. A cell may have several lines. `shades` (in [0, 1]) colour the cells behind the
    first one in HTML.
    """

    title: str
    rows: Sequence[Sequence[str]]
    heads: Sequence[str] = ()
    right: Collection[int] = ()
    shades: Sequence[Sequence[float]] | None = None

    def text(self, width: int | None = None) -> str:
        """Lines of text, folded where a `width` is given. Control characters are escaped."""
        lined = [[_lines(cell) for cell in row] for row in ([self.heads] if self.heads else []) + [*self.rows]]
        columns = len(lined[0]) if lined else 0
        widths = [max(cells(line) for row in lined for line in row[at]) for at in range(columns)]
        while width is not None and sum(widths) + len(GAP) * (columns - 1) > max(width, LEAST):
            at = max(range(columns), key=lambda one: (widths[one], one))
            if widths[at] <= LEAST:
                break
            widths[at] -= 1
        written = [*(_folded(plain(self.title), width or math.inf) if self.title else [])]
        for row in lined:
            both = zip(row, widths, strict=True)
            parts = [[line for one in cell for line in _folded(one, most)] for cell, most in both]
            for at in range(max(map(len, parts), default=0)):
                line = [part[at] if at < len(part) else "" for part in parts]
                padded = (self._padded(one, widths[y], y) for y, one in enumerate(line))
                written.append(GAP.join(padded).rstrip())
        return "\n".join(written)

    def _padded(self, text: str, width: int, column: int) -> str:
        space = " " * (width - cells(text))
        return space + text if column in self.right else text + space

    def html(self, inline: bool = True) -> str:
        """A table that scrolls by itself, also by keyboard, where it is wider than the page. Without `inline` styles it has the classes
        `wide` and `number` of a page of its own, and no shades."""
        scrolls, left = 'style="max-width:100%;overflow-x:auto"', ' style="text-align:left"'
        look = scrolls if inline else 'class="wide"'
        title = f"<caption{left if inline else ''}>{escaped(self.title)}</caption>" if self.title else ""
        lines = [("thead", "th", [self.heads])] if self.heads else []
        parts = []
        for part, tag, rows in [*lines, ("tbody", "td", self.rows)]:
            body = "".join(f"<tr>{''.join(self._cells(x, row, tag, inline))}</tr>" for x, row in enumerate(rows))
            parts.append(f"<{part}>{body}</{part}>")
        return f'<div {look} tabindex="0"><table>{title}{"".join(parts)}</table></div>'

    def _cells(self, x: int, row: Sequence[str], tag: str, inline: bool) -> Iterator[str]:
        for y, cell in enumerate(row):
            right = y in self.right
            style = "text-align:right;white-space:nowrap" if right else "text-align:left"
            if self.shades is not None and y and tag == "td":
                style += f";background:rgba(31,119,180,{0.75 * self.shades[x][y - 1]:.3f})"
            # An empty cell over the names of rows is not a heading.
            named = cell if tag == "th" else not y
            name, scope = ("th", f' scope="{"col" if tag == "th" else "row"}"') if named else ("td", "")
            look = f' style="{style}"' if inline else ' class="number"' * right
            yield f"<{name}{scope}{look}>{_marked(cell)}</{name}>"


class Readable:
    """A base of results: `str` and notebooks show short tables. One that says nothing else shows its fields."""

    def _tables(self) -> Iterator[Table]:
        rows = [(field.name.replace("_", " "), in_words(getattr(self, field.name))) for field in fields(self)]  # type: ignore[arg-type]
        yield Table(type(self).__name__, [(name, text) for name, text in rows if text])

    def _remarks(self) -> Iterator[str]:
        """Sentences below the tables."""
        yield from ()

    def _said(self) -> tuple[list[str], list[str]]:
        """The warnings, which are above the tables, and the other remarks."""
        said = list(self._remarks())
        warns = [line for line in said if line.startswith("warning: ")]
        return warns, [line for line in said if line not in warns]

    def __str__(self) -> str:
        above, below = ("\n".join(map(plain, lines)) for lines in self._said())
        return "\n\n".join(part for part in (above, *(table.text() for table in self._tables()), below) if part)

    def _repr_html_(self) -> str:
        above, below = self._said()
        warns = "".join(f'<p style="color:#b00020"><b>{escaped(line)}</b></p>' for line in above)
        notes = "".join(f"<p>{escaped(line)}</p>" for line in below)
        return f"<div>{warns}{''.join(table.html() for table in self._tables())}{notes}</div>"


def in_words(value: Any) -> str:
    """A value of a result in a few words; "" for nothing."""
    if value is None or (isinstance(value, str | Mapping | Set | tuple | list) and not value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.{DIGITS}g}"
    if isinstance(value, Fraction):
        return declared_text(value) if value.denominator < 10**DIGITS else f"{float(value):.{DIGITS}g}"
    if isinstance(value, Interval):
        return between(value.lower, value.upper)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return in_words(value.tolist())
    if isinstance(value, np.ndarray):
        return f"{' x '.join(map(str, value.shape))} numbers"
    if isinstance(value, Mapping):
        return _listed([f"{in_words(key)}: {in_words(one)}" for key, one in value.items()])
    if isinstance(value, Set | tuple | list):
        return _listed([in_words(one) for one in value])
    if isinstance(value, Readable) and type(value).__str__ is Readable.__str__:
        rows = next(value._tables()).rows
        return "; ".join(f"{name} {text}" for name, text in rows[:FEW]) if all(len(row) == 2 for row in rows) else ""
    # What only a dataclass writes of itself is all of its fields.
    if is_dataclass(value) and type(value).__str__ is object.__str__ and hasattr(type(value).__repr__, "__wrapped__"):
        return type(value).__name__
    return str(value).partition("\n")[0]


def between(lower: Fraction | float, upper: Fraction | float) -> str:
    """An enclosed number with 12 digits, rounded outwards where its ends differ."""
    low, high = shown(lower, DIGITS, up=False), shown(upper, DIGITS, up=True)
    return high if low == high else f"between {low} and {high}"


def further(number: int, things: str, most: int = MOST) -> list[str]:
    """A remark on the rows of so many that are left out; none where all are shown."""
    return [f"and {counted(number - most, things)}"] * (number > most)


def cells(text: str) -> int:
    """The columns of a terminal that a text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(one) else 1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def _listed(parts: Sequence[str]) -> str:
    more = [f"{len(parts) - NAMED:,} more"] if len(parts) > NAMED else []
    return ", ".join([*parts[:NAMED], *more])


def _lines(cell: str) -> list[str]:
    return [plain(line) for line in cell.split("\n")]


def _marked(cell: str) -> str:
    return "<br>".join(map(escaped, cell.split("\n")))


def _folded(line: str, width: float) -> list[str]:
    """A line as several, each of at most so many cells: broken at spaces, and inside of words that are longer."""
    if cells(line) <= width:
        return [line]
    found, now = [], ""
    for word in line.split(" "):
        joined = f"{now} {word}" if now else word
        if cells(joined) <= width:
            now = joined
            continue
        if now:
            found.append(now)
        while cells(word) > width:
            at = next(end for end in range(len(word), 0, -1) if cells(word[:end]) <= width or end == 1)
            found.append(word[:at])
            word = word[at:]
        now = word
    return [*found, now] if now else found
