"""From a CSV file to estimates by the command line, and everything that can be wrong with the file on the way."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import tracemalloc
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import forked
import numpy as np
import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.io import count_records as microdata
from rropt.io.count_records import count_records
from rropt.release.picture import estimate_svg
from rropt.release.synthetic import insecure_synthetic_records

pytest.importorskip("pyarrow")
pytest.importorskip("narwhals")

PROBLEM = """
schema = 1
[input]
data_file = "people.csv"
column = "level"
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "ldp"
epsilon = 2
[[constraint]]
kind = "uniform_off_diagonal"
"""
OWN = PROBLEM.replace('[input]\ndata_file = "people.csv"\ncolumn = "level"\n', "")
"""Without [input]: its inputs are the values of the data."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(OWN, encoding="utf-8")


def respondents(counts: dict[str, int], name: str = "people.csv", delimiter: str = ",") -> Path:
    rows = [(f"p{at}", label) for at, label in enumerate(label for label, n in counts.items() for _ in range(n))]
    with open(name, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerows([("id", "level"), *rows])
    return Path(name)


# -- counting a column -------------------------------------------------------------------------------------


def test_a_column_is_counted_whatever_its_text() -> None:
    odd = {"plain": 3, 'with "quotes", commas': 2, "two\nlines": 4, " space": 1, "ünï": 2}
    assert count_records(respondents(odd), ["level"]) == {(label,): odd[label] for label in sorted(odd)}
    assert count_records(respondents(odd, "t.tsv", "\t"), ["level"]) == count_records("people.csv", ["level"])
    assert rr.Prior.from_csv(respondents(odd, "s.csv", ";"), column="level", delimiter=";").labels == tuple(sorted(odd))


def test_numbers_are_sorted_by_size_before_text() -> None:
    found = count_records(respondents(dict.fromkeys(["10", "9", "-2", "b", "a", "010"], 1)), ["level"])
    assert [label for (label,) in found] == ["-2", "9", "10", "010", "a", "b"]


def test_missing_values_are_an_error_or_a_declared_label() -> None:
    respondents({"a": 2, "": 3, "b": 1})
    with pytest.raises(InputError, match=r"3 rows are blank in 'level'; .*null='unknown'"):
        count_records("people.csv", ["level"])
    assert count_records("people.csv", ["level"], null="?") == {("?",): 3, ("a",): 2, ("b",): 1}
    Path("one.csv").write_text("level\na\n\nb\n", encoding="utf-8")
    assert count_records("one.csv", ["level"], null="b") == {("a",): 1, ("b",): 2}


def test_memory_does_not_grow_with_the_file() -> None:
    respondents({"a": 2000, "b": 2000})
    line = Path("people.csv").read_bytes().partition(b"\n")[2]
    with open("large.csv", "wb") as stream:
        stream.write(b"id,level\n")
        for _ in range(20):
            stream.write(line)
    peaks = []
    for name in ("people.csv", "large.csv"):
        tracemalloc.start()
        count_records(name, ["level"])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert Path("large.csv").stat().st_size > 600_000
    assert peaks[1] < peaks[0] + 50_000


def bad_data() -> dict[str, tuple[Any, str]]:
    def text(content: bytes) -> Any:
        return lambda: Path("people.csv").write_bytes(content)

    return {
        "no file": (lambda: None, "cannot read this data file (No such file"),
        "a folder": (lambda: Path("people.csv").mkdir(), "cannot read this data file (Is a directory)"),
        "empty": (text(b""), "it is empty; give a header"),
        "no records": (text(b"id,level\n"), "it has no records"),
        "no such column": (text(b"id,stage\n1,a\n"), "there is no column 'level'; its columns are 'id', 'stage'"),
        "a column twice": (text(b"level,level\n1,a\n"), "2 columns are named 'level'"),
        "cut in a line": (text(b"id,level\n1,a\n2\n"), "line 3 has 1 value, the header 2; is the file cut short"),
        "cut in quotes": (
            text(b'id,level\n1,a\n2,"b'),
            "after line 3 (unexpected end of data); is the file cut short?",
        ),
        "a line too long": (text(b"id,level\n1,a,b\n"), "line 2 has 3 values"),
        "other delimiter": (text(b"id;level\n1;a\n"), "is it separated by semicolons? "),
        "not UTF-8": (text(b"id,level\n1,\xff\n"), "not UTF-8"),
        "packed": (lambda: Path("people.csv").write_bytes(gzip.compress(b"id,level\n1,a\n")), "packed by gzip; unpack"),
        "missing values": (text(b"id,level\n1,\n2,a\n"), "1 row is blank in 'level'"),
        "one value": (text(b"id,level\n1,a\n2,a\n"), "column 'level' has one value only"),
    }


@pytest.mark.parametrize("name", bad_data())
@pytest.mark.parametrize("way", ["option", "file"])
def test_bad_data_end_in_one_line_and_status_2(name: str, way: str, capfd: pytest.CaptureFixture[str]) -> None:
    make, what = bad_data()[name]
    make()
    Path("problem.toml").write_text(PROBLEM, encoding="utf-8")
    before = sorted(Path().rglob("*"))
    given = ["adult-pram", "--data", "people.csv", "--column", "level"] if way == "option" else ["problem.toml"]
    assert cli.main(["solve", *given, "--out", "design"]) == 2
    out, err = capfd.readouterr()
    assert what in err
    assert (err.count("\n"), out) == (1, "")
    assert sorted(Path().rglob("*")) == before


def test_identifiers_are_no_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microdata, "MOST_VALUES", 5)
    with pytest.raises(InputError, match=r"more than 5 different values.*identifier"):
        count_records(respondents({"a": 6}), ["id"])


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('column = "level"\n', "", "data_file needs a column"),
        ('column = "level"', "column = 3", "data_file needs a column"),
        (
            'column = "level"',
            'column = "level"\ncategories = ["a", "b"]',
            "categories is given together with data_file",
        ),
        ('column = "level"', 'column = "level"\npairs = ["a", "b"]', "pairs is given together with data_file"),
        ('column = "level"', 'column = "level"\ndelimiter = "ab"', "delimiter 'ab' is not one plain character"),
        ('data_file = "people.csv"', "uniform = 3", "column is given together with uniform; it needs data_file"),
        ('column = "level"', 'column = "level"\nuniform = 3', "data_file and uniform are both given"),
    ],
)
def test_bad_words_of_problem_files(old: str, new: str, what: str) -> None:
    respondents({"a": 2, "b": 3})
    Path("problem.toml").write_text(PROBLEM.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=what):
        rr.load_problem("problem.toml")


