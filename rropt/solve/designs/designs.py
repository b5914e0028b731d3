"""Designs to estimate with: risks minimised by column generation, with a lower bound from every price vector.

The interior-point method gives forms and prices for the columns it has; pricing looks for columns that break them.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from rropt.program.cones import CompleteCone, FloatArray, cone_rows
from rropt.program.design_utilities import DesignUtility, InverseDeterminant, InverseEigenvalue, InverseTrace
from rropt.program.programs import ColumnSum, Program
from rropt.solve.designs.criteria import (
    PLAIN,
    ROUGH,
    DesignCriterion,
    DesignForms,
    DeterminantCriterion,
    TraceCriterion,
)
from rropt.solve.designs.interior_point import DesignPoint, EigenvalueCriterion, best_design, value_of
from rropt.solve.designs.quadratics import FormRelaxation, all_corners, climbed_corners, quadratic_forms, shrunk_tree
from rropt.solve.designs.symmetric import symmetric_design
from rropt.solve.engine.boxes.search import BoxPricer, ColumnForms
from rropt.solve.engine.boxes.tree import PROVING, BoxSearch, BoxTree
from rropt.solve.engine.budget import LEAST_GAP, LISTED
from rropt.solve.engine.interior import vertex
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import farkas_candidate
from rropt.solve.engine.search import Budget

ROUNDS = 200
"""Rounds of column generation at most; the interior point ends in far fewer."""
FIRST, FINER, NEARLY = 1e-2, 0.1, 1e-4
"""For E-optimality: the relative duality gap of the first designs, that of a later one beside the gap that is left,
and the one below which the finest follows. Rough designs have prices that fewer further columns break."""
MOST = 15
"""Columns for each input that are kept at most; twice as many where the finest design gains nothing."""
FEW = 64
"""So many columns, those of six inputs, are taken all at once."""
ADDED = 3
"""Columns added a round, for each input; those within TIED of the best come besides, up to TIES."""
TIED, TIES = 1e-7, 200
"""With equal frequencies many columns tie, and all of them are in an optimum."""
TINY = 1e-300
"""A value of 0 is divided by as if it were this."""
KEPT = 1e-9
"""Columns below this share of the largest mass are dropped."""
LOSS = 1e-6
"""The share of the value, beside a quarter of the gap, that a design of fewer columns may lose."""
ALIKE = 1e-12
"""Sums of entries of M that are this small a share of the largest follow from others."""
BOXES = (300, 3_000, 30_000, 300_000)
"""Boxes of a search, level by level: a longer search begins when a shorter one does not find a column."""
TESTS = 10**8
"""The format's limit of k * max(k, forms) * nodes."""
STARTS = 60
"""Random corners that are climbed from where there are too many to be listed."""
LAST = 0.4
"""The share of a time limit that is left for the last search over boxes."""
ALWAYS = 100
"""Boxes that are searched even after the time limit: without any there is no bound."""
HALVINGS = 30
"""Distances from the constant column that are tried: 1/2, 1/4, ..."""
RIDGE = 30.0
"""Where queries do not span all directions, (gap / RIDGE)^2 of these are added: a loss of about gap / RIDGE."""


@dataclass(frozen=True)
class QuadraticOverLinear(ColumnSum):
    """v'S v / (p.v): what a column costs at a given W."""

    table: FloatArray
    prior: FloatArray

    def mu(self, columns: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("xn,xn->n", columns, self.table @ columns) / (self.prior @ columns))

    def gradient(self, columns: FloatArray) -> FloatArray | None:
        w = self.prior @ columns
        own = self.table @ columns
        square = np.einsum("xn,xn->n", columns, own)
        return np.asarray(2 * own / w - self.prior[:, None] * square / w**2)


def most_nodes(inputs: int, forms: int) -> int:
    """The most boxes of a tree that a checker reads; a search may exceed its limit by two."""
    return TESTS // (inputs * max(inputs, forms)) - 2


