"""A result is certified where the checker and the kernel both accept; a verdict says which programs accept."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import rropt as rr
from rropt import kernel
from rropt.checker import check_bytes
from rropt.cli.main import main
from rropt.program.block_cones import RobustCone
from rropt.prove.certificates import stated_in_lines
from rropt.prove.elaborate import elaborate
from rropt.prove.problems import OutsideCoreError
from rropt.prove.uninformative import or_entropy
from rropt.solve import verified

PRIOR = rr.Prior.from_counts({"a": 4, "b": 3, "c": 2, "d": 1})


def solved(*constraints, objective=rr.MutualInformation):
    return rr.Problem(rr.Maximize(objective(PRIOR)), [rr.LDP(epsilon=1), *constraints]).solve(gap=1e-6)


@pytest.fixture(scope="module")
def solution():
    return solved()


@pytest.fixture(scope="module")
def saved(solution, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "certificate.json"
    solution.certificate.save(path)
    return path


@pytest.fixture(autouse=True)
def no_core(monkeypatch, tmp_path):
    """Without rropt-core, wherever the tests run."""
    monkeypatch.delenv("RROPT_CORE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """A program in the place of rropt-core that reads, prints and ends as it is told."""

    def make(line, status, *read):
        program = tmp_path / "other-core"
        # Not a script of Python: the path of the interpreter may have a space, which a first line takes for its end.
        told = " ".join(f"'{one}'" for one in (*read, line))
        text = f"#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' {told}\nexit {status}\n"
        program.write_text(text, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("RROPT_CORE", str(program))

    return make


# ---- a solve -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("leak", [rr.MutualInformation, rr.ChiSquareInformation, rr.BayesSuccess])
def test_least_leakage_and_limits_on_it_are_proved_by_both(leak):
    """The steps `minorant` are rules of the core: nothing is assumed, not even Gibbs."""
    loss = rr.ExpectedLoss(PRIOR, [[abs(x - z) for z in range(4)] for x in range(4)])
    for goal, rules in (
        (rr.Minimize(leak(PRIOR)), [rr.AtMost(loss, "0.5")]),
        (rr.Minimize(loss), [rr.LDP(epsilon=2), rr.AtMost(leak(PRIOR), "0.5")]),
        (rr.Minimize(leak(PRIOR)), [rr.LDP(epsilon=1), rr.AtMost(rr.BayesSuccess(PRIOR), "0.39")]),
    ):
        solution = rr.Problem(goal, rules).solve(gap=1e-6)
        assert solution.status in ("certified", "infeasible")
        assert solution.verdict.by == verified.BY_KERNEL
        assert solution.verdict.assumptions == ()


def test_inside_the_core_kernel_and_checker_accept_and_no_lemma_is_taken_for_granted(solution):
    assert solution.status == "certified"
    assert solution.verdict.by == "kernel and checker"
    assert solution.verdict.assumptions == ()
    assert "\nPROVED (kernel and checker) optimum in [" in solution.verdict.report()


def test_outside_of_the_core_the_verdict_names_the_checker_its_lemmas_and_the_kind_of_proof(checkout: Path):
    found = rr.load_problem(checkout / "docs" / "examples" / "design-eigenvalue.toml").solve()
    assert found.status == "certified"
    assert found.verdict.by == "checker"
    lines = found.verdict.report().splitlines()
    assert "checker only: the kernel judges the bound of a design with rropt check --core" in lines
    assert any(line.startswith("PROVED (checker) optimum in [") for line in lines)
    assert "assumption: eigenvalue-of-densities" in lines


def test_of_a_design_the_core_proves_the_bound_and_the_verdict_says_so(checkout: Path, tmp_path: Path):
    """The lemmas on its value stay."""
    found = rr.load_problem(checkout / "docs" / "examples" / "design-trace.toml").solve()
    assert found.status == "certified"
    assert found.verdict.by == "checker"
    verdict = rr.check(found.certificate.save(tmp_path / "certificate.json"), core=True)
    assert verdict.by in ("kernel and checker", "verified core")
    assert verdict.assumptions == ("regular-by-approximate-inverse",)
    lines = verdict.report().splitlines()
    assert "checker only: the value of the mechanism; the verified core proves the bound of a design" in lines


def test_a_limit_that_the_proof_leaves_out_is_read_by_the_core():
    """The mechanism must keep it, and the kernel checks that."""
    solution = solved(rr.privacy.RenyiLDP(2, 5))
    assert "steps" not in solution.certificate.document["proof"]
    assert solution.verdict.by == "kernel and checker"


def test_a_robust_cone_that_a_proof_leaves_out_is_read_by_the_core():
    """There is no step for that, so that the core judges the problem itself."""
    prior = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(2, 2))
    rule = rr.RLDP("1", rr.robust.ChiSquareSet(prior), form="polytope")
    program = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).compile()
    assert isinstance(program.cone, RobustCone)
    proof = stated_in_lines(program, or_entropy(program, None, "nothing was found"))
    assert "mode known" in proof.payload["lines"]
    assert proof.steps == ()


def test_every_part_of_a_problem_is_read_by_the_core_or_named(saved, checkout: Path):
    schema = json.loads((checkout / "docs" / "certificate.schema.json").read_text(encoding="utf-8"))
    known = schema["$defs"]["problem"]
    read = {*known["required"], "entropy", "limits", "approximate", "divergences"}
    document = json.loads(saved.read_text(encoding="utf-8"))
    assert set(known["properties"]) > read
    for key in [*(set(known["properties"]) - read), "a key of another format"]:
        with pytest.raises(OutsideCoreError, match=f"no problems with '{key}'"):
            list(elaborate(document | {"problem": document["problem"] | {key: None}}))


def test_what_the_kernel_refuses_is_not_certified(monkeypatch):
    monkeypatch.setattr(verified, "judge_witness", lambda proof: "REFUTED at line 7")
    found = solved()
    assert found.status == "bounded"
    assert found.verdict.status == "REFUTED"
    assert any("the kernel does not accept what the checker accepts (REFUTED at line 7)" in w for w in found.warnings)


def test_what_the_kernel_refuses_while_the_lines_are_written_is_not_certified(monkeypatch):
    """The elaborator takes forms and rows from the kernel, which may refuse them before there is a certificate."""

    def refuse(*_):
        raise kernel.RefutedError

    monkeypatch.setattr(kernel.Problem, "straight", refuse)
    found = solved(objective=rr.BayesSuccess)
    assert found.status == "bounded"
    assert any("(REFUTED)" in warning for warning in found.warnings)


def test_a_kernel_that_proves_another_bound_of_a_design_is_named(monkeypatch, checkout: Path):
    """Its proof is not in lines, so that the kernel is asked of the bound besides."""
    data = (checkout / "docs" / "examples" / "design-trace.json").read_bytes()
    monkeypatch.setattr(verified, "judge_kernel", lambda proof: "PROVED (kernel): at least 0/1")
    assert verified.strengthen(check_bytes(data), data).status == "REFUTED"


def test_a_mechanism_that_is_worth_less_than_it_says_is_not_certified(saved):
    """The checker is believed on the lines of a proof, and on nothing that they do not prove."""
    made = json.loads(saved.read_text(encoding="utf-8"))
    verdict = rr.check(saved)
    assert verified.strengthen(verdict, json.dumps(made).encode()).by == "kernel and checker"
    made["value"]["lower"] = made["value"]["upper"] = made["bound"] = str(Fraction(made["bound"]) + 1)
    assert verified.strengthen(verdict, json.dumps(made).encode()).status == "REFUTED"


def test_of_a_proof_in_lines_the_kernel_is_asked_once(monkeypatch, saved):
    calls, own = [], kernel.verdict
    monkeypatch.setattr(kernel, "verdict", lambda *given: calls.append(given) or own(*given))
    data = saved.read_bytes()
    assert verified.strengthen(check_bytes(data), data).by == "kernel and checker"
    assert len(calls) == 1


def test_an_infeasible_problem_is_proved_by_both():
    found = rr.Problem(
        rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(epsilon=1), rr.Floor("0.9")], outputs=PRIOR.labels
    ).solve()
    assert found.status == "infeasible"
    assert found.verdict.report().splitlines()[-1] == "PROVED (kernel and checker) infeasible"


def test_rows_of_long_fractions_lose_no_proof():
    """The multipliers of the core are integers: where a row is multiplied by 10^120, its unit is small enough."""
    for objective in (rr.Trace(), rr.BayesSuccess(PRIOR), rr.MutualInformation(PRIOR)):
        rows = [[Fraction(c) * (1 + Fraction(1, 10**120)) for c in row] for row in ([1, -2, 0, 0], [0, 1, -2, 0])]
        rules = [rr.ConeConstraint(rows), rr.LDP(epsilon=1)]
        solution = rr.Problem(rr.Maximize(objective), rules, inputs=PRIOR.labels).solve(gap=1e-3)
        assert solution.status == "certified"
        assert solution.verdict.by == "kernel and checker"


# ---- a file ------------------------------------------------------------------------------------------


def test_a_check_asks_the_checker_alone_unless_it_is_told_to_ask_the_core(saved):
    plain, strong = rr.check(saved), rr.check(saved, core=True)
    assert (plain.by, strong.by) == ("", "kernel and checker")
    assert (plain.lower, plain.upper) == (strong.lower, strong.upper)
    assert plain.assumptions == ()
    assert strong.assumptions == ()


def test_the_core_accepts_a_file_only_with_the_bound_that_it_claims(saved, fake):
    certificate = json.loads(saved.read_text(encoding="utf-8"))
    bound, proof = Fraction(certificate["bound"]), verified.proof_file(certificate)
    read = verified.read_as(certificate["problem"], proof)
    true = f"PROVED (verified core): optimum in [0/1, {bound.numerator}/{bound.denominator}]"
    fake(true, 0, *read)
    found = rr.check(saved, core=True)
    assert found.by == "verified core"
    assert f"{read[1]}; SHA-256 of what it read: {proof.split()[2].decode()}" in found.report()
    # What a program says of another problem, or of none, proves nothing of this one.
    others = [read[:1], read[1:], ["problem " + "0" * 64, read[1]], [read[0], read[1].replace("4 inputs", "5 inputs")]]
    for other in ([], *others, read[::-1]):
        fake(true, 0, *other)
        found = rr.check(saved, core=True)
        assert found.status == "REFUTED"
        assert "it read another problem" in found.reason
    for line, status in (
        (f"PROVED (verified core): optimum in [0/1, {bound.numerator}/{bound.denominator + 1}]", 0),
        (f"PROVED (kernel): optimum in [0/1, {bound.numerator}/{bound.denominator}]", 0),
        ("PROVED (verified core): no mechanism exists", 0),
        ("REFUTED at line 3", 1),
        ("UNREADABLE line 1 column 1: unknown, missing or extra field", 2),
    ):
        fake(line, status, *read)
        found = rr.check(saved, core=True)
        assert found.status == "REFUTED"
        assert "please report it" in found.reason


@pytest.mark.parametrize(("line", "status"), [("", 0), ("hello", 0), ("PROVED (verified core): ", 1)])
def test_another_program_is_not_taken_for_the_core(saved, fake, line, status):
    fake(line, status)
    with pytest.raises(rr.InputError, match="it does not answer as rropt-core does"):
        rr.check(saved, core=True)


def test_a_core_that_is_not_there_is_one_line(saved, monkeypatch, capsys):
    monkeypatch.setenv("RROPT_CORE", "no-such-program")
    assert main(["check", "--core", str(saved)]) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert "RROPT_CORE=no-such-program: it is not a program that can be run; make core builds it" in ended.err


def test_files_that_prove_nothing_stay_what_they_are(saved, tmp_path):
    document = json.loads(saved.read_text(encoding="utf-8"))
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({**document, "bound": "0"}), encoding="utf-8")
    assert rr.check(bad, core=True).status == "REFUTED"
    assert rr.check(tmp_path / "missing.json", core=True) == rr.check(tmp_path / "missing.json")


# ---- the commands ------------------------------------------------------------------------------------


def test_the_command_says_which_programs_accept_and_that_the_core_is_missing(
    saved, capsys, checkout: Path, tmp_path, monkeypatch
):
    # A name without the folders above it, whose letters may be ones that the checker prints escaped.
    monkeypatch.chdir(tmp_path)
    outside = shutil.copy(checkout / "docs" / "examples" / "robust-levels.json", "outside.json")
    assert main(["check", "--core", str(saved), str(outside)]) == 0
    ended = capsys.readouterr()
    assert f"{saved}: PROVED (kernel and checker) optimum in [" in ended.out
    assert f"{outside}: PROVED (checker) optimum in [" in ended.out
    assert f"{outside}: checker only: the verified core has no proofs of kind 'column-dual' with levels" in ended.out
    assert ended.err.count("\n") == 1
    assert "rropt-core is not on PATH, and RROPT_CORE is not set: the kernel of rropt checks" in ended.err


def test_the_command_writes_the_file_that_the_kernel_checks(saved, tmp_path, capsys):
    proof = tmp_path / "deep" / "proof.core"
    assert main(["core", str(saved), "-o", str(proof)]) == 0
    done = subprocess.run([sys.executable, "-m", "rropt.kernel", str(proof)], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:29]) == (0, "PROVED (kernel): optimum in [")
    assert main(["core", str(saved)]) == 0
    assert capsys.readouterr().out.encode() == proof.read_bytes()


def test_the_command_refuses_what_is_outside_and_what_is_not_proved(tmp_path, capsys, checkout: Path):
    outside, proof = checkout / "docs" / "examples" / "robust-levels.json", tmp_path / "proof.core"
    assert main(["core", str(outside), "-o", str(proof)]) == 2
    said = capsys.readouterr().err
    assert "the verified core has no proofs of kind 'column-dual' with levels; rropt check checks it" in said
    assert main(["core", str(tmp_path / "missing.json"), "-o", str(proof)]) == 2
    assert not proof.exists()


ROWS = [
    [["1", "-8/27", "-64/27"], ["1", "-2/3", "-2"]],
    [["3/7", "4/7", "-8/7", "-32/21"], ["3/5", "2/5", "-1", "-5/3"]],
    [["1/5", "4/5", "-20/9", "-4/9"], ["1/2", "1/2", "-8/5", "-16/15"]],
]


@pytest.mark.parametrize("rows", ROWS, ids=str)
def test_tests_of_columns_that_prices_leave_nothing_are_whole_in_the_proof_file(rows: list[list[str]]) -> None:
    """Rounded multipliers of rows in thirds broke a test that holds with equality, and the kernel refused the proof."""
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rr.ConeConstraint(rows)], inputs=range(len(rows[0]))).solve()
    assert solution.status == "certified"
    assert solution.verdict is not None
    assert solution.verdict.by == "kernel and checker"
