"""A design in plain terms, beside k-ary randomised response at the same epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import scipy
from flint import arb

from rropt.declare.constraints import LDP, RLDP, MaximalRLDP
from rropt.errors import InputError, counted
from rropt.exact import Interval, enclosure, shown, xlogx_ball
from rropt.io.tables import Table
from rropt.mechanisms.estimators.linear import full_rank, locally_best
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.precision import ERROR, DesignPrecision, expected, precision_rows, variances
from rropt.model.prior import Prior

if TYPE_CHECKING:
    from rropt.problem.declared import Problem

SUSPICION = Fraction(1, 10)
LEVEL = 0.95
RESPONDENTS = 1000
"""Answers for which a margin of error is computed where no records were counted."""
SMALLEST_ERROR = 1e-6
"""A smaller squared error (times the respondents) is not compared: it is a difference of numbers up to one, in floats."""
LARGEST = 128
"""Inputs up to which a design is compared with k-RR, and the root of its entries: that takes the cube of the inputs."""


def worst_posterior(ratio: Fraction | float, suspicion: Fraction = SUSPICION) -> Fraction:
    """The largest probability of a property of the true answer after the output was seen, where it was `suspicion`
    before, and entries of a column have a ratio of at most `ratio`.

    Proof. An output has the probability a, a mean of the entries of its column, where the property holds, and b, a mean
    of others of them, where it does not: a <= ratio b. By Bayes' rule the posterior is p a / (p a + (1 - p) b), which
    grows in a / b. It is attained by a property that has the likeliest input only, and whose absence the least likely
    one only.
    """
    if isinstance(ratio, float):
        return Fraction(suspicion > 0)
    return suspicion * ratio / (suspicion * ratio + 1 - suspicion)


def entropy(prior: Prior) -> Interval:
    """The entropy of a prior in nats, enclosed."""
    total = sum(prior.weights)
    return enclosure(lambda: -sum((xlogx_ball(weight, total) for weight in prior.weights), arb(0)))


def entropy_kept(mechanism: Mechanism, prior: Prior) -> Fraction | None:
    """The share of the entropy of the true answers that is mutual information with the outputs, rounded down; None
    where the answers have none."""
    whole = entropy(prior)
    return None if whole.upper <= 0 else mechanism.mutual_information(prior).lower / whole.upper


def largest_margin(mechanism: Mechanism, n: int) -> float | None:
    """Half the width of a 95 % interval of an estimated share from n answers, of the category and at the frequencies
    where it is largest; None where the shares cannot be estimated, as where it is 1 or more: a share is within [0, 1]."""
    try:
        variance = float(variances(mechanism).max())
    except InputError:
        return None
    # An integer may be larger than every float.
    margin = -float(scipy.special.ndtri((1 - LEVEL) / 2)) * math.sqrt(variance / min(n, 10**300))
    return margin if margin < 1 else None


def squared_error(mechanism: Mechanism, prior: Prior) -> float | None:
    """n times the mean squared error of the best linear estimate at the frequencies `prior`, summed over the categories,
    in floats; None where the shares cannot be estimated. Two designs have the same error where the numbers of
    respondents have the ratio of these."""
    seen = mechanism.matrix[:, prior.array @ mechanism.matrix > 0]
    try:
        full_rank(seen, mechanism.inputs)
    except InputError:
        return None
    return locally_best(seen, prior.array).risk(prior.array)


@dataclass(frozen=True)
class _Terms:
    """The figures of one design."""

    kept: Fraction | None
    posterior: Fraction | None
    margin: float | None

    @classmethod
    def of(cls, mechanism: Mechanism, prior: Prior | None, n: int) -> _Terms:
        ratio = mechanism.privacy_ratio
        kept = None if prior is None else entropy_kept(mechanism, prior)
        posterior = None if isinstance(ratio, float) else worst_posterior(ratio)
        return cls(kept, posterior, largest_margin(mechanism, n))


def _respondents(mechanism: Mechanism, other: Mechanism, prior: Prior) -> Iterator[tuple[str, str, str]]:
    """A row of the respondents that two designs need, where both identify the frequencies."""
    error, others = squared_error(mechanism, prior), squared_error(other, prior)
    # Where everyone gives the same answer, the error may be within rounding of zero.
    if error is not None and others is not None and min(error, others) > SMALLEST_ERROR:
        yield "respondents for the same squared error", f"{100 * error / others:.3g} %", "100 %"


def _large(mechanism: Mechanism) -> bool:
    return len(mechanism.inputs) > LARGEST or math.prod(mechanism.shape) > LARGEST**2


def _answers(problem: Problem) -> int:
    """The number of answers that a problem's frequencies were counted from, or 1,000."""
    prior = problem.objective.prior
    return sum(prior.weights) if prior is not None and prior.declared == "counts" else RESPONDENTS


