"""Answers to a family of two likelihoods, which estimates without a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.mechanisms.estimators.families import checked_method
from rropt.mechanisms.estimators.recover import Answers, Solved
from rropt.mechanisms.estimators.terms import Terms
from rropt.model.prior import Prior

if TYPE_CHECKING:
    from rropt.mechanisms.implicit import TwoLevelFamily

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
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
        """Not tested: the test needs the likeliest frequencies, which are not known without the matrix."""
        return ""
