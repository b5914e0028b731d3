"""What goes with a released file beside its manifest: a README.txt, and a folder for R with the matrices. Both say how to
tabulate randomised columns; all of it follows from the release and its manifest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import prod
from pathlib import Path
from typing import Any

from rropt.errors import InputError, NotWritten
from rropt.exact import shown
from rropt.io.files import csv_text, write_whole
from rropt.mechanisms.estimators.linear import float_rank
from rropt.release.plans.cross import joined
from rropt.release.plans.manifest import AS_THEY_ARE, manifest_path, read_manifest
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.provenance import digest
from rropt.release.storage.private import Kept

README, FOR_R = ".README.txt", ".for-R"
SCRIPT, FUNCTIONS, MATRIX = "estimate.R", "functions.R", "matrix.csv"
SOURCES = ("labels", "scores", "estimates", "regression", "matrix")
"""The files of functions for R, in the order in which they are read."""
KEY = b"rropt"
"""The name of the sentence in the metadata of Parquet and Arrow files."""
HEAD = "rropt: some columns of this file are randomised"
HEAD_R = "# Made by rropt: frequencies of the true categories of a released file."
HEAD_FUNCTIONS = "# Made by rropt: functions in R for estimates from a released file."
HEADS = ("column", "stratum", "category", "answer", "probability")
MOST_ENTRIES = 1 << 18
"""Entries of the matrices in the folder for R, all together."""
LARGEST = 1 << 20
"""Entries of a matrix whose rank is computed."""


def places(output: Path) -> dict[str, Path]:
    """Where the files beside a release go: "readme", "script", "functions" and "matrix"."""
    folder = output.with_name(output.name + FOR_R)
    return {
        "readme": output.with_name(output.name + README),
        "script": folder / SCRIPT,
        "functions": folder / FUNCTIONS,
        "matrix": folder / MATRIX,
    }


def refuse_others(output: Path) -> None:
    """Raise InputError where a file that no release wrote is in one of these places."""
    for name, path in places(output).items():
        if path.is_dir() or (path.exists() and not _own(path, name)):
            raise NotWritten("this file is not of a release", str(path), "move it away, or use --force to overwrite it")


def _own(path: Path, name: str) -> bool:
    first = {"readme": HEAD, "script": HEAD_R, "functions": HEAD_FUNCTIONS, "matrix": ",".join(HEADS)}[name]
    with path.open("rb") as stream:
        return stream.read(len(first)) == first.encode()


def write_companions(output: Path, release: Release, content: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write what goes with the release `output`, whose manifest is `content`, in place of what went with an earlier
    one; returns the README and the folder for R, if there is one. Of a folder of releases, `content` is the manifest
    of one, with the `rows` of all, and its key `manifest` is where that is from the folder above. Raises
    InputError."""
    at = places(output)
    texts = {"readme": readme(output, release, content)}
    if for_r(release):
        texts |= {"matrix": matrix_csv(release, _quoted(content)), "functions": functions()}
        texts |= {"script": script(output, release, content)}
    else:
        _remove([path for name, path in at.items() if name != "readme" and path.is_file() and _own(path, name)])
    for name, text in texts.items():
        write_whole(at[name], text)
    if _replaced(output, content):
        # Another release took the name while these were written: none of them may stay beside it.
        _remove([at[name] for name, text in texts.items() if _has(at[name], text)])
        raise NotWritten("another release took its name", str(output), "release under another name")
    return (at["readme"], at["script"].parent) if "script" in texts else (at["readme"],)


def kept_companions(output: Path) -> list[Kept]:
    """What goes with an earlier release at this place, to be removed before another file gets its name."""
    return [Kept(path) for name, path in places(output).items() if path.is_file() and _own(path, name)]


def _replaced(output: Path, content: Mapping[str, Any]) -> bool:
    """Whether the manifest beside `output` is one of another release."""
    if "manifest" in content:
        return False
    try:
        found = read_manifest(output)
    except InputError:
        return True
    return found is not None and found["release"] != content["release"]


