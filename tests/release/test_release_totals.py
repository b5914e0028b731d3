"""Totals over releases against an account for every person that knows nothing of the accountant.

A sequence of releases goes over columns, populations, keys, strata, names of the data, accountants and levels. Each
release is held against all persons from whom it draws: of any population, and in any of the earlier releases. It is
made where nobody is above the ceiling with it, and refused where somebody is. A person may move between strata, and
counts with the worst mechanism of a column (docs/release.md).
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import random
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from drawing import graded

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.release import ProtectedColumn, Release, release_file

pytest.importorskip("pyarrow")

STRATA = ("0", "1")


def response(**level: Any) -> rr.Mechanism:
    return rr.RandomizedResponse(("a", "b"), **level).to_mechanism()


MECHANISMS = [
    response(epsilon="1/3"),
    response(epsilon="1/2"),
    response(gamma="6/5"),
    response(gamma="3/2"),
    # The odds are larger between its strata than within one.
    rr.Mechanism.from_rationals([["3/4", "1/4"], ["2/3", "1/3"]], inputs=("a", "b"), outputs=("a", "b")),
    rr.Mechanism.from_rationals([["1/3", "2/3"], ["1/4", "3/4"]], inputs=("a", "b"), outputs=("a", "b")),
]


@dataclass(frozen=True)
class Drawn:
    """One column of one release: a mechanism for each stratum (one for all where there are none)."""

    column: str
    mechanisms: tuple[int, ...]
    hidden: bool
    key: str | None

    @property
    def same_answers(self) -> object:
        """What has the same answers is one draw; a draw without a key is the same as itself alone."""
        return object() if self.key is None else (self.column, self.mechanisms, self.key)

    @functools.cached_property
    def odds(self) -> Fraction:
        """By how much an answer changes the odds of two values of a person, by the definition: in one stratum, or in
        any two where they are hidden."""
        found = [rows(MECHANISMS[at]) for at in self.mechanisms]
        groups = [[row for one in found for row in one]] if self.hidden else found
        return max(max(column) / min(column) for group in groups for column in zip(*group, strict=True))


def rows(mechanism: rr.Mechanism) -> list[list[Fraction]]:
    return [[mechanism.entry(x, y) for y in range(len(mechanism.outputs))] for x in range(len(mechanism.inputs))]


@dataclass(frozen=True)
class Made:
    """One release."""

    population: str | None
    drawn: tuple[Drawn, ...]
    raw: frozenset[str]

    def of(self, population: str | None) -> bool:
        return self.population in (None, population)


def respondents(made: list[Made], population: str | None) -> Iterator[list[Made]]:
    """All persons of a population who are in the last release, each as the releases that she is in."""
    own = [one for one in made[:-1] if one.of(population)]
    for presence in itertools.product((False, True), repeat=len(own)):
        yield [*itertools.compress(own, presence), made[-1]]


def spent(person: list[Made]) -> Fraction | float:
    """The product of the odds of a person's draws."""
    shown = {name for one in person for name in one.raw}
    draws: dict[object, Fraction] = {}
    for one in person:
        for drawn in one.drawn:
            if drawn.column in shown:
                return math.inf
            which = drawn.same_answers
            draws[which] = max(draws.get(which, Fraction(1)), drawn.odds)
    return math.prod(draws.values(), start=Fraction(1))


def above(made: list[Made], ceiling: Fraction) -> bool:
    """Whether somebody in the last release is above the ceiling."""
    last = made[-1].population
    with localcontext() as context:
        context.prec = 80
        most = (Decimal(ceiling.numerator) / Decimal(ceiling.denominator)).exp()
        for population in [last] if last else [None, "north", "south"]:
            worst = max(spent(person) for person in respondents(made, population))
            if worst == math.inf:
                return True
            total = Decimal(worst.numerator) / Decimal(worst.denominator)
            assert abs(total - most) > Decimal("1e-70"), "too close for this oracle"
            if total > most:
                return True
    return False


