"""The package for R in r/ reads releases as rropt does: the same frequencies, tables and means of twenty releases, and
the same probabilities of what it draws. Skipped where R, or its packages jsonlite and openssl, are not installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rropt as rr

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "r" / "R"
LOAD = f"invisible(lapply(sort(list.files({json.dumps(str(SOURCES))}, full.names = TRUE)), source))\n"
ESTIMATES = """
for (name in strsplit(commandArgs(TRUE)[1], ",")[[1]]) {
  asked <- jsonlite::fromJSON(paste0(name, ".asked.json"))
  release <- rr_release(paste0(name, ".", asked$kind))
  column <- asked$column
  found <- list(shares = rr_frequencies(release, column), weighted = rr_frequencies(release, column, "weight"),
                means = rr_mean(release, "income", column, "weight"))
  for (other in asked$others) {
    table <- rr_table(release, other, column, "weight")
    found[[paste0("table ", other)]] <- list(
      rows = rownames(table$estimate), columns = colnames(table$estimate),
      estimate = table$estimate, standard_error = table$standard_error
    )
  }
  for (one in seq_along(asked$regressions$response)) {
    ask <- asked$regressions[one, ]
    event <- if (is.na(ask$event)) NULL else ask$event
    found[[paste0("regression ", one)]] <- tryCatch(
      rr_glm(release, ask$response, ask$covariates[[1]], event, weights = "weight")$coefficients, error = conditionMessage
    )
  }
  jsonlite::write_json(found, paste0(name, ".found.json"), digits = NA, auto_unbox = TRUE, na = "null")
}
"""
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8"}
"""R writes in the encoding of its locale, and tests read UTF-8."""
LABELS = {
    "plain": ["none", "some", "much"],
    "commas": ["a, b", "a", 'b \\ "c"'],
    "formulas": ["=1+1", "-x", "+y", "-5"],
    "letters": ["übel", "ß", "日本"],
}


@pytest.fixture(scope="module")
def r() -> str:
    found = shutil.which("Rscript")
    needed = 'q(status = !all(c("jsonlite", "openssl") %in% rownames(installed.packages())))'
    if found is None or subprocess.run([found, "-e", needed], check=False, capture_output=True).returncode:
        pytest.skip("R with its packages jsonlite and openssl is not installed")
    return found


def designs() -> Iterator[tuple[str, Any, list[str]]]:
    """Kinds of mechanisms: with a name, and the labels of their inputs."""
    for name, labels in LABELS.items():
        yield name, rr.RandomizedResponse(labels, epsilon=2).to_mechanism(), labels
    labels = [f"c{at}" for at in range(6)]
    yield "sets", rr.mechanisms.SubsetSelection(labels, epsilon=1, t=2).to_mechanism(), labels
    yield (
        "solved",
        rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.from_counts({"x": 5, "y": 3, "z": 2}))), [rr.LDP(1)])
        .solve()
        .mechanism,
        ["x", "y", "z"],
    )
    many = [f"n{at}" for at in range(257)]
    yield "large", rr.RandomizedResponse(many, epsilon=8).to_mechanism(), many


def releases(draw: np.random.Generator) -> Iterator[tuple[str, str, Any, Any, list[str], dict[str, Any]]]:
    """Names, kinds of files, data, protected columns, and what is estimated."""
    n = 400

    def table(columns: dict[str, Any]) -> Any:
        return pd.DataFrame(
            columns
            | {
                "weight": draw.integers(1, 5, n),
                "income": draw.normal(20, 5, n).round(2),
                "region": draw.choice(["north", "south, west"], n),
            }
        )

    for (name, mechanism, labels), kind in product(designs(), ("csv", "tsv")):
        column = rr.release.ProtectedColumn("true value", mechanism)
        yield (
            f"{name}-{kind}",
            kind,
            table({"true value": draw.choice(labels, n)}),
            [column],
            ["region"],
            {"true value": mechanism},
        )
    labels = LABELS["commas"]
    strata = {
        "f": rr.RandomizedResponse(labels, epsilon=1).to_mechanism(),
        "m": rr.mechanisms.SubsetSelection(labels, epsilon=2, t=1).to_mechanism(),
    }
    data = table({"answer": draw.choice(labels, n), "sex": draw.choice(["f", "m"], n)})
    column = rr.release.ProtectedColumn("answer", strata, by="sex")
    yield "strata", "csv", data, [column], ["sex"], {"answer": column}
    data = table({"answer": draw.choice([*labels, ""], n), "sex": draw.choice(["f", "m", "?", ""], n)})
    column = rr.release.ProtectedColumn(
        "answer", strata, by="sex", null={"answer": "a", "sex": "m"}, other={"sex": "f"}
    )
    yield "unknown", "csv", data, [column], [], {"answer": column}
    for at, where in enumerate(["age>=15", "age!=20"]):
        ages = table({"answer": draw.choice(labels, n), "age": draw.integers(1, 90, n)})
        column = rr.release.ProtectedColumn("answer", strata["f"], where=where)
        yield f"where-{at}", "csv", ages, [column], ["region"], {"answer": column}
    first, second = LABELS["plain"], LABELS["commas"]
    cross = rr.release.CrossClassification({"habit": first, "illness": second})
    joint = rr.RandomizedResponse(cross.labels, epsilon=3).to_mechanism()
    data = table({"habit": draw.choice(first, n), "illness": draw.choice(second, n)})
    column = rr.release.ProtectedColumn(["habit", "illness"], joint)
    yield "joint", "csv", data, [column], ["illness", "region"], {("habit", "illness"): joint}
    data = table({"habit": draw.choice(first, n), "illness": draw.choice(second, n)})
    single = [
        rr.release.ProtectedColumn("habit", rr.RandomizedResponse(first, epsilon=2).to_mechanism()),
        rr.release.ProtectedColumn("illness", rr.RandomizedResponse(second, epsilon=1).to_mechanism()),
    ]
    yield "single", "csv", data, single, ["illness"], {one.columns[0]: one for one in single}


def fitted(released: str, given: Any, asked: dict[str, Any]) -> Any:
    """The regression, or None where its equations have no solution."""
    names = asked["response"], asked["covariates"]
    try:
        return rr.release.estimate_regression(released, given, *names, event=asked["event"], weights="weight")
    except rr.InputError:
        return None


def test_r_estimates_what_rropt_estimates(r: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = {}
    for name, kind, data, columns, others, given in releases(np.random.default_rng(5)):
        data.to_csv(f"{name}.people.{kind}", index=False, sep="\t" if kind == "tsv" else ",")
        released = f"{name}.{kind}"
        rr.release.release_file(f"{name}.people.{kind}", rr.release.Release(columns), released)
        column = "habit" if "habit" in data else str(columns[0].columns[0])
        regressions = []
        if len(set(data[column])) < 10:
            event = str(data[column].iloc[0] or data[column].iloc[1])
            more = ["illness"] if "illness" in data else ["region"]
            regressions = [
                {"response": "income", "covariates": [column, *more], "event": None},
                {"response": column, "covariates": ["income", *more], "event": event},
            ]
        asked = {"kind": kind, "column": column, "others": others, "regressions": regressions}
        Path(f"{name}.asked.json").write_text(json.dumps(asked), encoding="utf-8")
        wanted[name] = [
            rr.release.estimate_shares(released, given, column),
            rr.release.estimate_shares(released, given, column, weights="weight"),
            rr.release.estimate_means(released, given, column, "income", weights="weight"),
            {one: rr.release.estimate_table(released, given, (one, column), weights="weight") for one in others},
            [fitted(released, given, one) for one in regressions],
        ]
    assert len(wanted) >= 20
    Path("all.R").write_text(LOAD + ESTIMATES, encoding="utf-8")
    done = subprocess.run(
        [r, "all.R", ",".join(wanted)], check=False, capture_output=True, encoding="utf-8", env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    fits = 0
    for name, (shares, weighted, means, tables, regressions) in wanted.items():
        found = json.loads(Path(f"{name}.found.json").read_text(encoding="utf-8"))
        for own, one in ((found["shares"], shares), (found["weighted"], weighted)):
            assert [row["category"] for row in own] == list(one.categories), name
            assert np.allclose([row["estimate"] for row in own], one.values[0], rtol=1e-9, atol=1e-12), name
            assert np.allclose([row["standard_error"] for row in own], one.standard_errors[0], rtol=1e-6), name
        close = {"rtol": 1e-6, "atol": 1e-9, "equal_nan": True}
        numbers = {
            key: [np.nan if row[key] is None else row[key] for row in found["means"]]
            for key in ("estimate", "standard_error")
        }
        assert np.allclose(numbers["estimate"], means.values, **close), name
        known = ~np.isnan(means.values)
        assert np.allclose(np.array(numbers["standard_error"])[known], means.standard_errors[known], **close), name
        for at, one in enumerate(regressions, 1):
            own = found[f"regression {at}"]
            if one is None:
                assert "solution" in own or "collinear" in own
                continue
            fits += 1
            assert [row["term"] for row in own] == list(one.names), name
            assert np.allclose([row["estimate"] for row in own], one.values, **close), name
            assert np.allclose([row["standard_error"] for row in own], one.standard_errors, **close), name
        for other, one in tables.items():
            own = found[f"table {other}"]
            order = [[own[side].index(label) for label in getattr(one, side)] for side in ("rows", "columns")]
            for key, values in (("estimate", one.values), ("standard_error", one.standard_errors)):
                assert np.allclose(np.array(own[key])[np.ix_(*order)], values, rtol=1e-6, atol=1e-12), (name, other)
    assert fits >= 20


def test_r_draws_with_the_probabilities_of_the_mechanism(r: str, tmp_path: Path) -> None:
    mechanism = rr.Mechanism.from_rationals(
        [["1/3", "1/3", "1/3"], ["2/7", "4/7", "1/7"], ["0", "1/1000", "999/1000"]],
        inputs=["a", "b", "c"],
        outputs=["a", "b", "c"],
    )
    mechanism.save(tmp_path / "mechanism.json")
    drawing = """
    drawn <- rr_apply(rep(c("a", "b", "c"), each = 50000), commandArgs(TRUE)[1])
    cat(c(t(table(rep(c("a", "b", "c"), each = 50000), factor(drawn, c("a", "b", "c"))))))
    """
    (tmp_path / "draw.R").write_text(LOAD + drawing, encoding="utf-8")
    done = subprocess.run(
        [r, str(tmp_path / "draw.R"), str(tmp_path / "mechanism.json")],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    counts = np.array(done.stdout.split(), dtype=float).reshape(3, 3)
    for own, row in zip(counts, mechanism.matrix, strict=True):
        assert (own[row == 0] == 0).all()
        assert stats.chisquare(own[row > 0], 50_000 * row[row > 0]).pvalue > 1e-9


def test_r_refuses_what_is_not_a_release_or_cannot_be_estimated(r: str, tmp_path: Path) -> None:
    data = pd.DataFrame({"x": ["a", "b", "c"] * 20})
    (tmp_path / "people.csv").write_text(data.to_csv(index=False), encoding="utf-8")
    merged = rr.Mechanism.from_rationals([["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"]], inputs=["a", "b", "c"])
    column = rr.release.ProtectedColumn("x", merged)
    rr.release.release_file(tmp_path / "people.csv", column, tmp_path / "safe.csv", force=True)
    trying = """
    said <- function(done) cat(tryCatch({ done; "nothing" }, error = conditionMessage), "\\n")
    release <- rr_release("safe.csv")
    said(rr_frequencies(release, "x"))
    said(rr_frequencies(release, "y"))
    said(rr_release("safe.csv", data = release$data[-1, , drop = FALSE]))
    """
    (tmp_path / "try.R").write_text(LOAD + trying, encoding="utf-8")
    done = subprocess.run(
        [r, "try.R"], check=True, capture_output=True, encoding="utf-8", env=ENVIRONMENT, cwd=tmp_path
    )
    first, second, third = done.stdout.splitlines()
    assert "does not identify" in first
    assert "'y' is not a randomised column" in second
    assert "60 records, and there are 59" in third


def test_the_page_shows_what_the_installed_package_prints(r: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "r", tmp_path / "r")
    command = [shutil.which("R") or "R", "CMD", "INSTALL", "--no-docs", f"--library={tmp_path}", str(tmp_path / "r")]
    subprocess.run(command, check=True, capture_output=True)
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    shown = re.findall(r"(?ms)^```text\n(.*?)^```$", page)
    has_survey = subprocess.run([r, "-e", "library(survey)"], check=False, capture_output=True).returncode == 0
    code = re.findall(r"(?ms)^```r\n(.*?)^```$", page)[: 2 if has_survey else 1]
    (tmp_path / "page.R").write_text("\n".join(code), encoding="utf-8")
    done = subprocess.run(
        [r, str(tmp_path / "page.R")],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=ENVIRONMENT | {"R_LIBS": str(tmp_path)},
    )
    assert len(shown) == 1
    assert done.stdout.startswith(shown[0])
    assert ("drinks=much" in done.stdout.removeprefix(shown[0])) == has_survey
