"""`rr.compare`: methods and solvers side by side, each in a process of its own; liars, sleepers and the dead among them.

Most tests solve in this process, which spares the start of an interpreter for each row.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import Refusal
from rropt.exact import Interval
from rropt.model.privacy import Level
from rropt.program.cones import CompleteCone
from rropt.program.programs import Program
from rropt.solve.registry import METHODS, Answer, MatrixDraft, Method, SolveLimits
from rropt.solve.relaxations.vertices import VerticesMethod
from rropt.studies import compare as studied, measured
from rropt.studies.measured import Measured, Task, float_privacy_ratio, measure

KEYS = ["method", "solver", "solver_version", "status", "solver_status", "claimed", "claim_error"]
KEYS += ["value", "bound", "gap"]
KEYS += ["solver_epsilon", "breach", "verdict", "seconds", "fewest_seconds", "most_seconds", "runs", "memory", "note"]

PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15, "d": 5})
LABELS = list("abcd")
LOSS = [[abs(x - y) for y in range(4)] for x in range(4)]
PAIRS = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s0", "s1"], ["u0", "u1"]))
SMALL = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15})
ROBUST = rr.RLDP(1, rr.robust.ChiSquareSet(PAIRS, alpha="0.05"))


def best(objective: object, *constraints: object, **keys: object) -> rr.Problem:
    """The problem of maximising something."""
    return rr.Problem(rr.Maximize(objective), list(constraints), **keys)  # type: ignore[arg-type]


PROBLEMS: dict[str, rr.Problem] = {
    "information": best(rr.MutualInformation(PRIOR), rr.LDP(1)),
    "bits": best(rr.MutualInformation(PRIOR, units="bits"), rr.LDP(2)),
    "trace": best(rr.Trace(PRIOR), rr.LDP(1)),
    "loss": rr.Problem(rr.Minimize(rr.ExpectedLoss(PRIOR, LOSS)), [rr.LDP(1)]),
    "bayes": best(rr.BayesSuccess(PRIOR), rr.LDP(1)),
    "bistochastic": best(rr.Trace(), rr.patterns.Bistochastic(), rr.LDP(1), inputs=LABELS),
    "entropy": best(rr.Trace(), rr.patterns.Bistochastic(), rr.EntropyRate(at_least="0.7"), inputs=LABELS),
    "path": best(rr.MutualInformation(PRIOR), rr.MetricDP([("a", "b"), ("b", "c"), ("c", "d")], epsilon=1)),
    "chi-square": best(rr.ChiSquareInformation(PRIOR), rr.LDP(1)),
    "robust": best(rr.MutualInformation(PAIRS), ROBUST),
    "impossible": best(rr.Trace(PRIOR), rr.LDP(1), rr.Floor(diagonal="0.9")),
}
TAKERS = {
    "information": {"vertices", "vertices/clarabel", "vertices/scs", "columns"},
    "trace": {"linear", "vertices", "conic/clarabel", "conic/scs", "conic/highs"},
    "bayes": {
        "linear",
        "vertices",
        "vertices/clarabel",
        "vertices/scs",
        "columns",
        "conic/clarabel",
        "conic/scs",
        "conic/highs",
    },
    "entropy": {"conic/clarabel", "conic/scs"},
}


# -- methods that are not what they say ------------------------------------------------------------------


class Liar(Method):
    """Solves for half of epsilon and passes the bound off as that of the problem."""

    name = "liar"
    because = "it lies"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        harder = replace(program, cone=CompleteCone(Level(epsilon=Fraction(1, 2))))
        return replace(VerticesMethod().solve(harder, effort), relaxed=harder)


class Boaster(Liar):
    """Solves the problem, and claims a better optimum than there is."""

    name = "boaster"

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        found = VerticesMethod().solve(program, effort)
        assert found.claim.objective is not None
        return replace(found, claim=replace(found.claim, objective=found.claim.objective + 1e-3))


class Leaker(Boaster):
    """Solves the problem, and leaves a matrix that tells more than was allowed."""

    name = "leaker"

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        found = VerticesMethod().solve(program, effort)
        assert found.matrix is not None
        matrix = found.matrix.copy()
        matrix[np.argmax(matrix[:, 0]), 0] *= 1.01
        return replace(found, draft=MatrixDraft(matrix))


class Sleeper(Liar):
    """Never comes back."""

    name = "sleeper"

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        time.sleep(600)
        raise AssertionError


class Dead(Liar):
    """Takes its process with it."""

    name = "dead"

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        print("the last words", file=sys.stderr, flush=True)
        os._exit(3)


class Broken(Liar):
    """Raises."""

    name = "broken"

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        raise ZeroDivisionError("nothing to divide by")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are solved in this process."""
    monkeypatch.setattr(studied, "apart", measure)


