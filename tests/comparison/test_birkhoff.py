"""Birkhoff decompositions: exact, within their bounds, and right about what else there could be."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawing import graded
from rropt.models.permutation_model import weight_range

import rropt as rr
from rropt.comparison.permutations.birkhoff import BirkhoffDecomposition, birkhoff
from rropt.comparison.permutations.bistochastic import Bistochastic
from rropt.comparison.permutations.fewest import exact_weights, lower_bound, permutations_within
from rropt.comparison.permutations.matching import Matching, column_sets
from rropt.comparison.permutations.peeling import exact_array, peel
from rropt.mechanisms.controlled_rounding import round_with_margins
from rropt.solve.engine.highs_run import solve_milp

F = Fraction
Table = list[list[int]]


def mixture(size: int, terms: int, source: random.Random, most: int = 50) -> tuple[Table, int]:
    """(integers, their row sum) of a random mixture of that many permutations, some of them equal perhaps."""
    table = [[0] * size for _ in range(size)]
    total = 0
    for _ in range(terms):
        weight = source.randint(1, most)
        total += weight
        for x, y in enumerate(source.sample(range(size), size)):
            table[x][y] += weight
    return table, total


def sinkhorn(size: int, seed: int) -> np.ndarray:
    """A positive float matrix with rows and columns that sum to one to about 1e-16."""
    table = np.random.default_rng(seed).random((size, size))
    for _ in range(1000):
        table /= table.sum(axis=1, keepdims=True)
        table /= table.sum(axis=0, keepdims=True)
    return table


def held(decomposition: BirkhoffDecomposition) -> BirkhoffDecomposition:
    """The decomposition, after everything that it promises was computed again here."""
    size = decomposition.source.size
    total = [[F(0)] * size for _ in range(size)]
    for weight, permutation in zip(decomposition.weights, decomposition.permutations.tolist(), strict=True):
        assert sorted(permutation) == list(range(size))
        for x, y in enumerate(permutation):
            total[x][y] += weight
    given = decomposition.source
    assert total == [[F(number, given.denominator) for number in row] for row in given.numerators]
    weights = decomposition.weights
    assert sum(weights) == 1
    assert all(a >= b > 0 for a, b in itertools.pairwise([*weights, weights[-1]]))
    assert len(set(map(tuple, decomposition.permutations.tolist()))) == len(decomposition)
    assert decomposition.bound <= len(decomposition) <= decomposition.most_terms <= (size - 1) ** 2 + 1
    assert decomposition.residual == 0
    mechanism = decomposition.mechanism()
    assert all(mechanism.entry(x, y) == total[x][y] for x in range(size) for y in range(size))
    assert (decomposition.matrix == mechanism.matrix).all()
    return decomposition


# -- the decomposition -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "count"), graded([(size, 20) for size in range(2, 9)], [(size, 145) for size in range(2, 9)])
)
def test_random_mixtures_of_every_density(size: int, count: int) -> None:
    """From one permutation to dense ones; 1,015 in all with the long ones."""
    source = random.Random(size)
    for number in range(count):
        table, total = mixture(size, 1 + number % (2 * size + 3), source, source.choice((1, 3, 50, 10**9, 10**25)))
        decomposition = held(birkhoff(table, denominator=total))
        assert decomposition.rounding == 0
        assert decomposition.denominator == total


@pytest.mark.parametrize("size", [2, 3, 4, 7, 8, 20])
def test_floats_are_rounded_with_all_sums_exact(size: int) -> None:
    for seed in range(5):
        table = sinkhorn(size, seed)
        decomposition = held(birkhoff(table))
        assert decomposition.denominator == 1 << 53
        assert 0 < decomposition.rounding <= F(2, 1 << 53)
        assert np.abs(decomposition.matrix - table).max() <= 2.0**-52


def test_a_permutation_is_its_own_decomposition() -> None:
    for size in (2, 5, 100):
        permutation = np.random.default_rng(size).permutation(size)
        table = np.zeros((size, size), dtype=int)
        table[np.arange(size), permutation] = 1
        decomposition = held(birkhoff(table))
        assert decomposition.weights == (1,)
        assert decomposition.permutations.tolist() == [permutation.tolist()]


@pytest.mark.parametrize("size", [2, 3, 6, 7, 30])
def test_the_uniform_matrix_takes_as_many_terms_as_outputs(size: int) -> None:
    assert len(held(birkhoff([[F(1, size)] * size] * size))) == size
    assert len(held(birkhoff([[1 / size] * size] * size, denominator=size))) == size
    held(birkhoff([[1 / size] * size] * size))  # 1/3 is not a multiple of 2^-53


def test_circulants_both_ways_round() -> None:
    first = [F(1, 2), F(0), F(1, 3), F(1, 6), F(0)]
    for sign in (1, -1):
        table = [[first[(sign * y - sign * x if sign == 1 else x + y) % 5] for y in range(5)] for x in range(5)]
        decomposition = held(birkhoff(table))
        assert decomposition.weights == (F(1, 2), F(1, 3), F(1, 6))
        assert len(decomposition) == decomposition.bound


def test_randomised_response_takes_one_term_a_shift() -> None:
    decomposition = held(birkhoff([[F(7, 15) if x == y else F(2, 15) for y in range(5)] for x in range(5)]))
    assert decomposition.weights == (F(7, 15), *[F(2, 15)] * 4)
    assert decomposition.permutations[0].tolist() == list(range(5))
    held(birkhoff(rr.RandomizedResponse(5, gamma="7/2").to_mechanism()))


def test_blocks_and_constant_blocks() -> None:
    """The classes of k-anonymity, of equal and of different sizes, under scrambled labels."""
    for sizes, terms in (((3, 3, 3), 3), ((4, 2), 4), ((3, 2), 4), ((5, 3, 2, 1), 8)):
        size = sum(sizes)
        owner = np.repeat(range(len(sizes)), sizes)
        table = [[F(int(owner[x] == owner[y]), sizes[owner[x]]) for y in range(size)] for x in range(size)]
        order = random.Random(size).sample(range(size), size)
        decomposition = held(birkhoff([table[x] for x in order]))
        assert len(decomposition) <= terms
    quotient, total = mixture(4, 4, random.Random(1))
    table = [[quotient[x // 3][y // 3] for y in range(12)] for x in range(12)]
    assert len(held(birkhoff(table, denominator=3 * total))) <= 3 * len(birkhoff(quotient, denominator=total))


def test_noise_of_1e_16_is_kept_or_rounded_away_but_never_breaks_a_sum() -> None:
    table = np.eye(6)
    table += 1e-16 * np.random.default_rng(1).random((6, 6))
    decomposition = held(birkhoff(table))
    assert decomposition.weights[0] > 1 - F(1, 10**14)
    # An entry that lies on no permutation has to go, whatever its size.
    assert held(birkhoff([[1.0, 1e-10], [0.0, 1.0]])).weights == (1,)


def test_huge_denominators() -> None:
    source = random.Random(5)
    for bits in (62, 63, 64, 65, 200, 3000):
        table, total = mixture(6, 12, source, 1 << bits)
        held(birkhoff(table, denominator=total))
    tiny = F(1, 10**400)
    decomposition = held(birkhoff([[1 - tiny, tiny], [tiny, 1 - tiny]]))
    assert decomposition.weights == (1 - tiny, tiny)


def test_rows_with_their_own_denominators_are_brought_to_one() -> None:
    mechanism = rr.Mechanism.from_rationals([[F(1, 2**70), 1 - F(1, 2**70)], [1 - F(1, 2**70), F(1, 2**70)]])
    assert len(held(birkhoff(mechanism))) == 2
    rows = [[F(1, 3), F(2, 3), F(0)], [F(2, 3), F(2, 9), F(1, 9)], [F(0), F(1, 9), F(8, 9)]]
    assert held(birkhoff(rr.Mechanism.from_rationals(rows))).denominator == 9


def test_a_mechanism_rounded_row_by_row_is_rounded_again() -> None:
    """Rows of a mechanism from floats are exact, its columns a few units off: that is within 1e-9."""
    mechanism = rr.Mechanism.from_matrix(sinkhorn(20, 3))
    assert any(sum(mechanism.column(y)) != 1 for y in range(20))
    decomposition = held(birkhoff(mechanism))
    assert 0 < decomposition.rounding < F(1, 10**14)
    assert decomposition.mechanism().inputs == mechanism.inputs


def test_labels_are_kept() -> None:
    mechanism = rr.Mechanism.from_matrix(
        [[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]], inputs=["yes", "no"], outputs=["b", "a"]
    )
    kept = held(birkhoff(mechanism)).mechanism()
    assert (kept.inputs, kept.outputs) == (("yes", "no"), ("b", "a"))


def test_a_stated_denominator_is_what_it_is_rounded_to() -> None:
    decomposition = held(birkhoff([[0.3, 0.7], [0.7, 0.3]], denominator=10))
    assert decomposition.integer_weights == (7, 3)
    assert decomposition.rounding == 0
    assert held(birkhoff([[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]], denominator=10)).integer_weights == (7, 3)
    assert held(birkhoff([[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]], denominator=6)).integer_weights == (4, 2)


@pytest.mark.parametrize("size", graded([50], [270]))
def test_fewer_terms_than_first_found_on_dense_matrices(size: int) -> None:
    """Both branches of the search (assigned, and matched only) stay far below the bound, and are always the same."""
    table = sinkhorn(size, 1)
    decomposition = birkhoff(table)
    assert len(decomposition) < 14 * size
    assert decomposition.weights[0] >= F(1, 2) / size
    again = birkhoff(table.tolist())
    assert again.integer_weights == decomposition.integer_weights
    assert (again.permutations == decomposition.permutations).all()


def test_a_band_is_no_harder() -> None:
    """Layered graphs, on which SciPy's Hopcroft and Karp takes exponential time."""
    size = 300
    table = np.zeros((size, size), dtype=np.int64)
    rng = np.random.default_rng(1)
    for _ in range(400):
        permutation = np.arange(size)
        at = int(rng.integers(0, 2))
        while at + 1 < size:
            if rng.random() < 0.7:
                permutation[[at, at + 1]] = permutation[[at + 1, at]]
            at += 2
        table[np.arange(size), permutation] += 1
    decomposition = birkhoff(table, denominator=400)
    assert len(decomposition) <= decomposition.most_terms
    assert decomposition.residual == 0


