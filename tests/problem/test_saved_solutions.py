"""Solutions survive a file, and a file that says otherwise is refused; what notebooks and monitors see."""

from __future__ import annotations

import html.parser
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support_cells import BESIDE, CONSTRAINTS, LEAST, OBJECTIVES, Setting, problem_of

import rropt as rr
from rropt import __main__ as cli
from rropt.exact import shown
from rropt.problem import Problem, Solution

CASES = [
    ("trace", "floor + ldp"),
    ("mutual_information", "ldp"),
    ("mutual_information", "bistochastic + ldp"),
    ("bayes_success", "metric_dp"),
    ("trace", "permutation_mixture"),
    ("trace", "blocks"),
    ("expected_loss", "entropy_rate"),
]
PRIOR = rr.Prior.from_counts({"<b>": 5, "b & c": 3, "d": 2})
TRACE = Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1), rr.Floor({"d": "0.4"})])
IMPOSSIBLE = Problem(rr.Maximize(rr.Trace()), [rr.LDP("0.1"), rr.Floor("0.9")], inputs=["a", "b"])


@pytest.mark.parametrize(("objective", "rule"), CASES)
def test_a_solution_survives_a_file(tmp_path: Path, objective: str, rule: str) -> None:
    problem = problem_of(objective, rule, 4)
    solution = problem.solve(time_limit=0.3)
    back = Solution.load(solution.save(tmp_path / "solution.json"), problem)
    kept = ("status", "method", "seconds", "units", "target_gap", "attained", "limit", "warnings", "conflict", "claim")
    for name in (*kept, "decomposition", "value", "bound", "gap", "verdict", "target_absolute_gap"):
        assert getattr(back, name) == getattr(solution, name), name
    assert back.mechanism == solution.mechanism
    assert back.to_dict() == solution.to_dict()


def test_infeasibility_survives_a_file(tmp_path: Path) -> None:
    solution = IMPOSSIBLE.solve()
    back = Solution.load(solution.save(tmp_path / "none.json"), IMPOSSIBLE)
    assert (back.status, back.mechanism, back.conflict) == ("infeasible", None, solution.conflict)
    assert back.verdict is not None
    assert back.verdict.proved


def put(*path: Any, value: Any) -> Callable[[dict], None]:
    def change(document: dict) -> None:
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


WRONG = {
    "a better value": (put("value", value=["9/10", "9/10"]), "not that of its mechanism"),
    "no value": (put("value", value=None), "not that of its mechanism"),
    "another problem": (put("problem", "sense", value="minimize"), "another problem"),
    "a claimed certificate": (put("certificate", value=None), "its certificate disagrees"),
    "a better bound": (put("certificate", "bound", value="1/2"), "its certificate disagrees"),
    "a better bound beside it": (put("bound", value="1/2"), "its certificate disagrees"),
    "a bound that is proved and not near": (
        lambda document: (document["certificate"].update(bound="1"), document.update(bound="1")),
        "its certificate disagrees",
    ),
    "a claim of impossibility": (put("status", value="infeasible"), "its certificate disagrees"),
    "no proof": (put("certificate", "proof", value={}), "its certificate disagrees"),
    "another format": (put("format", value="solution"), "not a solution"),
    "a number for text": (put("bound", value="x"), "cannot be read"),
    "no claim": (put("claim", value={}), "cannot be read"),
    "a row too large": (put("mechanism", "denominators", value=["1"]), "sums to|denominator"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_says_otherwise_is_refused(tmp_path: Path, name: str) -> None:
    change, what = WRONG[name]
    document = json.loads(json.dumps(TRACE.solve().to_dict()))
    change(document)
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(rr.InputError, match=what):
        Solution.load(path, TRACE)


def test_the_two_files_that_are_called_solution_are_told_apart(tmp_path: Path) -> None:
    """That of `rropt solve`, which reports read, and that of `Solution.save`: each reader names the other one."""
    TRACE.save(tmp_path / "trace.toml")
    assert cli.main(["solve", str(tmp_path / "trace.toml"), "--out", str(tmp_path / "own"), "--json"]) == 0
    with pytest.raises(rr.InputError, match=r"the summary that rropt solve writes.*read by Mechanism.load"):
        Solution.load(tmp_path / "own" / "solution.json", TRACE)
    with pytest.raises(rr.InputError, match=r"Solution.save wrote this.*rr.write_report"):
        rr.write_report(TRACE.solve().save(tmp_path / "solution.json"), tmp_path / "report.html")


def test_a_mechanism_that_breaks_a_constraint_is_refused(tmp_path: Path) -> None:
    """Also where nothing is claimed to be certified."""
    document = TRACE.solve().to_dict()
    identity = rr.Mechanism.from_rationals(np.eye(3, dtype=int).tolist(), inputs=PRIOR.labels, outputs=PRIOR.labels)
    document |= {"mechanism": json.loads(identity.to_json()), "value": ["1", "1"], "certificate": None}
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(document | {"status": "bounded"}), encoding="utf-8")
    with pytest.raises(rr.InputError, match=r"breaks a constraint .LDP"):
        Solution.load(path, TRACE)


def test_another_mechanism_is_not_the_certified_one(tmp_path: Path) -> None:
    """Even where it keeps every constraint, and the value is its own."""
    document = TRACE.solve().to_dict()
    worse = Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP("0.9"), rr.Floor({"d": "0.4"})]).solve().to_dict()
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(document | {name: worse[name] for name in ("mechanism", "value")}), encoding="utf-8")
    with pytest.raises(rr.InputError, match="its certificate disagrees"):
        Solution.load(path, TRACE)


