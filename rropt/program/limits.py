"""Upper limits: on what may leak, and on the risk of identification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Self

from rropt.exact import Interval, rational_text
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.identification import risk_excess
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


@dataclass(frozen=True)
class PosteriorRisk(Extra):
    """R_c(a) <= at_most for all a >= 1 and every c of `categories`, at the frequencies `counts` (k integers; see
    `model.identification`). With `blocks`, a partition of the inputs, the mechanism is one of inverse-frequency
    blocks besides."""

    name: ClassVar[str] = "identification risk"
    version: ClassVar[int] = 4

    counts: tuple[int, ...]
    at_most: Fraction
    categories: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...] | None = None

    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much the bound, or the form of the blocks, is missed at worst; <= 0 exactly where both hold."""
        worst = Fraction(-1)
        if self.blocks is not None and (off := self._off_form(mechanism)) > 0:
            worst = off
        for c in self.categories:
            worst = max(worst, risk_excess(mechanism.column(c), self.counts, c, self.at_most))
        return worst

    def _off_form(self, mechanism: Mechanism) -> Fraction:
        assert self.blocks is not None
        thetas = []
        for block in self.blocks:
            first = block[0]
            theta = self.counts[first] * (1 - mechanism.entry(first, first)) if len(block) > 1 else Fraction(0)
            thetas.append(min(theta, Fraction(min(self.counts[x] for x in block))))
        form = FrequencyBlocks(self.counts, self.blocks, tuple(thetas))
        return max(
            abs(mechanism.entry(x, y) - entry)
            for y in range(len(self.counts))
            for x, entry in enumerate(form.column(y))
        )

    def payload(self) -> dict[str, object]:
        table: dict[str, object] = {
            "at_most": rational_text(self.at_most),
            "counts": [str(count) for count in self.counts],
            "categories": list(self.categories),
        }
        if self.blocks is not None:
            table["blocks"] = [list(block) for block in self.blocks]
        return {"identification_risk": table}
