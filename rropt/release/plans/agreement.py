"""Comparison of the columns to be counted with the manifest next to a released file: each column must be read by
its own mechanism, stratum by stratum."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from rropt.errors import Conflict, InputError, Missing, Refused, UnknownName, Unreadable, WrongType, counted
from rropt.io.count_records import check_column
from rropt.mechanisms.garbling import explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.release.plans.condition import Condition, conditions
from rropt.release.plans.cross import joined
from rropt.release.plans.manifest import QUOTED, file_sha256, manifest_path, read_manifest
from rropt.release.plans.plan import Design, ProtectedColumn, stratum_parts
from rropt.release.plans.provenance import digest, kept_folder
from rropt.release.plans.stack import Part

Columns = tuple[str, ...]
Strata = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cell:
    """Records that are counted together: `axes` maps released columns to their mechanism, `strata` are the values of
    the columns by which it was chosen, as a part that reads the column and the code of the value. `null` and `other`
    are the labels that missing and unknown values of a column count as, in data before their release."""

    axes: Mapping[Columns, Mechanism]
    strata: tuple[tuple[Part, int], ...] = ()
    null: Mapping[str, str] = field(default_factory=dict)
    other: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Strata:
        """The strata as (column, value)."""
        return tuple((part.name, part.labels[code]) for part, code in self.strata)


@dataclass(frozen=True)
class Agreement:
    """The `cells` that the records of one file fall into, the values `where` of other columns, whether a manifest
    `vouches` for the mechanisms, and whether formulas are `quoted`: if the manifest states it, or there is none. `only`
    the records that satisfy these conditions were randomised."""

    cells: tuple[Cell, ...]
    where: Mapping[str, str]
    vouches: bool
    notes: tuple[str, ...]
    quoted: bool
    only: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class _Choice:
    strata: Mapping[str, tuple[Part, int]]
    mechanism: Mechanism


def agreed(path: Path, axes: Mapping[Columns, Any], where: Mapping[str, str]) -> Agreement:
    """The cells of a released file, where `axes` states by which mechanism (or strata of mechanisms) columns were
    released and the manifest, if there is one, says the same. Raises InputError that names what is right."""
    content = read_manifest(path)
    notes = []
    if content is not None and file_sha256(path) != content["output"]["sha256"]:
        raise Unreadable(
            f"its SHA-256 differs from that in {manifest_path(path).name}: it was changed after its release, or the "
            "manifest is of another file",
            str(path),
            "restore the released file from a copy, or put its own manifest next to it",
        )
    if content is not None:
        randomised = {name for one in content["columns"] for name in one["released_as"]}
        notes += [
            f"{name!r} was randomised too: these are the records that were released as {name}={value}"
            for name, value in where.items()
            if name in randomised
        ]
        notes += [
            f"{_named(columns)} was randomised before: these are frequencies of {content['data']}, "
            "not of the original records"
            for columns in axes
            if any(tuple(one["released_as"]) == columns and one.get("randomised_before") for one in content["columns"])
        ]
    choices = [_choices(path, content, columns, given, where) for columns, given in axes.items()]
    cells = []
    for found in product(*choices):
        strata: dict[str, tuple[Part, int]] = {}
        fits = True
        for choice in found:
            for name, (part, code) in choice.strata.items():
                known = strata.setdefault(name, (part, code))
                fits = fits and known[0].labels[known[1]] == part.labels[code]
        if fits:
            made = {columns: choice.mechanism for columns, choice in zip(axes, found, strict=True)}
            cells.append(Cell(made, tuple(strata.values())))
    taken = {name for cell in cells for name, _ in cell.key}
    rest = {name: str(value) for name, value in where.items() if name not in taken}
    quoted = content is None or content["output"].get("formulas") == QUOTED
    return Agreement(tuple(cells), rest, content is not None, tuple(notes), quoted, only_in(content, axes))


def only_in(content: Mapping[str, Any] | None, axes: Mapping[Columns, Any]) -> tuple[Condition, ...]:
    """The conditions on the records in which one of these columns was randomised."""
    if content is None:
        found = [one.where for one in axes.values() if isinstance(one, ProtectedColumn)]
        return next((one for one in found if one), ())
    stated = [one.get("where", ()) for one in content["columns"] if tuple(one["released_as"]) in axes]
    return next((conditions(one, "where") for one in stated if one), ())


def released_by(path: Path, mechanism: Mechanism) -> Columns:
    """The columns of a released file that this mechanism made, by the manifest. Raises InputError unless these are one
    column, or several that were perturbed jointly."""
    own = digest(mechanism)
    entries = (read_manifest(path) or {"columns": ()})["columns"]
    found = [
        tuple(one["released_as"])
        for one in entries
        if own in (one.get("mechanism"), *one.get("mechanisms", {}).values())
    ]
    if len(found) != 1:
        what = f"this mechanism made {counted(len(found), 'columns')} of it" if entries else "it has no manifest"
        raise Missing(what, str(path), "name the released column: --column C")
    return found[0]


def before_release(
    path: Path, columns: Columns, given: Any, where: Mapping[str, str]
) -> tuple[Columns, Mapping[str, str], Mapping[str, str]]:
    """What the released `columns` were called in the data, and `null` and `other` of their release: as the manifest
    states, or else what is `given`. Raises InputError where the data do not have the records `where`."""
    entries = (read_manifest(path) or {"columns": ()})["columns"]
    for name in (name for one in entries for name in one["released_as"] if name in where):
        raise Conflict(
            f"{name!r} was randomised: the original data do not show which records were released as "
            f"{name}={where[name]}",
            str(path),
            "leave out --where or --truth",
        )
    for one in entries:
        if tuple(one["released_as"]) == columns:
            return tuple(one["columns"]), one.get("null", {}), one.get("other", {})
    if isinstance(given, ProtectedColumn):
        return given.columns, dict(given.null), dict(given.other)
    return columns, {}, {}


def _choices(
    path: Path, content: Mapping[str, Any] | None, columns: Columns, given: Any, where: Mapping[str, str]
) -> list[_Choice]:
    """The mechanisms of one column (or of several that were released jointly) in the strata that `where` leaves."""
    if content is None:
        return _declare(path, given, where)
    entry = _entry(path, content, columns)
    if entry is None:
        _refuse_unprotected(path, columns, given)
        return [_Choice({}, explicit(given, "counts"))]
    if "mechanism" in entry:
        one = given.strata[0][1] if isinstance(given, ProtectedColumn) and not given.by else given
        if isinstance(one, ProtectedColumn | Mapping):
            raise Missing(f"{_named(columns)} was released without strata", str(path), "give its mechanism")
        mechanism = explicit(one, "counts")
        if digest(mechanism) != entry["mechanism"]:
            raise _another(path, columns, given, mechanism, [entry["mechanism"]])
        return [_Choice({}, mechanism)]
    return _of_strata(path, entry, columns, given, where)


def _declare(path: Path, given: Any, where: Mapping[str, str]) -> list[_Choice]:
    """The choices where only the caller knows which mechanism made the file."""
    if isinstance(given, ProtectedColumn) and given.by:
        strata = dict(given.strata)
        parts = _parts(given.by, list(strata), dict(given.null), dict(given.other))
        return _pick(path, given.by, strata, parts, where)
    if isinstance(given, Mapping):
        raise Missing(
            "there is no manifest next to it, so the column of its strata is not known",
            str(path),
            "give ProtectedColumn(column, {stratum: mechanism}, by=...), or a RELEASE.toml",
        )
    return [_Choice({}, given.strata[0][1] if isinstance(given, ProtectedColumn) else explicit(given, "counts"))]


def _of_strata(
    path: Path, entry: Mapping[str, Any], columns: Columns, given: Any, where: Mapping[str, str]
) -> list[_Choice]:
    by = tuple(entry["by"])
    digests = {stratum_parts(label, len(by)): one for label, one in entry["mechanisms"].items()}
    picked = _pick_strata(path, by, list(digests), where)
    needed = {digests[stratum] for stratum in picked}
    if isinstance(given, ProtectedColumn | Mapping):
        strata = dict(given.strata) if isinstance(given, ProtectedColumn) else _map(given, by)
        if isinstance(given, ProtectedColumn) and given.by != by:
            raise Conflict(f"{_named(columns)} was released by {', '.join(by)}", str(path), "give its release file")
        for stratum in strata:
            if stratum not in digests:
                raise _no_stratum(path, by, list(digests), _show(by, stratum))
        for stratum in picked:
            if stratum not in strata:
                raise Missing(f"no mechanism is given for {_show(by, stratum)}", str(path), "give one for each stratum")
            if digest(strata[stratum]) != digests[stratum]:
                raise _another(path, columns, given, strata[stratum], [digests[stratum]], _show(by, stratum))
    else:
        mechanism = explicit(given, "counts")
        if needed != {digest(mechanism)}:
            raise _other_stratum(path, columns, given, mechanism, by, digests, picked)
        strata = dict.fromkeys(picked, mechanism)
    if len(set(digests.values())) > 1 and tuple(entry.get("holds_within", ())) != by:
        raise WrongType(
            f"{_named(columns)} has a mechanism for each {_named(by)}, whose true values are not in the release",
            str(path),
            "no frequencies can be estimated from it: release the strata unchanged, or use one mechanism",
        )
    if len(needed) == 1 and not set(by) & set(where):
        return [_Choice({}, strata[picked[0]])]
    parts = _parts(by, list(digests), entry.get("null", {}), entry.get("other", {}))
    return _pick(path, by, strata, parts, where)


def _pick_strata(path: Path, by: Columns, strata: Sequence[Columns], where: Mapping[str, str]) -> list[Columns]:
    """The strata that agree with `where`. Raises InputError where none does."""
    wanted = {name: str(where[name]) for name in by if name in where}
    found = [one for one in strata if all(one[by.index(name)] == value for name, value in wanted.items())]
    if not found:
        raise _no_stratum(path, by, strata, ", ".join(f"{name}={value}" for name, value in wanted.items()))
    return found


def _no_stratum(path: Path, by: Columns, strata: Sequence[Columns], asked: str) -> InputError:
    shown = ", ".join(_show(by, one) for one in strata[:6]) + (", ..." if len(strata) > 6 else "")
    return UnknownName(f"{asked} is not a stratum of it", str(path), f"its strata are {shown}")


def _pick(
    path: Path,
    by: Columns,
    strata: Mapping[Columns, Mechanism],
    parts: Sequence[Part],
    where: Mapping[str, str],
) -> list[_Choice]:
    return [
        _Choice(
            {part.name: (part, part.labels.index(value)) for part, value in zip(parts, one, strict=True)}, strata[one]
        )
        for one in _pick_strata(path, by, list(strata), where)
    ]


def _parts(by: Columns, strata: Sequence[Columns], null: Mapping[str, str], other: Mapping[str, str]) -> list[Part]:
    """How the columns of the strata are read, as the release read them."""
    labels = (tuple(dict.fromkeys(one[at] for one in strata)) for at in range(len(by)))
    return [Part.declared(name, own, null, other) for name, own in zip(by, labels, strict=True)]


def _map(given: Mapping[Any, Any], by: Columns) -> dict[Columns, Mechanism]:
    return {stratum_parts(label, len(by)): explicit(one, f"stratum {label!r}") for label, one in given.items()}


# -- the manifest's entry of a column ----------------------------------------------------------------------


def _entry(path: Path, content: Mapping[str, Any], columns: Columns) -> Mapping[str, Any] | None:
    """What was done to `columns`, None where nothing was. Raises InputError for a part of what was joint."""
    for one in content["columns"]:
        if tuple(one["released_as"]) == columns:
            return dict(one)
        if set(one["released_as"]) & set(columns):
            wanted = " ".join(f"--column {shlex.quote(name)}" for name in one["released_as"])
            raise Conflict(
                f"{_named(columns)} was not released by itself, but {_named(tuple(one['released_as']))}",
                str(path),
                f"write: {wanted}",
            )
    known = [*content.get("unprotected", ()), *(name for one in content["columns"] for name in one["released_as"])]
    for name in columns:
        check_column(known, name, str(path))
    return None


def _refuse_unprotected(path: Path, columns: Columns, given: Any) -> None:
    """A column that was left as it is has true values: its mechanism is the identity."""
    mechanism = explicit(given, "counts")
    scales = mechanism.row_denominators
    same = mechanism.inputs == mechanism.outputs and all(
        column[y] == scales[y] for y, column in enumerate(mechanism.numerators)
    )
    if not same:
        raise Refused(
            f"{_named(columns)} was released unchanged, not by a mechanism",
            str(path),
            "count it: its frequencies need no estimation",
        )


def _another(
    path: Path, columns: Columns, given: Any, mechanism: Mechanism, known: Sequence[str], stratum: str = ""
) -> InputError:
    """The error for a mechanism that is not in `known`, with the place where `rropt solve` keeps one of them."""
    designs = given.designs if isinstance(given, ProtectedColumn) else [given]
    files = [Path(one.source) for one in designs if isinstance(one, Design) and one.source]
    kept = (kept_folder(file if file.is_dir() else file.parent, one) for file in files for one in known)
    found = next((str(folder) for folder in kept if folder.is_dir()), None)
    within = f" in {stratum}" if stratum else ""
    return Conflict(
        f"column {_named(columns)} was released by another mechanism{within} (its SHA-256 is "
        f"{digest(mechanism)[:12]}..., that of {manifest_path(path).name} {min(known)[:12]}...)",
        str(path),
        "give the mechanism of the release; was its file changed?"
        if found is None
        else f"the design of this release is kept in {found}",
    )


def _other_stratum(
    path: Path,
    columns: Columns,
    given: Any,
    mechanism: Mechanism,
    by: Columns,
    digests: Mapping[Columns, str],
    picked: Sequence[Columns],
) -> InputError:
    """The error for one mechanism where records were drawn by several, with the right commands."""
    own = [stratum for stratum, one in digests.items() if one == digest(mechanism)]
    if not own:
        return _another(path, columns, given, mechanism, [digests[stratum] for stratum in picked])
    source = given.source if isinstance(given, Design) and given.source else "MECHANISM"
    flags = " ".join(f"--column {shlex.quote(name)}" for name in columns)

    def command(name: str, stratum: Columns = ()) -> str:
        chosen = [f" --where {shlex.quote(f'{n}={value}')}" for n, value in zip(by, stratum, strict=False)]
        return f"rropt estimate {shlex.quote(name)} {shlex.quote(str(path))} {flags}{''.join(chosen)}"

    mine = " or ".join(_show(by, stratum) for stratum in own[:3])
    asked = "all its strata" if len(picked) > 1 else _show(by, picked[0])
    return Conflict(
        f"column {_named(columns)} has a mechanism for each {_named(by)}: this is that of {mine}, not of {asked}",
        str(path),
        f"write: {command(source, own[0])}; for all strata together: {command('RELEASE.toml')}",
    )


def _named(columns: Columns) -> str:
    return ", ".join(map(repr, columns))


def _show(by: Columns, stratum: Columns) -> str:
    return joined(f"{name}={value}" for name, value in zip(by, stratum, strict=True))
