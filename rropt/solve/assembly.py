"""From a method's floating-point answer to an exact mechanism, a proof and the checker's verdict.

Proofs of bounds that hold whatever most constraints are: they are left out, by steps, and what is left has a proof.

The bounds are those of `simple_bound` (relaxed_bound.py) that a certificate can state, and of LDP without the further
constraints.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal

from flint import arb

from rropt.checker import Verdict, check_bytes
from rropt.declare.objectives import MutualInformation, Objective, Trace
from rropt.errors import Refusal, counted, named
from rropt.exact import Interval, ball, enclosure
from rropt.io.clock import Clock
from rropt.kernel import RefutedError
from rropt.mechanisms.estimators.linear import float_rank
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import honest, misleading, misnamed, neutral
from rropt.model.prior import Prior
from rropt.program.cones import CompleteCone, base_cone, tightest_log
from rropt.program.design_utilities import InverseDeterminant, InverseTrace
from rropt.program.limits import Capacity, DivergenceLimits, is_stated
from rropt.program.permutation_mixtures import Mixture, Places
from rropt.program.programs import BayesGain, ChiSquare, Information, Linear, Program, RowEntropy
from rropt.program.worst_case import LeastInformation
from rropt.program.worst_of import own_mechanism
from rropt.prove.certificates import Certificate, Proof
from rropt.prove.gaps import WORST, gap_of, grain, is_certified, is_reached
from rropt.prove.problems import OutsideCoreError
from rropt.prove.steps import EXTRAS, Drop, drop
from rropt.solve.candidates import best_candidate, best_mixture, is_slow, last_resort, worth_of
from rropt.solve.engine.budget import GRACE, LEAST
from rropt.solve.engine.lp import AGAIN, GAVE_UP
from rropt.solve.engine.method import Dual
from rropt.solve.naming import in_order, linear_of, well_named_near, well_named_order
from rropt.solve.options import SolveOptions
from rropt.solve.registry import Answer, SolveLimits, prove, prove_infeasible
from rropt.solve.relaxations.merge_outputs import is_by_actions, is_merged, linear_value, merge_outputs, truth_dual
from rropt.solve.relaxed_bound import relaxed_bound, simple_bound
from rropt.solve.rounding import round_draft
from rropt.solve.verified import strengthen

COUPLING = ("rows", *EXTRAS, "outputs")
"""All that ties columns to each other."""
WORDS = {
    "cone": "the conditions on every column",
    "cone_rows": "the linear conditions on every column",
    "rows": "the constraints on the whole matrix",
    "entropy": "the floor on the entropy",
    "approximate": "approximate LDP",
    "identification_risk": "the bound on the identification risk",
    "structure": "the one number off the diagonal of a row",
    "limits": "the limits on mutual information and gains",
    "divergences": "the limits on divergences and the capacity",
    "outputs": "the number of outputs",
}
"""The parts of a problem (`rropt.prove.steps`) in a sentence."""


def prove_without(program: Program, effort: SolveLimits, attained: float | None) -> Proof | None:
    """The best proof of a bound from which constraints are left out; None where none is known, or where the
    certificate format cannot state the program. `attained` as in `prove`."""
    if any(not isinstance(extra, tuple(EXTRAS.values())) for extra in program.extras):
        return None
    found = (prove(program, dual, effort, attained, drop(program, parts)) for parts, dual in _choices(program))
    proofs = [proof for proof in found if not isinstance(proof, Refusal) and proof.bound is not None]
    return min(proofs, key=lambda proof: program.sign * (proof.bound or 0), default=None)


def said_of(proof: Proof) -> str:
    """The constraints that the steps of such a proof leave out, in words."""
    *words, last = [WORDS[part] for step in proof.steps if isinstance(step, Drop) for part in step.parts] or [""]
    if not last:
        return "the bound is proved from the frequencies"
    return f"the bound ignores {', '.join(words)}{' and ' if words else ''}{last}"


def _choices(program: Program) -> Iterator[tuple[tuple[str, ...], Dual | None]]:
    """Parts to leave out, and the multipliers that prove a bound of what is left."""
    utility, free = program.utility, ("cone", *COUPLING)
    if program.sense == "minimize" and not isinstance(utility, (Linear, InverseTrace, InverseDeterminant)):
        return
    if isinstance(utility, Linear):
        assert program.outputs is not None
        best = (program.sign * utility.matrix(program.size, len(program.outputs))).max(axis=1)
        yield ("cone", "rows", *EXTRAS), Dual(best)
    elif isinstance(utility, RowEntropy):
        yield ("cone", "rows", *EXTRAS), None
    elif isinstance(utility, (BayesGain, InverseTrace, InverseDeterminant)):
        yield free, truth_dual(program)
    elif isinstance(utility, (Information, ChiSquare)):
        alone = utility.plain or isinstance(utility, ChiSquare)
        if alone and isinstance(base_cone(program.cone), CompleteCone):
            yield ("cone_rows", *COUPLING), None
        yield (COUPLING, None) if utility.plain else (free, truth_dual(program))


LARGEST_RANK = 1 << 18
"""Entries of a matrix whose rank is computed in floats too."""
ROUNDED, PROVED, CHECKED, COMPARED, LAST = 1.3, 1.8, 2.1, 2.3, 2.5
"""Seconds after the end of a solve when each of the remaining steps is ended, so that the next ones have time: a step
that begins late still has a tick of the clock, and there are four steps."""
VALUE_BITS = 96
"""An irrational value is widened by 2^-96 before it is written, so that the checker's enclosure fits inside."""

