"""The pictures show what they are given: data behind the axes, units, labels, colours, and one line for bad input."""

from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import rropt as rr

pytest.importorskip("matplotlib", reason="needs the extra plot: pip install 'rropt[plot]'")

import matplotlib
from matplotlib import colormaps, pyplot as plt
from matplotlib.colors import to_rgb
from rich.console import Console

from rropt import plots
from rropt.release.picture import estimate_svg
from rropt.studies.reports.report_page import heat_svg
from rropt.studies.reports.terminal import heat_map

PRIOR = rr.Prior.from_counts({"red": 40, "green $x$": 30, "blue": 20, "black": 10})
LOSS = rr.ExpectedLoss(PRIOR, [[abs(x - y) for y in range(4)] for x in range(4)])
STYLES = ["default", "dark_background"]


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    with matplotlib.rc_context({"backend": "agg"}):
        yield
    plt.close("all")


def problem_at(epsilon: float) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(epsilon)])


@pytest.fixture(scope="module")
def solution() -> rr.Solution:
    return problem_at(1).solve()


@pytest.fixture(scope="module")
def two() -> rr.Solution:
    prior = rr.Prior.from_counts({"female": 48, "male": 52})
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()


def saved(ax, tmp_path: Path) -> str:
    """The figure as SVG: drawing it is part of the test."""
    ax.figure.savefig(tmp_path / "figure.svg")
    return (tmp_path / "figure.svg").read_text(encoding="utf-8")


def every_picture(solution: rr.Solution, two: rr.Solution) -> dict[str, object]:
    """The `plot` method of each kind of result."""
    history = plots.History()
    history(0.1, 0.9)
    problem = rr.Problem(rr.Minimize(LOSS), [rr.LDP(epsilon=2)])
    frontier = rr.frontier(problem, rr.Minimize(rr.BayesSuccess(PRIOR)), rr.Minimize(LOSS), points=2)
    return {
        "mechanism": solution.mechanism.plot,
        "solution": solution.plot,
        "plane": two.plot_plane,
        "estimate": rr.RandomizedResponse(3, epsilon=1).mechanism.estimate([5, 6, 7]).plot,
        "frontier": frontier.plot,
        "sweep": rr.sweep(problem_at(1), over={"epsilon": [1, 2]}, gap=0).plot,
        "history": lambda ax=None: history.plot(solution, ax=ax),
        "region": rr.ordering.attained_region(solution.mechanism).plot,
        "permutations": rr.ordering.birkhoff([["1/2", "1/2"], ["1/2", "1/2"]]).plot,
        "comparison": rr.compare(rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1)]), methods=["linear"]).plot,
    }


