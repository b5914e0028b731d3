"""The closed vocabulary between what is declared and how it is solved.

A mechanism is a multiset of columns q_y >= 0 with sum_y q_y = 1. A `Program` has
a cone for every column, coupling rows between the columns, and a utility.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

import numpy as np

from rropt.exact import of_each, rational_text, unit_of, weighted_sum
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.convex_terms import SQUARE, X_LOG_X, ConvexTerm, xlogx
from rropt.program.block_cones import RobustCone
from rropt.program.cones import CompleteCone, Cone, FloatArray, GraphCone, base_cone, reach
from rropt.program.extras import Extra

if TYPE_CHECKING:
    from scipy import sparse

Sense = Literal["maximize", "minimize"]
X = TypeVar("X", bound=Extra)

# -- coupling rows -------------------------------------------------------------------------------------


OFFSET = 1 << 10
"""How many times the spread of a row's coefficients an offset is that is taken out."""


@dataclass(frozen=True)
class Row:
    """sum of value * Q[x, y] over `terms` is <= or = `rhs`; terms are (x, y, value), sorted by (x, y)."""

    name: str
    sense: Literal["<=", "="]
    rhs: Fraction
    terms: tuple[tuple[int, int, Fraction], ...]

    def excess(self, mechanism: Mechanism) -> Fraction:
        """The violation of the row by an exact mechanism; <= 0 when it holds."""
        total = weighted_sum(self.terms, mechanism.numerators, mechanism.row_denominators) - self.rhs
        return abs(total) if self.sense == "=" else total

    @property
    def unit(self) -> Fraction:
        """The divisor of `scaled`."""
        return unit_of([value for *_, value in self.terms] or [self.rhs])

    def centred(self, width: int) -> Row:
        """The same condition without an offset that floats would not see the rest of: what an input adds with any of
        `width` outputs is on the right side."""
        own: dict[int, list[Fraction]] = {}
        for x, _, value in self.terms:
            own.setdefault(x, []).append(value)
        least = {x: min(values) for x, values in own.items() if len(values) == width}
        spread = max((max(own[x]) - low for x, low in least.items()), default=Fraction(0))
        if not spread or all(abs(low) <= OFFSET * spread for low in least.values()):
            return self
        moved = ((x, y, value - least.get(x, 0)) for x, y, value in self.terms)
        return replace(self, rhs=self.rhs - sum(least.values()), terms=tuple(term for term in moved if term[2]))

    def scaled(self) -> Row:
        """The same condition in numbers of ordinary size."""
        unit = self.unit
        if unit == 1:
            return self
        return replace(self, rhs=self.rhs / unit, terms=tuple((x, y, value / unit) for x, y, value in self.terms))

    def payload(self) -> dict[str, object]:
        return {
            "name": self.name,
            "sense": self.sense,
            "rhs": rational_text(self.rhs),
            "terms": [[x, y, rational_text(value)] for x, y, value in self.terms],
        }


# -- utilities -----------------------------------------------------------------------------------------


class Utility:
    """The base class of utilities of a matrix. `particular`: the name in messages of one that only those methods take
    that declare it; empty for others."""

    particular: ClassVar[str] = ""

    @property
    def plain(self) -> bool:
        """Whether it is mutual information of the inputs alone, beside which cones may keep forms of their own."""
        return False

    def payload(self) -> dict[str, object] | None:
        """The `utility` object of the certificate format, or None where the format does not have it."""
        return None


@dataclass(frozen=True)
class Linear(Utility):
    """sum of cost * Q over `cost`, triples (x, y, value) sorted by (x, y)."""

    cost: tuple[tuple[int, int, Fraction], ...]

    def payload(self) -> dict[str, object] | None:
        return {"kind": "linear", "cost": [[x, y, rational_text(value)] for x, y, value in self.cost]}

    def matrix(self, inputs: int, outputs: int) -> FloatArray:
        """The costs as an inputs x outputs float array."""
        table = np.zeros((inputs, outputs))
        floats = of_each(float, (value for *_, value in self.cost))
        for x, y, value in self.cost:
            table[x, y] = floats[id(value)]
        return table


