"""Uniform off-diagonals: vertices against exact enumeration, bounds against points, search against brute force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from drawing import graded
from rropt.models.claims.ayed.polytope import polytope_rows

from rropt.solve.offdiagonal.bound import Bounder, Boxes, intervals, reach
from rropt.solve.offdiagonal.search import OffDiagonalSearch, Part
from rropt.solve.offdiagonal.vertices import (
    arrangements,
    box,
    count_vertices,
    excess,
    extremes,
    information,
    vertex_kinds,
)

F = Fraction


# -- exact enumeration ---------------------------------------------------------------------------------


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """The rank of a rational matrix."""
    table, found = [list(row) for row in rows], 0
    for column in range(len(table[0]) if table else 0):
        pivot = next((r for r in range(found, len(table)) if table[r][column]), None)
        if pivot is None:
            continue
        table[found], table[pivot] = table[pivot], table[found]
        for r in range(found + 1, len(table)):
            factor = table[r][column] / table[found][column]
            table[r] = [a - factor * b for a, b in zip(table[r], table[found], strict=True)]
        found += 1
    return found


def holds(row: Sequence[Fraction], o: Sequence[Fraction]) -> Fraction:
    """b + A o."""
    return row[0] + sum((a * v for a, v in zip(row[1:], o, strict=True)), F(0))


def vertices(size: int, ratio: Fraction) -> list[tuple[Fraction, ...]]:
    return [vertex for kind in vertex_kinds(size, ratio) for vertex in arrangements(kind)]


def double_description(size: int, rows: Sequence[Sequence[Fraction]]) -> set[tuple[Fraction, ...]]:
    """The vertices of b + A o >= 0 within the simplex of all o >= 0 with sum at most k / (k-1), row by row: two of them
    share an edge where no third one is tight in all rows in which both are."""
    top = F(size, size - 1)
    simplex = [[F(0), *(F(x == z) for z in range(size))] for x in range(size)] + [[top, *[F(-1)] * size]]
    corners = [tuple(top * (x == z) for z in range(size)) for x in range(size + 1)]
    found = {o: sum((holds(row, o) == 0) << at for at, row in enumerate(simplex)) for o in corners}
    for at, row in enumerate(rows, len(simplex)):
        sides = {o: holds(row, o) for o in found}
        kept = {o: tight | (sides[o] == 0) << at for o, tight in found.items() if sides[o] >= 0}
        for o, z in product([o for o in found if sides[o] > 0], [z for z in found if sides[z] < 0]):
            both = found[o] & found[z]
            if both.bit_count() < size - 1:
                continue
            third = (tight & both == both for one, tight in found.items() if one != o and one != z)
            if not any(third):
                share = sides[o] / (sides[o] - sides[z])
                kept[tuple(a + share * (b - a) for a, b in zip(o, z, strict=True))] = both | 1 << at
        found = kept
    return set(found)


@pytest.mark.parametrize("size", graded([2, 3, 4], [5]))
def test_the_list_is_the_one_of_the_double_description_method(size: int) -> None:
    """In rationals, on all rows of all pairs, for levels on both sides of g = k - 2, of k - 1 and of k."""
    edges = {F(size - back) + shift for back in (0, 1, 2) for shift in (F(0), F(1, 1000), F(-1, 1000))}
    alphas = {F(math.exp(alpha)).limit_denominator(50) for alpha in (0.1, 1.5, 3.0)}
    for ratio in sorted({edge for edge in edges if edge > 1} | (alphas if size < 5 else set())):
        listed = vertices(size, ratio)
        assert double_description(size, polytope_rows(size, ratio)) == set(listed), (size, ratio)
        assert len(set(listed)) == len(listed) == count_vertices(size, ratio)


@pytest.mark.parametrize("size", [5, 6, 7])
def test_the_condition_of_the_paper_lets_through_a_vertex_that_it_does_not_list(size: int) -> None:
    """ayed Prop. 3.2 asks g <= (S + sqrt(S (S-4))) / 2. Half way from S - 2 to there one number is u / g."""
    root = (F(size) + F(math.isqrt(size * (size - 4) * 10**12), 10**6)) / 2
    ratio = (F(size - 2) + root) / 2
    assert size - 2 < ratio < root
    low, high = box(size, ratio)
    extra = (high / ratio, *[high] * (size - 1))
    assert extra[0] < low
    tight = [row[1:] for row in polytope_rows(size, ratio) if holds(row, extra) == 0]
    assert all(holds(row, extra) >= 0 for row in polytope_rows(size, ratio))
    assert rank(tight) == size
    small = (1 - ratio * high) / (size - 1)
    assert excess((small, *[high] * (size - 1)), ratio) > 0, "nor is the vertex that it lists instead feasible"


def test_every_arrangement_is_listed_once_and_feasible() -> None:
    for size, ratio in ((2, F(3)), (3, F(3)), (4, F(2)), (4, F(3)), (5, F(7, 2)), (6, F(4)), (6, F(9))):
        found = vertices(size, ratio)
        assert len(set(found)) == len(found) == count_vertices(size, ratio)
        assert all(excess(vertex, ratio) <= 0 for vertex in found)
        assert extremes(size, ratio) == (min(map(min, found)), max(map(max, found)))


# -- bounds --------------------------------------------------------------------------------------------


def leaves(root: Part, size: int) -> list[tuple[dict[object, tuple[float, float]], Part]]:
    """Each leaf of a tree with the limits of its path."""
    whole = 0.0, 1 / (size - 1)
    found, stack = [], [(root, dict[object, tuple[float, float]]())]
    while stack:
        part, limits = stack.pop()
        if part.split is None or part.parts is None:
            found.append((limits, part))
        else:
            a, b = limits.get(part.split.way, whole)
            stack.append((part.parts[1], limits | {part.split.way: (max(a, part.split.at), b)}))
            stack.append((part.parts[0], limits | {part.split.way: (a, min(b, part.split.at))}))
    return found


def feasible(size: int, ratio: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random mixtures of few vertices, n x k."""
    corners = np.array(vertices(size, ratio))
    rows = []
    for _ in range(count):
        some = corners[rng.choice(len(corners), size=min(len(corners), int(rng.integers(1, 4))), replace=False)]
        rows.append(rng.dirichlet(np.ones(len(some))) @ some)
    return np.array(rows)


