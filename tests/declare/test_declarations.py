"""Problem files say the same as the Python API: there and back, exact decimals, helpful errors."""

from __future__ import annotations

import math
import re
import tomllib
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt import __main__ as cli

F = Fraction
HEAD = 'schema = 1\n[input]\ncategories = ["a", "b"]\ncounts = [1, 2]\n[objective]\nmaximize = "mutual_information"\n'
LDP = '[[constraint]]\nkind = "ldp"\nepsilon = 1\n'

# -- there and back ------------------------------------------------

LABEL = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
NUMBER = st.one_of(
    st.integers(-9, 9).map(Fraction),
    st.integers(-(10**30), 10**30).map(Fraction),
    st.fractions(max_denominator=10**6),
    st.decimals(-100, 100, allow_nan=False, allow_infinity=False, places=7).map(Fraction),
)
SHARE = st.one_of(st.fractions(0, 1, max_denominator=1000), st.sampled_from([F(0), F(1), F(1, 10), F(1, 10**12)]))


@st.composite
def some_priors(draw: st.DrawFn, labels: list[str]) -> rr.Prior:
    kind = draw(st.sampled_from(["counts", "fractional", "probabilities", "uniform"]))
    if kind == "uniform":
        return rr.Prior.uniform(labels)
    size = len(labels)
    weights = draw(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 10**25)), min_size=size, max_size=size))
    if not any(weights):
        weights[-1] = 1
    if kind == "counts":
        return rr.Prior.from_counts(weights, labels=labels)
    if kind == "fractional":
        return rr.Prior.from_counts([F(weight, 7) for weight in weights], labels=labels)
    return rr.Prior.from_probabilities([F(weight, sum(weights)) for weight in weights], labels=labels)


@st.composite
def matrices(draw: st.DrawFn, height: int, width: int) -> list[list[Fraction]]:
    row = st.lists(NUMBER, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=height, max_size=height))


@st.composite
def levels(draw: st.DrawFn) -> rr.LDP:
    if draw(st.booleans()):
        return rr.LDP(epsilon=draw(st.fractions(F(1, 10**6), 20, max_denominator=10**6)))
    return rr.LDP(gamma=1 + draw(st.fractions(F(1, 10**6), 10**6, max_denominator=10**6)))


@st.composite
def graphs(draw: st.DrawFn, labels: list[str]) -> rr.Constraint:
    """Metric privacy from distances or from edges, or maximal robust LDP."""
    k = len(labels)
    distance = st.sampled_from([1, 0.5, F(1, 3), 2, math.inf])
    kind = draw(st.sampled_from(["distances", "edges", "directed", "groups"]))
    if kind == "groups":
        others = draw(st.lists(st.sampled_from(["s", "t", "u"]), min_size=k - 2, max_size=k - 2))
        return rr.MaximalRLDP(draw(st.sampled_from([1, 0.25, F(1, 3)])), groups=["s", "t", *others])
    if kind == "distances":
        table = [[0 if x == z else draw(distance) for z in range(k)] for x in range(k)]
        return rr.MetricDP(table, epsilon=draw(st.sampled_from([1, 0.1, F(2, 3)])), connected=False)
    pairs = [*pairwise(labels), (labels[-1], labels[0])]
    edges = [(a, b, draw(st.sampled_from([1, 0.5, F(1, 3)]))) for a, b in pairs]
    if kind == "edges":
        return rr.MetricDP(edges)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(edges)
    return rr.MetricDP(graph, epsilon=draw(st.sampled_from([1, 2.5])))


