"""Admissibility is judged exactly; improvement keeps the privacy, is admissible, and dominates by an exact garbling."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from drawing import Rows, exact, graded, near_flat_rows, two_valued_rows

import rropt as rr
from rropt.comparison.orders.admissible import Improvement
from rropt.mechanisms.garbling import Garbling

F = Fraction


def made(rows: Rows) -> rr.Mechanism:
    return exact(rows, [f"x{at}" for at in range(len(rows))], [f"y{at}" for at in range(len(rows[0]))])


def rows_of(mechanism: rr.Mechanism) -> Rows:
    k, m = mechanism.shape
    return [[mechanism.entry(x, y) for y in range(m)] for x in range(k)]


def rappor(k: int, root: Fraction) -> rr.Mechanism:
    """Basic RAPPOR at gamma = root^2: each of k bits is told truly with probability root / (root + 1)."""
    true, false = root / (root + 1), 1 / (root + 1)
    return made(
        [
            [math.prod((true if bit == (j == x) else false) for j, bit in enumerate(bits)) for bits in patterns]
            for x, patterns in ((x, list(itertools.product((0, 1), repeat=k))) for x in range(k))
        ]
    )


def two_values_in_ratio(mechanism: rr.Mechanism, gamma: Fraction) -> bool:
    """The definition (C1, C2, no proportional columns), without the package's own helpers."""
    columns = [mechanism.column(y) for y in range(len(mechanism.outputs))]
    shapes = {tuple(entry / min(column) for entry in column) for column in columns}
    return len(shapes) == len(columns) and all(set(shape) == {1, gamma} for shape in shapes)


def confirm(found: Improvement, given: rr.Mechanism, gamma: Fraction) -> None:
    assert found.gamma == gamma
    assert found.mechanism.privacy_ratio == gamma
    assert two_values_in_ratio(found.mechanism, gamma)
    assert found.mechanism.inputs == given.inputs
    c = found.garbling.rows
    assert all(sum(row) == 1 and min(row) >= 0 for row in c)
    better = rows_of(found.mechanism)
    for row, wanted in zip(better, rows_of(given), strict=True):
        for y, entry in enumerate(wanted):
            assert sum((p * line[y] for p, line in zip(row, c, strict=True) if line[y]), F(0)) == entry
    assert rr.ordering.admissible(found.mechanism, gamma=gamma)


@pytest.mark.parametrize("k", range(2, 7))
def test_rappor_is_improved_strictly(k: int) -> None:
    """Chai and Nayak, end of chapter 7: without its two constant outputs RAPPOR is admissible, and better."""
    given = rappor(k, F(2))
    assert given.privacy_ratio == 4
    assert not rr.ordering.admissible(given, gamma=4)
    assert {fault.output for fault in rr.ordering.admissible(given, gamma=4).shortfalls} == {"y0", f"y{2**k - 1}"}
    found = rr.ordering.improve(given, gamma=4)
    confirm(found, given, F(4))
    assert found.strict
    assert found.mechanism.shape == (k, 2**k - 2)
    backwards = rr.ordering.dominates(given, found.mechanism)
    assert not backwards
    assert backwards.gap > 0


def test_rappor_of_the_package_is_improved() -> None:
    for k in (2, 3, 4):
        given = rr.mechanisms.Rappor(k, epsilon=1).to_mechanism()
        found = rr.ordering.improve(given, epsilon=1)
        assert found.strict
        assert rr.LDP(epsilon=1).violation(found.mechanism) == 0
        assert rr.ordering.admissible(found.mechanism, epsilon=1)
        assert found.garbling.carries(found.mechanism, given)


@pytest.mark.parametrize("seed", graded([0], [1, 2], range(3, 10)))
def test_random_mechanisms_are_improved(seed: int) -> None:
    """Admissible, the same privacy, and C exact."""
    rng = random.Random(f"improve {seed}")
    done = 0
    while done < (50 if seed == 0 else 100):
        given = made(near_flat_rows(rng, rng.randint(2, 6), rng.randint(2, 6)))
        privacy_ratio = given.privacy_ratio
        if privacy_ratio == 1 or privacy_ratio > 10**6:
            continue
        gamma = rng.choice([privacy_ratio, privacy_ratio + F(1, 10**9), privacy_ratio * 2])
        found = rr.ordering.improve(given, gamma=gamma)
        confirm(found, given, gamma)
        assert found.strict is not two_values_in_ratio(rr.mechanisms.merge_proportional(given).mechanism, gamma)
        done += 1


