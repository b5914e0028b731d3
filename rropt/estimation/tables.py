"""Cross-tables and shares in domains from weighted sums of scores, with linearised variances.

Records are grouped by all that their scores depend on: the mechanism of their stratum, the answers, and the values of
columns that are released unchanged. Record i has the weight w_i and the scores u_i. For means of zero the covariance of
sum_i w_i u_i is n / (n - 1) times sum_i w_i^2 u_i u_i': that of records drawn independently, which contains both the
drawing and the randomisation. A ratio or any other smooth function is linearised first (delta method).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy

from rropt.errors import InputError, OutOfRange, UnknownName, counted, named
from rropt.estimation.normal import NormalEstimates, errors_of
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.tables import MOST, Readable, Table, further
from rropt.mechanisms.estimators.estimate import normal_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EstimatedMeans", "EstimatedShares", "EstimatedTable", "Measure", "WaldTest"]

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
ROUNDING = 1e-12
"""Differences below this share of the largest score are rounding."""
SINGULAR = 1e-10
"""Eigenvalues of a covariance below this share of the largest are taken for zero."""


@dataclass(frozen=True, eq=False)
class Groups(ByContent):
    """P groups of records with equal scores: how many `records`, the sums of their `weights` and of the `squares` of
    the weights (P numbers each)."""

    records: FloatArray
    weights: FloatArray
    squares: FloatArray

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.records.sum())

    def covariance(self, terms: FloatArray) -> FloatArray:
        """The covariance (q x q) of the sum of weight times `terms` (P x q)."""
        total = self.weights @ terms
        second = (terms * self.squares[:, None]).T @ terms
        return np.asarray((second - np.outer(total, total) / self.n) * self.n / (self.n - 1))


@dataclass(frozen=True)
class WaldTest(Readable):
    r"""A test of independence: the Wald statistic, its `degrees` of freedom, and the `probability` of a larger one where
    the two are independent (F distribution, Hotelling).

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     table = rr.release.estimate_table(file, {"answer": response}, ("answer", "sex"))
        ...     table.independence().degrees
        1
    """

    statistic: float
    degrees: int
    probability: float


@dataclass(frozen=True)
class Measure(Readable):
    r"""An estimated number with its standard error and its confidence interval.

    For example:

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     table = rr.release.estimate_table(file, {"answer": response}, ("answer", "sex"))
        ...     round(table.cramers_v().value, 3)
        0.0
    """

    value: float
    standard_error: float
    interval: tuple[float, float]

    def _tables(self) -> Iterator[Table]:
        yield replace(next(super()._tables()), title="Estimate")


class _FromScores(ByContent):
    """The common part of tables, shares and means: their plain data and their remarks."""

    values: FloatArray
    totals: FloatArray
    total_errors: FloatArray
    n: int
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    things: ClassVar[str] = "cells"

    @property
    @abstractmethod
    def standard_errors(self) -> FloatArray:
        """A standard error for each value."""

    @abstractmethod
    def intervals(self, level: float = 0.95) -> FloatArray:
        """Confidence limits of each value, along one axis more."""

    def _numbers(self, level: float) -> dict[str, object]:
        """The numbers as plain data; None for those that are not numbers."""
        found = {
            "estimate": self.values,
            "standard_error": self.standard_errors,
            "interval": self.intervals(level),
            "total": self.totals,
            "total_standard_error": self.total_errors,
        }
        return {name: np.where(np.isnan(one), None, one).tolist() for name, one in found.items()} | {"n": self.n}

    def _texts(self) -> dict[str, object]:
        return {"warnings": list(self.warnings), "notes": list(self.notes)}

    def _remarks(self) -> Iterator[str]:
        yield from (f"warning: {line}" for line in self.warnings)
        yield from further(self.values.size, f"further {self.things}")
        yield from (f"note: {line}" for line in self.notes)


@checked
@dataclass(frozen=True, eq=False)
class EstimatedTable(_FromScores):
    r"""The joint shares of two columns, estimated from n records.

    `names` are the two columns, `rows` (r) and `columns` (c) their categories. `values` (r x c) sum to one and may be
    negative for rare cells; `covariance` (rc x rc, rows major) is theirs. `totals` (r x c) are weighted counts, and
    `total_errors` (r x c) their standard errors; without weights, counts of records. `impossible` (r x c) are cells that
    no record can be in, by the designs: their shares are 0. `warnings` are reasons why the numbers say little, `notes`
    further remarks.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     table = rr.release.estimate_table(file, {"answer": response}, ("answer", "sex"))
        ...     table.values.shape
        (2, 2)
    """

    names: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    totals: FloatArray
    total_errors: FloatArray
    n: int
    weighted: bool
    impossible: BoolArray
    _: KW_ONLY
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def standard_errors(self) -> FloatArray:
        """r x c standard errors."""
        return errors_of(self.covariance).reshape(self.values.shape)

    def intervals(self, level: float = 0.95) -> FloatArray:
        """r x c x 2 confidence limits: normal quantiles of the standard errors, within [0, 1]. An estimate outside [0, 1]
        is taken for the nearer end, and the limits are 0 and 1 where the standard error is 0. Only the interval of an
        impossible cell is a point, [0, 0]. Raises InputError for a level outside (0, 1)."""
        return _wald(self.values, self.standard_errors, level, self.impossible)

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw each cell with its interval (extra `plot`) into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import intervals_picture

        labels = [f"{row}, {column}" for row in self.rows for column in self.columns]
        found = 100 * self.values.ravel(), 100 * self.intervals(level).reshape(-1, 2)
        said = ("share (%)", ", ".join(self.names), counted(self.n, "released answers"), level, self.warnings)
        return intervals_picture(labels, *found, *said, ax)

    def independence(self) -> WaldTest:
        """Wald's test that the two columns are independent: of p_ab - p_a p_b, but for the last row and column, with
        its linearised covariance V. W = d' V^-1 d, and W (n - q) / (q (n - 1)) is F-distributed with q and n - q
        degrees of freedom. Raises InputError where there are too few records or V has no inverse.

        Source: Koch, Freeman and Freeman, International Statistical Review 1975.
        """
        r, c = self.values.shape
        q = (r - 1) * (c - 1)
        kept = (np.arange(r)[:, None] < r - 1) & (np.arange(c) < c - 1)
        off, slopes = self._dependence()
        off, slopes = off[kept.ravel()], slopes[kept.ravel()]
        spread = slopes @ self.covariance @ slopes.T
        where = f"{self.names[0]}, {self.names[1]}"
        if q == 0:
            raise OutOfRange("one of the two has one category only", where, "choose another column")
        eigen = np.linalg.eigvalsh(spread)
        if self.n <= q + 1 or eigen[0] <= SINGULAR * eigen[-1]:
            raise InputError(
                f"{counted(self.n, 'records')} do not suffice for a test of {counted(q, 'contrasts')}",
                where,
                "merge categories",
            )
        statistic = float(off @ np.linalg.solve(spread, off))
        scaled = statistic * (self.n - q) / (q * (self.n - 1))
        return WaldTest(statistic, q, float(scipy.special.fdtrc(q, self.n - q, scaled)))

    def odds_ratio(
        self, *, rows: tuple[str, str] | None = None, columns: tuple[str, str] | None = None, level: float = 0.95
    ) -> Measure:
        """The odds ratio of two rows and two columns (those of a 2 x 2 table by default): p_11 p_22 / (p_12 p_21), its
        standard error, and the interval of its logarithm (delta method). Raises InputError where an estimated cell is
        not positive."""
        where = "odds_ratio"
        chosen = []
        for given, known in ((rows, self.rows), (columns, self.columns)):
            pair = known if given is None else tuple(given)
            if len(pair) != 2 or len(set(pair)) != 2:
                raise OutOfRange(f"{counted(len(pair), 'categories')} are not two", where, "name two of them")
            for label in pair:
                if label not in known:
                    raise UnknownName(f"{label!r} is not a category", where, f"they are {', '.join(known[:6])}")
            chosen.append([known.index(label) for label in pair])
        (a, b), (x, y) = chosen
        cells = [(a, x), (b, y), (a, y), (b, x)]
        shares = np.array([self.values[cell] for cell in cells])
        if shares.min() <= 0:
            raise InputError("an estimated cell is not positive", where, "merge categories")
        signs = np.array([1, 1, -1, -1]) / shares
        slopes = np.zeros(self.values.size)
        slopes[[row * len(self.columns) + column for row, column in cells]] = signs
        log = float(np.log(shares) @ [1, 1, -1, -1])
        error = math.sqrt(max(float(slopes @ self.covariance @ slopes), 0.0))
        half = normal_quantile(level) * error
        return Measure(math.exp(log), math.exp(log) * error, (math.exp(log - half), math.exp(log + half)))

    def cramers_v(self, *, level: float = 0.95) -> Measure:
        """Cramer's V, without the part that drawing and randomising add: V^2 min(r - 1, c - 1) is
        sum (d_ab^2 - var d_ab) / (p_a p_b) with d_ab = p_ab - p_a p_b, at least 0. The standard error is that of the
        delta method; where the two are nearly independent it means little (it is infinite at V = 0): use
        `independence` there. Raises InputError where an estimated margin is not positive."""
        a, b = self.values.sum(axis=1), self.values.sum(axis=0)
        if min(a.min(), b.min()) <= 0 or min(self.values.shape) < 2:
            raise InputError(
                "an estimated margin is not positive, or has one category", "cramers_v", "merge categories"
            )
        off, slopes = self._dependence()
        expected = np.outer(a, b)
        noise = np.einsum("ij,jk,ik->i", slopes, self.covariance, slopes).reshape(expected.shape)
        most = min(self.values.shape) - 1
        squared = float(((off.reshape(expected.shape) ** 2 - noise) / expected).sum()) / most
        value = math.sqrt(min(max(squared, 0.0), 1.0))
        # The slopes of sum p_ab^2 / (p_a p_b) - 1.
        square = self.values**2 / expected
        gradient = 2 * self.values / expected - (square.sum(axis=1) / a)[:, None] - square.sum(axis=0) / b
        spread = math.sqrt(max(float(gradient.ravel() @ self.covariance @ gradient.ravel()), 0.0)) / most
        error = spread / (2 * value) if value > 0 else math.inf
        half = normal_quantile(level) * error
        return Measure(value, error, (max(value - half, 0.0), min(value + half, 1.0)))

    def _dependence(self) -> tuple[FloatArray, FloatArray]:
        """p_ab - p_a p_b (rc numbers), and their slopes along the rc shares."""
        r, c = self.values.shape
        a, b = self.values.sum(axis=1), self.values.sum(axis=0)
        row, column = np.repeat(np.arange(r), c), np.tile(np.arange(c), r)
        slopes = np.eye(r * c)
        slopes -= (row[:, None] == row) * b[column][:, None] + (column[:, None] == column) * a[row][:, None]
        return (self.values - np.outer(a, b)).ravel(), slopes

    def to_dict(self, level: float = 0.95) -> dict[str, object]:
        """Plain data: the fields, with standard_error, interval, and the test and measures that exist."""
        return {
            "names": list(self.names),
            "rows": list(self.rows),
            "columns": list(self.columns),
            **self._numbers(level),
            **{name: None if one is None else _plain(one) for name, one in self._measures(level).items()},
            **self._texts(),
        }

    def _measures(self, level: float) -> dict[str, WaldTest | Measure | None]:
        found: dict[str, WaldTest | Measure | None] = {"independence": None, "cramers_v": None, "odds_ratio": None}
        for name, make in (
            ("independence", self.independence),
            ("cramers_v", lambda: self.cramers_v(level=level)),
            ("odds_ratio", lambda: self.odds_ratio(level=level)),
        ):
            try:
                found[name] = make()
            except InputError:
                # A table of other numbers has none: that is what None says.
                continue
        return found

    def _tables(self, level: float = 0.95, most: int | None = MOST) -> Iterator[Table]:
        heads = [*self.names, "estimate", "standard error", f"{100 * level:g} % from", "to"]
        numbers = [self.values[..., None], self.standard_errors[..., None], self.intervals(level)]
        more = [self.totals[..., None], self.total_errors[..., None]] if self.weighted else []
        heads += ["total", "standard error"] if self.weighted else []
        rows = []
        for at, row in enumerate(np.concatenate([*numbers, *more], axis=2).reshape(self.values.size, -1)):
            names = (self.rows[at // len(self.columns)], self.columns[at % len(self.columns)])
            rows.append([*names, *(f"{one:.5f}" for one in row[:4]), *(f"{one:.2f}" for one in row[4:])])
        yield Table(f"Estimated joint shares ({counted(self.n, 'records')})", rows[:most], heads, range(2, len(heads)))
        found = self._measures(level)
        lines = []
        if isinstance(test := found["independence"], WaldTest):
            said = f"Wald {test.statistic:.2f}, {counted(test.degrees, 'degrees')} of freedom"
            lines.append(("Independence", f"{said}, p = {test.probability:.3g}"))
        for name, title in (("cramers_v", "Cramer's V"), ("odds_ratio", "Odds ratio")):
            if isinstance(one := found[name], Measure):
                low, high = one.interval
                error = f"standard error {one.standard_error:.4f}, {100 * level:g} % from {low:.4f} to {high:.4f}"
                # At V = 0 its slope is infinite.
                known = math.isfinite(one.standard_error)
                lines.append((title, f"{one.value:.4f}, {error if known else 'not above the noise: use the test'}"))
        if lines:
            yield Table("Association", lines)


@checked
@dataclass(frozen=True, eq=False)
class EstimatedShares(_FromScores):
    r"""The shares of k categories in each of d domains, estimated from n records.

    `by` is the column of the domains and `domains` (d) its values ("" and one domain for all records). `values` (d x k)
    sum to one in each domain; `covariances` (d x k x k) are theirs. `totals` (d x k) are weighted counts, with
    `total_errors` (d x k). `warnings` and `notes` as in `EstimatedTable`.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     shares = rr.release.estimate_shares(file, {"answer": response}, "answer", by="sex")
        ...     shares.domains
        ('f', 'm')
    """

    name: str
    by: str
    domains: tuple[str, ...]
    categories: tuple[str, ...]
    values: FloatArray
    covariances: FloatArray
    totals: FloatArray
    total_errors: FloatArray
    n: int
    weighted: bool
    impossible: BoolArray
    _: KW_ONLY
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def standard_errors(self) -> FloatArray:
        """d x k standard errors."""
        return np.stack([errors_of(one) for one in self.covariances])

    def intervals(self, level: float = 0.95) -> FloatArray:
        """d x k x 2 confidence limits, as `EstimatedTable.intervals`; [1, 1] for the only category that is possible in a
        domain."""
        return _wald(self.values, self.standard_errors, level, self.impossible | _sole(self.impossible))

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw each share with its interval (extra `plot`) into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import intervals_picture

        labels = [f"{domain}: {one}" if self.by else one for domain in self.domains for one in self.categories]
        found = 100 * self.values.ravel(), 100 * self.intervals(level).reshape(-1, 2)
        said = ("share (%)", self.name, counted(self.n, "released answers"), level, self.warnings)
        return intervals_picture(labels, *found, *said, ax)

    def to_dict(self, level: float = 0.95) -> dict[str, object]:
        """Plain data: the fields, with standard_error and interval."""
        return {
            "name": self.name,
            "by": self.by,
            "domains": list(self.domains),
            "categories": list(self.categories),
            **self._numbers(level),
            **self._texts(),
        }

    def _tables(self, level: float = 0.95, most: int | None = MOST) -> Iterator[Table]:
        head = [self.by] if self.by else []
        heads = [*head, self.name, "estimate", "standard error", f"{100 * level:g} % from", "to"]
        heads += ["total", "standard error"] if self.weighted else []
        numbers = [self.values[..., None], self.standard_errors[..., None], self.intervals(level)]
        numbers += [self.totals[..., None], self.total_errors[..., None]] if self.weighted else []
        rows = []
        for at, row in enumerate(np.concatenate(numbers, axis=2).reshape(self.values.size, -1)):
            names = [self.domains[at // len(self.categories)]] if self.by else []
            names.append(self.categories[at % len(self.categories)])
            rows.append([*names, *(f"{one:.5f}" for one in row[:4]), *(f"{one:.2f}" for one in row[4:])])
        first = 2 if self.by else 1
        yield Table(f"Estimated shares ({counted(self.n, 'records')})", rows[:most], heads, range(first, len(heads)))


@checked
@dataclass(frozen=True, eq=False)
class EstimatedMeans(NormalEstimates, _FromScores):
    r"""The mean and the total of a number in each of k true categories, estimated from n records.

    `name` is the released column, `of` the column of numbers. `values` (k) are the means, not a number where the
    estimated size of a category is not positive; `covariance` (k x k) is theirs, and `standard_errors` (k) and
    `intervals(level)` (k x 2) follow from it. `totals` (k) are weighted sums of the
    number, with `total_errors` (k). `warnings` and `notes` as in `EstimatedTable`.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     means = rr.release.estimate_means(file, {"answer": response}, "answer", "age")
        ...     means.categories
        ('no', 'yes')
    """

    things: ClassVar[str] = "categories"
    name: str
    of: str
    categories: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    totals: FloatArray
    total_errors: FloatArray
    n: int
    weighted: bool
    _: KW_ONLY
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def plot(self, *, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw each mean with its interval (extra `plot`) into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import intervals_picture

        said = (f"mean of {self.of}", self.name, counted(self.n, "released answers"), level, self.warnings)
        return intervals_picture(self.categories, self.values, self.intervals(level), *said, ax)

    def to_dict(self, level: float = 0.95) -> dict[str, object]:
        """Plain data: the fields, with standard_error and interval; None for what is not a number."""
        return {
            "name": self.name,
            "of": self.of,
            "categories": list(self.categories),
            **self._numbers(level),
            **self._texts(),
        }

    def _tables(self, level: float = 0.95, most: int | None = MOST) -> Iterator[Table]:
        heads = [self.name, f"mean of {self.of}", "standard error", f"{100 * level:g} % from", "to"]
        heads += ["total", "standard error"]
        numbers = np.column_stack(
            [self.values, self.standard_errors, self.intervals(level), self.totals, self.total_errors]
        )
        rows = [
            [label, *("-" if math.isnan(one) else f"{one:.6g}" for one in row)]
            for label, row in zip(self.categories, numbers.tolist(), strict=True)
        ]
        yield Table(f"Estimated means ({counted(self.n, 'records')})", rows[:most], heads, range(1, len(heads)))


def joint_shares(
    groups: Groups,
    joint: FloatArray,
    names: tuple[str, str],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    weighted: bool,
    impossible: BoolArray,
    notes: tuple[str, ...] = (),
) -> EstimatedTable:
    """The table of groups whose joint scores are `joint` (P x r x c), 0 in the `impossible` (r x c) cells."""
    terms = joint.reshape(len(joint), -1)
    total = float(groups.weights.sum())
    values = groups.weights @ terms / total
    covariance = groups.covariance(_without_rounding(terms - values, terms) / total)
    sums = groups.weights @ terms
    errors = np.sqrt(np.maximum(_variances(groups, terms), 0.0))
    shape = joint.shape[1:]
    table = values.reshape(shape), covariance, sums.reshape(shape), errors.reshape(shape)
    there = ~impossible.ravel()
    warnings = tuple(_too_fine(values[there], errors_of(covariance)[there], groups.n))
    return EstimatedTable(names, rows, columns, *table, groups.n, weighted, impossible, warnings=warnings, notes=notes)


def domain_shares(
    groups: Groups,
    joint: FloatArray,
    name: str,
    by: str,
    domains: tuple[str, ...],
    categories: tuple[str, ...],
    weighted: bool,
    impossible: BoolArray,
    notes: tuple[str, ...] = (),
) -> EstimatedShares:
    """The shares of the categories in each domain, of groups whose joint scores are `joint` (P x d x k), 0 in the
    `impossible` (d x k) cells: with A the scores of a domain, the linearised term of p_b = sum J_b / sum A is (J_b - p_b A) / sum A."""
    sizes = np.einsum("p,pdk->d", groups.weights, joint)
    if (sizes <= 0).any():
        least = domains[int(np.argmin(sizes))]
        raise OutOfRange(f"the estimated size of domain {least!r} is not positive", f"by {by}", "merge it with another")
    totals = np.einsum("p,pdk->dk", groups.weights, joint)
    values = totals / sizes[:, None]
    covariances, warnings = [], []
    for d, size in enumerate(sizes.tolist()):
        own = joint[:, d, :]
        terms = own - values[d] * own.sum(axis=1)[:, None]
        covariances.append(groups.covariance(_without_rounding(terms, own) / size))
        if not np.any(errors_of(covariances[-1])) and not _sole(impossible)[d].any():
            place = f"domain {domains[d]!r}" if by else "the file"
            warnings.append(f"the records of {place} have one answer only: its standard errors of 0 mean nothing")
    errors = np.sqrt(np.maximum(_variances(groups, joint.reshape(len(joint), -1)), 0.0)).reshape(values.shape)
    spread = np.stack(covariances)
    there = ~impossible.ravel()
    warnings += _too_fine(values.ravel()[there], np.concatenate([errors_of(one) for one in spread])[there], groups.n)
    found = values, spread, totals, errors
    return EstimatedShares(
        name, by, domains, categories, *found, groups.n, weighted, impossible, warnings=tuple(warnings), notes=notes
    )


def category_means(
    groups: Groups,
    scores: FloatArray,
    moments: FloatArray,
    shift: float,
    name: str,
    of: str,
    categories: tuple[str, ...],
    weighted: bool,
    notes: tuple[str, ...] = (),
) -> EstimatedMeans:
    """The means of a number y + `shift` in each category, of groups with these `scores` (P x k); `moments` (3 x P) are
    the sums of w y, w^2 y and w^2 y^2. With S_j the estimated size of a category, the linearised term of its mean m_j
    is s_j (y - m_j) / S_j; the sum over all records is zero."""
    first, mixed, second = moments
    sizes, sums = groups.weights @ scores, first @ scores
    there = sizes > 0
    means, scale = np.full(len(sizes), np.nan), np.full(len(sizes), np.nan)
    means[there], scale[there] = sums[there] / sizes[there], 1 / sizes[there]
    factor = groups.n / (groups.n - 1)

    def products(weights: FloatArray) -> FloatArray:
        return np.asarray((scores * weights[:, None]).T @ scores)

    plain, cross, square = products(groups.squares), products(mixed), products(second)
    spread = square - (means[:, None] + means) * cross + np.outer(means, means) * plain
    totals = sums + shift * sizes
    whole = second + 2 * shift * mixed + shift**2 * groups.squares
    variances = (whole @ scores**2 - totals**2 / groups.n) * factor
    errors = np.sqrt(np.maximum(_variances(groups, scores), 0.0))
    warnings = []
    if not there.all():
        lost = [label for label, one in zip(categories, there.tolist(), strict=True) if not one]
        warnings.append(f"no mean in {named(lost)}: the estimated size is not positive; merge categories")
    if few := [label for label, one in zip(categories, (there & (sizes < 2 * errors)).tolist(), strict=True) if one]:
        warnings.append(
            f"the size of {named(few)} is below two of its standard errors: the mean there, its error and its interval "
            "mean little; merge categories"
        )
    found = means + shift, spread * np.outer(scale, scale) * factor, totals, np.sqrt(np.maximum(variances, 0.0))
    return EstimatedMeans(name, of, categories, *found, groups.n, weighted, warnings=tuple(warnings), notes=notes)


def _without_rounding(terms: FloatArray, scores: FloatArray) -> FloatArray:
    """Differences of `scores` where what rounding alone leaves is 0, so that answers that are all alike have no error."""
    return np.where(np.abs(terms) <= ROUNDING * np.abs(scores).max(initial=0.0), 0.0, terms)


def _variances(groups: Groups, terms: FloatArray) -> FloatArray:
    total = groups.weights @ terms
    return np.asarray((groups.squares @ terms**2 - total**2 / groups.n) * groups.n / (groups.n - 1))


def _too_fine(values: FloatArray, errors: FloatArray, n: int) -> Iterator[str]:
    # Rounding aside: of a cell with one record the two are equal.
    worse = int((errors >= np.abs(values) * (1 - 1e-9)).sum())
    if 2 * worse > values.size:
        yield (
            f"in {worse:,} of {counted(values.size, 'cells')} the standard error is not below the estimate: the table is too "
            f"fine for {counted(n, 'records')} of this design; merge categories"
        )


def _wald(values: FloatArray, errors: FloatArray, level: float, impossible: BoolArray) -> FloatArray:
    # From a value outside [0, 1] no share is farther than from the nearer end. Records that are all alike give no error.
    half = np.where(errors > 0, normal_quantile(level) * errors, np.where(impossible, 0.0, 1.0))
    centre = np.clip(values, 0.0, 1.0)
    return np.clip(np.stack([centre - half, centre + half], axis=-1), 0.0, 1.0)


def _sole(impossible: BoolArray) -> BoolArray:
    """The categories (d x k) that are the only possible ones in their domain."""
    return np.asarray(~impossible & ((~impossible).sum(axis=1, keepdims=True) == 1))


def _plain(one: WaldTest | Measure) -> dict[str, object]:
    if isinstance(one, WaldTest):
        return {"statistic": one.statistic, "degrees": one.degrees, "probability": one.probability}
    error = one.standard_error if math.isfinite(one.standard_error) else None
    return {"value": one.value, "standard_error": error, "interval": list(one.interval)}
