"""Tables, domains and weights from scores: against sums over the records, the estimates, the truth, and simulations."""

from __future__ import annotations

import itertools
import json
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import Conflict, InputError, Missing, OutOfRange, TooLarge, UnknownName, WrongType
from rropt.estimation.tables import Groups, category_means, domain_shares, joint_shares
from rropt.mechanisms.sampling import insecure_seeded_source

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

AB, XYZ = ["a", "b"], ["x", "y", "z"]
A = rr.RandomizedResponse(AB, gamma=6).to_mechanism()
X = rr.Mechanism.from_rationals(
    [["5/8", "1/8", "1/8", "1/8"], ["1/8", "5/8", "1/8", "1/8"], ["1/8", "1/8", "1/4", "1/2"]],
    inputs=XYZ,
    outputs=["u", "v", "w", "t"],
)
LOOSE = rr.RandomizedResponse(AB, gamma=20).to_mechanism()
P = np.array([[0.25, 0.15, 0.1], [0.1, 0.15, 0.25]])
"""Joint shares of the two columns."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def released(n: int = 3000, seed: int = 1, joint: bool = False, strata: bool = False) -> Any:
    """The mapping of the released columns of safe.csv, with a region s and weights w beside them."""
    draw = np.random.default_rng(seed)
    cell = draw.choice(6, n, p=P.ravel())
    s = draw.integers(3, size=n)
    csv.write_csv(
        pa.table({
            "A": [AB[at // 3] for at in cell.tolist()],
            "X": [XYZ[at % 3] for at in cell.tolist()],
            "s": [("north", "south", "")[at] for at in s.tolist()],
            "w": draw.integers(1, 9, size=n) / 4,
            "y": 10_000 + cell % 3 + draw.normal(size=n),
        }),
        "people.csv",
    )  # fmt: skip
    if joint:
        both = rr.RandomizedResponse(rr.Pairs(AB, XYZ).labels, gamma=30).to_mechanism()
        columns = [rr.release.ProtectedColumn(["A", "X"], both)]
    else:
        by: dict[str, Any] = {"by": "s", "null": {"s": "south"}} if strata else {}
        one: Any = {"north": A, "south": LOOSE} if strata else A
        columns = [rr.release.ProtectedColumn("A", one, **by), rr.release.ProtectedColumn("X", X)]
    rr.release.release_file("people.csv", rr.release.Release(columns), "safe.csv", warn=lambda _: None)
    return {one.released: one for one in columns}


def scored(columns: Any) -> Any:
    rr.release.score_file("safe.csv", columns, "scored.parquet", force=True)
    return pd.read_parquet("scored.parquet")


def over_records(terms: Any, weights: Any) -> Any:
    """The covariance of the sum of weighted terms, record by record."""
    each = terms * weights[:, None]
    return np.cov(each.T, ddof=1).reshape(each.shape[1], -1) * len(each)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("kind", ["two", "joint", "strata"])
def test_a_table_is_the_weighted_mean_of_the_products_of_scores(kind: str, weights: str | None) -> None:
    columns = released(joint=kind == "joint", strata=kind == "strata")
    made = scored(columns)
    w = made["w"].to_numpy() if weights else np.ones(len(made))
    if kind == "joint":
        each = made[[f"A, X={a}, {x}" for a, x in itertools.product(AB, XYZ)]].to_numpy()
    else:
        each = np.stack([made[f"A={a}"] * made[f"X={x}"] for a, x in itertools.product(AB, XYZ)], axis=1)
    found = rr.release.estimate_table("safe.csv", columns, ("A", "X"), weights=weights)
    assert (found.rows, found.columns, found.n) == (tuple(AB), tuple(XYZ), 3000)
    values = w @ each / w.sum()
    np.testing.assert_allclose(found.values.ravel(), values, atol=1e-12)
    np.testing.assert_allclose(found.covariance, over_records((each - values) / w.sum(), w), atol=1e-14)
    np.testing.assert_allclose(found.totals.ravel(), w @ each, rtol=1e-11)
    np.testing.assert_allclose(found.total_errors.ravel() ** 2, np.diagonal(over_records(each, w)), rtol=1e-9)
    assert (np.abs(found.values - P) < 6 * found.standard_errors).all()
    other = rr.release.estimate_table("safe.csv", columns, ("X", "A"), weights=weights)
    np.testing.assert_allclose(other.values, found.values.T, atol=1e-12)
    np.testing.assert_allclose(other.standard_errors, found.standard_errors.T, atol=1e-12)


@pytest.mark.parametrize("joint", [False, True])
def test_without_weights_a_table_is_the_joint_estimate(joint: bool) -> None:
    columns = released(joint=joint)
    table = rr.release.estimate_table("safe.csv", columns, ("A", "X"))
    told = rr.release.estimate_file("safe.csv", columns)
    np.testing.assert_allclose(table.values.ravel(), told.values, atol=1e-12)
    # Errors are those of the sample here, and those of the mechanism near the estimate there.
    np.testing.assert_allclose(table.standard_errors.ravel(), told.standard_errors, rtol=0.15)


def test_without_weights_shares_are_the_estimate() -> None:
    columns = released(strata=True)
    shares = rr.release.estimate_shares("safe.csv", columns, "A")
    told = rr.release.estimate_file("safe.csv", {"A": columns[("A",)]})
    np.testing.assert_allclose(shares.values[0], told.values, atol=1e-12)
    np.testing.assert_allclose(shares.standard_errors[0], told.standard_errors, rtol=0.1)
    part = rr.release.estimate_shares("safe.csv", columns, "A", where={"s": "north"})
    alone = rr.release.estimate_file("safe.csv", {"A": columns[("A",)]}, where={"s": "north"})
    np.testing.assert_allclose(part.values[0], alone.values, atol=1e-12)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("by", ["s", "A"])
def test_domains_are_ratios_of_weighted_sums(by: str, weights: str | None) -> None:
    columns = released()
    made = scored(columns)
    found = rr.release.estimate_shares("safe.csv", columns, "X", by=by, weights=weights, null="none")
    assert found.domains == (tuple(AB) if by == "A" else ("none", "north", "south"))
    w = made["w"].to_numpy() if weights else np.ones(len(made))
    scores = made[[f"X={x}" for x in XYZ]].to_numpy()
    inside = made["s"].fillna("").replace("", "none")
    for d, domain in enumerate(found.domains):
        at = made[f"A={domain}"].to_numpy() if by == "A" else (inside == domain).to_numpy().astype(float)
        values = (w * at) @ scores / (w @ at)
        np.testing.assert_allclose(found.values[d], values, atol=1e-12)
        terms = at[:, None] * (scores - values) / (w @ at)
        np.testing.assert_allclose(found.covariances[d], over_records(terms, w), atol=1e-14)
    truth = P / P.sum(axis=1)[:, None] if by == "A" else np.tile(P.sum(axis=0), (3, 1))
    assert (np.abs(found.values - truth) < 6 * found.standard_errors).all()


def test_a_column_that_was_released_unchanged_is_in_a_table_as_it_is() -> None:
    columns = released()
    found = rr.release.estimate_table("safe.csv", columns, ("s", "A"), null="none")
    counts = pd.read_csv("safe.csv")["s"].fillna("none").value_counts()
    np.testing.assert_allclose(found.values.sum(axis=1), [counts[one] / 3000 for one in found.rows], atol=1e-12)
    with pytest.raises(Missing):
        rr.release.estimate_table("safe.csv", columns, ("s", "A"))


# -- association ------------------------------------------------------------------------------------------------


def drawn_table(n: int, shares: Any, draw: Any, source: Any) -> Any:
    """The estimated table of n respondents, both of whose answers are randomised, without a file."""
    cell = draw.choice(shares.size, n, p=shares.ravel())
    answers = [
        one.sample(codes, source=source) for one, codes in ((A, cell // shares.shape[1]), (X, cell % shares.shape[1]))
    ]
    flat = answers[0] * len(X.outputs) + answers[1]
    records = np.bincount(flat, minlength=8).astype(float)
    joint = np.einsum("ay,bz->yzab", SCORES["A"], SCORES["X"]).reshape(8, 2, 3)
    return joint_shares(
        Groups(records, records, records), joint, ("A", "X"), tuple(AB), tuple(XYZ), False, np.zeros((2, 3), bool)
    )


SCORES = {"A": rr.estimation.scores(A, []).table, "X": rr.estimation.scores(X, []).table}
INDEPENDENT = np.outer([0.5, 0.5], P.sum(axis=0))


def test_measures_of_a_table_without_noise_are_the_usual_ones() -> None:
    """With the identity for a mechanism: the odds ratio with Woolf's error, and V of the chi-square statistic."""
    counts = np.array([[60.0, 30.0], [20.0, 90.0]])
    joint = np.eye(4).reshape(4, 2, 2)
    n = int(counts.sum())
    found = joint_shares(
        Groups(*[counts.ravel()] * 3), joint, ("A", "B"), ("a", "b"), ("u", "v"), False, np.zeros((2, 2), bool)
    )
    odds = found.odds_ratio()
    assert odds.value == pytest.approx(60 * 90 / (30 * 20))
    woolf = (sum(1 / one for one in counts.ravel()) * n / (n - 1)) ** 0.5
    assert odds.standard_error == pytest.approx(odds.value * woolf)
    assert np.log(odds.interval[1]) == pytest.approx(np.log(odds.value) + stats.norm.ppf(0.975) * woolf)
    turned = found.odds_ratio(rows=("b", "a"), columns=("u", "v"))
    assert turned.value == pytest.approx(1 / odds.value)
    chi = stats.chi2_contingency(counts, correction=False).statistic
    # Less what chance adds to it.
    assert found.cramers_v().value == pytest.approx((chi / n) ** 0.5, abs=0.01)
    assert found.cramers_v().value < (chi / n) ** 0.5
    test = found.independence()
    assert test.degrees == 1
    assert test.probability == pytest.approx(stats.f.sf(test.statistic, 1, n - 1))
    a, b = counts.sum(axis=1) / n, counts.sum(axis=0) / n
    off = counts[0, 0] / n - a[0] * b[0]
    terms = np.repeat(
        [[(x == 0) * (y == 0) - a[0] * (y == 0) - b[0] * (x == 0)] for x in (0, 1) for y in (0, 1)],
        counts.ravel().astype(int),
        axis=0,
    )
    assert test.statistic == pytest.approx(off**2 / (np.var(terms, ddof=1) / n))


