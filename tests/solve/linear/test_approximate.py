"""(epsilon, delta)-LDP: definition, form, certified optima against a formula, and what the certificate proves."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import chain, combinations, permutations

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.checker import check_bytes
from rropt.errors import InputError
from rropt.problem_file import parse_problem
from rropt.program.events import ApproximateBound
from rropt.program.programs import Program
from rropt.prove.certificates import Proof
from rropt.solve.engine.method import SolveLimits
from rropt.solve.linear.linear import LinearMethod
from rropt.solve.registry import prove_infeasible

F = Fraction


def by_sets(mechanism: rr.Mechanism, gamma: Fraction) -> Fraction:
    """The definition over all events: the largest P(S | x) - gamma P(S | z)."""
    k, m = mechanism.shape
    events = chain.from_iterable(combinations(range(m), size) for size in range(m + 1))
    return max(
        sum((mechanism.entry(x, y) - gamma * mechanism.entry(z, y) for y in event), F(0))
        for event in events
        for x, z in permutations(range(k), 2)
    )


@pytest.mark.parametrize("seed", range(12))
def test_violation_is_that_of_the_worst_event_and_of_the_worst_row(seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 7, (4, 4)) + (np.arange(4) == 0)
    design = rr.Mechanism.from_rationals([[F(int(n), int(row.sum())) for n in row] for row in rows])
    rule = rr.ApproximateLDP(gamma="3/2", delta="0.1")
    assert rule.violation(design) == max(by_sets(design, F(3, 2)), F(0)) - F(1, 10)
    excess = max(row.excess(design) for row in rule.rows(design.inputs, design.outputs))
    assert (excess <= 0) == (rule.violation(design) <= 0)
    at_one = rr.ApproximateLDP(epsilon=1, delta="0.1")
    assert at_one.violation(design) == rr.ordering.delta_of(design, 1).upper - F(1, 10)


@pytest.mark.parametrize("level", [{"gamma": 3}, {"gamma": "1.2"}, {"epsilon": 1}])
@pytest.mark.parametrize("delta", ["0.2", "0.01", "1e-6"])
@pytest.mark.parametrize("k", graded([3], [2, 5]))
def test_most_truth_is_the_published_formula(k: int, delta: str, level: dict[str, object]) -> None:
    """k (gamma + (k - 1) delta) / (gamma + k - 1): averaging over relabellings keeps trace and privacy, so one
    number on the diagonal and one beside it are enough, and p - gamma (1 - p) / (k - 1) <= delta is left."""
    rule = rr.ApproximateLDP(**level, delta=delta)
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=range(k)).solve(gap=1e-9)
    assert solution.status == "certified"
    assert solution.warnings == () or not any("privacy" in line for line in solution.warnings)
    ends = [k * (g + (k - 1) * F(delta)) / (g + k - 1) for g in (rule.level.ratio.lower, rule.level.ratio.upper)]
    assert solution.attained.upper <= ends[1]
    assert solution.limit >= ends[0]
    assert solution.limit - solution.attained.lower < F(1, 10**9)
    # Privacy exactly, from the definition, at the lower end of the ratio.
    assert rule.violation(solution.mechanism) <= 0
    assert by_sets(solution.mechanism, rule.level.ratio.lower) <= F(delta)


def test_the_certificate_itself_proves_the_privacy() -> None:
    """Every event's row stands in it, and a mechanism that leaks more is refused by the checker."""
    rule = rr.ApproximateLDP(gamma=2, delta="0.05")
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=range(3)).solve()
    document = json.loads(solution.certificate.to_json())
    assert len(document["problem"]["rows"]) == 6 * 6
    assert check_bytes(json.dumps(document).encode()).proved
    # Row 0 gives to output 1 what it takes from output 2: the trace stays, the event {2} now tells 2 from 0 too well.
    one, two = (document["mechanism"]["columns"][y]["dense"] for y in (1, 2))
    one[0], two[0] = str(int(one[0]) + 10**9), str(int(two[0]) - 10**9)
    verdict = check_bytes(json.dumps(document).encode())
    assert not verdict.proved
    assert "delta 3 to 1 in 4" in verdict.reason


