"""The shipped models: found by name wherever the package is, with one clear line for a wrong name."""

from __future__ import annotations

import csv
import math
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from rropt.models import kairouz2016 as paper, model_path, ruiz2021_adult
from rropt.models.claims.kairouz.staircase import difference
from rropt.models.ruiz2021_adult import Outcome, bits, counts

import rropt as rr
from rropt import models
from rropt.errors import InputError
from rropt.mechanisms.estimators.linear import float_rank
from rropt.mechanisms.sampling import MechanismSampler, insecure_seeded_source


def test_every_model_is_a_problem_file_named_like_itself() -> None:
    assert "adult-education" in models.list_models()
    for name in models.list_models():
        declared = tomllib.loads(models.model_path(name).read_text(encoding="utf-8"))
        assert declared["schema"] == 1
        assert declared["name"] == name


def test_the_counts_of_adult_education() -> None:
    """32,561 people in 16 categories, as published with the data set."""
    path = models.model_path("adult-education")
    counts_file = tomllib.loads(path.read_text(encoding="utf-8"))["input"]["counts_file"]
    with (path.parent / counts_file).open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    counts = {row["category"]: int(row["count"]) for row in rows}
    assert len(rows) == len(counts) == 16
    assert sum(counts.values()) == 32561
    assert (counts["HS-grad"], counts["Preschool"], counts["Doctorate"]) == (10501, 51, 413)


def test_a_path_is_a_file_beside_its_data() -> None:
    path = models.model_path("adult-education")
    assert isinstance(path, Path)
    assert path.is_file()
    assert (path.parent / "data" / "adult_education.csv").is_file()


def test_a_misspelt_model_names_the_closest_and_all() -> None:
    with pytest.raises(InputError, match=r"'adult-educaton'.*did you mean adult-education\?") as info:
        models.model_path("adult-educaton")
    assert "the models are: " in str(info.value).lower()
    assert "\n" not in str(info.value)


