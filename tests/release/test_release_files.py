"""Releases of files: formats, bad input, the accountant against second draws, manifests, counts, the command line."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accountants import draws, states
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError, ReleasedBefore
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.release import (
    CrossClassification,
    ProtectedColumn,
    Release,
    counts_of,
    load_mechanism,
    load_release,
    release_file,
    table_of,
)
from rropt.release.plans.provenance import digest

pa = pytest.importorskip("pyarrow")
import pyarrow.csv as pacsv  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

LABELS = ("a", "b", "c")
ABC = RandomizedResponse(LABELS, epsilon=1).to_mechanism()


def shifted(labels: tuple[str, ...]) -> Mechanism:
    """Gives the next label, always: what a release does with it can be foretold."""
    size = len(labels)
    rows = [[Fraction(int(y == (x + 1) % size)) for y in range(size)] for x in range(size)]
    return Mechanism.from_rationals(rows, inputs=labels, outputs=labels)


NEXT = shifted(LABELS)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def contents(folder: str = ".") -> dict[str, bytes]:
    """Every file below a folder with its bytes, hidden ones too."""
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


def table(rows: int = 7) -> Any:
    """A table with columns of many types and one to be protected, `x`."""
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int32()),
            "x": [LABELS[at % 3] for at in range(rows)],
            "real": [None if at == 1 else at / 3 for at in range(rows)],
            "flag": [at % 2 == 0 for at in range(rows)],
            "list": [[at, at + 1] for at in range(rows)],
            "nest": [{"p": at, "q": {"r": str(at)}} for at in range(rows)],
            "kind": pa.array(["u", "v"] * rows).slice(0, rows).dictionary_encode(),
            "when": pa.array(range(rows), pa.timestamp("ms")),
        }
    )


def write(what: Any, name: str) -> Path:
    """A table as a file of the format that the name says."""
    path = Path(name)
    if path.suffix == ".parquet":
        pq.write_table(what, path, row_group_size=3)
    elif path.suffix == ".feather":
        with pa.OSFile(name, "wb") as stream, pa.ipc.new_stream(stream, what.schema) as writer:
            writer.write_table(what, max_chunksize=3)
    elif path.suffix == ".arrow":
        with pa.OSFile(name, "wb") as stream, pa.ipc.new_file(stream, what.schema) as writer:
            writer.write_table(what, max_chunksize=3)
    else:
        flat = what.select([name for name in what.column_names if name not in ("list", "nest", "kind")])
        pacsv.write_csv(flat, path, pacsv.WriteOptions(delimiter="\t" if path.suffix == ".tsv" else ","))
    return path


def read(path: str | Path) -> Any:
    """The table of a file, by another way than the release's."""
    path = Path(path)
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix in (".csv", ".tsv"):
        with path.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))
        return pa.table({name: [row[at] for row in rows[1:]] for at, name in enumerate(rows[0])})
    with pa.OSFile(str(path)) as stream:
        opened = pa.ipc.open_file(stream) if path.suffix == ".arrow" else pa.ipc.open_stream(stream)
        return opened.read_all()


FORMATS = ("t.csv", "t.tsv", "t.parquet", "t.arrow", "t.feather")


# -- formats -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_a_release_changes_the_protected_column_and_nothing_else(name: str) -> None:
    data = write(table(), name)
    before = data.read_bytes()
    released = release_file(data, ProtectedColumn("x", NEXT), force=True)
    assert released.output == data.with_name(f"t.protected{data.suffix}")
    given, made = read(data), read(released.output)
    assert made.schema.equals(given.schema)
    assert made["x"].to_pylist() == [LABELS[(at + 1) % 3] for at in range(7)]
    assert made.drop_columns("x").equals(given.drop_columns("x"))
    assert data.read_bytes() == before
    beside = ("", ".manifest.json", ".README.txt", ".for-R/estimate.R", ".for-R/functions.R", ".for-R/matrix.csv")
    assert set(contents()) == {name, f"{name}.accountant", *(f"{released.output}{end}" for end in beside)}


@pytest.mark.parametrize("name", FORMATS)
def test_several_batches_keep_the_order(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rropt.release.tables import formats, parquet

    monkeypatch.setattr(formats, "BATCH_ROWS", 5)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 5)
    monkeypatch.setattr(parquet, "ROW_GROUP", 8)
    data = write(table(100), name)
    done: list[tuple[int, int | None]] = []
    release_file(data, ProtectedColumn("x", NEXT), f"o{data.suffix}", monitor=lambda *now: done.append(now), force=True)
    made = read(f"o{data.suffix}")
    assert made["x"].to_pylist() == [LABELS[(at + 1) % 3] for at in range(100)]
    assert made.drop_columns("x").equals(read(data).drop_columns("x"))
    assert done[-1][0] == 100
    assert [rows for rows, _ in done] == sorted(rows for rows, _ in done)
    if name == "t.parquet":
        assert {total for _, total in done} == {100}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_rows(name: str) -> None:
    data = write(table(0), name)
    released = release_file(data, ProtectedColumn("x", NEXT), force=True)
    made = read(released.output)
    assert made.num_rows == 0
    assert made.column_names == read(data).column_names
    assert released.manifest["rows"] == 0


