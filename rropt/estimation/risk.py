"""The risk of estimated frequencies: the exact covariance in its two parts, and what projecting to the simplex saves.

Chai's dissertation has the split of the variance (2.3) and leaves the risk of projected estimates to further work
(chapter 8).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from rropt.errors import InputError, Missing, OutOfRange, UnknownName
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.tables import Readable
from rropt.mechanisms.estimators.simplex import clipped, projected
from rropt.mechanisms.garbling import AnyMechanism, explicit
from rropt.model.prior import Prior

__all__ = ["ProjectedRisk", "VarianceSplit", "projected_risk", "variance_split"]

MOST_SAMPLES = 20_000
"""Samples up to which the risk of projected estimates is an exact sum."""
MOST_PEOPLE, MOST_DRAWS = 10**15, 10**6
"""Largest numbers of respondents, whose samples floats hold exactly, and of draws, which are held in memory."""
PROJECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"nearest": projected, "clipped": clipped}
ExactMatrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class VarianceSplit(Readable):
    """n times the covariance of P^-1 (frequencies of Z), exactly, in two parts.

    `inflation` is what randomising adds, P^-1 D_lambda P^-1' - D_pi; `sampling` is that of drawing respondents, D_pi -
    pi pi'.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> split = rr.estimation.variance_split(response, rr.Prior.uniform(["no", "yes"]))
        >>> [[float(entry) for entry in row] for row in split.sampling]
        [[0.25, -0.25], [-0.25, 0.25]]
    """

    inflation: ExactMatrix
    sampling: ExactMatrix

    @property
    def risk(self) -> Fraction:
        """n times the expected squared error: the traces of both."""
        return sum((one[x][x] for one in (self.inflation, self.sampling) for x in range(len(one))), Fraction(0))


@checked
def variance_split(mechanism: AnyMechanism, prior: Prior) -> VarianceSplit:
    """The covariance of P^-1 (frequencies of Z) for as many outputs as inputs, Chai (2.3).

    Raises InputError for other mechanisms, for those that lose rank, and for a prior of other inputs.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> float(rr.estimation.variance_split(response, rr.Prior.uniform(["no", "yes"])).risk)
        2.0
    """
    mechanism = explicit(mechanism, "mechanism")
    same_labels(prior.labels, mechanism.inputs, "variance_split, prior")
    size, p = len(mechanism.inputs), prior.probabilities
    if len(mechanism.outputs) != size:
        raise Missing("this needs as many outputs as inputs", "variance_split", "give a square matrix")
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


@dataclass(frozen=True)
class ProjectedRisk(Readable):
    """n times the expected squared error of the linear estimate and of its projection, and the standard error of the
    second (0 where it is a sum over all samples); `outside`: how often the linear estimate has a negative part.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> found = rr.estimation.projected_risk(response, rr.Prior.uniform(["no", "yes"]), 5, draws=100)
        >>> found.projected <= found.linear
        True
    """

    linear: float
    projected: float
    standard_error: float
    outside: float


@checked
def projected_risk(
    mechanism: AnyMechanism,
    prior: Prior,
    respondents: int,
    *,
    method: str = "nearest",
    draws: int = 20_000,
    seed: int = 1,
) -> ProjectedRisk:
    """The risk of the projected minimax estimate of `prior` from `respondents` answers.

    The linear estimate is (P' D^-1 P)^-1 P' D^-1 lambda^ with D at equal frequencies: P^-1 lambda^ for square P.
    `method`: "nearest" is the nearest point of the simplex, "clipped" sets negative parts to zero and divides by the
    sum (Agrawal et al. 2009). An exact sum where there are few samples, else a mean over `draws`. Raises InputError.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> found = rr.estimation.projected_risk(response, rr.Prior.uniform(["no", "yes"]), 5, draws=100)
        >>> round(found.linear, 4)
        2.0
    """
    if method not in PROJECTIONS:
        raise UnknownName(f"{method!r} is not a projection", "projected_risk", f"use {' or '.join(PROJECTIONS)}")
    if not 1 <= respondents <= MOST_PEOPLE or not 2 <= draws <= MOST_DRAWS:
        remedy = f"give 1 to {MOST_PEOPLE:,} respondents, 2 to {MOST_DRAWS:,} draws"
        raise OutOfRange("the number of respondents or of draws is out of range", "projected_risk", remedy)
    mechanism = explicit(mechanism, "mechanism")
    same_labels(prior.labels, mechanism.inputs, "projected_risk, prior")
    p, matrix = prior.array, mechanism.matrix
    if np.linalg.matrix_rank(matrix) < len(p):
        raise InputError("the mechanism does not identify this prior", "projected_risk", "rropt identify repairs it")
    scaled = matrix / matrix.mean(0)
    lines = np.linalg.solve(scaled @ matrix.T, scaled)
    chances = p @ matrix
    project, outputs = PROJECTIONS[method], matrix.shape[1]
    exact = math.comb(respondents + outputs - 1, outputs - 1) <= MOST_SAMPLES
    if exact:
        samples = np.array(list(_samples(respondents, outputs)))
        weights = np.array([_chance(one, chances) for one in samples])
    else:
        samples = np.random.default_rng(seed).multinomial(respondents, chances, size=draws)
        weights = np.full(draws, 1 / draws)
    linear = samples / respondents @ lines.T
    inside = np.array([project(one) for one in linear])
    errors = respondents * ((inside - p) ** 2).sum(1)
    mean = float(weights @ errors)
    error = 0.0 if exact else float(errors.std(ddof=1) / draws**0.5)
    plain = float(chances @ (lines**2).sum(0) - p @ p)
    return ProjectedRisk(plain, mean, error, float(weights @ (linear < -1e-12).any(1)))


def _samples(respondents: int, outputs: int) -> Iterator[tuple[int, ...]]:
    if outputs == 1:
        yield (respondents,)
        return
    for first in range(respondents + 1):
        for rest in _samples(respondents - first, outputs - 1):
            yield (first, *rest)


def _chance(sample: np.ndarray, chances: np.ndarray) -> float:
    ways = math.factorial(int(sample.sum()))
    for one in sample:
        ways //= math.factorial(int(one))
    return float(ways * math.prod(float(q) ** int(n) for q, n in zip(chances, sample, strict=True)))
