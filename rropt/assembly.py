"""From a route's floating-point answer to an exact mechanism, a proof and the checker's verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from flint import arb

from rropt.certificates import Certificate
from rropt.checker import Verdict, check_bytes
from rropt.errors import Refusal
from rropt.exact import Interval, ball, enclosure, rational
from rropt.inference.linear import float_rank
from rropt.least_information import LeastInformation
from rropt.mechanisms.mechanism import Mechanism
from rropt.objectives import MutualInformation, Objective, Trace
from rropt.priors import Prior
from rropt.programs import BayesGain, Information, Linear, Program, Sense
from rropt.proofs import prove, prove_infeasible
from rropt.proofs.relaxation import relaxed_bound
from rropt.rounding import round_off_diagonals, round_to_mechanism
from rropt.routes import Answer, Dual, Effort
from rropt.routes.base import GRACE
from rropt.routes.lp import AGAIN, GAVE_UP
from rropt.weight_rounding import round_weights

LARGEST_RANK = 1 << 18
"""Entries of a matrix whose rank is looked at in floats too."""

Status = Literal["certified", "bounded", "infeasible"]

VALUE_BITS = 96
"""An irrational value is widened by 2^-96 before it is written, so that the checker's enclosure fits inside."""


@dataclass(frozen=True)
class Assembled:
    """What can be said for certain after a solve; the fields are those of `Solution`."""

    status: Status
    mechanism: Mechanism | None = None
    attained: Interval | None = None
    limit: Fraction | None = None
    certificate: Certificate | None = None
    verdict: Verdict | None = None
    warnings: tuple[str, ...] = ()
    decomposition: dict[tuple[str, ...], Fraction] | None = None


def assemble(
    program: Program,
    objective: Objective,
    outputs: tuple[str, ...] | None,
    gap: object,
    effort: Effort,
    answer: Answer,
) -> Assembled:
    """Round, prove, certify and check a route's answer. `outputs` are labels that the caller wants where the
    program leaves them free; `gap` is the wanted one, relative to max(1, |bound|), in the objective's unit."""
    warnings = list(answer.notes)
    if not (_is_finite(answer.dual) and _is_finite(answer.farkas)):
        answer = replace(answer, dual=None, farkas=None)
        warnings.append("the solver's multipliers are not all finite numbers: none of them is used")
    if answer.claim.status.startswith(GAVE_UP):
        warnings.append(
            f"{answer.claim.solver} {answer.claim.status}: what is shown was found without it, and says nothing about "
            f"what the problem allows; {AGAIN}"
        )
    if answer.farkas is not None:
        infeasible = _infeasible(answer.relaxed or program, answer, warnings)
        if infeasible is not None:
            return infeasible
        warnings.append("the solver found no mechanism, but that none exists could not be proved")
    if program.mixture is None:
        mechanism, decomposition = _mechanism(program, answer, warnings), None
    else:
        mechanism, decomposition = _mixture(program, answer, warnings)
    if mechanism is not None and program.outputs is None and outputs is not None:
        if len(outputs) >= len(mechanism.outputs):
            mechanism = mechanism.relabelled(outputs)
        else:
            warnings.append(
                f"{len(mechanism.outputs)} outputs are needed and {len(outputs)} labels were given: they are not used"
            )
    worst = isinstance(program.utility, LeastInformation)
    own = None if mechanism is None else objective.enclosed(mechanism, effort.gap / 4, _left(effort))
    shown = _mixed_value(answer.relaxed, mechanism) if worst else _linear_value(program, answer.relaxed, mechanism, own)
    limit, certificate, verdict = _proved(answer.relaxed or program, mechanism, shown, answer, effort, warnings)
    attained = own
    if own is not None and mechanism is not None and objective.units == "bits":
        attained = in_units(own, "bits") if worst else objective.value(mechanism)
    if worst and verdict is not None:
        warnings.append(_seen(answer.relaxed, verdict))
        certificate, verdict = None, None
    if limit is not None:
        limit = in_units(Interval.point(limit), objective.units).upper if program.sign > 0 else limit
    distance = gap_of(program.sense, attained, limit)
    reached = (
        distance is not None and limit is not None and distance <= rational(gap, "gap") * max(Fraction(1), abs(limit))
    )
    if distance is not None and distance < 0:
        warnings.append("value and bound contradict each other: this is a fault of rropt, please report it")
    certified = reached and distance is not None and distance >= 0 and verdict is not None and verdict.proved
    rank = None if mechanism is None else _rank(mechanism)
    if mechanism is not None and rank is not None and rank < len(mechanism.inputs):
        remedy = (
            "loosen the constraints"
            if objective.kind == Trace.kind and objective.prior is None
            else "rropt.identifying(solution.mechanism, share='0.05') mixes in a design that does"
        )
        warnings.append(
            f"this mechanism identifies no frequencies: {rank} independent outputs for "
            f"{len(mechanism.inputs)} inputs; {remedy}"
        )
    return Assembled(
        "certified" if certified else "bounded",
        mechanism,
        attained,
        limit,
        certificate,
        verdict,
        tuple(warnings),
        decomposition,
    )


