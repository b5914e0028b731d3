"""The lines of a ledger, whatever stores them. Lines are added, never changed; each is chained by a hash to the others.

The first line states the ceiling (None for no ceiling), the unit that it is for and, where approximate LDP is counted,
the ceiling of delta. Each of the others is an event: "drawing" reserves the level of a release before its first random
word, "released" records that its output stands under its name, and "abandoned" that none of its output left the
process. The chain of a line is the SHA-256 of the chain of the line before and of the line.

Levels are whole numbers of `UNIT`, deltas of `SHARE`, rounded up, so that a sum is exact. None is an infinite level.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from rropt.errors import InputError
from rropt.exact import declared_text

UNIT = Fraction(1, 10**12)
"""In nats. Decimal, so that ten draws of 0.1 add up to exactly 1."""
SHARE = Fraction(1, 10**24)
"""The unit of delta."""
DRAWING, RELEASED, ABANDONED = "drawing", "released", "abandoned"
FORMAT = "rropt-ledger"
PATIENCE = 120
"""Seconds to wait for another process, which locks the ledger during a transaction only."""


class Cost(NamedTuple):
    """What a draw costs: its `level` of plain LDP, and its level and delta of approximate LDP. None is infinite."""

    level: int | None
    approximate: int | None
    delta: int = 0

    def plus(self, other: Cost) -> Cost:
        """The cost of both."""
        level = None if self.level is None or other.level is None else self.level + other.level
        both = self.approximate, other.approximate
        return Cost(level, None if None in both else sum(filter(None, both)), self.delta + other.delta)

    @classmethod
    def of_event(cls, event: dict[str, Any]) -> Cost:
        """What a line says. Raises ValueError, KeyError or TypeError."""
        approximate, delta = event.get("approximate", (event["level"], 0))
        for number in (event["level"], approximate, delta):
            if number is not None and not (isinstance(number, int) and number >= 0):
                raise ValueError
        return cls(event["level"], approximate, delta + 0)

    def keys(self) -> dict[str, Any]:
        """The keys of a line."""
        approximate = [self.approximate, self.delta]
        return {"level": self.level} | ({} if approximate == [self.level, 0] else {"approximate": approximate})


NOTHING, INFINITE = Cost(0, 0), Cost(None, None)


def shown_level(level: int | None) -> str:
    """A level in nats, exactly."""
    return "infinite" if level is None else declared_text(level * UNIT)


def line_text(content: dict[str, Any]) -> str:
    """The line of an object."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def link(chain: str, line: str) -> str:
    """The hash of a line."""
    return hashlib.sha256((chain + line).encode()).hexdigest()


def head(ceiling: int | None = None, unit: str = "person", delta: int | None = None) -> tuple[str, str]:
    """The first line of a ledger, and its hash."""
    own = {} if delta is None else {"delta": delta}
    line = line_text({"format": FORMAT, "version": 1, "ceiling": ceiling, "unit": unit, **own})
    return line, link("", line)


