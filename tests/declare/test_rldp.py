"""The constraint RLDP: its rows are the cone of Theorem 11 for s1 != s2, and what satisfies them is private for F."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from drawing import exact, mixed, near_flat_rows, random_rows
from scipy import optimize

import rropt as rr
from rropt.declare.constraints import from_keys
from rropt.model.distributions import Confidence
from rropt.program.block_cones import RobustCone
from rropt.program.cones import GraphCone, PolyhedralCone, cone_rows

F = Fraction
PAIRS = rr.Pairs(["f", "m"], ["a", "b", "c"])
COUNTS = rr.Prior.from_counts([[35, 3, 130], [0, 24, 209]], pairs=PAIRS)
SETS: dict[str, Confidence] = {
    "counts": rr.robust.ChiSquareSet(COUNTS, alpha="0.05"),
    "few counts": rr.robust.ChiSquareSet([[3, 0], [1, 5], [0, 0]], alpha="0.2"),
    "known": rr.robust.KnownDistribution(COUNTS),
    "all": rr.robust.EveryDistribution(PAIRS),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("level", ["1/2", "3"])
def test_rows_and_definition_agree(name: str, level: str) -> None:
    """At random columns, and on the border: the largest row is the largest violation."""
    rng = random.Random(name + level)
    confidence = SETS[name]
    constraint = rr.RLDP(level, confidence)
    labels = confidence.pairs.labels
    cone = constraint.cone(labels)
    assert cone is not None
    said = set()
    for _ in range(80):
        rows = rng.choice([random_rows, near_flat_rows])(rng, len(labels), 3)
        rows = mixed([[F(1, 3)] * 3] * len(labels), rows, F(rng.randint(0, 20), 20))
        mechanism = exact(rows, labels, ("x", "y", "z"))
        worst = max(cone.excess(mechanism.column(y)) for y in range(3))
        violation = constraint.violation(mechanism)
        assert (violation <= 0) == (worst <= 0)
        # The cone starts at 0, for columns are non-negative in it; ratios have a row a pair of inputs besides.
        assert max(violation, F(0)) == worst or name == "all"
        said.add(violation <= 0)
    assert said == {True, False}


@pytest.mark.parametrize("name", ["counts", "few counts", "known"])
def test_the_worst_case_is_that_of_a_linear_programme(name: str) -> None:
    """max over R, R' above the bounds of R . v_s - gamma R' . v_z, by HiGHS."""
    rng = np.random.default_rng(4)
    confidence = SETS[name]
    pairs, bounds = confidence.pairs, np.array([[float(r) for r in row] for row in confidence.lower_bounds()])
    constraint = rr.RLDP(1, confidence)
    a, b = bounds.shape
    for _ in range(5):
        matrix = rng.dirichlet(np.ones(4), size=len(pairs))
        mechanism = rr.Mechanism.from_matrix(matrix, inputs=pairs.labels)
        worst = -np.inf
        for y, s, z in product(range(4), range(a), range(a)):
            if s == z:
                continue
            v = mechanism.matrix[:, y].reshape(a, b)
            cost = np.concatenate([-v[s], math.e * v[z]])
            sums = np.kron(np.eye(2), np.ones(b))
            limits = [(low, 1) for low in (*bounds[s], *bounds[z])]
            found = optimize.linprog(cost, A_eq=sums, b_eq=[1, 1], bounds=limits)
            worst = max(worst, -found.fun)
        assert float(constraint.violation(mechanism)) == pytest.approx(max(worst, -1.0), abs=1e-9)


def rows_of(confidence: Confidence, gamma: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    cone = rr.RLDP(confidence=confidence, gamma=gamma).cone(confidence.pairs.labels)
    assert isinstance(cone, RobustCone)
    return cone_rows(cone.general())


def test_the_rows_leave_pairs_with_one_sensitive_value_alone() -> None:
    """(44) with s1 = s2 would bound U within one s: a column that tells u for one s entirely must be allowed."""
    known = rr.robust.KnownDistribution(rr.Prior.from_counts([[1, 1], [1, 1]], pairs=rr.Pairs(2, 2)))
    rows = rows_of(known, F(2))
    assert rows == ((F(1, 2), F(1, 2), -1, -1), (-1, -1, F(1, 2), F(1, 2)))
    tells = exact([[F(1), F(0)], [F(0), F(1)]] * 2, known.pairs.labels, ("a", "b"))
    assert rr.RLDP(confidence=known, gamma=2).violation(tells) == F(-1, 2)
    with_bounds = rows_of(SETS["counts"], F(2))
    assert len(with_bounds) == 2 * 3 * 3
    for row in with_bounds:
        assert sum(row[:3]) == (1 if row[0] > 0 or row[1] > 0 else -2)


def test_all_distributions_are_maximal_rldp() -> None:
    every = rr.RLDP("1.5", SETS["all"])
    same = rr.MaximalRLDP("1.5", groups=PAIRS)
    cone = every.cone(PAIRS.labels)
    assert isinstance(cone, RobustCone)
    assert cone.general() == same.cone(PAIRS.labels)
    assert isinstance(cone.general(), GraphCone)
    srr = rr.robust.SecretRandomizedResponse(PAIRS, epsilon="1.5").to_mechanism()
    assert every.violation(srr) <= 0
    assert rr.RLDP("1.5", SETS["counts"]).violation(srr) <= 0


def test_what_satisfies_it_is_private_for_members_of_the_set() -> None:
    """Exactly, at random members of F, for columns pushed to the border of the cone."""
    rng = random.Random(8)
    confidence = SETS["counts"]
    assert isinstance(confidence, rr.robust.ChiSquareSet)
    constraint = rr.RLDP(1, confidence)
    gamma, labels = constraint.level.ratio.upper, PAIRS.labels
    for _ in range(10):
        target = random_rows(rng, 6, 2, zeros=0.4)
        low, high = F(0), F(1)
        for _ in range(60):
            share = (low + high) / 2
            rows = mixed([[F(1, 2)] * 2] * 6, target, share)
            low, high = (share, high) if constraint.violation(exact(rows, labels, ("x", "y"))) <= 0 else (low, share)
        mechanism = exact(mixed([[F(1, 2)] * 2] * 6, target, low), labels, ("x", "y"))
        for _ in range(20):
            own = confidence.counts.probabilities
            away = [F(rng.randint(1, 1000)) for _ in own]
            share = F(1)
            point = [value / sum(away) for value in away]
            while not confidence.contains(point):
                share *= F(3, 4)
                point = [(1 - share) * p + share * q / sum(away) for p, q in zip(own, away, strict=True)]
            for y in range(2):
                column = mechanism.column(y)
                one, other = (
                    sum((p * v for p, v in zip(point[block], column[block], strict=True)), F(0)) / sum(point[block])
                    for block in (PAIRS.block(0), PAIRS.block(1))
                )
                assert one <= gamma * other
                assert other <= gamma * one


def test_a_fuller_set_is_a_smaller_cone() -> None:
    """known <= counts <= all: what is private for more distributions is private for fewer."""
    rng = random.Random(2)
    met = set()
    for _ in range(200):
        rows = mixed([[F(1, 2)] * 2] * 6, random_rows(rng, 6, 2), F(rng.randint(0, 40), 40))
        mechanism = exact(rows, PAIRS.labels, ("x", "y"))
        holds = tuple(rr.RLDP(1, SETS[name]).violation(mechanism) <= 0 for name in ("all", "counts", "known"))
        assert sorted(holds) == list(holds)
        met.add(holds)
    assert len(met) == 4


def test_polyopt_reaches_the_reference() -> None:
    """Two small instances, certified; PolyOpt is never below GRR and SRR."""
    path = Path(__file__).resolve().parents[1] / "data" / "rldp_reference.csv"
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    for row in (rows[2], rows[12]):
        assert row["size"] == "2x2"
        counts = np.array([int(count) for count in row["counts"].split()]).reshape(2, 2)
        confidence = rr.robust.ChiSquareSet(counts)
        problem = rr.Problem(
            rr.Maximize(rr.MutualInformation(confidence.center)), [rr.RLDP(row["epsilon"], confidence)]
        )
        solution = problem.solve("columns", gap=1e-7)
        assert solution.status == "certified"
        assert solution.value == pytest.approx(float(row["polyopt_mutual_information"]), abs=2e-7)
        assert solution.value > max(float(row["GRR"]), float(row["SRR"]))


@pytest.mark.parametrize("name", SETS)
def test_keys_declare_the_same_constraint(name: str) -> None:
    for constraint in (rr.RLDP("0.3", SETS[name]), rr.RLDP(confidence=SETS[name], gamma=3)):
        keys = constraint.keys()
        assert from_keys("rldp", keys, "test") == constraint
        assert keys["form"] == "polytope"
        assert ("alpha" in keys) == ("counts" in name)
        # Where the input says what the pairs are, the constraint need not.
        if name in ("counts", "known"):
            short = {key: value for key, value in keys.items() if key not in ("counts", "sensitive", "other")}
            assert rr.RLDP.from_keys(**short, prior=COUNTS) == constraint
    assert rr.RLDP("0.3", SETS["counts"]).describe() == (
        "robust LDP at epsilon 0.3 over the chi-square set of 401 observations at alpha 0.05"
    )


def test_it_stands_beside_other_constraints() -> None:
    cone = rr.RLDP(1, SETS["counts"]).cone(PAIRS.labels)
    assert isinstance(cone, RobustCone)
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(COUNTS)), [rr.RLDP(1, SETS["counts"]), rr.LDP(2)])
    joint = problem.compile().cone
    assert isinstance(joint, PolyhedralCone)
    assert len(joint.rows) == 18


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "form": (
        lambda: rr.RLDP(1, SETS["all"], form="exact"),
        "RLDP: form 'exact' is for a ChiSquareSet; leave it out: here the polytope is exact already",
    ),
    "no confidence": (
        lambda: rr.RLDP(1),
        "RLDP: confidence is None; give ChiSquareSet(counts, alpha=0.05), KnownDistribution, EveryDistribution or "
        "Polytope",
    ),
    "level": (lambda: rr.RLDP(-1, SETS["all"]), "epsilon: it is -1, below 0; try 1.0"),
    "both levels": (
        lambda: rr.RLDP(1, SETS["all"], gamma=2),
        "privacy level: epsilon and gamma are both given; leave one of them out",
    ),
    "other inputs": (
        lambda: rr.RLDP(1, SETS["all"]).cone(("a", "b")),
        "RLDP: its pairs are not the inputs; they are Pairs(['f', 'm'], ['a', 'b', 'c']), s major",
    ),
    "key form": (
        lambda: from_keys("rldp", {"epsilon": 1, "form": 3, "sensitive": 2, "other": 2, "confidence": "all"}, "t"),
        "RLDP: form is 3; known forms: polytope, product, exact",
    ),
    "key form word": (
        lambda: from_keys("rldp", {"epsilon": 1, "form": "x", "sensitive": 2, "other": 2, "confidence": "all"}, "t"),
        "RLDP: form is 'x'; known forms: polytope, product, exact",
    ),
    "key confidence": (
        lambda: from_keys("rldp", {"epsilon": 1, "confidence": "some"}, "t"),
        "rldp: confidence is 'some'; use one of: counts, known, all, polytope",
    ),
    "key confidence, a list": (
        lambda: from_keys("rldp", {"epsilon": 1, "confidence": ["all"]}, "t"),
        "rldp: confidence is ['all']; use one of: counts, known, all, polytope",
    ),
    "key alpha": (
        lambda: from_keys("rldp", {"epsilon": 1, "confidence": "all", "alpha": "0.1"}, "t"),
        "rldp: alpha does not apply to confidence = 'all'; leave it out",
    ),
    "no pairs": (
        lambda: from_keys("rldp", {"epsilon": 1}, "t"),
        "rldp: it is not given which inputs are pairs; give sensitive = [...], other = [...] and counts, "
        "here or in [input]",
    ),
    "half of the pairs": (
        lambda: from_keys("rldp", {"epsilon": 1, "sensitive": ["a", "b"]}, "t"),
        "rldp: give both sensitive and other, or neither; they name the values of a pair",
    ),
    "no counts": (
        lambda: from_keys("rldp", {"epsilon": 1, "sensitive": ["a", "b"], "other": ["x", "y"]}, "t"),
        "rldp: it needs counts; as counts = [[35, 65], [10, 90]]",
    ),
    "an unknown key": (
        lambda: from_keys("rldp", {"epsilon": 1, "beta": 2}, "t"),
        "t: unknown key 'beta'; rldp takes: D, E, alpha, confidence, counts, d, e, epsilon, form, gamma, other, sees, "
        "sensitive",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(rr.InputError) as found:
        make()
    assert str(found.value) == message
