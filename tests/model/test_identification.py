"""Identification risk: exact risks against enumeration, least thetas, blocks for whole tables, optima with proofs."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from risk_oracle import BranchReader, breaks, enumerated_risk, thresholds_hold

import rropt as rr
from rropt.errors import InputError
from rropt.mechanisms.families.block_choice import attained_bound, choose_blocks, ladder, smallest_bound
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks, holds, least_theta
from rropt.model.identification import (
    at_risk,
    closed_theta,
    expected_match,
    match_risks,
    paper_block_size,
    psi,
    risk_excess,
    true_block_size,
)

F = Fraction
EXAMPLE = (2, 205, 431, 106, 230, 221, 611, 194)


def drawn_column(rng: random.Random, size: int) -> list[Fraction]:
    return [rng.choice([F(0), F(1), F(rng.randint(0, 12), 12), F(rng.randint(1, 11), 12)]) for _ in range(size)]


def drawn_table(rng: random.Random) -> tuple[tuple[int, ...], Fraction]:
    low = [rng.randint(0, 9) for _ in range(rng.randint(1, 6))]
    high = [rng.randint(5, 300) for _ in range(rng.randint(0, 5))]
    counts = low + high if len(low + high) > 1 else [*low, 7]
    rng.shuffle(counts)
    return tuple(counts), F(rng.randint(10, 60), 100)


# -- exact risks ---------------------------------------------------------------------------------------


def test_risks_are_those_of_all_releases() -> None:
    """The convolution agrees with an enumeration of all releases, zeros and ones in the column included."""
    rng = random.Random(1)
    for _ in range(20):
        counts = [rng.randint(0, 2) for _ in range(3)]
        counts[0] += 1
        column = drawn_column(rng, 3)
        found = match_risks(column, counts, 0, sum(counts))
        assert found == [enumerated_risk(column, counts, 0, a) for a in range(1, sum(counts) + 1)]


def test_the_bound_need_only_be_looked_at_below_its_inverse() -> None:
    rng = random.Random(2)
    for _ in range(60):
        counts, column = [rng.randint(1, 4) for _ in range(4)], drawn_column(rng, 4)
        at_most = F(rng.randint(2, 19), 20)
        worst = max(match_risks(column, counts, 1, sum(counts)))
        assert (risk_excess(column, counts, 1, at_most) <= 0) == (worst <= at_most)


def test_the_risk_falls_as_other_odds_grow() -> None:
    """R_c(a) depends on ratios of odds, and falls in each: what thresholds rest on."""
    rng = random.Random(3)
    for _ in range(60):
        counts = [rng.randint(1, 5) for _ in range(4)]
        column = [F(rng.randint(1, 18), 20) for _ in range(4)]
        up = rng.randrange(1, 4)
        more = [q + F(1, 20) if x == up else q for x, q in enumerate(column)]
        for before, after in zip(match_risks(column, counts, 0, 12), match_risks(more, counts, 0, 12), strict=True):
            assert after <= before


def test_the_first_risk_is_the_largest_where_the_own_odds_are() -> None:
    """Theorem 3.1 and where its condition fails."""
    rng = random.Random(4)
    for _ in range(60):
        counts = [rng.randint(1, 6) for _ in range(4)]
        column = sorted((F(rng.randint(1, 19), 20) for _ in range(4)), reverse=True)
        found = match_risks(column, counts, 0, sum(counts))
        assert found[0] == max(found)
    odd = FrequencyBlocks((1, 2), ((0, 1),), (F(9, 10),)).column(0)
    assert max(match_risks(odd, (1, 2), 0, 3)) == F(1, 3) > match_risks(odd, (1, 2), 0, 1)[0]


def test_the_expected_match_is_the_mean_of_the_risks() -> None:
    counts, column = (2, 3, 1), [F(1, 3), F(1, 7), F(1, 2)]
    chances = [F(1)]
    for x, count in enumerate(counts):
        for _ in range(count):
            chances = [
                (chances[j] if j < len(chances) else 0) * (1 - column[x]) + (chances[j - 1] if j else 0) * column[x]
                for j in range(len(chances) + 1)
            ]
    risks = match_risks(column, counts, 0, 6)
    mean = sum((chance * risk for chance, risk in zip(chances[1:], risks, strict=True)), F(0))
    assert expected_match(column, counts, 0) == mean


def test_a_category_with_enough_records_keeps_the_bound_whatever_is_done() -> None:
    rng = random.Random(5)
    for _ in range(40):
        counts = (rng.randint(5, 9), rng.randint(1, 3), rng.randint(1, 3))
        assert 0 not in at_risk(counts, F(1, 5))
        assert risk_excess(drawn_column(rng, 3), counts, 0, F(1, 5)) <= 0


# -- the closed form and block sizes -------------------------------------------------------------------


def test_the_closed_theta_solves_psi() -> None:
    for count, at_most in ((1, F(1, 10)), (2, F(1, 10)), (7, F(1, 8)), (3, F(3, 10))):
        found = closed_theta(count, at_most)
        assert psi(count, found.upper + F(1, 2**40)) < at_most < psi(count, found.lower - F(1, 2**40))
    assert closed_theta(4, F(1, 4)).upper == 0


def test_block_sizes() -> None:
    """K_1 rounded up is the least size with theta* <= T (m - 1) / m; the true size is never above it."""
    for count in range(1, 10):
        for at_most in (F(1, 10), F(1, 7), F(3, 20), F(2, 7)):
            if count * at_most >= 1:
                assert true_block_size(count, at_most) == 1
                continue
            size, theta = paper_block_size(count, at_most), closed_theta(count, at_most)
            assert theta.upper <= F(count * (size - 1), size)
            assert theta.lower > F(count * (size - 2), size - 1)
            assert true_block_size(count, at_most) <= size


def test_the_true_block_size_is_what_thetas_allow() -> None:
    """Equal partners: with one category less no theta keeps the bound, with this many some does, larger ones too."""
    for count, at_most in ((1, F(1, 10)), (2, F(1, 10)), (3, F(3, 20)), (4, F(1, 9)), (6, F(1, 10))):
        size = true_block_size(count, at_most)
        assert least_theta([count] * size, [0], at_most) is not None
        assert least_theta([count, *[count + 7] * (size - 1)], [0], at_most) is not None
        for theta in (F(j * count, 16) for j in range(1, 16)):
            assert size == 2 or not holds([count] * (size - 1), [0], at_most, theta)


def test_least_thetas_part_what_holds_from_what_does_not() -> None:
    rng = random.Random(6)
    for _ in range(25):
        frequencies = [rng.randint(1, 4) for _ in range(2)] + [rng.randint(3, 60) for _ in range(3)]
        at_most = F(rng.randint(8, 40), 100)
        protected = [x for x in range(5) if frequencies[x] * at_most < 1]
        found = least_theta(frequencies, protected, at_most)
        if found is None:
            assert not holds(frequencies, protected, at_most, min(frequencies) * F(99, 100)) or not protected
        elif found.upper:
            assert holds(frequencies, protected, at_most, found.upper)
            assert not holds(frequencies, protected, at_most, found.lower)
            assert found.upper - found.lower <= F(1, 2**41)


# -- blocks for a whole table --------------------------------------------------------------------------


def keeps_the_bound(rng: random.Random) -> bool:
    """Whether blocks were found for one random table: they keep the bound for everybody, in exact arithmetic, and are
    invariant. Where none were found the smallest bound is said."""
    counts, at_most = drawn_table(rng)
    try:
        blocks = choose_blocks(counts, at_most)
    except InputError as error:
        found = str(error)
    else:
        found = ""
    if found:
        assert "smallest bound" in found or "out of reach" in found
        return False
    for c, count in enumerate(counts):
        column = blocks.column(c)
        assert sum((t * q for t, q in zip(counts, column, strict=True)), F(0)) == count
        if count:
            assert max(match_risks(column, counts, c, 25)) <= at_most
            if count * at_most >= 1 and not any(c in b and theta for b, theta in blocks.ends):
                assert column[c] == 1
    return True


def test_random_tables_keep_the_bound() -> None:
    rng = random.Random(7)
    assert sum(keeps_the_bound(rng) for _ in range(40)) > 20


@pytest.mark.long
def test_a_thousand_random_tables_keep_the_bound() -> None:
    rng = random.Random(8)
    assert sum(keeps_the_bound(rng) for _ in range(1_000)) > 400


def test_what_is_attained_is_said_exactly() -> None:
    with pytest.raises(InputError, match="smallest bound reached with blocks of this table is") as caught:
        choose_blocks((1, 3), F(1, 10))
    said = F(str(caught.value).split("this table is ")[1].split(" =")[0])
    assert F(1, 4) <= said < F(1, 4) + F(1, 400)
    assert smallest_bound((1, 3), 0) == F(1, 4)
    blocks = FrequencyBlocks((1, 3), ((0, 1),), (F(99, 100),))
    assert attained_bound(blocks, [0]) == max(match_risks(blocks.column(0), (1, 3), 0, 4))


def test_the_ladder_climbs_to_the_first_bound_that_the_table_has_categories_for() -> None:
    rungs = ladder((1, 3, 1, 9), F(1, 10))
    assert [rung.at_most for rung in rungs] == [F(1, 10), *(F(1, n) for n in range(9, 2, -1))]
    assert rungs[-1].stands
    assert rungs[-1].needed == 4 == rungs[-1].available
    assert ladder((12, 3), F(1, 10))[0].stands


def test_the_formulas_of_the_bound_take_numbers_as_they_are_written() -> None:
    assert psi(2, "1/2") == psi(2, 0.5) == F(6, 13)
    assert psi(2, 0) == F(1, 2) == psi(1, F(1, 2)) * F(3, 4)
    theta = closed_theta(2, "0.1")
    assert psi(2, theta.upper) <= F(1, 10) <= psi(2, theta.lower)
    for wrong in ((0, "1/2"), (2, 3), (2, -1)):
        with pytest.raises(InputError):
            psi(*wrong)
    for wrong in ((0, "0.1"), (2, 1), (2, 0)):
        with pytest.raises(InputError):
            closed_theta(*wrong)


# -- the constraint ------------------------------------------------------------------------------------


def changes(counts: tuple[int, ...], constraints: list[rr.Constraint]) -> rr.Problem:
    prior = rr.Prior.from_counts(counts)
    loss = [[sum(counts) * (x != y) for y in range(len(counts))] for x in range(len(counts))]
    return rr.Problem(rr.Minimize(rr.ExpectedLoss(prior, loss)), constraints)


def test_fewest_changes_in_blocks() -> None:
    solution = changes(EXAMPLE, [rr.IdentificationRisk(EXAMPLE, "0.1", blocks="auto")]).solve()
    assert solution.mechanism is not None
    assert solution.certificate is not None
    assert solution.gap is not None
    assert 0 <= solution.gap < 1e-11
    assert rr.Invariant(EXAMPLE).violation(solution.mechanism) == 0
    assert max(match_risks(solution.mechanism.column(0), EXAMPLE, 0, 30)) <= F(1, 10)
    assert thresholds_hold(solution.certificate.document)
    assert solution.certificate.document["assumptions"] == ["uniform-choice-among-matches", "newton-inequalities"]
    paper = changes(EXAMPLE, [rr.IdentificationRisk(EXAMPLE, "0.1", blocks=[list("013457")])]).solve()
    assert paper.value is not None
    assert solution.value is not None
    # The block of the paper has its least theta a little below theta*, and changes three times as much as a pair.
    assert 9.93 < paper.value < 6 * 1.656854
    assert abs(solution.value - 3.30605) < 1e-5


def test_most_information_in_blocks_is_at_an_end() -> None:
    prior = rr.Prior.from_counts(EXAMPLE)
    risk = rr.IdentificationRisk(EXAMPLE, "0.1", blocks="auto")
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [risk]).solve()
    assert solution.gap is not None
    assert 0 <= solution.gap < 1e-12
    assert risk.violation(solution.mechanism) <= 0
    assert solution.certificate is not None
    assert thresholds_hold(solution.certificate.document)


def test_a_threshold_that_keeps_the_bound_proves_nothing() -> None:
    """The oracle refuses a proof whose theta is too large: it can fail."""
    solution = changes((2, 30), [rr.IdentificationRisk((2, 30), "0.1", blocks="auto")]).solve()
    assert solution.certificate is not None
    document = solution.certificate.document
    document["proof"]["thetas"] = [str(F(document["proof"]["thetas"][0]) + F(1, 1000))]
    assert not thresholds_hold(document)


@pytest.mark.parametrize("counts", [(2, 40, 25), (1, 9, 30, 12)], ids=str)
def test_any_matrix_with_a_proof(counts: tuple[int, ...]) -> None:
    problem = changes(counts, [rr.Invariant(counts), rr.IdentificationRisk(counts, "0.15")])
    solution = problem.solve(time_limit=15)
    assert solution.mechanism is not None
    assert solution.certificate is not None
    assert all(constraint.violation(solution.mechanism) <= 0 for constraint in problem.constraints)
    assert BranchReader(solution.certificate.document).proves() == solution.limit
    assert solution.gap is not None
    assert -1e-15 <= solution.gap < 2e-6
    blocks = changes(counts, [rr.IdentificationRisk(counts, "0.15", blocks="auto")]).solve()
    assert solution.bound is not None
    assert blocks.value is not None
    assert solution.bound <= blocks.value


def test_a_bound_where_the_search_does_not_end() -> None:
    """Two rare categories: the bound is true, the gap stays open, and it is said."""
    counts = (1, 2, 20, 40)
    problem = changes(counts, [rr.Invariant(counts), rr.IdentificationRisk(counts, "0.2")])
    solution = problem.solve(time_limit=0.2)
    assert solution.certificate is not None
    assert solution.mechanism is not None
    assert BranchReader(solution.certificate.document).proves() == solution.limit
    assert solution.status in ("bounded", "certified")
    assert solution.gap is not None
    assert solution.gap >= 0
    assert all(constraint.violation(solution.mechanism) <= 0 for constraint in problem.constraints)


def test_a_proof_with_a_better_yield_is_refused() -> None:
    counts = (2, 40, 25)
    solution = changes(counts, [rr.Invariant(counts), rr.IdentificationRisk(counts, "0.15")]).solve(time_limit=15)
    assert solution.certificate is not None
    document = solution.certificate.document
    document["proof"]["yield"] = str(F(document["proof"]["yield"]) - F(1, 1000))
    with pytest.raises(AssertionError):
        BranchReader(document).proves()


def test_the_violation_says_by_how_much() -> None:
    identity = rr.Mechanism.from_matrix([[1, 0], [0, 1]], denominator=1)
    assert rr.IdentificationRisk([2, 30], "0.1").violation(identity) == F(1, 2) - F(1, 10)
    assert rr.IdentificationRisk([2, 30], "0.1", categories=["1"]).violation(identity) < 0
    assert breaks([F(9, 10), F(1, 1000)], [2, 30], 0, F(1, 10))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rr.IdentificationRisk([2, 30], 0), "not between 0 and 1"),
        (lambda: rr.IdentificationRisk([2, 30], 1.5), "not between 0 and 1"),
        (lambda: rr.IdentificationRisk([2, "1/2"], 0.1), "not a whole number"),
        (lambda: rr.IdentificationRisk([2, -1], 0.1), "is negative"),
        (lambda: rr.IdentificationRisk([0, 0], 0.1), "all counts are zero"),
        (lambda: rr.IdentificationRisk("23", 0.1), "expected a list of numbers"),
        (lambda: rr.IdentificationRisk([2, 30], 0.1, blocks="all"), "blocks is 'all'"),
        (lambda: rr.IdentificationRisk([2, 30], 0.1, blocks=[["0", "1"], ["1"]]), "appears twice"),
        (lambda: rr.IdentificationRisk(rr.Prior.from_probabilities([0.5, 0.5]), 0.1), "declared by probabilities"),
        (lambda: changes((2, 30), [rr.IdentificationRisk([2, 30, 4], 0.1)]), "3 numbers for 2 labels"),
        (
            lambda: changes((2, 30), [rr.IdentificationRisk({"0": 2, "x": 3}, 0.1)]),
            "'x' is not among the labels",
        ),
        (lambda: changes((2, 30), [rr.IdentificationRisk([2, 30], 0.1, categories=["x"])]), "not one of the inputs"),
        (
            lambda: changes((2, 0), [rr.IdentificationRisk([2, 0], 0.1, categories=["1"])]),
            "the count of category",
        ),
        (lambda: changes((2, 3), [rr.IdentificationRisk([2, 3], 0.1, blocks="auto")]), "smallest bound"),
        (lambda: changes((2, 3), [rr.IdentificationRisk([2, 3], 0.1, blocks=[["0", "1"]])]), "cannot keep the risk"),
        (
            lambda: changes((2, 30), [rr.IdentificationRisk([2, 30], 0.1), rr.IdentificationRisk([2, 30], 0.2)]),
            "declare the same: identification risk",
        ),
        (lambda: rr.Invariant([1, -2]), "is negative"),
        (lambda: FrequencyBlocks((2, 3), ((0, 1),), (F(5, 2),)), "not in"),
        (lambda: FrequencyBlocks((2, 3), ((0,),), (F(0),)), "not a partition"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_problem_files() -> None:
    text = """
schema = 1
[input]
counts = { a = 2, b = 205, c = 431, d = 106 }
[objective]
maximize = "mutual_information"
[[constraint]]
kind = "invariant"
[[constraint]]
kind = "identification_risk"
at_most = 0.1
blocks = "auto"
"""
    problem = rr.problem_file.parse_problem(text)
    assert rr.problem_file.parse_problem(rr.problem_file.problem_to_toml(problem)) == problem
    assert problem.solve().mechanism is not None
