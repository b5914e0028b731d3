"""An interior-point method for sums of convex functions of columns, over cones of columns and rows of the matrix.

Columns meet in the rows only, so that a step takes one small matrix a column and one of the size of the rows. A general
conic solver takes minutes at 128 inputs, where this takes seconds. Source: Boyd and Vandenberghe, Convex Optimization,
section 11.7, with Mehrotra's corrector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import scipy.linalg
from scipy import sparse

from rropt.program.cones import CompleteCone, FloatArray, base_cone
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Information, Linear, Program
from rropt.solve.kernel.polyhedral import cone_table, edge_table

START = 2.0
STEPS = 120
"""Steps after which the path is given up; thirty are usual."""
INSIDE = 0.995
"""The share of the way to the border that a step may take."""
FINAL = 4e-11
"""What is left of the complementarity at the end of the path, relative to the value."""
ADDED, TINY = (0.0, 1e-14, 1e-12, 1e-10), 1e-250
"""Shares of a diagonal that are added to it where it needs it; diagonals that are nothing."""
REFINED = 2
"""How often a step is corrected by what it misses of its equations."""
EARLY, CENTRED, EXACT = 3.0, 30, 1e-13
"""Where the path is left for a matrix with slack; the steps that this may take; the residuals of what is exact but for
rounding."""
STALLED, LOST, PATIENCE = 1e-3, 1e6, 4
"""A step shorter than the first makes no progress, and a point worse by the second; after so many in sequence rounding
errors rule."""


@dataclass(frozen=True)
class Atom:
    """A part of an information, `mass` times that of a prior p: mu(v) = sup { g.v : C(g) <= 0 } for a convex C whose
    gradient at the best g is v over its mean p.v. `cells` (m x k) says which entries can be positive; `place` is 0 for the goal's, 1 + i for those of limit i.

    C(g) = log sum_x p_x exp(g_x / p_x) for mutual information; with h = g / p, C(g) = Var_p(h) / 4 + E_p(h) for
    chi-square information. Inputs without probability have no part in it.
    """

    place: int
    prior: FloatArray
    mass: float
    square: bool
    cells: np.ndarray

    def scaled(self, forms: FloatArray) -> FloatArray:
        """h of m forms (m x k); 0 where the prior is 0."""
        return np.asarray(forms / np.where(self.prior > 0, self.mass * self.prior, np.inf))

    def slack(self, forms: FloatArray) -> FloatArray:
        """-C of m forms (m x k)."""
        h = self.scaled(forms)
        if self.square:
            mean = h @ self.prior
            return np.asarray(-((h**2) @ self.prior - mean**2) / 4 - mean)
        h = np.where(self.cells, h, -np.inf)
        top = h.max(axis=1)
        return np.asarray(-top - np.log(np.exp(h - top[:, None]) @ self.prior))

    def direction(self, forms: FloatArray) -> FloatArray:
        """The gradient of C at m forms (m x k)."""
        h = self.scaled(forms)
        if self.square:
            return np.asarray(1 + (h - (h @ self.prior)[:, None]) / 2)
        return np.asarray(np.where(self.cells, np.exp(h + self.slack(forms)[:, None]), 0.0))

    def stiffness(self, forms: FloatArray, means: FloatArray, slacks: FloatArray) -> FloatArray:
        """What a change of the column changes the form by (m x k x k): the second derivatives of mu at the column that
        the form and its mean stand for, and the slack over the mean along the prior."""
        p, at, u = self.prior, np.arange(len(self.prior)), self.direction(forms)
        found = np.zeros((*forms.shape, len(p)))
        both = np.outer(p, p)
        if self.square:
            own = p * u
            found[:, at, at] = 2 * p
            found -= 2 * (own[:, :, None] * p + p[:, None] * own[:, None, :])
            found += (2 * (u**2 @ p) + slacks)[:, None, None] * both
        else:
            found[:, at, at] = p / np.maximum(u, 1e-290)
            found += (slacks - 1)[:, None, None] * both
        return np.asarray(found * (self.mass / means)[:, None, None])


def atoms_of(utility: ColumnSum, place: int, cells: np.ndarray) -> list[Atom]:
    """The parts of an information; none of another utility. `cells` (m x k): which entries can be positive."""
    cells = cells | ~cells.any(axis=1, keepdims=True)
    if not isinstance(utility, Information):
        return [Atom(place, utility.prior, 1.0, True, cells)] if isinstance(utility, ChiSquare) else []
    masses = utility.joint.sum(axis=0)
    return [
        Atom(place, shares / mass, float(mass), False, cells)
        for shares, mass in zip(utility.joint.T, masses, strict=True)
        if mass > 0
    ]


@dataclass(frozen=True)
class Point:
    """A point of the path: variables u (m x n), slacks s and multipliers l >= 0 of the conditions of columns (m x q), y
    of the rows, with slacks t of those that are inequalities, forms g (atoms x m x k) with means w and slacks z
    (atoms x m), and the excess."""

    u: FloatArray
    s: FloatArray
    l: FloatArray
    y: FloatArray
    t: FloatArray
    g: FloatArray
    w: FloatArray
    z: FloatArray
    excess: float

    def moved(self, step: Point, share: float) -> Point:
        """The point plus a share of a step."""
        pairs = [(getattr(self, one.name), getattr(step, one.name)) for one in fields(self)]
        return Point(*(own + share * change for own, change in pairs))


@dataclass(frozen=True)
class Path:
    """The end of a path: the matrix (k x m); multipliers of the k sums, of the program's rows, of the limits, of the rows
    and the edges of the cone (m x each); by place, 0 for the goal and 1 + i for limit i, the directions at which forms
    touch an information (m x k), or the multipliers of the actions of a Bayes gain (m x actions); `gap`, what complementarity is
    left, and `missed`, the largest residual; `excess`, by how much the limits are exceeded where that was minimised; `inside`, the first matrix of
    the path that keeps everything, with slack in all inequalities."""

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


class Interior:
    """min goal(Q) over the mechanisms of a program with fixed outputs that keep `limits`, pairs (mu_i, c_i):
    sum_y mu_i(q_y) <= c_i. The goal is the program's utility (a linear one signed, a convex one minimised); with
    `elastic` it is the least number by which all limits are exceeded at most.

    The variables of a column are its k entries, its least entry where the cone is complete, and the gain of each Bayes
    gain. The rows are the k sums, those of the program, and one a limit.
    """

    def __init__(self, program: Program, limits: Sequence[tuple[ColumnSum, float]], elastic: bool = False) -> None:
        assert program.outputs is not None
        self.program, self.limits, self.elastic = program, limits, elastic
        self.k, self.m, self.count = program.size, len(program.outputs), len(limits)
        goal = program.utility
        self.complete = int(isinstance(base_cone(program.cone), CompleteCone))
        atoms = [goal if isinstance(goal, ColumnSum) and not elastic else None, *(utility for utility, _ in limits)]
        self.gains = [(place, atom) for place, atom in enumerate(atoms) if isinstance(atom, BayesGain)]
        self.n = self.k + self.complete + len(self.gains)
        self.free = np.ones((self.m, self.n), dtype=bool)
        for x, y in program.empty_cells:
            self.free[y, x] = False
        if self.complete:
            self.free[:, self.k] = self.free[:, : self.k].any(axis=1)
        cells = self.free[:, : self.k]
        self.curved = [
            part for place, atom in enumerate(atoms) if atom is not None for part in atoms_of(atom, place, cells)
        ]
        self.conditions, self.actions = self._conditions()
        products = [sparse.csr_matrix(np.outer(row, row).reshape(1, -1)) for row in self.conditions]
        self.squares = sparse.csr_matrix(sparse.vstack(products).T)
        self.active = (np.abs(self.conditions) @ self.free.T.astype(float)).T > 0
        self.rows, self.right, self.equal = self._couple([number for _, number in limits])
        self.cost = np.zeros((self.m, self.n))
        if not elastic and isinstance(goal, Linear):
            self.cost[:, : self.k] = -program.sign * goal.matrix(self.k, self.m).T
        elif self.gains and self.gains[0][0] == 0:
            self.cost[:, self.k + self.complete] = 1.0
        self.cost *= self.free

    def _conditions(self) -> tuple[FloatArray, list[slice]]:
        """G with G u <= 0 for the variables u of a column: rows of the cone, edges or ratios, signs, actions; and where
        the actions of each Bayes gain stand."""
        k, base, eye = self.k, base_cone(self.program.cone), np.eye(self.k)
        own = cone_table(self.program.cone).toarray().reshape(-1, k)
        edges = np.zeros((0, k)) if self.complete else edge_table(base, k).toarray()
        self.own, self.edges = len(own), len(edges)
        table = np.zeros((len(own) + len(edges) + (1 + self.complete) * k, self.n))
        table[: self.own + self.edges, :k] = np.vstack([own, edges])
        first = self.own + self.edges
        table[first : first + k, :k] = -eye
        if isinstance(base, CompleteCone):
            table[first : first + k, k] = 1.0
            table[first + k :, :k] = eye
            table[first + k :, k] = -float(base.level.ratio)
        where = []
        for number, (_, atom) in enumerate(self.gains):
            part = np.zeros((len(atom.table), self.n))
            part[:, :k] = atom.table
            part[:, self.k + self.complete + number] = -1.0
            where.append(slice(len(table), len(table) + len(part)))
            table = np.vstack([table, part])
        return table, where

    def _couple(self, numbers: Sequence[float]) -> tuple[sparse.csr_matrix, FloatArray, np.ndarray]:
        """The rows over all variables, output by output, their right sides, and which are equations. Those that only
        empty cells are without terms, and so are limits of informations, whose gradients take their place."""
        k, m, n = self.k, self.m, self.n
        program = self.program
        data: list[float] = []
        rows: list[int] = []
        columns: list[int] = []
        for x in range(k):
            rows += [x] * m
            columns += [y * n + x for y in range(m)]
            data += [1.0] * m
        for number, row in enumerate(program.rows):
            for x, y, value in row.terms:
                rows.append(k + number)
                columns.append(y * n + x)
                data.append(float(value))
        first = k + len(program.rows)
        for number, (place, _) in enumerate(self.gains):
            if place:
                rows += [first + place - 1] * m
                columns += [y * n + k + self.complete + number for y in range(m)]
                data += [1.0] * m
        total = first + len(numbers)
        table = sparse.csr_matrix((data, (rows, columns)), shape=(total, m * n))
        table = sparse.csr_matrix(table.multiply(self.free.ravel()[None, :].astype(float)))
        table.eliminate_zeros()
        equal = np.array([True] * k + [row.sense == "=" for row in program.rows] + [False] * len(numbers), dtype=bool)
        right = np.array([1.0] * k + [float(row.rhs) for row in program.rows] + list(numbers))
        return table, right, equal

    def _start(self) -> Point:
        k, m = self.k, self.m
        u = np.zeros((m, self.n))
        u[:, :k] = self.free[:, :k]
        u[:, :k] /= np.maximum(u[:, :k].sum(axis=0), 1.0)
        base = base_cone(self.program.cone)
        if isinstance(base, CompleteCone):
            u[:, k] = u[:, :k].max(axis=1) * 2 / (1 + float(base.level.ratio))
        for number, (_, atom) in enumerate(self.gains):
            most = (atom.table @ u[:, :k].T).max(axis=0)
            u[:, k + self.complete + number] = most + np.abs(most) * 0.1 + 0.1 / m
        s = np.where(self.active, np.maximum(-u @ self.conditions.T, 1e-2 / m), 1.0)
        multipliers = np.where(self.active, START / k, 0.0)
        w = np.array([u[:, :k] @ atom.prior for atom in self.curved]).reshape(-1, m)
        w = np.where(w > 0, w, 1.0 / m)
        g = np.array([np.repeat(-START / k * atom.mass * atom.prior[None, :], m, axis=0) for atom in self.curved])
        held, _ = self._held(u, g.reshape(-1, m, k))
        t = np.where(self.equal, 0.0, np.maximum(self.right - held, 0.1))
        y = np.where(self.equal, 0.0, 1.0 / max(1, self.count))
        return Point(u, s, multipliers, y, t, g.reshape(-1, m, k), w, np.full(w.shape, START / k), 0.0)

    def _held(self, u: FloatArray, forms: FloatArray) -> tuple[FloatArray, sparse.csr_matrix]:
        """The left sides of all rows, and their gradients: a limit of an information is its forms' at the matrix."""
        first = self.k + len(self.program.rows)
        gradients = np.zeros((self.count, self.m, self.n))
        for atom, form in zip(self.curved, forms, strict=True):
            if atom.place:
                gradients[atom.place - 1, :, : self.k] += form
        gradients *= self.free
        lifted = sparse.csr_matrix(gradients.reshape(self.count, self.m * self.n))
        above = sparse.csr_matrix((first, self.m * self.n))
        rows = sparse.csr_matrix(self.rows + sparse.vstack([above, lifted])) if self.count else self.rows
        return np.asarray(rows @ u.ravel()), rows

    def solve(self, stopped: Callable[[], str] = lambda: "") -> Path:
        """Follow the path to its end, or until `stopped` says why it should end earlier."""
        at, best, early, merit, slow = self._start(), None, None, np.inf, 0
        for _ in range(STEPS):
            step, gap, missed, scale = self._step(at)
            # Both are one at the end.
            now = max(gap / (FINAL * scale), missed / EXACT)
            if early is None and max(gap, missed) <= EARLY * scale:
                early = at, gap
            share = 0.0 if step is None else self._room(at, step)
            slow = (
                slow + 1 if share < STALLED or (gap <= FINAL * scale and now > merit / 2) or now > LOST * merit else 0
            )
            if best is None or now < merit:
                best, merit = (at, gap, missed), now
            if merit <= 1 or step is None or slow > PATIENCE or stopped():
                break
            at = at.moved(step, share)
        assert best is not None
        return self._end(*best, None if early is None or stopped() else self._inside(*early))

    def _inside(self, at: Point, gap: float) -> FloatArray | None:
        """A matrix with slack in all inequalities, from a point of the path: steps that keep its complementarity; None
        where they find none."""
        for _ in range(CENTRED):
            held = self._held(at.u, at.g)[0]
            missed = np.abs((held - self.right + at.t)[: self.k + len(self.program.rows)]).max()
            off = np.abs(np.where(self.active, at.u @ self.conditions.T + at.s, 0.0)).max()
            matrix = at.u[:, : self.k].T
            kept = all(float(utility.mu(matrix).sum()) < most for utility, most in self.limits)
            if max(missed, off) <= EXACT and kept:
                return matrix
            step, *_ = self._step(at, gap)
            if step is None:
                return None
            at = at.moved(step, self._room(at, step))
        return None

    def _room(self, at: Point, step: Point, inside: float = INSIDE) -> float:
        """How far a step can go, at most 1, before something that must be positive loses the share `inside`."""
        found, kept, unequal = 1.0, self.free[:, : self.k], ~self.equal
        for own, change in (
            (at.s, step.s),
            (at.l, step.l),
            (at.u[:, : self.k][kept], step.u[:, : self.k][kept]),
            (at.t[unequal], step.t[unequal]),
            (at.y[unequal], step.y[unequal]),
            (at.w, step.w),
            (at.z, step.z),
        ):
            down = change < 0
            if down.any():
                found = min(found, inside * float((-own[down] / change[down]).min()))
        return found

    def _step(self, at: Point, held_gap: float | None = None) -> tuple[Point | None, float, float, float]:
        """(Mehrotra's step, None where rounding errors rule; the complementarity, the largest residual, the scale). With
        `held_gap` the step is one toward that complementarity."""
        k, m, n = self.k, self.m, self.n
        first, table = k + len(self.program.rows), self.conditions
        unequal = ~self.equal
        own_y = np.where(self.equal, 1.0, at.y)
        weights = [own_y[first + atom.place - 1] if atom.place else 1.0 for atom in self.curved]
        held, rows = self._held(at.u, at.g)
        slope, value = self.cost.copy(), float((self.cost * at.u).sum())
        # A slack that is missed costs as much as the column weighs.
        loose, costs, stiff = [], [], []
        for atom, form, mean, slack in zip(self.curved, at.g, at.w, at.z, strict=True):
            loose.append(slack - atom.slack(form))
            costs.append(loose[-1])
            stiff.append(atom.stiffness(form, mean, slack))
            if not atom.place:
                slope[:, :k] += form * self.free[:, :k]
                value += float((form * at.u[:, :k]).sum())
        curve = np.zeros((m, n, n))
        for weight, own in zip(weights, stiff, strict=True):
            curve[:, :k, :k] += weight * own
        dual = (slope + (rows.T @ at.y).reshape(m, n) + at.l @ table) * self.free
        column = np.where(self.active, at.u @ table.T + at.s, 0.0)
        primal = held - self.right + at.t
        primal[first:] -= at.excess
        rest = 1.0 - float(at.y[first:].sum()) if self.elastic else 0.0
        strain = [
            weight * atom.mass * mean * slack
            for weight, atom, mean, slack in zip(weights, self.curved, at.w, at.z, strict=True)
        ]
        gap = float((at.s * at.l).sum() + at.t[unequal] @ at.y[unequal] + sum(float(part.sum()) for part in strain))
        places = int(self.active.sum()) + int(unequal.sum()) + m * len(self.curved)
        missed = max(abs(rest), *(float(np.abs(part).max(initial=0.0)) for part in (dual, column, primal, *costs)))
        scale = max(abs(value), 1e-3)
        barrier = np.where(self.active, at.l / at.s, 0.0)
        matrix = curve + np.asarray((self.squares @ barrier.T).T).reshape(m, n, n)
        fixed = ~self.free
        matrix[fixed[:, :, None] | fixed[:, None, :]] = 0.0
        where = np.nonzero(fixed)
        matrix[where[0], where[1], where[1]] = 1.0
        try:
            size = np.sqrt(np.maximum(matrix[:, np.arange(n), np.arange(n)], 1e-300))
            inverse = np.linalg.inv(matrix / size[:, :, None] / size[:, None, :]) / size[:, :, None] / size[:, None, :]
        except np.linalg.LinAlgError:
            return None, gap, missed, scale
        if not np.isfinite(inverse).all():
            return None, gap, missed, scale
        schur = self._schur(rows[k:], inverse)
        loosening = np.where(self.equal, 0.0, at.t / own_y)
        schur[np.diag_indices(len(schur))] += loosening
        border = np.zeros(len(schur))
        border[first:] = 1.0
        factor = _factor(schur)
        if factor is None:
            return None, gap, missed, scale
        edge = scipy.linalg.cho_solve(factor, border) if self.elastic else border

        def reduced(right: FloatArray, aim: FloatArray, whole: float) -> tuple[FloatArray, FloatArray, float]:
            """(du, dy, excess) with K du + A' dy = right, A du - D dy - excess b = aim and, where elastic, b.dy = whole:
            the multipliers of the limits sum to one."""
            ahead = _times(inverse, right)
            dy = scipy.linalg.cho_solve(factor, rows @ ahead.ravel() - aim)
            excess = float((border @ dy - whole) / (border @ edge)) if self.elastic else 0.0
            dy = dy - excess * edge
            return _times(inverse, right - (rows.T @ dy).reshape(m, n) * self.free), dy, excess

        def direction(centre: float, ahead: Point | None) -> Point:
            """The Newton step toward complementarity `centre`, with the second-order terms of the step `ahead`."""
            second_s = 0.0 if ahead is None else ahead.s * ahead.l
            second_t = 0.0 if ahead is None else ahead.t * ahead.y
            product = np.where(self.active, centre - at.s * at.l - second_s, 0.0)
            side = np.where(self.equal, 0.0, centre - at.t * own_y - second_t)
            push = np.where(self.active, (at.l * column + product) / at.s, 0.0)
            right = -dual - push @ table
            aims = []
            for number, (weight, atom) in enumerate(zip(weights, self.curved, strict=True)):
                second = 0.0 if ahead is None else atom.mass * ahead.w[number] * ahead.z[number]
                aims.append(centre / weight - second)
                pull = _times(stiff[number], at.u[:, :k])
                push_back = aims[number] / at.w[number] + atom.mass * loose[number]
                right[:, :k] -= weight * (pull - push_back[:, None] * atom.prior)
            right *= self.free
            du, dy, excess = reduced(right, -primal - side / own_y, rest)
            for _ in range(REFINED):
                lost = right - _times(matrix, du) - (rows.T @ dy).reshape(m, n) * self.free
                short = -primal - side / own_y - rows @ du.ravel() + loosening * dy + border * excess
                more = reduced(lost, short, rest - float(border @ dy) if self.elastic else 0.0)
                du, dy, excess = du + more[0], dy + more[1], excess + more[2]
            ds = np.where(self.active, -column - du @ table.T, 0.0)
            dl = np.where(self.active, (product - at.l * ds) / at.s, 0.0)
            dt = np.where(self.equal, 0.0, (side - at.t * dy) / own_y)
            dg, dw, dz = np.zeros_like(at.g), np.zeros_like(at.w), np.zeros_like(at.z)
            for number, atom in enumerate(self.curved):
                mean, slack = at.w[number], at.z[number]
                change = _times(stiff[number], at.u[:, :k] + du[:, :k])
                back = aims[number] / mean + atom.mass * loose[number]
                dg[number] = (change - back[:, None] * atom.prior) * (atom.prior > 0)
                along = (atom.direction(at.g[number]) * dg[number]).sum(axis=1)
                dz[number] = -loose[number] - along / atom.mass
                dw[number] = aims[number] / (atom.mass * slack) - mean - mean / slack * dz[number]
            return Point(du, ds, dl, dy, dt, dg, dw, dz, excess)

        if held_gap is not None:
            found = direction(held_gap / places, None)
        else:
            ahead = direction(0.0, None)
            after = at.moved(ahead, self._room(at, ahead))
            left = float((after.s * after.l).sum() + after.t[unequal] @ after.y[unequal])
            for atom, weight, mean, slack in zip(self.curved, weights, after.w, after.z, strict=True):
                left += float((weight * atom.mass * mean * slack).sum())
            centre = max(max(min(left / gap, 1.0) ** 3, 1e-4) * gap, FINAL / 2 * scale) / places
            found = direction(centre, ahead)
        if not all(np.isfinite(part).all() for part in (found.u, found.y, found.g, found.w, found.z)):
            return None, gap, missed, scale
        return found, gap, missed, scale

    def _schur(self, rows: sparse.csr_matrix, inverse: FloatArray) -> FloatArray:
        """A K^-1 A' of the sums and of further rows, K having the blocks of `inverse` (m x n x n)."""
        k, m, n = self.k, self.m, self.n
        free = self.free[:, :k].astype(float)
        blocks = sparse.bsr_matrix((inverse, np.arange(m), np.arange(m + 1)), shape=(m * n, m * n))
        ahead = sparse.csr_matrix(rows @ blocks)
        found = np.zeros((k + rows.shape[0], k + rows.shape[0]))
        found[:k, :k] = np.einsum("yij,yi,yj->ij", inverse[:, :k, :k], free, free, optimize=True)
        if rows.shape[0]:
            spread = sparse.csr_matrix(
                (free.ravel(), (np.repeat(np.arange(m), k) * n + np.tile(np.arange(k), m), np.tile(np.arange(k), m))),
                shape=(m * n, k),
            )
            found[k:, :k] = (ahead @ spread).toarray()
            found[:k, k:] = found[k:, :k].T
            found[k:, k:] = (ahead @ rows.T).toarray()
        return found

    def _end(self, at: Point, gap: float, missed: float, inside: FloatArray | None) -> Path:
        k, own = self.k, self.own + self.edges
        first = k + len(self.program.rows)
        tables = {place: at.l[:, where] for (place, _), where in zip(self.gains, self.actions, strict=True)}
        for atom, form, mean in zip(self.curved, at.g, at.w, strict=True):
            # What is given has a direction for each value; in the end they are one, where it matters: the largest.
            column = atom.direction(form) * (atom.prior > 0) * mean[:, None]
            tables[atom.place] = np.maximum(tables.get(atom.place, 0.0), column)
        return Path(
            at.u[:, :k].T,
            at.y[:k],
            at.y[k:first],
            at.y[first:],
            at.l[:, : self.own],
            at.l[:, self.own : own],
            tables,
            gap,
            missed,
            at.excess,
            inside,
        )


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
    """m matrices times a column each."""
    return np.asarray((blocks @ columns[:, :, None])[:, :, 0])
