"""Mixtures of permutations as a constraint: rows against exact weights, and against optimisation over the weights."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from drawing import exact, graded

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.mixture_elimination import Mixing

F = Fraction
AB, ABC = ("a", "b"), ("a", "b", "c")
CYCLE = ("b", "c", "a")


def labels(size: int) -> list[str]:
    return [str(x) for x in range(size)]


def made_of(permutations: list[tuple[int, ...]], weights: list[Fraction]) -> Mechanism:
    size = len(permutations[0])
    rows = [[F(0)] * size for _ in range(size)]
    for places, weight in zip(permutations, weights, strict=True):
        for x, y in enumerate(places):
            rows[x][y] += weight
    return exact(rows, labels(size), labels(size))


def drawn(rng: random.Random, size: int, count: int) -> list[tuple[int, ...]]:
    found = {tuple(range(size))}
    while len(found) < count:
        found.add(tuple(rng.sample(range(size), size)))
    return sorted(found)


def some_weights(rng: random.Random, count: int) -> list[Fraction]:
    numbers = [rng.randint(0, 9) for _ in range(count)]
    numbers[rng.randrange(count)] += 1
    return [F(number, sum(numbers)) for number in numbers]


def exists(mechanism: Mechanism, permutations: list[tuple[int, ...]], bounds: list[tuple[float, float]]) -> bool:
    """Whether weights exist, by a linear programme in floats; only for cases that are not near the border."""
    size = len(permutations[0])
    table = np.zeros((size * size, len(permutations)))
    for j, places in enumerate(permutations):
        for x, y in enumerate(places):
            table[x * size + y, j] = 1
    found = scipy.optimize.linprog(
        np.zeros(len(permutations)), A_eq=table, b_eq=mechanism.matrix.ravel(), bounds=bounds
    )
    return bool(found.status == 0)


@pytest.mark.parametrize("seed", graded(range(3), range(3, 25)))
def test_the_form_says_what_a_programme_over_the_weights_says(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.choice([3, 3, 4])
    listed = drawn(rng, size, rng.randint(2, 6))
    low = [F(rng.choice([0, 0, 1]), 20) for _ in listed]
    high = [F(rng.choice([20, 20, 10, 6]), 20) for _ in listed]
    if sum(high) < 1:
        high[0] = F(1)
    constraint = rr.patterns.PermutationMixture(
        [[str(y) for y in places] for places in listed], weights=list(zip(low, high, strict=True))
    )
    rows = constraint.rows(tuple(labels(size)), tuple(labels(size)))
    said = []
    for _ in range(30):
        among = listed if rng.random() < 0.8 else drawn(rng, size, 5)
        mechanism = made_of(among, some_weights(rng, len(among)))
        holds = constraint.violation(mechanism) <= 0
        assert holds == all(row.excess(mechanism) <= 0 for row in rows)
        # Clear of the border: a little tighter and a little wider say the same.
        verdicts = {
            exists(mechanism, listed, [(float(a) + e, float(b) - e) for a, b in zip(low, high, strict=True)])
            for e in (-1e-6, 1e-6)
        }
        if len(verdicts) == 1:
            assert holds == verdicts.pop()
        if holds:
            weights = constraint.decompose(mechanism)
            assert sum(weights.values()) == 1
            again = made_of([tuple(map(int, places)) for places in weights], list(weights.values()))
            assert again.matrix.tolist() == mechanism.matrix.tolist()
            for places, a, b in zip(listed, low, high, strict=True):
                assert a <= weights.get(tuple(map(str, places)), F(0)) <= b
        said.append(holds)
    assert not all(said) or all(b == 1 for b in high)


def test_all_permutations_are_every_bistochastic_matrix() -> None:
    constraint = rr.patterns.PermutationMixture()
    assert constraint.rows(ABC, ABC) == rr.patterns.Bistochastic().rows(ABC, ABC)
    least = rr.patterns.PermutationMixture(weights={"identity": (F(1, 4), 1), CYCLE: ("1/5", 1)})
    inside = [[F(1, 4), F(3, 4), 0], [F(0), F(1, 4), F(3, 4)], [F(3, 4), F(0), F(1, 4)]]
    assert least.violation(exact(inside, ABC, ABC)) <= 0
    outside = [[F(1, 8), F(7, 8), 0], [F(0), F(1, 8), F(7, 8)], [F(7, 8), F(0), F(1, 8)]]
    assert least.violation(exact(outside, ABC, ABC)) == F(1, 8)
    with pytest.raises(InputError, match="birkhoff"):
        least.decompose(exact(inside, ABC, ABC))


def test_the_identity_at_most_one_half() -> None:
    """Of three categories, with all six permutations: the trace is at most 3/2 + 1/2, for the rest keeps one truth."""
    capped = rr.patterns.PermutationMixture(weights=[("identity", 0, "1/2")])
    solution = rr.Problem(rr.Maximize(rr.Trace()), [capped], inputs=ABC).solve()
    assert solution.status == "certified"
    assert solution.bound == pytest.approx(2.0, abs=1e-9)
    assert solution.mechanism is not None
    weights = capped.decompose(solution.mechanism)
    assert weights.get(ABC, F(0)) <= F(1, 2)
    # A weight is not unique: cycles and identity make up the same as the three exchanges.
    uniform = exact([[F(1, 3)] * 3] * 3, ABC, ABC)
    assert capped.violation(uniform) <= 0
    assert rr.patterns.PermutationMixture(weights=[("identity", 0, 0)]).violation(uniform) <= 0
    assert rr.patterns.PermutationMixture(weights=[("identity", "0.34", 1)]).violation(uniform) > 0


@pytest.mark.parametrize("seed", range(6))
def test_the_best_mixture_is_that_of_the_weights(seed: int) -> None:
    """A linear objective over Q equals the linear programme over the weights."""
    rng = random.Random(seed)
    size = 5
    listed = drawn(rng, size, 7)
    loss = [[rng.randint(0, 9) for _ in range(size)] for _ in range(size)]
    prior = rr.Prior.uniform(size)
    constraint = rr.patterns.PermutationMixture(
        [[str(y) for y in places] for places in listed],
        weights=[("identity", 0, "1/4"), ([str(y) for y in listed[-1]], "1/10", 1)],
    )
    solution = rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), [constraint]).solve()
    assert solution.status == "certified"
    costs = [sum(loss[x][y] for x, y in enumerate(places)) / size for places in listed]
    bounds = [
        (0.1 if j == len(listed) - 1 else 0.0, 0.25 if places == tuple(range(size)) else 1.0)
        for j, places in enumerate(listed)
    ]
    best = scipy.optimize.linprog(costs, A_eq=np.ones((1, len(listed))), b_eq=[1.0], bounds=bounds).fun
    assert solution.bound == pytest.approx(best, abs=1e-9)
    assert solution.mechanism is not None
    weights = constraint.decompose(solution.mechanism)
    assert weights.get(tuple(labels(size)), F(0)) <= F(1, 4)


def test_with_an_entropy_rate() -> None:
    shifts = [[str((x + s) % 5) for x in range(5)] for s in range(5)]
    problem = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.patterns.PermutationMixture(shifts), rr.EntropyRate("0.5")], inputs=range(5)
    )
    plain = rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic(), rr.EntropyRate("0.5")], inputs=range(5))
    # The best bistochastic matrix is circulant, so that shifts are enough.
    assert problem.solve().bound == pytest.approx(plain.solve().bound, abs=1e-9)


def test_dependent_lists_are_eliminated() -> None:
    """All 24 permutations of four: too many to eliminate, said in one line; all six of three are not trouble."""
    six = list(itertools.permutations(range(3)))
    assert len(Mixing.of(six, [(F(0), F(1))] * 6).undetermined) == 1
    every = [[str(y) for y in places] for places in itertools.permutations(range(4))]
    with pytest.raises(InputError, match="linearly dependent") as caught:
        rr.patterns.PermutationMixture(every).rows(tuple(labels(4)), tuple(labels(4)))
    assert "\n" not in str(caught.value)


def test_bounds_that_sum_to_less_than_one_are_refused() -> None:
    few = rr.patterns.PermutationMixture(weights=[(list(places), 0, "1/10") for places in itertools.permutations(ABC)])
    with pytest.raises(InputError, match="less than one"):
        rr.Problem(rr.Maximize(rr.Trace()), [few], inputs=ABC)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rr.patterns.PermutationMixture([]), "no permutations"),
        (lambda: rr.patterns.PermutationMixture("ab"), "not a list"),
        (lambda: rr.patterns.PermutationMixture([["a", "a"]]), "twice|distinct"),
        (lambda: rr.patterns.PermutationMixture([["a", "b"], ["a", "b"]]), "listed twice"),
        (lambda: rr.patterns.PermutationMixture([3]), "not a permutation"),
        (lambda: rr.patterns.PermutationMixture(weights=[("identity", 0.5, 0.2)]), "low <= high"),
        (lambda: rr.patterns.PermutationMixture(weights=[("identity", 0.5)]), "bounds no weight"),
        (lambda: rr.patterns.PermutationMixture(weights=0.5), "not a list of bounds"),
        (lambda: rr.patterns.PermutationMixture(weights={"identity": 0.5}), "not a pair"),
        (lambda: rr.patterns.PermutationMixture(weights=[("identity", 0.6, 1), (["b", "a"], 0.6, 1)]), "more than one"),
        (lambda: rr.patterns.PermutationMixture(["identity"], weights=[(0, 0.5)]).rows(AB, AB), "less than one"),
        (
            lambda: rr.patterns.PermutationMixture(["identity"], weights=[(["b", "a"], 0, 0.5)]).rows(AB, AB),
            "not listed",
        ),
        (
            lambda: rr.patterns.PermutationMixture(
                ["identity"], weights=[("identity", 0.1, 1), (["a", "b"], 0, 0.5)]
            ).rows(AB, AB),
            "bounded twice",
        ),
        (lambda: rr.patterns.PermutationMixture([["a", "b"]]).rows(ABC, ABC), "not a permutation of the inputs"),
        (lambda: rr.patterns.PermutationMixture(["identity", list(ABC)]).rows(ABC, ABC), "listed twice"),
    ],
)
def test_bad_input_is_one_clear_line(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
