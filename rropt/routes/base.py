"""What a route is given, what it answers, and how it refuses."""

from __future__ import annotations

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import FrameType

import numpy as np

from rropt.approximate import Event
from rropt.assignments import Places
from rropt.cones import FloatArray
from rropt.errors import Refusal
from rropt.mechanisms.frequency_blocks import FrequencyBlocks
from rropt.programs import Program
from rropt.routes.boxtree import BoxTree, CutTree, MatrixBox
from rropt.routes.casetree import CaseTree
from rropt.routes.levelsearch import LevelSearch
from rropt.routes.risk_tree import RiskTree
from rropt.routes.shapes import ShapeSearch


def ignore_progress(value: float | None, bound: float | None) -> None:
    """A monitor for solves that nobody watches."""


def never() -> bool:
    """A solve that nobody interrupts."""
    return False


GRACE = 2.0
"""Seconds that proving may always take, after a time limit or Ctrl-C too."""


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Inside, the first Ctrl-C only sets a flag, which the yielded function reads; the second one raises
    KeyboardInterrupt as usual. Outside the main thread nothing changes, for no signal arrives there."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    if threading.current_thread() is not threading.main_thread():
        yield never
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True)
class Effort:
    """How hard to try: an absolute `gap` in the utility's own unit, an optional time limit in seconds counted
    from `begun`, a named solver, worker processes, and a `monitor(value, bound)` told of progress."""

    gap: float = 1e-6
    time_limit: float | None = None
    solver: str | None = None
    workers: int = 2
    monitor: Callable[[float | None, float | None], None] = ignore_progress
    interrupted: Callable[[], bool] = never
    begun: float = field(default_factory=time.monotonic)

    def remaining(self) -> float | None:
        """Seconds left, never negative; None without a limit."""
        if self.time_limit is None:
            return None
        return max(0.0, self.begun + self.time_limit - time.monotonic())

    def stopped(self) -> str:
        """Why work should stop now: "interrupted", "time limit", or "" when it should not."""
        if self.interrupted():
            return "interrupted"
        return "time limit" if self.remaining() == 0.0 else ""

    def closing(self) -> Callable[[], bool]:
        """A stop signal for what must still be done to prove what was found: it leaves at least GRACE seconds
        from now, even after an interrupt."""
        least = time.monotonic() + GRACE
        return lambda: time.monotonic() > least and bool(self.stopped())


@dataclass(frozen=True)
class Dual:
    """Multipliers in floating point, for a maximisation (a minimisation is solved with negated costs).

    `prices` (k,) of the row sums; `rows`, one a coupling row; `multipliers` (columns under test x cone rows)
    for a polyhedral cone; `flows` (columns under test x edges) for a graph; `floor` of a concave floor, and `tilts`
    (columns x inputs) of a complete cone beside it. `search` is the tree of boxes that bounded all columns at these
    prices, `matrices` the root of one that bounded all matrices, `off_diagonals` the preorder of one that bounded all
    off-diagonals, `cuts` the tree over a confidence cone, `cases` the trees of its cases, `shapes` the search of a
    robust one, `levels` of one of large blocks, `forms` (k x J) the matrix W of a design, and `factors` (k x J) the
    weights of its queries, where a route has one; `thresholds` are numbers below which the thetas of inverse-frequency
    blocks break a bound on risk, `risk_tree` a tree under such a bound, `events` those whose rows come last in `rows`.
    Nothing about them is believed before it is repaired and proved in rationals.
    """

    prices: FloatArray
    rows: FloatArray = field(default_factory=lambda: np.zeros(0))
    multipliers: FloatArray | None = None
    flows: FloatArray | None = None
    floor: float | None = None
    tilts: FloatArray | None = None
    search: BoxTree | None = None
    matrices: MatrixBox | None = None
    off_diagonals: Sequence[object] | None = None
    cuts: CutTree | None = None
    cases: CaseTree | None = None
    shapes: ShapeSearch | None = None
    levels: LevelSearch | None = None
    forms: FloatArray | None = None
    factors: FloatArray | None = None
    thresholds: tuple[Fraction, ...] | None = None
    risk_tree: RiskTree | None = None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class MixedWeights:
    """Float weights of permutations (the outputs' places), and those of a mixture with slack in all inequalities, to
    move toward before rounding; `anchor` is empty where there is none."""

    permutations: tuple[Places, ...]
    weights: FloatArray
    anchored: tuple[Places, ...]
    anchor: FloatArray


@dataclass(frozen=True)
class SolverClaim:
    """What a solver said of itself: shown beside the proved numbers, never used as one."""

    solver: str
    status: str
    objective: float | None
    seconds: float


@dataclass(frozen=True)
class Answer:
    """What a route found, in floating point.

    `matrix` is k x m (None where nothing was found), `outputs` the labels of its columns where they are
    fixed (`off_diagonal`, k numbers, stands for the matrix where the program has that structure); `dual` proves an
    upper bound after repair; `farkas` claims that no mechanism exists; `stopped` is ""
    when the route finished, else "time limit" or "interrupted". `mixing` stands for the matrix where weights of
    permutations are at stake, `blocks`, exact, where the form of inverse-frequency blocks is. `relaxed` is the program
    that `dual` is about, where it is not the one that was asked for: every mechanism of that one is one of `relaxed`.
    """

    claim: SolverClaim
    matrix: FloatArray | None = None
    outputs: tuple[str, ...] | None = None
    dual: Dual | None = None
    farkas: Dual | None = None
    stopped: str = ""
    off_diagonal: FloatArray | None = None
    notes: tuple[str, ...] = ()
    mixing: MixedWeights | None = None
    blocks: FrequencyBlocks | None = None
    relaxed: Program | None = None


class Route(ABC):
    """A way to solve programs. `name` is its word in problem files and on the command line; `because` says in
    one clause when it is the right one; `concave` whether it knows entropy (others are not asked then)."""

    name: str
    because: str
    concave: bool = False

    @abstractmethod
    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        """Why it cannot take this program (with this solver), and what to use instead; None where it can."""

    @abstractmethod
    def solve(self, program: Program, effort: Effort) -> Answer:
        """Solve a program that it does not refuse."""
