"""Problems survive a file: every example, every shipped model, every objective with every constraint."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from support_cells import CONSTRAINTS, OBJECTIVES, problem_of

import rropt as rr
from rropt.problem import Problem

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