def test_strict_improvements_are_not_dominated_back() -> None:
    rng = random.Random("strict")
    for _ in range(20):
        given = made(near_flat_rows(rng, rng.randint(2, 4), rng.randint(2, 4)))
        if given.privacy_ratio in (1, math.inf):
            continue
        found = rr.ordering.improve(given)
        assert bool(rr.ordering.dominates(given, found.mechanism)) is not found.strict


def test_admissible_mechanisms_are_left_as_they_are() -> None:
    for k, gamma in itertools.product((2, 3, 5), (F(3, 2), F(9))):
        given = made(two_valued_rows(k, gamma))
        assert rr.ordering.admissible(given)
        assert rr.ordering.admissible(given, gamma=gamma)
        found = rr.ordering.improve(given)
        confirm(found, given, gamma)
        assert not found.strict
        assert rr.ordering.equivalent(given, found.mechanism)
        higher = rr.ordering.improve(given, gamma=gamma + 1)
        confirm(higher, given, gamma + 1)
        assert higher.strict


def test_a_mechanism_that_says_nothing_becomes_randomised_response() -> None:
    found = rr.ordering.improve(made([[F(1, 4), F(3, 4)]] * 3), gamma=5)
    assert found.strict
    confirm(found, made([[F(1, 4), F(3, 4)]] * 3), F(5))
    assert rr.ordering.equivalent(found.mechanism, made(two_valued_rows(3, F(5))))


def test_what_is_not_admissible_is_named() -> None:
    rows = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 2), F(1, 4)], [F(3, 8), F(3, 8), F(1, 4)]]
    found = rr.ordering.admissible(made(rows), gamma=2)
    assert not found
    assert [(fault.output, fault.privacy_ratio, fault.values) for fault in found.shortfalls] == [
        ("y0", 2, 3),
        ("y1", 2, 3),
        ("y2", 1, 1),
    ]
    above = rr.ordering.admissible(made(rows), gamma=F(3, 2))
    assert not above.private
    assert not above


def test_a_rounded_mechanism_is_nearly_admissible_and_says_so() -> None:
    given = rr.RandomizedResponse(3, epsilon=1).to_mechanism()
    found = rr.ordering.admissible(given, epsilon=1)
    assert found.private
    assert not found
    assert all(fault.values == 2 and abs(float(fault.privacy_ratio) - math.e) < 1e-14 for fault in found.shortfalls)
    assert rr.ordering.admissible(given)


def test_wrong_input_is_said() -> None:
    rows = two_valued_rows(3, F(3))
    with pytest.raises(rr.InputError, match="its privacy ratio 3 is above gamma = 2; improve it at a higher level"):
        rr.ordering.improve(made(rows), gamma=2)
    with pytest.raises(rr.InputError, match="own privacy ratio is one"):
        rr.ordering.improve(made([[F(1)]] * 2))
    with pytest.raises(rr.InputError, match="own privacy ratio is infinite"):
        rr.ordering.admissible(made([[F(1), F(0)], [F(0), F(1)]]))
    with pytest.raises(rr.InputError, match="not a mechanism"):
        rr.ordering.admissible(rows)
    with pytest.raises(rr.InputError, match="both given"):
        rr.ordering.improve(made(rows), epsilon=1, gamma=3)


def test_a_wrong_improvement_is_refused() -> None:
    given = made(near_flat_rows(random.Random(1), 3, 3))
    found = rr.ordering.improve(given)
    rows = [list(row) for row in found.garbling.rows]
    rows[0], rows[1] = rows[1], rows[0]
    with pytest.raises(ArithmeticError, match="does not carry"):
        Improvement(given, found.mechanism, Garbling(tuple(map(tuple, rows))), found.gamma, True)
    same = Garbling(tuple(tuple(F(int(i == j)) for j in range(3)) for i in range(3)))
    with pytest.raises(ArithmeticError, match="not admissible"):
        Improvement(given, given, same, given.privacy_ratio, True)
