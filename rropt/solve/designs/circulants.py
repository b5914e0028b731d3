"""Designs with as many outputs as inputs: shifts of one set of inputs."""

from collections.abc import Iterator

import numpy as np

from rropt.program.cones import CompleteCone, FloatArray, base_cone
from rropt.program.design_utilities import DesignUtility
from rropt.program.programs import Program
from rropt.solve.engine.climb import worth_and_slope

SIZES, DRAWN, OFFERED = 12, 10, 4
"""Sizes of sets, sets of each, and the best of all that a local search climbs from."""


def circulant_designs(program: Program) -> list[FloatArray]:
    """The best few of many k x k matrices whose columns are shifts of one set, inputs in it gamma times as likely; none
    for another goal, cone or number of outputs. Each input is in the set of its own output.

    Optimal designs, as subset selection (Ye and Barg 2018), take more outputs than there are inputs. With as many,
    shifts of one set are starts for a local search: some are near a symmetric block design."""
    base, k = base_cone(program.cone), program.size
    square = program.outputs is not None and len(program.outputs) == k
    if not isinstance(program.utility, DesignUtility) or not isinstance(base, CompleteCone) or not square:
        return []
    gamma = float(base.level.ratio)
    found = [(worth_and_slope(program, one)[0], number, one) for number, one in enumerate(_drawn(k, gamma))]
    return [one for worth, _, one in sorted(found, reverse=True)[:OFFERED] if np.isfinite(worth)]


def _drawn(k: int, gamma: float) -> Iterator[FloatArray]:
    random = np.random.default_rng(0)
    for size in sorted(set(np.linspace(1, max(k // 2, 1), SIZES).round().astype(int).tolist())):
        for _ in range(DRAWN):
            chosen = np.ones(k)
            chosen[[0, *(1 + random.permutation(k - 1)[: size - 1])]] = gamma
            yield np.array([np.roll(chosen, shift) for shift in range(k)]) / chosen.sum()