def test_every_term_of_the_greedy_search_zeroes_an_entry() -> None:
    table, total = mixture(7, 30, random.Random(2))
    entries = exact_array(table, total)
    for weight, permutation in peel(entries, total):
        entries[np.arange(7), permutation] -= weight
        assert (entries[np.arange(7), permutation] == 0).any()
        assert (entries >= 0).all()
    assert not entries.any()


# -- what it was made of -----------------------------------------------------------------------------------------


def test_a_decomposition_that_is_none_cannot_be_made() -> None:
    good = birkhoff([[F(1, 3), F(2, 3)], [F(2, 3), F(1, 3)]])
    source, permutations = good.source, good.permutations.copy()
    for weights, table, denominator, told in (
        ((2, 1), permutations[::-1].copy(), 3, "does not sum"),
        ((1, 2), permutations[::-1].copy(), 3, "not increase"),
        ((3, 0), permutations, 3, "positive"),
        ((3,), permutations[:1].copy(), 3, "does not sum"),
        ((2, 1), np.array([[1, 1], [0, 1]]), 3, "not a permutation"),
        ((2,), permutations, 3, "one permutation of the inputs per weight"),
        ((2, 1), permutations, 4, "does not sum"),
    ):
        with pytest.raises(ArithmeticError, match=told):
            BirkhoffDecomposition(source, denominator, weights, table, "bottleneck", 1)
    with pytest.raises(ValueError, match="read-only"):
        good.permutations[0, 0] = 1
    assert "2 permutations of 2 inputs" in repr(good)


