"""The one thing that pyproject.toml cannot say: find rropt's packages and install models/ as rropt.models."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["rropt", "rropt.*"]),
        "rropt.models",
        *(f"rropt.models.{name}" for name in find_packages("models")),
    ],
    package_dir={"rropt": "rropt", "rropt.models": "models"},
)
