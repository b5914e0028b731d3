"""The shipped problems: each says in words what it asks, solves to a certificate, and does what its comments say."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import rropt as rr
from rropt import models
from rropt.checker import check_bytes

JOBS = ("survey-yes-no", "census-column", "ordinal-scale", "district-map", "telemetry-100", "sensitive-pair")
"""A problem for every common job."""


def header(name: str) -> str:
    """The comment that a problem file begins with, as one line."""
    text = models.model_path(name).read_text(encoding="utf-8")
    return " ".join(line.removeprefix("#").strip() for line in re.match(r"(#.*\n)+", text)[0].splitlines())


def solved(name: str) -> rr.Solution:
    return rr.load_problem(models.model_path(name)).solve()


@pytest.mark.parametrize("name", JOBS)
def test_the_header_says_in_words_what_is_asked_and_how_to_go_on(name: str) -> None:
    said = header(name)
    assert re.search(r"Question: .*\?", said)
    assert f"rropt solve {name} --out DIR" in said
    assert re.search(r"rropt models copy|--data people\.csv", said)


@pytest.mark.parametrize("name", models.list_models())
def test_every_problem_is_certified(name: str) -> None:
    found = solved(name)
    assert (found.status, found.verdict.status) == ("certified", "PROVED")
    assert check_bytes(found.certificate.to_json().encode()).proved
    assert 0 < len(models.about(name)) <= 130


@pytest.mark.parametrize("name", list(models.PAPERS))
def test_every_paper_has_a_line_and_a_file(name: str) -> None:
    assert models.source_path(name).name == f"{name}.py"
    assert 30 < len(models.about(name)) <= 130


def test_survey_yes_no_is_warner_with_three_quarters_of_true_answers() -> None:
    matrix = solved("survey-yes-no").mechanism.matrix
    assert np.allclose(np.sort(matrix, axis=1), [[0.25, 0.75]] * 2, atol=1e-9)


def test_census_column_keeps_frequencies_and_without_that_reports_three_categories() -> None:
    problem = rr.load_problem(models.model_path("census-column"))
    found = problem.solve()
    prior = problem.objective.prior
    for y, p in enumerate(prior.probabilities):
        column = found.mechanism.column(y)
        assert sum((a * b for a, b in zip(prior.probabilities, column, strict=True)), Fraction(0)) == p
    free = rr.Problem(problem.goal, problem.constraints[:1], inputs=problem.inputs).solve()
    assert (free.mechanism.matrix.max(axis=0) > 1e-6).sum() == 3
    assert free.value > found.value


def test_sensitive_pair_protects_the_illness_and_not_the_age() -> None:
    problem = rr.load_problem(models.model_path("sensitive-pair"))
    found = problem.solve()
    assert problem.constraints[0].violation(found.mechanism) <= 0
    strict = rr.Problem(problem.goal, [rr.LDP(1)], inputs=problem.inputs).solve()
    assert found.value > 3 * strict.value, "protecting the pair as a whole tells far less"


def test_district_map_tells_neighbours_apart_by_no_more_than_e() -> None:
    problem = rr.load_problem(models.model_path("district-map"))
    found = problem.solve()
    matrix = found.mechanism.matrix
    place = {label: x for x, label in enumerate(problem.inputs)}
    worst = max(
        float((matrix[place[a]] / matrix[place[b]])[matrix[place[b]] > 1e-9].max())
        for one, two, _ in problem.constraints[0].edges
        for a, b in ((one, two), (two, one))
    )
    assert worst <= np.e * (1 + 1e-9)
    assert worst > np.e * (1 - 1e-6), "the bound is met somewhere"
