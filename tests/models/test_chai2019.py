"""The dissertation's table and figures derived again: every published number, and the laws behind the pictures."""

from __future__ import annotations

import csv
import io
import itertools
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rropt.models import chai2019
from rropt.models.chai2019_estimators import customary_estimate, wide_design
from typer.testing import CliRunner

import rropt as rr
from rropt.cli.main import app
from rropt.declare.objectives import MinimaxRisk
from rropt.errors import InputError
from rropt.mechanisms.set_outputs import SubsetMixture
from rropt.mechanisms.set_outputs.families import best_sizes

F = Fraction
RATIOS = (F(11, 10), F(3, 2), F(2), F(5), F(10), F(20))


def height(k: int, g: Fraction, t: int) -> Fraction:
    """f of (6.8), as printed."""
    return k * k * (t * g * g + k - t) / (t * g + k - t) ** 2


def printed_rule(k: int, g: Fraction) -> int:
    """(6.9), as printed."""
    floor, ceiling = math.floor(k / (1 + g)), math.ceil(k / (1 + g))
    return floor if floor >= 1 and height(k, g, floor) >= height(k, g, ceiling) else ceiling


# -- Table 1 and q -------------------------------------------------------------------------------------


def test_the_rule_for_q_is_exact_for_every_gamma() -> None:
    """For k = 2, ..., 40 the sizes change exactly at `ties`: just below, at, and just above each, and between."""
    for k in range(2, 41):
        turns = chai2019.ties(k)
        assert all(high > low for high, low in pairwise(turns))
        for t, square in enumerate(turns, 1):
            assert turns[k - 2 - t] == 1 / square  # t and k - t change places when gamma does with 1 / gamma
            if square <= 1:
                continue
            root = F(math.isqrt(square.numerator * square.denominator << 60), square.denominator << 30)
            for ratio in (root - F(1, 1 << 24), root, root + F(1, 1 << 24)):
                if ratio <= 1:
                    continue
                found = chai2019.best_size(k, ratio)
                assert found == (t if ratio**2 >= square else t + 1)
                sizes = best_sizes(k, ratio)
                assert found == sizes[0] == printed_rule(k, ratio)
                assert (len(sizes) == 2) == (ratio**2 == square)
        for ratio in RATIOS:
            heights = [height(k, ratio, t) for t in range(1, k)]
            assert chai2019.best_size(k, ratio) == printed_rule(k, ratio) == 1 + heights.index(max(heights))


def test_where_two_sizes_tie_their_mixtures_are_minimax_too() -> None:
    """k = 10, gamma = 6: against "if and only if P_M = P_q" of Theorem 7.2."""
    assert chai2019.ties(10)[0] == 36
    assert best_sizes(10, F(6)) == (1, 2)
    weights = [F(0)] * 11
    weights[1], weights[2] = F(1, 3), F(2, 3)
    mixture = SubsetMixture(tuple("abcdefghij"), F(6), tuple(weights))
    assert mixture.minimax_risk() == chai2019.minimax_risk(10, 6) == chai2019.minimax_risk(10, 6, 2)
    assert chai2019.minimax_risk(10, 6, 3) > chai2019.minimax_risk(10, 6)


# -- risks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", RATIOS)
def test_minimax_risk_is_the_published_formula_and_that_of_the_design(ratio: Fraction) -> None:
    for k in (2, 3, 4, 7, 12, 40):
        for t in range(1, k):
            assert chai2019.minimax_risk(k, ratio, t) == (k - 1) ** 2 / (height(k, ratio, t) - k)
        assert chai2019.minimax_risk(k, ratio) == rr.mechanisms.SubsetSelection(k, gamma=ratio).minimax_risk()
        assert chai2019.minimax_risk(k, ratio) == min(chai2019.minimax_risk(k, ratio, t) for t in range(1, k))
        rough = chai2019.approximate_risk(k, ratio)
        assert rough <= chai2019.minimax_risk(k, ratio)
        assert (rough == chai2019.minimax_risk(k, ratio)) == (k % (1 + ratio) == 0)


