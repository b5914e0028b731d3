"""Figures and tables of papers: panels of curves, points and regions, as tidy rows of CSV and as one SVG picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Area", "Curve", "Figure", "Panel", "Table"]

Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One line or cloud of points: x and y; `bounds` (one per point, or none) what y is proved not to exceed.

    `numbers` says of how many draws each point is the mean. A y of None is a point that was not computed. Curves of one
    `hue` have one colour; None is a colour of its own.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    numbers: tuple[int, ...]
    bounds: tuple[float | None, ...] = ()
    dashed: bool = False
    hue: int | None = None

    @classmethod
    def through(cls, name: str, points: Sequence[Point], dashed: bool = False, hue: int | None = None) -> Curve:
        """The curve through points that are not means of draws."""
        return cls(name, tuple(x for x, _ in points), tuple(y for _, y in points), (1,) * len(points), (), dashed, hue)

    def points(self) -> list[Point]:
        """The points that were computed."""
        return [(x, y) for x, y in zip(self.x, self.y, strict=True) if y is not None]


@dataclass(frozen=True)
class Area:
    """A named shaded region: one or more polygons, each by its corners."""

    name: str
    polygons: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True)
class Panel:
    """Curves over one pair of axes, on top of shaded `areas`; `scattered` points are not joined; `log_x`, `log_y` for
    logarithmic axes (all numbers positive there)."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    scattered: bool = False
    areas: tuple[Area, ...] = ()
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Table:
    """A numbered table of a paper: a header and rows of what `str` shows."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def csv(self) -> str:
        """Header and rows."""
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerows([self.header, *self.rows])
        return stream.getvalue()


@dataclass(frozen=True)
class Figure:
    """A numbered figure of a paper with all its data; `note` says how it was made. `table` stands for the data where
    these are not curves."""

    name: str
    title: str
    panels: tuple[Panel, ...]
    note: str
    table: Table | None = None

    def csv(self) -> str:
        """Tidy rows panel, curve, x, y, bound, draws; y and bound empty where there is none. A region is given by the
        corners of its polygons, numbered, which no draws stand behind."""
        if self.table is not None:
            return self.table.csv()
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("panel", "curve", "x", "y", "bound", "draws"))
        for panel in self.panels:
            for curve in panel.curves:
                bounds = curve.bounds or (None,) * len(curve.x)
                for x, y, bound, number in zip(curve.x, curve.y, bounds, curve.numbers, strict=True):
                    cells = ["" if value is None else repr(float(value)) for value in (x, y, bound)]
                    writer.writerow((panel.title, curve.name, *cells, number))
            for area in panel.areas:
                for number, corners in enumerate(area.polygons, 1):
                    for x, y in corners:
                        writer.writerow((panel.title, f"{area.name} ({number})", repr(float(x)), repr(float(y)), "", 0))
        return stream.getvalue()

    def svg(self, *, narrow: bool = False) -> str:
        """The picture, light or dark as the reader's pages are, each panel with its own axes, one legend for all below;
        `narrow` for telephones, one panel below the other."""
        from rropt.models.svg import drawn

        return drawn(self, narrow)
