"""`rr.audit`: matrices from anywhere, their exact privacy, their value, and how far they are from the best."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rropt as rr
from rropt import __main__ as cli
from rropt.comparison.matrix_files import array_matrix, read_matrix
from rropt.comparison.orientation import oriented

KEYS = {"epsilon", "privacy_ratio", "orientation", "satisfies", "value", "bound", "share_of_optimum", "admissible"}
LABELS = ["0", "1", "2"]
ROWS, COLUMNS = "row-stochastic", "column-stochastic"

PRIOR = rr.Prior.from_counts({"x": 3, "y": 1})
TABLE = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(2, 5), Fraction(3, 5)]]


@pytest.fixture
def write(tmp_path: Path):
    """Write a file and give its path."""

    def call(text: str, name: str = "m.csv") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return call


# -- files of many makers -------------------------------------------------------------------------------

FILES = {
    "plain": ("0.75,0.25\n0.4,0.6\n", "m.csv", None, None),
    "blanks after commas, and a comment": ("# made by hand\n0.75, 0.25\n 0.4,0.6\n\n", "m.csv", None, None),
    "ratios": ("3/4,1/4\n2/5,3/5\n", "m.csv", None, None),
    "tabs": ("0.75\t0.25\n0.4\t0.6\n", "m.tsv", None, None),
    "numpy.savetxt": ("# header\n7.5e-01 2.5e-01\n4.0e-01 6.0e-01\n", "m.txt", None, None),
    "R write.csv": ('"","x","y"\n"x",0.75,0.25\n"y",0.4,0.6\n', "m.csv", "xy", "xy"),
    "R write.csv, no row names": ('"x","y"\n0.75,0.25\n0.4,0.6\n', "m.csv", None, "xy"),
    "R write.csv2": ('"";"x";"y"\n"x";0,75;0,25\n"y";0,4;0,6\n', "m.csv", "xy", "xy"),
    "R write.table": ('"x" "y"\n"x" 0.75 0.25\n"y" 0.4 0.6\n', "m.txt", "xy", "xy"),
    "R write.table, numbered": ('"1" "2"\n"1" 0.75 0.25\n"2" 0.4 0.6\n', "m.txt", "12", "12"),
    "pandas to_csv": (",0,1\n0,0.75,0.25\n1,0.4,0.6\n", "m.csv", "01", "01"),
    "a word above numbered rows": ("code,x,y\n1,0.75,0.25\n2,0.4,0.6\n", "m.csv", "12", "xy"),
    "names of rows only": ("x,0.75,0.25\ny,0.4,0.6\n", "m.csv", "xy", None),
    "half numbered columns": (",1,2+\nx,0.75,0.25\ny,0.4,0.6\n", "m.csv", "xy", ("1", "2+")),
    "this package": ("input,a,b\nx,0.75,0.25\ny,0.4,0.6\n", "m.csv", "xy", "ab"),
    "Armadillo, libqif": (
        "ARMA_MAT_TXT_FN008\n2 2\n   7.5000e-01   2.5000e-01\n   4.0000e-01   6.0000e-01\n",
        "m.txt",
        None,
        None,
    ),
    "JSON": ("[[0.75, 0.25], [0.4, 0.6]]", "m.json", None, None),
}


@pytest.mark.parametrize("maker", FILES)
def test_files_of_many_makers_mean_the_same_matrix(maker: str, write) -> None:
    text, name, rows, columns = FILES[maker]
    found = rr.audit(write(text, name))
    assert found.orientation == ROWS
    assert found.mechanism.inputs == tuple(rows or "01")
    assert found.mechanism.outputs == tuple(columns or "01")
    assert [[found.mechanism.entry(x, y) for y in range(2)] for x in range(2)] == TABLE
    assert found.privacy_ratio == Fraction(12, 5)
    assert found.epsilon.lower <= found.epsilon.upper
    assert float(found.epsilon) == pytest.approx(math.log(2.4), abs=1e-15)


def test_numpy_files_and_matrices_in_memory(tmp_path: Path) -> None:
    for dtype in (np.float64, np.float32):
        np.save(tmp_path / "m.npy", np.array([[0.75, 0.25], [0.4, 0.6]], dtype))
        # A float means its shortest decimal, whatever its width.
        assert rr.audit(tmp_path / "m.npy").privacy_ratio == Fraction(12, 5)
    for matrix in (TABLE, np.array(TABLE), [["3/4", "1/4"], ["2/5", "3/5"]], rr.Mechanism.from_matrix(TABLE)):
        assert rr.audit(matrix).privacy_ratio == Fraction(12, 5)
    family = rr.RandomizedResponse(list("abc"), gamma=3)
    assert rr.audit(family).privacy_ratio == family.privacy_ratio


def test_what_this_package_writes_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    """Doubles that were printed in full are the numbers that they were, and not the decimals that are near them."""
    solution = rr.Problem(
        rr.Maximize(rr.MutualInformation(rr.Prior.from_counts([5, 3, 1], labels=LABELS))), [rr.LDP(1)]
    ).solve()
    mechanism = solution.mechanism
    assert mechanism is not None
    np.save(tmp_path / "m.npy", mechanism.matrix)
    np.savetxt(tmp_path / "m.txt", mechanism.matrix, fmt="%.17g")
    mechanism.save(tmp_path / "m.json")
    mechanism.to_csv(tmp_path / "m.csv")
    for name in ("m.npy", "m.txt", "m.json", "m.csv"):
        found = rr.audit(tmp_path / name, epsilon=1)
        assert found.mechanism.numerators == mechanism.numerators
        assert found.mechanism.denominators == mechanism.denominators
        assert found.satisfies is True
    assert found.mechanism.inputs == mechanism.inputs


def test_undecided_is_said_of_what_is_undecided(write, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The text and the JSON agree; a prior alone declares nothing."""
    counts = tmp_path / "counts.csv"
    counts.write_text("category,count\n0,3\n1,5\n", encoding="utf-8")
    ends = rr.privacy.Level(epsilon=1).ratio
    ratio = (ends.lower + ends.upper) / 2
    high, low = ratio / (1 + ratio), 1 / (1 + ratio)
    narrow, rule = f"{high},{low}\n{low},{high}\n", "LDP at epsilon 1"
    for text, more, said, undecided in (
        ("0.75,0.25\n0.25,0.75\n", ["--prior", str(counts)], "nothing is declared", []),
        (narrow, ["--epsilon", "1"], f"undecided: {rule}", [rule]),
    ):
        matrix = str(write(text))
        assert cli.main(["audit", matrix, *more]) == 0
        assert re.search(rf"satisfies +{said} *\n", capsys.readouterr().out)
        assert cli.main(["audit", matrix, *more, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["satisfies"], told["undecided"], told["broken"]) == (None, undecided, [])


# -- orientation ----------------------------------------------------------------------------------------

BOTH = "0.5,0.3,0.2\n0.2,0.5,0.3\n0.3,0.2,0.5\n"


def test_orientation_is_found_where_only_one_fits(write) -> None:
    """RRreg's getPW has the responses as rows: its columns sum to one."""
    found = rr.audit(write('"","x","y"\n"yes",0.75,0.4\n"no",0.25,0.6\n'))
    assert found.orientation == COLUMNS
    assert (found.mechanism.inputs, found.mechanism.outputs) == (("x", "y"), ("yes", "no"))
    assert [[found.mechanism.entry(x, y) for y in range(2)] for x in range(2)] == TABLE
    # Three outputs, two inputs.
    assert rr.audit([[0.5, 0.3], [0.25, 0.35], [0.25, 0.35]]).mechanism.shape == (2, 3)


def test_orientation_is_asked_for_where_both_fit(write) -> None:
    path = write(BOTH)
    with pytest.raises(rr.InputError, match=r"both sum to one.*use orientation='rows', or columns"):
        rr.audit(path)
    rows, columns = rr.audit(path, orientation="rows"), rr.audit(path, orientation="columns")
    assert (rows.orientation, columns.orientation) == (ROWS, COLUMNS)
    assert rows.mechanism.entry(0, 1) == columns.mechanism.entry(1, 0) == Fraction(3, 10)
    # Symmetric: it is the same either way. This package's own header says which.
    assert rr.audit([["0.6", "0.4"], ["0.4", "0.6"]]).orientation == ROWS
    own = write("input,a,b,c\n" + "".join(f"{label},{line}\n" for label, line in zip("abc", BOTH.split(), strict=True)))
    assert rr.audit(own).orientation == ROWS


def test_an_orientation_that_does_not_fit_is_refused(write) -> None:
    with pytest.raises(rr.InputError, match=r"column 1 sums to 1.15, not to one, but its rows do"):
        rr.audit(TABLE, orientation="columns")
    with pytest.raises(rr.InputError, match="'up' is not an orientation"):
        rr.audit(TABLE, orientation="up")


# -- rounded matrices -----------------------------------------------------------------------------------


def test_rounded_matrices_are_refused_unless_asked_for(write) -> None:
    text = "0.333,0.333,0.333\n0.5,0.25,0.25\n0.1,0.2,0.7\n"
    with pytest.raises(rr.InputError, match=r"row 1 sums to 0\.999.*looks rounded to 3 decimal places.*--renormalise"):
        rr.audit(write(text))
    found = rr.audit(write(text), renormalise=True)
    assert [found.mechanism.entry(0, y) for y in range(3)] == [Fraction(1, 3)] * 3
    assert len(found.notes) == 1
    assert "every row was divided by its sum (0.999 to 1)" in found.notes[0]


def test_renormalising_does_not_make_a_mechanism_of_anything(write) -> None:
    """Three entries of three decimals miss one by 0.0015 at most."""
    with pytest.raises(rr.InputError, match="does not explain it"):
        rr.audit(write("0.333,0.333,0.331\n0.5,0.25,0.25\n"), renormalise=True)
    near = [[0.333333333333, 0.333333333333, 0.333333333333], [0.5, 0.25, 0.25]]
    assert rr.audit(near).notes == ()
    with pytest.raises(rr.InputError, match="not to one"):
        rr.audit([[0.33333333, 0.33333333, 0.33333333], [0.5, 0.25, 0.25]])


# -- privacy, value, distance ---------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=2, max_size=4))
def test_privacy_ratio_and_information_by_hand(numbers: list[list[int]]) -> None:
    table = [[Fraction(v, sum(row)) for v in row] for row in numbers]
    prior = rr.Prior.uniform(len(table))
    found = rr.audit(rr.Mechanism.from_rationals(table))
    worst = max(max(c) / min(c) if min(c) else math.inf for c in zip(*table, strict=True) if any(c))
    assert found.privacy_ratio == worst
    q = np.array(table, dtype=float)
    mean = q.mean(axis=0)
    share = np.where(q > 0, q / np.where(mean > 0, mean, 1), 1)
    information = float((q * np.log(share)).sum()) / len(q)
    value = rr.MutualInformation(prior).value(found.mechanism)
    assert float(value) == pytest.approx(information, abs=1e-12)
    ends = found.to_dict()["epsilon"]
    if worst == math.inf:
        assert (ends, found.to_dict()["privacy_ratio"]) == ({"lower": None, "upper": None}, "infinite")
    else:
        assert ends["lower"] <= math.log(worst) + 1e-15
        assert ends["upper"] >= math.log(worst) - 1e-15


@pytest.mark.parametrize(
    ("epsilon", "satisfies"), [("0.8755", True), ("0.8754", False), (1, True), ("0.001", False), (None, None)]
)
def test_a_declared_epsilon_holds_or_is_broken(epsilon: object, satisfies: bool | None) -> None:
    """log 2.4 = 0.87546..."""
    found = rr.audit(TABLE, epsilon=epsilon)
    assert found.satisfies is satisfies
    assert found.broken == ((f"LDP at epsilon {epsilon}",) if satisfies is False else ())


def test_value_bound_and_share_at_its_own_level() -> None:
    """At privacy ratio 12/5 and this prior the optimum is that of two columns in this ratio, found by one formula."""
    prior = rr.Prior.uniform(["x", "y"])
    mechanism = rr.Mechanism.from_matrix(TABLE, inputs=["x", "y"])
    found = rr.audit(mechanism, prior=prior)
    # Two inputs, uniform: randomised response at gamma is optimal.
    p = 2.4 / 3.4
    optimum = math.log(2) + p * math.log(p) + (1 - p) * math.log(1 - p)
    mass = np.array([[0.75, 0.25], [0.4, 0.6]]) / 2
    value = float((mass * np.log(mass / mass.sum(axis=0) * 2)).sum())
    assert found.solution is not None
    assert found.solution.status == "certified"
    assert found.bound == pytest.approx(optimum, abs=1e-9)
    assert float(found.value) == pytest.approx(value, abs=1e-12)  # type: ignore[arg-type]
    assert found.share_of_optimum == pytest.approx(value / optimum, abs=1e-7)
    assert found.satisfies is None
    assert found.admissible is False
    # What dominates it is the optimum itself here.
    assert found.improved_share == pytest.approx(1, abs=1e-6)
    assert rr.ordering.dominates(found.improvement.mechanism, mechanism)  # type: ignore[union-attr]


def test_a_loss_is_shared_the_other_way_round() -> None:
    problem = rr.Problem(rr.Minimize(rr.ExpectedLoss(PRIOR, [[0, 1], [1, 0]])), [rr.LDP(gamma=3)])
    found = rr.audit(TABLE, problem=problem)
    # Loss 3/4 * 1/4 + 1/4 * 2/5 = 23/80; best: answer "x" whatever was asked, or tell the truth: both 1/4.
    assert (float(found.value), found.bound) == (pytest.approx(23 / 80), pytest.approx(1 / 4))  # type: ignore[arg-type]
    assert found.share_of_optimum == pytest.approx(20 / 23)
    assert found.satisfies is True
    assert found.share_of_optimum <= 20 / 23 + 1e-15


def test_labels_are_brought_into_the_order_of_the_problem(write) -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1)])
    path = write(",y,x\ny,0.6,0.4\nx,0.25,0.75\n")
    found = rr.audit(path, problem=problem)
    assert (found.mechanism.inputs, found.mechanism.outputs) == (("x", "y"), ("x", "y"))
    assert float(found.value) == pytest.approx(0.75 * 0.75 + 0.25 * 0.6)  # type: ignore[arg-type]
    bare = rr.audit(TABLE, problem=problem)
    assert bare.value == found.value
    assert "its inputs have no labels: they are taken in the order of the problem's, x, y" in bare.notes
    with pytest.raises(rr.InputError, match="its inputs are x, z; the problem's are x, y"):
        rr.audit(write(",x,z\nx,0.75,0.25\nz,0.4,0.6\n"), problem=problem)


