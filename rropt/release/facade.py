"""The public functions of releases; the packages that they need are loaded when they are called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, Missing, NotWritten, Unreadable, WrongType
from rropt.io.arguments import checked
from rropt.io.extras import need
from rropt.io.files import named_path
from rropt.mechanisms.sampling import Source
from rropt.release.plans.plan import ProtectedColumn, Release

if TYPE_CHECKING:
    from rropt.release.counting import Counted
    from rropt.release.distributed import DistributedRelease
    from rropt.release.folder import FolderReleased
    from rropt.release.preview import Preview
    from rropt.release.run import Released

EXTRA = "tables"


@checked
def release_table(
    table: Any,
    release: Release | ProtectedColumn,
    *,
    source: Source | None = None,
    force: bool = False,
    unidentified: bool = False,
    warn: Callable[[str], None] | None = None,
) -> Any:
    """Protect a table in memory: a pandas, polars or pyarrow table; the result is of the same kind.

    The domain is that of the mechanisms: text means itself, an integer its decimal text; codes of a categorical column
    are not used. Missing and unknown values are an error that counts and lists them, unless the release declares
    a label for them. Columns keep their order. Everything that is not protected stays as it is, and so does the index
    of pandas. A protected column keeps its type where that has a place for every output. Columns of pandas whose labels
    are not text are named by their text.

    Before the draw it makes the checks of `release_file` that need the records only. It refuses, without `force`, a
    design whose bound on the identification risk was guaranteed for other counts and does not hold for these, a column
    of which nearly all values are replaced by a label, and outputs that have the name of an input although another one
    makes them more likely. Columns from which frequencies cannot be estimated need `unidentified` (or `force`). `warn`
    is called with cautions (Python warnings where it is left out): how many values are replaced; columns, and an index
    of pandas, that stay and copy or reveal a protected one; categories that no record has; designs that identify no
    frequencies; levels that add up. There is neither accountant nor manifest, so that it cannot know earlier releases:
    every call draws anew, and releasing a table twice leaks twice as much; a column that is a release already is randomised once more; a column that another
    release protects may stay unchanged in this one. `source` is for tests. Raises InputError; then nothing was drawn.

        >>> import pandas as pd
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response))
        >>> len(rr.release.release_table(pd.DataFrame({"answer": ["no", "yes", "no"]}), plan))
        3
    """
    need("pyarrow", EXTRA, "release")
    need("narwhals", EXTRA, "release")
    from rropt.release.tables.frames import protected_table
    from rropt.release.tables.scan import warn_python

    return protected_table(table, _as_release(release), source, force, warn or warn_python, unidentified)


@checked
def release_file(
    data: str | os.PathLike[str],
    release: Release | ProtectedColumn,
    output: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    delimiter: str | None = None,
    monitor: Callable[[int, int | None], None] | None = None,
    warn: Callable[[str], None] | None = None,
    accountant: str | os.PathLike[str] | None = None,
    population: str | None = None,
    quote_formulas: bool = True,
    identity: str | None = None,
    key: str | os.PathLike[str] | None = None,
    unidentified: bool = False,
) -> Released:
    r"""Protect a file (.csv, .tsv, .parquet, .arrow, .feather), and write a manifest next to the result. Memory does not
    grow with the number of records, except with a `key`.

    `output` is of the same format; by default it is DATA.protected.SUFFIX next to the data. It is written whole
    or not at all. An accountant next to the data records every draw: what was released before, or was interrupted
    while it was drawn, is refused without `force`, because a second draw leaks more; so is a column that is randomised
    in one release and unchanged in another. `accountant` is a file that `rropt accountant init` made, or the URL of a
    database of PostgreSQL (extra `postgres`), in which the draw is recorded too: it is needed where the folder of the
    data cannot be written. All draws of an accountant count, also those from another state of the data, except where
    two releases name different `population`s: only do so where no respondent is in both. What differs from
    `release_table`: in text files every value is text, and an empty one is missing; with `quote_formulas`, cells that a
    spreadsheet would take for formulas get an apostrophe in front of them (`counts_of` reads both). `monitor` is called
    with the rows done and the rows in all (None where that is not known); `warn`, before the draw, with cautions
    (Python warnings where it is left out): columns that reveal a protected one, designs that identify no frequencies,
    levels that add up. With `identity`, a column that identifies each respondent, and `key`, a file that `rropt key
    new` made, draws are memoised: the same respondent and value gives the same answer in every release with the same
    mechanisms and strata, and a repeat costs nothing. Columns from which frequencies cannot be estimated are refused
    unless `unidentified` (or `force`). Raises InputError; then nothing has changed.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "people.csv"
        ...     size = file.write_text("answer\nno\nyes\n", encoding="utf-8")
        ...     rr.release.release_file(file, plan, f"{folder}/protected.csv").output.name
        'protected.csv'
    """
    need("pyarrow", EXTRA, "release")
    from rropt.release.run import FileRelease, default_output
    from rropt.release.storage.places import known_place
    from rropt.release.tables.scan import warn_python

    source = named_path(data)
    target = default_output(source) if output is None else named_path(output)
    monitor = monitor or (lambda done, total: None)
    given, kept = _as_release(release), known_place(accountant)
    warn = warn or warn_python
    respondents = _population(population)
    options = (force, delimiter, monitor, warn, kept, respondents, quote_formulas, identity, _secret(identity, key))
    return FileRelease(source, given, target, *options, unidentified=unidentified).run()


@checked
def preview_file(
    data: str | os.PathLike[str],
    release: Release | ProtectedColumn,
    output: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    delimiter: str | None = None,
    accountant: str | os.PathLike[str] | None = None,
    population: str | None = None,
    identity: str | None = None,
    key: str | os.PathLike[str] | None = None,
    unidentified: bool = False,
) -> Preview:
    r"""What `release_file` would do, without a draw and without a change: cautions, expected standard errors at equal
    frequencies, the columns that stay unchanged, and the epsilon of a respondent before and after it. Arguments are
    those of `release_file`. Raises InputError where the release would be refused.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "people.csv"
        ...     size = file.write_text("answer\nno\nyes\n", encoding="utf-8")
        ...     type(rr.release.preview_file(file, plan, f"{folder}/protected.csv")).__name__
        'Preview'
    """
    need("pyarrow", EXTRA, "release")
    from rropt.release.run import FileRelease, default_output
    from rropt.release.storage.places import known_place

    source = named_path(data)
    target = default_output(source) if output is None else named_path(output)
    given = (force, delimiter, lambda done, total: None, lambda caution: None, known_place(accountant))
    memoised = (_population(population), True, identity, _secret(identity, key))
    return FileRelease(source, _as_release(release), target, *given, *memoised, unidentified=unidentified).preview()


@checked
def plan_release(
    schema: Any,
    release: Release | ProtectedColumn,
    output: str | os.PathLike[str],
    *,
    identity: str,
    accountant: str | os.PathLike[str],
    population: str | None = None,
    force: bool = False,
    unidentified: bool = False,
    warn: Callable[[str], None] | None = None,
) -> DistributedRelease:
    """Charge the release of a table that no single process holds, once, and return what draws it batch by batch.

    `schema` is the Arrow schema of the table (or what has one: an Arrow table, batch or reader), `output` the name under
    which the accountant records the result, `identity` a column that identifies each record, `accountant` what `rropt
    accountant init` made (a file, or the URL of a database). In the result, `protect` is a function from an Arrow batch
    to the protected batch, of the Arrow schema `schema`. It can be pickled, and it is pure: a record gets the same
    answer in every call and process, so that a scheduler may run a task twice. `commit(rows)` records that the release
    is complete and writes its manifest. Until then it counts as interrupted, which costs as much. `population`, `force`,
    `unidentified` and `warn` are as in `release_file`; a batch with a value that the release does not declare raises
    InputError when it is drawn. Raises InputError where the release is refused; then nothing was charged.
    """
    need("pyarrow", EXTRA, "release")
    from rropt.release.distributed import planned
    from rropt.release.storage.places import known_place
    from rropt.release.tables.scan import warn_python

    kept = known_place(accountant)
    assert kept is not None
    options = (_population(population), force, unidentified, warn or warn_python)
    return planned(schema, _as_release(release), identity, kept, named_path(output), *options)


@checked
def release_folder(
    data: str | os.PathLike[str],
    release: Release | ProtectedColumn,
    output: str | os.PathLike[str] | None = None,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    report: Callable[[int, int, int], None] = lambda done, existing, total: None,
    accountant: str | os.PathLike[str] | None = None,
    population: str | None = None,
    identity: str | None = None,
    key: str | os.PathLike[str] | None = None,
    unidentified: bool = False,
) -> FolderReleased:
    """Protect every .parquet file of a folder, and of the folders in it, as `release_file` does. Each file is released
    whole or not at all.

    Results go to the same names below `output`, by default DATA.protected next to the folder. All files are examined
    before the first draw. `workers` processes work, or the Dask cluster at `scheduler` (extra `cluster`), whose workers
    must see the same folders; only paths and the mechanisms go over the network. A file that has this same release
    already is left as it is, so that the same call can be made again; one whose draw was interrupted is refused and the
    others go on, because no second run, of a scheduler either, may draw again. `population` and `accountant` are as in
    `release_file`. A `accountant` that is a file, or a URL, is one for all files: where no respondent is in two of
    them, write {file} into the `population`, which stands for the name of each file. A folder as `accountant` has one
    for each file. `identity` and `key`, whose file every worker must see, are as there too: a respondent has the same
    answer in all files, and one whose value differs from that of a file before is refused there. The checks of the
    records are those of `release_file` for each file, also of counts; `cautions` of the result has what it would warn
    of. `report(done, existing, total)` is called with numbers of files. Raises InputError; then nothing was drawn.

        >>> import tempfile, pathlib
        >>> import pandas as pd
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> plan = rr.release.Release(rr.release.ProtectedColumn("answer", response))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     parts = pathlib.Path(folder) / "parts"
        ...     parts.mkdir()
        ...     pd.DataFrame({"answer": ["no", "yes"]}).to_parquet(parts / "one.parquet")
        ...     released = rr.release.release_folder(parts, plan, f"{folder}/drawn")
        ...     (pathlib.Path(folder) / "drawn").is_dir()
        True
    """
    need("pyarrow", EXTRA, "release")
    from rropt.release.folder import release_all
    from rropt.release.storage.places import known_place

    source = named_path(data)
    target = _beside(source) if output is None else named_path(output)
    kept = known_place(accountant)
    options = (report, kept, _population(population), identity, _secret(identity, key), unidentified)
    return release_all(source, _as_release(release), target, workers, scheduler, *options)


def _secret(identity: str | None, key: str | os.PathLike[str] | None) -> Path | None:
    """The path of the key. Raises InputError where it is given without a column of identities, or such a column alone."""
    if (identity is None) != (key is None):
        raise Conflict("only one of identity and key is given", "release", "give both or neither (--id and --key)")
    return None if key is None else named_path(key)


def _population(name: str | None) -> str:
    """The name of a population as the accountant writes it, "" where none is given. Raises InputError."""
    if name is not None and (not isinstance(name, str) or not name.strip() or not name.isprintable()):
        raise WrongType(f"{name!r} is not a name", "population", "give a name of printable letters")
    return name or ""


def _beside(folder: Path) -> Path:
    """The default place for the releases of a folder."""
    whole = folder.resolve()
    if not whole.name:
        raise NotWritten(
            "the output folder cannot be made",
            str(folder),
            "name the folder of the releases: --out FOLDER (output in Python)",
        )
    # "." and ".." have no name of their own.
    return (folder if folder.name not in ("", "..") else whole).with_name(f"{whole.name}.protected")


@checked
def counts_of(
    file: str | os.PathLike[str],
    column: str | tuple[str, ...],
    mechanism: Any,
    *,
    where: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> np.ndarray:
    r"""The count of each output of `mechanism` in a column of a released file: m int64, in the outputs' order.

    `column` is a name, or the names of columns that were released jointly. `where` keeps the records with these values
    of other columns, `{"region": "north"}`: also the stratum, for a column with a mechanism for each. A folder of
    .parquet files that was released is counted as one. Where a manifest is next to the file, file and mechanism must
    be those of the release, stratum by stratum. Raises InputError that counts and lists values that are not outputs.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.counts_of(file, "answer", response).tolist()
        [40, 40]
    """
    return _one_table(file, {column: mechanism}, where, delimiter)


@checked
def table_of(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    *,
    where: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> np.ndarray:
    r"""The joint counts of several released columns: `columns` maps each column to its mechanism; the int64 result has
    one axis for each column. As `counts_of` otherwise.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.table_of(file, {"answer": response}).tolist()
        [40, 40]
    """
    return _one_table(file, columns, where, delimiter)


def _one_table(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    where: Mapping[str, str] | None,
    delimiter: str | None,
) -> np.ndarray:
    """`table_of` without a reading of its arguments: an error in them names the function that was called."""
    found = counted_of(file, columns, where, delimiter)
    if len(found.cells) > 1:
        raise Conflict(
            f"its records were randomised by the mechanisms of {len(found.cells)} strata, whose counts cannot be added",
            str(file),
            "count one of them with where={column: value}, or give all to estimate_file",
        )
    return found.tables[0]


def counted_of(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    where: Mapping[str, str] | None,
    delimiter: str | None,
) -> Counted:
    """As `table_of`, with one table per stratum where strata of mechanisms are given, and what else is known."""
    need("pyarrow", EXTRA, "release")
    from rropt.release.counting import count_released

    return count_released(named_path(file), axes_of(columns, where), where or {}, delimiter)


def axes_of(
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any], where: Mapping[str, str] | None
) -> dict[tuple[str, ...], Any]:
    """Released columns, each as a tuple of names, and what they are mapped to. Raises InputError."""
    if not columns:
        raise Missing("no column is named", "counts", "give at least one")
    if not isinstance(where or {}, Mapping):
        raise WrongType(
            f"{type(where).__name__} is not a mapping", "where", "give a value for each column: {column: value}"
        )
    return {(name,) if isinstance(name, str) else tuple(name): one for name, one in columns.items()}


def _as_release(given: Release | ProtectedColumn) -> Release:
    if isinstance(given, ProtectedColumn):
        return Release(given)
    if not isinstance(given, Release):
        raise Unreadable(f"{type(given).__name__} is not a release", "release", "give a Release or a ProtectedColumn")
    return given
