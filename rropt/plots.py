"""The pictures behind the `plot` methods, drawn by matplotlib (extra `plot`).

Each function draws into `ax`, or into a new figure of pyplot, and returns the Axes. Text and background follow
matplotlib's settings: under the style `dark_background` a picture is dark. The colours are read from the background of
the Axes. They are those of Okabe and Ito, one of them darker on white, and scales of blue whose lightness is monotonic.
Lines also differ by marks and dashes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import InputError, Missing, TooLarge, WrongType, counted, short_labels
from rropt.io.extras import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rropt.comparison.orders.regions import AttainedRegion
    from rropt.comparison.permutations.birkhoff import BirkhoffDecomposition
    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.mechanisms.mechanism import Mechanism
    from rropt.problem.declared import Problem
    from rropt.problem.solution import Solution
    from rropt.studies.sweeps.sweep import Swept
    from rropt.studies.tradeoffs import Frontier

__all__ = ["History"]

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#8A2F73")
DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7")
"""Colours of lines on a white and on a black background."""
MARKS, DASHES = "osD^v", ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))
MOST_LABELS, MOST_NUMBERS = 40, 12
"""Beyond so many inputs or outputs labels are left out, and beyond so many the numbers in the cells."""
MOST_LINES = 12
"""A picture with more lines cannot be read."""
LINE = 72
"""Characters of a title."""

Pairs = Sequence[tuple[float, float]]


def axes_of(ax: Axes | None, width: float, height: float, *, kept: bool = True) -> Axes:
    """`ax`, or the Axes of a new figure of so many inches; pyplot shows a figure that is `kept`. Raises InputError for
    another kind of thing, and without matplotlib."""
    figure = need("matplotlib.figure", "plot", "plot")
    if ax is None:
        size: dict[str, Any] = {"figsize": (width, height), "layout": "constrained"}
        made = need("matplotlib.pyplot", "plot", "plot").figure(**size) if kept else figure.Figure(**size)
        return made.add_subplot()  # type: ignore[no-any-return]
    if not isinstance(ax, need("matplotlib.axes", "plot", "plot").Axes):
        raise WrongType(f"{type(ax).__name__} is not an Axes of matplotlib", "plot, ax", "as plt.subplots()[1]")
    return ax


def is_dark(ax: Axes) -> bool:
    """Whether the background is nearer to black than to white."""
    from matplotlib.colors import to_rgba

    behind = [to_rgba(one) for one in (ax.get_facecolor(), ax.figure.get_facecolor())]
    red, green, blue, _ = next((one for one in behind if one[3] > 0.5), (1.0, 1.0, 1.0, 1.0))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5


def colours_of(ax: Axes) -> tuple[str, ...]:
    """The colours of lines on this background."""
    return DARK if is_dark(ax) else LIGHT


def styles_of(ax: Axes, count: int) -> list[dict[str, Any]]:
    """Colour, mark and dash of so many lines."""
    colours = colours_of(ax)
    return [
        {"color": colours[at % len(colours)], "marker": MARKS[at % 5], "linestyle": DASHES[at % 5], "markersize": 5}
        for at in range(count)
    ]


def finish(ax: Axes, x: str, y: str, title: str = "", *, legend: Any = None) -> Axes:
    """Name the axes, and draw the legend with these settings (None: no legend)."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title:
        ax.set_title(*cut([title], LINE), fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    if legend is not None:
        ax.legend(**{"frameon": False, "fontsize": "small"} | legend)
    return ax


def cut(texts: Sequence[str], most: int) -> list[str]:
    """Labels of at most so many characters. A dollar sign begins mathematics in matplotlib; a label means itself."""
    return [line.replace("$", r"\$") for line in short_labels(texts, most)]


def _with_unit(name: str, units: str) -> str:
    return f"{name} ({units})" if units else name


def _columns(points: Pairs) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


# -- one matrix, one estimate -------------------------------------------------------------------------------


def matrix_picture(mechanism: Mechanism, ax: Axes | None, title: str = "") -> Axes:
    """The probabilities as shades of blue with labels and a scale; numbers in the cells up to 12 x 12."""
    matrix = mechanism.matrix
    rows, columns = matrix.shape
    ax = axes_of(ax, 2.2 + min(0.42 * columns + 1.2, 9), 1.3 + min(max(0.34 * rows + 0.6, 1.6), 9))
    shades = "Blues_r" if is_dark(ax) else "Blues"
    image = ax.imshow(matrix, cmap=shades, vmin=0.0, vmax=float(matrix.max()), aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="probability")
    for axis, labels, turn in ((ax.xaxis, mechanism.outputs, 60), (ax.yaxis, mechanism.inputs, 0)):
        if len(labels) <= MOST_LABELS:
            short = cut(labels, 24)
            slanted = turn if len(labels) * max(map(len, short)) > 60 else 0
            anchor = {"rotation": slanted, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
            axis.set_ticks(range(len(labels)), labels=short, fontsize="small", **anchor)
    if max(rows, columns) <= MOST_NUMBERS:
        for (x, y), value in np.ndenumerate(matrix):
            bright = np.dot(image.to_rgba(value)[:3], (0.2126, 0.7152, 0.0722)) > 0.5
            said = f"{value:.2g}" if value >= 0.001 else "<0.001" if value else "0"
            ax.text(y, x, said, ha="center", va="center", fontsize=8, color="black" if bright else "white")
    return finish(ax, "released answer", "true answer", title)


def solution_picture(solution: Solution, ax: Axes | None) -> Axes:
    """The matrix of a solution, under what it attains and what is proved of all others."""
    if solution.mechanism is None:
        raise Missing(f"the status is {solution.status}: there is no mechanism", "plot", "change the constraints")
    name, parts = solution.problem.objective.describe(), []
    if solution.value is not None:
        parts.append(f"{name} {solution.value:.4g} {solution.units}".rstrip())
    if solution.bound is not None:
        parts.append(f"proved bound {solution.bound:.4g}")
    return matrix_picture(solution.mechanism, ax, "; ".join(parts))


def estimate_picture(found: Estimate, truth: Sequence[Any] | None, level: float, ax: Axes | None) -> Axes:
    """Each category with its estimate and its interval, and the true frequency as a cross where it is given: intervals
    that miss it have another colour and mark."""
    k, ends = len(found.categories), found.intervals(level)
    try:
        true = None if truth is None else np.array([float(share) for share in truth])
    except (TypeError, ValueError, OverflowError):
        raise WrongType("the true frequencies are not numbers", "plot, truth", "as [0.2, 0.8]") from None
    if true is not None and true.shape != (k,):
        raise InputError(
            f"{counted(len(true), 'true frequencies')} for {counted(k, 'categories')}", "plot, truth", "one for each"
        )
    ax = axes_of(ax, 6.6, 1.9 + 0.3 * min(k, 24))
    colours, places = colours_of(ax), np.arange(k)
    inside = np.full(k, True) if true is None else (ends[:, 0] <= true) & (true <= ends[:, 1])
    for hit, colour, mark in ((True, colours[0], "o"), (False, colours[1], "s")):
        if (chosen := inside == hit).any():
            name = f"estimate, {100 * level:g} % interval" if hit else "interval without the true share"
            ax.hlines(places[chosen], *100 * ends[chosen].T, color=colour, linewidth=4, alpha=0.45)
            ax.plot(100 * found.values[chosen], places[chosen], mark, color=colour, markersize=5, label=name)
    if true is not None:
        ax.plot(100 * true, places, "x", color=_ink(ax), markersize=6, label="true share")
    return _rows(ax, found.categories, "share (%)", "answer", counted(found.n, "released answers"), found.warnings)


def intervals_picture(
    labels: Sequence[str],
    values: Sequence[float] | np.ndarray,
    ends: np.ndarray,
    across: str,
    rows: str,
    title: str,
    level: float,
    warnings: Sequence[str],
    ax: Axes | None,
) -> Axes:
    """One row for each label: an estimate, and its interval at `level` (`ends`, n x 2); none for what is not a number."""
    ax = axes_of(ax, 6.6, 1.9 + 0.3 * min(len(labels), 24))
    colour, places = colours_of(ax)[0], np.arange(len(labels))
    ax.hlines(places, *np.asarray(ends).T, color=colour, linewidth=4, alpha=0.45)
    ax.plot(values, places, "o", color=colour, markersize=5, label=f"estimate, {100 * level:g} % interval")
    return _rows(ax, labels, across, rows, title, warnings)


def _rows(ax: Axes, labels: Sequence[str], across: str, rows: str, title: str, warnings: Sequence[str]) -> Axes:
    """The labels of the rows, the legend below them, and the title, in whose place a warning stands."""
    k = len(labels)
    if k <= MOST_LABELS:
        ax.set_yticks(range(k), labels=cut(labels, 28), fontsize="small")
    ax.set_ylim(k - 0.5, -0.5)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.62 / (0.3 * min(k, 24) + 0.6)), "ncols": 2}
    finish(ax, across, rows if k <= MOST_LABELS else f"{rows}, by position", legend=below)
    if warnings:
        # What is wrong is seen before any number.
        ax.set_title(*cut([f"Warning: {warnings[0]}"], LINE), fontsize="medium", color=colours_of(ax)[1])
    else:
        ax.set_title(title, fontsize="medium")
    return ax


