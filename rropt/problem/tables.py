"""Problem files (TOML), read and written: the same names as in the Python API."""

from __future__ import annotations

import difflib
import json
import math
import os
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rropt.declare import constraints, objectives
from rropt.errors import (
    Conflict,
    InputError,
    Missing,
    NotWritten,
    SettingNeeded,
    UnknownName,
    Unreadable,
    WrongType,
    suggestion,
)
from rropt.exact import declared_text, rational
from rropt.io.count_records import COLUMNAR
from rropt.io.files import TABLE, csv_rows, read_text
from rropt.model.prior import Pairs, Prior, clean_labels, placed_prior
from rropt.problem.goal import Maximize, Minimize
from rropt.solve.options import SolveOptions

if TYPE_CHECKING:
    from rropt.problem.declared import Problem

TOP_KEYS = ("schema", "name", "input", "objective", "constraint", "outputs", "solve")
INPUT_KEYS = ("counts_file", "data_file", "counts", "probabilities", "uniform", "categories")
DATA_KEYS = ("column", "delimiter", "null")
"""Keys that state how a data_file is read."""
PAIR_KEYS = ("sensitive", "other", "pairs")
"""Keys that state that the inputs are pairs of a sensitive and another value."""


class Declared(NamedTuple):
    """The declarations of a problem file: the problem, the frequencies that it was read with, also where it does not use
    them, and whether its [input] names the inputs."""

    problem: Problem
    prior: Prior | None
    named: bool


def problem_from(made: type[Problem], text: str, source: str, given: Prior | None) -> Declared:
    """A problem (of the class `made`) from TOML text. `source` is the file's path: it appears in messages, and
    `counts_file` and `data_file` are relative to its folder. A `given` prior has the frequencies of the inputs that
    [input] names, whose order stays; where it names none, the inputs are those of the prior. Raises InputError."""
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        first = text.lstrip().partition("\n")[0]
        is_data = "=" not in first and not first.startswith(("[", "#"))
        data = "; for data write: rropt solve MODEL --data FILE --column NAME" if is_data else ""
        remedy = f"fix that line{data}"
        raise Unreadable(f"this is not TOML ({error})", source, remedy) from None
    except ValueError as error:
        raise Unreadable(f"a number cannot be read ({error})", source, "shorten it") from None
    for key in document:
        if key in (*INPUT_KEYS, *DATA_KEYS, *PAIR_KEYS):
            remedy = f"write [input] above it; for the values of --data, delete {key!r} too"
            raise UnknownName(f"{key!r} belongs below [input]", source, remedy)
    _only(document, TOP_KEYS, source)
    if document.get("schema") != 1 or isinstance(document.get("schema"), bool):
        got = repr(document["schema"]) if "schema" in document else "missing"
        raise Unreadable(f"schema is {got}", source, "write: schema = 1")
    name = document.get("name", Path(source).stem)
    if not isinstance(name, str):
        raise UnknownName(f"name is {name!r}", source, "give a word that can name a folder")
    own = document.get("input")
    named = own not in (None, {}) and not (isinstance(own, dict) and "data_file" in own)
    if given is None or named:
        with _section(f"{source} [input]", source):
            prior, labels = _read_input(_table(document, "input", source), source)
        if given is not None:
            prior = placed_prior(given, labels, None if prior is None else prior.pairs, source)
    else:
        prior, labels = given, given.labels
    with _section(f"{source} [objective]", source):
        goal = _read_goal(_table(document, "objective", source), prior, f"{source} [objective]")
    declared = []
    for number, entry in enumerate(_list(document.get("constraint", []), source), start=1):
        with _section(f"{source} [[constraint]] {number}", source):
            declared.append(_read_constraint(entry, f"{source} [[constraint]] {number}", Path(source).parent, prior))
    outputs = document.get("outputs")
    if outputs is not None and not isinstance(outputs, list):
        raise WrongType("outputs is not a list of labels", source, 'as outputs = ["yes", "no"]')
    with _section(f"{source} [solve]", source):
        options = _read_options(_table(document, "solve", source, {}), f"{source} [solve]")
    with _section(source, source):
        found = made(goal, declared, inputs=labels, outputs=outputs, name=name, options=options)
    return Declared(found, prior, named)


def _only(table: Mapping[str, object], known: Iterable[str], where: str) -> None:
    names = list(known)
    for key in table:
        if key not in names:
            raise UnknownName(f"unknown key {key!r}", where, suggestion(key, names, "known keys"))


@contextmanager
def _section(where: str, source: str) -> Iterator[None]:
    """Errors name the part of the file that they come from."""
    try:
        yield
    except InputError as error:
        if source in error.where:
            raise
        raise error.at(f"{where}: {error.where}" if error.where else where) from None


@contextmanager
def _unquote(folder: Path, name: str) -> Iterator[Path]:
    """The path of a file that a problem file in `folder` names. Errors quote what such a file holds, so for files
    outside of the folder they do not: a problem file from elsewhere may name any file of the user who solves it."""
    path = folder / name
    try:
        yield path
    except InputError:
        if not path.is_file() or not os.access(path, os.R_OK) or path.resolve().is_relative_to(folder.resolve()):
            raise
        what = "it cannot be used; the reason is not shown, as it is outside of the problem file's folder"
        raise InputError(what, str(path), "copy it into that folder to see the reason") from None


