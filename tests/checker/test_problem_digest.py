"""The canonical form of a problem: one for each problem, and every difference is named on one printable line."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
from independent_checker import campaign

from rropt.prove.problem_digest import canonical, differences, digest

STORED = campaign.stored()


def shuffled(value: Any) -> Any:
    """The same object with its keys the other way round, at every level."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", STORED)
def test_order_of_keys_and_white_space_make_no_difference(name: str) -> None:
    problem = STORED[name]["problem"]
    again = json.loads(json.dumps(shuffled(problem), indent=3))
    assert canonical(again) == canonical(problem)
    assert digest(again) == hashlib.sha256(canonical(problem)).hexdigest()
    assert differences(problem, again) == []


def test_the_canonical_form_is_what_the_format_says() -> None:
    assert canonical({"b": ["1/2", None, 3], "a": {"\u00e9": "\U0001f600\n"}}) == (
        b'{"a":{"\\u00e9":"\\ud83d\\ude00\\n"},"b":["1/2",null,3]}'
    )


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all strings, integers and nulls."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return [place for key, one in inner for place in leaves(one, (*path, key))]
    return [path]


@pytest.mark.parametrize("name", ["approximate", "risk-blocks", "mi-given", "robust-exact", "entropy-floor-ldp"])
def test_every_change_of_one_value_is_a_difference_that_names_the_place(name: str) -> None:
    problem = STORED[name]["problem"]
    for place in leaves(problem):
        changed = copy.deepcopy(problem)
        inner = changed
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = "changed"
        found = differences(problem, changed)
        assert found, place
        assert found[0].startswith(str(place[0]))
        assert digest(changed) != digest(problem)


def test_missing_keys_and_lengths_are_named_on_one_printable_line_each() -> None:
    one = {"rows": [1], "key\n\x1b[2K": "\u202e", "labels": ["a\n", "b", "c"], "only": 1}
    other = {"rows": [1, 2], "key\n\x1b[2K": "x", "labels": ["a", "B", "c"], "more": 2, "long": "z" * 500}
    found = differences(one, other)
    assert [line.partition(":")[0] for line in found] == [
        '"key\\n\\u001b[2K"', "labels[0]", "labels", "long", "more", "only", "rows",
    ]  # fmt: skip
    assert all(line.isprintable() and line.isascii() and len(line) < 200 for line in found)
    assert "2 of 3 elements differ" in found[2]
    assert "a list" in differences({"a": list(range(99))}, {"a": [1]})[0]


def test_one_and_true_and_one_point_nought_differ() -> None:
    assert differences({"a": 1}, {"a": True}) != []
    assert differences({"a": [1]}, {"a": [1.0]}) != []