RUNS = [400, pytest.param(10_000, marks=pytest.mark.long)]
"""How many releases are simulated, with a fixed seed."""


def holds(covered: float, runs: int, share: float = 0.95) -> bool:
    """Whether an observed share of the runs is within the limits of the binomial distribution at 1e-5, two-sided."""
    low, high = stats.binom.ppf([0.5e-5, 1 - 0.5e-5], runs, share)
    return bool(low <= covered * runs <= high)


@pytest.mark.parametrize("runs", RUNS)
def test_intervals_of_tables_and_measures_cover(runs: int) -> None:
    """Shares, the odds ratio of two rows and two columns, and Cramer's V."""
    draw, source = np.random.default_rng(11), insecure_seeded_source(11)
    odds = P[0, 0] * P[1, 2] / (P[0, 2] * P[1, 0])
    v = (
        float((((P - np.outer(P.sum(axis=1), P.sum(axis=0))) ** 2) / np.outer(P.sum(axis=1), P.sum(axis=0))).sum())
        ** 0.5
    )
    hits = np.zeros(8)
    for _ in range(runs):
        found = drawn_table(4000, P, draw, source)
        low, high = np.moveaxis(found.intervals(), -1, 0)
        hits[:6] += ((low <= P) & (high >= P)).ravel()
        for at, one, true in ((6, found.odds_ratio(columns=("x", "z")), odds), (7, found.cramers_v(), v)):
            hits[at] += one.interval[0] <= true <= one.interval[1]
    assert all(holds(one, runs) for one in hits / runs), hits / runs


