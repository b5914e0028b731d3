"""Trees of chi-square information in the trusted checker, against a second reading of the text and all corners.

Trees of every element are grown at random and changed; each leaf is read once more in rationals, and each claim is held
against all corners, by the definition of the information and not by the formula of the text.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from drawing import graded
from flint import fmpq
from test_checker_chi_tree import UNIT, Case, document, drawn, number, verdict

# -- the text, read once more ----------------------------------------------------------------------------


class Path(NamedTuple):
    """at: of each input 1 at gh, 0 at 1, None free; limits on the number and on the weight of those at gh."""

    at: tuple[int | None, ...]
    count: tuple[int, int]
    weight: tuple[int, int]


class Fault(Exception):
    """A tree that is REFUTED whatever its leaves say."""


def root(case: Case) -> Path:
    return Path((None,) * case.k, (0, case.k), (0, sum(case.weights)))


def halves(path: Path, element: Any) -> tuple[Path, Path]:
    """The two sides of a branch."""
    if isinstance(element, int):
        if path.at[element] is not None:
            raise Fault
        first, second = ((*path.at[:element], bit, *path.at[element + 1 :]) for bit in (1, 0))
        return path._replace(at=first), path._replace(at=second)
    name, split = ("weight", int(element[0])) if isinstance(element[0], str) else ("count", element[0])
    lo, hi = getattr(path, name)
    return path._replace(**{name: (lo, min(hi, split))}), path._replace(**{name: (max(lo, split + 1), hi)})


def side(case: Case, prices: Sequence[fmpq], leaf: Any, path: Path) -> fmpq | None:
    """The left side of the inequality of a leaf; None where its limits close it."""
    gh, total = case.gh, sum(case.weights)
    t, slope = (number(leaf[0]), number(leaf[1])) if isinstance(leaf, list) else (number(leaf), None)
    if path.weight[0] > path.weight[1]:
        return None
    height, tangent = 2 * gh * (1 - 1 / t), gh * (1 - 1 / t**2)
    own = tangent if slope is None else slope
    c = [(gh - 1) * ((gh - 1) * p - a) for p, a in zip(case.prior, prices, strict=True)]
    q = [(gh - 1) * p for p in case.prior]
    inside = [x for x, bit in enumerate(path.at) if bit == 1]
    free = sorted((c[x] - own * q[x] for x, bit in enumerate(path.at) if bit is None), reverse=True)
    most = sum((max(g, fmpq(0)) for g in free), fmpq(0))
    if path.count != (0, case.k):
        lo, hi = (limit - len(inside) for limit in path.count)
        numbers = [n for n in range(len(free) + 1) if lo <= n <= hi]
        if not numbers:
            return None
        most = max(sum(free[:n], fmpq(0)) for n in numbers)
    left = height - sum(prices) + sum((c[x] - own * q[x] for x in inside), fmpq(0)) - tangent + most
    if slope is not None:
        left += max(fmpq(limit, total) * (gh - 1) * (slope - tangent) for limit in path.weight)
    return left


def leaves(case: Case, tree: Sequence[Any]) -> list[tuple[Any, Path]]:
    """The leaves with their paths; raises Fault."""
    found, stack = [], [root(case)]
    for element in tree:
        if not stack:
            raise Fault
        path = stack.pop()
        if isinstance(element, str) or (isinstance(element, list) and len(element) == 2):
            if number(element if isinstance(element, str) else element[0]) < 1:
                raise Fault
            found.append((element, path))
        else:
            stack += reversed(halves(path, element))
    if stack:
        raise Fault
    return found


def expected(case: Case, prices: Sequence[fmpq], tree: Sequence[Any]) -> str:
    """The verdict on the tree; "" where a leaf is too near for a checker that rounds."""
    try:
        sides = [side(case, prices, leaf, path) for leaf, path in leaves(case, tree)]
    except Fault:
        return "REFUTED"
    worst = max((s for s in sides if s is not None), default=-UNIT)
    return "REFUTED" if worst > 0 else "PROVED" if worst <= -UNIT else ""


def grown(case: Case, prices: Sequence[fmpq], rng: random.Random, path: Path) -> list[Any]:
    """A tree whose leaves hold, of all elements, for prices with room."""
    free = [x for x, bit in enumerate(path.at) if bit is None]
    spread = [case.weight([0 if bit is None else bit for bit in path.at]), case.weight([bit != 0 for bit in path.at])]
    for sloped in (False, True, True):
        t = spread[0] + fmpq(rng.randint(0, 8), 8) * (spread[1] - spread[0]) if free else spread[0]
        t = fmpq((t * 2**60).floor(), 2**60)
        own = case.gh * (1 - 1 / t**2)
        leaf: Any = [str(t), str(own * fmpq(rng.randint(6, 10), 8))] if sloped else str(t)
        left = side(case, prices, leaf, path)
        if left is None or left <= -UNIT:
            return [leaf]
    choices: list[Any] = list(free) * 2
    choices += [[s] for s in range(path.count[0], path.count[1])]
    choices += [[str(s)] for s in rng.sample(range(*path.weight), min(3, path.weight[1] - path.weight[0]))]
    element = rng.choice(choices)
    first, second = halves(path, element)
    return [element, *grown(case, prices, rng, first), *grown(case, prices, rng, second)]


# -- against all corners ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_trees_of_every_element_are_read_as_the_text_says(seed: int) -> None:
    rng = random.Random(seed)
    case, prices = drawn(rng, 2 + seed % 5)
    prices = case.more(prices, rng.choice([fmpq(1, 2**50), fmpq(1, 1000), fmpq(1, 20)]))
    tree = grown(case, prices, rng, root(case))
    assert expected(case, prices, tree) == "PROVED"
    assert verdict(document(case, prices, tree, best=True)) == ("PROVED", "")


def mutated(rng: random.Random, case: Case, prices: list[fmpq], tree: list[Any]) -> tuple[Case, list[fmpq], list[Any]]:
    """One change of the ratio, a weight, the prices or the tree, or two."""
    prices, tree = list(prices), json.loads(json.dumps(tree))
    for _ in range(rng.choice((1, 1, 2))):
        i, x, z = rng.randrange(len(tree)), *rng.sample(range(case.k), 2)
        element, small = tree[i], fmpq(1, 2 ** rng.choice((4, 8, 16, 40)))
        match rng.randrange(8):
            case 0:
                prices[x] -= small * (1 + abs(prices[x]))
            case 1:
                prices[x], prices[z] = prices[x] - small, prices[z] + small
            case 2:
                case = replace(case, level={"gamma": str(case.gh * (1 + small))})
            case 3:
                weights = list(case.weights)
                weights[x] += rng.choice((1, -1)) if weights[x] > 1 else 1
                case = replace(case, weights=weights)
            case 4:
                tree[i:i] = [rng.choice(tree)]
            case 5 if len(tree) > 1:
                del tree[i]
            case 6:
                tree[i] = rng.choice(tree)
            case _:
                scale = 1 + small * rng.choice((1, -1))
                if isinstance(element, str):
                    tree[i] = str(number(element) * scale)
                elif isinstance(element, int):
                    tree[i] = x
                elif len(element) == 2:
                    tree[i] = [str(number(element[0]) * scale), str(number(element[1]) * (2 - scale))]
                elif isinstance(element[0], str):
                    tree[i] = [str(rng.randrange(sum(case.weights)))]
                else:
                    tree[i] = [rng.randrange(case.k)]
    return case, prices, tree


@pytest.mark.parametrize("seeds", graded([range(27)], [range(27, 80)]))
def test_nothing_false_is_proved_among_mutants(seeds: range) -> None:
    """What is proved is true of all corners; and every verdict is that of the second reading, false claim or not."""
    seen = Counter[str]()
    for seed in seeds:
        rng = random.Random(f"mutants {seed}")
        case, prices = drawn(rng, 2 + seed % 4)
        prices = case.more(prices, rng.choice([fmpq(1, 2**50), fmpq(1, 10**4), fmpq(1, 100)]))
        tree = grown(case, prices, rng, root(case))
        for _ in range(30):
            new = mutated(rng, case, prices, tree)
            status, reason = verdict(document(*new))
            seen["all"] += 1
            seen[status] += 1
            if new[0].worst(new[1]) > 0:
                seen["false"] += 1
                assert status != "PROVED"
            if status != "UNREADABLE":
                foreseen = expected(*new)
                assert foreseen in ("", status), (new, reason)
                seen["foreseen"] += foreseen != ""
            else:
                assert "must be below the sum of the weights" in reason
    assert seen["all"] == 30 * len(seeds)
    assert seen["PROVED"] > 6 * len(seeds)
    assert seen["false"] > 6 * len(seeds)
    assert seen["foreseen"] > 28 * len(seeds)
