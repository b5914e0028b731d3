"""A table of the page, and its numbers as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Scale = Literal["tiny", "default", "full"]
"""The amount to measure: `tiny` for the tests (seconds), `default` (ten minutes), `full` (an hour)."""
Value = float | int | str | None
Row = dict[str, Value]
"""One measured line, by the keys of the table's columns."""
Show = Callable[[Value], str]


def as_seconds(value: Value) -> str:
    """Seconds with about two digits that mean something."""
    assert isinstance(value, float | int)
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def as_number(pattern: str) -> Show:
    """A format of Python, as ".2f"."""
    return lambda value: format(value, pattern)


def as_mega(digits: int) -> Show:
    """In millions: bytes in megabytes, values a second in millions of values a second."""
    return lambda value: format(value / 1e6, f".{digits}f")  # type: ignore[operator]


@dataclass(frozen=True)
class Column:
    """A column: its heading, the key of its value in a row, and how the value is shown."""

    heading: str
    key: str
    show: Show = str


@dataclass(frozen=True)
class Result:
    """The measured rows, and what else there is to say (a paragraph each); `pictures` are SVG by file name."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()
    pictures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """One comparison. `about` says what is compared and how, in Markdown; `measure` measures now and in this process.

    A row may leave out what was not measured."""

    name: str
    title: str
    about: str
    columns: tuple[Column, ...]
    measure: Callable[[Scale], Result]

    def grid(self, rows: Sequence[Row]) -> str:
        """The rows as a Markdown table; columns without a single value are left out, a missing value is a dash."""
        shown = [column for column in self.columns if any(row.get(column.key) is not None for row in rows)]
        lines = [[column.heading for column in shown], ["---"] * len(shown)]
        for row in rows:
            lines.append(["-" if (value := row.get(column.key)) is None else column.show(value) for column in shown])
        return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)

    def section(self, result: Result) -> str:
        """The section of the page."""
        return "\n\n".join([f"### {self.title}", self.about.strip(), self.grid(result.rows), *result.notes])
