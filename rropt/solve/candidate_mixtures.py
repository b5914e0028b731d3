"""Simple mixtures of permutations that no answer may be worse than."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rropt.declare.objectives import Objective
from rropt.mechanisms.mechanism import Mechanism
from rropt.program.assignments import Places
from rropt.program.permutation_mixtures import Mixture, mixed
from rropt.program.programs import Linear, Program
from rropt.solve.budget import HALVINGS
from rropt.solve.candidates import worth_of
from rropt.solve.engine.budget import GAIN

Weights = dict[Places, Fraction]


def best_mixture(program: Program, objective: Objective, least: float | None) -> tuple[Mechanism, Weights] | None:
    """A simple mixture of permutations with its weights that satisfies `program` exactly and is better than `least`:
    as much of the best permutations (those with bounds or listed, cyclic shifts, a swap) as the bounds allow, and
    of all these alike as little as the rest of the program needs. None where there is none."""
    mixture = program.required(Mixture)
    size = range(mixture.size)
    simple = [tuple((x + by) % len(size) for x in size) for by in size] + [(1, 0, *size[2:])]
    pool = list(dict.fromkeys([*(mixture.listed or simple), *(name for name, *_ in mixture.bounds)]))
    if isinstance(program.utility, Linear):
        costs = program.sign * program.utility.matrix(mixture.size, mixture.size)
        pool.sort(key=lambda name: -float(costs[np.arange(mixture.size), name].sum()))
    each = Fraction(1, len(pool))
    even = _fill(mixture, pool, {}, each)
    found: tuple[float, Mechanism, dict[Places, Fraction]] | None = None
    for best in (_fill(mixture, pool, {}, Fraction(1)), _fill(mixture, pool, {pool[0]: Fraction(1)}, each)):
        low, high = 0, 1 << HALVINGS
        while low <= high:
            # Usually no mixing is needed.
            middle = (low + high) // 2 if low else 0
            weights = _between(best, even, Fraction(middle, 1 << HALVINGS))
            made = None if mixture.breach(weights) else mixed(weights, program.inputs)
            if made is None or program.excess(made):
                low = middle + 1
                continue
            high, worth = middle - 1, program.sign * worth_of(program.utility, objective, made)
            if found is None or worth > found[0]:
                found = worth, made, weights
    if found is None or (least is not None and found[0] - program.sign * least <= GAIN):
        return None
    return found[1:]


def _fill(mixture: Mixture, pool: Sequence[Places], first: dict[Places, Fraction], most: Fraction) -> Weights:
    """Weights within their bounds: what must be, then up to `first`, then up to `most` of each in the order of `pool`,
    then what is left wherever there is room; of no more permutations than are allowed. They need not sum to one."""
    weights = {name: low for name, low, _ in mixture.bounds if low}
    left = 1 - sum(weights.values(), Fraction(0))
    for wanted in (first, dict.fromkeys(pool, most), dict.fromkeys(pool, Fraction(1))):
        for name, share in wanted.items():
            own = weights.get(name, Fraction(0))
            more = min(left, min(share, mixture.limits(name)[1]) - own)
            if more > 0 and (own or mixture.max_terms is None or len(weights) < mixture.max_terms):
                weights[name] = own + more
                left -= more
    return weights


def _between(one: Weights, other: Weights, share: Fraction) -> Weights:
    """(1 - share) one + share other, without zeros."""
    mean = {
        name: (1 - share) * one.get(name, Fraction(0)) + share * other.get(name, Fraction(0)) for name in one | other
    }
    return {name: weight for name, weight in mean.items() if weight}
