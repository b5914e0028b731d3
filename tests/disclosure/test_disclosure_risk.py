"""Disclosure-risk measures: formulas against enumeration and simulation, fits against statsmodels, calibration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rropt as rr
from rropt.disclosure import Population, QuasiIdentifierTable, fit_population, formulas
from rropt.disclosure.calibration import calibrate
from rropt.errors import InputError
from rropt.mechanisms.mechanism import Mechanism

F = np.float64


def mechanism(rows: list[list[int]], outputs: list[str] | None = None) -> Mechanism:
    labels = list(map(str, range(len(rows))))
    total = [sum(row) for row in rows]
    exact = [[Fraction(int(number), int(whole)) for number in row] for row, whole in zip(rows, total, strict=True)]
    return Mechanism.from_rationals(exact, inputs=labels, outputs=outputs or list(map(str, range(len(rows[0])))))


def population(counts: Any, rates: Any, fraction: float, shape: float = math.inf) -> Population:
    table = QuasiIdentifierTable.of(counts, {f"c{at}": n for at, n in enumerate(map(range, np.shape(counts)))})
    return Population(table, fraction, np.asarray(rates, dtype=F), shape, (), 1, 0.0)


MATRIX = mechanism([[6, 1, 1, 2], [1, 5, 0, 2], [2, 1, 9, 1], [0, 3, 1, 4]])
RATES = np.array([0.3, 1.5, 4.0, 0.8])


# -- formulas ----------------------------------------------------------------------------------------------


def law(f: int, rate: float, fraction: float, shape: float) -> tuple[np.ndarray, np.ndarray]:
    """(F = f, f + 1, ..., their probabilities given f sampled), from the definition: prior of F, binomial sample."""
    respondents = np.arange(f, f + 40_000)
    if math.isinf(shape):
        prior = stats.poisson.logpmf(respondents, rate)
    else:
        prior = stats.nbinom.logpmf(respondents, shape, shape / (shape + rate))
    weight = prior + stats.binom.logpmf(f, respondents, fraction)
    weight = np.exp(weight - weight.max())
    return respondents, weight / weight.sum()


@pytest.mark.parametrize("shape", [math.inf, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("rate", [1e-6, 0.2, 3.0, 150.0])
def test_formulas_are_those_of_the_definition(rate: float, shape: float) -> None:
    for f, fraction in itertools.product((1, 2, 7, 40), (0.02, 0.5, 0.97)):
        respondents, weight = law(f, rate, fraction, shape)
        found = formulas.inverse_given(np.array([[F(f)]]), np.array([[rate]]), fraction, shape)
        assert found[0] == pytest.approx((weight / respondents).sum(), rel=1e-9)
        if f == 1:
            one = np.array([rate])
            assert formulas.unique_given_one(one, fraction, shape)[0] == pytest.approx(weight[0], rel=1e-9)
            assert formulas.inverse_given_one(one, fraction, shape)[0] == pytest.approx(found[0], rel=1e-9)


def test_many_people_and_groups() -> None:
    counts, rates = np.array([[1.0, 900.0], [0.0, 3.0]]), np.array([[1e5, 2e4], [2e5, 10.0]])
    found = formulas.inverse_given(counts, rates, 0.1, math.inf)
    # E 1 / (f + Y) of a Poisson Y of large mean m is 1 / (f + m) (1 + m / (f + m)^2 + ...).
    respondents = counts.sum(axis=0) + 0.9 * rates.sum(axis=0)
    assert found == pytest.approx((1 + (0.9 * rates.sum(axis=0)) / respondents**2) / respondents, rel=1e-8)
    # Gamma rates of a group: against simulation.
    rng = np.random.default_rng(4)
    hidden = rng.poisson(0.8 * rng.gamma(2 + np.array([1, 0]), 1 / (2 / np.array([3.0, 1.0]) + 0.2), (400_000, 2)))
    drawn = 1 / (1 + hidden.sum(axis=1))
    exact = formulas.inverse_given(np.array([[1.0], [0.0]]), np.array([[3.0], [1.0]]), 0.2, 2.0)[0]
    assert abs(drawn.mean() - exact) < 4.5 * drawn.std() / math.sqrt(len(drawn))


def test_limits() -> None:
    rates = np.array([0.0, 0.5, 20.0])
    assert formulas.inverse_given_one(rates, 1.0, math.inf).tolist() == [1, 1, 1]
    assert formulas.inverse_given_one(rates, 1.0, 3.0).tolist() == [1, 1, 1]
    near = formulas.inverse_given_one(rates, 0.1, 1e9)
    assert near == pytest.approx(formulas.inverse_given_one(rates, 0.1, math.inf), rel=1e-7)


# -- after misclassification -------------------------------------------------------------------------------


def simulated(
    rng: np.random.Generator, times: int, rates: np.ndarray, shape: float, matrix: np.ndarray, fraction: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each released cell: how often it held one record, and how often, then, a match of label was correct in
    expectation over the intruder's choice, and surely (one person only)."""
    k = len(rates)
    drawn = np.broadcast_to(rates, (times, k)) if math.isinf(shape) else rng.gamma(shape, rates / shape, (times, k))
    respondents = rng.poisson(drawn)
    sampled = rng.binomial(respondents, fraction)
    moved = np.stack([rng.multinomial(sampled[:, x], matrix[x]) for x in range(k)], axis=1)
    once = moved.sum(axis=1) == 1
    right = once & (moved[:, range(k), range(k)] == 1)
    return once.sum(axis=0), (right / np.maximum(respondents, 1)).sum(axis=0), (right & (respondents == 1)).sum(axis=0)


