"""The folders that a sweep keeps: each holds the files of its own point, whatever an earlier sweep left there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rropt as rr
from rropt.release.plans.provenance import digest
from rropt.studies.sweeps import sweep as sweeps
from rropt.studies.sweeps.points import FILES, computed
from rropt.studies.sweeps.sweep import Swept

PROBLEM = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts({"a": 5, "b": 3, "c": 1}))), [rr.LDP(1)])


def sound(found: Swept, kept: Path) -> None:
    """Every folder holds what its row tells, and nothing else."""
    for at, row in enumerate(found.rows):
        folder = kept / str(at)
        there = {path.name for path in folder.iterdir()}
        assert there == {name for name, column in FILES.items() if row[column] is not None}
        if "mechanism.json" in there:
            made = rr.Mechanism.load(folder / "mechanism.json")
            assert digest(made) == row["mechanism"]
            assert float(made.epsilon.upper) <= row["proved_epsilon"]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The points that are computed from now on."""
    done: list[object] = []

    def counting(point: object) -> object:
        done.append(point)
        return computed(point)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeps.points, "computed", counting)
    return done


def test_the_same_command_goes_on_and_a_larger_grid_has_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept, done = tmp_path / "t.csv", tmp_path / "kept", counted(monkeypatch)
    sound(rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept), kept)
    again = rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept)
    assert (again.resumed, len(done)) == (2, 2)
    # Point 1 is another one now, and the journal knows it: its folder must not stay that of epsilon 2.
    sound(rr.sweep(PROBLEM, over={"epsilon": ["0.5", 1, 2]}, out=out, keep=kept), kept)
    # Two places of one point, of which one has its files.
    sound(rr.sweep(PROBLEM, over={"epsilon": ["0.5", "0.5", 1, 2]}, out=out, keep=kept), kept)


def test_a_file_that_was_changed_or_belongs_to_another_point_does_not_stay(tmp_path: Path) -> None:
    out, kept = tmp_path / "t.csv", tmp_path / "kept"
    sound(rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept), kept)
    (kept / "0" / "mechanism.json").write_bytes((kept / "1" / "mechanism.json").read_bytes())
    (kept / "1" / "certificate.json").unlink()
    found = rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept)
    assert found.resumed == 0
    sound(found, kept)
    # Under these bounds on the diagonal there is no mechanism: that of epsilon 2 must not remain.
    closed = rr.Problem(PROBLEM.goal, [rr.LDP(1), rr.Floor("0.9")])
    found = rr.sweep(closed, over={"epsilon": [1, 20]}, out=tmp_path / "u.csv", keep=kept)
    assert [row["status"] == "infeasible" for row in found.rows] == [True, False]
    sound(found, kept)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "0").write_text("mine", encoding="utf-8")
    with pytest.raises(rr.InputError, match="cannot write") as caught:
        rr.sweep(PROBLEM, over={"epsilon": [1]}, keep=kept)
    assert str(kept / "0") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_journal_whose_rows_are_none_is_one_line(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    rr.sweep(PROBLEM, over={"epsilon": [1]}, out=out)
    journal = tmp_path / "t.csv.journal.jsonl"
    head, point = journal.read_text(encoding="utf-8").splitlines()
    for rows in ([3], "abc", [["status"]], 7):
        journal.write_text(f"{head}\n{json.dumps(json.loads(point) | {'rows': rows})}\n", encoding="utf-8")
        with pytest.raises(rr.InputError, match="line 2 is not a finished point"):
            rr.sweep(PROBLEM, over={"epsilon": [1]}, out=out)
