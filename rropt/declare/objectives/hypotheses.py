"""Divergences of the released answer under two hypotheses about the true one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from rropt.declare.objective import Objective, weighted_words
from rropt.errors import OutOfRange, UnknownName, WrongType
from rropt.exact import Interval, declared_text, rational
from rropt.io.arguments import checked
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.program.programs import BayesGain, Utility
from rropt.program.secrets import means

Shares = tuple[tuple[str, Fraction], ...]


@checked
@dataclass(frozen=True, init=False)
class HockeyStick(Objective):
    """The hockey-stick divergence of the outputs under two hypotheses: the sum over y of max(0, P(y) - gamma R(y)).

    `first` and `second` are the hypotheses: an input, by its label, or a distribution of the inputs (a Prior, or weights
    by label). P and R are the distributions of the output under them. `gamma` is >= 1, and with 1 it is the total
    variation. It is the least delta at which an event is at most gamma times as likely under the first, plus delta.
    It can be maximised, minimised or limited.

        >>> import rropt as rr
        >>> apart = rr.privacy.HockeyStick("a", "b", gamma=2)
        >>> str(apart.value(rr.RandomizedResponse(["a", "b"], gamma=3).mechanism).lower)
        '1/4'

    Raises InputError. Source: Barthe and Olmedo 2013, Beyond Differential Privacy.
    """

    kind: ClassVar[str] = "hockey_stick"
    words: ClassVar[Mapping[str, str]] = {
        "first": "an input, or a table of weights by input: a hypothesis",
        "second": "the same: the other one",
        "gamma": "at least 1, which is the default",
    }
    sentence: ClassVar[str] = "the hockey-stick divergence of the released answers under two hypotheses"

    first: Shares
    second: Shares
    gamma: Fraction

    def __init__(self, first: Label | Prior | Counts, second: Label | Prior | Counts, *, gamma: Number = 1) -> None:
        where = type(self).__name__
        object.__setattr__(self, "first", _hypothesis(first, f"{where} first"))
        object.__setattr__(self, "second", _hypothesis(second, f"{where} second"))
        object.__setattr__(self, "gamma", rational(gamma, f"{where} gamma"))
        if self.gamma < 1:
            raise OutOfRange(f"it is {gamma}, below 1", f"{where} gamma", "exchange the hypotheses")

    @property
    def prior(self) -> None:  # type: ignore[override]
        """None: the hypotheses take its place."""
        return None

    @classmethod
    def read_keys(cls, prior: Prior | None, keys: Mapping[str, Any], where: str) -> Self:
        own = dict(keys)
        if not {"first", "second"} <= set(own):
            raise WrongType(f"{cls.kind} needs first and second", where, 'as first = "yes", second = "no"')
        return cls(own.pop("first"), own.pop("second"), **own)

    @classmethod
    def examples(cls, prior: Prior) -> Mapping[str, Self]:
        return {"": cls(prior.labels[0], prior)}

    def _rows(self, inputs: tuple[str, ...]) -> list[list[Fraction]]:
        """Both hypotheses as distributions over the inputs."""
        rows = []
        for own in (self.first, self.second):
            if strange := [label for label, _ in own if label not in inputs]:
                raise UnknownName(f"{strange[0]!r} is not an input", type(self).__name__, "use the inputs' labels")
            shares = dict(own)
            rows.append([shares.get(label, Fraction(0)) for label in inputs])
        return rows

    def value(self, mechanism: Mechanism) -> Interval:
        first, second = means(self._rows(mechanism.inputs), mechanism)
        excess = (max(Fraction(0), p - self.gamma * r) for p, r in zip(first, second, strict=True))
        return Interval.point(sum(excess, Fraction(0)))

    def form(self, inputs: tuple[str, ...]) -> Utility:
        first, second = self._rows(inputs)
        size = len(inputs)
        more = tuple(size * (p - self.gamma * r) for p, r in zip(first, second, strict=True))
        return BayesGain((1,) * size, (more, (Fraction(0),) * size), ("first", "second"))

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"first": _written(self.first), "second": _written(self.second)}
        return keys if self.gamma == 1 else {**keys, "gamma": self.gamma}

    def _between(self) -> str:
        first, second = (weighted_words([(p, repr(label)) for label, p in own]) for own in (self.first, self.second))
        return f"of {first} against {second}" + ("" if self.gamma == 1 else f" at gamma {declared_text(self.gamma)}")

    def explain(self) -> str:
        return f"{self.sentence}, {self._between()}"

    def describe(self) -> str:
        return f"{super().describe()} {self._between()}"


@checked
@dataclass(frozen=True, init=False)
class TotalVariation(HockeyStick):
    """The total variation of the outputs under two hypotheses: half of the sum over y of |P(y) - R(y)|.

    One less it is the least sum of the two errors of a test from one released answer. `first` and `second` are as for
    `HockeyStick`.

        >>> import rropt as rr
        >>> apart = rr.privacy.TotalVariation("a", {"b": 1, "c": 1})
        >>> solution = rr.Problem(rr.Maximize(apart), [rr.LDP(gamma=3)], inputs=["a", "b", "c"]).solve()
        >>> solution.status, round(solution.value, 6)
        ('certified', 0.5)

    Source: Neyman and Pearson 1933; Kairouz, Oh and Viswanath 2016 (under LDP).
    """

    kind: ClassVar[str] = "total_variation"
    words: ClassVar[Mapping[str, str]] = {key: HockeyStick.words[key] for key in ("first", "second")}
    sentence: ClassVar[str] = "the total variation of the released answers under two hypotheses"

    def __init__(self, first: Label | Prior | Counts, second: Label | Prior | Counts) -> None:
        super().__init__(first, second)


def _hypothesis(declared: Label | Prior | Counts, where: str) -> Shares:
    """The distribution that a hypothesis is, without zeros."""
    if isinstance(declared, Prior):
        prior = declared
    elif isinstance(declared, Mapping):
        if len(declared) == 1:
            return ((str(next(iter(declared))), Fraction(1)),)
        prior = Prior.from_counts(declared)
    elif isinstance(declared, (str, int)):
        return ((str(declared), Fraction(1)),)
    else:
        raise WrongType(f"{declared!r} is not a hypothesis", where, "give an input, or weights by input")
    return tuple((label, p) for label, p in zip(prior.labels, prior.probabilities, strict=True) if p)


def _written(shares: Shares) -> object:
    return shares[0][0] if len(shares) == 1 else dict(shares)