def _left(effort: Effort) -> float | None:
    """Seconds for what must still be found of the mechanism; None without a limit."""
    left = effort.remaining()
    return None if left is None else max(left, GRACE)


def _linear_value(
    program: Program, relaxed: Program | None, mechanism: Mechanism | None, own: Interval | None
) -> Interval | None:
    """What a mechanism has in the linear problem that stands for that of a Bayes gain: rounding may change the best
    action of an output of next to no mass, and so the gain by a hair. Elsewhere its own value."""
    if mechanism is None or relaxed is None or not isinstance(program.utility, BayesGain):
        return own
    if not isinstance(relaxed.utility, Linear):
        return own
    terms = relaxed.utility.cost
    return Interval.point(sum((value * mechanism.entry(x, y) for x, y, value in terms), Fraction(0)))


def _mixed_value(relaxed: Program | None, mechanism: Mechanism | None) -> Interval | None:
    """What a mechanism has in the problem of a mixture of distributions, nats."""
    if relaxed is None or mechanism is None or not isinstance(relaxed.utility, Information):
        return None
    prior = Prior(relaxed.inputs, relaxed.weights)
    return MutualInformation(prior, given=relaxed.utility.given).own_value(mechanism)


def _seen(relaxed: Program | None, verdict: Verdict) -> str:
    """What of a least information the checker has seen, and what not."""
    assert relaxed is not None and isinstance(relaxed.utility, Information)
    count = 1 if relaxed.utility.given is None else len(relaxed.utility.given[0])
    of = "at one distribution of it" if count == 1 else f"given which of {count} of its distributions was drawn"
    accepts = "accepts" if verdict.proved else "does not accept"
    return (
        f"not machine-checked: certificates have no word for the least over a set. The checker {accepts} the bound as "
        f"that of the information {of}; that they are of the set, and the value, rropt proves in rationals"
    )


def _is_finite(dual: Dual | None) -> bool:
    """Whether all multipliers are numbers; a solver that broke down may return NaN."""
    if dual is None:
        return True
    parts = (dual.prices, dual.rows, dual.multipliers, dual.flows, dual.floor, dual.tilts, dual.forms, dual.factors)
    return all(part is None or bool(np.all(np.isfinite(part))) for part in parts)


def gap_of(sense: Sense, attained: Interval | None, limit: Fraction | None) -> Fraction | None:
    """The distance of the bound and the certain value; None unless both are known."""
    if attained is None or limit is None:
        return None
    return limit - attained.lower if sense == "maximize" else attained.upper - limit


def in_units(value: Interval, units: str) -> Interval:
    """A value in the utility's own unit (nats, or none) in `units`."""
    if units != "bits":
        return value
    lower = enclosure(lambda: ball(value.lower) / arb(2).log())
    upper = enclosure(lambda: ball(value.upper) / arb(2).log())
    return Interval(lower.lower, upper.upper)


