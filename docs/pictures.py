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
from textwrap import wrap

import numpy as np
from rropt.models import model_path
from rropt.models.plots import Curve, Figure, Panel
from rropt.models.svg import begun

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
    return Figure("gain", "Education of 32,561 people (UCI Adult), 16 categories", panels, "").svg(narrow=True)


def gain() -> str:
    """docs/gain.svg, after new numbers in docs/gain.json."""
    numbers = measured()
    (HERE / "gain.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    return gain_figure(numbers)


def text(x: float, y: float, words: str, more: str = "") -> str:
    """A line of text."""
    return f'<text x="{x:g}" y="{y:g}" {more}>{escape(words)}</text>'


def picture(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    """An SVG file that needs no other file; its text is readable at 330 pixels."""
    return "\n".join([*begun(title, width, height, 12, 1.3 * width), *parts, "</svg>", ""])


DESIGN = HERE / "demo.json"


def demo() -> str:
    """docs/demo.svg, after a new design in docs/demo.json."""
    design = rr.load_problem(model_path("adult-frequencies")).solve().mechanism
    assert design is not None
    design.save(DESIGN)
    return demo_picture(design)


def demo_picture(mechanism: rr.Mechanism) -> str:
    """A column, the design for it, one release (with a seed, so that it can be drawn again), and the estimates."""
    prior = rr.load_problem(model_path("adult-frequencies")).objective.prior
    assert prior is not None
    lines = "".join(insecure_synthetic_records(prior, sum(prior.weights), 1, "education")).split()
    answers = [line.partition(",")[2] for line in lines[1:]]
    counts = Counter(answers)
    released = mechanism.randomize(answers, source=insecure_seeded_source(2))
    seen = Counter(released)
    found = mechanism.estimate([seen[label] for label in mechanism.outputs])
    parts = []

    def panel(at: int, title: str, command: str, below: str) -> tuple[float, float]:
        x, top = 6 + 186 * (at % 2), 6 + 300 * (at // 2)
        parts.append(f'<rect x="{x}" y="{top}" width="182" height="294" rx="6" fill="none" stroke="#bbb"/>')
        parts.append(text(x + 8, top + 22, title, 'font-weight="bold"'))
        parts.append(text(x + 8, top + 41, command, f'font-family="monospace" fill="{BLUE}"'))
        parts.append(text(x + 8, top + 284, below, f'font-size="11" fill="{GREY}"'))
        return x + 8, top + 64

    x, y = panel(0, "1. Your column", "people.csv", f"{len(answers):,} synthetic answers")
    parts.extend(text(x, y + 19 * at, answer) for at, answer in enumerate([*answers[:10], "..."]))
    x, y = panel(1, "2. The best matrix", "rropt solve", "full blue: e times likelier")
    matrix, scale = mechanism.matrix, 166 / len(mechanism.inputs)
    likely = matrix > 1.5 * matrix.min(axis=0)
    ends = x + scale * np.append(0.0, matrix.sum(axis=0).cumsum())
    cells = "".join(
        f"M{ends[column]:.2f},{y - 10 + 12 * row:g}h{ends[column + 1] - ends[column]:.2f}v12H{ends[column]:.2f}z"
        for row, column in np.argwhere(likely)
    )
    parts.append(f'<rect x="{x}" y="{y - 10}" width="166" height="192" fill="{BLUE}" fill-opacity="0.25"/>')
    parts.append(f'<path d="{cells}" fill="{BLUE}"/>')
    parts.append(text(x, y + 200, f"{len(mechanism.outputs)} outputs (columns)", 'font-size="11"'))
    x, y = panel(2, "3. The release", "rropt apply", "drawn once, at random")
    parts.extend(text(x, y + 19 * at, given) for at, given in enumerate([*released[:10], "..."]))
    x, y = panel(3, "4. Estimates", "rropt estimate", "bar: 95 %; red: true share")
    scale = 76 / max(*found.intervals(0.95)[:, 1], max(counts.values()) / len(answers))
    for row, (label, (low, high)) in enumerate(zip(mechanism.inputs, found.intervals(0.95), strict=True)):
        at, low = y + 12 * row - 4, max(low, 0.0)
        truth = x + 86 + scale * counts[label] / len(answers)
        parts.append(text(x + 80, at + 4, label, 'text-anchor="end" font-size="11"'))
        parts.append(f'<path d="M{x + 86 + scale * low:.1f},{at} H{x + 86 + scale * high:.1f}" '
                     f'stroke="{BLUE}" stroke-width="5"/>')  # fmt: skip
        parts.append(f'<path d="M{truth:.1f},{at - 5} v10" stroke="{RED}" stroke-width="2"/>')
    base = y + 12 * len(mechanism.inputs) - 8
    parts.append(f'<path d="M{x + 86},{base} h76" stroke="{GREY}"/>')
    for percent in range(0, int(76 / scale * 100) + 1, 10):
        place = x + 86 + scale * percent / 100
        parts.append(f'<path d="M{place:.1f},{base} v4" stroke="{GREY}"/>')
        if percent % 20 == 0:
            unit = " %" if percent else ""
            parts.append(
                text(place, base + 14, f"{percent}{unit}", f'text-anchor="middle" font-size="10" fill="{GREY}"')
            )
    return picture("From a column to a proved matrix, a release, and estimates with intervals", 380, 608, parts)


def box(x: float, y: float, width: float, height: float, words: str, colour: str = "none", more: str = "") -> str:
    """Lines of text in a box, centred."""
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{colour}" stroke="#888"/>'
    lines = words.split("\n")
    first = y + height / 2 + 4 - 7 * (len(lines) - 1)
    look = f'text-anchor="middle" font-size="11" {more}'
    return shape + "".join(text(x + width / 2, first + 14 * at, line, look) for at, line in enumerate(lines))


GUARANTEES = (
    ("every answer must be hidden; if in doubt", "LDP(epsilon)"),
    ("only close answers must look alike (scale, map)", "MetricDP(\ngraph, epsilon=...)"),
    ("a small failure probability is acceptable", "ApproximateLDP(\nepsilon, delta)"),
    ("only one part of the record is sensitive", "RLDP(epsilon, set)"),
    ("a limit on the odds of a guess", "LDP(criterion=...)"),
    ("a limit on identification in a table", "IdentificationRisk(\ncounts, at_most)"),
    ("uncertain answers (share of full entropy)", "EntropyRate(share)"),
)
OBJECTIVES = (
    ("estimate the frequency of each category", "Minimize(\nMinimaxRisk(prior))"),
    ("many uses that are not known yet", "Maximize(\nMutualInformation(prior))"),
    ("keep answers unchanged", "Maximize(\nTrace(prior))"),
    ("errors cost different amounts", "Minimize(ExpectedLoss(\nprior, loss))"),
    ("guess the true answer", "Maximize(\nBayesSuccess(prior))"),
    ("publish invariant tables (PRAM)", "... with\nInvariant(counts)"),
)


def chooser() -> str:
    """docs/chooser.svg: from what is needed to the guarantee and to the objective."""
    parts, y = [], 4
    for title, rows in (("1. Which guarantee?", GUARANTEES), ("2. Which objective?", OBJECTIVES)):
        parts.append(text(6, y + 20, title, 'font-weight="bold" font-size="14"'))
        y += 32
        for need, answer in rows:
            parts.append(box(6, y, 166, 36, "\n".join(wrap(need, 26))))
            parts.append(box(198, y, 176, 36, answer, "#dce6f5", 'font-family="monospace"'))
            parts.append(f'<path d="M175,{y + 18} h19 m-6,-5 l6,5 l-6,5" fill="none" stroke="#555"/>')
            y += 42
    return picture("Choose a guarantee, then an objective, by what you need", 380, y, parts)


def layers() -> str:
    """docs/layers.svg: the folders of rropt by the contracts in pyproject.toml."""
    contracts = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    whole, solve = (one["layers"] for one in contracts["contracts"] if one["type"] == "layers")
    parts = [
        text(6, 20, "A folder imports from layers below it (blue: within solve)."),
        text(6, 36, "checker.py imports the standard library only."),
    ]
    y = 48
    for layer in whole:
        for part in solve if layer == "solve" else [layer]:
            names = [name for name in re.split(r"[:| ]+", part) if name != "__main__"]
            for at in range(0, len(names), 3):
                row = names[at : at + 3]
                width, colour = (368 - 6 * (len(row) - 1)) / len(row), "#dce6f5" if layer == "solve" else "none"
                parts += [box(6 + (width + 6) * place, y, width, 24, name, colour) for place, name in enumerate(row)]
                y += 27
            y += 6
    return picture("The folders of rropt in layers", 380, y, parts)


PICTURES: dict[str, Callable[[], str]] = {"chooser": chooser, "demo": demo, "gain": gain, "layers": layers}


def main(names: Sequence[str]) -> None:
    """Write the named pictures."""
    for name in names or PICTURES:
        (HERE / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
