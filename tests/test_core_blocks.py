"""Mode blocks of the core: information on robust cones, by the corners of what each block of inputs may give a column."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction

import pytest
from core_files import claiming_less, judged, mutants, proof_files, resealed

from rropt import kernel
from rropt.kernel import D

FILES = {name: found for name, found in proof_files().items() if "\nmode blocks\n" in found[1]}
SMALL = min(FILES, key=lambda name: len(FILES[name][1]))


def value_of(text):
    """The value that the mechanism of a proof file attains."""
    n, m = re.search(r"(?m)^value (\S+) (\S+) ", text).groups()
    return Fraction(int(n), int(m))


def numbers(text, key):
    """The integers of each line with a key."""
    return [[int(n) for n in found.split()] for found in re.findall(rf"(?m)^{key} (.+)$", text)]


def drawn_block(draw):
    """Shares over 60 of up to 5 inputs with a rest, and two limits over one denominator."""
    size = draw.randint(1, 5)
    whole = draw.random() < 0.25
    shares = [draw.randint(int(whole), 9) for _ in range(size)]
    den = sum(shares) if whole else 60
    low = draw.randint(1, 30)
    return shares, den, low, low + draw.choice([1, draw.randint(2, 200)]), 30


def drawn_columns(draw, shares, den, low, high):
    """Columns of a block between its limits, as floats."""
    rest = den - sum(shares)
    for _ in range(200):
        spread = draw.choice([1.0, draw.random() ** 8])
        column = [1 - spread * draw.choice([0.0, 1.0, draw.random()]) for _ in shares]
        ends = [(rest * v + sum(r * u for r, u in zip(shares, column, strict=True))) / den for v in column]
        if min(ends) <= 0 or max(ends) / min(ends) > high / low:
            continue
        most, least = high / max(ends), low / min(ends)
        scale = draw.choice([least, most, least + draw.random() * (most - least)])
        yield [scale * v for v in column]


def test_there_are_files_of_this_mode():
    assert len(FILES) >= 5


@pytest.mark.parametrize("seed", range(60))
def test_no_column_of_a_block_has_more_than_its_corners(seed):
    """Of any form that is convex in the entries: here w sum v log v - a.v, as leaves have it."""
    draw = random.Random(seed)
    shares, den, low, high, over = drawn_block(draw)
    weights = [draw.randint(0, 5) for _ in shares]
    prices = [draw.randint(-9, 9) for _ in shares]
    tree = object.__new__(kernel.BlockTree)
    tree.unit, tree.den = 1, den
    parts = kernel.choices([*zip(shares, weights, prices, strict=True)])
    found = [*tree.corners(den - sum(shares), parts, low, high, over)]
    best = max(worth for _, _, worth in found) / D**2
    count = 0
    for column in drawn_columns(draw, shares, den, low / over, high / over):
        own = sum(w * v * math.log(v) if v else 0 for w, v in zip(weights, column, strict=True))
        own -= sum(a * v for a, v in zip(prices, column, strict=True))
        mass = sum(w * v for w, v in zip(weights, column, strict=True))
        assert own <= best + 1e-9 * (1 + abs(best))
        assert min(least for least, _, _ in found) / D <= mass + 1e-9
        assert mass <= max(most for _, most, _ in found) / D + 1e-9
        count += 1
    assert count > 0


@pytest.mark.parametrize("name", FILES)
def test_every_column_of_the_cone_pays(name):
    """What the theorem says of the prices, at columns drawn from the cone."""
    text, draw = FILES[name][1], random.Random(name)
    weights, ((den, *lower),), blocks = numbers(text, "weights")[0], numbers(text, "lower"), numbers(text, "block")
    (unit,), (prices,) = numbers(text, "unit")[0], numbers(text, "prices")
    ratio = math.exp(Fraction(*map(int, re.search(r"(?m)^cone robust e (\S+) (\S+)$", text).groups())))
    total, count = sum(weights), 0
    for _ in range(4000):
        column = [draw.choice([0.0, 1.0, draw.random(), draw.random() ** 4]) for _ in weights]
        ends = []
        for block in blocks:
            rest = 1 - sum(lower[x] for x in block) / den
            mean = sum(lower[x] / den * column[x] for x in block)
            ends.append((rest * min(column[x] for x in block) + mean, rest * max(column[x] for x in block) + mean))
        inside = all(ends[s][1] <= ratio * ends[t][0] for s in range(len(ends)) for t in range(len(ends)) if s != t)
        if not inside:
            continue
        count += 1
        mean = sum(w * v for w, v in zip(weights, column, strict=True)) / total
        earned = sum(w / total * v * math.log(v / mean) if v else 0 for w, v in zip(weights, column, strict=True))
        assert earned <= sum(a / unit * v for a, v in zip(prices, column, strict=True)) + 1e-9
    assert count > 0


@pytest.mark.parametrize("name", FILES)
def test_a_claim_below_a_known_mechanism_is_refused(name):
    text = FILES[name][1]
    n, m = (value_of(text) - Fraction(1, 1 << 130)).as_integer_ratio()
    assert judged(text)[0] == 0
    false = claiming_less(text, (n, m))
    assert judged(false)[0] == 1
    assert not any(judged(mutant)[0] == 0 for mutant in mutants(false, 150, seed=11))


@pytest.mark.parametrize("name", FILES)
def test_a_mechanism_outside_the_cone_is_refused(name):
    """The smallest entry of a column is given to the largest one."""
    lines = FILES[name][1].split("\n")
    refused = 0
    for at, line in enumerate(lines):
        if line.startswith("column "):
            entries = [int(n) for n in line.split()[1:]]
            x, z = entries.index(min(entries)), entries.index(max(entries))
            other = next(i for i, one in enumerate(lines) if one.startswith("column ") and i != at)
            moved = [int(n) for n in lines[other].split()[1:]]
            moved[z], entries[z] = moved[z] - moved[z], entries[z] + moved[z]
            moved[x], entries[x] = moved[x] + entries[x], 0
            changed = [*lines]
            changed[at], changed[other] = (" ".join(["column", *map(str, own)]) for own in (entries, moved))
            refused += judged("\n".join(changed))[0] == 1
    assert refused > 0


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (r"block 0 1", "block 0 0"),
        (r"block 0 1", "block 0"),
        (r"block 0 1", "block 0 9"),
        (r"block 0 1", "block 0 1 2"),
        (r"block 0 1\n", ""),
        (r"lower (\d+) ", r"lower -\1 "),
        (r"lower (\d+) ", r"lower 0 "),
        (r"lower (\d+) \d+ ", r"lower \1 \1 "),
        (r"lower (\d+) \d+ ", r"lower \1 -1 "),
        (r"lower (\d+) \d+ ", r"lower \1 "),
        (r"outputs free", "halfspace 1 1\noutputs free"),
    ],
)
def test_other_blocks_are_refused(line, changed):
    """With the SHA-256 that the problem then has."""
    text = FILES["independent_checker/robust-all"][1]
    assert re.search(line, text)
    assert judged(resealed(re.sub(line, changed, text, count=1)))[0] == 1


@pytest.mark.parametrize("line", ["b", "b 1 2", "w", "w 1 2", "p 0", "p 0 1 2", "t", "t 1 2 3", "l 1", "b x", "x 1"])
def test_other_lines_are_unreadable(line):
    start, _, rest = FILES[SMALL][1].partition("\nratios ")
    ratios, _, tokens = rest.partition("\n")
    text = f"{start}\nratios {ratios}\n{line}\n{tokens}"
    assert judged(text)[0] == 2


@pytest.mark.parametrize("line", ["b 0", f"b {9 * D}", "p 0 1", "p 9 1", "p -1 1", "t 0", "t -1"])
def test_branches_that_leave_nothing_are_refused(line):
    """No gap on one side, a weight of one block before there is one gap, a block outside, no tangent."""
    start, _, rest = FILES[SMALL][1].partition("\nratios ")
    ratios, _, tokens = rest.partition("\n")
    assert judged(f"{start}\nratios {ratios}\n{line}\n{tokens}")[0] == 1


def test_branches_may_be_added_anywhere():
    """A branch on w before a whole tree, which then follows twice: what holds for a column holds on both sides."""
    start, _, rest = FILES[SMALL][1].partition("\nratios ")
    ratios, _, tokens = rest.partition("\n")
    lines, depth, end = tokens.split("\n"), 1, 0
    while depth:
        depth += -1 if lines[end].startswith("t ") else 1
        end += 1
    twice = [f"w {D}", *lines[:end], *lines[:end], *lines[end:]]
    assert judged("\n".join([f"{start}\nratios {ratios}", *twice]))[0] == 0