@dataclass(frozen=True)
class RowEntropy(Utility):
    """The mean entropy of the rows in nats, sum_x shares[x] H(Q_x) / sum of the shares: concave, maximised only."""

    particular: ClassVar[str] = "the entropy of rows"

    shares: tuple[int, ...]

    def payload(self) -> dict[str, object] | None:
        return {"kind": "entropy", "shares": [str(share) for share in self.shares]}


class ColumnSum(Utility, ABC):
    """sum_y mu(q_y) with mu convex and positively homogeneous: columns are exchangeable."""

    @abstractmethod
    def mu(self, columns: FloatArray) -> FloatArray:
        """mu of each column of a k x n array, as n floats."""

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        """A (sub)gradient of mu at each column of a k x n array, as k x n floats; None where none is known."""
        return None


@dataclass(frozen=True)
class Divergence(ColumnSum):
    """An information at the prior p = `weights` / sum: mu(q) = w (sum_x p_x phi(q_x / w) - phi(1)) with w = p.q and a
    convex phi, its `term`. `kind` is its word in certificates."""

    term: ClassVar[ConvexTerm]
    kind: ClassVar[str]

    weights: tuple[int, ...]

    @cached_property
    def prior(self) -> FloatArray:
        """The k probabilities."""
        total = sum(self.weights)
        return np.array([weight / total for weight in self.weights])

    def mu(self, columns: FloatArray) -> FloatArray:
        w = self.prior @ columns
        return np.asarray(w * (self.prior @ self.term.value(columns / np.where(w > 0, w, 1.0)) - self.term.one))

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        w = self.prior @ columns
        v = columns / np.where(w > 0, w, 1.0)
        slope = self.term.slope(v)
        rest = self.prior @ (self.term.value(v) - v * slope) - self.term.one
        return np.asarray(self.prior[:, None] * (slope + rest))


@dataclass(frozen=True)
class Information(Divergence):
    """Mutual information in nats at the prior `weights` / sum: mu(q) = sum_x p_x q_x log q_x - w log w, w = p.q.

    `given` (k x J integers, row x summing to weights[x]) is the joint with a third variable Z that is known:
    mu(q) = sum_x p_x q_x log q_x - sum_z w_z log(w_z / P_z), w_z = sum_x P(x, z) q_x.
    """

    term: ClassVar[ConvexTerm] = X_LOG_X
    kind: ClassVar[str] = "mutual_information"

    given: tuple[tuple[int, ...], ...] | None = None

    def payload(self) -> dict[str, object] | None:
        table: dict[str, object] = {"kind": self.kind}
        if self.given is not None:
            table["given"] = [[str(weight) for weight in row] for row in self.given]
        return table

    @property
    def plain(self) -> bool:
        return self.given is None

    @cached_property
    def joint(self) -> FloatArray:
        """k x J joint probabilities of input and known variable (one column where nothing is known)."""
        if self.given is None:
            return self.prior[:, None]
        total = sum(self.weights)
        return np.array([[weight / total for weight in row] for row in self.given])

    def mu(self, columns: FloatArray) -> FloatArray:
        masses = self.joint.sum(axis=0)
        w = self.joint.T @ columns
        known = xlogx(w) - np.log(np.where(masses > 0, masses, 1.0))[:, None] * w
        return np.asarray(self.prior @ xlogx(columns) - known.sum(axis=0))

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        masses = np.where((total := self.joint.sum(axis=0)) > 0, total, 1.0)
        w = self.joint.T @ columns / masses[:, None]
        own = np.log(np.maximum(columns, 1e-300))
        return np.asarray(self.prior[:, None] * own - self.joint @ np.log(np.maximum(w, 1e-300)))


