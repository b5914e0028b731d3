"""Releases that die, meet a full disk, or run side by side: whole or not at all, drawn once, never the same twice."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rropt.mechanisms.randomized_response import RandomizedResponse
from rropt.release import ProtectedColumn, counts_of, release_file, release_table
from rropt.sampling import insecure_seeded_source

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

LABELS = tuple("abcdefgh")
MECHANISM = RandomizedResponse(LABELS, epsilon=1).to_mechanism()
DRIVER = Path(__file__).with_name("release_driver.py")
APPLY = ["apply", "m.json", "t.parquet", "--column", "x", "-o", "o.parquet"]


Perform = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def perform() -> Iterator[Perform]:
    """The results of `release_driver.py` on cases, in their order."""
    with subprocess.Popen([sys.executable, DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        asked, told = driver.stdin, driver.stdout

        def call(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
            asked.write(json.dumps(cases, default=str) + "\n")
            asked.flush()
            results: list[dict[str, Any]] = json.loads(told.readline())
            return results

        yield call
        asked.close()


def place(tmp_path: Path, name: str, rows: int = 2000) -> Path:
    """A folder with data and a mechanism."""
    folder = tmp_path / name
    folder.mkdir()
    rng = np.random.default_rng(1)
    codes = pa.array(rng.integers(0, len(LABELS), rows).astype(np.int8))
    table = pa.table({"x": pa.DictionaryArray.from_arrays(codes, LABELS).cast(pa.string()), "k": rng.random(rows)})
    pq.write_table(table, folder / "t.parquet")
    MECHANISM.save(folder / "m.json")
    return folder


def entries(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of the ledger."""
    path = folder / "t.parquet.ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def left(folder: Path) -> list[Path]:
    """Partial files."""
    return sorted(folder.glob(".o.parquet.*"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# -- death -----------------------------------------------------------------------------------------------------


@forks
def test_death_at_every_step(tmp_path: Path, perform: Perform) -> None:
    """The process kills itself; then the same command again, and again with --force."""
    steps = ("half a line", "begun", "opened", "drawing", "streamed", "manifest", "named", "finished")
    folders = {step: place(tmp_path, step) for step in steps}
    died = perform([{"folder": folders[step], "arguments": APPLY, "die": step} for step in steps])
    assert [one["status"] for one in died] == [-9] * len(steps)
    before = {}
    for step, folder in folders.items():
        output = folder / "o.parquet"
        assert output.exists() == (step in ("named", "finished"))
        assert len(left(folder)) == (step in ("opened", "drawing", "streamed", "manifest"))
        before[step] = contents(folder)
    again = perform([{"folder": folders[step], "arguments": APPLY} for step in steps])
    for step, result in zip(steps, again, strict=True):
        folder, output = folders[step], folders[step] / "o.parquet"
        assert len(entries(folder)) == 1, "one draw, whatever happened"
        if step == "half a line":
            assert (result["status"], entries(folder)[0]["state"]) == (0, "released")
        elif step in ("manifest", "named"):
            assert result["status"] == 0
            assert "nothing was drawn" in result["out"]
            assert "found o.parquet" in result["out"]
            drawn = [data for name, data in before[step].items() if name.startswith((".o.parquet", "o.parquet"))]
            assert output.read_bytes() in drawn
            assert (left(folder), entries(folder)[0]["state"]) == ([], "released")
        else:
            assert result["status"] == 2
            assert contents(folder) == before[step]
            said = "second draw leaks more" if step == "finished" else "was interrupted on"
            assert said in result["err"]
            assert result["err"].count("\n") == 1
    forced = perform([{"folder": folders[step], "arguments": [*APPLY, "--force"]} for step in steps])
    for folder, result in zip(folders.values(), forced, strict=True):
        assert result["status"] == 0, result["err"]
        assert left(folder) == []
        assert len(entries(folder)) == 2
        assert counts_of(folder / "o.parquet", "x", MECHANISM).sum() == 2000


def kills(times: int, tmp_path: Path, seed: int, perform: Perform) -> None:
    """Kill a release at random moments, every other one while it draws a second time by force; check, run again."""
    rng = random.Random(seed)
    source = place(tmp_path, "source", 200_000)
    whole = perform([{"folder": source, "arguments": APPLY}] * 2)[0]
    assert whole["status"] == 0
    kept = contents(source)
    folders = []
    for number in range(times):
        folder = tmp_path / str(number)
        folder.mkdir()
        names = ["t.parquet", "m.json"]
        if number % 2:
            names += ["o.parquet", "o.parquet.manifest.json", "t.parquet.ledger.jsonl"]
        for name in names:
            (folder / name).write_bytes(kept[name])
        if number % 2:
            # The ledger names the output by its whole path.
            ledger = folder / "t.parquet.ledger.jsonl"
            ledger.write_text(ledger.read_text(encoding="utf-8").replace("/source/", f"/{number}/"), encoding="utf-8")
        folders.append(folder)
    cases = [
        {
            "folder": folder,
            "arguments": [*APPLY, *(["--force"] if number % 2 else [])],
            "kill": rng.uniform(0, 1.1 * whole["seconds"]),
        }
        for number, folder in enumerate(folders)
    ]
    died = perform(cases)
    known = kept["o.parquet"]
    before = []
    for number, folder in enumerate(folders):
        output, manifest = folder / "o.parquet", folder / "o.parquet.manifest.json"
        if number % 2:
            assert output.exists(), "the earlier release is never lost"
        if output.exists():
            told = json.loads(manifest.read_text(encoding="utf-8"))["output"]["sha256"]
            # Whole: the earlier one, or the new one that its manifest tells of.
            assert output.read_bytes() == known or digest(output) == told
        assert len(entries(folder)) <= 1 + number % 2
        before.append((contents(folder), entries(folder)))
    again = perform([{"folder": folder, "arguments": APPLY} for folder in folders])
    seen = set()
    for number, (folder, result) in enumerate(zip(folders, again, strict=True)):
        files, lines = before[number]
        if not lines:
            assert (result["status"], len(entries(folder))) == (0, 1)
            seen.add("not begun")
            continue
        assert len(entries(folder)) == len(lines), "a second draw without --force"
        if result["status"] == 2:
            assert contents(folder) == files
            seen.add("released" if lines[-1]["state"] == "released" else "interrupted")
        else:
            assert result["status"] == 0
            assert "nothing was drawn" in result["out"]
            assert (folder / "o.parquet").read_bytes() in files.values()
            seen.add("finished")
    assert {one["status"] for one in died} <= {-9, 0}
    assert "interrupted" in seen, "no kill met a release at work: the moments are badly chosen"


@forks
def test_kills_at_random_moments(tmp_path: Path, perform: Perform) -> None:
    kills(10, tmp_path, 1, perform)


@forks
@pytest.mark.long
def test_fifty_kills_at_random_moments(tmp_path: Path, perform: Perform) -> None:
    kills(50, tmp_path, 2, perform)


# -- a full disk -----------------------------------------------------------------------------------------------


@forks
def test_a_full_disk_loses_nothing(tmp_path: Path, perform: Perform) -> None:
    """No file may pass a few bytes: below the ledger's line, within the output, above it but below the manifest's
    room. An earlier output stays whole."""
    cases: list[dict[str, Any]] = []
    for name in ("t.csv", "t.parquet", "t.arrow"):
        for room in (100, 3_000):
            for force in (False, True):
                folder = place(tmp_path, f"{name} {room} {force}")
                table = pq.read_table(folder / "t.parquet")
                if name == "t.csv":
                    pairs = zip(table["x"].to_pylist(), table["k"].to_pylist(), strict=True)
                    text = "x,k\n" + "".join(f"{x},{k}\n" for x, k in pairs)
                    (folder / name).write_text(text, encoding="utf-8")
                elif name == "t.arrow":
                    with pa.OSFile(str(folder / name), "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
                        writer.write_table(table)
                if force:
                    release_file(folder / name, ProtectedColumn("x", MECHANISM))
                arguments = ["apply", "m.json", name, "--column", "x", *(["--force"] if force else [])]
                cases.append({"folder": folder, "arguments": arguments, "limit": room})
    before = [contents(case["folder"]) for case in cases]
    for case, files, result in zip(cases, before, perform(cases), strict=True):
        assert result["status"] == 2, result
        assert result["err"].count("\n") == 1, result["err"]
        assert "cannot write (File too large)" in result["err"]
        assert contents(case["folder"]) == files


@forks
def test_a_disk_without_room_for_the_manifest(tmp_path: Path, perform: Perform) -> None:
    """The output is written whole by then, under its temporary name; it goes again."""
    twin, folder = place(tmp_path, "twin", 3), place(tmp_path, "real", 3)
    arguments = ["apply", "m.json", "t.csv", "--column", "x"]
    for where in (twin, folder):
        (where / "t.csv").write_text("x\na\nb\n", encoding="utf-8")
    (whole,) = perform([{"folder": twin, "arguments": arguments}])
    assert whole["status"] == 0
    room = (twin / "t.protected.csv.manifest.json").stat().st_size - 1
    assert (twin / "t.csv.ledger.jsonl").stat().st_size < room
    before = contents(folder)
    (result,) = perform([{"folder": folder, "arguments": arguments, "limit": room}])
    assert result["status"] == 2
    assert "t.protected.csv.manifest.json: cannot write (File too large)" in result["err"]
    assert contents(folder) == before
    (again,) = perform([{"folder": folder, "arguments": arguments}])
    assert again["status"] == 0, "what came to nothing is no draw"


# -- randomness ------------------------------------------------------------------------------------------------


@forks
def test_forked_processes_draw_differently(tmp_path: Path, perform: Perform) -> None:
    """Children of one process, whose memory was the same when they began."""
    folders = [place(tmp_path, name) for name in ("one", "two", "three")]
    assert len({digest(folder / "t.parquet") for folder in folders}) == 1
    results = perform([{"folder": folder, "arguments": APPLY} for folder in folders])
    assert [one["status"] for one in results] == [0, 0, 0]
    assert len({tuple(pq.read_table(folder / "o.parquet")["x"].to_pylist()) for folder in folders}) == 3


def test_threads_draw_differently() -> None:
    table = pa.table({"x": ["a"] * 2000})
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: release_table(table, ProtectedColumn("x", MECHANISM)), range(8)))
    assert len({tuple(one["x"].to_pylist()) for one in made}) == 8


def test_batches_of_one_file_draw_differently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rropt.release import formats

    monkeypatch.setattr(formats, "BATCH_ROWS", 1024)
    pq.write_table(pa.table({"x": ["a"] * 4096}), tmp_path / "t.parquet")
    released = release_file(tmp_path / "t.parquet", ProtectedColumn("x", MECHANISM))
    values = pq.read_table(released.output)["x"].to_pylist()
    assert len({tuple(values[at : at + 1024]) for at in range(0, 4096, 1024)}) == 4


def chi_square(table: np.ndarray) -> float:
    """Tail probability of counts (inputs x outputs) under the mechanism."""
    expected = MECHANISM.matrix * table.sum(axis=1, keepdims=True)
    return float(stats.chi2.sf(((table - expected) ** 2 / expected).sum(), table.size - len(table)))


def counted(given: Any, made: Any) -> np.ndarray:
    """How often each input became each output."""
    codes = [one.combine_chunks().dictionary_encode() for one in (given, made)]
    places = [
        np.array([LABELS.index(label) for label in one.dictionary.to_pylist()])[one.indices.to_numpy()] for one in codes
    ]
    size = len(LABELS)
    return np.bincount(places[0] * size + places[1], minlength=size * size).reshape(size, size)


def test_a_seeded_table_fits_the_mechanism() -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"x": pa.array(np.array(LABELS, dtype=object)[rng.integers(0, 8, 300_000)])})
    made = release_table(table, ProtectedColumn("x", MECHANISM), insecure_seeded_source(1))
    assert chi_square(counted(table["x"], made["x"])) > 1e-6


@pytest.mark.long
def test_ten_million_draws_of_a_file_fit_the_mechanism(tmp_path: Path) -> None:
    """With secure randomness: a true release fails here once in a million runs."""
    folder = place(tmp_path, "large", 10**7)
    released = release_file(folder / "t.parquet", ProtectedColumn("x", MECHANISM))
    given, made = (pq.read_table(path, columns=["x"])["x"] for path in (folder / "t.parquet", released.output))
    table = counted(given, made)
    assert table.sum() == 10**7
    assert chi_square(table) > 1e-6
