"""Matrices and mechanism files from outside, read with one clear line for whatever is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rropt.errors import InputError
from rropt.exact import common_denominator, rational

TOLERANCE = Fraction(1, 10**9)
"""Row sums this close to one are divided out."""


def rational_rows(matrix: object, denominator: int | None, flipped: bool = False) -> tuple[list[list[Fraction]], bool]:
    """(rows as rationals that sum to one, whether they must be kept exactly); `flipped` says that the caller
    gave the transpose, for the words of an error.

    `matrix` is anything of two axes; exact are integers over `denominator`, Fraction and "p/q" strings.
    Raises InputError that names the row, or the axis where the matrix lies on its side.
    """
    where = "mechanism matrix"
    if isinstance(matrix, np.ndarray):
        if matrix.ndim != 2:
            raise InputError(f"it has {matrix.ndim} axes", where, "give rows of inputs, columns of outputs")
        # Not tolist(): a float32 means its own shortest decimal.
        matrix = [list(row) for row in matrix]
    if not isinstance(matrix, Sequence) or isinstance(matrix, (str, bytes)) or not matrix:
        raise InputError("it is no list of rows", where, "give one row of probabilities an input")
    rows: list[list[object]] = []
    for number, row in enumerate(matrix):
        if not isinstance(row, (Sequence, np.ndarray)) or isinstance(row, (str, bytes)) or len(row) == 0:
            raise InputError(f"row {number} is no list of numbers", where)
        rows.append(list(row))
    if len({len(row) for row in rows}) != 1:
        raise InputError("its rows have different lengths", where, "give every input the same outputs")
    if len(rows) < 2:
        raise InputError("it has one row", where, "a mechanism has at least two inputs")
    scale = Fraction(1)
    if denominator is not None:
        if isinstance(denominator, bool) or not isinstance(denominator, int) or denominator <= 0:
            raise InputError(f"{denominator!r} is no positive integer", "denominator")
        scale = Fraction(1, denominator)
    numbers = [
        [rational(entry, f"{where} row {x} column {y}") * scale for y, entry in enumerate(row)]
        for x, row in enumerate(rows)
    ]
    for x, row in enumerate(numbers):
        for y, entry in enumerate(row):
            if entry < 0:
                raise InputError(f"row {x} column {y} is negative ({float(entry):.6g})", where)
    sums = [_sum(row) for row in numbers]
    _check_orientation(numbers, sums, where, flipped)
    exact = denominator is not None or not any(isinstance(entry, (float, np.floating)) for row in rows for entry in row)
    scaled = [row if total == 1 else [entry / total for entry in row] for row, total in zip(numbers, sums, strict=True)]
    return scaled, exact


def _sum(numbers: Sequence[Fraction]) -> Fraction:
    """Their sum, over one common denominator."""
    scale = common_denominator(numbers)
    return Fraction(sum(number.numerator * (scale // number.denominator) for number in numbers), scale)


def _check_orientation(numbers: list[list[Fraction]], sums: list[Fraction], where: str, flipped: bool) -> None:
    worst = max(range(len(sums)), key=lambda x: abs(sums[x] - 1))
    if abs(sums[worst] - 1) <= TOLERANCE:
        return
    columns = [_sum(column) for column in zip(*numbers, strict=True)]
    given, other, rows, columns_ = ("row", "columns", 0, 1) if not flipped else ("column", "rows", 1, 0)
    told = f"{given} {worst} sums to {float(sums[worst]):.12g}, not to one"
    if all(abs(total - 1) <= TOLERANCE for total in columns):
        raise InputError(
            f"{told}, but its {other} do (summed over axis {rows}): it is {other[:-1]}-stochastic",
            where,
            f"use Mechanism.from_{'matrix' if flipped else 'column_stochastic'}, or transpose it",
        )
    raise InputError(told, where, f"inputs are axis {rows}; each must sum to one over the outputs, axis {columns_}")


NATURAL = re.compile(r"0|[1-9][0-9]{0,3999}", re.ASCII)
HEXADECIMAL = re.compile(r"[0-9a-f]+", re.ASCII)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise InputError("a key appears twice", "JSON object")
    return table


def _natural(value: object, where: str) -> int:
    if not isinstance(value, str) or not NATURAL.fullmatch(value):
        raise InputError("it is no integer in a string", where, 'write "123"')
    return int(value)


def _listing(value: object, where: str) -> list[object]:
    if not isinstance(value, list) or not value:
        raise InputError("it is no list, or an empty one", where)
    return value


def _column(value: object, size: int, where: str) -> tuple[int, ...] | tuple[tuple[int, int, int]]:
    if isinstance(value, dict) and set(value) == {"dense"}:
        entries = _listing(value["dense"], where)
        if len(entries) != size:
            raise InputError(f"{len(entries)} entries for {size} inputs", where)
        return tuple(_natural(entry, where) for entry in entries)
    if isinstance(value, dict) and set(value) == {"low", "high", "members"}:
        members = value["members"]
        if (
            not isinstance(members, str)
            or len(members) != -(-size // 4)
            or not HEXADECIMAL.fullmatch(members)
            or int(members, 16) >> size
        ):
            raise InputError(f"members is no set of {size} inputs in base 16", where)
        return ((_natural(value["low"], where), _natural(value["high"], where), int(members, 16)),)
    raise InputError("it has neither the key dense nor the keys low, high, members", where)


def mechanism_payload_from_json(
    text: str, where: str
) -> tuple[tuple[str, ...], tuple[str, ...], list[tuple[int, ...] | tuple[tuple[int, int, int]]], tuple[int, ...]]:
    """(inputs, outputs, columns, denominators) of a mechanism file; a two-valued column comes as a tuple
    that holds one (low, high, members). Raises InputError."""
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_int=_small_int)
    except InputError as error:
        raise InputError(error.what, where, "write the file again with Mechanism.save") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no JSON ({error})", where, "give a file that Mechanism.save wrote") from None
    if not isinstance(document, dict) or document.get("format") != "rropt-mechanism":
        raise InputError("this is no mechanism file", where, "give a file that Mechanism.save wrote")
    keys = {"format", "version", "inputs", "denominators", "outputs", "columns"}
    if set(document) != keys:
        odd = ", ".join(sorted(keys ^ set(document)))
        raise InputError(f"keys missing or unknown: {odd}", where)
    if document["version"] != 1:
        raise InputError(f"version {document['version']!r:.40} is unknown", where, "update rropt")
    inputs = _listing(document["inputs"], f"{where}: inputs")
    outputs = _listing(document["outputs"], f"{where}: outputs")
    for label in inputs + outputs:
        if not isinstance(label, str):
            raise InputError(f"label {label!r:.40} is no string", where)
    denominators = _listing(document["denominators"], f"{where}: denominators")
    columns = _listing(document["columns"], f"{where}: columns")
    return (
        tuple(map(str, inputs)),
        tuple(map(str, outputs)),
        [_column(value, len(inputs), f"{where}: columns[{y}]") for y, value in enumerate(columns)],
        tuple(_natural(value, f"{where}: denominators") for value in denominators),
    )


def _small_int(text: str) -> int:
    if len(text) > 16:
        raise InputError("an integer is too long", "JSON number")
    return int(text)
