"""Several utilities in one problem: weighted sums of them, and upper limits; the risk of identification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, product
from typing import ClassVar, Self

import numpy as np

from rropt.exact import Interval, cleared, rational_text, unit_of
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.identification import risk_excess
from rropt.program.cones import FloatArray
from rropt.program.extras import Extra
from rropt.program.programs import (
    BayesGain,
    ChiSquare,
    ColumnSum,
    Divergence,
    Information,
    Linear,
    Program,
    Row,
    Utility,
)

MOST_ACTIONS = 256
"""Actions of several Bayes gains together, up to which they are one."""

ROOM_BITS = 140
"""The kernel's enclosures are narrower than 2^-140."""

Terms = Sequence[tuple[Fraction, Utility]]
Convex = Information | ChiSquare | BayesGain


@dataclass(frozen=True)
class Sum(Utility):
    """sum of cost * Q over `cost`, as in `Linear`, and of each weight, which is not 0, times its utility."""

    particular: ClassVar[str] = "a weighted sum"

    cost: tuple[tuple[int, int, Fraction], ...]
    parts: tuple[tuple[Fraction, Utility], ...]

    def payload(self) -> dict[str, object] | None:
        parts = []
        for weight, part in self.parts:
            if not isinstance(part, Convex):
                return None
            weights = [str(number) for number in part.weights]
            parts.append({"weight": rational_text(weight), "utility": part.payload(), "weights": weights})
        return (Linear(self.cost).payload() or {}) | {"kind": "sum", "parts": parts}

    @property
    def terms(self) -> tuple[tuple[Fraction, Utility], ...]:
        """All that is added up: the costs as a utility of weight one, then the parts."""
        return (Fraction(1), Linear(self.cost)), *self.parts

    def bending(self, sign: int) -> list[tuple[Fraction, Utility]]:
        """The parts without which the problem would be convex; `sign` is that of its sense."""
        return [(weight, part) for weight, part in self.parts if sign * weight > 0]

    def mu(self, columns: FloatArray) -> FloatArray:
        """The contribution of each column of a whole k x m matrix; all parts must be sums over columns."""
        found = (Linear(self.cost).matrix(*columns.shape) * columns).sum(axis=0)
        for weight, part in self.parts:
            assert isinstance(part, ColumnSum)
            found = found + float(weight) * part.mu(columns)
        return np.asarray(found)

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        """The slope at a whole k x m matrix; None where a part has none."""
        found = Linear(self.cost).matrix(*columns.shape)
        for weight, part in self.parts:
            assert isinstance(part, ColumnSum)
            slope = part.gradient(columns)
            if slope is None:
                return None
            found = found + float(weight) * slope
        return np.asarray(found)

    def negated(self) -> Sum:
        """Minus the same."""
        return Sum(
            tuple((x, y, -value) for x, y, value in self.cost), tuple((-weight, part) for weight, part in self.parts)
        )


def weighted(terms: Terms) -> Utility:
    """The sum of some utilities in its shortest form: linear ones are one, and so is mutual information at several
    priors (what is given says which), and Bayes gains (an action for each choice of their actions)."""
    cost: dict[tuple[int, int], Fraction] = {}
    parts: dict[Utility, Fraction] = {}
    for weight, part in terms:
        if isinstance(part, Linear):
            for x, y, value in part.cost:
                cost[x, y] = cost.get((x, y), Fraction(0)) + weight * value
        else:
            parts[part] = parts.get(part, Fraction(0)) + weight
    kept = [(weight, part) for part, weight in parts.items() if weight]
    for sign in (1, -1):
        for kind, join in ((Information, _one_information), (BayesGain, _one_gain)):
            own = [(weight, part) for weight, part in kept if isinstance(part, kind) and sign * weight > 0]
            scaled = kind is BayesGain and [weight for weight, _ in own] not in ([], [Fraction(sign)])
            joined = join(own) if len(own) > 1 or scaled else None
            if joined is not None:
                kept = [one for one in kept if one not in own] + [joined]
    terms_of_cost = tuple((x, y, value) for (x, y), value in sorted(cost.items()) if value)
    if not kept:
        return Linear(terms_of_cost)
    if not terms_of_cost and kept[0][0] == 1 and len(kept) == 1:
        return kept[0][1]
    return Sum(terms_of_cost, tuple(kept))


