"""Many problems in one call, and what a solve says while it runs."""

from __future__ import annotations

import logging
import re
import time

import pytest

import rropt as rr
from rropt.problem import progress
from rropt.program.programs import Program
from rropt.solve.engine.method import Answer, SolveLimits
from rropt.solve.relaxations.vertices import VerticesMethod

PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15, "d": 5})


def problem(epsilon: object) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(epsilon)], name=f"at {epsilon}")


def test_a_list_gives_a_list_and_a_dict_a_dict() -> None:
    told: list[tuple[int, int]] = []
    listed = rr.solve_many([problem(2), problem(1)], gap="1e-9", report=lambda *done: told.append(done))
    assert [one.value for one in listed] == [problem(2).solve().value, problem(1).solve().value]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert {one.target_gap for one in listed} == {1e-9}
    named = rr.solve_many({"two": problem(2), "one": problem(1)})
    assert {name: one.value for name, one in named.items()} == {"two": listed[0].value, "one": listed[1].value}
    assert rr.solve_many([]) == []
    assert rr.solve_many({}) == {}


def test_equal_problems_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each under its own name; a problem with other options is another one."""
    solved: list[rr.Problem] = []
    solve = rr.Problem.solve
    monkeypatch.setattr(rr.Problem, "solve", lambda self, **named: solved.append(self) or solve(self, **named))
    given = [problem(1), problem("1.0"), problem(1).with_options(gap="1e-3")]
    found = rr.solve_many(given)
    assert len(solved) == 2
    assert [one.problem for one in found] == given
    assert [one.problem.name for one in found] == ["at 1", "at 1.0", "at 1"]
    assert found[0].certificate is found[1].certificate


def test_a_solver_has_the_name_that_cvxpy_gives_it_too() -> None:
    found = problem(1).solve(solver="CLARABEL")
    assert found == problem(1).solve(solver="clarabel")
    assert found.status == "certified"


def test_every_problem_has_a_method_before_the_first_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rr.Problem, "solve", lambda self, **named: pytest.fail("one was solved"))
    curved = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)])
    with pytest.raises(rr.NoMethod, match=r"problems\['b'\]: linear takes linear objectives only"):
        rr.solve_many({"a": problem(1), "b": curved}, method="linear")
    with pytest.raises(rr.InputError, match=r"problems\[1\]: int is not a Problem"):
        rr.solve_many([problem(1), 3])  # type: ignore[list-item]
    with pytest.raises(rr.InputError, match=r"problems\[0\]: 'ibm' is not a solver that is installed"):
        rr.solve_many([problem(1)], solver="ibm")


@pytest.mark.long
def test_processes_give_the_same() -> None:
    one, two = (rr.solve_many([problem(1), problem(2), problem(3)], workers=workers) for workers in (1, 2))
    assert [found.certificate.to_json() for found in one] == [found.certificate.to_json() for found in two]


class Slow(VerticesMethod):
    """Reports something, and takes its time."""

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        effort.monitor(0.25, None)
        effort.monitor(None, 0.75)
        time.sleep(0.2)
        return super().solve(program, effort)


def test_verbose_prints_a_line_every_so_often(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.05)
    bits = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(1)])
    bits.solve(Slow(), verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r" +\d+\.\d s  method vertices: asked for", lines[0])
    # In bits, as everything that is shown.
    assert any(line.endswith("s  value 0.36067376 bits, bound 1.08202128 bits, gap 0.72 bits") for line in lines)
    assert re.fullmatch(
        r" +\d+\.\d s  certified, value 0\.164870417455 bits, bound 0\.164870417456 bits, gap [0-9.e-]+ bits", lines[-1]
    )
    bits.solve()
    assert capsys.readouterr() == ("", "")


def test_the_logger_has_methods_results_and_progress(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "rropt"):
        problem(1).solve()
        rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)]).solve(Slow())
    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert said[0] == ("INFO", "method linear: the objective is linear: one linear programme over the entries of Q")
    assert said[1][1].startswith("certified, value 0.584846862904, bound 0.58484686290")
    assert ("DEBUG", "value None, bound 0.75") in said


def test_a_monitor_that_returns_false_ends_with_what_is_there() -> None:
    """The bound is true, and the mechanism keeps the level."""
    goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(range(1, 7))))
    hard = rr.Problem(goal, [rr.LDP(2), rr.patterns.Bistochastic()])
    found = hard.solve(gap=0, monitor=lambda value, bound: value is None)
    assert found.status == "bounded"
    assert "stopped early: interrupted" in found.warnings
    assert hard.compile().excess(found.mechanism) == {}
    assert found.value <= found.bound
