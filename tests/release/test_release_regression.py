"""Regression from a release: on true values where nothing is randomised, unbiased and covering where something is."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import rropt as rr
from rropt.cli import main as cli
from rropt.errors import Conflict, InputError, Missing, UnknownName
from rropt.estimation.regression import Combination, fitted

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ABC = ["a", "b", "c"]
Q = rr.RandomizedResponse(ABC, epsilon=2).to_mechanism()
YES = rr.RandomizedResponse(["no", "yes"], epsilon=2).to_mechanism()


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def people(n: int = 3000, seed: int = 1) -> Any:
    """x categories, z numbers that depend on x, r regions, y a number, sick an event that depends on all."""
    draw = np.random.default_rng(seed)
    x, r = draw.integers(0, 3, n), draw.integers(0, 2, n)
    z = draw.normal(size=n) + 0.5 * x
    y = 1 + np.array([0, 1, -1])[x] + 2 * z + 0.5 * r + draw.normal(size=n) * (1 + 0.5 * r)
    odds = -1 + np.array([0, 0.8, -0.5])[x] + 0.7 * z - 0.3 * r
    sick = draw.random(n) < scipy.special.expit(odds)
    return pd.DataFrame(
        {
            "x": np.array(ABC)[x],
            "z": z,
            "r": np.array(["north", "south"])[r],
            "y": y,
            "sick": np.where(sick, "yes", "no"),
            "w": draw.integers(1, 4, n),
        }
    )


def design(frame: Any) -> Any:
    """The terms of x, z and r, record by record."""
    each = [np.ones(len(frame)), frame["x"] == "b", frame["x"] == "c", frame["z"], frame["r"] == "south"]
    return np.column_stack([np.asarray(one, dtype=float) for one in each])


def plain_fit(terms: Any, response: Any, weights: Any, logistic: bool) -> tuple[Any, Any]:
    """(coefficients, robust covariance) on true values, by scipy's minimiser and the textbook's sandwich."""

    def loss(b: Any) -> float:
        eta = terms @ b
        each = np.logaddexp(0, eta) - response * eta if logistic else (response - eta) ** 2 / 2
        return float(weights @ each / weights.sum())

    def slope(b: Any) -> Any:
        mean = scipy.special.expit(terms @ b) if logistic else terms @ b
        return (weights * (mean - response)) @ terms / weights.sum()

    start = np.zeros(terms.shape[1])
    b = scipy.optimize.minimize(loss, start, jac=slope, method="BFGS", options={"gtol": 1e-12}).x
    mean = scipy.special.expit(terms @ b) if logistic else terms @ b
    bread = np.linalg.inv((terms * (weights * (mean * (1 - mean) if logistic else 1))[:, None]).T @ terms)
    each = terms * (weights * (response - mean))[:, None]
    return b, bread @ (each.T @ each) @ bread * len(terms) / (len(terms) - 1)


def identity(labels: list[str]) -> Any:
    return rr.Mechanism.from_matrix(np.eye(len(labels)), inputs=labels, outputs=labels)


NAMES = ("intercept", "x=b", "x=c", "z", "r=south")


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("logistic", [False, True])
def test_without_noise_it_is_the_regression_on_true_values(logistic: bool, weights: str | None) -> None:
    frame = people()
    frame.to_csv("t.csv", index=False)
    columns = {"x": identity(ABC), "sick": identity(["no", "yes"])}
    release = rr.release.Release([rr.release.ProtectedColumn(name, one) for name, one in columns.items()])
    rr.release.release_file("t.csv", release, "o.csv", warn=lambda _: None)
    asked: dict[str, Any] = {"event": "yes"} if logistic else {}
    response = "sick" if logistic else "y"
    found = rr.release.estimate_regression("o.csv", columns, response, ["x", "z", "r"], weights=weights, **asked)
    true = (frame["sick"] == "yes").to_numpy(float) if logistic else frame["y"].to_numpy()
    w = frame["w"].to_numpy(float) if weights else np.ones(len(frame))
    values, covariance = plain_fit(design(frame), true, w, logistic)
    assert (found.names, found.n, found.model) == (NAMES, 3000, "logistic" if logistic else "linear")
    np.testing.assert_allclose(found.values, values, atol=2e-6)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("logistic", [False, True])
def test_the_equations_have_the_expectation_of_those_of_true_values(logistic: bool) -> None:
    """Over all answers of a small file, by their exact probabilities: this is the law that makes it consistent."""
    frame = people(4, seed=3)
    terms, y = design(frame)[:, [0, 1, 2, 3]], frame["y"].to_numpy()
    x = np.array([ABC.index(one) for one in frame["x"]])
    b = np.array([0.3, -0.2, 0.4, 0.5])
    response = (frame["sick"] == "yes").to_numpy(float) if logistic else y
    table = rr.estimation.scores(Q, ABC).table
    mean = scipy.special.expit if logistic else (lambda eta: eta)
    total = np.zeros(4)
    for answers in itertools.product(range(3), repeat=4):
        chance = np.prod(Q.matrix[x, list(answers)])
        for at in range(3):
            each = terms.copy()
            each[:, 1:3] = [at == 1, at == 2]
            scores = table[at, list(answers)]
            total += chance * ((scores * (response - mean(each @ b))) @ each)
    np.testing.assert_allclose(total, (response - mean(terms @ b)) @ terms, atol=1e-12)


def simulated(kind: str, runs: int, n: int, seed: int) -> tuple[Any, Any, Any]:
    """(estimates, standard errors, truth): x and, for "both", the event are randomised; a new sample in each run."""
    draw = np.random.default_rng(seed)
    truth = np.array([-0.5, 0.5, 0.8, -0.4]) if kind != "linear" else np.array([1.0, 2.0, 1.0, -1.0])
    left, right = rr.estimation.scores(Q, ABC).table, rr.estimation.scores(YES, ["no", "yes"]).table
    values, errors = [], []
    for _ in range(runs):
        x = draw.choice(3, n, p=[0.5, 0.3, 0.2])
        z = 0.4 * x + draw.normal(size=n)
        eta = np.column_stack([np.ones(n), z, x == 1, x == 2]) @ truth
        drawn = (draw.random(n)[:, None] > Q.matrix.cumsum(axis=1)[x]).sum(axis=1)
        scores = left[:, drawn]
        if kind == "linear":
            # Errors whose variance depends on the covariates.
            y = eta + draw.normal(size=n) * (0.5 + 0.5 * (x == 1))
            parts = [Combination(scores[at], np.array([at == 1, at == 2], dtype=float), None) for at in range(3)]
        else:
            y = (draw.random(n) < scipy.special.expit(eta)).astype(float)
            parts = [Combination(scores[at], np.array([at == 1, at == 2], dtype=float), None) for at in range(3)]
        if kind == "both":
            released = np.where(draw.random(n) < YES.matrix[y.astype(int), 1], 1, 0)
            also = right[:, released]
            parts = [
                Combination(scores[at] * also[e], np.array([at == 1, at == 2], dtype=float), float(e))
                for at in range(3)
                for e in range(2)
            ]
        model: Any = "linear" if kind == "linear" else "logistic"
        known = np.column_stack([np.ones(n), z])
        b, v = fitted(model, known, lambda parts=parts: iter(parts), None if kind == "both" else y, np.ones(n))
        values.append(b)
        errors.append(np.sqrt(np.diag(v)))
    return np.array(values), np.array(errors), truth


KINDS = ("linear", "logistic", "both")


def agrees(kind: str, runs: int, n: int, seed: int) -> None:
    """Coverage of 95 % intervals and bias, each at level 1e-3 over all coefficients of all kinds."""
    values, errors, truth = simulated(kind, runs, n, seed)
    tests = len(KINDS) * len(truth)
    covered = (np.abs(values - truth) < 1.959964 * errors).sum(axis=0)
    for hits in covered.tolist():
        assert scipy.stats.binomtest(int(hits), runs, 0.95).pvalue > 1e-3 / tests, covered / runs
    off = (values.mean(axis=0) - truth) / (values.std(axis=0, ddof=1) / np.sqrt(runs))
    limit = scipy.stats.norm.isf(1e-3 / tests / 2)
    # Nonlinear estimators have a bias of order 1 / n: less than a tenth of a standard error here.
    assert (np.abs(off) < limit + 0.1 * np.sqrt(runs) * (kind != "linear")).all(), off
    np.testing.assert_allclose(errors.mean(axis=0), values.std(axis=0, ddof=1), rtol=5 / np.sqrt(2 * runs) + 0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover(kind: str) -> None:
    agrees(kind, 400, 2000, 11)


# Where the response is randomised too, 10,000 releases show that one of four coefficients is covered in 95.9 %.
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS[:2])
def test_intervals_cover_in_many_releases(kind: str) -> None:
    agrees(kind, 10_000, 2000, 12)


def released(frame: Any) -> dict[Any, Any]:
    """x with a mechanism for each region, and the event."""
    frame.to_csv("t.csv", index=False)
    strata = {"north": Q, "south": rr.RandomizedResponse(ABC, epsilon=3).to_mechanism()}
    columns = [rr.release.ProtectedColumn("x", strata, by="r"), rr.release.ProtectedColumn("sick", YES)]
    rr.release.release_file("t.csv", rr.release.Release(columns), "o.csv", warn=lambda _: None)
    return {one.released: one for one in columns}


def test_a_release_gives_the_coefficients_of_the_true_values() -> None:
    """Strata, response and covariate randomised, joint columns, a folder's manifest: within five standard errors."""
    frame = people(40_000)
    columns = released(frame)
    for response, event in (("y", None), ("sick", "yes")):
        found = rr.release.estimate_regression("o.csv", columns, response, ["x", "z", "r"], event=event)
        true = frame["y"].to_numpy() if event is None else (frame["sick"] == "yes").to_numpy(float)
        values, _ = plain_fit(design(frame), true, np.ones(len(frame)), event is not None)
        assert (np.abs(found.values - values) < 5 * found.standard_errors).all()
    # As they stand, the released columns give another answer.
    made = pd.read_csv("o.csv")
    wrong, _ = plain_fit(design(made), (made["sick"] == "yes").to_numpy(float), np.ones(len(frame)), True)
    assert np.abs((wrong - values) / found.standard_errors).max() > 5