@pytest.mark.parametrize(("size", "ratio"), [(2, 2.0), (3, 1.1), (3, 20.0), (4, 2.5), (5, 2.0), (7, 6.0)])
def test_bounds_of_random_boxes_hold_for_the_points_in_them(size: int, ratio: float) -> None:
    rng = np.random.default_rng(100 * size)
    met = 0
    for _ in range(25):
        prior = rng.dirichlet(rng.choice([0.2, 1.0, 5.0]) * np.ones(size))
        o = feasible(size, ratio, 1, rng)[0]
        wide = rng.choice([1e-3, 0.05, 0.5])

        def around(value: float, wide: float = wide) -> list[float]:
            return [max(0.0, value * (1 - wide * rng.random())), min(1 / (size - 1), value * (1 + wide * rng.random()))]

        limits = {"C": around(float(o @ prior)), "s": around(float(o.min())), "M": around(float(o.max()))}
        x = int(rng.integers(size))
        lo, hi = np.full((1, size), -np.inf), np.full((1, size), np.inf)
        lo[0, x], hi[0, x] = around(float(o[x]))
        none = np.array([np.nan])
        boxes = Boxes(*(np.array([limits[name]]) for name in ("C", "s", "M")), none, none, lo, hi)
        left = reach(boxes, prior, ratio)
        for name, number in (("C", o @ prior), ("s", o.min()), ("M", o.max())):
            assert left[name][0][0] - 1e-12 <= number <= left[name][1][0] + 1e-12
        found = Bounder(prior, ratio).bounds(boxes, -1.0)
        value = float(information(o, prior)[0])
        assert found.value[0] >= value - 1e-12
        # In a small box the bound is close.
        met += wide < 0.01 and found.value[0] <= value + 0.05 * (1 + abs(value))
        # An input that is neither smallest nor largest lies in I.
        spans = intervals(boxes, size, ratio)
        inner = [z for z in range(size) if z not in (int(o.argmin()), int(o.argmax()))]
        assert all(spans.lower[0, 0, z] <= o[z] + 1e-12 and o[z] <= spans.upper[0, 0, z] + 1e-12 for z in inner)
    assert met


# -- the search ----------------------------------------------------------------------------------------


