"""Pictures of figures as SVG text: panels with axes, linear or logarithmic, regions below curves, and one legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rropt.models.plots import Figure, Panel

COLOURS = (
    "#1f4e9c", "#d1495b", "#2e8b57", "#8a5a00", "#7b3fa0", "#444444", "#e08e0b", "#00798c", "#c77dff", "#6b8e23"
)  # fmt: skip
SHADES = ("#c9d8ee", "#f2cbd1", "#cfe8d8", "#ead9bd")
DARK = {
    "white": "#1e2129", "black": "#c9ced6", "#555": "#b4bbc7", "#888": "#8b94a3", "#bbb": "#5b6270", "#e5e5e5": "#3a404c",
    "#dce6f5": "#2b3f5f", "#b3261e": "#ff8a80",
    **dict(zip(COLOURS, (
        "#7fb0ff", "#ff8a98", "#63c98f", "#d9a441", "#c792ea", "#bbbbbb", "#f5b042", "#4cc3d5", "#d9a6ff", "#a5cf4c"
    ), strict=True)),
    **dict(zip(SHADES, ("#33496b", "#6b3a43", "#2f5b40", "#5c4a2a"), strict=True)),
}  # fmt: skip
"""The colours of a picture for readers whose pages are dark."""
NARROWEST, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 300, 230, 52, 34, 14, 44
LEAST, NARROW = 760, 380
"""The least width of a picture, for its title, and that of one whose text can be read on a telephone."""
DIGIT = 7
"""The width of a digit."""
ACROSS = 4
"""Panels in a row of the picture."""


def begun(title: str, width: float, height: float, size: int, shown: float | None = None) -> list[str]:
    """The first lines of an SVG picture: its title, for those who cannot see it, letters of a `size`, and colours that
    follow the reader's light or dark setting. It is `shown` so wide where there is room."""
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
    )
    wide = "" if shown is None else f' width="{shown:g}"'
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"{wide} role="img" '
        f'font-family="sans-serif" font-size="{size}">',
        f"<title>{escape(title)}</title>",
        f"<style>@media (prefers-color-scheme:dark){{text{{fill:#e4e6eb}}{rules}}}</style>",
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
    ]


