"""The account of a population: all draws from its people, in all data, under one ceiling.

Epsilons of one person's draws add up; of populations that are declared disjoint, the one that spent most counts. What
a design promises in another notion (robust LDP, approximate LDP) is recorded beside the draw as a sentence: robust LDP
does not add up over draws, so the ceiling counts plain LDP, which every draw has.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.exact import exp_enclosure, rational, shown
from rropt.io.types import Number
from rropt.release.ledger import Entry, level_among, level_of, read_entries
from rropt.release.privacy import together
from rropt.release.storage.database import UNIT, LedgerFile, create_ledger

DIGITS = 6


def odds(level: int | None) -> str:
    """The factor by which the odds of any two values of a person can change, rounded up."""
    return "infinite" if level is None else shown(exp_enclosure(level * UNIT).upper, DIGITS, up=True)


def epsilon(level: int | None) -> str:
    """A level in nats."""
    return "infinite" if level is None else shown(level * UNIT, 12, up=True)


@dataclass(frozen=True)
class Account:
    """A ledger that was read. `ceiling` and the level `spent` by population are in units of 10^-12 nats (None: no
    ceiling, or infinite), for one `unit`, as a person; `most` is the largest level spent of one of them. `lines` lines
    were compared with their hashes."""

    path: Path
    ceiling: int | None
    unit: str
    lines: int
    entries: tuple[Entry, ...]
    most: int | None
    spent: dict[str, int | None]

    @classmethod
    def create(cls, path: Path, ceiling: Number | None = None, unit: str = "person") -> Account:
        """A new ledger for one population, with an epsilon `ceiling`, rounded down. Raises InputError."""
        limit = None if ceiling is None else rational(ceiling, "ceiling")
        if limit is not None and limit <= 0:
            raise InputError(f"{ceiling} is not above zero", "ceiling", "give an epsilon, such as 4")
        if not unit.strip() or not unit.isprintable():
            raise InputError(
                f"{unit!r} is not a name", "unit", "name one whose draws the ceiling limits, such as person"
            )
        try:
            create_ledger(path.resolve(), None if limit is None else math.floor(limit / UNIT), unit)
        except FileExistsError:
            raise InputError("this file exists already", str(path), "choose another name") from None
        except OSError as error:
            raise InputError(f"cannot write ({error.strerror})", str(path), "choose another folder") from None
        return cls.load(path)

    @classmethod
    def load(cls, path: Path) -> Account:
        """Read a ledger, also one beside its data. Raises InputError where its chain is broken, or where the level of a
        draw is lower than that of its parities."""
        if not path.exists():
            raise InputError("there is no such ledger", str(path), "make one: rropt ledger init --ceiling 4 PATH")
        try:
            file = LedgerFile(path.resolve(), writable=os.access(path.parent, os.W_OK))
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror})", str(path), "check the path") from None
        try:
            found: dict[str, Entry] = {}
            read_entries(file, found)
            there = file.releases
            for release, entry in found.items():
                if release not in there:
                    file.add(entry.population, level_among(entry, found.values()))
                    continue
                content, least = file.level(release), level_of(together(entry.parities))
                if content is not None and (least is None or content < least):
                    raise InputError(
                        f"the level of release {release} is lower than that of its parities",
                        str(path),
                        "restore the ledger from a copy",
                    )
            spent = {name: file.spent(name) for name in sorted({entry.population for entry in found.values()})}
            return cls(path, file.ceiling, file.unit, file.seen, tuple(found.values()), file.spent(), spent)
        finally:
            file.close()

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt ledger show --json`; epsilons as decimals, rounded up."""
        return {
            "ceiling": None if self.ceiling is None else epsilon(self.ceiling),
            "unit": self.unit,
            "lines": self.lines,
            "spent": epsilon(self.most),
            "odds": odds(self.most),
            "populations": {name: epsilon(level) for name, level in self.spent.items() if name},
            "draws": [
                {key: entry.content[key] for key in ("release", "time", "data", "columns", "output")}
                | {"population": entry.population, "state": "released" if entry.finished else "drawing"}
                | {"epsilon": epsilon(level_of(together(entry.parities)))}
                for entry in self.entries
            ],
        }
