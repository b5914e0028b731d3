"""What several releases of one population say together, and an accountant that was cut, edited, or written by a
stranger."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from accountants import change, states

from rropt import __main__ as cli
from rropt.errors import InputError, ReleasedBefore
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.release import ProtectedColumn, Release, release_file, release_folder
from rropt.release.account import Account

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

LABELS = ("a", "b", "c")
ABC = RandomizedResponse(LABELS, epsilon=1).to_mechanism()
X, Y = ProtectedColumn("x", ABC), ProtectedColumn("y", ABC)
ROWS = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")]
ACCOUNTANT = Path("t.csv.accountant")


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write()


def write(name: str = "t.csv", header: str = "x,y", rows: list[tuple[str, str]] = ROWS, end: str = "\n") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}{end}" for line in (header, *(",".join(row) for row in rows)))
    Path(name).write_text(text, encoding="utf-8", newline="")


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path(".").rglob("*")) if path.is_file()}


def refused(error: str | type[InputError], *arguments: Any, **keys: Any) -> None:
    """The release is refused with these words, or with an error of this class, and nothing has changed."""
    before = contents()
    kind, words = (InputError, error) if isinstance(error, str) else (error, None)
    with pytest.raises(kind, match=words):
        release_file(*arguments, **keys)
    assert contents() == before


# -- several releases together ---------------------------------------------------------------------------------


def test_a_column_randomised_in_one_release_and_as_it_is_in_another_is_refused_with_both_files() -> None:
    release_file("t.csv", X, "ox.csv")
    refused(r"'y' .*oy\.csv.*ox\.csv.*infinite.*--force", "t.csv", Y, "oy.csv")


def test_a_column_that_was_randomised_cannot_go_out_as_it_is_afterwards() -> None:
    release_file("t.csv", Release([X], drop=["y"]), "ox.csv")
    refused(r"'x' .*oy\.csv.*ox\.csv.*infinite.*--force", "t.csv", Y, "oy.csv")
    # Without the other column there is nothing to refuse.
    made = release_file("t.csv", Release([Y], drop=["x"]), "oy.csv")
    assert made.manifest["epsilon_with_earlier"] == pytest.approx(2 * made.manifest["epsilon"])


def test_a_column_that_went_out_as_it_is_cannot_be_protected_afterwards() -> None:
    release_file("t.csv", X, "ox.csv")  # y stands in it as it is
    refused(r"'y' .*oy\.csv.*ox\.csv.*infinite", "t.csv", Release([Y], drop=["x"]), "oy.csv")


def test_what_is_forced_is_counted_as_infinite(capfd: pytest.CaptureFixture[str]) -> None:
    ABC.save("m.json")
    assert cli.main(["apply", "m.json", "t.csv", "--column", "x", "-o", "ox.csv"]) == 0
    assert cli.main(["apply", "m.json", "t.csv", "--column", "y", "-o", "oy.csv"]) == 2
    capfd.readouterr()
    assert cli.main(["apply", "m.json", "t.csv", "--column", "y", "-o", "oy.csv", "--force"]) == 0
    out, err = capfd.readouterr()
    assert "With earlier releases epsilon infinite" in " ".join(out.split())
    assert "ox.csv" in err
    assert "with the earlier draw, epsilon is infinite for each respondent" in err
    told = json.loads(Path("oy.csv.manifest.json").read_text(encoding="utf-8"))
    assert (told["earlier_draws"], told["epsilon_with_earlier"]) == (1, None)
    # The account says which column of which file, in words and as an object.
    assert cli.main(["accountant", "show", "t.csv.accountant"]) == 0
    why = f"'y' is released unchanged in {Path('ox.csv').resolve()} and randomised in {Path('oy.csv').resolve()}"
    told = capfd.readouterr().out
    assert f"infinite: {why}\n" in told
    assert re.search(r"(?m)^odds between two values of a person +change without limit$", told)
    assert cli.main(["accountant", "show", "t.csv.accountant", "--json"]) == 0
    assert why in json.loads(capfd.readouterr().out)["infinite"]
    # Several columns are told in the plural.
    write("u.csv", "x,y,z", [(x, f"{y},a") for x, y in ROWS])
    release_file("u.csv", Release([ProtectedColumn("x", ABC)]), "ux.csv")
    both = Release([ProtectedColumn("y", ABC), ProtectedColumn("z", ABC)], drop=["x"])
    with pytest.raises(InputError, match=r"'y', 'z' would be randomised in .* already shows them unchanged"):
        release_file("u.csv", both, "uyz.csv")
    # It stays infinite for whoever releases more of these people.
    write("t.csv", "x,y,z", [(x, f"{y},a") for x, y in ROWS])
    third = release_file("t.csv", Release([ProtectedColumn("z", ABC)], drop=["x", "y"]), "oz.csv", force=True)
    assert third.manifest["epsilon_with_earlier"] is None


def test_a_public_stratum_counts_as_released_as_it_is() -> None:
    strata = ProtectedColumn("x", dict.fromkeys(LABELS, ABC), by="y")
    release_file("t.csv", strata, "ox.csv")
    refused("'y' .*infinite", "t.csv", Release([Y], drop=["x"]), "oy.csv")


EDITS = {
    "a record more": lambda: write(rows=[*ROWS, ("c", "c")]),
    "other line ends": lambda: write(end="\r\n"),
    "columns swapped": lambda: write(header="y,x", rows=[(y, x) for x, y in ROWS]),
    "another column renamed": lambda: write(header="x,w"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_the_same_population(edit: str) -> None:
    plan = Release([X])
    release_file("t.csv", plan, "o1.csv")
    EDITS[edit]()
    refused(ReleasedBefore, "t.csv", plan, "o2.csv")
    made = release_file("t.csv", plan, "o2.csv", force=True)
    assert made.manifest["earlier_draws"] == 1
    assert made.manifest["epsilon_with_earlier"] == pytest.approx(2)


def test_a_renamed_column_is_counted() -> None:
    release_file("t.csv", Release([X], drop=["y"]), "o1.csv")
    write(header="w,y")
    made = release_file("t.csv", Release([ProtectedColumn("w", ABC)], drop=["y"]), "o2.csv")
    assert made.manifest["earlier_draws"] == 1


def test_every_forced_draw_from_every_state_is_counted() -> None:
    for number in range(5):
        write(rows=[*ROWS, *ROWS[:number]])
        made = release_file("t.csv", X, f"o{number}.csv", force=True)
        assert made.manifest["earlier_draws"] == number
        assert made.manifest["epsilon_with_earlier"] == pytest.approx(number + 1)


def test_a_draw_without_a_population_counts_for_all_and_says_so() -> None:
    release_file("t.csv", X, "o.csv")
    for population in (None, "June"):
        with pytest.raises(ReleasedBefore, match=r"no --population, so it counts for everyone; "):
            release_file("t.csv", X, "june.csv", population=population)


def test_populations_that_are_said_to_be_disjoint_are_not_added_up(capfd: pytest.CaptureFixture[str]) -> None:
    release_file("t.csv", X, "may.csv", population="May")
    write(rows=ROWS[1:])
    made = release_file("t.csv", X, "june.csv", population="June")
    assert made.manifest["earlier_draws"] == 0
    assert any("1 release of other populations" in note for note in made.notes)
    refused("--population NAME if these are other respondents than 'May'", "t.csv", X, "o.csv", population="May")
    refused(ReleasedBefore, "t.csv", X, "july.csv")  # not said to be another one
    ABC.save("m.json")
    assert cli.main(["apply", "m.json", "t.csv", "--column", "x", "-o", "o.csv", "--population", "May"]) == 2
    assert cli.main(["apply", "m.json", "t.csv", "--column", "x", "-o", "o.csv", "--population", "July"]) == 0
    capfd.readouterr()
    for name in ("", " ", "a\nb"):
        refused("population", "t.csv", X, "o2.csv", population=name)


# -- an accountant elsewhere ----------------------------------------------------------------------------------------


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in the folder `in` can be read and not written (the tests may run as root, who may write everywhere)."""
    write("in/t.csv")
    real = os.open

    def guarded(path: Any, flags: int, *rest: Any, **keys: Any) -> int:
        if flags & (os.O_CREAT | os.O_RDWR | os.O_WRONLY) and Path(path).resolve().parent.name == "in":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *rest, **keys)

    monkeypatch.setattr(os, "open", guarded)


