"""An interior-point method for sums of convex functions of columns, over cones of columns and rows of the matrix.

Columns meet in the rows only, so that a step takes one small matrix per column and one of the size of the rows. Another
conic solver takes minutes at 128 inputs, where this takes seconds. The terms of mutual information are variables of
their own: through them an output that vanishes keeps a direction. Source: Boyd and Vandenberghe, Convex Optimization,
section 11.7,
with Mehrotra's corrector.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import scipy
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.solve.convex_minimum.model import Model, Point

ADDED, TINY = (0.0, 1e-14, 1e-12, 1e-10), 1e-250
"""Shares of a diagonal that are added to it where it needs it; diagonals that are nothing."""
REFINED = 2
"""How often a step is corrected by what it misses of its equations."""
FALL, BEHIND = 1e-4, 0.1
"""Complementarity falls to this share of itself in a step at most, and not below the second share of the residuals."""
NEAR = 1e-13
"""A share of the diagonal of each K that is added to it: what is linear along a ray leaves K singular."""
ENDLESS = 1e100
"""A step with a larger number ends the iteration."""
FAR = 1.0
"""How far a step takes a form, in the norm of the second derivative of C: beyond that exponentials rule."""


class Newton:
    """The residuals of the equations at a point, and the steps that make them smaller.

    The equations are these. Rows and conditions hold, and C(g) + z = 0. The sum over the atoms of weight * g, of costs,
    rows and conditions is 0. The products s l, t y and mass * w z are one number. The entries of a column are w times
    the direction of each of its forms. There the change of the form is written through that of the column, so that what
    is left is a matrix K for each column, and the rows.
    """

    def __init__(self, model: Model, at: Point) -> None:
        k, m, n = model.k, model.m, model.n
        self.model, self.at, self.unequal = model, at, ~model.equal
        self.own_y = np.where(model.equal, 1.0, at.y)
        self.weights = model.weights(self.own_y)
        self.rows = model.gradients(at.g)
        slope, self.value = model.cost.copy(), float((model.cost * at.u).sum())
        self.loose, self.stiff, self.apart = [], [], []
        self.curve = np.zeros((m, n, n))
        for atom, weight, form, mean, slack in zip(model.atoms, self.weights, at.g, at.w, at.z, strict=True):
            self.loose.append(slack - atom.slack(form))
            seen = atom.seen(at.u[:, :k])
            self.apart.append(atom.prior * (seen - atom.columns(seen, form)))
            self.stiff.append(atom.stiffness(form, mean, slack))
            own = self.stiff[-1] if atom.table is None else atom.table.T @ self.stiff[-1] @ atom.table
            self.curve[:, :k, :k] += weight * own
            if atom.place <= 0:
                slope[:, :k] += atom.back(form) * model.free[:, :k]
                self.value += float((form * seen).sum())
        priced = slope + (self.rows.T @ at.y).reshape(m, n) + at.multipliers @ model.conditions
        self.dual = priced * model.free
        self.column = np.where(model.active, at.u @ model.conditions.T + at.s, 0.0)
        self.primal = self.rows @ at.u.ravel() - model.right + at.t
        self.primal[model.first :] -= at.excess
        self.rest = 1.0 - float(at.y[model.first :].sum()) if model.elastic else 0.0
        self.value += at.excess if model.elastic else 0.0
        self.gap = self._gap(at)
        parts = (self.dual, self.column, self.primal, *self.loose, *self.apart)
        self.missed = max(abs(self.rest), *(float(np.abs(part).max(initial=0.0)) for part in parts))
        self.scale = max(abs(self.value), 1e-3)

    def _gap(self, at: Point) -> float:
        """The sum of all products that are zero at an optimum."""
        found = float((at.s * at.multipliers).sum() + at.t[self.unequal] @ at.y[self.unequal])
        for atom, mean, slack in zip(self.model.atoms, at.w, at.z, strict=True):
            found += float((atom.mass * mean * slack).sum())
        return found

    def factor(self) -> bool:
        """Prepare the steps; False where rounding errors rule."""
        model, at, n = self.model, self.at, self.model.n
        barrier = np.where(model.active, at.multipliers / at.s, 0.0)
        self.matrix = self.curve + np.asarray((model.squares @ barrier.T).T).reshape(-1, n, n)
        fixed = ~model.free
        self.matrix[fixed[:, :, None] | fixed[:, None, :]] = 0.0
        where = np.nonzero(fixed)
        self.matrix[where[0], where[1], where[1]] = 1.0
        size = np.sqrt(np.maximum(self.matrix[:, np.arange(n), np.arange(n)], TINY))
        self.matrix[:, np.arange(n), np.arange(n)] *= 1 + NEAR
        pairs = size[:, :, None] * size[:, None, :]
        try:
            self.inverse = np.linalg.inv(self.matrix / pairs) / pairs
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(self.inverse).all():
            return False
        schur = self._schur()
        self.loosening = np.where(model.equal, 0.0, at.t / self.own_y)
        schur[np.diag_indices(len(schur))] += self.loosening
        self.border = np.zeros(len(schur))
        self.border[model.first :] = 1.0
        factor = _factor(schur)
        if factor is None:
            return False
        self.cholesky = factor
        self.edge = scipy.linalg.cho_solve(factor, self.border) if model.elastic else self.border
        return True

    def _schur(self) -> FloatArray:
        """A K^-1 A' of all rows."""
        model, inverse = self.model, self.inverse
        k, m, n = model.k, model.m, model.n
        free = model.free[:, :k].astype(float)
        rows = self.rows[k:]
        found = np.zeros((k + rows.shape[0], k + rows.shape[0]))
        found[:k, :k] = np.einsum("yij,yi,yj->ij", inverse[:, :k, :k], free, free, optimize=True)
        if rows.shape[0]:
            blocks = sparse.bsr_matrix((inverse, np.arange(m), np.arange(m + 1)), shape=(m * n, m * n))
            ahead = sparse.csr_matrix(rows @ blocks)
            places = np.repeat(np.arange(m), k) * n + np.tile(np.arange(k), m)
            spread = sparse.csr_matrix((free.ravel(), (places, np.tile(np.arange(k), m))), shape=(m * n, k))
            found[k:, :k] = (ahead @ spread).toarray()
            found[:k, k:] = found[k:, :k].T
            found[k:, k:] = (ahead @ rows.T).toarray()
        return found

    def _reduced(self, right: FloatArray, aim: FloatArray, whole: float) -> tuple[FloatArray, FloatArray, float]:
        """(du, dy, excess) with K du + A' dy = right, A du - D dy - excess b = aim and, where elastic, b.dy = whole:
        the multipliers of the limits sum to one."""
        short = self.rows @ _times(self.inverse, right).ravel() - aim
        dy = scipy.linalg.cho_solve(self.cholesky, short, check_finite=False)
        excess = float((self.border @ dy - whole) / (self.border @ self.edge)) if self.model.elastic else 0.0
        dy = dy - excess * self.edge
        return _times(self.inverse, right - self._spread(dy)), dy, excess

    def _spread(self, dy: FloatArray) -> FloatArray:
        """A' dy."""
        return np.asarray((self.rows.T @ dy).reshape(self.model.m, self.model.n) * self.model.free)

    def _solved(self, right: FloatArray, aim: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """The same, corrected by what it misses."""
        du, dy, excess = self._reduced(right, aim, self.rest)
        for _ in range(REFINED):
            lost = right - _times(self.matrix, du) - self._spread(dy)
            short = aim - self.rows @ du.ravel() + self.loosening * dy + self.border * excess
            whole = self.rest - float(self.border @ dy) if self.model.elastic else 0.0
            more = self._reduced(lost, short, whole)
            du, dy, excess = du + more[0], dy + more[1], excess + more[2]
        return du, dy, excess

    def direction(self, centre: float, ahead: Point | None = None) -> Point:
        """The step toward complementarity `centre`, with the second-order terms of the step `ahead`."""
        model, at, k = self.model, self.at, self.model.k
        second_s = 0.0 if ahead is None else ahead.s * ahead.multipliers
        second_t = 0.0 if ahead is None else ahead.t * ahead.y
        product = np.where(model.active, centre - at.s * at.multipliers - second_s, 0.0)
        side = np.where(model.equal, 0.0, centre - at.t * self.own_y - second_t)
        push = np.where(model.active, (at.multipliers * self.column + product) / at.s, 0.0)
        right = -self.dual - push @ model.conditions
        aims, backs = [], []
        for number, (weight, atom) in enumerate(zip(self.weights, model.atoms, strict=True)):
            second = 0.0 if ahead is None else atom.mass * ahead.w[number] * ahead.z[number]
            aims.append(centre - second)
            backs.append(aims[number] / at.w[number] + atom.mass * self.loose[number])
            pull = _times(self.stiff[number], atom.seen(at.u[:, :k]))
            right[:, :k] -= weight * atom.back(pull - backs[number][:, None] * atom.prior)
        du, dy, excess = self._solved(right * model.free, -self.primal - side / self.own_y)
        ds = np.where(model.active, -self.column - du @ model.conditions.T, 0.0)
        dl = np.where(model.active, (product - at.multipliers * ds) / at.s, 0.0)
        dt = np.where(model.equal, 0.0, (side - at.t * dy) / self.own_y)
        dg, dw, dz = np.zeros_like(at.g), np.zeros_like(at.w), np.zeros_like(at.z)
        for number, atom in enumerate(model.atoms):
            mean, slack = at.w[number], at.z[number]
            change = _times(self.stiff[number], atom.seen(at.u[:, :k] + du[:, :k]))
            dg[number] = (change - backs[number][:, None] * atom.prior) * (atom.prior > 0)
            along = (atom.direction(at.g[number]) * dg[number]).sum(axis=1)
            dz[number] = -self.loose[number] - along / atom.mass
            dw[number] = aims[number] / (atom.mass * slack) - mean - mean / slack * dz[number]
        return Point(du, ds, dl, dy, dt, dg, dw, dz, excess)

    def room(self, step: Point, inside: float) -> float:
        """The longest step, at most 1, before something that must be positive loses the share `inside`, or a form of an
        exponential goes too far."""
        at, kept, unequal = self.at, self.model.free[:, : self.model.k], self.unequal
        found = 1.0
        for own, change in (
            (at.s, step.s),
            (at.multipliers, step.multipliers),
            (at.u[:, : self.model.k][kept], step.u[:, : self.model.k][kept]),
            (at.t[unequal], step.t[unequal]),
            (at.y[unequal], step.y[unequal]),
            (at.w, step.w),
            (at.z, step.z),
        ):
            down = change < 0
            if down.any():
                with np.errstate(over="ignore"):
                    found = min(found, inside * float((-own[down] / change[down]).min()))
        for atom, form, change in zip(self.model.atoms, at.g, step.g, strict=True):
            shares = atom.prior * (1.0 if atom.square else atom.direction(form))
            size = (shares * atom.scaled(change) ** 2).sum(axis=1).max()
            found = min(found, FAR / max(float(size) ** 0.5, 1e-300))
        return found

    def step(self, inside: float, least: float, held: float | None = None) -> Point | None:
        """Mehrotra's step, toward a sum of products of `least` (relative to the value) or more; with `held` one toward
        that sum. None where rounding errors rule."""
        if not self.factor():
            return None
        model = self.model
        places = int(model.active.sum()) + int(self.unequal.sum()) + model.m * len(model.atoms)
        if held is not None:
            found = self.direction(held / places)
        else:
            ahead = self.direction(0.0)
            if not _is_sound(ahead):
                return None
            left = self._gap(self.at.moved(ahead, self.room(ahead, inside)))
            share = max(min(left / self.gap, 1.0) ** 3, FALL)
            kept = min(self.gap, BEHIND * self.missed)
            found = self.direction(max(share * self.gap, least * self.scale, kept) / places, ahead)
        return found if _is_sound(found) else None


def _is_sound(step: Point) -> bool:
    """Whether all numbers of a step have finite squares: of a singular system they may not."""
    parts = (getattr(step, one.name) for one in fields(step))
    return all(np.abs(part).max(initial=0.0) < ENDLESS for part in parts)


def _factor(schur: FloatArray) -> tuple[FloatArray, bool] | None:
    """The Cholesky factor of a matrix, with as little added to its diagonal as it needs: steps are corrected by what
    they miss. Rows without terms are left alone. None where nothing helps."""
    diagonal = np.diag_indices(len(schur))
    own = schur[diagonal]
    for share in ADDED:
        schur[diagonal] = np.where(own > TINY, own * (1 + share), 1.0)
        try:
            factor: tuple[FloatArray, bool] = scipy.linalg.cho_factor(schur)
        except (np.linalg.LinAlgError, ValueError):
            continue
        return factor
    return None


def _times(blocks: FloatArray, columns: FloatArray) -> FloatArray:
    """m matrices, each times one column."""
    return np.asarray((blocks @ columns[:, :, None])[:, :, 0])


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
        column = atom.columns(atom.seen(at.u[:, :k]), form) * (atom.prior > 0)
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