@st.composite
def problems(draw: st.DrawFn) -> rr.Problem:
    labels = draw(st.lists(LABEL, min_size=2, max_size=5, unique=True))
    k = len(labels)
    prior = draw(some_priors(labels))
    kind = draw(st.sampled_from(["information", "trace", "weighted", "loss", "gain", "bayes", "bayes gain"]))
    outputs: list[str] | None = None
    goal = rr.Maximize
    objective: rr.Objective
    if kind == "information":
        objective = rr.MutualInformation(prior, units=draw(st.sampled_from(["nats", "bits"])))
    elif kind in ("trace", "weighted"):
        objective = rr.Trace(prior if kind == "weighted" else None)
    else:
        width = draw(st.integers(1, 5))
        named = draw(st.booleans())
        actions = draw(st.lists(LABEL, min_size=width, max_size=width, unique=True)) if named else None
        table = draw(matrices(k, width))
        if kind == "bayes":
            objective = rr.BayesSuccess(prior)
        else:
            make = {"loss": rr.ExpectedLoss, "gain": rr.ExpectedGain, "bayes gain": rr.BayesSuccess}[kind]
            objective = make(prior, **{"gain" if kind == "bayes gain" else "matrix": table}, actions=actions)
            goal = draw(st.sampled_from([rr.Maximize, rr.Minimize])) if kind != "bayes gain" else rr.Maximize
    fixed = objective.outputs(tuple(labels))
    if not fixed and draw(st.booleans()):
        outputs = draw(st.lists(LABEL, min_size=1, max_size=4, unique=True))
    constraints: list[rr.Constraint] = draw(st.lists(levels(), max_size=2))
    width = len(fixed or outputs or ())
    if width and draw(st.booleans()):
        table = draw(matrices(k, width))
        name = draw(st.one_of(st.just(""), LABEL))
        constraints.append(
            rr.LinearConstraint(table, draw(st.sampled_from(["<=", ">=", "="])), draw(NUMBER), name=name)
        )
    if (fixed or outputs) in (None, labels) and kind != "information":
        if draw(st.booleans()):
            constraints.append(
                rr.Floor(
                    draw(
                        st.one_of(
                            SHARE,
                            st.lists(SHARE, min_size=k, max_size=k),
                            st.dictionaries(st.sampled_from(labels), SHARE, min_size=1),
                        )
                    )
                )
            )
        if draw(st.booleans()):
            cell = st.tuples(st.sampled_from(labels), st.sampled_from(labels))
            constraints.append(rr.patterns.Forbidden(draw(st.lists(cell, min_size=1, max_size=3))))
    if draw(st.booleans()):
        constraints.append(draw(graphs(labels)))
    if draw(st.booleans()):
        constraints.append(rr.ConeConstraint(draw(matrices(draw(st.integers(1, 2)), k))))
    options = rr.SolveOptions(
        method=draw(st.sampled_from(["auto", "linear", "conic"])),
        gap=draw(st.sampled_from([1e-6, 0.0, 1e-12, 0.25, 1, 3.5e-9])),
        time_limit=draw(st.sampled_from([None, 60, 0.5, 1e-3])),
        solver=draw(st.sampled_from([None, "scs"])),
        workers=draw(st.integers(1, 4)),
    )
    return rr.Problem(
        goal(objective),
        constraints,
        inputs=None if objective.prior else labels,
        outputs=outputs,
        name=draw(st.sampled_from(["problem", "adult-education", "Zoë's", "a.b", "0"])),
        options=options,
    )


@given(problems())
@settings(max_examples=30, derandomize=True)
def test_a_problem_survives_its_file(problem: rr.Problem) -> None:
    text = rr.problem_file.problem_to_toml(problem)
    again = rr.problem_file.parse_problem(text)
    assert again == problem
    assert again.name == problem.name
    assert again.compile() == problem.compile()
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(again)) == problem
    assert tomllib.loads(text)["schema"] == 1


@pytest.mark.long
@given(problems())
@settings(max_examples=4000, derandomize=True)
def test_many_problems_survive_their_files(problem: rr.Problem) -> None:
    text = rr.problem_file.problem_to_toml(problem)
    assert rr.problem_file.parse_problem(text) == problem


TABLE = {"c": {"b": 1, "c": 0, "a": -1}, "a": {"b": 0, "c": 2, "a": 0}, "b": {"b": 0, "c": 0, "a": 3}}


