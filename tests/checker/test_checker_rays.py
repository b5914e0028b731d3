"""`rays` of a column-dual: both checkers list the extreme rays of a cone.

The reference goes through all sets of k - 1 inequalities that may be tight. Of each of its rays there are prices that
only this ray needs: a checker that misses it would prove a false claim.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

import pytest
from builders import Document, ends, rat, said
from drawing import thinned
from flint import arb, ctx, fmpq, fmpz_mat
from independent_checker.claims import read_problem
from independent_checker.rays import extreme_rays
from independent_checker.reading import Reader

Vector = tuple[int, ...]
Row = Sequence[Fraction | int]
LEMMAS = {
    "mutual_information": ["double-description", "mi-column-convex", "v-log-v-convex"],
    "chi_square": ["double-description", "chi-square-column-convex"],
}
INFORMATION: Document = {"kind": "mutual_information"}
SQUARES: Document = {"kind": "chi_square"}
FREE: Document = {"kind": "free"}
MARGIN, LESS = Fraction(1, 2**70), Fraction(1, 2**60)


def claim(weights: Sequence[int], utility: Document, cone: Document, prices: Sequence[Fraction]) -> Document:
    """That no mechanism is worth more than these prices; the one of the file says nothing."""
    k = len(weights)
    return {
        "format": "rropt-certificate",
        "problem": {
            "sense": "maximize",
            "inputs": [str(x) for x in range(k)],
            "outputs": None,
            "weights": [str(weight) for weight in weights],
            "utility": utility,
            "cone": cone,
            "rows": [],
        },
        "mechanism": {"denominators": ["1"], "outputs": ["0"], "columns": [{"dense": ["1"] * k}]},
        "value": {"lower": "0", "upper": "0"},
        "bound": rat(max(sum(prices, Fraction(0)), Fraction(0))),
        "proof": {"kind": "column-dual", "prices": [rat(a) for a in prices], "rays": "all"},
        "assumptions": LEMMAS[utility["kind"]],
    }


def polyhedral(rows: Iterable[Row], base: Document = FREE) -> Document:
    return {"kind": "polyhedral", "base": base, "rows": [[rat(c) for c in row] for row in rows]}


ISOLATED = [("prices below a ray", ("_check_rays",), lambda: claim([1, 1], SQUARES, FREE, [Fraction(0)] * 2))]


# -- the reference -------------------------------------------------------------------------------------


def ratios(level: Document) -> Fraction:
    """gamma, or exp(epsilon) so narrowly that products of ratios are those of sums of exponents."""
    return Fraction(level["gamma"]) if "gamma" in level else exp(1) ** int(level["epsilon"])


def exp(one: int) -> Fraction:
    before, ctx.prec = ctx.prec, 400
    try:
        return ends(arb(one).exp())[1]
    finally:
        ctx.prec = before


def rows_of(cone: Document, k: int) -> list[list[Fraction]]:
    """Every c of the inequalities c.v <= 0."""
    base = cone.get("base", cone)
    edges: list[tuple[int, int, Fraction]] = []
    if base["kind"] == "complete":
        edges = [(x, z, ratios(base)) for x, z in itertools.permutations(range(k), 2)]
    elif base["kind"] == "graph":
        level = "gamma" if "unit" in base else "epsilon"
        edges = [(x, z, ratios({level: number})) for x, z, number in base["edges"]]
    unit = [[Fraction(-(x == z)) for z in range(k)] for x in range(k)]
    found = [[Fraction(y == x) - ratio * (y == z) for y in range(k)] for x, z, ratio in edges]
    return unit + found + [[Fraction(c) for c in row] for row in cone.get("rows", [])]


def whole(row: Row) -> list[int]:
    common = math.lcm(*(Fraction(c).denominator for c in row))
    return [int(c * common) for c in row]


def every_ray(rows: list[list[Fraction]], k: int) -> list[tuple[Vector, list[Fraction]]]:
    """Extreme rays, each with the sum of the inequalities that are tight there, by all sets of k - 1 of them."""
    distinct = [list(row) for row in dict.fromkeys(tuple(whole(row)) for row in rows)]
    found: dict[Vector, list[int]] = {}
    for tight in itertools.combinations(distinct, k - 1):
        kernel, nullity = fmpz_mat([*tight, [0] * k]).nullspace()
        if nullity != 1:
            continue
        v = [int(kernel[x, 0]) for x in range(k)]
        v = [-n for n in v] if min(v) < 0 else v
        values = [sum(c * n for c, n in zip(row, v, strict=True)) for row in distinct]
        if max(values) <= 0:
            ray = tuple(n // math.gcd(*v) for n in v)
            found[ray] = [i for i, value in enumerate(values) if value == 0]
    scaled = [[Fraction(c, max(map(abs, row)) or 1) for c in row] for row in distinct]
    return [(ray, [sum((scaled[i][x] for i in tight), Fraction(0)) for x in range(k)]) for ray, tight in found.items()]


def groups(weights: Sequence[int], utility: Document) -> list[list[int]]:
    return [[int(n) for n in z] for z in zip(*utility.get("given", [[n] for n in weights]), strict=True)]


def mu(weights: Sequence[int], utility: Document, v: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Both ends of the term of a column."""
    total, exact = sum(weights), Fraction(0)
    before, ctx.prec = ctx.prec, 900
    try:
        found = arb(0)
        for group in groups(weights, utility):
            mean, share = sum(n * y for n, y in zip(group, v, strict=True)), sum(group)
            for n, y in zip(group, v, strict=True):
                if n and y and utility["kind"] == "chi_square":
                    exact += Fraction(n * y * y, mean) - Fraction(n * y, total)
                elif n and y:
                    found += arb(fmpq(n * y, total)) * arb(fmpq(y * share, mean)).log()
        low, high = ends(found)
    finally:
        ctx.prec = before
    return exact + low, exact + high


