"""Limits are priced in operations: no file takes longer than its count says, and no file of 1 MB a minute or 1 GB."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import hostile_more as hostile
import pytest
import shells
from builders import encode
from drawing import graded, thinned
from independent_checker import campaign, loose
from independent_checker.checker import check, verdict as second_verdict
from independent_checker.work import limit_work

import rropt as rr
from rropt import checker
from rropt.checker import check_bytes

STORED = campaign.stored()
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
MICROSECONDS = 1.0
"""Of processor time an operation: four times what it is on the machine that the prices were measured on."""
READING = 4.0
"""Of processor time a byte, beside the operations."""
FRACTIONS = 0.08
"""Seconds that `slower` takes on that machine."""
UNREAD = ("nothing", "lists")  # not certificates


def counted(data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """The part of a file that takes most operations, and how many all take: what is said where fewer are allowed."""
    part, count = "steps", 0
    with monkeypatch.context() as patch:
        while part == "steps":
            patch.setattr(checker, "MAX_OPERATIONS", count)
            before, _, rest = check_bytes(data).reason.partition(": operations: ")
            if not rest:
                break
            part, count = before, int(rest.partition(" ")[0])
    return part, count


class WithinError(BaseException):
    """The file has passed the limit: what comes after it is not counted, and takes seconds."""


def assert_second_counts(data: bytes, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second checker takes the file where so many are allowed, and not with one fewer."""

    def limited(*arguments: Any) -> None:
        limit_work(*arguments)
        raise WithinError

    with monkeypatch.context() as patch:
        patch.setattr("independent_checker.checker.limit_work", limited)
        patch.setattr("independent_checker.work.MOST", count - 1)
        assert check(data) == "UNREADABLE"
        patch.setattr("independent_checker.work.MOST", count)
        with pytest.raises(WithinError):
            check(data)