Status = Literal["certified", "bounded", "infeasible"]
Decomposition = dict[tuple[str, ...], Fraction]
"""The weights of permutations by their outputs."""
Found = tuple[Mechanism, Interval, Decomposition | None]
"""A mechanism, its value in the utility's unit, and the weights of its permutations."""

EXACT = Linear, ChiSquare, BayesGain
"""Utilities whose values checkers compute as rationals."""
APART = (
    "not machine-checked: a certificate states limits of divergences and of capacities of up to 20 nats; rropt itself "
    "verifies the mechanism, in enclosures"
)
RENAMED = (
    "not machine-checked: the bound is proved with one output per action, and outputs of this mechanism "
    "are best used for other actions"
)
FAR = (
    f"the gap is as small as was asked for, or as rounding allows, but above {float(WORST):.0%} of the bound: not "
    "certified"
)


@dataclass(frozen=True)
class Assembled:
    """The proved result of a solve; the fields are those of `Solution`."""

    status: Status
    mechanism: Mechanism | None = None
    attained: Interval | None = None
    limit: Fraction | None = None
    certificate: Certificate | None = None
    verdict: Verdict | None = None
    warnings: tuple[str, ...] = ()
    decomposition: Decomposition | None = None


def assemble(
    program: Program,
    objective: Objective,
    outputs: tuple[str, ...] | None,
    options: SolveOptions,
    effort: SolveLimits,
    answer: Answer,
    fits: Callable[[Mechanism], bool] | None = None,
    closed: Sequence[Mechanism] = (),
) -> Assembled:
    """Round, prove, certify and check a method's answer. `outputs` are labels that the caller wants where the
    program leaves them free; `options` state the requested gap. Where the time was too short to compile the
    constraints, `program` does not have them, and `fits` decides whether a mechanism satisfies them. `closed` has the
    best mechanism in closed form, where it was sought."""
    warnings = list(answer.claim.notes)
    if not all(dual is None or dual.is_finite() for dual in (answer.dual, answer.farkas)):
        answer = replace(answer, dual=None, draft=None if answer.farkas else answer.draft)
        warnings.append("the solver's multipliers are not all finite: they are not used")
    if answer.claim.status.startswith(GAVE_UP):
        warnings.append(
            f"{answer.claim.solver} {answer.claim.status}: the mechanism was found without it, and the optimum "
            f"is not known; {AGAIN}"
        )
    within = effort.clock.within
    if answer.farkas is not None:
        infeasible = within(PROVED, lambda: _infeasible(answer.stated or program, answer, warnings))
        if infeasible is not None:
            if not _is_apart(program, answer):
                return infeasible
            return replace(infeasible, certificate=None, verdict=None, warnings=(*infeasible.warnings, APART))
        warnings.append("the solver found the problem infeasible, but its proof failed")
    rest = program, objective, outputs, options, effort, answer
    why = [""]
    found = None if fits else within(ROUNDED, lambda: _round(program, objective, effort, answer, why))
    first = None if found is None else _prove_of(*rest, found, [*warnings, *why[1:]], bool(fits))
    done = first is not None and (first.status == "certified" or FAR in first.warnings)
    if first is not None and done and _is_within(first.attained, first.limit, program, options):
        return first
    least = None if found is None else found[1].lower if program.sense == "maximize" else found[1].upper
    better = _simple(program, objective, effort, least, fits, closed)
    if first is not None and better is None:
        return first
    if first is None and better is None:
        warnings += why[1:] or ["no mechanism was found in time"]
    elif first is None and why[-1]:
        warnings.append(f"a simple mechanism is shown: {why[-1]}")
    second = _prove_of(*rest, better or (None, None, None), warnings, bool(fits))
    if first is None or first.limit is None:
        return second
    if first.status == "certified" and second.status != "certified":
        return first
    # The bound that was proved with the other mechanism as its witness is as true of this one.
    if second.limit is None or program.sign * (second.limit - first.limit) > 0:
        return replace(second, status="bounded", limit=first.limit, certificate=None, verdict=None)
    return second


