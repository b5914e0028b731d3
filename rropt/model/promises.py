"""The privacy that a problem promises, as one sentence: the notion and its level first, plain LDP after it.

It is read from the object `problem` of a certificate, which is what the checker proves: releases, reports and the
command line use the same sentence for the same design.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from rropt.errors import InputError, counted
from rropt.exact import declared_text, exp_enclosure, log_enclosure, shown
from rropt.model.identification import at_risk
from rropt.model.privacy.level import LARGEST_EPSILON, Level

DIGITS = 6
"""Significant digits of a level that is not a short number; it is rounded up."""
DECLARED = 10**12
"""Denominators up to this are tried for the declared epsilon of a ratio that was rounded."""
PLAIN = "LDP"
AT_PRIOR = "at the prior of its certificate"


@dataclass(frozen=True)
class Promise:
    """One condition on privacy: the `notion`, its `level` ("epsilon 1, delta 0.05") and what it holds for ("" where
    that is every two inputs)."""

    notion: str
    level: str
    scope: str = ""

    def __str__(self) -> str:
        return f"{self.notion} ({self.level})" + (f" {self.scope}" if self.scope else "")


def promises(problem: Mapping[str, Any]) -> tuple[Promise, ...]:
    """All conditions on privacy of a certificate's `problem`, the cone's first. Raises KeyError, TypeError or
    ValueError for what the format does not allow."""
    found = list(_cone(problem["cone"], len(problem["inputs"])))
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
        share = declared_text(Fraction(problem["entropy"]["at_least"]))
        found.append(Promise("entropy of the rows", f"at least {share} of the largest possible"))
    found += map(_limit, problem.get("limits", ()))
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


def promised(problem: Mapping[str, Any] | None, parity: Fraction | float | None = None) -> str:
    """One sentence: what `problem` promises, then the plain LDP of a mechanism of this `parity`, where it is given and
    was not promised itself: "robust LDP (epsilon 1) over the confidence set of 100 counted people; plain LDP (epsilon
    36.0437)". Without a problem (no certificate) the sentence has the parity alone."""
    found = () if problem is None else promises(problem)
    words = [" and ".join(map(str, found))] if found else []
    if parity is not None and not any(one.notion == PLAIN for one in found):
        words.append(f"{'plain ' if found else ''}LDP (epsilon {_logarithm(parity)})")
    return "; ".join(words) or "no privacy is promised"


def promises_to_list(problem: Mapping[str, Any]) -> list[dict[str, str]]:
    """The promises as JSON objects with the keys `notion`, `level` and `scope`."""
    return [asdict(one) for one in promises(problem)]


def _cone(cone: Mapping[str, Any], size: int) -> Sequence[Promise]:
    kind = cone["kind"]
    if kind == "complete":
        return [Promise(PLAIN, _level(cone))]
    if kind == "graph":
        return _graph(cone, size)
    if kind == "polyhedral":
        pointwise = _pointwise(cone)
        rows = counted(len(cone["rows"]), "rows")
        return [*_cone(cone["base"], size), pointwise or Promise("linear conditions on every column", rows)]
    if kind == "robust":
        return [Promise("robust LDP", _level(cone), _lower_bounds(cone))]
    if kind == "confidence":
        people = sum(map(int, cone["counts"]))
        product = " of each sensitive value" if cone["form"] == "product" else ""
        return [
            Promise(
                "robust LDP", _level(cone), f"over the confidence set{product} of {counted(people, 'counted people')}"
            )
        ]
    if kind != "free":
        raise ValueError(f"unknown cone {kind!r}")
    return []


def _pointwise(cone: Mapping[str, Any]) -> Promise | None:
    """Pointwise maximal leakage, where the rows are v_x - r p . v <= 0 for every x with p_x > 0, of one ratio r and one
    distribution p; else None."""
    rows = [[Fraction(number) for number in row] for row in cone["rows"]]
    # The difference of two rows is 1 at the input of the first one.
    own = [x for x, (one, other) in enumerate(zip(*rows[:2], strict=True)) if one - other == 1] if rows[1:] else []
    if len(own) != 1:
        return None
    scaled = [(x == own[0]) - number for x, number in enumerate(rows[0])]
    ratio = sum(scaled, Fraction(0))
    wanted = [[(x == z) - share for z, share in enumerate(scaled)] for x, share in enumerate(scaled) if share]
    if ratio <= 1 or rows != wanted:
        return None
    return Promise("pointwise maximal leakage", _of_ratio(ratio), AT_PRIOR)


