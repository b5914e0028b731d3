"""The `columns` method: column generation, priced exactly by branch and bound.

Mutual information and chi-square information under LDP are priced by a knapsack search at any number of inputs. The
universal bound is compared in every round: where sets of the right mass cover all inputs evenly it is nearly attained,
and one linear programme over such sets is enough. Every other convex objective and cone is priced by boxes.
"""

import numpy as np

from rropt.errors import Refusal
from rropt.program.block_cones import RobustCone
from rropt.program.cones import FreeCone
from rropt.program.design_utilities import DesignUtility
from rropt.program.programs import ColumnSum, Program
from rropt.solve.columns.generation import solve_boxed
from rropt.solve.designs.designs import solve_design
from rropt.solve.engine.curves import has_curve
from rropt.solve.engine.method import Answer, Method, SolveLimits
from rropt.solve.ldp.generation import solve_ldp
from rropt.solve.metric.budget import BOXED
from rropt.solve.metric.generation import solve_labels
from rropt.solve.metric.labels import Labels
from rropt.solve.robust.large_blocks import solve_robust


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
