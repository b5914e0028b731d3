"""Releases that die, meet a full disk, or run side by side: whole or not at all, drawn once, never the same twice."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accountants import draws, states
from drawing import graded
from scipy import stats

from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.sampling import insecure_seeded_source
from rropt.release import ProtectedColumn, counts_of, release_file, release_table
from rropt.release.account import Account

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

LABELS = tuple("abcdefgh")
MECHANISM = RandomizedResponse(LABELS, epsilon=1).to_mechanism()
DRIVER = Path(__file__).resolve().parents[1] / "release_driver.py"
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
    """The draws of the accountant."""
    return draws(folder / "t.parquet.accountant")


def left(folder: Path) -> list[Path]:
    """Partial outputs."""
    return sorted(folder.glob(".o.parquet.*.tmp"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


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
            assert "finished without randomising again" in result["out"]
            assert "found o.parquet" in result["out"]
            drawn = [data for name, data in before[step].items() if name.startswith((".o.parquet", "o.parquet"))]
            assert output.read_bytes() in drawn
            assert output.stat().st_mode == (folder / "m.json").stat().st_mode, "the user's umask holds"
            assert (left(folder), entries(folder)[0]["state"]) == ([], "released")
        else:
            assert result["status"] == 2
            assert contents(folder) == before[step]
            said = "would raise the total epsilon" if step == "finished" else "was interrupted on"
            assert said in result["err"]
            assert result["err"].count("\n") == 1
    forced = perform([{"folder": folders[step], "arguments": [*APPLY, "--force"]} for step in steps])
    for folder, result in zip(folders.values(), forced, strict=True):
        assert result["status"] == 0, result["err"]
        assert left(folder) == []
        assert len(entries(folder)) == 2
        assert counts_of(folder / "o.parquet", "x", MECHANISM).sum() == 2000


@forks
@pytest.mark.parametrize("ceiling", [None, 2])
def test_death_in_a_transaction_changes_nothing(ceiling: int | None, tmp_path: Path, perform: Perform) -> None:
    """Of the data's own accountant, and of one that others share."""
    folder = place(tmp_path, "one")
    Account.create(folder / "all", ceiling)
    shared = [*APPLY, "--accountant", "all", "--force"]
    assert perform([{"folder": folder, "arguments": shared}])[0]["status"] == 0
    for _ in range(3):
        assert perform([{"folder": folder, "arguments": shared, "die": "half a line"}])[0]["status"] == -9
        assert len(entries(folder)) == len(draws(folder / "all")) == 1
    assert perform([{"folder": folder, "arguments": shared}])[0]["status"] == 0
    assert len(entries(folder)) == len(draws(folder / "all")) == 2
    # What died while it drew is spent.
    assert perform([{"folder": folder, "arguments": shared, "die": "drawing"}])[0]["status"] == (2 if ceiling else -9)
    assert states(folder / "all") == ["released"] * 2 + ["drawing"] * (not ceiling)


ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None)
"""How a release is ended at a random moment; None: no file may pass a random size, as on a full disk."""


