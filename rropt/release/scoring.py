"""Scores beside the columns of a released file: unbiased indicators of the true categories, record by record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rropt.errors import Conflict, Duplicate, InputError, NotWritten, TooLarge, Unreadable, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.count_records import check_column
from rropt.io.extras import need
from rropt.io.files import named_path, whole_file
from rropt.io.tables import Table
from rropt.model.prior import Prior
from rropt.release.estimating import parts_of, refuse_misfits
from rropt.release.facade import EXTRA, axes_of
from rropt.release.plans.agreement import before_release
from rropt.release.plans.cross import joined

MOST_SCORES = 4096
"""Columns of scores in one file."""
BATCH_SCORES = 1 << 22
"""Scores that are in memory at a time."""


@dataclass(frozen=True, eq=False)
class ScoredColumn(ByContent):
    """The scores of one released column (`released`; several if they were perturbed jointly).

    `names` are the new columns, one for each of the `categories`; `margins` those of the single `columns` of a joint
    mechanism: for each a mapping from category to new column. `outputs` is the number of outputs, `method` the
    estimator, `bias` as in `Scores`.
    """

    released: tuple[str, ...]
    columns: tuple[str, ...]
    categories: tuple[str, ...]
    names: tuple[str, ...]
    margins: Mapping[str, Mapping[str, str]]
    outputs: int
    method: str
    bias: float


@dataclass(frozen=True, eq=False)
class Scored(ByContent):
    """A file of scores that was written: `output`, its number of `rows`, its `columns`, and `notes`."""

    output: Path
    rows: int
    columns: tuple[ScoredColumn, ...]
    notes: tuple[str, ...]

    def _tables(self) -> Iterator[Table]:
        heads = ("column", "categories", "outputs", "estimator", "bias at most", "new columns")
        rows = []
        for one in self.columns:
            number = len(one.names) + sum(map(len, one.margins.values()))
            first = f"{one.names[0]}, ..." if number > 1 else one.names[0]
            numbers = (str(len(one.categories)), str(one.outputs), one.method.replace("_", " "), f"{one.bias:.2g}")
            rows.append((", ".join(one.released), *numbers, f"{number}: {first}"))
        yield Table(f"Scores of {counted(self.rows, 'records')}", rows, heads, (1, 2, 4))

    def _remarks(self) -> Iterator[str]:
        yield from (f"note: {note}" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: output, rows, columns (released, categories, scores, margins, outputs, method, bias), notes."""
        columns = [
            {
                "released": list(one.released),
                "categories": list(one.categories),
                "scores": list(one.names),
                "margins": {name: dict(each) for name, each in one.margins.items()},
                "outputs": one.outputs,
                "method": one.method,
                "bias": one.bias,
            }
            for one in self.columns
        ]
        return {"output": str(self.output), "rows": self.rows, "columns": columns, "notes": list(self.notes)}


