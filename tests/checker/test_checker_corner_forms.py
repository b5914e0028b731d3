"""In both checkers: corner-trees of inverse_trace, inverse_determinant and inverse_eigenvalue.

The certificates of tests/data/independent_checker were made by hand from the text alone: forms in floats, prices by a linear
programme over the corners. What is false, and what the text does not let be read, is tried on changes of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import builders
import numpy as np
import pytest
from builders import Document, assert_limit_named, assert_unreadable, changed, put
from independent_checker.checker import verdict
from scipy.optimize import linprog

STORED = Path(__file__).resolve().parents[1] / "data" / "independent_checker"
NAMES = ("trace", "determinant", "eigenvalue")


def stored(name: str) -> Document:
    made: Document = json.loads((STORED / f"corner-forms-{name}.json").read_bytes())
    return made


def said(made: Document) -> tuple[str, str]:
    """Both checkers' verdict, and the second one's reason."""
    status, reason = verdict(json.dumps(made).encode())
    assert builders.said(made)[0] == status
    return status, reason


def leaves(made: Document) -> list[Document]:
    return [node for node in made["proof"]["nodes"] if isinstance(node, dict)]


def branches(made: Document) -> list[list[Any]]:
    return [node for node in made["proof"]["nodes"] if isinstance(node, list)]


def places(wanted: Callable[[Document], list[Any]]) -> list[Any]:
    return [pytest.param(name, i, id=f"{name} {i}") for name in NAMES for i in range(len(wanted(stored(name))))]


def refuted(made: Document, why: str) -> None:
    status, reason = said(made)
    assert (status, why in reason) == ("REFUTED", True), (status, reason)


@pytest.mark.parametrize("name", NAMES)
def test_proved(name: str) -> None:
    assert said(stored(name)) == ("PROVED", "")


def moved(text: str, by: Fraction) -> str:
    return str(Fraction(text) + by)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_tighter_is_proved(name: str) -> None:
    made, step = stored(name), Fraction(1, 10**9)
    refuted(put(made, "bound", value=moved(made["bound"], step)), "the bound is above what the proof yields")
    lower = put(made, "proof", "yield", value=moved(made["proof"]["yield"], -step))
    refuted(put(lower, "bound", value=moved(made["bound"], step)), "the yield of a leaf")


@pytest.mark.parametrize(("name", "i"), places(leaves))
def test_no_price_may_fall_and_no_form_may_change(name: str, i: int) -> None:
    made = stored(name)
    for x in range(len(leaves(made)[i]["a"])):

        def lower(new: Document, x: int = x) -> None:
            leaves(new)[i]["a"][x] -= 1 << 12

        refuted(changed(made, lower), "a corner of an output")
    for j, form in enumerate(leaves(made)[i]["forms"]):
        larger, half = [number + number // 100 for number in form], [number // 2 for number in form]
        refuted(changed(made, lambda new, j=j, to=larger: put_form(new, i, j, to)), "a corner of an output")
        refuted(changed(made, lambda new, j=j, to=half: put_form(new, i, j, to)), "the yield of a leaf")


def put_form(made: Document, i: int, j: int, form: list[int]) -> None:
    leaves(made)[i]["forms"][j] = form


@pytest.mark.parametrize(("name", "i"), places(branches))
def test_limits_are_those_of_the_branches(name: str, i: int) -> None:
    """A branch on another output or input, or at a larger number, lets other corners in."""
    made = stored(name)
    y, x, c = branches(made)[i]
    k, m = len(made["problem"]["inputs"]), len(made["problem"]["outputs"])
    for to in ([(y + 1) % m, x, c], [y, (x + 1) % k, c], [y, x, moved(c, Fraction(1, 8))]):
        place = made["proof"]["nodes"].index([y, x, c])
        refuted(put(made, "proof", "nodes", place, value=to), "a corner of an output")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("c", ["9/8", "2", "3", "7/2"])
def test_a_leaf_holds_in_a_part_of_its_box(name: str, c: str) -> None:
    made = stored(name)
    nodes = made["proof"]["nodes"]
    for y in range(len(made["problem"]["outputs"])):
        for i, leaf in enumerate(nodes):
            if isinstance(leaf, dict):
                split = [*nodes[:i], [y, 0, c], leaf, leaf, *nodes[i + 1 :]]
                assert said(put(made, "proof", "nodes", value=split)) == ("PROVED", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_closed_output_has_no_corners(name: str) -> None:
    """Beyond gamma in every output nothing is left, and any prices do; beyond less than gamma something is."""
    made = stored(name)
    k, m, unit = len(made["problem"]["inputs"]), len(made["problem"]["outputs"]), int(made["proof"]["unit"])
    whole = [[unit * (x == z) for x in range(k)] for z in range(k)]
    nothing = {"a": [-(1 << 52)] * k, "l": [], "forms": whole} | ({"factors": whole} if name == "eigenvalue" else {})
    leaf = made["proof"]["nodes"][-1]
    for last, status in (("7/2", "PROVED"), ("5/2", "REFUTED")):
        split = [*made["proof"]["nodes"][:-1]]
        for y in range(m):
            split += [[y, 0, last if y == m - 1 else "7/2"], leaf]
        assert said(put(made, "proof", "nodes", value=[*split, nothing]))[0] == status


def swapped(made: Document) -> None:
    nodes = made["proof"]["nodes"]
    where = [i for i, node in enumerate(nodes) if isinstance(node, dict)]
    nodes[where[0]], nodes[where[-1]] = nodes[where[-1]], nodes[where[0]]


FALSE: dict[str, tuple[Callable[[Document], object], str]] = {
    "forms that are dependent": (lambda made: put_form(made, 0, 0, leaves(made)[0]["forms"][1]), ""),
    "forms of zero": (lambda made: leaves(made)[0].update(forms=[[0] * len(f) for f in leaves(made)[0]["forms"]]), ""),
    "leaves at other places": (swapped, ""),
    "no second subtree": (lambda made: made["proof"]["nodes"].pop(), "the tree is not complete"),
    "a third subtree": (lambda made: made["proof"]["nodes"].append(leaves(made)[0]), "elements after the end"),
    "a wider cone": (lambda made: made["problem"]["cone"].update(gamma="4"), "a corner of an output"),
    "a unit that is larger": (lambda made: made["proof"].update(unit="2199023255552"), ""),
    "no lemma": (lambda made: made["assumptions"].remove("quadratic-over-linear-convex"), "assumptions"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", FALSE)
def test_what_is_false(name: str, case: str) -> None:
    change, why = FALSE[case]
    refuted(changed(stored(name), change), why)


@pytest.mark.parametrize(
    ("name", "key", "to", "why"),
    [
        ("determinant", "forms", [[1 << 40, 0], [0, 0]], "the forms are dependent"),
        ("determinant", "forms", [[3 << 40, 5 << 39], [3 << 41, 5 << 40]], "the forms are dependent"),
        ("eigenvalue", "factors", [[0, 0, 0]] * 2, "factors of zero"),
        ("eigenvalue", "factors", [[0, 0, 1 << 40], [1 << 40, 0, 0]], "the yield of a leaf"),
    ],
)
def test_forms_and_factors(name: str, key: str, to: Any, why: str) -> None:
    for i in range(len(leaves(stored(name)))):
        refuted(changed(stored(name), lambda new, i=i: leaves(new)[i].update({key: to})), why)


def of_rows(made: Document) -> list[tuple[Document, int, str]]:
    rows = made["problem"]["rows"]
    return [(leaf, j, rows[i]["sense"]) for leaf in leaves(made) for j, (i, _) in enumerate(leaf["l"])]


@pytest.mark.parametrize(("name", "n"), places(of_rows))
def test_multipliers_of_rows(name: str, n: int) -> None:
    """Of `<=` no number below 0 is read; without its rows a leaf does not hold."""

    def negate(new: Document) -> None:
        leaf, j, _ = of_rows(new)[n]
        leaf["l"][j][1] *= -1

    def leave(new: Document) -> None:
        leaf, j, _ = of_rows(new)[n]
        del leaf["l"][j]

    negated = said(changed(stored(name), negate))[0]
    assert negated == ("UNREADABLE" if of_rows(stored(name))[n][2] == "<=" else "REFUTED")
    assert said(changed(stored(name), leave))[0] == "REFUTED"


def test_both_senses_of_rows_occur() -> None:
    assert {sense for name in NAMES for _, _, sense in of_rows(stored(name))} == {"<=", "="}


UNREADABLE: dict[str, Callable[[Document], object]] = {
    "no forms": lambda made: leaves(made)[0].pop("forms"),
    "a form too few": lambda made: leaves(made)[0]["forms"].pop(),
    "a form too many": lambda made: leaves(made)[0]["forms"].append(leaves(made)[0]["forms"][0]),
    "a form too long": lambda made: leaves(made)[0]["forms"][0].append(1),
    "a form of RAT": lambda made: leaves(made)[0]["forms"][0].__setitem__(0, "1"),
    "a form of 2^53": lambda made: leaves(made)[0]["forms"][0].__setitem__(0, 1 << 53),
    "columns": lambda made: leaves(made)[0].update(columns=[[]] * len(made["problem"]["outputs"])),
    "n": lambda made: leaves(made)[0].update(n=[[0, 1]]),
    "a branch on a number": lambda made: made["proof"]["nodes"].__setitem__(0, ["n", [[0, "2"]], 0]),
    "a branch on an action": lambda made: made["proof"]["nodes"].__setitem__(0, ["g", 0, 0]),
    "a branch at 1": lambda made: branches(made)[0].__setitem__(2, "1"),
    "no such output": lambda made: branches(made)[0].__setitem__(0, len(made["problem"]["outputs"])),
    "no such row": lambda made: leaves(made)[0].update(l=[[2, 1]]),
    "a multiplier of 0": lambda made: leaves(made)[0].update(l=[[0, 0]]),
    "a free cone": lambda made: made["problem"].update(cone={"kind": "free"}),
    "outputs of any number": lambda made: made["problem"].update(outputs=None, rows=[]),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_unreadable(name: str, case: str) -> None:
    assert said(changed(stored(name), UNREADABLE[case]))[0] == "UNREADABLE"


LENGTHS = {"a form too few", "a form too many", "a form too long", "no such output", "no such row", "a branch at 1"}
"""What no schema says."""


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_says_the_same(name: str) -> None:
    schema = json.loads((STORED.parents[2] / "docs" / "certificate.schema.json").read_bytes())
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema)
    assert validator.is_valid(stored(name))
    taken = {case for case, change in UNREADABLE.items() if validator.is_valid(changed(stored(name), change))}
    assert taken == LENGTHS


@pytest.mark.parametrize("name", NAMES)
def test_factors_exactly_with_an_eigenvalue(name: str) -> None:
    made = stored(name)
    changes: list[Callable[[Document], object]] = [lambda new: leaves(new)[0].update(factors=leaves(new)[0]["forms"])]
    if name == "eigenvalue":
        changes = [
            lambda new: leaves(new)[0].pop("factors"),
            lambda new: leaves(new)[0].update(factors=[]),
            lambda new: leaves(new)[0].update(factors=[[1, 0, 0]] * 65, forms=[[1, 0, 0]] * 65),
        ]
    assert {said(changed(made, change))[0] for change in changes} == {"UNREADABLE"}


def wide(k: int, m: int, unit: str) -> Document:
    """A problem of k inputs and a tree of one leaf, whose forms are 0."""

    def change(made: Document) -> None:
        outputs = [f"{y}" for y in range(m)]
        made["problem"].update(inputs=[f"{x}" for x in range(k)], outputs=outputs, weights=["1"] * k, rows=[])
        dense = [{"dense": [str(1 + (x == y)) for x in range(k)]} for y in range(m)]
        made["mechanism"].update(outputs=outputs, denominators=[str(m + (x < m)) for x in range(k)], columns=dense)
        made["proof"].update(unit=unit, nodes=[{"a": [0] * k, "l": [], "forms": [[0] * k] * k}])

    return changed(stored("determinant"), change)


def test_as_many_forms_as_queries() -> None:
    """With the first query twice a bound is lower than that of the certificate, and read; one form less is not read."""

    def thrice(made: Document) -> None:
        queries = made["problem"]["utility"]["queries"]
        queries.append(queries[0])
        for leaf in leaves(made):
            leaf["forms"].append(leaf["forms"][0])

    made = changed(stored("trace"), thrice)
    assert said(made)[0] == "REFUTED"
    assert said(changed(made, lambda new: leaves(new)[0]["forms"].pop()))[0] == "UNREADABLE"


def restricted(most: str) -> Document:
    """The eigenvalue's problem, input 2 of each output at least twice the smallest entry in the last leaf, whose prices
    do not hold at (3, 3, 2): no column of that box is a multiple of it. Elsewhere forms and prices are 0: both sides of
    the corners are."""
    made = stored("eigenvalue")
    p = np.array([int(weight) for weight in made["problem"]["weights"]], dtype=float)
    p, form = p / p.sum(), np.array([1.0, 1.0, -1.2])
    corners = [np.array([a, b, c]) for a in (1.0, 3.0) for b in (1.0, 3.0) for c in (2.0, 3.0) if min(a, b) == 1]
    # The least price at (3, 3, 2).
    found = linprog(
        np.array([3.0, 3.0, 2.0]),
        A_ub=[-v for v in corners],
        b_ub=[-((form @ v) ** 2) / (p @ v) for v in corners],
        bounds=[(-20, 20)] * 3,
    )
    unit = 1 << 40
    prices, own = [int(a * unit) + unit // 1000 for a in found.x], [round(w * unit) for w in form]
    assert (found.x + 2e-3) @ [3, 3, 2] * (p @ [3, 3, 2]) < (form @ [3, 3, 2]) ** 2
    first, zero = [[unit, 0, 0]], [[0, 0, 0]]
    nothing = {"a": [0, 0, 0], "l": [], "forms": zero, "factors": first}
    nodes: list[Any] = []
    for y in range(3):
        nodes += [[y, 2, "2"], nothing]
    nodes.append({"a": prices, "l": [], "forms": [own], "factors": first})
    made["proof"].update(nodes=nodes)
    made["proof"]["yield"] = most
    return put(made, "bound", value=str(-Fraction(most)))


def test_a_corner_without_a_smallest_entry_is_not_asked() -> None:
    """Nothing is asked of (3, 3, 2); and what is as large as the other side holds."""
    assert said(restricted("50")) == ("PROVED", "")
    made = restricted("50")
    made["proof"]["nodes"][-1]["forms"][0][2] *= -1
    assert said(made)[0] == "REFUTED"


def test_limits() -> None:
    """The operations of a leaf are 4 (J + 2) m 2^k (x + t) and more: x grows with the length of the unit."""
    assert said(wide(12, 20, "1" + "0" * 100))[0] == "REFUTED"
    assert said(wide(12, 20, "1" + "0" * 3999)) == ("UNREADABLE", "limit: operations")
    assert said(wide(11, 20, "1" + "0" * 400))[0] == "REFUTED"
    assert said(wide(13, 2, "1"))[0] == "UNREADABLE"


def test_the_first_checker_names_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        assert_limit_named(patch, "MAX_CORNERS", 2, "k inputs of a corner-tree", stored("eigenvalue"))
    many = changed(stored("eigenvalue"), lambda new: leaves(new)[0].update(factors=[[1, 0, 0]] * 65))
    assert_unreadable(many, "factors: 65 is beyond the limit of 64")
    made = wide(12, 20, "1" + "0" * 400)
    assert said(made)[0] == "REFUTED"
    assert_limit_named(monkeypatch, "MAX_OPERATIONS", 10**6, "operations", made)


def lowered(name: str) -> Document:
    """A price of the first leaf that is too low, so that the yield holds and a corner does not."""
    return changed(stored(name), lambda made: leaves(made)[0]["a"].__setitem__(0, leaves(made)[0]["a"][0] - (1 << 12)))


def tighter(name: str) -> Document:
    made, step = stored(name), Fraction(1, 10**9)
    lower = put(made, "proof", "yield", value=moved(made["proof"]["yield"], -step))
    return put(lower, "bound", value=moved(made["bound"], step))


ISOLATED = [
    *((f"a corner of forms: {name}", ("_check_forms_at_corners",), lambda name=name: lowered(name)) for name in NAMES),
    *((f"a yield of forms: {name}", ("_check_yield_of_forms",), lambda name=name: tighter(name)) for name in NAMES),
]


# -- the claim itself, by another way --------------------------------------------------------------------


def utility(name: str, problem: Document, matrix: np.ndarray) -> float:
    weights = np.array([int(weight) for weight in problem["weights"]])
    p = weights / weights.sum()
    m = matrix / (p @ matrix) @ matrix.T
    if name == "determinant":
        return -float(np.linalg.slogdet(m)[1])
    error = np.linalg.inv(m) - np.outer(p, p)
    if name == "eigenvalue":
        return float(np.linalg.eigvalsh(error)[-1])
    queries = np.array([[float(Fraction(number)) for number in row] for row in problem["utility"]["queries"]])
    return float(np.trace(queries @ error @ queries.T))


@pytest.mark.parametrize("name", NAMES)
def test_no_matrix_beats_the_bound(name: str) -> None:
    """Between the mechanism and vertices, drawn, of the polytope of all mechanisms."""
    made = stored(name)
    problem = made["problem"]
    k, m, gamma = len(problem["inputs"]), len(problem["outputs"]), float(problem["cone"]["gamma"])
    unit = np.eye(k * m).reshape(k, m, k * m)
    above = [unit[x, y] - gamma * unit[z, y] for x in range(k) for z in range(k) if x != z for y in range(m)]
    right, equal, sides = [0.0] * len(above), list(unit.sum(1)), [1.0] * k
    for row in problem["rows"]:
        form = sum(float(Fraction(c)) * unit[x, y] for x, y, c in row["terms"])
        (equal if row["sense"] == "=" else above).append(form)
        (sides if row["sense"] == "=" else right).append(float(Fraction(row["rhs"])))
    whole = int(made["mechanism"]["denominators"][0])
    own = np.array([[int(number) / whole for number in part["dense"]] for part in made["mechanism"]["columns"]]).T
    draw, least, bound = np.random.default_rng(0), np.inf, float(Fraction(made["bound"]))
    for _ in range(100):
        vertex = linprog(draw.standard_normal(k * m), A_ub=above, b_ub=right, A_eq=equal, b_eq=sides).x.reshape(k, m)
        for t in (0.02, 0.1, 0.5, 0.9):
            least = min(least, utility(name, problem, own + t * (vertex - own)))
    assert bound - 1e-9 <= least
    assert least <= 1.05 * float(Fraction(made["value"]["upper"])), "they come near the mechanism, or the test is weak"
