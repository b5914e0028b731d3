"""Estimates from releases of the Adult columns: no bias, and intervals that cover as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rropt.models import model_path

import rropt as rr
from rropt.mechanisms.estimators.linear import float_rank
from rropt.mechanisms.sampling import MechanismSampler, insecure_seeded_source

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
