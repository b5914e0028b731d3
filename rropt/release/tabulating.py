"""Cross-tables, domains and weights from a released file: records are grouped batch by batch, then scored."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import Conflict, OutOfRange, TooLarge, UnknownName, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.extras import need
from rropt.io.files import named_path
from rropt.release.estimating import refuse_misfits
from rropt.release.facade import EXTRA, axes_of
from rropt.release.plans.agreement import Agreement, Cell
from rropt.release.plans.cross import joined, split
from rropt.release.released_columns import MOST_VALUES, Columns, ReleasedColumns

if TYPE_CHECKING:
    from rropt.estimation.tables import EstimatedMeans, EstimatedShares, EstimatedTable, Groups

MOST_CELLS = 2048
"""Cells of a table, whose covariance is kept."""
LARGEST = 1 << 26
"""Numbers of the scores of all groups."""


@checked
def estimate_table(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    table: tuple[str, str],
    *,
    weights: str | None = None,
    where: Mapping[str, str] | None = None,
    null: str | None = None,
    method: str = "unbiased",
    delimiter: str | None = None,
) -> EstimatedTable:
    r"""The joint shares of two columns of a released file, with measures of association.

    `columns` maps released columns to their mechanisms, as in `estimate_file`. `table` names the two columns: each is
    one of those, one of the columns that a joint mechanism perturbed together, or one that was released unchanged, whose
    missing values count as `null`. `weights` names a column of survey weights, which was released unchanged. Estimates
    are weighted means of scores (products of the scores of two columns that were perturbed one by one); covariances are
    linearised, for records that were drawn independently, or with these weights and replacement. `method` is one of
    `rr.estimation.scores`, `where` and `delimiter` are as in `counts_of`. Raises InputError.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.estimate_table(file, {"answer": response}, ("answer", "sex")).values.round(3).tolist()
        [[0.25, 0.25], [0.25, 0.25]]
    """
    from rropt.estimation.tables import joint_shares

    if len(table) != 2 or table[0] == table[1]:
        raise WrongType(f"{table!r} are not two columns", "estimate_table, table", "name two columns")
    read = _Records(file, columns, tuple(table), weights, where, null, method, delimiter)
    rows, others = read.categories
    given = ((table[0], table[1]), rows, others, weights is not None, read.impossible, read.notes)
    return joint_shares(read.groups, read.joint, *given)


@checked
def estimate_shares(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    column: str,
    *,
    by: str | None = None,
    weights: str | None = None,
    where: Mapping[str, str] | None = None,
    null: str | None = None,
    method: str = "unbiased",
    delimiter: str | None = None,
) -> EstimatedShares:
    r"""The weighted shares of one released `column`, in all records or within each value of the column `by`.

    `by` was released unchanged, or is one of the protected columns: the domains are then those of its true values.
    Standard errors are those of ratios of weighted sums of scores (linearised). As `estimate_table` otherwise.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.estimate_shares(file, {"answer": response}, "answer").values.round(3).tolist()
        [[0.5, 0.5]]
    """
    from rropt.estimation.tables import domain_shares

    if by == column:
        raise Conflict(f"{by!r} is estimated itself", "estimate_shares, by", "name another column")
    wanted = (column,) if by is None else (by, column)
    read = _Records(file, columns, wanted, weights, where, null, method, delimiter)
    domains = ("",) if by is None else read.categories[0]
    joint = read.joint if by is not None else read.joint[:, None, :]
    impossible = read.impossible.reshape(len(domains), -1)
    given = (column, by or "", domains, read.categories[-1], weights is not None, impossible, read.notes)
    return domain_shares(read.groups, joint, *given)


@checked
def estimate_means(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    column: str,
    of: str,
    *,
    weights: str | None = None,
    where: Mapping[str, str] | None = None,
    method: str = "unbiased",
    delimiter: str | None = None,
) -> EstimatedMeans:
    r"""The mean and the total of a numeric column `of`, which was released unchanged, in each true category of a released
    `column`: ratios of weighted sums of scores times the number, with linearised covariance. As `estimate_table`
    otherwise. A category whose estimated size is not positive has no mean (not a number).

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.estimate_means(file, {"answer": response}, "answer", "age").values.round(3).tolist()
        [2.5, 6.5]
    """
    from rropt.estimation.tables import category_means

    read = _Records(file, columns, (column,), weights, where, None, method, delimiter, of)
    given = (column, of, read.categories[0], weights is not None, read.notes)
    return category_means(read.groups, read.joint, read.moments, read.shift, *given)


def memoised_notes(entries: Sequence[Mapping[str, Any]], used: Iterable[Columns]) -> list[str]:
    """What to know of the columns `used` that the `entries` of a manifest say were released under a key."""
    keyed = {tuple(one["released_as"]) for one in entries if one.get("memoised")}
    if keyed.isdisjoint(used):
        return []
    return [
        "it was released under a key: records of one person with one value have the same answer, and standard "
        "errors are too small if the file has several records of a person"
    ]


class _Records(ReleasedColumns):
    """The groups of records of a file, and their scores: `joint` is P x k for one column of `wanted`, else P x r x c."""

    def __init__(
        self,
        file: str | os.PathLike[str],
        columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
        wanted: Columns,
        weights: str | None,
        where: Mapping[str, str] | None,
        null: str | None,
        method: str,
        delimiter: str | None,
        of: str | None = None,
    ) -> None:
        need("pyarrow", EXTRA, "estimate")
        from rropt.release.counting import agreed_files

        # Numbers are counted from the first one, so that a large mean does not cost digits of the variance.
        self.of, self.shift = of, 0.0
        self.where, self.weights, self.method = dict(where or {}), weights, method
        numbers = [*filter(None, [weights, of])]
        remedy = "name a released column; others need a count"
        super().__init__(named_path(file), columns, wanted, numbers, delimiter, remedy)
        agreed = agreed_files(self.path, axes_of(self.used, where), self.where)
        from rropt.release.tables.coding import FoundLabels

        self.found_labels = [FoundLabels(name, null, MOST_VALUES) for name in self.plain]
        self.axes = tuple(self.used)
        # Of the records of one cell with one answer and one value of each plain column: how many, the sums of their
        # weights w and of w^2, and of w y, w^2 y and w^2 y^2, where there is a number y.
        self.sums: dict[tuple[Any, tuple[int, ...], tuple[int, ...]], np.ndarray] = {}
        self.replaced: Counter[tuple[Any, int, int]] = Counter()
        for path, one in zip(agreed.files, agreed.each, strict=True):
            self._read(path, one)
        self.found = agreed.counted(self._counts(agreed.cells), self.where, self.replaced)
        refuse_misfits(self.found, self.path)
        self._check()
        self._score(wanted)
        self.notes = (*self.found.notes, *memoised_notes(self.entries, self.used))

    def _counts(self, cells: Sequence[Cell]) -> dict[Any, np.ndarray]:
        """How often each cell has each output, of the groups."""
        found = {
            cell.key: np.zeros([len(mechanism.outputs) for mechanism in cell.axes.values()], dtype=np.int64)
            for cell in cells
        }
        for (key, outputs, _), sums in self.sums.items():
            found[key][outputs] += round(float(sums[0]))
        return found

    def _read(self, path: Path, one: Agreement) -> None:
        from rropt.release.counting import CellReader, kept_records
        from rropt.release.tables.coding import check_type

        reader = CellReader(one.cells)
        names = [*self.plain, *filter(None, [self.weights, self.of]), *(condition.column for condition in one.only)]
        for given in self.batches(path, [reader], one.quoted, names, one.where):
            batch = kept_records(given, one.only, path)
            for name in self.plain:
                check_type(batch.schema.field(name).type, f"{path}: column {name!r}")
            cells = reader.read(batch)
            plain_codes = [plain.number(batch.column(plain.name), str(self.path)) for plain in self.found_labels]
            weights, numbers = np.ones(batch.num_rows), np.zeros(batch.num_rows)
            if self.weights:
                weights = self.numbers(batch.column(self.weights), self.weights, "weights", 0.0)
            if self.of:
                numbers = self.numbers(batch.column(self.of), self.of, "numbers", -np.inf)
                self.shift = self.shift if self.sums or not len(numbers) else float(numbers[0])
                numbers = numbers - self.shift
            for cell, shape, (at, outputs) in zip(one.cells, reader.shapes, cells or (), strict=False):
                self._add(cell, shape, at, outputs, plain_codes, weights, numbers)
        self.replaced.update(reader.replaced)

    def _add(
        self,
        cell: Cell,
        shape: tuple[int, ...],
        at: np.ndarray,
        outputs: tuple[np.ndarray, ...],
        plain: list[np.ndarray],
        weights: np.ndarray,
        numbers: np.ndarray,
    ) -> None:
        # A missing value is -1.
        sizes = (*shape, *(len(one.labels) + 1 for one in self.found_labels))
        flat = np.ravel_multi_index((*outputs, *(one[at] + 1 for one in plain)), sizes)
        groups, inverse = np.unique(flat, return_inverse=True)
        w, y = weights[at], numbers[at]
        terms = (np.ones(len(at)), w, w**2, w * y, w**2 * y, (w * y) ** 2)
        found = [np.bincount(inverse, weights=one, minlength=len(groups)) for one in terms]
        columns = np.stack(np.unravel_index(groups, sizes), axis=1).tolist()
        for column, sums in zip(columns, np.stack(found, axis=1), strict=True):
            key = cell.key, tuple(column[: len(shape)]), tuple(one - 1 for one in column[len(shape) :])
            self.sums[key] = self.sums[key] + sums if key in self.sums else sums

    def _check(self) -> None:
        for plain in self.found_labels:
            plain.refuse_missing(str(self.path))
        records = sum(float(one[0]) for one in self.sums.values())
        if records < 2:
            asked = ", ".join(f"{name}={value}" for name, value in self.where.items())
            raise UnknownName(
                f"it has {counted(int(records), 'records')}{f' with {asked}' if asked else ''}",
                str(self.path),
                "errors need two records or more",
            )
        if not any(one[1] > 0 for one in self.sums.values()):
            raise OutOfRange("all weights are 0", f"{self.path}: column {self.weights!r}", "name another column")

    def _score(self, wanted: Columns) -> None:
        """The groups with their scores."""
        from rropt.estimation.scoring import score_estimator
        from rropt.estimation.tables import Groups
        from rropt.io.count_records import label_order

        tables: dict[tuple[Any, int], np.ndarray] = {}
        labels: dict[int, dict[str, None]] = {axis: {} for axis in range(len(self.axes))}
        for cell in self.found.cells:
            for axis, mechanism in enumerate(cell.axes.values()):
                labels[axis] |= dict.fromkeys(mechanism.inputs)
        for cell, counts in zip(self.found.cells, self.found.tables, strict=True):
            for axis, mechanism in enumerate(cell.axes.values()):
                own = counts.sum(axis=tuple(at for at in range(counts.ndim) if at != axis)).astype(np.float64)
                estimator = score_estimator(mechanism, self.method, None, own)
                place = {label: at for at, label in enumerate(labels[axis])}
                table = np.zeros((len(place), len(mechanism.outputs)))
                table[[place[label] for label in mechanism.inputs]] = estimator.table
                tables[cell.key, axis] = table
        plain = [sorted(one.labels, key=label_order) for one in self.found_labels]
        order = [
            {one.labels[label]: at for at, label in enumerate(names)}
            for one, names in zip(self.found_labels, plain, strict=True)
        ]
        homes = [self.home.get(name) for name in wanted]
        self.categories: tuple[Columns, ...] = ()
        members: list[np.ndarray] = []
        for name, home in zip(wanted, homes, strict=True):
            if home is None:
                at = [one.name for one in self.found_labels].index(name)
                self.categories += (tuple(plain[at]),)
                members.append(np.zeros(0))
                continue
            names, part = home
            known = list(labels[self.axes.index(names)])
            own = known if part is None else [_part(label, part, len(names), self.path) for label in known]
            categories = tuple(dict.fromkeys(own))
            self.categories += (categories,)
            members.append(np.array([categories.index(label) for label in own]))
        shape = tuple(map(len, self.categories))
        cells = int(np.prod(shape))
        if cells > MOST_CELLS or cells * len(self.sums) > LARGEST:
            raise TooLarge(
                f"the table has {counted(cells, 'cells')} from {counted(len(self.sums), 'groups of records')}",
                str(self.path),
                "merge categories",
            )
        together = len(homes) == 2 and homes[0] is not None and homes[1] is not None and homes[0][0] == homes[1][0]
        joint = np.zeros((len(self.sums), *shape))
        # A cell that no input of the mechanisms stands for is impossible, in all groups with their strata and values.
        possible = np.zeros(shape, dtype=bool)
        inputs = {
            (cell.key, axis): np.isin(list(labels[axis]), mechanism.inputs)
            for cell in self.found.cells
            for axis, mechanism in enumerate(cell.axes.values())
        }
        for at, (key, outputs, values) in enumerate(self.sums):
            if together and homes[0] is not None:
                axis = self.axes.index(homes[0][0])
                there = inputs[key, axis]
                possible[members[0][there], members[1][there]] = True
                np.add.at(joint[at], (members[0], members[1]), tables[key, axis][:, outputs[axis]])
                continue
            parts, there = [], np.ones((), dtype=bool)
            for name, home, member, size in zip(wanted, homes, members, shape, strict=True):
                own, held = np.zeros(size), np.zeros(size, dtype=bool)
                if home is None:
                    number = [one.name for one in self.found_labels].index(name)
                    own[order[number][values[number]]] = 1.0
                    held[order[number][values[number]]] = True
                else:
                    axis = self.axes.index(home[0])
                    np.add.at(own, member, tables[key, axis][:, outputs[axis]])
                    held[member[inputs[key, axis]]] = True
                parts.append(own)
                there = there[..., None] & held
            possible |= there
            joint[at] = parts[0] if len(parts) == 1 else np.outer(*parts)
        self.joint, self.impossible = joint, ~possible
        numbers = np.stack(list(self.sums.values())).T
        self.groups: Groups = Groups(*numbers[:3])
        self.moments: np.ndarray = numbers[3:]


def _part(label: str, at: int, count: int, path: Path) -> str:
    """The value of one column in the label of a joint mechanism."""
    parts = split(label)
    if joined(parts) != label or at >= len(parts):
        raise Conflict(
            f"category {label!r} of its mechanism does not have {counted(count, 'parts')}",
            str(path),
            "name the released column whole",
        )
    return parts[at]
