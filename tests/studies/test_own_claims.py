"""Claims of one's own: each verdict on cases whose truth is known by hand, and never "confirmed" for a false one."""

from __future__ import annotations

import math
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.exact import Interval
from rropt.studies.own_claims import own_claims, read_claim

AB = ["a", "b"]
PROBLEM = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=AB)
"""Its optimum is 3/2, at randomised response with 3/4."""
INFORMATION = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.uniform(AB))), [rr.LDP(1)])
"""Its optimum is 0.110944071671..., at randomised response with e / (1 + e)."""
LOSS = rr.Problem(rr.Minimize(rr.ExpectedLoss(rr.Prior.uniform(AB), 1 - np.eye(2), actions=AB)), [rr.LDP(gamma=3)])
"""Its optimum is 1/4."""
EMPTY = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3), rr.Floor("0.9")], inputs=AB)
TINY = F(1, 10**9)


def response(truth: Any, lie: Any = None) -> list[list[Any]]:
    """Randomised response of two inputs."""
    other = 1 - truth if lie is None else lie
    return [[truth, other], [other, truth]]


CONFIRMED: dict[str, tuple[Any, ...]] = {
    "an exact optimum": (PROBLEM, response(F(3, 4)), "optimal", F(3, 2)),
    "a matrix as text": (PROBLEM, response("0.75", "0.25"), "optimal", "1.5"),
    "a mechanism": (PROBLEM, rr.Mechanism.from_rationals(response(F(3, 4)), inputs=AB, outputs=AB), "optimal"),
    "a private matrix": (PROBLEM, response(F(3, 5)), "feasible"),
    "with its value": (PROBLEM, response(F(3, 5)), "feasible", "1.2"),
    "an optimum as a ratio": (PROBLEM, None, "optimal", F(3, 2)),
    "digits of an optimum": (INFORMATION, None, "optimal", "0.11094407"),
    "a bound": (PROBLEM, None, "bound", "1.5"),
    "a bound far away": (PROBLEM, None, "bound", 10**400),
    "a bound from below": (LOSS, None, "bound", "0.25"),
    "any bound on nothing": (EMPTY, None, "bound", 0),
}
REFUTED: dict[str, tuple[Any, ...]] = {
    "not private by 1e-9": (PROBLEM, response(F(3, 4) + TINY), "feasible"),
    "not private in two digits": (PROBLEM, response("0.80", "0.20"), "feasible"),
    "not optimal": (PROBLEM, response(F(3, 5)), "optimal"),
    "not optimal in two digits": (PROBLEM, response("0.70", "0.30"), "optimal"),
    "a trailing zero is a digit": (PROBLEM, response("0.70", "0.30"), "optimal", "1.40"),
    "one unit off is not a rounding": (PROBLEM, response(F(3, 5)), "feasible", "1.3"),
    "not its value": (PROBLEM, response(F(3, 5)), "feasible", "1.9"),
    "a value above by 1e-9": (PROBLEM, None, "optimal", F(3, 2) + TINY),
    "a value in a late digit": (PROBLEM, None, "optimal", "1.500000003"),
    "an integer is exact": (PROBLEM, None, "optimal", 2),
    "an integer as text is exact": (PROBLEM, None, "optimal", "2"),
    "a bound below by 1e-9": (PROBLEM, None, "bound", F(3, 2) - TINY),
    "a bound above for a loss": (LOSS, None, "bound", F(1, 4) + TINY),
    "a bound that one digit cannot tell": (INFORMATION, None, "bound", "0.1"),
    "a bound that is not the optimum rounded": (INFORMATION, None, "bound", "0.1108"),
    "a bound rounded by a fifth, for a loss": (LOSS, None, "bound", "0.3"),
    "a last digit of one digit": (INFORMATION, None, "optimal", "0.2"),
    "a value whose last digit is a tenth of it": (PROBLEM, response(F(16, 25)), "feasible", "1.2"),
    "an optimum of nothing": (EMPTY, None, "optimal", "1.5"),
    "an optimal matrix of nothing": (EMPTY, response(F(3, 4)), "optimal"),
    "rows that miss one": (PROBLEM, [[F(3, 4) - TINY / 2, F(1, 4)], [F(1, 4), F(3, 4) - TINY / 2]], "feasible"),
}
CORRECTED: dict[str, tuple[Any, ...]] = {
    "rounded out of privacy": (PROBLEM, response("0.8", "0.2"), "feasible"),
    "rounded away from the optimum": (INFORMATION, response("0.731", "0.269"), "optimal", "0.1109"),
    "rows that rounding explains": (PROBLEM, [["0.66", "0.33"], ["0.33", "0.66"]], "feasible"),
    "a last digit": (INFORMATION, None, "optimal", "0.1110"),
    "a bound rounded to the wrong side": (INFORMATION, None, "bound", "0.1109"),
    "a bound rounded by a hundredth": (INFORMATION, None, "bound", "0.11"),
    "optimal but for 1e-9": (PROBLEM, response(F(3, 4) - TINY), "optimal"),
    "doubles": (INFORMATION, np.array(response(math.e / (1 + math.e), 1 / (1 + math.e))), "optimal"),
}


