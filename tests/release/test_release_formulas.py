"""Cells that a spreadsheet would evaluate get an apostrophe, and every reader of ours takes it away again."""

from __future__ import annotations

import csv
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.comparison.audit import audit
from rropt.comparison.permutations.mixture_files import load_mixture, save_mixture
from rropt.io.formulas import is_formula, quoted, unquoted
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.release import ProtectedColumn, counts_of, release_file
from rropt.release.plans.manifest import read_manifest

pytest.importorskip("pyarrow")

FORMULAS = (
    "=1+2", "=cmd|' /C calc'!A0", "+1+2", "-1+2", "-2-3", "@SUM(1)", "\t=1", "\r=1", "'=1", "''=1", "+49 170",
    "-1\n", "=\n=",
)  # fmt: skip
PLAIN = (
    "",
    "'",
    "a",
    "-",
    "=",
    "@",
    "-1",
    "+1",
    "-1.5e-3",
    "+.5",
    "-1,234.5",
    "-5%",
    "'-1",
    "'a",
    "a=1",
    " =1",
    "\n=1",
)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dangerous(cell: str) -> bool:
    """Whether a spreadsheet may evaluate the cell as it stands; not the definition of the package."""
    try:
        float(cell.rstrip("%").replace(",", "").replace("\n", "x"))
    except ValueError:
        return len(cell) > 1 and cell[0] in "=+-@\t\r"
    return False


def test_quoting_is_undone_on_any_text() -> None:
    generator = np.random.default_rng(1)
    texts = {"".join(generator.choice(list("'=+-@\t\r\n1.e%a"), size)) for size in range(7) for _ in range(3000)}
    texts |= {*FORMULAS, *PLAIN}
    assert [text for text in texts if unquoted(quoted(text)) != text] == []
    assert [text for text in texts if dangerous(quoted(text))] == []
    assert len({quoted(text) for text in texts}) == len(texts)
    assert [text for text in FORMULAS if not is_formula(text)] == []
    assert [text for text in PLAIN if is_formula(text)] == []


LABELS = ("=1+2", "'=1+2", "@SUM(1)", "-3", "plain", "+1 000")


def data(path: str, rows: int = 600) -> None:
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["=x", "note", "number"])
        writer.writerows([LABELS[at % 6], FORMULAS[at % len(FORMULAS)], -at] for at in range(rows))


def cells(path: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def output_entry() -> dict[str, str]:
    found = read_manifest(Path("t.protected.csv"))
    assert found is not None
    return dict(found["output"])


def test_a_release_has_no_formula_and_is_counted_as_before() -> None:
    data("t.csv")
    mechanism = RandomizedResponse(LABELS, epsilon=9).to_mechanism()
    made = release_file("t.csv", ProtectedColumn("=x", mechanism))
    written = cells("t.protected.csv")
    assert [cell for row in written for cell in row if dangerous(cell)] == []
    assert written[0] == ["'=x", "note", "number"]
    # What is not a formula stays, and what is one is found again.
    assert [row[2] for row in written[1:]] == [str(-at) for at in range(600)]
    assert [unquoted(row[1]) for row in written[1:]] == [FORMULAS[at % len(FORMULAS)] for at in range(600)]
    drawn = [unquoted(row[0]) for row in written[1:]]
    expected = [drawn.count(label) for label in LABELS]
    assert counts_of("t.protected.csv", "=x", mechanism).tolist() == expected
    assert output_entry()["formulas"] == "quoted"
    quoted = sum(cell != unquoted(cell) for row in written[1:] for cell in row)
    assert any(note.startswith(f"{quoted:,} cells that a spreadsheet") for note in made.notes), made.notes
    # Without its manifest too, and where a value of another column is asked for.
    Path("t.protected.csv.manifest.json").unlink()
    assert counts_of("t.protected.csv", "=x", mechanism).tolist() == expected
    own = [row for row in written[1:] if unquoted(row[1]) == "=1+2"]
    found = counts_of("t.protected.csv", "=x", mechanism, where={"note": "=1+2"})
    assert found.sum() == len(own)


def test_the_switch_writes_cells_as_they_are() -> None:
    data("t.csv")
    mechanism = RandomizedResponse(LABELS, epsilon=9).to_mechanism()
    mechanism.save("m.json")
    assert cli.main(["apply", "m.json", "t.csv", "--column", "=x", "--no-quote-formulas"]) == 0
    written = cells("t.protected.csv")
    assert written[0] == ["=x", "note", "number"]
    assert [row[1] for row in written[1:]] == [row[1] for row in cells("t.csv")[1:]]
    assert output_entry()["formulas"] == "as they are"
    expected = [[row[0] for row in written[1:]].count(label) for label in LABELS]
    assert counts_of("t.protected.csv", "=x", mechanism).tolist() == expected


def test_a_parquet_file_has_no_formulas() -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": ["a", "b"] * 9, "note": ["=1", "b"] * 9}), "t.parquet")
    made = release_file("t.parquet", ProtectedColumn("x", RandomizedResponse(("a", "b"), epsilon=1).to_mechanism()))
    assert pq.read_table("t.protected.parquet").column("note").to_pylist() == ["=1", "b"] * 9
    assert "formulas" not in made.manifest["output"]


def mechanism_csv(labels: tuple[str, ...]) -> tuple[str, ...]:
    RandomizedResponse(labels, epsilon=1).to_mechanism().to_csv("m.csv")
    return audit("m.csv").mechanism.inputs


def mixture_csv(labels: tuple[str, ...]) -> tuple[str, ...]:
    save_mixture({labels: Fraction(1, 3), labels[::-1]: Fraction(2, 3)}, labels, "m.csv")
    return next(iter(load_mixture("m.csv")))


@pytest.mark.parametrize("way", [mechanism_csv, mixture_csv])
def test_tables_of_labels_have_no_formula_and_are_read_back(way: Callable[[tuple[str, ...]], object]) -> None:
    assert way(LABELS) == LABELS
    assert [cell for row in cells("m.csv") for cell in row if dangerous(cell)] == []


def test_labels_are_written_as_they_are_where_that_is_asked_for() -> None:
    made = RandomizedResponse(LABELS, epsilon=1).to_mechanism()
    made.to_csv("m.csv", quote_formulas=False)
    assert tuple(cells("m.csv")[0][1:]) == LABELS


def test_solve_writes_no_formula() -> None:
    prior = rr.Prior.from_counts(dict.fromkeys(LABELS, 5))
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()
    cli.write_results(solution, Path("out"))
    assert audit("out/mechanism.csv").mechanism.inputs == LABELS
    assert [cell for row in cells("out/mechanism.csv") for cell in row if dangerous(cell)] == []