def test_every_constraint_of_a_problem_is_looked_at() -> None:
    problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.patterns.Bistochastic()], inputs=["x", "y"])
    found = rr.audit(TABLE, problem=problem)
    assert found.satisfies is False
    assert found.broken == ("bistochastic",)
    assert "it does not satisfy the problem's constraints" in found.notes[-1]


PAIRS = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s0", "s1"], ["u0", "u1"]))


def test_robust_privacy_is_judged_itself_and_not_its_form() -> None:
    """The best mechanism of form exact is robustly private, though no mechanism of the polytope form."""
    counts = rr.robust.ChiSquareSet(PAIRS, alpha="0.05")
    exact = rr.Problem(rr.Maximize(rr.MutualInformation(PAIRS)), [rr.RLDP(1, counts, form="exact")]).solve(gap=1e-3)
    polytope = rr.RLDP(1, counts)
    assert exact.mechanism is not None
    assert polytope.violation(exact.mechanism) > 0
    found = rr.audit(exact.mechanism, problem=rr.Problem(rr.Maximize(rr.MutualInformation(PAIRS)), [polytope]))
    assert found.satisfies is True
    assert found.robust[0][1].holds(1) is True
    assert found.share_of_optimum is not None
    assert found.share_of_optimum > 1
    low, high = found.to_dict()["robust"][0]["epsilon"].values()
    assert 0.99 < low <= high <= 1
    loud = rr.audit(rr.RandomizedResponse(PAIRS.labels, gamma=30), problem=found.problem)
    assert loud.satisfies is False
    assert loud.robust[0][1].epsilon.lower > 1


