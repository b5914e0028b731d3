"""Bounds of many boxes at once: their linear programmes solved together by an interior-point method over arrays.

HiGHS takes one programme at a time, and most of that time goes into calling it. Here one array operation moves a
hundred programmes one step (Mehrotra's predictor and corrector); those that are done leave, and others take their
places. The result of a box is its multipliers: any multipliers give a valid bound, so accuracy matters for speed only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from rropt.program.cones import FloatArray
from rropt.solve.engine.boxes.tree import FEASIBLE, Box, SeparableForms
from rropt.solve.engine.budget import STEPS

LOOSE = 0.05
"""A bound is good enough for splitting when its error is this share of its distance above the wanted one."""
NEAR = 0.995
"""The share of the way to the boundary that one step goes."""
SMALLEST = 1e-14
"""Complementarity below which a step gains nothing in doubles."""
SPARED = 0.01
"""The loss by that which an open bound allows, as a share of its distance above the wanted one."""
DENSE = 4096
"""Entries of the rows up to which they are kept as a dense table, which is the faster of the two for complete metrics
of 8 inputs and the slower on paths."""
SPARING = 10.0 ** -np.arange(1, 9)
"""Flows below this share of a box's largest are left out where the bound allows it: certificates of random metrics of 7
and 8 inputs become a fifth as long, those of paths stay as they are."""


class BoxPool:
    """Boxes of one problem whose bounds are on the way. `enough` is the required bound of each."""

    def __init__(self, problem: SeparableForms) -> None:
        self.problem = problem
        self.boxes: list[Box] = []
        signs = np.where(np.isfinite(problem.row_upper), 1.0, -1.0)
        equal = problem.row_lower == problem.row_upper
        sides = np.where(signs > 0, problem.row_upper, -problem.row_lower)
        rows = signs[:, None] * problem.dense
        self._all_signs, self._equal = signs, np.flatnonzero(equal)
        self._pairs, implied = _opposite(rows, sides, equal)
        self._rest = np.flatnonzero(~equal & ~implied)
        self._signs, self._sides, self._rows = signs[self._rest], sides[self._rest], rows[self._rest]
        first = self._pairs[:, 0]
        self._ties = np.concatenate([problem.dense[self._equal], rows[first]])
        self._right = np.concatenate([problem.row_upper[self._equal], sides[first]])
        thin = sparse.csr_matrix(self._rows)
        # A product with a sparse matrix costs more to call than a small dense one costs to do.
        small = self._rows.size <= DENSE
        self._down: Any = self._rows if small else thin
        self._across: Any = self._rows.T.copy() if small else thin.T.tocsr()
        # Row i of `outer` is the outer product of row i with itself: weighted sums of those are one product.
        width = self._rows.shape[1]
        places = [
            ((thin.indices[a:b][:, None] * width + thin.indices[a:b]).ravel(), np.outer(v, v).ravel())
            for a, b in zip(thin.indptr[:-1], thin.indptr[1:], strict=True)
            for v in (thin.data[a:b],)
        ]
        lengths = np.array([len(at) for at, _ in places], dtype=int)
        at = np.concatenate([at for at, _ in places]) if places else np.zeros(0, dtype=int)
        values = np.concatenate([value for _, value in places]) if places else np.zeros(0)
        owner = np.repeat(np.arange(len(places)), lengths)
        self._outer = sparse.csr_matrix((values, (at, owner)), shape=(width * width, len(places)))
        self._state: dict[str, FloatArray] = {}

    @staticmethod
    def takes(problem: SeparableForms) -> bool:
        """Whether this can solve the boxes of a problem: no tangents, and every variable has finite limits."""
        one_sided = np.isinf(problem.row_lower) != np.isinf(problem.row_upper)
        return (
            not len(problem.masses)
            and bool((one_sided | (problem.row_lower == problem.row_upper)).all())
            and bool(np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all())
        )

    @property
    def bound(self) -> float:
        """The largest bound that a box in flight has so far."""
        return max((box.bound for box in self.boxes), default=-np.inf)

    def screen(self, boxes: Sequence[Box], enough: float) -> list[Box]:
        """Bound boxes by the multipliers that they have, and admit those that need more; the others are returned."""
        if not boxes:
            return []
        table = self._begun(boxes)
        table["best"] = bounds = self._bounds(table)
        closed, others = _sorted(boxes, bounds, enough)
        table = {name: values[bounds > enough] for name, values in table.items()}
        self._state = {n: np.concatenate([self._state[n], v]) for n, v in table.items()} if self._state else table
        self.boxes += others
        return closed

    def sort(self, boxes: Sequence[Box], enough: float) -> tuple[list[Box], list[Box]]:
        """Bound boxes by the multipliers that they have; (those for which that is enough, the others)."""
        return _sorted(boxes, self._bounds(self._price(boxes)), enough) if boxes else ([], [])

    def _price(self, boxes: Sequence[Box]) -> dict[str, FloatArray]:
        """The limits of boxes, their costs by the chords, and the multipliers that they have."""
        problem = self.problem
        dual = np.array([box.dual for box in boxes])
        lower, upper = np.array([box.lower for box in boxes]), np.array([box.upper for box in boxes])
        alpha, beta = problem.curve.chord(lower, upper)
        flows = np.maximum(self._all_signs * dual, 0.0)
        return {
            "lower": lower,
            "upper": upper,
            "cost": problem.shares * alpha + problem.cost,
            "constant": problem.constant + beta @ problem.shares,
            "best f": flows[:, self._rest],
            "best nu": np.hstack([dual[:, self._equal], flows[:, self._pairs[:, 0]] - flows[:, self._pairs[:, 1]]]),
        }

    def _begun(self, boxes: Sequence[Box]) -> dict[str, FloatArray]:
        """The start of the method: the middle of each box, and multipliers of the size of its costs. `slack` and `z`
        belong to the rows, then to the lower limits, then to the upper ones."""
        costed = self._price(boxes)
        lower, upper, cost = costed["lower"], costed["upper"], costed["cost"]
        half = np.maximum(0.5 * (upper - lower), 1e-12 * np.maximum(np.abs(upper), 1e-3))
        v = lower + half
        size = np.maximum(np.abs(cost).max(axis=1), 1e-3)[:, None]
        rows = np.maximum(self._sides - self._product(v), 0.2 * half.mean(axis=1)[:, None] + 1e-9)
        count = rows.shape[1]
        return {
            **costed,
            "v": v,
            "slack": np.hstack([rows, half, half]),
            "z": np.repeat(np.hstack([0.1 * size, 0.3 * size]), [count, 2 * v.shape[1]], axis=1),
            "nu": np.zeros((len(boxes), len(self._right))),
            "steps": np.zeros(len(boxes)),
        }

    def _product(self, v: FloatArray) -> FloatArray:
        """Rows times points: (boxes, variables) to (boxes, rows)."""
        return np.asarray(v @ self._across)

    def _residual(self, table: dict[str, FloatArray], f: FloatArray, nu: FloatArray) -> FloatArray:
        return np.asarray(table["cost"] - f @ self._down - nu @ self._ties)

    def _prove(self, table: dict[str, FloatArray], f: FloatArray, nu: FloatArray, rest: FloatArray) -> FloatArray:
        """The bound that multipliers prove for each box; `rest` are the reduced costs."""
        ends = np.maximum(rest * table["lower"], rest * table["upper"]).sum(axis=1)
        return np.asarray(table["constant"] + f @ self._sides + nu @ self._right + ends)

    def _bounds(self, table: dict[str, FloatArray]) -> FloatArray:
        f, nu = table["best f"], table["best nu"]
        return self._prove(table, f, nu, self._residual(table, f, nu))

    def advance(self, enough: float) -> list[Box]:
        """Take one step with every box, and return those that are done: bounded by `enough`, or known not to be, with
        the optimum of their linear programme and the errors of its chords. A box that failed has no point."""
        s = self._state
        f = s["z"][:, : len(self._sides)]
        with np.errstate(invalid="ignore"):
            rest = self._residual(s, f, s["nu"])
            bound = self._prove(s, f, s["nu"], rest)
        # Bounds are convex in the multipliers. On an empty box these grow without end, and large ones would cost the
        # others their digits in a certificate: only so much of a step is taken as closes the box.
        drop = s["best"] - bound
        with np.errstate(divide="ignore", invalid="ignore"):
            taken = np.where(bound <= enough, np.minimum(1.0, 1.1 * (s["best"] - enough) / drop), 1.0)
        taken = np.where(drop > 0, taken, 0.0)
        s["best"] = np.where(drop > 0, s["best"] - taken * drop, s["best"])
        # Those of a box that failed may be infinite: it keeps what it had, as even no step toward them is not a number.
        moves = (drop > 0)[:, None]
        with np.errstate(invalid="ignore"):
            nearer = np.maximum(s["best f"] + taken[:, None] * (f - s["best f"]), 0.0)
            s["best f"] = np.where(moves, nearer, s["best f"])
            s["best nu"] = np.where(moves, s["best nu"] + taken[:, None] * (s["nu"] - s["best nu"]), s["best nu"])
        off = self._sides - self._product(s["v"]) - s["slack"][:, : len(self._sides)]
        untied = self._right - s["v"] @ self._ties.T
        missing = np.abs(off).max(axis=1, initial=0.0) + np.abs(untied).max(axis=1, initial=0.0)
        mean = (s["z"] * s["slack"]).mean(axis=1)
        value = s["constant"] + (s["cost"] * s["v"]).sum(axis=1)
        s["steps"] = s["steps"] + 1
        closed = s["best"] <= enough
        open_ = (missing < FEASIBLE) & (value > enough) & (s["best"] - value <= LOOSE * (value - enough))
        done = closed | open_ | (s["steps"] > STEPS) | ~(mean > SMALLEST) | ~np.isfinite(bound)
        finished: list[Box] = []
        if done.any():
            finished = self._finish(np.flatnonzero(done), closed, missing < FEASIBLE, enough)
            keep = ~done
            self.boxes = [box for box, stays in zip(self.boxes, keep.tolist(), strict=True) if stays]
            self._state = s = {name: values[keep] for name, values in s.items()}
            if not self.boxes:
                self._state = {}
                return finished
            off, untied, mean, rest = off[keep], untied[keep], mean[keep], rest[keep]
        # A box whose numbers overflow has no finite bound, and leaves after the step.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            self._step(s, off, untied, rest, mean)
        return finished

    def _finish(self, done: np.ndarray, closed: np.ndarray, feasible: np.ndarray, enough: float) -> list[Box]:
        """Write the results of boxes that are done into them."""
        s = {name: values[done] for name, values in self._state.items()}
        problem = self.problem
        self._spare(s, enough)
        dual = np.zeros((len(done), len(problem.row_lower)))
        dual[:, self._rest] = self._signs * s["best f"]
        dual[:, self._equal] = s["best nu"][:, : len(self._equal)]
        both = s["best nu"][:, len(self._equal) :]
        for at, flow in zip(self._pairs.T, (both, -both), strict=True):
            dual[:, at] = self._all_signs[at] * np.maximum(flow, 0.0)
        points = np.clip(s["v"], s["lower"], s["upper"])
        alpha, beta = problem.curve.chord(s["lower"], s["upper"])
        errors = problem.shares * (alpha * points + beta - problem.curve.value(points))
        boxes = [self.boxes[i] for i in done.tolist()]
        for i, box in enumerate(boxes):
            box.bound, box.dual = float(s["best"][i]), dual[i]
            if feasible[done[i]] and not closed[done[i]]:
                box.point, box.error = points[i], errors[i]
        return boxes

    def _spare(self, s: dict[str, FloatArray], enough: float) -> None:
        """Leave small flows out of the multipliers, as many as the bound allows."""
        f, nu, best = s["best f"], s["best nu"], self._bounds(s)
        allowed = np.where(best <= enough, enough, best + SPARED * (best - enough))
        chosen, bounds, found = f.copy(), best.copy(), np.zeros(len(f), dtype=bool)
        largest = f.max(axis=1, initial=0.0)[:, None]
        for share in SPARING:
            fewer = np.where(f >= share * largest, f, 0.0)
            bound = self._prove(s, fewer, nu, self._residual(s, fewer, nu))
            take = ~found & (bound <= allowed)
            chosen[take], bounds[take] = fewer[take], bound[take]
            found |= take
            if found.all():
                break
        s["best f"], s["best"] = chosen, bounds

    def _step(
        self, s: dict[str, FloatArray], off: FloatArray, untied: FloatArray, rest: FloatArray, mean: FloatArray
    ) -> None:
        """One step: the rows miss `off` and `untied`, multipliers leave `rest` of the costs; `mean` complementarity."""
        z, slack = s["z"], s["slack"]
        rows = off.shape[1]
        count, width = s["v"].shape
        weight = z / slack
        uneven = rest + z[:, rows : rows + width] - z[:, rows + width :]
        matrix = np.ascontiguousarray((self._outer @ weight[:, :rows].T).T).reshape(count, width, width)
        diagonal = np.arange(width)
        matrix[:, diagonal, diagonal] += weight[:, rows : rows + width] + weight[:, rows + width :]
        # The correction of the rows' multipliers for the missing slack.
        uneven += (weight[:, :rows] * off) @ self._down

        def right(r: FloatArray) -> FloatArray:
            part = r / slack
            drawn = part[:, :rows] @ self._down
            return np.asarray(uneven - drawn + part[:, rows : rows + width] - part[:, rows + width :])

        def direction(r: FloatArray, plain: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
            turn = _solved(inner, (plain @ self._ties.T - untied)[:, :, None])
            move = plain - (tied @ turn)[:, :, 0]
            widen = np.concatenate([off - self._product(move), move, -move], axis=1)
            return np.asarray(move), np.asarray(turn[:, :, 0]), widen, np.asarray((r - z * widen) / slack)

        product = z * slack
        ties = np.broadcast_to(self._ties.T, (count, width, len(self._right)))
        both = _solved(matrix, np.concatenate([ties, right(-product)[:, :, None]], axis=2))
        tied = both[:, :, :-1]
        inner = self._ties @ tied
        _, _, widen, gain = direction(-product, both[:, :, -1])
        ahead, across = np.minimum(1.0, _longest(slack, widen)), np.minimum(1.0, _longest(z, gain))
        share = ((z + across * gain) * (slack + ahead * widen)).mean(axis=1) / mean
        aim = (np.clip(share**3, 1e-6, 1.0) * mean)[:, None]
        r = aim - product - gain * widen
        move, turn, widen, gain = direction(r, _solved(matrix, right(r)[:, :, None])[:, :, 0])
        # A little short of the boundary, but whole steps are taken whole: they leave no residual.
        ahead = np.minimum(1.0, NEAR * _longest(slack, widen))
        across = np.minimum(1.0, NEAR * _longest(z, gain))
        s["v"], s["slack"] = s["v"] + ahead * move, slack + ahead * widen
        s["z"], s["nu"] = z + across * gain, s["nu"] + across * turn


def _sorted(boxes: Sequence[Box], bounds: FloatArray, enough: float) -> tuple[list[Box], list[Box]]:
    """(the boxes for which their new bounds are enough, the others)."""
    parts: tuple[list[Box], list[Box]] = [], []
    for box, bound in zip(boxes, bounds.tolist(), strict=True):
        box.bound = bound
        parts[bound > enough].append(box)
    return parts


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solutions of n systems (n x k x k, n x k x c), by least squares where singular, and zero where not finite."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        found = np.zeros(right.shape)
    for own, wanted, answer in zip(matrix, right, found, strict=True):
        if np.isfinite(own).all() and np.isfinite(wanted).all():
            try:
                answer[:] = np.linalg.solve(own, wanted)
            except np.linalg.LinAlgError:
                answer[:] = np.linalg.lstsq(own, wanted, rcond=None)[0]
    return found


def _longest(value: FloatArray, step: FloatArray) -> FloatArray:
    """(boxes, 1): how far positive values may go along a step before one of them reaches zero."""
    return np.asarray(1.0 / np.maximum((step / value).min(axis=1, initial=0.0) * -1.0, 1e-3)[:, None])


def _opposite(rows: FloatArray, sides: FloatArray, equal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of inequalities that say together that a form is one number, as (pairs, 2), and which rows these and others
    like them imply: between two such rows a point has no slack, and an interior-point method has nowhere to stand."""
    known: dict[bytes, int] = {}
    pairs: list[tuple[int, int]] = []
    implied = np.zeros(len(rows), dtype=bool)
    ties = [rows[at] for at in np.flatnonzero(equal)]
    for at in np.flatnonzero(~equal).tolist():
        other = known.get((-rows[at] + 0.0).tobytes())
        known.setdefault((rows[at] + 0.0).tobytes(), at)
        if other is None or implied[other] or sides[other] != -sides[at]:
            continue
        implied[[at, other]] = True
        if np.linalg.matrix_rank(np.array([*ties, rows[at]])) > len(ties):
            ties.append(rows[at])
            pairs.append((other, at))
    return np.array(pairs, dtype=int).reshape(-1, 2), implied
