"""The exact cone of robust LDP: its oracle, its membership numbers, its method, its proofs, and levels of mechanisms."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import thinned

import rropt as rr
from rropt.comparison.robust_level import robust_level
from rropt.model.distributions.worst_ratio import Adversary
from rropt.program.confidence_cones import ConfidenceCone
from rropt.solve.engine.method import SolveLimits
from rropt.solve.registry import method_named
from rropt.solve.robust_exact.cut_program import CutTree

F = Fraction
REFERENCE = list(csv.DictReader((Path(__file__).resolve().parents[2] / "data" / "rldp_reference.csv").open()))
TABLES = {
    "full": [[1, 4, 465], [1, 62, 80], [59, 298, 30]],
    "zero cells": [[35, 3, 130], [0, 24, 209]],
    "an empty row": [[3, 0], [1, 5], [0, 0]],
    "single cells": [[0, 0, 5], [7, 0, 0]],
    "rare": [[1, 15], [983, 1]],
}


def confidence(table: list[list[int]]) -> rr.robust.ChiSquareSet:
    return rr.robust.ChiSquareSet(table, alpha="0.05")


def cone_of(table: list[list[int]], epsilon: str, form: str) -> ConfidenceCone:
    known = confidence(table)
    cone = rr.RLDP(epsilon, known, form=form).cone(known.pairs.labels)
    assert isinstance(cone, ConfidenceCone)
    return cone


def columns_for(size: int, width: int, seed: int) -> np.ndarray:
    """Columns of many kinds: random, with wide ranges, 0-1, constant, constant on a block."""
    rng = np.random.default_rng(seed)
    found = rng.random((7, size)) ** np.array([1, 1, 4, 20, 1, 1, 1])[:, None]
    found[4] = np.round(found[4])
    found[5] = 1
    found[6, :width] = found[6, 0]
    return found


def conic_worst(cone: ConfidenceCone, v: np.ndarray, gamma: float, s: int, z: int) -> float:
    """max R.v - gamma T.v over the affordable pairs, by a conic solver."""
    import cvxpy as cp

    conditional = np.array([float(value) for value in cone.conditional])
    masses = [float(value) for value in cone.masses]
    budget = float(np.sqrt(float(cone.radius) + 1) - 1)
    rules, prices, parts = [], [], []
    for at in (s, z):
        block = list(cone.blocks[at])
        weights = cp.Variable(len(block), nonneg=True)
        rules.append(cp.sum(weights) == 1)
        parts.append(weights @ v[block])
        seen = [i for i, x in enumerate(block) if conditional[x] > 0]
        if seen:
            terms = cp.hstack([conditional[block[i]] * cp.power(weights[i], -0.5) for i in seen])
            height = cp.Variable(len(seen))
            rules.append(height >= terms)
            prices.append((masses[at], masses[at] * cp.norm(height)))
    if cone.form == "exact" and prices:
        rules.append(sum(price for _, price in prices) <= budget + sum(mass for mass, _ in prices))
    if cone.form == "product":
        rules += [price <= budget + mass for mass, price in prices]
    problem = cp.Problem(cp.Maximize(parts[0] - gamma * parts[1]), rules)
    problem.solve(solver="CLARABEL")
    return float(problem.value)


@pytest.mark.parametrize("form", ["exact", "product"])
@pytest.mark.parametrize("name", thinned(TABLES, 2))
def test_the_oracle_is_the_conic_optimum(name: str, form: str) -> None:
    """Its pairs are affordable, so `value` is attained; its numbers prove `bound`; both meet, and a conic solver agrees
    as far as it is exact itself."""
    cone = cone_of(TABLES[name], "1", form)
    columns = columns_for(len(cone.counts), len(cone.blocks[0]), 3)
    for gamma in (1.3, 7.4):
        found = cone.adversary.worst(columns, gamma)
        tops = columns.max(axis=1)[:, None]
        assert (found.bound - found.value <= 1e-9 * gamma * tops + 1e-80).all()
        assert (found.bound - found.value >= -1e-12 * gamma * tops).all()
        for n, at in ((0, 0), (2, len(cone.pairs) - 1), (4, 0), (6, 1)):
            s, z = cone.pairs[at]
            conic = conic_worst(cone, columns[n], gamma, s, z)
            assert found.value[n, at] == pytest.approx(conic, abs=3e-5 * gamma * max(tops[n, 0], 1e-3))
        for n, (at, (s, z)) in enumerate(zip(range(len(cone.pairs)), cone.pairs, strict=False)):
            r, t = (
                [round(weight * 2**60) for weight in weights[n % 7, at].tolist()][: len(cone.blocks[block])]
                for weights, block in ((found.first, s), (found.second, z))
            )
            assert cone.affordable(s, z, r, t)


def test_kinks_take_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that crosses the kink of an unobserved extreme cell ends there. Without that, a fifth of the columns took
    up to fifty steps of halving, a third of the time of a solve."""
    monkeypatch.setattr("rropt.model.distributions.worst_ratio.STEPS", 24)
    counts = np.array([[120, 0, 40, 45], [0, 90, 60, 83], [100, 79, 0, 0], [0, 150, 183, 50]])
    masses = counts.sum(axis=1)
    blocks = np.arange(counts.size).reshape(counts.shape).tolist()
    adversary = Adversary(blocks, (counts / masses[:, None]).ravel(), masses / 1000, 0.004, False)
    rng = np.random.default_rng(0)
    columns = rng.uniform(1.0, np.e, (2000, counts.size))
    found = adversary.worst(columns, np.e)
    missed = (found.bound - found.value).max(axis=1) > 1e-9 * np.e * columns.max(axis=1)
    assert missed.mean() < 0.01


