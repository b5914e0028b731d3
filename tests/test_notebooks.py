"""The notebooks run without Jupyter, and end with what they say: each result is compared with the truth."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rropt as rr

pytest.importorskip("matplotlib", reason="needs the extra plot: pip install 'rropt[plot]'")

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook_hook", DOCS / "notebook_hook.py")
    assert spec is not None
    made = importlib.util.module_from_spec(spec)
    # Dataclasses look for the names of their module.
    sys.modules["notebook_hook"] = made
    spec.loader.exec_module(made)
    return made


def holds(estimate: Any, truth: Any) -> None:
    """All intervals at once contain the true shares, and they are no wider than a quarter."""
    low, high = estimate.intervals(0.99, simultaneous=True).T
    assert np.all((low <= truth) & (truth <= high))
    assert np.all(high - low < 0.25)


def survey(names: dict[str, Any]) -> None:
    solution, swept = names["solution"], names["swept"]
    assert (solution.status, solution.warnings) == ("certified", ())
    assert solution.mechanism.matrix == pytest.approx(np.array([[0.75, 0.25], [0.25, 0.75]]))
    # Rounding may leave one answer a hair more telling than the other.
    assert sorted({round(float(p), 9) for p in names["region"].posteriors("1/10")}) == [round(1 / 28, 9), 0.25]
    holds(names["estimate"], names["truth"])
    assert names["estimate"].values[0] == pytest.approx((names["counts"][0] / 4000 - 0.25) / 0.5)
    margins = swept.column("margin of error (percentage points)")
    assert margins[::2] == pytest.approx([2 * one for one in margins[1::2]])
    assert margins[::2] == sorted(margins[::2], reverse=True)


def census(names: dict[str, Any]) -> None:
    for sex, solution in names["solutions"].items():
        assert solution.status == "certified"
        pooled, own = names["errors"][sex]
        assert own < 1e-6 < 100 < pooled
        assert sum(names["counts"][sex].values()) == {"Female": 10_771, "Male": 21_790}[sex]
        assert float(solution.mechanism.epsilon.upper) <= 2 + 1e-9
        holds(names["estimates"][sex], names["truths"][sex])


def scale(names: dict[str, Any]) -> None:
    closest, solution = names["closest"], names["solution"]
    assert any("does not identify" in line for line in closest.warnings)
    assert (solution.status, solution.warnings, solution.mechanism.rank) == ("certified", (), 5)
    holds(names["estimate"], names["truth"])
    assert abs(names["mean"] - names["true_mean"]) < 2.6 * names["error"] < 0.2
    assert 1.5 < names["gain"] < 2.5


def town(names: dict[str, Any]) -> None:
    assert any("does not identify" in line for line in names["best"].warnings)
    assert names["audit"].satisfies
    assert names["mechanism"].rank == 10
    matrix, steps = names["mechanism"].matrix, names["steps"]
    labels = names["people"].labels
    ratios = [
        np.max(matrix[x] / matrix[y]) / np.exp(steps[a][b])
        for x, a in enumerate(labels)
        for y, b in enumerate(labels)
        if x != y
    ]
    assert max(ratios) <= 1 + 1e-9
    holds(names["estimate"], names["truth"])


def telemetry(names: dict[str, Any]) -> None:
    assert names["most"].status == "certified"
    assert any("does not identify" in line for line in names["most"].warnings)
    assert names["most"].value > 10 * names["kept"]
    assert names["ratio"] > 8
    for found in names["estimates"].values():
        holds(found, names["truth"])
    assert names["certain"][:5] == [f"page {at:03d}" for at in range(1, 6)]
    errors = {name: np.std(found.values - names["truth"]) for name, found in names["estimates"].items()}
    assert errors["subset selection"] < errors["Hadamard response"] < errors["k-RR"] / 2
    at_one = next(row for row in names["swept"].rows if row["epsilon"] == 1)
    for name in ("k-RR", "subset selection"):
        margin = 196 * np.mean(names["estimates"][name].standard_errors)
        assert at_one[name] == pytest.approx(margin, rel=0.02)


def pair(names: dict[str, Any]) -> None:
    solution, strict = names["solution"], names["strict"]
    assert (solution.status, solution.warnings) == ("certified", ())
    assert solution.value > 8 * strict.value
    assert names["audit"].holds(1)
    assert not names["audit"].holds("0.85")
    robust, plain = (names["swept"].column(name) for name in names["swept"].rows[0] if name != "epsilon")
    assert all(one > other for one, other in zip(robust, plain, strict=True))
    for name in ("robust", "plain"):
        holds(names[name], names["truth"])
    assert names["robust"].standard_errors.mean() < names["plain"].standard_errors.mean()


def office(names: dict[str, Any]) -> None:
    """Six standard errors are exceeded once in 10^8 draws."""
    assert names["released"].privacy.epsilon == pytest.approx(6)
    assert "would raise the total epsilon from 6 to 12" in names["refused"]
    assert names["account"].most.epsilon == "6"
    people, table, means, fit = (names[one] for one in ("people", "table", "means", "regression"))
    shares = people.pivot_table(index="race", columns="over50", values="weight", aggfunc="sum")
    shares = shares.loc[list(table.rows), list(table.columns)].to_numpy() / people["weight"].sum()
    assert np.all(np.abs(table.values - shares) < 6 * table.standard_errors)
    assert np.all(np.abs(means.values - names["truth"]) < 6 * means.standard_errors)
    off = (fit["estimate"] - fit["truth"]).abs()
    assert (off < 6 * fit["standard error"]).all()
    direct = (fit["release as it stands"] - fit["truth"]).abs()["education=high"]
    assert direct > 4 * fit["standard error"]["education=high"]


ENDS: list[Callable[[dict[str, Any]], None]] = [survey, census, scale, town, telemetry, pair, office]


@pytest.mark.parametrize(
    ("notebook", "end"), list(zip(NOTEBOOKS, ENDS, strict=True)), ids=lambda one: getattr(one, "stem", "")
)
def test_a_notebook_ends_with_what_it_says(
    notebook: Path, end: Callable[[dict[str, Any]], None], hook: ModuleType
) -> None:
    cells = hook.cells_of(notebook)
    outputs, names = hook.run([source for kind, source in cells if kind == "code"])
    assert sum(len(output.figures) for output in outputs) >= 2
    assert all(svg["light"].endswith(b"</svg>\n") for output in outputs for svg in output.figures)
    assert any("warnings" in output.text.lower() for output in outputs)
    end(names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda one: one.stem)
def test_a_notebook_is_short_and_has_no_outputs(notebook: Path) -> None:
    document = json.loads(notebook.read_text(encoding="utf-8"))
    cells = document["cells"]
    assert len(cells) <= 40
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert texts[0].startswith("# ")
    assert "**Question.** " in texts[0]
    assert texts[-1].startswith("**Answer.** ")


def test_a_cell_gives_its_last_value_and_what_it_prints(hook: ModuleType) -> None:
    cells = [
        "x = 2\nprint('seen')\nx + 1",
        "x;",
        "import rropt as rr\nrr.Prior.uniform(2)",
        "rr.RandomizedResponse(2, epsilon=1).mechanism",
    ]
    outputs, names = hook.run(cells, ("light", "dark"))
    assert [output.text for output in outputs[:2]] == ["seen\n3\n", ""]
    assert names["x"] == 2
    assert outputs[3].html.startswith("<")
    assert not any(output.figures for output in outputs)
    with pytest.raises(rr.InputError):
        hook.run(["import rropt as rr\nrr.Prior.uniform(0)"])


def test_the_picture_of_a_cell_is_drawn_for_both_modes(hook: ModuleType) -> None:
    cell = "import rropt as rr\nrr.RandomizedResponse(2, epsilon=1).mechanism.plot().set_title('a [b]');"
    ((output,), _) = hook.run([cell], ("light", "dark"))
    ((light, dark),) = (figure.values() for figure in output.figures)
    assert hook.SLATE.encode() in dark
    assert hook.SLATE.encode() not in light
    words, files = hook.pictures("page", output, "figures/")
    assert sorted(files) == ["figures/page-0-dark.svg", "figures/page-0-light.svg"]
    assert "(figures/page-0-dark.svg#only-dark)" in words
    assert "a (b), true answer against released answer" in words


def test_a_page_has_its_pictures_behind_its_blocks(hook: ModuleType) -> None:
    block = "```python\nimport rropt as rr\nrr.RandomizedResponse(2, epsilon=1).mechanism.plot()\n```"
    page, files = hook.drawn_page(f"<!-- pictures -->\nOne\n\n{block}\n\nTwo\n", "page")
    assert re.search(r"```\n\n!\[.*#only-light\)\n!\[.*#only-dark\)\n\nTwo\n$", page)
    assert len(files) == 2


def test_the_contents_have_every_notebook_behind_the_gallery(hook: ModuleType) -> None:
    config = {"nav": ["index.md", {"Learn": [{"Notebooks": "notebooks/index.md"}]}]}
    ((_, below),) = hook.on_config(config)["nav"][1]["Learn"][0].items()
    assert below[0] == "notebooks/index.md"
    assert [next(iter(one.values())) for one in below[1:]] == [f"notebooks/{one.stem}.md" for one in NOTEBOOKS]
    assert hook.GALLERY in (DOCS / "notebooks" / "index.md").read_text(encoding="utf-8")
    assert "notebooks/index.md" in (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