def test_parquet_keeps_types_and_compression() -> None:
    pq.write_table(table(50), "t.parquet", compression="gzip")
    release = Release([ProtectedColumn("x", NEXT), ProtectedColumn("id", shifted(tuple(map(str, range(50)))))])
    release_file("t.parquet", release, "o.parquet", force=True)
    made = pq.ParquetFile("o.parquet")
    assert made.metadata.row_group(0).column(1).compression == "GZIP"
    given = pq.ParquetFile("t.parquet").schema_arrow
    assert made.schema_arrow.metadata.keys() == {b"rropt"}, "the warning, and nothing of the data"
    assert made.schema_arrow.equals(given.with_metadata(made.schema_arrow.metadata), check_metadata=True)
    assert made.read()["id"].to_pylist() == [*range(1, 50), 0]


def test_pandas_reads_a_released_parquet_file_as_it_was() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"x": pandas.Categorical(["b", "a", "c"], categories=["c", "b", "a"]), "n": [1, 2, 2], "k": [0.5, 1.5, 2.5]},
        index=pandas.Index([9, 4, 7], name="person"),
    )
    frame.to_parquet("t.parquet")
    release_file(
        "t.parquet", Release([ProtectedColumn("x", NEXT), ProtectedColumn("n", shifted(("1", "2")))]), force=True
    )
    made = pandas.read_parquet("t.protected.parquet")
    assert made.index.tolist() == [9, 4, 7]
    assert made.index.name == "person"
    assert made["x"].tolist() == ["c", "b", "a"]
    assert isinstance(made["x"].dtype, pandas.CategoricalDtype)
    assert made["n"].tolist() == [2, 1, 1]
    assert made["k"].tolist() == [0.5, 1.5, 2.5]


