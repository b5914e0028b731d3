"""The trusted checker: the utilities inverse_determinant and inverse_eigenvalue.

The utilities against exact determinants and balls of eigenvalues; the worked examples; proofs made from the best
designs, and mutants whose claims are held against other mechanisms of the cone; what the format forbids.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mutants
import numpy as np
import pytest
import shells
from builders import Document, encode, log_ends, named, put, rat
from drawing import thinned
from scipy.optimize import linprog
from test_checker_designs import COMPLETE, FREE, Case, Quadratic, corners, dot, responses, short, write_tree

from rropt import checker
from rropt.checker import check_bytes

Vector = list[Fraction]
GAMMA = Fraction(3)
DET, EIG = "inverse_determinant", "inverse_eigenvalue"


def determinant(case: Case) -> Fraction:
    d = case.matrix().det()
    return Fraction(int(d.p), int(d.q))


def largest(case: Case) -> float:
    """The largest eigenvalue of E."""
    inverse = np.array([[float(Fraction(int(n.p), int(n.q))) for n in row] for row in case.matrix().inv().tolist()])
    p = np.array([float(n) for n in case.p])
    return float(np.linalg.eigvalsh(inverse - np.outer(p, p))[-1])


def utility(kind: str, case: Case) -> float:
    return -math.log(determinant(case)) if kind == DET else largest(case)


def claim(kind: str, case: Case, prices: Vector, forms: list[Vector], factors: Sequence[Vector]) -> Fraction:
    """Minus the yield, rounded down a little."""
    if kind == DET:
        rows = [[float(n) for n in form] for form in forms]
        d = Fraction(abs(np.linalg.det(np.array(rows)))).limit_denominator(10**12)
        return case.k - sum(prices) + short(2 * log_ends(d)[0]) - Fraction(1, 10**6)
    s = sum((dot(c, c) for c in factors), Fraction(0))
    cross = sum((2 * dot(c, w) - dot(c, case.p) ** 2 for c, w in zip(factors, forms, strict=True)), Fraction(0))
    return (cross - sum(prices)) / s


def document(
    kind: str, case: Case, proof: Document, prices: Vector, forms: list[Vector], factors: Sequence[Vector] = ()
) -> Document:
    made = case.document(proof, prices, [[Fraction(0)] * case.k] * len(case.c))
    made["proof"]["forms"] = [[rat(n) for n in form] for form in forms]
    value = Fraction(utility(kind, case))
    made["problem"]["utility"] = {"kind": kind}
    near = Fraction(1, 10**9)
    made["value"] = {"lower": rat(value - near), "upper": rat(value + near)}
    if factors:
        made["proof"]["factors"] = [[rat(n) for n in factor] for factor in factors]
    made["bound"] = rat(min(claim(kind, case, prices, forms, factors), value))
    return named(made)


def case_for(weights: Sequence[int], diagonal: int = 3, cone: Document = COMPLETE) -> Case:
    unit = [[int(x == z) for x in range(len(weights))] for z in range(len(weights))]
    return Case(cone, weights, responses(len(weights), diagonal), unit)


def parts(kind: str, case: Case) -> tuple[list[Vector], list[Vector]]:
    """Forms and factors: the roots of M^-1, or the eigenvectors of E at and near its largest eigenvalue."""
    inverse = np.array([[float(Fraction(int(n.p), int(n.q))) for n in row] for row in case.matrix().inv().tolist()])
    if kind == DET:
        return [[short(Fraction(n)) for n in row] for row in np.linalg.cholesky(inverse).T], []
    p = np.array([float(n) for n in case.p])
    values, vectors = np.linalg.eigh(inverse - np.outer(p, p))
    chosen = [vectors[:, j] for j in range(case.k) if values[j] > 0.999 * values[-1]]
    factors = [[short(Fraction(n), 30) for n in c] for c in chosen]
    return [[short(Fraction(n)) for n in inverse @ c] for c in chosen], factors


def priced(case: Case, forms: list[Vector], margin: Fraction = Fraction(1, 10**8)) -> Vector:
    points = corners(case.k, GAMMA)
    heights = [float(sum(dot(w, v) ** 2 for w in forms) / dot(case.p, v)) for v in points]
    table = -np.array([[float(n) for n in v] for v in points])
    found = linprog(np.ones(case.k), A_ub=table, b_ub=-np.array(heights), bounds=(None, None))
    return [short(Fraction(a) + margin * abs(Fraction(a))) for a in found.x]


def proved(kind: str, case: Case) -> Document:
    forms, factors = parts(kind, case)
    prices = priced(case, forms)
    tree = write_tree(Quadratic(case, GAMMA, prices, forms), random.Random(1))
    return document(kind, case, {"tree": tree}, prices, forms, factors)


CASES = {
    "two": case_for([1, 1]),
    "three": case_for([1, 1, 1]),
    "another prior": case_for([5, 2, 1]),
    "five": case_for([3, 2, 2, 1, 1]),
}
DOCUMENTS = {f"{kind} {name}": proved(kind, case) for kind in (DET, EIG) for name, case in CASES.items()}
PAIR = Case(COMPLETE, [1, 1], [[3, 1], [1, 3]], [[1, 0], [0, 1]])
HALF = Fraction(1, 2)


def example(kind: str) -> Document:
    """The worked examples."""
    one = Fraction(1)
    if kind == DET:
        made = document(DET, PAIR, {"tree": ["-10"]}, [one, one], [[one, -one], [HALF, HALF]])
        return {**made, "value": {"lower": "-1/1000000", "upper": "1/1000000"}, "bound": "0"}
    made = document(EIG, PAIR, {"tree": ["-40"]}, [2 * one] * 2, [[2 * one, -2 * one]], [[one, -one]])
    ends = {"lower": rat(2 - Fraction(1, 2**59)), "upper": rat(2 + Fraction(1, 2**59))}
    return {**made, "value": ends, "bound": "2"}


def test_the_worked_examples() -> None:
    for kind, value in ((DET, 0), (EIG, 2)):
        made = example(kind)
        verdict = check_bytes(encode(made))
        assert verdict.proved, verdict.reason
        assert verdict.lower == value
        assert f"minimize {kind}, k = 2" in verdict.problem
        assert check_bytes(encode(put(made, "bound", value=rat(value + Fraction(1, 2**50))))).status == "REFUTED"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_best_designs(name: str) -> None:
    made = DOCUMENTS[name]
    verdict = check_bytes(encode(made))
    assert verdict.proved, verdict.reason
    assert verdict.gap is not None
    if name.split(maxsplit=1)[1] in ("two", "three"):
        assert verdict.gap < Fraction(1, 10**5)


def best_known(kind: str, weights: Sequence[int]) -> float:
    """The lowest utility of subset selection and of randomised response with other diagonals."""
    k, found = len(weights), math.inf
    for t in range(1, k):
        subsets = list(itertools.combinations(range(k), t))
        table = [[3 if x in subset else 1 for subset in subsets] for x in range(k)]
        if len(subsets) >= k:
            found = min(found, utility(kind, Case(COMPLETE, weights, table, [[1] * k])))
    return found


@pytest.mark.parametrize("name", thinned([name for name in DOCUMENTS if "five" not in name], 3))
def test_mutants_that_are_proved_are_true(name: str) -> None:
    base, counted = DOCUMENTS[name], Counter[str]()
    rng = random.Random(name)
    every = rng.sample(list(mutants.systematic(base)), 250)
    several = [*every, *mutants.at_random(base, list(DOCUMENTS.values()), 80, len(name))]
    for mutant in several:
        verdict = check_bytes(mutant.data)
        counted[verdict.status] += 1
        if mutant.expectation in ("refused", "unreadable"):
            assert not verdict.proved, mutant.name
        if verdict.proved and verdict.kind == "optimum":
            made = json.loads(mutant.data)
            kind, cone = made["problem"]["utility"]["kind"], made["problem"]["cone"]
            if kind not in (DET, EIG) or cone != COMPLETE:
                continue
            weights = [int(n) for n in made["problem"]["weights"]]
            columns = [[int(n) for n in column["dense"]] for column in made["mechanism"]["columns"]]
            own = utility(kind, Case(cone, weights, list(zip(*columns, strict=True)), [[1] * len(weights)]))
            lower, upper = (float(Fraction(made["value"][end])) for end in ("lower", "upper"))
            assert lower - 1e-8 <= own <= upper + 1e-8, mutant.name
            assert float(Fraction(made["bound"])) <= min(own, best_known(kind, weights)) + 1e-8, mutant.name
    assert min(counted["PROVED"], counted["REFUTED"], counted["UNREADABLE"]) >= 5, counted


def test_the_utilities_of_mechanisms_at_random() -> None:
    """Enclosures that hold the exact determinant, and eigenvalues to either side of what balls say."""
    rng = random.Random(3)
    for _ in range(25):
        k = rng.randint(2, 5)
        weights = [rng.choice((1, 2, 7, 10**6, 10**25)) for _ in range(k)]
        table = [[rng.choice((0, 1, rng.randint(1, 99), 10**9)) for _ in range(k + 1)] for _ in range(k)]
        table = [row if any(row) else [1] * (k + 1) for row in table]
        case = Case(FREE, weights, table, [[1] * k])
        if not case.matrix().det():
            continue
        for kind in (DET, EIG):
            forms = [[Fraction(x == z) for x in range(k)] for z in range(k)]
            boxes = {"unit": "1", "boxes": [{"n": 0, "f": [], "e": [0] * k}]}
            made = document(kind, case, boxes, [Fraction(0)] * k, forms, forms if kind == EIG else ())
            if kind == DET:
                true = log_ends(1 / determinant(case))
                wide = Fraction(1, 2**60) * max(1, abs(true[0]))
                assert shells.claimed(made, rat(true[0] - wide), rat(true[1] + wide)) == ""
                assert shells.claimed(made, rat(true[1] + NEAR), rat(true[1] + 1)) == "lower"
                assert shells.claimed(made, rat(true[0] - 1), rat(true[0] - NEAR)) == "upper"
                continue
            for t, above in eigen_tests(case, case.matrix().inv()):
                if t > 0:
                    found = shells.claimed(made, *(("0", rat(t)) if above else (rat(t), rat(t + 10**60))))
                    assert found == "", (t, above)
                    wrong = shells.claimed(made, *((rat(t), rat(t)) if above else ("0", rat(t))))
                    assert wrong == ("lower" if above else "upper"), (t, above)


NEAR = Fraction(1, 10**100)


def eigen_tests(case: Case, inverse: Any) -> list[tuple[Fraction, bool]]:
    """t to either side of the largest eigenvalue of E, by signs of exact leading minors of t I - E."""
    k = case.k
    e = [[Fraction(int(inverse[x, z].p), int(inverse[x, z].q)) - case.p[x] * case.p[z] for z in range(k)]
         for x in range(k)]  # fmt: skip

    def is_above(t: Fraction) -> bool:
        rows = [[(t if x == z else 0) - e[x][z] for z in range(k)] for x in range(k)]
        for j in range(k):
            if rows[j][j] <= 0:
                return False
            for i in range(j + 1, k):
                factor = rows[i][j] / rows[j][j]
                rows[i] = [n - factor * own for n, own in zip(rows[i], rows[j], strict=True)]
        return True

    lo, hi = Fraction(0), sum((e[x][x] for x in range(k)), Fraction(1))
    for _ in range(70):
        middle = short((lo + hi) / 2, 90)
        lo, hi = (lo, middle) if is_above(middle) else (middle, hi)
    gap = hi / 2**50
    return [(short(lo - gap, 120), False), (short(hi + gap, 120), True)]


# -- one formula at a time -----------------------------------------------------------------------------------


def test_the_parts_of_the_yields() -> None:
    for kind in (DET, EIG):
        made = DOCUMENTS[f"{kind} another prior"]
        bound, near = Fraction(made["bound"]), Fraction(1, 10**4)
        low = put(put(made, "bound", value=rat(bound + near)), "value", "upper", value="99")
        assert "bound: claims more" in check_bytes(encode(low)).reason
    for scale in (Fraction(1, 3), Fraction(3)):  # 2 log |d|, not log |d|; d of either size and sign
        case = CASES["another prior"]
        forms, _ = parts(DET, case)
        forms = [[n * scale for n in form] for form in forms]
        prices = priced(case, forms)
        for order in (forms, forms[::-1]):
            tree = write_tree(Quadratic(case, GAMMA, prices, order), random.Random(1))
            made = document(DET, case, {"tree": tree}, prices, order)
            assert check_bytes(encode(made)).proved
            d = math.log(abs(np.linalg.det(np.array([[float(n) for n in form] for form in order]))))
            for wrong in (-d, case.k - 2 * d, -float(case.k)):
                claimed = Fraction(made["bound"]) + Fraction(wrong)
                wide = put(made, "value", "upper", value="999")
                verdict = check_bytes(encode(put(wide, "bound", value=rat(claimed))))
                assert verdict.proved == (wrong <= 0), wrong
    # (C_j.p)^2, s, and p p' in S(t): factors that are not centred and not of length 1.
    case = CASES["another prior"]
    forms, factors = parts(EIG, case)
    factors = [[c / 2 + 1 for c in factor] for factor in factors]
    inverse = case.matrix().inv().tolist()
    table = [[Fraction(int(n.p), int(n.q)) for n in row] for row in inverse]
    forms = [[short(dot(row, c)) for row in table] for c in factors]
    prices = priced(case, forms)
    tree = write_tree(Quadratic(case, GAMMA, prices, forms), random.Random(1))
    made = document(EIG, case, {"tree": tree}, prices, forms, factors)
    assert check_bytes(encode(made)).proved
    s, mean = dot(factors[0], factors[0]), dot(factors[0], case.p)
    bound = claim(EIG, case, prices, forms, factors)
    wide = put(made, "value", "upper", value="999")
    for wrong in (bound + mean**2 / s, bound * s if s > 1 else bound / s):
        assert wrong > bound
        assert "bound: claims more" in check_bytes(encode(put(wide, "bound", value=rat(wrong)))).reason
    assert check_bytes(encode(put(wide, "bound", value=rat(bound)))).proved


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if EIG in name])
def test_the_ends_of_an_eigenvalue(name: str) -> None:
    made, case = DOCUMENTS[name], CASES[name.split(maxsplit=1)[1]]
    below, above = (t for t, _ in eigen_tests(case, case.matrix().inv()))
    tight = put(put(made, "value", value={"lower": rat(below), "upper": rat(above)}), "bound", value="-99")
    assert check_bytes(encode(tight)).proved
    step = above / 2**40
    assert "value.upper" in check_bytes(encode(put(tight, "value", "upper", value=rat(above - step)))).reason or (
        above - step < below
    )
    high = {"lower": rat(below + step), "upper": "99"}
    assert "value.lower" in check_bytes(encode(put(tight, "value", value=high))).reason
    assert check_bytes(encode(put(tight, "value", "lower", value="0"))).proved
    assert check_bytes(encode(put(tight, "value", "lower", value="-1"))).proved


# -- what the format forbids -----------------------------------------------------------------------------------

D_MADE, E_MADE = example(DET), example(EIG)
TRACE = put(D_MADE, "problem", "utility", value={"kind": "inverse_trace"})
FORBIDDEN: dict[str, tuple[Document, tuple[str | int, ...], Any]] = {
    "one form": (D_MADE, ("proof", "forms"), [["1", "-1"]]),
    "three forms": (D_MADE, ("proof", "forms"), [["1", "-1"], ["1", "1"], ["1", "0"]]),
    "a form of three": (D_MADE, ("proof", "forms", 0), ["1", "1", "1"]),
    "two forms for a factor": (E_MADE, ("proof", "forms"), [["1", "-1"], ["1", "1"]]),
    "no factors": (E_MADE, ("proof", "factors"), []),
    "factors away": (E_MADE, ("proof", "factors"), put),
    "a factor of three": (E_MADE, ("proof", "factors"), [["1", "1", "1"]]),
    "factors of a determinant": (D_MADE, ("proof", "factors"), [["1", "-1"], ["1", "1"]]),
    "tree and boxes": (D_MADE, ("proof", "boxes"), []),
    "flows": (E_MADE, ("proof", "flows"), []),
    "queries": (D_MADE, ("problem", "utility", "queries"), [["1", "0"]]),
    "factors of a trace": (TRACE, ("proof", "factors"), [["1", "-1"], ["1", "1"]]),
    "linear-dual": (D_MADE, ("proof", "kind"), "linear-dual"),
    **{f"{what}, {made['problem']['utility']['kind']}": (made, path, value) for made in (D_MADE, E_MADE)
       for what, path, value in (
           ("maximize", ("problem", "sense"), "maximize"),
           ("a weight of 0", ("problem", "weights"), ["1", "0"]),
           ("rows", ("problem", "rows"), [{"name": "r", "sense": "<=", "rhs": "9", "terms": []}]),
           ("entropy", ("problem", "entropy"), {"at_least": "0", "shares": ["1", "1"], "sizes": [2, 2]}),
           ("a structure", ("problem", "structure"), "uniform_off_diagonal"),
           ("approximate", ("problem", "approximate"), {"epsilon": "1", "delta": "1/9"}),
           ("a robust cone", ("problem", "cone"),
            {"kind": "robust", "gamma": "2", "blocks": [[0], [1]], "lower": ["1/2", "1/2"]}),
       )},
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_forbidden_change_is_unreadable(name: str) -> None:
    made, path, value = FORBIDDEN[name]
    verdict = check_bytes(encode(put(made, *path, value=value)))
    assert verdict.status == "UNREADABLE", verdict


def test_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checker.MAX_DETERMINANT == 2**15
    for made, name, most, word in (
        (D_MADE, "MAX_DETERMINANT", 2, "bits of the forms"),
        (E_MADE, "MAX_DESIGN", 1, "k inputs"),
        (E_MADE, "MAX_QUADRATIC", 3, "k * max(k, forms)"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(checker, name, most)
            assert word in check_bytes(encode(made)).reason
            patch.setattr(checker, name, most + 5)
            assert check_bytes(encode(made)).proved
    three = put(put(E_MADE, "proof", "factors", value=[["1", "-1"]] * 3), "proof", "forms", value=[["1", "-1"]] * 3)
    monkeypatch.setattr(checker, "MAX_DESIGN", 2)
    assert "factors" in check_bytes(encode(three)).reason


def test_determinants_against_all_permutations() -> None:
    """A bound on -log det M is claimed from the determinant of the forms, which is at stake here alone."""
    rng, tried = random.Random(4), Counter[bool]()
    while min(tried[True], 5 * tried[False]) < 40:
        k = rng.randint(2, 5)
        rows = [[Fraction(rng.randint(-3, 3), rng.choice((1, 1, 2, 7))) for _ in range(k)] for _ in range(k)]
        rows = rng.choice([rows, [[Fraction(0), *row[1:]] for row in rows], [*rows[:-1], rows[0]]])
        true = abs(determinant_of(rows))
        tried[true > 0] += 1
        table = [[2 if x == z else 1 for z in range(k)] for x in range(k)]
        boxes = {"unit": "1", "boxes": [{"n": 0, "f": [], "e": [0] * k}]}
        unit = [[Fraction(x == z) for x in range(k)] for z in range(k)]
        made = document(DET, Case(FREE, [1] * k, table, [[1] * k]), boxes, [Fraction(0)] * k, unit)
        made["proof"]["forms"] = [[rat(n) for n in row] for row in rows]
        claims = [(Fraction(-(10**9)), False)]  # of forms that are dependent nothing follows
        if true:
            claims = [(k + 2 * log_ends(true)[0] + sign * Fraction(1, 2**100), sign < 0) for sign in (-1, 1)]
        for bound, proved in claims:
            reason = shells.checked({**made, "bound": rat(bound)}).reason
            assert (reason != "bound: claims more than the proof yields") == proved, (rows, reason)


def determinant_of(rows: list[Vector]) -> Fraction:
    """By all permutations."""
    total, k = Fraction(0), len(rows)
    for order in itertools.permutations(range(k)):
        sign = (-1) ** sum(order[i] > order[j] for i in range(k) for j in range(i + 1, k))
        total += sign * math.prod(rows[x][order[x]] for x in range(k))
    return total


# -- one mutant a check ----------------------------------------------------------------------------------------


def constant(made: Document) -> Document:
    columns = [{"dense": ["1", "1"]}, {"dense": ["2", "2"]}]
    table = {"denominators": ["3"], "outputs": ["out 0", "out 1"], "columns": columns}
    return put(put(made, "mechanism", value=table), "value", value={"lower": "0", "upper": "99"})


def cheap(made: Document) -> Document:
    return put(put(made, "proof", "prices", value=["3/5", "3/5"]), "bound", value="-9")


ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("criteria: a determinant of 0", ("_check_bound_of_proof",), lambda: put(
        put(D_MADE, "proof", "forms", value=[["1/2", "1/2"]] * 2), "proof", "prices", value=["9", "9"]
    )),
    ("criteria: factors of 0", ("_check_bound_of_proof",), lambda: put(
        E_MADE, "proof", "factors", value=[["0", "0"]]
    )),
    ("criteria: a bound by a little", ("_check_bound_of_proof", "_check_bound_of_value"), lambda: put(
        put(D_MADE, "bound", value=rat(Fraction(1, 2**50))), "value", "upper", value="1"
    )),
    ("criteria: the value of an eigenvalue above", ("_check_value",), lambda: put(
        put(E_MADE, "value", "upper", value=rat(2 - Fraction(1, 2**40))), "value", "lower", value="0"
    ) | {"bound": "1"}),
    ("criteria: the value of an eigenvalue below", ("_check_value",), lambda: put(
        put(E_MADE, "value", "lower", value=rat(2 + Fraction(1, 2**40))), "value", "upper", value="3"
    )),
    ("criteria: the value of a determinant", ("_check_value",), lambda: put(
        D_MADE, "value", value={"lower": "1/9", "upper": "1"}
    )),
    ("criteria: a singular M of D", ("_check_regular", "_check_value"), lambda: constant(D_MADE)),
    ("criteria: a singular M of E", ("_check_regular", "_check_value"), lambda: constant(E_MADE)),
    ("criteria: a corner of D", ("_check_corners",), lambda: cheap(D_MADE)),
    ("criteria: a corner of E", ("_check_corners",), lambda: cheap(E_MADE)),
]  # fmt: skip