def test_a_column_of_a_problem_file() -> None:
    respondents({"a": 2, "b": 3, "": 1})
    text = PROBLEM.replace('column = "level"', 'column = "level"\nnull = "none"')
    Path("problem.toml").write_text(text, encoding="utf-8")
    prior = rr.load_problem("problem.toml").objective.prior
    assert (prior.labels, prior.weights) == (("a", "b", "none"), (2, 3, 1))
    # Written again it holds the counts, and needs the file no more.
    again = rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(rr.load_problem("problem.toml")))
    assert again.objective.prior == prior


# -- the workflow ------------------------------------------------------------------------------------------


def test_solve_apply_estimate(capfd: pytest.CaptureFixture[str]) -> None:
    counts = {"low": 4000, "middle": 2500, "high": 1500}
    respondents(counts)
    solve = ["solve", "own.toml", "--data", "people.csv", "--column", "level", "--out", "design"]
    assert cli.main(solve) == 0
    assert cli.main(["check", "design/certificate.json"]) == 0
    assert (
        cli.main(["apply", "design", "people.csv", "--column", "level", "-o", "protected.csv", "--unidentified"]) == 0
    )
    capfd.readouterr()
    estimate = ["estimate", "design", "protected.csv", "--column", "level", "--truth", "people.csv"]
    assert cli.main([*estimate, "--plot", "level.svg", "--json"]) == 0
    out, err = capfd.readouterr()
    assert err == "wrote level.svg\n"
    found = json.loads(out)
    assert found["categories"] == ["high", "low", "middle"]
    truth = np.array([counts[label] for label in found["categories"]]) / 8000
    # Six standard errors: it fails once in 10^8 runs.
    assert (np.abs(np.array(found["estimate"]) - truth) < 6 * np.array(found["standard_error"])).all()
    picture = ET.parse("level.svg").getroot()
    assert len(picture.findall("{http://www.w3.org/2000/svg}circle")) == 3 + 1
    # A second draw is refused.
    assert cli.main(["apply", "design", "people.csv", "--column", "level", "-o", "again.csv"]) == 2


