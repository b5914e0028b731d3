"""What should be known before a draw is told before it, and nothing of it is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
    assert any("add up to epsilon 3 for a person, more than the 1 of any one" in one for one in seen)


def test_a_design_that_identifies_nothing_names_the_cure(capfd: pytest.CaptureFixture[str]) -> None:
    rr.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], inputs=LEVELS, outputs=["x", "y"]).save(
        "poor.json"
    )
    assert cli.main(["apply", "poor.json", "people.csv", "--column", "other"]) == 0
    err = capfd.readouterr().err
    assert "from 'other' frequencies cannot be estimated (outputs of rank 2 for 3 inputs); rropt identify makes" in err


def test_memory_does_not_grow_with_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "MOST_VALUES", 4)
    batch = pa.record_batch({"s": ["a", "b"] * 50, "few": ["x", "y"] * 50, "many": list(range(5)) * 20})
    (line,) = cautions.cautions_of_columns([batch, batch], ["s"], ["few", "many"])
    assert line.startswith(
        "'few' is released unchanged and determines 1 of the 1 bits of 's'; it determines it in 100 %"
    )


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

    rr.release.release_file("people.csv", rr.release.Release(column, drop=drop), "o.csv", warn=warn)
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
    made = rr.release.release_file("people.csv", plan, "o.csv", warn=told.append)
    assert (made.privacy.parity == float("inf")) == dropped
    why = "answers in 'level' are possible in some strata of 'noise' only, and 'noise' is not released unchanged"
    assert any(f"{why}: epsilon is infinite" in caution for caution in told) == dropped
    assert cli.main(["ledger", "show", "people.csv.ledger"]) == 0
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
    assert cli.main(["ledger", "show", "people.csv.ledger"]) == 0
    assert "o.csv has no level of plain LDP\n" in capfd.readouterr().out