def _ink(ax: Axes) -> str:
    return "white" if is_dark(ax) else "black"


# -- many solves --------------------------------------------------------------------------------------------


def frontier_picture(found: Frontier, ax: Axes | None) -> Axes:
    """The points that can be had, and the proved bounds as steps: each holds from its level on, a line would not."""
    ax = axes_of(ax, 6.4, 4.2)
    first, second, *_ = colours_of(ax)
    bounds = [(float(x), y) for x, y in zip(found.levels, found.bounds, strict=True) if y is not None]
    ax.plot(*_columns(found.attained), "o", color=first, markersize=6, label="a mechanism was found")
    ax.plot(*_columns(bounds), "--", color=second, drawstyle="steps-post", label="no mechanism is beyond this line")
    goals = found.first.objective, found.second.objective
    return finish(ax, *(_with_unit(one.describe(), one.units) for one in goals), legend={})


NAMES = {"epsilon": "privacy level epsilon (nats)", "value": "best value", "bound": "proved bound", "gap": "gap"}
"""Axes and columns of a sweep in words."""


def swept_picture(swept: Swept, columns: Sequence[str], ax: Axes | None) -> Axes:
    """The columns against the first axis of numbers: one line for each column and each point of the other axes. For
    "value" the proved bound is the edge of a band, and a point that is not certified is hollow."""
    known = dict.fromkeys(name for row in swept.rows for name in row)
    numeric = [name for name in known if _are_numbers(swept.column(name))]
    across = next((name for name in swept.axes if name in numeric), None)
    if across is None:
        raise Missing("no axis of the sweep has numbers", "plot", "sweep over epsilon, or draw the rows yourself")
    shown = list(columns) or (["value"] if "value" in numeric else [one for one in numeric if one not in swept.axes])
    wrong = [name for name in shown if name not in numeric]
    if wrong or not shown:
        raise InputError(
            f"no numbers in {wrong[0]!r}" if wrong else "no column has numbers", "plot", f"there are: {numeric}"
        )
    others = [name for name in swept.axes if name != across]
    groups = dict.fromkeys(tuple(row[name] for name in others) for row in swept.rows)
    lines = [(name, group) for group in groups for name in shown]
    if len(lines) > MOST_LINES:
        raise TooLarge(f"{counted(len(lines), 'lines')} are too many", "plot", f"at most {MOST_LINES}: drop an axis")
    ax = axes_of(ax, 6.4, 4.2)
    hollow = False
    labels = cut([", ".join([*([name] if len(shown) > 1 else []), *map(str, group)]) for name, group in lines], 40)
    for (name, group), label, style in zip(lines, labels, styles_of(ax, len(lines)), strict=True):
        rows = sorted(
            (row for row in swept.rows if tuple(row[one] for one in others) == group), key=lambda row: row[across]
        )
        x = [float(row[across]) for row in rows]
        y = [_number(row.get(name)) for row in rows]
        ax.plot(x, y, label=label or NAMES.get(name, name), linewidth=2, **style)
        if name == "value":
            bounds = [_number(row.get("bound")) for row in rows]
            ax.fill_between(x, y, bounds, color=style["color"], alpha=0.25, linewidth=0)
            loose = [(a, b) for a, b, row in zip(x, y, rows, strict=True) if row["status"] != "certified"]
            ax.plot(*_columns(loose), **style | {"linestyle": ""}, markerfacecolor=ax.get_facecolor())
            hollow |= any(not np.isnan(b) for _, b in loose)
    if hollow:
        ax.plot([], [], "o", color=_ink(ax), markerfacecolor="none", label="not certified")
    units = {row.get("units") or "" for row in swept.rows}
    named = NAMES.get(shown[0], shown[0]) if len(shown) == 1 else "value"
    named = _with_unit(named, min(units)) if len(units) == 1 and shown[0] in ("value", "bound", "gap") else named
    return finish(ax, NAMES.get(across, across), named, legend={} if len(lines) > 1 or hollow else None)