@pytest.mark.parametrize("form", ["exact", "product"])
@pytest.mark.parametrize("name", TABLES)
def test_membership_numbers_prove_the_excess(name: str, form: str) -> None:
    """`excess`, an upper bound in directed arithmetic, is that of the worst affordable pair up to 1e-9."""
    cone = cone_of(TABLES[name], "3/4", form)
    for v in columns_for(len(cone.counts), len(cone.blocks[0]), 5):
        exact = [F(float(value)) for value in v]
        said = float(cone.excess(exact))
        attained = float(cone.adversary.worst(v[None, :], float(cone.level.ratio)).value.max())
        assert attained - 1e-12 * v.max() <= said <= attained + 1e-9 * v.max()
    assert cone.excess([F(0)] * len(v)) == 0
    # The constant column is inside by gamma - 1, and any other numbers prove less.
    assert float(cone.excess([F(1)] * len(v))) == pytest.approx(1 - float(cone.level.ratio), abs=1e-12)
    numbers = [(nu + F(1, 50), mu - F(1, 50)) for nu, mu in cone.membership(exact)]
    assert cone.proved_excess(exact, numbers) >= cone.excess(exact)


def test_a_pair_beyond_the_budget_is_no_cut() -> None:
    cone = cone_of(TABLES["full"], "1", "exact")
    assert cone.affordable(0, 1, [1, 4, 465], [1, 62, 80])
    assert not cone.affordable(0, 1, [40, 4, 426], [1, 62, 80])
    # An observed cell without weight costs everything.
    assert not cone.affordable(0, 1, [0, 5, 465], [1, 62, 80])
    # Each by itself within the budget, both together not: product allows for it, exact does not.
    worst = cone_of(TABLES["full"], "1", "product").adversary.worst(np.array([[0, 0, 1, 1, 0, 0, 0, 0, 0]]) + 0.0, 2.0)
    r, t = ([round(w * 2**60) for w in weights[0, 0].tolist()] for weights in (worst.first, worst.second))
    assert cone_of(TABLES["full"], "1", "product").affordable(0, 1, r, t)
    assert not cone.affordable(0, 1, r, t)


def reference(size: str, instance: int, epsilon: float) -> tuple[rr.robust.ChiSquareSet, float]:
    """(the confidence set of a row of the reference file, PolyOpt's certified value)."""
    key = (size, str(instance), epsilon)
    row = next(row for row in REFERENCE if (row["size"], row["instance"], float(row["epsilon"])) == key)
    shape = [int(part) for part in size.split("x")]
    return confidence(np.reshape([int(n) for n in row["counts"].split()], shape).tolist()), float(
        row["polyopt_mutual_information"]
    )


def solved(known: rr.robust.ChiSquareSet, epsilon: object, form: str, gap: float, limit: float = 3600) -> rr.Solution:
    goal = rr.Maximize(rr.MutualInformation(known.counts))
    return rr.Problem(goal, [rr.RLDP(str(epsilon), known, form=form)]).solve(gap=gap, time_limit=limit)


GAINS = [("2x2", 1, 1, 0.46)]
LONG_GAINS = [("2x3", 0, 1, 2.95), ("2x3", 0, 4, 0.48), ("3x2", 1, 1, 1.26), ("3x3", 0, 1, 5.29), ("3x4", 0, 1, 19.2)]