def _prove_of(
    program: Program,
    objective: Objective,
    outputs: tuple[str, ...] | None,
    options: SolveOptions,
    effort: SolveLimits,
    answer: Answer,
    found: Found | tuple[None, None, None],
    said: Sequence[str],
    loose: bool,
) -> Assembled:
    """The result for a mechanism and the answer's bound; `loose` programs lack constraints: no certificate."""
    warnings = list(said)
    mechanism, own, decomposition = found
    if mechanism is not None and program.outputs is None:
        mechanism = _labelled(mechanism, outputs, warnings)
    by_actions, merges = is_by_actions(program, answer.stated), is_merged(program)
    if mechanism is not None and by_actions and merges:
        mechanism = merge_outputs(mechanism, program.utility, answer.stated)
    if mechanism is not None and own is not None and not loose and misnamed(mechanism):
        held = [program] if answer.stated is None or (by_actions and not merges) else [program, answer.stated]
        whole: Found = mechanism, own, decomposition
        better = effort.clock.within(ROUNDED, lambda: _named_well(held, objective, effort, whole))
        mechanism, own, decomposition = better or whole
        # A step toward well-named outputs leaves a little in outputs that are not best used for their own actions.
        merges = merges and mechanism is whole[0]
    at_one_prior = isinstance(program.utility, Capacity) and answer.stated is not None
    worst = isinstance(program.utility, LeastInformation) or at_one_prior
    shown = _mixed_value(answer.stated, mechanism) if worst else own
    witness = mechanism
    if mechanism is not None and own is not None and by_actions and not merges:
        shown = linear_value(answer.stated, mechanism)
        if not _is_within(shown, own.upper, program, options):
            witness = None
            warnings.append(RENAMED)
    limit, certificate, verdict = _prove(answer.stated or program, witness, shown, answer, effort, warnings)
    attained = own
    if own is not None and mechanism is not None and objective.units == "bits":
        attained = in_units(own, "bits") if worst else objective.value(mechanism)
    if worst and verdict is not None and not loose:
        warnings.append(_seen(program, answer.stated, verdict))
    apart = _is_apart(program, answer)
    if apart and certificate is not None:
        warnings.append(APART)
    if loose or worst or apart:
        certificate = verdict = None
    if limit is not None:
        ends = in_units(Interval.point(limit), objective.units)
        limit = ends.upper if program.sign > 0 else ends.lower
    if (distance := gap_of(program.sense, attained, limit)) is not None and distance < 0:
        warnings.append("value and bound contradict each other: this is a defect of rropt, please report it")
    accepted = verdict is not None and verdict.proved and verdict.by != ""
    rounding = in_units(Interval.point(grain(program, options.gap)), objective.units).lower
    reached = accepted and _is_within(attained, limit, program, options, rounding)
    asked = Fraction(options.gap), Fraction(options.absolute_gap)
    certified = reached and is_certified(program.sense, attained, limit, *asked, rounding)
    if reached and not certified:
        warnings.append(FAR)
    if certified and not _is_within(attained, limit, program, options):
        unit = f" {objective.units}" if objective.units else ""
        warnings.append(
            f"the gap is above the requested one; certified, because rounding may cost {float(rounding):.1e}{unit}"
        )
    if mechanism is not None:
        mechanism = own_mechanism(program, mechanism)
        warnings += effort.clock.within(LAST, lambda: _uninformative(mechanism, objective, program)) or ()
        mechanism = _honest(mechanism, warnings)
    status: Status = "certified" if certified else "bounded"
    return Assembled(status, mechanism, attained, limit, certificate, verdict, tuple(warnings), decomposition)


