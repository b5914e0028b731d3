"""Scores: expectations in exact numbers, means against the estimates, files, names, strata, joint mechanisms."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import Conflict, Duplicate, InputError, NotWritten, TooLarge, UnknownName, Unreadable, WrongType
from rropt.mechanisms.sampling import insecure_seeded_source
from rropt.release.plans.cross import split

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

ABC = ["a", "b", "c"]
KRR = rr.RandomizedResponse(ABC, gamma=4).to_mechanism()
SUBSETS = rr.mechanisms.SubsetSelection(["1", "2", "3", "4"], gamma=5, t=2).to_mechanism()
SKEW = rr.Mechanism.from_rationals(
    [["1/2", "1/4", "1/8", "1/8", 0], ["1/8", "1/2", "1/4", "1/8", 0], ["1/8", "1/8", "1/4", "1/2", 0]],
    inputs=ABC,
    outputs=["u", "v", "w", "x", "never"],
)
LARGE = rr.RandomizedResponse(300, epsilon=2).to_mechanism()
MECHANISMS = {"k-RR": KRR, "subsets": SUBSETS, "skew": SKEW, "large": LARGE}
METHODS = ("unbiased", "locally_best", "minimax", "moments")
TRUE = {
    name: np.arange(1, len(one.inputs) + 1) / sum(range(1, len(one.inputs) + 1)) for name, one in MECHANISMS.items()
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def drawn(name: str, n: int, seed: int = 1) -> list[str]:
    """Released answers of n respondents."""
    true = np.random.default_rng(seed).choice(len(TRUE[name]), n, p=TRUE[name])
    mechanism = MECHANISMS[name]
    return [mechanism.outputs[y] for y in mechanism.sample(true, source=insecure_seeded_source(seed)).tolist()]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["k-RR", "subsets", "skew"])
def test_expected_scores_are_indicators_in_exact_numbers(name: str, method: str) -> None:
    """Of the mechanism's own fractions and the floats as they are; the bias that is stated is a bound."""
    mechanism, answers = MECHANISMS[name], drawn(name, 400)
    found = rr.estimation.scores(mechanism, answers, method=method)
    k, m = mechanism.shape
    table = [[Fraction(float(one)) for one in row] for row in found.table]
    worst = Fraction(0)
    for z in range(k):
        for x in range(k):
            mean = sum((mechanism.entry(z, y) * table[x][y] for y in range(m)), Fraction(0))
            worst = max(worst, abs(mean - (x == z)))
    sums = [abs(sum((row[y] for row in table), Fraction(0)) - 1) for y in range(m) if mechanism.extremes(y)[1] > 0]
    assert max(worst, *sums) <= Fraction(found.bias)
    assert found.bias < 1e-12
    assert np.abs(found.values.sum(axis=1) - 1).max() <= found.bias + 1e-15 * k
    at = {label: y for y, label in enumerate(mechanism.outputs)}
    np.testing.assert_array_equal(found.values, found.table.T[[at[one] for one in answers]])