def test_admissible_is_judged_exactly() -> None:
    assert rr.audit(rr.RandomizedResponse(["a", "b", "c"], gamma=3)).admissible is True
    assert rr.audit([[1, 0], [0, 1]]).admissible is None
    assert rr.audit([["1/2", "1/2"]] * 2).admissible is None
    found = rr.audit(rr.RandomizedResponse(["a", "b", "c"], gamma=3), epsilon="0.5")
    assert (found.admissible, found.satisfies, found.improvement) == (False, False, None)


# -- bad input, the command line ------------------------------------------------------------------------

BAD = {
    "negative": ("0.7,0.3\n-0.1,1.1\n", "line 2 column 1 is negative (-0.1)"),
    "ragged": ("0.7,0.3\n0.5\n", "it is ragged: line 2 has 1 cell, line 1 has 2"),
    "not a number": ("0.7,nan\n0.5,0.5\n", "line 1 column 2"),
    "R's NA": ("0.7,0.3\nNA,0.5\n", "line 2 column 1: 'NA' is not a number"),
    "a misprint": ("0.2,O.8\n0.5,0.5\n", "line 1 column 2: 'O.8' is not a number"),
    "a missing cell": ("0.2,\n0.5,0.5\n", "line 1 column 2"),
    "empty": ("", "it is empty"),
    "nothing but a header": ("p,q\n", "it has a header and no rows"),
    "another delimiter": ("0.7|0.3\n0.5|0.5\n", "--delimiter"),
    "one row": ("0.5,0.5\n", "it has one row, and its rows are the inputs"),
    "counts": ("10,20\n30,40\n", "is 10, above 1"),
    "neither axis": ("0.5,0.4\n0.3,0.7\n", "sums to 0.9, not to one"),
    "a label twice": ("x,0.5,0.5\nx,0.4,0.6\n", "label 'x' appears twice"),
    "an open quote": ('"x,0.5,0.5\ny,0.4,0.6\n', "line 1 cannot be read"),
    "a huge exponent": ("1e99999,0.5\n0.5,0.5\n", "out of range"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_matrices_are_one_line(what: str, write, capfd: pytest.CaptureFixture[str]) -> None:
    text, said = BAD[what]
    path = write(text)
    assert cli.main(["audit", path]) == 2
    out, error = capfd.readouterr()
    assert (out, len(error.splitlines())) == ("", 1)
    assert error.startswith(f"rropt: {path}")
    assert said in error


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("m.npy", b"xx", "this is not a .npy file of numbers"),
        ("m.csv", b"\xff\xfe", "not UTF-8"),
        ("m.csv", b"0.5,\x000.5\n", "this is not a text"),
        ("m.json", b'{"a": 1}', "this is not a mechanism file"),
        ("m.json", b"[1, 2]", "it is not a list of rows"),
        ("m.json", b"[[0.5, 0.5], [1]]", "it is ragged"),
        ("m.json", b"[[", "this is not JSON"),
    ],
)
def test_bad_files_are_one_line(
    name: str, content: bytes, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert cli.main(["audit", str(tmp_path / name)]) == 2
    error = capfd.readouterr().err
    assert len(error.splitlines()) == 1
    assert said in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.csv"], "No such file"),
        (["m.csv", "--delimiter", ";"], "';' does not separate"),
        (["m.csv", "--delimiter", ""], "not one plain character"),
        (["m.csv", "--epsilon", "x"], "'x' is not a number"),
        (["m.csv", "--epsilon", "1", "--problem", "t.toml"], "both given"),
        (["m.csv", "--orientation", "up"], "use rows or columns"),
        (["m.csv", "--epsilon", "0.5", "--improved", "o.json"], "no mechanism that dominates it was found"),
    ],
)
def test_bad_arguments_are_one_line(
    arguments: list[str], said: str, write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    write("0.75,0.25\n0.4,0.6\n")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["audit", *arguments]) == 2
    error = capfd.readouterr().err
    assert len(error.splitlines()) == 1
    assert said in error


