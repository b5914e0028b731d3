"""What should be known before a draw is told before it, and nothing of it is written."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawing import graded, thinned
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt import __main__ as cli

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
cautions = pytest.importorskip("rropt.release.tables.cautions")

LEVELS = ["primary", "secondary", "tertiary"]
DESIGN = rr.RandomizedResponse(LEVELS, epsilon=1).to_mechanism()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    level, noise = draw.integers(3, size=4000), draw.integers(5, size=4000)
    half = np.where(draw.random(4000) < 0.5, level, draw.integers(3, size=4000))
    made = {
        "id": [str(at) for at in range(4000)],
        "level": [LEVELS[x] for x in level.tolist()],
        "number": level + 7,
        "noise": noise,
        "half": half,
        "other": [LEVELS[x] for x in noise.clip(0, 2).tolist()],
    }
    csv.write_csv(pa.table(made), "people.csv")
    DESIGN.save("m.json")


def test_a_column_that_determines_a_protected_one_is_named_with_its_bits(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["apply", "m.json", "people.csv", "--column", "level", "--json"]) == 0
    out, err = capfd.readouterr()
    (line,) = [one for one in err.splitlines() if "warning" in one]
    assert "'number' is released unchanged and determines 1.58 of the 1.58 bits of 'level'" in line
    assert "determines it in 100 % of the records" in line
    # Bits and shares are of the true values: the manifest must not hold them.
    assert "1.58" not in out
    assert "bits" not in Path("people.protected.csv.manifest.json").read_text()


def test_nothing_is_drawn_when_the_warning_comes() -> None:
    seen = []

    def warn(caution: str) -> None:
        seen.append((caution, Path("o.csv").exists(), Path("o.csv.manifest.json").exists()))

    rr.release.release_file("people.csv", rr.release.ProtectedColumn("level", DESIGN), "o.csv", warn=warn)
    assert [(output, manifest) for _, output, manifest in seen] == [(False, False)]
    with pytest.warns(UserWarning, match="'number' is released unchanged"):
        rr.release.release_file("people.csv", rr.release.ProtectedColumn("level", DESIGN), "p.csv", force=True)


def test_a_dropped_or_protected_column_is_not_named() -> None:
    seen: list[str] = []
    number = rr.RandomizedResponse(["7", "8", "9"], epsilon=1)
    level = rr.release.ProtectedColumn("level", DESIGN)
    rr.release.release_file("people.csv", rr.release.Release(level, drop=["number"]), "o.csv", warn=seen.append)
    assert seen == []
    plan = rr.release.Release([level, rr.release.ProtectedColumn("number", number)])
    rr.release.release_file("people.csv", plan, "p.csv", force=True, warn=seen.append)
    assert [one for one in seen if "released as it is" in one] == []
    assert any("epsilon is 3 for each respondent; a draw of this release alone has at most 1" in one for one in seen)


def test_a_design_that_identifies_nothing_names_the_cure(capfd: pytest.CaptureFixture[str]) -> None:
    rr.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], inputs=LEVELS, outputs=["x", "y"]).save(
        "poor.json"
    )
    command = ["apply", "poor.json", "people.csv", "--column", "other"]
    there = sorted(Path().iterdir())
    for more in ([], ["--dry-run"]):
        assert cli.main([*command, *more]) == 2
        err = capfd.readouterr().err
        assert (
            "from 'other' frequencies cannot be estimated (outputs of rank 2 for 3 inputs); rropt identify makes" in err
        )
        assert "--unidentified" in err
        assert sorted(Path().iterdir()) == there, "nothing was drawn, and nothing was recorded"
    assert cli.main([*command, "--unidentified"]) == 0
    err = capfd.readouterr().err
    assert (
        "warning: from 'other' frequencies cannot be estimated (outputs of rank 2 for 3 inputs); rropt identify" in err
    )


def test_memory_does_not_grow_with_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "SAMPLE", 512)
    draw = np.random.default_rng(3)

    def batches(count: int, seen: list[int]) -> Iterator[Any]:
        for _ in range(count):
            values = draw.normal(size=5000)
            text = [f"{value!r} and so on {'.' * 500}" for value in values.tolist()]
            noise = draw.normal(size=5000)
            yield pa.record_batch({"s": np.where(values > 0, "a", "b"), "u": text, "v": values, "noise": noise})
            seen.append(tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    seen: list[int] = []
    twice = ((one, one) for one in batches(40, seen))
    (line,) = cautions.cautions_of_columns(twice, ["s"], ["noise", "v"])
    tracemalloc.stop()
    assert "'v' is released unchanged and nearly determines 's'" in line
    assert seen[-1] < 1.2 * seen[4] + 1e5


NUMBERS = np.random.default_rng(7).permutation(3000)
BINS = ["low", "mid", "high"]
VALUES: dict[str, Any] = {
    "whole numbers": lambda x: (x * 17 - 9000).tolist(),
    "floats": lambda x: (x / 7 - 100).tolist(),
    "floats, some missing": lambda x: [None if at % 50 == 0 else at / 7 for at in x.tolist()],
    "few floats": lambda x: (x // 500 / 4).tolist(),
    "days": lambda x: [date(1990, 1, 1) + timedelta(days=at) for at in x.tolist()],
    "moments": lambda x: [datetime(1990, 1, 1) + timedelta(seconds=at) for at in x.tolist()],
    "decimals": lambda x: [Decimal(at) / 4 for at in x.tolist()],
    "codes that begin alike": lambda x: [f"{'XBA'[at // 1000]}{at}" for at in x.tolist()],
    "towns of many records": lambda x: [f"{(at // 6) * 7919 % 5003} town" for at in x.tolist()],
    "numbers beside words": lambda x: ["unknown" if at % 60 == 0 else str(at) for at in x.tolist()],
    "truth": lambda x: (x < 1000).tolist(),
}


@pytest.mark.parametrize("kind", thinned(VALUES, 2))
@pytest.mark.parametrize("tells", [True, False])
def test_a_column_of_any_type_that_tells_a_protected_one_is_named_by_every_reader(kind: str, tells: bool) -> None:
    """The protected column is a function of the other one, or of the position of the record, which tells nothing."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    parquet = pytest.importorskip("pyarrow.parquet")
    bins = [BINS[at // 1000] for at in (NUMBERS if tells else np.random.default_rng(1).permutation(NUMBERS)).tolist()]
    table = pa.table({"s": bins, "u": VALUES[kind](NUMBERS)})
    plan = rr.release.ProtectedColumn("s", rr.RandomizedResponse(BINS, epsilon=1))
    csv.write_csv(table, "t.csv")
    parquet.write_table(table, "t.parquet")
    with pa.OSFile("t.arrow", "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=700)
    table.to_pandas().to_csv("pandas.csv", index=False)
    found = []
    for data in ("t.csv", "t.parquet", "t.arrow", "pandas.csv", table, table.to_pandas(), polars.from_arrow(table)):
        seen: list[str] = []
        if isinstance(data, str):
            rr.release.release_file(data, plan, f"out.{data}", warn=seen.append)
        else:
            rr.release.release_table(data, plan, warn=seen.append)
        found.append(seen)
    index = table.to_pandas().set_index("u")
    seen = []
    rr.release.release_table(index, plan, warn=seen.append)
    found.append([line.replace("'index u'", "'u'") for line in seen])
    assert isinstance(index, pandas.DataFrame)
    assert [len(lines) for lines in found] == [int(tells)] * 8, found
    assert all("'u' is released unchanged" in line and "drop it" in line for lines in found for line in lines)
    assert len({*map(tuple, found)}) == 1, "the readers say different things"


ORDERS: dict[str, Any] = {
    "sorted": lambda x: np.sort(x),
    "sorted downwards": lambda x: -np.sort(-x),
    "in blocks": lambda x: np.repeat([0, 2, 1, 0, 1], len(x) // 5),
    "as it came": lambda x: x,
    "in turns": lambda x: np.arange(len(x)) % 3,
    "all alike": lambda x: x * 0,
}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    ("batch", "size"),
    graded([(1, 60), (7, 500), (1000, 500)], [(1, 10), (1, 500), (7, 10), (7, 60), (1000, 10), (1000, 60)]),
)
def test_an_order_of_the_records_that_tells_a_protected_column_is_told(name: str, batch: int, size: int) -> None:
    """The release keeps the order; by the definition, whatever the batches are, missing values and types too."""
    codes = ORDERS[name](np.random.default_rng(size).integers(3, size=size))
    labels = ["x", "y", None]
    told = []
    for column in (
        pa.array([labels[x] for x in codes.tolist()]),
        pa.array([labels[x] for x in codes.tolist()]).dictionary_encode(),
        pa.array([None if x == 2 else x for x in codes.tolist()]),
        pa.array([labels[x] for x in codes.tolist()], pa.string_view()),
    ):
        batches = pa.table({"s": column}).to_batches(max_chunksize=batch)
        told.append(list(cautions.cautions_of_columns(zip(batches, batches, strict=True), ["s"], [])))
    assert told == [told[0]] * 4
    changes = sum(a != b for a, b in pairwise(codes.tolist()))
    same = sum(a == b for at, a in enumerate(codes.tolist()) for b in codes[:at].tolist()) / math.comb(size, 2)
    chance = (size - 1) * (1 - same)
    assert bool(told[0]) == (chance - changes >= max(chance / 2, 2 * math.sqrt(size)))
    assert bool(told[0]) == (name in ("sorted", "sorted downwards", "in blocks") and size > 10)
    for line in told[0]:
        assert (
            f"{100 * changes / (size - 1):.3g} % of the cases, and by chance in {100 * chance / (size - 1):.3g} %"
            in line
        )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_label_changes_as_often_as_in_a_random_order_of_ties(data: st.DataObject) -> None:
    """By the definition: over all orders of the records that are sorted by their places."""
    n = data.draw(st.integers(2, 6))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    places = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    orders = [one for one in permutations(range(n)) if all(places[a] <= places[b] for a, b in pairwise(one))]
    changes = [sum(labels[a] != labels[b] for a, b in pairwise(order)) for order in orders]
    found = cautions.label_changes(np.array(labels), np.array(places), 3)
    assert found == pytest.approx(sum(changes) / len(changes), abs=1e-9)


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_categories_of_no_record_are_told(batch: int) -> None:
    values = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, None, 3] * 3), pa.array(["u", "v", "of a dropped record", "w"])
    )
    table = pa.table({"level": LEVELS * 4, "public": values})
    with pa.OSFile("t.arrow", "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch)
    with pytest.warns(UserWarning, match="'public' is released unchanged with 1 category that no record has"):
        rr.release.release_file("t.arrow", rr.release.ProtectedColumn("level", DESIGN))


SMALL = ["low"] * 9 + ["mid"] * 6 + ["high"] * 5
RENAMED = {"low": "1", "mid": "2", "high": "3"}
BANDS = ["l1", "l2"] * 4 + ["l1"] + ["m1", "m2"] * 3 + ["h1"] * 5
SHOWN_SMALL = {
    "copy": (SMALL, SMALL, True),
    "renamed copy": (SMALL, [RENAMED[x] for x in SMALL], True),
    "copy of values that all differ": ([str(at) for at in range(20)], [str(at) for at in range(20)], True),
    "copy of numbers that all differ": ([str(at) for at in range(20)], list(range(20)), True),
    "copy of more values than are counted": ([str(at) for at in range(1200)], list(range(1200)), True),
    "finer values": (SMALL, BANDS, True),
    "identifier": (SMALL, [f"id{at}" for at in range(20)], False),
    "identifier of an identifier": ([str(at) for at in range(20)], [f"id{at}" for at in range(20)], False),
    "one value": (SMALL, ["x"] * 20, False),
    "something else": (SMALL, ["x", "y"] * 10, False),
}


@pytest.mark.parametrize("name", SHOWN_SMALL)
def test_a_copy_is_named_in_a_file_of_any_size(name: str) -> None:
    protected, public, is_named = SHOWN_SMALL[name]
    csv.write_csv(pa.table({"income": protected, "public": public}), "small.csv")
    seen: list[str] = []
    design = rr.RandomizedResponse(sorted(set(protected)), epsilon=1)
    rr.release.release_file("small.csv", rr.release.ProtectedColumn("income", design), "o.csv", warn=seen.append)
    named = [one for one in seen if "'public' is released unchanged" in one and "'income'" in one]
    assert len(named) == is_named, seen
    assert all("in 100 % of the records" in one or "is a copy of 'income'" in one for one in named)


def strata(**outputs: list[str]) -> rr.release.ProtectedColumn:
    """Level with one mechanism for each `noise`: two for its values 0 and 1, of these outputs."""
    made = {at: rr.Mechanism.from_matrix(DESIGN.matrix, inputs=LEVELS, outputs=outputs.get(at, LEVELS)) for at in "01"}
    return rr.release.ProtectedColumn("level", made, by="noise", other={"noise": "0"})


@pytest.mark.parametrize("drop", [["noise"], []])
def test_strata_that_are_not_released_are_told_before_the_draw(drop: list[str], tmp_path: Path) -> None:
    loose = rr.RandomizedResponse(LEVELS, epsilon=2).to_mechanism()
    column = rr.release.ProtectedColumn("level", {"0": DESIGN, "1": loose}, by="noise", other={"noise": "0"})
    told: list[str] = []

    def warn(caution: str) -> None:
        told.append(caution)
        assert not (tmp_path / "o.csv").exists()

    release = rr.release.Release(column, drop=drop)
    if drop:
        with pytest.raises(rr.errors.Refused, match="frequencies cannot be estimated"):
            rr.release.release_file("people.csv", release, "o.csv", warn=warn)
    rr.release.release_file("people.csv", release, "o.csv", warn=warn, unidentified=True)
    why = "from 'level' frequencies cannot be estimated: it has a mechanism for each 'noise', whose true values are not"
    assert any(why in caution for caution in told) == bool(drop)
    # The warning is true.
    if drop:
        with pytest.raises(rr.errors.InputError, match="no frequencies can be estimated"):
            rr.release.estimate_file("o.csv", {"level": column})


def test_one_mechanism_for_all_strata_needs_no_warning() -> None:
    table = csv.read_csv("people.csv")
    told: list[str] = []
    plan = rr.release.Release(strata(), drop=["noise"])
    rr.release.release_table(table.select(["level", "noise"]), plan, warn=told.append, force=True)
    assert "estimated" not in str(told)


@pytest.mark.parametrize("dropped", [True, False])
def test_answers_that_tell_a_stratum_which_is_not_released_are_told(
    dropped: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = rr.release.Release(strata(**{"1": ["x", "y", "z"]}), drop=["noise"] if dropped else [])
    told: list[str] = []
    made = rr.release.release_file("people.csv", plan, "o.csv", warn=told.append, unidentified=True)
    assert (made.privacy.privacy_ratio == float("inf")) == dropped
    why = "answers in 'level' are possible in some strata of 'noise' only, and 'noise' is not released unchanged"
    assert any(f"{why}: epsilon is infinite" in caution for caution in told) == dropped
    assert cli.main(["accountant", "show", "people.csv.accountant"]) == 0
    out = capfd.readouterr().out
    assert ("the draw of 'level' in " in out) == dropped
    assert ("possible in some strata of 'noise' only, and 'noise' was not released unchanged" in out) == dropped
    assert "design" not in out


def test_a_draw_that_has_no_level_itself_is_not_blamed_on_its_strata(capfd: pytest.CaptureFixture[str]) -> None:
    same = {at: rr.Mechanism.from_matrix(np.eye(3), inputs=LEVELS, outputs=LEVELS) for at in "01"}
    column = rr.release.ProtectedColumn("level", same, by="noise", other={"noise": "0"})
    told: list[str] = []
    rr.release.release_file("people.csv", rr.release.Release(column, drop=["noise"]), "o.csv", warn=told.append)
    assert "strata" not in str(told)
    assert cli.main(["accountant", "show", "people.csv.accountant"]) == 0
    assert "o.csv has no level of plain LDP\n" in capfd.readouterr().out
