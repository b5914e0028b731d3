"""A matrix of any kind as a mechanism in a problem's order, and as it was printed."""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rropt.comparison.matrix_files import EXACT, RawMatrix, array_matrix, read_matrix
from rropt.comparison.orientation import ROWS, oriented
from rropt.errors import Conflict, WrongType, counted, other_form
from rropt.io.counts import is_collection
from rropt.io.files import open_file
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.garbling import explicit
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.names import declared_names
from rropt.problem import Problem
from rropt.prove.mechanism_files import read_mechanism

__all__ = ["PrintedMatrix", "align", "read_oriented"]


def read_oriented(
    matrix: object, orientation: str | None, renormalise: bool, delimiter: str | None
) -> tuple[Mechanism, str, tuple[str, ...]]:
    """The result of `oriented` for a file, a matrix in memory or a mechanism. Raises InputError."""
    raw = _raw(matrix, delimiter)
    if raw is not None:
        return oriented(raw, orientation, renormalise)
    if isinstance(matrix, RandomizedChannel) or hasattr(matrix, "to_mechanism"):
        return explicit(matrix, "matrix"), ROWS, ()
    if isinstance(matrix, str | os.PathLike):
        if orientation not in (None, "rows", "row", ROWS):
            raise Conflict("in a mechanism file the rows are the inputs", str(matrix), "leave it out")
        return read_mechanism(Path(matrix), False)[0], ROWS, ()
    raise WrongType(f"{type(matrix).__name__} is not a matrix", "matrix", "give a path, rows of numbers or a mechanism")


def _raw(matrix: object, delimiter: str | None) -> RawMatrix | None:
    """A matrix whose orientation is not known yet; None for a mechanism, a file of one, and what is not a matrix."""
    if isinstance(matrix, RandomizedChannel) or hasattr(matrix, "to_mechanism"):
        return None
    if isinstance(matrix, str | os.PathLike):
        path = Path(matrix)
        is_mechanism = path.is_dir() or (path.suffix == ".json" and _is_object(path))
        return None if is_mechanism else read_matrix(path, delimiter)
    return array_matrix(matrix) if is_collection(matrix) else None


@dataclass(frozen=True)
class PrintedMatrix:
    """A matrix as `audit` reads it, in a problem's order: `entries` as they are printed, and the `mechanism` that they
    are after sums that rounding explains were divided out. `half` is half a unit of the last decimal (some units of
    a double near one, where they were printed in full), 0 where the entries are exact; `notes` state what was done."""

    mechanism: Mechanism
    entries: tuple[tuple[Fraction, ...], ...]
    half: Fraction
    notes: tuple[str, ...]

    @property
    def sums_to_one(self) -> bool:
        """Whether the printed rows sum to one, but for the rounding of doubles."""
        slack = Fraction(len(self.entries[0]), 1 << 53)
        return all(abs(sum(row, Fraction(0)) - 1) <= slack for row in self.entries)

    @classmethod
    def read(cls, matrix: object, orientation: str | None, problem: Problem) -> PrintedMatrix:
        """Raises InputError."""
        notes: list[str] = []
        outputs = problem.compile().outputs or problem.objective.outputs(problem.inputs)
        raw = _raw(matrix, None)
        if raw is None:
            mechanism, _, _ = read_oriented(matrix, orientation, False, None)
            sums, half = dict.fromkeys(mechanism.inputs, Fraction(1)), Fraction(0)
        else:
            mechanism, word, changes = oriented(raw, orientation, True)
            rows = raw.entries if word == ROWS else raw.transposed.entries
            sums = {name: sum(row, Fraction(0)) for name, row in zip(mechanism.inputs, rows, strict=True)}
            half = _half_a_unit(raw)
            notes += changes
        placed = align(mechanism, problem.inputs, outputs, notes)
        # Without labels the rows are in the order of the problem's inputs.
        own = placed.inputs if set(sums) == set(placed.inputs) else tuple(sums)
        entries = tuple(
            tuple(placed.entry(x, y) * sums[name] for y in range(len(placed.outputs))) for x, name in enumerate(own)
        )
        return cls(placed, entries, half, tuple(notes))


def _half_a_unit(raw: RawMatrix) -> Fraction:
    """The largest distance of an entry from the number that was rounded to it; 0 where nothing was rounded."""
    if raw.doubles is not None:
        return Fraction(1, 1 << 46)  # what some operations on doubles near one may lose
    return Fraction(0) if raw.places in (0, EXACT) else Fraction(1, 2 * 10**raw.places)


def _is_object(path: Path) -> bool:
    try:
        with open_file(path) as stream:
            return stream.read(200).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
    except (OSError, ValueError):
        return False


def align(
    mechanism: Mechanism, inputs: tuple[str, ...], outputs: tuple[str, ...] | None, notes: list[str]
) -> Mechanism:
    """The mechanism with its inputs, and outputs where they are fixed, in the problem's order; `notes` gets what was
    taken for granted. Raises InputError."""
    rows, changed = _places("inputs", mechanism.inputs, inputs, notes)
    columns, targets = list(range(len(mechanism.outputs))), mechanism.outputs
    if outputs is not None and declared_names(mechanism, outputs) != mechanism.outputs:
        notes.append(f"its outputs have neutral names: they are taken in the order of the problem's, {_list(outputs)}")
        targets, changed = outputs, True
    elif outputs is not None:
        columns, more = _places("outputs", mechanism.outputs, outputs, notes)
        targets, changed = outputs, changed or more
    if not changed:
        return mechanism
    table = [[mechanism.entry(x, y) for y in columns] for x in rows]
    return Mechanism.from_rationals(table, inputs=inputs, outputs=targets)


def _places(what: str, own: tuple[str, ...], wanted: tuple[str, ...], notes: list[str]) -> tuple[list[int], bool]:
    if own == wanted:
        return list(range(len(own))), False
    if set(own) == set(wanted):
        return [own.index(label) for label in wanted], True
    if own == tuple(map(str, range(len(own)))):
        if len(own) != len(wanted):
            said = f"it has {counted(len(own), what)}, and the problem has {len(wanted)}"
            raise Conflict(said, "matrix", f"give one for each of {_list(wanted)}")
        notes.append(f"its {what} have no labels: they are taken in the order of the problem's, {_list(wanted)}")
        return list(range(len(own))), True
    said = f"its {what} are {_list(own)}{other_form(own, wanted)}"
    raise Conflict(said, "matrix", f"the problem's are {_list(wanted)}: label both alike")


def _list(labels: Sequence[str]) -> str:
    return ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
