"""Compute and draw the pictures of the README and of the site: `python docs/pictures.py [NAME]`, or all of them."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import numpy as np
from rropt.models import model_path
from rropt.models.plots import Curve, Figure, Panel

import rropt as rr
from rropt.mechanisms.sampling import insecure_seeded_source
from rropt.release.synthetic import insecure_synthetic_records

HERE = Path(__file__).parent
BLUE, RED, GREY = "#1f4e9c", "#b3261e", "#555"
EPSILONS = ("0.5", "0.75", "1", "1.5", "2", "3", "4")
FAMILIES = {
    "k-ary randomised response": rr.RandomizedResponse,
    "subset selection": rr.mechanisms.SubsetSelection,
    "unary encoding": rr.mechanisms.UnaryEncoding,
}
OPTIMUM = "rropt"
Gain = dict[str, dict[str, dict[str, float]]]


def risk(mechanism: rr.Mechanism, prior: rr.Prior) -> float:
    """The definition of rr.MinimaxRisk in floats, which also takes the 65,536 outputs of unary encoding."""
    matrix, p = mechanism.matrix, prior.array
    return float(np.trace(np.linalg.inv(matrix / (p @ matrix) @ matrix.T)) - p @ p)


def measured(epsilons: Sequence[str] = EPSILONS, seconds: float = 60) -> Gain:
    """By curve and epsilon: information in nats, and squared error times respondents, of the education of Adult."""
    goal = rr.load_problem(model_path("adult-education")).objective
    assert isinstance(goal, rr.MutualInformation)
    prior = goal.prior
    gain: Gain = {name: {} for name in (OPTIMUM, *FAMILIES)}
    for epsilon in epsilons:
        rules = [rr.LDP(epsilon)]
        most = rr.Problem(rr.Maximize(goal), rules).solve(gap=1e-3, time_limit=seconds)
        least = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), rules).solve(gap=1e-2, time_limit=seconds)
        gain[OPTIMUM][epsilon] = {"information": most.value, "risk": least.value, "risk bound": least.bound}
        for name, family in FAMILIES.items():
            given = family(prior.labels, epsilon=epsilon).to_mechanism()
            information = float(given.mutual_information(prior).lower)
            gain[name][epsilon] = {"information": information, "risk": risk(given, prior)}
    return gain


def gain_figure(gain: Gain) -> str:
    """Both quantities relative to k-ary randomised response."""
    base = gain["k-ary randomised response"]

    def panel(title: str, quantity: str) -> Panel:
        curves = [
            Curve.through(
                name,
                [(float(epsilon), at[quantity] / base[epsilon][quantity]) for epsilon, at in rows.items()],
                dashed=name != OPTIMUM,
            )
            for name, rows in gain.items()
        ]
        return Panel(title, "epsilon", "k-ary randomised response = 1", tuple(curves))

    panels = (
        panel("Mutual information kept (more is better)", "information"),
        panel("Respondents needed (fewer is better)", "risk"),
    )
    return Figure("gain", "Education of 32,561 people (UCI Adult), 16 categories", panels, "").svg()


def gain() -> str:
    """docs/gain.svg, after new numbers in docs/gain.json."""
    numbers = measured()
    (HERE / "gain.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    return gain_figure(numbers)


def text(x: float, y: float, words: str, more: str = "") -> str:
    """A line of text."""
    return f'<text x="{x:g}" y="{y:g}" {more}>{escape(words)}</text>'


def picture(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    """An SVG file that needs no other file, white behind, with a title for those who cannot see it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
    look = f'font-family="sans-serif" font-size="13"><title>{escape(title)}</title>'
    return "\n".join(
        [f"{head} {look}", f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>", ""]
    )


def demo() -> str:
    """docs/demo.svg: a column, the design for it, one release (with a seed, so that the picture can be drawn again), and the estimates."""
    problem = rr.load_problem(model_path("adult-pram"))
    prior, mechanism = problem.objective.prior, problem.solve().mechanism
    assert prior is not None
    assert mechanism is not None
    lines = "".join(insecure_synthetic_records(prior, sum(prior.weights), 1, "education")).split()
    answers = [line.partition(",")[2] for line in lines[1:]]
    counts = Counter(answers)
    released = mechanism.randomize(answers, source=insecure_seeded_source(2))
    seen = Counter(released)
    found = mechanism.estimate([seen[label] for label in mechanism.outputs])
    parts = []

    def panel(at: int, title: str, command: str, below: str) -> tuple[float, float]:
        x = 12 + 240 * at
        parts.append(f'<rect x="{x}" y="12" width="228" height="336" rx="6" fill="none" stroke="#bbb"/>')
        parts.append(text(x + 12, 36, title, 'font-weight="bold"'))
        parts.append(text(x + 12, 58, command, f'font-family="monospace" font-size="11" fill="{BLUE}"'))
        parts.append(text(x + 12, 336, below, f'font-size="11" fill="{GREY}"'))
        return x + 12, 84

    x, y = panel(0, "1. Your column", "people.csv", f"{len(answers):,} synthetic answers")
    parts.extend(text(x, y + 22 * at, answer) for at, answer in enumerate([*answers[:10], "..."]))
    x, y = panel(1, "2. The best matrix, proved", "rropt solve", "row: true answer; column: released")
    largest, cell = mechanism.matrix.max(), 12.5
    for row, line in enumerate(mechanism.matrix):
        parts.extend(
            f'<rect x="{x + cell * column:g}" y="{y + cell * row:g}" width="{cell}" height="{cell}" '
            f'fill="{BLUE}" fill-opacity="{value / largest:.2f}"/>'
            for column, value in enumerate(line)
        )
    x, y = panel(2, "3. The release", "rropt apply", "red: changed at random")
    for at, (answer, given) in enumerate(zip(answers[:10], released[:10], strict=True)):
        parts.append(text(x, y + 22 * at, given, f'fill="{RED}"' if given != answer else ""))
    parts.append(text(x, y + 220, "..."))
    x, y = panel(3, "4. Estimates, 95 % intervals", "rropt estimate", "line: interval; red: true share")
    scale = 118 / max(*found.intervals(0.95)[:, 1], max(counts.values()) / len(answers))
    for row, (label, (low, high)) in enumerate(zip(mechanism.inputs, found.intervals(0.95), strict=True)):
        at, low = y + 15 * row, max(low, 0.0)
        truth = x + 86 + scale * counts[label] / len(answers)
        parts.append(text(x + 80, at + 4, label, 'text-anchor="end" font-size="11"'))
        parts.append(f'<path d="M{x + 86 + scale * low:.1f},{at} H{x + 86 + scale * high:.1f}" '
                     f'stroke="{BLUE}" stroke-width="5"/>')  # fmt: skip
        parts.append(f'<path d="M{truth:.1f},{at - 5} v10" stroke="{RED}" stroke-width="2"/>')
    return picture("From a column to a proved matrix, a release, and estimates with intervals", 972, 360, parts)


def box(x: float, y: float, width: float, words: str, colour: str = "none", more: str = "") -> str:
    """A line of text in a box 26 high, centred."""
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="26" rx="5" fill="{colour}" stroke="#888"/>'
    return shape + text(x + width / 2, y + 17.5, words, f'text-anchor="middle" font-size="12" {more}')


GUARANTEES = (
    ("no part of an answer may stand out; in doubt", "LDP(epsilon)"),
    ("only close answers must look alike (scale, map)", "MetricDP(graph, epsilon)"),
    ("a small failure probability is acceptable", "ApproximateLDP(epsilon, delta)"),
    ("only one part of the record is sensitive", "RLDP(epsilon, set)"),
    ("a limit on the odds of a guess", "LDP(criterion=...)"),
    ("a limit on identification in a table", "IdentificationRisk(counts)"),
    ("the answer must stay uncertain, in bits", "EntropyRate(share)"),
)
OBJECTIVES = (
    ("estimate the frequency of each category", "Minimize(MinimaxRisk(prior))"),
    ("many uses that are not known yet", "Maximize(MutualInformation(prior))"),
    ("keep answers unchanged", "Maximize(Trace(prior))"),
    ("errors cost different amounts", "Minimize(ExpectedLoss(prior, loss))"),
    ("guess the true answer", "Maximize(BayesSuccess(prior))"),
    ("publish invariant tables (PRAM)", "... with Invariant(counts)"),
)


def chooser() -> str:
    """docs/chooser.svg: from what is needed to the guarantee and to the objective."""
    parts = []
    for y, title, rows in ((8, "1. Which guarantee?", GUARANTEES), (286, "2. Which objective?", OBJECTIVES)):
        parts.append(text(12, y + 20, title, 'font-weight="bold" font-size="15"'))
        for at, (need, answer) in enumerate(rows):
            top = y + 32 + 34 * at
            parts += [box(12, top, 320, need), box(382, top, 286, answer, "#dce6f5", 'font-family="monospace"')]
            parts.append(f'<path d="M336,{top + 13} h36 m-7,-5 l7,5 l-7,5" fill="none" stroke="#555"/>')
    return picture("Choose a guarantee, then an objective, by what you need", 680, 530, parts)


def layers() -> str:
    """docs/layers.svg: the folders of rropt by the contracts in pyproject.toml."""
    contracts = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    whole, solve = (one["layers"] for one in contracts["contracts"] if one["type"] == "layers")
    rows = []
    for layer in whole:
        for part in solve if layer == "solve" else [layer]:
            names = [name for name in re.split(r"[:| ]+", part) if name != "__main__"]
            rows += [(names[at : at + 6], layer == "solve") for at in range(0, len(names), 6)]
    words = "A folder imports from layers below it (blue: within solve). checker.py imports the standard library only."
    parts = [text(12, 26, words, 'font-size="12"')]
    for at, (names, inside) in enumerate(rows):
        width = (656 - 8 * (len(names) - 1)) / len(names)
        colour = "#dce6f5" if inside else "none"
        parts += [box(12 + (width + 8) * place, 40 + 33 * at, width, name, colour) for place, name in enumerate(names)]
    return picture("The folders of rropt in layers", 680, 50 + 33 * len(rows), parts)


PICTURES: dict[str, Callable[[], str]] = {"chooser": chooser, "demo": demo, "gain": gain, "layers": layers}


def main(names: Sequence[str]) -> None:
    """Write the named pictures."""
    for name in names or PICTURES:
        (HERE / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
