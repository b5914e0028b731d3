"""Problems and their solutions. What belongs to solutions is loaded at its first use."""

from typing import TYPE_CHECKING, Any

from rropt.problem.declared import Goal, Maximize, Minimize, Problem
from rropt.solve.options import SolveOptions

if TYPE_CHECKING:
    from rropt.problem.solution import Solution

__all__ = ["Goal", "Maximize", "Minimize", "Problem", "Solution", "SolveOptions"]

# Hidden from type checkers: with it they would take any name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name != "Solution":
            raise AttributeError(f"module 'rropt.problem' has no attribute {name!r}")
        from rropt.problem.solution import Solution

        globals()[name] = Solution
        return Solution
