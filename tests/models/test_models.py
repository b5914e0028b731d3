"""The shipped models: found by name wherever the package is, with one clear line for a wrong name."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest

from rropt import models
from rropt.errors import InputError


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