def test_the_certificate_of_another_problem_proves_nothing_of_this_one(tmp_path: Path) -> None:
    """It may be one of a relaxation; a file cannot show that."""
    looser = Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1)]).solve().to_dict()
    tight = Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1), rr.Floor({"<b>": "0.01"})])
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(looser | {"problem": tight.compile().payload()}), encoding="utf-8")
    back = Solution.load(path, tight)
    assert back.status == "bounded"
    assert any("relaxation" in warning for warning in back.warnings)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"format": "rropt-solution"}', "null"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "solution.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(rr.InputError):
        Solution.load(path, TRACE)


# ---- notebooks ---------------------------------------------------------------------------------------


class Balanced(html.parser.HTMLParser):
    """Every element that is opened is closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("problem", [TRACE, IMPOSSIBLE])
def test_html_shows_what_there_is_and_no_label_as_markup(problem: Problem) -> None:
    solution = problem.solve()
    stated, solved = Balanced(problem._repr_html_()), Balanced(solution._repr_html_())
    for rule in problem.constraints:
        assert any(rule.describe() in part for part in stated.text)
    assert solution.status in solved.text
    for label in problem.inputs:
        assert any(label in part for part in stated.text)
        assert solution.mechanism is None or label in solved.text
    if solution.value is not None:
        up = problem.goal.sense == "maximize"
        assert any(shown(solution.value, 12, not up) in part for part in solved.text)
        assert any(shown(solution.bound, 12, up) in part for part in solved.text)


def test_a_frame_has_the_labels_and_the_matrix() -> None:
    mechanism = TRACE.solve().mechanism
    frame = mechanism.to_frame()
    assert (list(frame.index), list(frame.columns)) == (list(mechanism.inputs), list(mechanism.outputs))
    assert (frame.to_numpy() == mechanism.matrix).all()
    assert rr.Mechanism.from_matrix(frame) == mechanism
    frame.iloc[0, 0] = 7
    assert mechanism.entry(0, 0) < 1


# ---- monitors ----------------------------------------------------------------------------------------


def test_a_monitor_may_stop_the_solve() -> None:
    """With what is there: the mechanism keeps every constraint, and the bound is true."""
    problem = problem_of("mutual_information", "invariant + ldp", 4)
    calls: list[tuple[float | None, float | None]] = []

    def monitor(value: float | None, bound: float | None) -> bool:
        calls.append((value, bound))
        return len(calls) < 3

    solution = problem.solve(monitor=monitor)
    assert len(calls) >= 3
    assert solution.status == "bounded"
    assert any("interrupted" in warning for warning in solution.warnings)
    assert solution.mechanism is not None
    assert all(rule.violation(solution.mechanism) <= Fraction(0) for rule in problem.constraints)
    assert solution.value <= solution.bound


@pytest.mark.parametrize("answer", [None, True, 0])
def test_only_false_stops(answer: object) -> None:
    problem = Problem(rr.Maximize(rr.MutualInformation(rr.Prior.uniform(30))), [rr.LDP(1)])
    assert problem.solve(monitor=lambda value, bound: answer).status == "certified"


ROOT = Path(__file__).resolve().parents[2]
FILES = [*sorted((ROOT / "docs" / "examples").glob("*.toml")), *sorted((ROOT / "models").glob("*.toml"))]


def survives(problem: Problem, folder: Path) -> None:
    back = Problem.load(problem.save(folder / "new" / "problem.toml"))
    assert back == problem
    assert (back.name, back.options, back.inputs, back.outputs) == (
        problem.name,
        problem.options,
        problem.inputs,
        problem.outputs,
    )
    assert back.compile() == problem.compile()
    assert back.to_dict() == problem.to_dict() == json.loads(json.dumps(problem.to_dict()))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_a_problem_survives_a_file(file: Path, tmp_path: Path) -> None:
    survives(Problem.load(file), tmp_path)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_and_constraint_survives_a_file(objective: str, tmp_path: Path) -> None:
    for rule in CONSTRAINTS:
        try:
            problem = problem_of(objective, rule, 4)
        except rr.InputError:
            continue
        survives(problem, tmp_path)


def test_what_a_file_cannot_say_is_not_written(tmp_path: Path) -> None:
    class Own(rr.LDP):
        kind = "own"

    with pytest.raises(rr.InputError, match="own"):
        Problem(rr.Maximize(rr.Trace()), [Own(1)], inputs=["a", "b"]).save(tmp_path / "p.toml")
    assert list(tmp_path.iterdir()) == []


def test_numbers_stay_exact(tmp_path: Path) -> None:
    problem = Problem(rr.Maximize(rr.Trace()), [rr.LDP("1/3")], inputs=["a", "b"], name="thirds")
    assert problem.to_dict()["constraint"] == [{"kind": "ldp", "epsilon": "1/3"}]
    (rule,) = Problem.load(problem.save(tmp_path / "p.toml")).constraints
    assert isinstance(rule, rr.LDP)
    assert rule.epsilon == Fraction(1, 3)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("goal", ["most mutual_information", "most bayes_success"])
def test_no_certificate_is_refused(goal: str, named: bool) -> None:
    at = Setting.of(4)
    for name, makers in BESIDE.items():
        outputs = at.inputs if named else None
        problem = rr.Problem(LEAST[goal](at), [make(at) for make in makers], inputs=at.inputs, outputs=outputs)
        solution = problem.solve(time_limit=0.05)
        assert not [said for said in solution.warnings if "not accepted" in said or "contradict" in said], name
        assert solution.verdict is None or solution.verdict.proved, name


def test_a_simple_mechanism_has_an_output_for_each_action() -> None:
    """Where a simple mechanism is the answer to a Bayes gain, the certificate is of its outputs, merged by action."""
    at = Setting.of(4)
    constraint = BESIDE["at_most, channel_capacity"][0](at)
    solution = rr.Problem(LEAST["most bayes_success"](at), [constraint], inputs=at.inputs).solve(time_limit=1e-3)
    assert solution.mechanism is not None
    assert solution.mechanism.outputs == at.inputs
    assert solution.verdict is None or solution.verdict.proved


@pytest.mark.parametrize("weights", [[4, 3, 2, 1], [40, 30, 1, 1, 1]])
def test_a_bound_on_risk_forbids_merging_and_the_certificate_stays(weights: list[int]) -> None:
    """Rounding gives an output of next to no mass another best action, which costs less than the gap."""
    prior = rr.Prior.from_counts(weights)
    rules = [rr.AtMost(rr.MutualInformation(prior), "0.05"), rr.IdentificationRisk(weights, "0.9")]
    assert rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), rules).solve().status == "certified"
