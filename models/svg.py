"""Line charts with shaded regions as SVG text, and their points as rows: what the papers' figures need, no more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

__all__ = ["Area", "Chart", "Line"]

Point = tuple[float, float]
COLOURS = ("#1f4e9c", "#d1495b", "#2e8b57", "#8a5a00", "#6a3d9a", "#555555", "#00798c", "#c77dff")
SHADES = ("#c9d8ee", "#f2cbd1", "#cfe8d8", "#ead9bd")
WIDTH, HEIGHT, LEFT, TOP, MARGIN, FOOT = 720, 440, 66, 34, 210, 52


@dataclass(frozen=True)
class Line:
    """A named curve through its points, from left to right."""

    name: str
    points: tuple[Point, ...]
    dashed: bool = False


@dataclass(frozen=True)
class Area:
    """A named shaded region: one or more polygons, each by its corners."""

    name: str
    polygons: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True)
class Chart:
    """One figure: titles, curves, regions; `log_x`, `log_y` for logarithmic axes (all numbers positive there)."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...] = ()
    areas: tuple[Area, ...] = ()
    log_x: bool = False
    log_y: bool = False

    def rows(self) -> list[tuple[str, float, float]]:
        """All numbers shown: (name, x, y), regions by their corners."""
        found = [(line.name, *point) for line in self.lines for point in line.points]
        for area in self.areas:
            for number, corners in enumerate(area.polygons, 1):
                found += [(f"{area.name} ({number})", *point) for point in corners]
        return found

    def svg(self) -> str:
        """The picture."""
        points = [point for line in self.lines for point in line.points]
        points += [point for area in self.areas for corners in area.polygons for point in corners]
        across = _Axis.of([x for x, _ in points], self.log_x, LEFT, WIDTH - MARGIN)
        up = _Axis.of([y for _, y in points], self.log_y, HEIGHT - FOOT, TOP)

        def path(corners: Iterable[Point]) -> str:
            return "M" + " L".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in corners)

        right, bottom = WIDTH - MARGIN, HEIGHT - FOOT
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
            'font-size="13">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="20" font-weight="bold">{escape(self.title)}</text>',
        ]
        for number, area in enumerate(self.areas):
            for corners in area.polygons:
                shade = SHADES[number % len(SHADES)]
                parts.append(f'<path d="{path(corners)} Z" fill="{shade}" fill-opacity="0.75"/>')
        parts.append(f'<path d="M{LEFT},{TOP} V{bottom} H{right}" fill="none" stroke="black"/>')
        for tick in across.ticks:
            parts.append(f'<text x="{across.at(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>')
        for tick in up.ticks:
            place = f'x="{LEFT - 8}" y="{up.at(tick):.1f}" text-anchor="end" dominant-baseline="middle"'
            parts.append(f"<text {place}>{tick:g}</text>")
        parts.append(
            f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(self.x)}</text>'
            f'<text transform="translate(16,{(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y)}</text>"
        )
        height = TOP + 10
        for number, line in enumerate(self.lines):
            stroke = f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="1.8"'
            dash = ' stroke-dasharray="6 4"' if line.dashed else ""
            parts.append(f'<path d="{path(line.points)}" fill="none" {stroke}{dash}/>')
            parts.append(f'<path d="M{right + 12},{height} h24" {stroke}{dash}/>')
            parts.append(_legend(right, height, line.name))
            height += 22
        for number, area in enumerate(self.areas):
            shade = SHADES[number % len(SHADES)]
            parts.append(f'<rect x="{right + 12}" y="{height - 7}" width="24" height="14" fill="{shade}"/>')
            parts.append(_legend(right, height, area.name))
            height += 22
        return "\n".join([*parts, "</svg>", ""])


def _legend(right: int, height: int, name: str) -> str:
    return f'<text x="{right + 42}" y="{height}" dominant-baseline="middle">{escape(name)}</text>'


@dataclass(frozen=True)
class _Axis:
    """Numbers from `low` to `high` placed between two ends of the picture."""

    low: float
    high: float
    log: bool
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float], log: bool, start: float, end: float) -> _Axis:
        low, high = min(values), max(values)
        if log:
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            found = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            ticks = [tick for tick in found if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
            return cls(math.log(low), math.log(max(high, low * 1.01)), True, start, end, tuple(ticks))
        low, high = min(low, 0.0), high if high > min(low, 0.0) else low + 1
        raw = (high - low) / 6
        scale = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * scale for factor in (1, 2, 5, 10) if factor * scale >= raw)
        count = math.floor((high - low) / step + 1e-9)
        return cls(low, high, False, start, end, tuple(round(low + step * at, 12) for at in range(count + 1)))

    def at(self, value: float) -> float:
        number = math.log(value) if self.log else value
        return self.start + (self.end - self.start) * (number - self.low) / (self.high - self.low)
