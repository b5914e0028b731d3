"""The page of what can be proved: it says what the cells say, and they what solving says; what must be there is."""

from __future__ import annotations

import json
import math
import random
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from core_files import FOLDERS
from rivals import assert_holds
from support_cells import (
    BESIDE,
    CONSTRAINTS,
    LEAST,
    NEW,
    OBJECTIVES,
    SIZES,
    STATUSES,
    TIME_LIMIT,
    Cell,
    Key,
    Setting,
    cells,
    leakage_cells,
    problem_of,
    read,
    settle,
)
from support_page import leakage_page, page

import rropt
from rropt.declare import constraints, objectives
from rropt.problem import Solution
from rropt.prove.problems import Json, OutsideCoreError
from rropt.solve.verified import proof_file

DOCS = Path(__file__).resolve().parents[1] / "docs"
KNOWN = {cell.key: cell for cell in read(DOCS / "support.json")}
PATIENT = 300.0
"""Seconds for a cell that is said to be certified: the machine may be slower, or have other things to do."""

TIED = [f"{rule}{with_ldp}" for rule in ("bistochastic", "entropy_rate", "invariant") for with_ldp in ("", " + ldp")]
REQUIRED = [
    (objective, rule)
    for names, rules in (
        (("mutual_information", "trace", "minimax_risk"), ["ldp", "metric_dp", "rldp, polytope"]),
        (("trace", "expected_loss"), [*TIED, "bistochastic + entropy_rate", "bistochastic + entropy_rate + ldp"]),
    )
    for objective in names
    for rule in rules
]
"""What must be certified."""


TIMED = ("stopped early", "the search of")
"""How reasons begin that depend on how far a search came in its time."""
ORDER = ("no_method", "bounded", "infeasible", "certified")
"""The statuses, the better later; the last two exclude each other."""


def holds(cell: Cell) -> Solution | None:
    """Solve a cell again, compare, and return the solution.

    A cell that is certified, infeasible or refused comes out the same, and so does the reason of any other, but for
    what time decides: a search that it cut short ends no worse than it did, soon too, and one that came to its end may
    be cut short on a slower machine.
    """
    if cell.reason.startswith(TIMED):
        again, found = settle(*cell.key, time_limit=0.5)
        if is_finite(cell) and not is_finite(again):
            again, found = settle(*cell.key)
        assert_bounded(again, cell)
        return found
    again, found = settle(*cell.key, time_limit=PATIENT if cell.status == "certified" else TIME_LIMIT)
    if cell.status == "bounded" and again.reason.startswith(TIMED[0]):
        assert_bounded(again, cell)
    else:
        assert (again.status, again.reason) == (cell.status, cell.reason)
    return found


def assert_bounded(again: Cell, cell: Cell) -> None:
    """That a search which time ended has a mechanism and, where the cell has one, a bound; or is certified."""
    assert again.status in ORDER[ORDER.index(cell.status) :], again
    assert again.status != "infeasible", again
    assert again.status == "certified" or again.reason.startswith(TIMED), again
    assert is_finite(again) or not is_finite(cell), again


def is_finite(cell: Cell) -> bool:
    """Whether the cell has a mechanism with a value and a bound: no risk is finite where nothing is identified."""
    return cell.gap is not None and math.isfinite(cell.gap)


def quick(cell: Cell) -> bool:
    return cell.size == SIZES[0] and cell.seconds < 1 and "machine-checked" not in cell.reason


def test_the_page_is_what_the_cells_say() -> None:
    assert (DOCS / "support.md").read_text(encoding="utf-8") == page(list(KNOWN.values()))


def test_the_page_of_leakage_is_what_its_cells_say() -> None:
    """Every goal with every notion, each of a certified kind at four inputs; nothing is refused."""
    found = read(DOCS / "support-leakage.json")
    assert [cell.key for cell in found] == leakage_cells()
    assert (DOCS / "support-leakage.md").read_text(encoding="utf-8") == leakage_page(found)
    assert {cell.status for cell in found} <= {"certified", "bounded", "infeasible"}
    for goal in LEAST:
        statuses = {cell.status for cell in found if cell.key[0] == goal and cell.size == SIZES[0]}
        assert "certified" in statuses or goal == "least channel_capacity", goal


def test_every_cell_says_why() -> None:
    assert list(KNOWN) == [key for key in cells() if key in KNOWN], "in order, and none that is not asked for"
    assert {key for key in cells() if key[2] == SIZES[0]} <= set(KNOWN)
    for cell in KNOWN.values():
        assert cell.status in STATUSES
        assert bool(cell.reason) == (cell.status in ("bounded", "no_method")), cell


def test_a_cell_that_is_interrupted_has_no_result() -> None:
    interrupt = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        settle("bayes_success", "approximate_ldp", 64, 60.0)
    interrupt.join()


