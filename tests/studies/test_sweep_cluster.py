"""Sweeps and releases of folders in several processes and on a Dask cluster: the same results, and death of all kinds.

The cluster lives on the loopback address, with two workers of two threads each, for the length of this file: in this
process for the quick tests, which spares the start of three, and in processes of their own for those that kill them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from accountants import draws, states
from rropt.models import lopuhaa2021

import rropt as rr
from rropt import __main__ as cli
from rropt.cli.figures import swept_figure
from rropt.io import processes
from rropt.io.processes import spread
from rropt.studies.sweeps.journal import journal_path

pytest.importorskip("joblib")
distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from rropt.release import folder as folders  # noqa: E402
from rropt.release.account import Account  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes")

PRIOR = rr.Prior.from_counts({"a": 50, "b": 30, "c": 15, "d": 5})
LABELS = ("u", "v", "w")
MECHANISM = rr.RandomizedResponse(LABELS, epsilon=1).to_mechanism()


@contextmanager
def started(workers: int, processes: bool = True) -> Iterator[Any]:
    """A cluster of workers in processes of their own or in this one; Dask's own grace of seconds is not waited for."""
    import logging

    made = distributed.LocalCluster(
        n_workers=workers,
        processes=processes,
        protocol="tcp",
        threads_per_worker=2,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    yield made
    # A machine that is busy lets workers die slowly; then they are killed, which is not a fault of these tests.
    with suppress(TimeoutError):
        made.close(timeout=60)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with started(2) as made:
        yield made


@pytest.fixture(scope="module")
def threads() -> Iterator[Any]:
    with started(2, processes=False) as made:
        yield made


def many(quick: bool) -> dict[str, rr.Problem]:
    """A problem for each of several methods, none of them solved in closed form."""
    information, uniform = rr.Maximize(rr.MutualInformation(PRIOR)), rr.Prior.uniform(5)
    chain = rr.MetricDP([("a", "b"), ("b", "c"), ("c", "d")], epsilon=1)
    losses = [[0 if x == y else (37 * x + 53 * y) % 10 for y in range(4)] for x in range(4)]
    found = {
        "vertices": rr.Problem(information, [rr.LDP(1)]),
        "linear": rr.Problem(rr.Minimize(rr.ExpectedLoss(PRIOR, losses)), [rr.LDP("1.5"), rr.Floor("0.3")]),
        "infeasible": rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1), rr.Floor("0.9")]),
    }
    return (
        found
        if quick
        else found
        | {
            "columns": rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.uniform(24))), [rr.LDP(2)]),
            "metric": rr.Problem(information, [chain]),
            "designs": rr.Problem(rr.Minimize(rr.MinimaxRisk(uniform)), [rr.LDP(1)]),
            "conic": rr.Problem(
                rr.Maximize(rr.InjectedEntropy()), [rr.LDP(1), rr.Floor("0.3")], inputs=["a", "b", "c"]
            ),
        }
    )


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_same_rows_in_one_process_in_two_and_on_a_cluster(
    quick: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Bit for bit, files too, with hash seeds that differ from process to process."""
    problems, cluster = many(quick), request.getfixturevalue("threads" if quick else "cluster")
    one = rr.sweep(problems, over=None, out=tmp_path / "one.parquet", gap=1e-6)
    assert {row["status"] for row in one.rows} == {"certified", "infeasible"}
    two = rr.sweep(problems, over=None, out=tmp_path / "two.parquet", workers=2, gap=1e-6)
    dask = rr.sweep(problems, over=None, out=tmp_path / "dask.parquet", scheduler=cluster.scheduler_address, gap=1e-6)
    assert one.rows == two.rows == dask.rows
    table = (tmp_path / "one.parquet").read_bytes()
    assert table == (tmp_path / "two.parquet").read_bytes() == (tmp_path / "dask.parquet").read_bytes()
    # What one way has begun another one ends.
    journal = journal_path(tmp_path / "dask.parquet")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]))
    again = rr.sweep(problems, over=None, out=tmp_path / "dask.parquet", gap=1e-6)
    assert (again.resumed, again.rows) == (2, one.rows)


@pytest.mark.long
def test_figures_are_the_same_swept_and_at_one_go(cluster: Any, tmp_path: Path) -> None:
    whole = lopuhaa2021.figure(7, draws=2, points=2)
    swept = swept_figure(7, 2, points=2, out=tmp_path / "t.parquet", scheduler=cluster.scheduler_address)
    assert (swept.csv(), swept.svg(), swept.note) == (whole.csv(), whole.svg(), whole.note)
    told: list[tuple[int, int, int]] = []
    more = swept_figure(7, 3, points=2, out=tmp_path / "t.parquet", report=lambda *at: told.append(at))
    assert told[0] == (8, 8, 12)
    assert more.csv() == lopuhaa2021.figure(7, draws=3, points=2).csv()


@pytest.mark.long
def test_figures_3_and_4_are_the_same_swept_and_at_one_go(cluster: Any, tmp_path: Path) -> None:
    for number in (3, 4):
        whole = lopuhaa2021.figure(number, draws=2, points=4).csv()
        out = tmp_path / f"{number}.parquet"
        assert swept_figure(number, 2, points=4, out=out, workers=2).csv() == whole
        assert swept_figure(number, 2, points=4, scheduler=cluster.scheduler_address).csv() == whole


def test_figures_that_are_no_means_of_draws_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for paper, number in (("lopuhaa2021", 5), ("ayed2020", 3)):
        assert cli.main(["models", "figure", paper, str(number), "--workers", "2", "-o", str(tmp_path)]) == 2
        assert "is not made draw by draw" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


# -- death of workers ----------------------------------------------------------------------------------------


def dying(flag: str, x: int) -> dict[str, int]:
    """The first one to come to 3 dies, with no chance to clean up."""
    if x == 3:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return {"square": x * x}


@pytest.mark.long
def test_a_worker_that_dies_costs_nothing_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    over = {"flag": [str(tmp_path / "flag")], "x": range(8)}
    found = rr.sweep(dying, over=over, out=tmp_path / "t.csv", scheduler=cluster.scheduler_address)
    assert (tmp_path / "flag").exists()
    assert (found.failures, found.column("square")) == ((), [x * x for x in range(8)])


@pytest.mark.long
def test_a_process_that_dies_ends_the_sweep_in_one_line(tmp_path: Path) -> None:
    over = {"flag": [str(tmp_path / "flag")], "x": range(8)}
    with pytest.raises(rr.RroptError, match="workers: a process died") as caught:
        rr.sweep(dying, over=over, out=tmp_path / "t.csv", workers=2)
    assert "\n" not in str(caught.value)
    found = rr.sweep(dying, over=over, out=tmp_path / "t.csv")
    assert found.resumed == len(journal_path(tmp_path / "t.csv").read_bytes().splitlines()) - 1 - (8 - found.resumed)
    assert found.column("square") == [x * x for x in range(8)]


def test_a_cluster_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "CONNECTING", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense", "http://127.0.0.1:1"):
        with pytest.raises(rr.InputError, match="no Dask scheduler answers") as caught:
            list(spread(abs, [1, 2], scheduler=address))
        assert str(caught.value).startswith(address)
        assert "\n" not in str(caught.value)


def strange(point: Any) -> Any:
    """Changes what the worker believes to have installed."""
    processes._environment = lambda: (("python", "2.7"),)
    return point


@pytest.mark.long
def test_a_worker_with_other_versions_is_refused() -> None:
    """On a cluster of its own, for the worker stays strange; Dask's restart sometimes loses one for good."""
    with started(1) as cluster:
        address = cluster.scheduler_address
        assert list(spread(strange, ["x"], scheduler=address)) == [(0, "x")]
        with pytest.raises(rr.InputError, match=r"a worker has python 2\.7 and not"):
            list(spread(abs, range(8), scheduler=address))


SCRIPT = """
import os, sys, time
import rropt as rr

def slowly(x):
    with open("begun", "a") as stream:
        stream.write(f"{os.getpid()} {x}\\n")
    time.sleep(0.1)
    return {"square": x * x, "third": x / 3}

if __name__ == "__main__":
    rr.sweep(slowly, over={"x": range(16)}, out="t.parquet", workers=2)
"""


def is_there(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_killed_sweep_of_two_processes_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SCRIPT, encoding="utf-8")
    begun, journal = tmp_path / "begun", tmp_path / "t.parquet.journal.jsonl"
    process = subprocess.Popen([sys.executable, "s.py"], cwd=tmp_path)
    until = time.monotonic() + 300
    try:
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 4):
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    finished = journal.read_bytes().count(b"\n") - 1
    workers = {int(line.split()[0]) for line in begun.read_text(encoding="utf-8").splitlines()}
    assert len(workers) in (1, 2)
    assert finished < 16
    until = time.monotonic() + 120
    while any(is_there(one) for one in workers):
        assert time.monotonic() < until, "a worker outlived the sweep"
        time.sleep(0.05)
    again = subprocess.run([sys.executable, "s.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert rows == [{"x": x, "square": x * x, "third": x / 3} for x in range(16)]
    # Handed out when it was killed: one to do and one to come for each process.
    assert len(begun.read_text(encoding="utf-8").splitlines()) <= 16 + 4


# -- folders of files ----------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with four Parquet files, one of them in a folder of its own."""
    for number, name in enumerate(("a", "b", "part=1/c", "d")):
        place = tmp_path / "data" / f"{name}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"x": [LABELS[at // (number + 1) % 3] for at in range(500)], "k": range(500)}), place)
    (tmp_path / "data" / "notes.txt").write_text("no table", encoding="utf-8")
    return tmp_path / "data"


NAMES = ["a.parquet", "b.parquet", "d.parquet", "part=1/c.parquet"]
RELEASE = rr.release.Release(rr.release.ProtectedColumn("x", MECHANISM))


def contents(place: Path) -> dict[str, bytes]:
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def drawn(data: Path) -> dict[str, int]:
    """How many draws the accountants tell of."""
    return {
        path.relative_to(data).as_posix().removesuffix(".accountant"): len(states(path))
        for path in data.rglob("*.accountant")
    }


@pytest.mark.parametrize("way", ["one", pytest.param("two", marks=pytest.mark.long), "cluster"])
def test_a_folder_is_released_file_by_file_and_once(way: str, data: Path, threads: Any, tmp_path: Path) -> None:
    places: dict[str, Any] = {"one": {}, "two": {"workers": 2}, "cluster": {"scheduler": threads.scheduler_address}}
    out = tmp_path / "out"
    found = rr.release.release_folder(data, RELEASE, out, **places[way])
    assert found
    assert [one.file for one in found.files] == NAMES
    assert found.counts == {"released": 4}
    assert sum(one.rows for one in found.files) == 2000
    for name in NAMES:
        assert rr.release.counts_of(out / name, "x", MECHANISM).sum() == 500
        assert pq.read_table(out / name)["k"].to_pylist() == list(range(500))
    before = contents(tmp_path)
    again = rr.release.release_folder(data, RELEASE, out, **places[way])
    assert again.counts == {"existing": 4}
    assert contents(tmp_path) == before
    assert drawn(data) == dict.fromkeys(NAMES, 1)
    # One that is lost is not drawn again by itself; a new file is released.
    (out / "a.parquet").unlink()
    pq.write_table(pa.table({"x": ["u"]}), data / "e.parquet")
    third = rr.release.release_folder(data, RELEASE, out, **places[way])
    assert third.counts == {"refused": 1, "existing": 3, "released": 1}
    assert "--force" in third.refused[0].note
    assert drawn(data) == dict.fromkeys([*NAMES, "e.parquet"], 1)


def killed_while_drawing(task: Any) -> Any:
    """The first to release b dies when its draw has begun, as a machine dies."""
    from rropt.release import run

    flag = task.data.with_name("flag")
    if task.name == "b.parquet" and not flag.exists():
        flag.touch()
        run.Protector.draw = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    return folders._one(task)


def killed_when_done(task: Any) -> Any:
    """The first to release b dies when everything is done and nobody knows yet."""
    flag = task.data.with_name("flag")
    made = folders._one(task)
    if task.name == "b.parquet" and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return made


@pytest.mark.long
@pytest.mark.parametrize("step", [killed_while_drawing, killed_when_done])
def test_a_task_that_a_scheduler_tries_again_draws_nothing_again(
    step: Callable[[Any], Any], data: Path, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(folders, "_work", step)
    account = tmp_path / "all"
    Account.create(account)
    shared = {"accountant": account, "population": "{file}"}
    found = rr.release.release_folder(data, RELEASE, out, scheduler=cluster.scheduler_address, **shared)
    assert (data / "flag").exists()
    assert drawn(data) == dict.fromkeys(NAMES, 1)
    assert sorted(one["population"] for one in draws(account)) == NAMES
    states = {one.file: one.state for one in found.files}
    if step is killed_when_done:
        # Others may have died with it when they were done too; nothing was drawn for any a second time.
        assert states["b.parquet"] == "existing"
    else:
        assert states["b.parquet"] == "refused"
        assert "was interrupted on" in found.refused[0].note
        assert not (out / "b.parquet").exists()
    for one in found.files:
        if one.state != "refused":
            assert rr.release.counts_of(out / one.file, "x", MECHANISM).sum() == 500


def test_bad_folders_end_in_one_line_and_nothing_is_drawn(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(processes, "CONNECTING", 0.5)
    MECHANISM.save("m.json")
    Path("empty").mkdir()
    before = contents(tmp_path)
    apply = ["apply", "m.json"]
    for arguments, said in (
        (["empty", "--column", "x"], "does not have a .parquet file"),
        (["data", "--column", "y"], "a.parquet: it has no column 'y'|no column"),
        (["data", "--column", "x", "-o", "data/out"], "it is in the folder of the data"),
        (["data", "--column", "x", "-o", "m.json"], "it exists and is not a folder"),
        (["data", "--column", "x", "--force"], "--force is for one file"),
        (["data", "--column", "x", "--delimiter", ";"], "--delimiter is for text files"),
        (["data", "--column", "x", "--workers", "0"], "workers: it is 0"),
        (["data/a.parquet", "--column", "x", "--workers", "2"], "leave --workers out"),
        (["data/a.parquet", "--column", "x", "--scheduler", "tcp://127.0.0.1:1"], "leave --scheduler out"),
        (["data", "--column", "x", "--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers"),
    ):
        assert cli.main([*apply, *arguments]) == 2
        told = capsys.readouterr()
        assert any(part in told.err for part in said.split("|")), told.err
        assert told.err.count("\n") == 1
        assert contents(tmp_path) == before
    assert cli.main([*apply, "data", "--column", "k"]) == 2
    told = capsys.readouterr()
    assert told.err.count("are unknown") == told.err.count("\n") == 4
    assert contents(tmp_path) == before
    assert cli.main([*apply, "data", "--column", "x", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["output"], found["released"], len(found["files"])) == ("data.protected", 4, 4)
    assert found["files"][0]["epsilon"] == pytest.approx(1, abs=1e-9)
