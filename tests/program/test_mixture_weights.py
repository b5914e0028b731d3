"""Bounded weights among all permutations, and few permutations: against programmes over all n! weights."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from drawing import exact
from rropt.models.permutation_model import weight_range

import rropt as rr
from rropt.checker import check_bytes
from rropt.declare import constraints
from rropt.errors import InputError, NoMethod
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.permutation_mixtures import Mixture, best_outside, best_permutation, mixed

F = Fraction
Bounds = dict[tuple[int, ...], tuple[Fraction, Fraction]]


def labels(places: tuple[int, ...]) -> list[str]:
    return [str(y) for y in places]


def bounded(bounds: Bounds, **further: object) -> rr.patterns.PermutationMixture:
    listed = [(labels(places), low, high) for places, (low, high) in bounds.items()]
    return rr.patterns.PermutationMixture(weights=listed, **further)  # type: ignore[arg-type]


def over_all(size: int, worth: np.ndarray, bounds: Bounds) -> float:
    """The largest sum of worth * Q over all n! weights, in floats."""
    every = list(itertools.permutations(range(size)))
    ends = [tuple(map(float, bounds.get(places, (0, 1)))) for places in every]
    gains = [sum(worth[x, y] for x, y in enumerate(places)) for places in every]
    found = scipy.optimize.linprog([-gain for gain in gains], A_eq=np.ones((1, len(every))), b_eq=[1.0], bounds=ends)
    return -float(found.fun)


def some_bounds(rng: random.Random, size: int, count: int) -> Bounds:
    every = list(itertools.permutations(range(size)))
    chosen = {tuple(range(size)), *rng.sample(every, count - 1)}
    return {places: (F(rng.choice([0, 0, 1]), 10), F(rng.choice([2, 3, 5]), 10)) for places in sorted(chosen)}


@pytest.mark.parametrize("size", range(1, 6))
def test_assignments_against_all_permutations(size: int) -> None:
    rng = random.Random(size)
    every = list(itertools.permutations(range(size)))
    for _ in range(60):
        scores = [[rng.randint(-4, 4) * rng.choice([1, 10**30]) for _ in range(size)] for _ in range(size)]

        def worth(places: tuple[int, ...], scores: list[list[int]] = scores) -> int:
            return sum(scores[x][y] for x, y in enumerate(places))

        value, places = best_permutation(scores)
        assert value == max(map(worth, every)) == worth(places)
        excluded = set(rng.sample(every, min(len(every), rng.randint(0, 5))))
        rest = [one for one in every if one not in excluded]
        found = best_outside(scores, excluded)
        assert (found is None) == (not rest)
        if found is not None:
            assert found[0] == max(map(worth, rest)) == worth(found[1])
            assert found[1] not in excluded


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_that_of_all_weights(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.choice([4, 4, 5])
    bounds = some_bounds(rng, size, rng.randint(1, 4))
    loss = [[rng.randint(0, 9) for _ in range(size)] for _ in range(size)]
    constraint = bounded(bounds)
    goal = rr.Minimize(rr.ExpectedLoss(rr.Prior.uniform(size), loss))
    solution = rr.Problem(goal, [constraint]).solve(gap=1e-9)
    assert solution.status == "certified"
    assert solution.bound == pytest.approx(-over_all(size, -np.array(loss) / size, bounds), abs=1e-8)
    assert solution.mechanism is not None
    assert solution.decomposition is not None
    assert solution.certificate is not None
    assert check_bytes(solution.certificate.to_json().encode()).proved
    assert sum(solution.decomposition.values()) == 1
    for places, (low, high) in bounds.items():
        assert low <= solution.decomposition.get(tuple(labels(places)), F(0)) <= high
    weights = {tuple(map(int, places)): weight for places, weight in solution.decomposition.items()}
    assert (mixed(weights, solution.mechanism.inputs).matrix == solution.mechanism.matrix).all()
    assert constraint.violation(solution.mechanism) <= 0


def test_the_identity_at_most_one_half_of_many() -> None:
    """The best other permutation exchanges two: n/2 + (n - 2)/2 = n - 1 truths."""
    for size in (4, 9):
        capped = rr.patterns.PermutationMixture(weights={"identity": (0, F(1, 2))})
        solution = rr.Problem(rr.Maximize(rr.Trace()), [capped], inputs=range(size)).solve(gap=1e-9)
        assert solution.status == "certified"
        assert solution.bound == pytest.approx(size - 1, abs=1e-9)


def test_beside_local_privacy() -> None:
    """Against the programme over all 24 weights with the ratio rows written out."""
    size, gamma = 4, 20
    every = list(itertools.permutations(range(size)))
    solution = rr.Problem(
        rr.Maximize(rr.Trace()),
        [rr.patterns.PermutationMixture(weights={"identity": (0, "3/10")}), rr.LDP(gamma=gamma)],
        inputs=range(size),
    ).solve(gap=1e-9)
    table = np.array([[[float(places[x] == y) for places in every] for y in range(size)] for x in range(size)])
    rows = [table[x, y] - gamma * table[z, y] for y in range(size) for x, z in itertools.permutations(range(size), 2)]
    found = scipy.optimize.linprog(
        [-sum(x == y for x, y in enumerate(places)) for places in every],
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.ones((1, len(every))),
        b_eq=[1.0],
        bounds=[(0, 0.3 if places == tuple(range(size)) else 1) for places in every],
    )
    assert solution.status == "certified"
    assert solution.bound == pytest.approx(-found.fun, abs=1e-8)
    assert solution.bound is not None
    assert solution.bound < 4 * gamma / (3 + gamma)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_membership_is_decided_exactly(size: int) -> None:
    """One bounded permutation: against the exact range of its weight; and what is found adds up."""
    rng = random.Random(size)
    every = list(itertools.permutations(range(size)))
    told = set()
    for _ in range(40):
        chosen = [every[0], *rng.sample(every, rng.randint(1, min(len(every), 6)))]
        numbers = [rng.randint(1, 9) for _ in chosen]
        numbers[0] *= rng.choice([0, 1, 6])
        weights: dict[tuple[int, ...], Fraction] = {}
        for places, number in zip(chosen, numbers, strict=True):
            if number:
                weights[places] = weights.get(places, F(0)) + F(number, sum(numbers))
        mechanism = mixed(weights, tuple(map(str, range(size))))
        span = weight_range(mechanism, list(range(size)))
        # The very ends of the range belong to it.
        for low, high in ((F(0), span.smallest), (span.largest, F(1)), (F(0), span.smallest - F(1, 10**12))):
            if not 0 <= low <= high <= 1 or (low, high) == (0, 1):
                continue
            constraint = rr.patterns.PermutationMixture(weights={"identity": (low, high)}, max_terms=None)
            holds = low <= span.largest and high >= span.smallest
            told.add(holds)
            assert (constraint.violation(mechanism) <= 0) == holds
            if holds and constraint.mixture(mechanism.inputs) is not None:
                made = constraint.decompose(mechanism)
                again = mixed({tuple(map(int, name)): weight for name, weight in made.items()}, mechanism.inputs)
                assert (again.matrix == mechanism.matrix).all()
                assert low <= made.get(mechanism.inputs, F(0)) <= high
    assert told == {True, False}


def test_the_knapsack_over_the_bounds() -> None:
    """Nothing is left when all permutations have an upper bound and these do not make one."""
    swap, same = (1, 0), (0, 1)
    tight = Mixture(2, None, ((swap, F(0), F(1, 4)), (same, F(0), F(1, 2))), None)
    assert tight.most([[1, 0], [0, 1]]) is None
    assert Mixture(2, None, ((same, F(0), F(1, 4)),), None).most([[1, 0], [0, 1]]) == F(1, 2)
    assert Mixture(2, (same,), (), None).most([[3, 0], [0, 4]]) == 7
    assert tight.breach({same: F(1)}) == "a weight is out of its bounds"
    assert "sum" in tight.breach({same: F(1, 2)})
    assert "listed" in Mixture(2, (same,), (), None).breach({swap: F(1)})
    assert "many" in Mixture(2, None, (), 1).breach({swap: F(1, 2), same: F(1, 2)})


# -- few permutations ------------------------------------------------------------------------------------


def best_of_few(size: int, worth: np.ndarray, most: int, least_off: float) -> float:
    """Most worth of at most that many permutations whose diagonal entries stay at `least_off` or below, by trying."""
    best = -np.inf
    every = list(itertools.permutations(range(size)))
    gains = np.array([sum(worth[x, y] for x, y in enumerate(places)) for places in every])
    for chosen in itertools.combinations(range(len(every)), most):
        rows = [[float(every[j][x] == x) for j in chosen] for x in range(size)]
        found = scipy.optimize.linprog(
            -gains[list(chosen)], A_ub=rows, b_ub=[least_off] * size, A_eq=np.ones((1, most)), b_eq=[1.0]
        )
        if found.status == 0:
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("most", [1, 2, 3])
def test_few_permutations_against_all_choices(most: int) -> None:
    size = 3 if most == 3 else 4
    rng = random.Random(most)
    loss = [[rng.randint(0, 9) for _ in range(size)] for _ in range(size)]
    cells = [
        rr.LinearConstraint([[float(x == y == at) for y in range(size)] for x in range(size)], "<=", 0.4)
        for at in range(size)
    ]
    few = rr.patterns.PermutationMixture(max_terms=most)
    goal = rr.Minimize(rr.ExpectedLoss(rr.Prior.uniform(size), loss))
    solution = rr.Problem(goal, [few, *cells]).solve()
    least = -best_of_few(size, -np.array(loss) / size, most, 0.4)
    free = rr.Problem(goal, [rr.patterns.Bistochastic(), *cells]).solve()
    assert solution.value == pytest.approx(least, abs=1e-7)
    assert solution.bound == pytest.approx(free.bound, abs=1e-7)  # type: ignore[arg-type]
    assert solution.decomposition is not None
    assert len(solution.decomposition) <= most
    assert solution.mechanism is not None
    assert few.violation(solution.mechanism) <= 0
    assert few.decompose(solution.mechanism) == solution.decomposition or len(few.decompose(solution.mechanism)) <= most
    if least > free.bound + 1e-6:  # type: ignore[operator]
        assert solution.status == "bounded"
        assert any("not proved" in warning for warning in solution.warnings)


def test_few_of_a_list_with_bounds() -> None:
    shifts = [[str((x + s) % 5) for x in range(5)] for s in range(5)]
    few = rr.patterns.PermutationMixture(shifts, weights=[("identity", 0, "1/2")], max_terms=2)
    solution = rr.Problem(rr.Maximize(rr.Trace()), [few], inputs=range(5)).solve()
    assert solution.status == "certified"
    assert solution.bound == pytest.approx(2.5, abs=1e-9)
    assert solution.decomposition is not None
    assert len(solution.decomposition) == 2


def test_too_few_permutations_are_said_to_be_too_few() -> None:
    """Under LDP every entry is positive: three permutations of four categories cannot do that."""
    solution = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.patterns.PermutationMixture(max_terms=3), rr.LDP(1)], inputs=list("abcd")
    ).solve()
    assert (solution.status, solution.mechanism) == ("bounded", None)
    assert any("so few" in warning for warning in solution.warnings)
    assert solution.bound == pytest.approx(4 * np.e / (3 + np.e), abs=1e-9)


def test_few_permutations_of_many_categories() -> None:
    """The choice is then from those that the relaxation looks at: feasible, and the bound stays the relaxation's."""
    size = 9
    few = rr.patterns.PermutationMixture(weights={"identity": (0, F(1, 4))}, max_terms=3)
    loss = [[abs(x - y) for y in range(size)] for x in range(size)]
    cells = [
        rr.LinearConstraint([[float(x == y == at) for y in range(size)] for x in range(size)], "<=", 0.5)
        for at in range(size)
    ]
    goal = rr.Minimize(rr.ExpectedLoss(rr.Prior.uniform(size), loss))
    solution = rr.Problem(goal, [few, *cells]).solve(time_limit=20)
    assert solution.mechanism is not None
    assert solution.decomposition is not None
    assert len(solution.decomposition) <= 3
    assert solution.decomposition.get(solution.mechanism.inputs, F(0)) <= F(1, 4)
    assert max(solution.mechanism.matrix.diagonal()) <= 0.5
    assert solution.bound is not None
    assert solution.value is not None
    assert solution.bound <= solution.value