# -- in processes of their own --------------------------------------------------------------------------


@pytest.mark.long
def test_liars_sleepers_and_the_dead_in_processes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = PROBLEMS["information"]
    ballast = np.ones(60_000_000)
    found = rr.compare(problem, methods=[Liar(), "vertices", Dead()])
    assert ballast.sum() == 60_000_000
    liar, honest, dead = found.rows
    monkeypatch.setattr(measured, "PATIENCE", 0.5)
    sleeper = rr.compare(problem, methods=[Sleeper()], time_limit=1).rows[0]
    # The checker has proved the liar's bound, of another problem: only the other method tells.
    assert (liar.status, liar.verdict, honest.status, honest.verdict) == ("certified", "PROVED", "certified", "PROVED")
    assert not found
    assert [(one.first, one.second) for one in found.disagreements] == [("vertices", "liar")]
    assert "vertices attains 0.11427" in str(found.disagreements[0])
    assert (sleeper.status, sleeper.solver_epsilon, sleeper.seconds) == ("killed", None, None)
    assert "not back after 2 s, at a time limit of 1 s" in sleeper.note
    assert dead.status == "failed"
    assert "the last words" in dead.note
    assert honest.seconds is not None
    assert 0 < honest.seconds < 60
    # Its own, and not that of this process, which holds 480 MB of ones.
    assert honest.memory is not None
    assert 20e6 < honest.memory < 480e6


def test_what_cannot_be_handed_over_is_one_line() -> None:
    class Local(Liar):
        name = "local"

    with pytest.raises(rr.InputError, match=r"cannot be sent to another process.*in a module"):
        rr.compare(PROBLEMS["trace"], methods=[Local()])


APART = ["robust", "impossible"]


@pytest.mark.parametrize("name", graded([], APART, [name for name in PROBLEMS if name not in APART]))
def test_no_two_methods_disagree_in_processes_of_their_own(name: str) -> None:
    found = rr.compare(PROBLEMS[name])
    assert found
    assert {row.status for row in found.taken} == {"infeasible" if name == "impossible" else "certified"}
    assert all(row.memory is not None and row.memory > 20e6 for row in found.taken)


# -- what the rows say ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", thinned(PROBLEMS, 2))
def test_no_two_methods_disagree(name: str) -> None:
    found = rr.compare(PROBLEMS[name])
    assert found
    assert found.disagreements == ()
    assert {row.method for row in found.rows} == {method.name for method in METHODS} | {"cvxpy"}
    assert {row.label for row in found.taken} == TAKERS.get(name, {row.label for row in found.taken})
    wanted = "infeasible" if name == "impossible" else "certified"
    for row in found.taken:
        assert (row.status, row.verdict) == (wanted, "PROVED")
    if name != "impossible":
        # Proved intervals meet: the largest value is at most the smallest bound (or the other way round).
        up = PROBLEMS[name].goal.sense == "maximize"
        values, bounds = [row.value for row in found.taken], [row.bound for row in found.taken]
        assert max(values) <= min(bounds) if up else min(values) >= max(bounds)  # type: ignore[type-var]
        assert all(row.solver_epsilon is not None for row in found.taken)
    for row in found.rows:
        if row.status == "no_method":
            assert row.note
            assert (row.value, row.bound, row.seconds, row.memory, row.verdict) == (None,) * 5


