"""A certificate as a proof file of the verified core.

Nothing here is trusted: a wrong line can only make the core refuse. docs/verified-core.md says what the lines mean.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, permutations
from typing import Any

from rropt import kernel
from rropt.kernel import D, log_below
from rropt.mechanisms.columns import TwoValuedColumn
from rropt.prove.designs import Designs, by_rays
from rropt.prove.limits import Limits, Paths
from rropt.prove.matrices import Matrices, corner_lines
from rropt.prove.problems import (
    DESIGNS,
    Json,
    OutsideCoreError,
    Problem,
    all_prices,
    around,
    emptied,
    exp_above,
    moments_of,
    multipliers,
    over,
    reduced,
    root_above,
    tangents_of,
    words,
)

LONGEST = 4096
"""Bits that the denominators of the rows of a cone may add to all numbers of a proof file, at most."""
KINDS = ("linear-dual", "farkas", "column-dual", "branch-tree", "corner-tree", "entropy-dual", "entropy-farkas")
KEYS = {"kind", "prices", "rows", "flows", "multipliers", "tree", "boxes", "unit", "known", "weight", "tilts", "yield"}
KEYS |= {"steps", "events", "cuts", "rays", "shapes", "nodes"}
Tangents = tuple[list[Fraction], list[list[int]]]


def elaborate(certificate: Json) -> Iterator[str]:
    """The lines of the proof file of a certificate; raises OutsideCoreError where the core has no such problem or proof,
    or where a step leads from the problem to that of its lines."""
    proof, stated = certificate["proof"], emptied(certificate["problem"], certificate["bound"] is None)
    steps = proof.get("steps", [])
    if proof["kind"] == "lines":
        if steps:
            named = next((step for step in steps if step["kind"] != "drop"), steps[0])["kind"]
            raise OutsideCoreError(f"the verified core has no step {named!r} before lines")
        problem, written = Problem(stated, "box"), iter(proof["lines"])
    else:
        if stated["utility"]["kind"] not in DESIGNS or proof["kind"] not in ("column-dual", "corner-tree"):
            raise OutsideCoreError(f"the verified core has no proofs of kind {proof['kind']!r}{form_of(proof)}")
        problem = Problem(stated, "rays" if "boxes" in proof else "design")
        problem.follow(steps, [], [])
        written = (designs_by_rays if "boxes" in proof else designs)(problem, proof)
    lines = list(problem.lines())
    problem.limit()
    yield "rropt-core"
    yield words("problem", hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest())
    yield from lines
    if certificate["bound"] is None:
        yield "claim infeasible -1 1"
    else:
        yield words("claim bound", *(problem.sign * Fraction(certificate["bound"])).as_integer_ratio())
        if problem.stated.design is None:
            yield from witness(problem, certificate)
    yield from written
    yield "end"


def in_lines(stated: Json, proof: Json) -> list[str]:
    """The lines of a proof of a problem, both as the searches give them; raises OutsideCoreError where the core has no
    such rule."""
    mode = proof_mode(proof)
    problem = Problem(emptied(stated, proof["kind"] in ("farkas", "entropy-farkas")), mode)
    problem.follow(proof.get("steps", []), proof.get("events", []), proof.get("cuts", []))
    with kernel.long_integers():
        return list(WRITERS[mode](problem, proof))


def witness(problem: Problem, certificate: Json) -> Iterator[str]:
    """The mechanism over one denominator, and the value that it attains, as that of a maximum."""
    mechanism = certificate["mechanism"]
    denominators = [int(d) for d in mechanism["denominators"]]
    common = math.lcm(*denominators)
    value = problem.sign * Fraction(certificate["value"]["lower" if problem.sign > 0 else "upper"])
    if problem.stated.utility == "chi-square":  # divided column by column, and rounded down
        value -= Fraction(1, 1 << 140)
    yield words("value", *value.as_integer_ratio(), common)
    yield words("lows", *(number for pair in problem.lows for number in pair))
    if problem.priors:
        best = reduced(mechanism["prior"])[1]
        yield from [words("best", *best)] * len(problem.priors)
    yield from (words("near", *near) for near in problem.nears)
    groups = mechanism.get("groups", range(len(problem.stated.weights)))
    size, columns = 1 + max(groups), list[list[int]]()
    for column in mechanism["columns"]:
        if (numbers := column.get("dense")) is None:
            low, high, members = int(column["low"]), int(column["high"]), int(column["members"], 16)
            numbers = TwoValuedColumn(low, high, members).entries(size)
        columns.append([int(n) * (common // denominators[x % len(denominators)]) for x, n in enumerate(numbers)])
    for function, (a, _) in problem.stated.parts:
        scale, worth = function.worth(columns, common, above=a < 0)
        yield words("worth", *Fraction(worth, scale).as_integer_ratio())
    if (confidence := problem.stated.confidence) is not None:
        yield words("root", *around(confidence.ratio, fixed=False)[0], root_above(confidence))
        yield from (words("pair", *one) for one in tangents_of(confidence, mechanism["membership"], columns, common))
    for divergence in problem.stated.divergences:
        orders, moments = moments_of(divergence, mechanism.get("orders", []), columns, common)
        yield words("orders", *orders)
        yield from (words("moments", *own) for own in moments)
    for numbers in columns:
        own = [str(n) for n in numbers]
        yield " ".join(["column", *map(own.__getitem__, groups)])


def has_mode(proof: Json) -> bool:
    """Whether the core has a mode for lines of proofs of this kind with these keys."""
    return proof["kind"] in KINDS and proof.keys() <= KEYS


def form_of(proof: Json) -> str:
    """The key that tells a kind of proof apart, as messages name it."""
    return next((f" with {key}" for key in proof if key not in KEYS), "")


def proof_mode(proof: Json) -> str:
    """The mode for lines of a proof of this kind."""
    modes = {"tree": "corner", "boxes": "box", "known": "known", "shapes": "blocks", "nodes": "matrix", "rays": "rays"}
    found = next((mode for key, mode in modes.items() if key in proof), "dual")
    return "sheets" if proof["kind"] == "branch-tree" else found


def opening(problem: Problem, mode: str, unit: int, prices: list[Any], mults: list[int]) -> Iterator[str]:
    """The lines between the problem and the tokens, without claim, value and points."""
    yield from (words("prior", *prior) for prior in problem.priors)
    for key, lists in (("around", problem.matrices), ("sum", problem.sums), ("minorant", problem.touches)):
        if key == "sum":
            for g, h, events in problem.reaches:
                yield words("reach", g, h)
                yield from (words("event", *event) for event in events)
            for rows in problem.tangents:
                yield "tangents"
                yield from (words("tangent", *row) for row in rows)
            if problem.cuts is not None:
                *ends, cuts = problem.cuts
                yield words("cuts", *ends)
                yield from (words("cut", *cut) for cut in cuts)
            for which, points in problem.lifts:
                yield words("lift", which)
                yield from (words("at", *point) for point in points)
        for points in lists:
            yield key
            yield from (words("at", *point) for point in points)
    yield words("unit", unit)
    yield words("prices", *prices)
    yield words("mults", *mults)
    yield words("mode", mode)
    yield words("ratios", *(number for pair in problem.ratios for number in pair))


def known(problem: Problem, proof: Json) -> Iterator[str]:
    """The entropy of the input as prices; no further tests."""
    yield from opening(problem, "known", *over([Fraction(a) for a in proof["prices"]]), [])


def rays(problem: Problem, proof: Json) -> Iterator[str]:
    """Prices on the whole cone, whose edges and half-spaces cut the orthant one after the other."""
    core, (unit, prices) = problem.core, over([Fraction(a) for a in proof["prices"]])
    yield from opening(problem, "rays", unit, [], [])
    yield from cuts_of_cone(problem)
    yield words("P", *prices, ";", *(0 for _ in core.rows))
    yield from ["l"] * (1 if core.outputs is None else core.outputs)


def cuts_of_cone(problem: Problem) -> Iterator[str]:
    """Cuts by each edge and half-space of the cone."""
    core, k = problem.core, problem.k
    pairs = permutations(range(k), 2) if core.cone == "complete" else ((x, z) for x, z, _ in core.edges)
    yield from (words("e", x * k + z if core.cone == "complete" else i) for i, (x, z) in enumerate(pairs))
    yield from (words("h", i) for i in range(len(core.halfspaces)))


def designs_by_rays(problem: Problem, proof: Json) -> Iterator[str]:
    """Risks of estimation on any cone: prices that pay for the forms at each of its rays."""
    unit, line = by_rays(problem, proof)
    yield from opening(problem, "rays", unit, [], [])
    yield from cuts_of_cone(problem)
    yield line


def dual(problem: Problem, proof: Json) -> Iterator[str]:
    """linear-dual, farkas, bayes and entropies: one test for each output or action."""
    empty = proof["kind"] in ("farkas", "entropy-farkas")
    last = problem.core.straight(problem.touches)
    if last.utility == "bayes" and last.rows and not empty:
        raise OutsideCoreError("the verified core has no gains of Bayes with rows that a proof leaves out")
    last = replace(last, bonus=[]) if empty else last
    shares, points = [Fraction(0)] * len(last.rows), list[list[int]]()
    given = [*proof.get("rows", []), *(u for *_, u in proof.get("events", ()))]
    for place, m in zip(problem.places, given, strict=True):
        shares[place] = Fraction(m) / problem.row_scales[place]
    beside = problem.entropies_of(shares)
    if "tilts" in proof:
        exact, points = entropies(problem, proof, last, shares)
        weight = Fraction(proof.get("weight", 0))
        shares = [weight * problem.floor_divisor / (floor.b * D) for floor in last.floors] + shares
    else:
        beside = [one + other for one, other in zip(beside, problem.true_answers(), strict=True)]
        exact = [Fraction(a) - more for a, more in zip(proof["prices"], beside, strict=True)]
    last = last.relaxed((0, 1), points)[0]
    last = last.emptied() if empty else last
    # Prices may leave a column test nothing: then the amounts of rows of the cone must be whole numbers of units.
    amounts = [[Fraction(amount) for amount in own] for own in proof.get("multipliers", [[]])]
    used = {i for own in amounts for i, amount in enumerate(own) if amount}
    odd = math.lcm(*(scale // (scale & -scale) for i, scale in enumerate(problem.half_scales) if i in used))
    unit, numbers = over([*exact, *shares], problem.fine * (odd if odd.bit_length() <= LONGEST else 1))
    prices, mults = numbers[: problem.k], numbers[problem.k :]
    left = sum(prices) + sum(m * row.right for m, row in zip(mults, last.rows, strict=True))
    yield from (words("points", *column) for column in points)
    # Where nothing is gained, the unit is what the sum of the prices must be below -1 over.
    yield from opening(problem, "dual", -left if empty else unit, prices, mults)
    weighted, flows = last.utility == "bayes", proof["flows"] or [[]]
    scale = D * D * unit * last.den * (problem.total if weighted else 1)
    for y in range(len(last.lists) if weighted else last.outputs or 0):
        own = [(x, z, Fraction(amount)) for x, z, amount in flows[min(y, len(flows) - 1)]]
        yield words("l", *multipliers(problem, scale, own, enumerate(amounts[min(y, len(amounts) - 1)])))


def entropies(problem: Problem, proof: Json, last: kernel.Problem, shares: list[Fraction]) -> Tangents:
    """Prices, and points t of the tangents, one list for each output. In a row of tau > 0 these are exp(e / tau) over
    their sum S, and the price is tau (log S - 1)."""
    cells = [[-Fraction(h) for h in tilt] for tilt in proof["tilts"]]
    cells = cells or [[Fraction(0)] * problem.k for _ in range(last.outputs or 0)]
    for x, y, c in last.cost if proof["kind"] == "entropy-dual" else []:
        cells[y][x] += Fraction(c, last.den)
    for share, row in zip(shares, last.rows, strict=True):
        for x, y, c in row.terms if share else []:
            cells[y][x] -= share * c
    prices, points = [], []
    for x in range(problem.k):
        tau = Fraction(last.bonus[x], sum(last.bonus)) if last.bonus else Fraction(0)
        for floor in last.floors:
            tau += Fraction(proof.get("weight", 0)) * problem.floor_divisor * floor.shares[x]
        highest = max(column[x] for column in cells)
        if not tau:  # the points serve for nothing
            prices.append(highest)
            points.append([D] * len(cells))
            continue
        tops = [min((highest - column[x]) / tau, Fraction(256)) for column in cells]
        shown = [math.floor(D / exp_above(top)) + 1 for top in tops]
        price = highest + tau * Fraction(log_below(sum(shown), D) + (1 << 30) - D, D)
        prices.append(Fraction(math.floor(price * (1 << 200)) + 1, 1 << 200))
        points.append([one * D // sum(shown) + 1 for one in shown])
    return prices, [list(column) for column in zip(*points, strict=True)]


def corner(problem: Problem, proof: Json) -> Iterator[str]:
    """A tree over the corners {1, g}^k: its branches are the core's, its leaves get the multipliers of their limits."""
    weights = problem.core.weights
    if (problem.core.halfspaces and not problem.leaves_rows_of_cone) or problem.core.utility == "given":
        raise OutsideCoreError("the verified core has no trees of corners with rows of the cone or 'given'")
    unit, prices, own = own_prices(proof["prices"], weights)
    yield from opening(problem, "corner", unit, own, [])
    paid = [problem.total * a for a in prices]
    yield from corner_lines(problem.core, problem.divisor, problem.ratios[0][0], unit, paid, proof["tree"])