class Sequence:
    """Random releases of one table, in a folder of their own."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.draw = random.Random(seed)
        self.folder, self.made = folder, list[Made]()
        self.ceiling = Fraction(self.draw.choice(["1/3", "2/3", "1", "1", "3/2", "2"]))
        folder.mkdir()
        self.data = folder / "people.csv"
        table = ["id,x,y,s", *(f"p{at},{'ab'[at % 2]},{'ab'[at // 2 % 2]},{at // 4 % 2}" for at in range(8))]
        self.data.write_text("\n".join(table) + "\n")
        for name in ("k1", "k2"):
            (folder / name).write_text(f"rropt-key 1 {int(name[1]):064x}\n")
            os.chmod(folder / name, 0o600)
        # The ceiling is that of an accountant for all data, or of the accountant beside these data, which takes no option.
        self.account = folder / self.draw.choice(["all", "people.csv.accountant"])
        assert cli.main(["accountant", "init", "--ceiling", str(self.ceiling), str(self.account)]) == 0
        self.options = {"accountant": self.account} if self.account.name == "all" else {}

    def rename(self) -> None:
        """Another name for the data; their accountant keeps its own, or comes along."""
        new = self.folder / f"data{self.draw.randrange(4)}.csv"
        if new.exists():
            return
        if self.draw.random() < 0.3:
            shutil.copy(self.data, new)
        else:
            self.data.rename(new)
            beside = Path(f"{self.data}.accountant")
            if self.draw.random() < 0.3 and beside.exists() and not Path(f"{new}.accountant").exists():
                beside.rename(f"{new}.accountant")
        self.data = new

    def release(self) -> tuple[Made, Release, dict[str, Any]]:
        """A release by its account, and as it is asked for."""
        draw = self.draw
        key = draw.choice([None, "k1", "k1", "k2"])
        hidden = draw.random() < 0.4
        columns = draw.choice([["x"], ["x"], ["y"], ["x", "y"]])
        drawn, asked = [], []
        for name in columns:
            if draw.random() < 0.5:
                strata = (draw.randrange(len(MECHANISMS)), draw.randrange(len(MECHANISMS)))
                mechanisms = {s: MECHANISMS[at] for s, at in zip(STRATA, strata, strict=True)}
                asked.append(ProtectedColumn(name, mechanisms, by="s"))
            else:
                strata = (draw.randrange(len(MECHANISMS)),)
                asked.append(ProtectedColumn(name, MECHANISMS[strata[0]]))
            drawn.append(Drawn(name, strata, hidden and len(strata) > 1, key))
        rest = [name for name in ("x", "y") if name not in columns and draw.random() < 0.9]
        drop = [*rest, *(["s"] if hidden else [])]
        raw = {"x", "y"} - {*columns} - {*rest}
        made = Made(draw.choice([None, "north", "south"]), tuple(drawn), frozenset(raw))
        options = {} if key is None else {"identity": "id", "key": self.folder / key}
        return made, Release(asked, drop=drop), options | {"population": made.population}

    def step(self) -> str | None:
        """One release, and what is wrong with what became of it."""
        # An accountant that has no draw yet does not say of which data it is.
        if self.draw.random() < 0.4 and (self.made or self.options):
            self.rename()
        made, asked, options = self.release()
        output = self.folder / f"o{len(list(self.folder.iterdir()))}.csv"
        refused = above([*self.made, made], self.ceiling)
        try:
            release_file(self.data, asked, output, force=True, **self.options, **options)
        except InputError as error:
            if "above the ceiling" not in str(error):
                raise
            return None if refused else f"refused, and nobody is above {self.ceiling} with {made} after {self.made}"
        self.made.append(made)
        return f"somebody is above {self.ceiling}: {self.made}" if refused else None


def faults(folder: Path, seeds: range, steps: int = 6) -> list[str]:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            sequence = Sequence(folder / str(seed), seed)
            for _ in range(steps):
                if (fault := sequence.step()) is not None:
                    found.append(f"seed {seed}: {fault}")
                    break
    return found


@pytest.mark.parametrize("part", graded(range(2), range(2, 4)))
def test_no_total_is_above_the_ceiling_and_none_below_it_is_refused(part: int, tmp_path: Path) -> None:
    assert faults(tmp_path, range(part * 15, part * 15 + 15)) == []


@pytest.mark.long
def test_no_total_of_a_thousand_sequences_is_above_the_ceiling(tmp_path: Path) -> None:
    assert faults(tmp_path, range(1000, 2000), 8) == []
