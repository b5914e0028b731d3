"""Whether counts of released answers can come from a mechanism at all, whatever the true frequencies are."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rropt.mechanisms.estimators.likelihood import MaximumLikelihood, maximum_likelihood

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

LEVEL = 1e-6
"""Counts that are less likely than this under every true frequencies are called impossible."""
ROUNDS = 40
"""Steps towards the likeliest frequencies; fewer than are needed make the test milder, never wrong."""
ROUNDING = 1e-12
"""Nats an answer that double precision may add to the statistic."""


def fit_probability(matrix: FloatArray, counts: FloatArray) -> float:
    """A number that is at most p with probability at most p, for every p, where the m `counts` are independent answers
    of the k x m `matrix` at some true frequencies; small numbers say that they are not.

    The statistic t is n times the least relative entropy of the observed shares to those of any frequencies pi, from
    below: the likelihood at the best pi found, plus the proved gap. At the true frequencies n times the relative
    entropy is no less, and its moment generating function is at most that of a gamma variable of shape m - 1 and rate
    1, for every n, (1 - s)^-(m - 1) for 0 <= s < 1. So P(T >= t) <= exp(-s t) (1 - s)^-(m - 1), which at
    s = 1 - (m - 1) / t is exp(-t) (e t / (m - 1))^(m - 1). Source: Agrawal, "Finite-Sample Concentration of the
    Multinomial in Relative Entropy", IEEE Transactions on Information Theory 2020, doi 10.1109/TIT.2020.2996134.
    """
    likeliest = partial(maximum_likelihood, matrix, counts, tolerance=1e-3, rounds=ROUNDS)
    return fit_of(counts, matrix.max(axis=0) > 0, likeliest)


def fit_of(counts: FloatArray, possible: BoolArray, likeliest: Callable[[], MaximumLikelihood]) -> float:
    """As `fit_probability`, of a mechanism whose outputs are `possible` or not, and where frequencies that are
    `likeliest` are found without a matrix."""
    if counts[~possible].any():
        return 0.0
    total, freedom = float(counts.sum()), int(possible.sum()) - 1
    if total == 0 or freedom == 0:
        return 1.0
    seen = counts[counts > 0]
    found = likeliest()
    most = found.log_likelihood + found.gap
    return _tail(float(seen @ np.log(seen / total)) - most - ROUNDING * total, freedom)


def _tail(statistic: float, freedom: int) -> float:
    if statistic <= freedom:
        return 1.0
    return math.exp(freedom - statistic + freedom * math.log(statistic / freedom))


def misfit(matrix: FloatArray, counts: FloatArray, outputs: tuple[str, ...], tests: int = 1) -> str:
    """One sentence that states what cannot be, where the counts are impossible at the level 1e-6 over `tests` such
    tests together; "" where they may come from the matrix."""
    probability = fit_probability(matrix, counts) * tests
    return sentence(probability, counts, matrix.min(axis=0), matrix.max(axis=0), outputs)


def sentence(
    probability: float, counts: FloatArray, least: FloatArray, most: FloatArray, outputs: tuple[str, ...]
) -> str:
    """The sentence of `misfit`, where the mechanism gives each output at `least` and at `most` these shares."""
    if probability > LEVEL:
        return ""
    shares = counts / counts.sum()
    example = ""
    for word, beyond, limits in (("at most", shares - most, most), ("at least", least - shares, least)):
        y = int(np.argmax(beyond))
        if beyond[y] > 0:
            example = f": {100 * shares[y]:.3g} % are {outputs[y]!r}, of which it gives {word} {100 * limits[y]:.3g} %"
            break
    return f"these counts cannot come from this mechanism (p < {max(probability, 1e-300):.1g}){example}"
