"""The command line as a user meets it: commands, exit statuses, files, bad input, terminals, Ctrl-C, README.

Most tests call `main` in this process, which spares the start of an interpreter; what needs a terminal, a pipe
or a signal of its own runs as a process.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import forked
import pytest
from documented import other_messages

from rropt import __main__ as cli, models
from rropt.errors import InputError
from rropt.io.files import write_whole
from rropt.solve.engine import highs_run
from rropt.studies.reports import terminal

# design of `solve --json`: these keys, in this order, whatever the status.
KEYS = [
    "status",
    "value",
    "bound",
    "gap",
    "relative_gap",
    "units",
    "method",
    "seconds",
    "guarantee",
    "guarantees",
    "epsilon",
]
KEYS += ["mechanism", "certificate", "verdict", "precision", "warnings"]
FILES = ["certificate.json", "mechanism.csv", "mechanism.json", "solution.json"]

COUNTS = "counts = { a = 5, b = 3, c = 1 }"
INFORMATION = 'maximize = "mutual_information"'
TRACE = 'maximize = "trace"'
LDP = '[[constraint]]\nkind = "ldp"\nepsilon = 1.0\n'
FLOOR = '[[constraint]]\nkind = "floor"\ndiagonal = 0.9\n'


def toml(
    given: str = COUNTS,
    goal: str = INFORMATION,
    must: str = LDP,
    options: str = "",
    top: str = 'schema = 1\nname = "t"',
) -> str:
    """A problem file; by default 3 inputs, mutual information, LDP at epsilon 1: certified at once."""
    return f"{top}\n[input]\n{given}\n[objective]\n{goal}\n{must}\n[solve]\n{options}\n"


def zipf(k: int, gap: str) -> str:
    """Information of a Zipf prior: several rounds of column generation."""
    counts = [math.ceil(10**6 / (x + 1)) for x in range(k)]
    return toml(f"counts = {counts}", options=f"gap = {gap}")


def losses(k: int) -> str:
    """A linear problem whose optimum is not its symmetric start: losses of 0 to 0.99, and a floor."""
    matrix = [[0 if x == y else (37 * x + 53 * y + x * y) % 100 / 100 for y in range(k)] for x in range(k)]
    floor = f'[[constraint]]\nkind = "floor"\ndiagonal = {2 / k}\n'
    return toml(f"uniform = {k}", f'minimize = "expected_loss"\nmatrix = {matrix}', LDP + floor)


@dataclass(frozen=True)
class Ran:
    """What a command gave: its exit status and both streams."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test starts in an empty folder, 100 columns wide, with nothing said about colours."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "50")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def call(*arguments: object) -> Ran:
        capfd.readouterr()
        status = cli.main([str(argument) for argument in arguments])
        return Ran(status, *capfd.readouterr())

    return call


def write(text: str, name: str = "t.toml") -> Path:
    """A problem file in the present folder."""
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def listing(folder: str | Path) -> list[str]:
    """The names in a folder, hidden ones too: a temporary file left behind would show."""
    return sorted(entry.name for entry in Path(folder).iterdir())


def solution(folder: str | Path) -> dict[str, Any]:
    """solution.json of a folder of results."""
    loaded: dict[str, Any] = json.loads((Path(folder) / "solution.json").read_text(encoding="utf-8"))
    return loaded


# -- solve ------------------------------------------------------------------------------------------------------


def test_solve_shows_the_problem_the_result_and_the_verdict(run: Run) -> None:
    ran = run("solve", write(toml()), "--out", "o")
    assert (ran.status, ran.err) == (0, "")
    for pattern in (
        r"Problem: t\b",
        r"maximize +mutual information",
        r"frequencies +a 0\.5556, b 0\.3333, c 0\.1111, counted from 9 people",
        r"inputs +3: a, b, c",
        r"subject to +LDP at epsilon 1",
        r"privacy +epsilon 1, privacy ratio at most 2\.718281828",
        r"status +certified",
        r"value +0\.\d+ nats",
        r"bound +at most 0\.\d+ nats",
        r"gap +\S+ nats, \S+ of the bound; target: 1e-06 of the bound",
        r"guarantee +LDP \(epsilon 1\)",
        r"method +vertices: ",
        r"seconds +\d",
        r"In plain terms beside k-RR at the same epsilon",
        r"a 10 % suspicion becomes at most +23\.2 % +23\.2 %",
        r"Probability of each output \(column\) given each answer \(row\); full shade 0\.\d",
        r"PROVED \(kernel and checker\) optimum in \[",
        *(rf"(?m)^wrote o[/\\]{name}$" for name in FILES),
    ):
        assert re.search(pattern, ran.out), f"{pattern} is not in\n{ran.out}"
    assert "\x1b" not in ran.out, "colour in a pipe"
    assert listing("o") == FILES


def test_another_design_in_the_folder_is_kept(run: Run) -> None:
    """A release can be estimated with its own mechanism only; the folder `design` stands on several pages."""
    assert run("solve", write(toml()), "--out", "design").status == 0
    before = {name: (Path("design") / name).read_bytes() for name in FILES}
    assert "earlier" not in run("solve", "t.toml", "--out", "design").out
    ran = run("solve", write(toml("counts = [9, 1, 1]")), "--out", "design")
    kept = f"earlier-{hashlib.sha256(before['mechanism.json']).hexdigest()[:12]}"
    assert f"note: design had another design; it is now in {Path('design') / kept}" in ran.out
    assert listing("design") == sorted([*FILES, kept])
    # The certificate and the solution of the repeated solve were written anew.
    assert (Path("design") / kept / "mechanism.json").read_bytes() == before["mechanism.json"]
    assert listing(Path("design") / kept) == FILES
    assert run("check", Path("design") / kept).status == 0


