"""Proofs by labels: mutual information under metric privacy with integer distances.

Written from docs/verified-core.md (Labels). The search suggests prices, cells and tangents. On a tree
of inputs that is all; elsewhere a minimum cut of every leaf gives the flows on what is not linked. Flows and tangents
are rounded first: then each leaf is bounded in floats, and the prices are raised along the prior by the excess of the
worst one and by more than the rounding of floats.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.prove.certificates import Proof
from rropt.prove.labels import LabelLeaf, LabelTrees, Split, by_labels
from rropt.prove.trees import raised
from rropt.prove.uninformative import or_entropy
from rropt.solve.engine.boxes.tree import BoxTree
from rropt.solve.engine.budget import ROUNDED
from rropt.solve.engine.curves import short
from rropt.solve.engine.method import Dual, ProofGoal
from rropt.solve.metric.labels import ClosureGraph, IntArray, Labels, together
from rropt.solve.metric.search import BATCH, BOXED, LabelCell, LabelPricer, LabelRelaxation, LabelSearch

UNIT, FINER = 2**36, 10
"""Flows are counted in one over UNIT, and in up to FINER bits more where an input is rarer than in a uniform prior."""
TANGENT_BITS = 30
"""Tangents are rounded to a share of one over two to this: columns of rare inputs have masses, and tangents, of
1e-9."""
FLOWS = 2
"""Flows of a leaf at most: a second one starts from the first, and its rounding is finer."""
LEAST_RAISE, RAISES = 1e-4, 2
"""The least share tried of the raise of all prices that surely bounds a leaf, and the factor from one to the next."""


def prove_labels(program: Program, found: LabelSearch, stop: Callable[[], bool]) -> Proof | None:
    """The proof in lines by the cells of a search; None where one has no bound, or where `stop()` is true before
    it is written."""
    relaxation = found.relaxation
    relaxation.price(found.prices)
    leaves = _Leaves(relaxation)
    items: list[Split | LabelLeaf] = []
    for root in found.roots:
        for node in root.nodes():
            if stop():
                return None
            if node.parts is None:
                items.append(leaves.item(node))
            else:
                items.append(node.cut)
    prices = raised(found.prices, program.prior, leaves.excess())
    forest = relaxation.forest
    order, least, links = forest.order.tolist(), relaxation.least.tolist(), forest.links.tolist()
    return by_labels(program, prices, LabelTrees(items, leaves.unit, order, least, links))


class _Leaves:
    """The leaves of a proof; those that are not closed are bounded in batches. Flows are counted in one over `unit`:
    rounding counts beside the mass of a column, which may be as small as the rarest input."""

    def __init__(self, relaxation: LabelRelaxation) -> None:
        self._relaxation = relaxation
        x, z = relaxation.forest.links.T
        self._linked = np.eye(len(relaxation.p), dtype=bool)
        self._linked[x, z] = self._linked[z, x] = True
        self._waiting: list[tuple[LabelCell, float, LabelLeaf]] = []
        self._worst = 0.0
        rarest = float(relaxation.p[relaxation.p > 0].min()) * len(relaxation.p)
        self.unit = UNIT << min(round(max(0.0, -math.log2(rarest))), FINER)

    def item(self, cell: LabelCell) -> LabelLeaf:
        """The element of a leaf. Its flows are there after `excess()`."""
        if (cell.lower > cell.upper).any() or cell.tangent is None:
            return LabelLeaf(Fraction(1), [])
        t = short(math.exp(cell.tangent), TANGENT_BITS)
        element = LabelLeaf(t, [])
        self._waiting.append((cell, math.log(t), element))
        if len(self._waiting) == BATCH:
            self._bound()
        return element

    def excess(self) -> float:
        """By how much the prices are raised, for each unit of the prior."""
        self._bound()
        return self._worst

    def _fill(
        self,
        graph: ClosureGraph,
        flow: FloatArray,
        lists: Sequence[list[list[int]]],
        lower: IntArray,
        shape: tuple[int, ...],
    ) -> FloatArray:
        """Fill one list per cell with the flows between inputs that are not linked, [x, z, j, y, ...] in their order;
        returns what they add to the step to each label, cells x inputs x labels from the lower limits on."""
        for own in lists:
            own.clear()
        counts = np.rint(flow * self.unit).astype(np.int64)
        x, z, j = graph.inputs[graph.targets], graph.inputs[graph.sources], graph.labels[graph.sources]
        cells, i = graph.cells[graph.sources], graph.labels[graph.targets]
        some = np.flatnonzero((counts > 0) & ~self._linked[x, z])
        some = some[np.lexsort((j[some], z[some], x[some], cells[some]))]
        cells, x, z, i, j, counts = (one[some] for one in (cells, x, z, i, j, counts))
        sent = np.zeros(shape)
        np.add.at(sent, (cells, x, i - lower[cells, x]), counts / self.unit)
        np.subtract.at(sent, (cells, z, j - lower[cells, z]), counts / self.unit)
        before = (-1, -1, -1, -1)
        for cell, own, other, label, y in np.array([cells, x, z, j, counts]).T.tolist():
            if before[:3] != (cell, own, other):
                lists[cell].append([own, other, label])
            else:
                lists[cell][-1].extend([0] * (label - before[3] - 1))
            lists[cell][-1].append(y)
            before = cell, own, other, label
        return sent

    def _bound(self) -> None:
        """Fill the flows of the leaves that wait, and raise `_worst` to what bounds them."""
        if not self._waiting:
            return
        relaxation, forest = self._relaxation, self._relaxation.forest
        lower, upper = (np.array([getattr(cell, end) for cell, *_ in self._waiting]) for end in ("lower", "upper"))
        at = np.array([at for _, at, _ in self._waiting])
        lists = [element.flows for *_, element in self._waiting]
        self._waiting = []
        linked = relaxation.rows(lower, upper, at)
        rows = linked.copy()
        flows = dict[int, FloatArray]()
        parts = [] if forest.whole else together(lower, upper)
        for _ in range(FLOWS):
            for own in parts:
                closures = relaxation.closures(lower[own], upper[own], at[own], flows.get(own.start))[-1]
                flow = flows[own.start] = closures.flow()
                sent = self._fill(closures.graph, flow, lists[own], lower[own], rows[own].shape)
                rows[own] = linked[own] + sent.cumsum(axis=2)
            values, _ = forest.best(lower, rows)
            sizes = np.where(np.isfinite(rows), np.abs(rows), 0.0).max(axis=2).sum(axis=1) + np.exp(at)
            constants = np.exp(at) + ROUNDED * sizes
            excess = (values + constants) / (relaxation.entries[upper] @ relaxation.p)
            parts = [own for own in parts if excess[own].max() > 0]
            if not parts:
                break
        worst = float(excess.max())
        if worst <= self._worst:
            return
        masses, tried = relaxation.tables(lower, upper)[1], max(self._worst, worst * LEAST_RAISE)
        # `worst` is enough where the worst column has the least mass of its leaf, and far less nearly always.
        while tried < worst and (forest.best(lower, rows - tried * masses)[0] + constants).max() > 0:
            tried *= RAISES
        self._worst = max(self._worst, min(tried, worst))


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Mutual information under metric privacy with integer distances. Where the prices come from another method they
    are searched once."""
    labels = Labels.of(program)
    if labels is None or dual is None or dual.evidence_of(BoxTree) is not None:
        return None
    found, stop = dual.evidence_of(LabelSearch), wanted.effort.closing()
    if found is None and program.size <= BOXED:
        return None
    if found is None:
        pricer = LabelPricer(program, labels)
        target = math.inf if wanted.target is None else wanted.target
        pricer(dual.prices, max(0.0, (target - math.fsum(dual.prices)) / 2) if math.isfinite(target) else 0.0, stop)
        found = pricer.found
    proof = prove_labels(program, found, stop) if found is not None and math.isfinite(found.bound) else None
    return or_entropy(program, proof, "the search ended before it had bounded all labellings")
