"""How the journal of a sweep knows a function again: by its source, and by all that it carries with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import pytest

import rropt as rr


def made(factor: object) -> Callable[..., dict[str, object]]:
    """A function of the variable around it."""

    def times(x: int) -> dict[str, object]:
        return {"y": x * factor}  # type: ignore[operator]

    return times


def defaulted(factor: int) -> Callable[..., dict[str, object]]:
    def times(x: int, by: int = factor) -> dict[str, object]:
        return {"y": x * by}

    return times


def by_name(factor: int) -> Callable[..., dict[str, object]]:
    def times(x: int, *, by: int = factor) -> dict[str, object]:
        return {"y": x * by}

    return times


class Held:
    """Called itself, or by a method."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, x: int) -> dict[str, object]:
        return {"y": x * self.factor}

    def times(self, x: int) -> dict[str, object]:
        return {"y": x * self.factor}


def around(held: Held) -> Callable[..., dict[str, object]]:
    def times(x: int) -> dict[str, object]:
        return held(x)

    return times


WAYS = {
    "variable": made,
    "default": defaulted,
    "default by name": by_name,
    "object": Held,
    "method": lambda factor: Held(factor).times,
    "object around": lambda factor: around(Held(factor)),
    "partial": lambda factor: partial(defaulted(1), by=factor),
    "cached": lambda factor: lru_cache(made(factor)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_rows_of_another_function_are_not_taken_for_its_own(
    way: Callable[[int], Callable[..., object]], tmp_path: Path
) -> None:
    """The source is the same; what it computes is not."""
    out = tmp_path / "t.csv"
    assert rr.sweep(way(2), over={"x": [1, 3]}, out=out).column("y") == [2, 6]
    again = rr.sweep(way(2), over={"x": [1, 3]}, out=out)
    assert (again.resumed, again.column("y")) == (2, [2, 6])
    with pytest.raises(rr.InputError, match="it is the journal of another sweep"):
        rr.sweep(way(5), over={"x": [1, 3]}, out=out)
    assert rr.sweep(way(5), over={"x": [1, 3]}).column("y") == [5, 15]


def test_what_has_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    ring = Held(1)
    ring.factor = [ring]  # type: ignore[assignment]
    for thing, said in (
        (threading.Lock(), "a lock does not have a text"),
        (ring, "does not have a text|contains itself"),
    ):
        with pytest.raises(rr.InputError, match=said) as caught:
            rr.sweep(made(thing), over={"x": [1]}, out=tmp_path / "t.csv")
        assert "cannot be identified" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    # A function is known by its source, whatever it is good for here.
    assert len(rr.sweep(made(made), over={"x": [1]}, out=tmp_path / "t.csv").failures) == 1


def test_a_parameter_with_the_name_of_a_result_keeps_its_column() -> None:
    prior = rr.Prior.uniform(3)

    def asked(gap: float) -> rr.Problem:
        goal = rr.Maximize(rr.MutualInformation(prior))
        return rr.Problem(goal, [rr.LDP(1)], options=rr.SolveOptions(gap=gap))

    found = rr.sweep(asked, over={"gap": [0.5, 0.25]})
    assert found.axes == ("given_gap",)
    assert found.column("given_gap") == [0.5, 0.25]
    assert all(row["gap"] < 0.1 for row in found.rows)
    # One that is only repeated stands there once.
    again = rr.sweep(lambda x: {"x": x, "y": x + 1}, over={"x": [1, 2]})
    assert (again.axes, again.rows) == (("x",), ({"x": 1, "y": 2}, {"x": 2, "y": 3}))
