"""Level 0 is perfect secrecy: what is released does not depend on the input, and the optimum among that is proved."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import rropt as rr

PRIOR = rr.Prior.from_counts({"a": 3, "b": 2, "c": 1})
LOSS = [[(x - y) ** 2 for y in range(3)] for x in range(3)]
SECRET = {
    "epsilon": rr.LDP(epsilon=0),
    "gamma": rr.LDP(gamma=1),
    "property": rr.LDP(0, properties=[["a"]]),
    "metric": rr.MetricDP([("a", "b"), ("b", "c", 3)], epsilon=0),
    "groups": rr.MaximalRLDP(0, groups=["u", "u", "v"]),
}
GOALS = {
    "information": (rr.Maximize(rr.MutualInformation(PRIOR)), 0),
    "bits": (rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), 0),
    "chi-square": (rr.Maximize(rr.ChiSquareInformation(PRIOR)), 0),
    "least": (rr.Minimize(rr.MutualInformation(PRIOR)), 0),
    "guess": (rr.Maximize(rr.BayesSuccess(PRIOR)), Fraction(1, 2)),
    "trace": (rr.Maximize(rr.Trace(PRIOR)), Fraction(1, 2)),
    "loss": (rr.Minimize(rr.ExpectedLoss(PRIOR, LOSS)), Fraction(2, 3)),
}
FURTHER = {
    "pattern": ("loss", rr.patterns.Bistochastic(), Fraction(4, 3)),
    "kept": ("trace", rr.Invariant(PRIOR), Fraction(14, 36)),
    "floor": ("loss", rr.Floor({"a": "1/5"}), Fraction(11, 15)),
    "row": ("loss", rr.LinearConstraint([[-1, 0, 0], [0] * 3, [0] * 3], "<=", "-3/10"), Fraction(23, 30)),
    "ratio": ("trace", rr.LDP(gamma=3), Fraction(1, 2)),
    "form": ("loss", rr.patterns.UniformOffDiagonal(), Fraction(4, 3)),
}


def constant(solution: rr.Solution) -> bool:
    found = solution.mechanism
    assert found is not None
    return all(len(set(found.column(y))) == 1 for y in range(len(found.outputs)))


@pytest.mark.parametrize(("goal", "rule"), list(product(GOALS, SECRET)))
def test_the_best_constant_is_certified(goal: str, rule: str) -> None:
    wanted, value = GOALS[goal]
    solution = rr.Problem(wanted, [SECRET[rule]]).solve()
    assert (solution.status, constant(solution), solution.epsilon) == ("certified", True, 0)
    assert solution.value == pytest.approx(float(value), abs=1e-12)
    assert solution.bound == pytest.approx(float(value), abs=1e-12)


@pytest.mark.parametrize("further", FURTHER)
def test_other_constraints_are_kept_beside_it(further: str) -> None:
    goal, rule, value = FURTHER[further]
    solution = rr.Problem(GOALS[goal][0], [SECRET["epsilon"], rule]).solve()
    assert (solution.status, constant(solution)) == ("certified", True)
    assert solution.value == pytest.approx(float(value), abs=1e-12)


def test_entropy_is_kept_beside_it() -> None:
    """Rounding moves all rows together, so that the entropy floor is met on a row that is shared."""
    solution = rr.Problem(GOALS["loss"][0], [rr.LDP(0), rr.EntropyRate("0.3")]).solve()
    assert (solution.status, constant(solution)) == ("certified", True)


def test_what_cannot_be_is_proved() -> None:
    assert rr.Problem(GOALS["loss"][0], [rr.LDP(0), rr.Floor("0.6")]).solve().status == "infeasible"


def test_inputs_without_a_path_are_alike_in_groups() -> None:
    """Perfect secrecy inside each group, as in k-anonymity: the best group of outputs for each."""
    rule = rr.MetricDP([("a", "b"), ("c", "d")], epsilon=0, connected=False)
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=list("abcd")).solve()
    assert solution.status == "certified"
    assert solution.value == pytest.approx(2, abs=1e-9)
    found = solution.mechanism
    assert found is not None
    table = [[found.entry(x, y) for y in range(4)] for x in range(4)]
    assert table[0] == table[1] != table[2] == table[3]


@pytest.mark.parametrize("informed", ["counts", "all", "known"])
def test_robust_secrecy(informed: str) -> None:
    """Over a set of distributions all inputs are alike; where one distribution is known, the outputs may still tell
    what is independent of the sensitive value."""
    pairs = rr.Pairs(2, 2)
    table = [[30, 20], [10, 40]]
    known = rr.Prior.from_counts(table, pairs=pairs)
    over = {
        "counts": rr.robust.ChiSquareSet(table),
        "all": rr.robust.EveryDistribution(pairs),
        "known": rr.robust.KnownDistribution(known),
    }[informed]
    rule = rr.RLDP(0, over)
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=known.labels).solve()
    assert (solution.status, constant(solution)) == ("certified", informed != "known")
    assert solution.value == pytest.approx(8 / 3 if informed == "known" else 1)
    assert solution.mechanism is not None
    assert rule.violation(solution.mechanism) <= 0


def test_randomized_response_and_audit() -> None:
    even = rr.RandomizedResponse(4, epsilon=0)
    assert set(even.mechanism.matrix.ravel()) == {0.25}
    report = rr.audit(even, epsilon=0)
    assert report.satisfies
    assert report.admissible
    assert rr.ordering.improve(even, gamma=1).mechanism.privacy_ratio == 1
    assert rr.audit([["1/2", "1/2"], ["3/5", "2/5"]], epsilon=0).satisfies is False


def test_files_and_guarantees(tmp_path) -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(0)], inputs=list("abc"))
    text = rr.problem_file.problem_to_toml(problem)
    assert "epsilon = 0" in text
    assert rr.problem_file.parse_problem(text) == problem
    solution = problem.solve()
    assert solution.certificate is not None
    assert rr.check(solution.certificate.save(tmp_path / "c.json")).proved
    assert [one.parameter for one in solution.sensitivity()] == []


@pytest.mark.parametrize(
    "declare",
    [
        lambda: rr.ApproximateLDP(0, delta="0.1"),
        lambda: rr.RLDP(0, rr.robust.ChiSquareSet([[3, 2], [1, 4]]), form="exact"),
        lambda: rr.mechanisms.SubsetSelection(4, epsilon=0),
        lambda: rr.mechanisms.UnaryEncoding(4, gamma=1),
    ],
)
def test_where_it_is_not_taken_the_message_says_what_to_declare(declare) -> None:
    with pytest.raises(rr.InputError, match=r"LDP\(0\)"):
        declare()
    with pytest.raises(rr.InputError, match="below 0"):
        rr.LDP(-1)


KNOWN = {
    "auto": [[8, 10, 10], [28, 15, 47], [24, 21, 43]],
    "columns": [[8, 10], [10, 28], [15, 47]],
}
"""Counts by method. Of the second ones the sums of conditional frequencies are one but for rounding."""


@pytest.mark.parametrize("method", KNOWN)
@pytest.mark.filterwarnings("error")
def test_what_is_sensitive_is_secret_where_one_distribution_is_known(method: str) -> None:
    """Rows that bind each other leave no slack: boxes overflowed, and constants counted as outside of the cone."""
    counts = KNOWN[method]
    pairs = rr.Pairs([f"s{i}" for i in range(3)], [f"u{i}" for i in range(len(counts[0]))])
    known = rr.Prior.from_counts(counts, pairs=pairs)
    rule = rr.RLDP(0, rr.robust.KnownDistribution(known))
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(known)), [rule]).solve(method=method)
    assert solution.status == "certified"
    found = solution.mechanism
    assert found is not None
    assert rule.violation(found) <= 0
    answers = []
    for s, row in enumerate(counts):
        shares = [Fraction(count, sum(row)) for count in row]
        columns = [found.column(y)[s * len(row) :] for y in range(len(found.outputs))]
        answers.append([sum(p * q for p, q in zip(shares, column, strict=False)) for column in columns])
    assert answers[0] == answers[1] == answers[2], "what is released says nothing of what is sensitive"
    assert solution.value is not None
    assert solution.value > 0.1