@pytest.mark.parametrize("runs", RUNS)
def test_the_test_of_independence_has_its_level(runs: int) -> None:
    draw, source = np.random.default_rng(12), insecure_seeded_source(12)
    small = [drawn_table(3000, INDEPENDENT, draw, source).independence().probability < 0.05 for _ in range(runs)]
    assert holds(float(np.mean(small)), runs, 0.05)
    assert drawn_table(3000, P, draw, source).independence().probability < 1e-3


@pytest.mark.parametrize("runs", RUNS)
def test_intervals_of_weighted_domains_cover(runs: int) -> None:
    """The weights and the shares depend on the domain, and weights on the true category: nothing is ignorable."""
    draw, source = np.random.default_rng(13), insecure_seeded_source(13)
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    worth = np.array([[1.0, 2.0, 3.0], [4.0, 2.0, 1.0]])
    truth = shares * worth / (shares * worth).sum(axis=1)[:, None]
    totals = 3000 * np.array([[0.4], [0.6]]) * shares * worth
    hits = np.zeros((2, 6))
    for _ in range(runs):
        d = (draw.random(3000) < 0.6).astype(int)
        true = np.where(d == 0, draw.choice(3, 3000, p=shares[0]), draw.choice(3, 3000, p=shares[1]))
        y = X.sample(true, source=source)
        # A group for each domain, weight and answer.
        flat = (d * 3 + true) * 4 + y
        records = np.bincount(flat, minlength=24).astype(float)
        own = np.repeat(worth.ravel(), 4)
        joint = np.zeros((24, 2, 3))
        for at in range(24):
            joint[at, at // 12] = SCORES["X"][:, at % 4]
        groups = Groups(records, records * own, records * own**2)
        found = domain_shares(groups, joint, "X", "d", ("0", "1"), tuple(XYZ), True, np.zeros((2, 3), bool))
        low, high = np.moveaxis(found.intervals(), -1, 0)
        hits[0] += ((low <= truth) & (truth <= high)).ravel()
        hits[1] += (np.abs(found.totals - totals) < 1.959964 * found.total_errors).ravel()
    assert all(holds(one, runs) for one in (hits / runs).ravel()), hits / runs


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("kind", ["two", "joint", "strata"])
def test_means_are_ratios_of_weighted_sums(kind: str, weights: str | None) -> None:
    """Of a number with a mean that is large beside its spread, too."""
    columns = released(joint=kind == "joint", strata=kind == "strata")
    made = scored(columns)
    y = made["y"].to_numpy()
    w = made["w"].to_numpy() if weights else np.ones(len(made))
    scores = made[[f"X={x}" for x in XYZ]].to_numpy()
    found = rr.release.estimate_means("safe.csv", columns, "X", "y", weights=weights)
    means = (w * y) @ scores / (w @ scores)
    np.testing.assert_allclose(found.values, means, rtol=1e-12)
    terms = scores * (y[:, None] - means) / (w @ scores)
    np.testing.assert_allclose(found.covariance, over_records(terms, w), rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(found.totals, (w * y) @ scores, rtol=1e-11)
    np.testing.assert_allclose(found.total_errors**2, np.diagonal(over_records(scores * y[:, None], w)), rtol=1e-9)
    assert (np.abs(found.values - (10_000 + np.arange(3))) < 6 * found.standard_errors).all()


def test_a_category_of_no_estimated_size_has_no_mean() -> None:
    csv.write_csv(pa.table({"X": ["u"] * 430 + ["v"] * 340 + ["w"] * 115 + ["t"] * 115, "y": [1.5] * 1000}), "few.csv")
    found = rr.release.estimate_means("few.csv", {"X": X}, "X", "y", where={"y": "1.5"})
    assert found.values[:2].tolist() == [1.5, 1.5]
    assert found.standard_errors[:2].tolist() == [0, 0]
    assert np.isnan(found.values[2])
    assert "'z'" in found.warnings[0]
    assert found.to_dict()["estimate"][2] is None
    assert "-" in str(found)


@pytest.mark.parametrize("runs", RUNS)
def test_intervals_of_means_cover(runs: int) -> None:
    """The number depends on the true category, its spread too, and the weights on the number."""
    draw, source = np.random.default_rng(14), insecure_seeded_source(14)
    shares, center, spread = P.sum(axis=0), np.array([5.0, 1.0, -2.0]), np.array([1.0, 3.0, 2.0])
    n, hits = 3000, np.zeros((2, 3))
    # E(w y) and E(w) in a category, w = 2 + sign(y - its mean): of a normal variable E|y - m| = s sqrt(2 / pi).
    truth = center + spread * (2 / np.pi) ** 0.5 / 2
    totals = n * shares * 2 * truth
    for _ in range(runs):
        true = draw.choice(3, n, p=shares)
        off = draw.normal(size=n) * spread[true]
        answers, w, number = X.sample(true, source=source), 2 + np.sign(off), center[true] + off
        terms = (np.ones(n), w, w**2, w * number, w**2 * number, (w * number) ** 2)
        sums = np.stack([np.bincount(answers, weights=one, minlength=4) for one in terms])
        found = category_means(Groups(*sums[:3]), SCORES["X"].T, sums[3:], 0.0, "X", "y", tuple(XYZ), True)
        low, high = found.intervals().T
        hits[0] += (low <= truth) & (truth <= high)
        hits[1] += np.abs(found.totals - totals) < 1.959964 * found.total_errors
    assert all(holds(one, runs) for one in (hits / runs).ravel()), hits / runs


# -- the command -------------------------------------------------------------------------------------------------


def plan(columns: Any) -> None:
    A.save("A.json")
    X.save("X.json")
    blocks = (f'[[column]]\nname = "{name}"\nmechanism = "{name}.json"\n' for name in "AX")
    Path("plan.toml").write_text("schema = 1\n" + "".join(blocks))


def test_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    columns = released()
    plan(columns)
    capfd.readouterr()
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--table", "A,X", "--weights", "w", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    found = rr.release.estimate_table("safe.csv", columns, ("A", "X"), weights="w")
    assert told == json.loads(json.dumps(found.to_dict()))
    assert told["cramers_v"]["value"] == found.cramers_v().value
    assert told["odds_ratio"] is None
    by = ["--by", "s", "--null", "none", "--weights", "w"]
    for source, name in (("plan.toml", "X"), ("X.json", "X")):
        assert cli.main(["estimate", source, "safe.csv", "--column", name, *by, "--json"]) == 0
        told = json.loads(capfd.readouterr().out)
        assert told == rr.release.estimate_shares("safe.csv", columns, "X", by="s", null="none", weights="w").to_dict()
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "X", "--mean", "y", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told == json.loads(json.dumps(rr.release.estimate_means("safe.csv", columns, "X", "y").to_dict()))
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "X", "--mean", "y"]) == 0
    assert "mean of y" in capfd.readouterr().out
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--table", "A,X", "--level", "0.9"]) == 0
    out = capfd.readouterr().out
    for part in ("Estimated joint shares (3,000 records)", "90 % from", "Independence", "Cramer's V"):
        assert part in out
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "X", *by]) == 0
    assert "total" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["--table", "A"], "--table"),
        (["--table", "A,X,s"], "--table"),
        (["--table", "A,A"], "table"),
        (["--table", "A,none"], "safe.csv"),
        (["--table", "s,w"], "safe.csv"),
        (["--table", "A,X", "--by", "s"], "estimate"),
        (["--table", "A,X", "--weights", "s"], "'s'"),
        (["--table", "A,X", "--weights", "X"], "safe.csv"),
        (["--table", "A,X", "--weights", "none"], "safe.csv"),
        (["--table", "A,X", "--method", "mle"], "scores"),
        (["--table", "A,X", "--plot", "x.svg"], "estimate"),
        (["--by", "s"], "--column"),
        (["--column", "A", "--mean", "s"], "'s'"),
        (["--column", "A", "--mean", "X"], "safe.csv"),
        (["--column", "A", "--mean", "y", "--by", "s"], "estimate"),
        (["--column", "A", "--mean", "y", "--null", "none"], "estimate"),
        (["--column", "A", "--by", "A"], "by"),
        (["--column", "A", "--by", "s"], "safe.csv"),
        (["--column", "s", "--by", "A"], "safe.csv"),
        ([], "plan.toml"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], where: str, capfd: pytest.CaptureFixture[str]) -> None:
    plan(released(300))
    capfd.readouterr()
    if arguments == ["--column", "s", "--by", "A"]:
        # A column that is released unchanged, by the true values of another: that is a table.
        assert cli.main(["estimate", "plan.toml", "safe.csv", *arguments, "--null", "none"]) == 0
        return
    assert cli.main(["estimate", "plan.toml", "safe.csv", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert where in err.partition(";")[0]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, -1.0, 2.0], OutOfRange),
        ([1.0, None, 2.0], Missing),
        ([1.0, float("nan"), 2.0], InputError),
        ([1.0, float("inf"), 2.0], OutOfRange),
        (["1", "", "2"], Missing),
        (["1", "two", "2"], WrongType),
        ([0.0, 0.0, 0.0], OutOfRange),
    ],
)
def test_weights_that_are_none_are_refused(values: list[Any], kind: type[InputError]) -> None:
    parquet.write_table(pa.table({"A": ["a", "b", "a"], "w": values}), "safe.parquet")
    with pytest.raises(kind) as caught:
        rr.release.estimate_shares("safe.parquet", {"A": A}, "A", weights="w")
    assert "'w'" in caught.value.where