@pytest.mark.usefixtures("read_only")
def test_data_in_a_read_only_folder_need_an_accountant_elsewhere() -> None:
    refused(r"in/t\.csv\.accountant: cannot write .*--accountant PATH", "in/t.csv", X, "o.csv")
    refused(
        "kept.accountant: there is no such accountant; .*rropt accountant init",
        "in/t.csv",
        X,
        "o.csv",
        accountant="kept.accountant",
    )
    assert not Path("kept.accountant").exists(), "a new one has no ceiling, which a mistyped name must not make"
    Account.create(Path("kept.accountant"))
    made = release_file("in/t.csv", X, "o.csv", accountant="kept.accountant")
    assert made.accountant == Path("kept.accountant").resolve()
    assert not Path("t.csv.accountant").exists()
    refused(ReleasedBefore, "in/t.csv", X, "o2.csv", accountant="kept.accountant")


def test_an_accountant_elsewhere_hides_no_draw(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What the data's own accountant tells counts, and what another accountant is told the own one is told too."""
    release_file("t.csv", X, "o.csv")
    Account.create(Path("kept.accountant"))
    refused(ReleasedBefore, "t.csv", X, "o2.csv", accountant="kept.accountant")
    write("copy/t.csv")
    refused(ReleasedBefore, "copy/t.csv", X, "o2.csv", accountant="t.csv.accountant")
    release_file("copy/t.csv", Release([X]), "o2.csv", accountant="t.csv.accountant", force=True)
    refused(ReleasedBefore, "copy/t.csv", X, "o3.csv")
    made = release_file("copy/t.csv", X, "o3.csv", accountant="t.csv.accountant", force=True)
    assert made.manifest["earlier_draws"] == 2, "a draw that both accountants tell of is one"


@pytest.mark.usefixtures("read_only")
def test_the_own_accountant_counts_where_it_can_only_be_read(tmp_path: Path) -> None:
    release_file("t.csv", X, "o.csv")
    Path("in/t.csv.accountant").write_bytes(ACCOUNTANT.read_bytes())
    Account.create(Path("kept.accountant"))
    refused(ReleasedBefore, "in/t.csv", X, "o2.csv", accountant="kept.accountant")


def test_a_folder_of_data_takes_a_folder_of_accountants() -> None:
    table = pa.table({"x": ["a", "b"]})
    for name in ("d/1.parquet", "d/in/2.parquet"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, name)
    with pytest.raises(InputError, match="kept: there is no such accountant"):
        release_folder("d", X, "o", accountant="kept")
    Path("kept").mkdir()
    assert release_folder("d", X, "o", accountant="kept", population="May").counts == {"released": 2}
    assert states(Path("kept/1.parquet.accountant")) == ["released"]
    assert states(Path("kept/in/2.parquet.accountant")) == ["released"]
    assert release_folder("d", X, "o", accountant="kept").counts == {"existing": 2}


# -- an accountant that was cut or edited -----------------------------------------------------------------------------


def test_an_accountant_that_was_cut_anywhere_draws_nothing_again() -> None:
    plan = Release([X])
    release_file("t.csv", plan, "o.csv")
    release_file("t.csv", Release([ProtectedColumn("y", ABC)], drop=["x"]), "oy.csv", force=True)
    whole = ACCOUNTANT.read_bytes()
    for size in [*range(0, len(whole) - 1, 511), 1, 15, 16, 17, 99, 100, len(whole) - 1]:
        ACCOUNTANT.write_bytes(whole[:size])
        refused(r"t\.csv\.accountant: ", "t.csv", Release([X, Y]), "o2.csv", force=True)
    ACCOUNTANT.write_bytes(whole)
    release_file("t.csv", plan, "o2.csv", force=True)
    assert states(ACCOUNTANT) == ["released"] * 3
    refused(ReleasedBefore, "t.csv", plan, "o3.csv")


def test_a_line_that_was_edited_or_taken_out_breaks_the_chain() -> None:
    for number in range(3):
        release_file("t.csv", X, f"o{number}.csv", force=True)
    whole = ACCOUNTANT.read_bytes()
    broken = {
        "edited": ['UPDATE accountant SET line = replace(line, \'"raw":["y"]\', \'"raw":[]\') WHERE number = 4'],
        "taken out": ["DELETE FROM accountant WHERE number = 4"],
        "taken out and closed": [
            "DELETE FROM accountant WHERE number = 4",
            "UPDATE accountant SET number = 4 WHERE number = 5",
        ],
        "swapped": [
            "UPDATE accountant SET number = 99 WHERE number = 4",
            "UPDATE accountant SET number = 4 WHERE number = 6",
            "UPDATE accountant SET number = 6 WHERE number = 99",
        ],
        "twice": ["INSERT INTO accountant SELECT 8, line, chain FROM accountant WHERE number = 4"],
        "without its hash": ["UPDATE accountant SET chain = '' WHERE number = 4"],
        "no first line": ["DELETE FROM accountant WHERE number = 1"],
        "no line": ["DELETE FROM accountant"],
        "a trigger": ["CREATE TRIGGER t AFTER INSERT ON accountant BEGIN DELETE FROM accountant; END"],
        "a view": ["ALTER TABLE accountant RENAME TO other", "CREATE VIEW accountant AS SELECT * FROM other"],
    }
    for name, commands in broken.items():
        ACCOUNTANT.write_bytes(whole)
        change(ACCOUNTANT, *commands)
        assert ACCOUNTANT.read_bytes() != whole, name
        refused(r"accountant: .*(chain|no first line|not an accountant)", "t.csv", X, "o9.csv", force=True)
    ACCOUNTANT.write_bytes(whole)
    release_file("t.csv", X, "o9.csv", force=True)


def test_what_was_added_by_a_stranger_is_no_entry() -> None:
    """Whoever can write the file can compute the hashes too; what is then read is still held to its form."""
    release_file("t.csv", X, "o.csv")
    whole = ACCOUNTANT.read_bytes()
    kept = json.loads(events_text())
    for event in (
        {"event": "removed", "release": kept["release"]},
        {"event": "drawing", "release": kept["release"]},
        {**kept, "release": "ffffffffffffffff", "temporary": "precious.txt"},
        {"event": "abandoned", "release": "ffffffffffffffff"},
        [],
        7,
    ):
        ACCOUNTANT.write_bytes(whole)
        append(json.dumps(event))
        refused(r"accountant: line \d is not an entry", "t.csv", X, "o2.csv", force=True)
    ACCOUNTANT.write_bytes(whole)
    append("[" * 100_000)
    refused(r"accountant: line 4 is not an entry", "t.csv", X, "o2.csv", force=True)


def events_text() -> str:
    connection = sqlite3.connect(ACCOUNTANT)
    ((line,),) = connection.execute("SELECT line FROM accountant WHERE number = 2")
    connection.close()
    return str(line)


def append(line: str) -> None:
    """One more line, with its hash."""
    connection = sqlite3.connect(ACCOUNTANT, isolation_level=None)
    ((number, chain),) = connection.execute("SELECT number, chain FROM accountant ORDER BY number DESC LIMIT 1")
    chained = hashlib.sha256((chain + line).encode()).hexdigest()
    connection.execute("INSERT INTO accountant VALUES (?, ?, ?)", (number + 1, line, chained))
    connection.close()


def hostile() -> dict[str, tuple[str, str]]:
    """What a stranger writes into a line, and for what."""
    return {
        "a deep list in a line": ('"PRIVACY_RATIO"', "[" * 100_000),
        "a privacy ratio that is a number": ('"PRIVACY_RATIO"', "3"),
        "a number without end": ('"PRIVACY_RATIO"', "1e1000000000"),
        "a negative privacy ratio": ("PRIVACY_RATIO", "-3"),
        "a privacy ratio below one": ("PRIVACY_RATIO", "1/3"),
        "a privacy ratio divided by nothing": ("PRIVACY_RATIO", "1/0"),
        "a scope that is a list": ('"privacy_ratio"', '"scope":[],"privacy_ratio"'),
        "a level that is a list": ('"privacy_ratio"', '"approximate":[],"privacy_ratio"'),
        "a level divided by nothing": (
            '"privacy_ratio"',
            '"approximate":{"epsilon":"1/0","delta":"0"},"privacy_ratio"',
        ),
        "a negative level": ('"privacy_ratio"', '"approximate":{"epsilon":"-1","delta":"0"},"privacy_ratio"'),
        "a level without a delta": ('"privacy_ratio"', '"approximate":{"epsilon":"1"},"privacy_ratio"'),
        "populations that are numbers": ('"raw"', '"infinite":[1],"raw"'),
        "a population that is a number": ('"population":""', '"population":1'),
        "columns that are no list": ('"columns":[', '"columns":7,"other":['),
        "a name that is a number": ('["x"]', "[1]"),
        "an output that is a number": ('"OUTPUT"', "7"),
        "a name with a zero": ("OUTPUT", "o\\u0000.csv"),
        "another temporary file": (".o.csv.ffffffffffffffff.tmp", "precious.txt"),
        "one in another folder": (".o.csv.ffffffffffffffff.tmp", ".../../a.ffffffffffffffff.tmp"),
        "one of another release": (".o.csv.ffffffffffffffff.tmp", ".o.csv.00112233445566aa.tmp"),
    }


@pytest.mark.parametrize("name", hostile())
def test_a_line_of_a_stranger_ends_in_one_line(name: str) -> None:
    release_file("t.csv", X, "o.csv")
    kept = json.loads(events_text())
    line = json.dumps(kept, separators=(",", ":")).replace(kept["release"], "f" * 16)
    words = {"PRIVACY_RATIO": kept["columns"][0]["privacy_ratio"], "OUTPUT": json.dumps(kept["output"])[1:-1]}
    before, after = hostile()[name]
    for word, text in words.items():
        before = before.replace(word, text)
    assert before in line
    append(line.replace(before, after, 1))
    for precious in ("precious.txt", ".o.csv.00112233445566aa.tmp"):
        Path(precious).write_text("mine", encoding="utf-8")
    for force in (False, True):
        refused(r"accountant: line 4 is not an entry", "t.csv", X, "o2.csv", force=force)
    assert cli.main(["accountant", "show", str(ACCOUNTANT)]) == 2


def test_a_file_that_is_no_accountant_is_not_written() -> None:
    for data in (b"not UTF-8 \xff", b"", b"{}", b"[" * 100_000):
        ACCOUNTANT.write_bytes(data)
        refused(r"t\.csv\.accountant: ", "t.csv", X, "o2.csv", force=True)


# -- what others can see -----------------------------------------------------------------------------------------

posix = pytest.mark.skipif(os.name != "posix", reason="needs modes of files")


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


@posix
def test_nobody_else_reads_a_release_that_is_not_complete() -> None:
    seen = []

    def look(done: int, total: int | None) -> None:
        seen.extend(mode(path) for path in Path(".").glob(".o.csv.*.tmp"))

    Path("n").touch()
    release_file("t.csv", X, "o.csv", monitor=look)
    assert set(seen) == {0o600}
    assert mode("o.csv") == mode("n"), "the release follows the user's umask"
    assert mode(ACCOUNTANT) == 0o600


@posix
def test_an_accountant_that_others_could_read_is_closed_to_them() -> None:
    release_file("t.csv", X, "o.csv")
    ACCOUNTANT.chmod(0o644)
    refused(ReleasedBefore, "t.csv", X, "o2.csv")
    assert mode(ACCOUNTANT) == 0o600


@posix
def test_the_umask_of_the_process_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread would make its files with the one that is set meanwhile."""

    def touched(mask: int) -> int:
        raise AssertionError("os.umask was called")

    monkeypatch.setattr(os, "umask", touched)
    ABC.save("m.json")
    release_file("t.csv", X, "o.csv")


# -- nothing is drawn that cannot be told --------------------------------------------------------------------------


def test_what_is_wrong_in_the_last_row_is_known_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    real = os.open

    def watched(path: Any, *rest: Any, **keys: Any) -> int:
        opened.append(Path(path).name)
        return real(path, *rest, **keys)

    monkeypatch.setattr(os, "open", watched)
    write(rows=[*ROWS * 1000, ("q", "a")])
    refused("1 of 4,001 is unknown: 'q'", "t.csv", X, "o.csv")
    assert not [name for name in opened if name.startswith(".o.csv.")]


def test_a_manifest_of_290_columns_is_written() -> None:
    """The product of their privacy ratios has more digits than Python turns into text by itself."""
    wide = 290
    names = [f"c{number}" for number in range(wide)]
    most, least = 10**15 + 37, 10**14 + 31
    rows = [[Fraction(most if x == y else least, most + 2 * least) for y in range(3)] for x in range(3)]
    prime = Mechanism.from_rationals(rows, inputs=LABELS, outputs=LABELS)
    Path("w.csv").write_text(",".join(names) + "\n" + ",".join(["a"] * wide) + "\n", encoding="utf-8")
    made = release_file("w.csv", Release([ProtectedColumn(name, prime) for name in names]), "o.csv")
    numerator, denominator = made.manifest["privacy_ratio"].split("/")
    assert len(numerator) > 4300
    assert len(denominator) > 4000
    assert made.manifest["epsilon"] == pytest.approx(wide * 2.302585, rel=1e-6)
    refused(ReleasedBefore, "w.csv", ProtectedColumn("c7", prime), "o2.csv")


def test_a_manifest_that_cannot_be_told_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> str:
        raise ValueError("no text")

    monkeypatch.setattr("rropt.release.run.manifest_text", broken)
    before = contents()
    with pytest.raises(ValueError, match="no text"):
        release_file("t.csv", X, "o.csv")
    assert contents() == before


# -- metadata ----------------------------------------------------------------------------------------------------


def secrets_of(path: str) -> bytes:
    return Path(path).read_bytes()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_metadata_stay_behind_but_for_types(suffix: str) -> None:
    inner = pa.struct([pa.field("p", pa.int64(), metadata={"note": "SECRETINNER"})])
    schema = pa.schema(
        [
            pa.field("x", pa.string(), metadata={"note": "SECRETX"}),
            pa.field("k", pa.int64(), metadata={"note": "SECRETK"}),
            pa.field("s", inner),
            pa.field("l", pa.list_(pa.field("item", pa.int64(), metadata={"note": "SECRETLIST"}))),
            pa.field("gone", pa.string()),
        ],
        {"register": "SECRETFILE", "pandas": json.dumps({"columns": [], "index_columns": [], "first": "SECRETROW"})},
    )
    given = pa.table({"x": ["a"], "k": [1], "s": [{"p": 1}], "l": [[1]], "gone": ["SECRETGONE"]}, schema=schema)
    name = f"m{suffix}"
    if suffix == ".parquet":
        pq.write_table(given, name, compression="NONE")
    else:
        opened = pa.ipc.new_file if suffix == ".arrow" else pa.ipc.new_stream
        with pa.OSFile(name, "wb") as stream, opened(stream, schema) as writer:
            writer.write_table(given)
    assert b"SECRETFILE" in secrets_of(name)
    made = release_file(name, Release([X], drop=["gone"]), f"o{suffix}")
    assert b"SECRET" not in secrets_of(f"o{suffix}")
    if suffix == ".parquet":
        told = pq.ParquetFile(f"o{suffix}")
        assert told.schema_arrow.types == schema.types[:4]
        assert b"U0VDUkVU" not in secrets_of(f"o{suffix}"), "nor in base 64"
    (note,) = (note for note in made.notes if "metadata" in note)
    for word in ("register", "pandas", "'x'", "'k'", "'s'", "'l'"):
        assert word in note


SECRET_FIELD = pa.field("item", pa.string(), metadata={"note": "SECRET"})
NESTED = {
    "list": pa.list_(SECRET_FIELD),
    "large list": pa.large_list(SECRET_FIELD),
    "list of one": pa.list_(SECRET_FIELD, 1),
    "list view": pa.list_view(SECRET_FIELD),
    "large list view": pa.large_list_view(SECRET_FIELD),
    "struct": pa.struct([SECRET_FIELD]),
    "map": pa.map_(pa.field("key", pa.string(), False, metadata={"note": "SECRET"}), SECRET_FIELD),
    "dictionary": pa.dictionary(pa.int8(), pa.struct([SECRET_FIELD])),
    "runs": pa.run_end_encoded(pa.int32(), pa.struct([SECRET_FIELD])),
    "union": pa.dense_union([SECRET_FIELD]),
    "twice": pa.list_(pa.field("item", pa.list_view(pa.field("item", pa.struct([SECRET_FIELD]))))),
}


@pytest.mark.parametrize("name", NESTED)
def test_no_type_keeps_the_metadata_of_fields_within(name: str) -> None:
    schema = pa.schema([("x", pa.string()), pa.field("y", NESTED[name])])
    with pa.OSFile("n.arrow", "wb") as stream, pa.ipc.new_file(stream, schema):
        pass  # no rows: what is kept stands in the schema
    assert b"SECRET" in Path("n.arrow").read_bytes()
    made = release_file("n.arrow", Release([X]), "o.arrow")
    assert b"SECRET" not in Path("o.arrow").read_bytes()
    assert "metadata that are not released: 'y'" in made.notes
    with pa.ipc.open_file("o.arrow") as told:
        assert told.schema.field("y").type == NESTED[name]


class Geometry(pa.ExtensionType):
    """A type of somebody else, whose metadata hold a record."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "geo.own")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"SECRET"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: object, serialized: bytes) -> Geometry:
        return cls()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("within", [True, False])
def test_extension_types_of_others_become_their_storage(known: bool, within: bool) -> None:
    own = pa.ExtensionArray.from_storage(Geometry(), pa.array(["p", None]))
    given = pa.StructArray.from_arrays([own], fields=[pa.field("g", own.type)]) if within else own
    table = pa.table({"x": ["a", "b"], "y": given})
    with pa.OSFile("n.arrow", "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    if known:
        pa.register_extension_type(Geometry())
    try:
        made = release_file("n.arrow", Release([X]), "o.arrow")
    finally:
        if known:
            pa.unregister_extension_type("geo.own")
    assert b"SECRET" not in Path("o.arrow").read_bytes()
    assert "metadata that are not released: 'y'" in made.notes
    with pa.ipc.open_file("o.arrow") as told:
        assert told.read_all()["y"].to_pylist() == ([{"g": "p"}, {"g": None}] if within else ["p", None])


def test_pandas_metadata_keep_types_and_nothing_else() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"gone": ["SECRETROW", "s"], "x": ["a", "b"], "n": pandas.array([1, None], dtype="Int64")},
        index=pandas.Index(["p", "q"], name="person"),
    )
    frame.attrs["first"] = "SECRETROW"
    frame.columns.name = "SECRETNAME"
    frame.to_parquet("p.parquet", compression=None)
    release_file("p.parquet", Release([X], drop=["gone"]), "o.parquet")
    assert b"SECRET" not in Path("o.parquet").read_bytes()
    made = pandas.read_parquet("o.parquet")
    assert made.index.tolist() == ["p", "q"]
    assert made["n"].dtype == "Int64"


def test_all_files_that_are_written_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ABC.save("m.json")
    assert cli.main(["accountant", "init", "--ceiling", "9", "acc"]) == 0
    assert cli.main(["key", "new", "key"]) == 0
    write("t.csv", "id,x", [(str(at), x) for at, (x, _) in enumerate(ROWS)])
    before = {path.name for path in Path().iterdir()}
    capsys.readouterr()
    arguments = ["--column", "x", "-o", "o.csv", "--accountant", "acc", "--id", "id", "--key", "key"]
    assert cli.main(["apply", "m.json", "t.csv", *arguments]) == 0
    told = {line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("wrote ")}
    made = {path.name for path in Path().iterdir()} - before
    assert made == {
        *(f"o.csv{end}" for end in ("", ".manifest.json", ".README.txt", ".for-R")),
        "t.csv.accountant",
        "key.records",
    }
    assert {Path(one).name for one in told} == made | {"acc"}