def test_a_design_that_identifies_nothing_is_cured(capfd: pytest.CaptureFixture[str]) -> None:
    """One category of 85 %, as race in the Adult data: the best answers all others alike, but for rounding."""
    respondents({"a": 8500, "b": 950, "c": 300, "d": 100, "e": 150})
    solve = ["solve", "own.toml", "--data", "people.csv", "--column", "level", "--out", "design"]
    assert cli.main(solve) == 0
    assert "this mechanism does not identify the frequencies" in " ".join(capfd.readouterr().out.split())
    respondents({"a": 85, "b": 15}, "some.csv")
    apply = ["--column", "level", "-o", "protected.csv"]
    assert cli.main(["apply", "design", "some.csv", *apply]) == 2
    assert "--unidentified" in capfd.readouterr().err
    assert cli.main(["apply", "design", "some.csv", *apply, "--unidentified"]) == 0
    assert cli.main(["estimate", "design", "protected.csv", "--column", "level"]) == 2
    err = capfd.readouterr().err
    assert "do not distinguish the frequencies" in err
    assert "rropt identify" in err
    assert cli.main(["identify", "design", "-o", "design/cured.json"]) == 2
    assert "certificate.json of another mechanism" in capfd.readouterr().err
    assert cli.main(["identify", "design", "--share", "0.2", "-o", "cured/mechanism.json"]) == 0
    assert "5 independent outputs (before 2) for 5 inputs" in capfd.readouterr().out
    cured, given = (rr.Mechanism.load(f"{name}/mechanism.json") for name in ("cured", "design"))
    assert cured.privacy_ratio <= given.privacy_ratio
    assert cli.main(["apply", "cured", "people.csv", "--column", "level", "-o", "cured.csv"]) == 0
    assert cli.main(["estimate", "cured", "cured.csv", "--column", "level"]) == 0


def test_the_picture_places_what_it_shows() -> None:
    mechanism = rr.RandomizedResponse(["<a>", "b"], epsilon=1)
    found = mechanism.estimate([600, 400])
    root = ET.fromstring(estimate_svg(found, 0.9, [0.6, 0.4], "x & y"))
    tag = "{http://www.w3.org/2000/svg}"
    texts = [one.text for one in root.iter(f"{tag}text")]
    assert "<a>" in texts
    assert any("90 % interval; n = 1,000" in text for text in texts)
    # The scale, read off the ticks, gives the estimate back.
    ticks = [
        (float(one.get("x")), float(one.text[:-2]) / 100) for one in root.iter(f"{tag}text") if one.text[-1] == "%"
    ]
    (x0, v0), (x1, v1) = ticks[0], ticks[-1]
    dots = [float(one.get("cx")) for one in root.iter(f"{tag}circle")][:2]
    values = [v0 + (x - x0) / (x1 - x0) * (v1 - v0) for x in dots]
    assert values == pytest.approx(found.values.tolist(), abs=2e-3)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["solve", "adult-pram", "--data", "people.csv"], "--data needs --column"),
        (["solve", "adult-pram", "--column", "level"], "--column needs --data"),
        (["models", "records", "none", "-o", "x.csv"], "none"),
        (["models", "records", "adult-pram", "-o", "people.csv"], "this file exists already"),
        (["models", "records", "adult-pram", "-o", "x.csv", "--count", "0"], "it is 0, which is not an integer from 1"),
    ],
)
def test_bad_commands(arguments: list[str], what: str, capfd: pytest.CaptureFixture[str]) -> None:
    respondents({"a": 2, "b": 3})
    assert cli.main(arguments) == 2
    err = capfd.readouterr().err
    assert what in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == ["own.toml", "people.csv"]


FORMS = ("z\u00fcrich", "zu\u0308rich")
"""One word in two forms of Unicode, which look alike."""