def priors(size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Random, tied, with zeros, and dominated by one category."""
    tied = rng.integers(1, 4, size).astype(float)
    holed = rng.dirichlet(np.ones(size))
    holed[int(rng.integers(size))] = 0.0
    heavy = np.ones(size)
    heavy[0] = rng.choice([3.0, 10.0])
    return [
        one / one.sum() for one in (rng.dirichlet(np.ones(size)), rng.dirichlet(np.full(size, 5.0)), tied, holed, heavy)
    ]


SEARCHED = [(size, epsilon) for size in (3, 4, 5, 6, 7) for epsilon in (0.05, 0.5, 1.0, 1.5, 2.0)]
QUICK = [(3, 0.5), (4, 1.0)]


@pytest.mark.parametrize(("size", "epsilon"), graded(QUICK, [case for case in SEARCHED if case not in QUICK]))
def test_the_search_finds_and_proves_the_best_vertex(size: int, epsilon: float) -> None:
    rng = np.random.default_rng([size, round(100 * epsilon)])
    ratio = math.exp(epsilon)
    corners = np.array(vertices(size, ratio))
    prior = priors(size, rng)[int(rng.integers(5))]
    best = float(information(corners, prior).max())
    answer = OffDiagonalSearch(prior.tolist(), ratio).search(1e-9, nodes=6000)
    assert answer.value == pytest.approx(best, abs=1e-12)
    assert best - 1e-13 <= answer.bound <= answer.value + 1e-9
    assert excess(answer.off_diagonal.tolist(), ratio) <= 1e-15 * size * ratio
    assert answer.nodes == sum(1 for _ in answer.root.nodes())


@pytest.mark.parametrize("size", graded([2, 3, 5], [7]))
@pytest.mark.parametrize("epsilon", graded([1.0], [0.01, 4.0, 12.0]))
def test_values_and_bounds_are_true_even_where_the_search_is_cut_short(epsilon: float, size: int) -> None:
    ratio = math.exp(epsilon)
    rng = np.random.default_rng(size)
    corners = np.array(vertices(size, ratio))
    for prior in priors(size, rng):
        best = float(information(corners, prior).max())
        answer = OffDiagonalSearch(prior.tolist(), ratio).search(1e-9, nodes=40)
        assert answer.value == pytest.approx(best, abs=1e-12)
        assert answer.bound >= best - 1e-13
        assert len(leaves(answer.root, size)) == (answer.nodes + 1) // 2


SCENARIO_I = [30, 10, 20, 8, 2, 4, 6, 10, 1, 9]
SCENARIO_II = [336, 1059, 1697, 962, 180, 62, 1097, 5, 1233, 3369]


@pytest.mark.parametrize("epsilon", graded([0.5], [2.0]))
@pytest.mark.parametrize("weights", [SCENARIO_I, SCENARIO_II, [145] + [95] * 29], ids=["I", "II", "IV"])
def test_the_scenarios_of_the_paper_have_randomised_response_as_optimum(weights: list[int], epsilon: float) -> None:
    """ayed section 4 reports other vertices (Tables 1, 2 and 4)."""
    ratio = math.exp(epsilon)
    answer = OffDiagonalSearch(weights, ratio).search(1e-10)
    assert answer.bound - answer.value <= 1e-10
    assert answer.off_diagonal == pytest.approx(np.full(len(weights), box(len(weights), ratio)[0]), abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "epsilon"),
    graded(
        [([3430, 9496, 1039, 3991], 3.6), ([460, 1296, 8244], 4.0)],
        [([460, 1296, 8244], 3.6), ([9423, 569, 8], 3.6), ([9567, 276, 155, 1], 4.0)],
    ),
)
def test_few_inputs_at_a_large_level_are_proved(weights: list[int], epsilon: float) -> None:
    """Where h is not convex the input with the worst tangent must be cut, whatever Ch does about its loss."""
    answer = OffDiagonalSearch(weights, math.exp(epsilon)).search(1e-9, nodes=1500)
    corners, prior = np.array(vertices(len(weights), math.exp(epsilon))), np.array(weights) / sum(weights)
    assert answer.value == pytest.approx(float(information(corners, prior).max()), abs=1e-12)
    assert answer.bound - answer.value <= 1e-9


def test_a_dominant_input_at_the_largest_number_is_proved() -> None:
    """Its own number is nearly C: the limits on C must see that it can only be the largest."""
    answer = OffDiagonalSearch([998862, 965, 174], math.exp(1.5)).search(1e-7, nodes=2500)
    assert answer.bound - answer.value <= 1e-7


def test_many_inputs_and_weights_beyond_floats() -> None:
    rng = np.random.default_rng(5)
    weights = [int(w) for w in rng.integers(1, 10**6, 1000)]
    answer = OffDiagonalSearch(weights, math.e).search(1e-10)
    assert answer.bound - answer.value <= 1e-10
    huge = OffDiagonalSearch([w * 10**400 for w in weights], math.e).search(1e-10)
    assert huge.value == pytest.approx(answer.value, abs=1e-12)
