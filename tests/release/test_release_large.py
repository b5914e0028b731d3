"""Thousands of categories: k-ary randomised response, Hadamard response and local hashing stay implicit from their
files to their releases and their estimates."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.implicit import FamilyMechanism
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.mechanisms.sampling import insecure_seeded_source
from rropt.release.plans.provenance import digest

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from rropt.release.plans.stack import StrataSampler  # noqa: E402

WORK = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import rropt as rr

# As many threads on any machine: each has memory of its own.
pa.set_cpu_count(2)
pa.set_io_thread_count(2)
k, rows, strata = 5000, int(sys.argv[1]), int(sys.argv[2])
codes = np.arange(rows) % k
pq.write_table(pa.table({"x": codes.astype(str), "s": (codes % strata).astype(str)}), "t.parquet")
mechanism = rr.Mechanism.load("m.json")
given = {"by": "s"} if strata > 1 else {}
each = {str(at): mechanism for at in range(strata)} if strata > 1 else mechanism
column = rr.release.ProtectedColumn("x", each, **given)
rr.release.release_file("t.parquet", column)
found = rr.release.estimate_file("t.protected.parquet", {"x": column})
assert found.n == rows and not found.warnings and len(found.values) == k
# Each category is one record in 5,000. Errors are those of counts near 20, which are skew: one of 5,000 is above eight
# standard deviations once in a million runs. The median error is used: that of a small count is small too.
assert (abs(found.values - 1 / k) < 8 * np.median(found.standard_errors)).all()
# Not `ru_maxrss`: that begins with what the parent had.
told = Path("/proc/self/status")
lines = told.read_text().splitlines() if told.exists() else []
print(sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)
"""


def same(x: int, label: str) -> bool:
    return int(label) == x


def even(x: int, label: str) -> bool:
    return ((x + 1) & int(label.removeprefix("output ")) - 1).bit_count() % 2 == 0


