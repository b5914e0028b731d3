"""The `columns` route: column generation, priced exactly by branch and bound.

Mutual information and chi-square information under LDP are priced by a knapsack search at any number of inputs. The
universal bound competes all along: where sets of the right mass cover all inputs evenly it is nearly attained, and one
linear programme over such sets is enough. Every other convex objective and cone is priced by boxes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rropt.block_cones import RobustCone
from rropt.cones import FloatArray, FreeCone
from rropt.design_utilities import DesignUtility
from rropt.errors import Refusal
from rropt.programs import BayesGain, ChiSquare, ColumnSum, Information, Program, Utility
from rropt.routes.base import Answer, Effort, Route, SolverClaim
from rropt.routes.boxes import STALE, BoxPricer, ColumnForms
from rropt.routes.crew import Crew
from rropt.routes.curves import curve_of, has_curve
from rropt.routes.designs import solve_design
from rropt.routes.elastic import farkas_candidate
from rropt.routes.exchanges import exchanged
from rropt.routes.master import Priced, generate, tie_groups
from rropt.routes.pricing import LdpPricer
from rropt.routes.rays import ENUMERATED
from rropt.routes.robust import solve_robust
from rropt.routes.staircases import Staircases
from rropt.routes.starts import balanced_sets, cyclic_sets, rotations, uneven_groups
from rropt.routes.universal import attained_price

GROUPS = 64
"""Inputs beyond GROUPED are first merged into this many groups of nearly equal mass."""
GROUPED = 96
NODES = (160, 640, 2560, 10_240)
"""Nodes of one pricing search, level by level: more only where fewer found neither a column nor a proof."""
BOXES = (300, 3_000, 30_000, 300_000, 3_000_000)
"""Boxes of one pricing search on a general cone, level by level after the local search that comes first."""
LAST = 0.6
"""The share of a time limit after which prices no longer change and one search goes on to the end."""
ADDED = 3
"""Columns added a round, for each input."""


class ColumnsRoute(Route):
    """Column generation for convex objectives on any cone."""

    name = "columns"
    because = "the objective is convex in every column: rays are generated, priced exactly, and never listed"

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if solver not in (None, "highs"):
            return Refusal(f"columns knows the solver highs only, not {solver!r}", "leave the solver out")
        risk = isinstance(program.utility, DesignUtility) and program.sense == "minimize"
        if not risk and (not isinstance(program.utility, ColumnSum) or program.sense == "minimize"):
            return Refusal("columns maximises convex objectives and minimises risks only", "use route auto")
        if isinstance(program.cone, FreeCone):
            return Refusal("columns needs a cone that bounds the columns", "add LDP, or use route linear")
        if program.structure is not None:
            return Refusal("columns takes no structure of the whole matrix", "use route branch")
        if program.rows:
            return Refusal(
                "columns takes no constraints on the whole matrix",
                "leave those out, or maximise trace or expected_gain by route linear",
            )
        if isinstance(program.utility, ColumnSum) and program.utility.gradient(np.ones((program.size, 1))) is None:
            return Refusal(
                "columns needs the objective's gradient", "give UserColumnSum a slope, or use route vertices"
            )
        return None

    def solve(self, program: Program, effort: Effort) -> Answer:
        utility = program.utility
        if isinstance(utility, DesignUtility):
            return solve_design(program, effort)
        assert isinstance(utility, ColumnSum)
        if isinstance(program.cone, RobustCone):
            return solve_robust(program, effort)
        if not has_curve(program):
            return _boxed(program, utility, effort)
        if program.size > GROUPED:
            # Treating inputs of a group alike loses little where the groups are small, and the universal bound
            # says how little.
            merged = _merged(program, effort)
            if merged is not None:
                return merged
        return _generated(program, effort, search=True)


def _boxed(program: Program, utility: ColumnSum, effort: Effort) -> Answer:
    """The answer for any cone, with the help of other processes where the search is long."""
    with Crew(effort.workers, effort.remaining) as crew:
        answer = _by_boxes(program, utility, effort, crew)
    return replace(answer, notes=(*answer.notes, *crew.notes))


def _by_boxes(program: Program, utility: ColumnSum, effort: Effort, crew: Crew) -> Answer:
    """Column generation on any cone: columns from local searches, the bound from boxes (or, where a Bayes gain is
    linear for every action, from one linear programme an action)."""
    k = program.size
    forms = ColumnForms.of(program)
    p = np.array([float(value) for value in program.prior])
    pricer = BoxPricer(forms, utility, effort, crew)
    searchable = isinstance(utility, (Information, ChiSquare))

    def price(a: FloatArray, level: int) -> Priced:
        if isinstance(utility, BayesGain):
            return Priced(*pricer.every_action(a, utility))
        if not searchable:
            return Priced(np.inf, pricer.look(a))
        if pricer.settled:
            return Priced(np.inf, np.zeros((k, 0)))
        left = effort.remaining()
        if left is not None and effort.time_limit is not None and left < LAST * effort.time_limit:
            columns = pricer.look(a)
            if level == 0 and pricer.gains() > STALE and left > LAST / 2 * effort.time_limit:
                # Columns are easily found, or the prices are those half way: the bound would be worse by the gain.
                return Priced(np.inf, columns)
            # What is left of the time goes into one bound; the columns that it meets still improve the mechanism.
            return Priced(*pricer.search(a, effort.gap / 8, BOXES[-1], settle=True))
        if level == 0:
            return Priced(np.inf, pricer.look(a))
        return Priced(*pricer.search(a, effort.gap / 8, BOXES[level - 1]))

    if not pricer.holds(np.ones(k)):
        # Columns sum to the constant one, so it lies in the cone wherever a mechanism exists.
        claim = SolverClaim("highs", "the constant column is outside the cone", None, 0.0)
        return Answer(claim, farkas=farkas_candidate(program, effort))
    start = pricer.starts()
    answer = generate(utility, start, p, price, effort, [], levels=1 + len(BOXES) if searchable else 1)
    if answer.dual is None:
        return answer
    return replace(answer, dual=replace(answer.dual, search=pricer.tree(answer.dual.prices)))


def _merged(program: Program, effort: Effort) -> Answer | None:
    """The answer for merged inputs, spread out again, where it is within the gap of the universal bound."""
    p = np.array([float(value) for value in program.prior])
    group = uneven_groups(p, GROUPS)
    weights = tuple(sum(program.weights[x] for x in np.flatnonzero(group == g).tolist()) for g in range(GROUPS))
    labels = tuple(map(str, range(GROUPS)))
    small = replace(program, inputs=labels, weights=weights, utility=_at(program.utility, weights))
    answer = _generated(small, effort, search=False)
    ceiling, _ = attained_price(program.weights, curve_of(program))
    found = answer.claim.objective
    if answer.matrix is None or found is None or ceiling - found > effort.gap / 2:
        return None
    return replace(answer, matrix=answer.matrix[group], dual=None)


def _at(utility: Utility, weights: tuple[int, ...]) -> Utility:
    """The same information of other inputs."""
    assert isinstance(utility, (Information, ChiSquare))
    return replace(utility, weights=weights)


def _generated(program: Program, effort: Effort, search: bool) -> Answer:
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
        found = pricer.search(effort.gap / 8, NODES[level], lambda: bool(effort.stopped()))
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
