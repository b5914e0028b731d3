"""The figures in plain terms, against their definitions."""

import math
import random
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest
from rropt.models import model_path

import rropt as rr
from rropt.estimation import sample_size
from rropt.mechanisms.mechanism import Mechanism
from rropt.problem.plain_terms import entropy, entropy_kept, largest_margin, plain_terms, squared_error, worst_posterior


def random_mechanism(seed: int, k: int = 4) -> Mechanism:
    rng = random.Random(seed)
    rows = [[rng.randint(1, 9) for _ in range(k)] for _ in range(k)]
    return Mechanism.from_rationals([[F(one, sum(row)) for one in row] for row in rows])


def posterior(mechanism: Mechanism, prior: list[F], members: tuple[int, ...], y: int) -> F:
    """Bayes' rule, written out."""
    column = mechanism.column(y)
    joint = [share * entry for share, entry in zip(prior, column, strict=True)]
    return sum((joint[x] for x in members), F(0)) / sum(joint)


@pytest.mark.parametrize("seed", range(12))
def test_no_output_makes_a_suspicion_larger_than_is_said(seed: int) -> None:
    """For every property of the answers, whatever the frequencies inside and outside of it; exact."""
    mechanism, rng = random_mechanism(seed), random.Random(seed)
    k, suspicion = len(mechanism.inputs), F(rng.randint(1, 99), 100)
    most = worst_posterior(mechanism.privacy_ratio, suspicion)
    for size in range(1, k):
        for members in combinations(range(k), size):
            weights = [F(rng.randint(1, 20)) for _ in range(k)]
            inside = sum(weights[x] for x in members)
            outside = sum(weights) - inside
            prior = [
                suspicion * weight / inside if x in members else (1 - suspicion) * weight / outside
                for x, weight in enumerate(weights)
            ]
            assert all(posterior(mechanism, prior, members, y) <= most for y in range(k))


@pytest.mark.parametrize("seed", range(12))
def test_some_output_makes_it_as_large_as_is_said(seed: int) -> None:
    mechanism, suspicion = random_mechanism(seed), F(1, 10)
    k, found = len(mechanism.inputs), F(0)
    for y in range(k):
        for x in range(k):
            for z in set(range(k)) - {x}:
                prior = [suspicion if at == x else 1 - suspicion if at == z else F(0) for at in range(k)]
                found = max(found, posterior(mechanism, prior, (x,), y))
    assert found == worst_posterior(mechanism.privacy_ratio, suspicion)


def test_an_infinite_ratio_leaves_no_doubt() -> None:
    assert (worst_posterior(math.inf), worst_posterior(math.inf, F(0)), worst_posterior(F(1))) == (1, 0, F(1, 10))


@pytest.mark.parametrize("seed", range(6))
def test_the_entropy_that_is_said_to_be_kept_is_kept(seed: int) -> None:
    """Against sums of logarithms; never above them."""
    mechanism, counts = random_mechanism(seed), [5, 3, 1, 7]
    prior = rr.Prior.from_counts(counts, labels=mechanism.inputs)
    shares = [F(count, sum(counts)) for count in counts]
    out = [sum((share * row for share, row in zip(shares, mechanism.column(y), strict=True)), F(0)) for y in range(4)]
    whole = -math.fsum(float(share) * math.log(share) for share in shares)
    told = math.fsum(
        float(share * mechanism.entry(x, y)) * math.log(mechanism.entry(x, y) / out[y])
        for x, share in enumerate(shares)
        for y in range(4)
    )
    kept = entropy_kept(mechanism, prior)
    assert float(entropy(prior)) == pytest.approx(whole, rel=1e-12)
    assert kept is not None
    assert float(kept) == pytest.approx(told / whole, rel=1e-9)
    assert kept <= mechanism.mutual_information(prior).upper / entropy(prior).lower


def test_nobody_keeps_what_is_not_there() -> None:
    """All answers alike have no entropy."""
    prior = rr.Prior.from_counts({"a": 5, "b": 0})
    assert entropy_kept(rr.RandomizedResponse(["a", "b"], epsilon=1).mechanism, prior) is None


@pytest.mark.parametrize("n", [50, 1000, 32561])
def test_so_many_answers_have_the_margin_that_is_said(n: int) -> None:
    """The inverse of `sample_size`: with n answers the margin is reached, with a twentieth less it is not."""
    mechanism = rr.RandomizedResponse(["a", "b", "c"], epsilon=1).mechanism
    margin = largest_margin(mechanism, n)
    assert margin is not None
    assert sample_size(mechanism, margin) in (n - 1, n, n + 1)


