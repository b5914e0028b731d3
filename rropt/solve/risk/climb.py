"""Good mechanisms under a bound on identification risk: sequential linear programmes from several starts."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from rropt.errors import InputError
from rropt.mechanisms.families.block_choice import choose_blocks
from rropt.program.cones import FloatArray, FreeCone, cone_rows, reach
from rropt.program.limits import PosteriorRisk
from rropt.program.programs import Linear, Program
from rropt.solve.engine.budget import CLIMB_STEPS
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.risk.blocks import FloatRisk

SAFE = 1e-9
"""Margins are kept this far from zero, as slack for rounding."""


TRIES, CLOSE = 40, 2**-32
"""Tries of a step back to the bound, and how near to it, as a share of the way, they end: the rest is lost value."""
CALMER = 8
"""Matrices with little truth that are averaged, at most."""
GAIN = 1e-9
"""A step that gains less, times max(1, |value|), is the last one."""


class RiskClimber:
    """Keeps the best matrix (k x k) that it found, and its value (costs negated to minimise; nats)."""

    def __init__(self, program: Program, stopped: Callable[[], bool]) -> None:
        risk = program.required(PosteriorRisk)
        self.program, self.risk = program, FloatRisk(risk)
        size = program.size
        sums = sparse.kron(sparse.eye(size), np.ones((1, size)), format="csr")
        coupling = program.row_matrix(size)
        largest = np.maximum(abs(coupling).max(axis=1).toarray().ravel(), 1e-300)
        self.row_scale = largest
        self.rows = sparse.vstack([sums, sparse.diags(1 / largest) @ coupling], format="csr")
        right = np.array([float(row.rhs) for row in program.rows]) / largest
        equal = np.array([row.sense == "=" for row in program.rows], dtype=bool)
        self.row_upper = np.concatenate([np.ones(size), right])
        self.row_lower = np.concatenate([np.ones(size), np.where(equal, right, -np.inf)])
        self.cost = program.sign * program.utility.matrix(size, size) if isinstance(program.utility, Linear) else None
        self._model = None
        if not isinstance(program.cone, FreeCone):
            # Its last rows are those of the cone, over the cells and the lows of columns.
            self._model = entry_model(replace(program, rows=(), extras=(), sense="maximize", utility=Linear(())))
            self._logs = reach(program.cone, size)
        calm = self._calm()
        self.calm = self._calmer() if calm is None else calm
        self.stopped = stopped
        self.best: FloatArray | None = None
        self.value = -np.inf

    def fits(self, matrix: FloatArray) -> bool:
        """Whether a matrix keeps the rows to float precision."""
        found = self.rows @ matrix.ravel()
        if not ((found <= self.row_upper + 1e-9).all() and (found >= self.row_lower - 1e-9).all()):
            return False
        if self._model is None:
            return True
        with np.errstate(over="ignore", invalid="ignore"):
            least = matrix[:, None, :] - np.exp(self._logs)[:, :, None] * matrix[None, :, :]
        further = [np.array([float(value) for value in row]) @ matrix for row in cone_rows(self.program.cone)]
        return bool(np.nanmax(least) <= 1e-9 and all((row <= 1e-9).all() for row in further))

    def _calm(self) -> FloatArray | None:
        """The uninformative matrix: each record of a part is released as any category of it, so that all risks are 1 /
        (its records). The parts are connected by cells that are not empty; None where other rows forbid it."""
        counts, size = np.array(self.risk.risk.counts, dtype=float), self.program.size
        allowed = np.ones((size, size))
        for x, y in self.program.empty_cells:
            allowed[x, y] = 0.0
        _, part = sparse.csgraph.connected_components(sparse.csr_matrix(allowed), directed=False)
        together = (part[:, None] == part[None, :]).astype(float)
        matrix = together * counts[None, :]
        mass = matrix.sum(axis=1, keepdims=True)
        matrix = np.where(mass > 0, matrix / np.maximum(mass, 1e-300), np.eye(size))
        return matrix if self.fits(matrix) else None

    def _calmer(self) -> FloatArray | None:
        """A matrix with slack in the bound: of least truth, or a mean of some with little; None without room."""
        random = np.random.default_rng(0)
        size = self.program.size
        found: list[FloatArray] = []
        for _ in range(CALMER):
            matrix = self.extreme(-np.eye(size) - (random.random((size, size)) if found else 0.0))
            if matrix is None:
                return None
            found.append(matrix)
            middle = np.asarray(np.mean(found, axis=0))
            if self.fits(middle) and self.risk.worst(middle) >= SAFE:
                return middle
        return None

    def utility(self, matrix: FloatArray) -> float:
        """The utility, to be maximised."""
        return worth_and_slope(self.program, matrix)[0]

    def start(self) -> None:
        """Climb from the blocks that the table suggests and from the uninformative matrix."""
        risk = self.risk.risk
        starts = [] if self.calm is None else [self.calm]
        try:
            blocks = choose_blocks(risk.counts, risk.at_most, risk.categories)
        except InputError:
            # No blocks keep the bound; other matrices may.
            blocks = None
        if blocks is not None:
            most = [Fraction(min(risk.counts[x] for x in b) if theta else 0) for b, theta in blocks.ends]
            starts = [blocks.mechanism().matrix, replace(blocks, thetas=tuple(most)).mechanism().matrix, *starts]
        for matrix in starts:
            if self.fits(matrix):
                self.climb(matrix)

    def offer(self, matrix: FloatArray) -> None:
        """Take a matrix as it is, or the nearest point on the way to the uninformative one that keeps the bound, and
        climb.
        """
        inside = self._inside(matrix)
        if inside is not None and self.utility(inside) > self.value:
            self.climb(inside)

    def _inside(self, matrix: FloatArray) -> FloatArray | None:
        if self.risk.worst(matrix) >= SAFE:
            return matrix
        if self.calm is None:
            return None
        # Regula falsi, with every end that stays halved in weight (Illinois): margins are smooth in the share of calm.
        low, high, below, above = 0.0, 1.0, self.risk.worst(matrix) - SAFE, self.risk.worst(self.calm) - SAFE
        for _ in range(TRIES):
            if above < SAFE or high - low < CLOSE:
                break
            middle = (low + high) / 2 if above == below else (low * above - high * below) / (above - below)
            margin = self.risk.worst((1 - middle) * matrix + middle * self.calm) - SAFE
            if margin >= 0:
                high, above, below = middle, margin, below / 2
            else:
                low, below, above = middle, margin, above / 2
        mixed = (1 - high) * matrix + high * self.calm
        return mixed if self.risk.worst(mixed) >= 0 else None

    def climb(self, matrix: FloatArray) -> None:
        """Linearise utility and margins, step within a trust region, stay inside; as long as the value grows."""
        value, radius = self.utility(matrix), 0.5
        if value > self.value and self.risk.worst(matrix) >= 0:
            self.best, self.value = matrix, value
        counts = np.maximum(np.array(self.risk.risk.counts, dtype=float), 1.0)
        scale = np.minimum(1.0, counts[None, :] / counts[:, None])
        for _ in range(CLIMB_STEPS):
            if self.stopped():
                break
            step = self._step(matrix, radius * scale)
            moved = None if step is None else self._inside(step)
            if moved is None or (found := self.utility(moved)) <= value + GAIN * max(1.0, abs(value)):
                radius /= 4
                if radius < 1e-6:
                    break
                continue
            matrix, value, radius = moved, found, min(2 * radius, 1.0)
            if value > self.value:
                self.best, self.value = matrix, value

    def _step(self, matrix: FloatArray, reach: FloatArray) -> FloatArray | None:
        size, towards = self.program.size, worth_and_slope(self.program, matrix)[1]
        added, right = [], []
        for c in self.risk.risk.categories:
            margins, slopes = self.risk.slopes(matrix, c)
            for margin, slope in zip(margins, slopes, strict=True):
                if margin > 5.0:
                    continue
                row = np.zeros((size, size))
                row[:, c] = -slope
                largest = max(float(np.abs(slope).max()), 1e-300)
                added.append(row.ravel() / largest)
                right.append((margin - SAFE - slope @ matrix[:, c]) / largest)
        lower = np.maximum(matrix - reach, 0.0)
        upper = np.minimum(matrix + reach, 1.0)
        for x, y in self.program.empty_cells:
            lower[x, y] = upper[x, y] = 0.0
        return None if towards is None else self._best(towards, added, right, lower, upper)

    def extreme(self, cost: FloatArray) -> FloatArray | None:
        """The matrix that keeps rows and cone with the largest sum of `cost` (k x k) times cells."""
        upper = np.ones_like(cost)
        for x, y in self.program.empty_cells:
            upper[x, y] = 0.0
        return self._best(cost, [], [], np.zeros_like(cost), upper)

    def _best(
        self, cost: FloatArray, added: list[FloatArray], right: list[float], lower: FloatArray, upper: FloatArray
    ) -> FloatArray | None:
        """The best matrix within limits of the cells that keeps rows, cone and the further rows `added` <= `right`."""
        blocks, cells = [self.rows], cost.size
        lows, highs = [self.row_lower], [self.row_upper]
        if added:
            blocks.append(sparse.csr_matrix(np.array(added)))
            lows.append(np.full(len(right), -np.inf))
            highs.append(np.array(right))
        spare = 0
        if self._model is not None:
            spare, own = self._model.matrix.shape[1] - cells, self.program.size
            blocks = [sparse.hstack([block, sparse.csr_matrix((block.shape[0], spare))]) for block in blocks]
            blocks.append(self._model.matrix[own:])
            lows.append(self._model.row_lower[own:])
            highs.append(self._model.row_upper[own:])
        lp = LpModel(
            np.concatenate([cost.ravel(), np.zeros(spare)]),
            sparse.vstack(blocks, format="csr"),
            np.concatenate(lows),
            np.concatenate(highs),
            np.concatenate([lower.ravel(), np.zeros(spare)]),
            np.concatenate([upper.ravel(), np.ones(spare)]),
            "simplex",
        )
        found = lp.solve(interrupted=None)
        if found.status != "optimal" or found.x is None:
            return None
        return np.asarray(np.clip(found.x[:cells].reshape(cost.shape), 0.0, 1.0))
