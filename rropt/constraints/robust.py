"""Robust local differential privacy: S is protected for every distribution of a set."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import ClassVar

from rropt.block_cones import RobustCone
from rropt.cones import Cone
from rropt.confidence import ChiSquareSet, Confidence, EveryDistribution, KnownDistribution
from rropt.confidence_cone import ConfidenceCone, chi_square_cone
from rropt.constraints.base import Constraint
from rropt.criteria import Level
from rropt.errors import InputError
from rropt.exact import rational
from rropt.mechanisms.mechanism import Mechanism
from rropt.priors import Pairs, Prior
from rropt.programs import Row

FORMS = ("polytope", "product", "exact")
WORDS = {"counts": ChiSquareSet, "known": KnownDistribution, "all": EveryDistribution}


@dataclass(frozen=True, init=False)
class RLDP(Constraint):
    """Robust LDP: P(Y = y | S = s) <= exp(epsilon) P(Y = y | S = s') for all y, s != s' and every P of a set F.

    `confidence` is F: a `ChiSquareSet` of counts, a `KnownDistribution`, or an `EveryDistribution`. Declare `epsilon`
    (nats, in (0, 20]) or the ratio `gamma` > 1. With `form` "polytope" F is replaced by all P whose conditionals obey
    P(u | s) >= r_s(u), the smallest value over F (Lemma 9); with "product" by all P each of whose conditionals U
    given s some P of F has; with "exact" nothing is replaced. Each form allows for more mechanisms than the one before.

    What is guaranteed: a mechanism that satisfies this constraint is (epsilon, F)-RLDP in exact arithmetic, since B is
    rounded up, the r_s(u) and exp(epsilon) down, and the set is no smaller than F in every other respect. The converse
    holds, but for rounding, in form exact; in form polytope some RLDP mechanisms (conditional reporting among them)
    violate it. For one known distribution and for all distributions the polytope is F itself, and it is the only form.
    Source: lopuhaa Definition 1, Theorem 11; `confidence_cone` for the exact form. Raises InputError.
    """

    kind: ClassVar[str] = "rldp"

    level: Level
    confidence: Confidence
    form: str

    def __init__(
        self,
        epsilon: object = None,
        confidence: Confidence | None = None,
        form: str = "polytope",
        gamma: object = None,
    ) -> None:
        level = Level(
            None if epsilon is None else rational(epsilon, "RLDP epsilon"),
            None if gamma is None else rational(gamma, "RLDP gamma"),
        )
        if not isinstance(confidence, Confidence):
            raise InputError(
                f"confidence is {confidence!r}", "RLDP", "give ChiSquareSet(counts, alpha), or one of its ends"
            )
        if form not in FORMS:
            raise InputError(f"form is {form!r}", "RLDP", f"known forms: {', '.join(FORMS)}")
        if form != "polytope" and not isinstance(confidence, ChiSquareSet):
            raise InputError(
                f"form {form!r} is for a ChiSquareSet", "RLDP", "leave it out: here the polytope is exact already"
            )
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "confidence", confidence)
        object.__setattr__(self, "form", form)

    def _checked(self, inputs: tuple[str, ...]) -> Pairs:
        pairs = self.confidence.pairs
        if inputs != pairs.labels:
            raise InputError("its pairs are not the inputs", "RLDP", f"they are {pairs!r}, s major")
        return pairs

    def violation(self, mechanism: Mechanism) -> Fraction:
        """The largest P(y | s) - gamma P'(y | s'), s != s', over all P and P' with conditionals above the bounds."""
        pairs = self._checked(mechanism.inputs)
        if self.form != "polytope":
            cone = self._confidence_cone()
            return max(cone.excess(mechanism.column(y)) for y in range(len(mechanism.outputs)))
        gamma, worst = self.level.ratio.lower, Fraction(-1)
        bounds = self.confidence.lower_bounds()
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            ends = []
            for s, least in enumerate(bounds):
                block = column[pairs.block(s)]
                held = sum((a * b for a, b in zip(least, block, strict=True)), Fraction(0))
                free = 1 - sum(least)
                ends.append((held + free * min(block), held + free * max(block)))
            for (_, most), (least_mean, _) in permutations(ends, 2):
                worst = max(worst, most - gamma * least_mean)
        return worst

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return None

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        pairs = self._checked(inputs)
        if self.form != "polytope":
            return self._confidence_cone()
        width = len(pairs.other)
        blocks = [range(s * width, (s + 1) * width) for s in range(len(pairs.sensitive))]
        lower = [bound for row in self.confidence.lower_bounds() for bound in row]
        return RobustCone(self.level, tuple(map(tuple, blocks)), tuple(lower))

    def _confidence_cone(self) -> ConfidenceCone:
        assert isinstance(self.confidence, ChiSquareSet)  # __init__ lets no other set have these forms
        return chi_square_cone(self.confidence, self.level, "exact" if self.form == "exact" else "product")

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        return ()

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"form": self.form}
        if self.level.epsilon is not None:
            keys["epsilon"] = self.level.epsilon
        else:
            keys["gamma"] = self.level.gamma
        pairs, center = self.confidence.pairs, self.confidence.center
        keys["confidence"] = next(word for word, kind in WORDS.items() if isinstance(self.confidence, kind))
        if isinstance(self.confidence, ChiSquareSet):
            keys["alpha"] = self.confidence.alpha
        if center is not None:
            keys["counts"] = [list(center.weights[pairs.block(s)]) for s in range(len(pairs.sensitive))]
        return {**keys, "sensitive": list(pairs.sensitive), "other": list(pairs.other)}

    @classmethod
    def from_keys(
        cls,
        epsilon: object = None,
        gamma: object = None,
        alpha: object = None,
        form: object = "polytope",
        confidence: object = "counts",
        counts: object = None,
        sensitive: object = None,
        other: object = None,
        prior: Prior | None = None,
    ) -> RLDP:
        """What a problem file declares. `confidence` is "counts" (with `alpha`, default 0.05), "known" or "all".

        The pairs and their counts are those of the input's `prior`, unless `counts`, `sensitive` and `other` give them.
        """
        if not isinstance(confidence, str) or confidence not in WORDS:
            raise InputError(f"confidence is {confidence!r}", "rldp", f"use one of: {', '.join(WORDS)}")
        if alpha is not None and confidence != "counts":
            raise InputError(f"alpha says nothing of confidence = {confidence!r}", "rldp", "leave it out")
        if not isinstance(form, str):
            raise InputError(f"form is {form!r}", "RLDP", f"known forms: {', '.join(FORMS)}")
        given = prior.pairs if prior is not None else None
        if sensitive is not None or other is not None:
            if sensitive is None or other is None:
                raise InputError("give both sensitive and other, or neither", "rldp", "they name the values of a pair")
            given = Pairs(sensitive, other)  # type: ignore[arg-type]
        if given is None:
            raise InputError(
                "nothing says which inputs are pairs",
                "rldp",
                "give sensitive = [...], other = [...] and counts, here or in [input]",
            )
        of: Confidence
        if confidence == "all":
            of = EveryDistribution(given)
        else:
            if counts is not None:
                prior = Prior.from_counts(counts, pairs=given)  # type: ignore[arg-type]
            if prior is None:
                raise InputError("it needs counts", "rldp", "as counts = [[35, 65], [10, 90]]")
            if confidence == "known":
                of = KnownDistribution(prior)
            else:
                of = ChiSquareSet(prior, Fraction(1, 20) if alpha is None else alpha)
        return cls(epsilon, of, form, gamma)

    def describe(self) -> str:
        form = "" if self.form == "polytope" else f", form {self.form}"
        return f"robust LDP at {self.level} over {self.confidence.describe()}{form}"
