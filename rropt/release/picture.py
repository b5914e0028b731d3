"""Estimated frequencies with their intervals, and the true ones where they are known, as an SVG picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rropt.errors import TooLarge, escaped, short_labels

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate

MOST = 200
"""The most categories of a picture."""
ROW, WIDTH, LETTER, BOLD, TOP, FOOT, RIGHT = 22, 760, 7.2, 8.6, 58, 76, 24
ESTIMATED, TRUE = "#1f4e9c", "#d1495b"
DARK = {"white": "#1e2129", "#e5e5e5": "#3a404c", ESTIMATED: "#7fb0ff", TRUE: "#ff8a98"}
"""The colours of a picture for readers whose pages are dark; its letters become nearly white."""


def estimate_svg(found: Estimate, level: float, truth: Sequence[float] | None = None, title: str = "") -> str:
    """One row per category: the interval at `level` as a bar, the estimate as a dot, the true frequency (k numbers, or
    None) as a cross. Raises InputError for more than 200 categories."""
    k = len(found.categories)
    if k > MOST:
        raise TooLarge(f"{k:,} categories are too many for a picture", "estimate", f"at most {MOST}")
    limits = found.intervals(level)
    numbers = [*limits.ravel().tolist(), *found.values.tolist(), *(truth or ())]
    ticks = _ticks(min(0.0, *numbers), max(numbers))
    names = short_labels(found.categories, 32)
    left = 18 + LETTER * max(map(len, names))
    bottom = TOP + ROW * k

    def across(value: float) -> float:
        return left + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (WIDTH - RIGHT - left)

    title = title or "Estimated frequencies"
    (heading,) = short_labels([title], int((WIDTH - 32) / BOLD))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + FOOT}" role="img" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escaped(title)}</title>",
        f"<style>@media (prefers-color-scheme:dark){{text{{fill:#e4e6eb}}{_dark()}}}</style>",
        f'<rect width="{WIDTH}" height="{bottom + FOOT}" fill="white"/>',
        f'<text x="16" y="26" font-size="15" font-weight="bold">{escaped(heading)}</text>',
    ]
    if found.warnings:
        # What is wrong is seen before any number: the rest of the sentence is shown when it is pointed at.
        (warning,) = short_labels(found.warnings[:1], int((WIDTH - 32) / LETTER))
        lines.append(
            f'<g><title>{escaped("; ".join(found.warnings))}</title><text x="16" y="44" fill="{TRUE}" '
            f'font-weight="bold">{escaped(warning)}</text></g>'
        )
    for tick in ticks:
        x = f"{across(tick):.1f}"
        lines.append(f'<path d="M{x},{TOP - 8} V{bottom}" stroke="#e5e5e5"/>')
        lines.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{100 * tick:g} %</text>')
    for at, name in enumerate(names):
        y = TOP + ROW * at + ROW / 2
        low, high = (across(float(end)) for end in limits[at])
        lines += [
            f'<text x="{left - 10:.1f}" y="{y}" text-anchor="end" dominant-baseline="middle">{escaped(name)}</text>',
            f'<path d="M{low:.1f},{y} H{high:.1f}" stroke="{ESTIMATED}" stroke-width="6" stroke-opacity="0.35"/>',
            f'<circle cx="{across(float(found.values[at])):.1f}" cy="{y}" r="3.6" fill="{ESTIMATED}"/>',
        ]
        if truth is not None:
            lines.append(_cross(across(truth[at]), y))
    y = bottom + 46
    lines += [
        f'<path d="M16,{y} h26" stroke="{ESTIMATED}" stroke-width="6" stroke-opacity="0.35"/>',
        f'<circle cx="29" cy="{y}" r="3.6" fill="{ESTIMATED}"/>',
        f'<text x="50" y="{y}" dominant-baseline="middle">estimate, {100 * level:g} % interval; n = {found.n:,}</text>',
    ]
    if truth is not None:
        lines += [_cross(380, y), f'<text x="394" y="{y}" dominant-baseline="middle">true frequency</text>']
    return "\n".join([*lines, "</svg>", ""])


def _dark() -> str:
    return "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
    )


def _cross(x: float, y: float) -> str:
    return f'<path d="M{x - 4:.1f},{y - 4} l8,8 m0,-8 l-8,8" stroke="{TRUE}" stroke-width="1.8"/>'


def _ticks(low: float, high: float) -> list[float]:
    """About six round numbers from below `low` to above `high`."""
    raw = max(high - low, 1e-9) / 6
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * scale for factor in (1, 2, 5, 10) if factor * scale >= raw * (1 - 1e-9))
    return [round(step * at, 12) for at in range(math.floor(low / step), math.ceil(high / step - 1e-9) + 1)]
