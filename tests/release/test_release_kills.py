"""Releases under one shared ledger that are ended at random moments: what was drawn is in both ledgers, no total is
understated, and no other user reads what is half written. An independent script reads all that is left."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ledgers import draws
from postgres import database, server
from release_census import Census

from rropt import __main__ as cli
from rropt.mechanisms.families.randomized_response import RandomizedResponse

pa = pytest.importorskip("pyarrow")
resource = pytest.importorskip("resource")
import pyarrow.parquet as pq  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TESTS = Path(__file__).resolve().parents[1]
LABELS = tuple("abcdefgh")
ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, "full disk", "unknown value")
DRIVERS = 2
ROWS = 100_000


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that other users may enter."""
    place = Path(tempfile.mkdtemp(prefix="rropt-kills-"))
    place.chmod(0o755)
    try:
        yield place
    finally:
        shutil.rmtree(place)


def data_of(last: str) -> Any:
    """A table whose last value is this one."""
    codes = np.random.default_rng(1).integers(0, len(LABELS), ROWS - 1).astype(np.int8)
    column = pa.DictionaryArray.from_arrays(pa.array(codes), LABELS).cast(pa.string())
    return pa.table({"x": pa.chunked_array([column, pa.array([last])])})


@contextlib.contextmanager
def watched(root: Path) -> Iterator[list[Any]]:
    """Another user looks all the time; what the list holds at the end is (how often, what was read)."""
    command = [sys.executable, str(TESTS / "release_watch.py"), str(root)]
    told: list[Any] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout is not None
        assert watcher.stdin is not None
        assert watcher.stdout.readline() == "watching\n"
        yield told
        assert watcher.poll() is None, "it looked for a part of the time only"
        watcher.stdin.close()
        told += json.loads(watcher.stdout.read())


