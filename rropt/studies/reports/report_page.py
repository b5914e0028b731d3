"""A report as one HTML page: no script, no font, no picture from elsewhere; light and dark; readable on a telephone."""

import re
from fractions import Fraction
from html import escape

import numpy as np

from rropt.errors import counted, plain, short_labels
from rropt.exact import Interval, shown
from rropt.io.tables import Table
from rropt.mechanisms.display import as_table
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.guarantees import NO_PRIVACY
from rropt.problem.plain_terms import plain_terms
from rropt.prove.assumptions import MEANINGS
from rropt.prove.gaps import share
from rropt.studies.reports.descriptions import goal_sentence, prior_sentence, rule_sentences
from rropt.studies.reports.reported import Report
from rropt.studies.reports.terminal import LARGEST_MAP

__all__ = ["heat_svg", "page"]

DIGITS, IN_CELLS, CELL, LETTER = 9, 12, 30, 6.6
"""Significant digits; a map of at most so many outputs has numbers in its cells; a cell's side and a letter's width in
the units of the picture."""
LONGEST_LABEL = 18
UNIT = re.compile(r"(?<=\d) (?=%|nats\b|bits\b)")
"""The space between a number and its unit, where no line may break."""
SMALL = re.compile(r"(?<![\w.])\d[\d.]*e-\d+(?:\u00a0\w+)?|(?<![\w-])--[a-z]+(?:-[a-z]+)*")
"""What has a hyphen, after which a line would break: a number and its unit, and an option."""

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --soft: #59626e; --line: #d5dae0; --card: #f5f7f9;
  --heat: #08458c; --on-heat: #ffffff; --good: #0b6b3a; --good-back: #e4f4ea; --bad: #b00020; --bad-back: #fdeaec;
  --warn: #7a4b00; --warn-back: #fdf2dc; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --ink: #e8ebee; --soft: #a5afba; --line: #39414a;
  --card: #1d2227; --heat: #7db8f5; --on-heat: #0b1117; --good: #6fdc9d; --good-back: #12301f; --bad: #ff8d98;
  --bad-back: #3c151a; --warn: #f0c268; --warn-back: #33260d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 52rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.2; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p, ul { margin: .5rem 0; } ul { padding-left: 1.2rem; } .soft { color: var(--soft); }
