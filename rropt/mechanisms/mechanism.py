"""Mechanism: an explicit row-stochastic matrix in exact integers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpq, fmpz_mat, nmod_mat

from rropt.errors import InputError
from rropt.exact import Interval, common_denominator, enclosure, log_enclosure, xlogx_ball
from rropt.files import csv_text, read_text, write_whole
from rropt.mechanisms import display
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.columns import Column, DenseColumn, TwoValuedColumn
from rropt.mechanisms.reading import mechanism_payload_from_json, rational_rows
from rropt.priors import Prior, clean_labels
from rropt.sampling import MechanismSampler, Source, relabel

if TYPE_CHECKING:
    from rropt.inference.estimate import Estimate

GRID = 1 << 53
"""The default denominator: its multiples in [0, 1] are float64 numbers."""
RANK_PRIME = (1 << 61) - 1
"""Ranks are looked for modulo this prime first."""


@dataclass(frozen=True, repr=False)
class Mechanism(RandomizedChannel):
    """A k x m row-stochastic matrix Q[x, y] = P(output y given input x), immutable, labelled and exact.

    Entry (x, y) is an integer of `columns[y]` over a denominator: `denominators` holds one for all rows
    or one a row. Make one with `from_matrix`, or let a problem find it. Rows that do not sum to their
    denominator, negative entries and unfit labels raise InputError.
    """

    input_labels: tuple[str, ...]
    outputs: tuple[str, ...]
    columns: tuple[Column, ...]
    denominators: tuple[int, ...] = (GRID,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_labels", clean_labels(self.input_labels, "inputs", 2))
        object.__setattr__(self, "outputs", clean_labels(self.outputs, "outputs"))
        size = len(self.input_labels)
        if len(self.columns) != len(self.outputs):
            raise InputError(f"{len(self.columns)} columns for {len(self.outputs)} outputs", "mechanism")
        if len(self.denominators) not in (1, size) or any(number <= 0 for number in self.denominators):
            raise InputError("denominators must be one or one a row, all positive", "mechanism")
        sums = [0] * size
        for output, column in zip(self.outputs, self.columns, strict=True):
            entries = column.entries(size)
            if len(entries) != size or min(entries) < 0:
                raise InputError(f"column {output!r} has a negative or missing entry", "mechanism")
            sums = [total + entry for total, entry in zip(sums, entries, strict=True)]
        for label, total, denominator in zip(self.inputs, sums, self.row_denominators, strict=True):
            if total != denominator:
                share = Fraction(total, denominator)
                raise InputError(f"row {label!r} sums to {float(share)!r}, not to one", "mechanism")

    # -- making one ----------------------------------------------------------------------------------

    @classmethod
    def from_matrix(
        cls,
        matrix: object,
        inputs: Sequence[object] | None = None,
        outputs: Sequence[object] | None = None,
        denominator: int | None = None,
    ) -> Mechanism:
        """A mechanism from a k x m row-stochastic matrix.

        Floats are rounded to multiples of 2^-53 by largest remainder (a zero stays zero); integers need
        their common `denominator`; a matrix of Fraction or of "p/q" strings is kept exactly. Default labels
        are "0", "1", .... Row sums within 1e-9 of one are divided out. A matrix that is column-stochastic,
        negative, ragged or not finite raises InputError that names the axis.
        """
        return cls._from_rows(*rational_rows(matrix, denominator), inputs, outputs)

    @classmethod
    def from_column_stochastic(
        cls,
        matrix: object,
        inputs: Sequence[object] | None = None,
        outputs: Sequence[object] | None = None,
        denominator: int | None = None,
    ) -> Mechanism:
        """As `from_matrix`, for a matrix whose columns are the inputs (m x k)."""
        flipped = np.array(matrix, dtype=object)
        if flipped.ndim != 2:
            raise InputError("it is no matrix of two axes", "mechanism", "give outputs x inputs")
        return cls._from_rows(*rational_rows(flipped.T, denominator, flipped=True), inputs, outputs)

    @classmethod
    def _from_rows(
        cls,
        rows: list[list[Fraction]],
        exact: bool,
        inputs: Sequence[object] | None,
        outputs: Sequence[object] | None,
    ) -> Mechanism:
        return cls.from_rationals(rows if exact else [grid_row(row, GRID) for row in rows], inputs, outputs)

    @classmethod
    def from_rationals(
        cls,
        rows: Sequence[Sequence[Fraction]],
        inputs: Sequence[object] | None = None,
        outputs: Sequence[object] | None = None,
    ) -> Mechanism:
        """A mechanism from k exact rows of m rationals; the denominators are found (one where they agree)."""
        denominators = [math.lcm(*(entry.denominator for entry in row)) for row in rows]
        # A default mechanism says 2^53 even where every entry happens to be a coarser fraction.
        if all(GRID % denominator == 0 for denominator in denominators):
            denominators = [GRID]
        elif len(set(denominators)) == 1 or math.lcm(*denominators).bit_length() <= 64:
            denominators = [math.lcm(*denominators)]
        per_row = denominators * len(rows) if len(denominators) == 1 else denominators
        columns = tuple(
            DenseColumn(
                tuple(
                    row[y].numerator * (scale // row[y].denominator) for row, scale in zip(rows, per_row, strict=True)
                )
            )
            for y in range(len(rows[0]))
        )
        names = range(len(rows)) if inputs is None else inputs
        targets = range(len(columns)) if outputs is None else outputs
        return cls(clean_labels(names, "inputs", 2), clean_labels(targets, "outputs"), columns, tuple(denominators))

    # -- the numbers ---------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.input_labels

    @property
    def shape(self) -> tuple[int, int]:
        """(number of inputs, number of outputs)."""
        return len(self.inputs), len(self.outputs)

    @property
    def row_denominators(self) -> tuple[int, ...]:
        """k denominators, one a row."""
        return self.denominators * len(self.inputs) if len(self.denominators) == 1 else self.denominators

    @cached_property
    def numerators(self) -> tuple[tuple[int, ...], ...]:
        """The m columns of k integers each."""
        return tuple(column.entries(len(self.inputs)) for column in self.columns)

    def entry(self, x: int, y: int) -> Fraction:
        """Q[x, y], exact."""
        return Fraction(self.numerators[y][x], self.row_denominators[x])

    def column(self, y: int) -> tuple[Fraction, ...]:
        """Column y as k exact rationals."""
        return tuple(map(Fraction, self.numerators[y], self.row_denominators))

    @cached_property
    def matrix(self) -> np.ndarray:
        """Q as a read-only k x m float64 array: equal to the integers at 2^53, correctly rounded otherwise."""
        table = [
            [entry / denominator for entry, denominator in zip(column, self.row_denominators, strict=True)]
            for column in self.numerators
        ]
        array = np.array(table, dtype=np.float64).T.copy()
        array.flags.writeable = False
        return array

    def to_column_stochastic(self) -> np.ndarray:
        """The m x k float64 matrix whose columns are the inputs."""
        return self.matrix.T

    def extremes(self, y: int) -> tuple[Fraction, Fraction]:
        """The smallest and the largest entry of column y, exact."""
        if len(self.denominators) == 1:
            column, scale = self.numerators[y], self.denominators[0]
            return Fraction(min(column), scale), Fraction(max(column), scale)
        entries = self.column(y)
        return min(entries), max(entries)

    # -- what it gives away --------------------------------------------------------------------------

    @cached_property
    def _parity(self) -> Fraction | float:
        worst: Fraction = Fraction(1)
        for y in range(len(self.outputs)):
            if not any(self.numerators[y]):
                continue
            if not all(self.numerators[y]):
                return math.inf
            least, most = self.extremes(y)
            worst = max(worst, most / least)
        return worst

    def parity(self) -> Fraction | float:
        return self._parity

    def epsilon(self) -> Interval:
        parity = self._parity
        if isinstance(parity, float):
            return Interval(parity, parity)
        return log_enclosure(parity)

    def mutual_information(self, prior: Prior, units: str = "nats") -> Interval:
        if prior.labels != self.inputs:
            raise InputError(
                "its categories are not the mechanism's inputs", "prior", f"it needs {self._listed(self.inputs)}"
            )
        if units not in ("nats", "bits"):
            raise InputError(f"{units!r} is no unit of information", "units", "use 'nats' or 'bits'")
        total = sum(prior.weights)

        def compute() -> arb:
            # sum_y [ sum_x p_x q log q - w log w ] with p_x q = weight * numerator / (total * denominator)
            result = arb(0)
            scale = math.lcm(*self.denominators)
            for numerators in self.numerators:
                mass = 0
                # Inputs with the same entry are taken together: large mechanisms have few different ones.
                shares: dict[tuple[int, int], int] = {}
                for weight, numerator, denominator in zip(
                    prior.weights, numerators, self.row_denominators, strict=True
                ):
                    if weight and numerator:
                        shares[numerator, denominator] = shares.get((numerator, denominator), 0) + weight
                for (numerator, denominator), weight in shares.items():
                    result += arb(fmpq(weight, total)) * xlogx_ball(numerator, denominator)
                    mass += weight * numerator * (scale // denominator)
                result -= xlogx_ball(mass, total * scale)
            return result / arb(2).log() if units == "bits" else result

        found = enclosure(compute)
        # Mutual information is never negative; the enclosure of a zero may reach below it.
        return Interval(max(found.lower, Fraction(0)), max(found.upper, Fraction(0)))

    @cached_property
    def rank(self) -> int:
        """Rank of Q, exact. Below the number of inputs, no estimator recovers all frequencies."""
        # Scaling rows does not change the rank, so the integers serve as they are; merged inputs repeat a row.
        rows = list(dict.fromkeys(zip(*self.numerators, strict=True)))
        most = min(len(rows), len(self.outputs))
        # What is independent modulo a prime is independent: that alone proves full rank, in a fraction of the time.
        if nmod_mat([[entry % RANK_PRIME for entry in row] for row in rows], RANK_PRIME).rank() == most:
            return most
        table = fmpz_mat([list(row) for row in rows])
        # A real matrix has the rank of its table of products.
        return int((table * table.transpose() if most < len(self.outputs) else table).rank())

    def relabelled(self, outputs: Sequence[str]) -> Mechanism:
        """The same mechanism with other output labels, padded with empty columns where there are more."""
        missing = len(outputs) - len(self.outputs)
        empty = DenseColumn((0,) * len(self.inputs))
        return Mechanism(self.inputs, tuple(outputs), self.columns + (empty,) * missing, self.denominators)

    # -- drawing from it -----------------------------------------------------------------------------

    @cached_property
    def sampler(self) -> MechanismSampler:
        """The alias tables of all rows, made when they are first asked for; they hold no key."""
        return MechanismSampler(tuple(zip(*self.numerators, strict=True)), self.denominators)

    def sample(self, codes: Any, source: Source | None = None) -> np.ndarray:
        return self.sampler.sample(codes, source)

    def randomize(self, labels: Any, source: Source | None = None) -> list[str] | np.ndarray:
        return relabel(labels, self.inputs, self.outputs, lambda codes: self.sample(codes, source))

    def estimate(self, counts: Any, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        # scipy's statistics take half a second to load, which nobody pays who only solves.
        from rropt.inference.recover import recover

        return recover(self.matrix, counts, self.inputs, self.outputs, method, prior)

    # -- files and pictures --------------------------------------------------------------------------

    def payload(self) -> dict[str, object]:
        """The `mechanism` object of the certificate format (section 5)."""
        return {
            "denominators": [str(number) for number in self.denominators],
            "outputs": list(self.outputs),
            "columns": [column.payload(len(self.inputs)) for column in self.columns],
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the mechanism as JSON (whole or not at all); returns the path. Raises InputError."""
        document = {
            "format": "rropt-mechanism",
            "version": 1,
            "inputs": list(self.inputs),
            **self.payload(),
        }
        return write_whole(path, json.dumps(document, ensure_ascii=False, indent=1) + "\n")

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the float64 matrix as CSV, one row an input, for other programs; `save` keeps the exact integers."""
        rows = ([label, *map(repr, row)] for label, row in zip(self.inputs, self.matrix.tolist(), strict=True))
        return write_whole(path, csv_text([["input", *self.outputs], *rows]))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mechanism:
        """Read what `save` wrote. Raises InputError with the file and the key that is wrong."""
        inputs, outputs, columns, denominators = mechanism_payload_from_json(
            read_text(path, "mechanism file"), str(path)
        )
        built = [
            DenseColumn(column) if isinstance(column[0], int) else TwoValuedColumn(*column[0]) for column in columns
        ]
        try:
            return cls(inputs, outputs, tuple(built), denominators)
        except InputError as error:
            raise InputError(error.what, f"{path}: {error.where}", error.remedy) from None

    @staticmethod
    def _listed(labels: Sequence[str]) -> str:
        return ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")

    def __repr__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        return display.as_html(self)


def grid_row(row: Sequence[Fraction], grid: int) -> list[Fraction]:
    """A row of non-negative rationals that sum to one, as multiples of 1/grid, by largest remainder."""
    scale = common_denominator(row)
    parts = [divmod(entry.numerator * (scale // entry.denominator) * grid, scale) for entry in row]
    whole = [number for number, _ in parts]
    missing = grid - sum(whole)
    order = sorted(range(len(row)), key=lambda y: -parts[y][1])
    for y in order[:missing]:
        whole[y] += 1
    return [Fraction(number, grid) for number in whole]
