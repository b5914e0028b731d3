"""Frequencies from a released file: one column, or the joint ones of several."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from rropt.errors import InputError, TooLarge, UnknownName, counted
from rropt.io.arguments import checked
from rropt.io.count_records import blank_twins
from rropt.mechanisms.garbling import explicit
from rropt.release.facade import counted_of
from rropt.release.plans.cross import joined, split
from rropt.release.plans.plan import ProtectedColumn

if TYPE_CHECKING:
    from rropt.mechanisms.estimators.estimate import Estimate
    from rropt.release.counting import Counted

REMEDY = "give the released file and its own mechanism; most likely this column was never randomised"
DAMAGED = "report this: the manifest names this mechanism, and the release may be damaged"
"""What helps where counts do not fit: without a manifest, and with one."""
LARGEST = 1 << 24
"""Most cells of the joint matrix of several columns."""


@checked
def estimate_file(
    file: str | os.PathLike[str],
    columns: Mapping[str, Any] | Mapping[str | tuple[str, ...], Any],
    *,
    method: str = "unbiased",
    where: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Estimate:
    r"""The estimated frequencies of protected columns, from a released file.

    `columns` maps each released column to its mechanism; of several, perturbed independently, the joint frequencies
    are estimated, with categories "a, b" as `Pairs` writes them (the first column major) and the Kronecker product of
    the matrices. A column with a mechanism for each stratum is mapped to all of them, `{stratum: mechanism}`, or to its
    `ProtectedColumn`: the strata are then pooled, each by its own mechanism, unless `where` names one. `method` as
    `Mechanism.estimate`, `where` and `delimiter` as `counts_of`. Raises InputError, also for counts that cannot come
    from the mechanism (p < 1e-6): estimates from a column that was never randomised mean nothing.

        >>> import tempfile, pathlib
        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "answers.csv"
        ...     size = file.write_text("answer,age,sex\n" + "no,3,f\nyes,5,m\nno,4,m\nyes,6,f\n" * 20, encoding="utf-8")
        ...     rr.release.estimate_file(file, {"answer": response}).values.round(3).tolist()
        [0.5, 0.5]
    """
    cells = math.prod(_largest(one) for one in columns.values())
    if len(columns) > 1 and cells > LARGEST:
        raise TooLarge(f"their joint matrix has {counted(cells, 'cells')}", "estimate", "take fewer columns at a time")
    found = counted_of(file, columns, where, delimiter)
    if where and not any(table.any() for table in found.tables):
        asked = ", ".join(f"{name}={value}" for name, value in where.items())
        raise UnknownName(f"none of its records has {asked}", str(file), "give a value that occurs in that column")
    from rropt.mechanisms.estimators.recover import Answers, Sample, recover_strata

    samples: list[Answers] = []
    for cell, table in zip(found.cells, found.tables, strict=True):
        mechanisms, counts = list(cell.axes.values()), table.ravel().astype(np.float64)
        if len(mechanisms) == 1:
            samples.append(mechanisms[0].answers(counts))
            continue
        labels = product(*(parts_of(one.inputs, len(names)) for names, one in cell.axes.items()))
        matrix = reduce(np.kron, [one.matrix for one in mechanisms])
        samples.append(Sample(matrix, counts, tuple(joined(chain(*one)) for one in labels)))
    refuse_misfits(found, file)
    made = recover_strata(samples, method)
    return replace(made, notes=(*found.notes, *made.notes, *_remarks(made)))


def parts_of(labels: tuple[str, ...], count: int) -> list[tuple[str, ...]]:
    """The values of `count` columns that each label names; the label alone where it is not made of so many."""
    parts = list(map(split, labels))
    fits = all(len(own) == count and joined(own) == label for own, label in zip(parts, labels, strict=True))
    return parts if fits else [(label,) for label in labels]


def _remarks(made: Estimate) -> Iterator[str]:
    """Remarks on what a reader of these numbers could take for an error."""
    yield from blank_twins(made.categories)
    if negative := int((made.values < 0).sum()):
        what = "estimate is" if negative == 1 else "estimates are"
        yield (
            f"{negative} {what} negative, as is possible for rare categories; --method projected or --method mle "
            "(method= in Python) gives none"
        )


def _largest(given: Any) -> int:
    """The cells of a mechanism, or of the largest of all strata."""
    if isinstance(given, ProtectedColumn):
        made = [one for _, one in given.strata]
    else:
        made = [explicit(one, "estimate") for one in (given.values() if isinstance(given, Mapping) else [given])]
    return max(math.prod(one.shape) for one in made)


def refuse_misfits(found: Counted, file: str | os.PathLike[str]) -> None:
    """Raise InputError where counts cannot come from their mechanism."""
    if wrong := "; ".join(_misfits(found)):
        raise InputError(wrong, str(file), DAMAGED if found.vouched else REMEDY)


def _misfits(found: Counted) -> Iterator[str]:
    """Counts that cannot come from their mechanism, column by column and stratum by stratum."""
    tests = sum(len(cell.axes) for cell in found.cells)
    for cell, table in zip(found.cells, found.tables, strict=True):
        within = "".join(f", {name}={value}" for name, value in cell.key)
        for at, (columns, mechanism) in enumerate(cell.axes.items()):
            counts = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != at)).astype(np.float64)
            wrong = mechanism.answers(counts).misfit(mechanism.outputs, tests) if counts.any() else ""
            if wrong:
                yield f"{', '.join(columns)}{within}: {wrong}"
