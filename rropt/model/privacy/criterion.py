"""Privacy criteria in the language of prior and posterior probabilities, and the privacy ratio that each demands."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from rropt.errors import Conflict, Missing, OutOfRange, UnknownName, WrongType
from rropt.exact import Interval, declared_text, rational
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.model.privacy.curves import Curve, Monotone, curve
from rropt.model.privacy.infimum import smallest
from rropt.model.privacy.level import Level

LEVEL_DIGITS = 15
"""A demanded privacy ratio that is known to an enclosure only is rounded down to so many decimals."""


class Criterion(ABC):
    """A bound on what an intruder learns: for every prior distribution, every set Q of inputs and every output.

    Every criterion amounts to one number: a mechanism satisfies it exactly when its privacy ratio is at most the demanded one
    (Chai and Nayak, Theorem 4.1). `kind` is its word in a problem file.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def privacy_ratio(self) -> Interval:
        """The demanded privacy ratio, enclosed; both ends infinite where nothing is demanded."""

    @abstractmethod
    def keys(self) -> dict[str, object]:
        """Its keys in a problem file besides `kind`; numbers as Fraction."""

    @abstractmethod
    def describe(self) -> str:
        """One short phrase."""

    def __str__(self) -> str:
        return self.describe()

    @property
    def declarable(self) -> bool:
        """Whether a problem file can write it: not where it rests on a Python function."""
        return not any(isinstance(value, Monotone) for value in vars(self).values())

    @property
    def level(self) -> Level:
        """The demanded privacy ratio as a level: exact where it is known exactly, else rounded down, by less than 1e-15 plus
        the width of `privacy_ratio`. Raises InputError where nothing, or no information at all, is allowed."""
        ends = self.privacy_ratio
        if math.isinf(ends.lower):
            raise OutOfRange(
                "it does not restrict the privacy ratio", self.describe(), "leave it out, or lower the boundary"
            )
        gamma = ends.lower
        if ends.lower != ends.upper:
            gamma = Fraction(math.floor(ends.lower * 10**LEVEL_DIGITS), 10**LEVEL_DIGITS)
        if gamma <= 1:
            raise OutOfRange(
                "it allows no information at all: the demanded privacy ratio is one",
                self.describe(),
                "raise the boundary",
            )
        return Level(gamma=gamma)

    @property
    def precise(self) -> PreciseBoundary:
        """The tightest precise boundary: all that a mechanism which satisfies the criterion guarantees. Errors as for
        `level`."""
        gamma = self.level.gamma
        assert gamma is not None
        return PreciseBoundary(gamma)


def _share(value: object, where: str) -> Fraction:
    number = rational(value, where)
    if not 0 < number < 1:
        raise OutOfRange(f"it is {value}, not between 0 and 1", where, "it is a probability")
    return number


def _above_one(value: object, where: str) -> Fraction:
    number = rational(value, where)
    if number <= 1:
        raise OutOfRange(f"it is {value}, not above 1", where, "try 3")
    return number


@checked
@dataclass(frozen=True, init=False)
class RhoToRho(Criterion):
    """rho1-to-rho2 privacy: no probability below `rho1` rises above `rho2`, and none above `rho2` falls below `rho1`.

    0 < rho1 < rho2 < 1; demands privacy ratio rho2 (1 - rho1) / (rho1 (1 - rho2)), sufficient and necessary.
    Source: Evfimievski, Gehrke and Srikant 2003; Chai and Nayak, Theorem 3.1 and after 4.1. Raises InputError.

        >>> import rropt as rr
        >>> rr.privacy.RhoToRho("0.2", "0.5").privacy_ratio.lower
        Fraction(4, 1)
    """

    kind: ClassVar[str] = "rho_to_rho"

    rho1: Fraction
    rho2: Fraction

    def __init__(self, rho1: Number, rho2: Number) -> None:
        low, high = _share(rho1, "rho1"), _share(rho2, "rho2")
        if low >= high:
            raise OutOfRange(f"rho1 = {rho1} is not below rho2 = {rho2}", "rho_to_rho", "swap them")
        object.__setattr__(self, "rho1", low)
        object.__setattr__(self, "rho2", high)

    @classmethod
    def guaranteed(cls, gamma: Number, *, rho1: Number | None = None, rho2: Number | None = None) -> RhoToRho:
        """The strongest one with this rho1 (or this rho2) that privacy ratio `gamma` > 1 guarantees. Raises InputError."""
        boundary = PreciseBoundary(_above_one(gamma, "gamma"))
        if (rho1 is None) == (rho2 is None):
            raise Conflict("give either rho1 or rho2", "rho_to_rho")
        if rho1 is not None:
            return cls(rho1, boundary.upper(_share(rho1, "rho1")))
        assert rho2 is not None
        return cls(boundary.lower(_share(rho2, "rho2")), rho2)

    @property
    def privacy_ratio(self) -> Interval:
        return Interval.point(self.rho2 * (1 - self.rho1) / (self.rho1 * (1 - self.rho2)))

    def keys(self) -> dict[str, object]:
        return {"rho1": self.rho1, "rho2": self.rho2}

    def describe(self) -> str:
        return f"{declared_text(self.rho1)}-to-{declared_text(self.rho2)} privacy"


