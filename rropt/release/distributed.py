"""A release of a table that is not a file here: charged once, drawn batch by batch anywhere, and then committed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from rropt.errors import Conflict, NotWritten, OutOfRange, WrongType
from rropt.io.content import ByContent
from rropt.io.count_records import check_column
from rropt.io.files import write_whole
from rropt.io.tables import Table
from rropt.mechanisms.sampling.sources import secure_bytes
from rropt.release.accountant import PrivacyAccountant, temporary_name
from rropt.release.memo import KEY_BYTES, Scope, identity_texts
from rropt.release.plans.manifest import manifest, manifest_path, manifest_text
from rropt.release.plans.plan import Release
from rropt.release.plans.privacy import privacy_of_stacks
from rropt.release.plans.provenance import release_digest
from rropt.release.run import Charge
from rropt.release.storage.places import Place
from rropt.release.tables.batches import Protector
from rropt.release.tables.cautions import cautions_of_designs, refused_without_estimates
from rropt.release.tables.coding import check_type
from rropt.release.tables.streams import plain

WHERE = "plan_release"


class _Charge(Charge):
    """The charge of a release whose records are elsewhere."""

    def __init__(self, release: Release, protector: Protector, output: Path, population: str, force: bool) -> None:
        self.release, self.output, self.data = release, output, output
        self.force, self.population, self.twice, self.is_empty = force, population, [], False
        self.privacy = privacy_of_stacks(release, protector.stacks)
        self.scopes = [None] * len(release.columns)
        self.wanted = {name for one in release.columns for name in one.columns}
        self.raw = protector.unprotected


def planned(
    given: Any,
    release: Release,
    identity: str,
    accountant: Place,
    output: Path,
    population: str,
    force: bool,
    unidentified: bool,
    warn: Callable[[str], None],
) -> DistributedRelease:
    """As `plan_release`."""
    schema = given if isinstance(given, pa.Schema) else getattr(given, "schema", None)
    if not isinstance(schema, pa.Schema):
        raise WrongType(f"{type(given).__name__} has no Arrow schema", f"{WHERE}, schema", "give a pyarrow.Schema")
    protector = Protector(release, schema, WHERE)
    check_column(schema.names, identity, WHERE)
    check_type(schema.field(identity).type, f"{WHERE}: column {identity!r}")
    if any(identity in (*one.columns, *one.by) for one in release.columns):
        raise Conflict(f"column {identity!r} is protected, or a stratum", WHERE, "name the column of identities")
    if not (unidentified or force):
        for error in refused_without_estimates(release, WHERE, "unidentified=True"):
            raise error
    charge = _Charge(release, protector, output, population, force)
    number, created = secure_bytes(8).hex(), datetime.now(UTC).isoformat(timespec="seconds")
    with PrivacyAccountant(None, accountant, "") as kept:
        # What is refused is refused before another process waits.
        charge.count(kept)
        with kept.reserving():
            crossed, earlier, total = charge.count(kept)
            described = {"file": output.name, "bytes": 0, "sha256": ""}
            made = number, created, output, 0, described, release, charge.privacy, charge.raw
            content = manifest(*made, earlier, total)
            manifest_text(content)  # A draw that cannot be recorded is not made.
            kept.begin(
                {
                    "release": number,
                    "time": created,
                    "data": output.name,
                    "sha256": "",
                    "plan": release_digest(release),
                    **charge.recorded,
                    "output": str(output),
                    "temporary": temporary_name(output, number),
                }
            )
    for caution in (*crossed, *cautions_of_designs(release, charge.privacy, earlier, total, False)):
        warn(caution)
    return DistributedRelease(
        output, accountant, BatchProtector(release, schema, identity, secure_bytes(KEY_BYTES)), content
    )


@dataclass(frozen=True, eq=False)
class BatchProtector(ByContent):
    """The function that protects one Arrow batch. It is pure: an equal record gets an equal answer in every call and
    process, so that a scheduler may run a task twice. It can be pickled; it has the secret key of this release."""

    release: Release
    given: pa.Schema
    identity: str
    key: bytes = field(repr=False)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of protected batches."""
        return self._protector.schema

    @property
    def _protector(self) -> Protector:
        # One for each call: it counts the faults of one batch.
        return Protector(self.release, self.given, "batch")

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The protected batch. Raises InputError for columns, values and strata that the release does not have."""
        if not isinstance(batch, pa.RecordBatch):
            raise WrongType(f"{type(batch).__name__} is not an Arrow batch", "batch", "give a pyarrow.RecordBatch")
        if batch.schema.names != self.given.names or batch.schema.types != self.given.types:
            raise Conflict("its columns are not those of the plan", "batch", "cast it to the planned schema")
        protector = self._protector
        chosen, mask = protector.chosen(batch)
        rows = protector.rows(protector.read(chosen), chosen.num_rows)
        if rows is None:
            raise protector.faults.error("batch")
        who = identity_texts(chosen.column(self.given.get_field_index(self.identity)), self.identity, 0, "batch")
        scopes = (Scope(self.key, stack, self.identity) for stack in protector.stacks)
        sources = [scope.source(own, who) for scope, own in zip(scopes, rows, strict=True)]
        columns = protector.assembled(batch, protector.draw(rows, sources), mask)
        schema = protector.schema
        arrays = [plain(column, type_) for column, type_ in zip(columns, schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


@dataclass(frozen=True, eq=False)
class DistributedRelease(ByContent):
    """A release that is charged: `protect` draws it, batch by batch; `commit` records that it is complete. `manifest` is
    its manifest. It can be pickled, to go on after a failure without another charge; keep it secret, as it has the key
    of the draws."""

    output: Path
    accountant: Place
    protect: BatchProtector = field(repr=False)
    manifest: dict[str, Any] = field(repr=False)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of protected batches."""
        return self.protect.schema

    def commit(self, rows: int, manifest_file: str | os.PathLike[str] | None = None) -> Path:
        """Record in the accountant that all `rows` are written, and write the manifest: to `manifest_file`, by default
        OUTPUT.manifest.json. Returns its path. A second call changes nothing. Raises InputError."""
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
            raise OutOfRange(f"{rows!r} is not a number of records", "commit, rows", "give the records of all batches")
        place = manifest_path(self.output) if manifest_file is None else Path(manifest_file)
        content = self.manifest | {"rows": rows}
        with PrivacyAccountant(None, self.accountant, "") as accountant:
            entries = [one for one in accountant.earlier if one.content["release"] == self.manifest["release"]]
            if not entries:
                raise Conflict(
                    "it does not record this release", str(self.accountant), "give the accountant of the plan"
                )
            made = write_whole(place, manifest_text(content))
            if not entries[0].finished:
                try:
                    accountant.finish(entries[0])
                except OSError as error:
                    raise NotWritten(f"cannot write ({error.strerror})", str(self.accountant), "commit again") from None
        return made

    def _tables(self) -> Iterator[Table]:
        columns = [(", ".join(one["columns"]), f"randomised: {_guarantee(one)}") for one in self.manifest["columns"]]
        rows = [*columns, ("Unchanged", ", ".join(self.manifest["unprotected"]) or "no column")]
        yield Table(f"Release to {self.output}, charged to {self.accountant}", rows)


def _guarantee(column: dict[str, Any]) -> str:
    return str(column.get("guarantee", f"LDP (epsilon {column['epsilon']})"))
