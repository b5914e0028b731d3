"""Proofs in lines: what the checker reads of them, the statement that it writes, and who judges.

Rules of lines are tested with the kernel (tests/test_kernel.py, tests/test_core.py).
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Document, assert_unreadable, encode, put
from core_files import FOLDERS, resealed
from independent_checker.checker import check
from independent_checker.steps import after_steps

from rropt import checker, kernel
from rropt.checker import check_bytes, problem_lines
from rropt.prove.labels import power
from rropt.prove.problems import OutsideCoreError, Problem

STORED: dict[str, Document] = {
    f"{folder.name}/{path.stem}": made
    for folder in FOLDERS
    for path in sorted(folder.glob("*.json"))
    if isinstance(made := json.loads(path.read_bytes()), dict) and made.get("format") == "rropt-certificate"
}
LABELS = STORED["independent_checker/labels-grid"]
LINES: list[str] = LABELS["proof"]["lines"]
PROGRAM = FOLDERS[0].parents[1] / "proofs" / "build" / "rropt-core"
TOO_GOOD = put(LABELS, "bound", value=LABELS["value"]["upper"])
ISOLATED = [("a bound that lines do not prove", ("_check_lines",), lambda: TOO_GOOD)]


@pytest.mark.parametrize("name", STORED)
def test_two_hands_state_a_problem_in_the_same_lines(name: str) -> None:
    """The checker and the elaborator: what one of them cannot state is outside of the other too."""
    problem = STORED[name]["problem"]
    try:
        expected = list(Problem(problem, "box").lines())
    except OutsideCoreError:
        expected = None
    assert problem_lines(problem) == expected


STEPS = STORED | {
    path.stem: json.loads(path.read_bytes()) for path in sorted((FOLDERS[1].parent / "steps").glob("*.json"))
}


@pytest.mark.parametrize("name", [name for name, made in STEPS.items() if "steps" in made["proof"]])
def test_two_hands_state_a_problem_after_steps_in_the_same_lines(name: str) -> None:
    """The numbers that a step rounds lie on one grid."""
    made, steps = STEPS[name], list[Any]()
    for step in made["proof"]["steps"]:
        steps.append(step)
        last = checker._read_steps({"kind": "lines", "steps": steps}, "proof", *read(made["problem"]))[1]
        try:
            expected = list(Problem(after_steps(made["problem"], steps), "box").lines())
        except OutsideCoreError:
            assert checker._part_outside_lines(last)
        else:
            assert checker._problem_lines(last) == expected


def read(problem: Any) -> tuple[Any, Any, int, int]:
    """The problem, its rationals, and limits that no step comes near."""
    rats = checker._Rationals()
    return checker._read_problem(problem, "problem", rats), rats, 1, 10**12


def with_lines(lines: Any) -> Document:
    return put(LABELS, "proof", "lines", value=lines)


def line(i: int, text: str) -> Document:
    return with_lines([*LINES[:i], text, *LINES[i + 1 :]])


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        pytest.param(with_lines([]), "proof.lines", id="none"),
        pytest.param(with_lines("unit 1"), "proof.lines: expected a list", id="no list"),
        pytest.param(line(1, 7), "proof.lines[1]: expected a string", id="a number"),
        pytest.param(line(1, "prices 1\nend"), "proof.lines[1]: a line is printable ASCII", id="two in one"),
        pytest.param(line(1, "prices é"), "proof.lines[1]: a line is printable ASCII", id="another letter"),
        pytest.param(
            with_lines(["value 1 1 1", *LINES]), "proof.lines[0]: the first line begins with one of", id="value"
        ),
        pytest.param(line(3, "mode boxes"), "proof.lines: needs one mode", id="another mode"),
        pytest.param(with_lines([*LINES, "mode labels"]), "proof.lines: needs one mode", id="two modes"),
        pytest.param(put(LABELS, "proof", "prices", value=["1"]), "proof: the key 'prices'", id="a further key"),
        pytest.param(put(LABELS, "bound", value=None), "mechanism: must be null where the bound is", id="no bound"),
        pytest.param(line(5, "lengths 1 x"), "proof.lines[5] column 11: expected an integer", id="no integer"),
        pytest.param(with_lines([*LINES, "end"]), f"proof.lines[{len(LINES) + 1}] column 1: text after", id="too long"),
    ],
)
def test_lines_that_are_not_of_the_format(made: Document, reason: str) -> None:
    data = encode(made)
    assert check_bytes(data).status == check(data) == "UNREADABLE"
    assert check_bytes(data).reason.startswith(reason), check_bytes(data).reason


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        pytest.param(put(LABELS, "bound", value="1/5"), "bound: below the utility", id="a bound below the value"),
        pytest.param(TOO_GOOD, "proof.lines[16]: the kernel refuses", id="too good"),
        pytest.param(put(LABELS, "assumptions", value=["mi-column-convex"]), "assumptions", id="a lemma too many"),
        pytest.param(put(LABELS, "problem", "weights", 0, value="10"), "value.upper", id="other weights"),
        pytest.param(with_lines(LINES[:-1]), f"proof.lines[{len(LINES) - 1}]: the kernel", id="a leaf too few"),
        pytest.param(with_lines([*LINES, LINES[-1]]), f"proof.lines[{len(LINES)}]: the kernel", id="a leaf too many"),
    ],
)
def test_lines_that_prove_something_else(made: Document, reason: str) -> None:
    data = encode(made)
    assert check_bytes(data).status == check(data) == "REFUTED"
    assert check_bytes(data).reason.startswith(reason), check_bytes(data).reason


def test_no_problem_that_lines_cannot_state_has_lines() -> None:
    """Each part by its name; a step may drop it, and the lines are those of the problem that is left."""
    parts = set()
    for made in STORED.values():
        if made["bound"] is not None and checker._part_outside_lines(read(made["problem"])[0]):
            verdict = check_bytes(encode(made | {"proof": LABELS["proof"]}))
            assert verdict.status == "UNREADABLE"
            parts.add(verdict.reason.partition("lines state no problem with ")[2])
    assert parts >= {"structure", "identification_risk"}
    known = STORED["independent_checker/known-robust"]
    verdict = check_bytes(encode(known))
    assert verdict.proved, verdict.reason
    assert check(encode(known)) == "PROVED"
    assert verdict.statement[-1].startswith("proof in lines: judged by the kernel; SHA-256 of the problem")
    assert "steps" not in known["proof"], "a robust cone is stated, and the mode known leaves it out"


@pytest.mark.parametrize("part", ["rows", "limits", "entropy"])
def test_lines_need_no_step_for_what_they_state(part: str) -> None:
    """A bound of more mechanisms is one of those that a row, a limit or a floor leaves; labels use none of them."""
    made = put(LABELS, "problem", "outputs", value=LABELS["mechanism"]["outputs"])
    weights, utility = LABELS["problem"]["weights"], LABELS["problem"]["utility"]
    parts = {
        "rows": [{"name": "much", "sense": "<=", "rhs": "1", "terms": [[0, 0, "1"]]}],
        "limits": [{"weights": weights, "utility": utility, "at_most": "1"}],
        "entropy": {"at_least": "0", "shares": ["1"] * 6, "sizes": [1] * 6},
    }
    made = put(made, "problem", part, value=parts[part])
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert check(encode(made)) == "PROVED"


def test_lines_that_ask_for_much_stop_at_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a million powers of an input or two, and numbers as long as they may be: nothing is computed beyond."""
    powers = " ".join(["0 1"] * 200_000)
    verdict = check_bytes(encode(line(6, f"powers {powers}")))
    assert verdict.reason == "proof.lines[16] column 1: needs more operations than are allowed"
    long = "9" * 39_000
    verdict = check_bytes(encode(line(4, f"step {long} 1")))
    assert verdict.status == "REFUTED"  # the first power
    with monkeypatch.context() as patch:
        patch.setattr(checker, "MAX_STATEMENT", 40 * 6 * 5)
        assert check_bytes(encode(LABELS)).proved
        patch.setattr(checker, "MAX_STATEMENT", 40 * 6 * 5 - 1)
        assert_unreadable(LABELS, "proof.lines: characters of the statement: 1200 is beyond the limit of 1199")
    for most, status in ((10**5, "PROVED"), (3000, "UNREADABLE")):
        monkeypatch.setattr(checker, "MAX_OPERATIONS", most)
        assert check_bytes(encode(LABELS)).status == status


