"""Sweeps in one process: grids, varied problems, functions, the journal and death, tables, the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pytest

import rropt as rr
from rropt import __main__ as cli
from rropt.io.processes import environment
from rropt.release.plans.provenance import digest
from rropt.studies.sweeps import grid as grids, points, sweep as sweeps
from rropt.studies.sweeps.journal import Journal, journal_path, write_rows
from rropt.studies.sweeps.points import FILES, computed
from rropt.studies.sweeps.sweep import Swept

F = Fraction
COUNTS = {"a": 5, "b": 3, "c": 1}
PRIOR = rr.Prior.from_counts(COUNTS)
OTHER = rr.Prior.from_counts({"a": 1, "b": 1, "c": 2})
PROBLEM = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)])
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


# -- grids ---------------------------------------------------------------------------------------------------


def test_grids_of_the_command_line() -> None:
    assert grids.grid("0.1:0.5:5", "e") == [F(1, 10), F(2, 10), F(3, 10), F(4, 10), F(5, 10)]
    assert grids.grid("1,1/3, clarabel", "e") == [1, F(1, 3), "clarabel"]
    even = grids.grid("0.1:8:40", "e")
    assert (len(even), even[0], even[-1]) == (40, F(1, 10), 8)
    assert even == [F(f"{0.1 + 7.9 * at / 39:.12g}") for at in range(40)]
    ratios = grids.grid("1:16:5:log", "e")
    assert ratios == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.1:8", "is not a grid"),
        ("0.1:8:40:even", "is not a grid"),
        ("1:2:3:log:x", "is not a grid"),
        ("8:0.1:40", "put the smaller number first"),
        ("1:1:3", "put the smaller number first"),
        ("1:2:1", "is not a number of values"),
        ("1:2:2.5", "is not a number of values"),
        ("1:2:-4", "is not a number of values"),
        ("1:2:1000001", "is not a number of values"),
        ("a:2:3", "is not a number"),
        ("0:2:3:log", "begin above 0"),
        ("1,,2", "has an empty value"),
        ("", "has an empty value"),
        ("1:1.0000000000001:10", "do not differ in 12 digits"),
        ("nan:1:3", "finite|number"),
    ],
)
def test_bad_grids_of_the_command_line(text: str, said: str) -> None:
    with pytest.raises(rr.InputError, match=said) as caught:
        grids.grid(text, "--epsilon")
    assert str(caught.value).startswith("--epsilon: ")
    assert "\n" not in str(caught.value)


RELEASED = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.Invariant(COUNTS)], inputs=["a", "b", "c"])
INVARIANT = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1), rr.Invariant(PRIOR)])
PAIRS = rr.Pairs(["s", "t"], ["u", "v"])
ROBUST, RENEWED = (rr.Prior.from_counts(table, pairs=PAIRS) for table in ([[20, 30], [25, 25]], [[10, 40], [30, 20]]))


def robust(prior: rr.Prior, epsilon: object = 1, alpha: str = "0.05") -> rr.Problem:
    return rr.Problem(
        rr.Maximize(rr.MutualInformation(prior)), [rr.RLDP(epsilon, rr.robust.ChiSquareSet(prior, alpha=alpha))]
    )


def informed(*constraints: rr.Constraint, prior: rr.Prior = PRIOR) -> rr.Problem:
    return rr.Problem(rr.Maximize(rr.MutualInformation(prior)), constraints)


METRIC = rr.MetricDP([("a", "b"), ("b", "c")], epsilon=2)
VARIED: list[tuple[str, rr.Problem, str, object, rr.Problem]] = [
    ("epsilon", PROBLEM, "epsilon", "0.3", informed(rr.LDP("0.3"))),
    ("gamma takes the place of epsilon", PROBLEM, "gamma", 3, informed(rr.LDP(gamma=3))),
    ("epsilon takes the place of gamma", informed(rr.LDP(gamma=3)), "epsilon", 1, PROBLEM),
    (
        "a criterion's own key",
        informed(rr.LDP(criterion=rr.privacy.BetaFactor("1.5"))),
        "beta",
        2,
        informed(rr.LDP(criterion=rr.privacy.BetaFactor(2))),
    ),
    (
        "epsilon takes the place of a criterion",
        informed(rr.LDP(criterion=rr.privacy.BetaFactor("1.5"))),
        "epsilon",
        1,
        PROBLEM,
    ),
    (
        "delta",
        rr.Problem(rr.Maximize(rr.Trace()), [rr.ApproximateLDP(1, delta="0.1")], inputs=["a", "b"]),
        "delta",
        F(1, 5),
        rr.Problem(rr.Maximize(rr.Trace()), [rr.ApproximateLDP(1, delta="0.2")], inputs=["a", "b"]),
    ),
    ("a constraint by its number", informed(rr.LDP(3), METRIC), "1.epsilon", 4, informed(rr.LDP(4), METRIC)),
    ("a constraint by its kind", informed(rr.LDP(3), METRIC), "ldp.epsilon", 4, informed(rr.LDP(4), METRIC)),
    (
        "a key of one of them",
        informed(rr.LDP(3), rr.Floor("0.4")),
        "diagonal",
        "0.5",
        informed(rr.LDP(3), rr.Floor("0.5")),
    ),
    ("a prior", PROBLEM, "prior", OTHER, informed(rr.LDP(1), prior=OTHER)),
    ("a prior as a table", PROBLEM, "prior", {"a": 1, "b": 1, "c": 2}, informed(rr.LDP(1), prior=OTHER)),
    ("uniform priors", PROBLEM, "uniform", 4, informed(rr.LDP(1), prior=rr.Prior.uniform(4))),
    (
        "uniform priors by labels",
        PROBLEM,
        "uniform",
        ["x", "y"],
        informed(rr.LDP(1), prior=rr.Prior.uniform(["x", "y"])),
    ),
    (
        "categories",
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"]),
        "categories",
        3,
        rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["0", "1", "2"]),
    ),
    (
        "counts that are the prior's follow it",
        INVARIANT,
        "prior",
        OTHER,
        informed(rr.LDP(1), rr.Invariant(OTHER), prior=OTHER),
    ),
    ("a confidence set around the prior follows it", robust(ROBUST), "prior", RENEWED, robust(RENEWED)),
    ("alpha of a confidence set", robust(ROBUST), "alpha", "0.2", robust(ROBUST, alpha="0.2")),
    (
        "counts that are others stay",
        informed(rr.LDP(1), rr.Invariant(OTHER)),
        "prior",
        rr.Prior.from_counts({"a": 1, "b": 2, "c": 3}),
        informed(rr.LDP(1), rr.Invariant(OTHER), prior=rr.Prior.from_counts({"a": 1, "b": 2, "c": 3})),
    ),
    ("options", PROBLEM, "gap", "1e-3", PROBLEM.with_options(gap="1e-3")),
    (
        "what says its default",
        PROBLEM,
        "objective.units",
        "bits",
        rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(1)]),
    ),
]


@pytest.mark.parametrize(
    ("problem", "name", "value", "wanted"), [case[1:] for case in VARIED], ids=[c[0] for c in VARIED]
)
def test_a_varied_problem_is_the_declared_one(
    problem: rr.Problem, name: str, value: object, wanted: rr.Problem
) -> None:
    varied = grids.Variation(problem)
    made = varied.made({varied.spot(name): value})
    assert made == wanted
    assert made != problem or name in ("epsilon",)
    assert points.problem_key(made) == points.problem_key(wanted) != points.problem_key(problem)


class Own(rr.Floor):
    """Somebody's constraint."""


