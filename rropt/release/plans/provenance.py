"""Mechanism files, read and compared with the certificate beside them; digests that identify them."""

import difflib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from rropt.errors import InputError, Missing, Unreadable
from rropt.io.files import JSON, read_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.prove.mechanism_files import MECHANISM, read_mechanism
from rropt.release.plans.plan import Design, Release

SOLUTION = "solution.json"
SOLUTION_FORMAT = "rropt-solution"


def digest(mechanism: Mechanism) -> str:
    """SHA-256, in base 16, of the file that `Mechanism.save` writes."""
    return hashlib.sha256(mechanism.to_json().encode()).hexdigest()


def kept_folder(folder: Path, sha256: str) -> Path:
    """Where `rropt solve --out` keeps an earlier design of the folder, of this digest."""
    return folder / f"earlier-{sha256[:12]}"


def release_digest(release: Release) -> str:
    """SHA-256, in base 16, of the content of a release: columns, strata, mechanisms, what is dropped."""
    content = [
        [one.columns, one.by, one.null, one.other, one.name, [[at, digest(mechanism)] for at, mechanism in one.strata]]
        for one in release.columns
    ]
    whole = [content, release.drop, *([list(map(str, release.where))] if release.where else [])]
    return hashlib.sha256(json.dumps(whole, ensure_ascii=False).encode()).hexdigest()


def load_mechanism(path: str | os.PathLike[str], sha256: str | None = None, check: bool = False) -> Mechanism:
    """The mechanism alone of `load_design`; here the checker runs with `check` only. Raises InputError."""
    return load_design(path, sha256, check).mechanism


def load_design(path: str | os.PathLike[str], sha256: str | None = None, check: bool = True) -> Design:
    """Read a mechanism for a release: a mechanism file, a certificate, or the folder that `rropt solve` wrote.

    Raises InputError where the certificate that is next to a mechanism file is of another mechanism, where the
    mechanism's `digest` is not `sha256` or where its integers break the ratios of the certificate: then one
    of the files was changed. With `check` also where the checker refuses the certificate, however long it is.
    """
    try:
        mechanism, problem = read_mechanism(path, check)
    except Unreadable:
        place = Path(path)
        folders = [] if place.exists() else [one.parent.name for one in place.parent.glob(f"*/{MECHANISM}")]
        for near in difflib.get_close_matches(place.name, folders, n=1):
            what = "there is no such mechanism"
            raise Missing(what, str(path), f"did you mean {str(place.with_name(near))!r}?") from None
        raise
    if problem is None:
        design = Design(mechanism, str(path))
    else:
        design = Design(mechanism, str(path), problem, "checked" if check else "unchecked")
    if sha256 is not None and digest(design.mechanism) != sha256.lower():
        raise Unreadable(
            f"its SHA-256 is {digest(design.mechanism)}, not {sha256.lower()}: the mechanism was changed",
            str(path),
            "give the mechanism with that SHA-256, or correct sha256 in the release file",
        )
    return design


def solution_of(path: Path) -> dict[str, Any]:
    """The object of a solution.json. Raises InputError."""
    remedy = "give the folder that rropt solve --out wrote, or its solution.json"
    if not path.exists():
        raise Missing("there is no solution here", str(path), remedy)
    try:
        content = json.loads(read_text(path, "solution", limits=JSON))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise Unreadable("this is not JSON", str(path), remedy) from None
    if not isinstance(content, dict) or content.get("format") != SOLUTION_FORMAT:
        raise Unreadable("this is not a solution", str(path), remedy)
    return content