def _mechanism(program: Program, answer: Answer, warnings: list[str]) -> Mechanism | None:
    outputs = program.outputs if answer.outputs is None else answer.outputs
    matrix = answer.matrix
    if answer.blocks is not None:
        found = answer.blocks.mechanism(program.inputs)
        if missed := program.excess(found):
            warnings.append(f"no exact mechanism: inverse-frequency blocks leave no room for {', '.join(missed)}")
            return None
        return found
    if program.structure is not None:
        off_diagonal = answer.off_diagonal
        near = np.full(program.size, 1 / program.size) if off_diagonal is None else off_diagonal
        exact = round_off_diagonals(program, near)
        if isinstance(exact, Refusal):
            warnings.append(f"no exact mechanism: {exact}")
            return None
        return exact
    if matrix is None:
        # Nothing was found: the rounding then starts from its own feasible point.
        matrix = np.zeros((program.size, 1 if outputs is None else len(outputs)))
    # A Bayes gain is solved over its actions, which the program itself leaves free.
    rounded = round_to_mechanism(replace(program, outputs=outputs), matrix, outputs)
    if isinstance(rounded, Refusal):
        warnings.append(f"no exact mechanism: {rounded}")
        return None
    return rounded


def _mixture(
    program: Program, answer: Answer, warnings: list[str]
) -> tuple[Mechanism | None, dict[tuple[str, ...], Fraction] | None]:
    """The exact mechanism of weights of permutations, and the weights by their outputs."""
    if answer.mixing is None:
        return None, None
    exact = round_weights(program, answer.mixing)
    if isinstance(exact, Refusal):
        warnings.append(f"no exact mechanism: {exact}")
        return None, None
    mechanism, weights = exact
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return mechanism, {tuple(program.inputs[y] for y in places): weight for places, weight in ranked}


def _proved(
    program: Program,
    mechanism: Mechanism | None,
    own: Interval | None,
    answer: Answer,
    effort: Effort,
    warnings: list[str],
) -> tuple[Fraction | None, Certificate | None, Verdict | None]:
    """(bound, certificate, verdict); the certificate needs a mechanism as its witness. `own` is the mechanism's value
    in the utility's unit."""
    value = own if own is None or own.lower == own.upper else own.widened(VALUE_BITS)
    proof = prove(program, answer.dual, effort, None if value is None else float(value.lower))
    if isinstance(proof, Refusal):
        known = relaxed_bound(program)
        reason = "" if known is None else f"; the bound shown is {known[1]}"
        warnings.append(f"not machine-checked: {proof}{reason}")
        return (None if known is None else known[0]), None, None
    if mechanism is None or value is None:
        return proof.bound, None, None
    certificate = Certificate.of_optimum(program, mechanism, value, proof)
    verdict = check_bytes(certificate.to_json().encode())
    if not verdict.proved:
        warnings.append(f"the checker does not accept the certificate: {verdict.reason}")
    return proof.bound, certificate, verdict


def _infeasible(program: Program, answer: Answer, warnings: list[str]) -> Assembled | None:
    assert answer.farkas is not None
    reduced = program.linearised()
    proof = prove_infeasible(reduced, answer.farkas)
    if proof is None:
        return None
    certificate = Certificate.of_infeasibility(reduced, proof)
    verdict = check_bytes(certificate.to_json().encode())
    if not verdict.proved:
        warnings.append(f"the checker does not accept the proof of infeasibility: {verdict.reason}")
        return None
    return Assembled("infeasible", certificate=certificate, verdict=verdict, warnings=tuple(warnings))


def _rank(mechanism: Mechanism) -> int:
    """The rank, or that in floats where it is less: rounding a singular optimum may make it regular by 2^-53."""
    if mechanism.shape[0] * mechanism.shape[1] > LARGEST_RANK:
        return mechanism.rank
    return min(mechanism.rank, float_rank(mechanism.matrix))
