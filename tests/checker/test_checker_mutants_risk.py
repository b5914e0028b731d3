"""The checker's columns of confidence cones, and identification risk: against the words of the format in other numbers.

What is here is what a change of one condition (tests/mutation.py) of those two parts of section 5 would alter.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Document, encode, put, rat
from shells import checked, is_allowed, member, table, with_column

from rropt.checker import check_bytes

STORED = Path(__file__).resolve().parents[1] / "data" / "independent_checker"
Numbers = list[tuple[Fraction, Fraction]]

# -- equality ------------------------------------------------------------------------------------------


def least_risk(counts: list[int], q: list[Fraction]) -> tuple[Fraction, int]:
    """The least xi that category 0 keeps, by (R) in fractions, and the a that decides."""
    p = [Fraction(1)]
    for x, own in enumerate(q):
        for _ in range(counts[x] - (x == 0)):
            p = [(1 - own) * b + own * a for a, b in zip([Fraction(0), *p], [*p, Fraction(0)], strict=True)]
    p.append(Fraction(0))
    found = [(q[0] * p[a - 1] / a / (q[0] * p[a - 1] + (1 - q[0]) * p[a]), a) for a in range(1, len(p))]
    return max(found)


@pytest.mark.parametrize(
    ("counts", "d", "column"),
    [
        ([4, 5, 4], 7, [4, 3, 5]),
        ([2, 1, 2], 101, [22, 7, 85]),
        ([3, 3, 4, 4], 10007, [7570, 873, 1626, 7713]),
        ([1, 2, 4, 2], 11, [6, 2, 8, 9]),
    ],
)
def test_a_risk_that_is_broken_by_less_than_anything_that_is_rounded(
    counts: list[int], d: int, column: list[int]
) -> None:
    """Of these coefficients what is rounded away is less on the right than on the left: no risk is proved by that."""
    xi, a = least_risk(counts, [Fraction(n, d) for n in column])
    assert a > 1, "the first is not rounded"
    made = table([[n, d - n, *[0] * (len(counts) - 2)] for n in column])
    for step, holds in ((-Fraction(1, 2**330), False), (Fraction(1, 2**240), True)):
        risk = {"at_most": rat(xi * (1 + step)), "counts": [str(n) for n in counts], "categories": [0]}
        assert is_allowed(made, identification_risk=risk) == holds


# -- confidence ----------------------------------------------------------------------------------------

BLOCKS, COUNTS = [[0, 1], [2], [3, 4]], [3, 2, 4, 0, 5]


def cone_of(form: str, gamma: Fraction, radius: Fraction = Fraction(1, 50)) -> Document:
    ends = {"lower": rat(radius / 2), "upper": rat(radius)}
    counts = [str(n) for n in COUNTS]
    return {"kind": "confidence", "gamma": rat(gamma), "blocks": BLOCKS, "counts": counts, "radius": ends, "form": form}


def gap(cone: Document, v: list[int], numbers: Numbers) -> float:
    """How far the conditions of a column, in 64ths, are from failing, in floats."""
    gl, entries = float(Fraction(cone["gamma"])), [n / 64 for n in v]
    total = sum(COUNTS)
    root = math.sqrt(float(Fraction(cone["radius"]["upper"])) + 1) - 1
    share = [sum(COUNTS[x] for x in block) / total for block in BLOCKS]

    def spread(s: int, number: float) -> float:
        return sum(COUNTS[x] / total * math.sqrt(abs(float(number) - entries[x])) for x in BLOCKS[s])

    if cone["form"] == "exact":
        pairs = [(s, z) for s in range(3) for z in range(3) if s != z]
        found = []
        for (s, z), (nu, mu) in zip(pairs, numbers, strict=True):
            both = spread(s, nu) ** (2 / 3) + gl ** (1 / 3) * spread(z, mu) ** (2 / 3)
            found.append(both**3 / (root + share[s] + share[z]) ** 2 - float(nu) + gl * float(mu))
        return min(found)
    high = [float(nu) - (spread(s, nu) / (root + share[s])) ** 2 for s, (nu, _) in enumerate(numbers)]
    low = [float(mu) + (spread(s, mu) / (root + share[s])) ** 2 for s, (_, mu) in enumerate(numbers)]
    return min(gl * low[z] - high[s] for s in range(3) for z in range(3) if s != z)


def said(cone: Document, v: list[int], numbers: Numbers) -> str:
    """Why a column is refused, "" where it is not."""
    return checked(member(with_column([Fraction(n, 64) for n in v], numbers), cone=cone)).reason


def tight(form: str, v: list[int], widen: int = 0) -> Numbers:
    """The smallest nu and the largest mu that are allowed, `widen` 64ths further out."""
    q = [Fraction(n, 64) for n in v]
    most = [max(q[x] for x in block) + Fraction(widen, 64) for block in BLOCKS]
    least = [min(q[x] for x in block) - Fraction(widen, 64) for block in BLOCKS]
    if form == "exact":
        return [(most[s], least[z]) for s in range(3) for z in range(3) if s != z]
    return list(zip(most, least, strict=True))


@pytest.mark.parametrize("form", ["exact", "product"])
def test_columns_of_confidence_cones(form: str) -> None:
    rng, seen = random.Random(11), set()
    for _ in range(120):
        v = [rng.randint(4, 30) for _ in COUNTS]
        cone = cone_of(form, Fraction(rng.choice([3, 5, 8]), 2), Fraction(1, rng.choice([2, 50, 900])))
        numbers = tight(form, v, rng.choice([0, 0, 3]))
        own = gap(cone, v, numbers)
        if abs(own) > 1e-9:
            found = said(cone, v, numbers)
            assert (found == "") == (own > 0)
            assert not found or found.startswith("mechanism.membership[0]")
            seen.add(own > 0)
    assert seen == {True, False}


@pytest.mark.parametrize("form", ["exact", "product"])
@pytest.mark.parametrize(("radius", "holds"), [(Fraction(1, 50), True), (Fraction(1, 2), False)])
def test_numbers_of_zero_say_nothing_of_the_size_of_a_column(form: str, radius: Fraction, holds: bool) -> None:
    """The entries are some 2^-400: nothing under a root is rounded to nothing, even where all mu are 0."""
    v, cone = [12, 14, 13, 12, 15], cone_of(form, Fraction(4), radius)
    numbers = [(nu, Fraction(0)) for nu, _ in tight(form, v, 3)]
    own = gap(cone, v, numbers)
    assert abs(own) > 1e-6
    assert (said(cone, v, numbers) == "") == (own > 0) == holds


@pytest.mark.parametrize("form", ["exact", "product"])
def test_a_radius_below_what_is_rounded_is_still_above_zero(form: str) -> None:
    """Of blocks without a count nothing else is divided by."""
    ends = {"lower": rat(Fraction(1, 2**401)), "upper": rat(Fraction(1, 2**400))}
    cone = {"kind": "confidence", "gamma": "2", "blocks": [[0], [1], [2]], "counts": ["1", "0", "0"], "form": form}
    numbers = [(Fraction(1), Fraction(1))] * (6 if form == "exact" else 3)
    for v, holds in (([1, 1, 1], True), ([3, 1, 1], False)):
        made = member(with_column([Fraction(n) for n in v], numbers), cone={**cone, "radius": ends})
        assert checked(made).proved == holds


@pytest.mark.parametrize("form", ["exact", "product"])
def test_columns_that_are_constant_on_blocks_may_reach_the_ratio(form: str) -> None:
    """There nothing is under a root, and the condition is v_s <= gl v_z, exactly."""
    fine = [[9, 9, 3, 3, 3], [3, 3, 9, 9, 9], [9, 9, 9, 3, 3], [0, 0, 0, 0, 0]]
    for v, holds in [*((v, True) for v in fine), ([10, 10, 3, 3, 3], False), ([9, 9, 9, 2, 2], False)]:
        w = [64 - n for n in v]
        numbers = [[[rat(n) for n in pair] for pair in tight(form, own)] for own in (v, w)]
        made = table(list(zip(v, w, strict=True)), [64], membership=numbers)
        assert (checked(member(made, cone=cone_of(form, Fraction(3)))).reason == "") == holds, v


def test_the_second_smallest_bracket_is_that_of_the_smallest_block() -> None:
    """No condition between a block and itself, but one with the smallest of all the others."""
    for level, gl, holds in ((25, Fraction(2), True), (35, Fraction(2), False), (25, Fraction(3, 2), False)):
        v, cone = [6, 60, level, level, level], cone_of("product", gl, Fraction(1, 10**6))
        own = gap(cone, v, tight("product", v))
        assert abs(own) > 1e-6
        assert (said(cone, v, tight("product", v)) == "") == (own > 0) == holds


@pytest.mark.parametrize("form", ["exact", "product"])
def test_each_number_is_beyond_every_entry_of_its_block(form: str) -> None:
    v, cone = [10, 20, 12, 14, 15], cone_of(form, Fraction(3))
    numbers = tight(form, v)
    assert said(cone, v, numbers) == ""
    (nu, mu), rest = numbers[0], numbers[1:]
    for own, what in (
        ((nu - Fraction(1, 100), mu), "first number is below"),
        ((nu, mu + Fraction(1, 10)), "second number is above"),
    ):
        assert said(cone, v, [own, *rest]) == f"mechanism.membership[0][0]: the {what} an entry of its block"


# -- identification risk -------------------------------------------------------------------------------


def sides(at_most: Fraction, counts: list[int], c: int, q: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Both sides of (R) for every a, exactly."""
    p = [Fraction(1)]
    for x, own in enumerate(q):
        for _ in range(counts[x] - (x == c)):
            p = [(1 - own) * a + own * b for a, b in zip([*p, Fraction(0)], [Fraction(0), *p], strict=True)]
    xi, found = at_most, []
    p += [Fraction(0)] * 50
    for a in range(1, 50):
        if a * xi < 1:
            found.append((q[c] * p[a - 1] * (1 - a * xi), a * xi * (1 - q[c]) * p[a]))
    return found