@dataclass(frozen=True)
class ChiSquare(Divergence):
    """Chi-square information at the prior `weights` / sum: mu(q) = sum_x p_x q_x^2 / w - w, w = p.q (0 where w = 0)."""

    term: ClassVar[ConvexTerm] = SQUARE
    kind: ClassVar[str] = "chi_square"

    def payload(self) -> dict[str, object] | None:
        return {"kind": self.kind}

    def mu(self, columns: FloatArray) -> FloatArray:
        w = self.prior @ columns
        return np.asarray(self.prior @ columns**2 / np.where(w > 0, w, 1.0) - w)

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        w = self.prior @ columns
        share = columns / np.where(w > 0, w, 1.0)
        return np.asarray(self.prior[:, None] * (2 * share - (self.prior @ share**2) - 1))


@dataclass(frozen=True)
class BayesGain(ColumnSum):
    """sum over outputs of max over actions g of sum_x p_x gain[g][x] q_x, p = weights / sum."""

    weights: tuple[int, ...]
    gain: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...]

    def payload(self) -> dict[str, object] | None:
        return {"kind": "bayes", "gain": [[rational_text(entry) for entry in row] for row in self.gain]}

    def scores(self) -> tuple[tuple[Fraction, ...], ...]:
        """p_x gain[g][x], one list per action."""
        return self._scores

    @cached_property
    def _scores(self) -> tuple[tuple[Fraction, ...], ...]:
        total = sum(self.weights)
        return tuple(
            tuple(Fraction(w, total) * entry if entry else entry for w, entry in zip(self.weights, row, strict=True))
            for row in self.gain
        )

    @cached_property
    def table(self) -> FloatArray:
        """`scores` as an actions x inputs float array."""
        return np.array([[float(entry) for entry in row] for row in self.scores()])

    def mu(self, columns: FloatArray) -> FloatArray:
        return np.asarray((self.table @ columns).max(axis=0))

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        return np.asarray(self.table[(self.table @ columns).argmax(axis=0)].T)


@dataclass(frozen=True)
class UserColumnSum(ColumnSum):
    """A convex, positively homogeneous function of the user's own: solved, never machine-checked.

    `function` maps a k x n float array to n floats; `slope`, where given, to the k x n gradients, which method
    columns needs.
    """

    function: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray] | None = None

    def mu(self, columns: FloatArray) -> FloatArray:
        return np.asarray(self.function(columns), dtype=np.float64)

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        return None if self.slope is None else np.asarray(self.slope(columns), dtype=np.float64)


