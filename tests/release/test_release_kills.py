"""Releases under one shared accountant that are ended at random moments: what was drawn is in both accountants, no total is
understated, and no other user reads what is half written. An independent script reads all that is left."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accountants import draws
from postgres import database, server
from release_census import Census, level

from rropt import __main__ as cli
from rropt.mechanisms.families.randomized_response import RandomizedResponse

pa = pytest.importorskip("pyarrow")
resource = pytest.importorskip("resource")
import pyarrow.parquet as pq  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TESTS = Path(__file__).resolve().parents[1]
LABELS = tuple("abcdefgh")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ENDS = (*SIGNALS, "full disk", "unknown value")
MOMENTS = 0.3
"""Seconds: two processes draw some files of a folder in this time."""
STATUSES = {-signal.SIGKILL, -signal.SIGTERM, 0, 2, 130}
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
    assert cli.main(["accountant", "init", "--ceiling", "3", str(shared)]) == 0
    good, bad = root / "good", root / "bad"
    pq.write_table(data_of("a"), good)
    pq.write_table(data_of("z"), bad)
    mechanism = root / "m.json"
    RandomizedResponse(LABELS, epsilon=1).to_mechanism().save(mechanism)
    for number in range(folders):
        (root / str(number)).mkdir()
    census = Census(root, shared, Fraction(3))
    options = ["--column", "x", "-o", "o.parquet", "--accountant", str(shared), "--population"]

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
    assert set(statuses) <= STATUSES, statuses
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
def test_twenty_ends_under_a_shared_accountant(kind: str, root: Path) -> None:
    campaign(kind, 10, root, 2)


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_thousand_ends_under_a_shared_accountant(kind: str, root: Path) -> None:
    campaign(kind, 500, root, 3)


def campaign(kind: str, folders: int, root: Path, seed: int) -> None:
    if kind == "sqlite":
        kills(folders, root, root / "all", seed)
        return
    with server() as socket:
        kills(folders, root, database(socket, "people"), seed)


class Cluster:
    """A Dask scheduler with two workers, which are started anew when they have ended."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        distributed = pytest.importorskip("distributed")
        cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=logging.CRITICAL)
        self.address: str = stack.enter_context(cluster).scheduler_address
        self._workers: list[subprocess.Popen[bytes]] = []
        stack.callback(self.close)

    def workers(self) -> list[int]:
        """The processes that work."""
        self._workers = [one for one in self._workers if one.poll() is None]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny"]
        while len(self._workers) < 2:
            self._workers.append(subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.DEVNULL))
        return [one.pid for one in self._workers]

    def close(self) -> None:
        """End the workers."""
        for one in self._workers:
            one.kill()
            one.wait()