@pytest.mark.parametrize("method", ["unbiased", "minimax", "moments"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_their_mean_is_the_estimate_of_the_same_method(name: str, method: str) -> None:
    if name == "large" and method == "minimax":
        method = "unbiased"  # the search takes minutes, and a square matrix has one unbiased estimator
    mechanism, answers = MECHANISMS[name], drawn(name, 3000)
    counts = [answers.count(label) for label in mechanism.outputs]
    found = rr.estimation.scores(mechanism, pd.Series(answers), method=method)
    np.testing.assert_allclose(found.values.mean(axis=0), mechanism.estimate(counts, method=method).values, atol=1e-12)


def test_the_locally_best_scores_have_the_least_variance_there() -> None:
    prior = rr.Prior.from_probabilities([0.8, 0.1, 0.1], labels=ABC)
    answers = drawn("skew", 3000)
    counts = [answers.count(label) for label in SKEW.outputs]
    best = rr.estimation.scores(SKEW, answers, method="locally_best", prior=prior)
    told = SKEW.estimate(counts, method="locally_best", prior=prior)
    np.testing.assert_allclose(best.values.mean(axis=0), told.values, atol=1e-12)
    matrix = SKEW.matrix

    def risk(table: Any, at: Any) -> float:
        return float((table**2).sum(axis=0) @ (at @ matrix))

    others = [rr.estimation.scores(SKEW, answers, method=method) for method in METHODS]
    assert all(risk(best.table, prior.array) < risk(one.table, prior.array) for one in others)
    # Without a prior: best at the frequencies that the answers give.
    own = others[METHODS.index("locally_best")]
    at = SKEW.estimate(counts, method="projected").values
    assert all(risk(own.table, at) <= risk(one.table, at) * (1 + 1e-9) for one in (best, *others))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: rr.estimation.scores(KRR, ["a", "z"]), UnknownName),
        (lambda: rr.estimation.scores(KRR, ["a"], method="mle"), UnknownName),
        (lambda: rr.estimation.scores(KRR, ["a"], prior=rr.Prior.uniform(ABC)), Conflict),
        (lambda: rr.estimation.scores(KRR, ["a"], method="locally_best", prior=rr.Prior.uniform(4)), Conflict),
        (lambda: rr.estimation.scores(SKEW, ["u", "never"]), Conflict),
        (lambda: rr.estimation.scores(rr.RandomizedResponse(5000, epsilon=9), ["1"]), TooLarge),
        (lambda: rr.estimation.scores(rr.Mechanism.from_matrix([[0.5, 0.5], [0.5, 0.5]]), ["0"]), InputError),
        (lambda: rr.estimation.scores(rr.RandomizedResponse(40, epsilon=1e-9), ["1"]), InputError),
    ],
)
def test_what_has_no_scores_is_refused(call: Any, kind: type[InputError]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind


# -- files -------------------------------------------------------------------------------------------------


def people(n: int = 4000, seed: int = 1) -> Any:
    draw = np.random.default_rng(seed)
    return pa.table({
        "x": [ABC[at] for at in draw.choice(3, n, p=[0.6, 0.3, 0.1]).tolist()],
        "s": [("north", "south")[at] for at in draw.integers(2, size=n).tolist()],
        "code": [("007", "12")[at] for at in draw.integers(2, size=n).tolist()],
        "w": draw.integers(1, 9, size=n) / 4,
        "whole": draw.integers(-5, 5, size=n),
    })  # fmt: skip


READERS = {
    ".csv": lambda path: pd.read_csv(path, dtype={"code": str}),
    ".tsv": lambda path: pd.read_csv(path, sep="\t", dtype={"code": str}),
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
}
WRITERS = {".csv": csv.write_csv, ".parquet": parquet.write_table, ".feather": feather.write_feather}


@pytest.mark.parametrize("to", READERS)
@pytest.mark.parametrize("source", WRITERS)
def test_every_format_has_the_same_scores_beside_the_same_columns(source: str, to: str) -> None:
    WRITERS[source](people(), f"people{source}")
    rr.release.release_file(f"people{source}", rr.release.ProtectedColumn("x", KRR), f"safe{source}")
    done: list[tuple[int, int | None]] = []
    found = rr.release.score_file(f"safe{source}", {"x": KRR}, f"o{to}", monitor=lambda *now: done.append(now))
    assert (found.rows, done[-1][0]) == (4000, 4000)
    (column,) = found.columns
    assert column.names == ("x=a", "x=b", "x=c")
    before, after = READERS[source](f"safe{source}"), READERS[to](f"o{to}")
    assert list(after.columns) == [*before.columns, *column.names]
    for name in ("x", "s", "code"):
        assert after[name].tolist() == before[name].tolist()
    for name in ("w", "whole"):
        assert after[name].dtype.kind in "if"
        assert after[name].tolist() == before[name].tolist()
    # Floats are the same in every format, to the last bit (pandas' own reader of text is not exact).
    own = rr.estimation.scores(KRR, before["x"].tolist()).values
    tolerance = 0 if to in (".parquet", ".feather") else 1e-15
    np.testing.assert_allclose(after[list(column.names)].to_numpy(), own, rtol=tolerance, atol=0)
    estimate = rr.release.estimate_file(f"safe{source}", {"x": KRR})
    np.testing.assert_allclose(after[list(column.names)].mean().to_numpy(), estimate.values, atol=1e-12)


def test_strata_have_the_scores_of_their_own_mechanisms() -> None:
    other = rr.RandomizedResponse(["a", "b"], gamma=7).to_mechanism()
    table = people()
    x = [
        one if s == "north" or one != "c" else "a"
        for one, s in zip(*(table[name].to_pylist() for name in "xs"), strict=True)
    ]
    csv.write_csv(table.set_column(0, "x", [x]), "people.csv")
    column = rr.release.ProtectedColumn("x", {"north": KRR, "south": other}, by="s")
    rr.release.release_file("people.csv", column, "safe.csv")
    rr.release.score_file("safe.csv", {"x": column}, "o.parquet")
    made = pd.read_parquet("o.parquet")
    names = ["x=a", "x=b", "x=c"]
    np.testing.assert_allclose(made[names].sum(axis=1), 1, atol=1e-12)
    assert (made.loc[made.s == "south", "x=c"] == 0).all()
    for stratum, mechanism in (("north", KRR), ("south", other)):
        part = made[made.s == stratum]
        own = rr.estimation.scores(mechanism, part.x).values
        np.testing.assert_array_equal(part[names[: own.shape[1]]].to_numpy(), own)
    estimate = rr.release.estimate_file("safe.csv", {"x": column})
    np.testing.assert_allclose(made[names].mean().to_numpy(), estimate.values, atol=1e-12)


def test_a_stratum_that_missing_values_count_as_is_scored_as_it_was_drawn() -> None:
    table = people(1000)
    s = [None if at % 7 == 0 else one for at, one in enumerate(table["s"].to_pylist())]
    parquet.write_table(table.set_column(1, "s", [s]), "people.parquet")
    other = rr.RandomizedResponse(ABC, gamma=9).to_mechanism()
    column = rr.release.ProtectedColumn("x", {"north": KRR, "south": other}, by="s", null={"s": "south"})
    rr.release.release_file("people.parquet", column, "safe.parquet")
    rr.release.score_file("safe.parquet", {"x": column}, "o.parquet")
    made = pd.read_parquet("o.parquet")
    for part, mechanism in ((made[made.s == "north"], KRR), (made[made.s != "north"], other)):
        np.testing.assert_array_equal(part.filter(like="x=").to_numpy(), rr.estimation.scores(mechanism, part.x).values)


@pytest.mark.parametrize("name", [None, "answer"])
def test_a_joint_mechanism_has_scores_of_combinations_and_of_each_column(name: str | None) -> None:
    pairs = rr.Pairs(["a, b", "c\nd"], ["u", "v", "w"])
    joint = rr.RandomizedResponse(pairs.labels, gamma=12).to_mechanism()
    draw = np.random.default_rng(5).integers(6, size=3000)
    table = {
        "p": [pairs.sensitive[at // 3] for at in draw.tolist()],
        "q": [pairs.other[at % 3] for at in draw.tolist()],
    }
    csv.write_csv(pa.table(table), "people.csv")
    column = rr.release.ProtectedColumn(["p", "q"], joint, name=name)
    rr.release.release_file("people.csv", column, "safe.csv")
    found = rr.release.score_file("safe.csv", {column.released: joint}, "o.csv")
    (told,) = found.columns
    head = "p, q" if name is None else name
    assert told.names == tuple(f"{head}={label}" for label in pairs.labels)
    assert told.margins == {
        "p": {one: f"p={one}" for one in pairs.sensitive},
        "q": {one: f"q={one}" for one in pairs.other},
    }
    made = pd.read_csv("o.csv")
    for at, part in enumerate(("p", "q")):
        for label, new in told.margins[part].items():
            parts = [
                one for one, names in zip(told.names, map(split, told.categories), strict=True) if names[at] == label
            ]
            np.testing.assert_allclose(made[new], made[parts].sum(axis=1), atol=1e-12)
    estimate = rr.release.estimate_file("safe.csv", {column.released: joint})
    np.testing.assert_allclose(made[list(told.names)].mean(), estimate.values, atol=1e-12)
    shares = np.bincount(draw // 3, minlength=2) / 3000
    assert abs(made["p=a, b"].mean() - shares[0]) < 6 * made["p=a, b"].std() / 3000**0.5


def test_a_release_under_a_key_and_one_of_no_records() -> None:
    table = people(500)
    csv.write_csv(table.append_column("id", pa.array(range(500))), "people.csv")
    assert cli.main(["key", "new", "secret"]) == 0
    rr.release.release_file("people.csv", rr.release.ProtectedColumn("x", KRR), "safe.csv", identity="id", key="secret")
    rr.release.score_file("safe.csv", {"x": KRR}, "o.parquet")
    assert len(pd.read_parquet("o.parquet")) == 500
    csv.write_csv(people(0), "none.csv")
    rr.release.release_file("none.csv", rr.release.ProtectedColumn("x", KRR), "empty.csv")
    for to in (".csv", ".parquet"):
        assert rr.release.score_file("empty.csv", {"x": KRR}, f"none{to}", force=True).rows == 0
        assert list(READERS[to](f"none{to}").columns)[-3:] == ["x=a", "x=b", "x=c"]


def test_formulas_keep_their_apostrophe_in_text_and_lose_it_elsewhere() -> None:
    sums = rr.RandomizedResponse(["=1+1", "b"], gamma=9).to_mechanism()
    csv.write_csv(pa.table({"x": ["=1+1", "b"] * 300, "y": ["+y", "z"] * 300}), "people.csv")
    rr.release.release_file("people.csv", rr.release.ProtectedColumn("x", sums), "safe.csv")
    for to in (".csv", ".parquet"):
        rr.release.score_file("safe.csv", {"x": sums}, f"o{to}")
    text, made = pd.read_csv("o.csv"), pd.read_parquet("o.parquet")
    assert set(text.y) == {"'+y", "z"}
    assert set(made.y) == {"+y", "z"}
    assert text["x=b"].tolist() == pytest.approx(made["x=b"].tolist(), rel=1e-15)
    assert (made.x == "b").tolist() == (made["x=b"] > 0.5).tolist()


@pytest.fixture
def released() -> None:
    csv.write_csv(people(), "people.csv")
    rr.release.release_file("people.csv", rr.release.ProtectedColumn("x", KRR), "safe.csv")
    KRR.save("x.json")
    Path("plan.toml").write_text('schema = 1\n[[column]]\nname = "x"\nmechanism = "x.json"\n')


@pytest.mark.usefixtures("released")
def test_the_command_and_what_it_says(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scores", "plan.toml", "safe.csv", "-o", "o.csv", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["rows"] == 4000
    assert told["columns"][0]["scores"] == ["x=a", "x=b", "x=c"]
    assert told["columns"][0]["method"] == "inverse"
    assert told == rr.release.score_file("safe.csv", {"x": KRR}, "o.csv", force=True).to_dict()
    assert cli.main(["scores", "x.json", "safe.csv", "--column", "x", "-o", "p.csv"]) == 0
    assert Path("p.csv").read_bytes() == Path("o.csv").read_bytes()
    out = capfd.readouterr().out
    assert "Scores of 4,000 records" in out
    assert "wrote p.csv" in out
    # The scores of scores: other names.
    command = ["scores", "x.json", "p.csv", "--column", "x", "-o", "q.csv"]
    assert cli.main(command) == 2
    assert "'x=a'" in capfd.readouterr().err
    assert cli.main([*command, "--separator", ": "]) == 0
    assert list(pd.read_csv("q.csv").columns[-2:]) == ["x: b", "x: c"]
    Path("prior.csv").write_text("category,count\na,5\nb,3\nc,1\n")
    more = ["--method", "locally_best", "--prior", "prior.csv", "--force"]
    assert cli.main(["scores", "x.json", "safe.csv", "--column", "x", "-o", "p.csv", *more]) == 0


@pytest.mark.usefixtures("released")
@pytest.mark.parametrize(
    ("arguments", "kind", "where"),
    [
        ({"file": "people.csv"}, Conflict, "people.csv"),
        ({"columns": {"s": KRR}}, InputError, "safe.csv"),
        ({"columns": {"x": SKEW}}, Conflict, "safe.csv"),
        ({"columns": {"x": KRR, "s": KRR}, "prior": rr.Prior.uniform(ABC)}, Conflict, "prior"),
        ({"output": "safe.csv"}, NotWritten, "safe.csv"),
        ({"output": "people.csv"}, NotWritten, "people.csv"),
        ({"output": "o.json"}, NotWritten, "o.json"),
        ({"output": "folder.csv"}, NotWritten, "folder.csv"),
        ({"file": "folder.csv"}, Unreadable, "folder.csv"),
        ({"separator": ""}, Duplicate, "clash.csv"),
        ({"separator": "\ud800"}, WrongType, "separator"),
        ({"method": "mle"}, UnknownName, "safe.csv"),
    ],
)
def test_bad_input_is_refused_and_writes_nothing(arguments: dict[str, Any], kind: type[InputError], where: str) -> None:
    Path("folder.csv").mkdir()
    if where == "clash.csv":
        csv.write_csv(people(100).append_column("xa", pa.array(["1"] * 100)), "clash.csv")
        arguments = {**arguments, "file": "clash.csv"}
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    call = {"file": "safe.csv", "columns": {"x": KRR}, "output": "o.parquet", **arguments}
    with pytest.raises(kind) as caught:
        rr.release.score_file(call.pop("file"), call.pop("columns"), call.pop("output"), **call)
    assert where in caught.value.where
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


def test_a_column_that_was_never_randomised_is_refused() -> None:
    csv.write_csv(pa.table({"x": ["a"] * 900 + ["b"] * 50 + ["c"] * 50}), "plain.csv")
    with pytest.raises(InputError, match="cannot come from this mechanism"):
        rr.release.score_file("plain.csv", {"x": KRR}, "o.csv")
    assert not Path("o.csv").exists()


# -- what scores are for -------------------------------------------------------------------------------------


def simulated(runs: int, seed: int) -> tuple[float, float, Any]:
    """Of weighted totals of scores: coverage of 95 % intervals, the mean error in Monte-Carlo standard errors, and the
    ratio of the mean estimated variance to the variance over the runs. Each run draws 600 people and their answers; the
    weights depend on the true category."""
    draw = np.random.default_rng(seed)
    source = insecure_seeded_source(seed)
    n, shares, worth = 600, np.array([0.5, 0.3, 0.2]), np.array([1.0, 2.0, 4.0])
    target = n * shares[1] * worth[1]
    totals, variances = np.empty(runs), np.empty(runs)
    table = rr.estimation.scores(SKEW, []).table[1]
    for run in range(runs):
        true = draw.choice(3, n, p=shares)
        terms = worth[true] * table[SKEW.sample(true, source=source)]
        totals[run] = terms.sum()
        variances[run] = n / (n - 1) * ((terms - terms.mean()) ** 2).sum()
    errors = totals - target
    covered = float((np.abs(errors) < 1.959964 * np.sqrt(variances)).mean())
    return covered, float(errors.mean() / errors.std() * runs**0.5), variances.mean() / errors.var()


@pytest.mark.parametrize("runs", [1000, pytest.param(10_000, marks=pytest.mark.long)])
def test_weighted_totals_of_scores_have_the_variance_that_is_computed_from_them(runs: int) -> None:
    """The seed is fixed; each limit is that of a normal variable at 1e-5 (4.42), with the kurtosis of the totals for
    the variance."""
    covered, bias, ratio = simulated(runs, 3)
    assert abs(covered - 0.95) < 4.42 * (0.95 * 0.05 / runs) ** 0.5
    assert abs(bias) < 4.42
    assert abs(ratio - 1) < 4.42 * (2.1 / runs) ** 0.5


def test_a_regression_on_scores_is_that_on_the_truth() -> None:
    """Least squares of a numeric response: the moments X'y and the shares come from scores, and so the slopes."""
    draw = np.random.default_rng(8)
    n = 20_000
    true = draw.choice(3, n, p=[0.5, 0.3, 0.2])
    y = np.array([1.0, 3.0, -2.0])[true] + draw.normal(size=n)
    answers = [SKEW.outputs[at] for at in SKEW.sample(true, source=insecure_seeded_source(4)).tolist()]
    values = rr.estimation.scores(SKEW, answers).values
    means = values.T @ y / values.sum(axis=0)
    off = values * (y[:, None] - means) / values.sum(axis=0)
    errors = np.sqrt((off**2).sum(axis=0))
    assert (np.abs(means - [1, 3, -2]) < 5 * errors).all()