@pytest.mark.parametrize(
    ("labelled", "plain"),
    [
        (
            rr.LinearConstraint(TABLE, "<=", 1, name="own"),
            rr.LinearConstraint([[0, 0, 2], [3, 0, 0], [-1, 1, 0]], "<=", 1, name="own"),
        ),
        (
            rr.ConeConstraint([{"c": 1, "a": -1, "b": 0}, {"c": 0, "a": 1, "b": -1}]),
            rr.ConeConstraint([[-1, 0, 1], [1, -1, 0]]),
        ),
        (rr.MaximalRLDP(1, groups={"c": "s", "a": "t", "b": "s"}), rr.MaximalRLDP(1, groups=["t", "s", "s"])),
    ],
    ids=["linear", "cone", "maximal_rldp"],
)
def test_labels_survive_a_file(labelled: rr.Constraint, plain: rr.Constraint) -> None:
    """Numbers with labels, in another order than the inputs, mean the same before and after, and what a list means."""
    goal = rr.Maximize(
        rr.ExpectedGain(rr.Prior(list("abc"), [3, 2, 1]), [[1, 0, 0], [0, 1, 0], [0, 0, 1]], actions=list("abc"))
    )
    problem = rr.Problem(goal, [rr.LDP(3), labelled])
    again = rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem))
    assert again == problem
    assert again.compile() == problem.compile() == rr.Problem(goal, [rr.LDP(3), plain]).compile()


def test_outputs_that_are_fixed_anyway_may_be_said() -> None:
    """The objective fixes them, the caller repeats them: the same problem as without, and so is its file's."""
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"], outputs=["a", "b"])
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)) == problem


def test_a_name_that_no_file_takes_is_no_name_of_a_problem() -> None:
    """Otherwise the file that is written cannot be read."""
    for name in ("a/b", "", "a\\b", "a\0b", ".", ".."):
        with pytest.raises(rr.InputError, match="name"):
            rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"], name=name)


@pytest.mark.parametrize("gap", [F(1, 3), "1e-7"])
def test_a_gap_of_any_kind_of_number_survives(gap: object) -> None:
    options = rr.SolveOptions(gap=gap)  # type: ignore[arg-type]
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=["a", "b"], options=options)
    again = rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem))
    assert again.options.gap == pytest.approx(float(F(gap)))  # type: ignore[arg-type]


# -- what a file means ------------------------------------------------


def test_decimals_are_exact() -> None:
    text = 'schema = 1\n[input]\nprobabilities = {a = 0.1, b = 0.9}\n[objective]\nmaximize = "trace"\nweighted = true\n'
    problem = rr.problem_file.parse_problem(text + '[[constraint]]\nkind = "ldp"\nepsilon = 0.1\n')
    prior = problem.objective.prior
    assert prior is not None
    assert prior.probabilities == (F(1, 10), F(9, 10))
    (ldp,) = problem.constraints
    assert isinstance(ldp, rr.LDP)
    assert ldp.level.epsilon == F(1, 10)
    assert ldp == rr.LDP(0.1)


@pytest.mark.parametrize(("written", "gamma"), [('"3"', F(3)), ("3", F(3)), ("3.25", F(13, 4)), ('"10/3"', F(10, 3))])
def test_gamma_is_exact(written: str, gamma: Fraction) -> None:
    problem = rr.problem_file.parse_problem(HEAD + f'[[constraint]]\nkind = "ldp"\ngamma = {written}\n')
    (ldp,) = problem.constraints
    assert isinstance(ldp, rr.LDP)
    assert ldp.level.gamma == gamma
    assert ldp.level.ratio.lower == ldp.level.ratio.upper == gamma


