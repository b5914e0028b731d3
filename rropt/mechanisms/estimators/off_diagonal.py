"""Estimates of a mechanism with one number off the diagonal of each row, in closed form and O(k) memory.

Q = D + o 1' with D = diag(d), d_x = Q[x, x] - o_x. Its inverse has the same form (Sherman and Morrison): the one linear
unbiased estimator is L[x, y] = ([x = y] - u_y / c) / d_x with u = o / d, c = 1 + sum u.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rropt.mechanisms.estimators.fit import fit_of, sentence
from rropt.mechanisms.estimators.likelihood import MaximumLikelihood
from rropt.mechanisms.estimators.recover import Answers, Solved, prior_of
from rropt.mechanisms.estimators.simplex import inside
from rropt.mechanisms.estimators.terms import MOST_COVARIED, Terms, moments_of, of_others
from rropt.model.prior import Prior

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

CLEAR = 1e-10
"""A difference d below this share of the largest entry is taken to the general method, which names what it does not
distinguish."""
HALVINGS = 80
"""Of an interval of doubles below 1: what is left is less than their last digit."""


@dataclass(frozen=True, eq=False, repr=False)
class OffDiagonalAnswers(Answers):
    """`counts` of the outputs of diag(`own`) + `off` 1' (k numbers each), the inputs of which are `categories`."""

    own: FloatArray
    off: FloatArray
    counts: FloatArray
    categories: tuple[str, ...]

    def is_clear(self) -> bool:
        """Whether the truth is the likelier output in every row, by far more than rounding."""
        return bool(self.own.min() > CLEAR * (self.own + self.off).max())

    def solve(self, method: str, prior: Prior | None) -> Solved:
        if method == "locally_best":
            prior_of(prior, self.categories)
        likeliest = self.likeliest.values if method == "mle" else None
        return Solved(self._terms(), likeliest)

    def _terms(self) -> Terms:
        """The variances of the estimates, and their covariances where they are few.

        If y is the answer, the term of x minus its mean is ([x = y] - f_x - e_y) / d_x, where e has mean 0 and f are
        the shares of the outputs at frequencies near the estimate. Input z gives d_x^2 times the square of the term of
        x the mean (1 - 2 w_x) (o_z + d_x [x = z]) + g_z, w = u / c, g = d w^2 + o |w|^2."""
        u = self.off / self.own
        lost = u / (1 + u.sum())
        shares = self.counts / self.counts.sum()
        mean = (shares - lost @ shares) / self.own
        near = inside(mean, int(self.counts.sum()))
        f = self.own * near + self.off @ near
        e = lost - lost @ f
        second = f @ e**2
        spread = np.maximum(f * (1 - f) - 2 * f * e + second, 0.0)
        covariance = None
        if len(f) <= MOST_COVARIED:
            covariance = np.diag(f) - np.outer(f, f) - np.add.outer(f * e, f * e) + second
            covariance /= np.outer(self.own, self.own)
        rest, g = 1 - 2 * lost, self.own * lost**2 + self.off * (lost @ lost)
        others = rest * of_others(near @ self.off, self.off.sum(), self.off, near)
        others += of_others(near @ g, g.sum(), g, near)
        own, scale = rest * (self.off + self.own) + g, self.own**2
        return Terms(mean, spread / scale, moments_of(own / scale, others / scale, mean), covariance)

    @cached_property
    def likeliest(self) -> MaximumLikelihood:
        """The likeliest frequencies, from the conditions of the optimum.

        With s = o'pi the outputs have the shares lambda = d pi + s. The conditions state that lambda_x is the larger of
        s and f_x d_x / (1 - o_x r), r = sum f / lambda. For each s the r that makes them sum to one is found by
        bisection; so is s, since o'pi - s falls from o'pi at 0 to below 0 at 1 / k. An r that nothing holds below
        1 / max o leaves what is missing to that input. How good the result is the gap says.
        """
        f, total = self.counts / self.counts.sum(), float(self.counts.sum())
        low, high = 0.0, 1 / len(f)
        for _ in range(HALVINGS):
            s = (low + high) / 2
            shares = self._shares(s)
            low, high = (low, s) if shares is None or self.off @ self._inputs(shares, s) < s else (s, high)
        shares = self._shares(low)
        assert shares is not None
        values = self._inputs(shares, low)
        values /= values.sum()
        mixed, seen = self.own * values + self.off @ values, f > 0
        ratio = self.off * (f[seen] / mixed[seen]).sum()
        ratio[seen] += f[seen] * self.own[seen] / mixed[seen]
        gap = total * math.log(max(1.0, float(ratio.max())))
        return MaximumLikelihood(values, total * float(f[seen] @ np.log(mixed[seen])), gap)

    def _inputs(self, shares: FloatArray, s: float) -> FloatArray:
        return np.asarray(np.maximum(shares - s, 0.0) / self.own)

    def _shares(self, s: float) -> FloatArray | None:
        """The k shares of the outputs for this s, or None where it is too large for any r >= 0."""
        parts, most = self.counts / self.counts.sum() * self.own, float(self.off.max())
        if np.maximum(parts, s).sum() > 1:
            return None
        # r times the largest o, below 1.
        low, high = 0.0, 1.0
        relative = self.off / most if most else self.off
        for _ in range(HALVINGS):
            r = (low + high) / 2
            if r in (low, high):
                break
            if np.maximum(parts / (1 - relative * r), s).sum() > 1:
                high = r
            else:
                low = r
        found = np.maximum(parts / (1 - relative * low), s)
        found[np.argmax(self.off)] += 1 - found.sum()
        return np.asarray(found)

    def misfit(self, outputs: tuple[str, ...], tests: int = 1) -> str:
        own = self.own + self.off
        # The largest and the smallest number of the others are one of two.
        order = np.argsort(self.off)
        least = np.full(len(own), self.off[order[0]])
        most = np.full(len(own), self.off[order[-1]])
        least[order[0]], most[order[-1]] = self.off[order[1]], self.off[order[-2]]
        least, most = np.minimum(least, own), np.maximum(most, own)
        probability = fit_of(self.counts, most > 0, lambda: self.likeliest)
        return sentence(probability * tests, self.counts, least, most, outputs)
