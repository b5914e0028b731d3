"""An Improved Bound for Security in an Identity Disclosure Problem: its example, Table 1 and simulation, derived again.

A respondent B has category c_1; the intruder picks one of the S_1 records that are released as c_1. Inverse-frequency
blocks (3) keep the chance R_1(a, t) of a correct match (10) at or below xi for every S_1 = a. What the functions below
return is computed in exact arithmetic; what the paper prints stands beside it under `published`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from rropt.models.plots import Table

from rropt.errors import UnknownName
from rropt.exact import Interval, dyadic_up
from rropt.mechanisms.families.block_choice import choose_blocks, ladder
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks, holds, least_theta
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.identification import (
    closed_theta,
    expected_match,
    match_risks,
    paper_block_size,
    psi,
    true_block_size,
)

__all__ = [
    "COUNTS",
    "LEVELS",
    "TABLE_1",
    "Cell",
    "Example",
    "Theta",
    "cheapest_example",
    "closed_theta",
    "example",
    "inequality_12",
    "invariance",
    "ladder",
    "mean_squared_errors",
    "odds_ratio_bound",
    "psi",
    "risk_at_one",
    "table",
    "table_1",
    "unneeded_order",
]

COUNTS = (2, 205, 431, 106, 230, 221, 611, 194)
"""Table 2: frequencies of a sample of 2000."""
AT_MOST = Fraction(1, 10)
BLOCK = (0, 1, 3, 4, 5, 7)
"""The six categories of the example that are perturbed: c_1 and the five with the next lowest probabilities."""
THETA = Fraction("1.656854")
THETA_BITS = 24
"""theta* is irrational; it is rounded up to a multiple of 2^-24, which keeps the bound."""
MATCH = Fraction("0.07639286")
"""The paper's average probability of a correct match over 1000 simulations."""
ERRORS = ("4.9350e-7", "7.6125e-7", "0", "7.4300e-7", "8.8550e-7", "7.8375e-7", "0", "8.5550e-7")
SIMULATIONS = 1000
MATRIX = (
    ("0.172", "0.166", "0", "0.166", "0.166", "0.166", "0", "0.166"),
    ("0.002", "0.992", "0", "0.002", "0.002", "0.002", "0", "0.002"),
    ("0", "0", "1", "0", "0", "0", "0", "0"),
    ("0.003", "0.003", "0", "0.984", "0.003", "0.003", "0", "0.003"),
    ("0.001", "0.001", "0", "0.001", "0.993", "0.001", "0", "0.001"),
    ("0.001", "0.001", "0", "0.001", "0.001", "0.993", "0", "0.001"),
    ("0", "0", "0", "0", "0", "0", "1", "0"),
    ("0.002", "0.002", "0", "0.002", "0.002", "0.002", "0", "0.991"),
)
"""The printed matrix; a column that a text copy garbles stands here as (3) orders it."""
LEVELS = tuple(map(Fraction, ("0.1", "0.125", "0.15", "0.175", "0.2", "0.25", "0.3")))
TABLE_1 = (
    (11, 9, 8, 7, 6, 5, 5),
    (6, 5, 5, 4, 4, 3, 3),
    (5, 4, 3, 3, 3, 2, 2),
    (4, 3, 3, 2, 2, 2, 2),
    (3, 3, 2, 2, 2, 2, 2),
    (3, 2, 2, 2, 2, 2, 2),
    (2, 2, 2, 2, 2, 2, 2),
    (2, 2, 2, 2, 2, 2, 2),
    (2, 2, 2, 2, 2, 2, 2),
    (2, 2, 2, 2, 2, 2, 2),
)
"""Table 1: block sizes by T_1 = 1, ..., 10 (rows) and xi (columns)."""


# -- section 4: the example ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Theta:
    """A theta as printed and as the closed form of Lemma 3.2 gives it, enclosed."""

    published: Fraction
    exact: Interval

    @property
    def agrees(self) -> bool:
        """Whether the printed digits are those of the exact number, within half a unit of the last."""
        half = Fraction(1, 2 * 10**6)
        return self.published - half <= self.exact.lower and self.exact.upper <= self.published + half


