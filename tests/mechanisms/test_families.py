"""The parametrised bistochastic matrices: rates, parameters from rates, chains, and the published table."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from drawing import exact, random_rows
from rropt.models import ruiz2021

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families import bistochastic as families, chains
from rropt.mechanisms.mechanism import Mechanism

F = Fraction
FAMILIES = [families.response_family, families.keep_family, families.tridiagonal_family, families.anatomy_family]


def float_rate(matrix: np.ndarray) -> float:
    """The mean entropy of the rows over log k, in floats."""
    positive = matrix[matrix > 0]
    return -float((positive * np.log(positive)).sum()) / len(matrix) / math.log(len(matrix))


def bistochastic(mechanism: Mechanism) -> bool:
    return rr.patterns.Bistochastic().violation(mechanism) == 0


# -- the table -----------------------------------------------------------------------------------------

TRUE = {
    "dp": lambda e: _kept(math.exp(e) / (11 + math.exp(e))),
    "kanonymity": lambda k: math.log(k) / math.log(12),
    "tridiagonal": lambda a: (
        (
            10 * (-(1 - 2 * a) * math.log(1 - 2 * a) - 2 * a * math.log(a))
            + 2 * (-(1 - a) * math.log(1 - a) - a * math.log(a))
        )
        / 12
        / math.log(12)
    ),
    "circulant": lambda p: _kept(p),
}


def _kept(p: float) -> float:
    return (-p * math.log(p) - (1 - p) * math.log((1 - p) / 11)) / math.log(12)


def test_table_1_is_derived_cell_by_cell() -> None:
    cells = ruiz2021.table_1()
    assert len(cells) == 12
    for cell in cells:
        assert cell.percent.upper - cell.percent.lower < F(1, 10**12)
        assert float(cell.percent) == pytest.approx(100 * TRUE[cell.row](float(cell.value)), abs=1e-6)
    wrong = {(cell.row, str(cell.value)): round(float(cell.percent), 6) for cell in cells if not cell.confirmed}
    assert wrong == {
        ("kanonymity", "3"): 44.211411,
        ("tridiagonal", "3/10"): 40.614297,
        ("circulant", "9/10"): 22.732142,
        ("circulant", "3/5"): 65.683344,
        ("circulant", "1/5"): 97.336399,
    }
    written = ruiz2021.table(1).csv().splitlines()
    assert len(written) == 13
    assert written[5].startswith("kanonymity,k,3,44.211410870,56,False")
    with pytest.raises(InputError, match="there is no table"):
        ruiz2021.table(2)
    # What the remarks say of the two cells whose figure belongs to another parameter.
    assert round(100 * TRUE["kanonymity"](4)) == 56
    assert round(100 * TRUE["tridiagonal"](0.2)) == 35
    assert TRUE["tridiagonal"](0.4) < TRUE["tridiagonal"](0.3)


def test_the_figure_shows_every_family_beside_the_optimum() -> None:
    figure = ruiz2021.truth_figure(["0.2", "0.4"], 4)
    ElementTree.fromstring(figure.svg())
    curves = {curve.name: curve for curve in figure.panels[0].curves}
    assert list(curves) == [*ruiz2021.kept_truth("0.2", 4), "certified optimum"]
    best = curves["certified optimum"]
    for value, bound in zip(best.y, best.bounds, strict=True):
        assert value is not None
        assert bound is not None
        assert 0 <= bound - value <= 1e-9
    for curve in curves.values():
        assert all(share is None or share <= bound + 1e-12 for share, bound in zip(curve.y, best.bounds, strict=True))  # type: ignore[operator]
    assert all(name in figure.svg() for name in curves)


@pytest.mark.parametrize(("number", "points"), [(0, 5), (4, 5), (1, 1)])
def test_figures_that_there_are_not(number: int, points: int) -> None:
    with pytest.raises(InputError):
        ruiz2021.figure(number, points=points)


@pytest.mark.parametrize("rate", ["0.1", "0.4", "0.7", "0.95"])
def test_the_optimum_keeps_at_least_the_truth_of_every_family(rate: str) -> None:
    kept = ruiz2021.kept_truth(rate)
    solution = rr.Problem(
        rr.Maximize(rr.Trace()), [rr.patterns.Bistochastic(), rr.EntropyRate(rate)], inputs=range(ruiz2021.SIZE)
    ).solve(gap=1e-9)
    assert solution.bound is not None
    best = solution.bound / ruiz2021.SIZE
    for share in kept.values():
        assert share is None or share <= best + 1e-12
    assert kept["circulant matrix"] == pytest.approx(best, abs=1e-10)


# -- families ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FAMILIES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("size", [2, 3, 12])
def test_a_family_reaches_the_rate_that_is_asked_for_and_hardly_more(make: object, size: int) -> None:
    family = make(size)  # type: ignore[operator]
    for rate in ("0.05", "1/3", "0.5", "0.9"):
        far = family.make(family.high if family.rising else family.low)
        if families.beta(far).lower < F(rate):
            with pytest.raises(InputError, match="at most"):
                family.parameter(rate)
            continue
        parameter = family.parameter(rate)
        mechanism = family.at(parameter)
        assert bistochastic(mechanism)
        assert rr.EntropyRate(rate).violation(mechanism) <= 0
        found = families.beta(mechanism)
        assert found.lower >= F(rate) or found.upper - F(rate) < F(1, 10**30)
        assert float(found) == pytest.approx(float_rate(mechanism.matrix), abs=1e-12)
        if not family.whole:
            assert float(found) < float(F(rate)) + 1e-10 or parameter in (family.low, family.high)


@pytest.mark.parametrize("make", FAMILIES, ids=lambda make: make.__name__)
def test_the_rate_moves_one_way_in_the_parameter(make: object) -> None:
    family = make(7)  # type: ignore[operator]
    steps = 40 if not family.whole else int(family.high - family.low)
    values = [family.low + (family.high - family.low) * F(i, steps) for i in range(steps + 1)]
    rates = [float(families.beta(family.at(value))) for value in values]
    assert all(a <= b + 1e-15 if family.rising else a >= b - 1e-15 for a, b in itertools.pairwise(rates))


def test_bits_and_exact_ends() -> None:
    flat = families.keeping("1/5", 5)
    assert families.beta(flat).lower == families.beta(flat).upper == 1
    assert float(families.entropy_bits(flat)) == pytest.approx(math.log2(5), abs=1e-14)
    same = families.keeping(1, 5)
    assert families.beta(same).upper == 0
    assert families.has_rate(same, F(0))
    assert not families.has_rate(same, F(1, 10**30))
    halves = families.anatomy([["a", "b"], ["c", "d"]], categories=["d", "a", "c", "b"])
    assert halves.inputs == ("d", "a", "c", "b")
    assert halves.entry(0, 2) == F(1, 2)
    assert halves.entry(0, 1) == 0
    assert float(families.entropy_bits(halves)) == pytest.approx(1.0, abs=1e-14)


def test_classes_that_share_a_combination_have_a_row_for_each() -> None:
    """The paper's own case (after (3)): two rows and two columns, and the matrix is bistochastic as before."""
    shared = families.anatomy([["a", "b", "c"], ["c", "d"], ["b", "e"]], repeated=True)
    assert shared.inputs == shared.outputs == ("a", "b@1", "c@1", "c@2", "d", "b@3", "e")
    sizes, home = (3, 2, 2), (0, 0, 0, 1, 1, 2, 2)
    for x, y in itertools.product(range(7), repeat=2):
        assert shared.entry(x, y) == (F(1, sizes[home[x]]) if home[x] == home[y] else 0)
    assert bistochastic(shared)
    # 3 rows of log 3 and 4 of log 2.
    assert float(families.entropy_bits(shared)) == pytest.approx((3 * math.log2(3) + 4) / 7, abs=1e-14)
    # Without a common combination nothing is renamed.
    apart = [["a", "b"], ["c", "d"]]
    assert families.anatomy(apart, repeated=True) == families.anatomy(apart)


