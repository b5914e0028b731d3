"""More of tests/hostile.py: the cones of robust privacy, risk, designs; and numbers as long, or as many, as allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from builders import named
from hostile import FREE, GAMMA, HOSTILE, LONG, chain, file, information, names, risk_problem, robust, uniform
from hostile_steps import STEPS

from rropt.prove.elaborate import has_mode

WIDE = 76
"""So many denominators of 500 digits have a common denominator of the largest size."""
EDGE = f"{3 * LONG + 1}/{LONG}"
"""As long as a ratio may be."""


def wide(x: int) -> int:
    return 10**499 + 2 * (x % WIDE) + 1


def halves(k: int, m: int, low: int = 1, high: int = 3) -> list[Any]:
    """Columns of two values; each second one has them the other way round, so that all rows sum to one number."""
    five, ten = (
        f"{int('5' * -(-k // 4), 16) % 2**k:0{-(-k // 4)}x}",
        f"{int('a' * -(-k // 4), 16) % 2**k:0{-(-k // 4)}x}",
    )
    return [{"low": str(low), "high": str(high), "members": ten if y % 2 else five} for y in range(m)]


def filled(columns: list[Any], rows: Callable[[int], int], k: int) -> Any:
    """A mechanism of these columns and a last one that makes the rows sum to their denominators."""
    sums = [0] * k
    for column in columns:
        bits = int(column["members"], 16)
        sums = [s + int(column["high" if bits >> x & 1 else "low"]) for x, s in enumerate(sums)]
    last = {"dense": [str(rows(x) - s) for x, s in enumerate(sums)]}
    return {"denominators": [str(rows(x)) for x in range(k)], "outputs": names(len(columns) + 1),
            "columns": [*columns, last]}  # fmt: skip


# Confidence and robust cones -----------------------------------------------------------------------------


def confidence(blocks: list[list[int]], form: str, proof: Any, mechanism: Any = None, weight: str = "1") -> Any:
    k = sum(map(len, blocks))
    cone = {"kind": "confidence", "gamma": "2", "blocks": blocks, "counts": ["5"] * k,
            "radius": {"lower": "1/10", "upper": "1/10"}, "form": form}  # fmt: skip
    many = len(blocks) * (len(blocks) - 1) if form == "exact" else len(blocks)
    whole = mechanism or {**uniform(k, 1), "membership": [[["1", "1"]] * many]}
    problem = {"inputs": names(k), "utility": {"kind": "mutual_information"}, "cone": cone,
               "weights": [str(int(weight) + x) for x in range(k)]}  # fmt: skip
    proof = {"kind": "column-dual", "prices": ["999"] * k, "unit": "1", **proof}
    return file(problem, whole, ("0", "0"), "9" * 9, proof)


def membership(scale: int, form: str = "exact", blocks: int = 2) -> Any:
    """Square roots for each column and each pair of blocks."""
    size, m = max(1, 256 // blocks // blocks), 5 * scale
    pairs = blocks * (blocks - 1) if form == "exact" else blocks
    own = {
        **uniform(size * blocks, m),
        "membership": [[[str(Fraction(7, 6 * m)), str(Fraction(5, 6 * m))]] * pairs] * m,
    }
    parts = [[*range(size * s, size * (s + 1))] for s in range(blocks)]
    return confidence(parts, form, {"boxes": [{"n": 0, "f": [], "u": []}], "cuts": []}, own)


def membership_product(scale: int) -> Any:
    return membership(scale, "product", 4)


def membership_singles(scale: int) -> Any:
    """Blocks of one: two cube roots for each number of the file."""
    return membership(max(1, scale // 40), "exact", 32)


def cases(scale: int) -> Any:
    k = 64
    parts = [*chain([0, "1/1000000"], {"u": []}, 3 * scale), {"u": []}]
    leaf, small = {"t": "1", "u": [], "parts": parts}, {"t": "1", "u": [], "parts": [{"u": []}, {"u": []}]}
    blocks = [[*range(32)], [*range(32, k)]]
    return confidence(blocks, "exact", {"cases": [leaf] * 8 + [small] * (k - 8), "cuts": []})


def cut_cases(scale: int) -> Any:
    """Leaves that name all cuts."""
    k, cuts = 32, scale
    u = [[i, 1] for i in range(cuts)]
    leaf = {"t": "1", "u": u, "parts": [{"u": u}, {"u": u}]}
    cut = {"pair": [0, 1], "first": ["5"] * 16, "second": ["5"] * 16}
    blocks = [[*range(16)], [*range(16, k)]]
    return confidence(blocks, "product", {"cases": [leaf] * k, "cuts": [cut] * cuts})


def many_cases(scale: int) -> Any:
    """An input for each case, with limits of its own."""
    k = min(512, 4 * scale)
    leaf = {"t": "1", "u": [], "parts": [{"u": []}, {"u": []}]}
    blocks = [[*range(k // 2)], [*range(k // 2, k)]]
    return confidence(blocks, "product", {"cases": [leaf] * k, "cuts": []}, weight=str(10**300))


def robust_membership(scale: int) -> Any:
    """Sums over a block with denominators of their own."""
    data = robust(2, WIDE // 2, {"levels": [[{"t": "1", "cells": [["0"], ["0"]]}]] * 2}, lambda x: "0")
    data["problem"]["cone"]["lower"] = [f"1/{wide(x)}" for x in range(WIDE)]
    data["mechanism"] = uniform(WIDE, 1 + scale)
    return data


def wide_levels(scale: int) -> Any:
    size = min(64, 4 * scale)
    own = ["0", "1/9", "0"]
    tree = [{"t": "1", "cells": [own, own]}]
    return robust(2, size, {"levels": [tree, tree]}, lambda x: str(Fraction(10**596 // 80, 10**596 + 2 * x + 1)))


# Risk ----------------------------------------------------------------------------------------------------


def thresholds(scale: int, theta: str = "0", at_most: str = "1/20", kind: str = "mutual_information") -> Any:
    """One block of all inputs, with a count each."""
    k = 4 * scale if theta == "0" else 2 * scale
    problem = risk_problem(k, [], [str(10**6 + x) for x in range(k)], at_most)
    problem["utility"] = {"kind": kind} if kind != "linear" else problem["utility"]
    problem["identification_risk"] |= {"blocks": [[*range(k)]], "categories": [*range(k)]}
    size = -(-k // 4)
    columns = [{"low": "0", "high": "1", "members": f"{1 << y:0{size}x}"} for y in range(k)]
    own = {"denominators": ["1"], "outputs": problem["inputs"], "columns": columns}
    value = ("0", "9" * 9)
    return file(problem, own, value, "9" * 9, {"kind": "thresholds", "thetas": [theta]})


def threshold_tests(scale: int) -> Any:
    """All categories are tried, and none violates the risk."""
    return thresholds(scale, "99999/100", "1/40", "linear")


def risk_tests(scale: int) -> Any:
    """Polynomials of a mechanism in which all odds are different."""
    k = 1 + scale
    problem = risk_problem(k, [], [str(2**40)] * k, "1/40")
    problem["identification_risk"]["categories"] = [*range(k)]
    d = 10**6
    columns = [{"dense": [str(d - (k - 1) * (x + 1) if x == y else x + 1) for x in range(k)]} for y in range(k)]
    own = {"denominators": [str(d)], "outputs": problem["inputs"], "columns": columns}
    tree = [{"a": [0] * min(k, 64), "l": [], "s": []}]
    proof = {"kind": "risk-branch", "yield": "9", "unit": "1", "cuts": [], "limits": [], "tree": tree}
    return file(problem, own, ("0", "9"), "9", proof)


def used_cuts(scale: int) -> Any:
    """Leaves that use one cut many times."""
    k = 32
    rows = [{"name": str(x), "sense": "<=", "rhs": "1/2", "terms": [[x, 0, "1"]]} for x in range(1, k)]
    problem = risk_problem(k, rows, ["1"] + ["9"] * (k - 1), "1/3")
    rows += [{"name": "not packing", "sense": "<=", "rhs": "9", "terms": [[0, 0, "-1"], [0, 1, "1"]]}]
    cut = {"category": 0, "a": 1, "point": ["1"] * k}
    leaf = {"a": [9] * k, "l": [], "s": [[0, 1, f"1/{1000 + i}"] for i in range(2 * scale)]}
    proof = {"kind": "risk-branch", "yield": "9" * 40, "unit": "1", "cuts": [cut], "limits": [],
             "tree": chain([0, 0, "1/2"], leaf, scale // 4)}  # fmt: skip
    return file(problem, uniform(k, k, problem["inputs"]), ("0", "9"), "9" * 40, proof)


def wide_packing(scale: int) -> Any:
    """Packing rows, as integers over the common denominator of a row."""
    k = 9
    terms = [[x, y, f"1/{wide(9 * x + y)}" if 9 * x + y < 70 else "1"] for x in range(k) for y in range(k)]
    rows = [{"name": str(i), "sense": "<=", "rhs": "99", "terms": terms} for i in range(1 + scale // 80)]
    problem = risk_problem(k, rows, ["5"] * k, "1/2")
    tree = chain([0, 0, "1/2"], {"a": [9] * k, "l": [], "s": []}, 4 * scale)
    proof = {"kind": "risk-branch", "yield": "99", "unit": "1", "cuts": [], "limits": [], "tree": tree}
    return file(problem, uniform(k, k, problem["inputs"]), ("0", "9"), "99", proof)


# Utilities and the mechanism -----------------------------------------------------------------------------


def given(scale: int) -> Any:
    k, values, m = 8, 20 * scale, 20 * scale
    problem = {"inputs": names(k), "weights": [str(values)] * k,
               "utility": {"kind": "mutual_information", "given": [["1"] * values] * k}}  # fmt: skip
    boxes = [{"n": 0, "f": [], "t": ["1"] * values}]
    proof = {"kind": "column-dual", "prices": ["9999"] * k, "unit": "1", "boxes": boxes}
    own = {"denominators": [str(4 * (m // 2))], "outputs": names(m), "columns": halves(k, m)}
    return file(problem, own, ("0", "9"), "9" * 9, proof)


def approximate(scale: int) -> Any:
    k = m = 4 * scale
    own = {"denominators": [str(2 * m)], "outputs": names(m), "columns": halves(k, m)}
    problem = {"inputs": names(k), "outputs": names(m), "utility": {"kind": "linear", "cost": [[0, 0, "1"]]},
               "approximate": {"gamma": "1001/1000", "delta": "9/10"}}  # fmt: skip
    proof = {"kind": "linear-dual", "prices": ["9"] * k, "rows": [], "flows": [], "events": []}
    return file(problem, own, ("0", "9"), "9" * 9, proof)


def long_rows(scale: int) -> Any:
    """Rows with long denominators of their own, columns of long numbers."""
    k, m = max(2, 2 * scale), max(2, 4 * scale)
    first = 10**3970
    own = filled(halves(k, m, first, first + 2), lambda x: 10**3990 + x % 9, k)
    problem = {"inputs": names(k), "outputs": own["outputs"], "utility": {"kind": "linear", "cost": [[0, 0, "1"]]},
               "approximate": {"gamma": EDGE, "delta": "9/10"}}  # fmt: skip
    proof = {"kind": "linear-dual", "prices": ["9"] * k, "rows": [], "flows": [], "events": []}
    return file(problem, own, ("0", "9"), "9" * 9, proof)


def long_information(scale: int) -> Any:
    data = long_rows(scale)
    problem = {"inputs": data["problem"]["inputs"], "utility": {"kind": "mutual_information"}}
    proof = {"kind": "column-dual", "prices": data["proof"]["prices"], "known": "entropy"}
    return file(problem, data["mechanism"], ("0", "9"), "9" * 9, proof)


def long_edges(scale: int) -> Any:
    data = long_rows(scale)
    k = len(data["problem"]["inputs"])
    del data["problem"]["approximate"], data["proof"]["events"]
    data["problem"]["cone"] = {"kind": "graph", "edges": [[x, z, "2"] for x in range(k) for z in range(k) if x != z]}
    data["proof"]["flows"] = [[]] * len(data["problem"]["outputs"])
    return data


def edges(scale: int) -> Any:
    k, m = 64, 8 * scale
    cone = {"kind": "graph", "edges": [[x, z, "2"] for x in range(k) for z in range(min(k, 1 + scale)) if x != z]}
    problem = {"inputs": names(k), "utility": {"kind": "bayes", "gain": [["1"] * k]}, "cone": cone}
    own = {"denominators": [str(4 * m)], "outputs": names(2 * m), "columns": halves(k, 2 * m)}
    return file(problem, own, ("0", "9"), "9" * 9, {"kind": "column-dual", "prices": ["9"] * k, "flows": [[]]})


def wide_chi_square(scale: int) -> Any:
    """An exact sum over rows with denominators of their own."""
    own = filled(halves(WIDE, scale), wide, WIDE)
    problem = {"inputs": names(WIDE), "utility": {"kind": "chi_square"}}
    proof = {"kind": "column-dual", "prices": ["9"] * WIDE, "unit": "1", "boxes": [{"n": 0, "f": []}]}
    return file(problem, own, ("0", "99"), "9" * 9, proof)


def enclosed_chi_square(scale: int) -> Any:
    """So many entries that the sum is enclosed."""
    return wide_chi_square(500 + scale)


def chi_square(scale: int) -> Any:
    """Columns of different weights: a sum with as many denominators."""
    k, m = 16, 40 * scale
    columns = [{"low": "1", "high": str(2 + y), "members": "5555"} for y in range(m)]
    own = filled(columns, lambda x: 10**9 + 7, k)
    problem = {
        "inputs": names(k),
        "utility": {"kind": "chi_square"},
        "weights": [str(10**18 + x * x) for x in range(k)],
    }
    proof = {"kind": "column-dual", "prices": ["9"] * k, "unit": "1", "boxes": [{"n": 0, "f": []}]}
    return file(problem, own, ("0", "99"), "9" * 9, proof)


def many_squares(scale: int) -> Any:
    """The sum of a quotient for each column, once for each limit: its denominator is the product of theirs."""
    m = 100 * min(scale, 12)
    columns = [{"low": "1", "high": str(2 + y), "members": "1"} for y in range(m)]
    own = filled(columns, lambda x: 2**1999 + 2 * x + 1, 2)
    many = min(64, scale)
    limits = [{"utility": {"kind": "chi_square"}, "weights": [str(1 + i), "7"], "at_most": "9"} for i in range(many)]
    problem = {"inputs": names(2), "utility": {"kind": "bayes", "gain": [["0", "0"]]}, "limits": limits}
    steps = [{"kind": "lift", "of": 0, "points": [["1"] * (2 + i)]} for i in range(many)]
    proof = {"kind": "column-dual", "prices": ["0"] * (2 + many), "flows": [], "multipliers": [["0"] * many]}
    return file(problem, own, ("0", "9"), "9", proof | {"steps": steps})


def wide_entropy(scale: int) -> Any:
    """A rational for each of many integers, with the denominators of all rows."""
    m = 40 * scale
    size = -(-WIDE // 4)
    columns = [{"low": str(2 + y), "high": "0", "members": "0" * size} for y in range(m)]
    own = filled(columns, wide, WIDE)
    problem = {"inputs": names(WIDE), "outputs": own["outputs"], "utility": {"kind": "linear", "cost": [[0, 0, "1"]]},
               "entropy": {"at_least": "1/99", "shares": ["1"] * WIDE, "sizes": [2] * WIDE}}  # fmt: skip
    proof = {"kind": "entropy-dual", "weight": "1", "rows": [], "tilts": [], "flows": []}
    return file(problem, own, ("0", "9"), "9" * 9, proof)


def long_designs(scale: int) -> Any:
    k, m = 64, 40 * scale
    columns = [{"low": "1", "high": "3", "members": f"{1 << y % k:016x}"} for y in range(m)]
    own = filled(columns, lambda x: LONG * 9 + 7 * m, k)
    own["denominators"] = [str(LONG * 9 + 7 * m)]
    problem = {"inputs": names(k), "sense": "minimize", "utility": {"kind": "inverse_trace"}, "cone": {"kind": "free"},
               "weights": [str(10**3998)] + ["1"] * (k - 1)}  # fmt: skip
    proof = {"kind": "column-dual", "prices": ["9"] * k, "unit": "1", "forms": [["0"] * k] * k,
             "boxes": [{"n": 0, "f": [], "e": [0] * k}]}  # fmt: skip
    return file(problem, own, ("0", "9" * 20), "-999", proof)


# Proofs --------------------------------------------------------------------------------------------------


def design(k: int, proof: Any, cone: Any, kind: str = "inverse_trace", weights: list[str] | None = None) -> Any:
    own = {"denominators": [str(k + 2)], "outputs": names(k), "columns": [
        {"low": "1", "high": "3", "members": f"{1 << y:0{-(-k // 4)}x}"} for y in range(k)
    ]}  # fmt: skip
    problem = {"inputs": names(k), "sense": "minimize", "utility": {"kind": kind}, "cone": cone}
    if weights:
        problem["weights"] = weights
    return file(problem, own, ("-" + "9" * 9, "9" * 20), "-" + "9" * 3990, {"kind": "column-dual", **proof})


def form_leaves(scale: int) -> Any:
    k = 24
    return design(k, {"prices": ["9"] * k, "forms": [["0"] * k] * k, "tree": chain([k - 1], "0", 4 * scale)}, GAMMA)


def form_boxes(scale: int) -> Any:
    k = 24
    leaf = {"n": 0, "f": [], "e": [1] * k}
    proof = {
        "prices": ["99"] * k,
        "forms": [["1/9"] * k] * k,
        "unit": "1",
        "boxes": chain(["y", 0, "1/9"], leaf, 4 * scale),
    }
    return design(k, proof, FREE)


def long_forms(scale: int) -> Any:
    """A table of products of a long ratio, long weights and long prices."""
    k = min(64, 2 * scale)
    cone = {"kind": "complete", "gamma": EDGE}
    prices = [str(Fraction(9 * 10**1990 + x, 10**1998 + 1)) for x in range(k)]
    proof = {"prices": prices, "forms": [["1"] + [f"1/{10**1990}"] * (k - 1)] + [["0"] * k] * (k - 1), "tree": ["0"]}
    return design(k, proof, cone, weights=[str(10**3990)] + ["1"] * (k - 1))


def determinants(scale: int) -> Any:
    """Fraction-free elimination."""
    k = min(64, 2 * scale)
    forms = [[str(10**140 * (x == y) + 7 ** (2 * x + 3 * y) % 10**139) for y in range(k)] for x in range(k)]
    proof = {"prices": ["9" * 999] * k, "forms": forms, "tree": ["0"]}
    return design(k, proof, GAMMA, "inverse_determinant")


def wide_cone_rows(scale: int) -> Any:
    rows, m = 1 + scale // 8, 8 * scale
    cone = {"kind": "polyhedral", "base": FREE, "rows": [[f"-1/{wide(x)}" for x in range(WIDE)]] * rows}
    problem = {"inputs": names(WIDE), "utility": {"kind": "bayes", "gain": [["1"] * WIDE]}, "cone": cone}
    proof = {"kind": "column-dual", "prices": ["9"] * WIDE, "flows": [], "multipliers": [["0"] * rows]}
    return file(problem, uniform(WIDE, m), ("0", "9"), "9" * 9, proof)


def wide_rows(scale: int) -> Any:
    """Multipliers of rows with denominators of their own: a long sum in each cell."""
    k, m = 4 + scale // 4, 2
    terms = [[x, y, "1"] for x in range(k) for y in range(m)]
    rows = [{"name": str(i), "sense": "<=", "rhs": "9", "terms": terms} for i in range(WIDE)]
    problem = {
        "inputs": names(k),
        "outputs": names(m),
        "rows": rows,
        "utility": {"kind": "linear", "cost": [[0, 0, "1"]]},
    }
    proof = {"kind": "linear-dual", "prices": ["9"] * k, "rows": [f"1/{wide(i)}" for i in range(WIDE)], "flows": []}
    return file(problem, uniform(k, m), ("0", "9"), "9999", proof)


def wide_entropy_rows(scale: int) -> Any:
    data = wide_rows(scale)
    k = len(data["problem"]["inputs"])
    data["problem"]["entropy"] = {"at_least": "0", "shares": ["1"] * k, "sizes": [1] * k}
    data["proof"] = {"kind": "entropy-dual", "weight": "1", "rows": data["proof"]["rows"], "tilts": [], "flows": []}
    return data


def many_inputs(scale: int) -> Any:
    """Sums of exact rationals for each input, before the first leaf."""
    k = 40 * scale
    cone = {"kind": "complete", "gamma": EDGE}
    return information(k, cone, {"prices": ["1/9"] * k, "tree": ["1"]},
                       weights=[str(10**3998)] + ["1"] * (k - 1))  # fmt: skip


def long_off_diagonals(scale: int) -> Any:
    k = 3
    labels = names(k)
    cone = {"kind": "complete", "gamma": EDGE}
    problem = {"inputs": labels, "outputs": labels, "cone": cone, "utility": {"kind": "mutual_information"},
               "structure": "uniform_off_diagonal"}  # fmt: skip
    long = f"{LONG // 3}/{LONG + 1}"
    leaf = {"n": 1, "c": "1/3"}
    boxes = [["s", long], ["M", long], *chain(["C", "1/3"], leaf, 10 * scale), leaf, leaf]
    proof = {"kind": "branch-tree", "yield": "9", "unit": "1", "boxes": boxes}
    mechanism = {"denominators": [str(k)], "outputs": labels, "off_diagonal": ["1"] * k}
    return file(problem, mechanism, ("0", "0"), "9", proof)


ALL: dict[str, Callable[[int], Any]] = HOSTILE | STEPS | {
    made.__name__: made
    for made in (
        membership, membership_product, membership_singles, cases, cut_cases, many_cases, robust_membership,
        wide_levels, thresholds, threshold_tests, risk_tests, used_cuts, wide_packing, given,
        approximate, long_rows, long_information, long_edges, edges, wide_chi_square, enclosed_chi_square,
        chi_square, many_squares, wide_entropy, long_designs,
        form_leaves, form_boxes, long_forms, determinants, wide_cone_rows, wide_rows, wide_entropy_rows, many_inputs,
        long_off_diagonals,
    )
}  # fmt: skip


REFUSED = {"kind": "lines", "lines": ["unit 1", "prices", "mults", "mode dual", "ratios"]}
"""A proof in lines that the kernel refuses at once: what is slow is read and checked before it."""


def data(name: str, scale: int) -> bytes:
    made = ALL[name](scale)
    if (
        isinstance(made, dict)
        and has_mode(made["proof"])
        and made["proof"]["kind"] not in ("branch-tree", "corner-tree")
    ):
        made["proof"] = REFUSED | {key: made["proof"][key] for key in made["proof"] if key == "steps"}
    elif isinstance(made, dict) and "steps" not in made["proof"]:
        made = named(made)
    return json.dumps(made, separators=(",", ":")).encode()
