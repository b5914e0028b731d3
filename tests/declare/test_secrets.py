"""Secrets: what a release tells of a variable that depends on the input, against cvxpy and against enumeration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import rropt as rr
from rropt.declare.constraints import Constraint
from rropt.errors import InputError
from rropt.testing import run

DRAWS = 50
INPUTS = 4
CLOSE = 2e-5
"""How far Clarabel is from the optimum, at most: it claims eight digits."""
Array = np.ndarray
Measure = Callable[[rr.Prior, list[list[int]]], rr.Objective]


@dataclass(frozen=True)
class Draw:
    """Frequencies of four inputs, a secret of two to four values, a level and losses."""

    prior: rr.Prior
    secret: list[list[int]]
    epsilon: Fraction
    loss: list[list[int]]
    most: Fraction

    @classmethod
    def of(cls, seed: int) -> Draw:
        rng = np.random.default_rng(seed)
        prior = rr.Prior.from_counts(rng.integers(1, 30, INPUTS).tolist(), labels=list("abcd"))
        secret = rng.integers(0, 9, (INPUTS, int(rng.integers(2, 5)))) + 1
        loss = rng.integers(1, 9, (INPUTS, INPUTS))
        np.fill_diagonal(loss, 0)
        flat = (np.array(prior.weights) / sum(prior.weights)) @ loss
        most = Fraction(round(100 * float(flat.min()) * float(rng.uniform(0.3, 0.9))), 100)
        return cls(prior, secret.tolist(), Fraction(int(rng.integers(4, 40)), 10), loss.tolist(), most)

    @property
    def joint(self) -> Array:
        """P(s, x), values x inputs."""
        rows = np.array(self.secret, dtype=float)
        return np.array(self.prior.weights) / sum(self.prior.weights) * (rows / rows.sum(axis=1, keepdims=True)).T

    @property
    def costs(self) -> Array:
        """What each entry adds to the expected loss."""
        return np.diag(self.joint.sum(axis=0)) @ np.array(self.loss)

    def expected(self) -> rr.ExpectedLoss:
        return rr.ExpectedLoss(self.prior, self.loss)


def information(joint: Array, q: cp.Expression) -> cp.Expression:
    masses = joint.sum(axis=1, keepdims=True)
    return cp.sum(cp.rel_entr(joint @ q, masses @ (joint.sum(axis=0, keepdims=True) @ q)))


def chi_square(joint: Array, q: cp.Expression) -> cp.Expression:
    mean = joint.sum(axis=0, keepdims=True) @ q
    parts = [
        cp.quad_over_lin((joint[s : s + 1] @ q)[0, y], joint[s].sum() * mean[0, y])
        for s, y in product(range(len(joint)), range(q.shape[1]))
    ]
    return cp.sum(cp.hstack(parts)) - 1


def success(joint: Array, q: cp.Expression) -> cp.Expression:
    return cp.sum(cp.max(joint @ q, axis=0))


def capacity(joint: Array, q: cp.Expression) -> cp.Expression:
    return success(joint / joint.sum(axis=1, keepdims=True), q)


MEASURES: dict[str, tuple[Measure, Callable[[Array, cp.Expression], cp.Expression]]] = {
    "information": (lambda prior, secret: rr.MutualInformation(prior, secret=secret), information),
    "chi_square": (lambda prior, secret: rr.ChiSquareInformation(prior, secret=secret), chi_square),
    "success": (lambda prior, secret: rr.BayesSuccess(prior, secret=secret), success),
    "capacity": (lambda prior, secret: rr.privacy.BayesCapacity(prior, secret=secret), capacity),
}


def solved(draw: Draw, goal: Callable[[cp.Expression], cp.Expression], rules: Callable[[cp.Expression], list]) -> float:
    """The least goal of cvxpy over the mechanisms with LDP that keep rules."""
    q = cp.Variable((INPUTS, INPUTS), nonneg=True)
    gamma = float(np.exp(float(draw.epsilon)))
    ldp = [q[x] <= gamma * q[z] for x, z in product(range(INPUTS), repeat=2) if x != z]
    model = cp.Problem(cp.Minimize(goal(q)), [cp.sum(q, axis=1) == 1, *ldp, *rules(q)])
    model.solve(solver=cp.CLARABEL)
    return float(model.value)


def agrees(found: rr.Solution, optimum: float) -> None:
    """Certified, and the optimum is where both say."""
    assert found.status == "certified", (found.status, found.value, found.bound, found.warnings)
    assert abs(found.value - optimum) <= CLOSE * max(1.0, abs(optimum)), (found.value, optimum)


def least_of(name: str, draw: Draw) -> None:
    make, model = MEASURES[name]
    rules = [rr.LDP(draw.epsilon), rr.AtMost(draw.expected(), draw.most)]
    found = rr.Problem(rr.Minimize(make(draw.prior, draw.secret)), rules).solve()
    optimum = solved(
        draw,
        lambda q: model(draw.joint, q),
        lambda q: [cp.sum(cp.multiply(draw.costs, q)) <= float(draw.most)],
    )
    if np.isinf(optimum):
        assert found.status == "infeasible"
    else:
        agrees(found, optimum)


@pytest.mark.parametrize("name", MEASURES)
def test_the_least_that_a_release_tells_of_a_secret_is_that_of_cvxpy(name: str) -> None:
    for seed in range(DRAWS):
        least_of(name, Draw.of(seed))


def limited_by(name: str, draw: Draw) -> None:
    make, model = MEASURES[name]
    measure = make(draw.prior, draw.secret)
    ends = [measure.value(rr.RandomizedResponse(list("abcd"), gamma=gamma).mechanism) for gamma in ("1.001", 9)]
    most = Fraction(round(1000 * float(ends[0].upper / 2 + ends[1].lower / 2)) + 1, 1000)
    found = rr.Problem(rr.Minimize(draw.expected()), [rr.LDP(draw.epsilon), rr.AtMost(measure, most)]).solve()
    optimum = solved(
        draw, lambda q: cp.sum(cp.multiply(draw.costs, q)), lambda q: [model(draw.joint, q) <= float(most)]
    )
    agrees(found, optimum)


@pytest.mark.parametrize("name", MEASURES)
def test_the_least_loss_under_a_limit_on_a_secret_is_that_of_cvxpy(name: str) -> None:
    for seed in range(DRAWS):
        limited_by(name, Draw.of(seed))


def under_leakage(kind: str, draw: Draw, gamma: Fraction) -> None:
    rule: Constraint = (
        rr.privacy.PointwiseMaximalLeakage(draw.prior, gamma=gamma, secret=draw.secret)
        if kind == "pointwise"
        else rr.privacy.MaximalLeakage(gamma=gamma, prior=draw.prior, secret=draw.secret)
    )
    found = rr.Problem(rr.Minimize(draw.expected()), [rr.LDP(draw.epsilon), rule]).solve()
    given = draw.joint / draw.joint.sum(axis=1, keepdims=True)

    def limit(q: cp.Expression) -> list:
        if kind == "maximal":
            return [capacity(draw.joint, q) <= float(gamma)]
        mean = draw.joint.sum(axis=0, keepdims=True) @ q
        return [given[s : s + 1] @ q <= float(gamma) * mean for s in range(len(given))]

    agrees(found, solved(draw, lambda q: cp.sum(cp.multiply(draw.costs, q)), limit))


@pytest.mark.parametrize("kind", ["pointwise", "maximal"])
def test_the_least_loss_under_a_limit_on_leakage_is_that_of_cvxpy(kind: str) -> None:
    for seed in range(DRAWS):
        under_leakage(kind, Draw.of(seed), 1 + Fraction(seed + 1, 2 * DRAWS))


def most_of_rays(draw: Draw, worth: Callable[[Array], float]) -> float:
    """The largest sum of worths of columns under LDP: their directions have two values, and there are 2^k - 2."""
    gamma = float(np.exp(float(draw.epsilon)))
    rays = np.array(list(product([1.0, gamma], repeat=INPUTS))).T
    found = linprog([-worth(ray) for ray in rays.T], A_eq=rays, b_eq=np.ones(INPUTS))
    return float(-found.fun)


def worths(name: str, joint: Array) -> Callable[[Array], float]:
    """What a column adds."""
    masses = joint.sum(axis=1)

    def worth(column: Array) -> float:
        both = joint @ column
        mean = both.sum()
        if name == "information":
            return float((both * np.log(both / (masses * mean))).sum())
        if name == "chi_square":
            return float((both**2 / (masses * mean)).sum() - mean)
        return float((both if name == "success" else both / masses).max())

    return worth


@pytest.mark.parametrize("name", MEASURES)
def test_the_most_that_a_release_tells_of_a_secret_is_that_of_all_rays(name: str) -> None:
    for seed in range(DRAWS):
        draw = Draw.of(seed)
        measure = MEASURES[name][0](draw.prior, draw.secret)
        found = rr.Problem(rr.Maximize(measure), [rr.LDP(draw.epsilon)]).solve()
        agrees(found, most_of_rays(draw, worths(name, draw.joint)))


def test_the_bottleneck_keeps_more_of_the_input_than_any_mixture_of_rays() -> None:
    # Under a limit on the secret rays are not enough: a grid of columns gives a lower end, the limit left out an upper.
    for seed in range(3):
        draw = Draw.of(seed)
        about = rr.MutualInformation(draw.prior, secret=draw.secret)
        free = rr.Problem(rr.Maximize(rr.MutualInformation(draw.prior)), [rr.LDP(1)]).solve()
        most = Fraction(about.value(free.mechanism).upper / 2).limit_denominator(10**6)
        found = rr.Problem(rr.Maximize(rr.MutualInformation(draw.prior)), [rr.LDP(1), rr.AtMost(about, most)]).solve(
            gap="0.05", time_limit=10
        )
        rays = np.array(list(product(np.exp(np.linspace(0, 1, 4)), repeat=INPUTS))).T
        own, secret = worths("information", np.diag(draw.joint.sum(axis=0))), worths("information", draw.joint)
        grid = linprog(
            [-own(ray) for ray in rays.T],
            A_eq=rays,
            b_eq=np.ones(INPUTS),
            A_ub=[[secret(ray) for ray in rays.T]],
            b_ub=[float(most)],
        )
        assert float(about.value(found.mechanism).upper) <= float(most)
        assert -grid.fun <= found.bound + CLOSE
        assert found.bound <= free.bound


PRIOR = rr.Prior.from_counts({"a": 4, "b": 3, "c": 2, "d": 1})
SECRET = [[3, 1], [1, 1], [1, 3], [0, 1]]


@pytest.mark.parametrize("name", MEASURES)
def test_definition_and_form_agree(name: str) -> None:
    run(MEASURES[name][0](PRIOR, SECRET), "abcd", solve=False)


@pytest.mark.parametrize(
    "rule",
    [
        rr.privacy.PointwiseMaximalLeakage(PRIOR, gamma="1.2", secret=SECRET),
        rr.privacy.MaximalLeakage(gamma="1.2", prior=PRIOR, secret=SECRET),
        rr.AtMost(rr.MutualInformation(PRIOR, secret=SECRET), "0.01"),
        rr.AtMost(rr.MutualInformation(PRIOR, secret=SECRET), 0),
        rr.AtMost(rr.ChiSquareInformation(PRIOR, secret=SECRET), "0.01"),
    ],
    ids=str,
)
def test_definitions_and_forms_of_limits_agree(rule: Constraint) -> None:
    flat = [[Fraction(1, 4)] * 4] * 4
    run(rule, "abcd", "abcd", inside=flat, solve=False)


def test_a_secret_that_is_the_input_is_the_input() -> None:
    same = [[int(x == s) for s in range(4)] for x in range(4)]
    rules = [rr.LDP(1)]
    for make in (rr.MutualInformation, rr.ChiSquareInformation, rr.BayesSuccess):
        plain = rr.Problem(rr.Maximize(make(PRIOR)), rules).solve()
        about = rr.Problem(rr.Maximize(make(PRIOR, secret=same)), rules).solve()
        assert abs(plain.value - about.value) <= 1e-6


def test_a_solution_is_of_the_inputs_alone_and_its_certificate_of_the_secret_too(tmp_path: Path) -> None:
    problem = rr.Problem(
        rr.Minimize(rr.MutualInformation(PRIOR, secret=SECRET, units="bits")),
        [rr.AtLeast(rr.Trace(PRIOR), "0.7"), rr.LDP(3)],
    )
    solution = problem.solve()
    assert solution.status == "certified"
    assert solution.verdict.by == "kernel and checker"
    assert solution.mechanism.inputs == tuple("abcd")
    assert solution.certificate.document["problem"]["inputs"] == [*"abcd", "secret: 0", "secret: 1"]
    assert solution.certificate.mechanism() == solution.mechanism
    assert "guarantee  LDP (epsilon 3)\n" in str(solution)
    solution.save(tmp_path / "solution.json")
    assert rr.Solution.load(tmp_path / "solution.json", problem) == solution
    problem.save(tmp_path / "problem.toml")
    assert rr.Problem.load(tmp_path / "problem.toml") == problem


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([[1, 0], [1, 0], [1, 0], [1, 0]], "has the probability 0"),
        ([[1], [1], [1], [1]], "one value"),
        ([[1, -1], [1, 1], [1, 1], [1, 1]], "negative"),
        ([[0, 0], [1, 1], [1, 1], [1, 1]], "row of 'a' is 0"),
        ([[1, 1]] * 3, "3 x 2"),
    ],
)
def test_tables_that_are_no_secret_are_refused(table: list[list[int]], said: str) -> None:
    for make in (rr.MutualInformation, rr.BayesSuccess, rr.ChiSquareInformation):
        with pytest.raises(InputError, match=said):
            make(PRIOR, secret=table)


def test_what_does_not_go_with_a_secret_is_refused() -> None:
    about = rr.MutualInformation(PRIOR, secret=SECRET)
    with pytest.raises(InputError, match="given"):
        rr.MutualInformation(PRIOR, secret=SECRET, given=[[4], [3], [2], [1]])
    with pytest.raises(InputError, match="does not go with"):
        rr.Problem(rr.Minimize(rr.MinimaxRisk(PRIOR)), [rr.LDP(1), rr.AtMost(about, "0.01")])
    with pytest.raises(InputError, match="belong together"):
        rr.privacy.BayesCapacity(PRIOR)
    with pytest.raises(InputError, match="cannot be a limit below"):
        rr.AtLeast(about, "0.01")