@pytest.mark.parametrize("shape", [math.inf, 0.7])
def test_measures_of_a_release_by_simulation(shape: float) -> None:
    fraction, times = 0.3, 200_000
    once, matched, known = simulated(np.random.default_rng(2), times, RATES, shape, MATRIX.matrix, fraction)
    released = QuasiIdentifierTable.of([1, 1, 1, 1], {"c0": range(4)})
    found = population([1, 1, 1, 1], RATES, fraction, shape).released(released, {"c0": MATRIX})
    for mean, seen in ((found.r1, known), (found.r2, matched)):
        error = np.sqrt(np.maximum(mean, 1e-9) * (1 - mean) / once)
        assert (np.abs(seen / once - mean) < 4.5 * error).all()
    assert (found.r1 < found.r2).all()


def test_measures_of_a_release_that_changes_nothing() -> None:
    same = mechanism(np.eye(4, dtype=int).tolist())
    for shape in (math.inf, 0.7):
        made = population([1, 0, 2, 1], RATES, 0.2, shape)
        before, after, expected = made.risk(), made.released(made.table, {"c0": same}), made.after({"c0": same})
        assert before.cells == after.cells == (("0",), ("3",))
        assert after.r1 == pytest.approx(before.r1, rel=1e-12)
        assert after.r2 == pytest.approx(before.r2, rel=1e-12)
        assert (expected.uniques, expected.worst) == pytest.approx((2, before.worst), rel=1e-12)
        assert (expected.tau1, expected.tau2) == pytest.approx((before.tau1, before.tau2), rel=1e-12)


def test_the_chance_of_a_match_given_the_population() -> None:
    """Shlomo and Skinner's formula by enumerating who is sampled and released where."""
    matrix, p, truth = MATRIX.matrix[:3, :3] / MATRIX.matrix[:3, :3].sum(axis=1, keepdims=True), 0.4, (0, 1, 1, 2)
    for j in range(3):
        total = 0.0
        match = np.zeros(4)
        for fate in itertools.product((None, 0, 1, 2), repeat=4):
            chance = math.prod(1 - p if y is None else p * matrix[x, y] for x, y in zip(truth, fate, strict=True))
            if fate.count(j) == 1:
                total += chance
                match[fate.index(j)] += chance
        respondents = np.bincount(truth, minlength=3)
        odds = matrix[:, j] / (1 - p * matrix[:, j])
        assert match / total == pytest.approx(odds[list(truth)] / (respondents @ odds), rel=1e-12)