def _named_well(programs: Sequence[Program], objective: Objective, effort: SolveLimits, found: Found) -> Found | None:
    """The same with its columns in an order in which no output has the name of an input that is not the likeliest, or
    next to the same where only rounding says that it is not; None where neither keeps the programs, the value and the
    bounds on weights of permutations."""
    mechanism, own, weights = found
    mixture = programs[0].extra(Mixture)
    order = well_named_order(programs, mechanism)
    if order is not None:
        moved, to = _moved(mechanism, weights, order)
        place = {label: x for x, label in enumerate(mechanism.inputs)}
        placed = {tuple(map(place.__getitem__, names)): weight for names, weight in (to or {}).items()}
        if mixture is None or (placed and not mixture.breach(placed)):
            return moved, own, to
    if mixture is not None or math.isinf(own.upper):
        return None
    sign = programs[0].sign
    for near in well_named_near(programs, mechanism):
        value = objective.enclosed(near, effort.allowed / 4, _left(effort))
        lost = own.lower - value.lower if sign > 0 else value.upper - own.upper
        # A linear problem in the place of this one may distinguish outputs where the objective does not.
        lost = max(lost, *(one.sign * (linear_of(one, mechanism) - linear_of(one, near)) for one in programs))
        return (near, value, None) if lost <= Fraction(effort.allowed) / 8 else None
    return None


def _moved(
    mechanism: Mechanism, weights: Decomposition | None, order: tuple[int, ...]
) -> tuple[Mechanism, Decomposition | None]:
    """A mechanism with its columns in another order, and the weights of its permutations."""
    if weights is not None:
        to = {mechanism.outputs[y]: label for label, y in zip(mechanism.outputs, order, strict=True)}
        weights = {tuple(map(to.__getitem__, names)): weight for names, weight in weights.items()}
    return in_order(mechanism, order), weights


def _honest(mechanism: Mechanism, warnings: list[str]) -> Mechanism:
    """The mechanism with neutral names where its own would mislead; `warnings` get why."""
    why, found = misleading(mechanism), honest(mechanism)
    if why:
        first, last, those = found.outputs[0], found.outputs[-1], named(mechanism.outputs)
        warnings.append(
            f"the outputs are called {first!r} to {last!r}, in the order of those declared ({those}), "
            f"whose names would mislead: {why}"
        )
    return found


def _is_apart(program: Program, answer: Answer) -> bool:
    """Whether divergences or capacities are not stated by the certificate, which is of rows in their place."""
    notions, stated = program.extra(DivergenceLimits), answer.stated or program
    return notions is not None and not (notions.is_stated and stated.extra(DivergenceLimits) == notions)


def _labelled(mechanism: Mechanism, outputs: tuple[str, ...] | None, warnings: list[str]) -> Mechanism:
    """The mechanism with the labels that were asked for, where they are enough; else with labels that no input has."""
    if outputs is None:
        default, names = (neutral(inputs, len(mechanism.outputs)) for inputs in ((), mechanism.inputs))
        return mechanism.relabelled(names) if mechanism.outputs == default != names else mechanism
    if len(outputs) >= len(mechanism.outputs):
        return mechanism.relabelled(outputs)
    needed, given = counted(len(mechanism.outputs), "outputs"), counted(len(outputs), "labels")
    warnings.append(f"{needed} are needed and {given} were given: they are not used")
    return mechanism


def _uninformative(mechanism: Mechanism, objective: Objective, program: Program) -> tuple[str, ...]:
    """The warning that a mechanism of less than full rank identifies no frequencies, and what to do."""
    rank = _rank(mechanism)
    if rank == len(mechanism.inputs):
        return ()
    remedy = "rropt identify (rropt.estimation.identifying in Python) mixes in a design that does"
    if (objective.kind == Trace.kind and objective.prior is None) or tightest_log(program.cone) <= 0:
        remedy = "loosen the constraints"
    return (
        f"this mechanism does not identify the frequencies: {counted(rank, 'independent outputs')} for "
        f"{counted(len(mechanism.inputs), 'inputs')}; {remedy}",
    )


def _is_within(
    attained: Interval | None,
    limit: Fraction | None,
    program: Program,
    options: SolveOptions,
    rounding: Fraction | int = 0,
) -> bool:
    """Whether value and bound are as close as was asked for, or as `rounding` lets them be."""
    absolute = max(Fraction(options.absolute_gap), Fraction(rounding))
    return is_reached(program.sense, attained, limit, Fraction(options.gap), absolute)


