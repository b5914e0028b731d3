"""Notions of privacy that are rows or gains, recognised by their numbers alone: names and order say nothing.

Each recogniser has the proof that what it returns follows from the rows. Where it does not match, it returns nothing,
and the rows count as any others: a row that is missing, void or of another shape must never be taken for one that
protects. Rows that only say the same are not recognised either.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

Row = tuple[Fraction, ...]
Pair = tuple[Row, Row]


@dataclass(frozen=True)
class Columns:
    """What rows on every column say.

    `pointwise` has (r, p) of pointwise maximal leakage at the distribution p. `means` has (r, [(a, b), ...]) of LDP
    between the means over two groups of inputs, for pairs of distributions a and b that have no input in common.
    `others` is the number of the other rows.
    """

    pointwise: tuple[tuple[Fraction, Row], ...]
    means: tuple[tuple[Fraction, tuple[Pair, ...]], ...]
    others: int


def columns_of(rows: Sequence[Sequence[str]]) -> Columns:
    """The notions that rows state, and how many rows are left. Raises ValueError for what is not a number."""
    exact = [tuple(map(Fraction, row)) for row in rows]
    pointwise, used = _pointwise(exact)
    rest = [row for row in exact if row not in used]
    means, others = _means(rest)
    return Columns(tuple(pointwise), tuple(means.items()), others)


def _pointwise(rows: Sequence[Row]) -> tuple[list[tuple[Fraction, Row]], set[Row]]:
    """Pointwise maximal leakage, v_x <= r p . v for every x with p_x > 0, and its rows e_x - r p.

    Proof. The rows say v_x <= s . v, with s = r p >= 0 and r the sum of s. Where s_x >= 1 no row is needed: v >= 0, so
    that v_x <= s_x v_x <= s . v. Hence max over p_x > 0 of Q[x, y] / (p . Q[., y]) is at most r for every output.
    """
    given, found, used = set(rows), list[tuple[Fraction, Row]](), set[Row]()
    scales: dict[Row, bool] = {}
    for row in given:
        above = [x for x, number in enumerate(row) if number > 0]
        if len(above) == 1 and row[above[0]] < 1:
            scales[_plus(row, above[0])] = True
    # Where no row is needed, all are asked for: else many distributions would have them.
    if not scales and given:
        first = min(given)
        scales = {_plus(first, x): False for x in range(len(first)) if max(first) <= 0}
    for scaled, may_lack in scales.items():
        ratio, there = sum(scaled, Fraction(0)), [x for x, share in enumerate(scaled) if share]
        own = (tuple((x == z) - share for z, share in enumerate(scaled)) for x in there)
        if ratio >= 1 and all(row in given or (may_lack and scaled[x] >= 1) for x, row in zip(there, own, strict=True)):
            found.append((ratio, tuple(share / ratio for share in scaled)))
            used.update(tuple((x == z) - share for z, share in enumerate(scaled)) for x in there)
    return sorted(found), used


def _plus(row: Row, x: int) -> Row:
    """s of the row e_x - s."""
    return tuple((x == z) - number for z, number in enumerate(row))


def _means(rows: Sequence[Row]) -> tuple[dict[Fraction, tuple[Pair, ...]], int]:
    """LDP of means, and how many rows are none of it.

    Proof. A row with both signs, divided by the sum of its positive numbers, says a . v <= r b . v: a and b are >= 0,
    sum to 1 and have no input in common. It is one of two, the other being b . v <= r a . v: for every output the
    means of Q[., y] under a and b have at most the ratio r. (Some ratio is below 1 only if all columns are zero.)
    """
    sides = [_sides(row) for row in rows]
    known = {one for one in sides if one is not None}
    paired = [one is not None and (one[0], one[2], one[1]) in known for one in sides]
    found: dict[Fraction, dict[Pair, None]] = {}
    for one, is_paired in zip(sides, paired, strict=True):
        if one is not None and is_paired and (one[2], one[1]) not in found.setdefault(one[0], {}):
            found[one[0]][one[1], one[2]] = None
    return {ratio: tuple(pairs) for ratio, pairs in found.items()}, paired.count(False)


def _sides(row: Row) -> tuple[Fraction, Row, Row] | None:
    """(r, a, b) of a row a . v <= r b . v with r >= 1; None for any other one."""
    above = sum((number for number in row if number > 0), Fraction(0))
    below = -sum((number for number in row if number < 0), Fraction(0))
    if not 0 < above <= below:
        return None
    one, other = (tuple(max(sign * number, Fraction(0)) for number in row) for sign in (1, -1))
    return below / above, tuple(number / above for number in one), tuple(number / below for number in other)


@dataclass(frozen=True)
class Gain:
    """What an upper limit on the gain of the best of some actions says: at most `number` of the `notion`, of maximal
    leakage its ratio, of "gain" that of these actions, which is no notion."""

    notion: Literal["Bayes success", "maximal leakage", "gain"]
    number: Fraction


def gain_of(limit: Mapping[str, Any]) -> Gain:
    """The notion of a limit on sum over y of max over actions a of sum over x of s[a][x] Q[x, y], s[a][x] = p_x gain.

    Proof. Let there be actions with the score c_x > 0 at one input x and 0 elsewhere (the largest c_x; 0 where x has
    none, but not for all x). The gain is at least sum_y max_x c_x Q[x, y], and no more if all other actions have scores
    below those of one of these, as Q >= 0. Where c is p, that is the probability that the best guess at the input is
    right. Where all c_x are one number c, it is c times sum_y max_x Q[x, y], whose logarithm is the maximal leakage
    (Issa, Wagner and Kamath 2020, Theorem 1). Where c is a multiple of p, it is this multiple of Bayes success.
    """
    weights, most = list(map(Fraction, limit["weights"])), Fraction(limit["at_most"])
    prior = [weight / sum(weights) for weight in weights]
    scores = {
        tuple(p * Fraction(entry) for p, entry in zip(prior, action, strict=True))
        for action in limit["utility"]["gain"]
    }
    positive = {score: [x for x, number in enumerate(score) if number > 0] for score in scores}
    best = [Fraction(0)] * len(prior)
    for score, there in positive.items():
        if len(there) == 1 and min(score) >= 0:
            best[there[0]] = max(best[there[0]], score[there[0]])
    below = all(len(there) < 2 and all(score[x] <= best[x] for x in there) for score, there in positive.items())
    if below and any(best):
        if best == prior:
            return Gain("Bayes success", most)
        if len(set(best)) == 1 and most >= best[0]:
            return Gain("maximal leakage", most / best[0])
        multiples = {one / p if p else Fraction(0) for one, p in zip(best, prior, strict=True) if one or p}
        if len(multiples) == 1 and min(multiples) > 0:
            return Gain("Bayes success", most / min(multiples))
    return Gain("gain", most)


def events_of(problem: Mapping[str, Any]) -> tuple[list[tuple[Fraction, Fraction]], int]:
    """(g, delta) of every approximate LDP that rows on the matrix write out, the least delta first; and how many rows
    of events are no part of one.

    Proof. The rows of one (g, delta) are, divided by a positive number, Q[x, S] - g Q[z, S] <= delta, for two different
    inputs x and z and a set S of outputs. They are counted once for each (x, z, S) with S neither empty nor all
    outputs, so that k (k - 1) (2^m - 2) of them are all there are. The two sets that are left need none: there the left
    side is 0, or 1 - g <= 0. So Q(S | x) <= g Q(S | z) + delta for all inputs and all sets.
    """
    if problem["outputs"] is None:
        return [], 0
    k, m, keys = len(problem["inputs"]), len(problem["outputs"]), list[tuple[Fraction, Fraction]]()
    events: dict[tuple[Fraction, Fraction], set[tuple[int, int, tuple[int, ...]]]] = {}
    for row in problem["rows"]:
        if (event := _event(row)) is not None:
            ratio, delta, x, z, chosen = event
            keys.append((ratio, delta))
            inside = {x, z} <= set(range(k)) and set(chosen) < set(range(m))
            if inside and ratio >= 1 and 0 < delta < 1:
                events.setdefault((ratio, delta), set()).add((x, z, chosen))
    whole = [key for key, found in events.items() if len(found) == k * (k - 1) * (2**m - 2)]
    return sorted(whole, key=lambda key: (key[1], key[0])), sum(key not in whole for key in keys)


def _event(row: Mapping[str, Any]) -> tuple[Fraction, Fraction, int, int, tuple[int, ...]] | None:
    """(g, delta, x, z, S) of a row Q[x, S] - g Q[z, S] <= delta, S in order and not empty; None for any other one."""
    sides: dict[bool, dict[tuple[int, int], Fraction]] = {True: {}, False: {}}
    for x, y, text in row["terms"]:
        number = Fraction(text)
        if number:
            sides[number > 0][x, y] = number
    if row["sense"] != "<=" or any(
        len(set(own.values())) != 1 or len({x for x, _ in own}) != 1 for own in sides.values()
    ):
        return None
    (x, *_), (z, *_) = ({x for x, _ in own} for own in sides.values())
    chosen, other = (tuple(sorted(y for _, y in own)) for own in sides.values())
    scale, below = (next(iter(own.values())) for own in sides.values())
    return (-below / scale, Fraction(row["rhs"]) / scale, x, z, chosen) if chosen == other and x != z else None


def groups_of(edges: Mapping[tuple[int, int], Fraction], size: int) -> list[list[int]]:
    """The groups of inputs between which directed edges of one ratio are, each two ways; [] where there are no such.

    Proof. Inputs with the same neighbours are one group. If these are, for each input, all that are not in its group,
    an edge leads from every input to every one of another group. Two of one group are bounded through any input of
    another one, by the square.
    """
    beside: list[set[int]] = [set() for _ in range(size)]
    for x, z in edges:
        beside[x].add(z)
    found: dict[frozenset[int], list[int]] = {}
    for x, others in enumerate(beside):
        found.setdefault(frozenset(others), []).append(x)
    whole = len(found) > 1 and all(
        others.isdisjoint(own) and len(others) + len(own) == size for others, own in found.items()
    )
    return list(found.values()) if whole else []


def joins_all(edges: Mapping[tuple[int, int], Fraction], size: int) -> bool:
    """Whether directed edges lead from each of `size` inputs to each other one: from the first to all, and from all to
    the first."""
    ahead: list[list[int]] = [[] for _ in range(size)]
    back: list[list[int]] = [[] for _ in range(size)]
    for x, z in edges:
        ahead[x].append(z)
        back[z].append(x)
    return all(sum(1 for _ in _reached(beside)) == size for beside in (ahead, back))


def _reached(beside: Sequence[Sequence[int]]) -> Iterator[int]:
    reached, waiting = {0}, [0]
    while waiting:
        at = waiting.pop()
        yield at
        new = set(beside[at]) - reached
        reached |= new
        waiting += new