@pytest.mark.parametrize("intruder", ["label", "best"])
@pytest.mark.parametrize(
    "rows", [[[6, 1, 1], [1, 5, 2], [0, 4, 4]], [[1, 4, 4], [4, 1, 4], [3, 5, 1]], np.eye(3, dtype=int)]
)
def test_what_is_expected_of_a_release_by_enumeration(rows: Any, intruder: str) -> None:
    """All ways in which the sample can be released, and all small populations."""
    matrix = np.asarray(rows, dtype=F) / np.sum(rows, axis=1, keepdims=True)
    sample, fraction = (1, 0, 2), 0.8
    rates = RATES[:3] / 2
    made = population(sample, rates, fraction)
    found = made.after({"c0": mechanism(np.asarray(rows).tolist())}, intruder)
    truth = (0, 2, 2)
    unseen = [stats.poisson.pmf(np.arange(9), rate * (1 - fraction)) for rate in rates]
    alone, known, matched = np.zeros(3), np.zeros(3), np.zeros(3)
    for more in itertools.product(range(9), repeat=3):
        weight = math.prod(unseen[x][count] for x, count in enumerate(more))
        respondents = np.add(sample, more)
        for fate in itertools.product(range(3), repeat=3):
            chance = weight * math.prod(matrix[x, y] for x, y in zip(truth, fate, strict=True))
            for j in range(3):
                if fate.count(j) != 1 or chance == 0:
                    continue
                alone[j] += chance
                there = [x for x in range(3) if respondents[x] and matrix[x, j] > 0]
                top = max((matrix[x, j] for x in there), default=0)
                among = [j] if intruder == "label" else [x for x in there if matrix[x, j] > top * (1 - 1e-9)]
                if truth[fate.index(j)] in among:
                    matched[j] += chance / respondents[among].sum()
                    known[j] += chance * (respondents[among].sum() == 1)
    assert found.alone == pytest.approx(alone, abs=1e-9)
    assert found.alone * found.r1 == pytest.approx(known, abs=1e-9)
    assert found.alone * found.r2 == pytest.approx(matched, abs=1e-9)
    assert (found.tau1, found.tau2) == pytest.approx((known.sum(), matched.sum()), abs=1e-8)


def test_one_variable_of_several_and_two_at_once() -> None:
    counts = np.array([[1, 0, 2], [0, 1, 1]])
    rates = np.array([[2.0, 0.3, 5.0], [0.4, 1.1, 2.0]])
    made = population(counts, rates, 0.2)
    rows = rr.RandomizedResponse(2, epsilon=1)
    columns = rr.RandomizedResponse(3, epsilon=2)
    # The joint table as one variable, with the Kronecker product as its mechanism.
    flat = population(counts.ravel(), rates.ravel(), 0.2)
    both = mechanism(
        [
            [int(entry * 10**15) for entry in row]
            for row in np.kron(rows.to_mechanism().matrix, columns.to_mechanism().matrix)
        ]
    )
    alone = mechanism(
        [[int(entry * 10**15) for entry in row] for row in np.kron(np.eye(2), columns.to_mechanism().matrix)]
    )
    for one, other in (
        ({"c0": rows, "c1": columns}, both),
        ({"c1": columns, "c0": rows}, both),
        ({"c1": columns}, alone),
    ):
        for intruder in ("label", "best"):
            found, expected = made.after(one, intruder), flat.after({"c0": other}, intruder)
            assert found.r2.ravel() == pytest.approx(expected.r2, rel=1e-9)
            assert found.alone.ravel() == pytest.approx(expected.alone, rel=1e-9)
        table = QuasiIdentifierTable.of(counts, {"c0": range(2), "c1": range(3)})
        released, same = made.released(table, one), flat.released(flat.table, {"c0": other})
        assert released.r2 == pytest.approx(same.r2, rel=1e-9)


def test_labels_that_are_turned_deceive_only_who_believes_labels() -> None:
    """A category told by not showing its label: the mechanism is as informative as its mirror image."""
    made = population([1, 1], [1.0, 1.0], 0.5)
    straight, turned = mechanism([[99, 1], [1, 99]]), mechanism([[1, 99], [99, 1]])
    assert made.after({"c0": straight}, "label").tau2 > 50 * made.after({"c0": turned}, "label").tau2
    assert made.after({"c0": straight}).tau2 == pytest.approx(made.after({"c0": turned}).tau2, rel=1e-12)


def test_outputs_that_are_no_categories() -> None:
    made = population([1, 1], [1.0, 1.0], 0.5)
    named, plain = mechanism([[9, 1], [1, 9]], ["x", "y"]), mechanism([[9, 1], [1, 9]])
    assert made.after({"c0": named}).tau2 == pytest.approx(made.after({"c0": plain}).tau2, rel=1e-12)
    with pytest.raises(InputError, match="output 'x' is not a category"):
        made.after({"c0": named}, "label")


