"""Whichever relaxation gives the bound, the certificate is of the declared objective, and the checker accepts it.

The most of an information under limits that columns add up to: the method `column_limits`, against programmes over columns
that are listed by other means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from builders import agreed
from scipy.optimize import linprog

import rropt as rr
from rropt.checker import check_bytes
from rropt.declare.constraints import Constraint
from rropt.program.programs import Program, Row
from rropt.solve.relaxations.fallback import FallbackMethod, Relaxation
from rropt.solve.relaxations.merge_outputs import is_merged, one_output_an_action
from rropt.studies.reports.statements import statement

PAIRS = rr.Pairs(["p", "q"], ["a", "b"])
PRIOR = rr.Prior.from_counts([[27, 80], [80, 120]], pairs=PAIRS)


def mixed() -> rr.Objective:
    return Fraction(7, 10) * rr.MutualInformation(PRIOR) + Fraction(3, 10) * rr.Trace()


CASES: dict[str, Callable[[], rr.Problem]] = {
    form: lambda form=form: rr.Problem(  # type: ignore[misc]
        rr.Maximize(mixed()), [rr.RLDP(1, confidence=rr.robust.ChiSquareSet(PRIOR, alpha="0.05"), form=form)]
    )
    for form in ("product", "exact")
}


@pytest.mark.parametrize("case", CASES)
def test_every_relaxation_has_a_certificate_of_the_declared_objective(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without time for the first relaxations the bound is that of a later one: its problem had another objective."""
    of_all, problem, found = FallbackMethod._relaxations, CASES[case](), []

    def alone(self: FallbackMethod, program: Program) -> list[Relaxation]:
        """The last ones, fewer each time."""
        if not found:
            found.extend(of_all(self, program))
        return [found.pop()]

    monkeypatch.setattr(FallbackMethod, "_relaxations", alone)
    seen = 0
    while found or not seen:
        solution = problem.solve("fallback", time_limit=20)
        assert solution.certificate is not None
        assert solution.certificate.document["problem"]["utility"] == problem.compile().payload()["utility"]
        verdict = check_bytes(solution.certificate.to_json().encode())
        assert verdict.status == "PROVED", verdict.reason
        seen += 1
    assert seen >= 2


MERGE_OUTPUTS_PRIOR = rr.Prior.from_counts({"a": 5, "b": 3, "c": 2})
GUESS = rr.BayesSuccess(MERGE_OUTPUTS_PRIOR)
KEPT: dict[str, Callable[[], Constraint]] = {
    "listed events": lambda: rr.ApproximateLDP("0.5", delta="0.1"),
    "information": lambda: rr.AtMost(rr.MutualInformation(MERGE_OUTPUTS_PRIOR), "0.1"),
    "chi-square": lambda: rr.AtMost(rr.ChiSquareInformation(MERGE_OUTPUTS_PRIOR), "0.2"),
    "gain": lambda: rr.AtMost(rr.BayesSuccess(MERGE_OUTPUTS_PRIOR, gain=[[2, 1, 0], [1, 2, 1], [0, 1, 2]]), "1.5"),
    "leakage": lambda: rr.privacy.MaximalLeakage("0.3"),
    "one output": lambda: rr.privacy.PointwiseMaximalLeakage(MERGE_OUTPUTS_PRIOR, epsilon="0.4"),
    "Renyi": lambda: rr.privacy.RenyiLDP(2, "0.5"),
    "capacity": lambda: rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"),
}
"""Constraints that every garbling of a mechanism keeps that keeps them."""


def asked(rule: Constraint, objective: rr.Objective = GUESS, outputs: object = "abc") -> rr.Problem:
    labels = None if outputs is None else list(str(outputs))
    return rr.Problem(rr.Maximize(objective), [rule], inputs=MERGE_OUTPUTS_PRIOR.labels, outputs=labels)


