"""Hostile files, names that a terminal would obey, copies of the data, and a system without randomness."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from ending import ending

import rropt as rr
from rropt.cli import main as cli
from rropt.errors import InputError
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.release import ProtectedColumn, release_file, release_folder

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

AB = RandomizedResponse(("a", "b"), epsilon=1).to_mechanism()
COLUMN = ProtectedColumn("x", AB)
ESCAPE = "\x1b]0;owned\x07\x1b[31m"
SECRET = "secret-record"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    AB.save("m.json")


def people(name: str = "t.csv", rows: int = 40) -> Path:
    path = Path(name)
    path.write_text("x\n" + "a\nb\n" * (rows // 2))
    return path


# -- copies --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [shutil.copyfile, os.link])
def test_a_copy_in_the_same_folder_is_not_drawn_from_again(copied: Callable[[Path, str], object]) -> None:
    data = people()
    release_file(data, COLUMN)
    copied(data, "copy.csv")
    with pytest.raises(InputError, match=r"'x' of this data was released on .* a second draw leaks more"):
        release_file("copy.csv", COLUMN)
    assert not Path("copy.protected.csv").exists()
    forced = release_file("copy.csv", COLUMN, force=True)
    assert forced.manifest["earlier_draws"] == 1
    # The draw from the copy is one of the original too, whatever becomes of the copy.
    Path("copy.csv").unlink()
    assert release_file(data, COLUMN, force=True).manifest["earlier_draws"] == 2


@pytest.mark.parametrize("gone", [".other.csv.ledger.abcdefgh", "other.csv"])
def test_a_file_that_is_removed_while_the_folder_is_listed(gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release_file(people("other.csv", 42), COLUMN)
    data = people()
    Path(gone).write_text("")
    scandir = os.scandir

    @contextlib.contextmanager
    def listing(path: Path) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(path) as entries:
            found = list(entries)
        Path(gone).unlink(missing_ok=True)
        yield found

    monkeypatch.setattr(os, "scandir", listing)
    assert release_file(data, COLUMN).drawn


def test_other_records_in_the_same_folder_are_other_data() -> None:
    release_file(people("one.csv"), COLUMN)
    other = Path("two.csv")
    other.write_text(Path("one.csv").read_text().replace("a\nb\n", "b\na\n", 1))
    assert release_file(other, COLUMN).manifest["earlier_draws"] == 0


def test_two_names_of_one_file_in_a_folder_are_drawn_once() -> None:
    Path("data").mkdir()
    pq.write_table(pa.table({"x": ["a", "b"] * 20}), "data/one.parquet")
    os.link("data/one.parquet", "data/two.parquet")
    found = release_folder("data", COLUMN)
    assert [one.state for one in found.files] == ["released", "refused"]


def test_two_names_are_released_at_once_by_one_process_at_most() -> None:
    data = people()
    os.link(data, "copy.csv")
    seen = []

    def again(done: int, total: int | None) -> None:
        with pytest.raises(InputError, match="another process is releasing this data"):
            release_file("copy.csv", COLUMN)
        seen.append(done)

    release_file(data, COLUMN, monitor=again)
    assert seen


# -- what never ends -----------------------------------------------------------------------------------------

READERS: dict[str, Callable[[str], list[str]]] = {
    "mechanism": lambda path: ["apply", path, "t.csv", "--column", "x"],
    "release file": lambda path: ["apply", path + ".toml", "t.csv"],
    "data": lambda path: ["apply", "m.json", path + ".csv", "--column", "x"],
    "data of parquet": lambda path: ["apply", "m.json", path + ".parquet", "--column", "x"],
    "matrix": lambda path: ["audit", path],
    "matrix of numpy": lambda path: ["audit", path + ".npy"],
    "released data": lambda path: ["estimate", "m.json", path + ".csv", "--column", "x"],
    "counted data": lambda path: ["solve", "survey-yes-no", "--data", path + ".csv", "--column", "x"],
    "solution": lambda path: ["report", path],
    "prior": lambda path: ["audit", "m.json", "--prior", path],
    "counts": lambda path: ["solve", problem(f'counts_file = "{path}"')],
    "ledger": lambda path: ["apply", "m.json", "t.csv", "--column", "x", "--ledger", path],
}


def problem(prior: str) -> str:
    Path("folder").mkdir(exist_ok=True)
    text = f'schema = 1\n[input]\n{prior}\n[objective]\nmaximize = "mutual_information"\n'
    Path("folder/p.toml").write_text(f'{text}[[constraint]]\nkind = "ldp"\nepsilon = 1\n')
    return "folder/p.toml"


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("endless", ["pipe", "device"])
def test_a_pipe_or_a_device_is_refused_at_once(
    reader: str, endless: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people()
    place = str(tmp_path / "endless")
    for name in (place, *(place + suffix for suffix in (".toml", ".csv", ".parquet", ".npy"))):
        if endless == "pipe":
            os.mkfifo(name)
        else:
            os.symlink("/dev/zero", name)
    with ending(room=1 << 30):
        assert cli.main(READERS[reader](place)) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert any(words in told.err for words in ("pipe or a device", "no such problem file", "no such file"))


def test_a_text_that_is_too_large_is_not_read() -> None:
    with open("large.json", "wb") as stream:
        stream.truncate(1 << 40)
    with ending(room=1 << 30), pytest.raises(InputError, match="more than 268,435,456 bytes"):
        rr.Mechanism.load("large.json")


def test_a_parquet_file_that_unpacks_without_end_is_refused() -> None:
    """A billion rows in a few kilobytes."""
    import pyarrow.parquet as parquet

    size = 1 << 20
    equal = pa.DictionaryArray.from_arrays(np.zeros(size, dtype=np.int32), pa.array(["a"]))
    parquet.write_table(pa.table({"x": equal}), "t.parquet", row_group_size=size, write_statistics=False)
    release_file("t.parquet", COLUMN)  # a million equal rows are nothing strange
    data = bytearray(Path("t.parquet").read_bytes())
    # The number of rows of the file and of its one row group, as the compact protocol of Thrift writes it: 2^21 zigzag.
    before, after = varint(2 * size), varint(2 * size * (1 << 14))
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    changed = bytes(data[footer:-8]).replace(b"\x16" + before, b"\x16" + after)
    assert changed != bytes(data[footer:-8])
    Path("bomb.parquet").write_bytes(bytes(data[:footer]) + changed + len(changed).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(InputError, match=r"17,179,869,184 rows in \S+ bytes; it unpacks to far more than it holds"):
        release_file("bomb.parquet", COLUMN)


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def test_a_numpy_file_that_claims_to_be_huge_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("m.npy", np.ones((2, 2)) / 2)
    head = Path("m.npy").read_bytes().replace(b"(2, 2), }              ", b"(2000000, 2000000), }  ")
    Path("m.npy").write_bytes(head)
    assert "2000000" in head.decode("latin1")
    with ending(room=1 << 30):
        assert cli.main(["audit", "m.npy"]) == 2
    assert "not a .npy file of numbers" in capsys.readouterr().err


# -- what a message may quote --------------------------------------------------------------------------------

QUOTED = {
    "a record with too many cells": f"x,y\na,1\nb,{SECRET},2\n",
    "a record with too few cells": f"x,y\na,1\n{SECRET}\n",
}


@pytest.mark.parametrize("case", QUOTED)
@pytest.mark.parametrize("command", ["apply m.json t.csv --column x", "solve survey-yes-no --data t.csv --column x"])
def test_no_message_quotes_a_record_that_is_no_record(
    case: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.csv").write_text(QUOTED[case])
    assert cli.main(command.split()) == 2
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    assert "t.csv" in told.err


FOREIGN = {
    "counts": 'counts_file = "{}"',
    "counts of pairs": 'counts_file = "{}"\npairs = ["s", "u"]',
    "data": 'data_file = "{}"\ncolumn = "x"',
    "distances": 'uniform = 3\n[[constraint]]\nkind = "metric_dp"\nepsilon = 1\ndistances = "{}"',
}


@pytest.mark.parametrize("case", FOREIGN)
@pytest.mark.parametrize("way", ["whole", "relative", "link"])
def test_no_problem_file_shows_a_file_outside_of_its_folder(case: str, way: str, tmp_path: Path) -> None:
    hidden = tmp_path / "shadow"
    hidden.write_text(f"root:{SECRET}:0\n\n{SECRET}\n")
    Path("folder").mkdir()
    if way == "link":
        os.symlink(hidden, "folder/link.csv")
    name = {"whole": str(hidden), "relative": "../shadow", "link": "link.csv"}[way]
    path = problem(FOREIGN[case].format(name))
    with pytest.raises(InputError) as caught:
        rr.load_problem(path)
    assert SECRET not in str(caught.value)
    assert "copy it into that folder to see the reason" in str(caught.value)
    shutil.copy(hidden, "folder/own.csv")
    with pytest.raises(InputError) as caught:
        rr.load_problem(problem(FOREIGN[case].format("own.csv")))
    assert "to see the reason" not in str(caught.value)


# -- what a terminal and a picture would obey ----------------------------------------------------------------


def test_no_name_of_a_file_reaches_the_terminal_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    folder = Path(ESCAPE.replace("/", ""))
    folder.mkdir()
    data = people(str(folder / "t.csv"))
    plan = folder / "plan.toml"
    plan.write_text("schema = 1")
    matrix = folder / "m.csv"
    matrix.write_text("a,b\n0.5,0.6\n")
    for arguments in (
        ["apply", "m.json", str(data), "--column", "x"],
        ["apply", "m.json", str(data), "--column", "x"],
        ["apply", "m.json", str(data), "--column", ESCAPE],
        ["apply", "m.json", str(folder / "missing.csv"), "--column", "x"],
        ["apply", str(plan)],
        ["audit", str(matrix)],
        ["check", str(plan)],
        ["check", str(plan), str(matrix)],
        ["solve", str(plan)],
        ["report", str(folder)],
        ["solve", "survey-yes-no", "--out", str(folder / "out")],
        ["report", str(folder / "out"), "-o", str(folder / "page.html")],
        ["identify", str(folder / "out"), "-o", str(folder / "new" / "m.json")],
        ["models", "people", "adult-pram", "--count", "9", "-o", str(folder / "people.csv")],
        ["estimate", "m.json", str(folder / "t.protected.csv"), "--column", "x", "--plot", str(folder / "e.svg")],
        ["sweep", "survey-yes-no", "--over", "gamma=2,3", "-o", str(folder / "sweep.csv")],
        ["sweep", str(folder / "none.toml"), "--epsilon", "1"],
    ):
        cli.main(arguments)
    told = capfd.readouterr()
    assert len(told.out + told.err) > 1000
    assert "\x1b" not in told.out + told.err
    assert "\x07" not in told.out + told.err


def test_labels_are_escaped_in_every_picture(tmp_path: Path) -> None:
    labels = [ESCAPE, "\x00\x08\x0b", "plain"]
    mechanism = RandomizedResponse(labels[:1] + labels[2:], epsilon=1).to_mechanism()
    for text in (repr(mechanism), mechanism._repr_html_()):
        assert "\x1b" not in text
        assert "\x07" not in text
    from rropt.release.tables.picture import estimate_svg

    drawn = estimate_svg(mechanism.estimate([30, 40]), 0.95, title=ESCAPE)
    assert "\x1b" not in drawn
    ElementTree.fromstring(drawn)
    prior = rr.Prior.from_counts({ESCAPE: 3, "plain": 5})
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve()
    page = tmp_path / "page.html"
    rr.write_report(solution, page)
    assert "\x1b" not in page.read_text()


# -- the system's generator ----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), NotImplementedError("none")])
def test_a_system_without_randomness_is_named(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people()

    def broken(count: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", broken)
    assert cli.main(["apply", "m.json", "t.csv", "--column", "x"]) == 2
    assert "the operating system gives no random numbers" in capsys.readouterr().err
    assert sorted(os.listdir()) == ["m.json", "t.csv"]
    with pytest.raises(InputError, match="the operating system gives no random numbers"):
        Mechanism.load("m.json").sample([0, 1])
