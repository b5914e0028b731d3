"""Every command answers damaged files and odd words, or says in one short line what is wrong."""

from __future__ import annotations

import contextlib
import io
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import rropt as rr
from rropt.__main__ import main

pd, pq = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")

ABC = ["a", "b", "c"]
EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"


# -- files ---------------------------------------------------------------------------------------------

WORDS = [
    b"1e400", b"\xff", b"\0", b"null", b"[500]", b'"' + b"9" * 400 + b'"', b"9" * 400, b"NaN", b"-1", b"{}", b"", b"[]",
    b'"\\ud800"', b"true", b'"x"', b"1e999999999", b"[[[[]]]]",
]  # fmt: skip
TOKEN = re.compile(rb'"[^"]*"|-?[0-9][0-9./eE]*|\[[^\[\]]*\]|null|true|false')


def damaged(data: bytes, is_text: bool, draw: random.Random) -> bytes:
    """Cut, emptied, some bytes changed, or a word of a text by another one."""
    way = draw.random()
    if way < 0.15:
        return data[: draw.randrange(len(data)) if way > 0.03 else 0]
    if is_text and way < 0.6 and (tokens := [*TOKEN.finditer(data)]):
        token = draw.choice(tokens)
        return data[: token.start()] + draw.choice(WORDS) + data[token.end() :]
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 3])):
        changed[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(changed)


PROBLEM = """schema = 1
[input]
counts = { a = 5, b = 3, c = 2 }
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "ldp"
epsilon = 1
"""
CLAIM = """schema = 1
problem = "p.toml"
claimed = "optimal"
matrix_file = "claimed.csv"
"""
COMMANDS = [
    ("p.toml", "solve {} --time-limit 2"),
    ("res/mechanism.json", "audit {}"),
    ("res/mechanism.csv", "audit {}"),
    ("m.npy", "audit {} --orientation rows"),
    ("res/certificate.json", "check {}"),
    ("res/certificate.json", "report res -o r.html"),
    ("res/solution.json", "report res -o r.html"),
    ("res/mechanism.json", "apply res d.csv --column a -o x.csv --force"),
    ("d.csv", "apply res {} --column a -o x.csv --force"),
    ("d.parquet", "apply res {} --column a -o x.parquet --force"),
    ("d.feather", "apply res {} --column a -o x.feather --force"),
    ("o.csv", "estimate res {} --column a"),
    ("o.csv.manifest.json", "estimate res o.csv --column a"),
    ("o.parquet", "estimate res {} --column a"),
    ("d.csv.accountant", "accountant show {}"),
    ("d.csv.accountant", "accountant verify {}"),
    ("d.csv.accountant", "apply res d.csv --column a -o x.csv --force"),
    ("counts.csv", "audit res/mechanism.csv --prior {}"),
    ("k.key", "apply res d.csv --column a -o x.csv --force --key k.key --id n"),
    ("res/mechanism.json", "publish res -o public"),
    ("res/solution.json", "publish res -o public"),
    ("res/certificate.json", "publish res -o public --counts-are-public"),
    ("pairs.csv", "audit-sampler {} --epsilon 1"),
    ("p.toml", "compare {} --time-limit 1 --methods linear,vertices"),
    ("p.toml", "sweep {} --epsilon 1,2 -o new.csv --time-limit 2"),
    ("t.csv", "sweep p.toml --epsilon 1,2 -o {}"),
    ("counts.csv", "sweep p.toml --prior {} -o new.csv"),
    ("c.toml", "claims {}"),
    ("c.toml", "verify-claim {}"),
    ("p.toml", "verify-claim c.toml"),
    ("claimed.csv", "verify-claim c.toml"),
    ("merged.json", "identify {} -o i.json"),
    ("linear.json", "core {} -o new.core"),
    ("linear.json", "core {}"),
    ("d.csv.accountant", "accountant init {} --ceiling 1"),
    ("d.csv.accountant", "accountant sign {} --key s.pem -o new.receipt"),
    ("s.pem", "accountant sign d.csv.accountant --key {} -o new.receipt"),
    ("s.receipt", "accountant verify d.csv.accountant --receipt {} --public s.pub"),
    ("s.pub", "accountant verify d.csv.accountant --receipt s.receipt --public {}"),
]
NAMED = [f"models {one}" for one in (
    "show {}", "copy {} -o new", "records {} -o new.csv", "records adult-pram -o {}",
    "records adult-pram -o new.csv --column {}", "records adult-pram -o new.csv --count {}", "figure {} 1 -o new",
    "figure ayed2020 {}", "table {} 1", "table ayed2020 {}")] + [
    "key new {}", "accountant init new --ceiling {}", "accountant init new --ceiling 1 --unit {}", "core linear.json -o {}",
    "sweep p.toml --epsilon {} --time-limit 1", "sweep p.toml --over {}=1 --time-limit 1", "sweep p.toml --over gap={}",
    "compare p.toml --methods {}", "compare p.toml --methods vertices --solvers {}",
    "compare p.toml --repeats {} --methods vertices",
    "audit-sampler pairs.csv --epsilon {}", "identify merged.json -o new.json --share {}",
    "solve p.toml --method {} -o new", "solve p.toml --no{}", "no{}",
    "solve p.toml -o new --time-limit {}", "solve p.toml -o new --gap {}", "estimate res o.csv --column {}",
]  # fmt: skip
"""Commands that read a name or a number."""
NAMES = [
    "",
    "no/such",
    "x" * 3000,
    "a\nb",
    "a\0b",
    "\udcff",
    ".",
    "-1",
    "0",
    "nan",
    "1e400",
    "9" * 5000,
    "[[",
    "=",
    "%s",
    "*",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Valid files of every kind that a command reads."""
    place = tmp_path_factory.mktemp("valid")
    frame = pd.DataFrame({"a": ABC * 10, "n": range(30)})
    with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
        Path("p.toml").write_text(PROBLEM)
        assert main(["solve", "p.toml", "--out", "res"]) == 0
        np.save("m.npy", rr.Mechanism.load("res/mechanism.json").matrix)
        frame.to_csv("d.csv", index=False)
        frame.to_parquet("d.parquet")
        frame.to_feather("d.feather")
        for end in ("csv", "parquet", "feather"):
            assert main(["apply", "res", f"d.{end}", "--column", "a", "-o", f"o.{end}"]) == 0
        assert main(["key", "new", "k.key"]) == 0
        Path("claimed.csv").write_bytes(Path("res/mechanism.csv").read_bytes())
        Path("c.toml").write_text(CLAIM)
        rr.Mechanism.from_matrix([["1/2", "1/2"], ["1/4", "3/4"], ["2/5", "3/5"]], inputs=ABC).save("merged.json")
        Path("counts.csv").write_text("category,count\na,5\nb,3\nc,2\n")
        Path("pairs.csv").write_text("input,output\n" + "a,a\na,b\nb,b\nb,a\n" * 20)
        Path("linear.json").write_bytes((EXAMPLES / "linear.json").read_bytes())
        key = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        Path("s.pub").write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, form))
        plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        Path("s.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
        assert main(["accountant", "sign", "d.csv.accountant", "--key", "s.pem", "-o", "s.receipt"]) == 0
        assert main(["sweep", "p.toml", "--epsilon", "1,2", "-o", "t.csv"]) == 0
        return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[f"{command}-{name}" for name, command in COMMANDS])
def test_every_command_answers_or_says_in_one_line_what_is_wrong(
    name: str, command: str, times: int, files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(f"{name} {command} {times}")
    is_text = not name.endswith((".npy", ".parquet", ".feather", ".accountant"))
    for at in range(times):
        place = tmp_path / str(at)
        placed(place, {**files, name: damaged(files[name], is_text, draw)})
        monkeypatch.chdir(place)
        status, said = run(command.format(name).split())
        assert answered(status, said, command), (at, status, said)


def placed(folder: Path, files: dict[str, bytes]) -> None:
    """The files in a folder; a key that others can read would be refused for that."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o600)


def run(arguments: list[str]) -> tuple[int, str]:
    """The exit status of a command, and what it says on standard error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        return main(arguments), said.getvalue()


def answered(status: int, said: str, command: str) -> bool:
    """Whether bad input has one line, and no line of the program's own is long."""
    errors = [line for line in said.splitlines() if line.startswith("rropt:")]
    one = len(errors) == 1 or command.startswith(("check", "core"))  # they print a verdict
    return status in range(7) and all(len(line) < 510 for line in errors) and (status != 2 or one)


@pytest.mark.parametrize("command", sorted({command for _, command in COMMANDS if "{}" in command} | {*NAMED}))
def test_every_name_and_number_is_answered(
    command: str, files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    placed(tmp_path, files)
    for name in NAMES:
        status, said = run([word.replace("{}", name) for word in command.split()])
        assert answered(status, said, command), (name[:20], status, said[-2000:])


def test_every_command_takes_valid_files(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what is damaged in the law above is what the command is refused for."""
    for at, (name, command) in enumerate(COMMANDS):
        placed(tmp_path / str(at), files)
        monkeypatch.chdir(tmp_path / str(at))
        assert run(command.format(name).split())[0] == (2 if "init" in command else 0), command


READS = """
import random, sys, tempfile
from pathlib import Path
from rropt.errors import RroptError
from rropt.release.tables.formats import open_table
place, seed, times, footer = Path(sys.argv[1]), *map(int, sys.argv[2:])
data, draw = place.read_bytes(), random.Random(seed)
for _ in range(times):
    changed = bytearray(data)
    at = draw.randrange(len(data)) if draw.random() < 0.5 else len(data) - 1 - draw.randrange(footer)
    changed[at] = draw.choice([0, 127, 128, 255, changed[at] ^ 1 << draw.randrange(8), draw.randrange(256)])
    copy = place.with_name("changed" + place.suffix)
    copy.write_bytes(changed)
    try:
        for _ in open_table(copy, ("a",)).batches():
            pass
    except RroptError:
        pass
"""


@pytest.mark.parametrize("times", [400, pytest.param(5000, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["plain", "dictionary", "nested", "file", "stream"])
def test_no_byte_of_a_table_ends_the_process(kind: str, times: int, tmp_path: Path) -> None:
    """Some accessors of pyarrow abort it."""
    text = pa.array(ABC * 20)
    table = pa.table({"a": text.dictionary_encode() if kind == "dictionary" else text, "n": range(60)})
    if kind == "nested":
        table = table.append_column("l", pa.array([[1, 2]] * 60)).append_column("s", pa.array([{"p": {"q": "u"}}] * 60))
    place = tmp_path / ("d.arrow" if kind in ("file", "stream") else "d.parquet")
    if place.suffix == ".parquet":
        pq.write_table(table, place, row_group_size=40)
    else:
        with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(place, table.schema) as writer:
            writer.write_table(table)
    footer = min(1000, place.stat().st_size)
    ran = subprocess.run(
        [sys.executable, "-c", READS, str(place), "18", str(times), str(footer)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-1000:]


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4"])
def test_a_footer_says_what_pyarrow_reads_in_it(compression: str) -> None:
    from rropt.io.parquet_pages import read_footer

    table = pa.table({
        "a": ABC * 20, "l": [[1, 2]] * 60, "s": [{"p": 1, "q": {"r": "u"}}] * 60, "b": [True] * 60,
        "x": pa.array([b"abc"] * 60, pa.binary(3)), "m": pa.array([[("k", 1)]] * 60, pa.map_(pa.string(), pa.int32())),
    })  # fmt: skip
    for chosen, size in ((table, 7), (table, 60), (table.slice(0, 0), 9), (pa.table({}), 9)):
        stream = io.BytesIO()
        pq.write_table(chosen, stream, compression=compression, row_group_size=size)
        meta, found = pq.ParquetFile(stream).metadata, read_footer(stream)
        forms = [meta.schema.column(at) for at in range(meta.num_columns)]
        assert [one[:2] for one in found.columns] == [(form.path, form.physical_type) for form in forms]
        for at, group in enumerate(found.groups):
            own = meta.row_group(at)
            assert (group.rows, group.size) == (own.num_rows, own.total_byte_size)
            for column, chunk in enumerate(group.chunks):
                said = own.column(column)
                starts = (said.data_page_offset, said.dictionary_page_offset or 0)
                assert chunk.codec == said.compression
                assert (chunk.start, chunk.length) == (
                    min((start for start in starts if start > 0), default=0), said.total_compressed_size,
                )  # fmt: skip
