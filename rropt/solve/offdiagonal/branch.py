"""Branch and bound over mechanisms with equal off-diagonal entries in each row."""

import time

import numpy as np

from rropt.errors import counted
from rropt.program.cones import CompleteCone
from rropt.program.programs import Program
from rropt.solve.engine.method import Answer, Dual, OffDiagonals, SolveLimits, SolverClaim
from rropt.solve.offdiagonal.search import OffDiagonalSearch


def solve_off_diagonals(program: Program, effort: SolveLimits) -> Answer:
    """The best mechanism with equal off-diagonal entries in each row."""
    assert isinstance(program.cone, CompleteCone)
    begun = time.monotonic()
    search = OffDiagonalSearch(program.weights, float(program.cone.level.ratio))

    def stop() -> bool:
        # As much time again is reserved for writing and checking the result.
        left = effort.remaining()
        late = left is not None and effort.time_limit is not None and left < effort.time_limit / 2
        return late or bool(effort.stopped())

    effort.found(search.value)
    found = search.search(effort.allowed / 2, stop=stop)
    effort.monitor(found.value, found.bound)
    stopped = effort.stopped() or ("time limit" if stop() and found.bound - found.value > effort.allowed else "")
    claim = SolverClaim("rropt", stopped or counted(found.nodes, "nodes"), found.value, time.monotonic() - begun)
    return Answer(claim, OffDiagonals(found.off_diagonal), Dual(np.zeros(program.size), evidence=found))
