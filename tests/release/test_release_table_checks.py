"""The checks of a file before its draw are made for a table in memory too."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rropt as rr
from rropt.mechanisms.sampling import insecure_seeded_source
from rropt.release import ProtectedColumn, Release, release_table

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("narwhals")

Frame = Callable[[dict[str, list[Any]]], Any]
FRAMES: dict[str, Frame] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
INCOME = rr.RandomizedResponse(["low", "high"], epsilon=1).to_mechanism()
COUNTS = {"a": 2, "b": 40, "c": 25}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest) -> Frame:
    return FRAMES[request.param]


def told(table: Any, release: Release | ProtectedColumn, **options: Any) -> list[str]:
    """The cautions of a release."""
    seen: list[str] = []
    release_table(table, release, warn=seen.append, **options)
    return seen


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Any:
    rules = [rr.IdentificationRisk(COUNTS, "0.15"), rr.Invariant(COUNTS)]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(COUNTS))), rules).solve()
    place = tmp_path_factory.mktemp("design") / "certificate.json"
    solution.certificate.save(place)  # type: ignore[union-attr]
    return rr.release.load_design(place)


def shuffled(values: list[Any]) -> list[Any]:
    """In an order that tells nothing of the values."""
    return random.Random(1).sample(values, len(values))


def records(counts: dict[str, int]) -> dict[str, list[Any]]:
    return {"g": shuffled([name for name, count in counts.items() for _ in range(count)])}


def test_a_guaranteed_risk_that_does_not_hold_is_refused(frame: Frame, design: Any) -> None:
    table, plan = frame(records({"a": 1, "b": 5, "c": 3})), ProtectedColumn("g", design)
    with pytest.raises(rr.InputError, match=r"table: 'a' of column 'g' is identified with prob.* 0\.642") as caught:
        release_table(table, plan)
    assert "use force=True to release" in str(caught.value)
    (line,) = told(table, plan, force=True)
    assert line.startswith("'a' of column 'g' is identified with probability 0.642")
    for counts in (COUNTS, {"a": 0, "b": 80, "c": 50}):
        assert told(frame(records(counts)), plan) == []


def test_a_copy_that_stays_is_told(frame: Frame) -> None:
    income = ["low"] * 9 + ["high"] * 6
    columns = {"income": income, "same": income, "other": ["x", "y", "z"] * 5, "half": [0.5] * 15}
    plan = ProtectedColumn("income", INCOME)
    assert told(frame(columns), plan) == ["'same' is released unchanged and is a copy of 'income': drop it"]
    assert told(frame(columns), Release(plan, drop=["same"])) == []
    renamed = {"income": income, "number": [int(x == "high") for x in income]}
    (line,) = told(frame(renamed), plan)
    assert "'number' is released unchanged and determines 0.971 of the 0.971 bits of 'income'" in line


def test_cautions_are_warnings_of_python_by_default(frame: Frame) -> None:
    table = frame({"income": ["low"] * 9 + ["high"], "same": ["low"] * 9 + ["high"]})
    with pytest.warns(UserWarning, match="is a copy of 'income'"):
        release_table(table, ProtectedColumn("income", INCOME))


def test_nothing_is_drawn_before_the_cautions() -> None:
    def stop(caution: str) -> None:
        raise KeyboardInterrupt(caution)

    table, source = pa.table({"income": ["low", "high"], "same": ["low", "high"]}), insecure_seeded_source(1)
    with pytest.raises(KeyboardInterrupt, match="is a copy"):
        release_table(table, ProtectedColumn("income", INCOME), source=source, warn=stop)
    assert source.words(8).tolist() == insecure_seeded_source(1).words(8).tolist(), "it drew"


def test_replaced_values_are_counted(frame: Frame) -> None:
    table = frame({"income": shuffled([*["low"] * 20, *["rich"] * 7, *[None] * 3])})
    assert told(table, ProtectedColumn("income", INCOME, null="low", other="high")) == [
        "7 of 30 values of column 'income' are unknown and count as 'high'",
        "3 of 30 values of column 'income' are missing and count as 'low'",
    ]


@pytest.mark.parametrize(
    ("income", "what"),
    [(["rich"] * 30, "30 of 30 values of column 'income' are unknown"), ([""] * 30, "30 of 30 values")],
)
def test_a_column_of_other_values_is_refused(income: list[Any], what: str, frame: Frame) -> None:
    table, plan = frame({"income": income}), ProtectedColumn("income", INCOME, null="low", other="high")
    with pytest.raises(rr.InputError, match=what) as caught:
        release_table(table, plan)
    assert "force=True" in str(caught.value)
    (line,) = told(table, plan, force=True)
    assert line.startswith(what)


def test_designs_and_levels_are_told(frame: Frame) -> None:
    poor = rr.Mechanism.from_matrix([[0.75, 0.25]] * 2, inputs=["low", "high"], outputs=["x", "y"])
    plan = Release([ProtectedColumn("a", poor), *(ProtectedColumn(name, INCOME) for name in "bc")])
    # Each column has each value with each of the others.
    order = shuffled([*range(8)] * 20)
    bits = [[["low", "high"][at >> place & 1] for at in order] for place in range(3)]
    table = frame(dict(zip("abc", bits, strict=True)))
    with pytest.raises(rr.errors.Refused, match="from 'a' frequencies cannot be estimated") as caught:
        release_table(table, plan)
    assert "unidentified=True" in str(caught.value)
    rank, levels = told(table, plan, unidentified=True)
    assert "from 'a' frequencies cannot be estimated" in rank
    assert levels == "with all 3 draws, epsilon is 2 for each respondent; a draw of this release alone has at most 1"


def test_an_index_of_pandas_is_a_column_that_stays() -> None:
    income = ["low"] * 9 + ["high"] * 6
    plan = ProtectedColumn("income", INCOME)
    kept = pd.DataFrame({"income": income}).set_index("income", drop=False)
    assert told(kept, plan) == ["'index income' is released unchanged and is a copy of 'income': drop it"]
    nameless = pd.DataFrame({"income": income}, index=[int(x == "low") for x in income])
    (line,) = told(nameless, plan)
    assert line.startswith("'index' is released unchanged and determines")
    two = pd.DataFrame({"income": income}, index=pd.MultiIndex.from_arrays([range(15), income], names=["id", "copy"]))
    assert told(two, plan) == ["'index copy' is released unchanged and is a copy of 'income': drop it"]
    assert told(pd.DataFrame({"income": income}), plan) == []


def test_categories_that_no_record_has_are_told() -> None:
    plan = ProtectedColumn("income", INCOME)
    towns = pd.Categorical(["u", "u", "v", "v", "of nobody else"])
    whole = pd.DataFrame({"income": ["low", "high", "low", "high", "low"], "town": towns})
    (line,) = told(whole[:4], plan)
    assert "'town' is released unchanged with 1 category that no record has" in line


def test_columns_that_hold_no_labels_do_not_matter() -> None:
    odd = [object(), 2**70, "x", 1.5, None, b"y"]
    others = {"odd": odd, "lists": [[1], [2], None, [], [3], [4]], "when": pd.date_range("2020", periods=6)}
    table = pd.DataFrame({"income": ["low", "high"] * 3, **others})
    assert told(table, ProtectedColumn("income", INCOME)) == []
    objects = pl.DataFrame({"income": ["low", "high"], "odd": [object(), 1]}, schema_overrides={"odd": pl.Object})
    assert told(objects, ProtectedColumn("income", INCOME)) == []


def test_an_empty_table_is_without_cautions(frame: Frame) -> None:
    table = frame({"income": ["low"], "same": ["low"]})[:0]
    plan = Release([ProtectedColumn("income", INCOME), ProtectedColumn("same", INCOME)])
    assert told(table, ProtectedColumn("income", INCOME)) == []
    assert told(table, plan) == []


def test_a_table_of_several_batches_is_looked_at_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = pytest.importorskip("rropt.release.tables.frames")
    monkeypatch.setattr(frames, "BATCH_ROWS", 4)
    flip = rr.Mechanism.from_matrix([[0, 1], [1, 0]], inputs=["low", "high"], outputs=["low", "high"])
    income = ["low", "low", "high"] * 7
    table = pa.table({"income": income, "same": income, "k": list(range(21))})
    seen: list[str] = []
    made = release_table(table, ProtectedColumn("income", flip), force=True, warn=seen.append)
    assert [line for line in seen if "copy" in line] == [
        "'same' is released unchanged and is a copy of 'income': drop it"
    ]
    assert made["income"].to_pylist() == ["high", "high", "low"] * 7
    assert made["k"].to_pylist() == list(range(21))


def test_without_a_fault_nothing_is_said(frame: Frame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release_table(frame({"income": ["low", "high"] * 9, "k": list(range(18))}), ProtectedColumn("income", INCOME))
