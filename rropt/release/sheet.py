"""One page about a release for a data protection officer, from its manifest alone: what is protected, how far, what is
not, and what an attacker gains."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import Missing, Unreadable, escaped, plain
from rropt.exact import shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import named_path, write_whole
from rropt.io.tables import Table
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem.plain_terms import SUSPICION, worst_posterior
from rropt.prove.mechanism_files import CERTIFICATE
from rropt.release.plans.manifest import SUFFIX, file_sha256, manifest_path, read_manifest, release_of
from rropt.release.plans.plan import Release
from rropt.release.plans.provenance import digest
from rropt.release.plans.reading import load_release

LARGEST = 1 << 20
"""Entries of a matrix for which the success of a guess is computed."""


@dataclass(frozen=True, eq=False)
class Sheet(ByContent):
    """The sheet of the release `file`: `sections` are tables with titles, of two columns or with heads."""

    file: Path
    sections: tuple[Table, ...]

    def _tables(self) -> Iterator[Table]:
        yield from self.sections

    def to_markdown(self) -> str:
        """The page as Markdown."""
        lines = [f"# Privacy of {_markdown(self.file.name)}", ""]
        for one in self.sections:
            heads = list(one.heads) or ["", ""]
            lines += [f"## {_markdown(one.title)}", "", _row(heads), _row(["---"] * len(heads))]
            lines += [*map(_row, one.rows), ""]
        return "\n".join(lines)

    def to_html(self) -> str:
        """The page as HTML, in one file, light or dark as the reader's settings say."""
        title = f"Privacy of {escaped(plain(self.file.name))}"
        body = "".join(one.html(inline=False) for one in self.sections)
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
        return f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, as Markdown if the name ends in .md and as HTML if it ends in .html; returns the path. Raises
        InputError."""
        place = named_path(path)
        forms = {".md": self.to_markdown, ".html": self.to_html}
        if place.suffix.lower() not in forms:
            raise Unreadable("its suffix is neither .html nor .md", str(place), "write NAME.html or NAME.md")
        return write_whole(place, forms[place.suffix.lower()]())


STYLE = """:root{color-scheme:light dark}body{max-width:52rem;margin:auto;padding:1rem;font:1rem/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}table{border-collapse:collapse}caption{text-align:left;font-weight:600;font-size:1.15rem;padding:1.5rem 0 .3rem}
th,td{text-align:left;vertical-align:top;border-bottom:1px solid #8886;padding:.25rem .8rem .25rem 0;font-weight:400}
thead th{font-weight:600}.number{text-align:right;white-space:nowrap}.wide{overflow-x:auto}"""


def _markdown(text: str) -> str:
    """Text as Markdown: what has a meaning there is escaped."""
    return "".join(f"\\{letter}" if letter in r"\`*_[]<>|#" else letter for letter in plain(text).replace("\n", " "))


def _row(cells: Any) -> str:
    marked = [cell if cell == "---" else _markdown(cell) for cell in cells]
    return f"| {' | '.join(marked)} |"


@checked
def describe_release(file: str | os.PathLike[str], *, designs: str | os.PathLike[str] | None = None) -> Sheet:
    r"""The sheet of a released file with its manifest (or of the manifest): for the data protection officer.

    It has the unit of privacy, the notion and its level as odds, all columns, what is not protected, earlier draws and
    totals, what a guess gains from the release, the items that NIST SP 800-226 asks for, and SHA-256s of the file, of the
    mechanisms and, from the release file `designs`, of the certificates. It reads no confidential data. Raises InputError
    where there is no manifest, or the file is not that of its manifest.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "people.csv"
        ...     size = file.write_text("answer\nno\nyes\n", encoding="utf-8")
        ...     released = rr.release.release_file(file, plan, f"{folder}/protected.csv")
        ...     type(rr.release.describe_release(released.output)).__name__
        'Sheet'
    """
    place, content = manifest_of(file)
    release = release_of(place) if content.get("matrices") else None
    sections = (
        _about(content),
        _level(content),
        _columns(content),
        _rest(content),
        *([] if release is None else [_guesses(release)]),
        _nist(content),
        _fingerprints(content, designs),
    )
    return Sheet(place, sections)


def manifest_of(file: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    """A released file, given by its name or that of its manifest, and the content of its manifest. Raises InputError
    where there is none, or the file is not that of its manifest."""
    place = named_path(file)
    if place.is_dir():
        raise Unreadable("this is a folder", str(place), "give one of the released files in it")
    if place.name.endswith(SUFFIX):
        place = place.with_name(place.name.removesuffix(SUFFIX))
    content = read_manifest(place)
    if content is None:
        raise Missing("there is no manifest", str(manifest_path(place)), "put it next to the released file")
    if not place.is_file() or file_sha256(place) != content["output"]["sha256"]:
        raise Unreadable("it is not the file of its manifest", str(place), "restore it from a copy")
    return place, content


def _about(content: Mapping[str, Any]) -> Table:
    rows = [
        ("File", content["output"]["file"]),
        ("Made from", content["data"]),
        ("Made on", content["created"]),
        ("Records", f"{content['rows']:,}"),
    ]
    return Table("Release", rows)


def _ratio(text: str) -> Fraction | float:
    return float("inf") if text == "infinite" else Fraction(text)


def epsilon_text(number: float | None) -> str:
    """An epsilon of a manifest, rounded up."""
    return "infinite" if number is None else shown(Fraction(number), 12, up=True)


def _odds(ratio: Fraction | float) -> str:
    return "without limit" if isinstance(ratio, float) else f"at most {shown(ratio, 6, up=True)} times"


def _level(content: Mapping[str, Any]) -> Table:
    ratio = _ratio(content["privacy_ratio"])
    rows = [
        ("Unit of privacy", "one record: its values in the protected columns, all at once"),
        ("Notion", "local differential privacy: every value is randomised before the release, record by record"),
        ("Level of this release", f"epsilon {epsilon_text(content['epsilon'])}"),
        ("As odds", f"the release changes the odds of any two values of a record {_odds(ratio)}"),
    ]
    for before in (SUSPICION, Fraction(1, 2)):
        most = shown(100 * worst_posterior(ratio, before), 4, up=True)
        rows.append((f"A suspicion of {float(100 * before):g} %", f"becomes at most {most} %"))
    earlier = content["earlier_draws"]
    rows.append(("Earlier draws of these people", f"{earlier:,}" if earlier else "none is recorded"))
    if earlier:
        rows.append(("Level with these", f"epsilon {epsilon_text(content['epsilon_with_earlier'])}"))
    return Table("Level of privacy", rows)


def designs_of_entry(entry: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str]]:
    """(stratum, what its design guarantees, the SHA-256 of its mechanism)."""
    if "mechanisms" not in entry:
        return [("", entry, entry["mechanism"])]
    return [(name, entry["designs"][name], one) for name, one in entry["mechanisms"].items()]


def _columns(content: Mapping[str, Any]) -> Table:
    rows = []
    for entry in content["columns"]:
        for stratum, design, _ in designs_of_entry(entry):
            by = f"{', '.join(entry.get('by', ()))} = {stratum}" if stratum else "-"
            said = design["guarantee"] + (f" between records of one {', '.join(entry['by'])}" if stratum else "")
            proof = {"checked": "proved; the checker accepted it", "unchecked": "not checked here", "none": "computed"}
            rows.append((", ".join(entry["columns"]), by, said, proof[design["certificate"]]))
    return Table("Protected columns", rows, ("columns", "stratum", "guarantee", "certificate"))


def _rest(content: Mapping[str, Any]) -> Table:
    only = next((one["where"] for one in content["columns"] if "where" in one), None)
    rows = [
        ("Columns released unchanged", ", ".join(content["unprotected"]) or "none"),
        ("Columns left out", ", ".join(content["dropped"]) or "none"),
    ]
    if only is not None:
        rows.append(("Records released unchanged", f"{content['unchanged_records']:,}: without {' and '.join(only)}"))
    rows += [("Learned from the data", one) for one in content.get("learned", ())]
    rows += [
        ("Also visible", "that a record is in the file, and the order of the records"),
        (
            "What unchanged columns reveal",
            "a column that determines a protected one reveals it; see the warnings of the release",
        ),
    ]
    return Table("Not protected", rows)


def guess(mechanism: Mechanism) -> tuple[Fraction, Fraction]:
    """The probability that the best guess of the true category is right, at equal frequencies: without the release, and
    with an answer of the mechanism: 1 / k, and sum_y max_x Q[x, y] / k (Bayes' rule), exactly."""
    k = len(mechanism.inputs)
    scales = mechanism.row_denominators
    best = sum(max(Fraction(column[x], scales[x]) for x in range(k)) for column in mechanism.numerators if any(column))
    return Fraction(1, k), Fraction(best) / k


def _guesses(release: Release) -> Table:
    rows = []
    for column in release.columns:
        for stratum, mechanism in column.strata:
            if len(mechanism.inputs) * len(mechanism.outputs) > LARGEST:
                continue
            without, with_it = guess(mechanism)
            most = worst_posterior(mechanism.privacy_ratio)
            by = f"{', '.join(column.by)} = {', '.join(stratum)}" if stratum else "-"
            numbers = [f"{float(100 * one):.4g} %" for one in (without, Fraction(1), with_it)]
            numbers.append(f"{shown(100 * most, 4, up=True)} %")
            rows.append((", ".join(column.columns), by, *numbers))
    heads = ("columns", "stratum", "right guess without the file", "unprotected", "released", "10 % suspicion at most")
    return Table("Risk for one record, at equal frequencies", rows, heads, range(2, 6))


def _nist(content: Mapping[str, Any]) -> Table:
    """The topics of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees (2025)."""
    proofs = {design["certificate"] for entry in content["columns"] for _, design, _ in designs_of_entry(entry)}
    proved = (
        "all designs have a certificate that the checker accepted"
        if proofs == {"checked"}
        else ("privacy ratios are computed exactly from the matrices; not all designs have a checked certificate")
    )
    parameter = f"epsilon {epsilon_text(content['epsilon'])}; delta 0"
    if content["epsilon"] is None:
        parameter = "plain local differential privacy has no finite epsilon here: see the guarantees of the columns"
    rows = [
        ("Privacy parameter", parameter),
        ("Unit of privacy", "a record. A person with several records has the sum of their levels"),
        ("Neighbouring data", "two files that differ in the protected values of one record (bounded)"),
        ("Composition", "levels of columns and of earlier draws are added up, exactly"),
        ("Trust model", "local: users of the file see randomised values only; the publisher has the true ones"),
        ("Utility", "unbiased estimates with standard errors from the matrices in the manifest"),
        ("Correctness", f"{proved}; the draw uses whole numbers, no floating point"),
        ("Side channels", "the running time is not in the release; see SECURITY.md on drawing in constant time"),
        (
            "Access control, exposure of the data",
            "outside of this file: state who holds the original data, and how long",
        ),
    ]
    return Table("Items of NIST SP 800-226", rows)


def _fingerprints(content: Mapping[str, Any], designs: str | os.PathLike[str] | None) -> Table:
    rows = [("Released file", content["output"]["sha256"])]
    for entry in content["columns"]:
        for stratum, _, sha256 in designs_of_entry(entry):
            name = ", ".join(entry["columns"]) + (f" ({stratum})" if stratum else "")
            rows.append((f"Mechanism of {name}", sha256))
    if designs is not None:
        named = {sha256 for _, sha256 in rows}
        found = {}
        for column in load_release(designs, check=False).release.columns:
            for design in column.designs:
                source = Path(design.source)
                certificate = (source if source.is_dir() else source.parent) / CERTIFICATE
                if digest(design.mechanism) not in named:
                    raise Unreadable("it has another mechanism than the release", str(designs), "give its own designs")
                if certificate.is_file():
                    found[digest(design.mechanism)] = file_sha256(certificate)
        rows += [(f"Certificate of mechanism {sha256[:12]}...", one) for sha256, one in found.items()]
    return Table("SHA-256", rows)
