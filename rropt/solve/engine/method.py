"""The interfaces of methods and of provers: effort, answer, refusal, and what a proof is wanted for."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from rropt.errors import Refusal
from rropt.io.clock import Clock
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.block_cones import RobustCone
from rropt.program.cones import FloatArray
from rropt.program.events import Event
from rropt.program.permutation_mixtures import Places
from rropt.program.programs import ColumnSum, Program
from rropt.prove.certificates import Proof
from rropt.prove.steps import Step
from rropt.solve.engine.budget import GRACE

PROVING = 1.5
"""Seconds after the end of the whole solve when proving must be over."""


def ignore_progress(value: float | None, bound: float | None) -> None:
    """A monitor that ignores progress."""


def never() -> bool:
    """A stop signal that is never set."""
    return False


def without_methods(name: str) -> Method:
    """The look-up of methods for an effort made without the registry: it does not have other methods."""
    raise LookupError(f"this effort does not have the method {name!r}: make it by rropt.solve.registry.effort()")


STOPS = ("time limit", "interrupted")
"""Why work may end before it is done."""
AUTO, NO_SOLVER = "use method auto", "leave the solver out"
"""Remedies of a refusal."""
CONVEX = Refusal("this convex objective can be maximised only", "maximise it, or minimise an information")


@dataclass
class Incumbent:
    """|value| of the last mechanism that was found, in the utility's own unit, and its matrix (k x m), if known."""

    value: float = 0.0
    matrix: FloatArray | None = None


@dataclass(frozen=True)
class SolveLimits:
    """The effort of a solve: a `gap` relative to the bound, an `absolute_gap` in the utility's own unit (to reach
    either is enough), an optional time limit in seconds counted from `begun`, a named solver, worker processes, and a
    `monitor(value, bound)` called with progress. A method reports values by `found`; `allowed` is then the gap that is
    allowed. `clock` is that of the whole solve; a part of it may have a limit of its own. `method(name)` gives the
    method of that name for a part of the problem."""

    gap: float = 1e-6
    absolute_gap: float = 0.0
    time_limit: float | None = None
    solver: str | None = None
    workers: int = 2
    monitor: Callable[[float | None, float | None], None] = ignore_progress
    interrupted: Callable[[], bool] = never
    begun: float = field(default_factory=time.monotonic)
    method: Callable[[str], Method] = without_methods
    clock: Clock = field(default_factory=Clock)
    incumbent: Incumbent = field(default_factory=Incumbent)
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None

    @property
    def allowed(self) -> float:
        """The gap that is allowed, in the utility's own unit, for the values found so far."""
        return max(self.gap * self.incumbent.value, self.absolute_gap)

    def found(self, value: float, matrix: FloatArray | None = None) -> None:
        """Note the value of a mechanism, the best one so far, and its matrix."""
        if math.isfinite(value):
            self.incumbent.value = abs(value)
            self.incumbent.matrix = self.incumbent.matrix if matrix is None else matrix

    def within(self, gap: float) -> SolveLimits:
        """The same for a problem inside another one, to an absolute gap."""
        return replace(self, gap=0.0, absolute_gap=gap, incumbent=Incumbent())

    def remaining(self) -> float | None:
        """Seconds left, never negative, and none after Ctrl-C; None without a limit."""
        if self.interrupted():
            return 0.0
        if self.time_limit is None:
            return None
        return max(0.0, self.begun + self.time_limit - time.monotonic())

    def stopped(self) -> str:
        """Why work should stop now: "interrupted", "time limit", or "" when it should not."""
        return "interrupted" if self.interrupted() else "time limit" if self.remaining() == 0.0 else ""

    def spent(self, share: float) -> bool:
        """Whether that share of the time limit has passed, or work should stop anyway."""
        left = self.remaining()
        late = left is not None and self.time_limit is not None and left < (1 - share) * self.time_limit
        return late or bool(self.stopped())

    def closing(self) -> Callable[[], bool]:
        """A stop signal for a proof: GRACE seconds from now, even after an interrupt, or when a solve would be late."""
        least = min(time.monotonic() + GRACE, self.clock.end + PROVING)
        return lambda: time.monotonic() > least and bool(self.stopped())


E = TypeVar("E")


@dataclass(frozen=True)
class ColumnMultipliers:
    """Multipliers >= 0 of a cone's conditions on each column: `cone` (columns under test x cone rows) of a polyhedral
    cone, `flows` (columns under test x edges) of a graph. `events` are those whose rows come last in `Dual.rows`."""

    cone: FloatArray | None = None
    flows: FloatArray | None = None
    events: tuple[Event, ...] = ()

    def numbers(self) -> tuple[FloatArray, ...]:
        """The arrays that are not None."""
        return tuple(part for part in (self.cone, self.flows) if part is not None)

    def mapped(self, function: Callable[[FloatArray], FloatArray]) -> ColumnMultipliers:
        """`function` of every array that is not None."""
        cone = None if self.cone is None else function(self.cone)
        return replace(self, cone=cone, flows=None if self.flows is None else function(self.flows))


