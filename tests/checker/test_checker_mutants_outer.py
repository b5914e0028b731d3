"""Steps `cut` of version 6: the rows that the cuts give, what must hold of them, and what a file cannot say."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from builders import Document, assert_limit_named, assert_unreadable, encode, put
from second.checker import verdict as second_verdict
from second.steps import after_steps
from second.work import count_work

from rropt import checker
from rropt.checker import check_bytes

MADE: Document = json.loads((Path(__file__).resolve().parents[2] / "docs" / "examples" / "steps-cut.json").read_bytes())
STEP = MADE["proof"]["steps"][0]
F = Fraction
AT = "proof.steps[0]"


def said(made: Document) -> tuple[str, str]:
    """Both checkers' verdict, and the first one's reason."""
    data = encode(made)
    first, second = check_bytes(data), second_verdict(data)
    assert first.status == second[0], (first.reason, second)
    return first.status, first.reason


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


def read(made: Document) -> tuple[Any, Any]:
    """(the last problem, the step) of the first checker."""
    rats = checker._Rationals()
    problem = checker._read_problem(made["problem"], "problem", rats, 6)
    steps, last, _ = checker._read_steps(made["proof"], "proof", problem, rats, 6, 0, 10**9)
    return last, steps[0]


def test_cuts_in_the_place_of_a_confidence_cone() -> None:
    assert said(MADE) == ("PROVED", "")
    lines = check_bytes(encode(MADE)).report().splitlines()
    at = lines.index("step 1: puts the rows of 10 cuts in the place of the confidence cone")
    assert lines[at + 1].endswith("polyhedral cone of 10 cone rows on the free cone, rows: 0")


def test_a_row_is_first_less_ratio_times_second() -> None:
    last, step = read(MADE)
    blocks = MADE["problem"]["cone"]["blocks"]
    ratio = F(STEP["ratio"])
    assert (last.cone.base, last.cone.sets, len(last.cone.rows)) == ("free", None, 10)
    assert last.cone.edges == {}
    for own, row in zip(STEP["cuts"], last.cone.rows, strict=True):
        expected = [F(0)] * 4
        for block, name, factor in ((own["pair"][0], "first", F(1)), (own["pair"][1], "second", -ratio)):
            total = sum(map(int, own[name]))
            for x, n in zip(blocks[block], own[name], strict=True):
                expected[x] = factor * int(n) / total
        assert row == expected
    second = after_steps(MADE["problem"], MADE["proof"]["steps"])["cone"]
    assert second["base"] == {"kind": "free"}
    assert [[F(entry) for entry in row] for row in second["rows"]] == last.cone.rows
    assert step.outer.ratio == ratio
    assert step.outer.common == 1 << 48


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
    last, _ = read(stepped(ratio="3"))
    assert last.cone.rows[0] != read(MADE)[0].cone.rows[0]


def test_the_ratio_may_be_that_of_the_cone_where_it_is_given() -> None:
    """gh <= ratio, with equality: at gamma = 14/5 > e the cone is larger, and so the old proof holds of less."""
    made = stepped(ratio="14/5")
    made["problem"]["cone"] = {key: own for key, own in MADE["problem"]["cone"].items() if key != "epsilon"}
    made["problem"]["cone"]["gamma"] = "14/5"
    _, step = read(made)
    checker._check_outer(step.outer, AT)
    made["proof"]["steps"][0]["ratio"] = "27999999999999/10000000000000"
    with pytest.raises(checker.Refuted, match="ratio"):
        checker._check_outer(read(made)[1].outer, AT)


def test_the_ratio_is_held_to_the_upper_end() -> None:
    rats = checker._Rationals()
    low, high = checker._read_problem(MADE["problem"], "problem", rats, 6).cone.gamma
    assert low < high
    _, step = read(MADE)
    checker._check_outer(step.outer._replace(ratio=high), AT)
    with pytest.raises(checker.Refuted, match="ratio"):
        checker._check_outer(step.outer._replace(ratio=low), AT)


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


def longest(made: Document) -> int:
    return checker._longest(made["problem"], made["mechanism"], made["proof"])


def work(made: Document) -> Any:
    """The first checker's count of operations, with what it is made of."""
    rats = checker._Rationals()
    problem = checker._read_problem(made["problem"], "problem", rats, 6)
    steps, last, rest = checker._read_steps(made["proof"], "proof", problem, rats, 6, 0, 10**9)
    proof = checker._read_proof(rest, "proof", last, rats, 6)
    mechanism = checker._read_mechanism(made["mechanism"], "mechanism", problem, rats)
    return checker._Work(longest(made), rats, problem, mechanism, steps, last, proof), rats.common


def test_operations_of_a_step() -> None:
    for made in (MADE, cut(first=["1", "2" * 700])):
        own, common = work(made)
        width = 1 + (3 * longest(made) + 10) // 40
        assert own.exact == 1 + width * width // 16
        assert own.rounded == 1 + width // 4
        mechanism = read(made)[1].outer.common.bit_length()
        bits = max(common, own.mechanism.common).bit_length() + mechanism
        depth = 1 + bits // 128
        assert own.total == 1 + depth * depth // 16
        assert own.mixed == width * depth // 32
        assert dict(own.parts())["steps"] == 2 * 4 * 10 * own.exact
        assert sum(count for _, count in own.parts()) == count_work(made, common)


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
    row = read(MADE)[0].cone.rows[number]
    least = min(row[0], row[1])
    u = 1 / least
    none = max(-u * row[2], -u * row[3])
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
    _, step = read(MADE)
    sets = step.outer.sets
    counts, total = sets.counts, sum(sets.counts)
    spare = float(sets.radius[0] + 1) ** 0.5 - 1
    accepted = 0
    for _ in range(100):
        sides = []
        for block in sets.blocks:
            own = [counts[x] / sum(counts[x] for x in block) for x in block]
            near = [max(c * (1 + 0.6 * rng.gauss(0, 1)), 0) for c in own]
            sides.append([round(n * 2**20) for n in near])
        if not all(map(any, sides)):
            continue
        lengths, masses = [], []
        for block, weights in zip(sets.blocks, sides, strict=True):
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