def test_problem_files_declare_it() -> None:
    text = """
schema = 1
name = "approximate"
[input]
categories = ["a", "b", "c"]
[objective]
maximize = "trace"
[[constraint]]
kind = "approximate_ldp"
epsilon = 1
delta = 0.01
"""
    problem = parse_problem(text)
    assert problem.constraints == (rr.ApproximateLDP(epsilon=1, delta="0.01"),)
    assert parse_problem(rr.problem_file.problem_to_toml(problem)).constraints == problem.constraints


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rr.ApproximateLDP(epsilon=1), "delta is missing"),
        (lambda: rr.ApproximateLDP(epsilon=1, delta=0), "for 0 use LDP"),
        (lambda: rr.ApproximateLDP(epsilon=1, delta=1), "between 0 and 1"),
        (lambda: rr.ApproximateLDP(delta="0.1"), "epsilon or gamma"),
        (lambda: rr.ApproximateLDP(gamma=1, delta="0.1"), "not above 1"),
        (lambda: rr.ApproximateLDP(epsilon=1, delta=F(1, 3**400)), "too many"),
        (
            lambda: rr.Problem(
                rr.Maximize(rr.Trace()),
                [rr.ApproximateLDP(1, delta="0.1"), rr.ApproximateLDP(2, delta="0.01")],
                inputs=range(8),
            ),
            "declare one of them",
        ),
        (
            lambda: rr.Problem(
                rr.Maximize(rr.MutualInformation(rr.Prior.uniform(3))), [rr.ApproximateLDP(1, delta="0.1")]
            ).solve(),
            "it needs outputs",
        ),
    ],
)
def test_bad_input(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]


def rederived(solution: rr.Solution) -> Fraction:
    """The number that a proof by events yields, after every column is tested in rationals (the cone is free)."""
    document = json.loads(solution.certificate.to_json())
    problem, proof = document["problem"], document["proof"]
    bound = solution.problem.compile().extra(ApproximateBound)
    assert bound is not None
    assert problem["cone"] == {"kind": "free"}
    gamma, k, m = bound.level.ratio.upper, len(problem["inputs"]), len(problem["outputs"])
    prices = [F(a) for a in proof["prices"]]
    residual = [[-prices[x] for _ in range(m)] for x in range(k)]
    if proof["kind"] == "linear-dual":
        for x, y, value in problem["utility"]["cost"]:
            residual[x][y] += F(value)
    total = sum(prices, F(0))
    for number, row in zip(proof["rows"], problem["rows"], strict=True):
        assert F(number) >= 0
        total += F(number) * F(row["rhs"])
        for x, y, value in row["terms"]:
            residual[x][y] -= F(number) * F(value)
    keys = []
    for x, z, members, number in proof["events"]:
        keys.append((x, z, members))
        assert x != z
        assert members == sorted(set(members))
        assert F(number) > 0
        total += F(number) * bound.delta
        for y in members:
            residual[x][y] -= F(number)
            residual[z][y] += F(number) * gamma
    assert keys == sorted(keys)
    assert max(max(row) for row in residual) <= 0
    return total


def test_events_stand_beside_other_rows() -> None:
    prior = rr.Prior.from_counts(list(range(1, 11)))
    rules = [rr.ApproximateLDP(epsilon="0.5", delta="0.05"), rr.Floor("0.15")]
    solution = rr.Problem(rr.Maximize(rr.Trace(prior)), rules).solve(gap=1e-8)
    assert all(rule.violation(solution.mechanism) <= 0 for rule in rules)
    assert solution.gap <= 1e-8
    assert rederived(solution) == solution.limit
    private = rr.Problem(rr.Maximize(rr.Trace(prior)), [rules[1], rr.LDP(epsilon="0.5")]).solve()
    assert private.bound is None or private.bound < solution.value


def test_no_mechanism_is_proved_by_events_too() -> None:
    """A diagonal of 0.9 among nine tells far more than delta allows."""
    rules = [rr.ApproximateLDP(epsilon="0.5", delta="0.05"), rr.Floor("0.9")]
    program = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=range(9)).compile()
    answer = LinearMethod().solve(program, SolveLimits())
    proof = prove_infeasible(program, answer.farkas)
    assert proof.payload["kind"] == "farkas"
    assert proof.payload["events"]
    assert rederived_total(program, proof) < 0


def rederived_total(program: Program, proof: Proof) -> Fraction:
    """What must be negative, after the test of every column."""
    bound = program.extra(ApproximateBound)
    k, m = program.size, len(program.outputs)
    prices = [F(a) for a in proof.payload["prices"]]
    total = sum(prices, F(0))
    residual = [[-prices[x] for _ in range(m)] for x in range(k)]
    for number, row in zip(proof.payload["rows"], program.rows, strict=True):
        total += F(number) * row.rhs
        for x, y, value in row.terms:
            residual[x][y] -= F(number) * value
    for x, z, members, number in proof.payload["events"]:
        total += F(number) * bound.delta
        for y in members:
            residual[x][y] -= F(number)
            residual[z][y] += F(number) * bound.level.ratio.upper
    assert max(max(row) for row in residual) <= 0
    return total


def test_over_that_many_events_information_and_risks_are_bounded() -> None:
    prior = rr.Prior.uniform(8)
    rules, outputs = [rr.ApproximateLDP(1, delta="0.1")], list("abcdefgh")
    found = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules, outputs=outputs).solve(time_limit=0.3)
    assert found.status == "bounded"
    assert 0 < found.value < found.bound < 1
    other = rr.Problem(rr.Minimize(rr.DOptimality(prior)), rules, outputs=outputs).solve(time_limit=0.3)
    assert other.status == "bounded"
    assert other.bound < other.value