def test_the_margin_of_a_yes_no_question_is_that_of_warner() -> None:
    """Warner's variance: the sampling of the answers, and of the coins; at gamma 3 the truth is told in 3 of 4."""
    margin = largest_margin(rr.RandomizedResponse(["yes", "no"], gamma=3).mechanism, 1000)
    noise = F(3, 4) * F(1, 4) / (2 * F(3, 4) - 1) ** 2
    assert margin == pytest.approx(1.959964 * math.sqrt((F(1, 4) + noise) / 1000), rel=1e-6)


def cells(problem: rr.Problem, mechanism: Mechanism) -> dict[str, list[str]]:
    (table,) = plain_terms(problem, mechanism)
    return {row[0]: list(row[1:]) for row in table.rows}


@pytest.mark.parametrize("seed", range(6))
def test_so_many_respondents_give_the_same_squared_error_as_is_said(seed: int) -> None:
    """The ratio of the exact risks at the frequencies of the problem, not at the worst ones."""
    design, counts = random_mechanism(seed), [50 + seed, 30, 15, 5]
    prior = rr.Prior.from_counts(counts, labels=design.inputs)
    response = rr.RandomizedResponse(design.inputs, epsilon=1).mechanism
    exact, other = (float(rr.MinimaxRisk(prior).value(one).upper) for one in (design, response))
    assert squared_error(design, prior) == pytest.approx(exact, rel=1e-9)
    said = cells(rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]), design)
    needed, whole = said["respondents for the same squared error"]
    assert float(needed.removesuffix(" %")) / 100 == pytest.approx(exact / other, rel=5e-3)
    assert whole == "100 %"


def test_numbers_are_rounded_to_the_safe_side() -> None:
    """A suspicion and a margin of error up, what is kept down, as written."""
    prior = rr.Prior.from_counts({"a": 50_000, "b": 30_000, "c": 20_000})
    for epsilon in ("0.1", "0.7", 1, 2, "3.3"):
        design = rr.RandomizedResponse(prior.labels, epsilon=epsilon).mechanism
        found = cells(rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon)]), design)
        most = F(found["a 10 % suspicion becomes at most"][0].removesuffix(" %")) / 100
        kept = F(found["entropy of the answers kept, at least"][0].removesuffix(" %")) / 100
        assert worst_posterior(design.privacy_ratio) <= most < worst_posterior(design.privacy_ratio) * F(102, 100)
        assert entropy_kept(design, prior) * F(98, 100) < kept <= entropy_kept(design, prior)
        margin, points = largest_margin(design, 100_000), found["largest margin of error, 100,000 answers (95 %)"][0]
        assert margin is not None
        assert 100 * margin <= float(points.removesuffix(" points")) < 110 * margin


def test_k_rr_beside_itself_has_its_own_figures() -> None:
    prior = rr.Prior.from_counts({"a": 50, "b": 30, "c": 20})
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)])
    for own, other in cells(problem, rr.RandomizedResponse(prior.labels, epsilon=1).mechanism).values():
        assert own == other


def test_a_design_is_compared_with_k_rr_only_where_plain_ldp_was_asked_for() -> None:
    """Of robust LDP the suspicion of a sensitive value is bounded at the declared level, whatever plain LDP is."""
    pairs = rr.Pairs(["ill", "well"], ["young", "old"])
    prior = rr.Prior.from_counts([[5, 9], [50, 36]], pairs=pairs)
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.MaximalRLDP(1, groups=pairs)])
    mechanism = problem.solve().mechanism
    assert mechanism is not None
    found = cells(problem, mechanism)
    ratio = rr.LDP(1).level.ratio.upper
    told = F(found["a 10 % suspicion of a sensitive value: at most"][0].removesuffix(" %")) / 100
    assert worst_posterior(ratio) <= told < F(102, 100) * worst_posterior(ratio)
    assert all(len(row) == 1 for row in found.values())


def test_a_singular_optimum_that_rounding_makes_regular_identifies_nothing() -> None:
    """The census column: 16 levels, five of which are answered; its exact matrix has rank 16 by some 1e-13."""
    solution = rr.load_problem(model_path("census-column")).solve()
    assert solution.mechanism is not None
    assert solution.mechanism.rank == 16
    assert any("does not identify the frequencies: 5 independent outputs" in one for one in solution.warnings)
    found = cells(solution.problem, solution.mechanism)
    assert found["largest margin of error, 32,561 answers (95 %)"][0] == "no estimate"
    assert "respondents for the same squared error" not in found


