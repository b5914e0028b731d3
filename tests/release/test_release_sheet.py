"""The sheet of a release for a data protection officer: true, complete, safe to open, and without confidential data."""

import itertools
import json
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.errors import Missing, Unreadable
from rropt.release.plans.manifest import file_sha256
from rropt.release.sheet import guess

pytest.importorskip("pyarrow")

EVIL = "<script>alert(1)</script>|*x*"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def released(epsilon: int = 2) -> Any:
    draw = np.random.default_rng(1)
    rows = zip(draw.choice(["a", "b", "c"], 500), draw.choice(["n", "s"], 500), draw.integers(1, 90, 500), strict=True)
    text = "".join(f"{x},{r},{age},1\n" for x, r, age in rows)
    Path("t.csv").write_text(f"x,r,age,{EVIL}\n{text}", encoding="utf-8")
    domain = {"x": ["a", "b", "c"]}
    return rr.protect(
        "t.csv", "x", epsilon, categories=domain, by="r", where="age>=15", output="o.csv", warn=lambda _: None
    )


def shares(matrix: Any) -> Any:
    return rr.Mechanism.from_matrix(matrix, inputs=["a", "b", "c"], outputs=["x", "y", "z", "w"])


@pytest.mark.parametrize("seed", range(6))
def test_the_best_guess_is_that_of_all_rules(seed: int) -> None:
    """Against every rule that maps each output to a category."""
    draw = np.random.default_rng(seed)
    mechanism = shares(draw.dirichlet(np.ones(4), 3))
    exact = [[Fraction(column[x], mechanism.row_denominators[x]) for column in mechanism.numerators] for x in range(3)]
    best = max(
        sum((exact[x][y] for y, x in enumerate(rule)), Fraction(0)) / 3
        for rule in itertools.product(range(3), repeat=4)
    )
    assert guess(mechanism) == (Fraction(1, 3), best)


def test_the_sheet_states_what_the_manifest_has() -> None:
    made = released()
    # It needs no confidential data.
    Path("t.csv").unlink()
    found = rr.release.describe_release("o.csv", designs="o.designs/RELEASE.toml")
    said = {str(row[0]): row[1:] for section in found.sections for row in section.rows}
    content = json.loads(Path("o.csv.manifest.json").read_text(encoding="utf-8"))
    assert said["Columns released unchanged"] == (f"r, age, {EVIL}",)
    assert said["Records released unchanged"][0].startswith(f"{content['unchanged_records']:,}: ")
    assert said["Level of this release"] == ("epsilon 2",)
    assert said["Released file"] == (file_sha256(Path("o.csv")),)
    # e^2 = 7.38905...: a suspicion of 10 % becomes at most 45.1 %, rounded up.
    assert said["As odds"][0].endswith("at most 7.38906 times")
    assert said["A suspicion of 10 %"] == ("becomes at most 45.09 %",)
    digests = {one.strata[0][1].to_json() for one in made.release.columns}
    assert len(digests) == 1
    certificates = [one[0] for name, one in said.items() if name.startswith("Certificate of mechanism")]
    assert set(certificates) == {file_sha256(one) for one in Path("o.designs").rglob("certificate.json")}
    (risks,) = [one for one in found.sections if one.title.startswith("Risk")]
    ratio = float(np.exp(2))
    for row in risks.rows:
        # k-RR is the best design of three categories at epsilon 2: it keeps e^2 / (e^2 + 2) of the answers.
        assert row[2:5] == ("33.33 %", "100 %", f"{100 * ratio / (ratio + 2):.4g} %")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)


def test_pages_are_safe_and_have_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    released()
    found = rr.release.describe_release("o.csv.manifest.json")
    for name in ("page.html", "page.md"):
        assert cli.main(["sheet", "o.csv", "-o", name]) == 0
        text = Path(name).read_text(encoding="utf-8")
        assert all(section.title in text for section in found.sections)
    tags = Tags()
    tags.feed(Path("page.html").read_text(encoding="utf-8"))
    assert "script" not in tags.seen
    assert "table" in tags.seen
    lines = Path("page.md").read_text(encoding="utf-8").splitlines()
    assert not any("<script>" in line for line in lines), "the letters of Markdown and HTML are escaped"
    capsys.readouterr()
    assert cli.main(["sheet", "o.csv"]) == 0
    assert "Items of NIST SP 800-226" in capsys.readouterr().out


def test_another_file_is_refused() -> None:
    released()
    with pytest.raises(Missing, match="no manifest"):
        rr.release.describe_release("t.csv")
    with pytest.raises(Unreadable, match="neither"):
        rr.release.describe_release("o.csv").save("page.pdf")
    Path("o.csv").write_text("x\na\n", encoding="utf-8")
    with pytest.raises(Unreadable, match="not the file of its manifest"):
        rr.release.describe_release("o.csv")


def test_a_release_without_a_level_says_so() -> None:
    Path("t.csv").write_text("x,y\n" + "a,1\nb,2\n" * 40, encoding="utf-8")
    same = rr.Mechanism.from_matrix(np.eye(2), inputs=["a", "b"], outputs=["a", "b"])
    rr.release.release_file("t.csv", rr.release.ProtectedColumn("x", same), "o.csv", warn=lambda _: None)
    said = {str(row[0]): row[1] for section in rr.release.describe_release("o.csv").sections for row in section.rows}
    assert said["Level of this release"] == "epsilon infinite"
    assert said["A suspicion of 10 %"] == "becomes at most 100 %"
    assert "no finite epsilon" in said["Privacy parameter"]
