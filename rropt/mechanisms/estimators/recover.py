"""From counts of outputs to frequencies of inputs, by the method that is asked for."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rropt.errors import Conflict, Missing, OutOfRange, UnknownName, WrongType, counted
from rropt.io.counts import Numbers, same_labels
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.families import ended
from rropt.mechanisms.estimators.fit import misfit
from rropt.mechanisms.estimators.likelihood import maximum_likelihood
from rropt.mechanisms.estimators.linear import LinearEstimator, full_rank, inverse, locally_best
from rropt.mechanisms.estimators.minimax import minimax
from rropt.mechanisms.estimators.terms import Terms, pooled, terms_of
from rropt.model.prior import Prior

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

METHODS = ("unbiased", "locally_best", "minimax", "moments", "mle", "projected", "clipped")
CAUSES = "most likely they are of a column that was never randomised, of another column, or of another mechanism"
"""The likely cause where counts do not fit."""


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

    Linear estimates may leave [0, 1]; their covariance is that of the mechanism at frequencies near the estimate. That
    of "mle" is the inverse Fisher information, which holds where no frequency is near zero; the projected ones keep the
    errors of the unbiased estimate. Raises
    InputError for counts of a wrong shape, an unknown method, or a matrix that does not identify the frequencies.
    Counts that cannot come from the matrix (p < 1e-6) are a warning of the estimate.
    """
    return recover_sample(Sample(matrix, checked_counts(counts, outputs), categories), outputs, method, prior)


def recover_sample(
    sample: "Answers", outputs: tuple[str, ...], method: str = "unbiased", prior: Prior | None = None
) -> Estimate:
    """As `recover`, from the answers to one mechanism with these `outputs`."""
    found = recover_strata([sample], method, prior)
    wrong = sample.misfit(outputs)
    return replace(found, warnings=(f"{wrong}; {CAUSES}",)) if wrong else found


class Answers(ABC):
    """Answers to one mechanism: the m `counts` of its outputs. Its inputs are the `categories`."""

    counts: FloatArray
    categories: tuple[str, ...]

    @abstractmethod
    def solve(self, method: str, prior: Prior | None) -> "Solved":
        """The estimate by a method. Raises InputError where the mechanism does not identify the frequencies."""

    @abstractmethod
    def misfit(self, outputs: tuple[str, ...], tests: int = 1) -> str:
        """Why the counts cannot come from the mechanism, in one sentence, at 1e-6 over `tests` such tests together;
        "" where they may."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The terms of the linear estimator behind a method; and the k likeliest frequencies, if
    the method is that."""

    terms: Terms
    likeliest: FloatArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Sample(Answers):
    """The m `counts` of the outputs of a k x m `matrix` with these `categories` as inputs: one stratum."""

    matrix: FloatArray
    counts: FloatArray
    categories: tuple[str, ...]

    def solve(self, method: str, prior: Prior | None) -> Solved:
        full_rank(self.matrix, self.categories)
        likeliest = maximum_likelihood(self.matrix, self.counts).values if method == "mle" else None
        return Solved(terms_of(self._estimator(method, prior, likeliest), self.counts), likeliest)

    def misfit(self, outputs: tuple[str, ...], tests: int = 1) -> str:
        return misfit(self.matrix, self.counts, outputs, tests)

    def _estimator(self, method: str, prior: Prior | None, likeliest: FloatArray | None) -> LinearEstimator:
        """The linear unbiased estimator behind a method."""
        if likeliest is not None:
            return locally_best(self.matrix, _inside(likeliest))
        at = prior_of(prior, self.categories) if method == "locally_best" else None
        return linear_estimator(self.matrix, method, at)


def linear_estimator(matrix: FloatArray, method: str, frequencies: FloatArray | None = None) -> LinearEstimator:
    """The linear unbiased estimator behind a method, for a k x m `matrix` of rank k; "locally_best" is that of least
    risk at the k `frequencies`."""
    if method == "minimax":
        return minimax(matrix).estimator
    if method == "moments":
        return inverse(matrix)
    at = np.full(len(matrix), 1.0) if frequencies is None else frequencies
    return locally_best(matrix, _inside(at) if method == "locally_best" else np.full(len(matrix), 1 / len(matrix)))


def prior_of(prior: Prior | None, categories: tuple[str, ...]) -> FloatArray:
    """The frequencies of "locally_best". Raises InputError where there are none, or others than these categories."""
    if prior is None:
        raise Missing("it needs the frequencies where it is best", "estimate", "give prior, or use 'unbiased'")
    same_labels(prior.labels, categories, "prior")
    return prior.array


def recover_strata(samples: Sequence[Answers], method: str = "unbiased", prior: Prior | None = None) -> Estimate:
    """The frequencies in all strata together, each of which was answered through its own matrix.

    The shares of the strata are those observed. With f_s the shares of the outputs of stratum s among all n answers,
    the estimate is sum_s L_s f_s: one linear estimator whose outputs are those of all strata, and its covariance is
    that of n independent answers near the estimated frequencies. A category that a stratum does not have counts 0
    there. As `recover` otherwise; whether the counts fit is not tested. Raises InputError.
    """
    if method not in METHODS:
        raise UnknownName(f"{method!r} is not a method", "estimate", f"use one of: {', '.join(METHODS)}")
    if prior is not None and method != "locally_best":
        raise Conflict(f"method {method!r} uses no prior", "estimate", "leave it out, or use 'locally_best'")
    used = [one for one in samples if one.counts.any()] or list(samples[:1])
    categories = tuple(dict.fromkeys(label for one in used for label in one.categories))
    observed = np.concatenate([one.counts for one in used])
    if observed.sum() < 2:
        raise OutOfRange(
            f"they count {counted(int(observed.sum()), 'answers')}", "counts", "errors need two answers or more"
        )
    solved = [one.solve(method, prior) for one in used]
    place = {label: at for at, label in enumerate(categories)}
    rows = [[place[label] for label in one.categories] for one in used]
    n = int(observed.sum())
    terms = pooled(
        [made.terms.at(where, len(categories)) for made, where in zip(solved, rows, strict=True)],
        [one.counts.sum() / n for one in used],
    )
    found = Estimate(
        categories,
        terms.mean,
        terms.mean,
        terms.spread / n,
        terms.moments,
        n,
        method,
        covariance=None if terms.covariance is None else terms.covariance / n,
    )
    if method == "mle":
        values = np.zeros(len(categories))
        for one, made, where in zip(used, solved, rows, strict=True):
            assert made.likeliest is not None
            values[where] += made.likeliest * (one.counts.sum() / n)
        return found.within(values, method)
    return ended(found)


def checked_counts(counts: Any, outputs: tuple[str, ...]) -> FloatArray:
    """`counts` as floats: non-negative whole numbers, one per output, with a sum of two or more. Raises InputError."""
    # A label that a Counter did not count is 0; anywhere else a missing label is a mistake.
    given = Numbers.read(counts, "counts").of(outputs, "counts", 0 if isinstance(counts, Counter) else None)
    found = np.array([_float(value) for value in given], dtype=np.float64)
    if not np.isfinite(found).all() or (found < 0).any() or (found != np.rint(found)).any():
        raise WrongType("they are not all whole numbers from 0 on", "counts", "count the answers of each output")
    if found.sum() < 2:
        raise OutOfRange(
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