@dataclass(frozen=True)
class Example:
    """The mechanism of section 4 with theta* rounded up by less than 2^-24, R_1(1), R_1(2), ..., and
    the expected chance of a correct match beside the average of the paper's simulation."""

    theta: Theta
    blocks: FrequencyBlocks
    mechanism: Mechanism
    risks: tuple[Fraction, ...]
    expected: Fraction
    published: Fraction = MATCH

    @property
    def largest_difference(self) -> Fraction:
        """Of the printed matrix and this one, over all cells."""
        cells = [(x, y) for x in range(len(COUNTS)) for y in range(len(COUNTS))]
        return max(abs(Fraction(MATRIX[x][y]) - self.mechanism.entry(x, y)) for x, y in cells)


@cache
def example(sizes: int = 100) -> Example:
    """theta* = 1.656854..., the 8 x 8 matrix, R_1(a) for a = 1, ..., `sizes` (958 are all; R_1(a) <= 1 / a), and the
    expected chance of a correct match."""
    exact = closed_theta(COUNTS[0], AT_MOST)
    theta = dyadic_up(exact.upper, THETA_BITS)
    blocks = FrequencyBlocks(COUNTS, (BLOCK, (2,), (6,)), (theta, Fraction(0), Fraction(0)))
    column = blocks.column(0)
    return Example(
        Theta(THETA, exact),
        blocks,
        blocks.mechanism(),
        tuple(match_risks(column, COUNTS, 0, sizes)),
        expected_match(column, COUNTS, 0),
    )


def cheapest_example() -> FrequencyBlocks:
    """Blocks for the same table and xi with the fewest expected changes that `choose_blocks` finds, every theta
    least."""
    return choose_blocks(COUNTS, AT_MOST)


def mean_squared_errors() -> tuple[tuple[Fraction, Fraction], ...]:
    """(published, exact) for each of the eight categories: E (S_j / n - T_j / n)^2 of one release, the variance of a
    sum of binomial numbers over n^2."""
    column_of = example().blocks.column
    n = sum(COUNTS)
    found = []
    for y, printed in enumerate(ERRORS):
        variance = sum((t * q * (1 - q) for t, q in zip(COUNTS, column_of(y), strict=True)), Fraction(0))
        found.append((Fraction(printed), variance / n**2))
    return tuple(found)


