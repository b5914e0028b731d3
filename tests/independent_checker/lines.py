"""Proofs in lines: the statement written by a second hand, the elaborator's, and judged by the kernel."""

from __future__ import annotations

import hashlib
import io
from typing import Any

from flint import fmpq

from rropt import kernel
from rropt.prove.problems import OutsideCoreError, Problem as Stated

from .reading import bad, items, keys, must, string
from .reals import need

MODES = ("labels",)


class Lines:
    def __init__(self, problem: dict[str, Any], proof: dict[str, Any], bound: fmpq, fuel: int) -> None:
        keys(proof, ["kind", "lines"])
        self.lines, self.bound, self.fuel = items(proof["lines"], string, least=1), bound, fuel
        must(all(line.isascii() and line.isprintable() for line in self.lines), "a line")
        must(self.lines[0].startswith("unit "), "the first line")
        modes = [line[5:] for line in self.lines if line.startswith("mode ")]
        must(len(modes) == 1 and modes[0] in MODES, "the mode")
        try:
            with kernel.long_integers():
                self.stated = Stated(problem, "box")
                self.problem = list(self.stated.lines())
        except OutsideCoreError as error:
            bad(str(error))

    def check(self) -> fmpq:
        """The bound, where the kernel proves it."""
        digest = hashlib.sha256("".join(f"{line}\n" for line in self.problem).encode()).hexdigest()
        claim = self.stated.sign * self.bound
        with kernel.long_integers():
            begun = ["rropt-core", f"problem {digest}", *self.problem, f"claim bound {claim.p} {claim.q}"]
            text = "".join(f"{line}\n" for line in [*begun, *self.lines, "end"])
        status, said = kernel.verdict(io.BytesIO(text.encode()), self.fuel)
        must(status != 2, said)
        need(status == 0, said)
        return claim
