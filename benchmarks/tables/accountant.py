"""Reserving draws from one accountant, and reading it again."""

from __future__ import annotations

import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from benchmarks.table import Column, Result, Scale, Table, as_number, as_seconds, mark
from rropt.release.storage.chain import DRAWING, RELEASED
from rropt.release.storage.database import AccountantFile, create_accountant

DRAWS: dict[Scale, int] = {"tiny": 200, "default": 100_000, "full": 100_000}
TARGET = 2_000.0
"""Reservations a second."""


class PrivacyAccountant(Table):
    """Reservations a second of an accountant with a ceiling."""

    name: ClassVar[str] = "accountant"
    title: ClassVar[str] = "Reserving draws"
    about: ClassVar[str] = """\
One process reserves draws from an accountant with a ceiling, each in a transaction of its own that is synced to the disk:
the sum is held against the ceiling, and the line is chained to the one before. *Released* is the second line of a draw,
that its output stands under its name. *Read* is to open the accountant again and to hold every line against its hash."""
    columns: ClassVar[tuple[Column, ...]] = (
        Column("draws", "draws"),
        Column("s", "seconds", as_seconds),
        Column("draws/s", "speed", as_number(0)),
        Column("target, draws/s", "target", as_number(0)),
        Column("met", "target met"),
        Column("released/s", "released", as_number(0)),
        Column("read, lines/s", "read", as_number(0)),
    )

    def measure(self, scale: Scale) -> Result:
        count = DRAWS[scale]
        told = {"time": "2026-12-01T00:00:00+00:00", "columns": [{"columns": ["x"], "privacy_ratio": "3"}]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "all"
            create_accountant(path, Fraction(10**8), "person")
            file, seconds = AccountantFile(path), []
            for kind in (DRAWING, RELEASED):
                begun = time.perf_counter()
                for number in range(count):
                    event = {"event": kind, "release": f"{number:016x}"}
                    with file.transaction():
                        file.append({**event, **told} if kind == DRAWING else event)
                seconds.append(time.perf_counter() - begun)
            file.close()
            begun = time.perf_counter()
            again = AccountantFile(path)
            lines = sum(1 for _ in again.read())
            seconds.append(time.perf_counter() - begun)
            again.close()
        return Result(
            [
                {
                    "draws": count,
                    "seconds": seconds[0],
                    "speed": count / seconds[0],
                    "target": TARGET,
                    "target met": mark(count / seconds[0] >= TARGET),
                    "released": count / seconds[1],
                    "read": lines / seconds[2],
                }
            ]
        )
