"""An open question of Ruiz and Domingo-Ferrer: bistochastic privacy on data, Adult's eight categorical attributes.

Each attribute goes through a bistochastic matrix of its own, with one entropy rate beta for all (Definition 2). The
budget is split where it costs the least probability of a changed value (`MultiRelease`, certified), beside the split
that gives every attribute the same beta. From the pairwise counts follows what is left of the dependence of each pair:
the mutual information of the reports over that of the answers. Counts only are shipped, no person's record.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from rropt.models.plots import Curve, Figure, Panel

from rropt.declare.constraints import Bistochastic, EntropyRate
from rropt.declare.objectives import ExpectedLoss
from rropt.model.prior import Prior
from rropt.problem import Minimize, Problem
from rropt.release.multivariate.release import LARGEST, Attribute, MultiRelease, MultiSolution

__all__ = ["Counts", "Outcome", "counts", "joint_outcome", "kept_figure", "loss_figure", "outcome"]

RATES = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")
Pair = tuple[str, str]


@dataclass(frozen=True)
class Counts:
    """`priors` of the eight attributes, and the joint counts of each pair (first x second, in their order)."""

    priors: dict[str, Prior]
    pairs: dict[Pair, np.ndarray]

    def information(self) -> dict[Pair, float]:
        """The mutual information of each pair, in bits."""
        return {pair: bits(table / table.sum()) for pair, table in self.pairs.items()}


@cache
def counts() -> Counts:
    """The shipped counts of 32,561 people (the training part of the UCI Adult data set)."""
    text = (resources.files("rropt.models") / "data" / "adult_pairs.csv").read_text(encoding="utf-8")
    single: dict[str, dict[str, int]] = {}
    rows: dict[Pair, list[list[int]]] = {}
    for row in csv.DictReader(text.splitlines()):
        if row["second"]:
            rows.setdefault((row["first"], row["second"]), []).append([int(n) for n in row["counts"].split()])
        else:
            single.setdefault(row["first"], {})[row["category"]] = int(row["counts"])
    priors = {name: Prior.from_counts(list(table.values()), labels=list(table)) for name, table in single.items()}
    return Counts(priors, {pair: np.array(table) for pair, table in rows.items()})


def bits(joint: np.ndarray) -> float:
    """The mutual information of a joint distribution (a x b), in bits."""
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    kept = joint > 0
    return float((joint[kept] * np.log2(joint[kept] / apart[kept])).sum())


@dataclass(frozen=True)
class Outcome:
    """A release at one beta. `solution` is that of the best split; `even` the loss of each attribute where all have the
    same beta; `before` and `after` the bits of information of each pair, in the answers and in the reports."""

    solution: MultiSolution
    even: dict[str, float]
    before: dict[Pair, float]
    after: dict[Pair, float]

    @property
    def loss(self) -> dict[str, float]:
        """The probability that a value changes, by attribute."""
        return {name: share for report in self.solution.reports for name, share in report.loss.items()}

    @property
    def kept(self) -> float:
        """The information of all pairs together, reports over answers."""
        return sum(self.after.values()) / sum(self.before[pair] for pair in self.after)


def outcome(at_least: object, even: bool = True) -> Outcome:
    """Each attribute through its own matrix at an entropy rate of `at_least` in all; `even` False leaves out the even
    split (eight further solves)."""
    data = counts()
    solution = MultiRelease([Attribute(name, prior) for name, prior in data.priors.items()], at_least).solve()
    matrices = {name: mechanism.matrix for name, mechanism in solution.mechanisms.items()}
    after = {(a, b): bits(matrices[a].T @ (table / table.sum()) @ matrices[b]) for (a, b), table in data.pairs.items()}
    apart = {name: _alone(prior, at_least) for name, prior in data.priors.items()} if even else {}
    return Outcome(solution, apart, data.information(), after)


def joint_outcome(at_least: object, largest: int = 64) -> Outcome:
    """The most dependent pairs through one matrix a pair (Definition 3 inside of clusters): up to `largest` joint
    categories, each attribute once, as long as a release takes all categories. `after` has these pairs only, for others
    the pairwise counts say too little."""
    data = counts()
    before = data.information()
    taken: list[Pair] = []
    total = sum(map(len, data.priors.values()))
    for pair in sorted(before, key=lambda pair: -before[pair]):
        free = not any(name in other for other in taken for name in pair)
        more = data.pairs[pair].size - sum(data.pairs[pair].shape)
        if free and data.pairs[pair].size <= largest and total + more <= LARGEST:
            taken.append(pair)
            total += more
    grouped = {name for pair in taken for name in pair}
    attributes = [Attribute(name, prior) for name, prior in data.priors.items() if name not in grouped]
    for pair in taken:
        parts = [(a, b) for a in data.priors[pair[0]].labels for b in data.priors[pair[1]].labels]
        prior = Prior.from_counts(data.pairs[pair].ravel().tolist(), labels=[" | ".join(part) for part in parts])
        attributes.append(Attribute(" and ".join(pair), prior, members=pair, parts=parts))
    solution = MultiRelease(attributes, at_least).solve()
    after = {}
    for pair in taken:
        table = data.pairs[pair]
        reported = (table.ravel() / table.sum()) @ solution.mechanisms[" and ".join(pair)].matrix
        after[pair] = bits(reported.reshape(table.shape))
    return Outcome(solution, {}, before, after)


def _alone(prior: Prior, at_least: object) -> float:
    """The least probability of a changed value of one attribute at its own entropy rate."""
    loss = [[int(x != y) for y in range(len(prior))] for x in range(len(prior))]
    solution = Problem(Minimize(ExpectedLoss(prior, loss)), [Bistochastic(), EntropyRate(at_least)]).solve()
    assert solution.value is not None
    return solution.value


def _outcomes(rates: Sequence[str], even: bool, report: Callable[[int, int], None]) -> list[Outcome]:
    found = []
    for done, rate in enumerate(rates):
        report(done, len(rates))
        found.append(outcome(rate, even))
    report(len(rates), len(rates))
    return found


def loss_figure(rates: Sequence[str] = RATES, report: Callable[[int, int], None] = lambda done, whole: None) -> Figure:
    """The probability that a value changes, by attribute: the best split of the budget, and one beta for all."""
    found = _outcomes(rates, True, report)
    x, ones = tuple(map(float, rates)), (1,) * len(rates)
    names = list(counts().priors)

    def curves(losses: Sequence[dict[str, float]]) -> tuple[Curve, ...]:
        mean = Curve("mean", x, tuple(sum(one.values()) / len(one) for one in losses), ones)
        return (*(Curve(name, x, tuple(one[name] for one in losses), ones) for name in names), mean)

    panels = (
        Panel(
            "budget split for the least loss", "beta of all", "share of changed values", curves([o.loss for o in found])
        ),
        Panel("the same beta for each", "beta of all", "share of changed values", curves([o.even for o in found])),
    )
    return Figure("ruiz2021-2", "Adult, eight attributes: values changed", panels, "counts of 32,561 people")


def kept_figure(rates: Sequence[str] = RATES, report: Callable[[int, int], None] = lambda done, whole: None) -> Figure:
    """The mutual information of pairs that reports keep: all together, and the six most dependent ones."""
    found = _outcomes(rates, False, report)
    x, ones = tuple(map(float, rates)), (1,) * len(rates)
    before = found[0].before
    most = sorted(before, key=lambda pair: -before[pair])[:6]
    curves = [Curve("all 28 pairs", x, tuple(one.kept for one in found), ones)]
    for pair in most:
        curves.append(Curve(" and ".join(pair), x, tuple(one.after[pair] / before[pair] for one in found), ones))
    panel = Panel("dependence kept", "beta of all", "information, reports over answers", tuple(curves))
    return Figure("ruiz2021-3", "Adult, eight attributes: pairwise dependence", (panel,), "counts of 32,561 people")
