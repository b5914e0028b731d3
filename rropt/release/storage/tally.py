"""The epsilon that each respondent has spent: the draws of an accountant, multiplied exactly.

A respondent is of one population, and takes part in its draws and in those that name no population; who is of no named
population takes part in the latter alone. The odds of independent draws multiply. Draws of one scope are one draw,
since they give the same answer; of the odds that its releases state the largest count, for a respondent who is in that
release only.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from rropt.exact import shown
from rropt.release.plans.odds import Odds, privacy_ratio_of

DIGITS = 12
"""Of an epsilon or a delta in a message, rounded up."""


@dataclass(frozen=True, eq=False)
class Part:
    """One column of a draw: its odds as plain LDP and as approximate LDP with a delta (None: infinite), and the scope
    of memoised answers."""

    scope: str | None
    plain: Odds | None
    approximate: Odds | None
    delta: Fraction = Fraction(0)

    @classmethod
    def of_column(cls, column: dict[str, Any]) -> Part:
        """The content of a line on a column. Raises ValueError, KeyError or TypeError."""
        stated, scope = column.get("approximate"), column.get("scope")
        if not (scope is None or isinstance(scope, str)):
            raise TypeError
        if stated is None:
            return _part(scope, column["privacy_ratio"])
        return _part(
            scope, column["privacy_ratio"], stated["delta"], **{k: v for k, v in stated.items() if k != "delta"}
        )


@functools.lru_cache(4096)
def _part(
    scope: str | None, privacy_ratio: str, delta: str | None = None, epsilon: str = "0", gamma: str = "1"
) -> Part:
    """A column of these words; most lines of an accountant have the same ones."""
    found = privacy_ratio_of(privacy_ratio)
    plain = None if isinstance(found, float) else Odds.of(found)
    if delta is None:
        return Part(scope, plain, plain)
    return Part(scope, plain, Odds.of(read_number(gamma), read_number(epsilon)), read_number(delta))


INFINITE = Part(None, None, None)


def read_number(text: str) -> Fraction:
    """A rational that is not negative, as a line has it. Raises ValueError or TypeError."""
    if re.fullmatch(r"[0-9]{1,4000}(/0*[1-9][0-9]{0,4000})?", text) is None:
        raise ValueError
    return Fraction(text)


class Draw(NamedTuple):
    """A draw from the respondents of `population`, or from all. Its level is infinite for the populations `infinite`,
    to whom releases together reveal a column ("": for all)."""

    population: str
    parts: tuple[Part, ...]
    infinite: tuple[str, ...] = ()

    @classmethod
    def of_event(cls, event: dict[str, Any]) -> Draw:
        """The content of a line. Raises ValueError, KeyError or TypeError."""
        infinite, population = event.get("infinite", []), event.get("population", "")
        if not isinstance(population, str) or not all(isinstance(name, str) for name in infinite):
            raise TypeError
        return cls(population, tuple(map(Part.of_column, event["columns"])), tuple(infinite))


class Spent(NamedTuple):
    """The odds of any two values of a respondent change by `odds` at most (None: without limit), but for a `delta`."""

    odds: Odds | None
    delta: Fraction

    @property
    def epsilon(self) -> str:
        """The log of the odds, rounded up."""
        return "infinite" if self.odds is None else shown(self.odds.log().upper, DIGITS, up=True)

    def within(self, ceiling: Fraction, delta: Fraction | None) -> bool:
        """Whether it is not above a ceiling, decided exactly."""
        below = self.odds is not None and not self.odds.above(Odds.of(Fraction(1), ceiling))
        return below and self.delta <= (delta or 0)


class Tally:
    """The draws by population."""

    def __init__(self) -> None:
        self._people: dict[str, Counter[Part]] = {"": Counter()}

    def add(self, draw: Draw, sign: int = 1) -> None:
        """Count a draw, or with `sign` -1 withdraw it."""
        for population, parts in ((draw.population, draw.parts), *((name, (INFINITE,)) for name in draw.infinite)):
            respondents = self._people.setdefault(population, Counter())
            for part in parts:
                respondents[part] += sign
                if not respondents[part]:
                    del respondents[part]

    @contextmanager
    def also(self, draws: Iterable[Draw]) -> Iterator[None]:
        """Count these draws too, until this ends."""
        added = list(draws)
        for draw in added:
            self.add(draw)
        try:
            yield
        finally:
            for draw in added:
                self.add(draw, -1)

    @property
    def populations(self) -> list[str]:
        """The names of those that draws name, and "" for the respondents of no named one."""
        return [name for name, parts in self._people.items() if parts or not name]

    def of(self, population: str, approximate: bool = False) -> Spent:
        """The epsilon that a respondent of this population has spent; with `approximate` as approximate LDP."""
        own = self._people.get(population, Counter()) if population else Counter()
        return total(self._people[""] + own, approximate)

    def most(self, approximate: bool = False) -> Spent:
        """The most that a respondent of any population has spent, of odds and of delta."""
        return _most([self.of(name, approximate) for name in self.populations])


def _most(found: list[Spent]) -> Spent:
    most = found[0]
    for one in found[1:]:
        above = most.odds is not None and (one.odds is None or one.odds.above(most.odds))
        most = Spent(one.odds if above else most.odds, max(one.delta, most.delta))
    return most


def total(parts: Counter[Part], approximate: bool = False) -> Spent:
    """The epsilon of a respondent who takes part in all of these."""
    costs: Counter[Odds] = Counter()
    scopes: dict[str, list[Spent]] = {}
    delta, finite = Fraction(0), True
    for part, number in parts.items():
        cost = Spent(part.approximate, part.delta) if approximate else Spent(part.plain, Fraction(0))
        if part.scope is not None:
            scopes.setdefault(part.scope, []).append(cost)
            continue
        delta += number * cost.delta
        if cost.odds is None:
            finite = False
        else:
            costs[cost.odds] += number
    for cost in map(_most, scopes.values()):
        delta += cost.delta
        if cost.odds is None:
            finite = False
        else:
            costs[cost.odds] += 1
    return Spent(Odds.product(costs) if finite else None, delta)