def test_text_files_come_out_as_they_went_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the other cells hold, quotes, delimiters, line ends or numbers of odd spelling, stays as it is, also
    where a block ends within a cell."""
    from rropt.release.tables import text

    monkeypatch.setattr(text, "TEXT_BLOCK", 500)
    rng = random.Random(3)
    cells = [
        "007",
        "1.10",
        "",
        " x ",
        'say "hi"',
        "a,b",
        "line\nbreak",
        "cr\r\nlf",
        "ü€",
        '"',
        ",",
        "\t",
        "NULL",
        "nan",
    ]
    for delimiter, end in ((",", "\n"), (";", "\r\n"), ("|", "\n"), ("^", "\n"), ("-", "\r\n")):
        rows = [[rng.choice(cells), LABELS[at % 3], rng.choice(cells)] for at in range(200)]
        with Path("t.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator=end)
            writer.writerow(['od"d' + delimiter, "x", "z"])
            writer.writerows(rows)
        release_file("t.csv", ProtectedColumn("x", NEXT), "o.csv", force=True, delimiter=delimiter)
        with Path("o.csv").open(newline="", encoding="utf-8") as stream:
            found = list(csv.reader(stream, delimiter=delimiter))
        assert found[0] == ['od"d' + delimiter, "x", "z"]
        assert found[1:] == [[a, LABELS[(LABELS.index(x) + 1) % 3], b] for a, x, b in rows]
        assert Path("o.csv").read_bytes().endswith(end.encode())


def test_a_mark_of_the_byte_order_is_no_part_of_a_name() -> None:
    Path("t.csv").write_bytes(b"\xef\xbb\xbfx,y\na,1\n")
    release_file("t.csv", ProtectedColumn("x", NEXT), "o.csv", force=True)
    assert Path("o.csv").read_bytes() == b"x,y\nb,1\n"


def test_an_empty_cell_is_missing_and_an_empty_line_of_one_column_too() -> None:
    Path("t.csv").write_text("x,y\n,1\nb,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="column 'x': 1 of 2 is unknown: blank"):
        release_file("t.csv", ProtectedColumn("x", NEXT))
    release_file("t.csv", ProtectedColumn("x", NEXT, null="a"), "o.csv", force=True)
    assert read("o.csv")["x"].to_pylist() == ["b", "c"]
    Path("one.csv").write_text("x\na\n\nb\n", encoding="utf-8")
    with pytest.raises(InputError, match="1 of 3 is unknown"):
        release_file("one.csv", ProtectedColumn("x", NEXT))
    release_file("one.csv", ProtectedColumn("x", NEXT, null="c"), force=True)
    assert read("one.protected.csv")["x"].to_pylist() == ["b", "a", "c"]


def test_dictionaries_that_change_from_batch_to_batch() -> None:
    parts = [pa.array(values).dictionary_encode() for values in (["b", "a"], ["c"], ["a", "c", "b"])]
    given = pa.table({"x": pa.chunked_array(parts), "k": pa.chunked_array(parts)})
    with pa.OSFile("t.feather", "wb") as stream, pa.ipc.new_stream(stream, given.schema) as writer:
        for batch in given.to_batches():
            writer.write_batch(batch)
    release_file("t.feather", ProtectedColumn("x", NEXT), force=True)
    made = read("t.protected.feather")
    assert made["x"].to_pylist() == ["c", "b", "a", "b", "a", "c"]
    assert made["k"].to_pylist() == ["b", "a", "c", "a", "c", "b"]


def test_dictionaries_that_grow_within_an_arrow_file() -> None:
    words = pa.array(["u", "v", "w"])
    batches = [
        pa.record_batch({"x": ["a", "b"], "k": pa.DictionaryArray.from_arrays(pa.array([0, size - 1]), words[:size])})
        for size in (1, 2, 3)
    ]
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.OSFile("t.arrow", "wb") as stream, pa.ipc.new_file(stream, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    release_file("t.arrow", ProtectedColumn("x", NEXT), force=True)
    made = read("t.protected.arrow")
    assert made["k"].to_pylist() == ["u", "u", "u", "v", "u", "w"]
    assert made["x"].to_pylist() == ["b", "c"] * 3


def test_strata_joint_and_dropped_columns_of_a_file() -> None:
    cross = CrossClassification({"s": ["m", "f"], "t": ["u", "v"]}, impossible=[{"s": "m", "t": "v"}])
    Path("t.csv").write_text("s,name,g,t,x\nm,Ann,n,u,a\nf,Bo,z,v,b\n", encoding="utf-8")
    release = Release(
        [
            ProtectedColumn(("s", "t"), shifted(cross.labels)),
            ProtectedColumn("x", {"n": NEXT, "z": ABC}, by="g"),
        ],
        drop=["name"],
    )
    released = release_file("t.csv", release, "o.csv", force=True)
    made = read("o.csv")
    assert made.column_names == ["s", "g", "t", "x"]
    assert list(zip(made["s"].to_pylist(), made["t"].to_pylist(), strict=True)) == [("f", "u"), ("m", "u")]
    assert made["x"][0].as_py() == "b"
    told = released.manifest
    assert (told["unprotected"], told["dropped"], told["epsilon"], told["privacy_ratio"]) == (
        ["g"],
        ["name"],
        None,
        "infinite",
    )
    assert told["columns"][1]["mechanisms"] == {"n": digest(NEXT), "z": digest(ABC)}
    assert told["columns"][1]["holds_within"] == ["g"]


# -- bad input -----------------------------------------------------------------------------------------------


def cut(name: str, share: float) -> None:
    data = Path(name).read_bytes()
    Path(name).write_bytes(data[: int(len(data) * share)])


def bad_files() -> dict[str, tuple[Callable[[], Any], str]]:
    """What can be wrong with a file, and what is said of it."""
    return {
        "no file": (lambda: "none.csv", "there is no such file"),
        "a folder": (lambda: os.mkdir("d.csv") or "d.csv", "it does not have a .parquet file"),
        "no format": (lambda: Path("t.foo").write_text("x\na\n") and "t.foo", "not that of a known format"),
        "an empty text file": (
            lambda: Path("t.csv").write_text("") or "t.csv",
            "it is empty; give a header and one line per record",
        ),
        "an empty Parquet file": (lambda: Path("t.parquet").write_text("") or "t.parquet", "cannot be read"),
        "an empty Arrow file": (lambda: Path("t.arrow").write_text("") or "t.arrow", "cannot be read"),
        "no such column": (
            lambda: Path("t.csv").write_text("y\na\n") and "t.csv",
            "no column 'x'; its columns are 'y'",
        ),
        "a column twice": (lambda: Path("t.csv").write_text("x,x\na,b\n") and "t.csv", "two columns are named 'x'"),
        "a line too short": (
            lambda: Path("t.csv").write_text("x,y\na,1\nb\n") and "t.csv",
            "row 3 has 1 value, the header 2",
        ),
        "a line too long": (
            lambda: Path("t.csv").write_text("x,y\na,1\nb,2,3\n") and "t.csv",
            "row 3 has 3 values, the header 2",
        ),
        "not UTF-8": (lambda: Path("t.csv").write_bytes(b"x,y\na,\xff\n") and "t.csv", "is not UTF-8 text; save it"),
        "not UTF-8 in x": (lambda: Path("t.csv").write_bytes(b"x,y\n\xe9,1\n") and "t.csv", "iconv -f LATIN1"),
        "UTF-16": (lambda: Path("t.csv").write_text("x,y\na,1\n", "utf-16") and "t.csv", "iconv -f UTF-16"),
        "not UTF-8 far from its start": (
            lambda: Path("t.csv").write_bytes(b"x,y\n" + b"a,1\n" * 2**21 + b"\xe9,1\n") and "t.csv",
            "is not UTF-8 text; save it",
        ),
        "blank values": (
            lambda: Path("t.csv").write_text("x,y\na,1\n,2\n,3\n") and "t.csv",
            "2 of 3 are unknown: blank (2 times) (known: 'a', 'b', 'c'); recode them, or name the input that they count"
            " as: --null LABEL for missing values, --other LABEL for all others",
        ),
        "quotes behind backslashes": (
            lambda: Path("t.csv").write_text('y,x\n"hi \\"you\\" there",a\n') and "t.csv",
            "it is not CSV after line",
        ),
        "text behind a quoted value": (
            lambda: Path("t.csv").write_text('y,x\n"1"2,a\n"3"4,a\n') and "t.csv",
            "it is not CSV after line",
        ),
        "a binary file": (lambda: Path("t.csv").write_bytes(bytes(range(256)) * 9) and "t.csv", "t.csv"),
        "text as Parquet": (lambda: Path("t.parquet").write_text("x\na\n" * 9) and "t.parquet", "cannot be read"),
        "text as Arrow": (lambda: Path("t.arrow").write_text("x\na\n" * 9) and "t.arrow", "cannot be read"),
        "categories outside": (
            lambda: Path("t.csv").write_text("x\n" + "a\nq\nq\n" * 5) and "t.csv",
            "10 of 15 are unknown: 'q' (10 times) (known: 'a', 'b', 'c')",
        ),
        "missing values": (
            lambda: write(pa.table({"x": ["a", None]}), "t.parquet"),
            "1 of 2 is unknown: missing (known",
        ),
        "numbers with fractions": (
            lambda: write(pa.table({"x": [1.0]}), "t.parquet"),
            "type double does not hold labels",
        ),
        "truth values": (lambda: write(pa.table({"x": [True]}), "t.arrow"), "1 of 1 is unknown: True"),
        **{
            f"{name} cut at {share}": (
                lambda name=name, share=share: (write(table(500), name), cut(name, share), name)[2],
                name,
            )
            for name, share in (
                ("t.parquet", 0.99),
                ("t.parquet", 0.4),
                ("t.arrow", 0.4),
                ("t.arrow", 0.9),
                ("t.feather", 0.5),
                ("t.feather", 0.9),
            )
        },
    }


@pytest.mark.parametrize("name", bad_files())
def test_bad_files_end_in_one_line_status_2_and_nothing_changed(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    make, what = bad_files()[name]
    data = make()
    ABC.save("m/mechanism.json")
    before = contents()
    status = cli.main(["apply", "m", str(data), "--column", "x"])
    out, err = capfd.readouterr()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("rropt: ")
    assert what in err
    assert contents() == before


def test_a_release_that_fails_leaves_earlier_ones_as_they_are() -> None:
    Path("t.csv").write_text("x,y\na,q\n", encoding="utf-8")
    release_file("t.csv", ProtectedColumn("x", ABC))
    before = contents()
    with pytest.raises(InputError, match="unknown: 'q'"):
        release_file("t.csv", ProtectedColumn("y", ABC), "o.csv", force=True)
    assert contents() == before
    with pytest.raises(InputError, match="unknown: 'q'"):
        release_file("t.csv", Release([ProtectedColumn("x", ABC), ProtectedColumn("y", ABC)]), force=True)
    assert contents() == before


def test_a_name_that_cannot_be_given_leaves_earlier_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step fails, when the new manifest stands already: the old one comes back. The draw counts."""
    from rropt.release import run

    def full(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    data = write(table(), "t.csv")
    for force in (False, True):
        before = contents()
        with monkeypatch.context() as patch:
            patch.setattr(run, "sync_folder", full)
            with pytest.raises(InputError, match=r"cannot write \(No space left on device\)"):
                release_file(data, ProtectedColumn("x", ABC), force=force)
        after = contents()
        assert states(Path("t.csv.accountant"))[-1] == "drawing"
        del after["t.csv.accountant"]
        assert after == {name: text for name, text in before.items() if name != "t.csv.accountant"}
        with pytest.raises(InputError, match="was interrupted on"):
            release_file(data, ProtectedColumn("x", ABC))
        release_file(data, ProtectedColumn("x", ABC), force=True)


def test_folders_that_were_made_for_nothing_go_again() -> None:
    Path("t.csv").write_text("x\nq\n", encoding="utf-8")
    with pytest.raises(InputError, match="unknown"):
        release_file("t.csv", ProtectedColumn("x", ABC), "new/deep/o.csv")
    assert not Path("new").exists()
    Path("t.csv").write_text("x\na\n", encoding="utf-8")
    release_file("t.csv", ProtectedColumn("x", ABC), "new/deep/o.csv")
    assert Path("new/deep/o.csv").exists()


def test_a_text_file_that_is_cut_short() -> None:
    """Within quotes it is refused; elsewhere a cut cannot be told from a last line without an end: a note says so."""
    for text in ('y,x\n1,a\n2,"b', 'x,y\na,"1\n', 'x,y\na,5" nail\nb,2\n'):
        Path("t.csv").write_text(text, encoding="utf-8")
        before = contents()
        with pytest.raises(InputError, match="its quotes do not pair up"):
            release_file("t.csv", ProtectedColumn("x", ABC))
        assert contents() == before
    Path("t.csv").write_text("x,y\na,1\nb,2", encoding="utf-8")
    (note,) = release_file("t.csv", ProtectedColumn("x", ABC)).notes
    assert "has no line end: was the file cut short?" in note


ENTRY = pytest.param("by its time alone", marks=pytest.mark.skipif(sys.platform == "win32", reason="no such time"))


@pytest.mark.parametrize("seen", ["by its size", ENTRY])
def test_a_file_that_changes_while_it_is_read(seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write(table(100), "t.csv")
    before = data.stat()

    def change(done: int, total: int | None) -> None:
        if seen == "by its size":
            with data.open("a") as stream:
                stream.write("1,a,2,3,4\n")
        else:  # The time of the content can be set back, that of the file's entry cannot.
            data.write_bytes(data.read_bytes())
            os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(InputError, match="it changed while it was read"):
        release_file(data, ProtectedColumn("x", ABC), monitor=change)
    assert set(contents()) == {"t.csv"}


def test_an_interrupt_leaves_nothing_and_counts_for_nothing() -> None:
    data = write(table(100), "t.parquet")
    before = contents()

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release_file(data, ProtectedColumn("x", ABC), monitor=stop)
    assert contents() == before
    assert release_file(data, ProtectedColumn("x", ABC)).drawn


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("t.csv", "t.csv: it is the data file itself"),
        ("./t.csv", "t.csv: it is the data file itself"),
        ("o.parquet", "o.parquet: the data are csv, and its suffix is of another format"),
        ("o", "o: the data are csv, and its suffix is of another format"),
        ("folder.csv", r"folder.csv: cannot write \(a folder has this name\)"),
        ("t.csv/o.csv", r"t.csv: cannot write \("),
    ],
)
def test_bad_outputs(output: str, message: str) -> None:
    data = write(table(), "t.csv")
    Path("folder.csv").mkdir()
    before = contents()
    with pytest.raises(InputError, match=message):
        release_file(data, ProtectedColumn("x", ABC), output, force=True)
    assert contents() == before


