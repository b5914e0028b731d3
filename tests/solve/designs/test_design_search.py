"""Designs over any cone: where they start, what bounds their columns, and what the writer does with large numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from drawing import graded
from flint import arb

import rropt as rr
from rropt.program.programs import Program
from rropt.prove.balls import LARGEST, UNIT_BITS
from rropt.prove.trees import raised_tree
from rropt.solve.designs.criteria import DesignForms
from rropt.solve.designs.designs import solve_design
from rropt.solve.designs.proof import prove_design
from rropt.solve.designs.quadratics import FormRelaxation, quadratic_forms, shrunk_tree
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.tree import BoxRelaxation, BoxSearch
from rropt.solve.engine.method import Dual, SolveLimits
from rropt.solve.engine.polyhedral import cdd_rays
from rropt.solve.engine.search import Budget

PRIOR = rr.Prior.from_counts([3, 1, 6, 4])
FLAT = rr.ConeConstraint([[4 * (x == z) - 2 for z in range(4)] for x in range(4)])
"""Each entry of a column is at most twice its mean: the vertices are the pairs, and those of a square are dependent."""
GOALS = {"trace": rr.MinimaxRisk, "determinant": rr.DOptimality, "eigenvalue": rr.EOptimality}


def path_program(k: int, goal: str = "trace") -> Program:
    prior = rr.Prior.from_counts({str(x): 1 + x % 3 for x in range(k)})
    privacy = rr.MetricDP(nx.path_graph([str(x) for x in range(k)]), epsilon=1)
    return rr.Problem(rr.Minimize(GOALS[goal](prior)), [privacy]).compile()


@pytest.mark.parametrize("goal", GOALS)
def test_a_cone_whose_vertices_may_be_dependent_is_certified(goal: str) -> None:
    found = rr.Problem(rr.Minimize(GOALS[goal](PRIOR)), [FLAT]).solve(gap=1e-6)
    assert found.status == "certified", found.warnings
    assert found.gap <= 1e-6 * max(1.0, abs(found.value))
    # A mixture of the truth and the constant column is in the cone, and no better.
    truth = [[Fraction(1 + (x == z), 5) for z in range(4)] for x in range(4)]
    assert GOALS[goal](PRIOR).value(rr.Mechanism.from_rationals(truth, inputs=PRIOR.labels)).lower > found.bound


def test_a_cone_with_the_constant_column_on_its_boundary_has_no_design_of_full_rank() -> None:
    """Every column is at least twice as large at one input as at another one, so all have equal entries there."""
    rows = rr.ConeConstraint([[1, -1, 0, 0]])
    other = rr.ConeConstraint([[-1, 1, 0, 0]])
    found = rr.Problem(rr.Minimize(rr.MinimaxRisk(PRIOR)), [FLAT, rows, other]).solve(time_limit=5)
    assert found.status == "bounded"
    assert found.value == float("inf")


@pytest.mark.parametrize("seed", range(4))
def test_the_search_bounds_every_ray_at_any_time_and_begins_closer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = path_program(4)
    slice_ = ColumnForms.of(program)
    p = np.array([float(value) for value in program.prior])
    rays = cdd_rays(program.cone, 4)
    assert isinstance(rays, np.ndarray)
    rays = rays / (p @ rays)
    forms, prices = rng.normal(size=(4, 4)), rng.normal(size=4)
    top = float((((forms @ rays) ** 2).sum(axis=0) - prices @ rays).max())
    problem = quadratic_forms(slice_, forms, prices)
    search = BoxSearch(FormRelaxation(problem))
    assert top - 1e-9 <= search.bound < BoxSearch(BoxRelaxation(problem)).bound
    for limit in (30, 100, 1000, 20_000):
        search.run(-np.inf, Budget(limit))
        assert search.bound >= top - 1e-9
    assert search.bound == pytest.approx(top, abs=1e-6)


@pytest.mark.parametrize("goal", GOALS)
def test_a_search_cut_short_still_proves_a_bound_that_the_checker_accepts(goal: str) -> None:
    """Forms and prices shrink together until what the search leaves open costs least. It is stopped by the first bound,
    and not by a clock: processors differ."""
    bounds: list[float] = []

    def note(_: float | None, bound: float | None) -> bool:
        bounds.extend([] if bound is None else [bound])
        return not bounds

    answer = solve_design(path_program(8, goal), SolveLimits(gap=1e-6, monitor=note, interrupted=lambda: bool(bounds)))
    assert answer.dual is not None
    assert DesignForms.of(answer.dual).search is not None
    prior = rr.Prior.from_counts({str(x): 1 + x % 3 for x in range(8)})
    privacy = rr.MetricDP(nx.path_graph(list(prior.labels)), epsilon=1)
    bounds.clear()
    found = rr.Problem(rr.Minimize(GOALS[goal](prior)), [privacy]).solve(time_limit=60, monitor=note)
    assert found.status in ("certified", "bounded")
    assert not any("machine-checked" in warning for warning in found.warnings), found.warnings
    assert found.bound is not None
    assert found.gap < (20 if goal == "determinant" else found.value)


def test_a_shrunk_tree_proves_what_the_tree_did() -> None:
    program = path_program(4)
    answer = solve_design(program, SolveLimits(gap=1e-4))
    dual = answer.dual
    assert dual is not None
    own = DesignForms.of(dual)
    assert own.search is not None
    whole = prove_design(program, dual, None)
    tree = shrunk_tree(own.search, 4, 4, 0.5)
    small = prove_design(
        program, Dual(dual.prices / 4, dual.rows, replace(own, forms=own.forms / 2, search=tree)), None
    )
    assert whole is not None
    assert whole.bound is not None
    assert small is not None
    assert small.bound is not None
    # 2 tr W - sum(a) - offset, at half of W and a quarter of a.
    linear = float(np.trace(own.forms))
    offset = float(sum(p * p for p in program.prior))
    prices = 2 * linear - offset - float(whole.bound)
    assert float(small.bound) == pytest.approx(linear - prices / 4 - offset, abs=1e-6)


def integers(value: object) -> list[int]:
    """Every integer of a JSON value."""
    if isinstance(value, dict):
        return [number for entry in value.values() for number in integers(entry)]
    if isinstance(value, (list, tuple)):
        return [number for entry in value for number in integers(entry)]
    return [value] if isinstance(value, int) else []


@pytest.mark.parametrize("times", graded([1e9, np.nan], [1e3, 1e200, np.inf]))
def test_large_numbers_make_the_unit_coarser_or_no_proof(times: float) -> None:
    program = path_program(4)
    dual = solve_design(program, SolveLimits(gap=1e-6)).dual
    assert dual is not None
    wild = Dual(dual.prices * times, evidence=DesignForms(DesignForms.of(dual).forms * times))
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 30

    proof = prove_design(program, wild, None, stop)
    assert (proof is not None) == (times < 1e6)
    if proof is not None:
        assert max(map(abs, integers(json.loads(json.dumps(proof.payload))))) < 2**53


def test_a_leaf_that_leaves_much_open_is_written_over_a_coarser_unit() -> None:
    def write(unit: int, prices: list[arb]) -> tuple[list[dict[str, int]], arb]:
        return [{"n": 3 * unit}, {"n": -unit}], arb(1000)

    half = [Fraction(1, 2)] * 2
    found = raised_tree(write, 1 << UNIT_BITS, half, half)
    assert found is not None
    items, raised, unit = found
    assert 1 < unit < 1 << UNIT_BITS
    assert max(abs(item["n"]) for item in items) <= LARGEST
    assert all(1 / 2 + 500 <= float(price) <= 501 for price in raised)
    assert raised_tree(lambda unit, prices: ([{"n": 0}], arb(2) ** 60), 1 << UNIT_BITS, half, half) is None
    assert raised_tree(lambda unit, prices: ([{"n": 0}], arb("inf")), 1 << UNIT_BITS, half, half) is None