BAD: list[tuple[str, Callable[[], object], str]] = [
    ("no table", lambda: rr.sweep(PROBLEM, over=["epsilon"]), "over: .* is not a table"),  # type: ignore[arg-type]
    ("no list", lambda: rr.sweep(PROBLEM, over={"epsilon": 1}), "over epsilon: 1 is not a list of values"),
    ("text", lambda: rr.sweep(PROBLEM, over={"epsilon": "0.1:8:40"}), "is not a list of values"),
    ("no values", lambda: rr.sweep(PROBLEM, over={"epsilon": []}), "over epsilon: it has no values"),
    ("no name", lambda: rr.sweep(PROBLEM, over={3: [1]}), "is not a name of a parameter"),  # type: ignore[dict-item]
    ("misspelt", lambda: rr.sweep(PROBLEM, over={"epsilom": [1]}), "no parameter 'epsilom'; did you mean 'epsilon'"),
    ("unknown", lambda: rr.sweep(PROBLEM, over={"theta": [1]}), "it has: prior, uniform"),
    (
        "two of them",
        lambda: rr.sweep(informed(rr.LDP(3), METRIC), over={"epsilon": [1]}),
        "write 1.epsilon or 2.epsilon",
    ),
    ("no such constraint", lambda: rr.sweep(PROBLEM, over={"2.epsilon": [1]}), "no parameter '2.epsilon'"),
    ("a bad value", lambda: rr.sweep(PROBLEM, over={"epsilon": [1, -1]}), r"at epsilon -1: .*below 0"),
    ("a bad combination", lambda: rr.sweep(informed(METRIC), over={"uniform": [3]}), "at uniform 3: "),
    ("half a category", lambda: rr.sweep(PROBLEM, over={"uniform": [2.5]}), "give a whole number"),
    ("categories of a prior", lambda: rr.sweep(PROBLEM, over={"categories": [3]}), "the problem has a prior"),
    ("a prior of none", lambda: rr.sweep(RELEASED, over={"prior": [PRIOR]}), "trace has no prior"),
    ("no prior", lambda: rr.sweep(PROBLEM, over={"prior": ["x.csv"]}), "is not a prior"),
    ("twice", lambda: rr.sweep(PROBLEM, over={"epsilon": [1], "ldp.epsilon": [2]}), "two axes change the same"),
    (
        "too many",
        lambda: rr.sweep(PROBLEM, over={"epsilon": range(1, 1002), "gap": range(1, 1002)}),
        "points are too many",
    ),
    ("somebody's own", lambda: rr.sweep(informed(rr.LDP(1), Own("0.4")), over={"diagonal": ["0.5"]}), "made in Python"),
    ("over a list", lambda: rr.sweep([PROBLEM], over={"epsilon": [1]}), "a list of problems has no parameters"),
    ("no problems", lambda: rr.sweep([]), "cannot be swept"),
    ("a name", lambda: rr.sweep("adult-education"), "is text; load it"),  # type: ignore[arg-type]
    ("no problem in it", lambda: rr.sweep([PROBLEM, 3]), "problem 1: int is not a Problem"),  # type: ignore[list-item]
    (
        "an unknown table",
        lambda: rr.sweep(PROBLEM, over={"epsilon": [1]}, out="t.xlsx"),
        "its suffix is not that of a table",
    ),
    ("no workers", lambda: rr.sweep(PROBLEM, over={"epsilon": [1]}, workers=0), "workers: it is 0"),
    ("a bad solver", lambda: rr.sweep(PROBLEM, over={"epsilon": [1]}, solver="ibm"), "solver: 'ibm' is not a solver"),
    ("a bad method", lambda: rr.sweep(PROBLEM, over={"epsilon": [1]}, method="fast"), "'fast' is not a method"),
    (
        "a journal that cannot know them",
        lambda: rr.sweep(square, over={"x": {"one": object()}}, out="t.csv"),
        "does not have a text that identifies it in a journal",
    ),
]


