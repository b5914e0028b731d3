"""What callers use; the packages that it needs are loaded when it is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import InputError
from rropt.files import named_path
from rropt.mechanisms.mechanism import Mechanism
from rropt.release.extras import need
from rropt.release.plan import ProtectedColumn, Release, explicit
from rropt.sampling import Source

if TYPE_CHECKING:
    from rropt.release.folder import FolderReleased
    from rropt.release.run import Released

EXTRA = "tables"


def release_table(table: Any, release: Release | ProtectedColumn, source: Source | None = None) -> Any:
    """Protect a table in memory: pandas, polars or pyarrow in, the same out.

    The domain is that of the mechanisms: text means itself, an integer its decimal text; codes of a categorical column
    mean nothing. Missing and unknown values are an error that counts and lists them, unless the release says which
    label they are read as. Columns keep their order and, where all outputs are integers too, their type. Every call
    draws anew: releasing a table twice leaks twice as much. `source` is for tests. Raises InputError.
    """
    need("pyarrow", EXTRA)
    need("narwhals", EXTRA)
    from rropt.release.tables import protected_table

    return protected_table(table, _as_release(release), source)


def release_file(
    data: str | os.PathLike[str],
    release: Release | ProtectedColumn,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    delimiter: str | None = None,
    monitor: Callable[[int, int | None], None] | None = None,
) -> Released:
    """Protect a file (.csv, .tsv, .parquet, .arrow) in constant memory, and write a manifest beside the result.

    `output` is of the same format; by default it is DATA.protected.SUFFIX beside the data. It appears under its name
    whole or not at all. A ledger beside the data remembers every draw: what was released before, or was interrupted
    while it was drawn, is refused without `force`, because a second draw leaks more. What differs from `release_table`:
    in text files every value is text, and an empty one is missing. `monitor` is told rows done and rows in all (None
    where that is not known). Raises InputError; then nothing has changed.
    """
    need("pyarrow", EXTRA)
    from rropt.release.run import FileRelease, default_output

    source = named_path(data)
    target = default_output(source) if output is None else named_path(output)
    monitor = monitor or (lambda done, total: None)
    return FileRelease(source, _as_release(release), target, force, delimiter, monitor).run()


def release_folder(
    data: str | os.PathLike[str],
    release: Release | ProtectedColumn,
    output: str | os.PathLike[str] | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    report: Callable[[int, int, int], None] = lambda done, standing, total: None,
) -> FolderReleased:
    """Protect every .parquet file of a folder, and of the folders in it, as `release_file` does: a file is the unit.

    Results go to the same names below `output`, by default DATA.protected beside the folder. All files are looked at
    before the first draw. `workers` processes work, or the Dask cluster at `scheduler` (extra `cluster`), whose workers
    must see the same folders; only paths and the mechanisms go over the network. A file whose very release stands there
    already is left as it is, so that the same call can be made again; one whose draw was interrupted is refused and the
    others go on, because whatever runs it again, a scheduler too, must not draw a second time. `report(done, standing,
    total)` is told of files. Raises InputError; then nothing was drawn.
    """
    need("pyarrow", EXTRA)
    from rropt.release.folder import release_all

    source = named_path(data)
    target = _beside(source) if output is None else named_path(output)
    return release_all(source, _as_release(release), target, workers, scheduler, report)


def _beside(folder: Path) -> Path:
    """Where the releases of a folder go that nothing else is said of."""
    whole = folder.resolve()
    if not whole.name:
        raise InputError("nothing can stand beside it", str(folder), "say where the releases go")
    # "." and ".." have no name of their own.
    return (folder if folder.name not in ("", "..") else whole).with_name(f"{whole.name}.protected")


def counts_of(
    file: str | os.PathLike[str],
    column: str | tuple[str, ...],
    mechanism: Any,
    where: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> np.ndarray:
    """How often each output of `mechanism` stands in a column of a released file: m int64, in the outputs' order.

    `column` is a name, or the names of columns that were released jointly. `where` keeps the records with these values
    of other columns, `{"region": "north"}`: for a column with a mechanism for each stratum. Where a manifest stands
    beside the file, file and mechanism must be those of the release. Raises InputError that counts and lists values
    that are no outputs.
    """
    return table_of(file, {column: mechanism}, where, delimiter)


def table_of(
    file: str | os.PathLike[str],
    columns: Mapping[str | tuple[str, ...], Any],
    where: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> np.ndarray:
    """The joint counts of several released columns: `columns` maps each to its mechanism, and is one axis each of the
    int64 result. As `counts_of` otherwise."""
    need("pyarrow", EXTRA)
    from rropt.release.counting import count_table

    if not columns:
        raise InputError("no column is named", "counts", "give at least one")
    axes: dict[str | tuple[str, ...], Mechanism] = {name: explicit(one, "counts") for name, one in columns.items()}
    return count_table(named_path(file), axes, where or {}, delimiter)


def _as_release(given: Release | ProtectedColumn) -> Release:
    if isinstance(given, ProtectedColumn):
        return Release(given)
    if not isinstance(given, Release):
        raise InputError(f"{type(given).__name__} is no release", "release", "give a Release or a ProtectedColumn")
    return given