@pytest.mark.parametrize("name", KEPT)
def test_the_best_guess_is_the_largest_trace(name: str) -> None:
    """With an output for each input, and merged outputs named after the best guess."""
    rule = KEPT[name]()
    found = asked(rule).solve(gap=1e-7)
    trace = asked(rule, rr.Trace(MERGE_OUTPUTS_PRIOR)).solve(gap=1e-7)
    assert found.value == pytest.approx(trace.value, abs=1e-7)
    assert found.value <= found.bound <= found.value + 1e-6
    assert rule.violation(found.mechanism) <= 0
    if name not in ("Renyi", "capacity"):
        assert found.status == "certified", found.warnings
        assert statement(asked(rule), found.certificate).differences == ()


@pytest.mark.parametrize("name", KEPT)
def test_merged_outputs_keep_what_is_said_to_be_kept(name: str) -> None:
    rule, rng = KEPT[name](), np.random.default_rng(1)
    program = asked(rule).compile()
    assert is_merged(program)
    for _ in range(30):
        table = rng.integers(0, 50, (3, 3)) + 1
        matrix = [[Fraction(int(n), int(row.sum())) for n in row] for row in table]
        target = rng.integers(0, 3, 3).tolist()
        garbled = [
            [sum((q for q, z in zip(row, target, strict=True) if z == y), Fraction(0)) for y in range(3)]
            for row in matrix
        ]
        own, other = (
            rr.Mechanism.from_rationals(rows, inputs=MERGE_OUTPUTS_PRIOR.labels, outputs=MERGE_OUTPUTS_PRIOR.labels)
            for rows in (matrix, garbled)
        )
        assert rule.violation(other) <= max(rule.violation(own), Fraction(0)) + Fraction(1, 10**12)


def test_an_action_less_or_more_than_outputs() -> None:
    two = rr.BayesSuccess(MERGE_OUTPUTS_PRIOR, gain=[[1, -1], [-2, 1], [0, 3]], actions=["l", "r"])
    for outputs in ("abc", "ab", None):
        found = asked(rr.privacy.MaximalLeakage("0.3"), two, outputs).solve()
        assert found.status == "certified", found.warnings
        assert found.method.startswith("merge_outputs")
        # "r" for everyone is worth 2/5, and "l" where it is right one more; they may differ by the leakage.
        assert found.value == pytest.approx(0.4 + np.expm1(0.3), abs=1e-9)
    four = rr.BayesSuccess(MERGE_OUTPUTS_PRIOR, gain=[[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1]], actions=list("wxyz"))
    assert one_output_an_action(asked(rr.privacy.MaximalLeakage("0.3"), four).compile()) is None


def rows(program: Program, change: Callable[[list[Row]], list[Row]]) -> bool:
    return is_merged(replace(program, rows=tuple(change(list(program.rows)))))


def test_rows_about_sets_must_be_those_of_all_sets() -> None:
    program = asked(rr.ApproximateLDP("0.5", delta="0.1")).compile()
    assert len(program.rows) == 6 * 6
    assert rows(program, lambda all_rows: all_rows[::-1])
    assert not rows(program, lambda all_rows: all_rows[1:])
    assert not rows(program, lambda all_rows: [*all_rows, replace(all_rows[0], sense="=")])
    assert not rows(program, lambda all_rows: [replace(row, rhs=Fraction(-1, 10)) for row in all_rows])
    assert not rows(program, lambda all_rows: [*all_rows, Row("cell", "<=", Fraction(1, 2), ((0, 0, Fraction(1)),))])
    uneven = ((0, 0, Fraction(1)), (0, 1, Fraction(2)))
    assert not rows(program, lambda all_rows: [*all_rows, Row("uneven", "<=", Fraction(9), uneven)])
    # Of all outputs together the first input has one: more than a half.
    halves = [
        Row(f"half {mask}", "<=", Fraction(1, 2), tuple((0, y, Fraction(1)) for y in range(3) if mask >> y & 1))
        for mask in range(1, 7)
    ]
    assert not rows(program, lambda all_rows: [*all_rows, *halves])


@pytest.mark.parametrize("rule", [rr.Floor("0.1"), rr.EntropyRate("0.9"), rr.IdentificationRisk([5, 3, 2], "1/4")])
def test_what_merging_breaks_is_left_to_other_methods(rule: Constraint) -> None:
    assert one_output_an_action(asked(rule).compile()) is None


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
