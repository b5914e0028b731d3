"""What every way of randomising one categorical answer has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from rropt.exact import Interval
from rropt.priors import Prior


class RandomizedChannel(ABC):
    """A conditional distribution of an output given an input of a labelled, finite domain."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """The labels of the k inputs."""

    @abstractmethod
    def parity(self) -> Fraction | float:
        """Largest ratio between two entries of one output's column: exact, `math.inf` where a zero stands
        beside a positive entry."""

    @abstractmethod
    def epsilon(self) -> Interval:
        """log of the parity, rigorously enclosed, in nats; both ends `math.inf` for an infinite parity."""

    @abstractmethod
    def mutual_information(self, prior: Prior, units: str = "nats") -> Interval:
        """Mutual information of input and output at `prior`, rigorously enclosed."""
