"""Robust cones: the vertex lists, the pricer, and certificates by shapes."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from drawing import graded, thinned

import rropt as rr
from rropt.checker import check_bytes
from rropt.model.privacy import Level
from rropt.program.block_cones import RobustCone
from rropt.program.cones import CompleteCone, GraphCone, PolyhedralCone
from rropt.solve.engine.interior import central_prices
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Dual
from rropt.solve.robust import blocks
from rropt.solve.robust.block_vertices import ShapePricer, prove_shapes
from rropt.solve.robust.blocks import BlockShapes, BlockVertices

F = Fraction
BLOCKS = {
    "bounds": ["1/5", "1/3", "1/4"],
    "a zero": ["1/2", "0", "1/7"],
    "none": [0, 0, 0],
    "all": ["1/2", "1/3", "1/6"],
}


def instance(counts: list[list[int]], epsilon: object = 1) -> tuple[rr.Prior, RobustCone]:
    table = np.array(counts)
    confidence = rr.robust.ChiSquareSet(table)
    cone = rr.RLDP(epsilon, confidence).cone(confidence.pairs.labels)
    assert isinstance(cone, RobustCone)
    return confidence.counts, cone


def corners(rows: list[list[Fraction]], sides: list[Fraction]) -> set[tuple[Fraction, ...]]:
    """The vertices of {T : rows T <= sides}, by solving every choice of rows in rationals."""
    size = len(rows[0])
    found = set()
    for chosen in product(range(len(rows)), repeat=size):
        if list(chosen) != sorted(set(chosen)):
            continue
        table = [[*rows[at], sides[at]] for at in chosen]
        for column in range(size):
            pivot = next((at for at in range(column, size) if table[at][column]), None)
            if pivot is None:
                break
            table[column], table[pivot] = table[pivot], table[column]
            table[column] = [value / table[column][column] for value in table[column]]
            for at in range(size):
                if at != column and table[at][column]:
                    factor = table[at][column]
                    table[at] = [a - factor * b for a, b in zip(table[at], table[column], strict=True)]
        else:
            point = tuple(row[-1] for row in table)
            if all(
                sum(a * b for a, b in zip(row, point, strict=True)) <= side
                for row, side in zip(rows, sides, strict=True)
            ):
                found.add(point)
    return found


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize(("lo", "hi"), [("1", "3"), ("1", "6/5"), ("2", "2"), ("1/2", "20")])
def test_the_list_holds_every_vertex_of_a_block(name: str, lo: str, hi: str) -> None:
    """Against all vertices of {T >= 0 : m(T) >= lo, M(T) <= hi} in rationals."""
    lower, low, high = [F(value) for value in BLOCKS[name]], F(lo), F(hi)
    free = 1 - sum(lower)
    size = len(lower)
    means = [[r + free * (at == u) for at, r in enumerate(lower)] for u in range(size)]
    rows = (
        [[-value for value in row] for row in means]
        + means
        + [[-F(at == u) for at in range(size)] for u in range(size)]
    )
    exact = corners(rows, [-low] * size + [high] * size + [F(0)] * size)
    assert exact
    part = BlockVertices(np.full(size, 1 / size), lower)
    listed = part.at(np.array([float(low)]), np.array([float(high)]))
    points = [part.point(float(listed.level[0, j]), float(listed.step[0]), j) for j in np.flatnonzero(listed.valid[0])]
    for corner in exact:
        assert min(np.abs(point - [float(value) for value in corner]).max() for point in points) < 1e-12
    for point in points:
        assert min(point) >= 0
        held = float(sum(float(r) * t for r, t in zip(lower, point, strict=True)))
        assert held + float(free) * point.min() >= float(low) - 1e-12
        assert held + float(free) * point.max() <= float(high) + 1e-12


TABLES = {
    "2x2": [[1, 15], [98, 1]],
    "zeros": [[0, 8, 30], [25, 0, 40]],
    "3x2": [[10, 3], [4, 60], [20, 20]],
    "no s": [[5, 9], [0, 0]],
}


def test_the_cone_is_its_rows() -> None:
    rng = np.random.default_rng(3)
    for table in TABLES.values():
        prior, cone = instance(table, "0.7")
        rows = cone.general()
        assert isinstance(rows, PolyhedralCone)
        for _ in range(50):
            v = [F(int(value)) for value in rng.integers(5, 9, len(prior))]
            assert cone.excess(v) == rows.excess(v)
    every = RobustCone(Level(gamma=F(2)), ((0, 1), (2,)), (F(0),) * 3)
    assert every.general() == GraphCone(3, tuple((x, z, F(2)) for x, z in ((0, 2), (1, 2), (2, 0), (2, 1))), "gamma")
    with pytest.raises(rr.InputError, match="not a partition"):
        RobustCone(Level(gamma=F(2)), ((0, 1), (1, 2)), (F(0),) * 3)
    with pytest.raises(rr.InputError, match="not a part of a distribution"):
        RobustCone(Level(gamma=F(2)), ((0, 1), (2,)), (F(2, 3), F(2, 3), F(0)))


def test_central_prices_solve_linear_programmes() -> None:
    rng = np.random.default_rng(2)
    for size, width in ((3, 8), (10, 60), (20, 30)):
        matrix = rng.uniform(0, 1, (size, width)) * 10.0 ** rng.uniform(-2, 2, width)
        rhs = matrix @ rng.uniform(0, 1, width)
        worth = matrix.T @ rng.normal(size=size) - rng.uniform(0, 1, width)
        lp = LpModel(worth, matrix, rhs, rhs, np.zeros(width), np.full(width, np.inf))  # type: ignore[arg-type]
        exact = lp.solve().objective
        found = central_prices(worth, matrix, rhs, 1e-8)
        assert float(rhs @ found.prices) == pytest.approx(exact, abs=1e-6)
        assert (matrix.T @ found.prices >= worth - 1e-7).all()
        loose = central_prices(worth, matrix, rhs, 0.1)
        assert exact - 1e-7 <= float(rhs @ loose.prices) <= exact + 0.2


# -- certificates --------------------------------------------------------------------------------------


def reference() -> Iterator[tuple[str, str, np.ndarray, float]]:
    path = Path(__file__).resolve().parents[2] / "data" / "rldp_reference.csv"
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        shape = tuple(map(int, row["size"].split("x")))
        counts = np.array([int(count) for count in row["counts"].split()]).reshape(shape)
        yield f"{row['size']} #{row['instance']}", row["epsilon"], counts, float(row["polyopt_mutual_information"])


ROWS = list(reference())


def test_the_larger_instances_are_drawn_from_jeffreys_prior() -> None:
    """n = 1000 pairs, Dirichlet(1/2, ...), NumPy's default_rng; the seed is the number of the instance."""
    seen = set()
    for name, _, counts, _ in ROWS:
        if name[:3] in ("4x4", "5x5"):
            rng = np.random.default_rng(int(name.partition("#")[2]))
            drawn = rng.multinomial(1000, rng.dirichlet(np.full(counts.size, 0.5)))
            assert drawn.reshape(counts.shape).tolist() == counts.tolist()
            seen.add(name)
    assert len(seen) == 3


