"""Lines of a shared accountant are on the disk before a draw begins, also after a loss of power."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
from pathlib import Path
from typing import NoReturn

import pytest
from accountants import draws, events

from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.release import ProtectedColumn, release_file
from rropt.release.storage.chain import DRAWING
from rropt.release.storage.database import AccountantFile, create_accountant

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere SQLite syncs each commit")
SYNC = "fdatasync" if hasattr(os, "fdatasync") else "fsync"
PAGE = 4096 + 24
"""Bytes of a page in the log."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_name_of_a_new_log_is_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    create_accountant(Path("all"), None, "person")
    assert not Path("all-wal").exists()
    seen, real = [], os.fsync

    def sync(handle: int) -> None:
        real(handle)
        if os.path.samestat(os.fstat(handle), os.stat(".")):
            seen.append(Path("all-wal").exists())

    monkeypatch.setattr(os, "fsync", sync)
    file = AccountantFile(Path("all").resolve())
    with file.transaction():
        assert seen[-1:] == [True]
    file.close()


def test_no_draw_is_lost_with_the_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the log there is what was synced, and any pages of what was written later, in any order."""
    create_accountant(Path("all"), None, "person")
    base, log, synced = Path("all").read_bytes(), Path("all-wal"), []
    real = getattr(os, SYNC)

    def sync(handle: int) -> None:
        real(handle)
        assert os.path.samestat(os.fstat(handle), os.stat(log))
        synced.append(log.read_bytes())

    monkeypatch.setattr(os, SYNC, sync)
    files = [AccountantFile(Path("all").resolve()) for _ in range(2)]
    for number in range(40):
        file = files[number % 2]
        with file.transaction():
            file.append({"event": DRAWING, "release": str(number), "columns": [], "long": "x" * 997 * (number % 5)})
        assert len(synced) == number + 1
    whole = log.read_bytes()
    for file in files:
        file.close()
    rng = random.Random(1)
    for number, before in enumerate(synced):
        after = bytearray(whole)
        for start in range(len(before), len(whole), PAGE):
            if rng.random() < 0.5:
                after[start : start + PAGE] = bytes(len(after[start : start + PAGE]))
        Path("then").write_bytes(base)
        Path("then-wal").write_bytes(after)
        file = AccountantFile(Path("then").resolve())
        found = [event["release"] for event in file.read() if "release" in event]
        file.close()
        assert found == list(map(str, range(len(found))))
        assert len(found) > number
        for left in Path().glob("then*"):
            left.unlink()


def test_a_line_is_there_before_it_is_synced_and_the_lock_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    create_accountant(Path("all"), None, "person")
    real, seen = getattr(os, SYNC), []

    def sync(handle: int) -> None:
        # Another process reads the line, and could write.
        seen.append(len(events(Path("all"))))
        other = sqlite3.connect("all", 0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.close()
        real(handle)

    monkeypatch.setattr(os, SYNC, sync)
    file = AccountantFile(Path("all").resolve())
    for number in range(3):
        with file.transaction():
            file.append({"event": DRAWING, "release": str(number), "columns": []})
    file.close()
    assert seen == [1, 2, 3]


def test_where_the_line_cannot_be_synced_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.main(["accountant", "init", "--ceiling", "1", "all"]) == 0
    Path("t.csv").write_text("x\na\n", encoding="utf-8")
    column = ProtectedColumn("x", RandomizedResponse(("a", "b"), epsilon=1).to_mechanism())

    def sync(handle: int) -> NoReturn:
        raise OSError(errno.EIO, "the disk is broken")

    with monkeypatch.context() as patch:
        patch.setattr(AccountantFile, "sync", lambda self: sync(0) if self._log is not None else None)  # type: ignore[misc]
        patch.setattr("rropt.release.run.PrivateStream", sync)
        with pytest.raises(InputError, match="the disk is broken"):
            release_file("t.csv", column, accountant="all")
    assert sorted(path.name for path in Path().iterdir() if not path.name.startswith("all")) == ["t.csv"]
    # What could not be synced may be on the disk: it counts, or was withdrawn.
    for one in draws(Path("all")):
        assert one["state"] == "drawing"