@pytest.mark.parametrize(("known", "given"), [FORMS, FORMS[::-1]])
def test_another_form_of_the_same_letters_is_said(known: str, given: str, capfd: pytest.CaptureFixture[str]) -> None:
    """'zürich' was unknown, and known was 'zürich'."""
    said = f"{given!a} has the letters of {known!a} in another Unicode form: normalise both to NFC"
    mechanism = rr.RandomizedResponse([known, "b"], epsilon=1).to_mechanism()
    mechanism.save("m.json")
    respondents({given: 3, "b": 2})
    assert cli.main(["apply", "m.json", "people.csv", "--column", "level", "-o", "o.csv"]) == 2
    assert said in capfd.readouterr().err
    assert cli.main(["estimate", "m.json", "people.csv", "--column", "level"]) == 2
    assert said in capfd.readouterr().err
    for call in (
        lambda: mechanism.randomize([given, "b"]),
        lambda: mechanism.randomize(np.array([given, "b"])),
        lambda: mechanism.estimate({given: 3, "b": 2}),
        lambda: rr.audit(mechanism, prior=rr.Prior.from_counts({given: 1, "b": 1})),
    ):
        with pytest.raises(rr.InputError) as caught:
            call()
        assert "in another Unicode form: normalise both to NFC" in str(caught.value)
    with pytest.raises(rr.InputError) as plain:
        mechanism.randomize(["c", None, 3])
    assert "Unicode" not in str(plain.value)


def test_a_column_in_another_form_of_the_same_letters_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    Path("people.csv").write_text(f"{FORMS[0]}\na\nb\n", encoding="utf-8")
    assert cli.main(["apply", "m.json", "people.csv", "--column", FORMS[1], "-o", "o.csv"]) == 2
    assert "in another Unicode form" in capfd.readouterr().err


def test_truth_that_does_not_fit(capfd: pytest.CaptureFixture[str]) -> None:
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    respondents({"a": 5, "b": 5}, "protected.csv")
    respondents({"a": 5, "c": 5})
    command = ["estimate", "m.json", "protected.csv", "--column", "level", "--plot", "x.svg", "--truth", "people.csv"]
    assert cli.main(command) == 2
    assert "5 of 10 are unknown: 'c' (5 times)" in capfd.readouterr().err
    assert not Path("x.svg").exists()


RENAMED = """schema = 1
data = "people.csv"
output = "out.csv"
[[column]]
name = "level"
mechanism = "m.json"
as = "level_r"
[[column]]
names = ["s", "u"]
mechanism = "joint.json"
as = "both"
"""


def test_the_truth_of_a_renamed_column_has_its_original_name(capfd: pytest.CaptureFixture[str]) -> None:
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    pairs = rr.Pairs(["s", "t"], ["u", "v"])
    rr.RandomizedResponse(list(pairs.labels), epsilon=1).to_mechanism().save("joint.json")
    Path("people.csv").write_text("level,s,u\n" + "a,s,u\nb,t,v\nb,t,u\n" * 40, encoding="utf-8")
    Path("rel.toml").write_text(RENAMED, encoding="utf-8")
    assert cli.main(["apply", "rel.toml"]) == 0
    for column, truth in (("level_r", "people.csv"), ("both", "people.csv"), ("level_r", "renamed.csv")):
        Path("renamed.csv").write_text("level_r\n" + "a\nb\nb\n" * 40, encoding="utf-8")
        command = ["estimate", "rel.toml", "out.csv", "--column", column, "--truth", truth, "--plot", "p.svg"]
        assert cli.main(command) == 0, capfd.readouterr().err
        assert f"{column}: estimated and true frequencies" in Path("p.svg").read_text(encoding="utf-8")
    Path("other.csv").write_text("x\na\n", encoding="utf-8")
    command = ["estimate", "rel.toml", "out.csv", "--column", "level_r", "--truth", "other.csv", "--plot", "q.svg"]
    assert cli.main(command) == 2
    assert "there is no column 'level'" in capfd.readouterr().err
    assert not Path("q.svg").exists()


def drawn_truth(picture: str = "p.svg") -> list[float]:
    """The true frequencies that a picture shows, read off its scale; the last cross is that of the legend."""
    text = Path(picture).read_text(encoding="utf-8")
    ticks = [(float(x), float(value) / 100) for x, value in re.findall(r'<text x="([^"]*)"[^>]*>([-0-9.]+) %<', text)]
    (x0, v0), (x1, v1) = ticks[0], ticks[-1]
    crosses = [float(x) + 4 for x in re.findall(r"M([0-9.]+),[0-9.]+ l8,8", text)][:-1]
    return [v0 + (x - x0) / (x1 - x0) * (v1 - v0) for x in crosses]