def _has(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _remove(paths: list[Path]) -> None:
    """Remove files, and the folders that are empty then."""
    for path in paths:
        path.unlink(missing_ok=True)
        if path.parent.name.endswith(FOR_R):
            with suppress(OSError):
                path.parent.rmdir()


def sentence(names: tuple[str, ...]) -> str:
    """The warning about a column, or about several that were perturbed jointly."""
    if len(names) == 1:
        return f"column {names[0]!r} is randomised; do not tabulate it directly"
    return f"columns {', '.join(map(repr, names))} are randomised jointly; do not tabulate them directly"


def metadata(output: Path, release: Release) -> dict[bytes, bytes]:
    """The warning as metadata of a Parquet or an Arrow file."""
    parts = []
    for column in release.columns:
        command = _estimate(output, {}, column) if identified(column, release) else ""
        parts.append(sentence(column.released) + (f": {command}" if command else ""))
    return {KEY: "; ".join(parts).encode()}


def identified(column: ProtectedColumn, release: Release) -> bool:
    """Whether frequencies can be estimated from a released column."""
    return (len({digest(one) for _, one in column.strata}) == 1 or release.public(column)) and all(
        prod(one.shape) > LARGEST or float_rank(one.matrix) == len(one.inputs) for _, one in column.strata
    )


def readme(output: Path, release: Release, content: Mapping[str, Any]) -> str:
    """The text of README.txt."""
    return "\n".join([*_lines(output, release, content), ""])


def _lines(output: Path, release: Release, content: Mapping[str, Any]) -> Iterator[str]:
    name = output.name
    yield from (HEAD, "", f"File: {name} ({content['rows']:,} records)", "")
    for column in release.columns:
        said = sentence(column.released)
        yield f"- {said[0].upper()}{said[1:]}."
        within = f", within each {', '.join(column.by)}" if column.by and release.public(column) else ""
        yield f"  {column.guarantee}{within}"
    yield f"All together: plain LDP (epsilon {_epsilon(content)}) for each record."
    yield f"Unchanged columns: {', '.join(content['unprotected']) or 'none'}."
    if release.where:
        only = " and ".join(map(str, release.where))
        yield f"Only records with {only} were randomised. The others keep their values."
    yield ""
    yield "Counts, means and regressions of a randomised column as it stands are wrong: noise was added to each answer."
    yield "These commands estimate what the true values have, with standard errors:"
    yield ""
    known = [column for column in release.columns if identified(column, release)]
    if content.get("matrices"):
        for column in known:
            yield f"  {_estimate(output, content, column)}"
        single = [column.released[0] for column in known if len(column.released) == 1]
        if len(single) > 1:
            yield f"  {_command('estimate', output, content)} --table {_listed(single[:2])}"
        if known and "manifest" not in content:
            yield f"  {_command('scores', output, content)} -o scored.csv"
    else:
        yield "  rropt estimate MECHANISM FILE --column C"
        yield "  with the mechanism of the SHA-256 that the manifest names: it is too large for the manifest."
    for column in release.columns:
        if column not in known:
            yield f"  (no frequencies can be estimated from {', '.join(column.released)})"
    yield ""
    yield f"{_manifest(output, content)} has the matrices, the guarantees, and the SHA-256 of its file."
    if for_r(release):
        yield f"{name}{FOR_R} has the matrices as a table, and a script in R that estimates frequencies."


def _epsilon(content: Mapping[str, Any]) -> str:
    return "infinite" if content["epsilon"] is None else shown(Fraction(content["epsilon"]), 12, up=True)


def _manifest(output: Path, content: Mapping[str, Any]) -> str:
    return str(content.get("manifest", manifest_path(output).name))


def _command(verb: str, output: Path, content: Mapping[str, Any]) -> str:
    return f"rropt {verb} {shlex.quote(_manifest(output, content))} {shlex.quote(output.name)}"


def _estimate(output: Path, content: Mapping[str, Any], column: ProtectedColumn) -> str:
    names = " ".join(f"--column {shlex.quote(name)}" for name in column.released)
    return f"{_command('estimate', output, content)} {names}"


def _listed(names: list[str]) -> str:
    marked = ['"{}"'.format(name.replace('"', '""')) if "," in name or '"' in name else name for name in names]
    return shlex.quote(",".join(marked))


# -- R -----------------------------------------------------------------------------------------------------


def for_r(release: Release) -> tuple[ProtectedColumn, ...]:
    """The columns in the folder for R: those from which frequencies can be estimated, unless they are too large."""
    known = tuple(column for column in release.columns if identified(column, release))
    entries = sum(prod(one.shape) for column in known for _, one in column.strata)
    return known if entries <= MOST_ENTRIES else ()


def _quoted(content: Mapping[str, Any]) -> bool:
    return content["output"].get("formulas") != AS_THEY_ARE


def matrix_csv(release: Release, quoted: bool) -> str:
    """One line for each entry of each matrix: the probability of an answer at a true category."""
    rows: list[tuple[object, ...]] = [HEADS]
    for column in for_r(release):
        for stratum, mechanism in column.strata:
            start = _label(column.released), _label(stratum)
            for label, numbers in zip(mechanism.inputs, mechanism.matrix.tolist(), strict=True):
                rows += [
                    (*start, label, answer, repr(number))
                    for answer, number in zip(mechanism.outputs, numbers, strict=True)
                ]
    return csv_text(rows, quoted)


def _label(parts: tuple[str, ...]) -> str:
    """One name of several; one alone is itself, as in the manifest."""
    return joined(parts) if len(parts) > 1 else "".join(parts)


def functions() -> str:
    """The functions for estimates in R, from the sources that the package r/ has too."""
    sources = files("rropt.release") / "r"
    return "\n".join([HEAD_FUNCTIONS, *((sources / f"{name}.R").read_text("utf-8") for name in SOURCES)])


def script(output: Path, release: Release, content: Mapping[str, Any]) -> str:
    """A script in R, without packages, that estimates the frequencies of all columns."""
    form = content["output"].get("delimiter")
    quoted = "TRUE" if _quoted(content) else "FALSE"
    folder = f"{output.name}{FOR_R}"
    # A text file is read as text; the apostrophes in front of formulas are removed, in its names too.
    if form is None:
        package = "arrow::read_parquet" if output.suffix.lower() in (".parquet", ".pq") else "arrow::read_feather"
        data = f"as.data.frame({package}({_r(output.name)}))"
        if "manifest" in content:
            found = f'list.files({_r(output.name)}, "[.]parquet$", recursive = TRUE, full.names = TRUE)'
            data = f"do.call(rbind, lapply({found}, function(file) as.data.frame(arrow::read_parquet(file))))"
    else:
        data = f"text_table({_r(output.name)}, {_r(form)}, {quoted})"
    columns = ",\n    ".join(_r_column(column, release) for column in for_r(release))
    lines = (
        HEAD_R,
        "# Run it in the folder of that file. Then rr_table(release, A, B), rr_mean(release, Y, A), rr_glm(release, A, Y)",
        "# and rr_scores(release, A) give other estimates, of columns A and B and of numbers Y.",
        f'source({_r(f"{folder}/{FUNCTIONS}")}, encoding = "UTF-8")',
        "release <- release_from(",
        f"  {data},",
        f'  text_table({_r(f"{folder}/{MATRIX}")}, ",", {quoted}),',
        "  list(",
        f"    {columns}",
        "  ),",
        f"  {_r_vector(content['unprotected'])}",
        ")",
        "for (one in release$columns) print(rr_frequencies(release, one$released), digits = 12)",
    )
    return "\n".join([*lines, ""])


def _r_column(column: ProtectedColumn, release: Release) -> str:
    parts = {
        "columns": _r_vector(column.columns),
        "released": _r_vector(column.released),
        "by": _r_vector(column.by),
        "null": _r_list({name: _r(one) for name, one in column.null if name in column.by}),
        "other": _r_list({name: _r(one) for name, one in column.other if name in column.by}),
        "where": _r_vector(map(str, release.where)),
    }
    return _r_list(parts)


def _r_list(parts: Mapping[str, str]) -> str:
    return f"list({', '.join(f'{_name(name)} = {text}' for name, text in parts.items())})"


def _name(text: str) -> str:
    return text if text.isascii() and text.isidentifier() else _r(text)


def _r_vector(names: Any) -> str:
    return f"c({', '.join(map(_r, names))})"


@cache
def _r(text: str) -> str:
    """A string of R, in ASCII."""

    def letter(one: str) -> str:
        if one in '\\"':
            return f"\\{one}"
        if " " <= one <= "~":
            return one
        return f"\\u{ord(one):04x}" if ord(one) < 1 << 16 else f"\\U{ord(one):08x}"

    return f'"{"".join(map(letter, text))}"'
