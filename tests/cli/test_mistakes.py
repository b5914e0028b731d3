"""What a newcomer gets wrong ends in one plain line with what, where and what to do, and status 2."""

from __future__ import annotations

import gzip
import html
import re
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.solve.registry import METHODS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

GOOD = b"id,level\n1,a\n2,b\n3,a\n"
HEAD = "schema = 1\n[input]\n"
COUNTS = HEAD + "counts = { a = 5, b = 3 }\n"
WANTED = '[objective]\nmaximize = "mutual_information"\n'
LDP = '[[constraint]]\nkind = "ldp"\nepsilon = 1\n'
BASE = COUNTS + WANTED
DATA = 'data_file = "d.csv"\ncolumn = "level"\n'
OWN = "schema = 1\n" + WANTED + LDP
"""Without [input]: its inputs are the values of the data."""
SOLVE = ["solve", "own.toml", "--data", "d.csv", "--column", "level"]
EXCEL = b"PK\x03\x04\x14\x00\x06\x00" + b"\x00" * 22 + b"xl/workbook.xml"

# (content of d.csv, the command, parts of its one line)
FILES: dict[str, tuple[bytes, list[str], list[str]]] = {
    "blanks": (b"id,level\n1,a\n2,\n3,b\n4,\n", SOLVE, ["d.csv: 2 rows are blank in 'level'", "add --null unknown"]),
    "semicolons": (b"id;level\n1;a\n2;b\n", SOLVE, ["separated by semicolons? Add --delimiter ';'"]),
    "tabs": (b"id\tlevel\n1\ta\n2\tb\n", SOLVE, ["separated by tabs? Add --delimiter tab"]),
    "bars": (b"id|level\n1|a\n2|b\n", SOLVE, ["separated by vertical bars? Add --delimiter '|'"]),
    "latin-1": ("id,level\n1,caf\u00e9\n".encode("latin-1"), SOLVE, ["d.csv: this data file is not UTF-8", "iconv"]),
    "empty": (b"", SOLVE, ["d.csv: it is empty; give a header"]),
    "header only": (b"id,level\n", SOLVE, ["d.csv: it has no records; give one line per record"]),
    "one value": (b"id,level\n1,a\n2,a\n", SOLVE, ["column 'level' has one value only; randomise one that varies"]),
    "case": (
        b"id,Level\n1,a\n2,b\n",
        SOLVE,
        ["no column 'level'; did you mean 'Level'? Its columns"],
    ),
    "spelling": (b"id,levels\n1,a\n2,b\n", SOLVE, ["did you mean 'levels'?"]),
    "another column": (b"id,stage\n1,a\n", SOLVE, ["there is no column 'level'; its columns are 'id', 'stage'"]),
    "cut short": (b"id,level\n1,a\n2\n", SOLVE, ["d.csv: line 3 has 1 value, the header 2; is the file cut short"]),
    "packed": (gzip.compress(GOOD), SOLVE, ["it is packed by gzip; unpack it first, as by gunzip"]),
    "Excel by its content": (EXCEL, SOLVE, ["d.csv: Excel files are not read; save it as CSV"]),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", SOLVE, ["Excel files are not read; save it as CSV"]),
    "no column named": (GOOD, SOLVE[:4], ["solve: --data needs --column; as --data people.csv --column education"]),
    "no data": (GOOD, ["solve", "adult-pram", "--column", "level"], ["solve: --column needs --data"]),
    "null alone": (GOOD, ["solve", "adult-pram", "--null", "x"], ["solve: --null needs --data"]),
    "data as the problem": (
        GOOD,
        ["solve", "d.csv"],
        ["d.csv: this is data, not a problem; write: rropt solve MODEL --data d.csv --column NAME"],
    ),
    "data to compare": (GOOD, ["compare", "d.csv"], ["this is data, not a problem"]),
    "a folder as data": (GOOD, ["solve", "adult-pram", "--data", ".", "--column", "level"], ["Is a directory"]),
    "a folder as the problem": (GOOD, ["solve", "."], [".: this is a folder; give a problem file (.toml)"]),
    "no such data": (GOOD, ["solve", "adult-pram", "--data", "e.csv", "--column", "level"], ["e.csv: cannot read"]),
    "no such model": (
        GOOD,
        ["solve", "adult-prum"],
        ["is called 'adult-prum'; did you mean adult-pram?"],
    ),
    "no such problem": (GOOD, ["solve", "none.toml"], ["none.toml: there is no such problem file; check the path"]),
    "no such method": (GOOD, ["solve", "adult-pram", "--method", "fast"], ["'fast'", "use auto or one of: linear"]),
    "no such solver": (
        GOOD,
        ["solve", "adult-pram", "--solver", "ibm"],
        ["rropt: solver: 'ibm' is not a solver that is installed; use one of: "],
    ),
    "negative gap": (GOOD, ["solve", "adult-pram", "--gap", "-1"], ["gap: it is -1.0, negative; try 1e-6"]),
    "no time": (
        GOOD,
        ["solve", "adult-pram", "--time-limit", "0"],
        ["time_limit: it is 0.0, not above 0"],
    ),
    "a gap of letters": (
        GOOD,
        ["solve", "adult-pram", "--gap", "x"],
        ["Invalid value for '--gap'", "see rropt solve --help"],
    ),
    "a file as the folder": (
        GOOD,
        ["solve", "adult-pram", "--out", "d.csv"],
        ["d.csv: cannot write", "choose another place"],
    ),
    "no argument": (GOOD, ["solve"], ["Missing argument 'FILE|MODEL'; see rropt solve --help"]),
    "a command misspelt": (GOOD, ["slove", "adult-pram"], ["'slove'. Did you mean 'solve'? see rropt --help"]),
    "a report of data": (
        GOOD,
        ["report", "d.csv"],
        ["d.csv: this is not JSON; give the folder"],
    ),
    "a report of nothing": (GOOD, ["report", "none"], ["none: there is no solution here; give the folder"]),
}

