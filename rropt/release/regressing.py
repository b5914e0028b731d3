"""Regression from a released file: the scores of randomised columns and the values of the others, record by record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, Missing, OutOfRange, TooLarge, UnknownName, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.count_records import label_order
from rropt.io.extras import need
from rropt.io.files import named_path
from rropt.release.estimating import parts_of
from rropt.release.facade import EXTRA
from rropt.release.released_columns import MOST_VALUES, Columns, ReleasedColumns
from rropt.release.tabulating import memoised_notes

if TYPE_CHECKING:
    from rropt.estimation.regression import Combination, Regression
    from rropt.release.scoring import _Column

MOST_COMBINATIONS = 1024
"""Combinations of the categories of all randomised columns of a regression."""
LARGEST = 1 << 27
"""Numbers of the covariates of all records."""


@checked
def estimate_regression(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    response: str,
    covariates: Sequence[str],
    *,
    event: str | None = None,
    model: str | None = None,
    weights: str | None = None,
    where: Mapping[str, str] | None = None,
    method: str = "unbiased",
    delimiter: str | None = None,
) -> Regression:
    r"""A linear or logistic regression of one column of a released file on others, any of which may be randomised.

    `columns` maps released columns to their mechanisms, as in `estimate_file`. `response` is a column of numbers, or with
    `event` the indicator of that category of a column. `covariates` are columns: one that was released unchanged and
    holds numbers only is a number, any other one is a set of indicators of its categories but the first (that of its
    mechanism, or in alphabetical order). `model` is "linear" or "logistic", by default "logistic" if there is an `event`.
    Coefficients solve the corrected estimating equations of `rropt.estimation.regression`, so that they estimate those of
    the same regression on the true values; standard errors are robust (sandwich), for records that were drawn
    independently, or with these `weights` and replacement. `method` is one of `rr.estimation.scores`, `where` and
    `delimiter` are as in `counts_of`. Raises InputError, also where there is no solution.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.estimate_regression(file, {"answer": response}, "age", ["answer"]).values.round(3).tolist()
        [2.5, 4.0]
    """
    from rropt.estimation.regression import Regression as Result, fitted

    need("pyarrow", EXTRA, "regression")
    where_text = "estimate_regression"
    names = tuple(covariates)
    if not names or isinstance(covariates, str):
        raise Missing("no covariate is named", f"{where_text}, covariates", "name one or more columns")
    for name in (response, *names):
        if (response, *names).count(name) > 1:
            raise Conflict(f"column {name!r} is named twice", where_text, "name it once")
    kind = model or ("linear" if event is None else "logistic")
    if kind not in ("linear", "logistic"):
        raise UnknownName(f"{kind!r} is not a model", where_text, "use 'linear' or 'logistic'")
    if kind == "logistic" and event is None:
        raise Missing("a logistic regression needs an event", where_text, "name a category of the response")
    read = _Read(named_path(file), columns, (response, *names), weights, where or {}, method, delimiter)
    known, terms = read.known(names)
    target = read.response(response, event)
    decided = [term for name in names if name in read.home for term in read.terms(name)]
    values, covariance = fitted(
        kind,  # type: ignore[arg-type]
        known,
        lambda: read.combinations(response, event, names),
        target,
        read.weights,
    )
    # Terms in the order of the covariates.
    given = [*terms, *decided]
    order = ["intercept", *(term for name in names for term in read.terms(name))]
    at = [given.index(term) for term in order]
    said = response if event is None else f"{response}={event}"
    return Result(
        kind,  # type: ignore[arg-type]
        said,
        tuple(order),
        values[at],
        covariance[np.ix_(at, at)],
        read.n,
        notes=read.notes,
    )


@dataclass(frozen=True)
class _Home:
    """A released column (or several that were perturbed jointly): its scores (K x n), and the values of the columns of the
    regression that each of its K combinations has."""

    column: _Column
    names: Columns
    cells: tuple[Columns, ...]
    scores: np.ndarray


class _Read(ReleasedColumns):
    """The records of a regression."""

    def __init__(
        self,
        path: Path,
        columns: Mapping[Any, Any],
        wanted: Columns,
        weights: str | None,
        where: Mapping[str, str],
        method: str,
        delimiter: str | None,
    ) -> None:
        from rropt.release.scoring import _Column

        self.where = where
        remedy = "name a randomised column; a regression of others needs no correction"
        super().__init__(path, columns, wanted, [*filter(None, [weights])], delimiter, remedy)
        for name in where:
            if name in self.released:
                raise Conflict(f"column {name!r} was randomised", f"where {name}", "choose records by another column")
        made = {names: _Column(path, names, one, method, None, "=", delimiter) for names, one in self.used.items()}
        self._raw: dict[str, list[Any]] = {name: [] for name in [*self.plain, *filter(None, [weights])]}
        scores: dict[Columns, list[np.ndarray]] = {names: [] for names in self.used}
        for file in self.files:
            self._read(file, made, scores)
        self.homes = [self._grouped(made[names], scores[names], wanted) for names in self.used]
        self.n = self.homes[0].scores.shape[1]
        if self.n < 2:
            raise OutOfRange(f"it has {counted(self.n, 'records')}", str(path), "errors need two records or more")
        self.weights = np.ones(self.n) if weights is None else self._all_numbers(weights, "weights", 0.0)
        if not self.weights.any():
            raise OutOfRange("all weights are 0", f"{path}: column {weights!r}", "name another column")
        self.values: dict[str, np.ndarray] = {}
        self.labels: dict[str, tuple[str, ...]] = {}
        for name in self.plain:
            self._take(name)
        for one in self.homes:
            for at, name in enumerate(one.names):
                self.labels[name] = tuple(dict.fromkeys(cell[at] for cell in one.cells))
        agreed = dict.fromkeys(note for one in made.values() for note in one.agreed.notes)
        self.notes = (*agreed, *memoised_notes(self.entries, self.used))

    def _read(self, file: Path, made: Mapping[Columns, _Column], scores: Mapping[Columns, list[np.ndarray]]) -> None:
        from rropt.release.counting import CellReader
        from rropt.release.scoring import _positions

        readers = {names: CellReader(column.agreed.cells) for names, column in made.items()}
        quoted = next(iter(made.values())).agreed.each[0].quoted
        only = [one.column for column in made.values() for one in column.only]
        for batch in self.batches(file, list(readers.values()), quoted, [*self._raw, *only], self.where):
            for key, column in made.items():
                widths = [table.shape[1] for table in column.tables]
                at = _positions(column, readers[key], batch, widths, file)
                if at is None:
                    continue
                if (at < 0).any():
                    raise Conflict(
                        f"{counted(int((at < 0).sum()), 'records')} of column {column.released[0]!r} are in no stratum",
                        str(file),
                        "give the released file and its release file",
                    )
                values = np.concatenate([*column.tables, column.indicators], axis=1)
                scores[key].append(values[: len(column.scored.categories), at])
            for name, parts in self._raw.items():
                parts.append(batch.column(name))
        for column in made.values():
            column.refuse_misfits(file)

    @staticmethod
    def _grouped(column: _Column, blocks: list[np.ndarray], wanted: Columns) -> _Home:
        """The scores of the values that the columns of the regression have, of one released column."""
        own = column.scored.columns
        parts = parts_of(column.scored.categories, len(own))
        names = tuple(name for name in wanted if name in own or name in column.released)
        if len(parts[0]) == len(own):
            at = [own.index(name) if name in own else 0 for name in names]
            cells = [tuple(one[number] for number in at) for one in parts]
        else:
            cells = [tuple(one) * len(names) for one in parts]
        each = tuple(dict.fromkeys(cells))
        rows = np.zeros((len(each), len(cells)))
        rows[[each.index(cell) for cell in cells], np.arange(len(cells))] = 1
        return _Home(column, names, each, rows @ np.concatenate(blocks, axis=1))

    def _all_numbers(self, name: str, what: str, least: float) -> np.ndarray:
        return np.concatenate([self.numbers(one, name, what, least) for one in self._raw[name]])

    def _take(self, name: str) -> None:
        """A column that was released unchanged: numbers, or categories."""
        from rropt.release.tables.coding import FoundLabels

        try:
            self.values[name] = self._all_numbers(name, "values", -np.inf)
        except WrongType:
            found = FoundLabels(name, None, MOST_VALUES)
            codes = np.concatenate([found.number(one, str(self.path)) for one in self._raw[name]])
            if found.missing:
                where = f"{self.path}: column {name!r}"
                what = f"{counted(found.missing, 'values')} missing"
                raise Missing(what, where, "choose records that have them by --where") from None
            self.labels[name] = tuple(sorted(found.labels, key=label_order))
            place = np.array([self.labels[name].index(label) for label in found.labels])
            self.values[name] = place[codes]

    def terms(self, name: str) -> list[str]:
        """The terms of a covariate."""
        from rropt.estimation.regression import terms_of

        return terms_of(name, self.labels[name]) if name in self.labels else [name]

    def known(self, names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
        """The intercept and the terms of the covariates that were released unchanged, with their names."""
        columns, terms = [np.ones(self.n)], ["intercept"]
        for name in (one for one in names if one not in self.home):
            terms += self.terms(name)
            if name not in self.labels:
                columns.append(self.values[name])
                continue
            columns += [(self.values[name] == at).astype(np.float64) for at in range(1, len(self.labels[name]))]
        if len(columns) * self.n > LARGEST:
            raise TooLarge(
                f"{counted(len(columns), 'terms')} of {counted(self.n, 'records')}", str(self.path), "take fewer"
            )
        return np.column_stack(columns), terms

    def response(self, name: str, event: str | None) -> np.ndarray | None:
        """The response of each record; None if it is randomised."""
        where = f"{self.path}: column {name!r}"
        if event is not None and name in self.labels and event not in self.labels[name]:
            raise UnknownName(f"{event!r} is not a category", where, f"they are {', '.join(self.labels[name][:6])}")
        if name in self.home:
            if event is None:
                raise Missing("it was randomised, and no event is named", where, "name a category: --event LABEL")
            return None
        if name in self.labels:
            if event is None:
                raise WrongType("its values are not all numbers", where, "name a category: --event LABEL")
            return np.asarray(self.values[name] == self.labels[name].index(event), dtype=np.float64)
        if event is None:
            return self.values[name]
        try:
            found = np.asarray(self.values[name] == float(event), dtype=np.float64)
        except ValueError:
            found = np.zeros(self.n)
        if not found.any():
            raise UnknownName(f"no record has {event!r}", where, "name one of its values")
        return found

    def combinations(self, response: str, event: str | None, names: Sequence[str]) -> Iterator[Combination]:
        """Each combination of the values of all randomised columns, with its scores."""
        from rropt.estimation.regression import Combination

        if (number := int(np.prod([len(one.cells) for one in self.homes]))) > MOST_COMBINATIONS:
            raise TooLarge(f"the randomised columns have {number:,} combinations", str(self.path), "merge categories")
        for chosen in product(*(range(len(one.cells)) for one in self.homes)):
            values: dict[str, str] = {}
            scores = np.ones(self.n)
            for home, at in zip(self.homes, chosen, strict=True):
                values |= dict(zip(home.names, home.cells[at], strict=True))
                scores = scores * home.scores[at]
            constant = [
                float(values[name] == label) for name in names if name in self.home for label in self.labels[name][1:]
            ]
            answer = float(values[response] == event) if response in self.home else None
            yield Combination(scores, np.array(constant), answer)