def test_every_picture_in_both_styles_and_in_given_axes(
    solution: rr.Solution, two: rr.Solution, tmp_path: Path
) -> None:
    """Text and lines have a contrast of 3 to 1 with the background, as WCAG asks, and both axes have a name."""
    for name, draw in every_picture(solution, two).items():
        for style in STYLES:
            with plt.style.context(style):
                mine = plt.subplots()[1]
                for ax in (draw(), draw(ax=mine)):
                    saved(ax, tmp_path)
                    assert ax.get_xlabel(), name
                    assert ax.get_ylabel(), name
                    behind = ax.get_facecolor()[:3]
                    lines = [line for line in ax.lines if len(line.get_xdata())]
                    for colour in (ax.xaxis.label.get_color(), *(line.get_color() for line in lines)):
                        assert contrast(to_rgb(colour), behind) >= 3, f"{name}, {style}: {colour}"
                assert ax is mine
                plt.close("all")


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The contrast of two colours as WCAG 2 defines it."""
    light = [
        np.dot([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour], (0.2126, 0.7152, 0.0722))
        for colour in (one, other)
    ]
    return float((max(light) + 0.05) / (min(light) + 0.05))


@pytest.mark.parametrize("style", STYLES)
def test_a_heat_map_shows_the_matrix_and_its_labels(solution: rr.Solution, tmp_path: Path, style: str) -> None:
    with plt.style.context(style):
        ax = solution.mechanism.plot()
        saved(ax, tmp_path)
    assert np.array_equal(ax.images[0].get_array(), solution.mechanism.matrix)
    assert [tick.get_text().replace("\\", "") for tick in ax.get_yticklabels()] == list(PRIOR.labels)
    assert len(ax.texts) == solution.mechanism.matrix.size
    assert ax.figure.axes[1].get_ylabel() == "probability"
    for text, value in zip(ax.texts, solution.mechanism.matrix.ravel(), strict=True):
        assert contrast(to_rgb(text.get_color()), ax.images[0].to_rgba(value)[:3]) >= 3


def test_a_solution_shows_its_value_and_its_bound(solution: rr.Solution) -> None:
    assert solution.plot().get_title() == "mutual information 0.176 bits; proved bound 0.176"
    assert (solution.value, solution.bound) == pytest.approx((0.176, 0.176), abs=5e-5)
    refused = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1), rr.Floor(0.9)]).solve()
    with pytest.raises(rr.InputError, match="infeasible: there is no mechanism"):
        refused.plot()


def test_no_control_character_of_a_label_reaches_a_picture(tmp_path: Path) -> None:
    labels = ["\x1b]0;owned\x07", "c\x9b31m\x00", "a\u202eb"]
    mechanism = rr.RandomizedResponse(labels, epsilon=1).to_mechanism()
    for ax in (
        mechanism.plot(),
        mechanism.estimate([50, 60, 70]).plot(truth=[0.3, 0.3, 0.4]),
        rr.ordering.birkhoff(mechanism).plot(),
        rr.sweep(problem_at(1), over={"epsilon": [1], "prior": dict.fromkeys(labels, PRIOR)}).plot(),
    ):
        drawn = saved(ax, tmp_path)
        assert not any(letter in drawn for letter in "\x1b\x07\x9b\x00\u202e")
        ElementTree.fromstring(drawn)


def test_a_large_heat_map_has_no_labels() -> None:
    ax = rr.RandomizedResponse(50, epsilon=2).mechanism.plot()
    assert len(ax.texts) == 0
    assert len(ax.get_yticks()) < 50


def test_a_sweep_is_drawn_with_one_line_for_each_point_of_the_other_axes(tmp_path: Path) -> None:
    swept = rr.sweep(problem_at(1), over={"epsilon": [2, 0.5], "prior": {"own": PRIOR, "even": rr.Prior.uniform(4)}})
    ax = swept.plot()
    saved(ax, tmp_path)
    lines = {line.get_label(): line for line in ax.lines}
    for name in ("own", "even"):
        rows = {row["epsilon"]: row["value"] for row in swept.rows if row["prior"] == name}
        assert lines[name].get_xdata().tolist() == [0.5, 2.0]
        assert lines[name].get_ydata().tolist() == [rows[0.5], rows[2.0]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("privacy level epsilon (nats)", "best value (bits)")
    assert len(ax.collections) == 2, "a band to the bound of each"
    assert "not certified" not in lines


def test_points_of_a_sweep_that_are_not_certified_are_hollow() -> None:
    ax = rr.sweep(problem_at(1), over={"epsilon": [1, 2]}, gap=0).plot()
    (hollow,) = (line for line in ax.lines if line.get_markerfacecolor() == ax.get_facecolor())
    assert hollow.get_xdata().tolist() == [1.0, 2.0]
    assert "not certified" in {line.get_label() for line in ax.lines}


def test_the_numbers_of_a_function_are_drawn() -> None:
    def row(epsilon: float) -> dict[str, object]:
        return {"optimum": epsilon, "response": None if epsilon == 2 else epsilon / 2, "word": "x", "sure": True}

    swept = rr.sweep(row, over={"epsilon": [1.0, 2.0, 4.0]})
    lines = {line.get_label(): line.get_ydata() for line in swept.plot().lines}
    assert lines["optimum"].tolist() == [1, 2, 4]
    assert np.array_equal(lines["response"], [0.5, np.nan, 2.0], equal_nan=True)
    assert lines.keys() == {"optimum", "response"}
    assert len(swept.plot(["optimum"]).lines) == 1
    for wrong, words in (("word", "no numbers in 'word'"), ("absent", "no numbers in 'absent'")):
        with pytest.raises(rr.InputError, match=words):
            swept.plot([wrong])


def test_sweeps_that_cannot_be_drawn() -> None:
    with pytest.raises(rr.InputError, match="no axis of the sweep has numbers"):
        rr.sweep({"a": problem_at(1), "b": problem_at(2)}).plot()
    many = rr.sweep(lambda x, y: {"z": x * y}, over={"x": [1, 2], "y": list(range(13))})
    with pytest.raises(rr.InputError, match="13 lines are too many"):
        many.plot()


def test_the_history_of_a_solve_never_gets_worse(solution: rr.Solution, tmp_path: Path) -> None:
    history = plots.History()
    for value, bound in ((None, None), (0.1, 0.9), (0.05, float("inf")), (0.12, 0.4), (0.11, 0.5)):
        history(value, bound)
    best = history.best("maximize")
    assert [row[1:] for row in best] == [(None, None), (0.1, 0.9), (0.1, 0.9), (0.12, 0.4), (0.12, 0.4)]
    assert [row[1:] for row in history.best("minimize")][-1] == (0.05, 0.9)
    ax = history.plot(solution)
    values, bounds = (
        next(line.get_ydata() for line in ax.lines if line.get_label() == name)
        for name in ("best mechanism so far", "proved bound")
    )
    assert list(values) == [0.1, 0.1, 0.12, 0.12, solution.value]
    assert list(bounds) == [0.9, 0.9, 0.4, 0.4, solution.bound]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("seconds", "mutual information (bits)")
    assert ax.get_title() == f"certified; gap {solution.gap:.1e}"
    saved(ax, tmp_path)


def test_a_solve_reports_to_the_history() -> None:
    history = plots.History()
    prior = rr.Prior.from_counts(list(range(20, 45)))
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.patterns.UniformOffDiagonal(), rr.LDP(1)]
    ).solve(monitor=history)
    rows = history.best("maximize")
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert all(value is None or value <= solution.bound + 1e-9 for _, value, _ in rows)
    history.plot(solution)


@pytest.mark.parametrize("k", [2, 4])
def test_breach_regions_hold_the_pairs_that_are_reached(k: int, tmp_path: Path) -> None:
    region = rr.ordering.attained_region(rr.RandomizedResponse(k, epsilon=1).mechanism)
    ax = region.plot()
    drawn = [line for line in ax.lines if line.get_linestyle() == "-"]
    at = 100  # p = 1/4
    ends = sorted(float(line.get_ydata()[at]) for line in drawn)
    assert ends == pytest.approx([float(one) for one in (min(region.posteriors("1/4")), max(region.posteriors("1/4")))])
    assert bool(ax.collections) == (k > 2), "two inputs reach two lines and no band"
    saved(ax, tmp_path)


def test_a_breach_region_without_protection(tmp_path: Path) -> None:
    identity = rr.Mechanism.from_rationals(np.eye(3, dtype=int).tolist(), inputs=list("abc"), outputs=list("abc"))
    ax = rr.ordering.attained_region(identity).plot()
    nothing, all_of_it = sorted(
        (line.get_ydata() for line in ax.lines if line.get_linestyle() == "-"), key=lambda ends: ends.sum()
    )
    assert nothing.tolist() == [0.0] * 400 + [1.0]
    assert all_of_it.tolist() == [0.0] + [1.0] * 400
    saved(ax, tmp_path)


def test_two_categories_have_four_vertices_and_the_optimum_is_one(two: rr.Solution, tmp_path: Path) -> None:
    ax = two.plot_plane()
    lines = {line.get_label(): line for line in ax.lines}
    corners = list(zip(*lines["vertices"].get_data(), strict=True))
    star = tuple(end[0] for end in lines["optimum"].get_data())
    assert len(corners) == 4
    assert min(max(abs(a - x), abs(b - y)) for a, b in corners for x, y in [star]) < 1e-9
    for a, b in corners:
        matrix = np.array([[a, 1 - a], [1 - b, b]])
        ratios = matrix.max(axis=0)[matrix.min(axis=0) > 0] / matrix.min(axis=0)[matrix.min(axis=0) > 0]
        assert all(ratio <= np.e * (1 + 1e-9) for ratio in ratios)
    assert ax.figure.axes[1].get_ylabel() == "mutual information (nats)"
    assert ax.get_title() == "maximize mutual information"
    saved(ax, tmp_path)


def test_two_categories_are_two(solution: rr.Solution) -> None:
    with pytest.raises(rr.InputError, match="two inputs"):
        solution.plot_plane()


def test_intervals_that_miss_the_truth_are_marked(tmp_path: Path) -> None:
    found = rr.RandomizedResponse(["a", "b", "c"], epsilon=3).mechanism.estimate([5000, 3000, 2000])
    ends = found.intervals(0.95)
    truth = [float(ends[0].mean()), float(ends[1].mean()), 1 - float(ends[0].mean() + ends[1].mean()) + 0.2]
    ax = found.plot(truth=truth)
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["estimate, 95 % interval"].get_ydata().tolist() == [0, 1]
    assert lines["interval without the true share"].get_ydata().tolist() == [2]
    assert lines["true share"].get_xdata() == pytest.approx(100 * np.array(truth))
    drawn = [one[[0, -1], 0] for group in ax.collections for one in group.get_segments()]
    assert np.array(drawn) == pytest.approx(100 * ends)
    saved(ax, tmp_path)
    assert "true share" not in {line.get_label() for line in found.plot().lines}
    with pytest.raises(rr.InputError, match="2 true frequencies for 3 categories"):
        found.plot(truth=[0.5, 0.5])


def test_a_warning_replaces_the_title_of_an_estimate() -> None:
    found = rr.RandomizedResponse(["a", "b", "c"], epsilon=3).mechanism.estimate([9999, 1, 0])
    assert found.warnings
    assert found.plot().get_title().startswith("Warning: ")


def test_the_weights_of_a_decomposition_and_their_cycles(tmp_path: Path) -> None:
    found = rr.ordering.birkhoff([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    ax = found.plot()
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.25, 0.25]
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names[0] == "identity"
    assert set(names[1:]) == {"(0 1 2)", "(0 2 1)"}
    assert len(found.plot(most=2).patches) == 2
    saved(ax, tmp_path)


# What the cones see of a colour (Viénot, Brettel and Mollon 1999), on linear red, green and blue.
DEFICIENT = {
    "protanope": [[0.1124, 0.8876, 0.0], [0.1124, 0.8876, 0.0], [0.0040, -0.0040, 1.0]],
    "deuteranope": [[0.2928, 0.7072, 0.0], [0.2928, 0.7072, 0.0], [-0.0223, 0.0223, 1.0]],
}


@pytest.mark.parametrize("eye", DEFICIENT)
@pytest.mark.parametrize("colours", [plots.LIGHT, plots.DARK], ids=["light", "dark"])
def test_colours_that_meet_in_one_picture_differ_for_the_colour_blind(eye: str, colours: tuple[str, ...]) -> None:
    for pair in itertools.combinations(colours, 2):
        seen = [np.array(DEFICIENT[eye]) @ (np.array(to_rgb(colour)) ** 2.2) for colour in pair]
        difference = np.abs(np.clip(seen[0], 0, 1) ** (1 / 2.2) - np.clip(seen[1], 0, 1) ** (1 / 2.2)).max()
        assert difference > 0.12, pair


def test_blues_of_the_heat_map_grow_darker_evenly() -> None:
    lightness = colormaps["Blues"](np.linspace(0, 1, 9))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < -0.02).all()


def test_pictures_need_no_display_and_no_global_figure() -> None:
    """matplotlib is loaded by the call alone, and pyplot only where the caller gives no Axes."""
    code = (
        "import sys, rropt as rr\n"
        "mechanism = rr.RandomizedResponse(3, epsilon=1).mechanism\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from matplotlib.figure import Figure\n"
        "mechanism.plot(ax=Figure().subplots()).figure.savefig(sys.stdout.buffer, format='svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "mechanism.plot()\n"
        "assert sys.modules['matplotlib.pyplot'].get_fignums() == [1]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert b"</svg>" in done.stdout


def test_without_matplotlib_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, solution: rr.Solution
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(rr.InputError, match=r"rropt\[plot\]"):
        solution.plot()


def test_what_is_no_axes_is_refused(solution: rr.Solution) -> None:
    with pytest.raises(rr.InputError, match="Figure is not an Axes"):
        solution.plot(ax=plt.figure())


def test_labels_that_differ_are_drawn_differently() -> None:
    """The labels have the same beginning, the last two also the same end."""
    labels = [f"Employed in the private sector, {time} time" for time in ("full", "part")]
    labels += [f"{'x' * 60}{middle}{'y' * 60}" for middle in "ab"]
    mechanism = rr.RandomizedResponse(labels, epsilon=1).to_mechanism()
    estimated = mechanism.estimate([10, 20, 30, 40])
    terminal = heat_map(mechanism, Console(width=40, file=io.StringIO())).plain.splitlines()[1:5]
    drawn = {
        "terminal": [line[:13] for line in terminal],
        "report": re.findall(r'text-anchor="end">([^<]*)<', heat_svg(mechanism)),
        "outputs of the report": re.findall(r"rotate\(-90\)\">([^<]*)<", heat_svg(mechanism)),
        "estimate": re.findall(r'dominant-baseline="middle">([Ex][^<%]*)<', estimate_svg(estimated, 0.95)),
        "figure": [tick.get_text() for tick in mechanism.plot().get_yticklabels()],
        "frequencies": [tick.get_text() for tick in estimated.plot().get_yticklabels()],
    }
    for place, names in drawn.items():
        assert len(names) == len(set(names)) == 4, f"{place}: {names}"
        assert all(len(name) <= 34 for name in names), f"{place}: {names}"
