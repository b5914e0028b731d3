"""Certificates that are valid, or nearly, and as slow to check as their author can make them: one for each loop.

Further ones are in hostile_more.py and hostile_steps.py.

`scale` is about how many thousand bytes. Bounds are loose on purpose, so that every leaf holds and is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

LONG = 10**1998  # a fraction of two of them is as long as the format lets it be
FREE = {"kind": "free"}
GAMMA = {"kind": "complete", "gamma": "3"}


def names(count: int) -> list[str]:
    return [f"{x:x}" for x in range(count)]


def file(problem: Any, mechanism: Any, value: tuple[str, str], bound: str, proof: Any, *lemmas: str) -> Any:
    inputs = problem["inputs"]
    whole = {"sense": "maximize", "outputs": None, "weights": ["1"] * len(inputs), "cone": FREE, "rows": []} | problem
    return {
        "format": "rropt-certificate", "problem": whole, "mechanism": mechanism,
        "value": {"lower": value[0], "upper": value[1]}, "bound": bound, "proof": proof, "assumptions": [*lemmas],
    }  # fmt: skip


def uniform(k: int, m: int, outputs: list[str] | None = None) -> Any:
    """Every entry 1 / m."""
    column = {"low": "1", "high": "1", "members": "0" * -(-k // 4)}
    return {"denominators": [str(m)], "outputs": outputs or names(m), "columns": [column] * m}


def full_tree(branch: Callable[[int], Any], leaf: Any, depth: int) -> list[Any]:
    """A complete binary tree in preorder: the branch at each depth."""
    if depth == 0:
        return [leaf]
    half = full_tree(branch, leaf, depth - 1)
    return [branch(depth), *half, *half]


def chain(branch: Any, leaf: Any, count: int) -> list[Any]:
    """`count` branches, each with a leaf first."""
    return [item for _ in range(count) for item in (branch, leaf)] + [leaf]


def information(k: int, cone: Any, proof: Any, weights: list[str] | None = None) -> Any:
    problem = {"inputs": names(k), "utility": {"kind": "mutual_information"}, "cone": cone}
    if weights:
        problem["weights"] = weights
    return file(problem, uniform(k, 1), ("0", "0"), "9" * 3999, {"kind": "column-dual", **proof})


def bayes(scale: int) -> Any:
    k, actions, m = 2, 20 * scale, 8 * scale
    gain = [["1", f"1/{a + 2}"] for a in range(actions)]
    problem = {"inputs": names(k), "utility": {"kind": "bayes", "gain": gain}}
    proof = {"kind": "column-dual", "prices": ["9", "9"], "flows": []}
    return file(problem, uniform(k, m), ("0", "9"), "18", proof)


def cone_rows(scale: int) -> Any:
    k, rows, m = 2, 25 * scale, 8 * scale
    cone = {"kind": "polyhedral", "base": FREE, "rows": [["-1", "-1"]] * rows}
    problem = {"inputs": names(k), "utility": {"kind": "bayes", "gain": [["1", "1"]]}, "cone": cone}
    proof = {"kind": "column-dual", "prices": ["9", "9"], "flows": [], "multipliers": [["0"] * rows]}
    return file(problem, uniform(k, m), ("0", "9"), "18", proof)


def off_diagonals(scale: int) -> Any:
    k, count = 10 * scale, 15 * scale
    labels = names(k)
    problem = {"inputs": labels, "outputs": labels, "weights": [str(x + 1) for x in range(k)], "cone": GAMMA,
               "utility": {"kind": "mutual_information"}, "structure": "uniform_off_diagonal"}  # fmt: skip
    boxes = chain(["C", f"1/{k}"], {"n": 1, "c": f"1/{k}"}, count)
    proof = {"kind": "branch-tree", "yield": "9", "unit": "1", "boxes": boxes}
    mechanism = {"denominators": [str(k)], "outputs": labels, "off_diagonal": ["1"] * k}
    return file(problem, mechanism, ("0", "0"), "9", proof)


def robust(blocks: int, size: int, proof: Any, lower: Callable[[int], str]) -> Any:
    k = blocks * size
    cone = {"kind": "robust", "gamma": "2", "lower": [lower(x % size) for x in range(k)],
            "blocks": [[*range(size * s, size * (s + 1))] for s in range(blocks)]}  # fmt: skip
    return information(k, cone, {"prices": ["99"] * k, **proof})


def levels(scale: int) -> Any:
    """Long lists of cells, each with all inputs of a block."""
    size, cells = 64, 8 * scale
    own = ["0"]
    for j in range(cells):
        own += [str(Fraction(j + 1, 2 * cells)), "0"]
    leaf = {"t": "1", "cells": [own, ["0"]]}
    return robust(2, size, {"levels": [[leaf], [{"t": "1", "cells": [["0"], ["0"]]}]]}, lambda x: f"1/{80 + x}")


def risk_problem(k: int, rows: list[Any], counts: list[str], at_most: str) -> Any:
    labels = names(k)
    risk = {"at_most": at_most, "counts": counts, "categories": [0]}
    return {"inputs": labels, "outputs": labels, "rows": rows, "identification_risk": risk,
            "utility": {"kind": "linear", "cost": [[0, 0, "1"]]}}  # fmt: skip


def risk_cuts(scale: int) -> Any:
    """Elementary symmetric polynomials of long numbers."""
    k = 16
    problem = risk_problem(k, [], ["1"] + [str(2**40)] * (k - 1), "1/100")
    cut = {"category": 0, "a": min(99, 8 * scale), "point": ["1", *(str(2**127 + x) for x in range(k - 1))]}
    tree = [{"a": [0] * k, "l": [], "s": []}]
    proof = {"kind": "risk-branch", "yield": "9", "unit": "1", "cuts": [cut], "limits": [], "tree": tree}
    return file(problem, uniform(k, k, problem["inputs"]), ("0", "9"), "9", proof)


def packing(scale: int) -> Any:
    k = 3
    terms = [[x, y, "1"] for x in range(k) for y in range(k)]
    rows = [{"name": f"{i:0200}", "sense": "<=", "rhs": "9", "terms": terms} for i in range(5 * scale)]
    problem = risk_problem(k, rows, ["5"] * k, "1/2")
    tree = chain([0, 0, "1/2"], {"a": [9, 9, 9], "l": [], "s": []}, 10 * scale)
    proof = {"kind": "risk-branch", "yield": "99", "unit": "1", "cuts": [], "limits": [], "tree": tree}
    return file(problem, uniform(k, k, problem["inputs"]), ("0", "9"), "99", proof)


def entropy(scale: int) -> Any:
    k = m = 10 * scale
    cost = [[x, y, f"1/{x + 2 * y + 2}"] for x in range(scale) for y in range(m)]
    problem = {"inputs": names(k), "outputs": names(m), "utility": {"kind": "linear", "cost": cost},
               "entropy": {"at_least": "0", "shares": [str(x + 1) for x in range(k)], "sizes": [1] * k}}  # fmt: skip
    proof = {"kind": "entropy-dual", "weight": "1", "rows": [], "tilts": [], "flows": []}
    return file(problem, uniform(k, m, problem["outputs"]), ("0", "9" * 20), "9" * 20, proof)


def designs(scale: int) -> Any:
    k, m = 64, 64 * -(-scale // 4)
    columns = [{"low": "1", "high": "3", "members": f"{1 << y % k:016x}"} for y in range(m)]
    mechanism = {"denominators": [str(m + 2 * m // k)], "outputs": names(m), "columns": columns}
    problem = {"inputs": names(k), "sense": "minimize", "utility": {"kind": "inverse_trace"}, "cone": GAMMA}
    proof = {"kind": "column-dual", "prices": ["9"] * k, "forms": [["0"] * k] * k, "tree": ["0"]}
    return file(problem, mechanism, ("0", "9" * 20), "-999", proof)


def nothing(scale: int) -> Any:
    return [{}] * (400 * scale)


def lists(scale: int) -> Any:
    return [[]] * (400 * scale)


HOSTILE: dict[str, Callable[[int], Any]] = {
    made.__name__: made
    for made in (
        bayes, cone_rows, off_diagonals, levels, risk_cuts, packing, entropy, designs, nothing,
        lists,
    )
}  # fmt: skip
