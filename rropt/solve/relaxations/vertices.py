"""The `vertices` method: extreme rays of the cone, then the linear programme over columns.

For LDP the 2^k - 2 staircase rays are known in closed form and are priced by enumeration; for any other
polyhedral cone they come from cddlib.

The `columns` method: column generation, priced exactly by branch and bound.

Mutual information and chi-square information under LDP are priced by a knapsack search at any number of inputs. The
universal bound is compared in every round: where sets of the right mass cover all inputs evenly it is nearly attained,
and one linear programme over such sets is enough. Every other convex objective and cone is priced by boxes.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from rropt.errors import Refusal, counted
from rropt.program.block_cones import RobustCone
from rropt.program.cones import CompleteCone, FloatArray, FreeCone, GraphCone, base_cone
from rropt.program.design_utilities import DesignUtility
from rropt.program.programs import ColumnSum, Linear, Program
from rropt.solve.columns.boxes import solve_boxed
from rropt.solve.designs.designs import solve_design
from rropt.solve.engine.curves import has_curve
from rropt.solve.engine.lp import LpModel
from rropt.solve.engine.master import Priced, column_model, generate, tie_groups
from rropt.solve.engine.method import Answer, Dual, MatrixDraft, Method, SolveLimits, SolverClaim
from rropt.solve.engine.polyhedral import (
    cdd_rays,
    cyclic_intervals,
    farkas_candidate,
    model_sides,
    signed_costs,
    staircase,
)
from rropt.solve.entropy.solvers import mixture_of_columns, unsuited
from rropt.solve.ldp.generation import Staircases, solve_ldp
from rropt.solve.metric.generation import solve_labels
from rropt.solve.metric.labels import Labels
from rropt.solve.metric.search import BOXED
from rropt.solve.robust.robust import solve_robust


class ColumnsMethod(Method):
    """Column generation for convex objectives on any cone."""

    name = "columns"
    because = "the objective is convex in every column: rays are generated, priced exactly, and never listed"
    takes = (RobustCone,)
    goals = "maximises convex objectives and minimises risks only"
    solvers = ("highs",)

    def takes_goal(self, program: Program) -> bool:
        return isinstance(program.utility, ColumnSum if program.sense == "maximize" else DesignUtility)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        if isinstance(program.cone, FreeCone):
            return Refusal("columns needs a cone that bounds the columns", "add LDP")
        if program.rows:
            return Refusal(
                "columns does not take constraints on the whole matrix",
                "leave those out, or maximise trace or expected_gain by method linear",
            )
        if isinstance(program.utility, ColumnSum) and program.utility.gradient(np.ones((program.size, 1))) is None:
            return Refusal(
                "columns needs the objective's gradient", "give UserColumnSum a slope, or use method vertices"
            )
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        utility = program.utility
        if isinstance(utility, DesignUtility):
            return solve_design(program, effort)
        assert isinstance(utility, ColumnSum)
        if isinstance(program.cone, RobustCone):
            return solve_robust(program, effort)
        if has_curve(program):
            return solve_ldp(program, effort)
        labels = Labels.of(program) if program.size > BOXED else None
        if labels is not None:
            return solve_labels(program, utility, labels, effort)
        return solve_boxed(program, utility, effort)


ENUMERATED = 20
"""Largest k whose 2^k staircase rays are priced by enumeration (8 MB an array at 20)."""
LARGEST_PRODUCT = 300_000
"""Largest number of (output, ray) variables of a linear utility."""
LARGEST_HANDED = 12
"""Largest k whose rays are listed for a solver of the user's own."""
LEAST_WEIGHT, DUST = 1e-12, 1e-7
"""The weight below which a ray is left out, and the share of the largest one where a solver gives no vertices."""

LARGEST_CDD = 12
"""Largest k that is handed to cddlib."""
LARGEST_GRAPH = 7
"""Largest k of a graph of ratios that is handed to cddlib: it may have C(2k - 2, k - 1) rays."""

