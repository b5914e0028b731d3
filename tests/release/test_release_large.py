"""Thousands of categories: k-ary randomised response stays implicit from its file to its release."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.release.provenance import digest

pytest.importorskip("pyarrow")

WORK = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import rropt as rr

# As many threads on any machine: each has memory of its own.
pa.set_cpu_count(2)
pa.set_io_thread_count(2)
k, rows = 5000, 1_000_000
codes = np.arange(rows) % k
pq.write_table(pa.table({"x": codes.astype(str)}), "t.parquet")
rr.RandomizedResponse(k, epsilon=2).to_mechanism().save("m.json")
found = rr.release.release_file("t.parquet", rr.release.ProtectedColumn("x", rr.Mechanism.load("m.json")))
drawn = pq.read_table("t.protected.parquet").column("x").cast(pa.string()).to_numpy(zero_copy_only=False)
# Not `ru_maxrss`: that begins with what the parent had.
told = Path("/proc/self/status")
lines = told.read_text().splitlines() if told.exists() else []
most = sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
print(most / 1024, int((drawn.astype(int) == codes).sum()))
"""


def test_five_thousand_categories_are_small(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WORK], cwd=tmp_path, capture_output=True, text=True, check=True)
    megabytes, kept = map(float, done.stdout.split())
    assert (tmp_path / "m.json").stat().st_size < 60_000
    # A matrix of floats is 200 MB more, one of integers and its lists in a file a gigabyte.
    assert megabytes < 400
    # Of a million binomial(gamma / (gamma + k - 1)), six standard deviations.
    share = float(RandomizedResponse(5000, epsilon=2).to_mechanism().entry(0, 0))
    assert abs(kept - 1e6 * share) < 6 * (1e6 * share) ** 0.5


@pytest.mark.parametrize("level", [{"epsilon": 2}, {"gamma": "3"}, {"epsilon": "1e-17"}])
def test_the_implicit_matrix_is_the_written_one(level: dict[str, object], tmp_path: Path) -> None:
    k = 257
    made = RandomizedResponse(k, **level).to_mechanism()
    assert isinstance(made, OffDiagonalMechanism)
    on, off = made.entry(0, 0), made.entry(1, 0)
    rows = [[on if x == y else off for y in range(k)] for x in range(k)]
    written = Mechanism.from_rationals(rows, inputs=made.inputs, outputs=made.outputs)
    assert on + (k - 1) * off == 1
    assert made.parity == written.parity == on / off <= RandomizedResponse(k, **level).level.ratio.lower
    assert [made.column(y) for y in (0, 100, 256)] == [written.column(y) for y in (0, 100, 256)]
    assert made.rank == written.rank == k
    again = Mechanism.load(made.save(tmp_path / "m.json"))
    assert isinstance(again, OffDiagonalMechanism)
    assert (again.inputs, again.outputs, again.numerators) == (made.inputs, made.outputs, made.numerators)
    assert digest(again) == digest(made)


def test_rows_of_several_numbers_are_kept(tmp_path: Path) -> None:
    made = OffDiagonalMechanism([f"c{x}" for x in range(300)], [1 + x % 7 for x in range(300)], 10**4)
    again = Mechanism.load(made.save(tmp_path / "m.json"))
    assert isinstance(again, OffDiagonalMechanism)
    assert (again.inputs, again.off_diagonal, again.denominators) == (made.inputs, made.off_diagonal, (10**4,))
    assert again.entry(8, 3) == Fraction(2, 10**4)


def test_small_matrices_are_written_out(tmp_path: Path) -> None:
    told = json.loads(RandomizedResponse(256, epsilon=1).to_mechanism().save(tmp_path / "m.json").read_text())
    assert (told["version"], len(told["columns"])) == (1, 256)


WRONG = {
    "a number too large": ({"off_diagonal": ["10000000000000000"]}, "makes the diagonal negative"),
    "two numbers": ({"off_diagonal": ["1", "2"]}, "2 numbers for 300 inputs"),
    "no number": ({"off_diagonal": []}, "not a list, or an empty one"),
    "a negative number": ({"off_diagonal": ["-1"]}, "off_diagonal"),
    "two denominators": ({"denominators": ["2", "3"]}, "one is needed"),
    "a denominator of 0": ({"denominators": ["0"]}, "denominator"),
    "columns too": ({"columns": []}, "keys missing or unknown: columns"),
    "one label twice": ({"inputs": ["a"] * 300}, "appears twice"),
    "another version": ({"version": 3}, "version 3 is unknown"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_is_not_one_is_refused(case: str, tmp_path: Path) -> None:
    path = RandomizedResponse(300, epsilon=1).to_mechanism().save(tmp_path / "m.json")
    changes, said = WRONG[case]
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError, match=said) as caught:
        rr.Mechanism.load(path)
    assert str(path) in str(caught.value)
