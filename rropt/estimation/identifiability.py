"""Mixing a mechanism that does not identify the frequencies with one that does.

The optimum of an information is often a few columns only, fewer than there are inputs: no estimator recovers the
frequencies from them. Using another mechanism P instead of Q with probability s, and saying which was used, gives the
columns (1 - s) q and s p: each in the cone of its design. So a condition on columns holds if it holds for both designs,
and the privacy ratio is exactly the larger of the two. Every utility that is a sum over columns is
(1 - s) times Q's plus s times P's: the information lost is s (I(Q) - I(P)). So is the matrix M of the estimator,
whose risk is tr M^-1 - |p|^2: with P of full rank it is finite, at most tr M_P^-1 / s - |p|^2, and convex in s.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rropt.declare.objectives import MinimaxRisk
from rropt.errors import Conflict, Missing, OutOfRange, WrongType, counted
from rropt.exact import Interval, exp_enclosure, rational, rounded
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import same_labels
from rropt.io.types import Number
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.garbling import AnyMechanism, explicit_pair, merge_proportional
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.set_outputs import SubsetSelection
from rropt.model.prior import Prior
from rropt.model.privacy.level import LARGEST_EPSILON

SHARE_BITS = 24
"""A share that is searched for is a multiple of 2^-24."""
LARGEST = exp_enclosure(Fraction(LARGEST_EPSILON)).lower
"""The largest ratio that a level may have."""
MOST_OUTPUTS = 4096
"""Subset selection is mixed in by default where it has no more outputs."""


@dataclass(frozen=True, eq=False)
class Identified(ByContent):
    """A mechanism that identifies all frequencies, its risk, and the information that it loses.

    `share`: how often the other mechanism is used (0: never, nothing was needed). `risk`: n times the expected squared
    error of the best linear unbiased estimator at the prior. `information`: mutual information at the prior in nats;
    `lost`: how much less that is than the given mechanism's (negative where the other one has more). Enclosed.

        >>> import rropt as rr
        >>> subset = rr.Mechanism.from_matrix([[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]])
        >>> identified = rr.estimation.identifying(subset, share="0.1")
        >>> identified.share, identified.mechanism.rank
        (Fraction(1, 10), 3)
    """

    mechanism: Mechanism
    share: Fraction
    risk: Interval
    information: Interval
    lost: Interval


@checked
def identifying(
    mechanism: AnyMechanism,
    *,
    with_: AnyMechanism | None = None,
    share: Number | None = None,
    risk: Number | None = None,
    prior: Prior | None = None,
) -> Identified:
    """Use `with_` instead of `mechanism` with probability `share`; the output states which one was used.

    Give `share` in (0, 1), or `risk`: the share is then the smallest multiple of 2^-24, as far as floats can resolve it,
    with a risk of at most that at `prior` (k positive numbers; default: equal), verified by enclosure. `with_` is by
    default a design for estimation at the mechanism's own privacy ratio: subset selection of the minimax size where it
    has at most 4096 outputs, else k-ary or Hadamard response, whichever has less risk. Another one must satisfy the
    same constraints; those on columns (privacy) then hold for the result, those on the matrix as a whole need not.
    The default keeps plain LDP; where the design guarantees another notion of privacy, give one that keeps it.
    Outputs keep their labels; of the other mechanism's, those that are taken get " (2)", and no input's name.
    Proportional outputs are merged under the first label. Raises InputError.

        >>> import rropt as rr
        >>> same = rr.Mechanism.from_matrix([[0.6, 0.4], [0.6, 0.4], [0.2, 0.8]])
        >>> rr.estimation.identifying(same, share="0.1").mechanism.rank
        3
    """
    if (share is None) == (risk is None):
        raise Conflict("give either share or risk", "identifying", "for example share='0.05'")
    given, other = explicit_pair(mechanism, companion(mechanism) if with_ is None else with_)
    k = len(given.inputs)
    at = Prior.uniform(given.inputs) if prior is None else prior
    same_labels(at.labels, given.inputs, "prior")
    objective = MinimaxRisk(at)
    if share is not None:
        part = rational(share, "share")
        if not 0 < part < 1:
            raise OutOfRange(f"it is {share}, not between 0 and 1", "share", "try 0.05")
        made = mixed(given, other, part)
        if made.rank < k:
            raise Conflict(
                f"together they have {counted(made.rank, 'independent outputs')} for {k} inputs",
                "with_",
                "give one of full rank, or leave it out",
            )
    else:
        part, made = _least(given, other, rational(risk, "risk"), objective)
    own, second = given.mutual_information(at), other.mutual_information(at)
    # The exact law; the mixture's own enclosure would be as good, but would not show the loss as one number.
    lost = Interval(part * (own.lower - second.upper), part * (own.upper - second.lower))
    return Identified(made, part, objective.value(made), made.mutual_information(at), lost)


def mixed(first: Mechanism, second: Mechanism, share: Fraction) -> Mechanism:
    """The mechanism that uses `second` with probability `share`, else `first`, and says which: exact, outputs that
    never happen left out, proportional ones merged. Both have the same inputs."""
    taken = set(first.outputs)
    names = list(first.outputs)
    for label in second.outputs:
        own = label
        while label in taken or (label != own and label in first.inputs):
            label += " (2)"
        taken.add(label)
        names.append(label)
    parts = ((1 - share, first), (share, second))
    rows = [
        [weight * one.entry(x, y) for weight, one in parts for y in range(len(one.outputs))]
        for x in range(len(first.inputs))
    ]
    return merge_proportional(Mechanism.from_rationals(rows, inputs=first.inputs, outputs=names)).mechanism


def companion(mechanism: AnyMechanism, most: Fraction | None = None) -> RandomizedChannel:
    """The design for estimation that is mixed in by default: at the mechanism's own privacy ratio, or at `most` where
    that is less. Raises InputError."""
    if not isinstance(mechanism, RandomizedChannel):
        raise WrongType(f"{type(mechanism).__name__} is not a mechanism", "identifying", "give solution.mechanism")
    privacy_ratio = mechanism.privacy_ratio
    if most is not None and privacy_ratio > most:
        privacy_ratio = most
    if isinstance(privacy_ratio, float) or privacy_ratio == 1 or privacy_ratio > LARGEST:
        known = (
            "infinite"
            if isinstance(privacy_ratio, float)
            else "one"
            if privacy_ratio == 1
            else f"above exp({LARGEST_EPSILON})"
        )
        why = (
            "with perfect secrecy no frequencies can be estimated"
            if privacy_ratio == 1
            else "no level to choose a design for"
        )
        raise Missing(
            f"the mechanism's privacy ratio is {known}: {why}",
            "with_",
            "give the mechanism to mix in (with_=design in Python)",
        )
    labels = mechanism.inputs
    best = SubsetSelection(labels, gamma=privacy_ratio)
    if math.comb(len(labels), best.t) <= MOST_OUTPUTS:
        return best
    response, hadamard = (
        SubsetSelection(labels, gamma=privacy_ratio, t=1),
        HadamardResponse(labels, gamma=privacy_ratio),
    )
    spread = len(labels) / hadamard.tilt**2 - Fraction(1, len(labels))
    return response if response.minimax_risk() <= spread else hadamard


def _least(given: Mechanism, other: Mechanism, ceiling: Fraction, objective: MinimaxRisk) -> tuple[Fraction, Mechanism]:
    """The least share with a risk of at most `ceiling`, and its mixture."""
    if objective.value(given).upper <= ceiling:
        return Fraction(0), given
    alone = objective.value(other)
    if not alone.upper <= ceiling:
        shown = "infinite" if math.isinf(alone.upper) else f"{rounded(alone)}"
        raise OutOfRange(
            f"{rounded(ceiling)} is less than the risk of the mechanism to mix in, {shown}", "risk", "give more"
        )
    # Convex in the share and at most the ceiling at one: the shares that do are an interval up to one.
    weights = np.array([float(p) for p in objective.prior.probabilities])
    first, second = _moments(given.matrix, weights), _moments(other.matrix, weights)
    wanted = float(ceiling) + float(weights @ weights)
    scale = 1 << SHARE_BITS
    low, high = 0, scale
    while high - low > 1:
        middle = (low + high) // 2
        s = middle / scale
        if float(np.trace(np.linalg.inv((1 - s) * first + s * second))) <= wanted:
            high = middle
        else:
            low = middle
    step = 1
    while high < scale:
        made = mixed(given, other, Fraction(high, scale))
        if objective.value(made).upper <= ceiling:
            return Fraction(high, scale), made
        high, step = high + step, 2 * step
    return Fraction(1), other


def _moments(matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """M = sum_y q_y q_y' / (p.q_y)."""
    used = matrix[:, weights @ matrix > 0]
    return np.asarray((used / (weights @ used)) @ used.T)
