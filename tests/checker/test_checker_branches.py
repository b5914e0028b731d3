"""Branches of the checker that the certificates of the other tests do not reach: rare, long, or behind checks."""

from __future__ import annotations

import copy
import json
import os
import runpy
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Document, encode, ends, rat
from flint import arb, ctx, fmpq
from shells import claimed
from test_checker_offdiagonal import CASES, grown

from rropt import checker
from rropt.checker import check_bytes, main

STORED = Path(__file__).resolve().parents[1] / "data" / "independent_checker"


def stored(name: str) -> Any:
    return json.loads((STORED / f"{name}.json").read_bytes())


def status(document: Document) -> tuple[str, str]:
    verdict = check_bytes(encode(document))
    return verdict.status, verdict.reason


def loose(document: Document) -> Document:
    """With a value and a bound that say nothing."""
    return {**copy.deepcopy(document), "value": {"lower": "0", "upper": "100"}, "bound": "100"}


# -- reading -------------------------------------------------------------------------------------------


def test_a_block_of_two_needs_counts() -> None:
    made = stored("risk-blocks")
    made["problem"]["identification_risk"]["counts"][0] = "0"
    found, reason = status(made)
    assert found == "UNREADABLE"
    assert reason.endswith("blocks[0]: a block of two or more has only inputs with counts >= 1")


# -- mechanisms ----------------------------------------------------------------------------------------


def test_off_diagonals_of_zero_and_one() -> None:
    """Two inputs that give one answer: a column of ones, one of zeros, and no information."""
    plain, most, width = CASES["2"]
    made = plain.document(grown("2"), most, [0, 1], 1)
    made["value"] = {"lower": "0", "upper": "0"}
    assert status(made) == ("PROVED", "")
    del width


def test_a_chi_square_information_too_long_to_be_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    made = stored("chi-boxes")
    exact = Fraction(made["value"]["lower"])
    monkeypatch.setattr(checker, "MAX_EXACT_BITS", 100)
    found, reason = status(made)
    assert (found, reason.split(":")[0]) == ("REFUTED", "value.lower")  # an enclosure has a width
    made["value"] = {"lower": str(exact - Fraction(1, 2**90)), "upper": str(exact + Fraction(1, 2**90))}
    assert status(made) == ("PROVED", "")