def _one_information(parts: Terms) -> tuple[Fraction, Utility] | None:
    """The information given which of the parts was drawn, each as often as its share of the weights."""
    columns: list[list[Fraction]] = []
    whole = sum((weight for weight, _ in parts), Fraction(0))
    for weight, part in parts:
        assert isinstance(part, Information)
        total = sum(part.weights)
        given = part.given or tuple((number,) for number in part.weights)
        columns += [
            [weight / whole * Fraction(number, total) for number in column] for column in zip(*given, strict=True)
        ]
    numbers = cleared([entry for row in zip(*columns, strict=True) for entry in row])
    width = len(columns)
    joint = tuple(tuple(numbers[x : x + width]) for x in range(0, len(numbers), width))
    return whole, Information(tuple(map(sum, joint)), joint)


def _one_gain(parts: Terms) -> tuple[Fraction, Utility] | None:
    """The gain of one action of each part; None for too many of these choices."""
    scores, names = [], []
    for weight, part in parts:
        assert isinstance(part, BayesGain)
        scores.append([[abs(weight) * value for value in row] for row in part.scores()])
        names.append(part.actions)
    if np.prod([float(len(own)) for own in scores]) > MOST_ACTIONS:
        return None
    k = len(scores[0][0])
    gain = tuple(
        tuple(k * sum((row[x] for row in choice), Fraction(0)) for x in range(k)) for choice in product(*scores)
    )
    actions = tuple(" and ".join(choice) for choice in product(*names))
    return Fraction(1 if parts[0][0] > 0 else -1), BayesGain((1,) * k, gain, actions)


def single_convex_term(program: Program) -> tuple[Fraction, Convex] | None:
    """(|weight|, utility) of the only convex part, where that is maximised and nothing else is but linear costs."""
    utility = program.utility
    if isinstance(utility, Convex):
        return (Fraction(1), utility) if program.sense == "maximize" else None
    if not isinstance(utility, Sum) or len(utility.parts) > 1:
        return None
    ((weight, part),) = utility.parts
    return (abs(weight), part) if isinstance(part, Convex) and program.sign * weight > 0 else None


@dataclass(frozen=True)
class Limit:
    """sum_y mu(q_y) <= at_most, mu being that of `utility`, in its own unit. `value` encloses it at an exact
    mechanism."""

    utility: Divergence | BayesGain
    at_most: Fraction
    value: Callable[[Mechanism], Interval] = field(compare=False, repr=False)

    def scaled(self) -> Limit:
        """The same limit, with gains of ordinary size."""
        utility, value = self.utility, self.value
        if not isinstance(utility, BayesGain) or (unit := unit_of(chain(*utility.gain))) == 1:
            return self
        gain = tuple(tuple(entry / unit for entry in row) for row in utility.gain)
        return Limit(replace(utility, gain=gain), self.at_most / unit, lambda mechanism: value(mechanism).over(unit))

    def payload(self) -> dict[str, object]:
        weights = [str(weight) for weight in self.utility.weights]
        return {"utility": self.utility.payload(), "weights": weights, "at_most": rational_text(self.at_most)}


