"""The privacy of a release: what its columns give away of a person, one by one and together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from rropt.exact import float_up, log_enclosure, rational_text
from rropt.release.plan import Release
from rropt.release.stack import Stack


def epsilon_above(parity: Fraction | float) -> float:
    """log of a parity, rounded up; `math.inf` for an infinite one."""
    return math.inf if isinstance(parity, float) else float_up(log_enclosure(parity).upper)


def parity_text(parity: Fraction | float) -> str:
    """A parity as "p/q", or "infinite"."""
    return "infinite" if isinstance(parity, float) else rational_text(parity)


def together(parities: Iterable[Fraction | float]) -> Fraction | float:
    """The parity of independent draws from one person's record: the product, so that their epsilons add up."""
    total: Fraction | float = Fraction(1)
    for parity in parities:
        total = math.inf if math.inf in (total, parity) else total * parity
    return total


@dataclass(frozen=True)
class Level:
    """What is drawn for `columns` gives away at most this `parity` (exact; `math.inf` where there is no bound).

    `strata`: the columns that choose the mechanism and are public, within whose values alone the parity holds.
    """

    columns: tuple[str, ...]
    parity: Fraction | float
    strata: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """log of the parity in nats, rounded up."""
        return epsilon_above(self.parity)


@dataclass(frozen=True)
class Privacy:
    """The levels of a release's columns, one each, and of all together."""

    levels: tuple[Level, ...]

    @property
    def parity(self) -> Fraction | float:
        """What the whole release tells of a person who may differ in all protected columns at once."""
        return together(level.parity for level in self.levels)

    @property
    def epsilon(self) -> float:
        """The sum of the epsilons, rounded up once."""
        return epsilon_above(self.parity)


def privacy_of(release: Release) -> Privacy:
    """The privacy of one release, exact. Columns are drawn independently given a person's record, so that parities
    multiply; columns that are not protected are not counted: they give themselves away. Raises InputError."""
    return privacy_of_stacks(release, [Stack(column) for column in release.columns])


def privacy_of_stacks(release: Release, stacks: list[Stack]) -> Privacy:
    """As `privacy_of`, with the tables that are there already."""
    levels = []
    for stack in stacks:
        public = release.public(stack.column)
        strata = stack.column.by if public else ()
        levels.append(Level(stack.column.columns, stack.parity(public), strata))
    return Privacy(tuple(levels))