# -- what is refused, and files ----------------------------------------------------------------------------


def test_what_does_not_fit() -> None:
    capped = rr.patterns.PermutationMixture(weights={"identity": (0, 0.5)})
    with pytest.raises(NoMethod, match="linear objectives") as caught:
        rr.Problem(rr.Maximize(rr.Trace()), [capped, rr.EntropyRate("0.5")], inputs=range(4)).solve("mixtures")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="2 constraints declare the same: weights of permutations"):
        rr.Problem(rr.Maximize(rr.Trace()), [capped, rr.patterns.PermutationMixture(max_terms=2)], inputs=range(4))
    with pytest.raises(NoMethod, match="is for bounded weights"):
        rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic()], inputs=range(4)).solve("mixtures")
    with pytest.raises(NoMethod, match="highs only"):
        rr.Problem(rr.Maximize(rr.Trace()), [capped], inputs=range(4)).solve("mixtures", solver="scs")
    twice = rr.patterns.PermutationMixture(weights=[("identity", 0, 0.5), (list("abcd"), 0, 0.5)])
    with pytest.raises(InputError, match="bounded twice"):
        rr.Problem(rr.Maximize(rr.Trace()), [twice], inputs=list("abcd"))
    for wrong in (0, -1, 2.0, True, "3"):
        with pytest.raises(InputError, match="not a positive integer"):
            rr.patterns.PermutationMixture(max_terms=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="more weights"):
        rr.patterns.PermutationMixture(weights=[("identity", 0.1, 1), (["b", "a"], 0.1, 1)], max_terms=1)
    uniform = exact([[F(1, 13)] * 13] * 13, list(map(str, range(13))), list(map(str, range(13))))
    with pytest.raises(InputError, match="too many to decide"):
        capped.violation(uniform)
    with pytest.raises(InputError, match="not such a mixture"):
        capped.decompose(_identity())


def _identity() -> Mechanism:
    return exact([[F(x == y) for y in range(4)] for x in range(4)], list("abcd"), list("abcd"))


def test_a_problem_file_keeps_the_number() -> None:
    few = rr.patterns.PermutationMixture(["identity", ["b", "a"]], max_terms=1)
    assert few.keys()["max_terms"] == 1
    assert "1 at most" in few.describe()
    assert constraints.from_keys("permutation_mixture", few.keys(), "here") == few