def _are_numbers(cells: Sequence[Any]) -> bool:
    given = [cell for cell in cells if cell is not None]
    return bool(given) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in given)


def _number(cell: Any) -> float:
    return np.nan if cell is None else float(cell)


# -- the progress of one solve ------------------------------------------------------------------------------


@dataclass
class History:
    """The progress that a solve reported: `problem.solve(monitor=history)`. `rows` are (seconds, value, bound), in the
    objective's unit; value and bound are None until there is one."""

    rows: list[tuple[float, float | None, float | None]] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    def __call__(self, value: float | None, bound: float | None) -> None:
        """Take one report."""
        self.rows.append((time.monotonic() - self.begun, value, bound))

    def best(self, sense: str) -> list[tuple[float, float | None, float | None]]:
        """The rows with the best value and the best bound that were known by then."""
        better, worse = (max, min) if sense == "maximize" else (min, max)
        found: list[tuple[float, float | None, float | None]] = []
        value = bound = None
        for seconds, now, limit in self.rows:
            value = _either(better, value, now)
            bound = _either(worse, bound, limit)
            found.append((seconds, value, bound))
        return found

    def plot(self, solution: Solution, *, ax: Axes | None = None) -> Axes:
        """Value and bound against the seconds of the solve, and the gap that is left.

        The last point is the solution's own: proved, where the reports before it were the solver's floats. Raises
        InputError if nothing was reported.
        """
        rows = self.best(solution.problem.goal.sense)
        if solution.value is not None or solution.bound is not None:
            last = max([solution.seconds, *(seconds for seconds, _, _ in rows)])
            rows.append((last, solution.value, solution.bound))
        if not rows:
            raise Missing("nothing was reported", "plot", "solve with monitor=history")
        ax = axes_of(ax, 6.4, 4.2)
        first, second, *_ = colours_of(ax)
        named: list[tuple[str, str, Any, list[tuple[float, float]]]] = [
            ("best mechanism so far", first, "-", [(at, value) for at, value, _ in rows if value is not None]),
            ("proved bound", second, "--", [(at, limit) for at, _, limit in rows if limit is not None]),
        ]
        for name, colour, line, points in named:
            ax.step(*_columns(points), where="post", color=colour, linestyle=line, label=name, linewidth=2)
            ax.plot(*_columns(points[-1:]), marker="o", color=colour, markersize=5)
        ax.set_xlim(0, 1.05 * rows[-1][0])
        ax.ticklabel_format(axis="y", useOffset=False)
        gap = "" if solution.gap is None else f"; gap {solution.gap:.1e}"
        what = _with_unit(solution.problem.objective.describe(), solution.units)
        return finish(ax, "seconds", what, f"{solution.status}{gap}", legend={})