def test_a_table_that_is_too_fine_is_warned_of_or_refused() -> None:
    draw = np.random.default_rng(2)
    table = {"A": [AB[at] for at in draw.integers(2, size=200).tolist()], "id": [str(at) for at in range(200)]}
    csv.write_csv(pa.table(table), "fine.csv")
    found = rr.release.estimate_table("fine.csv", {"A": A}, ("A", "id"))
    assert any("too fine" in line for line in found.warnings)
    with pytest.raises(InputError):
        found.independence()
    with pytest.raises(InputError):
        found.odds_ratio()
    table = {"A": ["a", "b"] * 600, "id": [str(at) for at in range(1200)]}
    csv.write_csv(pa.table(table), "finer.csv")
    with pytest.raises(TooLarge):
        rr.release.estimate_table("finer.csv", {"A": A}, ("A", "id"))
    csv.write_csv(pa.table({"A": ["a"]}), "one.csv")
    with pytest.raises(UnknownName):
        rr.release.estimate_shares("one.csv", {"A": A}, "A")


@pytest.mark.parametrize("gamma", ["11/10", "2", "6", "50"])
@pytest.mark.parametrize("k", [2, 3, 5, 16])
def test_no_interval_is_a_point(k: int, gamma: str) -> None:
    """Few answers, all alike or with estimates outside [0, 1], say little: an interval of width 0 would be false, and
    one of 1e-17 as well."""
    labels = [f"c{at}" for at in range(k)]
    mechanism = rr.RandomizedResponse(labels, gamma=gamma).to_mechanism()
    for alike in (1, 2, 3, 7):
        answers = [labels[0]] * alike + [labels[at % k] for at in range(40)]
        rows = {"A": answers, "s": ["few"] * alike + ["many"] * 40, "w": [2 + at % 3 for at in range(len(answers))]}
        csv.write_csv(pa.table(rows), "few.csv")
        csv.write_csv(pa.table({"A": [labels[0]] * (alike + 1)}), "alike.csv")
        for weights in (None, "w"):
            found = rr.release.estimate_shares("few.csv", {"A": mechanism}, "A", by="s", weights=weights)
            low, high = np.moveaxis(found.intervals(), -1, 0)
            assert (high - low > 1e-6).all()
            assert (high - low)[0] == pytest.approx(np.ones(k))
            assert any("one answer only" in line for line in found.warnings)
        low, high = np.moveaxis(rr.release.estimate_shares("alike.csv", {"A": mechanism}, "A").intervals(), -1, 0)
        assert (high - low) == pytest.approx(np.ones((1, k)))