def criterion_of(utility: DesignUtility, gap: float) -> DesignCriterion:
    """The criterion of a utility; `gap` is what may be lost."""
    if isinstance(utility, InverseTrace):
        queries = utility.table.T
        ridge = 0.0
        if np.linalg.matrix_rank(queries) < len(queries):
            # Directions that no query needs may vanish in the limit, where M is singular: a small share of them is
            # kept.
            ridge = (gap / RIDGE) ** 2 * float(np.sum(queries**2))
        return TraceCriterion(queries, float(utility.offset), ridge)
    if isinstance(utility, InverseDeterminant):
        return DeterminantCriterion()
    assert isinstance(utility, InverseEigenvalue)
    return EigenvalueCriterion.within(utility.prior, gap)


def mixed_design(program: Program, columns: FloatArray, effort: SolveLimits) -> tuple[FloatArray, float, Dual] | None:
    """(masses, -risk, multipliers) of the best design for a program over k x n `columns`; None where there is none."""
    utility, wanted = program.utility, max(effort.gap, LEAST_GAP)
    assert isinstance(utility, DesignUtility)
    criterion = criterion_of(utility, wanted)
    found = best_design(columns, utility.prior, criterion, max(min(1e-11, wanted * 1e-3), criterion.least))
    if found is None:
        return None
    own = found.found
    mass = np.where(found.mass > KEPT * found.mass.max(), found.mass, 0.0)
    return (
        few_masses(columns, mass, utility.prior),
        -own.value,
        Dual(found.prices, evidence=DesignForms(own.forms, own.factors)),
    )


def solve_design(program: Program, effort: SolveLimits) -> Answer:
    """The best design over the columns of the program's cone."""
    if (known := symmetric_design(program)) is not None:
        return known
    begun = time.monotonic()
    utility = program.utility
    assert isinstance(utility, DesignUtility)
    wanted = max(effort.gap, LEAST_GAP)
    criterion = criterion_of(utility, wanted)
    pricer = _Corners(program, effort) if isinstance(program.cone, CompleteCone) else _Boxes(program, effort)
    columns = pricer.starts()
    if not columns.size:
        claim = SolverClaim("interior point", "the constant column is outside the cone", None, 0.0)
        return Answer(claim, farkas_candidate(program, effort))
    best: tuple[float, Dual] | None = None
    last: Dual | None = None
    point, matrix = None, None
    master = _Master(columns, utility.prior, criterion, wanted, effort)
    stopped, level = "", 0
    for _ in range(ROUNDS):
        found = master.best()
        if found is None:
            break
        point, own = found, found.found
        matrix = master.columns * found.mass
        effort.found(own.value)
        gap = effort.allowed
        last = Dual(found.prices, evidence=DesignForms(own.forms, own.factors))
        hurried = pricer.hurried()
        excess, new, tree = pricer.price(own.forms, found.prices, gap / 8, pricer.levels if hurried else level)
        if np.isfinite(excess):
            factor, bound = criterion.scaled(own, float(found.prices.sum()) + max(excess, 0.0))
            if best is None or bound > best[0]:
                best = bound, last if tree is None else _shrunk(last, tree, factor)
        effort.monitor(own.value, None if best is None else best[0])
        stopped = effort.stopped()
        if (best is not None and own.value - best[0] <= gap / 2) or stopped:
            break
        if hurried:
            # Columns that the boxes found are not part of the proof, but improve the design.
            columns = np.hstack([master.columns, new])
            found = best_design(columns, utility.prior, criterion, ROUGH) if new.size else None
            if found is not None and found.found.value < own.value:
                point, matrix = found, columns * found.mass
            break
        if master.refined(found, excess, bool(new.size)):
            continue
        if new.size:
            master.add(new, found)
        elif level + 1 >= pricer.levels:
            break
        level = 0 if new.size else level + 1
    claim = SolverClaim(
        "interior point",
        stopped or ("converged" if point is not None else "no design of full rank"),
        None if point is None else point.found.value,
        time.monotonic() - begun,
    )
    if matrix is not None:
        matrix = _short(matrix[:, matrix.max(axis=0) > 1e-12], utility.prior)
        matrix = without_small(matrix, utility.prior, criterion, effort.allowed / 4)
    return Answer(claim, MatrixDraft.of(matrix), last if best is None else best[1])


