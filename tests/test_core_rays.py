"""Cells of columns by their rays: the rays of a cut cell are those that vertex enumeration finds, and a claim below what
a mechanism attains is proved by no lines."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations

import pytest
from core_files import claiming_less, judged, mutants, proof_files, resealed

from rropt import kernel
from rropt.kernel import Fuel, Header, Problem, Ray, RayTree

FILES = {name: found for name, found in proof_files().items() if "\nmode rays\n" in found[1]}
DESIGNS = {name: found for name, found in FILES.items() if "\nutility less inverse-" in found[1]}


def test_there_are_files_of_this_mode():
    assert len(DESIGNS) >= 4
    assert len(FILES) - len(DESIGNS) >= 4


def null_vector(rows: list[list[int]], k: int) -> list[int] | None:
    """The direction, without a common divisor, at which k - 1 independent rows are 0; None where there are more."""
    left, places = [[Fraction(n) for n in row] for row in rows], []
    for x in range(k):
        at = next((i for i in range(len(places), len(left)) if left[i][x]), None)
        if at is None:
            continue
        i = len(places)
        left[i], left[at] = left[at], left[i]
        left[i] = [n / left[i][x] for n in left[i]]
        left = [
            row if j == i else [a - row[x] * b for a, b in zip(row, left[i], strict=True)] for j, row in enumerate(left)
        ]
        places.append(x)
    if len(places) != k - 1:
        return None
    free = next(x for x in range(k) if x not in places)
    vector = [Fraction(0)] * k
    vector[free] = Fraction(1)
    for i, x in enumerate(places):
        vector[x] = -left[i][free]
    common = math.lcm(*(n.denominator for n in vector))
    whole = [int(n * common) for n in vector]
    return [n // math.gcd(*whole) for n in whole]


def rays_by_enumeration(limits: list[list[int]], k: int) -> set[tuple[int, ...]]:
    """The extreme rays of the cone of v >= 0 with c.v <= 0 for all limits c."""
    rows = [[-int(x == z) for z in range(k)] for x in range(k)] + limits
    found = set()
    for chosen in combinations(rows, k - 1):
        vector = null_vector([*chosen], k)
        for sign in (1, -1) if vector is not None else ():
            v = [sign * n for n in vector or []]
            if all(sum(c * n for c, n in zip(row, v, strict=True)) <= 0 for row in rows):
                found.add(tuple(v))
    return found


def orthant(k: int) -> RayTree:
    """The tree of a problem whose cone is the orthant."""
    problem = Problem("maximize", [1] * k, "information", 1, [], [[1] * k], "free", None, [], [], None, [])
    return RayTree(problem, Header(False, (1, 1), None, 1, [], [], "rays", [], [], []), Fuel())


@pytest.mark.parametrize("seed", range(40))
def test_the_rays_of_a_cut_cell_are_those_of_vertex_enumeration(seed):
    draw = random.Random(seed)
    k = draw.randint(2, 4)
    tree, limits = orthant(k), list[list[int]]()
    rays = tree.cells[0].rays
    for _ in range(draw.randint(1, 6)):
        # Small numbers, and planes through sums of rays: many rays are on a plane, and many planes meet.
        c = [draw.randint(-2, 2) for _ in range(k)]
        rays, limits = tree.cut(c, rays), [*limits, c]
        assert sorted(tuple(ray.v) for ray in rays) == sorted(rays_by_enumeration(limits, k))
        for ray in rays:
            zeros = [kernel.dot(row, ray.v) == 0 for row in reversed(limits)] + [n == 0 for n in ray.v]
            assert ray.zeros == sum(1 << i for i, zero in enumerate(zeros) if zero)


def text_of(problem: list[str], claim: Fraction, lines: list[str]) -> str:
    """A proof file with the SHA-256 of its problem."""
    n, m = claim.as_integer_ratio()
    return resealed("\n".join(["rropt-core", "problem 0", *problem, f"claim bound {n} {m}", *lines, "end", ""]))


def drawn(seed: int) -> tuple[str, Fraction]:
    """A proof over matrices with rows by cells, and what a mechanism is worth, at least."""
    draw = random.Random(seed)
    k, top = draw.randint(2, 3), draw.randint(2, 4)
    weights = [draw.randint(0, 4) for _ in range(k - 1)] + [1]
    name = draw.choice(["information", "chi-square", "bayes 2", "given"])
    lists = {"bayes 2": "gain", "given": "group"}.get(name)
    groups = [[draw.randint(0, w) for w in weights]]
    groups.append([w - g for w, g in zip(weights, groups[0], strict=True)])
    gains = [[draw.randint(-2, 3) for _ in range(k)] for _ in range(draw.randint(1, 3))]
    problem = ["sense maximize", " ".join(map(str, ["weights", *weights])), f"utility {name}"]
    problem += [" ".join(map(str, [lists, *own])) for own in (gains if lists == "gain" else groups) if lists]
    problem += [f"cone complete q {top} 1", f"outputs {k}"]
    columns = [[top if x == y else 1 for x in range(k)] for y in range(k)]
    mixed, d = draw.randint(0, 2), top + k - 1
    columns = [[n + mixed * d for n in column] for column in columns]  # and a share of one that says nothing
    d *= 1 + mixed * k
    terms = [(draw.randrange(k), draw.randrange(k), draw.choice([-2, -1, 1, 3])) for _ in range(draw.randint(0, 3))]
    right = math.ceil(sum(Fraction(c * columns[y][x], d) for x, y, c in terms))
    equal = bool(terms) and draw.random() < 0.3 and right * d == sum(c * columns[y][x] for x, y, c in terms)
    problem += [f"row {'=' if equal else '<='} {right}", *(f"term {x} {y} {c}" for x, y, c in terms)] if terms else []
    stated = kernel.read_problem(kernel.Reader(stream_of(problem)))
    scale, worth = stated.worth(columns, d)
    header = Header(False, (1 << 40, 1), None, 1, [], [], "rays", [(top, 1)], [], [])
    tree, lines, most, found = RayTree(stated, header, Fuel()), list[str](), Fraction(-(10**6)), Fraction(0)
    for number in range(k * k):
        if number % (k + 1):
            tree.take("e", [[number]])
            lines.append(f"e {number}")
    unit, splits = 1 << 30, draw.randint(0, 3)
    while tree.cells:
        state = tree.cells[-1]
        if splits and draw.random() < 0.7:
            splits -= 1
            y, c = draw.randrange(k), [draw.randint(-3, 3) for _ in range(k)]
            tree.take("s", [[y], c])
            lines.append(f"s {y} " + " ".join(map(str, c)))
            continue
        mults = [draw.randint(-unit if equal else 0, unit) // 4] if terms else []
        cells = [[0] * k for _ in range(k)]
        for x, y, c in terms:
            cells[y][x] += mults[0] * c
        need = -(1 << 60)
        for rays, cell in zip(tree.each(state), cells, strict=True):
            for ray in rays:
                s, w = stated.worth([ray.v], 1, above=True)
                need = max(need, -(-(unit * w - s * kernel.dot(cell, ray.v)) // (s * sum(ray.v))))
        prices = [need] * k
        most = max(most, Fraction(sum(prices) + sum(m * right for m in mults), unit))
        tree.cells.pop()
        lines.append(" ".join(map(str, ["P", *prices, ";", *mults])))
        lines += ["l"] * k
    head = [f"unit {unit}", "prices", "mults", "mode rays", f"ratios {top} 1"]
    found = Fraction(worth, scale)
    return text_of(problem, most, [*head, *lines]), found


def stream_of(problem: list[str]):
    """The lines of a problem, and of a claim, as the reader takes them."""
    import io

    return io.BytesIO(text_of(problem, Fraction(0), []).encode())


def test_drawn_proofs_are_proved_and_claims_below_a_mechanism_are_not():
    proved = 0
    for seed in range(60):
        text, worth = drawn(seed)
        assert judged(text)[0] == 0
        low = worth - Fraction(1, 1 << 130)
        n, m = low.as_integer_ratio()
        lines = text.split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith("claim"))
        lines[at] = f"claim bound {n} {m}"
        lying = "\n".join(lines)
        assert judged(lying)[0] == 1
        for changed in mutants(lying, 15, seed):
            assert judged(changed)[0] != 0
        proved += sum(judged(changed)[0] == 0 for changed in mutants(text, 3, seed))
    assert proved  # some changes change nothing: else this tests less than it says


@pytest.mark.parametrize(
    ("line", "status"),
    [("e 0", 1), ("e -1", 1), ("e 9", 1), ("h 0", 1), ("s 3 1 1 1", 1), ("s -1 1 1 1", 1), ("s 0 1 1", 1), ("l", 1)]
    + [(line, 2) for line in ("e", "e 1 2", "e x", "h", "s", "P 1 1 1", "P 1 ; 1 ; 1", "l 1", "c 0 0", "x 0", "L")],
)
def test_a_line_that_names_nothing_is_refused(line, status):
    text = next(text for text, _ in map(drawn, range(100)) if "\nweights" in text and "outputs 3" in text)
    lines = text.split("\n")
    at = lines.index("ratios " + text.split("\nratios ")[1].split("\n")[0])
    assert judged("\n".join([*lines[: at + 1], line, *lines[at + 1 :]]))[0] == status


def test_a_ray_that_is_left_out_is_one_too_few():
    # Three rays in a plane, and the one between them: it must not keep the outer two from being joined.
    tree = orthant(3)
    rays = [Ray([1, 0, 1], 0b010), Ray([0, 1, 1], 0b001), Ray([1, 1, 2], 0b000), Ray([0, 0, 1], 0b011)]
    found = {tuple(ray.v) for ray in tree.cut([1, -1, 0], rays)}
    assert (1, 1, 2) in found


def test_work_is_limited():
    lines = [
        "sense maximize",
        "weights " + " ".join(["1"] * 40),
        "utility information",
        "cone complete q 3 1",
        "outputs free",
    ]
    edges = [f"e {number}" for number in range(1600) if number % 41]
    text = text_of(lines, Fraction(9), ["unit 1", "prices", "mults", "mode rays", "ratios 3 1", *edges, "P 0 ;", "l"])
    status, said = judged(text)
    assert status == 2
    assert "operations" in said


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_pays_at_each_ray_and_has_no_less_risk_than_a_mechanism_shows(name):
    certificate, text = DESIGNS[name]
    assert judged(text)[0] == 0
    low = -Fraction(certificate["value"]["upper"]) - Fraction(1, 1 << 100)
    lying = claiming_less(text, low.as_integer_ratio())
    assert judged(lying)[0] == 1
    assert all(judged(changed)[0] != 0 for changed in mutants(lying, 40, 3))
    # Prices that are a third lower pay no longer for the forms at the ray that needs most.
    fields = next(line for line in text.split("\n") if line.startswith("F ")).split(" ")
    k = fields.index(";") - 1
    less = ["F", *(str(int(n) - abs(int(n)) // 3) for n in fields[1 : k + 1]), *fields[k + 1 :]]
    generous = claiming_less(text, (10**6, 1)).replace(" ".join(fields), " ".join(less))
    assert judged(generous)[0] == 1
    assert judged(claiming_less(text, (10**6, 1)))[0] == 0


@pytest.mark.parametrize("name", DESIGNS)
def test_inputs_without_weight_have_no_designs_by_rays(name):
    lines = DESIGNS[name][1].split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("weights "))
    lines[at] = "weights 0 " + lines[at].split(" ", 2)[2]
    assert judged(resealed("\n".join(lines)))[0] == 1
