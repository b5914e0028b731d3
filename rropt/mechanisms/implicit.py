"""Families whose reports are one of two likelihoods, and mechanisms that keep such a family in place of its matrix."""

from __future__ import annotations

import html
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from rropt.errors import InputError, TooLarge, UnknownName, WrongType, counted, in_file
from rropt.exact import Interval, enclosure, log_enclosure, shown, xlogx_ball
from rropt.io.arguments import checked, position
from rropt.io.frames import array_of
from rropt.mechanisms.channel import LabelledChannel
from rropt.mechanisms.columns import Column, TwoValuedColumn
from rropt.mechanisms.mechanism import READERS, Mechanism
from rropt.mechanisms.reading import check_keys, names_of, naturals_of
from rropt.mechanisms.sampling import Source
from rropt.mechanisms.sampling.labels import codes_of
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior
from rropt.model.privacy import Level

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.recover import Answers

MOST_WRITTEN = 1 << 22
"""Cells up to which a matrix is written out."""
MOST_OUTPUTS = 1 << 20
"""Outputs of a mechanism, each with a label. A column of a table that is released holds one of them."""
FAMILIES = {"hadamard-response": "HadamardResponse", "local-hashing": "LocalHashing"}
"""The names of families in files, and those of their classes in `rropt.mechanisms`, which loads them."""
LIMB = 31
"""Bits of a weight that are added up at once, in 64 bits."""


@checked
class TwoLevelFamily(LabelledChannel):
    """k inputs and m outputs: output y has the probability gamma / D at the inputs that are its members, 1 / D at the
    others, times the denominator of gamma. Every input is a member of as many outputs, so one D serves all rows."""

    level: Level
    ratio: Fraction

    @property
    def privacy_ratio(self) -> Fraction | float:
        return self.ratio

    @property
    def epsilon(self) -> Interval:
        return log_enclosure(self.ratio)

    further: ClassVar[tuple[str, ...]] = ()
    """Its parameters beside the ratio: whole numbers."""

    def parameters(self) -> dict[str, list[str]]:
        """Its parameters as a file has them."""
        ratio = [str(self.ratio.numerator), str(self.ratio.denominator)]
        return {"ratio": ratio, **{name: [str(getattr(self, name))] for name in self.further}}

    @property
    @abstractmethod
    def count(self) -> int:
        """m, the number of outputs."""

    @property
    @abstractmethod
    def memberships(self) -> int:
        """The number of outputs that an input is a member of."""

    @abstractmethod
    def output_labels(self) -> tuple[str, ...]:
        """The labels of the m outputs of its mechanism."""

    @abstractmethod
    def likelier(self, y: int) -> np.ndarray:
        """Whether each input is a member of output y: k truth values."""

    @abstractmethod
    def positions(self, reports: np.ndarray) -> np.ndarray:
        """The positions of n reports among the m outputs."""

    @abstractmethod
    def observed(self, times: np.ndarray) -> np.ndarray:
        """The argument of `estimate` for m outputs that were reported so many `times`."""

    def to_mechanism(self) -> Mechanism:
        """The mechanism in exact integers. Up to 2^22 cells its matrix is written out; beyond, it keeps the family, in
        memory and in its file, and works entries out when they are asked for. Refuses more than 2^20 outputs."""
        if self.count > MOST_OUTPUTS:
            raise TooLarge(f"it would have {counted(self.count, 'outputs')}", "to_mechanism", "use the family itself")
        made = FamilyMechanism(self)
        return made if self.size * self.count > MOST_WRITTEN else made.written()

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        """Through the mechanism, so up to 2^20 outputs. Raises InputError beyond."""
        return self.to_mechanism().mutual_information(prior, units=units)

    def randomize(self, labels: Any, *, source: Source | None = None) -> np.ndarray:
        """As `sample`, from labels to reports."""
        return self.sample(codes_of(labels, self.labels), source=source)


@dataclass(frozen=True)
class FamilyColumn(Column):
    """Column `at` of a family; its members are found when they are asked for."""

    family: TwoLevelFamily
    at: int

    def _written(self) -> TwoValuedColumn:
        bits = np.packbits(self.family.likelier(self.at), bitorder="little").tobytes()
        low, high = self.family.ratio.denominator, self.family.ratio.numerator
        return TwoValuedColumn(low, high, int.from_bytes(bits, "little"))

    def entries(self, size: int) -> tuple[int, ...]:
        return self._written().entries(size)

    def payload(self, size: int) -> dict[str, object]:
        return self._written().payload(size)