def _short(matrix: FloatArray, prior: FloatArray) -> FloatArray:
    """A design of few columns, whose rows sum to one."""
    matrix = matrix * few_masses(matrix, np.ones(matrix.shape[1]), prior)
    matrix = matrix[:, matrix.max(axis=0) > 0]
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def without_small(matrix: FloatArray, prior: FloatArray, criterion: DesignCriterion, allowed: float) -> FloatArray:
    """A design (k x m) whose columns of least mass are added to those most like them: as many columns as its value
    allows, which grows by `allowed` and by LOSS of it at most. Sums of columns keep the cone and the sums of rows."""
    order = np.argsort(-matrix.sum(axis=0), kind="stable")
    matrix = matrix[:, order]
    unit = matrix / np.linalg.norm(matrix, axis=0)

    def kept(count: int) -> tuple[FloatArray, float]:
        """The design of the first `count` columns, and its value."""
        like = (unit[:, :count].T @ unit[:, count:]).argmax(axis=0)
        added = np.zeros((len(like), count))
        added[np.arange(len(like)), like] = 1.0
        few = matrix[:, :count] + matrix[:, count:] @ added
        return few, value_of(few, prior, criterion)

    low, high = len(matrix) - 1, matrix.shape[1]
    best, value = matrix, value_of(matrix, prior, criterion)
    most = value + min(allowed, LOSS * abs(value))
    while high - low > 1:
        few, value = kept(middle := (low + high) // 2)
        if value <= most:
            best, high = few, middle
        else:
            low = middle
    return best


def few_masses(columns: FloatArray, mass: FloatArray, prior: FloatArray) -> FloatArray:
    """Masses of k x m columns v with the same M = sum mass v v' / p.v, up to rounding, at most k(k+1)/2 of them
    positive: such a choice exists (Caratheodory), and as M p = sum mass v its rows have the same sums. The given ones
    where rounding hides it."""
    upper, own = np.triu_indices(len(columns)), mass > 0
    matrix = columns[:, own] * mass[own]
    table = matrix[upper[0]] * matrix[upper[1]] / (prior @ matrix)
    if table.shape[1] <= len(table):
        return mass
    # Corners have two values: some entries of M follow from others.
    _, sizes, rows = np.linalg.svd(table, full_matrices=False)
    rows = rows[sizes > ALIKE * sizes[0]]
    share = vertex(np.ones(table.shape[1]), np.zeros(table.shape[1]), rows, rows.sum(axis=1))
    if share is None:
        return mass
    found = np.zeros(len(mass))
    found[own] = mass[own] * share
    return found


class _Master:
    """The best design over the `columns` found so far, to a tolerance that falls with what columns can still gain.

    Where a largest eigenvalue is minimised, prices of a rough design are in the middle of those that its columns allow,
    and fewer other columns break them than those at a vertex. Each solve starts from the masses of the one before."""

    def __init__(
        self, columns: FloatArray, prior: FloatArray, criterion: DesignCriterion, wanted: float, effort: SolveLimits
    ) -> None:
        self.columns, self._prior, self._criterion, self._over = columns, prior, criterion, effort.stopped
        self._finest = max(min(1e-11, wanted * 1e-3), criterion.least)
        self._tolerance = max(FIRST if criterion.damped else 0.0, self._finest)
        self._most, self._lowest = MOST * len(columns), np.inf
        self._start: FloatArray | None = None

    def best(self) -> DesignPoint | None:
        """The best design; from even masses where the last ones do not lead to one."""
        polished = self._tolerance == self._finest
        for start in [self._start, None] if self._start is not None else [None]:
            found = best_design(
                self.columns,
                self._prior,
                self._criterion,
                self._tolerance,
                polished=polished,
                start=start,
                over=self._over,
            )
            if found is not None:
                return found
        return None

    def refined(self, found: DesignPoint, excess: float, grows: bool) -> bool:
        """Set the tolerance by the `excess` of prices over columns; whether to solve again, as no column was found."""
        last, value = self._tolerance, found.found.value
        if not grows:
            self._tolerance = self._finest
            return last > self._finest
        left = max(excess, 0.0) / max(abs(value), TINY)
        stalls = value > self._lowest * (1 - 1e-3 * last)
        aim = min(last * (FINER if stalls else 1.0), FINER * left)
        self._tolerance = max(aim if aim > NEARLY else 0.0, self._finest)
        self._most *= 2 if stalls and last == self._finest else 1
        self._lowest = min(self._lowest, value)
        return False

    def add(self, new: FloatArray, found: DesignPoint) -> None:
        """Add columns, and drop those of least mass."""
        kept = found.mass > KEPT * found.mass.max()
        if kept.sum() > self._most:
            kept = found.mass >= np.sort(found.mass)[-self._most]
        self.columns = np.hstack([self.columns[:, kept], new])
        self._start = np.append(found.mass[kept], np.zeros(new.shape[1]))


def _shrunk(dual: Dual, tree: BoxTree, factor: float) -> Dual:
    """A design's multipliers and their tree, the forms multiplied by `factor`."""
    own = DesignForms.of(dual)
    if factor > PLAIN:
        return replace(dual, evidence=replace(own, search=tree))
    k, count = own.forms.shape
    search = shrunk_tree(tree, k, count, factor)
    return Dual(dual.prices * factor**2, dual.rows, replace(own, forms=own.forms * factor, search=search))


class _Corners:
    """Pricing under LDP: every corner up to 16 inputs, beyond these corners that no single change improves."""

    levels = 1

    def __init__(self, program: Program, effort: SolveLimits) -> None:
        assert isinstance(program.cone, CompleteCone)
        self.k, self.gamma = program.size, float(program.cone.level.ratio)
        self.p = np.array([float(value) for value in program.prior])
        self.effort = effort
        self.every = all_corners(self.k, self.gamma) if self.k <= LISTED else None
        self.turn = 0

    def hurried(self) -> bool:
        """Whether this must be the last pricing: never, as it takes little time."""
        return False

    def starts(self) -> FloatArray:
        if self.every is not None and self.every.shape[1] <= FEW:
            return self.every
        alone = np.eye(self.k, dtype=bool)
        random = np.random.default_rng(0)
        size = max(1, min(self.k - 1, round(self.k / (1 + self.gamma))))
        some = np.array([random.permutation(self.k) < size for _ in range(3 * self.k)]).T
        return np.unique(np.where(np.hstack([alone, ~alone, some]), self.gamma, 1.0), axis=1)

    def price(
        self, forms: FloatArray, prices: FloatArray, accept: float, level: int
    ) -> tuple[float, FloatArray, BoxTree | None]:
        """(by how much the prices must be raised along the prior, columns that break them, no tree: the proof makes its
        own). Beyond 16 inputs the first is infinite: only the proof's search bounds it."""
        table = forms @ forms.T - (np.outer(prices, self.p) + np.outer(self.p, prices)) / 2
        columns = self.every
        if columns is None:
            self.turn += 1
            columns = climbed_corners(table, self.gamma, STARTS, self.turn)
        mass = self.p @ columns
        height = np.einsum("xn,xn->n", columns, table @ columns)
        worst = float((height / mass**2).max())
        reduced = height / mass
        order = np.argsort(-reduced)
        chosen = [i for i in order[: ADDED * self.k] if reduced[i] > accept * 1e-3]
        ties = [i for i in order[:TIES] if reduced[i] > reduced[order[0]] - TIED] if reduced[order[0]] > 0 else []
        new = columns[:, sorted(set(chosen) | set(ties))] if chosen else columns[:, :0]
        if self.every is not None or not new.size:
            # Without all corners this is an estimate of the bound; the proof decides.
            return worst, new, None
        return np.inf, new, None


class _Boxes:
    """Pricing on any other cone: climbing first, then boxes."""

    levels = 1 + len(BOXES)

    def __init__(self, program: Program, effort: SolveLimits) -> None:
        self.forms = ColumnForms.of(program)
        self.k, self.effort = program.size, effort
        self.p = np.array([float(value) for value in program.prior])
        self.pricer = BoxPricer(self.forms, QuadraticOverLinear(np.eye(self.k), self.p), effort)
        self.search: tuple[bytes, BoxSearch] | None = None

    def starts(self) -> FloatArray:
        if not self.pricer.holds(np.ones(self.k)):
            return np.zeros((self.k, 0))
        # Vertices alone may miss a direction (any four edges of a square do), those around the constant column none.
        return np.hstack([np.maximum(self.pricer.starts(), 0.0), self._around()])

    def _around(self) -> FloatArray:
        """Pairs 1 + d, 1 - d at each input within the cone, d = 1/2, 1/4, ...; none where 1 is on its boundary."""
        cone = self.forms.program.cone
        rows = np.array([[float(entry) for entry in row] for row in cone_rows(cone)]).reshape(-1, self.k)
        found = []
        for unit in np.eye(self.k):
            for halvings in range(1, HALVINGS):
                pair = [1 + unit / 2**halvings, 1 - unit / 2**halvings]
                if all((v[:, None] <= self.forms.ratios * v).all() and (rows @ v <= 0).all() for v in pair):
                    found += pair
                    break
        return np.array(found).reshape(-1, self.k).T

    def hurried(self) -> bool:
        """Whether this must be the last pricing: the rest of the time is for its boxes."""
        left, limit = self.effort.remaining(), self.effort.time_limit
        return left is not None and limit is not None and left < LAST * limit

    def price(
        self, forms: FloatArray, prices: FloatArray, accept: float, level: int
    ) -> tuple[float, FloatArray, BoxTree | None]:
        """As for corners; the tree where boxes were asked."""
        table = forms @ forms.T
        utility = QuadraticOverLinear(table, self.p)
        pricer = self.pricer = BoxPricer(self.forms, utility, self.effort)
        if level == 0:
            new = pricer.look(prices)[:, : ADDED * self.k]
            # Smaller gains are left to the boxes: a column without mass would be dropped and regenerated indefinitely.
            return np.inf, new[:, [pricer.reduced(v) > accept for v in new.T]], None
        key = prices.tobytes()
        if self.search is None or self.search[0] != key:
            self.search = key, BoxSearch(FormRelaxation(quadratic_forms(self.forms, forms.T, prices)))
        search = self.search[1]
        pricer.prices, pricer.found = prices, {}
        counted = 0

        def note(point: FloatArray) -> None:
            nonlocal counted
            counted += 1
            if counted <= 24 or counted % 24 == 0:
                pricer.climb(point[: self.k])

        def over() -> bool:
            # A proof of this size must still be written, and at least ALWAYS boxes are.
            left = self.effort.remaining()
            late = left is not None and left < PROVING * self.k * search.nodes
            return bool(search.nodes > ALWAYS and (late or self.effort.stopped()))

        def enough() -> bool:
            gains = (value for value, _ in pricer.found.values())
            return over() or max(gains, default=0.0) > max(2 * accept, 1e-10)

        search.boxes.note = note
        nodes = most_nodes(self.k, forms.shape[1])
        if level == self.levels:
            search.run(accept, Budget(nodes, over))
        else:
            search.run(accept, Budget(min(BOXES[level - 1], nodes), enough))
        good = [v for value, v in pricer.found.values() if value > max(accept, 1e-11)]
        new = np.array(good).T if good else np.zeros((self.k, 0))
        return search.bound, new, search.tree