def on_the_plane(x: int, label: str) -> bool:
    vector, residue = label.split(":")
    numbers = list(map(int, vector.split(",")))
    return sum(a * (x // 7**at % 7) for at, a in enumerate(numbers)) % 7 == int(residue)


# The maker, the share of the likelier reports at gamma, and which reports these are, from the definitions.
LARGE: dict[str, tuple[Callable[..., Any], Callable[[float], float], Callable[[int, str], bool]]] = {
    "response": (RandomizedResponse, lambda gamma: gamma / (gamma + 4999), same),
    "hadamard": (HadamardResponse, lambda gamma: gamma / (gamma + 1), even),
    "hashing": (LocalHashing, lambda gamma: gamma / (gamma + 6), on_the_plane),
}


@pytest.mark.parametrize(
    ("name", "rows", "strata"),
    [
        ("response", 200_000, 1),
        ("hadamard", 20_000, 1),
        ("hashing", 20_000, 1),
        pytest.param("response", 1_000_000, 1, marks=pytest.mark.long),
        pytest.param("response", 100_000, 4, marks=pytest.mark.long),
        pytest.param("hadamard", 100_000, 4, marks=pytest.mark.long),
    ],
)
def test_five_thousand_categories_are_small(name: str, rows: int, strata: int, tmp_path: Path) -> None:
    make, share, likely = LARGE[name]
    make(5000, epsilon=2).to_mechanism().save(tmp_path / "m.json")
    assert (tmp_path / "m.json").stat().st_size < 60_000
    command = [sys.executable, "-c", WORK, str(rows), str(strata)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    # A matrix of floats is 200 MB more, one of integers and its lists in a file a gigabyte.
    assert float(done.stdout) < 400
    drawn = pq.read_table(tmp_path / "t.protected.parquet").column("x").cast("string").to_pylist()
    assert len(drawn) == rows
    kept = sum(likely(at % 5000, label) for at, label in enumerate(drawn))
    expected = share(math.exp(2))
    # Binomial; six standard deviations.
    assert abs(kept - rows * expected) < 6 * (rows * expected * (1 - expected)) ** 0.5


SHORT = [
    HadamardResponse(5, gamma=3),
    HadamardResponse(8, epsilon=1),
    LocalHashing(5, gamma=2),
    LocalHashing(7, gamma="5/2", buckets=2),
]


@pytest.mark.parametrize("family", SHORT, ids=lambda one: f"{type(one).__name__}-{one.size}")
def test_a_kept_family_is_the_written_matrix(family: HadamardResponse | LocalHashing) -> None:
    """All that a mechanism says, without its matrix and with it."""
    kept, written = FamilyMechanism(family), family.to_mechanism()
    assert type(written) is Mechanism
    k, m = kept.shape
    assert (kept.inputs, kept.outputs, kept.denominators) == (written.inputs, written.outputs, written.denominators)
    assert kept.numerators == written.numerators
    assert [kept.column(y) for y in range(m)] == [written.column(y) for y in range(m)]
    assert [[kept.entry(x, y) for y in range(m)] for x in range(k)] == [
        [written.entry(x, y) for y in range(m)] for x in range(k)
    ]
    assert (kept.privacy_ratio, kept.ranges, kept.rank) == (written.privacy_ratio, written.ranges, written.rank)
    assert [kept.extremes(y) for y in range(m)] == [written.extremes(y) for y in range(m)]
    for weights in ([1] * k, [3**x for x in range(k)], [0] * (k - 1) + [1], [10**30 + x for x in range(k)]):
        prior = rr.Prior.from_counts(dict(zip(family.inputs, weights, strict=True)))
        for units in ("nats", "bits"):
            one, other = (mechanism.mutual_information(prior, units=units) for mechanism in (kept, written))
            assert max(one.lower, other.lower) <= min(one.upper, other.upper)
            assert one.upper - one.lower < Fraction(1, 10**15)
    codes = np.arange(600).reshape(20, 30) % k
    drawn = kept.sample(codes, source=insecure_seeded_source(3))
    assert drawn.shape == codes.shape
    assert drawn.dtype == np.uint8
    reports = family.sample(codes.ravel(), source=insecure_seeded_source(3))
    if isinstance(family, LocalHashing):
        names = [f"{','.join(map(str, a))}:{r}" for *a, r in reports.tolist()]
        found = family.estimate(reports)
    else:
        names = [family.output_labels()[report] for report in reports.tolist()]
        found = family.estimate(np.bincount(reports, minlength=m))
    assert [kept.outputs[y] for y in drawn.ravel().tolist()] == names
    again = kept.estimate(np.bincount(drawn.ravel(), minlength=m))
    assert again.values.tolist() == pytest.approx(found.values.tolist(), abs=1e-12)
    assert again.standard_errors.tolist() == pytest.approx(found.standard_errors.tolist(), rel=1e-12)


@pytest.mark.parametrize("make", [HadamardResponse, LocalHashing])
def test_a_large_family_is_kept_in_its_file(make: Any, tmp_path: Path) -> None:
    family = make(5000, epsilon=1)
    made = family.to_mechanism()
    again = Mechanism.load(made.save(tmp_path / "m.json"))
    assert isinstance(again, FamilyMechanism)
    assert (again.inputs, again.outputs, again.denominators) == (made.inputs, made.outputs, made.denominators)
    assert again.column(4321) == made.column(4321)
    assert again.privacy_ratio == family.ratio
    assert again.epsilon.upper <= 1
    assert digest(again) == digest(made)
    # Shown without its matrix.
    text = f"Mechanism(5,000 inputs x {len(made.outputs):,} outputs of {make.__name__}, epsilon <= 1)"
    assert repr(made) == text
    assert made._repr_html_() == f"<p>{text.replace('<', '&lt;')}</p>"
    assert "matrix" not in vars(made)


def test_strata_of_many_categories_are_drawn_each_by_its_own() -> None:
    """The same answers as from each mechanism alone, whose outputs are in other places and partly shared."""
    one = HadamardResponse(5, gamma=3).to_mechanism()
    other = RandomizedResponse(("7", "3", "z"), gamma=2).to_mechanism()
    outputs = tuple(dict.fromkeys((*one.outputs, *other.outputs)))
    sampler = StrataSampler([one, other], outputs)
    codes = np.random.default_rng(1).integers(0, 8, size=4000)
    drawn = sampler.sample(codes, source=insecure_seeded_source(5))
    words = insecure_seeded_source(5)
    for mechanism, inside, first in ((one, codes < 5, 0), (other, codes >= 5, 5)):
        alone = mechanism.sample(codes[inside] - first, source=words)
        assert [outputs[y] for y in drawn[inside]] == [mechanism.outputs[y] for y in alone]
    with pytest.raises(InputError, match="not inputs"):
        sampler.sample(np.array([8]))


@pytest.mark.parametrize("level", [{"epsilon": 2}, {"gamma": "3"}, {"epsilon": "1e-17"}])
def test_the_implicit_matrix_is_the_written_one(level: dict[str, object], tmp_path: Path) -> None:
    k = 257
    made = RandomizedResponse(k, **level).to_mechanism()
    assert isinstance(made, OffDiagonalMechanism)
    on, off = made.entry(0, 0), made.entry(1, 0)
    rows = [[on if x == y else off for y in range(k)] for x in range(k)]
    written = Mechanism.from_rationals(rows, inputs=made.inputs, outputs=made.outputs)
    assert on + (k - 1) * off == 1
    assert made.privacy_ratio == written.privacy_ratio == on / off <= RandomizedResponse(k, **level).level.ratio.lower
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
    assert len(told["columns"]) == 256


WRONG = {
    "a number too large": ({"off_diagonal": ["10000000000000000"]}, "makes the diagonal negative"),
    "two numbers": ({"off_diagonal": ["1", "2"]}, "2 numbers for 300 inputs"),
    "no number": ({"off_diagonal": []}, "not a list, or an empty one"),
    "a negative number": ({"off_diagonal": ["-1"]}, "off_diagonal"),
    "two denominators": ({"denominators": ["2", "3"]}, "one is needed"),
    "a denominator of 0": ({"denominators": ["0"]}, "denominator"),
    "columns too": ({"columns": []}, "keys missing or unknown: columns"),
    "one label twice": ({"inputs": ["a"] * 300}, "appears twice"),
    "a key of another format": ({"version": 2}, "keys missing or unknown: version"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_is_not_one_is_refused(case: str, tmp_path: Path) -> None:
    path = RandomizedResponse(300, epsilon=1).to_mechanism().save(tmp_path / "m.json")
    changes, said = WRONG[case]
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError, match=said) as caught:
        rr.Mechanism.load(path)
    assert str(path) in str(caught.value)


WRONG_FAMILIES = {
    "no name": ({"family": None}, "family None is unknown"),
    "another name": ({"family": "subset-selection"}, "known are hadamard-response, local-hashing"),
    "no parameters": ({"parameters": []}, "keys missing or unknown: buckets, ratio"),
    "no ratio": ({"parameters": {"buckets": ["3"]}}, "keys missing or unknown: ratio"),
    "a parameter too many": ({"parameters": {"ratio": ["3", "1"], "buckets": ["3"], "seed": ["1"]}}, "unknown: seed"),
    "a ratio of one": ({"parameters": {"ratio": ["1", "1"], "buckets": ["3"]}}, "gamma"),
    "a ratio over zero": ({"parameters": {"ratio": ["3", "0"], "buckets": ["3"]}}, "a numerator and a denominator"),
    "two buckets": ({"parameters": {"ratio": ["3", "1"], "buckets": ["3", "5"]}}, "other parameters are one number"),
    "buckets that are not prime": ({"parameters": {"ratio": ["3", "1"], "buckets": ["4"]}}, "give a prime number"),
    "too many outputs": ({"parameters": {"ratio": ["3", "1"], "buckets": ["32749"]}}, "it would have 1,072,497,001"),
    "a small one": ({"inputs": ["a", "b", "c"]}, "its columns are written out"),
    "one label twice": ({"inputs": ["a"] * 3000}, "appears twice"),
}


@pytest.mark.parametrize("case", WRONG_FAMILIES)
def test_a_file_that_names_no_family_is_refused(case: str, tmp_path: Path) -> None:
    path = LocalHashing(3000, epsilon=1).to_mechanism().save(tmp_path / "m.json")
    changes, said = WRONG_FAMILIES[case]
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError, match=said) as caught:
        rr.Mechanism.load(path)
    assert str(path) in str(caught.value)


def test_frequencies_from_a_release_of_a_large_family(tmp_path: Path) -> None:
    """By the command of users, without the matrix, which would have 41 million cells."""
    mechanism = HadamardResponse(5000, epsilon=3).to_mechanism()
    mechanism.save(tmp_path / "m.json")
    pq.write_table(pa.table({"x": ["17"] * 6000 + ["4999"] * 4000}), tmp_path / "t.parquet")
    rr.release.release_file(tmp_path / "t.parquet", rr.release.ProtectedColumn("x", mechanism))
    found = rr.release.estimate_file(tmp_path / "t.protected.parquet", {"x": rr.Mechanism.load(tmp_path / "m.json")})
    truth = np.zeros(5000)
    truth[[17, 4999]] = 0.6, 0.4
    assert (np.abs(found.values - truth) < 6 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.02