@pytest.mark.usefixtures("here")
def test_solvers_that_claim_success_and_are_wrong_are_named() -> None:
    rows = {row.label: row for row in rr.compare(PROBLEMS["trace"]).taken}
    # Interior point and splitting methods leave columns of numbers near zero, whose ratios are anything.
    clarabel, scs = rows["conic/clarabel"], rows["conic/scs"]
    for row in (clarabel, scs):
        assert row.solver_status == "optimal"
        assert row.solver_epsilon is not None
        assert row.solver_epsilon > 1 + 1e-6
        assert row.note.startswith("claims an optimum, but ")
    # The simplex method is right up to the last digits of its floats, and no word is lost about these.
    assert rows["linear"].solver_epsilon == pytest.approx(1, abs=1e-12)
    assert rows["linear"].note == ""


@pytest.mark.usefixtures("here")
def test_claims_beside_the_proved_interval_are_told_and_are_no_disagreement() -> None:
    found = rr.compare(PROBLEMS["bits"], methods=[Boaster(), Leaker(), "vertices"])
    assert found
    boaster, leaker, honest = found.rows
    assert re.search(r"claims 0\.58022\d+, 0\.0014 beyond the proved bound", boaster.note)
    assert "above the declared epsilon" in leaker.note
    assert "miss one by up to" in leaker.note
    assert honest.note == ""


@pytest.mark.usefixtures("here")
def test_a_method_that_raises_is_a_row_and_the_others_go_on() -> None:
    found = rr.compare(PROBLEMS["information"], methods=[Broken(), "vertices"])
    assert [row.status for row in found.rows] == ["failed", "certified"]
    assert found.rows[0].note == "ZeroDivisionError: nothing to divide by"


ROW = Measured("one", None, "certified", attained=Interval(Fraction(1), Fraction(2)), limit=Fraction(3))


@pytest.mark.parametrize(
    ("sense", "other", "count"),
    [
        ("maximize", {"limit": Fraction(1)}, 0),
        ("maximize", {"limit": Fraction(99, 100)}, 1),
        ("maximize", {"attained": Interval.point(Fraction(3))}, 0),
        ("maximize", {"attained": Interval.point(Fraction(301, 100)), "limit": Fraction(4)}, 1),
        ("minimize", {"limit": Fraction(2)}, 1),
        ("maximize", {"attained": None, "limit": None, "status": "infeasible"}, 1),
        ("maximize", {"attained": None, "limit": None, "status": "killed"}, 0),
    ],
)
def test_intervals_that_do_not_meet_are_disagreements(sense: str, other: dict, count: int) -> None:
    """For minimisation the first row itself is in order: value 2 at most, bound 1."""
    one = ROW if sense == "maximize" else replace(ROW, limit=Fraction(1))
    two = replace(ROW, method="two", **other)
    if sense == "minimize":
        two = replace(two, attained=Interval.point(Fraction(3, 2)))
        one = replace(one, attained=Interval.point(Fraction(3, 2)))
    found = [one for one in studied.disagreements(sense, [one, two]) if one.first != one.second]  # type: ignore[arg-type]
    assert len(found) == count


def test_a_value_beyond_its_own_bound_is_a_disagreement() -> None:
    found = list(studied.disagreements("maximize", [replace(ROW, limit=Fraction(1, 2))]))
    assert len(found) == 1
    assert "one and one disagree: its value 1 is beyond its bound 0.5" in str(found[0])


@pytest.mark.parametrize(
    ("matrix", "privacy_ratio"),
    [
        ([[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]], 3),
        ([[1.0, 0.0], [0.5, 0.5]], math.inf),
        ([[1.0, -1e-17], [0.5, 0.5]], math.inf),
        ([[1.0, -1e-17], [1.0, -2e-17]], math.inf),
        ([[0.5, 0.5], [0.5, 0.5]], 1),
    ],
)
def test_the_privacy_ratio_of_floats_is_exact(matrix: list, privacy_ratio: float) -> None:
    assert float_privacy_ratio(np.array(matrix)) == privacy_ratio


def test_off_diagonals_and_mixtures_are_judged_as_the_matrices_that_they_are(here: None) -> None:
    problem = best(rr.MutualInformation(SMALL), rr.LDP(1), rr.patterns.UniformOffDiagonal())
    rows = rr.compare(problem, methods=["branch"], gap=1e-3).rows
    for row in rows:
        assert row.solver_epsilon == pytest.approx(1, abs=1e-9)
        assert row.status == "certified"