# -- second draws --------------------------------------------------------------------------------------------


def entries(data: str) -> list[dict[str, Any]]:
    return draws(Path(f"{data}.accountant"))


def test_a_second_draw_is_refused_under_any_name_unless_forced() -> None:
    data = write(table(400), "t.parquet")
    column = ProtectedColumn("x", ABC)
    release_file(data, column)
    before = contents()
    Path("elsewhere").mkdir()
    other = RandomizedResponse(LABELS, epsilon=3)
    for output, again in ((None, column), ("o.parquet", column), ("elsewhere/o.parquet", ProtectedColumn("x", other))):
        with pytest.raises(ReleasedBefore, match=r"'x' was randomised on .*total epsilon from 1 to .*--force"):
            release_file(data, again, output)
        assert contents() == before
    # A link or a copy of the file with its accountant is the same data.
    Path("link.parquet").symlink_to(data)
    with pytest.raises(ReleasedBefore):
        release_file("link.parquet", column, "o.parquet")
    released = release_file(data, column, force=True)
    assert (
        read(released.output)["x"].to_pylist()
        != pq.read_table(pa.BufferReader(before["t.protected.parquet"]))["x"].to_pylist()
    )
    assert [entry["state"] for entry in entries("t.parquet")] == ["released"] * 2
    assert released.manifest["earlier_draws"] == 1
    assert 2 * 0.9999999 < released.manifest["epsilon_with_earlier"] <= 2