def _response(problem: Problem, mechanism: Mechanism) -> RandomizedResponse | None:
    """k-RR at the declared epsilon of plain LDP. Another guarantee is not kept by k-RR at the same number, and no ground
    for a comparison."""
    for rule in problem.constraints:
        if isinstance(rule, LDP) and not rule.population and not rule.properties:
            return RandomizedResponse(mechanism.inputs, epsilon=rule.epsilon, gamma=rule.gamma)
    return None


def precision_of(
    problem: Problem, mechanism: Mechanism | None, records: int | None = None, error: float | None = None
) -> DesignPrecision | None:
    """The expected standard errors of a design at the worst frequencies, from so many `records` (those that the problem's
    frequencies were counted from, or 1,000), beside k-RR at the declared epsilon; None where the frequencies cannot be
    estimated, and for large designs."""
    if mechanism is None or _large(mechanism):
        return None
    n = _answers(problem) if records is None else records
    try:
        own = expected(mechanism, n, ERROR if error is None else error, None)
    except InputError:
        return None
    response = _response(problem, mechanism)
    return own if response is None else replace(own, krr=expected(response, n, own.error, None))


def plain_terms(
    problem: Problem, mechanism: Mechanism | None, records: int | None = None, error: float | None = None
) -> Iterator[Table]:
    """A table of what a design keeps, reveals and allows to estimate from so many `records`, and of how many a standard
    error of `error` needs; none for large designs."""
    if mechanism is None or _large(mechanism):
        return
    prior = problem.objective.prior
    n = _answers(problem) if records is None else records
    designs, heads = [_Terms.of(mechanism, prior, n)], ["", "this design"]
    needed: list[tuple[str, str, str]] = []
    if (own := _response(problem, mechanism)) is not None:
        designs.append(_Terms.of(own.mechanism, prior, n))
        needed = [] if prior is None else list(_respondents(mechanism, own.mechanism, prior))
        heads.append("k-RR")
    rows = []
    if designs[0].kept is not None:
        kept = [f"{shown(100 * (one.kept or 0), 3, up=False)} %" for one in designs]
        rows.append(("entropy of the answers kept, at least", *kept))
    suspicion = f"a {float(100 * SUSPICION):g} % suspicion"
    if designs[0].posterior is not None:
        most = [f"{shown(100 * (one.posterior or 0), 3, up=True)} %" for one in designs]
        rows.append((f"{suspicion} becomes at most", *most))
    for rule in problem.constraints:
        if isinstance(rule, RLDP | MaximalRLDP):
            most = [f"{shown(100 * worst_posterior(rule.level.ratio.upper), 3, up=True)} %"]
            rows.append((f"{suspicion} of a sensitive value: at most", *most, *[""] * (len(designs) - 1)))
    rows.extend(needed)
    points = [None if one.margin is None else shown(100 * one.margin, 2, up=True) for one in designs]
    margins = ["no estimate" if one is None else f"{one} points" for one in points]
    rows.append((f"largest margin of error, {counted(n, 'answers')} (95 %)", *margins))
    if (found := precision_of(problem, mechanism, n, error)) is not None:
        rows.extend(precision_rows(found))
    beside = " beside k-RR at the same epsilon" if designs[1:] else ""
    yield Table(f"In plain terms{beside}", rows, heads, right=range(1, len(heads)))
