"""The privacy that a problem guarantees, as one sentence: the notion and its level first, plain LDP after it.

It is read from the object `problem` of a certificate, which is what the checker proves: releases, reports and the
command line use the same sentence for the same design. Each notion has one recogniser, here where the format has a key
for it and in `model.notions` where it is rows; what none recognises is reported as rows or a gain, and not as a notion.
Numbers are those of the problem, or rounded so that the sentence says less.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from rropt.errors import InputError, counted, named
from rropt.exact import declared_text, exp_enclosure, log_enclosure, shown
from rropt.model.identification import at_risk
from rropt.model.notions import columns_of, events_of, gain_of, groups_of, joins_all
from rropt.model.privacy.level import LARGEST_EPSILON, Level
from rropt.model.secret import secrets_of

DIGITS = 6
"""Significant digits of a level that is not a short number; it is rounded up."""
DECLARED = 10**12
"""Denominators up to this are tried for the declared epsilon of a ratio that was rounded."""
PLAIN = "LDP"
NO_PRIVACY = "no privacy"
ROWS, GAIN, EVENTS = "linear conditions on every column", "limit on a gain", "limits on single events"
NAMED = 6
"""Frequencies that a guarantee names; of more categories the most frequent ones."""


@dataclass(frozen=True)
class Guarantee:
    """One condition on privacy: the `notion`, its `level` ("epsilon 1, delta 0.05") and what it holds for ("" where
    that is every two inputs), with the `frequencies` that this states."""

    notion: str
    level: str
    scope: str = ""
    frequencies: str = ""

    @property
    def is_notion(self) -> bool:
        """Whether it is a notion of privacy, and not rows or a gain that no recogniser matches."""
        return self.notion not in (ROWS, GAIN, EVENTS)

    @property
    def public(self) -> "Guarantee":
        """The guarantee without frequencies: those of data, with the number of records, are its exact counts."""
        stated = self.frequencies and self.scope.replace(self.frequencies, "stated in its certificate")
        return Guarantee(self.notion, self.level, stated or self.scope)

    def __str__(self) -> str:
        return f"{self.notion} ({self.level})" + (f" {self.scope}" if self.scope else "")


def guarantees(problem: Mapping[str, Any]) -> tuple[Guarantee, ...]:
    """All conditions on privacy of a certificate's `problem`, the cone's first. Raises KeyError, TypeError or
    ValueError for what the format does not allow."""
    inputs = tuple(problem["inputs"])
    approximates, events = _approximates(problem)
    return (
        *_cone(problem["cone"], inputs),
        *map(_approximate, approximates),
        *[Guarantee(EVENTS, counted(events, "rows"))] * bool(events),
        *_identification(problem),
        *_entropy(problem, inputs),
        *(_limit(limit, inputs) for limit in problem.get("limits", ())),
        *map(_divergence, [*problem.get("divergences", ()), *problem.get("notions", ())]),
    )


def _approximates(problem: Mapping[str, Any]) -> tuple[list[Mapping[str, str]], int]:
    """Every approximate LDP, that of the key and those that rows write out; and how many rows of events are left.

    Proof. The key is the definition, Q(S | x) - exp(epsilon) Q(S | z) <= delta for all x, z and S. Rows have the upper
    end of exp(epsilon), which is above it by less than 2^-200 of it. `ApproximateLDP` refuses a delta of which a
    mechanism on the grid of 2^-53 could keep the one and break the other.
    """
    found = [problem["approximate"]] if "approximate" in problem else []
    most = exp_enclosure(Fraction(LARGEST_EPSILON)).lower
    whole, others = events_of(problem)
    for gamma, delta in whole:
        if gamma <= most:
            epsilon = log_enclosure(gamma).lower.limit_denominator(DECLARED)
            is_end = exp_enclosure(epsilon).upper == gamma
            found.append(({"epsilon": str(epsilon)} if is_end else {"gamma": str(gamma)}) | {"delta": str(delta)})
    return found, others


def _approximate(content: Mapping[str, Any]) -> Guarantee:
    return Guarantee("approximate LDP", f"{_level(content)}, delta {declared_text(Fraction(content['delta']))}")


def _identification(problem: Mapping[str, Any]) -> Iterator[Guarantee]:
    """The risk of identification; which categories it holds for says `identification`."""
    if "identification_risk" in problem:
        counts, at_most, kept = identification(problem)
        scope = f"for counts of {counted(sum(counts), 'records')}"
        scope += "" if len(kept) == len(counts) else f", in {len(kept)} of {len(counts)} categories"
        yield Guarantee("identification risk", f"at most {declared_text(at_most)}", scope)


def identification(problem: Mapping[str, Any]) -> tuple[tuple[int, ...], Fraction, tuple[int, ...]]:
    """The counts of a certificate's `problem` that bounds the identification risk, the bound, and the categories for
    which it holds: those that the problem lists, and those with so many records that every mechanism keeps it. KeyError
    and the like as `guarantees`.

    Proof of the latter. A category without records has none to identify. T_c records of one category are released
    alike, and independently of all others: whichever records are released as c, each of the T_c is equally likely to be
    one of them, so that the intruder is right with a probability of at most 1 / T_c <= at_most.
    """
    content = problem["identification_risk"]
    counts, at_most = tuple(map(int, content["counts"])), Fraction(content["at_most"])
    left_out = set(at_risk(counts, at_most)) - set(content["categories"])
    return counts, at_most, tuple(x for x in range(len(counts)) if x not in left_out)


def approximate_level(problem: Mapping[str, Any]) -> Level | None:
    """The first level at which a certificate's `problem` guarantees approximate LDP; None where it does not. KeyError
    and the like as `guarantees`."""
    return next(map(declared_level, _approximates(problem)[0]), None)


def privacy_statement(
    problem: Mapping[str, Any] | None, privacy_ratio: Fraction | float | None = None, public: bool = False
) -> str:
    """One sentence: what `problem` guarantees (`public`: without frequencies), then the plain LDP of a mechanism of
    this `privacy_ratio`, where it is given and was not guaranteed itself: "robust LDP (epsilon 1) over the confidence
    set of 100 counted records; plain LDP (epsilon 36.0437)". Without a problem (no certificate) the sentence has the
    privacy ratio alone."""
    found = () if problem is None else guarantees(problem)
    words = [" and ".join(str(one.public if public else one) for one in found)] if found else []
    if privacy_ratio is not None and not any(one.notion == PLAIN for one in found):
        plain = "plain LDP" if found else "LDP"
        unbounded = isinstance(privacy_ratio, float) and math.isinf(privacy_ratio)
        excluded = f"{'no plain LDP' if found else NO_PRIVACY}: some output excludes an answer"
        words.append(excluded if unbounded else f"{plain} (epsilon {_logarithm(privacy_ratio)})")
    return "; ".join(words) or "no privacy is guaranteed"


def guarantees_to_list(problem: Mapping[str, Any]) -> list[dict[str, str]]:
    """The guarantees as JSON objects with the keys `notion`, `level` and `scope`, the last without frequencies."""
    return [{"notion": one.notion, "level": one.level, "scope": one.public.scope} for one in guarantees(problem)]


def _cone(cone: Mapping[str, Any], inputs: Sequence[str]) -> Sequence[Guarantee]:
    """The guarantee of a cone for every column v = Q[., y].

    Proofs. `complete` is the definition of LDP, v_x <= gamma v_z for all x and z. `robust` and `confidence` are that of
    robust LDP, R . v <= gamma T . v for all distributions R given s and T given another z of the set: for least shares
    the worst ones are M_s and m_z (section 4 of the format).
    """
    kind = cone["kind"]
    if kind == "complete":
        return [Guarantee(PLAIN, _level(cone))]
    if kind == "graph":
        return _graph(cone, inputs)
    if kind == "polyhedral":
        rows = cone["rows"][: len(cone["rows"]) - 2 * secrets_of(inputs, cone)]
        return [*_cone(cone["base"], inputs), *_columns(rows, inputs)]
    if kind == "robust":
        return [Guarantee("robust LDP", _level(cone), *_lower_bounds(cone, inputs))]
    if kind == "confidence":
        respondents = counted(sum(map(int, cone["counts"])), "counted records")
        product = " of each sensitive value" if cone["form"] == "product" else ""
        named = frequencies(inputs, cone["counts"])
        radius = shown(Fraction(cone["radius"]["upper"]), DIGITS, up=False)
        scope = f"over the confidence set{product} of {respondents} {named}, up to chi-square distance {radius}"
        return [Guarantee("robust LDP", _level(cone), scope, named)]
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


def _listed(inputs: Sequence[str], shares: Sequence[Fraction], digits: int = 3, up: bool = False) -> str:
    """Shares in percent, to the nearest of so many digits, or rounded `up`."""

    def percent(share: Fraction) -> str:
        return shown(100 * share, digits, up=True) if up else f"{float(100 * share):.{digits}g}"

    both = list(zip(inputs, shares, strict=True))
    named = sorted(both, key=lambda one: -one[1])[:NAMED] if len(both) > NAMED else both
    listed = [f"{label} {percent(share)} %" for label, share in named]
    more = [f"{len(both) - len(listed):,} more"] if len(listed) < len(both) else []
    return f"({'; '.join([*listed, *more])})"


def _group(inputs: Sequence[str], shares: Sequence[Fraction]) -> str:
    """The frequencies in a group of inputs."""
    within = [(label, share) for label, share in zip(inputs, shares, strict=True) if share]
    return frequencies(*zip(*within, strict=True))


def _columns(rows: Sequence[Sequence[str]], inputs: Sequence[str]) -> Iterator[Guarantee]:
    """The guarantees of the rows on every column (`notions.columns_of`)."""
    columns = columns_of(rows)
    for ratio, prior in columns.pointwise:
        at = _listed(inputs, prior)
        yield Guarantee("pointwise maximal leakage", level_of_ratio(ratio), f"at the frequencies {at}", at)
    for ratio, sides in columns.means:
        named = [" against ".join(_group(inputs, side) for side in pair) for pair in sides[:NAMED]]
        named += [f"{counted(len(sides) - NAMED, 'more pairs')} of groups"] if len(sides) > NAMED else []
        groups = ", ".join(named)
        yield Guarantee("LDP of the means over groups", level_of_ratio(ratio), f"of respondents: {groups}", groups)
    for success, prior in columns.guesses:
        at = _listed(inputs, prior)
        yield Guarantee("Bayes success", f"at most {limit_text(success)}", f"at the frequencies {at}", at)
    if columns.others:
        yield Guarantee(ROWS, counted(columns.others, "rows"))


def _limit(limit: Mapping[str, Any], inputs: Sequence[str]) -> Guarantee:
    """An upper limit on what leaks: each is the definition of its notion, at its own weights (`notions.gain_of` of a
    gain). A utility that the format does not state has no name here."""
    utility, most = limit["utility"], Fraction(limit["at_most"])
    kind = "other" if utility is None else utility["kind"]
    word = {
        "mutual_information": "mutual information",
        "chi_square": "chi-square information",
        "bayes": "Bayes success",
        "other": "limit on an information",
    }[kind]
    unit = " nats" if kind == "mutual_information" else ""
    if kind == "bayes":
        gain = gain_of(limit)
        if gain.notion == "maximal leakage":
            return Guarantee("maximal leakage", level_of_ratio(gain.number))
        most = gain.number
        word = GAIN if gain.notion == "gain" else gain.notion
    elif kind != "other" and "given" in utility:
        word += " given another variable"
    place = frequencies(inputs, limit["weights"])
    return Guarantee(word, f"at most {limit_text(most)}{unit}", f"at the frequencies {place}", place)


def limit_text(most: Fraction) -> str:
    """The number of an upper limit: as it was declared, or rounded up where it is long."""
    return declared_text(most) if most.denominator < DECLARED else shown(most, DIGITS, up=True)


def _divergence(notion: Mapping[str, str]) -> Guarantee:
    """A bound on divergences, or on the capacity: each is its definition."""
    if notion["kind"] == "capacity":
        return Guarantee("channel capacity", f"at most {declared_text(Fraction(notion['at_most']))} nats")
    word = {"renyi": "Renyi LDP", "zero_concentrated": "zero-concentrated LDP"}[notion["kind"]]
    levels = {key: declared_text(Fraction(number)) for key, number in notion.items() if key != "kind"}
    return Guarantee(word, ", ".join(f"{key} {number}" for key, number in levels.items()))


def declared_epsilon(ratio: Fraction) -> Fraction | None:
    """The short epsilon of which a ratio is the lower end of exp(epsilon); None where it is a gamma."""
    epsilon = log_enclosure(ratio).upper.limit_denominator(DECLARED)
    return epsilon if exp_enclosure(epsilon).lower == ratio else None


def level_of_ratio(ratio: Fraction) -> str:
    """The level, in words, of a ratio: a declared gamma, or the lower end of the enclosure of a declared exp(epsilon).
    A ratio of many digits has only the epsilon, rounded up."""
    if (epsilon := declared_epsilon(ratio)) is not None:
        return f"epsilon {declared_text(epsilon)}"
    above = log_enclosure(ratio).upper
    gamma = f"gamma {declared_text(ratio)}, " if max(ratio.numerator, ratio.denominator) < DECLARED else ""
    return f"{gamma}epsilon {shown(above, DIGITS, up=True)}"


def _lower_bounds(cone: Mapping[str, Any], inputs: Sequence[str]) -> tuple[str, str]:
    """The set of distributions that least conditional probabilities leave, and the frequencies that this states."""
    lower = list(map(Fraction, cone["lower"]))
    sums = {sum((lower[x] for x in block), Fraction(0)) for block in cone["blocks"]}
    if sums == {0}:
        return "over all distributions", ""
    if sums == {1}:
        listing = _listed(inputs, lower)
        return f"at the known distribution given each sensitive value {listing}", listing
    # Higher shares leave fewer distributions. Some must be left: else the sentence would say nothing.
    for digits in range(3, 30, 3):
        up = [Fraction(shown(100 * share, digits, up=True)) for share in lower]
        if all(sum(up[x] for x in block) <= 100 for block in cone["blocks"]):
            break
    listing = _listed(inputs, lower, digits, up=True)
    return f"over the distributions that have, given each sensitive value, at least the shares {listing}", listing


def _graph(cone: Mapping[str, Any], inputs: Sequence[str]) -> Sequence[Guarantee]:
    """Ratios on directed edges.

    Proofs. Ratios of 1 along directed paths from each input to each other one make all entries of a column equal. Edges
    of one ratio between groups (`notions.groups_of`) are LDP between these, and LDP itself where each group has one
    input. Else the edges are metric privacy by definition, and ratios multiply along paths.
    """
    edges = {(x, z): Fraction(number) for x, z, number in cone["edges"]}
    numbers, unit, size = sorted(set(edges.values())), cone.get("unit", "epsilon"), len(inputs)
    if not numbers:
        return []
    if not set(range(size)).issuperset(chain.from_iterable(edges)) or len(edges) < len(cone["edges"]):
        raise ValueError("an edge is listed twice, or names an input that does not exist")
    joined = joins_all(edges, size)
    if numbers == [unit == "gamma"] and joined:
        return [Guarantee(PLAIN, "epsilon 0")]
    groups = groups_of(edges, size) if len(numbers) == 1 else []
    if groups:
        text = f"epsilon {declared_text(numbers[0])}" if unit == "epsilon" else level_of_ratio(numbers[0])
        if len(groups) == size:
            return [Guarantee(PLAIN, text)]
        who = f"{len(groups):,} groups ({len(edges):,} of {size * (size - 1):,} ordered pairs are in different ones)"
        if len(groups) <= NAMED and size <= 2 * NAMED:
            who = " against ".join(named([inputs[x] for x in group], size) for group in groups)
        return [Guarantee("LDP between groups", text, f"of inputs, {who}; within a group at twice this epsilon")]
    ends = [declared_text(number) for number in (numbers[0], numbers[-1])]
    level = f"{unit} {ends[0] if len(numbers) == 1 else f'{ends[0]} to {ends[1]}'}"
    scope = _pairs(edges, inputs, len(numbers) > 1)
    if len(edges) < size * (size - 1):
        scope += f", other pairs by {'sums' if unit == 'epsilon' else 'products'} along paths"
        scope += "" if joined else " (without a path not at all)"
    return [Guarantee("metric privacy", level, scope)]


def _pairs(edges: Mapping[tuple[int, int], Fraction], inputs: Sequence[str], numbered: bool) -> str:
    """The pairs of a graph, where they are few; else how many they are."""
    both = [(x, z) for x, z in edges if x < z and edges.get((z, x)) == edges[x, z]]
    alone = [(x, z) for x, z in edges if edges.get((z, x)) != edges[x, z]]
    if len(both) + len(alone) > NAMED:
        return f"for {len(edges):,} of {counted(len(inputs) * (len(inputs) - 1), 'ordered pairs')} of inputs"

    def listed(pairs: Sequence[tuple[int, int]], word: str) -> str:
        phrases = (f"{inputs[x]!r} {word} {inputs[z]!r}" for x, z in pairs)
        ends = (f" ({declared_text(edges[pair])})" if numbered else "" for pair in pairs)
        return ", ".join(map("".join, zip(phrases, ends, strict=True)))

    words = [f"between {listed(both, 'and')}"] if both else []
    if alone:
        bounded = "(one way: outputs at the first are bounded by those at the second)"
        words.append(f"of {listed(alone, 'against')} {bounded}")
    return " and ".join(words)


def _entropy(problem: Mapping[str, Any], inputs: Sequence[str]) -> Iterator[Guarantee]:
    """The weighted mean of the entropies of the rows: a share of the largest possible, or in nats, rounded down.

    Proof. The floor over the sum of the shares is a lower bound of this mean, by definition. The largest possible is
    log m, which a share of log k is a share of where all rows count alike and have the size k = m.
    """
    if "entropy" not in problem:
        return
    content, size = problem["entropy"], len(inputs)
    least, shares = Fraction(content["at_least"]), list(map(Fraction, content["shares"]))
    listing = frequencies(inputs, shares)  # raises ValueError where all are 0
    even = len(set(shares)) == 1
    if even and set(content["sizes"]) == {size} == {len(problem["outputs"])}:
        level = f"{declared_text(least)} of the largest possible"
    else:
        logs = {number: log_enclosure(Fraction(number)).lower for number in content["sizes"] if number > 1}
        pairs = zip(shares, content["sizes"], strict=True)
        total = sum((share * logs.get(number, Fraction(0)) for share, number in pairs), Fraction(0))
        level = f"{shown(least * total / sum(shares), DIGITS, up=False)} nats"
    place = ("", "") if even else (f"with the weights {listing}", listing)
    yield Guarantee("entropy of the rows", f"on average at least {level}", *place)


def plain_ratio(problem: Mapping[str, Any]) -> Fraction | None:
    """A ratio at which plain LDP keeps every guarantee of `problem` on privacy; None where it gives none. Raises
    InputError where no level of plain LDP keeps them. KeyError and the like as `guarantees`."""
    cone, found = problem["cone"], list(map(declared_level, _approximates(problem)[0]))
    if cone["kind"] == "graph":
        numbers = [number for *_, number in cone["edges"]]
        found += [declared_level({cone.get("unit", "epsilon"): min(numbers, key=Fraction)})] if numbers else []
    elif cone["kind"] not in ("free", "polyhedral"):
        found.append(declared_level(cone))
    further = {"identification_risk", "entropy", "limits", "divergences", "notions"} & set(problem)
    if cone["kind"] == "polyhedral" or further:
        raise InputError(
            f"no level of LDP is known that keeps its guarantee: {privacy_statement(problem)}",
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


def _logarithm(privacy_ratio: Fraction | float) -> str:
    return shown(log_enclosure(Fraction(privacy_ratio)).upper, DIGITS, up=True)
