"""`column-dual` proofs by extreme rays, where inputs have no weight: boxes bound those badly.

Written from docs/verified-core.md (the mode rays). The lines have prices and name the edges and half-spaces: the kernel
lists the rays itself, by the double description method. So does this module, in integers, to raise the prices by what
the worst ray needs.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import gcd, lcm

from flint import arb, ctx

from rropt import kernel
from rropt.exact import ball
from rropt.program.cones import CompleteCone, Cone, GraphCone, PolyhedralCone, base_cone, cone_rows
from rropt.program.programs import ChiSquare, Information, Program
from rropt.prove.balls import PRECISION, SLACK, upper_end
from rropt.prove.certificates import Proof
from rropt.prove.trees import column_dual, raised
from rropt.solve.engine.method import Dual, ProofGoal

WORK = kernel.MINUTE // 4
"""The operations of the kernel on a list of rays, at most."""

Ray = tuple[tuple[int, ...], int]
"""Integers without a common divisor, and a bit for each inequality at which they are zero."""


def prove(program: Program, dual: Dual | None, wanted: ProofGoal) -> Proof | None:
    """The information of inputs some of which have no weight, on a polyhedral cone without constraints between
    columns."""
    utility, simple = program.utility, isinstance(program.cone, PolyhedralCone) and not program.rows
    if dual is None or dual.evidence is not None:
        return None
    if not isinstance(utility, Information | ChiSquare) or not simple or all(utility.weights):
        return None
    given = utility.given if isinstance(utility, Information) else None
    prices = raised(dual.prices, program.prior)
    rays = extreme_rays(program.cone, program.size, 1 if given is None else len(given[0]))
    if rays is None:
        return None
    costs = [sum((a * v for a, v in zip(prices, ray, strict=True) if v), Fraction(0)) for ray in rays]
    masses = [sum(w * v for w, v in zip(utility.weights, ray, strict=True)) for ray in rays]
    if any(cost < 0 for cost, mass in zip(costs, masses, strict=True) if not mass):
        # Such a ray is worth nothing, and raising the prices along the prior does not raise its own.
        return None
    total = sum(utility.weights)
    with ctx.workprec(PRECISION):
        excess = [
            upper_end((_worth(utility, ray, mass) - ball(cost)) / ball(Fraction(mass, total)))
            for ray, cost, mass in zip(rays, costs, masses, strict=True)
            if mass
        ]
    return column_dual(raised(prices, program.prior, max(excess, default=Fraction(0)) + SLACK), rays="all")


def extreme_rays(cone: Cone, size: int, groups: int = 1) -> list[tuple[int, ...]] | None:
    """The extreme rays of a cone of non-negative columns of so many entries, its ratios rounded up, in integers; None
    where a proof by them takes the kernel too long for a utility with so many values of what is given."""
    rays: list[Ray] = [(tuple(int(x == z) for z in range(size)), (1 << size) - 1 - (1 << x)) for x in range(size)]
    work = 0
    for number, row in enumerate(_inequalities(cone, size)):
        common = lcm(*(value.denominator for value in row.values()))
        whole = [(x, int(value * common)) for x, value in row.items()]
        values = [sum(c * ray[x] for x, c in whole) for ray, _ in rays]
        above = [(ray, value) for ray, value in zip(rays, values, strict=True) if value > 0]
        below = [(ray, value) for ray, value in zip(rays, values, strict=True) if value < 0]
        work += (4 * size * len(rays) + len(above) * len(below) * (len(rays) // 3 + 1)) * _words(rays)
        if work > WORK:
            return None
        # Neighbours share a face of two dimensions, which lies in size - 2 of the limits of the inequalities.
        pairs = [
            (one, other, zeros)
            for one in above
            for other in below
            if (zeros := one[0][1] & other[0][1]).bit_count() >= size - 2
        ]
        bit = 1 << (size + number)
        kept = [
            (ray, zeros | bit if value == 0 else zeros)
            for (ray, zeros), value in zip(rays, values, strict=True)
            if value <= 0
        ]
        every = [zeros for _, zeros in rays]
        for ((one, _), s), ((other, _), t), both in pairs:
            # The two themselves are zero there; a third one shows that they are not neighbours.
            if sum(zeros & both == both for zeros in every) == 2:
                mixed = [s * b - t * a for a, b in zip(one, other, strict=True)]
                divisor = gcd(*mixed)
                kept.append((tuple(value // divisor for value in mixed), both | bit))
        rays = kept
    work += kernel.Fuel.LOG * size * groups * len(rays)
    return None if work > WORK else [ray for ray, _ in rays]


def _words(rays: list[Ray]) -> int:
    return 1 + max((max(ray) for ray, _ in rays), default=0).bit_length() // 512


def _inequalities(cone: Cone, size: int) -> Iterator[dict[int, Fraction]]:
    """Rows c with c.v <= 0, without the zeros, in the order of the lines."""
    base = base_cone(cone)
    if isinstance(base, CompleteCone):
        for x, z in permutations(range(size), 2):
            yield {x: Fraction(1), z: -base.level.ratio.upper}
    elif isinstance(base, GraphCone):
        for (x, z, _), ratio in zip(base.edges, base.ratios, strict=True):
            yield {x: Fraction(1), z: -ratio.upper}
    for row in cone_rows(cone):
        yield {x: value for x, value in enumerate(row) if value}


def _worth(utility: Information | ChiSquare, ray: tuple[int, ...], mass: int) -> arb:
    """mu(v) at a ray v, whose entries times the weights sum to `mass`."""
    total = sum(utility.weights)
    if isinstance(utility, ChiSquare):
        square = sum(w * v * v for w, v in zip(utility.weights, ray, strict=True))
        return ball(Fraction(square, mass) - Fraction(mass, total))
    worth = arb(0)
    for group in zip(*(utility.given or [(w,) for w in utility.weights]), strict=True):
        own = [(w, v) for w, v in zip(group, ray, strict=True) if w and v]
        mean, whole = sum(w * v for w, v in own), sum(group)
        for w, v in own:
            worth += ball(Fraction(w * v, total)) * ball(Fraction(v * whole, mean)).log()
    return worth
