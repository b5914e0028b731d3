"""Mechanisms of groups of inputs with equal rows: everything is as if the matrix were written out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.mechanisms.grouped import GroupedMechanism, grouped_from_file
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.sampling import insecure_seeded_source

NAMES = tuple("abcdefg")


def drawn(seed: int, shared: bool = False) -> tuple[GroupedMechanism, Mechanism]:
    """A mechanism of 3 groups of 7 inputs and 4 outputs, and the same written out; `shared`: over one denominator."""
    rng = random.Random(seed)
    below = [rng.randint(5, 40) for _ in range(3)]
    rows = []
    for size in [below[0]] * 3 if shared else below:
        cuts = sorted(rng.randint(0, size) for _ in range(3))
        rows.append([Fraction(b - a, size) for a, b in zip([0, *cuts], [*cuts, size], strict=True)])
    groups = [*range(3), *(rng.randrange(3) for _ in range(4))]
    rng.shuffle(groups)
    few = Mechanism.from_rationals(rows, outputs=tuple("uvwx"))
    return GroupedMechanism(NAMES, few, groups), Mechanism.from_rationals(
        [rows[g] for g in groups], inputs=NAMES, outputs=few.outputs
    )


def values(mechanism: Mechanism) -> dict[str, Any]:
    """What a mechanism says of itself, in numbers that are the same for two that have the same matrix."""
    prior = rr.Prior.from_counts(dict(zip(NAMES, [3, 1, 4, 1, 5, 9, 2], strict=True)))
    table = [[mechanism.entry(x, y) for y in range(4)] for x in range(7)]
    return {
        "shape": mechanism.shape,
        "labels": (mechanism.inputs, mechanism.outputs),
        "table": table,
        "columns": [mechanism.column(y) for y in range(4)],
        "sums": [sum(row) for row in zip(*mechanism.numerators, strict=True)] == list(mechanism.row_denominators),
        "matrix": mechanism.matrix.tolist(),
        "extremes": [mechanism.extremes(y) for y in range(4)],
        "ranges": mechanism.ranges,
        "privacy_ratio": mechanism.privacy_ratio,
        "rank": mechanism.rank,
        "information": [float(mechanism.mutual_information(prior, units=units)) for units in ("nats", "bits")],
        "chi-square": float(rr.ChiSquareInformation(prior).value(mechanism)),
        "law": [[float(p) for p in mechanism.sampler.law(x)] for x in range(7)],
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_mechanism_of_groups_is_that_of_its_rows(seed: int) -> None:
    few, whole = drawn(seed, shared=seed % 2 == 0)
    assert values(few) == values(whole)
    assert values(few.relabelled(tuple("stuv")))["labels"] == (NAMES, tuple("stuv"))
    assert isinstance(few.relabelled(tuple("stuv")), GroupedMechanism)


def test_draws_are_of_the_row_of_the_group() -> None:
    few, whole = drawn(3)
    codes = np.random.default_rng(1).integers(0, 7, (50, 40))
    for given in (codes, codes.astype(np.uint8), codes[::2], codes.T):
        one, other = (one.sample(given, source=insecure_seeded_source(5)) for one in (few, whole))
        assert (one == other).all()
        assert one.dtype == other.dtype
    for wrong in ([7], [-1], [0.5], np.ma.masked_array([1, 2], mask=[0, 1])):
        with pytest.raises(rr.InputError):
            few.sample(wrong)
    assert few.randomize(["a", "g"], source=insecure_seeded_source(5)) == whole.randomize(
        ["a", "g"], source=insecure_seeded_source(5)
    )


@pytest.mark.parametrize("seed", range(4))
def test_its_file_has_each_row_once(seed: int, tmp_path: Path) -> None:
    few, whole = drawn(seed)
    path = few.save(tmp_path / "mechanism.json")
    read = rr.Mechanism.load(path)
    assert isinstance(read, GroupedMechanism)
    assert (read.groups, values(read)) == (few.groups, values(whole))
    document = json.loads(path.read_text())
    assert [len(column["dense"]) for column in document["columns"]] == [3] * 4


FILES: dict[str, tuple[Callable[[Any], object], str]] = {
    "no list": (lambda made: made.update(groups=7), "it is not a list of integers from 0 on"),
    "empty": (lambda made: made.update(groups=[]), "it is not a list of integers from 0 on"),
    "negative": (lambda made: made["groups"].__setitem__(0, -1), "it is not a list of integers from 0 on"),
    "true": (lambda made: made["groups"].__setitem__(0, True), "it is not a list of integers from 0 on"),
    "text": (lambda made: made["groups"].__setitem__(0, "1"), "it is not a list of integers from 0 on"),
    "too long": (lambda made: made["groups"].append(0), "8 groups for 7 inputs"),
    "too short": (lambda made: made["groups"].pop(), "6 groups for 7 inputs"),
    "a row too few": (lambda made: made.update(groups=[0, 1, 2, 3, 0, 1, 2]), "3 entries for 4 inputs"),
    "a row without inputs": (lambda made: made.update(groups=[0, 2, 2, 0, 2, 0, 2]), "they are not 0 to 2"),
    "huge": (lambda made: made["groups"].__setitem__(0, 10**12), "3 entries for 8 inputs"),
    "one group": (lambda made: made.update(groups=[0] * 7), "all inputs are in one group"),
    "no groups": (lambda made: made.pop("groups"), "3 entries for 7 inputs"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_wrong_says_so(name: str, tmp_path: Path) -> None:
    change, what = FILES[name]
    document = json.loads(drawn(0)[0].to_json())
    change(document)
    path = tmp_path / "mechanism.json"
    path.write_text(json.dumps(document))
    with pytest.raises(rr.InputError, match=what):
        rr.Mechanism.load(path)


def test_groups_that_do_not_fit_are_refused() -> None:
    few, _ = drawn(0)
    with pytest.raises(rr.InputError, match="2 groups for 3 inputs"):
        GroupedMechanism(list("abc"), few.rows, [0, 1])
    with pytest.raises(rr.InputError, match="they are not 0 to 2"):
        GroupedMechanism(list("abc"), few.rows, [0, 1, 1])
    with pytest.raises(rr.InputError):
        grouped_from_file({"groups": [0.0, 1]}, ("a", "b"), "file")


def test_a_solve_of_many_inputs_keeps_the_groups(tmp_path: Path) -> None:
    """Value, certificate and file are those of the matrix that is written out."""
    size = 300
    prior = rr.Prior.from_counts([1 + 7 * x % 31 for x in range(size)])
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon=1)]).solve(gap=1e-6)
    found = solution.mechanism
    assert solution.status == "certified"
    assert solution.verdict.by == "kernel and checker"
    assert isinstance(found, GroupedMechanism)
    document = solution.certificate.document
    assert document["mechanism"]["groups"] == list(found.groups)
    assert len(document["mechanism"]["columns"][0]["dense"]) < size / 2
    written = Mechanism(found.inputs, found.outputs, tuple(found.columns), found.denominators)
    assert float(written.mutual_information(prior)) == pytest.approx(solution.value, abs=1e-12)
    assert values_of_file(solution.certificate.mechanism()) == values_of_file(found)
    read = rr.Solution.load(solution.save(tmp_path / "solution.json"), solution.problem)
    assert read.mechanism == found
    assert read.warnings == solution.warnings


def values_of_file(mechanism: Any) -> Any:
    return mechanism.inputs, mechanism.outputs, mechanism.numerators, mechanism.row_denominators
