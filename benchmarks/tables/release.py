"""Releasing files: rows a second and memory, beside the plain loop over batches that one would write instead."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rropt as rr
from benchmarks.measure import PATIENCE, REPEATS
from benchmarks.table import Column, Result, Row, Scale, Table, as_mega, as_number, as_seconds
from rropt.io.memory import peak_memory

CHECKOUT = Path(__file__).resolve().parent.parent.parent
LABELS = tuple(f"category number {number}" for number in range(16))
MEMOISED = "parquet, memoised"
ROWS: dict[Scale, dict[str, int]] = {
    "tiny": {"parquet": 20_000, "arrow": 20_000, "csv": 20_000, MEMOISED: 20_000},
    "default": {"parquet": 20_000_000, "arrow": 5_000_000, "csv": 2_000_000, MEMOISED: 1_000_000},
    "full": {"parquet": 20_000_000, "arrow": 20_000_000, "csv": 20_000_000, MEMOISED: 5_000_000},
}
STEP = 1 << 20


def write(path: Path, rows: int) -> None:
    """A table of `rows` records on the disk: an identifier, and one of 16 categories as text."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    random = np.random.default_rng(1)
    schema = pa.schema([("id", pa.int32()), ("category", pa.string())])
    writers: dict[str, Callable[[], Any]] = {
        ".parquet": lambda: pa.parquet.ParquetWriter(path, schema),
        ".arrow": lambda: pa.ipc.new_file(str(path), schema),
        ".csv": lambda: pa.csv.CSVWriter(path, schema),
    }
    with writers[path.suffix]() as writer:
        for start in range(0, rows, STEP):
            size = min(STEP, rows - start)
            drawn = pa.DictionaryArray.from_arrays(random.integers(0, len(LABELS), size).astype(np.int8), LABELS)
            identifiers = np.arange(start, start + size, dtype=np.int32)
            writer.write_table(pa.table([identifiers, drawn.cast(pa.string())], schema=schema))


def release(data: Path, output: Path) -> None:
    """Release a file: the work that is measured."""
    mechanism = rr.RandomizedResponse(LABELS, epsilon=1)
    rr.release.release_file(data, rr.release.ProtectedColumn("category", mechanism), output, force=True)


def memoised(data: Path, output: Path) -> None:
    """The same under a key."""
    from rropt.release.memo import new_key

    key = output.with_name(f"{output.name}.key")
    new_key(key)
    column = rr.release.ProtectedColumn("category", rr.RandomizedResponse(LABELS, epsilon=1))
    rr.release.release_file(data, column, output, force=True, identity="id", key=key)


def loop(data: Path, output: Path) -> None:
    """The plain way: batches of pyarrow, codes by its dictionary, floats and a generator that is not secure, a file
    under its name from the start, no check of the values."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    edges = np.cumsum(rr.RandomizedResponse(LABELS, epsilon=1).to_mechanism().matrix, axis=1)
    edges[:, -1] = 1.0
    flat = (edges + np.arange(len(LABELS))[:, None]).ravel()
    random, names, places = np.random.default_rng(1), pa.array(LABELS), np.arange(len(LABELS) ** 2) % len(LABELS)
    file = pa.parquet.ParquetFile(data)
    with pa.parquet.ParquetWriter(output, file.schema_arrow) as writer:
        for batch in file.iter_batches(batch_size=STEP):
            codes = pa.compute.index_in(batch.column(1), value_set=names).to_numpy()
            drawn = places[np.searchsorted(flat, random.random(len(codes)) + codes, side="right")]
            writer.write_batch(
                pa.RecordBatch.from_arrays([batch.column(0), names.take(pa.array(drawn))], schema=batch.schema)
            )


WORK = {"release": release, "loop": loop, "memoised": memoised}


def child(work: str, data: Path, output: Path) -> dict[str, float]:
    """Seconds (after everything is loaded) and the megabytes of the whole process at its largest."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / f"small{data.suffix}"
        write(small, 10)
        WORK[work](small, small.with_stem("out"))
    begun = time.perf_counter()
    WORK[work](data, output)
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, "memory": (peak_memory() or math.nan) / 1e6}


def measured(work: str, data: Path, repeats: int) -> dict[str, float]:
    """`child` in a process of its own, whose memory is its own: the median of up to `repeats`, by seconds."""
    runs: list[dict[str, float]] = []
    while len(runs) < repeats and (not runs or runs[-1]["seconds"] <= PATIENCE):
        output = data.with_name(f"{work}{data.suffix}")
        command = [sys.executable, "-m", "benchmarks.tables.release", work, str(data), str(output)]
        done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]


ABOUT = """\
`release_file` on a file of two columns, an identifier that stays and 16 categories as text that k-RR protects, each
run in a process of its own. It reads in batches, looks every value up in the mechanism's domain, draws exactly and
securely, hashes data and output, writes accountant and manifest, and syncs to the disk. *Memoised* is the same under a
key, with a hash of each identity and its value in both readings, and a memory of what was drawn. *loop* is a simple
program for Parquet: batches of pyarrow, `numpy.searchsorted` on floats with a generator that is not secure, and
nothing else. Speed is in millions of rows a second, without loading; memory is the peak of the whole process,
including the loaded libraries."""


def compared(kind: str, rows: int, repeats: int, folder: Path) -> Row:
    """The row of one format."""
    data = folder / f"data.{kind.split(',')[0]}"
    write(data, rows)
    # A second run under a new key would be compared with the memory of the first one: every run has its own.
    ours = measured("memoised", data, 1) if kind == MEMOISED else measured("release", data, repeats)
    row: Row = {"format": kind, "rows": rows, **ours, "speed": rows / ours["seconds"]}
    if kind == "parquet":
        plain = measured("loop", data, repeats)
        row |= {"loop": rows / plain["seconds"], "loop memory": plain["memory"]}
    for path in folder.iterdir():
        path.unlink()
    return row


def measure(scale: Scale) -> Result:
    """Every format."""
    repeats = 1 if scale == "tiny" else REPEATS
    with tempfile.TemporaryDirectory() as folder:
        return Result([compared(kind, rows, repeats, Path(folder)) for kind, rows in ROWS[scale].items()])


TABLE = Table(
    "release",
    "Releasing a file",
    ABOUT,
    (
        Column("format", "format"),
        Column("rows", "rows"),
        Column("s", "seconds", as_seconds),
        Column("M/s", "speed", as_mega(1)),
        Column("memory, MB", "memory", as_number(".0f")),
        Column("loop, M/s", "loop", as_mega(1)),
        Column("loop, MB", "loop memory", as_number(".0f")),
    ),
    measure,
)

if __name__ == "__main__":
    print(json.dumps(child(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
