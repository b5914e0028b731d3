"""The guard against getting slower: what fixed problems take, in counts that no busy machine changes."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from drawing import graded

NAMES = json.loads((Path(__file__).parent / "data" / "effort.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def effort(checkout: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(checkout))
        yield importlib.import_module("benchmarks.effort")


@pytest.fixture(scope="module")
def stored(effort: Any) -> dict[str, dict[str, int]]:
    return json.loads(effort.STORED.read_text(encoding="utf-8"))


def parted(names: list[str]) -> tuple[list[str], list[str]]:
    """Every other case, without those that take seconds, and the others."""
    quick = [name for name in names[::2] if name not in SECONDS]
    return quick, [name for name in names if name not in quick]


SECONDS = ("columns, 64 inputs", "columns, 24 inputs at epsilon 3", "columns, 256 inputs at epsilon 6", "steps-gibbs",
           "uniform-off-diagonal", "robust LDP, 4 x 4")  # fmt: skip
WORK = [name for name in NAMES if name.startswith(("check of ", "kernel on ", "building "))]
SOLVES = parted([name for name in NAMES if name not in WORK])


def test_every_case_is_stored(effort: Any, stored: dict[str, dict[str, int]]) -> None:
    assert sorted([*(case.name for case in effort.CASES), *effort.WORK]) == sorted(stored)
    assert sorted(effort.WORK) == sorted(WORK)


@pytest.mark.parametrize("name", graded(*SOLVES))
def test_no_solve_takes_more_than_it_did(name: str, effort: Any, stored: dict[str, dict[str, int]]) -> None:
    (case,) = (case for case in effort.CASES if case.name == name)
    assert effort.excess(stored[name], effort.of_case(case)) == []


@pytest.mark.parametrize("name", WORK)
def test_no_check_and_no_constructor_takes_more_than_it_did(
    name: str, effort: Any, stored: dict[str, dict[str, int]]
) -> None:
    assert effort.excess(stored[name], effort.of_work(effort.WORK[name])) == []


def test_counts_are_the_same_again(effort: Any) -> None:
    case = next(case for case in effort.CASES if case.name == "information-boxes")
    assert effort.of_case(case) == effort.of_case(case)
    work = effort.WORK["check of linear"]
    assert effort.of_work(work) == effort.of_work(work)


def test_more_work_is_noticed(effort: Any, stored: dict[str, dict[str, int]]) -> None:
    """A method that solves everything twice is over the tolerance in each count that it doubles."""
    case = next(case for case in effort.CASES if case.name == "robust-cuts")
    now = {key: 2 * count for key, count in stored[case.name].items()}
    assert len(effort.excess(stored[case.name], now)) == len(now)
    assert effort.excess(stored[case.name], stored[case.name]) == []


def test_nothing_stays_behind(effort: Any) -> None:
    from rropt.solve.engine.lp import LpModel

    before = LpModel.solve
    with pytest.raises(ZeroDivisionError), effort.counted():
        raise ZeroDivisionError
    assert LpModel.solve is before
    assert sys.getprofile() is None
