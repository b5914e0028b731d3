"""A certificate proves the declared problem, or one whose bound holds for it; else the report says so in red."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from drawing import thinned
from typer.testing import CliRunner

import rropt as rr
from rropt.cli import main
from rropt.declare.constraints import Constraint
from rropt.prove.certificates import Certificate
from rropt.studies.reports.report import read_report, report_of
from rropt.studies.reports.statements import breaches, statement

ABC = ("a", "b", "c")
PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
OTHER = rr.Prior.from_counts({"a": 4, "b": 4, "c": 2})
ONE = [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
EIGHT = rr.Prior.from_counts({letter: at + 3 for at, letter in enumerate("abcdefgh")})
PAIRS = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
TRACE, BAYES = rr.Maximize(rr.Trace(PRIOR)), rr.Maximize(rr.BayesSuccess(EIGHT))
EIGHTS = rr.Maximize(rr.Trace(EIGHT))
INFORMATION, ROBUST = rr.Maximize(rr.MutualInformation(PRIOR)), rr.Maximize(rr.MutualInformation(PAIRS))


def problem(*constraints: Constraint, goal: Any = TRACE) -> rr.Problem:
    return rr.Problem(goal, constraints, outputs=EIGHT.labels if goal is BAYES else None)


PATH = nx.path_graph(ABC)
# Of each word for a constraint two problems with different optima: what the certificate is of, and what is declared.
LOOSE_AND_STRICT: dict[str, tuple[rr.Problem, rr.Problem]] = {
    "ldp": (problem(rr.LDP(2)), problem(rr.LDP(1))),
    "ldp by its ratio": (problem(rr.LDP(gamma=3)), problem(rr.LDP(1))),
    "approximate_ldp": (problem(rr.ApproximateLDP(3, delta="1/2")), problem(rr.ApproximateLDP(1, delta="0.05"))),
    "approximate_ldp, many events": (
        problem(rr.ApproximateLDP(3, delta="1/2"), goal=EIGHTS),
        problem(rr.ApproximateLDP(1, delta="0.05"), goal=EIGHTS),
    ),
    "approximate_ldp, another delta": (
        problem(rr.ApproximateLDP(1, delta="1/2"), goal=BAYES),
        problem(rr.ApproximateLDP(1, delta="0.05"), goal=BAYES),
    ),
    "utility_optimised_ldp": (
        problem(rr.privacy.UtilityOptimisedLDP(2, sensitive=["a"])),
        problem(rr.privacy.UtilityOptimisedLDP(1, sensitive=["a"])),
    ),
    "metric_dp": (problem(rr.MetricDP(PATH, epsilon=2)), problem(rr.MetricDP(PATH, epsilon=1))),
    "maximal_rldp": (
        problem(rr.MaximalRLDP(2, groups=[0, 0, 1, 1]), goal=ROBUST),
        problem(rr.MaximalRLDP(1, groups=[0, 0, 1, 1]), goal=ROBUST),
    ),
    "rldp": (
        problem(rr.RLDP(2, rr.robust.ChiSquareSet(PAIRS), form="polytope"), goal=ROBUST),
        problem(rr.RLDP(1, rr.robust.ChiSquareSet(PAIRS), form="polytope"), goal=ROBUST),
    ),
    "identification_risk": (
        problem(rr.IdentificationRisk([5, 3, 2], "0.4")),
        problem(rr.IdentificationRisk([5, 3, 2], "0.3")),
    ),
    "identification_risk, left out": (problem(rr.LDP(3)), problem(rr.LDP(3), rr.IdentificationRisk([5, 3, 2], "0.2"))),
    "entropy_rate": (
        problem(rr.patterns.Bistochastic(), rr.EntropyRate("0.3")),
        problem(rr.patterns.Bistochastic(), rr.EntropyRate("0.6")),
    ),
    "shared_entropy_rate": (
        problem(rr.SharedEntropyRate("0.3", [["a", "b"], ["c"]])),
        problem(rr.SharedEntropyRate("0.6", [["a", "b"], ["c"]])),
    ),
    "bistochastic": (problem(rr.LDP(1)), problem(rr.LDP(1), rr.patterns.Bistochastic())),
    "invariant": (problem(rr.LDP(1)), problem(rr.LDP(1), rr.Invariant(PRIOR))),
    "symmetric": (problem(rr.LDP(1)), problem(rr.LDP(1), rr.patterns.Symmetric())),
    "circulant": (problem(rr.LDP(1)), problem(rr.LDP(1), rr.patterns.Circulant())),
    "tridiagonal": (problem(rr.Floor(0)), problem(rr.patterns.Tridiagonal(), rr.LDP(2))),
    "blocks": (
        problem(rr.patterns.Bistochastic()),
        problem(rr.patterns.Blocks([["a", "c"], ["b"]]), rr.Floor(["1/2", "0", "1/2"])),
    ),
    "uniform_off_diagonal": (problem(rr.LDP(1)), problem(rr.LDP(1), rr.patterns.UniformOffDiagonal())),
    "permutation_mixture": (
        problem(rr.patterns.PermutationMixture(weights={"identity": (0, "0.999")}), goal=EIGHTS),
        problem(rr.patterns.PermutationMixture(weights={"identity": (0, "0.25")}), goal=EIGHTS),
    ),
    "permutation_mixture, fewer": (
        problem(rr.patterns.PermutationMixture(weights={"identity": (0, "1/2")}, max_terms=4), goal=EIGHTS),
        problem(rr.patterns.PermutationMixture(weights={"identity": (0, "1/2")}, max_terms=1), goal=EIGHTS),
    ),
    "forbidden": (problem(rr.Floor(0)), problem(rr.patterns.Forbidden([("a", "a")]))),
    "floor": (problem(rr.LDP(1)), problem(rr.LDP(1), rr.Floor("0.5"))),
    "linear": (
        problem(rr.LDP(1)),
        problem(rr.LDP(1), rr.LinearConstraint(ONE, "<=", "0.3")),
    ),
    "at_most": (problem(rr.LDP(2)), problem(rr.LDP(2), rr.AtMost(rr.BayesSuccess(PRIOR), "0.6"))),
    "at_least": (
        problem(rr.LDP(1)),
        problem(rr.LDP(1), rr.AtLeast(rr.ExpectedGain(PRIOR, [[0, 0, 0], [0, 0, 0], [0, 0, 1]]), "0.13")),
    ),
    "pointwise_maximal_leakage": (
        problem(rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon=1)),
        problem(rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.2")),
    ),
    "maximal_leakage": (problem(rr.privacy.MaximalLeakage("0.8")), problem(rr.privacy.MaximalLeakage("0.2"))),
    "cone": (problem(rr.LDP(2)), problem(rr.LDP(2), rr.ConeConstraint([[1, -2, 0], [-2, 1, 0]]))),
    "another prior": (problem(rr.LDP(1)), problem(rr.LDP(1), goal=rr.Maximize(rr.Trace(OTHER)))),
    # A trace has the prior in its costs, too.
    "another prior of an information": (
        problem(rr.LDP(1), goal=INFORMATION),
        problem(rr.LDP(1), goal=rr.Maximize(rr.MutualInformation(OTHER))),
    ),
    "another objective": (problem(rr.LDP(1), goal=INFORMATION), problem(rr.LDP(1))),
    "the other sense": (problem(rr.LDP(1)), problem(rr.LDP(1), goal=rr.Minimize(rr.Trace(PRIOR)))),
}


@cache
def loosely(name: str) -> rr.Solution:
    """The solution of the looser problem of a pair."""
    return LOOSE_AND_STRICT[name][0].solve(time_limit=20)


def written(solution: rr.Solution, folder: Path, declared: rr.Problem | None = None) -> Path:
    """What `rropt solve` writes of a problem; with the file of another one as the declaration."""
    main.write_results(solution, folder)
    if declared is not None:
        told = json.loads((folder / "solution.json").read_text(encoding="utf-8"))
        (folder / "solution.json").write_text(
            json.dumps({**told, "problem": rr.problem_file.problem_to_toml(declared)}), "utf-8"
        )
    return folder


@pytest.mark.parametrize("name", thinned(LOOSE_AND_STRICT, 3))
def test_a_certificate_of_another_problem_proves_nothing(name: str, tmp_path: Path) -> None:
    assert read_report(written(loosely(name), tmp_path / "own")).word == "proved"
    report = read_report(written(loosely(name), tmp_path / "other", LOOSE_AND_STRICT[name][1]))
    assert (report.word, report.exit_status) == ("contradicted", 1)
    assert rr.write_report(tmp_path / "other", tmp_path / "r.html").contradictions == report.contradictions
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "It guarantees" not in page
    assert '<div class="verdict bad"' in page


def test_other_outputs_are_another_problem() -> None:
    """Without a row the number of outputs may be left free; other labels may not stand for those declared."""
    gain = [[1, 0], [0, 1], [0, 1]]
    one, other = (
        problem(rr.LDP(1), goal=rr.Maximize(rr.ExpectedGain(PRIOR, gain, actions=actions)))
        for actions in (["x", "y"], ["x", "z"])
    )
    certificate = one.solve().certificate
    assert certificate is not None
    assert statement(one, certificate).is_declared
    assert statement(other, certificate).differences == ('outputs[1]: declared as "z", "y" in the certificate',)


def test_the_page_says_what_the_other_certificate_proves(tmp_path: Path) -> None:
    name = "approximate_ldp, many events"
    found = read_report(written(loosely(name), tmp_path, LOOSE_AND_STRICT[name][1])).contradictions
    stated, declared = "approximate LDP (epsilon 3, delta 0.5)", "approximate LDP (epsilon 1, delta 0.05)"
    assert f"of privacy it proves: {stated}; declared is: {declared}" in found
    assert any("approximate.epsilon: declared as" in line for line in found)


def test_every_word_for_a_constraint_is_tried() -> None:
    def kinds(base: type) -> set[str]:
        below = {
            kind for one in base.__subclasses__() if one.__module__.startswith("rropt.declare.") for kind in kinds(one)
        }
        own = vars(base).get("kind")
        return below if own is None else below | {own}

    # No certificate states these: tests/laws/test_leakage.py.
    assert kinds(Constraint) - {"renyi_ldp", "zero_concentrated_ldp"} <= LOOSE_AND_STRICT.keys()


FOUR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15, "d": 5})
NINE = rr.Prior.from_counts({"a": 9, "b": 4, "c": 1})
RISK = rr.IdentificationRisk([50, 30, 15, 5], "0.1")
SUCCESS = rr.Maximize(rr.BayesSuccess(PRIOR))
LARGER = {
    "merged": (problem(rr.ApproximateLDP(1, delta="0.05"), goal=BAYES), "derived", "one output for each action"),
    "mixture": (LOOSE_AND_STRICT["permutation_mixture"][1], "derived", "1 row that rropt derived from the weights"),
    "few": (LOOSE_AND_STRICT["permutation_mixture, fewer"][0], "left_out", "weights of permutations"),
    "merged, floor": (
        problem(rr.ApproximateLDP(1, delta="0.1"), rr.EntropyRate("1/2"), goal=SUCCESS),
        "left_out",
        "the floor on the entropy",
    ),
    "cone": (
        rr.Problem(rr.Maximize(rr.Trace(NINE)), [rr.LDP(1), rr.IdentificationRisk([9, 4, 1], "0.1")]),
        "derived",
        "rows that rropt derived from the conditions on every column",
    ),
}


@pytest.fixture(scope="module", params=LARGER)
def larger(request: pytest.FixtureRequest) -> tuple[str, rr.Solution]:
    """A result whose certificate states a larger problem than the declared one."""
    solution = LARGER[request.param][0].solve()
    assert solution.verdict is not None
    assert solution.verdict.proved
    return request.param, solution


def test_a_larger_problem_is_derived_again_and_told(larger: tuple[str, rr.Solution], tmp_path: Path) -> None:
    name, solution = larger
    main.write_results(solution, tmp_path / "r")
    for report in (read_report(tmp_path / "r"), report_of(solution)):
        assert (report.word, report.contradictions) == ("proved", ())
        assert report.statement is not None
        _, kind, part = LARGER[name]
        assert any(part in line for line in getattr(report.statement, kind))
    assert rr.write_report(solution, tmp_path / "r.html").word == "proved"
    assert "states a larger problem" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_value_that_a_certificate_would_not_state_is_not_called_certified() -> None:
    """The bound without the risk has an output for each action; under it no output is best used for its own input, and
    the certificate stated .36 for .63."""
    risk = rr.IdentificationRisk([5, 3, 2], "0.4")
    solution = problem(rr.ApproximateLDP(1, delta="0.1"), risk, goal=SUCCESS).solve()
    proves = solution.certificate and solution.certificate.document["value"]
    if proves:
        assert abs(float(Fraction(proves["lower"])) - solution.value) < 1e-6
    else:
        assert solution.status == "bounded"
    assert report_of(solution).contradictions == ()
    assert solution.bound is not None
    assert solution.value <= solution.bound


def checked(solution: rr.Solution, declared: rr.Problem, folder: Path) -> tuple[int, str]:
    """`rropt check --problem` on what `rropt solve` wrote."""
    main.write_results(solution, folder)
    (folder / "declared.toml").write_text(rr.problem_file.problem_to_toml(declared), encoding="utf-8")
    return checked_again(folder)


def checked_again(folder: Path) -> tuple[int, str]:
    ran = CliRunner().invoke(
        main.app, ["check", "--problem", str(folder / "declared.toml"), str(folder / "certificate.json")]
    )
    return ran.exit_code, ran.output


def test_check_derives_a_larger_problem_as_the_report_does(larger: tuple[str, rr.Solution], tmp_path: Path) -> None:
    name, solution = larger
    status, said = checked(solution, solution.problem, tmp_path / "r")
    assert (status, "OF THIS PROBLEM" in said) == (0, True), said
    assert LARGER[name][2] in said
    (tmp_path / "r" / "mixture.csv").unlink(missing_ok=True)
    status, said = checked_again(tmp_path / "r")
    assert (status, "NOT SHOWN" in said) == ((1, True) if name in ("mixture", "few") else (0, False)), said


@pytest.mark.parametrize("name", thinned(LOOSE_AND_STRICT, 3))
def test_check_calls_another_problem_so(name: str, tmp_path: Path) -> None:
    status, said = checked(loosely(name), LOOSE_AND_STRICT[name][1], tmp_path / "r")
    assert status == 1
    assert ("OTHER PROBLEM" in said) != ("NOT SHOWN" in said), said
    assert "OF THIS PROBLEM" not in said


def test_a_row_that_asks_for_a_hair_more_does_not_follow(larger: tuple[str, rr.Solution]) -> None:
    name, solution = larger
    assert solution.certificate is not None
    document = solution.certificate.document
    declared = solution.problem
    assert statement(declared, Certificate(document)).differences == ()
    own = [row.payload() for row in declared.compile().rows]
    for at, row in enumerate(document["problem"]["rows"]):
        if json.loads(json.dumps(row)) in json.loads(json.dumps(own)):
            continue
        for change in (lower_rhs, raise_term):
            changed = copy.deepcopy(document)
            change(changed["problem"]["rows"][at])
            found = statement(declared, Certificate(changed)).differences
            assert found, (name, row["name"], change.__name__)


HAIR = Fraction(1, 2**20)


def lower_rhs(row: dict[str, Any]) -> None:
    row["rhs"] = str(Fraction(row["rhs"]) - HAIR)


def raise_term(row: dict[str, Any]) -> None:
    for term in row["terms"]:
        term[2] = str(Fraction(term[2]) + HAIR)


def test_what_was_left_out_is_checked_of_the_mechanism(larger: tuple[str, rr.Solution], tmp_path: Path) -> None:
    """The checker never saw it: a mechanism that misses it is found here."""
    _, solution = larger
    assert breaches(solution.problem, solution.mechanism, solution.decomposition) == ()
    k = len(solution.problem.inputs)
    shifted = rr.Mechanism.from_rationals(
        [[int(y == (x + 1) % k) for y in range(k)] for x in range(k)],
        inputs=solution.problem.inputs,
        outputs=solution.problem.inputs,
    )
    assert breaches(solution.problem, shifted, solution.decomposition)
    assert breaches(solution.problem, shifted.relabelled([f"output {y}" for y in range(k)]))


def test_a_mixture_without_its_weights_is_not_shown(tmp_path: Path) -> None:
    folder = written(LARGER["mixture"][0].solve(), tmp_path / "r")
    text = (folder / "mixture.csv").read_text(encoding="utf-8")
    for change, said in (
        (None, "weights of permutations are missing"),
        (text.replace("1/4,", "1/3,", 1), "mixture.csv cannot be read: the weights sum to"),
        (text.rpartition("\n1")[0] + "\n", "mixture.csv cannot be read"),
    ):
        (folder / "mixture.csv").unlink()
        if change is not None:
            (folder / "mixture.csv").write_text(change, encoding="utf-8")
        report = read_report(folder)
        assert report.word == "contradicted"
        assert any(said in line for line in report.contradictions), report.contradictions
        (folder / "mixture.csv").write_text(text, encoding="utf-8")
    assert read_report(folder).word == "proved"


def test_weights_of_permutations_that_break_their_bounds_are_found(tmp_path: Path) -> None:
    declared = LARGER["mixture"][0]
    identity = rr.Mechanism.from_rationals(
        [[int(x == y) for y in range(8)] for x in range(8)], inputs=EIGHT.labels, outputs=EIGHT.labels
    )
    found = breaches(declared, identity, {EIGHT.labels: Fraction(1)})
    assert any("a weight is out of its bounds" in line for line in found)


def test_that_nothing_keeps_the_constraints_is_so_whatever_is_wanted(tmp_path: Path) -> None:
    must = [rr.LDP(1), rr.Floor("0.9")]
    solution = rr.Problem(TRACE, must).solve()
    assert solution.status == "infeasible"
    assert solution.certificate is not None
    assert statement(rr.Problem(INFORMATION, must), solution.certificate).differences == ()
    assert statement(rr.Problem(TRACE, [rr.LDP(1), rr.Floor("0.8")]), solution.certificate).differences


def test_the_objective_and_its_prior_play_no_part_where_nothing_keeps_the_constraints(tmp_path: Path) -> None:
    """Every constraint has its own numbers in a certificate: the weights are those of the utility."""
    must = [rr.LDP(1), rr.Floor("0.9")]
    solution = problem(*must, goal=SUCCESS).solve()
    for goal in (rr.Maximize(rr.BayesSuccess(OTHER)), rr.Maximize(rr.Trace(OTHER)), INFORMATION):
        declared = rr.Problem(goal, must, outputs=solution.problem.compile().outputs)
        status, said = checked(solution, declared, tmp_path / goal.objective.kind)
        assert (status, "OF THIS PROBLEM" in said) == (0, True), said


OF_A_PRIOR: dict[str, Any] = {
    "invariance": lambda prior: rr.Invariant(prior),
    "a linear limit": lambda prior: rr.AtLeast(rr.Trace(prior), "0.9"),
    "an information": lambda prior: rr.AtMost(rr.MutualInformation(prior), "0.01"),
}


@pytest.mark.parametrize("own", OF_A_PRIOR.values(), ids=OF_A_PRIOR)
def test_the_prior_of_a_constraint_is_not_that_of_the_objective(own: Any) -> None:
    """What cannot be kept at one prior may be kept at another one."""
    one, other = (rr.Problem(TRACE, [rr.LDP(1), rr.Floor("0.9"), own(prior)]) for prior in (PRIOR, OTHER))
    certificate = one.solve().certificate
    assert certificate is not None
    assert statement(one, certificate).differences == ()
    assert statement(other, certificate).differences


def test_rows_that_differ_are_counted_and_the_first_is_shown(tmp_path: Path) -> None:
    """It said "a list of 72 in the certificate" of one with 36: declared rows and those of the certificate together."""
    own = [problem(rr.ApproximateLDP(1, delta=delta)) for delta in ("0.05", "0.06")]
    solution = own[0].solve()
    assert solution.certificate is not None
    size = len(solution.certificate.document["problem"]["rows"])
    status, said = checked(solution, own[1], tmp_path / "r")
    assert status == 1
    text = " ".join(said.split())
    assert f"rows: {size} of the {size} rows of the certificate are not declared, nor do they follow" in text
    assert f"{size} declared rows are not in it" in text
    assert """row 'delta 1 to 2 in 1', rhs: declared as "3/50", "1/20" in the certificate""" in text
    assert f"a list of {2 * size}" not in text
    document = copy.deepcopy(solution.certificate.document)
    lower_rhs(document["problem"]["rows"][3])
    name = document["problem"]["rows"][3]["name"]
    counted, shown = statement(own[0], Certificate(document)).differences
    assert counted.startswith(f"rows: 1 of the {size} rows of the certificate is not declared")
    assert counted.endswith("1 declared row is not in it")
    assert shown.startswith(f"row {name!r}, rhs: declared as")