# -- fits --------------------------------------------------------------------------------------------------


def drawn_table(
    seed: int, sizes: tuple[int, ...], respondents: float, fraction: float
) -> tuple[QuasiIdentifierTable, np.ndarray]:
    """A sample of a population in which the variables are independent, and the population."""
    rng = np.random.default_rng(seed)
    rates = respondents * np.ones(())
    for size in sizes:
        rates = np.multiply.outer(rates, rng.dirichlet(np.ones(size)))
    respondents_of = rng.poisson(rates)
    return QuasiIdentifierTable.of(
        rng.binomial(respondents_of, fraction), {f"c{at}": range(n) for at, n in enumerate(sizes)}
    ), respondents_of


@pytest.mark.parametrize("margins", ["independence", "pairs", [["c0", "c1"], ["c2"]], [["c0"]], []])
def test_poisson_fits_are_those_of_statsmodels(margins: Any) -> None:
    sm = pytest.importorskip("statsmodels.api")
    table, _ = drawn_table(2, (3, 4, 5), 400_000, 0.2)
    found = fit_population(table, 0.2, margins=margins)
    codes = [codes.ravel() for codes in np.indices(table.counts.shape)]
    kept = (
        [[f"c{at}" for at in pair] for pair in itertools.combinations(range(3), 2)] if margins == "pairs" else margins
    )
    kept = [["c0"], ["c1"], ["c2"]] if margins == "independence" else kept
    blocks = [np.ones((table.counts.size, 1))]
    for margin in kept:
        joint = np.ravel_multi_index(
            [codes[int(n[1])] for n in margin], [table.counts.shape[int(n[1])] for n in margin]
        )
        blocks.append((joint[:, None] == np.unique(joint)).astype(F))
    indicators = np.hstack(blocks)
    # The likelihood equations: every margin that is kept is the observed one.
    means = found.rates.ravel() * 0.2
    assert indicators.T @ means == pytest.approx(indicators.T @ table.counts.ravel(), rel=1e-8)
    # The indicators are dependent, and then statsmodels stops short of the maximum under some BLAS: it gets a basis.
    rank = np.linalg.matrix_rank(indicators)
    basis = np.linalg.svd(indicators)[0][:, :rank]
    fit = sm.GLM(table.counts.ravel(), basis, family=sm.families.Poisson()).fit(tol=1e-13, maxiter=200)
    assert means == pytest.approx(fit.fittedvalues, rel=1e-6)
    assert found.log_likelihood == pytest.approx(fit.llf, rel=1e-9)
    assert found.parameters == rank


def test_margins_of_zero_are_rates_of_zero() -> None:
    counts = np.array([[3, 1, 0], [2, 5, 0]])
    found = fit_population(QuasiIdentifierTable.of(counts, {"a": range(2), "b": range(3)}), 0.5)
    assert (found.rates[:, 2] == 0).all()
    assert found.rates.sum() == pytest.approx(22)
    assert found.parameters == 3


def test_impossible_cells_hold_nobody() -> None:
    counts, possible = np.array([[5, 1], [2, 0]]), np.array([[True, True], [True, False]])
    table = QuasiIdentifierTable.of(counts, {"a": range(2), "b": range(2)}, possible=possible)
    found = fit_population(table, 0.5)
    # Three free cells, three parameters.
    assert found.rates == pytest.approx(2.0 * counts)
    with pytest.raises(InputError, match="declared impossible"):
        QuasiIdentifierTable.of(counts, {"a": range(2), "b": range(2)}, possible=~possible)


def test_the_shape_of_a_negative_binomial_is_found() -> None:
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(7)
    counts = rng.poisson(rng.gamma(0.8, 6 / 0.8, (50, 80)) * 0.25)
    found = fit_population(
        QuasiIdentifierTable.of(counts, {"a": range(50), "b": range(80)}), 0.25, margins=[], family="negative_binomial"
    )
    # The same model by its own maximiser: mean and dispersion together.
    other = sm.NegativeBinomial(counts.ravel(), np.ones(counts.size)).fit(disp=0)
    assert found.shape == pytest.approx(1 / other.params[1], rel=1e-3)
    assert found.log_likelihood == pytest.approx(other.llf, abs=1e-6)
    assert found.log_likelihood >= other.llf - 1e-7
    assert abs(found.shape - 0.8) < 0.1
    assert "negative binomial" in repr(found)