def test_permutations_are_drawn_with_exactly_their_weights() -> None:
    decomposition = birkhoff([[F(5, 8), F(3, 8), 0], [F(3, 8), F(1, 2), F(1, 8)], [0, F(1, 8), F(7, 8)]])
    counts: dict[tuple[int, ...], int] = {}
    for unit in range(decomposition.denominator):
        drawn = tuple(decomposition.sample_permutation(below=lambda most, unit=unit: unit).tolist())
        counts[drawn] = counts.get(drawn, 0) + 1
    assert counts == {
        tuple(permutation): weight
        for permutation, weight in zip(decomposition.permutations.tolist(), decomposition.integer_weights, strict=True)
    }
    drawn = decomposition.sample_permutation(20_000)
    assert drawn.shape == (20_000, 3)
    assert abs((drawn[:, 0] == 0).mean() - 5 / 8) < 6 * 0.5 / math.sqrt(20_000)
    decomposition.sample_permutation()[0] = 7
    assert decomposition.residual == 0
    for count in (0, -1, True, 1.5):
        with pytest.raises(rr.InputError, match="is not a positive integer"):
            decomposition.sample_permutation(count)  # type: ignore[arg-type]


# -- rounding ----------------------------------------------------------------------------------------------------


def test_controlled_rounding_is_floor_or_ceiling_where_the_sums_are_exact() -> None:
    source = random.Random(7)
    for _ in range(100):
        size = source.randint(1, 7)
        table, total = mixture(size, source.randint(1, 9), source, 10**6)
        grid = source.choice((1, 2, 7, 100))
        exact = [[F(number, total) for number in row] for row in table]
        rounded = round_with_margins(exact, [grid] * size, [grid] * size)
        assert {sum(row) for row in rounded} | {sum(column) for column in zip(*rounded, strict=True)} == {grid}
        for row, rounded_row in zip(exact, rounded, strict=True):
            for entry, number in zip(row, rounded_row, strict=True):
                assert math.floor(entry * grid) <= number <= math.ceil(entry * grid)


