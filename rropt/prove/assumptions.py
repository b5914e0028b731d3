"""The assumptions of a claim: the names of the table "Assumptions" in section 3 of docs/certificate-format.md."""

from collections.abc import Mapping, Sequence

from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility
from rropt.program.extras import OffDiagonalForm
from rropt.program.limits import DivergenceLimits, PosteriorRisk, has_capacity
from rropt.program.programs import ChiSquare, Information, Program
from rropt.prove.steps import Step, lemmas, relax

OF_KIND = {
    "thresholds": ("newton-inequalities",),
    "risk-branch": ("marcus-lopes",),
}
MEANINGS = {
    "mi-column-convex": "information is a convex function of each column of the matrix (the log-sum inequality)",
    "v-log-v-convex": "v log v lies below its chords and above its tangents",
    "chi-square-column-convex": "chi-square information is a convex function of each column (a square over a sum)",
    "quadratic-over-linear-convex": "a sum of squares over a positive linear function is convex",
    "uniform-choice-among-matches": "an intruder picks among the records that match with equal chances",
    "off-diagonal-convex": "the information of uniform off-diagonals is convex where a quadratic is not negative",
    "robust-vertices": "the listed points contain all vertices of the columns under robust privacy",
    "cauchy-schwarz-membership": "two inequalities of Cauchy-Schwarz and of means put a column into a confidence cone",
    "gibbs-inequality": "a mean plus an entropy is at most the logarithm of a sum of exponentials",
    "newton-inequalities": "the quotient of successive elementary symmetric polynomials grows in each number",
    "marcus-lopes": "that quotient is a concave function of the numbers",
    "regular-by-approximate-inverse": "a matrix times an approximate inverse, near one, proves that it is regular",
    "log-det-below-trace": "the logarithm of a determinant is at most the trace minus the size",
    "schur-complement": "the signs of the pivots of a block matrix are those of its Schur complement",
    "eigenvalue-of-densities": "the largest eigenvalue is at least every weighted mean of the eigenvalues",
    "cumulant-convex": "the logarithm of the power sum of two rows is convex in the order",
    "young-inequality": "a power lies above its tangents",
    "capacity-below-divergences": "a capacity is at most the largest divergence of a row from any one distribution",
}
"""All names, in the order in which a certificate lists them, and what each says."""
OF_DESIGN = {
    "inverse_trace": ("regular-by-approximate-inverse",),
    "inverse_determinant": ("regular-by-approximate-inverse", "log-det-below-trace"),
    "inverse_eigenvalue": ("regular-by-approximate-inverse", "schur-complement", "eigenvalue-of-densities"),
}


def assumptions(
    program: Program, proof: Mapping[str, object], steps: Sequence[Step] = (), has_mechanism: bool = True
) -> tuple[str, ...]:
    """The names for a problem and its `proof` object, which is one of the problem after `steps`, in a fixed order."""
    own, last = _of_mechanism(program, has_mechanism), relax(program, steps)
    found = {*own, *_of_proof(last, proof), *lemmas(steps)}
    return tuple(name for name in MEANINGS if name in found)


def _of_mechanism(program: Program, has_mechanism: bool) -> list[str]:
    """Those of the problem itself and of its mechanism."""
    names = ["uniform-choice-among-matches"] if program.extra(PosteriorRisk) is not None else []
    if not has_mechanism:
        return names
    if isinstance(program.cone, ConfidenceCone):
        names.append("cauchy-schwarz-membership")
    notions = program.extra(DivergenceLimits)
    if notions is not None and any(one.payload()["kind"] == "zero_concentrated" for one in notions.notions):
        names.append("cumulant-convex")
    if has_capacity(program):
        names.append("capacity-below-divergences")
    if isinstance(program.utility, DesignUtility):
        stated = program.utility.payload()
        assert stated is not None
        names += OF_DESIGN[str(stated["kind"])]
    return names


def _of_proof(program: Program, proof: Mapping[str, object]) -> list[str]:
    """Those of a proof of this problem."""
    utility, kind = program.utility, str(proof["kind"])
    by_vertices = "levels" in proof
    names: list[str] = []
    if isinstance(utility, Information):
        if by_vertices or kind == "thresholds":
            names.append("mi-column-convex")
        if kind in ("column-dual", "branch-tree"):
            names.append("v-log-v-convex")
    if isinstance(utility, ChiSquare) and by_vertices:
        names.append("chi-square-column-convex")
    if isinstance(utility, DesignUtility) and ("tree" in proof or kind == "corner-tree"):
        names.append("quadratic-over-linear-convex")
    if program.extra(OffDiagonalForm) is not None and kind == "branch-tree":
        names.append("off-diagonal-convex")
    if "levels" in proof:
        names.append("robust-vertices")
    return [*names, *OF_KIND.get(kind, ())]