def test_three_columns_of_one_joint_mechanism_have_tables_of_any_two() -> None:
    cross = rr.release.CrossClassification({"p": ["1", "2"], "q": ["u", "v"], "r": ["k", "l"]})
    joint = rr.RandomizedResponse(cross.labels, gamma=40).to_mechanism()
    draw = np.random.default_rng(4).integers(8, size=2000)
    combined = [cross.combinations[at] for at in draw.tolist()]
    csv.write_csv(pa.table({name: [one[at] for one in combined] for at, name in enumerate("pqr")}), "people.csv")
    column = rr.release.ProtectedColumn(["p", "q", "r"], joint)
    rr.release.release_file("people.csv", column, "safe.csv")
    whole = rr.release.estimate_file("safe.csv", {("p", "q", "r"): column}).values.reshape(2, 2, 2)
    for at, (one, other) in enumerate((("q", "r"), ("p", "r"), ("p", "q"))):
        found = rr.release.estimate_table("safe.csv", {("p", "q", "r"): column}, (one, other))
        np.testing.assert_allclose(found.values, whole.sum(axis=at), atol=1e-12)
    total = reduce(np.add, whole.ravel())
    assert total == pytest.approx(1)


def test_a_folder_is_estimated_as_one_and_keys_are_noted() -> None:
    Path("parts").mkdir()
    rows = {"A": ["a", "b"] * 300, "id": list(range(600)), "s": ["n", "n", "m"] * 200}
    for at in range(2):
        own = {name: column[at * 300 : (at + 1) * 300] for name, column in rows.items()}
        parquet.write_table(pa.table(own), f"parts/{at}.parquet")
    assert cli.main(["key", "new", "secret"]) == 0
    column = rr.release.ProtectedColumn("A", A)
    rr.release.release_folder("parts", column, "safe", identity="id", key="secret")
    found = rr.release.estimate_table("safe", {"A": A}, ("A", "s"))
    assert found.n == 600
    assert any("key" in note for note in found.notes)
    told = rr.release.estimate_file("safe", {"A": A})
    np.testing.assert_allclose(found.values.sum(axis=1), told.values, atol=1e-12)


def test_weights_and_domains_that_hold_randomised_answers_are_refused() -> None:
    columns = released(300)
    for arguments in ({"by": "X"}, {"weights": "X"}):
        with pytest.raises(Conflict):
            rr.release.estimate_shares("safe.csv", {"A": columns[("A",)]}, "A", **arguments)