def test_the_matrices_are_those_of_the_paper() -> None:
    row = families.circulant(["1/2", "1/3", "1/6"], ["a", "b", "c"])
    assert [row.entry(1, y) for y in range(3)] == [F(1, 6), F(1, 2), F(1, 3)]
    chain = families.tridiagonal(["0.1", "0.3", "0.7"])
    assert [chain.entry(1, y) for y in range(4)] == [F(1, 10), F(3, 5), F(3, 10), 0]
    assert [chain.entry(3, y) for y in range(4)] == [0, 0, F(7, 10), F(3, 10)]
    for mechanism in (row, chain):
        assert bistochastic(mechanism)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: families.circulant([0.5, 0.4]), "not to one"),
        (lambda: families.circulant([]), "there are none"),
        (lambda: families.circulant([1.5, -0.5]), "not a probability"),
        (lambda: families.circulant("half"), "not a list"),
        (lambda: families.circulant([0.5, 0.5], ["a", "b", "c"]), "3 categories for 2 rows"),
        (lambda: families.tridiagonal([0.6, 0.5]), "more than one"),
        (lambda: families.keeping(1.2, 3), "not a probability"),
        (lambda: families.anatomy([["a", "b"], ["b"]]), "two blocks"),
        (lambda: families.anatomy([["a", "b"], ["b", "b@1"]], repeated=True), "two blocks"),
        (lambda: families.anatomy([["a"], ["b"]], categories=["a", "b", "c"]), "no block holds c"),
        (lambda: families.anatomy([["a"], ["b"]], categories=["a"]), "two|2|distinct|at least"),
        (lambda: families.anatomy([["a", "b"], ["c"]], categories=["a", "b"]), "c is not a category"),
        (lambda: families.anatomy("ab"), "not a list of blocks"),
        (lambda: families.classes_of(5, 6), "cannot be made"),
        (lambda: families.keep_family(4).at("0.1"), "out of range"),
        (lambda: families.anatomy_family(4).at("1.5"), "whole number"),
        (lambda: families.tridiagonal_family(12).parameter("0.5"), "at most"),
        (lambda: families.keep_family(4).parameter(2), "not a probability"),
        (lambda: rr.patterns.Blocks([["a", "b"], ["b"]]), "two blocks"),
        (lambda: rr.patterns.Blocks([]), "no blocks"),
        (lambda: rr.patterns.Blocks("ab"), "not a list"),
        (
            lambda: rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Blocks([["a"]])], inputs=["a", "b"]),
            "no block holds b",
        ),
        (
            lambda: rr.Problem(rr.Maximize(rr.Trace()), [rr.patterns.Blocks([["a", "b"], ["c"]])], inputs=["a", "b"]),
            "c is no",
        ),
    ],
)
def test_bad_input_is_one_clear_line(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


# -- chains --------------------------------------------------------------------------------------------


def test_ergodic_chains_and_their_repair() -> None:
    cycle = exact([[0, 1, 0], [0, 0, 1], [1, 0, 0]], list("abc"), list("abc"))
    blocks = families.anatomy([["a"], ["b", "c"]])
    chain = families.tridiagonal(["0.1"] * 4)
    assert [chains.is_ergodic(q) for q in (cycle, blocks, chain)] == [False, False, True]
    for mechanism in (cycle, blocks, chain):
        repaired = chains.ergodic_repair(mechanism, "1e-9")
        assert chains.is_ergodic(repaired)
        assert bistochastic(repaired)
        size = len(mechanism.inputs)
        assert min(min(repaired.column(y)) for y in range(size)) >= F(1, 10**9) / size
        assert chains.stationary(repaired) == (F(1, size),) * size
        assert abs(float(families.beta(repaired)) - float(families.beta(mechanism))) < 1e-7


def test_stationary_distributions_are_exact() -> None:
    rng = random.Random(4)
    for _ in range(20):
        size = rng.randint(2, 6)
        labels = [str(x) for x in range(size)]
        mechanism = exact(random_rows(rng, size, size), labels, labels)
        pi = chains.stationary(mechanism)
        assert sum(pi) == 1
        for y in range(size):
            assert sum(p * mechanism.entry(x, y) for x, p in enumerate(pi)) == pi[y]
        weighed = sum(
            float(p) * -sum(float(v) * math.log(v) for v in row if v)
            for p, row in zip(pi, zip(*map(mechanism.column, range(size)), strict=True), strict=True)
        )
        assert float(chains.entropy_rate(mechanism)) == pytest.approx(weighed, abs=1e-12)
    drain = exact([[F(1, 2), F(1, 2)], [0, 1]], list("ab"), list("ab"))
    assert chains.stationary(drain) == (0, 1)
    assert float(chains.entropy_rate(drain)) == 0.0


def test_several_stationary_distributions_are_refused() -> None:
    with pytest.raises(InputError, match="2 stationary distributions"):
        chains.stationary(families.anatomy([["a"], ["b", "c"]]))
    with pytest.raises(InputError, match="square"):
        chains.is_ergodic(exact([[1, 0, 0]] * 2, list("ab"), list("xyz")))


def test_what_can_be_inverted() -> None:
    good = chains.inversion(families.keeping("0.8", 4))
    assert good.dominant
    assert not good.singular
    assert good.warning is None
    # k-RR: the inverse is ((1 - b) on and -b off the diagonal) / (a - b).
    a, b = F(4, 5), F(1, 15)
    assert good.condition == pytest.approx(float(((1 - b) + 3 * b) / (a - b)), rel=1e-15)
    flat = chains.inversion(families.keeping("1/4", 4))
    assert flat.singular
    assert flat.condition == math.inf
    assert "cannot be inverted" in str(flat.warning)
    near = chains.inversion(families.keeping("0.2500001", 4))
    assert not near.singular
    assert "nearly singular" in str(near.warning)
    # The converse of Proposition 3 is false: small diagonals, and regular.
    swapped = chains.inversion(exact([[F(1, 10), F(9, 10)], [F(9, 10), F(1, 10)]], list("ab"), list("ab")))
    assert not swapped.dominant
    assert not swapped.singular


def test_a_dominant_diagonal_is_regular() -> None:
    rng = random.Random(9)
    for _ in range(30):
        size = rng.randint(2, 6)
        rows = random_rows(rng, size, size, zeros=0.3)
        mixed = [[F(rng.randint(51, 60), 100) * (x == y) for y in range(size)] for x in range(size)]
        for x in range(size):
            rest = 1 - mixed[x][x]
            for y in range(size):
                mixed[x][y] += rest * rows[x][y]
        labels = [str(x) for x in range(size)]
        found = chains.inversion(exact(mixed, labels, labels))
        assert found.dominant
        assert not found.singular


def test_large_matrices_have_their_condition_in_floats() -> None:
    found = chains.inversion(families.keeping("0.8", 70))
    a, b = 0.8, 0.2 / 69
    assert found.condition == pytest.approx(((1 - b) + 69 * b) / (a - b), rel=1e-9)
