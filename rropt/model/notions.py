"""Notions of privacy that are rows or gains, recognised by their numbers alone: names and order say nothing.

Each recogniser has the proof that what it returns follows from the rows. Where it does not match, it returns nothing,
and the rows count as any others: a row that is missing, void or of another shape must never be taken for one that
protects. Rows that only say the same are not recognised either.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Any, Literal

Row = tuple[Fraction, ...]
Pair = tuple[Row, Row]


@dataclass(frozen=True)
class Columns:
    """The guarantees that rows on every column imply.

    `pointwise` has (r, p) of pointwise maximal leakage at the distribution p. `means` has (r, [(a, b), ...]) of LDP
    between the means over two groups of inputs, for pairs of distributions a and b that have no input in common.
    `guesses` has (s, p) of Bayes success at most s at the distribution p, where s is the largest of p. `others` is the
    number of the other rows.
    """

    pointwise: tuple[tuple[Fraction, Row], ...]
    means: tuple[tuple[Fraction, tuple[Pair, ...]], ...]
    guesses: tuple[tuple[Fraction, Row], ...]
    others: int


def columns_of(rows: Sequence[Sequence[str]]) -> Columns:
    """The notions that rows state, each in any positive unit, and how many rows are left. Raises ValueError for an
    argument that is not a number."""
    exact = [tuple(map(Fraction, row)) for row in rows]
    pointwise, used = _pointwise(exact)
    means, rest = _means([row for row in exact if row not in used])
    guesses, others = _guesses(rest)
    return Columns(tuple(pointwise), tuple(means.items()), tuple(guesses), others)


def _pointwise(rows: Sequence[Row]) -> tuple[list[tuple[Fraction, Row]], set[Row]]:
    """Pointwise maximal leakage, v_x <= r p . v for every x with p_x > 0, and its rows: multiples of e_x - r p.

    Proof. The rows say v_x <= s . v, with s = r p >= 0 and r > 1 the sum of s. Hence max over p_x > 0 of Q[x, y] / (p .
    Q[., y]) is at most r for every output. Divided by minus its sum, a row is t (e_x - s) with t = 1 / (r - 1): two of
    them differ by t at two inputs and nowhere else, which gives t and s. Rows that hold for every v >= 0 state a notion
    only beside others, or where all of them are such: else many distributions would have them.
    """
    units: dict[Row, Row] = {
        row: tuple(number / -total for number in row) for row in rows if (total := sum(row, Fraction(0))) < 0
    }
    given = sorted({one for one in units.values() if sum(number > 0 for number in one) < 2}, reverse=True)
    places, void = {one: at for at, one in enumerate(given)}, {at for at, one in enumerate(given) if max(one) <= 0}
    alone = len(void) == len(set(units.values())) and len(units) == len(set(rows))
    by_support: dict[tuple[Any, ...], list[int]] = {}
    for at, row in enumerate(given):
        support = [x for x, number in enumerate(row) if number]
        # In a row that holds anyway the number at its own input may be 0.
        lacking = [x for x in range(len(row)) if not row[x]] if at in void else []
        for own in (support, *(sorted([*support, x]) for x in lacking)):
            # Of three numbers two rows have one in common.
            for key in [(z, row[z]) for z in own[:3]] if len(own) > 2 else [()]:
                by_support.setdefault((*own, key), []).append(at)
    guesses = {places.get(one) for row, one in units.items() if sum(map(abs, row)) == 1}
    found, used, pairs = set[tuple[Fraction, Row]](), set[int](), list[tuple[tuple[Fraction, Row], list[int]]]()
    for (*support, _), alike in by_support.items():
        for one, other in combinations(alike, 2):
            if one in used and other in used:
                continue
            apart = list(islice((x for x in support if given[one][x] != given[other][x]), 3))
            if len(apart) != 2:
                continue
            x = max(apart, key=lambda x: given[one][x] - given[other][x])
            step = given[one][x] - given[other][x]
            shares = tuple((x == z) - number / step for z, number in enumerate(given[one]))
            rows_of = [places.get(_row(shares, x, step)) for x in support if shares[x]]
            if min(shares) < 0 or None in rows_of or (not alone and void.issuperset(rows_of)):
                continue
            ratio, members = sum(shares, Fraction(0)), [at for at in rows_of if at is not None]
            notion = ratio, tuple(share / ratio for share in shares)
            if len(members) > 2:
                found.add(notion)
                used.update(members)
            # Over two inputs with equal shares it is LDP, and any two rows are this notion: they are called LDP, or two
            # limits on guesses, where they are written as these.
            elif all(_row(shares, z) in units for z in apart) or not (
                len({shares[z] for z in apart}) == 1 or guesses.issuperset(members)
            ):
                pairs.append((notion, members))
    # Several over two inputs each are ratios of two inputs, as of a graph.
    if len({notion for notion, _ in pairs}) == 1:
        found.add(pairs[0][0])
        used.update(pairs[0][1])
    return sorted(found), {row for row, one in units.items() if places.get(one) in used}


def _row(shares: Row, x: int, step: Fraction = Fraction(1)) -> Row:
    """A multiple of e_x - s."""
    return tuple(step * ((x == z) - share) for z, share in enumerate(shares))


def _means(rows: Sequence[Row]) -> tuple[dict[Fraction, tuple[Pair, ...]], list[Row]]:
    """LDP of means, and the rows that are not of that form.

    Proof. A row with both signs, divided by the sum of its positive numbers, says a . v <= r b . v: a and b are >= 0,
    sum to 1 and have no input in common. It is one of two, the other being b . v <= r a . v: for every output the
    means of Q[., y] under a and b have at most the ratio r. (Some ratio is below 1 only if all columns are zero.)
    """
    sides = [_sides(row) for row in rows]
    known = {one for one in sides if one is not None}
    found: dict[Fraction, dict[Pair, None]] = {}
    rest = []
    for row, one in zip(rows, sides, strict=True):
        if one is None or (one[0], one[2], one[1]) not in known:
            rest.append(row)
        elif (one[2], one[1]) not in found.setdefault(one[0], {}):
            found[one[0]][one[1], one[2]] = None
    return {ratio: tuple(pairs) for ratio, pairs in found.items()}, rest


def _guesses(rows: Sequence[Row]) -> tuple[list[tuple[Fraction, Row]], int]:
    """Bayes success at its least value, and how many rows are none of it.

    Proof. Rows c_x v_x <= c_b v_b with one b for all other inputs x, and c_x >= 0, say that the guess b is best at
    every output: sum over y of max_x c_x Q[x, y] is that of c_b Q[b, y], which is c_b. With p = c / (sum of c) the best
    guess is right with the probability p_b. A row that follows from one of these, as v >= 0, says no more.
    """
    size = len(rows[0]) if rows else 0
    stars: dict[int, dict[int | None, Fraction]] = {}
    for row in rows:
        above = [x for x, number in enumerate(row) if number > 0]
        below = [x for x, number in enumerate(row) if number < 0]
        if len(below) == 1 and len(above) < 2:
            own, x = stars.setdefault(below[0], {}), above[0] if above else None
            own[x] = max(own.get(x, Fraction(0)), max(row) / -row[below[0]])
    found = []
    for b, scores in stars.items():
        whole = [Fraction(1) if x == b else scores.get(x, Fraction(0)) for x in range(size)]
        # Inputs whose frequency is 0 have the row -v_b <= 0. A row that holds for no matrix has a larger number than 1.
        if max(whole) == 1 and (None in scores or all(whole)) and set(scores) != {None}:
            found.append((b, whole))
    if len(found) == size > 2:  # a ratio of every two inputs, as of a graph
        return [], len(rows)
    guesses = [(1 / sum(whole, Fraction(0)), tuple(number / sum(whole) for number in whole)) for _, whole in found]
    return guesses, sum(not any(_follows(row, whole, b) for b, whole in found) for row in rows)


def _follows(row: Row, scores: Sequence[Fraction], b: int) -> bool:
    """Whether row . v <= 0 follows from v >= 0 and scores_x v_x <= v_b for one x."""
    above = [x for x, number in enumerate(row) if number > 0]
    return len(above) < 2 and row[b] < 0 and all(row[x] <= -row[b] * scores[x] for x in above)


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
    """The meaning of an upper limit on the gain of the best of some actions: at most `number` of the `notion`, of
    maximal leakage its ratio, of "gain" that of these actions, not a notion."""

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
    of events belong to none.

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
