"""Sentences are plain: no phrase that makes a riddle of a sentence, or a person of a program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

COMPARATIVES = (
    "better|closer|deeper|earlier|farther|fewer|finer|further|greater|higher|larger|later|less|longer|lower|more|"
    "narrower|nearer|other|shorter|slower|smaller|tighter|wider|worse"
)
FORBIDDEN = {
    " no ": rf"(?<!there )\b(?:is|are|was|were|be) no (?!(?:{COMPARATIVES})\b)",
    " no word": r"\bha(?:s|ve) no word\b",
    "know": r"\bknows? (?:no|nothing)\b",
    " told": r"\b(?:is|are|was|were|be) told\b",
    "tell": r"\btells? (?:all|everything|nothing)\b",
    "believe": r"\bbelieve[sd]?\b",
    "blame": r"\bblames?\b",
    "nobody": r"\bnobody\b",
    "whoever": r"\bwhoever\b",
    "stranger": r"\bstrangers?\b",
    "riddle": r"\briddles?\b",
    "mend": r"\bmends?\b",
    "for ever": r"\bfor ever\b",
    " and come": r"\bleaves? and comes? back\b",
    "left to itself": r"\bleft to itself\b",
    " for granted": r"\btakes? for granted\b",
    " looked at": r"\b(?:is|are|be) looked at\b",
    "of our own": r"\bof our own\b",
    "in vain": r"\bin vain\b",
    "for certain": r"\bfor certain\b",
    "what is wanted": r"\bwhat is wanted\b",
    "in no way": r"\bin no way\b",
    "other hands": r"\bother hands\b",
}
"""Phrases that make a riddle of a sentence or a person of a program, each with letters that all its forms have: a file
without them is not searched. "is not a" stands for the first of them."""


def riddles(files: Iterable[Path]) -> list[str]:
    """Phrases of FORBIDDEN in these files, across line breaks, in any case."""
    faults = []
    for path in files:
        text = re.sub(r'"\s*\n\s*[rf]?"', "", path.read_text(encoding="utf-8"))  # literals that follow each other
        text = " ".join(re.sub(r"\n\s*#:? ?", " ", text).lower().split())
        for letters, phrase in FORBIDDEN.items():
            for found in re.finditer(phrase, text) if letters in text else ():
                faults.append(f"{path}: ...{text[max(found.start() - 40, 0) : found.end() + 20]}...")
    return faults


def prose(checkout: Path) -> list[Path]:
    """What users and contributors read: the package, the models, the pages."""
    sources = [path for name in ("rropt", "models") for path in (checkout / name).rglob("*.py")]
    pages = [path for path in (checkout / "docs").rglob("*.md") if path.name not in GENERATED]
    tops = [checkout / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return sources + pages + [path for path in tops if path.is_file()]


GENERATED = ("benchmarks.md", "claims.md")
"""Pages with words of papers and of other packages, which are quoted."""


def test_sentences_are_plain(checkout: Path) -> None:
    files = prose(checkout)
    assert len(files) > 100, "the files were not found"
    assert riddles(files) == []


RIDDLES = (
    "it is no list",
    "labels that\n    are no inputs",
    "the format has no word for it",
    "method linear knows no entropy",
    "each solver is told its limit",
    "a matrix that tells everything",
    "nothing here is believed",
    "so that nobody sees it",
    "Whoever has the seed",
    "a column that would leave and come back",
    "mend the line it names",
    '"not what was "\n    f"for ever"',
    "it is\n    # no list",
)


@pytest.mark.parametrize("sentence", RIDDLES)
def test_a_riddle_is_found(tmp_path: Path, sentence: str) -> None:
    file = tmp_path / "prose.py"
    file.write_text(sentence, encoding="utf-8")
    assert len(riddles([file])) == 1


def test_plain_sentences_pass(tmp_path: Path) -> None:
    file = tmp_path / "prose.md"
    file.write_text("There is no method. It is no larger than the bound. It is not a list.", encoding="utf-8")
    assert riddles([file]) == []