@checked
class FamilyMechanism(Mechanism):
    """The mechanism of a `family`, which draws and estimates for it. Its matrix is made when it is asked for."""

    family: TwoLevelFamily

    def __init__(self, family: TwoLevelFamily) -> None:
        total = family.memberships * family.ratio.numerator
        total += (family.count - family.memberships) * family.ratio.denominator
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "input_labels", family.inputs)
        object.__setattr__(self, "outputs", family.output_labels())
        object.__setattr__(self, "denominators", (total,))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The m columns; their entries are made when they are asked for."""
        return tuple(FamilyColumn(self.family, y) for y in range(self.family.count))

    def written(self) -> Mechanism:
        """The same matrix, written out."""
        columns = tuple(FamilyColumn(self.family, y)._written() for y in range(self.family.count))
        return Mechanism(self.inputs, self.outputs, columns, self.denominators)

    def entry(self, x: int, y: int) -> Fraction:
        x = position(x, len(self.inputs), "input")
        return self.column(y)[x]

    def column(self, y: int) -> tuple[Fraction, ...]:
        y = position(y, len(self.outputs), "output")
        low, high = self._two
        return tuple(high if one else low for one in self.family.likelier(y).tolist())

    @cached_property
    def _two(self) -> tuple[Fraction, Fraction]:
        """The two probabilities."""
        numbers = self.family.ratio.denominator, self.family.ratio.numerator
        return Fraction(numbers[0], self.denominators[0]), Fraction(numbers[1], self.denominators[0])

    def extremes(self, y: int) -> tuple[Fraction, Fraction]:
        inside = self.family.likelier(position(y, len(self.outputs), "output"))
        low, high = self._two
        return (high if inside.all() else low), (high if inside.any() else low)

    @cached_property
    def _privacy_ratio(self) -> Fraction | float:
        return self.family.privacy_ratio

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        if prior.labels != self.inputs or units not in ("nats", "bits"):
            # The general method raises the error.
            return super().mutual_information(prior, units=units)
        family, total = self.family, sum(prior.weights)
        low, high, scale = family.ratio.denominator, family.ratio.numerator, self.denominators[0]
        parts = [
            np.array([weight >> at & (1 << LIMB) - 1 for weight in prior.weights])
            for at in range(0, total.bit_length(), LIMB)
        ]
        inside: dict[int, int] = {}
        for y in range(family.count):
            chosen = family.likelier(y)
            weight = sum(int(part[chosen].sum()) << at * LIMB for at, part in enumerate(parts))
            inside[weight] = inside.get(weight, 0) + 1

        def compute() -> arb:
            # phi(high) and phi(low) of a row, less phi of the masses of the outputs.
            result = family.memberships * xlogx_ball(high, scale)
            result += (family.count - family.memberships) * xlogx_ball(low, scale)
            for weight, times in inside.items():
                result -= times * xlogx_ball(low * total + (high - low) * weight, scale * total)
            return result / arb(2).log() if units == "bits" else result

        return never_negative(enclosure(compute))

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        given = array_of(codes, "codes")
        found = self.family.positions(self.family.sample(given.reshape(-1), source=source))
        return found.reshape(given.shape).astype(np.min_scalar_type(len(self.outputs) - 1))

    def answers(self, counts: np.ndarray) -> Answers:
        # scipy's statistics take half a second to load.
        from rropt.mechanisms.estimators.implicit import FamilyAnswers

        return FamilyAnswers(self.family, counts, self.inputs)

    @cached_property
    def rank(self) -> int:
        """Rank of Q: the rows less their mean are orthogonal to each other and to ones, and none of them is zero."""
        return self.family.size

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        k, m = counted(len(self.inputs), "inputs"), counted(len(self.outputs), "outputs")
        level = shown(self.epsilon.upper, 6, up=True)
        return f"Mechanism({k} x {m} of {type(self.family).__name__}, epsilon <= {level})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    def _write(self) -> dict[str, object]:
        named = {made: name for name, made in FAMILIES.items()}
        return {"family": named[type(self.family).__name__], "parameters": self.family.parameters()}


def family_of_document(document: dict[str, Any], where: str) -> FamilyMechanism:
    """The mechanism of a file of this form: the name of a family and its parameters. Raises InputError."""
    inputs, name, given = names_of(document["inputs"], f"{where}: inputs"), document["family"], document["parameters"]
    if not isinstance(name, str) or name not in FAMILIES:
        raise UnknownName(f"family {name!r:.40} is unknown", where, f"known are {', '.join(FAMILIES)}")
    family = getattr(import_module("rropt.mechanisms"), FAMILIES[name])
    check_keys(given if isinstance(given, dict) else {}, {"ratio", *family.further}, f"{where}: parameters")
    numbers = {key: naturals_of(value, f"{where}: {key}") for key, value in given.items()}
    ratio, more = numbers.pop("ratio"), {key: value[0] for key, value in numbers.items()}
    if len(ratio) != 2 or not ratio[1] or any(len(value) != 1 for value in numbers.values()):
        raise WrongType("ratio is a numerator and a denominator, other parameters are one number", where)
    with in_file(where):
        made = family(inputs, gamma=Fraction(*ratio), **more).to_mechanism()
    if not isinstance(made, FamilyMechanism):
        raise InputError("it is so small that its columns are written out", where, "write it with Mechanism.save")
    return made


READERS["family"] = family_of_document
