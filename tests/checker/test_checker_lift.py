"""The step `lift`: each number of the rows that it makes, what it asks of the problem before it, and what
stays of the problem after it.

In a certificate of `tied` the mechanism is worth 0 and the proof reaches the limit exactly: a cost that is above the
form anywhere, or a price below the limit, is one too many.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Document, log_ends, put, rat, said
from shells import FREE, member, table

F = Fraction
TINY = F(1, 2**78)  # beyond the grid on which the numbers of steps lie
STORED = Path(__file__).resolve().parents[1] / "data"
STEP = ("proof", "steps", 0)


def stored(name: str) -> Document:
    """A certificate with steps, whose proof is as searches give it where it stands in lines there."""
    plain = STORED / "steps" / f"{name}.json"
    at = plain if plain.exists() else STORED / "independent_checker" / f"{name}.json"
    made: Document = json.loads(at.read_bytes())
    return made


WEIGHTS = [5, 1, 4]
GIVEN = [[2, 3], [1, 0], [0, 4]]
GAIN = [[F(1), F(0), F(1, 3)], [F(0), F(2), F(1, 2)]]
UTILITIES: dict[str, Document] = {
    "plain": {"kind": "mutual_information"},
    "given": {"kind": "mutual_information", "given": [[str(n) for n in row] for row in GIVEN]},
    "square": {"kind": "chi_square"},
    "bayes": {"kind": "bayes", "gain": [[rat(c) for c in action] for action in GAIN]},
}
POINTS = {"plain": [7, 1, 2], "given": [3, 10**9, 2], "square": [1, 5, 2], "bayes": [2, 1]}
GIBBS = ["gibbs-inequality"]
YOUNG = ["young-inequality"]
AT_MOST = F(3, 4)


def form(kind: str) -> list[F]:
    """The linear form below the limited function, by the text, less what a checker may round."""
    point, p = POINTS[kind], [F(weight, 10) for weight in WEIGHTS]
    if kind == "bayes":
        means = [sum((n * own[x] for n, own in zip(point, GAIN, strict=True)), F(0)) / 3 for x in range(3)]
        return [a * mean - TINY for a, mean in zip(p, means, strict=True)]
    if kind == "square":
        w, s = (sum((a * F(n) ** power for a, n in zip(p, point, strict=True)), F(0)) for power in (1, 2))
        return [a * (2 * n / w - s / w**2 - 1) - TINY for a, n in zip(p, point, strict=True)]
    found = [F(0)] * 3
    for cells in zip(*(GIVEN if kind == "given" else [[weight] for weight in WEIGHTS]), strict=True):
        mean = F(sum(n * b for n, b in zip(cells, point, strict=True)), sum(cells))
        for x, n in enumerate(cells):
            found[x] += F(n, 10) * log_ends(F(point[x]) / mean)[0]
    return [F(int(number * 2**300), 2**300) - TINY for number in found]


def limit_of(kind: str, at_most: F = AT_MOST) -> Document:
    return {"utility": UTILITIES[kind], "weights": [str(n) for n in WEIGHTS], "at_most": rat(at_most)}


def lift_of(kind: str, **changes: Any) -> Document:
    return {"kind": "lift", "of": 0, "points": [[str(n) for n in POINTS[kind]]], **changes}


RENYI = {"kind": "renyi", "order": "2", "epsilon": "1/2"}
ALL = {"kind": "zero_concentrated", "rho": "1/5"}
# t^2 >= t - 1/4 with exp(1/2) below the right side, and t^3 >= t - 2 / 3^(3/2) with exp(6/5) below it.
ROW: Document = {"of": 0, "pair": [2, 0], "forms": [["1", "1/4"]], "at_most": rat(F(16487212708, 10**10))}
CUBE: Document = {"of": 1, "order": "3", "pair": [0, 1], "forms": [["1", rat(F(3849001796, 10**10))]]}
CUBE["at_most"] = rat(F(3320116923, 10**9))


def tied(cost: list[F], at_most: F, steps: list[Document], *, names: list[str], **more: Any) -> Document:
    """Nothing is better than `at_most`: the multiplier of the first row of the lift is 1 for the output with a cost."""
    cells = [[x, 0, rat(c)] for x, c in enumerate(cost) if c]
    made = member(table([[0, 1]] * len(cost)), utility={"kind": "linear", "cost": cells}, **more)
    proof = {"kind": "linear-dual", "prices": ["0"] * len(cost) + [rat(at_most)], "rows": [], "flows": []}
    proof |= {"multipliers": [["1"], ["0"]], "steps": steps}
    return {**made, "bound": rat(at_most), "proof": proof, "assumptions": names}


def of_limit(kind: str, cost: list[F] | None = None, **more: Any) -> Document:
    names = GIBBS if kind in ("plain", "given") else []
    return tied(
        form(kind) if cost is None else cost,
        AT_MOST,
        [lift_of(kind)],
        names=names,
        **{"limits": [limit_of(kind)], **more},
    )


def of_row(row: Document, cost: list[F], **more: Any) -> Document:
    """With both divergences, whether a row is of them or not."""
    made = tied(cost, F(row["at_most"]), [{"kind": "lift", "rows": [row]}], names=[*YOUNG, "cumulant-convex"], **more)
    made["problem"]["divergences"] = [RENYI, ALL]
    made["mechanism"]["orders"] = ["64"]
    return made


def cost_of(row: Document) -> list[F]:
    (x, z), (s, b) = row["pair"], row["forms"][0]
    return [F(s) * (i == x) - F(b) * (i == z) for i in range(3)]


def assert_tied(made: Document) -> None:
    """Proved as it stands; not with one cost of the first output above, or the price of the new input below."""
    assert said(made) == ("PROVED", "")
    for place, cell in enumerate(made["problem"]["utility"]["cost"]):
        more = put(made, "problem", "utility", "cost", place, 2, value=rat(F(cell[2]) + 2 * TINY))
        assert said(more)[0] == "REFUTED", cell
    less = rat(F(made["proof"]["prices"][3]) - TINY)
    assert said(put(made, "proof", "prices", 3, value=less))[0] == "REFUTED"
    assert said(put(made, "bound", value=less))[0] == "REFUTED"


@pytest.mark.parametrize("kind", UTILITIES)
def test_a_form_is_the_row_of_a_limit(kind: str) -> None:
    assert_tied(of_limit(kind))


@pytest.mark.parametrize("row", [ROW, CUBE], ids=["renyi", "zero-concentrated"])
def test_a_form_is_the_row_of_a_divergence(row: Document) -> None:
    made = of_row(row, cost_of(row))
    assert_tied(made)
    (_, z), own = row["pair"], row["forms"][0]
    for number, by in ((0, F(1, 1000)), (1, -F(1, 1000))):
        deeper = put(made, *STEP, "rows", 0, "forms", 0, number, value=rat(F(own[number]) + by))
        assert said(deeper)[0] == "REFUTED"
    lower = put(made, *STEP, "rows", 0, "at_most", value=rat(F(row["at_most"]) * F(999, 1000)))
    assert (
        said(put(lower, "proof", "prices", 3, value=lower["proof"]["steps"][0]["rows"][0]["at_most"]))[0] == "REFUTED"
    )
    assert said(put(made, *STEP, "rows", 0, "forms", 0, value=["1", "0"]))[0] == "REFUTED"
    # Below zero is every form with s = 0: this one needs nothing, and is worth nothing.
    nothing = put(made, *STEP, "rows", 0, "forms", 0, value=["0", "0"])
    nothing["problem"]["utility"]["cost"] = [[z, 0, "-1"]]
    assert said(nothing) == ("PROVED", "")


def too_deep() -> Document:
    """A row that cuts deeper than its divergence, with a proof that takes it as it is."""
    return put(of_row(ROW, cost_of(ROW)), *STEP, "rows", 0, "forms", 0, 0, value="1000001/1000000")


# What only one check catches; tests/checker/test_checker.py removes the checks.
ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("a row of a lift that cuts too deep", ("_check_tangent_row",), too_deep),
]

BASES: dict[str, Document] = {
    "free": FREE,
    "complete": {"kind": "complete", "epsilon": "1"},
    "gamma": {"kind": "complete", "gamma": "2"},
    "graph": {"kind": "graph", "edges": [[0, 1, "1/3"], [2, 0, "0"]]},
    "ratios": {"kind": "graph", "unit": "gamma", "edges": [[0, 1, "3"]]},
}


@pytest.mark.parametrize("over", [False, True], ids=["alone", "below rows"])
@pytest.mark.parametrize("name", BASES)
def test_the_cone_stays_below_the_new_rows(name: str, over: bool) -> None:
    """A flow on an edge of the cone before, and a multiplier of a row of it, are worth what they were; the column under
    test has the cost that they and the new row pay for together."""
    base = BASES[name]
    cone = {"kind": "polyhedral", "base": base, "rows": [["1", "-2", "-1/2"]]} if over else base
    cost, edges = form("square"), {"free": []}.get(name, [[0, 1, "1/8"]])
    if over:
        cost = [c + n for c, n in zip(cost, [F(1), F(-2), F(-1, 2)], strict=True)]
    if edges:
        ratio = {"complete": F(3), "gamma": F(2), "graph": F(2), "ratios": F(3)}[name]  # or above
        cost = [c + n / 8 for c, n in zip(cost, [F(1), -ratio, F(0)], strict=True)]
    made = of_limit("square", cost, cone=cone)
    made["proof"]["multipliers"] = [["1", "1"], ["0", "0"]] if over else [["1"], ["0"]]
    made["proof"]["flows"] = [edges, []] if edges else []
    assert said(made) == ("PROVED", "")
    assert said(put(made, "problem", "utility", "cost", 0, 2, value=rat(cost[0] + TINY)))[0] == "REFUTED"


def test_the_other_multipliers_are_of_the_rows_in_order() -> None:
    """Two forms of one limit; then two objects of different divergences, each with forms of its own."""
    made = of_limit("bayes")
    made["proof"]["steps"] = [lift_of("bayes", points=[["1", "0"], ["2", "1"], ["0", "1"]])]
    for own, status in (([0, 1, 0], "PROVED"), ([1, 0, 0], "REFUTED"), ([0, 0, 1], "REFUTED")):
        made["proof"]["multipliers"] = [[str(u) for u in own], ["0"] * 3]
        assert said(made)[0] == status
    made = of_row(ROW, cost_of(CUBE))
    made["bound"] = CUBE["at_most"]
    rows = [{**ROW, "forms": [*ROW["forms"], ["0", "2"]]}, CUBE]
    made["proof"]["steps"] = [{"kind": "lift", "rows": rows}]
    for own, u, status in (([0, 0, 1], 4, "PROVED"), ([0, 0, 1], 3, "REFUTED"), ([1, 0, 0], 4, "REFUTED")):
        made["proof"]["multipliers"] = [[str(n) for n in own], ["0"] * 3]
        made["proof"]["prices"] = ["0"] * 5
        made["proof"]["prices"][u] = CUBE["at_most"]
        assert said(made)[0] == status


LATER = limit_of("square", F(1, 3))


def two(steps: list[Document], cost: list[F], prices: list[F], multiplier: int, rows: list[str]) -> Document:
    """With two limits, of Bayes success and of chi-square information."""
    made = of_limit("bayes", cost, limits=[limit_of("bayes"), LATER])
    worth = sum(prices) + sum(F(own) * F(LATER["at_most"]) for own in rows)
    made["proof"] |= {"steps": steps, "prices": [rat(a) for a in prices], "rows": rows}
    made["proof"]["multipliers"] = [[str(int(i == multiplier)) for i in range(2)], ["0", "0"]]
    return made | {"bound": rat(worth)}


def test_two_lifts() -> None:
    """The second limit has moved up, and does not see the input of the first one."""
    for number in ("1", "1000000"):
        second = lift_of("square", points=[[*map(str, POINTS["square"]), number]])
        steps = [lift_of("bayes"), second]
        zero, r, q = F(0), AT_MOST, F(LATER["at_most"])
        assert said(two(steps, form("square"), [zero, zero, zero, zero, q], 1, []))[0] == "PROVED"
        assert said(two(steps, form("bayes"), [zero, zero, zero, r, zero], 0, []))[0] == "PROVED"
        assert said(two(steps, form("square"), [zero, zero, zero, q, zero], 1, []))[0] == "REFUTED"
        assert said(two(steps, form("bayes"), [zero, zero, zero, zero, r], 0, []))[0] == "REFUTED"
        assert said(two([second, lift_of("bayes")], form("bayes"), [zero] * 5, 0, []))[0] == "UNREADABLE"
    other = [lift_of("square", of=1), lift_of("bayes")]
    assert said(two(other, form("square"), [zero, zero, zero, q, zero], 0, []))[0] == "PROVED"
    assert said(two(other, form("bayes"), [zero, zero, zero, zero, r], 1, []))[0] == "PROVED"


def test_a_limit_that_stays_does_not_see_the_new_input() -> None:
    """Its minorant has a number for the new input, whose weight is 0, and the coefficient 0 there."""
    for number in ("1", "1000000"):
        minorant = {"kind": "minorant", "of": 0, "points": [["1", "5", "2", number]] * 2}
        steps = [lift_of("bayes"), minorant]
        made = two(steps, form("square"), [F(0)] * 4, 0, ["1"])
        made["proof"]["multipliers"] = [["0"], ["0"]]
        # The second output has the same form as a cost below 0.
        made["problem"]["utility"]["cost"] = [[x, y, rat(g)] for x, g in enumerate(form("square")) for y in range(2)]
        made |= {"value": {"lower": "-10", "upper": "10"}}
        assert said(made)[0] == "PROVED"
        short = {**minorant, "points": [["1", "5", "2"]] * 2}
        assert said(put(made, "proof", "steps", 1, value=short))[0] == "UNREADABLE"


@pytest.mark.parametrize("kind", ["plain", "given", "square"])
def test_a_goal_does_not_see_the_new_input(kind: str) -> None:
    """The least of a convex utility, with a form in its place: each number of it, and 0 at the new input."""
    made = of_limit("bayes", [F(0)] * 3, sense="minimize", outputs=None)
    made["problem"] |= {"utility": UTILITIES[kind], "weights": [str(n) for n in WEIGHTS]}
    made["mechanism"] = table([[1, 1]] * 3)
    point = [*map(str, POINTS[kind]), "12345"]
    made["proof"]["steps"].append({"kind": "minorant", "points": [point]})
    prices = [-g for g in form(kind)]
    made["proof"] |= {"multipliers": [["0"]], "prices": [*map(rat, prices), "0"]}
    made |= {"bound": rat(-sum(prices)), "assumptions": [] if kind == "square" else GIBBS}
    assert said(made) == ("PROVED", "")
    for x in range(3):
        assert said(put(made, "proof", "prices", x, value=rat(prices[x] - 2 * TINY)))[0] == "REFUTED"
    assert said(put(made, "proof", "prices", 3, value=rat(-TINY)))[0] == "REFUTED"


def test_outputs_may_be_one_where_they_were_any() -> None:
    """Of a limit too, where the goal is least at one output: after a lift as before it."""
    made = of_limit("bayes", [F(0)] * 3, sense="minimize", outputs=None, limits=[limit_of("bayes"), LATER])
    made["problem"] |= {"utility": UTILITIES["square"], "weights": [str(n) for n in WEIGHTS]}
    made["mechanism"] = table([[1, 1]] * 3)
    points = [[*map(str, POINTS["square"]), "9"]]
    minorants: list[Document] = [
        {"kind": "minorant", "of": 0, "points": points},
        {"kind": "minorant", "points": points},
    ]
    made["proof"] |= {"multipliers": [["0"]], "prices": [*(rat(-g) for g in form("square")), "0"], "rows": ["0"]}
    made["bound"] = rat(sum(form("square")))
    for steps in (minorants, minorants[::-1]):
        assert said(put(made, "proof", "steps", value=[lift_of("bayes"), *steps])) == ("PROVED", "")
    made["problem"]["sense"] = "maximize"
    assert said(put(made, "proof", "steps", value=[lift_of("bayes"), minorants[0]]))[0] == "UNREADABLE"


def test_gains_and_parts_do_not_see_the_new_input() -> None:
    made = of_limit("bayes", [F(0)] * 3, outputs=None)
    own = [[rat(c - TINY) for c in (F(2, 3), F(2, 3), F(7, 18))], ["0", "0", "0"]]
    made["problem"] |= {"weights": [str(n) for n in WEIGHTS], "utility": {"kind": "bayes", "gain": own}}
    made["mechanism"] = table([[1, 1]] * 3)
    worth = sum(F(w, 10) * F(c) for w, c in zip(WEIGHTS, own[0], strict=True))
    made["value"] = {"lower": rat(worth), "upper": rat(worth)}
    made["proof"] = {key: value for key, value in made["proof"].items() if key != "rows"} | {"kind": "column-dual"}
    assert said(made) == ("PROVED", "")
    assert said(put(made, "proof", "prices", 3, value=rat(AT_MOST - TINY)))[0] == "REFUTED"
    part = {"weight": "1", "utility": UTILITIES["bayes"], "weights": [str(n) for n in WEIGHTS]}
    made = of_limit("bayes", [F(0)] * 3)
    made["problem"]["utility"] = {"kind": "sum", "cost": [], "parts": [part]}
    worth = F(1, 10) * max(F(19, 3), F(4))
    made["value"] = {"lower": rat(worth), "upper": rat(worth)}
    made["proof"]["steps"].append({"kind": "majorant", "part": 0})
    most = [F(5, 10), F(2, 10) + TINY, F(2, 10) + TINY]
    made["proof"] |= {"prices": [*map(rat, most), "0"], "multipliers": [["0"], ["0"]]}
    made["bound"] = rat(sum(most))
    assert said(made) == ("PROVED", "")
    assert said(put(made, "proof", "prices", 2, value=rat(most[2] - 2 * TINY)))[0] == "REFUTED"


def test_boxes_below_a_limit_on_leakage() -> None:
    """The largest information where outputs say 2 at most of the inputs: log 2, below the entropy 1.04 of the input."""
    made = stored("steps-lift-boxes")
    assert said(made) == ("PROVED", "")
    assert F(made["bound"]) < F(3, 4)
    for x, price in enumerate(made["proof"]["prices"]):
        assert said(put(made, "proof", "prices", x, value=rat(F(price) - F(1, 20))))[0] == "REFUTED", x
    higher = put(made, "problem", "limits", 0, "at_most", value="1")
    assert said(higher)[0] == "REFUTED"
    assert said(put(made, *STEP, "points", value=made["proof"]["steps"][0]["points"][:2]))[0] == "UNREADABLE"