def drawn(figure: Figure, narrow: bool = False) -> str:
    """The picture of a figure, in the reader's mode, light or dark; a `narrow` one has one panel below the other."""
    names = list(dict.fromkeys(curve.name for panel in figure.panels for curve in panel.curves))
    regions = list(dict.fromkeys(area.name for panel in figure.panels for area in panel.areas))
    dashed = {curve.name for panel in figure.panels for curve in panel.curves if curve.dashed}
    dots = {curve.name for panel in figure.panels if panel.scattered for curve in panel.curves}
    hues = {curve.name: curve.hue for panel in figure.panels for curve in panel.curves}
    colours = {}
    for at, name in enumerate(names):
        hue = hues[name]
        colours[name] = COLOURS[(at if hue is None else hue) % len(COLOURS)]
    shades = {name: SHADES[at % len(SHADES)] for at, name in enumerate(regions)}
    across = 1 if narrow else min(ACROSS, len(figure.panels))
    down = -(-len(figure.panels) // across)
    wide = NARROW if narrow else max(NARROWEST, LEAST // across)
    tall = HEIGHT * wide // NARROWEST if down == 1 or narrow else HEIGHT
    places, rows = _legend([*regions, *names], across * wide)
    width, height = across * wide, down * tall + (62 if figure.note else 40) + 20 * rows
    lines = [
        *begun(figure.title, width, height, 11, 1.3 * NARROW if narrow else None),
        f'<text x="10" y="22" font-size="{13 if narrow else 14}">{escape(figure.title)}</text>',
    ]
    for at, panel in enumerate(figure.panels):
        x, y = at % across * wide, 30 + at // across * tall
        lines += [f'<g transform="translate({x},{y})">', *_panel(panel, colours, shades, wide, tall), "</g>"]
    for name, (x, row) in zip([*regions, *names], places, strict=True):
        y = down * tall + 42 + 20 * row
        if name in shades:
            lines.append(f'<rect x="{x}" y="{y - 6}" width="22" height="12" fill="{shades[name]}"/>')
        elif name in dots:
            lines.append(f'<circle cx="{x + 11}" cy="{y}" r="3" fill="{colours[name]}"/>')
        else:
            dash = ' stroke-dasharray="6 4"' if name in dashed else ""
            lines.append(f'<path d="M{x},{y} h22" stroke="{colours[name]}" stroke-width="2.5"{dash}/>')
        lines.append(f'<text x="{x + 28}" y="{y}" dominant-baseline="middle">{escape(name)}</text>')
    lines.append(f'<text x="16" y="{height - 14}" font-size="10" fill="#555">{escape(figure.note)}</text>')
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


@dataclass(frozen=True)
class _Axis:
    """Ticks, and where a number stands between `start` and `end`."""

    ticks: list[float]
    place: Callable[[float], float]

    @classmethod
    def of(cls, values: Sequence[float], log: bool, start: float, end: float) -> _Axis:
        ticks = _powers(values) if log else _ticks(values)
        low, high = ticks[0], ticks[-1]
        if log:
            low, high = min(low, *values), max(high, *values)
            return cls(ticks, lambda v: start + (end - start) * math.log(v / low) / math.log(high / low))
        return cls(ticks, lambda v: start + (end - start) * (v - low) / (high - low))


def _panel(panel: Panel, colours: dict[str, str], shades: dict[str, str], wide: int, tall: int) -> list[str]:
    points = [point for curve in panel.curves for point in curve.points()]
    points += [point for area in panel.areas for corners in area.polygons for point in corners]
    right, bottom = wide - RIGHT, tall - BOTTOM
    ys = _Axis.of([y for _, y in points], panel.log_y, bottom, TOP)
    # The numbers on the left stand between the axis and its name.
    left = max(LEFT, 27 + DIGIT * max(len(f"{tick:g}") for tick in ys.ticks))
    xs = _Axis.of([x for x, _ in points], panel.log_x, left, right)

    def path(corners: Sequence[tuple[float, float]]) -> str:
        return "M" + " L".join(f"{xs.place(x):.1f},{ys.place(y):.1f}" for x, y in corners)

    lines = [
        f'<path d="{path(corners)} Z" fill="{shades[area.name]}" fill-opacity="0.75"/>'
        for area in panel.areas
        for corners in area.polygons
    ]
    lines += [
        f'<text x="{(left + right) / 2}" y="{TOP - 10}" text-anchor="middle">{escape(panel.title)}</text>',
        f'<path d="M{left},{TOP} V{bottom} H{right}" fill="none" stroke="black"/>',
        f'<text x="{(left + right) / 2}" y="{tall - 12}" text-anchor="middle">{escape(panel.x_label)}</text>',
        f'<text transform="translate(12,{(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_label)}</text>",
    ]
    for tick in xs.ticks:
        lines.append(f'<text x="{xs.place(tick):.1f}" y="{bottom + 15}" text-anchor="middle">{tick:g}</text>')
    for tick in ys.ticks:
        y = f"{ys.place(tick):.1f}"
        if not panel.areas:
            lines.append(f'<path d="M{left},{y} H{right}" stroke="#e5e5e5"/>')
        lines.append(f'<text x="{left - 5}" y="{y}" text-anchor="end" dominant-baseline="middle">{tick:g}</text>')
    for curve in panel.curves:
        colour, placed = colours[curve.name], curve.points()
        if panel.scattered:
            lines += [
                f'<circle cx="{xs.place(x):.1f}" cy="{ys.place(y):.1f}" r="1.6" fill="{colour}"/>' for x, y in placed
            ]
        elif placed:
            dash = ' stroke-dasharray="6 4"' if curve.dashed else ""
            lines.append(f'<path d="{path(placed)}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
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


def _powers(values: Sequence[float]) -> list[float]:
    """The numbers 1, 2 and 5 times powers of ten (powers alone over many of them) among the values, two or more."""
    low, high = min(values), max(values)
    digits = (1, 2, 5) if high < 2000 * low else (1,)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    found = [digit * 10.0**power for power in powers for digit in digits]
    inside = [tick for tick in found if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
    return (
        inside if len(inside) > 1 else [max(tick for tick in found if tick <= low), min(t for t in found if t > high)]
    )
