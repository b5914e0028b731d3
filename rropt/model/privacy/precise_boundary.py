"""The precise boundary of a privacy ratio: exactly the (prior, posterior) pairs that it rules out."""

from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import OutOfRange
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.types import Number


@checked
@dataclass(frozen=True, init=False)
class PreciseBoundary:
    """The guarantee of privacy ratio `gamma` >= 1: prior p goes to a posterior between `lower`(p) and `upper`(p).

    Equivalently, every Bayes factor lies in [1 / gamma, gamma]. Source: Chai and Nayak, (4.9) to (4.11).
    """

    gamma: Fraction

    def __init__(self, gamma: Number) -> None:
        value = rational(gamma, "gamma")
        if value < 1:
            raise OutOfRange(f"it is {gamma}, below 1", "gamma", "a privacy ratio is at least 1")
        object.__setattr__(self, "gamma", value)

    @property
    def bayes_factors(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest Bayes factor."""
        return 1 / self.gamma, self.gamma

    def upper(self, prior: Number) -> Fraction:
        """gamma p / (1 + (gamma - 1) p), exact. Raises InputError for p outside [0, 1]."""
        p = _prior(prior)
        return self.gamma * p / (1 + (self.gamma - 1) * p)

    def lower(self, prior: Number) -> Fraction:
        """p / (p + gamma (1 - p)), exact. Raises InputError for p outside [0, 1]."""
        return 1 - self.upper(1 - _prior(prior))

    def breached(self, prior: Number, posterior: Number) -> bool:
        """Whether the pair lies outside."""
        after = rational(posterior, "posterior probability")
        return not self.lower(prior) <= after <= self.upper(prior)


def _prior(prior: object) -> Fraction:
    p = rational(prior, "prior probability")
    if not 0 <= p <= 1:
        raise OutOfRange(f"it is {prior}, outside [0, 1]", "prior probability", "it is a probability")
    return p
