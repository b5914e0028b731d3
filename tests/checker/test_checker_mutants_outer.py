"""Steps `cut`: the rows that the cuts give, what must hold of them, and what a file cannot say."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, put, said, stated
from independent_checker.steps import after_steps
from independent_checker.work import count_work
from mutants import walk
from shells import checked

from rropt import checker
from rropt.checker import check_bytes, exp_bounds

MADE: Document = json.loads((Path(__file__).resolve().parents[1] / "data" / "steps" / "steps-cut.json").read_bytes())
STEP = MADE["proof"]["steps"][0]
F = Fraction
AT = "proof.steps[0]"


def stepped(**changes: Any) -> Document:
    """The example with a step that has other keys."""
    return put(MADE, "proof", "steps", value=[STEP | changes])


def cut(number: int = 0, **changes: Any) -> Document:
    """The example with one cut changed."""
    cuts = copy.deepcopy(STEP["cuts"])
    cuts[number] |= changes
    return stepped(cuts=cuts)


# What only one check catches; tests/checker/test_checker.py removes the checks.
ISOLATED: list[tuple[str, tuple[str, ...], Callable[[], Document]]] = [
    ("a ratio below that of the cone", ("_check_outer",), lambda: stepped(ratio="1957/720")),
]


def rows(made: Document) -> list[list[Fraction]]:
    """The rows of the cone of the last problem, by the text: first less ratio times second."""
    found, step = [], made["proof"]["steps"][0]
    blocks = made["problem"]["cone"]["blocks"]
    for own in step["cuts"]:
        row = [F(0)] * len(made["problem"]["inputs"])
        for block, name, factor in ((own["pair"][0], "first", F(1)), (own["pair"][1], "second", -F(step["ratio"]))):
            total = sum(map(int, own[name]))
            for x, n in zip(blocks[block], own[name], strict=True):
                row[x] = factor * int(n) / total
        found.append(row)
    return found


def test_cuts_in_the_place_of_a_confidence_cone() -> None:
    assert said(MADE) == ("PROVED", "")
    lines = check_bytes(encode(MADE)).report().splitlines()
    at = lines.index("step 1: puts the rows of 10 cuts in the place of the confidence cone")
    assert lines[at + 1].endswith("polyhedral cone of 10 cone rows on the free cone, rows: 0")


def test_a_row_is_first_less_ratio_times_second() -> None:
    """The second checker's rows are those of the text; the first one's have the same leaves (`said`)."""
    second = after_steps(MADE["problem"], MADE["proof"]["steps"])["cone"]
    assert second["base"] == {"kind": "free"}
    assert [[F(entry) for entry in row] for row in second["rows"]] == rows(MADE)


def by_hand(made: Document) -> Document:
    """The example without its step: the rows of its cuts are those of the problem itself."""
    new = put(made, "proof", "steps", value=put)
    cone = {"kind": "polyhedral", "base": {"kind": "free"}, "rows": [[str(n) for n in row] for row in rows(made)]}
    new["problem"]["cone"] = cone
    new["mechanism"].pop("membership")
    return new


def test_the_rows_prove_the_same_where_they_are_given() -> None:
    """At the lowest of the prices that the step proves, and just below it."""
    for price, status in tightest():
        made = put(MADE, "proof", "prices", 0, value=price)
        made["bound"] = str(10**9)
        assert said(made)[0] == status
        assert checked(by_hand(made)).status == status


def tightest() -> list[tuple[str, str]]:
    low, high = F(0), F(MADE["proof"]["prices"][0])
    for _ in range(60):
        middle = (low + high) / 2
        made = put(MADE, "proof", "prices", 0, value=str(middle))
        low, high = (low, middle) if check_bytes(encode(made)).reason[:5] != "proof" else (middle, high)
    return [(str(high), "PROVED"), (str(low), "REFUTED")]


def test_without_the_step_or_a_cut_nothing_is_proved() -> None:
    gone = put(MADE, "proof", "steps", value=put)
    assert said(gone)[0] == "UNREADABLE"
    assert said(put(MADE, "proof", "steps", value=[{"kind": "drop", "parts": ["cone"]}]))[0] == "UNREADABLE"
    used = {i for column in MADE["proof"]["multipliers"] for i, u in enumerate(column) if u != "0"}
    for number in range(len(STEP["cuts"])):
        made = stepped(cuts=[own for i, own in enumerate(STEP["cuts"]) if i != number])
        assert said(made)[0] == "UNREADABLE", "a list of multipliers is one too long"
        for column in made["proof"]["multipliers"]:
            del column[number]
        assert said(made)[0] == ("REFUTED" if number in used else "PROVED")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (stepped(ratio="1"), f"{AT}.ratio: not proved that it is at least the ratio of the cone"),
        (stepped(ratio="0"), f"{AT}.ratio: not proved"),
        (stepped(ratio="-3"), f"{AT}.ratio: not proved"),
        (stepped(ratio="1957/720"), f"{AT}.ratio: not proved"),  # 1 + 1 + 1/2 + ... + 1/720 < e
        (cut(first=["1", "0"]), f"{AT}.cuts[0]: no weight on input 1, which has a count"),
        (cut(3, second=["1", "1000000"]), f"{AT}.cuts[3]: not proved that these weights count"),
        (cut(9, first=["1000000", "1"]), f"{AT}.cuts[9]: not proved that these weights count"),
    ],
)
def test_what_is_not_proved_of_a_cut(made: Document, why: str) -> None:
    status, reason = said(made)
    assert status == "REFUTED"
    assert reason.startswith(why), reason


def test_a_larger_ratio_is_a_weaker_cone() -> None:
    assert said(stepped(ratio="3"))[0] == "REFUTED", "the multipliers are those of a smaller ratio"


def test_the_ratio_may_be_that_of_the_cone_where_it_is_given() -> None:
    """gh <= ratio, with equality: at gamma = 14/5 > e the cone is larger, and so the old proof holds of less."""
    made = stepped(ratio="14/5")
    made["problem"]["cone"] = {key: own for key, own in MADE["problem"]["cone"].items() if key != "epsilon"}
    made["problem"]["cone"]["gamma"] = "14/5"
    assert ".ratio" not in said(made)[1]
    made["proof"]["steps"][0]["ratio"] = "27999999999999/10000000000000"
    assert said(made)[1].startswith(f"{AT}.ratio")


def test_the_ratio_is_held_to_the_upper_end() -> None:
    x = F(MADE["problem"]["cone"]["epsilon"])
    low, high = exp_bounds(x.numerator, x.denominator)
    assert low < high
    assert ".ratio" not in said(stepped(ratio=str(high)))[1]
    assert check_bytes(encode(stepped(ratio=str(low)))).reason.startswith(f"{AT}.ratio")


def test_a_robust_cone_has_no_cuts() -> None:
    cone = {key: MADE["problem"]["cone"][key] for key in ("epsilon", "blocks")}
    made = put(MADE, "problem", "cone", value={"kind": "robust", **cone, "lower": ["1/4"] * 4})
    made["mechanism"].pop("membership")
    assert_unreadable(made, f"{AT}: the problem before this step has no confidence cone")
    assert said(made)[0] == "UNREADABLE"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ({"kind": "cut", "ratio": "3"}, "the key 'cuts' is missing"),
        ({"kind": "cut", "cuts": STEP["cuts"]}, "the key 'ratio' is missing"),
        (STEP | {"more": "1"}, "more"),
        (STEP | {"cuts": []}, f"{AT}.cuts"),
        (STEP | {"cuts": {}}, f"{AT}.cuts"),
        (STEP | {"ratio": 3}, f"{AT}.ratio"),
        (STEP | {"ratio": "6/2"}, f"{AT}.ratio"),
        (STEP | {"cuts": [STEP["cuts"][0] | {"pair": [0, 0]}]}, f"{AT}.cuts[0].pair"),
        (STEP | {"cuts": [STEP["cuts"][0] | {"pair": [0, 2]}]}, f"{AT}.cuts[0].pair[1]"),
        (STEP | {"cuts": [STEP["cuts"][0] | {"first": ["0", "0"]}]}, f"{AT}.cuts[0].first: the sum must be > 0"),
        (STEP | {"cuts": [STEP["cuts"][0] | {"second": ["0", "0"]}]}, f"{AT}.cuts[0].second: the sum must be > 0"),
        (STEP | {"cuts": [STEP["cuts"][0] | {"second": ["1"]}]}, f"{AT}.cuts[0].second"),
        (STEP | {"cuts": [STEP["cuts"][0] | {"second": ["1", "-1"]}]}, f"{AT}.cuts[0].second[1]"),
    ],
)
def test_what_a_cut_is(step: Document, why: str) -> None:
    made = put(MADE, "proof", "steps", value=[step])
    assert_unreadable(made, why)
    assert said(made)[0] == "UNREADABLE"


def test_a_confidence_cone_is_there_once() -> None:
    made = put(MADE, "proof", "steps", value=[STEP, STEP])
    assert_unreadable(made, "proof.steps[1]: the problem before this step has no confidence cone")
    assert said(made)[0] == "UNREADABLE"
    made = put(MADE, "proof", "steps", value=[STEP, {"kind": "drop", "parts": ["cone_rows"]}])
    made["proof"].pop("multipliers")
    assert said(made)[0] == "REFUTED", "without the rows of the cuts nothing bounds the columns"
    made = put(MADE, "problem", "cone", value={"kind": "complete", "gamma": "3"})
    made["mechanism"].pop("membership")
    assert_unreadable(made, f"{AT}: the problem before this step has no confidence cone")


def test_cuts_times_inputs_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_limit_named(monkeypatch, "MAX_CUTS", 39, "cuts * k", MADE)


def test_weights_of_many_sums_are_unreadable() -> None:
    """Each of 60 cuts has a sum of its own of about 2200 bits, and the least common multiple has more than 2^17."""
    rng = random.Random(1)
    cuts = [copy.deepcopy(STEP["cuts"][0]) for _ in range(60)]
    for own in cuts:
        own["first"] = [str(rng.getrandbits(2200) | 1 << 2199), str(rng.getrandbits(2200) | 1 << 2199)]
    made = stepped(cuts=cuts)
    assert_unreadable(made, f"{AT}.cuts: the common denominator is beyond the limit of 2^(2^17)")
    assert said(made)[0] == "UNREADABLE"


def count(made: Document) -> int:
    """The operations that the second checker counts, at the common denominator of the file."""
    made = stated(made)
    numbers = [F(value) for _, value in walk(made) if isinstance(value, str) and "/" in value]
    return count_work(made, lcm(*(n.denominator for n in numbers)))


def test_operations_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many as the second checker counts a file is read, with one less it is not."""
    for made in (MADE, cut(first=["1", "2" * 700])):
        monkeypatch.setattr(checker, "MAX_OPERATIONS", count(made))
        assert check_bytes(encode(made)).status != "UNREADABLE"
        assert_limit_named(monkeypatch, "MAX_OPERATIONS", count(made) - 1, "operations", made)