def judged(case: tuple[Any, ...]) -> Any:
    problem, matrix, claimed, *value = case
    return rr.claims.verify_claim(problem, matrix=matrix, claimed=claimed, value=value[0] if value else None)


@pytest.mark.parametrize("case", CONFIRMED.values(), ids=CONFIRMED)
def test_what_is_true_is_confirmed(case: tuple[Any, ...]) -> None:
    found = judged(case)
    assert found.verdict == "confirmed", (found.cells, found.witness)
    for solution in found.evidence.solutions.values():
        assert solution.verdict.proved


@pytest.mark.parametrize("case", REFUTED.values(), ids=REFUTED)
def test_what_is_false_is_refuted_with_a_witness(case: tuple[Any, ...]) -> None:
    found = judged(case)
    assert found.verdict == "refuted", (found.cells, found.errata)
    assert found.witness


def test_a_refuted_integer_is_told_as_it_was_claimed() -> None:
    assert judged(REFUTED["an integer is exact"]).witness.endswith("is proved, and 2 is claimed")


@pytest.mark.parametrize("case", CORRECTED.values(), ids=CORRECTED)
def test_what_holds_after_a_correction_says_so(case: tuple[Any, ...]) -> None:
    found = judged(case)
    assert found.verdict == "confirmed_with_erratum", (found.cells, found.witness)
    assert found.errata


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        (CORRECTED["a bound rounded to the wrong side"], "0.11095, rounded to the safe side"),
        (CORRECTED["a bound rounded by a hundredth"], "0.111, rounded to the safe side"),
    ],
)
def test_the_corrected_bound_holds_and_is_near(claim: tuple[Any, ...], named: str) -> None:
    """One unit of the last digit was named, 0.12 for 0.11."""
    (found,) = judged(claim).errata
    assert found == named
    assert rr.claims.verify_claim(claim[0], claimed="bound", value=found.partition(",")[0]).verdict == "confirmed"


@pytest.mark.parametrize("digits", range(1, 7))
@pytest.mark.parametrize("problem", [INFORMATION, LOSS], ids=["information", "loss"])
def test_no_number_is_corrected_by_more_than_a_hundredth(problem: rr.Problem, digits: int) -> None:
    """Whatever it is printed to: a correction is of the rounding, and not of the number."""
    true = problem.solve().value
    for claimed in ("bound", "optimal"):
        for step in (-2, -1, 0, 1, 2):
            value = f"{true + step * 10**-digits:.{digits}f}"
            found = rr.claims.verify_claim(problem, claimed=claimed, value=value)
            # "0.2" for 0.25 is proved but for the tie.
            if found.verdict == "confirmed_with_erratum" and "proved up to" not in found.errata[0]:
                assert abs(float(value) - true) <= true / 100, (claimed, value, found.errata)


def test_a_bound_that_is_not_machine_checked_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    solve = rr.Problem.solve
    monkeypatch.setattr(rr.Problem, "solve", lambda self, **more: replace(solve(self, **more), verdict=None))
    for case in (CONFIRMED["an exact optimum"], CONFIRMED["a bound"], CONFIRMED["digits of an optimum"]):
        assert judged(case).verdict == "not_checkable"
    assert judged(REFUTED["a bound below by 1e-9"]).verdict == "refuted", "the mechanism is a witness by itself"


