"""A mechanism on some of the key variables, as one matrix between their joint categories."""

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from rropt.disclosure.quasi_identifiers import QuasiIdentifierTable
from rropt.errors import Missing, TooLarge, UnknownName, Unreadable, counted
from rropt.mechanisms.garbling import explicit

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

LARGEST_SIDE = 4096
"""Most joint categories of the variables that are perturbed."""


class Channel:
    """Q[x, y] between the joint categories of the perturbed variables and their joint outputs; the other variables stay
    as they are.

    `matrix` is P x Y; `flat` brings an array over the table's cells to P x (the rest), `shaped` one of Y x (the rest)
    to the axes of the table, those of perturbed variables as long as their outputs are many. Where `labelled`, the
    outputs are the categories, in their order. Raises InputError.
    """

    def __init__(self, table: QuasiIdentifierTable, mechanisms: Mapping[str, Any], labelled: bool) -> None:
        if not isinstance(mechanisms, Mapping) or not mechanisms:
            raise Missing("no column is perturbed", "mechanisms", 'as {"region": mechanism}')
        for name in mechanisms:
            if name not in table.columns:
                listed = ", ".join(map(repr, table.columns))
                raise Unreadable(f"{name!r} is not a key variable", "mechanisms", f"they are {listed}")
        self._axes = [table.columns.index(name) for name in mechanisms]
        self._rest = [at for at in range(len(table.columns)) if at not in self._axes]
        parts = [
            _matrix(one, table.categories[at], name, labelled)
            for at, (name, one) in zip(self._axes, mechanisms.items(), strict=True)
        ]
        self._shape = list(table.counts.shape)
        for at, part in zip(self._axes, parts, strict=True):
            self._shape[at] = part.shape[1]
        side = max(math.prod(part.shape[end] for part in parts) for end in (0, 1))
        if side > LARGEST_SIDE:
            raise TooLarge(
                f"{counted(side, 'joint categories')} are perturbed", "mechanisms", f"at most {LARGEST_SIDE:,}"
            )
        self.matrix: FloatArray = reduce(lambda one, other: np.asarray(np.kron(one, other)), parts)

    def flat(self, values: np.ndarray) -> np.ndarray:
        """An array over the table's cells as P x (the rest)."""
        return values.transpose(self._axes + self._rest).reshape(len(self.matrix), -1)

    def shaped(self, values: np.ndarray) -> np.ndarray:
        """An array of Y x (the rest) on the axes of the table."""
        order = self._axes + self._rest
        return values.reshape([self._shape[at] for at in order]).transpose(np.argsort(order))


def _matrix(mechanism: Any, categories: tuple[str, ...], name: str, labelled: bool) -> FloatArray:
    """The rows of the mechanism in the order of the categories; its columns too, if it is `labelled`."""
    where = f"mechanism of {name!r}"
    given = explicit(mechanism, where)
    missing = [label for label in categories if label not in given.inputs]
    if missing:
        raise Missing(
            f"{missing[0]!r} is a category of the key, but not an input of the mechanism",
            where,
            "solve for all categories",
        )
    place = {label: at for at, label in enumerate(given.inputs)}
    matrix = np.asarray(given.matrix, dtype=np.float64)[[place[label] for label in categories]]
    if not labelled:
        return matrix
    at = {label: y for y, label in enumerate(categories)}
    found = np.zeros((len(categories), len(categories)))
    for label, column in zip(given.outputs, matrix.T, strict=True):
        if label in at:
            found[:, at[label]] = column
        elif column.any():
            raise UnknownName(
                f"its output {label!r} is not a category",
                where,
                "an intruder who matches labels needs outputs that are categories; use intruder='best'",
            )
    return found