APPLY = ["apply", "m.json", "d.csv", "--column", "level"]
ESTIMATE = ["estimate", "m.json", "d.csv", "--column", "level"]
# The same for m.json, 2-ary randomised response of a and b: an option is named as the command line writes it.
RELEASES: dict[str, tuple[bytes, list[str], list[str]]] = {
    "a picture of another kind": (GOOD, [*ESTIMATE, "--plot", "x.png"], ["x.png: this picture is an SVG"]),
    "a picture where none can be": (GOOD, [*ESTIMATE, "--plot", "d.csv/x.svg"], ["d.csv/x.svg: cannot write"]),
    "truth without a picture": (GOOD, [*ESTIMATE, "--truth", "d.csv"], ["d.csv: --truth is for a picture; add --plot"]),
    "truth of two columns": (
        GOOD,
        [*ESTIMATE, "--column", "id", "--plot", "x.svg", "--truth", "d.csv"],
        ["d.csv: --truth is for one column; leave it out"],
    ),
    "truth that is not there": (
        GOOD,
        [*ESTIMATE, "--plot", "x.svg", "--truth", "e.csv"],
        ["e.csv: there is no such file"],
    ),
    "a level": (GOOD, [*ESTIMATE, "--level", "95"], ["level 95.0 is not in (0, 1)"]),
    "semicolons": (b"id;level\n1;a\n2;b\n", APPLY, ["separated by semicolons? Add --delimiter ';'"]),
    "semicolons, released": (b"id;level\n1;a\n2;b\n", ESTIMATE, ["separated by semicolons? Add --delimiter ';'"]),
    "unknown": (b"id,level\n1,a\n2,c\n", APPLY, ["1 of 2 is unknown: 'c'", "--other LABEL"]),
    "blanks": (b"id,level\n1,a\n2,\n", APPLY, ["1 of 2", "--null LABEL"]),
    "a problem file": (
        GOOD,
        ["estimate", "own.toml", *ESTIMATE[2:]],
        ["own.toml: this is a problem file, not a release file; give the folder of its design: rropt solve own.toml"],
    ),
    "a design misspelt": (GOOD, ["apply", "dsgn", *APPLY[2:]], ["no such mechanism; did you mean 'design'?"]),
    "nobody": (GOOD, [*ESTIMATE, "--where", "id=7"], ["d.csv: none of its records has id=7; give a value"]),
}

