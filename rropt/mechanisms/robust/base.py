"""The base class of the protocols for robust local differential privacy."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rropt.errors import Conflict, OutOfRange, TooLarge, WrongType, counted
from rropt.exact import exp_enclosure
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust.calibration import Way, checked_way
from rropt.mechanisms.robust.search import FloatArray, information
from rropt.model.distributions import Confidence
from rropt.model.distributions.quantile import significant_down
from rropt.model.prior import Pairs, Prior
from rropt.model.privacy import Level, level_numbers, ratio_at

EXACT_CELLS = 200_000
"""Matrices with more cells are not written out in rationals ..."""
FLOAT_CELLS = 20_000_000
"""... and with more than this not in floats."""
ROUNDING = 1 + Fraction(1, 1 << 40)
"""More than the relative error of numbers that are rounded down to significant digits."""


@checked
class RobustProtocol(ABC):
    """A protocol for pairs X = (S, U) that keeps S private for every distribution of a set F ((epsilon, F)-RLDP).

    All its parameters are rationals rounded so that the level is never exceeded; floats only choose among them.
    """

    level: Level

    @property
    @abstractmethod
    def pairs(self) -> Pairs:
        """The inputs."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """The labels of the outputs."""

    @abstractmethod
    def formula(self) -> float:
        """Mutual information in nats at the distribution that it was optimised for, by the paper's formula."""

    @abstractmethod
    def _output_count(self) -> int:
        """The number of outputs."""

    @abstractmethod
    def _table(self, exact: bool) -> np.ndarray:
        """The k x m matrix: of Fraction (dtype object) or of floats."""

    def _check_size(self, most: int, what: str) -> None:
        cells = len(self.pairs) * self._output_count()
        if cells > most:
            raise TooLarge(
                f"its matrix has {counted(cells, 'cells')}",
                type(self).__name__,
                f"{what} is for at most {most:,}; use formula()",
            )

    def to_mechanism(self) -> Mechanism:
        """The explicit matrix in exact rationals. Raises InputError above 200,000 cells."""
        return self._mechanism

    @cached_property
    def _mechanism(self) -> Mechanism:
        self._check_size(EXACT_CELLS, "to_mechanism()")
        return Mechanism.from_rationals(self._table(True).tolist(), inputs=self.pairs.labels, outputs=self.outputs)

    def utility(self, prior: Prior) -> float:
        """The true mutual information of X and the output at `prior`, nats, in floats. Raises InputError.

        At another distribution than the one it was optimised for, the paper's formula for conditional reporting is a
        lower bound only (its Theorems 18 and 20 say it is equal).
        """
        if not isinstance(prior, Prior) or prior.labels != self.pairs.labels:
            raise Conflict("its inputs are other pairs", "prior", f"they are {self.pairs!r}")
        self._check_size(FLOAT_CELLS, "utility()")
        return information(self._matrix, prior.array)

    @cached_property
    def _matrix(self) -> FloatArray:
        return self._table(False)


@dataclass(frozen=True, init=False)
class CalibratedProtocol(RobustProtocol):
    """A protocol that is optimised at the centre of a set of distributions, and calibrated so that it holds for all.

    `confidence` is the set, `level` what was declared, `calibration` "paper" or "exact".
    """

    confidence: Confidence
    level: Level
    calibration: Way

    def _declare(self, confidence: Confidence, epsilon: Number | None, calibration: str, gamma: Number | None) -> str:
        """Check and keep what every such protocol is declared with; the class's name, for messages."""
        name = type(self).__name__
        object.__setattr__(self, "level", Level(**level_numbers(epsilon, gamma, name)))
        object.__setattr__(self, "calibration", checked_way(calibration, name))
        object.__setattr__(self, "confidence", centred(confidence, name))
        return name

    @property
    def pairs(self) -> Pairs:
        return self.confidence.pairs


def centred(confidence: object, where: str) -> Confidence:
    """`confidence` if it has a centre. Raises InputError."""
    if not isinstance(confidence, Confidence):
        raise WrongType(
            f"{confidence!r} is not a set of distributions",
            where,
            "give ChiSquareSet(counts, alpha) or KnownDistribution",
        )
    if confidence.center is None:
        raise Conflict("it has all distributions", where, "use SecretRandomizedResponse(pairs, epsilon)")
    return confidence


def table_of(confidence: Confidence) -> FloatArray:
    """The centre as an |S| x |U| float array."""
    assert confidence.center is not None
    return confidence.center.array.reshape(len(confidence.pairs.sensitive), len(confidence.pairs.other))


def split_level(level: Level, log: float) -> tuple[Fraction, Fraction]:
    """(E1, E2) with E1 E2 at most gamma and E2 about exp(log), both at least 1."""
    gamma = significant_down(level.ratio.lower)
    second = min(gamma, max(Fraction(1), significant_down(exp_enclosure(Fraction(log)).lower)))
    return max(Fraction(1), significant_down(gamma / second)), second


def given_split(
    level: Level, epsilon_1: Number | None, epsilon_2: Number | None, name: str
) -> tuple[Fraction, Fraction] | None:
    """(E1, E2), both at least 1 and rounded down, for the parts of epsilon that are given: what one leaves is the other.
    None where neither is. Raises InputError where they are more than the level."""
    if epsilon_1 is None and epsilon_2 is None:
        return None
    gamma = significant_down(level.ratio.lower)
    one, two = (None if own is None else significant_down(ratio_at(own).lower) for own in (epsilon_1, epsilon_2))
    first = one if one is not None else significant_down(gamma / (two or 1))
    second = two if two is not None else significant_down(gamma / first)
    if min(first, second) < 1 or first * second > gamma * ROUNDING:
        raise OutOfRange("epsilon_1 and epsilon_2 are more than epsilon", name, "make their sum at most epsilon")
    # Of two that use all of it the product may be more by a last digit.
    return max(Fraction(1), min(first, significant_down(gamma / second))), min(second, gamma)


def response(size: int, ratio: Fraction | None, exact: bool) -> np.ndarray:
    """k-RR with that ratio as k x k matrix; the identity for None."""
    one, zero = (Fraction(1), Fraction(0)) if exact else (1.0, 0.0)
    high, low = (one, zero) if ratio is None else (ratio / (ratio + size - 1), one / (ratio + size - 1))
    kind: type = object if exact else float
    return np.array([[high if x == y else low for y in range(size)] for x in range(size)], dtype=kind)


def number(value: Fraction | None) -> float:
    """A ratio as a float; infinite for None."""
    return math.inf if value is None else float(value)


def cast(row: Sequence[Fraction], exact: bool) -> np.ndarray:
    """Rationals as an array of themselves or of floats."""
    return np.array(list(row), dtype=object) if exact else np.array([float(value) for value in row])