def test_the_kept_design_of_a_release_is_named(run: Run) -> None:
    write("x\n" + "a\nb\nc\n" * 40, "p.csv")
    assert run("solve", write(toml()), "--out", "design").status == 0
    assert run("apply", "design", "p.csv", "--column", "x", "-o", "o.csv", "--unidentified").status == 0
    assert run("solve", write(toml("counts = [9, 1, 1]")), "--out", "design").status == 0
    write('schema = 1\n[[column]]\nname = "x"\nmechanism = "design"\n', "plan.toml")
    for given in ("design", Path("design") / "mechanism.json", "plan.toml"):
        ran = run("estimate", given, "o.csv", "--column", "x")
        assert ran.status == 2
        kept = re.search(r"the design of this release is kept in (\S+)", ran.err)
        assert kept is not None
        # It is that of the release, whether it identifies the frequencies or not.
        assert "another mechanism" not in run("estimate", kept[1], "o.csv", "--column", "x").err


def test_results_go_to_a_folder_of_the_problems_name(run: Run) -> None:
    assert run("solve", write(toml(), "file.toml")).status == 0
    assert listing("t") == FILES
    write(toml(top="schema = 1"), "stem.toml")
    assert run("solve", "stem.toml").status == 0
    assert listing("stem") == FILES


