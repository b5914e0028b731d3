"""From counts of outputs to frequencies of inputs, by the method that is asked for."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rropt.errors import InputError, counted
from rropt.io.counts import Numbers, same_labels
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.fit import misfit
from rropt.mechanisms.estimators.likelihood import maximum_likelihood
from rropt.mechanisms.estimators.linear import LinearEstimator, full_rank, inverse, locally_best
from rropt.mechanisms.estimators.minimax import minimax
from rropt.mechanisms.estimators.simplex import clipped, projected
from rropt.model.prior import Prior

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

METHODS = ("unbiased", "locally_best", "minimax", "moments", "mle", "projected", "clipped")
CAUSES = "most likely they are of a column that was never randomised, of another column, or of another mechanism"
"""The likely cause where counts do not fit."""
ROUNDING = 1e-20
"""Of the mean square of some terms: a variance below this is that of one term, rounded."""


def recover(
    matrix: FloatArray,
    counts: Any,
    categories: tuple[str, ...],
    outputs: tuple[str, ...],
    method: str = "unbiased",
    prior: Prior | None = None,
) -> Estimate:
    """Frequencies of the k inputs from the `counts` of the m outputs of a k x m row-stochastic `matrix`.

    `counts` are m whole numbers in the order of the outputs, or numbers with the outputs' labels (a mapping, a
    Series). Every output needs one; only a Counter may leave out labels that it did not count.

    | `method` | what |
    |---|---|
    | "unbiased" | best linear unbiased estimator at the uniform frequencies (the default) |
    | "locally_best" | the same at `prior` |
    | "minimax" | the linear unbiased estimator of least worst risk |
    | "moments" | the inverse matrix; least squares where it is not square |
    | "mle" | maximum likelihood, on the simplex |
    | "projected" | "unbiased", moved to the nearest point of the simplex |
    | "clipped" | "unbiased", negatives set to zero and the rest divided by its sum |

    Linear estimates may leave [0, 1]; their covariance is unbiased. That of "mle" is the inverse Fisher information,
    which holds where no frequency is near zero; the projected ones keep the errors of the unbiased estimate. Raises
    InputError for counts of a wrong shape, an unknown method, or a matrix that does not identify the frequencies.
    Counts that cannot come from the matrix (p < 1e-6) are a warning of the estimate.
    """
    observed = checked_counts(counts, outputs)
    found = recover_strata([Sample(matrix, observed, categories)], method, prior)
    wrong = misfit(matrix, observed, outputs)
    return replace(found, warnings=(f"{wrong}; {CAUSES}",)) if wrong else found


@dataclass(frozen=True, eq=False)
class Sample:
    """The m `counts` of the outputs of a k x m `matrix` with these `categories` as inputs: one stratum."""

    matrix: FloatArray
    counts: FloatArray
    categories: tuple[str, ...]


def recover_strata(samples: Sequence[Sample], method: str = "unbiased", prior: Prior | None = None) -> Estimate:
    """The frequencies in all strata together, each of which was answered through its own matrix.

    The shares of the strata are those observed. With f_s the shares of the outputs of stratum s among all n answers,
    the estimate is sum_s L_s f_s: one linear estimator whose outputs are those of all strata, so that its covariance
    is that of n independent answers. A category that a stratum does not have counts 0 there. As `recover`
    otherwise; whether the counts fit is not tested. Raises InputError.
    """
    if method not in METHODS:
        raise InputError(f"{method!r} is not a method", "estimate", f"use one of: {', '.join(METHODS)}")
    if prior is not None and method != "locally_best":
        raise InputError(f"method {method!r} uses no prior", "estimate", "leave it out, or use 'locally_best'")
    used = [one for one in samples if one.counts.any()] or list(samples[:1])
    categories = tuple(dict.fromkeys(label for one in used for label in one.categories))
    observed = np.concatenate([one.counts for one in used])
    if observed.sum() < 2:
        raise InputError(
            f"they count {counted(int(observed.sum()), 'answers')}", "counts", "errors need two answers or more"
        )
    for one in used:
        full_rank(one.matrix, one.categories)
    likeliest = [maximum_likelihood(one.matrix, one.counts).values if method == "mle" else None for one in used]
    tables, values = [], np.zeros(len(categories))
    for one, at_most in zip(used, likeliest, strict=True):
        rows = [categories.index(label) for label in one.categories]
        table = np.zeros((len(categories), one.matrix.shape[1]))
        table[rows] = _estimator(one, method, prior, at_most).table
        tables.append(table)
        if at_most is not None:
            values[rows] += at_most * (one.counts.sum() / observed.sum())
    found = _linear(np.hstack(tables), observed, categories, method)
    if method == "mle":
        return found.within(values, method)
    if method == "projected":
        return found.within(projected(found.values), method)
    if method == "clipped":
        return found.within(clipped(found.values), method)
    return found


def _estimator(one: Sample, method: str, prior: Prior | None, likeliest: FloatArray | None) -> LinearEstimator:
    """The linear unbiased estimator behind a method, for one stratum."""
    if likeliest is not None:
        return locally_best(one.matrix, _inside(likeliest))
    if method == "locally_best":
        if prior is None:
            raise InputError("it needs the frequencies where it is best", "estimate", "give prior, or use 'unbiased'")
        same_labels(prior.labels, one.categories, "prior")
        return locally_best(one.matrix, _inside(prior.array))
    if method == "minimax":
        return minimax(one.matrix).estimator
    if method == "moments":
        return inverse(one.matrix)
    return locally_best(one.matrix, np.full(len(one.matrix), 1 / len(one.matrix)))


def checked_counts(counts: Any, outputs: tuple[str, ...]) -> FloatArray:
    """`counts` as floats: non-negative whole numbers, one an output, with a sum of two or more. Raises InputError."""
    # A label that a Counter did not count is 0; anywhere else a missing label is a mistake.
    given = Numbers.read(counts, "counts").of(outputs, "counts", 0 if isinstance(counts, Counter) else None)
    found = np.array([_float(value) for value in given], dtype=np.float64)
    if not np.isfinite(found).all() or (found < 0).any() or (found != np.rint(found)).any():
        raise InputError("they are not all whole numbers from 0 on", "counts", "count the answers of each output")
    if found.sum() < 2:
        raise InputError(
            f"they count {counted(int(found.sum()), 'answers')}", "counts", "errors need two answers or more"
        )
    return found


def _float(value: object) -> float:
    """A number as a float, not a number where it is none or too large."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value) if -1e300 < value < 1e300 else float("nan")
    return float("nan")