def test_controlled_rounding_of_other_tables() -> None:
    assert round_with_margins([[F(1), F(1), F(1)]], [2], [1, 0, 1]) == [[1, 0, 1]]
    rounded = round_with_margins([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]], [10, 4], [3, 11])
    assert [sum(row) for row in rounded] == [10, 4]
    assert [sum(column) for column in zip(*rounded, strict=True)] == [3, 11]
    assert round_with_margins([[F(0)], [F(1)]], [0, 5], [5]) == [[0], [5]]


@pytest.mark.parametrize(
    ("table", "rows", "columns", "told"),
    [
        ([[F(1)]], [1], [2], "do not agree"),
        ([[F(1)]], [-1], [-1], "do not agree"),
        ([[F(0)]], [1], [1], "row 0 is zero"),
        ([[F(-1), F(2)]], [1], [1, 0], "row 0 has a negative entry"),
        ([[F(1), F(0)], [F(1), F(1)]], [2, 1], [1, 2], "no table with these zeros"),
    ],
)
def test_sums_that_cannot_be_met_are_refused(
    table: list[list[Fraction]], rows: list[int], columns: list[int], told: str
) -> None:
    with pytest.raises(rr.InputError, match=told):
        round_with_margins(table, rows, columns)


# -- matchings ---------------------------------------------------------------------------------------------------


def test_matchings_against_brute_force() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        size = int(rng.integers(1, 7))
        mask = rng.random((size, size)) < rng.random()
        edges = column_sets(mask)
        possible = any(mask[range(size), order].all() for order in itertools.permutations(range(size)))
        matching = Matching(size)
        if rng.random() < 0.5:
            matching.start(column_sets(mask & (rng.random((size, size)) < 0.5)))
        assert matching.extend(edges) == possible == matching.perfect
        for row, column in enumerate(matching.column_of):
            assert column < 0 or (mask[row, column] and matching.row_of[column] == row)
        if not possible:
            rows, columns = matching.obstacle()
            assert not mask[np.ix_(rows, columns)].any()
            assert len(rows) + len(columns) > size


