"""Data that do not fit their release: refused in one line with the way to go on, or said on the error stream."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.model.identification import risk_excess

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

INCOME = rr.RandomizedResponse(["low", "high"], epsilon=1).to_mechanism()


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    INCOME.save("m.json")


def respondents(*income: str) -> None:
    lines = [f"{value},{'north' if at % 2 else 'south'}" for at, value in enumerate(income)]
    Path("d.csv").write_text("\n".join(["income,region", *lines, ""]), encoding="utf-8")


def apply(*options: str) -> int:
    return cli.main(["apply", "m.json", "d.csv", "-o", "o.csv", *options])


def test_what_is_replaced_is_counted_on_the_error_stream(capsys: pytest.CaptureFixture[str]) -> None:
    respondents(*["low"] * 20, *["rich"] * 7, *[""] * 3)
    assert apply("--column", "income", "--null", "low", "--other", "high", "--json") == 0
    out, err = capsys.readouterr()
    assert "7 of 30 values of column 'income' are unknown and count as 'high'" in err
    assert "3 of 30 values of column 'income' are missing and count as 'low'" in err
    # How many values are missing is not known to the users of a release.
    assert "7 of 30" not in out + Path("o.csv.manifest.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("income", "options", "what"),
    [
        (["low"] * 30, ["--column", "region", "--other", "low"], "30 of 30 values of column 'region' are unknown"),
        (["low", "poor", *["rich"] * 28], ["--column", "income", "--other", "low"], "29 of 30 values"),
        ([""] * 30, ["--column", "income", "--null", "low"], "30 of 30 values of column 'income' are missing"),
        (
            ["low", *["rich"] * 10, *[""] * 19],
            ["--column", "income", "--null", "low", "--other", "high"],
            "10 of 30 values of column 'income' are unknown",
        ),
    ],
)
def test_a_column_of_other_values_is_refused(
    income: list[str], options: list[str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    respondents(*income)
    before = sorted(Path().iterdir())
    assert apply(*options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert what in err
    assert "--force" in err
    assert [one for one in Path().iterdir() if not one.name.startswith("d.csv.accountant")] == before
    assert apply(*options, "--force") == 0
    assert f"warning: {what}" in capsys.readouterr().err


def test_a_column_of_strata_with_one_label() -> None:
    respondents(*["low", "high"] * 5)
    plan = rr.release.ProtectedColumn("income", {"north": INCOME}, by="region", other={"region": "north"})
    seen: list[str] = []
    rr.release.release_file("d.csv", plan, warn=seen.append)
    assert "5 of 10 values of column 'region' are unknown and count as 'north'" in seen


def test_a_column_that_is_mostly_missing_is_released(capsys: pytest.CaptureFixture[str]) -> None:
    respondents("low", *[""] * 29)
    assert apply("--column", "income", "--null", "high") == 0
    assert "29 of 30 values of column 'income' are missing and count as 'high'" in capsys.readouterr().err


# -- a file that is a release itself ---------------------------------------------------------------------


def test_a_column_that_was_randomised_is_not_randomised_again(capsys: pytest.CaptureFixture[str]) -> None:
    respondents(*["low", "high"] * 40)
    assert apply("--column", "income") == 0
    again = ["apply", "m.json", "o.csv", "--column", "income", "-o", "p.csv"]
    capsys.readouterr()
    assert cli.main(again) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "o.csv: 'income' is randomised already, according to o.csv.manifest.json" in err
    assert "--force" in err
    assert not Path("p.csv").exists()
    # Who goes on is told, and so is every reader of the second release.
    assert cli.main([*again, "--force"]) == 0
    assert "warning: 'income' is randomised already" in capsys.readouterr().err
    assert cli.main(["estimate", "m.json", "p.csv", "--column", "income"]) == 0
    assert (
        "'income' was randomised before: these are frequencies of o.csv, not of the original records"
        in capsys.readouterr().err
    )
    assert cli.main(["estimate", "m.json", "o.csv", "--column", "income"]) == 0
    assert "randomised before" not in capsys.readouterr().err


def test_another_column_of_a_release_is_randomised() -> None:
    respondents(*["low", "high"] * 40)
    assert apply("--column", "income") == 0
    region = rr.RandomizedResponse(["north", "south"], epsilon=1)
    rr.release.release_file("o.csv", rr.release.ProtectedColumn("region", region), "p.csv", warn=print)
    # A column under a name of its own is found by that name.
    rr.release.release_file("d.csv", rr.release.ProtectedColumn("region", region, name="area"), "q.csv", force=True)
    with pytest.raises(rr.InputError, match="'area' is randomised already"):
        rr.release.release_file("q.csv", rr.release.ProtectedColumn("area", region), "r.csv")


# -- the identification risk, which depends on the counts of the data --------------------------------------

COUNTS = {"a": 2, "b": 40, "c": 25}


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> str:
    rules = [rr.IdentificationRisk(COUNTS, "0.15"), rr.Invariant(COUNTS)]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(COUNTS))), rules).solve()
    place = tmp_path_factory.mktemp("design")
    cli.write_results(solution, place)
    return str(place)


def records(counts: dict[str, int]) -> None:
    Path("x.csv").write_text("\n".join(["g", *(name for name in counts for _ in range(counts[name])), ""]))


@pytest.mark.parametrize(
    ("counts", "what"),
    [
        ({"a": 1, "b": 5, "c": 3}, "'a' of column 'g' is identified with probability 0.642"),
        # No category had few records of its own but one: the others are guaranteed too.
        ({"b": 5, "c": 30}, "'b' of column 'g' is identified with probability 0.2"),
    ],
)
def test_a_guaranteed_risk_that_does_not_hold_for_the_data_is_refused(
    design: str, counts: dict[str, int], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    records(counts)
    arguments = ["apply", design, "x.csv", "--column", "g", "-o", "y.csv"]
    assert cli.main(arguments) == 2
    err = capsys.readouterr().err
    assert what in err
    assert err.count("\n") == 1
    assert "above the 0.15 that its design guarantees for counts of 67 records" in err
    assert not Path("y.csv").exists()
    assert cli.main([*arguments, "--force", "--json"]) == 0
    out, err = capsys.readouterr()
    assert f"warning: {what}" in err
    (column,) = json.loads(out)["columns"]
    assert "identification risk (at most 0.15) for counts of 67 records" in column["guarantee"]
    # The risk is of the true values.
    assert "probability" not in out


@pytest.mark.parametrize("counts", [COUNTS, {"a": 0, "b": 80, "c": 50}, {"a": 7, "b": 9, "c": 8}])
def test_a_guaranteed_risk_that_holds_is_released_without_a_word(
    design: str, counts: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    records(counts)
    assert cli.main(["apply", design, "x.csv", "--column", "g", "-o", "y.csv"]) == 0
    assert "identified" not in capsys.readouterr().err


def test_each_stratum_has_its_own_counts(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{name},north" for name, count in COUNTS.items() for _ in range(count)]
    Path("x.csv").write_text("\n".join(["g,region", *lines, "a,south", *["b,south"] * 9, ""]))
    both = rr.release.load_design(design)
    plan = rr.release.ProtectedColumn("g", {"north": both, "south": both}, by="region")
    with pytest.raises(rr.InputError, match="'a' of column 'g', stratum 'south', is identified with probability"):
        rr.release.release_file("x.csv", plan)


# -- a folder, whose files are releases of their own -------------------------------------------------------


def parts(**files: dict[str, list[str]]) -> None:
    """The folder `d` with a table in each of its files."""
    Path("d").mkdir()
    for name, table in files.items():
        pq.write_table(pa.table(table), f"d/{name}.parquet")


def test_cautions_of_a_folder_are_shown_with_their_files(capsys: pytest.CaptureFixture[str]) -> None:
    """They were in the notes of --json only."""
    income = ["low", "high"] * 20
    copied, fine = ({"income": one, "same": one} for one in (income, income[1:])), ["x", "x", "y", "y"] * 10
    parts(january=next(copied), february=next(copied), march={"income": income, "same": fine})
    command = ["apply", "m.json", "d", "--column", "income"]
    assert cli.main(command) == 0
    out, err = capsys.readouterr()
    what = "'same' is released unchanged and is a copy of 'income': drop it"
    assert err.splitlines() == [f"rropt: warning: february.parquet, january.parquet: {what}"]
    assert "3 files: 3 released" in out
    assert cli.main([*command, "--json"]) == 0
    again = capsys.readouterr()
    assert again.err == "", "nothing was drawn"
    assert [one["cautions"] for one in json.loads(again.out)["files"]] == [[], [], []]


def test_a_folder_has_its_cautions_by_text() -> None:
    names = [f"part{at:02}" for at in range(12)]
    parts(
        **{
            name: {"income": ["low", *["rich"] * (at % 2), "high"], "k": [name] * (2 + at % 2)}
            for at, name in enumerate(names)
        }
    )
    plan = rr.release.ProtectedColumn("income", INCOME, other="low")
    made = rr.release.release_folder("d", plan)
    assert made.cautions == {
        "1 of 3 values of column 'income' is unknown and counts as 'low'": tuple(
            f"{one}.parquet" for one in names[1::2]
        )
    }
    assert made.to_dict()["files"][1]["cautions"] == list(made.cautions)


def test_many_cautions_of_a_folder_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    parts(**{f"p{at:02}": {"income": ["low"] * (at + 20) + ["rich"]} for at in range(12)})
    assert cli.main(["apply", "m.json", "d", "--column", "income", "--other", "low"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 9
    assert lines[-1] == "rropt: warning: 4 more cautions: --json has all, with their files"


@pytest.mark.parametrize("split", [({"a": 1, "b": 5, "c": 3}, {"a": 1, "b": 35, "c": 22}), (COUNTS,)])
def test_a_guaranteed_risk_is_judged_file_by_file(design: str, split: tuple[dict[str, int], ...]) -> None:
    """Who knows the file of a record finds it among those of that file, even if the folder has those counts."""
    parts(**{f"p{at}": {"g": [x for x in one for _ in range(one[x])]} for at, one in enumerate(split)})
    made = rr.release.release_folder("d", rr.release.ProtectedColumn("g", rr.release.load_design(design)))
    assert ["identified with probability" in one.note for one in made.refused] == [True] * (2 * len(split) - 2)


def test_what_holds_in_each_file_holds_in_the_folder(design: str) -> None:
    """More records of any category lower the risk of all: what is guaranteed need not be counted over the files."""
    mechanism = rr.release.load_design(design).mechanism
    draw = np.random.default_rng(4)
    for _ in range(200):
        one, other = draw.integers(0, 7, size=(2, 3)).tolist()
        for c in (c for c in range(3) if one[c]):
            both = [a + b for a, b in zip(one, other, strict=True)]
            column, most = mechanism.column(c), Fraction(int(draw.integers(1, 9)), 10)
            assert risk_excess(column, both, c, most) <= risk_excess(column, one, c, most)
