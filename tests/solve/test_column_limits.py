"""The most of an information under limits that columns add up to: the method `column_limits`, against programmes over columns
that are listed by other means."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from builders import agreed
from scipy.optimize import linprog

import rropt as rr


def information(prior: np.ndarray, v: np.ndarray) -> float:
    """mu of a column, by its definition."""
    w = prior @ v
    return float(sum(p * q * np.log(q / w) for p, q in zip(prior, v, strict=True) if p and q))


def most(mu, prior: np.ndarray, columns: list[np.ndarray], limited: list[list[float]], at_most: list[float]) -> float:
    """The optimum over mixtures of columns."""
    table = np.array(columns).T
    found = linprog(
        [-mu(prior, v) for v in columns],
        A_ub=limited,
        b_ub=at_most,
        A_eq=table,
        b_eq=np.ones(len(table)),
        bounds=(0, None),
    )
    assert found.status == 0
    return float(-found.fun)


def rays_of(rows: np.ndarray) -> list[np.ndarray]:
    """The extreme rays of {v : rows v <= 0, v >= 0} by all choices of tight inequalities, in rationals."""
    size = rows.shape[1]
    every = [*(-np.eye(size, dtype=int)), *rows]
    found = {}
    for tight in combinations(every, size - 1):
        table = [[Fraction(int(value)) for value in row] for row in tight]
        for sign in (1, -1):
            v = [Fraction(sign) * value for value in null_vector(table, size)]
            if any(v) and all(sum(int(c) * value for c, value in zip(row, v, strict=True)) <= 0 for row in every):
                largest = max(v)
                found[tuple(value / largest for value in v)] = np.array([float(value / largest) for value in v])
    return list(found.values())


def null_vector(table: list[list[Fraction]], size: int) -> list[Fraction]:
    """The vector that all rows of size - 1 rows are orthogonal to: zeros where they depend on each other."""
    rows, pivots = [row[:] for row in table], []
    for x in range(size):
        at = next((i for i in range(len(pivots), len(rows)) if rows[i][x]), None)
        if at is None:
            continue
        i = len(pivots)
        rows[i], rows[at] = rows[at], rows[i]
        rows[i] = [value / rows[i][x] for value in rows[i]]
        rows = [
            row if j == i else [a - row[x] * b for a, b in zip(row, rows[i], strict=True)] for j, row in enumerate(rows)
        ]
        pivots.append(x)
    if len(pivots) < size - 1:
        return [Fraction(0)] * size
    (free,) = set(range(size)) - set(pivots)
    return [Fraction(1) if x == free else -rows[pivots.index(x)][free] for x in range(size)]


def proved(solution: rr.Solution) -> None:
    """Both checkers accept the certificate, which says what the solution says."""
    assert solution.status == "certified", solution
    assert solution.certificate is not None
    verdict = agreed(solution.certificate.document)
    assert verdict.status == "PROVED", verdict.reason
    assert verdict.lower is not None
    assert verdict.upper is not None
    assert float(verdict.lower) * (1 - 1e-12) <= solution.value <= float(verdict.upper) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_gain_at_most_against_rays_by_hand(seed: int) -> None:
    """For each best action the columns are a cone of their own; its rays are listed in rationals here."""
    random = np.random.default_rng(seed)
    size, actions = int(random.integers(2, 4)), int(random.integers(2, 5))
    counts = random.integers(1, 9, size).tolist()
    prior, total = rr.Prior.from_counts(counts), sum(counts)
    least = best = 0
    while best == least:  # else the gain does not depend on the release
        gain = random.integers(0, 5, (actions, size))
        scores = gain * np.array(counts)
        least, best = int(scores.sum(axis=1).max()), int(scores.max(axis=0).sum())
    level = Fraction(least + best, 2 * total)
    columns, limited = [], []
    for action in range(actions):
        rows = np.array([scores[other] - scores[action] for other in range(actions) if other != action])
        for v in rays_of(rows):
            columns.append(v)
            limited.append(float(scores[action] @ v) / total)
    wanted = most(information, np.array(counts) / total, columns, [limited], [float(level)])
    guess = rr.BayesSuccess(prior, gain=gain.T.tolist())
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.AtMost(guess, level)]).solve()
    proved(solution)
    assert solution.value == pytest.approx(wanted, rel=1e-8)
    assert guess.value(solution.mechanism).upper <= level


def test_with_local_privacy_the_optimum_is_below_both() -> None:
    prior = rr.Prior.from_counts([4, 3, 2])
    goal, leak, private = rr.Maximize(rr.MutualInformation(prior)), rr.privacy.MaximalLeakage("0.3"), rr.LDP(2)
    both = rr.Problem(goal, [leak, private]).solve()
    proved(both)
    alone = [rr.Problem(goal, [rule]).solve() for rule in (leak, private)]
    assert both.value < min(one.value for one in alone)


def test_what_is_known_besides_and_two_limits_at_once() -> None:
    """Information given another variable, under a gain and an information at another prior."""
    prior = rr.Prior.from_counts([4, 3, 2])
    other = rr.Prior.from_counts([1, 1, 4])
    goal = rr.Maximize(rr.ChiSquareInformation(prior))
    rules = [rr.AtMost(rr.BayesSuccess(prior), "0.6"), rr.AtMost(rr.MutualInformation(other), "0.2")]
    solution = rr.Problem(goal, rules).solve(time_limit=10)
    assert solution.status in ("certified", "bounded")
    assert solution.verdict is not None
    assert solution.verdict.status == "PROVED", solution.verdict.reason
    # Without the second limit more is possible; its tangents bound the optimum to some per cent.
    assert solution.bound <= rr.Problem(goal, rules[:1]).solve().value * (1 + 1e-9)
    assert solution.gap <= 0.1 * solution.bound
    for rule in rules:
        assert rule.objective.value(solution.mechanism).upper <= rule.number


def test_a_divergence_is_bounded_where_only_the_largest_information_was_known() -> None:
    prior = rr.Prior.from_counts([4, 3, 2])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.privacy.RenyiLDP(2, "0.5")]).solve(time_limit=4)
    assert solution.verdict is not None
    assert solution.verdict.status == "PROVED"
    # Information is at most epsilon: that was all.
    assert solution.value <= solution.bound < 0.25 < 0.5


@pytest.mark.parametrize("counts", [[1, 1], [3, 4, 5], [3, 4, 5, 6]])
def test_approximate_privacy_with_as_many_outputs_as_it_takes(counts: list[int]) -> None:
    """Columns whose entries are powers of gamma without a gap are enough: they are listed here by trying all."""
    size, gamma, delta = len(counts), 3.0, 0.2
    columns = [
        np.array([0.0 if n is None else gamma**-n for n in own])
        for own in product((None, *range(size)), repeat=size)
        if any(n is not None for n in own)
    ]
    over = [[max(v[x] - gamma * v[z], 0.0) for v in columns] for x, z in permutations(range(size), 2)]
    wanted = most(information, np.array(counts) / sum(counts), columns, over, [delta] * len(over))
    prior = rr.Prior.from_counts(counts)
    rule = rr.privacy.ApproximateLDP(gamma=3, delta="0.2") if hasattr(rr.privacy, "ApproximateLDP") else None
    rule = rule or rr.ApproximateLDP(gamma=3, delta="0.2")
    outputs = [f"o{y}" for y in range(2 * size)]
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule], inputs=prior.labels, outputs=outputs)
    solution = problem.solve()
    proved(solution)
    assert solution.value == pytest.approx(wanted, rel=1e-7)


def test_fixed_outputs_keep_a_true_bound_and_say_how_many_reach_it() -> None:
    prior = rr.Prior.from_counts([3, 4, 5, 6])
    goal, rule = rr.Maximize(rr.MutualInformation(prior)), rr.privacy.MaximalLeakage("0.4")
    free = rr.Problem(goal, [rule]).solve()
    fixed = rr.Problem(goal, [rule], inputs=prior.labels, outputs=["a", "b", "c"]).solve(time_limit=5)
    assert fixed.status == "bounded"
    assert fixed.verdict is not None
    assert fixed.verdict.status == "PROVED"
    assert fixed.value <= free.value <= fixed.bound + 1e-12
    assert any("any number of outputs" in note for note in fixed.warnings)


def test_losses_are_not_lifted_and_the_bound_is_true_all_the_same() -> None:
    """A gain that may be negative is not a limit on non-negative entries: another method takes the problem."""
    prior = rr.Prior.from_counts([2, 1])
    rule = rr.AtMost(rr.BayesSuccess(prior, gain=[[1, -1], [-1, 1]]), "0.5")
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve(time_limit=3)
    assert not solution.method.startswith("column_limits")
    assert solution.value <= solution.bound
