"""Patterns of a square mechanism: blocks, tridiagonal, symmetric and circulant matrices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from rropt.declare.constraint import Constraint
from rropt.errors import Duplicate, Missing, UnknownName, WrongType, counted
from rropt.io.arguments import checked
from rropt.io.types import Label
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import clean_labels
from rropt.program.extras import Extra, OffDiagonalForm
from rropt.program.programs import Row

ONE = Fraction(1)


class _Square(Constraint):
    """Outputs are the inputs, and nothing is said of single columns."""

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs


def _difference(name: str, first: tuple[int, int], second: tuple[int, int]) -> Row:
    """The row Q[first] = Q[second]."""
    return Row(name, "=", Fraction(0), tuple(sorted([(*first, ONE), (*second, -ONE)])))


@checked
@dataclass(frozen=True, init=False)
class Blocks(_Square):
    """Answers stay within their class: Q[x, y] = 0 where x and y are in different ones of `blocks` (lists of labels).

    The blocks are a partition of the inputs. With `Bistochastic()` and the largest entropy it is the permutation within
    k-anonymity classes. Raises InputError for blocks that overlap, and, with its inputs, for those that miss one.
    Source: ruiz eq. 3.

        >>> import rropt as rr
        >>> rules = [rr.Floor("0.6"), rr.patterns.Blocks([["a", "b"], ["c", "d"]])]
        >>> problem = rr.Problem(rr.Maximize(rr.InjectedEntropy()), rules, inputs=["a", "b", "c", "d"])
        >>> problem.solve().mechanism["a", "c"]
        Fraction(0, 1)
    """

    kind: ClassVar[str] = "blocks"

    blocks: tuple[tuple[str, ...], ...]

    def __init__(self, blocks: Iterable[Sequence[Label]]) -> None:
        if isinstance(blocks, str) or not isinstance(blocks, Iterable):
            raise WrongType(f"{blocks!r} is not a list of blocks", "Blocks", 'as [["a", "b"], ["c", "d"]]')
        cleaned = tuple(clean_labels(block, "a block") for block in blocks)
        seen: set[str] = set()
        for label in (label for block in cleaned for label in block):
            if label in seen:
                raise Duplicate(f"{label!r} is in two blocks", "Blocks", "give each label one block")
            seen.add(label)
        if not cleaned:
            raise Missing("no blocks are given", "Blocks", "give lists of labels, or leave it out")
        object.__setattr__(self, "blocks", cleaned)

    def members(self, inputs: tuple[str, ...]) -> tuple[int, ...]:
        """The number of the block of each input. Raises InputError where blocks and inputs do not have one alphabet."""
        home = {label: number for number, block in enumerate(self.blocks) for label in block}
        if missing := [label for label in inputs if label not in home]:
            raise Missing(f"no block holds {', '.join(missing[:6])}", "Blocks", "put every input into one")
        if strange := [label for label in home if label not in inputs]:
            raise UnknownName(
                f"{', '.join(strange[:6])} {'is not an input' if len(strange) == 1 else 'are not inputs'}",
                "Blocks",
                "leave it out",
            )
        return tuple(home[label] for label in inputs)

    def violation(self, mechanism: Mechanism) -> Fraction:
        homes = self.members(mechanism.inputs)
        size = range(len(homes))
        return sum((mechanism.entry(x, y) for x in size for y in size if homes[x] != homes[y]), Fraction(0))

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        homes = self.members(inputs)
        size = range(len(homes))
        outside = tuple((x, y, ONE) for x in size for y in size if homes[x] != homes[y])
        return (Row("outside of the blocks", "=", Fraction(0), outside),) if outside else ()

    def keys(self) -> dict[str, object]:
        return {"blocks": [list(block) for block in self.blocks]}

    def describe(self) -> str:
        return counted(len(self.blocks), "blocks")


@checked
@dataclass(frozen=True)
class Tridiagonal(_Square):
    """Answers move to a neighbour at most, in the order of the inputs. Source: ruiz eq. 7.

    For example:

        >>> import rropt as rr
        >>> rules = [rr.Floor("0.4"), rr.patterns.Tridiagonal()]
        >>> mechanism = rr.Problem(rr.Maximize(rr.Trace()), rules, inputs=["a", "b", "c"]).solve().mechanism
        >>> float(mechanism["a", "c"])
        0.0
    """

    kind: ClassVar[str] = "tridiagonal"

    def violation(self, mechanism: Mechanism) -> Fraction:
        size = range(len(mechanism.inputs))
        return max((mechanism.entry(x, y) for x in size for y in size if not x - 1 <= y <= x + 1), default=Fraction(0))

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        size = range(len(inputs))
        far = tuple((x, y, ONE) for x in size for y in size if abs(x - y) > 1)
        return (Row("beyond the neighbours", "=", Fraction(0), far),) if far else ()


@checked
@dataclass(frozen=True)
class Symmetric(_Square):
    """Q[x, y] = Q[y, x]; with rows that sum to one, bistochastic.

    For example:

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.patterns.Symmetric()], inputs=["a", "b", "c"])
        >>> mechanism = problem.solve().mechanism
        >>> mechanism["a", "b"] == mechanism["b", "a"]
        True
    """

    kind: ClassVar[str] = "symmetric"

    def violation(self, mechanism: Mechanism) -> Fraction:
        size = range(len(mechanism.inputs))
        return max(abs(mechanism.entry(x, y) - mechanism.entry(y, x)) for x in size for y in size)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        return tuple(
            _difference(f"{inputs[x]} and {inputs[y]} alike", (x, y), (y, x))
            for x in range(len(inputs))
            for y in range(x + 1, len(inputs))
        )


@checked
@dataclass(frozen=True)
class Circulant(_Square):
    """Every row is the row above it shifted by one place, in the order of inputs; bistochastic. Source: ruiz eq. 6.

    For example:

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.patterns.Circulant()], inputs=["a", "b", "c"])
        >>> mechanism = problem.solve().mechanism
        >>> mechanism["a", "b"] == mechanism["b", "c"] == mechanism["c", "a"]
        True
    """

    kind: ClassVar[str] = "circulant"

    def violation(self, mechanism: Mechanism) -> Fraction:
        size = len(mechanism.inputs)
        return max(
            abs(mechanism.entry(x, y) - mechanism.entry((x + 1) % size, (y + 1) % size))
            for x in range(size)
            for y in range(size)
        )

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        size = len(inputs)
        return tuple(
            _difference(f"{inputs[x]} to {outputs[y]} as the first row", (x, y), (0, (y - x) % size))
            for x in range(1, size)
            for y in range(size)
        )


@checked
@dataclass(frozen=True)
class UniformOffDiagonal(Constraint):
    """In every row of Q all entries off the diagonal are equal: all wrong answers are equally likely.

    Outputs are the inputs. With mutual information under LDP, and nothing else, it is solved at thousands of inputs;
    together with other constraints it is k (k - 2) linear rows. Source: ayed equation (8).

        >>> import rropt as rr
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), rr.patterns.UniformOffDiagonal()], inputs=["a", "b", "c"])
        >>> mechanism = problem.solve().mechanism
        >>> mechanism["a", "b"] == mechanism["a", "c"]
        True
    """

    kind: ClassVar[str] = "uniform_off_diagonal"

    def violation(self, mechanism: Mechanism) -> Fraction:
        return OffDiagonalForm().excess(mechanism)

    def outputs(self, inputs: tuple[str, ...]) -> tuple[str, ...] | None:
        return inputs

    def extras(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Extra, ...]:
        return (OffDiagonalForm(),)

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        rows = []
        for x, label in enumerate(inputs):
            first, *others = (y for y in range(len(outputs)) if y != x)
            for y in others:
                terms = tuple(sorted([(x, first, Fraction(1)), (x, y, Fraction(-1))]))
                rows.append(Row(f"off the diagonal of {label}: {outputs[y]}", "=", Fraction(0), terms))
        return tuple(rows)

    def describe(self) -> str:
        return "equal off-diagonal entries in each row"
