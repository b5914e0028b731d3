"""The example, Table 1 and the simulation of the paper on identity disclosure, derived again."""

from __future__ import annotations

from fractions import Fraction

import pytest

from models.identity_bound import (
    AT_MOST,
    COUNTS,
    cheapest_example,
    example,
    inequality_12,
    invariance,
    least_example_theta,
    mean_squared_errors,
    odds_ratio_bound,
    risk_at_one,
    table_1,
    unneeded_order,
)

F = Fraction


def test_the_example() -> None:
    found = example()
    assert found.theta.agrees
    assert found.largest_difference < F(6, 10_000)
    # Every a: beyond 10 the chance is below 1 / a anyway.
    assert max(found.risks) == found.risks[0] <= AT_MOST
    assert all(risk * a <= 1 for a, risk in enumerate(found.risks, start=1))
    assert abs(float(found.expected) - 0.0784887) < 1e-7
    assert found.expected <= AT_MOST


def test_fewer_changes_than_the_example() -> None:
    assert least_example_theta().upper < example().theta.exact.lower
    assert 3 * cheapest_example().expected_changes < F("1.001") * example().blocks.expected_changes
    assert [len(block) for block, theta in cheapest_example().ends if theta] == [2]


def test_invariance_in_one_orientation() -> None:
    kept, printed = invariance()
    assert kept == 0
    assert printed > 1


def test_table_1() -> None:
    """The 37 cells that need a block are K rounded up, not the largest integer in K, and 24 of them are no minimum."""
    cells = table_1()
    assert len(cells) == 70
    low = [cell for cell in cells if cell.rounded_up is not None]
    assert len(low) == 37
    assert all(cell.published == cell.rounded_up for cell in low)
    assert sum(cell.published == cell.rounded_down for cell in low) == 0
    assert all(cell.least <= cell.least_at_theta <= cell.published for cell in low)
    assert sum(cell.least < cell.published for cell in low) == 24
    assert all(cell.least == 1 for cell in cells if cell.rounded_up is None)


def test_mean_squared_errors() -> None:
    for published, exact in mean_squared_errors():
        # 1,000 simulations of a number that is nearly normal: a standard error of sqrt(2 / 1000), 4.5 %.
        assert published == exact == 0 or abs(published / exact - 1) < 3 * F("0.0447")


def test_statements() -> None:
    first, largest, certain = unneeded_order()
    assert first < largest == certain
    at_one, most = risk_at_one(COUNTS[:2], F(8, 5))
    assert at_one < most
    column = example().blocks.column(0)
    assert odds_ratio_bound(column[:2], COUNTS[:2])[0] > 0
    printed, meant = inequality_12([F(1), F(1, 2)], [2, 2], 2)
    assert printed < 0 <= meant


@pytest.mark.long
def test_every_a_of_the_example() -> None:
    found = example(sizes=958)
    assert max(found.risks) == found.risks[0] <= AT_MOST
