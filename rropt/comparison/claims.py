"""A published claim: its numbers, the evidence computed without them, and the verdict.

Verdicts are computed, not stored. `derive` computes from definitions what should have been printed (`truth`: the same
keys as `published`), and each key is compared: a number printed to four digits is confirmed when the true one rounds
to it, a formula when it takes the true one's values, a truth value when it is the same. A difference is `refuted`,
unless the evidence found that the statement holds once that key is corrected (`errata`): then `confirmed_with_erratum`.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, Literal

from rropt.exact import Interval, declared_text, float_down, float_up
from rropt.io.content import ByContent
from rropt.problem import Solution

__all__ = [
    "SHIPPED",
    "AnyOf",
    "Cell",
    "Claim",
    "Contrast",
    "Evidence",
    "Formula",
    "Judged",
    "Word",
    "decimal_of",
    "matches",
    "plain",
    "simulated",
    "worst",
]

SHIPPED = ("ayed", "ruiz", "lopuhaa", "bound", "kairouz", "chai", "ghazi", "others")
"""The papers whose claims are shipped, in this order: the first parts of the claims' ids. The last part has results of
several authors."""
Word = Literal["confirmed", "confirmed_with_erratum", "refuted", "not_checkable"]
ORDER: tuple[Word, ...] = ("confirmed", "confirmed_with_erratum", "not_checkable", "refuted")
"""From the best to the worst: an entry's verdict is that of its worst cell."""


@dataclass(frozen=True)
class Formula:
    """A printed formula as text in Python's notation, compared by its exact values on a grid: `over` gives each
    variable the values to try (integers, fractions or decimals as text). + - * / ** and integers only."""

    text: str
    over: tuple[tuple[str, tuple[object, ...]], ...]

    def at(self, **values: object) -> Fraction:
        """Its exact value. Raises ValueError for anything but arithmetic with these names."""
        known = {name: Fraction(str(value)) for name, value in values.items()}
        return _arithmetic(ast.parse(self.text, mode="eval").body, known)

    def values(self) -> tuple[Fraction, ...]:
        """Its values on the grid."""
        names = [name for name, _ in self.over]
        return tuple(self.at(**dict(zip(names, at, strict=True))) for at in product(*(grid for _, grid in self.over)))


@dataclass(frozen=True)
class AnyOf:
    """True values of which any may be there, as where two sizes are equally good; the first is shown."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Evidence:
    """The result of computing a claim.

    `truth` has the keys of `published`; None for a key that cannot be checked. `computed` are further numbers to show.
    `method` states how, and on what (a theorem for all x tried on some x says "exhaustive on ..."). `errata`: for keys
    whose misprint or missing condition was found, the corrected statement, which the computation verified. `witness`:
    what a reader can check by hand or with ten lines of NumPy. `solutions` by name: each carries a certificate and
    what the checker said of it.
    """

    truth: Mapping[str, Any]
    method: str
    computed: Mapping[str, Any] = field(default_factory=dict)
    errata: Mapping[str, str] = field(default_factory=dict)
    witness: str = ""
    solutions: Mapping[str, Solution] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One published value with the computed one."""

    name: str
    published: Any
    computed: Any
    verdict: Word


@dataclass(frozen=True, eq=False)
class Judged(ByContent):
    """A claim compared with its evidence: its cells, and the worst verdict among them."""

    cells: tuple[Cell, ...]
    evidence: Evidence
    computed: Mapping[str, Any]
    witness: str

    @property
    def verdict(self) -> Word:
        """Refuted if any cell is; else not_checkable, confirmed_with_erratum, confirmed in this order."""
        return worst([cell.verdict for cell in self.cells])

    @property
    def errata(self) -> tuple[str, ...]:
        """The corrections of the cells that need one."""
        wrong = [cell.name for cell in self.cells if cell.verdict == "confirmed_with_erratum"]
        return tuple(dict.fromkeys(self.evidence.errata[name] for name in wrong))


@dataclass(frozen=True)
class Contrast:
    """The parts of a result that depend on the published values: more numbers, verdicts of cells, more text for the
    witness."""

    computed: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Mapping[str, Word] = field(default_factory=dict)
    witness: str = ""


