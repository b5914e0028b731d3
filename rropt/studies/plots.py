"""Pictures by matplotlib (extra `plot`): each function returns a `matplotlib.figure.Figure`, whose `savefig` writes
SVG, PDF or PNG by the name's ending. No global state is changed, so they work in notebooks, scripts and servers alike.

Colours are those of Okabe and Ito, and one scale of blues whose lightness falls evenly: both read the same to the
colour-blind, and lines differ by marks or dashes besides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.comparison.orders.regions import AttainedRegion, attained_region
from rropt.errors import Conflict, InputError, NotInstalled, Unreadable, WrongType, counted, short_labels
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem import Problem, Solution
from rropt.program.cones import CompleteCone

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rropt.comparison.permutations.birkhoff import BirkhoffDecomposition
    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.studies.tradeoffs import Frontier

__all__ = [
    "History",
    "birkhoff_weights",
    "breach_region",
    "frequencies",
    "frontier_curve",
    "gap_over_time",
    "heat_map",
    "two_categories",
    "utility_curve",
]

BLUE, ORANGE, GREEN, RED, SKY, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
FAMILY_LINES = ((ORANGE, "s", "--"), (GREEN, "^", "-."), (PURPLE, "D", ":"), (RED, "v", (0, (5, 1, 1, 1))))
MOST_LABELS, MOST_NUMBERS = 40, 12
"""Beyond so many inputs or outputs labels are left out, and beyond so many the numbers in the cells."""
LINE = 72
"""Characters of a title."""

Family = Callable[[float], RandomizedChannel]


def _figure(width: float, height: float, columns: int = 1) -> tuple[Figure, Any]:
    """A figure of so many inches, and its axes: one, or an array of several side by side."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise NotInstalled("matplotlib is not installed", "plots", "pip install 'rropt[plot]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns)


def _finish(axes: Axes, x: str, y: str, title: str = "") -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(*_cut([title], LINE), fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)


def _cut(texts: Sequence[str], most: int) -> list[str]:
    # A dollar sign begins mathematics in matplotlib; a label means itself.
    return [line.replace("$", r"\$") for line in short_labels(texts, most)]


def _with_unit(name: str, units: str) -> str:
    return f"{name} ({units})" if units else name


def _name(problem: Problem) -> str:
    return problem.objective.describe()


