"""The documentation's page of the reproducibility report: `rropt claims --markdown` prints it."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rropt.comparison.claims import AnyOf, plain
from rropt.exact import Interval, shown
from rropt.studies.reproducibility import Entry, counts

__all__ = ["page", "story"]

TITLES = {
    "ayed": "Ayed, Battiston and Camerlenghi: post randomisation and mutual information",
    "ruiz": "Ruiz and Domingo-Ferrer: bistochastic privacy",
    "lopuhaa": "Lopuhaä-Zwakenberg and Goseling: robust local differential privacy",
    "bound": "Bounding the risk of identity disclosure",
    "chai": "Chai and Nayak: randomised response procedures",
    "kairouz": "Kairouz, Oh and Viswanath: staircase mechanisms",
    "ghazi": "Ghazi and others: label differential privacy",
}
WORDS = {
    "confirmed": "confirmed",
    "confirmed_with_erratum": "confirmed with an erratum",
    "refuted": "**refuted**",
    "not_checkable": "not checkable",
    "failed": "not computed",
}
HEAD = """# Reproducibility report

This report derives the claims of papers on the design of randomised response again. Published optima come from local
optimisers, hand algebra and typesetting, and some are wrong. Each entry computes the published numbers from definitions
and compares. Every verdict is computed. `rropt claims` runs all of it, `rropt claims PAPER` or `rropt claims ID` a part,
`--json` gives the numbers, `--out DIR` writes the certificates, `--full` takes the papers' numbers of draws. This page
is made by `rropt claims --markdown`.

*Confirmed with an erratum* means: true after the correction that the entry states and verified. A theorem about all
cases is confirmed by a proof that the entry names, or on a finite family, and then the entry names the family. Optimality is judged by
certificates that the independent checker accepted.
"""
MOST = 10
"""Entries on one page of the site."""
OWN = """# A reproducibility report

Each entry is computed and compared with its claim. Every verdict is computed. `rropt claims --markdown` makes this
page, `--out DIR` writes the certificates.
"""


def page(entries: Sequence[Entry]) -> str:
    """The page as Markdown, without anything that changes from run to run."""
    shipped = all(entry.claim.paper in TITLES for entry in entries)
    parts = [HEAD if shipped else OWN, "| verdict | entries |\n|---|---|"]
    found = counts(entries)
    parts[-1] += "".join(f"\n| {WORDS[word]} | {found[word]} |" for word in WORDS if word in found)
    for paper, group in groupby(entries, key=lambda entry: entry.claim.paper):
        parts.append(f"<!-- page: claims-{paper} -->\n## {TITLES.get(paper, paper)}")
        for number, entry in enumerate(group):
            if number and number % MOST == 0:
                part = number // MOST + 1
                parts.append(f"<!-- page: claims-{paper}-{part} {TITLES.get(paper, paper)} (part {part}) -->")
            parts.append(story(entry))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def story(entry: Entry) -> str:
    """One entry: the claim, published and computed values, corrections, witness and proofs."""
    claim, judged = entry.claim, entry.judged
    lines = [f"### `{claim.id}`", _prose(f"{claim.where}: {claim.statement}."), f"Verdict: {WORDS[entry.verdict]}."]
    if judged is None:
        return "\n\n".join([*lines, entry.failure])
    rows = "".join(
        f"\n| {_prose(cell.name)} | {_text(cell.published)} | {_text(cell.computed)} | {WORDS[cell.verdict]} |"
        for cell in judged.cells
    )
    lines.append(f"| | published | computed | |\n|---|---|---|---|{rows}")
    lines += [_prose(f"Correction: {text}.") for text in judged.errata]
    if judged.computed:
        lines.append("\n".join(f"- {_prose(name)}: {_text(value)}" for name, value in judged.computed.items()))
    lines.append(_prose(f"How: {judged.evidence.method}."))
    if judged.witness:
        lines.append(f"```text\n{judged.witness}\n```")
    proofs = [f"{proof['name']} ({proof['checker']})" for proof in entry.proofs()]
    if proofs:
        lines.append(f"Certificates: {', '.join(proofs)}.")
    return "\n\n".join(lines)


def _prose(text: str) -> str:
    """Markdown for the text: a product a*b*c is not emphasis. Code, between backticks, stays as it is."""
    parts = text.split("`")
    parts[::2] = [part.replace("*", "\\*").replace("~", "\\~") for part in parts[::2]]
    return "`".join(parts)


def _text(value: Any) -> str:
    if isinstance(value, Interval):
        low, high = shown(value.lower, 8, up=False), shown(value.upper, 8, up=True)
        return low if low == high else f"{low} to {high}"
    if isinstance(value, AnyOf) and len(value.values) == 1:
        return _text(value.values[0])
    if isinstance(value, tuple | list):
        return f"({', '.join(_text(one) for one in value)})"
    data = plain(value) if not isinstance(value, Mapping) else value
    if data is None:
        return "-"
    if isinstance(data, bool):
        return "yes" if data else "no"
    if isinstance(data, float):
        return f"{data:.8g}"
    if isinstance(data, Mapping):
        return "; ".join(f"{_prose(str(name))}: {_text(one)}" for name, one in data.items())
    return _prose(str(data)).replace("|", "\\|")