@dataclass(frozen=True)
class Dual:
    """Multipliers in floating point, for a maximisation (a minimisation is solved with negated costs).

    `prices` (k,) of the row sums; `rows`, one per coupling row; `evidence` is further evidence of the theory that
    solved the problem (a tree, multipliers of a cone, ...); no other theory reads it. All of it is repaired
    and proved in rationals before it is used.
    """

    prices: FloatArray
    rows: FloatArray = field(default_factory=lambda: np.zeros(0))
    evidence: object = None

    def evidence_of(self, kind: type[E]) -> E | None:
        """The evidence where it is of that kind, else None."""
        return self.evidence if isinstance(self.evidence, kind) else None

    @property
    def columns(self) -> ColumnMultipliers:
        """The multipliers of the columns; none of any where the evidence is of another kind."""
        return self.evidence_of(ColumnMultipliers) or ColumnMultipliers()

    def is_finite(self) -> bool:
        """Whether all multipliers are finite; a solver that broke down may return NaN. Evidence that has multipliers
        lists them by a method `numbers`."""
        own = getattr(self.evidence, "numbers", tuple)()
        return all(bool(np.all(np.isfinite(part))) for part in (self.prices, self.rows, *own))


class Draft(ABC):
    """A mechanism that a method found, before it is rounded and verified."""

    @abstractmethod
    def floats(self) -> FloatArray:
        """The k x m matrix that it stands for."""


@dataclass(frozen=True)
class MatrixDraft(Draft):
    """A k x m matrix; `outputs` are the labels of its columns where they are fixed, `inside` another matrix with slack
    in all inequalities, where one is known. With `groups`, k numbers of rows, the matrix has one row for each group."""

    matrix: FloatArray
    outputs: tuple[str, ...] | None = None
    inside: FloatArray | None = None
    groups: np.ndarray | None = None

    @classmethod
    def of(cls, matrix: FloatArray | None, outputs: tuple[str, ...] | None = None) -> MatrixDraft | None:
        """The draft of a matrix, where there is one."""
        return None if matrix is None else cls(matrix, outputs)

    def floats(self) -> FloatArray:
        """The matrix."""
        return self.matrix if self.groups is None else self.matrix[self.groups]


@dataclass(frozen=True)
class OffDiagonals(Draft):
    """The one number off the diagonal in each of k rows."""

    numbers: FloatArray

    def floats(self) -> FloatArray:
        """The k x k matrix that has them."""
        size = len(self.numbers)
        others = np.repeat(np.asarray(self.numbers)[:, None], size, axis=1)
        others[np.diag_indices(size)] = 1 - (size - 1) * others[np.diag_indices(size)]
        return others


@dataclass(frozen=True)
class ExactDraft(Draft):
    """A mechanism that is exact as it was found: it is verified, and not rounded."""

    mechanism: Mechanism

    def floats(self) -> FloatArray:
        """The mechanism's matrix."""
        return self.mechanism.matrix


@dataclass(frozen=True)
class MixedWeights(Draft):
    """Float weights of permutations (the outputs' places), and those of a mixture with slack in all inequalities, to
    move toward before rounding; `anchor` is empty where there is none."""

    permutations: tuple[Places, ...]
    weights: FloatArray
    anchored: tuple[Places, ...]
    anchor: FloatArray

    def floats(self) -> FloatArray:
        """The k x k matrix that they make up."""
        size = len(self.permutations[0])
        matrix = np.zeros((size, size))
        for places, weight in zip(self.permutations, self.weights, strict=True):
            matrix[np.arange(size), np.array(places)] += weight
        return matrix


@dataclass(frozen=True)
class SolverClaim:
    """The claims of a solver: shown next to the proved numbers, but not used in proofs. `notes` are for the user."""

    solver: str
    status: str
    objective: float | None
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def stopped(self) -> str:
        """Why the work ended early, as in `SolveLimits.stopped`; "" where it did not."""
        return self.status if self.status in STOPS else ""


@dataclass(frozen=True)
class Answer:
    """The answer of a method, in floating point.

    `draft` is a mechanism, or the multipliers that claim that none exists; None where nothing was found. `dual` proves
    an upper bound after repair. `relaxed` says of which program, where that is not the one that was asked for: of that
    after these steps, or of a program that the certificate states in its place, and that allows as much; steps may
    follow that program.
    """

    claim: SolverClaim
    draft: Draft | Dual | None = None
    dual: Dual | None = None
    relaxed: Program | tuple[Program | Step, ...] = ()

    @property
    def stated(self) -> Program | None:
        """The program that the certificate states, where it is not the one that was asked for."""
        first = (self.relaxed if isinstance(self.relaxed, tuple) else (self.relaxed,))[:1]
        return next((one for one in first if isinstance(one, Program)), None)

    @property
    def steps(self) -> tuple[Step, ...]:
        """From the program that the certificate states to the one that the multipliers are about."""
        return tuple(one for one in self.relaxed if isinstance(one, Step)) if isinstance(self.relaxed, tuple) else ()

    @property
    def matrix(self) -> FloatArray | None:
        """The float matrix; None where no mechanism was found."""
        return self.draft.floats() if isinstance(self.draft, Draft) else None

    @property
    def farkas(self) -> Dual | None:
        """The multipliers that claim that no mechanism exists."""
        return self.draft if isinstance(self.draft, Dual) else None

    def with_notes(self, *notes: str) -> Answer:
        """The same with more to say to the user."""
        return replace(self, claim=replace(self.claim, notes=(*self.claim.notes, *notes)))


