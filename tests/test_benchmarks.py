"""Every benchmark table runs at a tiny size and says what its columns promise; no time is tested."""

from __future__ import annotations

import importlib
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from drawing import graded

NAMES = ("first", "frontier", "full_lp", "large", "ties", "metric", "places", "offdiagonal", "rldp", "exact_rldp")
NAMES += ("linear_loss", "sampling", "peers", "peer_answers", "rivals", "release", "accountant", "birkhoff", "limits")
NAMES += ("constructors", "kernels")
LONG = ("exact_rldp", "limits", "offdiagonal", "release", "rldp")


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

    def __init__(self, tables: Iterable[Any]) -> None:
        super().__init__()
        self.tables = {table.name: table for table in tables}

    def __missing__(self, name: str) -> Any:
        self[name] = self.tables[name].measure("tiny")
        return self[name]


@pytest.fixture(scope="module")
def results(room: Any) -> dict[str, Any]:
    return Measured(room("tables").TABLES)


@pytest.fixture(scope="module")
def tables(room: Any) -> dict[str, Any]:
    return {table.name: table for table in room("tables").TABLES}


def test_the_list_holds_every_table(tables: dict[str, Any], checkout: Path) -> None:
    files = {path.stem for path in (checkout / "benchmarks" / "tables").glob("*.py")} - {"__init__"}
    assert tuple(tables) == NAMES
    assert set(NAMES) == files


@pytest.mark.parametrize("name", graded([name for name in NAMES if name not in LONG], LONG))
def test_a_table_fills_its_columns(name: str, tables: dict[str, Any], results: dict[str, Any], room: Any) -> None:
    table, result = tables[name], results[name]
    keys = [column.key for column in table.columns]
    assert result.rows
    assert len(set(keys)) == len(keys)
    for row in result.rows:
        assert set(row) == set(keys), "a value without a column would be lost, a column without a value breaks the page"
        assert all(row[key] > 0 for key in ("lp", "columns", "vertices", "seconds", "check", "size") if key in row)
    text = room("page").section(table, result, 1.0)
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(lines) == len(result.rows) + 2
    assert len({line.count("|") for line in lines}) == 1
    assert table.title in text


def test_the_linear_programme_agrees_with_the_proved_interval(results: dict[str, Any]) -> None:
    rows = results["full_lp"].rows
    assert {row["method"] for row in rows} == {"simplex", "interior point"}
    for row in rows:
        assert row["gap"] <= 1e-9
        assert abs(row["outside"]) <= 1e-7
        assert abs(row["violation"]) <= 1e-7
        assert abs(row["sum of prices"]) <= 1e-6


def test_prices_that_undercut_a_column_are_seen(room: Any) -> None:
    """Prices a bit too low must show as a violation, and the right ones must not."""
    programme = room("tables.full_lp").StaircaseLp.of([5, 2, 2, 1], 1.0)
    assert programme.columns.shape == (4, 14)
    value, prices = programme.solve("highs-ds")
    assert value == pytest.approx(prices.sum(), abs=1e-9)
    assert programme.violation(prices) <= 1e-9
    assert programme.violation(prices - 1e-3) >= 4e-3


@pytest.mark.parametrize("name", graded(["large", "ties"], ["offdiagonal"]))
def test_small_sizes_are_certified(name: str, results: dict[str, Any]) -> None:
    for row in results[name].rows:
        assert row.get("status", "certified") == "certified"
        assert row.get("certified", "1 of 1") == "1 of 1"
        assert row["gap"] <= 1e-6


def test_the_uniform_prior_stands_beside_its_subset_design(results: dict[str, Any], room: Any) -> None:
    rows = results["ties"].rows
    assert {row["prior"] for row in rows} == {"uniform", "near-uniform", "two-valued"}
    for row in rows:
        assert (row["design"] is None) == (row["prior"] != "uniform")
        if row["design"] is not None:
            assert row["value - design"] <= 1e-12
            assert row["bound - design"] >= -1e-12
            assert row["value - design"] >= -1e-6
    # k = 2: the only subset design is Warner's, with keep probability gamma / (1 + gamma).
    keep = math.e / (1 + math.e)
    t, information = room("tables.ties").best_subset_design(2, 1.0)
    assert t == 1
    assert information == pytest.approx(
        math.log(2) + keep * math.log(keep) + (1 - keep) * math.log(1 - keep), abs=1e-14
    )


def test_only_the_certified_design_is_sure_to_keep_epsilon(results: dict[str, Any], room: Any) -> None:
    rows = {row["tool"]: row for row in results["linear_loss"].rows}
    assert set(rows) == {"rropt", "cvxpy, HIGHS", "cvxpy, CLARABEL", "cvxpy, SCS"}
    ours = rows["rropt"]
    assert ours["status"] == "certified"
    assert ours["excess"] <= 0
    assert ours["bound"] <= ours["value"] <= ours["bound"] + 1e-6
    for row in rows.values():
        assert row["value"] == pytest.approx(ours["value"], abs=1e-4), row["tool"]
        assert row["excess of likely"] <= row["excess"]