def perform(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of cases in their order; several processes of `release_driver.py` work at once."""

    def part(number: int) -> list[dict[str, Any]]:
        given = json.dumps(cases[number::DRIVERS], default=str) + "\n"
        command = [sys.executable, str(TESTS / "release_driver.py")]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    with ThreadPoolExecutor(DRIVERS) as pool:
        parts = list(pool.map(part, range(DRIVERS)))
    return [parts[number % DRIVERS][number // DRIVERS] for number in range(len(cases))]


def kills(folders: int, root: Path, shared: Path | str, seed: int) -> None:
    """Twice as many ends as folders: in a first draw, and in a second one by force. Then the command as it was."""
    rng = random.Random(seed)
    assert cli.main(["ledger", "init", "--ceiling", "3", str(shared)]) == 0
    good, bad = root / "good", root / "bad"
    pq.write_table(data_of("a"), good)
    pq.write_table(data_of("z"), bad)
    mechanism = root / "m.json"
    RandomizedResponse(LABELS, epsilon=1).to_mechanism().save(mechanism)
    for number in range(folders):
        (root / str(number)).mkdir()
    census = Census(root, shared, Fraction(3))
    options = ["--column", "x", "-o", "o.parquet", "--ledger", str(shared), "--population"]

    def cases(ends: list[Any], *more: str) -> list[dict[str, Any]]:
        found = []
        for number, end in enumerate(ends):
            shutil.copy(bad if end == "unknown value" else good, root / str(number) / "t.parquet")
            how: dict[str, Any] = {}
            if end == "full disk":
                how = {"limit": rng.randrange(1, 2 * good.stat().st_size)}
            elif isinstance(end, signal.Signals):
                how = {"kill": rng.uniform(0, 1.1 * seconds), "signal": end}
            arguments = ["apply", str(mechanism), "t.parquet", *options, str(number), *more]
            found.append({"folder": root / str(number), "arguments": arguments, **how})
        return found

    seconds = 1.0
    with watched(root) as read:
        (root / "warm").mkdir()
        pq.write_table(data_of("a"), root / "warm" / "t.parquet")
        warm = {"folder": root / "warm", "arguments": ["apply", str(mechanism), "t.parquet", *options, "warm"]}
        again = warm | {"arguments": [*warm["arguments"], "--force"]}
        results = perform([warm, warm, again, again])
        seconds = results[-1]["seconds"]
        order = [ENDS[number % len(ENDS)] for number in range(folders)]
        statuses = []
        for more in ((), ("--force",)):
            results = perform(cases(order, *more))
            statuses += [one["status"] for one in results]
            assert census.faults() == []
            for end, one in zip(order, results, strict=True):
                assert end != "unknown value" or one["status"] == 2, one
            rng.shuffle(order)
        told = len(draws(shared))
        results = perform(cases(["none"] * folders))
        assert census.faults() == []
    assert set(statuses) <= {-9, -15, 0, 2, 130}, statuses
    assert {one["status"] for one in results} <= {0, 2}
    # Without force the last run draws only where nothing was drawn before.
    new = [one for one in results if one["status"] == 0 and "finished without" not in one["out"]]
    assert len(draws(shared)) == told + len(new)
    looks, readable = read
    assert looks > 3
    assert readable == []
    assert {-9, -15, 130} & set(statuses), "no end met a release at work: the moments are badly chosen"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_twenty_ends_under_a_shared_ledger(kind: str, root: Path) -> None:
    campaign(kind, 10, root, 2)


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_thousand_ends_under_a_shared_ledger(kind: str, root: Path) -> None:
    campaign(kind, 500, root, 3)


def campaign(kind: str, folders: int, root: Path, seed: int) -> None:
    if kind == "sqlite":
        kills(folders, root, root / "all", seed)
        return
    with server() as socket:
        kills(folders, root, database(socket, "people"), seed)


@contextlib.contextmanager
def executor(way: str) -> Iterator[tuple[list[str], Any]]:
    """The options of `apply` for a way to spread files, and the processes that work (those of the command: None)."""
    if way == "loky":
        yield ["--workers", "2"], None
        return
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings, silence_logs=logging.CRITICAL) as cluster:
        yield ["--scheduler", cluster.scheduler_address], lambda: [one.pid for one in cluster.workers.values()]


def end(process: subprocess.Popen[bytes], number: int, workers: Any, rng: random.Random) -> None:
    """Send a signal to all processes of a command, or to one worker of a cluster or the command."""
    if workers is None:
        os.killpg(process.pid, number)
        return
    os.kill(rng.choice([*filter(None, workers()), process.pid]), number)


def folder_ends(kind: str, way: str, ends: int, root: Path, seed: int) -> None:
    """Each end meets a new folder at a random moment after some draw was reserved; then the same command again, and a
    third time for what a scheduler had not given up yet."""
    rng = random.Random(seed)
    RandomizedResponse(LABELS, epsilon=1).to_mechanism().save(root / "m.json")
    with contextlib.ExitStack() as stack:
        shared: Path | str = root / "all"
        if kind == "postgres":
            shared = database(stack.enter_context(server()), "people")
        options, workers = stack.enter_context(executor(way))
        read = stack.enter_context(watched(root))
        assert cli.main(["ledger", "init", "--ceiling", "1", str(shared)]) == 0
        for number in range(ends):
            how = ENDS[number % len(ENDS)]
            data, out = root / f"d{number}", root / f"o{number}"
            data.mkdir()
            names = [f"{number}-{at}.parquet" for at in range(3)]
            for label, name in zip(LABELS, names, strict=False):  # no copies of each other, whose draws would be one
                pq.write_table(data_of("z" if how == "unknown value" and name == names[1] else label), data / name)
            command = [sys.executable, "-m", "rropt", "apply", "m.json", data.name, "--column", "x", "-o", out.name]
            command += ["--ledger", str(shared), "--population", "{file}", *options]
            before, known = len(draws(shared)), {}
            limit = rng.randrange(30_000, 60_000) if how == "full disk" else resource.RLIM_INFINITY
            first = [sys.executable, "-c", LIMITED, str(limit), *command[1:]]
            with subprocess.Popen(first, cwd=root, start_new_session=True, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and len(draws(shared)) == before:
                    time.sleep(0.05)
                if isinstance(how, signal.Signals):
                    time.sleep(rng.uniform(0, 0.3))
                    with contextlib.suppress(ProcessLookupError):
                        end(process, how, workers, rng)
            for _ in range(2):
                for path in out.glob("*.parquet"):
                    assert known.setdefault(path.name, path.read_bytes()) == path.read_bytes(), "drawn a second time"
                again = subprocess.run(command, cwd=root, check=False, capture_output=True)
                assert again.returncode in (0, 2), again
            told = [one for one in draws(shared) if one["population"] in names]
            assert len(told) == len({one["population"] for one in told}) <= len(names)
            for name in names:
                own = draws(data / f"{name}.ledger") if (data / f"{name}.ledger").exists() else []
                assert len([one for one in told if one["population"] == name]) >= (out / name).exists()
                assert len(own) <= 1
                if name in known:
                    assert (out / name).read_bytes() == known[name]
    assert read[1] == []


LIMITED = """
import os, resource, runpy, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sys.dont_write_bytecode = True
sys.argv = sys.argv[3:]
runpy.run_module("rropt", run_name="__main__", alter_sys=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("way", ["loky", "dask"])
def test_folders_that_are_ended_draw_no_file_twice(way: str, root: Path) -> None:
    folder_ends("sqlite", way, 5, root, 5)


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("way", ["loky", "dask"])
def test_a_hundred_folders_that_are_ended_draw_no_file_twice(kind: str, way: str, root: Path) -> None:
    folder_ends(kind, way, 100, root, 6)


@pytest.mark.long
def test_a_folder_in_two_processes_that_is_ended_draws_no_file_twice(root: Path) -> None:
    """All its processes end at once, at a random moment after some draw was reserved; then the same command again."""
    rng = random.Random(4)
    (root / "parts").mkdir()
    names = [f"{number}.parquet" for number in range(6)]
    for label, name in zip(LABELS, names, strict=False):  # no copies of each other, whose draws would be one
        pq.write_table(data_of(label), root / "parts" / name)
    RandomizedResponse(LABELS, epsilon=1).to_mechanism().save(root / "m.json")
    assert cli.main(["ledger", "init", "--ceiling", "1", str(root / "all")]) == 0
    command = [sys.executable, "-m", "rropt", "apply", "m.json", "parts", "--column", "x", "-o", "out"]
    command += ["--ledger", "all", "--population", "{file}", "--workers", "2"]
    known: dict[str, bytes] = {}
    for _ in range(4):
        before = len(draws(root / "all"))
        with subprocess.Popen(command, cwd=root, start_new_session=True, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and len(draws(root / "all")) == before:
                time.sleep(0.05)
            time.sleep(rng.uniform(0, 0.3))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for path in (root / "out").glob("*.parquet"):
            assert known.setdefault(path.name, path.read_bytes()) == path.read_bytes(), "drawn a second time"
    assert subprocess.run(command, cwd=root, check=False, capture_output=True).returncode in (0, 2)
    assert sorted(one["population"] for one in draws(root / "all")) == names
    for name in names:
        assert len(draws(root / "parts" / f"{name}.ledger")) == 1
        if name in known:
            assert (root / "out" / name).read_bytes() == known[name]
    assert list((root / "out").glob("*.parquet"))
