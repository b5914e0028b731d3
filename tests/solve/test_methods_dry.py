"""What a dry run says of methods is what a solve does, and the one remedy of a refusal works."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from drawing import thinned
from support_cells import CONSTRAINTS, OBJECTIVES, Cell, problem_of, read

import rropt as rr
from rropt.program.programs import Program
from rropt.solve.engine.method import particulars
from rropt.solve.registry import METHODS, Method

LISTED = read(Path(__file__).parents[2] / "docs" / "support.json")
CELLS = [cell for cell in LISTED if cell.size == 4]
SEARCHED = ("stopped early: time limit", "the search")
"""How reasons begin that are about time, and not about the kind of proof."""
LDP = rr.LDP(1)


@pytest.mark.parametrize("cell", thinned(CELLS, 4), ids=lambda cell: f"{cell.objective}, {cell.constraint}")
def test_what_is_promised_is_what_the_table_of_support_has(cell: Cell) -> None:
    chosen = [own for own in problem_of(cell.objective, cell.constraint, 4).methods() if own.chosen]
    assert len(chosen) == (cell.status != "no_method")
    for own in chosen:
        assert own.takes
        if own.proves == "optimum":
            assert cell.status in ("certified", "infeasible") or cell.reason.startswith(SEARCHED)
    assert cell.status != "bounded" or chosen[0].proves == "bound" or cell.reason.startswith(SEARCHED)


@pytest.mark.parametrize("objective", ["mutual_information", "trace", "bayes_success", "minimax_risk"])
@pytest.mark.parametrize("rule", ["ldp", "metric_dp", "bistochastic + ldp", "entropy_rate"])
def test_a_method_does_what_the_dry_run_says(objective: str, rule: str) -> None:
    """Asked for by name, it takes the problem, or refuses in the same words. It does not promise what only a solve
    shows, and a method that certifies is one whose proofs are of the optimum."""
    problem = problem_of(objective, rule, 4)
    for own in problem.methods():
        assert "certified" not in f"{own} {own.proves}"
        if own.takes:
            found = problem.solve(own.method, time_limit=0.3)
            assert found.method.startswith(own.method)
            assert found.status != "certified" or own.proves == "optimum"
            continue
        with pytest.raises(rr.NoMethod) as caught:
            problem.solve(own.method)
        assert (caught.value.what, caught.value.remedy) == (own.why, own.instead)


def test_a_solver_is_part_of_the_question() -> None:
    problem = problem_of("trace", "ldp", 4)
    taken = {own.method for own in problem.methods(solver="scs") if own.takes}
    assert taken == {"conic"}
    assert not any(own.takes for own in problem.methods(solver="no such solver"))


EXPORTED = [name for name in CONSTRAINTS if "rate" not in name and name != "approximate_ldp"]


@pytest.mark.parametrize("rule", EXPORTED)
def test_sizes_are_those_of_the_export(rule: str) -> None:
    for objective in ("trace", "expected_loss", "mutual_information"):
        problem = problem_of(objective, rule, 4)
        method = "vertices" if objective == "mutual_information" else "linear"
        (said,) = [own for own in problem.methods() if own.method == method]
        if not said.takes or "off the diagonal" in said.size:
            continue
        model = problem.to_highs()
        if objective == "mutual_information":
            assert said.size.endswith(f"rays, {model.num_row_:,} rows")
            assert rule != "ldp" or said.size.startswith(f"{model.num_col_} extreme")
        else:
            assert said.size == f"{model.num_col_:,} variables, {model.num_row_:,} rows"


def test_a_line_says_it_all() -> None:
    lines = [str(own) for own in problem_of("trace", "ldp", 4).methods()]
    assert lines[0].startswith("linear: yes (auto), may prove the optimum, 20 variables, 36 rows; ")
    assert all("\n" not in line for line in lines)
    assert sum(": no; " in line for line in lines) > 5


REGISTRY_CELLS = [(objective, rule) for objective in OBJECTIVES for rule in CONSTRAINTS]


def refusal_of(problem: rr.Problem) -> str:
    with pytest.raises(rr.NoMethod) as caught:
        problem.solve()
    return str(caught.value)


def test_a_refusal_names_the_nearest_methods_alone() -> None:
    """Methods for other constraints, and for other goals where some are for this one, are left out."""
    least = rr.Minimize(rr.InjectedEntropy())
    assert refusal_of(rr.Problem(least, [rr.LDP(1)], inputs=["a", "b"])) == (
        "method auto: no method takes this problem: this objective can be maximised only; maximise it"
    )
    most = rr.Maximize(rr.privacy.ChannelCapacity())
    assert refusal_of(rr.Problem(most, [rr.LDP(1)], inputs=["a", "b"])) == (
        "method auto: no method takes this problem: this objective can be minimised only; minimise it"
    )
    for objective, rule in REGISTRY_CELLS:
        problem = problem_of(objective, rule, 4)
        if all(method.refusal(problem.compile()) for method in METHODS):
            text = refusal_of(problem)
            assert 1 <= text.count("; ") <= 3, text


@cache
def programs() -> list[Program]:
    return [problem_of(objective, rule, 4).compile() for objective, rule in REGISTRY_CELLS]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_refuses_what_it_does_not_declare(method: Method) -> None:
    """A part that it does not take is named; a goal that is not its own, and a solver that it does not have, too."""
    for program in programs():
        refused = method.refusal(program)
        strange = [name for part, name in particulars(program) if not isinstance(part, method.takes)]
        if strange:
            assert refused is not None
            assert refused[1].why == f"{method.name} does not take {' and '.join(strange)}"
        elif not method.takes_goal(program):
            assert refused is not None
            assert refused[0] > 0
        elif refused is None:
            assert method.refusal(program, "no such solver") is not None


@pytest.mark.parametrize("shape", [(2, 2), (2, 3)])
def test_vertices_are_a_second_opinion_of_robust_privacy(shape: tuple[int, int]) -> None:
    """By the rows of the polytope of conditional distributions; `auto` takes method columns."""
    pairs = rr.Pairs([f"s{s}" for s in range(shape[0])], [f"u{u}" for u in range(shape[1])])
    counts = [[60 + 35 * ((3 * s + 2 * u) % 4) for u in range(shape[1])] for s in range(shape[0])]
    prior = rr.Prior.from_counts(counts, pairs=pairs)
    rule = rr.RLDP(1, rr.robust.ChiSquareSet(prior, alpha="0.05"))
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])
    first, second = problem.solve(), problem.solve("vertices")
    assert first.method.startswith("columns")
    assert first.status == second.status == "certified"
    assert second.value == pytest.approx(first.value, abs=1e-8)
