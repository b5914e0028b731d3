"""Pictures of figures: what stands left of the axis has room, and the legend shows what is drawn."""

from __future__ import annotations

import re

from rropt.models.plots import Curve, Figure, Panel


def picture(scattered: bool, height: float) -> str:
    curve = Curve.through("one", [(0.0, -height), (1.0, height)])
    return Figure("f", "title", (Panel("p", "x", "y", (curve,), scattered=scattered),), "note").svg()


def test_numbers_of_an_axis_do_not_reach_its_name() -> None:
    for height in (0.0006, 1.0, 40_000.0):
        text = picture(False, height)
        labels = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="end"[^>]*>([^<]*)<', text)
        assert labels
        for x, label in labels:
            assert float(x) - 6.5 * len(label) > 14


def test_the_legend_of_points_has_points() -> None:
    dots, lines = (re.findall(r"<circle", picture(scattered, 1.0)) for scattered in (True, False))
    assert (len(dots), len(lines)) == (3, 0)
    assert "h22" not in picture(True, 1.0)
    assert "h22" in picture(False, 1.0)
