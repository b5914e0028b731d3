"""The least mutual information that a given mechanism has over a set of distributions, enclosed, with a witness.

I_P(X; Y) is concave in P, so its minimum over a convex set F is a global problem. With w_y = sum_x P_x Q[x, y],
a_x = sum_y Q[x, y] log Q[x, y] and phi(w) = -w log w,

    I_P = a . P + sum_y phi(w_y).

Lemma. Let l_y <= w_y <= u_y. For any numbers b_y, since phi(w) - b w is concave and so least at an end of [l_y, u_y],

    I_P >= (a + Q b) . P + sum_y min(phi(l_y) - b_y l_y, phi(u_y) - b_y u_y).

What depends on P is linear, and its minimum over F is a value of the support function. So every box of output
probabilities has a bound that any b makes true, found in floats and then taken in rationals; boxes are split until the
least of their bounds meets the information at a distribution of F.
"""

import heapq
import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from rropt.errors import OutOfRange, WrongType
from rropt.exact import Interval, enclosure, float_down, float_up, xlogx_ball
from rropt.io.arguments import checked
from rropt.io.counts import same_labels
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.distributions import ChiSquareSet, Confidence, KnownDistribution
from rropt.model.prior import Prior
from rropt.program.programs import Utility

Array = np.ndarray
GRAIN = 1 << 60
"""Probabilities of the witness are in proportion to multiples of 2^-60."""
SHARES = (0.0, 2.0**-44, 2.0**-30, 2.0**-20, 2.0**-10, 0.5)
"""Shares by which the witness is moved toward the observed frequencies until it is surely in F."""
DESCENTS = 60


@dataclass(frozen=True)
class LeastInformation(Utility):
    """min over P in `confidence` of I_P(X; Y) in nats. The certificate format cannot state it: a bound is the certified
    optimum of mutual information given which of some distributions of the set was drawn."""

    particular: ClassVar[str] = "the least information over a set"
    confidence: ChiSquareSet

    @property
    def plain(self) -> bool:
        return True


@dataclass(frozen=True)
class WorstInformation:
    """The minimum of I_P(X; Y) over F in nats, enclosed: `value.lower` holds for every P of F, and the distribution
    `witness` of F (exact probabilities of the inputs, in their order) has at most `value.upper`. `boxes` is how many
    boxes of output probabilities the lower end comes from."""

    value: Interval
    witness: tuple[Fraction, ...]
    boxes: int

    @property
    def gap(self) -> float:
        """The width of the enclosure, nats, rounded up."""
        return float_up(self.value.upper - self.value.lower)


@checked
def worst_information(
    mechanism: Mechanism | RandomizedResponse,
    confidence: Confidence,
    *,
    gap: float = 1e-4,
    boxes: int = 200,
    time_limit: float | None = None,
) -> WorstInformation:
    """The least I_P(X; Y) of `mechanism` over `confidence`, a ChiSquareSet or a KnownDistribution of its inputs.

    Both ends are proved in rationals, independently of the floats used on the way. It stops when they are `gap` nats
    apart, or at `boxes` boxes or in time for `time_limit` seconds (about) with the wider, true enclosure. Over all
    distributions the minimum is 0. Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> response = rr.RandomizedResponse(joint.labels, 1)
        >>> found = rr.robust.worst_information(response, known, gap=1e-2, boxes=5)
        >>> type(found).__name__
        'WorstInformation'
    """
    if isinstance(mechanism, RandomizedResponse):
        mechanism = mechanism.to_mechanism()
    if not isinstance(mechanism, Mechanism):
        raise WrongType(
            f"{mechanism!r} is not a mechanism", "worst_information", "give a Mechanism, or .to_mechanism()"
        )
    if not isinstance(confidence, ChiSquareSet | KnownDistribution):
        raise WrongType(
            f"{confidence!r} is not a set of distributions that it takes",
            "worst_information",
            "give ChiSquareSet(counts)",
        )
    if not (gap > 0 and boxes >= 1):
        raise OutOfRange(f"gap is {gap}, boxes {boxes}", "worst_information", "give a gap above 0, at least one box")
    same_labels(mechanism.inputs, confidence.pairs.labels, "worst_information, inputs")
    if isinstance(confidence, KnownDistribution):
        center = confidence.center
        return WorstInformation(mechanism.mutual_information(center), center.probabilities, 1)
    until = math.inf if time_limit is None else time.monotonic() + time_limit
    return _Search(mechanism, confidence).run(gap, boxes, until)


