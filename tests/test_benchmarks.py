"""Every benchmark table runs at a tiny size and says what its columns promise; no time is tested."""

from __future__ import annotations

import importlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from drawing import graded

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


def test_channels_are_judged_right(results: dict[str, Any]) -> None:
    assert [row["answer"] for row in results["orders"].rows if row["tool"] == "rropt"] == ["yes", "no", "no"]


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
