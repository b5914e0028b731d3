"""`rr.protect` and `rropt protect`: one total epsilon, strata, impossible combinations, parts of the records."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import graded

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.exact import exp_enclosure
from rropt.release.account import Account
from rropt.release.precision import Moments, precision
from rropt.release.protection.domain import Domain

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("narwhals")

from rropt.release.memo import new_key  # noqa: E402

WORK, HOME, DIET = ("none", "part", "full"), ("flat", "house"), ("meat", "fish", "plants", "all")
DOMAIN = {"work": WORK, "home": HOME, "diet": DIET}
IMPOSSIBLE = [{"sex": "m", "work": "part"}, {"region": "north", "diet": ["fish", "all"]}]
NAMES = ("id", "age", "sex", "region", "work", "home", "diet", "noise")


def people(seed: int = 0, count: int = 240) -> dict[str, list[Any]]:
    """Records in which no impossible combination occurs, except in those below the age of 15."""
    draw = np.random.default_rng(seed)
    public = np.random.default_rng(7)
    age = public.integers(5, 80, count).tolist()
    sex = public.choice(["f", "m"], count).tolist()
    region = public.choice(["north", "south"], count).tolist()
    noise = public.integers(0, 9, count).tolist()
    work = [str(draw.choice(WORK if s == "f" or a < 15 else ("none", "full"))) for s, a in zip(sex, age, strict=True)]
    diet = [str(draw.choice(DIET if r == "south" else ("meat", "plants"))) for r in region]
    home = draw.choice(HOME, count).tolist()
    return dict(zip(NAMES, (list(range(count)), age, sex, region, work, home, diet, noise), strict=True))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    csv.write_csv(pa.table(people()), "people.csv")


def quiet(caution: str) -> None:
    """Cautions are not of interest."""


def read(path: str | Path) -> list[dict[str, str]]:
    table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=dict.fromkeys(NAMES, pa.string())))
    return table.to_pylist()


def worst_ratio(mechanism: rr.Mechanism) -> Fraction:
    """The largest ratio of two probabilities of one output, by the definition."""
    found = Fraction(1)
    for y in range(len(mechanism.outputs)):
        for one, other in itertools.permutations(mechanism.column(y), 2):
            assert other > 0 or one == 0
            found = max(found, one / other) if other else found
    return found


COMBINATIONS = list(
    itertools.product(
        (False, True),
        ((), ("sex",), ("sex", "region")),
        ((), ("age>=15",)),
        ((), (("work", "home"),), (("home", "diet"),)),
        (None, "1/2"),
    )
)


@pytest.mark.parametrize(("keyed", "by", "where", "joint", "public"), graded(COMBINATIONS[::5], COMBINATIONS))
def test_every_combination_keeps_its_total_its_zeros_and_what_it_does_not_protect(
    keyed: bool, by: tuple[str, ...], where: tuple[str, ...], joint: Any, public: str | None
) -> None:
    total = Fraction("7/3")
    impossible = [one for one in IMPOSSIBLE if set(one) <= {*by, *DOMAIN}]
    if keyed:
        new_key(Path("key"))
    if "sex" in by and not where:
        # Those below 15 have a combination that is impossible in the others.
        impossible = [one for one in impossible if "sex" not in one]
    declared: dict[str, Any] = {
        "categories": DOMAIN,
        "impossible": impossible,
        "by": by,
        "where": where,
        "joint": joint,
        "separate": not joint,
        "warn": quiet,
        "identity": "id" if keyed else None,
        "key": "key" if keyed else None,
    }
    found = rr.protect("people.csv", list(DOMAIN), total, public_epsilon=public, output="safe.csv", **declared)
    assert sum(found.epsilons.values()) == total - Fraction(public or 0)
    assert all(any(set(one) <= set(group) for group in found.epsilons) for one in joint)
    # By the mechanisms in the folder, whatever the code says of them.
    plan = rr.release.load_release("safe.designs/RELEASE.toml").release
    together = Fraction(1)
    for column in plan.columns:
        together *= max(worst_ratio(one) for _, one in column.strata)
    assert together <= exp_enclosure(total - Fraction(public or 0)).lower
    manifest = json.loads(Path("safe.csv.manifest.json").read_text())
    assert Fraction(manifest["privacy_ratio"]) == together
    ledger = Account.load(Path("people.csv.accountant"))
    assert ledger.most.within(total, None)
    assert (public is not None) == any("counts with noise" in one for one in manifest["learned"])
    # Record by record: unchanged, or an output that is possible in its stratum.
    before, after = read("people.csv"), read("safe.csv")
    assert manifest["rows"] == len(before) == len(after)
    outside = 0
    for old, new in zip(before, after, strict=True):
        stratum = tuple(old[name] for name in by)
        is_outside = bool(where) and int(old["age"]) < 15
        outside += is_outside
        for name in ("id", "age", "sex", "region", "noise"):
            assert new[name] == old[name]
        for column in plan.columns:
            mechanism = dict(column.strata)[stratum]
            parts = [old[name] for name in column.columns]
            if is_outside:
                assert [new[name] for name in column.released] == (parts if column.name is None else [", ".join(parts)])
                continue
            label = ", ".join(new[name] for name in column.released)
            assert label in mechanism.outputs
            known = dict(zip(column.columns, label.split(", "), strict=True)) if label in mechanism.inputs else {}
            whole = known | {name: old[name] for name in by}
            for one in impossible:
                allowed = {name: [labels] if isinstance(labels, str) else labels for name, labels in one.items()}
                assert not (set(one) <= set(whole) and all(whole[name] in allowed[name] for name in one))
    assert manifest.get("unchanged_records", 0) == outside
    # Frequencies can be estimated from what is there.
    for column in plan.columns:
        if not public:
            estimate = rr.release.estimate_file("safe.csv", {column.released: column})
            assert estimate.n == len(before) - outside
            assert abs(estimate.values.sum() - 1) < 1e-9
    if keyed and not public:
        again = rr.protect("people.csv", list(DOMAIN), total, output="again.csv", **declared)
        assert Path("again.csv").read_bytes() == Path("safe.csv").read_bytes()
        assert again.released is not None
        assert Account.load(Path("people.csv.accountant")).most.within(total, None)


def test_nothing_of_the_protected_columns_is_in_the_designs(tmp_path: Path) -> None:
    """Files that differ in protected columns only give the same bytes; the categories of the file do not matter."""
    folders = []
    for seed in (1, 2, 3):
        place = tmp_path / f"office {seed}"
        place.mkdir()
        table = people(seed)
        if seed == 3:
            table |= {name: [labels[0]] * len(table["id"]) for name, labels in DOMAIN.items()}
        csv.write_csv(pa.table(table), place / "people.csv")
        made = rr.protect(
            place / "people.csv",
            list(DOMAIN),
            2,
            categories=DOMAIN,
            by=["sex", "region"],
            where="age >= 15",
            warn=quiet,
        )
        assert made.designs is not None
        folder = made.designs
        folders.append({one.relative_to(folder): one.read_bytes() for one in folder.rglob("*") if one.is_file()})
        manifest = json.loads((place / "people.protected.csv.manifest.json").read_text())
        assert manifest["learned"] == []
    assert folders[0] == folders[1] == folders[2]
    assert any("certificate.json" in str(name) for name in folders[0])
    # What is asked for is listed.
    rr.protect("people.csv", ["work", "home"], 2, categories={"home": HOME}, categories_from_data=True, warn=quiet)
    learned = json.loads(Path("people.protected.csv.manifest.json").read_text())["learned"]
    assert learned == ["categories of work: read from its values, which epsilon does not cover"]


def variances_by_definition(
    mechanisms: Mapping[str, rr.Mechanism], joint: bool, names: list[str], n: int
) -> tuple[dict[str, float], float]:
    """(the largest standard error of a share of each column, that of a cell of two), by sums over all outputs."""
    tables = {}
    for key, one in mechanisms.items():
        q = one.matrix
        p = np.full(len(q), 1 / len(q))
        weights = np.diag(1 / (p @ q))
        tables[key] = np.linalg.inv(q @ weights @ q.T) @ q @ weights
    shares: dict[str, float] = {}
    worst = 0.0
    if joint:
        (one,) = mechanisms.values()
        table = tables[next(iter(tables))]
        labels = [label.split(", ") for label in one.inputs]
        chance = one.matrix.mean(axis=0)

        def spread(chosen: list[int]) -> float:
            score = table[chosen].sum(axis=0)
            return float(chance @ score**2 - (chance @ score) ** 2)

        for at, name in enumerate(names):
            own = {label[at] for label in labels}
            each = [spread([x for x, parts in enumerate(labels) if parts[at] == label]) for label in own]
            shares[name] = math.sqrt(max(each) / n)
        return shares, math.sqrt(max(spread([x]) for x in range(len(labels))) / n)
    chances = {name: mechanisms[name].matrix.mean(axis=0) for name in names}
    for name in names:
        mean = tables[name] @ chances[name]
        shares[name] = math.sqrt(float((tables[name] ** 2 @ chances[name] - mean**2).max()) / n)
    for one_row, other_row in itertools.product(*(tables[name] for name in names)):
        products = np.outer(one_row, other_row)
        chance = np.outer(*(chances[name] for name in names))
        worst = max(worst, float((chance * products**2).sum() - (chance * products).sum() ** 2))
    return shares, math.sqrt(worst / n)


@pytest.mark.parametrize("error", [0.003, 0.01, 0.07])
def test_records_for_an_error_are_the_least(error: float) -> None:
    """With so many records the standard error is at most that, and with one fewer it is not."""
    domain = {"work": DOMAIN["work"]}
    draw = np.random.default_rng(1)

    def expected(n: int) -> Any:
        table = pa.table({"work": draw.choice(domain["work"], n).tolist()})
        return rr.protect(table, "work", 1, categories=domain, dry_run=True).expected

    needed = expected(240).records_for("work", error)
    assert expected(needed).shares["work"] <= error * (1 + 1e-9)
    assert expected(needed - 1).shares["work"] > error
    preview = expected(needed).to_dict()
    assert preview["records_needed"]["work"]["records"] == expected(240).records_for("work", 0.01)


@pytest.mark.parametrize("epsilon", ["1/2", "2", "5"])
@pytest.mark.parametrize("joint", [False, True])
def test_expected_errors_are_those_of_the_designs(epsilon: str, joint: bool) -> None:
    given = [("work", "diet")] if joint else []
    table = pa.table(people())
    options: dict[str, Any] = {"categories": DOMAIN, "joint": given, "separate": True, "dry_run": True}
    found = rr.protect(table, ["work", "diet"], epsilon, **options)
    mechanisms = {"+".join(one.columns): one.strata[0][1] for one in found.release.columns}
    shares, cell = variances_by_definition(mechanisms, joint, ["work", "diet"], 240)
    assert found.expected.shares == pytest.approx(shares, rel=1e-6)
    assert found.expected.cells == pytest.approx({("work", "diet"): cell}, rel=1e-6)
    # The same for k-RR with the same ratios, made as mechanisms.
    alike = {
        name: rr.RandomizedResponse(one.inputs, gamma=one.privacy_ratio).to_mechanism()
        for name, one in mechanisms.items()
    }
    others, other = variances_by_definition(alike, joint, ["work", "diet"], 240)
    krr = found.expected.krr
    assert krr is not None
    assert krr.shares == pytest.approx(others, rel=1e-6)
    assert krr.cells == pytest.approx({("work", "diet"): other}, rel=1e-6)
    assert all(error <= others[name] * (1 + 1e-6) for name, error in found.expected.shares.items())
    # The closed forms by which groups are chosen are those of the designs.
    cells = Domain.of(DOMAIN)
    best = [Moments.best(group, cells.cells(group, (), ()), float(one)) for group, one in found.epsilons.items()]
    closed = precision({(): best}, {(): 240})
    assert closed.shares == pytest.approx(shares, rel=1e-6)
    assert closed.cells == pytest.approx(found.expected.cells, rel=1e-6)


def test_a_joint_design_is_taken_where_no_share_loses() -> None:
    """By comparison with what is said of the plan without it, and with every other grouping."""
    table = pa.table(people())
    options: dict[str, Any] = {"categories": {"work": ("none", "full"), "home": HOME, "diet": DIET}, "dry_run": True}
    options["impossible"] = []
    table = table.set_column(
        4, "work", pa.array(["none" if one == "part" else one for one in table["work"].to_pylist()])
    )
    for epsilon in ("1/4", "1", "3", "8"):
        free = rr.protect(table, ["work", "home", "diet"], epsilon, **options)
        alone = rr.protect(table, ["work", "home", "diet"], epsilon, separate=True, **options)
        assert all(len(group) == 1 for group in alone.epsilons)
        for name, error in free.expected.shares.items():
            assert error <= alone.expected.shares[name] * (1 + 1e-6)
        total = sum(one**2 for one in free.expected.cells.values())
        for ties in ([("work", "home")], [("work", "diet")], [("home", "diet")], [("work", "home", "diet")]):
            other = rr.protect(table, ["work", "home", "diet"], epsilon, joint=ties, separate=True, **options)
            harmless = all(
                error <= alone.expected.shares[name] * (1 + 1e-9) for name, error in other.expected.shares.items()
            )
            assert not harmless or total <= sum(one**2 for one in other.expected.cells.values()) * (1 + 1e-6)
        if epsilon == "8":
            assert any(len(group) > 1 for group in free.epsilons)
            assert any("are perturbed jointly" in line for line in free.advice)


def test_a_requested_error_is_reached_with_the_least_epsilon() -> None:
    table = pa.table(people(count=4000))
    options: dict[str, Any] = {"categories": DOMAIN, "separate": True, "dry_run": True}
    found = rr.protect(table, list(DOMAIN), 4, errors={"diet": "0.02"}, **options)
    assert sum(found.epsilons.values()) == 4
    assert found.expected.shares["diet"] <= 0.02
    assert found.epsilons["work",] == found.epsilons["home",]
    less = rr.protect(table, ["diet"], found.epsilons["diet",] - Fraction(1, 1000), **options)
    assert less.expected.shares["diet"] > 0.02
    with pytest.raises(InputError, match=r"epsilon [\d.]+ is needed for the requested errors, and epsilon is 1"):
        rr.protect(table, list(DOMAIN), 1, errors={"diet": "0.01", "work": "0.01"}, **options)


def test_a_stratum_with_one_category_reveals_nothing() -> None:
    """It is released as it is, since it is no news; an empty stratum that is declared has a design too."""
    table = people()
    table["work"] = [
        "none" if region == "north" else one for one, region in zip(table["work"], table["region"], strict=True)
    ]
    csv.write_csv(pa.table(table), "people.csv")
    domain = {"work": WORK, "region": ["north", "south", "east"]}
    zeros = [{"region": "north", "work": ["part", "full"]}]
    found = rr.protect("people.csv", "work", 1, categories=domain, impossible=zeros, by="region", warn=quiet)
    strata = dict(found.release.columns[0].strata)
    assert strata["north",].privacy_ratio == 1
    assert len(strata["east",].inputs) == 3
    after = read("people.protected.csv")
    assert {one["work"] for one in after if one["region"] == "north"} == {"none"}
    plan = rr.release.load_release("people.protected.designs/RELEASE.toml").release
    estimate = rr.release.estimate_file("people.protected.csv", {"work": plan.columns[0]})
    north = sum(region == "north" for region in table["region"])
    assert estimate.categories == WORK
    assert estimate.values.sum() == pytest.approx(1)
    assert (
        rr.release.estimate_file("people.protected.csv", {"work": plan.columns[0]}, where={"region": "north"}).n
        == north
    )


def test_strata_are_pooled_as_numpy_pools_them() -> None:
    """Twelve strata of seven categories, each with an impossible one: sum over strata of n_s / n L_s f_s."""
    draw, n = np.random.default_rng(3), 6000
    labels = [f"c{at}" for at in range(7)]
    region, age = draw.integers(4, size=n), draw.integers(3, size=n)
    value = (3 * region + age + 1 + draw.integers(6, size=n)) % 7
    table = {"region": region.astype(str), "age": age.astype(str), "x": [labels[at] for at in value]}
    csv.write_csv(pa.table(table), "people.csv")
    zeros = [
        {"region": str(r), "age": str(a), "x": labels[(3 * r + a) % 7]}
        for r, a in itertools.product(range(4), range(3))
    ]
    rr.protect("people.csv", "x", 1, categories={"x": labels}, impossible=zeros, by=["region", "age"], warn=quiet)
    (column,) = rr.release.load_release("people.protected.designs/RELEASE.toml").release.columns
    assert len(column.strata) == 12
    released = csv.read_csv(
        "people.protected.csv", convert_options=csv.ConvertOptions(column_types=dict.fromkeys(table, pa.string()))
    ).to_pylist()
    pooled = np.zeros(7)
    for stratum, mechanism in column.strata:
        answers = [one["x"] for one in released if (one["region"], one["age"]) == stratum]
        q = mechanism.matrix
        weights = np.diag(1 / q.mean(axis=0))
        estimator = np.linalg.solve(q @ weights @ q.T, q @ weights)
        shares = np.array([answers.count(label) for label in mechanism.outputs]) / n
        pooled[[labels.index(label) for label in mechanism.inputs]] += estimator @ shares
    found = rr.release.estimate_file("people.protected.csv", {"x": column})
    order = [found.categories.index(label) for label in labels]
    assert np.abs(found.values[order] - pooled).max() < 1e-12


def test_records_without_the_condition_are_indicators_in_scores() -> None:
    rr.protect("people.csv", "diet", 1, categories=DOMAIN, where=["age>=15", "sex=f"], warn=quiet)
    plan = rr.release.load_release("people.protected.designs/RELEASE.toml").release
    scored = rr.release.score_file("people.protected.csv", {"diet": plan.columns[0]}, "scored.csv")
    assert "records without age >= 15 and sex = f were not randomised" in scored.notes[-1]
    before = read("people.csv")
    inside = 0
    for old, new in zip(before, read("scored.csv"), strict=True):
        scores = [float(new[f"diet={label}"]) for label in DIET]
        assert sum(scores) == pytest.approx(1)
        if int(old["age"]) >= 15 and old["sex"] == "f":
            inside += 1
            assert max(scores) > 1
        else:
            assert scores == [float(label == old["diet"]) for label in DIET]
    shares = rr.release.estimate_table("people.protected.csv", {"diet": plan.columns[0]}, ("diet", "region"))
    assert shares.n == inside


@pytest.mark.parametrize("other", [[], ["age>=20"], ["sex=m"]])
def test_other_records_of_a_column_are_another_release_of_it(other: list[str]) -> None:
    """Each of two releases shows what the other one protects: refused, and infinite where it is forced."""
    rr.protect("people.csv", "diet", 1, categories=DOMAIN, where="age>=15", output="one.csv", warn=quiet)
    again: dict[str, Any] = {"categories": DOMAIN, "where": other, "output": "two.csv", "warn": quiet}
    with pytest.raises(InputError, match="'diet' was randomised on"):
        rr.protect("people.csv", "diet", 1, **again)
    assert not Path("two.designs").exists()
    rr.protect("people.csv", "diet", 1, force=True, **again)
    assert Account.load(Path("people.csv.accountant")).most.odds is None


CONDITIONS: dict[str, tuple[Callable[[int], bool], str]] = {
    "n>=15": (lambda n: n >= 15, "n"),
    "n < 15.5": (lambda n: n < 15.5, "n"),
    "n != 15": (lambda n: n != 15, "n"),
    "n=15": (lambda n: n == 15, "n"),
    "day > 2020-01-15": (lambda n: n > 15, "day"),
}


@pytest.mark.parametrize("text", CONDITIONS)
@pytest.mark.parametrize("kind", ["csv", "parquet", "float", "dictionary", "frame"])
def test_a_condition_means_the_same_in_every_format(text: str, kind: str) -> None:
    holds, _ = CONDITIONS[text]
    numbers = [n % 31 + 1 for n in range(93)]
    import datetime

    days = pa.array([datetime.date(2020, 1, n) for n in numbers])
    column: Any = pa.array(numbers, pa.float64() if kind == "float" else pa.int64())
    column = column.dictionary_encode() if kind == "dictionary" else column
    table = pa.table({"n": column, "day": days, "x": pa.array(["a", "b", "b"] * 31)})
    domain = {"x": ["a", "b", "c"]}
    options: dict[str, Any] = {"categories": domain, "where": text}
    if kind == "csv":
        csv.write_csv(table, "data.csv")
    elif kind != "frame":
        parquet.write_table(table, "data.parquet")
    data: Any = table if kind == "frame" else "data.csv" if kind == "csv" else "data.parquet"
    found = rr.protect(data, "x", "1e-3", warn=quiet, **options)
    assert found.records == sum(map(holds, numbers))
    made = found.table
    if kind != "frame":
        made = csv.read_csv("data.protected.csv") if kind == "csv" else parquet.read_table("data.protected.parquet")
    kept = [old == new for old, new in zip(table["x"].to_pylist(), made["x"].to_pylist(), strict=True)]
    assert all(same for n, same in zip(numbers, kept, strict=True) if not holds(n))
    # A third of the answers is the truth by chance: of 93 records some are not.
    assert not all(same for n, same in zip(numbers, kept, strict=True) if holds(n)) or text == "n=15"


def test_a_dry_run_draws_nothing_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def drawn(*_: object) -> bytes:
        raise AssertionError("a random word was drawn")

    Path("domain.toml").write_text('[categories]\nwork = ["none", "part", "full"]\nhome = ["flat", "house"]\n')
    before = {one: one.stat().st_mtime_ns for one in Path().iterdir()}
    monkeypatch.setattr(os, "urandom", drawn)
    monkeypatch.setattr("rropt.release.run.secure_bytes", drawn)
    common = ["--epsilon", "2", "--categories", "domain.toml", "--dry-run", "--json"]
    assert cli.main(["protect", "people.csv", "--columns", "work,home", *common]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["preview"]["epsilon_before"], said["preview"]["epsilon_after"]) == ("0", "2")
    assert said["preview"]["unprotected"] == ["id", "age", "sex", "region", "diet", "noise"]
    assert set(said["expected"]["shares"]) == {"work", "home"}
    rr.RandomizedResponse(WORK, epsilon=1).to_mechanism().save("work.json")
    assert cli.main(["apply", "work.json", "people.csv", "--column", "work", "--dry-run", "--json"]) == 0
    applied = json.loads(capsys.readouterr().out)
    assert not applied["drawn"]
    response = rr.RandomizedResponse(WORK, epsilon=1).to_mechanism()
    _, expected = variances_by_definition({"work": response}, True, ["work"], 240)
    assert applied["expected"]["shares"]["work"] == pytest.approx(expected, rel=1e-6)
    Path("work.json").unlink()
    assert {one: one.stat().st_mtime_ns for one in Path().iterdir()} == before
    monkeypatch.undo()


def test_public_counts_give_other_designs_and_stay_out_of_the_manifest() -> None:
    """A public table of records, or of counts; a category that it does not have counts once."""
    public = pa.table({"diet": ["meat", "fish", "all"], "count": [900, 60, 40]})
    csv.write_csv(public, "public.csv")
    options: dict[str, Any] = {"categories": DOMAIN, "dry_run": True}
    equal = rr.protect("people.csv", ["diet", "work"], 2, **options)
    found = rr.protect("people.csv", ["diet", "work"], 2, public_counts="public.csv", **options)
    assert found.release.learned == ()
    assert any("does not have work" in line for line in found.advice)
    diet = found.release.columns[0].strata[0][1]
    prior = rr.Prior.from_counts({"meat": 900, "fish": 60, "plants": 1, "all": 40})
    risk = rr.MinimaxRisk(prior)
    assert float(risk.value(diet).upper) < float(risk.value(equal.release.columns[0].strata[0][1]).upper) * 0.999
    assert found.release.columns[1].strata == equal.release.columns[1].strata
    records = pa.table({"diet": ["meat"] * 900 + ["fish"] * 60 + ["all"] * 40})
    parquet.write_table(records, "public.parquet")
    same = rr.protect("people.csv", ["diet", "work"], 2, public_counts="public.parquet", **options)
    assert same.release == found.release


REVEALS = {
    "numbers": lambda codes: pa.array(codes),
    "floats": lambda codes: pa.array([code / 4 for code in codes]),
    "dates": lambda codes: pa.array(np.array(codes, dtype="datetime64[D]")),
    "text": lambda codes: pa.array([f"code {code}" for code in codes]),
}


@pytest.mark.parametrize("kind", REVEALS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_that_reveals_a_protected_one_is_told_before_the_draw(kind: str, suffix: str) -> None:
    table = people()
    codes = [DIET.index(one) for one in table["diet"]]
    whole = pa.table(table).append_column("code", REVEALS[kind](codes))
    name = f"data.{suffix}"
    (csv.write_csv if suffix == "csv" else parquet.write_table)(whole, name)
    found = rr.protect(name, "diet", 1, categories=DOMAIN, dry_run=True)
    assert found.preview is not None
    (line,) = [one for one in found.preview.cautions if "'code'" in one]
    assert "'code' is released unchanged and determines" in line
    assert "100 % of the records" in line
    dropped = rr.protect(name, "diet", 1, categories=DOMAIN, drop="code", dry_run=True)
    assert dropped.preview is not None
    assert not any("'code'" in one for one in dropped.preview.cautions)


TOML = '[categories]\nwork = ["none", "part", "full"]\nhome = ["flat", "house"]\n'
MISTAKES: dict[str, tuple[list[str], str]] = {
    "a category that occurs only in the data": (["--columns", "home", "--categories", "few.toml"], "'house'"),
    "no categories": (["--columns", "diet", "--categories", "all.toml"], "the categories of 'diet' are not declared"),
    "a missing column": (["--columns", "wurk", "--categories", "all.toml"], "'wurk'"),
    "a missing stratum": (["--columns", "work", "--by", "regon", "--categories", "all.toml"], "'regon'"),
    "a column twice": (["--columns", "work,work", "--categories", "all.toml"], "is named twice"),
    "its own stratum": (["--columns", "work", "--by", "work", "--categories", "all.toml"], "is named twice"),
    "no epsilon": (["--columns", "work", "--categories", "all.toml", "--epsilon", "0"], "not above zero"),
    "no protection": (["--columns", "work", "--categories", "all.toml", "--epsilon", "1e9"], "above 200"),
    "a joint column that is not protected": (
        ["--columns", "work", "--joint", "work,home", "--categories", "all.toml"],
        "'home' is not protected",
    ),
    "no condition": (["--columns", "work", "--where", "age", "--categories", "all.toml"], "is not a condition"),
    "an order of text": (["--columns", "work", "--where", "sex>=f", "--categories", "all.toml"], "neither a number"),
    "a condition on a protected column": (
        ["--columns", "work", "--where", "work=none", "--categories", "all.toml"],
        "is not released unchanged",
    ),
    "nobody": (["--columns", "work", "--where", "age>=200", "--categories", "all.toml"], "no record has age >= 200"),
    "a stratum that is not declared": (
        ["--columns", "work", "--by", "region", "--categories", "north.toml"],
        "region=south, which is not declared",
    ),
    "nothing possible": (["--columns", "home", "--by", "sex", "--categories", "zeros.toml"], "no category of home"),
    "the data as a public table": (
        ["--columns", "work", "--categories", "people.csv"],
        "these are the data themselves",
    ),
    "an unknown key": (["--columns", "work", "--categories", "odd.toml"], "unknown key 'categorys'"),
    "an epsilon too small": (
        ["--columns", "work", "--categories", "all.toml", "--epsilon", "1e-12"],
        "do not distinguish the frequencies of",
    ),
    "an epsilon nearly too small": (
        ["--columns", "work", "--categories", "all.toml", "--epsilon", "1e-9"],
        "hardly distinguish",
    ),
    "too much for counts": (
        ["--columns", "work", "--categories", "all.toml", "--public-epsilon", "3"],
        "not between 0 and epsilon",
    ),
    "a null that is no category": (
        ["--columns", "work", "--categories", "all.toml", "--null", "?"],
        "is a category of no",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_every_mistake_is_one_line_and_draws_nothing(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("all.toml").write_text(TOML)
    Path("few.toml").write_text('[categories]\nhome = ["flat", "tent"]\n')
    Path("north.toml").write_text(TOML + 'region = ["north", "east"]\n')
    Path("zeros.toml").write_text(TOML + '[[impossible]]\nsex = "f"\nhome = ["flat", "house"]\n')
    Path("odd.toml").write_text('[categorys]\nhome = ["flat", "tent"]\n')
    there = set(Path().iterdir())
    arguments, said = MISTAKES[name]
    epsilon = [] if "--epsilon" in arguments else ["--epsilon", "2"]
    assert cli.main(["protect", "people.csv", *arguments, *epsilon]) == 2
    out, error = capfd.readouterr()
    lines = [line for line in error.splitlines() if "warning" not in line]
    assert out == ""
    assert len(lines) == 1
    assert said in lines[0]
    assert set(Path().iterdir()) == there


def test_places_that_cannot_be_written_are_named_and_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """Missing folders are made; a file is not a folder; an empty name is none; designs of another release stay."""
    Path("all.toml").write_text(TOML)
    call = ["protect", "people.csv", "--columns", "work", "--epsilon", "1", "--categories", "all.toml"]
    there = set(Path().iterdir())
    for out, said in (
        ("all.toml/x.csv", "cannot write (Not a directory)"),
        ("", "no file is named"),
        ("x.png", "suffix"),
    ):
        assert cli.main([*call, "-o", out]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
        assert set(Path().iterdir()) == there
    assert cli.main([*call, "-o", "new/place/x.csv"]) == 0
    assert Path("new/place/x.designs/RELEASE.toml").is_file()
    capsys.readouterr()
    again = [*call[:4], "--epsilon", "2", *call[6:], "--force", "-o", "new/place/x.csv"]
    before = Path("new/place/x.csv").read_bytes()
    assert cli.main([*again]) == 2
    assert "it has the designs of another release" in capsys.readouterr().err
    assert Path("new/place/x.csv").read_bytes() == before
    assert cli.main([*again, "--designs", "other"]) == 0


def test_a_missing_value_of_a_condition_is_an_error_that_counts_it() -> None:
    table = people()
    table["age"][3] = table["age"][7] = None
    csv.write_csv(pa.table(table), "people.csv")
    with pytest.raises(InputError, match="2 records without a value, so that 'age >= 15'"):
        rr.protect("people.csv", "diet", 1, categories=DOMAIN, where="age>=15")