def _table(document: Mapping[str, Any], key: str, source: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
    value = document.get(key, default)
    if value is None:
        remedy = "add it, or give --data FILE --column C" if key == "input" else "see rropt models show adult-pram"
        raise Missing(f"the table [{key}] is missing", source, remedy)
    if not isinstance(value, dict):
        raise WrongType(f"{key} is not a table", source, f"write [{key}]")
    return value


def _list(value: object, source: str) -> list[Any]:
    if not isinstance(value, list):
        raise WrongType("constraint is not a list of tables", source, "write [[constraint]] with two brackets")
    return value


def _read_input(table: dict[str, Any], source: str) -> tuple[Prior | None, tuple[str, ...]]:
    where = f"{source} [input]"
    _only(table, (*INPUT_KEYS, *DATA_KEYS, *PAIR_KEYS), where)
    given = [key for key in INPUT_KEYS if key in table and key != "categories"]
    categories = table.get("categories")
    if categories is not None and not isinstance(categories, list):
        raise WrongType("categories is not a list of labels", where, 'as categories = ["yes", "no"]')
    if len(given) > 1:
        raise Conflict(f"{given[0]} and {given[1]} are both given", where, "give one of them")
    if not given:
        if categories is None:
            raise Missing("it is empty", where, f"give one of: {', '.join(INPUT_KEYS)}")
        return None, clean_labels(categories, f"{where} categories", 2)
    key = given[0]
    if key == "data_file":
        prior = _read_data(table, where, Path(source).parent)
        return prior, prior.labels
    strange = next((word for word in DATA_KEYS if word in table), None)
    if strange is not None:
        raise Conflict(f"{strange} is given together with {key}", where, "it needs data_file")
    if any(word in table for word in PAIR_KEYS):
        prior = _read_pairs(table, key, where, Path(source).parent)
        return prior, prior.labels
    if key in ("counts_file", "uniform") and categories is not None:
        raise Conflict(f"categories is given together with {key}, which already names them", where, "leave it out")
    if key == "counts_file":
        if not isinstance(table[key], str):
            raise WrongType("counts_file is not a path", where, 'write counts_file = "counts.csv"')
        with _unquote(Path(source).parent, table[key]) as path:
            prior = Prior.from_csv(path)
    elif key == "uniform":
        prior = Prior.uniform(table[key])
    elif key == "counts":
        prior = Prior.from_counts(table[key], labels=categories)
    else:
        prior = Prior.from_probabilities(table[key], labels=categories)
    return prior, prior.labels


def _read_data(table: Mapping[str, Any], where: str, folder: Path) -> Prior:
    """The prior of a column of a file with one line per record."""
    extra = next((key for key in table if key not in ("data_file", *DATA_KEYS)), None)
    if extra is not None:
        raise Conflict(f"{extra} is given together with data_file, which names the inputs", where, "leave it out")
    if "column" not in table or not all(isinstance(value, str) for value in table.values()):
        raise Missing("data_file needs a column", where, 'as data_file = "people.csv", column = "education"')
    file, name = table["data_file"], table["column"]
    if Path(file).suffix.lower() in COLUMNAR:
        quoted = map(shlex.quote, (Path(where.partition(" [")[0]).name, file, name))
        remedy = "write: rropt solve {} --data {} --column {}".format(*quoted)
        raise InputError("Parquet and Arrow files are read with --data only", f"{where} data_file", remedy)
    try:
        with _unquote(folder, file) as path:
            return Prior.from_csv(path, column=name, delimiter=table.get("delimiter"), null=table.get("null"))
    except SettingNeeded as error:
        raise error.with_setting(f"{error.key} = {_text(error.value)} to [input]") from None


def _read_pairs(table: Mapping[str, Any], key: str, where: str, folder: Path) -> Prior:
    """The prior of pairs: a table of numbers with the labels of both sides, or a file with two columns' names."""
    if "categories" in table:
        raise Conflict("categories is given together with pairs, which name the inputs", where, "leave it out")
    if key == "counts_file":
        if "pairs" not in table or "sensitive" in table or "other" in table:
            raise Missing("a counts_file of pairs takes the key pairs", where, 'as pairs = ["sex", "race"]')
        if not isinstance(table[key], str) or not isinstance(table["pairs"], list):
            raise WrongType("counts_file and pairs are not a path and two names", where, 'as pairs = ["sex", "race"]')
        with _unquote(folder, table[key]) as path:
            return Prior.from_csv(path, pairs=table["pairs"])
    if key == "uniform" or "pairs" in table or "sensitive" not in table or "other" not in table:
        remedy = 'as sensitive = ["f", "m"], other = ["a", "b"], counts = [[35, 65], [10, 90]]'
        raise Missing("pairs need sensitive, other and a table of counts or probabilities", where, remedy)
    made = Prior.from_counts if key == "counts" else Prior.from_probabilities
    return made(table[key], pairs=Pairs(table["sensitive"], table["other"]))


def _read_goal(table: dict[str, Any], prior: Prior | None, where: str) -> Any:
    senses = [sense for sense in ("maximize", "minimize") if sense in table]
    if len(senses) != 1:
        likely = [key for key in table if difflib.get_close_matches(key, ("maximize", "minimize"), n=1)]
        meant = f"{likely[0]!r} is not a key: " if likely and not senses else ""
        raise Missing("it needs either maximize or minimize", where, f'{meant}write maximize = "mutual_information"')
    word = table[senses[0]]
    if not isinstance(word, str):
        raise WrongType(f"{senses[0]} is {word!r}, not a name in quotes", where, 'as maximize = "trace"')
    rest = {key: value for key, value in table.items() if key != senses[0]}
    objective = objectives.from_keys(word, rest, prior, where)
    return Maximize(objective) if senses[0] == "maximize" else Minimize(objective)


def _read_constraint(entry: object, where: str, folder: Path, prior: Prior | None) -> constraints.Constraint:
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
        raise Missing("the key kind is missing", where, 'as kind = "ldp"')
    rest = {key: value for key, value in entry.items() if key != "kind"}
    if isinstance(rest.get("distances"), str):
        with _unquote(folder, rest["distances"]) as path:
            rest["distances"] = _read_matrix(path)
    return constraints.from_keys(entry["kind"], rest, where, prior)


def _read_matrix(path: Path) -> list[list[Fraction | float]]:
    """A CSV of numbers without a header; "inf" where a pair is not bounded."""
    rows = csv_rows(read_text(path, "file of distances", as_it_is=True, limits=TABLE), str(path))
    return [
        [
            math.inf if cell.strip().lower() in ("inf", "infinity") else rational(cell.strip(), f"{path} line {number}")
            for cell in row
        ]
        for number, row in rows
    ]


def _read_options(table: dict[str, Any], where: str) -> SolveOptions:
    _only(table, [field.name for field in fields(SolveOptions)], where)
    settings: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("method", "solver"):
            if not isinstance(value, str):
                raise WrongType(f"{key} is {value!r}, not a name in quotes", where, 'as method = "auto"')
            settings[key] = value
        elif key in ("workers", "threads"):
            settings[key] = value
        elif key == "solver_options":
            settings[key] = _plain(value)
        else:
            settings[key] = rational(value, f"{where} {key}")
    return SolveOptions(**settings)


def _plain(value: Any) -> Any:
    """Tables and lists with their numbers as solvers take them."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return float(value) if isinstance(value, Decimal) else value


def text_of(problem: Problem) -> str:
    """The problem as the text of a problem file; `problem_from` gives an equal problem back."""
    lines = ["schema = 1", f"name = {_text(problem.name)}"]
    fixed = problem.objective.outputs(problem.inputs)
    if problem.outputs is not None and problem.outputs != fixed:
        lines.append(f"outputs = {_value(list(problem.outputs))}")
    lines += ["", "[input]"]
    prior = problem.objective.prior
    if prior is None:
        lines.append(f"categories = {_value(list(problem.inputs))}")
    elif prior.declared == "uniform":
        lines.append(f"uniform = {_value(list(prior.labels))}")
    else:
        numbers: list[Any] = list(prior.weights) if prior.declared == "counts" else list(prior.probabilities)
        if prior.declared == "fractional counts":
            # Smallest integers in their proportions, so that half of one is not whole: fractional counts again.
            numbers = [Fraction(weight, 2) for weight in prior.weights]
        if prior.pairs is None:
            lines.append(f"categories = {_value(list(prior.labels))}")
        else:
            lines += _pairs({"sensitive": list(prior.pairs.sensitive), "other": list(prior.pairs.other)})
            numbers = [numbers[prior.pairs.block(s)] for s in range(len(prior.pairs.sensitive))]
        lines.append(f"{prior.declared.removeprefix('fractional ')} = {_value(numbers)}")
    lines += ["", "[objective]", f"{problem.goal.sense} = {_text(problem.objective.kind)}"]
    lines += _pairs(problem.objective.keys())
    for constraint in problem.constraints:
        lines += ["", "[[constraint]]", f"kind = {_text(constraint.kind)}", *_pairs(constraint.keys())]
    defaults = SolveOptions()
    changed = {
        field.name: getattr(problem.options, field.name)
        for field in fields(SolveOptions)
        if getattr(problem.options, field.name) != getattr(defaults, field.name)
    }
    if changed:
        lines += ["", "[solve]", *_pairs(changed)]
    return "\n".join(lines) + "\n"


def _pairs(table: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        text = declared_text(value)
        # Ratios that are not decimals are strings; so are integers beyond what TOML guarantees.
        return _text(text) if "/" in text or abs(value) >= 2**63 else text
    if isinstance(value, int):
        return str(value) if abs(value) < 2**63 else _text(str(value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_text(str(key))} = {_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    raise NotWritten(f"{value!r} cannot be written to a problem file", "problem")


def _text(text: str) -> str:
    """A TOML basic string: JSON's escapes, and escapes of all else that is not printed."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in written)