def _inside(prior: FloatArray) -> FloatArray:
    """`prior` moved a little into the simplex, where every output that can occur has a positive share."""
    return np.asarray((prior + 1e-9) / (prior.sum() + 1e-9 * len(prior)))


def _slopes(table: FloatArray, shares: FloatArray) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.bool_]]]:
    """The slope of the squared terms of each row along its terms where outputs have these shares, and whether there is
    one. It does not depend on the shares where the terms have two values: it is the sum of the two."""
    squares = table**2
    mean = squares @ shares
    centred = table - (table @ shares)[:, None]
    along = ((squares - mean[:, None]) * centred) @ shares
    spread = (centred**2) @ shares
    is_known = spread > ROUNDING * mean
    return np.divide(along, spread, out=np.zeros_like(along), where=is_known), is_known


def _linear(table: FloatArray, observed: FloatArray, categories: tuple[str, ...], method: str) -> Estimate:
    n = int(observed.sum())
    shares = observed / n
    values = table @ shares
    centred = table - values[:, None]
    covariance = (centred * shares) @ centred.T / (n - 1)
    squares = table**2
    mean = squares @ shares
    # What was seen may have one term only, which has no slope: a rare output that was never released.
    slope, is_known = _slopes(table, shares)
    slope = np.where(is_known, slope, _slopes(table, np.full(len(shares), 1 / len(shares)))[0])
    return Estimate(
        categories,
        values,
        values,
        np.diagonal(covariance),
        np.column_stack([mean, slope]),
        n,
        method,
        covariance=covariance,
    )