def test_no_objective_and_no_constraint_is_left_out() -> None:
    """Every word has its row or column, and every class that the folder exports is public."""
    assert {problem_of(name, "ldp", 4).objective.kind for name in OBJECTIVES} | {kind.kind for kind in NEW} == (
        objectives.WORDS.keys()
    )
    # A sum is made by + and *.
    names = set(rropt.__all__) | set(rropt.privacy.__all__)
    assert {name for name in objectives.__all__ if name[0].isupper()} - {"Sum", "WORDS", "Objective"} <= names
    asked = {type(rule) for name in CONSTRAINTS for rule in problem_of("trace", name, 4).constraints}
    asked |= {type(make(Setting.of(4))) for makers in BESIDE.values() for make in makers}
    public = {getattr(constraints, name) for name in constraints.__all__} - {constraints.Constraint}
    assert asked == {kind for kind in public if isinstance(kind, type)}


def test_what_must_be_certified_is() -> None:
    """At four inputs; and that it comes out again is asked of every cell of this size (`long`), of some here."""
    assert {KNOWN[objective, rule, SIZES[0]].status for objective, rule in REQUIRED} == {"certified"}


SAMPLE = [(objective, rule, SIZES[0]) for objective, rule in REQUIRED[::4]]
SAMPLE += random.Random(8).sample([key for key, cell in KNOWN.items() if quick(cell) and key not in SAMPLE], 12)


@pytest.mark.parametrize("key", SAMPLE, ids=str)
def test_a_sample_of_cells_comes_out_again(key: Key) -> None:
    holds(KNOWN[key])


@pytest.mark.long
def test_every_cell_is_there() -> None:
    assert list(KNOWN) == cells()
    assert len(KNOWN) == len(OBJECTIVES) * len(CONSTRAINTS) * len(SIZES)


SMALL = [key for key in KNOWN if key[2] == SIZES[0]]
MIDDLE = random.Random(16).sample([key for key in KNOWN if key[2] == SIZES[1]], 40)
SHORT = [key for key, cell in KNOWN.items() if key[2] == SIZES[2] and cell.seconds < 4]
LARGE = random.Random(64).sample(SHORT, min(20, len(SHORT)))


@pytest.mark.long
@pytest.mark.parametrize("key", SMALL, ids=str)
def test_every_small_cell_comes_out_again_and_no_rival_is_better(key: Key) -> None:
    found = holds(KNOWN[key])
    assert found is not None
    assert assert_holds(problem_of(*key), found, 1) in ("certified", "bounded")


@pytest.mark.long
@pytest.mark.parametrize("key", [*MIDDLE, *LARGE], ids=str)
def test_some_of_the_other_cells_come_out_again(key: Key) -> None:
    holds(KNOWN[key])


def programs() -> list[tuple[set[str], bool, set[str]]]:
    """The rows of the page's table of proofs: its words, whether the core has them, how the verdict names them."""
    lines = (DOCS / "support.md").read_text(encoding="utf-8").partition("| proof | programs |")[2].partition("\n\n")[0]
    rows = [line.split(" | ") for line in lines.splitlines()[2:]]
    words = re.compile("`([^`]+)`").findall
    return [(set(words(what)), "verified core" in by, set(words(outside))) for what, by, outside in rows]


def edited() -> Iterator[Json]:
    """Certificates of kinds of which no example is kept."""
    for name, part, key, value in (
        ("linear", "proof", "steps", [{"kind": "lift"}]),
        ("linear", "proof", "steps", [{"kind": "drop", "parts": ["cone"]}]),
    ):
        document = json.loads((DOCS / "examples" / f"{name}.json").read_text(encoding="utf-8"))
        document[part][key] = value
        yield document


def outside(document: Json) -> str:
    """What the verdict says that the core lacks."""
    try:
        proof_file(document)
    except OutsideCoreError as error:
        return str(error)
    return ""


def test_the_page_says_of_each_kind_of_proof_which_programs_accept():
    """Of every kept certificate: inside, its kind stands in a row of the core; outside, the verdict names one row."""
    rows = programs()
    inside = set[str]().union(*(words for words, core, _ in rows if core))
    unseen = inside.union(*(names for _, _, names in rows))
    kept = [
        json.loads(path.read_text(encoding="utf-8")) for folder in FOLDERS for path in sorted(folder.glob("*.json"))
    ]
    for document in [*(one for one in kept if "proof" in one), *edited()]:
        proof, reason = document["proof"], outside(document)
        if reason:
            named = [names for _, core, names in rows if not core and any(name in reason for name in names)]
            assert len(named) == 1, reason
            unseen -= {name for name in named[0] if name in reason}
            continue
        assert proof["kind"] in inside
        unseen.discard(proof["kind"])
    assert not unseen
