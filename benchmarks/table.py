"""What a table is: its name, what it compares, and how it comes by its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Scale = Literal["tiny", "default", "full"]
"""How much to measure: `tiny` for the tests (seconds), `default` (twenty minutes), `full` (two hours)."""

Value = float | int | str | None
Row = dict[str, Value]
"""One measured line, by the keys of the table's columns."""


def as_seconds(value: Value) -> str:
    """Seconds with about two digits that mean something."""
    assert isinstance(value, float | int)
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def as_ratio(value: Value) -> str:
    """A ratio of two times: so many digits that it never seems to reach a whole target that it misses narrowly."""
    assert isinstance(value, float | int)
    return f"{value:.1f}x" if value >= 1 else f"{value:.2f}x"


def as_size(value: Value) -> str:
    """Bytes in megabytes (10^6)."""
    assert isinstance(value, float | int)
    return f"{value / 1e6:.2f}"


def as_number(digits: int) -> Callable[[Value], str]:
    """Fixed digits after the point."""
    return lambda value: f"{value:.{digits}f}"


def as_small(value: Value) -> str:
    """A small difference: its order of size with two digits."""
    return f"{value:.1e}"


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, the key of its value in a row, and how the value is shown."""

    heading: str
    key: str
    show: Callable[[Value], str] = str


TENTH = 0.1
"""The target of checking time, as a share of solving time."""

CHECKING = (
    Column("check, s", "check", as_seconds),
    Column("check / solve", "share", as_number(2)),
    Column("a tenth", "target met check"),
)


def checking(check: float, share: float) -> Row:
    """The cells of `CHECKING`: the seconds of the checker, and their share of those of the solve."""
    return {"check": check, "share": share, "target met check": mark(share <= TENTH)}


@dataclass(frozen=True)
class Result:
    """The measured rows, and what is to be said of them (one paragraph each); `pictures` are SVG by file name."""

    rows: Sequence[Row]
    notes: Sequence[str] = ()
    pictures: dict[str, str] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[int, int]:
        """(how many targets are reached, how many there are): cells under keys that begin with "target met"."""
        cells = [value for row in self.rows for key, value in row.items() if key.startswith("target met")]
        return cells.count(REACHED), len(cells) - cells.count(None)


class Table(ABC):
    """One comparison. `about` says what is compared and how, in Markdown."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]

    @abstractmethod
    def measure(self, scale: Scale) -> Result:
        """Measure now and in this process; every row has a value (or None) for each column."""


MISSED = "**missed**"
REACHED = "reached"


def mark(reached: bool) -> str:
    """The word that follows a target."""
    return REACHED if reached else MISSED