# -- lists, frames, the command line --------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_lists_and_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    found = rr.compare(
        PROBLEMS["trace"], methods=["linear", "conic"], report=lambda done, total: told.append((done, total))
    )
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    rows = found.to_list()
    assert [list(row) for row in rows] == [KEYS] * 4
    assert [row["solver"] for row in rows] == ["highs", "clarabel", "scs", "highs"]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame.columns) == KEYS
    assert frame["value"].tolist() == [row.value for row in found.rows]
    assert frame["solver_epsilon"].tolist() == [row.solver_epsilon for row in found.rows]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(rr.InputError, match="pip install pandas"):
        found.to_frame()


FILE = """schema = 1
name = "t"
[input]
counts = { a = 5, b = 3, c = 1 }
[objective]
maximize = "trace"
weighted = true
[[constraint]]
kind = "ldp"
epsilon = 1.0
[solve]
solver = "scs"
method = "conic"
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "t.toml"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_the_command_prints_json(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    """In real processes, whose solvers may print; the file's own method and solver are one row among others."""
    assert cli.main(["compare", file, "--methods", "linear,conic,risk", "--solvers", "highs", "--json"]) == 0
    out, error = capfd.readouterr()
    assert error == ""
    rows = json.loads(out)
    assert [(row["method"], row["solver"]) for row in rows] == [("linear", "highs"), ("conic", "highs"), ("risk", None)]
    assert [(row["status"], row["verdict"]) for row in rows] == [("certified", "PROVED")] * 2 + [("no_method", None)]


@pytest.mark.usefixtures("here")
def test_the_table(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", file]) == 0
    text = capfd.readouterr().out
    assert re.search(r"(?m)^linear +certified +0\.\d+ +0\.\d+", text)
    assert re.search(r"(?m)^linear +optimal +0\.\d+", text.partition("Claims of the solvers")[2])
    assert re.search(r"(?m)^\d+ methods cannot take this problem .*\bbranch\b", text)
    assert "No two methods disagree." in text


@pytest.mark.usefixtures("here")
def test_disagreement_is_an_exit_status_and_a_line(
    file: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def doctored(task: Task) -> Measured:
        row = measure(task)
        return replace(row, limit=Fraction(1, 2)) if row.method == "vertices" else row

    monkeypatch.setattr(studied, "apart", doctored)
    assert cli.main(["compare", file, "--methods", "linear,vertices"]) == 1
    error = capfd.readouterr().err
    assert "rropt: linear and vertices disagree: linear attains 0." in error


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--methods", "linaer"], 2, "did you mean linear?"),
        (["--solvers", "ibm"], 2, "'ibm' is not one of the solvers"),
        (["--repeats", "0"], 2, "repeats: it is 0"),
        (["--out", "found.doc"], 2, "'.doc' is not a format of comparisons"),
        (["--methods", "columns"], 5, "none of these methods takes this problem"),
        (["--time-limit", "-1"], 2, "time_limit"),
    ],
)
def test_bad_input_is_one_line(
    file: str, arguments: list[str], status: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", file, *arguments]) == status
    error = capfd.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def claims(problem: rr.Problem) -> tuple[np.ndarray, float]:
    """A solver of the user's own: a matrix that is too good to be private, and a claim beyond the bound."""
    return np.eye(len(problem.inputs)), 1.0


def even(problem: rr.Problem) -> rr.Mechanism:
    """Another one, which claims nothing."""
    size = len(problem.inputs)
    return rr.Mechanism.from_matrix(np.full((size, size), 1 / size), inputs=problem.inputs, outputs=problem.inputs)


def broken(problem: rr.Problem) -> np.ndarray:
    """A third one."""
    raise ZeroDivisionError("nothing to divide by")


@pytest.mark.usefixtures("here")
def test_solvers_of_ones_own_stand_beside_ours() -> None:
    """Their own matrices are judged, and not a better one that is found on the way."""
    found = rr.compare(PROBLEMS["trace"], methods=["linear", claims, even, broken])
    best, boaster, flat, last = found.rows
    assert [row.status for row in found.rows] == ["certified", "attained", "attained", "failed"]
    assert (boaster.claimed, boaster.breach, boaster.solver_epsilon) == (1.0, math.inf, math.inf)
    assert "beyond the proved bound" in boaster.note
    assert boaster.value < best.bound
    assert (flat.value, flat.claimed, flat.breach, flat.bound) == (0.25, None, 0.0, None)
    assert last.note == "ZeroDivisionError: nothing to divide by"
    assert found


@pytest.mark.long
def test_a_solver_of_ones_own_in_a_process_of_its_own() -> None:
    (row,) = rr.compare(PROBLEMS["trace"], methods=[even]).rows
    assert (row.method, row.status, row.value) == ("even", "attained", 0.25)
    with pytest.raises(rr.InputError, match="cannot be sent to another process"):
        rr.compare(PROBLEMS["trace"], methods=[lambda problem: None])


@pytest.mark.usefixtures("here")
def test_exports_have_claims_breaches_versions_and_runs(tmp_path: Path) -> None:
    problem = rr.Problem(PROBLEMS["trace"].goal, [rr.LDP(1)], name="50 % & |more|")
    found = rr.compare(problem, methods=["conic", "identity"], solvers=["scs", "osqp", "highs"], repeats=2)
    (scs, osqp, *_), rows = found.rows, list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["solver"] for row in rows] == ["scs", "osqp", "highs", ""]
    assert float(rows[0]["claimed"]) == scs.claimed
    assert float(rows[0]["breach"]) == scs.breach == math.inf
    assert found.to_list()[0]["breach"] is None
    assert rows[1]["solver_version"] == metadata.version("osqp")
    assert (rows[0]["runs"], rows[3]["runs"]) == ("2", "0")
    assert min(osqp.times) <= osqp.seconds == sum(osqp.times) / 2 <= max(osqp.times)
    text, tex = found.to_markdown(), found.to_latex()
    assert text.splitlines()[0].startswith("| problem | method | solver | solver version | status | claimed | value")
    assert r"50 % & \|more\|" in text
    assert r"50 \% \& |more| & conic & scs" in tex
    # A refusal is not a result: it has no line in tables that are read.
    assert (len(text.splitlines()), tex.count(r"\\")) == (5, 4)
    # A breach without an end is not left out.
    assert text.count("infinite") == 2
    for name, whole in (("a.csv", found.to_csv()), ("a.md", text), ("a.tex", tex)):
        assert found.save(tmp_path / name).read_text(encoding="utf-8") == whole
    with pytest.raises(rr.InputError, match="not a format of comparisons"):
        found.save(tmp_path / "a.doc")
    assert repr(found).startswith("Comparison('50 % & |more|', 4 rows, 3 taken, 3 proved, 0 disagreements)")