def tight_prices(
    weights: Sequence[int],
    utility: Document,
    rays: list[tuple[Vector, list[Fraction]]],
    place: int,
    margin: Fraction | int,
) -> list[Fraction]:
    """Prices that are not below the utility at any ray, and as high as it, or a little more, at one ray only.

    The sum of the inequalities that are tight at this ray is 0 there and below 0 at every other.
    """
    ray, normal = rays[place]
    own = mu(weights, utility, ray)[1] / sum(ray) + margin
    steep = Fraction(0)
    for other, _ in rays:
        away = -sum(c * n for c, n in zip(normal, other, strict=True))
        if away > 0:
            steep = max(steep, (mu(weights, utility, other)[1] + sum(other) * (1 - own)) / away)
    prices = [own - steep * c for c in normal]
    return [Fraction(math.ceil(a * 2**200), 2**200) for a in prices] if margin else prices


def assert_every_ray_counts(weights: Sequence[int], utility: Document, cone: Document) -> int:
    """How many rays; each of them is needed, and no other."""
    k = len(weights)
    return assert_each_counts(weights, utility, cone, every_ray(rows_of(cone, k), k))


def assert_each_counts(
    weights: Sequence[int], utility: Document, cone: Document, rays: list[tuple[Vector, list[Fraction]]]
) -> int:
    base = cone.get("base", cone)
    by_epsilon = "epsilon" in base or ("edges" in base and "unit" not in base)
    is_exact = utility["kind"] == "chi_square" and not by_epsilon
    for place, (ray, _) in enumerate(rays):
        prices = tight_prices(weights, utility, rays, place, 0 if is_exact else MARGIN)
        made = claim(weights, utility, cone, prices)
        assert said(made) == ("PROVED", ""), (made, ray)
        scale = max(sum(ray), sum(abs(a) * n for a, n in zip(prices, ray, strict=True)))
        less = [a - LESS * scale / sum(ray) for a in prices]
        status, reason = said(claim(weights, utility, cone, less))
        assert (status, reason[:43]) == ("REFUTED", "proof.rays: the prices are below the utilit"), (made, ray)
        seen = [str(x) for x, n in enumerate(ray) if n]
        assert reason.endswith("at the ray of inputs " + ", ".join(seen[:8]) + ", ..." * (len(seen) > 8))
    return len(rays)


def listed(cone: Document, k: int) -> list[Vector]:
    """What the second checker lists."""
    problem = claim([1] * k, INFORMATION, cone, [Fraction(0)] * k)["problem"]
    return [tuple(ray.v) for ray in extreme_rays(read_problem(Reader(), problem, 8))]


# -- cones drawn at random -----------------------------------------------------------------------------


def drawn_rows(rng: random.Random, k: int, count: int, least: int = 0) -> list[list[int]]:
    """Rows that a constant column satisfies, many of them tightly; small numbers make them meet in one ray."""
    found = []
    for _ in range(count):
        row = [rng.choice((-2, -1, -1, 0, 0, 0, 1, 1, 2)) for _ in range(k)]
        row[rng.randrange(k)] -= max(sum(row), least) if rng.random() < 0.7 else max(sum(row), 0) + 1
        found.append(row)
    if found and rng.random() < 0.4:
        found[rng.randrange(count)] = rng.choice((found[0], [0] * k, [-c for c in found[0]]))
        found = [row if sum(row) <= 0 else [0] * k for row in found]
    return found


def drawn_weights(rng: random.Random, k: int) -> list[int]:
    weights = [rng.choice((0, 1, 1, 2, 3, 7)) for _ in range(k)]
    weights[rng.randrange(k)] += 1
    return weights


