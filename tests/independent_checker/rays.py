"""column-dual by `rays`: the extreme rays of the cone, which the double description method lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from flint import fmpq

from .claims import Problem, Ratio
from .reading import Reader, items, keys, must
from .reals import log, need, total

MOST, LONGEST = 10**8, 1 << 12
GRID = 1 << 160


class Ray(NamedTuple):
    """The shortest vector of integers, and the set of what is zero on it: bit x for v_x, bit k + i for inequality i."""

    v: list[int]
    zeros: int


def whole(numbers: Sequence[fmpq]) -> list[int]:
    """A positive multiple, in integers."""
    below = math.lcm(*(int(number.q) for number in numbers))
    return [int((number * below).p) for number in numbers]


def shortest(v: list[int]) -> list[int]:
    common = math.gcd(*v)
    found = [number // common for number in v]
    need(max(found).bit_length() <= LONGEST, "a ray with long numbers")
    return found


def short(ratio: Ratio) -> fmpq:
    """gh; where it is enclosed it is rounded up once more: few bits."""
    return ratio.high if ratio.low == ratio.high else fmpq((ratio.high * GRID).ceil(), GRID)


def inequalities(problem: Problem) -> Iterator[list[tuple[int, int]]]:
    """c of each, as its [input, number] that are not 0."""
    for (x, z), ratio in problem.cone.edges.items():
        one, other = whole([fmpq(1), -short(ratio)])
        yield [(x, one), (z, other)]
    for row in problem.cone.rows or []:
        yield [(x, number) for x, number in enumerate(whole(row)) if number != 0]


def members(rays: list[Ray], bits: int) -> list[int]:
    """For each bit the set of the rays that have it among their zeros."""
    return [sum(1 << n for n, ray in enumerate(rays) if ray.zeros >> bit & 1) for bit in range(bits)]


def are_adjacent(having: list[int], common: int, pair: int) -> bool:
    """Whether no ray but this pair has all these zeros; all rays are left where there is none."""
    left = -1
    while common:
        bit = common & -common
        left &= having[bit.bit_length() - 1]
        common ^= bit
        if left == pair:
            return True
    return False


def extreme_rays(problem: Problem, prices: Sequence[fmpq] = ()) -> list[Ray]:
    k, work, longest = problem.k, 0, 0
    need(10 * k * k <= MOST, "too many inputs: what follows would count as much for the unit vectors")
    every = (1 << k) - 1
    rays = [Ray([int(x == z) for z in range(k)], every ^ 1 << x) for x in range(k)]
    for i, c in enumerate(inequalities(problem), k):
        values = [sum(number * ray.v[x] for x, number in c) for ray in rays]
        above = [n for n, value in enumerate(values) if value > 0]
        below = [n for n, value in enumerate(values) if value < 0]
        q, v = max((words(number) for _, number in c), default=0), longest
        work += len(above) * len(below) + 10 * k * len(rays) * (1 + q * (v + 1) // 16)
        need(work <= MOST, "too many rays")
        both = ((n, m) for n in above for m in below if (rays[n].zeros & rays[m].zeros).bit_count() >= k - 2)
        each = len(rays) + (q + v) * (q + v + k * (v + 1)) // 4
        pairs = list(itertools.islice(both, (MOST - work) // each + 1 if rays else 0))
        work += len(pairs) * each
        need(work <= MOST, "too many pairs of rays")
        having = members(rays, i) if above and below else []
        after = [
            ray if value < 0 else Ray(ray.v, ray.zeros | 1 << i)
            for ray, value in zip(rays, values, strict=True)
            if value <= 0
        ]
        for n, m in pairs:
            common = rays[n].zeros & rays[m].zeros
            # Two rays of a list of two have no third.
            if len(rays) == 2 or are_adjacent(having, common, 1 << n | 1 << m):
                both = zip(rays[n].v, rays[m].v, strict=True)
                new = [values[n] * t - values[m] * r for r, t in both]
                after.append(Ray(shortest(new), common | 1 << i))
                longest = max(longest, *map(words, after[-1].v))
        rays = after
    long = max(map(words, [*whole([*prices, fmpq(1)]), sum(problem.weights)]))
    work += 40 * k * len(parts(problem)) * len(rays) * (1 + long * (longest + 1) // 64)
    need(work <= MOST, "too many rays")
    return rays


def words(number: int) -> int:
    return abs(number).bit_length() // 128


def parts(problem: Problem) -> list[list[fmpq]]:
    """P(x, z) for each z; the prior where there is no `given`."""
    given = problem.utility.get("given")
    return [list(column) for column in zip(*given, strict=True)] if given else [problem.prior]


def worth(kind: str, groups: list[list[fmpq]], v: dict[int, fmpq]) -> Any:
    """mu at a ray, by what is not 0 there; exactly 0 where v is constant over the inputs of each z."""
    found = fmpq(0)
    for p in groups:
        own = [(p[x] * number, number) for x, number in v.items() if p[x] > 0]
        w = total(mass for mass, _ in own)
        if kind == "chi_square":
            found += total(mass * number for mass, number in own) / w - w if own else 0
        else:
            share = total(p)
            found += total(mass * log(number * share / w) for mass, number in own)
    return found


class Rays:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        keys(proof, ["kind", "prices", "rays"])
        must(proof["rays"] == "all", "rays that are not all")
        self.problem = problem
        self.prices = items(proof["prices"], reader.rat, problem.k)
        self.cost = problem.k

    def check(self) -> fmpq:
        kind, groups = self.problem.kind, parts(self.problem)
        for ray in extreme_rays(self.problem, self.prices):
            v = {x: fmpq(number, sum(ray.v)) for x, number in enumerate(ray.v) if number}
            price = total(self.prices[x] * number for x, number in v.items())
            need(bool(worth(kind, groups, v) <= price), "an extreme ray")
        return total(self.prices)
