"""Impossible cells of a table, pictures of tables, and what `protect` does not repeat."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.release.picture import DARK, estimate_svg

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


IMPOSSIBLE = [{"sex": "m", "birth": "yes"}, {"sex": "m", "birth": "unknown"}]
DOMAIN = {"sex": ["f", "m"], "birth": ["yes", "no", "unknown"], "smokes": ["yes", "no"]}


def people(n: int = 3000) -> Any:
    draw = np.random.default_rng(1)
    sex = draw.choice(["f", "m"], n)
    birth = np.where((sex == "f") & (draw.random(n) < 0.3), "yes", "no")
    return pd.DataFrame({"sex": sex, "birth": birth, "smokes": draw.choice(["yes", "no"], n)})


def protected(by: str = "") -> dict[Any, Any]:
    people().to_csv("t.csv", index=False)
    columns = ["birth", "smokes"] if by else ["sex", "birth", "smokes"]
    domain = {name: DOMAIN[name] for name in columns}
    options: dict[str, Any] = {"categories": domain, "impossible": IMPOSSIBLE, "warn": lambda _: None}
    found = rr.protect("t.csv", columns, 3, by=by or (), output="o.csv", **options)
    return {one.released: one for one in found.release.columns}


@pytest.mark.parametrize("by", ["", "sex"])
def test_an_impossible_cell_is_zero_for_certain(by: str) -> None:
    """Perturbed jointly, and by strata: the share of a cell that no record can be in is 0, with the interval [0, 0]."""
    columns = protected(by)
    found = rr.release.estimate_table("o.csv", columns, ("sex", "birth"))
    expected = np.array([[one == "m" and other != "no" for other in found.columns] for one in found.rows])
    np.testing.assert_array_equal(found.impossible, expected)
    for level in (0.5, 0.95, 0.999):
        ends = found.intervals(level)
        assert (ends[expected] == 0).all()
        assert (ends[~expected, 1] > ends[~expected, 0]).all()
    assert (found.values[expected] == 0).all()
    shares = rr.release.estimate_shares("o.csv", columns, "birth", by="sex")
    at = shares.domains.index("m")
    # All men are in the one category that is possible for them.
    np.testing.assert_array_equal(shares.impossible[at], [one != "no" for one in shares.categories])
    np.testing.assert_allclose(shares.values[at], [float(one == "no") for one in shares.categories], atol=1e-12)
    np.testing.assert_allclose(shares.intervals()[at], np.repeat(shares.values[at], 2).reshape(-1, 2), atol=1e-12)
    assert not any("mean nothing" in one for one in shares.warnings)
    free = rr.release.estimate_table("o.csv", columns, ("sex", "smokes"))
    assert not free.impossible.any()


def test_pictures_of_tables_have_all_numbers() -> None:
    pytest.importorskip("matplotlib")
    columns = protected()
    people().assign(w=np.arange(3000.0)).to_csv("u.csv", index=False)
    made = rr.RandomizedResponse(["yes", "no"], epsilon=2).to_mechanism()
    rr.release.release_file("u.csv", rr.release.ProtectedColumn("smokes", made), "v.csv", warn=lambda _: None)
    table = rr.release.estimate_table("o.csv", columns, ("sex", "birth"))
    shares = rr.release.estimate_shares("o.csv", columns, "birth", by="sex")
    means = rr.release.estimate_means("v.csv", {"smokes": made}, "smokes", "w")
    fit = rr.release.estimate_regression("v.csv", {"smokes": made}, "w", ["smokes"])
    two = rr.estimation.estimate_two_samples(((280, 720), (260, 740)), ("0.7", "0.3"))
    for found, values, ends in (
        (table, 100 * table.values.ravel(), 100 * table.intervals(0.9).reshape(-1, 2)),
        (shares, 100 * shares.values.ravel(), 100 * shares.intervals(0.9).reshape(-1, 2)),
        (means, means.values, means.intervals(0.9)),
        (fit, fit.values, fit.intervals(0.9)),
        (two, [100 * two.share, 100 * two.innocuous], 100 * np.array(two.intervals(0.9))),
    ):
        ax = found.plot(level=0.9)
        (points,) = ax.get_lines()
        np.testing.assert_allclose(points.get_xdata(), values)
        (bars,) = ax.collections
        np.testing.assert_allclose([[start[0], end[0]] for start, end in bars.get_segments()], ends)
        assert len(ax.get_yticklabels()) == len(values)


def test_a_picture_of_estimates_follows_the_reader() -> None:
    """Every colour of the picture has one for dark pages, and so has its background: no white box remains."""
    found = rr.RandomizedResponse(["yes", "no"], epsilon=2).to_mechanism().estimate([30, 70])
    root = ET.fromstring(estimate_svg(found, 0.95, [0.2, 0.8]))
    used = {one.get(name) for one in root.iter() for name in ("fill", "stroke")} - {None, "none"}
    assert used == set(DARK)
    (style,) = [one.text or "" for one in root.iter() if one.tag.endswith("style")]
    for light, dark in DARK.items():
        assert f'[fill="{light}"]{{fill:{dark}}}' in style
        assert f'[stroke="{light}"]{{stroke:{dark}}}' in style
    assert "prefers-color-scheme:dark" in style


def test_protect_does_not_repeat_the_total_that_was_asked_for() -> None:
    people().to_csv("t.csv", index=False)
    told: list[str] = []
    options: dict[str, Any] = {"categories": DOMAIN, "separate": True, "warn": told.append}
    rr.protect("t.csv", ["sex", "smokes"], 2, drop="birth", **options)
    rr.protect(people(), ["sex", "smokes"], 2, **options)
    assert not any("for each respondent" in one for one in told)
    # A second release of the same people does add up.
    rr.protect("t.csv", "birth", 1, output="again.csv", force=True, drop=["sex", "smokes"], **options)
    assert any("epsilon is 3 for each respondent" in one for one in told)


def test_an_estimated_number_is_called_one() -> None:
    columns = protected()
    found = rr.release.estimate_table("o.csv", columns, ("sex", "smokes")).cramers_v()
    assert str(found).splitlines()[0] == "Estimate"
