"""The privacy of a release: the privacy ratio of its columns, one by one and together."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rropt.exact import rational_text
from rropt.io.tables import Readable
from rropt.model.guarantees import approximate_level
from rropt.model.privacy.level import Level as Declared, declared_number
from rropt.program.events import ApproximateBound
from rropt.release.plans.odds import Odds, epsilon_above, privacy_ratio_text, together
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.stack import Stack


@dataclass(frozen=True)
class Level(Readable):
    """The draw for `columns` has at most this `privacy_ratio` (exact; `math.inf` where there is no bound).

    `strata`: the columns that choose the mechanism and are public, within whose values alone the privacy ratio holds.
    `approximate`: the declared level and the exact delta of approximate LDP, where the design guarantees it and its
    epsilon is below that of the privacy ratio. `hidden`: the columns that choose the mechanism, if the privacy ratio is
    infinite and would be finite if they were public.
    """

    columns: tuple[str, ...]
    privacy_ratio: Fraction | float
    strata: tuple[str, ...] = ()
    approximate: tuple[Declared, Fraction] | None = None
    hidden: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """log of the privacy ratio in nats, rounded up."""
        return epsilon_above(self.privacy_ratio)

    def to_dict(self) -> dict[str, Any]:
        """Its keys in the accountant."""
        found: dict[str, Any] = {"columns": list(self.columns), "privacy_ratio": privacy_ratio_text(self.privacy_ratio)}
        if self.approximate is not None:
            (level, delta) = self.approximate
            word, number = declared_number(level)
            found["approximate"] = {word: rational_text(number), "delta": rational_text(delta)}
        return found | ({"hidden": list(self.hidden)} if self.hidden else {})


@dataclass(frozen=True)
class Privacy(Readable):
    """The levels of a release's columns, one each, and of all together."""

    levels: tuple[Level, ...]

    @property
    def privacy_ratio(self) -> Fraction | float:
        """The privacy ratio of the whole release for a respondent who may differ in all protected columns at once."""
        return together(level.privacy_ratio for level in self.levels)

    @property
    def epsilon(self) -> float:
        """The sum of the epsilons, rounded up once."""
        return epsilon_above(self.privacy_ratio)


def privacy_of(release: Release) -> Privacy:
    """The privacy of one release, exact. Columns are drawn independently given a respondent's record, so that privacy
    ratios multiply; columns that are not protected are not counted, as they are released unchanged. Raises
    InputError."""
    return privacy_of_stacks(release, [Stack(column) for column in release.columns])


def privacy_of_stacks(release: Release, stacks: list[Stack]) -> Privacy:
    """As `privacy_of`, with tables that exist already."""
    levels = []
    for stack in stacks:
        public = release.public(stack.column)
        strata = stack.column.by if public else ()
        privacy_ratio = stack.privacy_ratio(public)
        approximate = _approximate(stack.column, privacy_ratio, public)
        hides = privacy_ratio == math.inf and stack.privacy_ratio(True) < math.inf
        levels.append(Level(stack.column.columns, privacy_ratio, strata, approximate, stack.column.by if hides else ()))
    return Privacy(tuple(levels))


MOST_TERMS = 10**7
"""Terms of the events of a mechanism that are compared for its exact delta."""


def _approximate(
    column: ProtectedColumn, privacy_ratio: Fraction | float, public: bool
) -> tuple[Declared, Fraction] | None:
    """Level and delta of a column whose designs guarantee approximate LDP, if that level is below the privacy ratio."""
    found = []
    for design in column.designs:
        guaranteed = None if design.problem is None else approximate_level(design.problem)
        if guaranteed is None or (len(column.designs) > 1 and not public):
            return None
        if len(design.mechanism.inputs) ** 2 * len(design.mechanism.outputs) > MOST_TERMS:
            return None
        found.append((guaranteed, ApproximateBound(guaranteed, Fraction(0)).excess(design.mechanism)))
    level = found[0][0]
    for other, _ in found[1:]:
        level = other if odds_of(other).above(odds_of(level)) else level
    if not isinstance(privacy_ratio, float) and not Odds.of(privacy_ratio).above(odds_of(level)):
        return None
    return level, max(delta for _, delta in found)


def odds_of(level: Declared) -> Odds:
    """The odds of a declared level, exactly."""
    word, number = declared_number(level)
    return Odds.of(number) if word == "gamma" else Odds.of(Fraction(1), number)
