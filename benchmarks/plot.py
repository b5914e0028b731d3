"""A double-logarithmic plot as SVG, drawn with the standard library."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 90, 20, 50
COLOURS = ("#1f5fa8", "#c0562b", "#3d8b4f")


def log_log(x: Sequence[float], series: Mapping[str, Sequence[float]], x_title: str, y_title: str) -> str:
    """One line a series over the common positive `x`; decades as grid lines, the sizes themselves as x marks."""
    values = [value for line in series.values() for value in line]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    first, last = math.log(min(x)), math.log(max(x))

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log(value) - first) / ((last - first) or 1.0)

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
    for value in x:
        parts.append(f'<text x="{across(value):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:g}</text>')
    for colour, (name, line) in zip(COLOURS, series.items(), strict=False):
        points = [(across(at), down(value)) for at, value in zip(x, line, strict=True)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        a, b = points[-1]
        parts.append(f'<text x="{a + 8:.1f}" y="{b + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_title)}</text>')
    parts.append(
        f'<text x="16" y="{HEIGHT / 2:.1f}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2:.1f})">'
        f"{escape(y_title)}</text>"
    )
    return "\n".join([*parts, "</svg>\n"])
