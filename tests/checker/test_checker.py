"""The trusted checker on certificates built by hand: every kind is proved, and every check refuses what is its own.

`ISOLATED` holds one mutant a check, broken there and nowhere else: it is refused, goes through when that check is
taken away, and stays refused when any other one is.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import builders
import oracle
import pytest
import test_checker_approximate
import test_checker_cases_damage
import test_checker_corner_forms
import test_checker_criteria
import test_checker_cuts
import test_checker_designs
import test_checker_divergences
import test_checker_entropy
import test_checker_levels
import test_checker_lift
import test_checker_lines
import test_checker_minorant
import test_checker_mutants_outer
import test_checker_offdiagonal
import test_checker_risk
from builders import Document, encode, information, information_document, pair, rat

from rropt import checker
from rropt.checker import check_bytes


def _status(document: object) -> str:
    return check_bytes(encode(document)).status


def _assert_proved(document: Document) -> None:
    verdict = check_bytes(encode(document))
    assert verdict.proved, verdict.reason
    assert oracle.judge(document)[0] == "true"


@pytest.mark.parametrize(("kind", "cone", "sense"), list(builders.pairs()))
def test_every_kind_cone_and_sense(kind: str, cone: str, sense: str) -> None:
    document = pair(kind, cone, sense)
    _assert_proved(document)
    verdict = check_bytes(encode(document))
    if kind == "farkas":
        assert (verdict.kind, verdict.lower, verdict.upper, verdict.gap) == ("infeasible", None, None, None)
        return
    assert verdict.kind == "optimum"
    assert verdict.lower is not None
    assert verdict.upper is not None
    value, bound = Fraction(document["value"]["lower"]), Fraction(document["bound"])
    assert (verdict.lower, verdict.upper) == ((value, bound) if sense == "maximize" else (bound, value))
    assert verdict.gap == verdict.upper - verdict.lower >= 0
    assert verdict.gap < Fraction(1, 2**50)
    assert (verdict.value_lower, verdict.value_upper) == (value, value)


LEVELS: list[Document] = [{"gamma": "3"}, {"gamma": "7/2"}, {"epsilon": "1"}, {"epsilon": "1/1000"}, {"epsilon": "20"}]


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 1, 1], [5, 0, 2, 1], [0, 0, 1], [9, 8, 7, 6, 5, 4]], ids=str)
def test_information_with_branches_on_inputs(weights: list[int], level: Document) -> None:
    parts = information(weights, level)
    order = sorted(range(parts.k), key=lambda x: (x * 7) % 5)
    _assert_proved(information_document(parts, parts.item_tree(order), two_valued=True))


@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_information_with_branches_on_the_count(k: int, level: Document) -> None:
    parts = information([1] * k, level)
    _assert_proved(information_document(parts, parts.count_tree()))
    _assert_proved(information_document(parts, parts.mixed_tree()))


def test_one_leaf_closes_a_loose_tree() -> None:
    parts = information([3, 2, 1], {"gamma": "2"}, margin=Fraction(1))
    _assert_proved(information_document(parts, ["3/2"]))


def test_an_empty_range_closes_a_leaf() -> None:
    """An absurd t stands where no corner is: "at most 1" with both inputs at gh, "2 or more" with one at 1, ..."""
    parts = information([1, 1], {"gamma": "3"})
    both, one, none = parts.leaf([0, 1]), parts.leaf([0]), parts.leaf([])
    tree = [0, 1, [0], "999", both, [1], "999", one, 1, [0], "999", one, [1], none, "999"]
    # The third leaf above stands where 0 is at gh and 1 is not: at most 1 is everything, the rest is empty.
    tree = [0, 1, [1], "999", both, [1], one, "999", 1, [0], "999", one, [0], none, "999"]
    _assert_proved(information_document(parts, tree))


def test_one_denominator_a_row() -> None:
    document = pair("linear", "complete gamma")
    document["mechanism"]["denominators"] = ["3", "6"]
    document["mechanism"]["columns"] = [{"dense": ["2", "2"]}, {"dense": ["1", "4"]}]
    _assert_proved(document)
    document["mechanism"]["columns"] = [{"low": "2", "high": "2", "members": "1"}, {"dense": ["1", "4"]}]
    _assert_proved(document)
    parts = information([2, 1, 1], {"gamma": "3"})
    wide = information_document(parts, parts.item_tree([0, 1, 2]))
    total = int(wide["mechanism"]["denominators"][0])
    wide["mechanism"]["denominators"] = [str(total), str(2 * total), str(7 * total)]
    for column in wide["mechanism"]["columns"]:
        column["dense"] = [str(int(n) * f) for n, f in zip(column["dense"], (1, 2, 7), strict=True)]
    _assert_proved(wide)


def test_members_are_bits_of_the_inputs() -> None:
    """Five inputs, two digits; bit 4 is the first digit's last bit. The value tells the order."""
    document = pair("linear", "free")
    names = [str(x) for x in range(5)]
    document["problem"].update(inputs=names, weights=["1"] * 5, utility={"kind": "linear", "cost": [[4, 0, "1"]]})
    document["mechanism"] = {
        "denominators": ["9"],
        "outputs": ["0", "1"],
        "columns": [{"low": "2", "high": "7", "members": "12"}, {"low": "7", "high": "2", "members": "12"}],
    }
    document["proof"].update(prices=["0", "0", "0", "0", "1"])
    document.update(value={"lower": "7/9", "upper": "7/9"}, bound="1")
    _assert_proved(document)
    document["mechanism"]["columns"][1] = {"dense": ["7", "2", "7", "7", "2"]}
    _assert_proved(document)
    for members in ("21", "0d", "1", "012", "1G", "1A", "-2", "+2", " 2", "0x", "1_", "20", "f2", "12\n", ""):
        document["mechanism"]["columns"][0]["members"] = members
        assert _status(document) != "PROVED", members
        # Lower case, exactly two digits, no bit above 4; 0d is well formed and says something else.
        assert _status(document) == ("REFUTED" if members == "0d" else "UNREADABLE"), members