def test_other_columns_may_be_released_and_are_added_up() -> None:
    Path("t.csv").write_text("x,y\na,b\nb,c\n", encoding="utf-8")
    release_file("t.csv", Release([ProtectedColumn("x", ABC)], drop=["y"]), "ox.csv")
    released = release_file("t.csv", Release([ProtectedColumn("y", ABC)], drop=["x"]), "oy.csv")
    total = released.manifest["epsilon_with_earlier"]
    assert released.manifest["earlier_draws"] == 1
    assert total == pytest.approx(2 * released.manifest["epsilon"], abs=1e-12)
    with pytest.raises(ReleasedBefore):
        release_file("t.csv", Release([ProtectedColumn("x", ABC), ProtectedColumn("y", ABC)]), "o.csv")


def test_a_file_that_is_there_is_not_written_over() -> None:
    data = write(table(), "t.csv")
    for name in ("o.csv", "o.csv.manifest.json"):
        Path(name).write_text("mine", encoding="utf-8")
        with pytest.raises(InputError, match="this file exists already"):
            release_file(data, ProtectedColumn("x", ABC), "o.csv")
        assert Path(name).read_text(encoding="utf-8") == "mine"
        Path(name).unlink()


def test_two_releases_of_one_file_at_a_time_are_refused() -> None:
    data = write(table(), "t.csv")
    seen = []

    def again(done: int, total: int | None) -> None:
        for output in ("o.csv", "o2.csv"):
            for force in (False, True):
                with pytest.raises(InputError, match="another process is releasing this data"):
                    release_file(data, ProtectedColumn("x", ABC), output, force=force)
                seen.append(force)

    release_file(data, ProtectedColumn("x", ABC), "o.csv", monitor=again)
    assert seen
    assert [entry["state"] for entry in entries("t.csv")] == ["released"]


# -- mechanisms ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `rropt solve` wrote: mechanism and certificate."""
    folder = tmp_path_factory.mktemp("solved")
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 1})
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()
    assert solution.mechanism is not None
    assert solution.certificate is not None
    solution.mechanism.save(folder / "mechanism.json")
    solution.certificate.save(folder / "certificate.json")
    return folder


def copied(solved: Path) -> Path:
    for name in ("mechanism.json", "certificate.json"):
        Path(name).write_bytes((solved / name).read_bytes())
    return Path("mechanism.json")


def test_a_mechanism_is_read_from_file_folder_or_certificate(solved: Path) -> None:
    known = Mechanism.load(solved / "mechanism.json")
    for path in (solved, solved / "mechanism.json", solved / "certificate.json"):
        found = load_mechanism(path)
        assert (found.inputs, found.outputs, found.numerators) == (known.inputs, known.outputs, known.numerators)
    assert digest(known) == hashlib.sha256((solved / "mechanism.json").read_bytes()).hexdigest()


def test_an_off_diagonal_certificate_is_read_and_held_against_its_mechanism() -> None:
    prior = rr.Prior.from_counts({"a": 5, "b": 3, "c": 1})
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1), rr.patterns.UniformOffDiagonal()])
    solution = problem.solve()
    assert isinstance(solution.mechanism, OffDiagonalMechanism)
    assert solution.certificate is not None
    solution.mechanism.save("mechanism.json")
    solution.certificate.save("certificate.json")
    assert load_mechanism(".").numerators == solution.mechanism.numerators
    ABC.save("mechanism.json")
    with pytest.raises(InputError, match=r"not the mechanism of the certificate\.json next to it"):
        load_mechanism("mechanism.json")


