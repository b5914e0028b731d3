"""An interior-point method for sums of convex functions of columns, over cones of columns and rows of the matrix.

Columns meet in the rows only, so that a step takes one small matrix per column and one of the size of the rows. Another
conic solver takes minutes at 128 inputs, where this takes seconds. The terms of mutual information are variables of
their own: through them an output that vanishes keeps a direction. Source: Boyd and Vandenberghe, Convex Optimization,
section 11.7,
with Mehrotra's corrector.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.solve.convex_minimum.model import Model
from rropt.solve.convex_minimum.newton import Newton

STEPS = 120
"""Steps after which the path is given up; thirty are usual."""
INSIDE = 0.995
"""The share of the way to the border that a step may take."""
FINAL = 4e-11
"""What is left of the complementarity at the end of the path, relative to the value. There it is kept, so that
residuals fall as squares."""
EXACT = 1e-13
"""Residuals of what is exact but for rounding."""
STALLED, LOST, PATIENCE = 1e-3, 1e6, 4
"""A step shorter than the first makes no progress, and a point worse by the second; after so many in sequence rounding
errors rule."""
SHORT = 0.2
"""To which share of itself complementarity falls in a short step."""
EARLY, CENTRED = 3.0, 30
"""Where the path is left for a matrix with slack, relative to the value; the steps that this may take."""


@dataclass(frozen=True)
class Path:
    """The end of a path: the matrix (k x m); multipliers of the k sums, of the program's rows, of the limits, of the
    rows and the edges of the cone (m x each). `tables` has by place, -i for part i of the goal and 1 + i for limit i,
    directions at which forms touch an information (m x k), or multipliers of the actions of a Bayes gain (m x actions).

    `gap` is what complementarity is left, `missed` the largest residual, `excess` by how much limits are exceeded where
    that was minimised, `inside` a matrix with slack in all inequalities, where one was found.
    """

    matrix: FloatArray
    prices: FloatArray
    rows: FloatArray
    limits: FloatArray
    cone: FloatArray
    flows: FloatArray
    tables: dict[int, FloatArray]
    gap: float
    missed: float
    excess: float
    inside: FloatArray | None


def follow(model: Model, stopped: Callable[[], str] = lambda: "") -> Path:
    """Follow the path of a model to its end, or until `stopped` states why it should end earlier. Where long steps lose
    the path, short ones begin again."""
    best, early, merit = _followed(model, stopped, careful=False)
    if merit > LOST and not stopped():
        other, sooner, reached = _followed(model, stopped, careful=True)
        if reached < merit:
            best, early = other, sooner
    return _end(model, best, None if early is None or stopped() else _inside(model, early))


def _followed(model: Model, stopped: Callable[[], str], careful: bool) -> tuple[Newton, Newton | None, float]:
    """The best point of a path, the one where it is left for a matrix with slack, and how far the best is from an end
    (1). `careful`: complementarity falls only where the residuals are small."""
    at = model.start()
    best, early, merit, slow, held = None, None, np.inf, 0, None
    for _ in range(STEPS):
        newton = Newton(model, at)
        near = newton.gap <= FINAL * newton.scale
        # Both are one at the end.
        now = max(newton.gap / (FINAL * newton.scale), newton.missed / EXACT)
        if early is None and max(newton.gap, newton.missed) <= EARLY * newton.scale:
            early = newton
        idle = now > LOST * merit or (near and now > merit / 2)
        if best is None or now < merit:
            best, merit = newton, now
        if merit <= 1 or stopped():
            break
        if careful:
            held = newton.gap if held is None else held
            if newton.missed <= newton.gap:
                held = max(held * SHORT, FINAL / 2 * newton.scale)
        step = newton.step(INSIDE, FINAL / 2, held)
        if step is None:
            break
        share = newton.room(step, INSIDE)
        slow = slow + 1 if idle or share < STALLED else 0
        if slow > PATIENCE:
            break
        at = at.moved(step, share)
    assert best is not None
    return best, early, merit


def _inside(model: Model, newton: Newton) -> FloatArray | None:
    """A matrix with slack in all inequalities, by steps that keep the complementarity of a point; None where they find
    none."""
    held = newton.gap
    for _ in range(CENTRED):
        matrix = newton.at.u[:, : model.k].T
        off = max(np.abs(newton.primal[: model.first]).max(), np.abs(newton.column).max())
        if off <= EXACT and all(float(utility.mu(matrix).sum()) < most for utility, most in model.limits):
            return matrix
        step = newton.step(INSIDE, 0.0, held)
        if step is None:
            return None
        newton = Newton(model, newton.at.moved(step, newton.room(step, INSIDE)))
    return None


def _end(model: Model, newton: Newton, inside: FloatArray | None) -> Path:
    at, k, first, own, unit = newton.at, model.k, model.first, model.own, model.unit
    tables = {place: at.multipliers[:, where] for (place, _), where in zip(model.gains, model.actions, strict=True)}
    for atom, form in zip(model.atoms, at.g, strict=True):
        # What is given has a direction for each value; in the end they are one, where it matters: the largest.
        column = atom.columns(at.u[:, :k], form) * (atom.prior > 0)
        tables[atom.place] = np.maximum(tables.get(atom.place, 0.0), column)
    return Path(
        matrix=at.u[:, :k].T,
        prices=unit * at.y[:k],
        rows=unit * at.y[k:first] / model.sizes,
        limits=unit * at.y[first:] / model.units,
        cone=unit * at.multipliers[:, :own],
        flows=unit * at.multipliers[:, own : own + model.edges],
        tables=tables,
        gap=unit * newton.gap,
        missed=newton.missed,
        excess=at.excess,
        inside=inside,
    )