def _either(choose: Callable[[float, float], float], old: float | None, new: float | None) -> float | None:
    if new is None or not np.isfinite(new):
        return old
    return new if old is None else choose(old, new)


# -- what an intruder learns, the plane of two categories, mixtures of permutations -------------------------


def region_picture(region: AttainedRegion, ax: Axes | None) -> Axes:
    """The posterior probabilities that an intruder can reach from each prior probability (Chai and Nayak, (4.9)): the
    band where every value between is reached, single lines where only they are; the diagonal is an uninformative
    output."""
    ax = axes_of(ax, 4.8, 4.6)
    colour, prior = colours_of(ax)[0], np.linspace(0.0, 1.0, 401)
    if region.band is not None:
        top = float(region.band)
        low, high = _move(prior, 1 / top if top else np.inf), _move(prior, top)
        ax.fill_between(prior, low, high, color=colour, alpha=0.3, linewidth=0, label="can be reached")
        for end in (low, high):
            ax.plot(prior, end, color=colour, linewidth=2)
    for at, factor in enumerate(region.factors):
        ax.plot(prior, _move(prior, float(factor)), color=colour, linewidth=2, label="" if at else "can be reached")
    ax.plot([0, 1], [0, 1], color=_ink(ax), linestyle=":", label="nothing is learned")
    ratio = float(region.privacy_ratio)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    place = {"loc": "lower right" if ratio < np.inf else "center"}
    names = "suspicion before the release", "suspicion after the release"
    return finish(ax, *names, f"privacy ratio {ratio:.4g}", legend=place)