def test_no_mechanism_under_the_cuts() -> None:
    """Rows that no mechanism of the outer cone satisfies: the first output tells s apart for sure."""
    made = copy.deepcopy(MADE)
    made["problem"]["rows"] = [
        {"name": "one", "sense": "=", "rhs": "2", "terms": [[0, 0, "1"], [1, 0, "1"]]},
        {"name": "none", "sense": "=", "rhs": "0", "terms": [[2, 0, "1"], [3, 0, "1"]]},
    ]
    for key in ("mechanism", "value", "bound"):
        made[key] = None
    made["assumptions"] = []
    # Cut 0 is of (0, 1): R_0 v_0 + R_1 v_1 <= ratio T.v. So with v = q_0: 1 <= 0.
    number = next(i for i, own in enumerate(STEP["cuts"]) if own["pair"] == [0, 1])
    row = rows(MADE)[number]
    least = min(row[0], row[1])
    u = F(1001, 1000) / least  # a little more than is needed
    none = max(-u * row[2], -u * row[3]) + 1
    made["proof"] = {
        "kind": "farkas",
        "prices": ["0"] * 4,
        "rows": ["-1", str(none)],
        "flows": [],
        "multipliers": [[str(u) if y == 0 and i == number else "0" for i in range(10)] for y in range(4)],
        "steps": [STEP],
    }
    status, reason = said(made)
    assert status == "PROVED", reason
    assert said(put(made, "proof", "steps", 0, "ratio", value="2"))[0] == "REFUTED"
    assert said(put(made, "proof", "steps", 0, "cuts", number, "first", value=["1", "100000000"]))[0] == "REFUTED"