def particulars(program: Program) -> list[tuple[object, str]]:
    """The parts of a program that only those methods take that declare them, with their names in messages."""
    found = [(part, part.particular) for part in (program.cone, program.utility) if part.particular]
    return [*((extra, extra.name) for extra in program.extras), *found]


class Method(ABC):
    """A way to solve programs. `name` is its name in problem files and on the command line; `because` states
    in one clause when it is the right one.

    Its capabilities are declared. `takes` are the kinds of particular parts that it takes (extras, cones and utilities:
    see `particulars`); `purpose` states what it is for, where it does not take problems without a part of its own, the
    first of `takes`; `goals` states which goals `takes_goal` accepts; `solvers` are the names of solvers that it
    accepts (None: `refuse` decides).
    """

    name: str
    because: str
    takes: tuple[type, ...] = (RobustCone,)
    purpose: str = ""
    goals: str = ""
    solvers: tuple[str, ...] | None = None

    def takes_goal(self, program: Program) -> bool:
        """Whether it solves for the utility and the sense of a program."""
        return True

    def waits(self, program: Program) -> bool:
        """Whether `auto` leaves a program to the methods after this one, which is a second opinion of it."""
        return False

    @abstractmethod
    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        """The refusal of a program (with this solver) that the declared capabilities allow, with its reason and a
        remedy; None where the method takes it."""

    def refusal(self, program: Program, solver: str | None = None) -> tuple[int, Refusal] | None:
        """(how far it is from taking a program, why it does not, in one sentence); None where it takes it. It is
        farthest from a program with parts that it does not take, then from one with a goal that is not its own."""
        parts = particulars(program)
        strange = [name for part, name in parts if not isinstance(part, self.takes)]
        idle = bool(self.purpose) and not any(isinstance(part, self.takes[0]) for part, _ in parts)
        fits = self.takes_goal(program)
        distance = 2 * (len(strange) + idle) + (not fits)
        if strange:
            return distance, Refusal(f"{self.name} does not take {' and '.join(strange)}", AUTO)
        if idle:
            return distance, Refusal(f"{self.name} is for {self.purpose}", AUTO)
        if not fits:
            convex = isinstance(program.utility, ColumnSum) and program.sense == "minimize"
            return distance, CONVEX if convex else Refusal(f"{self.name} {self.goals}", AUTO)
        if solver is not None and self.solvers is not None and solver not in self.solvers:
            uses = f"uses the solver {' or '.join(self.solvers)} only, not {solver!r}"
            return 0, Refusal(f"{self.name} {uses if self.solvers else 'chooses its solvers itself'}", NO_SOLVER)
        own = self.refuse(program, solver)
        return None if own is None else (0, own)

    @abstractmethod
    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        """Solve a program that it does not refuse."""


def solve_part(method: Method, program: Program, effort: SolveLimits, seconds: float | None) -> tuple[Answer, float]:
    """(the answer of a method for a part of a problem that begins now and may take so long, its bound in floats, in the
    sense of a maximisation: infinite where it stopped without one)."""
    sign, reached = program.sign, math.inf

    def note(value: float | None, bound: float | None) -> None:
        nonlocal reached
        reached = reached if bound is None else min(reached, sign * bound)

    own = replace(effort, time_limit=seconds, begun=time.monotonic(), monitor=note, incumbent=Incumbent(), solver=None)
    answer = method.solve(program, own)
    if (value := answer.claim.objective) is not None:
        stopped = math.inf if answer.claim.stopped else sign * value
        reached = max(sign * value, reached if reached < math.inf else stopped)
    return answer, reached


def unanswered(solver: str, program: Program, effort: SolveLimits) -> Answer:
    """The answer of work that did not stop in time, and was ended: the last mechanism that it found for the program."""
    matrix = effort.incumbent.matrix
    draft = None if matrix is None or len(matrix) != program.size else MatrixDraft(matrix, program.outputs)
    return Answer(SolverClaim(solver, "ended: it did not stop in time", None, effort.clock.seconds), draft)


@dataclass(frozen=True)
class ProofGoal:
    """The goal of a proof: the effort of the solve, and the mechanism's value in the utility's unit (None: there
    is no mechanism). A proof within the requested gap of it may be short, and looks no further."""

    effort: SolveLimits
    attained: float | None = None

    @property
    def target(self) -> float | None:
        """The bound that is good enough for a maximisation. The rest of the gap is for the rounding of the
        mechanism and the prices."""
        return None if self.attained is None else self.attained + 0.9 * self.effort.allowed


Prover = Callable[[Program, Dual | None, ProofGoal], Proof | Refusal | None]
"""The bound that multipliers prove after repair (without multipliers: a bound on all mechanisms), or why they
prove none; None where the theory does not cover the program."""
