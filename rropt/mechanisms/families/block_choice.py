"""The choice of the categories that share an inverse-frequency block, for a whole table of frequencies at once.

All categories with fewer than 1 / at_most records are protected together; the others stay as they are or serve as
partners. The protected ones are sorted by frequency and cut into runs, and each run takes the next partners, smallest
first, if it needs some: as few as make a block possible, or one more. Of all ways to do so a dynamic programme takes
the one with the fewest expected changes, the sum of m theta with the least theta of every block. Runs keep equal
frequencies together, which is what makes blocks cheap: one theta must serve the largest frequency of a block and stay
below the smallest. That no other partition is cheaper is not claimed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rropt.errors import OutOfRange, TooLarge, counted
from rropt.exact import rounded
from rropt.io.arguments import checked
from rropt.io.counts import clean_labels
from rropt.io.types import Counts, Label, Number
from rropt.mechanisms.families.frequency_blocks import FrequencyBlocks, least_theta, rough_theta
from rropt.model.frequencies import Frequencies
from rropt.model.identification import at_risk, checked_risk, match_risks, paper_block_size

MOST_RUNGS = 10_000
"""Steps of a ladder, each of which computes a block size."""
BISECTIONS = 9
"""Halvings in search of the smallest bound that a table allows."""


@dataclass(frozen=True)
class Rung:
    """One step of the paper's ladder: the bound tried, the size K_1 of a block that it asks for (1 where none is
    needed), and how many categories have at least as many records as the one to protect, which is among them."""

    at_most: Fraction
    needed: int
    available: int

    @property
    def stands(self) -> bool:
        """Whether there are enough categories."""
        return self.needed <= self.available


@checked
def ladder(counts: Counts, at_most: Number, *, category: Label = 0) -> tuple[Rung, ...]:
    """The paper's search for a bound on R_c that a table can keep, up to the first that it can, which is the last one.

    `category` is a label of `counts`, or its place in a list. It tries `at_most` and then 1 / (n - 1), 1 / (n - 2), ...
    with n = ceil(1 / at_most); the last of all is 1 / T_c, where nothing needs to be changed. Raises InputError for a
    bound outside of (0, 1) or a category without records. Source: An Improved Bound for Security in an Identity
    Disclosure Problem, section 2.

        >>> import rropt as rr
        >>> [rung.stands for rung in rr.disclosure.ladder([1, 5, 7], "0.15", category=0)]
        [False, False, False, False, False, True]
    """
    tried = checked_risk(at_most, "at_most")
    table = Frequencies.read(counts, "ladder", whole=True)
    labels = table.labels or [str(place) for place in range(len(table.numbers))]
    (name,) = clean_labels([category], "category")
    own = dict(zip(labels, table.numbers, strict=True)).get(name, 0)
    if not own:
        raise OutOfRange(f"the count of category {name} is 0", "ladder", "give a category that has records")
    if tried * MOST_RUNGS < 1:
        raise TooLarge(f"there may be more than {counted(MOST_RUNGS, 'steps')}", "ladder", "raise at_most")
    available = sum(count >= own for count in table.numbers)
    below = math.ceil(1 / tried)
    rungs: list[Rung] = []
    while not rungs or not rungs[-1].stands:
        rungs.append(Rung(tried, paper_block_size(own, tried) if own * tried < 1 else 1, available))
        below -= 1
        tried = Fraction(1, max(below, 1))
    return tuple(rungs)


def smallest_bound(counts: Sequence[int], category: int) -> Fraction:
    """The smallest bound on R_c that a block of partners with T_j >= T_c can keep: 1 / (the number of their records,
    its own included). All of them together keep it with theta close to T_c, and fewer records cannot. Exact."""
    return Fraction(1, sum(count for count in counts if count >= counts[category]))


def choose_blocks(counts: Sequence[int], at_most: Fraction, categories: Sequence[int] | None = None) -> FrequencyBlocks:
    """Blocks and thetas that keep R_c(a) <= at_most for all a and all `categories` (default: all with records).

    Raises InputError where none were found, with the smallest bound that some do keep.
    """
    wanted = set(range(len(counts)) if categories is None else categories)
    protected = [x for x in at_risk(counts, at_most) if x in wanted]
    found = _partition(counts, at_most, protected)
    if found is None:
        raise OutOfRange(*_why_not(counts, at_most, wanted))
    blocks = [tuple(sorted(block)) for block in found]
    inside = {x for block in blocks for x in block}
    blocks += [(x,) for x in range(len(counts)) if x not in inside]
    blocks.sort()
    thetas = []
    for block in blocks:
        places = [place for place, x in enumerate(block) if x in wanted]
        theta = least_theta([counts[x] for x in block], places, at_most) if len(block) > 1 else None
        thetas.append(Fraction(0) if theta is None else theta.upper)
    return FrequencyBlocks(tuple(counts), tuple(blocks), tuple(thetas))


def attained_bound(blocks: FrequencyBlocks, categories: Sequence[int]) -> Fraction:
    """The largest R_c(a) over `categories` and all a. Exact; where nothing moves it is 1 / T_c."""
    worst = Fraction(0)
    for c in categories:
        if not blocks.counts[c]:
            continue
        column, up_to = blocks.column(c), 1
        while True:
            worst = max(worst, *match_risks(column, blocks.counts, c, up_to))
            # R(a) <= 1 / a: sizes beyond 1 / worst add nothing.
            if worst * up_to >= 1 or up_to > sum(blocks.counts):
                break
            up_to = min(2 * up_to, sum(blocks.counts) + 1)
    return worst


def _partition(counts: Sequence[int], at_most: Fraction, protected: Sequence[int]) -> list[list[int]] | None:
    order = sorted(protected, key=lambda x: (counts[x], x))
    inside = set(protected)
    pool = sorted((x for x in range(len(counts)) if counts[x] and x not in inside), key=lambda x: (counts[x], x))
    longest = 2 * math.ceil(1 / at_most)
    # best[i][p]: the cheapest way to serve the first i with the first p partners: cost, and the way there.
    best: list[dict[int, tuple[float, tuple[int, int] | None]]] = [{} for _ in range(len(order) + 1)]
    best[0][0] = 0.0, None
    for i in range(len(order)):
        for p, (cost, _) in sorted(best[i].items()):
            for length in range(1, min(longest, len(order) - i) + 1):
                run = [counts[x] for x in order[i : i + length]]
                for lent, price in _prices(run, [counts[x] for x in pool[p : p + longest]], at_most):
                    reached = best[i + length].get(p + lent)
                    if reached is None or cost + price < reached[0] - 1e-9:
                        best[i + length][p + lent] = cost + price, (i, p)
    if not best[-1]:
        return None
    i, p = len(order), min(best[-1], key=lambda used: (best[-1][used][0], used))
    blocks = []
    while (before := best[i][p][1]) is not None:
        blocks.append(order[before[0] : i] + pool[before[1] : p])
        i, p = before
    return blocks


def _prices(run: list[int], partners: list[int], at_most: Fraction) -> list[tuple[int, float]]:
    """(how many partners, expected changes) of a run with the fewest partners that do, and with one more."""
    found: list[tuple[int, float]] = []
    values = tuple(sorted(set(run)))
    for lent in range(len(partners) + 1):
        theta = rough_theta(tuple(sorted(run + partners[:lent])), values, at_most)
        if theta is not None:
            found.append((lent, (len(run) + lent) * theta))
        if found and (theta is None or found[0][0] < lent):
            break
    return found


def _why_not(counts: Sequence[int], at_most: Fraction, wanted: set[int]) -> tuple[str, str, str]:
    """The error with the smallest bound for which blocks were found, exactly as they attain it."""
    low, high, kept = at_most, Fraction(1), None
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        protected = [x for x in at_risk(counts, middle) if x in wanted]
        if _partition(counts, middle, protected) is None:
            low = middle
        else:
            high, kept = middle, middle
    # For the last bound that was tried the message has the exact risk that is attained.
    if kept is None:
        remedy = "merge categories: even a bound close to 1 is out of reach"
    else:
        attained = attained_bound(choose_blocks(counts, kept, sorted(wanted)), sorted(wanted))
        remedy = f"the smallest bound reached with blocks of this table is {attained} = {rounded(attained)}"
    what = f"no inverse-frequency blocks keep every risk at or below {rounded(at_most)}"
    return what, "identification risk", remedy
