"""Proved bounds for programs that no proof kind covers: theorems that are not machine-checked."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import numpy as np
from flint import arb

from rropt.exact import ball, common_denominator, dyadic_up, enclosure, log_enclosure, xlogx_ball
from rropt.model.privacy import Level
from rropt.program.cones import CompleteCone, base_cone
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.limits import DivergenceLimits, Limits, Sum
from rropt.program.programs import BayesGain, ChiSquare, Divergence, Information, Linear, Program, RowEntropy
from rropt.program.worst_case import LeastInformation
from rropt.solve.approximate_ldp.bound import best_moments, event_bound
from rropt.solve.engine.curves import Curve, InformationCurve, curve_class, has_curve
from rropt.solve.entropy.gibbs import floor_multipliers
from rropt.solve.ldp.column_dual import prove_information

Bound = Callable[[Program], "tuple[Fraction, str] | None"]
MOMENTS = "the optimum under approximate privacy with as many outputs as it takes, in ball arithmetic"
EVENTS = "the information about each input under the events of approximate privacy, in ball arithmetic"


def relaxed_bound(program: Program) -> tuple[Fraction, str] | None:
    """(a bound in the utility's unit, why it holds), or None where none is known.

    The simple one (`simple_bound`); under LDP with further constraints an information never exceeds the optimum without
    them; above an entropy floor multipliers bound it (`floor_bound`), under approximate privacy `event_bound`
    and `best_moments`.
    """
    if isinstance(program.utility, Sum):
        return _of_parts(program, program.utility, relaxed_bound)
    found = simple_bound(program)
    if found is None or program.sense == "minimize" or not isinstance(program.utility, Divergence):
        return found
    known = [found, *_universal(program)]
    if (within := event_bound(program)) is not None:
        known.append((within, EVENTS))
    if (moments := best_moments(program)) is not None:
        known.append((moments.bound, MOMENTS))
    if isinstance(program.utility, Information) and (above := _above_floor(program)) is not None:
        known.append((above, "that of multipliers of the entropy floor, in ball arithmetic"))
    return min(known, key=lambda bound: bound[0])


def simple_bound(program: Program) -> tuple[Fraction, str] | None:
    """(a bound that every mechanism obeys, whatever the constraints but a limit on the goal itself, why), or None for
    utilities of the user's own. It takes one pass over the inputs."""
    found, limits = _plain_bound(program), program.extra(Limits)
    if found is not None:
        found = min([found, *_within_notions(program), *_within_leakage(program)], key=lambda bound: bound[0])
    if found is None or limits is None or program.sense == "minimize":
        return found
    own = [(limit.at_most, "the limit on the objective") for limit in limits.limits if limit.utility == program.utility]
    return min([found, *own], key=lambda bound: bound[0])


def _within_notions(program: Program) -> list[tuple[Fraction, str]]:
    """Information is a mean of divergences of rows from their mean, which are convex: no more than the largest of one
    row from another, and than a capacity. Renyi divergences grow with their order from that of Kullback and Leibler."""
    notions = program.extra(DivergenceLimits)
    if notions is None or program.sense == "minimize" or not isinstance(program.utility, Information):
        return []
    why = "the bound on divergences or on the capacity, which no information exceeds"
    return [(one.most_informed, why) for one in notions.notions]


def _within_leakage(program: Program) -> list[tuple[Fraction, str]]:
    """Sibson's information of order infinity, log sum_y max_x Q[x, y], is at least the information at any prior; a gain
    of one number for each right guess and nothing for the others limits it."""
    limits = program.extra(Limits)
    if limits is None or program.sense == "minimize" or not program.utility.plain:
        return []
    found = []
    for limit in limits.limits:
        scores = limit.utility.scores() if isinstance(limit.utility, BayesGain) else ()
        own = {row[x] for x, row in enumerate(scores)} if len(scores) == program.size else set()
        if len(own) == 1 and sum(map(bool, chain(*scores))) == len(scores):
            most = max(limit.at_most / own.pop(), Fraction(1))
            found.append((log_enclosure(most).upper, "the maximal leakage, which no information exceeds"))
    return found


def _of_parts(program: Program, utility: Sum, bound: Bound) -> tuple[Fraction, str] | None:
    """The sum of the bounds of all parts, each sought in its own sense."""
    total = Fraction(0)
    for weight, part in utility.terms:
        up = program.sign * weight > 0
        weights = getattr(part, "weights", program.weights)
        own = replace(program, sense="maximize" if up else "minimize", utility=part, weights=weights)
        known = None if isinstance(part, Linear) and program.outputs is None and part.cost else bound(own)
        if known is None:
            return None
        total += weight * known[0]
    return total, "the sum of the bounds of its parts"


def _plain_bound(program: Program) -> tuple[Fraction, str] | None:
    utility, prior = program.utility, program.prior
    if isinstance(utility, Sum):
        return _of_parts(program, utility, simple_bound)
    if isinstance(utility, Linear):
        best: dict[int, int] = {}
        listed: dict[int, int] = {}
        unit = common_denominator(value for *_, value in utility.cost)
        for x, _, value in utility.cost:
            own = program.sign * value.numerator * (unit // value.denominator)
            listed[x] = listed.get(x, 0) + 1
            best[x] = max(best.get(x, own), own)
        width = None if program.outputs is None else len(program.outputs)
        # A cell that is not listed costs nothing.
        rows = (value if listed[x] == width else max(value, 0) for x, value in best.items())
        return Fraction(program.sign * sum(rows), unit), "the best output for each input, given always"
    if isinstance(utility, BayesGain):
        scores = utility.scores()
        if program.sense == "minimize":
            return max(sum(row, Fraction(0)) for row in scores), "what a guess without the release gains"
        return sum(map(max, zip(*scores, strict=True)), Fraction(0)), "what the true answers gain"
    if program.sense == "minimize":
        if isinstance(utility, Divergence):
            return Fraction(0), "zero, which no information falls below"
        return _least_risk(utility, prior) if isinstance(utility, DesignUtility) else None
    if (most := _choose_best(program)) is None:
        return None
    known = [most]
    if isinstance(cone := base_cone(program.cone), CompleteCone) and not isinstance(utility, RowEntropy):
        # Information given a third variable, or at the worst distribution of a set, does not exceed that of the inputs.
        informed = isinstance(utility, (Information, LeastInformation))
        if (kind := InformationCurve if informed else curve_class(utility)) is not None:
            known.append((_ceiling(cone.level, kind), "the universal bound of LDP"))
    return min(known, key=lambda bound: bound[0])


def _choose_best(program: Program) -> tuple[Fraction, str] | None:
    """The information of the true answers."""
    utility = program.utility
    if isinstance(utility, ChiSquare):
        return Fraction(program.size - 1), "one less than the number of inputs"
    if isinstance(utility, RowEntropy) and program.outputs is not None:
        return log_enclosure(Fraction(len(program.outputs))).upper, "the entropy of uniform rows"
    if isinstance(utility, LeastInformation):
        weights = utility.confidence.counts.weights
        return _entropy(weights), "the entropy of one distribution of the set"
    if isinstance(utility, Information):
        return _entropy(program.weights), "the entropy of the prior"
    return (_tell_all(utility, program.prior), "that of the true answers") if isinstance(utility, Divergence) else None


def _tell_all(utility: Divergence, prior: tuple[Fraction, ...]) -> Fraction:
    """The value of the true answers, which no garbling of them exceeds."""
    term = utility.term
    nothing = term.ball(arb(0))

    def share(p: Fraction) -> arb:
        return ball(p) * (ball(p) * term.ball(ball(1 / p)) + ball(1 - p) * nothing - term.one)

    return enclosure(lambda: sum((share(p) for p in prior if p), arb(0))).upper


def _ceiling(level: Level, kind: type[Curve]) -> Fraction:
    """The universal bound of LDP, `Curve.ceiling` in ball arithmetic."""

    def bound() -> arb:
        rise = ball(level.epsilon).expm1() if level.epsilon is not None else ball((level.gamma or Fraction(1)) - 1)
        return kind.exact_ceiling(rise)

    return enclosure(bound).upper


def _least_risk(utility: DesignUtility, prior: tuple[Fraction, ...]) -> tuple[Fraction, str] | None:
    """The risk of the true answers: their information matrix is diag(1 / p), and no mechanism's exceeds it."""
    if isinstance(utility, InverseTrace):
        own = sum((c * c * p for row in utility.rows for c, p in zip(row, prior, strict=True) if c), Fraction(0))
        return own - utility.offset, "the risk of the true answers"
    if isinstance(utility, InverseDeterminant):
        logs = sum((log_enclosure(p).lower for p in prior), Fraction(0))
        return logs, "the determinant of the true answers"
    if isinstance(utility, InverseEigenvalue):
        # Eigenvalues of diag(p) - p p' lie between those of diag(p).
        return sorted(prior)[-2], "the second largest frequency, a lower bound for the true answers"
    return None


def _entropy(weights: Sequence[int]) -> Fraction:
    total = sum(weights)
    return enclosure(lambda: -sum((xlogx_ball(weight, total) for weight in weights), arb(0))).upper


def _universal(program: Program) -> list[tuple[Fraction, str]]:
    """The universal bound of LDP, where that is among the constraints of an information."""
    alone = replace(program, cone=base_cone(program.cone), rows=(), outputs=None)
    bound = prove_information(alone, None, None).bound if has_curve(alone) else None
    return [] if bound is None else [(bound, "the universal bound of LDP without the further constraints")]


def _above_floor(program: Program) -> Fraction | None:
    """The bound on mutual information that any multipliers of an entropy floor prove (`floor_bound`)."""
    found = floor_multipliers(program)
    floor = program.extra(ConcaveFloor)
    if found is None or floor is None or program.outputs is None:
        return None
    k, m = program.size, len(program.outputs)
    t = Fraction(found.floor)
    # Codes of a distribution that sums to one at most.
    masses = [max(Fraction(float(mass)), Fraction(1, 1 << 40)) for mass in np.exp(-found.codes)]
    codes = [dyadic_up(-log_enclosure(mass / sum(masses, Fraction(0))).lower, 80) for mass in masses]
    scores = [[p * code for code in codes] for p in program.prior]
    total = Fraction(0)
    for multiplier, row in zip(found.rows, program.rows, strict=True):
        u = Fraction(float(multiplier)) if row.sense == "=" else max(Fraction(float(multiplier)), Fraction(0))
        total += u * row.rhs
        for x, y, value in row.terms:
            scores[x][y] -= u * value

    def bound() -> arb:
        result = ball(total)
        for share, size in zip(floor.shares, floor.sizes, strict=True):
            result -= ball(t * floor.at_least * share) * arb(size).log()
        for x in range(k):
            heat, top = t * floor.shares[x] - program.prior[x], max(scores[x])
            result += ball(top)
            if heat > 0:
                spread = sum((ball((score - top) / heat).exp() for score in scores[x]), arb(0))
                result += ball(heat) * spread.log()
        return result

    return enclosure(bound).upper if m else None