def designs(problem: Problem, proof: Json) -> Iterator[str]:
    """Risks of estimation: forms, and a tree over the corners of the limits of each column."""
    found = Designs(problem, proof)
    yield from found.lines(opening(problem, "design", found.unit, [], []))


def matrices(problem: Problem, proof: Json) -> Iterator[str]:
    """A tree over matrices whose columns are tied by rows."""
    found = Matrices(problem, proof)
    yield from found.lines(opening(problem, "matrix", found.unit, [], []))


def own_prices(given: Any, weights: list[int]) -> tuple[int, list[int], list[Any]]:
    """The unit of prices, the prices over it, and the fields that state them: multiples of the prior stay short."""
    prices = all_prices(given, weights)
    if isinstance(given, list):
        unit, numbers = over(prices)
        return unit, numbers, numbers
    each, places = Fraction(given["of_prior"]) / sum(weights), [x for x, _ in given["own"]]
    unit, (of_prior, *rest) = over([each, *(prices[x] for x in places)])
    own = dict(zip(places, rest, strict=True))
    pairs = [n for pair in own.items() for n in pair]
    return unit, [own.get(x, of_prior * weight) for x, weight in enumerate(weights)], ["prior", of_prior, *pairs]


def leaf(problem: Problem, token: Json, unit: int, scale: int) -> list[object]:
    """The points and multipliers of a leaf of a box tree, none where all are 0; `scale` is the unit of the prices."""
    core, given = problem.core, problem.core.utility == "given"
    flows = [(x, z, Fraction(amount, unit)) for x, z, amount in token["f"]]
    rows = [(i, Fraction(amount, unit)) for i, amount in token.get("u", [])]
    nu = Fraction(token["n"], unit) - (1 if core.utility == "information" else 0)
    points = [math.floor(Fraction(t) * D) for t in token["t"]] if given else [D] * len(core.lists)
    points = [point if sum(group) else D for point, group in zip(points, core.lists, strict=True)]
    form = math.floor(nu * scale * D)
    return [*points, *multipliers(problem, D * D * scale * problem.total, flows, rows, form)]