def tampered() -> dict[str, Callable[[dict[str, Any]], None]]:
    """Ways to change a mechanism file so that it is still one."""

    def swap_rows(document: dict[str, Any]) -> None:
        for one in document["columns"]:
            one["dense"][0], one["dense"][1] = one["dense"][1], one["dense"][0]

    def move(document: dict[str, Any]) -> None:
        first, second = document["columns"][0]["dense"], document["columns"][1]["dense"]
        first[0], second[0] = str(int(first[0]) - 1), str(int(second[0]) + 1)

    def rename(document: dict[str, Any]) -> None:
        document["inputs"].reverse()

    def outputs(document: dict[str, Any]) -> None:
        document["outputs"].reverse()

    return {"rows swapped": swap_rows, "one unit moved": move, "inputs renamed": rename, "outputs renamed": outputs}


@pytest.mark.parametrize("name", tampered())
def test_a_tampered_mechanism_is_refused(name: str, solved: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = copied(solved)
    sha256 = digest(Mechanism.load(path))
    document = json.loads(path.read_text(encoding="utf-8"))
    tampered()[name](document)
    path.write_text(json.dumps(document), encoding="utf-8")
    data = write(table(), "t.csv")
    before = contents()
    assert cli.main(["apply", "mechanism.json", str(data), "--column", "x"]) == 2
    err = capfd.readouterr().err
    assert "it is not the mechanism of the certificate.json next to it" in err
    assert err.count("\n") == 1
    assert contents() == before
    Path("certificate.json").unlink()
    with pytest.raises(InputError, match="the mechanism was changed"):
        load_mechanism(path, sha256)
    assert digest(load_mechanism(path)) != sha256


def test_a_changed_certificate_is_refused(solved: Path) -> None:
    path = copied(solved)
    for change, what in (("[]", "not a certificate"), ('{"format": "rropt-certificate"}', "cannot be read")):
        Path("certificate.json").write_text(change, encoding="utf-8")
        with pytest.raises(InputError, match=what):
            load_mechanism(path)
    with pytest.raises(InputError, match="cannot read this mechanism file"):
        load_mechanism("none.json")


# -- manifests and counts ------------------------------------------------------------------------------------


def test_the_manifest_tells_what_was_done_and_nothing_of_the_data() -> None:
    data = write(table(30), "t.csv")
    released = release_file(data, Release(ProtectedColumn("x", ABC, null="b", other="c"), drop=["real"]), "o.csv")
    told = json.loads(Path("o.csv.manifest.json").read_text(encoding="utf-8"))
    assert told == released.manifest
    assert told["output"] == {
        "file": "o.csv",
        "bytes": Path("o.csv").stat().st_size,
        "sha256": hashlib.sha256(Path("o.csv").read_bytes()).hexdigest(),
        "formulas": "quoted",
        "delimiter": ",",
    }
    (column,) = told["columns"]
    assert column["mechanism"] == digest(ABC)
    assert Fraction(column["privacy_ratio"]) == ABC.privacy_ratio
    assert (column["null"], column["other"]) == ({"x": "b"}, {"x": "c"})
    assert (told["unprotected"], told["dropped"], told["rows"]) == (["id", "flag", "when"], ["real"], 30)
    # By a hash of the data, whoever knows all records but one could guess that one.
    secret = hashlib.sha256(data.read_bytes()).hexdigest()
    assert secret not in Path("o.csv.manifest.json").read_text(encoding="utf-8")
    assert entries("t.csv")[0]["sha256"] == secret


@pytest.mark.parametrize("name", FORMATS)
def test_counts_of_a_release(name: str) -> None:
    data = write(table(1000), name)
    released = release_file(data, ProtectedColumn("x", ABC))
    values = read(released.output)["x"].to_pylist()
    assert counts_of(released.output, "x", ABC).tolist() == [values.count(label) for label in LABELS]


def test_counts_of_several_columns() -> None:
    rng = np.random.default_rng(2)
    cross = CrossClassification({"s": ["m", "f"], "t": ["u", "v"]}, impossible=[{"s": "m", "t": "v"}])
    joint = RandomizedResponse(cross.labels, epsilon=1).to_mechanism()
    combos = [cross.combinations[at] for at in rng.integers(0, 3, 500)]
    given = pa.table({"s": [s for s, _ in combos], "t": [t for _, t in combos], "x": rng.choice(LABELS, 500)})
    write(given, "t.parquet")
    release = Release([ProtectedColumn(("s", "t"), joint), ProtectedColumn("x", ABC)])
    release_file("t.parquet", release, "o.parquet")
    made = read("o.parquet")
    records = list(zip(*(made[name].to_pylist() for name in ("s", "t", "x")), strict=True))
    assert counts_of("o.parquet", ("s", "t"), joint).tolist() == [
        sum((s, t) == one for s, t, _ in records) for one in cross.combinations
    ]
    both = table_of("o.parquet", {("s", "t"): joint, "x": ABC})
    assert both.tolist() == [[records.count((*one, x)) for x in LABELS] for one in cross.combinations]
    assert both.sum() == 500


def test_counts_of_a_stratum() -> None:
    rows = [(g, x) for at in range(300) for g, x in [("ns"[at % 2], LABELS[at % 3])]]
    write(pa.table({"g": [g for g, _ in rows], "x": [x for _, x in rows]}), "t.parquet")
    other = RandomizedResponse(LABELS, epsilon=2).to_mechanism()
    release_file("t.parquet", ProtectedColumn("x", {"n": ABC, "s": other}, by="g"), "o.parquet")
    made = read("o.parquet")
    records = list(zip(made["g"].to_pylist(), made["x"].to_pylist(), strict=True))
    for stratum, mechanism in (("n", ABC), ("s", other)):
        expected = [records.count((stratum, label)) for label in LABELS]
        assert counts_of("o.parquet", "x", mechanism, where={"g": stratum}).tolist() == expected
    with pytest.raises(InputError, match="g=none is not a stratum of it; its strata are g=n, g=s"):
        counts_of("o.parquet", "x", ABC, where={"g": "none"})
    with pytest.raises(InputError, match="there is no column 'h'"):
        counts_of("o.parquet", "x", ABC, where={"g": "n", "h": "n"})


def test_counts_refuse_another_file_or_mechanism() -> None:
    data = write(table(50), "t.csv")
    release_file(data, ProtectedColumn("x", ABC), "o.csv")
    other = RandomizedResponse(LABELS, epsilon=2)
    with pytest.raises(InputError, match="column 'x' was released by another mechanism"):
        counts_of("o.csv", "x", other)
    with pytest.raises(InputError, match=r"column 'x': \d+ of 51 are unknown: 'c'"):
        counts_of(write(table(51), "other.csv"), "x", RandomizedResponse(["a", "b"], epsilon=1))
    with pytest.raises(InputError, match="there is no column 'y'"):
        counts_of("o.csv", "y", ABC)
    text = Path("o.csv").read_text(encoding="utf-8")
    Path("o.csv").write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="changed after its release"):
        counts_of("o.csv", "x", ABC)
    Path("o.csv.manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="not a manifest of a release"):
        counts_of("o.csv", "x", ABC)


# -- RELEASE.toml --------------------------------------------------------------------------------------------

PLAN = """
schema = 1
data = "t.csv"
output = "out/o.csv"
delimiter = ";"
drop = ["name"]

[[column]]
name = "x"
mechanism = { file = "m.json", sha256 = "%s" }
null = "a"

[[column]]
names = ["s", "t"]
by = "g"
as = "st"
mechanisms = { n = "joint.json", z = "joint.json" }
null = { g = "z" }
"""


def plan_files() -> None:
    NEXT.save("p/m.json")
    shifted(("m, u", "f, u", "f, v")).save("p/joint.json")
    Path("p/t.csv").write_text("x;s;name;t;g\na;m;Ann;u;n\n;f;Bo;v;\n", encoding="utf-8")
    Path("p/RELEASE.toml").write_text(PLAN % digest(NEXT), encoding="utf-8")


def test_a_release_file_from_any_folder(capfd: pytest.CaptureFixture[str]) -> None:
    plan_files()
    plan = load_release("p/RELEASE.toml")
    assert (plan.data, plan.output, plan.delimiter) == (Path("p/t.csv"), Path("p/out/o.csv"), ";")
    assert cli.main(["apply", "p/RELEASE.toml", "--force"]) == 0
    out = capfd.readouterr().out
    for part in ("x ", "s, t", "Together", "epsilon infinite", "Unchanged", "wrote p/out/o.csv"):
        assert part in out
    assert Path("p/out/o.csv").read_text(encoding="utf-8") == "x;st;g\nb;f, u;n\nb;m, u;\n"
    assert cli.main(["estimate", "p/RELEASE.toml", "p/out/o.csv", "--column", "x"]) == 0
    assert cli.main(["apply", "p/RELEASE.toml"]) == 2
    assert "--force" in capfd.readouterr().err
    assert cli.main(["apply", "p/RELEASE.toml", "--column", "x"]) == 2
    assert "--column is given together with a release file" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("schema = 1", "schema = 2", "schema is 2"),
        ("schema = 1", "schema =", "is not TOML"),
        ("schema = 1", "schema = 1\ncolour = 3", "unknown key 'colour'"),
        ('name = "x"', "", "give either name or names"),
        ('name = "x"', 'name = "x"\nnames = ["x"]', "give either name or names"),
        ('name = "x"', "name = 3", "is not a text"),
        ('file = "m.json"', 'file = "none.json"', "cannot read this mechanism file"),
        ('file = "m.json"', "path = 3", "names no mechanism"),
        ('null = "a"', "null = 3", "is not a label"),
        ('null = "a"', 'mechanisms = { n = "m.json" }', "give either mechanism or mechanisms"),
        ('names = ["s", "t"]', 'names = "st"', "is not a list of names"),
        ('by = "g"', "", "without a column that defines them"),
        ('by = "g"', 'by = "s"', "its own stratum"),
        ('drop = ["name"]', 'drop = ["x"]', "both protected and dropped"),
        ('drop = ["name"]', 'drop = "name"', "is not a list of names"),
        ('as = "st"', 'as = "x"', "released twice"),
        ("sha256 = ", 'sha256 = "00" #', "is not TOML"),
    ],
)
def test_bad_release_files(old: str, new: str, what: str, capfd: pytest.CaptureFixture[str]) -> None:
    plan_files()
    text = Path("p/RELEASE.toml").read_text(encoding="utf-8")
    assert old in text
    Path("p/RELEASE.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    before = contents()
    assert cli.main(["apply", "p/RELEASE.toml"]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert what in err
    assert "p/" in err
    assert contents() == before


# -- the command ---------------------------------------------------------------------------------------------


def test_apply_shows_what_it_gives_away(capfd: pytest.CaptureFixture[str], solved: Path) -> None:
    write(table(40), "t.parquet")
    command = ["apply", str(solved), "t.parquet", "--column", "x", "-o", "o.parquet", "--unidentified"]
    assert cli.main(command) == 0
    out, err = capfd.readouterr()
    assert err.startswith("rropt: warning: from 'x' frequencies cannot be estimated")
    assert err.count("\n") == 1
    for part in (
        "Release of t.parquet",
        "randomised: LDP (epsilon 1)",
        "Unchanged",
        "id, real, flag, list, nest, kind, when",
        "Rows",
        "40",
        "wrote o.parquet",
        "wrote o.parquet.manifest.json",
        "Do not publish it.",
    ):
        assert part in out
    assert counts_of("o.parquet", "x", load_mechanism(solved)).sum() == 40


def test_apply_json_is_the_manifest(capfd: pytest.CaptureFixture[str]) -> None:
    write(table(4), "t.csv")
    ABC.save("m.json")
    assert cli.main(["apply", "m.json", "t.csv", "--column", "x", "--json", "--null", "a", "--other", "b"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told == json.loads(Path("t.protected.csv.manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["m.json"], "no data or no column is named"),
        (["m.json", "t.csv"], "no data or no column is named"),
        (["none.json", "t.csv", "--column", "x"], "cannot read this mechanism file"),
        (["t.csv", "t.csv", "--column", "x"], "is not JSON"),
        (["none.toml"], "cannot read this release file"),
        (["m.json", "t.csv", "--column", "x", "--delimiter", "ab"], "not one plain character"),
        (["m.json", "t.csv", "--column", "x", "--null", "z"], "null 'z' is not a label"),
        (["m.json", "t\0.csv", "--column", "x"], "no file has such a name"),
    ],
)
def test_bad_commands(arguments: list[str], what: str, capfd: pytest.CaptureFixture[str]) -> None:
    write(table(4), "t.csv")
    ABC.save("m.json")
    before = contents()
    assert cli.main(["apply", *arguments]) == 2
    err = capfd.readouterr().err
    assert what in err
    assert err.count("\n") == 1
    assert contents() == before


# -- text of other programs ----------------------------------------------------------------------------

CELLS = [
    "a",
    "",
    " a",
    "a ",
    "a,b",
    "a;b",
    "a\tb",
    'a"b',
    '"',
    '""',
    "a\nb",
    "a\r\nb",
    "'a'",
    "=1",
    "#a",
    "1.50",
    "é",
    "\\",
    'a "b" c',
    "NA",
]


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_what_pandas_writes_is_released_as_it_was_or_refused_in_one_line(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pd, folder = pytest.importorskip("pandas"), tmp_path_factory.mktemp("pandas")
    size = data.draw(st.integers(1, 5))
    cells, labels = (
        data.draw(st.lists(st.sampled_from(from_), min_size=size, max_size=size)) for from_ in (CELLS, "ab")
    )
    names = data.draw(st.sampled_from([["u", "s"], ["s", "u"], ["s", "a,b"], ["s", '"'], ["s", "a\nb"], ["s", "0"]]))
    frame = pd.DataFrame({name: labels if name == "s" else cells for name in names})
    form: dict[str, Any] = {
        "index": data.draw(st.booleans()),
        "index_label": data.draw(st.sampled_from([None, "id", "a b", "s"])),
        "sep": data.draw(st.sampled_from([",", ";", "\t", "|"])),
        "quoting": data.draw(st.sampled_from(range(4))),
        "quotechar": data.draw(st.sampled_from(['"', '"', "'"])),
        "lineterminator": data.draw(st.sampled_from(["\n", "\r\n", "\r"])),
        "encoding": data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])),
        "header": data.draw(st.sampled_from([True, True, True, False])),
    }
    doublequote = data.draw(st.sampled_from([True, True, False]))
    try:
        frame.to_csv(folder / "t.csv", doublequote=doublequote, escapechar=None if doublequote else "\\", **form)
    except (csv.Error, UnicodeEncodeError):
        return
    flip = rr.Mechanism.from_matrix([[0, 1], [1, 0]], inputs=["a", "b"], outputs=["a", "b"])
    plan, refused = rr.release.ProtectedColumn("s", flip), None
    try:
        rr.release.release_file(
            folder / "t.csv",
            plan,
            folder / "o.csv",
            delimiter=form["sep"],
            force=True,
            quote_formulas=False,
            warn=lambda _: None,
        )
    except rr.InputError as error:
        refused = error
    common = {key: form[key] for key in ("sep", "quoting", "lineterminator", "encoding", "header")}
    if refused is not None:
        assert len(str(refused).splitlines()) == 1
        usual = {"quotechar": '"', "encoding": "utf-8", "header": True, "lineterminator": "\n"}
        assert (
            not doublequote
            or common["quoting"] == 3
            or form["index_label"] == "s"
            or {**usual, **form} != {**form, **usual}
        ), refused
        return
    with (
        (folder / "t.csv").open(encoding="utf-8-sig", newline="") as one,
        (folder / "o.csv").open(encoding="utf-8", newline="") as other,
    ):
        before, after = (list(csv.reader(stream, delimiter=form["sep"])) for stream in (one, other))
    at = before[0].index("s")
    for row in before[1:]:
        row[at] = {"a": "b", "b": "a"}[row[at]]
    assert [row for row in after if row] == [row for row in before if row]
