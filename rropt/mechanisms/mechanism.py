"""Mechanism: an explicit row-stochastic matrix in exact integers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from flint import arb, fmpq, fmpz_mat, nmod_mat

from rropt.errors import Conflict, OutOfRange, UnknownName, WrongType, counted, in_file, shown, suggestion
from rropt.exact import Interval, common_denominator, enclosure, log_enclosure, over_one, xlogx_ball
from rropt.io.arguments import checked, position
from rropt.io.counts import Table, clean_labels, same_labels
from rropt.io.extras import need
from rropt.io.files import JSON, csv_text, read_text, write_whole
from rropt.io.formulas import unquoted
from rropt.io.types import Label, Matrix, Tabular
from rropt.mechanisms import display
from rropt.mechanisms.channel import RandomizedChannel
from rropt.mechanisms.columns import Column, DenseColumn, TwoValuedColumn, exact_rows
from rropt.mechanisms.reading import Columns, Row, mechanism_document, mechanism_payload, whole_rows
from rropt.mechanisms.sampling import MechanismSampler, Source, relabel
from rropt.model.divergences import never_negative
from rropt.model.prior import Prior, pair_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.mechanisms.estimators.recover import Answers
    from rropt.mechanisms.garbling import AnyMechanism

GRID = 1 << 53
"""The default denominator: its multiples in [0, 1] are float64 numbers."""
WHERE = "mechanism matrix"
RANK_PRIME = (1 << 61) - 1
"""Ranks are looked for modulo this prime first."""

READERS: dict[str, Callable[[dict[str, Any], str], Mechanism]] = {}
"""Readers of further forms of the file (the path is for messages); subclasses add theirs."""


@checked
@dataclass(frozen=True, repr=False)
class Mechanism(RandomizedChannel):
    """A k x m row-stochastic matrix Q[x, y] = P(output y given input x), immutable, labelled and exact.

    Entry (x, y) is an integer of `columns[y]` over a denominator: `denominators` holds one for all rows
    or one per row. Make one with `from_matrix`, or let a problem find it. Rows that do not sum to their
    denominator, negative entries and unfit labels raise InputError.

        >>> import rropt as rr
        >>> warner = rr.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["no", "yes"], outputs=["no", "yes"])
        >>> warner["no", "yes"], warner.privacy_ratio
        (Fraction(1, 4), Fraction(3, 1))
    """

    input_labels: tuple[str, ...]
    outputs: tuple[str, ...]
    columns: tuple[Column, ...]
    denominators: tuple[int, ...] = (GRID,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_labels", clean_labels(self.input_labels, "inputs"))
        object.__setattr__(self, "outputs", clean_labels(self.outputs, "outputs"))
        size = len(self.input_labels)
        if len(self.columns) != len(self.outputs):
            given, wanted = counted(len(self.columns), "columns"), counted(len(self.outputs), "outputs")
            raise Conflict(f"{given} for {wanted}", "mechanism")
        if len(self.denominators) not in (1, size) or any(number <= 0 for number in self.denominators):
            raise OutOfRange("denominators must be one or one per row, all positive", "mechanism")
        sums = [0] * size
        for output, column in zip(self.outputs, self.columns, strict=True):
            entries = column.entries(size)
            if len(entries) != size or min(entries) < 0:
                raise OutOfRange(f"column {output!r} has a negative or missing entry", "mechanism")
            sums = list(map(add, sums, entries))
        for label, total, denominator in zip(self.inputs, sums, self.row_denominators, strict=True):
            if total != denominator:
                share = Fraction(total, denominator)
                raise OutOfRange(f"row {label!r} sums to {float(share)!r}, not to one", "mechanism")

    @classmethod
    def from_matrix(
        cls,
        matrix: Matrix,
        *,
        inputs: Sequence[Label] | None = None,
        outputs: Sequence[Label] | None = None,
        denominator: int | None = None,
    ) -> Mechanism:
        """A mechanism from a k x m row-stochastic matrix.

        A data frame names inputs (its index) and outputs (its columns). Floats are rounded to multiples of 2^-53 by
        largest remainder (a zero stays zero); integers need their common `denominator`; a matrix of Fraction or of
        "p/q" strings is kept exactly. Default labels are "0", "1", .... Row sums within 1e-9 of one are divided out. A
        matrix that is column-stochastic, negative, ragged or not finite raises InputError that names the axis.
        """
        return cls._from_table(Table.read(matrix, WHERE), inputs, outputs, denominator)

    @classmethod
    def from_column_stochastic(
        cls,
        matrix: Matrix,
        *,
        inputs: Sequence[Label] | None = None,
        outputs: Sequence[Label] | None = None,
        denominator: int | None = None,
    ) -> Mechanism:
        """As `from_matrix`, for a matrix whose columns are the inputs (m x k)."""
        return cls._from_table(Table.read(matrix, WHERE).transposed, inputs, outputs, denominator, flipped=True)

    @classmethod
    def _from_table(
        cls, table: Table, inputs: object, outputs: object, denominator: int | None, flipped: bool = False
    ) -> Mechanism:
        entries, sources, targets = _place(table, inputs, outputs)
        rows, exact = whole_rows(entries, denominator, flipped)
        if exact:
            return cls._from_exact(rows, sources, targets)
        grid = zip(*(largest_remainders(row, GRID) for row, _ in rows), strict=True)
        return cls(sources, targets, tuple(map(DenseColumn, grid)))

    @classmethod
    def from_rationals(
        cls, rows: Matrix, *, inputs: Sequence[Label] | None = None, outputs: Sequence[Label] | None = None
    ) -> Mechanism:
        """A mechanism from k exact rows of m rationals (Fraction, "p/q", integers); denominators are found."""
        entries, names, targets = _place(Table.read(rows, WHERE), inputs, outputs)
        exact = [over_one(row, lambda _, x=x: f"{WHERE} row {x}") for x, row in enumerate(entries)]  # type: ignore[misc]
        return cls._from_exact(exact, names, targets)

    @classmethod
    def _from_exact(cls, rows: Sequence[Row], inputs: tuple[str, ...], outputs: tuple[str, ...]) -> Mechanism:
        shared = [math.gcd(scale, *row) for row, scale in rows]
        denominators = reduced = [scale // common for (_, scale), common in zip(rows, shared, strict=True)]
        # A default mechanism keeps the denominator 2^53 even where every entry is a coarser fraction.
        if all(GRID % denominator == 0 for denominator in denominators):
            denominators = [GRID]
        elif len(set(denominators)) == 1 or math.lcm(*denominators).bit_length() <= 64:
            denominators = [math.lcm(*denominators)]
        per_row = denominators * len(rows) if len(denominators) == 1 else denominators
        whole = [
            [entry // common * (wanted // own) for entry in row]
            for (row, _), common, own, wanted in zip(rows, shared, reduced, per_row, strict=True)
        ]
        return cls(inputs, outputs, tuple(map(DenseColumn, zip(*whole, strict=True))), tuple(denominators))

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.input_labels

    @property
    def shape(self) -> tuple[int, int]:
        """(number of inputs, number of outputs)."""
        return len(self.inputs), len(self.outputs)

    @property
    def row_denominators(self) -> tuple[int, ...]:
        """k denominators, one per row."""
        return self.denominators * len(self.inputs) if len(self.denominators) == 1 else self.denominators

    @cached_property
    def numerators(self) -> tuple[tuple[int, ...], ...]:
        """The m columns of k integers each."""
        return tuple(column.entries(len(self.inputs)) for column in self.columns)

    def entry(self, x: int, y: int) -> Fraction:
        """Q[x, y], exact. Raises InputError for a position out of range."""
        x, y = position(x, len(self.inputs), "input"), position(y, len(self.outputs), "output")
        return Fraction(self.numerators[y][x], self.row_denominators[x])

    def __getitem__(self, at: tuple[str | int, str | int]) -> Fraction:
        """Q[x, y], exact, by the labels of an input and an output, or by their places.

        Raises InputError where there are none.

            >>> import rropt as rr
            >>> survey = rr.RandomizedResponse(["yes", "no"], gamma=3).to_mechanism()
            >>> str(survey["yes", "no"]), str(survey[0, 0]), str((survey @ survey)["yes", "yes"])
            ('1/4', '3/4', '5/8')
        """
        if not isinstance(at, tuple) or len(at) != 2:
            raise WrongType(f"{shown(at)} is not an input and an output", "Mechanism", 'as mechanism["yes", "no"]')
        places = []
        for own, labels, what in zip(at, (self.inputs, self.outputs), ("input", "output"), strict=True):
            if isinstance(own, str) and own not in labels:
                raise UnknownName(f"{shown(own)} is not an {what}", "Mechanism", suggestion(own, labels))
            places.append(labels.index(own) if isinstance(own, str) else own)
        return self.entry(*places)

    def __matmul__(self, other: Mechanism) -> Mechanism:
        """This mechanism, then `other` on its outputs, exact. Raises InputError where these are not its inputs."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        same_labels(other.inputs, self.outputs, "inputs of the second mechanism")
        steps = range(len(self.outputs))
        rows = [
            [
                sum((row[z] * column[z] for z in steps if row[z]), Fraction(0))
                for column in map(other.column, range(other.shape[1]))
            ]
            for row in exact_rows(self)
        ]
        return Mechanism.from_rationals(rows, inputs=self.inputs, outputs=other.outputs)

    def kron(self, other: AnyMechanism) -> Mechanism:
        """Both answers of one respondent, each by its own mechanism: the Kronecker product, exact. Inputs and outputs
        are the pairs "a, b", those of `other` changing fastest; `ProductMechanism` does not multiply out.

            >>> import rropt as rr
            >>> survey = rr.RandomizedResponse(["yes", "no"], gamma=3).to_mechanism()
            >>> both = survey.kron(survey)
            >>> both.inputs[1], str(both[1, 1])
            ('yes, no', '9/16')
        """
        second = other if isinstance(other, Mechanism) else getattr(other, "to_mechanism", lambda: None)()
        if not isinstance(second, Mechanism):
            raise WrongType(f"expected Mechanism, got {shown(other)}", "Mechanism.kron, other")
        rows, others = exact_rows(self), exact_rows(second)
        return Mechanism.from_rationals(
            [[a * b for a in row for b in own] for row in rows for own in others],
            inputs=[pair_label(a, b) for a in self.inputs for b in second.inputs],
            outputs=[pair_label(a, b) for a in self.outputs for b in second.outputs],
        )

    def column(self, y: int) -> tuple[Fraction, ...]:
        """Column y as k exact rationals. Raises InputError for a position out of range."""
        y = position(y, len(self.outputs), "output")
        return tuple(map(Fraction, self.numerators[y], self.row_denominators))

    @cached_property
    def matrix(self) -> np.ndarray:
        """Q as a read-only k x m float64 array: equal to the integers at 2^53, correctly rounded otherwise."""
        scales = self.row_denominators
        table = [[entry / scale for entry, scale in zip(column, scales, strict=True)] for column in self.numerators]
        array = np.array(table, dtype=np.float64).T.copy()
        array.flags.writeable = False
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """`numpy.asarray(mechanism)` is `matrix`; a copy, or another type, where that is asked for."""
        wanted = self.matrix if dtype is None else self.matrix.astype(dtype, copy=False)
        return wanted.copy() if copy else wanted

    def to_column_stochastic(self) -> np.ndarray:
        """The m x k float64 matrix whose columns are the inputs."""
        return self.matrix.T

    def extremes(self, y: int) -> tuple[Fraction, Fraction]:
        """The smallest and the largest entry of column y, exact. Raises InputError for a position out of range."""
        y = position(y, len(self.outputs), "output")
        if len(self.denominators) == 1:
            column, scale = self.numerators[y], self.denominators[0]
            return Fraction(min(column), scale), Fraction(max(column), scale)
        entries = self.column(y)
        return min(entries), max(entries)

    @cached_property
    def ranges(self) -> frozenset[tuple[Fraction, Fraction]]:
        """The smallest and the largest entry of every column, exact; columns that share both count once."""
        return frozenset(self.extremes(y) for y in range(len(self.outputs)))

    @cached_property
    def _privacy_ratio(self) -> Fraction | float:
        worst: Fraction = Fraction(1)
        for least, most in self.ranges:
            if most:
                if not least:
                    return math.inf
                worst = max(worst, most / least)
        return worst

    @property
    def privacy_ratio(self) -> Fraction | float:
        return self._privacy_ratio

    @property
    def epsilon(self) -> Interval:
        if isinstance(privacy_ratio := self._privacy_ratio, float):
            return Interval(privacy_ratio, privacy_ratio)  # type: ignore[arg-type]
        return log_enclosure(privacy_ratio)

    def mutual_information(self, prior: Prior, *, units: str = "nats") -> Interval:
        same_labels(prior.labels, self.inputs, "prior")
        if units not in ("nats", "bits"):
            raise UnknownName(f"{units!r} is not a unit of information", "units", "use 'nats' or 'bits'")
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
                if len(shares) == 1 and sum(shares.values()) == total:
                    continue  # A column that is constant says nothing, exactly.
                for (numerator, denominator), weight in shares.items():
                    result += arb(fmpq(weight, total)) * xlogx_ball(numerator, denominator)
                    mass += weight * numerator * (scale // denominator)
                result -= xlogx_ball(mass, total * scale)
            return result / arb(2).log() if units == "bits" else result

        return never_negative(enclosure(compute))

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

    @cached_property
    def sampler(self) -> MechanismSampler:
        """The alias tables of all rows, made when they are first asked for; they hold no key."""
        return MechanismSampler(tuple(zip(*self.numerators, strict=True)), self.denominators)

    def sample(self, codes: Any, *, source: Source | None = None) -> np.ndarray:
        return self.sampler.sample(codes, source=source)

    @overload
    def randomize(self, labels: Sequence[Label], *, source: Source | None = None) -> list[str]: ...

    @overload
    def randomize(self, labels: Tabular, *, source: Source | None = None) -> np.ndarray: ...

    def randomize(self, labels: Any, *, source: Source | None = None) -> list[str] | np.ndarray:
        return relabel(labels, self.inputs, self.outputs, lambda codes: self.sample(codes, source=source))

    def estimate(self, counts: Any, *, method: str = "unbiased", prior: Prior | None = None) -> Estimate:
        # scipy's statistics take half a second to load, and a solve does not need them.
        from rropt.mechanisms.estimators.recover import checked_counts, recover_sample

        return recover_sample(self.answers(checked_counts(counts, self.outputs)), self.outputs, method, prior)

    def answers(self, counts: np.ndarray) -> Answers:
        """The argument of estimators for the m `counts` of the outputs: floats, non-negative and whole."""
        from rropt.mechanisms.estimators.recover import Sample

        return Sample(self.matrix, counts, self.inputs)

    def payload(self) -> dict[str, object]:
        """The `mechanism` object of the certificate format (section 5)."""
        return {
            "denominators": [str(number) for number in self.denominators],
            "outputs": list(self.outputs),
            "columns": [column.payload(len(self.inputs)) for column in self.columns],
        }

    def to_json(self) -> str:
        """The text of the mechanism's file."""
        document = {"format": "rropt-mechanism", "inputs": list(self.inputs), **self._write()}
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"

    def _write(self) -> dict[str, object]:
        """The content of the file besides the inputs."""
        return self.payload()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the mechanism as JSON (whole or not at all); returns the path. Raises InputError."""
        return write_whole(path, self.to_json())

    def to_csv(self, path: str | os.PathLike[str], *, quote_formulas: bool = True) -> Path:
        """Write the float64 matrix as CSV, one row per input; `save` keeps the exact integers. With `quote_formulas`,
        labels that a spreadsheet would take for formulas get an apostrophe in front; `rropt.audit` reads both."""
        # The other corner says that an apostrophe is part of a label.
        plain = quote_formulas or all(unquoted(label) == label for label in (*self.inputs, *self.outputs))
        head = ["input" if plain else "inputs", *self.outputs]
        rows = ([label, *map(repr, row)] for label, row in zip(self.inputs, self.matrix.tolist(), strict=True))
        return write_whole(path, csv_text([head, *rows], quote_formulas))

    def to_frame(self) -> Any:
        """The float64 matrix as a pandas DataFrame, inputs by outputs. Raises InputError where pandas is missing."""
        pandas = need("pandas", "dev", "to_frame")
        return pandas.DataFrame(self.matrix.copy(), index=list(self.inputs), columns=list(self.outputs))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mechanism:
        """Read what `save` wrote. Raises InputError with the file and the key that is wrong."""
        return cls.parse(read_text(path, "mechanism file", limits=JSON), str(path))

    @classmethod
    def parse(cls, text: str, where: str) -> Mechanism:
        """A mechanism from the text of its file, which was read from `where`; as `load` otherwise."""
        form, document = mechanism_document(text, where)
        if form in READERS:
            return READERS[form](document, where)
        inputs, outputs, columns, denominators = mechanism_payload(document, where)
        return mechanism_of_columns(inputs, outputs, columns, denominators, where)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the probabilities as a heat map (extra `plot`) into `ax`, by default into a new figure. Raises
        InputError."""
        from rropt.plots import matrix_picture

        return matrix_picture(self, ax)

    def __repr__(self) -> str:
        return display.as_text(self)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return display.as_html(self)


def _place(table: Table, inputs: object, outputs: object) -> tuple[list[list[Any]], tuple[str, ...], tuple[str, ...]]:
    """(rows, inputs, outputs) of a table: labels given beside it in their order, else its own, else numbers."""
    found = []
    for given, own, size, what in (
        (inputs, table.row_names(WHERE), table.shape[0], "inputs"),
        (outputs, table.column_names(WHERE), table.shape[1], "outputs"),
    ):
        names = range(size) if own is None else own
        found.append(clean_labels(names if given is None else given, what))
    return table.of(found[0], found[1], WHERE, ("inputs", "outputs")), found[0], found[1]


def grid_row(row: Sequence[Fraction], grid: int) -> list[Fraction]:
    """A row of non-negative rationals that sum to one, as multiples of 1/grid, by largest remainder."""
    scale = common_denominator(row)
    whole = [entry.numerator * (scale // entry.denominator) for entry in row]
    return [Fraction(number, grid) for number in largest_remainders(whole, grid)]


def largest_remainders(row: Sequence[int], grid: int) -> list[int]:
    """Non-negative integers that sum to `grid`, in the proportions of `row` (not all zero) by largest remainder."""
    total = sum(row)
    parts = [divmod(entry * grid, total) for entry in row]
    whole = [number for number, _ in parts]
    order = sorted(range(len(row)), key=lambda y: -parts[y][1])
    for y in order[: grid - sum(whole)]:
        whole[y] += 1
    return whole


def mechanism_of_columns(
    inputs: tuple[str, ...], outputs: tuple[str, ...], columns: Columns, denominators: tuple[int, ...], where: str
) -> Mechanism:
    """The mechanism of columns that were read from the file `where`. Raises InputError that names it."""
    built = [DenseColumn(column) if isinstance(column[0], int) else TwoValuedColumn(*column[0]) for column in columns]
    with in_file(where):
        return Mechanism(inputs, outputs, tuple(built), denominators)