def estimated(made_by: str, column: str, *more: str, truth: str = "people.csv") -> int:
    return cli.main(["estimate", made_by, "out.csv", "--column", column, *more, "--truth", truth, "--plot", "p.svg"])


STRATA = """schema = 1
data = "people.csv"
output = "out.csv"
[[column]]
name = "level"
by = "region"
mechanisms = { north = "north.json", south = "south.json" }
null = { level = "b", region = "south" }
as = "level_r"
"""


def test_the_truth_is_that_of_the_part_that_is_estimated(capfd: pytest.CaptureFixture[str]) -> None:
    for name, epsilon in (("north", 1), ("south", 2)):
        rr.RandomizedResponse(["a", "b"], epsilon=epsilon).to_mechanism().save(f"{name}.json")
    parts = {"north,a": 90, "north,": 30, "south,a": 20, ",b": 20, "south,b": 10}
    lines = [line for line, count in parts.items() for _ in range(count)]
    Path("people.csv").write_text("\n".join(["region,level", *lines, ""]), encoding="utf-8")
    Path("rel.toml").write_text(STRATA, encoding="utf-8")
    assert cli.main(["apply", "rel.toml"]) == 0
    # The strata as the release read them, by its file or by its manifest.
    for made_by, region, share in (
        ("rel.toml", "north", 0.75),
        ("rel.toml", "south", 0.4),
        ("south.json", "south", 0.4),
    ):
        assert estimated(made_by, "level_r", "--where", f"region={region}") == 0, capfd.readouterr().err
        assert drawn_truth() == pytest.approx([share, 1 - share], abs=2e-3)
        assert f"level_r: estimated and true frequencies of region={region}" in Path("p.svg").read_text("utf-8")
    assert estimated("rel.toml", "level_r") == 0
    assert drawn_truth() == pytest.approx([110 / 170, 60 / 170], abs=2e-3)


def test_the_truth_of_the_records_with_a_value(capfd: pytest.CaptureFixture[str]) -> None:
    both = rr.RandomizedResponse(["a", "b"], epsilon=2).to_mechanism()
    both.save("m.json")
    Path("people.csv").write_text("region,level,sex\n" + "n,a,a\nn,a,a\nn,b,a\ns,b,b\n" * 50, encoding="utf-8")
    plan = rr.release.Release([rr.release.ProtectedColumn(name, both) for name in ("level", "sex")])
    rr.release.release_file("people.csv", plan, "out.csv")
    assert estimated("m.json", "level", "--where", "region=n") == 0
    assert drawn_truth() == pytest.approx([2 / 3, 1 / 3], abs=2e-3)
    # Who was released as sex=a cannot be known from the data.
    assert estimated("m.json", "level", "--where", "sex=a") == 2
    assert (
        "'sex' was randomised: the original data do not show which records were released as sex=a"
        in capfd.readouterr().err
    )
    assert estimated("m.json", "level", "--where", "region=n", truth="none.csv") == 2
    Path("south.csv").write_text("region,level\ns,a\n", encoding="utf-8")
    assert estimated("m.json", "level", "--where", "region=n", truth="south.csv") == 2
    assert "none of its records has region=n" in capfd.readouterr().err


