"""Every form in which a certificate may write its mechanism is read as the format says and as the checker reads it."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rropt as rr
from rropt import __main__ as cli, checker
from rropt.errors import InputError
from rropt.prove.certificates import Certificate
from rropt.release import load_mechanism

LABELS = ("a", "b", "c")


def solved(*constraints: Any, prior: Any = None) -> dict[str, Any]:
    """The document of a certificate."""
    goal = rr.Maximize(rr.MutualInformation(prior or rr.Prior.from_counts(dict(zip(LABELS, (5, 3, 1), strict=True)))))
    certificate = rr.Problem(goal, list(constraints)).solve().certificate
    assert certificate is not None
    return certificate.document


def dense(document: dict[str, Any]) -> list[list[Fraction]]:
    """The matrix of a document, straight from section 5 of the format."""
    told, k = document["mechanism"], len(document["problem"]["inputs"])
    scales = [int(number) for number in told["denominators"]]
    scales = scales * k if len(scales) == 1 else scales
    if "off_diagonal" in told:
        rest = [Fraction(int(number), scale) for number, scale in zip(told["off_diagonal"], scales, strict=True)]
        return [[1 - (k - 1) * rest[x] if x == y else rest[x] for y in range(k)] for x in range(k)]
    rows: list[list[Fraction]] = [[] for _ in range(k)]
    for column in told["columns"]:
        for x in range(k):
            if "dense" in column:
                number = column["dense"][x]
            else:
                number = column["high" if int(column["members"], 16) >> x & 1 else "low"]
            rows[x].append(Fraction(int(number), scales[x]))
    return rows


def scaled(document: dict[str, Any], factors: tuple[int, ...]) -> dict[str, Any]:
    """The same matrix with one denominator a row, row x times factors[x]."""
    made = json.loads(json.dumps(document))
    told = made["mechanism"]
    scale = int(told["denominators"][0])
    told["denominators"] = [str(scale * factor) for factor in factors]
    if "off_diagonal" in told:
        told["off_diagonal"] = [str(int(n) * f) for n, f in zip(told["off_diagonal"], factors, strict=True)]
    else:
        for column, y in zip(told["columns"], range(len(told["columns"])), strict=True):
            entries = [row[y] * scale * factor for row, factor in zip(dense(document), factors, strict=True)]
            column.clear()
            column["dense"] = [str(int(entry)) for entry in entries]
    return made


def two_valued(document: dict[str, Any]) -> dict[str, Any]:
    """The same matrix with every column of at most two numbers written by members, whichever is the high one."""
    made = json.loads(json.dumps(document))
    scale = int(made["mechanism"]["denominators"][0])
    for y, column in enumerate(made["mechanism"]["columns"]):
        entries = [int(row[y] * scale) for row in dense(document)]
        if len(set(entries)) <= 2:
            low, high = (min(entries), max(entries)) if y % 2 else (max(entries), min(entries))
            members = sum(1 << x for x, entry in enumerate(entries) if entry == high)
            column.clear()
            column |= {"low": str(low), "high": str(high), "members": f"{members:0{-(-len(entries) // 4)}x}"}
    return made


@cache
def forms() -> dict[str, dict[str, Any]]:
    free, off = solved(rr.LDP(gamma=3)), solved(rr.LDP(gamma=3), rr.patterns.UniformOffDiagonal())
    many = rr.Prior.from_counts({f"l{at}": 1 for at in range(9)})
    counted = rr.Prior.from_counts([[20, 60], [30, 20]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
    robust = solved(rr.RLDP(1, rr.robust.ChiSquareSet(counted), form="exact"), prior=counted)
    nine = solved(rr.LDP(gamma=3), prior=many)
    return {
        "columns": free,
        "columns, a denominator a row": scaled(free, (1, 6, 25)),
        "two-valued columns": two_valued(free),
        "two-valued columns of nine inputs": two_valued(nine),
        "two-valued columns, a denominator a row, all alike": {
            **two_valued(nine),
            "mechanism": {**two_valued(nine)["mechanism"], "denominators": nine["mechanism"]["denominators"] * 9},
        },
        "off the diagonal": off,
        "off the diagonal, a denominator a row": scaled(off, (1, 6, 25)),
        "off the diagonal, a denominator a row, all alike": scaled(off, (7, 7, 7)),
        "membership": robust,
        "membership, a denominator a row": scaled(robust, (1, 2, 3, 5)),
    }


FORMS = (
    "columns",
    "columns, a denominator a row",
    "two-valued columns",
    "two-valued columns of nine inputs",
    "two-valued columns, a denominator a row, all alike",
    "off the diagonal",
    "off the diagonal, a denominator a row",
    "off the diagonal, a denominator a row, all alike",
    "membership",
    "membership, a denominator a row",
)


def test_every_form_is_named() -> None:
    assert tuple(forms()) == FORMS


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_read_as_the_format_says(name: str, tmp_path: Path) -> None:
    document = forms()[name]
    text = json.dumps(document)
    verdict = checker.check_bytes(text.encode())
    assert verdict.proved, verdict.reason
    (tmp_path / "certificate.json").write_text(text)
    found = load_mechanism(tmp_path / "certificate.json", check=True)
    rows = dense(document)
    assert [[found.entry(x, y) for y in range(len(rows[0]))] for x in range(len(rows))] == rows
    assert [list(row) for row in zip(*map(found.column, range(len(found.outputs))), strict=True)] == rows
    worst = (
        max(max(column) / min(column) for column in zip(*rows, strict=True) if max(column))
        if found.privacy_ratio != float("inf")
        else float("inf")
    )
    assert found.privacy_ratio == worst
    # The value that the checker proves of its own reading is that of ours.
    if document["problem"]["utility"] == {"kind": "mutual_information"}:
        prior = rr.Prior.from_counts(dict(zip(found.inputs, map(int, document["problem"]["weights"]), strict=True)))
        own = found.mutual_information(prior)
        assert verdict.value_lower is not None
        assert verdict.value_upper is not None
        assert own.lower <= verdict.value_upper
        assert verdict.value_lower <= own.upper
    # Written as a mechanism file and read again it is the same, and fits the certificate beside it.
    found.save(tmp_path / "mechanism.json")
    assert load_mechanism(tmp_path, check=True).numerators == found.numerators


def test_k_denominators_off_the_diagonal_draw_the_certified_matrix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers of 1/5 over 5, 10^3 and 10^6: read over the first denominator alone, ratios are in the hundreds."""
    monkeypatch.chdir(tmp_path)
    Path("c.json").write_text(json.dumps(forms()["off the diagonal, a denominator a row"]))
    Path("d.csv").write_text("x\n" + "a\nb\nc\n" * 20)
    assert cli.main(["apply", "c.json", "d.csv", "--column", "x"]) == 0
    told = json.loads(Path("d.protected.csv.manifest.json").read_text())
    assert 1 < Fraction(told["privacy_ratio"]) <= 3


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda told: told.update(outputs=["a", "c", "b"]), "its outputs are not the inputs"),
        (lambda told: told.update(extra=1), "keys missing or unknown: extra"),
        (lambda told: told.update(denominators=["1", "2"]), "3 numbers over 2 denominators for 3 inputs"),
        (lambda told: told.update(denominators=["0"]), "denominator is not positive"),
        (lambda told: told.update(denominators=[5]), "not an integer in a string"),
        (lambda told: told.update(off_diagonal=["1", " 2", "3"]), "not an integer in a string"),
        (lambda told: told.update(off_diagonal=["1", "2"]), "2 numbers over 1 denominator for 3 inputs"),
        (lambda told: told.update(denominators=["2"], off_diagonal=["1", "1", "2"]), "makes the diagonal negative"),
        (
            lambda told: told.update(denominators=["2", "3", "4"], off_diagonal=["1", "1", "3"]),
            "negative or missing entry",
        ),
        (lambda told: told.clear(), "keys missing or unknown"),
    ],
)
def test_what_is_no_form_of_the_format_is_refused(change: Any, what: str) -> None:
    document = json.loads(json.dumps(forms()["off the diagonal"]))
    change(document["mechanism"])
    assert not checker.check_bytes(json.dumps(document).encode()).proved
    with pytest.raises(InputError, match=what):
        Certificate(document).mechanism()