@dataclass(frozen=True)
class Limits(Extra):
    """All upper limits of a problem on mutual information and Bayes gains, each at a prior of its own."""

    name: ClassVar[str] = "limits on mutual information"
    merges: ClassVar[bool] = True

    limits: tuple[Limit, ...]

    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much the worst one is exceeded, at most; <= 0 only where enclosures prove all, as the kernel makes
        them: it rounds the chi-square information of each output up."""
        above = Fraction(len(mechanism.outputs), 1 << ROOM_BITS)
        ends = [
            limit.value(mechanism).upper - limit.at_most + above * isinstance(limit.utility, ChiSquare)
            for limit in self.limits
        ]
        return max(ends)

    def payload(self) -> dict[str, object]:
        return {"limits": [limit.payload() for limit in self.limits]}

    @classmethod
    def joined(cls, found: Sequence[Self]) -> Self:
        """All of them, in numbers of ordinary size."""
        return cls(tuple(limit.scaled() for one in found for limit in one.limits))


def is_stated(program: Program) -> bool:
    """Whether the certificate format has the utility of a program and those that are limited."""
    limits = program.extra(Limits)
    utilities = [program.utility, *(limit.utility for limit in (() if limits is None else limits.limits))]
    return all(utility.payload() is not None for utility in utilities)


@dataclass(frozen=True)
class Capacity(Utility):
    """The largest mutual information over all priors, in nats: convex, minimised only."""

    particular: ClassVar[str] = "the capacity of a channel"

    def payload(self) -> dict[str, object] | None:
        return {"kind": "capacity"}


class Notion(ABC):
    """A convex constraint that no finite number of rows says, and that rows enclose from outside. Mechanisms whose
    rows are alike have slack in it."""

    @property
    @abstractmethod
    def most_informed(self) -> Fraction:
        """An upper bound of the mutual information at any prior, in nats."""

    @abstractmethod
    def excess(self, mechanism: Mechanism) -> Fraction:
        """By how much an exact mechanism exceeds it, rounded up; <= 0 only where it holds."""

    @abstractmethod
    def missed(self, matrix: FloatArray) -> float:
        """By how much a k x m float matrix exceeds it."""

    @abstractmethod
    def rows(self, matrix: FloatArray) -> tuple[Row, ...]:
        """Rows that every mechanism keeps that keeps it, and that a k x m matrix breaks where it exceeds it."""

    def touching(self, matrix: FloatArray) -> tuple[Row, ...]:
        """Rows that every mechanism keeps that keeps it, and that a k x m matrix on its boundary meets. Where entries
        of the matrix are nearly zero their ratios say which of many such rows these are."""
        return ()

    @property
    def is_stated(self) -> bool:
        """Whether the certificate format states it, with rows that are tangents (`Tangent`)."""
        return False

    def orders(self, mechanism: Mechanism) -> tuple[Fraction, ...]:
        """For a limit of all orders: those at which a checker verifies it at an exact mechanism."""
        return ()

    @abstractmethod
    def payload(self) -> dict[str, str]:
        """The key by which two such constraints differ; an entry of `divergences` where `is_stated`."""


@dataclass(frozen=True)
class Tangent(Row):
    """sum_y s_y Q[x, y] - b_y Q[z, y] <= rhs for (s_y, b_y) of `forms`, which a limit of a divergence of an order
    implies (`notion`, and docs/certificate-format.md, "Steps")."""

    notion: Notion
    order: Fraction
    pair: tuple[int, int]
    forms: tuple[tuple[Fraction, Fraction], ...]


class CapacityLimit(Notion):
    """One that bounds the information at every prior; the limit at the worst of them may stand for it."""

    at_most: Fraction

    @abstractmethod
    def limit(self, weights: tuple[int, ...]) -> Limit:
        """The bound on the information at one prior."""


@dataclass(frozen=True)
class DivergenceLimits(Extra):
    """All constraints of that kind."""

    name: ClassVar[str] = "a divergence or a capacity"
    merges: ClassVar[bool] = True

    notions: tuple[Notion, ...]

    @property
    def capacities(self) -> dict[int, CapacityLimit]:
        """The limits of capacities among them, by their places."""
        return {place: one for place, one in enumerate(self.notions) if isinstance(one, CapacityLimit)}

    def excess(self, mechanism: Mechanism) -> Fraction:
        return max(one.excess(mechanism) for one in self.notions)

    def missed(self, matrix: FloatArray) -> float:
        """By how much a k x m float matrix exceeds the worst one."""
        return max(one.missed(matrix) for one in self.notions)

    def rows(self, matrix: FloatArray) -> tuple[Row, ...]:
        """Those of all of them."""
        return tuple(row for one in self.notions for row in one.rows(matrix))

    def touching(self, matrix: FloatArray) -> tuple[Row, ...]:
        """Those of all of them."""
        return tuple(row for one in self.notions for row in one.touching(matrix))

    @property
    def is_stated(self) -> bool:
        """Whether the certificate format states all of them."""
        return all(one.is_stated for one in self.notions)

    def payload(self) -> dict[str, object]:
        return {"divergences" if self.is_stated else "notions": [one.payload() for one in self.notions]}

    def orders(self, mechanism: Mechanism) -> tuple[Fraction, ...]:
        """The orders of all of them."""
        return tuple(sorted({order for one in self.notions for order in one.orders(mechanism)}))

    @classmethod
    def joined(cls, found: Sequence[Self]) -> Self:
        """All of them."""
        return cls(tuple(dict.fromkeys(one for extra in found for one in extra.notions)))


def has_capacity(program: Program) -> bool:
    """Whether a capacity is minimised or limited."""
    notions = program.extra(DivergenceLimits)
    return isinstance(program.utility, Capacity) or (notions is not None and bool(notions.capacities))


@dataclass(frozen=True)
class PosteriorRisk(Extra):
    """R_c(a) <= at_most for all a >= 1 and every c of `categories`, at the frequencies `counts` (k integers; see
    `model.identification`). With `blocks`, a partition of the inputs, the mechanism is one of inverse-frequency
    blocks besides."""

    name: ClassVar[str] = "identification risk"

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