def test_columns_that_were_perturbed_jointly() -> None:
    frame = people(40_000)
    frame.to_csv("t.csv", index=False)
    cross = rr.release.CrossClassification({"x": ABC, "sick": ["no", "yes"]})
    joint = rr.RandomizedResponse(cross.labels, epsilon=3).to_mechanism()
    rr.release.release_file("t.csv", rr.release.ProtectedColumn(("x", "sick"), joint), "o.csv", warn=lambda _: None)
    found = rr.release.estimate_regression("o.csv", {("x", "sick"): joint}, "sick", ["x", "z", "r"], event="yes")
    true = (frame["sick"] == "yes").to_numpy(float)
    values, _ = plain_fit(design(frame), true, np.ones(len(frame)), True)
    assert (np.abs(found.values - values) < 5 * found.standard_errors).all()


def test_of_a_release_under_a_key_every_estimate_warns_of_persons_with_several_records() -> None:
    frame = people(600)
    frame["id"] = np.arange(600) // 2
    frame.to_csv("t.csv", index=False)
    column = rr.release.ProtectedColumn("x", Q)
    assert cli.main(["key", "new", "key"]) == 0
    for key in (None, "key"):
        identity = None if key is None else "id"
        rr.release.release_file("t.csv", column, "o.csv", identity=identity, key=key, force=True, warn=lambda _: None)
        fit = rr.release.estimate_regression("o.csv", {"x": Q}, "y", ["x"])
        shares = rr.release.estimate_shares("o.csv", {"x": Q}, "x")
        for found in (fit, shares):
            assert any("several records of a person" in note for note in found.notes) == (key is not None)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    columns = released(people())
    found = rr.release.estimate_regression("o.csv", columns, "sick", ["x", "z"], event="yes", where={"r": "north"})
    asked = ["--response", "sick", "--on", "x, z", "--event", "yes", "--where", "r=north"]
    assert cli.main(["regress", "o.csv.manifest.json", "o.csv", *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_dict()))
    assert cli.main(["regress", "o.csv.manifest.json", "o.csv", *asked]) == 0
    assert "Logistic regression of sick=yes" in capsys.readouterr().out


