"""Branch and bound over the columns of a matrix, with local maxima climbed to on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rropt.program.cones import CompleteCone, FloatArray, tightest_log
from rropt.program.limits import Sum, single_convex_term
from rropt.program.programs import ColumnSum, Information, Linear, Program
from rropt.solve.engine.budget import CLIMB_STEPS, RISE
from rropt.solve.engine.climb import Vertices, climb_matrix
from rropt.solve.engine.curves import has_curve
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import EntryModel, entry_model, farkas_candidate
from rropt.solve.engine.search import Budget, Search
from rropt.solve.matrix.budget import COUNTED, PIECE
from rropt.solve.matrix.cells import ColumnCells
from rropt.solve.matrix.corner_trees import listable
from rropt.solve.matrix.counts import CountCells, countable
from rropt.solve.matrix.search import MatrixRelaxation

CLIMBS = 40
"""Random directions from which local maxima are climbed to before the search."""
FIRST, LATER = 5_000, 250
"""The most kicks before the search, and after every further piece of it."""
CHUNK = 500
"""Boxes between two reports of progress."""
PATIENCE, WORK = 5, 400_000
"""Kicks end after this many without a better matrix for each of its entries, if that is at most WORK entries in all."""
KICKING = 0.5
"""The share of a time limit after which the first kicks end."""
KICKED = 3
"""A kick changes about one output in so many, at most."""
NEARLY_EQUAL = 1.021
"""Below this ratio the gains of corners are lost in the tolerances of a solver; entries are branched on instead."""
BOXES = 8
"""And so many times where the tree of an output divides its columns into boxes."""
TANGENTS = 3
"""A proof takes so many times as long where something is given."""
PROVING = 2e-4
"""Seconds that the proof of a cell takes to be written and checked, for each entry of the matrix."""


def by_corners(program: Program) -> bool:
    """Whether columns are limited over their smallest entries: under LDP, where the best corners of a box are known."""
    own = single_convex_term(program)
    return own is not None and isinstance(program.cone, CompleteCone) and listable(own[1], program.size)


def weighed(program: Program) -> int:
    """The number of outputs of which a row fixes a weighted mass: an equation of their column alone, positive."""
    found = set()
    for row in program.rows:
        columns = {y for _, y, _ in row.terms}
        if row.sense == "=" and len(columns) == 1 and all(value > 0 for *_, value in row.terms):
            found |= columns
    return len(found)


def by_columns(program: Program) -> bool:
    """Whether cells limit single columns: then the first one is bounded as the problem without its rows is."""
    plain = isinstance(program.utility, Information) and program.utility.plain
    nearly_equal = isinstance(program.cone, CompleteCone) and program.cone.level.ratio.upper < NEARLY_EQUAL
    return by_corners(program) and not (plain and nearly_equal)


def solve_matrices(program: Program, effort: SolveLimits, ceiling: float = np.inf) -> tuple[Answer, float]:
    """(the best matrix whose columns are tied by rows, the bound of its search). `ceiling` is a bound from elsewhere:
    where the search has no better one, or none was needed, the answer has no multipliers."""
    begun = time.monotonic()
    climber = Climber(entry_model(replace(program, utility=Linear(()))), program, effort)
    if not climber.feasible:
        claim = SolverClaim("highs", climber.status, None, time.monotonic() - begun)
        return Answer(claim, farkas_candidate(program, effort)), np.inf
    climber.start()
    effort.monitor(climber.value, ceiling if np.isfinite(ceiling) else None)
    search: Search[Any] | None = None
    if has_curve(program) and not by_corners(program):
        # More inputs than have their corners listed, and entries are too many to branch on.
        climber.kick(FIRST, lambda: effort.spent(KICKING))
    elif ceiling > climber.value + effort.allowed / 2:
        search = _searches(program, climber, effort, ceiling)
    bound, status = np.inf if search is None else search.bound, str(effort.stopped())
    status = status or ("the bound without the rows" if search is None else f"{search.nodes} boxes")
    claim = SolverClaim("rropt", status, climber.value, time.monotonic() - begun)
    dual = None
    if search is not None and bound < ceiling:
        dual = Dual(np.zeros(program.size), np.zeros(len(program.rows)), search.roots[0])
    return Answer(claim, MatrixDraft.of(climber.best, program.outputs), dual), bound


def _searches(program: Program, climber: Climber, effort: SolveLimits, ceiling: float) -> Search[Any]:
    """The better one of the searches that bound all matrices of a program."""
    search: Search[Any] | None = None
    over, columnwise = False, by_columns(program)
    if columnwise and countable(program):
        search, over = _searched(CountCells(program, lambda: bool(effort.stopped())), climber, effort, ceiling)
    # Where time is over, what is left is for the proof.
    if search is None or (search.bound > climber.value + effort.allowed and not over):
        entries = ColumnCells(program, lambda: bool(effort.stopped())) if columnwise else MatrixRelaxation(program)
        other, _ = _searched(entries, climber, effort, ceiling)
        search = other if search is None or other.bound < search.bound else search
    return search


def _searched(
    relaxation: MatrixRelaxation | ColumnCells | CountCells, climber: Climber, effort: SolveLimits, ceiling: float
) -> tuple[Search[Any], bool]:
    """The search of a relaxation, until its bound is near the best matrix, or it cannot go on; whether time is over."""
    program = climber.program
    relaxation.aim(climber.best)
    search: Search[Any] = Search(relaxation)
    relaxation.note = climber.note
    search.run(np.inf)  # the root is bounded before a target is set
    kicks, piece = FIRST, CHUNK

    def stopped() -> str:
        """Why the search should stop now: the rest of the time may be needed to prove what it has."""
        left = effort.remaining()
        cells = 0 if isinstance(relaxation, MatrixRelaxation) else search.nodes * program.size * relaxation.width
        if isinstance(program.utility, Information) and program.utility.given is not None:
            cells *= TANGENTS
        if isinstance(relaxation, CountCells):
            cells *= BOXES
        return effort.stopped() or ("time limit" if left is not None and left < PROVING * cells else "")

    while not stopped():
        if not isinstance(relaxation, MatrixRelaxation) and search.bound > climber.value + effort.allowed / 2:
            climber.kick(kicks, stopped if kicks == LATER else lambda: effort.spent(KICKING))
            kicks, piece = LATER, PIECE
        # What is within half of the gap of the best matrix is good enough.
        accept, before = climber.value + effort.allowed / 2, search.nodes
        relaxation.aim(climber.best)
        search.run(accept, Budget(search.nodes + piece, lambda: bool(stopped())))
        bound = min(search.bound, ceiling)
        effort.monitor(climber.value, bound)
        if bound <= accept or search.nodes == before:
            break
    return search, bool(stopped())


class Climber:
    """Local maxima: linearise, go to the best vertex, repeat. Keeps the best matrix (k x m), which `effort` notes."""

    def __init__(self, model: EntryModel, program: Program, effort: SolveLimits) -> None:
        assert isinstance(program.utility, ColumnSum | Sum)
        self.program, self._effort = program, effort
        self._utility, self._vertex, self._cone = program.utility, Vertices(model), program.cone
        self._random = np.random.default_rng(0)
        self._noted = 0
        nothing = np.zeros((model.size, model.width))
        found = self._vertex(nothing)
        self.feasible, self.status = found is not None, self._vertex.status
        self.best: FloatArray = nothing if found is None else found
        self.value = -np.inf
        if self.feasible:
            self._take(self.best, float(self._utility.mu(self.best).sum()))

    def start(self) -> None:
        """Climb from random vertices."""
        for _ in range(CLIMBS):
            matrix = self._vertex(np.asarray(self._random.standard_normal(self.best.shape)))
            if matrix is not None:
                self.climb(matrix)
            if self._effort.stopped():
                return

    def kick(self, most: int, over: Callable[[], object]) -> None:
        """Climb from neighbours of the best matrix, `most` times at most, until `over()` or until many in a row find
        none better. In some columns of a neighbour two entries become large where they were small, or small. Where
        rows fix the masses of many columns, two of them change so at the same two inputs, which often keeps the masses
        and the sums of rows. The slope of the utility there is that of the directions of columns, whatever these sums.
        """
        ratio = float(np.exp(tightest_log(self._cone)))
        patience = min(PATIENCE * self.best.size, WORK // self.best.size)
        size, width = self.best.shape
        swaps, vain = size > COUNTED[1] and weighed(self.program) >= width - 1 > 0, 0
        for _ in range(most):
            if vain >= patience or over():
                return
            drawn = self.best / np.maximum(self.best.min(axis=0), 1e-300)
            if swaps:
                inputs, columns = (self._random.choice(count, 2, replace=False).tolist() for count in (size, width))
                pairs = [(x, y) for x in inputs for y in columns]
            else:
                some = self._random.choice(width, self._random.integers(1, width // KICKED + 2), replace=False)
                pairs = [(x, y) for y in some.tolist() for x in self._random.integers(size, size=2).tolist()]
            for x, y in pairs:
                drawn[x, y] = ratio if drawn[x, y] < np.sqrt(ratio) else 1.0
            slope, before = self._utility.gradient(drawn), self.value
            matrix = None if slope is None else self._vertex(slope)
            if matrix is not None:
                self.climb(matrix)
            vain = 0 if self.value > before + RISE * abs(before) else vain + 1

    def note(self, matrix: FloatArray) -> None:
        """Climb from some of the matrices that a search finds, and from all that are better than the best one."""
        self._noted += 1
        better = float(self._utility.mu(matrix).sum()) > self.value
        if better or self._noted <= CLIMBS or self._noted % CLIMBS == 0:
            self.climb(np.maximum(matrix, 0.0))

    def climb(self, matrix: FloatArray) -> None:
        """Climb from a matrix as long as the value grows."""
        matrix, value = climb_matrix(self._utility, matrix, self._vertex, CLIMB_STEPS)
        if value > self.value:
            self._take(matrix, value)

    def _take(self, matrix: FloatArray, value: float) -> None:
        self.best, self.value = matrix, value
        self._effort.found(value, matrix)