ROW = {f"{name} {epsilon}": (epsilon, counts, value) for name, epsilon, counts, value in ROWS}
SMALL = [name for name in ROW if name[:3] in ("2x2", "2x3", "3x2") and name.split()[2] in ("0.5", "2.0", "8.0")][::2]
SMALL += ["3x3 #0 1.0", "3x3 #0 6.0"]
OTHERS = [name for name in ROW if name not in SMALL]
# Of small tables every eighth row, and all large ones.
LONG = [name for at, name in enumerate(OTHERS) if at % 8 == 0 or name[:3] in ("4x4", "5x5")]


def solved(counts: np.ndarray, epsilon: str, gap: float) -> rr.Solution:
    confidence = rr.robust.ChiSquareSet(counts)
    goal = rr.Maximize(rr.MutualInformation(confidence.counts))
    return rr.Problem(goal, [rr.RLDP(epsilon, confidence)]).solve(gap=gap)


@pytest.mark.parametrize("name", [*thinned(SMALL, 3), *graded([], LONG, [name for name in OTHERS if name not in LONG])])
def test_reference_rows_are_certified(name: str) -> None:
    epsilon, counts, value = ROW[name]
    solution = solved(counts, epsilon, 1e-8)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(value, abs=1e-8)
    assert solution.verdict is not None
    assert solution.verdict.proved


