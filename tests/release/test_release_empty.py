"""Files without records are released, cost nothing, and do not hinder a later release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from accountants import draws

import rropt as rr
from rropt.cli import main as cli
from rropt.errors import InputError, ReleasedBefore
from rropt.release import ProtectedColumn, Release, release_file

pa = pytest.importorskip("pyarrow")
import pyarrow.feather as feather  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from rropt.release.run import FileRelease  # noqa: E402

X = ProtectedColumn("x", rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism())
Y = ProtectedColumn("y", rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism())


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: int) -> str:
    table = pa.table({"x": pa.array(["a"] * rows, pa.string()), "y": pa.array(["b"] * rows, pa.string())})
    if name.endswith(".csv"):
        Path(name).write_text("x,y\n" + "a,b\n" * rows)
    elif name.endswith(".parquet"):
        pq.write_table(table, name)
    else:
        feather.write_feather(table, name)
    return name


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_it_is_released_and_costs_nothing(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["accountant", "init", "--ceiling", "1", "all"]) == 0
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    for name in ("one", "two"):  # the same bytes in one folder
        data = write(f"{name}.{suffix}", 0)
        assert cli.main(["apply", "m.json", data, "--column", "x", "--accountant", "all"]) == 0
        assert f"note: {data} has no records" in capsys.readouterr().out
        told = json.loads(Path(f"{name}.protected.{suffix}.manifest.json").read_text())
        assert (told["rows"], told["earlier_draws"]) == (0, 0)
    assert [one["columns"] for one in draws(Path("all"))] == [[], []]
    # Records that come later are drawn from as if nothing had been: under the ceiling, once.
    write(f"one.{suffix}", 3)
    made = release_file(f"one.{suffix}", X, f"later.{suffix}", accountant="all")
    assert (made.drawn, made.manifest["earlier_draws"], made.manifest["rows"]) == (True, 0, 3)
    with pytest.raises(ReleasedBefore):
        release_file(f"one.{suffix}", X, f"again.{suffix}", accountant="all")


def test_its_columns_were_not_shown() -> None:
    """A column that a file without records shows unchanged is protected in one with records, and the reverse."""
    for first, second in ((X, Y), (Release([X], drop=["y"]), Y)):
        for name in [one for one in Path().rglob("*") if one.is_file()]:
            name.unlink()
        release_file(write("t.csv", 0), first, "first.csv")
        made = release_file(write("t.csv", 2), second, "independent_checker.csv")
        assert made.manifest["epsilon_with_earlier"] == made.manifest["epsilon"]
        # With records it is: the other column is raw in the second release.
        with pytest.raises(InputError, match=r"'x' .*unchanged"):
            release_file("t.csv", X, "third.csv")
        made = release_file(write("t.csv", 0), X, "fourth.csv")
        assert made.drawn


def test_a_folder_with_parts_that_are_empty(capsys: pytest.CaptureFixture[str]) -> None:
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    Path("parts").mkdir()
    for name, rows in (("1", 0), ("2", 0), ("3", 4)):
        write(f"parts/{name}.parquet", rows)
    assert cli.main(["apply", "m.json", "parts", "--column", "x", "-o", "out"]) == 0
    assert "3 files: 3 released; 4 rows drawn" in capsys.readouterr().out
    found = rr.release.estimate_file("out", {"x": X})
    assert found.n == 4


def test_records_that_come_while_it_is_released_are_not_drawn() -> None:
    """The draw that costs nothing is of no record."""
    given: dict[str, Any] = {"force": False, "delimiter": None, "monitor": lambda *_: None}
    run = FileRelease(Path(write("t.csv", 0)), Release([X]), Path("o.csv"), **given)
    write("t.csv", 5)
    with pytest.raises(InputError, match="changed while it was read"):
        run.run()
    assert not Path("o.csv").exists()
    assert draws(Path("t.csv.accountant")) == []
