"""The place of an accountant: a file, or a database of PostgreSQL by its URL."""

import os
from fractions import Fraction
from pathlib import Path

from rropt.errors import UnknownName
from rropt.io.files import named_path, real_path
from rropt.release.storage.chain import Chain
from rropt.release.storage.database import AccountantFile, create_accountant
from rropt.release.storage.postgres import AccountantTable, Server, create_table, is_url

Place = Path | Server


def accountant_place(given: str | os.PathLike[str]) -> Place:
    """The place that a path or a URL names. Raises InputError."""
    text = os.fspath(given)
    return Server(text) if is_url(text) else named_path(given)


def known_place(given: str | os.PathLike[str] | None) -> Place | None:
    """The place of an accountant that was made, or of a folder of accountants. Raises InputError where it does not exist: a new
    accountant has no ceiling, and a mistyped name must not make one."""
    place = None if given is None else accountant_place(given)
    if isinstance(place, Path) and not place.exists():
        raise UnknownName(
            "there is no such accountant", str(place), f"check the name, or: rropt accountant init {place} --ceiling E"
        )
    return place


def whole_place(place: Place) -> Place:
    """The place whatever the folder of the process."""
    return place if isinstance(place, Server) else real_path(place)


def open_accountant(place: Place, writable: bool = True) -> Chain:
    """The accountant at `place`. Raises OSError and InputError."""
    return AccountantTable(place) if isinstance(place, Server) else AccountantFile(place, writable)


def create(place: Place, ceiling: Fraction | None, unit: str, delta: Fraction | None) -> None:
    """Make an accountant. Raises FileExistsError, and OSError where it cannot be made."""
    if isinstance(place, Server):
        create_table(place, ceiling, unit, delta)
    else:
        create_accountant(place, ceiling, unit, delta)
