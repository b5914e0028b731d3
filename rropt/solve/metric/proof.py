"""`column-dual` proofs by labels: mutual information under metric privacy with integer distances.

Written from docs/certificate-format.md, section 6 (Labels). The search suggests prices, cells and tangents. On a tree
of inputs that is all; elsewhere a minimum cut of every leaf gives the flows on what is not linked. Flows and tangents
are rounded first: then each leaf is bounded in floats, and the prices are raised along the prior by the excess of the
worst one and by more than the rounding of floats.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from rropt.errors import Refusal
from rropt.exact import rational_text
from rropt.program.cones import FloatArray
from rropt.program.programs import Program
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual, raised
from rropt.prove.uninformative import or_entropy
from rropt.solve.kernel.boxes.tree import BoxTree
from rropt.solve.kernel.budget import ROUNDED
from rropt.solve.kernel.route import Dual, Wanted
from rropt.solve.metric.budget import BATCH, BOXED, TANGENT, UNIT
from rropt.solve.metric.labels import Closure, Labels
from rropt.solve.metric.search import LabelCell, LabelPricer, LabelRelaxation, LabelSearch

VERSION = 6
"""The version of the format that has labels."""


def prove_labels(program: Program, found: LabelSearch, stop: Callable[[], bool]) -> Proof | None:
    """The `column-dual` proof by the cells of a search; None where one has no bound, or where `stop()` is true before
    it is written."""
    relaxation = found.relaxation
    relaxation.price(found.prices)
    leaves = _Leaves(relaxation)
    items: list[Any] = []
    for root in found.roots:
        for node in root.nodes():
            if stop():
                return None
            if node.parts is None:
                items.append(leaves.item(node))
            else:
                items.append(list(node.cut))
    prices = raised(found.prices, program.prior, leaves.excess())
    forest = relaxation.forest
    return column_dual(
        prices,
        VERSION,
        unit=str(UNIT),
        order=forest.order.tolist(),
        least=relaxation.least.tolist(),
        links=forest.links.tolist(),
        labels=items,
    )


class _Leaves:
    """The leaves of a proof; those that are not closed are bounded in batches."""

    def __init__(self, relaxation: LabelRelaxation) -> None:
        self._relaxation = relaxation
        self._linked = {(x, z) for pair in relaxation.forest.links.tolist() for x, z in (pair, pair[::-1])}
        self._waiting: list[tuple[LabelCell, float, dict[str, Any]]] = []
        self._worst = 0.0

    def item(self, cell: LabelCell) -> dict[str, Any]:
        """The element of a leaf. Its flows are there after `excess()`."""
        if (cell.lower > cell.upper).any() or cell.tangent is None:
            return {"t": "1", "f": []}
        t = Fraction(max(1, round(math.exp(cell.tangent) * TANGENT)), TANGENT)
        element = {"t": rational_text(t), "f": list[list[int]]()}
        self._waiting.append((cell, math.log(t), element))
        if len(self._waiting) == BATCH:
            self._bound()
        return element

    def excess(self) -> float:
        """What the prices are to be raised by, for each unit of the prior."""
        self._bound()
        return self._worst

    def _flows(self, closure: Closure) -> Iterator[list[int]]:
        """The flows between inputs that are not linked, [x, z, j, y, ...] in their order."""
        graph = closure.graph
        counts = np.rint(closure.flow * UNIT).astype(np.int64)
        some = np.flatnonzero(counts > 0)
        sources = graph.sources[some]
        x, z, j = graph.inputs[graph.targets[some]], graph.inputs[sources], graph.labels[sources]
        found: dict[tuple[int, int], dict[int, int]] = {}
        for own, other, label, y in zip(x.tolist(), z.tolist(), j.tolist(), counts[some].tolist(), strict=True):
            if own != other and (own, other) not in self._linked:
                found.setdefault((own, other), {})[label] = y
        for pair, numbers in sorted(found.items()):
            first, last = min(numbers), max(numbers)
            yield [*pair, first, *(numbers.get(label, 0) for label in range(first, last + 1))]

    def _bound(self) -> None:
        if not self._waiting:
            return
        relaxation = self._relaxation
        cells = [cell for cell, *_ in self._waiting]
        lower, upper = np.array([cell.lower for cell in cells]), np.array([cell.upper for cell in cells])
        at = np.array([at for _, at, _ in self._waiting])
        rows = relaxation.rows(lower, upper, at)
        if not relaxation.forest.whole:
            closures = relaxation.closures(cells, at)[-1]
            for row, closure, (cell, _, element) in zip(rows, closures, self._waiting, strict=True):
                element["f"] = list(self._flows(closure))
                row += self._sent(cell, element["f"], row.shape).cumsum(axis=1)
        values, _ = relaxation.forest.best(lower, rows)
        sizes = np.where(np.isfinite(rows), np.abs(rows), 0.0).max(axis=2).sum(axis=1) + np.exp(at)
        over = (values + np.exp(at) + ROUNDED * sizes) / (relaxation.entries[upper] @ relaxation.p)
        self._worst = max(self._worst, float(over.max()))
        self._waiting = []

    def _sent(self, cell: LabelCell, flows: list[list[int]], shape: tuple[int, ...]) -> FloatArray:
        """What the flows add to the step to each label, inputs x labels from the lower limits on."""
        sent = np.zeros(shape)
        for x, z, j, *numbers in flows:
            step, many = int(self._relaxation.labels.distances[x, z]), np.array(numbers) / UNIT
            own, other = j - step - int(cell.lower[x]), j - int(cell.lower[z])
            sent[x, own : own + len(many)] += many
            sent[z, other : other + len(many)] -= many
        return sent


def prove(program: Program, dual: Dual | None, wanted: Wanted) -> Proof | Refusal | None:
    """Mutual information under metric privacy with integer distances. Where the prices come from another route they are
    searched once."""
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
