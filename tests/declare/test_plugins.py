"""Classes of another distribution have words in problem files and on the command line, by its entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.io import plugins

CLASSES = '''
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.declare.objectives import Objective, Trace
from rropt.errors import Refusal
from rropt.program.cones import FreeCone, PolyhedralCone
from rropt.solve.registry import Answer, MatrixDraft, Method, SolverClaim


class Kept(Trace):
    """The trace under another word."""

    kind = "kept"


@dataclass(frozen=True)
class Cap(Constraint):
    prior: rr.Prior
    at_most: Fraction
    kind: ClassVar[str] = "cap"

    def violation(self, mechanism):
        p, columns = self.prior.probabilities, map(mechanism.column, range(len(mechanism.outputs)))
        joint = [[share * entry for share, entry in zip(p, column)] for column in columns]
        return max(max(column) - self.at_most * sum(column) for column in joint)

    def cone(self, inputs):
        p, k = self.prior.probabilities, len(inputs)
        return PolyhedralCone(FreeCone(), tuple(tuple(p[z] * ((x == z) - self.at_most) for z in range(k)) for x in range(k)))

    def keys(self):
        return {"at_most": self.at_most}

    def describe(self):
        return f"no posterior above {self.at_most}"


class Guess(Method):
    name, because = "guess", "it was asked for"

    def refuse(self, program, solver):
        return None

    def solve(self, program, effort):
        matrix = rr.RandomizedResponse(program.inputs, epsilon="0.1").mechanism.matrix
        return Answer(SolverClaim("none", "guessed", None, 0.0), MatrixDraft(matrix, program.outputs))


def broken():
    raise AssertionError
'''
POINTS = """[rropt.objectives]
kept = others:Kept
lost = nowhere:Kept
wrong = others:broken

[rropt.constraints]
cap = others:Cap

[rropt.methods]
guess = others:Guess
"""
FILE = """schema = 1
name = "own"

[input]
counts = {{ a = 5, b = 3, c = 2 }}

[objective]
maximize = "{objective}"

[[constraint]]
kind = "{constraint}"
at_most = {number}
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution in a folder of its own, as pip leaves it."""
    home = tmp_path / "site"
    metadata = home / "others-1.0.dist-info"
    metadata.mkdir(parents=True)
    (home / "others.py").write_text(CLASSES, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(home))
    plugins._declared.cache_clear()
    yield
    plugins._declared.cache_clear()
    sys.modules.pop("others", None)


def written(tmp_path: Path, objective: str = "kept", constraint: str = "cap", number: str = "0.6") -> Path:
    path = tmp_path / "own.toml"
    path.write_text(FILE.format(objective=objective, constraint=constraint, number=number), encoding="utf-8")
    return path


def test_words_of_entry_points_are_read(tmp_path: Path) -> None:
    """The optimum is that of the same rows, declared as a cone."""
    problem = rr.problem_file.load_problem(written(tmp_path))
    assert problem.objective.kind == "kept"
    (rule,) = problem.constraints
    assert str(rule.at_most) == "3/5"
    found = problem.solve(gap=1e-9)
    prior = rule.prior
    assert found.status == "certified"
    rows = [[p * ((x == z) - rule.at_most) for z, p in enumerate(prior.probabilities)] for x in range(3)]
    same = rr.Problem(rr.Maximize(rr.Trace()), [rr.ConeConstraint(rows)], inputs=prior).solve(gap=1e-9)
    assert found.value == pytest.approx(same.value, rel=1e-8)
    assert rule.violation(found.mechanism) <= 0


def test_a_method_of_an_entry_point_has_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    problem = rr.problem_file.load_problem(written(tmp_path, number="0.9"))
    assert problem.solve("guess").method.startswith("guess")
    assert cli.main(["solve", str(written(tmp_path, number="0.9")), "--method", "guess", "--json"]) == 3
    assert '"guess' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("objective", "constraint", "what"),
    [
        ("lost", "cap", "cannot be loaded"),
        ("wrong", "cap", "not a subclass of Objective"),
        ("keept", "cap", "did you mean 'kept'"),
        ("kept", "capp", "did you mean 'cap'"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, objective: str, constraint: str, what: str) -> None:
    with pytest.raises(rr.InputError, match=what) as caught:
        rr.problem_file.load_problem(written(tmp_path, objective, constraint))
    assert "\n" not in str(caught.value)


def test_keys_of_a_constraint_are_its_arguments(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("at_most", "most"), encoding="utf-8")
    with pytest.raises(rr.InputError, match=r"unknown key 'most'.*at_most"):
        rr.problem_file.load_problem(path)


def test_a_word_of_two_distributions_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "site" / "more-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n", encoding="utf-8")
    (other / "entry_points.txt").write_text("[rropt.objectives]\nkept = more:Kept\n", encoding="utf-8")
    plugins._declared.cache_clear()
    with pytest.raises(rr.InputError, match="two distributions declare it: more:Kept, others:Kept"):
        rr.problem_file.load_problem(written(tmp_path))