@pytest.mark.parametrize(("work", "said"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_sweeps_end_in_one_line(
    work: Callable[[], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rr.Problem, "solve", lambda *_: pytest.fail("something was solved"))
    with pytest.raises(rr.InputError, match=said) as caught:
        work()
    assert "\n" not in str(caught.value)
    assert [*tmp_path.iterdir()] == []


# -- what comes out ------------------------------------------------------------------------------------------


def square(x: float) -> dict[str, float]:
    """A function to sweep."""
    return {"square": x * x, "third": x / 3}


def declared(epsilon: float) -> rr.Problem:
    return informed(rr.LDP(epsilon))


def test_a_sweep_is_the_solves_one_by_one() -> None:
    found = rr.sweep(PROBLEM, over={"epsilon": [0.5, "3/2"], "prior": {"one": PRIOR, "two": OTHER}}, gap=1e-7)
    assert found.axes == ("epsilon", "prior")
    assert [(row["epsilon"], row["prior"]) for row in found.rows] == [
        (0.5, "one"),
        (0.5, "two"),
        (1.5, "one"),
        (1.5, "two"),
    ]
    for row in found.rows:
        solution = informed(rr.LDP(row["epsilon"]), prior=PRIOR if row["prior"] == "one" else OTHER).solve(gap=1e-7)
        assert (row["status"], row["verdict"]) == ("certified", "PROVED")
        assert [row[name] for name in ("value", "bound", "gap")] == [solution.value, solution.bound, solution.gap]
        assert row["proved_epsilon"] == solution.epsilon <= row["epsilon"]
    assert found.column("status") == ["certified"] * 4
    assert found.to_frame().shape == (4, len(found.rows[0]))
    with pytest.raises(rr.InputError, match="no column 'colour'"):
        found.column("colour")


def test_an_infeasible_point_and_one_without_a_method_are_rows() -> None:
    linear = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1), rr.Floor("0.3")])
    found = rr.sweep(linear, over={"diagonal": ["0.3", "0.9"]})
    assert found.column("status") == ["certified", "infeasible"]
    assert "conflict: LDP" in found.rows[1]["note"]
    assert found.rows[1]["value"] is None
    (row,) = rr.sweep(PROBLEM, over={"method": ["linear"]}).rows
    assert (row["given_method"], row["status"]) == ("linear", "no_method")


