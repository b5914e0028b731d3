"""The search case by case over confidence cones: against the one in a single tree, and through to certificates."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt.checker import check_bytes
from rropt.program.confidence_cones import ConfidenceCone
from rropt.solve.robust_exact import dominant_input
from rropt.solve.robust_exact.block_cuts import BlockSearch, bound_together
from rropt.solve.robust_exact.cut_program import CutPool, CutProgram
from rropt.solve.robust_exact.cut_search import CutRelaxation, CutSearch
from rropt.solve.robust_exact.dominant_input import Cases, CaseSearch

TABLES = [[[35, 3, 130], [10, 24, 209]], [[35, 3, 130], [0, 24, 209]]]


def cone_of(table: list[list[int]], epsilon: str, form: str = "exact") -> tuple[ConfidenceCone, np.ndarray]:
    """The cone of a table of counts, and its prior."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    assert form in ("exact", "product")
    cone = rr.RLDP(epsilon, known, form=form).cone(known.pairs.labels)  # type: ignore[arg-type]
    assert isinstance(cone, ConfidenceCone)
    return cone, np.array(table, dtype=float).ravel() / np.sum(table)


def solved(table: list[list[int]], epsilon: str, form: str = "exact", **options: object) -> rr.Solution:
    """Mutual information at the observed distribution."""
    known = rr.robust.ChiSquareSet(table, alpha="0.05")
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(known.counts)), [rr.RLDP(epsilon, known, form=form)])  # type: ignore[arg-type]
    return problem.solve(**options)  # type: ignore[arg-type]


@cache
def prices_of(which: int, epsilon: str) -> np.ndarray:
    """Prices of one of the tables that are proved to be high enough, by no more than 1e-5."""
    certificate = solved(TABLES[which], epsilon, gap=1e-5).certificate
    assert certificate is not None
    known = json.loads(certificate.to_json())["proof"]["prices"]
    return np.array([float(Fraction(price)) for price in known])


@pytest.mark.parametrize(
    ("table", "epsilon", "low"),
    graded([], [(1, "6", 1e-4), (0, "6", 1e-3), (0, "4", 1e-4)]),
)
def test_bounds_the_same_as_one_tree(table: int, epsilon: str, low: float) -> None:
    """At prices a little too low the best column is met and enclosed alike; raised by the bound, all cases close."""
    cone, prior = cone_of(TABLES[table], epsilon)
    prices = prices_of(table, epsilon) - low * prior
    near = np.ones((1, len(prior)))
    plain = CutSearch(CutRelaxation(CutPool(cone), prior, prices, near))
    plain.cuts.margin = 1e-5
    assert plain.search(20_000, settle=True) == "closed"
    search = CaseSearch(Cases(CutPool(cone), prior, prices, near, np.full(len(prior), 1e-5)))
    search.cases.margin = 1e-5
    assert search.search(settle=True) == "column"
    best = max(search.cases.value(column) for column in search.cases.columns)
    assert 0 < best <= search.bound <= 1.1 * best + 1.1e-5
    assert best <= plain.bound + 1e-9
    assert max(plain.cuts.value(column) for column in plain.cuts.columns) <= search.bound + 1e-9
    for column in search.cases.columns:
        assert prior @ column == pytest.approx(1, abs=1e-12)
        assert search.cases.pool.worst(column[None, :]).value.max() <= 1e-9
    raised = prices + (search.bound + 1e-6) * prior
    again = CaseSearch(Cases(search.cases.pool, prior, raised, near, np.full(len(prior), 1e-6)))
    assert again.search() == "closed"
    assert not again.cases.columns
    assert again.bound <= 0


