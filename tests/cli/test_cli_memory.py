"""Files of others end in one line under the memory and the processor time that docs/reliability.md states."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from drawing import graded

import rropt as rr

pytest.importorskip("resource")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere RLIMIT_AS is not a limit")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
ANSWERED = {0, 1, 2, 3}

# A name of a row of the page: the name of the file, its size, and the command that reads it.
READERS: dict[str, tuple[str, int, list[str]]] = {
    "certificates": ("c.json", 10**8, ["check", "c.json"]),
    "designs in a report": ("d/certificate.json", 10**8, ["report", "d"]),
    "mechanisms": ("f.json", 10**8, ["apply", "f.json", "t.csv", "--column", "x"]),
    "matrices of other programs": ("f.csv", 10**8, ["audit", "f.csv"]),
    "matrices in JSON": ("f.json", 10**8, ["audit", "f.json"]),
    "matrices of NumPy": ("f.npy", 10**8, ["audit", "f.npy"]),
    "problem files": ("f.toml", 1 << 24, ["solve", "f.toml"]),
    "release files": ("f.toml", 1 << 24, ["apply", "f.toml"]),
    "tables of counts": ("f.csv", 1 << 26, ["audit", "m.json", "--prior", "f.csv"]),
    "tables of people, to count": ("f.csv", 10**8, ["solve", "survey-yes-no", "--data", "f.csv", "--column", "x"]),
    "tables of people, to release": ("f.csv", 10**8, ["apply", "m.json", "f.csv", "--column", "x"]),
    "pairs of a sampler": ("f.csv", 10**8, ["audit-sampler", "f.csv", "--epsilon", "1"]),
    "accountants": ("f", 10**8, ["accountant", "verify", "f"]),
    "manifests": ("t.protected.csv.manifest.json", 10**8, ["estimate", "m.json", "t.protected.csv", "--column", "x"]),
    "journals of sweeps": (
        "f.csv.journal.jsonl",
        10**8,
        ["sweep", "survey-yes-no", "--over", "gamma=2,3", "-o", "f.csv"],
    ),
}
SHAPES = {
    "lines": ("", "1\n"),
    "cells": ("", "1,"),
    "cells of a header": ("x,", "ab,"),
    "cells in quotes over lines": ("x", ',"\n"'),
    "different values": ("x,y\n", ""),
    "blanks": ("1", " 1"),
    "other ends of lines": ("", "1\x0b"),
    "lists": ("[", "[],"),
    "depth": ("", "["),
    "objects": ("[", '{"a":1},'),
    "texts": ("[", '"ab",'),
    "one text": ("", '"'),
    "one number": ("", "9"),
    "parts of a name": ("a", ".a"),
    "keys": ("schema = 1\n", "a = [\n"),
    "zeros": ("", "\0"),
    "rare characters": ("", "\U0001f600"),
}

CHILD = """
import json, os, resource, sys
from rropt.__main__ import main
name, size, gigabytes, seconds = sys.argv[1], *map(int, sys.argv[2:5])
arguments = sys.argv[6:]
for shape in json.loads(sys.argv[5]):
    first, part = (one.encode() for one in shape)
    with open(name, "wb") as stream:
        stream.write(first)
        if part:
            piece = part * (2**20 // len(part))
            for _ in range((size - len(first)) // len(piece)):
                stream.write(piece)
        else:
            for at in range(0, size // 10, 10**5):
                stream.write(b"".join(b"a%07d,\\n" % number for number in range(at, at + 10**5)))
    told = os.memfd_create("told")
    process = os.fork()
    if process == 0:
        try:
            os.dup2(told, 1), os.dup2(told, 2)
            resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            status = main(arguments)
            sys.stdout.flush(), sys.stderr.flush()
        except SystemExit as end:
            status = end.code
        except BaseException:
            import traceback
            traceback.print_exc()
            sys.stderr.flush()
            status = 99
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.lseek(told, 0, 0)
    print(status, os.read(told, 1 << 16))
    os.close(told)
    os.unlink(name)
"""


def limits() -> dict[str, tuple[int, int]]:
    """The gigabytes and the seconds of each reader that the page states."""
    table = PAGE.read_text(encoding="utf-8").split("## Input size limits\n")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| ([\w, ]+) \|.*\| (\d+) \| (\d+) \|$", table)
    return {name: (int(memory), int(seconds)) for name, memory, seconds in rows}


def test_the_page_names_every_reader() -> None:
    assert limits().keys() == READERS.keys()


@pytest.mark.parametrize(
    ("reader", "step"), graded([], itertools.product(READERS, [4]), itertools.product(READERS, [1])), ids=str
)
def test_a_file_of_others_ends_in_one_line_within_its_limits(reader: str, step: int, tmp_path: Path) -> None:
    """Each reader has a quarter of the shapes, others than its neighbours, and all of them in a campaign."""
    name, size, arguments = READERS[reader]
    tried = [*SHAPES][[*READERS].index(reader) % step :: step]
    (tmp_path / "d").mkdir()
    design = rr.RandomizedResponse(["a", "b"], epsilon=1).to_mechanism()
    design.save(tmp_path / "m.json")
    for place in ("t.csv", "t.protected.csv"):
        (tmp_path / place).write_text("x\n" + "a\nb\n" * 20)
    gigabytes, seconds = limits()[reader]
    shapes = json.dumps([SHAPES[shape] for shape in tried])
    command = [sys.executable, "-c", CHILD, name, str(size), str(gigabytes), str(seconds), shapes, *arguments]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    for shape, line in zip(tried, done.stdout.splitlines(), strict=True):
        status, told = line.split(" ", 1)
        assert int(status) in ANSWERED, (shape, line[:600])
        assert "Traceback" not in told, (shape, told[-600:])
