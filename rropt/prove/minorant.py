"""The step `minorant`: linear forms in the place of a convex utility that is minimised, or of a limit on one.

Written from docs/certificate-format.md, section 6, "Steps" (version 6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from rropt.exact import rational_text
from rropt.program.limits import Limits
from rropt.program.programs import ColumnSum, Information, Linear, Program, Row
from rropt.prove.steps import Step

Form = tuple[Fraction, ...]


@dataclass(frozen=True)
class Minorant(Step):
    """For each output y a form g_y (k rationals) with g_y.v <= mu(v) for all v >= 0, mu being that of `utility`.

    `parts` prove it, by output: the form itself; with `given` a form for each known value; of a Bayes gain the weights of
    its actions. `limit` is the place of the limit that the forms are of; None where they are of the goal.
    """

    utility: ColumnSum
    parts: tuple[tuple[Form, ...], ...]
    forms: tuple[Form, ...]
    limit: int | None = None

    @property
    def lemma(self) -> str:
        return "gibbs-inequality" if isinstance(self.utility, Information) else ""

    def payload(self) -> dict[str, object]:
        nested = isinstance(self.utility, Information) and self.utility.given is not None
        texts = [[[rational_text(entry) for entry in part] for part in own] for own in self.parts]
        forms: list[object] = [own if nested else own[0] for own in texts]
        return {"kind": "minorant", "forms": forms} | ({} if self.limit is None else {"of": self.limit})

    def relax(self, program: Program) -> Program:
        size = len(self.forms[0])
        terms = tuple((x, y, form[x]) for x in range(size) for y, form in enumerate(self.forms) if form[x])
        # Outputs that are free are merged into one.
        program = replace(program, outputs=program.outputs or ("any",))
        if self.limit is None:
            return replace(program, utility=Linear(terms))
        limits = program.required(Limits).limits
        row = Row(f"limit {len(program.rows)}", "<=", limits[self.limit].at_most, terms)
        rest = limits[: self.limit] + limits[self.limit + 1 :]
        program = replace(program, rows=(*program.rows, row))
        others = tuple(extra for extra in program.extras if not isinstance(extra, Limits))
        return replace(program, extras=(*others, Limits(rest)) if rest else others)
