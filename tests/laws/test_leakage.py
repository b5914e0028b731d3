"""Leakages and divergences: definitions against numbers of this file alone, and optima against other programmes.

Rivals are linear programmes by SciPy with rows written here, conic programmes by cvxpy, and Arimoto's algorithm.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from drawing import thinned
from scipy.optimize import linprog
from scipy.special import logsumexp

import rropt as rr
from rropt.checker import check_bytes
from rropt.model.divergences import concentrated_excess, power_sum, tangent
from rropt.studies.reports.statements import statement

LABELS = ("a", "b", "c", "d")
COUNTS = {"a": 40, "b": 30, "c": 20, "d": 10}
PRIOR = rr.Prior.from_counts(COUNTS)
P = np.array([0.4, 0.3, 0.2, 0.1])
K = len(LABELS)
FAR = np.abs(np.arange(K)[:, None] - np.arange(K)[None, :])
LOSS = rr.ExpectedLoss(PRIOR, FAR.tolist())
SECONDS = 60.0
TWO = ["a", "b"]


def drawn(seed: int, zeros: bool = False) -> rr.Mechanism:
    random = np.random.default_rng(seed)
    q = random.random((K, K)) ** 3 * (random.random((K, K)) > 0.3 * zeros) + 0.02 * (not zeros)
    q[:, 0] += 1e-3
    return rr.Mechanism.from_matrix(q / q.sum(axis=1, keepdims=True), inputs=LABELS, outputs=LABELS)


def renyi(q: np.ndarray, order: float) -> float:
    """The largest Renyi divergence of an order between two rows."""
    pairs = itertools.permutations(q, 2)
    return max(float(logsumexp(order * np.log(a) + (1 - order) * np.log(b)) / (order - 1)) for a, b in pairs)


def information(q: np.ndarray, p: np.ndarray) -> float:
    w = p @ q
    ratio = np.where(q > 0, q, 1.0) / np.where(w > 0, w, 1.0)
    return float((p[:, None] * q * np.where(q > 0, np.log(ratio), 0.0)).sum())


# -- definitions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", thinned(range(5), 2))
def test_definitions_are_those_of_floats(seed: int) -> None:
    mechanism = drawn(seed)
    q = mechanism.matrix
    pointwise = float((q / (P @ q)).max())
    assert float(rr.privacy.PointwiseMaximalLeakage(PRIOR, gamma=2).violation(mechanism) > 0) == (pointwise > 2)
    assert float(rr.privacy.BayesCapacity().value(mechanism)) == pytest.approx(q.max(axis=0).sum(), rel=1e-12)
    for order in ("1.25", "2", "7/2"):
        own = renyi(q, float(Fraction(order)))
        for share, holds in (("0.999", False), ("1.001", True)):
            rule = rr.privacy.RenyiLDP(order, Fraction(own) * Fraction(share))
            assert (rule.violation(mechanism) <= 0) == holds
    rho = max(renyi(q, order) / order for order in np.geomspace(1.0001, 500, 300))
    assert rr.privacy.ZeroConcentratedLDP(Fraction(rho) * Fraction("1.001")).violation(mechanism) <= 0
    assert rr.privacy.ZeroConcentratedLDP(Fraction(rho) * Fraction("0.999")).violation(mechanism) > 0


@pytest.mark.parametrize("seed", range(5))
def test_a_capacity_is_enclosed_and_no_prior_exceeds_it(seed: int) -> None:
    mechanism = drawn(seed, zeros=seed % 2 == 1)
    value = rr.privacy.ChannelCapacity().value(mechanism)
    assert value.upper - value.lower < 1e-9
    random = np.random.default_rng(seed)
    for _ in range(200):
        assert information(mechanism.matrix, random.dirichlet(np.full(K, 0.5))) <= float(value.upper) + 1e-12


def test_capacities_that_are_known() -> None:
    """The binary symmetric channel, the erasure channel, and k-RR."""
    known = rr.Mechanism.from_rationals([["9/10", "1/10"], ["1/10", "9/10"]], inputs=TWO, outputs=TWO)
    flip = -0.1 * np.log(0.1) - 0.9 * np.log(0.9)
    assert float(rr.privacy.ChannelCapacity().value(known)) == pytest.approx(np.log(2) - flip, abs=1e-12)
    erased = rr.Mechanism.from_rationals([["3/4", 0, "1/4"], [0, "3/4", "1/4"]], inputs=TWO, outputs=["a", "b", "e"])
    assert float(rr.privacy.ChannelCapacity().value(erased)) == pytest.approx(0.75 * np.log(2), abs=1e-12)


def test_nothing_leaks_from_a_constant_and_a_zero_alone_is_infinite() -> None:
    constant = rr.Mechanism.from_matrix(np.full((K, K), 0.25), inputs=LABELS, outputs=LABELS)
    assert rr.privacy.ChannelCapacity().value(constant).upper < 1e-30
    excluding = rr.Mechanism.from_rationals([[1, 0], ["1/2", "1/2"]], inputs=TWO, outputs=TWO)
    for rule in (rr.privacy.RenyiLDP(2, 10), rr.privacy.ZeroConcentratedLDP(10)):
        assert rule.violation(constant) <= 0
        assert rule.violation(excluding) > 0


@pytest.mark.parametrize("order", ["1.01", "2", "5/2", "20"])
def test_tangents_are_below_powers(order: str) -> None:
    number = Fraction(order)
    for ratio in (0.0, 1e-3, 0.4, 1.0, 7.5):
        slope, offset = tangent(ratio, number)
        for t in (Fraction(0), Fraction(1, 1000), Fraction(ratio), Fraction(3)):
            found = power_sum([t], [Fraction(1)], number)
            assert found is not None
            assert slope * t - offset <= found.upper
        if ratio > 0:
            assert float(slope) * ratio - float(offset) == pytest.approx(ratio ** float(number), rel=1e-9)


def test_orders_between_those_of_a_list_count() -> None:
    """Rows that keep a level at every whole order and not between them are refused."""
    one, other = [Fraction(1, 50), Fraction(49, 50)], [Fraction(1, 400), Fraction(399, 400)]
    q = np.array([[float(entry) for entry in row] for row in (one, other)])
    orders = np.linspace(1.001, 60, 60000)
    sums = np.array([np.log((q[0] ** a * q[1] ** (1 - a)).sum()) / (a - 1) / a for a in orders])
    top = float(sums.max())
    whole = max(sums[np.argmin(abs(orders - a))] for a in range(2, 60))
    assert whole < top * (1 - 1e-4), "the example does not show it"
    assert concentrated_excess(one, other, Fraction((whole + top) / 2))[0] > 0
    assert concentrated_excess(one, other, Fraction(top * (1 + 1e-6)))[0] <= 0


# -- optima ----------------------------------------------------------------------------------------------

Rules = Callable[[cp.Variable], list[cp.Constraint]]


def highest(q: cp.Variable) -> cp.Expression:
    return cp.sum(cp.max(q, axis=0))


def guessed(q: cp.Variable, gain: np.ndarray) -> cp.Expression:
    """The gain of the best guess from the output."""
    return sum(cp.max(cp.multiply(P[:, None], gain).T @ q[:, [y]]) for y in range(K))


def divergences(q: cp.Variable) -> list[cp.Expression]:
    """1 + the chi-square divergence of every two rows: their divergence of order 2 is its logarithm."""
    pairs = itertools.permutations(range(K), 2)
    return [sum(cp.quad_over_lin(q[x, y], q[z, y]) for y in range(K)) for x, z in pairs]


def redundant(q: cp.Variable, most: float) -> list[cp.Constraint]:
    """The capacity is the least largest divergence of a row from one distribution: Cover and Thomas, Theorem 13.1.1."""
    r = cp.Variable((1, K), nonneg=True)
    return [cp.sum(cp.rel_entr(q, np.ones((K, 1)) @ r), axis=1) <= most, cp.sum(r) == 1]


NEAR = np.maximum(2 - FAR, 0)
CASES: list[tuple[str, rr.Constraint, Rules]] = [
    (
        "pointwise",
        rr.privacy.PointwiseMaximalLeakage(PRIOR, epsilon="0.5"),
        lambda q: [q <= np.exp(0.5) * np.ones((K, 1)) @ (P[None, :] @ q)],
    ),
    ("maximal", rr.privacy.MaximalLeakage("0.5"), lambda q: [highest(q) <= np.exp(0.5)]),
    ("capacity of Bayes", rr.AtMost(rr.privacy.BayesCapacity(), "1.4"), lambda q: [highest(q) <= 1.4]),
    (
        "vulnerability",
        rr.AtMost(rr.BayesSuccess(PRIOR, gain=NEAR.tolist()), "1.45"),
        lambda q: [guessed(q, NEAR) <= 1.45],
    ),
    ("Renyi", rr.privacy.RenyiLDP(2, "0.5"), lambda q: [one <= np.exp(0.5) for one in divergences(q)]),
    ("capacity of Shannon", rr.AtMost(rr.privacy.ChannelCapacity(), "0.1"), lambda q: redundant(q, 0.1)),
]


@pytest.mark.parametrize(
    ("name", "rule", "rules"),
    [pytest.param(*case, id=case[0], marks=[pytest.mark.long] if case[0] == "Renyi" else []) for case in CASES],
)
def test_the_least_loss_is_that_of_a_conic_programme(name: str, rule: rr.Constraint, rules: Rules) -> None:
    q = cp.Variable((K, K), nonneg=True)
    goal = cp.sum(cp.multiply(P[:, None] * FAR, q))
    known = cp.Problem(cp.Minimize(goal), [cp.sum(q, axis=1) == 1, *rules(q)]).solve(solver="CLARABEL")
    found = rr.Problem(rr.Minimize(LOSS), [rule]).solve(time_limit=SECONDS)
    assert found.status == "certified"
    assert found.value == pytest.approx(known, abs=2e-6)
    assert found.bound == pytest.approx(known, abs=2e-6)
    assert found.mechanism is not None
    assert rule.violation(found.mechanism) <= 0
    assert found.certificate is not None
    assert check_bytes(found.certificate.to_json().encode()).status == "PROVED"


@pytest.mark.parametrize(
    "rule",
    [
        rr.privacy.RenyiLDP(2, "0.1"),
        rr.privacy.ZeroConcentratedLDP("0.05"),
        rr.AtMost(rr.privacy.ChannelCapacity(), "0.05"),
    ],
    ids=lambda rule: rule.kind,
)
def test_no_certificate_is_taken_for_one_of_a_problem_with_a_divergence(rule: rr.Constraint) -> None:
    """One without it has a mechanism that breaks it, and one of another level a bound that is not true."""
    plain = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(3)], inputs=LABELS, outputs=LABELS)
    strict = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(3), rule], inputs=LABELS, outputs=LABELS)
    other = plain.solve()
    assert other.certificate is not None
    assert not statement(strict, other.certificate).is_declared
    assert statement(plain, other.certificate).is_declared


@pytest.mark.parametrize("level", ["0.2", "0.05"])
@pytest.mark.parametrize(
    ("status", "rule"),
    [
        ("certified", lambda level: rr.privacy.RenyiLDP(2, level)),
        ("certified", lambda level: rr.AtMost(rr.privacy.ChannelCapacity(), level)),
        ("bounded", lambda level: rr.privacy.RenyiLDP(2, Fraction(level) + 21)),
    ],
)
def test_a_saved_solution_is_not_one_of_another_level(
    tmp_path: Path, level: str, status: str, rule: Callable[[str], rr.Constraint]
) -> None:
    """A certificate states divergences and capacities of up to 20 nats."""

    def problem(at: str) -> rr.Problem:
        return rr.Problem(rr.Maximize(rr.Trace()), [rule(at)], inputs=LABELS, outputs=LABELS)

    saved = problem("0.1").solve().save(tmp_path / "solution.json")
    assert rr.Solution.load(saved, problem("0.1")).status == status
    with pytest.raises(rr.InputError, match="another problem"):
        rr.Solution.load(saved, problem(level))


def capacity(q: np.ndarray) -> float:
    """By Arimoto's algorithm."""
    p = np.full(len(q), 1 / len(q))
    for _ in range(2000):
        w = p @ q
        d = np.where(q > 0, q * np.log(np.where(q > 0, q, 1) / np.where(w > 0, w, 1)), 0.0).sum(axis=1)
        p = p * np.exp(d)
        p /= p.sum()
    return float(d.max())


