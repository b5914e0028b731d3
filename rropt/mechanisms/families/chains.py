"""A square mechanism as a Markov chain: ergodicity, stationary distribution, and whether it can be inverted."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpq, fmpq_mat

from rropt.errors import InputError, OutOfRange, WrongType
from rropt.exact import Interval, rational
from rropt.io.arguments import checked
from rropt.io.extras import need
from rropt.io.types import Number
from rropt.mechanisms.entropy import entropy_terms, log_sum
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import never_negative

if TYPE_CHECKING:
    import networkx as nx

WORST_CONDITION = 1e4
"""Above this estimates of frequencies have errors thousands of times those of the data: a warning states it."""
EXACT_SIZE = 60
"""Larger matrices have their condition number in floats."""


def is_ergodic(mechanism: Mechanism) -> bool:
    """Whether the chain is ergodic, that is irreducible and aperiodic, by the places of its zeros.

    Raises InputError for a mechanism that is not square. Source: ruiz 3.1.
    """
    nx = need("networkx")

    graph = _graph(mechanism)
    return bool(nx.is_strongly_connected(graph) and nx.is_aperiodic(graph))


def ergodic_repair(mechanism: Mechanism, weight: Number = Fraction(1, 1 << 40)) -> Mechanism:
    """(1 - weight) Q + weight U, U uniform: every entry is at least weight / k, and rows and columns keep their sums.

    So a bistochastic matrix stays one exactly, where the infinitesimal entries of the published repair make sums above
    one, which no mechanism has. `weight` is in (0, 1]. Raises InputError. Source: ruiz section 4.
    """
    _graph(mechanism)
    share = rational(weight, "weight of the repair")
    if not 0 < share <= 1:
        raise OutOfRange(f"{weight} is out of range", "weight of the repair", "give a number in (0, 1], as 1e-9")
    size = len(mechanism.inputs)
    rows = [[(1 - share) * mechanism.entry(x, y) + share / size for y in range(size)] for x in range(size)]
    return Mechanism.from_rationals(rows, inputs=mechanism.inputs, outputs=mechanism.outputs)


def stationary(mechanism: Mechanism) -> tuple[Fraction, ...]:
    """The distribution that the mechanism does not change, exact; uniform for an irreducible bistochastic one.

    Raises InputError where there are several (more than one closed set of inputs), or the mechanism is not
    square.
    """
    nx = need("networkx")

    graph = _graph(mechanism)
    closed = [
        part for part in nx.strongly_connected_components(graph) if all(end in part for x in part for end in graph[x])
    ]
    if len(closed) > 1:
        some = ", ".join(mechanism.inputs[min(part)] for part in sorted(closed, key=min)[:4])
        raise InputError(
            f"it has {len(closed)} stationary distributions, one around each of {some}",
            "stationary distribution",
            "repair the mechanism with ergodic_repair",
        )
    places = sorted(closed[0])
    size = len(places)
    # p (Q - I) = 0 with the last equation replaced by sum p = 1.
    rows = [[_fmpq(mechanism.entry(places[y], places[x]) - (x == y)) for y in range(size)] for x in range(size - 1)]
    rows.append([fmpq(1)] * size)
    found = fmpq_mat(rows).solve(fmpq_mat([[fmpq(0)]] * (size - 1) + [[fmpq(1)]]))
    result = [Fraction(0)] * len(mechanism.inputs)
    for number, x in enumerate(places):
        result[x] = _fraction(found[number, 0])
    return tuple(result)


def entropy_rate(mechanism: Mechanism) -> Interval:
    """The entropy rate of the chain in nats, enclosed: the entropies of its rows, weighed by `stationary`.

    Raises InputError as that does. Source: ruiz eq. 4.
    """
    weights = stationary(mechanism)
    scale = int(np.lcm.reduce([weight.denominator for weight in weights], dtype=object))
    shares = [int(weight * scale) for weight in weights]
    terms = {number: value / scale for number, value in entropy_terms(mechanism, shares).items()}
    return never_negative(log_sum(terms))


@dataclass(frozen=True)
class Inversion:
    """Whether frequencies can be recovered through a square mechanism.

    `rank` is exact; `condition` the condition number in the maximum norm of rows (largest sum of a row of Q, which is
    one, times that of its inverse), infinite where Q is singular; `dominant` whether every diagonal entry exceeds one
    half, which alone proves a bistochastic matrix regular (ruiz Proposition 3; the converse is false).
    """

    size: int
    rank: int
    condition: float
    dominant: bool

    @property
    def singular(self) -> bool:
        """Whether there is no inverse."""
        return self.rank < self.size

    @property
    def warning(self) -> str | None:
        """A warning for users of such a mechanism, or None."""
        if self.singular:
            return (
                f"this mechanism cannot be inverted: rank {self.rank} of {self.size}; no estimator recovers the "
                "frequencies"
            )
        if self.condition > WORST_CONDITION:
            return (
                f"this mechanism is nearly singular (condition number {self.condition:.1e}): errors of recovered "
                "frequencies are as many times those of the reports"
            )
        return None


@checked
def inversion(mechanism: AnyMechanism) -> Inversion:
    """The conditioning of a square mechanism; exact up to 60 categories but for the last rounding.

    Raises InputError for a mechanism that is not square.
    """
    mechanism = explicit(mechanism, "mechanism")
    _graph(mechanism)
    size, rank = len(mechanism.inputs), mechanism.rank
    dominant = all(2 * mechanism.entry(x, x) > 1 for x in range(size))
    if rank < size:
        return Inversion(size, rank, float("inf"), dominant)
    if size > EXACT_SIZE:
        return Inversion(size, rank, float(np.abs(np.linalg.inv(mechanism.matrix)).sum(axis=1).max()), dominant)
    inverse = fmpq_mat([[_fmpq(mechanism.entry(x, y)) for y in range(size)] for x in range(size)]).inv()
    largest = max(sum((abs(_fraction(inverse[x, y])) for y in range(size)), Fraction(0)) for x in range(size))
    return Inversion(size, rank, float(largest), dominant)


def _graph(mechanism: Mechanism) -> nx.DiGraph:
    """The transitions with a positive probability. Raises InputError for a mechanism that is not square."""
    nx = need("networkx")

    if mechanism.outputs != mechanism.inputs:
        raise WrongType("its outputs are not its inputs", "Markov chain", "give a square mechanism")
    graph = nx.DiGraph()
    size = range(len(mechanism.inputs))
    graph.add_nodes_from(size)
    graph.add_edges_from((x, y) for y in size for x in size if mechanism.numerators[y][x])
    return graph


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
