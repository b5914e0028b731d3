"""Divergences between the outputs of any two inputs, and capacities, as constraints with enclosures by limits."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from rropt.declare.constraint import Constraint
from rropt.declare.objectives.leakage import ChannelCapacity
from rropt.errors import OutOfRange
from rropt.exact import Interval, ball, declared_text, dyadic_up, enclosure, rational, rational_text
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.columns import exact_rows
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import (
    capacity_prior,
    concentrated_end,
    concentrated_excess,
    power_sum,
    power_sums,
    tangent,
)
from rropt.model.prior import Prior
from rropt.program.cones import FloatArray
from rropt.program.extras import Extra
from rropt.program.limits import CapacityLimit, DivergenceLimits, Limit, Notion, Tangent
from rropt.program.programs import Information, Row

BITS = 60
"""Numbers of a row are multiples of 2^-60."""
WEAKER = 1 + Fraction(1, 1 << 50)
"""A row is weaker than the constraint by this factor, for the enclosures of other programs."""
LARGEST = 20
"""The largest number of nats that a certificate states."""
BROKEN = 1e-12
"""Excesses in floats above this get rows."""
MOST = 200
"""Pairs that get a row of one matrix at most."""
FEW, UNSURE = 20, 0.01
"""Pairs that decide by how much a matrix exceeds the constraint, and by how much its table may rank them falsely."""
SLACK = 1e-3
"""Pairs with less slack than this have tangents at an optimum."""
TINY = 1e-14
"""Entries are at least this where tangents are taken at a matrix."""
REFINED = 4
"""Refinements of the orders around the worst one."""
HALVINGS = 40
"""Halvings in search of a point or of an order."""
HIGHEST = 64
"""The highest order of a divergence."""
ORDERS = 1 + np.geomspace(2.0**-10, HIGHEST - 1, 40)
"""Orders at which the worst one is sought in floats, before it is refined."""
Pair = tuple[int, int]


class PairNotion(Notion):
    """A Renyi divergence of some orders of every two rows is bounded."""

    @abstractmethod
    def row_excess(self, one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        """By how much one row exceeds the bound against another one, rounded up."""

    @abstractmethod
    def table(self, matrix: FloatArray) -> FloatArray:
        """k x k floats: by how much each row exceeds the bound against each other one, at the worst order."""

    def pair(self, rows: FloatArray) -> float:
        """By how much the first of two rows (2 x m) exceeds the bound against the second, in floats."""
        return float(self.table(rows)[0, 1])

    @abstractmethod
    def order_at(self, rows: FloatArray) -> Fraction:
        """The order at which the first of two rows (2 x m) is worst against the second."""

    @property
    @abstractmethod
    def first_orders(self) -> tuple[Fraction, ...]:
        """The order, or some at which to begin where all are bounded."""

    def worst_order(self, matrix: FloatArray) -> Fraction:
        """The order of the pair that is worst at a k x m matrix."""
        return self.order_at(matrix[[*self._worst(matrix)[0]]])

    @abstractmethod
    def height(self, order: Fraction) -> Fraction:
        """The upper limit of the divergence of an order, in nats."""

    @abstractmethod
    def most(self, order: Fraction) -> Fraction:
        """The upper limit of the sum of Q[x, y]^order Q[z, y]^(1 - order), rounded up."""

    def excess(self, mechanism: Mechanism) -> Fraction:
        """The excess of the pair that is worst in floats if it is positive, else the largest excess of all pairs."""
        rows = exact_rows(mechanism)
        table, worst, seen = self.table(mechanism.matrix), Fraction(-1), set()
        for at in np.argsort(-table, axis=None, kind="stable").tolist():
            one, other = rows[at // len(rows)], rows[at % len(rows)]
            if one != other and (one, other) not in seen:
                seen.add((one, other))
                worst = max(worst, self.row_excess(one, other))
                if worst > 0:
                    break
        return worst

    def missed(self, matrix: FloatArray) -> float:
        return max(self.pair(matrix[[x, z]]) for x, z in self._worst(matrix)[:FEW])

    def rows(self, matrix: FloatArray) -> tuple[Row, ...]:
        """A tangent for each of the pairs that are worst, where they enter the constraint on the way to rows that are
        alike: there it touches."""
        worst = self._worst(matrix)[:MOST]
        return tuple(self._tangent(matrix, x, z) for x, z in worst if self.pair(matrix[[x, z]]) > BROKEN)

    def _worst(self, matrix: FloatArray) -> list[Pair]:
        """The pairs of different rows, the worst first, as far as the table says."""
        table, size = self.table(matrix), len(matrix)
        order = np.argsort(-table, axis=None, kind="stable").tolist()
        near = min(float(table.max()), 0.0) - UNSURE
        return [(at // size, at % size) for at in order if at // size != at % size and table.flat[at] >= near]

    def touching(self, matrix: FloatArray) -> tuple[Row, ...]:
        worst = [(x, z) for x, z in self._worst(matrix) if self.pair(matrix[[x, z]]) > -SLACK]
        return tuple(self._tangent_at(np.maximum(matrix[[x, z]], TINY), x, z) for x, z in worst)

    def _tangent(self, matrix: FloatArray, x: int, z: int) -> Tangent:
        width = matrix.shape[1]
        rows = np.maximum(matrix[[x, z]], 0.0)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            share = (low + high) / 2
            kept = self.pair((1 - share) / width + share * rows) <= 0
            low, high = (share, high) if kept else (low, share)
        return self._tangent_at((1 - low) / width + low * rows, x, z)

    def _tangent_at(self, edge: FloatArray, x: int, z: int) -> Tangent:
        """The tangent for rows x and z that are positive (2 x m)."""
        order = self.order_at(edge)
        forms = [tangent(one / other, order) for one, other in edge.T.tolist()]
        # Powers of high orders are large: the row is divided by a power of two, its largest coefficient about.
        most = max(1, *(int(number) for form in forms for number in form))
        scale = Fraction(1, 1 << most.bit_length())
        scaled = tuple((s * scale, b * scale) for s, b in forms)
        terms = [(x, y, s) for y, (s, _) in enumerate(scaled) if s]
        terms += [(z, y, -b) for y, (_, b) in enumerate(scaled) if b]
        at_most, name = WEAKER * self.most(order) * scale, f"divergence of {x} from {z}"
        return Tangent(name, "<=", at_most, tuple(sorted(terms)), self, order, (x, z), scaled)


@dataclass(frozen=True)
class RenyiNotion(PairNotion):
    """D_order(Q_x || Q_z) <= epsilon for all x, z."""

    order: Fraction
    epsilon: Fraction

    @property
    def most_informed(self) -> Fraction:
        return self.epsilon

    @property
    def is_stated(self) -> bool:
        return self.epsilon <= LARGEST

    def payload(self) -> dict[str, str]:
        return {"kind": "renyi", "order": rational_text(self.order), "epsilon": rational_text(self.epsilon)}

    def row_excess(self, one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        found = power_sum(one, other, self.order)
        return Fraction(1) if found is None else found.upper - self._bound.lower

    def table(self, matrix: FloatArray) -> FloatArray:
        return np.asarray(np.minimum(power_sums(matrix, float(self.order)), 1e9) - float(self._bound))

    def order_at(self, rows: FloatArray) -> Fraction:
        return self.order

    @property
    def first_orders(self) -> tuple[Fraction, ...]:
        return (self.order,)

    def height(self, order: Fraction) -> Fraction:
        return self.epsilon

    def most(self, order: Fraction) -> Fraction:
        return dyadic_up(self._bound.upper, BITS)

    @cached_property
    def _bound(self) -> Interval:
        return enclosure(lambda: ball((self.order - 1) * self.epsilon).exp())


@dataclass(frozen=True)
class ConcentratedNotion(PairNotion):
    """D_a(Q_x || Q_z) <= rho a for all x, z and all a > 1."""

    rho: Fraction

    @property
    def most_informed(self) -> Fraction:
        return self.rho

    @property
    def is_stated(self) -> bool:
        return self.rho <= LARGEST

    def orders(self, mechanism: Mechanism) -> tuple[Fraction, ...]:
        rows = sorted(set(exact_rows(mechanism)))
        # The same end for all pairs: then the halvings of their intervals meet the same orders.
        end = concentrated_end(rows, self.rho)
        found = [concentrated_excess(one, other, self.rho, end)[1] for one in rows for other in rows]
        return tuple(sorted(set().union(*found)))

    def payload(self) -> dict[str, str]:
        return {"kind": "zero_concentrated", "rho": rational_text(self.rho)}

    def row_excess(self, one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
        return concentrated_excess(one, other, self.rho)[0]

    def table(self, matrix: FloatArray) -> FloatArray:
        return np.asarray(np.max([self._at(matrix, order) for order in ORDERS.tolist()], axis=0))

    def pair(self, rows: FloatArray) -> float:
        return float(self._of_orders(rows, np.array([float(self.order_at(rows))]))[0])

    def order_at(self, rows: FloatArray) -> Fraction:
        orders = ORDERS
        for _ in range(REFINED):
            at = int(self._of_orders(rows, orders).argmax())
            orders = np.linspace(orders[max(at - 1, 0)], orders[min(at + 1, len(orders) - 1)], len(ORDERS))
        return Fraction(round(float(orders[self._of_orders(rows, orders).argmax()]) * 2**30), 2**30)

    def _of_orders(self, rows: FloatArray, orders: FloatArray) -> FloatArray:
        """For each order the divergence of the first of two rows (2 x m) from the second, less rho times the order."""
        one, other = np.maximum(rows, 1e-300)
        logs = np.clip((orders[:, None] - 1) * np.log(one / other)[None, :], -600.0, 600.0)
        return np.asarray(np.log((one * np.exp(logs)).sum(axis=1)) / (orders - 1) - float(self.rho) * orders)

    @property
    def first_orders(self) -> tuple[Fraction, ...]:
        return (Fraction(2),)

    def height(self, order: Fraction) -> Fraction:
        return self.rho * order

    def most(self, order: Fraction) -> Fraction:
        return dyadic_up(enclosure(lambda: ball(self.rho * order * (order - 1)).exp()).upper, BITS)

    def _at(self, matrix: FloatArray, order: float) -> FloatArray:
        """k x k floats: the divergence of an order, less rho times the order."""
        logs = np.log(np.clip(power_sums(matrix, order), 1e-300, 1e300)) / (order - 1)
        return np.asarray(logs - float(self.rho) * order)


@dataclass(frozen=True)
class CapacityNotion(CapacityLimit):
    """The capacity is at most a number of nats."""

    at_most: Fraction

    @property
    def most_informed(self) -> Fraction:
        return self.at_most

    @property
    def is_stated(self) -> bool:
        return self.at_most <= LARGEST

    def payload(self) -> dict[str, str]:
        return {"kind": "capacity", "at_most": rational_text(self.at_most)}

    def excess(self, mechanism: Mechanism) -> Fraction:
        return ChannelCapacity().value(mechanism).upper - self.at_most

    def missed(self, matrix: FloatArray) -> float:
        return capacity_prior(matrix)[1] - float(self.at_most)

    def rows(self, matrix: FloatArray) -> tuple[Row, ...]:
        """None: the information at one prior stands for it."""
        return ()

    def limit(self, weights: tuple[int, ...]) -> Limit:
        """The information at this prior is at most the number."""

        def value(mechanism: Mechanism) -> Interval:
            return mechanism.mutual_information(Prior(mechanism.inputs, weights))

        return Limit(Information(weights), self.at_most, value)


@checked
@dataclass(frozen=True, init=False)
class RenyiLDP(Constraint):
    """D_order(Q_x || Q_z) <= epsilon for all inputs x, z: the Renyi divergence of order > 1,
    log(sum_y Q[x, y]^order Q[z, y]^(1 - order)) / (order - 1), in nats.

    A mechanism is verified against it in enclosures. Bounds are of problems with rows in its place, which every such
    mechanism keeps: tangents of the power, as many as a bound needs. That takes fixed outputs.
    Source: Mironov 2017, Renyi Differential Privacy, Definition 4. Raises InputError.

        >>> import rropt as rr
        >>> rule = rr.privacy.RenyiLDP(2, "0.5")
        >>> rule.violation(rr.RandomizedResponse(2, "0.5").to_mechanism()) <= 0
        True
    """

    kind: ClassVar[str] = "renyi_ldp"

    order: Fraction
    epsilon: Fraction

    def __init__(self, order: Number, epsilon: Number) -> None:
        object.__setattr__(self, "order", rational(order, "RenyiLDP order"))
        object.__setattr__(self, "epsilon", rational(epsilon, "RenyiLDP epsilon"))
        if not 1 < self.order <= HIGHEST:
            raise OutOfRange(f"it is {order}", "RenyiLDP order", f"give one above 1 and at most {HIGHEST}")
        if not 0 < self.epsilon * (self.order - 1) <= HIGHEST:
            raise OutOfRange(f"it is {epsilon}", "RenyiLDP epsilon", "give one above 0, in nats; less for large orders")

    def violation(self, mechanism: Mechanism) -> Fraction:
        return RenyiNotion(self.order, self.epsilon).excess(mechanism)

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        return (DivergenceLimits((RenyiNotion(self.order, self.epsilon),)),)

    def keys(self) -> dict[str, object]:
        return {"order": self.order, "epsilon": self.epsilon}

    def describe(self) -> str:
        return f"Renyi LDP of order {declared_text(self.order)} at epsilon {declared_text(self.epsilon)}"


@checked
@dataclass(frozen=True, init=False)
class ZeroConcentratedLDP(Constraint):
    """D_a(Q_x || Q_z) <= rho a for all inputs x, z and all orders a > 1: zero-concentrated privacy at `rho` > 0.

    A mechanism is verified against it in enclosures, for all orders at once. Bounds are of problems with rows in its
    place, as for `RenyiLDP`. Source: Bun and Steinke 2016, Concentrated Differential Privacy, Definition 1.1. Raises
    InputError.

        >>> import rropt as rr
        >>> rule = rr.privacy.ZeroConcentratedLDP("0.5")
        >>> rule.violation(rr.RandomizedResponse(2, 1).to_mechanism()) <= 0
        True
    """

    kind: ClassVar[str] = "zero_concentrated_ldp"

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", rational(rho, "ZeroConcentratedLDP rho"))
        if not 0 < self.rho <= 10:
            raise OutOfRange(f"it is {rho}", "ZeroConcentratedLDP rho", "give one above 0 and at most 10")

    def violation(self, mechanism: Mechanism) -> Fraction:
        return ConcentratedNotion(self.rho).excess(mechanism)

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        return (DivergenceLimits((ConcentratedNotion(self.rho),)),)

    def keys(self) -> dict[str, object]:
        return {"rho": self.rho}

    def describe(self) -> str:
        return f"zero-concentrated LDP at rho {declared_text(self.rho)}"
