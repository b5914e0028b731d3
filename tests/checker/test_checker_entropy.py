"""The trusted checker: entropy floors, the utility entropy and their proofs.

The yield and the entropies against floats, the claim of proofs with random multipliers against random mechanisms, what
cancels exactly, and what the format forbids.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import shells
from builders import Document, assert_unreadable, encode, named, phi, put, rat

from rropt import checker
from rropt.checker import check_bytes

Matrix = list[list[float]]
FREE: Document = {"kind": "free"}
COMPLETE: Document = {"kind": "complete", "gamma": "3"}
LEVEL: Document = {"kind": "complete", "epsilon": "1"}
RING: Document = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "2"], [1, 2, "2"], [2, 0, "2"]]}
OVER: Document = {"kind": "polyhedral", "base": FREE, "rows": [["1", "-2", "0"], ["0", "1", "-3"]]}
ON_RING: Document = {"kind": "polyhedral", "base": RING, "rows": [["1", "-3/2", "0"]]}


def entropy(row: list[float]) -> float:
    return -sum(map(phi, row))


# -- certificates ----------------------------------------------------------------------------------------


def problem_of(cone: Document, k: int = 3, m: int = 3, **other: Any) -> Document:
    """Maximise the diagonal under a floor of half of log m."""
    return {
        "sense": "maximize",
        "inputs": [f"in {x}" for x in range(k)],
        "outputs": [f"out {y}" for y in range(m)],
        "weights": ["1"] * k,
        "utility": {"kind": "linear", "cost": [[x, x, "1"] for x in range(min(k, m))]},
        "cone": cone,
        "rows": [],
        "entropy": {"at_least": "1/2", "shares": ["1"] * k, "sizes": [m] * k},
        **other,
    }


def plain_yield(problem: Document, proof: Document) -> float:
    """The yield of the text, in floats."""
    k, m, dual = len(problem["inputs"]), len(problem["outputs"]), proof["kind"] == "entropy-dual"
    e: Matrix = [[0.0] * m for _ in range(k)]
    sign = -1 if problem["sense"] == "minimize" else 1
    for x, y, c in problem["utility"].get("cost", []) if dual else []:
        e[x][y] += sign * float(Fraction(c))
    found = 0.0
    for row, own in zip(problem["rows"], proof["rows"], strict=True):
        found += float(Fraction(own) * Fraction(row["rhs"]))
        for x, y, c in row["terms"]:
            e[x][y] -= float(Fraction(own) * Fraction(c))
    for y, tilt in enumerate(proof["tilts"]):
        for x, h in enumerate(tilt):
            e[x][y] -= float(Fraction(h))
    t = float(Fraction(proof.get("weight", "0")))
    floor = problem.get("entropy", {"at_least": "0", "shares": ["0"] * k, "sizes": [1] * k})
    shares = [int(n) for n in problem["utility"].get("shares", ["0"] * k)] if dual else [0] * k
    for x in range(k):
        tau = t * int(floor["shares"][x]) + shares[x] / (sum(shares) or 1)
        most = max(e[x])
        found += most + (tau * math.log(sum(math.exp((v - most) / tau) for v in e[x])) if tau else 0)
        found -= t * float(Fraction(floor["at_least"])) * int(floor["shares"][x]) * math.log(floor["sizes"][x])
    return found


def document(problem: Document, proof: Document, table: list[list[int]] | None = None, spare: float = 1e-6) -> Document:
    """With the uniform mechanism or that of `table`, whose rows all have one sum."""
    k, m = len(problem["inputs"]), len(problem["outputs"])
    table = table or [[1] * m for _ in range(k)]
    rows = [[n / sum(table[0]) for n in row] for row in table]
    sign = -1 if problem["sense"] == "minimize" else 1
    bound = sign * (Fraction(round((plain_yield(problem, proof) + spare) * 2**40), 2**40))
    value = utility(problem, rows)
    near = [Fraction(math.floor((value - 1e-9) * 2**40), 2**40), Fraction(math.ceil((value + 1e-9) * 2**40), 2**40)]
    return named(
        {
            "format": "rropt-certificate",
            "problem": problem,
            "mechanism": {
                "denominators": [str(sum(table[0]))],
                "outputs": problem["outputs"],
                "columns": [{"dense": [str(table[x][y]) for x in range(k)]} for y in range(m)],
            },
            "value": {"lower": rat(near[0]), "upper": rat(near[1])},
            "bound": rat(bound),
            "proof": proof,
        }
    )


def infeasible(problem: Document, proof: Document) -> Document:
    made = document(problem, proof)
    return named(
        {**made, "mechanism": None, "value": None, "bound": None, "proof": {**proof, "kind": "entropy-farkas"}}
    )


def utility(problem: Document, rows: Matrix) -> float:
    if problem["utility"]["kind"] == "linear":
        return sum(float(Fraction(c)) * rows[x][y] for x, y, c in problem["utility"]["cost"])
    shares = [int(n) for n in problem["utility"]["shares"]]
    return sum(n * entropy(row) for n, row in zip(shares, rows, strict=True)) / sum(shares)


def multipliers(problem: Document, rng: random.Random, zero: bool = False) -> Document:
    """A proof with multipliers at random that pass the test of the columns; `zero`: the tilts are 0."""
    cone, k, m = problem["cone"], len(problem["inputs"]), len(problem["outputs"])
    base = cone.get("base", cone)
    proof: Document = {"kind": "entropy-dual", "rows": [], "tilts": [], "flows": []}
    for row in problem["rows"]:
        number = Fraction(rng.randint(0, 8), 8)
        proof["rows"].append(rat(number if row["sense"] == "<=" else number * rng.choice((1, -1))))
    if "entropy" in problem:
        proof["weight"] = rat(Fraction(rng.choice((0, 1, 1, 2, 3, 9)), rng.choice((1, 4, 16))))
    if cone["kind"] == "polyhedral":
        proof["multipliers"] = [
            ["0" if zero else rat(Fraction(rng.randint(0, 4), 8)) for _ in cone["rows"]] for _ in range(m)
        ]
    for y in range(m if cone["kind"] != "free" else 0):
        tilt = [Fraction(0)] * k
        if base["kind"] == "graph":
            flow = [[x, z, Fraction(0 if zero else rng.randint(0, 4), 8)] for x, z, _ in base["edges"]]
            proof["flows"].append([[x, z, rat(f)] for x, z, f in flow])
            for (x, z, f), (_, _, ratio) in zip(flow, base["edges"], strict=True):
                tilt[x] += f
                tilt[z] -= f * Fraction(ratio)
        if base["kind"] == "complete":
            gamma = Fraction(base["gamma"]) if "gamma" in base else Fraction(2719, 1000)
            x, z = rng.sample(range(k), 2)
            tilt[x], tilt[z] = Fraction(1, 8), -gamma / 8
        for u, row in zip(proof.get("multipliers", [[]] * m)[y], cone.get("rows", []), strict=True):
            tilt = [h + Fraction(u) * Fraction(c) for h, c in zip(tilt, row, strict=True)]
        proof["tilts"].append(["0"] * k if zero else [rat(h - Fraction(rng.randint(0, 1), 20)) for h in tilt])
    return proof


ROWS = [
    {"name": "sum", "sense": "=", "rhs": "1", "terms": [[0, 0, "1"], [1, 0, "1"], [2, 0, "1"]]},
    {"name": "most", "sense": "<=", "rhs": "3/4", "terms": [[0, 1, "1"], [2, 2, "1/2"]]},
]
MEAN: Document = {"kind": "entropy", "shares": ["2", "0", "1"]}
LOSS: Document = {"kind": "linear", "cost": [[0, 1, "3/2"], [1, 2, "2"], [2, 0, "1"]]}
UNEVEN: Document = {"at_least": "7/10", "shares": ["2", "0", "3"], "sizes": [3, 1, 2]}
PROBLEMS: dict[str, Document] = {
    "free": problem_of(FREE),
    "complete": problem_of(COMPLETE),
    "free 2 x 4": problem_of(FREE, 2, 4),
    "epsilon": problem_of(LEVEL),
    "graph": problem_of(RING),
    "polyhedral": problem_of(OVER),
    "polyhedral on a graph": problem_of(ON_RING),
    "rows": problem_of(COMPLETE, rows=ROWS),
    "loss": problem_of(RING, sense="minimize", utility=LOSS),
    "uneven": problem_of(COMPLETE, entropy=UNEVEN),
    "no floor to speak of": problem_of(FREE, entropy={**UNEVEN, "at_least": "0"}),
    "mean": {key: value for key, value in problem_of(RING, utility=MEAN).items() if key != "entropy"},
    "mean with a floor and rows": problem_of(COMPLETE, utility=MEAN, rows=ROWS, entropy=UNEVEN),
}


def in_cone(cone: Document, v: list[float]) -> bool:
    if cone["kind"] == "polyhedral":
        rows = ([float(Fraction(c)) for c in row] for row in cone["rows"])
        return in_cone(cone["base"], v) and all(sum(map(math.prod, zip(row, v, strict=True))) <= 0 for row in rows)
    if cone["kind"] == "complete":
        return max(v) <= (float(Fraction(cone["gamma"])) if "gamma" in cone else math.e) * min(v)
    return all(v[x] <= float(Fraction(ratio)) * v[z] for x, z, ratio in cone.get("edges", []))


def mechanisms(problem: Document, rng: random.Random, many: int) -> list[Matrix]:
    """Of the problem but for equalities, which a direction of their own would need; so without rows there."""
    k, m, found = len(problem["inputs"]), len(problem["outputs"]), []
    floor = problem.get("entropy")
    for _ in range(60 * many):
        if len(found) == many:
            break
        spread = rng.choice((0.2, 0.6, 1.5, 4.0))
        rows = []
        for _ in range(k):
            parts = [math.exp(rng.uniform(-spread, spread)) for _ in range(m)]
            rows.append([part / sum(parts) for part in parts])
        if floor is not None:
            shares = [int(n) for n in floor["shares"]]
            most = sum(n * math.log(size) for n, size in zip(shares, floor["sizes"], strict=True))
            if (
                sum(n * entropy(row) for n, row in zip(shares, rows, strict=True))
                < float(Fraction(floor["at_least"])) * most
            ):
                continue
        if all(in_cone(problem["cone"], [row[y] for row in rows]) for y in range(m)):
            found.append(rows)
    return found


@pytest.mark.parametrize("name", PROBLEMS)
def test_random_multipliers_are_proved_and_true(name: str) -> None:
    """A bound a little above the yield in floats is proved, one a little below is not; and no mechanism is better."""
    rng, problem = random.Random(name), PROBLEMS[name]
    some = [] if problem["rows"] else mechanisms(problem, rng, 60)
    assert some or problem["rows"]
    sign = -1 if problem["sense"] == "minimize" else 1
    for number in range(25):
        proof = multipliers(problem, rng, zero=number == 0)
        if problem["rows"] and not number:
            proof["rows"] = ["0"] * 2
        made = document(problem, proof)
        verdict = check_bytes(encode(made))
        assert verdict.proved, verdict.reason
        assert verdict.kind == "optimum"
        below = put(made, "bound", value=rat(Fraction(made["bound"]) - sign * Fraction(1, 10**5)))
        assert check_bytes(encode(below)).status == "REFUTED"
        bound = float(Fraction(made["bound"]))
        assert all(sign * utility(problem, rows) <= sign * bound for rows in some)


def test_the_best_bound_of_the_diagonal() -> None:
    """One row: (a, b, b) with the entropy of the floor; its multiplier proves that it is the best, to 10^-6."""
    low, high = 1 / 3, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        rest = (1 - middle) / 2
        low, high = (middle, high) if entropy([middle, rest, rest]) > math.log(3) / 2 else (low, middle)
    t = 1 / math.log(low / ((1 - low) / 2))
    proof = {
        "kind": "entropy-dual",
        "rows": [],
        "tilts": [],
        "flows": [],
        "weight": rat(Fraction(round(t * 2**30), 2**30)),
    }
    share = math.floor(low * 2**29) - 64
    table = [[2 * share if x == y else 2**29 - share for y in range(3)] for x in range(3)]
    verdict = check_bytes(encode(document(PROBLEMS["free"], proof, table)))
    assert verdict.proved, verdict.reason
    assert verdict.gap is not None
    assert verdict.gap < Fraction(1, 10**5)
    share += 4096
    table = [[2 * share if x == y else 2**29 - share for y in range(3)] for x in range(3)]
    assert "entropy" in check_bytes(encode(document(PROBLEMS["free"], proof, table))).reason


# -- the floor of a mechanism ----------------------------------------------------------------------------


def floor_holds(floor: Document, table: list[list[int]]) -> bool:
    return shells.is_allowed(shells.table(table), entropy=floor)


def test_floors_in_floats() -> None:
    rng, answers = random.Random(5), {True: 0, False: 0}
    for _ in range(400):
        k, m = rng.randint(2, 4), rng.randint(1, 5)
        table = [[rng.choice((0, 1, 1, 3, 10**20, rng.randint(1, 9))) for _ in range(m)] for _ in range(k)]
        for row in table:
            row[0] += 1
        shares, sizes = [rng.randint(0, 3) for _ in range(k)], [rng.randint(1, m) for _ in range(k)]
        beta = Fraction(rng.randint(0, 24), 20)
        own = sum(n * entropy([v / sum(row) for v in row]) for n, row in zip(shares, table, strict=True))
        value = own - float(beta) * sum(n * math.log(size) for n, size in zip(shares, sizes, strict=True))
        if abs(value) > 1e-9:
            floor = {"at_least": rat(beta), "shares": [str(n) for n in shares], "sizes": sizes}
            assert floor_holds(floor, table) == (value > 0)
            answers[value > 0] += 1
    assert min(answers.values()) > 50


def test_what_is_equal_cancels() -> None:
    one = {"at_least": "1", "shares": ["1", "2"], "sizes": [3, 3]}
    assert floor_holds(one, [[7, 7, 7], [5, 5, 5]])
    assert not floor_holds(one, [[7, 7, 7], [10**30, 10**30, 10**30 + 1]])
    assert not floor_holds({**one, "at_least": f"{10**40 + 1}/{10**40}"}, [[1, 1, 1], [1, 1, 1]])
    assert floor_holds({**one, "sizes": [2, 3]}, [[1, 1, 0], [1, 1, 1]])
    assert floor_holds({"at_least": "1/2", "shares": ["1", "1"], "sizes": [5, 5]}, [[2, 0, 0, 0, 0], [9] * 5])
    assert floor_holds({"at_least": "9", "shares": ["1", "1"], "sizes": [1, 1]}, [[1, 10**70], [1, 0]])
    assert floor_holds({"at_least": "0", "shares": ["1", "1"], "sizes": [9, 9]}, [[1, 10**70], [1, 0]])
    assert floor_holds({"at_least": "1", "shares": ["0", "1"], "sizes": [9, 2]}, [[1, 10**70], [1, 1]])


def test_a_mean_entropy_of_nothing_is_exactly_0() -> None:
    problem = {**PROBLEMS["mean"], "cone": FREE}
    proof = {"kind": "entropy-dual", "rows": [], "tilts": [], "flows": []}
    made = put(document(problem, proof, [[1, 0, 0], [1, 2, 5], [0, 0, 9]]), "value", value={"lower": "0", "upper": "0"})
    made["mechanism"]["denominators"] = ["1", "8", "9"]
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert float(verdict.upper or 0) == pytest.approx(math.log(3), abs=1e-5)


def test_no_mechanism_reaches_a_floor() -> None:
    """Of rows with three outputs none has the entropy of four; with two cells forbidden none that of two."""
    plain = {"kind": "entropy-dual", "rows": [], "tilts": [], "flows": [], "weight": "1"}
    far = problem_of(FREE, entropy={"at_least": "1", "shares": ["1"] * 3, "sizes": [4] * 3})
    verdict = check_bytes(encode(infeasible(far, plain)))
    assert verdict.proved, verdict.reason
    assert verdict.kind == "infeasible"
    assert check_bytes(encode(infeasible(PROBLEMS["free"], plain))).status == "REFUTED"
    rows = [
        {"name": f"{y}", "sense": "<=", "rhs": "0", "terms": [[x, y, "1"] for x in range(3)]} for y in (0, 2)
    ]  # fmt: skip
    for utility_of in ({"kind": "linear", "cost": []}, MEAN):
        closed = problem_of(FREE, rows=rows, utility=utility_of)
        assert check_bytes(encode(infeasible(closed, {**plain, "rows": ["9", "9"]}))).proved
        assert check_bytes(encode(infeasible(closed, {**plain, "rows": ["9", "1/9"]}))).status == "REFUTED"


# -- what the format forbids, and one mutant a check -------------------------------------------------------

LOOSE = document(PROBLEMS["rows"], {**multipliers(PROBLEMS["rows"], random.Random(2)), "weight": "1"})
BARE = document(PROBLEMS["mean"], multipliers(PROBLEMS["mean"], random.Random(2)))
PROBLEM, PROOF = ("problem",), ("proof",)
FORBIDDEN: dict[str, tuple[Document, tuple[str | int, ...], Any]] = {
    "no tilts": (LOOSE, (*PROOF, "tilts"), put),
    "two tilts": (LOOSE, (*PROOF, "tilts"), [["0"] * 3] * 2),
    "short tilts": (LOOSE, (*PROOF, "tilts", 0), ["0"] * 2),
    "no rows": (LOOSE, (*PROOF, "rows"), []),
    "no mechanism of entropy-dual": (LOOSE, ("mechanism",), None),
    "a floor below 0": (LOOSE, (*PROBLEM, "entropy", "at_least"), "-1"),
    "a floor of no shares": (LOOSE, (*PROBLEM, "entropy", "shares"), ["0"] * 3),
    "a floor of two shares": (LOOSE, (*PROBLEM, "entropy", "shares"), ["1"] * 2),
    "a size of 0": (LOOSE, (*PROBLEM, "entropy", "sizes", 0), 0),
    "a size as a string": (LOOSE, (*PROBLEM, "entropy", "sizes", 0), "3"),
    "a size above 10^9": (LOOSE, (*PROBLEM, "entropy", "sizes", 0), 10**9 + 1),
    "two sizes": (LOOSE, (*PROBLEM, "entropy", "sizes"), [3, 3]),
    "a key too many": (LOOSE, (*PROBLEM, "entropy", "unit"), "1"),
    "null": (LOOSE, (*PROBLEM, "entropy"), None),
    "no shares": (BARE, (*PROBLEM, "utility", "shares"), put),
    "shares of nothing": (BARE, (*PROBLEM, "utility", "shares"), ["0"] * 3),
    "the least entropy": (BARE, (*PROBLEM, "sense"), "minimize"),
    "no outputs": (BARE, (*PROBLEM, "outputs"), None),
    "a structure": (BARE, (*PROBLEM, "structure"), "uniform_off_diagonal"),
    "a robust cone": (BARE, (*PROBLEM, "cone"), {
        "kind": "robust", "gamma": "2", "blocks": [[0], [1, 2]], "lower": ["0"] * 3,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    made, path, value = FORBIDDEN[name]
    assert check_bytes(encode(made)).proved
    assert_unreadable(put(made, *path, value=value))


def test_a_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (checker.MAX_ENTROPY, checker.MAX_SIZE) == (10**6, 10**9)
    for made in (LOOSE, BARE):
        monkeypatch.setattr(checker, "MAX_ENTROPY", 8)
        verdict = check_bytes(encode(made))
        assert verdict.status == "UNREADABLE"
        assert "k * m" in verdict.reason
        monkeypatch.setattr(checker, "MAX_ENTROPY", 9)
        assert check_bytes(encode(made)).proved


def test_farkas_leaves_the_floor_out_of_account() -> None:
    rows = [{"name": "r", "sense": "<=", "rhs": "-1", "terms": [[0, 0, "1"]]}]
    for problem in (problem_of(FREE, rows=rows), {**PROBLEMS["mean"], "cone": FREE, "rows": rows}):
        proof = {"kind": "farkas", "prices": ["0"] * 3, "rows": ["1"], "flows": []}
        made = {**LOOSE, "problem": problem, "mechanism": None, "value": None, "bound": None, "proof": proof}
        assert check_bytes(encode(named(made))).proved


def identity(cone: Document) -> Document:
    """Against the floor."""
    proof = {"kind": "entropy-dual", "rows": [], "tilts": [], "flows": [], "weight": "1"}
    return document(problem_of(cone), proof, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], spare=9.0)


def tilted(made: Document) -> Document:
    new = copy.deepcopy(made)
    new["proof"]["tilts"][0] = ["1/4", "1/4", "-1/3"]
    new["bound"] = "9"
    return new


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("entropy: a floor", ("_check_floor",), lambda: identity(FREE)),
    ("entropy: a weight below 0", ("_check_lines",), lambda: put(
        put(LOOSE, *PROOF, "weight", value="-1"), "bound", value="9"
    )),
    ("entropy: a row", ("_check_lines",), lambda: put(
        put(LOOSE, *PROOF, "rows", 1, value="-1"), "bound", value="9"
    )),
    ("entropy: the yield", ("_check_lines",), lambda: put(LOOSE, "bound", value="5/4")),
    ("entropy: the value", ("_check_value",), lambda: put(BARE, "value", value={"lower": "1/2", "upper": "1"})),
    ("entropy: nothing is negative", ("_check_lines",), lambda: infeasible(
        PROBLEMS["free"], {"kind": "entropy-dual", "rows": [], "tilts": [], "flows": [], "weight": "1"}
    )),
]  # fmt: skip