@dataclass(frozen=True)
class _Box:
    """Ends of the output probabilities, slopes b, the bound in floats, the P that attains it."""

    low: Array
    high: Array
    slopes: Array
    bound: float
    point: Array


class _Search:
    """Best-first splitting of boxes of output probabilities."""

    def __init__(self, mechanism: Mechanism, confidence: ChiSquareSet) -> None:
        self.mechanism, self.confidence, self.ball = mechanism, confidence, confidence.joint
        names = [y for y in range(len(mechanism.outputs)) if any(mechanism.numerators[y])]
        self.columns = [mechanism.column(y) for y in names]
        self.matrix = mechanism.matrix[:, names]
        self.own = _phi(self.matrix).sum(axis=1) * -1
        self.best, self.witness = math.inf, confidence.center.array

    def run(self, gap: float, most: int, until: float = math.inf) -> WorstInformation:
        low = np.array([float_down(-self.ball.support_bound([-v for v in column])) for column in self.columns])
        high = np.array([float_up(self.ball.support_bound(column)) for column in self.columns])
        self._descend(self.confidence.center.array)
        root = self._bounded(np.maximum(low, 0.0), np.minimum(high, 1.0))
        heap, count = [(root.bound, 0, root)], 1
        # Every box that is left has to be proved in the end, which takes as long as this one, or less.
        begun = time.monotonic()
        if until < math.inf:
            self._prove(root)
        each = time.monotonic() - begun
        # Half of the gap is left to the rounding of both ends.
        while len(heap) < most and self.best - heap[0][0] > gap / 2 and time.monotonic() + each * len(heap) < until:
            box = heapq.heappop(heap)[2]
            for child in self._split(box):
                count += 1
                heapq.heappush(heap, (child.bound, count, child))
        lower = min(self._prove(box) for _, _, box in heap)
        witness = self._surely(self.witness)
        prior = Prior.from_probabilities(dict(zip(self.mechanism.inputs, witness, strict=True)))
        upper = self.mechanism.mutual_information(prior).upper
        return WorstInformation(Interval(max(Fraction(0), lower), upper), prior.probabilities, len(heap))

    def _descend(self, point: Array) -> None:
        """From `point` to a local minimum: the linear function that touches I at P is least at a better P."""
        value = self._information(point)
        for _ in range(DESCENTS):
            with np.errstate(divide="ignore"):
                slope = self.own - self.matrix @ np.log(np.maximum(point @ self.matrix, 1e-300))
            new = self.ball.support(-slope)[1]
            found = self._information(new)
            if not found < value - 1e-13:
                break
            point, value = new, found
        if value < self.best:
            self.best, self.witness = value, point

    def _information(self, point: Array) -> float:
        return float(self.own @ point + _phi(point @ self.matrix).sum())

    def _bounded(self, low: Array, high: Array, slopes: Array | None = None) -> _Box:
        """The best slopes for a box: the chords where the P found lies in it, else an ascent from there."""
        from scipy.optimize import minimize

        width = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            chord = np.where(width > 1e-15, (_phi(high) - _phi(low)) / width, 0.0)
        ends = _phi(low) - chord * low

        def dual(t: Array) -> tuple[float, Array, Array]:
            # b = chord - t; t > 0 pulls w up to its lower end, t < 0 down to its upper one.
            value, point = self.ball.support(-(self.own + self.matrix @ (chord - t)))
            w = point @ self.matrix
            ended = np.where(t > 0, low, high)
            return float(ends.sum() + t @ ended - value), ended - w, point

        t = np.zeros(len(low))
        value, _, point = dual(t)
        w = point @ self.matrix
        outside = (w < low - 1e-12) | (w > high + 1e-12)
        if outside.any():
            # Variables up, down >= 0 with t = up - down: smooth, one bound each.
            def negative(both: Array) -> tuple[float, Array]:
                up, down = both[: len(low)], both[len(low) :]
                found, at = self.ball.support(-(self.own + self.matrix @ (chord - up + down)))
                mean = at @ self.matrix
                total = float(ends.sum() + up @ low - down @ high - found)
                return -total, -np.concatenate([low - mean, mean - high])

            start = np.zeros(2 * len(low))
            found = minimize(
                negative, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start), options={"maxiter": 40}
            )
            moved = found.x[: len(low)] - found.x[len(low) :]
            new, _, at = dual(moved)
            if new > value:
                t, value, point = moved, new, at
        return _Box(low, high, chord - t, value, point)

    def _split(self, box: _Box) -> list[_Box]:
        """Two halves along the output whose chord is farthest from phi where the bound is attained."""
        self._descend(box.point)
        w = np.clip(box.point @ self.matrix, box.low, box.high)
        width = box.high - box.low
        with np.errstate(divide="ignore", invalid="ignore"):
            chord = np.where(width > 1e-15, (_phi(box.high) - _phi(box.low)) / width, 0.0)
        missing = _phi(w) - _phi(box.low) - chord * (w - box.low)
        # Where the P found is a corner of the box, the output with the widest chord is split.
        if missing.max() < 1e-12:
            missing = width**2 / np.maximum(box.low + box.high, 1e-300)
        y = int(np.argmax(missing))
        at = float(np.clip(w[y], box.low[y] + 0.2 * width[y], box.high[y] - 0.2 * width[y]))
        below, above = box.high.copy(), box.low.copy()
        below[y] = above[y] = at
        return [self._bounded(box.low, below), self._bounded(above, box.high)]

    # -- in rationals --------------------------------------------------------------------------------

    def _prove(self, box: _Box) -> Fraction:
        """The bound of the lemma at the box's slopes, rounded down."""
        slopes = [Fraction(float(b)) for b in box.slopes]
        total = Fraction(0)
        for b, low, high in zip(slopes, box.low, box.high, strict=True):
            total += min(_phi_down(Fraction(float(end))) - b * Fraction(float(end)) for end in (low, high))
        linear = [
            self._own_down(x)
            + sum((b * column[x] for b, column in zip(slopes, self.columns, strict=True)), Fraction(0))
            for x in range(len(self.own))
        ]
        return total - self.ball.support_bound([-value for value in linear])

    def _own_down(self, x: int) -> Fraction:
        return -sum((_phi_up(column[x]) for column in self.columns), Fraction(0))

    def _surely(self, point: Array) -> list[Fraction]:
        """A distribution of F in rationals next to `point`."""
        center = self.confidence.center.array
        for share in SHARES:
            mixed = [Fraction(max(0, round(float(value) * GRAIN)), 1) for value in point + share * (center - point)]
            total = sum(mixed, Fraction(0))
            found = [value / total for value in mixed]
            if self.ball.contains(found, surely=True):
                return found
        return list(self.confidence.center.probabilities)


def _phi(values: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, -values * np.log(values), 0.0)


def _phi_down(value: Fraction) -> Fraction:
    return -enclosure(lambda: xlogx_ball(value.numerator, value.denominator)).upper


def _phi_up(value: Fraction) -> Fraction:
    return -enclosure(lambda: xlogx_ball(value.numerator, value.denominator)).lower
