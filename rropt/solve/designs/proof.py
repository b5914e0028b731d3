"""`column-dual` proofs of designs: the matrix W, repaired prices, and a tree over corners or boxes.

Written from docs/certificate-format.md, section 6. The searches in doubles propose all numbers; each leaf is recomputed
in integers or Arb balls, and the prices are raised along the prior by the excess of the worst leaf.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, fmpz_mat

from rropt.errors import Refusal
from rropt.exact import ball, dyadic_down, dyadic_up, log_enclosure, rational_text
from rropt.program.cones import CompleteCone, FloatArray
from rropt.program.design_utilities import (
    DesignUtility,
    InverseDeterminant,
    InverseEigenvalue,
    InverseTrace,
    products,
    square_means,
)
from rropt.program.programs import Program
from rropt.prove.balls import PRICE_BITS, largest_end, unit_for
from rropt.prove.certificates import Proof
from rropt.prove.leaves import ColumnLeaves, Limits
from rropt.prove.trees import EMPTY, column_dual, raised, raised_tree, written
from rropt.solve.designs.criteria import PLAIN, DesignForms
from rropt.solve.designs.designs import most_nodes
from rropt.solve.designs.quadratics import CornerNode, Corners, FormRelaxation, all_corners, quadratic_forms
from rropt.solve.engine.boxes.search import ColumnForms
from rropt.solve.engine.boxes.tree import Box, BoxSearch
from rropt.solve.engine.budget import LISTED
from rropt.solve.engine.method import Dual, ProofGoal, never
from rropt.solve.engine.search import Budget, Search

FORM_BITS = 52
"""W is written as multiples of 2^-52: it need not be the best one."""
WORK_BITS = 200
"""Terms of a leaf are integers over 2^200, rounded upwards."""
REPAIRS = Fraction(1, 2**40), Fraction(1, 2**30), Fraction(1, 2**20)
"""What prices of forms that were made smaller are raised by, until their leaves hold."""
NODES = 400_000
"""Boxes of a proof at most: more take minutes to check."""
WILD = 1e60
"""Doubles lose the sums of squares of numbers beyond this."""
YIELD_BITS = 78
"""A bound that is not a rational is rounded down to a multiple of 2^-78."""

Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class _Claim:
    """Exact `forms` (J rows of k numbers) and what they give: the utility is at least (gained - sum of the prices) /
    share; the `keys` of the proof say why. `linear` is sum_j C_j.W_j, None for a determinant."""

    forms: Rows
    gained: Fraction
    share: Fraction
    keys: dict[str, object]
    linear: Fraction | None = None

    def bound(self, prices: Sequence[Fraction]) -> Fraction:
        """The bound that these prices prove."""
        return (self.gained - sum(prices, Fraction(0))) / self.share


def prove_design(program: Program, dual: Dual, target: float | None, stop: Callable[[], bool] = never) -> Proof | None:
    """The proof that no design is better than a number near `target` (None: as much as the prices give), from
    float prices and forms; None where the searches prove nothing."""
    utility = program.utility
    assert isinstance(utility, DesignUtility)
    numbers = [dual.prices, *DesignForms.of(dual).numbers()]
    # Beyond WILD, and where they are not finite, searches in doubles are useless.
    claim = _claim(utility, dual) if all((np.abs(table) < WILD).all() for table in numbers) else None
    if claim is None:
        return None
    keys: dict[str, object]
    if isinstance(program.cone, CompleteCone):
        corners = _by_corners(program, dual, claim, stop)
        if corners is None:
            return None
        claim, prices, tree = corners
        keys = {"tree": tree}
    else:
        boxes = _by_boxes(program, dual, claim, target, stop)
        if boxes is None:
            return None
        prices, keys = boxes
    bound = claim.bound(prices)
    if isinstance(utility, InverseDeterminant):
        bound = dyadic_down(bound, YIELD_BITS)
    forms = [[rational_text(w) for w in row] for row in claim.forms]
    return replace(column_dual(prices, forms=forms, **claim.keys, **keys), bound=bound)


def _claim(utility: DesignUtility, dual: Dual) -> _Claim | None:
    forms = _dyadic(DesignForms.of(dual).forms)
    if isinstance(utility, InverseDeterminant):
        # k + log det(W W') at W itself, by its exact determinant.
        size = len(forms)
        scaled = fmpz_mat([[int(w * 2**FORM_BITS) for w in row] for row in forms]).det()
        if not scaled:
            return None
        log = log_enclosure(Fraction(abs(int(scaled)), 1 << FORM_BITS * size)).lower
        return _Claim(forms, size + 2 * log, Fraction(1), {})
    rows, share, keys = _queries(utility, dual)
    linear = products(rows, forms)
    return _Claim(forms, 2 * linear - square_means(rows, utility.weights), share, keys, linear)


def _queries(utility: DesignUtility, dual: Dual) -> tuple[Rows, Fraction, dict[str, object]]:
    """(the queries whose variances the forms bound, by how much their sum exceeds the utility, further keys)."""
    if isinstance(utility, InverseTrace):
        return utility.rows, Fraction(1), {}
    factors = DesignForms.of(dual).factors
    assert isinstance(utility, InverseEigenvalue) and factors is not None
    rows = _dyadic(factors)
    share = sum((c * c for row in rows for c in row), Fraction(0))
    return rows, share, {"factors": [[rational_text(c) for c in row] for row in rows]}


def _dyadic(table: FloatArray) -> Rows:
    # A float times a power of two is exact.
    scale, none = 2**FORM_BITS, Fraction(0)
    rows = (table.T * scale).tolist()
    return tuple(tuple(Fraction(round(w), scale) if w else none for w in row) for row in rows)


def _most_nodes(program: Program, forms: int) -> int:
    """The most nodes that are searched here and read by a checker; a search may exceed its limit by two."""
    return min(NODES, most_nodes(program.size, forms))


# -- a complete cone ------------------------------------------------------------------------------------


def _by_corners(
    program: Program, dual: Dual, claim: _Claim, stop: Callable[[], bool]
) -> tuple[_Claim, list[Fraction], list[object]] | None:
    """(the claim or a better one, exact prices, the elements of a tree that holds at them)."""
    assert isinstance(program.cone, CompleteCone)
    forms = claim.forms
    gamma = float(program.cone.level.ratio)
    w = np.array([[float(value) for value in row] for row in forms]).T
    p = np.array([float(value) for value in program.prior])
    scale = float(np.abs(w @ w.T).sum()) * gamma**2
    shift, margin = 0.0, 1e-15 * scale
    if program.size <= LISTED:
        columns = all_corners(program.size, gamma)
        table = w @ w.T - np.outer(dual.prices, p)
        shift = float((np.einsum("xn,xn->n", columns, table @ columns) / (p @ columns) ** 2).max())
    for _ in range(20):
        prices = dual.prices + (shift + margin) * p
        search = Search(Corners(w @ w.T - (np.outer(prices, p) + np.outer(p, prices)) / 2, gamma))
        search.run(-1e-16 * scale, Budget(_most_nodes(program, len(forms)), stop))
        if not math.isfinite(search.bound):
            return None
        if search.bound > 0:
            # (p.v)^2 >= 1, so that much more is enough everywhere.
            shift += search.bound
            if search.bound > margin * 1e6:
                continue
        exact = raised(dual.prices, program.prior, shift + margin)
        if (items := _written(program, exact, forms, search.roots[0])) is not None:
            return _shrunk(program, dual, claim, exact, items, search.roots[0])
        margin *= 8
    return None


def _shrunk(
    program: Program, dual: Dual, claim: _Claim, prices: list[Fraction], items: list[object], root: CornerNode
) -> tuple[_Claim, list[Fraction], list[object]]:
    """Claim, prices and elements for forms times what is best beside these prices, which may have been raised much."""
    total = sum(prices, Fraction(0))
    factor = math.sqrt(program.size / total) if claim.linear is None else float(claim.linear / total)
    if factor > PLAIN or factor <= 0:
        return claim, prices, items
    assert isinstance(program.utility, DesignUtility)
    own = DesignForms.of(dual)
    other = _claim(program.utility, replace(dual, evidence=replace(own, forms=own.forms * factor)))
    square = Fraction(factor) ** 2
    # Rounding the forms may break the leaves a little; prices raised a little along the prior repair them.
    for more in REPAIRS:
        lower = [
            dyadic_up((price + more * p) * square, PRICE_BITS) for price, p in zip(prices, program.prior, strict=True)
        ]
        if other is None or other.bound(lower) <= claim.bound(prices):
            break
        if (shrunk := _written(program, lower, other.forms, root, square)) is not None:
            return other, lower, shrunk
    return claim, prices, items


def _written(
    program: Program, prices: list[Fraction], forms: Rows, root: CornerNode, square: Fraction = Fraction(1)
) -> list[object] | None:
    """The preorder of a tree with e times `square`; None unless each leaf holds with slack 2^-80, in integers."""
    assert isinstance(program.cone, CompleteCone)
    gh, k, prior = program.cone.level.ratio.upper, program.size, program.prior
    one = 1 << WORK_BITS

    def up(value: Fraction) -> int:
        return -((-value.numerator * one) // value.denominator)

    rise = gh - 1
    # Prices and forms are dyadic, so exact products stay short.
    table = [
        [
            sum((row[x] * row[z] for row in forms), Fraction(0)) - (prices[x] * prior[z] + prior[x] * prices[z]) / 2
            for z in range(k)
        ]
        for x in range(k)
    ]
    constant = up(sum((sum(row, Fraction(0)) for row in table), Fraction(0)))
    d = [up(2 * rise * sum(table[x], Fraction(0)) + rise**2 * table[x][x]) for x in range(k)]
    pair = [[up(2 * rise**2 * table[x][z]) for z in range(k)] for x in range(k)]
    items: list[object] = []
    for node in root.nodes():
        if node.parts is not None:
            items.append(node.at if node.way == "input" else [node.at])
            continue
        inside, outside, fewest, most = node.inside, node.outside, node.fewest, node.most
        number = dyadic_up(Fraction(round(node.e * 2**40), 2**40) * square, 40)
        items.append(rational_text(number))
        e = up(number)
        taken = set(inside) | set(outside)
        free = [x for x in range(k) if x not in taken]
        first, last = max(fewest - len(inside), 0), min(most - len(inside), len(free))
        if first > last:
            continue
        fixed = constant + sum(d[x] for x in inside)
        fixed += sum(pair[x][z] for at, x in enumerate(inside) for z in inside[:at])
        # Halves of the excess, rounded up.
        own = [
            d[x] + sum(pair[x][z] for z in inside) - (-sum(max(0, pair[x][z] - e) for z in free if z != x) // 2)
            for x in free
        ]
        partial = list(accumulate(sorted(own, reverse=True), initial=0))
        height = max(partial[n] + e * (n * (n - 1) // 2) for n in range(first, last + 1))
        size = abs(constant) + sum(map(abs, own)) + abs(e) * k * k + sum(abs(d[x]) for x in inside)
        if fixed + height > -(size >> 80):
            return None
    return items


# -- any other cone -------------------------------------------------------------------------------------


def _by_boxes(
    program: Program, dual: Dual, claim: _Claim, target: float | None, stop: Callable[[], bool]
) -> tuple[list[Fraction], dict[str, object]] | None:
    forms = claim.forms
    found = DesignForms.of(dual).search
    if found is None:
        w = np.array([[float(value) for value in row] for row in forms])
        search = BoxSearch(FormRelaxation(quadratic_forms(ColumnForms.of(program), w, dual.prices)))
        # The loss that the target allows.
        reached = float(claim.gained) - float(dual.prices.sum())
        accept = -math.inf if target is None else reached - target * float(claim.share)
        search.run(accept, Budget(_most_nodes(program, len(forms)), stop))
        found = search.tree
    if not math.isfinite(found.bound):
        return None

    def write(unit: int, prices: list[arb]) -> tuple[list[Any], arb]:
        return _FormLeaves(program, forms, unit).written(found.root, prices)

    unit = unit_for(box.dual for box in found.root.nodes())
    made = raised_tree(write, unit, raised(dual.prices, program.prior), program.prior)
    if made is None:
        return None
    items, prices, unit = made
    return prices, {"unit": str(unit), "boxes": items}


Span = list[tuple[arb, arb]]


class _FormLeaves:
    """Leaves of a box tree with limits on the forms y_j = W_j . v besides."""

    def __init__(self, program: Program, forms: Rows, unit: int) -> None:
        self.columns, self.unit = ColumnLeaves(program, unit), unit
        self.size = program.size
        self.forms = [[ball(value) for value in row] for row in forms]

    def written(self, root: Box, prices: list[arb]) -> tuple[list[Any], arb]:
        """(the elements of `boxes` in preorder, an upper bound of the excess of their leaves)."""
        limits = self.columns.root()
        start = limits, [self._span(row, limits) for row in self.forms]
        return written(root, start, self._branch, lambda box, state: self._leaf(box, prices, *state))

    def _branch(self, box: Box, state: tuple[Limits, Span]) -> tuple[Any, tuple[Limits, Span], tuple[Limits, Span]]:
        limits, spans = state
        if box.at < self.size:
            element, below, above = self.columns.branch(box, limits)
            return element, (below, spans), (above, spans)
        j, c = box.at - self.size, Fraction(round(box.c * 2**40), 2**40)
        low, high = spans[j]
        at = ball(c)
        first, second = list(spans), list(spans)
        first[j] = (low, at if at < high else high)
        second[j] = (at if at > low else low, high)
        return ["y", j, rational_text(c)], (limits, first), (limits, second)

    @staticmethod
    def _span(row: list[arb], limits: Limits) -> tuple[arb, arb]:
        low, high = arb(0), arb(0)
        for w, bottom, top in zip(row, *limits, strict=True):
            assert top is not None  # every weight is positive
            low += w * (bottom if w > 0 else top)
            high += w * (top if w > 0 else bottom)
        return low, high

    def _leaf(self, box: Box, prices: list[arb], limits: Limits, spans: Span) -> tuple[dict[str, Any], arb | None]:
        columns, r = self.columns, len(self.forms)
        scaled = [round(float(value) * self.unit) for value in box.dual]
        # The rows of the search: those of the slice, then one equation W_j.v = y_j for each form.
        tied = [-value for value in scaled[len(scaled) - r :]]
        leaf = columns.leaf(scaled[: len(scaled) - r], [])
        item = columns.item(leaf) | {"e": tied}
        if any(low > high for low, high in spans):
            return item, arb(EMPTY)
        unit = arb(self.unit)
        shifted = list(prices)
        for e, row in zip(tied, self.forms, strict=True):
            if e:
                amount = arb(e) / unit
                shifted = [price - amount * w for price, w in zip(shifted, row, strict=True)]
        left = columns.left(limits, shifted, leaf)
        if left is None:
            return item, None
        for e, (low, high) in zip(tied, spans, strict=True):
            left += largest_end(low + high - arb(e) / unit, low, high) - low * high
        return item, left


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | Refusal | None:
    """Risks of designs."""
    if not isinstance(program.utility, DesignUtility):
        return None
    if program.rows or program.outputs is not None or dual is None or dual.evidence_of(DesignForms) is None:
        return Refusal("the search ended before it had dual variables that prove a lower bound of the risk")
    least = None if wanted.attained is None else wanted.attained - 0.9 * wanted.effort.allowed
    proof = prove_design(program, dual, least, wanted.effort.closing())
    return Refusal("no tree bounds the columns at the dual variables found") if proof is None else proof
