"""The table of what exact robust LDP gains over PolyOpt: its rows agree with the reference, its page with its rows."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import robust_gain
from robust_gain import (
    Gain,
    Instance,
    Optimum,
    instances,
    page,
    placed,
    read,
    run,
    settle,
    short,
    write,
)

import rropt as rr
from rropt.errors import InputError, RroptError
from rropt.program.confidence_cones import ConfidenceCone
from rropt.solve.robust_exact.climb import Climber
from rropt.solve.robust_exact.cut_program import CutPool

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "tests" / "data" / "rldp_reference.csv"
EVERY = instances(REFERENCE)
KNOWN = read(ROOT / "docs" / "robust-gain.json")


def made(size: str, number: int, epsilon: str, gain: float, status: str = "certified") -> Gain:
    """A row with PolyOpt's optimum 1 and an exact one of 1 + gain."""
    optima = {"polytope": 1.0, "product": 1 + gain / 2, "exact": 1 + gain}
    found = {form: Optimum("certified", value, value + 1e-9, 1.0) for form, value in optima.items()}
    found["exact"] = Optimum(status, 1 + gain, 1 + (gain + 1e-4 if status == "certified" else 2 * gain), 3.0)
    return Gain(size, number, epsilon, found, (float(epsilon), float(epsilon)))


def test_rows_are_those_of_the_reference_file_and_the_large_ones_come_last() -> None:
    with REFERENCE.open(newline="") as file:
        expected = {(row["size"], int(row["instance"]), row["epsilon"]) for row in csv.DictReader(file)}
    assert {row.key for row in EVERY} == expected
    assert len(EVERY) == len(expected)
    large = [row.size in robust_gain.LARGE for row in EVERY]
    assert large == sorted(large)


def test_an_unknown_size_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("size,instance,epsilon,counts\n9x9,0,1.0,1 2\n")
    with pytest.raises(InputError, match="sizes 9x9"):
        instances(file)


def in_order(row: Gain, reference: dict[tuple[object, ...], dict[str, str]]) -> None:
    polytope, product, exact = (row.optima[form] for form in robust_gain.FORMS)
    assert polytope.value <= product.bound
    assert product.value <= exact.bound
    assert polytope.value <= exact.bound
    for one in row.optima.values():
        assert 0 < one.value <= one.bound
        assert one.status in ("certified", "bounded")
    assert row.level[0] <= row.level[1] <= float(row.epsilon) + 1e-10
    if row.closed:
        # A mechanism that left some of its level would not be the best one.
        assert row.level[0] >= float(row.epsilon) - 1e-9
        assert exact.bound - exact.value <= robust_gain.SHARE * polytope.value + 1e-7
        assert row.most - row.percent("exact") <= 100 * robust_gain.SHARE + 1e-2
    found = reference[row.key]
    plain = float(found["polyopt_mutual_information"])
    if polytope.status == "certified" and found["polyopt_certified"] == "True":
        assert polytope.value - 1e-6 <= plain <= polytope.bound + 1e-6


def test_known_rows_keep_their_order_and_their_level() -> None:
    with REFERENCE.open(newline="") as file:
        listed = {(one["size"], int(one["instance"]), one["epsilon"]): one for one in csv.DictReader(file)}
    assert len(KNOWN) > 200
    for row in KNOWN:
        in_order(row, listed)


def test_a_row_solved_again_is_the_known_one() -> None:
    row = next(one for one in EVERY if one.key == ("2x2", 0, "2.0"))
    again, known = settle(row), next(one for one in KNOWN if one.key == row.key)
    assert again.closed
    for form in robust_gain.FORMS:
        one, other = again.optima[form], known.optima[form]
        assert max(one.value, other.value) <= min(one.bound, other.bound)
    assert again.percent("exact") == pytest.approx(known.percent("exact"), abs=100 * robust_gain.SHARE)


