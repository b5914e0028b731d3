"""The largest fractional packing of cycles into a digraph, by an exact simplex method that generates cycles."""

from collections.abc import Mapping
from fractions import Fraction

from flint import fmpq

Arc = tuple[int, int]


def shortest_cycle(size: int, lengths: Mapping[Arc, Fraction]) -> tuple[Fraction, tuple[int, ...]] | None:
    """(length, nodes in order) of a shortest cycle of nodes 0..size-1 under lengths >= 0; None without a cycle."""
    found = _shortest_cycle(size, {arc: _fmpq(length) for arc, length in lengths.items()})
    return None if found is None else (_fraction(found[0]), found[1])


def _shortest_cycle(size: int, lengths: Mapping[Arc, fmpq]) -> tuple[fmpq, tuple[int, ...]] | None:
    """All shortest paths (Floyd and Warshall), then the best arc that closes one."""
    distance: list[list[fmpq | None]] = [[lengths.get((x, y)) for y in range(size)] for x in range(size)]
    after = [list(range(size)) for _ in range(size)]
    for by in range(size):
        for x in range(size):
            first = distance[x][by]
            if first is None or x == by:
                continue
            for y in range(size):
                second = distance[by][y]
                if second is None or y in (x, by):
                    continue
                known = distance[x][y]
                if known is None or first + second < known:
                    distance[x][y] = first + second
                    after[x][y] = after[x][by]
    best: tuple[fmpq, tuple[int, int]] | None = None
    for x in range(size):
        for y in range(x):
            there, back = distance[x][y], distance[y][x]
            if there is not None and back is not None and (best is None or there + back < best[0]):
                best = (there + back, (x, y))
    if best is None:
        return None
    x, y = best[1]
    walk = []
    for start, end in ((x, y), (y, x)):
        node = start
        while node != end:
            walk.append(node)
            node = after[node][end]
    # Two shortest paths may share a node where some lengths are zero; the first loop closed is then no longer.
    seen: dict[int, int] = {}
    for at, node in enumerate([*walk, walk[0]]):
        if node in seen:
            return best[0], tuple(walk[seen[node] : at])
        seen[node] = at
    raise AssertionError("a closed walk without a loop")


def pack_cycles(
    size: int, capacities: Mapping[Arc, Fraction], enough: Fraction
) -> tuple[list[tuple[tuple[int, ...], Fraction]], dict[Arc, Fraction]]:
    """(cycles with positive weights, lengths of the arcs) for a digraph with positive `capacities`: the packing of most
    weight, and lengths >= 0 of equal cost under which no cycle is shorter than one. The search ends early with a
    packing of weight `enough` or more; the lengths are then empty.

    A primal simplex method on exact rationals over all cycles, of which the shortest under the prices enters (or
    an arc's slack, where its price is negative); ties in the ratio test are broken lexicographically, so that no
    basis comes twice and it ends (Dantzig, Orden and Wolfe 1955).
    """
    arcs = list(capacities)
    row = {arc: number for number, arc in enumerate(arcs)}
    zero, one = fmpq(0), fmpq(1)
    # Row i: value of the i-th basic variable, then row i of the inverse of the basis; the slacks come first.
    table = [
        [_fmpq(capacities[arc]), *(one if at == number else zero for at in range(len(arcs)))]
        for number, arc in enumerate(arcs)
    ]
    basis: list[tuple[int, ...] | None] = [None] * len(arcs)  # None: a slack, which is worth nothing
    stop = _fmpq(enough)
    while sum((line[0] for line, cycle in zip(table, basis, strict=True) if cycle), zero) < stop:
        prices = [
            sum((line[1 + at] for line, cycle in zip(table, basis, strict=True) if cycle), zero)
            for at in range(len(arcs))
        ]
        entering: tuple[int, ...] | None = None
        if min(prices, default=zero) < 0:
            members = [prices.index(min(prices))]
        else:
            found = _shortest_cycle(size, dict(zip(arcs, prices, strict=True)))
            if found is None or found[0] >= 1:
                lengths = {arc: _fraction(price) for arc, price in zip(arcs, prices, strict=True)}
                break
            entering = found[1]
            members = [row[arc] for arc in zip(entering, (*entering[1:], entering[0]), strict=True)]
        column = [sum((line[1 + at] for at in members), zero) for line in table]
        candidates = [number for number, entry in enumerate(column) if entry > 0]
        leaving = min(candidates, key=lambda number: [entry / column[number] for entry in table[number]])
        pivot = [entry / column[leaving] for entry in table[leaving]]
        for number, factor in enumerate(column):
            if factor and number != leaving:
                table[number] = [entry - factor * new for entry, new in zip(table[number], pivot, strict=True)]
        table[leaving] = pivot
        basis[leaving] = entering
    else:
        lengths = {}
    packing = [
        (cycle, _fraction(line[0])) for line, cycle in zip(table, basis, strict=True) if cycle is not None and line[0]
    ]
    return packing, lengths


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
