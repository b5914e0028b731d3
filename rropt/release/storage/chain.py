"""The lines of an accountant, whatever stores them. Lines are added, never changed; each is chained by a hash to the
others.

The first line states the ceiling (None for no ceiling), the unit that it is for and, where approximate LDP is counted,
the ceiling of delta. Each of the others is an event: "drawing" reserves the odds of a release before its first random
word, "released" records that its output has its final name, and "abandoned" that none of its output left the
process. The chain of a line is the SHA-256 of the chain of the line before and of the line.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import AboveCeiling, InputError, Unreadable
from rropt.exact import declared_text, rational_text, shown
from rropt.release.storage.tally import DIGITS, Draw, Spent, Tally, read_number

DRAWING, RELEASED, ABANDONED = "drawing", "released", "abandoned"
FORMAT = "rropt-accountant"
PATIENCE = 120
"""Seconds to wait for another process, which locks the accountant during a transaction only."""


def line_text(content: dict[str, Any]) -> str:
    """The line of an object."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def link(chain: str, line: str) -> str:
    """The hash of a line."""
    return hashlib.sha256((chain + line).encode()).hexdigest()


def head(ceiling: Fraction | None = None, unit: str = "person", delta: Fraction | None = None) -> tuple[str, str]:
    """The first line of an accountant, and its hash."""
    own = {} if delta is None else {"delta": rational_text(delta)}
    most = None if ceiling is None else rational_text(ceiling)
    line = line_text({"format": FORMAT, "version": 1, "ceiling": most, "unit": unit, **own})
    return line, link("", line)


class Chain(ABC):
    """An accountant at `path`: what was read of it so far, and the lines that are added. `marked` is the hash of line
    `mark`, once it was read."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.ceiling: Fraction | None = None
        self.delta: Fraction | None = None
        self.unit = "person"
        self.mark, self.marked = 0, ""
        self._forget()

    def _forget(self) -> None:
        """Begin at the first line again."""
        self.seen, self.last = 0, ""
        self.tally = Tally()
        self._draws: dict[str, Draw] = {}

    # -- what stores the lines ---------------------------------------------------------------------

    @abstractmethod
    def _after(self, number: int) -> Iterator[tuple[Any, Any, Any]]:
        """The lines after this one as (number, line, chain). Raises InputError where they cannot be read."""

    @abstractmethod
    def _insert(self, number: int, line: str, chain: str) -> None:
        """Add a line, in a transaction."""

    @property
    @abstractmethod
    def there(self) -> bool:
        """Whether there are lines to be read."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Lock the accountant against other writers. All lines appended inside are on the disk when this ends, or none
        of them. Raises OSError, and InputError where the accountant was replaced since it was opened."""

    @abstractmethod
    def close(self) -> None:
        """Close the accountant."""

    def sync(self) -> None:  # noqa: B027
        """Return when the lines that were read are on the disk. Raises OSError."""

    # -- lines ---------------------------------------------------------------------------------------

    def read(self) -> Iterator[dict[str, Any]]:
        """The events that were not read before, in their order. Raises InputError where the chain is broken."""
        if not self.there:
            return
        for number, line, chain in self._after(self.seen):
            yield self._taken(number, line, chain)
        if self.seen == 0:
            raise self.broken("it has no first line")

    def _taken(self, number: Any, line: Any, chain: Any) -> dict[str, Any]:
        """One line as an event, or as the head of the accountant, compared with the chain."""
        if number != self.seen + 1 or not isinstance(line, str) or link(self.last, line) != chain:
            raise self.broken(f"line {self.seen + 1} breaks the chain of hashes: a line was changed or removed")
        try:
            content = json.loads(line)
            if number == 1:
                if content["format"] != FORMAT or content["version"] != 1:
                    raise ValueError
                most = (content["ceiling"], content.get("delta"))
                self.ceiling, self.delta = (None if one is None else read_number(one) for one in most)
                self.unit = content["unit"] + ""
            else:
                self._count(content)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self.broken(f"line {number} is not an entry") from None
        self.seen, self.last = number, chain
        if number == self.mark:
            self.marked = chain
        return dict(content)

    def broken(self, what: str) -> InputError:
        """The error for an accountant that cannot be read."""
        return Unreadable(
            what, str(self.path), "restore the accountant from a copy; without it earlier releases are not known"
        )

    def _count(self, event: dict[str, Any]) -> None:
        kind, release = event["event"], event["release"]
        if kind == DRAWING:
            if release in self._draws:
                raise ValueError
            self._draws[release] = draw = Draw.of_event(event)
            self.tally.add(draw)
        elif kind in (RELEASED, ABANDONED):
            # Two processes may find one release complete and both finish it; the second line has no effect.
            draw = self._draws[release]
            if kind == ABANDONED:
                self.tally.add(draw, -1)
                del self._draws[release]
        else:
            raise ValueError

    def append(self, event: dict[str, Any]) -> None:
        """Add a line, in a transaction. Raises InputError for a draw above the ceiling."""
        for _ in self.read():
            pass
        if event["event"] == DRAWING:
            self.refuse_above(Draw.of_event(event))
        line = line_text(event)
        chain = link(self.last, line)
        self._insert(self.seen + 1, line, chain)
        self._taken(self.seen + 1, line, chain)

    def abandon(self, release: str) -> None:
        """Withdraw a draw. Raises OSError."""
        with self.transaction():
            self.append({"event": ABANDONED, "release": release})

    # -- sums ----------------------------------------------------------------------------------------

    @property
    def releases(self) -> set[str]:
        """The draws that are stored now, without those that were abandoned."""
        for _ in self.read():
            pass
        return set(self._draws)

    def refuse_above(self, draw: Draw, others: Iterable[Draw] = ()) -> None:
        """Raise InputError where one more draw, with `others` that are recorded elsewhere, is above the ceiling for a
        respondent from whom it draws."""
        if self.ceiling is None:
            return
        with self.tally.also([*others, draw]):
            names = [draw.population] if draw.population else self.tally.populations
            for name in names:
                spent = self.tally.of(name, self.delta is not None)
                if not spent.within(self.ceiling, self.delta):
                    raise self._above(spent)

    def _above(self, spent: Spent) -> InputError:
        assert self.ceiling is not None
        would, most = spent.epsilon, declared_text(self.ceiling)
        if self.delta is not None:
            would += f", delta {shown(spent.delta, DIGITS, up=True)}"
            most += f", delta {declared_text(self.delta)}"
        return AboveCeiling(
            f"this release would raise the epsilon spent per {self.unit} to {would}, above the ceiling of {most}",
            str(self.path),
            "use an earlier release, or randomise with a smaller epsilon",
        )
