"""Objectives as constraints: no more, or no less, than a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from rropt.declare import objectives
from rropt.declare.constraint import Constraint
from rropt.declare.constraints.notions.divergences import CapacityNotion
from rropt.declare.objective import check_prior
from rropt.declare.objectives import Objective
from rropt.errors import Conflict, WrongType
from rropt.exact import declared_text, dyadic_down, log_enclosure, rational
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.io.types import Counts, Label, Matrix, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Pairs, Prior
from rropt.program.cones import Cone, FreeCone, PolyhedralCone, equal_cone
from rropt.program.extras import Extra
from rropt.program.limits import Capacity, DivergenceLimits, Limit, Limits
from rropt.program.programs import BayesGain, ChiSquare, Divergence, Linear, Row, Utility
from rropt.program.secrets import OfSecret
from rropt.program.worst_of import WorstOf

BITS = 80
"""A limit in bits is taken down to a multiple of 2^-80 nats."""


def columns_of(utility: Utility, at_most: Fraction) -> Cone | None:
    """The condition on each column that a limit on a leakage is at its least value, and none from its greatest one on;
    None where it is between the two.

    The greatest value is that of the true answers, which all others are made of. No information at all is left where
    inputs that a known value leaves possible have equal rows. A gain is least where one action is best for everybody;
    then it is best at every output: the sum of the best is no less than its own.
    """
    if isinstance(utility, BayesGain):
        scores = utility.scores()
        if at_most >= sum(map(max, zip(*scores, strict=True)), Fraction(0)):
            return FreeCone()
        totals = [sum(row, Fraction(0)) for row in scores]
        if at_most != max(totals):
            return None
        best = scores[totals.index(at_most)]
        rows = [tuple(s - own for s, own in zip(row, best, strict=True)) for row in scores if row != best]
        return PolyhedralCone(FreeCone(), tuple(rows)) if rows else FreeCone()
    if isinstance(utility, ChiSquare) and at_most >= sum(map(bool, utility.weights)) - 1:
        return FreeCone()
    if isinstance(utility, OfSecret) and not at_most:
        # No information about a secret is left where all of its values give every output equally often.
        pairs = [tuple(a - b for a, b in zip(*two, strict=True)) for two in pairwise(utility.inputs)]
        return PolyhedralCone(FreeCone(), tuple(row for own in pairs for row in (own, tuple(-entry for entry in own))))
    if not isinstance(utility, Divergence) or at_most:
        return None
    given = getattr(utility, "given", None) or tuple((weight,) for weight in utility.weights)
    alike = [[x for x, weight in enumerate(possible) if weight] for possible in zip(*given, strict=True)]
    return equal_cone(alike, len(given)) if any(own[1:] for own in alike) else FreeCone()


@checked
class _Bounded(Constraint):
    """The common part of `AtMost` and `AtLeast`."""

    objective: Objective
    number: Fraction
    upper: ClassVar[bool]

    def __init__(self, objective: Objective, number: Number) -> None:
        where = type(self).__name__
        if not isinstance(objective, Objective):
            raise WrongType(f"{type(objective).__name__} is not an objective", where, "as AtMost(ExpectedLoss(...), 1)")
        object.__setattr__(self, "objective", objective)
        object.__setattr__(self, "number", rational(number, where))
        if objective.prior is not None:
            self._form(objective.prior.labels)

    @classmethod
    def from_keys(
        cls,
        objective: str,
        number: Number,
        *,
        prior: Prior | None = None,
        counts: Counts | Matrix | None = None,
        sensitive: Sequence[Label] | None = None,
        other: Sequence[Label] | None = None,
        **keys: Any,
    ) -> _Bounded:
        """The constraint of a problem file; without `counts` the prior is that of its input. `sensitive` and `other` make
        `counts` a table of pairs."""
        if prior is not None:
            check_prior(prior, f"{cls.kind}: prior")
        if counts is None:
            own = prior
        elif sensitive is not None and other is not None:
            own = Prior.from_counts(counts, pairs=Pairs(sensitive, other))
        else:
            own = Prior.from_counts(
                counts, labels=None if prior is None or isinstance(counts, Mapping) else prior.labels
            )
        return cls(objectives.from_keys(objective, keys, own, cls.kind), number)

    def _form(self, inputs: tuple[str, ...]) -> Utility:
        """The utility of the objective. Raises InputError where the constraint is not a convex one."""
        prior, utility = self.objective.prior, self.objective.form(inputs)
        if prior is not None:
            same_labels(prior.labels, inputs, f"{self.describe()}, prior")
        convex = isinstance(utility, Divergence | BayesGain | Capacity | OfSecret | WorstOf)
        known = isinstance(utility, Linear) or (self.upper and convex)
        if not known:
            side = "above" if self.upper else "below"
            remedy = "maximise it as the objective" if not self.upper else "minimise it as the objective"
            raise Conflict(f"{self.objective.kind} cannot be a limit {side}", type(self).__name__, remedy)
        return utility

    def violation(self, mechanism: Mechanism) -> Fraction:
        value = self.objective.value(mechanism)
        return value.upper - self.number if self.upper else self.number - value.lower

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return self.objective.outputs(inputs)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        utility, sign = self._form(inputs), 1 if self.upper else -1
        if isinstance(utility, WorstOf):
            named = self._named(self.objective.kind.replace("_", " "))
            return tuple(Row(f"{named} ({i + 1})", "<=", self.number, own) for i, own in enumerate(utility.costs))
        if not isinstance(utility, Linear):
            return ()
        terms = tuple((x, y, sign * value) for x, y, value in utility.cost)
        # Certificates have the name of this row: it stays as it is.
        return (Row(self._named(self.objective.kind.replace("_", " ")), "<=", sign * self.number, terms),)

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        return columns_of(self._form(inputs), self.number) if self.upper else None

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        utility = self._form(inputs)
        if self.upper and columns_of(utility, self.number) is not None:
            return ()
        if isinstance(utility, Capacity):
            return (DivergenceLimits((CapacityNotion(self.number),)),)
        if not isinstance(utility, Divergence | BayesGain | OfSecret):
            return ()
        number = self.number
        if self.objective.units == "bits":
            number = dyadic_down(number * log_enclosure(Fraction(2)).lower, BITS)
        return (Limits((Limit(utility, number, self.objective.own_value),)),)  # type: ignore[arg-type]

    def keys(self) -> dict[str, object]:
        prior = self.objective.prior
        own: dict[str, object] = {}
        if prior is not None and prior.pairs is not None:
            sensitive, other = prior.pairs.sensitive, prior.pairs.other
            table = [list(prior.weights[prior.pairs.block(s)]) for s in range(len(sensitive))]
            own = {"counts": table, "sensitive": list(sensitive), "other": list(other)}
        elif prior is not None:
            own = {"counts": dict(zip(prior.labels, prior.weights, strict=True))}
        return {"objective": self.objective.kind, "number": self.number, **own, **self.objective.keys()}

    def describe(self) -> str:
        return self._named(self.objective.describe())

    def _named(self, what: str) -> str:
        word = "at most" if self.upper else "at least"
        unit = f" {self.objective.units}" if self.objective.units else ""
        return f"{what} {word} {declared_text(self.number)}{unit}"


@checked
@dataclass(frozen=True, init=False)
class AtMost(_Bounded):
    """An objective is at most `number`, in its own units: a loss, a gain or a trace (one linear row), or a leakage:
    mutual information, chi-square information, Bayes success, a capacity. Each has its own prior. Raises InputError.

        >>> import rropt as rr
        >>> limit = rr.AtMost(rr.privacy.BayesCapacity(), "1.5")
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [limit], inputs=["no", "yes"])
        >>> round(problem.solve().value, 6)
        1.5
    """

    kind: ClassVar[str] = "at_most"
    upper: ClassVar[bool] = True

    objective: Objective
    number: Fraction


@checked
@dataclass(frozen=True, init=False)
class AtLeast(_Bounded):
    """A linear objective is at least `number`: a gain, a trace, a loss. An information at least a number is not
    a convex constraint: maximise it instead. Raises InputError.

        >>> import rropt as rr
        >>> limit = rr.AtLeast(rr.Trace(), "1.5")
        >>> problem = rr.Problem(rr.Minimize(rr.privacy.BayesCapacity()), [limit], inputs=["no", "yes"])
        >>> round(problem.solve().value, 6)
        1.5
    """

    kind: ClassVar[str] = "at_least"
    upper: ClassVar[bool] = False

    objective: Objective
    number: Fraction
