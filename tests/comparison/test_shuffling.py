"""The delta of shuffled answers: above the exact one for few people, and never above what clones give."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from scipy import stats

import rropt as rr
from rropt.comparison.shuffling import shuffled_delta, shuffled_epsilon
from rropt.errors import InputError


def random_mechanism(size: int, outputs: int, privacy_ratio: int, seed: int) -> rr.Mechanism:
    """Columns of two numbers whose ratio is at most the privacy ratio."""
    draw = np.random.default_rng(seed)
    table = draw.integers(1, privacy_ratio + 1, (size, outputs))
    most = int(table.sum(axis=1).max())
    rows = [[*map(int, row), 3 * most - int(row.sum())] for row in table]
    return rr.Mechanism.from_rationals(
        [[Fraction(entry, 3 * most) for entry in row] for row in rows],
        inputs=[f"x{at}" for at in range(size)],
        outputs=[f"y{at}" for at in range(outputs + 1)],
    )


def rows_of(mechanism: rr.Mechanism) -> list[list[Fraction]]:
    size, outputs = mechanism.shape
    return [[mechanism.entry(x, y) for y in range(outputs)] for x in range(size)]


def law(rows: list[list[Fraction]], values: tuple[int, ...]) -> Counter[tuple[int, ...]]:
    """The exact distribution of the sorted answers of people with these values."""
    found: Counter[tuple[int, ...]] = Counter()
    for answers in product(range(len(rows[0])), repeat=len(values)):
        found[tuple(sorted(answers))] += math.prod(rows[x][y] for x, y in zip(values, answers, strict=True))
    return found


def exact(mechanism: rr.Mechanism, respondents: int, epsilon: float) -> float:
    """The largest delta over all values, by enumeration."""
    rows, most = rows_of(mechanism), 0.0
    for others in combinations_with_replacement(range(len(rows)), respondents - 1):
        for x, other in permutations(range(len(rows)), 2):
            one, two = law(rows, (x, *others)), law(rows, (other, *others))
            most = max(most, sum(max(float(one[key]) - math.exp(epsilon) * float(two[key]), 0) for key in one))
    return most


def clones(epsilon0: float, respondents: int, epsilon: float) -> float:
    """The delta by clones, evaluated as its authors do: (A + D, C - A + 1 - D) against (A + 1 - D, C - A + D) with C
    binomial(n - 1, exp(-epsilon0)), A binomial(C, 1/2), D Bernoulli(e0 / (e0 + 1))."""
    return cloned(math.exp(-epsilon0), epsilon0, respondents, epsilon)


def cloned(each: float, epsilon0: float, respondents: int, epsilon: float) -> float:
    """The same with C binomial(n - 1, each)."""
    share = math.exp(epsilon0) / (math.exp(epsilon0) + 1)
    # All C at once; the first coordinate is `at`, the second one C + 1 - at.
    count, at = np.meshgrid(np.arange(respondents), np.arange(respondents + 1), indexing="ij")
    before, same = stats.binom.pmf(at - 1, count, 0.5), stats.binom.pmf(at, count, 0.5)
    one, two = share * before + (1 - share) * same, (1 - share) * before + share * same
    weight = stats.binom.pmf(np.arange(respondents), respondents - 1, each)
    return float(weight @ np.maximum(one - math.exp(epsilon) * two, 0).sum(axis=1))


def stronger_clones(epsilon0: float, respondents: int, epsilon: float) -> float:
    """The delta by the clones of 2023: the same with C binomial(n - 1, 2 / (e0 + 1)). Source: Feldman, McMillan and
    Talwar, SODA 2023. Their form for a mechanism whose rows share a further part (k-ary randomised response) counts the
    answers of two outputs only. It is not compared: for three values and two people it is below the exact delta."""
    return cloned(2 / (math.exp(epsilon0) + 1), epsilon0, respondents, epsilon)


MATRICES: dict[str, rr.Mechanism] = {
    **{
        f"{k}-ary, epsilon {e}": rr.RandomizedResponse(k, epsilon=e).to_mechanism()
        for k in (2, 3, 5, 10)
        for e in "123"
    },
    **{f"random {seed}": random_mechanism(3 + seed % 3, 3 + seed % 2, 2 + seed, seed) for seed in range(8)},
}


@pytest.mark.long
@pytest.mark.parametrize("name", MATRICES)
def test_no_bound_by_clones_is_below_it(name: str) -> None:
    """Clones know the level only."""
    mechanism, respondents = MATRICES[name], 60
    level = math.log(mechanism.privacy_ratio)
    for part in (0.1, 0.5):
        known = clones(level, respondents, part * level)
        found = float(shuffled_delta(mechanism, respondents, str(part * level)))
        assert found <= known, (part, found, known)
        assert found >= 0
        stronger = stronger_clones(level, respondents, part * level)
        assert stronger <= known * (1 + 1e-9)
        assert found <= stronger * (1 + 1e-9), (part, found, stronger)


def test_there_are_twenty_matrices() -> None:
    assert len(MATRICES) == 20


def small() -> Iterator[tuple[rr.Mechanism, int]]:
    yield rr.RandomizedResponse(2, epsilon=1).to_mechanism(), 4
    yield rr.RandomizedResponse(3, epsilon=2).to_mechanism(), 3
    yield random_mechanism(3, 2, 4, 9), 3
    # An output that some value excludes shows who gave it.
    half = [["1/2", "1/2", "0"], ["1/4", "1/2", "1/4"], ["0", "1/2", "1/2"]]
    yield rr.Mechanism.from_rationals(half, inputs=list("abc"), outputs=list("xyz")), 3


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_it_is_above_the_exact_delta_of_few_people(case: int, epsilon: float) -> None:
    mechanism, respondents = list(small())[case]
    found, known = float(shuffled_delta(mechanism, respondents, str(epsilon))), exact(mechanism, respondents, epsilon)
    assert found >= known * (1 - 1e-12)
    # For two outputs it is exact, up to the share that the search leaves.
    assert case > 0 or found <= 1.05 * known + 1e-15


@pytest.mark.parametrize("case", [0, 1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_what_the_clones_give_is_above_the_exact_delta(case: int, epsilon: float) -> None:
    """So the formulas above are bounds."""
    mechanism, respondents = list(small())[case]
    level, known = math.log(mechanism.privacy_ratio), exact(mechanism, respondents, epsilon)
    assert known <= stronger_clones(level, respondents, epsilon) * (1 + 1e-9)
    assert known <= clones(level, respondents, epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("respondents", [1, 2, 7])
def test_it_is_the_delta_of_the_blanket(respondents: int) -> None:
    """By enumeration of all n-tuples of V, up to the grid."""
    mechanism, epsilon = random_mechanism(3, 3, 5, 4), 0.2
    rows, factor = rows_of(mechanism), math.exp(epsilon)
    least = [min(column) for column in zip(*rows, strict=True)]
    most = 0.0
    for one, two in permutations(rows, 2):
        values = [
            (float(p - Fraction(factor) * q) / float(b), float(b)) for p, q, b in zip(one, two, least, strict=True)
        ]
        values.append((0.0, 1 - float(sum(least))))
        mean = sum(
            max(sum(value for value, _ in each), 0) * math.prod(mass for _, mass in each)
            for each in product(values, repeat=respondents)
        )
        alone = sum(max(float(p - Fraction(factor) * q), 0) for p, q in zip(one, two, strict=True))
        most = max(most, min(mean / respondents, alone))
    found = float(shuffled_delta(mechanism, respondents, str(epsilon)))
    assert most * (1 - 1e-9) <= found <= most * 1.001 + 1e-9


def test_more_people_hide_better_and_no_more_than_all() -> None:
    mechanism = rr.RandomizedResponse(4, epsilon=2).to_mechanism()
    found = [shuffled_delta(mechanism, respondents, "0.5") for respondents in (1, 10, 100, 1000)]
    assert found == sorted(found, reverse=True)
    assert found[0] <= Fraction(mechanism.entry(0, 0))
    assert 0 < found[-1] < Fraction(1, 100)
    assert shuffled_delta(mechanism, 1, 2) < Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("respondents", "epsilon", "said"),
    [
        (0, 1, "respondents"),
        (10**6 + 1, 1, "respondents"),
        (5, -1, "epsilon"),
        (5, 21, "epsilon"),
        (5, 10**400, "epsilon"),
    ],
)
def test_what_makes_no_sense_is_refused(respondents: int, epsilon: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        shuffled_delta(rr.RandomizedResponse(3, epsilon=1), respondents, epsilon)


def counted(shares: list[float], respondents: int, epsilon: float) -> float:
    """The exact delta of yes/no answers with these probabilities, over how many of the others have each of the two that
    are farthest apart; in floats."""
    most, low, high = 0.0, min(shares), max(shares)
    for highs in range(respondents):
        one = stats.binom.pmf(np.arange(highs + 1), highs, high)
        two = stats.binom.pmf(np.arange(respondents - highs), respondents - 1 - highs, low)
        others = np.convolve(one, two)
        laws = [np.convolve(others, [1 - share, share]) for share in (low, high)]
        for p, q in permutations(laws):
            most = max(most, float(np.maximum(p - math.exp(epsilon) * q, 0).sum()))
    return most


YES = [["0.731058"], ["1/10", "3/10"], ["1/50", "1/2"], ["3/10", "4/5", "1/2"], ["1/100", "0"]]


@pytest.mark.parametrize("respondents", [1, 2, 40, 300])
@pytest.mark.parametrize("shares", YES)
def test_of_two_outputs_it_is_exact(shares: list[str], respondents: int) -> None:
    """Up to a share of 5 %, also where the worst number of others is neither none nor all of them."""
    own = [Fraction(share) for share in shares]
    own = [*own, 1 - own[0]] if len(own) == 1 else own
    made = rr.Mechanism.from_rationals(
        [[p, 1 - p] for p in own], inputs=[f"x{at}" for at in range(len(own))], outputs=["yes", "no"]
    )
    for epsilon in ("0", "0.1", "0.4"):
        known = counted([float(p) for p in own], respondents, float(epsilon))
        found = float(shuffled_delta(made, respondents, epsilon))
        assert known * (1 - 1e-9) - 1e-14 <= found <= 1.0501 * known + 1e-14


def test_the_blanket_was_far_above_it() -> None:
    """What an adversary knows of those who answered independently of their values is not in the number of answers."""
    made, respondents = rr.RandomizedResponse(2, epsilon=1).to_mechanism(), 2000
    found = float(shuffled_delta(made, respondents, "0.15"))
    assert 5 * found < stronger_clones(1, respondents, 0.15)


@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("delta", ["1e-9", "1e-4", "0.05"])
def test_the_inverse_is_the_least_epsilon(outputs: int, delta: str) -> None:
    made, step = rr.RandomizedResponse(outputs, epsilon=2).to_mechanism(), Fraction(1, 2**14)
    found = shuffled_epsilon(made, 12, delta)
    assert shuffled_delta(made, 12, found) <= Fraction(delta)
    assert found % step == 0
    assert found == 0 or shuffled_delta(made, 12, found - step) > Fraction(delta) * Fraction(95, 100)


def test_the_inverse_says_where_no_epsilon_is_enough() -> None:
    half = [["1/2", "1/2", "0"], ["1/4", "1/2", "1/4"], ["0", "1/2", "1/2"]]
    open_ended = rr.Mechanism.from_rationals(half, inputs=list("abc"), outputs=list("xyz"))
    with pytest.raises(InputError, match="at every epsilon"):
        shuffled_epsilon(open_ended, 100, "1e-6")
    for delta in (0, 1, -1):
        with pytest.raises(InputError, match="above 0 and below 1"):
            shuffled_epsilon(rr.RandomizedResponse(3, epsilon=1), 100, delta)
