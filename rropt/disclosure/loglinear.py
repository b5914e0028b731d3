"""Log-linear models of the population's cells, fitted to a sample by maximum likelihood."""

import math
import warnings
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import scipy
from scipy import special

from rropt.disclosure.population import Population
from rropt.disclosure.quasi_identifiers import QuasiIdentifierTable
from rropt.errors import InputError, NotInstalled, OutOfRange, TooLarge, UnknownName, WrongType, counted
from rropt.io.arguments import checked

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Family = Literal["poisson", "negative_binomial"]

LARGEST_DESIGN = 1 << 26
"""Most entries of the design matrix: 512 MiB."""
MARGIN_GOAL, MARGIN_ERROR = 1e-10, 1e-6
"""Times the sample's size: by how much a fitted margin misses the observed one when the fit stops, and may at most."""
SWEEPS = 5000
LARGEST_COUNT = 1 << 20
SHAPES = (-7.0, 16.0)
"""Logarithms of the shapes that are tried; at the upper end the model is Poisson for any count of a sample."""


@checked
def fit_population(
    table: QuasiIdentifierTable,
    fraction: float,
    *,
    margins: str | Sequence[Sequence[str]] = "independence",
    family: Family = "poisson",
) -> Population:
    """The rates of all cells of the population, from a sample that contains each person with probability `fraction`.

    `margins` are the interactions that the log-linear model keeps, as `[["sex", "age"], ["region"]]` (lower ones
    are implied); "independence" keeps each variable's own, "pairs" all of two, `[]` is one rate for all cells. Under
    "poisson" a sample count is Poisson with mean fraction times the rate; under "negative_binomial" the rate itself is
    gamma with that mean and one shape for all cells, fitted too, by statsmodels (extra `risk`). Cells whose observed
    margin is 0 have rate 0 (the limit of the likelihood). Every fit is held against its likelihood equations.

    Which margins are right decides the answer: too few spread people over cells that are empty, and risk comes out too
    low; too many make every sample unique a population unique. Compare `aic`. Source: Skinner and Shlomo. Raises
    InputError, also where no maximum of the likelihood is found.

        >>> import rropt as rr
        >>> table = rr.disclosure.QuasiIdentifierTable.of([[3, 1], [1, 2]], {"sex": ["f", "m"], "age": ["young", "old"]})
        >>> population = rr.disclosure.fit_population(table, 0.1)
        >>> population.parameters, population.fraction
        (3, 0.1)
    """
    share = _fraction(fraction)
    kept = _margins(margins, table)
    if family not in ("poisson", "negative_binomial"):
        raise UnknownName(f"{family!r} is not a family", "fit_population", "use 'poisson' or 'negative_binomial'")
    live = np.ones(table.counts.shape, dtype=bool) if table.possible is None else table.possible.copy()
    for margin in kept:
        live &= _margin(table, table.counts, margin) > 0
    cells = np.flatnonzero(live.ravel())
    design = _design(table, kept, cells)
    observed = table.counts.ravel()[cells].astype(np.float64)
    means = _proportional(table, kept, live).ravel()[cells]
    shape = math.inf
    if family == "negative_binomial":
        means, shape = _mix_gamma(design, observed, means)
    rates = np.zeros(table.counts.size)
    rates[cells] = means / share
    parameters = int(np.linalg.matrix_rank(design)) + (family == "negative_binomial")
    likelihood = _log_likelihood(observed, means, shape)
    return Population(table, share, rates.reshape(table.counts.shape), shape, kept, parameters, likelihood)


def _fraction(fraction: Any) -> float:
    try:
        share = float(fraction)
    except (TypeError, ValueError):
        share = math.nan
    # The population is the sample over this number, which must be finite.
    if not 1e-15 <= share <= 1:
        raise UnknownName(f"the sampling fraction is {fraction!r}", "fit_population", "give a number from 1e-15 to 1")
    return share


def _margins(margins: Any, table: QuasiIdentifierTable) -> tuple[tuple[str, ...], ...]:
    if margins == "independence":
        return tuple((name,) for name in table.columns)
    if margins == "pairs":
        return tuple(combinations(table.columns, 2)) or (table.columns,)
    if isinstance(margins, str) or not isinstance(margins, Iterable):
        raise WrongType(f"{margins!r} are not margins", "margins", "use 'independence', 'pairs' or a list of lists")
    found = []
    for margin in margins:
        if isinstance(margin, str) or not isinstance(margin, Iterable):
            raise WrongType(f"{margin!r} is not a margin", "margins", 'as [["sex", "age"], ["region"]]')
        names = tuple(margin)
        strange = [name for name in names if name not in table.columns]
        if strange or len(set(names)) != len(names) or not names:
            what = f"{strange[0]!r} is not a key variable" if strange else f"{names} repeats a variable, or is empty"
            raise UnknownName(what, "margins", f"the variables are {', '.join(map(repr, table.columns))}")
        found.append(names)
    return tuple(found)


def _margin(table: QuasiIdentifierTable, counts: np.ndarray, margin: tuple[str, ...]) -> np.ndarray:
    """The sums over all variables but those of the margin, with axes of length one for the others."""
    others = tuple(at for at, name in enumerate(table.columns) if name not in margin)
    return np.asarray(counts.sum(axis=others, keepdims=True))


