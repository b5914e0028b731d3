"""`cases` inside: what the reader takes, each limit of a path, and what is summed up to the last unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from builders import encode
from checker_pieces import refused
from test_checker_cases_damage import BOTH, MADE, PART, REFUTED, ZEROS, leaf, loose

from rropt import checker
from rropt.checker import ONE, P, check_bytes

BLOCKS = [[0, 2], [1, 3]]
SETS = checker._Confidence(BLOCKS, [4, 3, 2, 1], (Fraction(1, 50), Fraction(1, 40)), True)
GAMMA = (Fraction(2), Fraction(7, 3))
CONE = checker._Cone("confidence", GAMMA, {}, None, "", SETS)
WEIGHTS = [2, 0, 3, 1]
CUTS = [checker._Weights(0, 1, [1, 2], [3, 1]), checker._Weights(1, 0, [1, 0], [5, 2])]
UNIT, TOTAL = 5, 6


def problem(weights: Any = WEIGHTS) -> Any:
    return checker._Problem(
        "maximize", 4, None, list(weights), sum(weights), "mutual_information", [], [], CONE, [], None, False
    )


def proof(prices: Any = (0, 0, 0, 0), cases: Any = (), cuts: Any = CUTS) -> Any:
    own = [Fraction(a) for a in prices]
    return checker._Proof("column-dual", own, [], [], [], [], UNIT, cuts=list(cuts), cases=list(cases))


def search(prices: Any = (0, 0, 0, 0)) -> Any:
    return checker._Cases(problem(), proof(prices), SETS)


def split(z: int, c: Fraction | int = 1) -> Any:
    return checker._Split(z, 0, Fraction(c))


def part(*u: tuple[int, int]) -> Any:
    return checker._PartLeaf(list(u))


def case(t: Any = (1, 1), u: Any = (), parts: Any = None) -> Any:
    return checker._CaseLeaf(t, list(u), [part(), part()] if parts is None else list(parts))


def box(*limits: Any) -> Any:
    """Of each input lo and hi, as (lower end, upper end, phi)."""
    return checker._CaseBox([lo for lo, _ in limits], [hi for _, hi in limits])


def up(n: int, d: int) -> int:
    return checker._ceil_div(n, d)


# -- limits --------------------------------------------------------------------------------------------


def test_the_halves_of_a_box() -> None:
    low, high, other = (5, 7, 1), (10, 12, 2), (0, 99, 3)
    own = box((low, high), (other, None), (low, high))
    for c, new_high, new_low in (
        ((6, 11, 4), True, True),
        ((6, 12, 4), False, True),
        ((6, 13, 4), False, True),
        ((5, 11, 4), True, False),
        ((4, 6, 4), True, False),
        ((12, 12, 4), False, True),
    ):
        below, above = own.halves(0, c)
        assert below == box((low, c if new_high else high), (other, None), (low, high))
        assert above == box((c if new_low else low, high), (other, None), (low, high))
        below, above = own.halves(1, c)
        assert below == box((low, high), (other, c), (low, high))
        assert above == box((low, high), (c, None), (low, high))
    assert own == box((low, high), (other, None), (low, high))


def test_a_box_is_empty_only_where_it_is_certain() -> None:
    assert not box(((5, 7, 0), (5, 5, 0)), ((9, 9, 0), None)).is_empty()
    assert not box(((5, 7, 0), (4, 5, 0)), ((9, 9, 0), None)).is_empty()
    assert box(((5, 7, 0), (4, 4, 0)), ((9, 9, 0), None)).is_empty()
    assert box(((5, 7, 0), (6, 8, 0)), ((9, 9, 0), (6, 8, 0))).is_empty()
    assert not box(((5, 7, 0), (6, 8, 0))).is_empty()


def test_a_limit_is_made_once() -> None:
    one = search()
    third = 2 * ONE // 3
    assert one.limit((2, 3)) == (third, third + 1, -(-checker.log_bounds(2, 3)[1] * third >> P))
    assert one.limit((7, 2)) == (7 * ONE // 2, 7 * ONE // 2, up(checker.log_bounds(7, 2)[1] * 7, 2))
    assert one.limit((1, 1)) == (ONE, ONE, 0)
    assert one.limit((2, 3)) is one.limit((2, 3))


def test_the_roots() -> None:
    one = search()
    exactly, zero = (ONE, ONE, 0), (0, 0, 0)
    assert one.roots() == [
        box((exactly, exactly), (zero, None), (zero, one.limit((2, 3))), (zero, one.limit((2, 1)))),
        box((zero, one.limit((3, 2))), (zero, None), (exactly, exactly), (zero, one.limit((3, 1)))),
        box((zero, one.limit((1, 2))), (zero, None), (zero, one.limit((1, 3))), (exactly, exactly)),
    ]


def test_the_branch_of_a_path() -> None:
    one = search()
    root = one.roots()[0]
    above, below = one.halves(root, split(3, Fraction(3, 2)))
    limit = one.limit((3, 2))
    assert below == box(*zip(root.lower, [*root.upper[:3], limit], strict=True))
    assert above == box(*zip([*root.lower[:3], limit], root.upper, strict=True))


# -- slopes --------------------------------------------------------------------------------------------


def test_prices_are_rounded_up_and_rows_down() -> None:
    one = search([Fraction(1, 7), Fraction(-1, 7), 0, 2])
    assert one.minus_a == [up(-30 * ONE, 7), up(30 * ONE, 7), 0, -60 * ONE]
    # - gh = - 7/3 at the second block; what has no weight is left out.
    quarters = 7 * ONE // 4, 7 * ONE // 12
    assert one.rows == [
        [(0, 6 * (ONE // 3)), (2, 6 * (2 * ONE // 3)), (1, -6 * quarters[0]), (3, -6 * (quarters[1] + 1))],
        [(1, 6 * ONE), (0, -6 * (5 * ONE // 3 + 1)), (2, -6 * (2 * ONE // 3 + 1))],
    ]


def test_multipliers_are_subtracted() -> None:
    one = search()
    one.rows = [[(0, 2), (3, -5)], [(3, 7)]]
    slopes = [1, 2, 3, 4]
    one.subtract(slopes, [(0, 10), (1, 100)])
    assert slopes == [-19, 2, 3, 4 + 50 - 700]
    one.subtract(slopes, [])
    assert slopes == [-19, 2, 3, -646]


LIMITS = [((3, 4, 7), (8, 9, -2)), ((1, 2, 3), None), ((5, 6, 2), (10, 12, 30)), ((0, 0, 0), (20, 21, 100))]


@pytest.mark.parametrize("slopes", [[0, 0, 0, 0], [4, 9, -6, 9], [-4, -9, 6, 0], [10**60, 0, 10**60, 1]])
@pytest.mark.parametrize("block", [0, 1])
def test_what_a_leaf_of_a_block_adds(slopes: list[int], block: int) -> None:
    """The larger one of both ends of each input, in its block with p v log v; outside with u' alone."""
    one = search()
    one.rows = [[(0, 3), (1, 2), (3, 1)], [(2, -4), (3, 5)]]
    for u in ([], [(0, 1)], [(1, 2)], [(0, 3), (1, 1)]):
        expected: int | None = 0
        for z, (lo, hi) in enumerate(LIMITS):
            slope = slopes[z] if z in BLOCKS[block] else 0
            slope -= sum(number * dict(one.rows[i]).get(z, 0) for i, number in u)
            weight = WEIGHTS[z] * UNIT * ONE if z in BLOCKS[block] else 0
            ends = [weight * end[2] + max(slope * end[0], slope * end[1]) for end in (lo, hi) if end is not None]
            if hi is None and slope > 0:
                expected = None
            elif expected is not None:
                expected += max(ends)
        before = list(slopes)
        assert one.part(part(*u), box(*LIMITS), BLOCKS[block], slopes) == expected
        assert slopes == before


