"""Information estimated from counts: the three entropies, the bias, and how often the interval holds the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rropt.errors import InputError
from rropt.estimation.information import estimated_information, plug_in_information


def joint(kind: str) -> np.ndarray:
    if kind == "independent":
        return np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    if kind == "response":
        kept = math.exp(1) / (math.exp(1) + 3)
        return np.array([0.4, 0.3, 0.2, 0.1])[:, None] * (np.eye(4) * (kept - (1 - kept) / 3) + (1 - kept) / 3)
    return np.array([[0.45, 0.01, 0.01], [0.02, 0.3, 0.01], [0.01, 0.01, 0.18]])


def entropy(values: np.ndarray) -> float:
    return -sum(one * math.log(one) for one in values.ravel().tolist() if one)


def test_it_is_the_sum_of_three_entropies() -> None:
    table = np.array([[10, 3, 0], [2, 7, 8]])
    p = table / table.sum()
    found = estimated_information(table)
    assert found.plug_in == pytest.approx(entropy(p.sum(1)) + entropy(p.sum(0)) - entropy(p), abs=1e-12)
    assert found.respondents == 30
    # A column that nobody has, and a row, change the estimate no more than the interval is wider for them.
    wider = estimated_information([[10, 3, 0, 0], [2, 7, 8, 0], [0] * 4])
    assert (wider.plug_in, wider.corrected) == pytest.approx((found.plug_in, found.corrected), abs=1e-12)
    assert wider.lower <= found.lower < found.upper < wider.upper
    assert found.lower <= found.corrected < found.plug_in < found.upper


@pytest.mark.parametrize("kind", ["independent", "response", "strong"])
def test_the_interval_holds_the_truth_as_often_as_it_says(kind: str) -> None:
    """1500 samples of 2000 people: the coverage of 90 %, and the corrected estimate has less bias."""
    true, rng = joint(kind), np.random.default_rng(5)
    exact = max(plug_in_information(true), 0.0)
    samples = rng.multinomial(2000, true.ravel(), size=1500).reshape(-1, *true.shape)
    found = [estimated_information(one, level=0.9) for one in samples]
    held = np.mean([one.lower <= exact <= one.upper for one in found])
    # At independence the estimate and its error are large together, and the interval is wider than needed.
    assert 0.87 <= held <= (1 if kind == "independent" else 0.94)
    if kind != "independent":
        plain = np.mean([one.plug_in for one in found]) - exact
        assert abs(np.mean([one.corrected for one in found]) - exact) < plain / 2


FEW = {
    "independent": joint("independent"),
    "response": joint("response"),
    "strong": joint("strong"),
    "equal": np.eye(2) / 2,
    "equal of four": np.eye(4) / 4,
    "two coins": np.full((2, 2), 0.25),
    "many pairs": np.full((5, 5), 0.04),
    "a rare row": np.diag([0.97, 0.03]),
    "sixteen": np.eye(16) / 32 + 1 / 512,
}


@pytest.mark.parametrize("n", [2, 5, 20, 100, 2000])
@pytest.mark.parametrize("kind", FEW)
def test_the_interval_is_never_a_point_and_holds_for_any_number_of_people(kind: str, n: int) -> None:
    """Also where pairs were not seen: 95 %, both sides together, less four standard deviations of 300 samples."""
    true, rng = FEW[kind], np.random.default_rng(n)
    exact, missed = max(plug_in_information(true), 0.0), 0
    for one in rng.multinomial(n, true.ravel(), size=300).reshape(-1, *true.shape):
        found = estimated_information(one)
        assert found.standard_error > 0
        assert 0 <= found.lower <= found.corrected <= found.upper
        assert found.lower < found.upper <= math.log(min(true.shape)) + 1e-12
        missed += not found.lower - 1e-12 <= exact <= found.upper + 1e-12
    assert missed / 300 < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_one_row_has_nothing_to_tell() -> None:
    assert estimated_information([[5, 3]]).upper == 0


def test_the_standard_error_is_that_of_repeated_samples() -> None:
    rng = np.random.default_rng(6)
    for kind in ("independent", "response", "strong"):
        true = joint(kind)
        samples = rng.multinomial(3000, true.ravel(), size=800).reshape(-1, *true.shape)
        found = [estimated_information(one) for one in samples]
        spread = np.std([one.plug_in for one in found])
        shown = np.mean([one.standard_error for one in found])
        if kind == "independent":
            assert spread < shown < 1.5 * spread
        else:
            assert shown == pytest.approx(spread, rel=0.15)


@pytest.mark.parametrize(
    ("counts", "level"),
    [([[1, -1], [2, 2]], 0.95), ([[0, 0]], 0.95), ([1, 2], 0.95), ([[0.5, 1]], 0.95), ([[1, 2]], 1.0), ([[1, 2]], 0)],
)
def test_bad_tables_are_refused(counts: object, level: float) -> None:
    with pytest.raises(InputError):
        estimated_information(counts, level=level)  # type: ignore[arg-type]
