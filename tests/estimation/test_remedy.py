"""Mixtures that identify the frequencies: exact laws, exact privacy, and what they cost."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.declare.objectives import MinimaxRisk
from rropt.errors import InputError
from rropt.estimation.identifiability import mixed
from rropt.estimation.strategy import exact_locally_best
from rropt.mechanisms.mechanism import RANK_PRIME

F = Fraction


def solved(k: int = 6, epsilon: float = 2.0) -> tuple[rr.Mechanism, rr.Prior, rr.Solution]:
    prior = rr.Prior.from_counts({f"c{x}": 2 ** (x // 3) + x for x in range(k)})
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon=epsilon)]).solve()
    assert solution.status == "certified"
    return solution.mechanism, prior, solution


def random_mechanism(k: int, m: int, seed: int) -> rr.Mechanism:
    rows = np.random.default_rng(seed).integers(1, 6, (k, m))
    return rr.Mechanism.from_rationals([[F(int(n), int(row.sum())) for n in row] for row in rows])


def test_the_warning_names_a_cure_that_works():
    mechanism, prior, solution = solved()
    assert mechanism.rank < 6
    assert any(
        "does not identify the frequencies" in line and "rropt.estimation.identifying" in line
        for line in solution.warnings
    )
    with pytest.raises(InputError):
        mechanism.estimate([10] * len(mechanism.outputs))
    found = rr.estimation.identifying(solution.mechanism, share="0.05", prior=prior)
    assert found.mechanism.rank == 6
    assert rr.LDP(epsilon=2.0).violation(found.mechanism) <= 0
    assert found.mechanism.privacy_ratio == mechanism.privacy_ratio
    truth = np.array([float(p) for p in prior.probabilities])
    counts = np.rint(truth @ found.mechanism.matrix * 10**7).astype(int)
    np.testing.assert_allclose(found.mechanism.estimate(counts).values, truth, atol=1e-5)


def test_the_loss_is_share_times_the_difference_and_small():
    mechanism, prior, solution = solved()
    for share in (F(1, 100), F(1, 20), F(1, 3)):
        found = rr.estimation.identifying(mechanism, share=share, prior=prior)
        assert found.share == share
        own = mechanism.mutual_information(prior)
        assert own.lower - found.lost.upper <= found.information.upper
        assert found.information.lower <= own.upper - found.lost.lower
        assert found.lost.upper - found.lost.lower < F(1, 2**60)
        assert found.lost.upper <= share * own.upper
        # The certified bound holds for all mechanisms, so for all that identify too.
        assert float(found.information.lower) >= (1 - float(share)) * solution.bound - 1e-8


@pytest.mark.parametrize("seed", range(8))
def test_moments_and_information_of_mixtures_are_exactly_linear(seed: int):
    """M(mixture) = (1 - s) M(Q) + s M(P) in rationals, for any two mechanisms, and the risk's bound by P alone."""
    first, second = random_mechanism(4, 3, seed), random_mechanism(4, 5, 50 + seed)
    weights = [F(x + 1, 10) for x in range(4)]
    prior = rr.Prior.from_counts([1, 2, 3, 4])
    share = F(1 + seed, 20)

    def moments(one: rr.Mechanism) -> list[list[Fraction]]:
        columns = [one.column(y) for y in range(len(one.outputs))]
        masses = [sum((w * q for w, q in zip(weights, own, strict=True)), F(0)) for own in columns]
        return [
            [sum((q[x] * q[z] / mass for q, mass in zip(columns, masses, strict=True)), F(0)) for z in range(4)]
            for x in range(4)
        ]

    made = mixed(first, second, share)
    one, two, both = moments(first), moments(second), moments(made)
    assert all(both[x][z] == (1 - share) * one[x][z] + share * two[x][z] for x in range(4) for z in range(4))
    assert made.privacy_ratio == max(first.privacy_ratio, second.privacy_ratio)
    objective, squares = MinimaxRisk(prior), sum(w * w for w in weights)
    assert (objective.value(made).lower + squares) <= (objective.value(second).upper + squares) / share
    # Unbiased exactly, hence of full rank.
    table = exact_locally_best(made, prior)
    assert all(
        sum((table[x][y] * made.entry(z, y) for y in range(len(made.outputs))), F(0)) == (x == z)
        for x in range(4)
        for z in range(4)
    )


