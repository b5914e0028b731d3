"""What the checker prints and returns: decimals, the lines of a report, verdicts, the command."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import shells
from builders import encode, pair, put, rat

from rropt import checker

# -- what is printed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "down", "up"),
    [
        (Fraction(0), "0", "0"),
        (Fraction(1), "1", "1"),
        (Fraction(-1), "-1", "-1"),
        (Fraction(1, 3), "0.333333333333", "0.333333333334"),
        (Fraction(-1, 3), "-0.333333333334", "-0.333333333333"),
        (Fraction(2, 3), "0.666666666666", "0.666666666667"),
        (Fraction(10**12 - 1, 10**12), "0.999999999999", "0.999999999999"),
        (Fraction(10**13 - 1, 10**13), "0.999999999999", "1"),
        (Fraction(123456789012), "123456789012", "123456789012"),
        (Fraction(1234567890123), "1234567890120", "1234567890130"),
        (Fraction(10**14), "100000000000000", "100000000000000"),
        (Fraction(10**15), "1e+15", "1e+15"),
        (Fraction(12 * 10**14), "1.2e+15", "1.2e+15"),
        (Fraction(10**15 - 1), "999999999999000", "1e+15"),
        (Fraction(5, 2), "2.5", "2.5"),
        (Fraction(1, 10), "0.1", "0.1"),
        (Fraction(1, 10**5), "0.00001", "0.00001"),
        (Fraction(1, 10**6), "1e-06", "1e-06"),
        (Fraction(15, 10**7), "1.5e-06", "1.5e-06"),
        (Fraction(1, 3 * 10**4), "0.0000333333333333", "0.0000333333333334"),
        (Fraction(1, 3 * 10**5), "3.33333333333e-06", "3.33333333334e-06"),
        (Fraction(10**40, 7), "1.42857142857e+39", "1.42857142858e+39"),
    ],
)
def test_twelve_decimals(x: Fraction, down: str, up: str) -> None:
    assert printed(x) == (down, up)


def printed(x: Fraction) -> tuple[str, str]:
    """A number as the lower and as the upper end of an interval."""
    line = checker.Verdict("PROVED", "", "", "optimum", x, x, gap=Fraction(0)).report().split("\n")[1]
    down, up = line.removeprefix("PROVED optimum in [").partition("]")[0].split(", ")
    return down, up


def test_twelve_decimals_of_any_size() -> None:
    rng = random.Random(4)
    for _ in range(300):
        x = Fraction(rng.randint(1, 10 ** rng.randint(1, 40)), rng.randint(1, 10 ** rng.randint(1, 40)))
        down, up = map(Fraction, printed(x))
        assert down <= x <= up
        assert up - down <= x / 10**11
        assert x < 10**9 or Fraction(printed(Fraction(int(x)))[0]) <= x


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (Fraction(2**60 - 1), str(2**60 - 1)),
        (Fraction(1, 2**60 - 1), f"1/{2**60 - 1}"),
        (Fraction(2**60), "about 1.1529215046e+18"),
        (Fraction(1, 2**60), "about 8.67361737988e-19"),
    ],
)
def test_a_number_is_shown_where_it_is_short(cost: Fraction, shown: str) -> None:
    made = shells.member(shells.table([[0, 1], [1, 1]]))
    made["problem"]["utility"]["cost"] = [[0, 0, rat(cost)]]
    made["proof"]["prices"][0] = made["bound"] = rat(cost)
    assert f"costs: 1 cells, {shown}" in "\n".join(shells.checked(made).statement)


def lines_of(verdict: checker.Verdict) -> list[str]:
    return verdict.report().split("\n")


def test_the_lines_of_a_report() -> None:
    one, two, three = Fraction(1), Fraction(2), Fraction(3)
    full = checker.Verdict("PROVED", "", "the problem", "optimum", one, three, one, two, two, ("a", "b"))
    lines = [
        "the problem",
        "PROVED optimum in [1, 3]  gap 2",
        "value of the mechanism in [1, 2]",
        "assumption: a",
        "assumption: b",
    ]
    assert lines_of(full) == lines
    for name in ("lower", "upper", "gap"):
        assert lines_of(replace(full, **{name: None}))[1] == "PROVED infeasible"
        assert lines_of(replace(full, by="A and B", **{name: None}))[1] == "PROVED (A and B) infeasible"
    assert lines_of(replace(full, by="A"))[1] == "PROVED (A) optimum in [1, 3]  gap 2"
    for name in ("value_lower", "value_upper"):
        assert lines_of(replace(full, **{name: None})) == [*lines[:2], *lines[3:]]
    assert lines_of(checker.Verdict("REFUTED", "why", "the problem")) == ["REFUTED: why"]


def test_what_is_not_printable_is_escaped() -> None:
    verdict = checker.Verdict("REFUTED", " a~\x1f\x7f\xe9\u2028\U0001f600")
    assert verdict.report() == r"REFUTED:  a~\x1f\x7f\xe9\u2028\U0001f600"


def test_the_verdict_on_a_certificate() -> None:
    verdict = checker.check_bytes(encode(pair("linear", "complete gamma")))
    assert (verdict.lower, verdict.upper, verdict.kind) == (Fraction(4, 3), Fraction(4, 3), "optimum")
    verdict = checker.check_bytes(encode(put(pair("linear", "complete gamma"), "bound", value="3/2")))
    assert (verdict.lower, verdict.upper, verdict.gap) == (Fraction(4, 3), Fraction(3, 2), Fraction(1, 6))
    loose = put(pair("linear", "complete gamma", "minimize"), "bound", value="1/2")
    verdict = checker.check_bytes(encode(loose))
    assert (verdict.lower, verdict.upper, verdict.gap) == (Fraction(1, 2), Fraction(2, 3), Fraction(1, 6))
    assert (verdict.value_lower, verdict.value_upper) == (Fraction(2, 3), Fraction(2, 3))
    verdict = checker.check_bytes(encode(pair("farkas", "complete gamma")))
    assert (verdict.kind, verdict.lower, verdict.value_lower) == ("infeasible", None, None)
    assert checker.check_bytes(encode(put(pair("linear", "complete gamma"), "bound", value="1"))).status == "REFUTED"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad, none = tmp_path / "good", tmp_path / "bad", tmp_path / "none"
    good.write_bytes(encode(pair("linear", "complete gamma")))
    bad.write_bytes(encode(put(pair("linear", "complete gamma"), "bound", value="1")))

    def said(*names: object) -> tuple[int, list[str]]:
        status = checker.main([str(name) for name in names])
        return status, capsys.readouterr().out.splitlines()

    status, lines = said(good)
    assert status == 0
    assert lines[-2] == "PROVED optimum in [1.33333333333, 1.33333333334]  gap 0"
    status, lines = said(bad, good)
    assert status == 1
    assert lines[0].startswith(f"{bad}: REFUTED")
    assert lines[1].startswith(f"{good}: maximize")
    assert said(good, none, bad)[0] == 2
    assert said(none)[1][0].startswith("UNREADABLE: the file cannot be read")
    for names, code in (((), 2), (("-h",), 0), (("--help",), 0)):
        status, lines = said(*names)
        assert status == code
        assert len(lines) == 1
        assert lines[0].startswith("usage: checker.py FILE|FOLDER...")
    monkeypatch.setattr(checker.sys, "argv", ["checker.py", str(bad)])
    assert checker.main() == 1
    assert capsys.readouterr().out.startswith("REFUTED")