@checked
@dataclass(frozen=True, init=False)
class BetaFactor(Criterion):
    """beta-factor privacy: no probability grows or shrinks by more than the factor `beta` > 1; demands privacy ratio beta.

    Source: Nayak, Adeshiyan and Zhang 2015; Chai and Nayak, Theorem 3.2. Raises InputError.

        >>> import rropt as rr
        >>> rr.LDP(criterion=rr.privacy.BetaFactor(3)).level.ratio.lower
        Fraction(3, 1)
    """

    kind: ClassVar[str] = "beta_factor"

    beta: Fraction

    def __init__(self, beta: Number) -> None:
        object.__setattr__(self, "beta", _above_one(beta, "beta"))

    @classmethod
    def guaranteed(cls, gamma: Number) -> BetaFactor:
        """The strongest one that privacy ratio `gamma` > 1 guarantees. Raises InputError."""
        return cls(_above_one(gamma, "gamma"))

    @property
    def privacy_ratio(self) -> Interval:
        return Interval.point(self.beta)

    def keys(self) -> dict[str, object]:
        return {"beta": self.beta}

    def describe(self) -> str:
        return f"beta-factor privacy at {declared_text(self.beta)}"


@checked
@dataclass(frozen=True, init=False)
class BayesFactor(Criterion):
    """Every Bayes factor (posterior odds over prior odds) is in [1 / gamma, gamma], `gamma` > 1; demands privacy ratio gamma.

    Kass and Raftery call a factor of 20 strong evidence. Source: Chai and Nayak, (4.10). Raises InputError.

        >>> import rropt as rr
        >>> rr.LDP(criterion=rr.privacy.BayesFactor(3)).level.ratio.lower
        Fraction(3, 1)
    """

    kind: ClassVar[str] = "bayes_factor"

    gamma: Fraction

    def __init__(self, gamma: Number) -> None:
        object.__setattr__(self, "gamma", _above_one(gamma, "gamma"))

    @classmethod
    def guaranteed(cls, gamma: Number) -> BayesFactor:
        """The strongest one that privacy ratio `gamma` > 1 guarantees. Raises InputError."""
        return cls(gamma)

    @property
    def privacy_ratio(self) -> Interval:
        return Interval.point(self.gamma)

    def keys(self) -> dict[str, object]:
        return {"gamma": self.gamma}

    def describe(self) -> str:
        return f"Bayes factors up to {declared_text(self.gamma)}"


@checked
@dataclass(frozen=True, init=False)
class CanonicalSIP(Criterion):
    """h-CSIP: no probability p grows beyond h(p), hence none shrinks below 1 - h(1 - p); demands privacy ratio B(h).

    `upper` is h: a `Curve`, the text of an expression in p, or {"steps": ...}, {"points": ...}; h(p) >= p.
    Source: Chai and Nayak, Definition 4.3, Theorem 4.1. Raises InputError.

        >>> import rropt as rr
        >>> criterion = rr.privacy.CanonicalSIP("2*p/(1+p)")
        >>> round(float(criterion.privacy_ratio.lower), 6)
        2.0
    """

    kind: ClassVar[str] = "csip"

    upper: Curve

    def __init__(self, upper: Number) -> None:
        object.__setattr__(self, "upper", curve(upper, "upper boundary"))
        _ = self.privacy_ratio  # a boundary below p is refused where it is declared

    @classmethod
    def guaranteed(cls, gamma: Number) -> CanonicalSIP:
        """The strongest one that privacy ratio `gamma` > 1 guarantees: the precise boundary. Raises InputError."""
        value = _above_one(gamma, "gamma")
        return cls(f"({value}) * p / (1 + ({value} - 1) * p)")

    @cached_property
    def _demand(self) -> Interval:
        return self.upper.demand()

    @property
    def privacy_ratio(self) -> Interval:
        return self._demand

    def keys(self) -> dict[str, object]:
        return {"upper": self.upper.declaration()}

    def describe(self) -> str:
        return "canonical strict information privacy"