def test_a_margin_of_all_shares_is_none() -> None:
    design = rr.RandomizedResponse(["a", "b"], epsilon="0.01").mechanism
    assert largest_margin(design, 10) is None
    margin = largest_margin(design, 100_000)
    assert margin is not None
    assert 0 < margin < 1


def test_a_design_that_identifies_nothing_has_no_margin() -> None:
    mechanism = Mechanism.from_rationals([[F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]])
    assert largest_margin(mechanism, 1000) is None
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.uniform(mechanism.inputs))), [rr.LDP(1)])
    assert "respondents for the same squared error" not in cells(problem, mechanism)
    assert cells(problem, mechanism)["largest margin of error, 1,000 answers (95 %)"][0] == "no estimate"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("frequencies", [None, [5, 3, 1, 1]])
def test_expected_errors_are_those_of_the_scores(seed: int, frequencies: list[int] | None) -> None:
    """Against moments that are summed over all pairs of true values and of answers; where no frequencies are given, no
    joint distribution on a grid has more."""
    design = random_mechanism(seed)
    prior = None if frequencies is None else rr.Prior.from_counts(frequencies, labels=design.inputs)
    found = rr.estimation.design_precision(design, 500, error="0.02", frequencies=prior)
    rows = np.array([[float(design.entry(x, y)) for y in range(4)] for x in range(4)])
    scores = np.linalg.inv(rows.T)
    # square[x, z]: the mean square of the score of x where z is true.
    square = np.array([[(rows[z] * scores[x] ** 2).sum() for z in range(4)] for x in range(4)])
    shares, cells = [], []
    tries = (
        [prior.array]
        if prior
        else [
            (1 - t) * np.eye(4)[z] + t * np.eye(4)[x]
            for z in range(4)
            for x in range(4)
            for t in np.linspace(0, 1, 201)
        ]
    )
    for p in tries:
        shares.append(max(square[x] @ p - p[x] ** 2 for x in range(4)))
    if prior:
        cells = [square[x] @ p * (square[w] @ p) - (p[x] * p[w]) ** 2 for x in range(4) for w in range(4)]
    else:
        for x in range(4):
            for w in range(4):
                table = np.outer(square[x], square[w])
                rest = max(table[z] for z in np.ndindex(4, 4) if z != (x, w))
                cells += [t * table[x, w] + (1 - t) * rest - t * t for t in np.linspace(0, 1, 201)]
    assert found.share == pytest.approx(math.sqrt(max(shares) / 500), rel=1e-4)
    assert found.cell == pytest.approx(math.sqrt(max(cells) / 500), rel=1e-4)
    # The number is enough, and one less is not.
    for n, enough in ((found.needed, True), (found.needed - 1, False)):
        assert (math.sqrt(max(shares) / n) <= 0.02 * (1 + 1e-4 if enough else 1 - 1e-4)) is enough or n < 3
        assert (rr.estimation.design_precision(design, n, frequencies=prior).share <= 0.02 * (1 + 1e-9)) is enough
    # k-RR of this ratio, by the same function on its matrix.
    krr = rr.RandomizedResponse(design.inputs, gamma=design.privacy_ratio).mechanism
    own = rr.estimation.design_precision(krr, 500, error="0.02", frequencies=prior)
    assert (own.share, own.cell) == pytest.approx((found.krr.share, found.krr.cell), rel=1e-9)


def test_a_family_without_a_matrix_has_the_errors_of_its_matrix() -> None:
    family = rr.mechanisms.SubsetSelection(5, epsilon=1)
    for prior in (None, rr.Prior.from_counts([9, 4, 4, 2, 1], labels=family.inputs)):
        found = rr.estimation.design_precision(family, 1000, frequencies=prior)
        own = rr.estimation.design_precision(family.to_mechanism(), 1000, frequencies=prior)
        assert (found.share, found.cell, found.needed) == (
            pytest.approx(own.share),
            pytest.approx(own.cell),
            own.needed,
        )


def test_a_solve_says_its_expected_errors_beside_those_of_k_rr() -> None:
    """At the declared epsilon, which the design need not use up."""
    prior = rr.Prior.from_counts({"a": 50, "b": 30, "c": 20})
    problem = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(1)])
    mechanism = problem.solve().mechanism
    found = cells(problem, mechanism)
    own = rr.estimation.design_precision(mechanism, 100)
    krr = rr.estimation.design_precision(rr.RandomizedResponse(prior.labels, epsilon=1).mechanism, 100)
    shares = list(map(float, found["standard error of a share, 100 answers"]))
    assert shares == pytest.approx([own.share, krr.share], rel=1e-2)
    assert found["answers for a standard error of 0.01"] == [f"{own.needed:,}", f"{krr.needed:,}"]