def test_cvxpy_agrees_with_the_proved_interval_where_it_can_state_the_problem(
    results: dict[str, Any], room: Any
) -> None:
    rows = {(row["problem"], row["tool"]): row for row in results["rivals"].rows}
    convex = {name: name.startswith("least") for name in room("tables.rivals").KINDS}
    assert len(convex) == 5
    for name, stated in convex.items():
        ours, other = rows[name, "rropt"], rows[name, "cvxpy"]
        assert ours["status"] == "certified"
        assert abs(ours["bound"] - ours["value"]) <= 1e-6
        assert (other["value"] is not None) == stated
        if stated:
            assert abs(other["outside"]) <= 1e-6
            assert other["value"] == pytest.approx(ours["value"], abs=1e-5)
        else:
            assert "cannot state" in other["status"]


def test_the_excess_of_a_matrix_is_measured(room: Any) -> None:
    import rropt as rr

    excesses = room("tables.linear_loss").excesses
    keep = math.exp(1.5) / (1 + math.exp(1.5))
    found = excesses(rr.Mechanism.from_matrix([[keep, 1 - keep], [1 - keep, keep]]))
    assert found["excess"] == pytest.approx(0.5, abs=1e-12)
    assert found["excess of likely"] == pytest.approx(0.5, abs=1e-12)
    dusty = excesses(rr.Mechanism.from_matrix([[0.5, 0.5 - 1e-8, 1e-8], [0.5, 0.5, 0.0]]))
    assert dusty["excess"] == math.inf
    assert dusty["excess of likely"] == pytest.approx(-1.0, abs=1e-6)


def test_every_way_of_drawing_draws_the_mechanism(room: Any) -> None:
    """Each share within six standard deviations at 200,000 draws: they are compared at the same work."""
    table = room("tables.sampling")
    mechanism = table.random_mechanism(5, 1)
    codes = np.full(200_000, 3, dtype=np.uint8)
    for draw in (mechanism.sample, table.CumulativeSearch(mechanism), table.ChoiceByInput(mechanism)):
        shares = np.bincount(draw(codes), minlength=5) / len(codes)
        assert np.abs(shares - mechanism.matrix[3]).max() < 6 * 0.5 / math.sqrt(len(codes))
    mixed = np.arange(1000) % 5
    for draw in (table.CumulativeSearch(mechanism), table.ChoiceByInput(mechanism)):
        assert draw(mixed).shape == mixed.shape
        assert set(draw(mixed).tolist()) == set(range(5))


def test_the_exponent_is_that_of_a_power(room: Any) -> None:
    slope, factor = room("tables.frontier").exponent([2, 4, 8, 16], [3 * k**1.5 for k in (2, 4, 8, 16)])
    assert slope == pytest.approx(1.5)
    assert factor == pytest.approx(3)


def test_the_pictures_are_images_of_every_point(results: dict[str, Any]) -> None:
    found = results["frontier"]
    for name, picture in found.pictures.items():
        assert sum(name in note for note in found.notes) == 1
        root = ElementTree.fromstring(picture)
        assert root.tag.endswith("svg")
        assert len(root.findall("{*}circle")) == 2


def test_a_ladder_ends_at_the_last_certified_size(room: Any) -> None:
    """Information under bistochastic LDP is certified at once for two inputs, and not in a second for twelve."""
    table = room("tables.frontier")
    kind = table.Kind(table.KINDS["information, LDP 1, bistochastic"].make, (2, 12))
    rungs, after = table.climb(kind, 1.0)
    assert [row["k"] for row in rungs] == [2]
    assert after.startswith("12: ")
    assert table.growth(rungs, "seconds") is None
    assert rungs[0]["memory"] > 1e7


def test_a_proof_outside_the_verified_core_is_named(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = room("tables.kernels")
    monkeypatch.setattr(kernels, "PROBLEMS", {"information, path": kernels.PROBLEMS["information, path"]})
    monkeypatch.setattr(kernels, "SIZES", {"tiny": (4, 16)})
    result = kernels.Kernels().measure("tiny")
    assert [row["k"] for row in result.rows] == [4]
    assert len(result.notes) == 1
    assert "information, path, k = 16" in result.notes[0]


def test_a_missed_target_is_said(room: Any) -> None:
    table, result = room("tables").TABLES[1], room("table").Result
    reached, missed = room("table").mark(True), room("table").mark(False)
    rows = [{"target met": reached}, {"target met by columns": missed}, {"target met": None}]
    assert result(rows).targets == (1, 2)
    assert "**1 of 2**" in room("page").summary([(table, result(rows))])
    assert "no target" in room("page").summary([(table, result(rows[2:]))])


def test_the_page_is_written_with_its_pictures(
    room: Any, results: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = next(one for one in room("tables").TABLES if one.name == "frontier")
    measured = results["frontier"]
    monkeypatch.setattr(type(table), "measure", lambda self, scale: measured)
    text = room("run").run([table], "tiny", tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text
    assert {path.name for path in tmp_path.iterdir()} == {"page.md", *measured.pictures}
    assert "numpy" in text
    assert "cores" in text


def test_an_unknown_table_is_refused(room: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        room("run").main(["no_such_table"])
    assert "full_lp" in capsys.readouterr().err