@pytest.mark.parametrize(
    ("size", "instance", "epsilon", "gain"),
    [*GAINS, *(pytest.param(*case, marks=pytest.mark.long) for case in LONG_GAINS)],
)
def test_optima_are_certified_and_at_their_level(size: str, instance: int, epsilon: float, gain: float) -> None:
    """The gain over PolyOpt in percent, as measured by another program; PolyOpt <= product <= exact; and some P of F
    makes the optimum exactly as private as it must be."""
    known, polytope = reference(size, instance, epsilon)
    gap = 1e-5 if size == "3x4" else 1e-6
    best = solved(known, epsilon, "exact", gap)
    assert best.status == "certified", best.warnings
    assert 100 * (best.value / polytope - 1) == pytest.approx(gain, abs=0.006 if gain < 10 else 0.06)
    middle = solved(known, epsilon, "product", gap)
    assert middle.status == "certified", middle.warnings
    assert polytope <= middle.bound + 1e-12
    assert middle.value <= best.bound
    if size.endswith("2"):
        assert middle.value <= polytope + 1e-9
    level = robust_level(best.mechanism, known)
    assert level.epsilon.upper <= F(str(epsilon)) + F(1, 10**10)
    assert level.epsilon.lower >= F(str(epsilon)) - F(1, 10**9)
    assert level.witness is not None
    assert known.contains(list(level.witness), surely=True)


def square(seed: int, shape: tuple[int, int]) -> rr.robust.ChiSquareSet:
    rng = np.random.default_rng(seed)
    size = shape[0] * shape[1]
    return confidence(rng.multinomial(1000, rng.dirichlet(np.full(size, 0.5))).reshape(shape).tolist())


@pytest.mark.long
def test_four_by_four_has_a_true_bound_and_gains() -> None:
    known = square(100, (4, 4))
    found = solved(known, 2, "exact", 0.18, 3600)
    assert found.status == "certified"
    assert found.verdict is not None
    assert found.verdict.proved
    assert found.value <= found.bound
    assert found.bound - found.value < 0.3
    polytope = solved(known, 2, "polytope", 1e-6)
    assert polytope.status == "certified"
    assert found.value > polytope.bound


def test_a_short_solve_still_has_a_true_bound() -> None:
    known, polytope = reference("3x3", 0, 1)
    found = solved(known, 1, "exact", 1e-9, 0.5)
    assert found.verdict is not None
    assert found.verdict.proved
    # The optimum, certified to 1e-9 in three seconds; a machine that is fast enough ends there in the grace, too.
    assert found.value <= 0.4591291563
    assert found.bound >= 0.4591291554
    assert polytope < found.bound
    assert found.status == ("certified" if found.bound - found.value <= 1e-9 else "bounded")


def test_a_value_that_was_never_observed_is_bounded_at_a_high_level() -> None:
    """Its entry has no limit of its own: what lies above all that cuts allow must be shown empty, by rays on top of
    multipliers that alone leave it unbounded. The search used to split that part for ever, whatever the time limit."""
    known, polytope = reference("3x2", 0, 8)
    assert 0 in known.counts.weights
    found = solved(known, 8, "exact", 4e-4, 20)
    assert found.status == "certified", found.warnings
    assert found.value >= polytope - 4e-4


@pytest.mark.long
def test_boxes_that_are_empty_by_a_long_ray_are_closed() -> None:
    """Rays of HiGHS of a size of 1e4 left rounding of 1e-12 at an input without a limit, and seemed to show nothing."""
    known, _ = reference("3x4", 2, 0.5)
    assert 0 in known.counts.weights
    found = solved(known, 0.5, "exact", 2.7628e-4, 200)
    assert found.status == "certified", found.warnings
    # What another run proved of the optimum.
    assert found.value <= 0.69155085
    assert found.bound >= 0.69135784


def test_without_time_the_entropy_of_the_input_bounds() -> None:
    """And the certificate says so: no tree that was begun is better."""
    rng = np.random.default_rng(6)
    known = confidence(rng.integers(1, 30, (6, 6)).tolist())
    found = solved(known, 6, "exact", 1e-6, 0.05)
    weights = np.array(known.counts.weights) / sum(known.counts.weights)
    assert found.status == "bounded"
    assert found.bound == pytest.approx(float(-(weights * np.log(weights)).sum()), abs=1e-9)
    assert found.verdict is not None
    assert found.verdict.proved
    assert "mode known" in found.certificate.document["proof"]["lines"]


# -- certificates --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    known, _ = reference("2x2", 1, 1)
    found = solved(known, 1, "exact", 1e-4)
    assert found.certificate is not None
    return found.certificate.document


# -- levels --------------------------------------------------------------------------------------------


