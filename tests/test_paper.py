"""The papers: their length, their references, and their figures, which are those of the pages."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAPER = " ".join((DOCS / "paper" / "paper.md").read_text(encoding="utf-8").split())


def cells(page: str, *starts: str) -> list[str]:
    """The cells of the one row of a page's tables that begins with these cells."""
    rows = [[*map(str.strip, line.strip("|").split("|"))] for line in (DOCS / page).read_text("utf-8").splitlines()]
    (found,) = [row for row in rows if row[: len(starts)] == [*starts]]
    return found


def test_the_paper_is_short() -> None:
    assert 1000 <= len(PAPER.partition("# Summary")[2].split()) <= 1500


def test_every_reference_is_cited_and_every_citation_has_a_reference() -> None:
    known = set(re.findall(r"^@\w+\{(\w+),", (DOCS / "paper" / "references.bib").read_text("utf-8"), re.MULTILINE))
    cited = {key for group in re.findall(r"\[(@[^\]]+)\]", PAPER) for key in re.findall(r"@(\w+)", group)}
    other = set(re.findall(r"(?<=[\s(])@(\w+)", (DOCS / "paper" / "paper.typ").read_text("utf-8")))
    assert cited <= known, cited - known
    assert cited | other == known


LARGEST = "information, LDP 1", "information, metric, grid", "risk, LDP 1", "information, LDP 1, bistochastic"


@pytest.mark.parametrize(
    ("sentence", "figures"),
    [
        (r"certified for (\S+) categories in (\S+) seconds, and checked in (\S+)\.", lambda: [
            f"{int(cells('benchmarks.md', LARGEST[0])[1]):,}",
            f"{float(cells('benchmarks.md', LARGEST[0])[2]):.1f}",
            f"{float(cells('benchmarks.md', LARGEST[0])[4]):.1f}",
        ]),
        (r"on a grid is certified for (\S+) places, estimation risk for (\S+) categories",
         lambda: [cells("benchmarks.md", name)[1] for name in LARGEST[1:3]]),
        (r"bistochastic matrices for (\w+)\.", lambda: [
            {"3": "three", "4": "four", "5": "five"}[cells("benchmarks.md", LARGEST[3])[1]]
        ]),
        (r"derives (\d+) claims of papers again; (\d+) hold after a correction, (\d+) are refuted, and (\w+) cannot", lambda: [
            str(sum(int(cells("claims.md", word)[1]) for word in VERDICTS)),
            *(cells("claims.md", word)[1] for word in VERDICTS[1:3]),
            {"1": "one", "2": "two"}[cells("claims.md", VERDICTS[3])[1]],
        ]),
        (r"agree on (\S+) damaged certificates", lambda: [cells("reliability.md", "all")[2]]),
    ],
)  # fmt: skip
def test_the_figures_are_those_of_the_pages(sentence: str, figures) -> None:
    (found,) = re.findall(sentence, PAPER)
    assert ([found] if isinstance(found, str) else list(found)) == figures()


VERDICTS = "confirmed", "confirmed with an erratum", "**refuted**", "not checkable"


def test_the_times_of_other_packages_round_to_those_of_the_page() -> None:
    grid = {cells("benchmarks.md", "8 x 8", "64", tool)[2]: float(cells("benchmarks.md", "8 x 8", "64", tool)[4])
            for tool in ("qif", "rropt")}  # fmt: skip
    assert "On a grid of 64 places it needs 26 seconds, where `rropt` needs half a second" in PAPER
    assert (round(grid["qif"]), round(2 * grid["rropt"])) == (26, 1)
    assert (
        "five categories SCIP [@scip] did not close the gap within 20 seconds, where `rropt` needs five milli" in PAPER
    )
    scip = cells("benchmarks.md", "information, LDP", "5", "SCIP 10.0 (PySCIPOpt 6.3.0)")
    assert (scip[3], cells("benchmarks.md", "information, LDP", "5", "rropt")[4]) == ("timelimit", "0.005")