def test_json_is_one_object_and_nothing_else(run: Run) -> None:
    ran = run("solve", write(toml()), "--out", "o", "--json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.count("\n") == 1
    found = json.loads(ran.out)
    assert list(found) == KEYS
    assert (found["status"], found["verdict"], found["units"]) == ("certified", "PROVED", "nats")
    assert found["method"].startswith("vertices: ")
    assert Path(found["certificate"]) == Path("o/certificate.json")
    # Value and bound are each rounded outwards by one float at most; the gap is that of the exact numbers.
    assert 0 <= found["bound"] - found["value"] <= found["gap"] + 2 * math.ulp(found["bound"])
    assert found["gap"] <= 1e-6
    assert 0.9 < found["epsilon"] <= 1
    assert found["seconds"] >= 0
    kept = solution("o")
    assert {key: kept[key] for key in KEYS} == found


def test_the_mechanism_in_json_is_exact_and_private(run: Run) -> None:
    """Rows of strings over one denominator; the ratio holds in integers: exp(1) < 2.7182818284590453."""
    mechanism = json.loads(run("solve", write(toml()), "--json").out)["mechanism"]
    assert list(mechanism) == ["inputs", "outputs", "denominator", "numerators"]
    assert mechanism["inputs"] == ["a", "b", "c"]
    rows = [[int(entry) for entry in row] for row in mechanism["numerators"]]
    assert all(isinstance(entry, str) for row in mechanism["numerators"] for entry in row)
    assert [sum(row) for row in rows] == [int(mechanism["denominator"])] * 3
    assert {len(row) for row in rows} == {len(mechanism["outputs"])}
    for column in zip(*rows, strict=True):
        assert max(column) <= Fraction("2.7182818284590453") * min(column)
    saved = json.loads(Path("t/mechanism.json").read_text(encoding="utf-8"))
    assert [column["dense"] for column in saved["columns"]] == [
        list(column) for column in zip(*mechanism["numerators"], strict=True)
    ]


def test_bounded_is_3_with_a_proved_bound(run: Run) -> None:
    """Nothing closes a gap of 0 on an irrational value: the bound is true all the same."""
    ran = run("solve", write(toml()), "--gap", "0", "--json")
    found = json.loads(ran.out)
    assert (ran.status, list(found), found["status"], found["verdict"]) == (3, KEYS, "bounded", "PROVED")
    assert found["value"] < found["bound"]
    assert run("check", found["certificate"]).status == 0


def test_a_time_limit_gives_a_true_bound(run: Run) -> None:
    ran = run("solve", write(zipf(12, "1e-14")), "--time-limit", "1e-6", "--out", "o")
    assert ran.status == 3
    assert "note: stopped early: time limit" in ran.out
    kept = solution("o")
    assert kept["value"] < 0.1232792539 < kept["bound"], "the optimum lies between, as the Zipf prior's is known"
    assert run("check", "o/certificate.json").status == 0
    assert run("check", "o").out == run("check", "o/certificate.json").out, "the folder of a solve is enough"


def test_infeasible_is_4_and_names_what_conflicts(run: Run) -> None:
    """The harmless third constraint is not named, and the proof stands in the certificate."""
    harmless = '[[constraint]]\nkind = "linear"\ncoefficients = [[1,0,0],[0,0,0],[0,0,0]]\nsense = "<="\nrhs = 1\n'
    ran = run("solve", write(toml(goal=TRACE, must=LDP + FLOOR + harmless)), "--out", "o")
    assert ran.status == 4
    conflict = ["LDP at epsilon 1", "diagonal at least 0.9"]
    assert re.search(r"status +infeasible", ran.out)
    assert re.search(rf"conflict +{' and '.join(conflict)} *\n", ran.out)
    assert "PROVED (kernel and checker) infeasible" in ran.out
    assert listing("o") == ["certificate.json", "solution.json"]
    assert solution("o")["conflict"] == conflict
    checked = run("check", "o/certificate.json")
    assert checked.status == 0
    assert "PROVED infeasible" in checked.out


def test_infeasible_json_has_the_same_keys(run: Run) -> None:
    ran = run("solve", write(toml(goal=TRACE, must=LDP + FLOOR)), "--json")
    found = json.loads(ran.out)
    assert (ran.status, list(found), found["status"], found["verdict"]) == (4, KEYS, "infeasible", "PROVED")
    assert [found[key] for key in ("value", "bound", "gap", "epsilon", "mechanism")] == [None] * 5


def test_infeasible_json_names_the_conflict_on_the_error_stream(run: Run) -> None:
    ran = run("solve", write(toml(goal=TRACE, must=LDP + FLOOR)), "--json")
    assert ran.err.endswith(": infeasible: LDP at epsilon 1 and diagonal at least 0.9 conflict; loosen one of them\n")


def test_one_constraint_that_cannot_be_met_is_told_in_the_singular(run: Run) -> None:
    rule = '[[constraint]]\nkind = "at_most"\nobjective = "bayes_success"\nnumber = 0.1\n'
    ran = run("solve", write(toml(goal=TRACE, must=rule)), "--json")
    assert ran.err.endswith(": infeasible: bayes success at most 0.1 cannot be satisfied; loosen it\n")


def test_no_method_is_5_says_why_and_writes_nothing(run: Run) -> None:
    ran = run("solve", write(toml()), "--method", "linear", "--out", "o", "--json")
    assert ran.status == 5
    assert re.fullmatch(r"rropt: .*linear.*; .*method auto.*\n", ran.err)
    assert json.loads(ran.out)["status"] == "no_method"
    assert not Path("o").exists()


def test_no_method_json_has_the_same_keys(run: Run) -> None:
    found = json.loads(run("solve", write(toml()), "--method", "linear", "--json").out)
    assert set(KEYS) <= set(found)


def test_options_override_the_file(run: Run) -> None:
    """The file asks for bits, method vertices and a gap that nothing reaches; the command line asks for another."""
    text = toml(goal=f'{INFORMATION}\nunits = "bits"', options='method = "linear"\ngap = 0\ntime_limit = 1e-9')
    ran = run("solve", write(text), "--method", "vertices", "--gap", "1e-3", "--time-limit", "60", "--json")
    found = json.loads(ran.out)
    assert (ran.status, found["units"]) == (0, "bits")
    assert found["method"].startswith("vertices")
    assert solution("t")["target_gap"] == 1e-3


# -- check ------------------------------------------------------------------------------------------------------


@pytest.fixture
def three(run: Run) -> list[str]:
    """A certificate that is proved, one that is refuted (its column leaks) and a file that is not a certificate."""
    assert run("solve", write(toml()), "--out", "o").status == 0
    good = Path("o/certificate.json")
    document = json.loads(good.read_text(encoding="utf-8"))
    first = document["mechanism"]["columns"][0]["dense"]
    second = document["mechanism"]["columns"][1]["dense"]
    largest = max(range(3), key=lambda x: int(first[x]))
    moved = int(second[largest]) // 2
    first[largest], second[largest] = str(int(first[largest]) + moved), str(int(second[largest]) - moved)
    leaky = write(json.dumps(document, separators=(",", ":")), "leaky.json")
    return [str(good), str(leaky), str(write("{}", "other.json"))]


@pytest.mark.parametrize(
    ("chosen", "status"),
    [([0], 0), ([1], 1), ([2], 2), ([0, 0], 0), ([0, 1, 0], 1), ([2, 1, 0], 2), ([0, 1, 2], 2)],
    ids=str,
)
def test_check_returns_the_worst(run: Run, three: list[str], chosen: list[int], status: int) -> None:
    ran = run("check", *(three[index] for index in chosen))
    assert ran.status == status
    words = ("PROVED", "REFUTED", "UNREADABLE")
    for index in chosen:
        prefix = f"{three[index]}: " if len(chosen) > 1 else ""
        assert re.search(rf"(?m)^{re.escape(prefix)}{words[index]}\b", ran.out)


@pytest.mark.parametrize("what", ["missing.json", ".", "o/mechanism.json", "o/solution.json", "t.toml"])
def test_check_of_what_is_no_certificate_is_2(run: Run, three: list[str], what: str) -> None:
    ran = run("check", what)
    assert ran.status == 2
    assert ran.out.startswith("UNREADABLE")
    assert ran.out.count("\n") == 1


def test_a_closed_pipe_is_not_a_refutation(three: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "rropt", "check", three[0]]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    os.close(writer)
    assert done.returncode != 1
    assert "Traceback" not in done.stderr


# -- files ------------------------------------------------------------------------------------------------------


def test_files_that_a_new_result_does_not_have_are_removed(run: Run) -> None:
    assert run("solve", write(toml()), "--out", "o").status == 0
    assert listing("o") == FILES
    assert run("solve", write(toml(goal=TRACE, must=LDP + FLOOR)), "--out", "o").status == 4
    (kept,) = [name for name in listing("o") if name.startswith("earlier-")]
    assert listing("o") == sorted(["certificate.json", "solution.json", kept])
    assert run("solve", write(toml()), "--out", "o").status == 0
    assert listing("o") == sorted([*FILES, kept])
    assert solution("o")["status"] == "certified"


def test_bad_input_leaves_earlier_results_alone(run: Run) -> None:
    run("solve", write(toml()), "--out", "o")
    before = {name: Path("o", name).read_bytes() for name in listing("o")}
    assert run("solve", write(toml("counts = { a = -1, b = 1 }")), "--out", "o").status == 2
    assert {name: Path("o", name).read_bytes() for name in listing("o")} == before


def test_other_files_of_the_folder_stay(run: Run) -> None:
    Path("o").mkdir()
    write("mine", "o/notes.txt")
    assert run("solve", write(toml()), "--out", "o").status == 0
    assert listing("o") == sorted([*FILES, "notes.txt"])


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("there", [False, True])
def test_a_write_that_fails_leaves_no_half_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, step: str, there: bool
) -> None:
    """A disk that fills up: the old file stays as it was, no new and no temporary one shows."""
    folder = Path("o")
    if there:
        write_whole(folder / "mechanism.json", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    ran = run("solve", write(toml()), "--out", "o")
    assert ran.status == 2
    kept = r"earlier-\w+[/\\]" if there else ""
    assert re.fullmatch(rf"rropt: o[/\\]{kept}mechanism\.json: .*No space left on device.*; \S.*\n", ran.err)
    # A folder that was made for the results goes again where nothing was written.
    assert (listing(folder) if folder.exists() else []) == (["mechanism.json"] if there else [])
    if there:
        assert (folder / "mechanism.json").read_text(encoding="utf-8") == "old"


def test_a_folder_that_may_not_be_written_is_one_line(run: Run) -> None:
    Path("closed").mkdir()
    Path("closed").chmod(0o555)
    if os.access("closed", os.W_OK):
        pytest.skip("this user may write everywhere")
    for arguments in (["solve", write(toml()), "--out", "closed"], ["solve", "t.toml", "--out", "closed/o"]):
        ran = run(*arguments)
        assert ran.status == 2
        assert re.fullmatch(r"rropt: closed.*: cannot write \(Permission denied\); \S.*\n", ran.err)
    assert listing("closed") == []


def test_a_place_that_cannot_be_written_is_told_before_solving(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def solve(*_: object, **__: object) -> None:
        raise InputError("it was solved first")

    monkeypatch.setattr("rropt.problem.Problem.solve", solve)
    write("mine", "taken")
    ran = run("solve", write(toml()), "--out", "taken")
    assert ran.status == 2
    assert re.fullmatch(r"rropt: taken.*: cannot write .*; \S.*\n", ran.err)


def test_a_folder_in_a_results_place_is_one_line(run: Run) -> None:
    Path("o/mechanism.json").mkdir(parents=True)
    try:
        ran = run("solve", write(toml(goal=TRACE, must=LDP + FLOOR)), "--out", "o")
    except OSError:
        pytest.fail("a traceback")
    assert ran.status == 2


# -- wrong command lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "what", "remedy"),
    [
        (["solve", "t.toml", "--method", "linear"], 5, "linear takes linear objectives only", "use method auto"),
        (["solve", "t.toml", "--frob"], 2, "No such option: --frob", "--help"),
        (
            ["solve", "t.toml", "--gap", "1e-3", "--gap", "1e-4"],
            2,
            "rropt solve: --gap is given more than once",
            "once",
        ),
        (["accountant", "init", "l", "--ceiling", "1", "--ceiling", "2"], 2, "--ceiling is given more", "once"),
        (["solve", "t.toml", "--epsilon", "2"], 2, "no option --epsilon: the problem file declares it", "copy.* sweep"),
        (["solve", "adult-pram", "--delta=0.1"], 2, "no option --delta", "models copy MODEL"),
        (["compare", "t.toml", "--prior", "c.csv"], 2, "no option --prior", "rropt sweep"),
        (["check"], 2, "Missing argument", "--help"),
        (["models", "show", "nope"], 2, "'nope'", "adult-education"),
        (["models", "copy", "nope"], 2, "'nope'", "adult-education"),
        (["models", "show", "ayed2002"], 2, "'ayed2002'", "did you mean ayed2020"),
        (["models", "copy", "chai2019"], 2, "'chai2019' is a paper", "rropt claims chai"),
        (["models", "show", "survey-yesno"], 2, "'survey-yesno'", "did you mean survey-yes-no"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_one_line(run: Run, arguments: list[str], status: int, what: str, remedy: str) -> None:
    write(toml())
    ran = run(*arguments)
    assert ran.status == status
    assert re.fullmatch(r"rropt: [^\n]+\n", ran.err)
    assert re.search(f"(?:{what}).*[;?] .*{remedy}", ran.err)
    assert listing(".") == ["t.toml"], "nothing is written"


@pytest.mark.parametrize(
    "group", [[], ["models"], ["accountant"], ["key"], ["cellkey"]], ids=lambda group: " ".join(group) or "rropt"
)
def test_help_has_a_whole_line_for_each_command(run: Run, group: list[str]) -> None:
    """A line that is too long for a terminal of 80 columns ends in "..."."""
    listed = run(*group, "--help").out.split("Commands:\n")[1].splitlines()
    assert listed
    assert all(line.endswith(".") and not line.endswith("...") for line in listed)


def test_the_version_is_told(run: Run) -> None:
    ran = run("--version")
    assert ran.status == 0
    assert re.search(r"\d+\.\d+", ran.out)


# -- models -----------------------------------------------------------------------------------------------------


def test_models_list_names_every_model_and_says_what_it_is(run: Run) -> None:
    ran = run("models", "list")
    assert (ran.status, ran.err) == (0, "")
    papers, _, problems = ran.out.partition("Problems")
    names = [[line.strip().partition(":")[0] for line in part.splitlines()[1:]] for part in (papers, problems)]
    assert names == [list(models.PAPERS), models.list_models()]
    assert "  adult-education: The education of 32,561 people (16 categories), randomised" in problems
    assert "  kairouz2016: Kairouz, Oh and Viswanath, Extremal mechanisms" in papers
    assert "[rropt claims kairouz]" in papers


def test_models_show_prints_the_very_file(run: Run) -> None:
    ran = run("models", "show", "adult-education")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == models.model_path("adult-education").read_text(encoding="utf-8")


def test_models_copy_gives_a_file_that_solves_to_the_same(run: Run) -> None:
    ran = run("models", "copy", "adult-education")
    assert (ran.status, ran.err) == (0, "")
    assert [Path(line.removeprefix("wrote ")) for line in ran.out.splitlines()] == [
        Path("adult-education.toml"),
        Path("data/adult_education.csv"),
    ]
    copied = Path("adult-education.toml")
    assert copied.read_bytes() == models.model_path("adult-education").read_bytes()
    found = []
    for arguments in (["solve", copied], ["solve", "adult-education"]):
        ran = run(*arguments, "--json", "--out", "o")
        found.append(json.loads(ran.out))
        assert (ran.status, found[-1]["status"], found[-1]["verdict"]) == (0, "certified", "PROVED")
        assert found[-1]["gap"] <= 1e-9
        found[-1].pop("seconds")
    assert found[0] == found[1]
    assert abs(found[0]["value"] - 0.12328515) < 1e-8


@pytest.mark.parametrize("there", ["adult-education.toml", "data/adult_education.csv"])
def test_models_copy_overwrites_only_by_force(run: Run, there: str) -> None:
    write_whole(there, "mine")
    ran = run("models", "copy", "adult-education")
    assert ran.status == 2
    assert re.fullmatch(rf"rropt: {re.escape(str(Path(there)))}: this file exists already; .*--force\n", ran.err)
    assert [path for path in Path().rglob("*") if path.is_file()] == [Path(there)], "all or nothing"
    assert Path(there).read_text(encoding="utf-8") == "mine"
    assert run("models", "copy", "adult-education", "--force").status == 0
    assert "mine" not in Path(there).read_text(encoding="utf-8")


def test_models_with_the_same_counts_are_copied_into_one_folder(run: Run) -> None:
    assert run("models", "copy", "adult-education").status == 0
    ran = run("models", "copy", "adult-pram")
    assert (ran.status, ran.err, ran.out.split()) == (0, "", ["wrote", "adult-pram.toml"])


# -- terminals and pipes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Screen:
    """What a command on a terminal gave: its exit status, standard output and what the terminal was sent."""

    status: int
    out: str
    shown: str


def on_terminal(
    *arguments: object,
    both: bool = False,
    when: bytes = b"",
    press: Callable[[forked.Forked], None] = lambda _: None,
    **environment: str,
) -> Screen:
    """Run with the error stream on a pseudo-terminal, and with `both` the standard output too (else in a pipe).

    `press(process)` is called once, when the terminal has been sent `when`. The terminal shows UTF-8.
    """
    import pty

    leader, follower = pty.openpty()
    pipe, out = (-1, follower) if both else os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    given = [str(argument) for argument in arguments]
    child = forked.start(forked.COMMAND, given, (nothing, out, follower), {**os.environ, **environment})
    for end in {nothing, out, follower}:
        os.close(end)
    got = {leader: b"", pipe: b""}
    waiting = {leader, pipe} - {-1}
    pressed = not when
    while waiting:
        ready, _, _ = select.select(waiting, [], [], 60)
        assert ready, "nothing for a minute"
        for stream in ready:
            try:
                data = os.read(stream, 1 << 16)
            except OSError:  # Linux says so when the other end of a terminal is gone.
                data = b""
            got[stream] += data
            if not data:
                waiting.discard(stream)
        if not pressed and when in got[leader]:
            pressed = True
            press(child)
    status = child.wait()
    os.close(leader)
    if pipe != -1:
        os.close(pipe)
    assert pressed, f"{when!r} never showed"
    return Screen(status, got[pipe].decode(), got[leader].decode())


needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")


@needs_terminal
def test_a_terminal_shows_progress_with_value_bound_and_gap_and_then_clears_it() -> None:
    write(zipf(16, "1e-12"))
    screen = on_terminal("solve", "t.toml")
    assert screen.status in (0, 3)
    assert re.search(r"solving .*value 0\.123\d+ +bound 0\.12\d+ +gap \d\S*", screen.shown)
    assert screen.shown.endswith("\x1b[2K"), "the bar is erased at the end"
    assert screen.shown.count("\x1b[?25h") == screen.shown.count("\x1b[?25l"), "the cursor is shown again"
    assert "\x1b" not in screen.out, "the pipe beside it gets neither bar nor colour"
    assert "solving" not in screen.out
    assert "status" in screen.out


def test_a_pipe_sees_nothing_of_the_bar(run: Run) -> None:
    write(zipf(12, "1e-9"))
    done = forked.run(forked.COMMAND, "solve", "t.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "solving" not in done.stdout
    ran = run("solve", "t.toml", "--json")
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out)["status"] == "certified"


def shaded_rows(text: str) -> list[str]:
    """The lines of the heat map of inputs a, b and c, escapes taken out."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return re.findall(r"(?m)^[abc] +(.*?)\r?$", plain.partition("Probability of each output")[2])


@needs_terminal
def test_a_terminal_shows_the_map_in_colour() -> None:
    write(toml())
    shown = on_terminal("solve", "t.toml", both=True, COLORTERM="truecolor").shown
    assert re.search(r"\x1b\[[0-9;]*48;2;\d+;\d+;\d+m  ", shown)
    assert re.search(r"\x1b\[[0-9;]*32mcertified", shown), "green"


@needs_terminal
def test_no_color_is_obeyed_and_the_map_shaded() -> None:
    write(toml())
    shown = on_terminal("solve", "t.toml", both=True, NO_COLOR="1").shown
    assert not re.search(r"\x1b\[([0-9;]*;)?[349][0-9]", shown)
    assert [set(row) & set(terminal.SHADES[1:]) != set() for row in shaded_rows(shown)] == [True] * 3


@pytest.mark.long
@needs_terminal
def test_a_dumb_terminal_gets_a_shaded_map_without_escapes() -> None:
    write(toml())
    shown = on_terminal("solve", "t.toml", both=True, TERM="dumb").shown
    assert "\x1b" not in shown
    assert [set(row) & set(terminal.SHADES[1:]) != set() for row in shaded_rows(shown)] == [True] * 3


def test_a_stream_of_ascii_is_no_crash(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(toml('counts = { "é" = 5, b = 3 }'))
    with open("shown.txt", "w", encoding="ascii") as ascii_only:  # strict, as a pipe with PYTHONIOENCODING=ascii
        monkeypatch.setattr(sys, "stdout", ascii_only)
        ran = run("solve", "t.toml")
    assert (ran.status, ran.err) == (0, "")
    assert "certified" in Path("shown.txt").read_text(encoding="ascii")


def test_a_width_of_nothing_means_unknown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert "certified" in run("solve", write(toml())).out


@needs_terminal
def test_forty_columns_keep_every_number_whole() -> None:
    write(toml())
    shown = on_terminal("solve", "t.toml", "--out", "o", both=True, COLUMNS="40", NO_COLOR="1").shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    kept = solution("o")
    assert re.search(rf"value +{re.escape(terminal.number(kept['value'])[:9])}\d+", plain)
    lines = plain.partition("Problem: t")[2].splitlines()
    assert max(len(line) for line in lines if not line.startswith("wrote")) <= 40
    assert len(shaded_rows(shown)) == 3


def test_a_pipe_gets_every_row_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever COLUMNS says: what a program reads is not folded."""
    text = toml("counts = { " + ", ".join(f"category_{x} = {x + 1}" for x in range(9)) + " }")
    wide = run("solve", write(text), "--out", "o").out
    monkeypatch.setenv("COLUMNS", "30")
    assert run("solve", "t.toml", "--out", "p").out.split("Result")[0] == wide.split("Result")[0]
    assert re.search(r"(?m)^inputs +9: category_0, .*, category_8$", wide)
    assert re.search(r"(?m)^method +vertices: .+ suffice$", wide)


def test_a_shell_can_complete_commands(run: Run) -> None:
    """As the script of `rropt --show-completion` asks."""
    asked = {"_RROPT_COMPLETE": "complete_bash", "COMP_WORDS": "rropt so", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "rropt"], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["solve"], "")


@pytest.mark.parametrize(("width", "k"), [(40, 18), (80, 40)])
def test_a_map_is_cut_to_the_screen(run: Run, monkeypatch: pytest.MonkeyPatch, width: int, k: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    labels = [f"category {x}" for x in range(k)]
    ran = run("solve", write(toml(f"uniform = {labels}", TRACE)))
    assert ran.status == 0
    for label in labels:
        assert re.search(rf"(?m)^ *{label} +[{terminal.SHADES}]*[{terminal.SHADES[1:]}]+", ran.out), "on one line"


def test_labels_are_shown_as_they_are(run: Run) -> None:
    """What looks like markup of the library that prints is a label like any other."""
    ran = run("solve", write(toml('counts = { "[red]x[/red]" = 5, "[bold" = 3, "[/]" = 1 }')))
    assert ran.status == 0
    assert all(ran.out.count(label) >= 2 for label in ("[red]x[/red]", "[bold", "[/]"))


def test_control_characters_of_labels_do_not_reach_the_terminal(run: Run) -> None:
    ran = run("solve", write(toml('counts = { "\\u001b[2Jx" = 5, b = 3 }')))
    assert "\x1b" not in ran.out + ran.err


# -- Ctrl-C -----------------------------------------------------------------------------------------------------


def presses(monkeypatch: pytest.MonkeyPatch, where: str, times: int) -> list[int]:
    """Press Ctrl-C `times` times at the first moment of a kind: `where` is "report" (the solve tells of progress)
    or "highs" (it waits for HiGHS, which has not finished). The list counts what was pressed."""
    import contextlib

    pressed: list[int] = []

    def press() -> None:
        while len(pressed) < times:
            pressed.append(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    @contextlib.contextmanager
    def progress(goal: float, absolute: float) -> Any:
        yield lambda value, bound: press()

    def wait(run: highs_run.Run) -> bool:
        press()
        return run.ended

    if where == "report":
        monkeypatch.setattr(terminal, "progress", progress)
    else:
        monkeypatch.setattr(highs_run.Run, "wait", wait)
    return pressed


@pytest.mark.parametrize(
    ("text", "where", "best"),
    [(zipf(12, "1e-14"), "report", 0.12), (losses(30), "highs", None)],
    ids=["vertices", "linear"],
)
def test_ctrl_c_gives_the_best_mechanism_and_a_proved_bound(
    run: Run, monkeypatch: pytest.MonkeyPatch, text: str, where: str, best: float | None
) -> None:
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        pressed = presses(patch, where, 1)
        ran = run("solve", write(text), "--out", "o")
    assert len(pressed) == 1
    assert ran.status == 3
    assert signal.getsignal(signal.SIGINT) is before
    assert "note: stopped early: interrupted" in ran.out
    assert listing("o") == FILES
    kept = solution("o")
    assert (kept["status"], kept["verdict"]) == ("bounded", "PROVED")
    assert "stopped early: interrupted" in kept["warnings"]
    assert kept["gap"] > kept["target_gap"]
    if best is not None:
        assert best < kept["value"] < 0.1232792539 < kept["bound"]
    assert run("check", "o/certificate.json").status == 0
    finished = json.loads(run("solve", "t.toml", "--gap", "1e-9", "--json").out)
    assert finished["status"] == "certified"
    low, high = sorted((kept["value"], kept["bound"]))
    assert low <= finished["value"] <= high, "the bound was true"


def test_a_second_ctrl_c_aborts_and_writes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = presses(monkeypatch, "report", 2)
    ran = run("solve", write(zipf(12, "1e-14")), "--out", "o")
    assert len(pressed) == 2
    assert ran.status == 130
    assert not Path("o").exists()
    assert "Traceback" not in ran.err


def test_a_second_ctrl_c_says_that_it_aborted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    presses(monkeypatch, "report", 2)
    assert re.fullmatch(r"rropt: aborted.*\n", run("solve", write(zipf(12, "1e-14")), "--out", "o").err)


@pytest.mark.parametrize(
    "line", ["apply m d --column x", "estimate m d --column x", "audit m", "accountant show l", "key new k"]
)
def test_ctrl_c_in_any_command_is_said(line: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("typer.core.TyperCommand.invoke", press)
    ran = run(*line.split())
    assert (ran.status, ran.out, ran.err) == (130, "", "rropt: aborted\n")


@pytest.mark.parametrize("line", ["models list", "check certificate.json"])
def test_ctrl_c_while_modules_are_loaded_is_said(line: str, tmp_path: Path) -> None:
    # A shell starts what runs in the background without Ctrl-C.
    loads = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    loads += "sys.path.insert(0, os.getcwd())\n"
    for name in ("typer", "decimal"):
        (tmp_path / f"{name}.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", "utf-8")
    code = f"{loads}from rropt.__main__ import main\nsys.exit(main({line.split()!r}))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "rropt: aborted\n")


HIGHS_TWICE = """
import signal, sys
from rropt import __main__ as cli
from rropt.solve.engine.highs_run import Run
pressed = []
def wait(self):
    if len(pressed) < 2:
        pressed.append(1)
        signal.raise_signal(signal.SIGINT)
    return self.ended
Run.wait = wait
sys.exit(cli.main(["solve", "t.toml", "--out", "o"]))
"""


def test_a_second_ctrl_c_inside_highs_is_no_crash() -> None:
    write(losses(30))
    done = forked.run(HIGHS_TWICE)
    assert not Path("o").exists()
    assert done.returncode == 130
    assert "terminate" not in done.stderr


@needs_terminal
def test_ctrl_c_at_a_terminal_ends_with_results_that_are_proved(run: Run) -> None:
    """The signal as the terminal sends it, when the bar first shows a value; a gap that nothing reaches."""
    write(zipf(18, "1e-17"))
    screen = on_terminal(
        "solve", "t.toml", "--out", "o", when=b"value", press=lambda child: child.send_signal(signal.SIGINT)
    )
    assert screen.status == 3
    assert "Traceback" not in screen.shown
    assert listing("o") == FILES
    assert run("check", "o/certificate.json").status == 0


# -- README -----------------------------------------------------------------------------------------------------


def blocks(readme: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", readme)


def test_the_readme_says_what_is_so(checkout: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shell blocks, all but make, in one empty folder and in their order; then its Python."""
    readme = (checkout / "README.md").read_text(encoding="utf-8")
    lines = [line for block in blocks(readme, "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.strip() and not line.startswith("make ")]
    assert sum(line.startswith("rropt ") for line in commands) >= 5
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, command in (("rropt", f'"{sys.executable}" -m rropt'), ("python", f'"{sys.executable}"')):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    folder = tmp_path / "new"
    folder.mkdir()
    monkeypatch.chdir(folder)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def shell(command: str) -> str:
        if command.startswith("rropt ") and not set("|<>;&$*") & set(command):
            ran = run(*shlex.split(command)[1:])  # the same without the start of an interpreter
            assert (ran.status, other_messages(ran.err)) == (0, ""), command
            return ran.out
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert done.stderr == ""
        return done.stdout

    said = {command: shell(command) for command in commands}
    assert any("PROVED optimum in [" in text for command, text in said.items() if command.startswith("rropt check"))
    assert listing(folder / "out" / "mine") == FILES

    # A column of one's own: the copy without the two lines that the text names.
    copy = folder / "adult-frequencies.toml"
    lines = copy.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(("[input]", "counts = "))]
    assert len(kept) == len(lines) - 2
    copy.write_text("".join(kept), encoding="utf-8")
    (folder / "mine.csv").write_text("smoker\n" + "never\nformer\ndaily\nnever\n" * 100, encoding="utf-8")
    (own,) = blocks(readme, "bash")
    assert "category" in [shell(command) for command in own.splitlines()][-1]

    # The numbers of the text, of the design for people.csv.
    terms = dict(re.findall(r"(?m)^(\S[^\n]*?) {2,}(\S[^\n]*)$", said[solved := commands[1]]))
    assert solved.startswith("rropt solve")
    assert terms["respondents for the same squared error"].split()[0] in ("50.2", "50.3", "50.4")
    margins = re.search(r"at\s+most (\S+)\s+points, against (\S+)\. ", readme)
    assert margins is not None
    assert terms["largest margin of error, 32,561 answers (95 %)"].split()[::2] == list(margins.groups())

    # The checker alone, as the text says: a copy of one file, with the standard library and nothing else.
    shutil.copy(checkout / "rropt" / "checker.py", folder)
    certificate = "out/mine/certificate.json"
    alone = shell(f"python -I -S checker.py {certificate}")
    assert shell(f"python -m rropt.checker {certificate}") == alone
    assert "PROVED optimum in [49.9" in alone

    # The blocks go on from one another, as a reader would run them.
    done = forked.run("\n".join(blocks(readme, "python")))
    assert (done.returncode, done.stderr) == (0, "")
    (shown,) = blocks(readme, "text")[:1]
    assert shown in done.stdout
    printed = done.stdout.splitlines()
    assert "status     certified" in printed
    assert not [line for line in printed if line.startswith(("note: ", "warning: "))]
    assert sum(" 95 % interval " in line for line in printed) == 10
    assert any(line.startswith("PROVED optimum in [") for line in printed)
    assert (folder / "education.cert.json").is_file()


# -- what reads well --------------------------------------------------------------------------------------------------


@needs_terminal
def test_a_verdict_has_a_colour_on_a_terminal_only(run: Run) -> None:
    write(toml())
    assert run("solve", "t.toml", "--out", "o").status == 0
    text = Path("o/certificate.json").read_text(encoding="utf-8")
    Path("bad.json").write_text(text.replace('"kind":"ldp"', '"kind":"x"', 1).replace('"bound":"', '"bound":"-9'))
    for name, word, colour in (("o", "PROVED", "32"), ("bad.json", "REFUTED|UNREADABLE", "31")):
        shown = on_terminal("check", name, both=True).shown
        assert re.search(rf"\x1b\[[0-9;]*{colour}m({word})", shown)
        assert not re.search(rf"\x1b\[[0-9;]*{colour}m", on_terminal("check", name, both=True, NO_COLOR="1").shown)
        assert "\x1b" not in run("check", name).out


def test_values_that_are_not_declared_are_reported_before_earlier_releases(run: Run) -> None:
    """A wrong column is the first fault of a command: what the accountant says of it helps nobody."""
    write("x\n" + "a\nb\nc\n" * 40, "p.csv")
    assert run("solve", write(toml()), "--out", "o").status == 0
    assert run("apply", "o", "p.csv", "--column", "x", "--unidentified").status == 0
    write("x\n" + "a\nb\nz\n" * 40, "p.csv")
    for meant in ([], ["--unidentified"]):
        ran = run("apply", "o", "p.csv", "--column", "x", "-o", "again.csv", *meant)
        assert ran.status == 2
        assert "'z'" in ran.err
        assert "epsilon" not in ran.err
        assert ran.err.count("\n") == 1


def test_compare_says_in_one_line_who_refused(run: Run) -> None:
    ran = run("compare", write(toml()), "--methods", "vertices,linear,identity,capacity", "--time-limit", "20")
    assert ran.status == 0
    (line,) = [line for line in ran.out.splitlines() if "cannot take this problem" in line]
    assert line == "3 methods cannot take this problem (--json says why): linear, identity, capacity"
    assert re.search(r"(?m)^vertices +certified +0\.", ran.out)
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    assert "No two methods disagree." in ran.out