def hostile(k: int, height: int, tokens: list[str]) -> bytes:
    """A proof file by labels of a path, whose powers go on beyond what its edges need."""
    edges = [(x, z) for x in range(k) for z in (x - 1, x + 1) if 0 <= z < k]
    number = {edge: e for e, edge in enumerate(edges)}
    problem = ["sense maximize", "weights" + " 1" * k, "utility information", "cone graph"]
    problem += [*(f"edge {x} {z} e 1 1" for x, z in edges), "outputs free"]
    lengths = [str(height // k)] * len(edges)
    ends = [str(end) for m in range(height + 1) for end in power(Fraction(m))]
    trees = [[(x, x + 1) for x in range(s, k - 1)] + [(x, x - 1) for x in range(s, 0, -1)] for s in range(k)]
    lines = ["rropt-core", "problem -", *problem, f"claim bound {99 * k} 1", "unit 1", "prices" + " 99" * k, "mults"]
    lines += ["mode labels", "step 1 1", "lengths " + " ".join(lengths), "powers " + " ".join(ends)]
    lines += ["order " + " ".join(map(str, range(k))), "least" + " 0" * k]
    lines.append("links" + "".join(f" {x} {x - 1}" for x in range(k - 1, 0, -1)))
    lines += [" ".join(["tree", *(str(number[edge]) for edge in tree)]) for tree in trees]
    return resealed("".join(f"{line}\n" for line in [*lines, *tokens])).encode()


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: hostile(8, 4000, ["m 7 1"] * 4000), id="many labels"),
        pytest.param(lambda: hostile(100, 200, ["m 99 1"] * 20_000), id="many branches"),
        pytest.param(lambda: hostile(8, 400, [f"m 0 {'9' * 39_000}"] * 99), id="long labels"),
        pytest.param(lambda: hostile(8, 400, ["m 0 99", f"e 1 0 ; 0 1 1 {'9' * 39_000}"] * 99), id="a long flow"),
        pytest.param(lambda: hostile(8, 400, [f"m 7 {x}\ne 1 0 ; 0 1 1{' 5' * 999}" for x in range(999)]), id="flows"),
    ],
)
def test_a_proof_by_labels_stops_where_it_is_told_to(made: Callable[[], bytes]) -> None:
    status, said = kernel.verdict(io.BytesIO(made()), 10**6)
    assert (status, said[-41:]) == (2, "column 1: needs more operations than are allowed"[-41:])


