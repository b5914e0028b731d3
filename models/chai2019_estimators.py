"""Estimators of Chai's dissertation as functions: the variance (2.3), RAPPOR's customary estimator (7.13), projections.

Chapter 8 leaves the risk of projected estimates to further work: `projected_risk` computes it, exactly over all samples
where there are few, else from draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from rropt.models.chai2019_designs import checked_ratio

from rropt.errors import InputError
from rropt.mechanisms.estimators.simplex import clipped, projected
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sets import UnaryEncoding
from rropt.model.prior import Prior

__all__ = ["ProjectedRisk", "VarianceSplit", "customary_estimate", "projected_risk", "variance_split", "wide_design"]

MOST_SAMPLES = 20_000
"""Samples up to which the risk of projected estimates is an exact sum."""
PROJECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"nearest": projected, "clipped": clipped}
Matrix = tuple[tuple[Fraction, ...], ...]


def wide_design(k: int, outputs: int, parity: object) -> Mechanism:
    """The example after Theorem 3.2: `outputs` >= k answers, the i-th with probability g / (g + m - 1) from category i
    and 1 / (g + m - 1) from every other.

    Its parity is g, but its last m - k answers carry no information, so it is admissible for m = k only. Raises
    InputError.
    """
    ratio = checked_ratio(k, parity)
    if outputs < k:
        raise InputError(f"there are {outputs} outputs for {k} categories", "wide_design", f"give at least {k}")
    whole = ratio + outputs - 1
    rows = [[(ratio if x == y else Fraction(1)) / whole for y in range(outputs)] for x in range(k)]
    return Mechanism.from_rationals(rows, inputs=range(k), outputs=range(outputs))


@dataclass(frozen=True)
class VarianceSplit:
    """n times the covariance of P^-1 (frequencies of Z), exactly, in two parts.

    `inflation` is what randomising adds, P^-1 D_lambda P^-1' - D_pi; `sampling` is that of drawing people, D_pi - pi
    pi'.
    """

    inflation: Matrix
    sampling: Matrix

    @property
    def risk(self) -> Fraction:
        """n times the expected squared error: the traces of both."""
        return sum((one[x][x] for one in (self.inflation, self.sampling) for x in range(len(one))), Fraction(0))


def variance_split(mechanism: Mechanism, prior: Prior) -> VarianceSplit:
    """(2.3) for as many outputs as inputs. Raises InputError for other mechanisms and for those that lose rank."""
    size, p = len(mechanism.inputs), prior.probabilities
    if len(mechanism.outputs) != size or len(p) != size:
        raise InputError(
            "(2.3) needs as many outputs as inputs, and their prior", "variance_split", "give a square one"
        )
    numbers = [[mechanism.entry(x, y) for x in range(size)] for y in range(size)]
    table = fmpq_mat([[fmpq(one.numerator, one.denominator) for one in row] for row in numbers])
    if table.rank() < size:
        raise InputError("the matrix has no inverse", "variance_split", "rropt identify repairs a mechanism")
    inverse = [[Fraction(int(one.p), int(one.q)) for one in row] for row in table.inv().tolist()]
    masses = [sum((a * b for a, b in zip(row, p, strict=True)), Fraction(0)) for row in numbers]
    cells = range(size)
    inflation = tuple(
        tuple(
            sum((inverse[i][y] * masses[y] * inverse[j][y] for y in cells), Fraction(0)) - (p[i] if i == j else 0)
            for j in cells
        )
        for i in cells
    )
    sampling = tuple(tuple((p[i] if i == j else Fraction(0)) - p[i] * p[j] for j in cells) for i in cells)
    return VarianceSplit(inflation, sampling)


def customary_estimate(design: UnaryEncoding, included: Sequence[int], people: int) -> tuple[Fraction, ...]:
    """(7.13): (V_j / n - q) / (p - q), exactly, from V_j, how many of `people` answers hold category j.

    p is the chance that an answer holds the true category, q any other one: sqrt(g) / (sqrt(g) + 1) and 1 / (sqrt(g) +
    1) for RAPPOR. It is unbiased; the minimax estimator has less risk (Theorem 7.3). Raises InputError.
    """
    if people < 1 or len(included) != len(design.labels) or not all(0 <= one <= people for one in included):
        raise InputError("the counts do not fit", "customary_estimate", "give for each category 0 to n answers of n")
    return tuple((Fraction(one, people) - design.absent) / (design.present - design.absent) for one in included)


# -- projections -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProjectedRisk:
    """n times the expected squared error of the linear estimate and of its projection, and the standard error of the
    second (0 where it is a sum over all samples); `outside`: how often the linear estimate has a negative part."""

    linear: float
    projected: float
    standard_error: float
    outside: float


def projected_risk(
    mechanism: Mechanism, prior: Prior, people: int, method: str = "nearest", draws: int = 20_000, seed: int = 1
) -> ProjectedRisk:
    """The risk of the projected minimax estimate of `prior` from `people` answers.

    The linear estimate is (P' D^-1 P)^-1 P' D^-1 lambda^ with D at equal frequencies: P^-1 lambda^ for square P.
    `method`: "nearest" is the nearest point of the simplex, "clipped" sets negative parts to zero and divides by the
    sum (Agrawal et al. 2009). An exact sum where there are few samples, else a mean over `draws`. Raises InputError.
    """
    if method not in PROJECTIONS:
        raise InputError(f"{method!r} is not a projection", "projected_risk", f"use {' or '.join(PROJECTIONS)}")
    if people < 1 or draws < 2:
        raise InputError(f"there are {people} people, {draws} draws", "projected_risk", "give at least 1 and 2")
    p, matrix = prior.array, mechanism.matrix
    if matrix.shape[0] != len(p) or np.linalg.matrix_rank(matrix) < len(p):
        raise InputError("the mechanism does not identify this prior", "projected_risk", "rropt identify repairs it")
    scaled = matrix / matrix.mean(0)
    lines = np.linalg.solve(scaled @ matrix.T, scaled)
    chances = p @ matrix
    project, outputs = PROJECTIONS[method], matrix.shape[1]
    exact = math.comb(people + outputs - 1, outputs - 1) <= MOST_SAMPLES
    if exact:
        samples = np.array(list(_samples(people, outputs)))
        weights = np.array([_chance(one, chances) for one in samples])
    else:
        samples = np.random.default_rng(seed).multinomial(people, chances, size=draws)
        weights = np.full(draws, 1 / draws)
    linear = samples / people @ lines.T
    inside = np.array([project(one) for one in linear])
    errors = people * ((inside - p) ** 2).sum(1)
    mean = float(weights @ errors)
    error = 0.0 if exact else float(errors.std(ddof=1) / draws**0.5)
    plain = float(chances @ (lines**2).sum(0) - p @ p)
    return ProjectedRisk(plain, mean, error, float(weights @ (linear < -1e-12).any(1)))


def _samples(people: int, outputs: int) -> Iterator[tuple[int, ...]]:
    if outputs == 1:
        yield (people,)
        return
    for first in range(people + 1):
        for rest in _samples(people - first, outputs - 1):
            yield (first, *rest)


def _chance(sample: np.ndarray, chances: np.ndarray) -> float:
    ways = math.factorial(int(sample.sum()))
    for one in sample:
        ways //= math.factorial(int(one))
    return float(ways * math.prod(float(q) ** int(n) for q, n in zip(chances, sample, strict=True)))
