"""Every result as short tables: text that fits a line, HTML that is well formed, no dump of a dataclass."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import rropt as rr
from rropt import estimation
from rropt.io.tables import Table, cells
from rropt.problem.display import why_bounded
from rropt.release import ProtectedColumn, Release, load_release, release_file
from rropt.release.account import Account

PRIOR = rr.Prior.from_counts({"yes": 120, "no <b> & a label that is longer than a line of a small screen": 880, "?": 7})
PROBLEM = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)])
IMPOSSIBLE = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1), rr.Floor("0.9")])
KRR = rr.RandomizedResponse(["a", "b", "c"], epsilon=1)


def release_of(folder: Path) -> object:
    (folder / "t.csv").write_text("x,y\n" + "a,1\nb,2\nc,3\n" * 20, encoding="utf-8")
    return release_file(folder / "t.csv", Release(ProtectedColumn("x", KRR.mechanism)), folder / "o.csv")


def account_of(folder: Path) -> object:
    release_of(folder)
    return Account.load(folder / "t.csv.accountant")


def plan_of(folder: Path) -> object:
    KRR.mechanism.save(folder / "m.json")
    (folder / "r.toml").write_text('schema = 1\n[[column]]\nname = "x"\nmechanism = "m.json"\n', encoding="utf-8")
    return load_release(folder / "r.toml")


MAKERS: dict[str, Callable[[Path], object]] = {
    "problem": lambda _: PROBLEM,
    "solution": lambda _: PROBLEM.solve(),
    "infeasible": lambda _: IMPOSSIBLE.solve(),
    "certificate": lambda _: PROBLEM.solve().certificate,
    "infeasible certificate": lambda _: IMPOSSIBLE.solve().certificate,
    "verdict": lambda _: PROBLEM.solve().verdict,
    "duals": lambda _: PROBLEM.solve().duals,
    "prior": lambda _: PRIOR,
    "mechanism": lambda _: KRR.mechanism,
    "design": lambda _: KRR,
    "estimate": lambda _: KRR.estimate([50, 30, 20]),
    "audit": lambda _: rr.audit(KRR.mechanism, epsilon=1),
    "sampler": lambda _: rr.audit_sampler([("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")] * 50, 1),
    "sweep": lambda _: rr.sweep(PROBLEM, over={"ldp.epsilon": [0.5, 1]}),
    "function": lambda _: rr.sweep(lambda x: {"square": x * x}, over={"x": range(40)}),
    "comparison": lambda _: rr.compare(PROBLEM, methods=["vertices", "linear"]),
    "frontier": lambda _: rr.frontier(PROBLEM, rr.Maximize(rr.Trace(PRIOR)), PROBLEM.goal, points=3),
    "identified": lambda _: estimation.identifying(PROBLEM.solve().mechanism, share="0.1"),
    "release": lambda _: Release(ProtectedColumn("x", KRR.mechanism)),
    "released": release_of,
    "account": account_of,
    "release file": plan_of,
    "report": lambda folder: rr.write_report(PROBLEM.solve(), folder / "report.html"),
    "report of a late solve": lambda folder: rr.write_report(PROBLEM.solve(time_limit=1e-6), folder / "report.html"),
    "least epsilon": lambda _: rr.least_epsilon(PROBLEM, PROBLEM.solve().value / 2),
    "verified claim": lambda _: rr.claims.verify_claim(PROBLEM, value="0.1", claimed="bound"),
}
DUMP = re.compile(r"\b[A-Z]\w+\(\w+=|<\w+(\.\w+)+ object at|\bFraction\(|\barray\(")


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order; the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.scrolls = 0
        self.tables = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "br":
            self.open.append(tag)
        self.tables += tag == "table"
        self.scrolls += tag == "div" and "overflow-x:auto" in str(dict(attrs).get("style"))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", MAKERS)
def test_a_result_is_short_tables_and_no_dump(name: str, tmp_path: Path) -> None:
    result = MAKERS[name](tmp_path)
    text, page = str(result), Balanced(result._repr_html_())  # type: ignore[attr-defined]
    assert text.strip()
    assert not DUMP.search(text), text
    assert not DUMP.search(page.text)
    assert len(text.splitlines()) <= 60
    # Tables scroll by themselves: the page of a telephone does not.
    assert page.scrolls == page.tables


def test_what_is_shown_of_a_release_has_no_empty_words(tmp_path: Path) -> None:
    """The columns that are released unchanged, and the rows, by the words of the field."""
    text = str(release_of(tmp_path))
    assert re.search(r"(?m)^x +randomised: LDP \(epsilon 1\)", text)
    assert re.search(r"(?m)^Unchanged +y$", text)
    assert re.search(r"(?m)^Rows +60$", text)


ROWS = [("name", "a value of several words that is too long"), ("数字", "短い"), ("last", "b\nc")]


@pytest.mark.parametrize("width", [20, 30, 44, 200])
def test_a_table_fits_its_width_and_loses_no_word(width: int) -> None:
    table = Table("A title of some words", ROWS, ("head", "second"))
    lines = table.text(width).splitlines()
    assert max(map(cells, lines)) <= width
    every = " ".join(lines)
    assert all(word in every.split() for row in [*ROWS, table.heads] for cell in row for word in cell.split())


def test_a_table_without_a_width_has_one_line_a_row() -> None:
    lines = Table("", ROWS[:2], ("head", "second")).text().splitlines()
    assert len(lines) == 3
    assert cells(lines[0].partition("second")[0]) == cells(lines[2].partition("短い")[0])


def test_numbers_are_aligned_right_and_control_characters_escaped() -> None:
    assert Table("", [("a", "1"), ("b\x1b[2J", "10")], right=(1,)).text() == "a          1\nb\\x1b[2J  10"


def test_a_bounded_result_says_why_it_stopped_and_what_would_help() -> None:
    """In one line, whatever the reason; a certified result has no such line."""
    prior = rr.Prior.from_counts({x: 40 - 3 * at for at, x in enumerate("abcdefghi")})
    rules = [rr.LDP(2), rr.Invariant(prior)]
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules)
    late = problem.solve(time_limit=1e-6)
    assert late.status == "bounded"
    assert why_bounded(late) == "the time limit was reached; give a longer --time-limit, or a larger --gap"
    stopped = problem.solve(monitor=lambda value, bound: False)
    assert stopped.status == "bounded"
    assert why_bounded(stopped) == "it was interrupted; solve again and let it finish"
    for solution in (late, stopped):
        assert re.search(r"(?m)^stopped +\S.*; .+$", str(solution))
        assert all(warning in str(solution) for warning in solution.warnings)
    assert "stopped " not in str(PROBLEM.solve())


@pytest.mark.parametrize("name", ["value", "bound", "status", "mechanism", "certificate", "sensitivity"])
def test_a_problem_says_where_its_results_are(name: str) -> None:
    """They belong to what solve() returns; a problem does not change."""
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"])
    problem.solve()
    with pytest.raises(AttributeError, match=rf"problem\.solve\(\)\.{name}$"):
        getattr(problem, name)
    with pytest.raises(AttributeError, match=r"no attribute 'values'$"):
        getattr(problem, "values")  # noqa: B009
    assert not hasattr(problem, "_value")
    assert pickle.loads(pickle.dumps(problem)) == copy.copy(problem) == problem