@pytest.mark.parametrize("square", [F(9, 4), F(4), F(9), F(25)])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_efficiencies_by_brute_force_over_all_reports(k: int, square: Fraction) -> None:
    """At square gamma the shipped RAPPOR has no rounding: its risks from all 2^k reports, in rationals."""
    found = chai2019.efficiency(k, square)
    root = F(math.isqrt(square.numerator), math.isqrt(square.denominator))
    prior = rr.Prior.uniform(k)
    for channel, risk in (
        (rr.mechanisms.Rappor(k, gamma=square), found.rappor),
        (rr.mechanisms.Rappor(k, gamma=square, trimmed=True), found.trimmed),
        (rr.mechanisms.SubsetSelection(k, gamma=square), found.subset),
    ):
        assert channel.privacy_ratio == square
        assert risk in MinimaxRisk(prior).value(channel.to_mechanism())
    # (7.13) by definition: V / n scaled, over all subsets that basic RAPPOR reports.
    p = 1 / (root + 1)
    weights = [F(at + 1, k * (k + 1) // 2) for at in range(k)]
    total = F(0)
    for mask in range(1 << k):
        seen = [(mask >> j) & 1 for j in range(k)]
        chance = sum(
            (w * math.prod(1 - p if seen[j] == (j == x) else p for j in range(k)) for x, w in enumerate(weights)),
            F(0),
        )
        guess = [(root + 1) / (root - 1) * z - 1 / (root - 1) for z in seen]
        total += chance * sum(g * g for g in guess)
    spread = sum(w * w for w in weights)
    assert found.empirical - spread + F(1, k) == total - spread
    # (7.14), as printed.
    assert total - spread == k * root / (root - 1) ** 2 + 1 - spread
    skewed = rr.Prior.from_counts(list(range(1, k + 1)))
    less = spread - F(1, k)
    assert found.relative(skewed)[0] == (found.subset - less) / (found.empirical - less)


# -- the pictures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", sorted(chai2019.FIGURES))
def test_every_picture_shows_every_curve_by_name(number: int) -> None:
    sizes = {"sizes": (3, 5)} if number in (6, 7) else {}
    figure = chai2019.FIGURES[number](**sizes)
    tree = ElementTree.fromstring(figure.svg())
    texts = {node.text for node in tree.iter() if node.tag.endswith("text")}
    names = {part.name for panel in figure.panels for part in (*panel.curves, *panel.areas)}
    assert names <= texts
    if figure.table is None:
        rows = list(csv.DictReader(io.StringIO(figure.csv())))
        plain = {name.partition(" (")[0] for name in names}
        assert {row["curve"].partition(" (")[0] for row in rows} == plain
        assert all(math.isfinite(float(row["x"])) and math.isfinite(float(row["y"])) for row in rows)
    # Every drawn number lies in the picture.
    width, height = map(float, tree.attrib["viewBox"].split()[2:])
    count = 0
    for node in tree.iter():
        if node.tag.endswith("path") and " L" in node.get("d", ""):
            for pair in node.get("d", "").removesuffix(" Z").lstrip("M").split(" L"):
                x, y = map(float, pair.split(","))
                assert 0 <= x <= width
                assert 0 <= y <= height
                count += 1
    assert count > 10


def test_regions_hold_what_the_criteria_forbid() -> None:
    chart = chai2019.figure_1("0.2", "0.5", "2.5")
    triangles, squares = chart.panels[0].areas
    for at in range(1, 40):
        for after in range(1, 40):
            p, posterior = at / 40 + 1e-3, after / 40 + 2e-3
            rises, falls = posterior > 2.5 * p, posterior < p / 2.5
            assert _inside(triangles, p, posterior) == (rises or falls)
            breach = (p < 0.2 and posterior > 0.5) or (p > 0.5 and posterior < 0.2)
            assert _inside(squares, p, posterior) == breach


def test_the_canonical_region_is_larger_and_symmetric() -> None:
    chart = chai2019.figure_3()
    panel = chart.panels[0]
    lines = {line.name: dict(line.points()) for line in panel.curves}
    canonical, general = panel.areas
    # h_u = 4p / (1 + 3p) and 1 - h_l(1 - p) = 2p - p^2 cross at p = 2/3; the areas are their integrals.
    assert _area(general) == pytest.approx(1 - 4 / 3 + 4 / 9 * math.log(4) + 1 / 3, abs=1e-4)
    assert _area(canonical) == pytest.approx(2 * (1 - 28 / 81 - 4 / 9 + 4 / 9 * math.log(4 / 3)), abs=1e-4)
    for p, value in lines["h"].items():
        assert value == pytest.approx(min(4 * p / (1 + 3 * p), 2 * p - p * p), abs=1e-15)
        assert lines["1 - h(1 - p)"][p] >= lines["h_l"][p] - 1e-15
    # The precise boundary of the demanded privacy ratio, two, lies within what is left: it guarantees the region.
    bounds = {line.name: dict(line.points()) for line in chai2019.figure_2().panels[0].curves}
    up, down = bounds["precise, privacy ratio 2, up"], bounds["precise, privacy ratio 2, down"]
    for p in up:
        assert bounds["h_l"][p] - 1e-15 <= down[p] <= p <= up[p] <= bounds["h_u"][p] + 1e-15
        assert up[p] <= lines["h"][p] + 1e-15


def test_precise_boundaries_grow_with_gamma() -> None:
    lines = chai2019.figure_4((2, 5)).panels[0].curves
    two, low, five = (dict(line.points()) for line in (lines[0], lines[1], lines[2]))
    assert lines[0].name == "gamma 2, up"
    assert two[0.5] == 2 / 3
    assert five[0.5] == 5 / 6
    assert low[0.5] == 1 / 3
    assert all(five[p] > two[p] > p > low[p] for p in two if 0 < p < 1)


def test_figure_5_is_the_printed_one() -> None:
    printed = {
        1: (5, ["2111", "1211", "1121", "1112"]),
        2: (9, ["2211", "2121", "2112", "1221", "1212", "1122"]),
        3: (7, ["2221", "2212", "2122", "1222"]),
    }
    designs = chai2019.designs_5()
    cells = chai2019.figure_5().csv().splitlines()
    assert cells[0] == "t,answer,c1,c2,c3,c4"
    assert "2,0|1,2/9,2/9,1/9,1/9" in cells
    assert len(cells) == 15
    assert set(designs) == {1, 2, 3}
    for t, (scale, rows) in printed.items():
        found = [designs[t].column(y) for y in range(len(rows))]
        assert found == [tuple(F(int(digit), scale) for digit in row) for row in rows]
        assert len(designs[t].outputs) == len(rows)


def test_figures_6_and_7_go_through_the_exact_numbers() -> None:
    by_gamma = chai2019.figure_6((4, 9), (2, 5), "gamma").panels[0].curves
    assert [line.name for line in by_gamma] == ["k = 4", "k = 9"]
    assert dict(by_gamma[1].points())[5.0] == float(chai2019.minimax_risk(9, 5))
    assert all(first[1] > second[1] for line in by_gamma for first, second in pairwise(line.points()))
    by_size = chai2019.figure_7((3, 6), (4,)).panels[0].curves
    assert [line.dashed for line in by_size] == [False, True]
    subset, rappor, _ = chai2019.efficiency(6, 4).relative()
    assert by_size[0].points()[-1] == (6.0, float(subset))
    assert by_size[1].points()[-1] == (6.0, float(rappor))


def test_one_command_writes_each(tmp_path: Path) -> None:
    run = CliRunner().invoke
    shown = run(app, ["models", "table", "chai2019", "1"])
    rows = list(csv.reader(io.StringIO(shown.output)))
    assert len(rows) == 25
    assert rows[-1] == ["20", "20", "1", "20", "1", "20"]
    assert all(row[2:4] == row[4:] for row in rows[1:])
    assert run(app, ["models", "table", "chai2019", "1", "-o", str(tmp_path)]).exit_code == 0
    assert (tmp_path / "chai2019-table-1.csv").read_text() == shown.output
    assert run(app, ["models", "figure", "chai2019", "4", "-o", str(tmp_path)]).exit_code == 0
    assert ElementTree.parse(tmp_path / "chai2019-4.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "chai2019-4.csv").read_text() == chai2019.figure(4).csv()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: chai2019.best_size(1, 2), "from 2"),
        (lambda: chai2019.minimax_risk(4, 1), "not above 1"),
        (lambda: chai2019.minimax_risk(4, 2, 4), "from 1 to 3"),
        (lambda: chai2019.figure_6(against="n"), "'k' or 'gamma'"),
        (lambda: chai2019.efficiency(3, 4).relative(rr.Prior.uniform(4)), "give 3"),
        (lambda: chai2019.figure_4(("0.5",)), "below 1"),
        (lambda: chai2019.figure(8), "1 to 7"),
        (lambda: chai2019.figure(1, draws=3), "at random"),
        (lambda: chai2019.table(2), "table 1"),
    ],
)
def test_bad_input(call: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()  # type: ignore[operator]


def _inside(area: object, x: float, y: float) -> bool:
    """Even-odd rule over all polygons."""
    found = False
    for corners in area.polygons:  # type: ignore[attr-defined]
        for (a, b), (c, d) in zip(corners, (*corners[1:], corners[0]), strict=True):
            if (b > y) != (d > y) and x < a + (c - a) * (y - b) / (d - b):
                found = not found
    return found


def _area(area: object) -> float:
    return sum(
        abs(sum(a * d - c * b for (a, b), (c, d) in zip(p, (*p[1:], p[0]), strict=True))) / 2
        for p in area.polygons  # type: ignore[attr-defined]
    )


PRIOR = rr.Prior.from_probabilities(["1/2", "3/10", "1/5"])


@pytest.mark.parametrize(("k", "outputs"), [(2, 2), (3, 5), (4, 9)])
def test_more_outputs_than_inputs_have_the_privacy_ratio(k: int, outputs: int) -> None:
    made = wide_design(k, outputs, "7/2")
    assert (len(made.inputs), len(made.outputs)) == (k, outputs)
    assert made.privacy_ratio == F(7, 2)
    # Answers that say nothing are not admissible; without them it is k-RR, which is.
    assert bool(rr.ordering.admissible(made, gamma="7/2")) == (outputs == k)
    with pytest.raises(rr.InputError):
        wide_design(k, k - 1, "7/2")


def test_the_customary_estimate_is_unbiased_with_the_published_risk() -> None:
    """Summed over all answers of one person, at gamma = 4, where the square root is exact."""
    design, k = rr.mechanisms.UnaryEncoding(3, gamma=4), 3
    p, q = design.present, design.absent
    mean, square = [F(0)] * k, F(0)
    for x, bits in itertools.product(range(k), itertools.product((0, 1), repeat=k)):
        chance = PRIOR.probabilities[x]
        for y, bit in enumerate(bits):
            hit = p if x == y else q
            chance *= hit if bit else 1 - hit
        found = customary_estimate(design, bits, 1)
        mean = [m + chance * one for m, one in zip(mean, found, strict=True)]
        square += chance * sum((one - share) ** 2 for one, share in zip(found, PRIOR.probabilities, strict=True))
    assert tuple(mean) == PRIOR.probabilities
    # (7.14): k sqrt(gamma) / (sqrt(gamma) - 1)^2 + 1 - sum pi^2.
    assert square == 3 * 2 + 1 - sum(one**2 for one in PRIOR.probabilities)
    # (7.13) as printed.
    assert customary_estimate(design, [5, 2, 9], 10) == tuple(3 * F(v, 10) - 1 for v in (5, 2, 9))
    with pytest.raises(rr.InputError):
        customary_estimate(design, [5, 11, 9], 10)
