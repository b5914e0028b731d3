"""Exact two-sided geometric noise (discrete Laplace), from whole random numbers.

Z = G - H, with independent G and H of P(G = g) = (1 - r) r^g and r = a / 2^24, has P(Z = z) = (1 - r) / (1 + r) r^|z|
(Ghosh, Roughgarden and Sundararajan 2012). G = m Q + J: Q counts how often an event of probability r^m occurs before it
fails; J < m is drawn uniformly, kept with probability r^J, and else drawn again. Every probability is a^j / 2^(24 j).
"""

import math
from collections.abc import Callable
from fractions import Fraction

from rropt.errors import OutOfRange
from rropt.exact import declared_text, exp_enclosure
from rropt.mechanisms.sampling.sources import secure_bytes

BITS = 24
LEAST, MOST = Fraction(1, 100), Fraction(64)
"""The epsilons of a histogram."""

Bits = Callable[[int], int]
"""A uniform whole number of so many bits."""


def secure_bits(count: int) -> int:
    """A uniform whole number of `count` bits, from the operating system. Raises InputError."""
    return int.from_bytes(secure_bytes(-(-count // 8)), "little") & ((1 << count) - 1)


class GeometricNoise:
    """The noise of each count of a histogram that is epsilon-DP where one record's value changes: two counts change by
    one each, so that `privacy_ratio`, the largest ratio of the probabilities of a histogram, is r^-2, at most
    exp(epsilon). `epsilon` is in nats, from 0.01 to 64. Raises InputError."""

    def __init__(self, epsilon: Fraction) -> None:
        if not LEAST <= epsilon <= MOST:
            raise OutOfRange(
                f"{declared_text(epsilon)} is out of range", "epsilon", f"give {float(LEAST)} to {float(MOST):.0f}"
            )
        self.numerator: int = math.ceil(exp_enclosure(-epsilon / 2).upper * (1 << BITS))
        self.ratio = Fraction(self.numerator, 1 << BITS)
        self.privacy_ratio = 1 / self.ratio**2
        self._part: int = 1 << round(1 / (1 - self.ratio)).bit_length() - 1

    def draw(self, bits: Bits = secure_bits) -> int:
        """One value."""
        return self._one_sided(bits) - self._one_sided(bits)

    def _one_sided(self, bits: Bits) -> int:
        whole = 0
        while self._occurs(self._part, bits):
            whole += self._part
        while not self._occurs(rest := bits(self._part.bit_length() - 1) if self._part > 1 else 0, bits):
            pass
        return whole + rest

    def _occurs(self, power: int, bits: Bits) -> bool:
        """An event of probability r^power."""
        limit: int = self.numerator**power
        return bits(BITS * power) < limit