OWN = "highs"


class VerticesMethod(Method):
    """Columns are mixtures of extreme rays: convex utilities are maximised there."""

    name = "vertices"
    because = "the objective is convex in every column, so extreme rays of the cone suffice"
    goals = "takes linear objectives and the maximum of convex ones only"

    def takes_goal(self, program: Program) -> bool:
        convex = isinstance(program.utility, ColumnSum) and program.sense == "maximize"
        return convex or isinstance(program.utility, Linear)

    def waits(self, program: Program) -> bool:
        # Of blocks of inputs method columns proves more, and has no limit of size.
        return isinstance(program.cone, RobustCone)

    def refuse(self, program: Program, solver: str | None) -> Refusal | None:
        k = program.size
        if solver not in (None, OWN):
            return unsuited(str(solver)) or self._unlisted(program, str(solver))
        if isinstance(program.utility, ColumnSum) and program.rows:
            return Refusal(
                "vertices takes convex objectives without constraints on the whole matrix only",
                "leave those out, or maximise trace or expected_gain by method linear",
            )
        if isinstance(program.cone, CompleteCone):
            if isinstance(program.utility, Linear) and (1 << k) * len(program.outputs or ()) > LARGEST_PRODUCT:
                outputs = counted(len(program.outputs or ()), "outputs")
                return Refusal(
                    f"vertices cannot take {k} inputs with {outputs} (2**{k} patterns each)", "use method linear"
                )
            if k > ENUMERATED:
                return Refusal(
                    f"vertices cannot take {k} inputs (2**{k} patterns; {ENUMERATED} at most)",
                    "use method columns, or merge inputs",
                )
            return None
        if not isinstance(program.cone, FreeCone):
            most = LARGEST_GRAPH if isinstance(base_cone(program.cone.general()), GraphCone) else LARGEST_CDD
            if k > most:
                return Refusal(f"vertices hands at most {most} such inputs to cddlib, not {k}", "use method columns")
            return None
        return Refusal("vertices needs a cone that bounds ratios", "add LDP")

    def _unlisted(self, program: Program, solver: str) -> Refusal | None:
        """Why a solver of the user's own cannot have the programme over all rays."""
        own = self.refuse(program, None)
        if own is not None:
            return own
        if not isinstance(program.utility, ColumnSum):
            return Refusal(
                f"vertices uses {solver} for convex objectives only", "use method conic, or leave the solver out"
            )
        if program.size > LARGEST_HANDED:
            return Refusal(f"vertices uses {solver} for at most {LARGEST_HANDED} inputs", "leave the solver out")
        return None

    def solve(self, program: Program, effort: SolveLimits) -> Answer:
        listed = effort.solver not in (None, OWN)
        if isinstance(program.cone, CompleteCone) and isinstance(program.utility, ColumnSum) and not listed:
            return self._staircases(program, program.utility, program.cone, effort)
        if isinstance(program.cone, CompleteCone):
            rays: FloatArray | Refusal = staircase(
                np.arange(1 << program.size), program.size, float(program.cone.level.ratio)
            )
        else:
            rays = cdd_rays(program.cone.general(), program.size)
        if isinstance(rays, Refusal):
            return self._otherwise(program, effort, rays)
        if isinstance(program.utility, ColumnSum):
            answer = self._list(program, program.utility, rays, effort)
        else:
            answer = self._linear(program, rays, effort)
        if answer.draft is None and not answer.claim.stopped:
            why = f"{effort.solver} {answer.claim.status}" if listed else "cddlib lost rays of this cone"
            return self._otherwise(program, effort, Refusal(why))
        return answer

    @staticmethod
    def _otherwise(program: Program, effort: SolveLimits, why: Refusal) -> Answer:
        """The answer of the next method where cddlib fails: ratios beyond a thousand are too large for its floats."""
        other = effort.method("linear") if isinstance(program.utility, Linear) else effort.method("columns")
        if other.refuse(program, None) is not None:
            return Answer(SolverClaim("cddlib", str(why), None, 0.0, (str(why),)))
        answer = other.solve(program, effort)
        return answer.with_notes(f"{why.why}: method {other.name} took the problem")

    @staticmethod
    def _staircases(program: Program, utility: ColumnSum, cone: CompleteCone, effort: SolveLimits) -> Answer:
        """Column generation over the staircase rays, priced by enumeration of all of them."""
        k, gamma = program.size, float(cone.level.ratio)
        p = np.array([float(value) for value in program.prior])
        by_prior = np.argsort(-p, kind="stable")
        apart = np.concatenate([by_prior[::2], by_prior[1::2]])
        first = np.unique(np.concatenate([[0], cyclic_intervals(by_prior, k), cyclic_intervals(apart, k)]))
        every = Staircases.of(utility, p, gamma)

        def price(a: FloatArray, level: int) -> Priced:
            return every.price(a)

        # Informations treat inputs of equal prior alike; a gain matrix need not.
        ties = tie_groups(program.weights) if has_curve(program) else []
        return generate(utility, staircase(first, k, gamma), p, price, effort, ties)

    @staticmethod
    def _list(program: Program, utility: ColumnSum, rays: FloatArray, effort: SolveLimits) -> Answer:
        """One linear programme over all rays of a cone that cddlib enumerated."""
        name, worth = effort.solver or OWN, utility.mu(rays)
        if rays.shape[1] == 0:
            return Answer(SolverClaim(name, "no rays", None, 0.0), farkas_candidate(program, effort))
        notes: tuple[str, ...] = ()
        found = None if name == OWN else mixture_of_columns(worth, rays, effort)
        if found is None or (found.x is not None and found.row_dual is None):
            own = column_model(worth, rays, "choose").solve(effort.remaining(), effort.interrupted)
            # A solver of integer programmes has no multipliers.
            notes = () if found is None else (f"{name} gave no multipliers: the bound is that of HiGHS",)
            found = own if found is None else replace(found, row_dual=own.row_dual)
        claim = SolverClaim(name, found.status, found.objective, found.seconds, notes)
        if not found.status.startswith("optimal") or found.x is None or found.row_dual is None:
            return Answer(claim, None if claim.stopped else farkas_candidate(program, effort))
        used = found.x > (LEAST_WEIGHT if name == OWN else DUST * found.x.max())
        return Answer(claim, MatrixDraft(rays[:, used] * found.x[used]), Dual(found.row_dual))

    @staticmethod
    def _linear(program: Program, rays: FloatArray, effort: SolveLimits) -> Answer:
        """One linear programme over pairs of an output and a ray; coupling rows stay rows."""
        assert isinstance(program.utility, Linear) and program.outputs is not None
        k, m = program.size, len(program.outputs)
        rays = rays / np.maximum(rays.max(axis=0), 1e-300)
        # Variable (y, r) puts ray r into output y: entry (x, y) of Q is rays[x, r].
        place = sparse.vstack(
            [sparse.kron(sparse.eye(m), sparse.csr_matrix(rays[[x]]), format="csr") for x in range(k)],
            format="csr",
        )
        sums = sparse.hstack([sparse.csr_matrix(rays)] * m, format="csr")
        cost = place.T @ signed_costs(program, k * m)
        rows = sparse.vstack([sums, program.row_matrix(m) @ place], format="csc")
        found = LpModel(cost, rows, *model_sides(program, 0)).solve(effort.remaining(), effort.interrupted)
        claim = SolverClaim("highs", found.status, program.sign * found.objective, found.seconds)
        if found.status != "optimal" or found.x is None or found.row_dual is None:
            return Answer(claim, None if claim.stopped else farkas_candidate(program, effort))
        draft = MatrixDraft(np.asarray(place @ found.x).reshape(k, m), program.outputs)
        return Answer(claim, draft, Dual(found.row_dual[:k], found.row_dual[k:]))
