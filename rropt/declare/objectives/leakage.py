"""Leakages that do not depend on a prior: the capacities of a mechanism."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from rropt.declare.objective import Objective
from rropt.exact import Interval
from rropt.io.arguments import checked
from rropt.mechanisms.columns import exact_rows
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import capacity
from rropt.model.prior import Prior
from rropt.program.limits import Capacity
from rropt.program.programs import BayesGain, Sense, Utility


class _WithoutPrior(Objective):
    """The common part of objectives without a prior."""

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        return cls()

    @property
    def prior(self) -> None:  # type: ignore[override]
        """None: it is the worst of all priors."""
        return None


@checked
@dataclass(frozen=True)
class BayesCapacity(_WithoutPrior):
    """sum over outputs of max_x Q[x, y]: the largest factor by which the release multiplies the chance of a correct
    guess, over all priors and all things to guess. Its logarithm is the maximal leakage in nats.

    Source: Braun, Chatzikokolakis and Palamidessi 2009, Quantitative Notions of Leakage for One-try Attacks,
    Proposition 5.11; Issa, Wagner and Kamath 2020, Theorem 1.

        >>> import rropt as rr
        >>> rr.privacy.BayesCapacity().value(rr.RandomizedResponse(2, gamma=3).to_mechanism()).upper == 1.5
        True
    """

    kind: ClassVar[str] = "bayes_capacity"
    sense: ClassVar[Sense] = "minimize"
    sentence: ClassVar[str] = "the largest factor by which the release multiplies the chance of any guess"

    def value(self, mechanism: Mechanism) -> Interval:
        highest = (max(mechanism.column(y)) for y in range(len(mechanism.outputs)))
        return Interval.point(sum(highest, Fraction(0)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        size = len(inputs)
        gain = tuple(tuple(Fraction(size * (x == z)) for z in range(size)) for x in range(size))
        return BayesGain((1,) * size, gain, inputs)


@checked
@dataclass(frozen=True)
class ChannelCapacity(_WithoutPrior):
    """The largest mutual information of input and output over all priors, in nats. It is minimised, or limited by
    `AtMost`. It bounds the information in the release at any frequencies.

    The least capacity is bounded by the least information at one prior, the worst one.
    Source: Shannon 1948; Arimoto 1972, Blahut 1972 (the worst prior of a mechanism).

        >>> import rropt as rr
        >>> capacity = rr.privacy.ChannelCapacity().value(rr.RandomizedResponse(2, gamma=3).to_mechanism())
        >>> round(float(capacity.upper), 4)
        0.1308
    """

    kind: ClassVar[str] = "channel_capacity"
    sense: ClassVar[Sense] = "minimize"
    sentence: ClassVar[str] = "the information about the true answer at the worst frequencies"

    @property
    def units(self) -> str:  # type: ignore[override]
        return "nats"

    def value(self, mechanism: Mechanism) -> Interval:
        return capacity(exact_rows(mechanism))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return Capacity()
