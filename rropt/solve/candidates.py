"""Simple mechanisms that no answer may be worse than: constants, windows (k-RR, subsets, shifts, the truth), and more.

Each is exact and is verified in integers before it is returned. Where a window breaks rows, a share of a
constant is mixed in, as little as the rows allow.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, count
from math import comb, floor, log

import numpy as np

from rropt.declare.objectives import Objective
from rropt.errors import Refusal
from rropt.exact import common_denominator
from rropt.mechanisms.columns import DenseColumn, TwoValuedColumn
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.program.cones import CompleteCone, FloatArray, GraphCone, PolyhedralCone, base_cone
from rropt.program.design_utilities import DesignUtility, InverseTrace
from rropt.program.entropy_floors import ConcaveFloor
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import PosteriorRisk
from rropt.program.permutation_mixtures import Mixture, Places, mixed
from rropt.program.programs import ColumnSum, Linear, Program, RowEntropy, Utility
from rropt.solve.engine.anchor import find_anchor, in_two_rows
from rropt.solve.engine.budget import GAIN, RATIO_BITS
from rropt.solve.engine.climb import worth
from rropt.solve.engine.curves import InformationCurve, curve_class
from rropt.solve.engine.polyhedral import entry_model
from rropt.solve.rounding import kept_frequencies, round_to_mechanism

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


LARGEST = 1 << 18
"""Cells of a matrix that is written out as a candidate."""
ESTIMATED = 1 << 20
"""Cells of k-RR for estimation."""
SUBSETS = 1 << 13
"""Cells of a matrix of subset selection."""
GROUPED = 1 << 18
"""Cells of a matrix of k-RR among groups, where there are more than two."""
MIXED = 1 << 11
"""Cells of a matrix that constants are mixed into."""
HALVINGS = 12
"""Halvings in search of the least share of a constant."""
SHIFTED = 64
"""Inputs up to which all shifts are tried."""
STEEPEST = 300.0
"""The largest level that is used: above it groups are chosen alike, and ratios exceed floats."""
ROWS = 4
"""Inequalities over the matrix that a candidate is made for, each; most problems have fewer."""


def best_candidate(
    program: Program, objective: Objective, least: float | None, fits: Callable[[Mechanism], bool] | None = None
) -> Mechanism | None:
    """The best simple mechanism that satisfies `program` exactly (or that `fits`, where a program has no constraints),
    and is better than `least`, a value of its utility (None: anything is); None where there is none."""
    sign, order = program.sign, count()
    enough = -np.inf if least is None else sign * least + GAIN * abs(least)
    waiting: list[tuple[float, int, Mechanism, bool]] = []

    def push(mechanism: Mechanism, mixable: bool) -> None:
        worth = sign * worth_of(program.utility, objective, mechanism)
        if worth > enough or least is None:
            heapq.heappush(waiting, (-worth, next(order), mechanism, mixable))

    for mechanism in _constants(program):
        push(mechanism, False)
    for mechanism in _others(program):
        push(mechanism, program.extra(OffDiagonalForm) is None)
    middle: Mechanism | None = None
    while waiting:
        _, _, mechanism, mixable = heapq.heappop(waiting)
        if fits(mechanism) if fits else not program.excess(mechanism):
            return mechanism
        if mixable and not fits and program.size * len(mechanism.outputs) <= MIXED:
            middle = middle or _middle_constant(program)
            if middle is not None and middle.shape == mechanism.shape:
                blended = _mix_in(program, mechanism, middle, enough)
                if blended is not None:
                    push(blended, False)
    return None


def closed_forms(
    program: Program,
    objective: Objective,
    kept: list[Mechanism],
    enough: Callable[[], bool],
    fits: Callable[[Mechanism], bool] | None = None,
) -> None:
    """Put the best mechanism in closed form that satisfies the program into `kept`, as soon as it is found, until there
    are `enough`: the work may also be ended at any moment."""
    best = -np.inf
    for mechanism in chain(_others(program), _constants(program)):
        worth = program.sign * worth_of(program.utility, objective, mechanism)
        if (worth > best or not kept) and (fits(mechanism) if fits else not program.excess(mechanism)):
            best, kept[:] = worth, [mechanism]
        if kept and enough():
            return


def is_slow(program: Program, fits: Callable[[Mechanism], bool] | None) -> bool:
    """Whether verifying a mechanism may take long, as that of definitions and of risks does."""
    return fits is not None or program.extra(PosteriorRisk) is not None


def last_resort(
    program: Program, objective: Objective, fits: Callable[[Mechanism], bool] | None = None
) -> Mechanism | None:
    """A mechanism without a search: a constant, or k-RR among groups where no rows tie it; for estimation, where the
    risk of a constant is infinite, halves or k-RR; under a bound on risk the best shift, as it changes every record.
    None where these break something."""
    if program.extra(Mixture) is not None:
        return None
    risky = program.extra(PosteriorRisk) is not None
    if risky and program.size <= SHIFTED:
        gamma = _ratio(program)
        shifts = [_window(program, 1, shift, gamma) for shift in range(1, program.size)]
        simple = sorted(shifts, key=lambda one: -program.sign * worth_of(program.utility, objective, one))
    elif isinstance(program.utility, DesignUtility) and program.size == len(program.outputs or program.inputs):
        simple = [*_in_halves(program), _window(program, 1, 0, _ratio(program)), _alike(program)]
    elif program.extra(OffDiagonalForm) is None and (program.rows or risky or fits is not None):
        simple = [_alike(program)]
    else:
        simple = [*_in_groups(program), *_constants(program)]
        if program.extra(OffDiagonalForm) is None and program.size * (width := _width(program)) <= LARGEST:
            simple += [_window(program, 1, 0, _ratio(program))] if width == program.size else []
        if len(simple) > 1:
            simple.sort(key=lambda one: -program.sign * worth_of(program.utility, objective, one))
    rest: Iterator[Mechanism] = iter(())
    if program.extra(OffDiagonalForm) is None and program.outputs is not None:
        # Limits from below may leave the truth only, or k-RR; others what a row would have each input answer.
        gamma = _ratio(program)
        response = [_window(program, 1, 0, gamma)] if program.size == len(program.outputs) else []
        rest = chain(response, _at_frequencies(program), _wanted(program, gamma))
    return next((one for one in chain(simple, rest) if (fits(one) if fits else not program.excess(one))), None)


def _width(program: Program) -> int:
    """The number of outputs, that of inputs where it is free."""
    return program.size if program.outputs is None else len(program.outputs)


def _at_frequencies(program: Program) -> list[Mechanism]:
    """The constant that answers as often as rows keep the frequencies of, where they do."""
    if (kept := kept_frequencies(program)) is None:
        return []
    row = [Fraction(number, sum(kept)) for number in kept]
    return [Mechanism.from_rationals([row] * program.size, inputs=program.inputs, outputs=program.outputs)]


def _alike(program: Program) -> Mechanism:
    """The mechanism that answers everything equally often."""
    width = _width(program)
    columns = tuple(TwoValuedColumn(0, 1, (1 << program.size) - 1) for _ in range(width))
    return Mechanism(program.inputs, _labels(program, width), columns, (width,))


def _constants(program: Program) -> Iterator[Mechanism]:
    """The best constant, unless weights of permutations would have to be kept with it."""
    if program.extra(OffDiagonalForm) is not None:
        yield OffDiagonalMechanism(program.inputs, [1] * program.size, program.size)
    elif program.extra(Mixture) is None and (constant := _best_constant(program)) is not None:
        yield constant


def _others(program: Program) -> Iterator[Mechanism]:
    """Simple mechanisms within the ratio of the cone that are not constant; they may break everything else."""
    k, gamma = program.size, _ratio(program)
    if program.extra(OffDiagonalForm) is not None:
        if gamma is not None:
            numbers = [gamma.denominator] * k
            yield OffDiagonalMechanism(program.inputs, numbers, gamma.numerator + (k - 1) * gamma.denominator)
        return
    width = _width(program)
    free = program.extra(Mixture) is None and not isinstance(program.utility, RowEntropy)
    written = free and k * width <= LARGEST
    # A constant has no risk that is finite, and that of k-RR is known without equations.
    if free and width == k and k * width <= (ESTIMATED if isinstance(program.utility, InverseTrace) else LARGEST):
        yield _window(program, 1, 0, gamma)
    yield from _in_halves(program) if isinstance(program.utility, DesignUtility) else _in_groups(program)
    if not written:
        return
    if program.outputs is not None:
        yield from _wanted(program, gamma)
    elif gamma is not None and gamma > 1:
        yield from _on_frequent(program, gamma)
        yield from _on_subsets(program, gamma)
    if width != k:
        return
    for size in _sizes(program, gamma):
        every = size == 1 and k <= SHIFTED and program.extra(PosteriorRisk) is not None
        for shift in range(k) if every else sorted({0, 1, k - size // 2}):
            yield _window(program, size, shift % k, gamma)


def worth_of(utility: Utility, objective: Objective, mechanism: Mechanism) -> float:
    """The utility of a mechanism in its own unit, in floats, or a little more."""
    known = None if isinstance(mechanism, OffDiagonalMechanism) else worth(utility, mechanism.matrix)
    return float(objective.own_value(mechanism).upper) if known is None else known


def _ratio(program: Program) -> Fraction | None:
    """The smallest ratio that the cone bounds, rounded down; None where it bounds none."""
    base = base_cone(program.cone)
    level = base.level if isinstance(base, CompleteCone) else getattr(program.cone, "level", None)
    if level is not None:
        lower = level.ratio.lower
    elif isinstance(base, GraphCone) and base.edges:
        lower = min(ratio.lower for ratio in base.ratios)
    else:
        return None
    scale = 1 << RATIO_BITS
    return max(Fraction(int(lower * scale), scale), Fraction(1))


def _labels(program: Program, width: int) -> tuple[str, ...]:
    return program.outputs or tuple(f"output {y + 1}" for y in range(width))


def _window(program: Program, size: int, shift: int, gamma: Fraction | None) -> Mechanism:
    """Each input answers one of `size` outputs gamma times as often as one of the others (never, where gamma is None):
    those that follow it `shift` places on, cyclically. k-RR, a shift, subsets in a circle."""
    k = program.size
    high, low = (1, 0) if gamma is None else (gamma.numerator, gamma.denominator)
    columns = []
    for y in range(k):
        members = sum(1 << (y - shift - step) % k for step in range(size))
        columns.append(TwoValuedColumn(low, high, members))
    return Mechanism(program.inputs, _labels(program, k), tuple(columns), (size * high + (k - size) * low,))


def _sizes(program: Program, gamma: Fraction | None) -> list[int]:
    """Sizes of windows: all where they are few, else powers of two and what is best of equally frequent inputs."""
    k = program.size
    if k <= SHIFTED and program.outputs is None:
        return list(range(1, k))
    sizes = {1 << bit for bit in range(k.bit_length())}
    if gamma is not None and gamma > 1 and isinstance(program.utility, ColumnSum):
        # A column of a set of mass p has a mean that is 1 + (gamma - 1) p times its smallest entry.
        curve = (curve_class(program.utility) or InformationCurve).at(min(log(gamma), STEEPEST))
        share = k * (curve.ceiling()[1] - 1.0) / (curve.gamma - 1.0)
        sizes |= {floor(share), floor(share) + 1}
    return sorted(size for size in sizes if 0 < size < k)


def _on_frequent(program: Program, gamma: Fraction) -> Iterator[Mechanism]:
    """k-RR among the most frequent inputs, the others answering each of these equally often."""
    k = program.size
    ranked = sorted(range(k), key=lambda x: -program.weights[x])
    masses, first = [], 0
    for x in ranked:
        masses.append(first := first + program.weights[x])
    # As many as are best for guesses; for other objectives some are tried.
    best = max(range(1, k + 1), key=lambda m: masses[m - 1] / (gamma + m - 1))
    high, low = gamma.numerator, gamma.denominator
    for m in _numbers(k, best):
        rest, own = high + (m - 1) * low, {x: y for y, x in enumerate(ranked[:m])}
        columns = tuple(
            DenseColumn(tuple(rest if x not in own else m * (high if own[x] == y else low) for x in range(k)))
            for y in range(m)
        )
        yield Mechanism(program.inputs, _labels(program, m), columns, (m * rest,))


def _on_subsets(program: Program, gamma: Fraction) -> Iterator[Mechanism]:
    """Subset selection: an output for each set of so many inputs, where these are few."""
    k, high, low = program.size, gamma.numerator, gamma.denominator
    for size in range(2, k - 1):
        count = comb(k, size)
        if k * count > SUBSETS:
            continue
        within = comb(k - 1, size - 1)
        columns = tuple(TwoValuedColumn(low, high, sum(1 << x for x in own)) for own in combinations(range(k), size))
        yield Mechanism(program.inputs, _labels(program, count), columns, (within * high + (count - within) * low,))


def _members(chosen: np.ndarray) -> int:
    """A set of inputs as a whole number, bit x for input x."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def _in_groups(program: Program) -> Iterator[Mechanism]:
    """k-RR among groups of nearly equal mass, as many as are best under LDP; nearly optimal for many inputs."""
    gamma = _ratio(program)
    if program.outputs is not None or not isinstance(program.utility, ColumnSum) or gamma is None or gamma <= 1:
        return
    curve = (curve_class(program.utility) or InformationCurve).at(min(log(gamma), STEEPEST))
    best = round((curve.gamma - 1.0) / (curve.ceiling()[1] - 1.0))
    count = min(best, program.size, max(2, GROUPED // program.size))
    if count < 2:
        return
    group = np.zeros(program.size, dtype=np.int64)
    masses = [(0, number) for number in range(count)]
    for x in sorted(range(program.size), key=lambda x: -program.weights[x]):
        mass, number = masses[0]
        group[x] = number
        heapq.heapreplace(masses, (mass + program.weights[x], number))
    high, low = gamma.numerator, gamma.denominator
    columns = tuple(TwoValuedColumn(low, high, _members(group == number)) for number in range(count))
    yield Mechanism(program.inputs, _labels(program, count), columns, (high + (count - 1) * low,))


def _in_halves(program: Program) -> Iterator[Mechanism]:
    """Each output is half of the inputs, a row of a Hadamard matrix: for estimation at small levels nearly the best."""
    k, gamma = program.size, _ratio(program)
    count = (1 << k.bit_length()) - 1
    if program.outputs is not None or gamma is None or k * count > LARGEST:
        return
    high, low = gamma.numerator, gamma.denominator
    columns = tuple(
        TwoValuedColumn(low, high, sum(1 << x for x in range(k) if ((x + 1) & y).bit_count() % 2 == 0))
        for y in range(1, count + 1)
    )
    yield Mechanism(program.inputs, _labels(program, count), columns, (count // 2 * high + (count - count // 2) * low,))


def _gains(program: Program) -> Iterator[FloatArray]:
    """The gain of each answer of each input (k x m) for a linear goal, and for each of the first inequalities over the
    matrix."""
    shape = program.size, len(program.outputs or ())
    if isinstance(program.utility, Linear):
        yield program.sign * program.utility.matrix(*shape)
    for row in [row for row in program.rows if row.sense == "<="][:ROWS]:
        yield -Linear(row.terms).matrix(*shape)


def _wanted(program: Program, gamma: Fraction | None) -> Iterator[Mechanism]:
    """Each input answers what a linear goal, or a row, would have it answer, as often as the ratio allows: among all
    outputs and, for a goal, among those that are worth most."""
    for number, gains in enumerate(_gains(program)):
        every = range(gains.shape[1])
        yield _one_each(program, gains, every, gamma)
        if not number and isinstance(program.utility, Linear) and gamma is not None and gamma > 1:
            above = gains - gains.min(axis=1, keepdims=True)
            totals = np.bincount(above.argmax(axis=1), above.max(axis=1), len(every))
            ranked = np.argsort(-totals, kind="stable")
            sums = float(gamma - 1) * np.cumsum(totals[ranked]) + np.cumsum(above.sum(axis=0)[ranked])
            best = int((sums / (float(gamma - 1) + np.arange(1, len(every) + 1))).argmax()) + 1
            for m in _numbers(len(every), best):
                yield _one_each(program, gains, ranked[:m].tolist(), gamma)


def _numbers(most: int, best: int) -> list[int]:
    """The numbers of outputs that are tried, more than one and fewer than `most`: every number where these are few,
    else powers of two and the best."""
    few = range(most) if most <= SHIFTED else (1 << bit for bit in range(most.bit_length()))
    return sorted(number for number in {*few, best} if 1 < number < most)


def _one_each(program: Program, gains: FloatArray, among: Sequence[int], gamma: Fraction | None) -> Mechanism:
    """Each input answers the output of `among` that gains it most gamma times as often as any other of them (always,
    where gamma is None)."""
    best = np.asarray(among)[gains[:, among].argmax(axis=1)]
    high, low = (1, 0) if gamma is None else (gamma.numerator, gamma.denominator)
    columns = [TwoValuedColumn(0, 1, 0)] * gains.shape[1]
    for y in among:
        columns[y] = TwoValuedColumn(low, high, _members(best == y))
    return Mechanism(program.inputs, _labels(program, len(columns)), tuple(columns), (high + (len(among) - 1) * low,))


def _best_constant(program: Program) -> Mechanism | None:
    """The best mechanism whose rows are all alike, as far as rows and cells say; None where there is none."""
    if program.outputs is None:
        return Mechanism(program.inputs, ("output 1",), (TwoValuedColumn(0, 1, (1 << program.size) - 1),), (1,))
    k, width = program.size, len(program.outputs)
    sums: dict[int, Fraction] = {}
    if isinstance(program.utility, Linear):
        whole = dict.fromkeys(range(width), 0)
        unit = common_denominator(value for *_, value in program.utility.cost)
        for _, y, value in program.utility.cost:
            whole[y] += value.numerator * (unit // value.denominator)
        sums = {y: Fraction(program.sign * number, unit) for y, number in whole.items() if number}
    everyone = (1 << k) - 1
    if not program.rows:
        if isinstance(program.utility, RowEntropy) or program.extra(ConcaveFloor) is not None:
            return _alike(program)
        best = max(range(width), key=lambda y: sums.get(y, Fraction(0)))
        columns = tuple(TwoValuedColumn(0, 1, everyone if y == best else 0) for y in range(width))
        return Mechanism(program.inputs, program.outputs, columns, (1,))
    if at_frequencies := _at_frequencies(program):
        return at_frequencies[0]
    row = _best_row(program, sums)
    return None if row is None else Mechanism.from_rationals([row] * k, inputs=program.inputs, outputs=program.outputs)


def _middle_constant(program: Program) -> Mechanism | None:
    """A constant with room to all rows, where there is one."""
    k = program.size
    if program.outputs is None or not program.rows:
        return _alike(program)
    twice = in_two_rows(program, {})
    anchor = None if twice is None else find_anchor(twice, np.full((2, len(program.outputs)), 1 / len(program.outputs)))
    if twice is None or anchor is None or isinstance(anchor, Refusal):
        return None
    row = _exact_row(twice, anchor.matrix)
    return None if row is None else Mechanism.from_rationals([row] * k, inputs=program.inputs, outputs=program.outputs)


def _best_row(program: Program, sums: dict[int, Fraction]) -> list[Fraction] | None:
    """The row r with the largest sum of `sums` whose repetition satisfies the coupling rows; None if none is found."""
    if (twice := in_two_rows(program, sums)) is None:
        return None
    model = entry_model(twice)
    found = model.programme().solve(None, None)
    return None if found.x is None or found.status != "optimal" else _exact_row(twice, model.entries(found.x))


def _exact_row(twice: Program, matrix: FloatArray) -> list[Fraction] | None:
    exact = round_to_mechanism(twice, matrix, twice.outputs)
    return None if isinstance(exact, Refusal) else [exact.entry(0, y) for y in range(len(exact.outputs))]


def _mix_in(program: Program, mechanism: Mechanism, base: Mechanism, enough: float) -> Mechanism | None:
    """`mechanism` with as little of `base` as satisfies the program; None where that is worth `enough` at most."""
    one, other = mechanism.matrix, base.matrix
    share = _linear_share(program, one, other)
    value = worth(program.utility, (1 - share) * one + share * other)
    if share >= 1 or (value is not None and program.sign * value <= enough):
        return None
    # How much of the mechanism stays: first its order of magnitude, which small limits leave little of.
    kept, found = 1 - Fraction(int(share * (1 << RATIO_BITS)), 1 << RATIO_BITS), None
    whole = _blend(mechanism, base, 1 - kept)
    if not program.excess(whole):
        return whole
    for _ in range(RATIO_BITS):
        kept /= 2
        if not program.excess(blended := _blend(mechanism, base, 1 - kept)):
            found = blended
            break
    step = kept
    for _ in range(HALVINGS if found is not None else 0):
        step /= 2
        if not program.excess(blended := _blend(mechanism, base, 1 - kept - step)):
            kept, found = kept + step, blended
    return found


def _linear_share(program: Program, one: FloatArray, other: FloatArray) -> float:
    """The least share of `other` with `one` that rows and the cone's rows allow, in floats; one if none does."""
    excess, room = [], []
    if program.rows:
        table = program.row_matrix(one.shape[1])
        right = np.array([float(row.rhs) for row in program.rows])
        above, own = table @ one.ravel() - right, table @ other.ravel() - right
        equal = np.array([row.sense == "=" for row in program.rows])
        excess.append(np.where(equal, np.abs(above), above))
        room.append(np.where(equal, np.abs(own), own))
    if isinstance(program.cone, PolyhedralCone):
        excess.append((program.cone.matrix @ one).ravel())
        room.append((program.cone.matrix @ other).ravel())
    if not excess:
        return 0.0
    above, own = np.concatenate(excess), np.concatenate(room)
    broken = above > GAIN
    if not broken.any():
        return 0.0
    if (own[broken] > GAIN).any():
        return 1.0
    return float((above[broken] / (above[broken] - own[broken])).max())


def _blend(one: Mechanism, other: Mechanism, share: Fraction) -> Mechanism:
    """(1 - share) one + share other, exact."""
    width = len(one.outputs)
    rows = [
        [(1 - share) * one.entry(x, y) + share * other.entry(x, y) for y in range(width)]
        for x in range(len(one.inputs))
    ]
    return Mechanism.from_rationals(rows, inputs=one.inputs, outputs=one.outputs)
