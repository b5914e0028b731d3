"""Estimates with a covariance, whose intervals have normal quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.mechanisms.estimators.estimate import normal_quantile

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@checked
class NormalEstimates(ByContent):
    """The common part of results with k `values` and their `covariance` (k x k)."""

    values: FloatArray
    covariance: FloatArray

    @property
    def standard_errors(self) -> FloatArray:
        """k standard errors."""
        return errors_of(self.covariance)

    def intervals(self, level: float = 0.95) -> FloatArray:
        """k x 2 confidence limits: normal quantiles of the standard errors. Raises InputError for a level outside
        (0, 1)."""
        half = normal_quantile(level) * self.standard_errors
        return np.stack([self.values - half, self.values + half], axis=-1)


def errors_of(covariance: FloatArray) -> FloatArray:
    """The standard errors of a covariance; rounding below 0 is 0."""
    return np.asarray(np.sqrt(np.maximum(np.diagonal(covariance), 0.0)))