def long(problem: list[str], lines: list[str]) -> bytes:
    """A proof file about a problem, of a maximum or of a minimum that is subtracted."""
    sense = "minimize" if "less" in problem[1] else "maximize"
    whole = ["rropt-core", "problem -", f"sense {sense}", *problem, "claim bound 99999 1", *lines, "end"]
    return resealed("".join(f"{line}\n" for line in whole)).encode()


def opened(k: int, mode: str) -> list[str]:
    return ["unit 1", "prices" + " 9" * k, "mults", f"mode {mode}", "ratios"]


LONG = {
    "many outputs": lambda: long(
        ["weights" + " 1" * 2000, "utility linear 1", "cone free", "outputs 100000"], opened(2000, "dual")
    ),
    "gains at many points": lambda: long(
        ["weights" + " 1" * 200, "utility less bayes 1", *(["gain" + " 1" * 200] * 200), "cone free", "outputs 200"],
        ["minorant", *([f"at {2**160}" + " 0" * 199] * 200), *opened(200, "dual")],
    ),
    "many branches": lambda: long(
        ["weights" + " 1" * 1000, "utility information", "cone free", "outputs free"],
        [*opened(1000, "box"), *(["s 0 0 1"] * 500)],
    ),
    "a long multiplier": lambda: long(
        ["weights" + " 1" * 1000, "utility information", "cone free", "outputs free"],
        [*opened(1000, "box"), f"l 1 M {'9' * 39_000}"],
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_the_kernel_and_the_core_stop_where_they_are_told_to(name: str, tmp_path: Path) -> None:
    """Products of lists that are far longer than the file are not computed; both count the same operations."""
    data = LONG[name]()
    status, said = kernel.verdict(io.BytesIO(data), 10**6)
    assert (status, said.partition(" column ")[2]) == (2, "1: needs more operations than are allowed")
    if PROGRAM.exists():
        (tmp_path / "proof.core").write_bytes(data)
        done = subprocess.run(
            [PROGRAM, tmp_path / "proof.core", str(10**6 / kernel.MINUTE)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.splitlines()[-1]) == (2, said)


def test_the_checker_and_the_kernel_run_as_two_bare_files(checkout: Path, tmp_path: Path) -> None:
    """Isolated (-I) and without site-packages (-S); without kernel.py a proof in lines is UNREADABLE."""
    shutil.copy(checkout / "rropt" / "checker.py", tmp_path)
    (tmp_path / "labels.json").write_bytes(encode(LABELS))
    command = [sys.executable, "-I", "-S", tmp_path / "checker.py", "labels.json"]
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert alone.returncode == 2
    assert "its lines need kernel.py beside this file" in alone.stdout
    shutil.copy(checkout / "rropt" / "kernel.py", tmp_path)
    both = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert both.returncode == 0, both.stdout + both.stderr
    assert "PROVED optimum" in both.stdout
