"""What a dry run says of methods is what a solve does, and the one remedy of a refusal works."""

from pathlib import Path

import pytest
from drawing import thinned
from support_cells import CONSTRAINTS, Cell, problem_of, read

import rropt as rr

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
