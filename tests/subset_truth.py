"""The truth that is kept of a few categories: an objective with a word, as a user adds it to the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from rropt.declare.objective import Objective, check_domain
from rropt.errors import InputError
from rropt.exact import Interval
from rropt.io.arguments import checked
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.programs import Linear, Utility


@checked
@dataclass(frozen=True)
class SubsetTruth(Objective):
    """The sum of p_x Q[x, x] over the x of `categories`. Outputs are the inputs."""

    kind: ClassVar[str] = "subset_truth"
    words: ClassVar[Mapping[str, str]] = {"categories": "labels of the inputs that count"}
    sentence: ClassVar[str] = "how often one of the chosen answers is released as it is"

    prior: Prior
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))
        if strange := set(self.categories) - set(self.prior.labels):
            raise InputError(f"{min(strange)!r} is not an input", "SubsetTruth categories")

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        return {"": cls(prior, prior.labels[::2])}

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "SubsetTruth")
        kept = (self.prior.labels.index(label) for label in self.categories)
        parts = (self.prior.probabilities[x] * mechanism.entry(x, x) for x in kept)
        return Interval.point(sum(parts, Fraction(0)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        chosen = enumerate(zip(inputs, self.prior.probabilities, strict=True))
        return Linear(tuple((x, x, p) for x, (label, p) in chosen if p and label in self.categories))

    def keys(self) -> dict[str, object]:
        return {"categories": list(self.categories)}
