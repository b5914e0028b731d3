"""The account of a population: all draws from its people, in all data, under one ceiling.

Epsilons of one person's draws add up; of populations that are declared disjoint, the one that spent most counts. Under
a ceiling with a delta, a design of approximate LDP counts by its epsilon and delta, which add up too; without, by its
plain LDP. Robust LDP does not add up over draws: it is recorded beside the draw as a sentence, and the draw
counts by its plain LDP, which every draw has.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.exact import exp_enclosure, rational, shown
from rropt.io.content import ByContent
from rropt.io.types import Number
from rropt.release.earlier import why_infinite
from rropt.release.ledger import Entry, cost_among, read_entries
from rropt.release.storage.chain import SHARE, UNIT, Cost
from rropt.release.storage.places import Place, create, open_ledger, whole_place

DIGITS = 6


def odds(level: int | None) -> str:
    """The factor by which the odds of any two values of a person can change, rounded up."""
    return "infinite" if level is None else shown(exp_enclosure(level * UNIT).upper, DIGITS, up=True)


def epsilon(level: int | None) -> str:
    """A level in nats."""
    return "infinite" if level is None else shown(level * UNIT, 12, up=True)


def delta(share: int) -> str:
    """A delta, rounded up."""
    return shown(share * SHARE, 12, up=True)


def _forced(entry: Entry) -> str:
    """Why a draw is infinite whose own ledger does not say it."""
    return f"{entry.content['output']} was forced: by another ledger of its data a column was released unchanged"


@dataclass(frozen=True, eq=False)
class Account(ByContent):
    """A ledger that was read. `ceiling` is in units of 10^-12 nats (None: no ceiling), that of `delta` in units of
    10^-24 (None: plain LDP counts), for one `unit`, as a person. `spent` is what was spent by population, and `most`
    the most of one of them; `infinite` says why that is infinite. `lines` lines were compared with their hashes;
    `chain` is the hash of the last one."""

    path: Place
    ceiling: int | None
    delta: int | None
    unit: str
    lines: int
    chain: str
    entries: tuple[Entry, ...]
    most: Cost
    spent: dict[str, Cost]
    infinite: tuple[str, ...] = ()

    @classmethod
    def create(
        cls, path: Place, ceiling: Number | None = None, unit: str = "person", delta: Number | None = None
    ) -> Account:
        """A new ledger for one population, with an epsilon `ceiling`, rounded down. With a `delta` it is one of
        approximate LDP. Raises InputError."""
        limit = None if ceiling is None else rational(ceiling, "ceiling")
        if limit is not None and limit <= 0:
            raise InputError(f"{ceiling} is not above zero", "ceiling", "give an epsilon, such as 4")
        share = None if delta is None else rational(delta, "delta")
        if share is not None and not 0 < share < 1:
            raise InputError(f"{delta} is not between 0 and 1", "delta", "leave it out for 0")
        if not unit.strip() or not unit.isprintable():
            raise InputError(
                f"{unit!r} is not a name", "unit", "name one whose draws the ceiling limits, such as person"
            )
        try:
            most = None if limit is None else math.floor(limit / UNIT)
            create(whole_place(path), most, unit, None if share is None else math.floor(share / SHARE))
        except FileExistsError:
            raise InputError("this file exists already", str(path), "choose another name") from None
        except OSError as error:
            raise InputError(f"cannot write ({error.strerror})", str(path), "choose another folder") from None
        return cls.load(path)

    @classmethod
    def load(cls, path: Place, after: tuple[int, str] | None = None) -> Account:
        """Read a ledger, also one beside its data; `after` is the number and the hash of a line that was there before.
        Raises InputError where its chain is broken, where it lacks that line, or where the level of a draw is lower
        than that of its parities."""
        if isinstance(path, Path) and not path.exists():
            raise InputError("there is no such ledger", str(path), "make one: rropt ledger init --ceiling 4 PATH")
        try:
            file = open_ledger(whole_place(path), not isinstance(path, Path) or os.access(path.parent, os.W_OK))
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror})", str(path), "check the path") from None
        try:
            found: dict[str, Entry] = {}
            file.mark = 0 if after is None else after[0]
            read_entries(file, found)
            file.sync()
            if after is not None and file.marked != after[1]:
                raise InputError(
                    f"its line {after[0]} is not the one that the receipt states: lines were changed or removed",
                    str(path),
                    "restore the ledger from a copy",
                )
            there = file.releases
            for release, entry in found.items():
                if release not in there:
                    file.add(entry.population, cost_among(entry, found.values()))
                    continue
                level, least = file.cost(release).level, entry.cost.level
                if level is not None and (least is None or level < least):
                    raise InputError(
                        f"the level of release {release} is lower than that of its parities",
                        str(path),
                        "restore the ledger from a copy",
                    )
            spent = {name: file.spent(name) for name in sorted({entry.population for entry in found.values()})}
            entries = tuple(found.values())
            most = file.spent()
            forced = [one for one in entries if file.cost(one.content["release"]).level is None]
            why = () if most.level is not None else why_infinite(entries) or tuple(map(_forced, forced))
            return cls(path, file.ceiling, file.delta, file.unit, file.seen, file.last, entries, most, spent, why)
        finally:
            file.close()

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt ledger show --json`; epsilons as decimals, rounded up."""
        return {
            "ceiling": None if self.ceiling is None else epsilon(self.ceiling),
            "delta": None if self.delta is None else delta(self.delta),
            "unit": self.unit,
            "lines": self.lines,
            "spent": epsilon(self.most.level),
            "infinite": list(self.infinite),
            "odds": odds(self.most.level),
            "approximate": {"epsilon": epsilon(self.most.approximate), "delta": delta(self.most.delta)},
            "populations": {name: epsilon(cost.level) for name, cost in self.spent.items() if name},
            "draws": [
                {key: entry.content[key] for key in ("release", "time", "data", "columns", "output")}
                | {"population": entry.population, "state": "released" if entry.finished else "drawing"}
                | {"epsilon": epsilon(entry.cost.level)}
                for entry in self.entries
            ],
        }