@dataclass(frozen=True, eq=False)
class Claim(ByContent):
    """A published statement that can be compared with a computation.

    `published` is data as printed: a decimal as text ("0.4875", compared at its digits), an integer, a Fraction, a
    truth value, a Formula, or a tuple of these. `derive(full)` computes the evidence without it; `full` asks for the
    paper's number of draws. `contrast(published, evidence)` may add what depends on both: numbers, a text for the
    witness, and for each cell it judges itself (as counts whose best value misses the optimum) a verdict.
    """

    id: str
    where: str
    statement: str
    published: Mapping[str, Any]
    derive: Callable[[bool], Evidence]
    contrast: Callable[[Mapping[str, Any], Evidence], Contrast] | None = None

    @property
    def paper(self) -> str:
        """The first part of the id."""
        return self.id.partition(".")[0]

    def judge(self, evidence: Evidence, published: Mapping[str, Any] | None = None) -> Judged:
        """Compare the published values (or others in their place) with the evidence, key by key."""
        printed = self.published if published is None else published
        extra = self.contrast(printed, evidence) if self.contrast else Contrast()
        cells = []
        for name, value in printed.items():
            true = evidence.truth[name]
            if name in extra.verdicts:
                word = extra.verdicts[name]
            elif true is None:
                word = "not_checkable"
            elif matches(value, true):
                word = "confirmed"
            else:
                word = "confirmed_with_erratum" if name in evidence.errata else "refuted"
            cells.append(Cell(name, value, true, word))
        witness = "\n".join(text for text in (evidence.witness, extra.witness) if text)
        return Judged(tuple(cells), evidence, {**evidence.computed, **extra.computed}, witness)


def simulated(name: str, published: object, true: Interval, error: float) -> tuple[float, dict[str, Word]]:
    """The error of a simulated number in standard errors, and the verdict if it is neither right nor near."""
    off = abs(float(Fraction(str(published))) - float(true)) / error if error else 0.0
    return off, {name: "refuted"} if off > 3 else {}


def worst(words: Sequence[Word]) -> Word:
    """The worst of some verdicts."""
    return max(words, key=ORDER.index)


def matches(published: Any, true: Any) -> bool:
    """Whether a published value is what it should be (see `Claim.published`)."""
    if isinstance(true, AnyOf):
        return any(matches(published, one) for one in true.values)
    if isinstance(published, bool) or isinstance(true, bool):
        return published is true
    if isinstance(published, tuple | list):
        return (
            isinstance(true, tuple | list)
            and len(published) == len(true)
            and all(matches(one, other) for one, other in zip(published, true, strict=True))
        )
    if isinstance(published, Formula):
        return isinstance(true, Formula) and published.over == true.over and _same(published, true)
    if isinstance(published, str):
        printed = decimal_of(published)
        if printed is None:
            return bool(published == true)
        if isinstance(true, str):
            return bool(Fraction(printed[0]) == Fraction(true))
        centre, half = printed
        low, high = (true.lower, true.upper) if isinstance(true, Interval) else (Fraction(true), Fraction(true))
        return bool(centre - half <= low and high <= centre + half)
    if isinstance(true, Interval):
        return bool(true.lower <= Fraction(published) <= true.upper)
    return bool(published == true)


def _same(one: Formula, other: Formula) -> bool:
    try:
        return one.values() == other.values()
    except ZeroDivisionError:
        return False


def plain(value: Any) -> Any:
    """`value` as JSON: fractions as text, intervals as [lower, upper] rounded outwards."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, AnyOf):
        return plain(value.values[0]) if len(value.values) == 1 else {"any_of": plain(value.values)}
    if isinstance(value, Formula):
        return value.text
    if isinstance(value, Fraction):
        return declared_text(value)
    if isinstance(value, Interval):
        return [float_down(value.lower), float_up(value.upper)]
    return value


def decimal_of(text: str) -> tuple[Fraction, Fraction] | None:
    """(value, half a unit of the last digit) of a printed decimal; None where the text is not a decimal."""
    digits = text.replace(",", "").replace(" ", "")
    try:
        value = Fraction(digits)
    except (ValueError, ZeroDivisionError):
        return None
    if "/" in digits:
        return value, Fraction(0)
    mantissa, _, exponent = digits.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return value, Fraction(1, 2 * 10**places) if places > 0 or not exponent else Fraction(0)


def _arithmetic(node: ast.expr, known: Mapping[str, Fraction]) -> Fraction:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return Fraction(number)
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_arithmetic(inner, known)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _arithmetic(left, known), _arithmetic(right, known)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow() if b.denominator == 1:
                    return Fraction(a ** int(b))
    raise ValueError(f"no arithmetic: {ast.unparse(node)}")
