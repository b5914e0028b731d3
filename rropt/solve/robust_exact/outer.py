"""Any other problem on the exact cone of a confidence set: outer polyhedral cones, solved by another method.

docs/theory/robust.md has the idea. Columns found inside are mixed: by a linear programme where the utility is a sum
over columns, as a design where it is a risk. The climbs then take the prices of the best mixture.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.program.confidence_cones import ConfidenceCone, Weighed
from rropt.program.design_utilities import InverseTrace
from rropt.program.programs import ColumnSum, Linear, Program
from rropt.prove.steps import Cut, relax
from rropt.solve.engine.climb import worth
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, Method, SolveLimits, solve_part
from rropt.solve.engine.polyhedral import model_sides
from rropt.solve.robust_exact.budget import PRESENT
from rropt.solve.robust_exact.cut_program import CutPool, CutProgram

CONES = 100
"""Outer cones at most."""
FIRST_GAP, FIRST_SHARE = 1e-2, 0.3
"""The relative gap to which the first outer cone is solved, and its share of the time."""
FINER = 0.1
"""The gap of the further outer cones, as a share of what the mechanism lost on its way into the exact cone."""
CLIMBS, MIXTURE_CLIMBS, MIXTURES = 20, 1, 2
"""Steps of the climb of a column at most, of one between two mixtures, and mixtures between two outer cones."""
AT_BOUNDARY = 1e-9
"""Shares of the way to a constant column below which a column is on the boundary of the exact cone."""
LEAST_SLOPED = 1e-12
"""Slopes are taken at entries from here on."""
NO_MASS = 1e-11
"""Columns with less mass than this are not looked at."""
SMALL = 0.05
"""Columns that gain less than this share of the gap are not added to a mixture."""


@dataclass
class Columns:
    """Columns with mean one, `points` (n x k), and the output of each (0 where these are free)."""

    points: FloatArray
    outputs: np.ndarray

    def plus(self, other: Columns) -> Columns:
        """These and others."""
        return Columns(np.vstack([self.points, other.points]), np.concatenate([self.outputs, other.outputs]))

    def at(self, places: np.ndarray) -> Columns:
        """Some of them."""
        return Columns(self.points[places], self.outputs[places])


@dataclass(frozen=True)
class Mixture:
    """The best mixture of given columns: their `masses`, what it is `worth` (sign * utility), and its multipliers."""

    masses: FloatArray
    worth: float
    dual: Dual


Mixer = Callable[[Program, FloatArray, SolveLimits], tuple[FloatArray, float, Dual] | None]
"""The best design for a program over columns (k x n): masses, sign * utility, multipliers."""


class Outer:
    """The loop over outer cones of a program; `choose` gives the method of one with a polyhedral cone, `mix` the best
    design over given columns."""

    def __init__(
        self,
        program: Program,
        cone: ConfidenceCone,
        effort: SolveLimits,
        choose: Callable[[Program], Method],
        mix: Mixer,
    ) -> None:
        self.program, self.cone, self.effort, self._choose, self._mix = program, cone, effort, choose, mix
        size = program.size
        self._prior = np.array([float(p) for p in program.prior])
        self.pool = CutPool(cone)
        # The cuts of the outer cone by their numbers in the pool; None where one cannot be proved valid.
        self._cuts: dict[int, Weighed | None] = {}
        # The cuts that a column with all its mass on one input meets: without them one without prior has no limit.
        self.pool.pulled(np.eye(size))
        self._add(range(len(self.pool)))
        self._lp = CutProgram(self.pool, np.full(size, 1 / size), PRESENT * size, sliced=True)
        self._lp.add(range(len(self.pool)))
        self._best: tuple[float, Answer] | None = None
        self._found: tuple[float, FloatArray] | None = None
        self._gap, self._seconds = FIRST_GAP, 0.0
        self._linear = isinstance(program.utility, Linear | ColumnSum)
        # Multipliers of the other risks jump, or are good enough without mixtures.
        design = isinstance(program.utility, InverseTrace) and not program.rows and program.outputs is None
        self._mixes = not program.extras and (self._linear or design)
        width = 1 if program.outputs is None else len(program.outputs)
        self._inside = Columns(np.ones((width, size)), np.arange(width))

    def run(self) -> Answer:
        """The best mechanism, and the multipliers of the outer cone with the best bound."""
        effort, sign, lost = self.effort, self.program.sign, math.inf
        for _ in range(CONES):
            answer, bound, reached = self._solved(lost)
            if not isinstance(answer.draft, MatrixDraft) or not answer.draft.matrix.any():
                break
            if self._best is None or bound < self._best[0]:
                self._best = bound, answer
            cuts, value = (self._mixed if self._mixes else self._moved)(answer)
            # What the way into the exact cone cost, and what is open altogether.
            lost, left = math.inf, math.inf
            if self._found is not None and math.isfinite(value):
                lost = max(reached - value, 0.0) / max(abs(value), 1e-300)
                left = self._best[0] - self._found[0]
                effort.found(sign * self._found[0])
                effort.monitor(sign * self._found[0], sign * self._best[0])
            remaining = effort.remaining()
            late = remaining is not None and remaining < self._seconds
            if left <= effort.allowed / 2 or effort.stopped() or late:
                break
            if not self._add(cuts) and self._gap <= effort.gap / 4:
                break
        if answer.farkas is not None or self._best is None:
            return answer
        draft = self._best[1].draft if self._found is None else MatrixDraft(self._found[1], self.program.outputs)
        return replace(self._best[1], draft=draft)

    def cut(self) -> Cut:
        """The step to the outer cone."""
        return Cut.of(self.cone, [cut for cut in self._cuts.values() if cut is not None])

    def _add(self, cuts: Iterable[int]) -> int:
        """Add cuts of the pool to the outer cone; how many are new."""
        before = len(self._cuts)
        for cut in cuts:
            if cut not in self._cuts:
                self._cuts[cut] = self.cone.valid(self.pool.cuts[cut])
        return len(self._cuts) - before

    def _solved(self, lost: float) -> tuple[Answer, float, float]:
        """(the answer over the outer cone, its bound on sign * utility in floats, what its mechanism has)."""
        cut, effort = self.cut(), self.effort
        relaxed = relax(self.program, [cut])
        left = effort.remaining()
        self._gap = max(effort.gap / 4, min(FIRST_GAP, FINER * lost))
        begun = time.monotonic()
        answer, reached = solve_part(
            self._method(relaxed),
            relaxed,
            replace(effort, gap=self._gap, absolute_gap=effort.absolute_gap / 4),
            left if left is None or self._best is not None else FIRST_SHARE * left,
        )
        self._seconds = time.monotonic() - begun
        value = answer.claim.objective
        if answer.stated is not None:
            # Multipliers of a program that is stated in the place of the outer one prove nothing of this one.
            answer = replace(answer, dual=None, draft=None if answer.farkas else answer.draft)
        own = math.inf if value is None else self.program.sign * value
        return replace(answer, relaxed=(cut, *answer.steps)), reached, own

    def _method(self, relaxed: Program) -> Method:
        """The method of the outer cone: by columns where it can, as cddlib loses rays among many near cuts."""
        method = self._choose(relaxed)
        columns = self.effort.method("columns") if method.name == "vertices" else method
        return method if columns.refusal(relaxed) is not None else columns

    def _keep(self, value: float, matrix: FloatArray) -> float:
        """Keep a mechanism that is the best one so far; its value."""
        if self._found is None or value > self._found[0]:
            self._found = value, matrix
        return value

    # -- mechanisms inside the exact cone --------------------------------------------------------------

    def _moved(self, answer: Answer) -> tuple[list[int], float]:
        """(cuts, sign * utility of the mechanism moved into the exact cone)."""
        assert isinstance(answer.draft, MatrixDraft)
        matrix = answer.draft.matrix
        masses = matrix.sum(axis=0)
        kept = masses > NO_MASS
        inside, _, met = self.pool.pulled(matrix.T[kept])
        moved = np.zeros_like(matrix)
        moved[:, kept] = inside.T
        # The sums of the rows are restored by columns that keep every ratio, and so are inside too.
        rest = 1 - moved.sum(axis=1)
        gamma = self.pool.gamma
        share = max((rest.max() - gamma * rest.min()) / (gamma - 1), 0.0)
        moved = (moved + np.outer(rest + share, masses / masses.sum())) / (1 + share)
        value = worth(self.program.utility, moved)
        points = Columns(matrix.T[kept] / masses[kept, None] * self.program.size, np.flatnonzero(kept))
        tight = [] if answer.dual is None else self._climbed(points, answer.dual, CLIMBS)[1]
        # What else must hold is left to the rounding, which knows a matrix to move toward.
        plain = not self.program.rows and not self.program.extras
        return [*chain(*met), *tight], self._keep(
            -math.inf if value is None else self.program.sign * value, moved if plain else matrix
        )

    def _mixed(self, answer: Answer) -> tuple[list[int], float]:
        """(cuts, sign * utility of the best mixture inside), after climbs until these find no better columns."""
        assert isinstance(answer.draft, MatrixDraft)
        matrix = answer.draft.matrix
        masses = matrix.sum(axis=0)
        kept = np.flatnonzero(masses > NO_MASS)
        points = matrix.T[kept] / masses[kept, None] * self.program.size
        inside, _, met = self.pool.pulled(points)
        own = kept if self.program.outputs is not None else np.zeros(len(kept), dtype=int)
        self._inside = self._inside.plus(Columns(inside / inside.mean(axis=1, keepdims=True), own))
        value, cuts = -math.inf, list(chain(*met))
        if answer.dual is not None:
            found, tight, _ = self._climbed(Columns(points, own), answer.dual, MIXTURE_CLIMBS)
            self._inside = self._inside.plus(found)
        for _ in range(MIXTURES):
            best = self._master()
            if best is None:
                break
            value, dual = best.worth, best.dual
            self._keep(value, self._matrix(best.masses))
            found, tight, met_all = self._climbed(
                self._inside.at(np.flatnonzero(best.masses > NO_MASS)), dual, MIXTURE_CLIMBS
            )
            gains = self._worths(found, dual) - (self._prices(found, dual) * found.points).sum(axis=1)
            better = np.flatnonzero(gains > SMALL * max(self.effort.gap * abs(value), self.effort.absolute_gap))
            if (not len(better) and met_all) or self.effort.stopped():
                break
            self._inside = self._inside.plus(found.at(better))
        return [*cuts, *tight], value

    def _master(self) -> Mixture | None:
        """The best mixture of the columns inside; None where none is found."""
        if not self._linear:
            design = self._mix(self.program, self._inside.points.T, self.effort)
            return None if design is None else Mixture(*design)
        size, coupling = self.program.size, len(self.program.rows)
        table = self._inside.points.T
        if coupling:
            width = len(self.program.outputs or ())
            rows = self.program.row_table(width)
            table = np.vstack([table, np.einsum("ixn,nx->in", rows[:, :, self._inside.outputs], self._inside.points)])
        worths = self._worths(self._inside)
        lp = LpModel(worths, sparse.csr_matrix(table), *model_sides(self.program, 0))
        found = lp.solve(self.effort.remaining(), self.effort.interrupted)
        if found.x is None or found.row_dual is None or found.status != "optimal":
            return None
        masses = np.maximum(found.x, 0.0)
        return Mixture(masses, float(worths @ masses), Dual(found.row_dual[:size], found.row_dual[size:]))

    def _matrix(self, theta: FloatArray) -> FloatArray:
        """The mechanism of a mixture."""
        columns = self._inside.points.T * theta
        if self.program.outputs is None:
            return np.asarray(columns[:, theta > NO_MASS])
        matrix = np.zeros((self.program.size, len(self.program.outputs)))
        np.add.at(matrix.T, self._inside.outputs, columns.T)
        return matrix

    # -- columns ---------------------------------------------------------------------------------------

    def _worths(self, columns: Columns, dual: Dual | None = None) -> FloatArray:
        """sign * utility of every column; of a risk that of its tangent at the multipliers."""
        utility, points = self.program.utility, columns.points
        touching = None if dual is None else getattr(dual.evidence, "worths", None)
        if touching is not None:
            return np.asarray(touching(points.T, self._prior))
        if isinstance(utility, ColumnSum):
            return self.program.sign * utility.mu(points.T)
        assert isinstance(utility, Linear)
        costs = utility.matrix(self.program.size, len(self.program.outputs or ()))
        return self.program.sign * np.asarray((costs.T[columns.outputs] * points).sum(axis=1))

    def _prices(self, columns: Columns, dual: Dual) -> FloatArray:
        """The prices (n x k) of the entries of columns: of the sums and of the rows."""
        found = np.repeat(dual.prices[None, :], len(columns.points), axis=0)
        if self.program.rows and len(dual.rows) == len(self.program.rows):
            width = len(self.program.outputs or ())
            by_entry = (self.program.row_matrix(width).T @ dual.rows).reshape(self.program.size, width)
            found += by_entry.T[columns.outputs]
        return found

    def _costs(self, columns: Columns, dual: Dual) -> FloatArray | None:
        """The slopes of the utility less the prices (n x k); None where they are not known."""
        utility, points = self.program.utility, np.maximum(columns.points, LEAST_SLOPED)
        touching = getattr(dual.evidence, "slopes", None)
        if touching is not None:
            found = touching(points.T, self._prior).T
        elif isinstance(utility, Linear):
            costs = utility.matrix(self.program.size, len(self.program.outputs or ()))
            found = self.program.sign * costs.T[columns.outputs]
        else:
            slope = utility.gradient(points.T) if isinstance(utility, ColumnSum) else None
            found = None if slope is None else self.program.sign * slope.T
        return None if found is None else found - self._prices(columns, dual)

    def _climbed(self, columns: Columns, dual: Dual, steps: int) -> tuple[Columns, list[int], bool]:
        """(the best columns for slopes less prices under cuts; the cuts that prove it; whether all are inside)."""
        costs = self._costs(columns, dual)
        if costs is None:
            return columns, [], True
        costs, first = np.unique(costs, axis=0, return_index=True)
        size = self.program.size
        zeros, tops = np.zeros(size), np.full(size, float(size))
        ends, active, tight = columns.points[first], np.arange(len(first)), dict[int, list[int]]()
        for _ in range(steps):
            for at in active.tolist():
                found = self._lp.solve(costs[at], zeros, tops)
                if found.x is not None and found.row_dual is not None:
                    ends[at] = np.maximum(found.x, 0.0)
                    tight[at] = [self._lp.present[row] for row in np.flatnonzero(found.row_dual[1:])]
            ends[active], shares, met = self.pool.pulled(ends[active])
            self._lp.add(cut for own in met for cut in own)
            active = active[shares > AT_BOUNDARY]
            if not len(active) or self.effort.stopped():
                break
        points = ends / ends.mean(axis=1, keepdims=True)
        return Columns(points, columns.outputs[first]), [cut for own in tight.values() for cut in own], not len(active)
