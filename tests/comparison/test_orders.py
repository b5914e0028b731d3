"""Less noisy and more capable: known thresholds of erasure and symmetric channels, witnesses recomputed."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from drawing import Rows, exact, information_ball, near_flat_rows, random_rows, two_valued_rows
from flint import ctx

import rropt as rr
from rropt.comparison.orders.curvature import Curvature
from rropt.comparison.orders.orders import Chords, InformationGap, Ordering
from rropt.comparison.orders.simplices import cover
from rropt.exact import Interval

F = Fraction


def made(rows: Rows) -> rr.Mechanism:
    return exact(rows, [f"x{at}" for at in range(len(rows))], [f"y{at}" for at in range(len(rows[0]))])


def erasure(k: int, lost: str) -> rr.Mechanism:
    """The input is told, or nothing at all with probability `lost`."""
    return made([[F(lost)] + [(1 - F(lost)) * (x == y) for y in range(k)] for x in range(k)])


def symmetric(flip: str) -> rr.Mechanism:
    return made([[1 - F(flip), F(flip)], [F(flip), 1 - F(flip)]])


def divided(mechanism: rr.Mechanism, shares: tuple[Fraction, ...]) -> list[Fraction]:
    return [
        sum((p * q for p, q in zip(shares, mechanism.column(y), strict=True)), F(0))
        for y in range(len(mechanism.outputs))
    ]


def confirm(found: Ordering, a: rr.Mechanism, b: rr.Mechanism) -> None:
    """A witness is computed again, by another formula and at more precision."""
    if found.holds is not False:
        return
    values = []
    for mechanism in (a, b):
        sides = found.witness.distributions
        if len(sides) == 1:
            prior = rr.Prior.from_probabilities(list(sides[0]), labels=list(mechanism.inputs))
            values.append(information_ball(mechanism, prior))
        else:
            both = made([divided(mechanism, side) for side in sides])
            values.append(information_ball(both, rr.Prior.uniform(["x0", "x1"])))
    assert values[0] < values[1]


# BEC(e) against BSC(1/10): Blackwell up to e = 2p, less noisy up to 4p(1 - p), more capable up to h(p) = 0.46899...
@pytest.mark.parametrize(
    ("lost", "blackwell", "less", "more"),
    [
        ("0.2", True, True, True),
        ("0.2000000001", False, True, True),
        ("0.36", False, True, True),
        ("0.3601", False, False, True),
        ("0.4689", False, False, True),
        ("0.4691", False, False, False),
    ],
)
def test_the_three_thresholds_of_erasure_against_flips(lost: str, blackwell: bool, less: bool, more: bool) -> None:
    a, b = erasure(2, lost), symmetric("0.1")
    assert bool(rr.ordering.dominates(a, b)) is blackwell
    for found, wanted in ((rr.ordering.less_noisy(a, b), less), (rr.ordering.more_capable(a, b), more)):
        assert found.holds is wanted
        confirm(found, a, b)


@pytest.mark.parametrize("k", [3, 4])
def test_erasure_against_randomised_response(k: int) -> None:
    """Erasure is less noisy exactly up to 1 - the contraction coefficient of b; for k-RR at 3 and k = 3 that is 4/5."""
    b = made(two_valued_rows(k, F(3)))
    a = erasure(k, "0.75")
    assert not rr.ordering.dominates(a, b)
    assert rr.ordering.less_noisy(a, b).holds is True
    assert rr.ordering.more_capable(a, b).holds is True
    far = erasure(k, "0.95")
    for found in (rr.ordering.less_noisy(far, b), rr.ordering.more_capable(far, b)):
        assert found.holds is False
        confirm(found, far, b)


def test_at_a_threshold_it_is_undecided_and_says_so() -> None:
    found = rr.ordering.less_noisy(erasure(3, "0.8"), made(two_valued_rows(3, F(3))), pieces=200)
    assert found.holds is None
    assert found.pieces == 200
    with pytest.raises(rr.RroptError, match=r"undecided \(open after 200 pieces\); use .holds"):
        bool(found)


def test_the_proofs_do_not_close_beyond_the_threshold() -> None:
    """Just where the order fails the cutting goes on for ever; just before, it ends."""
    b = made(two_valued_rows(3, F(3)))
    flips = symmetric("0.1")

    def outcome(settled: object, size: int) -> str:
        return cover(size, settled, lambda point: False, 600).outcome

    assert outcome(Curvature(erasure(3, "0.79"), b).settled, 3) == "covered"
    assert outcome(Curvature(erasure(3, "0.81"), b).settled, 3) == "open"
    with ctx.workprec(128):
        assert outcome(Chords(erasure(2, "0.4689"), flips).settled, 2) == "covered"
        assert outcome(Chords(erasure(2, "0.4691"), flips).settled, 2) == "open"
    assert Curvature(erasure(2, "0.36"), flips).binary()
    assert not Curvature(erasure(2, "0.36000000000000000000000000001"), flips).binary()


def test_a_mechanism_with_zeros_or_many_inputs_is_not_proved_below() -> None:
    a, b = erasure(3, "0.3"), erasure(3, "0.2")
    assert rr.ordering.less_noisy(a, b).holds is False
    five = rr.ordering.less_noisy(erasure(5, "0.8"), made(two_valued_rows(5, F(3))))
    assert five.holds is None
    assert "at most 4 inputs" in five.because


@pytest.mark.parametrize("k", [2, 3])
def test_the_orders_imply_each_other(k: int) -> None:
    """Blackwell, less noisy, more capable: never the weaker one without the stronger; and every 'no' has its proof."""
    rng = random.Random(f"orders {k}")
    said = set()
    for _ in range(14):
        b = made(near_flat_rows(rng, k, rng.randint(2, 4)))
        share = F(rng.randint(0, 9), 10)
        mixed = [
            [share * q + (1 - share) * r for q, r in zip(one, other, strict=True)]
            for one, other in zip(
                [[b.entry(x, y) for y in range(len(b.outputs))] for x in range(k)],
                random_rows(rng, k, len(b.outputs)),
                strict=True,
            )
        ]
        a = made(mixed)
        blackwell, less, more = (
            bool(rr.ordering.dominates(a, b)),
            rr.ordering.less_noisy(a, b, pieces=300),
            rr.ordering.more_capable(a, b, pieces=300),
        )
        confirm(less, a, b)
        confirm(more, a, b)
        said |= {less.holds, more.holds}
        assert not (blackwell and not less.holds)
        assert not (less.holds and more.holds is False)
    assert {True, False} <= said


def test_truth_agrees_with_a_grid_of_priors() -> None:
    """What is proved for all priors holds on a grid of them, by the plain formula."""
    a, b = made(two_valued_rows(3, F(7, 2))), rr.mechanisms.SubsetSelection(3, gamma=3, t=2).to_mechanism()
    b = exact([[b.entry(x, y) for y in range(3)] for x in range(3)], a.inputs, b.outputs)
    found = rr.ordering.more_capable(a, b)
    assert found.holds is True
    for i in range(1, 12):
        for j in range(1, 12 - i):
            prior = rr.Prior.from_counts([i, j, 12 - i - j], labels=list(a.inputs))
            assert a.mutual_information(prior).upper >= b.mutual_information(prior).lower


def test_a_witness_that_does_not_separate_is_refused() -> None:
    same = Interval.point(F(1))
    with pytest.raises(ArithmeticError):
        InformationGap(((F(1), F(0)),), same, same)


def test_the_pieces_cover_the_simplex() -> None:
    """Pieces of a full cut have the volume of the whole, halved again and again."""
    for size in (2, 3, 4):
        volumes = []

        def small(simplex: object, volumes: list[Fraction] = volumes, size: int = size) -> bool:
            longest = max(math.dist(p.floats, q.floats) for p in simplex for q in simplex)
            if longest < 0.6:
                rows = [point.shares for point in simplex]
                volumes.append(abs(determinant([list(row) for row in rows])))
                return True
            return False

        result = cover(size, small, lambda point: False, 10**5)
        assert result.outcome == "covered"
        assert sum(volumes) == 1
        assert cover(size, lambda simplex: False, lambda point: True, 9).outcome == "refuted"
        assert cover(size, lambda simplex: False, lambda point: False, 9).outcome == "open"


def determinant(rows: list[list[Fraction]]) -> Fraction:
    if len(rows) == 1:
        return rows[0][0]
    return sum(
        ((-1) ** j * rows[0][j] * determinant([row[:j] + row[j + 1 :] for row in rows[1:]]) for j in range(len(rows))),
        F(0),
    )


def test_pieces_must_be_a_positive_integer() -> None:
    a = symmetric("0.1")
    for wrong in (0, True, 1.5):
        with pytest.raises(rr.InputError, match="not a positive integer"):
            rr.ordering.less_noisy(a, a, pieces=wrong)
