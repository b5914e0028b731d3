"""Names of variables and rows that say which input, output and constraint they are of.

Files of linear programmes take few characters: every other one becomes "_", and names stay distinct.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rropt.declare.constraints import Constraint
from rropt.program.cones import FreeCone, base_cone, cone_rows
from rropt.program.programs import Program

LONGEST = 60
"""Characters of a part of a name; the LP format takes 255 for the whole."""


def safe(labels: Iterable[str]) -> list[str]:
    """Labels of ASCII letters, digits, "_" and "." that are distinct where the given ones are."""
    found: list[str] = []
    taken: set[str] = set()
    for label in labels:
        ascii_ = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
        base = re.sub(r"[^A-Za-z0-9_.]+", "_", ascii_)[:LONGEST] or "_"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        found.append(name)
    return found


@dataclass(frozen=True)
class Names:
    """The names of a program with fixed outputs: Q(x,y) of an entry, sum(x) of a row sum, and those of what each
    constraint demands. `privacy` are the words of the constraints that bound ratios, `cones` those of the further rows
    of the cone, one each."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: tuple[str, ...]
    privacy: str
    cones: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, constraints: Sequence[Constraint]) -> Names:
        """For the program of a problem with these constraints."""
        words, cones = [], []
        for constraint in constraints:
            cone = constraint.cone(program.inputs)
            if cone is not None:
                general = cone.general()
                words += [] if isinstance(base_cone(general), FreeCone) else [constraint.kind]
                cones += [constraint.kind] * len(cone_rows(general))
        word = "_".join(dict.fromkeys(words)) or "privacy"
        # Ratios of two units become rows, which come last.
        cones += [word] * (len(cone_rows(program.cone)) - len(cones))
        own = safe(row.name for row in program.rows)
        return cls(tuple(safe(program.inputs)), tuple(safe(program.outputs or ())), tuple(own), word, tuple(cones))

    def entries(self) -> list[str]:
        """Of the entries of Q, in row-major order."""
        return [f"Q({x},{y})" for x in self.inputs for y in self.outputs]

    def sums(self) -> list[str]:
        """Of the sums of rows."""
        return [f"sum({x})" for x in self.inputs]

    def coupling(self) -> list[str]:
        """Of the rows over the whole matrix."""
        return [f"row({name})" for name in self.rows]

    def cone(self, number: int, y: str) -> str:
        """Of a further row of the cone in a column."""
        return f"{self.cones[number]}({number + 1},{y})"
