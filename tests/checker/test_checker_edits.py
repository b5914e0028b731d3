"""Stored certificates with one field edited, or two: what the checker says of each, to the letter.

The rows of tests/data/edits.json are [certificate, edits, limits, verdict]: an edit is a path and the value that is put
there, or a path whose key is left out; limits are lowered. Each row was kept because it notices a changed condition of
the checker (tests/mutation.py), many of them as the last number that is accepted and the first that is not.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import Document, encode

from rropt import checker
from rropt.checker import check_bytes

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = {
    "examples": TESTS.parent / "docs" / "examples",
    "independent_checker": TESTS / "data" / "independent_checker",
}
ROWS: list[Any] = json.loads((TESTS / "data" / "edits.json").read_bytes())


def edited(base: str, edits: list[Any]) -> Document:
    """A stored certificate with these edits."""
    folder, _, name = base.partition("/")
    made: Document = json.loads((FOLDERS[folder] / f"{name}.json").read_bytes())
    for path, *value in edits:
        place: Any = made
        for key in path[:-1]:
            place = place[key]
        if value:
            place[path[-1]] = copy.deepcopy(value[0])
        else:
            del place[path[-1]]
    return made


def of_base(base: str) -> Iterator[tuple[list[Any], dict[str, int], str]]:
    for name, edits, limits, expected in ROWS:
        if name == base:
            yield edits, limits, expected


@pytest.mark.parametrize("base", sorted({row[0] for row in ROWS}))
def test_edited_certificates(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for edits, limits, expected in of_base(base):
        with monkeypatch.context() as patch:
            for name, most in limits.items():
                patch.setattr(checker, name, most)
            verdict = check_bytes(encode(edited(base, edits)))
        assert f"{verdict.status} {verdict.reason}".rstrip() == expected, edits


@pytest.mark.parametrize("name", [name for name in vars(checker) if name.startswith("MAX_")])
def test_a_lower_limit_turns_no_refusal_into_a_proof(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are public names, which a program may lower: no file is PROVED then that was not before."""
    for base, edits, limits, expected in ROWS[sum(map(ord, name)) % 29 :: 29]:
        if limits or expected == "PROVED":
            continue
        for most in (0, 9):
            monkeypatch.setattr(checker, name, most)
            assert not check_bytes(encode(edited(base, edits))).proved, (base, edits)