.verdict { border: 2px solid; border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0; }
.verdict strong { display: block; font-size: 1.25rem; }
.good { color: var(--good); background: var(--good-back); } .bad { color: var(--bad); background: var(--bad-back); }
.warn { color: var(--warn); background: var(--warn-back); }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem; }
caption { text-align: left; font-weight: 600; padding: .25rem .6rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
span { white-space: nowrap; } th { overflow-wrap: normal; min-width: 6.5rem; }
details th, details td { min-width: 0; font-size: .8rem; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
details tbody th { position: sticky; left: 0; background: var(--page); }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
  font-size: .85rem; white-space: pre; overflow-wrap: normal; }
pre.words { white-space: pre-wrap; overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; } summary { cursor: pointer; margin: .5rem 0; }
svg { display: block; max-width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg.large { max-width: none; }
svg text { fill: var(--ink); } svg rect { fill: var(--heat); stroke: var(--line); stroke-width: .5; }
svg text.on { fill: var(--on-heat); }
@media print { body { max-width: none; } .wide { overflow: visible; } }
"""

HEADLINES = {
    "proved": ("good", "Proved"),
    "refuted": ("bad", "REFUTED"),
    "unreadable": ("bad", "UNREADABLE"),
    "contradicted": ("bad", "The files contradict each other"),
    "not checked": ("warn", "Not machine-checked"),
}


def page(report: Report) -> str:
    """The page, UTF-8. Everything that came from a file is escaped."""
    title = f"{_text(report.title)}: rropt report"
    parts = [SMALL.sub(r"<span>\g<0></span>", part(report)) for part in (_headline, _problem, _result)]
    if report.mechanism is not None:
        parts.append(_mechanism(report.mechanism))
    parts += [_certificate(report), _again(report), _source(report)]
    # What scrolls can be scrolled by keyboard.
    body = "\n".join(parts).replace("<pre", '<pre tabindex="0"')
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + body
        + "\n</main>\n</body>\n</html>\n"
    )


def _text(words: str) -> str:
    return UNIT.sub("\u00a0", _exact(words))


def _exact(words: str) -> str:
    """Text that may be copied: its spaces are as they were."""
    return escape(plain(words))


def _items(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>" if lines else ""


def _headline(report: Report) -> str:
    colour, word = HEADLINES[report.word]
    content = {
        "refuted": "The checker refutes the certificate: do not rely on the numbers below.",
        "unreadable": "The checker cannot read the certificate: do not rely on the numbers below.",
        "contradicted": "The files contradict each other: rely only on the numbers that the checker proves.",
        "not checked": "There is no certificate: the numbers below are rropt's own, and an independent program has not "
        "checked them.",
    }
    sentence = content.get(report.word, _proved_sentence(report))
    none = f"{NO_PRIVACY}: "
    start = "does not guarantee any privacy" if report.guarantee.startswith(none) else "guarantees"
    guarantee = f"<p>It {start}: {_text(report.guarantee.removeprefix(none))}.</p>"
    guarantee = guarantee if report.guarantee and colour != "bad" else ""
    reasons = list(report.contradictions)
    if report.verdict is not None and not report.verdict.proved:
        reasons.insert(0, report.verdict.reason)
    box = f'<div class="verdict {colour}" role="status"><strong>{word}</strong>{sentence}'
    return (
        f'<p class="soft">rropt report</p>\n<h1>{_text(report.title)}</h1>\n'
        f"{box}{guarantee}{_items([_text(reason) for reason in reasons])}{_larger(report)}</div>"
    )


def _larger(report: Report) -> str:
    """The note where the certificate states a larger problem than the declared one."""
    found = report.statement
    if report.word != "proved" or found is None or found.is_declared:
        return ""
    lines = [*found.derived, *(f"without {name}, as declared" for name in found.left_out)]
    kept = (
        " rropt has checked in exact arithmetic that the mechanism keeps the omitted constraints; the independent "
        "program "
        "has not seen it."
        if found.left_out and report.mechanism is not None
        else ""
    )
    return (
        "<p>The certificate states a larger problem, whose bound holds for the declared one; this was derived again "
        f"when this page was written:</p>{_items([_text(line) for line in lines])}<p>{kept}</p>"
    )


def _proved_sentence(report: Report) -> str:
    found = report.proved
    if found is None:
        conflict = f" ({_text(' and '.join(report.conflict))})" if report.conflict else ""
        all_of = f"all the constraints together{conflict}"
        if len(report.conflict) == 1:
            all_of = f"the constraint {_text(report.conflict[0])}"
        return f"No mechanism satisfies {all_of}. An independent program has checked this."
    value, optimum = found
    up = report.problem.goal.sense == "maximize"
    unit = f"\u00a0{_text(report.units)}" if report.units else ""
    best, verb = (optimum.upper, "more") if up else (optimum.lower, "less")
    own = value.lower if up else value.upper
    gap = shown(optimum.upper - optimum.lower, 2, up=True) + unit
    attained = _nearest(own, optimum.upper - optimum.lower) or shown(own, DIGITS, up=not up)
    # Ends that agree in their digits are one number; rounded outwards they would look like two.
    if f"{float(own):.{DIGITS}g}" == f"{float(best):.{DIGITS}g}":
        bound = verb + (f" (within {gap})" if optimum.upper > optimum.lower else "")
    else:
        bound = f"{verb} than {shown(best, DIGITS, up=up)}{unit}"
    what = report.problem.objective.explain()
    return (
        f"This mechanism attains {attained}{unit} ({_text(what)}). No mechanism under the same constraints can attain "
        f"{bound}. An independent program has checked this."
    )


def _nearest(value: Fraction, within: Fraction) -> str | None:
    """The nearest number of a few digits, where it is as near as `within`."""
    text = f"{float(value):.{DIGITS}g}"
    return text if abs(Fraction(text) - value) <= within else None


def _problem(report: Report) -> str:
    problem = report.problem
    rules = [f"<strong>{_text(name)}</strong>: {_text(words)}" for name, words in rule_sentences(problem)]
    must = f"<p>It must hold that:</p>{_items(rules)}" if rules else "<p>No constraint is declared.</p>"
    words = f"{_text(goal_sentence(problem))} {_text(prior_sentence(problem, report.data))}"
    return f"<h2>The problem</h2>\n<p>{words}</p>\n{must}"


def _objective(report: Report) -> str:
    """The objective by its name, and by that of the certificate where they differ."""
    problem = report.problem
    said = f"{problem.goal.sense} {problem.objective.describe()}"
    stated = problem.compile().utility.payload()
    kind = "" if stated is None else str(stated["kind"])
    return said if kind.replace("_", " ") in said else f"{said} (in the certificate: {kind})"


def _result(report: Report) -> str:
    up = report.problem.goal.sense == "maximize"
    found = report.proved
    rows = [
        ("objective", _objective(report)),
        ("Solver status", report.status),
        *([("stopped", report.stopped)] if report.stopped else []),
    ]
    unit = f" {report.units}" if report.units else ""

    def range_of(interval: Interval) -> str:
        nearest = f"{float(interval.lower):.{DIGITS}g}"
        if nearest == f"{float(interval.upper):.{DIGITS}g}":
            off = max(abs(end - Fraction(nearest)) for end in (interval.lower, interval.upper))
            return f"{nearest}{unit}" + (f", up to {shown(off, 2, up=True)}{unit}" if off else "")
        return f"from {shown(interval.lower, DIGITS, False)} to {shown(interval.upper, DIGITS, True)}{unit}"

    if found is not None:
        of = " of another problem" if report.statement is not None and report.statement.differences else ""
        rows += [(f"value, proved{of}", range_of(found[0])), (f"optimum, proved{of}", range_of(found[1]))]
        gap = found[1].upper - found[1].lower
        rows.append((f"gap, proved{of}", shown(gap, 2, up=True) + unit))
        ends = found[1].lower, found[1].upper
        part = share(*(ends if up else reversed(ends)))
        document = "none: the optimum may be 0" if part is None else shown(part, 2, up=True)
        rows.append((f"gap as a share of the bound, proved{of}", document))
    else:
        refuted = report.word in ("refuted", "unreadable")
        note = " (refuted)" if report.word == "refuted" else " (not proved)" if refuted else " (not machine-checked)"
        if report.value is not None:
            rows.append(("value", shown(report.value, DIGITS, not up) + unit + note))
        if report.bound is not None:
            rows.append(("bound", shown(report.bound, DIGITS, up) + unit + note))
    if report.mechanism is not None:
        rows.append(
            ("privacy" if HEADLINES[report.word][0] != "bad" else "privacy of the matrix below", report.guarantee)
        )
    rows += [("method", report.method), ("seconds", f"{report.seconds:.2f}")]
    rows += [("note", note) for note in report.notes]
    tables = [
        Table("", rows),
        *(plain_terms(report.problem, report.mechanism) if report.word in ("proved", "not checked") else []),
    ]
    return "<h2>The result</h2>\n" + "\n".join(UNIT.sub("\u00a0", table.html(inline=False)) for table in tables)


def _mechanism(mechanism: Mechanism) -> str:
    rows, columns = mechanism.matrix.shape
    cut = ""
    if max(rows, columns) > LARGEST_MAP:
        shown = counted(min(rows, LARGEST_MAP), "rows"), counted(min(columns, LARGEST_MAP), "columns")
        cut = f" Shown are the first {' and '.join(shown)}."
    words = (
        f"Each row is a true answer ({rows}), each column a released one ({columns}). Stronger shading means a higher "
        f"probability. The largest is {float(mechanism.matrix.max()):.3g}.{cut}"
    )
    table, _ = as_table(mechanism, 5, LARGEST_MAP, LARGEST_MAP)
    return (
        f'<h2>The mechanism</h2>\n<p>{words}</p>\n<div class="wide" tabindex="0">{heat_svg(mechanism)}</div>\n'
        f"<details><summary>The numbers</summary>{table.html(inline=False)}\n"
        '<p class="soft">Five decimals; the exact integers are in mechanism.json and in the certificate.</p></details>'
    )


def heat_svg(mechanism: Mechanism) -> str:
    """The matrix as inline SVG in the page's colours: strength is the probability over the largest one. At most 40
    inputs and outputs."""
    rows, columns = (min(side, LARGEST_MAP) for side in mechanism.matrix.shape)
    matrix = mechanism.matrix[:rows, :columns]
    names = [short_labels(part, LONGEST_LABEL) for part in (mechanism.inputs[:rows], mechanism.outputs[:columns])]
    left, top = (12 + LETTER * max(map(len, side)) for side in names)
    side = CELL if columns <= IN_CELLS else 18
    width, height = left + side * columns + 10, top + side * rows + 10
    shape = f"{counted(rows, 'inputs')} by {counted(columns, 'outputs')}"
    lines = [
        f'<svg{" class=large" if columns > 16 else ""} viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="Heat map of the mechanism: {shape}">'
    ]
    for y, name in enumerate(names[1]):
        at = left + side * (y + 0.5)
        place = f'transform="translate({at + 4:.1f},{top - 6:.1f}) rotate(-90)"'
        lines.append(f"<text {place}>{_text(name)}</text>")
    for x, name in enumerate(names[0]):
        at = top + side * (x + 0.5) + 4
        lines.append(f'<text x="{left - 6:.1f}" y="{at:.1f}" text-anchor="end">{_text(name)}</text>')
    largest = float(matrix.max()) or 1.0
    for (x, y), value in np.ndenumerate(matrix):
        strength = float(value) / largest
        corner = f'x="{left + side * y:.1f}" y="{top + side * x:.1f}"'
        full = f"{_text(mechanism.inputs[x])} to {_text(mechanism.outputs[y])}: {float(value):.6f}"
        cell = f'<rect {corner} width="{side}" height="{side}" fill-opacity="{strength:.3f}">'
        lines.append(f"{cell}<title>{full}</title></rect>")
        if columns <= IN_CELLS:
            where = f'x="{left + side * (y + 0.5):.1f}" y="{top + side * (x + 0.5) + 4:.1f}" text-anchor="middle"'
            ink = ' class="on"' if strength > 0.55 else ""
            lines.append(f"<text {where}{ink}>{_cell(float(value))}</text>")
    return "\n".join([*lines, "</svg>"])


def _cell(value: float) -> str:
    return "0" if value == 0 else "1" if value == 1 else f"{value:.2f}".removeprefix("0")


def _certificate(report: Report) -> str:
    if report.verdict is None:
        return "<h2>The certificate</h2>\n<p>There is none.</p>"
    verdict = report.verdict
    taken = [f"<code>{_text(name)}</code>: {_text(MEANINGS.get(name, ''))}" for name in verdict.assumptions]
    granted = "The proof assumes no mathematical lemma."
    if taken:
        granted = "The proof relies on:"
    lines = "\n".join(_exact(line) for line in verdict.report().splitlines())
    colour = "words" if verdict.proved else "words bad"
    rest = f"<p>{granted}</p>{_items(taken)}" if verdict.proved else ""
    unit = ", with values in nats" if report.units else ""
    return (
        "<h2>The certificate</h2>\n<p>"
        f"The checker's output when this page was written{unit}:</p>\n"
        f'<pre class="{colour}"><code>{lines}</code></pre>\n{rest}\n'
        f'<p class="soft">SHA-256 of certificate.json: <code>{report.sha256}</code></p>'
    )


def _again(report: Report) -> str:
    if report.verdict is None:
        return ""
    return (
        "<h2>Check it again</h2>\n"
        "<p>This page shows the result; the proof is the certificate. The checker is one Python file that needs the "
        "standard library only: copy <code>rropt/checker.py</code> to any machine, and run</p>\n"
        "<pre><code>python checker.py certificate.json</code></pre>\n"
        "<p>or, where rropt is installed,</p>\n<pre><code>rropt check certificate.json</code></pre>\n"
        "<p>Exit status 0 is proved, 1 refuted, 2 unreadable. The numbers are those above if "
        "<code>sha256sum certificate.json</code> prints the digest above.</p>"
    )


def _source(report: Report) -> str:
    text = "\n".join(map(_exact, report.text.split("\n")))
    return (
        "<h2>To solve it again</h2>\n<p>Save this as a file and run <code>rropt solve FILE.toml</code>.</p>\n"
        f"<details><summary>The problem file</summary><pre><code>{text}</code></pre></details>"
    )
