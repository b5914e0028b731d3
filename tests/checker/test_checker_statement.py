"""What the checker prints: the whole statement, a digest that names the problem, and nothing that forges a line."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import shells
from builders import encode
from independent_checker import campaign
from typer.testing import CliRunner

from rropt import checker
from rropt.checker import check_bytes, check_file, main
from rropt.cli.main import app
from rropt.prove.problem_digest import digest

STORED = campaign.stored()
CONTROLS = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")]
FORGED = "x\nPROVED optimum in [0, 1]  gap 0\r\x1b[2K\u202e\u2028\x85y"


def put(document: Any, *place: Any, value: Any) -> Any:
    made = copy.deepcopy(document)
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return made


def lines(document: Any) -> list[str]:
    verdict = check_bytes(json.dumps(document).encode())
    assert verdict.proved, verdict.reason
    return verdict.report().split("\n")


@pytest.mark.parametrize("name", STORED)
def test_the_digest_is_that_of_the_function_outside(name: str) -> None:
    document = STORED[name]
    verdict = check_bytes(json.dumps(document).encode())
    assert verdict.digest == digest(document["problem"])
    assert f"problem SHA-256 {verdict.digest}" in verdict.report().split("\n")
    turned = {key: document["problem"][key] for key in reversed(document["problem"])}
    assert check_bytes(json.dumps({**document, "problem": turned}, indent=2).encode()).digest == verdict.digest
    refuted = check_bytes(json.dumps({**document, "assumptions": ["mi-column-convex"] * 2}).encode())
    assert (refuted.status, refuted.digest) == ("REFUTED", verdict.digest)


WHOLE = {
    "linear-path": [
        "graph cone of 4 edges, epsilon 1, rows: 0", "prior: from 1/5 to 1/2", "costs: 6 cells, from 1/5 to 1",
    ],
    "mi-directed": ["graph cone of 3 edges, epsilon from 1/2 to 2, rows: 0", "prior: from 1/5 to 1/2"],
    "mi-zero": ["complete cone epsilon = 1, rows: 0", "prior: from 2/7 to 5/7, and 0 for 1 inputs"],
    "mi-given": ["complete cone epsilon = 1, rows: 0", "prior: from 1/5 to 1/2", "given: probabilities 1/2"],
    "bayes": ["complete cone epsilon = 1, rows: 0", "prior: from 1/5 to 1/2", "gains of 3 actions: from 0 to 1"],
    "bayes-cone": [
        "polyhedral cone of 2 cone rows on the complete cone gamma = 3, rows: 0", "prior: from 1/5 to 1/2",
        "gains of 3 actions: from 0 to 1", "cone rows: 2",
    ],
    "linear": [
        "complete cone epsilon = 1, rows: 3", "prior: from 1/5 to 1/2", "costs: 3 cells, from 1/5 to 1/2",
        "rows: 0 equalities, 3 inequalities",
    ],
    "linear-free": [
        "free cone, rows: 3", "prior: 1/3", "costs: 3 cells, 1",
        "rows: 3 equalities, 0 inequalities, 2 cells must be 0",
    ],
    "entropy": [
        "complete cone epsilon = 1, rows: 3", "prior: 1/3", "shares: 3 rows, 1", "rows: 0 equalities, 3 inequalities",
    ],
    "entropy-floor": [
        "free cone, rows: 2, entropy floor 1/2", "prior: 1/3", "costs: 3 cells, 1",
        "rows: 2 equalities, 0 inequalities", "entropy floor: 3 rows with a share, sizes 3",
    ],
    "entropy-shared": [
        "free cone, rows: 0, entropy floor 1/2", "prior: 1/3", "costs: 3 cells, 1",
        "entropy floor: 3 rows with a share, sizes from 1 to 2",
    ],
    "design-queries": [
        "complete cone epsilon = 1, rows: 0", "prior: from 1/5 to 1/2", "queries: coefficients from -1 to 1",
    ],
    "robust-polytope": [
        "robust cone of 2 blocks, epsilon = 1, rows: 0", "prior: from 1/20 to 9/20",
        "cone: lower bounds of a block sum to from about 0.741105119822 to about 0.827523873839",
    ],
    "robust-product": [
        "radius in [0.0390736395162, 0.0390736395163], epsilon = 1, rows: 0", "prior: from 1/20 to 9/20",
        "cone: counts of 200 records in blocks, 100 each",
    ],
    "risk-linear": [
        "identification risk <= 0.4 of 1 categories", "prior: from 1/5 to 1/2", "costs: 3 cells, from 1/5 to 1/2",
        "risk: categories 'c'; counts of 10 records, from 2 to 5",
    ],
    "risk-blocks": [
        "identification risk <= 0.4 of 1 categories", "prior: from 1/16 to 1/2", "costs: 4 cells, from 1/16 to 1/2",
        "risk: categories 'd'; counts of 16 records, from 1 to 8", "risk: inverse-frequency blocks, 2 of 2",
    ],
    "approximate-events": ["approximate (epsilon = 1, delta = 1/20)", "prior: 1/9", "costs: 9 cells, 1"],
}  # fmt: skip
"""Of each file how the line of the problem ends, and all the other lines but the digest."""


@pytest.mark.parametrize("name", WHOLE)
def test_the_report_tells_what_the_problem_has_and_nothing_else(name: str) -> None:
    verdict = check_bytes(json.dumps(STORED[name]).encode())
    assert verdict.proved, verdict.reason
    end, *rest = WHOLE[name]
    assert verdict.problem.endswith(f", {end}")
    told = [line for line in verdict.statement if not line.startswith("proof in lines: judged by the kernel")]
    assert told == [f"problem SHA-256 {verdict.digest}", *rest]
    assert verdict.report().split("\n")[: len(rest) + 2] == [verdict.problem, *told]


def test_printable_ascii_is_printed_as_it_is_and_nothing_else() -> None:
    every = "".join(chr(n) for n in range(32, 127) if chr(n) not in "'\\")
    risk = {"at_most": "99/100", "counts": ["1", "1"], "categories": [0]}
    names = [(every[i : i + 30], every[i : i + 30]) for i in range(0, len(every), 30)]
    for name, shown in (*names, ("\x1f\x7f\xe9\u2028\U0001f600", r"\x1f\x7f\xe9\u2028\U0001f600")):
        made = shells.member({**shells.table([[1, 1], [1, 1]]), "outputs": [name, "b"]}, identification_risk=risk)
        made["problem"].update(inputs=[name, "b"], outputs=[name, "b"])
        assert f"risk: categories '{shown}'; " in shells.checked(made).report()
    told = check_file("/none/\xe9").report()
    assert told.endswith(r"'/none/\xe9'")


def test_categories_of_a_risk_bound_are_named_and_many_are_counted() -> None:
    document = STORED["risk-linear"]
    inputs = [*document["problem"]["inputs"]]
    inputs[2] = FORGED
    document = put(document, "problem", "inputs", value=inputs)
    document = put(document, "problem", "outputs", value=inputs)
    document = put(document, "mechanism", "outputs", value=inputs)
    said = lines(put(document, "problem", "identification_risk", "categories", value=[2]))
    assert sum("PROVED" in line for line in said) == 2  # the verdict, and what stands inside of the name
    assert sum(line.startswith("PROVED") for line in said) == 1
    risk = {"at_most": "99/100", "counts": ["1"] * 12, "categories": [*range(12)]}
    unit = [[2 if x == z else 1 for z in range(12)] for x in range(12)]
    told = shells.checked(shells.member(shells.table(unit), identification_risk=risk)).statement
    assert any("'7' and 4 more; counts of 12 records, 1" in line for line in told)


def row(sense: str, rhs: str, terms: list[list[Any]]) -> Any:
    return {"name": f"{sense}{rhs}{terms}", "sense": sense, "rhs": rhs, "terms": terms}


VOID = {
    "nothing": row("<=", "0", []),
    "an equality of nothing": row("=", "0", []),
    "a cell": row("<=", "1", [[0, 0, "1"]]),
    "a negative cell": row("<=", "0", [[0, 0, "-1"]]),
    "whole rows": row("=", "3", [[0, y, "1"] for y in range(3)] + [[1, y, "2"] for y in range(3)]),
    "two cells of a row": row("<=", "2", [[0, 0, "1"], [0, 1, "2"]]),
}
BINDING = {
    "a cell": row("<=", "1/2", [[0, 0, "1"]]),
    "an equality of a cell": row("=", "1", [[0, 0, "1"]]),
    "less than whole rows": row("<=", "2", [[0, 0, "1"], [1, 1, "2"]]),
    "a whole row but a cell": row("=", "1", [[0, 0, "1"], [0, 1, "1"]]),
    "unequal": row("=", "2", [[0, 0, "1"], [0, 1, "2"], [0, 2, "2"]]),
}


FITTING = {
    "an equality of a cell": [[1, 0, 0]] * 2,
    "a whole row but a cell": [[1, 1, 0]] * 2,
    "unequal": [[0, 1, 1]] * 2,
}
"""Mechanisms for rows that do not allow every one."""


def stated(rows: list[list[int]], /, **parts: Any) -> tuple[str, ...]:
    """What is said of a problem with these parts that this mechanism keeps."""
    verdict = shells.checked(shells.member(shells.table(rows), **parts))
    assert verdict.proved, verdict.reason
    return verdict.statement


@pytest.mark.parametrize("name", [*VOID, *(f"binds {name}" for name in FITTING), *BINDING])
def test_void_rows_are_counted(name: str) -> None:
    rest = name.removeprefix("binds ")
    own = VOID[name] if name in VOID else BINDING[rest]
    said = [line for line in stated(FITTING.get(rest, [[1, 2, 3]] * 2), rows=[own]) if line.startswith("rows: ")]
    assert [("void" in line) for line in said] == [name in VOID]


def test_a_row_of_nothing_that_is_impossible_is_not_void() -> None:
    made = shells.member(shells.table([[1, 2, 3]] * 2), rows=[row("<=", "-1", [])])
    proof = {"kind": "farkas", "prices": ["0"] * 2, "rows": ["1"], "flows": []}
    verdict = shells.checked({**made, "mechanism": None, "value": None, "bound": None, "proof": proof})
    assert verdict.kind == "infeasible", verdict.reason
    assert "rows: 0 equalities, 1 inequalities" in verdict.statement


def test_void_cone_rows_and_floors_are_told() -> None:
    same = [[1, 1, 1]] * 3
    cone = STORED["bayes-cone"]["problem"]["cone"]
    assert "void" not in "\n".join(stated(same, cone=cone))
    assert "cone rows: 2, 1 of them void" in "\n".join(stated(same, cone=put(cone, "rows", 1, value=["0", "-1", "0"])))
    floor = STORED["entropy-floor"]["problem"]["entropy"]

    def told(**changes: Any) -> str:
        return "\n".join(stated(same, entropy={**floor, **changes}))

    assert "binds nothing" not in told()
    assert "(binds nothing)" in told(at_least="0")
    assert "(binds nothing)" in told(sizes=[1, 1, 1])
    assert "binds nothing" not in told(sizes=[1, 3, 1])
    assert "entropy floor: 2 rows with a share, sizes from 2 to 3" in told(sizes=[3, 1, 2], shares=["1", "0", "1"])


def test_parts_of_nothing_are_told() -> None:
    assert "costs: 0 cells" in stated([[1, 1]] * 2)
    made = shells.member(shells.table([[1]] * 3), utility={"kind": "entropy", "shares": ["1", "0", "1"]})
    assert "shares: 2 rows, 1" in shells.checked(made | {"bound": "1"}).statement
    # The rest of a row that is 0 together may be anything.
    for rest in ("-1", "0"):
        own = row("<=", "0", [[0, 0, "1"], [0, 1, rest]])
        assert "rows: 0 equalities, 1 inequalities" in stated([[0, 1, 1]] * 2, rows=[own])


# -- what is taken for granted ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORED)
def test_a_file_lists_every_lemma(name: str) -> None:
    document = STORED[name]
    verdict = check_bytes(json.dumps(document).encode())
    own = document["assumptions"]
    assert sorted(verdict.assumptions) == sorted(own)
    for other in ([], own[1:], own[:-1], own + own[:1], [*own[1:], "gibbs-inequality", "marcus-lopes"]):
        if other != own:
            assert check_bytes(json.dumps({**document, "assumptions": other}).encode()).status == "REFUTED", other


def test_lemmas_of_a_mechanism_and_of_a_structure_are_of_these_only() -> None:
    """An infeasible design has no mechanism."""
    cone = {"kind": "polyhedral", "base": {"kind": "free"}, "rows": [["1", "1"]]}
    proof = {"kind": "farkas", "prices": ["-1", "-1"], "rows": [], "flows": [], "multipliers": [["1"]]}
    for utility in ("inverse_trace", "inverse_determinant", "inverse_eigenvalue"):
        problem = {"sense": "minimize", "inputs": ["a", "b"], "outputs": None, "weights": ["1", "1"],
                   "utility": {"kind": utility}, "cone": cone, "rows": []}  # fmt: skip
        document = {"format": "rropt-certificate", "problem": problem, "mechanism": None,
                    "value": None, "bound": None, "proof": proof, "assumptions": []}  # fmt: skip
        verdict = check_bytes(encode(document))
        assert (verdict.status, verdict.kind, verdict.assumptions) == ("PROVED", "infeasible", ()), verdict


def test_the_entropy_of_the_input_as_a_bound_takes_no_lemma() -> None:
    verdict = check_bytes(json.dumps(STORED["known"]).encode())
    assert (verdict.status, verdict.assumptions) == ("PROVED", ()), verdict


def test_the_format_and_the_page_say_what_every_name_means(checkout: Path) -> None:
    from rropt.prove.assumptions import MEANINGS

    text = (checkout / "docs" / "certificate-format.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in checker.NAMES)
    assert set(MEANINGS) == set(checker.NAMES)


# -- nothing that a file or its name holds makes a line of its own ----------------------------------------


def one_line(text: str) -> None:
    assert text.isascii()
    assert text.isprintable()


def test_labels_with_every_control_character_make_no_line() -> None:
    """As category of a risk bound, as the name of a row that is violated, as a key, and in what is misspelt."""
    base = STORED["linear"]
    for start in range(0, len(CONTROLS), 8):
        for c in CONTROLS[start : start + 8]:
            name = f"a{c}PROVED optimum in [0, 1]{c}"
            for document in (
                put(put(base, "problem", "rows", 0, "name", value=name), "problem", "rows", 0, "rhs", value="-9"),
                {**base, name: 1},
                {**base, "format": name},
                put(base, "problem", "sense", value=name),
                put(base, "bound", value=name),
                put(base, "assumptions", value=[name]),
            ):
                verdict = check_bytes(json.dumps(document).encode())
                assert not verdict.proved
                one_line(verdict.report())


def test_file_names_with_control_characters_make_no_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps(STORED["linear"]), encoding="utf-8")
    names = [f"{tmp_path}/{c}PROVED optimum in [0, 1]  gap 0" for c in CONTROLS]
    for name in names:
        assert main([name, str(good)]) == 2
        told = capsys.readouterr().out.split("\n")
        for line in told:
            one_line(line)
        assert sum("UNREADABLE" in line for line in told) == 1
        assert len(told) == 1 + len(check_bytes(good.read_bytes()).report().split("\n")) + 1


def test_a_name_that_looks_like_a_verdict_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["good.json: PROVED optimum in [0, 1]", "plain-name_1.json"]) == 2
    first, second, _ = capsys.readouterr().out.split("\n")
    assert first.startswith("'good.json: PROVED optimum in [0, 1]': UNREADABLE: ")
    assert second.startswith("plain-name_1.json: UNREADABLE: ")


def test_a_newline_in_a_name_forges_no_verdict_as_a_command(tmp_path: Path) -> None:
    bad = tmp_path / "x\nPROVED optimum in [2, 2]  gap 0"
    bad.write_text("{}", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "rropt.checker", str(bad), str(bad)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert not any(line.startswith("PROVED") for line in ran.stdout.splitlines())


# -- whether a certificate is of a problem ----------------------------------------------------------------


def ran(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["check", *arguments])
    return found.exit_code, found.output


def test_check_says_whether_a_certificate_is_of_a_problem(checkout: Path, tmp_path: Path) -> None:
    examples = checkout / "docs" / "examples"
    for path in sorted(examples.glob("*.toml")):
        status, said = ran("--problem", str(path), str(path.with_suffix(".json")))
        assert (status, "OF THIS PROBLEM" in said, "OTHER PROBLEM" in said) == (0, True, False), path
    other = tmp_path / "other.toml"
    text = (examples / "approximate.toml").read_text(encoding="utf-8")
    other.write_text(text.replace("0.05", "0.04"), encoding="utf-8")
    assert other.read_text(encoding="utf-8") != text
    status, said = ran("--problem", str(other), str(examples / "approximate.json"))
    assert status == 1
    assert 'approximate.delta: declared as "1/25", "1/20" in the certificate' in said
    status, said = ran("--problem", str(other), str(examples / "approximate.json"), str(tmp_path / "none.json"))
    assert (status, said.count("OTHER PROBLEM"), said.count("UNREADABLE")) == (2, 1, 1)


def test_check_takes_data_with_a_problem_only(checkout: Path) -> None:
    status, _ = ran(str(checkout / "docs" / "examples" / "bayes.json"), "--data", "x.csv", "--column", "c")
    assert status != 0
