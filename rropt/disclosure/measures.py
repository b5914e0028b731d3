"""The measures of a file as plain numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rropt.io.content import ByContent

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class DisclosureRisk(ByContent):
    """Risk of the cells that hold exactly one record of a file.

    `cells` are their labels; `r1` the probabilities that the record's person is alone in the population with these keys
    (and, after misclassification, that the keys are that person's), `r2` the probabilities that a match with a person
    who is drawn at random among those with these keys is correct. Estimates: the model's parameters are plugged in.
    """

    cells: tuple[tuple[str, ...], ...]
    r1: FloatArray
    r2: FloatArray

    @property
    def tau1(self) -> float:
        """The expected number of sample uniques that are population uniques: the sum of r1."""
        return float(self.r1.sum())

    @property
    def tau2(self) -> float:
        """The expected number of correct matches among the sample uniques: the sum of r2."""
        return float(self.r2.sum())

    @property
    def worst(self) -> float:
        """The largest r2; 0 where no cell holds one record."""
        return float(self.r2.max(initial=0.0))
