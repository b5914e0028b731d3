"""Figures of papers: panels of curves or points, as tidy rows of CSV and as one SVG picture."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Curve", "Figure", "Panel"]

COLOURS = ("#1f4e9c", "#d1495b", "#2e8b57", "#8a5a00", "#7b3fa0", "#444444", "#e08e0b")
NARROWEST, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 300, 230, 52, 34, 14, 44
LEAST = 760
"""The least width of a picture, for its title."""
ACROSS = 4
"""Panels in a row of the picture."""


@dataclass(frozen=True)
class Curve:
    """One line or cloud of points: x and y; `bounds` (one a point, or none) what y is proved not to exceed.

    `numbers` says of how many draws each point is the mean. A y of None is a point that was not computed.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    numbers: tuple[int, ...]
    bounds: tuple[float | None, ...] = ()

    def points(self) -> list[tuple[float, float]]:
        """The points that there are."""
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if y is not None]


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes; `scattered` points are not joined."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    scattered: bool = False


@dataclass(frozen=True)
class Figure:
    """A numbered figure of a paper with all its data; `note` says how it was made."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    note: str

    def csv(self) -> str:
        """Tidy rows panel, curve, x, y, bound, draws; y and bound empty where there is none."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("panel", "curve", "x", "y", "bound", "draws"))
        for panel in self.panels:
            for curve in panel.curves:
                bounds = curve.bounds or (None,) * len(curve.x)
                for x, y, bound, number in zip(curve.x, curve.y, bounds, curve.numbers, strict=True):
                    cells = ["" if value is None else repr(float(value)) for value in (x, y, bound)]
                    writer.writerow((panel.title, curve.name, *cells, number))
        return stream.getvalue()

    def svg(self) -> str:
        """The picture, white behind, each panel with its own axes, one legend for all below."""
        names = list(dict.fromkeys(curve.name for panel in self.panels for curve in panel.curves))
        colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
        across = min(ACROSS, len(self.panels))
        down = -(-len(self.panels) // across)
        wide = max(NARROWEST, LEAST // across)
        tall = HEIGHT * wide // NARROWEST if down == 1 else HEIGHT
        places, rows = _legend(names, across * wide)
        width, height = across * wide, down * tall + 62 + 20 * rows
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
            'font-size="11">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="10" y="22" font-size="14">{escape(self.title)}</text>',
        ]
        for at, panel in enumerate(self.panels):
            x, y = at % across * wide, 30 + at // across * tall
            lines += [f'<g transform="translate({x},{y})">', *_drawn(panel, colours, wide, tall), "</g>"]
        for name, (x, row) in zip(names, places, strict=True):
            y = down * tall + 42 + 20 * row
            lines.append(f'<path d="M{x},{y} h22" stroke="{colours[name]}" stroke-width="2.5"/>')
            lines.append(f'<text x="{x + 28}" y="{y}" dominant-baseline="middle">{escape(name)}</text>')
        lines.append(f'<text x="16" y="{height - 14}" font-size="10" fill="#555">{escape(self.note)}</text>')
        return "\n".join([*lines, "</svg>", ""])


def _legend(names: Sequence[str], width: int) -> tuple[list[tuple[int, int]], int]:
    """(x, row) of each name in the legend, and how many rows there are."""
    places, x, row = [], 16, 0
    for name in names:
        needed = 46 + 7 * len(name)
        if x > 16 and x + needed > width:
            x, row = 16, row + 1
        places.append((x, row))
        x += needed
    return places, row + 1


def _drawn(panel: Panel, colours: dict[str, str], wide: int, tall: int) -> list[str]:
    points = [point for curve in panel.curves for point in curve.points()]
    xs, ys = _ticks([x for x, _ in points]), _ticks([y for _, y in points])
    right, bottom = wide - RIGHT, tall - BOTTOM

    def across(x: float) -> float:
        return LEFT + (x - xs[0]) / (xs[-1] - xs[0]) * (right - LEFT)

    def up(y: float) -> float:
        return bottom - (y - ys[0]) / (ys[-1] - ys[0]) * (bottom - TOP)

    lines = [
        f'<text x="{(LEFT + right) / 2}" y="{TOP - 10}" text-anchor="middle">{escape(panel.title)}</text>',
        f'<path d="M{LEFT},{TOP} V{bottom} H{right}" fill="none" stroke="black"/>',
        f'<text x="{(LEFT + right) / 2}" y="{tall - 12}" text-anchor="middle">{escape(panel.x_label)}</text>',
        f'<text transform="translate(12,{(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_label)}</text>",
    ]
    for tick in xs:
        lines.append(f'<text x="{across(tick):.1f}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>')
    for tick in ys:
        y = f"{up(tick):.1f}"
        lines.append(f'<path d="M{LEFT},{y} H{right}" stroke="#e5e5e5"/>')
        lines.append(f'<text x="{LEFT - 5}" y="{y}" text-anchor="end" dominant-baseline="middle">{tick:g}</text>')
    for curve in panel.curves:
        placed = [(f"{across(x):.1f}", f"{up(y):.1f}") for x, y in curve.points()]
        colour = colours[curve.name]
        if panel.scattered:
            lines += [f'<circle cx="{x}" cy="{y}" r="1.6" fill="{colour}"/>' for x, y in placed]
        elif placed:
            path = " L".join(",".join(point) for point in placed)
            lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
    return lines


def _ticks(values: Sequence[float]) -> list[float]:
    """About five round numbers that reach from below all values to above them."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if high - low < 1e-12 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= raw)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(at * step, 12) for at in range(first, last + 1)]
