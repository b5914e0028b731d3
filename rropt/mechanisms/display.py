"""A mechanism as text and as HTML, without pandas."""

from dataclasses import replace
from typing import Protocol

import numpy as np

from rropt.errors import counted, escaped, short_labels
from rropt.exact import Interval, shown
from rropt.io.tables import Table

TEXT_ROWS, TEXT_COLUMNS = 12, 8
HTML_ROWS, HTML_COLUMNS = 40, 40
TEXT_NAME, TEXT_HEAD = 14, 8


class Shown(Protocol):
    """The part of a mechanism that is drawn."""

    @property
    def inputs(self) -> tuple[str, ...]: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...

    @property
    def denominators(self) -> tuple[int, ...]: ...

    @property
    def matrix(self) -> np.ndarray: ...

    @property
    def epsilon(self) -> Interval:
        """The privacy level."""


def headline(mechanism: Shown) -> str:
    """One line: the shape, the denominator, the privacy level rounded up."""
    inputs, outputs = mechanism.matrix.shape
    base = mechanism.denominators[0]
    over = "2^53" if mechanism.denominators == (1 << 53,) else f"{base:,}" if base < 10**9 else "exact integers"
    shape = f"{counted(inputs, 'inputs')} x {counted(outputs, 'outputs')}"
    return f"{shape} over {over}, epsilon <= {shown(mechanism.epsilon.upper, 6, up=True)}"


def as_table(mechanism: Shown, digits: int, rows: int, columns: int) -> tuple[Table, list[str]]:
    """The first entries of the matrix, shaded by their share of the largest, and a remark on the others."""
    matrix = mechanism.matrix[:rows, :columns]
    body = [
        [name, *(f"{value:.{digits}f}" for value in row)] for name, row in zip(mechanism.inputs, matrix, strict=False)
    ]
    hidden = zip(mechanism.matrix.shape, matrix.shape, ("inputs", "outputs"), strict=True)
    more = [counted(there - here, f"more {what}") for there, here, what in hidden if there > here]
    heads = ["", *mechanism.outputs[:columns]]
    shades = (matrix / (float(mechanism.matrix.max()) or 1.0)).tolist()
    return Table("", body, heads, range(1, len(heads)), shades), [f"... {', '.join(more)}"] * bool(more)


def as_text(mechanism: Shown) -> str:
    """A table of at most 12 x 8 entries under the headline."""
    table, more = as_table(mechanism, 5, TEXT_ROWS, TEXT_COLUMNS)
    names, heads = short_labels([row[0] for row in table.rows], TEXT_NAME), short_labels(table.heads, TEXT_HEAD)
    short = replace(table, rows=[[name, *row[1:]] for name, row in zip(names, table.rows, strict=True)], heads=heads)
    return "\n".join([f"Mechanism({headline(mechanism)})", short.text(), *more])


def as_html(mechanism: Shown) -> str:
    """The headline and a shaded table of at most 40 x 40 entries, for notebooks."""
    table, more = as_table(mechanism, 3, HTML_ROWS, HTML_COLUMNS)
    remarks = "".join(f"<p>{line}</p>" for line in more)
    return f"<div><p>Mechanism: {escaped(headline(mechanism))}</p>{table.html()}{remarks}</div>"
