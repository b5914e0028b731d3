"""Released columns and what they stand for, and the records of a released file batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rropt.errors import Conflict, Missing, OutOfRange, WrongType, counted
from rropt.io.count_records import check_column
from rropt.release.plans.agreement import before_release
from rropt.release.plans.manifest import read_manifest

Columns = tuple[str, ...]
MOST_VALUES = 1000
"""Different values of an unprotected column that is used as categories."""
LARGEST_NUMBER = 1e100
"""So that a sum of squares is finite too."""


class ReleasedColumns:
    """The released columns of a file, or of the files of a folder, that an estimate of `wanted` columns uses.

    `columns` maps released columns to mechanisms. `home` says of each randomised column which released ones hold it
    and, where these were perturbed jointly, at which place of their labels; `used` are the released ones that are
    needed, with their mechanisms; `plain` are the wanted columns that were released unchanged; `entries` are those of
    the manifest. Raises InputError where no wanted column was randomised (with this `remedy`), and where one of the
    `numbers` (survey weights, say) was, or a wanted one whose mechanism is not given.
    """

    def __init__(
        self,
        path: Path,
        columns: Mapping[Any, Any],
        wanted: Columns,
        numbers: Sequence[str],
        delimiter: str | None,
        remedy: str,
    ) -> None:
        from rropt.release.counting import files_of

        self.path, self.delimiter, self.files = path, delimiter, files_of(path)
        first = self.files[0]
        keys = {(names,) if isinstance(names, str) else tuple(names): one for names, one in columns.items()}
        # The columns of the data that each released one, or several of them, stand for.
        parts = {names: before_release(first, names, one, {})[0] for names, one in keys.items()}
        self.home: dict[str, tuple[Columns, int | None]] = {}
        for name in wanted:
            for names, own in parts.items():
                if (name,) == names:
                    self.home[name] = names, None
                elif name in names:
                    self.home[name] = names, names.index(name)
                elif name in own and len(own) > 1:
                    self.home[name] = names, own.index(name)
        self.used = {names: one for names, one in keys.items() if any(home == names for home, _ in self.home.values())}
        if not self.used:
            raise Conflict(f"no mechanism is given for {' or '.join(map(repr, wanted))}", str(path), remedy)
        self.entries = (read_manifest(first) or {"columns": ()})["columns"]
        self.released = {name for one in self.entries for name in one["released_as"]}
        self.released |= {name for names in keys for name in names}
        self.plain = [name for name in wanted if name not in self.home]
        for name in [*self.plain, *numbers]:
            if name in self.released:
                known = name in numbers
                raise Conflict(
                    f"column {name!r} was randomised, and "
                    + ("weights and numbers are known" if known else "its mechanism is not given"),
                    str(path),
                    "name another column" if known else "give the release file in place of the mechanism",
                )

    def batches(
        self,
        file: Path,
        readers: Sequence[Any],
        quoted: bool,
        names: Sequence[str],
        where: Mapping[str, str],
    ) -> Iterator[Any]:
        """The records of one file that have the values `where`: the columns of the `readers` (each a `CellReader`) and
        these `names`. Raises InputError, at the end for values that the readers did not know."""
        import pyarrow as pa

        from rropt.release.counting import REMEDY
        from rropt.release.plans.stack import Part
        from rropt.release.tables.coding import codes, settled
        from rropt.release.tables.formats import open_table

        protected = tuple(dict.fromkeys(name for reader in readers for name in reader.names))
        source = open_table(file, protected, self.delimiter, quoted)
        literal = [Part(name, (str(value),), other=-1, null=-1) for name, value in where.items()]
        every = list(dict.fromkeys([*protected, *where, *names]))
        for reader in readers:
            reader.check(source.schema, file)
        for name in every:
            check_column(source.schema.names, name, str(file))
        for whole in source.batches():
            batch = pa.record_batch({name: settled(whole.column(name)) for name in every})
            for part in literal:
                batch = batch.filter(pa.array(codes(batch.column(part.name), part) == 0))
            yield batch
        for reader in readers:
            if reader.faults:
                error = reader.faults.error(str(file))
                raise error.at(error.where, REMEDY)

    def numbers(self, column: Any, name: str, what: str, least: float) -> np.ndarray:
        """The numbers of a column. Raises InputError for those that are missing, not finite or below `least`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        where = f"{self.path}: column {name!r}"
        remedy = f"give every record a {what.removesuffix('s')}{' from 0 on' * (least == 0)}"
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
        try:
            if pa.types.is_boolean(column.type):
                raise pa.ArrowInvalid
            found = column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise WrongType(f"{what} are not all numbers", where, remedy) from None
        if missing := pc.sum(pc.is_null(found, nan_is_null=True)).as_py():
            raise Missing(f"{counted(missing, what)} missing", where, remedy)
        numbers = np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.float64)
        wrong = int((~((numbers >= least) & (np.abs(numbers) < LARGEST_NUMBER))).sum())
        if wrong:
            raise OutOfRange(f"{counted(wrong, what)} {'negative or ' * (least == 0)}not finite", where, remedy)
        return numbers
