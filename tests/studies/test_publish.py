"""What of a design goes out: never exact counts of people, unless their owner says that they are public."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.errors import InputError
from rropt.model.prior import rounded_prior
from rropt.release import load_design
from rropt.studies.publish import publish_design

COUNTS = {"a": 4187, "b": 3163, "c": 1229, "d": 37}
PROBLEM = """schema = 1
name = "design"
[input]
{input}
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "ldp"
epsilon = 1
"""


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("x\n" + "".join(f"{label}\n" * count for label, count in COUNTS.items()))
    Path("p.toml").write_text(PROBLEM.format(input='uniform = ["a", "b", "c", "d"]'))


def solve(*more: str) -> int:
    return cli.main(["solve", "p.toml", "--data", "people.csv", "--column", "x", "--out", "design", *more])


def digits(folder: str) -> set[str]:
    """The exact counts that stand somewhere in the files of a folder."""
    text = "".join(path.read_text() for path in Path(folder).iterdir())
    return {str(count) for count in (4187, 3163, 1229, sum(COUNTS.values())) if str(count) in text}


def test_solve_says_where_exact_counts_stand(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve() == 0
    told = capsys.readouterr().out.splitlines()[-1]
    assert told == (
        "note: certificate.json and solution.json contain the exact counts of column 'x' of people.csv; rropt publish "
        "design -o NEW copies the files that may be published"
    )
    assert digits("design") >= {"4187", "3163", "1229"}
    assert solve("--json") == 0
    told_json = capsys.readouterr()
    json.loads(told_json.out)
    assert told_json.err.startswith("note: certificate.json and solution.json contain the exact counts")


def test_exact_counts_stay_behind(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve() == 0
    Path("design/notes.txt").write_text("4187")
    capsys.readouterr()
    assert cli.main(["publish", "design", "-o", "public"]) == 0
    why = "it holds the exact counts of column 'x' of people.csv"
    assert capsys.readouterr().out.splitlines() == [
        "wrote public/mechanism.csv",
        "wrote public/mechanism.json",
        f"not copied: certificate.json: {why}",
        f"not copied: solution.json: {why}",
        "not copied: notes.txt: it is not a file of a design",
    ]
    assert digits("public") == set()
    assert load_design("public").mechanism == load_design("design").mechanism
    found = publish_design("design", "all", counts_are_public=True)
    assert sorted(path.name for path in found.written) == [
        "certificate.json", "mechanism.csv", "mechanism.json", "solution.json",
    ]  # fmt: skip


def test_rounded_counts_go_out_with_their_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert solve("--public-counts", "100") == 0
    assert "exact counts" not in capsys.readouterr().out
    assert digits("design") == set()
    assert cli.main(["publish", "design", "-o", "public"]) == 0
    assert "stays" not in capsys.readouterr().out
    assert cli.main(["check", "public/certificate.json"]) == 0
    assert cli.main(["report", "public", "-o", "public/page.html"]) == 0
    assert "rounded to multiples of 100" in Path("public/page.html").read_text()
    assert digits("public") == set()
    told = json.loads(Path("public/solution.json").read_text())
    assert told["data"] == {"column": "x", "file": "people.csv", "public": "rounded to multiples of 100"}
    assert "counts = [4200, 3200, 1200, 0]" in told["problem"]


COUNTED = {
    "counts": ('counts = {a = 4, b = 3}', "", False),
    "counts of a constraint": ("uniform = 2", '[[constraint]]\nkind = "identification_risk"\nat_most = "0.9"\n'
                               'counts = [4, 3]\n', False),
    "no counts": ("uniform = 2", "", True),
    "probabilities": ('probabilities = {a = "1/2", b = "1/2"}', "", True),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTED)
def test_every_place_of_counts_is_seen(case: str) -> None:
    given, more, goes = COUNTED[case]
    Path("p.toml").write_text(PROBLEM.format(input=given) + more)
    cli.main(["solve", "p.toml", "--out", "design"])
    found = publish_design("design", "public")
    assert ("certificate.json" in {path.name for path in found.written}) == goes
    assert ("solution.json" in found.kept) != goes


def test_what_is_not_known_stays_behind_and_what_is_wrong_is_refused() -> None:
    assert solve("--public-counts", "100") == 0
    Path("design/solution.json").rename("kept.json")
    found = publish_design("design", "public")
    assert found.kept == {"certificate.json": "there is no solution.json that says where its counts come from"}
    with pytest.raises(InputError, match="this folder exists already; choose a new folder"):
        publish_design("design", "public")
    with pytest.raises(InputError, match="this is not a folder"):
        publish_design("design/mechanism.json", "more")
    told = json.loads(Path("kept.json").read_text())
    for changed in (told | {"problem": 3}, told | {"data": [1]}, told | {"problem": "["}):
        Path("design/solution.json").write_text(json.dumps(changed))
        with pytest.raises(InputError, match="its problem cannot be read"):
            publish_design("design", "more")
    rr.Mechanism.from_matrix([[0.5, 0.5]] * 4, inputs=list(COUNTS), outputs=["0", "1"]).save("design/mechanism.json")
    with pytest.raises(InputError, match="it is not the mechanism of the certificate"):
        publish_design("design", "more")
    assert not Path("more").exists()


@pytest.mark.parametrize(("step", "said"), [(1, "not a whole number above 1"), (10**6, "all counts round to 0")])
def test_steps_that_make_no_counts_are_refused(step: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rounded_prior(rr.Prior.from_counts(COUNTS), step)


def test_rounding_is_to_the_nearest_multiple() -> None:
    given = rr.Prior.from_counts({"a": 149, "b": 150, "c": 49, "d": 50, "e": 1000})
    assert rounded_prior(given, 100).weights == (100, 200, 0, 100, 1000)
