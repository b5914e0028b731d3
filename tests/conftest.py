"""What all tests share: the root of the checkout, the markers `exact` and `slow`, and Hypothesis without a stopwatch."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is not a failure of a property: what has to be fast has a test of its own that takes the time. The
# examples are the same in every run: searching for new ones is a campaign's work (docs/reliability.md).
settings.register_profile("rropt", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rropt")


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).resolve().parent.parent


# What twenty thousand tests are made of stays to the end. Without the garbage collector, which would walk through it
# again and again, it is collected in two thirds of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """The collector is needed from here on, and need not walk through what is there."""
    gc.freeze()
    gc.enable()


def slow_tests() -> set[str]:
    """The lines of slow.txt: `file::function`, the file relative to the checkout."""
    lines = Path(__file__).with_name("slow.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if not line.startswith("#")}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of slow.txt get the marker `slow`. Without cdd.gmp the tests marked exact are skipped and say so;
    `make test-exact` makes sure of it."""
    slow = slow_tests()
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)
    try:
        found = importlib.util.find_spec("cdd.gmp") is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        skip = pytest.mark.skip(reason="needs cdd.gmp: make test-exact")
        for item in items:
            if item.get_closest_marker("exact"):
                item.add_marker(skip)