def test_a_matrix_below_the_declared_level_is_not_called_as_private_as_its_better(write, tmp_path, capfd) -> None:
    """7/3 is below e: the improved mechanism uses the declared level, and the sentence names both."""
    matrix, better = write("0.7,0.3\n0.3,0.7\n"), str(tmp_path / "better.json")
    assert cli.main(["audit", matrix, "--epsilon", "1", "--improved", better]) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert "at the declared epsilon 1 (this matrix has 0.847298), dominates it" in said
    assert "same privacy" not in said
    assert rr.Mechanism.load(better).privacy_ratio > Fraction(7, 3)
    assert cli.main(["audit", write("0.75,0.25\n0.4,0.6\n")]) == 0
    assert "of the same privacy, dominates it" in " ".join(capfd.readouterr().out.split())


def test_a_matrix_is_inadmissible_by_its_rounding_only(tmp_path, capfd) -> None:
    """Randomised response of epsilon 1 in sixteen digits: its columns have three integers in place of two."""
    high, low = 5761168847658289, 2119415576170855
    rows = [[high, low, low + 1], [low + 1, high, low], [low, low + 1, high]]
    rr.Mechanism.from_rationals([[Fraction(n, 10**16) for n in row] for row in rows]).save(tmp_path / "m.json")
    found = rr.audit(tmp_path / "m.json", epsilon=1)
    assert all(fault.values == 3 for fault in found.admissibility.shortfalls)  # type: ignore[union-attr]
    assert all(0 < fault.missing < 1e-14 for fault in found.admissibility.shortfalls)  # type: ignore[union-attr]
    assert cli.main(["audit", str(tmp_path / "m.json"), "--epsilon", "1"]) == 0
    said = " ".join(capfd.readouterr().out.split())
    assert re.search(r"no, but only because of rounding \(differences of \d\.\de-1\d\)", said)
    assert "dominates" not in said
    assert cli.main(["audit", str(tmp_path / "m.json"), "--epsilon", "1", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["admissible"], told["rounding_only"]) == (False, True)
    assert told["why_inadmissible"].startswith("only because of rounding")
    assert told["why_inadmissible"] in said


@pytest.mark.parametrize("counts", [[5, 3, 1, 1], [7, 5, 3, 2, 1]])
def test_a_certified_optimum_is_inadmissible_by_its_rounding_at_most(counts: list[int]) -> None:
    """How its entries are rounded depends on the vertex that a solver ends at."""
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(counts))), [rr.LDP(1)]).solve()
    assert solution.status == "certified"
    found = rr.audit(solution.mechanism, epsilon=1)
    assert found.admissibility or found.rounding_only