# -- the fewest --------------------------------------------------------------------------------------------------


def fewest_by_brute_force(table: Table, total: int, most: int) -> int:
    """The smallest number of permutations with non-negative weights that give the table, up to `most`."""
    entries = exact_array(table, total)
    size = len(table)
    within = [p for p in itertools.permutations(range(size)) if all(table[x][y] for x, y in enumerate(p))]
    for count in range(1, most):
        for chosen in itertools.combinations(within, count):
            covered = {(x, y) for p in chosen for x, y in enumerate(p)}
            if len(covered) == np.count_nonzero(entries) and exact_weights(entries, total, chosen) is not None:
                return count
    return most


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_fewest_terms_against_brute_force(size: int) -> None:
    source = random.Random(size)
    for _ in range({2: 10, 3: 30, 4: 15}[size]):
        table, total = mixture(size, source.randint(1, size + 1), source, source.choice((2, 5, 1000)))
        decomposition = held(birkhoff(table, method="fewest", denominator=total))
        assert len(decomposition) == fewest_by_brute_force(table, total, len(decomposition))
        assert decomposition.unproved_bound == pytest.approx(len(decomposition), abs=1e-6)


def test_fewer_than_the_greedy_search_finds() -> None:
    improved = 0
    for seed in range(6):
        table, total = mixture(5, 8, random.Random(seed))
        few = held(birkhoff(table, method="fewest", denominator=total))
        assert len(few) <= 8
        improved += len(few) < len(birkhoff(table, denominator=total))
    assert improved


def test_weights_may_need_another_denominator() -> None:
    """Six independent permutations of four with weights 1/6, for a matrix of thirds: their only weights."""
    table = [[1, 1, 0, 1], [1, 1, 1, 0], [1, 0, 1, 1], [0, 1, 1, 1]]
    chosen = [(0, 1, 2, 3), (0, 2, 3, 1), (1, 0, 3, 2), (1, 2, 0, 3), (3, 0, 2, 1), (3, 1, 0, 2)]
    assert exact_weights(exact_array(table, 3), 3, chosen) == [F(1, 6)] * 6
    assert exact_weights(exact_array(table, 3), 3, chosen[1:]) is None
    source = Bistochastic.of(table, 3)
    held(BirkhoffDecomposition(source, 6, (1,) * 6, np.array(chosen), "fewest", 3))
    with pytest.raises(ArithmeticError, match="does not sum"):
        BirkhoffDecomposition(source, 7, (2, *(1,) * 5), np.array(chosen), "fewest", 3)


def test_the_time_limit_leaves_the_greedy_decomposition() -> None:
    table = sinkhorn(6, 1)
    few = held(birkhoff(table, method="fewest", time_limit=0))
    assert len(few) == len(birkhoff(table))
    assert few.unproved_bound is not None
    assert few.unproved_bound <= len(few)


def test_the_lower_bound_is_one() -> None:
    """By construction with few terms: no bound may exceed the number of them."""
    source = random.Random(11)
    for _ in range(300):
        size, terms = source.randint(2, 7), source.randint(1, 9)
        table, total = mixture(size, terms, source, source.choice((1, 2, 4, 1000)))
        assert lower_bound(exact_array(table, total)) <= terms


def test_lines_without_equal_sums_need_many_terms() -> None:
    """Two rows of three entries each without equal subset sums: five terms, the most that there can be."""
    table = [[11, 20, 110], [80, 36, 25], [50, 85, 6]]
    assert {sum(row) for row in table} == {141}
    assert lower_bound(exact_array(table, 141)) == 5
    assert lower_bound(exact_array([[2, 1], [1, 2]], 3)) == 2


def test_permutations_within_a_support() -> None:
    assert len(permutations_within(np.ones((6, 6), dtype=bool), 1000) or ()) == 720
    assert permutations_within(np.ones((7, 7), dtype=bool), 1000) is None
    assert permutations_within(np.ones((60, 60), dtype=bool), 100) is None
    mask = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    assert permutations_within(mask, 10) == [(0, 1, 2), (1, 2, 0)]


