"""Problems of every notion of privacy and of what is nearly one, and mechanisms that keep their rules.

Rows or actions are missing, repeated, void, scaled or of another shape; mechanisms are driven to where a notion is
worst.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
from scipy.optimize import linprog

import rropt as rr

F = Fraction
Rows = list[list[Fraction]]
STEPS = 1000
"""A mechanism is within this part of the way of where it would break the rules."""
LABELS = ["a", "b", "c", "d"]
SHARES = {2: [(50, 50), (20, 80), (90, 10), (100, 0)], 3: [(50, 30, 20), (60, 40, 0), (5, 5, 90), (25, 25, 50)]}
"""Priors in whole percents, as a sentence shows them exactly."""


@dataclass
class Case:
    """The rules of a problem and the prior of its objective; `outputs` None: they are the inputs."""

    rules: list[rr.Constraint]
    labels: Sequence[str]
    outputs: list[str] | None = None

    @property
    def problem(self) -> dict[str, Any]:
        prior = rr.Prior.uniform(self.labels)
        if self.outputs is None:
            goal = rr.Maximize(rr.Trace(prior))
            robust = any(isinstance(rule, rr.RLDP) for rule in self.rules)
            goal = rr.Maximize(rr.MutualInformation(prior)) if robust else goal
            return rr.Problem(goal, self.rules).compile().payload()
        goal = rr.Maximize(rr.MutualInformation(prior))
        return rr.Problem(goal, self.rules, outputs=self.outputs).compile().payload()

    def keeps(self, rows: Rows) -> bool:
        outputs = self.outputs or (list(self.labels) if len(rows[0]) == len(self.labels) else LABELS[: len(rows[0])])
        mechanism = rr.Mechanism.from_rationals(rows, inputs=list(self.labels), outputs=outputs)
        return all(rule.violation(mechanism) <= 0 for rule in self.rules)


# -- problems ------------------------------------------------------------------------------------------


def drawn_prior(rng: random.Random, k: int) -> rr.Prior:
    shares = list(rng.choice(SHARES[k]))
    rng.shuffle(shares)
    return rr.Prior(LABELS[:k], shares)


def unit(k: int, x: int, number: Fraction | int = 1) -> list[Fraction]:
    return [F(number * (x == z)) for z in range(k)]


def meddled(rng: random.Random, rows: list[Any], more: Callable[[], Any]) -> list[Any]:
    """Rows in another order, with some of them missing, repeated, or of another kind, or as they are."""
    rows = rows[:]
    if rng.random() < 0.4:
        rng.shuffle(rows)
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        how, at = rng.randrange(4), rng.randrange(len(rows))
        if how == 0 and len(rows) > 1:
            del rows[at]
        elif how == 1:
            rows.insert(at, rows[rng.randrange(len(rows))])
        elif how == 2:
            rows[at] = more()
        else:
            rows.insert(at, more())
    return rows


def gains(rng: random.Random) -> Case:
    """Limits on the gain of a guess: of the true answer, of an answer at all frequencies, and of anything else."""
    k = rng.choice([2, 3, 3])
    prior = rr.Prior.uniform(LABELS[:k]) if rng.random() < 0.4 else drawn_prior(rng, k)
    scale = rng.choice([F(1), F(1), F(k), F(k), F(2), F(1, 3)])
    actions = [unit(k, x, scale) for x in range(k)]
    if rng.random() < 0.2:  # maximal leakage at a prior that is not uniform
        actions = [unit(k, x, scale / p) for x, p in enumerate(prior.probabilities) if p]

    def more() -> list[Fraction]:
        x = rng.randrange(k)
        other = [F(rng.randint(-1, 3), rng.choice([1, 2])) for _ in range(k)]
        return rng.choice([[F(0)] * k, unit(k, x, scale), unit(k, x, scale / 2), unit(k, x, -scale), other])

    actions = meddled(rng, actions, more)
    gain = [[action[x] for action in actions] for x in range(k)]
    own = rr.BayesSuccess(prior, gain=gain, actions=[f"g{at}" for at in range(len(actions))])
    constant, identity = (
        sum((max(sum((p * g[x] for x, p in enumerate(prior.probabilities) if of(x, y)), F(0)) for g in actions)
             for y in range(k if split else 1)), F(0))
        for split, of in ((False, lambda x, y: True), (True, lambda x, y: x == y))
    )  # fmt: skip
    most = constant + (identity - constant) * F(rng.randint(0, 4), 4)
    return Case([rr.AtMost(own, most)], LABELS[:k])


def columns(rng: random.Random) -> Case:
    """Rows on every column: pointwise maximal leakage, LDP of means, the least Bayes success, and the like."""
    k = 3
    ratio = rng.choice([F(3, 2), F(2), F(4), F(30), F(10) ** 12, 1 + F(1, 10**40), F(1)])
    prior = drawn_prior(rng, k).probabilities
    if rng.random() < 0.2:  # not a distribution
        prior = rng.choice([(F(3, 2), F(-1, 2), F(0)), (F(1, 2), F(1), F(-1, 2)), (F(1, 2), F(3, 4), F(-1, 4))])
    pointwise = [[unit(k, x)[z] - ratio * p for z, p in enumerate(prior)] for x, own in enumerate(prior) if own]
    sides = [(F(1, 4), F(3, 4), F(0)), (F(0), F(0), F(1))]
    rng.shuffle(sides)
    mean = [[a - ratio * b for a, b in zip(one, two, strict=True)] for one, two in (sides, sides[::-1])]
    best = max(range(k), key=lambda x: prior[x])
    guess = [unit(k, x, prior[x]) for x in range(k) if x != best]
    guess = [[number - prior[best] * (z == best) for z, number in enumerate(row)] for row in guess]

    def more() -> list[Fraction]:
        row = rng.choice([*pointwise, *mean, *guess, [F(rng.randint(-3, 2)) for _ in range(k)], [F(0)] * k])
        return [rng.choice([F(1), F(2), F(1, 3), F(-1)]) * number for number in row]

    rows = meddled(rng, rng.choice([pointwise, mean, pointwise + mean, guess, guess + mean]), more)
    if rng.random() < 0.4:
        rows = [[own * number for number in row] for row in rows for own in [rng.choice([F(1), F(3), F(1, 10**9)])]]
    rules: list[rr.Constraint] = [rr.ConeConstraint(rows)]
    return Case(rules + [rr.LDP(3)] * (rng.random() < 0.2), LABELS[:k])


def events(rng: random.Random) -> Case:
    """Rows of events, all of them or nearly."""
    k, m = rng.choice([(2, 2), (2, 3), (3, 2)])
    gamma, delta = rng.choice([F(3, 2), F(3), F(8)]), rng.choice([F(1, 20), F(1, 4)])
    sets = [[y for y in range(m) if mask >> y & 1] for mask in range(1, 2**m - 1)]

    def row(x: int, z: int, own: list[int], g: Fraction, most: Fraction) -> tuple[Rows, Fraction]:
        table = [[F(0)] * m for _ in range(k)]
        for y in own:
            table[x][y] += 1
            table[z][y] -= g
        return table, most

    rows = [row(x, z, own, gamma, delta) for x, z in permutations(range(k), 2) for own in sets]

    def more() -> tuple[Rows, Fraction]:
        x, z = rng.sample(range(k), 2)
        own = rng.choice([*sets, list(range(m)), list(range(m))])
        table, most = row(x, z, own, rng.choice([gamma, gamma, 2 * gamma]), rng.choice([delta, delta, 2 * delta]))
        scale = rng.choice([F(1), F(3), F(1, 2)])
        return [[scale * entry for entry in line] for line in table], scale * most

    rows = meddled(rng, rows, more)
    rules = [rr.LinearConstraint(table, "<=", most, name=f"row {at}") for at, (table, most) in enumerate(rows)]
    return Case(list(rules), LABELS[:k], [f"y{y}" for y in range(m)])


def graphs(rng: random.Random) -> Case:
    """Metric privacy on graphs of every kind, groups and properties; perfect secrecy too."""
    k = rng.choice([3, 4])
    labels = LABELS[:k]
    level = {rng.choice(["epsilon", "gamma"]): rng.choice(["1.5", "3"])}
    kind = rng.randrange(4)
    if kind == 0:
        groups = [rng.choice("st") for _ in labels]
        groups[:2] = "st"
        return Case([rr.MaximalRLDP(**level, groups=groups)], labels)
    if kind == 1:
        sets = [rng.sample(labels, rng.randint(1, k - 1)) for _ in range(rng.randint(1, 2))]
        return Case([rr.LDP(**level, properties=sets)], labels)
    pairs = [pair for pair in permutations(labels, 2) if rng.random() < 0.6] or [("a", "b")]
    pairs += [(x, "a" if x != "a" else "b") for x in labels if not any(x in pair for pair in pairs)]
    numbers = [rng.choice(["0.5", "1", "2"]) if kind == 2 else "1" for _ in pairs]
    edges = [[x, z, number] for (x, z), number in zip(pairs, numbers, strict=True)]
    epsilon = rng.choice([0, 1, "0.7"])
    return Case([rr.MetricDP.from_keys(epsilon, graph=edges, directed=True, connected=False)], labels)


def robust(rng: random.Random) -> Case:
    """Robust LDP over every kind of set."""
    pairs = rr.Pairs(["s", "t"], ["u", "v"])
    counts = [[rng.choice([5, 10, 40]) for _ in range(2)] for _ in range(2)]
    one = [[10 * share, 100 - 10 * share] for share in (rng.randint(1, 9), rng.randint(1, 9))]
    prior = rr.Prior.from_counts(counts, pairs=pairs)
    kind = rng.randrange(4)
    if kind == 0:
        rule = rr.RLDP(1, rr.robust.EveryDistribution(pairs))
    elif kind == 1:
        rule = rr.RLDP(gamma=3, confidence=rr.robust.KnownDistribution(rr.Prior.from_counts(one, pairs=pairs)))
    else:
        rule = rr.RLDP(1, rr.robust.ChiSquareSet(prior), form=rng.choice(["exact", "product", "polytope"]))
    return Case([rule], pairs.labels)


def others(rng: random.Random) -> Case:
    """DivergenceLimits with a key or a cone of their own, and two of them together."""
    k = rng.choice([2, 3])
    prior = drawn_prior(rng, k)
    counts = [rng.randint(1, 4) for _ in range(k)]
    floor: list[rr.Constraint] = [rr.patterns.Bistochastic(), rr.EntropyRate("0.7")]
    choices: list[list[rr.Constraint]] = [
        [rr.LDP(rng.choice([0, "0.3", "1/3", 2]))],
        [rr.LDP(gamma=rng.choice(["1.7", "7/3"]))],
        [rr.ApproximateLDP(gamma=3, delta="0.05")],
        [rr.ApproximateLDP(1, delta="0.1"), rr.LDP(3)],
        [rr.ApproximateLDP(gamma=2, delta="0.1"), rr.ApproximateLDP(gamma=4, delta="0.02")],
        [rr.IdentificationRisk(counts, rng.choice(["1/3", "0.45", "1/7"]))],
        [rr.IdentificationRisk(counts, "0.3", categories=["a"])],
        floor,
        [rr.SharedEntropyRate("0.5", [["a"], LABELS[1:k]])],
        [rr.privacy.RenyiLDP(2, "0.5")],
        [rr.privacy.RenyiLDP("3/2", "1/3")],
        [rr.privacy.ZeroConcentratedLDP("0.3")],
        [rr.AtMost(rr.privacy.ChannelCapacity(), "0.1")],
        [rr.AtMost(rr.MutualInformation(prior), "0.1"), rr.AtMost(rr.ChiSquareInformation(prior), "1/3")],
        [rr.AtMost(rr.MutualInformation(prior, units="bits"), "0.2")],
        [rr.privacy.MaximalLeakage(rng.choice(["0.4", "0.1"]))],
        [rr.privacy.MaximalLeakage(gamma="3/2"), rr.AtMost(rr.BayesSuccess(prior), "0.95")],
        [rr.privacy.PointwiseMaximalLeakage(prior, epsilon=1), rr.LDP(2)],
        [rr.LDP(1, properties=[["a"]], population=dict.fromkeys(LABELS[:k], 1))],
        [rr.patterns.Bistochastic(), rr.Floor("0.4")],
    ]
    return Case(rng.choice(choices), LABELS[:k])


# -- mechanisms ----------------------------------------------------------------------------------------


def mechanisms(case: Case, rng: random.Random) -> Iterator[Rows]:
    """Mechanisms that keep the rules: deterministic, sparse and extreme ones, moved to what is constant until they do,
    and no further than needed."""
    k = len(case.labels)
    m = len(case.outputs) if case.outputs else k
    ends: list[Rows] = [[unit(m, y) for y in own] for own in product(range(m), repeat=k)]
    ends = rng.sample(ends, min(len(ends), 8))
    if m == k:
        ends.append([unit(m, x) for x in range(k)])
    for _ in range(4):
        masses = [[rng.choice([0, 0, 1, 1, 2, 9]) for _ in range(m)] for _ in range(k)]
        ends.append([[F(n, sum(row)) for n in row] if any(row) else unit(m, 0) for row in masses])
    ends += extreme(case.problem, k, m, rng)
    for end in ends:
        masses = [1 + rng.randint(0, 3) * rng.randint(0, 1) for _ in range(m)]
        start = [[F(n, sum(masses)) for n in masses]] * k
        if case.keeps(end):
            yield end
        elif case.keeps(start):
            low, step = F(0), F(1, 2)
            while step > F(1, STEPS):
                low, step = low + step * case.keeps(moved(start, end, low + step)), step / 2
            yield moved(start, end, low)


def moved(start: Rows, end: Rows, share: Fraction) -> Rows:
    """From one matrix toward another one."""
    return [
        [p + share * (q - p) for p, q in zip(one, other, strict=True)] for one, other in zip(start, end, strict=True)
    ]


def extreme(problem: dict[str, Any], k: int, m: int, rng: random.Random) -> Iterator[Rows]:
    """Matrices at which an output is much likelier at one input than at another one, under the rows that are linear."""
    cone, above, right = problem["cone"], list[np.ndarray](), list[float]()
    base = cone["base"] if cone["kind"] == "polyhedral" else cone
    if base["kind"] == "graph":
        ratios = [
            (x, z, float(F(n)) if base.get("unit") == "gamma" else np.exp(float(F(n)))) for x, z, n in base["edges"]
        ]
    elif base["kind"] == "complete":
        ratio = float(F(base["gamma"])) if "gamma" in base else np.exp(float(F(base["epsilon"])))
        ratios = [(x, z, ratio) for x, z in permutations(range(k), 2)]
    else:
        ratios = []
    forms = [np.eye(k)[x] - ratio * np.eye(k)[z] for x, z, ratio in ratios]
    forms += [np.array([float(F(n)) for n in row]) for row in cone.get("rows", [])] if base is not cone else []
    for y in range(m):
        for form in forms:
            table = np.zeros((k, m))
            table[:, y] = form
            above.append(table.ravel())
            right.append(0.0)
    equal, values = [np.kron(np.eye(k)[x], np.ones(m)) for x in range(k)], [1.0] * k
    for row in problem["rows"]:
        table = np.zeros((k, m))
        for x, y, number in row["terms"]:
            table[x, y] = float(F(number))
        if row["sense"] == "=":
            equal.append(table.ravel())
            values.append(float(F(row["rhs"])))
        else:
            above.append(table.ravel())
            right.append(float(F(row["rhs"])))
    for _ in range(8):
        goal = np.zeros((k, m))
        x, z = rng.sample(range(k), 2)
        own = [y for y in range(m) if rng.random() < 0.5]
        goal[x, own], goal[z, own] = 1, -rng.choice([0.5, 1.5, 3, 8])
        goal += [[rng.random() / 100 for _ in range(m)] for _ in range(k)]
        found = linprog(
            -goal.ravel(), np.array(above) if above else None, right or None, np.array(equal), values, method="highs"
        )
        if found.status == 0:
            rows = [[F(max(round(q * 2**16), 0)) for q in row] for row in found.x.reshape(k, m)]
            yield [[n / sum(row) for n in row] for row in rows]


FAMILIES = [gains, columns, events, graphs, robust, others]


# -- declared levels -----------------------------------------------------------------------------------


@dataclass
class Declared:
    """A notion as rules declare it: its number, and the prior that this is at, where there is one."""

    rules: list[rr.Constraint]
    labels: Sequence[str]
    notion: str
    number: Fraction
    prior: Sequence[Fraction] | None = None
    outputs: list[str] | None = None


def declared(rng: random.Random, kind: str) -> Declared:
    """A notion at its least value, nearly there, between, at its greatest one (which excludes nothing), or beyond it;
    in any unit, and with rows in units of their own."""
    k = rng.choice([2, 3, 3])
    labels, outputs = LABELS[:k], [f"y{y}" for y in range(2)]
    prior = rr.Prior.uniform(labels) if rng.random() < 0.3 else drawn_prior(rng, k)
    p, there = prior.probabilities, [share for share in prior.probabilities if share]
    place = rng.choice([F(0), F(1, 10**9), F(1, 7), F(1, 2), F(9, 10), F(1), F(3, 2)])
    unit_of_rows = [rng.choice([F(1), F(1), F(1, 10**9), F(10) ** 9, F(7, 3)]) for _ in range(40)]

    def scaled(rows: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
        return [[own * entry for entry in row] for own, row in zip(unit_of_rows, rows, strict=False)]

    def between(least: Fraction | int, greatest: Fraction | int) -> Fraction:
        return least + (greatest - least) * place

    match kind:
        case "Bayes success":
            number, unit_of_gain = between(max(p), 1), unit_of_rows[0]
            gain = [[unit_of_gain * (x == z) for z in range(k)] for x in range(k)]
            own = rr.BayesSuccess(prior, gain=gain, actions=labels) if unit_of_gain != 1 else rr.BayesSuccess(prior)
            return Declared([rr.AtMost(own, unit_of_gain * number)], labels, kind, number, p)
        case "maximal leakage":
            gamma = between(1, k)
            if gamma > 1 and rng.random() < 0.5:
                return Declared([rr.privacy.MaximalLeakage(gamma=gamma)], labels, kind, gamma)
            return Declared([rr.AtMost(rr.privacy.BayesCapacity(), gamma)], labels, kind, gamma)
        case "pointwise maximal leakage":
            gamma = max(between(1, 1 / min(there)), 1 + F(1, 10**9))
            rows = [[(x == z) - gamma * share for z, share in enumerate(p)] for x, own in enumerate(p) if own]
            written = rng.random() < 0.5
            rule = (
                rr.ConeConstraint(scaled(rows)) if written else rr.privacy.PointwiseMaximalLeakage(prior, gamma=gamma)
            )
            return Declared([rule], labels, kind, gamma, p)
        case "LDP of the means over groups":
            gamma, sides = between(1, 6) + F(1, 100), ([F(1, 4), F(3, 4), F(0)], [F(0), F(0), F(1)])
            rows = [[a - gamma * b for a, b in zip(one, two, strict=True)] for one, two in (sides, sides[::-1])]
            return Declared([rr.ConeConstraint(scaled(rows))], LABELS[:3], kind, gamma)
        case "mutual information":
            number = between(0, F(str(round(-sum(float(q) * np.log(float(q)) for q in there), 6))))
            return Declared([rr.AtMost(rr.MutualInformation(prior), number)], labels, kind, number, p)
        case "chi-square information":
            number = between(0, len(there) - 1)
            return Declared([rr.AtMost(rr.ChiSquareInformation(prior), number)], labels, kind, number, p)
        case "entropy of the rows":
            return Declared([rr.EntropyRate(1 - min(place, F(1)))], labels, kind, 1 - min(place, F(1)))
        case "identification risk":
            counts = [rng.randint(1, 5) for _ in labels]
            number = min(max(between(0, 1), F(1, 1000)), F(99, 100))
            return Declared([rr.IdentificationRisk(counts, number)], labels, kind, number)
        case "channel capacity":
            number = between(0, F(str(round(np.log(k), 6))))
            return Declared([rr.AtMost(rr.privacy.ChannelCapacity(), number)], labels, kind, number)
        case "LDP between groups":
            gamma = between(1, 6) + F(1, 100)
            return Declared([rr.LDP(gamma=gamma, properties=[["a"]])], LABELS[:3], kind, gamma)
    assert kind == "approximate LDP", kind
    gamma, delta = between(1, 6), F(1, 20)
    rules: list[rr.Constraint] = []
    for own, ((x, z), y) in zip(unit_of_rows, product(permutations(range(k), 2), range(2)), strict=False):
        table = [[F(0)] * 2 for _ in range(k)]
        table[x][y], table[z][y] = own, -own * gamma
        rules.append(rr.LinearConstraint(table, "<=", own * delta, name=f"row {len(rules)}"))
    return Declared(rules, labels, kind, gamma, outputs=outputs)


NOTIONS = (
    "Bayes success",
    "maximal leakage",
    "pointwise maximal leakage",
    "LDP of the means over groups",
    "mutual information",
    "chi-square information",
    "entropy of the rows",
    "identification risk",
    "channel capacity",
    "LDP between groups",
    "approximate LDP",
)
