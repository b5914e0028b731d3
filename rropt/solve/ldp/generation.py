"""Column generation under LDP: informations priced by a knapsack search, at any number of inputs.

The universal bound is compared in every round: where sets of the right mass cover all inputs evenly it is nearly
attained, and one linear programme over such sets is enough.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rropt.program.cones import FloatArray
from rropt.program.programs import ChiSquare, ColumnSum, Information, Program, Utility
from rropt.solve.kernel.curves import curve_of
from rropt.solve.kernel.master import Priced, generate, tie_groups
from rropt.solve.kernel.rays import ENUMERATED
from rropt.solve.kernel.route import Answer, Effort, MatrixDraft
from rropt.solve.ldp.enumeration import Staircases
from rropt.solve.ldp.neighbourhood import exchanged
from rropt.solve.ldp.pricing import LdpPricer
from rropt.solve.ldp.starts import balanced_sets, cyclic_sets, rotations, uneven_groups
from rropt.solve.ldp.universal import attained_price

GROUPS = 64
"""Inputs beyond GROUPED are first merged into this many groups of nearly equal mass."""
GROUPED = 96
"""Inputs up to which the first columns are those of single inputs."""
LARGEST = 2048
"""Inputs up to which columns are generated for each of them: their table has some ten times its square of cells."""


NODES = (160, 640, 2560, 10_240)
"""Nodes of one pricing search, level by level: more only where fewer found neither a column nor a proof."""


ADDED = 3
"""Columns added a round, for each input."""


def solve_ldp(program: Program, effort: Effort) -> Answer:
    """The best mechanism for an information under LDP."""
    if program.size > GROUPED:
        # Treating inputs of a group alike loses little where the groups are small; the universal bound limits the
        # loss.
        merged = _merge(program, effort)
        if merged is not None:
            return merged
    return _generate(program, effort, search=True)


def _merge(program: Program, effort: Effort) -> Answer | None:
    """The answer for merged inputs, spread out again, where it is within the gap of the universal bound, or where
    finer groups are too many."""
    p = np.array([float(value) for value in program.prior])
    group = uneven_groups(p, GROUPS)
    weights = tuple(sum(program.weights[x] for x in np.flatnonzero(group == g).tolist()) for g in range(GROUPS))
    labels = tuple(map(str, range(GROUPS)))
    small = replace(program, inputs=labels, weights=weights, utility=_at(program.utility, weights))
    answer = _generate(small, effort, search=False)
    ceiling, _ = attained_price(program.weights, curve_of(program))
    found = answer.claim.objective
    if answer.matrix is None or found is None:
        return None if program.size <= LARGEST else replace(answer, dual=None)
    if program.size <= LARGEST and ceiling - found > effort.allowed / 2:
        return None
    return replace(answer, draft=MatrixDraft(answer.matrix[group]), dual=None)


def _at(utility: Utility, weights: tuple[int, ...]) -> Utility:
    """The same information of other inputs."""
    assert isinstance(utility, (Information, ChiSquare))
    return replace(utility, weights=weights)


def _generate(program: Program, effort: Effort, search: bool) -> Answer:
    """Column generation from balanced and cyclic sets; without `search`, those sets only."""
    assert isinstance(program.utility, ColumnSum)
    k, curve = program.size, curve_of(program)
    gamma = curve.gamma
    p = np.array([float(value) for value in program.prior])
    ceiling, masses = attained_price(program.weights, curve)
    ties = tie_groups(program.weights)
    alone = np.eye(k, dtype=bool)
    sets = np.hstack(
        [np.zeros((k, 1), dtype=bool), alone, ~alone]
        + [balanced_sets(p, mass, 3 * k) for mass in masses]
        + [cyclic_sets(p, mass) for mass in masses]
    )

    every = Staircases.of(program.utility, p, gamma) if search and k <= ENUMERATED else None

    def price(a: FloatArray, level: int) -> Priced:
        if not search:
            return Priced(np.inf, np.zeros((k, 0)))
        if every is not None:
            return every.price(a)
        pricer = LdpPricer(program.weights, curve, a)
        found = pricer.search(effort.allowed / 8, NODES[level], lambda: bool(effort.stopped()))
        good = sorted(((price, key) for key, price in found.corners.items() if price > 0), reverse=True)
        best = [np.frombuffer(key, dtype=np.uint8) for _, key in good[: ADDED * k]]
        columns = list(np.unpackbits(np.array(best), axis=1, count=k).astype(bool)) if best else []
        if columns:
            columns += list(exchanged(pricer.knapsack, np.array(columns)))
        if ties:
            columns = [turned for members in columns for turned in rotations(members, ties, k).T]
        table = np.array(columns).T if columns else np.zeros((k, 0), dtype=bool)
        return Priced(found.bound, np.where(table, gamma, 1.0))

    levels = 1 if every is not None or not search else len(NODES)
    return generate(program.utility, np.where(sets, gamma, 1.0), p, price, effort, ties, ceiling, levels)
