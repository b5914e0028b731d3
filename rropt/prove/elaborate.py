"""A certificate as a proof file of the verified core.

Nothing here is trusted: a wrong line can only make the core refuse. docs/verified-core.md says what the lines mean.
"""

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from rropt.prove.limits import Limits, Paths
from rropt.prove.problems import (
    D,
    Json,
    Multipliers,
    OutsideCoreError,
    Problem,
    exp_above,
    floor,
    log_near,
    over,
    words,
)

LONGEST = 4096
"""Bits that the denominators of the rows of a cone may add to all numbers of a proof file, at most."""
KINDS = ("linear-dual", "farkas", "column-dual", "branch-tree", "entropy-dual", "entropy-farkas")


def elaborate(certificate: Json) -> Iterator[str]:
    """The lines of the proof file; raises OutsideCoreError where the core lacks a rule."""
    proof = certificate["proof"]
    mode = proof_mode(proof)
    problem = Problem(certificate["problem"], mode)
    problem.follow(proof.get("steps", []))
    lines = list(problem.lines())
    yield "rropt-core 1"
    yield words("problem", hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest())
    yield from lines
    writer = {"dual": dual, "corner": corner, "box": box, "sheets": sheets, "known": known}[mode]
    proof = writer(problem, certificate)
    yield next(proof)  # the claim
    if certificate["mechanism"] is not None:
        yield from witness(problem, certificate)
    yield from proof
    yield "end"


