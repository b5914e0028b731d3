"""Special uniques against their definition: all sets of keys of each record, compared with all other records."""

from __future__ import annotations

import csv
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt.errors import InputError

NAMES = ["a", "b", "c", "d"]


def people(seed: int, count: int = 60) -> dict[str, list[str]]:
    draw = np.random.default_rng(seed)
    return {name: draw.choice(list("uvwxyz")[: 2 + at], count).tolist() for at, name in enumerate(NAMES)}


def minimal_sets(records: list[tuple[str, ...]], most: int) -> list[list[tuple[int, ...]]]:
    """By the definition, in the order of size."""
    found = []
    for at, record in enumerate(records):
        others = records[:at] + records[at + 1 :]
        own: list[tuple[int, ...]] = []
        for size in range(1, most + 1):
            for keys in combinations(range(len(record)), size):
                alone = not any(all(other[key] == record[key] for key in keys) for other in others)
                if alone and not any(set(one) <= set(keys) for one in own):
                    own.append(keys)
        found.append(own)
    return found


@pytest.mark.parametrize(("seed", "most"), [(1, None), (2, None), (3, 2), (4, 3)])
def test_sizes_and_scores_follow_from_the_minimal_sets(seed: int, most: int | None) -> None:
    data = people(seed)
    found = rr.disclosure.special_uniques(data, most=most)
    m, largest = len(NAMES), most or len(NAMES)
    wanted = minimal_sets(list(zip(*data.values(), strict=True)), largest)
    assert any(wanted)
    weights = [[math.prod(m - i for i in range(len(keys), largest)) for keys in own] for own in wanted]
    assert found.sizes.tolist() == [len(own[0]) if own else 0 for own in wanted]
    assert found.scores.tolist() == [sum(own) for own in weights]
    for at, (own, of) in enumerate(zip(wanted, weights, strict=True)):
        parts = [sum(w for keys, w in zip(own, of, strict=True) if key in keys) for key in range(m)]
        assert found.contributions[at].tolist() == parts
    if most is None:
        assert weights == [[math.factorial(m - len(keys)) for keys in own] for own in wanted]


def test_frames_and_the_order_of_keys_give_the_same(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    data = people(5)
    found = rr.disclosure.special_uniques(data)
    assert rr.disclosure.special_uniques(pd.DataFrame(data)) == found
    turned = rr.disclosure.special_uniques(pd.DataFrame(data), keys=NAMES[::-1])
    assert np.array_equal(turned.scores, found.scores)
    assert np.array_equal(turned.contributions[:, ::-1], found.contributions)
    with found.save(tmp_path / "r.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["record"]) for row in rows] == list(range(1, 61))
    assert [float(row["score"]) for row in rows] == found.scores.tolist()
    assert [float(row["c"]) for row in rows] == found.contributions[:, 2].tolist()
    assert "no set" in str(found)


@pytest.mark.parametrize(
    "wrong",
    [
        {"data": {}},
        {"data": {"a": []}},
        {"data": {"a": ["x"], "b": ["x", "y"]}},
        {"data": people(1), "keys": []},
        {"data": people(1), "keys": "a"},
        {"data": people(1), "keys": ["a", "a"]},
        {"data": people(1), "keys": ["z"]},
        {"data": people(1), "most": 0},
        {"data": people(1), "most": 5},
        {"data": {str(at): ["x"] for at in range(15)}},
    ],
)
def test_bad_input_is_one_clear_line(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        rr.disclosure.special_uniques(**wrong)
    assert "\n" not in str(caught.value)
