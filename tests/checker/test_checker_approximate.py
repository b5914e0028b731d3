"""The trusted checker: approximate privacy and its `events`; the bounds `known`.

Proofs that a small writer of this file makes, by a linear program over all events; the claims of mutants against that
program and against the definition; what the format forbids.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import mutants
import numpy as np
import pytest
from builders import Document, Information, encode, exp_ends, information_document, put, rat, stated
from drawing import thinned
from scipy.optimize import linprog

from rropt import checker
from rropt.checker import check_bytes

Vector = list[Fraction]
NEAR = Fraction(1, 10**7)
FREE: Document = {"kind": "free"}
COMPLETE: Document = {"kind": "complete", "gamma": "5"}
PATH: Document = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "4"], [1, 2, "4"]]}


def ratio(level: Document) -> tuple[Fraction, Fraction]:
    return exp_ends(Fraction(level["epsilon"])) if "epsilon" in level else (Fraction(level["gamma"]),) * 2


class Case:
    """A linear problem under approximate privacy, and the solution of its program in floating point."""

    def __init__(
        self,
        level: Document,
        cost: Sequence[Sequence[int]],
        sense: str = "maximize",
        cone: Document = FREE,
        rows: Sequence[tuple[str, str, dict[tuple[int, int], int]]] = (),
    ):
        self.level, self.cost, self.sense, self.cone, self.rows = level, cost, sense, cone, rows
        self.k, self.m = len(cost), len(cost[0])
        self.delta = Fraction(level["delta"])
        self.sign = 1 if sense == "maximize" else -1
        events = itertools.chain.from_iterable(itertools.combinations(range(self.m), n) for n in range(1, self.m))
        pairs = itertools.permutations(range(self.k), 2)
        self.events = [(x, z, own) for (x, z), own in itertools.product(pairs, sorted(events))]

    def index(self, x: int, y: int) -> int:
        return x * self.m + y

    def solve(self) -> Any:
        g, many = float(ratio(self.level)[0]), self.k * self.m
        upper, rhs = [], []
        for x, z, own in self.events:
            line = np.zeros(many)
            for y in own:
                line[self.index(x, y)] += 1
                line[self.index(z, y)] -= g
            upper.append(line)
            rhs.append(float(self.delta))
        for sense, right, terms in self.rows:
            assert sense == "<="
            line = np.zeros(many)
            for (x, y), c in terms.items():
                line[self.index(x, y)] = c
            upper.append(line)
            rhs.append(float(Fraction(right)))
        for x, z, top in self.edges():
            for y in range(self.m):
                line = np.zeros(many)
                line[self.index(x, y)], line[self.index(z, y)] = 1, -top
                upper.append(line)
                rhs.append(0.0)
        sums = np.kron(np.eye(self.k), np.ones(self.m))
        c = [-self.sign * float(n) for row in self.cost for n in row]
        return linprog(c, A_ub=np.array(upper), b_ub=rhs, A_eq=sums, b_eq=np.ones(self.k), bounds=(0, None))

    def edges(self) -> Iterator[tuple[int, int, float]]:
        if self.cone["kind"] == "complete":
            yield from (
                (x, z, float(Fraction(self.cone["gamma"]))) for x, z in itertools.permutations(range(self.k), 2)
            )
        for x, z, top in self.cone.get("edges", []):
            yield x, z, float(Fraction(top))

    def proof(self, kind: str = "linear-dual") -> tuple[Document, Fraction]:
        """Multipliers of the program, rounded; the prices that they need, a little more where g is enclosed."""
        found = self.solve()
        assert found.status == 0 or kind == "farkas"
        marginals = [Fraction(max(-n, 0)).limit_denominator(10**6) for n in found.ineqlin.marginals]
        u, weights = marginals[: len(self.events)], marginals[len(self.events) :][: len(self.rows)]
        r = [[Fraction(self.sign * n) for n in row] for row in self.cost]
        gh = ratio(self.level)[1]
        for (x, z, own), n in zip(self.events, u, strict=True):
            for y in own:
                r[x][y] -= n
                r[z][y] += n * gh
        for (_, _, terms), n in zip(self.rows, weights, strict=True):
            for (x, y), c in terms.items():
                r[x][y] -= n * c
        tiny = Fraction(1, 2**70) if "epsilon" in self.level else Fraction(0)
        prices = [Fraction(math.ceil((max(row) + tiny) * 2**60), 2**60) if tiny else max(row) for row in r]
        proof: Document = {
            "kind": kind,
            "prices": [rat(a) for a in prices],
            "rows": [rat(n) for n in weights],
            "flows": [[]] * self.m if self.cone["kind"] == "graph" else [],
            "events": [[x, z, list(own), rat(n)] for (x, z, own), n in sorted(zip(self.events, u, strict=True)) if n],
        }
        rhs = sum((n * Fraction(right) for (_, right, _), n in zip(self.rows, weights, strict=True)), Fraction(0))
        return proof, sum(prices) + rhs + self.delta * sum(u)

    def document(self) -> Document:
        proof, top = self.proof()
        found = self.solve().x.reshape(self.k, self.m)
        share = Fraction(1, 10**6)  # of a constant mechanism, so that rounding breaks nothing
        table = []
        for row in found:
            own = [max(Fraction(n).limit_denominator(10**9), Fraction(0)) for n in row]
            table.append([(1 - share) * n / sum(own) + share / self.m for n in own])
        common = [math.lcm(*(n.denominator for n in row)) for row in table]
        value = sum((c * q for own, row in zip(self.cost, table, strict=True) for c, q in zip(own, row, strict=True)),
                    Fraction(0))  # fmt: skip
        names = [str(y) for y in range(self.m)]
        return {
            "format": "rropt-certificate",
            "problem": self.problem(names),
            "mechanism": {
                "denominators": [str(d) for d in common],
                "outputs": names,
                "columns": [{"dense": [str(int(row[y] * d)) for row, d in zip(table, common, strict=True)]}
                            for y in range(self.m)],
            },
            "value": {"lower": rat(value), "upper": rat(value)},
            "bound": rat(self.sign * top),
            "proof": proof,
            "assumptions": [],
        }  # fmt: skip

    def problem(self, names: list[str]) -> Document:
        cost = [[x, y, rat(Fraction(n))] for x, row in enumerate(self.cost) for y, n in enumerate(row) if n]
        return {
            "sense": self.sense,
            "inputs": [str(x) for x in range(self.k)],
            "outputs": names,
            "weights": ["1"] * self.k,
            "utility": {"kind": "linear", "cost": cost},
            "cone": self.cone,
            "rows": [{"name": str(i), "sense": sense, "rhs": right,
                      "terms": [[x, y, str(c)] for (x, y), c in sorted(terms.items())]}
                     for i, (sense, right, terms) in enumerate(self.rows)],
            "approximate": self.level,
        }  # fmt: skip


UNIT = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
FAR = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
CASES: dict[str, Case] = {
    "pair": Case({"gamma": "3", "delta": "1/5"}, [[1, 0], [0, 1]]),
    "three": Case({"gamma": "2", "delta": "1/10"}, UNIT),
    "three, epsilon": Case({"epsilon": "1", "delta": "1/100"}, UNIT),
    "loss": Case({"epsilon": "1/2", "delta": "1/20"}, FAR, "minimize"),
    "two by four": Case({"gamma": "4", "delta": "1/8"}, [[3, 2, 0, 0], [0, 0, 1, 5]]),
    "complete": Case({"gamma": "2", "delta": "1/4"}, UNIT, cone=COMPLETE),
    "graph": Case({"gamma": "2", "delta": "1/4"}, UNIT, cone=PATH),
    "rows": Case({"gamma": "2", "delta": "1/10"}, UNIT, rows=[("<=", "1/2", {(0, 0): 1}), ("<=", "7/6", {
        (0, 0): 1, (1, 1): 1, (2, 2): 1,
    })]),
}  # fmt: skip
DOCUMENTS = {name: case.document() for name, case in CASES.items()}
EXAMPLE: Document = put(put(put(put(DOCUMENTS["pair"], "mechanism", value={
    "denominators": ["5"], "outputs": ["0", "1"], "columns": [{"dense": ["4", "1"]}, {"dense": ["1", "4"]}],
}), "value", value={"lower": "8/5", "upper": "8/5"}), "bound", value="8/5"), "proof", value={
    "kind": "linear-dual", "prices": ["3/4", "3/4"], "rows": [], "flows": [],
    "events": [[0, 1, [0], "1/4"], [1, 0, [1], "1/4"]],
})  # fmt: skip


def impossible() -> Document:
    """A trace of 17/10 where 8/5 is the most: the multipliers of the example."""
    row = {"name": "trace", "sense": "<=", "rhs": "-17/10", "terms": [[0, 0, "-1"], [1, 1, "-1"]]}
    proof = {**EXAMPLE["proof"], "kind": "farkas", "rows": ["1"]}
    made = put(EXAMPLE, "problem", "rows", value=[row])
    return {**made, "mechanism": None, "value": None, "bound": None, "proof": proof}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_best_is_proved(name: str) -> None:
    verdict = check_bytes(encode(DOCUMENTS[name]))
    assert verdict.proved, verdict.reason
    assert verdict.gap is not None
    assert 0 <= verdict.gap < Fraction(1, 10**4) or CASES[name].cone != FREE
    assert "approximate (" in verdict.problem
    assert "delta = " in verdict.problem


def test_the_example_of_the_text() -> None:
    verdict = check_bytes(encode(EXAMPLE))
    assert verdict.proved, verdict.reason
    assert (verdict.lower, verdict.upper) == (Fraction(8, 5), Fraction(8, 5))
    assert "approximate (gamma = 3, delta = 1/5)" in verdict.problem
    assert check_bytes(encode(impossible())).proved
    near = put(impossible(), "problem", "rows", 0, "rhs", value="-8/5")
    assert check_bytes(encode(near)).status == "REFUTED"


# -- what is claimed, by the definition --------------------------------------------------------------------


def is_private(document: Document) -> bool:
    level, table = document["problem"]["approximate"], document["mechanism"]
    k = len(document["problem"]["inputs"])
    below = [Fraction(d) for d in table["denominators"]] * (k if len(table["denominators"]) == 1 else 1)
    rows = [[Fraction(column["dense"][x]) / below[x] for column in table["columns"]] for x in range(k)]
    top = ratio(level)[1]
    return all(
        sum((a - top * b for a, b in zip(rows[x], rows[z], strict=True) if a > top * b), Fraction(0))
        <= Fraction(level["delta"])
        for x, z in itertools.permutations(range(k), 2)
    ) and all(sum(row) == 1 for row in rows)


def is_true(document: Document) -> bool:
    """The mechanism is private, and no other is better than the bound, by the program over all events."""
    problem = document["problem"]
    k, m = len(problem["inputs"]), len(problem["outputs"])
    cost = [[0] * m for _ in range(k)]
    table: list[list[Any]] = cost
    for x, y, c in problem["utility"]["cost"]:
        table[x][y] = Fraction(c)
    rows: list[Any] = [
        (row["sense"], row["rhs"], {(x, y): float(Fraction(c)) for x, y, c in row["terms"]}) for row in problem["rows"]
    ]
    if any(row[0] == "=" for row in rows):
        return True  # not what this oracle is for
    found = Case(problem["approximate"], table, problem["sense"], problem["cone"], rows).solve()
    if document["bound"] is None:
        return found.status == 2
    sign = 1 if problem["sense"] == "maximize" else -1
    best = -sign * found.fun if found.status == 0 else -sign * math.inf
    return is_private(document) and sign * (best - Fraction(document["bound"])) <= NEAR


@pytest.mark.parametrize("name", thinned([*DOCUMENTS, "impossible"], 4))
def test_mutants_that_are_proved_are_true(name: str) -> None:
    base = stated(impossible() if name == "impossible" else DOCUMENTS[name])
    counted: Counter[str] = Counter()
    every = list(mutants.systematic(base))
    several = [*random.Random(name).sample(every, min(200, len(every))),
               *mutants.at_random(base, [stated(one) for one in DOCUMENTS.values()], 60, len(name))]  # fmt: skip
    for mutant in several:
        verdict = check_bytes(mutant.data)
        counted[verdict.status] += 1
        if mutant.expectation in ("refused", "unreadable"):
            assert not verdict.proved, mutant.name
        if verdict.proved:
            document = json.loads(mutant.data)
            assert "approximate" not in document["problem"] or is_true(document), mutant.name
    assert min(counted["PROVED"], counted["REFUTED"], counted["UNREADABLE"]) >= 5, counted


def test_events_at_random_by_the_text() -> None:
    """The verdict is that of the text in rational arithmetic, for any multipliers."""
    rng, answers = random.Random(5), Counter[bool]()
    for _ in range(150):
        k, m = rng.choice(((2, 2), (2, 3), (3, 2)))
        cost = [[rng.randint(0, 3) for _ in range(m)] for _ in range(k)]
        level: Document = {"gamma": rng.choice(("2", "3/2")), "delta": "1/7"}
        case = Case(level, cost, rng.choice(("maximize", "minimize")))
        made = case.document()
        chosen = sorted(rng.sample(case.events, rng.randint(0, min(4, len(case.events)))))
        events = [(x, z, own, Fraction(rng.randint(1, 6), 4)) for x, z, own in chosen]
        prices = [Fraction(rng.randint(-2, 12), 4) for _ in range(k)]
        g = Fraction(case.level["gamma"])
        worst = max(
            case.sign * case.cost[x][y] - prices[x]
            - sum((u * ((x1 == x) - g * (z1 == x)) for x1, z1, own, u in events if y in own), Fraction(0))
            for x in range(k) for y in range(m)
        )  # fmt: skip
        top = sum(prices) + case.delta * sum(u for *_, u in events)
        listed = [[x, z, list(own), rat(u)] for x, z, own, u in events]
        made["proof"].update(prices=[rat(a) for a in prices], events=listed)
        value = case.sign * Fraction(made["value"]["lower"])
        made["bound"] = rat(case.sign * max(top, value))
        verdict = check_bytes(encode(made))
        assert verdict.proved == (worst <= 0), (made, verdict)
        answers[verdict.proved] += 1
        if verdict.proved:
            assert is_true(made)
    assert min(answers.values()) >= 15, answers


def test_the_ratio_is_held_low_for_the_mechanism_and_high_for_the_bound() -> None:
    low, high = exp_ends(Fraction(1), 2000)  # closer to e than gl and gh, which are no farther from it than `near`
    near = Fraction(1, 2**100)
    made = put(EXAMPLE, "problem", "approximate", value={"epsilon": "1", "delta": "1/5"})
    q = Fraction(4, 5)
    bound = {"bound": "2", "proof": {**EXAMPLE["proof"], "events": [], "prices": ["1", "1"]}}
    # This mechanism needs delta = q - gl (1 - q).
    for ratio, proved in ((low - near, True), (low, False), (high, False)):
        made["problem"]["approximate"]["delta"] = rat(q - ratio * (1 - q))
        verdict = check_bytes(encode({**made, **bound}))
        assert verdict.proved == proved, verdict
        assert proved or "rows 0 and 1" in verdict.reason
    # Prices for gl are too low for gh: a_1 >= gh u.
    made["problem"]["approximate"]["delta"] = "1/5"
    u = Fraction(1, 4)
    made["mechanism"]["columns"] = [{"dense": ["1", "1"]}, {"dense": ["4", "4"]}]
    made["value"] = {"lower": "1", "upper": "1"}
    for top, proved in ((low, False), (high, False), (high + near, True)):
        prices = [max(top * u, 1 - u)] * 2
        claim = {"bound": rat(2 * prices[0] + Fraction(1, 10)), "proof": {
            **EXAMPLE["proof"], "prices": [rat(a) for a in prices],
        }}  # fmt: skip
        u = Fraction(1, 3)  # from now on a = gh u is the larger one; at 1/4 it is 1 - u
        prices = [top * u] * 2
        claim["proof"]["prices"] = [rat(a) for a in prices]
        claim["proof"]["events"] = [[0, 1, [0], rat(u)], [1, 0, [1], rat(u)]]
        claim["bound"] = rat(2 * prices[0] + Fraction(2, 15))
        assert check_bytes(encode({**made, **claim})).proved == proved


# -- known -------------------------------------------------------------------------------------------------


def of_entropy(weights: Sequence[int]) -> Document:
    two = Fraction(2)
    parts = Information(list(weights), {"kind": "complete", "gamma": "2"}, two, two, Fraction(1))
    made = information_document(parts, ["1"])
    total = sum(weights)
    prices = []
    for weight in weights:
        p = Fraction(weight, total)
        share = -float(p) * math.log(p) if 0 < p < 1 else 0.0
        prices.append(Fraction(math.ceil((share + 1e-9 * (0 < p < 1)) * 2**40), 2**40))
    made["proof"] = {"kind": "column-dual", "prices": [rat(a) for a in prices], "known": "entropy"}
    made.update(bound=rat(sum(prices)), assumptions=[])
    return made


def test_robust_cones_of_many_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = of_entropy([1] * 4)
    cone: Document = {"kind": "robust", "gamma": "2", "blocks": [[0, 1], [2, 3]], "lower": ["0"] * 4}
    made = put(made, "problem", "cone", value=cone)
    monkeypatch.setattr(checker, "MAX_ROBUST_INPUTS", 3)
    assert "k inputs of a robust cone" in check_bytes(encode(made)).reason


# -- what the format forbids ---------------------------------------------------------------------------------

AT = ("problem", "approximate")
EVENTS = ("proof", "events")
ONE = [0, 1, [0], "1/4"]
FORBIDDEN: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "x = z": ((*EVENTS, 0), [1, 1, [0], "1/4"]),
    "x beyond": ((*EVENTS, 1), [2, 0, [1], "1/4"]),
    "z beyond": ((*EVENTS, 1), [1, 2, [1], "1/4"]),
    "outputs that are not a list": ((*EVENTS, 0), [0, 1, 0, "1/4"]),
    "three": ((*EVENTS, 0), [0, 1, [0]]),
    "five": ((*EVENTS, 0), [0, 1, [0], "1/4", "1"]),
    "an object": ((*EVENTS, 0), {}),
    "events of null": (EVENTS, None),
    "events without approximate": (AT, put),
    "delta 0": ((*AT, "delta"), "0"),
    "delta 1": ((*AT, "delta"), "1"),
    "delta below 0": ((*AT, "delta"), "-1/5"),
    "no delta": ((*AT, "delta"), put),
    "no level": ((*AT, "gamma"), put),
    "both levels": ((*AT, "epsilon"), "1"),
    "a kind": ((*AT, "kind"), "complete"),
    "gamma of 1": ((*AT, "gamma"), "1"),
    "epsilon of 0": (AT, {"epsilon": "0", "delta": "1/5"}),
    "epsilon above 20": (AT, {"epsilon": "21", "delta": "1/5"}),
    "approximate of null": (AT, None),
    "a structure": (("problem", "structure"), "uniform_off_diagonal"),
    "no outputs of the problem": (("problem", "outputs"), None),
    "entropy as utility": (("problem", "utility"), {"kind": "entropy", "shares": ["1", "1"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    path, value = FORBIDDEN[name]
    verdict = check_bytes(encode(put(EXAMPLE, *path, value=value)))
    assert verdict.status == "UNREADABLE", verdict
    if path == ("proof",):
        assert "proof.kind: expected one of linear-dual, farkas" in verdict.reason, verdict


def test_what_is_allowed() -> None:
    for events in ([], [ONE], [ONE, [0, 1, [0, 1], "1/9"], [0, 1, [1], "1/9"], [1, 0, [1], "1/4"]]):
        assert check_bytes(encode(put(EXAMPLE, *EVENTS, value=events))).status in ("PROVED", "REFUTED"), events


# -- one mutant a check --------------------------------------------------------------------------------------


def too_open() -> Document:
    """The identity in the columns that no event names: its value is right and within the bound."""
    made = copy.deepcopy(EXAMPLE)
    made["mechanism"].update(denominators=["1"], columns=[{"dense": ["1", "0"]}, {"dense": ["0", "1"]}])
    return {**made, "value": {"lower": "2", "upper": "2"}, "bound": "2"}


def other_columns() -> Document:
    """A u of 1/4 on output 0 where it is needed on output 1."""
    return put(EXAMPLE, *EVENTS, value=[ONE, [1, 0, [0], "1/4"]])


def wrong_side() -> Document:
    """Events of the pairs the other way round."""
    return put(EXAMPLE, *EVENTS, value=[[0, 1, [1], "1/4"], [1, 0, [0], "1/4"]])


def without_delta() -> Document:
    """sum(a) alone, and a mechanism that is no better."""
    columns = [{"dense": ["1", "1"]}, {"dense": ["1", "1"]}]
    made = put(EXAMPLE, "mechanism", value={"denominators": ["2"], "outputs": ["0", "1"], "columns": columns})
    return {**made, "value": {"lower": "1", "upper": "1"}, "bound": "3/2"}


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("approximate: the mechanism", ("_check_approximate",), too_open),
    ("approximate: delta left out", ("_check_lines",), without_delta),
    ("approximate: events of other outputs", ("_check_lines",), other_columns),
    ("approximate: events of other pairs", ("_check_lines",), wrong_side),
    ("approximate: nothing is negative", ("_check_lines",), lambda: put(
        impossible(), "problem", "rows", 0, "rhs", value="-31/20"
    )),
    ("known: less than the entropy", ("_check_lines",), lambda: put(
        put(of_entropy([2, 1]), "proof", "prices", 0, value="1/4"), "mechanism", "columns",
        value=[{"dense": [of_entropy([2, 1])["mechanism"]["denominators"][0]] * 2}, {"dense": ["0", "0"]}],
    ) | {"value": {"lower": "0", "upper": "0"}}),
]  # fmt: skip
