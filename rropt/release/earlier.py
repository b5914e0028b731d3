"""What earlier releases and files forbid."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rropt.errors import InputError
from rropt.release.ledger import Entry
from rropt.release.plans.manifest import read_manifest
from rropt.release.tables.formats import SUFFIXES


def crossings(counted: Iterable[Entry], wanted: set[str], unprotected: Sequence[str], output: Path) -> list[str]:
    """The columns that make the total infinite, as sentences: randomised in one release, unchanged in another. The new
    release randomises `wanted` and shows `unprotected`."""
    found = []
    for entry in counted:
        raw, there = entry.shown(), entry.content["output"]
        shown = wanted if raw is None else wanted & raw
        if shown:
            may = "was released unchanged in" if raw is not None else "may have been released unchanged in"
            found.append(f"{names_of(shown)} is randomised in {output} and {may} {there}")
        if given := set(entry.columns) & set(unprotected):
            found.append(f"{names_of(given)} is released unchanged in {output} and was randomised in {there}")
    return [f"{one}: together epsilon is infinite" for one in found]


def randomised_before(data: Path, wanted: set[str]) -> set[str]:
    """The columns of `wanted` that the manifest beside `data` names as randomised. Raises InputError."""
    content = read_manifest(data)
    return wanted & {name for one in (content or {"columns": ()})["columns"] for name in one["released_as"]}


def crossed_before(counted: Sequence[Entry]) -> bool:
    """Whether the earlier releases alone reveal some column."""
    raw = {name for entry in counted for name in entry.shown() or ()}
    return any(raw & set(entry.columns) for entry in counted)


def names_of(columns: Iterable[str]) -> str:
    """Names of columns in a message."""
    return ", ".join(map(repr, sorted(columns)))


def check_places(data: Path, output: Path) -> None:
    """Raise InputError where the output cannot have this name."""
    if output.suffix.lower() not in SUFFIXES or SUFFIXES[output.suffix.lower()] != SUFFIXES[data.suffix.lower()]:
        raise InputError(
            f"the data are {SUFFIXES[data.suffix.lower()]}, and its suffix is of another format",
            str(output),
            f"use the suffix {data.suffix}: a release does not convert",
        )
    if output.is_dir():
        raise InputError("cannot write (a folder has this name)", str(output), "choose another name")
    if output.exists() and output.samefile(data):
        raise InputError("it is the data itself", str(output), "choose another name")