@contextlib.contextmanager
def limited(processes: list[int], limit: int) -> Iterator[None]:
    """Inside, none of these processes can write a file that is longer."""
    for process in processes:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    yield
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class Folders:
    """Folders of files that are released in several processes, which are ended again and again."""

    def __init__(self, root: Path, kind: str, way: str, stack: contextlib.ExitStack) -> None:
        self.root, self.met = root, Counter[str]()
        RandomizedResponse(LABELS, epsilon=1).to_mechanism().save(root / "m.json")
        self.files = {}
        for label in (*LABELS[1:], "z"):  # no copies of each other, whose draws would be one
            pq.write_table(data_of(label), root / f"{label}.parquet")
            self.files[f"{label}.parquet"] = (root / f"{label}.parquet").read_bytes()
        self.socket = stack.enter_context(server()) if kind == "postgres" else None
        cluster = Cluster(stack) if way == "dask" else None
        self.options = ["--workers", "2"] if cluster is None else ["--scheduler", cluster.address]
        self.workers = list if cluster is None else cluster.workers
        command = [sys.executable, str(TESTS / "release_driver.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.driver = stack.enter_context(subprocess.Popen(command, text=True, **pipes))  # type: ignore[call-overload]

    def perform(self, case: dict[str, Any]) -> int:
        """The status of a case."""
        print(json.dumps([case], default=str), file=self.driver.stdin, flush=True)
        return int(json.loads(self.driver.stdout.readline())[0]["status"])

    def end(self, number: int, rng: random.Random) -> int:
        """The same command on one folder again and again, ended while files are left to be drawn, and at last as it
        is: then it meets an unknown value. Returns how many ends there were, the last one included."""
        data, out = self.root / f"d{number}", self.root / f"o{number}"
        shared = self.root / f"all{number}" if self.socket is None else database(self.socket, f"all{number}")
        assert cli.main(["accountant", "init", "--ceiling", "3", str(shared)]) == 0
        data.mkdir()
        for name, content in self.files.items():
            (data / name).write_bytes(content)
        arguments = ["apply", "m.json", data.name, "--column", "x", "-o", out.name, "--accountant", str(shared)]
        arguments += ["--population", "{file}", *self.options]
        case = {"folder": self.root, "arguments": arguments, "after": shared}
        known: dict[str, bytes] = {}
        seen: dict[str, set[str]] = defaultdict(set)
        for ends in itertools.count(1):
            # A draw that was begun in one of its two accountants, and not in the other one, is not begun again.
            begun = {one["population"] for path in (shared, *data.glob("*.accountant")) for one in draws(path)}
            new = self.files.keys() - begun - {"z.parquet"}
            how = rng.choice([*SIGNALS, "full disk"]) if new else "unknown value"
            workers: list[int] = self.workers()
            more: dict[str, Any] = {}
            if how == "full disk":
                more = {"limit": rng.randrange(2 * len(self.files["z.parquet"]))}
            elif isinstance(how, signal.Signals):
                more = {"signal": how, "kill": rng.uniform(0, MOMENTS)}
                if workers and rng.random() < 0.5:
                    more["victim"] = rng.choice(workers)
            with limited(workers, more.get("limit", resource.RLIM_INFINITY)):
                status = self.perform(case | more)
            self.met[f"{getattr(how, 'name', how)}: {status}"] += 1
            assert status in STATUSES, (how, status)
            self.read(data, out, shared, known, seen)
            if how == "unknown value":
                assert "z.parquet" not in known
                for folder in filter(Path.exists, (data, out)):  # the watcher has less to read
                    shutil.rmtree(folder)
                return ends

    def read(
        self, data: Path, out: Path, shared: Path | str, known: dict[str, bytes], seen: dict[str, set[str]]
    ) -> None:
        """Read all that is left, with nothing of rropt."""
        for path in out.glob(".*.tmp"):
            if path.stat().st_size:
                name, release = path.name[1:].rsplit(".", 2)[0], path.name.split(".")[-2]
                seen[name].add(release)
        stated = {}
        for path in out.glob("*.parquet"):
            assert known.setdefault(path.name, path.read_bytes()) == path.read_bytes(), "drawn a second time"
            manifest = json.loads((out / f"{path.name}.manifest.json").read_text(encoding="utf-8"))
            assert manifest["output"]["sha256"] == hashlib.sha256(known[path.name]).hexdigest()
            seen[path.name].add(manifest["release"])
            stated[path.name] = manifest["epsilon_with_earlier"]
        told = draws(shared)
        for name in self.files:
            common = [one for one in told if one["population"] == name]
            own = draws(data / f"{name}.accountant")
            assert len(common) <= 1, "reserved twice"
            assert len(own) <= 1, "drawn twice"
            assert seen[name] <= {one["release"] for one in own} & {one["release"] for one in common}
            assert stated.get(name, 1) >= sum(map(level, common)) - 1e-9


def folder_ends(kind: str, way: str, ends: int, root: Path, seed: int) -> None:
    """At least so many ends, at random moments after some draw was reserved."""
    rng = random.Random(seed)
    with contextlib.ExitStack() as stack:
        folders = Folders(root, kind, way, stack)
        read = stack.enter_context(watched(root))
        done = 0
        for number in itertools.count():
            done += folders.end(number, rng)
            if done >= ends:
                break
        print(way, kind, seed, done, sorted(folders.met.items()), flush=True)
        folders.driver.stdin.close()
    assert read[1] == []


@pytest.mark.long
@pytest.mark.parametrize("way", ["loky", "dask"])
def test_folders_that_are_ended_draw_no_file_twice(way: str, root: Path) -> None:
    folder_ends("sqlite", way, 5, root, 5)


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("way", ["loky", "dask"])
def test_folders_that_are_ended_two_hundred_times_draw_no_file_twice(kind: str, way: str, root: Path) -> None:
    folder_ends(kind, way, 200, root, 6)
