"""Run the reproducibility report: derive each entry again, compare it, and keep the result as data."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from rropt.comparison.claims import AnyOf, Claim, Judged, plain
from rropt.errors import reason
from rropt.exact import Interval, shown
from rropt.io.files import write_whole
from rropt.io.tables import Readable
from rropt.studies.reports.reported import summarise, was_interrupted

__all__ = ["Entry", "counts", "page", "run", "story"]


@dataclass(frozen=True)
class Entry(Readable):
    """One claim with its verdict; `judged` is None where its evidence could not be computed, and `failure` says why.

    `files` are the certificates that were written, by the names of `Evidence.solutions`.
    """

    claim: Claim
    judged: Judged | None
    seconds: float
    failure: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The computed verdict, or "failed"."""
        return "failed" if self.judged is None else self.judged.verdict

    def proofs(self) -> list[dict[str, Any]]:
        """The solved problem: name, status, value, bound, the checker's verdict and the certificate's file."""
        if self.judged is None:
            return []
        return [
            {
                "name": name,
                **{key: found[key] for key in ("status", "value", "bound")},
                "checker": found["verdict"],
                "file": str(self.files[name]) if name in self.files else None,
            }
            for name, solution in self.judged.evidence.solutions.items()
            for found in (summarise(solution),)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object of `rropt claims --json`. `certificate` is the file (a list where there are several) if
        written.
        """
        claim, judged = self.claim, self.judged
        files = [str(path) for path in self.files.values()]
        found: dict[str, Any] = {
            "id": claim.id,
            "paper": claim.paper,
            "where": claim.where,
            "statement": claim.statement,
            "published": plain(claim.published),
            "computed": None,
            "verdict": self.verdict,
            "method": self.failure,
            "seconds": round(self.seconds, 3),
            "certificate": files[0] if len(files) == 1 else files or None,
        }
        if judged is not None:
            truth = {cell.name: plain(cell.computed) for cell in judged.cells}
            found["computed"] = truth | plain(judged.computed)
            found["method"] = judged.evidence.method
            found["cells"] = {cell.name: cell.verdict for cell in judged.cells}
            found["erratum"] = " ".join(judged.errata) or None
            found["witness"] = judged.witness or None
            found["proofs"] = self.proofs()
        return found


def run(
    claims: Iterable[Claim],
    full: bool = False,
    out: Path | None = None,
    report: Callable[[Claim], None] = lambda claim: None,
) -> list[Entry]:
    """Derive and judge every claim in order; `report` is called with each before it starts.

    `full` takes the papers' numbers of draws. Certificates are written into `out`, one file each. An entry whose
    computation fails is kept with the reason; the others go on. Raises KeyboardInterrupt when a solve was interrupted.
    """
    entries = []
    for claim in claims:
        report(claim)
        begun = time.monotonic()
        try:
            judged = claim.judge(claim.derive(full))
        except Exception as error:  # One entry's fault must not hide the others; it is shown as failed.
            entries.append(Entry(claim, None, time.monotonic() - begun, reason(error)))
            continue
        if any(map(was_interrupted, judged.evidence.solutions.values())):
            # A solve returns its best result on an interrupt; here an interrupt stops the report.
            raise KeyboardInterrupt
        seconds = time.monotonic() - begun
        files = {} if out is None else _write(claim, judged, out)
        entries.append(Entry(claim, judged, seconds, files=files))
    return entries


def counts(entries: Sequence[Entry]) -> dict[str, int]:
    """The number of entries with each verdict."""
    return dict(Counter(entry.verdict for entry in entries))


def _write(claim: Claim, judged: Judged, out: Path) -> dict[str, Path]:
    written = {}
    for name, solution in judged.evidence.solutions.items():
        if solution.certificate is not None:
            word = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in name)
            written[name] = write_whole(out / f"{claim.id}.{word}.json", solution.certificate.to_json())
    return written


TITLES = {
    "ayed": "Ayed, Battiston and Camerlenghi: post randomisation and mutual information",
    "ruiz": "Ruiz and Domingo-Ferrer: bistochastic privacy",
    "lopuhaa": "Lopuhaä-Zwakenberg and Goseling: robust local differential privacy",
    "bound": "Bounding the risk of identity disclosure",
    "chai": "Chai and Nayak: randomised response procedures",
    "kairouz": "Kairouz, Oh and Viswanath: staircase mechanisms",
    "ghazi": "Ghazi and others: label differential privacy",
    "others": "Results of other authors",
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
