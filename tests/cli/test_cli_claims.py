"""`rropt claims`: table, JSON, certificates, the page of the documentation, and names that are none."""

from __future__ import annotations

import json
import re
import types
from fractions import Fraction
from pathlib import Path

import pytest
from rropt.models import claims as accountant

import rropt as rr
from rropt import __main__ as cli
from rropt.comparison.claims import Claim, Evidence
from rropt.studies.reproducibility import counts, page, run

KEYS = {"id", "paper", "where", "statement", "published", "computed", "verdict", "method", "seconds", "certificate"}
VERDICTS = {"confirmed", "confirmed_with_erratum", "refuted", "not_checkable"}


def test_json_is_a_list_of_objects_with_certificates_that_check(tmp_path: Path, capfd) -> None:
    assert cli.main(["claims", "kairouz", "ayed.interval", "--json", "--out", str(tmp_path)]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [one["id"] for one in found] == ["kairouz.krr", "kairouz.binary", "ayed.interval"]
    for one in found:
        assert set(one) >= KEYS
        assert one["verdict"] in VERDICTS
        assert one["paper"] == one["id"].split(".")[0]
        assert one["method"]
    assert found[2]["certificate"] is None
    assert found[2]["published"] == {"lower": "0.4875", "upper": "0.5125", "the printed ends are private": True}
    assert found[2]["computed"]["lower"] == pytest.approx([0.48750260, 0.48750260])
    for one in found[:2]:
        assert len(one["certificate"]) == len(one["proofs"])
        for path in one["certificate"]:
            assert rr.check(path).status == "PROVED"


def test_the_table_names_verdicts_and_counts_them(capfd) -> None:
    assert cli.main(["claims", "ayed.section3.2.3", "chai.table1"]) == 0
    text = capfd.readouterr().out
    assert re.search(r"ayed\.section3\.2\.3 .*refuted", text)
    assert re.search(r"chai\.table1 .*confirmed", text)
    assert "2 claims: 1 refuted, 1 confirmed;" in text


@pytest.mark.parametrize(
    ("name", "close"), [("chia", "did you mean chai?"), ("ayed.intervall", "did you mean ayed.interval?"), ("?", "")]
)
def test_unknown_names_are_one_line(name: str, close: str, capfd) -> None:
    assert cli.main(["claims", name]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    assert repr(name) in error
    assert close in error
    assert "The papers are: " in error


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of one entry that cannot be computed and one that can."""

    def fails(full: bool) -> Evidence:
        raise ArithmeticError("no enclosure")

    entries = types.SimpleNamespace(
        CLAIMS=(
            Claim("x.bad", "here", "it is", {"a": 1}, fails),
            Claim("x.good", "there", "it is so", {"a": "0.3"}, lambda full: Evidence({"a": Fraction(1, 3)}, "by hand")),
        )
    )
    monkeypatch.setattr(accountant, "PAPERS", {"x": ("x",)})
    monkeypatch.setattr(accountant, "import_module", lambda name: entries)


@pytest.mark.usefixtures("broken")
def test_an_entry_that_fails_is_shown_and_is_an_error_while_the_others_go_on(capfd) -> None:
    assert cli.main(["claims", "--json"]) == 1
    bad, good = json.loads(capfd.readouterr().out)
    assert (bad["verdict"], bad["computed"]) == ("failed", None)
    assert "no enclosure" in bad["method"]
    assert good["verdict"] == "confirmed"
    assert cli.main(["claims"]) == 1
    assert "1 failed" in capfd.readouterr().out
    text = page(run(accountant.select([])))
    assert "no enclosure" in text
    assert counts(run(accountant.select(["x.good"]))) == {"confirmed": 1}


def test_an_interrupted_solve_ends_the_run() -> None:
    stopped = types.SimpleNamespace(warnings=("stopped early: interrupted",), certificate=None)
    evidence = Evidence({"a": 1}, "by hand", solutions={"one": stopped})
    with pytest.raises(KeyboardInterrupt):
        run([Claim("x.y", "here", "it is", {"a": 1}, lambda full: evidence)])


def test_the_page_shows_witness_and_correction_of_what_is_wrong() -> None:
    text = page(run(accountant.select(["ayed.interval", "kairouz.binary"])))
    assert "Correction: rounded inwards it is [0.4876, 0.5124]." in text
    assert "import numpy as np  # p = (1/3, 1/3, 1/3)" in text
    assert "(PROVED)" in text


def test_the_page_of_the_documentation_has_the_entries_of_the_code(checkout: Path) -> None:
    """Made by `rropt claims --markdown > docs/claims.md`; make it again when entries change."""
    text = (checkout / "docs" / "claims.md").read_text(encoding="utf-8")
    assert re.findall(r"^### `(\S+)`$", text, re.M) == [claim.id for claim in accountant.select([])]
    assert "not computed" not in text
    for claim in accountant.select([]):
        assert claim.statement in text.replace("\\*", "*").replace("\\~", "~")


OWN = {
    "right": 'claimed = "optimal"\nvalue = "3/2"\nmatrix = [["3/4", "1/4"], ["1/4", "3/4"]]\n',
    "bounds": 'claimed = "bound"\nvalue = 1.6\n',
    "rounded": 'claimed = "feasible"\nmatrix = [[0.8, 0.2], [0.2, 0.8]]\n',
    "wrong": 'claimed = "bound"\nvalue = 1.4\n',
    "undecided": 'claimed = "feasible"\nmatrix = [[0.7499999999, 0.25], [0.25, 0.7499999999]]\n',
    "bad": "value = 1.5\n",
}
"""Claims about a trace under LDP with gamma 3, whose optimum is 3/2."""
STATUS = {"right": 0, "bounds": 0, "rounded": 0, "wrong": 1, "undecided": 3, "bad": 2}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with these claims and their problem."""
    monkeypatch.chdir(tmp_path)
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(gamma=3)], inputs=["yes", "no"])
    (tmp_path / "problem.toml").write_text(rr.problem_file.problem_to_toml(problem), encoding="utf-8")
    for name, text in OWN.items():
        (tmp_path / f"{name}.toml").write_text(f'schema = 1\nproblem = "problem.toml"\n{text}', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", OWN)
def test_a_claim_of_ones_own_ends_with_a_status(own: Path, name: str, capfd) -> None:
    assert cli.main(["verify-claim", f"{name}.toml"]) == STATUS[name]
    out, error = capfd.readouterr()
    if name == "bad":
        assert (out, error.count("\n")) == ("", 1)
        assert "bad.toml: claimed is missing" in error
    else:
        assert "Verdict: " in out


def test_a_claim_of_ones_own_as_json_with_certificates(own: Path, capfd) -> None:
    assert cli.main(["verify-claim", "right.toml", "--json", "--out", "proofs"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert set(found) >= KEYS
    assert found["verdict"] == "confirmed"
    assert found["computed"]["bound"] == [1.5, 1.5]
    assert rr.check(found["certificate"]).status == "PROVED"


def test_a_folder_of_claims_is_an_accountant_beside_the_shipped_ones(own: Path, capfd) -> None:
    assert cli.main(["claims", "."]) == 2, "one of them cannot be read"
    (own / "bad.toml").unlink()
    capfd.readouterr()
    assert cli.main(["claims", ".", "kairouz.krr", "--json"]) == 0
    found = {one["id"].partition(".")[2]: one["verdict"] for one in json.loads(capfd.readouterr().out)}
    assert found.pop("krr") in VERDICTS
    assert found == {
        "bounds": "confirmed",
        "right": "confirmed",
        "rounded": "confirmed_with_erratum",
        "undecided": "not_checkable",
        "wrong": "refuted",
    }
    assert cli.main(["claims", ".", "--markdown"]) == 0
    text = capfd.readouterr().out
    assert text.startswith("# A reproducibility report")
    assert "| bound " not in text
    assert "- bound: 1.5" in text, "not as an exact ratio of a hundred digits"


def test_two_claims_of_one_name_do_not_write_over_each_other(own: Path, capfd) -> None:
    assert cli.main(["claims", "right.toml", "right.toml"]) == 2
    assert "right" in capfd.readouterr().err