def test_no_upper_limit_is_finite_up_to_a_slope_of_0() -> None:
    one = search()
    for slope, expected in ((-2, -2), (0, 0), (1, None)):
        limits = [((0, 0, 0), (0, 0, 0)), ((1, 1, 9), None), ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 0))]
        assert one.part(part(), box(*limits), BLOCKS[1], [0, slope, 0, 0]) == expected
        assert one.part(part(), box(*limits), BLOCKS[0], [0, slope, 0, 0]) == 0
        one.rows = [[(1, -slope)]]
        assert one.part(part((0, 1)), box(*limits), BLOCKS[0], [0] * 4) == expected


# -- leaves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [(7, 3), (1, 1), (1, 9)])
def test_what_a_leaf_of_a_case_has_to_spare(t: tuple[int, int]) -> None:
    one = search([Fraction(1, 7), 0, 3, 0])
    root = one.roots()[0]
    told: list[Any] = []

    def largest(*own: Any) -> Any:
        told.append(own)
        return next(given)

    one.largest = largest
    rise = UNIT * TOTAL * up(t[0] * ONE, t[1]) * ONE
    made = case(t, [(1, 2)], [split(0), part((0, 1)), part(), part((1, 1))])
    for answers, holds in (
        ([0, -rise], True),
        ([-rise - 9, 9], True),
        ([-rise, 1], False),
        ([1, -rise], False),
        ([None, -9 * rise], False),
        ([-9 * rise, None], False),
    ):
        given = iter(answers)
        assert one.holds(made, root) == holds
    rate = ONE + checker.log_bounds(*t)[0]
    slopes = [a - weight * UNIT * rate for a, weight in zip(one.minus_a, WEIGHTS, strict=True)]
    one.subtract(slopes, [(1, 2)])
    assert told[0] == ([split(0), part((0, 1)), part()], root, BLOCKS[0], slopes)
    assert told[1] == ([part((1, 1))], root, BLOCKS[1], slopes)