class _Tally:
    """Sums of costs by population: the finite ones, and how many are infinite."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[Cost, int, int]] = {"": (NOTHING, 0, 0)}

    def add(self, people: str, cost: Cost, sign: int) -> None:
        (level, approximate, delta), one, two = self._sums.get(people, (NOTHING, 0, 0))
        assert level is not None
        assert approximate is not None
        self._sums[people] = (
            Cost(
                level + sign * (cost.level or 0),
                approximate + sign * (cost.approximate or 0),
                delta + sign * cost.delta,
            ),
            one + sign * (cost.level is None),
            two + sign * (cost.approximate is None),
        )

    def total(self, population: str) -> Cost:
        """Of a person of `population`; "" is a person of the one that spent most."""
        found = self._total("")
        if population:
            return found.plus(self._total(population))
        rest = [self._total(name) for name in self._sums if name]
        if not rest:
            return found
        levels, others, deltas = zip(*rest, strict=True)
        return found.plus(Cost(_most(levels), _most(others), max(deltas)))

    def _total(self, name: str) -> Cost:
        cost, one, two = self._sums.get(name, (NOTHING, 0, 0))
        return (
            cost
            if not one and not two
            else Cost(None if one else cost.level, None if two else cost.approximate, cost.delta)
        )


def _most(levels: Iterable[int | None]) -> int | None:
    """The largest level."""
    found = list(levels)
    return None if None in found else max(filter(None, found), default=0)


class Chain(ABC):
    """A ledger at `path`: what was read of it so far, and the lines that are added. `old` are the lines of an older
    version, in `old_path`, that it continues. `marked` is the hash of line `mark`, once it was read."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.old: list[dict[str, Any]] = []
        self.old_path = Path(path)
        self.ceiling: int | None = None
        self.delta: int | None = None
        self.unit = "person"
        self.mark, self.marked = 0, ""
        self._forget()

    def _forget(self) -> None:
        """Begin at the first line again."""
        self.seen, self.last = 0, ""
        self._tally = _Tally()
        self._draws: dict[str, tuple[str, Cost]] = {}

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
        """Lock the ledger against other writers. All lines appended inside are on the disk when this ends, or none of
        them. Raises OSError, and InputError where the ledger was replaced since it was opened."""

    @abstractmethod
    def close(self) -> None:
        """Close the ledger."""

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
        """One line as an event, or as the head of the ledger, compared with the chain."""
        if number != self.seen + 1 or not isinstance(line, str) or link(self.last, line) != chain:
            raise self.broken(f"line {self.seen + 1} breaks the chain of hashes: a line was changed or removed")
        try:
            content = json.loads(line)
            if number == 1:
                if content["format"] != FORMAT or content["version"] != 1:
                    raise ValueError
                self.ceiling, self.unit, self.delta = content["ceiling"], content["unit"] + "", content.get("delta")
                if not all(one is None or isinstance(one, int) for one in (self.ceiling, self.delta)):
                    raise ValueError
            else:
                self._count(content)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self.broken(f"line {number} is not an entry") from None
        self.seen, self.last = number, chain
        if number == self.mark:
            self.marked = chain
        return dict(content)

    def broken(self, what: str) -> InputError:
        """The error for a ledger that cannot be read."""
        return InputError(
            what, str(self.path), "restore the ledger from a copy; without it earlier draws are not known"
        )

    def _count(self, event: dict[str, Any]) -> None:
        kind, release = event["event"], event["release"]
        if kind == DRAWING:
            cost, people = Cost.of_event(event), event.get("population", "")
            if release in self._draws:
                raise ValueError
            self.add(people, cost)
            self._draws[release] = (people, cost)
        elif kind in (RELEASED, ABANDONED):
            # Two processes may find one release complete and both finish it; the second line has no effect.
            people, cost = self._draws[release]
            if kind == ABANDONED:
                self.add(people, cost, -1)
                del self._draws[release]
        else:
            raise ValueError

    def append(self, event: dict[str, Any]) -> None:
        """Add a line, in a transaction. Raises InputError for a draw above the ceiling."""
        for _ in self.read():
            pass
        if event["event"] == DRAWING:
            self.refuse_above(event.get("population", ""), Cost.of_event(event))
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

    def add(self, people: str, cost: Cost, sign: int = 1) -> None:
        """Add a draw of a population to what is `spent` (`sign` -1: subtract it), in memory only."""
        self._tally.add(people, cost, sign)

    def cost(self, release: str) -> Cost:
        """The cost of a draw; infinite for one of an older version, which is not stored here."""
        return self._draws.get(release, ("", INFINITE))[1]

    def spent(self, population: str = "") -> Cost:
        """The cost of all draws of a person of `population`. Without a `population`: of a person of the one that spent
        most. Draws without a population count for the people of every one."""
        return self._tally.total(population)

    def refuse_above(self, population: str, cost: Cost) -> None:
        """Raise InputError where one more draw of this cost is above the ceiling."""
        if self.ceiling is None:
            return
        total = self.spent(population).plus(cost)
        level = total.level if self.delta is None else total.approximate
        if level is not None and level <= self.ceiling and (self.delta is None or total.delta <= self.delta):
            return
        would, most = shown_level(level), shown_level(self.ceiling)
        if self.delta is not None:
            would += f", delta {declared_text(total.delta * SHARE)}"
            most += f", delta {declared_text(self.delta * SHARE)}"
        raise InputError(
            f"with this draw a {self.unit} would have spent epsilon {would}, above the ceiling of {most}",
            str(self.path),
            "use what was released already, or draw at a lower level",
        )
