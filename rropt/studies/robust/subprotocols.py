"""The protocols for robust LDP around the best sub-protocols instead of randomised responses.

Lopuhaä-Zwakenberg and Goseling pose this as an open question: at small epsilon k-RR is far from the LDP mechanism of
most mutual information, and the best one depends on the distribution. Here it is solved for the observed one, which
costs no privacy: the protocols calibrate whatever sub-protocol they are given over the whole set of distributions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rropt.declare.constraints import LDP
from rropt.declare.objectives import MutualInformation
from rropt.errors import InputError, shown
from rropt.exact import exp_enclosure
from rropt.io.arguments import checked
from rropt.io.types import Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.robust import ConditionalReporting, IndependentReporting, UnaryConditionalReporting
from rropt.mechanisms.robust.base import centred, split_level
from rropt.mechanisms.robust.calibration import reference
from rropt.mechanisms.robust.sub import shared_subset_calibration, subset_calibration
from rropt.model.distributions import Confidence
from rropt.model.distributions.quantile import significant_down
from rropt.model.prior import Prior
from rropt.model.privacy import Level, declared_number, level_numbers
from rropt.problem import Maximize, Problem, Solution

Reporting = IndependentReporting | ConditionalReporting | UnaryConditionalReporting
FAMILIES: tuple[type[Reporting], ...] = (IndependentReporting, ConditionalReporting, UnaryConditionalReporting)
GOLDEN = (5**0.5 - 1) / 2
MOST = 1000
"""Points and steps of a search at most: golden section reaches the last digit of a float in 80."""
SLACK = 1 - Fraction(1, 1 << 40)
"""Levels are lowered by this factor, so that a mechanism rounded to integers stays within what it is meant for."""
SMALLEST, LARGEST = 1 + Fraction(1, 10**9), exp_enclosure(Fraction(20)).lower
"""Below the first ratio a channel is nearly uninformative and is not solved for; above the second it is the identity
but for a billionth.
"""


@dataclass(frozen=True)
class OptimalReporting:
    """A protocol and the solved problems that its sub-protocols come from, with their certificates.

    `solutions` has one entry per sub-protocol: one per sensitive value for conditional reporting, (S, U) for independent
    reporting; None where the channel is constant or the identity; empty where `sub` is "krr".
    """

    protocol: Reporting
    solutions: tuple[Solution | None, ...]

    @property
    def sub(self) -> str:
        """The sub-protocols that it took: "optimal", or "krr" if randomised responses are more informative."""
        return "krr" if self.protocol.sub is None else "optimal"

    @property
    def value(self) -> float:
        """Mutual information in nats at the centre, in floats."""
        return self.protocol.formula()


@checked
def optimal_reporting(
    family: type[Reporting],
    confidence: Confidence,
    epsilon: Number | None = None,
    *,
    gamma: Number | None = None,
    points: int = 9,
    steps: int = 6,
    gap: float = 1e-7,
) -> OptimalReporting:
    """`family` around LDP mechanisms of most mutual information, each at the largest level that its place allows.

    `family` is IndependentReporting, ConditionalReporting or UnaryConditionalReporting, `confidence` a set of
    distributions with a centre. The split of epsilon is searched on `points` even steps, then by `steps` of golden
    section; each of its points solves one problem per sub-protocol to `gap` nats. The level of a sub-protocol is such
    that *every* mechanism of that level would do (sets of other values at the ends of Lemma 9); the unused
    part goes to the report on S. Randomised responses, which need only what k-RR needs, can be
    more informative, mostly at large epsilon: then they are what is returned (`sub` says which). Raises InputError.

        >>> import rropt as rr
        >>> joint = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(["f", "m"], ["no", "yes"]))
        >>> known = rr.robust.ChiSquareSet(joint)
        >>> found = rr.robust.optimal_reporting(rr.robust.ConditionalReporting, known, 1, points=3, steps=1, gap=0.1)
        >>> type(found).__name__
        'OptimalReporting'
    """
    if family not in FAMILIES:
        raise InputError(
            f"{family!r} is not such a protocol", "optimal_reporting", "give ConditionalReporting, as a class"
        )
    if not (isinstance(points, int) and 2 <= points <= MOST and isinstance(steps, int) and 0 <= steps <= MOST):
        raise InputError(
            f"points is {shown(points)}, steps {shown(steps)}", "optimal_reporting", f"give 2 to {MOST} and 0 to {MOST}"
        )
    level = Level(**level_numbers(epsilon, gamma, "optimal_reporting"))
    build = _Builder(family, centred(confidence, "optimal_reporting"), level, gap)
    whole = float(level.log_ratio)
    found = [build(whole * at / (points - 1)) for at in range(points)]
    best = max(range(points), key=lambda at: found[at].value)
    low, high = (whole * min(max(at, 0), points - 1) / (points - 1) for at in (best - 1, best + 1))
    plain = OptimalReporting(build.plain(), ())
    return max([found[best], *_golden(build, low, high, steps), plain], key=lambda one: one.value)


def _golden(build: Callable[[float], OptimalReporting], low: float, high: float, steps: int) -> list[OptimalReporting]:
    tried = []
    one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    first, second = (build(one), build(two)) if steps else (None, None)
    for _ in range(steps):
        assert first is not None and second is not None
        tried += [first, second]
        if first.value >= second.value:
            high, two, second = two, one, first
            one = high - GOLDEN * (high - low)
            first = build(one)
        else:
            low, one, first = one, two, second
            two = low + GOLDEN * (high - low)
            second = build(two)
    return [one for one in (*tried, first, second) if one is not None]


class _Builder:
    """Protocols by the logarithm of E2, the share of epsilon that goes to the report on U."""

    def __init__(self, family: type[Reporting], confidence: Confidence, level: Level, gap: float) -> None:
        self.family, self.confidence, self.level, self.gap = family, confidence, level, gap
        inner = range(len(confidence.pairs.sensitive))
        if family is IndependentReporting:
            self.shared = shared_subset_calibration(confidence)
        else:
            self.own = [subset_calibration(confidence, s) for s in inner]

    @property
    def declared(self) -> dict[str, Any]:
        """The level, as it was declared."""
        return dict([declared_number(self.level)])

    def plain(self) -> Reporting:
        """The protocol around randomised responses."""
        return self.family(self.confidence, **self.declared)

    def __call__(self, log: float) -> OptimalReporting:
        first, second = split_level(self.level, log)
        gamma = self.declared
        lowered = max(Fraction(1), second * SLACK)
        if self.family is IndependentReporting:
            center, pairs = self.confidence.center, self.confidence.pairs
            assert center is not None
            blocks = [center.weights[pairs.block(s)] for s in range(len(pairs.sensitive))]
            other: dict[object, object] = dict(zip(pairs.other, map(sum, zip(*blocks, strict=True)), strict=True))
            u, content = self._best(Prior.from_counts(other), self.shared.ratio(lowered))
            # The ratio for U is known now; S gets the rest.
            left = IndependentReporting(self.confidence, **gamma, sub=u).ratio_sensitive
            sensitive: dict[object, object] = dict(zip(pairs.sensitive, map(sum, blocks), strict=True))
            s, solved = self._best(Prior.from_counts(sensitive), left * SLACK)
            return OptimalReporting(
                IndependentReporting(self.confidence, **gamma, sub=u, sub_sensitive=s), (solved, content)
            )
        back = first if self.family is UnaryConditionalReporting else significant_down(self.level.ratio.lower * first)
        back = max(Fraction(1), back * SLACK)
        subs, solutions = [], []
        for own, row in zip(self.own, reference(self.confidence), strict=True):
            prior = Prior.from_probabilities(dict(zip(self.confidence.pairs.other, row, strict=True)))
            sub, solved = self._best(prior, own.ratio(lowered, back))
            subs.append(sub)
            solutions.append(solved)
        return OptimalReporting(self.family(self.confidence, **gamma, sub=subs), tuple(solutions))

    def _best(self, prior: Prior, ratio: Fraction | None) -> tuple[Mechanism, Solution | None]:
        """The LDP mechanism of most mutual information at `prior` whose ratio is at most that (None: any)."""
        labels = prior.labels
        if ratio is None or ratio >= LARGEST:
            same = [[Fraction(int(x == y)) for y in labels] for x in labels]
            return Mechanism.from_rationals(same, inputs=labels, outputs=labels), None
        if ratio <= SMALLEST:
            return Mechanism.from_rationals([[Fraction(1)] for _ in labels], inputs=labels, outputs=["-"]), None
        # A level is short, so that certificates are; rounded down.
        problem = Problem(Maximize(MutualInformation(prior)), [LDP(gamma=significant_down(ratio, 60))])
        solution = problem.solve(gap=self.gap, absolute_gap=self.gap)
        assert solution.mechanism is not None
        return solution.mechanism, solution
