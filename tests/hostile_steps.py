"""More of tests/hostile.py: corner-trees and steps, groups, and prices of the prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hostile import FREE, GAMMA, chain, file, information, names, uniform

WORTH = "9" * 40


def corner(k: int, m: int, utility: Any, leaf: Any, count: int, rows: Any = (), branch: Any = (0, 0, "2")) -> Any:
    """A corner-tree of `count` branches, each with the same leaf."""
    problem = {"inputs": names(k), "outputs": names(m), "rows": [*rows], "utility": utility, "cone": GAMMA}
    problem["sense"] = "minimize"
    proof = {"kind": "corner-tree", "yield": WORTH, "unit": "1", "nodes": chain([*branch], leaf, count)}
    return file(problem, uniform(k, m, problem["outputs"]), ("0", WORTH), WORTH, proof)


def corner_rows(scale: int) -> Any:
    """Rows of the problem that every leaf names."""
    k, m, count = 8, 32, 1 + scale // 20
    rows = [
        {"name": f"{i}", "sense": "<=", "rhs": "99999", "terms": [[x, y, "1"] for x in range(k) for y in range(m)]}
        for i in range(count)
    ]
    leaf = {"a": [9] * k, "l": [[i, 1 + i] for i in range(count)], "forms": [[0] * k] * k}
    return corner(k, m, {"kind": "inverse_trace"}, leaf, scale, rows)


def gibbs(scale: int, share: str = "1", n: Callable[[int], str] = str) -> Any:
    """A logarithm for each number of a point."""
    k, m, points = 10, 10, scale
    floor = {"at_least": "0", "shares": ["1", *[share] * (k - 1)], "sizes": [2] * k}
    problem = {"inputs": names(k), "outputs": names(m), "rows": [], "utility": {"kind": "linear", "cost": []},
               "cone": FREE, "entropy": floor}  # fmt: skip
    numbers = [[[n(1 + i + 7 * x + 3 * y) for y in range(m)] for x in range(k)] for i in range(points)]
    proof = {"kind": "linear-dual", "steps": [{"kind": "gibbs", "points": numbers}], "prices": ["0"] * k,
             "rows": ["0"] * points, "flows": []}  # fmt: skip
    return file(problem, uniform(k, m, problem["outputs"]), ("0", "0"), "0", proof, "gibbs-inequality")


def gibbs_zeros(scale: int) -> Any:
    """Rows without a share."""
    return gibbs(scale, "0")


def outer(scale: int, ratio: str = "2") -> Any:
    """The rows of cuts, each used."""
    k, count = 64, 1 + scale
    counts = ["5"] * k
    cone = {"kind": "confidence", "gamma": "2", "blocks": [[*range(k - 1)], [k - 1]], "counts": counts,
            "radius": {"lower": "1/10", "upper": "1/10"}, "form": "exact"}  # fmt: skip
    cut = {"pair": [1, 0], "first": ["5"], "second": ["5"] * (k - 1)}
    problem = {"inputs": names(k), "outputs": ["0"], "utility": {"kind": "linear", "cost": []}, "cone": cone}
    steps = [{"kind": "cut", "ratio": ratio, "cuts": [cut] * count}]
    proof = {"kind": "linear-dual", "steps": steps, "prices": ["1"] * k, "rows": [], "flows": [],
             "multipliers": [["0"] * count]}  # fmt: skip
    mechanism = {**uniform(k, 1), "membership": [[["1", "1"]] * 2]}
    return file(problem, mechanism, ("0", "0"), str(k), proof, "cauchy-schwarz-membership")


def outer_long(scale: int) -> Any:
    """A long ratio, which all weights are multiplied by."""
    return outer(scale, "7" * 3999)


def minorant(k: int, m: int, utility: Any, point: list[str], weight: str = "1", lemmas: Any = ()) -> Any:
    """The cost of m outputs, each from the same point."""
    problem = {"sense": "minimize", "inputs": names(k), "outputs": names(m), "weights": [weight] * k,
               "utility": utility}  # fmt: skip
    proof = {"kind": "linear-dual", "steps": [{"kind": "minorant", "points": [point] * m}], "prices": ["9"] * k,
             "rows": [], "flows": []}  # fmt: skip
    return file(problem, uniform(k, m, problem["outputs"]), ("0", "9"), str(-9 * k), proof, *lemmas)


def minorant_plain(scale: int) -> Any:
    """A logarithm for each number of a point."""
    return minorant(20, 10 * scale, {"kind": "mutual_information"}, [str(7 + x) for x in range(20)],
                    lemmas=["gibbs-inequality"])  # fmt: skip


def minorant_given(scale: int) -> Any:
    """A logarithm for each number of a point and each value of what is given."""
    k, size = 4, 10 * scale
    utility = {"kind": "mutual_information", "given": [["1"] * size] * k}
    return minorant(k, size, utility, ["1", "2", "3", "4"], str(size), ["gibbs-inequality"])


def minorant_square(scale: int) -> Any:
    return minorant(20, 10 * scale, {"kind": "chi_square"}, [str(7 + x) for x in range(20)])


def minorant_bayes(scale: int) -> Any:
    """All gains for each point."""
    size = 2 + scale
    gain = [[f"1/{2 + (g + x) % 7}" for x in range(size)] for g in range(size)]
    return minorant(size, size, {"kind": "bayes", "gain": gain}, [str(g) for g in range(size)])


def minorant_one(scale: int) -> Any:
    """One action: a form has a number for each input, and its point one."""
    k, m = 30 * scale, 10 * scale
    return minorant(k, m, {"kind": "bayes", "gain": [["1"] * k]}, ["1"])


def minorant_zeros(scale: int) -> Any:
    """One gain that is not 0."""
    k, m = 30 * scale, 10 * scale
    return minorant(k, m, {"kind": "bayes", "gain": [["1", *["0"] * (k - 1)]]}, ["1"])


def lift(k: int, limited: Any, step: Any, rows: int, *lemmas: str) -> Any:
    """A mechanism of one output; the multipliers of the new rows are 0."""
    problem = {"inputs": names(k), "utility": {"kind": "bayes", "gain": [["0"] * k]}} | limited
    proof = {"kind": "column-dual", "prices": ["0"] * (k + 1), "flows": [], "multipliers": [["0"] * rows]}
    proof["steps"] = [{"kind": "lift", **step}]
    return file(problem, uniform(k, 1, ["a"]), ("0", "9"), "9", proof, *lemmas)


def one_gain(k: int) -> Any:
    return {"utility": {"kind": "bayes", "gain": [["1", *["0"] * (k - 1)]]}, "weights": ["1"] * k, "at_most": "9"}


def lift_points(scale: int) -> Any:
    """A form has a number for each input, and its point one."""
    k, m = 30 * scale, 10 * scale
    return lift(k, {"limits": [one_gain(k)]}, {"of": 0, "points": [["1"]] * m}, m)


def lift_forms(scale: int, k: int = 0) -> Any:
    """A row of the cone has a number for each input, and its form two."""
    k, m = k or 10 * scale, 20 * scale
    row = {"of": 0, "pair": [0, 1], "forms": [["0", "1"]] * m, "at_most": "1"}
    divergences = {"divergences": [{"kind": "renyi", "order": "2", "epsilon": "1"}]}
    return lift(k, divergences, {"rows": [row]}, m, "young-inequality")


def grouped(k: int, n: int, m: int) -> Any:
    """n groups of k inputs, with the matrix of `uniform`, written out."""
    proof = {"prices": ["9"] * k, "tree": ["1"]}
    made = information(k, GAMMA, proof)
    columns = [{"dense": ["1"] * n}] * m
    made["mechanism"] = {
        "denominators": [str(m)],
        "outputs": names(m),
        "columns": columns,
        "groups": [x % n for x in range(k)],
    }
    return made


def many_groups(scale: int) -> Any:
    """Each input in a group of its own."""
    return grouped(30 * scale, 30 * scale, 8)


def few_groups(scale: int) -> Any:
    """All inputs in a few groups, and many columns."""
    return grouped(50 * scale, 4, 20 * scale)


def capacities(scale: int, bits: int = 250) -> Any:
    """Rows with denominators of their own, and long weights of the prior: each mean has them all."""
    k, m = 16, 4 * scale
    below = [(2**bits + 2 * x + 1) * m for x in range(k)]
    columns = [
        {"dense": [str(n // m + (x - y % 2 - 7) * (1 - 2 * (y % 2))) for x, n in enumerate(below)]} for y in range(m)
    ]
    problem = {"inputs": names(k), "outputs": names(m), "utility": {"kind": "linear", "cost": []},
               "divergences": [{"kind": "capacity", "at_most": "1/2"}]}  # fmt: skip
    sums = [sum(int(column["dense"][x]) for column in columns) for x in range(k)]
    mechanism = {"denominators": [*map(str, sums)], "outputs": problem["outputs"], "columns": columns,
                 "prior": [str(3 ** (bits // 2) + x) for x in range(k)]}  # fmt: skip
    return file(problem, mechanism, ("0", "0"), "0", dropped(k), "capacity-below-divergences")


def dropped(k: int) -> Any:
    """A proof without the divergences."""
    steps = [{"kind": "drop", "parts": ["divergences"]}]
    return {"kind": "linear-dual", "steps": steps, "prices": ["0"] * k, "rows": [], "flows": []}


def divergences(scale: int, count: int = 4) -> Any:
    """Powers of all pairs of rows, at several orders."""
    k, m = 4, 3 * scale
    limits = [{"kind": "renyi", "order": f"{3 + 2 * i}/2", "epsilon": "1"} for i in range(count)]
    problem = {"inputs": names(k), "outputs": names(m), "utility": {"kind": "linear", "cost": []}}
    return file(problem | {"divergences": limits}, uniform(k, m), ("0", "0"), "0", dropped(k))


STEPS: dict[str, Callable[[int], Any]] = {
    made.__name__: made
    for made in (
        corner_rows,
        gibbs, gibbs_zeros, outer, outer_long,
        minorant_plain, minorant_given, minorant_square, minorant_bayes, minorant_one, minorant_zeros, lift_points,
        lift_forms, many_groups, few_groups, capacities, divergences,
    )
}  # fmt: skip
