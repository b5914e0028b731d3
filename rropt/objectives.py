"""What can be wanted of a mechanism.

Each objective has two independent descriptions: `value`, its definition on an exact mechanism, and `form`,
the utility that a route consumes. The law-suite in tests/laws ties them together. A new objective is one new
class, passed as an instance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from rropt.errors import InputError
from rropt.exact import Interval, coefficient
from rropt.mechanisms.mechanism import Mechanism
from rropt.priors import Prior, clean_labels
from rropt.programs import BayesGain, Information, Linear, Utility


class Objective(ABC):
    """Something to maximise or minimise over mechanisms.

    `kind` is its word in a problem file; `prior` the prior that it is taken at, None where it needs none;
    `units` the unit of its value: "nats", "bits", or "" for probabilities and costs.
    """

    kind: ClassVar[str]
    prior: Prior | None
    units: str

    @abstractmethod
    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        """The outputs that it fixes, or None where their number is free."""

    @abstractmethod
    def value(self, mechanism: Mechanism) -> Interval:
        """The definition: its value at an exact mechanism, enclosed (a point where it is rational)."""

    @abstractmethod
    def form(self, inputs: tuple[str, ...]) -> Utility:
        """The utility of the closed vocabulary, in nats where it is an information."""

    @abstractmethod
    def keys(self) -> dict[str, object]:
        """Its keys in a problem file besides maximize/minimize (numbers as Fraction); the prior is under [input]."""


def _check_prior(prior: object, where: str) -> Prior:
    if not isinstance(prior, Prior):
        raise InputError(f"{type(prior).__name__} is no Prior", where, "make one with rr.Prior.from_counts(...)")
    return prior


def _check_domain(mechanism: Mechanism, labels: tuple[str, ...], where: str) -> None:
    if mechanism.inputs != labels:
        raise InputError("the mechanism has other inputs than the prior", where, "label both alike")


@dataclass(frozen=True)
class MutualInformation(Objective):
    """Mutual information of input and output at `prior`; `units` "nats" (default) or "bits"."""

    kind: ClassVar[str] = "mutual_information"

    prior: Prior
    units: str = "nats"

    def __post_init__(self) -> None:
        _check_prior(self.prior, "MutualInformation")
        if self.units not in ("nats", "bits"):
            raise InputError(f"{self.units!r} is no unit of information", "MutualInformation", "use nats or bits")

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def value(self, mechanism: Mechanism) -> Interval:
        return mechanism.mutual_information(self.prior, self.units)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return Information(self.prior.weights)

    def keys(self) -> dict[str, object]:
        return {} if self.units == "nats" else {"units": self.units}


@dataclass(frozen=True)
class Trace(Objective):
    """Retained truth: the sum of Q[x, x], or with a `prior` the sum of p_x Q[x, x]. Outputs are the inputs."""

    kind: ClassVar[str] = "trace"
    units: ClassVar[str] = ""

    prior: Prior | None = None

    def __post_init__(self) -> None:
        if self.prior is not None:
            _check_prior(self.prior, "Trace")

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def value(self, mechanism: Mechanism) -> Interval:
        if mechanism.outputs != mechanism.inputs:
            raise InputError("its outputs are not its inputs", "Trace", "a trace needs a square mechanism")
        if self.prior is None:
            return Interval.point(sum((mechanism.entry(x, x) for x in range(len(mechanism.inputs))), Fraction(0)))
        _check_domain(mechanism, self.prior.labels, "Trace")
        parts = (p * mechanism.entry(x, x) for x, p in enumerate(self.prior.probabilities))
        return Interval.point(sum(parts, Fraction(0)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        share = [Fraction(1)] * len(inputs) if self.prior is None else self.prior.probabilities
        return Linear(tuple((x, x, value) for x, value in enumerate(share) if value))

    def keys(self) -> dict[str, object]:
        return {} if self.prior is None else {"weighted": True}


def _action_matrix(
    matrix: object, prior: Prior, actions: Sequence[object] | None, where: str
) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[str, ...]]:
    """(inputs x actions rationals, action labels; the inputs' own where square, else "0", "1", ...)."""
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    if not isinstance(rows, Sequence) or any(
        not isinstance(row, (Sequence, np.ndarray)) or isinstance(row, str) for row in rows
    ):
        raise InputError("it is no matrix", where, "give one list an input, one number an action")
    table = tuple(
        tuple(coefficient(entry, f"{where}[{x}][{g}]") for g, entry in enumerate(row)) for x, row in enumerate(rows)
    )
    if len(table) != len(prior) or len({len(row) for row in table}) != 1 or not table[0]:
        raise InputError(
            f"it is not of the shape inputs x actions ({len(prior)} rows of equal length)", where, "mend it"
        )
    width = len(table[0])
    names: Sequence[object]
    if actions is not None:
        names = actions
    else:
        names = prior.labels if width == len(prior) else range(width)
    labels = clean_labels(names, f"{where} actions")
    if len(labels) != width:
        raise InputError(f"{len(labels)} action labels for {width} columns", where, "give one a column")
    return table, labels


class _Expected(Objective):
    """sum over x, g of p_x matrix[x][g] Q[x, g]: what `ExpectedLoss` and `ExpectedGain` are."""

    prior: Prior
    matrix: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...]

    def __init__(self, prior: Prior, matrix: object, actions: Sequence[object] | None = None) -> None:
        name = type(self).__name__
        object.__setattr__(self, "prior", _check_prior(prior, name))
        table, labels = _action_matrix(matrix, prior, actions, f"{name} matrix")
        object.__setattr__(self, "matrix", table)
        object.__setattr__(self, "actions", labels)

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return self.actions

    def value(self, mechanism: Mechanism) -> Interval:
        _check_domain(mechanism, self.prior.labels, type(self).__name__)
        if mechanism.outputs != self.actions:
            raise InputError("the mechanism's outputs are not the actions", type(self).__name__, "label both alike")
        total = Fraction(0)
        for x, (p, row) in enumerate(zip(self.prior.probabilities, self.matrix, strict=True)):
            total += p * sum((entry * mechanism.entry(x, g) for g, entry in enumerate(row)), Fraction(0))
        return Interval.point(total)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return Linear(
            tuple(
                (x, g, p * entry)
                for x, (p, row) in enumerate(zip(self.prior.probabilities, self.matrix, strict=True))
                for g, entry in enumerate(row)
                if p * entry
            )
        )

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"matrix": [list(row) for row in self.matrix]}
        default = self.prior.labels if len(self.actions) == len(self.prior) else None
        if self.actions != default:
            keys["actions"] = list(self.actions)
        return keys


