"""From counts of outputs to frequencies of inputs, by the method that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rropt.errors import InputError
from rropt.inference.estimate import Estimate
from rropt.inference.likelihood import maximum_likelihood
from rropt.inference.linear import LinearEstimator, full_rank, inverse, locally_best
from rropt.inference.minimax import minimax
from rropt.inference.simplex import clipped, projected
from rropt.priors import Prior

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

METHODS = ("unbiased", "locally_best", "minimax", "moments", "mle", "projected", "clipped")


def recover(
    matrix: FloatArray,
    counts: Any,
    categories: tuple[str, ...],
    outputs: tuple[str, ...],
    method: str = "unbiased",
    prior: Prior | None = None,
) -> Estimate:
    """Frequencies of the k inputs from the `counts` of the m outputs of a k x m row-stochastic `matrix`.

    `counts` are m whole numbers, or a mapping from output labels to numbers.

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
    """
    observed = checked_counts(counts, outputs)
    if method not in METHODS:
        raise InputError(f"{method!r} is no method", "estimate", f"use one of: {', '.join(METHODS)}")
    if prior is not None and method != "locally_best":
        raise InputError(f"method {method!r} uses no prior", "estimate", "leave it out, or use 'locally_best'")
    full_rank(matrix, categories)
    uniform = np.full(len(matrix), 1 / len(matrix))
    if method == "mle":
        found = maximum_likelihood(matrix, observed)
        return _linear(locally_best(matrix, _inside(found.values)), observed, categories, method).within(
            found.values, method
        )
    if method == "locally_best":
        if prior is None:
            raise InputError("it needs the frequencies where it is best", "estimate", "give prior, or use 'unbiased'")
        if prior.labels != categories:
            raise InputError("its categories are not the mechanism's inputs", "prior", "name the same, in their order")
        estimator = locally_best(matrix, _inside(prior.array))
    elif method == "minimax":
        estimator = minimax(matrix).estimator
    elif method == "moments":
        estimator = inverse(matrix)
    else:
        estimator = locally_best(matrix, uniform)
    found_linear = _linear(estimator, observed, categories, method)
    if method == "projected":
        return found_linear.within(projected(found_linear.values), method)
    if method == "clipped":
        return found_linear.within(clipped(found_linear.values), method)
    return found_linear


def checked_counts(counts: Any, outputs: tuple[str, ...]) -> FloatArray:
    """`counts` as floats: non-negative whole numbers, one an output, with a sum of two or more. Raises InputError."""
    if isinstance(counts, Mapping):
        unknown = [label for label in counts if str(label) not in outputs]
        if unknown:
            raise InputError(
                f"{unknown[0]!r} is no output" + (f", nor are {len(unknown) - 1} others" if unknown[1:] else ""),
                "counts",
                "count the mechanism's outputs",
            )
        given = {str(label): number for label, number in counts.items()}
        counts = [given.get(label, 0) for label in outputs]
    try:
        found = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("they are no numbers", "counts", "give one count an output") from None
    if found.shape != (len(outputs),):
        raise InputError(f"their shape is {found.shape}", "counts", f"give {len(outputs)} numbers, one an output")
    if not np.isfinite(found).all() or (found < 0).any() or (found != np.rint(found)).any():
        raise InputError("they are not all whole numbers from 0 on", "counts", "count the answers of each output")
    if found.sum() < 2:
        raise InputError(f"they count {int(found.sum())} answers", "counts", "errors need two answers or more")
    return found


def _inside(prior: FloatArray) -> FloatArray:
    """`prior` moved a little into the simplex, where every output that can occur has a positive share."""
    return np.asarray((prior + 1e-9) / (prior.sum() + 1e-9 * len(prior)))


def _linear(estimator: LinearEstimator, observed: FloatArray, categories: tuple[str, ...], method: str) -> Estimate:
    n = int(observed.sum())
    shares = observed / n
    table = estimator.table
    values = estimator.estimate(shares)
    centred = table - values[:, None]
    covariance = (centred * shares) @ centred.T / (n - 1)
    squares = table**2
    mean = squares @ shares
    # The slope of the squared terms along the terms, over what was seen.
    along = ((squares - mean[:, None]) * centred) @ shares
    spread = (centred**2) @ shares
    slope = np.divide(along, spread, out=np.zeros_like(along), where=spread > 0)
    return Estimate(
        categories, values, values, np.diagonal(covariance), np.column_stack([mean, slope]), n, method, covariance
    )
