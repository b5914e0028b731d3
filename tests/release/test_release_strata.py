"""Estimates hold each released column against its manifest: the mechanism of its stratum, in a file or a folder."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

RACES = ["White", "Black", "Other"]
STRICT, LOOSE = (rr.RandomizedResponse(RACES, epsilon=level).to_mechanism() for level in (1, 3))
SHARES = {"Male": (0.9, 0.05, 0.05), "Female": (0.5, 0.3, 0.2)}
N = {"Male": 40_000, "Female": 20_000}
TRUE = np.array([sum(N[s] * SHARES[s][x] for s in N) / 60_000 for x in range(3)])
PLAN = """
schema = 1
data = "people.csv"
output = "safe.csv"
%s
[[column]]
name = "race"
by = "sex"
mechanisms = { Male = "male.json", Female = "female.json" }
%s
"""


def respondents(seed: int = 1) -> Any:
    draw = np.random.default_rng(seed)
    sex = [name for name, n in N.items() for _ in range(n)]
    race = [RACES[x] for name, n in N.items() for x in draw.choice(3, n, p=SHARES[name]).tolist()]
    order = draw.permutation(len(sex)).tolist()
    return pa.table({"sex": [sex[at] for at in order], "race": [race[at] for at in order]})


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    STRICT.save("male.json")
    LOOSE.save("female.json")
    csv.write_csv(respondents(), "people.csv")


def release(top: str = "", column: str = "") -> None:
    Path("plan.toml").write_text(PLAN % (top, column), encoding="utf-8")
    assert cli.main(["apply", "plan.toml", "--unidentified"]) == 0


def near(told: dict[str, Any], truth: Any) -> bool:
    """Six standard errors: wrong once in 10^8 runs."""
    return bool((np.abs(np.array(told["estimate"]) - truth) < 6 * np.array(told["standard_error"])).all())


def test_the_mechanism_of_one_stratum_is_refused_with_the_command_that_is_right(
    capfd: pytest.CaptureFixture[str],
) -> None:
    release()
    capfd.readouterr()
    for name, sex in (("male.json", "Male"), ("female.json", "Female")):
        assert cli.main(["estimate", name, "safe.csv", "--column", "race"]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert f"this is that of sex={sex}, not of all its strata" in err
        command = shlex.split(err.partition("write: ")[2].partition(";")[0])
        assert command[0] == "rropt"
        assert cli.main([*command[1:], "--json"]) == 0
        told = json.loads(capfd.readouterr().out)
        assert near(told, SHARES[sex])
        assert told["warnings"] == []
        assert told["n"] == N[sex]
    other = ["estimate", "male.json", "safe.csv", "--column", "race", "--where", "sex=Female"]
    assert cli.main(other) == 2
    assert "this is that of sex=Male, not of sex=Female" in capfd.readouterr().err
    rr.RandomizedResponse(RACES, epsilon=2).to_mechanism().save("none.json")
    assert cli.main(["estimate", "none.json", "safe.csv", "--column", "race"]) == 2
    assert "released by another mechanism" in capfd.readouterr().err


def test_the_plan_pools_all_strata_or_picks_one(capfd: pytest.CaptureFixture[str]) -> None:
    release()
    capfd.readouterr()
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "race", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert near(told, TRUE)
    assert told["n"] == 60_000
    both = {"Male": STRICT, "Female": LOOSE}
    for method in ("unbiased", "minimax", "moments", "mle", "projected", "clipped"):
        assert near(rr.release.estimate_file("safe.csv", {"race": both}, method=method).to_dict(), TRUE)
    picked = rr.release.estimate_file("safe.csv", {"race": both}, where={"sex": "Male"})
    alone = rr.release.estimate_file("safe.csv", {"race": STRICT}, where={"sex": "Male"})
    assert picked.values.tolist() == alone.values.tolist()
    # The stratum's own estimates, weighted by its size, are the pooled ones.
    other = rr.release.estimate_file("safe.csv", {"race": LOOSE}, where={"sex": "Female"})
    pooled = rr.release.estimate_file("safe.csv", {"race": both})
    np.testing.assert_allclose(pooled.values, (2 * picked.values + other.values) / 3, rtol=1e-12)
    within = (4 * picked.variances + other.variances) / 9
    between = 2 / 9 * (picked.values - other.values) ** 2 / 60_000
    np.testing.assert_allclose(pooled.variances, within + between, rtol=1e-4)
    with pytest.raises(InputError, match="counts cannot be added"):
        rr.release.counts_of("safe.csv", "race", both)
    assert rr.release.counts_of("safe.csv", "race", both, where={"sex": "Male"}).sum() == 40_000


MIDDLE = rr.RandomizedResponse(RACES, epsilon=2).to_mechanism()
WRONG = (
    {"Male": LOOSE, "Female": STRICT},
    {"Male": MIDDLE, "Female": LOOSE},
    {"Male": STRICT, "Female": MIDDLE},
    {"Male": STRICT, "Female": STRICT},
    {"Male": STRICT},
    {"Male": STRICT, "Female": LOOSE, "Other": LOOSE},
)


def test_each_stratum_is_held_to_its_own_mechanism() -> None:
    """In a map of mechanisms too, however the release is read, and in every stratum that is read."""
    both = {"Male": STRICT, "Female": LOOSE}
    few = respondents().slice(0, 600)
    csv.write_csv(few, "few.csv")
    rr.release.release_file("few.csv", rr.release.ProtectedColumn("race", both, by="sex"), "safe.csv")
    readers = (
        lambda given, **where: rr.release.estimate_file("safe.csv", {"race": given}, **where).n,
        lambda given, **where: rr.release.counts_of("safe.csv", "race", given, **where).sum(),
        lambda given, **where: rr.release.table_of("safe.csv", {"race": given}, **where).sum(),
    )
    refused = "another mechanism in sex=|no mechanism is given for sex=|sex=Other is not a stratum of it"
    for made in WRONG:
        for given, read in itertools.product((made, rr.release.ProtectedColumn("race", made, by="sex")), readers):
            for where in ({}, {"where": {"sex": "Male"}}, {"where": {"sex": "Female"}}):
                sex = where.get("where", {}).get("sex")
                if sex and made.get(sex) is both[sex] and len(made) <= len(both):
                    assert read(given, **where) == few["sex"].to_pylist().count(sex)
                else:
                    with pytest.raises(InputError, match=refused):
                        read(given, **where)


def test_strata_of_one_mechanism_pool_to_what_it_estimates_alone() -> None:
    column = rr.release.ProtectedColumn("race", dict.fromkeys(N, STRICT), by="sex")
    rr.release.release_file("people.csv", column, "safe.csv")
    alone = rr.release.estimate_file("safe.csv", {"race": STRICT})
    Path("safe.csv.manifest.json").unlink()
    pooled = rr.release.estimate_file("safe.csv", {"race": column})
    np.testing.assert_allclose(pooled.values, alone.values, rtol=1e-12)
    # Errors are taken near the estimate of each stratum, with two more answers there.
    np.testing.assert_allclose(pooled.covariance, alone.covariance, rtol=20 / alone.n)
    np.testing.assert_allclose(pooled.intervals(), alone.intervals(), rtol=1e-9)


def test_missing_strata_are_read_as_the_release_read_them() -> None:
    rows = respondents().to_pylist()
    sexes = [None if at % 10 == 0 and row["sex"] == "Female" else row["sex"] for at, row in enumerate(rows)]
    parquet.write_table(pa.table({"sex": sexes, "race": [row["race"] for row in rows]}), "p.parquet")
    both = {"Male": STRICT, "Female": LOOSE}
    rr.release.release_file(
        "p.parquet", rr.release.ProtectedColumn("race", both, by="sex", null={"sex": "Female"}), "o.parquet"
    )
    assert near(rr.release.estimate_file("o.parquet", {"race": both}).to_dict(), TRUE)
    assert rr.release.estimate_file("o.parquet", {"race": LOOSE}, where={"sex": "Female"}).n == 20_000


def test_records_that_count_as_a_stratum_without_its_value_are_told(capfd: pytest.CaptureFixture[str]) -> None:
    lines = ["Male,White"] * 40 + [",Black"] * 20 + ["Female,Other"] * 30 + ["?,White"]
    Path("people.csv").write_text("\n".join(["sex,race", *lines, ""]), encoding="utf-8")
    release(column='null = { sex = "Female" }\nother = { sex = "Female" }')
    both = {"Male": STRICT, "Female": LOOSE}
    told = "of 51 records 20 have no 'sex' and were drawn with the mechanism of 'Female'"
    found = rr.release.estimate_file("safe.csv", {"race": both}, where={"sex": "Female"})
    assert found.n == 51
    assert told in found.notes
    assert "of 51 records 1 has another 'sex' and was drawn with the mechanism of 'Female'" in found.notes
    # By the release file without a manifest, too.
    Path("safe.csv.manifest.json").unlink()
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "race", "--where", "sex=Female"]) == 0
    assert f"rropt: note: {told}" in capfd.readouterr().err
    # Of all records together, and where each has its value, there is nothing to say.
    for where in ({}, {"sex": "Male"}):
        plan = rr.release.load_release("plan.toml").release.columns[0]
        assert "mechanism of" not in str(rr.release.estimate_file("safe.csv", {"race": plan}, where=where).notes)


def test_strata_that_are_not_in_the_release_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    release('drop = ["sex"]')
    for name in ("plan.toml", "male.json"):
        assert cli.main(["estimate", name, "safe.csv", "--column", "race"]) == 2
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "race", "--where", "sex=Male"]) == 2
    assert "true values are not in the release" in capfd.readouterr().err


def test_two_columns_by_the_same_strata_are_estimated_jointly() -> None:
    both = {"Male": STRICT, "Female": LOOSE}
    table = respondents().append_column("again", respondents()["race"])
    parquet.write_table(table, "p.parquet")
    plan = rr.release.Release(
        [rr.release.ProtectedColumn("race", both, by="sex"), rr.release.ProtectedColumn("again", LOOSE)]
    )
    rr.release.release_file("p.parquet", plan, "o.parquet")
    found = rr.release.estimate_file("o.parquet", {"race": both, "again": LOOSE})
    assert near(found.to_dict(), np.diag(TRUE).ravel())


def test_columns_that_were_not_released_by_themselves(capfd: pytest.CaptureFixture[str]) -> None:
    cross = rr.release.CrossClassification({"sex": list(N), "race": RACES})
    joint = rr.RandomizedResponse(cross.labels, epsilon=2).to_mechanism()
    joint.save("joint.json")
    rr.release.release_file("people.csv", rr.release.ProtectedColumn(["sex", "race"], joint), "safe.csv")
    assert cli.main(["estimate", "male.json", "safe.csv", "--column", "race"]) == 2
    assert "write: --column sex --column race" in capfd.readouterr().err
    assert cli.main(["estimate", "joint.json", "safe.csv", "--column", "sex", "--column", "race"]) == 0
    rr.release.release_file("people.csv", rr.release.ProtectedColumn("race", STRICT), "one.csv", force=True)
    rr.RandomizedResponse(list(N), epsilon=1).to_mechanism().save("sex.json")
    assert cli.main(["estimate", "sex.json", "one.csv", "--column", "sex"]) == 2
    assert "'sex' was released unchanged, not by a mechanism" in capfd.readouterr().err


def test_without_a_manifest_it_works_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    rr.release.release_file("people.csv", rr.release.ProtectedColumn("race", STRICT), "safe.csv")
    command = ["estimate", "male.json", "safe.csv", "--column", "race", "--json"]
    assert cli.main(command) == 0
    out, err = capfd.readouterr()
    assert (json.loads(out)["notes"], err) == ([], "")
    Path("safe.csv.manifest.json").unlink()
    assert cli.main(command) == 0
    again, err = capfd.readouterr()
    assert json.loads(again)["estimate"] == json.loads(out)["estimate"]
    assert "it has no manifest: rropt assumes that this mechanism randomised the column" in err


def test_a_folder_that_was_released_is_read_as_one_file(capfd: pytest.CaptureFixture[str]) -> None:
    for at in range(3):
        Path("parts/deep").mkdir(parents=True, exist_ok=True)
        parquet.write_table(respondents(at), f"parts/{'deep/' if at == 2 else ''}{at}.parquet")
    assert cli.main(["apply", "male.json", "parts", "--column", "race", "-o", "safe"]) == 0
    capfd.readouterr()
    assert cli.main(["estimate", "male.json", "safe", "--column", "race", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert near(told, TRUE)
    assert told["n"] == 180_000
    counts = [rr.release.counts_of(path, "race", STRICT) for path in sorted(Path("safe").rglob("*.parquet"))]
    assert rr.release.counts_of("safe", "race", STRICT).tolist() == sum(counts).tolist()
    assert cli.main(["estimate", "female.json", "safe", "--column", "race"]) == 2
    assert "released by another mechanism" in capfd.readouterr().err
    Path("safe/1.parquet.manifest.json").unlink()
    assert cli.main(["estimate", "male.json", "safe", "--column", "race"]) == 2
    assert "files without a manifest: 1 of 3, as 1.parquet" in capfd.readouterr().err
    Path("empty").mkdir()
    assert cli.main(["estimate", "male.json", "empty", "--column", "race"]) == 2


@pytest.mark.parametrize("where", ["sex", "=Male", "sex=Male sex=Female"])
def test_bad_values_to_pick(where: str, capfd: pytest.CaptureFixture[str]) -> None:
    release()
    options = [word for one in where.split() for word in ("--where", one)]
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "race", *options]) == 2
    assert "is not of the form COLUMN=VALUE" in capfd.readouterr().err
