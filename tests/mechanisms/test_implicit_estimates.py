"""Estimates without a matrix agree with those from the matrix: off-diagonals, families, and strata of both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.estimators.estimate import Estimate
from rropt.mechanisms.estimators.fit import fit_of, fit_probability
from rropt.mechanisms.estimators.likelihood import maximum_likelihood
from rropt.mechanisms.estimators.off_diagonal import OffDiagonalAnswers
from rropt.mechanisms.estimators.recover import Answers, Sample, recover_strata
from rropt.mechanisms.estimators.simplex import inside
from rropt.mechanisms.families.hadamard import HadamardResponse
from rropt.mechanisms.families.hashing import LocalHashing
from rropt.mechanisms.families.randomized_response import RandomizedResponse
from rropt.mechanisms.implicit import FamilyMechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism

METHODS = ("unbiased", "minimax", "moments", "projected", "clipped", "mle", "locally_best")


def case(seed: int) -> tuple[OffDiagonalMechanism, np.ndarray]:
    """A mechanism of 2 to 12 inputs, some of its numbers zero or equal, and counts, some of them zero."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 13))
    numbers = rng.integers(0, 900 // k, k)
    if seed % 3 == 0:
        numbers[:] = numbers[0]
    elif seed % 3 == 1:
        numbers[rng.integers(0, k)] = 0
    counts = rng.integers(0, 60, k) * rng.integers(0, 2, k) + (np.arange(k) == seed % k)
    return OffDiagonalMechanism(list(map(str, range(k))), numbers.tolist(), 1000), counts.astype(float) * 3


def of_matrix(mechanism: rr.Mechanism, counts: np.ndarray) -> Sample:
    return Sample(mechanism.matrix, counts, mechanism.inputs)


def same(one: Estimate, other: Estimate, is_likelihood: bool = False) -> None:
    assert (one.categories, one.n, one.method) == (other.categories, other.n, other.method)
    loose = {"rtol": 1e-4, "atol": 1e-4} if is_likelihood else {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(one.values, other.values, **loose)
    for name in ("centre", "variances", "moments"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-7, atol=1e-9, err_msg=name)
    assert one.covariance is not None
    assert other.covariance is not None
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_off_diagonals_are_estimated_as_from_their_matrix(seed: int) -> None:
    mechanism, counts = case(seed)
    answers = mechanism.answers(counts)
    assert isinstance(answers, OffDiagonalAnswers)
    flat = rr.Prior.from_counts(dict.fromkeys(mechanism.inputs, 1))
    for method in METHODS:
        prior = flat if method == "locally_best" else None
        right = recover_strata([of_matrix(mechanism, counts)], method, prior)
        # The terms seen may be one: then the slope is that of rounding in the matrix's way, and is not compared.
        same(recover_strata([answers], method, prior), right, method == "mle")


@pytest.mark.parametrize("seed", range(40))
def test_the_likeliest_frequencies_are_proved_to_be(seed: int) -> None:
    mechanism, counts = case(seed)
    answers = mechanism.answers(counts)
    assert isinstance(answers, OffDiagonalAnswers)
    found, right = answers.likeliest, maximum_likelihood(mechanism.matrix, counts)
    assert found.gap < 1e-8
    assert found.log_likelihood == pytest.approx(right.log_likelihood, abs=right.gap + 1e-8)
    # Both numbers are those of their definitions.
    mixed, seen = found.values @ mechanism.matrix, counts > 0
    assert found.values.min() >= 0
    assert found.values.sum() == pytest.approx(1)
    assert found.log_likelihood == pytest.approx(float(counts[seen] @ np.log(mixed[seen])), abs=1e-8)
    ratio = mechanism.matrix[:, seen] @ (counts[seen] / mixed[seen]) / counts.sum()
    assert found.gap >= counts.sum() * np.log(ratio.max()) - 1e-8


@pytest.mark.parametrize("seed", range(40))
def test_counts_that_do_not_fit_are_found_alike(seed: int) -> None:
    mechanism, counts = case(seed)
    for times in (1, 40):
        given = counts * times
        answers = mechanism.answers(given)
        assert isinstance(answers, OffDiagonalAnswers)
        one, other = answers.misfit(mechanism.outputs), of_matrix(mechanism, given).misfit(mechanism.outputs)
        assert one.partition("(p <")[::2][0] == other.partition("(p <")[::2][0]
        assert one.partition("): ")[2] == other.partition("): ")[2]
        found = fit_of(given, mechanism.matrix.max(axis=0) > 0, lambda answers=answers: answers.likeliest)
        # The gap of the other is larger, so that its number is at most milder.
        assert found <= fit_probability(mechanism.matrix, given) * 1.01 + 1e-300


def test_a_mechanism_that_identifies_little_is_named_by_the_general_method() -> None:
    for numbers in ([200, 200, 200, 200, 200], [250, 0, 0, 0, 0], [10, 200, 10, 200, 10]):
        mechanism = OffDiagonalMechanism(list("abcde"), numbers, 1000)
        assert not isinstance(mechanism.answers(np.ones(5)), OffDiagonalAnswers)
        if mechanism.rank < 5:
            with pytest.raises(InputError, match="do not distinguish"):
                mechanism.estimate([5, 4, 3, 2, 1])
        else:
            same(
                mechanism.estimate([5, 4, 3, 2, 1]),
                recover_strata([of_matrix(mechanism, np.array([5.0, 4, 3, 2, 1]))]),
            )


FAMILIES = [HadamardResponse(5, gamma=3), LocalHashing(7, gamma="5/2", buckets=2)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("others", [1, 90])
def test_strata_of_implicit_mechanisms_are_pooled(family: Any, others: int) -> None:
    """The shares of the strata weigh the estimates; the variance is that within the strata and that of their means."""
    rng = np.random.default_rng(7)
    kept = FamilyMechanism(family)
    plain = OffDiagonalMechanism([*family.inputs[1:], "other"], [50 + x for x in range(family.size)], 1000)
    first, second = rng.integers(0, 30, len(kept.outputs)).astype(float), np.zeros(family.size)
    second[: 3 if others > 1 else 1] = others / 3 if others > 1 else 1
    samples: list[Answers] = [kept.answers(first), plain.answers(second)]
    found = recover_strata(samples)
    shares = np.array([first.sum(), second.sum()]) / (first.sum() + second.sum())
    alone = kept.estimate(first)
    assert found.categories == (*family.inputs, "other")
    other = of_matrix(plain, second).solve("unbiased", None).terms
    for at, label in enumerate(found.categories):
        mean, square, moments = 0.0, 0.0, np.zeros(2)
        for share, inputs, means, variances, own in (
            (shares[0], kept.inputs, alone.values, alone.variances * alone.n, alone.moments),
            (shares[1], plain.inputs, other.mean, other.spread, other.moments),
        ):
            if label in inputs:
                x = inputs.index(label)
                mean += share * means[x]
                square += share * (variances[x] + means[x] ** 2)
                moments += share * own[x]
        assert found.values[at] == pytest.approx(mean, abs=1e-12)
        assert found.variances[at] * found.n + mean**2 == pytest.approx(square, rel=1e-9)
        np.testing.assert_allclose(found.moments[at], moments, rtol=1e-9)
    with pytest.raises(InputError, match="not a method of this family"):
        recover_strata(samples, "mle")


def test_one_answer_in_a_stratum_of_a_family() -> None:
    """It is counted, and the variance is that of all answers but for what one answer cannot show."""
    for family in FAMILIES:
        kept = FamilyMechanism(family)
        one, rest = np.zeros(len(kept.outputs)), np.arange(len(kept.outputs), dtype=float)
        one[1] = 1
        together = recover_strata([kept.answers(one), kept.answers(rest)])
        whole = kept.estimate(one + rest)
        np.testing.assert_allclose(together.values, whole.values, atol=1e-12)
        np.testing.assert_allclose(together.variances, whole.variances, rtol=4 / whole.n)
        np.testing.assert_allclose(together.moments, whole.moments, rtol=1e-9, atol=1e-12)


WORK = """
import sys
from pathlib import Path
import numpy as np
import rropt as rr
mechanism = rr.RandomizedResponse(5000, epsilon=2).to_mechanism() if sys.argv[1] == "response" else None
if mechanism is None:
    family = rr.mechanisms.SubsetSelection(5000, epsilon=2)
    found = family.estimate(family.sample(np.arange(3000) % 5000))
else:
    counts = np.bincount(mechanism.sample(np.arange(200_000) % 5000), minlength=5000)
    for method in ("unbiased", "projected", "mle"):
        found = mechanism.estimate(counts, method=method)
        assert not found.warnings
assert found.covariance is None and len(found.intervals()) == 5000
told = Path("/proc/self/status")
lines = told.read_text().splitlines() if told.exists() else []
print(sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)
"""


@pytest.mark.parametrize("name", ["response", "subset"])
def test_five_thousand_categories_are_estimated_without_a_matrix(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORK, name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    # One matrix of floats is 200 MB; the counts of sets have one, by size and member.
    assert float(done.stdout) < (200 if name == "response" else 340)


def test_the_errors_of_many_categories_are_those_of_the_covariance() -> None:
    """Above 2,048 categories there is none; below there is one, with these errors on its diagonal."""
    for mechanism in (RandomizedResponse(2048, epsilon=3), RandomizedResponse(2049, epsilon=3)):
        counts = np.arange(mechanism.to_mechanism().shape[1])
        found = mechanism.estimate(counts)
        low, high = (float(mechanism.mechanism.entry(0, y)) for y in (1, 0))
        share = low + (high - low) * inside(found.centre, found.n)
        wanted = share * (1 - share) / (high - low) ** 2 / counts.sum()
        np.testing.assert_allclose(found.variances, wanted, rtol=1e-9, atol=1e-30)
        assert (found.covariance is None) == (len(counts) > 2048)
        if found.covariance is not None:
            np.testing.assert_allclose(np.diagonal(found.covariance), wanted, rtol=1e-9, atol=1e-30)