@pytest.mark.usefixtures("here")
def test_many_problems_and_their_performance_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By hand: `linear` is fastest on one of two and three times as slow on the other, `vertices` solves one alone."""
    seconds = {("t", "linear"): 1.0, ("l", "linear"): 6.0, ("l", "vertices"): 2.0}

    def timed(task: Task) -> Measured:
        own = seconds.get((task.problem.name, str(task.method)))
        row = measure(task)
        return replace(row, status="bounded", seconds=9.0) if own is None else replace(row, seconds=own)

    monkeypatch.setattr(studied, "apart", timed)
    problems = {
        name: rr.Problem(PROBLEMS[kind].goal, [rr.LDP(1)], name=name) for name, kind in (("t", "trace"), ("l", "loss"))
    }
    told: list[tuple[int, int]] = []
    found = rr.compare(problems, methods=["linear", "vertices"], report=lambda *done: told.append(done))
    assert told == [(0, 4), (1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]
    assert found.profile() == {"linear": [1.0, 3.0], "vertices": [1.0]}
    assert [(row["problem"], row["method"]) for row in found.to_list()] == [
        (p, r) for p in "tl" for r in ("linear", "vertices")
    ]
    assert found
    assert found["t"].rows[0].seconds == 1.0
    assert repr(found) == "Comparisons(2 problems, 0 disagreements)"
    pytest.importorskip("matplotlib")
    axes = found.plot()
    alone = rr.compare({"t": problems["t"]}, methods=["linear"]).plot()
    assert (axes.get_title(), alone.get_title()) == ("2 problems", "1 problem")
    assert [line.get_ydata().tolist() for line in axes.lines[::2]] == [[0.5, 0.5, 1.0, 1.0], [0.5, 0.5, 0.5]]
    for name in ("p.svg", "p.png", "p.pdf"):
        assert found.save(tmp_path / name).stat().st_size > 1000
    with pytest.raises(rr.InputError, match="two problems have one name"):
        rr.compare([problems["t"], problems["t"]])


@pytest.mark.usefixtures("here")
def test_the_command_takes_many_problems_and_writes_files(
    file: str, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    other = tmp_path / "u.toml"
    other.write_text(FILE.replace('name = "t"', 'name = "u"'), encoding="utf-8")
    out = [option for name in ("f.csv", "f.md", "f.svg") for option in ("--out", str(tmp_path / name))]
    assert cli.main(["compare", file, str(other), "--methods", "linear", "--repeats", "2", *out]) == 0
    said = capfd.readouterr().out
    assert said.count("claims") == 2
    assert said.count("wrote ") == 3
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text(encoding="utf-8"))))
    assert [(row["problem"], row["runs"]) for row in rows] == [(file, "2"), (str(other), "2")]


@pytest.mark.parametrize("call", [lambda: rr.compare("x"), lambda: rr.compare(PROBLEMS["trace"], methods="linear")])  # type: ignore[arg-type]
def test_wrong_arguments(call: Callable[[], object]) -> None:
    with pytest.raises(rr.InputError):
        call()


# -- models in cvxpy beside the methods -----------------------------------------------------------------

CONVEX = ["kairouz-uniform-3", "sensitive-pair", "survey-yes-no", "district-map", "ordinal-scale", "census-column"]
"""The shipped models of at most twelve inputs that are convex, and one of sixteen."""


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", graded(["survey-yes-no"], [name for name in CONVEX if name != "survey-yes-no"]))
def test_three_solvers_stand_side_by_side_on_every_convex_model(name: str) -> None:
    problem = rr.problem_file.load_problem(Path("models") / f"{name}.toml")
    found = rr.compare(problem)
    assert found
    solvers = {row.solver for row in found.taken}
    assert {"clarabel", "scs"} < solvers
    assert len(solvers) >= 3
    for row in found.taken:
        assert row.claimed is not None
        assert row.seconds is not None
        assert row.value is not None
        assert row.claim_error == pytest.approx(0, abs=2e-5 * max(1, abs(row.value)))


@pytest.mark.usefixtures("here")
def test_a_model_in_cvxpy_is_solved_where_no_method_takes_its_solver() -> None:
    """Its mechanism is exact, its bound that of the others, and the error of its claim the distance from both."""
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(SMALL)), [rr.LDP(1)])
    found = rr.compare(problem)
    rows = {row.label: row for row in found.taken}
    assert {"cvxpy/clarabel", "cvxpy/scs"} < set(rows)
    proved = [row for row in rows.values() if row.status == "certified"]
    assert proved
    for label in ("cvxpy/clarabel", "cvxpy/scs"):
        row = rows[label]
        assert (row.status, row.bound, row.verdict) == ("attained", None, None)
        assert row.value == pytest.approx(proved[0].value, rel=1e-5)
        assert row.value >= proved[0].bound
        low, high = max(one.bound for one in proved), min(one.value for one in rows.values())
        off = max(row.claimed - high, 0.0) + min(row.claimed - low, 0.0)
        assert row.claim_error == pytest.approx(off, abs=1e-12)
    # HiGHS has no second-order cone: its row says so in one line.
    highs = next(row for row in found.rows if row.method == "cvxpy" and row.solver == "highs")
    assert highs.status == "no_method"
    assert highs.note
    assert "\n" not in highs.note


@pytest.mark.usefixtures("here")
def test_cvxpy_can_be_asked_for_alone() -> None:
    found = rr.compare(PROBLEMS["trace"], methods=["cvxpy", "linear"])
    assert [row.label for row in found.taken] == ["cvxpy/clarabel", "cvxpy/scs", "cvxpy/highs", "linear"]
    assert {row.status for row in found.taken} == {"attained", "certified"}
    crooked = rr.compare(best(rr.MutualInformation(PRIOR), rr.patterns.Bistochastic()), methods=["cvxpy"])
    assert crooked.taken == ()
    assert all("not convex" in row.note for row in crooked.rows)
