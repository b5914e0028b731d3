"""The user's own linear constraints, for building models in code."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from rropt.declare.constraint import NAME_OUTPUTS, Constraint
from rropt.errors import Missing, UnknownName, counted
from rropt.exact import coefficient, rational_table
from rropt.io.arguments import checked
from rropt.io.counts import Table
from rropt.io.types import Matrix, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import clean_labels
from rropt.program.cones import Cone, FreeCone, PolyhedralCone
from rropt.program.programs import Row

Rows = tuple[tuple[Fraction, ...], ...]
Labels = tuple[str, ...] | None


def _table(matrix: object, where: str) -> tuple[Rows, Labels, Labels]:
    """(the coefficients, the labels of the rows, those of the columns)."""
    read = Table.read(matrix, where)
    return rational_table(read.rows, where, coefficient), read.row_names(where), read.column_names(where)


@checked
@dataclass(frozen=True, init=False)
class LinearConstraint(Constraint):
    """sum over x, y of `coefficients[x][y] Q[x, y]` is <=, >= or = rhs.

    `coefficients` is an inputs x outputs matrix, by label where it has labels (a data frame), so the outputs must be
    fixed by the objective, a structure or `Problem(outputs=...)`. `name` appears in messages and in the certificate.

        >>> import rropt as rr
        >>> row = rr.LinearConstraint([[1, 0], [0, 0]], "<=", "0.6", name="no for no")
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1), row], inputs=["no", "yes"])
        >>> float(problem.solve().mechanism["no", "no"]) <= 0.6
        True
    """

    kind: ClassVar[str] = "linear"

    coefficients: Rows
    sense: Literal["<=", ">=", "="]
    rhs: Fraction
    name: str
    row_labels: Labels
    column_labels: Labels

    def __init__(self, coefficients: Matrix, sense: str, rhs: Number, *, name: str = "") -> None:
        if sense not in ("<=", ">=", "=", "=="):
            raise UnknownName(f"{sense!r} is not a sense of a constraint", "LinearConstraint", "use <=, >= or =")
        table, rows, columns = _table(coefficients, "LinearConstraint coefficients")
        object.__setattr__(self, "coefficients", table)
        object.__setattr__(self, "row_labels", rows)
        object.__setattr__(self, "column_labels", columns)
        object.__setattr__(self, "sense", "=" if sense == "==" else sense)
        object.__setattr__(self, "rhs", coefficient(rhs, "LinearConstraint rhs"))
        object.__setattr__(self, "name", clean_labels([name], "LinearConstraint name")[0] if name else "")

    @property
    def _table(self) -> Table:
        return Table([list(row) for row in self.coefficients], self.row_labels, self.column_labels)

    def _place(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> list[list[Fraction]]:
        """The coefficients in the order of the labels."""
        if not outputs:
            raise Missing(
                "it needs outputs, and they are free here",
                self.describe(),
                NAME_OUTPUTS,
            )
        return self._table.of(inputs, outputs, self.describe(), ("inputs", "outputs"))

    def violation(self, mechanism: Mechanism) -> Fraction:
        total = sum(
            (
                entry * mechanism.entry(x, y)
                for x, row in enumerate(self._place(mechanism.inputs, mechanism.outputs))
                for y, entry in enumerate(row)
                if entry
            ),
            Fraction(0),
        )
        miss = total - self.rhs
        return {"<=": miss, ">=": -miss, "=": abs(miss)}[self.sense]

    def rows(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Row, ...]:
        sign = -1 if self.sense == ">=" else 1
        placed = self._place(inputs, outputs)
        terms = tuple((x, y, sign * entry) for x, row in enumerate(placed) for y, entry in enumerate(row) if entry)
        return (Row(self.name or "linear", "=" if self.sense == "=" else "<=", sign * self.rhs, terms),)

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {
            "coefficients": self._table.written(),
            "sense": self.sense,
            "rhs": self.rhs,
        }
        return keys | ({"name": self.name} if self.name else {})

    def describe(self) -> str:
        return f"linear constraint {self.name!r}" if self.name else "linear constraint"


@checked
@dataclass(frozen=True, init=False)
class ConeConstraint(Constraint):
    """A v <= 0 for every column v of the mechanism; `matrix` A has one column for each input, matched by label if its
    columns have labels (a data frame).

        >>> import rropt as rr
        >>> twice = rr.ConeConstraint([[1, -2], [-2, 1]])  # Q[x, y] <= 2 Q[z, y]
        >>> mechanism = rr.Problem(rr.Maximize(rr.Trace()), [twice], inputs=["no", "yes"]).solve().mechanism
        >>> round(float(mechanism.privacy_ratio), 6)
        2.0
    """

    kind: ClassVar[str] = "cone"

    matrix: Rows
    labels: Labels

    def __init__(self, matrix: Matrix) -> None:
        table, _, labels = _table(matrix, "ConeConstraint matrix")
        object.__setattr__(self, "matrix", table)
        object.__setattr__(self, "labels", labels)

    def violation(self, mechanism: Mechanism) -> Fraction:
        return max(
            sum((a * v for a, v in zip(row, mechanism.column(y), strict=True) if a), Fraction(0))
            for row in self._place(mechanism.inputs)
            for y in range(len(mechanism.outputs))
        )

    @property
    def _table(self) -> Table:
        return Table([list(row) for row in self.matrix], None, self.labels)

    def _place(self, inputs: tuple[str, ...]) -> Rows:
        """The rows in the order of the inputs."""
        return tuple(map(tuple, self._table.of(None, inputs, "ConeConstraint", ("rows", "inputs"))))

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        return PolyhedralCone(FreeCone(), self._place(inputs))

    def keys(self) -> dict[str, object]:
        return {"matrix": self._table.written()}

    def describe(self) -> str:
        return f"cone of {counted(len(self.matrix), 'rows')}"
