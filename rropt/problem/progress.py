"""Progress of a solve: to a monitor, to the logger `rropt`, and, if asked, one line per second."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rropt.errors import plain
from rropt.exact import shown
from rropt.io.clock import Clock

if TYPE_CHECKING:
    from rropt.problem.solution import Solution

LOGGER = logging.getLogger("rropt")
"""Its solves: INFO for methods and results, DEBUG for every value and bound on the way."""
LOGGER.addHandler(logging.NullHandler())
EVERY = 1.0
"""Seconds between two lines."""

Monitor = Callable[[float | None, float | None], bool | None]


class Progress:
    """The progress of one solve of `clock`: values and bounds come in the utility's own unit, which is `unit` of the
    objective's, `units`. A `monitor` that returns False stops the clock."""

    def __init__(self, clock: Clock, monitor: Monitor | None, verbose: bool) -> None:
        self.clock, self.unit, self.units = clock, 1.0, ""
        self._monitor, self._verbose = monitor, verbose
        self._last: tuple[float | None, float | None] = None, None

    def report(self, value: float | None, bound: float | None) -> None:
        """Take a value and a bound."""
        own, limit = (None if number is None else number * self.unit for number in (value, bound))
        known, before = self._last
        self._last = known if own is None else own, before if limit is None else limit
        LOGGER.debug("value %s, bound %s", own, limit)
        if self._monitor is not None and self._monitor(own, limit) is False:
            self.clock.stop()

    def note(self, text: str) -> None:
        """Say one line."""
        LOGGER.info("%s", plain(text))
        if self._verbose:
            print(f"{self.clock.seconds:7.1f} s  {plain(text)}", flush=True)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Inside, one line per second says how far it is."""
        done = threading.Event()
        ticker = None
        if self._verbose:
            ticker = threading.Thread(target=self._tick, args=(done,), daemon=True, name="rropt-progress")
            try:
                ticker.start()
            except RuntimeError:  # a system without threads
                ticker = None
        try:
            yield
        finally:
            done.set()
            if ticker is not None:
                ticker.join(EVERY)

    def _tick(self, done: threading.Event) -> None:
        while not done.wait(EVERY):
            print(f"{self.clock.seconds:7.1f} s  {self._line()}", flush=True)

    def _line(self) -> str:
        value, bound = self._last
        gap = None if value is None or bound is None else abs(bound - value)
        return _numbers(value, bound, gap, self.units) or "no value and no bound yet"


def result_line(solution: Solution) -> str:
    """The status with value, bound and gap, in the objective's unit, each true as it is written."""
    up = solution.problem.goal.sense == "maximize"
    ends = (("value", solution.value, not up), ("bound", solution.bound, up), ("gap", solution.gap, True))
    unit = f" {solution.units}" if solution.units else ""
    words = [f"{name} {shown(number, 12, toward)}{unit}" for name, number, toward in ends if number is not None]
    return ", ".join([solution.status, *words])


def _numbers(value: float | None, bound: float | None, gap: float | None, units: str) -> str:
    unit = f" {units}" if units else ""
    words = [
        f"{name} {number:.9g}{unit}" for name, number in (("value", value), ("bound", bound)) if number is not None
    ]
    return ", ".join([*words, *([] if gap is None else [f"gap {gap:.2g}{unit}"])])
