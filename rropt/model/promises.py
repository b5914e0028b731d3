"""The privacy that a problem promises, as one sentence: the notion and its level first, plain LDP after it.

It is read from the object `problem` of a certificate, which is what the checker proves: releases, reports and the
command line use the same sentence for the same design.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from rropt.errors import InputError, counted, named
from rropt.exact import declared_text, exp_enclosure, log_enclosure, shown
from rropt.model.identification import at_risk
from rropt.model.privacy.level import LARGEST_EPSILON, Level
from rropt.model.promised_columns import columns_of

DIGITS = 6
"""Significant digits of a level that is not a short number; it is rounded up."""
DECLARED = 10**12
"""Denominators up to this are tried for the declared epsilon of a ratio that was rounded."""
PLAIN = "LDP"
NO_PRIVACY = "no privacy"
NAMED = 6
"""Frequencies that a promise names; of more categories the most frequent ones."""


@dataclass(frozen=True)
class Promise:
    """One condition on privacy: the `notion`, its `level` ("epsilon 1, delta 0.05") and what it holds for ("" where
    that is every two inputs), with the `frequencies` that this states."""

    notion: str
    level: str
    scope: str = ""
    frequencies: str = ""

    @property
    def public(self) -> "Promise":
        """The promise without frequencies: those of data, with the number of records, are its exact counts."""
        stated = self.frequencies and self.scope.replace(self.frequencies, "stated in its certificate")
        return Promise(self.notion, self.level, stated or self.scope)

    def __str__(self) -> str:
        return f"{self.notion} ({self.level})" + (f" {self.scope}" if self.scope else "")


def promises(problem: Mapping[str, Any]) -> tuple[Promise, ...]:
    """All conditions on privacy of a certificate's `problem`, the cone's first. Raises KeyError, TypeError or
    ValueError for what the format does not allow."""
    inputs = tuple(problem["inputs"])
    found = list(_cone(problem["cone"], inputs))
    approximate = problem.get("approximate") or _all_events(problem)
    if approximate is not None:
        level = f"{_level(approximate)}, delta {declared_text(Fraction(approximate['delta']))}"
        found.append(Promise("approximate LDP", level))
    if "identification_risk" in problem:
        counts, at_most, promised_to = identification(problem)
        k = len(counts)
        scope = f"for counts of {counted(sum(counts), 'records')}"
        scope += "" if len(promised_to) == k else f", in {len(promised_to)} of {k} categories"
        found.append(Promise("identification risk", f"at most {declared_text(at_most)}", scope))
    if "entropy" in problem:
        found.append(_entropy(problem, inputs))
    found += [_limit(limit, inputs) for limit in problem.get("limits", ())]
    found += map(_notion, [*problem.get("divergences", ()), *problem.get("notions", ())])
    return tuple(found)


def identification(problem: Mapping[str, Any]) -> tuple[tuple[int, ...], Fraction, tuple[int, ...]]:
    """The counts of a certificate's `problem` that bounds the identification risk, the bound, and the categories for
    which it holds: those that the problem lists, and those with so many records that every mechanism keeps it. KeyError
    and the like as `promises`."""
    content = problem["identification_risk"]
    counts, at_most = tuple(map(int, content["counts"])), Fraction(content["at_most"])
    left_out = set(at_risk(counts, at_most)) - set(content["categories"])
    return counts, at_most, tuple(x for x in range(len(counts)) if x not in left_out)


def approximate_level(problem: Mapping[str, Any]) -> Level | None:
    """The level at which a certificate's `problem` promises approximate LDP; None where it does not. KeyError and the
    like as `promises`."""
    content = problem.get("approximate") or _all_events(problem)
    return None if content is None else declared_level(content)


def promised(problem: Mapping[str, Any] | None, parity: Fraction | float | None = None, public: bool = False) -> str:
    """One sentence: what `problem` promises (`public`: without frequencies), then the plain LDP of a mechanism of this
    `parity`, where it is given and was not promised itself: "robust LDP (epsilon 1) over the confidence set of 100
    counted people; plain LDP (epsilon 36.0437)". Without a problem (no certificate) the sentence has the parity
    alone."""
    found = () if problem is None else promises(problem)
    words = [" and ".join(str(one.public if public else one) for one in found)] if found else []
    if parity is not None and not any(one.notion == PLAIN for one in found):
        plain = "plain LDP" if found else "LDP"
        unbounded = isinstance(parity, float) and math.isinf(parity)
        excluded = f"{'no plain LDP' if found else NO_PRIVACY}: some output excludes an answer"
        words.append(excluded if unbounded else f"{plain} (epsilon {_logarithm(parity)})")
    return "; ".join(words) or "no privacy is promised"


def promises_to_list(problem: Mapping[str, Any]) -> list[dict[str, str]]:
    """The promises as JSON objects with the keys `notion`, `level` and `scope`, the last without frequencies."""
    return [{"notion": one.notion, "level": one.level, "scope": one.public.scope} for one in promises(problem)]


def _cone(cone: Mapping[str, Any], inputs: Sequence[str]) -> Sequence[Promise]:
    kind = cone["kind"]
    if kind == "complete":
        return [Promise(PLAIN, _level(cone))]
    if kind == "graph":
        return _graph(cone, inputs)
    if kind == "polyhedral":
        return [*_cone(cone["base"], inputs), *_columns(cone["rows"], inputs)]
    if kind == "robust":
        return [Promise("robust LDP", _level(cone), *_lower_bounds(cone, inputs))]
    if kind == "confidence":
        people = counted(sum(map(int, cone["counts"])), "counted people")
        product = " of each sensitive value" if cone["form"] == "product" else ""
        named = frequencies(inputs, cone["counts"])
        return [Promise("robust LDP", _level(cone), f"over the confidence set{product} of {people} {named}", named)]
    if kind != "free":
        raise ValueError(f"unknown cone {kind!r}")
    return []


def frequencies(inputs: Sequence[str], weights: Sequence[Any]) -> str:
    """Frequencies in a sentence, "(a 50 %; b 30 %; c 20 %)"; of many the largest. Raises ValueError."""
    exact = list(map(Fraction, weights))
    total = sum(exact, Fraction(0))
    if total <= 0:
        raise ValueError("frequencies without a positive one")
    return _listed(inputs, [weight / total for weight in exact])


def _listed(inputs: Sequence[str], shares: Sequence[Fraction]) -> str:
    both = list(zip(inputs, shares, strict=True))
    named = sorted(both, key=lambda one: -one[1])[:NAMED] if len(both) > NAMED else both
    told = [f"{label} {float(100 * share):.3g} %" for label, share in named]
    more = [f"{len(both) - len(told):,} more"] if len(told) < len(both) else []
    return f"({'; '.join([*told, *more])})"


def _group(inputs: Sequence[str], shares: Sequence[Fraction]) -> str:
    """The frequencies in a group of inputs."""
    within = [(label, share) for label, share in zip(inputs, shares, strict=True) if share]
    return frequencies(*zip(*within, strict=True))


def _columns(rows: Sequence[Sequence[str]], inputs: Sequence[str]) -> Sequence[Promise]:
    """What the rows on every column say."""
    told, found = columns_of(rows), []
    if told.pointwise is not None:
        ratio, prior = told.pointwise
        at, place = _listed(inputs, prior), "at the frequencies"
        found.append(Promise("pointwise maximal leakage", level_of_ratio(ratio), f"{place} {at}", at))
    for ratio, sides in told.means:
        named = [" against ".join(_group(inputs, side) for side in pair) for pair in sides[:NAMED]]
        named += [f"{counted(len(sides) - NAMED, 'more pairs')} of groups"] if len(sides) > NAMED else []
        groups = ", ".join(named)
        found.append(Promise("LDP of the means over groups", level_of_ratio(ratio), f"of people: {groups}", groups))
    if told.others or not found:
        found.append(Promise("linear conditions on every column", counted(told.others, "rows")))
    return found


def _limit(limit: Mapping[str, Any], inputs: Sequence[str]) -> Promise:
    """An upper limit on what leaks."""
    utility, most = limit["utility"], Fraction(limit["at_most"])
    kind = utility["kind"]
    number = limit_text(most)
    told = frequencies(inputs, limit["weights"])
    place = f"at the frequencies {told}", told
    if kind == "bayes":
        if is_maximal_leakage(limit):
            return Promise("maximal leakage", level_of_ratio(most))
        cells = {(x == y, entry) for x, row in enumerate(utility["gain"]) for y, entry in enumerate(row)}
        word = "Bayes success" if cells == {(True, "1"), (False, "0")} else "the gain of the best guess"
        return Promise(word, f"at most {number}", *place)
    word = {"mutual_information": "mutual information", "chi_square": "chi-square information"}[kind]
    given = " given another variable" if "given" in utility else ""
    return Promise(word + given, f"at most {number}{' nats' * (kind != 'chi_square')}", *place)


def limit_text(most: Fraction) -> str:
    """The number of an upper limit: as it was declared, or rounded up where it is long."""
    return declared_text(most) if most.denominator < DECLARED else shown(most, DIGITS, up=True)


def is_maximal_leakage(limit: Mapping[str, Any]) -> bool:
    """Whether a limit is one on the maximal leakage, which holds at all frequencies."""
    utility, size = limit["utility"], len(limit["weights"])
    if utility["kind"] != "bayes" or len(set(limit["weights"])) > 1 or Fraction(limit["at_most"]) <= 1:
        return False
    cells = {(x == y, entry) for x, row in enumerate(utility["gain"]) for y, entry in enumerate(row)}
    return cells == {(True, str(size)), (False, "0")}


def _notion(notion: Mapping[str, str]) -> Promise:
    """A bound on divergences, or on the capacity."""
    if notion["kind"] == "capacity":
        return Promise("channel capacity", f"at most {declared_text(Fraction(notion['at_most']))} nats")
    word = {"renyi": "Renyi LDP", "zero_concentrated": "zero-concentrated LDP"}[notion["kind"]]
    levels = {key: declared_text(Fraction(number)) for key, number in notion.items() if key != "kind"}
    return Promise(word, ", ".join(f"{key} {number}" for key, number in levels.items()))


def level_of_ratio(ratio: Fraction) -> str:
    """The level, in words, of a ratio: a declared gamma, or the lower end of the enclosure of a declared
    exp(epsilon)."""
    epsilon = log_enclosure(ratio).upper.limit_denominator(DECLARED)
    declared = exp_enclosure(epsilon).lower == ratio
    return _level({"epsilon": str(epsilon)} if declared else {"gamma": str(ratio)})


def _lower_bounds(cone: Mapping[str, Any], inputs: Sequence[str]) -> tuple[str, str]:
    """The set of distributions that least conditional probabilities leave, and the frequencies that this states."""
    lower = list(map(Fraction, cone["lower"]))
    sums = {sum((lower[x] for x in block), Fraction(0)) for block in cone["blocks"]}
    if sums == {0}:
        return "over all distributions", ""
    told = _listed(inputs, lower)
    if sums == {1}:
        return f"at the known distribution given each sensitive value {told}", told
    return f"over the distributions that have, given each sensitive value, at least the shares {told}", told


def _graph(cone: Mapping[str, Any], inputs: Sequence[str]) -> Sequence[Promise]:
    edges = {(x, z): Fraction(number) for x, z, number in cone["edges"]}
    numbers, unit, size = sorted(set(edges.values())), cone.get("unit", "epsilon"), len(inputs)
    if not numbers:
        return []
    if not set(range(size)).issuperset(chain.from_iterable(edges)):
        raise ValueError("an edge names an input that does not exist")
    joined = _joins_all(edges, size)
    if numbers == [unit == "gamma"] and joined:
        return [Promise(PLAIN, _level({"epsilon": "0"}))]
    groups = _groups(edges, size) if len(numbers) == 1 else []
    if groups:
        text = f"epsilon {declared_text(numbers[0])}" if unit == "epsilon" else _level({unit: str(numbers[0])})
        if len(groups) == size:
            return [Promise(PLAIN, text)]
        told = f"{len(groups):,} groups ({len(edges):,} of {size * (size - 1):,} ordered pairs are in different ones)"
        if len(groups) <= NAMED and size <= 2 * NAMED:
            told = " against ".join(named([inputs[x] for x in group], size) for group in groups)
        return [Promise("LDP between groups", text, f"of inputs, {told}; within a group at twice this epsilon")]
    ends = [declared_text(number) for number in (numbers[0], numbers[-1])]
    level = f"{unit} {ends[0] if len(numbers) == 1 else f'{ends[0]} to {ends[1]}'}"
    scope = _pairs(edges, inputs, len(numbers) > 1)
    if len(edges) < size * (size - 1):
        scope += f", other pairs by {'sums' if unit == 'epsilon' else 'products'} along paths"
        scope += "" if joined else " (without a path not at all)"
    return [Promise("metric privacy", level, scope)]


def _pairs(edges: Mapping[tuple[int, int], Fraction], inputs: Sequence[str], numbered: bool) -> str:
    """The pairs of a graph, where they are few; else how many they are."""
    both = [(x, z) for x, z in edges if x < z and edges.get((z, x)) == edges[x, z]]
    alone = [(x, z) for x, z in edges if edges.get((z, x)) != edges[x, z]]
    if len(both) + len(alone) > NAMED:
        return f"for {len(edges):,} of {counted(len(inputs) * (len(inputs) - 1), 'ordered pairs')} of inputs"

    def listed(pairs: Sequence[tuple[int, int]], word: str) -> str:
        told = (f"{inputs[x]!r} {word} {inputs[z]!r}" for x, z in pairs)
        ends = (f" ({declared_text(edges[pair])})" if numbered else "" for pair in pairs)
        return ", ".join(map("".join, zip(told, ends, strict=True)))

    words = [f"between {listed(both, 'and')}"] if both else []
    if alone:
        bounded = "(one way: outputs at the first are bounded by those at the second)"
        words.append(f"of {listed(alone, 'against')} {bounded}")
    return " and ".join(words)


def _groups(edges: Mapping[tuple[int, int], Fraction], size: int) -> list[list[int]]:
    """The groups of inputs between which the edges are, where these are all pairs of different groups; else none."""
    beside: list[set[int]] = [set() for _ in range(size)]
    for x, z in edges:
        beside[x].add(z)
    found: dict[frozenset[int], list[int]] = {}
    for x, others in enumerate(beside):
        found.setdefault(frozenset(others), []).append(x)
    return list(found.values()) if all(len(others) + len(own) == size for others, own in found.items()) else []


def _joins_all(edges: Iterable[tuple[int, int]], size: int) -> bool:
    """Whether directed edges lead from each of `size` inputs to each other one."""
    ahead: list[list[int]] = [[] for _ in range(size)]
    back: list[list[int]] = [[] for _ in range(size)]
    for x, z in edges:
        ahead[x].append(z)
        back[z].append(x)
    return all(_reached(beside) == size for beside in (ahead, back))


def _reached(beside: Sequence[Sequence[int]]) -> int:
    reached, waiting = {0}, [0]
    while waiting:
        new = set(beside[waiting.pop()]) - reached
        reached |= new
        waiting += new
    return len(reached)


def _entropy(problem: Mapping[str, Any], inputs: Sequence[str]) -> Promise:
    """The weighted mean of the entropies of the rows: a share of the largest possible, or in nats."""
    content, size = problem["entropy"], len(inputs)
    least, shares = Fraction(content["at_least"]), list(map(Fraction, content["shares"]))
    told = frequencies(inputs, shares)  # raises ValueError where all are 0
    even = len(set(shares)) == 1
    if even and set(content["sizes"]) == {size} == {len(problem["outputs"])}:
        level = f"{declared_text(least)} of the largest possible"
    else:
        logs = {number: log_enclosure(Fraction(number)).lower for number in content["sizes"] if number > 1}
        pairs = zip(shares, content["sizes"], strict=True)
        total = sum((share * logs.get(number, Fraction(0)) for share, number in pairs), Fraction(0))
        level = f"{shown(least * total / sum(shares), DIGITS, up=False)} nats"
    place = ("", "") if even else (f"with the weights {told}", told)
    return Promise("entropy of the rows", f"on average at least {level}", *place)


def _all_events(problem: Mapping[str, Any]) -> dict[str, str] | None:
    """What the rows say where they are approximate LDP written out, Q[x, S] - g Q[z, S] <= delta for every two inputs
    and every set S of outputs; else None. Read from their numbers, not from their names."""
    outputs = problem["outputs"]
    if outputs is None:
        return None
    k, m = len(problem["inputs"]), len(outputs)
    events: dict[tuple[str, str], set[tuple[int, int, tuple[int, ...]]]] = {}
    for row in problem["rows"]:
        plus = [(x, y) for x, y, number in row["terms"] if number == "1"]
        minus = [(z, y) for z, y, number in row["terms"] if number != "1"]
        numbers = {number for *_, number in row["terms"]} - {"1"}
        chosen = tuple(y for _, y in plus)
        if (
            row["sense"] == "<="
            and (len(numbers), len({x for x, _ in plus}), len({z for z, _ in minus})) == (1, 1, 1)
            and chosen == tuple(y for _, y in minus)
        ):
            key = (numbers.pop(), row["rhs"])
            events.setdefault(key, set()).add((plus[0][0], minus[0][0], chosen))
    most = exp_enclosure(Fraction(LARGEST_EPSILON)).lower
    whole = [
        key
        for key, found in events.items()
        if len(found) == k * (k - 1) * (2**m - 2) and 1 < -Fraction(key[0]) <= most and 0 < Fraction(key[1]) < 1
    ]
    if not whole:
        return None
    # Of several the strictest in delta comes first; the others are treated as any other rows.
    ratio, delta = min(whole, key=lambda key: Fraction(key[1]))
    gamma = -Fraction(ratio)
    epsilon = log_enclosure(gamma).lower.limit_denominator(DECLARED)
    own = {"epsilon": str(epsilon)} if exp_enclosure(epsilon).upper == gamma else {"gamma": str(gamma)}
    return {**own, "delta": delta}


def plain_ratio(problem: Mapping[str, Any]) -> Fraction | None:
    """A ratio at which plain LDP keeps every promise of `problem` on privacy; None where it promises none. Raises
    InputError where no level of plain LDP keeps them. KeyError and the like as `promises`."""
    found = []
    cone = problem["cone"]
    if cone["kind"] == "graph":
        numbers = [number for *_, number in cone["edges"]]
        found += [declared_level({cone.get("unit", "epsilon"): min(numbers, key=Fraction)})] if numbers else []
    elif cone["kind"] not in ("free", "polyhedral"):
        found.append(declared_level(cone))
    approximate = problem.get("approximate") or _all_events(problem)
    if approximate is not None:
        found.append(declared_level(approximate))
    further = {"identification_risk", "entropy", "limits", "divergences", "notions"} & set(problem)
    if cone["kind"] == "polyhedral" or further:
        raise InputError(
            f"no level of LDP is known that keeps its promise: {promised(problem)}",
            "certificate",
            "mix in a design that keeps it: rropt.estimation.identifying(mechanism, with_=design, share=...) in Python",
        )
    return min((level.ratio.lower for level in found), default=None)


def declared_level(content: Mapping[str, Any]) -> Level:
    """The level that an object of the format declares by its key `epsilon` or `gamma`."""
    if "epsilon" in content:
        return Level.or_secrecy(Fraction(content["epsilon"]))
    return Level.or_secrecy(gamma=Fraction(content["gamma"]))


def _level(content: Mapping[str, Any]) -> str:
    """The declared level, "epsilon 1"; of a ratio its logarithm too: "gamma 3, epsilon 1.09862"."""
    level = declared_level(content)
    if level.gamma is None:
        return str(level)
    return f"{level}, epsilon {shown(level.log_ratio.upper, DIGITS, up=True)}"


def _logarithm(parity: Fraction | float) -> str:
    return shown(log_enclosure(Fraction(parity)).upper, DIGITS, up=True)