def test_a_whole_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "counts.csv").write_text("category,count\nyes,30\nno,10\n", encoding="utf-8")
    path = tmp_path / "survey.toml"
    path.write_text(
        """
        schema = 1
        [input]
        counts_file = "data/counts.csv"
        [objective]
        minimize = "expected_loss"
        matrix = [[0, 1], [2, 0]]
        actions = ["say yes", "say no"]
        [[constraint]]
        kind = "ldp"
        epsilon = "1/2"
        [[constraint]]
        kind = "linear"
        name = "few yes"
        coefficients = [[1, 0], [1, 0]]
        sense = "<="
        rhs = 1.5
        [solve]
        method = "linear"
        gap = 1e-9
        time_limit = 10
        """,
        encoding="utf-8",
    )
    prior = rr.Prior.from_counts({"yes": 30, "no": 10})
    loss = rr.ExpectedLoss(prior, [[0, 1], [2, 0]], actions=["say yes", "say no"])
    expected = rr.Problem(
        rr.Minimize(loss),
        [rr.LDP("0.5"), rr.LinearConstraint([[1, 0], [1, 0]], "<=", F(3, 2), name="few yes")],
        options=rr.SolveOptions(method="linear", gap=1e-9, time_limit=10.0),
    )
    found = rr.load_problem(path)
    assert found == expected
    assert found.name == "survey"


def test_the_shipped_model_is_read() -> None:
    path = Path(__file__).resolve().parents[2] / "models" / "adult-education.toml"
    problem = rr.load_problem(path)
    assert problem.name == "adult-education"
    assert len(problem.inputs or ()) == 16
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)) == problem


# -- errors ----------------------------------------------------------------------------------------------------------

