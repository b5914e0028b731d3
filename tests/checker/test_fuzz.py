"""Every reader on broken files: the answer is one line of InputError or RroptError, or something readable was read.

Texts and files that are right are broken in many ways, by Hypothesis with fixed seeds: numbers and words replaced by
awkward ones, lines dropped, doubled and cut, bytes changed. Whatever else is raised is a fault.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drawing import graded
from hypothesis import given, settings, strategies as st
from independent_checker import campaign
from independent_checker.checker import check
from independent_checker.problems import PROBLEMS

import rropt as rr
from rropt.checker import check_bytes

EXAMPLES = pytest.mark.parametrize("examples", graded([30], [150], [600]))

AWKWARD = [
    *("0", "-1", "1", "2", "1e400", "-1e-400", "nan", "inf", "-inf", "1e308", "9" * 30, "9" * 5000, "0.1", "1_000"),
    *(
        '""',
        '"1/0"',
        '"1/3"',
        '"nan"',
        '"a"',
        '"\\u0000"',
        "'",
        '"',
        '"' + "x" * 300 + '"',
        '"\\ud800"',
        "true",
        "[]",
        "{}",
    ),
    *(
        "[[]]",
        "[1]",
        "[1, 2, 3]",
        '["a"]',
        '[["a", "b"], ["c"]]',
        "{ a = 1 }",
        "1979-05-27",
        "[" * 2000,
        "[0.5, 0.5, 0.5]",
    ),
]
WORDS = sorted({line.split(" = ")[1] for text in PROBLEMS.values() for line in text.splitlines() if " = " in line})


@st.composite
def broken(draw: st.DrawFn, originals: list[str], values: list[str]) -> bytes:
    """A text with one to three edits."""
    lines = draw(st.sampled_from(originals)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["value", "value", "value", "line", "drop", "double", "move", "byte", "cut"]))
        place = draw(st.integers(0, max(len(lines) - 1, 0)))
        if not lines:
            break
        line = lines[place]
        if kind == "value" and " = " in line:
            lines[place] = f"{line.split(' = ')[0]} = {draw(st.sampled_from(values))}"
        elif kind in ("value", "line"):
            cells = line.split(",")
            cells[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from(values))
            lines[place] = ",".join(cells)
        elif kind == "drop":
            del lines[place]
        elif kind == "double":
            lines.insert(place, line)
        elif kind == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(place))
        elif kind == "byte" and line:
            spot = draw(st.integers(0, len(line) - 1))
            lines[place] = line[:spot] + draw(st.sampled_from(list('"[]{}=,.-#\x00\x85é\ufeff0'))) + line[spot + 1 :]
        elif kind == "cut":
            lines = lines[: place + 1]
    data = "\n".join(lines).encode()
    return data[:-1] + b"\xff" if draw(st.integers(0, 30)) == 0 else data


@st.composite
def damaged(draw: st.DrawFn, original: bytes) -> bytes:
    """Bytes with some of them changed, dropped, put in, or the end cut off."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 4))):
        if not data:
            break
        place = draw(st.integers(0, len(data) - 1))
        kind = draw(st.sampled_from(["set", "set", "drop", "insert", "cut"]))
        if kind == "set":
            data[place] = draw(st.integers(0, 255))
        elif kind == "drop":
            del data[place : place + draw(st.integers(1, 9))]
        elif kind == "insert":
            data[place:place] = draw(st.binary(min_size=1, max_size=5))
        else:
            del data[place:]
    return bytes(data)


def drawn(examples: int, strategy: st.SearchStrategy[Any], body: Callable[[Any], None]) -> None:
    """The same examples every time."""

    @settings(derandomize=True, max_examples=examples, database=None)
    @given(strategy)
    def run(data: Any) -> None:
        body(data)

    run()


