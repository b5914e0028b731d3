"""The files of a design that can be published: the mechanism, and files without counts of people."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rropt.errors import InputError, NotWritten, Unreadable
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.files import named_path, open_file, write_whole
from rropt.prove.mechanism_files import CERTIFICATE, MECHANISM, TABLE, other_mechanisms
from rropt.release.plans.provenance import SOLUTION, load_design, solution_of

DESIGN = (MECHANISM, TABLE, "mixture.csv")
"""Files that hold the mechanism only."""
PROOF = (CERTIFICATE, SOLUTION)
"""Files that hold the whole problem."""


@dataclass(frozen=True, eq=False)
class Published(ByContent):
    """The files that were written, and the reason for each of the others, by name."""

    written: tuple[Path, ...]
    kept: dict[str, str]


@checked
def publish_design(
    design: str | os.PathLike[str], out: str | os.PathLike[str], counts_are_public: bool = False
) -> Published:
    """Copy the files of the folder `design`, which `rropt solve` wrote, that can be published into the new folder
    `out`.

    That is the mechanism, whose certificate must be accepted; certificate and solution only where the problem that they
    state holds no counts, or rounded ones, or where you say that the `counts_are_public`. Raises InputError.
    """
    source, target = named_path(design), named_path(out)
    if not source.is_dir():
        raise Unreadable("this is not a folder", str(source), "give the folder that rropt solve wrote")
    if target.exists():
        raise NotWritten(
            "this folder exists already", str(target), "choose a new folder: what is in it may not be public"
        )
    load_design(source)
    for line in other_mechanisms(source / CERTIFICATE):
        raise InputError(line, str(source), "a file was changed: solve again")
    names = sorted(os.listdir(source))
    why = "" if counts_are_public else _counts(source / SOLUTION)
    kept = {name: why for name in PROOF if why and name in names}
    kept |= {name: "it is not a file of a design" for name in names if name not in (*DESIGN, *PROOF)}
    found = {}
    for name in names:
        if name not in kept:
            try:
                with open_file(source / name) as stream:
                    found[name] = stream.read()
            except OSError as error:
                raise Unreadable(f"it cannot be read ({error.strerror})", str(source / name), "check it") from None
    return Published(tuple(write_whole(target / name, data, new=True) for name, data in found.items()), kept)


def _counts(path: Path) -> str:
    """Why the problem of a solution is not published, "" where it is. Raises InputError."""
    if not path.is_file():
        return f"there is no {SOLUTION} that says where its counts come from"
    document = solution_of(path)
    try:
        problem = tomllib.loads(document["problem"])
        data = document["data"]
        public = data is not None and bool(data.get("public"))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Unreadable("its problem cannot be read", str(path), "solve again") from None
    if public:
        problem.get("input", {}).pop("counts", None)
    if not _holds_counts(problem):
        return ""
    return "it holds the exact counts" + (f" of column {data['column']!r} of {data['file']}" if data else "")


def _holds_counts(value: Any) -> bool:
    """Whether some key of a problem holds counts."""
    if isinstance(value, dict):
        return any(key.startswith("count") or _holds_counts(one) for key, one in value.items())
    return isinstance(value, list) and any(map(_holds_counts, value))
