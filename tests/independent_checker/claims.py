"""The problem of a file: section 4, all of it types, ranges and vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpq

from .curves import CURVES
from .reading import Reader, bad, distinct, entry, increasing, index, integer, items, keys, must, string
from .reals import exp, high, low

PLAIN = ("free", "complete", "graph")
CONVEX = ("mutual_information", "chi_square", "bayes")
DESIGNS = ("inverse_trace", "inverse_determinant", "inverse_eigenvalue")
Pair = tuple[int, int]
GRID = fmpq(1 << 300)
COARSE, APART = fmpq(1 << 80), fmpq(1, 1 << 88)  # the grid of steps, on which all checkers have the same numbers


def down(number: fmpq, exact: bool = False) -> fmpq:
    """To the grid; a number that is not rational a little further."""
    return ((number - (0 if exact else APART)) * COARSE).floor() / COARSE


def up(number: fmpq, exact: bool = False) -> fmpq:
    return -down(-number, exact)


@dataclass(frozen=True)
class Ratio:
    """A ratio gamma, or exp(epsilon), with its enclosure."""

    low: fmpq
    high: fmpq


@dataclass
class Cone:
    """`kind` is the kind of the base; `rows` stands where it is polyhedral."""

    kind: str
    ratio: Ratio | None = None
    edges: dict[Pair, Ratio] = field(default_factory=dict)  # complete: every pair
    lengths: dict[Pair, tuple[fmpq, fmpq]] = field(default_factory=dict)  # (factor, exponent), one of them trivial
    rows: list[list[fmpq]] | None = None
    blocks: list[list[int]] = field(default_factory=list)
    lower: list[fmpq] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    radius: tuple[fmpq, fmpq] = (fmpq(0), fmpq(0))
    form: str = ""

    def is_plain(self) -> bool:
        return self.kind in PLAIN


@dataclass
class Row:
    name: str
    sense: str
    rhs: fmpq
    terms: dict[Pair, fmpq]


@dataclass
class Problem:
    sense: str
    inputs: list[str]
    outputs: list[str] | None
    structure: bool
    weights: list[int]
    prior: list[fmpq]
    kind: str
    utility: dict[str, Any]
    cone: Cone
    rows: list[Row]
    entropy: dict[str, Any] | None
    approximate: dict[str, Any] | None
    risk: dict[str, Any] | None
    limits: list[tuple[Problem, fmpq]] = field(default_factory=list)  # each a problem with the utility that is limited
    # (order, epsilon), (None, rho), or (1, the limit of a capacity)
    divergences: list[tuple[fmpq | None, fmpq]] = field(default_factory=list)

    @property
    def k(self) -> int:
        return len(self.inputs)

    @property
    def m(self) -> int:
        assert self.outputs is not None
        return len(self.outputs)

    @property
    def has_capacity(self) -> bool:
        return self.kind == "capacity" or any(order == 1 for order, _ in self.divergences)

    @property
    def parts(self) -> list[tuple[Problem, fmpq]]:
        """Those of a sum, each as a problem with its own utility, and sigma times its weight."""
        sign = 1 if self.sense == "maximize" else -1
        return [
            (replace(self, **{key: value for key, value in part.items() if key != "weight"}), sign * part["weight"])
            for part in self.utility.get("parts", [])
        ]

    def cost(self, x: int, y: int) -> fmpq:
        """Of what is maximised: negated where the problem is `minimize`."""
        cost = self.utility.get("cost", {}).get((x, y), fmpq(0))
        return cost if self.sense == "maximize" else -cost


def enclosed(exponent: fmpq) -> Ratio:
    """exp within 2^-300, rational."""
    value = exp(exponent)
    below, above = (low(value) * GRID).floor() / GRID, (high(value) * GRID).ceil() / GRID
    return Ratio(max(below, fmpq(1)), above)


def read_ratio(reader: Reader, value: dict[str, Any]) -> tuple[Ratio, fmpq, fmpq]:
    """The ratio, and its (factor, exponent)."""
    must(("epsilon" in value) != ("gamma" in value), "one of epsilon and gamma")
    if "epsilon" in value:
        epsilon = reader.rat_from(0, strict=True)(value["epsilon"])
        must(epsilon <= 20, "limit: epsilon <= 20")
        return enclosed(epsilon), fmpq(1), epsilon
    gamma = reader.rat_from(1, strict=True)(value["gamma"])
    must(gamma <= low(exp(fmpq(20))), "limit: log gamma <= 20")
    return Ratio(gamma, gamma), gamma, fmpq(0)


def read_blocks(value: Any, k: int) -> list[list[int]]:
    blocks = items(value, lambda block: items(block, index(k), least=1))
    for block in blocks:
        increasing(block, "inputs of a block")
    must(sorted(x for block in blocks for x in block) == list(range(k)), "blocks are not a partition")
    return blocks


def _base(reader: Reader, value: Any, k: int) -> Cone:
    kind = value.get("kind") if isinstance(value, dict) else bad("no cone")
    if kind == "free":
        keys(value, ["kind"])
        return Cone("free")
    if kind == "complete":
        keys(value, ["kind"], ["epsilon", "gamma"])
        ratio, factor, exponent = read_ratio(reader, value)
        pairs = [(x, z) for x in range(k) for z in range(k) if x != z]
        return Cone("complete", ratio, dict.fromkeys(pairs, ratio), dict.fromkeys(pairs, (factor, exponent)))
    must(kind == "graph", "no such cone")
    keys(value, ["kind", "edges"], ["unit"])
    in_gamma = "unit" in value
    must(not in_gamma or value["unit"] == "gamma", "no such unit")
    number = reader.rat_from(1) if in_gamma else reader.rat_from(0)
    edges = items(value["edges"], lambda edge: entry(edge, index(k), index(k), number))
    must(all(x != z for x, z, _ in edges), "edge from an input to itself")
    increasing([(x, z) for x, z, _ in edges], "edges")
    cone = Cone("graph")
    for x, z, length in edges:
        must(length <= (low(exp(fmpq(20))) if in_gamma else 20), "limit: an edge's exponent <= 20")
        cone.edges[x, z] = Ratio(length, length) if in_gamma else enclosed(length)
        cone.lengths[x, z] = (length, fmpq(0)) if in_gamma else (fmpq(1), length)
    return cone


def _cone(reader: Reader, value: Any, k: int) -> Cone:
    kind = value.get("kind") if isinstance(value, dict) else bad("no cone")
    if kind == "polyhedral":
        keys(value, ["kind", "base", "rows"])
        cone = _base(reader, value["base"], k)
        cone.rows = items(value["rows"], lambda row: items(row, reader.rat, k), least=1)
        return cone
    if kind == "robust":
        keys(value, ["kind", "blocks", "lower"], ["epsilon", "gamma"])
        cone = Cone("robust", read_ratio(reader, value)[0], blocks=read_blocks(value["blocks"], k))
        cone.lower = items(value["lower"], reader.rat_from(0), k)
        must(len(cone.blocks) >= 2, "two blocks or more")
        for block in cone.blocks:
            rest = 1 - sum((cone.lower[x] for x in block), fmpq(0))
            must(rest >= 0 and (rest > 0 or all(cone.lower[x] > 0 for x in block)), "lower")
        must(k <= 512, "limit: k <= 512 for a robust cone")
        return cone
    if kind == "confidence":
        keys(value, ["kind", "blocks", "counts", "radius", "form"], ["epsilon", "gamma"])
        cone = Cone("confidence", read_ratio(reader, value)[0], blocks=read_blocks(value["blocks"], k))
        cone.counts = items(value["counts"], reader.big_from(0), k)
        radius = keys(value["radius"], ["lower", "upper"])
        cone.radius = (reader.rat(radius["lower"]), reader.rat(radius["upper"]))
        must(value["form"] in ("exact", "product"), "form")
        cone.form = value["form"]
        must(len(cone.blocks) >= 2, "two blocks or more")
        must(sum(cone.counts) > 0, "counts sum to 0")
        must(0 < cone.radius[0] <= cone.radius[1], "radius")
        must(k <= 512, "limit: k <= 512 for a confidence cone")
        return cone
    return _base(reader, value, k)


def _cells(reader: Reader, value: Any, k: int, m: int) -> dict[Pair, fmpq]:
    terms = items(value, lambda term: entry(term, index(k), index(m), reader.rat))
    increasing([(x, y) for x, y, _ in terms], "cells")
    return {(x, y): number for x, y, number in terms}


def _shares(reader: Reader, value: Any, k: int) -> list[int]:
    shares = items(value, reader.big_from(0), k)
    must(sum(shares) > 0, "shares sum to 0")
    return shares


def _utility(reader: Reader, value: Any, sense: str, k: int, m: int | None, weights: list[int]) -> Any:
    kind = value.get("kind") if isinstance(value, dict) else bad("no utility")
    listed = m is not None
    if kind == "mutual_information":
        keys(value, ["kind"], ["given"])
        found: dict[str, Any] = {}
        if "given" in value:
            given = items(value["given"], lambda row: items(row, reader.big_from(0), least=1), k)
            must(len({len(row) for row in given}) == 1, "given is not a table")
            must(all(sum(row) == w for row, w in zip(given, weights, strict=True)), "given does not sum to the weights")
            must(k * len(given[0]) <= 10**7, "limit: k * J of a given")
            whole = sum(weights)
            found["given"] = [[fmpq(cell, whole) for cell in row] for row in given]
        return kind, found
    if kind == "capacity":
        keys(value, ["kind"])
        must(sense == "minimize", "capacity of what")
        return kind, {}
    if kind in list(CURVES):
        keys(value, ["kind"])
        return kind, {}
    if kind == "linear":
        keys(value, ["kind", "cost"])
        must(listed, "outputs must be a list")
        return kind, {"cost": _cells(reader, value["cost"], k, m or 0)}
    if kind == "bayes":
        keys(value, ["kind", "gain"])
        return kind, {"gain": items(value["gain"], lambda row: items(row, reader.rat, k), least=1)}
    if kind == "entropy":
        keys(value, ["kind", "shares"])
        must(listed and sense == "maximize", "entropy of what")
        return kind, {"shares": _shares(reader, value["shares"], k)}
    if kind in DESIGNS:
        keys(value, ["kind"], ["queries"] if kind == "inverse_trace" else [])
        queries = [[fmpq(int(x == z)) for x in range(k)] for z in range(k)]
        if "queries" in value:
            queries = items(value["queries"], lambda row: items(row, reader.rat, k), least=1)
            must(len(queries) <= 64, "limit: J <= 64")
        must(sense == "minimize" and min(weights) > 0 and k <= 64, "a design's problem")
        return kind, {"queries": queries}
    if kind == "sum":
        keys(value, ["kind", "cost", "parts"])
        cost = _cells(reader, value["cost"], k, m or 0)
        parts = items(value["parts"], lambda part: _part(reader, k, part), least=1)
        must(len(parts) <= 64, "limit: parts")
        return kind, {"cost": cost, "parts": parts}
    return bad("no such utility")


def _prior(weights: list[int]) -> list[fmpq]:
    whole = sum(weights)
    return [fmpq(weight, whole) for weight in weights]


def _part(reader: Reader, k: int, value: Any) -> dict[str, Any]:
    keys(value, ["weight", "utility", "weights"])
    weight = reader.rat(value["weight"])
    must(weight != 0, "a part of weight 0")
    return {"weight": weight, **_at_weights(reader, k, value)}


def _at_weights(reader: Reader, k: int, value: dict[str, Any]) -> dict[str, Any]:
    """A convex utility with weights of its own, as fields of a problem."""
    weights = items(value["weights"], reader.big_from(0), k)
    must(sum(weights) > 0, "weights sum to 0")
    must(isinstance(value["utility"], dict) and value["utility"].get("kind") in CONVEX, "a convex utility")
    kind, utility = _utility(reader, value["utility"], "minimize", k, None, weights)
    prior = _prior(weights)
    return {"weights": weights, "prior": prior, "kind": kind, "utility": utility}


def _row(reader: Reader, k: int, m: int) -> Any:
    def read(value: Any) -> Row:
        keys(value, ["name", "sense", "rhs", "terms"])
        must(value["sense"] in ("<=", "="), "sense of a row")
        return Row(
            string(value["name"]), value["sense"], reader.rat(value["rhs"]), _cells(reader, value["terms"], k, m)
        )

    return read


def _extras(reader: Reader, problem: Problem, value: dict[str, Any]) -> None:
    """The keys `entropy`, `approximate` and `identification_risk`."""
    k = problem.k
    if "entropy" in value:
        floor = keys(value["entropy"], ["at_least", "shares", "sizes"])
        sizes = items(floor["sizes"], integer, k)
        must(all(1 <= size <= 10**9 for size in sizes), "sizes")
        problem.entropy = {
            "at_least": reader.rat_from(0)(floor["at_least"]),
            "shares": _shares(reader, floor["shares"], k),
            "sizes": sizes,
        }
        must(problem.outputs is not None and not problem.structure, "entropy with what")
    if problem.entropy is not None or problem.kind == "entropy":
        must(k * problem.m <= 10**6, "limit: k * m with entropy")
    if "approximate" in value:
        given = keys(value["approximate"], ["delta"], ["epsilon", "gamma"])
        ratio = read_ratio(reader, given)[0]
        delta = reader.rat(given["delta"])
        must(0 < delta < 1 and problem.outputs is not None and not problem.structure, "approximate with what")
        must(k * (k - 1) * problem.m <= 10**7, "limit: k * (k - 1) * m")
        problem.approximate = {"ratio": ratio, "delta": delta}
    if "identification_risk" in value:
        _risk(reader, problem, value["identification_risk"])
    if "limits" in value:
        problem.limits = items(value["limits"], lambda limit: _limit(reader, problem, limit), least=1)
        must(len(problem.limits) <= 64, "limit: limits")
        must(not problem.structure, "limits with a structure")
    if "divergences" in value:
        problem.divergences = items(value["divergences"], lambda one: _divergence(reader, one), least=1)
        must(len(problem.divergences) <= 64, "limit: divergences")
        must(not problem.structure, "divergences with a structure")


def _divergence(reader: Reader, value: Any) -> tuple[fmpq | None, fmpq]:
    """(order, epsilon), (None, rho), or (1, the limit of a capacity)."""
    if isinstance(value, dict) and value.get("kind") == "capacity":
        keys(value, ["kind", "at_most"])
        limit = reader.rat(value["at_most"])
        must(0 < limit <= 20, "at_most of a capacity")
        return fmpq(1), limit
    must(isinstance(value, dict) and value.get("kind") in ("renyi", "zero_concentrated"), "kind of a divergence")
    name = "epsilon" if value["kind"] == "renyi" else "rho"
    keys(value, ["kind", name, *(["order"] if name == "epsilon" else [])])
    order = reader.rat(value["order"]) if "order" in value else None
    must(order is None or 1 < order <= 64, "an order")
    most = reader.rat(value[name])
    must(0 < most <= 20, name)
    return order, most


def _limit(reader: Reader, problem: Problem, value: Any) -> tuple[Problem, fmpq]:
    keys(value, ["utility", "weights", "at_most"])
    of = replace(problem, limits=[], **_at_weights(reader, problem.k, value))
    return of, reader.rat(value["at_most"])


def _risk(reader: Reader, problem: Problem, value: Any) -> None:
    k = problem.k
    keys(value, ["at_most", "counts", "categories"], ["blocks"])
    most = reader.rat(value["at_most"])
    counts = items(value["counts"], reader.big_from(0), k)
    categories = items(value["categories"], index(k), least=1)
    increasing(categories, "categories")
    must(0 < most < 1 and all(counts[c] >= 1 for c in categories), "at_most or categories")
    blocks = None
    if "blocks" in value:
        blocks = read_blocks(value["blocks"], k)
        must(all(len(block) == 1 or all(counts[x] >= 1 for x in block) for block in blocks), "counts of a block")
        must(problem.cone.kind == "free" and problem.cone.rows is None, "blocks with a cone")
    must(problem.outputs == problem.inputs and not problem.structure, "risk with what")
    tops = -int((-1 / most).floor()) - 1
    must(tops <= 1000 and len(categories) * k * tops**2 <= 10**8, "limit: identification_risk")
    must(all(count < 1 << 63 for count in counts), "limit: counts")
    problem.risk = {"at_most": most, "counts": counts, "categories": categories, "blocks": blocks, "tops": tops}


def _together(problem: Problem) -> None:
    """What goes with what: asked of the last problem only."""
    kind, plain = problem.kind, problem.cone.is_plain()
    must(not problem.limits, "limits in the last problem")
    must(not problem.divergences, "divergences in the last problem")
    must(problem.sense == "maximize" or kind in ("linear", "sum") or kind in DESIGNS, "minimize what")
    bare = kind == "mutual_information" and not problem.utility
    if kind in DESIGNS:
        must(plain, "design with what")
    if not plain:
        must(problem.sense == "maximize" and bare, "robust cone with what")
        must(problem.outputs is None, "robust cone with outputs")
    if problem.entropy is not None:
        must(kind in ("linear", "entropy") and plain, "entropy with what")
    if kind == "entropy":
        must(plain, "entropy with what cone")
    if problem.approximate is not None:
        must(kind == "linear" and plain, "approximate with what")
        must(problem.entropy is None and problem.risk is None, "approximate with what else")
    if problem.risk is not None:
        must((kind == "linear" or bare) and plain and problem.entropy is None, "risk with what")


def read_problem(reader: Reader, value: Any, whole: bool = True, grouped: bool = False) -> Problem:
    """Everything that section 4 makes UNREADABLE; not `whole`: what it asks of a problem that is not the last one;
    `grouped`: its mechanism has groups."""
    keys(value, ["sense", "inputs", "outputs", "weights", "utility", "cone", "rows"], KEYS)
    must(value["sense"] in ("maximize", "minimize"), "sense")
    inputs = items(value["inputs"], string, least=2)
    distinct(inputs, "input")
    k = len(inputs)
    must(k <= (10**6 if grouped else 10**5), "limit: k")
    outputs = None if value["outputs"] is None else items(value["outputs"], string, least=1)
    if outputs is not None:
        distinct(outputs, "output")
        must(len(outputs) <= 10**5, "limit: m")
    weights = items(value["weights"], reader.big_from(0), k)
    must(sum(weights) > 0, "weights sum to 0")
    m = None if outputs is None else len(outputs)
    kind, utility = _utility(reader, value["utility"], value["sense"], k, m, weights)
    structure = "structure" in value
    must(not structure or value["structure"] == "uniform_off_diagonal", "structure")
    cone = _cone(reader, value["cone"], k)
    rows = items(value["rows"], _row(reader, k, m or 0))
    distinct([row.name for row in rows], "name of a row")
    must(not rows or outputs is not None, "rows without outputs")
    prior = _prior(weights)
    sense = value["sense"]
    problem = Problem(sense, inputs, outputs, structure, weights, prior, kind, utility, cone, rows, None, None, None)
    if structure:
        must(outputs == inputs and kind == "mutual_information" and not utility, "structure with what")
        must(cone.kind == "complete" and cone.rows is None and not rows, "structure with what cone")
    _extras(reader, problem, value)
    if whole:
        _together(problem)
    return problem


KEYS = ("structure", "entropy", "approximate", "identification_risk", "limits", "divergences")