def test_mistakes_are_named() -> None:
    columns = released(people())
    ask = rr.release.estimate_regression
    with pytest.raises(Missing, match="no event"):
        ask("o.csv", columns, "sick", ["z"])
    with pytest.raises(UnknownName, match="'maybe'"):
        ask("o.csv", columns, "sick", ["z"], event="maybe")
    with pytest.raises(Conflict, match="'sick' was randomised, and its mechanism is not given"):
        ask("o.csv", {("x",): columns[("x",)]}, "y", ["x", "sick"])
    with pytest.raises(Conflict, match="no mechanism is given"):
        ask("o.csv", columns, "y", ["z"])
    with pytest.raises(Conflict, match="twice"):
        ask("o.csv", columns, "y", ["x", "x"])
    with pytest.raises(UnknownName, match="not a model"):
        ask("o.csv", columns, "y", ["x"], model="probit")
    with pytest.raises(Missing, match="needs an event"):
        ask("o.csv", columns, "y", ["x"], model="logistic")


def test_covariates_that_do_not_vary_or_are_collinear() -> None:
    columns = released(people().assign(one=1.0, twice=lambda frame: 2 * frame["z"]))
    for names, what in ((["x", "z", "one"], "one value only"), (["x", "z", "twice"], "collinear")):
        with pytest.raises(InputError, match=what):
            rr.release.estimate_regression("o.csv", columns, "y", names)
