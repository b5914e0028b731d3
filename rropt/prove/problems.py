"""The problem of a certificate as the core reads it, its lines, and multipliers in the units of the core."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any

from rropt import kernel
from rropt.kernel import D, Ratio, log_above

DIGITS = Context(prec=60)
HUGE = 1 << 40
MOMENTS = 20_000
"""Moments of an order, at most: each takes three logarithms, some 0.1 ms in the kernel."""
Json = dict[str, Any]
KEYS = [
    "sense",
    "inputs",
    "outputs",
    "weights",
    "utility",
    "cone",
    "rows",
    "entropy",
    "limits",
    "approximate",
    "divergences",
]


DESIGNS = tuple(name.replace("-", "_") for name in kernel.DESIGNS)


class OutsideCoreError(ValueError):
    """The certificate uses a rule that the verified core does not have; the message names it."""


@lru_cache(maxsize=256)
def exp_above(x: Fraction) -> Fraction:
    """At least exp(x), by less than a factor of 1 + 2^-139."""
    near = DIGITS.exp(DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator)))
    return Fraction(near) * (1 + Fraction(1, 1 << 140))


def over(numbers: list[Fraction], times: int = 1) -> tuple[int, list[int]]:
    """The least common denominator of the numbers, `times` so much, and what they are over it."""
    common = times * math.lcm(*(number.denominator for number in numbers))
    return common, [number.numerator * (common // number.denominator) for number in numbers]


def reduced(numbers: list[Any]) -> tuple[int, list[int]]:
    """The largest common divisor of integers, and what they are over it."""
    divisor = math.gcd(*map(int, numbers))
    return divisor, [int(number) // divisor for number in numbers]


def all_prices(prices: Any, weights: Sequence[int]) -> list[Fraction]:
    """The prices of a proof, one for each input, also where they are written as multiples of the prior."""
    if isinstance(prices, list):
        return [Fraction(*map(int, a.split("/"))) for a in prices]
    each, own = Fraction(prices["of_prior"]) / sum(weights), {x: Fraction(a) for x, a in prices["own"]}
    return [own.get(x, each * weight) for x, weight in enumerate(weights)]


def emptied(problem: Json, infeasible: bool) -> Json:
    """A problem of which no mechanism exists without the utility of a design, which the core does not have."""
    if not infeasible or not problem["utility"]["kind"].startswith("inverse"):
        return problem
    free = problem["outputs"] is None
    nothing = {"kind": "bayes", "gain": [["0"] * len(problem["inputs"])]} if free else {"kind": "linear", "cost": []}
    return problem | {"sense": "maximize", "utility": nothing}


def words(*fields: object) -> str:
    """One line."""
    return " ".join(map(str, fields))


def ratio_of(text: str, by_gamma: bool) -> Ratio:
    """A ratio of a cone; exp(0) is 1, which needs no enclosure."""
    value = Fraction(text)
    exponential = not by_gamma and value != 0
    return Ratio(exponential, *(value if exponential or by_gamma else Fraction(1)).as_integer_ratio())


def ratio_in(level: Json) -> Ratio:
    """The ratio of a cone, or of approximate privacy."""
    return ratio_of(level["gamma" if "gamma" in level else "epsilon"], "gamma" in level)


def spelled(ratio: Ratio) -> str:
    """The fields of a ratio."""
    return words("e" if ratio.exponential else "q", ratio.a, ratio.b)


def around(ratio: Ratio, fixed: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two g and h with g / h at most a ratio, and at least; `fixed`: h of the second is 2^160."""
    value = Fraction(ratio.a, ratio.b)
    if ratio.exponential:
        top = exp_above(value)
        return (math.floor(top * (1 - Fraction(1, 1 << 137)) * D), D), (math.ceil(top * D), D)
    return (ratio.a, ratio.b), (math.ceil(value * D), D) if fixed else (ratio.a, ratio.b)


