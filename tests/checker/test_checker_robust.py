"""Nothing escapes the checker: random bytes and values, limits, what it prints, and how it is called."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import builders
import mutants
import pytest
from builders import Document, assert_limit_named, encode, information, information_document, pair
from test_checker import _set

from rropt import checker, kernel
from rropt.checker import Verdict, check_bytes, check_file, main

STATUSES = {"PROVED", "REFUTED", "UNREADABLE"}


def _information() -> Document:
    parts = information([2, 1, 1], {"epsilon": "1"})
    return information_document(parts, parts.item_tree([0, 1, 2]), two_valued=True)


BASES = [pair(*names) for names in builders.pairs()] + [_information()]


def _assert_answers(data: bytes) -> Verdict:
    """Some verdict and a report of whole lines; an exception would end the test."""
    verdict = check_bytes(data)
    assert verdict.status in STATUSES
    assert verdict.proved == (verdict.status == "PROVED") == (verdict.reason == "")
    lines = verdict.report().splitlines()
    assert lines
    if not verdict.proved:
        assert lines == [f"{verdict.status}: {verdict.reason}"]
    return verdict


def test_random_bytes() -> None:
    rng = random.Random(5)
    for number in range(4000):
        data = rng.randbytes(rng.randint(0, 60))
        if number % 2:
            letters = b'{}[]":,0123456789-+.eE\\u \n/truefalsnl\xff\xc3'
            data = bytes(rng.choice(letters) for _ in range(rng.randint(0, 80)))
        assert _assert_answers(data).status == "UNREADABLE"


def _value(rng: random.Random, depth: int) -> Any:
    numbers = [None, True, 0, 1, -1, 2**53, 10**30, 1.5, float("inf")]
    words = ["", "0", "1/2", "-3", "free", "complete", "\ud800", "é"]
    if depth == 0 or rng.random() < 0.5:
        return rng.choice([*numbers, *words])
    if rng.random() < 0.5:
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    keys = ["kind", "format", "problem", "epsilon", "gamma", "dense", "low", "x", "rows", "base", "\udc00"]
    return {rng.choice(keys): _value(rng, depth - 1) for _ in range(rng.randint(0, 4))}


def test_random_json() -> None:
    """Alone, and in every place of a certificate."""
    rng = random.Random(6)
    for _ in range(1000):
        assert _assert_answers(encode(_value(rng, 5))).status == "UNREADABLE"
    for document in BASES:
        places = [path for path, _ in mutants.walk(document) if path]
        for path in places:
            _assert_answers(encode(mutants.replaced(document, path, _value(rng, 3))))


@pytest.mark.parametrize("data", [None, 0, "{}", bytearray(b"{}"), [b"{}"]])
def test_what_is_no_bytes(data: Any) -> None:
    assert check_bytes(data).status == "UNREADABLE"


def test_changed_bytes() -> None:
    rng = random.Random(7)
    for document in BASES:
        data = encode(document)
        for _ in range(60):
            changed = bytearray(data)
            for _ in range(rng.choice((1, 1, 2, 5))):
                place = rng.randrange(len(changed))
                kind = rng.randrange(4)
                if kind == 0:
                    changed[place] = rng.randrange(256)
                elif kind == 1:
                    del changed[place]
                elif kind == 2:
                    changed[place:place] = rng.randbytes(1)
                else:
                    changed[place] = rng.choice(b'0123456789-"[]{},:')
            _assert_answers(bytes(changed))
        for length in range(0, len(data), 29):
            assert _assert_answers(data[:length]).status == "UNREADABLE"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'"rropt-certificate"',
        b"\xef\xbb\xbf" + encode(BASES[0]),
        json.dumps(BASES[0]).encode("utf-16"),
        encode(BASES[0]) + b"x",
        encode(BASES[0]) + encode(BASES[0]),
        encode(BASES[0]).replace(b'"0"', b'"\xff"', 1),
        encode(BASES[0]).replace(b'"0"', b'"\xed\xa0\x80"', 1),
        encode(BASES[0]).replace(b'"0"', b'"\n"', 1),
        b"\0",
    ],
)
def test_what_is_no_json_text(data: bytes) -> None:
    assert _assert_answers(data).status == "UNREADABLE"


def test_blanks_around_the_object_are_json() -> None:
    assert check_bytes(b" \r\n\t" + encode(BASES[0]) + b"\n\n").proved


# -- limits --------------------------------------------------------------------------------------------


def _wide(size: int) -> Document:
    return _set(copy.deepcopy(BASES[0]), problem__inputs=[str(x) for x in range(size)])


def test_too_many_inputs() -> None:
    verdict = check_bytes(encode(_wide(10**5 + 1)))
    assert verdict.status == "UNREADABLE"
    assert "inputs" in verdict.reason


@pytest.mark.parametrize(
    ("constant", "most", "name", "make"),
    [
        ("MAX_BYTES", 100, "bytes", lambda: BASES[0]),
        ("MAX_INPUTS", 1, "inputs", lambda: BASES[0]),
        ("MAX_COLUMNS", 1, "columns", lambda: BASES[0]),
        ("MAX_DENSE_ENTRIES", 3, "dense", lambda: BASES[0]),
        ("MAX_PRODUCT", 3, "edges", lambda: pair("linear", "graph gamma")),
        ("MAX_PRODUCT", 3, "actions", lambda: pair("bayes", "free")),
        ("MAX_PRODUCT", 3, "cone rows * k", lambda: pair("linear", "polyhedral free")),
        ("MAX_PRODUCT", 1, "row terms", lambda: pair("farkas", "free")),
        ("MAX_DEPTH", 3, "depth", lambda: BASES[0]),
        ("MAX_RAT_CHARACTERS", 2, "characters", lambda: pair("linear", "complete gamma")),
    ],
)
def test_a_limit_is_named(constant: str, most: int, name: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    document = make()
    assert check_bytes(encode(document)).proved
    assert_limit_named(monkeypatch, constant, most, name, document)


def test_the_limits_are_those_of_the_format() -> None:
    assert (checker.MAX_BYTES, checker.MAX_DEPTH, checker.MAX_INT) == (256 * 2**20, 8, 2**53)
    assert (checker.MAX_RAT_CHARACTERS, checker.MAX_DENOMINATOR_BITS) == (4000, 2**17)
    assert (checker.MAX_INPUTS, checker.MAX_COLUMNS, checker.MAX_DENSE_ENTRIES) == (10**5, 10**5, 10**8)
    assert (checker.MAX_PRODUCT, checker.MAX_EXPONENT) == (10**7, 20)


@pytest.mark.parametrize(
    ("cone", "status"),
    [
        ({"kind": "complete", "epsilon": "20"}, "PROVED"),
        ({"kind": "complete", "epsilon": "20000000001/1000000000"}, "UNREADABLE"),
        ({"kind": "complete", "gamma": "485165195"}, "PROVED"),
        ({"kind": "complete", "gamma": "485165196"}, "UNREADABLE"),
        ({"kind": "graph", "edges": [[0, 1, "20"]]}, "PROVED"),
        ({"kind": "graph", "edges": [[0, 1, "21"]]}, "UNREADABLE"),
        ({"kind": "graph", "unit": "gamma", "edges": [[0, 1, "485165195"]]}, "PROVED"),
        ({"kind": "graph", "unit": "gamma", "edges": [[0, 1, "485165196"]]}, "UNREADABLE"),
        ({"kind": "graph", "unit": "epsilon", "edges": [[0, 1, "2"]]}, "UNREADABLE"),
    ],
)
def test_levels_end_at_20(cone: Document, status: str) -> None:
    half = {"dense": ["1", "1"]}
    document = _set(
        pair("linear", "free"),
        problem__cone=cone,
        mechanism={"denominators": ["2"], "outputs": ["0", "1"], "columns": [half, half]},
        value={"lower": "1", "upper": "1"},
        proof__flows=[[], []] if cone["kind"] == "graph" else [],
    )
    assert check_bytes(encode(document)).status == status


def test_rationals_of_4000_characters_and_their_common_denominator() -> None:
    document = pair("linear", "free")
    document["value"]["lower"] = f"-1/{'7' * 3997}"
    assert len(document["value"]["lower"]) == 4000
    assert check_bytes(encode(document)).proved
    document["value"]["lower"] = f"-1/{'7' * 3998}"
    assert check_bytes(encode(document)).status == "UNREADABLE"
    # Ten denominators of 13,000 bits without a common factor: 2^n - 1 for primes n.
    cells = [(x, y) for x in range(2) for y in range(6)]
    primes = [12889, 12893, 12899, 12907, 12911, 12917, 12919, 12923, 12941, 12953, 12959, 12967]
    for many, status in ((10, "PROVED"), (12, "UNREADABLE")):
        terms = [[x, y, f"1/{2**n - 1}"] for (x, y), n in zip(cells[:many], primes, strict=False)]
        names = [str(y) for y in range(6)]
        columns = [{"dense": ["1", "0"]}, {"dense": ["0", "1"]}, *([{"dense": ["0", "0"]}] * 4)]
        row = {"name": "r", "sense": "<=", "rhs": "1", "terms": terms}
        wide = _set(
            pair("linear", "free"),
            problem__outputs=names,
            problem__rows=[row],
            mechanism={"denominators": ["1"], "outputs": names, "columns": columns},
            proof__rows=["0"],
        )
        verdict = check_bytes(encode(wide))
        assert verdict.status == status, verdict.reason


def test_a_strict_interpreter_reads_long_numbers() -> None:
    """Python may be set to refuse to convert more than 640 digits."""
    document = pair("linear", "free")
    document["value"]["lower"] = f"-1/{'7' * 3900}"
    document["problem"]["weights"] = ["1" * 3900, "1"]
    data, before = encode(document), sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        verdict = check_bytes(data)
        assert verdict.proved
        assert "e" in verdict.report()
    finally:
        sys.set_int_max_str_digits(before)


# -- what it prints, and how it is called --------------------------------------------------------------


def _decimals(text: str) -> tuple[Fraction, Fraction]:
    low, high = text[text.index("[") + 1 : text.index("]")].split(", ")
    for number in (low, high):
        digits = number.lstrip("-").partition("e")[0].replace(".", "").strip("0")
        assert len(digits) <= 12, number
    return Fraction(low), Fraction(high)


WIDTHS = ["0", "1/3", "1/7000000000000000000000", "123456789012345678901/7", "1" * 400, f"1/{'3' * 700}"]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("sense", ["maximize", "minimize"])
def test_decimals_are_rounded_outwards(width: str, sense: str) -> None:
    document = pair("linear", "complete gamma", sense)
    value, bound, step = Fraction(document["value"]["lower"]), Fraction(document["bound"]), Fraction(width)
    document["value"] = {"lower": str(value - step), "upper": str(value + step)}
    document["bound"] = str(bound + step if sense == "maximize" else bound - step)
    verdict = check_bytes(encode(document))
    lines = verdict.report().splitlines()
    words = [line.partition(" ")[0] for line in lines]
    assert words == [sense, "problem", "prior:", "costs:", "proof", "PROVED", "value"]
    assert lines[0].startswith(f"{sense} linear, k = 2")
    assert "gamma = 2" in lines[0]
    assert "rows: 0" in lines[0]
    assert lines[5].startswith("PROVED optimum in [")
    assert verdict.lower is not None
    assert verdict.upper is not None
    low, high = _decimals(lines[5])
    assert low <= verdict.lower <= verdict.upper <= high
    gap = Fraction(lines[5].split("gap ")[1])
    assert gap >= verdict.upper - verdict.lower
    assert gap <= (verdict.upper - verdict.lower) * (1 + Fraction(1, 10**11))
    low, high = _decimals(lines[6])
    assert low <= value - step
    assert high >= value + step
    for shown, true in ((low, value - step), (high, value + step)):
        assert abs(shown - true) <= abs(true) / 10**11


def test_what_is_printed_of_the_others() -> None:
    lines = check_bytes(encode(pair("farkas", "graph epsilon"))).report().splitlines()
    assert lines[-1] == "PROVED infeasible"
    assert sum("PROVED" in line or "value" in line for line in lines) == 1
    lines = check_bytes(encode(_information())).report().splitlines()
    assert "epsilon = 1" in lines[0]
    assert lines[-2].startswith("PROVED optimum in [")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    contents = {
        "proved": encode(_information()),
        "refuted": encode(_set(pair("linear", "free"), bound="1")),
        "unreadable": b"{",
    }
    found = {name: tmp_path / f"{name}.json" for name in contents}
    for name, path in found.items():
        path.write_bytes(contents[name])
    found["missing"] = tmp_path / "none.json"
    found["folder"] = tmp_path
    return found


STATUS = {"proved": 0, "refuted": 1, "unreadable": 2, "missing": 2, "folder": 2}


@pytest.mark.parametrize(
    "names", [["proved"], ["refuted"], ["unreadable"], ["missing"], ["folder"], ["refuted", "proved"],
              ["unreadable", "refuted", "proved"], ["proved", "proved"]], ids="+".join,
)  # fmt: skip
def test_exit_statuses(names: list[str], files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(files[name]) for name in names]) == max(STATUS[name] for name in names)
    printed = capsys.readouterr().out.splitlines()
    for name in names:
        status = ["PROVED", "REFUTED", "UNREADABLE"][STATUS[name]]
        assert any(status in line and (len(names) == 1 or str(files[name]) in line) for line in printed)
        assert check_file(files[name]).exit_status == STATUS[name]


def test_the_certificate_of_a_folder_is_checked(files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "design").mkdir()
    (tmp_path / "design" / "certificate.json").write_bytes(files["proved"].read_bytes())
    assert check_file(tmp_path / "design") == check_file(files["proved"])
    (tmp_path / "design" / "certificate.json").unlink()
    assert "certificate.json" in check_file(tmp_path / "design").report()
    (tmp_path / "design" / "certificate.json").mkdir()
    assert "certificate.json" in check_file(tmp_path / "design").report(), "it is a folder, and no pipe"


def test_what_may_not_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/zero"):
        assert check_file(name).report() == "UNREADABLE: the file cannot be read: it is a pipe or a device, not a file"


def test_no_file_is_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().out
    assert check_file("a\0b").status == "UNREADABLE"


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=60, check=False)


def test_as_a_module(files: dict[str, Path], checkout: Path) -> None:
    done = _run("-m", "rropt.checker", str(files["proved"]), cwd=checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == check_file(files["proved"]).report() + "\n"
    done = _run("-m", "rropt.checker", str(files["proved"]), str(files["refuted"]), str(files["missing"]), cwd=checkout)
    assert (done.returncode, done.stderr) == (2, "")


def test_the_bare_file_stands_alone(files: dict[str, Path], tmp_path: Path) -> None:
    """Copied away with the kernel, isolated, without site-packages and with assertions off, it says the same."""
    alone = tmp_path / "elsewhere" / "check.py"
    alone.parent.mkdir()
    shutil.copy(checker.__file__, alone)
    done = _run("-I", "-S", str(alone), str(files["proved"]), cwd=alone.parent)
    assert (done.returncode, "its lines need kernel.py beside this file" in done.stdout) == (2, True), done.stderr
    shutil.copy(kernel.__file__, alone.parent)
    for name, *more in (("proved",), ("proved", "-O"), ("refuted", "-O"), ("unreadable", "-O"), ("missing", "-O")):
        done = _run("-I", "-S", *more, str(alone), str(files[name]), cwd=alone.parent)
        assert done.returncode == STATUS[name], done.stderr
        assert done.stderr == ""
        assert done.stdout == check_file(files[name]).report() + "\n"
    done = _run("-I", "-S", str(alone), cwd=alone.parent)
    assert done.returncode == 2


def test_row_denominators_have_a_common_limit() -> None:
    """Distinct, coprime denominators in every row would make exact sums endless."""
    rows = 60
    denominators = [str(2**13000 + 2 * x + 1) for x in range(rows)]
    columns = [{"dense": denominators}]
    certificate = {
        "format": "rropt-certificate",
        "problem": {
            "sense": "maximize",
            "inputs": [str(x) for x in range(rows)],
            "outputs": ["y"],
            "weights": ["1"] * rows,
            "utility": {"kind": "linear", "cost": []},
            "cone": {"kind": "free"},
            "rows": [],
        },
        "mechanism": {"denominators": denominators, "outputs": ["y"], "columns": columns},
        "value": {"lower": "0", "upper": "0"},
        "bound": "0",
        "proof": {"kind": "linear-dual", "prices": ["0"] * rows, "rows": [], "flows": []},
        "assumptions": [],
    }
    verdict = checker.check_bytes(encode(certificate))
    assert verdict.status == "UNREADABLE"
    assert "mechanism.denominators" in verdict.reason
    assert "limit" in verdict.reason
    certificate["mechanism"] = {"denominators": ["3"], "outputs": ["y"], "columns": [{"dense": ["3"] * rows}]}
    assert checker.check_bytes(encode(certificate)).proved
