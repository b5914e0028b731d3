"""The least sum of variances at equal frequencies under LDP, in closed form: subset selection on few outputs.

Let every column be gamma on a set of q inputs and 1 elsewhere, and let every pair of inputs be in equally many sets.
Then M = a I + b J, and M^-1 with one price for all inputs proves that no design has less risk (Ye and Barg, Optimal
Schemes for Discrete Distribution Estimation under Locally Differential Privacy, 2018; Chai and Nayak, Theorem 3.1).
Shifts of a set along a circle of the inputs contain a pair as often as its distance occurs in the set. So masses of
sets for which every distance occurs equally often are enough: half as many sets as inputs, not all sets of q.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import scipy

from rropt.mechanisms.columns import TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.cones import CompleteCone, FloatArray, base_cone
from rropt.program.design_utilities import DesignUtility, InverseTrace
from rropt.program.programs import Program
from rropt.solve.designs.criteria import DesignForms
from rropt.solve.engine.budget import RATIO_BITS
from rropt.solve.engine.climb import worth_and_slope
from rropt.solve.engine.method import Answer, Dual, ExactDraft, SolverClaim

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


FEWEST = 7
"""With fewer inputs all columns are listed at once."""
LARGEST_RATIO = 1e100
"""Above it squares of ratios leave the range of doubles."""
MASS_BITS = 40
"""Masses of sets are multiples of 2^-40."""
MOST_EVEN, MOST_OUTPUTS = 64, 4096
"""With more inputs, which no certificate takes, a few sets drawn at random are nearly even, with about so many outputs."""
DOUBLINGS = 6
"""How often the number of sets is doubled that are drawn for equal distances."""
ENOUGH = 1e-12
"""The largest difference of distances that is rounding."""


def symmetric_design(program: Program) -> Answer | None:
    """The best design with its proof, for variances of all frequencies where these are equal, under LDP alone; None for
    another program, and where the number of outputs is fixed to another one."""
    utility, cone, k = program.utility, program.cone, program.size
    if not isinstance(utility, InverseTrace) or utility.queries is not None or len(set(program.weights)) > 1:
        return None
    if not isinstance(cone, CompleteCone) or k < FEWEST or not 1 < float(cone.level.ratio) < LARGEST_RATIO:
        return None
    gamma = float(cone.level.ratio)
    size = best_size(k, gamma)
    if program.outputs is not None and (size > 1 or len(program.outputs) != k):
        return None
    made = even_mechanism(program.inputs, cone.level.ratio.lower, program.outputs)
    if made is None:
        return None
    a = spread(k, size, gamma)
    forms = (np.eye(k) - (k - a) / k**2) / a
    prices = np.full(k, float(np.trace(forms)) / k)
    claim = SolverClaim("closed form", "subset selection", (k - 1) / a, 0.0)
    return Answer(claim, ExactDraft(made), Dual(prices, evidence=DesignForms(forms)))


def best_size(k: int, gamma: float) -> int:
    """The number of inputs in each set of the best design for k inputs."""
    return max(range(1, k), key=lambda size: spread(k, size, gamma))


def even_mechanism(inputs: Sequence[str], ratio: Fraction, outputs: tuple[str, ...] | None = None) -> Mechanism | None:
    """Subset selection on few outputs: each says that the input is in a certain set, `ratio` times as likely if it is.
    The ratio is rounded down. With as many sets as inputs the design is k-RR, in the order of the inputs. None where
    no such sets were found."""
    k, scale = len(inputs), 1 << RATIO_BITS
    high, low = int(ratio * scale), scale
    size = best_size(k, float(ratio))
    found = _even_sets(k, size)
    if found is None:
        return None
    sets, masses = found
    whole = [max(1, round(float(mass / masses.max()) * (1 << MASS_BITS))) for mass in masses]
    columns = [
        TwoValuedColumn(low * mass, high * mass, sum(1 << (x + shift) % k for x in np.flatnonzero(one).tolist()))
        for one, mass in zip(sets.T, whole, strict=True)
        for shift in range(k)
    ]
    labels = outputs or tuple(f"output {y + 1}" for y in range(len(columns)))
    return Mechanism(tuple(inputs), labels, tuple(columns), (sum(whole) * (size * high + (k - size) * low),))


def spread(k: int, size: int, gamma: float) -> float:
    """The number a of M = a I + b J for sets of so many inputs: the variance of a column, over its squared mean."""
    share = size / k
    return k / (k - 1) * ((gamma - 1) / (1 + share * (gamma - 1))) ** 2 * share * (1 - share)


def _even_sets(k: int, size: int) -> tuple[np.ndarray, FloatArray] | None:
    """Sets of `size` inputs on a circle (k x n) and masses with which every distance occurs equally often, or nearly
    for many inputs."""
    if size == 1:
        return np.eye(k, dtype=bool)[:, :1], np.ones(1)
    random, half = np.random.default_rng(0), k // 2
    if k > MOST_EVEN:
        count = max(4, MOST_OUTPUTS // k)
        return np.array([random.permutation(k) < size for _ in range(count)]).T, np.ones(count)
    wanted = np.full(half, size * (size - 1) / (k - 1))
    for doubling in range(DOUBLINGS):
        drawn = (random.permutation(k) < size for _ in range(2 * k << doubling))
        sets = np.array(list(drawn)).T
        if size == 2:
            sets = np.array([np.isin(np.arange(k), (0, step)) for step in range(1, half + 1)]).T
        table = np.array([(sets & np.roll(sets, step, axis=0)).sum(axis=0) for step in range(1, half + 1)], dtype=float)
        masses, rest = scipy.optimize.nnls(table, wanted)
        if rest <= ENOUGH * size:
            kept = masses > 0
            return sets[:, kept], masses[kept]
    return None
