"""Robust cones with large blocks: knapsacks of levels against full enumeration, proofs by levels, the entropy."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.program.block_cones import RobustCone
from rropt.program.programs import Information, Program
from rropt.prove.uninformative import entropy_proof
from rropt.solve.engine.method import Dual, SolveLimits
from rropt.solve.engine.polyhedral import cdd_rays
from rropt.solve.robust.block_knapsack import LevelBlocks
from rropt.solve.robust.block_knapsack_climb import LevelClimbs
from rropt.solve.robust.block_knapsack_proof import prove_levels
from rropt.solve.robust.block_knapsack_search import LevelPricer, LevelSearch
from rropt.solve.robust.block_vertices import ShapePricer, most_elements
from rropt.solve.robust.blocks import BlockShapes
from rropt.solve.robust.leaves import least_bound
from rropt.solve.robust.robust import solve_robust

F = Fraction
TABLES = {
    "2x2": ([[1, 15], [98, 1]], "1"),
    "zeros": ([[0, 8, 30], [25, 0, 40]], "2"),
    "3x2": ([[10, 3], [4, 60], [20, 20]], "1/2"),
    "no s": ([[5, 9], [0, 0]], "3"),
}


def compiled(name: str) -> tuple[Program, RobustCone, np.ndarray]:
    counts, epsilon = TABLES[name]
    confidence = rr.robust.ChiSquareSet(np.array(counts))
    goal = rr.Maximize(rr.MutualInformation(confidence.counts))
    program = rr.Problem(goal, [rr.RLDP(epsilon, confidence)]).compile()
    assert isinstance(program.cone, RobustCone)
    return program, program.cone, confidence.counts.array


def priced(cone: RobustCone, prior: np.ndarray, seed: int, nodes: int) -> tuple[np.ndarray, LevelSearch]:
    rng = np.random.default_rng(seed)
    logs = np.log(np.where(prior > 0, prior, 1.0))
    prices = -prior * logs * rng.uniform(0.3, 0.8) + 0.01 * rng.normal(size=len(prior))
    return prices, LevelPricer(LevelBlocks(cone, prior), prices).search(-math.inf, nodes, keep=-math.inf)


@pytest.mark.parametrize("name", thinned(TABLES, 2))
def test_the_bound_is_above_every_vertex_and_columns_are_in_the_cone(name: str) -> None:
    """Against the search that lists all vertices of all blocks."""
    _, cone, prior = compiled(name)
    for seed in range(2):
        prices, found = priced(cone, prior, seed, 60)
        exact = ShapePricer(BlockShapes(cone, prior), prices).search(-math.inf, 20_000)
        assert exact.bound == pytest.approx(exact.best, abs=1e-9)
        assert found.bound >= exact.best - 1e-9
        assert found.best <= exact.best + 1e-9
        for value, v in found.columns[:40]:
            w = float(prior @ v)
            worth = float(np.sum(prior * np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0)), 0.0)))
            assert value == pytest.approx((worth - prices @ v) / w - math.log(w), abs=1e-9)
            assert cone.excess([F(float(x)) for x in v]) < 1e-7 * float(max(v))


@pytest.mark.parametrize("name", thinned(TABLES, 2))
def test_the_search_finds_the_best_column(name: str) -> None:
    """Within 240 nodes, and for two tables nothing is left to be found."""
    _, cone, prior = compiled(name)
    prices, found = priced(cone, prior, 0, 240)
    exact = ShapePricer(BlockShapes(cone, prior), prices).search(-math.inf, 20_000)
    assert found.best == pytest.approx(exact.best, abs=1e-8)
    if name in ("2x2", "3x2"):
        assert found.bound == pytest.approx(exact.best, abs=1e-6)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", graded([0], [1, 2]))
def test_a_search_ends_where_its_best_column_is_as_good_as_its_bound(name: str, seed: int) -> None:
    """Cells without columns once kept the bound of a search up, and so did best columns that it did not note."""
    _, cone, prior = compiled(name)
    _, found = priced(cone, prior, seed, 3000)
    assert found.best <= found.bound <= found.best + 1e-3


@pytest.mark.parametrize("name", TABLES)
def test_climbs_stay_in_the_cone_and_reach_the_best_column(name: str) -> None:
    """From 60 starts at random: the best vertex that the list of all of them has."""
    _, cone, prior = compiled(name)
    rng = np.random.default_rng(0)
    for seed in range(2):
        prices, _ = priced(cone, prior, seed, 1)
        starts = np.exp(3 * rng.normal(size=(60, len(prior))))
        columns, height = LevelClimbs(LevelBlocks(cone, prior)).climb(starts, prices)
        exact = ShapePricer(BlockShapes(cone, prior), prices).search(-math.inf, 20_000)
        assert height.max() == pytest.approx(exact.best, abs=1e-9)
        for value, v in zip(height, columns, strict=True):
            w = float(prior @ v)
            worth = float(np.sum(prior * np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0)), 0.0)))
            assert value == pytest.approx((worth - prices @ v) / w - math.log(w), abs=1e-9)
            assert cone.excess([F(float(x)) for x in v]) < 1e-9 * float(max(v))


def rarely() -> tuple[Program, Program]:
    """14 values of the second attribute, of which only three ever occur, and the same without the others."""
    table = np.zeros((2, 14), dtype=int)
    table[:, :3] = [[30, 8, 12], [25, 20, 40]]
    confidence = rr.robust.ChiSquareSet(table)
    program = rr.Problem(rr.Maximize(rr.MutualInformation(confidence.counts)), [rr.RLDP(2, confidence)]).compile()
    assert isinstance(program.cone, RobustCone)
    kept = [0, 1, 2, 14, 15, 16]
    assert not any(program.cone.lower[x] for x in range(28) if x not in kept)
    weights = tuple(program.weights[x] for x in kept)
    cone = RobustCone(program.cone.level, ((0, 1, 2), (3, 4, 5)), tuple(program.cone.lower[x] for x in kept))
    inputs = tuple(program.inputs[x] for x in kept)
    return program, replace(program, inputs=inputs, weights=weights, utility=Information(weights), cone=cone)


@pytest.mark.parametrize("name", TABLES)
def test_prices_of_a_proof_exceed_every_ray(name: str) -> None:
    """F <= 0 at the extreme rays that cddlib finds, for prices that prove_levels says are enough."""
    program, cone, prior = compiled(name)
    rays = cdd_rays(cone.general(), len(prior))
    assert isinstance(rays, np.ndarray)
    prices, found = priced(cone, prior, 3, 60)
    proof = prove_levels(program, Dual(prices, evidence=found))
    assert proof is not None
    given = proof.payload["prices"]
    assert isinstance(given, list)
    exact = np.array([float(F(str(price))) for price in given])
    assert proof.bound == sum(F(str(price)) for price in given)
    assert (Information(program.weights).mu(rays) - exact @ rays).max() <= 1e-9
    # No higher than the search says: what it left open is all that the prices were raised by.
    assert float(proof.bound) == pytest.approx(float(prices.sum()) + found.bound, abs=1e-6)


def test_the_entropy_is_a_bound_of_its_own() -> None:
    program, _, prior = compiled("zeros")
    proof = entropy_proof(program)
    entropy = -sum(p * math.log(p) for p in prior if p > 0)
    assert proof.bound is not None
    assert entropy - 1e-12 <= float(proof.bound) <= entropy + 1e-12
    assert proof.payload["known"] == "entropy"


def test_a_large_block_is_solved_and_its_bound_is_true() -> None:
    table = np.zeros((2, 14), dtype=int)
    table[:, :3] = [[30, 8, 12], [25, 20, 40]]
    confidence = rr.robust.ChiSquareSet(table)
    best = solve_robust(rarely()[1], SolveLimits(gap=1e-6)).claim.objective
    assert best is not None
    # It is stopped by the value that it has found, and not by a clock: processors differ.
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(confidence.counts)), [rr.RLDP(2, confidence)]).solve(
        gap=1e-3, time_limit=60, monitor=lambda value, _: value is None or value < best - 0.005
    )
    assert solution.value is not None
    assert solution.bound is not None
    entropy = -sum(p * math.log(p) for p in confidence.counts.array if p > 0)
    assert best - 0.01 <= solution.value <= best + 1e-6
    assert best - 1e-6 <= solution.bound <= entropy + 1e-9
    assert solution.mechanism is not None
    assert rr.RLDP(2, confidence).violation(solution.mechanism) <= 0


def test_a_proof_is_cut_off_where_the_format_ends() -> None:
    _, cone, prior = compiled("zeros")
    _, found = priced(cone, prior, 1, 120)

    def elements(bound: float) -> int:
        stack, count = list(found.roots), 0
        while stack:
            node = stack.pop()
            count += 1
            if node.parts is not None and node.bound > bound:
                stack += node.parts
        return count

    whole = elements(-math.inf)
    for most in (whole, whole // 2, 5):
        assert elements(least_bound(found.roots, most)) <= most
    assert least_bound(found.roots, whole) == -math.inf
    assert most_elements(BlockShapes(cone, prior)) == 6 * 10**6 // (2 * 8)


@pytest.fixture(scope="module")
def searched() -> tuple[Program, np.ndarray, LevelSearch]:
    """Sex and education of Adult, 2 x 16 values, of which the rarest is one in a thousand: 1,000 nodes."""
    data = Path(__file__).resolve().parents[3] / "models" / "data" / "adult_sex_education.csv"
    confidence = rr.robust.ChiSquareSet(rr.Prior.from_csv(data, pairs=("sex", "education")))
    program = rr.Problem(rr.Maximize(rr.MutualInformation(confidence.counts)), [rr.RLDP(1, confidence)]).compile()
    assert isinstance(program.cone, RobustCone)
    blocks = LevelBlocks(program.cone, confidence.counts.array)
    found = solve_robust(program, SolveLimits(gap=0.2))
    assert found.dual is not None
    prices = np.asarray(found.dual.prices)
    return program, prices, LevelPricer(blocks, prices).search(1e-4, 1000)


@pytest.mark.parametrize("seconds", [0.0, 1.0, None])
def test_a_proof_is_as_long_as_time_allows(
    searched: tuple[Program, np.ndarray, LevelSearch], seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rropt.solve.robust.block_knapsack_proof.SHORT", 10)
    program, prices, found = searched
    proof = prove_levels(program, Dual(prices, evidence=found), seconds)
    assert proof is not None
    assert proof.bound is not None
    trees = proof.payload["levels"]
    assert isinstance(trees, list)
    elements = sum(map(len, trees))
    if seconds == 0.0:
        assert elements <= 12
    if seconds is None:
        assert elements > 40
        assert float(proof.bound) == pytest.approx(float(prices.sum()) + found.bound, abs=1e-6)
    assert float(proof.bound) >= float(prices.sum()) + found.bound - 1e-9
