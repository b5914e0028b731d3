"""Matrices and mechanism files from outside, with one line for each kind of error."""

import json
import math
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rropt.errors import (
    Conflict,
    Duplicate,
    InputError,
    Missing,
    OutOfRange,
    TooLarge,
    Unreadable,
    WrongType,
    counted,
    positive_integer,
)
from rropt.exact import over_one, rounded
from rropt.io.types import Label

TOLERANCE = Fraction(1, 10**9)
"""Row sums this close to one are divided out."""


Row = tuple[list[int], int]
"""Integers over one denominator."""


def whole_rows(
    rows: Sequence[Sequence[Label]], denominator: int | None, flipped: bool = False
) -> tuple[list[Row], bool]:
    """(rows that sum to one, whether they must be kept exactly); `flipped`: the caller gave the transpose (used in
    error messages).

    `rows` are as `counts.Table` reads them; exact are integers over `denominator`, Fraction and "p/q" strings.
    Raises InputError that names the row, or the axis where the matrix lies on its side.
    """
    where = "mechanism matrix"
    if len(rows) < 2:
        raise OutOfRange("it has one row", where, "a mechanism has at least two inputs")
    unit = 1
    if denominator is not None:
        unit = positive_integer(denominator, "denominator", "as 10**6")
    found = [over_one(row, lambda y, x=x: f"{where} row {x} column {y}") for x, row in enumerate(rows)]  # type: ignore[misc]
    numbers = [(row, scale * unit) for row, scale in found]
    for x, (row, scale) in enumerate(numbers):
        if min(row) < 0:
            y, below = next((y, entry) for y, entry in enumerate(row) if entry < 0)
            raise OutOfRange(f"row {x} column {y} is negative ({below / scale:.6g})", where)
    sums = [Fraction(sum(row), scale) for row, scale in numbers]
    _check_orientation(numbers, sums, where, flipped)
    exact = denominator is not None or not any(isinstance(entry, (float, np.floating)) for row in rows for entry in row)
    return [(row, sum(row)) for row, _ in numbers], exact


