"""The precision with which U may be reported: the ratio of a randomised response whose input distribution is known up to a set.

k-RR with ratio D = 1 + x reports y with probability (1 + x P_y) / (D + k - 1) when its input has distribution P. So for
two distributions P and P' the likelihood ratio at y is at most r exactly if

    1 + x P_y <= r (1 + x P'_y),   that is   x (P_y - r P'_y) <= r - 1.

Over sets of (P, P') the worst pair at y takes P_y as large and P'_y as small as the sets allow, so with terms (a, b) of
such largest P_y and smallest P'_y the largest x is (r - 1) / max(a - r b), without bound where no a - r b is positive.
That is the calibration "exact". The calibration "paper" goes through the l1 distance d (Lemma 3: the ratio is at most
1 + x d / 2), which is the one term (d / 2, 0); since P_y - r P'_y <= P_y - P'_y <= d / 2 it never gives more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from rropt.errors import UnknownName
from rropt.mechanisms.robust.search import FloatArray
from rropt.model.distributions import Confidence
from rropt.model.distributions.base import conditionals
from rropt.model.distributions.quantile import significant_down

Way = Literal["paper", "exact"]
WAYS = ("exact", "paper")
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Calibration:
    """The largest ratio D of a k-RR at every permitted likelihood ratio r; `terms` (a, b) as above."""

    terms: tuple[tuple[Fraction, Fraction], ...]

    def ratio(self, likelihood: Fraction) -> Fraction | None:
        """D at r = `likelihood` >= 1, rounded down; None where it is unbounded: U is reported unchanged."""
        worst = max(a - likelihood * b for a, b in self.terms)
        return None if worst <= 0 else 1 + significant_down((likelihood - 1) / worst)

    @cached_property
    def _arrays(self) -> tuple[FloatArray, FloatArray]:
        a, b = zip(*self.terms, strict=True)
        return np.array([float(value) for value in a]), np.array([float(value) for value in b])

    def ratios(self, log: FloatArray) -> FloatArray:
        """D in floats at each log r; infinite where nothing bounds it."""
        a, b = self._arrays
        worst = (a[None, :] - np.exp(log)[:, None] * b[None, :]).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(worst > 0, 1 + np.expm1(log) / worst, np.inf)

    @property
    def threshold(self) -> float:
        """The log r from which on nothing bounds D; infinite where something always does."""
        if any(a > 0 and b == 0 for a, b in self.terms):
            return np.inf
        return max((float(np.log(float(a / b))) for a, b in self.terms if b), default=0.0)


@dataclass(frozen=True)
class Stacked:
    """The calibrations of several sensitive values, in floats."""

    calibrations: tuple[Calibration, ...]

    @cached_property
    def _arrays(self) -> tuple[FloatArray, FloatArray]:
        width = max(len(own.terms) for own in self.calibrations)
        # The term (-1, 0) bounds nothing.
        padded = [own.terms + ((Fraction(-1), Fraction(0)),) * (width - len(own.terms)) for own in self.calibrations]
        a, b = (np.array([[float(term[at]) for term in terms] for terms in padded]) for at in (0, 1))
        return a, b

    def ratios(self, log: float) -> FloatArray:
        """D of each one at one log r; infinite where nothing bounds it."""
        a, b = self._arrays
        worst = (a - np.exp(log) * b).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(worst > 0, 1 + np.expm1(log) / worst, np.inf)


def checked_way(calibration: object, where: str) -> Way:
    """`calibration` if it is a known one. Raises InputError."""
    if calibration not in WAYS:
        raise UnknownName(f"calibration is {calibration!r}", where, f"use one of: {', '.join(WAYS)}")
    return calibration  # type: ignore[return-value]


def reference(confidence: Confidence) -> tuple[tuple[Fraction, ...], ...]:
    """Phat(u | s), one row per sensitive value, from which conditional reporting draws a stand-in for U.

    Uniform where no s was observed: privacy is calibrated to whatever is drawn from.
    """
    assert confidence.center is not None
    width = len(confidence.pairs.other)
    flat = (Fraction(1, width),) * width
    return tuple(row or flat for row in conditionals(confidence.center, confidence.pairs))


@dataclass(frozen=True)
class OwnCalibration:
    """The largest ratio D of the k-RR that hides whether U or a stand-in for it is reported, for one s.

    With T the likelihood of a report at P(. | s) and That at the reference, `up` bounds T / That, `down` That / T.
    Exact over F itself, not only over a product of sets: one conditional occurs, and P(u | s) attains both ends of
    Lemma 9 within F (Lemma 8). Where T / That must stay within r, and That / T within q, e^{delta_s} - 1 is the
    minimum over y of (r - 1) / (ub_y - r p_y)^+ and (q - 1) / (p_y - q lb_y)^+.
    """

    up: Calibration
    down: Calibration

    def ratio(self, up: Fraction, down: Fraction) -> Fraction | None:
        """D where T / That <= `up` and That / T <= `down`, rounded down; None where nothing bounds it."""
        found = [value for value in (self.up.ratio(up), self.down.ratio(down)) if value is not None]
        return min(found, default=None)

    def ratios(self, up: FloatArray, down: FloatArray) -> FloatArray:
        """D in floats at the logs of both; infinite where nothing bounds it."""
        return np.minimum(self.up.ratios(up), self.down.ratios(down))


def own_calibrations(confidence: Confidence, way: Way) -> tuple[OwnCalibration, ...]:
    """One for each s (GRR-CR, UE-CR); "paper" goes through the radius d_s both ways."""
    found = []
    for s, row in enumerate(reference(confidence)):
        if way == "paper":
            both = Calibration(((confidence.radius(s, paper=True) * HALF, Fraction(0)),))
            found.append(OwnCalibration(both, both))
            continue
        up = front((confidence.upper(s, u), p) for u, p in enumerate(row))
        down = front((p, confidence.lower(s, u)) for u, p in enumerate(row))
        found.append(OwnCalibration(Calibration(up), Calibration(down)))
    return tuple(found)


def shared_calibration(confidence: Confidence, way: Way) -> Calibration:
    """P(. | s) against P'(. | s') for every s != s' (independent reporting).

    Exact over the product of the sets of conditionals: at y the worst is ub_{s, y} against lb_{s', y}, and of all s
    only two matter for each y and role.
    """
    if way == "paper":
        return Calibration(((confidence.distance(paper=True) * HALF, Fraction(0)),))
    inner = range(len(confidence.pairs.sensitive))
    terms: list[tuple[Fraction, Fraction]] = []
    for u in range(len(confidence.pairs.other)):
        terms += furthest([(confidence.lower(s, u), confidence.upper(s, u)) for s in inner])
    return Calibration(front(terms))


def furthest(ends: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Of all (most of s, least of z) with s != z, those that dominate the others; `ends` are (least, most) of each s.

    The largest most and the smallest least are of the same s at worst: then the second of either is enough.
    """
    inner = range(len(ends))
    tops = sorted(inner, key=lambda s: -ends[s][1])[:2]
    bottoms = sorted(inner, key=lambda s: ends[s][0])[:2]
    return [(ends[s][1], ends[z][0]) for s in tops for z in bottoms if s != z]


def front(terms: Iterable[tuple[Fraction, Fraction]]) -> tuple[tuple[Fraction, Fraction], ...]:
    """The terms that no other one dominates (a as large and b as small)."""
    kept: list[tuple[Fraction, Fraction]] = []
    for a, b in sorted(set(terms), key=lambda term: (-term[0], term[1])):
        if not kept or b < kept[-1][1]:
            kept.append((a, b))
    return tuple(kept)
