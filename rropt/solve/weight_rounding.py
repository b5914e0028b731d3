"""From float weights of permutations to exact ones whose mixture satisfies everything that was declared."""

from collections.abc import Mapping
from fractions import Fraction

from rropt.errors import Refusal
from rropt.mechanisms.mechanism import GRID, Mechanism
from rropt.program.assignments import Places
from rropt.program.permutation_mixtures import Mixture, mixed
from rropt.program.programs import Program
from rropt.solve.engine.method import MixedWeights

Weights = dict[Places, Fraction]


def round_weights(program: Program, found: MixedWeights) -> tuple[Mechanism, Weights] | Refusal:
    """An exact mechanism and the exact weights that make it up, near float ones: moved toward a mixture with slack
    as little as all constraints need, and no further permutation than those of both."""
    mixture = program.required(Mixture)
    start = {places: float(weight) for places, weight in zip(found.permutations, found.weights, strict=True)}
    anchor = {places: float(weight) for places, weight in zip(found.anchored, found.anchor, strict=True)}
    share = 0.0
    while share < 1.0:
        near = {places: (1 - share) * start.get(places, 0.0) + share * anchor.get(places, 0.0) for places in start}
        if share:
            near |= {places: share * weight for places, weight in anchor.items() if places not in near}
        weights = _on_grid(mixture, near)
        if weights is not None and not mixture.breach(weights):
            mechanism = mixed(weights, program.inputs)
            if not program.excess(mechanism):
                return mechanism, weights
        if not anchor:
            break
        share = max(2.0 * share, 2.0**-50)
    return Refusal("no exact mixture was found near the floating-point one")


def _on_grid(mixture: Mixture, near: Mapping[Places, float]) -> Weights | None:
    """Weights within their bounds that sum to one, on the grid of 2^-53 but where a bound is not; None without room."""
    found: Weights = {}
    for places in [*near, *(name for name, low, _ in mixture.bounds if low and name not in near)]:
        low, high = mixture.limits(places)
        found[places] = min(max(Fraction(round(near.get(places, 0.0) * GRID), GRID), low), high)
    missing = 1 - sum(found.values(), Fraction(0))
    for places in sorted(found, key=lambda places: -found[places]):
        low, high = mixture.limits(places)
        moved = min(max(found[places] + missing, low), high)
        missing -= moved - found[places]
        found[places] = moved
    return None if missing else {places: weight for places, weight in found.items() if weight}
