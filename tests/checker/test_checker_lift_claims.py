"""False claims with a lift: the best proof of the problem after a step that is read wrongly, in some one way that makes
it smaller than it is. None is PROVED; the best proof of the problem that it is, is.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import pytest
from builders import Document, encode, put, rat, said
from independent_checker.steps import after_steps
from scipy.optimize import linprog
from shells import checked, member, table
from test_checker_lift import RENYI, ROW

from rropt.checker import check_bytes
from rropt.prove.elaborate import in_lines

F = Fraction
SLACK = F(1, 2**40)


def weak(number: float) -> F:
    """A multiplier, 0 or more, as a rational."""
    return max(F(0), F(round(number * 2**30), 2**30))


class Dual:
    """The best `linear-dual`, `column-dual` of Bayes success or `farkas` of a problem without limits, by HiGHS, made
    exact: the prices are the least that its multipliers leave."""

    def __init__(self, last: Document, kind: str) -> None:
        self.last, self.kind, self.k = last, kind, len(last["inputs"])
        cone, sign = last["cone"], 1 if last["sense"] == "maximize" else -1
        base = cone.get("base", cone)
        self.cone_rows = [[F(n) for n in row] for row in cone.get("rows", [])]
        self.edges = [(x, z, self.ratio(base, n)) for x, z, n in base.get("edges", [])]
        self.costs = [[F(0)] * self.k for _ in last["outputs"] or [0]]
        if kind == "linear-dual":
            for x, y, c in last["utility"]["cost"]:
                self.costs[y][x] = sign * F(c)
        if kind == "column-dual":
            whole = sum(map(int, last["weights"]))
            gains = last["utility"]["gain"]
            self.costs = [[F(int(w), whole) * F(g) for w, g in zip(last["weights"], own, strict=True)] for own in gains]
        self.rows = [(row["sense"], F(row["rhs"]), {(x, y): F(c) for x, y, c in row["terms"]}) for row in last["rows"]]
        self.solve()

    @staticmethod
    def ratio(base: Document, number: str) -> F:
        return F(number) if "unit" in base else F(int(np.exp(float(F(number))) * 2**40) + 2, 2**40)

    def uses(self) -> list[tuple[F, list[tuple[int, int, F]], bool]]:
        """Of each multiplier: what it adds to the yield, to residuals as (y, x, number), and whether it has a sign."""
        found: list[tuple[F, list[tuple[int, int, F]], bool]] = []
        for sense, rhs, terms in self.rows:
            found.append((rhs, [(y, x, -c) for (x, y), c in terms.items()], sense == "<="))
        for y in range(len(self.costs)):
            found += [(F(0), [(y, x, -c) for x, c in enumerate(row)], True) for row in self.cone_rows]
            found += [(F(0), [(y, x, F(-1)), (y, z, g)], True) for x, z, g in self.edges]
        return found

    def solve(self) -> None:
        uses, k, m = self.uses(), self.k, len(self.costs)
        below = np.zeros((m * k, k + len(uses)))
        for y in range(m):
            below[y * k : (y + 1) * k, :k] = -np.eye(k)
        for j, (_, changes, _) in enumerate(uses):
            for y, x, number in changes:
                below[y * k + x, k + j] += float(number)
        side = [-float(c) for own in self.costs for c in own]
        # A problem that is read wrongly may have no mechanism, and proofs of any bound.
        bounds = [(-99, 99)] * k + [(0 if own[2] else -99, 99) for own in uses]
        found = linprog([1.0] * k + [float(own[0]) for own in uses], A_ub=below, b_ub=side, bounds=bounds)
        assert found.status == 0, found.message
        self.amounts = [
            weak(number) if own[2] else F(round(number * 2**30), 2**30)
            for number, own in zip(found.x[k:], uses, strict=True)
        ]
        residuals = [list(own) for own in self.costs]
        for amount, (_, changes, _) in zip(self.amounts, uses, strict=True):
            for y, x, number in changes:
                residuals[y][x] += amount * number
        self.prices = [max(own[x] for own in residuals) + SLACK for x in range(k)]
        self.value = sum(self.prices) + sum(amount * own[0] for amount, own in zip(self.amounts, uses, strict=True))

    def proof(self, steps: list[Document]) -> Document:
        each = len(self.cone_rows) + len(self.edges)
        rows, own = self.amounts[: len(self.rows)], self.amounts[len(self.rows) :]
        lists = [own[y * each : (y + 1) * each] for y in range(len(self.costs))]
        made: Document = {"kind": self.kind, "prices": [rat(a) for a in self.prices], "steps": steps, "flows": []}
        if self.kind != "column-dual":
            made["rows"] = [rat(n) for n in rows]
        if self.cone_rows:
            made["multipliers"] = [[rat(u) for u in some[: len(self.cone_rows)]] for some in lists]
        if self.last["cone"].get("base", self.last["cone"])["kind"] == "graph":
            flows = [zip(self.edges, some[len(self.cone_rows) :], strict=True) for some in lists]
            made["flows"] = [[[x, z, rat(f)] for (x, z, _), f in own if f] for own in flows]
        return made


def claim(problem: Document, steps: list[Document], dual: Dual, most: F | None = None, t: F | None = None) -> Document:
    """The bound of a proof, or what the mechanism is worth where that is more; `most` instead of them.

    t: how much of the rows is at the goal of the diagonal; the rest is alike in all outputs. 0 where it is absent.
    """
    least = problem["sense"] == "minimize"
    rows = [[(1 - (t or F(0))) / 3 + (t or F(0)) * (y == (x + least) % 3) for y in range(3)] for x in range(3)]
    whole = lcm(*(n.denominator for row in rows for n in row))
    mechanism = table([[int(n * whole) for n in row] for row in rows])
    bound = max(dual.value, -WORTH if least else WORTH) if most is None else most
    made = {**member(mechanism), "problem": problem, "proof": dual.proof(steps)}
    made |= {"bound": rat(-bound if least else bound), "value": {"lower": "-1000", "upper": "1000"}}
    return made | ({"mechanism": None, "value": None, "bound": None} if dual.kind == "farkas" else {})


WORTH = F(3)
"""Of a mechanism that says nothing, below all costs and gains of this file."""
UNIT = [[rat(F(int(x == z))) for x in range(3)] for z in range(3)]
LEAK = {"utility": {"kind": "bayes", "gain": UNIT}, "weights": ["1"] * 3, "at_most": "1/2"}
CHI = {"utility": {"kind": "chi_square"}, "weights": ["1", "2", "1"], "at_most": "1/4"}
KNOWN = {
    "utility": {"kind": "mutual_information", "given": [["1", "0"], ["1", "2"], ["2", "0"]]},
    "weights": ["1", "3", "2"],
    "at_most": "1/10",
}
DIAGONAL = {"kind": "linear", "cost": [[x, x, rat(F(4 - x))] for x in range(3)]}
AROUND = [
    ["9", "3", "1"],
    ["1", "9", "3"],
    ["3", "1", "9"],
    ["1", "1", "1"],
    ["9", "1", "9"],
    ["9", "9", "1"],
    ["1", "9", "9"],
]
PAIRS = [
    {**ROW, "pair": [x, z], "forms": [[rat(2 * t), rat(t * t)] for t in (F(1, 2), F(1), F(3, 2), F(2), F(3))]}
    for x in range(3)
    for z in range(3)
    if x != z
]
BAYES: Document = {"kind": "bayes", "gain": [["2", "0", "8"], ["0", "8", "0"], ["4", "0", "4"]]}
Case = tuple[dict[str, Any], list[Document], str]
CASES: dict[str, Case] = {
    "leakage": ({"utility": DIAGONAL, "limits": [LEAK]}, [{"kind": "lift", "of": 0, "points": UNIT}], "linear-dual"),
    "complete": (
        {"utility": DIAGONAL, "limits": [CHI], "cone": {"kind": "complete", "gamma": "5"}},
        [{"kind": "lift", "of": 0, "points": AROUND}],
        "linear-dual",
    ),
    "least": (
        {"utility": DIAGONAL, "sense": "minimize", "limits": [CHI], "cone": {"kind": "graph", "edges": [[0, 1, "2"]]}},
        [{"kind": "lift", "of": 0, "points": AROUND}],
        "linear-dual",
    ),
    "given": ({"utility": DIAGONAL, "limits": [KNOWN]}, [{"kind": "lift", "of": 0, "points": AROUND}], "linear-dual"),
    "two": (
        {"utility": DIAGONAL, "limits": [KNOWN, LEAK]},
        [
            {"kind": "lift", "of": 0, "points": AROUND},
            {"kind": "minorant", "of": 0, "points": UNIT},
            {"kind": "drop", "parts": ["rows"], "which": [0]},
        ],
        "linear-dual",
    ),
    "both": (
        {"utility": DIAGONAL, "limits": [KNOWN, LEAK]},
        [{"kind": "lift", "of": 1, "points": UNIT}, {"kind": "lift", "of": 0, "points": [[*n, "1"] for n in AROUND]}],
        "linear-dual",
    ),
    "pairs": ({"utility": DIAGONAL, "divergences": [RENYI]}, [{"kind": "lift", "rows": PAIRS}], "linear-dual"),
    "minorant": (
        {"utility": DIAGONAL, "divergences": [RENYI], "limits": [CHI]},
        [
            {"kind": "lift", "rows": PAIRS[:2]},
            {"kind": "minorant", "of": 0, "points": [[*n, "1", "7"] for n in AROUND[:3]]},
        ],
        "linear-dual",
    ),
    "polyhedral": (
        {
            "utility": DIAGONAL,
            "limits": [CHI],
            "cone": {"kind": "polyhedral", "base": {"kind": "complete", "gamma": "9"}, "rows": [["1", "-2", "0"]]},
        },
        [{"kind": "lift", "of": 0, "points": AROUND}],
        "linear-dual",
    ),
    "actions": (
        {"utility": BAYES, "outputs": None, "limits": [CHI], "weights": ["2", "1", "1"]},
        [{"kind": "lift", "of": 0, "points": AROUND}],
        "column-dual",
    ),
    "nothing": (
        {
            "utility": {"kind": "chi_square"},
            "limits": [LEAK],
            "rows": [{"name": "d", "sense": "<=", "rhs": "-8/5", "terms": [[x, x, "-1"] for x in range(3)]}],
        },
        [{"kind": "lift", "of": 0, "points": UNIT}],
        "farkas",
    ),
}


def prepared(name: str) -> tuple[Document, list[Document], str, Document]:
    """Problem, steps, kind of proof and last problem."""
    parts, steps, kind = copy.deepcopy(CASES[name])
    problem = member(table([[1, 1, 1]] * 3), **parts)["problem"]
    return problem, steps, kind, after_steps(problem, steps)


def stated(name: str, last: Document) -> tuple[Document, Dual]:
    problem, steps, kind, _ = prepared(name)
    dual = Dual(last, kind)
    return claim(problem, steps, dual), dual


def checked_names(made: Document) -> Document:
    """With the assumptions that the checker asks for."""
    _, _, names = check_bytes(encode(made)).reason.partition("assumptions: must be exactly [")
    return made | {"assumptions": [name for name in names[:-1].split(", ") if name]}


@pytest.mark.parametrize("name", CASES)
def test_the_best_proof_of_a_lift_is_one(name: str) -> None:
    made = checked_names(stated(name, prepared(name)[3])[0])
    assert said(made) == ("PROVED", "")
    if made["bound"] is not None:
        by = F(1 if made["problem"]["sense"] == "minimize" else -1, 10**6)
        assert said(put(made, "bound", value=rat(F(made["bound"]) + by)))[0] == "REFUTED"


def cone_rows(last: Document, change: Callable[[list[str], int], list[str]]) -> Document:
    """Another row in the place of each row of a lift; `change` takes the place of its new input."""
    made = copy.deepcopy(last)
    for i, row in enumerate(last["cone"]["rows"]):
        u = max(x for x, c in enumerate(row) if F(c))
        if u >= 3:
            made["cone"]["rows"][i] = change(row, u)
    return made


def scaled(row: list[str], u: int, by: F) -> list[str]:
    return [rat(F(c) * by) if x == u else c for x, c in enumerate(row)]


def moved(row: list[str], u: int) -> list[str]:
    """What stands at the new input stands at the one before it."""
    new = [F(c) for c in row]
    new[u - 1] += new[u]
    new[u] = F(0)
    return [rat(c) for c in new]


def with_edges(last: Document) -> Document:
    """Edges between all inputs, the new ones among them, at the ratio 2."""
    made, k = copy.deepcopy(last), len(last["inputs"])
    edges = [[x, z, "2"] for x in range(k) for z in range(k) if x != z]
    made["cone"]["base"] = {"kind": "graph", "unit": "gamma", "edges": edges}
    return made


MISREAD: dict[str, Callable[[Document], Document]] = {
    "the other sign": lambda last: cone_rows(last, lambda row, u: scaled(row, u, F(-1))),
    "no new input": lambda last: cone_rows(last, lambda row, u: scaled(row, u, F(0))),
    "half of the limit": lambda last: cone_rows(last, lambda row, u: scaled(row, u, F(1, 2))),
    "slightly less": lambda last: cone_rows(last, lambda row, u: scaled(row, u, F(9, 10))),
    "one place before": lambda last: cone_rows(last, moved),
    "deeper forms": lambda last: cone_rows(
        last, lambda row, u: [rat(F(c) + F(1, 9) * (x < 3)) if F(c) or x < 3 else c for x, c in enumerate(row)]
    ),
    "edges at the new input": with_edges,
    "one of the inputs of all": lambda last: cone_rows(last, lambda row, _: [*row[:3], *["0"] * (len(row) - 3)]),
}


def read_wrongly(proof: Document, wrong: Document, right: Document) -> Document:
    """The lines of a proof of the wrong problem, with the ratios of the right one."""
    own = {key: value for key, value in proof.items() if key != "steps"}
    (ratios,) = (line for line in in_lines(right, own | {"flows": []}) if line.startswith("ratios"))
    lines = [ratios if line.startswith("ratios") else line for line in in_lines(wrong, own)]
    return {"kind": "lines", "lines": lines, "steps": proof["steps"]}


@pytest.mark.parametrize("wrong", MISREAD)
@pytest.mark.parametrize("name", CASES)
def test_a_lift_that_is_read_wrongly_proves_nothing(name: str, wrong: str) -> None:
    """What the wrong problem would prove is better than what the right one can: refused, for it is not so."""
    last = prepared(name)[3]
    made, dual = stated(name, MISREAD[wrong](last))
    right = Dual(last, dual.kind)
    if dual.value > right.value - F(1, 10**6):
        return  # here it makes no difference
    if wrong == "edges at the new input":
        made["proof"] = read_wrongly(made["proof"], with_edges(last), last)
    status, reason = said(checked_names(made))
    assert (status, reason[:5]) == ("REFUTED", "proof"), reason


def test_most_of_the_wrong_readings_make_a_difference() -> None:
    """So that the test above says something of each of them."""
    for wrong, change in MISREAD.items():
        better = 0
        for name in CASES:
            _, _, kind, last = prepared(name)
            better += Dual(change(last), kind).value < Dual(last, kind).value - F(1, 10**6)
        assert better >= 5, wrong


def test_gains_below_zero_would_prove_what_is_false() -> None:
    """Of one action the columns are worth their differences, which sum to 0: every mechanism keeps the limit. A lift
    would leave no column a difference."""
    limit = {"utility": {"kind": "bayes", "gain": [["1", "-1"]]}, "weights": ["1", "1"], "at_most": "1/10"}
    best = table([[1, 0], [0, 1]])
    cost = [[0, 0, "1"], [1, 1, "1"]]
    made = member(best, utility={"kind": "linear", "cost": cost}, limits=[limit])
    made |= {"value": {"lower": "2", "upper": "2"}, "bound": "2"}
    dropped = [{"kind": "drop", "parts": ["limits"]}]
    made["proof"] = {"kind": "linear-dual", "prices": ["1", "1"], "rows": [], "flows": [], "steps": dropped}
    assert said(made)[0] == "PROVED"  # 2 it is
    # q_0 - q_1 <= u / 5 in each column: 1 + 1/5 at most.
    proof = {"kind": "linear-dual", "prices": ["0", "1", rat(F(1, 5) + SLACK)], "rows": [], "flows": []}
    proof |= {"multipliers": [[rat(2 + SLACK)], ["0"]], "steps": [{"kind": "lift", "of": 0, "points": [["1"]]}]}
    false = {**made, "mechanism": table([[1, 1], [1, 1]]), "value": {"lower": "1", "upper": "1"}, "proof": proof}
    assert said(false | {"bound": "13/10"})[0] == "UNREADABLE"
    shifted = put(false | {"bound": "13/10"}, "problem", "limits", 0, "utility", "gain", value=[["1", "0"]])
    shifted["problem"]["limits"][0]["at_most"] = "1/2"
    assert said(shifted)[0] == "REFUTED"


def test_divergences_must_not_see_the_new_input() -> None:
    """The entries of the new input are what its rows leave: no divergence limits how far they are from the others. A
    lift of a limit with the divergences still there would."""
    problem, _, _, _ = prepared("pairs")
    problem["limits"] = [LEAK]
    lifts: list[Document] = [{"kind": "lift", "of": 0, "points": UNIT}, {"kind": "lift", "rows": PAIRS}]
    right = after_steps(problem, lifts[::-1])
    made = claim(problem, lifts[::-1], Dual(right, "linear-dual"))
    assert checked(made).proved
    assert said(put(made, "proof", "steps", value=lifts))[0] == "UNREADABLE"
    tangents = {"kind": "tangents", "of": 0, "rows": [{**ROW, "pair": [3, 0], "forms": [["2", "1"]] * 3}]}
    del tangents["rows"][0]["of"]
    for steps in ([lifts[0], tangents], [lifts[1], tangents], [*lifts[::-1], tangents]):
        assert said(put(made, "proof", "steps", value=steps))[0] == "UNREADABLE"
    for pair in ([3, 0], [0, 3], [0, 4]):
        rows = [{**ROW, "pair": pair, "forms": [["2", "1"]]}]
        assert said(put(made, "proof", "steps", value=[{"kind": "lift", "rows": rows}]))[0] == "UNREADABLE"


def attained(name: str) -> F:
    """What a mechanism of a problem is worth, on the way from nothing to the goal of the diagonal."""
    problem, steps, kind, last = prepared(name)
    dual, low, high = Dual(last, kind), F(0), F(1)
    for _ in range(12):
        middle = (low + high) / 2
        allowed = said(checked_names(claim(problem, steps, dual, F(1000), middle)))[0] == "PROVED"
        low, high = (middle, high) if allowed else (low, middle)
    assert low > 0
    return -WORTH * (1 - low) if problem["sense"] == "minimize" else WORTH * (1 + 2 * low)


@pytest.mark.parametrize("name", [name for name, (_, _, kind) in CASES.items() if kind == "linear-dual"])
def test_no_damage_of_a_lift_proves_less_than_what_is_attained(name: str) -> None:
    """Numbers of the steps change, and the proof is the best of the problem after the change."""
    rng, best = random.Random(f"lift {name}"), attained(name)
    problem, steps, kind, _ = prepared(name)
    seen = {"PROVED": 0, "REFUTED": 0}
    for _ in range(30):
        changed = copy.deepcopy(steps)
        rows = [row for step in changed for row in step.get("rows", [])]
        places: list[tuple[Any, Any]] = [(row, "at_most") for row in rows]
        places += [(form, i) for row in rows for form in row["forms"] for i in (0, 1)]
        places += [(point, i) for step in changed for point in step.get("points", []) for i in range(len(point))]
        for _ in range(rng.randint(1, 3)):
            place, key = rng.choice(places)
            place[key] = rng.choice(["1", "2", "7"])
        dual = Dual(after_steps(problem, changed), kind)
        status, _ = said(checked_names(claim(problem, changed, dual)))
        assert status == "REFUTED" or dual.value >= best, changed
        seen[status] += 1
    assert seen["PROVED"] > 3
