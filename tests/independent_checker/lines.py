"""Proofs in lines: the statement written by a second hand, the elaborator's, and judged by the kernel."""

from __future__ import annotations

import hashlib
import io
from typing import Any

from flint import fmpq

from rropt import kernel
from rropt.prove.problems import OutsideCoreError, Problem as Stated, emptied

from .reading import bad, items, keys, must, string
from .reals import need

MODES = ("labels", "known", "dual", "box", "sheets", "corner", "blocks", "matrix", "rays")
BEGIN = ("points", "prior", "around", "reach", "tangents", "cuts", "lift", "sum", "minorant", "unit")


class Lines:
    def __init__(self, problem: dict[str, Any], proof: dict[str, Any], bound: fmpq | None, fuel: int) -> None:
        keys(proof, ["kind", "lines"])
        self.lines, self.bound, self.fuel = items(proof["lines"], string, least=1), bound, fuel
        must(all(line.isascii() and line.isprintable() for line in self.lines), "a line")
        must(self.lines[0].split(" ")[0] in BEGIN, "the first line")
        modes = [line[5:] for line in self.lines if line.startswith("mode ")]
        must(len(modes) == 1 and modes[0] in MODES, "the mode")
        try:
            with kernel.long_integers():
                self.stated = Stated(emptied(problem, bound is None), "box")
                self.problem = list(self.stated.lines())
        except OutsideCoreError as error:
            bad(str(error))

    def check(self) -> fmpq | None:
        """The bound, where the kernel proves it; None where it proves that there is no mechanism."""
        digest = hashlib.sha256("".join(f"{line}\n" for line in self.problem).encode()).hexdigest()
        claim = None if self.bound is None else self.stated.sign * self.bound
        said = "claim infeasible -1 1" if claim is None else f"claim bound {claim.p} {claim.q}"
        with kernel.long_integers():
            begun = ["rropt-core", f"problem {digest}", *self.problem, said]
            text = "".join(f"{line}\n" for line in [*begun, *self.lines, "end"])
        status, said = kernel.verdict(io.BytesIO(text.encode()), self.fuel)
        must(status != 2, said)
        need(status == 0, said)
        return claim
