"""Folders and files with odd names: released, or refused in one line before anything is drawn."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.release import ProtectedColumn

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

MECHANISM = rr.RandomizedResponse(["a", "b", "c"], epsilon=1).to_mechanism()
COLUMN = ProtectedColumn("c", MECHANISM)


def written(path: Path) -> Path:
    """A table of three people."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"c": ["a", "b", "c"]}), path)
    return path


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    first = written(tmp_path / "data" / "a.parquet")
    strange = Path(os.fsdecode(os.fsencode(tmp_path / "data") + b"/\xff.parquet"))
    strange.write_bytes(first.read_bytes())
    before = everything(tmp_path)
    for work in (
        lambda: rr.release.release_folder(tmp_path / "data", COLUMN),
        lambda: rr.release.release_file(strange, COLUMN, tmp_path / "out.parquet"),
        lambda: rr.release.release_file(first, COLUMN, strange.with_name(f"new{strange.name}")),
    ):
        with pytest.raises(rr.InputError, match="its name is not UTF-8") as caught:
            work()
        # The line itself can be printed anywhere.
        assert str(caught.value).isascii()
    assert everything(tmp_path) == before


def test_a_folder_is_released_beside_itself_however_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "data" / "deep" / "a.parquet")
    MECHANISM.save(tmp_path / "m.json")
    monkeypatch.chdir(tmp_path / "data")
    assert cli.main(["apply", "../m.json", ".", "--column", "c"]) == 0
    assert (tmp_path / "data.protected" / "deep" / "a.parquet").is_file()
    monkeypatch.chdir(tmp_path / "data" / "deep")
    assert cli.main(["apply", "../../m.json", "..", "--column", "c"]) == 0
    assert "1 existing" in capsys.readouterr().out
    with pytest.raises(rr.InputError, match="the output folder cannot be made"):
        rr.release.release_folder(tmp_path.anchor, COLUMN)
    # An empty word, as of a variable that is not set, is not this folder.
    assert cli.main(["apply", "../../m.json", "", "--column", "c"]) == 2
    assert "no file is named" in capsys.readouterr().err


def test_a_name_that_is_too_long_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (["solve"], ["estimate", "d.csv", "--column", "c"], ["apply", "d", "--column", "c"]):
        assert cli.main([command[0], "x" * 300, *command[1:]]) == 2
        said = capsys.readouterr().err
        assert said.startswith("rropt: ")
        assert said.count("\n") == 1
    shutil.copy(Path(rr.__file__).parent.parent / "docs" / "examples" / "linear.toml", tmp_path / "p.toml")
    assert cli.main(["solve", "p.toml", "--out", "\udcff"]) == 2
    assert "its name is not UTF-8" in capsys.readouterr().err
    (tmp_path / "p.toml").unlink()
    assert everything(tmp_path) == []
