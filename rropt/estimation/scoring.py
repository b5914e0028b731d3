"""Scores: for each released answer k numbers whose expectations are the indicators of the true category.

With L (k x m) a linear unbiased estimator, an answer y has the scores L[., y]. Given the true category z, the score of
category x has the mean sum_y Q[z, y] L[x, y] = [x = z]. So every estimator that is linear in indicators of the true
category (a mean, a total, a share of a domain, the moments of a regression) has the same expectation in scores, and
the spread of the scores contains that of the randomisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rropt.errors import Conflict, InputError, TooLarge, UnknownName, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import same_labels
from rropt.io.tables import MOST, Table, further
from rropt.mechanisms.estimators.linear import LinearEstimator, full_rank, locally_best
from rropt.mechanisms.estimators.recover import linear_estimator
from rropt.mechanisms.estimators.simplex import projected
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sampling.labels import codes_of
from rropt.model.prior import Prior

__all__ = ["Scores", "scores"]

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
METHODS = ("unbiased", "locally_best", "minimax", "moments")
LARGEST = 1 << 24
"""Cells of a matrix of which scores are made."""
MOST_BIAS = 1e-6
"""Above this bias double precision is not enough for the inverse of a matrix."""
ROUNDING = 2.0**-53


@dataclass(frozen=True, eq=False)
class Scores(ByContent):
    """The scores of n answers: `values` (n x k), one column for each of the `categories`.

    `table` (k x m) is the estimator: the scores of output y are its column y. Given the true category of a record, the
    expectation of its scores differs from the indicator by at most `bias`, which is rounding only and bounded
    rigorously; so does their sum from 1, for each output that can occur.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> found = rr.estimation.scores(response, ["no", "yes"])
        >>> found.values.round(6).tolist()
        [[1.5, -0.5], [-0.5, 1.5]]
    """

    categories: tuple[str, ...]
    values: FloatArray
    table: FloatArray
    method: str
    bias: float

    def _tables(self) -> Iterator[Table]:
        n = max(1, len(self.values))
        mean = self.values.sum(axis=0) / n
        spread = np.sqrt(((self.values - mean) ** 2).sum(axis=0) / n)
        both = zip(self.categories, mean, spread, strict=True)
        rows = [(name, f"{one:.5f}", f"{other:.5f}") for name, one, other in both][:MOST]
        title = f"Scores ({self.method.replace('_', ' ')} estimator, {counted(len(self.values), 'answers')})"
        yield Table(title, rows, ("category", "mean", "standard deviation"), (1, 2))

    def _remarks(self) -> Iterator[str]:
        yield from further(len(self.categories), "further categories")
        yield f"note: expected scores differ from indicators by at most {self.bias:.2g}"


@checked
def scores(mechanism: AnyMechanism, answers: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Scores:
    """The scores of n released `answers`, labels of the outputs of `mechanism`: a list, an array or a Series.

    If there are as many outputs as inputs, there is one unbiased estimator and all methods give it. If there are more,
    "unbiased" has the least variance at equal frequencies, "minimax" the least worst variance over all frequencies,
    "moments" is least squares, and "locally_best" has the least variance at the frequencies `prior`, or without a prior
    at those that the answers give. In that last case the scores of a record depend a little on all answers. The mean of
    the scores is the estimate of the same method. Raises InputError for answers that are not outputs, and for a
    mechanism that does not identify the frequencies.

        >>> import rropt as rr
        >>> mechanism = rr.RandomizedResponse(["yes", "no"], gamma=3).mechanism
        >>> rr.estimation.scores(mechanism, ["yes", "no"]).values.round(3).tolist()
        [[1.5, -0.5], [-0.5, 1.5]]
    """
    made = explicit(mechanism, "mechanism")
    codes = codes_of(answers, made.outputs)
    counts = np.bincount(codes, minlength=len(made.outputs)).astype(np.float64)
    estimator = score_estimator(made, method, prior, counts)
    if impossible := int(counts[never_drawn(made)].sum()):
        raise Conflict(
            f"{counted(impossible, 'answers')} cannot come from this mechanism",
            "scores, answers",
            "give the answers that it released",
        )
    return Scores(made.inputs, estimator.table[:, codes].T, estimator.table, method, bias_of(estimator))


def score_estimator(mechanism: Mechanism, method: str, prior: Prior | None, counts: FloatArray) -> LinearEstimator:
    """The estimator behind scores, where the m outputs have these `counts`. Raises InputError."""
    if method not in METHODS:
        raise UnknownName(f"{method!r} is not a method", "scores", f"use one of: {', '.join(METHODS)}")
    if prior is not None:
        if method != "locally_best":
            raise Conflict(f"method {method!r} uses no prior", "scores", "leave it out, or use 'locally_best'")
        same_labels(prior.labels, mechanism.inputs, "prior")
    k, m = mechanism.shape
    if k * m > LARGEST:
        raise TooLarge(f"its matrix has {counted(k * m, 'entries')}", "scores", "merge categories")
    matrix = mechanism.matrix
    full_rank(matrix, mechanism.inputs)
    at = None
    if method == "locally_best":
        at = _frequencies(matrix, counts) if prior is None else prior.array
    found = linear_estimator(matrix, method, at)
    if (bias := bias_of(found)) > MOST_BIAS:
        raise InputError(
            f"its outputs hardly distinguish the frequencies: expected scores would be wrong by up to {bias:.2g}",
            "mechanism",
            "use a design of less noise",
        )
    return found


def bias_of(estimator: LinearEstimator) -> float:
    """A bound on the distance of expected scores from indicators, and of their sums from 1: the computed distance, and
    what rounding may add to it (Higham, Accuracy and Stability of Numerical Algorithms, (3.13))."""
    table, matrix = estimator.table, estimator.matrix
    k, m = matrix.shape
    off = np.abs(table @ matrix.T - np.eye(k)).max()
    sums = np.abs(table[:, matrix.max(axis=0) > 0].sum(axis=0) - 1).max()
    sizes = max(float((np.abs(table) @ matrix.T).max()), float(np.abs(table).sum(axis=0).max()))
    return float(max(off, sums) + 2 * (k + m + 4) * ROUNDING * (1 + sizes))


def never_drawn(mechanism: Mechanism) -> np.ndarray:
    """Whether each output has probability 0 at every input: m truth values."""
    return np.asarray(mechanism.matrix.max(axis=0) == 0)


def _frequencies(matrix: FloatArray, counts: FloatArray) -> FloatArray:
    """Frequencies that the counts give, in the simplex; equal ones where there are no counts."""
    equal = np.full(len(matrix), 1 / len(matrix))
    if not counts.any():
        return equal
    return projected(locally_best(matrix, equal).estimate(counts / counts.sum()))
