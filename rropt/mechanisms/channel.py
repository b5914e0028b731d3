"""The base class of all ways to randomise one categorical answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.exact import Interval
from rropt.io.tables import Readable
from rropt.mechanisms.sampling import Source
from rropt.model.prior import Prior

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate


class RandomizedChannel(Readable, ABC):
    """A conditional distribution of an output given an input of a labelled, finite domain."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """The labels of the k inputs."""

    @property
    @abstractmethod
    def privacy_ratio(self) -> Fraction | float:
        """Largest ratio between two entries of one output's column: exact, `math.inf` where a zero is next
        to a positive entry."""

    @property
    @abstractmethod
    def epsilon(self) -> Interval:
        """log of the privacy ratio, rigorously enclosed, in nats; both ends `math.inf` for an infinite privacy
        ratio."""

    @abstractmethod
    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        """Mutual information of input and output at `prior`, rigorously enclosed."""

    @abstractmethod
    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        """Draw one output for each input, exactly and with secure randomness, keyed afresh for each call.

        `codes` are positions in `inputs`: an array of any integer dtype and shape, or a list of integers. Returns
        positions of outputs: the same shape, the smallest unsigned dtype that holds all of them. Raises InputError
        that counts and lists codes out of range. `source` is for tests (`sampling.insecure_seeded_source`).
        """

    @abstractmethod
    def randomize(self, labels: Any, *, source: Source | None = None) -> list[str] | np.ndarray:
        """As `sample`, from labels to labels: a sequence gives a list, an array (or Series) an array of the same
        shape and dtype object. Raises InputError that counts and lists unknown labels, None and NaN among them.
        """

    @abstractmethod
    def estimate(self, counts: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        """The frequencies of the inputs, with errors and intervals, from how often each output was reported.

        `counts` are m whole numbers in the order of the outputs, or numbers with their labels (a mapping, a
        Series; only a Counter may leave out labels, which count zero). `method` is one of
        `rropt.mechanisms.estimators.METHODS`; `prior` goes with "locally_best".
        Raises InputError, for a mechanism that does not identify the frequencies too.
        """


class LabelledChannel(RandomizedChannel):
    """A channel that holds the labels of its inputs in the field `labels`."""

    labels: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.labels

    @property
    def size(self) -> int:
        """k, the number of categories."""
        return len(self.labels)
