"""What a file becomes in memory is bounded before it is parsed, and a path is a path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import encode, pair
from ending import ending
from independent_checker.checker import check

import rropt as rr
from rropt import checker
from rropt.checker import check_bytes

resource = pytest.importorskip("resource")
COMMAS = 8 * 10**6
COLONS = 2 * 10**6

# The limit is set when the bytes are there, so that it is about what is made of them.
CHILD = """
import resource, sys
from rropt.checker import check_bytes
data = eval(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
print(check_bytes(data).report())
"""


def child(made: str, megabytes: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, made, str(megabytes << 20)],
        capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-300:]
    return done.stdout


@pytest.mark.parametrize(
    ("made", "what"),
    [
        ("b'[' + b'{},' * 2 * 10**7 + b'{}]'", "commas and opening brackets: 40000002 is beyond the limit of 8000000"),
        ("b'[' + b'[],' * 2 * 10**7 + b'[]]'", "commas and opening brackets: 40000002 is beyond the limit of 8000000"),
        ("b'[' + b'\"ab\",' * 10**7 + b'1]'", "commas and opening brackets: 10000001 is beyond the limit of 8000000"),
        ("b'[' + b'-0.5,' * 10**7 + b'1]'", "commas and opening brackets: 10000001 is beyond the limit of 8000000"),
        ("b'{' + b'\"\":0' * 10**7 + b'}'", "colons: 10000000 is beyond the limit of 2000000"),
    ],
)
@pytest.mark.skipif(sys.platform == "darwin", reason="there RLIMIT_AS is not a limit")
def test_what_would_fill_the_memory_is_refused_before_it_is_parsed(made: str, what: str) -> None:
    """Parsed they are 600 MB or more beside their bytes."""
    assert child(made, 450) == f"UNREADABLE: {what}\n"


@pytest.mark.long
@pytest.mark.parametrize(
    "made",
    [
        f"b'[' + b'{{}},' * {COMMAS // 2 - 2} + b'{{}}]'",
        f"b'[' + b'[],' * {COMMAS // 2 - 2} + b'[]]'",
        f"b'[' + b'\"ab\",' * {COMMAS - 9} + b'1]'",
        f"b'[' + b'-0.5,' * {COMMAS - 9} + b'1]'",
        f"b'[' + b'9999,' * {COMMAS - 9} + b'1]'",
        f"b'[' + b'{{\"\":0}},' * {COLONS - 9} + b'{{}},' * {COLONS - 9} + b'1]'",
        f"b'[' + b'{{\"ab\":0,\"ab\":0}},' * {COLONS // 2 - 9} + b'1]'",
        f"b'{{' + b','.join(b'\"%d\":999' % i for i in range({COLONS})) + b'}}'",
        f"b'[' + b'[999,999,\"17\"],' * {COMMAS // 4 - 9} + b'1]'",
    ],
)
@pytest.mark.skipif(sys.platform == "darwin", reason="there RLIMIT_AS is not a limit")
def test_what_is_just_below_the_limits_takes_less_than_a_gigabyte(made: str) -> None:
    verdict = child(made, 1024)
    assert verdict.startswith(("UNREADABLE: expected an object, found a list", "UNREADABLE: the key ")), verdict


@pytest.mark.parametrize("made", [b" ", b'"', b"\\", b'"\\', b'\\"', b'"a', b'"]', b"]", b"a]", b'"a"]', b'\\"]'])
def test_the_scan_of_brackets_is_linear(made: bytes) -> None:
    """1 MiB of anything: a part of a second of processor time, where a quadratic scan takes an hour."""
    with ending():
        assert check_bytes(made * (2**20 // len(made))).status == "UNREADABLE"


@pytest.mark.parametrize(("name", "most"), [("MAX_VALUES", "MOST_VALUES"), ("MAX_KEYS", "MOST_COLONS")])
def test_both_hands_count_the_same_bytes(name: str, most: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document = pair("linear", "free")
    document["problem"]["inputs"] = [",[{:]", "b"]
    data = encode(document)
    assert check_bytes(data).proved
    count = sum(map(data.count, (b":",) if name == "MAX_KEYS" else (b",", b"[", b"{")))
    for limit, status in ((count, "PROVED"), (count - 1, "UNREADABLE")):
        monkeypatch.setattr(checker, name, limit)
        monkeypatch.setattr(f"independent_checker.reading.{most}", limit)
        assert (check_bytes(data).status, check(data)) == (status, status)
    word = "colons" if name == "MAX_KEYS" else "commas and opening brackets"
    assert check_bytes(data).reason == f"{word}: {count} is beyond the limit of {count - 1}"


@pytest.mark.parametrize("path", [0, 1, 2, True, None, 1.5, [], {}, object()])
def test_what_is_not_a_path_is_unreadable_and_no_descriptor_is_touched(path: object) -> None:
    before = [os.fstat(number) for number in (0, 1, 2)]
    verdict = rr.check(path)
    assert verdict.status == "UNREADABLE"
    assert verdict.reason.startswith("the file cannot be read: ")
    assert [os.fstat(number) for number in (0, 1, 2)] == before


def test_a_descriptor_that_is_open_stays_open(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(encode(pair("linear", "free")))
    number = os.open(path, os.O_RDONLY)
    assert rr.check(number).status == "UNREADABLE"
    assert os.lseek(number, 0, os.SEEK_CUR) == 0
    os.close(number)
    assert [rr.check(one).status for one in (path, str(path), os.fsencode(path))] == ["PROVED"] * 3
