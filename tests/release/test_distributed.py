"""A release in three steps: charged once, drawn batch by batch by a pure function, committed."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.parquet as pq

import rropt as rr
from rropt.cli.main import main
from rropt.errors import AboveCeiling, Conflict, InputError, Missing, OutOfRange, ReleasedBefore, WrongType
from rropt.release import CrossClassification, ProtectedColumn, Release, load_release, plan_release

ABC = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["accountant", "init", "kept", "--ceiling", "5"]) == 0
    capsys.readouterr()


def krr(labels: list[str], epsilon: float) -> rr.Mechanism:
    return rr.RandomizedResponse(labels, epsilon=epsilon).to_mechanism()


def people(count: int = 600) -> Any:
    draw = np.random.default_rng(2)
    return pa.table(
        {
            "person": [f"p{at}" for at in range(count)],
            "x": draw.choice(ABC, count).tolist(),
            "s": draw.choice(["m", "f"], count).tolist(),
            "t": draw.choice(["1", "2", None], count).tolist(),
            "region": draw.choice(["north", "south"], count).tolist(),
            "age": draw.integers(0, 90, count).tolist(),
        }
    )


def everything() -> Release:
    """By strata, two columns jointly, missing values, and some of the records."""
    joint = CrossClassification({"s": ["m", "f"], "t": ["1", "2"]})
    strata = {"north": krr(ABC, 1), "south": krr(ABC, 2)}
    return Release(
        [
            ProtectedColumn("x", strata, by="region", where="age>=15"),
            ProtectedColumn(("s", "t"), krr(list(joint.labels), 2), null={"t": "1"}, where="age>=15"),
        ],
    )


def planned(release: Any = None, output: str = "safe", **options: Any) -> Any:
    given = ProtectedColumn("x", krr(ABC, 1)) if release is None else release
    given = {"release": given, "identity": "person", "accountant": "kept", "warn": lambda _: None, **options}
    return plan_release(people().schema, output=output, **given)


def recorded() -> list[dict[str, Any]]:
    from rropt.release.accountant import PrivacyAccountant

    with PrivacyAccountant(None, Path("kept"), "") as kept:
        return [entry.content | {"finished": entry.finished} for entry in kept.earlier]


def test_a_batch_is_protected_alike_however_and_wherever_it_is_cut() -> None:
    plan = planned(everything())
    table = people()
    whole = pa.Table.from_batches(map(plan.protect, table.to_batches()))
    for size in (1, 7, 600):
        parts = [plan.protect(one) for one in table.to_batches(max_chunksize=size)]
        assert pa.Table.from_batches(parts).equals(whole)
    order = np.random.default_rng(0).permutation(600)
    shuffled = pa.Table.from_batches(map(plan.protect, table.take(order).combine_chunks().to_batches()))
    assert shuffled.equals(whole.take(order).combine_chunks())
    code = "import pickle, sys; protect, batch = pickle.load(sys.stdin.buffer)\n"
    code += "sys.stdout.buffer.write(pickle.dumps(protect(batch)))"
    given = pickle.dumps((plan.protect, table.to_batches()[0]))
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, timeout=120, check=True)
    assert pickle.loads(done.stdout).equals(whole.to_batches()[0])
    # Records that are not protected keep their values, and other columns stay.
    young = np.array(table["age"].to_pylist()) < 15
    assert [x for x, y in zip(whole["x"].to_pylist(), young, strict=True) if y] == [
        x for x, y in zip(table["x"].to_pylist(), young, strict=True) if y
    ]
    assert whole["region"].equals(table["region"])
    assert whole["x"].to_pylist() != table["x"].to_pylist()


def test_answers_have_the_probabilities_of_the_mechanism() -> None:
    """Chi-square at the level 1e-6, and another plan draws independently."""
    from scipy import stats

    count = 30_000
    table = pa.table({"person": np.arange(count), "x": ["a"] * count})
    drawn = []
    for output in ("one", "two"):
        design = ProtectedColumn("x", krr(ABC, 1))
        options = {"identity": "person", "accountant": "kept", "force": True, "warn": lambda _: None}
        plan = plan_release(table.schema, design, output, **options)
        drawn.append(plan.protect(table.to_batches()[0])["x"].to_pylist())
    row = [float(p) for p in krr(ABC, 1).matrix[0]]
    for one in drawn:
        seen = Counter(one)
        assert stats.chisquare([seen[x] for x in ABC], [count * p for p in row]).pvalue > 1e-6
    pairs = Counter(zip(*drawn, strict=True))
    expected = [count * p * q for p in row for q in row]
    assert stats.chisquare([pairs[x, y] for x in ABC for y in ABC], expected).pvalue > 1e-6


def test_a_release_is_charged_once_and_committed_once() -> None:
    plan = planned()
    (entry,) = recorded()
    assert (entry["output"], entry["finished"]) == ("safe", False)
    protected = [plan.protect(one) for one in people().to_batches(max_chunksize=100)]
    again = pickle.loads(pickle.dumps(plan))
    assert len(recorded()) == 1
    made = again.commit(sum(one.num_rows for one in protected))
    assert again.commit(600) == made == Path("safe.manifest.json")
    assert [one["finished"] for one in recorded()] == [True]
    content = json.loads(made.read_text(encoding="utf-8"))
    assert (content["rows"], content["epsilon"]) == (600, plan.manifest["epsilon"])
    pq.write_table(pa.Table.from_batches(protected), "safe.parquet")
    shares = rr.release.estimate_file("safe.parquet", {"x": krr(ABC, 1)})
    read = load_release(made).release.columns[0]
    assert np.array_equal(rr.release.estimate_file("safe.parquet", {"x": read}).values, shares.values)


def test_what_is_refused_charges_nothing() -> None:
    first = planned()
    with pytest.raises(InputError, match="interrupted"):
        planned(output="other")
    plan = planned(force=True, output="other")
    for one in (first, plan):
        one.commit(0)
    with pytest.raises(ReleasedBefore):
        planned(output="third")
    with pytest.raises(AboveCeiling):
        planned(ProtectedColumn("s", krr(["m", "f"], 4)), output="third", force=True)
    with pytest.raises(Conflict):
        planned(ProtectedColumn("person", krr(ABC, 1)), output="third")
    constant = rr.Mechanism.from_matrix([[1]] * 3, inputs=ABC, outputs=["z"])
    with pytest.raises(InputError, match="frequencies"):
        planned(ProtectedColumn("x", constant), output="third", population="others")
    with pytest.raises(InputError, match="no column"):
        planned(identity="name")
    with pytest.raises(InputError, match="no such accountant"):
        planned(accountant="lost")
    with pytest.raises(WrongType):
        plan_release(["x"], ProtectedColumn("x", krr(ABC, 1)), "o", identity="person", accountant="kept")
    with pytest.raises(OutOfRange):
        plan.commit(-1)
    assert len(recorded()) == 2


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda t: t.set_column(1, "x", pa.array(["z"] * 600)), InputError),
        (lambda t: t.set_column(1, "x", pa.array([None] * 600, pa.string())), InputError),
        (lambda t: t.set_column(0, "person", pa.array([None] * 600, pa.string())), Missing),
        (lambda t: t.drop_columns(["age"]), Conflict),
        (lambda t: t.set_column(5, "age", pa.array(["1"] * 600)), Conflict),
    ],
)
def test_a_batch_that_does_not_fit_is_one_clear_line(change: Any, error: type[Exception]) -> None:
    plan = planned()
    (batch,) = change(people()).to_batches()
    with pytest.raises(error) as caught:
        plan.protect(batch)
    assert "\n" not in str(caught.value)
    with pytest.raises(WrongType):
        plan.protect(people())


def test_dask_protects_each_partition() -> None:
    dd = pytest.importorskip("dask.dataframe")
    plan = planned()
    table = people()

    def protected(part: Any) -> Any:
        return plan.protect(pa.RecordBatch.from_pandas(part, schema=table.schema, preserve_index=False)).to_pandas()

    parts = dd.from_pandas(table.to_pandas(), npartitions=5, sort=False)
    made = parts.map_partitions(protected, meta=plan.schema.empty_table().to_pandas())
    made.to_parquet("safe", write_index=False)
    expected = plan.protect(table.combine_chunks().to_batches()[0]).to_pandas()
    found = pq.read_table("safe").to_pandas().set_index("person").loc[expected["person"]].reset_index()
    assert found["x"].tolist() == expected["x"].tolist()
    assert plan.commit(len(found)).is_file()


def test_duckdb_streams_batches_in_and_out() -> None:
    duckdb = pytest.importorskip("duckdb")
    pq.write_table(people(), "in.parquet")
    chosen = duckdb.sql("SELECT * FROM 'in.parquet' WHERE age >= 18")
    # The name before version 1.4.
    source = (getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch)(128)
    plan = planned()
    rows = 0
    with pq.ParquetWriter("safe.parquet", plan.schema) as sink:
        for batch in source:
            sink.write_batch(plan.protect(batch))
            rows += batch.num_rows
    plan.commit(rows)
    adults = [age for age in people()["age"].to_pylist() if age >= 18]
    assert duckdb.sql("SELECT count(*), sum(age) FROM 'safe.parquet'").fetchall() == [(len(adults), sum(adults))]
    assert rows == len(adults)
