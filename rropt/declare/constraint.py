"""The base class of constraints: a definition and an equivalent form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from rropt.mechanisms.mechanism import Mechanism
from rropt.model.privacy.level import Level
from rropt.program.cones import Cone, combined
from rropt.program.extras import Extra
from rropt.program.programs import Row

NAME_OUTPUTS = (
    "name them: outputs=[labels] in Problem, outputs = [labels] above [input] in a file; or take an objective that does"
)
"""The remedy where a constraint needs outputs and nothing fixes them."""


def joint_cone(constraints: Iterable[Constraint], inputs: tuple[str, ...]) -> Cone:
    """The constraints' joint requirement on each column, as declared."""
    cones = (constraint.cone(inputs) for constraint in constraints)
    return combined([cone for cone in cones if cone is not None], len(inputs))


class Constraint(ABC):
    """A condition that a mechanism must satisfy.

    Two independent descriptions, tied together by tests/laws: `violation` is the definition on an exact
    mechanism; `cone`, `rows` and `extras` are the form that a method consumes. `kind` is its word in a problem file.

        >>> import rropt as rr
        >>> isinstance(rr.LDP(1), rr.Constraint), rr.LDP(1).violation(rr.RandomizedResponse(2, 1).to_mechanism()) <= 0
        (True, True)
    """

    kind: ClassVar[str]

    @abstractmethod
    def violation(self, mechanism: Mechanism) -> Fraction:
        """By how much an exact mechanism violates it; <= 0 exactly when it holds."""

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        """The outputs that it fixes, or None."""
        return None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        """The requirement on each single column, or None."""
        return None

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        """The requirement on the whole matrix."""
        return ()

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        """The requirement beyond `cone` and `rows`, as an object of one theory."""
        return ()

    def keys(self) -> dict[str, object]:
        """Its keys in a problem file besides `kind`; numbers as Fraction."""
        return {}

    def _remarks(self, mechanism: Mechanism) -> tuple[str, ...]:
        """Remarks for a reader of a mechanism that satisfies it besides, one sentence each."""
        return ()

    def describe(self) -> str:
        """One short phrase for tables and messages."""
        return self.kind.replace("_", " ")

    def __str__(self) -> str:
        return self.describe()


class AtLevel(Constraint):
    """A constraint with a privacy `level`; `epsilon` and `gamma` are the one of the two that was declared, exact, and
    None."""

    level: Level

    @property
    def epsilon(self) -> Fraction | None:
        """The level in nats, where it was declared so."""
        return self.level.epsilon

    @property
    def gamma(self) -> Fraction | None:
        """The largest ratio, where the level was declared so."""
        return self.level.gamma


def described(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """The description of each, numbered where another one before it has the same, as two linear rows without a name."""
    alike: dict[str, list[Constraint]] = {}
    names = []
    for rule in constraints:
        name = rule.describe()
        known = alike.setdefault(name, [])
        if rule not in known:
            known.append(rule)
        place = known.index(rule) + 1
        names.append(name if place == 1 else f"{name} ({place})")
    return tuple(names)


def with_distinct_names(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows whose names are distinct, as the certificate format needs."""
    seen: dict[str, int] = {}
    named = []
    taken = {row.name for row in rows}
    for row in rows:
        seen[row.name] = seen.get(row.name, 0) + 1
        name = row.name
        while seen[row.name] > 1 and name in taken:
            name = f"{row.name} ({seen[row.name]})"
            seen[row.name] += name in taken
        taken.add(name)
        named.append(replace(row, name=name))
    return tuple(named)