def test_safe_and_violated_columns() -> None:
    """Column c alone counts for category c; equal sides that are not zero are neither proved nor refused."""
    rng, seen = random.Random(8), set()
    for _ in range(150):
        k = rng.randint(2, 4)
        counts = [rng.choice([0, 1, 2, 5]) for _ in range(k)]
        c = rng.randrange(k)
        counts[c] = max(counts[c], 1)
        at_most = rng.choice([Fraction(1, 2), Fraction(2, 5), Fraction(1, 5), Fraction(1, 7)])
        denominators = [rng.choice([4, 6]) for _ in range(k)]
        numbers = [rng.choice([0, 1, 2, d, d - 1]) for d in denominators]
        q = [Fraction(n, d) for n, d in zip(numbers, denominators, strict=True)]
        truth = sides(at_most, counts, c, q)
        rows = [
            [n if y == c else (d - n) * (y == (c + 1) % k) for y in range(k)]
            for n, d in zip(numbers, denominators, strict=True)
        ]
        risk = {"at_most": rat(at_most), "counts": [str(n) for n in counts], "categories": [c]}
        found = checked(member(table(rows), identification_risk=risk)).reason
        assert found in ("", f"mechanism: not proved that the identification risk of category {c} is at most at_most")
        assert found or all(left <= right for left, right in truth)
        if not any(left == right != 0 for left, right in truth):
            assert (found == "") == all(left <= right for left, right in truth)
        broken = sum(left > right for left, right in truth)
        seen.add("none" if broken == 0 else "some")
    assert seen == {"none", "some"}