def one_line(read: Callable[[], Any]) -> None:
    """What a reader may do with a broken file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read()
        except rr.RroptError as error:
            message = str(error)
            assert message
            assert len(message.splitlines()) == 1
            assert len(message) < 2000, "a line, not a page"


# -- problem files ---------------------------------------------------------------------------------------------

PROBLEM_TEXTS = list(PROBLEMS.values())


@EXAMPLES
def test_problem_files(tmp_path: Path, examples: int) -> None:
    path = tmp_path / "problem.toml"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        one_line(lambda: rr.load_problem(path).compile())

    drawn(examples, broken(PROBLEM_TEXTS, [*AWKWARD, *WORDS]), read)


# -- certificates and mechanisms ----------------------------------------------------------------------------------

CERTIFICATES = [json.dumps(document).encode() for document in campaign.stored().values()]


def same_verdict(data: bytes) -> None:
    assert check_bytes(data).status == check(data)


@EXAMPLES
def test_certificates_as_bytes(examples: int) -> None:
    drawn(examples, st.sampled_from(CERTIFICATES).flatmap(damaged), same_verdict)


@EXAMPLES
def test_what_is_no_certificate(examples: int) -> None:
    words = st.text(alphabet='{}[]",:0123456789-nulltrue \\', max_size=60).map(str.encode)
    drawn(examples, st.binary(max_size=60) | words, same_verdict)


MECHANISM = rr.RandomizedResponse(["a", "b", "c"], gamma=3).to_mechanism()


@pytest.fixture(scope="module")
def mechanism_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("mechanism") / "mechanism.json"
    MECHANISM.save(path)
    return path.read_text(encoding="utf-8")


JSON_VALUES = ["null", "true", "1", "-1", "1.5", "NaN", "1e999", '""', '"a"', '"1/2"', '"-3"', "[]", "{}", "[" * 3000]
JSON_VALUES += ['"' + "9" * 5000 + '"', "9" * 5000, '"\\ud800"', '["1", "2"]', '[["1"]]', '"zz"', '"0"']


@EXAMPLES
def test_mechanism_files(tmp_path: Path, mechanism_text: str, examples: int) -> None:
    path = tmp_path / "mechanism.json"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        one_line(lambda: rr.Mechanism.load(path))

    drawn(examples, damaged(mechanism_text.encode()) | other_values(mechanism_text), read)


@st.composite
def other_values(draw: st.DrawFn, text: str) -> bytes:
    """A JSON text with another value at one place."""
    document = json.loads(text)
    where = draw(st.sampled_from(list(_places(document))))
    _at(document, where[:-1])[where[-1]] = "@@"
    return json.dumps(document).replace('"@@"', draw(st.sampled_from(JSON_VALUES))).encode()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if path:
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _places(inner, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


# -- tables ----------------------------------------------------------------------------------------------------------

CELLS = [
    "",
    "a",
    "b",
    "nothing",
    "0",
    "-1",
    "1.5",
    "1e9",
    "9" * 400,
    '"',
    '"a',
    '"a,b"',
    "a\x00b",
    "é",
    " a ",
    "\r",
    ",",
    ";",
]
COUNTS = "category,count\na,5\nb,3\nc,2\n"
PAIR_COUNTS = "s,u,count\nyes,p,5\nyes,q,3\nno,p,2\nno,q,9\n"
PEOPLE = "id,answer,more\n1,a,x\n2,b,y\n3,c,z\n4,a,\n5,b,x\n"
RELEASE = (
    'schema = 1\ndata = "people.csv"\noutput = "out.csv"\n[[column]]\nname = "answer"\nmechanism = "mechanism.json"\n'
)


@EXAMPLES
def test_csv_files(tmp_path: Path, examples: int) -> None:
    path = tmp_path / "table.csv"
    protected = rr.release.ProtectedColumn("answer", MECHANISM)
    pytest.importorskip("pyarrow")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        one_line(lambda: rr.Prior.from_csv(path))
        one_line(lambda: rr.Prior.from_csv(path, pairs=("s", "u")))
        one_line(lambda: rr.Prior.from_csv(path, column="answer"))
        one_line(lambda: rr.release.counts_of(path, "answer", MECHANISM))
        one_line(lambda: rr.release.release_file(path, protected, tmp_path / "out.csv", force=True))

    drawn(examples, broken([COUNTS, PAIR_COUNTS, PEOPLE], CELLS), read)


@EXAMPLES
def test_release_files(tmp_path: Path, examples: int) -> None:
    pytest.importorskip("pyarrow")
    MECHANISM.save(tmp_path / "mechanism.json")
    path = tmp_path / "release.toml"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        one_line(lambda: rr.release.load_release(path))

    values = [*AWKWARD, '"people.csv"', '"answer"', '"../x"', '{ file = "mechanism.json" }']
    drawn(examples, broken([RELEASE], values), read)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@EXAMPLES
def test_parquet_and_arrow_files(tmp_path: Path, suffix: str, examples: int) -> None:
    original = _columnar(suffix, tmp_path)
    path = tmp_path / f"damaged{suffix}"
    protected = rr.release.ProtectedColumn("answer", MECHANISM)

    def read(data: bytes) -> None:
        path.write_bytes(data)
        one_line(lambda: rr.release.counts_of(path, "answer", MECHANISM))
        one_line(lambda: rr.release.release_file(path, protected, tmp_path / f"out{suffix}", force=True))

    drawn(examples, damaged(original), read)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_names_of_columns_that_are_not_utf8_are_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(_columnar(suffix, tmp_path).replace(b"answer", b"\x80nswer"))
    with pytest.raises(rr.InputError, match=r"it cannot be read"):
        rr.release.counts_of(path, "answer", MECHANISM)


def _columnar(suffix: str, folder: Path) -> bytes:
    """A small table as Parquet or Arrow, made once."""
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import feather, parquet

    path = folder / f"whole{suffix}"
    if not path.is_file():
        table = pa.table({"answer": ["a", "b", "c", "a", "b"] * 4, "age": list(range(20)), "more": [None, "x"] * 10})
        if suffix == ".parquet":
            parquet.write_table(table, path)
        else:
            feather.write_feather(table, path, compression="uncompressed")
    return path.read_bytes()