def test_the_least_capacity_at_a_loss_and_the_least_loss_at_a_capacity() -> None:
    """The one inverts the other; no mechanism of the exponential kind is better than the bound."""
    wanted = rr.Problem(
        rr.Minimize(rr.privacy.ChannelCapacity()), [rr.AtMost(LOSS, "0.5")], inputs=LABELS, outputs=LABELS
    ).solve(time_limit=SECONDS)
    assert wanted.gap is not None
    assert wanted.gap < 1e-6
    assert wanted.mechanism is not None
    assert capacity(wanted.mechanism.matrix) == pytest.approx(wanted.value, abs=1e-6)
    back = rr.Problem(
        rr.Minimize(LOSS), [rr.AtMost(rr.privacy.ChannelCapacity(), Fraction(wanted.value))], inputs=LABELS
    ).solve(time_limit=SECONDS)
    assert back.value == pytest.approx(0.5, abs=1e-4)
    for scale in np.linspace(0.2, 5, 20):
        q = np.exp(-scale * FAR)
        q /= q.sum(axis=1, keepdims=True)
        if (P[:, None] * FAR * q).sum() <= 0.5:
            assert capacity(q) >= wanted.bound - 1e-9


def test_the_least_bayes_capacity_is_that_of_a_linear_programme() -> None:
    """max_x Q[x, y] <= u_y, the sum of u least."""
    above = np.array([[float(i == x * K + y) for i in range(K * K)] for x in range(K) for y in range(K)])
    tops = np.array([[-float(y == z) for z in range(K)] for _ in range(K) for y in range(K)])
    loss = np.append((P[:, None] * FAR).ravel(), np.zeros(K))
    known = linprog(
        np.append(np.zeros(K * K), np.ones(K)),
        A_ub=np.vstack([np.hstack([above, tops]), loss]),
        b_ub=np.append(np.zeros(K * K), 0.5),
        A_eq=np.hstack([np.kron(np.eye(K), np.ones(K)), np.zeros((K, K))]),
        b_eq=np.ones(K),
    ).fun
    found = rr.Problem(rr.Minimize(rr.privacy.BayesCapacity()), [rr.AtMost(LOSS, "0.5")], inputs=LABELS).solve()
    assert found.status == "certified"
    assert found.value == pytest.approx(known, abs=1e-9)