def test_an_inadmissible_matrix_is_told_what_it_lacks(write, capfd: pytest.CaptureFixture[str]) -> None:
    """The ratio that an admissible one has in every output, and what the outputs have: a ratio, or more than two
    probabilities."""
    found = rr.audit([["0.8", "0.2"], ["0.1", "0.9"]], epsilon=3)
    assert found.why_inadmissible is not None
    assert found.why_inadmissible.startswith(
        "an admissible matrix has two probabilities with the ratio exp(3) = 20.0855 in every output; here output '0' "
        "reaches only 8, '1' reaches only 4.5; one with"
    )
    three = rr.audit([["0.25", "0.75"], ["0.5", "0.5"], ["0.375", "0.625"]], prior=rr.Prior.uniform(3))
    assert three.why_inadmissible is not None
    assert three.why_inadmissible.startswith(
        "an admissible matrix has two probabilities with the ratio 2 in every output; here output '0' has 3, '1' "
        "reaches only 1.5; one with"
    )
    assert cli.main(["audit", write("0.75,0.25\n0.25,0.75\n")]) == 0
    assert "yes: no mechanism of the same privacy is more informative" in " ".join(capfd.readouterr().out.split())


def test_the_json_says_why_a_matrix_is_inadmissible(write, capfd: pytest.CaptureFixture[str]) -> None:
    """It is the sentence of the text; where the matrix is admissible or not judged there is none."""
    matrix = write("0.75,0.25\n0.4,0.6\n")
    for options, part in (
        (["--epsilon", "1"], "dominates it"),
        (["--epsilon", "0.5"], "it is less private than declared"),
        ([], "of the same privacy, dominates it"),
    ):
        assert cli.main(["audit", matrix, *options]) == 0
        text = " ".join(capfd.readouterr().out.split())
        assert cli.main(["audit", matrix, *options, "--json"]) == 0
        told = json.loads(capfd.readouterr().out)
        assert (told["admissible"], told["rounding_only"]) == (False, False)
        assert f"no: {told['why_inadmissible']}" in text
        assert part in told["why_inadmissible"]
    for rows, judged in ((rr.RandomizedResponse(3, gamma=3), True), ([[1, 0], [0, 1]], None)):
        told = rr.audit(rows).to_dict()
        assert (told["admissible"], told["rounding_only"], told["why_inadmissible"]) == (judged, None, None)