def test_the_largest_over_the_leaves_of_a_block_that_are_not_closed() -> None:
    one = search()
    root = one.roots()[0]
    limit = one.limit
    told: list[Any] = []

    def record(token: Any, own: Any, block: Any, slopes: Any) -> Any:
        told.append((token.u[0][0], own.lower[2], own.upper[2]))
        assert (block, slopes) == ([0, 2], "slopes")
        return answers[token.u[0][0]]

    one.part = record
    tree = [split(2, Fraction(1, 3)), part((0, 1)), split(2, 2), part((1, 1)), part((2, 1))]
    zero, third, most = (0, 0, 0), limit((1, 3)), limit((2, 3))
    for answers, expected in (([-5, -3, 9], -3), ([-3, -5, 9], -3), ([None, 1, 9], None), ([1, None, 9], None)):
        told.clear()
        assert one.largest(tree, root, [0, 2], "slopes") == expected
        assert told == [(0, zero, third), (1, third, most)][: 1 if answers[0] is None else 2]
    assert one.largest([part((2, 1))], root, [0, 2], "slopes") == 9
    # Up to its upper end both sides are there.
    told.clear()
    assert one.largest([split(2, Fraction(2, 3)), part((0, 1)), part((2, 1))], root, [0, 2], "slopes") == 9
    assert told == [(0, zero, most), (2, most, most)]


def test_trees_that_follow_one_another() -> None:
    a, b, c = part((0, 1)), part((1, 1)), part((2, 1))
    assert list(checker._trees([a, split(0), b, split(1), c, a, b])) == [[a], [split(0), b, split(1), c, a], [b]]
    assert list(checker._trees([split(0), a])) == []
    assert list(checker._trees([])) == []


def test_the_parts_of_a_leaf() -> None:
    def why(*tokens: Any) -> str:
        return refused(lambda: checker._check_parts(case(parts=tokens), BLOCKS, 4))

    assert why(part(), part()) == ""
    assert why(split(2), part(), split(0), part(), part(), split(3), part(), part()) == ""
    assert why(part()) == "proof.cases[4].parts: ends with 1 subtrees missing"
    assert why(part(), part(), part()) == "proof.cases[4].parts[2]: the tree was complete before this element"
    for tokens, z, s in (
        ((split(1), part(), part(), part()), 1, 0),
        ((part(), split(2), part(), part()), 2, 1),
        ((part(), split(3), split(0), part(), part(), part()), 0, 1),
    ):
        assert why(*tokens) == f"proof.cases[4].parts: branches on input {z} in the tree of block {s}"


def test_so_many_trees() -> None:
    def why(tree: list[Any], *roots: int) -> str:
        return refused(lambda: checker._check_coverage(tree, "cases", *roots))

    one = case()
    assert why([one, split(0), one, one], 2) == ""
    assert why([one, one], 3) == "proof.cases: ends with 1 subtrees missing"
    assert why([one, one], 1) == "proof.cases[1]: the tree was complete before this element"
    assert why([one]) == ""
    assert why([split(0), one]) == "proof.cases: ends with 1 subtrees missing"


