"""The base class of objectives: a definition and an equivalent form."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from rropt.errors import Conflict, InputError, Missing, OutOfRange, WrongType, counted, shown
from rropt.exact import Interval, declared_text, rational
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.limits import weighted
from rropt.program.programs import Sense, Utility


class Objective(ABC):
    """A quantity to maximise or minimise over mechanisms.

    `kind` is its word in a problem file, `words` the further keys there with their meaning (Markdown), `sense` the
    sense in which it is sought (the only one that makes sense, where `one_sided`), `sentence` what it measures, for reports; where keys change it, `explain` and `describe`
    state so. With `other_outputs` its `outputs` are a default only, which `Problem(outputs=)` and structures replace. `prior` is the prior that it is taken at, None where it needs none; `units` the unit of its value: "nats",
    "bits", or "" for probabilities and costs.

        >>> import rropt as rr
        >>> isinstance(rr.Trace(), rr.Objective), rr.Trace().value(rr.RandomizedResponse(2, gamma=3).to_mechanism()).upper == 1.5
        (True, True)
    """

    kind: ClassVar[str]
    words: ClassVar[Mapping[str, str]] = {}
    sense: ClassVar[Sense] = "maximize"
    one_sided: ClassVar[bool] = False
    other_outputs: ClassVar[bool] = False
    sentence: ClassVar[str] = ""
    prior: Prior | None
    units: str = ""

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        """The objective that a problem file declares with these of its `words`. Raises InputError."""
        if prior is None:
            raise Missing(f"{cls.__name__} needs a prior", where, "give counts or probabilities under [input]")
        if not isinstance(keys, Mapping) or not set(keys) <= set(cls.words):
            raise WrongType(f"{shown(keys)} are not keys of {cls.__name__}", where, f"known: {', '.join(cls.words)}")
        make: Callable[..., Self] = cls
        return make(prior, **keys)

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        """Some at a prior without zeros, by what distinguishes them ("" for the plain one). The laws are held against
        them, and the page of what can be proved solves them."""
        return {"": cls.read_keys(prior, {}, cls.kind)}

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        """The outputs that it fixes, or None where their number is free."""
        return None

    @abstractmethod
    def value(self, mechanism: Mechanism) -> Interval:
        """The definition: its value at an exact mechanism, enclosed (a point where it is rational)."""

    def own_value(self, mechanism: Mechanism) -> Interval:
        """`value` in the unit of the utility: nats where it is an information in bits."""
        return self.value(mechanism)

    def enclosed(self, mechanism: Mechanism, gap: float, seconds: float | None) -> Interval:
        """`own_value`; where that is a search, its ends are `gap` apart, or as near as `seconds` allow."""
        return self.own_value(mechanism)

    @abstractmethod
    def form(self, inputs: tuple[str, ...]) -> Utility:
        """The utility of the closed vocabulary, in nats where it is an information."""

    def keys(self) -> dict[str, object]:
        """Its keys in a problem file besides maximize/minimize (numbers as Fraction); the prior is under [input]."""
        return {}

    def explain(self) -> str:
        """A description with its keys, for reports."""
        return self.sentence or f"the objective {self.describe()}, which is the user's own"

    def describe(self) -> str:
        """One short phrase for tables and messages."""
        return self.kind.replace("_", " ")

    def __str__(self) -> str:
        return self.describe()

    def __mul__(self, weight: Number) -> Sum:
        return Sum([(weight, self)])

    __rmul__ = __mul__

    def __add__(self, other: Objective) -> Sum:
        return Sum([(1, self), (1, other)])

    def __sub__(self, other: Objective) -> Sum:
        return Sum([(1, self), (-1, other)])

    def __neg__(self) -> Sum:
        return Sum([(-1, self)])


MOST_NAMED = 6
"""Terms of a sum that a phrase names."""
EXAMPLES = "mutual_information", "trace"
"""The terms of the examples of a sum."""


@checked
@dataclass(frozen=True, init=False)
class Sum(Objective):
    """A weighted sum of objectives, as `0.7 * MutualInformation(prior) + 0.3 * Trace(prior)` makes it.

    `terms` are pairs of a weight (any sign, not 0) and an objective; sums among them are taken apart. All are about the
    same inputs, and those that fix outputs fix the same. Informations are in nats. Raises InputError.
    """

    kind: ClassVar[str] = "sum"
    words: ClassVar[Mapping[str, str]] = {
        "terms": "tables, each with `weight`, `objective` (its word) and the keys of that objective"
    }
    prior: Prior | None
    terms: tuple[tuple[Fraction, Objective], ...]

    def __init__(self, terms: Sequence[tuple[Number, Objective]]) -> None:
        found: list[tuple[Fraction, Objective]] = []
        for number, one in terms:
            weight = rational(number, "weight of a sum")
            if not isinstance(one, Objective):
                raise WrongType(f"{type(one).__name__} is not an objective", "Sum", "add objectives only")
            if not weight:
                raise OutOfRange("a weight is 0", "Sum", f"leave {one.kind} out")
            if one.units == "bits":
                raise Conflict(f"{one.kind} is in bits", "Sum", 'declare it with units="nats"')
            inner = one.terms if isinstance(one, Sum) else [(Fraction(1), one)]
            found += [(weight * own, part) for own, part in inner]
        if not found:
            raise Missing("there are no terms", "Sum", "give pairs of a weight and an objective")
        priors = [part.prior for _, part in found if part.prior is not None]
        for prior in priors[1:]:
            same_labels(prior.labels, priors[0].labels, "priors of a sum")
        object.__setattr__(self, "prior", priors[0] if priors else None)
        object.__setattr__(self, "terms", tuple(found))

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        return cls(keys["terms"])

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        known = {one.kind: one.read_keys(prior, {}, cls.kind) for one in declared() if one.kind in EXAMPLES}
        information, truth = (known[word] for word in EXAMPLES)
        return {"": cls([("0.7", information), ("0.3", truth)]), "less": cls([(1, truth), ("-0.3", information)])}

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        fixed = {own for _, part in self.terms if (own := part.outputs(inputs)) is not None}
        if len(fixed) > 1:
            raise Conflict("its terms fix different outputs", "Sum", "give all the same outputs")
        return min(fixed, default=None)

    def value(self, mechanism: Mechanism) -> Interval:
        ends = [[own.lower, own.upper] for own in (part.value(mechanism) for _, part in self.terms)]
        signed = [(weight, own if weight > 0 else own[::-1]) for (weight, _), own in zip(self.terms, ends, strict=True)]
        low, high = (sum((weight * own[side] for weight, own in signed), Fraction(0)) for side in (0, 1))
        if math.isnan(low) or math.isnan(high):
            parts = " and ".join(part.kind for _, part in self.terms)
            wrong = f"{parts} are infinite at this mechanism, with both signs"
            raise InputError(wrong, "value of a sum", "give a mechanism of full rank")
        return Interval(low, high)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return weighted([(weight, part.form(inputs)) for weight, part in self.terms])

    def keys(self) -> dict[str, object]:
        return {"terms": [{"weight": weight, "objective": part.kind, **part.keys()} for weight, part in self.terms]}

    def explain(self) -> str:
        found = ""
        for weight, part in self.terms:
            sign = ("" if weight > 0 else "minus ") if not found else ", plus " if weight > 0 else ", minus "
            unit = f" (in {part.units})" if part.units else ""
            found += f"{sign}{declared_text(abs(weight))} times {part.explain()}{unit}"
        return found

    def describe(self) -> str:
        return weighted_words([(weight, part.describe()) for weight, part in self.terms])


def weighted_words(terms: Sequence[tuple[Fraction, str]]) -> str:
    """A weighted sum of what words name, "0.7 a - b"; of many terms the first ones."""
    found = ""
    for weight, word in terms[:MOST_NAMED]:
        sign = ("" if weight > 0 else "-") if not found else " + " if weight > 0 else " - "
        found += f"{sign}{'' if abs(weight) == 1 else f'{declared_text(abs(weight))} '}{word}"
    return found + (f" + {counted(len(terms) - MOST_NAMED, 'more terms')}" if len(terms) > MOST_NAMED else "")


def declared() -> list[type[Objective]]:
    """The classes of this folder that a problem file has a word for."""
    found = list(Objective.__subclasses__())
    for one in found:
        found += one.__subclasses__()
    return [one for one in found if "kind" in vars(one) and one.__module__.startswith(__package__ or "")]


def check_prior(prior: object, where: str) -> Prior:
    """A prior as it was given. Raises InputError for anything else."""
    if not isinstance(prior, Prior):
        raise WrongType(f"{type(prior).__name__} is not a Prior", where, "make one with rr.Prior.from_counts(...)")
    return prior


def check_domain(mechanism: Mechanism, labels: tuple[str, ...], where: str) -> None:
    """Raises InputError where a mechanism has other inputs than these."""
    same_labels(mechanism.inputs, labels, f"{where}, inputs of the mechanism")
