"""One total epsilon, divided among groups of columns; and which columns are perturbed jointly."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from rropt.errors import OutOfRange, TooLarge, counted
from rropt.exact import shown
from rropt.release.precision import Alphabets, Group, Moments, Precision, Stratum, precision
from rropt.release.protection.domain import Domain

MOST_JOINT, MOST_CELLS = 64, 512
"""Cells of a joint design that is chosen by itself (as many as a certificate proves), and of one that is asked for."""
MOST_COLUMNS = 6
"""Columns whose groupings are all compared; 203 of these are possible."""
NO_WORSE = 1 + 1e-9
GAIN = 1.05
"""A joint design is suggested where it makes the error of a cell smaller by more than this factor."""
STEP = 1000
"""Epsilons for a requested error are multiples of 1/1000."""


@dataclass(frozen=True)
class Plan:
    """Groups of columns with their epsilons, which add up to the total, and the errors that the best designs have."""

    epsilons: Mapping[Group, Fraction]
    expected: Precision
    alphabets: Alphabets


class Planner:
    """Plans for columns of a domain, with strata of known sizes, under one total epsilon; `errors` are the largest
    standard errors of a share that some columns may have."""

    def __init__(
        self,
        domain: Domain,
        columns: Sequence[str],
        by: Sequence[str],
        sizes: Mapping[Stratum, int],
        epsilon: Fraction,
        errors: Mapping[str, float],
    ) -> None:
        self.domain, self.columns, self.by, self.sizes = domain, tuple(columns), tuple(by), sizes
        self.epsilon, self.errors = epsilon, errors
        self._alphabets: dict[Group, dict[Stratum, Sequence[tuple[str, ...]]]] = {}
        self._moments: dict[tuple[Group, int, Fraction], Moments] = {}

    def alphabet(self, group: Group) -> Mapping[Stratum, Sequence[tuple[str, ...]]]:
        """The cells of a group in each stratum."""
        if group not in self._alphabets:
            # Strata with the same cells have one list of them.
            same: dict[tuple[tuple[str, ...], ...], Sequence[tuple[str, ...]]] = {}
            found = {one: self.domain.cells(group, self.by, one) for one in self.sizes}
            self._alphabets[group] = {one: same.setdefault(tuple(cells), cells) for one, cells in found.items()}
        return self._alphabets[group]

    def size(self, group: Group) -> int:
        """The cells of the largest stratum, impossible ones counted for columns that are not tied together."""
        return max(map(len, self.alphabet(group).values()))

    def plan(self, groups: Sequence[Group]) -> Plan | None:
        """The plan with these groups; None where the total is too small for the requested errors."""
        needed = {group: self._needed(group) for group in groups}
        if any(one is None for one in needed.values()):
            return None
        epsilons = {group: one for group, one in needed.items() if one}
        left = self.epsilon - sum(epsilons.values(), Fraction(0))
        rest = [group for group in groups if not needed[group]]
        if left < 0 or (rest and not left):
            return None
        # What no error needs is divided alike.
        rest = rest or list(groups)
        whole = sum(map(self._weight, rest))
        for group in rest:
            share = Fraction(self._weight(group), whole) if whole else Fraction(1, len(rest))
            epsilons[group] = epsilons.get(group, Fraction(0)) + left * share
        epsilons = {group: epsilons[group] for group in groups}
        return Plan(epsilons, self._expected(epsilons), {group: self.alphabet(group) for group in groups})

    def _expected(self, epsilons: Mapping[Group, Fraction]) -> Precision:
        moments = {
            stratum: [self._best(group, stratum, epsilon) for group, epsilon in epsilons.items()]
            for stratum in self.sizes
        }
        return precision(moments, self.sizes, self.columns)

    def _best(self, group: Group, stratum: Stratum, epsilon: Fraction) -> Moments:
        cells = self.alphabet(group)[stratum]
        key = group, id(cells), epsilon
        if key not in self._moments:
            self._moments[key] = Moments.best(group, cells, float(epsilon))
        return self._moments[key]

    def _weight(self, group: Group) -> int:
        """The share of epsilon of a group: nothing where there is one category, which is no secret."""
        return len(group) if self.size(group) > 1 else 0

    def _needed(self, group: Group) -> Fraction | None:
        """The least epsilon with which the columns of a group have their requested errors; 0 where none is requested,
        None where more than the total is needed."""
        asked = {name: self.errors[name] for name in group if name in self.errors}
        if not asked:
            return Fraction(0)
        low, high = 0, math.floor(self.epsilon * STEP)

        def reached(number: int) -> bool:
            shares = self._expected({group: Fraction(number, STEP)}).shares
            return all(shares[name] <= error for name, error in asked.items())

        if not high or not reached(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return Fraction(high, STEP)

    def best(self, forced: Sequence[Sequence[str]], free: bool) -> tuple[Plan, Plan]:
        """(the plan to take, the plan without a joint design that is not `forced`). If `free`, columns are perturbed
        jointly where then no share is less precise and cells of two columns are more precise; of such groupings
        the one with the least error of cells. Raises InputError where the total is too small."""
        start = _united([(name,) for name in self.columns], forced)
        for group in start:
            if len(group) > 1 and self.size(group) > MOST_CELLS:
                raise TooLarge(
                    f"{' and '.join(group)} have {counted(self.size(group), 'combinations')}",
                    "joint",
                    "perturb fewer columns jointly, or merge categories",
                )
        alone = self.plan(start)
        candidates = [] if not free or len(self.columns) > MOST_COLUMNS else list(_coarser(start))[1:]
        made = [self.plan(groups) for groups in candidates if all(self._fits(group, start) for group in groups)]
        possible = [one for one in made if one is not None]
        if alone is None:
            if not possible:
                raise self._too_small(start)
            alone = possible[0]
        best = alone
        for one in possible:
            shares = one.expected.shares
            if all(shares[name] <= error * NO_WORSE for name, error in alone.expected.shares.items()) and (
                _worst(one) < _worst(best) / NO_WORSE
            ):
                best = one
        return best, alone

    def suggestions(self, taken: Plan, forced: Sequence[Sequence[str]]) -> Iterator[tuple[Group, Plan]]:
        """Pairs of columns that are perturbed one by one, and the plan that perturbs them jointly, where this makes
        their cells more precise and some share less."""
        home = {name: group for group in taken.epsilons for name in group}
        for pair in combinations(self.columns, 2):
            if home[pair[0]] == home[pair[1]]:
                continue
            groups = _united(list(taken.epsilons), [pair])
            group = next(one for one in groups if pair[0] in one)
            if self.size(group) > MOST_CELLS:
                continue
            other = self.plan(groups)
            if other is not None and other.expected.cells[pair] * GAIN < taken.expected.cells[pair]:
                yield pair, other

    def _fits(self, group: Group, start: Sequence[Group]) -> bool:
        return group in start or self.size(group) <= MOST_JOINT

    def _too_small(self, groups: Sequence[Group]) -> OutOfRange:
        whole = Planner(self.domain, self.columns, self.by, self.sizes, Fraction(64), self.errors)
        needed = [whole._needed(group) for group in groups]
        total = None if None in needed else sum((one for one in needed if one), Fraction(0))
        what = "no epsilon up to 64 reaches" if total is None else f"epsilon {shown(total, 6, up=True)} is needed for"
        return OutOfRange(
            f"{what} the requested errors, and epsilon is {shown(self.epsilon, 6, up=True)}",
            "error",
            "request larger errors, give a larger epsilon, or more records",
        )


def _worst(plan: Plan) -> float:
    """The errors of the cells of all pairs of columns together."""
    return math.sqrt(sum(one**2 for one in plan.expected.cells.values()))


def _united(groups: Sequence[Group], ties: Sequence[Sequence[str]]) -> list[Group]:
    """The groups, those of which a tie names columns united; in the order of their first columns."""
    found = [tuple(one) for one in groups]
    for tie in ties:
        touched = [one for one in found if set(one) & set(tie)]
        if len(touched) > 1:
            order = [name for one in found for name in one]
            union = tuple(sorted({name for one in touched for name in one}, key=order.index))
            found = [union if one is touched[0] else one for one in found if one is touched[0] or one not in touched]
    return found


def _coarser(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """All ways to unite groups, the groups themselves first."""
    if not groups:
        yield []
        return
    first, *rest = groups
    for others in _coarser(rest):
        yield [first, *others]
        for at, one in enumerate(others):
            yield [(*first, *one), *others[:at], *others[at + 1 :]]
