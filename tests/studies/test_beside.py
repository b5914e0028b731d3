"""Files beside a certificate that hold its mechanism: no command calls a folder proved whose mechanism is another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.cli import main
from rropt.studies.publish import publish_design
from rropt.studies.reports.report import read_report

ABC = ("a", "b", "=c")
PROBLEM = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=list(ABC))
EMPTY = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.Floor("0.9")], inputs=list(ABC))
WEAK = rr.RandomizedResponse(list(ABC), epsilon=5).to_mechanism()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    main.write_results(PROBLEM.solve(), tmp_path / "o")
    (tmp_path / "p.toml").write_text(rr.problem_file.problem_to_toml(PROBLEM), encoding="utf-8")
    return tmp_path / "o"


def altered(change: Callable[[str], str]) -> Callable[[Path], None]:
    """A change of the text of mechanism.csv."""

    def make(folder: Path) -> None:
        path = folder / "mechanism.csv"
        text = path.read_text(encoding="utf-8")
        assert change(text) != text
        path.write_text(change(text), encoding="utf-8")

    return make


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "another design": (lambda folder: WEAK.save(folder / "mechanism.json"), "mechanism.json: it is not the mechanism"),
    "not JSON": (lambda folder: (folder / "mechanism.json").write_text("{"), "mechanism.json: "),
    "another table": (lambda folder: WEAK.to_csv(folder / "mechanism.csv"), "mechanism.csv: it is not the mechanism"),
    "one number": (altered(lambda text: text.replace("\na,0.5", "\na,0.6")), "mechanism.csv: it is not"),
    "a last digit that counts": (altered(lambda text: text.replace("\na,0.57", "\na,0.5700001")), "it is not"),
    "a label": (altered(lambda text: text.replace("\nb,", "\nB,")), "mechanism.csv: it is not"),
    "an output": (altered(lambda text: text.replace("input,a", "input,A")), "mechanism.csv: it is not"),
    "a row less": (altered(lambda text: text[: text.rindex("\n'=c")]), "mechanism.csv: it is not"),
    "a row more": (altered(lambda text: f"{text}d,0.2,0.2,0.6\n"), "mechanism.csv: it is not"),
    "a cell less": (altered(lambda text: text.strip().rpartition(",")[0]), "mechanism.csv: it is not"),
    "words": (altered(lambda text: text.replace("\na,0", "\na,O")), "mechanism.csv: it is not"),
    "not UTF-8": (lambda folder: (folder / "mechanism.csv").write_bytes(b"input,\xff"), "mechanism.csv: it is not"),
    "a folder": (
        lambda folder: ((folder / "mechanism.csv").unlink(), (folder / "mechanism.csv").mkdir()),
        "mechanism.csv: it cannot be read",
    ),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_another_mechanism_beside_the_certificate_is_found(
    folder: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], object], said: str
) -> None:
    change(folder)
    problem = str(folder.parent / "p.toml")
    for arguments in (
        ["check", str(folder)],
        ["check", str(folder / "certificate.json")],
        ["check", str(folder), "--problem", problem],
    ):
        assert cli.main(arguments) == 1, arguments
        printed = capsys.readouterr().out
        assert "OTHER MECHANISM" in printed
        assert said in printed
    report = read_report(folder)
    assert (report.word, report.exit_status) == ("contradicted", 1)
    assert any(said in line for line in report.contradictions)
    with pytest.raises(rr.InputError):
        publish_design(folder, folder.parent / "public")


KEPT: dict[str, Callable[[Path], object]] = {
    "as it is": lambda folder: None,
    "without the table": lambda folder: (folder / "mechanism.csv").unlink(),
    "the certificate alone": lambda folder: [(folder / f"mechanism.{end}").unlink() for end in ("csv", "json")],
    "saved by a spreadsheet": altered(
        lambda text: text.replace("\n", "\r\n").replace("input", "﻿input").replace("'=c", "=c")
    ),
    "fifteen digits": altered(
        lambda text: "\n".join(
            ",".join(cell if "0." not in cell else f"{float(cell):.15g}" for cell in line.split(","))
            for line in text.splitlines()
        )
    ),
}


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
def test_the_same_mechanism_in_another_writing_is_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], object]
) -> None:
    change(folder)
    for name in (folder, folder / "certificate.json"):
        assert cli.main(["check", str(name)]) == 0
        printed = capsys.readouterr()
        assert (printed.err, "OTHER" in printed.out) == ("", False)
    assert read_report(folder).word == "proved"


def test_a_mechanism_beside_a_proof_that_there_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main.write_results(EMPTY.solve(), tmp_path)
    assert cli.main(["check", str(tmp_path)]) == 0
    WEAK.save(tmp_path / "mechanism.json")
    assert cli.main(["check", str(tmp_path)]) == 1
    assert (
        "mechanism.json: the certificate.json next to it proves that there is no mechanism" in capsys.readouterr().out
    )
    assert read_report(tmp_path).word == "contradicted"


def test_each_of_several_folders_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main.write_results(PROBLEM.solve(), folder.parent / "q")
    WEAK.save(folder / "mechanism.json")
    assert cli.main(["check", str(folder.parent / "q"), str(folder)]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "OTHER MECHANISM" in line]
    assert str(folder / "certificate.json") in line
