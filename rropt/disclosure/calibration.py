"""The smallest perturbation whose estimated disclosure risk stays below a threshold."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rropt.disclosure.population import Population
from rropt.disclosure.release import Intruder, MisclassifiedRisk
from rropt.errors import Conflict, Missing, OutOfRange, UnknownName, Unreadable, counted, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.mechanisms.families.randomized_response import RandomizedResponse

MEASURES = ("tau1", "tau2", "worst")
MOST = 10_000
"""Steps of a search at most."""


@dataclass(frozen=True, eq=False)
class Calibrated(ByContent):
    """The answer of `calibrate`: the largest `parameter` that was found, its mechanisms (by column), the risk that is
    expected with them, and that of the sample as it is, both by `measure`; `curve` are all (parameter, risk) that
    were tried, by parameter."""

    parameter: float
    mechanisms: Mapping[str, Any]
    expected: MisclassifiedRisk
    measure: str
    before: float
    curve: tuple[tuple[float, float], ...]

    @property
    def risk(self) -> float:
        """The expected risk by `measure`."""
        return float(getattr(self.expected, self.measure))

    @property
    def mechanism(self) -> Any:
        """The mechanism, where one column is perturbed."""
        if len(self.mechanisms) != 1:
            raise Conflict(f"{counted(len(self.mechanisms), 'columns')} are perturbed", "calibrate", "take .mechanisms")
        return next(iter(self.mechanisms.values()))


@checked
def calibrate(
    population: Population,
    at_most: float,
    *,
    column: str | None = None,
    family: Callable[[float], Any] | None = None,
    measure: str = "tau2",
    intruder: Intruder = "best",
    low: float = 0.01,
    high: float = 8.0,
    steps: int = 16,
    tolerance: float = 1e-3,
) -> Calibrated:
    """The largest parameter in [low, high] whose mechanism keeps the expected risk of a release at most `at_most`.

    `family(parameter)` gives the mechanism of `column`, or a mapping from columns to mechanisms; a larger parameter
    must mean less perturbation. By default it is k-ary randomised response by epsilon; the most informative design is
    `lambda epsilon: rr.Problem(...).solve().mechanism`. `measure` is "tau1" or "tau2" (expected numbers over the whole
    file), or "worst" (the largest r2 of a cell), for that `intruder`; see `Population.after`. Risk need not rise with
    the parameter: `steps` + 1 equidistant parameters are tried from high to low, and between the first that keeps
    it and the one above, halves are taken down to `tolerance`. Raises InputError, also where no parameter of the grid
    keeps it; the message then has the least risk.

    Source: the open question at the end of Ayed, Battiston and Camerlenghi.

        >>> import rropt as rr
        >>> table = rr.disclosure.QuasiIdentifierTable.of([[3, 1], [1, 2]], {"sex": ["f", "m"], "age": ["young", "old"]})
        >>> population = rr.disclosure.fit_population(table, 0.1)
        >>> found = rr.disclosure.calibrate(population, 0.11, column="sex", low=0.1, high=5, steps=2, tolerance=0.1)
        >>> type(found).__name__
        'Calibrated'
    """
    if measure not in MEASURES:
        raise UnknownName(f"{measure!r} is not a measure", "calibrate", f"use one of {', '.join(MEASURES)}")
    if not (math.isfinite(low) and math.isfinite(high) and low < high and 1 <= steps <= MOST and tolerance > 0):
        raise OutOfRange(
            f"the range {low!r} to {high!r} in {shown(steps)} steps, to {tolerance!r}",
            "calibrate",
            f"as low=0.01, high=8, steps=16 ({MOST} at most)",
        )
    if not at_most >= 0:
        raise OutOfRange(f"the risk {at_most!r} cannot be kept", "calibrate", "give a number >= 0")
    search = _Search(population, family or _response(population, column), column, measure, intruder)
    above: float | None = None
    for parameter in np.linspace(high, low, steps + 1).tolist():
        if search.risk(parameter) <= at_most:
            best = parameter
            break
        above = parameter
    else:
        least = min(search.curve.values())
        raise OutOfRange(
            f"the least {measure} from {low:g} to {high:g} is {least:.4g}, not {at_most:.4g}",
            "calibrate",
            "perturb more columns, merge categories, or allow more",
        )
    while above is not None and above - best > tolerance:
        middle = (best + above) / 2
        if middle in (best, above):
            break
        if search.risk(middle) <= at_most:
            best = middle
        else:
            above = middle
    mechanisms, expected = search.seen[best]
    before = population.risk()
    curve = tuple(sorted(search.curve.items()))
    return Calibrated(best, mechanisms, expected, measure, float(getattr(before, measure)), curve)


class _Search:
    """The family's mechanisms and their risks, each made once."""

    def __init__(
        self,
        population: Population,
        family: Callable[[float], Any],
        column: str | None,
        measure: str,
        intruder: Intruder,
    ) -> None:
        self._population, self._family, self._column = population, family, column
        self._measure, self._intruder = measure, intruder
        self.seen: dict[float, tuple[Mapping[str, Any], MisclassifiedRisk]] = {}
        self.curve: dict[float, float] = {}

    def risk(self, parameter: float) -> float:
        made = self._family(parameter)
        if not isinstance(made, Mapping):
            if self._column is None:
                raise Missing("the perturbed column is not named", "calibrate", 'as column="region"')
            made = {self._column: made}
        found = self._population.after(made, self._intruder)
        self.curve[parameter] = float(getattr(found, self._measure))
        self.seen[parameter] = made, found
        return self.curve[parameter]


def _response(population: Population, column: str | None) -> Callable[[float], Any]:
    if column not in population.table.columns:
        listed = ", ".join(map(repr, population.table.columns))
        raise Unreadable(f"{column!r} is not a key variable", "calibrate", f"give column, one of {listed}")
    labels = population.table.categories[population.table.columns.index(column)]
    return lambda epsilon: RandomizedResponse(labels, epsilon=epsilon)
