"""Estimated frequencies with their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from rropt.errors import OutOfRange, TooLarge, UnknownName, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import number_array
from rropt.io.tables import MOST, Table, further
from rropt.io.types import Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Kind = Literal["wilson", "wald"]
SMALLER = "its own errors are smaller near 0, and it is biased there"
"""How an estimate in the simplex differs from the unbiased one."""


def normal_quantile(level: float, number: int = 1) -> float:
    """The half width, in standard errors, of `number` intervals at `level` together (Bonferroni). Raises InputError for
    a level outside (0, 1)."""
    if not 0 < level < 1:
        raise OutOfRange(f"level {level!r} is not in (0, 1)", "intervals", "0.95 is common")
    return -float(scipy.special.ndtri((1 - level) / number / 2))


@checked
@dataclass(frozen=True, eq=False)
class Estimate(ByContent):
    """Frequencies of k categories, estimated from n randomised answers.

    `values` (k) sum to one. `centre` (k) are those of the linear unbiased estimator behind them (the same, unless the
    method moves them into the simplex); the intervals are around it. `variances` (k) are its variances for n
    independent answers where the frequencies are near the estimates. `moments` (k x 2) are what the intervals of
    Wilson's kind need: the mean square of the estimator's terms by the mechanism, where the frequency is the estimate,
    and how it moves with the frequency. `covariance` is k x k, or None for families with too many categories.
    `warnings` are reasons why the numbers are likely wrong, `notes` further remarks.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> estimate = response.estimate([60, 40])
        >>> estimate.values.round(6).tolist()
        [0.7, 0.3]
    """

    categories: tuple[str, ...]
    values: FloatArray
    centre: FloatArray
    variances: FloatArray
    moments: FloatArray
    n: int
    method: str
    _: KW_ONLY
    covariance: FloatArray | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def standard_errors(self) -> FloatArray:
        """k standard errors."""
        return np.asarray(np.sqrt(np.maximum(self.variances, 0.0)))

    def intervals(self, level: float = 0.95, *, kind: Kind = "wilson", simultaneous: bool = False) -> FloatArray:
        """k x 2 confidence limits within [0, 1].

        "wald" adds normal quantiles of the standard error. "wilson" inverts the test: the frequencies theta with
        (estimate - theta)^2 <= z^2 V(theta) / n, V(theta) = s + b (theta - estimate) - theta^2, where s is the mean
        square of the terms that the mechanism gives at the estimate and b its slope, the other frequencies in
        proportion to their estimates: exact for terms with two values (randomised response, subset designs), where
        this is Wilson's interval of the output's share. `simultaneous` holds all k at once
        (Bonferroni). An estimate outside [0, 1] is taken for the end that is nearer: no frequency is farther from that
        than from the estimate, so that no one that the test keeps is lost, and the interval is never empty. Raises
        InputError for a level outside (0, 1).
        """
        z = normal_quantile(level, len(self.values) if simultaneous else 1)
        if kind not in ("wilson", "wald"):
            raise UnknownName(f"{kind!r} is not a kind of interval", "intervals", "use 'wilson' or 'wald'")
        centre = np.clip(self.centre, 0.0, 1.0)
        if kind == "wald":
            half = z * self.standard_errors
            found = np.column_stack([centre - half, centre + half])
        else:
            share = z * z / self.n
            mean, slope = self.moments.T
            # (1 + share) theta^2 - (2 centre + share slope) theta + centre^2 - share (mean - slope estimate) <= 0
            middle = (centre + share * slope / 2) / (1 + share)
            rest = (centre**2 - share * (mean - slope * self.centre)) / (1 + share)
            half = np.sqrt(np.maximum(middle**2 - rest, 0.0))
            found = np.column_stack([middle - half, middle + half])
        return np.clip(found, 0.0, 1.0)

    def within(self, values: FloatArray, method: str) -> Estimate:
        """Other `values`, in the simplex, with the errors of the unbiased estimate; a note states it. Raises InputError."""
        values = number_array(values, "values", self.categories)
        note = f"standard errors and intervals are those of the linear unbiased estimate, not of {method!r}: {SMALLER}"
        return replace(self, values=values, method=method, notes=(*self.notes, note))

    def sums(self, groups: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        """(names, sums, covariance) of groups of categories: a region of districts, an age band of years.
        Raises InputError for an unknown category, or where no covariance is known."""
        if self.covariance is None:
            raise TooLarge(
                f"no covariance of {counted(len(self.values), 'categories')} is kept", "sums", "merge them first"
            )
        place = {label: at for at, label in enumerate(self.categories)}
        table = np.zeros((len(groups), len(place)))
        for row, (name, members) in enumerate(groups.items()):
            for label in members:
                if label not in place:
                    raise UnknownName(
                        f"{label!r} is not a category", f"group {name!r}", "use the estimate's categories"
                    )
                table[row, place[label]] = 1.0
        return tuple(groups), table @ self.values, table @ self.covariance @ table.T

    def to_dict(self, level: float = 0.95, *, kind: Kind = "wilson") -> dict[str, object]:
        """Plain data: categories, estimate, standard_error, interval, n, method, warnings, notes."""
        return {
            "categories": list(self.categories),
            "estimate": self.values.tolist(),
            "standard_error": self.standard_errors.tolist(),
            "interval": self.intervals(level, kind=kind).tolist(),
            "n": self.n,
            "method": self.method,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }

    def plot(self, *, truth: Sequence[Number] | None = None, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw each share with its interval (extra `plot`) into `ax`, by default into a new figure.

        `truth` are the k true shares, where they are known: each becomes a cross, and an interval that misses it has
        another colour. A warning replaces the title. Raises InputError.
        """
        from rropt.plots import estimate_picture

        return estimate_picture(self, truth, level, ax)

    def _table(self, level: float = 0.95) -> Table:
        """One row for each category: the estimate, its standard error and its interval."""
        heads = ["category", "estimate", "standard error", f"{100 * level:g} % from", "to"]
        numbers = np.column_stack([self.values, self.standard_errors, self.intervals(level)])
        rows = [[name, *(f"{one:.5f}" for one in row)] for name, row in zip(self.categories, numbers, strict=True)]
        estimator = {"mle": "maximum likelihood"}.get(self.method, self.method.replace("_", " "))
        title = f"Estimated frequencies ({estimator} estimator, {counted(self.n, 'answers')})"
        return Table(title, rows, heads, range(1, len(heads)))

    def _tables(self) -> Iterator[Table]:
        table = self._table()
        yield replace(table, rows=table.rows[:MOST])

    def _remarks(self) -> Iterator[str]:
        yield from (f"warning: {line}" for line in self.warnings)
        yield from further(len(self.categories), "further categories")
        yield from (f"note: {line}" for line in self.notes)
