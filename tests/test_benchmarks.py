"""Every benchmark table runs at a tiny size and says what its columns promise; no time is tested."""

from __future__ import annotations

import importlib
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from drawing import graded

import rropt as rr

NAMES = ("gain", "answers", "orders", "drawing", "release", "frontier")
LONG = ("release",)


@pytest.fixture(scope="module")
def room(checkout: Path) -> Any:
    """Imports a module of benchmarks/, which is part of the checkout and not of the installed package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(checkout)

        def module(name: str) -> ModuleType:
            return importlib.import_module(f"benchmarks.{name}")

        yield module


class Measured(dict[str, Any]):
    """What the tables measure at a tiny size, each when it is first asked for: no process measures what it does not
    test."""

    def __init__(self, tables: dict[str, Any]) -> None:
        super().__init__()
        self.tables = tables

    def __missing__(self, name: str) -> Any:
        self[name] = self.tables[name].measure("tiny")
        return self[name]


@pytest.fixture(scope="module")
def tables(room: Any) -> dict[str, Any]:
    return {table.name: table for table in room("tables").TABLES}


@pytest.fixture(scope="module")
def results(tables: dict[str, Any]) -> dict[str, Any]:
    return Measured(tables)


def test_the_list_holds_every_table(tables: dict[str, Any], checkout: Path) -> None:
    files = {path.stem for path in (checkout / "benchmarks" / "tables").glob("*.py")} - {"__init__"}
    assert tuple(tables) == NAMES
    assert set(NAMES) == files


@pytest.mark.parametrize("name", graded([name for name in NAMES if name not in LONG], LONG))
def test_a_table_fills_its_columns(name: str, tables: dict[str, Any], results: dict[str, Any]) -> None:
    table, result = tables[name], results[name]
    keys = [column.key for column in table.columns]
    assert result.rows
    assert len(set(keys)) == len(keys)
    for row in result.rows:
        assert set(row) <= {*keys, "status", "outside"}, "a value without a column would be lost"
        assert all(row[key] > 0 for key in ("seconds", "check", "size") if key in row)
    lines = [line for line in table.section(result).splitlines() if line.startswith("| ")]
    assert len(lines) == len(result.rows) + 2
    assert len({line.count("|") for line in lines}) == 1


def test_the_optimum_is_above_what_one_would_take_instead(results: dict[str, Any]) -> None:
    for row in results["gain"].rows:
        assert row["rropt"] >= max(row["subset selection"], row["unary encoding"]) > row["k-RR"] > 0
        assert row["times"] == pytest.approx(row["rropt"] / row["k-RR"])
        assert row["rropt respondents"] <= min(row["subset selection respondents"], 1) + 1e-9


def test_the_risk_is_that_of_the_objective(room: Any) -> None:
    prior = rr.Prior.from_counts({"a": 3, "b": 2, "c": 1})
    mechanism = rr.RandomizedResponse(prior.labels, epsilon=1).to_mechanism()
    assert room("tables.gain").risk(mechanism, prior) == pytest.approx(
        float(rr.MinimaxRisk(prior).value(mechanism).lower)
    )


def test_cvxpy_agrees_with_the_proved_interval_where_it_can_state_the_problem(
    results: dict[str, Any], room: Any
) -> None:
    rows = {(row["problem"], row["tool"]): row for row in results["answers"].rows}
    convex = {name: name.startswith("least") for name in room("tables.answers").KINDS}
    assert len(convex) == 5
    for name, stated in convex.items():
        ours, other = rows[name, "rropt"], rows[name, "cvxpy, CLARABEL"]
        assert ours["status"] == "certified"
        assert abs(ours["bound"] - ours["value"]) <= 1e-6
        assert ours["excess"] is None or ours["excess"] <= 0
        assert (other["value"] is not None) == stated
        if stated:
            assert abs(other["outside"]) <= 1e-6
            assert other["value"] == pytest.approx(ours["value"], abs=1e-5)
        else:
            assert "cannot state" in other["status"]
    assert rows["least 0-1 loss, LDP", "rropt"]["excess"] is not None


def test_the_excess_of_a_matrix_is_measured(room: Any) -> None:
    excess = room("tables.answers").excess
    keep = math.exp(1.5) / (1 + math.exp(1.5))
    assert excess(np.array([[keep, 1 - keep], [1 - keep, keep]])) == pytest.approx(0.5, abs=1e-12)
    assert excess(np.array([[0.5, 0.5 - 1e-8, 1e-8], [0.5, 0.5, -1e-9]])) == math.inf


def test_the_search_draws_the_mechanism(room: Any) -> None:
    """Each share within six standard deviations at 200,000 draws: it is compared at the same work."""
    mechanism = rr.RandomizedResponse(5, epsilon=1).to_mechanism()
    search = room("tables.drawing").CumulativeSearch(mechanism)
    shares = np.bincount(search(np.full(200_000, 3, dtype=np.uint8)), minlength=5) / 200_000
    assert np.abs(shares - mechanism.matrix[3]).max() < 6 * 0.5 / math.sqrt(200_000)
    assert set(search(np.arange(1000) % 5).tolist()) == set(range(5))


def test_channels_are_judged_right(results: dict[str, Any]) -> None:
    assert [row["answer"] for row in results["orders"].rows if row["tool"] == "rropt"] == ["yes", "no", "no"]


def test_the_exponent_is_that_of_a_power(room: Any) -> None:
    exponent = room("tables.frontier").exponent
    assert exponent([(k, 3 * k**1.5) for k in (2, 4, 8, 16)]) == pytest.approx(1.5)
    assert exponent([(2, 1)]) is None


@pytest.mark.long
def test_a_ladder_ends_at_the_last_certified_size(room: Any) -> None:
    """Information under bistochastic LDP is certified at once for two inputs, and not in a second for twelve."""
    table = room("tables.frontier")
    kind = table.Kind(table.KINDS["information, LDP 1, bistochastic"].make, (2, 12))
    rungs, after = table.climb(kind, 1.0)
    assert [row["k"] for row in rungs] == [2]
    assert after.startswith("12: ")
    assert rungs[0]["memory"] > 1e7


def test_the_page_has_the_parts_in_their_order_and_its_picture(
    room: Any, results: dict[str, Any], tables: dict[str, Any], tmp_path: Path
) -> None:
    chosen = [tables[name] for name in ("frontier", "gain")]
    again = [
        type(table)(**{**vars(table), "measure": lambda scale, name=table.name: results[name]}) for table in chosen
    ]
    text = room("__main__").run(again, "tiny", tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text
    assert {path.name for path in tmp_path.iterdir()} == {"page.md", *results["frontier"].pictures}
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == ["## What a user gains", "## The largest problems"]
    assert "numpy" in text
    assert "cores" in text
    for name, picture in results["frontier"].pictures.items():
        assert text.count(name) == 1
        assert ElementTree.fromstring(picture).tag.endswith("svg")


def test_an_unknown_table_is_refused(room: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        room("__main__").main(["no_such_table"])
    assert "frontier" in capsys.readouterr().err
