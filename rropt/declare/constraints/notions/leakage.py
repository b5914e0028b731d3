"""Limits on the leakage of one output, or of all, to an adversary with any aim."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraint import Constraint
from rropt.declare.objective import check_domain, check_prior
from rropt.declare.objectives.leakage import BayesCapacity
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.types import Counts, Matrix, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.model.privacy import Level, declared_number, level_numbers
from rropt.model.secret import Secret
from rropt.program.cones import Cone, FreeCone, PolyhedralCone
from rropt.program.extras import Extra
from rropt.program.limits import Limit, Limits
from rropt.program.programs import BayesGain
from rropt.program.secrets import mechanism_of


@checked
@dataclass(frozen=True, init=False)
class PointwiseMaximalLeakage(Constraint):
    """Q[x, y] <= exp(epsilon) sum_z p_z Q[z, y] for all outputs y and all inputs x with p_x > 0.

    Whatever an adversary wants to guess, or to gain, no single output multiplies the success by more than exp(epsilon).
    The level is `epsilon` (nats, in (0, 20]) or `gamma` = exp(epsilon) > 1; the prior p is that of the respondents, and
    not what an adversary knows besides. It is weaker than LDP at epsilon; where one input has nearly no probability, it
    says as much for the others. An irrational exp(epsilon) is taken down, by 2^-240 about.

    With `secret`, P(S | input) as for `MutualInformation`, the aims are those that are about the secret:
    P(y | s) <= exp(epsilon) P(y) for all its values s.

        >>> import rropt as rr
        >>> prior = rr.Prior.uniform(["a", "b", "c"])
        >>> rule = rr.privacy.PointwiseMaximalLeakage(prior, gamma=2, secret=[[1, 0], [1, 0], [0, 1]])
        >>> round(rr.Problem(rr.Maximize(rr.Trace(prior)), [rule]).solve().value, 6)
        0.833333

    Source: Saeidian, Cervia, Oechtering and Skoglund 2023, Pointwise Maximal Leakage, Theorem 1. Raises InputError.

        >>> import rropt as rr
        >>> prior = rr.Prior.from_counts({"no": 1, "yes": 1})
        >>> rule = rr.privacy.PointwiseMaximalLeakage(prior, gamma="1.5")
        >>> round(rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=prior.labels).solve().value, 6)
        1.5
    """

    kind: ClassVar[str] = "pointwise_maximal_leakage"

    prior: Prior
    level: Level
    secret: Secret | None

    def __init__(
        self,
        prior: Prior,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        secret: Matrix | None = None,
    ) -> None:
        object.__setattr__(self, "prior", check_prior(prior, "PointwiseMaximalLeakage"))
        known = None if secret is None else Secret.read(secret, prior, "PointwiseMaximalLeakage")
        object.__setattr__(self, "secret", known)
        object.__setattr__(self, "level", Level(**level_numbers(epsilon, gamma, "PointwiseMaximalLeakage")))

    @classmethod
    def from_keys(
        cls,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        counts: Counts | None = None,
        secret: Matrix | None = None,
        prior: Prior | None = None,
    ) -> PointwiseMaximalLeakage:
        """The constraint of a problem file; without `counts` the prior is that of its input."""
        own = prior if counts is None else Prior.from_counts(counts)
        return cls(check_prior(own, cls.kind), epsilon=epsilon, gamma=gamma, secret=secret)

    def violation(self, mechanism: Mechanism) -> Fraction:
        check_domain(mechanism, self.prior.labels, "PointwiseMaximalLeakage")
        if self.secret is not None:
            own = PointwiseMaximalLeakage(self.secret.prior(self.prior), gamma=self.level.ratio.lower)
            return own.violation(mechanism_of(self.secret, mechanism, self.prior))
        ratio, p = self.level.ratio.lower, self.prior.probabilities
        found = []
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            mean = sum((share * entry for share, entry in zip(p, column, strict=True)), Fraction(0))
            found.append(max(entry for share, entry in zip(p, column, strict=True) if share) - ratio * mean)
        return max(found)

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        same_labels(self.prior.labels, inputs, "PointwiseMaximalLeakage, prior")
        ratio, p = self.level.ratio.lower, self.prior.probabilities
        if self.secret is not None:
            values = self.secret.inputs(self.prior)
            means = tuple(tuple(a - ratio * b for a, b in zip(row, p, strict=True)) for row in values)
            return PolyhedralCone(FreeCone(), means)
        rows = tuple(tuple((x == z) - ratio * share for z, share in enumerate(p)) for x, own in enumerate(p) if own)
        return PolyhedralCone(FreeCone(), rows)

    def keys(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        own = {} if self.secret is None else self.secret.keys()
        return {word: number, "counts": dict(zip(self.prior.labels, self.prior.weights, strict=True)), **own}

    def describe(self) -> str:
        return f"pointwise maximal leakage{'' if self.secret is None else ' of a secret'} at {self.level}"


@checked
@dataclass(frozen=True, init=False)
class MaximalLeakage(Constraint):
    """log sum_y max_x Q[x, y] <= epsilon: the release as a whole multiplies an adversary's probability of a right guess
    by at most exp(epsilon), for every thing to guess and every prior without zeros.

    The level is `epsilon` (nats, in (0, 20]) or `gamma` = exp(epsilon) > 1. `BayesCapacity` is the sum itself, as an
    objective. An irrational exp(epsilon) is taken down, by 2^-240 about. With `prior` and `secret`, P(S | input) as for
    `MutualInformation`, the things to guess are those that are about the secret.

        >>> import rropt as rr
        >>> prior = rr.Prior.uniform(["a", "b", "c"])
        >>> rule = rr.privacy.MaximalLeakage(gamma="1.5", prior=prior, secret=[[1, 0], [1, 0], [0, 1]])
        >>> round(rr.Problem(rr.Maximize(rr.Trace(prior)), [rule]).solve().value, 6)
        0.833333

    Source: Issa, Wagner and Kamath 2020, An Operational Approach to Information Leakage, Theorem 1. Raises InputError.

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.privacy.MaximalLeakage(gamma="1.5")], inputs=["no", "yes"])
        >>> round(problem.solve().value, 6)
        1.5
    """

    kind: ClassVar[str] = "maximal_leakage"

    level: Level
    capacity: BayesCapacity

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        prior: Prior | None = None,
        secret: Matrix | None = None,
    ) -> None:
        object.__setattr__(self, "level", Level(**level_numbers(epsilon, gamma, "MaximalLeakage")))
        object.__setattr__(self, "capacity", BayesCapacity(prior if secret is not None else None, secret=secret))

    def violation(self, mechanism: Mechanism) -> Fraction:
        return self.capacity.value(mechanism).lower - self.level.ratio.lower

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        capacity = self.capacity
        if capacity.prior is not None:
            same_labels(capacity.prior.labels, inputs, "MaximalLeakage, prior")
        utility = capacity.form(inputs)
        assert isinstance(utility, BayesGain)
        return (Limits((Limit(utility, self.level.ratio.lower, capacity.value),)),)

    def keys(self) -> dict[str, object]:
        return dict([declared_number(self.level)]) | self.capacity.keys()

    def describe(self) -> str:
        return f"maximal leakage{'' if self.capacity.secret is None else ' of a secret'} at {self.level}"
