"""Expressions in one variable p, read from text without evaluating it as a program."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_poly

from rropt.errors import InputError, OutOfRange, TooLarge, Unreadable, WrongType, counted
from rropt.exact import rational
from rropt.model.privacy.spans import ONE, ZERO, Span, greatest, least

LONGEST = 500
"""Characters that an expression may have."""
LARGEST_POWER = 64
"""Size of exponents that an expression may have, and of the powers of p that it may come to."""
LONGEST_NUMBER = 10_000
"""Bits that an integer in an expression may come to."""
FUNCTIONS = ("min", "max", "sqrt", "exp", "log")

Ratio = tuple[fmpq_poly, fmpq_poly]
Dual = tuple[Span, Span]
"""Value and derivative."""


@dataclass(frozen=True)
class Node:
    """One operation: "number" (`value`), "p", "+", "-", "*", "/", "^" (to the power `value`), or one of FUNCTIONS."""

    word: str
    parts: tuple[Node, ...] = ()
    value: Fraction = Fraction(0)

    def put(self, inner: Node) -> Node:
        """This expression with `inner` for p."""
        if self.word == "p":
            return inner
        return Node(self.word, tuple(part.put(inner) for part in self.parts), self.value)

    def ratio(self) -> Ratio | None:
        """Numerator and denominator as polynomials of rationals, or None where it is not a rational function.

        Raises InputError for a division by zero itself.
        """
        if self.word == "number":
            return fmpq_poly([fmpq(self.value.numerator, self.value.denominator)]), fmpq_poly([1])
        if self.word == "p":
            return fmpq_poly([0, 1]), fmpq_poly([1])
        parts = [part.ratio() for part in self.parts]
        if any(part is None for part in parts) or self.word in FUNCTIONS or self.value.denominator != 1:
            return None
        (n, d), *rest = (part for part in parts if part is not None)
        if self.word == "^":
            n, d = (n, d) if self.value >= 0 else (d, n)
            return _reduce(n ** abs(int(self.value)), d ** abs(int(self.value)))
        m, e = rest[0]
        if self.word in ("+", "-"):
            return _reduce(n * e + m * d if self.word == "+" else n * e - m * d, d * e)
        return _reduce(n * m, d * e) if self.word == "*" else _reduce(n * e, d * m)

    def dual(self, p: Span) -> Dual:
        """Enclosures of the value and of the derivative (one-sided where there are two) on all of `p`."""
        if self.word == "number":
            return Span.point(self.value), ZERO
        if self.word == "p":
            return p, ONE
        (a, da), *rest = (part.dual(p) for part in self.parts)
        if self.word == "^":
            return a.power(self.value), Span.point(self.value) * a.power(self.value - 1) * da
        if self.word == "sqrt":
            root = a.power(Fraction(1, 2))
            return root, da / (root + root)
        if self.word == "exp":
            return a.exp(), a.exp() * da
        if self.word == "log":
            return a.log(), da / a
        for b, db in rest:
            a, da = COMBINED[self.word](a, da, b, db)
        return a, da

    def exactly(self, p: Fraction) -> Fraction | Node:
        """The value at a rational where it is seen to be rational, else what is left of the expression.

        Parts that are the same cancel: exp(p) / exp(1) is 1 at 1.
        """
        if self.word == "number":
            return self.value
        if self.word == "p":
            return p
        parts = [part.exactly(p) for part in self.parts]
        numbers = [part for part in parts if isinstance(part, Fraction)]
        if len(numbers) == len(parts) and (value := self._number(numbers)) is not None:
            return value
        if len(parts) == 2:
            a, b = parts
            if a == b and self.word in ("-", "/"):
                return Fraction(int(self.word == "/"))
            if (self.word == "*" and a == 1) or (self.word == "+" and a == 0):
                return b
            if (self.word in ("*", "/") and b == 1) or (self.word in ("+", "-") and b == 0):
                return a
            if self.word in ("*", "/") and a == 0:
                return Fraction(0)
        left = tuple(Node("number", value=part) if isinstance(part, Fraction) else part for part in parts)
        return Node(self.word, left, self.value)

    def _number(self, parts: list[Fraction]) -> Fraction | None:
        """This operation on rationals, where its result is seen to be one."""
        a = parts[0]
        if self.word in ("min", "max"):
            return min(parts) if self.word == "min" else max(parts)
        if self.word in ("+", "-", "*"):
            return a + parts[1] if self.word == "+" else a - parts[1] if self.word == "-" else a * parts[1]
        if self.word == "/":
            return a / parts[1] if parts[1] else None
        if self.word == "^" and self.value.denominator == 1:
            return a ** int(self.value) if a or self.value >= 0 else None
        if self.word in ("^", "sqrt") and a in (0, 1) and (self.word == "sqrt" or self.value > 0):
            return a
        if self.word == "exp" and a == 0:
            return Fraction(1)
        return Fraction(0) if self.word == "log" and a == 1 else None

    def secant(self, box: Span, end: Fraction, slope: Span) -> Span:
        """Encloses (h(p) - h(end)) / (p - end) for the p of `box`, an interval that ends at `end`, 0 or 1, whose
        derivatives lie in `slope`: those of a maximum may lie far apart where its parts meet, its secants do not."""
        if self.word not in ("min", "max"):
            return slope
        values = [part.exactly(end) for part in self.parts]
        if any(not isinstance(value, Fraction) or value != values[0] for value in values):
            return slope
        secants = [part.secant(box, end, part.dual(box)[1]) for part in self.parts]
        # Below `end` the denominator is negative.
        return (least if (self.word == "min") == (end == 0) else greatest)(secants).meet(slope)


def _reduce(n: fmpq_poly, d: fmpq_poly) -> Ratio:
    if not d:
        raise OutOfRange("it divides by zero", "expression", "change it")
    common = n.gcd(d)
    if common.degree() > 0:
        n, d = n // common, d // common
    for poly in (n, d):
        if poly.degree() > LARGEST_POWER or any(int(c).bit_length() > LONGEST_NUMBER for c in poly.numer().coeffs()):
            raise TooLarge(f"its powers go beyond {LARGEST_POWER}", "expression", "lower them, or declare a table")
    return n, d


def _lower_one(a: Span, da: Span, b: Span, db: Span) -> Dual:
    if a.upper < b.lower:
        return a, da
    return least((a, b)), db if b.upper < a.lower else da.hull(db)


def _upper_one(a: Span, da: Span, b: Span, db: Span) -> Dual:
    value, slope = _lower_one(-a, -da, -b, -db)
    return -value, -slope


COMBINED: dict[str, Callable[[Span, Span, Span, Span], Dual]] = {
    "+": lambda a, da, b, db: (a + b, da + db),
    "-": lambda a, da, b, db: (a - b, da - db),
    "*": lambda a, da, b, db: (a * b, da * b + a * db),
    "/": lambda a, da, b, db: (a / b, (da - a / b * db) / b),
    "min": _lower_one,
    "max": _upper_one,
}
OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def parse(text: str, where: str = "expression") -> Node:
    """The expression that `text` writes: numbers, p, + - * /, powers to a number (** or ^), brackets, min, max, sqrt,
    exp, log. Decimals are exact. Raises InputError, naming what is not understood."""
    if not isinstance(text, str) or not text.strip():
        raise WrongType(f"{text!r} is not an expression", where, 'write for example "min(1, 3*p)"')
    if len(text) > LONGEST:
        raise TooLarge(
            f"an expression of {counted(len(text), 'characters')} is too long", where, f"at most {LONGEST} are read"
        )
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
        return _node(tree.body, text.strip().replace("^", "**"), where)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise WrongType(f"{text!r} is not an expression", where, 'write for example "min(1, 3*p)"') from None


def _node(tree: ast.expr, text: str, where: str) -> Node:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)) and not isinstance(tree.value, bool):
        # The decimal as it is written; its float may have lost digits.
        return Node("number", value=rational((ast.get_source_segment(text, tree) or "").replace("_", ""), where))
    if isinstance(tree, ast.Name) and tree.id == "p":
        return Node("p")
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        inner = _node(tree.operand, text, where)
        return inner if isinstance(tree.op, ast.UAdd) else Node("-", (Node("number"), inner))
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATORS:
        return Node(OPERATORS[type(tree.op)], (_node(tree.left, text, where), _node(tree.right, text, where)))
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
        power = _node(tree.right, text, where).ratio()
        if power is None or power[0].degree() > 0 or power[1].degree() > 0:
            raise WrongType(f"the exponent of {_source(text, tree)!r} is not a number", where, "use exp and log")
        exponent = Fraction(int(power[0](0).p), int(power[0](0).q)) / Fraction(int(power[1](0).p), int(power[1](0).q))
        if abs(exponent) > LARGEST_POWER:
            raise OutOfRange(f"the exponent of {_source(text, tree)!r} is above {LARGEST_POWER}", where, "lower it")
        return Node("^", (_node(tree.left, text, where),), exponent)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in FUNCTIONS:
        parts = tuple(_node(part, text, where) for part in tree.args)
        several = tree.func.id in ("min", "max")
        if tree.keywords or len(parts) < 1 + several or (len(parts) > 1 and not several):
            raise OutOfRange(
                f"{tree.func.id} has {counted(len(parts), 'arguments')}", where, "min and max take two or more"
            )
        return Node(tree.func.id, parts)
    raise Unreadable(
        f"{_source(text, tree)!r} is not understood",
        where,
        f"write numbers, p, + - * / **, {', '.join(FUNCTIONS)}",
    )


def _source(text: str, tree: ast.AST) -> str:
    return ast.get_source_segment(text, tree) or text
