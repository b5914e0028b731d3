"""Problems and their solutions."""

from rropt.problem.declared import Goal, Maximize, Minimize, Problem
from rropt.problem.solution import Solution
from rropt.solve.options import SolveOptions

__all__ = ["Goal", "Maximize", "Minimize", "Problem", "Solution", "SolveOptions"]
