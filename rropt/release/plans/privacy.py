"""The privacy of a release: the parity of its columns, one by one and together."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpz

from rropt.exact import float_up, log_enclosure
from rropt.model.guarantees import approximate_level
from rropt.program.events import ApproximateBound
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.stack import Stack


def epsilon_above(parity: Fraction | float) -> float:
    """log of a parity, rounded up; `math.inf` for an infinite one."""
    return math.inf if isinstance(parity, float) else float_up(log_enclosure(parity).upper)


def parity_text(parity: Fraction | float) -> str:
    """A parity as "p" or "p/q", or "infinite". The product of many has more digits than Python turns into text."""
    if isinstance(parity, float):
        return "infinite"
    parts = [parity.numerator] + [parity.denominator] * (parity.denominator != 1)
    return "/".join(str(fmpz(part)) for part in parts)


MOST_DIGITS = 1_000_000
_PARITY = re.compile(rf"([0-9]{{1,{MOST_DIGITS}}})(?:/([0-9]{{1,{MOST_DIGITS}}}))?")


def parity_of(text: str) -> Fraction | float:
    """The parity that `parity_text` wrote. Raises ValueError for any other text."""
    if text == "infinite":
        return math.inf
    found = _PARITY.fullmatch(text)
    parts = () if found is None else [int(fmpz(part)) for part in found.groups("1")]
    if len(parts) != 2 or not 0 < parts[1] <= parts[0]:
        raise ValueError("not a parity")
    return Fraction(*parts)


def together(parities: Iterable[Fraction | float]) -> Fraction | float:
    """The parity of independent draws from one person's record: the product, so that their epsilons add up."""
    total: Fraction | float = Fraction(1)
    for parity in parities:
        total = math.inf if math.inf in (total, parity) else total * parity
    return total


@dataclass(frozen=True)
class Level:
    """The draw for `columns` has at most this `parity` (exact; `math.inf` where there is no bound).

    `strata`: the columns that choose the mechanism and are public, within whose values alone the parity holds.
    `approximate`: an epsilon in nats and the exact delta of approximate LDP, where the design guarantees it and its
    epsilon is below that of the parity. `hidden`: the columns that choose the mechanism, if the parity is infinite and
    would be finite if they were public.
    """

    columns: tuple[str, ...]
    parity: Fraction | float
    strata: tuple[str, ...] = ()
    approximate: tuple[Fraction, Fraction] | None = None
    hidden: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """log of the parity in nats, rounded up."""
        return epsilon_above(self.parity)

    def to_dict(self) -> dict[str, Any]:
        """Its keys in the ledger."""
        found = {"columns": list(self.columns), "parity": parity_text(self.parity)}
        return found | ({"hidden": list(self.hidden)} if self.hidden else {})


@dataclass(frozen=True)
class Privacy:
    """The levels of a release's columns, one each, and of all together."""

    levels: tuple[Level, ...]

    @property
    def parity(self) -> Fraction | float:
        """The parity of the whole release for a person who may differ in all protected columns at once."""
        return together(level.parity for level in self.levels)

    @property
    def epsilon(self) -> float:
        """The sum of the epsilons, rounded up once."""
        return epsilon_above(self.parity)

    @property
    def approximate(self) -> tuple[Fraction | float, Fraction, Fraction]:
        """The release as approximate LDP: the parity of the columns that have a parity only, and the sums of epsilon
        and delta of the others, which add up with it (Dwork and Roth 2014, Theorem 3.16)."""
        pairs = [level.approximate for level in self.levels if level.approximate is not None]
        rest = together(level.parity for level in self.levels if level.approximate is None)
        return rest, sum((one for one, _ in pairs), Fraction(0)), sum((two for _, two in pairs), Fraction(0))


def privacy_of(release: Release) -> Privacy:
    """The privacy of one release, exact. Columns are drawn independently given a person's record, so that parities
    multiply; columns that are not protected are not counted, as they are released unchanged. Raises InputError."""
    return privacy_of_stacks(release, [Stack(column) for column in release.columns])


def privacy_of_stacks(release: Release, stacks: list[Stack]) -> Privacy:
    """As `privacy_of`, with tables that exist already."""
    levels = []
    for stack in stacks:
        public = release.public(stack.column)
        strata = stack.column.by if public else ()
        parity = stack.parity(public)
        approximate = _approximate(stack.column, parity, public)
        hides = parity == math.inf and stack.parity(True) < math.inf
        levels.append(Level(stack.column.columns, parity, strata, approximate, stack.column.by if hides else ()))
    return Privacy(tuple(levels))


MOST_TERMS = 10**7
"""Terms of the events of a mechanism that are compared for its exact delta."""


def _approximate(column: ProtectedColumn, parity: Fraction | float, public: bool) -> tuple[Fraction, Fraction] | None:
    """Epsilon and delta of a column whose designs guarantee approximate LDP, if that epsilon is below the parity's."""
    found = []
    for design in column.designs:
        guaranteed = None if design.problem is None else approximate_level(design.problem)
        if guaranteed is None or (len(column.designs) > 1 and not public):
            return None
        if len(design.mechanism.inputs) ** 2 * len(design.mechanism.outputs) > MOST_TERMS:
            return None
        found.append((guaranteed.log_ratio.upper, ApproximateBound(guaranteed, Fraction(0)).excess(design.mechanism)))
    epsilon, delta = (max(numbers) for numbers in zip(*found, strict=True))
    plain = math.inf if isinstance(parity, float) else log_enclosure(parity).upper
    return (epsilon, delta) if epsilon < plain else None
