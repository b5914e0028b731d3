"""The assumptions of a claim: the names of the table "Assumptions" in section 6 of docs/certificate-format.md."""

from __future__ import annotations

from collections.abc import Mapping

from rropt.program.confidence_cones import ConfidenceCone
from rropt.program.design_utilities import DesignUtility
from rropt.program.extras import OffDiagonalForm
from rropt.program.identification_bound import PosteriorRisk
from rropt.program.programs import ChiSquare, Information, Program

OLD = ("mi-column-convex", "chi-square-column-convex", "uniform-choice-among-matches")
"""The names that versions 1 to 4 of the format have."""
VERSION = 5
"""The version of the format that has the other names."""
OF_KIND = {
    "entropy-dual": ("gibbs-inequality",),
    "entropy-farkas": ("gibbs-inequality",),
    "thresholds": ("newton-inequalities",),
    "risk-branch": ("marcus-lopes",),
}
OF_DESIGN = {
    "inverse_trace": ("regular-by-approximate-inverse",),
    "inverse_determinant": ("regular-by-approximate-inverse", "log-det-below-trace"),
    "inverse_eigenvalue": ("regular-by-approximate-inverse", "schur-complement", "eigenvalue-of-densities"),
}


def assumptions(program: Program, proof: Mapping[str, object]) -> tuple[str, ...]:
    """The names for a problem and its `proof` object, in the order of the table."""
    utility, kind = program.utility, str(proof["kind"])
    by_vertices = any(key in proof for key in ("tree", "shapes", "levels", "labels")) and kind == "column-dual"
    names: list[str] = []
    if isinstance(utility, Information):
        if by_vertices or kind == "thresholds":
            names.append("mi-column-convex")
        if kind in ("column-dual", "branch-tree") and "known" not in proof:
            names.append("v-log-v-convex")
    if isinstance(utility, ChiSquare) and by_vertices:
        names.append("chi-square-column-convex")
    if isinstance(utility, DesignUtility) and by_vertices:
        names.append("quadratic-over-linear-convex")
    if program.extra(PosteriorRisk) is not None:
        names.append("uniform-choice-among-matches")
    if program.extra(OffDiagonalForm) is not None and kind == "branch-tree":
        names.append("off-diagonal-convex")
    if "shapes" in proof or "levels" in proof:
        names.append("robust-vertices")
    if isinstance(program.cone, ConfidenceCone):
        names.append("cauchy-schwarz-membership")
    names += OF_KIND.get(kind, ())
    if isinstance(utility, DesignUtility) and kind == "column-dual":
        stated = utility.payload()
        assert stated is not None
        names += OF_DESIGN[str(stated["kind"])]
    return tuple(names)


def version(names: tuple[str, ...]) -> int:
    """The lowest version of the format that has all these names."""
    return VERSION if any(name not in OLD for name in names) else 1