def test_a_risk_that_is_asked_for_is_kept_with_the_least_share():
    mechanism, prior, _ = solved()
    objective = MinimaxRisk(prior)
    wanted = F(25)
    found = rr.estimation.identifying(mechanism, risk=wanted, prior=prior)
    assert 0 < found.share < F(1, 5)
    assert found.risk.upper <= wanted
    other = rr.mechanisms.SubsetSelection(mechanism.inputs, gamma=mechanism.privacy_ratio).to_mechanism()
    step = F(1, 1 << 24)
    assert objective.value(mixed(mechanism, other, found.share - 2 * step)).lower > wanted
    assert objective.value(mixed(mechanism, other, found.share)).upper <= wanted
    tighter = rr.estimation.identifying(mechanism, risk=12, prior=prior)
    assert tighter.share > found.share
    assert tighter.lost.lower > found.lost.upper


def test_what_identifies_well_enough_is_left_alone():
    design = rr.RandomizedResponse(5, gamma=3).to_mechanism()
    found = rr.estimation.identifying(design, risk=1000)
    assert found.share == 0
    assert found.mechanism is design
    assert found.lost.lower == found.lost.upper == 0


def test_metric_privacy_is_kept_by_a_mechanism_that_keeps_it():
    labels = ["1", "2", "3", "4"]
    rule = rr.MetricDP(nx.path_graph(labels), epsilon=0.7)
    prior = rr.Prior.from_counts(dict.fromkeys(labels, 1))
    best = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule]).solve(gap=1e-4).mechanism
    design = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rule]).solve(gap=1e-4).mechanism
    found = rr.estimation.identifying(best, with_=design, share="0.1")
    assert rule.violation(best) <= 0
    assert rule.violation(design) <= 0
    assert rule.violation(found.mechanism) <= 0
    assert found.mechanism.rank == 4


def test_outputs_keep_their_names_and_proportional_ones_are_merged():
    coin = rr.RandomizedResponse(["a", "b", "c"], gamma=4).to_mechanism()
    same = mixed(coin, coin, F(1, 4))
    assert same.outputs == coin.outputs
    assert all(same.entry(x, y) == coin.entry(x, y) for x in range(3) for y in range(3))
    blunt = rr.Mechanism.from_rationals(
        [[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]], inputs=list("abc"), outputs=list("ab")
    )
    found = rr.estimation.identifying(blunt, with_=coin, share="1/3").mechanism
    assert found.outputs == ("a", "b", "a (2)", "b (2)", "c")
    assert found.entry(2, 1) == F(3, 4) * F(2, 3)
    assert found.entry(2, 4) == coin.entry(2, 2) / 3


