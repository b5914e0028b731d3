"""Where a ledger is: a file, or a database of PostgreSQL by its URL."""

import os
from fractions import Fraction
from pathlib import Path

from rropt.errors import InputError
from rropt.io.files import named_path, real_path
from rropt.release.storage.chain import Chain
from rropt.release.storage.database import LedgerFile, create_ledger
from rropt.release.storage.postgres import LedgerTable, Server, create_table, is_url

Place = Path | Server


def ledger_place(given: str | os.PathLike[str]) -> Place:
    """The place that a path or a URL names. Raises InputError."""
    text = os.fspath(given)
    return Server(text) if is_url(text) else named_path(given)


def known_place(given: str | os.PathLike[str] | None) -> Place | None:
    """The place of a ledger that was made, or of a folder of ledgers. Raises InputError where it does not exist: a new
    ledger has no ceiling, and a mistyped name must not make one."""
    place = None if given is None else ledger_place(given)
    if isinstance(place, Path) and not place.exists():
        raise InputError(
            "there is no such ledger", str(place), f"check the name, or: rropt ledger init {place} --ceiling E"
        )
    return place


def whole_place(place: Place) -> Place:
    """The place whatever the folder of the process."""
    return place if isinstance(place, Server) else real_path(place)


def open_ledger(place: Place, writable: bool = True) -> Chain:
    """The ledger at `place`. Raises OSError and InputError."""
    return LedgerTable(place) if isinstance(place, Server) else LedgerFile(place, writable)


def create(place: Place, ceiling: Fraction | None, unit: str, delta: Fraction | None) -> None:
    """Make a ledger. Raises FileExistsError, and OSError where it cannot be made."""
    if isinstance(place, Server):
        create_table(place, ceiling, unit, delta)
    else:
        create_ledger(place, ceiling, unit, delta)
