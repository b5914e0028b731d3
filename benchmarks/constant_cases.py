"""Small problems of the theories that the cases of benchmarks.effort do not reach, for benchmarks.constants."""

from __future__ import annotations

import networkx as nx

import rropt as rr
from benchmarks.effort import Case
from benchmarks.measure import dirichlet, information_problem

SIX = rr.Prior.from_counts({"a": 10, "b": 20, "c": 5, "d": 7, "e": 1, "f": 30})
FEW = (1, 2, 20, 40)


def _path(size: int, weights: list[int]) -> tuple[rr.Prior, rr.MetricDP]:
    labels = [f"{x:03}" for x in range(size)]
    return rr.Prior.from_counts(dict(zip(labels, weights, strict=True))), rr.MetricDP(nx.path_graph(labels), epsilon=1)


def _graph() -> rr.Problem:
    prior, rule = _path(36, dirichlet(36, 1))
    return rr.Problem(rr.Maximize(rr.Trace(prior)), [rule])


def _boxes() -> rr.Problem:
    prior, rule = _path(7, dirichlet(7, 1))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])


def _long_path() -> rr.Problem:
    prior, rule = _path(24, dirichlet(24, 1))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rule])


def _permutations() -> rr.Problem:
    rules = [rr.patterns.PermutationMixture(max_terms=3), rr.AtMost(rr.Trace(SIX), "0.45")]
    loss = [[(x - y) ** 2 + x * y % 3 for y in range(6)] for x in range(6)]
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(SIX, loss)), rules)


def _robust(table: list[list[int]], form: str, epsilon: int = 2) -> rr.Problem:
    about = rr.robust.ChiSquareSet(table)
    return rr.Problem(rr.Maximize(rr.MutualInformation(about.counts)), [rr.RLDP(epsilon, about, form=form)])


def _game() -> rr.Problem:
    about = rr.robust.ChiSquareSet([[30, 70], [55, 45]])
    return rr.Problem(rr.Maximize(rr.MutualInformation(about.counts, worst_case=about)), [rr.RLDP(2, about)])


def _risk(goal: rr.Objective) -> rr.Problem:
    rules = [rr.IdentificationRisk(FEW, "0.2"), rr.LDP(3)]
    return rr.Problem(rr.Maximize(goal), rules)


def _events() -> rr.Problem:
    prior = rr.Prior.from_counts({str(x): 1 + x % 5 for x in range(8)})
    rules = [rr.ApproximateLDP(1, delta="0.1")]
    goal = rr.Maximize(rr.ChiSquareInformation(prior))
    return rr.Problem(goal, rules, outputs=prior.labels)


def _divergence() -> rr.Problem:
    prior = rr.Prior.from_counts({"a": 5, "b": 3})
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.privacy.RenyiLDP(2, "0.5")])


def _design(weights: list[int]) -> rr.Problem:
    return rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.from_counts(weights))), [rr.LDP(1)])


def _cone() -> rr.Problem:
    row = ["1", "-3/2", *["0"] * 7]
    prior = rr.Prior.from_counts(dirichlet(9, 1))
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.ConeConstraint([row])])


def _everything() -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.Trace(SIX)), [rr.patterns.Bistochastic(), rr.EntropyRate(1)])


def _wide() -> rr.Problem:
    scale = [[10**9 if x == y == 0 else int(x != y) for y in range(6)] for x in range(6)]
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(SIX, scale)), [rr.LDP(1)])


MORE: tuple[Case, ...] = (
    Case("trace, path of 36", _graph, gap=1e-4),
    Case("boxes, path of 7", _boxes, gap=1e-4),
    Case("labels, path of 24", _long_path, gap=1e-3),
    Case("permutations, 6 inputs", _permutations),
    Case("columns, 160 inputs", lambda: information_problem(dirichlet(160, 1), "1"), "columns", 1e-4),
    Case("robust polytope, 2 x 4", lambda: _robust([[30, 8, 12, 20], [25, 20, 40, 9]], "polytope"), gap=1e-4),
    Case(
        "robust polytope, 2 x 14",
        lambda: _robust([[30, 8, 12, *[0] * 11], [25, 20, 40, *[0] * 11]], "polytope"),
        gap=0.9,
    ),
    Case("robust exact, 2 x 3", lambda: _robust([[30, 8, 12], [25, 20, 40]], "exact"), gap=0.03),
    Case("least information", _game, gap=0.1),
    Case("risk and privacy, trace", lambda: _risk(rr.Trace(rr.Prior.from_counts(FEW)))),
    Case("risk and privacy, information", lambda: _risk(rr.MutualInformation(rr.Prior.from_counts(FEW))), gap=0.1),
    Case("events, 8 inputs", _events, gap=0.2),
    Case("information under a divergence", _divergence, gap=0.1),
    Case("design, equal frequencies", lambda: _design([1] * 8), gap=1e-6),
    Case("design, 18 inputs", lambda: _design([1 + x % 3 for x in range(18)]), gap=0.1),
    Case("cone of 9 inputs", _cone, "columns", 0.05),
    Case("entropy rate 1", _everything, gap=1e-9),
    Case("costs far apart", _wide, gap=1e-9),
)