@checked
def score_file(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    output: str | os.PathLike[str],
    *,
    method: str = "unbiased",
    prior: Prior | None = None,
    separator: str = "=",
    delimiter: str | None = None,
    force: bool = False,
    monitor: Callable[[int, int | None], None] | None = None,
) -> Scored:
    r"""Write a released file with the scores of its protected columns beside them.

    `columns` are as in `estimate_file`: released columns and their mechanisms, one for each stratum where there are
    strata. For each, the record with output y gets the k numbers of `rr.estimation.scores`: one new column
    "NAME=CATEGORY" for each category. Given the true values, the expectation of a score is 1 for the true category and
    0 for the others. So weighted means, totals, domains and linear regressions of scores are unbiased for those of the
    true indicators, and standard errors that a program computes from scores include the randomisation. Columns that
    were perturbed jointly have scores of their combinations and of each of them. In a stratum, scores are of its own
    mechanism; a category that it does not have scores 0.

    `method` and `prior` are as in `rr.estimation.scores`; a prior is for one column. `output` ends in .csv, .tsv,
    .parquet or .feather (.arrow); columns of a text file that hold numbers only become numbers in the other formats.
    An existing file is overwritten with `force` only. `separator` is between name and category. `monitor` is called
    with the rows done and the rows in all (None where that is not known). Raises InputError, also for a design that
    does not identify the frequencies, and for names that the file has already; then nothing was written.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     scored = rr.release.score_file(file, {"answer": response}, f"{folder}/scores.csv")
        ...     pathlib.Path(f"{folder}/scores.csv").exists()
        True
    """
    need("pyarrow", EXTRA, "scores")
    if not isinstance(separator, str) or not separator.isprintable():
        raise WrongType(f"{separator!a} is not printable text", "scores, separator", "give some, as ': '")
    place, target = named_path(file), named_path(output)
    _check_places(place, target, force)
    if not isinstance(columns, Mapping) or not columns:
        raise WrongType("no columns are named", "scores, columns", "map released columns to their mechanisms")
    if prior is not None and len(columns) != 1:
        raise Conflict("a prior is for one column", "scores, prior", "score the columns one by one")
    made = [_Column(place, names, given, method, prior, separator, delimiter) for names, given in columns.items()]
    return _written(place, target, made, delimiter, force, monitor or (lambda done, total: None))


class _Column:
    """The estimators of one released column, for each cell, and the new columns."""

    def __init__(
        self,
        file: Path,
        names: str | tuple[str, ...],
        given: Any,
        method: str,
        prior: Prior | None,
        separator: str,
        delimiter: str | None,
    ) -> None:
        # scipy's statistics take half a second to load.
        from rropt.estimation.scoring import bias_of, score_estimator
        from rropt.release.counting import agreed_files, count_released

        self.released = (names,) if isinstance(names, str) else tuple(names)
        axes = axes_of({self.released: given}, None)
        self.agreed = agreed_files(file, axes, {})
        mechanisms = [one for cell in self.agreed.cells for one in cell.axes.values()]
        where = ", ".join(map(repr, self.released))
        tables = []
        biases = []
        known = [np.zeros(len(one.outputs)) for one in mechanisms]
        if method == "locally_best" and prior is None:
            # The estimator depends on the counts, which one more reading gives.
            known = [one.astype(np.float64) for one in count_released(file, axes, {}, delimiter).tables]
        for mechanism, counts in zip(mechanisms, known, strict=True):
            try:
                estimator = score_estimator(mechanism, method, prior, counts)
            except InputError as error:
                raise error.at(f"{file}: column {where}") from None
            tables.append(estimator.table)
            biases.append(bias_of(estimator))
        categories = tuple(dict.fromkeys(label for one in mechanisms for label in one.inputs))
        own, _, _ = before_release(file, self.released, given, {})
        parts = parts_of(categories, len(own))
        joint = len(own) > 1 and len(parts[0]) == len(own)
        name = joined(self.released) if len(self.released) > 1 else self.released[0]
        scores = {f"{name}{separator}{label}": [label] for label in categories}
        margins: dict[str, dict[str, str]] = {}
        for at, column in enumerate(own if joint else ()):
            for part, label in zip(parts, categories, strict=True):
                new = f"{column}{separator}{part[at]}"
                margins.setdefault(column, {})[part[at]] = new
                scores.setdefault(new, []).append(label)
        self.names = tuple(scores)
        place = {label: at for at, label in enumerate(categories)}
        chosen = np.zeros((len(scores), len(categories)))
        for row, labels in enumerate(scores.values()):
            chosen[row, [place[label] for label in labels]] = 1
        self.tables = []
        for mechanism, table in zip(mechanisms, tables, strict=True):
            self.tables.append(chosen[:, [place[label] for label in mechanism.inputs]] @ table)
        self.only = self.agreed.each[0].only
        self.parts = [
            part if len(self.released) > 1 else (label,) for part, label in zip(parts, categories, strict=True)
        ]
        # A record that was not randomised has the indicators of its own category, and those of no other value.
        self.indicators = np.hstack([chosen, np.zeros((len(scores), 1))])
        self.counts = [np.zeros(len(one.outputs), dtype=np.int64) for one in mechanisms]
        outputs = max(len(one.outputs) for one in mechanisms)
        whole = tuple(scores)[: len(categories)]
        square = all(one.shape[0] == one.shape[1] for one in mechanisms)
        word = "inverse" if square else method
        self.scored = ScoredColumn(self.released, own, categories, whole, margins, outputs, word, max(biases))

    def own_values(self, batch: Any) -> np.ndarray:
        """The number of the true category in records that were not randomised; that after the last for other values."""
        from rropt.release.plans.stack import Part
        from rropt.release.tables.coding import codes

        alphabets = [tuple(dict.fromkeys(one[at] for one in self.parts)) for at in range(len(self.released))]
        table = np.full([len(one) + 1 for one in alphabets], len(self.parts))
        for number, part in enumerate(self.parts):
            table[tuple(names.index(label) for names, label in zip(alphabets, part, strict=True))] = number
        at = [
            codes(batch.column(name), Part(name, names)) for name, names in zip(self.released, alphabets, strict=True)
        ]
        return np.asarray(table[tuple(np.where(one < 0, -1, one) for one in at)])

    def count(self, cells: Any) -> None:
        """Add the outputs of a batch to the counts."""
        for known, (_, (outputs,)) in zip(self.counts, cells, strict=True):
            known += np.bincount(outputs, minlength=len(known))

    def refuse_misfits(self, file: Path) -> None:
        """Raise InputError where the counts cannot come from the mechanisms."""
        tables = {cell.key: counts for cell, counts in zip(self.agreed.cells, self.counts, strict=True)}
        refuse_misfits(self.agreed.counted(tables, {}, {}), file)


