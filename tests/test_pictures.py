"""The pictures of the README are those that docs/pictures.py draws today, of the numbers that the README gives."""

import json
import re
from pathlib import Path

import pytest
from documented import loaded
from rropt.models.svg import DARK

import rropt as rr

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
pictures = loaded(DOCS / "pictures.py")
GAIN = json.loads((DOCS / "gain.json").read_text(encoding="utf-8"))
RESPONSE = "k-ary randomised response"


@pytest.mark.parametrize("name", [name for name in pictures.PICTURES if name not in ("gain", "demo")])
def test_a_picture_is_up_to_date(name: str) -> None:
    """Else run `python docs/pictures.py NAME`."""
    assert (DOCS / f"{name}.svg").read_text(encoding="utf-8") == pictures.PICTURES[name]()


def test_the_picture_of_the_gain_shows_its_numbers() -> None:
    assert (DOCS / "gain.svg").read_text(encoding="utf-8") == pictures.gain_figure(GAIN)


def test_the_picture_of_the_demo_is_of_a_design_that_is_as_good_as_that_of_today() -> None:
    """It has no outputs that are hardly ever given: its columns are seen."""
    design = rr.Mechanism.load(DOCS / "demo.json")
    assert (DOCS / "demo.svg").read_text(encoding="utf-8") == pictures.demo_picture(design)
    problem = rr.load_problem(ROOT / "models" / "adult-frequencies.toml")
    now = problem.solve()
    assert now.status == "certified"
    assert not problem.compile().excess(design)
    assert now.bound <= float(problem.objective.value(design).upper) <= now.bound * 1.01
    assert design.matrix.sum(axis=0).min() > 1e-5


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_pictures_follow_the_mode_and_can_be_read_on_a_telephone(name: str) -> None:
    """Every colour has a dark one, and letters of 8 pixels or more are left at 330 pixels."""
    text = (DOCS / f"{name}.svg").read_text(encoding="utf-8")
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', text)) <= {*DARK, "none"}
    assert "prefers-color-scheme:dark" in text
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1])
    assert min(map(float, re.findall(r'font-size="([\d.]+)"', text))) * 330 / width >= 8


@pytest.mark.parametrize(
    "epsilons", [("1",), pytest.param(("0.5", "0.75", "1.5", "2", "3", "4"), marks=pytest.mark.long)]
)
def test_the_gain_is_measured(epsilons: tuple[str, ...]) -> None:
    """Solved again: information within the gaps of both solves, and risk between the proved bounds of either."""
    for name, rows in pictures.measured(epsilons).items():
        for epsilon, found in rows.items():
            known = GAIN[name][epsilon]
            assert found["information"] == pytest.approx(known["information"], rel=2e-3)
            if name == "rropt":
                assert found["risk bound"] <= known["risk"] * (1 + 1e-9)
                assert known["risk bound"] <= found["risk"] * (1 + 1e-9)
            else:
                assert found["risk"] == pytest.approx(known["risk"], rel=1e-9)


def test_the_readme_gives_the_numbers_of_the_gain() -> None:
    def over(name: str, epsilon: str, quantity: str) -> float:
        return GAIN["rropt"][epsilon][quantity] / GAIN[name][epsilon][quantity]

    for page in (ROOT / "README.md", DOCS / "index.md"):
        text = " ".join(page.read_text(encoding="utf-8").split())
        (times,) = re.findall(r"keeps (\S+) times the mutual information of k-ary", text)
        assert times == f"{over(RESPONSE, '1', 'information'):.1f}"
        assert over(RESPONSE, "1", "risk") == pytest.approx(0.5, abs=0.01)  # "half the respondents"
        at_one = GAIN["rropt"]["1"]
        (better,) = re.findall(r"no other mechanism does better by more than (\S+) %", text)
        assert at_one["risk"] <= at_one["risk bound"] * (1 + float(better) / 100)
        first, last = re.findall(
            r"keeps (\S+) times the information at epsilon 0.5 and (\S+) times at epsilon 4", text
        )[0]
        assert first == f"{over(RESPONSE, '0.5', 'information'):.1f}"
        assert last == f"{over(RESPONSE, '4', 'information'):.2f}"
        if more := re.findall(r"subset selection needs (\S+) % more respondents than this design", text):
            assert more == [f"{100 / over('subset selection', '1', 'risk') - 100:.1f}"]
        found = re.findall(r"ten most frequent levels need (\S+) % of .*?, six need (\S+) %, and four (\S+) %\.", text)
        assert found == [("70", "91", "99.99")]
    paper = " ".join((DOCS / "paper" / "paper.md").read_text(encoding="utf-8").split())
    found = re.findall(
        r"keeps (\S+) times the mutual information of k-ary randomised response and (\S+) times that of", paper
    )
    assert found == [tuple(f"{over(name, '1', 'information'):.1f}" for name in (RESPONSE, "subset selection"))]
    assert all(row["risk"] <= 1.01 * row["risk bound"] for row in GAIN["rropt"].values())


@pytest.mark.parametrize(("levels", "percent"), [(10, "70"), (6, "91"), (4, "99.99"), (2, "100.00")])
def test_k_ary_randomised_response_needs_hardly_more_for_few_levels(levels: int, percent: str) -> None:
    """The numbers of the README, solved."""
    counts = rr.load_problem(ROOT / "models" / "adult-frequencies.toml").objective.prior
    prior = rr.Prior.from_counts(dict(zip(counts.labels[:levels], counts.weights[:levels], strict=True)))
    solved = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(1)]).solve(gap=1e-3)
    needed = 100 * solved.value / pictures.risk(rr.RandomizedResponse(prior.labels, epsilon=1).to_mechanism(), prior)
    assert f"{needed:.{len(percent.partition('.')[2])}f}" == percent
