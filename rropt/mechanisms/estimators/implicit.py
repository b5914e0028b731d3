"""Answers to a family of two likelihoods, which estimates without a matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import rel_entr

from rropt.mechanisms.estimators.families import checked_method
from rropt.mechanisms.estimators.fit import LEVEL
from rropt.mechanisms.estimators.recover import Answers, Solved
from rropt.mechanisms.estimators.terms import Terms
from rropt.model.prior import Prior

if TYPE_CHECKING:
    from rropt.mechanisms.implicit import TwoLevelFamily

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class FamilyAnswers(Answers):
    """The m `counts` of the outputs of a `family`."""

    family: TwoLevelFamily
    counts: FloatArray
    categories: tuple[str, ...]

    def solve(self, method: str, prior: Prior | None) -> Solved:
        checked_method(method, prior)
        # A family takes two answers or more; one is taken twice, which changes no mean.
        times = self.counts.astype(np.int64) * (2 if self.counts.sum() == 1 else 1)
        found = self.family.estimate(self.family.observed(times))
        covariance = None if found.covariance is None else found.covariance * found.n
        return Solved(Terms(found.centre, found.variances * found.n, found.moments, covariance))

    def misfit(self, outputs: tuple[str, ...], tests: int = 1) -> str:
        """By the shares of the reports whose outputs an input makes likelier, each of which has its least value where
        no record has the input, and its largest where all have it (Chernoff's bound, for all inputs together): the
        likeliest frequencies are not known without the matrix."""
        family, n = self.family, float(self.counts.sum())
        inside, ratio = family.memberships, float(family.ratio)
        least, most = inside / family.count, inside * ratio / (inside * ratio + family.count - inside)
        centre = family.estimate(family.observed(self.counts.astype(np.int64) * (2 if n == 1 else 1))).centre
        shares = np.clip(least + centre * (most - least), 0.0, 1.0)
        nearest = np.clip(shares, least, most)
        x = int(np.argmax(apart := rel_entr(shares, nearest) + rel_entr(1 - shares, 1 - nearest)))
        probability = 2 * family.size * tests * math.exp(-n * float(apart[x]))
        if probability > LEVEL:
            return ""
        said = f"{100 * least:.3g} % to {100 * most:.3g} %"
        return (
            f"these counts cannot come from this mechanism (p < {max(probability, 1e-300):.1g}): "
            f"{100 * shares[x]:.3g} % are outputs that {family.inputs[x]!r} makes likelier, of which it gives {said}"
        )
