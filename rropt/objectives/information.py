"""Informations about the input that the output keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from rropt.errors import InputError
from rropt.exact import Interval, cleared, rational
from rropt.mechanisms.mechanism import Mechanism
from rropt.objectives.base import Objective, check_domain, check_prior
from rropt.priors import Prior
from rropt.programs import ChiSquare, Information, Utility


@dataclass(frozen=True, init=False)
class MutualInformation(Objective):
    """Mutual information of input and output at `prior`; `units` "nats" (default) or "bits".

    `given` is the joint of the input with other variables that are released as they are (or known to whoever reads the
    release): a k x J table of counts or probabilities, rows in the order of the inputs and in the proportions of the
    prior. The objective is then I(input; output | others); what the release says about all variables is that plus the
    entropy of the others, which no mechanism changes.
    """

    kind: ClassVar[str] = "mutual_information"

    prior: Prior
    units: str
    given: tuple[tuple[int, ...], ...] | None

    def __init__(self, prior: Prior, units: str = "nats", given: object = None) -> None:
        check_prior(prior, "MutualInformation")
        if units not in ("nats", "bits"):
            raise InputError(f"{units!r} is no unit of information", "MutualInformation", "use nats or bits")
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "given", None if given is None else _joint(given, prior))

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def value(self, mechanism: Mechanism) -> Interval:
        return self._in(mechanism, self.units)

    def own_value(self, mechanism: Mechanism) -> Interval:
        return self._in(mechanism, "nats")

    def _in(self, mechanism: Mechanism, units: str) -> Interval:
        if self.given is None:
            return mechanism.mutual_information(self.prior, units)
        total = sum(map(sum, self.given))
        lower, upper = Fraction(0), Fraction(0)
        for column in zip(*self.given, strict=True):
            if mass := sum(column):
                inside = mechanism.mutual_information(Prior(self.prior.labels, column), units)
                lower += Fraction(mass, total) * inside.lower
                upper += Fraction(mass, total) * inside.upper
        return Interval(lower, upper)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        if self.given is None:
            return Information(self.prior.weights)
        return Information(tuple(map(sum, self.given)), self.given)

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {} if self.units == "nats" else {"units": self.units}
        return keys if self.given is None else {**keys, "given": [list(row) for row in self.given]}


def _joint(given: object, prior: Prior) -> tuple[tuple[int, ...], ...]:
    """The joint as the smallest integers in its proportions, one row an input."""
    where = "MutualInformation given"
    rows = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(rows, Sequence) or any(isinstance(row, str) or not isinstance(row, Sequence) for row in rows):
        raise InputError("it is no table", where, "give one row of counts an input")
    if len(rows) != len(prior) or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise InputError(
            f"it is not of the shape inputs x values ({len(prior)} rows of equal length)", where, "mend it"
        )
    numbers = [[rational(entry, f"{where}[{x}][{z}]") for z, entry in enumerate(row)] for x, row in enumerate(rows)]
    if any(number < 0 for row in numbers for number in row):
        raise InputError("it has negative entries", where, "give counts or probabilities")
    whole = sum(map(sum, numbers), Fraction(0))
    for label, row, p in zip(prior.labels, numbers, prior.probabilities, strict=True):
        if whole == 0 or sum(row, Fraction(0)) / whole != p:
            raise InputError(
                f"the row of {label!r} does not sum to the prior's proportion",
                where,
                "take the prior from its row sums",
            )
    flat = cleared([number for row in numbers for number in row])
    width = len(rows[0])
    return tuple(flat[x * width : (x + 1) * width] for x in range(len(rows)))


@dataclass(frozen=True)
class ChiSquareInformation(Objective):
    """Chi-square information at `prior`: the sum over inputs and outputs of p_x Q[x, y]^2 / m_y, less one, where m_y is
    the probability of the output (0 where nothing is said about the input, at most k - 1)."""

    kind: ClassVar[str] = "chi_square"
    units: ClassVar[str] = ""

    prior: Prior

    def __post_init__(self) -> None:
        check_prior(self.prior, "ChiSquareInformation")

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def value(self, mechanism: Mechanism) -> Interval:
        check_domain(mechanism, self.prior.labels, "ChiSquareInformation")
        total = Fraction(-1)
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            joint = [p * q for p, q in zip(self.prior.probabilities, column, strict=True)]
            if mass := sum(joint, Fraction(0)):
                total += sum((pq * q for pq, q in zip(joint, column, strict=True)), Fraction(0)) / mass
        return Interval.point(total)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return ChiSquare(self.prior.weights)

    def keys(self) -> dict[str, object]:
        return {}