def test_the_truth_counts_missing_and_unknown_values_as_the_release_did(capfd: pytest.CaptureFixture[str]) -> None:
    mechanism = rr.RandomizedResponse(["a", "b", "none"], epsilon=1).to_mechanism()
    mechanism.save("m.json")
    Path("people.csv").write_text("id,level\n" + "1,a\n2,b\n3,\n4,a\n5,c\n" * 20, encoding="utf-8")
    options = ["--null", "none", "--other", "b", "--as", "level_r", "-o", "out.csv"]
    assert cli.main(["apply", "m.json", "people.csv", "--column", "level", *options]) == 0
    assert estimated("m.json", "level_r") == 0, capfd.readouterr().err
    assert drawn_truth() == pytest.approx([0.4, 0.4, 0.2], abs=2e-3)
    # A file of true values may have the names of the release.
    Path("renamed.csv").write_text(Path("people.csv").read_text().replace("level", "level_r"), encoding="utf-8")
    assert estimated("m.json", "level_r", truth="renamed.csv") == 0, capfd.readouterr().err
    assert drawn_truth() == pytest.approx([0.4, 0.4, 0.2], abs=2e-3)
    Path("out.csv.manifest.json").unlink()
    assert estimated("m.json", "level_r", truth="renamed.csv") == 2
    err = capfd.readouterr().err
    assert "40 of 100 are unknown" in err
    assert "give the data before they were released; if the release replaced such values (null, other)" in err


def test_the_truth_keeps_its_apostrophes() -> None:
    rr.RandomizedResponse(["'=1+1", "=1+1", "a"], epsilon=1).to_mechanism().save("m.json")
    Path("people.csv").write_text("id,level\n" + "1,'=1+1\n2,=1+1\n3,=1+1\n4,a\n" * 30, encoding="utf-8")
    assert cli.main(["apply", "m.json", "people.csv", "--column", "level", "-o", "out.csv"]) == 0
    assert estimated("m.json", "level") == 0
    assert drawn_truth() == pytest.approx([0.25, 0.5, 0.25], abs=2e-3)


# -- synthetic records --------------------------------------------------------------------------------------


def test_synthetic_people_are_the_same_for_a_seed_and_follow_the_prior() -> None:
    prior = rr.Prior.from_counts({"a": 5, "b, c": 3, "never": 0})
    text = "".join(insecure_synthetic_records(prior, 80_000, 1, "level"))
    assert text == "".join(insecure_synthetic_records(prior, 80_000, 1, "level"))
    assert text != "".join(insecure_synthetic_records(prior, 80_000, 2, "level"))
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["person", "level"]
    assert [row[0] for row in rows[1:]] == [str(at) for at in range(1, 80_001)]
    found = Counter(row[1] for row in rows[1:])
    assert set(found) == {"a", "b, c"}
    assert abs(found["a"] - 50_000) < 5 * (80_000 * 15 / 64) ** 0.5


def test_the_command_draws_as_many_as_were_counted(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "records", "adult-pram", "--column", "education", "-o", "p.csv"]) == 0
    assert "32,561 synthetic records" in capfd.readouterr().out
    assert sum(count_records("p.csv", ["education"]).values()) == 32_561


# -- a disk that fills up ----------------------------------------------------------------------------------

FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from rropt import __main__ as cli
sys.exit(cli.main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk_while_a_solution_is_written() -> None:
    respondents({"a": 300, "b": 200, "c": 100})
    command = ["solve", "own.toml", "--data", "people.csv", "--column", "level", "--out", "design"]
    done = forked.run(FULL, 300, *command)
    assert done.returncode == 2
    assert "cannot write (File too large)" in done.stderr
    assert all(path.stat().st_size <= 300 and not path.name.startswith(".") for path in Path("design").glob("*"))


@pytest.mark.skipif(sys.platform == "win32", reason="a folder cannot be locked there")
def test_two_solves_into_one_folder_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    """Mechanism and certificate could be those of two problems."""
    from rropt.io.files import held_folder

    respondents({"a": 300, "b": 200, "c": 100})
    command = ["solve", "own.toml", "--data", "people.csv", "--column", "level", "--out", "design"]
    with held_folder(Path("design")):
        assert cli.main(command) == 2
        assert "design: another process writes its results here" in capfd.readouterr().err
        assert list(Path("design").iterdir()) == []
    assert not Path("design").exists()
    assert cli.main(command) == 0
    assert Path("design/certificate.json").exists()


def test_packed_files_are_refused_by_releases(capfd: pytest.CaptureFixture[str]) -> None:
    rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism().save("m.json")
    for name in ("p.csv.gz", "p.csv"):
        Path(name).write_bytes(gzip.compress(b"level\na\n"))
        assert cli.main(["apply", "m.json", name, "--column", "level"]) == 2
        err = capfd.readouterr().err
        assert "it is packed by gzip; unpack it first, as by gunzip" in err
        assert err.count("\n") == 1
