"""Proofs of bounds that hold whatever most constraints are: they are left out, by steps, and what is left has a proof.

The bounds are those of `simple_bound` (relaxed_bound.py) that a certificate can state, and of LDP without the further
constraints.
"""

from collections.abc import Iterator

from rropt.errors import Refusal
from rropt.program.cones import CompleteCone, base_cone
from rropt.program.design_utilities import InverseDeterminant, InverseTrace
from rropt.program.programs import BayesGain, ChiSquare, Information, Linear, Program, RowEntropy
from rropt.prove.certificates import Proof
from rropt.prove.steps import EXTRAS, Drop, drop
from rropt.solve.engine.method import Dual, SolveLimits
from rropt.solve.proving import prove
from rropt.solve.relaxations.identity import truth_dual

COUPLING = ("rows", *EXTRAS, "outputs")
"""All that ties columns to each other."""
WORDS = {
    "cone": "the conditions on every column",
    "cone_rows": "the linear conditions on every column",
    "rows": "the constraints on the whole matrix",
    "entropy": "the floor on the entropy",
    "approximate": "approximate LDP",
    "identification_risk": "the bound on the identification risk",
    "structure": "the one number off the diagonal of a row",
    "limits": "the limits on mutual information and gains",
    "divergences": "the limits on divergences and the capacity",
    "outputs": "the number of outputs",
}
"""The parts of a problem (`rropt.prove.steps`) in a sentence."""


def prove_without(program: Program, effort: SolveLimits, attained: float | None) -> Proof | None:
    """The best proof of a bound from which constraints are left out; None where none is known, or where the
    certificate format cannot state the program. `attained` as in `prove`."""
    if any(not isinstance(extra, tuple(EXTRAS.values())) for extra in program.extras):
        return None
    found = (prove(program, dual, effort, attained, drop(program, parts)) for parts, dual in _choices(program))
    proofs = [proof for proof in found if not isinstance(proof, Refusal) and proof.bound is not None]
    return min(proofs, key=lambda proof: program.sign * (proof.bound or 0), default=None)


def said_of(proof: Proof) -> str:
    """What the steps of such a proof leave out, in words."""
    *words, last = [WORDS[part] for step in proof.steps if isinstance(step, Drop) for part in step.parts] or [""]
    if not last:
        return "the bound is proved from the frequencies"
    return f"the bound ignores {', '.join(words)}{' and ' if words else ''}{last}"


def _choices(program: Program) -> Iterator[tuple[tuple[str, ...], Dual | None]]:
    """Parts to leave out, and the multipliers that prove a bound of what is left."""
    utility, free = program.utility, ("cone", *COUPLING)
    if program.sense == "minimize" and not isinstance(utility, (Linear, InverseTrace, InverseDeterminant)):
        return
    if isinstance(utility, Linear):
        assert program.outputs is not None
        best = (program.sign * utility.matrix(program.size, len(program.outputs))).max(axis=1)
        yield ("cone", "rows", *EXTRAS), Dual(best)
    elif isinstance(utility, RowEntropy):
        yield ("cone", "rows", *EXTRAS), None
    elif isinstance(utility, (BayesGain, InverseTrace, InverseDeterminant)):
        yield free, truth_dual(program)
    elif isinstance(utility, (Information, ChiSquare)):
        alone = utility.plain or isinstance(utility, ChiSquare)
        if alone and isinstance(base_cone(program.cone), CompleteCone):
            yield ("cone_rows", *COUPLING), None
        yield (COUPLING, None) if utility.plain else (free, truth_dual(program))
