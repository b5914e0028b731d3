"""Reverse mapping, rank distances, majorisation with its witness, entropy."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from rropt.models.permutation_model import (
    Majorisation,
    entropy,
    entropy_change,
    majorisation,
    majorises,
    reverse_map,
    shortfall,
)

import rropt as rr

F = Fraction


# -- reverse mapping ---------------------------------------------------------------------------------------------


def test_the_rule_of_the_paper_by_hand() -> None:
    """y_2 = 9.5 is the largest of Y, so the record takes the largest of X; and so on."""
    found = reverse_map([10, 40, 20, 30], [3.5, 1.0, 9.5, 4.0])
    assert found.reverse_mapped == (20, 10, 40, 30)
    assert found.permutation.tolist() == [2, 0, 1, 3]
    assert found.original_ranks.tolist() == [0, 3, 1, 2]
    assert found.anonymised_ranks.tolist() == [1, 0, 3, 2]
    assert found.displacement.tolist() == [1, 3, 2, 0]
    assert found.footrule == F(6, 8)
    assert found.kendall == F(4, 6)


def test_the_reverse_mapped_attribute_permutes_one_and_ranks_as_the_other() -> None:
    source = random.Random(1)
    for _ in range(200):
        size = source.randint(1, 12)
        x = [source.randint(0, 6) for _ in range(size)]
        y = [source.choice((source.randint(0, 6), source.random())) for _ in range(size)]
        found = reverse_map(x, y)
        z = found.reverse_mapped
        assert sorted(z) == sorted(x)
        assert sorted(found.permutation.tolist()) == list(range(size))
        assert all(z[i] <= z[j] for i in range(size) for j in range(size) if y[i] < y[j])
        assert 0 <= found.footrule <= 1
        assert 0 <= found.kendall <= 1


def ranks_with_ties(values: list[int]) -> list[tuple[int, ...]]:
    """Every ranking that agrees with the order of the values."""
    groups = [[at for at, value in enumerate(values) if value == level] for level in sorted(set(values))]
    rankings = []
    for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
        ranking = [0] * len(values)
        for rank, record in enumerate(itertools.chain(*orders)):
            ranking[record] = rank
        rankings.append(tuple(ranking))
    return rankings


def test_ties_are_broken_with_the_least_footrule() -> None:
    source = random.Random(2)
    for _ in range(60):
        size = source.randint(2, 5)
        x, y = ([source.randint(0, 2) for _ in range(size)] for _ in range(2))
        least = min(
            sum(abs(a - b) for a, b in zip(one, other, strict=True))
            for one in ranks_with_ties(x)
            for other in ranks_with_ties(y)
        )
        assert reverse_map(x, y).displacement.sum() == least


def test_an_attribute_that_was_not_changed_is_not_permuted() -> None:
    for values in ([3, 1, 2], [1, 1, 1, 0], ["b", "a", "b"], [0.1, F(1, 10), 7]):
        found = reverse_map(values, values)
        assert found.reverse_mapped == tuple(values)
        assert found.footrule == found.kendall == 0
        assert found.permutation.tolist() == list(range(len(values)))


@pytest.mark.parametrize("size", [2, 3, 8, 9])
def test_the_reversed_order_is_as_far_as_can_be(size: int) -> None:
    found = reverse_map(range(size), [-value for value in range(size)])
    assert found.footrule == found.kendall == 1
    assert found.reverse_mapped == tuple(range(size))[::-1]


def test_kendall_against_all_pairs_and_arrays_of_numpy() -> None:
    rng = np.random.default_rng(3)
    for size in (2, 7, 64, 101):
        x, y = rng.normal(size=size), rng.normal(size=size)
        found = reverse_map(x, y)
        wrong = sum((x[i] < x[j]) != (y[i] < y[j]) for i in range(size) for j in range(i))
        assert found.kendall == F(wrong, size * (size - 1) // 2)


def test_categories_have_the_order_that_is_given() -> None:
    levels = ["low", "middle", "high"]
    found = reverse_map(["high", "low", "middle"], ["low", "middle", "high"], order=levels)
    assert found.reverse_mapped == ("low", "middle", "high")
    assert found.displacement.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("x", "y", "order", "told"),
    [
        ([], [], None, "0 original and 0 anonymised values"),
        ([1, 2], [1], None, "2 original and 1 anonymised value; give one of each per record"),
        ([1.0, math.nan], [1.0, 2.0], None, "original record 1: nan has no rank"),
        ([1.0, 2.0], [math.nan, 2.0], None, "anonymised record 0: nan has no rank"),
        ([1, "a"], [1, 2], None, "the values have no order"),
        (["a", "b"], ["a", "c"], ["a", "b"], "anonymised record 1: 'c' is not among the categories"),
        (["a"], ["a"], ["a", "a"], "order: a category appears twice"),
    ],
)
def test_attributes_without_ranks_are_refused(x: list, y: list, order: list | None, told: str) -> None:
    with pytest.raises(rr.InputError, match=told):
        reverse_map(x, y, order=order)


# -- majorisation ------------------------------------------------------------------------------------------------


def product(matrix: tuple[tuple[Fraction, ...], ...], vector: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(sum((a * b for a, b in zip(row, vector, strict=True)), F(0)) for row in matrix)


def test_a_witness_for_every_vector_that_is_majorised() -> None:
    source = random.Random(4)
    for _ in range(300):
        size = source.randint(1, 8)
        x = [F(source.randint(-9, 9), source.randint(1, 5)) for _ in range(size)]
        y = list(x)
        for _ in range(source.randint(0, 9)):
            i, j, share = source.randrange(size), source.randrange(size), F(source.randint(0, 6), 6)
            y[i], y[j] = y[i] + share * (y[j] - y[i]), y[j] + share * (y[i] - y[j])
        source.shuffle(y)
        assert majorises(x, y)
        witness = majorisation(x, y)
        assert product(witness.matrix, tuple(x)) == tuple(y)
        assert len(witness.transforms) <= max(size - 1, 0)
        for line in (*witness.matrix, *zip(*witness.matrix, strict=True)):
            assert sum(line) == 1
            assert min(line) >= 0


def test_only_vectors_that_are_majorised_have_a_witness() -> None:
    """Against the definition, by all sums of largest entries."""
    source = random.Random(5)
    refused = 0
    for _ in range(300):
        size = source.randint(2, 5)
        x = [source.randint(0, 6) for _ in range(size)]
        y = [source.randint(0, 6) for _ in range(size)]
        y[0] += sum(x) - sum(y)
        best = [[max(map(sum, itertools.combinations(v, k))) for k in range(1, size + 1)] for v in (x, y)]
        expected = all(a >= b for a, b in zip(*best, strict=True))
        assert majorises(x, y) == expected
        if not expected:
            refused += 1
            count, amount = shortfall(x, y) or (0, 0)
            assert best[1][count - 1] - best[0][count - 1] == amount > 0
            with pytest.raises(
                rr.InputError, match=rf"the {count} largest entr(y|ies) of the second vector sum to {amount}"
            ):
                majorisation(x, y)
    assert refused


def test_a_mixture_of_permutations_carries_it_too() -> None:
    """The witness is a mechanism, its Birkhoff decomposition a random permutation of the entries with that mean."""
    witness = majorisation(["0.7", "0.2", "0.1"], ["0.4", "0.35", "0.25"])
    decomposition = rr.ordering.birkhoff(witness.mechanism())
    mean = [
        sum(w * witness.before[p[x]] for w, p in zip(decomposition.weights, decomposition.permutations, strict=True))
        for x in range(3)
    ]
    assert tuple(mean) == witness.after == (F(2, 5), F(7, 20), F(1, 4))


def test_totals_that_differ_and_other_nonsense() -> None:
    assert shortfall([1, 2], [1, 1]) == (2, -1)
    with pytest.raises(rr.InputError, match="the totals differ by 1"):
        majorisation([1, 2], [1, 1])
    with pytest.raises(rr.InputError, match="vectors of 2 and 1 entry"):
        majorises([1, 2], [3])
    with pytest.raises(rr.InputError, match="vectors of 0 and 0 entries"):
        majorises([], [])
    with pytest.raises(rr.InputError, match="second vector, entry 1: 'x' is not a number"):
        majorises([1, 2], [3, "x"])


def test_a_witness_that_is_none_cannot_be_made() -> None:
    half = ((F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)))
    with pytest.raises(ArithmeticError, match="carry"):
        Majorisation((F(1), F(0)), (F(1), F(0)), half, ())
    with pytest.raises(ArithmeticError, match="not bistochastic"):
        Majorisation((F(1), F(0)), (F(1), F(1)), ((F(1), F(0)), (F(1), F(0))), ())


# -- entropy -----------------------------------------------------------------------------------------------------


def test_entropy_is_enclosed() -> None:
    assert entropy([1, 1, 1, 1]).lower <= 2 <= entropy([1, 1, 1, 1]).upper
    assert entropy([3, 0]).lower == 0
    for counts in ([1, 2, 3], ["0.1", "0.9"], [0.25, 0.75], [10**30, 1]):
        shares = np.array([float(F(count)) for count in counts])
        shares /= shares.sum()
        found = entropy(counts)
        assert float(found) == pytest.approx(-(shares * np.log2(shares)).sum(), rel=1e-9, abs=1e-12)
        assert found.upper - found.lower < F(1, 2**200)
    for counts in ([], [0, 0], [1, -1]):
        with pytest.raises(rr.InputError, match="non-negative and not all zero"):
            entropy(counts)


def test_a_bistochastic_mechanism_never_lowers_entropy() -> None:
    source = random.Random(6)
    for _ in range(50):
        size = source.randint(2, 5)
        weights = [source.randint(1, 3) for _ in range(8)]
        table = [[F(0)] * size for _ in range(size)]
        for weight in weights:
            for x, y in enumerate(source.sample(range(size), size)):
                table[x][y] += F(weight, sum(weights))
        prior = rr.Prior.from_counts([source.randint(1, 50) for _ in range(size)])
        mechanism = rr.Mechanism.from_matrix(table, inputs=prior.labels)
        change = entropy_change(mechanism, prior)
        total = sum(prior.weights)
        shares = [F(weight, total) for weight in prior.weights]
        after = [sum(shares[x] * table[x][y] for x in range(size)) for y in range(size)]
        assert majorises(shares, after)
        assert change.after.upper >= change.before.lower
        if sorted(after) != sorted(shares):
            assert change.after.lower > change.before.upper


def test_entropy_does_not_always_grow() -> None:
    """The published 'always' fails at the uniform prior; a mechanism with other column sums can lower entropy."""
    mechanism = rr.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    change = entropy_change(mechanism, rr.Prior.from_counts([1, 1]))
    assert change.before.lower == change.after.lower
    lowering = rr.Mechanism.from_matrix([[F(1), F(0)], [F(3, 4), F(1, 4)]])
    change = entropy_change(lowering, rr.Prior.from_counts([1, 1]))
    assert change.after.upper < change.before.lower
    with pytest.raises(rr.InputError, match="'a', 'b' are not among the labels; '0', '1' are missing"):
        entropy_change(mechanism, rr.Prior.from_counts({"a": 1, "b": 2}))
