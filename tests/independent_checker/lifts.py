"""The step `lift`: limited convex functions of columns as further inputs, with rows of the cone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq

from .claims import read_ratio
from .forms import Unlimited, form_at, rational, read_points, read_tangent
from .reading import index, items, keys, must

UTILITIES = ("linear", "mutual_information", "chi_square", "bayes", "sum")
CONES = ("free", "complete", "graph", "polyhedral")
OTHERS = ("entropy", "identification_risk", "structure")
MOST, MOST_INPUTS = 10**7, 10**5
Row = dict[int, str]  # a row of the cone, by input


def lift(problem: dict[str, Any], step: dict[str, Any], afford: Callable[[], None]) -> dict[str, Any]:
    """The problem with the new inputs; whether the rows of divergences hold, `check_tangents` says."""
    keys(step, ["kind"], ["of", "points", "rows"])
    must(set(step) in ({"kind", "of", "points"}, {"kind", "rows"}, {"kind", "of"}), "of and points, rows, or of")
    approximate = set(step) == {"kind", "of"}
    must(not approximate or step["of"] == "approximate", "of what")
    must(("approximate" in problem) == approximate, "a lift beside approximate, or of none")
    must(problem["cone"]["kind"] in CONES, "a lift of such a cone")
    must(not any(key in problem for key in OTHERS), "a lift of such a problem")
    must(problem["utility"]["kind"] in UTILITIES, "a lift of such a utility")
    k = len(problem["inputs"])
    must(k <= 1024, "limit: inputs before")
    made = dict(problem)
    if "rows" in step:
        forms = _of_divergences(made, step, k)
        afford()
        new = [row for number, rows in enumerate(forms) for row in _at(rows, k + number)]
    elif approximate:
        must("divergences" not in problem, "a lift of approximate beside divergences")
        must(k * k <= MOST_INPUTS, "limit: inputs")
        afford()
        new = _of_pairs(made.pop("approximate"), k)
        forms = [[row] for row in new]
    else:
        must("divergences" not in problem, "a lift of a limit beside divergences")
        limits = list(problem.get("limits", []))
        own = limits.pop(index(len(limits))(step["of"]))
        gains = [gain for action in own["utility"].get("gain", []) for gain in action]
        must(own["at_most"] != "0" and own["at_most"][0] != "-", "a limit that is not positive")
        must(all(gain[0] != "-" for gain in gains), "a gain that is negative")
        points = read_points(step["points"], own["utility"], k)
        afford()
        new = []
        for point in points:
            new.append({x: rational(g) for x, g in enumerate(form_at(own, point))} | {k: f"-{own['at_most']}"})
        made["limits"] = limits
        forms = [new]
    if not made.get("limits", ["any"]):
        del made["limits"]
    return _widened(made, len(forms), new)


def _of_divergences(made: dict[str, Any], step: dict[str, Any], k: int) -> list[tuple[list[Row], str]]:
    """For each object its rows, and what stands at its new input; the divergences leave."""
    known = made.pop("divergences", [])
    must(all(own["kind"] != "capacity" for own in known), "a lift beside a capacity")

    def read(value: Any) -> tuple[list[Row], str]:
        must(isinstance(value, dict) and "of" in value, "the divergence of a row")
        _, (x, z), forms, at_most = read_tangent(value, known[index(len(known))(value["of"])], k, None)
        return [{x: rational(s), z: rational(-b)} for s, b in forms], rational(-at_most)

    return items(step["rows"], read, least=1)


def _of_pairs(approximate: dict[str, Any], k: int) -> list[Row]:
    """One row for each ordered pair, in lexicographic order, each with an input of its own."""
    gh, delta = read_ratio(Unlimited(), approximate)[0].high, approximate["delta"]
    if "gamma" not in approximate:
        grid = fmpq(1 << 80)
        gh = ((gh + fmpq(1, 1 << 88)) * grid).ceil() / grid
    pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
    return [{x: "1", z: rational(-gh), u: f"-{delta}"} for u, (x, z) in enumerate(pairs, k)]


def _at(rows: tuple[list[Row], str], u: int) -> list[Row]:
    return [row | {u: rows[1]} for row in rows[0]]


def _widened(problem: dict[str, Any], count: int, new: list[Row]) -> dict[str, Any]:
    """`count` more inputs of weight 0, which only the new rows name."""
    before = problem["inputs"]
    k = len(before) + count
    must(k <= MOST_INPUTS, "limit: inputs")
    names, number = set(before), 0
    inputs = list(before)
    while len(inputs) < k:
        if (name := f"lifted {number}") not in names:
            inputs.append(name)
        number += 1
    made = {**problem, **_weightless(problem, count), "inputs": inputs}
    if "limits" in problem:
        made["limits"] = [{**limit, **_weightless(limit, count)} for limit in problem["limits"]]
    if "parts" in problem["utility"]:
        parts = [{**part, **_weightless(part, count)} for part in problem["utility"]["parts"]]
        made["utility"] = {**problem["utility"], "parts": parts}
    cone = problem["cone"]
    base, rows = (cone["base"], cone["rows"]) if cone["kind"] == "polyhedral" else (cone, [])
    must((len(rows) + len(new)) * k <= MOST, "limit: cone rows * k")
    m = 1 if problem["outputs"] is None else len(problem["outputs"])
    pairs = len(before) * (len(before) - 1) if base["kind"] == "complete" else len(base.get("edges", []))
    must(pairs * m <= MOST, "limit: edges * m")
    rows = [row + ["0"] * count for row in rows] + [[row.get(x, "0") for x in range(k)] for row in new]
    made["cone"] = {"kind": "polyhedral", "base": _listed(base, len(before)), "rows": rows}
    return made


def _weightless(of: dict[str, Any], count: int) -> dict[str, Any]:
    """Weights and utility of a problem, a limit or a part, with `count` inputs behind them that it does not see."""
    utility = dict(of["utility"])
    if "given" in utility:
        utility["given"] = utility["given"] + [["0"] * len(utility["given"][0])] * count
    if "gain" in utility:
        utility["gain"] = [action + ["0"] * count for action in utility["gain"]]
    return {"weights": of["weights"] + ["0"] * count, "utility": utility}


def _listed(base: dict[str, Any], k: int) -> dict[str, Any]:
    """A complete cone as the graph of all pairs."""
    if base["kind"] != "complete":
        return base
    number = base.get("gamma", base.get("epsilon"))
    edges = [[x, z, number] for x in range(k) for z in range(k) if x != z]
    return {"kind": "graph", "edges": edges} | ({"unit": "gamma"} if "gamma" in base else {})
