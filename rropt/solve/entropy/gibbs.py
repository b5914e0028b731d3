"""Newton steps on the dual of an entropy problem without a ratio cone: the last digits of the conic solver's answer, in
a few steps.

The dual function is D(l, t) = sum_x tau_x log sum_y exp(e_xy / tau_x) + l . rhs - t height, e = cost - sum_i l_i row_i
and tau = t shares + u: convex and smooth where all tau are positive. Its minimum gives the mechanism, the Gibbs
distributions of the rows, to the last digits of a float.

Multipliers that bound mutual information above an entropy floor, in floats.

With I = H(Y) - sum_x p_x H(Q_x), H(Y) <= sum_y c_y m_y for sum_y exp(-c_y) <= 1 (Gibbs), and multipliers t of the
floor sum_x s_x H(Q_x) >= h and u_i of the rows: I <= u.rhs - t h + sum_x v_x, where v_x is the largest value of
e_x.q + (t s_x - p_x) H(q) over distributions q, e_xy = p_x c_y - sum_i u_i row_i[x, y]: a Gibbs form where t s_x > p_x,
else max_y e_xy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from scipy import sparse

from rropt.program.cones import FloatArray, FreeCone
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.programs import Information, Linear, Program, RowEntropy
from rropt.solve.engine.budget import STEPS
from rropt.solve.engine.method import ColumnMultipliers, Dual

ACTIVE = 1e-7
"""Inequalities with a multiplier below this, relative to the costs, are left as they are."""
MOST_ROWS = 2_000
"""Beyond this many coupling rows the Hessian costs too much."""


@dataclass(frozen=True)
class EntropyMultipliers(ColumnMultipliers):
    """Multipliers of an entropy problem: `floor` of the concave floor (None: there is none), and `tilts` (columns x
    inputs) of a complete cone beside it."""

    floor: float | None = None
    tilts: FloatArray | None = None

    @classmethod
    def of(cls, dual: Dual) -> EntropyMultipliers:
        """Those of `dual`, or none."""
        return dual.evidence_of(cls) or cls(dual.columns.cone, dual.columns.flows)

    def numbers(self) -> tuple[FloatArray, ...]:
        own = () if self.floor is None else (np.array(self.floor),)
        return (*super().numbers(), *own, *(() if self.tilts is None else (self.tilts,)))


@dataclass(frozen=True)
class _Point:
    """The dual function at one point: its value, its gradient, the Gibbs matrix (k x m), the scores and the heats."""

    value: float
    gradient: FloatArray
    matrix: FloatArray
    scores: FloatArray
    heats: FloatArray


class _DualFunction:
    """D over the coupling rows that are free to move and, last, the multiplier of the floor (where there is one)."""

    def __init__(self, program: Program, dual: Dual) -> None:
        assert program.outputs is not None
        self.shape = program.size, len(program.outputs)
        linear = isinstance(program.utility, Linear)
        cost = program.sign * program.utility.matrix(*self.shape) if isinstance(program.utility, Linear) else None
        self.cost = np.zeros(self.shape) if cost is None else cost
        self.own = np.zeros(program.size)
        if isinstance(program.utility, RowEntropy):
            self.own = np.array(program.utility.shares, dtype=float) / float(sum(program.utility.shares))
        self.scale = float(np.abs(self.cost).max()) if linear else 1.0
        equal = np.array([row.sense == "=" for row in program.rows], dtype=bool)
        self.moving = np.flatnonzero(equal | (dual.rows > ACTIVE * self.scale))
        table = program.row_matrix(self.shape[1])
        self.cost = self.cost - (
            table.T @ np.where(np.isin(np.arange(len(equal)), self.moving), 0.0, dual.rows)
        ).reshape(self.shape)
        self.table = sparse.csr_matrix(table[self.moving])
        self.right = np.array([float(program.rows[i].rhs) for i in self.moving])
        floor = program.extra(ConcaveFloor)
        self.signed = np.concatenate([~equal[self.moving], [floor is not None]])
        self.shares = np.zeros(program.size) if floor is None else np.array(floor.shares, dtype=float)
        self.height = 0.0 if floor is None else floor.height
        kept = np.ones(self.shape, dtype=bool)
        for x, y in program.empty_cells:
            kept[x, y] = False
        self.barred = np.where(kept, 0.0, -np.inf)

    def at(self, z: FloatArray) -> _Point:
        heats = z[-1] * self.shares + self.own
        scores = self.cost - (self.table.T @ z[:-1]).reshape(self.shape)
        levels = scores / heats[:, None] + self.barred
        tops = scipy.special.logsumexp(levels, axis=1)
        matrix = np.exp(levels - tops[:, None])
        entropies = tops - (matrix * np.where(matrix > 0, levels, 0.0)).sum(axis=1)
        gradient = np.concatenate([self.right - self.table @ matrix.ravel(), [self.shares @ entropies - self.height]])
        value = float(heats @ tops + self.right @ z[:-1] - z[-1] * self.height)
        return _Point(value, gradient, matrix, scores, heats)

    def hessian(self, point: _Point) -> FloatArray:
        """Sum over the rows of Q of the covariances of what the multipliers do there, over the heat."""
        k, m = self.shape
        slope = -(point.scores / point.heats[:, None]) * self.shares[:, None]
        directions = sparse.vstack([-self.table, sparse.csr_matrix(slope.reshape(1, -1))], format="csr")
        weights = (point.matrix / point.heats[:, None]).ravel()
        second = (directions.multiply(weights) @ directions.T).toarray()
        spread = sparse.kron(sparse.eye(k), np.ones((m, 1)), format="csr")
        means = (directions.multiply(point.matrix.ravel()) @ spread).toarray()
        return np.asarray(second - (means / point.heats) @ means.T)


def polished(program: Program, dual: Dual) -> tuple[FloatArray, Dual] | None:
    """(the Gibbs matrix, the multipliers) where Newton's method ends from `dual`; None where the problem is not smooth
    (a cone, rows without entropy, a floor without weight) or the steps do not converge."""
    own = EntropyMultipliers.of(dual)
    weight = own.floor or 0.0
    function = _DualFunction(program, dual)
    if not isinstance(program.cone, FreeCone) or len(function.moving) > MOST_ROWS:
        return None
    z = np.concatenate([dual.rows[function.moving], [weight]])
    if not (z[-1] * function.shares + function.own > 0).all():
        return None
    fixed = program.extra(ConcaveFloor) is None or not weight > 0
    point = function.at(z)
    for _ in range(STEPS):
        gradient = point.gradient.copy()
        if fixed:
            gradient[-1] = 0.0
        if np.abs(gradient).max(initial=0.0) < 1e-14 * max(1.0, abs(function.height)):
            break
        hessian = function.hessian(point)
        if fixed:
            hessian[-1], hessian[:, -1] = 0.0, 0.0
        step = -scipy.linalg.lstsq(hessian, gradient, cond=1e-13)[0]
        following = _line_search(function, z, step, point)
        if following is None:
            break
        z, point = following
    if not np.isfinite(point.value) or np.abs(gradient).max(initial=0.0) > 1e-9 * max(1.0, abs(function.height)):
        return None
    rows = dual.rows.copy()
    rows[function.moving] = z[:-1]
    floor = None if program.extra(ConcaveFloor) is None else float(z[-1])
    return point.matrix, replace(dual, rows=rows, evidence=replace(own, floor=floor))


def _line_search(
    function: _DualFunction, z: FloatArray, step: FloatArray, point: _Point
) -> tuple[FloatArray, _Point] | None:
    """The first of z + step, z + step / 2, ... that keeps signs and heats and lessens the gradient or the value."""
    length = 1.0
    for _ in range(40):
        candidate = z + length * step
        signs = candidate[function.signed] > 0
        if signs.all() and (candidate[-1] * function.shares + function.own > 0).all():
            found = function.at(candidate)
            shorter = np.linalg.norm(found.gradient) < np.linalg.norm(point.gradient) * (1 - 1e-4 * length)
            if np.isfinite(found.value) and (shorter or found.value < point.value - 1e-12 * abs(point.value)):
                return candidate, found
        length /= 2
    return None


LARGEST = 400
"""More multipliers than this are not searched for."""
STARTS = (1.0, 1.05, 1.5, 0.8, 0.5, 3.0)
"""First multipliers of the floor, in units of the one from which on every row has a Gibbs form."""


@dataclass(frozen=True)
class FloorMultipliers:
    """`value` is the bound in nats, as far as floats go; `floor` is t, `rows` the u, `codes` the c (one per output)."""

    value: float
    floor: float
    rows: FloatArray
    codes: FloatArray


def floor_multipliers(program: Program) -> FloorMultipliers | None:
    """The best multipliers that a quasi-Newton method finds; None where the program is none of these."""
    floor, utility = program.extra(ConcaveFloor), program.utility
    plain = isinstance(utility, Information) and utility.given is None and program.sense == "maximize"
    if floor is None or not plain or program.outputs is None or len(program.rows) + len(program.outputs) > LARGEST:
        return None
    k, m = program.size, len(program.outputs)
    p = np.array([float(value) for value in program.prior])
    shares = np.array(floor.shares, dtype=float)
    table = program.row_matrix(m)
    right = np.array([float(row.rhs) for row in program.rows])
    least = [(None if row.sense == "=" else 0.0, None) for row in program.rows]

    def function(z: FloatArray) -> tuple[float, FloatArray]:
        t, u, codes = z[0], z[1 : 1 + len(right)], -scipy.special.log_softmax(z[1 + len(right) :])
        scores = p[:, None] * codes - (table.T @ u).reshape(k, m)
        heat = t * shares - p
        rows = np.zeros((k, m))
        value, slope = float(right @ u - t * floor.height), -floor.height
        for x in range(k):
            if heat[x] > 1e-9:
                levels = scores[x] / heat[x]
                top = scipy.special.logsumexp(levels)
                rows[x] = np.exp(levels - top)
                value += heat[x] * top
                slope += shares[x] * (top - rows[x] @ levels)
            else:
                rows[x, int(scores[x].argmax())] = 1.0
                value += float(scores[x].max())
        reported = p @ rows
        return value, np.concatenate([[slope], right - table @ rows.ravel(), np.exp(-codes) - reported])

    best: FloorMultipliers | None = None
    turn = float((p[shares > 0] / shares[shares > 0]).max())
    for scale in STARTS:
        start = np.concatenate([[scale * turn], np.zeros(len(right) + m)])
        limits = [(1e-9, None), *least, *([(None, None)] * m)]
        found = scipy.optimize.minimize(function, start, jac=True, method="L-BFGS-B", bounds=limits)
        # Where all rows part from their Gibbs form at once the start itself may be the best there is.
        for z in (start, found.x):
            value = function(z)[0]
            if np.isfinite(value) and (best is None or value < best.value):
                codes = -scipy.special.log_softmax(z[1 + len(right) :])
                best = FloorMultipliers(float(value), float(z[0]), z[1 : 1 + len(right)], codes)
    return best