def test_functions_lists_and_points_that_fail() -> None:
    found = rr.sweep(square, over={"x": [1.0, 3.0]})
    assert found.rows == ({"x": 1, "square": 1.0, "third": 1 / 3}, {"x": 3, "square": 9.0, "third": 1.0})
    made = rr.sweep(declared, over={"epsilon": [1]})
    listed = rr.sweep({"mine": PROBLEM})
    for name in ("value", "mechanism", "certificate"):
        assert made.rows[0][name] == listed.rows[0][name] == rr.sweep(PROBLEM).rows[0][name]
    assert listed.rows[0]["problem"] == "mine"

    def broken(x: int) -> object:
        return [{"y": 1 / x}, {"y": x}] if x < 2 else object()

    found = rr.sweep(broken, over={"x": [0, 1, 2]})
    assert [row["x"] for row in found.rows] == [0, 1, 1, 2]
    assert found.rows[0]["note"] == "ZeroDivisionError: division by zero"
    assert [row.get("y") for row in found.rows[1:3]] == [1.0, 1]
    assert len(found.failures) == 2
    assert found.failures[0] == "x 0: ZeroDivisionError: division by zero"
    assert "x 2: sweep: it returned object" in found.failures[1]


def test_tables_say_what_the_rows_say(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = rr.sweep(PROBLEM, over={"epsilon": [0.1, "1/3", 2]})
    told = parquet.read_table(found.save(tmp_path / "t.parquet"))
    assert told.to_pylist() == [{**row, "epsilon": str(row["epsilon"])} for row in found.rows]
    assert [str(told.schema.field(name).type) for name in ("value", "outputs", "note")] == ["double", "int64", "string"]
    lines = found.save(tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == list(found.rows)
    with found.save(tmp_path / "t.csv").open(encoding="utf-8", newline="") as stream:
        for row, wanted in zip(csv.DictReader(stream), found.rows, strict=True):
            assert row["epsilon"] == str(wanted["epsilon"])
            assert (float(row["value"]), row["certificate"]) == (wanted["value"], wanted["certificate"])
    odd = [{"x": float("inf"), "y": [1.0, None], "value": "word"}, {"x": 1, "z": 2**70}]
    for name in ("o.parquet", "o.csv", "o.jsonl"):
        assert write_rows(odd, tmp_path / name).stat().st_size
    assert parquet.read_table(tmp_path / "o.parquet").to_pylist()[0]["x"] == float("inf")
    assert json.loads((tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()[0])["x"] is None


# -- the journal ---------------------------------------------------------------------------------------------


class Counting:
    """How many points are really computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[points.Point] = []
        real = points.computed

        def counted(point: points.Point) -> points.Outcome:
            self.done.append(point)
            return real(point)

        monkeypatch.setattr(points, "computed", counted)


def test_a_sweep_goes_on_where_it_was_and_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    told: list[tuple[int, int, int]] = []
    first = rr.sweep(PROBLEM, over={"epsilon": [1, 2, 1]}, out=tmp_path / "t.csv", report=lambda *at: told.append(at))
    assert (len(counting.done), first.points, first.resumed) == (2, 3, 0), "equal points are computed once"
    assert told == [(0, 0, 3), (2, 0, 3), (3, 0, 3)]
    before = (tmp_path / "t.csv").read_bytes()
    again = rr.sweep(PROBLEM, over={"epsilon": [1, 2, 1]}, out=tmp_path / "t.csv")
    assert (len(counting.done), again.resumed, again.rows) == (2, 3, first.rows)
    assert (tmp_path / "t.csv").read_bytes() == before
    with pytest.raises(
        rr.InputError, match=r"this table has 1 point that this grid does not have; add what is missing"
    ):
        rr.sweep(PROBLEM, over={"epsilon": [2, 3]}, out=tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == before, "a finished table is not replaced by another grid"
    assert len(counting.done) == 2
    (tmp_path / "t.csv").rename(tmp_path / "first.csv")
    grown = rr.sweep(PROBLEM, over={"epsilon": [2, 3]}, out=tmp_path / "t.csv")
    assert (len(counting.done), grown.resumed) == (3, 1)
    assert [row["epsilon"] for row in grown.rows] == [2, 3]
    assert grown.rows[0] == first.rows[1]
    assert rr.sweep(PROBLEM, over={"epsilon": [3, 2, 1]}, out=tmp_path / "t.csv").resumed == 3


def test_failed_points_are_tried_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"

    def sometimes(x: int) -> dict[str, int]:
        if x == 1 and not flag.exists():
            raise RuntimeError("not\nyet")
        return {"y": x}

    found = rr.sweep(sometimes, over={"x": [0, 1, 2]}, out=tmp_path / "t.jsonl")
    assert found.failures == ("x 1: RuntimeError: not yet",)
    flag.touch()
    found = rr.sweep(sometimes, over={"x": [0, 1, 2]}, out=tmp_path / "t.jsonl")
    assert (found.failures, found.resumed, found.column("y")) == ((), 2, [0, 1, 2])


def test_what_a_crash_leaves_of_a_line_is_cut_off(tmp_path: Path) -> None:
    """The journal is cut at every byte of its last line and of its first."""
    out = tmp_path / "t.csv"
    whole = rr.sweep(square, over={"x": [1, 2]}, out=out)
    table, journal = out.read_bytes(), journal_path(out)
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    cuts = [(b"".join(lines[:2]) + lines[2][:at], 1) for at in range(0, len(lines[2]), 5)]
    cuts += [(lines[0][:at], 0) for at in range(0, len(lines[0]), 40)]
    for left, kept in cuts:
        journal.write_bytes(left)
        found = rr.sweep(square, over={"x": [1, 2]}, out=out)
        assert (found.rows, found.resumed, out.read_bytes()) == (whole.rows, kept, table)
        assert len(journal.read_bytes().splitlines()) == 3


def test_a_digit_that_was_changed_is_found(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    rr.sweep(square, over={"x": [1, 3]}, out=out)
    journal = journal_path(out)
    kept = journal.read_bytes()
    begin = kept.index(b"\n") + 1
    for at in range(begin, len(kept), 1):
        if kept[at : at + 1].isdigit():
            changed = kept[:at] + b"%d" % ((kept[at] - ord("0") + 1) % 10) + kept[at + 1 :]
            journal.write_bytes(changed)
            with pytest.raises(
                rr.InputError, match=r"line [23] (was changed after it was written|is not a finished point)"
            ):
                rr.sweep(square, over={"x": [1, 3]}, out=out)
            assert journal.read_bytes() == changed
    head, first, _ = kept.splitlines(keepends=True)
    journal.write_bytes(head + first)
    assert rr.sweep(square, over={"x": [1, 3]}, out=out).resumed == 1


def endless(x: int) -> dict[str, int]:
    while x == 1:
        pass
    return {"y": x}


def test_a_function_that_does_not_return_is_one_failed_point(tmp_path: Path) -> None:
    found = rr.sweep(endless, over={"x": [0, 1, 2]}, out=tmp_path / "t.csv", time_limit=0.3)
    assert found.column("y") == [0, None, 2]
    assert found.column("status")[1] == "failed"
    assert found.failures == ("x 1: sweep: the function did not return within 0.3 s; give it more time_limit",)


def test_journals_of_something_else_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    rr.sweep(PROBLEM, over={"epsilon": [1]}, out=out)
    journal = journal_path(out)
    kept = journal.read_bytes()

    def refused(
        said: str, work: Callable[[], object] = lambda: rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=out)
    ) -> None:
        left = journal.read_bytes()
        with pytest.raises(rr.InputError, match=said) as caught:
            work()
        assert str(journal) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert journal.read_bytes() == left

    another = "it is the journal of another sweep"
    refused(another, lambda: rr.sweep(informed(rr.LDP(1), prior=OTHER), over={"epsilon": [1]}, out=out))
    refused(another, lambda: rr.sweep(PROBLEM, over={"epsilon": [1]}, out=out, gap=1e-3))
    refused(another, lambda: rr.sweep(square, over={"x": [1]}, out=out))
    refused(another, lambda: rr.sweep([PROBLEM], over=None, out=out))
    versions = environment()
    for name, version in (("scipy", "0.1"), ("python", "2.7")):
        strange = kept.replace(f'"{name}":"{versions[name]}"'.encode(), f'"{name}":"{version}"'.encode())
        assert strange != kept
        journal.write_bytes(strange)
        refused(f"written with {name} {version} and not")
    lines = kept.splitlines(keepends=True)
    journal.write_bytes(lines[0] + b'{"key": 3}\n' + lines[1])
    refused("line 2 is not a finished point")
    for text in (b"notes\n", b"notes", b"[1]\n", b'{"format": "rropt-sweep"}\n', b"[" * 100_000 + b"\n", b"\xff\n"):
        journal.write_bytes(text)
        refused("this is not a journal of a sweep")
    journal.write_bytes(kept)
    with Journal(journal, points.problem_key(PROBLEM), "held", environment()):
        refused("another process runs this sweep now")
    journal.unlink()
    with pytest.raises(rr.InputError, match="this file exists already, and is not of this sweep"):
        rr.sweep(PROBLEM, over={"epsilon": [1]}, out=out)


def test_kept_certificates_are_those_of_the_rows(tmp_path: Path) -> None:
    found = rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=tmp_path / "t.csv", keep=tmp_path / "kept")
    for at, row in enumerate(found.rows):
        folder = tmp_path / "kept" / str(at)
        assert rr.check(folder / "certificate.json").status == "PROVED"
        assert rr.Mechanism.load(folder / "mechanism.json").epsilon.upper <= F(row["proved_epsilon"])
    # A folder that was asked for later is filled, though the journal knows the points.
    again = rr.sweep(PROBLEM, over={"epsilon": [1, 2]}, out=tmp_path / "t.csv", keep=tmp_path / "more")
    assert (again.resumed, again.rows) == (0, found.rows)
    names = ["certificate.json", "mechanism.json"]
    assert [path.name for path in sorted((tmp_path / "more" / "1").iterdir())] == names
    for name in names:
        assert (tmp_path / "more/1" / name).read_bytes() == (tmp_path / "kept/1" / name).read_bytes()


# -- death ---------------------------------------------------------------------------------------------------


def slowly(folder: str, x: int) -> dict[str, float]:
    """A point that tells that it was begun."""
    with open(Path(folder) / "begun", "a", encoding="utf-8") as stream:
        stream.write(f"{x}\n")
    time.sleep(0.01)
    return square(x)


def in_a_child(work: Callable[[], object]) -> int:
    """Do it in a forked process; its id."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    return process


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until, "nothing happened"
        time.sleep(0.002)


@forks
def test_a_killed_sweep_loses_the_point_at_work_and_no_other(tmp_path: Path) -> None:
    """Killed with signal 9 again and again, at different moments, until it is through."""
    over = {"folder": [str(tmp_path)], "x": range(30)}
    whole = rr.sweep(slowly, over=over, out=tmp_path / "whole.csv")
    begun = tmp_path / "begun"
    begun.unlink()
    out, kills = tmp_path / "t.csv", 0
    while not out.exists():
        size = begun.stat().st_size if begun.exists() else 0
        process = in_a_child(lambda: rr.sweep(slowly, over=over, out=out))
        wait_for(lambda size=size: out.exists() or (begun.exists() and begun.stat().st_size > size + 12))
        time.sleep(0.003 * kills)
        os.kill(process, signal.SIGKILL)
        if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL:
            kills += 1
    assert kills >= 1
    assert len(begun.read_text(encoding="utf-8").split()) <= 30 + kills
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert rr.sweep(slowly, over=over, out=out).rows == whole.rows


@forks
def test_a_full_disk_ends_in_one_line_and_loses_nothing(tmp_path: Path) -> None:
    import resource

    out = tmp_path / "t.csv"
    rr.sweep(square, over={"x": range(3)}, out=out)
    room = 2 * journal_path(out).stat().st_size
    said = tmp_path / "said"

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            rr.sweep(square, over={"x": range(30)}, out=out)
        except rr.InputError as error:
            said.write_text(str(error), encoding="utf-8")

    os.waitpid(in_a_child(work), 0)
    assert "cannot write (File too large); make room" in said.read_text(encoding="utf-8")
    assert journal_path(out).read_bytes().endswith(b"}\n")
    found = rr.sweep(square, over={"x": range(30)}, out=out)
    assert 3 < found.resumed < 30
    assert found.column("square") == [x * x for x in range(30)]


# -- the command line ----------------------------------------------------------------------------------------

FILE = """schema = 1
[input]
counts = { a = 5, b = 3, c = 1 }
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "ldp"
epsilon = 1.0
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs the command line in a folder with a problem; (status, output, errors)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(FILE, encoding="utf-8")
    (tmp_path / "one.csv").write_text("category,count\na,1\nb,2\n", encoding="utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = cli.main(list(arguments))
        told = capsys.readouterr()
        return status, told.out, told.err

    return call


def test_the_command_writes_what_python_finds(run: Callable[..., Any]) -> None:
    status, out, err = run("sweep", "p.toml", "--epsilon", "0.5:1:2", "--uniform", "2,3", "-o", "t.jsonl")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "4 points: 4 certified"
    found = rr.sweep(rr.load_problem("p.toml"), over={"uniform": [2, 3], "epsilon": [0.5, 1]})
    assert [json.loads(line) for line in Path("t.jsonl").read_text(encoding="utf-8").splitlines()] == list(found.rows)
    status, out, err = run("sweep", "p.toml", "--epsilon", "0.5:1:2", "--uniform", "2,3", "-o", "t.jsonl")
    assert "4 points: 4 certified; 4 of them from the journal" in out
    status, out, err = run("sweep", "p.toml", "--over", "ldp.epsilon=1", "--prior", "one.csv", "--json")
    (row,) = json.loads(out)
    assert (row["ldp.epsilon"], row["prior"], row["status"]) == (1, "one.csv", "certified")
    status, out, err = run("sweep", "p.toml", "--epsilon", "1,2")
    assert (status, out.count("certified")) == (0, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "sweep: nothing is varied"),
        (["--epsilon", "0.1:8"], "--epsilon: '0.1:8' is not a grid"),
        (["--delta", "0.1"], "the problem has no parameter 'delta'"),
        (["--epsilon", "-1"], "at epsilon -1: epsilon: it is -1"),
        (["--over", "epsilon"], "is not of the form NAME=GRID"),
        (["--over", "epsilon=1", "--epsilon", "2"], "epsilon is given twice"),
        (["--prior", "none.csv"], "none.csv: cannot read"),
        (["--epsilon", "1", "-o", "t.txt"], "its suffix is not that of a table"),
        (["--epsilon", "1", "--workers", "0"], "workers: it is 0"),
        (
            ["--epsilon", "1", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"],
            "workers is given together with a scheduler",
        ),
        (["--epsilon", "1", "--scheduler", " "], "is not an address"),
    ],
)
def test_bad_commands_end_in_one_line(run: Callable[..., Any], arguments: list[str], said: str) -> None:
    status, out, err = run("sweep", "p.toml", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith("rropt: ")
    assert err.count("\n") == 1


def test_exit_statuses(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("sweep", "p.toml", "--over", "method=linear")[0] == 5
    assert run("sweep", "p.toml", "--over", "gap=0", "--epsilon", "1.1", "--uniform", "5")[0] == 3

    def broken(self: rr.Problem) -> None:
        raise ArithmeticError("lost")

    monkeypatch.setattr(rr.Problem, "solve", broken)
    status, out, err = run("sweep", "p.toml", "--epsilon", "1", "-o", "t.csv")
    assert (status, err) == (1, "rropt: failed at epsilon 1: ArithmeticError: lost\n")
    assert "1 point: 1 failed" in out

    def interrupted(self: rr.Problem) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rr.Problem, "solve", interrupted)
    status, out, err = run("sweep", "p.toml", "--epsilon", "1", "-o", "t.csv")
    assert (status, err.count("\n")) == (130, 1)
    assert "run the same command to continue" in err


def made(factor: object) -> Callable[..., dict[str, object]]:
    """A function of the variable around it."""

    def times(x: int) -> dict[str, object]:
        return {"y": x * factor}  # type: ignore[operator]

    return times


def defaulted(factor: int) -> Callable[..., dict[str, object]]:
    def times(x: int, by: int = factor) -> dict[str, object]:
        return {"y": x * by}

    return times


def by_name(factor: int) -> Callable[..., dict[str, object]]:
    def times(x: int, *, by: int = factor) -> dict[str, object]:
        return {"y": x * by}

    return times


class Held:
    """Called itself, or by a method."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, x: int) -> dict[str, object]:
        return {"y": x * self.factor}

    def times(self, x: int) -> dict[str, object]:
        return {"y": x * self.factor}


def around(held: Held) -> Callable[..., dict[str, object]]:
    def times(x: int) -> dict[str, object]:
        return held(x)

    return times


WAYS = {
    "variable": made,
    "default": defaulted,
    "default by name": by_name,
    "object": Held,
    "method": lambda factor: Held(factor).times,
    "object around": lambda factor: around(Held(factor)),
    "partial": lambda factor: partial(defaulted(1), by=factor),
    "cached": lambda factor: lru_cache(made(factor)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_rows_of_another_function_are_not_taken_for_its_own(
    way: Callable[[int], Callable[..., object]], tmp_path: Path
) -> None:
    """The source is the same; what it computes is not."""
    out = tmp_path / "t.csv"
    assert rr.sweep(way(2), over={"x": [1, 3]}, out=out).column("y") == [2, 6]
    again = rr.sweep(way(2), over={"x": [1, 3]}, out=out)
    assert (again.resumed, again.column("y")) == (2, [2, 6])
    with pytest.raises(rr.InputError, match="it is the journal of another sweep"):
        rr.sweep(way(5), over={"x": [1, 3]}, out=out)
    assert rr.sweep(way(5), over={"x": [1, 3]}).column("y") == [5, 15]


def test_what_has_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    ring = Held(1)
    ring.factor = [ring]  # type: ignore[assignment]
    for thing, said in (
        (threading.Lock(), "a lock does not have a text"),
        (ring, "does not have a text|contains itself"),
    ):
        with pytest.raises(rr.InputError, match=said) as caught:
            rr.sweep(made(thing), over={"x": [1]}, out=tmp_path / "t.csv")
        assert "cannot be identified" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    # A function is known by its source, whatever it is good for here.
    assert len(rr.sweep(made(made), over={"x": [1]}, out=tmp_path / "t.csv").failures) == 1


def test_a_parameter_with_the_name_of_a_result_keeps_its_column() -> None:
    prior = rr.Prior.uniform(3)

    def asked(gap: float) -> rr.Problem:
        goal = rr.Maximize(rr.MutualInformation(prior))
        return rr.Problem(goal, [rr.LDP(1)], options=rr.SolveOptions(gap=gap))

    found = rr.sweep(asked, over={"gap": [0.5, 0.25]})
    assert found.axes == ("given_gap",)
    assert found.column("given_gap") == [0.5, 0.25]
    assert all(row["gap"] < 0.1 for row in found.rows)
    # One that is only repeated stands there once.
    again = rr.sweep(lambda x: {"x": x, "y": x + 1}, over={"x": [1, 2]})
    assert (again.axes, again.rows) == (("x",), ({"x": 1, "y": 2}, {"x": 2, "y": 3}))


SWEEP_KEPT_PROBLEM = rr.Problem(
    rr.Maximize(rr.MutualInformation(rr.Prior.from_counts({"a": 5, "b": 3, "c": 1}))), [rr.LDP(1)]
)


def sound(found: Swept, kept: Path) -> None:
    """Every folder holds what its row tells, and nothing else."""
    for at, row in enumerate(found.rows):
        folder = kept / str(at)
        there = {path.name for path in folder.iterdir()}
        assert there == {name for name, column in FILES.items() if row[column] is not None}
        if "mechanism.json" in there:
            made = rr.Mechanism.load(folder / "mechanism.json")
            assert digest(made) == row["mechanism"]
            assert float(made.epsilon.upper) <= row["proved_epsilon"]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The points that are computed from now on."""
    done: list[object] = []

    def counting(point: object) -> object:
        done.append(point)
        return computed(point)  # type: ignore[arg-type]

    monkeypatch.setattr(sweeps.points, "computed", counting)
    return done


def test_the_same_command_goes_on_and_a_larger_grid_has_its_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, kept, done = tmp_path / "t.csv", tmp_path / "kept", counted(monkeypatch)
    sound(rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept), kept)
    again = rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept)
    assert (again.resumed, len(done)) == (2, 2)
    # Point 1 is another one now, and the journal knows it: its folder must not stay that of epsilon 2.
    sound(rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": ["0.5", 1, 2]}, out=out, keep=kept), kept)
    # Two places of one point, of which one has its files.
    sound(rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": ["0.5", "0.5", 1, 2]}, out=out, keep=kept), kept)


def test_a_file_that_was_changed_or_belongs_to_another_point_does_not_stay(tmp_path: Path) -> None:
    out, kept = tmp_path / "t.csv", tmp_path / "kept"
    sound(rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept), kept)
    (kept / "0" / "mechanism.json").write_bytes((kept / "1" / "mechanism.json").read_bytes())
    (kept / "1" / "certificate.json").unlink()
    found = rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1, 2]}, out=out, keep=kept)
    assert found.resumed == 0
    sound(found, kept)
    # Under these bounds on the diagonal there is no mechanism: that of epsilon 2 must not remain.
    closed = rr.Problem(SWEEP_KEPT_PROBLEM.goal, [rr.LDP(1), rr.Floor("0.9")])
    found = rr.sweep(closed, over={"epsilon": [1, 20]}, out=tmp_path / "u.csv", keep=kept)
    assert [row["status"] == "infeasible" for row in found.rows] == [True, False]
    sound(found, kept)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "0").write_text("mine", encoding="utf-8")
    with pytest.raises(rr.InputError, match="cannot write") as caught:
        rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1]}, keep=kept)
    assert str(kept / "0") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_journal_whose_rows_are_none_is_one_line(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1]}, out=out)
    journal = tmp_path / "t.csv.journal.jsonl"
    head, point = journal.read_text(encoding="utf-8").splitlines()
    for rows in ([3], "abc", [["status"]], 7):
        journal.write_text(f"{head}\n{json.dumps(json.loads(point) | {'rows': rows})}\n", encoding="utf-8")
        with pytest.raises(rr.InputError, match="line 2 is not a finished point"):
            rr.sweep(SWEEP_KEPT_PROBLEM, over={"epsilon": [1]}, out=out)
