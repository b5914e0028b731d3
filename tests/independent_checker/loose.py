"""Certificates that no method writes for small problems, made loose so that every element of a proof occurs in them:
random trees of `levels` and of `cases`, and the bound `known`. Prices are raised along the prior until this package's
checker agrees.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from flint import fmpq

from rropt.prove.elaborate import in_lines

from .boxes import Box
from .cases import Cases, branch, root_box
from .claims import Problem, read_problem
from .levels import Levels
from .reading import Reader
from .reals import Refuted, high, log, with_bits
from .steps import after_steps


def rat(value: fmpq) -> str:
    return str(value)


def rounded(value: fmpq, up: bool = True, bits: int = 30) -> fmpq:
    grid = fmpq(1 << bits)
    return ((value * grid).ceil() if up else (value * grid).floor()) / grid


def known(document: Any, *steps: Any) -> Any:
    """The same claim, with the entropy of the input as its bound, of the problem after these steps."""
    weights = [int(weight) for weight in document["problem"]["weights"]]
    p = [fmpq(weight, sum(weights)) for weight in weights]
    prices = [rounded(high(-one * log(one))) if one else fmpq(0) for one in p]
    of_mechanism = [name for name in document["assumptions"] if name == "cauchy-schwarz-membership"]
    made = {**copy.deepcopy(document), "assumptions": of_mechanism, "bound": rat(sum(prices, fmpq(0)))}
    proof = {"kind": "column-dual", "prices": [rat(price) for price in prices], "known": "entropy"}
    made["proof"] = {"kind": "lines", "lines": in_lines(after_steps(made["problem"], list(steps)), proof)}
    made["proof"] |= {"steps": list(steps)} if steps else {}
    return made


def levels(document: Any, seed: int, size: int) -> Any:
    """The same claim with random trees of about `size` branches each."""
    rng = random.Random(seed)
    problem = with_bits(read_problem, Reader(), document["problem"])
    cone = problem.cone
    rest = [1 - sum((cone.lower[x] for x in block), fmpq(0)) for block in cone.blocks]
    lean = [
        -min((problem.prior[x] / cone.lower[x] for x in block if cone.lower[x] > 0), default=fmpq(0))
        for block in cone.blocks
    ]
    trees = [_tree(rng, cone.blocks, rest, cone.ratio.low, size, lean) for _ in cone.blocks]
    made = copy.deepcopy(document)
    low, high_end = fmpq(0), fmpq(64)
    for _ in range(16):
        middle = (low + high_end) / 2
        proof = _proof(document, problem.prior, middle, trees)
        try:
            with_bits(lambda proof=proof: Levels(Reader(), problem, proof).check())
            high_end = middle
        except Refuted:
            low = middle
    made["proof"] = _proof(document, problem.prior, high_end + fmpq(1, 1 << 20), trees)
    made["bound"] = rat(sum((fmpq(*map(int, _split(price))) for price in made["proof"]["prices"]), fmpq(0)))
    made["assumptions"] = ["mi-column-convex", "v-log-v-convex", "robust-vertices"]
    return made


def _split(text: str) -> tuple[str, str]:
    top, _, below = text.partition("/")
    return top, below or "1"


def _proof(document: Any, prior: list[fmpq], raised: fmpq, trees: list[Any]) -> dict[str, Any]:
    said = dict(line.split(" ", 1) for line in document["proof"]["lines"] if line.startswith(("unit ", "prices ")))
    own = [fmpq(int(price), int(said["unit"])) for price in said["prices"].split(" ")]
    prices = [price + raised * p for price, p in zip(own, prior, strict=True)]
    return {"kind": "column-dual", "prices": [rat(price) for price in prices], "levels": _with_slopes(trees, raised)}


def _with_slopes(trees: list[Any], raised: fmpq) -> list[Any]:
    """The slopes l of the cells are numbers that grow with what prices are raised by; an fmpq stands for one."""

    def filled(element: Any) -> Any:
        if isinstance(element, list):
            return element
        cells = [
            [rat(rounded(one * raised)) if isinstance(one, fmpq) else one for one in part] for part in element["cells"]
        ]
        return {**element, "cells": cells}

    return [[filled(element) for element in tree] for tree in trees]


def _tree(
    rng: random.Random, blocks: list[list[int]], rest: list[fmpq], ratio: fmpq, size: int, lean: list[fmpq]
) -> list[Any]:
    """Preorder; the branches are spent on the way down, half on either side."""
    found: list[Any] = []
    whole = {x: (fmpq(0), fmpq(1)) for block, rho in zip(blocks, rest, strict=True) if rho > 0 for x in block}
    stack = [(size, (fmpq(1), rounded(ratio, up=False, bits=10)), whole, ["open"] * len(blocks))]
    while stack:
        left, b, z, states = stack.pop()
        if not left:
            found.append(_leaf(rng, rest, states, lean))
            continue
        kind = rng.choice("bexx")
        opened = [s for s, state in enumerate(states) if state == "open" and rest[s] > 0]
        sizes = (left - 1) // 2, left - 1 - (left - 1) // 2
        if kind == "e" and opened:
            s = rng.choice(opened)
            found.append(["e", s])
            parts = [(b, z, [*states[:s], state, *states[s + 1 :]]) for state in ("plain", "exceptional")]
        elif kind == "x":
            x = rng.choice(list(z))
            c = (z[x][0] + z[x][1]) / 2
            found.append([x, rat(c)])
            parts = [(b, {**z, x: (z[x][0], c)}, states), (b, {**z, x: (c, z[x][1])}, states)]
        else:
            c = (b[0] + b[1]) / 2
            found.append(["b", rat(c)])
            parts = [((b[0], c), z, states), ((c, b[1]), z, states)]
        stack += [(count, *part) for count, part in zip(sizes, parts, strict=True)][::-1]
    return found


def _leaf(rng: random.Random, rest: list[fmpq], states: list[str], lean: list[fmpq]) -> dict[str, Any]:
    cells: list[list[Any]] = []
    for s, rho in enumerate(rest):

        def slope(s: int = s) -> fmpq:
            return lean[s] * fmpq(rng.randint(12, 16), 16)

        if rho == 0:
            cells.append([])
        elif states[s] == "exceptional":
            cells.append([slope()])
        else:
            inside = sorted((1 - rho) * fmpq(rng.randint(1, 15), 16) for _ in range(rng.choice((0, 1, 2))))
            middle: list[str] = [rat(y) for y in inside]
            if rng.random() < 0.6:
                middle.insert(rng.randint(0, len(middle)), "lo")
            cells.append([slope(), *(part for y in middle for part in (y, slope()))])
    return {"t": rat(fmpq(rng.choice((6, 8, 10, 13)), 8)), "cells": cells}


def cases(document: Any, seed: int, size: int) -> Any:
    """The claim of a certificate with `boxes` and `cuts`, by random trees of about `size` branches for each case."""
    rng = random.Random(seed)
    problem = with_bits(read_problem, Reader(), document["problem"])
    unit, blocks = int(document["proof"]["unit"]), problem.cone.blocks
    # Outside of its block a cut cannot lower what has no upper limit: an input of weight 0.
    usable = [
        i
        for i, cut in enumerate(document["proof"]["cuts"])
        if all(problem.prior[z] > 0 or int(n) == 0 for z, n in zip(blocks[cut["pair"][1]], cut["second"], strict=True))
    ]
    roots = [root_box(problem.prior, x) for x, p in enumerate(problem.prior) if p > 0]

    def multipliers() -> list[Any]:
        chosen = sorted(rng.sample(usable, rng.randint(0, min(2, len(usable)))))
        return [[i, rng.randint(1, max(1, unit // 16))] for i in chosen]

    def leaf(box: Box) -> dict[str, Any]:
        parts = [part for block in blocks for part in _spread(rng, box, block, 2, lambda _: {"u": multipliers()})]
        return {"t": rat(_near_weight(problem, box)), "u": multipliers(), "parts": parts}

    elements = [one for root in roots for one in _spread(rng, root, list(range(problem.k)), size, leaf)]
    made = copy.deepcopy(document)
    low, high_end = fmpq(0), fmpq(1 << 10)

    def proof(raised: fmpq) -> dict[str, Any]:
        prices = [
            fmpq(*map(int, _split(price))) + raised * (p if p > 0 else fmpq(1, problem.k))
            for price, p in zip(document["proof"]["prices"], problem.prior, strict=True)
        ]
        kept = {key: document["proof"][key] for key in ("kind", "unit", "cuts")}
        return {**kept, "prices": [rat(price) for price in prices], "cases": elements}

    for _ in range(24):
        middle = (low + high_end) / 2
        try:
            with_bits(lambda middle=middle: Cases(Reader(), problem, proof(middle)).check())
            high_end = middle
        except Refuted:
            low = middle
    made["proof"] = proof(high_end + fmpq(1, 1 << 20))
    made["bound"] = rat(sum((fmpq(*map(int, _split(price))) for price in made["proof"]["prices"]), fmpq(0)))
    made["assumptions"] = ["mi-column-convex", "v-log-v-convex", "robust-vertices"]
    return made


def _near_weight(problem: Problem, box: Box) -> fmpq:
    """A number > 0 beside p.v in the middle of the box."""
    middle = fmpq(0)
    for p, lo, hi in zip(problem.prior, box.lo, box.hi, strict=True):
        middle += p * (lo if hi is None else (lo + hi) / 2)
    return rounded(middle, bits=40)


def _spread(rng: random.Random, box: Box, inputs: list[int], size: int, leaf: Callable[[Box], Any]) -> list[Any]:
    """A tree of `size` branches in the middle of limits, in preorder; one in eight at a number that closes a side."""
    found: list[Any] = []
    stack = [(size, box)]
    while stack:
        left, box = stack.pop()
        if not left:
            found.append(leaf(box))
            continue
        z = rng.choice(inputs)
        lo, hi = box.lo[z], box.hi[z]
        c = rounded((lo + (lo + 2 if hi is None else hi)) / 2, bits=40)
        if rng.random() < 1 / 8 and hi is not None:
            c = hi + 1
        found.append([z, rat(c)])
        sizes = (left - 1) // 2, left - 1 - (left - 1) // 2
        stack += list(zip(sizes, branch(box, z, c), strict=True))[::-1]
    return found


def grouped(document: Any) -> Any:
    """The same claim with groups: the different rows of its matrix in the order in which they come, and the number of
    its row for each input."""
    made = copy.deepcopy(document)
    mechanism, k = made["mechanism"], len(made["problem"]["inputs"])
    columns = [
        column.get("dense") or [column["high" if int(column["members"], 16) >> x & 1 else "low"] for x in range(k)]
        for column in mechanism["columns"]
    ]
    denominators = mechanism["denominators"]
    rows = list(zip(denominators * k if len(denominators) == 1 else denominators, *columns, strict=False))
    different = list(dict.fromkeys(rows))
    below, *columns = zip(*different, strict=True)
    mechanism["groups"] = [different.index(row) for row in rows]
    mechanism["columns"] = [{"dense": list(column)} for column in columns]
    mechanism["denominators"] = denominators if len(denominators) == 1 else list(below)
    return made


def written_out(made: Any) -> Any:
    """The same claim with a row for each input."""
    found = copy.deepcopy(made)
    own = found["mechanism"]
    groups = own.pop("groups", range(len(found["problem"]["inputs"])))
    if len(own["denominators"]) > 1:
        own["denominators"] = [own["denominators"][g] for g in groups]
    own["columns"] = [{"dense": [column["dense"][g] for g in groups]} for column in own["columns"]]
    return found