# -- the program ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """One optimisation problem in the closed vocabulary.

    `outputs` is None where the number of columns is free. `weights` are the integer proportions of the prior
    (all ones where no objective needs one). `extras` are what else must hold, one of a kind at most.
    """

    sense: Sense
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | None
    weights: tuple[int, ...]
    utility: Utility
    cone: Cone
    rows: tuple[Row, ...] = ()
    extras: tuple[Extra, ...] = ()

    def __post_init__(self) -> None:
        # A robust cone keeps its own form only where the certificate format takes it.
        alone = self.utility.plain and self.sense == "maximize" and self.outputs is None and not self.rows
        if isinstance(self.cone, RobustCone) and not (alone and self.cone.fits(self.weights)):
            object.__setattr__(self, "cone", self.cone.general())

    @property
    def size(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @cached_property
    def prior(self) -> tuple[Fraction, ...]:
        """The k exact prior probabilities."""
        total = sum(self.weights)
        return tuple(Fraction(weight, total) for weight in self.weights)

    @property
    def sign(self) -> int:
        """+1 to maximise, -1 to minimise."""
        return 1 if self.sense == "maximize" else -1

    def extra(self, kind: type[X]) -> X | None:
        """The extra of that kind; None where there is none."""
        return next((extra for extra in self.extras if isinstance(extra, kind)), None)

    def required(self, kind: type[X]) -> X:
        """The extra of that kind, where there must be one."""
        found = self.extra(kind)
        assert found is not None, kind.name
        return found

    def without(self, kind: type[Extra]) -> Program:
        """The relaxation that leaves the extra of that kind out."""
        return replace(self, extras=tuple(extra for extra in self.extras if not isinstance(extra, kind)))

    @cached_property
    def empty_cells(self) -> frozenset[tuple[int, int]]:
        """Cells that the rows force to zero (a sum of non-negative cells that is at most zero). Under a
        ratio cone such a cell empties its whole column."""
        cells: set[tuple[int, int]] = set()
        for row in self.rows:
            if row.rhs == 0 and row.terms and all(value > 0 for _, _, value in row.terms):
                cells.update((x, y) for x, y, _ in row.terms)
        base = base_cone(self.cone)
        if isinstance(base, CompleteCone):
            emptied = {y for _, y in cells}
            cells = {(x, y) for y in emptied for x in range(self.size)}
        elif isinstance(base, GraphCone) and cells:
            bounded = np.isfinite(reach(base, self.size))
            cells = {(z, y) for x, y in cells for z in np.flatnonzero(bounded[:, x]).tolist()}
        return frozenset(cells)

    def linearised(self) -> Program:
        """The same optimum as a linear programme over one output per action, where a Bayes gain is maximised
        (outputs that share a best action can be merged without loss); otherwise the program itself."""
        utility = self.utility
        if not isinstance(utility, BayesGain) or self.rows or self.extras or self.sense == "minimize":
            return self
        return self._by_actions

    @cached_property
    def _by_actions(self) -> Program:
        assert isinstance(self.utility, BayesGain)
        scores = self.utility.scores()
        cost = tuple((x, g, row[x]) for x in range(self.size) for g, row in enumerate(scores) if row[x])
        return replace(self, outputs=self.utility.actions, utility=Linear(cost))

    def excess(self, mechanism: Mechanism) -> dict[str, Fraction]:
        """By how much an exact mechanism violates what must hold, by name; empty when everything holds."""
        found: dict[str, Fraction] = {}
        # Only the extremes of a column matter for a ratio cone.
        alike = isinstance(self.cone, CompleteCone)
        columns = mechanism.ranges if alike else (mechanism.column(y) for y in range(len(mechanism.outputs)))
        worst = max(self.cone.excess(column) for column in columns)
        if worst > 0:
            found["cone"] = worst
        for row in self.rows:
            if (miss := row.excess(mechanism)) > 0:
                found[row.name] = miss
        for extra in self.extras:
            if (miss := extra.excess(mechanism)) > 0:
                found[extra.name] = miss
        return found

    def row_matrix(self, outputs: int) -> sparse.csr_matrix:
        """The coupling rows over the k * outputs entries of Q in row-major order, as floats."""
        from scipy import sparse

        data, indices, starts = [], [], [0]
        for row in self.rows:
            indices += [x * outputs + y for x, y, _ in row.terms]
            data += [float(value) for *_, value in row.terms]
            starts.append(len(data))
        return sparse.csr_matrix((data, indices, starts), shape=(len(self.rows), self.size * outputs), dtype=np.float64)

    def row_table(self, outputs: int) -> FloatArray:
        """The coupling rows as an array (rows x k x outputs)."""
        return np.asarray(self.row_matrix(outputs).toarray().reshape(len(self.rows), self.size, outputs))

    def payload(self) -> dict[str, object]:
        """The `problem` object of the certificate format (section 4)."""
        stated = {key: value for extra in self.extras for key, value in extra.payload().items()}
        return stated | {
            "sense": self.sense,
            "inputs": list(self.inputs),
            "outputs": None if self.outputs is None else list(self.outputs),
            "weights": [str(weight) for weight in self.weights],
            "utility": self.utility.payload(),
            "cone": self.cone.payload(),
            "rows": [row.payload() for row in self.rows],
        }
