"""Upper limits on convex quantities: what may leak at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Self

from rropt.exact import Interval, rational_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.extras import Extra
from rropt.program.programs import BayesGain, Divergence


@dataclass(frozen=True)
class Limit:
    """sum_y mu(q_y) <= at_most, mu being that of `utility`, in its own unit. `value` encloses it at an exact
    mechanism."""

    utility: Divergence | BayesGain
    at_most: Fraction
    value: Callable[[Mechanism], Interval] = field(compare=False, repr=False)

    def payload(self) -> dict[str, object]:
        weights = [str(weight) for weight in self.utility.weights]
        return {"utility": self.utility.payload(), "weights": weights, "at_most": rational_text(self.at_most)}


@dataclass(frozen=True)
class Limits(Extra):
    """All upper limits of a problem on informations and Bayes gains, each at a prior of its own."""

    name: ClassVar[str] = "limits on informations"
    version: ClassVar[int] = 6

    limits: tuple[Limit, ...]

    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much the worst one is exceeded, at most; <= 0 exactly where enclosures prove all."""
        return max(limit.value(mechanism).upper - limit.at_most for limit in self.limits)

    def payload(self) -> dict[str, object]:
        return {"limits": [limit.payload() for limit in self.limits]}

    @classmethod
    def joined(cls, found: Sequence[Self]) -> Self:
        """All of them."""
        return cls(tuple(limit for one in found for limit in one.limits))