def test_the_integer_programme_says_what_came_of_it() -> None:
    one = np.ones((1, 2))
    common: dict[str, Any] = {"lower": np.zeros(2), "upper": np.full(2, 3.0), "integer": np.array([True, True])}
    answer = solve_milp(np.array([2.0, 3.0]), one, np.array([2.5]), np.array([np.inf]), **common)
    assert (answer.status, answer.objective, answer.bound) == ("optimal", pytest.approx(6), pytest.approx(6))
    assert answer.x is not None
    assert answer.x.tolist() == [3, 0]
    nothing = solve_milp(np.ones(2), one, np.array([0.25]), np.array([0.75]), **common)
    assert (nothing.status, nothing.x, nothing.objective) == ("infeasible", None, math.inf)
    stopped = solve_milp(np.ones(2), one, np.array([2.5]), np.array([9.0]), **common, interrupted=lambda: True)
    assert stopped.status in ("interrupted", "optimal")


# -- the range of a weight ---------------------------------------------------------------------------------------


def smallest_by_programme(table: Table, total: int, permutation: Sequence[int]) -> float:
    """The least weight over all decompositions, by the linear programme over all permutations."""
    from scipy.optimize import linprog

    size = len(table)
    every = list(itertools.permutations(range(size)))
    incidence = np.zeros((size * size, len(every)))
    for number, one in enumerate(every):
        incidence[[x * size + y for x, y in enumerate(one)], number] = 1
    cost = np.array([float(one == tuple(permutation)) for one in every])
    answer = linprog(cost, A_eq=incidence, b_eq=np.array(table, dtype=float).ravel() / total)
    assert answer.status == 0
    return float(answer.fun)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_range_of_a_weight_against_the_full_programme(size: int) -> None:
    source = random.Random(size)
    positive = 0
    for number in range(40 if size < 5 else 15):
        table, total = mixture(size, source.randint(1, 2 * size), source)
        permutation = source.sample(range(size), size)
        if number % 2:  # much of one permutation, so that it cannot be avoided
            extra = source.randint(1, 2 * total)
            total += extra
            for x, y in enumerate(permutation):
                table[x][y] += extra
        found = weight_range(table, permutation, denominator=total)
        assert found.largest == min(F(table[x][y], total) for x, y in enumerate(permutation))
        assert 0 <= found.smallest <= found.largest
        assert float(found.smallest) == pytest.approx(smallest_by_programme(table, total, permutation), abs=1e-7)
        positive += found.smallest > 0
    assert positive


def test_the_range_of_the_identity_in_randomised_response() -> None:
    for size, off in ((3, F(1, 10)), (4, F(1, 20)), (5, F(1, 100)), (7, F(1, 50)), (6, F(1, 6))):
        table = [[1 - (size - 1) * off if x == y else off for y in range(size)] for x in range(size)]
        found = weight_range(table, range(size))
        assert found.smallest == max(F(0), 1 - size * (size - 1) * off / 2)
        assert found.largest == 1 - (size - 1) * off


def test_the_proofs_of_the_smallest_weight() -> None:
    """The packing uses no more than there is; under the lengths no cycle is short; they cost the same."""
    for seed in range(10):
        table = (sinkhorn(5, seed) / 4 + np.eye(5) * 0.75).tolist()
        found = weight_range(table, range(5))
        shares = Bistochastic.of(table)
        used: dict[tuple[int, int], Fraction] = {}
        for cycle, weight in found.cycles:
            for arc in itertools.pairwise([*cycle, cycle[0]]):
                used[arc] = used.get(arc, F(0)) + weight
        share = {(x, y): F(shares.numerators[x][y], shares.denominator) for x in range(5) for y in range(5) if x != y}
        assert all(amount <= share[arc] for arc, amount in used.items())
        packed = sum(weight for _, weight in found.cycles)
        assert packed == 1 - found.smallest
        assert sum(found.lengths[arc] * share[arc] for arc in share) == packed
        for count in range(2, 6):
            for cycle in itertools.permutations(range(5), count):
                assert sum(found.lengths[arc] for arc in itertools.pairwise([*cycle, cycle[0]])) >= 1