# (a problem file t.toml, parts of the one line of `rropt solve t.toml`)
PROBLEMS: dict[str, tuple[str, list[str]]] = {
    "blanks": (HEAD + DATA + WANTED + LDP, ["2 rows are blank in 'level'", 'add null = "unknown" to [input]']),
    "misspelt column": (HEAD + DATA.replace("column", "colum") + WANTED, ["unknown key 'colum'; did you mean"]),
    "Parquet": (
        HEAD + DATA.replace("d.csv", "d.parquet") + WANTED,
        ["are read with --data only; write: rropt solve t.toml --data d.parquet --column level"],
    ),
    "CSV": ("id,level\n1,a\n", ["t.toml: this is not TOML", "rropt solve MODEL --data FILE --column NAME"]),
    "maximise": (COUNTS + WANTED.replace("ze", "se") + LDP, ["'maximise' is not a key: write maximize ="]),
    "constraints": (BASE + LDP.replace("constraint", "constraints"), ["did you mean 'constraint'?"]),
    "solver table": (BASE + LDP + "[solver]\ngap = 1\n", ["unknown key 'solver'; did you mean 'solve'?"]),
    "solver": (BASE + LDP + '[solve]\nsolver = "ibm"\n', ["t.toml: solver: 'ibm' is not a solver that is installed"]),
    "method": (BASE + LDP + '[solve]\nmethod = "fast"\n', ["t.toml [solve]: method: 'fast'", "use auto or one of"]),
    "free outputs": (
        BASE + '[[constraint]]\nkind = "approximate_ldp"\nepsilon = 1\ndelta = 0.1\n',
        ["it needs outputs, and they are free here", "outputs = [labels] above [input]"],
    ),
    "data as counts": (HEAD + 'counts_file = "d.csv"\n' + WANTED, ["'id,level'; it must be: category,count"]),
}  # fmt: skip
"""What a problem file itself has wrong is in tests/declare/test_declarations.py."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("own.toml").write_text(OWN, encoding="utf-8")


def said(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """The one line of a command that ends with status 2, writes nothing else and leaves no file."""
    before = sorted(Path().rglob("*"))
    assert cli.main(arguments) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    assert err.startswith("rropt: ")
    assert err.rstrip("\n").isprintable()
    assert re.search(r"; \S|\? \S", err), "it does not say what to do"
    assert sorted(Path().rglob("*")) == before
    return err


@pytest.mark.parametrize("name", FILES)
def test_a_mistake_with_files_and_options(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    content, arguments, parts = FILES[name]
    Path("d.csv").write_bytes(content)
    line = said(arguments, capfd)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize(("each", "is_refused"), [(1, True), (2, False)])
def test_a_column_of_identifiers_is_refused(each: int, is_refused: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """A design for them tells nothing, and has as many outputs as there are people: 32,561 do not end."""
    rows = [f"{person},p{person}" for person in range(24) for _ in range(each)]
    Path("d.csv").write_text("\n".join(["id,level", *rows]) + "\n", encoding="utf-8")
    assert cli.main(SOLVE) == (2 if is_refused else 0)
    told = "d.csv: column 'level' has 24 different values in 24 rows; it looks like an identifier or a measurement"
    assert (told in capfd.readouterr().err) == is_refused


@pytest.mark.parametrize("name", RELEASES)
def test_a_mistake_with_a_release(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    content, arguments, parts = RELEASES[name]
    Path("d.csv").write_bytes(content)
    Path("design").mkdir()
    for place in ("m.json", "design/mechanism.json"):
        rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save(place)
    line = said(arguments, capfd)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_mistake_in_a_problem_file(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    text, parts = PROBLEMS[name]
    Path("d.csv").write_bytes(FILES["blanks"][0])
    Path("t.toml").write_text(text, encoding="utf-8")
    line = said(["solve", "t.toml"], capfd)
    assert all(part in line for part in parts), line


@pytest.mark.parametrize("name", ["d.xlsx", "d.dta", "d.sav", "d.ods", "d.json", "d.jsonl"])
def test_files_of_other_programs(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path(name).write_bytes(b"whatever it holds")
    line = said([*SOLVE[:3], name, *SOLVE[4:]], capfd)
    assert "files are not read; save it as CSV (UTF-8), and give that file; Parquet and Arrow files are read" in line
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    assert "files are not read; save it as CSV" in said(["apply", "m.json", name, "--column", "level"], capfd)


def solved(*arguments: str, capfd: pytest.CaptureFixture[str]) -> str:
    assert cli.main([*arguments, "--out", "o"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    return out


def test_what_the_lines_say_works(capfd: pytest.CaptureFixture[str]) -> None:
    """Blanks, separators and a byte order mark: done as told, the answer is that of the plain file."""
    Path("d.csv").write_bytes(GOOD)
    solved(*SOLVE, capfd=capfd)
    wanted = Path("o/mechanism.json").read_bytes()
    for content, more in (
        (GOOD.replace(b",", b";"), ["--delimiter", ";"]),
        (GOOD.replace(b",", b"\t"), ["--delimiter", "tab"]),
        (b"\xef\xbb\xbf" + GOOD, []),
        (GOOD.replace(b",b", b","), ["--null", "b"]),
    ):
        Path("d.csv").write_bytes(content)
        solved(*SOLVE, *more, capfd=capfd)
        assert Path("o/mechanism.json").read_bytes() == wanted


CHECK = ["check", "o", "--problem", "own.toml", "--data", "d.csv", "--column", "level"]


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (GOOD.replace(b",", b";"), ["--delimiter", ";"]),
        (GOOD.replace(b",", b"\t"), ["--delimiter", "tab"]),
        (GOOD.replace(b",b", b","), ["--null", "b"]),
        (b"id,level\n" + b"1,a\n" * 38 + b"2,b\n" * 21, ["--public-counts", "20"]),
    ],
)
def test_a_certificate_is_checked_with_the_options_of_its_solve(
    content: bytes, more: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """What the line of a failed check says works there too: its options are those of `solve`."""
    Path("d.csv").write_bytes(content)
    solved(*SOLVE, *more, capfd=capfd)
    assert cli.main([*CHECK, *more]) == 0
    assert "OF THIS PROBLEM" in capfd.readouterr().out
    if more[0] == "--public-counts":
        return
    assert cli.main(CHECK) == 2
    assert f"add {more[0]} " in capfd.readouterr().err.lower()


def test_an_option_of_the_data_needs_them_in_check_too(capfd: pytest.CaptureFixture[str]) -> None:
    Path("d.csv").write_bytes(GOOD)
    solved(*SOLVE, capfd=capfd)
    for options, what in (
        (["--null", "b"], "check: --null needs --problem"),
        (["--delimiter", ";"], "check: --delimiter needs --problem"),
        (["--column", "b"], "check: --column needs --problem"),
        (["--problem", "own.toml", "--public-counts", "9"], "check: --public-counts needs --data"),
        (["--problem", "own.toml", "--data", "d.csv"], "check: --data needs --column"),
    ):
        assert cli.main(["check", "o", *options]) == 2
        err = capfd.readouterr().err
        assert what in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("values", [["a", "b", "a"], pa.array(["a", "b", "a"]).dictionary_encode(), ["a", None, "a"]])
def test_solve_reads_parquet(values: object, capfd: pytest.CaptureFixture[str]) -> None:
    Path("d.csv").write_bytes(GOOD)
    solved(*SOLVE, capfd=capfd)
    wanted = Path("o/mechanism.json").read_bytes()
    pq.write_table(pa.table({"level": values, "n": [10, 9, 10]}), "d.parquet")
    shown = solved("solve", "own.toml", "--data", "d.parquet", "--column", "level", "--null", "b", capfd=capfd)
    assert Path("o/mechanism.json").read_bytes() == wanted
    assert "column 'level' of d.parquet" in " ".join(shown.split())
    solved("solve", "own.toml", "--data", "d.parquet", "--column", "n", capfd=capfd)
    assert rr.Mechanism.load("o/mechanism.json").inputs == ("9", "10")


def test_labels_that_differ_by_blanks_only_are_warned_of(capfd: pytest.CaptureFixture[str]) -> None:
    Path("d.csv").write_bytes(b"id,level\n1, a\n2,b\n3,a\n")
    words = " ".join(solved(*SOLVE, capfd=capfd).split())
    assert (
        "the labels ' a' and 'a' differ by blanks only and are counted as two: recode one of them if they are one "
        "answer" in words
    )
    prior = rr.Prior.from_counts({"x y": 1, "x  y": 2, "z": 3})
    (warning,) = rr.Problem(rr.Maximize(rr.Trace(prior)), [rr.LDP(1)]).warnings()
    assert "'x y' and 'x  y'" in warning
    many = {label: 1 for at in range(20) for label in (f"x {at}", f"x  {at}")}
    (warning,) = rr.Problem(rr.Maximize(rr.Trace(rr.Prior.from_counts(many))), [rr.LDP(1)]).warnings()
    assert "'x 0' and 'x  0'; 'x 1' and 'x  1'; 'x 2' and 'x  2' (and 17 more) differ by blanks" in warning


def test_labels_that_differ_by_their_form_in_unicode_only_are_warned_of(capfd: pytest.CaptureFixture[str]) -> None:
    """Composed and decomposed letters look alike everywhere: the escapes of Python show the difference."""
    Path("d.csv").write_text("id,level\n1,caf\u00e9\n2,b\n3,cafe\u0301\n", encoding="utf-8")
    told = r"the labels 'cafe\u0301' and 'caf\xe9' differ by blanks or the form of letters in Unicode"
    assert told in " ".join(solved(*SOLVE, capfd=capfd).split())
    rr.write_report("o", "r.html")
    assert html.escape(told) in Path("r.html").read_text(encoding="utf-8")
    design = rr.RandomizedResponse(["cafe\u0301", "caf\u00e9", "b"], epsilon=1).mechanism
    Path("safe.csv").write_text("level\n" + "caf\u00e9\ncafe\u0301\nb\n" * 9, encoding="utf-8")
    assert any(told in note for note in rr.release.estimate_file("safe.csv", {"level": design}).notes)


@pytest.mark.parametrize(("one", "other"), [("A1", "\u03911"), ("cop", "\u0441\u043ep"), ("\u0415", "E")])
def test_labels_of_letters_that_look_alike_are_warned_of(one: str, other: str) -> None:
    """Latin, Greek and Cyrillic letters: a table, a report and an error show them alike."""
    (warning,) = rr.Problem(rr.Maximize(rr.Trace(rr.Prior.uniform([one, "x", other]))), [rr.LDP(1)]).warnings()
    first = f"the labels {one!a} and {other!a} differ by "
    assert warning.startswith(
        first + "blanks, the form of letters in Unicode or letters of other alphabets that look alike"
    )
    apart = rr.Prior.uniform(["\u0414\u0430", "\u03a9", "Da", "da", "DA"])
    assert rr.Problem(rr.Maximize(rr.Trace(apart)), [rr.LDP(1)]).warnings() == ()


@pytest.mark.parametrize(
    ("label", "value"), [("A", "\u0410"), ("\u0410", "A"), ("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")]
)
def test_a_value_that_looks_like_a_label_is_shown_with_its_escapes(
    label: str, value: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The line said that 'A' is unknown, and that 'A' is known."""
    Path("own.toml").write_text(HEAD + f'counts = {{ "{label}" = 5, "\u0414\u0430" = 3 }}\n' + WANTED + LDP, "utf-8")
    Path("d.csv").write_text(f"level\n{label}\n\u0414\u0430\n{value}\n", encoding="utf-8")
    assert cli.main(SOLVE) == 2
    assert f"column 'level' has 1 undeclared value: {value!a} (declared: {label!a});" in capfd.readouterr().err
    rr.RandomizedResponse([label, "\u0414\u0430"], epsilon=1).to_mechanism().save("m.json")
    assert cli.main(["apply", "m.json", "d.csv", "--column", "level"]) == 2
    assert f"1 of 3 is unknown: {value!a} (known: {label!a}, '\u0414\u0430')" in capfd.readouterr().err
    # Other values are shown as they are.
    Path("d.csv").write_text(f"level\n{label}\n\u041d\u0435\u0442\n", encoding="utf-8")
    assert cli.main(["apply", "m.json", "d.csv", "--column", "level"]) == 2
    assert f"1 of 2 is unknown: '\u041d\u0435\u0442' (known: {label!r}, '\u0414\u0430')" in capfd.readouterr().err


