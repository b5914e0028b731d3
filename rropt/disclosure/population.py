"""A fitted population, and the risk that a sample from it carries."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rropt.disclosure import formulas
from rropt.disclosure.measures import DisclosureRisk
from rropt.disclosure.quasi_identifiers import QuasiIdentifierTable
from rropt.disclosure.release import Intruder, MisclassifiedRisk, expected_risk, released_risk
from rropt.io.content import ByContent

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class Population(ByContent):
    """A model of the population that a sample was drawn from: each cell's count is Poisson with mean `rates` (of the
    table's shape), or negative binomial with that mean and `shape` (infinite: Poisson); each person is sampled with
    probability `fraction`, independently. `margins` are those that the model keeps, `parameters` how many numbers were
    fitted, `log_likelihood` that of the sample.
    """

    table: QuasiIdentifierTable
    fraction: float
    rates: FloatArray
    shape: float
    margins: tuple[tuple[str, ...], ...]
    parameters: int
    log_likelihood: float

    @property
    def aic(self) -> float:
        """Akaike's criterion of the fit; less is better."""
        return 2 * self.parameters - 2 * self.log_likelihood

    @cached_property
    def inverse(self) -> FloatArray:
        """E(1 / F | f) of each cell with f >= 1 sampled people; 0 elsewhere."""
        counts, rates = self.table.counts.ravel(), self.rates.ravel()
        found = np.zeros(len(counts))
        once, more = counts == 1, counts > 1
        found[once] = formulas.inverse_given_one(rates[once], self.fraction, self.shape)
        # Equal cells are common: many have one rate and one count.
        pairs, back = np.unique(np.column_stack([counts[more], rates[more]]), axis=0, return_inverse=True)
        if len(pairs):
            f, rate = pairs.T[:, None]
            found[more] = formulas.inverse_given(f, rate, self.fraction, self.shape)[back.ravel()]
        return found.reshape(self.rates.shape)

    def risk(self) -> DisclosureRisk:
        """r_1k and r_2k of the sample's uniques as they are. Source: Ayed, Battiston and Camerlenghi (1)-(2)."""
        cells = np.flatnonzero(self.table.counts.ravel() == 1)
        rates = self.rates.ravel()[cells]
        return DisclosureRisk(
            tuple(self.table.labels_of(cells)),
            formulas.unique_given_one(rates, self.fraction, self.shape),
            formulas.inverse_given_one(rates, self.fraction, self.shape),
        )

    def after(self, mechanisms: Mapping[str, Any], intruder: Intruder = "best") -> MisclassifiedRisk:
        """The expected risk once these columns (name: mechanism) have gone through their mechanisms, over the draw
        of the release, given the sample. The `intruder` "label" takes a released category for the true one, as Shlomo
        and Skinner do; "best" knows the mechanism and looks among those who are likeliest to be released so. Raises
        InputError."""
        return expected_risk(self, mechanisms, intruder)

    def released(self, table: QuasiIdentifierTable, mechanisms: Mapping[str, Any]) -> DisclosureRisk:
        """The measures of the uniques of a released `table`, misclassified by `mechanisms` with outputs that are
        categories, for the intruder "label": means over samples and populations, given the one cell. Raises
        InputError."""
        return released_risk(self, table, mechanisms)

    def __repr__(self) -> str:
        kind = "Poisson" if math.isinf(self.shape) else f"negative binomial, shape {self.shape:.4g}"
        kept = " + ".join(" x ".join(margin) for margin in self.margins) or "one rate"
        return f"Population({kind}, {kept}, fraction {self.fraction:g}, {self.rates.sum():.6g} records)"
