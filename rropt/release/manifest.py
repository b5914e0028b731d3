"""The manifest beside a released file: what was done to it, for those who use it.

It says nothing that the release itself does not say: no hash of the data, no number of missing values. By a hash of the
data, whoever knows all records but one could guess that one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rropt.errors import InputError
from rropt.files import read_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.release.cross import joined
from rropt.release.plan import ProtectedColumn
from rropt.release.privacy import Level, Privacy, epsilon_above, parity_text, together
from rropt.release.provenance import digest

FORMAT = "rropt-release"
SUFFIX = ".manifest.json"


def manifest_path(output: Path) -> Path:
    """Where the manifest of `output` stands."""
    return output.with_name(output.name + SUFFIX)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in base 16. Raises InputError."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"it cannot be read ({error.strerror})", str(path), "check the path") from None


def _number(epsilon: float) -> float | None:
    """JSON has no infinity."""
    return None if math.isinf(epsilon) else epsilon


def described(column: ProtectedColumn, level: Level) -> dict[str, Any]:
    """One protected column as the manifest tells it; mechanisms by their digests."""
    told: dict[str, Any] = {"columns": list(column.columns), "released_as": list(column.released)}
    if column.by:
        told["by"] = list(column.by)
        told["mechanisms"] = {
            joined(stratum) if len(stratum) > 1 else stratum[0]: digest(one) for stratum, one in column.strata
        }
        told["holds_within"] = list(level.strata)
    else:
        told["mechanism"] = digest(column.strata[0][1])
    told |= {name: dict(marks) for name, marks in (("null", column.null), ("other", column.other)) if marks}
    return told | {"epsilon": _number(level.epsilon), "parity": parity_text(level.parity)}


def manifest(
    release_id: str,
    created: str,
    data: Path,
    rows: int,
    output: dict[str, Any],
    columns: Sequence[ProtectedColumn],
    privacy: Privacy,
    unprotected: Sequence[str],
    dropped: Sequence[str],
    earlier: Sequence[Fraction | float],
) -> dict[str, Any]:
    """The manifest as an object; `earlier` are the parities of what was drawn from this data before."""
    return {
        "format": FORMAT,
        "version": 1,
        "release": release_id,
        "created": created,
        "data": data.name,
        "rows": rows,
        "output": output,
        "columns": [described(one, level) for one, level in zip(columns, privacy.levels, strict=True)],
        "unprotected": list(unprotected),
        "dropped": list(dropped),
        "epsilon": _number(privacy.epsilon),
        "parity": parity_text(privacy.parity),
        "earlier_draws": len(earlier),
        "epsilon_with_earlier": _number(epsilon_above(together([privacy.parity, *earlier]))),
    }


def manifest_text(document: dict[str, Any]) -> str:
    """The file's text."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_manifest(output: Path) -> dict[str, Any] | None:
    """The manifest beside `output`, or None where there is none. Raises InputError for one that cannot be read."""
    path = manifest_path(output)
    if not path.exists():
        return None
    try:
        document = json.loads(read_text(path, "manifest"))
        if document["format"] != FORMAT or document["version"] != 1:
            raise ValueError
        _ = document["release"], document["output"]["sha256"] + "", document["rows"] + 0
        for one in document["columns"]:
            _ = one["released_as"], one["mechanism"] if "mechanism" in one else one["mechanisms"].values()
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("this is no manifest of a release", str(path), "move it away") from None
    return dict(document)


def check_released(path: Path, columns: Sequence[str], mechanisms: Sequence[Mechanism]) -> None:
    """Where a manifest stands beside a released file: raise InputError unless the file is the one that it tells of, and
    `columns` were released by `mechanisms` (those of all strata, in any order)."""
    told = read_manifest(path)
    if told is None:
        return
    if file_sha256(path) != told["output"]["sha256"]:
        raise InputError(
            f"its SHA-256 is not the one that {manifest_path(path).name} tells",
            str(path),
            "it was changed after its release, or the manifest is of another file",
        )
    for one in told["columns"]:
        if set(one["released_as"]) & set(columns):
            known = {one["mechanism"]} if "mechanism" in one else set(one["mechanisms"].values())
            wrong = [digest(mechanism) for mechanism in mechanisms if digest(mechanism) not in known]
            if wrong:
                raise InputError(
                    f"column {', '.join(map(repr, columns))} was released by another mechanism (its SHA-256 is "
                    f"{wrong[0][:12]}..., that of {manifest_path(path).name} {min(known)[:12]}...)",
                    str(path),
                    "give the mechanism of the release; was its file changed?",
                )
