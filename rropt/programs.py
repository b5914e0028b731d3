"""The closed vocabulary between what is declared and how it is solved.

A mechanism is a bag of columns q_y >= 0 with sum_y q_y = 1. A `Program` says what every column must satisfy
by itself (a cone), what ties the columns together (coupling rows), and what is wanted (a utility).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse

from rropt.criteria import Level
from rropt.exact import rational_text
from rropt.mechanisms.mechanism import Mechanism

Sense = Literal["maximize", "minimize"]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]

# -- cones ---------------------------------------------------------------------------------------------


class Cone(ABC):
    """What each column must satisfy by itself, besides being non-negative."""

    @abstractmethod
    def excess(self, column: Sequence[Fraction]) -> Fraction:
        """By how much an exact column misses the cone at the proved (lower) ratio; <= 0 inside."""

    @abstractmethod
    def payload(self) -> dict[str, object]:
        """The `cone` object of the certificate format (section 4)."""


@dataclass(frozen=True)
class FreeCone(Cone):
    """Every non-negative column."""

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        return Fraction(0)

    def payload(self) -> dict[str, object]:
        return {"kind": "free"}


@dataclass(frozen=True)
class CompleteCone(Cone):
    """v_x <= gamma v_z for all x, z: local differential privacy."""

    level: Level

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        return max(column) - self.level.ratio.lower * min(column)

    def payload(self) -> dict[str, object]:
        if self.level.epsilon is not None:
            return {"kind": "complete", "epsilon": rational_text(self.level.epsilon)}
        assert self.level.gamma is not None
        return {"kind": "complete", "gamma": rational_text(self.level.gamma)}


@dataclass(frozen=True)
class PolyhedralCone(Cone):
    """v in `base` and row . v <= 0 for every one of `rows` (each of k rationals)."""

    base: FreeCone | CompleteCone
    rows: tuple[tuple[Fraction, ...], ...]

    def excess(self, column: Sequence[Fraction]) -> Fraction:
        own = (sum((a * v for a, v in zip(row, column, strict=True) if a), Fraction(0)) for row in self.rows)
        return max(self.base.excess(column), *own)

    def payload(self) -> dict[str, object]:
        return {
            "kind": "polyhedral",
            "base": self.base.payload(),
            "rows": [[rational_text(entry) for entry in row] for row in self.rows],
        }

    @cached_property
    def matrix(self) -> FloatArray:
        """The rows as floats."""
        return np.array([[float(entry) for entry in row] for row in self.rows])


def base_cone(cone: Cone) -> FreeCone | CompleteCone:
    """The ratio cone under further rows, or the cone itself."""
    if isinstance(cone, PolyhedralCone):
        return cone.base
    assert isinstance(cone, (FreeCone, CompleteCone))
    return cone


def cone_rows(cone: Cone) -> tuple[tuple[Fraction, ...], ...]:
    """The further rows of a polyhedral cone; none for the others."""
    return cone.rows if isinstance(cone, PolyhedralCone) else ()


# -- coupling rows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """sum of value * Q[x, y] over `terms` is <= or = `rhs`; terms are (x, y, value), sorted by (x, y)."""

    name: str
    sense: Literal["<=", "="]
    rhs: Fraction
    terms: tuple[tuple[int, int, Fraction], ...]

    def excess(self, mechanism: Mechanism) -> Fraction:
        """How much the row is violated by an exact mechanism; <= 0 when it holds."""
        total = sum((value * mechanism.entry(x, y) for x, y, value in self.terms), Fraction(0)) - self.rhs
        return abs(total) if self.sense == "=" else total

    def payload(self) -> dict[str, object]:
        return {
            "name": self.name,
            "sense": self.sense,
            "rhs": rational_text(self.rhs),
            "terms": [[x, y, rational_text(value)] for x, y, value in self.terms],
        }


# -- utilities -----------------------------------------------------------------------------------------


class Utility(ABC):
    """What is wanted of the matrix."""

    @abstractmethod
    def payload(self) -> dict[str, object] | None:
        """The `utility` object of the certificate format, or None where it knows no such utility."""


@dataclass(frozen=True)
class Linear(Utility):
    """sum of cost * Q over `cost`, triples (x, y, value) sorted by (x, y)."""

    cost: tuple[tuple[int, int, Fraction], ...]

    def payload(self) -> dict[str, object] | None:
        return {"kind": "linear", "cost": [[x, y, rational_text(value)] for x, y, value in self.cost]}

    def matrix(self, inputs: int, outputs: int) -> FloatArray:
        """The costs as an inputs x outputs float array."""
        table = np.zeros((inputs, outputs))
        for x, y, value in self.cost:
            table[x, y] = float(value)
        return table


class ColumnSum(Utility):
    """sum_y mu(q_y) with mu convex and positively homogeneous: columns are exchangeable."""

    @abstractmethod
    def mu(self, columns: FloatArray) -> FloatArray:
        """mu of each column of a k x n array, as n floats."""


@dataclass(frozen=True)
class Information(ColumnSum):
    """Mutual information in nats at the prior `weights` / sum: mu(q) = sum_x p_x q_x log q_x - w log w, w = p.q."""

    weights: tuple[int, ...]

    def payload(self) -> dict[str, object] | None:
        return {"kind": "mutual_information"}

    def mu(self, columns: FloatArray) -> FloatArray:
        total = sum(self.weights)
        p = np.array([weight / total for weight in self.weights])
        return np.asarray(p @ _xlogx(columns) - _xlogx(p @ columns))


@dataclass(frozen=True)
class BayesGain(ColumnSum):
    """sum over outputs of max over actions g of sum_x p_x gain[g][x] q_x, p = weights / sum."""

    weights: tuple[int, ...]
    gain: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...]

    def payload(self) -> dict[str, object] | None:
        return {"kind": "bayes", "gain": [[rational_text(entry) for entry in row] for row in self.gain]}

    def scores(self) -> tuple[tuple[Fraction, ...], ...]:
        """p_x gain[g][x], one list an action."""
        total = sum(self.weights)
        return tuple(
            tuple(Fraction(weight, total) * entry for weight, entry in zip(self.weights, row, strict=True))
            for row in self.gain
        )

    def mu(self, columns: FloatArray) -> FloatArray:
        table = np.array([[float(entry) for entry in row] for row in self.scores()])
        return np.asarray((table @ columns).max(axis=0))


@dataclass(frozen=True)
class UserColumnSum(ColumnSum):
    """A convex, positively homogeneous function of the user's own: solved, never machine-checked.

    `function` maps a k x n float array to n floats.
    """

    function: Any

    def payload(self) -> dict[str, object] | None:
        return None

    def mu(self, columns: FloatArray) -> FloatArray:
        return np.asarray(self.function(columns), dtype=np.float64)


def _xlogx(values: FloatArray) -> FloatArray:
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


# -- the program ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """One optimisation problem in the closed vocabulary.

    `outputs` is None where the number of columns is free. `weights` are the integer proportions of the prior
    (all ones where no objective needs one).
    """

    sense: Sense
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | None
    weights: tuple[int, ...]
    utility: Utility
    cone: Cone
    rows: tuple[Row, ...] = ()

    @property
    def size(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @property
    def prior(self) -> tuple[Fraction, ...]:
        """The k exact prior probabilities."""
        total = sum(self.weights)
        return tuple(Fraction(weight, total) for weight in self.weights)

    @property
    def sign(self) -> int:
        """+1 to maximise, -1 to minimise."""
        return 1 if self.sense == "maximize" else -1

    @cached_property
    def empty_cells(self) -> frozenset[tuple[int, int]]:
        """Cells that the rows force to zero (a sum of non-negative cells that is at most zero). Under a
        ratio cone such a cell empties its whole column."""
        cells: set[tuple[int, int]] = set()
        for row in self.rows:
            if row.rhs == 0 and row.terms and all(value > 0 for _, _, value in row.terms):
                cells.update((x, y) for x, y, _ in row.terms)
        if isinstance(base_cone(self.cone), CompleteCone):
            emptied = {y for _, y in cells}
            cells = {(x, y) for y in emptied for x in range(self.size)}
        return frozenset(cells)

    def linearised(self) -> Program:
        """The same optimum as a linear programme over one output an action, where a Bayes gain is maximised
        (outputs that share a best action can be merged without loss); otherwise the program itself."""
        if not isinstance(self.utility, BayesGain) or self.rows or self.sense == "minimize":
            return self
        cost = tuple(
            (x, g, value) for x in range(self.size) for g, row in enumerate(self.utility.scores()) if (value := row[x])
        )
        return replace(self, outputs=self.utility.actions, utility=Linear(cost))

    def excess(self, mechanism: Mechanism) -> dict[str, Fraction]:
        """By how much an exact mechanism violates what must hold, by name; empty when everything holds."""
        found: dict[str, Fraction] = {}
        # A ratio cone looks at the extremes of a column only.
        columns = mechanism.extremes if isinstance(self.cone, CompleteCone) else mechanism.column
        worst = max(self.cone.excess(columns(y)) for y in range(len(mechanism.outputs)))
        if worst > 0:
            found["cone"] = worst
        for row in self.rows:
            if (miss := row.excess(mechanism)) > 0:
                found[row.name] = miss
        return found

    def row_matrix(self, outputs: int) -> sparse.csr_matrix:
        """The coupling rows over the k * outputs entries of Q in row-major order, as floats."""
        data, indices, starts = [], [], [0]
        for row in self.rows:
            for x, y, value in row.terms:
                indices.append(x * outputs + y)
                data.append(float(value))
            starts.append(len(data))
        return sparse.csr_matrix((data, indices, starts), shape=(len(self.rows), self.size * outputs), dtype=np.float64)

    def payload(self) -> dict[str, object]:
        """The `problem` object of the certificate format (section 4)."""
        return {
            "sense": self.sense,
            "inputs": list(self.inputs),
            "outputs": None if self.outputs is None else list(self.outputs),
            "weights": [str(weight) for weight in self.weights],
            "utility": self.utility.payload(),
            "cone": self.cone.payload(),
            "rows": [row.payload() for row in self.rows],
        }
