"""Robust local differential privacy: S is protected for every distribution of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import ClassVar

from rropt.declare.constraint import AtLevel
from rropt.errors import Conflict, Missing, UnknownName, WrongType
from rropt.io.arguments import checked
from rropt.io.types import Categories, Counts, Matrix, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.distributions import ChiSquareSet, Confidence, EveryDistribution, Joint, KnownDistribution, Polytope
from rropt.model.distributions.quantile import significant_down, significant_up
from rropt.model.prior import Pairs, Prior
from rropt.model.privacy import Level, declared_number, level_numbers
from rropt.program.block_cones import RobustCone
from rropt.program.cones import Cone, FreeCone, PolyhedralCone, complete_cone
from rropt.program.confidence_cones import ConfidenceCone, chi_square_cone

FORMS = ("polytope", "product", "exact")
WORDS = {"counts": ChiSquareSet, "known": KnownDistribution, "all": EveryDistribution, "polytope": Polytope}
Corner = tuple[Fraction, ...]


@checked
@dataclass(frozen=True, init=False)
class RLDP(AtLevel):
    """Robust LDP: P(Y = y | S = s) <= exp(epsilon) P(Y = y | S = s') for all y, s != s' and every P of a set F.

    `confidence` is F: a `ChiSquareSet` of counts, a `KnownDistribution`, an `EveryDistribution`, or a `Polytope` of
    conditionals; or a `Joint` of one of them, where the inputs are correlated with S instead of containing it. Declare
    `epsilon` (nats, at most 20; 0 is allowed in form "polytope" only) or the ratio `gamma`. With `form` "polytope" F is
    replaced by all P whose conditionals obey P(u | s) >= r_s(u), the smallest value over F (Lemma 9); with "product" by
    all P for which, at each s, the distribution of U given s is that of some distribution in F; with "exact" nothing is
    replaced. Each form allows for more mechanisms than the one before.

    What is guaranteed: a mechanism that satisfies this constraint is (epsilon, F)-RLDP in exact arithmetic, since B is
    rounded up, the r_s(u) and exp(epsilon) down, and the set is no smaller than F in every other respect. The converse
    holds, but for rounding, in form exact; in form polytope some RLDP mechanisms (conditional reporting among them)
    violate it. For one known distribution, for all distributions and for a `Polytope` (which is taken as it is, with
    whatever ties it has between different s) the polytope is F itself, and it is the only form. Forms "product" and
    "exact" of a `Joint` are checked by `violation`; `rr.robust.correlated_optimum` optimises over the exact one.
    Source: lopuhaa Definition 1, Theorem 11, Lemma 13; `confidence_cone` for the exact form. Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> rule = rr.RLDP(1, rr.robust.ChiSquareSet(joint, alpha="0.05"))
        >>> rr.Problem(rr.Maximize(rr.MutualInformation(joint)), [rule]).solve().status
        'certified'
    """

    kind: ClassVar[str] = "rldp"

    level: Level
    confidence: Confidence | Joint
    form: str

    def __init__(
        self,
        epsilon: Number | None = None,
        confidence: Confidence | Joint | None = None,
        *,
        form: str = "polytope",
        gamma: Number | None = None,
    ) -> None:
        level = (Level.or_secrecy if form == "polytope" else Level)(**level_numbers(epsilon, gamma, "RLDP"))
        if not isinstance(confidence, Confidence | Joint):
            raise UnknownName(
                f"confidence is {confidence!r}",
                "RLDP",
                "give ChiSquareSet(counts, alpha=0.05), KnownDistribution, EveryDistribution or Polytope",
            )
        if form not in FORMS:
            raise UnknownName(f"form is {form!r}", "RLDP", f"known forms: {', '.join(FORMS)}")
        over = confidence.of if isinstance(confidence, Joint) else confidence
        if form != "polytope" and not isinstance(over, ChiSquareSet):
            raise Conflict(
                f"form {form!r} is for a ChiSquareSet", "RLDP", "leave it out: here the polytope is exact already"
            )
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "confidence", confidence)
        object.__setattr__(self, "form", form)

    @property
    def over(self) -> Confidence:
        """The set of distributions of pairs, also where the inputs are the other values alone."""
        return self.confidence.of if isinstance(self.confidence, Joint) else self.confidence

    def _check(self, inputs: tuple[str, ...]) -> Pairs:
        pairs, shared = self.over.pairs, isinstance(self.confidence, Joint)
        if inputs != (pairs.other if shared else pairs.labels):
            what = "its other values are not the inputs" if shared else "its pairs are not the inputs"
            raise Conflict(
                what, "RLDP", f"they are {list(pairs.other)!r}" if shared else f"they are {pairs!r}, s major"
            )
        return pairs

    def _lift(self, column: Corner) -> Corner:
        """The column over all pairs: that of a `Joint` does not depend on s."""
        return column * len(self.over.pairs.sensitive) if isinstance(self.confidence, Joint) else column

    def violation(self, mechanism: Mechanism) -> Fraction:
        """The largest P(y | s) - gamma P'(y | s'), s != s', over all P and P' with conditionals above the bounds (for a
        `Polytope` P' = P)."""
        pairs = self._check(mechanism.inputs)
        columns = [self._lift(mechanism.column(y)) for y in range(len(mechanism.outputs))]
        if self.form != "polytope":
            cone = self._confidence_cone()
            return max(cone.excess(column) for column in columns)
        gamma, worst = self.level.ratio.lower, Fraction(-1)
        if isinstance(self.over, Polytope):
            for s, z in permutations(range(len(pairs.sensitive)), 2):
                for one, two in self.over.corner_pairs(s, z):
                    for column in columns:
                        worst = max(
                            worst, _dot(one, column[pairs.block(s)]) - gamma * _dot(two, column[pairs.block(z)])
                        )
            return worst
        bounds = self.over.lower_bounds()
        for column in columns:
            ends = []
            for s, least in enumerate(bounds):
                block = column[pairs.block(s)]
                held, free = _dot(least, block), 1 - sum(least)
                ends.append((held + free * min(block), held + free * max(block)))
            for (_, most), (least_mean, _) in permutations(ends, 2):
                worst = max(worst, most - gamma * least_mean)
        return worst

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        pairs = self._check(inputs)
        shared = isinstance(self.confidence, Joint)
        if self.form != "polytope" and shared:
            raise Conflict(
                f"form {self.form!r} of a Joint has no cone to optimise over",
                "RLDP",
                "use correlated_optimum, or polytope",
            )
        if self.form != "polytope":
            return self._confidence_cone()
        if shared or isinstance(self.over, Polytope):
            return self._find_corners(shared)
        width = len(pairs.other)
        blocks = [range(s * width, (s + 1) * width) for s in range(len(pairs.sensitive))]
        lower = [bound for row in self.over.lower_bounds() for bound in row]
        cone = RobustCone(self.level, tuple(map(tuple, blocks)), tuple(lower))
        if not self.level.secret:
            return cone
        # M_s <= m_z <= M_z <= m_s: where no block is known entirely, no input differs from another one.
        return complete_cone(self.level, len(pairs)) if all(cone.free) else cone.general()

    def _find_corners(self, shared: bool) -> Cone:
        """Rows a . v_s - gamma b . v_z <= 0, one for all s != z and corners (a, b) of what is known of both: a linear
        function of the conditionals is largest at a corner. Rounded to the safe side: a up, gamma b down, as v >= 0;
        not where gamma is 1, as rows that are more than equal leave nothing."""
        pairs, gamma = self.over.pairs, self.level.ratio.lower
        polytope = self.over if isinstance(self.over, Polytope) else None
        simplices = [] if polytope else [_simplex(row) for row in self.over.lower_bounds()]
        if not polytope and not any(map(any, self.over.lower_bounds())):
            # Every distribution of X for every s: plain local differential privacy.
            return complete_cone(self.level, len(pairs.other) if shared else len(pairs))
        rows: dict[Corner, None] = {}
        for s, z in permutations(range(len(pairs.sensitive)), 2):
            ends = polytope.corner_pairs(s, z) if polytope else product(simplices[s], simplices[z])
            for one, two in ends:
                row = [Fraction(0)] * len(pairs)
                row[pairs.block(s)] = one if self.level.secret else [significant_up(a, 64) for a in one]
                row[pairs.block(z)] = [-(b if self.level.secret else significant_down(gamma * b, 64)) for b in two]
                if shared:
                    row = [sum(row[u :: len(pairs.other)], Fraction(0)) for u in range(len(pairs.other))]
                if max(row) > 0:
                    rows[tuple(row)] = None
        return PolyhedralCone(FreeCone(), tuple(rows)) if rows else FreeCone()

    def _confidence_cone(self) -> ConfidenceCone:
        assert isinstance(self.over, ChiSquareSet)  # __init__ refuses these forms for other sets
        return chi_square_cone(self.over, self.level, "exact" if self.form == "exact" else "product")

    def keys(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        keys: dict[str, object] = {"form": self.form, word: number}
        over, pairs, center = self.over, self.over.pairs, self.over.center
        keys["confidence"] = next(word for word, kind in WORDS.items() if isinstance(over, kind))
        if isinstance(self.confidence, Joint):
            keys["sees"] = "other"
        if isinstance(over, ChiSquareSet):
            keys["alpha"] = over.alpha
        if isinstance(over, Polytope):
            keys |= {"D": [list(row) for row in over.D], "d": list(over.d)}
            keys |= {"E": [list(row) for row in over.E], "e": list(over.e)} if over.E else {}
        if center is not None:
            keys["counts"] = [list(center.weights[pairs.block(s)]) for s in range(len(pairs.sensitive))]
        return {**keys, "sensitive": list(pairs.sensitive), "other": list(pairs.other)}

    @classmethod
    def from_keys(
        cls,
        epsilon: Number | None = None,
        *,
        gamma: Number | None = None,
        alpha: Number | None = None,
        form: str = "polytope",
        confidence: str = "counts",
        counts: Counts | None = None,
        sensitive: Categories | None = None,
        other: Categories | None = None,
        sees: str = "pairs",
        D: Matrix | None = None,
        d: Counts | None = None,
        E: Matrix = (),
        e: Counts = (),
        prior: Prior | None = None,
    ) -> RLDP:
        """The constraint of a problem file. `confidence` is "counts" (with `alpha`, default 0.05), "known", "all" or
        "polytope" (with D, d, E, e); with `sees` = "other" the inputs are the other values alone (a `Joint`).

        The pairs and their counts are those of the input's `prior`, unless `counts`, `sensitive` and `other` give them.
        """
        if sees not in ("pairs", "other"):
            raise UnknownName(f"sees is {sees!r}", "rldp", 'the inputs are pairs, or the other values: sees = "other"')
        if (confidence == "polytope" and (D is None or d is None)) or (confidence != "polytope" and D is not None):
            raise Conflict("D and d are the rows of a polytope", "rldp", 'give both with confidence = "polytope"')
        if not isinstance(confidence, str) or confidence not in WORDS:
            raise UnknownName(f"confidence is {confidence!r}", "rldp", f"use one of: {', '.join(WORDS)}")
        if alpha is not None and confidence != "counts":
            raise Conflict(f"alpha does not apply to confidence = {confidence!r}", "rldp", "leave it out")
        if not isinstance(form, str):
            raise UnknownName(f"form is {form!r}", "RLDP", f"known forms: {', '.join(FORMS)}")
        given = prior.pairs if prior is not None else None
        if sensitive is not None or other is not None:
            if sensitive is None or other is None:
                raise WrongType("give both sensitive and other, or neither", "rldp", "they name the values of a pair")
            given = Pairs(sensitive, other)
        if given is None:
            raise Missing(
                "it is not given which inputs are pairs",
                "rldp",
                "give sensitive = [...], other = [...] and counts, here or in [input]",
            )
        of: Confidence
        if confidence == "all":
            of = EveryDistribution(given)
        elif confidence == "polytope":
            center = prior if counts is None else Prior.from_counts(counts, pairs=given)
            assert D is not None and d is not None
            of = Polytope(
                D, d, E=E, e=e, pairs=given, center=None if center is None or center.labels != given.labels else center
            )
        else:
            if counts is not None:
                prior = Prior.from_counts(counts, pairs=given)
            if prior is None:
                raise Missing("it needs counts", "rldp", "as counts = [[35, 65], [10, 90]]")
            if confidence == "known":
                of = KnownDistribution(prior)
            else:
                of = ChiSquareSet(prior, alpha=Fraction(1, 20) if alpha is None else alpha)
        return cls(epsilon, Joint(of) if sees == "other" else of, form=form, gamma=gamma)

    def describe(self) -> str:
        form = "" if self.form == "polytope" else f", form {self.form}"
        return f"robust LDP at {self.level} over {self.confidence.describe()}{form}"


def _dot(weights: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(weights, values, strict=True)), Fraction(0))


def _simplex(least: Corner) -> list[Corner]:
    """The corners of all conditionals above these bounds."""
    free = 1 - sum(least)
    if not free:
        return [least]
    return [tuple(value + free * (at == u) for at, value in enumerate(least)) for u in range(len(least))]
