"""Accountants as tests read them: the database itself, with nothing of rropt."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from postgres import run


def events(path: Path | str) -> list[dict[str, Any]]:
    """The lines after the first of a file or of a database of PostgreSQL, in their order; none where there is no
    file."""
    if not isinstance(path, Path):
        lines = run(path, "SELECT line FROM rropt_accountant WHERE number > 1 ORDER BY number")
    elif not path.exists():
        return []
    else:
        connection = sqlite3.connect(path)
        try:
            lines = connection.execute("SELECT line FROM accountant WHERE number > 1 ORDER BY number").fetchall()
        finally:
            connection.close()
    return [json.loads(line) for (line,) in lines]


def length(place: str) -> int:
    """The number of lines of the accountant at a path or a URL."""
    if "://" in place:
        return int(run(place, "SELECT count(*) FROM rropt_accountant")[0][0])
    with contextlib.closing(sqlite3.connect(place)) as connection:
        return int(connection.execute("SELECT max(number) FROM accountant").fetchone()[0])


def draws(path: Path | str) -> list[dict[str, Any]]:
    """The draws with their `state`, without those that were abandoned."""
    found: dict[str, dict[str, Any]] = {}
    for event in events(path):
        if event["event"] == "abandoned":
            del found[event["release"]]
        elif event["event"] == "drawing":
            found[event["release"]] = event | {"state": "drawing"}
        else:
            found[event["release"]]["state"] = event["event"]
    return list(found.values())


def states(path: Path | str) -> list[str]:
    """Of each draw, whether it is "drawing" or "released"."""
    return [one["state"] for one in draws(path)]


def change(path: Path, *commands: str) -> None:
    """Run commands of SQL on an accountant, as nobody should."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for command in commands:
            connection.execute(command)
    finally:
        connection.close()
