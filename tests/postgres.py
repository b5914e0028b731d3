"""A server of PostgreSQL for tests (Debian: postgresql), and databases in it; without one the tests are skipped."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

USER = "rropt"


def programs() -> Path | None:
    """The folder of initdb and pg_ctl."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The folder of the socket of a new server, which ends with the context. As root it runs as `postgres`."""
    pytest.importorskip("psycopg")
    folder = programs()
    if folder is None or os.name != "posix":
        pytest.skip("needs PostgreSQL (Debian: postgresql)")
    given: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL}
    if os.geteuid() == 0:
        given |= {"user": "postgres", "group": "postgres"}
    # Not in the folder of the test: names of sockets are short.
    place = Path(tempfile.mkdtemp(prefix="rropt-pg-"))
    if os.geteuid() == 0:
        shutil.chown(place, "postgres", "postgres")
    place.chmod(0o755)
    data = str(place / "data")
    control = [str(folder / "pg_ctl"), "-D", data, "-w", "-s"]
    try:
        subprocess.run([str(folder / "initdb"), "-D", data, "-A", "trust", "-U", USER, "--no-sync"], cwd="/", **given)
        options = f"-k {place} -c listen_addresses= -c max_connections=80 -c fsync=off"
        subprocess.run([*control, "-l", str(place / "log"), "-o", options, "start"], cwd="/", **given)
        yield str(place)
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run([*control, "-m", "immediate", "stop"], cwd="/", **given)
        shutil.rmtree(place, ignore_errors=True)


def run(url: str, *commands: str) -> list[tuple[Any, ...]]:
    """Run commands of SQL; the rows of the last one."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = [connection.execute(command) for command in commands][-1]
        return cursor.fetchall() if cursor.description else []


def database(socket: str, name: str) -> str:
    """The URL of a new database."""
    run(f"postgresql:///postgres?host={socket}&user={USER}", f'CREATE DATABASE "{name}"')
    return f"postgresql:///{name}?host={socket}&user={USER}"