def largest(name: str, operations: int, monkeypatch: pytest.MonkeyPatch, most: int = 4000) -> tuple[bytes, int]:
    """The largest file of this kind below 1 MB that needs no more operations, by doubling and halving, or the smallest;
    how many it needs."""

    def made(scale: int) -> tuple[bytes, int]:
        data = hostile.data(name, scale)
        count = counted(data, monkeypatch)[1] if len(data) < 2**20 else 0
        assert count or len(data) >= 2**20 or name in UNREAD or scale > 40, name
        return data, count

    low, high, best = 1, most, made(1)
    while high - low > max(1, low // 8):
        # What is tried is never much larger than what fitted.
        middle = min((low + high) // 2, 2 * low)
        data, count = made(middle)
        fits = len(data) < 2**20 and (name in UNREAD or 0 < count <= operations)
        low, high = (middle, high) if fits else (low, middle)
        best = (data, count) if fits else best
    return best


@pytest.mark.parametrize("name", STORED)
def test_two_hands_count_the_same_operations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps(STORED[name]).encode()
    _, count = counted(data, monkeypatch)
    assert 0 < count < 10**6
    assert_second_counts(data, count, monkeypatch)


@pytest.mark.parametrize(
    ("name", "part"), [("corner-forms-trace", "proof"), ("risk-blocks", "mechanism"), ("design", "utility")]
)
def test_the_part_that_takes_most_is_named(name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(json.dumps(STORED[name]).encode(), monkeypatch)[0] == part


@pytest.mark.parametrize("denominators", [["9"], ["9"] * 5])
def test_logarithms_of_bits_are_few_where_the_rows_have_one_denominator(
    denominators: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = shells.table([[n, 9 - n] for n in (7, 2, 2, 7, 2)], [9])
    mechanism["denominators"] = denominators
    mechanism["columns"][1] = {"low": "2", "high": "7", "members": "16"}
    made = shells.valued(mechanism, [1] * 5, {"kind": "mutual_information"})
    data = encode(made)
    assert_second_counts(data, counted(data, monkeypatch)[1], monkeypatch)


@pytest.mark.parametrize("coefficient", ["1", "-1"])
def test_rows_that_pack_are_priced_in_each_leaf_of_a_risk(coefficient: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = json.loads((EXAMPLES / "risk-branch.json").read_bytes())
    row = {"name": "r", "sense": "<=", "rhs": "9", "terms": [[0, 0, "1"], [1, 1, coefficient]]}
    made["problem"]["rows"].append(row)
    data = encode(made)
    assert_second_counts(data, counted(data, monkeypatch)[1], monkeypatch)


def test_points_of_cuts_of_a_risk_are_priced_by_their_longest_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of the 50th coefficient has numbers of 50 times as many bits."""
    made = json.loads((EXAMPLES / "risk-branch.json").read_bytes())
    made["problem"]["identification_risk"] |= {"counts": ["100000", "3", "2"], "at_most": "1/60"}
    counts = []
    for point in (["1", "0", "0"], [str(2**30), "0", "0"], ["0", str(2**30), "0"]):
        made["proof"]["cuts"][0] |= {"a": 50, "point": point}
        data = encode(made)
        counts.append(counted(data, monkeypatch)[1])
        assert_second_counts(data, counts[-1], monkeypatch)
    assert 0 < counts[0] < counts[1] == counts[2]


def slower() -> float:
    """How many times slower than that machine this one is now, at what the checker does: arithmetic of rationals."""
    begun, total = time.thread_time(), Fraction(0)
    for n in range(1, 20_000):
        total = (total + Fraction(n, 2**31 - n)) / 2
        total = Fraction(total.numerator >> 40, (total.denominator >> 40) + 1) if total.denominator >> 100 else total
    return max(1.0, (time.thread_time() - begun) / FRACTIONS)


@pytest.mark.parametrize("name", thinned(hostile.ALL, 3))
def test_time_is_what_the_operations_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, count = largest(name, 2 * 10**6, monkeypatch, 40)
    begun = time.thread_time()
    verdict = check_bytes(data)
    spent = time.thread_time() - begun
    assert (verdict.status == "UNREADABLE") == (name in UNREAD), verdict
    traced = 1 if sys.gettrace() is None else 5  # as where coverage is measured
    most = traced * (0.2 + (count * MICROSECONDS + len(data) * READING) / 10**6)
    assert spent < most or spent < most * slower(), (name, count, verdict)


@pytest.mark.parametrize("name", thinned([name for name in hostile.ALL if name not in UNREAD], 2))
def test_what_is_beyond_is_unreadable_in_both_and_the_part_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, count = largest(name, 10**5, monkeypatch, 8)
    assert_second_counts(data, count, monkeypatch)
    monkeypatch.setattr(checker, "MAX_OPERATIONS", count - 1)
    refused = check_bytes(data)
    assert (refused.status, refused.reason.partition(": ")[2]) == (
        "UNREADABLE", f"operations: {count} is beyond the limit of {count - 1}",
    )  # fmt: skip
    assert refused.reason.partition(":")[0] == counted(data, monkeypatch)[0]
    monkeypatch.setattr(checker, "MAX_OPERATIONS", count)
    assert check_bytes(data).status != "UNREADABLE"


@pytest.mark.parametrize(
    "name", [name for name in hostile.ALL if name.startswith(("gibbs", "outer", "minorant", "lift"))]
)
def test_steps_are_priced_before_their_numbers_are_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be many more than those of the file, and longer."""
    data = hostile.data(name, 1)
    monkeypatch.setattr(checker, "MAX_OPERATIONS", 99)
    monkeypatch.setattr("independent_checker.work.MOST", 99)
    refused = check_bytes(data)
    assert (refused.status, refused.reason[:19]) == ("UNREADABLE", "steps: operations: ")
    assert second_verdict(data) == ("UNREADABLE", "limit: operations of steps")


def test_longer_files_may_take_longer_in_proportion_up_to_ten_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """White space counts: what is bounded is the time for each byte."""
    data = hostile.data("designs", 2)
    count = counted(data, monkeypatch)[1]
    for size in (len(data), 2**20, 2**20 + 2**19, 3 * 2**20 + 1, 10 * 2**20, 11 * 2**20):
        padded = data + b" " * (size - len(data))
        times = Fraction(min(max(size, 2**20), 10 * 2**20), 2**20)
        for most, status in ((math.ceil(count / times), "PROVED"), (math.ceil(count / times) - 1, "UNREADABLE")):
            monkeypatch.setattr(checker, "MAX_OPERATIONS", most)
            assert check_bytes(padded).status == status, size
            if size < 2**21:
                monkeypatch.setattr("independent_checker.work.MOST", most)
                assert check(padded) == status


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
@pytest.mark.parametrize(
    ("name", "share"), graded([], itertools.product(hostile.ALL, [80]), itertools.product(hostile.ALL, [20])), ids=str
)
def test_no_file_of_a_megabyte_takes_a_minute_or_a_gigabyte(
    name: str, share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share of the operations takes that share of a minute, four times as long where other work slows it."""
    data, _ = largest(name, checker.MAX_OPERATIONS // share, monkeypatch)
    path = tmp_path / "hostile.json"
    path.write_bytes(data)
    text = (
        "import sys, time; from rropt.checker import main; main(sys.argv[1:]); print(time.process_time());"
        # Not `ru_maxrss`: that begins with what the parent had.
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    )
    ran = subprocess.run([sys.executable, "-c", text, str(path)], capture_output=True, text=True, check=True)
    seconds, kilobytes = map(float, ran.stdout.splitlines()[-2:])
    most = 4 * 60 / share
    assert seconds < most or seconds < most * slower(), (name, len(data), ran.stdout)
    assert kilobytes < 2**20, (name, len(data), ran.stdout)


def calls(data: bytes) -> int:
    """How many functions, in Python or C, are called to check a file."""
    count = 0

    def note(_frame: object, event: str, _given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert check_bytes(data).proved
    finally:
        sys.setprofile(before)
    return count


def test_an_entry_of_a_matrix_takes_few_calls() -> None:
    """Most of a large file are the entries of its matrix, and its columns have few different numbers: reading each by
    itself took 16 calls an entry, and was most of the time of a check."""
    taken, entries = [], []
    for size in (100, 200):
        weights = [1000 + (7919 * x) % 997 for x in range(size)]
        goal = rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(weights)))
        certificate = rr.Problem(goal, [rr.LDP(1)]).solve("columns", gap=1e-6, absolute_gap=1e-6).certificate
        assert certificate is not None
        document = loose.written_out(certificate.document)  # with a row for each input
        data = json.dumps(document).encode()
        check_bytes(data)  # what is cached
        taken.append(calls(data))
        entries.append(sum(len(column["dense"]) for column in document["mechanism"]["columns"]))
    assert taken[1] - taken[0] <= 5 * (entries[1] - entries[0])