def test_the_walk_through_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each leaf the parts are looked at; the inequality where it is not closed."""
    leaves = [case(u=[(0, n)]) for n in range(5)]
    tokens = [split(2, Fraction(1, 2)), leaves[0], split(0, 2), leaves[1], leaves[2], leaves[3], leaves[4]]
    seen: list[Any] = []
    parts: list[Any] = []
    failing: list[Any] = []

    def holds(self: Any, own: Any, at: Any) -> bool:
        seen.append((own, at.lower, at.upper))
        return own not in failing

    monkeypatch.setattr(checker._Cases, "holds", holds)
    monkeypatch.setattr(checker, "_check_parts", lambda own, blocks, i: parts.append((own, blocks, i)))
    one = search()
    roots = one.roots()
    half = one.limit((1, 2))
    check: Callable[[], None] = lambda: checker._check_cases(problem(), proof(cases=tokens), SETS)  # noqa: E731
    assert refused(check) == ""
    assert parts == [(own, BLOCKS, tokens.index(own)) for own in leaves]
    zero = (0, 0, 0)
    assert [own for own, _, _ in seen] == [leaves[0], leaves[1], leaves[3], leaves[4]]
    assert seen[0][1:] == (roots[0].lower, [*roots[0].upper[:2], half, roots[0].upper[3]])
    assert seen[1][1:] == ([(ONE, ONE, 0), zero, half, zero], roots[0].upper)
    assert [own[1:] for own in seen[2:]] == [(root.lower, root.upper) for root in roots[1:]]
    for place in (0, 1, 3, 4):
        failing[:] = [leaves[place]]
        assert refused(check) == f"proof.cases[{tokens.index(leaves[place])}]: the inequality of this leaf fails"
    failing[:] = [leaves[2]]
    assert refused(check) == ""


# -- the reader ----------------------------------------------------------------------------------------

VALUE: Any = {
    "kind": "column-dual",
    "prices": ["1", "0", "-1", "1/2"],
    "unit": "5",
    "cuts": [{"pair": [0, 1], "first": ["1", "2"], "second": ["3", "1"]}],
    "cases": [
        [3, "2/3"],
        {"t": "3/4", "u": [[0, 7]], "parts": [[0, "2"], {"u": []}, {"u": [[0, 1]]}, {"u": [[0, 2]]}]},
        {"t": "1", "u": [], "parts": [{"u": []}]},
    ],
}


def read(value: Any = VALUE) -> Any:
    return checker._read_cases(value, "proof", problem(), SETS, checker._Rationals())


def unreadable(value: Any = VALUE) -> str:
    with pytest.raises(checker.Unreadable) as error:
        read(value)
    return str(error.value)


def test_cases_as_they_are_read() -> None:
    found = read()
    assert (found.kind, found.unit, found.prices) == ("column-dual", 5, [1, 0, -1, Fraction(1, 2)])
    assert found.cuts == CUTS[:1]
    assert found.boxes == []
    assert found.cases == [
        split(3, Fraction(2, 3)),
        case((3, 4), [(0, 7)], [split(0, 2), part(), part((0, 1)), part((0, 2))]),
        case((1, 1), [], [part()]),
    ]
    assert isinstance(found.cases[1], checker._CaseLeaf)
    assert isinstance(found.cases[1].parts[1], checker._PartLeaf)


@pytest.mark.parametrize(
    ("constant", "most", "name"),
    [
        ("MAX_BOX_INPUTS", 4, "proof.cases: k inputs of cases: 4"),
        ("MAX_PRODUCT", 8, "proof.cases: tree nodes: 8"),
        ("MAX_SEARCH", 32, "proof.cases: k * tree nodes: 32"),
        ("MAX_WORK", 12, "proof.cases: k * entries of u in all leaves together: 12"),
    ],
)
def test_limits_at_their_ends(constant: str, most: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, constant, most)
    assert len(read().cases) == 3
    monkeypatch.setattr(checker, constant, most - 1)
    assert unreadable() == f"{name} is beyond the limit of {most - 1}"


def test_the_reader_of_proofs_takes_cases_from_version_4_on() -> None:
    def why(value: Any, version: int, own: Any = None) -> str:
        try:
            checker._read_proof(value, "proof", own or problem(), checker._Rationals(), version)
        except checker.Unreadable as error:
            return str(error)
        return ""

    assert why(VALUE, 4) == ""
    assert why(VALUE, 3) == "proof: the key 'boxes' is missing"
    assert why({**VALUE, "boxes": []}, 4) == "proof: the key 'boxes' is unknown here"
    without = {key: own for key, own in VALUE.items() if key != "cases"}
    assert why(without, 4) == "proof: the key 'boxes' is missing"
    assert why({**without, "boxes": [{"n": 0, "f": [], "u": []}]}, 4) == ""
    free = checker._Cone("free", (Fraction(1), Fraction(1)), {}, None, "")
    assert why(VALUE, 4, replace(problem(), cone=free)) == "proof: the key 'boxes' is missing"
    assert why(VALUE, 4, replace(problem(), utility="bayes")) == "proof: the key 'flows' is missing"


# -- the whole -----------------------------------------------------------------------------------------


def test_claims_are_proved() -> None:
    for made in (*MADE.values(), loose([BOTH] * 4), loose([leaf(PART, [3, "1"], PART, PART), BOTH], ZEROS)):
        assert check_bytes(encode(made)).proved


@pytest.mark.parametrize("name", REFUTED)
def test_damage_is_refused(name: str) -> None:
    made, words = REFUTED[name]
    verdict = check_bytes(encode(made))
    assert verdict.status == "REFUTED"
    assert words in verdict.reason
