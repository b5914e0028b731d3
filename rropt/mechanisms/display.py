"""A mechanism as text and as HTML, without pandas."""

import html
from typing import Protocol

import numpy as np

from rropt.errors import counted, escaped, plain
from rropt.exact import Interval, shown

TEXT_ROWS, TEXT_COLUMNS = 12, 8
HTML_ROWS, HTML_COLUMNS = 40, 40


class Shown(Protocol):
    """What of a mechanism is drawn."""

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


def as_text(mechanism: Shown) -> str:
    """A table of at most 12 x 8 entries under the headline."""
    inputs, outputs = mechanism.matrix.shape
    width = min(14, max(len(plain(label)) for label in mechanism.inputs[:TEXT_ROWS]))
    shown = mechanism.outputs[:TEXT_COLUMNS]
    cut = " ..." if outputs > TEXT_COLUMNS else ""
    lines = [f"Mechanism({headline(mechanism)})"]
    lines.append(" " * width + "".join(f" {plain(label)[:8]:>8}" for label in shown) + cut)
    for label, row in zip(mechanism.inputs[:TEXT_ROWS], mechanism.matrix, strict=False):
        cells = "".join(f" {value:8.5f}" for value in row[:TEXT_COLUMNS])
        lines.append(f"{plain(label)[:width]:<{width}}{cells}{cut}")
    if inputs > TEXT_ROWS:
        lines.append(f"... {counted(inputs - TEXT_ROWS, 'more inputs')}")
    return "\n".join(lines)


def as_html(mechanism: Shown) -> str:
    """An HTML table with cells shaded by probability, for notebooks; at most 40 x 40 entries."""
    inputs, outputs = mechanism.matrix.shape
    largest = float(mechanism.matrix.max())
    head = "".join(f"<th>{escaped(label)}</th>" for label in mechanism.outputs[:HTML_COLUMNS])
    body = []
    for label, row in zip(mechanism.inputs[:HTML_ROWS], mechanism.matrix, strict=False):
        cells = "".join(
            f'<td style="background:rgba(31,119,180,{0.75 * value / largest:.3f})">{value:.5f}</td>'
            for value in row[:HTML_COLUMNS]
        )
        body.append(f"<tr><th>{escaped(label)}</th>{cells}</tr>")
    hidden = max(0, inputs - HTML_ROWS), max(0, outputs - HTML_COLUMNS)
    note = f"<p>{counted(hidden[0], 'more inputs')}, {counted(hidden[1], 'more outputs')}</p>" if any(hidden) else ""
    return (
        f"<div><p>Mechanism: {html.escape(headline(mechanism))}</p>"
        f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{note}</div>"
    )