# -- one mutant a check --------------------------------------------------------------------------------


def _set(document: Document, **changes: Any) -> Document:
    """Values by path: proof__prices=... ."""
    for path, value in changes.items():
        *above, last = path.split("__")
        place = document
        for step in above:
            place = place[step]
        place[last] = value
    return document


IDENTITY = [{"dense": ["1", "0"]}, {"dense": ["0", "1"]}]
TWO = {"lower": "2", "upper": "2"}


def _identity(cone: str) -> Document:
    """A mechanism outside its cone, with its value and a bound that fits it."""
    return _set(pair("linear", cone), mechanism__denominators=["1"], mechanism__columns=IDENTITY, value=TWO, bound="2")


def _cheap(cone: str, kind: str = "linear") -> Document:
    """Prices that are too low for the cone; where there is a mechanism, one that says nothing, so that only the
    bound is false."""
    document = pair(kind, cone)
    prices = [Fraction(price) - Fraction(1, 100) for price in document["proof"]["prices"]]
    document["proof"]["prices"] = [rat(price) for price in prices]
    if kind == "farkas":
        return document
    half = {"dense": ["1", "1"]}
    value = {"linear": "1", "bayes": "1/2"}[kind]
    return _set(
        document,
        mechanism__denominators=["2"],
        mechanism__columns=[half, half],
        value={"lower": value, "upper": value},
        bound=rat(sum(prices)),
    )


def _row_sums() -> Document:
    columns = [{"dense": ["2", "0"]}, {"dense": ["0", "1"]}]
    return _set(pair("linear", "free"), mechanism__columns=columns, value={"lower": "3", "upper": "3"}, bound="3")


def _row(sense: str, rhs: str, multiplier: str, prices: list[str]) -> Document:
    row = {"name": "r", "sense": sense, "rhs": rhs, "terms": [[0, 0, "1"]]}
    return _set(pair("linear", "complete gamma"), problem__rows=[row], proof__rows=[multiplier], proof__prices=prices)


def _tree(change: Callable[[builders.Information, list[Any]], list[Any]]) -> Document:
    parts = information([1, 1], {"gamma": "3"})
    return information_document(parts, change(parts, parts.item_tree([0, 1])))


def _constant(document: Document) -> Document:
    """The mechanism that says nothing, with its value 0."""
    columns = [{"dense": ["1"] * len(document["problem"]["inputs"])}]
    table = {"denominators": ["1"], "outputs": ["o"], "columns": columns}
    return _set(document, mechanism=table, value={"lower": "0", "upper": "0"})


def _too_good(tree: Callable[[builders.Information], list[Any]]) -> Document:
    """A bound of half the capacity for two inputs: false."""
    parts = information([1, 1], {"gamma": "3"})
    half = copy.copy(parts)
    half.price = parts.price / 2
    return _constant(information_document(half, tree(parts)))


