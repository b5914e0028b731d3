"""Section 1, "Operations": what a file costs, by the table, from the JSON values alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .curves import CURVES
from .reading import must
from .steps import after_steps, common_of_cuts, count_steps

MOST = 2 * 10**8
DESIGNS = ("inverse_trace", "inverse_determinant", "inverse_eigenvalue")


def longest(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return max(
            [
                longest(own)
                for key, own in value.items()
                if key not in ("inputs", "outputs", "name", "members", "lines")
            ],
            default=0,
        )
    return max(map(longest, value), default=0) if isinstance(value, list) else 0


def count_work(file: dict[str, Any], common: int, own: int | None = None) -> int:
    """The operations of a file that has been read; `common` is the least common denominator of its RAT, `own` what its
    proof costs, where the class of the proof says it."""
    problem, mechanism, proof = file["problem"], file["mechanism"], file["proof"]
    steps = proof.get("steps", [])
    last = after_steps(problem, steps) if steps else problem
    lcm = math.lcm(*map(int, mechanism["denominators"])) if mechanism else 1
    bits = max(common, lcm).bit_length() + 160 * _is_rounded(steps)
    bits += sum(common_of_cuts(step).bit_length() for step in steps if step["kind"] == "cut")
    length = longest([problem, mechanism, proof])
    w, d = _words(length, steps), 1 + bits // 128
    price = {
        "r": 1 + w // 4,
        "x": 1 + w * w // 16,
        "t": 1 + d * d // 16,
        "l": 1 + d * d // 64,
        "y": w * d // 32,
        "d": d,
    }
    outputs = mechanism["outputs"] if mechanism else last["outputs"]
    m = 1 if outputs is None else len(outputs)
    quotients = min(2**15, m * (d + w))
    price["q"] = quotients * min(quotients, 2**10) // 8
    total = _proof(last, proof, m, price) if own is None else own
    total += _steps(problem, steps, w)
    if mechanism:
        held = problem | ({"inputs": range(max(mechanism["groups"]) + 1)} if "groups" in mechanism else {})
        total += _mechanism(held, mechanism, m, price) + _utility(held, mechanism, m, price, lcm)
        for limit in [*problem.get("limits", []), *problem["utility"].get("parts", [])]:
            total += _utility({"inputs": problem["inputs"], "utility": limit["utility"]}, mechanism, m, price, lcm)
    return total


def _is_rounded(steps: list[Any]) -> bool:
    """Whether forms of a step were rounded; a lift of rows or of pairs has none."""
    return any(step["kind"] in ("gibbs", "minorant", "majorant") or "points" in step for step in steps)


def _words(length: int, steps: list[Any]) -> int:
    length += 60 * _is_rounded(steps)
    for step in steps:
        length = 3 * length + 10 if step["kind"] == "cut" else length
    return 1 + length // 40


def _steps(problem: Any, steps: list[Any], w: int) -> int:
    logs, products = count_steps(problem, steps)
    return 40 * logs * (1 + w // 4) + products * (1 + w * w // 16)


def most_operations(size: int) -> int:
    return MOST * min(10 << 20, max(1 << 20, size)) >> 20


def limit_work(file: dict[str, Any], common: int, size: int, own: int | None = None) -> None:
    """`size` is that of the file in bytes."""
    must(count_work(file, common, own) <= most_operations(size), "limit: operations")


def limit_steps(file: dict[str, Any], size: int) -> Callable[[int], None]:
    """The line of the first steps alone, for the length of the numbers in the file."""
    length, steps = longest([file["problem"], file["mechanism"], file["proof"]]), file["proof"]["steps"]

    def afford(many: int) -> None:
        taken = steps[:many]
        must(
            _steps(file["problem"], taken, _words(length, taken)) <= most_operations(size), "limit: operations of steps"
        )

    return afford


def _terms(problem: Any) -> int:
    return len(problem["utility"].get("cost", [])) + sum(len(row["terms"]) for row in problem["rows"])


def _edges(problem: Any) -> int:
    cone = problem["cone"]
    return len(cone.get("base", cone).get("edges", []))


def _gains(problem: Any) -> int:
    return sum(gain != "0" for own in problem["utility"].get("gain", []) for gain in own)


def _most(risk: Any) -> int:
    top, _, below = risk["at_most"].partition("/")
    return -(-int(below) // int(top)) - 1


def _entropies(problem: Any, mechanism: Any, m: int, price: dict[str, int]) -> int:
    total = len(problem["inputs"]) * m * (40 + price["x"])
    return total + (m * price["t"] if len(mechanism["denominators"]) > 1 else 0)


def _mechanism(problem: Any, mechanism: Any, m: int, price: dict[str, int]) -> int:
    cone, k = problem["cone"], len(problem["inputs"])
    cells = k if "structure" in problem else k * m
    rows = cone["rows"] if cone["kind"] == "polyhedral" else []
    coefficients = sum(c != "0" for row in rows for c in row)
    total = (cells + 2 * _edges(problem) * m + 4 * coefficients * m + 2 * _terms(problem)) * price["x"]
    total += (len(rows) * m + 3 * len(problem["rows"])) * price["t"]
    total += 20 * cells * price["x"] + len(cone["blocks"]) * m * price["t"] if cone["kind"] == "robust" else 0
    total += 24 * cells * len(cone["blocks"]) * price["r"] if cone["kind"] == "confidence" else 0
    total += _entropies(problem, mechanism, m, price) if "entropy" in problem else 0
    total += k * cells * price["x"] if "approximate" in problem else 0
    many = sum(len(mechanism["orders"]) if "rho" in one else 1 for one in problem.get("divergences", []))
    total += 100 * k * cells * many * price["r"]
    if "prior" in mechanism:
        total += 2 * cells * (60 * price["r"] + 4 * price["x"] + price["y"]) + 2 * m * price["t"]
    if "identification_risk" in problem:
        risk = problem["identification_risk"]
        total += len(risk["categories"]) * k * (2 * _most(risk) ** 2 + 20 + price["x"])
        total += 8 * cells * price["x"] if "blocks" in risk else 0
    return total


def _utility(problem: Any, mechanism: Any, m: int, price: dict[str, int], lcm: int) -> int:
    utility, k = problem["utility"], len(problem["inputs"])
    kind, cells = utility["kind"], k if "structure" in problem else k * m
    if kind == "mutual_information":
        logs = cells
        if "structure" not in problem and "given" not in utility and len(mechanism["denominators"]) == 1:
            logs = sum(k if "dense" in column else 2 for column in mechanism["columns"])
        given = len(utility["given"][0]) if "given" in utility else 0
        return (cells * (1 + 5 * given) + 20 * logs) * price["r"]
    if kind in CURVES and (cost := CURVES[kind].cost) is not None:
        return cost(cells, lcm, price)
    if kind == "capacity":
        return 0
    if kind == "entropy":
        return _entropies(problem, mechanism, m, price)
    if kind in DESIGNS:
        return 4 * k * cells + 20 * cells * price["r"]
    return 2 * _gains(problem) * m * price["x"] + len(utility.get("gain", [])) * m * (8 + price["t"])


def _proof(problem: Any, proof: Any, m: int, price: dict[str, int]) -> int:
    k = len(problem["inputs"])
    if proof["kind"] == "thresholds":
        risk = problem["identification_risk"]
        sizes = [len(block) for block in risk["blocks"]]
        tested = sum(len(block) for block in risk["blocks"] for c in risk["categories"] if c in block)
        squares = sum(n * n for n in sizes) if problem["utility"]["kind"] != "linear" else 0
        cost = len(problem["utility"].get("cost", []))
        total = 2 * squares * (30 + price["x"]) + tested * (2 * _most(risk) ** 2 + 20 + price["x"])
        return total + 2 * cost * price["x"] + len(sizes) * price["t"]
    if proof["kind"] == "risk-branch":
        return _risk(problem, proof, k, price)
    if "nodes" in proof:
        return _corner_tree(problem, proof, k, price)
    if "tree" in proof:
        return _tree(proof, k, price) + _determinant(problem, proof, k)
    if "levels" in proof:
        blocks, leaves = problem["cone"]["blocks"], [x for t in proof["levels"] for x in t if isinstance(x, dict)]
        cells = sum(len(own) * len(block) for x in leaves for own, block in zip(x["cells"], blocks, strict=True))
        return (60 * cells + 8 * k * sum(map(len, proof["levels"]))) * (price["r"] + price["l"] - 1)
    if "lines" in proof:
        numbers = k * (m + len(problem["cone"].get("rows", []))) + _terms(problem) + _gains(problem)
        numbers += sum(_gains(limit) for limit in problem.get("limits", []))
        must(40 * price["d"] * numbers <= 2**28, "limit: characters of the statement")
        return sum(map(len, proof["lines"]))
    if "cases" in proof:
        leaves = [x for x in proof["cases"] if isinstance(x, dict)]
        parts = [part for leaf in leaves for part in leaf["parts"]]
        used = sum(len(x["u"]) for x in [*leaves, *parts] if isinstance(x, dict))
        total = k * (4 * (len(proof["cases"]) + len(parts)) + 2 * used + 30 * k) * price["r"]
        return total + 2 * k * len(proof["cuts"]) * price["x"]
    return _boxes(problem, proof, k, price) + _determinant(problem, proof, k)


def _determinant(problem: Any, proof: Any, k: int) -> int:
    if problem["utility"]["kind"] != "inverse_determinant":
        return 0
    bits = 0
    for form in proof["forms"]:
        below = math.lcm(*(int(w.partition("/")[2] or 1) for w in form))
        bits += max(below, *(abs(int(Fraction(w) * below)) for w in form)).bit_length()
    q = bits // 128
    return k**3 * (1 + q * q // 128)


def _tree(proof: Any, k: int, price: dict[str, int]) -> int:
    return (2 * k * k * len(proof["tree"]) + 4 * k * k * len(proof["forms"])) * price["r"]


def _boxes(problem: Any, proof: Any, k: int, price: dict[str, int]) -> int:
    boxes = proof["boxes"]
    leaves = [one for one in boxes if isinstance(one, dict)]
    if "structure" in problem:
        own = {one[0] for one in boxes if isinstance(one, list)}
        each = 150 * min(k, len(set(problem["weights"])) + len(own)) * price["r"] + 16 * price["x"]
        return len(leaves) * each
    used = k * sum(len(leaf.get(key, [])) for leaf in leaves for key in ("u", "e"))
    return (4 * k * (len(boxes) + _edges(problem)) + used) * price["r"]


def _corner_tree(problem: Any, proof: Any, k: int, price: dict[str, int]) -> int:
    m, rows = len(problem["outputs"]), problem["rows"]
    total = 4 * k * m * len(proof["nodes"]) * price["r"]
    for leaf in proof["nodes"]:
        if isinstance(leaf, dict):
            named = sum(len(rows[i]["terms"]) for i, _ in leaf["l"])
            total += 6 * (k * m + named + len(leaf["l"])) * (price["x"] + price["t"])
            tests = 4 * (len(leaf["forms"]) + 2) * m * 2**k
            total += tests * (price["x"] + price["t"]) + 2 * k**3 + 24 * price["r"]
    return total


def _risk(problem: Any, proof: Any, k: int, price: dict[str, int]) -> int:
    bits = max(int(count).bit_length() for count in problem["identification_risk"]["counts"])
    total = 0
    for cut in proof["cuts"]:
        words = cut["a"] * (max(int(b).bit_length() for b in cut["point"]) + bits) // 128
        total += len(set(cut["point"])) * cut["a"] ** 2 * (1 + words * words // 256) // 2
    rows = problem["rows"]
    packed = sum(len(row["terms"]) for row in rows if not any(term[2][0] in "-0" for term in row["terms"]))
    for tree in [*(limit["tree"] for limit in proof["limits"]), proof["tree"]]:
        for leaf in tree:
            if isinstance(leaf, dict):
                named = sum(len(rows[i]["terms"]) for i, _ in leaf["l"])
                total += (6 * k * k + 3 * packed + 2 * named + 4 * k * len(leaf["s"])) * price["r"]
                total += 3 * packed * price["y"]
    return total