def kills(times: int, tmp_path: Path, seed: int, perform: Perform, rows: int = 200_000) -> None:
    """End a release at random moments, every other one while it draws a second time by force; check, run again."""
    rng = random.Random(seed)
    source = place(tmp_path, "source", rows)
    whole = perform([{"folder": source, "arguments": APPLY}] * 2)[0]
    assert whole["status"] == 0
    size = (source / "o.parquet").stat().st_size
    folders = []
    for number in range(times):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in ("t.parquet", "m.json"):
            (folder / name).write_bytes((source / name).read_bytes())
        folders.append(folder)
    first = perform([{"folder": folder, "arguments": APPLY} for folder in folders[1::2]])
    assert {one["status"] for one in first} <= {0}
    known = {folder: (folder / "o.parquet").read_bytes() for folder in folders[1::2]}
    cases = []
    for number, folder in enumerate(folders):
        end = ENDS[number // 2 % len(ENDS)]
        how = {"limit": rng.randrange(1, size)} if end is None else {"kill": rng.uniform(0, 1.1 * whole["seconds"])}
        arguments = [*APPLY, *(["--force"] if number % 2 else [])]
        cases.append({"folder": folder, "arguments": arguments, "signal": end, **how})
    died = perform(cases)
    before = []
    for number, folder in enumerate(folders):
        output, manifest = folder / "o.parquet", folder / "o.parquet.manifest.json"
        drawn = [path for path in (output, *left(folder)) if path.exists()]
        if number % 2:
            assert output.exists(), "the earlier release is never lost"
        if output.exists():
            told = json.loads(manifest.read_text(encoding="utf-8"))["output"]["sha256"]
            # Whole: the earlier one, or the new one that its manifest tells of.
            assert output.read_bytes() == known.get(folder) or digest(output) == told
        for path in left(folder):
            complete = manifest.exists() and digest(path) in manifest.read_text(encoding="utf-8")
            assert complete or stat.S_IMODE(path.stat().st_mode) == 0o600, "others could read what is half drawn"
        assert len(drawn) <= len(entries(folder)) <= 1 + number % 2, "whatever was drawn is in the accountant"
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
            # What a transaction left that did not end is taken away.
            names = [name for name in files if ".accountant" not in name]
            assert {name: contents(folder)[name] for name in names} == {name: files[name] for name in names}
            seen.add("released" if lines[-1]["state"] == "released" else "interrupted")
        else:
            assert result["status"] == 0
            assert "finished without randomising again" in result["out"]
            assert (folder / "o.parquet").read_bytes() in files.values()
            seen.add("finished")
    assert {one["status"] for one in died} <= {-9, -15, 0, 2, 130}, [one for one in died if one["status"] == 99]
    assert "interrupted" in seen, "no kill met a release at work: the moments are badly chosen"


@forks
def test_kills_at_random_moments(tmp_path: Path, perform: Perform) -> None:
    """Each way of ending it twice: in a first draw, and in a second one by force."""
    kills(8, tmp_path, 1, perform, 40_000)


@forks
@pytest.mark.long
def test_fifty_kills_at_random_moments(tmp_path: Path, perform: Perform) -> None:
    kills(50, tmp_path, 2, perform)


@forks
@pytest.mark.long
@pytest.mark.campaign
def test_a_thousand_kills_at_random_moments(tmp_path: Path, perform: Perform) -> None:
    kills(1000, tmp_path, 3, perform)


# -- a full disk -----------------------------------------------------------------------------------------------


@forks
def test_a_full_disk_loses_nothing(tmp_path: Path, perform: Perform) -> None:
    """No file may pass a few bytes: below the accountant's line, within the output, above it but below the manifest's
    room. An earlier output stays whole, no partial one stays, and what may have been seen of it counts as drawn."""
    cases: list[dict[str, Any]] = []
    for name in ("t.csv", "t.parquet", "t.arrow"):
        for room in (100, 12_000):
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
    known = [states(accountant_of(case)) for case in cases]
    before = [contents(case["folder"]) for case in cases]
    for case, lines, files, result in zip(cases, known, before, perform(cases), strict=True):
        assert result["status"] == 2, result
        wrong = [line for line in result["err"].splitlines() if not line.startswith("rropt: warning: ")]
        assert len(wrong) == 1, result["err"]
        assert "cannot write (" in result["err"]
        drawn = [] if case["limit"] == 100 else ["drawing"]
        assert states(accountant_of(case)) == lines + drawn
        after = contents(case["folder"])
        for one in (after, files):
            one.pop(accountant_of(case).name, None)
        assert after == files


def accountant_of(case: dict[str, Any]) -> Path:
    """The accountant of the data that a case releases."""
    return Path(case["folder"]) / f"{case['arguments'][2]}.accountant"


@forks
def test_a_disk_without_room_for_the_manifest(tmp_path: Path, perform: Perform) -> None:
    """The output is written whole by then, under its temporary name; it goes again."""
    twin, folder = place(tmp_path, "twin", 3), place(tmp_path, "real", 3)
    arguments = ["apply", "r.toml"]
    # The names of what is left out stand in the manifest alone.
    names = [f"a name that is long enough for the manifest to be long {number}" for number in range(300)]
    plan = f'schema = 1\ndata = "t.csv"\noutput = "o.csv"\ndrop = {json.dumps(names)}\n'
    for where in (twin, folder):
        (where / "t.csv").write_text("\n".join([",".join(["x", *names]), *(c + ",1" * 300 for c in "ab"), ""]))
        (where / "r.toml").write_text(f'{plan}[[column]]\nname = "x"\nmechanism = "m.json"\n', encoding="utf-8")
    (whole,) = perform([{"folder": twin, "arguments": arguments}])
    assert whole["status"] == 0
    room = (twin / "o.csv.manifest.json").stat().st_size - 1
    assert (twin / "t.csv.accountant").stat().st_size < room
    before = contents(folder)
    (result,) = perform([{"folder": folder, "arguments": arguments, "limit": room}])
    assert result["status"] == 2
    assert "o.csv.manifest.json: cannot write (File too large)" in result["err"]
    after = contents(folder)
    assert after.keys() - before.keys() == {"t.csv.accountant"}
    again = perform([{"folder": folder, "arguments": [*arguments, *more]} for more in ([], ["--force"])])
    assert [one["status"] for one in again] == [2, 0], "what stood in a file counts as drawn"
    assert "was interrupted on" in again[0]["err"]


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
    from rropt.release.tables import parquet

    monkeypatch.setattr(parquet, "BATCH_ROWS", 1024)
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


@pytest.mark.parametrize("count", graded([60_000], [300_000]))
def test_a_seeded_table_fits_the_mechanism(count: int) -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"x": pa.array(np.array(LABELS, dtype=object)[rng.integers(0, 8, count)])})
    made = release_table(table, ProtectedColumn("x", MECHANISM), source=insecure_seeded_source(1))
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
