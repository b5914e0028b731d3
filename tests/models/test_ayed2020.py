"""Ayed et al.: the printed scenarios, their counts in the best order, and the figures made again."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from drawing import graded
from rropt.models import ayed2020 as paper
from rropt.models.claims.ayed.priors import KINDS, least_gain, outputs, usual_is_best
from rropt.models.claims.ayed.tables import best_value

import rropt as rr
from rropt.exact import ball
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism


def direct(p: np.ndarray, matrix: np.ndarray) -> float:
    """Mutual information in nats from its definition."""
    joint = p[:, None] * matrix
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(matrix / (p @ matrix))
    return float(np.nansum(terms))


def test_priors_are_the_printed_ones() -> None:
    for name, size in (("I", 10), ("II", 10), ("III", 30), ("IV", 30)):
        prior = paper.prior(name)
        assert len(prior) == size
        assert sum(prior.probabilities) == 1
    assert paper.prior("IV").probabilities[0] == Fraction(1, 20)
    assert paper.prior("III", 1).weights != paper.prior("III", 2).weights
    with pytest.raises(rr.InputError, match="use I, II, III or IV"):
        paper.prior("V")


def test_the_formula_is_the_information_of_the_matrix() -> None:
    rng = np.random.default_rng(5)
    for size in (3, 7):
        p, q = rng.dirichlet(np.ones(size)), rng.uniform(0.05, 0.6, size)
        exact = [Fraction(one) for one in q]
        assert paper.information(p.tolist(), q.tolist()) == pytest.approx(direct(p, paper.matrix(exact)), abs=1e-14)


@pytest.mark.parametrize("counts", [(2, 2, 0, 0), (0, 3, 0, 1), (4, 0, 0, 0), (3, 0, 1, 0)])
def test_the_best_order_of_counts_is_that_of_all_orders(counts: tuple[int, ...], monkeypatch) -> None:
    monkeypatch.setitem(paper.SCENARIOS, "I", ("0.4", "0.3", "0.2", "0.1"))
    ratio = Fraction(3, 2)
    four = paper.values(4, ratio)
    flat = [value for value, count in zip(four, counts, strict=True) for _ in range(count)]
    p = np.array([0.4, 0.3, 0.2, 0.1])
    best = max(direct(p, paper.matrix(order)) for order in set(permutations(flat)))
    known = paper.arrangements("I", counts, ratio)
    assert max(direct(p, paper.matrix(q)) for q in known) == pytest.approx(best, abs=1e-15)


def test_counts_that_are_not_private_or_do_not_sum_have_no_order() -> None:
    ratio = Fraction(3, 2)
    assert paper.arrangements("I", (9, 0, 0, 1), ratio) == []
    assert paper.arrangements("I", (9, 0, 0, 0), ratio) == []
    assert best_value("I", (11, 0, 0, 0), "1") is None
    found = best_value("IV", (0, 29, 0, 1), "0.5")
    assert found is not None
    p = np.array([float(one) for one in paper.prior("IV").probabilities])
    assert found[0].lower == pytest.approx(direct(p, paper.matrix(found[1])), abs=1e-12)


def test_counting_reads_the_optimum() -> None:
    solution = paper.optimum("IV", "1")
    assert solution.status == "certified"
    assert isinstance(solution.mechanism, OffDiagonalMechanism)
    assert paper.counted(solution.mechanism, "1") == (30, 0, 0, 0)


def test_a_table_shows_published_and_certified_counts() -> None:
    rows = paper.table(4).csv().splitlines()
    assert rows[0].startswith("alpha,published #v_alpha,")
    assert rows[1].split(",")[:9] == ["0.5", "0", "29", "0", "1", "30", "0", "0", "0"]
    low, high = map(float, rows[1].split(",")[9:])
    assert low == pytest.approx(0.00309932, rel=1e-5)
    assert high == pytest.approx(0.00550158, rel=1e-5)
    with pytest.raises(rr.InputError, match="there are 1 to 4"):
        paper.table(5)


# -- the proof for every prior -------------------------------------------------------------------------------


def vertex(size: int, g: float, kind: str, number: int) -> np.ndarray:
    """A matrix of each kind of `ayed_priors`, with `number` rows at v_-alpha for the second."""
    usual, low, least, most = (float(one) for one in paper.values(size, Fraction(g)))
    q = {
        "one v_min": [least] + [usual] * (size - 1),
        "some v_-alpha": [low] * number + [usual] * (size - number),
        "one v_max": [most] + [low] * (size - 1),
    }[kind]
    return paper.matrix([Fraction(one) for one in q])


@pytest.mark.parametrize("kind", KINDS)
def test_two_point_priors_are_the_worst(kind: str) -> None:
    """Against random priors of every concentration, where the proof says that v_alpha everywhere is best."""
    size, alpha = 30, "1.5"
    assert usual_is_best(size, alpha)[kind]
    g = math.exp(float(alpha))
    usual = paper.matrix([Fraction(g / (g + size - 1))] * size)
    rng = np.random.default_rng(7)
    for _ in range(300):
        p = rng.dirichlet(np.full(size, rng.choice([0.03, 0.2, 1.0, 20.0])))
        other = vertex(size, g, kind, int(rng.integers(2, size)))
        assert direct(p, usual) > direct(p, other) - 1e-13
    p = np.zeros(size)
    p[0], p[-1] = 0.3, 0.7
    advantage = direct(p, usual) - direct(p, vertex(size, g, kind, 2))
    assert float(least_gain(size, alpha, kind, Fraction(3, 10))) == pytest.approx(advantage, abs=1e-12)


def test_what_is_false_is_not_proved() -> None:
    """At S = 10, alpha = 2 one v_max is better at a prior near one point; beyond S - 2 the list is not complete."""
    assert usual_is_best(10, "2") == {"one v_min": True, "some v_-alpha": True, "one v_max": False}
    assert least_gain(10, "2", "one v_max", Fraction(1, 1000)) < 0
    assert not any(usual_is_best(4, "1").values())


def test_rows_of_the_proof_sum_to_one() -> None:
    for kind in KINDS:
        table = outputs(6, ball(Fraction(2)), kind)
        for at in range(4):
            total = sum(row[at] * row[4] for row in table)
            assert abs(total - 1) < 1e-12


# -- figures ---------------------------------------------------------------------------------------------------


def test_estimates_scatter_about_the_truth() -> None:
    p = np.array([0.5, 0.3, 0.2])
    matrix = paper.matrix([Fraction(2, 3)] * 3)
    found = paper.estimates(p, matrix, 20_000, 40, (1, 2))
    assert found.shape == (40, 3)
    assert np.allclose(found.sum(1), 1)
    assert np.all(np.abs(found.mean(0) - p) < 0.01)


@pytest.mark.parametrize("number", [4, 5, 6])
def test_figures_have_their_panels(number: int) -> None:
    figure = paper.figure(number, draws=2, points=5)
    assert len(figure.panels) == {4: 4, 5: 6, 6: 1}[number]
    assert figure.svg().startswith("<svg")
    rows = figure.csv().splitlines()
    assert rows[0] == "panel,curve,x,y,bound,draws"
    names = {row.split(",")[1] for row in rows[1:]}
    assert names >= ({"true p"} if number < 6 else {"plug-in estimate", "true information"})
    if number == 4:
        assert {"published counts", "certified optimum"} <= {row.split(",")[1] for row in rows}


@pytest.mark.parametrize("number", graded([5], [4]))
def test_every_run_has_its_stars(number: int) -> None:
    """One for each category and run; the mean of a category's stars is the shown mean."""
    runs = 3
    for panel in paper.figure(number, draws=runs).panels:
        curves = {curve.name: curve for curve in panel.curves}
        stars = [name for name in curves if name.endswith("one run")]
        assert len(stars) == (2 if number == 4 else 1)
        for name in stars:
            mean = curves[name.removesuffix(", one run") if number == 4 else "mean estimate"]
            assert len(curves[name].x) == runs * len(mean.x)
            for x, y in zip(mean.x, mean.y, strict=True):
                own = [v for at, v in zip(curves[name].x, curves[name].y, strict=True) if at == x]
                assert np.mean(own) == pytest.approx(y, abs=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_fact_1_is_privacy(size: int) -> None:
    """On random vectors q, and on the boundary values, which meet a row with equality."""
    rng = np.random.default_rng(size)
    rows, bounds = paper.fact_1(size, "0.7")
    g = rr.LDP("0.7").level.ratio.lower
    usual, other, _, _ = paper.values(size, g)
    assert len(rows) == len(bounds) == size * (size - 1) * (3 if size > 2 else 2)
    seen = set()
    drawn = [
        [Fraction(int(n), 997) for n in rng.integers(low, high, size)] for low, high in 60 * [(1, 996), (150, 420)]
    ]
    near = [[usual + Fraction(int(n), 400) for n in rng.integers(-12, 12, size)] for _ in range(60)]
    for q in [[usual] * size, [other] * size, *drawn, *near]:
        lines = [[q[x] if x == y else (1 - q[x]) / (size - 1) for y in range(size)] for x in range(size)]
        private = rr.Mechanism.from_rationals(lines, inputs=range(size), outputs=range(size)).privacy_ratio <= g
        gaps = [sum(a * b for a, b in zip(row, q, strict=True)) - c for row, c in zip(rows, bounds, strict=True)]
        assert private == (max(gaps) <= 0)
        seen.add(private)
        if q in ([usual] * size, [other] * size):
            assert max(gaps) == 0
    assert seen == {True, False}


def test_the_information_at_the_ends_of_figure_6_is_the_largest() -> None:
    (panel,) = paper.figure(6, draws=1, points=11).panels
    exact = panel.curves[1].y
    assert max(exact) in (exact[0], exact[-1])
    assert min(exact) == pytest.approx(0, abs=1e-15)


def test_bad_figures_are_refused() -> None:
    with pytest.raises(rr.InputError, match="there are 1 to 6"):
        paper.figure(7)
    with pytest.raises(rr.InputError, match="positive"):
        paper.figure(1, draws=0)