def convex(utility: Json, common: int, weights: list[int]) -> kernel.Problem:
    """A convex function of columns; `weights` are reduced by `common`."""
    names = {"bayes": "bayes", "mutual_information": "information", "chi_square": "chi-square"}
    den, name = 1, names.get(utility["kind"])
    if name is None:
        raise OutsideCoreError(f"the verified core has no utility {utility['kind']!r}")
    lists = [weights] if name == "information" else []
    if name == "bayes":
        texts = [g for gains in utility["gain"] for g in gains]
        read = {text: Fraction(text) for text in set(texts)}
        den, flat = over([read[text] for text in texts])
        lists = [flat[i : i + len(weights)] for i in range(0, len(flat), len(weights))]
    elif "given" in utility:
        name, joint = "given", [[int(weight) for weight in given] for given in utility["given"]]
        divisor = math.gcd(*(weight for row in joint for weight in row))
        # The joint weights may have a smaller common divisor than their sums.
        weights = [weight * (common // divisor) for weight in weights]
        lists = [[row[z] // divisor for row in joint] for z in range(len(joint[0]))]
    return kernel.convex(weights, name, den, lists)


def utility_lines(key: str, function: kernel.Problem) -> Iterator[str]:
    """The lines of a utility, without its weights."""
    name = "entropy" if function.bonus else function.utility
    yield words(key, name, *([function.den] if name in ("linear", "bayes") else []))
    if function.bonus:
        yield words("shares", *function.bonus)
    item = {"linear": "cost", "bayes": "gain", "given": "group"}.get(name)
    yield from (words(item, *one) for one in (function.cost or function.lists if item else []))


def functions_lines(key: str, functions: list[tuple[kernel.Problem, kernel.Pair]]) -> Iterator[str]:
    """The lines of convex functions, each behind one with the key and a rational."""
    for function, most in functions:
        yield words(key, *most)
        yield words("weights", *function.weights)
        yield from utility_lines("utility", function)


class Problem:
    """The problem of a certificate: `core` is what the kernel reads in its lines."""

    def __init__(self, problem: Json, mode: str):
        for key in sorted(problem.keys() - KEYS):
            raise OutsideCoreError(f"the verified core has no problems with {key!r}")
        self.divisor, weights = reduced(problem["weights"])
        self.sign = -1 if problem["sense"] == "minimize" else 1
        core = self.with_utility(problem["utility"], weights)
        core.sense, floor = problem["sense"], problem.get("entropy")
        core.outputs = None if problem["outputs"] is None else len(problem["outputs"])
        if floor is not None:
            self.floor_divisor, shares = reduced(floor["shares"])
            core.floors = [kernel.Floor(*Fraction(floor["at_least"]).as_integer_ratio(), shares, floor["sizes"])]
        for limit in problem.get("limits", []):
            function = convex(limit["utility"], *reduced(limit["weights"]))
            core.limits.append((function, Fraction(limit["at_most"]).as_integer_ratio()))
        self.notions: list[tuple[str, int]] = []  # capacities, or divergences of pairs, and their place among these
        for notion in sorted(problem.get("divergences", []), key=lambda one: one["kind"] == "zero_concentrated"):
            if notion["kind"] == "capacity":
                core.capacities.append(Fraction(notion["at_most"]).as_integer_ratio())
            elif notion["kind"] == "renyi":
                ends = (Fraction(notion[key]).as_integer_ratio() for key in ("order", "epsilon"))
                core.divergences.append(kernel.Divergence(*ends))
            else:
                core.divergences.append(kernel.Divergence(None, Fraction(notion["rho"]).as_integer_ratio()))
        places = {"capacity": iter(range(64)), "renyi": iter(range(64)), "zero_concentrated": iter(range(64))}
        renyi = sum(divergence.order is not None for divergence in core.divergences)
        for notion in problem.get("divergences", []):
            kind = notion["kind"]
            self.notions.append((kind, next(places[kind]) + (renyi if kind == "zero_concentrated" else 0)))
        self.tangents: list[list[list[int]]] = [[] for _ in core.divergences]
        self.nears, self.reaches = list[kernel.Pair](), list[kernel.Reach]()
        if (bound := problem.get("approximate")) is not None:
            ratio = ratio_in(bound)
            core.excesses.append((ratio, Fraction(bound["delta"]).as_integer_ratio()))
            near, reach = around(ratio, fixed=False)
            self.nears, self.reaches = [near], [(*reach, [])]
        self.row_scales: list[Fraction] = []
        for row in problem["rows"]:
            scale, (right, *numbers) = over([Fraction(row["rhs"]), *(Fraction(c) for _, _, c in row["terms"])])
            terms = [(x, y, c) for (x, y, _), c in zip(row["terms"], numbers, strict=True)]
            core.rows.append(kernel.Row(row["sense"] == "=", right, terms))
            self.row_scales.append(Fraction(scale))
        self.core, self.k, self.total = core, len(core.weights), sum(core.weights)
        self.read_cone(problem["cone"], mode)
        self.places = list(range(len(core.rows)))  # of the rows of the last problem among those of the core
        self.least = int(core.loss is not None and core.loss.utility == "capacity")
        self.priors = [[1] * self.k for _ in range(self.least + len(core.capacities))]
        self.matrices: list[list[list[int]]] = []  # points at which rows touch the floor
        self.touches: list[list[list[int]]] = []
        self.lifts: list[kernel.Lift] = []
        self.sums: list[list[list[int]]] = [[] for _ in core.parts]
        self.stated, self.leaves_rows_of_cone = core, False

    def with_utility(self, utility: Json, weights: list[int]) -> kernel.Problem:
        """A problem that has the utility of the certificate, a minimum as a maximum of the costs negated."""
        if utility["kind"] in DESIGNS:
            queries = utility.get("queries", [[int(x == z) for z in range(len(weights))] for x in range(len(weights))])
            den, numbers = over([Fraction(c) for own in queries for c in own])
            lists = [numbers[i : i + len(weights)] for i in range(0, len(numbers), len(weights))]
            name, is_trace = utility["kind"].replace("_", "-"), utility["kind"] == "inverse_trace"
            design = kernel.Design(name, den if is_trace else 1, lists if is_trace else [])
            return replace(kernel.convex(weights, "linear", 1, []), design=design)
        if utility["kind"] == "capacity":
            return replace(kernel.convex(weights, "linear", 1, []), loss=kernel.convex(weights, "capacity", 1, []))
        if utility["kind"] not in ("linear", "entropy", "sum"):
            function = convex(utility, self.divisor, weights)
            return replace(function, rows=[], floors=[], limits=[], loss=function if self.sign < 0 else None)
        core = kernel.convex(weights, "linear", 1, [])
        if utility["kind"] == "entropy":
            core.bonus = reduced(utility["shares"])[1]
        else:
            core.den, numbers = over([Fraction(c) for _, _, c in utility["cost"]])
            core.cost = [(x, y, self.sign * c) for (x, y, _), c in zip(utility["cost"], numbers, strict=True)]
            for part in utility.get("parts", []):
                self.part_divisor, weights = reduced(part["weights"])
                function = convex(part["utility"], self.part_divisor, weights)
                core.parts.append((function, (self.sign * Fraction(part["weight"])).as_integer_ratio()))
        return core

    def read_cone(self, cone: Json, mode: str) -> None:
        """Edges with their ratios as g / h, and half-spaces in integers with their scales."""
        base, core = cone["base"] if cone["kind"] == "polyhedral" else cone, self.core
        if base["kind"] == "confidence":
            (a, b), (c, e) = (Fraction(base["radius"][end]).as_integer_ratio() for end in ("lower", "upper"))
            counts, product = [int(n) for n in base["counts"]], base["form"] == "product"
            core.confidence = kernel.Confidence(ratio_in(base), counts, (a, b, c, e), product, base["blocks"])
            base = {"kind": "free"}
        if base["kind"] == "robust":
            den, lower = over([Fraction(share) for share in base["lower"]])
            core.robust = kernel.Robust(ratio_in(base), den, lower, base["blocks"])
        elif base["kind"] not in ("free", "complete", "graph"):
            raise OutsideCoreError(f"the verified core has no cone {base['kind']!r}")
        scaled = [over([Fraction(c) for c in row]) for row in cone.get("rows", [])]
        self.half_scales, core.halfspaces = [scale for scale, _ in scaled], [row for _, row in scaled]
        core.cone = base["kind"]
        if core.cone == "complete":
            core.complete = ratio_in(base)
        core.edges = [(x, z, ratio_of(text, base.get("unit") == "gamma")) for x, z, text in base.get("edges", [])]
        only = core.complete if core.robust is None else core.robust.ratio
        every = [ratio for _, _, ratio in core.edges] if only is None else [only]
        self.spelled = [spelled(ratio) for ratio in every]
        ends = [around(ratio, mode in ("corner", "matrix", "design")) for ratio in every]
        self.lows, self.ratios = [low for low, _ in ends], [high for _, high in ends]
        if core.robust is not None and mode != "blocks":  # the other modes leave out that cone
            self.ratios = []
        self.index = {(x, z): i for i, (x, z, _) in enumerate(core.edges)}

    def edge(self, x: int, z: int) -> tuple[int, int, int]:
        """The number of the edge from x to z, and its g and h."""
        i = self.index[x, z] if self.index else x * self.k + z
        return (i, *self.ratios[i if self.index else 0])

    def follow(self, steps: list[Json], events: list[Any], cuts: list[Json]) -> None:
        """The steps of a proof: what it leaves alone, and where rows and linear forms touch convex functions. The rows
        of the core are then those of the problem, of floors, of events and of limits that are touched."""
        core, rows, touched = self.core, [(0, i) for i in self.places], dict[int, list[list[int]]]()
        left, notions = list(range(len(core.limits))), self.notions[:]
        lifted: list[tuple[int, list[list[int]]]] = []
        parts_left = list(range(len(core.parts)))
        for step in steps:
            kind, parts, which = step["kind"], step.get("parts", ()), -1
            if "part" in step:
                which = parts_left.pop(step["part"])
                own = [[int(n) for n in point] for point in step.get("points", ())]
                self.sums[which] = [touching(core.parts[which][0], point) for point in own]
            elif kind == "minorant":
                if "of" in step:
                    rows.append((4, which := left.pop(step["of"])))
                touched[which] = [[int(n) for n in point] for point in step["points"]]
            elif kind == "gibbs":
                rows += [(1, len(self.matrices) + i) for i in range(len(step["points"]))]
                self.matrices += [points_of(matrix) for matrix in step["points"]]
            elif kind == "prior":
                if "of" in step:
                    which = notions.pop(step["of"])[1]
                    left.append(len(core.limits) + which)
                self.priors[self.least + which] = reduced(step["weights"])[1]
            elif kind == "lift" and "points" in step:
                which = left.pop(step["of"])
                lifted.append((which, [[int(n) for n in point] for point in step["points"]]))
            elif kind == "tangents":
                which = notions.pop(step["of"])[1]
                for row in step["rows"]:
                    rows.append((3, which * HUGE + len(self.tangents[which])))
                    self.tangents[which].append(tangent_of(core.divergences[which], row))
            elif kind == "cut":
                cuts = step["cuts"]
            elif kind != "drop":
                raise OutsideCoreError(f"the verified core has no step {kind!r}")
            if "rows" in parts:
                gone = {*step.get("which", range(len(rows)))}
                rows = [row for i, row in enumerate(rows) if i not in gone]
            if "limits" in parts:
                left = []
            self.leaves_rows_of_cone |= not {"cone", "cone_rows"}.isdisjoint(parts)
        for x, z, outputs, _ in events:
            rows.append((2, len(self.reaches[0][2])))
            self.reaches[0][2].append([x, z, *(int(y in outputs) for y in range(core.outputs or 0))])
        self.widen(lifted, cuts)
        plain = self.core
        functions = ([] if plain.loss is None else [plain.loss]) + [function for function, _ in plain.limits]
        for function, i in zip(functions, range(len(plain.limits) - len(functions), len(plain.limits)), strict=True):
            points = [touching(function, point) for point in touched.get(i, ())]
            # Where a step left the outputs free, one point is that of every output.
            self.touches.append(points * (core.outputs or 1) if len(points) == 1 else points)
        scales = {(0, i): scale for i, scale in enumerate(self.row_scales)}
        scales |= {(1, i): Fraction(core.floors[0].b * D, self.floor_divisor) for i in range(len(self.matrices))}
        scales |= {
            (2, i): Fraction(b * h)
            for (_, h, own), (_, (_, b)) in zip(self.reaches, core.excesses, strict=True)
            for i in range(len(own))
        }
        scales |= {(3, i * HUGE + j): Fraction(D) for i, own in enumerate(self.tangents) for j in range(len(own))}
        for i, (function, (_, b)) in enumerate(plain.limits):
            scales |= {(4, i): Fraction(b * function.form_scale())} if touched.get(i) else {}
        self.places, self.row_scales = [[*scales].index(row) for row in rows], [*scales.values()]

    def widen(self, lifted: list[kernel.Lift], cuts: list[Json]) -> None:
        """The core's problem with limits at priors, rows of events and floors, cuts, and one more input for each limit."""
        self.cuts = None
        self.limit(len(cuts))
        if (confidence := self.stated.confidence) is not None:
            g, h = around(confidence.ratio, fixed=False)[1]
            a, b = confidence.radii[:2]
            self.cuts = (g, h, math.isqrt((a + b) * D * D // b), [cut_of(confidence, cut) for cut in cuts])
            self.half_scales += [
                h * math.prod(sum(reduced(cut[key])[1]) for key in ("first", "second")) for cut in cuts
            ]
        hints = kernel.Hints(self.priors, self.matrices, self.reaches, [], self.cuts, self.sums, self.tangents)
        self.core = self.stated.summed(self.sums, (0, 1))[0].replaced(hints)
        for which, points in lifted:
            function, (_, b) = self.core.limits[which]
            # A point is a column, but for gains of Bayes: shares of the actions, as many as there were.
            size = 0 if function.utility == "bayes" else len(function.weights)
            own = [touching(function, point + [0] * (size - len(point))) for point in points]
            self.lifts.append((which, own))
            self.half_scales += [b * function.form_scale()] * len(points)
            self.core = self.core.raised(which, own)
        if lifted and self.stated.complete is not None:
            self.ratios *= len(self.core.edges)
            self.index = {(x, z): i for i, (x, z, _) in enumerate(self.core.edges)}
        self.k = len(self.core.weights)

    def limit(self, cuts: int = 0) -> None:
        """Refuse what is too large for the core."""
        cells = len(self.stated.excesses) * self.k**2 * (self.stated.outputs or 0)
        if cells > 10**8 or (self.stated.confidence is not None and (self.k > 1024 or cuts * self.k > 10**7)):
            raise OutsideCoreError("the verified core has no approximate or robust privacy of so many inputs")

    @property
    def fine(self) -> int:
        """Multipliers are integers over these numbers: large ones are scaled by the unit of the prices."""
        largest: int = max([D, *self.half_scales, *(h for _, h in self.ratios)])
        return 1 << (largest // D).bit_length() - 1

    def true_answers(self) -> list[Fraction]:
        """What the parts of a sum are worth at the true answer of each input, where their weight is positive."""
        found = [Fraction(0)] * self.k
        for function, (a, b) in self.stated.parts:
            most, scale = function.over_all() if a > 0 else ([0] * self.k, 1)
            found = [one + Fraction(a * c, b * scale) for one, c in zip(found, most, strict=False)]
        return found

    def entropies_of(self, shares: Sequence[Fraction | int]) -> list[Fraction]:
        """What rows of floors, of these multipliers, put on every entry of an input besides what Gibbs' rows do."""
        first = len(self.stated.rows)
        share = Fraction(sum(shares[first : first + len(self.matrices)]))
        return [share * floor.b * D * s for floor in self.stated.floors for s in floor.shares] or [Fraction(0)] * self.k

    def lines(self) -> Iterator[str]:
        """The problem, canonical: what its SHA-256 is of."""
        core = self.stated
        yield words("sense", core.sense)
        yield words("weights", *core.weights)
        if (design := core.design) is not None:
            yield words("utility less", design.name, *([design.den] if design.queries else []))
            yield from (words("query", *query) for query in design.queries)
        else:
            yield from utility_lines("utility", core) if core.loss is None else utility_lines("utility less", core.loss)
        yield words("cone", core.cone, *([] if core.cone in ("free", "graph") else self.spelled))
        if core.robust is not None:
            yield words("lower", core.robust.den, *core.robust.lower)
            yield from (words("block", *block) for block in core.robust.blocks)
        yield from (words("edge", x, z, text) for (x, z, _), text in zip(core.edges, self.spelled, strict=False))
        yield from (words("halfspace", *row) for row in core.halfspaces)
        yield words("outputs", "free" if core.outputs is None else core.outputs)
        for row in core.rows:
            yield words("row", "=" if row.equal else "<=", row.right)
            yield from (words("term", *term) for term in row.terms)
        for floor in core.floors:
            yield words("floor", floor.a, floor.b)
            yield words("shares", *floor.shares)
            yield words("sizes", *floor.sizes)
        yield from functions_lines("limit", core.limits)
        yield from (words("capacity", *most) for most in core.capacities)
        for ratio, most in core.excesses:
            yield words("excess", spelled(ratio), *most)
        for divergence in core.divergences:
            name = "concentrated" if divergence.order is None else "renyi"
            yield words(name, *(divergence.order or ()), *divergence.limit)
        if (confidence := core.confidence) is not None:
            yield words("confidence", spelled(confidence.ratio), "product" if confidence.product else "exact")
            yield words("counts", *confidence.counts)
            yield words("radius", *confidence.radii)
            yield from (words("block", *block) for block in confidence.blocks)
        yield from functions_lines("part", core.parts)


def cut_of(confidence: kernel.Confidence, cut: Json) -> list[int]:
    """The fields of a cut: what its weights spread at most, and the weights."""
    fields, weights = list(cut["pair"]), [reduced(cut[key])[1] for key in ("first", "second")]
    for s, own in zip(cut["pair"], weights, strict=True):
        shares = [(confidence.counts[x], n) for x, n in zip(confidence.blocks[s], own, strict=True)]
        total = sum(n * n * sum(own) * D * D // weight + 1 for n, weight in shares if n)
        fields.append(math.isqrt(total) + 1)
    return fields + weights[0] + weights[1]


def cube_root(n: int) -> int:
    """The cube root of an integer, rounded down."""
    root = 1 << -(-n.bit_length() // 3)
    while n and (less := (2 * root + n // (root * root)) // 3) < root:
        root = less
    return root if n else 0


def tangents_of(confidence: kernel.Confidence, pairs: Any, columns: list[list[int]], d: int) -> Iterator[list[int]]:
    """For each column and pair of blocks both levels of the certificate, over D, and where 1 / y^2 is touched."""
    g, h = around(confidence.ratio, fixed=False)[0]
    root, blocks = root_above(confidence), confidence.blocks
    for q, levels in zip(columns, pairs, strict=True):
        own = [(math.ceil(Fraction(nu) * D), math.floor(Fraction(mu) * D)) for nu, mu in levels]
        for number, (s, z) in enumerate(permutations(range(len(blocks)), 2)):
            (i, _), (_, j) = (own[s], own[z]) if confidence.product else (own[number], own[number])
            a = confidence.roots([(confidence.counts[x], i * d - q[x] * D) for x in blocks[s]], d)
            m = confidence.roots([(confidence.counts[x], q[x] * D - j * d) for x in blocks[z]], d)
            y, w = confidence.widest(root, blocks[s]), confidence.widest(root, blocks[z])
            if not confidence.product:
                whole, y, w = confidence.widest(root, blocks[s], blocks[z]), cube_root(a * a * h), cube_root(m * m * g)
                y, w = whole * y // (y + w or 1), whole * w // (y + w or 1)
            yield [i, j, max(y, 1), max(w, 1)]


def root_above(confidence: kernel.Confidence) -> int:
    """At least D times the root of 1 plus the larger radius."""
    _, _, c, e = confidence.radii
    return math.isqrt(-(-(c + e) * D * D // e)) + 1


def tangent_of(divergence: kernel.Divergence, row: Json) -> list[int]:
    """The fields of a row of a divergence: a stronger one by what is below 1 / D."""
    order = divergence.order or Fraction(row["order"]).as_integer_ratio()
    fields = [*row["pair"], *order, math.floor(Fraction(row["at_most"]) * D)]
    for s, b in row["forms"]:
        fields += [math.ceil(Fraction(s) * D), math.floor(Fraction(b) * D)]
    return fields


def moments_of(
    divergence: kernel.Divergence, orders: list[str], columns: list[list[int]], dn: int
) -> tuple[list[int], list[list[int]]]:
    """Orders with the places where lines touch, and numbers that are at least the moments of each pair of rows. Lines
    are those of all pairs at once: where one is not above two orders, their mean is one more."""
    found = [Fraction(*divergence.order)] if divergence.order else [Fraction(order) for order in orders]
    pairs, known = [*permutations(zip(*columns, strict=True), 2)], dict[Fraction, list[list[int]]]()
    if len(pairs) * len(columns) > MOMENTS:
        raise OutsideCoreError("the verified core has no divergences of so many pairs of inputs")
    fields, i, (p, q) = list[int](), 0, divergence.limit
    before, low = Fraction(1), 0
    while i < len(found):
        order = found[i]
        if order not in known:
            known[order] = [moments_at(order, one, two, dn) for one, two in pairs]
        high = max(log_above(sum(own), D) for own in known[order])
        best = (1 + Fraction((high - low) * q, D * p) / (order - before)) / 2
        c = math.floor(min(max(best, before), order) * D)
        above = all(
            log * q <= D * p * (a * (a - 1) - (Fraction(c, D) - a) ** 2) for a, log in ((before, low), (order, high))
        )
        if divergence.order is None and not above:
            if len(found) >= 64:
                raise OutsideCoreError("the verified core has no divergences that are so close to their limit")
            found.insert(i, (before + order) / 2)
            continue
        fields += [*order.as_integer_ratio(), c]
        before, low, i = order, high, i + 1
    return fields, [own for pair in zip(*(known[order] for order in found), strict=True) for own in pair]


def moments_at(order: Fraction, one: tuple[int, ...], two: tuple[int, ...], dn: int) -> list[int]:
    """At least what each output adds to the moment of two rows over dn, over D."""
    n, d = order.as_integer_ratio()
    logs = [(d * log_above(a, dn) + (n - d) * log_above(a, b)) if a else None for a, b in zip(one, two, strict=True)]
    return [0 if log is None else math.floor(exp_above(Fraction(log, d * D)) * D) + 1 for log in logs]


def points_of(matrix: list[list[str]]) -> list[list[int]]:
    """The rows of a matrix as distributions over D, one list for each output."""
    rows = [[int(n) for n in row] for row in matrix]
    return [
        [max(1, n * D // sum(row)) for n, row in zip(column, rows, strict=True)] for column in zip(*rows, strict=True)
    ]


def touching(function: kernel.Problem, point: list[int]) -> list[int]:
    """Where the core's form touches: a direction, shares of actions over D, or ratios to the mean over D."""
    if function.utility == "bayes":
        shares = [n * D // sum(point) for n in point]
        shares[shares.index(max(shares))] += D - sum(shares)
        return shares
    if function.utility == "chi-square":
        mean = kernel.dot(function.weights, point)
        return [n * sum(function.weights) * D // mean for n in point]
    return point


def multipliers(problem: Problem, scale: int, flows: Iterable[Any], rows: Iterable[Any], *forms: int) -> list[Any]:
    """The fields of flows along edges, of rows of the cone, and of forms in their own units; `scale` is what 1 of the
    certificate is there."""
    parts = [(amount, "F", *problem.edge(x, z)[::2]) for x, z, amount in flows]
    parts += [(amount, "C", i, problem.half_scales[i]) for i, amount in rows]
    fields: list[Any] = []
    for amount, key, i, divisor in parts:
        if units := amount.numerator * scale // (amount.denominator * divisor):
            fields += [key, i, units]
    return fields + (["M", *forms] if any(forms) else [])
