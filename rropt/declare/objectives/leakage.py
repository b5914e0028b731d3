"""Leakages that do not depend on a prior: the capacities of a mechanism."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from rropt.declare.objective import Objective, check_domain, check_prior
from rropt.errors import Missing
from rropt.exact import Interval
from rropt.io.arguments import checked
from rropt.io.types import Matrix
from rropt.mechanisms.columns import exact_rows
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.divergences import capacity
from rropt.model.prior import Prior
from rropt.model.secret import SECRET, Secret
from rropt.program.limits import Capacity
from rropt.program.programs import BayesGain, Sense, Utility
from rropt.program.secrets import mechanism_of


@checked
@dataclass(frozen=True, init=False)
class BayesCapacity(Objective):
    """sum over outputs of max_x Q[x, y]: the largest factor by which the release multiplies the chance of a correct
    guess, over all priors and all things to guess. Its logarithm is the maximal leakage in nats.

    With `prior` and `secret`, P(S | input) as for `MutualInformation`, it is that of the secret and the output: the
    sum of max_s P(y | s), whatever the prior of the secret is.

        >>> import rropt as rr
        >>> prior = rr.Prior.uniform(["a", "b", "c"])
        >>> about = rr.privacy.BayesCapacity(prior, secret=[[1, 0], [1, 0], [0, 1]])
        >>> str(about.value(rr.RandomizedResponse(prior.labels, gamma=2).mechanism).lower)
        '5/4'

    Source: Braun, Chatzikokolakis and Palamidessi 2009, Quantitative Notions of Leakage for One-try Attacks,
    Proposition 5.11; Issa, Wagner and Kamath 2020, Theorem 1.

        >>> import rropt as rr
        >>> rr.privacy.BayesCapacity().value(rr.RandomizedResponse(2, gamma=3).to_mechanism()).upper == 1.5
        True
    """

    kind: ClassVar[str] = "bayes_capacity"
    sense: ClassVar[Sense] = "minimize"
    sentence: ClassVar[str] = "the largest factor by which the release multiplies the chance of any guess"
    words: ClassVar[Mapping[str, str]] = SECRET

    prior: Prior | None
    secret: Secret | None

    def __init__(self, prior: Prior | None = None, *, secret: Matrix | None = None) -> None:
        if (prior is None) != (secret is None):
            raise Missing("prior and secret belong together", "BayesCapacity", "give both, or neither")
        object.__setattr__(self, "prior", None if prior is None else check_prior(prior, "BayesCapacity"))
        known = None if prior is None or secret is None else Secret.read(secret, prior, "BayesCapacity")
        object.__setattr__(self, "secret", known)

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        return super().read_keys(prior, keys, where) if keys else cls()

    def value(self, mechanism: Mechanism) -> Interval:
        if self.secret is not None and self.prior is not None:
            check_domain(mechanism, self.prior.labels, "BayesCapacity")
            mechanism = mechanism_of(self.secret, mechanism, self.prior)
        highest = (max(mechanism.column(y)) for y in range(len(mechanism.outputs)))
        return Interval.point(sum(highest, Fraction(0)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        size = len(inputs)
        if self.secret is not None and self.prior is not None:
            shares = self.secret.prior(self.prior).probabilities
            gain = tuple(tuple(row[s] / share for row in self.secret.given) for s, share in enumerate(shares))
            return BayesGain(self.prior.weights, gain, self.secret.values)
        gain = tuple(tuple(Fraction(size * (x == z)) for z in range(size)) for x in range(size))
        return BayesGain((1,) * size, gain, inputs)

    def keys(self) -> dict[str, object]:
        return {} if self.secret is None else self.secret.keys()

    def explain(self) -> str:
        return self.sentence + ("" if self.secret is None else " at a secret")

    def describe(self) -> str:
        return super().describe() + ("" if self.secret is None else " of a secret")


@checked
@dataclass(frozen=True)
class ChannelCapacity(Objective):
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

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        return cls()

    @property
    def prior(self) -> None:  # type: ignore[override]
        """None: it is the worst of all priors."""
        return None

    @property
    def units(self) -> str:  # type: ignore[override]
        return "nats"

    def value(self, mechanism: Mechanism) -> Interval:
        return capacity(exact_rows(mechanism))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        return Capacity()
