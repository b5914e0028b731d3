"""The provers of all theories, in the order in which they are tried."""

from dataclasses import replace
from functools import partial

from rropt.errors import Refusal
from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.limits import DivergenceLimits, Limits, PosteriorRisk
from rropt.program.programs import ColumnSum, Information, Program
from rropt.prove.certificates import Proof
from rropt.prove.steps import Drop, Step, relax
from rropt.solve.columns import boxes, rays
from rropt.solve.designs import proof as designs
from rropt.solve.engine.method import Dual, ProofGoal, Prover, SolveLimits
from rropt.solve.entropy import entropy_dual
from rropt.solve.entropy.gibbs import EntropyMultipliers
from rropt.solve.ldp import column_dual
from rropt.solve.linear import linear_dual
from rropt.solve.matrix import cell_proof as cells, design_proof as risks, proof as matrix
from rropt.solve.metric import proof as metric
from rropt.solve.offdiagonal import proof as offdiagonal
from rropt.solve.risk import proof as risk
from rropt.solve.robust import block_knapsack_proof as robust
from rropt.solve.robust_exact import cuts_proof as robust_exact

PROVERS: tuple[Prover, ...] = (
    entropy_dual.prove,
    risk.prove,
    offdiagonal.prove,
    partial(cells.prove, whole=column_dual.tree_at),
    risks.prove,
    matrix.prove,
    column_dual.prove,
    robust.prove,
    robust_exact.prove,
    metric.prove,
    rays.prove,
    boxes.prove,
    designs.prove,
    linear_dual.prove,
)
"""The first that covers a program proves its bound. Those that cover less come first."""
UNDER_RISK: tuple[Prover, ...] = (entropy_dual.prove, risk.prove, linear_dual.prove)
"""Those that apply where identification risk is bounded: the others prove bounds of all matrices."""


def prove(
    program: Program, dual: Dual | None, effort: SolveLimits, attained: float | None, steps: tuple[Step, ...] = ()
) -> Proof | Refusal:
    """The bound that `dual` proves after repair, of the program after `steps`, or why no proof kind covers that.
    `attained` is the mechanism's value in the utility's unit, None where there is no mechanism."""
    found = _prove_last(relax(program, steps), dual, effort, attained)
    return of_steps(found, steps) if isinstance(found, Proof) else found


STATED = {"cone_rows", "rows", "entropy", "limits", "outputs"}
"""Parts of a problem that lines state: no step needs to leave them out."""


def of_steps(proof: Proof, steps: tuple[Step, ...]) -> Proof:
    """The proof of the problem after the steps as one of the first problem."""
    left = [isinstance(step, Drop) and STATED.issuperset(step.parts) for step in steps]
    return replace(proof, steps=() if proof.payload["kind"] == "lines" and all(left) else steps)


def _prove_last(program: Program, dual: Dual | None, effort: SolveLimits, attained: float | None) -> Proof | Refusal:
    if isinstance(program.utility, ColumnSum) and program.sense == "minimize":
        return Refusal("no proof kind covers the minimum of a convex objective")
    if program.extra(Limits) is not None:
        return Refusal("no proof kind covers limits on mutual information")
    if program.extra(DivergenceLimits) is not None:
        return Refusal("no proof kind covers limits on divergences or on the capacity")
    if isinstance(program.cone, ConfidenceCone) and not (
        isinstance(program.utility, Information) and program.utility.plain
    ):
        return Refusal(
            "the certificate format states an exact cone of robust LDP only together with mutual information"
        )
    wanted = ProofGoal(effort, attained)
    for prover in PROVERS if program.extra(PosteriorRisk) is None else UNDER_RISK:
        proof = prover(program, dual, wanted)
        if proof is not None:
            return proof
    if program.extra(PosteriorRisk) is not None:
        return Refusal("no proof kind covers mutual information over all matrices under a bound on risk")
    return Refusal("the certificate format cannot state this objective")


def prove_infeasible(program: Program, dual: Dual, steps: tuple[Step, ...] = ()) -> Proof | None:
    """The `farkas` proof that no mechanism of the program after `steps` exists, or the `entropy-farkas` one where
    `dual` has a multiplier of the floor; None where the multipliers do not survive their repair."""
    last, floor = relax(program, steps), dual.evidence_of(EntropyMultipliers)
    if last.extra(Limits) is not None:
        return None
    if floor is None or floor.floor is None:
        found = linear_dual.prove_infeasible(last, dual)
    else:
        found = entropy_dual.prove_too_little_entropy(last, dual)
    return None if found is None else replace(found, steps=steps)