def _design(table: QuasiIdentifierTable, margins: tuple[tuple[str, ...], ...], cells: np.ndarray) -> FloatArray:
    """The design matrix of the hierarchical model at `cells`: products of indicators, first categories left out."""
    terms: set[tuple[str, ...]] = {()}
    for margin in margins:
        ordered = tuple(sorted(margin, key=table.columns.index))
        for size in range(1, len(ordered) + 1):
            terms.update(combinations(ordered, size))
    sizes = {name: len(labels) for name, labels in zip(table.columns, table.categories, strict=True)}
    width = sum(math.prod(sizes[name] - 1 for name in term) for term in terms)
    if width * len(cells) > LARGEST_DESIGN:
        raise TooLarge(
            f"{width:,} parameters for {counted(len(cells), 'cells')} are too many",
            "margins",
            "keep fewer, or merge categories",
        )
    codes = dict(zip(table.columns, np.unravel_index(cells, table.counts.shape), strict=True))
    blocks = []
    for term in sorted(terms, key=lambda one: (len(one), one)):
        block = np.ones((len(cells), 1))
        for name in term:
            indicator = (codes[name][:, None] == np.arange(1, sizes[name])).astype(np.float64)
            block = (block[:, :, None] * indicator[:, None, :]).reshape(len(cells), -1)
        blocks.append(block)
    design = np.hstack(blocks)
    return np.asarray(design[:, design.any(axis=0)])


def _proportional(table: QuasiIdentifierTable, margins: tuple[tuple[str, ...], ...], live: np.ndarray) -> FloatArray:
    """The maximum likelihood means under Poisson counts, by iterative proportional fitting, which also finds them where
    some are 0 in the limit. Raises InputError unless the fitted margins become the observed ones."""
    means = live.astype(np.float64)
    others = [tuple(at for at, name in enumerate(table.columns) if name not in margin) for margin in margins or ((),)]
    wanted = [table.counts.sum(axis=axes, keepdims=True) for axes in others]
    missed = math.inf
    for _ in range(SWEEPS):
        missed = 0.0
        for axes, goal in zip(others, wanted, strict=True):
            had = means.sum(axis=axes, keepdims=True)
            missed = max(missed, float(np.abs(goal - had).max()))
            means *= np.divide(goal, had, out=np.zeros_like(had), where=had > 0)
        if missed <= MARGIN_GOAL * table.n:
            break
    if missed > MARGIN_ERROR * table.n:
        raise InputError(f"the fit misses a margin by {missed:.3g} records", "fit_population", "keep fewer margins")
    return means


def _mix_gamma(design: FloatArray, observed: FloatArray, start: FloatArray) -> tuple[FloatArray, float]:
    """(means, shape) of greatest negative binomial likelihood; `start` and infinity where no finite one has more."""
    tried: dict[float, tuple[FloatArray, float]] = {}

    def loss(log_shape: float) -> float:
        means = _glm(design, observed, math.exp(log_shape))
        tried[log_shape] = means, math.exp(log_shape)
        return -_log_likelihood(observed, means, math.exp(log_shape))

    # The profile may have more than one top: the best point of a grid is refined.
    grid = [float(one) for one in np.linspace(*SHAPES, 24)]
    values = [loss(one) for one in grid]
    best = int(np.argmin(values))
    if best == len(grid) - 1 or -values[best] <= _log_likelihood(observed, start, math.inf):
        return start, math.inf
    if best == 0:
        raise OutOfRange(
            "the shape of the negative binomial has no maximum", "fit_population", "use more margins, or 'poisson'"
        )
    ends = (grid[best - 1], grid[best + 1])
    found = scipy.optimize.minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-8})
    means, shape = tried[float(found.x)]
    missed = float(np.abs(design.T @ ((observed - means) / (1 + means / shape))).max())
    if missed > MARGIN_ERROR * observed.sum():
        raise InputError(
            f"the fit misses its likelihood equations by {missed:.3g}", "fit_population", "keep fewer margins"
        )
    return means, shape


def _glm(design: FloatArray, observed: FloatArray, shape: float) -> FloatArray:
    """The fitted means of a negative binomial model with a logarithmic link, at a given shape."""
    try:
        import statsmodels.api as sm
    except ImportError as error:
        why = "is not installed" if error.name == "statsmodels" else f"does not load ({error})"
        raise NotInstalled(f"the package statsmodels {why}", "fit_population", "pip install 'rropt[risk]'") from None
    try:
        with warnings.catch_warnings():
            # Its warnings (separation, no convergence) are replaced by a test of the likelihood equations.
            warnings.simplefilter("ignore")
            model = sm.GLM(observed, design, family=sm.families.NegativeBinomial(alpha=1 / shape))
            means = np.asarray(model.fit(maxiter=300, tol=1e-13).fittedvalues, dtype=np.float64)
    except (ValueError, np.linalg.LinAlgError):
        means = np.full(len(observed), math.nan)
    if not np.isfinite(means).all():
        raise OutOfRange("the negative binomial cannot be fitted", "fit_population", "keep fewer margins")
    return means


def _log_likelihood(observed: FloatArray, means: FloatArray, shape: float) -> float:
    terms = special.xlogy(observed, means) - special.gammaln(observed + 1)
    if math.isinf(shape):
        return float((terms - means).sum())
    # log Gamma(f + a) - log Gamma(a) - f log a, which loses all digits at a large shape unless taken together.
    steps = _rising(observed, shape)
    return float((terms + steps - (observed + shape) * np.log1p(means / shape)).sum())


def _rising(observed: FloatArray, shape: float) -> FloatArray:
    """log of (a (a + 1) ... (a + f - 1)) / a^f."""
    if observed.max(initial=0.0) > LARGEST_COUNT:
        return np.asarray(special.gammaln(observed + shape) - special.gammaln(shape) - observed * math.log(shape))
    sums = np.concatenate([[0.0], np.cumsum(np.log1p(np.arange(int(observed.max(initial=0.0))) / shape))])
    return np.asarray(sums[observed.astype(np.intp)])