@dataclass(frozen=True, init=False)
class ExpectedLoss(_Expected):
    """The prior mean of a loss: sum of p_x matrix[x][g] Q[x, g]; `matrix` is inputs x actions.

    Outputs are the actions, labelled by `actions` (default: the inputs where the matrix is square).
    """

    kind: ClassVar[str] = "expected_loss"
    units: ClassVar[str] = ""

    prior: Prior
    matrix: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...]


@dataclass(frozen=True, init=False)
class ExpectedGain(_Expected):
    """The prior mean of a gain: as `ExpectedLoss`, to be maximised."""

    kind: ClassVar[str] = "expected_gain"
    units: ClassVar[str] = ""

    prior: Prior
    matrix: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...]


@dataclass(frozen=True, init=False)
class BayesSuccess(Objective):
    """Success of the best guess from the output: sum over y of max over g of sum_x p_x gain[x][g] Q[x, y].

    `gain` is inputs x actions; by default the identity: the probability that the most likely input is right.
    """

    kind: ClassVar[str] = "bayes_success"
    units: ClassVar[str] = ""

    prior: Prior
    gain: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...]

    def __init__(self, prior: Prior, gain: object = None, actions: Sequence[object] | None = None) -> None:
        object.__setattr__(self, "prior", _check_prior(prior, "BayesSuccess"))
        if gain is None:
            gain = [[int(x == g) for g in range(len(prior))] for x in range(len(prior))]
        table, labels = _action_matrix(gain, prior, actions, "BayesSuccess gain")
        object.__setattr__(self, "gain", table)
        object.__setattr__(self, "actions", labels)

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def value(self, mechanism: Mechanism) -> Interval:
        _check_domain(mechanism, self.prior.labels, "BayesSuccess")
        total = Fraction(0)
        for y in range(len(mechanism.outputs)):
            joint = [p * q for p, q in zip(self.prior.probabilities, mechanism.column(y), strict=True)]
            total += max(
                sum((self.gain[x][g] * mass for x, mass in enumerate(joint)), Fraction(0))
                for g in range(len(self.actions))
            )
        return Interval.point(total)

    def form(self, inputs: tuple[str, ...]) -> Utility:
        gain = tuple(tuple(row[g] for row in self.gain) for g in range(len(self.actions)))
        return BayesGain(self.prior.weights, gain, self.actions)

    def keys(self) -> dict[str, object]:
        k = len(self.prior)
        identity = tuple(tuple(Fraction(int(x == g)) for g in range(k)) for x in range(k))
        if self.gain == identity and self.actions == self.prior.labels:
            return {}
        keys: dict[str, object] = {"gain": [list(row) for row in self.gain]}
        if self.actions != (self.prior.labels if len(self.actions) == k else None):
            keys["actions"] = list(self.actions)
        return keys


def from_keys(kind: str, keys: Mapping[str, object], prior: Prior | None, where: str) -> Objective:
    """The objective that a problem file declares: its word, its other keys, the prior of its [input].

    Raises InputError for an unknown word or key, or where the objective needs a prior and there is none.
    """
    allowed = {
        MutualInformation.kind: {"units"},
        Trace.kind: {"weighted"},
        ExpectedLoss.kind: {"matrix", "actions"},
        ExpectedGain.kind: {"matrix", "actions"},
        BayesSuccess.kind: {"gain", "actions"},
    }
    if kind not in allowed:
        raise InputError(f"{kind!r} is no objective", where, f"use one of: {', '.join(sorted(allowed))}")
    if unknown := set(keys) - allowed[kind]:
        fits = ", ".join(sorted(allowed[kind])) or "no further key"
        raise InputError(f"unknown key {min(unknown)!r} with {kind}", where, f"{kind} takes: {fits}")
    if kind == Trace.kind:
        weighted = keys.get("weighted", False)
        if not isinstance(weighted, bool):
            raise InputError("weighted is neither true nor false", where)
        if not weighted:
            return Trace()
    if prior is None:
        raise InputError(f"{kind} needs a prior", where, "give counts or probabilities under [input]")
    if kind == Trace.kind:
        return Trace(prior)
    if kind == MutualInformation.kind:
        return MutualInformation(prior, str(keys.get("units", "nats")))
    actions = keys.get("actions")
    if actions is not None and not isinstance(actions, list):
        raise InputError("actions is no list of labels", where)
    if kind == BayesSuccess.kind:
        return BayesSuccess(prior, keys.get("gain"), actions)
    if "matrix" not in keys:
        raise InputError(f"{kind} needs the key matrix", where, "give inputs x actions, a list of lists")
    chosen = ExpectedLoss if kind == ExpectedLoss.kind else ExpectedGain
    return chosen(prior, keys["matrix"], actions)