def test_a_mechanism_a_little_past_its_epsilon_is_caught() -> None:
    known, _ = reference("2x3", 0, 1)
    past = solved(known, "1.000000001", "exact", 1e-4)
    level = robust_level(past.mechanism, known)
    assert level.holds(1) is False
    assert rr.RLDP("1.000000001", known, form="exact").violation(past.mechanism) <= 0
    assert rr.RLDP(1, known, form="exact").violation(past.mechanism) > 0
    assert level.epsilon.upper - level.epsilon.lower < F(1, 10**10)
    assert level.witness is not None
    # The witness by hand, in rationals.
    pairs = known.pairs
    s, z = pairs.sensitive.index(level.likely), pairs.sensitive.index(level.unlikely)
    column = past.mechanism.column(past.mechanism.outputs.index(level.output))
    means = []
    for at in (s, z):
        own = list(level.witness)[pairs.block(at)]
        means.append(sum(p * v for p, v in zip(own, column[pairs.block(at)], strict=True)) / sum(own))
    assert float(means[0] / means[1]) == pytest.approx(float(np.exp(1.000000001)), abs=1e-9)
    assert known.joint.statistic(level.witness) <= known.excess.lower


def test_levels_of_plain_mechanisms() -> None:
    known = confidence(TABLES["zero cells"])
    labels = known.pairs.labels
    blind = robust_level(rr.Mechanism.from_matrix([[F(1, 3), F(2, 3)]] * 6, inputs=labels), known)
    assert blind.epsilon.lower == 0
    assert blind.epsilon.upper < F(1, 10**9)
    assert blind.witness is None
    tells = robust_level(rr.Mechanism.from_matrix([[1, 0]] * 3 + [[0, 1]] * 3, inputs=labels), known)
    assert tells.epsilon.lower == tells.epsilon.upper == float("inf")
    assert tells.holds(20) is False
    response = rr.RandomizedResponse(labels, epsilon=1.5)
    level = robust_level(response, known)
    # Over one set of distributions less is told of S than of X.
    assert 0 < level.epsilon.lower < level.epsilon.upper < F(3, 2)
    secret = rr.robust.SecretRandomizedResponse(known.pairs, epsilon=1.5).to_mechanism()
    told = robust_level(secret, known).epsilon
    assert told.upper <= F(3, 2) + F(1, 10**10)
    assert told.lower >= F(3, 2) - F(1, 10**9)


def test_a_value_never_observed_may_be_anything() -> None:
    """Block three was never seen: any distribution of U is possible there, in a P of F."""
    known = confidence(TABLES["an empty row"])
    labels = known.pairs.labels
    matrix = [[F(1, 2), F(1, 2)]] * 4 + [[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)]]
    level = robust_level(rr.Mechanism.from_matrix(matrix, inputs=labels), known)
    assert float(level.epsilon.upper) == pytest.approx(np.log(2), abs=1e-9)
    assert float(level.epsilon.lower) == pytest.approx(np.log(2), abs=1e-9)
    zero = [[F(1, 2), F(1, 2)]] * 4 + [[F(1), F(0)], [F(1, 2), F(1, 2)]]
    infinite = robust_level(rr.Mechanism.from_matrix(zero, inputs=labels), known)
    assert infinite.epsilon.lower == float("inf")
    assert infinite.witness is not None
    assert known.contains(list(infinite.witness), surely=True)


# -- what is refused -----------------------------------------------------------------------------------


def test_what_does_not_fit_is_said_in_one_line() -> None:
    known = confidence(TABLES["zero cells"])
    constraint = rr.RLDP(1, known, form="exact")
    goal = rr.Maximize(rr.MutualInformation(known.counts))
    with pytest.raises(rr.InputError, match="cannot be combined with other constraints; leave the others out"):
        rr.Problem(goal, [constraint, rr.LDP(1)])
    with pytest.raises(rr.NoMethod, match="columns does not take the exact cone of a confidence set"):
        rr.Problem(goal, [constraint]).solve(method="columns")
    with pytest.raises(rr.NoMethod, match="robust_exact is for robust LDP in form exact or product"):
        rr.Problem(goal, [rr.LDP(1)]).solve(method="robust_exact")
    with pytest.raises(rr.InputError, match=r"robust_level, inputs: .* among the labels"):
        robust_level(rr.Mechanism.from_matrix([[1], [1]]), known)
    assert "no privacy constraint is declared" not in rr.Problem(goal, [constraint]).warnings()
    assert constraint.describe().endswith("form exact")


def test_an_interrupted_method_answers() -> None:
    """Stopped before its first search it has a mechanism all the same, and a bound of the time that proofs may take."""
    known, _ = reference("3x3", 0, 1)
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(known.counts)), [rr.RLDP(1, known, form="exact")])
    answer = method_named("robust_exact").solve(
        problem.compile(), SolveLimits(gap=1e-6, interrupted=lambda: True, method=method_named)
    )
    assert answer.claim.stopped == "interrupted"
    assert answer.dual is not None
    assert np.isfinite(answer.dual.evidence_of(CutTree).bound)
    assert answer.matrix is not None
