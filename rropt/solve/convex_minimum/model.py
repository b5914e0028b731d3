"""A convex programme over columns: its variables, conditions and rows in floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy import sparse

from rropt.program.cones import CompleteCone, FloatArray, base_cone
from rropt.program.limits import Sum
from rropt.program.programs import BayesGain, ChiSquare, ColumnSum, Information, Linear, Program
from rropt.program.secrets import OfSecret
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Dual, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import cone_table, edge_table, entry_model


@dataclass(frozen=True)
class Atom:
    """A part of an information, `mass` times that of a prior p: mu(v) = sup { g.v : C(g) <= 0 } for a convex C whose
    gradient at the best g is v over its mean p.v.

    C(g) = log sum_x p_x exp(g_x / p_x) for mutual information; with h = g / p, C(g) = Var_p(h) / 4 + E_p(h) for
    chi-square information (`square`). Inputs without probability have no part in it. `cells` (m x k) says which entries
    can be positive; `place` is 1 + i for one of limit i, -i for part i of the goal. g is scaled by `mass`. Of a secret
    it is about the means `table` (n x k) of a column, k being n in all else.
    """

    place: int
    prior: FloatArray
    mass: float
    square: bool
    cells: np.ndarray
    table: FloatArray | None = None

    def seen(self, columns: FloatArray) -> FloatArray:
        """The numbers that it is about, of columns (m x k)."""
        return columns if self.table is None else np.asarray(columns @ self.table.T)

    def back(self, forms: FloatArray) -> FloatArray:
        """Forms of that as forms of the columns."""
        return forms if self.table is None else np.asarray(forms @ self.table)

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

    def columns(self, columns: FloatArray, forms: FloatArray) -> FloatArray:
        """Columns (m x k) with the means of these, and the directions of m forms."""
        return np.asarray((columns @ self.prior)[:, None] * self.direction(forms))

    def stiffness(self, forms: FloatArray, means: FloatArray, slacks: FloatArray) -> FloatArray:
        """By how much a change of the column changes the form (m x k x k): the second derivatives of mu at the column
        that form and mean stand for, and along the prior the slack over the mean."""
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


def atoms_of(utility: ColumnSum, place: int, cells: np.ndarray, weight: float = 1.0) -> list[Atom]:
    """The parts of `weight` times an information, one for each value of what is given; none of another utility. `cells`
    (m x k): which entries can be positive."""
    if isinstance(utility, OfSecret):
        seen = (cells[:, None, :] & (utility.table > 0)).any(axis=2)
        return [replace(atom, table=utility.table) for atom in atoms_of(utility.inner, place, seen, weight)]
    if not isinstance(utility, Information):
        return [Atom(place, utility.prior, weight, True, cells)] if isinstance(utility, ChiSquare) else []
    masses = utility.joint.sum(axis=0)
    return [
        Atom(place, shares / mass, weight * float(mass), False, _likely(cells, shares > 0))
        for shares, mass in zip(utility.joint.T, masses, strict=True)
        if mass > 0
    ]


def _likely(cells: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """The cells of inputs with probability; in an output without such a cell all of these."""
    inside = np.asarray(cells & positive)
    return np.asarray(np.where(inside.any(axis=1, keepdims=True), inside, positive))


def _alike(atoms: list[Atom]) -> list[Atom]:
    """The same, about as many numbers each: those beyond have no probability."""
    width = max((len(atom.prior) for atom in atoms), default=0)
    found = []
    for atom in atoms:
        own, m = len(atom.prior), len(atom.cells)
        if own < width:
            table = np.eye(own) if atom.table is None else atom.table
            atom = replace(
                atom,
                prior=np.concatenate([atom.prior, np.zeros(width - own)]),
                cells=np.hstack([atom.cells, np.zeros((m, width - own), dtype=bool)]),
                table=np.vstack([table, np.zeros((width - own, table.shape[1]))]),
            )
        found.append(atom)
    return found


START = 2.0
"""Multipliers and slacks of forms at the start, times the number of inputs."""


@dataclass(frozen=True)
class Point:
    """A point of a path: variables u (m x n); slacks s and multipliers l >= 0 of the conditions of columns (m x q);
    multipliers y of the rows, and slacks t of those that are inequalities; forms g (atoms x m x k) with means w and
    slacks z (atoms x m); and by how much limits are exceeded."""

    u: FloatArray
    s: FloatArray
    multipliers: FloatArray
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


class Model:
    """min goal(Q) over the mechanisms of a program with fixed outputs that keep `limits`, pairs (mu_i, c_i):
    sum_y mu_i(q_y) <= c_i. The goal is the program's utility (a linear one signed, a convex one minimised); with
    `elastic` it is the least number by which all limits are exceeded at most.

    The n variables u of a column are its k entries, its least entry where the cone is complete, and the gain of each
    Bayes gain; `free` (m x n) are those that no row empties. The conditions are G u <= 0, G being q x n; `active` (m x
    q) are those with a free variable. A linear goal is divided by `unit`, what the answers can change of it. The
    rows are the k sums, those of the program, and one per limit.
    """

    def __init__(self, program: Program, limits: Sequence[tuple[ColumnSum, float]], elastic: bool = False) -> None:
        assert program.outputs is not None
        self.program, self.limits, self.elastic = program, limits, elastic
        self.k, self.m, self.first = program.size, len(program.outputs), program.size + len(program.rows)
        goal = program.utility
        self.complete = int(isinstance(base_cone(program.cone), CompleteCone))
        parts = goal.parts if isinstance(goal, Sum) else [(Fraction(1), goal)] if isinstance(goal, ColumnSum) else []
        whole = [] if elastic else [(-i, part, abs(float(weight))) for i, (weight, part) in enumerate(parts)]
        # A small limit is one beside the sums of one, too: what it leaves is found in its own unit.
        self.units = np.array([most if 0 < most < 1 else 1.0 for _, most in limits])
        whole += [(1 + i, utility, 1 / float(self.units[i])) for i, (utility, _) in enumerate(limits)]
        self.gains = [(place, own) for place, own, _ in whole if isinstance(own, BayesGain)]
        self.n = self.k + self.complete + len(self.gains)
        self.free = np.ones((self.m, self.n), dtype=bool)
        for x, y in program.empty_cells:
            self.free[y, x] = False
        if self.complete:
            self.free[:, self.k] = self.free[:, : self.k].any(axis=1)
        cells = self.free[:, : self.k]
        self.atoms = _alike([atom for place, own, weight in whole for atom in atoms_of(own, place, cells, weight)])
        self.conditions, self.actions = self._conditions()
        products = [sparse.csr_matrix(np.outer(row, row).reshape(1, -1)) for row in self.conditions]
        self.squares = sparse.csr_matrix(sparse.vstack(products).T)
        self.active = (np.abs(self.conditions) @ self.free.T.astype(float)).T > 0
        self.rows, self.right, self.equal = self._rows()
        self.cost, self.unit = np.zeros((self.m, self.n)), 1.0
        if not elastic and isinstance(goal, Linear):
            costs = -program.sign * goal.matrix(self.k, self.m).T
            self.unit = float(np.ptp(costs, axis=0).sum()) or 1.0
            self.cost[:, : self.k] = costs / self.unit
        elif not elastic and isinstance(goal, Sum):
            self.cost[:, : self.k] = -program.sign * Linear(goal.cost).matrix(self.k, self.m).T
        weights = [weight for place, own, weight in whole if isinstance(own, BayesGain) and place <= 0]
        for number, weight in enumerate(weights):
            self.cost[:, self.k + self.complete + number] = weight
        self.cost *= self.free

    def _conditions(self) -> tuple[FloatArray, list[slice]]:
        """G: rows of the cone, edges or ratios, signs, actions; and where the actions of each Bayes gain are."""
        k, base, eye = self.k, base_cone(self.program.cone), np.eye(self.k)
        own = cone_table(self.program.cone).toarray().reshape(-1, k)
        edges = np.zeros((0, k)) if self.complete else edge_table(base, k).toarray()
        self.own, self.edges = len(own), len(edges)
        first = self.own + self.edges
        table = np.zeros((first + (1 + self.complete) * k, self.n))
        table[:first, :k] = np.vstack([own, edges])
        table[first : first + k, :k] = -eye
        if isinstance(base, CompleteCone):
            table[first : first + k, k] = 1.0
            table[first + k :, :k] = eye
            table[first + k :, k] = -float(base.level.ratio)
        where = []
        for number, (_, gain) in enumerate(self.gains):
            part = np.zeros((len(gain.table), self.n))
            part[:, :k] = gain.table
            part[:, k + self.complete + number] = -1.0
            where.append(slice(len(table), len(table) + len(part)))
            table = np.vstack([table, part])
        return table, where

    def _rows(self) -> tuple[sparse.csr_matrix, FloatArray, np.ndarray]:
        """The rows over all variables, output by output; their right sides; which are equations. Rows that only empty
        cells have no terms, and limits on mutual information have no terms of their own: their gradients are added."""
        k, m, n, program = self.k, self.m, self.n, self.program
        entries = [(x, y * n + x, 1.0) for x in range(k) for y in range(m)]
        # Rows in counts of people would have residuals of thousands beside sums of one.
        largest = [max((abs(float(value)) for *_, value in row.terms), default=0.0) for row in program.rows]
        self.sizes = np.array([size or 1.0 for size in largest])
        for number, row in enumerate(program.rows):
            entries += [(k + number, y * n + x, float(value) / self.sizes[number]) for x, y, value in row.terms]
        for number, (place, _) in enumerate(self.gains):
            if place > 0:
                at = k + self.complete + number
                entries += [(self.first + place - 1, y * n + at, 1 / float(self.units[place - 1])) for y in range(m)]
        rows, columns, values = zip(*entries, strict=True)
        shape = (self.first + len(self.limits), m * n)
        table = sparse.csr_matrix((values, (rows, columns)), shape=shape)
        table = sparse.csr_matrix(table.multiply(self.free.ravel()[None, :].astype(float)))
        table.eliminate_zeros()
        equal = [True] * k + [row.sense == "=" for row in program.rows] + [False] * len(self.limits)
        right = [1.0] * k + [float(row.rhs) / size for row, size in zip(program.rows, self.sizes, strict=True)]
        right += [most / float(unit) for (_, most), unit in zip(self.limits, self.units, strict=True)]
        return table, np.array(right), np.array(equal, dtype=bool)

    def start(self) -> Point:
        """A point with all slacks positive near the mechanism that answers everything equally often."""
        k, m = self.k, self.m
        u = np.zeros((m, self.n))
        u[:, :k] = self.free[:, :k]
        u[:, :k] /= np.maximum(u[:, :k].sum(axis=0), 1.0)
        base = base_cone(self.program.cone)
        if isinstance(base, CompleteCone):
            u[:, k] = u[:, :k].max(axis=1) * 2 / (1 + float(base.level.ratio))
        for number, (_, gain) in enumerate(self.gains):
            most = (gain.table @ u[:, :k].T).max(axis=0)
            u[:, k + self.complete + number] = most + np.abs(most) * 0.1 + 0.1 / m
        s = np.where(self.active, np.maximum(-u @ self.conditions.T, 1e-2 / m), 1.0)
        multipliers = np.where(self.active, START / k, 0.0)
        w = np.array([atom.seen(u[:, :k]) @ atom.prior for atom in self.atoms]).reshape(-1, m)
        w = np.where(w > 0, w, 1.0 / m)
        g = np.array([np.repeat(-START / k * atom.mass * atom.prior[None, :], m, axis=0) for atom in self.atoms])
        g = g.reshape(len(self.atoms), m, -1) if self.atoms else g.reshape(0, m, k)
        t = np.where(self.equal, 0.0, np.maximum(self.right - self.gradients(g) @ u.ravel(), 0.1))
        y = np.where(self.equal, 0.0, 1.0 / max(1, len(self.limits)))
        return Point(u, s, multipliers, y, t, g, w, np.full(w.shape, START / k), 0.0)

    def gradients(self, forms: FloatArray) -> sparse.csr_matrix:
        """The rows, with the terms of limits on mutual information in their rows: times u, the left sides of all
        rows."""
        if not self.limits:
            return self.rows
        found = np.zeros((len(self.limits), self.m, self.n))
        for atom, form in zip(self.atoms, forms, strict=True):
            if atom.place > 0:
                found[atom.place - 1, :, : self.k] += atom.back(form)
        lifted = sparse.csr_matrix((found * self.free).reshape(len(self.limits), -1))
        above = sparse.csr_matrix((self.first, self.m * self.n))
        return sparse.csr_matrix(self.rows + sparse.vstack([above, lifted]))

    def weights(self, y: FloatArray) -> list[float]:
        """The weight of each atom: the multiplier of its limit, one in the goal."""
        return [float(y[self.first + atom.place - 1]) if atom.place > 0 else 1.0 for atom in self.atoms]


@dataclass(frozen=True)
class End:
    """The claim of a solver, the matrix (k x m), the multipliers of the linear problem without the rows of limits, and
    those of the limits.

    `tables` is what minorants are made of: by place, -i for part i of the goal and 1 + i for limit i, directions at
    which they touch an information (m x k), or weights of the actions of a Bayes gain (m x actions). `inside` is a
    matrix with slack in all inequalities, where one was found.
    """

    claim: SolverClaim
    matrix: FloatArray | None = None
    dual: Dual | None = None
    limits: FloatArray | None = None
    tables: Mapping[int, FloatArray] = field(default_factory=dict)
    inside: FloatArray | None = None

    def without_multipliers(self) -> End:
        """The same with all multipliers zero, and forms of the goal that are zero: no information is negative."""
        assert self.dual is not None and self.limits is not None
        columns = self.dual.columns.mapped(np.zeros_like)
        dual = Dual(np.zeros_like(self.dual.prices), np.zeros_like(self.dual.rows), columns)
        tables = {**self.tables, 0: np.ones_like(self.tables[0])}
        return replace(self, dual=dual, limits=np.zeros_like(self.limits), tables=tables)


def solve_epigraph(program: Program, limits: Sequence[tuple[ColumnSum, float]], effort: SolveLimits) -> End:
    """The end of the linear programme over Q and the gains t_y of the outputs, those of the goal and of each limit,
    each divided by its largest score. Rows s.q_y <= t_y, one for each action s, have the weights of the actions as
    multipliers."""
    goal = program.utility
    of_goal = isinstance(goal, BayesGain)
    gains = [own for own in (goal, *(utility for utility, _ in limits)) if isinstance(own, BayesGain)]
    model = entry_model(replace(program, utility=Linear(()), sense="maximize") if of_goal else program)
    m, (rows, variables) = model.width, model.matrix.shape
    count = variables + m * len(gains)
    units = np.array([np.abs(gain.table).max() or 1.0 for gain in gains])
    unit = float(units[0]) if of_goal else 1.0
    tables = [gain.table / size for gain, size in zip(gains, units, strict=True)]
    tests = [_tests(table, m, variables, number, len(gains)) for number, table in enumerate(tables)]
    totals = [_total(m, variables + number * m, count) for number in range(of_goal, len(gains))]
    wide = sparse.hstack([model.matrix, sparse.csr_matrix((rows, m * len(gains)))])
    most = [number for _, number in limits] / units[of_goal:]
    above = np.concatenate([np.zeros(sum(test.shape[0] for test in tests)), most])
    cost = np.concatenate([model.cost, np.zeros(m * len(gains))])
    if of_goal:
        cost[variables : variables + m] = -1.0
    found = LpModel(
        cost,
        sparse.vstack([wide, *tests, *totals], format="csc"),
        np.concatenate([model.row_lower, np.full(len(above), -np.inf)]),
        np.concatenate([model.row_upper, above]),
        np.concatenate([np.zeros(variables), np.full(count - variables, -np.inf)]),
        np.full(count, np.inf),
    ).solve(effort.remaining(), effort.interrupted)
    objective = -unit * found.objective if of_goal else program.sign * found.objective
    claim = SolverClaim("highs", found.status, objective, found.seconds)
    if found.x is None or found.row_dual is None:
        return End(claim)
    ends = rows + np.cumsum([0, *(test.shape[0] for test in tests)])
    weights = [found.row_dual[a:b].reshape(-1, m).T for a, b in pairwise(ends)]
    priced = unit * found.row_dual
    shares = dict(enumerate(weights, start=1 - of_goal))
    limited = priced[ends[-1] :] / units[of_goal:]
    return End(claim, model.entries(found.x), model.dual(priced[:rows]), limited, shares)


def _tests(scores: FloatArray, m: int, variables: int, number: int, gains: int) -> sparse.csr_matrix:
    """Rows s.q_y - t_y, action by action."""
    actions = len(scores)
    table = sparse.kron(sparse.csr_matrix(scores), sparse.eye(m))
    rest = [sparse.csr_matrix((actions * m, variables - table.shape[1]))]
    own = sparse.kron(np.ones((actions, 1)), -sparse.eye(m))
    rest += [own if other == number else sparse.csr_matrix((actions * m, m)) for other in range(gains)]
    return sparse.csr_matrix(sparse.hstack([table, *rest]))


def _total(m: int, first: int, count: int) -> sparse.csr_matrix:
    """The row of the sum of m variables."""
    return sparse.csr_matrix((np.ones(m), (np.zeros(m, dtype=int), first + np.arange(m))), shape=(1, count))
