"""RELEASE.toml: a file with the columns, mechanisms and strata of a release; or the manifest of one that was made."""

import os
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, Missing, UnknownName, Unreadable, WrongType
from rropt.io.arguments import checked
from rropt.io.files import TOML, read_text
from rropt.io.tables import Readable
from rropt.release.plans.manifest import SUFFIX, read_manifest, release_of
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.provenance import load_design

TOP_KEYS = ("schema", "data", "output", "delimiter", "drop", "where", "learned", "column")
DECLARING = (".toml", SUFFIX)
"""The ends of the names of files that declare the columns of a release."""
COLUMN_KEYS = ("name", "names", "as", "mechanism", "mechanisms", "by", "null", "other")


@dataclass(frozen=True)
class ReleaseFile(Readable):
    """The content of a release file: the release, and its keys on files (None where they are absent)."""

    release: Release
    data: Path | None
    output: Path | None
    delimiter: str | None


@checked
def load_release(path: str | os.PathLike[str], *, check: bool = True) -> ReleaseFile:
    r"""Read a release file and the mechanisms that it names; paths are relative to its folder. Raises InputError that
    names the file and the key. A manifest (FILE.manifest.json) is read too: then the release has the manifest's
    matrices, `output` is FILE, and there are no certificates.

    The keys: `schema = 1`, `data`, `output`, `delimiter` (of text files), `drop` (a list of columns), `where` (a list of
    conditions, as "age >= 15"), `learned` (sentences for the manifest), and for each protected column a block `[[column]]` with `name`, or `names` for columns that are perturbed jointly; `mechanism`, a
    path or `{ file = "...", sha256 = "..." }`, or `by` (a column, or a list) with `mechanisms`, one for each of its
    values; `null`, `other`: a label or a table of labels by column; `as`: the released column's name. With
    `check` the checker must accept the certificates that are next to the mechanisms.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "people.csv"
        ...     size = file.write_text("answer\nno\nyes\n", encoding="utf-8")
        ...     saved = response.save(f"{folder}/response.json")
        ...     text = 'schema = 1\ndata = "people.csv"\n[[column]]\nname = "answer"\nmechanism = "response.json"\n'
        ...     size = (pathlib.Path(folder) / "plan.toml").write_text(text, encoding="utf-8")
        ...     type(rr.release.load_release(f"{folder}/plan.toml")).__name__
        'ReleaseFile'
    """
    source = Path(path)
    if source.name.endswith(SUFFIX):
        output = source.with_name(source.name.removesuffix(SUFFIX))
        found = release_of(output)
        return ReleaseFile(found, None, output, (read_manifest(output) or {})["output"].get("delimiter"))
    try:
        document = tomllib.loads(read_text(source, "release file", limits=TOML))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise Unreadable(f"this is not TOML ({error})", str(source), "fix that line") from None
    if "objective" in document:
        remedy = f"give the folder of its design: rropt solve {shlex.quote(str(source))} --out design"
        raise WrongType("this is a problem file, not a release file", str(source), remedy)
    _only(document, TOP_KEYS, str(source))
    if document.get("schema") != 1 or isinstance(document.get("schema"), bool):
        raise Unreadable(f"schema is {document.get('schema')!r}", str(source), "write: schema = 1")
    blocks = document.get("column")
    if not isinstance(blocks, list) or not blocks:
        raise Missing("no column is protected", str(source), "add a block [[column]]")
    try:
        only, drop, learned = (
            _listing(document.get(key, []), f"{source}: {key}") for key in ("where", "drop", "learned")
        )
        columns = [_column(block, source, number, check, only) for number, block in enumerate(blocks, 1)]
        release = Release(columns, drop=drop, learned=learned)
    except InputError as error:
        if str(source) in error.where:
            raise
        raise error.at(f"{source}: {error.where}") from None
    return ReleaseFile(
        release,
        _place(document.get("data"), source, "data"),
        _place(document.get("output"), source, "output"),
        _text(document.get("delimiter"), f"{source}: delimiter"),
    )


def _column(block: Any, source: Path, number: int, check: bool, only: list[str]) -> ProtectedColumn:
    where = f"{source}: column {number}"
    if not isinstance(block, Mapping):
        raise WrongType("it is not a table", where, "write [[column]]")
    _only(block, COLUMN_KEYS, where)
    if ("name" in block) == ("names" in block):
        raise Conflict("give either name or names", where, "names = [...] are perturbed jointly")
    columns = (
        [_require(block["name"], f"{where}: name")] if "name" in block else _listing(block["names"], f"{where}: names")
    )
    if ("mechanism" in block) == ("mechanisms" in block):
        raise Conflict("give either mechanism or mechanisms", where, "mechanisms = { stratum = path } goes with by")
    mechanism: Any
    if "mechanism" in block:
        mechanism = _mechanism(block["mechanism"], source, where, check)
    else:
        if not isinstance(block["mechanisms"], Mapping):
            raise WrongType("mechanisms is not a table", where, 'write mechanisms = { stratum = "path" }')
        mechanism = {
            stratum: _mechanism(one, source, f"{where}: stratum {stratum!r}", check)
            for stratum, one in block["mechanisms"].items()
        }
    by = block.get("by", [])
    return ProtectedColumn(
        columns,
        mechanism,
        by=[by] if isinstance(by, str) else _listing(by, f"{where}: by"),
        null=_marks(block.get("null"), f"{where}: null"),
        other=_marks(block.get("other"), f"{where}: other"),
        name=_text(block.get("as"), f"{where}: as"),
        where=only,
    )


def _mechanism(given: Any, source: Path, where: str, check: bool) -> Any:
    table = {"file": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or "file" not in table:
        raise UnknownName(f"{given!r} names no mechanism", where, 'write mechanism = "folder/mechanism.json"')
    _only(table, ("file", "sha256"), where)
    file = _require(table["file"], f"{where}: file")
    return load_design(source.parent / file, _text(table.get("sha256"), f"{where}: sha256"), check)


def _only(table: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    unknown = sorted(set(table) - set(keys))
    if unknown:
        raise UnknownName(f"unknown key {unknown[0]!r}", where, f"known are {', '.join(keys)}")


def _listing(given: Any, where: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) and one for one in given):
        raise WrongType(f"{given!r} is not a list of names", where, 'write ["a", "b"]')
    return given


def _require(given: Any, where: str) -> str:
    text = _text(given, where)
    if not text:
        raise Missing("it is empty", where, "give a text")
    return text


def _text(given: Any, where: str) -> str | None:
    if given is not None and not isinstance(given, str):
        raise WrongType(f"{given!r} is not a text", where, "write it in quotes")
    return given


def _marks(given: Any, where: str) -> Any:
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for one in given.values()):
        raise UnknownName(f"{given!r} is not a label", where, "write one, or a table with one for each column")
    return given


def _place(given: Any, source: Path, key: str) -> Path | None:
    text = _text(given, f"{source}: {key}")
    return None if not text else source.parent / text