def test_a_chi_square_information_over_a_long_denominator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, written with a factor of 2^5000 that cancels: exact while the work is small, else enclosed."""
    made = stored("chi-boxes")
    exact = Fraction(made["value"]["lower"])
    table = made["mechanism"]
    table["denominators"] = [str(int(d) << 5000) for d in table["denominators"]]
    table["columns"] = [{"dense": [str(int(n) << 5000) for n in column["dense"]]} for column in table["columns"]]
    assert status(made) == ("PROVED", "")
    monkeypatch.setattr(checker, "MAX_EXACT_WORK", 5000)
    found, reason = status(made)
    assert (found, reason.split(":")[0]) == ("REFUTED", "value.lower")
    made["value"] = {"lower": str(exact - Fraction(1, 2**90)), "upper": str(exact + Fraction(1, 2**90))}
    assert status(made) == ("PROVED", "")


def test_columns_of_zeros_fill_a_batch_of_a_design() -> None:
    made = stored("design-d")
    table = made["mechanism"]
    table["columns"] = [{"low": "0", "high": "0", "members": "0"}] * 256 + table["columns"]
    table["outputs"] = [f"none {y}" for y in range(256)] + table["outputs"]
    assert status(made) == ("PROVED", "")


NEAR = [10, 40, 70, *range(84, 128, 4), 126, 127, 300, 480, 600]


@pytest.mark.parametrize("bits", NEAR)
def test_designs_nearer_and_nearer_to_singular(bits: int) -> None:
    """-log det M at Q = 1/2 +- 2^-bits, p = (2/3, 1/3), enclosed to 2^-60 up to bits = 400, and never beside it."""
    made = stored("design-d")
    step = Fraction(1, 2**bits)
    rows = [[Fraction(1, 2) + step, Fraction(1, 2) - step], [Fraction(1, 2) - step, Fraction(1, 2) + step]]
    made["problem"].update(inputs=["a", "b"], weights=["2", "1"])
    columns = [{"dense": [str(row[y] * 2**bits) for row in rows]} for y in range(2)]
    made["mechanism"] = {"denominators": [str(2**bits)], "outputs": ["0", "1"], "columns": columns}
    made["proof"].update(prices=["0"] * 2, forms=[["1", "0"], ["0", "1"]], tree=["0"])
    p = [Fraction(2, 3), Fraction(1, 3)]
    matrix = [[Fraction(0)] * 2 for _ in range(2)]
    for y in range(2):
        w = sum(p[x] * rows[x][y] for x in range(2))
        for x in range(2):
            for z in range(2):
                matrix[x][z] += rows[x][y] * rows[z][y] / w
    determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0]
    before, ctx.prec = ctx.prec, 4000
    try:
        true = ends(-arb(fmpq(determinant.numerator, determinant.denominator)).log())
    finally:
        ctx.prec = before
    wide = true[1] / 2**60
    near = claimed(made, rat(true[0] - wide), rat(true[1] + wide))
    assert near == "" or bits > 100
    assert bits > 120 or claimed(made, rat(true[0] + wide), rat(true[1] + 2 * wide)) == "lower"
    assert bits > 120 or claimed(made, rat(true[0] - 2 * wide), rat(true[1] - wide)) == "upper"
    assert near in ("", "unproved")


def test_a_row_of_equal_entries_and_zeros_reaches_its_floor_exactly() -> None:
    """H = log 2 of 3/6, 3/6, 0 is known as that, zeros left out; log 6 - log 3 would not be an exact zero beside it."""
    made = stored("entropy-floor")
    made["problem"]["entropy"].update(at_least="1", sizes=[2, 2, 2])
    made["problem"]["rows"] = []
    columns = [["3", "3", "0"], ["3", "0", "3"], ["0", "3", "3"]]
    made["mechanism"].update(denominators=["6"], columns=[{"dense": column} for column in columns])
    made["proof"] = {"kind": "entropy-dual", "weight": "0", "rows": [], "tilts": [], "flows": []}
    own = sum(Fraction(c) * Fraction(int(columns[y][x]), 6) for x, y, c in made["problem"]["utility"]["cost"])
    most = [
        max([Fraction(c) for z, _, c in made["problem"]["utility"]["cost"] if z == x] + [Fraction(0)]) for x in range(3)
    ]
    made["value"], made["bound"] = {"lower": str(own), "upper": str(own)}, str(sum(most))
    assert status(made) == ("PROVED", "")
    made["problem"]["entropy"]["at_least"] = "1000001/1000000"
    found, reason = status(made)
    assert (found, reason.split(":")[0]) == ("REFUTED", "mechanism")


# -- proofs --------------------------------------------------------------------------------------------


def thousandth(value: Any) -> Any:
    return [thousandth(one) for one in value] if isinstance(value, list) else str(Fraction(value) / 1000)


def test_a_form_without_values_between_its_limits_closes_the_leaf() -> None:
    made = stored("design-e-path")
    false = {"n": 0, "f": [], "e": [0] * len(made["proof"]["forms"])}
    boxes = made["proof"]["boxes"]
    made["proof"]["boxes"] = [["y", 0, "-1000000"], false, *boxes]
    assert status(made) == ("PROVED", "")
    made["proof"]["boxes"] = [["y", 0, "1000000"], false, *boxes]
    assert status(made)[0] == "REFUTED"


def test_a_form_with_one_value_between_its_limits_does_not_close_the_leaf() -> None:
    made = stored("design-e-path")
    absurd = {"n": 10**12, "f": [], "e": [0] * len(made["proof"]["forms"])}
    boxes = made["proof"]["boxes"]
    twice, place = [["y", 0, "-1/2"], ["y", 0, "-1/2"], *boxes], len(boxes) + 2
    made["proof"]["boxes"] = [*twice, *boxes, *boxes]
    assert status(made) == ("PROVED", "")
    made["proof"]["boxes"] = [*twice, absurd, *boxes]
    assert status(made) == ("REFUTED", f"proof.boxes[{place}]: the inequality of this leaf fails")


def test_factors_of_zero_prove_nothing() -> None:
    made = stored("design-e-path")
    k = len(made["problem"]["inputs"])
    zeros = [["0"] * k] * k
    made["proof"].update(prices=["0"] * k, forms=zeros, factors=zeros, boxes=[{"n": 0, "f": [], "e": [0] * k}])
    assert status(made) == ("REFUTED", "bound: claims more than the proof yields")


def test_what_is_forgotten_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MOST_HEIGHTS", 10)
    monkeypatch.setattr(checker, "MOST_SUMMANDS", 2**16)
    assert status(stored("off-diagonal")) == ("PROVED", "")


def test_costs_between_blocks_count_for_nothing() -> None:
    made = stored("risk-blocks")
    made["problem"]["utility"]["cost"].insert(1, [0, 2, "1000"])
    assert status(made) == ("PROVED", "")
    made["problem"]["utility"]["cost"][1] = [0, 1, "1000"]
    assert status(made)[0] == "REFUTED"


def test_inputs_of_weight_zero_in_blocks() -> None:
    made = loose(stored("risk-blocks-mi"))
    made["problem"]["weights"] = ["8", "0", "3", "1"]
    assert status(made) == ("PROVED", "")
    made["bound"] = "0"
    assert status(made)[0] == "REFUTED"


def test_a_row_that_packs_nothing() -> None:
    made = stored("risk-linear")
    made["problem"]["rows"] = [{"name": "any", "sense": "<=", "rhs": "0", "terms": [[0, 0, "1"], [0, 1, "-100"]]}]
    found, reason = status(made)
    assert (found, reason) in (("PROVED", ""), ("REFUTED", "problem.rows[0] ('any'): the mechanism violates it"))
    made["problem"]["rows"][0]["rhs"] = "5"
    assert status(made) == ("PROVED", "")


# -- the program ---------------------------------------------------------------------------------------


def test_a_verdict_that_nobody_reads_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert main([str(STORED / "linear.json")]) == 2


@pytest.mark.parametrize(("name", "expected"), [("linear", 0), ("nothing there", 2)])
def test_the_file_is_a_program(
    name: str, expected: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["checker.py", str(STORED / f"{name}.json")])
    with pytest.raises(SystemExit) as exit_status:
        runpy.run_path(checker.__file__, run_name="__main__")
    assert exit_status.value.code == expected
    assert ("PROVED" in capsys.readouterr().out) == (expected == 0)