def test_no_overdispersion_is_poisson() -> None:
    pytest.importorskip("statsmodels.api")
    counts = np.tile([2, 3], (10, 5))
    found = fit_population(
        QuasiIdentifierTable.of(counts, {"a": range(10), "b": range(10)}), 0.5, margins=[], family="negative_binomial"
    )
    assert math.isinf(found.shape)


def test_estimated_risk_is_near_the_true_one() -> None:
    """Over 30 populations the mean estimate is within Monte-Carlo error (and 3 % of plug-in bias) of the mean truth."""
    gaps, truth = [], []
    for seed in range(30):
        table, respondents = drawn_table(seed, (6, 8, 10), 4000, 0.1)
        found = fit_population(table, 0.1).risk()
        once = table.counts == 1
        actual = (once & (respondents == 1)).sum(), (1 / respondents[once]).sum()
        gaps.append((found.tau1 - actual[0], found.tau2 - actual[1]))
        truth.append(actual)
    error = np.std(gaps, axis=0) / math.sqrt(len(gaps))
    assert (np.abs(np.mean(gaps, axis=0)) < 3.5 * error + 0.03 * np.mean(truth, axis=0)).all()


# -- calibration -------------------------------------------------------------------------------------------


def test_calibrated_randomised_response() -> None:
    table, _ = drawn_table(3, (4, 5, 8), 3000, 0.1)
    made = fit_population(table, 0.1)
    before = made.risk()
    for intruder in ("label", "best"):
        found = calibrate(made, before.tau2 / 3, column="c2", intruder=intruder, tolerance=1e-4)
        assert found.before == before.tau2
        assert found.risk <= before.tau2 / 3
        assert found.risk == made.after({"c2": found.mechanism}, intruder).tau2
        # A little less perturbation breaks it.
        looser = rr.RandomizedResponse(table.categories[2], epsilon=found.parameter + 1e-3)
        assert made.after({"c2": looser}, intruder).tau2 > before.tau2 / 3
        assert list(found.curve) == sorted(found.curve)
    assert calibrate(made, before.tau2 * 2, column="c2").parameter == 8.0


@pytest.mark.long
def test_calibrated_designs_of_most_information() -> None:
    table, _ = drawn_table(5, (3, 4, 4), 900, 0.2)
    made = fit_population(table, 0.2)
    prior = rr.Prior.from_counts((1 + table.counts.sum(axis=(0, 1))).tolist())

    def most(epsilon: float) -> Any:
        goal = rr.Maximize(rr.MutualInformation(prior))
        return rr.Problem(goal, [rr.LDP(epsilon=epsilon), rr.patterns.UniformOffDiagonal()]).solve().mechanism

    limit = made.risk().tau2 / 2
    found = calibrate(made, limit, column="c2", family=most, low=1.0, high=4.0, steps=2, tolerance=1.0)
    assert found.risk <= limit < dict(found.curve)[4.0]


def test_calibration_over_several_columns() -> None:
    table, _ = drawn_table(6, (3, 4), 300, 0.2)
    made = fit_population(table, 0.2)

    def family(epsilon: float) -> dict[str, Any]:
        return {
            name: rr.RandomizedResponse(table.categories[at], epsilon=epsilon) for at, name in enumerate(("c0", "c1"))
        }

    found = calibrate(made, made.risk().tau2 / 2, family=family, measure="tau2")
    assert set(found.mechanisms) == {"c0", "c1"}
    with pytest.raises(InputError, match="2 columns"):
        _ = found.mechanism
    with pytest.raises(InputError, match="column is not named"):
        calibrate(made, 1.0, family=lambda epsilon: rr.RandomizedResponse(3, epsilon=epsilon))


# -- bad input ---------------------------------------------------------------------------------------------