def moved(columns: list[list[int]], by: int) -> Iterator[list[list[int]]]:
    """The columns with `by` moved from one cell of a row to another one."""
    k = len(columns)
    for x, y, w in itertools.product(range(k), repeat=3):
        if y != w and columns[w][x] >= by:
            yield [[n + by * (x == z and v == y) - by * (x == z and v == w) for z, n in enumerate(own)]
                   for v, own in enumerate(columns)]  # fmt: skip


@pytest.mark.parametrize("name", ["risk-blocks", "risk-blocks-mi"])
def test_every_cell_of_a_block_matrix_is_looked_at(name: str) -> None:
    made = json.loads((STORED / f"{name}.json").read_bytes())
    columns = [[int(n) for n in column["dense"]] for column in made["mechanism"]["columns"]]
    assert check_bytes(encode(made)).proved
    for other in moved(columns, 1):
        dense = [{"dense": [str(n) for n in own]} for own in other]
        assert check_bytes(encode(put(made, "mechanism", "columns", value=dense))).reason.startswith("mechanism: row ")


@pytest.mark.parametrize(
    ("blocks", "thetas"),
    [([[0, 1], [2], [3, 4]], (1, 0, Fraction(5, 2))), ([[0, 1, 2], [3], [4]], (Fraction(3, 2), 0, 0))],
)
def test_blocks_of_one_two_and_three(blocks: list[list[int]], thetas: tuple[Any, ...]) -> None:
    """theta over (|G| - 1) T_x off the diagonal, 0 between blocks, the identity on a block of one."""
    counts = [4, 2, 3, 6, 5]
    risk = {"at_most": "1/3", "counts": [str(n) for n in counts], "categories": [0], "blocks": blocks}
    columns = [[0] * 5 for _ in range(5)]
    for block, theta in zip(blocks, thetas, strict=True):
        for x, y in itertools.product(block, repeat=2):
            share = Fraction(theta) / counts[x] / max(len(block) - 1, 1)
            columns[y][x] = int(240 * (share if x != y else 1 - Fraction(theta) / counts[x]))
    rows = [list(row) for row in zip(*columns, strict=True)]
    assert not checked(member(table(rows, [240]), identification_risk=risk)).reason.startswith("mechanism: row ")
    for other in moved(columns, 5):
        rows = [list(row) for row in zip(*other, strict=True)]
        found = checked(member(table(rows, [240]), identification_risk=risk)).reason
        assert found.startswith("mechanism: row "), other