def test_rounding_that_no_solver_decides_is_not_decided() -> None:
    printed = [["0.7499999999", "0.25"], ["0.25", "0.7499999999"]]
    assert rr.claims.verify_claim(PROBLEM, matrix=printed, claimed="feasible").verdict == "not_checkable"


def test_the_gap_of_the_problem_does_not_decide_what_is_optimal() -> None:
    wide = PROBLEM.with_options(gap=F(1, 2), absolute_gap=100)
    assert rr.claims.verify_claim(wide, matrix=response(F(3, 5)), claimed="optimal").verdict == "refuted"
    assert rr.claims.verify_claim(wide, matrix=None, claimed="optimal", value="1.2").verdict == "refuted"


def test_every_constraint_counts_where_two_have_one_description() -> None:
    """The first is broken, and the second of the same words holds."""
    rows = [rr.LinearConstraint(np.diag([1, 0]), "<=", "0.5"), rr.LinearConstraint(np.diag([0, 1]), "<=", "0.9")]
    for order in (rows, rows[::-1]):
        two = rr.Problem(rr.Maximize(rr.Trace()), [*order, rr.LDP(gamma=3)], inputs=AB)
        assert rr.claims.verify_claim(two, matrix=response(F(7, 10)), claimed="feasible").verdict == "refuted"
        assert rr.audit(response(F(7, 10)), problem=two).satisfies is False


def test_a_form_that_is_narrower_than_privacy_does_not_confirm_what_beats_it() -> None:
    respondents = rr.Prior.from_counts([[30, 20], [12, 25]], pairs=rr.Pairs(2, 2))
    goal, known = rr.Maximize(rr.MutualInformation(respondents)), rr.robust.ChiSquareSet(respondents)
    exact, narrow = (rr.Problem(goal, [rr.RLDP(1, known, form=form)]) for form in ("exact", "polytope"))
    best, less = exact.solve().mechanism, narrow.solve().mechanism
    assert rr.claims.verify_claim(narrow, matrix=less, claimed="optimal").verdict == "confirmed"
    assert rr.claims.verify_claim(narrow, matrix=best, claimed="optimal").verdict == "not_checkable"
    assert rr.claims.verify_claim(exact, matrix=less, claimed="optimal").verdict == "refuted"


def test_what_is_computed_is_enclosed() -> None:
    found = rr.claims.verify_claim(INFORMATION, matrix=None, claimed="bound", value="0.12")
    for name in ("value", "bound"):
        assert isinstance(found.computed[name], Interval)
        assert abs(float(found.computed[name]) - 0.110944071671) < 1e-9


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "needs a matrix or a value"),
    "a word": ({"claimed": "best", "value": 1}, "use one of: feasible, optimal, bound"),
    "no matrix": ({"claimed": "feasible", "value": 1}, "needs a matrix"),
    "a matrix for a bound": ({"claimed": "bound", "value": 1, "matrix": np.eye(2)}, "not a matrix"),
    "not a number": ({"value": math.nan}, "not a finite number"),
    "infinity": ({"value": "inf"}, "not a finite number"),
    "a huge exponent": ({"value": "1e99999"}, "out of range"),
    "a truth value": ({"value": True}, "truth value"),
    "an entry that is none": ({"matrix": [[math.nan, 1], [0, 1]]}, "not a finite number"),
    "another size": ({"matrix": np.eye(3)}, "it has 3 inputs, and the problem has 2; give one for each of a, b"),
    "one output": ({"matrix": [[1], [1]]}, "it has 1 output, and the problem has 2; give one for each of a, b"),
    "one row": (
        {"matrix": [["3/4", "1/4"]]},
        "^matrix: it has one row, and its rows are the inputs; give one row for each input, two or more$",
    ),
    "one column": ({"matrix": [["3/4"], ["1/4"]]}, "it has one column, and its columns are the inputs"),
    "other labels": (
        {"matrix": rr.Mechanism.from_rationals(response(F(3, 4)), inputs=["x", "y"], outputs=AB)},
        "inputs are x, y",
    ),
    "counts": ({"matrix": [[75, 25], [25, 75]]}, "above 1"),
    "no file": ({"matrix": "nowhere.csv"}, "cannot read"),
}