def witness(problem: Problem, certificate: Json) -> Iterator[str]:
    """The mechanism over one denominator, and the value that it attains, as that of a maximum."""
    mechanism = certificate["mechanism"]
    denominators = [int(d) for d in mechanism["denominators"]]
    if len(denominators) == 1:
        denominators *= problem.k
    common = math.lcm(*denominators)
    value = -Fraction(certificate["value"]["upper"]) if problem.minimize else Fraction(certificate["value"]["lower"])
    if (
        problem.function is not None and problem.function.utility == "chi-square"
    ):  # divided column by column, and rounded down
        value -= Fraction(1, 1 << 140)
    yield words("value", value.numerator, value.denominator, common)
    yield words("lows", *(number for pair in problem.lows for number in pair))
    for column in mechanism["columns"]:
        if "dense" in column:
            numbers = [int(n) for n in column["dense"]]
        else:
            low, high, members = int(column["low"]), int(column["high"]), int(column["members"], 16)
            numbers = [high if members >> x & 1 else low for x in range(problem.k)]
        yield words("column", *(n * (common // d) for n, d in zip(numbers, denominators, strict=True)))


def proof_mode(proof: Json) -> str:
    """The mode in which the core reads a proof of this kind."""
    kind = proof["kind"]
    further = ("events", "forms", "factors", "cuts", "cases", "shapes", "levels", "labels")
    extra = [key for key in further if key in proof]
    if extra or kind not in KINDS:
        raise OutsideCoreError(
            f"the verified core has no proofs of kind {kind!r}{' with ' + extra[0] if extra else ''}"
        )
    if kind == "branch-tree":
        return "sheets"
    modes = {"tree": "corner", "boxes": "box", "known": "known"}
    return next((mode for key, mode in modes.items() if key in proof), "dual")


def opening(
    problem: Problem,
    mode: str,
    claim: tuple[str, int, int],
    unit: int,
    prices: list[int],
    mults: list[int],
    points: Sequence[list[int]] = (),
) -> Iterator[str]:
    """The lines between the problem and the tokens."""
    yield words("claim", *claim)
    yield from (words("points", *column) for column in points)
    yield from problem.minorants()
    yield words("unit", unit)
    yield words("prices", *prices)
    yield words("mults", *mults)
    yield words("mode", mode)
    yield words("ratios", *(number for pair in problem.ratios for number in pair))


def bound_of(problem: Problem, certificate: Json) -> tuple[str, int, int]:
    """The bound of a certificate, as that of a maximum."""
    bound = Fraction(certificate["bound"]) * (-1 if problem.minimize else 1)
    return "bound", bound.numerator, bound.denominator


def known(problem: Problem, certificate: Json) -> Iterator[str]:
    """The entropy of the input as prices; no further tests."""
    unit, prices = over([Fraction(a) for a in certificate["proof"]["prices"]])
    yield from opening(problem, "known", bound_of(problem, certificate), unit, prices, [])


def dual(problem: Problem, certificate: Json) -> Iterator[str]:
    """linear-dual, farkas, bayes and entropies: one test for each output or action."""
    proof = certificate["proof"]
    rights, empty = problem.rights, certificate["bound"] is None
    shares = [Fraction(0)] * len(rights)
    for place, m in zip(problem.places, proof.get("rows", []), strict=True):
        shares[place] = Fraction(m) / problem.row_scales[place]
    if problem.kind == "bayes" and rights and not empty:
        raise OutsideCoreError("the verified core has no gains of Bayes with rows that a proof leaves out")
    points: list[list[int]] = []
    den = 1 if empty else problem.den
    if "tilts" in proof:
        exact, floors, points = entropies(problem, proof, [] if empty else problem.bonus)
        shares, rights = [share for share, _ in floors] + shares, [right for _, right in floors] + rights
        den *= D * sum(problem.bonus) if problem.bonus and not empty else 1
    else:
        exact = [Fraction(a) for a in proof["prices"]]
    # Prices may leave a column test nothing: then the amounts of rows of the cone must be whole numbers of units.
    used = {i for own in proof.get("multipliers", []) for i, amount in enumerate(own) if amount != "0"}
    odd = math.lcm(*(scale // (scale & -scale) for i, scale in enumerate(problem.half_scales) if i in used))
    unit, numbers = over([*exact, *shares], problem.fine * (odd if odd.bit_length() <= LONGEST else 1))
    prices, mults = numbers[: problem.k], numbers[problem.k :]
    weighted = problem.outputs is None and problem.loss is None if empty else problem.kind == "bayes"
    tests = len(problem.gains) if weighted and not empty else problem.outputs or 1
    left = sum(prices) + sum(m * right for m, right in zip(mults, rights, strict=True))
    claim = ("infeasible", left, unit) if empty else bound_of(problem, certificate)
    yield from opening(problem, "dual", claim, unit, prices, mults, points)
    scale = D * D * unit * den * (problem.total if weighted else 1)
    for y in range(tests):
        inequality = Multipliers(problem, scale)
        flows = proof["flows"] and proof["flows"][y if len(proof["flows"]) > 1 else 0]
        for x, z, amount in flows:
            inequality.flow(x, z, Fraction(amount))
        amounts = proof["multipliers"][y if len(proof["multipliers"]) > 1 else 0] if "multipliers" in proof else []
        for i, amount in enumerate(amounts):
            inequality.half(i, Fraction(amount))
        yield words("l", *inequality.fields)


def entropies(
    problem: Problem, proof: Json, bonus: list[int]
) -> tuple[list[Fraction], list[tuple[Fraction, int]], list[list[int]]]:
    """Prices, multiplier and right side of the row that the floor implies, and points t of its tangents, one list for
    each output. In a row of tau > 0 these are exp(e / tau) over their sum S, and the price is tau (log S - 1)."""
    cells = [[-Fraction(h) for h in tilt] for tilt in proof["tilts"]] or [
        [Fraction(0)] * problem.k for _ in range(problem.outputs or 0)
    ]
    for x, y, c in problem.cost if proof["kind"] == "entropy-dual" else []:
        cells[y][x] += Fraction(c, problem.den)
    for amount, place in zip(proof["rows"], problem.places, strict=True):
        for x, y, c in problem.terms[place] if Fraction(amount) else []:
            cells[y][x] -= Fraction(amount) * c / problem.row_scales[place]
    part, divisor, shares, sizes = problem.entropy or (Fraction(0), 1, [0] * problem.k, [1] * problem.k)
    weight = Fraction(proof.get("weight", 0)) * divisor
    prices, points = [], []
    for x in range(problem.k):
        tau = weight * shares[x] + (Fraction(bonus[x], sum(bonus)) if bonus else 0)
        highest = max(column[x] for column in cells)
        if not tau:  # the points serve for nothing
            prices.append(highest)
            points.append([D] * len(cells))
            continue
        tops = [min((highest - column[x]) / tau, Fraction(256)) for column in cells]
        shown = [floor(D / exp_above(top)) + 1 for top in tops]
        price = highest + tau * Fraction(log_near(sum(shown), D) + (1 << 30) - D, D)
        prices.append(Fraction(floor(price * (1 << 200)) + 1, 1 << 200))
        points.append([one * D // sum(shown) + 1 for one in shown])
    low = sum(share * (log_near(size, 1) - (1 << 20)) for share, size in zip(shares, sizes, strict=True))
    right = part.denominator * sum(share * sum(row) for share, row in zip(shares, points, strict=True))
    floors = [(weight / (part.denominator * D), right - part.numerator * low)] if problem.entropy else []
    return prices, floors, [list(column) for column in zip(*points, strict=True)]


def corner(problem: Problem, certificate: Json) -> Iterator[str]:
    """A tree over the corners {1, g}^k: its branches are the core's, its leaves get the multipliers of their limits."""
    proof = certificate["proof"]
    if (problem.halfspaces and not problem.leaves_rows_of_cone) or problem.given:
        raise OutsideCoreError("the verified core has trees of corners without rows of the cone and without 'given'")
    unit, prices = over([Fraction(a) for a in proof["prices"]])
    yield from opening(problem, "corner", bound_of(problem, certificate), unit, prices, [])
    g, entropic = problem.ratios[0][0], problem.kind == "mutual_information"
    high = g * log_near(g, D) if entropic else 0
    total, free, inside = problem.total, set(range(problem.k)), 0
    # The gain of an input at g, times unit D^2, without what its weight pays in a leaf.
    base = [unit * w * high - (g - D) * total * a * D for w, a in zip(problem.weights, prices, strict=True)]
    limits = (0, problem.k, 0, total)  # on the inputs at g: how many, and their weight
    stack: list[tuple[str, int, tuple[int, int, int, int]]] = []
    for token in proof["tree"]:
        if isinstance(token, int):
            yield words("x", token)
            free.discard(token)
            inside += 1
            stack.append(("x", token, limits))
            continue
        if isinstance(token, list) and len(token) == 1:
            weight = isinstance(token[0], str)
            most = int(token[0]) // problem.divisor if weight else token[0]
            yield words("r", 0 if weight else 1, most)
            few, many, light, heavy = limits
            if weight:
                limits, second = (few, many, light, min(heavy, most)), (few, many, max(light, most + 1), heavy)
            else:
                limits, second = (few, min(many, most), light, heavy), (max(few, most + 1), many, light, heavy)
            stack.append(("form", 0, second))
            continue
        t = Fraction(token[0] if isinstance(token, list) else token)
        point = floor(t * D) if entropic else floor(D / t)
        slope = D + log_near(point, D) if entropic else g * (D * D - point * point) // (D * D)
        extra = floor(Fraction(token[1]) * D) - slope if isinstance(token, list) else 0
        price = 0
        if limits[2] > limits[3]:
            extra = 10**12 * D
        elif limits[:2] != (0, problem.k):
            bend = (slope if entropic else D - g * point * point // (D * D)) + extra
            gains = sorted((base[x] - (g - D) * problem.weights[x] * bend * unit for x in free), reverse=True)
            few, most = max(limits[0] - inside, 0), min(limits[1] - inside, len(gains))
            positive = sum(gain > 0 for gain in gains)
            if few > most:
                price = 10**12 * unit * D * (1 if limits[0] - inside <= len(gains) else -1)
            elif positive > most:
                price = gains[most] // (g - D)
            elif positive < few:
                price = gains[few - 1] // (g - D)
        inequality = Multipliers(problem, 1)
        inequality.form(extra * unit, price)
        yield words("l", point, *inequality.fields)
        while stack:
            kind, x, limits = stack.pop()
            if kind == "x":
                inside -= 1
                stack.append(("free", x, limits))
            if kind != "free":
                break
            free.add(x)


def leaf(problem: Problem, token: Json, unit: int, scale: int) -> list[object]:
    """The points and multipliers of a leaf of a box tree, none where all are 0; `scale` is the unit of the prices."""
    inequality = Multipliers(problem, D * D * scale * problem.total)
    for x, z, amount in token["f"]:
        inequality.flow(x, z, Fraction(amount, unit))
    for i, amount in token.get("u", []):
        inequality.half(i, Fraction(amount, unit))
    entropic = problem.kind == "mutual_information"
    nu = Fraction(token["n"], unit) - (1 if entropic and not problem.given else 0)
    inequality.form(floor(nu * scale * D))
    points = []
    if entropic:
        points = [floor(Fraction(t) * D) for t in token["t"]] if problem.given else [D]
        points = [point if sum(group) else D for point, group in zip(points, problem.groups, strict=True)]
    return [*points, *inequality.fields]


def boxes(problem: Problem, elements: list[Any], columns: list[Limits], close: Callable[[Json], str]) -> Iterator[str]:
    """A box tree in preorder; an element of it is [y, x, "c"], or what `close` makes a line of."""
    stack: list[tuple[int, int, int, list[int], list[int | None], bool]] = []
    for token in elements:
        if isinstance(token, list):
            y, x = token[-3] if len(token) == 3 else 0, token[-2]
            limit, column = floor(Fraction(token[-1]) * D), columns[y]
            stack.append((y, x, limit, column.low[:], column.high[:], True))
            yield words("s", y, x, limit)
            yield from column.narrow(x, limit, upper=True)
            continue
        empty = next(((y, x) for y, column in enumerate(columns) if (x := column.empty()) is not None), None)
        yield words("c", *empty) if empty else close(token)
        while stack:
            y, x, limit, low, high, first = stack.pop()
            columns[y].low, columns[y].high = low[:], high[:]
            if first:
                stack.append((y, x, limit, low, high, False))
                yield from columns[y].narrow(x, limit, upper=False)
                break


def box(problem: Problem, certificate: Json) -> Iterator[str]:
    """A box tree for one column."""
    proof = certificate["proof"]
    scale, prices = over([Fraction(a) for a in proof["prices"]], problem.fine)
    yield from opening(problem, "box", bound_of(problem, certificate), scale, prices, [])
    limits = Limits(problem, Paths(problem), 0)
    yield from limits.root()
    unit = int(proof["unit"])
    yield from boxes(problem, proof["boxes"], [limits], lambda token: words("l", *leaf(problem, token, unit, scale)))


def sheets(problem: Problem, certificate: Json) -> Iterator[str]:
    """A tree over the columns of a matrix, with prices of its own in each leaf."""
    proof = certificate["proof"]
    unit = int(proof["unit"])
    scale = unit * problem.fine * math.lcm(*problem.row_scales)
    yield from opening(problem, "sheets", bound_of(problem, certificate), scale, [], [])
    paths = Paths(problem)
    columns = [Limits(problem, paths, y) for y in range(problem.outputs or 0)]
    for column in columns:
        yield from column.root()

    def close(token: Json) -> str:
        prices = [a * (scale // unit) for a in token["a"]]
        mults = [0] * len(problem.rights)
        for i, amount in token["l"]:
            mults[problem.places[i]] = amount * (scale // unit) // problem.row_scales[problem.places[i]]
        parts = [word for part in token["columns"] for word in (";", *leaf(problem, part, unit, scale))]
        return words("S", *prices, ";", *mults, *parts)

    yield from boxes(problem, proof["boxes"], columns, close)