def heat_map(mechanism: Mechanism, title: str = "") -> Figure:
    """Q[input, output] as shades of blue with labels and a scale; numbers in the cells up to 12 x 12."""
    matrix = mechanism.matrix
    rows, columns = matrix.shape
    figure, axes = _figure(2.2 + min(0.42 * columns + 1.2, 9), 1.1 + min(max(0.34 * rows + 0.6, 1.6), 9))
    image = axes.imshow(matrix, cmap="Blues", vmin=0.0, vmax=float(matrix.max()), aspect="auto")
    figure.colorbar(image, ax=axes, label="probability")
    for axis, labels, turn in ((axes.xaxis, mechanism.outputs, 60), (axes.yaxis, mechanism.inputs, 0)):
        if len(labels) <= MOST_LABELS:
            short = _cut(labels, 24)
            slanted = turn if len(labels) * max(map(len, short)) > 60 else 0
            anchor = {"rotation": slanted, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
            axis.set_ticks(range(len(labels)), labels=short, fontsize=9, **anchor)
    if max(rows, columns) <= MOST_NUMBERS:
        bright = 0.55 * float(matrix.max())
        for (x, y), value in np.ndenumerate(matrix):
            colour = "white" if value > bright else "black"
            axes.text(y, x, f"{value:.2g}" if value else "0", ha="center", va="center", fontsize=8, color=colour)
    _finish(axes, "output", "input", title or "Q[input, output]")
    return figure


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


def _either(choose: Callable[[float, float], float], old: float | None, new: float | None) -> float | None:
    if new is None or not np.isfinite(new):
        return old
    return new if old is None else choose(old, new)


def gap_over_time(history: History, solution: Solution) -> Figure:
    """Value and bound against seconds, and their gap on a logarithmic axis with the gap that was wanted.

    The last point is the solution's own: proved, where the reports before it were the solver's floats. Raises
    InputError where nothing was reported.
    """
    sense, units = solution.problem.goal.sense, solution.units
    rows = history.best(sense)
    if solution.value is not None or solution.bound is not None:
        last = max([solution.seconds, *(seconds for seconds, _, _ in rows)])
        rows.append((last, solution.value, solution.bound))
    if not rows:
        raise InputError("nothing was reported", "gap_over_time", "solve with monitor=history")
    figure, (left, right) = _figure(9, 3.6, 2)
    values = [(seconds, value) for seconds, value, _ in rows if value is not None]
    bounds = [(seconds, limit) for seconds, _, limit in rows if limit is not None]
    for points, name, colour, line in ((values, "value", BLUE, "-"), (bounds, "bound", RED, "--")):
        left.step(*_axes_of(points), where="post", color=colour, linestyle=line, label=name, linewidth=1.8)
        if points:
            left.plot(*points[-1], marker="o", color=colour, markersize=5)
    _finish(left, "time (s)", _with_unit(_name(solution.problem), units), "value and bound")
    left.legend(frameon=False)
    left.ticklabel_format(axis="y", useOffset=False)
    for axes in (left, right):
        axes.set_xlim(0, 1.05 * rows[-1][0])
    both = [(seconds, value, limit) for seconds, value, limit in rows if value is not None and limit is not None]
    positive = [(seconds, abs(limit - value)) for seconds, value, limit in both if limit != value]
    if positive:
        right.set_yscale("log")
        right.step(*_axes_of(positive), where="post", color=BLUE, linewidth=1.8)
        right.plot(*positive[-1], marker="o", color=BLUE, markersize=5)
    wanted = max(solution.target_gap * abs(solution.bound or 0.0), solution.target_absolute_gap)
    if wanted > 0:
        right.axhline(wanted, color="#555555", linestyle=":", label=f"wanted: {wanted:.2g}")
        right.legend(frameon=False)
    _finish(right, "time (s)", _with_unit("gap of value and bound", units), f"gap; ends {solution.status}")
    return figure


def _axes_of(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def utility_curve(
    problem_at: Callable[[float], Problem],
    epsilons: Sequence[float],
    families: Mapping[str, Family] | None = None,
    solutions: Sequence[Solution] | None = None,
) -> Figure:
    """The optimum of `problem_at(epsilon)` against epsilon (nats) between its value and its proved bound, and beside it
    the objective at the mechanisms of named `families` (functions of epsilon; k-ary randomised response by default).

    `solutions` are those of the problems where they are solved already; else each is solved here. A point that did not
    end certified is drawn hollow. Raises InputError and NoMethod as `solve` does.
    """
    from rropt.mechanisms.families.randomized_response import RandomizedResponse

    levels = [float(epsilon) for epsilon in epsilons]
    if not levels:
        raise InputError("there is no epsilon", "utility_curve", "as [0.5, 1, 2]")
    problems = [problem_at(epsilon) for epsilon in levels]
    found = [problem.solve() for problem in problems] if solutions is None else list(solutions)
    if len(found) != len(levels):
        raise Conflict(
            f"{counted(len(found), 'solutions')} for {counted(len(levels), 'epsilons')}",
            "utility_curve",
            "one for each",
        )
    first = problems[0]
    if families is None:
        families = {"k-ary randomised response": lambda epsilon: RandomizedResponse(first.inputs, epsilon=epsilon)}
    figure, axes = _figure(6.4, 4.2)
    values = [np.nan if one.value is None else one.value for one in found]
    bounds = [np.nan if one.bound is None else one.bound for one in found]
    axes.fill_between(levels, values, bounds, color=SKY, alpha=0.5, linewidth=0, label="between value and bound")
    axes.plot(levels, values, color=BLUE, linewidth=2, label="optimum")
    for certified, filled in ((True, BLUE), (False, "white")):
        points = [
            (epsilon, value)
            for epsilon, value, one in zip(levels, values, found, strict=True)
            if (one.status == "certified") == certified and not np.isnan(value)
        ]
        if points:
            name = "certified" if certified else "not certified"
            axes.plot(*_axes_of(points), "o", color=BLUE, markerfacecolor=filled, markersize=5, label=name)
    named = zip(_cut(list(families), 40), families.values(), _lines(len(families)), strict=True)
    for name, family, (colour, mark, dash) in named:
        utility = [_midpoint(first, family(epsilon)) for epsilon in levels]
        axes.plot(levels, utility, color=colour, marker=mark, markersize=4, linestyle=dash, label=name)
    what = _name(first)
    _finish(axes, "epsilon (nats)", _with_unit(what, first.objective.units), f"{first.goal.sense} {what}")
    axes.legend(frameon=False, fontsize=9)
    return figure


def frontier_curve(found: Frontier) -> Figure:
    """The points that can be had, and the proved bounds as steps: each holds from its level on, a line would not."""
    figure, axes = _figure(6.4, 4.2)
    axes.plot(*_axes_of(found.attained), "o", color=BLUE, markersize=5, label="attained")
    bounds = [(float(x), y) for x, y in zip(found.levels, found.bounds, strict=True) if y is not None]
    axes.plot(*_axes_of(bounds), "--", color=ORANGE, drawstyle="steps-post", label="bound")
    goals = found.first.objective, found.second.objective
    _finish(axes, *(_with_unit(one.describe(), one.units) for one in goals))
    axes.legend(frameon=False, fontsize=9)
    return figure


def _lines(count: int) -> list[Any]:
    return [FAMILY_LINES[at % len(FAMILY_LINES)] for at in range(count)]


def _midpoint(problem: Problem, channel: RandomizedChannel) -> float:
    """The objective at a mechanism, to a float. Families of sets are written out."""
    inner = channel if isinstance(channel, Mechanism) else getattr(channel, "mechanism", None)
    mechanism = inner if isinstance(inner, Mechanism) else channel.to_mechanism()  # type: ignore[attr-defined]
    enclosed = problem.objective.value(mechanism)
    return float((enclosed.lower + enclosed.upper) / 2)


def breach_region(region: AttainedRegion | RandomizedChannel, title: str = "") -> Figure:
    """Which posterior probabilities an intruder can reach from each prior probability (Chai and Nayak, (4.9)): the band
    where every value between is reached, single lines where only they are; the diagonal is an uninformative output."""
    shown = region if isinstance(region, AttainedRegion) else attained_region(region)
    prior = np.linspace(0.0, 1.0, 401)
    figure, axes = _figure(4.8, 4.4)
    if shown.band is not None:
        top = float(shown.band)
        low, high = _move(prior, 1 / top if top else np.inf), _move(prior, top)
        axes.fill_between(prior, low, high, color=SKY, alpha=0.45, linewidth=0, label="reached")
        for end in (low, high):
            axes.plot(prior, end, color=BLUE, linewidth=1.8)
    for at, factor in enumerate(shown.factors):
        axes.plot(prior, _move(prior, float(factor)), color=BLUE, linewidth=1.8, label="" if at else "reached exactly")
    axes.plot([0, 1], [0, 1], color="#555555", linestyle=":", label="posterior = prior")
    privacy_ratio = float(shown.privacy_ratio)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    _finish(axes, "prior probability", "posterior probability", title or f"privacy ratio {privacy_ratio:.4g}")
    axes.legend(frameon=False, fontsize=9, loc="lower right" if privacy_ratio < np.inf else "center")
    return figure


def _move(prior: np.ndarray, factor: float) -> np.ndarray:
    """The posteriors when the odds are multiplied by a factor."""
    if np.isinf(factor) or factor == 0:
        # Prior probabilities 0 and 1 do not change; all others become 0 or 1.
        return np.where(prior > 0, 1.0, 0.0) if factor else np.where(prior < 1, 0.0, 1.0)
    return np.asarray(factor * prior / (1 - prior + factor * prior))


def two_categories(solution: Solution, resolution: int = 61) -> Figure:
    """For two inputs and two outputs: the mechanisms that an LDP level allows as a region of the plane, its vertices,
    lines of equal utility (`resolution` squared values), and where the solution is.

    The axes are Q[first, first] and Q[second, second]. Raises InputError for other problems.
    """
    problem, mechanism = solution.problem, solution.mechanism
    cone = problem.compile().cone
    if len(problem.inputs) != 2 or len(problem.constraints) != 1 or not isinstance(cone, CompleteCone):
        raise Unreadable("this is not a problem of two inputs with LDP alone", "two_categories", "declare one")
    if mechanism is None or len(mechanism.outputs) != 2:
        raise WrongType("the solution is not a mechanism with two outputs", "two_categories", "solve with outputs=[..]")
    gamma = float(cone.level.ratio.lower)
    labels = problem.inputs
    high, low = gamma / (1 + gamma), 1 / (1 + gamma)
    corners = [(1.0, 0.0), (high, high), (0.0, 1.0), (low, low)]
    figure, axes = _figure(5.8, 4.6)
    axes.fill(*_axes_of(corners), color=SKY, alpha=0.35, label=f"allowed: epsilon {np.log(gamma):.3g}")
    grid = np.linspace(0, 1, resolution)
    utility = np.array([[_at(problem, mechanism, a, b) for a in grid] for b in grid])
    lines = axes.contour(grid, grid, utility, levels=9, cmap="cividis", linewidths=1.1)
    figure.colorbar(lines, ax=axes, label=_with_unit(_name(problem), problem.objective.units))
    axes.plot(*_axes_of(corners), "o", color=BLUE, markersize=6, linestyle="", label="vertices", clip_on=False)
    here = float(mechanism.matrix[0, 0]), float(mechanism.matrix[1, 1])
    axes.plot(*here, "*", color=RED, markersize=15, markeredgecolor="black", label="optimum", clip_on=False, zorder=5)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    first, second = _cut(labels, 16)
    out = _cut(mechanism.outputs, 16)
    _finish(axes, f"probability of {out[0]} given {first}", f"probability of {out[1]} given {second}", problem.title)
    axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
    return figure


def _at(problem: Problem, like: Mechanism, a: float, b: float) -> float:
    first, second = Fraction(a), Fraction(b)
    rows = [[first, 1 - first], [1 - second, second]]
    enclosed = problem.objective.value(Mechanism.from_rationals(rows, inputs=like.inputs, outputs=like.outputs))
    return float((enclosed.lower + enclosed.upper) / 2)


def frequencies(found: Estimate, truth: Sequence[float], level: float = 0.95, title: str = "") -> Figure:
    """Estimated against true frequencies (k numbers), each with its interval at `level`; on the diagonal they agree.

    Intervals that miss the truth are drawn in red with a square mark. Raises InputError for another number of
    frequencies.
    """
    if len(truth) != len(found.categories):
        raise Conflict(
            f"{counted(len(truth), 'true frequencies')} for {counted(len(found.categories), 'categories')}",
            "frequencies",
            "one for each",
        )
    figure, axes = _figure(5.6, 4.8)
    true, values, ends = np.asarray(truth, dtype=float), found.values, found.intervals(level)
    inside = (ends[:, 0] <= true) & (true <= ends[:, 1])
    for hit, colour, mark in ((True, BLUE, "o"), (False, RED, "s")):
        chosen = inside == hit
        if chosen.any():
            name = f"{int(chosen.sum())} of {len(true)} intervals {'' if hit else 'do not '}contain the true frequency"
            # An estimate may lie outside [0, 1], and its interval does not.
            below, above = (np.maximum(side, 0.0)[chosen] for side in (values - ends[:, 0], ends[:, 1] - values))
            bars = axes.errorbar(true[chosen], values[chosen], [below, above], fmt=mark, color=colour, markersize=4)
            bars.set_label(name)
    span = [float(min(true.min(), ends.min(), 0.0)), float(max(true.max(), ends.max()))]
    axes.plot(span, span, color="#555555", linestyle=":", label="estimate = true frequency")
    names = _cut(found.categories, 20)
    for x in np.argsort(-true)[:4]:
        axes.annotate(names[x], (true[x], values[x]), (-8, 6), textcoords="offset points", fontsize=8, ha="right")
    words = f"estimated frequency, {100 * level:g} % intervals"
    _finish(axes, "true frequency", words, title or f"{counted(found.n, 'answers')}, {found.method}")
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def birkhoff_weights(decomposition: BirkhoffDecomposition, most: int = 20) -> Figure:
    """The weights of the permutations of a decomposition, largest first, at most `most` of them; each is named by
    what it exchanges, in cycles of inputs."""
    weights = [float(weight) for weight in decomposition.weights]
    shown = min(len(weights), most)
    figure, axes = _figure(6.4, 1.3 + 0.3 * shown)
    names = [_cycles(row.tolist(), decomposition.source.inputs) for row in decomposition.permutations[:shown]]
    places = np.arange(shown)
    axes.barh(places, weights[:shown], color=BLUE)
    for place, weight in zip(places, weights, strict=False):
        axes.text(weight, place, f" {weight:.4g}", va="center", fontsize=8)
    axes.set_yticks(places, labels=_cut(names, 34), fontsize=9)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    rest = f"; the other {len(weights) - shown}: {sum(weights[shown:]):.3g}" if shown < len(weights) else ""
    _finish(
        axes,
        "weight",
        "permutation",
        f"{counted(len(weights), 'permutations')}, at least {decomposition.bound}{rest}",
    )
    return figure


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
