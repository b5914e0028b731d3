"""`Pram`: the post-randomisation method with the parameters of sdcMicro's `pram`, optimal and proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.declare.constraint import Constraint
from rropt.declare.constraints import Floor, Forbidden, Invariant
from rropt.declare.objectives import MutualInformation
from rropt.errors import InputError, OutOfRange, UnknownName, WrongType, shown
from rropt.exact import rational
from rropt.io.arguments import checked
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Minimize, Problem

WHERE = "Pram"


@checked
@dataclass(frozen=True, init=False)
class Pram:
    """The matrix (1 - alpha) I + alpha R with the least mutual information of the released and the true answers.

    `pd` is the least diagonal entry of R and `alpha` the amount of perturbation, both in [0, 1]: each answer stays with a
    probability of at least 1 - alpha (1 - pd). With `invariant` the expected frequencies of the release are those of the
    data. `forbidden` are pairs (true, released) that have the probability 0. Raises InputError.

    sdcMicro's `pram` (pd = 0.8, alpha = 0.5, always invariant) draws a matrix P whose diagonal entries are at least pd,
    and mixes R = P P* with the identity, with P* the reverse of P by Bayes' rule. There `pd` bounds the diagonal of P, and
    that of R may be smaller. Here it bounds that of R, and no matrix is drawn: the best one is found, with a proof.
    Source: Gouweleeuw, Kooiman, Willenborg and de Wolf 1998; Kowarik, Templ, Meindl and others 2012.

        >>> import rropt as rr
        >>> found = rr.Pram(pd="0.8", alpha="0.5").problem({"never": 52, "seldom": 26, "often": 22}).solve()
        >>> found.status, float(found.mechanism.entry(0, 0)) >= 0.9
        ('certified', True)
    """

    pd: Fraction
    alpha: Fraction
    invariant: bool
    forbidden: tuple[tuple[str, str], ...]

    def __init__(
        self,
        pd: Number = "0.8",
        *,
        alpha: Number = "0.5",
        invariant: bool = True,
        forbidden: Sequence[tuple[Label, Label]] = (),
    ) -> None:
        for name, given in (("pd", pd), ("alpha", alpha)):
            value = rational(given, name)
            if not 0 <= value <= 1:
                raise OutOfRange(f"it is {shown(given)}, not in [0, 1]", name, "give a probability such as 0.8")
            object.__setattr__(self, name, value)
        if not isinstance(invariant, bool):
            raise WrongType(f"{shown(invariant)} is not True or False", "invariant", "give one of them")
        object.__setattr__(self, "invariant", invariant)
        object.__setattr__(self, "forbidden", Forbidden(forbidden).cells if len(forbidden) else ())

    @property
    def floor(self) -> Fraction:
        """The least probability that an answer stays as it is: 1 - alpha (1 - pd)."""
        return 1 - self.alpha * (1 - self.pd)

    def problem(self, counts: Prior | Counts) -> Problem:
        """The problem for data with these frequencies, of at least two categories. A category without records is a
        structural zero: it is neither an input nor an output. Raises InputError."""
        given = counts if isinstance(counts, Prior) else Prior.from_counts(counts)
        held = {label: weight for label, weight in zip(given.labels, given.weights, strict=True) if weight}
        if len(held) < 2:
            raise OutOfRange(f"only {', '.join(held)} has records", WHERE, "a column of one category needs no matrix")
        prior = given if len(held) == len(given.labels) else Prior.from_counts(held)
        constraints: list[Constraint] = [Floor(self.floor)]
        if self.invariant:
            constraints.append(Invariant(prior))
        if cells := [cell for cell in self.forbidden if set(cell) <= set(held)]:
            constraints.append(Forbidden(cells))
        for cell in self.forbidden:
            if strange := [label for label in cell if label not in given.labels]:
                raise UnknownName(f"{strange[0]!r} is not a category", f"{WHERE} forbidden", "check the spelling")
        return Problem(Minimize(MutualInformation(prior)), constraints, name="pram")

    def strata(self, counts: Mapping[Label, Prior | Counts], *, time_limit: float = 60.0) -> dict[str, Mechanism]:
        """One mechanism for each stratum, by the counts of its categories: for `ProtectedColumn(name, strata, by=...)`. No
        released value is a structural zero of its stratum; a stratum of one category has a mechanism with one output.
        Each solve has `time_limit` seconds. Raises InputError where one ends without a certificate."""
        found = {}
        for stratum, own in counts.items():
            prior = own if isinstance(own, Prior) else Prior.from_counts(own)
            held = [label for label, weight in zip(prior.labels, prior.weights, strict=True) if weight]
            if len(held) == 1:
                found[str(stratum)] = Mechanism.from_rationals([[1]], inputs=held, outputs=held)
                continue
            solution = self.problem(prior).solve(time_limit=time_limit)
            if solution.status != "certified" or solution.mechanism is None:
                why = "; ".join(solution.warnings) or solution.status
                raise InputError(f"stratum {stratum!r} has no certified matrix: {why}", WHERE, "give it more time")
            found[str(stratum)] = solution.mechanism
        return found
