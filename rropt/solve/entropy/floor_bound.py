"""Multipliers that bound mutual information above an entropy floor, in floats.

With I = H(Y) - sum_x p_x H(Q_x), H(Y) <= sum_y c_y m_y for sum_y exp(-c_y) <= 1 (Gibbs), and multipliers t of the
floor sum_x s_x H(Q_x) >= h and u_i of the rows: I <= u.rhs - t h + sum_x v_x, where v_x is the largest value of
e_x.q + (t s_x - p_x) H(q) over distributions q, e_xy = p_x c_y - sum_i u_i row_i[x, y]: a Gibbs form where t s_x > p_x,
else max_y e_xy.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from rropt.program.cones import FloatArray
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.programs import Information, Program

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