# -- refusals ----------------------------------------------------------------------------------------------------

HALF = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        (
            [[0.5, 0.5], [0.9, 0.1]],
            r"worst row and column are row 0 sums to 1 \(\+0\) and column 0 sums to 1.4 \(\+0.4\)",
        ),
        ([[0.5, 0.4], [0.5, 0.5]], r"row 0 sums to 0.9 \(-0.1\) and column 1 sums to 0.9 \(-0.1\)"),
        ([[1.0, 2e-9], [0.0, 1.0]], "not bistochastic"),
        ([[1, 2], [2, 1]], "not bistochastic"),
        ([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], "it has 2 rows and 3 columns"),
        ([[1.5, -0.5], [-0.5, 1.5]], r"row 0 column 1 is negative \(-0.5\)"),
        ([[math.nan, 1.0], [1.0, 0.0]], "row 0 column 0: nan is not a finite number"),
        ([["x", 1], [1, 0]], "row 0 column 0: 'x' is not a number"),
        ([[True, False], [False, True]], "truth value"),
        ([[1.0]], "it has one row"),
        ([[0.5, 0.5], [1.0]], "different lengths"),
        ([[0.5, 0.5], 3], "row 1 is not a list of numbers"),
        ([], "it is not a list of rows"),
        ("identity", "it is not a list of rows"),
        (None, "it is not a list of rows"),
        (np.ones(3), "it has 1 axis"),
    ],
)
def test_a_matrix_that_is_not_bistochastic_is_refused(matrix: object, told: str) -> None:
    with pytest.raises(rr.InputError, match=told):
        birkhoff(matrix)


def test_a_mechanism_that_is_not_bistochastic_is_refused() -> None:
    with pytest.raises(rr.InputError, match="not bistochastic"):
        birkhoff(rr.Mechanism.from_matrix([[0.5, 0.5], [0.75, 0.25]]))
    with pytest.raises(rr.InputError, match="2 rows and 3 columns"):
        birkhoff(rr.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]))


def test_arguments_that_mean_nothing_are_refused() -> None:
    with pytest.raises(rr.InputError, match="'best' is not a method; use one of 'bottleneck', 'fewest'"):
        birkhoff(HALF, method="best")
    for denominator in (0, -3, True, 2.0):
        with pytest.raises(rr.InputError, match="is not a positive integer"):
            birkhoff(HALF, denominator=denominator)  # type: ignore[arg-type]
    for limit in (-1, "soon"):
        with pytest.raises(rr.InputError, match="is not a number of seconds"):
            birkhoff(HALF, time_limit=limit)  # type: ignore[arg-type]
    with pytest.raises(rr.InputError, match="more than 1000 permutations lie within"):
        birkhoff(sinkhorn(7, 1), method="fewest")
    with pytest.raises(rr.InputError, match=r"\[0, 0\] is not a permutation of 0 to 1"):
        weight_range(HALF, [0, 0])
    with pytest.raises(rr.InputError, match="13 inputs are too many"):
        weight_range(np.eye(13), range(13))


def test_off_by_1e_9_is_accepted() -> None:
    third = [[0.3333333333] * 3] * 3
    assert held(birkhoff(third)).rounding > 0
    assert held(birkhoff([[F(1), F(1, 10**9)], [F(0), F(1)]])).weights == (1,)


def test_decimals_that_were_cut_off_move_little() -> None:
    """Twelve digits of each entry: sums are off by thousands of units of 2^-53, the entries by a few digits more."""
    table = np.round(sinkhorn(40, 2), 12)
    decomposition = held(birkhoff(table))
    assert 0 < decomposition.rounding < F(5, 10**12)


def test_it_is_a_public_name() -> None:
    assert rr.ordering.birkhoff is birkhoff