GOOD = {"a": ["x", "y"], "b": ["u", "v"]}


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: QuasiIdentifierTable.of([[1, 2]], GOOD), "shape"),
        (lambda: QuasiIdentifierTable.of([[1, 2], [3, -1]], GOOD), "whole numbers"),
        (lambda: QuasiIdentifierTable.of([[1, 2], [3, 0.5]], GOOD), "whole numbers"),
        (lambda: QuasiIdentifierTable.of([[0, 0], [0, 0]], GOOD), "all counts are 0"),
        (lambda: QuasiIdentifierTable.of([[1, 2], [3, "q"]], GOOD), "not numbers"),
        (lambda: QuasiIdentifierTable.of({("x", "w"): 1}, GOOD), "'w' is not a category"),
        (lambda: QuasiIdentifierTable.of({("x",): 1}, GOOD), "names no cell"),
        (lambda: QuasiIdentifierTable.of({("x", "u"): "many"}, GOOD), "not a count"),
        (lambda: QuasiIdentifierTable.of([1], {}), "no key variable"),
        (lambda: QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD, possible=[[1, 0], [1, 1]]), "truth values"),
        (lambda: QuasiIdentifierTable.of([1] * 10, {f"v{at}": range(10) for at in range(9)}), "cells"),
        (lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), 0), "sampling fraction is 0"),
        (lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), "all"), "sampling fraction"),
        (lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), 0.1, margins="all"), "not margins"),
        (lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), 0.1, margins=["a"]), "not a margin"),
        (
            lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), 0.1, margins=[["c"]]),
            "'c' is not a key variable",
        ),
        (lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), 0.1, margins=[["a", "a"]]), "repeats"),
        (lambda: fit_population(QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD), 0.1, family="normal"), "not a family"),  # type: ignore[arg-type]
        (lambda: population([1, 1], [1, 1], 0.1).after({}), "no column is perturbed"),
        (lambda: population([1, 1], [1, 1], 0.1).after({"z": MATRIX}), "'z' is not a key variable"),
        (lambda: population([1, 1], [1, 1], 0.1).after({"c0": 3}), "int is not a mechanism"),
        (
            lambda: population([1] * 5, [1] * 5, 0.1).after({"c0": MATRIX}),
            "'4' is a category of the key, but not an input",
        ),
        (
            lambda: population([1, 1], [1, 1], 0.1).after({"c0": rr.RandomizedResponse(2, epsilon=1)}, "spy"),
            "not an intruder",
        ),  # type: ignore[arg-type]
        (
            lambda: population([1, 1], [1, 1], 0.1).released(QuasiIdentifierTable.of([1, 1], {"q": range(2)}), {}),
            "not those of",
        ),
        (lambda: calibrate(population([1, 1], [1, 1], 0.1), 1, column="z"), "'z' is not a key variable"),
        (lambda: calibrate(population([1, 1], [1, 1], 0.1), math.nan, column="c0"), "cannot be kept"),
        (lambda: calibrate(population([1, 1], [1, 1], 0.1), 1, column="c0", measure="tau3"), "not a measure"),
        (lambda: calibrate(population([1, 1], [1, 1], 0.1), 1, column="c0", low=3, high=2), "range"),
        (lambda: calibrate(population([1, 1], [1, 1], 0.1), 0, column="c0"), "the least tau2 from 0.01 to 8 is"),
    ],
)
def test_bad_input(make: Any, what: str) -> None:
    with pytest.raises(InputError, match=what) as info:
        make()
    assert "\n" not in str(info.value)


def test_a_missing_package_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "statsmodels", None)
    monkeypatch.setitem(sys.modules, "statsmodels.api", None)
    table = QuasiIdentifierTable.of([[1, 2], [3, 4]], GOOD)
    assert fit_population(table, 0.1).risk().tau2 > 0
    with pytest.raises(InputError, match=r"pip install 'rropt\[risk\]'"):
        fit_population(table, 0.1, family="negative_binomial")


def test_a_table_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id,sex,age\n1,f,9\n2,m,10\n3,f,10\n4,f,10\n5,,10\n", encoding="utf-8")
    table = QuasiIdentifierTable.from_csv(path, ["sex", "age"], null="?")
    assert table.categories == (("?", "f", "m"), ("9", "10"))
    assert table.counts.tolist() == [[0, 1], [1, 2], [0, 1]]
    assert table.n == 5
    with pytest.raises(InputError, match=r"1 row is blank in 'sex', 'age'; add null='unknown' to count blanks"):
        QuasiIdentifierTable.from_csv(path, ["sex", "age"])
