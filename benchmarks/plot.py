"""A double-logarithmic plot as SVG, drawn with the standard library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, cycle
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 290, 20, 50
COLOURS = ("#1f5fa8", "#c0562b", "#3d8b4f", "#8a4fb0", "#b8900f", "#1a9aa0", "#d0487f", "#555555")
DASHES = ("", "6 3", "2 3")
"""A colour that comes again is dashed."""


def decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten below and above all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def log_log(series: Mapping[str, Sequence[tuple[float, float]]], x_title: str, y_title: str) -> str:
    """One line a series, of points of positive numbers; decades as grid lines, and the names beside the lines."""
    every = list(chain.from_iterable(series.values()))
    (first, last), (low, high) = (decades([point[axis] for point in every]) for axis in (0, 1))

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - first) / (last - first)

    def down(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(value) - low) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for power in range(low, high + 1):
        y = down(10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for power in range(first, last + 1):
        at = across(10.0**power)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10.0**power:g}</text>')
    styles = [(colour, dash) for dash in DASHES for colour in COLOURS]
    for number, ((colour, dash), (name, line)) in enumerate(zip(cycle(styles), series.items(), strict=False)):
        stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        points = [(across(at), down(value)) for at, value in line]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" {stroke}/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        beside, y = WIDTH - RIGHT + 15, TOP + 20 * (number + 1)
        parts.append(f'<line x1="{beside}" x2="{beside + 25}" y1="{y - 4}" y2="{y - 4}" {stroke}/>')
        parts.append(f'<text x="{beside + 32}" y="{y}">{escape(name)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_title)}</text>')
    parts.append(
        f'<text x="16" y="{HEIGHT / 2:.1f}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2:.1f})">'
        f"{escape(y_title)}</text>"
    )
    return "\n".join([*parts, "</svg>\n"])