def drawn_utility(rng: random.Random, weights: list[int]) -> Document:
    if rng.random() < 0.4:
        return SQUARES
    if rng.random() < 0.5:
        return INFORMATION
    first = [rng.randint(0, n) for n in weights]
    return {**INFORMATION, "given": [[str(a), str(n - a), "0"] for a, n in zip(first, weights, strict=True)]}


def drawn_base(rng: random.Random, k: int) -> Document:
    base = rng.choice(("free", "free", "complete", "graph", "graph"))
    if base == "free" or (base == "complete" and k > 4):
        return FREE
    if base == "complete":
        return {"kind": "complete", "gamma": rng.choice(("2", "3/2", "5"))}
    edges = sorted(rng.sample(list(itertools.permutations(range(k), 2)), rng.randint(1, k)))
    return {
        "kind": "graph",
        "unit": "gamma",
        "edges": [[x, z, rng.choice(("1", "1", "2", "2", "3/2"))] for x, z in edges],
    }


@pytest.mark.parametrize("seed", thinned(list(range(240)), 8))
def test_each_extreme_ray_is_needed(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.choice((2, 3, 3, 4, 4, 5, 5, 6))
    weights = drawn_weights(rng, k)
    cone: Document = drawn_base(rng, k)
    rows = drawn_rows(rng, k, rng.randint(0, 12 if k < 6 else 8))
    cone = polyhedral(rows, cone) if rows else cone
    assert assert_every_ray_counts(weights, drawn_utility(rng, weights), cone) >= 1


def triangles(points: int) -> list[list[int]]:
    """The inequalities of a metric; its inputs are the pairs of points. Many rays have many more zeros than k - 1."""
    pairs = list(itertools.combinations(range(points), 2))
    found = []
    for corner in itertools.combinations(range(points), 3):
        sides = list(itertools.combinations(corner, 2))
        for long in sides:
            found.append([(pair == long) - (pair in sides and pair != long) for pair in pairs])
    return found


LINE = sorted([x, z, str(abs(x - z))] for x, z in itertools.permutations(range(4), 2))
GAMMAS: Document = {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "2"], [1, 2, "3"], [2, 3, "2"], [3, 0, "1"]]}
SLOPES = [[1, -2, 1, 0], [0, 1, -2, 1]]
CUBE = [[1, 0, -1, 0, 0], [0, 1, -1, 0, 0], [0, 0, -1, 1, 0], [1, 1, 0, 0, -2], [0, 1, 0, 1, -2], [1, 1, -3, 1, 0]]
SQUARE = [[1, 4, -1, -4], [-1, -4, 1, 4], [2, 0, 1, -4], [2, -4, -2, 0]]
CONES: dict[str, tuple[Document, int, int]] = {
    "free": (FREE, 3, 3),
    "complete, of two": ({"kind": "complete", "gamma": "2"}, 2, 2),
    "complete, of three": ({"kind": "complete", "gamma": "5/3"}, 3, 6),
    "complete, of four": ({"kind": "complete", "gamma": "2"}, 4, 14),
    "complete, by epsilon": ({"kind": "complete", "epsilon": "1"}, 3, 6),
    "a graph without edges": ({"kind": "graph", "edges": []}, 3, 3),
    "a graph by gamma": (GAMMAS, 4, 4),
    "a graph by epsilon": ({"kind": "graph", "edges": [[0, 1, "1"], [1, 2, "0"], [2, 0, "3"]]}, 3, 3),
    "a line, whose sums of exponents meet": ({"kind": "graph", "edges": LINE}, 4, 8),
    "rows": (polyhedral(SLOPES), 4, 4),
    "rows on a complete base": (polyhedral(SLOPES, {"kind": "complete", "gamma": "3"}), 4, 9),
    "rows on a complete base by epsilon": (polyhedral(SLOPES[:1], {"kind": "complete", "epsilon": "2"}), 4, 12),
    "rows on a graph": (polyhedral(SLOPES[1:], GAMMAS), 4, 4),
    "rows on a graph by epsilon": (polyhedral(SLOPES[:1], {"kind": "graph", "edges": LINE}), 4, 6),
    "a row of fractions": (polyhedral([["1/3", "-1/2", "1/7"], ["-2/3", "0", "2/3"]]), 3, 3),
    "a row of zeros": (polyhedral([[0, 0, 0], [1, -1, 0]]), 3, 3),
    "a row twice": (polyhedral([[1, -1, 0], [2, -2, 0], [1, -1, 0]]), 3, 3),
    "an equality": (polyhedral([[1, -2, 1], [-1, 2, -1]]), 3, 2),
    "constants only": (polyhedral([[1, -1, 0], [0, 1, -1], [-1, 0, 1]]), 3, 1),
    "many facets through one ray": (polyhedral(CUBE), 5, 9),
    "a square, one corner of which is left": (polyhedral(SQUARE), 4, 4),
    "metrics of four points": (polyhedral(triangles(4)), 6, 7),
}


