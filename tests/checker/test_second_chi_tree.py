"""The tree of chi-square information in the second checker, against brute force over corners and sets of inputs.

The certificates are those of tests/independent_checker/corners.py. That both checkers agree on the stored ones and on their mutants
is tested in test_second_checker.py.
"""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from typing import Any

import pytest
from drawing import thinned
from independent_checker import campaign
from independent_checker.checker import verdict
from independent_checker.corners import SLACK, STORED, Corners, Tree

from rropt.checker import check_bytes

GAMMA = Corners((5, 3, 2), gamma=Fraction(3))


def said(document: Any) -> tuple[str, str]:
    return verdict(json.dumps(document).encode())


def changed(document: Any, *path: Any, to: Any) -> Any:
    made = copy.deepcopy(document)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return made


def with_prices(document: Any, prices: list[Fraction]) -> Any:
    """The bound goes with the prices, so that only F <= 0 decides."""
    made = changed(document, "proof", "prices", to=[str(price) for price in prices])
    return {**made, "bound": str(sum(prices, Fraction(0)))}


def drawn(seed: int) -> Corners:
    rng = random.Random(seed)
    weights = tuple(rng.choice((0, 1, 1, 2, 3, 5, 8)) for _ in range(rng.randint(1, 4)))
    ratio = Fraction(rng.randint(9, 40), 8)
    if rng.random() < 0.5:
        return Corners((*weights, 4), gamma=ratio, listed=rng.random() < 0.3)
    return Corners((*weights, 4), epsilon=ratio / 2)


@pytest.mark.parametrize("seed", thinned(range(12), 3))
def test_trees_drawn_at_random_are_proved(seed: int) -> None:
    document = drawn(seed).certificate(seed, Fraction(1 + seed % 3 * 10**6, 10**9))
    assert said(document) == ("PROVED", "")
    assert check_bytes(json.dumps(document).encode()).status == "PROVED"


def test_what_is_stored_is_what_is_made_and_every_element_of_a_tree_occurs_in_it() -> None:
    def kind(element: Any) -> str:
        if isinstance(element, list):
            return "t, L" if len(element) == 2 else "S" if isinstance(element[0], str) else "s"
        return "t" if isinstance(element, str) else "j"

    for name, (problem, seed, spare) in STORED.items():
        document = json.loads((campaign.STORED / f"{name}.json").read_bytes())
        assert document == problem.certificate(seed, spare), name
        assert {kind(element) for element in document["proof"]["tree"]} == {"j", "s", "S", "t", "t, L"}, name


def test_with_a_rational_ratio_the_value_is_the_bound_and_no_price_can_fall() -> None:
    document = GAMMA.certificate(1)
    assert document["bound"] == document["value"]["lower"] == document["value"]["upper"]
    prices = [Fraction(price) for price in document["proof"]["prices"]]
    for x in range(3):
        lower = [price - Fraction(x == z, 1 << 60) for z, price in enumerate(prices)]
        loose = with_prices(document, lower)
        assert said({**loose, "bound": document["bound"]}) == ("REFUTED", "a leaf of the tree")
    assert said({**document, "bound": str(Fraction(document["bound"]) - Fraction(1, 1 << 90))})[0] == "REFUTED"