@pytest.mark.parametrize("seed", range(3))
def test_random_weights_are_accepted_only_where_they_count(seed: int) -> None:
    """The definition, in floats: sum over both blocks of P_s g_s within the budget at radius.lower."""
    rng = random.Random(seed)
    cone = MADE["problem"]["cone"]
    counts, blocks = [int(n) for n in cone["counts"]], cone["blocks"]
    total = sum(counts)
    spare = float(F(cone["radius"]["lower"]) + 1) ** 0.5 - 1
    accepted = 0
    for _ in range(100):
        sides = []
        for block in blocks:
            own = [counts[x] / sum(counts[x] for x in block) for x in block]
            near = [max(c * (1 + 0.6 * rng.gauss(0, 1)), 0) for c in own]
            sides.append([round(n * 2**20) for n in near])
        if not all(map(any, sides)):
            continue
        lengths, masses = [], []
        for block, weights in zip(blocks, sides, strict=True):
            squares = sum(
                (counts[x] / total) ** 2 * sum(weights) / n if n else 1e9 for x, n in zip(block, weights, strict=True)
            )
            lengths.append(squares**0.5)
            masses.append(sum(counts[x] for x in block) / total)
        room = spare + sum(masses) - sum(lengths)
        if abs(room) < 1e-9:
            continue
        made = cut(pair=[0, 1], first=[str(n) for n in sides[0]], second=[str(n) for n in sides[1]])
        status, reason = said(made)
        assert (".cuts[0]" in reason) == (room < 0), (room, status, reason)
        accepted += room > 0
    assert 15 < accepted < 85
