"""Bad input from Python: one line with what, where and what to do; and no half-written file.

What a problem file can have wrong too is in test_declarations.py, bad priors and matrices in test_priors.py and test_mechanism.py.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rropt as rr
from rropt.io.files import JSON, read_text, write_whole
from rropt.solve.registry import METHODS

PRIOR = rr.Prior.from_counts({"a": 3, "b": 2, "c": 1})
INFORMATION = rr.Maximize(rr.MutualInformation(PRIOR))
TRACE = rr.Maximize(rr.Trace())
ABC = ["a", "b", "c"]
INF = math.inf


def problem(*constraints: object, goal: object = INFORMATION, **keys: object) -> rr.Problem:
    return rr.Problem(goal, constraints, **keys)  # type: ignore[arg-type]


BAD: list[tuple[str, Callable[[], object], str]] = [
    # privacy levels
    *(
        (f"epsilon {value!r}", lambda value=value: rr.LDP(value), what)
        for value, what in [
            (np.True_, "truth|number"),
            (None, "either"),
            (1j, "not a number"),
            (np.float64("nan"), "finite"),
            (np.array([1.0]), "not a number"),
            (b"1", "not a number"),
        ]
    ),
    # graphs and distances
    ("disconnected", lambda: problem(rr.MetricDP([("a", "b"), ("c", "d")])), "not inputs: d"),
    ("one way", lambda: problem(rr.MetricDP(nx.DiGraph([("a", "b"), ("b", "c")]))), "3 parts"),
    (
        "in two parts",
        lambda: problem(rr.MetricDP([[0, 1, INF], [1, 0, INF], [INF, INF, 0]])),
        "2 parts",
    ),
    ("a missing label", lambda: problem(rr.MetricDP([("a", "b")])), "misses the inputs: c"),
    ("negative weight", lambda: rr.MetricDP([("a", "b", -1)]), "not above 0"),
    ("zero weight", lambda: rr.MetricDP([("a", "b", 0)]), "not above 0"),
    ("weight nan", lambda: rr.MetricDP([("a", "b", math.nan)]), "finite"),
    ("weight inf", lambda: rr.MetricDP([("a", "b", math.inf)]), "infinite"),
    ("weight of a graph", lambda: rr.MetricDP(nx.Graph([("a", "b", {"weight": "far"})])), "not a number"),
    ("a loop", lambda: rr.MetricDP(nx.Graph([("a", "a")])), "itself"),
    ("no edges", lambda: rr.MetricDP(nx.Graph()), "no edges|empty"),
    ("no graph", lambda: rr.MetricDP("path"), "not a graph"),
    ("an edge of one", lambda: rr.MetricDP([("a",)]), "not an edge"),
    ("distances 2 x 3", lambda: rr.MetricDP(np.zeros((2, 3))), "not a square matrix"),
    ("distance to itself", lambda: rr.MetricDP(np.ones((2, 2))), "not 0"),
    ("distances of another size", lambda: problem(rr.MetricDP([[0, 1], [1, 0]])), "2 x 2"),
    ("metric epsilon", lambda: rr.MetricDP([("a", "b")], epsilon=-1), "below 0"),
    ("far and strict", lambda: problem(rr.MetricDP([("a", "b", 30), ("b", "c", 1)])), "above 20"),
    ("groups", lambda: rr.MaximalRLDP(1), "groups"),
    ("one group", lambda: rr.MaximalRLDP(1, groups=["s", "s"]), "share one"),
    ("groups of another size", lambda: problem(rr.MaximalRLDP(1, groups=["s", "t"])), "2 numbers for 3"),
    ("given of another size", lambda: rr.MutualInformation(PRIOR, given=[[1], [2]]), "3 inputs"),
    ("given of another prior", lambda: rr.MutualInformation(PRIOR, given=[[1, 1], [2, 1], [1, 1]]), "proportion"),
    ("given with a negative", lambda: rr.MutualInformation(PRIOR, given=[[4, -1], [2, 0], [1, 0]]), "negative"),
    ("gamma below 1", lambda: rr.LDP(gamma="0.5"), "below 1"),
    ("gamma nan", lambda: rr.LDP(gamma=math.nan), "finite"),
    ("gamma 1e9", lambda: rr.LDP(gamma=1e9), "exp"),
    # floors and forbidden cells
    ("floor below 0", lambda: rr.Floor([0.1, -0.1, 0.1]), r"floor\[1\].*\[0, 1\]"),
    ("floor nan", lambda: rr.Floor({"a": math.nan}), "'a'.*finite"),
    ("floor true", lambda: rr.Floor(True), "truth value"),
    ("floor none", lambda: rr.Floor(None), "not a number"),
    ("floor empty", lambda: rr.Floor({}), "empty"),
    ("floor empty list", lambda: problem(rr.Floor([]), goal=TRACE, inputs=ABC), "3 inputs"),
    ("floor of two axes", lambda: rr.Floor(np.eye(2)), "number"),
    ("floor label at 0", lambda: problem(rr.Floor({"zz": 0}), goal=TRACE, inputs=ABC), "'zz'.*a, b, c"),
    ("floor label twice", lambda: rr.Floor({1: 0.5, "1": 0.2}), "twice"),
    ("forbidden string", lambda: rr.patterns.Forbidden(["ab"]), "not a pair"),
    # rows and cones of one's own
    ("linear sense", lambda: rr.LinearConstraint([[1]], "<", 1), "sense"),
    ("linear ragged", lambda: rr.LinearConstraint([[1], [1, 2]], "<=", 1), "lengths"),
    ("linear nan", lambda: rr.LinearConstraint([[1, math.nan]], "<=", 1), r"\[0\]\[1\].*finite"),
    ("linear rhs", lambda: rr.LinearConstraint([[1, 2]], "<=", "x"), "rhs.*not a number"),
    ("linear vector", lambda: rr.LinearConstraint([1, 2], "<=", 1), "matrix"),
    ("linear vector, numpy", lambda: rr.LinearConstraint(np.ones(2), "<=", 1), "matrix"),
    ("linear cube", lambda: rr.LinearConstraint(np.ones((2, 2, 2)), "<=", 1), "number"),
    (
        "linear shape",
        lambda: problem(rr.LinearConstraint([[1, 2]], "<=", 1), goal=TRACE, inputs=ABC),
        "1 x 2.*3 inputs",
    ),
    (
        "linear huge",
        lambda: problem(rr.LinearConstraint([["1e400"] * 3] * 3, "<=", 1), goal=TRACE, inputs=ABC).solve(),
        "1e400|range|large",
    ),
    (
        "linear surrogate",
        lambda: problem(rr.LinearConstraint([[1] * 3] * 3, "<=", 9, name="\ud800"), goal=TRACE, inputs=ABC).solve(),
        "Unicode|name",
    ),
    ("cone empty", lambda: rr.ConeConstraint([]), "matrix"),
    ("cone true", lambda: rr.ConeConstraint([[True, 1]]), "truth value"),
    # objectives
    ("information of labels", lambda: rr.MutualInformation(ABC), "list is not a Prior"),  # type: ignore[arg-type]
    ("trace of counts", lambda: rr.Trace([1, 2]), "not a Prior"),  # type: ignore[arg-type]
    ("loss shape", lambda: rr.ExpectedLoss(PRIOR, [[1, 2]]), "3 inputs"),
    ("loss text", lambda: rr.ExpectedLoss(PRIOR, "abc"), "not a matrix"),
    ("loss vector", lambda: rr.ExpectedLoss(PRIOR, np.ones(3)), "not a matrix"),
    ("loss actions", lambda: rr.ExpectedLoss(PRIOR, [[1, 2]] * 3, actions=["x"]), "3 x 2.*1 actions"),
    (
        "loss huge",
        lambda: problem(goal=rr.Minimize(rr.ExpectedLoss(PRIOR, [["1e400"]] * 3))).solve(),
        "1e400|range|large",
    ),
    ("gain empty", lambda: rr.BayesSuccess(PRIOR, gain=[[], [], []]), "empty"),
    # problems
    ("goal", lambda: problem(goal=rr.Trace()), "Maximize"),
    ("goal of a word", lambda: rr.Maximize("trace"), "not an objective"),  # type: ignore[arg-type]
    ("constraint class", lambda: problem(rr.LDP), "not a constraint"),
    ("constraint number", lambda: problem(1.0), "not a constraint"),
    ("constraint alone", lambda: rr.Problem(INFORMATION, rr.LDP(1)), "list|sequence|constraints"),  # type: ignore[arg-type]
    ("not inputs", lambda: problem(goal=TRACE), "inputs"),
    ("one input", lambda: problem(goal=TRACE, inputs=["a"]), "at least 2"),
    ("inputs twice", lambda: problem(goal=TRACE, inputs=["a", "a"]), "twice"),
    ("inputs a string", lambda: problem(goal=TRACE, inputs="ab"), "string"),
    ("inputs a number", lambda: problem(goal=TRACE, inputs=3), "inputs"),
    ("other inputs", lambda: problem(inputs=["a", "b"]), "'c' is missing"),
    ("outputs empty", lambda: problem(outputs=[]), "outputs"),
    ("other outputs", lambda: problem(goal=TRACE, inputs=ABC, outputs=["x"]), "fixes other outputs"),
    (
        "two fixed outputs",
        lambda: problem(rr.Floor(0.1), goal=rr.Minimize(rr.ExpectedLoss(PRIOR, [[1, 2]] * 3))),
        "different outputs",
    ),
    # how to solve
    *(
        (f"option {key}={value!r}", lambda key=key, value=value: rr.SolveOptions(**{key: value}), key)
        for key, value in [
            ("gap", None),
            ("gap", True),
            ("time_limit", math.inf),
            ("time_limit", "soon"),
            ("workers", 2.0),
            ("workers", True),
        ]
    ),
    ("method", lambda: problem(rr.LDP(1)).solve("simplex"), "simplex.*linear"),
    ("method of no word", lambda: problem(rr.LDP(1)).solve(3), "method"),  # type: ignore[arg-type]
    ("method list", lambda: problem(rr.LDP(1)).solve(["linear"]), "method"),  # type: ignore[arg-type]
    ("solve gap", lambda: problem(rr.LDP(1)).solve(gap=-1), "gap"),
    ("solve time", lambda: problem(rr.LDP(1)).solve(time_limit=-1), "time_limit"),
]


@pytest.mark.parametrize(("make", "what"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_one_line(make: Callable[[], object], what: str) -> None:
    with pytest.raises(rr.InputError, match=what) as info:
        make()
    text = str(info.value)
    assert "\n" not in text
    assert len(text) < 400
    assert info.value.what
    assert info.value.where


REFUSED: list[tuple[str, Callable[[], object], str]] = [
    ("information by linear", lambda: problem(rr.LDP(1)).solve("linear"), "use method auto"),
    ("information by conic", lambda: problem(rr.LDP(1)).solve("conic"), "use method auto"),
    ("information with rows", lambda: problem(rr.LDP(1), rr.Floor(0.3)).solve("columns"), "trace"),
    (
        "information, 30 inputs",
        lambda: problem(rr.LDP(1), goal=rr.Maximize(rr.MutualInformation(rr.Prior.uniform(30)))).solve("vertices"),
        "20 at most.*columns",
    ),
    (
        "solver of linear",
        lambda: problem(rr.LDP(1), goal=TRACE, inputs=ABC).solve("linear", solver="scs"),
        "highs",
    ),
    (
        "solver of conic",
        lambda: problem(rr.EntropyRate(0.5), goal=TRACE, inputs=ABC).solve("conic", solver="highs"),
        "entropy; use one of: clarabel",
    ),
    (
        "solver of the method that takes it",
        lambda: problem(rr.LDP(1), goal=rr.Maximize(rr.MutualInformation(rr.Prior.uniform(20)))).solve(solver="scs"),
        "at most 12 inputs; leave the solver out",
    ),
]


@pytest.mark.parametrize(("make", "what"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_no_method_says_why_and_what_instead(make: Callable[[], object], what: str) -> None:
    with pytest.raises(rr.NoMethod, match=what) as info:
        make()
    text = str(info.value)
    assert "\n" not in text
    known = {method.name for method in METHODS}
    assert set(re.findall(r"use method (\w+)", text)) <= known | {"auto"}, "a remedy that does not exist"


def test_a_message_is_one_line_whatever_was_given() -> None:
    with pytest.raises(rr.InputError) as info:
        rr.Prior.from_counts({"a\nb": -1, "c": 2})
    assert "\n" not in str(info.value)
    assert str(rr.InputError("what\n  it is", "where", "do\nthis")) == "where: what it is; do this"
    assert str(rr.InputError("what")) == "what"
    assert isinstance(rr.InputError("what"), ValueError)


# -- files are written whole or not at all ------------------------------------------------


def test_files_are_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.json"
    assert write_whole(path, "Zoë\n") == path
    assert path.read_bytes() == "Zoë\n".encode()
    write_whole(str(path), "again")
    assert path.read_text(encoding="utf-8") == "again"
    assert [entry.name for entry in path.parent.iterdir()] == ["file.json"]
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


FAILURES = ["replace", "fsync", "chmod"]


@pytest.mark.parametrize("step", FAILURES)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "file.json"
    path.write_text("old", encoding="utf-8")

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(rr.InputError if isinstance(error, OSError) else type(error)) as info:
        write_whole(path, "new")
    monkeypatch.undo()
    if isinstance(error, OSError):
        assert "No space left" in str(info.value)
        assert str(path) in str(info.value)
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.json"]


def test_a_text_that_is_no_utf_8_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises((rr.InputError, UnicodeEncodeError)):
        write_whole(tmp_path / "file.json", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "below.json", tmp_path / "folder", f"{tmp_path}/a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(rr.InputError, match="cannot write"):
            write_whole(path, "text")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(rr.InputError, match="Permission"):
        write_whole(tmp_path / "file.json", "text")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other"}', "[" * 100_000, "\ud7ff"])
def test_what_is_no_certificate_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(rr.InputError) as info:
        rr.Certificate.load(path)
    assert str(path) in str(info.value)
    with pytest.raises(rr.InputError, match="cannot read"):
        read_text(tmp_path / "missing", "certificate", limits=JSON)