TRACE = '[objective]\nmaximize = "trace"\n'
UNIFORM = "schema = 1\n[input]\nuniform = 2\n"
BAD: list[tuple[str, str]] = [
    ("schema = 1\n[input\n", "not TOML"),
    ("schema = 1\nschema = 1\n", "not TOML"),
    ("", "schema"),
    ("schema = 2\n", "schema is 2"),
    ("schema = true\n", "schema is True"),
    ("schema = 1\n" + TRACE, r"\[input\] is missing"),
    ("schema = 1\ninput = 3\n" + TRACE, "input is not a table"),
    ("schema = 1\n[input]\n" + TRACE, "empty; give one of"),
    (UNIFORM, r"\[objective\] is missing"),
    ('schema = 1\nname = "../x"\n' + UNIFORM[11:] + TRACE, r"\.\./x"),
    ('schema = 1\nname = ".."\n' + UNIFORM[11:] + TRACE, r"'\.\.'"),
    ("schema = 1\n[input]\nuniform = 1\n" + TRACE, "at least 2"),
    ("schema = 1\n[input]\ncounts = {a = 0, b = 0}\n" + TRACE, "zero"),
    ('schema = 1\n[input]\ncounts = {"" = 3, b = 2}\n' + TRACE, "label"),
    ('schema = 1\n[input]\ncounts = [1, 2, 3]\ncategories = ["a", "b"]\n' + TRACE, "3 numbers for 2 labels"),
    ("schema = 1\n[input]\ncounts = {a = nan, b = 2}\n" + TRACE, "'a'.*finite"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\nmatrix = [[0, 1, 1]]\n', "1 x 3"),
    (UNIFORM + "[objective]\n", "maximize or minimize"),
    (UNIFORM + '[objective]\nmaximize = "trace"\nminimize = "trace"\n', "either maximize or minimize"),
    (UNIFORM + "[objective]\nmaximize = 3\n", "not a name in quotes"),
    (UNIFORM + '[objective]\nmaximize = "trase"\n', "'trase' is not an objective.*trace"),
    (UNIFORM + TRACE + "wieghted = true\n", "unknown key 'wieghted'.*weighted"),
    (UNIFORM + TRACE + "weighted = 1\n", "weighted"),
    (UNIFORM + '[objective]\nmaximize = "mutual_information"\nunits = "dits"\n', "dits"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\n', "needs the key matrix"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\nmatrix = [[1, 2], [3]]\n', "ragged"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\nmatrix = [[1, true], [3, 4]]\n', r"matrix\[0\]\[1\].*truth"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\nmatrix = [[1, nan], [3, 4]]\n', r"matrix\[0\]\[1\].*finite"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\nmatrix = 3\n', "not a matrix"),
    (UNIFORM + '[objective]\nminimize = "expected_loss"\nmatrix = [[1], [2]]\nactions = "a"\n', "actions"),
    ('schema = 1\n[input]\ncategories = ["a", "b"]\n[objective]\nmaximize = "bayes_success"\n', "needs a prior"),
    ("schema = 1\n[input]\nuniform = 2\ncounts = [1, 2]\n" + TRACE, "both given"),
    ("schema = 1\n[input]\nuniform = 2.5\n" + TRACE, "uniform"),
    ("schema = 1\n[input]\nuniform = true\n" + TRACE, "uniform"),
    ('schema = 1\n[input]\nuniform = "ab"\n' + TRACE, "uniform"),
    ('schema = 1\n[input]\nuniform = ["a", "a"]\n' + TRACE, "'a'.*twice"),
    ('schema = 1\n[input]\ncategories = "ab"\ncounts = [1, 2]\n' + TRACE, "categories"),
    ("schema = 1\n[input]\ncounts = [1, -2]\n" + TRACE, "negative"),
    ("schema = 1\n[input]\ncounts = [1, inf]\n" + TRACE, "finite"),
    ("schema = 1\n[input]\ncounts = [1, 1e99999]\n" + TRACE, "range"),
    ("schema = 1\n[input]\ncounts = {a = 1, b = true}\n" + TRACE, "'b'.*truth"),
    ("schema = 1\n[input]\ncounts = 5\n" + TRACE, "counts"),
    ("schema = 1\n[input]\ncounts = [[1], [2]]\n" + TRACE, "number"),
    ("schema = 1\n[input]\nprobabilities = [0.5, 0.6]\n" + TRACE, "sum to 1.1"),
    ("schema = 1\n[input]\ncounts_file = 3\n" + TRACE, "not a path"),
    ('schema = 1\n[input]\ncounts_file = "no/such.csv"\n' + TRACE, "no/such.csv.*cannot read"),
    ('schema = 1\n[input]\ncounts_file = "a\\u0000b"\n' + TRACE, "cannot read"),
    ("schema = 1\n[input]\ncount = [1, 2]\n" + TRACE, "unknown key 'count'; did you mean 'counts'"),
    ("schema = 1\nobjectiv = 1\n", "unknown key 'objectiv'; did you mean 'objective'"),
    ("schema = 1\nzzz = 1\n", "unknown key 'zzz'; known keys"),
    (HEAD + '[[constraint]]\nkind = "lpd"\nepsilon = 1\n', "constraint.* 1: 'lpd' is not a kind.*ldp"),
    (HEAD + LDP + '[[constraint]]\nkind = "ldp"\nepsilom = 1\n', "constraint.* 2: unknown key 'epsilom'.*epsilon"),
    (HEAD + '[[constraint]]\nkind = "ldp"\n', "neither epsilon nor gamma"),
    (HEAD + '[[constraint]]\nkind = "ldp"\nepsilon = 1\ngamma = 3\n', "epsilon and gamma are both given"),
    (HEAD + "[[constraint]]\nepsilon = 1\n", "kind is missing"),
    (HEAD + "[constraint]\nkind = 1\n", "two brackets"),
    (HEAD + "[[constraint]]\nkind = 3\n", "kind"),
    (HEAD + '[[constraint]]\nkind = "floor"\n', "'diagonal' is missing"),
    (HEAD + '[[constraint]]\nkind = "floor"\ndiagonal = 1.1\n', r"1.1 is not a probability.*\[0, 1\]"),
    (HEAD + '[[constraint]]\nkind = "floor"\ndiagonal = {zz = 0.1}\n', "'zz' is not one of the labels"),
    (HEAD + '[[constraint]]\nkind = "floor"\ndiagonal = [0.1]\n', "1 number for 2 inputs"),
    (HEAD + '[[constraint]]\nkind = "forbidden"\ncells = 5\n', "Forbidden"),
    (HEAD + '[[constraint]]\nkind = "forbidden"\ncells = [5]\n', "Forbidden"),
    (HEAD + '[[constraint]]\nkind = "forbidden"\ncells = [["a"]]\n', "Forbidden"),
    (HEAD + '[[constraint]]\nkind = "forbidden"\ncells = []\n', "no cells"),
    (HEAD + '[[constraint]]\nkind = "forbidden"\ncells = [["a", "zz"]]\n', "'zz' is not one of the labels"),
    (HEAD + '[[constraint]]\nkind = "cone"\nmatrix = [[1, 2, 3]]\n', "2 inputs"),
    (
        HEAD + '[[constraint]]\nkind = "linear"\ncoefficients = [[1, 2], [3, 4]]\nsense = "<="\nrhs = 1\n',
        "name them: outputs=",
    ),
    (HEAD + 'outputs = "ab"\n', "outputs"),
    (HEAD + "[solve]\nmethd = 1\n", "did you mean 'method'"),
    (HEAD + "[solve]\nmethod = 1\n", "method is 1"),
    (HEAD + '[solve]\ngap = "small"\n', "gap"),
    (HEAD + "[solve]\ngap = -1\n", "gap.*negative"),
    (HEAD + "[solve]\ngap = nan\n", "gap.*finite"),
    (HEAD + "[solve]\ngap = 1" + "0" * 400 + "\n", "gap"),
    (HEAD + "[solve]\ntime_limit = 0\n", "time_limit"),
    (HEAD + "[solve]\nworkers = 0\n", "workers"),
    (HEAD + "[solve]\nworkers = 1.5\n", "workers"),
    ("schema = 1\nn = " + "[" * 5000, "not TOML|nested|number"),
    ("schema = " + "1" * 5000, "number"),
]
BAD += [
    (HEAD + f'[[constraint]]\nkind = "ldp"\nepsilon = {number}\n', what)
    for number, what in [
        ("-1", "below 0"),
        ("nan", "finite"),
        ("inf", "finite"),
        ("20.0001", "above 20"),
        ("true", "truth"),
        ('"one"', "not a number"),
        ("[1]", "not a number"),
        ("1e999999", "range"),
        ("1e-999999", "range"),
        ("2020-01-01", "not a number"),
    ]
]


@pytest.mark.parametrize(("text", "what"), BAD, ids=lambda value: str(value)[-40:])
def test_bad_files_say_what_where_and_what_to_do_in_one_line(
    text: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In Python and on the command line, which writes nothing and says nothing else with --json."""
    text = text if "outputs" not in text else "outputs = 3\n" + text.replace('outputs = "ab"\n', "")
    with pytest.raises(rr.InputError, match=what) as info:
        rr.problem_file.parse_problem(text, source="folder/file.toml")
    assert "\n" not in str(info.value)
    assert len(str(info.value)) < 500
    assert "file.toml" in str(info.value) or "no/such.csv" in str(info.value)
    monkeypatch.chdir(tmp_path)
    Path("file.toml").write_text(text, encoding="utf-8")
    assert cli.main(["solve", "file.toml", "--out", "o", "--json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(r"rropt: [^\n]*(file\.toml|no/such\.csv)[^\n]*[;?] [^\n]+\n", err)
    assert [path.name for path in Path().iterdir()] == ["file.toml"]


def test_unreadable_files(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"schema = 1 # \xff")
    for path in (tmp_path, tmp_path / "missing.toml", bad):
        with pytest.raises(rr.InputError) as info:
            rr.load_problem(path)
        assert str(path) in str(info.value)


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j])
def test_what_no_file_can_hold_is_refused(value: Any) -> None:
    class Odd(rr.Floor):
        def keys(self) -> dict[str, object]:
            return {"diagonal": value}

    problem = rr.Problem(rr.Maximize(rr.Trace()), [Odd(0.1)], inputs=["a", "b"])
    with pytest.raises(rr.InputError, match="cannot be written"):
        rr.problem_file.problem_to_toml(problem)