def _of_levels() -> Document:
    path = Path(__file__).resolve().parents[1] / "data" / "independent_checker" / "levels-1.json"
    made: Document = json.loads(path.read_bytes())
    return made


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("no assumption", ("_check_assumptions",), lambda: _set(_of_levels(), assumptions=[])),
    ("assumption twice", ("_check_assumptions",), lambda: _set(
        _of_levels(), assumptions=[*_of_levels()["assumptions"], "v-log-v-convex"]
    )),
    ("an assumption too many", ("_check_assumptions",), lambda: _set(
        pair("linear", "free"), assumptions=["mi-column-convex"]
    )),
    ("other outputs", ("_check_outputs",), lambda: _set(pair("linear", "free"), mechanism__outputs=["1", "0"])),
    ("row sums", ("_check_row_sums",), _row_sums),
    ("complete cone", ("_check_complete",), lambda: _identity("complete gamma")),
    ("complete base", ("_check_complete",), lambda: _set(
        _identity("polyhedral complete"), problem__cone__rows=[["-1", "0"]], proof__multipliers=[["0"], ["0"]]
    )),
    ("edges", ("_check_edges",), lambda: _identity("graph epsilon")),
    ("edges of a base", ("_check_edges",), lambda: _set(
        _identity("polyhedral graph"),
        problem__cone__rows=[["-1", "0"]],
        problem__cone__base=builders.GRAPH,
        proof__flows=[[[0, 1, "1/3"]], [[1, 0, "1/3"]]],
        proof__multipliers=[["0"], ["0"]],
    )),
    ("cone rows", ("_check_cone_rows",), lambda: _identity("polyhedral free")),
    ("a row of the problem", ("_check_problem_rows",), lambda: _row("<=", "1/2", "0", ["2/3", "2/3"])),
    ("an equality from below", ("_check_problem_rows",), lambda: _row("=", "3/4", "0", ["2/3", "2/3"])),
    ("value above", ("_check_value",), lambda: _set(pair("linear", "free"), value={"lower": "3", "upper": "4"})),
    ("value below", ("_check_value",), lambda: _set(pair("bayes", "free"), value={"lower": "0", "upper": "1/2"})),
    ("value turned", ("_check_value", "_check_value_order"), lambda: _set(
        pair("linear", "free"), value={"lower": "3", "upper": "1"}
    )),
    ("bound below the value", ("_check_bound_of_value", "_check_lines"), lambda: _set(
        pair("linear", "complete gamma"), bound="1"
    )),
    ("bound above a minimum", ("_check_bound_of_value", "_check_lines"), lambda: _set(
        pair("linear", "complete gamma", "minimize"), bound="1"
    )),
]  # fmt: skip
for module in (
    test_checker_approximate,
    test_checker_cases_damage,
    test_checker_corner_forms,
    test_checker_criteria,
    test_checker_cuts,
    test_checker_designs,
    test_checker_divergences,
    test_checker_entropy,
    test_checker_levels,
    test_checker_lift,
    test_checker_lines,
    test_checker_minorant,
    test_checker_mutants_outer,
    test_checker_offdiagonal,
    test_checker_risk,
):
    ISOLATED += module.ISOLATED
# These only call the others.
COMPOSITES = {"_check_mechanism_in_cone", "_check_membership", "_check_tree", "_check_boxes",
              "_check_cases", "_check_off_diagonals", "_check_cuts", "_check_proof",
              "_check_certificate", "_check_form_leaf",
              "_check_corner_tree",
              "_check_thresholds", "_check_risk_trees", "_check_risk_tree", "_check_levels"}  # fmt: skip
SINGLE = sorted({name for _, names, _ in ISOLATED for name in names})


def test_every_check_has_its_mutant() -> None:
    known = {name for name in vars(checker) if name.startswith("_check_")}
    assert known == COMPOSITES | set(SINGLE)


@pytest.mark.parametrize(
    ("name", "checks", "make"),
    # Trees of off-diagonals are grown first, which takes seconds each.
    [pytest.param(*own, id=own[0], marks=[pytest.mark.long] if "off-diagonals" in own[0] else []) for own in ISOLATED],
)
def test_without_its_check_a_mutant_gets_through_and_only_then(
    name: str, checks: tuple[str, ...], make: Callable[[], Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode(make())
    assert check_bytes(data).status == "REFUTED"
    # Without all the others at once, which takes away more than each of them alone does.
    for without in [[other for other in SINGLE if other not in checks], *([one] for one in checks if len(checks) > 1)]:
        with monkeypatch.context() as patch:
            for other in without:
                patch.setattr(checker, other, lambda *_: None)
            assert check_bytes(data).status == "REFUTED", without
    for check in checks:
        monkeypatch.setattr(checker, check, lambda *_: None)
    verdict = check_bytes(data)
    assert verdict.proved, verdict.reason


def test_a_verdict_is_printed_as_its_report_and_never_as_html_of_the_file() -> None:
    unknown = {"format": "<b>&"}
    for made in (pair(*next(iter(builders.pairs()))), unknown):
        verdict = check_bytes(encode(made))
        assert str(verdict) == verdict.report()
        page = verdict._repr_html_()
        assert page.count("<") == page.count(">") == 2
        assert verdict.status in page
    assert "&lt;b&gt;&amp;" in checker.Verdict("UNREADABLE", "<b>&")._repr_html_()