@pytest.mark.parametrize(("k", "gamma", "width"), [(6, F(2), 15), (30, F(40), 30), (24, F(3, 2), 32)])
def test_the_default_is_the_minimax_design_where_that_is_small(k: int, gamma: Fraction, width: int):
    half = [[gamma, F(1)] if x < 3 else [F(1), gamma] for x in range(k)]
    given = rr.Mechanism.from_rationals([[entry / (1 + gamma) for entry in row] for row in half])
    found = rr.estimation.identifying(given, share="1/2", prior=rr.Prior.uniform(k))
    assert given.rank == 2
    assert found.mechanism.rank == k
    assert found.mechanism.privacy_ratio == gamma
    assert len(found.mechanism.outputs) == width + 2
    if width == math.comb(6, 2):
        halves = {tuple(sorted(pair)) for pair in combinations(range(6), 2)}
        columns = [found.mechanism.column(y) for y in range(2, 17)]
        assert {tuple(x for x in range(6) if own[x] == max(own)) for own in columns} == halves


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: rr.estimation.identifying(m), "either share or risk"),
        (lambda m: rr.estimation.identifying(m, share="0.1", risk=5), "either share or risk"),
        (lambda m: rr.estimation.identifying(m, share=1), "between 0 and 1"),
        (lambda m: rr.estimation.identifying(m, share=0), "between 0 and 1"),
        (lambda m: rr.estimation.identifying(m, with_=m, share="0.1"), "2 independent outputs for 3 inputs"),
        (lambda m: rr.estimation.identifying(m, with_=m, risk=10), "infinite"),
        (lambda m: rr.estimation.identifying(m, risk="0.1"), "less than the risk of the mechanism to mix in"),
        (
            lambda m: rr.estimation.identifying(m, with_=rr.RandomizedResponse(4, epsilon=1), share="0.1"),
            "second mechanism: '3' is not among the labels",
        ),
        (
            lambda m: rr.estimation.identifying(m, share="0.1", prior=rr.Prior.uniform(4)),
            "prior: '3' is not among the labels",
        ),
        (lambda m: rr.estimation.identifying([[1, 0], [0, 1]], share="0.1"), "list is not a mechanism"),
        (
            lambda m: rr.estimation.identifying(rr.Mechanism.from_matrix([[1, 0], [1, 0], [0, 1]]), share="0.1"),
            "infinite",
        ),
        (
            lambda m: rr.estimation.identifying(rr.Mechanism.from_matrix([[1.0]] * 3), share="0.1"),
            "one: with perfect secrecy",
        ),
    ],
)
def test_bad_input(call, said: str):
    blunt = rr.Mechanism.from_rationals([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]])
    with pytest.raises(InputError, match=said):
        call(blunt)


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 20, 4), (4, 20, 3), (6, 30, 2), (8, 4, 4), (8, 5, 2)])
def test_ranks_of_wide_and_of_tall_tables(shape: tuple[int, int, int]) -> None:
    """Integer products of a k x r and an r x m table, by elimination in rationals; a column of multiples of the prime
    that ranks are looked for with is not hidden."""
    k, m, r = shape
    rng = np.random.default_rng(k + m)
    left, right = rng.integers(1, 2**20, (k, r)).astype(object), rng.integers(1, 2**20, (r, m)).astype(object)
    table = left @ right
    if r > 1:
        table[:, 0] *= RANK_PRIME
    rows = [[Fraction(int(entry), int(sum(row))) for entry in row] for row in table.tolist()]
    left_over, found = [list(row) for row in rows], 0
    for column in range(m):
        pivot = next((x for x in range(found, k) if left_over[x][column]), None)
        if pivot is None:
            continue
        left_over[found], left_over[pivot] = left_over[pivot], left_over[found]
        for x in range(found + 1, k):
            factor = left_over[x][column] / left_over[found][column]
            left_over[x] = [one - factor * two for one, two in zip(left_over[x], left_over[found], strict=True)]
        found += 1
    assert rr.Mechanism.from_rationals(rows).rank == found == r


def test_a_share_that_floats_do_not_see_has_a_true_risk_and_is_no_cure_at_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 1})
    mechanism = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve().mechanism
    assert mechanism.rank < 3
    for share in ("1e-30", "1e-400"):
        found = rr.estimation.identifying(mechanism, share=share)
        # The risk grows as one over the share.
        assert found.risk.lower > 1 / F(share) / 100
        assert found.risk.upper < 100 / F(share)
    mechanism.save(tmp_path / "m.json")
    assert cli.main(["identify", str(tmp_path / "m.json"), "-o", str(tmp_path / "o.json"), "--share", "1e-400"]) == 2
    assert capsys.readouterr().err.startswith("rropt: --share: ")
    assert not (tmp_path / "o.json").exists()


