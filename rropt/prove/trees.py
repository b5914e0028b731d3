"""Shared by the writers of all proofs: trees in preorder, raised prices, and the proof that is made of them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar

from flint import arb, ctx

from rropt.exact import ball, rational_text, summed
from rropt.program.cones import FloatArray, GraphCone, base_cone, cone_rows
from rropt.program.programs import Program
from rropt.prove.balls import LARGEST, PRECISION, PRICE_BITS, SLACK, upper_end
from rropt.prove.certificates import Proof

EMPTY = -(2**30)
"""The excess of an empty leaf."""


class Tree(Protocol):
    """A node of a search: what bounds it, and its two parts where it is split."""

    bound: float

    @property
    def parts(self) -> tuple[Self, Self] | None:
        """In the order of the format."""


T = TypeVar("T", bound=Tree)
S = TypeVar("S")


def leaves_below(
    root: T, start: S, branch: Callable[[T, S], tuple[Any, S, S]], items: list[Any], accept: float = -math.inf
) -> Iterator[tuple[T, S]]:
    """The leaves of a tree in preorder, each with what its path says. `branch(node, state)` gives the element of a
    split node, which is put into `items`, and the states of both parts. Nodes within `accept` count as leaves."""
    stack = [(root, start)]
    while stack:
        node, state = stack.pop()
        if node.parts is None or node.bound <= accept:
            yield node, state
            continue
        element, first, second = branch(node, state)
        items.append(element)
        stack += [(node.parts[1], second), (node.parts[0], first)]


def written(
    root: T, start: S, branch: Callable[[T, S], tuple[Any, S, S]], leaf: Callable[[T, S], tuple[Any, arb | None]]
) -> tuple[list[Any], arb]:
    """(the elements of a tree in preorder, an upper bound of the excess of its leaves); `leaf(node, state)` gives the
    element of a leaf and its excess, None where that is not finite."""
    items: list[Any] = []
    worst = arb(EMPTY)
    for node, state in leaves_below(root, start, branch, items):
        item, left = leaf(node, state)
        worst = arb("inf") if left is None else worst.max(left)
        items.append(item)
    return items, worst


@dataclass(frozen=True)
class PricesOfPrior:
    """Prices that are `each` times the prior, but for those of the inputs of `own`: short to write."""

    prior: Sequence[Fraction]
    each: Fraction
    own: Mapping[int, Fraction]

    def listed(self) -> list[Fraction]:
        """The price of each input."""
        found = [self.each * p for p in self.prior]
        for x, price in self.own.items():
            found[x] = price
        return found

    def total(self) -> Fraction:
        """The sum of the prices."""
        return self.each + sum((price - self.each * self.prior[x] for x, price in self.own.items()), Fraction(0))

    def payload(self) -> dict[str, object]:
        """The object `prices` of a proof."""
        own = [[x, rational_text(price)] for x, price in self.own.items()]
        return {"of_prior": rational_text(self.each), "own": own}


def raised(
    prices: Iterable[float | Fraction] | FloatArray, prior: Sequence[Fraction], shift: float | Fraction = 0
) -> list[Fraction]:
    """Prices plus `shift` times the prior. A price may always be raised, so each is brought to the grid upwards."""
    n, d = shift.as_integer_ratio()
    found = []
    for price, p in zip(prices, prior, strict=True):
        # price + shift p = a / b + n p / d, in integers: there are many.
        (a, b), below = price.as_integer_ratio(), d * p.denominator
        found.append(Fraction(-((-(a * below + n * p.numerator * b) << PRICE_BITS) // (b * below)), 1 << PRICE_BITS))
    return found


def raised_tree(
    write: Callable[[int, list[arb]], tuple[list[Any], arb]],
    unit: int,
    prices: Sequence[Fraction],
    prior: Sequence[Fraction],
) -> tuple[list[Any], list[Fraction], int] | None:
    """(the elements of a box tree, its raised prices, its unit) from `write(unit, prices)`, which gives the elements
    over a unit and the excess d of their worst leaf: nu - d in every leaf lowers its left side by d, with prices
    a + d p. Where d is so large that a leaf's nu is not an integer of the format, the unit is coarser: any multipliers
    are valid. None where nothing is bounded."""
    with ctx.workprec(PRECISION):
        balls = [ball(price) for price in prices]
        while unit >= 1:
            items, worst = write(unit, balls)
            if not worst.is_finite():
                return None
            steps = math.ceil((upper_end(worst) + SLACK) * unit)
            leaves = [item for item in items if isinstance(item, dict)]
            for item in leaves:
                item["n"] -= steps
            largest = max(abs(item["n"]) for item in leaves)
            if largest <= LARGEST:
                return items, raised(prices, prior, Fraction(steps, unit)), unit
            unit >>= max(1, largest.bit_length() - LARGEST.bit_length() + 1)
    return None


def column_dual(prices: Sequence[Fraction] | PricesOfPrior, **keys: object) -> Proof:
    """The `column-dual` proof by prices; the `keys` state why every column is worth no more than its price."""
    if isinstance(prices, PricesOfPrior):
        payload: dict[str, object] = {"kind": "column-dual", "prices": prices.payload(), **keys}
        return Proof(payload, prices.total())
    payload = {"kind": "column-dual", "prices": [rational_text(price) for price in prices], **keys}
    return Proof(payload, summed(prices))


def branch_tree(bound: Fraction, unit: int, boxes: list[Any]) -> Proof:
    """The `branch-tree` proof of a bound."""
    payload: dict[str, object] = {
        "kind": "branch-tree",
        "yield": rational_text(bound),
        "unit": str(unit),
        "boxes": boxes,
    }
    return Proof(payload, bound)


def column_tests(
    program: Program, flows: Sequence[Sequence[Fraction]], cone: Sequence[Sequence[Fraction]]
) -> dict[str, object]:
    """Multipliers of a cone as certificates write them, one list per column under test: the keys `flows` and, for a
    polyhedral cone, `multipliers`."""
    base = base_cone(program.cone)
    edges = base.edges if isinstance(base, GraphCone) else ()
    table: dict[str, object] = {
        "flows": [
            [[x, z, rational_text(flow)] for (x, z, _), flow in zip(edges, column, strict=True) if flow]
            for column in (flows if edges else ())
        ]
    }
    if cone_rows(program.cone):
        table["multipliers"] = [[rational_text(entry) for entry in column] for column in cone]
    return table


def spread(steps: int, prior: tuple[Fraction, ...]) -> list[int]:
    """So many steps shared out along the prior, in whole numbers; the sum is exact."""
    shares = [math.floor(steps * p) for p in prior]
    order = sorted(range(len(prior)), key=lambda x: shares[x] - steps * prior[x])
    for x in order[: steps - sum(shares)]:
        shares[x] += 1
    return shares
