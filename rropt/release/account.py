"""The account of a population: all releases of its respondents' records, in all data, under one ceiling.

The odds of the draws from one respondent multiply, so that their epsilons add up; of populations that are declared
disjoint, the one that spent most counts. Under a ceiling with a delta, a design of approximate LDP counts by its
epsilon and delta, which add up too; without, by its plain LDP. Robust LDP does not add up over draws: it is recorded
beside the draw as a sentence, and the draw counts by its plain LDP, which every draw has.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import NotWritten, OutOfRange, UnknownName, Unreadable, WrongType, counted
from rropt.exact import declared_text, exp_enclosure, rational, shown
from rropt.io.content import ByContent
from rropt.io.tables import MOST, Table, further
from rropt.io.types import Number
from rropt.release.accountant import Entry, read_entries
from rropt.release.previous_releases import why_infinite
from rropt.release.storage.places import Place, create, open_accountant, whole_place
from rropt.release.storage.tally import DIGITS, Spent, total


def odds(spent: Spent) -> str:
    """The factor by which the odds of any two values of a respondent can change, rounded up."""
    if spent.odds is None:
        return "infinite"
    log = spent.odds.log().upper
    return shown(exp_enclosure(log).upper, 6, up=True) if log < MOST_LOG else f"exp({spent.epsilon})"


MOST_LOG = 10_000
"""The odds of a larger epsilon are written as its exponential."""


def delta(share: Fraction) -> str:
    """A delta, rounded up."""
    return shown(share, DIGITS, up=True)


def _forced(entry: Entry) -> str:
    """Why a draw is infinite whose own accountant does not say it."""
    return f"{entry.content['output']} was forced: by another accountant of its data a column was released unchanged"


@dataclass(frozen=True, eq=False)
class Account(ByContent):
    """An accountant that was read. `ceiling` is an epsilon (None: no ceiling), `delta` that of approximate LDP (None:
    plain LDP counts), for one `unit`, as a person. `spent` is what was spent by population as plain LDP, and `most` the
    most of one of them, `approximate` as approximate LDP; `infinite` states why that is infinite. `lines` lines were
    compared with their hashes; `chain` is the hash of the last one."""

    path: Place
    ceiling: Fraction | None
    delta: Fraction | None
    unit: str
    lines: int
    chain: str
    entries: tuple[Entry, ...]
    most: Spent
    approximate: Spent
    spent: dict[str, Spent]
    infinite: tuple[str, ...] = ()

    @classmethod
    def create(
        cls, path: Place, ceiling: Number | None = None, unit: str = "person", delta: Number | None = None
    ) -> Account:
        """A new accountant for one population, with an epsilon `ceiling`; with a `delta` of approximate LDP. Raises
        InputError."""
        limit = None if ceiling is None else rational(ceiling, "ceiling")
        if limit is not None and limit <= 0:
            raise OutOfRange(f"{ceiling} is not above zero", "ceiling", "give an epsilon, such as 4")
        share = None if delta is None else rational(delta, "delta")
        if share is not None and not 0 < share < 1:
            raise OutOfRange(f"{delta} is not between 0 and 1", "delta", "leave it out for 0")
        if not unit.strip() or not unit.isprintable():
            raise WrongType(
                f"{unit!r} is not a name", "unit", "name the unit that the ceiling protects, such as person"
            )
        try:
            create(whole_place(path), limit, unit, share)
        except FileExistsError:
            raise NotWritten("this file exists already", str(path), "choose another name") from None
        except OSError as error:
            raise NotWritten(f"cannot write ({error.strerror})", str(path), "choose another folder") from None
        return cls.load(path)

    @classmethod
    def load(cls, path: Place, after: tuple[int, str] | None = None) -> Account:
        """Read an accountant, also one next to its data; `after` is the number and the hash of a line that was there
        before. Raises InputError where its chain is broken or where that line is missing."""
        if isinstance(path, Path) and not path.exists():
            raise UnknownName(
                "there is no such accountant", str(path), "make one: rropt accountant init --ceiling 4 PATH"
            )
        try:
            file = open_accountant(whole_place(path), not isinstance(path, Path) or os.access(path.parent, os.W_OK))
        except OSError as error:
            raise Unreadable(f"it cannot be read ({error.strerror})", str(path), "check the path") from None
        try:
            found: dict[str, Entry] = {}
            file.mark = 0 if after is None else after[0]
            read_entries(file, found)
            file.sync()
            if after is not None and file.marked != after[1]:
                raise Unreadable(
                    f"its line {after[0]} is not the one that the receipt states: lines were changed or removed",
                    str(path),
                    "restore the accountant from a copy",
                )
            tally = file.tally
            spent = {name: tally.of(name) for name in sorted({entry.population for entry in found.values()})}
            entries, most = tuple(found.values()), tally.most()
            forced = [one for one in entries if one.draw.infinite]
            why = () if most.odds is not None else why_infinite(entries) or tuple(map(_forced, forced))
            terms = (file.ceiling, file.delta, file.unit, file.seen, file.last, entries)
            return cls(path, *terms, most, tally.most(approximate=True), spent, why)
        finally:
            file.close()

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt accountant show --json`; epsilons as decimals, rounded up."""
        return {
            "ceiling": None if self.ceiling is None else declared_text(self.ceiling),
            "delta": None if self.delta is None else declared_text(self.delta),
            "unit": self.unit,
            "lines": self.lines,
            "spent": self.most.epsilon,
            "infinite": list(self.infinite),
            "odds": odds(self.most),
            "approximate": {"epsilon": self.approximate.epsilon, "delta": delta(self.approximate.delta)},
            "populations": {name: spent.epsilon for name, spent in self.spent.items() if name},
            "draws": [
                {key: entry.content[key] for key in ("release", "time", "data", "columns", "output")}
                | {"population": entry.population, "state": "released" if entry.finished else "drawing"}
                | {"epsilon": epsilon}
                for entry, epsilon in zip(self.entries, self._epsilons(), strict=True)
            ],
        }

    def _tables(self) -> Iterator[Table]:
        document = self.to_dict()
        heads = ["time", "data", "columns", "population", "epsilon", "state", "guarantee"]
        rows = []
        for one in document["draws"][-MOST:]:
            names = ", ".join(name for column in one["columns"] for name in column["columns"])
            each = [(", ".join(column["columns"]), column.get("guarantee", "")) for column in one["columns"]]
            several = len({guarantee for _, guarantee in each}) > 1
            lines = dict.fromkeys(f"{name}: {guarantee}" if several else guarantee for name, guarantee in each)
            cells = (one["time"], one["data"], names, one["population"], one["epsilon"], one["state"])
            rows.append([*cells, "\n".join(lines)])
        if rows:
            yield Table("Releases", rows, heads, (4,))
        of = "" if self.ceiling is None or self.delta is not None else f" of {document['ceiling']}"
        spent = [(f"population {name}", f"epsilon {epsilon}") for name, epsilon in document["populations"].items()]
        spent.append((f"each {self.unit}", f"epsilon {document['spent']}{of}"))
        if self.approximate.delta or self.delta is not None:
            of = "" if self.delta is None else f" of {document['ceiling']} and {document['delta']}"
            approximate = document["approximate"]
            level = f"epsilon {approximate['epsilon']}, delta {approximate['delta']}{of}"
            spent.append(("as approximate LDP", level))
        change = "without limit" if self.most.odds is None else f"by a factor of at most {document['odds']}"
        spent.append((f"odds between two values of a {self.unit}", f"change {change}"))
        yield Table("Spent", spent)

    def _remarks(self) -> Iterator[str]:
        yield from further(len(self.entries), "earlier releases")
        yield from (f"infinite: {why}" for why in self.infinite)
        guarantees = [[str(column.get("guarantee")) for column in one.content["columns"]] for one in self.entries]
        robust = sum(any("robust LDP" in guarantee for guarantee in each) for each in guarantees)
        if robust:
            holds = "it holds" if robust == 1 else "each holds"
            yield f"{counted(robust, 'releases')} with robust LDP: {holds} for one release alone and does not add up"

    def _epsilons(self) -> list[str]:
        """What each draw adds for its people: answers that an earlier draw gave add nothing."""
        found, drawn = [], set[tuple[str, str | None]]()
        for entry in self.entries:
            respondents = {"", entry.population}
            new = [
                part
                for part in entry.draw.parts
                if part.scope is None or not {(p, part.scope) for p in respondents} & drawn
            ]
            added = total(Counter(new))
            found.append("infinite" if entry.draw.infinite else added.epsilon)
            drawn |= {(entry.population, part.scope) for part in new}
        return found
