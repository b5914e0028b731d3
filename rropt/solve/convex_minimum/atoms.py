"""Informations as suprema of linear forms: what an interior-point method needs of them."""

from dataclasses import dataclass

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ChiSquare, ColumnSum, Information


@dataclass(frozen=True)
class Atom:
    """A part of an information, `mass` times that of a prior p: mu(v) = sup { g.v : C(g) <= 0 } for a convex C whose
    gradient at the best g is v over its mean p.v.

    C(g) = log sum_x p_x exp(g_x / p_x) for mutual information; with h = g / p, C(g) = Var_p(h) / 4 + E_p(h) for
    chi-square information (`square`). Inputs without probability have no part in it. `cells` (m x k) says which entries
    can be positive; `place` is 1 + i for one of limit i, -i for part i of the goal. g is scaled by `mass`.
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