def _move(prior: np.ndarray, factor: float) -> np.ndarray:
    """The posteriors when the odds are multiplied by a factor."""
    if np.isinf(factor) or factor == 0:
        # Prior probabilities 0 and 1 do not change; all others become 0 or 1.
        return np.where(prior > 0, 1.0, 0.0) if factor else np.where(prior < 1, 0.0, 1.0)
    return np.asarray(factor * prior / (1 - prior + factor * prior))


def plane_picture(solution: Solution, mechanism: Mechanism, gamma: float, ax: Axes | None, points: int = 61) -> Axes:
    """For two inputs and two outputs: the mechanisms that an LDP level allows as a region of the plane, its vertices,
    lines of equal utility (`points` squared values), and where the solution is.

    The axes are the probabilities of the first output given the first input, and of the second given the second.
    """
    problem = solution.problem
    high, low = gamma / (1 + gamma), 1 / (1 + gamma)
    corners = [(1.0, 0.0), (high, high), (0.0, 1.0), (low, low)]
    ax = axes_of(ax, 5.8, 4.8)
    blue, red, *_ = colours_of(ax)
    ax.fill(*_columns(corners), color=blue, alpha=0.25, linewidth=0, label=f"allowed: epsilon {np.log(gamma):.3g}")
    grid = np.linspace(0, 1, points)
    utility = np.array([[_at(problem, mechanism, a, b) for a in grid] for b in grid])
    shades = "Blues_r" if is_dark(ax) else "Blues"
    lines = ax.contour(grid, grid, utility, levels=9, cmap=shades, vmin=-0.6 * utility.max(), linewidths=1.1)
    ax.figure.colorbar(lines, ax=ax, label=_with_unit(problem.objective.describe(), problem.objective.units))
    ax.plot(*_columns(corners), "o", color=blue, markersize=6, linestyle="", label="vertices", clip_on=False)
    here = float(mechanism.matrix[0, 0]), float(mechanism.matrix[1, 1])
    ax.plot(*here, "*", color=red, markersize=15, markeredgecolor=_ink(ax), label="optimum", clip_on=False, zorder=5)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    names = zip(cut(mechanism.outputs, 16), cut(problem.inputs, 16), strict=True)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 3}
    return finish(ax, *(f"probability of {out} for {true}" for out, true in names), problem.title, legend=below)


def _at(problem: Problem, like: Mechanism, a: float, b: float) -> float:
    rows = [[a, 1 - a], [1 - b, b]]
    enclosed = problem.objective.value(like.from_matrix(rows, inputs=like.inputs, outputs=like.outputs))
    return float((enclosed.lower + enclosed.upper) / 2)


def weights_picture(decomposition: BirkhoffDecomposition, most: int, ax: Axes | None) -> Axes:
    """The weights of the permutations, largest first, at most `most` of them; each is named by what it exchanges, in
    cycles of inputs."""
    weights = [float(weight) for weight in decomposition.weights]
    shown = min(len(weights), most)
    ax = axes_of(ax, 6.4, 1.3 + 0.3 * shown)
    names = [_cycles(row.tolist(), decomposition.source.inputs) for row in decomposition.permutations[:shown]]
    places = np.arange(shown)
    ax.barh(places, weights[:shown], color=colours_of(ax)[0])
    for place, weight in zip(places, weights, strict=False):
        ax.text(weight, place, f" {weight:.4g}", va="center", fontsize="small")
    ax.set_yticks(places, labels=cut(names, 34), fontsize="small")
    ax.invert_yaxis()
    ax.margins(x=0.12)
    rest = f"; the other {len(weights) - shown}: {sum(weights[shown:]):.3g}" if shown < len(weights) else ""
    title = f"{counted(len(weights), 'permutations')}, at least {decomposition.bound}{rest}"
    return finish(ax, "weight", "permutation", title)


def _cycles(permutation: Sequence[int], labels: Sequence[str]) -> str:
    """The cycles of a permutation that are longer than one, in labels."""
    left, cycles = set(range(len(permutation))), []
    while left:
        at = min(left)
        ring = []
        while at in left:
            left.remove(at)
            ring.append(labels[at])
            at = permutation[at]
        if len(ring) > 1:
            cycles.append(f"({' '.join(ring)})")
    return " ".join(cycles) or "identity"
