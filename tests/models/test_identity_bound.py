"""The example, Table 1 and the simulation of the paper on identity disclosure, derived again."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

import pytest

from models.identity_bound import (
    AT_MOST,
    COUNTS,
    cheapest_example,
    closed_theta,
    example,
    inequality_12,
    invariance,
    ladder,
    least_example_theta,
    mean_squared_errors,
    odds_ratio_bound,
    psi,
    risk_at_one,
    table_1,
    unneeded_order,
)
from rropt.cli.main import main
from rropt.errors import InputError
from rropt.exact import dyadic_up
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks
from rropt.model.identification import match_risks

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
    """The 37 cells that need a block are K rounded up, not the largest integer in K; 24 are not a minimum."""
    cells = table_1()
    assert len(cells) == 70
    low = [cell for cell in cells if cell.rounded_up is not None]
    assert len(low) == 37
    assert all(cell.published == cell.rounded_up for cell in low)
    assert sum(cell.published == cell.rounded_down for cell in low) == 0
    assert all(cell.least <= cell.least_at_theta <= cell.published for cell in low)
    assert sum(cell.least < cell.published for cell in low) == 24
    assert all(cell.least == 1 for cell in cells if cell.rounded_up is None)


def test_the_tables_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "table", "identity_bound", "1"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 70
    # T_1 = 2, xi = 0.1: the paper's example, and the least size that is enough.
    (row,) = [row for row in rows if (row["T_1"], row["xi"]) == ("2", "0.1")]
    assert (row["published K_1"], row["K_1"], row["rounded down"], row["least"]) == ("6", "6", "5", "5")
    assert main(["models", "table", "identity_bound", "2"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["T"]) for row in rows] == list(COUNTS)
    # The matrix leaves every frequency as it is on average.
    assert [F(row["expected S"]) for row in rows] == list(COUNTS)
    assert main(["models", "table", "identity_bound", "3"]) == 2
    assert "there is no table 3" in capsys.readouterr().err
    assert main(["models", "figure", "identity_bound", "1"]) == 2
    assert "identity_bound has no figures" in capsys.readouterr().err


def test_the_ladder_ends_at_the_first_bound_that_the_data_reach() -> None:
    (only,) = ladder(COUNTS, "0.1")
    assert (only.needed, only.available) == (6, 8)
    steps = ladder((1, 5, 7), "0.15")
    assert [step.at_most for step in steps[:2]] == [F(3, 20), F(1, 6)]
    assert [step.stands for step in steps] == [False] * (len(steps) - 1) + [True]
    # The last bound is kept with theta* of the closed form, for every a.
    last = steps[-1]
    theta = dyadic_up(closed_theta(1, last.at_most).upper, 24)
    column = FrequencyBlocks((1, 5, 7), ((0, 1, 2),), (theta,)).column(0)
    assert max(match_risks(column, (1, 5, 7), 0, 13)) <= last.at_most
    assert psi(1, theta) <= last.at_most < psi(1, theta - F(1, 1000))
    # Alone in its size nothing can be kept below 1 / T_1.
    assert ladder((4, 1, 2), "0.1")[-1].at_most == F(1, 4)


@pytest.mark.parametrize(
    ("counts", "at_most", "category"), [((0, 4), "0.1", 0), ((3, 4), "1.5", 0), ((3, 4), "0.1", 2)]
)
def test_what_has_no_ladder_is_refused(counts: tuple[int, ...], at_most: str, category: int) -> None:
    with pytest.raises(InputError):
        ladder(counts, at_most, category=category)


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
