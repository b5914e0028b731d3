"""Inputs X that are correlated with the sensitive value S but do not contain it."""

from dataclasses import dataclass

from rropt.errors import Missing, WrongType
from rropt.io.arguments import checked
from rropt.model.distributions.base import Confidence
from rropt.model.prior import Prior


@checked
@dataclass(frozen=True)
class Joint:
    """A set of joint distributions of (S, X), for mechanisms that see X alone.

    `of` is any set of distributions of pairs, one row of its tables per sensitive value s, one column per input x; the
    inputs of a mechanism are the other values of these pairs. The setting of the privacy funnel, and the case of pairs
    in which Q(y | s, u) does not depend on s. Source: lopuhaa section IX (future work). Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> rr.RLDP(1, rr.robust.Joint(known)).describe()
        'robust LDP at epsilon 1 over the chi-square set of 87 observations at alpha 0.05, the input correlated with what is sensitive'
    """

    of: Confidence

    def __post_init__(self) -> None:
        if not isinstance(self.of, Confidence):
            raise WrongType(f"{self.of!r} is not a set of distributions", "Joint", "give ChiSquareSet(counts, alpha)")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The labels of X."""
        return self.of.pairs.other

    @property
    def prior(self) -> Prior:
        """The distribution of X at the centre. Raises InputError where there is none."""
        center, pairs = self.of.center, self.of.pairs
        if center is None:
            raise Missing("it does not have a centre", "Joint", "give the prior of X by itself")
        rows = [center.weights[pairs.block(s)] for s in range(len(pairs.sensitive))]
        # Labels of other values are as good as counts of theirs; the sums are the marginal.
        return Prior(self.inputs, tuple(map(sum, zip(*rows, strict=True))), declared=center.declared)

    def describe(self) -> str:
        """One short phrase for messages."""
        return f"{self.of.describe()}, the input correlated with what is sensitive"