@checked
@dataclass(frozen=True, init=False)
class StrictInformationPrivacy(Criterion):
    """(h_l, h_u)-SIP: a prior probability p leads to a posterior one in [h_l(p), h_u(p)].

    `lower` is h_l(p) <= p, `upper` is h_u(p) >= p, each declared as in `CanonicalSIP`; one may be left out. Demands the
    smaller of B(h_u) and B(1 - h_l(1 - p)), since "not Q" is a property too.
    Source: Chai and Nayak, Definition 3.6, Lemma 4.1. Raises InputError.

        >>> import rropt as rr
        >>> criterion = rr.privacy.StrictInformationPrivacy("p/2", upper="2*p/(1+p)")
        >>> round(float(criterion.privacy_ratio.lower), 6)
        2.0
    """

    kind: ClassVar[str] = "sip"

    lower: Curve | None
    upper: Curve | None

    def __init__(self, lower: Number | None = None, *, upper: Number | None = None) -> None:
        if lower is None and upper is None:
            raise Missing("it has no boundary", "sip", "give lower, upper, or both")
        object.__setattr__(self, "lower", None if lower is None else curve(lower, "lower boundary"))
        object.__setattr__(self, "upper", None if upper is None else curve(upper, "upper boundary"))
        _ = self.privacy_ratio

    @cached_property
    def _demand(self) -> Interval:
        upward = [self.upper.demand()] if self.upper is not None else []
        return smallest(upward + ([self.lower.reflected().demand()] if self.lower is not None else []))

    @property
    def privacy_ratio(self) -> Interval:
        return self._demand

    def keys(self) -> dict[str, object]:
        both = {"lower": self.lower, "upper": self.upper}
        return {word: one.declaration() for word, one in both.items() if one is not None}

    def describe(self) -> str:
        return "strict information privacy"


KINDS: dict[str, tuple[Callable[..., Criterion], tuple[str, ...], tuple[str, ...]]] = {
    RhoToRho.kind: (RhoToRho, ("rho1", "rho2"), ()),
    BetaFactor.kind: (BetaFactor, ("beta",), ()),
    BayesFactor.kind: (BayesFactor, ("gamma",), ()),
    CanonicalSIP.kind: (CanonicalSIP, ("upper",), ()),
    StrictInformationPrivacy.kind: (StrictInformationPrivacy, (), ("lower", "upper")),
}
"""Word: its class, the keys that it needs, and those that it takes besides."""


def criterion(declared: object, where: str = "criterion") -> Criterion:
    """A criterion from what a problem file declares (a table with `kind` and its keys), or a Criterion itself.

    Raises InputError.
    """
    if isinstance(declared, Criterion):
        return declared
    if not isinstance(declared, Mapping) or not isinstance(declared.get("kind"), str):
        raise WrongType("it is not a table with a kind", where, 'as { kind = "rho_to_rho", rho1 = 0.1, rho2 = 0.5 }')
    keys: dict[str, Any] = {key: value for key, value in declared.items() if key != "kind"}
    kind = declared["kind"]
    if kind not in KINDS:
        raise UnknownName(f"{kind!r} is not a kind of criterion", where, f"use one of: {', '.join(KINDS)}")
    make, needed, optional = KINDS[kind]
    if unknown := set(keys) - {*needed, *optional}:
        raise UnknownName(f"unknown key {min(unknown)!r}", where, f"{kind} takes: {', '.join((*needed, *optional))}")
    if missing := set(needed) - set(keys):
        raise Missing(f"the key {min(missing)!r} is missing", where, f"{kind} needs it")
    return make(**keys)


@checked
@dataclass(frozen=True, init=False)
class PreciseBoundary:
    """The guarantee of privacy ratio `gamma` >= 1: prior p goes to a posterior between `lower`(p) and `upper`(p).

    Equivalently, every Bayes factor lies in [1 / gamma, gamma]. Source: Chai and Nayak, (4.9) to (4.11).

        >>> import rropt as rr
        >>> rr.privacy.PreciseBoundary(3).upper("0.5")
        Fraction(3, 4)
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