def test_the_verdict_is_that_of_brute_force_leaf_by_leaf() -> None:
    """Prices, places t, slopes L and branches moved at random: PROVED exactly where every leaf holds by enumeration,
    and never where some corner has F > 0. The first checker, which may round, agrees where there is slack."""
    rng, found = random.Random(7), {"PROVED": 0, "REFUTED": 0}
    for seed in range(3):
        weights = tuple(rng.choice((0, 1, 2, 3, 5)) for _ in range(3))
        problem = Corners((*weights, 3), gamma=Fraction(rng.randint(9, 30), 8))
        document = problem.certificate(seed, Fraction(rng.randint(0, 8), 400))
        prices = [Fraction(price) for price in document["proof"]["prices"]]
        for _ in range(120):
            tree = list(document["proof"]["tree"])
            place = rng.randrange(len(tree))
            moved = list(prices)
            match tree[place]:
                case int():
                    tree[place] = rng.randrange(4)
                case [int()]:
                    tree[place] = [rng.randrange(4)]
                case [str()]:
                    tree[place] = [str(rng.randrange(sum(problem.weights)))]
                case str() as t:
                    tree[place] = str(Fraction(t) + Fraction(rng.randint(-4, 4), 1 << rng.randint(3, 9)))
                case [t, slope]:
                    ends = [Fraction(t), Fraction(slope)]
                    i = rng.randrange(2)
                    ends[i] += Fraction(rng.randint(-4, 4), 1 << rng.randint(3, 9))
                    tree[place] = [str(ends[0]), str(max(ends[1], Fraction(0)))]
            if rng.random() < 0.4:
                moved[rng.randrange(4)] += Fraction(rng.randint(-4, 8), 1 << rng.randint(6, 12))
            mutant = with_prices(changed(document, "proof", "tree", to=tree), moved)
            mutant["bound"] = str(max(Fraction(mutant["bound"]), Fraction(document["bound"])))
            word, why = said(mutant)
            found[word] += 1
            worst = Tree(problem, moved).worst(tree)
            assert (word == "PROVED") == (worst is not None and worst <= 0), (seed, tree, why)
            if worst is None or not -SLACK < worst <= 0:
                first = check_bytes(json.dumps(mutant).encode())
                assert first.status == word, (seed, tree, first.reason)
            assert word == "REFUTED" or all(problem.excess(corner, moved) <= 0 for corner in problem.corners)
    assert min(found.values()) > 100, found


GRAPH = {"kind": "graph", "edges": [[0, 1, "1"], [1, 0, "1"]]}
FAULTS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("problem", "cone"), {"kind": "free"}, "UNREADABLE"),
    (("problem", "cone"), GRAPH, "UNREADABLE"),
    (
        ("problem", "cone"),
        {"kind": "polyhedral", "base": {"kind": "complete", "gamma": "3"}, "rows": [["1", "-2", "0"]]},
        "UNREADABLE",
    ),
    (("problem", "utility"), {"kind": "linear", "cost": []}, "UNREADABLE"),
    (("problem", "utility"), {"kind": "mutual_information"}, "REFUTED"),
    (("assumptions",), ["mi-column-convex"], "REFUTED"),
    (("assumptions",), [], "REFUTED"),
    (("assumptions",), ["chi-square-column-convex"] * 2, "REFUTED"),
    (("assumptions",), ["chi-square-convex"], "UNREADABLE"),
    (("proof", "known"), "entropy", "UNREADABLE"),
    (("proof", "flows"), [], "UNREADABLE"),
    (("proof", "boxes"), [], "UNREADABLE"),
    (("proof", "tree"), [], "UNREADABLE"),
    (("proof", "tree"), ["1/2"], "REFUTED"),
    (("proof", "tree"), ["2"], "REFUTED"),
    (("proof", "tree"), [["2", "-1"]], "UNREADABLE"),
    (("proof", "tree"), [3, "2", "2"], "UNREADABLE"),
    (("proof", "tree"), [[3], "2", "2"], "UNREADABLE"),
    (("proof", "tree"), [["10"], "2", "2"], "UNREADABLE"),
    (("proof", "tree"), [0, "2"], "REFUTED"),
    (("proof", "tree"), [0, 0, "2", "2", "2"], "REFUTED"),
]


@pytest.mark.parametrize(("path", "value", "word"), FAULTS)
def test_a_fault_has_its_word(path: tuple[Any, ...], value: Any, word: str) -> None:
    document = GAMMA.certificate(1, Fraction(1, 1 << 50))
    assert said(document)[0] == "PROVED"
    assert said(changed(document, *path, to=value))[0] == word