def test_known_rows_are_not_solved_again_and_failures_do_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Instance("2x2", number, "1.0", (5, 5, 5, 5)) for number in range(3)]
    asked = []

    def solved(row: Instance, time_limit: float) -> Gain:
        asked.append((row.number, time_limit))
        if row.number == 1:
            raise RroptError("no mechanism")
        return made(*row.key, 0.1)

    monkeypatch.setattr(robust_gain, "settle", solved)
    known, told = {rows[0].key: made("2x2", 0, "1.0", 0.2)}, []
    failed = run(rows, known, told.append, 7.0)
    assert asked == [(1, 7.0), (2, 7.0)]
    assert [row.number for row in told] == [2]
    assert len(failed) == 1
    assert "no mechanism" in failed[0]
    assert set(known) == {rows[0].key, rows[2].key}


def test_rows_survive_a_file(tmp_path: Path) -> None:
    rows = [made("2x3", 1, "0.5", 0.25), made("3x3", 2, "8.0", 0.01, "bounded")]
    file = tmp_path / "rows.json"
    write(file, rows)
    assert read(file) == rows


def test_tables_tell_means_and_mark_what_is_only_bounded() -> None:
    rows = [made("2x3", 0, "0.5", 0.2), made("2x3", 1, "0.5", 0.1), made("3x3", 0, "2.0", 0.013, "bounded")]
    small = short(rows).splitlines()
    assert small[0].split("|")[2:4] == [" 0.5 ", " 2 "]
    assert small[2] == "| 2 x 3 | 15.0 |  |"
    assert small[3] == "| 3 x 3 |  | >= 1.30 |"
    text = page(rows, 10)
    assert text.startswith("3 of 10 rows, PolyOpt and exact certified in 2 of them")
    assert "| 2 x 3 | 0.5 | 2 (2) | 15.0 (10.0 to 20.0) | 20.0 | 7.50 | 3.0 |" in text
    assert "| 3 x 3 | 2 | 1 (0) | 1.30 (1.30 to 1.30) | 2.60 | 0.65 | 3.0 |" in text


def test_a_gain_counts_from_what_polyopt_could_have_and_is_known_where_both_are() -> None:
    known = made("2x3", 0, "0.5", 0.2)
    assert known.closed
    for form, optimum in {
        "exact": Optimum("certified", 1.2, 1.21, 1.0),
        "polytope": Optimum("bounded", 1.0, 1.3, 1.0),
    }.items():
        assert not replace(known, optima={**known.optima, form: optimum}).closed
    open_ = replace(known, optima={**known.optima, "polytope": Optimum("bounded", 0.5, 1.0, 1.0)})
    assert open_.percent("exact") == pytest.approx(20.0)
    assert open_.most == pytest.approx(140.02)


def test_the_page_says_what_the_rows_say() -> None:
    text = (ROOT / "docs" / "robust.md").read_text()
    assert placed(text, page(KNOWN, len(EVERY))) == text
    with pytest.raises(InputError, match="marks"):
        placed("no marks", "x")


def test_altered_columns_differ_in_one_block() -> None:
    known = rr.robust.ChiSquareSet([[35, 3, 130], [10, 24, 209], [7, 8, 9]], alpha="0.05")
    cone = rr.RLDP("1", known, form="exact").cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    prior = known.counts.array
    rng = np.random.default_rng(3)
    columns, pieces = rng.random((2, 9)) + 0.1, rng.random((5, 9)) + 0.1
    changed = Climber(CutPool(cone), prior, lambda: False).altered(columns, pieces, 200)
    assert changed.shape == (200, 9)
    assert (changed >= 0).all()
    blocks = np.repeat(np.arange(3), 3)
    kinds = set()
    for row in changed:
        base = columns[np.argmin([(row != column).sum() for column in columns])]
        where = np.flatnonzero(row != base)
        assert len(set(blocks[where])) <= 1
        at = blocks == blocks[where[0]] if len(where) else blocks < 0
        swapped = any(np.array_equal(row[at], piece[at]) for piece in pieces)
        kinds.add("swapped" if swapped else "moved" if len(where) == 1 else "random")
    assert kinds == {"swapped", "moved", "random"}
