"""Watches folders of releases as another user, until its input ends; see test_release_kills.py.

Prints a JSON list of what that user could read and should not: accountants, and partial outputs that are not complete.
"""

from __future__ import annotations

import io
import json
import os
import select
import sys
from pathlib import Path

import pyarrow.parquet as pq

OTHER = 65534
"""The user nobody."""
PAUSE = 0.01
"""Seconds between looks: without them this takes a processor of its own. A file is written for longer."""


def is_complete(data: bytes) -> bool:
    """Whether this is a whole Parquet file."""
    try:
        return pq.read_table(io.BytesIO(data)).num_rows >= 0
    except Exception:
        return False


def names(folder: Path) -> list[Path]:
    """What stands in a folder; nothing where it is not there any more."""
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


if __name__ == "__main__":
    root, found = Path(sys.argv[1]), set()
    if os.geteuid() == 0:
        is_complete(b"")  # Everything is loaded before this user can no longer read the installation.
        os.setgroups([])
        os.setgid(OTHER)
        os.setuid(OTHER)
    print("watching", flush=True)
    looks = 0
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        looks += 1
        for path in (one for first in names(root) for one in (first, *names(first))):
            if path.name.endswith((".tmp", "-wal", "-journal", "-shm", ".accountant")) or path.name.startswith(
                ("all", "t.parquet.")
            ):
                try:
                    data = path.read_bytes()
                except OSError:
                    continue
                if not (path.name.endswith(".tmp") and is_complete(data)):
                    found.add(path.name)
    print(json.dumps([looks, sorted(found)]))
