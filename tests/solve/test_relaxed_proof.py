"""Bounds that leave constraints out: each is proved by a certificate of the problem itself, and is the simple one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from independent_checker.checker import check
from independent_checker.steps import after_steps
from support_cells import problem_of

import rropt as rr
from rropt.checker import check_bytes
from rropt.program.extras import Extra
from rropt.prove.certificates import Certificate, Proof
from rropt.prove.problem_digest import canonical
from rropt.prove.steps import PARTS, Drop, Gibbs, drop, lemmas, relax
from rropt.solve.assembly import prove_without, said_of
from rropt.solve.engine.method import Answer, SolveLimits, SolverClaim
from rropt.solve.relaxations.entropy_floor import gibbs_points
from rropt.solve.relaxed_bound import simple_bound

F = Fraction

OBJECTIVES = (
    *("mutual_information", "mutual_information, given", "chi_square", "minimax_risk", "d_optimality", "trace"),
    *("expected_loss", "bayes_success", "injected_entropy"),
)
RULES = ("bistochastic", "bistochastic + ldp", "entropy_rate", "bistochastic + entropy_rate + ldp", "blocks")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_simple_bound_is_proved_of_the_problem_itself(objective: str, rule: str) -> None:
    problem = problem_of(objective, rule, 4)
    program = problem.compile()
    known, proof = simple_bound(program), prove_without(program, SolveLimits(), None)
    assert known is not None
    assert proof is not None
    assert proof.bound is not None
    # Trees may be better than the universal bound; under LDP with a third variable the tree is that of the free cone.
    informed = objective == "mutual_information, given"
    assert program.sign * float(proof.bound - known[0]) < 1e-9 or (informed and "ldp" in rule)
    if "ldp" not in rule and not informed:
        assert float(proof.bound) == pytest.approx(float(known[0]), abs=1e-9)
    table = np.full((4, 4), F(1, 4))
    if objective in ("minimax_risk", "d_optimality"):
        table = (table + np.diag([F(1)] * 4)) / 2
    mechanism = rr.Mechanism.from_rationals(table.tolist(), inputs=program.inputs, outputs=program.inputs)
    if rule == "blocks" or program.excess(mechanism):
        return  # the bound alone
    value = problem.objective.own_value(mechanism)
    certificate = Certificate.of_optimum(program, mechanism, value.widened(96), proof)
    assert certificate.differences(program) == []
    data = certificate.to_json().encode()
    assert (check_bytes(data).status, check(data)) == ("PROVED", "PROVED"), check_bytes(data).reason
    assert said_of(proof).startswith(("the bound ignores ", "the bound is proved from the frequencies"))


@pytest.mark.parametrize("part", PARTS)
def test_every_part_that_a_bound_ignores_is_told_in_words(part: str) -> None:
    told = said_of(Proof({}, F(0), steps=(Drop((part,)),)))
    assert told.startswith(("the bound ignores the ", "the bound ignores approximate LDP"))
    assert len(told.split()) > 4
    assert "_" not in told


def test_what_a_bound_ignores_is_a_list() -> None:
    proof = Proof({}, F(0), steps=(Drop(("cone", "rows", "outputs")),))
    assert said_of(proof) == (
        "the bound ignores the conditions on every column, the constraints on the whole matrix and the number of "
        "outputs"
    )


@pytest.mark.parametrize(
    ("objective", "rule"),
    [("minimax_risk", "bistochastic"), ("mutual_information", "identification_risk"), ("minimax_risk", "blocks")],
)
def test_where_the_truth_is_allowed_it_is_certified(objective: str, rule: str) -> None:
    found = problem_of(objective, rule, 4).solve(time_limit=20)
    assert found.status == "certified"
    assert found.certificate is not None
    assert found.certificate.differences(found.problem.compile()) == []
    assert "steps" in found.certificate.document["proof"]
    assert found.method.startswith("identity")


class Unknown(Extra):
    """A constraint that no certificate states."""

    name = "unknown"

    def excess(self, mechanism: rr.Mechanism) -> Fraction:
        return F(0)

    def payload(self) -> dict[str, object]:
        return {}


def test_what_the_format_cannot_state_is_not_proved() -> None:
    program = problem_of("mutual_information", "bistochastic", 4).compile()
    assert prove_without(program, SolveLimits(), None) is not None
    assert prove_without(replace(program, extras=(Unknown(),)), SolveLimits(), None) is None
    assert prove_without(problem_of("e_optimality", "ldp", 4).compile(), SolveLimits(), None) is None


@pytest.mark.parametrize(
    "rule", ["bistochastic + entropy_rate + ldp", "identification_risk + ldp", "cone", "rldp, sees other"]
)
def test_a_step_is_to_the_program_what_it_is_to_the_problem(rule: str) -> None:
    """The writer relaxes a program, and the second checker rewrites its JSON: both come to the same problem."""
    program = problem_of("mutual_information", rule, 4).compile()
    (whole,) = drop(program, PARTS)
    assert set(whole.parts) <= set(PARTS)
    assert drop(relax(program, [Drop(tuple(p for p in whole.parts if p != "cone_rows"))]), PARTS) == ()
    tried = 0
    for count in range(1, 4):
        for parts in itertools.combinations(whole.parts, count):
            step = Drop(parts)
            left = relax(program, [step])
            if {"cone", "cone_rows"} <= set(parts) or (left.outputs is None and (left.rows or left.extras)):
                continue
            tried += 1
            assert canonical(left.payload()) == canonical(after_steps(program.payload(), [step.payload()])), parts
    assert tried


def test_rows_by_number() -> None:
    program = problem_of("mutual_information", "bistochastic", 4).compile()
    step = Drop(("rows",), (0, 2))
    left = relax(program, [step])
    assert left.rows == (program.rows[1], *program.rows[3:])
    assert canonical(left.payload()) == canonical(after_steps(program.payload(), [step.payload()]))


def test_rows_of_a_floor_are_weaker_than_those_of_the_format() -> None:
    program = problem_of("mutual_information", "entropy_rate", 4).compile()
    step = Gibbs(gibbs_points(np.full((4, 4), 0.1) + 0.6 * np.eye(4))[:3])
    ours, theirs = relax(program, [step]), after_steps(program.payload(), [step.payload()])
    assert lemmas([step, Drop(("outputs",))]) == ("gibbs-inequality",)
    assert len(ours.rows) == len(theirs["rows"]) == 3
    for own, row in zip(ours.rows, theirs["rows"], strict=True):
        assert own.rhs > Fraction(row["rhs"])
        for (x, y, value), (xx, yy, number) in zip(own.terms, row["terms"], strict=True):
            assert (x, y) == (xx, yy)
            assert 1e-18 < float(Fraction(number) - value) < 1e-15
    assert not ours.extras


def test_an_answer_is_of_a_program_in_its_place_or_after_steps() -> None:
    program = problem_of("trace", "bistochastic", 4).compile()
    claim = SolverClaim("none", "done", None, 0.0)
    steps = drop(program, ("rows",))
    assert (Answer(claim).stated, Answer(claim).steps) == (None, ())
    assert (Answer(claim, relaxed=program).stated, Answer(claim, relaxed=program).steps) == (program, ())
    assert (Answer(claim, relaxed=steps).stated, Answer(claim, relaxed=steps).steps) == (None, steps)


@pytest.mark.parametrize("objective", [rr.EOptimality, rr.MinimaxRisk], ids=["e_optimality", "minimax_risk"])
def test_no_certificate_states_an_infinite_value(objective: Callable[[rr.Prior], rr.Objective]) -> None:
    """Only the uniform matrix keeps a full entropy rate, and its M is singular."""
    prior = rr.Prior.from_counts([5, 3])
    problem = rr.Problem(
        rr.Minimize(objective(prior)), [rr.EntropyRate("1")], inputs=prior.labels, outputs=prior.labels
    )
    found = problem.solve(time_limit=5)
    assert found.value == float("inf")
    assert (found.status, found.certificate, found.verdict) == ("bounded", None, None)
    assert any("infinite" in one for one in found.warnings)
    assert found.limit is not None


def test_a_risk_that_is_a_short_rational_is_certified() -> None:
    """The checker encloses the risk of the identity, 5/8: the certificate leaves it room on either side."""
    prior = rr.Prior.from_counts([2, 1, 1])
    problem = rr.Problem(
        rr.Minimize(rr.MinimaxRisk(prior)), [rr.patterns.Bistochastic()], inputs=prior.labels, outputs=prior.labels
    )
    found = problem.solve(time_limit=5)
    assert found.status == "certified", found.warnings
    assert found.value == pytest.approx(5 / 8)