def _limit(limit: Mapping[str, Any]) -> Promise:
    """An upper limit on what leaks."""
    utility, most = limit["utility"], Fraction(limit["at_most"])
    kind, size = utility["kind"], len(limit["weights"])
    number = declared_text(most) if most.denominator < DECLARED else shown(most, DIGITS, up=True)
    if kind == "bayes":
        cells = {(x == y, entry) for x, row in enumerate(utility["gain"]) for y, entry in enumerate(row)}
        if cells == {(True, str(size)), (False, "0")} and len(set(limit["weights"])) == 1 and most > 1:
            return Promise("maximal leakage", _of_ratio(most))
        word = "Bayes success" if cells == {(True, "1"), (False, "0")} else "the gain of the best guess"
        return Promise(word, f"at most {number}", AT_PRIOR)
    word = {"mutual_information": "mutual information", "chi_square": "chi-square information"}[kind]
    given = " given another variable" if "given" in utility else ""
    return Promise(word + given, f"at most {number}{' nats' * (kind != 'chi_square')}", AT_PRIOR)


def _notion(notion: Mapping[str, str]) -> Promise:
    """A bound on divergences, or on the capacity."""
    if notion["kind"] == "capacity":
        return Promise("channel capacity", f"at most {declared_text(Fraction(notion['at_most']))} nats")
    word = {"renyi": "Renyi LDP", "zero_concentrated": "zero-concentrated LDP"}[notion["kind"]]
    levels = {key: declared_text(Fraction(number)) for key, number in notion.items() if key != "kind"}
    return Promise(word, ", ".join(f"{key} {number}" for key, number in levels.items()))


def _of_ratio(ratio: Fraction) -> str:
    """The level of a ratio that is a declared gamma, or the lower end of the enclosure of a declared exp(epsilon)."""
    epsilon = log_enclosure(ratio).upper.limit_denominator(DECLARED)
    declared = exp_enclosure(epsilon).lower == ratio
    return _level({"epsilon": str(epsilon)} if declared else {"gamma": str(ratio)})


def _lower_bounds(cone: Mapping[str, Any]) -> str:
    """The set of distributions that least conditional probabilities leave."""
    sums = {sum((Fraction(cone["lower"][x]) for x in block), Fraction(0)) for block in cone["blocks"]}
    if sums == {1}:
        return "at the known distribution"
    return "over all distributions" if sums == {0} else "over the distributions within the certificate's bounds"


def _graph(cone: Mapping[str, Any], size: int) -> Sequence[Promise]:
    numbers = sorted({Fraction(number) for *_, number in cone["edges"]})
    if not numbers:
        return []
    if numbers == [cone.get("unit") == "gamma"] and _joins_all(cone["edges"], size):
        return [Promise(PLAIN, _level({"epsilon": "0"}))]
    ends = [declared_text(number) for number in (numbers[0], numbers[-1])]
    pairs = len(cone["edges"])
    level = f"{cone.get('unit', 'epsilon')} {ends[0] if len(numbers) == 1 else f'{ends[0]} to {ends[1]}'}"
    return [Promise("metric privacy", level, f"for {counted(pairs, 'ordered pairs')} of inputs")]


def _joins_all(edges: Sequence[Sequence[Any]], size: int) -> bool:
    """Whether edges that go both ways join all `size` inputs."""
    listed = {(x, z) for x, z, _ in edges}
    beside: list[list[int]] = [[] for _ in range(size)]
    for x, z in listed:
        if (z, x) in listed:
            beside[x].append(z)
    reached, waiting = {0}, [0]
    while waiting:
        new = set(beside[waiting.pop()]) - reached
        reached |= new
        waiting += new
    return len(reached) == size


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
    if isinstance(parity, float) and math.isinf(parity):
        return "infinite"
    return shown(log_enclosure(Fraction(parity)).upper, DIGITS, up=True)