def _round(program: Program, objective: Objective, effort: SolveLimits, answer: Answer, why: list[str]) -> Found | None:
    """The exact mechanism of an answer, its value in the utility's unit and the weights of its permutations."""
    exact = round_draft(program, answer.draft)
    if exact is None:
        return None
    if isinstance(exact, Refusal):
        why.append(f"no exact mechanism: {exact}")
        return None
    mechanism, weights = exact
    # Half of the time that is left is for the proof.
    left = _left(effort)
    value = objective.enclosed(mechanism, effort.allowed / 4, None if left is None else left / 2)
    effort.found(float(value.lower))
    return mechanism, value, None if weights is None else _named(program, weights)


def _simple(
    program: Program,
    objective: Objective,
    effort: SolveLimits,
    least: Fraction | float | None,
    fits: Callable[[Mechanism], bool] | None,
    closed: Sequence[Mechanism],
) -> Found | None:
    """The best simple mechanism, if better than `least`; without time that in closed form, which was sought first, or
    groups or a constant."""
    within, target = effort.clock.within, program.linearised()
    known = None if least is None or math.isinf(least) else float(least)
    weights: Decomposition | None = None
    if program.extra(Mixture) is None:
        compared = within(COMPARED, lambda: [best_candidate(target, objective, known, fits)])
        ended, mechanism = compared is None, None if compared is None else compared[0]
    else:
        simple = within(COMPARED, lambda: best_mixture(program, objective, known))
        ended, (mechanism, weights) = False, (None, None) if simple is None else (simple[0], _named(program, simple[1]))
    if mechanism is None and (ended or least is None):
        last = partial(last_resort, target, objective, fits)
        # Where what came before took the time of this step too, it has a little of its own.
        found = (within(LAST, last) or Clock(0.0).within(LEAST, last)) if is_slow(target, fits) else last()
        both = [*closed, *([] if found is None else [found])]
        mechanism = max(both, key=lambda one: target.sign * worth_of(target.utility, objective, one), default=None)
    if mechanism is None:
        return None
    value = objective.enclosed(mechanism, effort.gap / 4, _left(effort))
    better = least is None or (value.lower > least if program.sense == "maximize" else value.upper < least)
    return (mechanism, value, weights) if better else None


def _left(effort: SolveLimits) -> float | None:
    """Seconds for the mechanism; None without a limit."""
    left = effort.remaining()
    return None if left is None else max(left, GRACE)


def _mixed_value(relaxed: Program | None, mechanism: Mechanism | None) -> Interval | None:
    """The value of a mechanism in the problem of a mixture of distributions, nats."""
    if relaxed is None or mechanism is None or not isinstance(relaxed.utility, Information):
        return None
    prior = Prior(relaxed.inputs, relaxed.weights)
    return MutualInformation(prior, given=relaxed.utility.given).own_value(mechanism)


def _seen(program: Program, relaxed: Program | None, verdict: Verdict) -> str:
    """The part of a capacity or of a least information that the checker proves, and the part that it does not."""
    assert relaxed is not None and isinstance(relaxed.utility, Information)
    accepts = "accepts" if verdict.proved else "does not accept"
    if isinstance(program.utility, Capacity):
        return (
            f"not machine-checked: the certificate is of the information at one prior, and the checker {accepts} it; "
            f"the capacity is that at the worst one"
        )
    count = 1 if relaxed.utility.given is None else len(relaxed.utility.given[0])
    of = "at one distribution of it" if count == 1 else f"given which of {count} of its distributions was drawn"
    return (
        f"not machine-checked: the certificate format cannot state the least information over a set. The checker "
        f"{accepts} the bound as "
        f"that of the information {of}; rropt itself proves in rationals that they are of the set, and the value"
    )


def in_units(value: Interval, units: str) -> Interval:
    """A value in the utility's own unit (nats, or none) in `units`."""
    if units != "bits":
        return value
    lower = enclosure(lambda: ball(value.lower) / arb(2).log())
    upper = enclosure(lambda: ball(value.upper) / arb(2).log())
    return Interval(lower.lower, upper.upper)


def unit_in(units: str) -> float:
    """The utility's own unit in `units`."""
    return float(in_units(Interval.point(Fraction(1)), units))


def _named(program: Program, weights: Mapping[Places, Fraction]) -> Decomposition:
    """Weights of permutations by their outputs, the largest first."""
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {tuple(program.inputs[y] for y in places): weight for places, weight in ranked}


