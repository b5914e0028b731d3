"""The manifest next to a released file: how it was made, and by which matrices, for its users.

It reveals no more than the release itself: neither a hash of the data nor the number of missing values. From a hash
of the data anyone who knows all records but one could guess that one.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rropt.errors import InputError, Missing, Unreadable
from rropt.io.files import JSON, open_file, read_text
from rropt.mechanisms.mechanism import Mechanism
from rropt.release.plans.cross import joined
from rropt.release.plans.odds import privacy_ratio_text
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.privacy import Level, Privacy
from rropt.release.plans.provenance import digest

FORMAT = "rropt-release"
SUFFIX = ".manifest.json"
QUOTED, AS_THEY_ARE = "quoted", "as they are"
"""The text of a manifest on the formulas in a text file."""
MOST_TEXT = 1 << 22
"""Characters of all matrices of a manifest; without them an estimate needs the mechanism files."""


def manifest_path(output: Path) -> Path:
    """The place of the manifest of `output`."""
    return output.with_name(output.name + SUFFIX)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in base 16. Raises InputError."""
    try:
        with open_file(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise Unreadable(f"it cannot be read ({error.strerror})", str(path), "check the path") from None


def _number(epsilon: float) -> float | None:
    """A number as JSON, which does not have an infinity."""
    return None if math.isinf(epsilon) else epsilon


def described(column: ProtectedColumn, level: Level) -> dict[str, Any]:
    """One protected column as an entry of the manifest; mechanisms by their digests."""
    content: dict[str, Any] = {"columns": list(column.columns), "released_as": list(column.released)}
    if column.by:
        content["by"] = list(column.by)
        names = [joined(stratum) if len(stratum) > 1 else stratum[0] for stratum, _ in column.strata]
        content["mechanisms"] = {name: digest(one) for name, (_, one) in zip(names, column.strata, strict=True)}
        content["designs"] = {name: one.to_dict() for name, one in zip(names, column.designs, strict=True)}
        content["holds_within"] = list(level.strata)
    else:
        content["mechanism"] = digest(column.strata[0][1])
        content |= column.designs[0].to_dict()
    content |= {name: dict(marks) for name, marks in (("null", column.null), ("other", column.other)) if marks}
    content |= {"where": list(map(str, column.where))} if column.where else {}
    return content | {"epsilon": _number(level.epsilon), "privacy_ratio": privacy_ratio_text(level.privacy_ratio)}


def manifest(
    release_id: str,
    created: str,
    data: Path,
    rows: int,
    output: dict[str, Any],
    release: Release,
    privacy: Privacy,
    unprotected: Sequence[str],
    earlier: int,
    total: float,
) -> dict[str, Any]:
    """The manifest as an object; `earlier` columns were drawn before, and `total` is the epsilon of all draws
    together.
    """
    return {
        "format": FORMAT,
        "version": 1,
        "release": release_id,
        "created": created,
        "data": data.name,
        "rows": rows,
        "output": output,
        "columns": [described(one, level) for one, level in zip(release.columns, privacy.levels, strict=True)],
        "matrices": matrices(release),
        "unprotected": list(unprotected),
        "dropped": list(release.drop),
        "learned": list(release.learned),
        "epsilon": _number(privacy.epsilon),
        "privacy_ratio": privacy_ratio_text(privacy.privacy_ratio),
        "earlier_draws": earlier,
        "epsilon_with_earlier": _number(total),
    }


def matrices(release: Release) -> dict[str, Any] | None:
    """The content of the file of each mechanism, by its digest; None where they are too long together."""
    found: dict[str, Any] = {}
    size = 0
    for mechanism in {id(one): one for column in release.columns for _, one in column.strata}.values():
        document = json.loads(mechanism.to_json())
        size += len(_compact(document))
        if size > MOST_TEXT:
            return None
        found[digest(mechanism)] = document
    return found


def _compact(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def manifest_text(document: dict[str, Any]) -> str:
    """The file's text, with one line for each matrix."""
    rest = {name: one for name, one in document.items() if name != "matrices"}
    text = json.dumps(rest, ensure_ascii=False, indent=1)
    if not (found := document.get("matrices")):
        return text + "\n"
    lines = ",\n".join(f"  {json.dumps(name)}: {_compact(one)}" for name, one in found.items())
    return f'{text[:-2]},\n "matrices": {{\n{lines}\n }}\n}}\n'


def read_manifest(output: Path) -> dict[str, Any] | None:
    """The manifest next to `output`, or None where there is none. Raises InputError for one that cannot be read."""
    path = manifest_path(output)
    if not path.exists():
        return None
    try:
        document = json.loads(read_text(path, "manifest", limits=JSON))
        if document["format"] != FORMAT or document["version"] != 1:
            raise ValueError
        _ = document["release"], document["output"]["sha256"] + "", document["rows"] + 0
        for one in document["columns"]:
            digests = [one["mechanism"]] if "mechanism" in one else one["mechanisms"].values()
            if not all(isinstance(text, str) for text in (*one["released_as"], *digests)):
                raise ValueError
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable("this is not a manifest of a release", str(path), "move it away") from None
    return dict(document)


def release_of(output: Path) -> Release:
    """The release that the manifest next to `output` describes, with its matrices; what their certificates guarantee is
    in the manifest. Raises InputError where there is no manifest, where it has no matrices, or where one of them is not
    that of its SHA-256."""
    content = read_manifest(output)
    where = str(manifest_path(output))
    if content is None:
        raise Missing("there is no manifest", where, "put it next to the released file, or give the mechanism")
    if not content.get("matrices"):
        raise Missing("this manifest has no matrices", where, "give the release file, or the mechanism")
    try:
        columns = [_column_of(one, content["matrices"], where) for one in content["columns"]]
        return Release(columns, drop=content["dropped"], learned=content.get("learned", ()))
    except (KeyError, TypeError, AttributeError):
        raise Unreadable("this is not a manifest of a release", where, "restore it from a copy") from None


def _column_of(entry: Mapping[str, Any], known: Mapping[str, Any], where: str) -> ProtectedColumn:
    def read(sha256: str) -> Mechanism:
        mechanism = Mechanism.parse(json.dumps(known[sha256], ensure_ascii=False), where)
        if digest(mechanism) != sha256:
            raise Unreadable(f"its matrix {sha256[:12]}... was changed", where, "restore it from a copy")
        return mechanism

    strata = entry.get("mechanisms")
    made = read(entry["mechanism"]) if strata is None else {label: read(one) for label, one in strata.items()}
    columns, released = entry["columns"], entry["released_as"]
    return ProtectedColumn(
        columns,
        made,
        by=entry.get("by", ()),
        null=entry.get("null"),
        other=entry.get("other"),
        name=None if columns == released else released[0],
        where=entry.get("where", ()),
    )
