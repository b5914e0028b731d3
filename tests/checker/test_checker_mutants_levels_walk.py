"""`levels` inside: what a leaf adds up, and the walk through the trees."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from test_checker_mutants_levels import HALF, QUARTER, WHOLE, ZERO, levels, path, problem, proof

from rropt import checker
from rropt.checker import ONE

# -- leaves --------------------------------------------------------------------------------------------


LEAF = checker._LevelLeaf((7, 3), [[Fraction(1)], [], [Fraction(2)]])


@pytest.mark.parametrize("i", [0, 1, 2])
def test_what_a_leaf_of_levels_has_to_spare(i: int) -> None:
    search = levels()
    at = search.start(i)
    assert at == path()
    at = at._replace(b=(Fraction(3, 2), Fraction(2)), states={0: True, 2: False})
    told: list[Any] = []

    class Stub:
        def __init__(self, s: int) -> None:
            self.s, self.rest = s, s != 1

        def in_force(self, own: Any, state: Any) -> Any:
            assert own is at
            assert state == {0: True, 2: False}.get(self.s)
            return force[self.s]

        def largest(self, cells: Any, exceptional: bool, own: Any, sizes: Any, slope: int) -> Any:
            told.append((self.s, cells, exceptional, own, sizes, slope))
            return answers[self.s]

        def ends(self, sizes: Any, slope: int) -> Any:
            told.append((self.s, [], False, force[self.s], sizes, slope))
            return answers[self.s]

    search.blocks = [Stub(s) for s in range(3)]
    force: list[Any] = ["a", "b", "c"]
    rise = 9 * checker._ceil_div(7 * ONE, 3) * ONE
    for first, second, holds in ((0, 0, True), (1, 0, False), (0, 1, False), (-5, -5, True), (-5, 1, False)):
        answers: list[Any] = [(first - rise, 1), (20, second - rise - 8), (-20, 7)]
        assert search.holds(at, LEAF) == holds
    expected = []
    for s in range(3):
        of = [(Fraction(1), 3 * b) if s == i else (b, Fraction(3)) for b in at.b]
        sizes = tuple(
            (int(lo * 2), int(hi * 2), 2) if 2 in (lo.denominator, hi.denominator) else (int(lo), int(hi), 1)
            for lo, hi in of
        )
        expected.append((s, LEAF.cells[s], s == 0, force[s], sizes, ONE + checker.log_bounds(7, 3)[0]))
    assert told[:3] == expected
    answers = [(1, 1), (1, 1), (1, 1)]
    assert not search.holds(at, LEAF)
    for s in (0, 2):
        answers = [(1, 1)] * 3
        answers[s] = None
        assert search.holds(at, LEAF)
    answers = [(1, 1)] * 3
    force = ["a", "b", None]
    assert search.holds(at, LEAF)


# -- the walk ------------------------------------------------------------------------------------------


def split(x: Any, c: Any = 0, y: int = 0) -> Any:
    return checker._Split(x, y, Fraction(c))


def test_every_leaf_of_levels_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    for name in ("_check_level_lists", "_check_level_leaf"):
        monkeypatch.setattr(
            checker, name, lambda search, at, leaf, where, name=name: seen.append((name, search.i, at, where))
        )
    trees = [
        [split("b", 2), split(0, HALF), LEAF, split("e", y=2), LEAF, split(0, Fraction(3, 4)), LEAF, LEAF, LEAF],
        [split(4, HALF), split(4, QUARTER), LEAF, split("b", HALF * 3), LEAF, LEAF, split("b", HALF * 3), LEAF, LEAF],
        [LEAF],
    ]
    checker._check_levels(problem(), proof(levels=trees))
    low, mid, top = (ZERO, HALF), (HALF, WHOLE), (HALF, Fraction(3, 4))
    expected = [
        (0, path({0: low}, b=(1, 2)), "proof.levels[0][2]"),
        (0, path({0: mid}, {2: False}, (1, 2)), "proof.levels[0][4]"),
        (0, path({0: top}, {2: True}, (1, 2)), "proof.levels[0][6]"),
        (0, path({0: (Fraction(3, 4), WHOLE)}, {2: True}, (1, 2)), "proof.levels[0][7]"),
        (0, path(b=(2, 3)), "proof.levels[0][8]"),
        (1, path({4: (ZERO, QUARTER)}), "proof.levels[1][2]"),
        (1, path({4: (QUARTER, HALF)}, b=(1, HALF * 3)), "proof.levels[1][4]"),
        (1, path({4: (QUARTER, HALF)}, b=(HALF * 3, 3)), "proof.levels[1][5]"),
        (1, path({4: mid}, b=(1, HALF * 3)), "proof.levels[1][7]"),
        (1, path({4: mid}, b=(HALF * 3, 3)), "proof.levels[1][8]"),
        (2, path(), "proof.levels[2][0]"),
    ]
    for name in ("_check_level_lists", "_check_level_leaf"):
        assert [found[1:] for found in seen if found[0] == name] == expected


GOOD = checker._LevelLeaf((1, 1), [[ZERO], [], [ZERO]])
BAD_LIST = checker._LevelLeaf((1, 1), [[], [], [ZERO]])


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([split("b", 2), GOOD], r"proof.levels\[0\]: ends with 1 subtrees missing"),
        ([GOOD, GOOD], r"proof.levels\[0\]\[1\]: the tree was complete"),
        ([split("b", 1), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split("b", 3), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split("b", 2), GOOD, split("b", HALF * 3), GOOD, GOOD], r"\[2\]: the branch is not between the limits"),
        ([split(0, 0), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split(0, 1), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split(0, 2), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split(0, -1), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split(2, HALF), GOOD, GOOD], r"\[0\]: the branch is not between the limits"),
        ([split("e", y=1), GOOD, GOOD], r"\[0\]: block 1 is not open"),
        ([split("e", y=0), GOOD, split("e", y=0), GOOD, GOOD], r"\[2\]: block 0 is not open"),
        ([BAD_LIST], r"proof.levels\[0\]\[0\]: the list of block 0 does not suit it"),
    ],
)
def test_what_is_wrong_with_levels(tree: list[Any], words: str) -> None:
    with pytest.raises(checker.Refuted, match=words):
        checker._check_levels(problem(), proof([Fraction(999)] * 6, [tree, [GOOD], [GOOD]]))


def test_levels_that_hold_and_levels_that_do_not() -> None:
    trees = [
        [split("b", 2), split("e", y=0), GOOD, GOOD, split(0, HALF), GOOD, GOOD],
        [GOOD],
        [split("e", y=2), GOOD, GOOD],
    ]
    checker._check_levels(problem(), proof([Fraction(999)] * 6, trees))
    with pytest.raises(checker.Refuted, match=r"proof.levels\[0\]\[2\]: the inequality of this leaf fails"):
        checker._check_levels(problem(), proof([Fraction(-9)] * 6, trees))