@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize("utility", [INFORMATION, SQUARES], ids=["information", "chi-square"])
def test_each_ray_of_a_cone_is_needed(name: str, utility: Document) -> None:
    cone, k, count = CONES[name]
    for weights in ([1] * k, [0, *range(2, k + 1)], [1] + [0] * (k - 1)):
        assert assert_every_ray_counts(weights, utility, cone) == count


def test_metrics_of_five_points() -> None:
    """Fifteen cuts and ten distances in a graph of two points joined with three: 25 rays, in 30 inequalities of 10."""
    cone = polyhedral(triangles(5))
    rows = rows_of(cone, 10)
    found: list[tuple[Vector, list[Fraction]]] = []
    for ray in listed(cone, 10):
        tight = [row for row in rows if sum(c * n for c, n in zip(row, ray, strict=True)) == 0]
        found.append((ray, [sum(column, Fraction(0)) for column in zip(*tight, strict=True)]))
    assert sorted(max(ray) for ray, _ in found) == [1] * 15 + [2] * 10
    assert assert_each_counts([0, 0, *range(1, 9)], SQUARES, cone, found) == 25


@pytest.mark.parametrize("name", CONES)
def test_each_ray_is_needed_with_given(name: str) -> None:
    cone, k, _ = CONES[name]
    table = [[str(x % 2 + 1), str(x), "0"] for x in range(k)]
    utility = {**INFORMATION, "given": table}
    assert_every_ray_counts([sum(map(int, row)) for row in table], utility, cone)


@pytest.mark.parametrize("seed", range(30))
def test_cones_without_a_mechanism(seed: int) -> None:
    """Rows empty inputs, or the cone; no claim is proved there, whatever the prices are."""
    rng = random.Random(seed)
    k = rng.choice((2, 3, 4))
    rows = [[rng.choice((-2, -1, 0, 0, 1, 2)) for _ in range(k)] for _ in range(rng.randint(1, 5))]
    rows.insert(rng.randint(0, len(rows)), [rng.choice((1, 1, 0)) for _ in range(k - 1)] + [1])
    cone = polyhedral(rows)
    rays = every_ray(rows_of(cone, k), k)
    found = listed(cone, k)
    assert (len(found), set(found)) == (len(rays), {ray for ray, _ in rays})
    for price in (-1, 0, 1):
        made = claim([1] * k, rng.choice((INFORMATION, SQUARES)), cone, [Fraction(price)] * k)
        assert said(made)[0] == "REFUTED"


# -- false claims that only rounding could prove -------------------------------------------------------


@pytest.mark.parametrize(
    "cone",
    [
        {"kind": "complete", "epsilon": "1"},
        {"kind": "graph", "edges": [[0, 1, "1"]]},
        polyhedral([[0, 0]], {"kind": "complete", "epsilon": "1"}),
        polyhedral([[-1, 0]], {"kind": "graph", "edges": [[0, 1, "1"]]}),
    ],
    ids=["complete", "graph", "base complete", "base graph"],
)
def test_a_ratio_that_is_enclosed_is_rounded_up(cone: Document) -> None:
    """What is enough at exp(1), and no more, is not enough at the upper end of an enclosure of it."""
    e = exp(1)
    price = Fraction(math.ceil((e - 1) ** 2 / (2 * (e + 1) ** 2) * 2**380), 2**380)
    for margin, status in ((Fraction(0), "REFUTED"), (MARGIN, "PROVED")):
        prices = [price + margin, price + margin]
        if "complete" not in str(cone):  # the ray of input 1 alone is worth a half
            prices[1] = Fraction(3, 4)
            prices[0] = (price * (e + 1) - prices[1]) / e + margin
            prices[0] = Fraction(math.ceil(prices[0] * 2**380), 2**380)
        assert said(claim([1, 1], SQUARES, cone, prices))[0] == status


@pytest.mark.parametrize("short", [Fraction(1, 2**300), Fraction(1, 2**200)], ids=["2^-300", "2^-200"])
def test_logarithms_are_rounded_up(short: Fraction) -> None:
    """Prices that are too low by less than the width of an enclosure."""
    weights = [2, 3, 7]
    for place in range(3):
        unit = [int(x == place) for x in range(3)]
        prices = [Fraction(1)] * 3
        prices[place] = Fraction(math.floor((mu(weights, INFORMATION, unit)[0] - short) * 2**320), 2**320)
        assert said(claim(weights, INFORMATION, FREE, prices))[0] == "REFUTED"
        prices[place] += MARGIN
        assert said(claim(weights, INFORMATION, FREE, prices)) == ("PROVED", "")