# -- Table 1 -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell of Table 1: T_1, xi, the block size as printed; K_1 rounded up and rounded down (None where T_1 >= 1 /
    xi, which needs no block), the least size with the paper's theta* and with theta free in (0, T_1), for all partners
    with T_j >= T_1."""

    count: int
    at_most: Fraction
    published: int
    rounded_up: int | None
    rounded_down: int | None
    least_at_theta: int
    least: int


def table_1() -> tuple[Cell, ...]:
    """The 70 cells, row by row."""
    cells = []
    for count, row in enumerate(TABLE_1, start=1):
        for at_most, published in zip(LEVELS, row, strict=True):
            if count * at_most >= 1:
                cells.append(Cell(count, at_most, published, None, None, 1, 1))
                continue
            up, down = paper_block_size(count, at_most), paper_block_size(count, at_most, rounded_up=False)
            least = true_block_size(count, at_most)
            cells.append(Cell(count, at_most, published, up, down, least_at_theta(count, at_most), least))
    return tuple(cells)


def least_at_theta(count: int, at_most: Fraction) -> int:
    """The least size of a block of equal frequencies that keeps the bound with theta* (rounded up by less than 2^-24).

    Equal partners are possible partners, so that no smaller size will do for all of them.
    """
    theta = dyadic_up(closed_theta(count, at_most).upper, THETA_BITS)
    size = 2
    while not holds([count] * size, [0], at_most, theta):
        size += 1
    return size


def table(number: int) -> Table:
    """Table 1 (block sizes) or 2 (the example's frequencies), the published numbers beside the computed ones.

    Table 2 has the mean squared errors of section 4 too. Raises InputError.
    """
    if number == 1:
        header: tuple[str, ...] = ("T_1", "xi", "published K_1", "K_1", "rounded down", "least with theta*", "least")
        rows: list[tuple[object, ...]] = [
            (
                *(cell.count, float(cell.at_most), cell.published),
                *("" if one is None else one for one in (cell.rounded_up, cell.rounded_down)),
                *(cell.least_at_theta, cell.least),
            )
            for cell in table_1()
        ]
    elif number == 2:
        header = ("category", "T", "expected S", "published mean squared error", "mean squared error")
        blocks = example().blocks
        rows = []
        for y, (printed, exact) in enumerate(mean_squared_errors()):
            mean = sum((t * q for t, q in zip(COUNTS, blocks.column(y), strict=True)), Fraction(0))
            rows.append((y + 1, COUNTS[y], mean, f"{float(printed):.4e}", f"{float(exact):.4e}"))
    else:
        raise UnknownName(f"there is no table {number}", "identity_bound", "there are 1 and 2, and no figures")
    title = "least block sizes" if number == 1 else "the example"
    return Table(f"identity_bound-table-{number}", f"Identity disclosure, Table {number}: {title}", header, tuple(rows))


# -- statements ----------------------------------------------------------------------------------------


def invariance(counts: Sequence[int] = COUNTS) -> tuple[Fraction, Fraction]:
    """(the largest |sum_x T_x Q[x, y] - T_y|, the largest |sum_y Q[x, y] T_y - T_x|) for the example: (2) holds as T'P
    = T' and not as PT = T, which is how it is printed."""
    mechanism = example().mechanism
    rows = range(len(counts))
    left = max(abs(sum((counts[x] * mechanism.entry(x, y) for x in rows), Fraction(0)) - counts[y]) for y in rows)
    right = max(abs(sum((mechanism.entry(x, y) * counts[y] for y in rows), Fraction(0)) - counts[x]) for x in rows)
    return left, right


def odds_ratio_bound(column: Sequence[Fraction], counts: Sequence[int], category: int = 0) -> tuple[Fraction, Fraction]:
    """(R(1), the largest R(a)): equal where c_1 has the largest odds of its column (Theorem 3.1)."""
    risks = match_risks(column, counts, category, sum(counts))
    return risks[0], max(risks)


def unneeded_order() -> tuple[Fraction, Fraction, Fraction]:
    """(R(1), the largest R(a), 1 / n) of T = (1, 2) with theta = 9/10: the odds of c_1 are the smaller ones, and R(3) =
    1/3 is above R(1): Theorem 3.1 needs its condition."""
    blocks = FrequencyBlocks((1, 2), ((0, 1),), (Fraction(9, 10),))
    first, largest = odds_ratio_bound(blocks.column(0), (1, 2))
    return first, largest, Fraction(1, 3)


def risk_at_one(counts: Sequence[int], theta: Fraction) -> tuple[Fraction, Fraction]:
    """(R_1(1, t), psi(T_1, theta)) of a block: (11) says that the first is at most the second."""
    blocks = FrequencyBlocks(tuple(counts), (tuple(range(len(counts))),), (theta,))
    return match_risks(blocks.column(0), counts, 0, 1)[0], psi(counts[0], theta)


def inequality_12(odds: Sequence[Fraction], times: Sequence[int], a: int) -> tuple[Fraction, Fraction]:
    """(the left side of (12) as printed, the left side with a beta_1 in the place of beta_1), for odds beta that T*
    records have: Sigma~_(a+1) - Sigma Sigma~_a + beta_1 Sigma~_a with Sigma~_a = a! Sigma_a. The proof needs, and
    has, the second one >= 0."""
    sums = [Fraction(1)] + [Fraction(0)] * (a + 1)
    factorial = 1
    for b, number in zip(odds, times, strict=True):
        for _ in range(number):
            for j in range(a + 1, 0, -1):
                sums[j] += b * sums[j - 1]
    for j in range(1, a + 1):
        factorial *= j
    scaled, following = factorial * sums[a], factorial * (a + 1) * sums[a + 1]
    rest = following - sums[1] * scaled
    return rest + odds[0] * scaled, rest + a * odds[0] * scaled


def least_example_theta() -> Interval:
    """The least theta of the example's own block, enclosed: below theta*, which serves all partners."""
    found = least_theta([COUNTS[x] for x in BLOCK], [0], AT_MOST)
    assert found is not None
    return found
