"""The pictures say what they are given: data behind the axes, units, labels, colours, and one line for bad input."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import rropt as rr

pytest.importorskip("matplotlib", reason="needs the extra plot: pip install 'rropt[plot]'")

from matplotlib.colors import to_rgb
from rich.console import Console

from rropt.release.picture import estimate_svg
from rropt.studies import plots
from rropt.studies.reports.report_page import heat_svg
from rropt.studies.reports.terminal import heat_map

PRIOR = rr.Prior.from_counts({"red": 40, "green $x$": 30, "blue": 20, "black": 10})


def problem_at(epsilon: float) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(epsilon)])


@pytest.fixture(scope="module")
def solution() -> rr.Solution:
    return problem_at(1).solve()


@pytest.fixture(scope="module")
def two() -> rr.Solution:
    prior = rr.Prior.from_counts({"female": 48, "male": 52})
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()


def saved(figure, tmp_path: Path) -> str:
    """The figure as SVG: drawing it is part of the test."""
    figure.savefig(tmp_path / "figure.svg")
    return (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_a_heat_map_shows_the_matrix_and_its_labels(solution: rr.Solution, tmp_path: Path) -> None:
    figure = plots.heat_map(solution.mechanism)
    axes = figure.axes[0]
    assert np.array_equal(axes.images[0].get_array(), solution.mechanism.matrix)
    assert [tick.get_text().replace("\\", "") for tick in axes.get_yticklabels()] == list(PRIOR.labels)
    assert len(axes.texts) == solution.mechanism.matrix.size
    assert figure.axes[1].get_ylabel() == "probability"
    saved(figure, tmp_path)


def test_no_control_character_of_a_label_reaches_a_picture(tmp_path: Path) -> None:
    labels = ["\x1b]0;owned\x07", "c\x9b31m\x00", "a\u202eb"]
    mechanism = rr.RandomizedResponse(labels, epsilon=1).to_mechanism()
    for figure in (
        plots.heat_map(mechanism, title=labels[0]),
        plots.frequencies(mechanism.estimate([50, 60, 70]), [0.3, 0.3, 0.4], title=labels[1]),
        plots.birkhoff_weights(rr.ordering.birkhoff(mechanism)),
    ):
        drawn = saved(figure, tmp_path)
        assert not any(letter in drawn for letter in "\x1b\x07\x9b\x00\u202e")
        ElementTree.fromstring(drawn)


def test_a_large_heat_map_has_no_labels() -> None:
    axes = plots.heat_map(rr.RandomizedResponse(50, epsilon=2).mechanism).axes[0]
    assert len(axes.texts) == 0
    assert len(axes.get_yticks()) < 50


def test_the_curve_of_the_optimum_and_of_families(tmp_path: Path) -> None:
    epsilons = [0.5, 1.0, 2.0]
    solutions = [problem_at(epsilon).solve() for epsilon in epsilons]
    figure = plots.utility_curve(problem_at, epsilons, solutions=solutions)
    axes = figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["optimum"].get_ydata() == pytest.approx([one.value for one in solutions], abs=0)
    response = [rr.RandomizedResponse(PRIOR.labels, epsilon=epsilon).mechanism for epsilon in epsilons]
    wanted = [float(one.mutual_information(PRIOR, units="bits").lower) for one in response]
    assert lines["k-ary randomised response"].get_ydata() == pytest.approx(wanted, abs=1e-12)
    assert len(lines["certified"].get_xdata()) == 3
    assert "not certified" not in lines
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epsilon (nats)", "mutual information (bits)")
    saved(figure, tmp_path)


def test_points_that_are_not_certified_are_hollow() -> None:
    solution = problem_at(1).solve(gap=0)
    assert solution.status == "bounded"
    axes = plots.utility_curve(problem_at, [1.0], {}, [solution]).axes[0]
    (hollow,) = (line for line in axes.lines if line.get_label() == "not certified")
    assert hollow.get_markerfacecolor() == "white"


def test_families_of_sets_are_written_out() -> None:
    families = {"subset selection": lambda epsilon: rr.mechanisms.SubsetSelection(PRIOR.labels, epsilon=epsilon)}
    axes = plots.utility_curve(problem_at, [1.0], families).axes[0]
    lines = {line.get_label(): line.get_ydata()[0] for line in axes.lines}
    assert 0 < lines["subset selection"] <= lines["optimum"] + 1e-12


@pytest.mark.parametrize(("epsilons", "solutions"), [([], None), ([1.0, 2.0], [])])
def test_a_curve_without_points(epsilons: list[float], solutions: list | None) -> None:
    with pytest.raises(rr.InputError, match="epsilon"):
        plots.utility_curve(problem_at, epsilons, {}, solutions)


def test_the_history_of_a_solve_never_gets_worse(solution: rr.Solution, tmp_path: Path) -> None:
    history = plots.History()
    for value, bound in ((None, None), (0.1, 0.9), (0.05, float("inf")), (0.12, 0.4), (0.11, 0.5)):
        history(value, bound)
    best = history.best("maximize")
    assert [row[1:] for row in best] == [(None, None), (0.1, 0.9), (0.1, 0.9), (0.12, 0.4), (0.12, 0.4)]
    assert [row[1:] for row in history.best("minimize")][-1] == (0.05, 0.9)
    figure = plots.gap_over_time(history, solution)
    gaps = figure.axes[1].lines[0].get_ydata()
    assert gaps[:-1] == pytest.approx([0.8, 0.8, 0.28, 0.28])
    assert gaps[-1] == pytest.approx(solution.bound - solution.value, rel=1e-6)
    assert figure.axes[1].get_yscale() == "log"
    assert figure.axes[1].get_ylabel() == "gap of value and bound (bits)"
    saved(figure, tmp_path)


def test_a_solve_reports_to_the_history() -> None:
    history = plots.History()
    prior = rr.Prior.from_counts(list(range(20, 45)))
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.patterns.UniformOffDiagonal(), rr.LDP(1)]
    ).solve(monitor=history)
    rows = history.best("maximize")
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert all(value is None or value <= solution.bound + 1e-9 for _, value, _ in rows)
    plots.gap_over_time(history, solution)


@pytest.mark.parametrize("k", [2, 4])
def test_breach_regions_hold_the_pairs_that_are_reached(k: int, tmp_path: Path) -> None:
    mechanism = rr.RandomizedResponse(k, epsilon=1).mechanism
    region = rr.ordering.attained_region(mechanism)
    figure = plots.breach_region(mechanism)
    drawn = [line for line in figure.axes[0].lines if line.get_linestyle() == "-"]
    at = 100  # p = 1/4
    ends = sorted(float(line.get_ydata()[at]) for line in drawn)
    assert ends == pytest.approx([float(one) for one in (min(region.posteriors("1/4")), max(region.posteriors("1/4")))])
    assert bool(figure.axes[0].collections) == (k > 2), "two inputs reach two lines and no band"
    saved(figure, tmp_path)


def test_a_breach_region_without_protection(tmp_path: Path) -> None:
    identity = rr.Mechanism.from_rationals(np.eye(3, dtype=int).tolist(), inputs=list("abc"), outputs=list("abc"))
    figure = plots.breach_region(identity)
    nothing, all_of_it = sorted(
        (line.get_ydata() for line in figure.axes[0].lines if line.get_linestyle() == "-"), key=lambda ends: ends.sum()
    )
    assert nothing.tolist() == [0.0] * 400 + [1.0]
    assert all_of_it.tolist() == [0.0] + [1.0] * 400
    saved(figure, tmp_path)


def test_two_categories_have_four_vertices_and_the_optimum_is_one(two: rr.Solution, tmp_path: Path) -> None:
    figure = plots.two_categories(two, resolution=21)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    corners = list(zip(*lines["vertices"].get_data(), strict=True))
    star = tuple(end[0] for end in lines["optimum"].get_data())
    assert len(corners) == 4
    assert min(max(abs(a - x), abs(b - y)) for a, b in corners for x, y in [star]) < 1e-9
    for a, b in corners:
        matrix = np.array([[a, 1 - a], [1 - b, b]])
        ratios = matrix.max(axis=0)[matrix.min(axis=0) > 0] / matrix.min(axis=0)[matrix.min(axis=0) > 0]
        assert all(ratio <= np.e * (1 + 1e-9) for ratio in ratios)
    assert figure.axes[1].get_ylabel() == "mutual information (nats)"
    assert figure.axes[0].get_title() == "maximize mutual information"
    saved(figure, tmp_path)


def test_two_categories_are_two(solution: rr.Solution) -> None:
    with pytest.raises(rr.InputError, match="two inputs"):
        plots.two_categories(solution)


def test_intervals_that_miss_the_truth_are_counted(tmp_path: Path) -> None:
    response = rr.RandomizedResponse(["a", "b", "c"], epsilon=3)
    found = response.mechanism.estimate([5000, 3000, 2000])
    ends = found.intervals(0.95)
    truth = [float(ends[0].mean()), float(ends[1].mean()), 1 - float(ends[0].mean() + ends[1].mean()) + 0.2]
    figure = plots.frequencies(found, truth)
    labels = {text.get_text() for text in figure.axes[0].get_legend().get_texts()}
    for words in ("2 of 3 intervals contain", "1 of 3 intervals do not contain"):
        assert f"{words} the true frequency" in labels
    saved(figure, tmp_path)
    with pytest.raises(rr.InputError, match="2 true frequencies for 3 categories"):
        plots.frequencies(found, [0.5, 0.5])


def test_the_weights_of_a_decomposition_and_their_cycles(tmp_path: Path) -> None:
    found = rr.ordering.birkhoff([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    figure = plots.birkhoff_weights(found)
    axes = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.25, 0.25]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names[0] == "identity"
    assert set(names[1:]) == {"(0 1 2)", "(0 2 1)"}
    assert len(plots.birkhoff_weights(found, most=2).axes[0].patches) == 2
    saved(figure, tmp_path)


# What the cones see of a colour (Viénot, Brettel and Mollon 1999), on linear red, green and blue.
DEFICIENT = {
    "protanope": [[0.1124, 0.8876, 0.0], [0.1124, 0.8876, 0.0], [0.0040, -0.0040, 1.0]],
    "deuteranope": [[0.2928, 0.7072, 0.0], [0.2928, 0.7072, 0.0], [-0.0223, 0.0223, 1.0]],
}


@pytest.mark.parametrize("eye", DEFICIENT)
def test_colours_that_meet_in_one_picture_differ_for_the_colour_blind(eye: str) -> None:
    pairs = [
        (plots.BLUE, plots.RED),
        (plots.BLUE, plots.ORANGE),
        (plots.BLUE, plots.GREEN),
        (plots.ORANGE, plots.GREEN),
    ]
    for one, other in pairs:
        seen = [np.array(DEFICIENT[eye]) @ (np.array(to_rgb(colour)) ** 2.2) for colour in (one, other)]
        assert np.abs(np.clip(seen[0], 0, 1) ** (1 / 2.2) - np.clip(seen[1], 0, 1) ** (1 / 2.2)).max() > 0.12


def test_blues_of_the_heat_map_grow_darker_evenly() -> None:
    from matplotlib import colormaps

    lightness = colormaps["Blues"](np.linspace(0, 1, 9))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < -0.02).all()


def test_pictures_leave_nothing_behind_and_need_no_display() -> None:
    code = (
        "import sys, rropt as rr; from rropt.studies import plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "plots.heat_map(rr.RandomizedResponse(3, epsilon=1).mechanism).savefig(sys.stdout.buffer, format='svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert b"</svg>" in done.stdout


def test_without_matplotlib_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, solution: rr.Solution
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(rr.InputError, match=r"rropt\[plot\]"):
        plots.heat_map(solution.mechanism)


def test_labels_that_differ_are_drawn_differently() -> None:
    """The labels have the same beginning, the last two also the same end."""
    labels = [f"Employed in the private sector, {time} time" for time in ("full", "part")]
    labels += [f"{'x' * 60}{middle}{'y' * 60}" for middle in "ab"]
    mechanism = rr.RandomizedResponse(labels, epsilon=1).to_mechanism()
    estimated = mechanism.estimate([10, 20, 30, 40])
    terminal = heat_map(mechanism, Console(width=40, file=io.StringIO())).plain.splitlines()[1:5]
    figure = plots.heat_map(mechanism).axes[0]
    drawn = {
        "terminal": [line[:13] for line in terminal],
        "report": re.findall(r'text-anchor="end">([^<]*)<', heat_svg(mechanism)),
        "outputs of the report": re.findall(r"rotate\(-90\)\">([^<]*)<", heat_svg(mechanism)),
        "estimate": re.findall(r'dominant-baseline="middle">([Ex][^<%]*)<', estimate_svg(estimated, 0.95)),
        "figure": [tick.get_text() for tick in figure.get_yticklabels()],
        "frequencies": [one.get_text() for one in plots.frequencies(estimated, [0.1, 0.2, 0.3, 0.4]).axes[0].texts],
    }
    for place, names in drawn.items():
        assert len(names) == len(set(names)) == 4, f"{place}: {names}"
        assert all(len(name) <= 34 for name in names), f"{place}: {names}"