def test_reports_name_the_column_and_the_file(capfd: pytest.CaptureFixture[str]) -> None:
    Path("d.csv").write_bytes(GOOD)
    solved(*SOLVE, capfd=capfd)
    report = rr.write_report("o", "r.html")
    assert report.title == "column 'level' of d.csv"
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<h1>column &#x27;level&#x27; of d.csv</h1>" in page
    assert "counted from 3 people in column &#x27;level&#x27; of d.csv" in page


def test_what_is_guaranteed_is_said_first(capfd: pytest.CaptureFixture[str]) -> None:
    """Robust LDP at epsilon 1 has a matrix of plain epsilon 36: the guarantee comes first, everywhere."""
    pairs = HEAD + 'sensitive = ["s", "t"]\nother = ["u", "v"]\ncounts = [[35, 65], [10, 90]]\n'
    robust = LDP.replace("ldp", "rldp") + 'confidence = "counts"\nform = "exact"\n'
    Path("t.toml").write_text(pairs + WANTED + robust, encoding="utf-8")
    named = "(s, u 17.5 %; s, v 32.5 %; t, u 5 %; t, v 45 %)"
    guarantee = (
        f"robust LDP (epsilon 1) over the confidence set of 200 counted records {named}, up to chi-square "
        "distance 0.0390736; plain LDP (epsilon "
    )
    assert guarantee in " ".join(solved("solve", "t.toml", capfd=capfd).split())
    assert f'"guarantee": "{guarantee}' in Path("o/solution.json").read_text(encoding="utf-8")
    assert f'"guarantee": "{guarantee}' in solved("solve", "t.toml", "--json", capfd=capfd)
    rr.write_report("o", "r.html")
    page = Path("r.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert f"It guarantees: {guarantee}" in page


def test_the_help_of_method_names_them_all(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["solve", "--help"]) == 0
    words = re.findall(r"[a-z_]+", capfd.readouterr().out)
    assert {method.name for method in METHODS} <= set(words)


@pytest.mark.parametrize("arguments", [[], ["models"]])
def test_a_bare_command_prints_its_help(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 0
    out, err = capfd.readouterr()
    assert out.startswith("Usage: rropt")
    assert err == ""


def test_who_asks_for_a_compiler_says_for_what(checkout: Path) -> None:
    """The package has nothing to compile; one that it needs has, where there is no wheel of it."""
    assert not [path for path in (checkout / "rropt").rglob("*") if path.suffix in (".c", ".cpp", ".h", ".pyx")]
    for name in ("README.md", "Makefile", "CONTRIBUTING.md"):
        for block in re.split(r"\n\s*\n", (checkout / name).read_text(encoding="utf-8")):
            assert not re.search(r"C compiler|\bgcc\b", block) or "pycddlib-standalone" in block
