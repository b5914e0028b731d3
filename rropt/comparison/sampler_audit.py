"""The audit of a sampler by trials: lower bounds on epsilon and delta that hold with a stated confidence.

Events are sets of outputs. They are chosen on one half of the trials and tested on the other half, so a choice among
many costs nothing; those that are tested share the error (Bonferroni). For inputs x, x' and an event S, with
confidence 1 - a each, p(S | x) is at least its lower and p(S | x') at most its upper limit of Clopper and Pearson
(Biometrika 26, 1934), each of which an enclosure of its binomial sum confirms. Under (epsilon, delta)-LDP
p(S | x) <= exp(epsilon) p(S | x') + delta, so both levels follow.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from flint import arb

from rropt.errors import Conflict, Duplicate, InputError, OutOfRange, TooLarge, Unreadable, WrongType, counted, shown
from rropt.exact import ball, enclosure, float_up, rational, shown as least
from rropt.io.arguments import checked
from rropt.io.count_records import records
from rropt.io.counts import bounded
from rropt.io.tables import NAMED, Readable, Table
from rropt.io.types import Number
from rropt.model.privacy import Level

__all__ = ["SamplerAudit", "audit_sampler", "detectable_epsilon"]

TRIALS = 100_000
"""Default number of trials of each input."""
EVENTS = 8
"""Events that are tested: half of them for epsilon, half for delta."""
CHUNK = 1 << 16
"""Values of one call of a sampler."""
MOST_OUTPUTS = 1 << 16
"""The most frequent outputs, of which events are made."""
MOST_TRIALS, MOST_INPUTS = 1 << 32, 1 << 10
MOST_KEPT, MOST_TEXT = 1 << 21, 1 << 28
"""Different (input, output) pairs that are counted, and characters in them."""
MOST_WORK = 1 << 28
"""Of all pairs of inputs, their outputs: some seconds, and at most 2 GB."""
ROUNDING = 1e-9
"""Share by which limits are widened, for the rounding of the quantiles of the beta distribution."""
POWER = 0.9
TAIL = 1e-12
"""Share of a binomial sum that is bounded and not added up."""
TAIL_BITS = 128


@dataclass(frozen=True)
class Event:
    """One test: a set of `outputs`, and how often it occurred among the `trials` of the inputs `more` and `less` in the
    half of the trials that did not choose it."""

    more: object
    less: object
    outputs: tuple[Hashable, ...]
    counts: tuple[int, int]
    trials: tuple[int, int]


@dataclass(frozen=True)
class SamplerAudit(Readable):
    """The result of the trials of a sampler. With probability `confidence` at least, its epsilon is at least `epsilon`
    (nats, for the `claimed_delta`) and its delta at the `claimed` level at least `delta`. `rejected`: it does not have
    the privacy that is claimed. `event` is the test that gave the larger epsilon. `detectable` is the epsilon that
    these trials detect with probability 0.9 (infinite where there is none), computed before the first of them.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> found = rr.audit_sampler(response.randomize, 2, inputs=["no", "yes"], trials=200)
        >>> float(found.claimed)
        2.0
    """

    epsilon: float
    delta: float
    claimed: float
    claimed_delta: float
    rejected: bool
    confidence: float
    detectable: float
    event: Event

    def _tables(self) -> Iterator[Table]:
        claim = f"epsilon {self.claimed:.12g}" + (f", delta {self.claimed_delta:.12g}" if self.claimed_delta else "")
        one = self.event
        outputs = ", ".join(map(str, one.outputs[:NAMED])) + (", ..." if one.outputs[NAMED:] else "")
        things = "outputs" if one.outputs[1:] else "output"
        more = f"{one.counts[0]:,} of {counted(one.trials[0], 'draws')} at input {one.more}"
        can = "no epsilon: draw more"
        if math.isfinite(self.detectable):
            can = f"an epsilon of {least(self.detectable, 6, up=True)} or more, with probability {POWER}"
        rows = [
            ("claimed", claim),
            ("verdict", "REJECTED" if self.rejected else "not rejected"),
            ("confidence", f"{self.confidence:g}"),
            (f"epsilon at delta {self.claimed_delta:g}", f"at least {least(self.epsilon, 6, up=False)}"),
            (f"delta at epsilon {self.claimed:g}", f"at least {least(self.delta, 6, up=False)}"),
            (things, f"{outputs}: {more}, {one.counts[1]:,} of {one.trials[1]:,} at input {one.less}"),
            ("can be detected", can),
        ]
        yield Table("Audit of draws", rows)

    def __bool__(self) -> bool:
        return not self.rejected


def limits(count: Any, trials: Any, error: float) -> tuple[Any, Any]:
    """The limits of Clopper and Pearson of a probability that made `count` of `trials`, as numbers or arrays: it is
    below the lower, and above the upper one, with probability `error` at most each."""
    from scipy import special

    count, trials = np.asarray(count, dtype=float), np.asarray(trials, dtype=float)
    with np.errstate(all="ignore"):
        low = np.where(count > 0, special.betaincinv(np.maximum(count, 1), trials - count + 1, error), 0)
        rest = np.maximum(trials - count, 1)
        high = np.where(count < trials, 1 - special.betaincinv(rest, count + 1, error), 1)
        # Where all trials are alike the limit is known; old versions of SciPy give a loose one there.
        share = np.log(error) / trials
        low = np.where((count == trials) & (count > 0), np.exp(share), low)
        high = np.where((count == 0) & (trials > 0), -np.expm1(share), high)
    return low * (1 - ROUNDING), np.minimum(high * (1 + ROUNDING), 1)


def proved_limits(count: int, trials: int, error: float) -> tuple[float, float]:
    """The same for one count, moved outwards until an upper bound of the binomial sum is at most `error`."""
    low, high = map(float, limits(count, trials, error))
    while low > 0 and not tail_is_below(count, trials, Fraction(low), error):
        low *= 1 - ROUNDING
    while high < 1 and not tail_is_below(trials - count, trials, 1 - Fraction(high), error):
        high = min(high * (1 + ROUNDING), 1.0)
    return low, high


def tail_is_below(count: int, trials: int, share: Fraction, error: float) -> bool:
    """Whether P(X >= count) < error for X binomial of `trials` and `share`, proved by an enclosure."""
    if share <= 0 < count:
        return True
    if share * (trials + 1) >= count:
        return False  # half of the distribution, about

    def compute() -> arb:
        odds, p = ball(share / (1 - share)), ball(share)
        lgamma = [arb(number + 1).lgamma() for number in (trials, count, trials - count)]
        term = (lgamma[0] - lgamma[1] - lgamma[2] + count * p.log() + (trials - count) * (1 - p).log()).exp()
        # Terms fall ever faster: what follows one of them is less than a geometric series.
        total, at = arb(0), count
        while at < trials:
            ratio = odds * (trials - at) / (at + 1)
            rest = term / (1 - ratio)
            if rest < total * TAIL:
                return total + rest
            total, term, at = total + term, term * ratio, at + 1
        return total + term

    return enclosure(compute, TAIL_BITS).upper < Fraction(error)


@checked
def detectable_epsilon(
    epsilon: Number, *, trials: int = TRIALS, inputs: int = 2, confidence: float = 0.99, delta: Number = 0
) -> float:
    """The smallest epsilon that an audit detects with probability 0.9 at least, where (epsilon, delta) is claimed: that
    of k-ary randomised response over `inputs` inputs, in `trials` trials each. Infinite where even a sampler that always
    releases the true input is not detected. Raises InputError.

        >>> import rropt as rr
        >>> rr.ordering.detectable_epsilon(1, trials=1000, inputs=2) > 1
        True
    """
    _numbers(trials, confidence, inputs)
    return _detectable(_level(epsilon), _delta(delta), trials, inputs, confidence)


@lru_cache(256)
def _detectable(claimed: float, share: float, trials: int, inputs: int, confidence: float) -> float:
    """The same of exp(epsilon) and delta as floats. It is asked again at each audit of a series."""
    half, error = trials // 2, (1 - confidence) / (2 * EVENTS)

    def detected(level: float) -> bool:
        from scipy import stats

        rest = math.exp(-level) if math.isfinite(level) else 0.0
        more, less = 1 / (1 + (inputs - 1) * rest), rest / (1 + (inputs - 1) * rest)
        # Each of the two counts is on the wrong side of these with probability 0.05.
        counts = stats.binom.ppf((1 - POWER) / 2, half, more), stats.binom.ppf((1 + POWER) / 2, half, less)
        low, high = limits(counts[0], half, error)[0], limits(counts[1], half, error)[1]
        return bool(low - share > claimed * high)

    low, high = math.log(claimed), 745.0
    if not detected(math.inf):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if detected(middle) else (middle, high)
    return high


@checked
def audit_sampler(
    sampler: Callable[[list[Any]], Iterable[Any]] | Iterable[tuple[Any, Any]] | str | os.PathLike[str],
    epsilon: Number,
    *,
    confidence: float = 0.99,
    inputs: Sequence[Any] | None = None,
    trials: int = TRIALS,
    delta: Number = 0,
) -> SamplerAudit:
    """Audit any sampler that claims (epsilon, delta)-LDP, by trials.

    `sampler` is a function that takes a list of inputs and returns as many outputs, each drawn independently, such as
    `Mechanism.randomize` with its labels as `inputs`; it is called `trials` times for each input. Or it is the (input,
    output) pairs themselves, in the order in which they were drawn, or the path of a CSV file of them with the header
    input,output. Outputs may be anything that prints or hashes, also arrays and lists. A correct sampler is rejected
    with probability 1 - `confidence` at most. What is not rejected may still be wrong: see `detectable`. Raises
    InputError.

        >>> import rropt as rr
        >>> response = rr.RandomizedResponse(["no", "yes"], gamma=3).to_mechanism()
        >>> rr.audit_sampler(response.randomize, 2, inputs=["no", "yes"], trials=200).rejected
        False
    """
    claimed, share = _level(epsilon), _delta(delta)
    if callable(sampler):
        named = list(bounded(() if inputs is None else inputs, "inputs"))
        if len(named) < 2:
            raise OutOfRange("fewer than two inputs are named", "inputs", "give those of the sampler")
        _numbers(trials, confidence, len(named))
        tables = _drawn(sampler, named, trials)
    else:
        _numbers(trials, confidence, 2)
        tables = _split(_read(sampler) if isinstance(sampler, str | os.PathLike) else sampler)
    names = list(tables[0])
    least = min(sum(table[name].values()) for table in tables for name in names)
    detectable = detectable_epsilon(epsilon, trials=2 * least, inputs=len(names), confidence=confidence, delta=delta)
    if len(names) ** 2 * min(len(set().union(*tables[0].values())), MOST_OUTPUTS) > MOST_WORK:
        raise TooLarge("it has too many inputs and outputs", "sampler", "audit some of the inputs")
    chosen, tested = (_counted(table, names, tables[0]) for table in tables)
    events = _chosen(chosen[1], chosen[2], claimed, share)
    error = (1 - confidence) / (2 * len(events))
    best: tuple[float, Event] | None = None
    delta_found = 0.0
    for more, less, members in events:
        counts = int(tested[1][more, members].sum()), int(tested[1][less, members].sum())
        sizes = int(tested[2][more]), int(tested[2][less])
        low, high = proved_limits(counts[0], sizes[0], error)[0], proved_limits(counts[1], sizes[1], error)[1]
        ratio = max((low - share) * (1 - ROUNDING) / high, 0.0)
        event = Event(names[more], names[less], tuple(chosen[0][at] for at in members), counts, sizes)
        if best is None or ratio > best[0]:
            best = ratio, event
        delta_found = max(delta_found, low - float(claimed * high) * (1 + ROUNDING))
    assert best is not None
    found = max(math.log(best[0]), 0.0) if best[0] > 0 else 0.0
    rejected = best[0] > claimed
    return SamplerAudit(found, delta_found, math.log(claimed), share, rejected, confidence, detectable, best[1])


def _level(epsilon: object) -> float:
    """exp(epsilon), rounded up: a sampler at the level itself is not to be rejected."""
    return float_up(Level(epsilon=rational(epsilon, "epsilon")).ratio.upper)


def _delta(delta: object) -> float:
    exact = rational(delta, "delta")
    found = float_up(exact) if 0 <= exact < 1 else 1.0
    if found == 1:
        raise WrongType(f"{shown(delta)} is not a delta", "delta", "give one from 0 to below 1")
    return found


def _numbers(trials: int, confidence: float, inputs: int) -> None:
    if not (isinstance(trials, int) and isinstance(inputs, int)) or trials < 4 or inputs < 2:
        raise OutOfRange("there are too few trials or inputs", "trials", "give two inputs, and four trials of each")
    if trials > MOST_TRIALS or inputs > MOST_INPUTS:
        what = f"more than {MOST_TRIALS:,} trials or {MOST_INPUTS:,} inputs"
        raise TooLarge(what, "trials", "audit some of the inputs")
    if not 0 < confidence < 1:
        raise WrongType(f"{shown(confidence)} is not a confidence", "confidence", "give one such as 0.99")


Tables = list[dict[Any, Counter[Hashable]]]


def _drawn(sampler: Callable[[list[Any]], Iterable[Any]], inputs: list[Any], trials: int) -> Tables:
    """The number of times that each output occurred for each input, in both halves. The inputs take turns."""
    tables: Tables = [{_key(name): Counter() for name in inputs} for _ in range(2)]
    if len(tables[0]) != len(inputs):
        raise Duplicate("an input is named twice", "inputs", "name each once")
    keys = list(tables[0])
    rounds = max(1, CHUNK // len(inputs))
    for table, half in zip(tables, (trials // 2, trials - trials // 2), strict=True):
        for start in range(0, half, rounds):
            turns = min(rounds, half - start)
            try:
                found = sampler(inputs * turns)
                outputs = found.tolist() if isinstance(found, np.ndarray) else list(found)
            except InputError:
                raise
            except (TypeError, ValueError) as error:
                what = f"it does not take a list of inputs and return a list of outputs ({error})"
                raise WrongType(what, "sampler", "give a function that does") from error
            if len(outputs) != turns * len(inputs):
                asked = turns * len(inputs)
                what = f"it returned {counted(len(outputs), 'outputs')} for {counted(asked, 'inputs')}"
                raise Conflict(what, "sampler", "it must return one output for each")
            for at, name in enumerate(keys):
                table[name].update(map(_key, outputs[at :: len(keys)]))
    return tables


def _read(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """The pairs of a CSV file, one after the other."""
    rows = ((line, row) for line, row in records(path, None) if row)
    _, head = next(rows, (1, []))
    if [name.strip().lower() for name in head] != ["input", "output"]:
        raise Unreadable(f"its first line is {','.join(head)!r}", str(path), "it must be input,output")
    for line, row in rows:
        if len(row) != 2:
            what = f"line {line} has {counted(len(row), 'values')}, not an input and an output"
            raise Unreadable(what, str(path), "give two columns, and quotes around a value with commas")
        yield row[0], row[1]


def _split(pairs: Iterable[Any]) -> Tables:
    """The same of given pairs: those of an input go into the two halves by turns."""
    tables: Tables = [{}, {}]
    turn: Counter[Hashable] = Counter()
    pairs_kept = text = 0
    try:
        listed = iter(pairs)
    except TypeError:
        raise WrongType(f"{type(pairs).__name__} is not a sampler", "sampler", "give a function, or pairs") from None
    for pair in listed:
        try:
            given, output = pair
        except (TypeError, ValueError):
            raise WrongType("one of them is not an (input, output) pair", "sampler", "give pairs") from None
        name = _key(given)
        kept, key = tables[turn[name] % 2].setdefault(name, Counter()), _key(output)
        if key not in kept:
            pairs_kept, text = pairs_kept + 1, text + (len(key) if isinstance(key, str) else 0)
        if pairs_kept > MOST_KEPT or text > MOST_TEXT:
            raise TooLarge("they have too many different outputs", "sampler", "group outputs, or audit some inputs")
        kept[key] += 1
        turn[name] += 1
        if len(turn) > MOST_INPUTS:
            raise TooLarge(f"they have more than {MOST_INPUTS:,} inputs", "sampler", "audit some of the inputs")
    if len(turn) < 2 or min(turn.values()) < 4:
        raise OutOfRange(
            "there are fewer than two inputs, or an input with fewer than four draws", "sampler", "draw more"
        )
    return tables


def _key(value: Any) -> Hashable:
    """A value that can be counted: arrays and lists become tuples."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if isinstance(value, set):
        return frozenset(map(_key, value))
    return value if isinstance(value, Hashable) else repr(value)