def _check_places(file: Path, target: Path, force: bool) -> None:
    from rropt.release.tables.formats import SUFFIXES

    if file.is_dir():
        raise Unreadable("this is a folder", str(file), "give one of its files at a time")
    if target.suffix.lower() not in SUFFIXES:
        raise NotWritten("its suffix is not that of a known format", str(target), f"use one of {', '.join(SUFFIXES)}")
    if target.is_dir():
        raise NotWritten("cannot write (a folder has this name)", str(target), "choose another name")
    if target.exists() and file.exists() and target.samefile(file):
        raise NotWritten("it is the released file itself", str(target), "choose another name")
    if target.is_file() and not force:
        raise NotWritten("this file exists already", str(target), "choose another name, or use --force to overwrite it")


def _written(
    file: Path,
    target: Path,
    columns: Sequence[_Column],
    delimiter: str | None,
    force: bool,
    monitor: Callable[[int, int | None], None],
) -> Scored:
    import pyarrow as pa

    from rropt.release.counting import REMEDY, CellReader
    from rropt.release.tables.coding import settled
    from rropt.release.tables.conversion import converted, number_words, text_of, typed_schema
    from rropt.release.tables.formats import SUFFIXES, new_sink, open_table

    readers = [CellReader(column.agreed.cells) for column in columns]
    quoted = columns[0].agreed.each[0].quoted
    protected = tuple(dict.fromkeys(name for reader in readers for name in reader.names))
    source = open_table(file, protected, delimiter, quoted)
    for reader, column in zip(readers, columns, strict=True):
        reader.check(source.schema, file)
        for one in column.only:
            check_column(source.schema.names, one.column, str(file))
    there = list(source.schema.names)
    _refuse_clash(file, there, [name for column in columns for name in column.names])
    is_text = SUFFIXES[target.suffix.lower()] == "csv"
    if not is_text and SUFFIXES[file.suffix.lower()] == "csv":
        schema = typed_schema(source, set(protected))
    else:
        schema = source.schema
    new = pa.string() if is_text else pa.float64()
    fields = [pa.field(name, new) for column in columns for name in column.names]
    kept = [pa.field(field.name, pa.string()) for field in schema] if is_text else list(schema)
    # What pandas noted of the released table is not of this one.
    written = pa.schema([*kept, *fields])
    # Each cell has outputs of its own: they are numbered one cell after the other.
    widths = [[table.shape[1] for table in column.tables] for column in columns]
    values = [np.concatenate([*column.tables, column.indicators], axis=1) for column in columns]
    words = [[number_words(row) for row in one] if is_text else [] for one in values]
    step = max(1, BATCH_SCORES // max(1, len(fields)))
    rows = 0
    with whole_file(target, new=not force) as stream:
        sink = new_sink(target, source, stream, written, quoted)
        for whole in source.batches():
            for start in range(0, whole.num_rows, step):
                batch = whole.slice(start, step)
                arrays = [settled(one) for one in batch.columns]
                table = pa.record_batch(dict(zip(there, arrays, strict=True)))
                made = [
                    text_of(one, f"{file}: column {name!r}") if is_text else converted(one, type_)
                    for one, name, type_ in zip(arrays, there, schema.types, strict=True)
                ]
                for column, reader, width, numbers, texts in zip(columns, readers, widths, values, words, strict=True):
                    at = _positions(column, reader, table, width, file)
                    if at is None:
                        continue
                    if (at < 0).any():
                        raise Conflict(
                            f"{counted(int((at < 0).sum()), 'records')} of column {column.released[0]!r} are in no "
                            "stratum of its mechanisms",
                            str(file),
                            "give the released file and its release file",
                        )
                    if is_text:
                        places = pa.array(at)
                        made += [pa.DictionaryArray.from_arrays(places, one) for one in texts]
                    else:
                        made += [pa.array(row[at]) for row in numbers]
                if len(made) == len(written):
                    sink.write(made)
                rows += batch.num_rows
                monitor(rows, source.rows)
        for reader in readers:
            if reader.faults:
                error = reader.faults.error(str(file))
                raise error.at(error.where, REMEDY)
        for column in columns:
            column.refuse_misfits(file)
        sink.close()
    notes = [note for column in columns for note in column.agreed.notes]
    if only := " and ".join(map(str, columns[0].only)):
        notes.append(
            f"records without {only} were not randomised: their scores are 1 in their own category, and else 0"
        )
    return Scored(target, rows, tuple(column.scored for column in columns), tuple(dict.fromkeys(notes)))


def _positions(column: _Column, reader: Any, batch: Any, widths: Sequence[int], file: Path) -> np.ndarray | None:
    """The number of each record's output among those of all cells, -1 for one that is in no cell. The categories of
    records that were not randomised follow. None where a value is not an output."""
    import pyarrow as pa

    from rropt.release.plans.condition import selected

    mask = selected(batch, column.only, str(file))
    cells = reader.read(batch if mask is None else batch.filter(pa.array(mask)))
    if cells is None:
        return None
    column.count(cells)
    places = np.arange(batch.num_rows) if mask is None else np.flatnonzero(mask)
    found = np.full(batch.num_rows, -1, dtype=np.int32)
    start = 0
    for (at, (outputs,)), width in zip(cells, widths, strict=True):
        found[places[at]] = start + outputs
        start += width
    if mask is not None and not mask.all():
        found[~mask] = start + column.own_values(batch.filter(pa.array(~mask)))
    return found


def _refuse_clash(file: Path, there: Sequence[str], new: Sequence[str]) -> None:
    known: set[str] = set()
    for name in there:
        if name in known:
            raise Duplicate(f"two columns are named {name!r}", str(file), "name each column once")
        known.add(name)
    if len(new) > MOST_SCORES:
        raise TooLarge(
            f"they have {counted(len(new), 'columns')} of scores", str(file), "choose some of them with --column"
        )
    for name in new:
        if name in known:
            raise Duplicate(
                f"two columns would be named {name!r}", str(file), "choose another --separator, as ': ', or rename one"
            )
        known.add(name)