def test_prices_from_few_columns_do_not_go_in_circles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices that only the nearest columns give are raised by the others, and a search at them brings no new one."""
    monkeypatch.setattr("rropt.solve.robust.robust.MIDDLING", 1)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(1000, rng.dirichlet(np.full(16, 0.5))).reshape(4, 4)
    solution = solved(counts, "1", 1e-6)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(0.814369, abs=1e-6)


@pytest.mark.long
def test_seven_by_seven_values_are_certified() -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(1000, rng.dirichlet(np.full(49, 0.5))).reshape(7, 7)
    solution = solved(counts, "1", 1e-6)
    assert solution.status == "certified"
    assert solution.value == pytest.approx(0.352051, abs=2e-6)


def test_one_distribution_and_all_distributions_are_certified() -> None:
    """The two ends: with all of them it is LDP between different s; with one known, rho is 0."""
    prior = rr.Prior.from_counts([[3, 5], [7, 2]], pairs=rr.Pairs(2, 2))
    goal = rr.Maximize(rr.MutualInformation(prior))
    found = {
        name: rr.Problem(goal, [constraint]).solve(gap=1e-8)
        for name, constraint in {
            "all": rr.RLDP(1, rr.robust.EveryDistribution(prior.pairs)),
            "ratios": rr.MaximalRLDP(1, groups=prior.pairs),
            "known": rr.RLDP(1, rr.robust.KnownDistribution(prior)),
        }.items()
    }
    assert {solution.status for solution in found.values()} == {"certified"}
    assert found["all"].value == pytest.approx(found["ratios"].value, abs=2e-8)
    assert found["known"].value > found["all"].value
    # With r = P(u | s) the rows are few, and a box tree proves the same optimum.
    rows = rr.RLDP(1, rr.robust.KnownDistribution(prior)).cone(prior.labels)
    assert isinstance(rows, RobustCone)
    general = rows.general()
    assert isinstance(general, PolyhedralCone)
    other = rr.Problem(goal, [rr.ConeConstraint(general.rows)]).solve("columns", gap=1e-7)
    assert other.status == "certified"
    assert found["known"].value == pytest.approx(other.value, abs=2e-7)


def line_of(lines: list[str], key: str) -> tuple[int, list[int]]:
    """The place of the line with a key, and its integers."""
    place = next(i for i, line in enumerate(lines) if line.split(" ")[0] == key)
    return place, [int(n) for n in lines[place].split(" ")[1:]]


def test_a_bound_that_is_too_low_is_refuted() -> None:
    solution = solved(np.array(TABLES["3x2"]), "2", 1e-8)
    assert solution.certificate is not None
    document = json.loads(solution.certificate.to_json())
    assert check_bytes(json.dumps(document).encode()).proved
    lines = document["proof"]["lines"]
    (_, (unit,)), (place, prices) = line_of(lines, "unit"), line_of(lines, "prices")
    for x in range(len(prices)):
        changed = json.loads(json.dumps(document))
        lower = [price - (unit // 10**6 if z == x else 0) for z, price in enumerate(prices)]
        changed["proof"]["lines"][place] = " ".join(map(str, ["prices", *lower]))
        assert not check_bytes(json.dumps(changed).encode()).proved


def test_lists_that_are_too_long_to_be_kept_are_made_for_the_nodes_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node by itself leaves no other for the lists of the other blocks, or of its own."""
    prior, cone = instance(TABLES["zeros"])
    prices, found = 0.5 * prior.array, []
    for most in (blocks.TABLED, 0):
        monkeypatch.setattr(blocks, "TABLED", most)
        pricer = ShapePricer(BlockShapes(cone, prior.array), prices)
        nodes = pricer.roots()
        for node in nodes:
            pricer.bound([node], 0.0)
        found.append([node.bound for node in nodes])
    assert found[0] == found[1]


def test_any_prices_yield_a_true_bound() -> None:
    """The writer raises what floats suggest until it holds; the nearer the prices, the better."""
    table = np.array(TABLES["zeros"])
    solution = solved(table, "1", 1e-8)
    problem = solution.problem
    program = problem.compile()
    assert not isinstance(program.cone, CompleteCone)
    rng = np.random.default_rng(0)
    bounds = []
    for size in (1e-1, 1e-3, 1e-5):
        assert solution.certificate is not None
        lines = solution.certificate.document["proof"]["lines"]
        (_, (unit,)), (_, prices) = line_of(lines, "unit"), line_of(lines, "prices")
        exact = [price / unit for price in prices]
        proof = prove_shapes(program, Dual(np.array(exact) + size * rng.normal(size=program.size)), None)
        assert proof is not None
        assert proof.bound is not None
        bounds.append(float(proof.bound))
        assert proof.bound >= F(solution.value) - F(1, 10**12)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < solution.value + 1e-3


@pytest.mark.parametrize("ratio", [{"gamma": 300}, {"gamma": 2}, {"epsilon": 8}, {"gamma": 100_000}])
def test_simple_ratios_are_certified_too(ratio: dict[str, int]) -> None:
    """Without any r the weights of vertices are simple multiples of each other: a cut half way between two may be the
    weight of a third, which floats and the checker would put on different sides."""
    pairs = rr.Pairs(["f", "m"], ["a", "b", "c"])
    prior = rr.Prior.from_counts([[30, 70, 20], [55, 45, 90]], pairs=pairs)
    rule = rr.RLDP(confidence=rr.robust.EveryDistribution(pairs), **ratio)
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve(gap=1e-6)
    assert solution.status == "certified", solution.warnings


def test_where_cddlib_breaks_down_another_method_goes_on() -> None:
    counts = rr.robust.ChiSquareSet([[30, 70, 20], [55, 45, 90]])
    solution = rr.Problem(rr.Maximize(rr.ChiSquareInformation(counts.counts)), [rr.RLDP(8, counts)]).solve(gap=1e-6)
    assert solution.status == "certified"
    assert any("method columns took the problem" in note for note in solution.warnings)