def boxes(problem: Problem, proof: Json) -> Iterator[str]:
    """A box tree in preorder, for one column, or over the columns of a matrix with prices of its own in each leaf."""
    unit, matrix = int(proof["unit"]), "prices" not in proof
    scale, prices = over([Fraction(a) for a in proof.get("prices", [])], problem.fine)
    if matrix:
        scale *= unit * math.lcm(*(scale.numerator for scale in problem.row_scales))
    yield from opening(problem, "sheets" if matrix else "box", scale, prices, [])
    paths, inputs = Paths(problem), range(problem.k)
    columns = [Limits(problem, paths, y) for y in range(problem.core.outputs or 0 if matrix else 1)]
    for column in columns:
        yield from column.root()
    close = sheet if matrix else leaf
    stack: list[tuple[list[Limits], int, int, int]] = []
    for token in proof["boxes"]:
        if isinstance(token, list):
            y, x, limit = token[-3] if len(token) == 3 else 0, token[-2], math.floor(Fraction(token[-1]) * D)
            yield words("s", y, x, limit)
            stack.append((columns, y, x, limit))
            columns, upper = columns[:], True
        else:
            sides = ((y, x, column.low[x], column.high[x]) for y, column in enumerate(columns) for x in inputs)
            empty = next(((y, x) for y, x, low, high in sides if high is not None and low > high), None)
            yield words("c", *empty) if empty else words("S" if matrix else "l", *close(problem, token, unit, scale))
            if not stack:
                continue
            (columns, y, x, limit), upper = stack.pop(), False
        columns[y] = Limits(problem, paths, y, columns[y].low[:], columns[y].high[:])
        yield from columns[y].narrow(x, limit, upper)


