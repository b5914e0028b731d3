"""The step `lift` of approximate privacy: an input and a row of the cone for each pair of inputs.

Of two inputs everything is known. The cone after the step has the extreme rays (g, 1) and (1, g), which need none of
delta, and (1, 0) and (0, 1), which need 1 / delta of their pair. The best mechanism has the latter two delta times, and
the former two for the rest. So the prices of the two inputs pay for the former, those of the pairs for the others.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from builders import (
    Document,
    assert_limit_named,
    assert_unreadable,
    encode,
    exp_ends,
    log_ends,
    put,
    rat,
    said,
    stated,
)
from shells import member, table
from test_checker_lift import ALL, BASES, RENYI, ROW, STEP, lift_of, limit_of
from test_checker_lift_reading import ROBUST
from test_checker_operations import assert_second_counts, counted

from rropt import checker
from rropt.checker import check_bytes

F = Fraction
LIFT: Document = {"kind": "lift", "of": "approximate"}
DROP: Document = {"kind": "drop", "parts": ["outputs"]}
MARGIN, LESS, TINY = F(1, 2**76), F(1, 2**60), F(1, 2**100)
LEVELS: dict[str, Document] = {
    "gamma": {"gamma": "3", "delta": "1/5"},
    "epsilon": {"epsilon": "1", "delta": "2/7"},
    "near 1": {"gamma": "11/10", "delta": "1/50"},
}
UTILITIES: dict[str, Document] = {
    "plain": {"kind": "mutual_information"},
    "given": {"kind": "mutual_information", "given": [["2", "3"], ["1", "0"]]},
    "square": {"kind": "chi_square"},
}
WEIGHTS = [5, 1]


def ratio(level: Document) -> tuple[F, F]:
    return exp_ends(F(level["epsilon"]), 200) if "epsilon" in level else (F(level["gamma"]),) * 2


def worth(kind: str, v: Sequence[F]) -> tuple[F, F]:
    """Both ends of mu of a column."""
    p = [F(n, sum(WEIGHTS)) for n in WEIGHTS]
    if kind == "square":
        w = p[0] * v[0] + p[1] * v[1]
        return (sum(a * n**2 for a, n in zip(p, v, strict=True)) / w - w,) * 2
    low = high = F(0)
    for cells in zip(*UTILITIES[kind].get("given", [[str(n)] for n in WEIGHTS]), strict=True):
        own = [F(cell) / sum(WEIGHTS) for cell in cells]
        w = sum(a * n for a, n in zip(own, v, strict=True))
        for a, n in zip(own, v, strict=True):
            if a * n:
                ends = log_ends(n * sum(own) / w)
                low, high = low + a * n * ends[0], high + a * n * ends[1]
    return low, high


def columns(g: F, delta: F) -> list[list[F]]:
    rest = (1 - delta) / (1 + g)
    return [[g * rest, rest], [rest, g * rest], [delta, F(0)], [F(0), delta]]


def prices_for(kind: str, level: Document) -> list[F]:
    """What the least prices are, and MARGIN more."""
    g, delta = ratio(level)[1], F(level["delta"])
    one, two = worth(kind, [g, F(1)])[1], worth(kind, [F(1), g])[1]
    prices = [(g * one - two) / (g * g - 1), (g * two - one) / (g * g - 1)]
    alone = [worth(kind, v)[1] for v in ([F(1), F(0)], [F(0), F(1)])]
    prices += [delta * (most - a) for most, a in zip(alone, prices, strict=True)]
    return [F(int((a + MARGIN) * 2**200), 2**200) for a in prices]


def names_of(kind: str) -> list[str]:
    return ["chi-square-column-convex"] if kind == "square" else ["mi-column-convex", "v-log-v-convex"]


def with_prices(made: Document, prices: Sequence[F]) -> Document:
    made = put(made, "proof", "prices", value=[rat(a) for a in prices])
    return {**made, "bound": rat(sum(prices))}


def of_pairs(kind: str, level: Document, prices: Sequence[F], best: bool = False) -> Document:
    """That nothing is worth more than these prices. The mechanism says nothing, or is the best one."""
    g, delta = ratio(level)[0], F(level["delta"])
    found = [[F(1), F(1)]] + [[F(0), F(0)]] * 3
    if best:
        found = columns(F(int(g * 2**64), 2**64) if "epsilon" in level else g, delta)
    rows = list(zip(*found, strict=True))
    common = math.lcm(*(number.denominator for row in rows for number in row))
    mechanism = table([[int(number * common) for number in row] for row in rows])
    problem = {"weights": [str(n) for n in WEIGHTS], "utility": UTILITIES[kind], "approximate": level}
    made = member(mechanism, **problem)
    ends = [worth(kind, v) for v in found if any(v)] if best else [(F(0), F(0))]
    made["value"] = {
        "lower": rat(sum(own[0] for own in ends) - LESS**2),
        "upper": rat(sum(own[1] for own in ends) + LESS**2),
    }
    made["proof"] = {"kind": "column-dual", "rays": "all", "steps": [LIFT, DROP]}
    return with_prices({**made, "assumptions": names_of(kind)}, prices)


CASES = list(itertools.product(UTILITIES, LEVELS))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_best_mechanism_reaches_the_bound(kind: str, name: str) -> None:
    prices = prices_for(kind, LEVELS[name])
    made = of_pairs(kind, LEVELS[name], prices, best=True)
    assert said(made) == ("PROVED", "")
    assert min(prices) > 0
    assert F(made["bound"]) - F(made["value"]["lower"]) < LESS
    assert said(put(made, "proof", "steps", value=[LIFT]))[0] == "PROVED"  # a list of outputs may stay


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_price_below_what_it_must_be(kind: str, name: str) -> None:
    """One after the other, all of them, those of the two pairs exchanged, those of the two inputs."""
    prices = prices_for(kind, LEVELS[name])
    made = of_pairs(kind, LEVELS[name], prices)
    assert said(made) == ("PROVED", "")
    assert prices[2] != prices[3]
    wrong = [[a * (1 - LESS) if i == at else a for i, a in enumerate(prices)] for at in range(4)]
    wrong.append([a * (1 - LESS) for a in prices])
    wrong += [[*prices[:2], prices[3], prices[2]], [prices[1], prices[0], *prices[2:]]]
    for own in wrong:
        assert said(with_prices(made, own))[0] == "REFUTED"
    assert said(put(made, "bound", value=rat(sum(prices) - TINY)))[0] == "REFUTED"


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_bound_of_a_stricter_level(kind: str, name: str) -> None:
    """Half of delta, a little less of it, a ratio a little smaller: the prices of these do not do for the level."""
    level = LEVELS[name]
    made = of_pairs(kind, level, prices_for(kind, level))
    delta, less = F(level["delta"]), F(2**40 - 1, 2**40)
    stricter = [{**level, "delta": rat(delta / 2)}, {**level, "delta": rat(delta * less)}]
    key = "gamma" if "gamma" in level else "epsilon"
    stricter.append({**level, key: rat((F(level[key]) - 1) * less + 1 if key == "gamma" else F(level[key]) * less)})
    for own in stricter:
        found = with_prices(made, prices_for(kind, own))
        assert said(put(found, "problem", "approximate", value=own))[0] == "PROVED"
        assert said(found)[0] == "REFUTED"


# -- three inputs: each row is of its own pair ---------------------------------------------------------

PAIRS = list(itertools.permutations(range(3), 2))
DELTA, GAMMA = F(1, 4), F(5, 2)


def tied(pair: tuple[int, int], **more: Any) -> Document:
    """A linear utility that is worth exactly delta at most: the multiplier of the row of the pair is 1."""
    cost = [[x, 0, rat({pair[0]: F(1), pair[1]: -GAMMA}[x])] for x in sorted(pair)]
    level = {"gamma": rat(GAMMA), "delta": rat(DELTA)}
    made = member(table([[0, 1]] * 3), **{"utility": {"kind": "linear", "cost": cost}, "approximate": level, **more})
    at = PAIRS.index(pair)
    proof = {"kind": "linear-dual", "prices": ["0"] * 9, "rows": [], "flows": [], "steps": [LIFT]}
    proof["multipliers"] = [[str(int(i == at)) for i in range(6)], ["0"] * 6]
    proof["prices"][3 + at] = rat(DELTA)
    return {**made, "bound": rat(DELTA), "proof": proof}


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_are_in_lexicographic_order(pair: tuple[int, int]) -> None:
    made, at = tied(pair), PAIRS.index(pair)
    assert said(made) == ("PROVED", "")
    for i, cell in enumerate(made["problem"]["utility"]["cost"]):
        more = put(made, "problem", "utility", "cost", i, 2, value=rat(F(cell[2]) + TINY))
        assert said(more)[0] == "REFUTED"
    assert said(put(made, "bound", value=rat(DELTA - TINY)))[0] == "REFUTED"
    for other in range(6):
        moved = put(made, "proof", "prices", value=["0"] * (3 + other) + [rat(DELTA)] + ["0"] * (5 - other))
        assert said(moved)[0] == ("PROVED" if other == at else "REFUTED")
        own = [[str(int(i == other)) for i in range(6)], ["0"] * 6]
        assert said(put(made, "proof", "multipliers", value=own))[0] == ("PROVED" if other == at else "REFUTED")


def test_a_ratio_that_is_enclosed_is_taken_from_above() -> None:
    made = tied((0, 2))
    made["problem"]["approximate"] = {"epsilon": "1", "delta": rat(DELTA)}
    low, high = exp_ends(F(1))
    for number, status in ((high + LESS, "PROVED"), (low - LESS, "REFUTED")):
        cost = [[0, 0, "1"], [2, 0, rat(-F(int(number * 2**100), 2**100))]]
        assert said(put(made, "problem", "utility", "cost", value=cost))[0] == status


@pytest.mark.parametrize("over", [False, True], ids=["alone", "below rows"])
@pytest.mark.parametrize("name", BASES)
def test_the_cone_stays_below_the_new_rows(name: str, over: bool) -> None:
    """A flow on an edge of it, and a multiplier of its row, are worth what they were; no edge joins a new input."""
    base = BASES[name]
    cone = {"kind": "polyhedral", "base": base, "rows": [["1", "-2", "-1/2"]]} if over else base
    made = tied((0, 1), cone=cone)
    cost, edges = [F(1), -GAMMA, F(0)], {"free": []}.get(name, [[0, 1, "1/8"]])
    if over:
        cost = [c + n for c, n in zip(cost, [F(1), F(-2), F(-1, 2)], strict=True)]
        made["proof"]["multipliers"] = [["1", *made["proof"]["multipliers"][0]], ["0"] * 7]
    if edges:
        above = {"complete": F(3), "gamma": F(2), "graph": F(2), "ratios": F(3)}[name]  # or above
        cost = [c + n / 8 for c, n in zip(cost, [F(1), -above, F(0)], strict=True)]
        made["proof"]["flows"] = [edges, []]
    made["problem"]["utility"]["cost"] = [[x, 0, rat(c)] for x, c in enumerate(cost) if c]
    assert said(made) == ("PROVED", "")
    assert said(put(made, "problem", "utility", "cost", 0, 2, value=rat(cost[0] + TINY)))[0] == "REFUTED"
    if edges:
        for edge in ([0, 0, "0"], [3, 0, "0"], [0, 3, "0"], [0, 9, "0"], [3, 4, "0"]):
            assert said(put(made, "proof", "flows", 1, value=[edge]))[0] == "UNREADABLE"


def test_rows_of_the_problem_and_another_lift() -> None:
    """Rows name the outputs as before; a limit that is lifted later does not see the new inputs."""
    row = {"name": "few", "sense": "<=", "rhs": "1/8", "terms": [[0, 0, "1"]]}
    made = tied((0, 1), rows=[row])
    made["problem"]["utility"]["cost"][0][2] = "3"
    made["proof"] |= {"rows": ["2"]}
    made["bound"] = rat(DELTA + F(1, 4))
    assert said(made) == ("PROVED", "")
    assert said(put(made, "bound", value=rat(DELTA + F(1, 4) - TINY)))[0] == "REFUTED"
    made = tied((0, 1), limits=[limit_of("square")])
    for number in ("1", "1000000"):
        second = lift_of("square", points=[["1", "5", "2", *[number] * 6]])
        steps = [LIFT, second]
        made["proof"] |= {"steps": steps, "prices": [*tied((0, 1))["proof"]["prices"], "0"]}
        made["proof"]["multipliers"] = [["1", *["0"] * 6], ["0"] * 7]
        assert said(made) == ("PROVED", "")
        assert said(put(made, "proof", "steps", value=[second, LIFT]))[0] == "UNREADABLE"
    dropped = put(
        tied((0, 1), limits=[limit_of("square")]), "proof", "steps", value=[LIFT, {"kind": "drop", "parts": ["limits"]}]
    )
    assert said(dropped) == ("PROVED", "")


# -- what is UNREADABLE --------------------------------------------------------------------------------

TIED = tied((0, 1))


def assert_refused(made: Document, why: str = "") -> None:
    assert said(made)[0] == "UNREADABLE"
    assert_unreadable(made, why)


@pytest.mark.parametrize(
    "of",
    ["approximat", "Approximate", "approximate ", "divergences", "limits", "", "0", 0, -1, [], {}, ["approximate"]],
)
def test_no_other_word(of: Any) -> None:
    assert_refused(put(TIED, *STEP, "of", value=of), "proof.steps[0].of")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("points", [["1"] * 3]),
        ("rows", []),
        ("pairs", []),
        ("pair", [0, 1]),
        ("part", 0),
        ("delta", "1/4"),
        ("which", [0]),
    ],
)
def test_no_further_key(key: str, value: Any) -> None:
    assert_refused(put(TIED, *STEP, key, value=value), "proof.steps[0]")


def test_the_key_is_there_before_and_not_afterwards() -> None:
    assert_refused(put(TIED, *STEP, "of", value=put), "the key 'of' is missing")
    assert_refused(put(TIED, "problem", "approximate", value=put), "must have approximate")
    away = {"kind": "drop", "parts": ["approximate"]}
    for steps, why in (
        ([LIFT, LIFT], "must have approximate"),
        ([away, LIFT], "must have approximate"),
        ([LIFT, away], "no part approximate to drop"),
        ([DROP, LIFT], ""),
    ):
        assert_refused(put(TIED, "proof", "steps", value=steps), why)
    made = of_pairs("plain", LEVELS["gamma"], [F(1)] * 4)
    assert said(made)[0] == "PROVED"
    for steps in ([DROP, LIFT], [DROP], [LIFT, LIFT, DROP], [away, LIFT, DROP]):
        assert_refused(put(made, "proof", "steps", value=steps))
    # Events are of the key: they leave with it.
    own = stated(TIED)
    lines = own["proof"]["lines"]
    for more in (["reach 2 1"], ["reach 2 1", "event 0 1 1 0"]):
        status, reason = said(put(own, "proof", "lines", value=[*more, *lines]))
        assert (status, reason[:11]) == ("REFUTED", "proof.lines"), reason
    assert_refused(put(own, "proof", "events", value=[]), "the key 'events' is unknown")


def test_divergences_stay_outside() -> None:
    for own, orders in ((RENYI, None), (ALL, ["64"]), ({"kind": "capacity", "at_most": "1"}, None)):
        made = put(TIED, "problem", "divergences", value=[own])
        made["mechanism"] |= {"orders": orders} if orders else {}
        made["mechanism"] |= {"prior": ["1"] * 3} if own["kind"] == "capacity" else {}
        made["assumptions"] = (
            [] if own is RENYI else ["cumulant-convex" if own is ALL else "capacity-below-divergences"]
        )
        away = {"kind": "drop", "parts": ["divergences"]}
        assert_refused(made, "must not have divergences")
        assert_refused(put(made, "proof", "steps", value=[LIFT, away]), "must not have divergences")
        assert said(put(made, "proof", "steps", value=[away, LIFT])) == ("PROVED", "")
    # A lift of divergences would leave the key, which says something of every pair.
    made = put(TIED, "problem", "divergences", value=[RENYI])
    made["proof"] |= {"steps": [{"kind": "lift", "rows": [ROW]}], "prices": ["0"] * 4, "multipliers": [["0"]] * 2}
    assert_refused(put(made, "proof", "events", value=[]), "must not have approximate")


SQUARE = {"mechanism": table([[1, 1, 1]] * 3), "level": {"gamma": "2", "delta": "1/2"}}
BEFORE: dict[str, Document] = {
    "entropy": {"entropy": {"at_least": "0", "shares": ["1"] * 3, "sizes": [1] * 3}},
    "identification_risk": {"identification_risk": {"at_most": "9/10", "counts": ["1"] * 3, "categories": [0]}},
    "cone": {"cone": ROBUST},
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_the_problem_before_it_must_not_have(name: str) -> None:
    made = member(SQUARE["mechanism"], approximate=SQUARE["level"], **BEFORE[name])
    dropped = {"kind": "drop", "parts": [name]}
    proof = {"kind": "linear-dual", "prices": ["0"] * 9, "rows": [], "flows": [], "multipliers": [["0"] * 6] * 3}
    made |= {"proof": {**proof, "steps": [dropped, LIFT]}}
    made["assumptions"] = ["uniform-choice-among-matches"] if name == "identification_risk" else []
    assert said(made) == ("PROVED", "")
    assert_refused(put(made, "proof", "steps", value=[LIFT]))
    assert_refused(put(made, "proof", "steps", value=[LIFT, dropped]))


@pytest.mark.parametrize("kind", ["entropy", "inverse_trace", "inverse_determinant", "inverse_eigenvalue", "capacity"])
def test_utilities_that_see_every_input(kind: str) -> None:
    made = copy.deepcopy(TIED)
    made["problem"]["utility"] = {"kind": kind} | ({"shares": ["1"] * 3} if kind == "entropy" else {})
    made["problem"]["sense"] = "maximize" if kind == "entropy" else "minimize"
    made["mechanism"] |= {"prior": ["1"] * 3} if kind == "capacity" else {}
    assert_refused(made, "the utility of the problem before this step")


# -- limits, operations, report ------------------------------------------------------------------------


def test_what_it_makes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = tied((0, 1), cone={"kind": "complete", "gamma": "2"})
    complete["proof"]["flows"] = [[], []]
    below = tied((0, 1), cone={"kind": "polyhedral", "base": {"kind": "free"}, "rows": [["1", "-2", "0"]]})
    below["proof"]["multipliers"] = [["0", *own] for own in below["proof"]["multipliers"]]
    for made, constant, most, name in (
        (TIED, "MAX_INPUTS", 9, "proof.steps[0]: inputs"),
        (TIED, "MAX_PRODUCT", 54, "proof.steps[0]: cone rows * k"),
        (complete, "MAX_LIFTED", 3, "proof.steps[0]: inputs before a lift"),
        (below, "MAX_PRODUCT", 63, "proof.steps[0]: cone rows * k"),
    ):
        with monkeypatch.context() as patch:
            assert_limit_named(patch, constant, most - 1, name, made)
            patch.setattr(checker, constant, most)
            assert check_bytes(encode(made)).proved
    many = tied((0, 1), cone={"kind": "complete", "gamma": "2"}, outputs=[str(y) for y in range(12)])
    assert_limit_named(monkeypatch, "MAX_PRODUCT", 71, "edges * m", many)


def test_more_pairs_than_inputs_may_be() -> None:
    """Both refuse 317 inputs, before they make 100,172 rows, and 57: rows times inputs are above 10^7."""
    for k, name in ((317, "inputs"), (57, "cone rows * k")):
        made = member(table([[1]] * k), approximate=SQUARE["level"])
        proof = {"kind": "linear-dual", "prices": ["0"] * k * k, "rows": [], "flows": [], "multipliers": [["0"]]}
        made |= {"proof": {**proof, "steps": [LIFT]}}
        assert_refused(made, name)


@pytest.mark.parametrize("later", [False, True])
def test_two_hands_count_the_same_operations(later: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step after it is of all inputs, the new ones among them."""
    made = tied((0, 1), limits=[limit_of("plain")])
    after = {"kind": "minorant", "of": 0, "points": [["1"] * 9] * 2} if later else {"kind": "drop", "parts": ["limits"]}
    made["proof"] |= {"steps": [LIFT, after], "rows": ["0"] * later}
    made["assumptions"] = ["gibbs-inequality"] * later
    assert said(made) == ("PROVED", "")
    data = encode(made)
    _, count = counted(data, monkeypatch)
    assert count > 0
    assert_second_counts(data, count, monkeypatch)
    assert_limit_named(monkeypatch, "MAX_OPERATIONS", 5, "steps: operations: ", made)  # 6 pairs


def test_what_is_said_of_it() -> None:
    made = of_pairs("plain", LEVELS["gamma"], [F(1)] * 4)
    lines = check_bytes(encode(made)).report().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("step 1: "))
    assert "pair" in lines[at]
    assert lines[at + 1].startswith("step 2: drops outputs")
    assert "k = 4" in lines[at + 2]
    assert "polyhedral cone of 2 cone rows on the free cone" in lines[at + 2]