@pytest.mark.long
def test_concentrated_privacy_lies_between_its_orders() -> None:
    """Its least loss is no less than that of one order alone, and no more than that of k-RR, which keeps it."""
    rule = rr.privacy.ZeroConcentratedLDP("0.2")
    found = rr.Problem(rr.Minimize(LOSS), [rule]).solve(time_limit=20)
    alone = rr.Problem(rr.Minimize(LOSS), [rr.privacy.RenyiLDP(2, "0.4")]).solve(time_limit=SECONDS)
    assert found.mechanism is not None
    assert alone.bound - 1e-9 <= found.bound <= found.value
    assert found.gap < 1e-3
    q = found.mechanism.matrix
    assert max(renyi(q, order) / order for order in np.geomspace(1.001, 300, 500)) <= 0.2 + 1e-12
    for epsilon in np.linspace(0.1, 2, 40):
        krr = rr.RandomizedResponse(list(LABELS), epsilon=str(round(epsilon, 4))).mechanism
        if rule.violation(krr) <= 0:
            assert float(LOSS.value(krr).upper) >= found.bound


@pytest.mark.parametrize("rule", [rr.privacy.RenyiLDP(2, "0.05"), rr.privacy.ZeroConcentratedLDP("0.01")])
def test_where_nothing_keeps_a_divergence_and_a_limit_a_proof_says_so(rule: rr.Constraint) -> None:
    """Beside LDP alone, whose bound is known and takes the place of the search's: not that of the proof."""
    prior = rr.Prior.from_counts(dict.fromkeys("abc", 1))
    rules = [rr.LDP(epsilon=1), rr.AtLeast(rr.Trace(prior), "0.5"), rule]
    found = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules, outputs=prior.labels).solve(time_limit=SECONDS)
    assert found.status == "infeasible"
    assert found.verdict is not None
    assert found.verdict.proved
