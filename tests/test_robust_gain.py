"""The table of what exact robust LDP gains over PolyOpt: its rows agree with the reference, its page with its rows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import robust_gain
from robust_gain import (
    Gain,
    instances,
    page,
    placed,
    read,
    settle,
)

from rropt.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "tests" / "data" / "rldp_reference.csv"
EVERY = instances(REFERENCE)
KNOWN = read(ROOT / "docs" / "robust-gain.json")


def test_rows_are_those_of_the_reference_file_and_the_large_ones_come_last() -> None:
    with REFERENCE.open(newline="") as file:
        expected = {(row["size"], int(row["instance"]), row["epsilon"]) for row in csv.DictReader(file)}
    assert {row.key for row in EVERY} == expected
    assert len(EVERY) == len(expected)
    large = [row.size in robust_gain.LARGE for row in EVERY]
    assert large == sorted(large)


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


def test_the_page_says_what_the_rows_say() -> None:
    text = (ROOT / "docs" / "robust.md").read_text()
    assert placed(text, page(KNOWN, len(EVERY))) == text
    with pytest.raises(InputError, match="marks"):
        placed("no marks", "x")