@pytest.mark.parametrize(("arguments", "said"), BAD.values(), ids=BAD)
def test_bad_arguments_are_one_line(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(rr.InputError, match=said) as caught:
        rr.claims.verify_claim(PROBLEM, **arguments)
    assert "\n" not in str(caught.value)


# ---- files -----------------------------------------------------------------------------------------------

TEXT = {"schema": "1", "problem": '"problem.toml"', "claimed": '"optimal"', "value": "1.5"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "problem.toml").write_text(rr.problem_file.problem_to_toml(PROBLEM), encoding="utf-8")
    return tmp_path


def written(folder: Path, name: str = "claim.toml", **keys: str | None) -> Path:
    """A claim's file, with some keys changed or (None) left out."""
    text = "".join(f"{key} = {value}\n" for key, value in {**TEXT, **keys}.items() if value is not None)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_claim_is_read_from_a_file(folder: Path) -> None:
    (folder / "matrix.csv").write_text("0.75,0.25\n0.25,0.75\n", encoding="utf-8")
    claim = read_claim(written(folder, id='"own.1"', where='"page 3"', matrix_file='"matrix.csv"'))
    assert (claim.id, claim.where, claim.paper) == ("own.1", "page 3", "own")
    assert claim.judge(claim.derive(False)).verdict == "confirmed"
    zeros = read_claim(written(folder, value=None, matrix="[[0.70, 0.30], [0.30, 0.70]]"))
    assert zeros.judge(zeros.derive(False)).verdict == "refuted", "0.70 has two digits"


BAD_FILES: dict[str, tuple[dict[str, str | None], str]] = {
    "no schema": ({"schema": None}, "schema is missing"),
    "no problem": ({"problem": None}, "problem is missing"),
    "no word": ({"claimed": None}, "claimed is missing"),
    "no value": ({"value": None}, "needs a matrix or a value"),
    "another schema": ({"schema": "2"}, "schema is not 1"),
    "an unknown key": ({"valeu": "1"}, "unknown key 'valeu'; did you mean 'value'"),
    "a number for text": ({"where": "3"}, "where is not one line of text"),
    "two lines": ({"statement": '"It is.\\n\\nVerdict: confirmed."'}, "statement is not one line of text"),
    "a way out of the folder": ({"id": '"../../out"'}, "cannot name certificates"),
    "a name of the shipped report": ({"id": '"ayed.table1"'}, "a name of the shipped report"),
    "two matrices": ({"matrix": "[[1]]", "matrix_file": '"m.csv"'}, "both given"),
    "not a number": ({"value": "nan"}, "not a finite number"),
    "no such problem": ({"problem": '"gone.toml"'}, r"toml: problem: there is no file \S*gone\.toml"),
    "not TOML": ({"value": "= ="}, "this is not TOML"),
    "no time": ({"time_limit": '"soon"'}, "not a number"),
}


@pytest.mark.parametrize(("keys", "said"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_one_line(folder: Path, keys: dict[str, str | None], said: str) -> None:
    path = written(folder, **keys)
    with pytest.raises(rr.InputError, match=said) as caught:
        own_claims(path)
    assert "\n" not in str(caught.value)


def test_what_is_not_a_claim_is_said(folder: Path) -> None:
    with pytest.raises(rr.InputError, match=r"this is a folder; rropt claims .* reads all of its claims"):
        read_claim(folder)
    with pytest.raises(rr.InputError, match=r'this is a problem and not a claim; .*problem = "problem\.toml"'):
        read_claim(folder / "problem.toml")


def test_a_folder_is_a_report_without_its_problems(folder: Path) -> None:
    with pytest.raises(rr.InputError, match="no claims"):
        own_claims(folder)
    written(folder, "b.toml", claimed='"bound"', value="1.6")
    written(folder, "a.toml")
    assert [claim.id for claim in own_claims(folder)] == [f"{folder.name}.a", f"{folder.name}.b"]
    written(folder, "c.toml", claimed=None)
    with pytest.raises(rr.InputError, match="claimed is missing"):
        own_claims(folder)