def _prove(
    program: Program,
    mechanism: Mechanism | None,
    own: Interval | None,
    answer: Answer,
    effort: SolveLimits,
    warnings: list[str],
) -> tuple[Fraction | None, Certificate | None, Verdict | None]:
    """(bound, certificate, verdict) with the mechanism as witness; `own` is its value in the utility's unit."""
    # What checkers compute exactly needs no room. All else they enclose, even where it happens to be rational.
    is_exact = own is not None and own.lower == own.upper and isinstance(program.utility, EXACT)
    value = own if own is None or is_exact or math.isinf(own.upper) else own.widened(VALUE_BITS)
    within = effort.clock.within
    attained = None if value is None else float(value.lower)
    proof = within(PROVED, lambda: prove(program, answer.dual, effort, attained, answer.steps)) or Refusal(
        "the time limit ended its proof"
    )
    if isinstance(proof, Refusal):
        known = within(CHECKED, lambda: relaxed_bound(program)) or simple_bound(program)
        weaker = within(CHECKED, lambda: prove_without(program, effort, attained))
        if weaker is None or not _is_as_good(program, weaker.bound, known, effort):
            reason = "" if known is None else f"; the bound shown is {known[1]}"
            warnings.append(f"not machine-checked: {proof}{reason}")
            return (None if known is None else known[0]), None, None
        warnings.append(f"{said_of(weaker)}: {proof}")
        proof = weaker
    if mechanism is None or value is None:
        return proof.bound, None, None
    if math.isinf(value.upper):
        warnings.append("not machine-checked: the mechanism's value is infinite, which a certificate cannot state")
        return proof.bound, None, None
    if not is_stated(program):
        warnings.append("not machine-checked: the certificate format does not have this curve")
        return proof.bound, None, None
    certificate = _stated(lambda: Certificate.of_optimum(program, mechanism, value, proof), warnings)
    if certificate is None:
        return proof.bound, None, None
    data = certificate.to_json().encode()
    verdict = within(CHECKED, lambda: check_bytes(data))
    stronger = None if verdict is None else within(CHECKED, lambda: strengthen(verdict, data, designs=False))
    if verdict is None:
        warnings.append("the time limit ended the check of the certificate: run rropt check, which has no limit")
    elif stronger is None:
        warnings.append(
            "the time limit ended the kernel's check of the certificate: run rropt check --core, which has no limit"
        )
    elif not stronger.proved:
        warnings.append(f"the certificate is not accepted: {stronger.reason}")
    return proof.bound, certificate, stronger or verdict


def _stated(make: Callable[[], Certificate], warnings: list[str]) -> Certificate | None:
    """A certificate; None, and why, where its proof cannot be written in lines."""
    try:
        return make()
    except RefutedError:
        warnings.append("not machine-checked: the kernel refuses what its lines are made of (REFUTED)")
    except OutsideCoreError as outside:
        warnings.append(f"not machine-checked: {outside}")
    return None


def _is_as_good(
    program: Program, bound: Fraction | None, known: tuple[Fraction, str] | None, effort: SolveLimits
) -> bool:
    """Whether a bound that is proved is no worse than the known one by more than the gap that is allowed."""
    if bound is None or known is None:
        return bound is not None
    return float(program.sign * (bound - known[0])) <= max(effort.allowed, effort.gap * abs(float(known[0])))


def _infeasible(program: Program, answer: Answer, warnings: list[str]) -> Assembled | None:
    assert answer.farkas is not None
    reduced = program.linearised()
    proof = prove_infeasible(reduced, answer.farkas, answer.steps)
    if proof is None:
        return None
    certificate = _stated(lambda: Certificate.of_infeasibility(reduced, proof), warnings)
    if certificate is None:
        return None
    data = certificate.to_json().encode()
    verdict = strengthen(check_bytes(data), data)
    if not verdict.proved:
        warnings.append(f"the proof of infeasibility is not accepted: {verdict.reason}")
        return None
    return Assembled("infeasible", certificate=certificate, verdict=verdict, warnings=tuple(warnings))


def _rank(mechanism: Mechanism) -> int:
    """The rank, or that in floats where it is less: rounding a singular optimum may make it regular by 2^-53."""
    if mechanism.shape[0] * mechanism.shape[1] > LARGEST_RANK:
        return mechanism.rank
    return min(mechanism.rank, float_rank(mechanism.matrix))