def test_the_command(write, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    matrix = write(",x,y\nx,0.75,0.25\ny,0.4,0.6\n")
    counts = write("category,count\nx,3\ny,1\n", "counts.csv")
    better = str(tmp_path / "better.json")
    assert cli.main(["audit", matrix, "--epsilon", "1", "--prior", counts, "--json", "--improved", better]) == 0
    found = json.loads(capfd.readouterr().out)
    assert set(found) >= KEYS
    assert (found["privacy_ratio"], found["orientation"], found["satisfies"], found["admissible"]) == (
        "12/5",
        ROWS,
        True,
        False,
    )
    assert found["epsilon"]["lower"] <= math.log(2.4) <= found["epsilon"]["upper"]
    assert 0 < found["share_of_optimum"] < 1
    assert found["value"]["lower"] <= found["bound"]
    assert rr.ordering.dominates(rr.Mechanism.load(better), rr.Mechanism.load(better))
    assert cli.main(["audit", matrix, "--epsilon", "0.5", "--prior", counts]) == 0
    text = " ".join(capfd.readouterr().out.split())
    for words in (
        "2 inputs (rows: row-stochastic), 2 outputs",
        "epsilon between 0.875468737353 and 0.875468737354",
        "privacy ratio 12/5",
        "satisfies NO: it breaks LDP at epsilon 0.5",
        "less private than declared",
    ):
        assert words in text


def test_a_problem_file_and_what_solve_wrote(write, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The round trip: what `rropt solve` wrote has nearly the whole optimum of its problem."""
    problem = write(
        "schema = 1\n[input]\ncounts = { a = 5, b = 3, c = 1 }\n"
        '[objective]\nmaximize = "mutual_information"\n[[constraint]]\nkind = "ldp"\nepsilon = 1.0\n',
        "t.toml",
    )
    assert cli.main(["solve", problem, "--out", str(tmp_path / "o"), "--json"]) == 0
    solved = json.loads(capfd.readouterr().out)
    for given_ in ("o", "o/mechanism.csv", "o/certificate.json"):
        assert cli.main(["audit", str(tmp_path / given_), "--problem", problem, "--json"]) == 0
        found = json.loads(capfd.readouterr().out)
        assert found["satisfies"] is True
        assert found["share_of_optimum"] > 1 - 1e-6
        assert found["value"]["lower"] == solved["value"]


def test_reading_and_orienting_are_for_callers_too(write) -> None:
    raw = read_matrix(write("0,75;0,25\n0,4;0,6\n"))
    assert (raw.places, raw.doubles, raw.row_labels) == (2, None, None)
    mechanism, word, notes = oriented(array_matrix(TABLE))
    assert (mechanism.privacy_ratio, word, notes) == (Fraction(12, 5), ROWS, ())