def _check_orientation(numbers: list[Row], sums: list[Fraction], where: str, flipped: bool) -> None:
    worst = max(range(len(sums)), key=lambda x: abs(sums[x] - 1))
    if abs(sums[worst] - 1) <= TOLERANCE:
        return
    whole = math.lcm(*(scale for _, scale in numbers))
    scaled = [[entry * (whole // scale) for entry in row] for row, scale in numbers]
    columns = [Fraction(sum(column), whole) for column in zip(*scaled, strict=True)]
    given, other, rows, columns_ = ("row", "columns", 0, 1) if not flipped else ("column", "rows", 1, 0)
    fault = f"{given} {worst} sums to {rounded(sums[worst], 12)}, not to one"
    if all(abs(total - 1) <= TOLERANCE for total in columns):
        raise OutOfRange(
            f"{fault}, but its {other} do (summed over axis {rows}): it is {other[:-1]}-stochastic",
            where,
            f"use Mechanism.from_{'matrix' if flipped else 'column_stochastic'}, or transpose it",
        )
    raise OutOfRange(fault, where, f"inputs are axis {rows}; each must sum to one over the outputs, axis {columns_}")


NATURAL = re.compile(r"0|[1-9][0-9]{0,3999}", re.ASCII)
HEXADECIMAL = re.compile(r"[0-9a-f]+", re.ASCII)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise Duplicate("a key appears twice", "JSON object")
    return table


def _natural(value: object, where: str) -> int:
    if not isinstance(value, str) or not NATURAL.fullmatch(value):
        raise WrongType("it is not an integer in a string", where, 'write "123"')
    return int(value)


def _listing(value: object, where: str) -> list[object]:
    if not isinstance(value, list) or not value:
        raise WrongType("it is not a list, or an empty one", where)
    return value


def _column(value: object, size: int, where: str) -> tuple[int, ...] | tuple[tuple[int, int, int]]:
    if isinstance(value, dict) and set(value) == {"dense"}:
        entries = _listing(value["dense"], where)
        if len(entries) != size:
            raise Conflict(f"{counted(len(entries), 'entries')} for {size} inputs", where)
        return tuple(_natural(entry, where) for entry in entries)
    if isinstance(value, dict) and set(value) == {"low", "high", "members"}:
        members = value["members"]
        if (
            not isinstance(members, str)
            or len(members) != -(-size // 4)
            or not HEXADECIMAL.fullmatch(members)
            or int(members, 16) >> size
        ):
            raise WrongType(f"members is not a set of {size} inputs in base 16", where)
        return ((_natural(value["low"], where), _natural(value["high"], where), int(members, 16)),)
    raise OutOfRange("it has neither the key dense nor the keys low, high, members", where)


Columns = list[tuple[int, ...] | tuple[tuple[int, int, int]]]
"""Dense columns, and two-valued ones as a tuple that holds one (low, high, members)."""


FORMS: dict[str, tuple[str, ...]] = {
    "family": ("family", "parameters"),
    "off_diagonal": ("denominators", "off_diagonal"),
    "groups": ("denominators", "outputs", "columns", "groups"),
    "columns": ("denominators", "outputs", "columns"),
}
"""What a mechanism file holds beside the inputs, by the key that tells its form; the second has `outputs` too where
they are not the inputs."""


def mechanism_document(text: str, where: str) -> tuple[str, dict[str, object]]:
    """The form of a mechanism file (a key of FORMS) and its object. Raises InputError."""
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_int=_small_int)
    except InputError as error:
        raise error.at(where, "write the file again with Mechanism.save") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"this is not JSON ({error})", where, "give a file that Mechanism.save wrote") from None
    if not isinstance(document, dict) or document.get("format") != "rropt-mechanism":
        raise Unreadable("this is not a mechanism file", where, "give a file that Mechanism.save wrote")
    form = next((key for key in FORMS if key in document), "columns")
    named = {"outputs"} & set(document) if form == "off_diagonal" else set()
    check_keys(document, {"format", "inputs", *FORMS[form], *named}, where)
    return form, document


def mechanism_payload(
    document: dict[str, object], where: str
) -> tuple[tuple[str, ...], tuple[str, ...], Columns, tuple[int, ...]]:
    """(inputs, outputs, columns, denominators) of the object of a mechanism file of the form `columns`. Raises InputError."""
    inputs = names_of(document["inputs"], f"{where}: inputs")
    return (
        inputs,
        names_of(document["outputs"], f"{where}: outputs"),
        columns_of(document["columns"], len(inputs), f"{where}: columns"),
        naturals_of(document["denominators"], f"{where}: denominators"),
    )


def check_keys(document: dict[str, object], keys: set[str], where: str) -> None:
    """Raise InputError unless `document` has exactly these keys."""
    if set(document) != keys:
        raise Missing(f"keys missing or unknown: {', '.join(sorted(keys ^ set(document)))}", where)


def names_of(value: object, where: str) -> tuple[str, ...]:
    """A list of labels as it is in a file. Raises InputError."""
    found = _listing(value, where)
    for label in found:
        if not isinstance(label, str):
            raise WrongType(f"label {label!r:.40} is not a string", where)
    return tuple(map(str, found))


def naturals_of(value: object, where: str) -> tuple[int, ...]:
    """A list of integers in strings. Raises InputError."""
    return tuple(_natural(number, where) for number in _listing(value, where))


def columns_of(value: object, size: int, where: str) -> Columns:
    """The columns of a mechanism of `size` inputs. Raises InputError."""
    return [_column(one, size, f"{where}[{y}]") for y, one in enumerate(_listing(value, where))]


def _small_int(text: str) -> int:
    if len(text) > 16:
        raise TooLarge("an integer is too long", "JSON number")
    return int(text)
