"""The tool that tries other values of the tuned constants: a value that is tried is used, and nothing stays behind."""

from __future__ import annotations

import importlib
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def constants(checkout: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(checkout))
        yield importlib.import_module("benchmarks.constants")


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("STEPS", 60, 30, 120),
        ("STEPS", 1, None, 2),
        ("BITS", 40, 32, 48),
        ("SHARE", 0.5, 0.25, 1.0),
        ("SHARE", 0.75, 0.375, 0.875),
        ("SMALL", 1e-9, 1e-10, 1e-8),
        ("SLACK", Fraction(1, 8), Fraction(1, 80), Fraction(10, 8)),
        ("TWO", (2, 0.5), (1, 0.25), (4, 1.0)),
    ],
)
def test_the_values_that_are_tried(constants: Any, name: str, value: Any, low: Any, high: Any) -> None:
    for up, wanted in ((False, low), (True, high)):
        found = constants.scaled(name, value, up=up)
        assert found == (wanted if name != "SMALL" else pytest.approx(wanted))


@pytest.mark.long
def test_a_value_that_is_tried_is_used_and_nothing_stays_behind(constants: Any) -> None:
    """Without groups, 64 inputs take twice the work, and only in the process that tries it."""
    (table,) = (table for table in constants.tables() if table.module == "rropt.solve.ldp.budget")
    case = next(case for case in constants.CASES if case.name == "columns, 64 inputs")
    before = constants.apart(partial(constants.solved, case), 60)
    after = constants.apart(partial(constants.again, table, "GROUPED", 96, case), 60)
    assert after["status"] == before["status"] == "certified"
    assert after["calls"] > 1.5 * before["calls"]
    assert constants.apart(partial(constants.solved, case), 60) == before
    assert any("the work" in said for said in constants.changes({"a": before}, {"a": after}))
    assert constants.changes({"a": before}, {"a": before}) == []


def test_a_value_that_does_not_end_is_stopped(constants: Any) -> None:
    def forever() -> None:
        while True:
            pass

    assert constants.apart(forever, 1) == {"status": "over the limit"}
