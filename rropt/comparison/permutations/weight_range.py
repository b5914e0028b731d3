"""The weights that one permutation can have in any Birkhoff decomposition, with exact proofs of both ends."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.comparison.permutations.bistochastic import Bistochastic
from rropt.comparison.permutations.packing import pack_cycles, shortest_cycle
from rropt.errors import TooLarge, WrongType, shown
from rropt.io.arguments import checked
from rropt.io.content import ByContent
from rropt.io.counts import bounded, clean_labels, ordered
from rropt.io.types import Label, Matrix

LARGEST = 12
"""More inputs than this take the exact cycle packing minutes."""


@dataclass(frozen=True, eq=False)
class WeightRange(ByContent):
    """The smallest and the largest weight of one permutation P over all decompositions of one matrix Q; exact.

    Renumber the outputs so that P is the identity. `cycles` are cycles of inputs (each at least two, no input twice)
    with positive weights that use every off-diagonal entry at most up to its value. Either they sum to one or more,
    and `smallest` is 0; or `lengths` gives each entry (x, y), x != y, a length >= 0 so that no cycle is shorter
    than one, and sum of weights = sum of lengths times entries proves that `smallest` is 1 minus it.
    """

    smallest: Fraction
    largest: Fraction
    cycles: tuple[tuple[tuple[int, ...], Fraction], ...]
    lengths: dict[tuple[int, int], Fraction]


@checked
def weight_range(mechanism: Matrix, permutation: Sequence[Label], *, denominator: int | None = None) -> WeightRange:
    """The range of the weight that `permutation` (n outputs, one per input: all by index or all by label) has in
    decompositions of the mechanism, which is read as by `birkhoff`.

    The largest weight is the smallest entry along the permutation: no more is there, and what is left after taking
    it has equal row and column sums again, so it decomposes (Birkhoff).

    The smallest is max(0, 1 - f), where f is the largest fractional packing of cycles into the digraph of the
    off-diagonal entries, once outputs are renumbered so that the permutation is the identity. Proof: the smallest
    weight is a linear programme over decompositions, with the dual max <Y, Q> over matrices Y with
    <Y, identity> <= 1 and <Y, S> <= 0 for every other permutation S. Where <Y, identity> is not 1, scaling Y up, or
    Y = 0, is as good or better. Adding u_x + v_y with sum u + sum v = 0 to Y changes nothing, as all sums of Q and
    of permutations are one. With d_xy = Y_xx - Y_xy, <Y, S> is 1 minus the lengths of the cycles of S, so the
    constraints state that no cycle is shorter than one (several cycles are then longer still). Then <Y, Q> is
    1 - sum d_xy Q_xy; there are no negative cycles, so potentials, which change no such sum because Q's
    off-diagonal part is a circulation, make d >= 0. The least sum d_xy Q_xy is the fractional feedback arc set
    problem; its dual is the packing. The identity of k-ary randomised response with diagonal a and the rest b has
    the smallest weight max(0, 1 - k (k - 1) b / 2): two-cycles alone fill all arcs.

    Both ends are attained, and between them every weight is. Raises InputError for a matrix that `birkhoff` refuses
    or with more than 12 inputs, and for an argument that is not a permutation of its inputs.
    """
    source = Bistochastic.of(mechanism, denominator)
    size = source.size
    targets = _targets(permutation, source.outputs)
    if size > LARGEST:
        raise TooLarge(f"{size} inputs are too many", "weight_range", f"it is for up to {LARGEST}")
    share = [[Fraction(source.numerators[x][targets[y]], source.denominator) for y in range(size)] for x in range(size)]
    largest = min(share[x][x] for x in range(size))
    arcs = {(x, y): share[x][y] for x in range(size) for y in range(size) if x != y and share[x][y]}
    packing, prices = pack_cycles(size, arcs, enough=Fraction(1))
    packed = sum((weight for _, weight in packing), Fraction(0))
    lengths: dict[tuple[int, int], Fraction] = {}
    if packed < 1:
        # An arc without mass costs nothing, however long it is.
        lengths = {(x, y): prices.get((x, y), Fraction(1)) for x in range(size) for y in range(size) if x != y}
    _prove(size, arcs, packing, lengths, packed)
    return WeightRange(max(1 - packed, Fraction(0)), largest, tuple(packing), lengths)


def _targets(permutation: Sequence[object], outputs: Sequence[str]) -> list[int]:
    """The index of the output of each input. Raises InputError."""
    given = list(bounded(permutation, "permutation"))
    if given and all(isinstance(y, str) for y in given):
        names = clean_labels(given, "permutation")
        ordered(names, outputs, "permutation")
        return [outputs.index(name) for name in names]
    if not all(isinstance(y, numbers.Integral) for y in given) or sorted(given) != list(range(len(outputs))):  # type: ignore[type-var]
        raise WrongType(f"{shown(given)} is not a permutation of 0 to {len(outputs) - 1}", "permutation")
    return [int(y) for y in given]  # type: ignore[call-overload]


def _prove(
    size: int,
    arcs: dict[tuple[int, int], Fraction],
    packing: Sequence[tuple[tuple[int, ...], Fraction]],
    lengths: dict[tuple[int, int], Fraction],
    packed: Fraction,
) -> None:
    """Raise ArithmeticError unless packing and lengths prove each other optimal."""
    used = dict.fromkeys(arcs, Fraction(0))
    for cycle, weight in packing:
        if weight <= 0 or len(set(cycle)) != len(cycle) or len(cycle) < 2:
            raise ArithmeticError("the packing holds something that is not a cycle")
        for arc in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
            used[arc] += weight
    if any(used[arc] > share for arc, share in arcs.items()):
        raise ArithmeticError("the cycles use more of an entry than there is")
    if packed >= 1:
        return
    shortest = shortest_cycle(size, lengths)
    cost = sum((lengths[arc] * share for arc, share in arcs.items()), Fraction(0))
    if min(lengths.values()) < 0 or (shortest is not None and shortest[0] < 1) or cost != packed:
        raise ArithmeticError("cycles and lengths do not prove the smallest weight")
