"""The reading of the data before the draw, from a file or in memory: what forbids it, and what their owner should
know."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from rropt.errors import InputError, OutOfRange, Refused, Unreadable, counted
from rropt.exact import declared_text, shown
from rropt.mechanisms.names import misleading
from rropt.model.guarantees import identification
from rropt.model.identification import at_risk, risk_excess
from rropt.release.plans.at_frequencies import column_and_stratum, worse_in
from rropt.release.plans.plan import Design, ProtectedColumn, of_stratum
from rropt.release.tables.batches import Protector
from rropt.release.tables.cautions import cautions_of_columns
from rropt.release.tables.coding import MISSING, STRANGE

FEW = 10
"""A column is refused where fewer than one in so many of its values are labels, missing ones left out."""


@dataclass(frozen=True)
class Seen:
    """What one reading showed: the number of `rows`, what is `against` a release that is not forced, `cautions`, and how
    many records are not protected (`unchanged`), and how many protected ones each stratum of each column has
    (`sizes`)."""

    rows: int
    against: tuple[InputError, ...]
    cautions: tuple[str, ...]
    unchanged: int = 0
    sizes: tuple[tuple[int, ...], ...] = ()

    def tell(
        self, warn: Callable[[str], None], force: bool, further: Iterable[str] = (), refused: Iterable[InputError] = ()
    ) -> None:
        """Show `further` cautions and these to the owner of the data. Raises InputError, without `force`, for what is
        against the release, and for what is `refused`."""
        if not force:
            for error in (*self.against, *refused):
                raise error
        for caution in (*further, *(one.what for one in self.against), *self.cautions):
            warn(caution)


def warn_python(caution: str) -> None:
    """Show a caution as a warning of Python."""
    warnings.warn(caution, stacklevel=2)


def look(
    batches: Iterable[pa.RecordBatch],
    protector: Protector,
    protected: Sequence[str],
    public: Sequence[str],
    data: str,
    *,
    keep: Callable[[pa.RecordBatch, list[np.ndarray]], None] | None = None,
    whole: int | None = None,
    force: str = "--force",
) -> Seen:
    """Read the whole table once. `public` columns stay as they are, beside those `protected`; `keep` is called with
    each batch and the rows of the stacks for it; `whole` is the number of records, where it is known; `force` is how
    `data` are released all the same. Raises InputError for values that cannot be released, so that the draw does not
    stop half-way."""
    rows = protected_rows = 0
    counts = [np.zeros(stack.rows, dtype=np.int64) for stack in protector.stacks]

    def seen() -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        nonlocal rows, protected_rows
        for whole_batch in batches:
            batch, _ = protector.chosen(whole_batch)
            found = protector.rows(protector.read(batch), batch.num_rows)
            for known, own in zip(counts, found or (), strict=found is not None):
                known += np.bincount(own, minlength=len(known))
            if keep is not None and found is not None:
                keep(batch, found)
            rows += whole_batch.num_rows
            protected_rows += batch.num_rows
            yield whole_batch, batch

    cautions = list(cautions_of_columns(seen(), protected, public))
    if protector.faults:
        raise protector.faults.error(data)
    if whole is not None and whole != rows:
        cut = f"{rows:,} of its {counted(whole, 'rows')} were read"
        raise Unreadable(cut, data, "is the file cut short?")
    against, replaced = _replaced(protector, protected_rows, data, force)
    against += _misnamed(protector, data, force) if rows else ()
    for stack, known in zip(protector.stacks, counts, strict=True):
        against += _risks(stack.column, known.tolist(), data, force)
        replaced += _worse(stack.column, known.tolist())
    sizes = (
        tuple(sum(own) for *_, own in _designs(stack.column, known.tolist()))
        for stack, known in zip(protector.stacks, counts, strict=True)
    )
    return Seen(rows, tuple(against), (*replaced, *cautions), rows - protected_rows, tuple(sizes))


def _misnamed(protector: Protector, data: str, force: str) -> Iterator[InputError]:
    """Columns whose values would be called as the data's and do not mean the same."""
    for column in (stack.column for stack in protector.stacks):
        inputs = {label for _, mechanism in column.strata for label in mechanism.inputs}
        for stratum, mechanism in column.strata:
            if why := misleading(mechanism, inputs):
                yield Refused(
                    f"{column_and_stratum(column.columns, stratum)} would look like the data and is not: {why}",
                    data,
                    f"give the mechanism neutral outputs, as 'output 1', or use {force} to release under these names",
                )


def _worse(column: ProtectedColumn, counts: list[int]) -> Iterator[str]:
    """What designs guarantee for other frequencies, and do not keep at these; counts as `_risks`."""
    for stratum, design, own in _designs(column, counts):
        for sentence in worse_in(design, own):
            yield f"{column_and_stratum(column.columns, stratum)}: {sentence}"


def _designs(column: ProtectedColumn, counts: list[int]) -> Iterator[tuple[tuple[str, ...], Design, list[int]]]:
    """The strata of a column with their designs, and the counts of their inputs."""
    start = 0
    for (stratum, mechanism), design in zip(column.strata, column.designs, strict=True):
        own = counts[start : start + len(mechanism.inputs)]
        start += len(own)
        yield stratum, design, own


def _risks(column: ProtectedColumn, counts: list[int], data: str, force: str) -> Iterator[InputError]:
    """Bounds on the identification risk that designs guarantee for other counts, and that do not hold for these: one
    number for each input of each stratum."""
    names = ", ".join(map(repr, column.columns))
    for stratum, design, own in _designs(column, counts):
        mechanism, problem = design.mechanism, design.problem or {}
        if "identification_risk" not in problem:
            continue
        declared, at_most, categories = identification(problem)
        if tuple(own) == declared:
            continue
        few = set(at_risk(own, at_most)) & set(categories)
        worst, c = max((risk_excess(mechanism.column(c), own, c, at_most), c) for c in few) if few else (Fraction(0), 0)
        if worst > 0:
            within = f"{of_stratum(stratum)}," if stratum else ""
            yield OutOfRange(
                f"{mechanism.inputs[c]!r} of column {names}{within} is identified with probability "
                f"{shown(worst + at_most, 3, up=True)}, above the {declared_text(at_most)} that its design guarantees "
                f"for counts of {counted(sum(declared), 'records')}: these data have other counts",
                data,
                f"make a design for these counts, or use {force} to release without this guarantee",
            )


def _replaced(protector: Protector, rows: int, data: str, force: str) -> tuple[list[InputError], list[str]]:
    """The values that are replaced by an input: columns where that is nearly all of them, and the others."""
    against, cautions, whole = [], [], counted(rows, "values")
    for part in dict.fromkeys(part for part, _ in protector.replaced):
        found = [
            (protector.replaced[part, kind], kind, at) for kind, at in ((STRANGE, part.other), (MISSING, part.null))
        ]
        warnings = [
            f"{count:,} of {whole} of column {part.name!r} {'is' if count == 1 else 'are'} {kind} and "
            f"{'counts' if count == 1 else 'count'} as {part.labels[at]!r}"
            for count, kind, at in found
            if count
        ]
        (unknown, _, _), (missing, _, _) = found
        if (rows - missing - unknown) * FEW < rows - missing or missing == rows > 0:
            remedy = f"is it the column of this design? check its name, or use {force} where this is meant"
            against.append(InputError("; ".join(warnings), data, remedy))
        else:
            cautions += warnings
    return against, cautions
