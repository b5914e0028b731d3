"""Ten commands from an empty directory: the whole work of a statistics office on the people of Adult."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rropt.models import model_path

import rropt as rr
from rropt.cli import main as cli
from rropt.release.account import Account

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protect.md").read_text(encoding="utf-8")
COMMANDS = PAGE.split("## Ten commands", 1)[1].split("```", 2)[1].strip().replace("\\\n", "")
LEVELS = {"low": range(1, 9), "middle": range(9, 13), "high": range(13, 17)}
YEARS = {
    name: at
    for at, name in enumerate(
        [
            "Preschool",
            "1st-4th",
            "5th-6th",
            "7th-8th",
            "9th",
            "10th",
            "11th",
            "12th",
            "HS-grad",
            "Some-college",
            "Assoc-voc",
            "Assoc-acdm",
            "Bachelors",
            "Masters",
            "Prof-school",
            "Doctorate",
        ],
        start=1,
    )
}


def adult() -> Any:
    """32,561 people: sex and education as in the Adult data, race with its counts for each sex, and further columns that
    are drawn, since the shipped tables have two columns each."""
    draw = np.random.default_rng(1994)
    shipped = {
        name: pd.read_csv(Path(model_path("adult-frequencies")).parent / "data" / f"adult_sex_{name}.csv")
        for name in ("education", "race")
    }
    first = shipped["education"]
    people = first.loc[first.index.repeat(first["count"]), ["sex", "education"]].reset_index(drop=True)
    counts = shipped["race"]
    for sex, part in counts.groupby("sex"):
        own = part.loc[part.index.repeat(part["count"]), "race"].to_numpy()
        people.loc[people["sex"] == sex, "race"] = draw.permutation(own)
    n = len(people)
    years = people["education"].map(YEARS)
    people["education"] = years.map({at: name for name, own in LEVELS.items() for at in own})
    people["race"] = np.where(people["race"] == "White", "White", np.where(people["race"] == "Black", "Black", "Other"))
    people["hours"] = np.clip(np.round(35 + years / 2 + draw.normal(0, 9, n)), 5, 90)
    odds = -4.5 + 0.25 * years + 0.03 * people["hours"] + 0.8 * (people["sex"] == "Male")
    people["over50"] = np.where(draw.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    people["region"] = draw.choice(["north", "south"], n)
    people["weight"] = draw.choice([1.0, 2.5], n)
    return people.sample(frac=1, random_state=1)


def test_ten_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    people = adult()
    assert len(people) == 32_561
    people.to_csv("adult.csv", index=False)
    Path("domain.toml").write_text(
        '[categories]\nrace = ["White", "Black", "Other"]\neducation = ["low", "middle", "high"]\n'
        'over50 = ["yes", "no"]\nsex = ["Female", "Male"]\nregion = ["north", "south"]\n',
        encoding="utf-8",
    )
    commands = [shlex.split(one)[1:] for one in COMMANDS.splitlines()]
    assert len(commands) == 10
    said: list[Any] = []
    for command in commands:
        more = ["--json"] if command[0] in ("estimate", "regress", "scores") else []
        assert cli.main([*command, *more]) == 0, command
        out = capsys.readouterr().out
        said.append(json.loads(out) if more else out)
    shares, table, means, fit, scored = said[5:]
    assert Account.load(Path("all.accountant")).most.epsilon == "6"
    # Each estimate is near that of the true values, in its own standard errors (6: wrong once in 10^8).
    true = people["education"].value_counts(normalize=True)
    for name, value, error in zip(
        shares["categories"], shares["estimate"][0], shares["standard_error"][0], strict=True
    ):
        assert abs(value - true[name]) < 6 * error
    weights = people["weight"]
    for race, values, errors in zip(table["rows"], table["estimate"], table["standard_error"], strict=True):
        for over, value, error in zip(table["columns"], values, errors, strict=True):
            own = weights[(people["race"] == race) & (people["over50"] == over)].sum() / weights.sum()
            assert abs(value - own) < 6 * error
    for name, value, error in zip(means["categories"], means["estimate"], means["standard_error"], strict=True):
        own = people["education"] == name
        assert abs(value - np.average(people["hours"][own], weights=weights[own])) < 6 * error
    terms = [np.ones(len(people)), people["education"] == "middle", people["education"] == "high", people["hours"]]
    terms.append(people["sex"] == "Male")
    truth = logistic(np.column_stack(terms).astype(float), (people["over50"] == "yes").to_numpy(float))
    assert fit["names"] == ["intercept", "education=middle", "education=high", "hours", "sex=Male"]
    assert (np.abs(np.array(fit["estimate"]) - truth) < 6 * np.array(fit["standard_error"])).all()
    made = pd.read_parquet("scored.parquet")
    assert len(made) == scored["rows"] == len(people)
    assert "Level of privacy" in Path("sheet.html").read_text(encoding="utf-8")
    assert rr.release.load_release("safe.csv.manifest.json").release.columns[0].by == ("sex", "region")


def logistic(terms: Any, response: Any) -> Any:
    """Coefficients of true values, by Newton's method."""
    b = np.zeros(terms.shape[1])
    for _ in range(30):
        mean = 1 / (1 + np.exp(-terms @ b))
        b = b + np.linalg.solve((terms * (mean * (1 - mean))[:, None]).T @ terms, terms.T @ (response - mean))
    return b