def blocks(problem: Problem, proof: Json) -> Iterator[str]:
    """The trees of a robust cone, one for each block: branches on b, on w, and on the weight of one block."""
    yield from opening(problem, "blocks", *over([Fraction(a) for a in proof["prices"]]), [])
    for token in chain(*proof["shapes"]):
        head, *others = token if isinstance(token, list) else [token]
        if head == "b":
            yield words("b", math.ceil(Fraction(*others) * D))
        elif head == "w":
            yield words("w", math.floor(Fraction(*others) * D))
        elif isinstance(head, int):
            yield words("p", head, math.floor(Fraction(*others) * D))
        else:
            yield words("t", *(math.floor(Fraction(number) * D) for number in (head, *others)))


def sheet(problem: Problem, token: Json, unit: int, scale: int) -> list[object]:
    """The prices, multipliers of rows and parts of a leaf of a matrix."""
    mults = [0] * len(problem.row_scales)
    for i, amount in token["l"]:
        mults[problem.places[i]] = math.floor(amount * (scale // unit) / problem.row_scales[problem.places[i]])
    beside = problem.entropies_of(mults)
    parts = [word for part in token["columns"] for word in (";", *leaf(problem, part, unit, scale))]
    prices = [a * (scale // unit) - math.floor(more) for a, more in zip(token["a"], beside, strict=True)]
    return [*prices, ";", *mults, *parts]


WRITERS = {"dual": dual, "corner": corner, "box": boxes, "sheets": boxes, "known": known}
WRITERS |= {"blocks": blocks, "matrix": matrices, "rays": rays}
"""What writes the lines of a proof in each mode."""