@pytest.mark.parametrize("name", ["zzz", "", "../adult-education", "adult-education.toml"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="adult-education"):
        models.model_path(name)


def test_named_mechanisms_are_staircases_of_the_declared_ratio() -> None:
    prior = rr.Prior.from_probabilities(["0.5", "0.3", "0.2"])
    for made in (paper.randomized_response, paper.binary_mechanism):
        mechanism = made(prior, "3")
        assert mechanism.privacy_ratio == 3
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            assert set(column) <= {min(column), 3 * min(column)}
    assert paper.best_sets(prior) == ((0,),)
    assert len(paper.binary_mechanism(prior, 2).outputs) == 2


def test_best_sets_are_those_nearest_one_half() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        weights = [int(one) for one in rng.integers(1, 50, 5)]
        prior = rr.Prior.from_counts(weights)
        p = prior.probabilities
        sums = [sum((p[x] for x in range(5) if bits >> x & 1), Fraction(0)) for bits in range(1, 31)]
        nearest = min(abs(one - Fraction(1, 2)) for one in sums)
        for members in paper.best_sets(prior):
            assert abs(sum(p[x] for x in members) - Fraction(1, 2)) == nearest


def test_rows_that_do_not_sum_to_one_are_refused() -> None:
    prior = rr.Prior.uniform(3)
    with pytest.raises(rr.InputError, match="cover all inputs alike"):
        paper.staircase(prior, [(0,), (1,)], [Fraction(1, 4)] * 2, 2)
    with pytest.raises(rr.InputError, match="at most 16"):
        paper.best_sets(rr.Prior.uniform(17))


def test_the_binary_mechanism_loses_at_three_equal_inputs_in_the_third_order() -> None:
    coefficients = difference(3)
    for one in coefficients[:3]:
        assert one.lower <= 0 <= one.upper
        assert one.upper - one.lower < Fraction(1, 10**60)
    assert coefficients[3].lower <= Fraction(2, 81) <= coefficients[3].upper
    prior, gamma = rr.Prior.uniform(3), Fraction(101, 100)
    one = paper.binary_mechanism(prior, gamma).mutual_information(prior)
    other = paper.randomized_response(prior, gamma).mutual_information(prior)
    epsilon = np.log(1.01)
    assert float(other.lower - one.upper) == pytest.approx(2 / 81 * epsilon**3, rel=0.01)


def test_the_problem_is_solved_by_a_staircase() -> None:
    prior = rr.Prior.from_probabilities(["0.46", "0.27", "0.16", "0.11"])
    solution = paper.problem(prior, gamma="1.1").solve(gap=1e-12)
    assert solution.status == "certified"
    binary = paper.binary_mechanism(prior, "1.1").mutual_information(prior)
    assert binary.lower >= solution.limit - Fraction(1, 10**12)
    assert paper.problem(prior, 1).constraints[0].level.epsilon == 1


def test_the_counts_fit_together() -> None:
    """32,561 people in every table, and every pair's margins are those of its attributes."""
    data = counts()
    assert len(data.priors) == 8
    assert len(data.pairs) == 28
    assert {name: len(prior) for name, prior in data.priors.items()}["native-country"] == 42
    for (first, second), table in data.pairs.items():
        assert table.sum() == 32_561
        for name, margin in ((first, table.sum(axis=1)), (second, table.sum(axis=0))):
            assert [p * 32_561 for p in data.priors[name].probabilities] == margin.tolist()
    assert data.pairs["race", "sex"].tolist()[0] == [119, 192]


def test_bits_of_a_joint_distribution() -> None:
    assert bits(np.full((2, 3), 1 / 6)) == pytest.approx(0, abs=1e-12)
    assert bits(np.eye(4) / 4) == pytest.approx(2)
    # Relationship and marital status say most about each other.
    most = max(counts().information().items(), key=lambda item: item[1])
    assert most[0] == ("marital-status", "relationship")
    assert most[1] == pytest.approx(1.1, abs=0.2)


@pytest.mark.long
def test_an_outcome_against_its_own_mechanisms() -> None:
    """The budget is kept, the loss is that of the matrices, the reports tell less of each other than the answers."""
    found: Outcome = ruiz2021_adult.outcome("0.5", even=False)
    solution = found.solution
    assert solution.solution.status == "certified"
    assert solution.beta >= 0.5
    assert solution.solution.value == pytest.approx(sum(found.loss.values()) / 8, abs=1e-12)
    for name, mechanism in solution.mechanisms.items():
        stays = sum(float(p) * float(mechanism.entry(x, x)) for x, p in enumerate(counts().priors[name].probabilities))
        assert found.loss[name] == pytest.approx(1 - stays, abs=1e-12)
    assert all(found.after[pair] <= before + 1e-12 for pair, before in found.before.items())
    assert 0 < found.kept < 1
    # An independent way to one pair: the reports' joint, added up answer by answer.
    table = counts().pairs["race", "sex"] / 32_561
    race, sex = solution.mechanisms["race"].matrix, solution.mechanisms["sex"].matrix
    joint = np.einsum("ab,ax,by->xy", table, race, sex)
    assert found.after["race", "sex"] == pytest.approx(bits(joint), abs=1e-12)


RELEASES = 1000
COLUMNS = {
    "education": ("adult_education.csv", None, 0),
    "sex": ("adult_sex_race.csv", ("sex", "race"), 0),
    "race": ("adult_sex_race.csv", ("sex", "race"), 1),
    "relationship": ("adult_relationship_occupation.csv", ("relationship", "occupation"), 0),
    "occupation": ("adult_relationship_occupation.csv", ("relationship", "occupation"), 1),
    "native-country": ("adult_race_native_country.csv", ("race", "native-country"), 1),
}


def prior_of(name: str) -> rr.Prior:
    """The counts of a column, where they are shipped of pairs as the sums over the other one."""
    file, pairs, axis = COLUMNS[name]
    found = rr.Prior.from_csv(model_path("adult-education").parent / "data" / file, pairs=pairs)
    if found.pairs is None:
        return found
    sides = (found.pairs.sensitive, found.pairs.other)
    table = np.array(found.weights).reshape(*map(len, sides))
    return rr.Prior.from_counts(table.sum(axis=1 - axis).tolist(), labels=list(sides[axis]))


def design(prior: rr.Prior, kind: str) -> rr.Mechanism:
    """At epsilon 2: PRAM of most information (where it identifies nothing, one time in ten randomised response
    instead), the design of least risk, or k-ary randomised response."""
    if kind == "k-RR":
        return rr.RandomizedResponse(prior.labels, epsilon=2).to_mechanism()
    if kind == "least risk":
        least = rr.Problem(rr.Minimize(rr.MinimaxRisk(prior)), [rr.LDP(epsilon=2)]).solve(gap=0.01)
        assert least.status == "certified"
        assert least.mechanism is not None
        return least.mechanism
    goal = rr.Maximize(rr.MutualInformation(prior))
    solution = rr.Problem(goal, [rr.LDP(epsilon=2), rr.patterns.UniformOffDiagonal()]).solve(gap=1e-4, time_limit=60)
    assert solution.mechanism is not None
    if float_rank(solution.mechanism.matrix) == len(prior):
        return solution.mechanism
    other = rr.RandomizedResponse(prior.labels, epsilon=2)
    return rr.estimation.identifying(solution.mechanism, with_=other, share="0.1").mechanism


def study(prior: rr.Prior, mechanism: rr.Mechanism, releases: int, kind: str = "wilson") -> dict[str, np.ndarray]:
    """Each time n people are drawn from the prior, released and estimated from: the estimates (releases x k), and
    whether the 95 % intervals hold the truth, that of the prior and that of the people themselves."""
    n, k = sum(prior.weights), len(prior)
    respondents, source = MechanismSampler([prior.weights], [n]), insecure_seeded_source(7)
    everybody = np.zeros(n, dtype=np.uint8)
    found: dict[str, list[np.ndarray]] = {"values": [], "covers": [], "covers_people": []}
    for _ in range(releases):
        codes = respondents.sample(everybody, source=source)
        reports = np.bincount(mechanism.sample(codes, source=source), minlength=mechanism.shape[1])
        estimate = mechanism.estimate(reports)
        low, high = estimate.intervals(0.95, kind=kind).T  # type: ignore[arg-type]
        here = np.bincount(codes, minlength=k) / n
        found["values"].append(estimate.values)
        found["covers"].append((low <= prior.array) & (prior.array <= high))
        found["covers_people"].append((low <= here) & (here <= high))
    return {name: np.array(rows) for name, rows in found.items()}


CASES = [(column, kind) for kind in ("PRAM", "k-RR", "least risk") for column in COLUMNS]
CASES.remove(("native-country", "least risk"))  # solved for up to 16 categories


@pytest.mark.long
@pytest.mark.parametrize(("column", "kind"), CASES)
def test_no_bias_and_the_coverage_that_is_said(column: str, kind: str) -> None:
    prior = prior_of(column)
    found = study(prior, design(prior, kind), RELEASES)
    values = found["values"]
    error = values.std(axis=0, ddof=1) / math.sqrt(RELEASES)
    # Over all columns some 170 numbers: one beyond four standard errors in a hundred such studies.
    assert (np.abs(values.mean(axis=0) - prior.array) < 4 * error).all()
    # An interval of a category that is rare beside its error ends at 0: it misses on one side only.
    rare = prior.array < 3 * values.std(axis=0, ddof=1)
    covers = found["covers"].mean(axis=0)
    # The mean over few categories is uncertain itself: four standard errors of it, where that is more than 0.01.
    chance = 4 * math.sqrt(0.95 * 0.05 / (RELEASES * (~rare).sum()))
    assert abs(covers[~rare].mean() - 0.95) <= max(0.01, chance)
    assert not rare.any() or 0.94 <= covers[rare].mean() <= 0.985


def test_the_study_sees_bias_and_wrong_intervals() -> None:
    """The same with estimates that are pushed into the simplex by clipping, and from a wrong mechanism."""
    prior = rr.Prior.from_counts([2000, 500, 50])
    right, wrong = (rr.RandomizedResponse(3, epsilon=epsilon).to_mechanism() for epsilon in ("1", "1.3"))

    class Mistaken:
        shape, sample = right.shape, staticmethod(right.sample)
        estimate = staticmethod(wrong.estimate)

    found = study(prior, right, 200)
    assert 0.9 < found["covers"].mean() <= 0.99
    found = study(prior, Mistaken(), 200)  # type: ignore[arg-type]
    error = found["values"].std(axis=0, ddof=1) / math.sqrt(200)
    assert (np.abs(found["values"].mean(axis=0) - prior.array) > 4 * error).any()