def _counted(
    table: Mapping[Any, Counter[Hashable]], names: list[Any], first: Mapping[Any, Counter[Hashable]]
) -> tuple[list[Hashable], np.ndarray, np.ndarray]:
    """(outputs that occurred in the first half, counts by input and output, trials by input)."""
    total: Counter[Hashable] = Counter()
    for name in names:
        total.update(first[name])
    outputs = [output for output, _ in total.most_common(MOST_OUTPUTS)]
    counts = np.array([[table[name][output] for output in outputs] for name in names], dtype=np.int64)
    return outputs, counts, np.array([sum(table[name].values()) for name in names])


def _chosen(counts: np.ndarray, trials: np.ndarray, claimed: float, share: float) -> list[tuple[int, int, np.ndarray]]:
    """The events to test, as (input, other input, outputs): those for which the largest epsilon and delta."""
    found: list[list[tuple[float, int, int, np.ndarray]]] = [[], []]
    shares = (counts + 0.5) / (trials[:, None] + 1)
    for more, less in permutations(range(len(trials)), 2):
        order = np.argsort(-shares[more] / shares[less], kind="stable")
        low = _square(counts[more, order].cumsum(), trials[more], -1)
        high = _square(counts[less, order].cumsum(), trials[less], 1)
        for kind, score in enumerate(((low - share) / high, low - claimed * high)):
            at = int(np.argmax(score))
            found[kind].append((float(score[at]), more, less, order[: at + 1]))
    events = [one for kind in found for one in sorted(kind, key=lambda one: -one[0])[: EVENTS // 2]]
    return [(more, less, members) for _, more, less, members in events]


def _square(count: np.ndarray, trials: float, sign: int) -> np.ndarray:
    """About three standard errors below or above a share, with a variance that the arc sine makes constant."""
    angle = np.arcsin(np.sqrt((count + 0.375) / (trials + 0.75))) + sign * 1.5 / math.sqrt(trials)
    return np.asarray(np.sin(np.clip(angle, 0, math.pi / 2)) ** 2)