FIVE = rr.Prior.from_counts({"a": 3, "b": 4, "c": 5, "d": 6, "e": 7})
PAIRS = rr.Prior.from_counts([[200, 600], [300, 200]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
PATH = nx.path_graph(FIVE.labels)
UNEVEN = [("a", "b", 2), ("b", "c", "1/2"), ("c", "d", 2), ("d", "e", 1)]
INFORMATION, JOINT = rr.Maximize(rr.MutualInformation(FIVE)), rr.Maximize(rr.MutualInformation(PAIRS))
GUARANTEES = {
    "LDP": rr.Problem(INFORMATION, [rr.LDP(1)]),
    "metric": rr.Problem(INFORMATION, [rr.MetricDP(PATH, epsilon=1)]),
    "metric, two lengths": rr.Problem(INFORMATION, [rr.MetricDP(UNEVEN)]),
    "robust": rr.Problem(JOINT, [rr.RLDP(1, rr.robust.ChiSquareSet(PAIRS), form="polytope")]),
    "robust, exact": rr.Problem(JOINT, [rr.RLDP(1, rr.robust.ChiSquareSet(PAIRS), form="exact")]),
    "approximate": rr.Problem(rr.Maximize(rr.Trace(FIVE)), [rr.ApproximateLDP(1, delta="0.05")]),
}


@pytest.mark.parametrize("name", GUARANTEES)
def test_the_command_keeps_what_the_design_guarantees(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own privacy ratio is e^4 on a path of five, and 2^52 under robust LDP: a design at that level breaks it."""
    problem = GUARANTEES[name]
    cli.write_results(problem.solve(time_limit=20), tmp_path / "design")
    made = tmp_path / "cured" / "mechanism.json"
    assert cli.main(["identify", str(tmp_path / "design"), "-o", str(made), "--share", "0.4"]) == 0
    cured = rr.Mechanism.load(made)
    assert cured.rank == len(cured.inputs)
    assert all(rule.violation(cured) <= 0 for rule in problem.constraints)


RISK = rr.IdentificationRisk([3, 4, 5, 6, 7], "0.3")


def test_what_no_level_keeps_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.write_results(rr.Problem(rr.Maximize(rr.Trace(FIVE)), [RISK]).solve(time_limit=20), tmp_path / "design")
    assert cli.main(["identify", str(tmp_path / "design"), "-o", str(tmp_path / "cured.json")]) == 2
    assert "no level of LDP is known that keeps its guarantee: identification risk" in capsys.readouterr().err
    assert not (tmp_path / "cured.json").exists()


WITHOUT_A_LEVEL = {
    "information": [rr.LDP(2), rr.AtMost(rr.MutualInformation(FIVE), "0.02")],
    "leakage": [rr.privacy.MaximalLeakage("0.2")],
    "pointwise leakage": [rr.privacy.PointwiseMaximalLeakage(FIVE, epsilon="0.2")],
    "Renyi": [rr.privacy.RenyiLDP(2, "0.05")],
}


@pytest.mark.parametrize("name", WITHOUT_A_LEVEL)
def test_no_notion_is_broken_by_a_cure(name: str, tmp_path: Path) -> None:
    """A mixture may leak more than its parts do by what is declared, while its privacy ratio stays the same."""
    rules = WITHOUT_A_LEVEL[name]
    solution = rr.Problem(rr.Maximize(rr.Trace(FIVE)), rules).solve(time_limit=2)
    cli.write_results(solution, tmp_path / "design")
    made = tmp_path / "cured" / "mechanism.json"
    status = cli.main(["identify", str(tmp_path / "design"), "-o", str(made), "--share", "0.4"])
    assert status == 2 or all(rule.violation(rr.Mechanism.load(made)) <= 0 for rule in rules)


def test_what_the_certificate_leaves_out_is_kept_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The certificate of LDP alone beside a declaration that bounds a risk, too, which the mixture exceeds."""
    solution = rr.Problem(rr.Maximize(rr.Trace(FIVE)), [rr.LDP(1)]).solve()
    cli.write_results(solution, tmp_path / "design")
    declared = rr.Problem(rr.Maximize(rr.Trace(FIVE)), [rr.LDP(1), rr.IdentificationRisk([3, 4, 5, 6, 7], "0.001")])
    path = tmp_path / "design" / "solution.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "problem": rr.problem_file.problem_to_toml(declared)}), encoding="utf-8")
    for given in (tmp_path / "design", tmp_path / "design" / "mechanism.json"):
        assert cli.main(["identify", str(given), "-o", str(tmp_path / "cured.json")]) == 2
        assert "the mixture would violate a declared constraint: " in capsys.readouterr().err
        assert not (tmp_path / "cured.json").exists()