@pytest.mark.parametrize(
    ("table", "form"),
    graded([], [(TABLES[0], "exact"), (TABLES[0], "product"), (TABLES[1], "exact"), (TABLES[1], "product")]),
)
def test_certificates_by_cases_and_by_boxes_overlap(
    table: list[list[int]], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both prove the same optimum to a gap of 1e-5, and the checker accepts both."""
    found = []
    for promising, key in ((10.0, "cases"), (-1.0, "boxes")):
        monkeypatch.setattr(dominant_input, "PROMISING", promising)
        solution = solved(table, "5", form, gap=1e-5)
        assert solution.status == "certified"
        assert solution.certificate is not None
        text = solution.certificate.to_json()
        assert key in json.loads(text)["proof"]
        assert check_bytes(text.encode()).status == "PROVED"
        found.append((solution.value, solution.bound))
    (value, bound), (other, above) = found
    assert max(value, other) <= min(bound, above)


def test_high_levels_are_proved_by_cases() -> None:
    """At epsilon 7 cases promise most."""
    solution = solved(TABLES[1], "7", gap=1e-4)
    assert solution.status == "certified"
    assert solution.certificate is not None
    assert "cases" in json.loads(solution.certificate.to_json())["proof"]


@pytest.mark.long
def test_the_same_problem_gives_the_same_bytes() -> None:
    one, two = (solved(TABLES[1], "7", gap=1e-4).certificate for _ in range(2))
    assert one is not None
    assert two is not None
    assert one.to_json() == two.to_json()


@pytest.mark.long
def test_a_search_that_is_stopped_still_proves_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a step the roots' own linear programmes bound every case."""
    cone, prior = cone_of(TABLES[1], "6")
    prices = prices_of(1, "6") + 1e-9 * prior
    near = np.ones((1, len(prior)))
    search = CaseSearch(Cases(CutPool(cone), prior, prices, near, np.full(len(prior), 1e-6)))
    before = search.bound
    assert search.search(lambda: True) == "open"
    assert search.bound == before
    assert 0 < before < 10
    assert [box.parts for box in search.tree.roots] == [None] * int((prior > 0).sum())
    monkeypatch.setattr(dominant_input, "PROMISING", 10.0)
    monkeypatch.setattr(dominant_input.CaseSearch, "search", lambda *_, **__: "open")
    solution = solved(TABLES[1], "6", gap=1e-5)
    assert solution.status == "bounded"
    assert solution.certificate is not None
    assert check_bytes(solution.certificate.to_json().encode()).status == "PROVED"


def test_a_probe_answers_for_points_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the blocks' best points together are above 0 a probe is shown them, and its columns end a search that does
    not find any itself."""
    cone, prior = cone_of(TABLES[0], "6")
    prices = prices_of(0, "6") - 1e-3 * prior
    monkeypatch.setattr(Cases, "column", lambda *_: [])
    search = CaseSearch(Cases(CutPool(cone), prior, prices, np.ones((1, len(prior))), np.full(len(prior), 1e-6)))
    shown = []

    def probe(points: np.ndarray) -> np.ndarray:
        shown.append(points)
        return np.ones((1, len(prior)))

    assert search.search(probe=probe) == "column"
    assert shown
    assert shown[0].shape == (1, len(prior))
    assert prior @ shown[0][0] == pytest.approx(1)
    assert search.cases.columns[-1].tolist() == [1.0] * len(prior)


def test_blocks_are_bounded_under_the_limits_of_the_others() -> None:
    """A block whose neighbour is at 1 has to keep its level; its tree's multipliers prove the bound, and the best point
    keeps the level."""
    cone, prior = cone_of(TABLES[0], "6")
    pool = CutPool(cone)
    lower, upper = np.zeros(6), np.full(6, 5.0)
    lower[2] = upper[2] = 1.0
    cost = 0.5 * prior
    search = BlockSearch(CutProgram(pool, prior, 48, (3, 4, 5)), 1, lower, upper, cost, 1e-7)
    bound_together(pool, [search.block])
    while search.bound > search.block.best + 1e-6 and search.split(4):
        bound_together(pool, [search.block])
    assert search.block.point is not None
    assert search.block.best <= search.bound <= search.block.best + 1e-6
    whole = lower.copy()
    whole[3:] = search.block.point
    assert pool.worst(whole[None, :]).value[0, 0] <= 1e-7
    # No point on a grid that keeps the level of the observed distribution does better.
    ticks = np.linspace(0, 5, 41) ** 2 / 5
    grid = np.array(np.meshgrid(ticks, ticks, ticks)).reshape(3, -1).T
    columns = np.hstack([np.tile(lower[:3], (len(grid), 1)), grid])
    inside = pool.worst(columns).value[:, 0] <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(grid > 0, grid * np.log(grid), 0.0) @ prior[3:] - grid @ cost[3:]
    assert inside.any()
    assert gains[inside].max() <= search.bound + 1e-9


def test_limits_that_are_empty_are_shown_to_be() -> None:
    """A block that cannot keep the level has no point, and multipliers that prove as little as is asked."""
    cone, prior = cone_of(TABLES[0], "1")
    pool = CutPool(cone)
    lower, upper = np.zeros(6), np.full(6, 1e-3)
    lower[2] = upper[2] = 1.0
    search = BlockSearch(CutProgram(pool, prior, 48, (3, 4, 5)), 1, lower, upper, prior, 1e-7)
    bound_together(pool, [search.block])
    assert search.block.point is None
    assert search.bound < -1.0
    assert search.roots[0].use.values.min() > 0
