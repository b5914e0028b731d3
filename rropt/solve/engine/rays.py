"""Extreme rays: in closed form for LDP, from cddlib for other polyhedral cones.

cddlib in floating point can lose vertices silently: its rays are candidates for a mechanism, and do not
prove that there are no others.
"""

from fractions import Fraction

import numpy as np

from rropt.errors import Refusal
from rropt.program.cones import CompleteCone, Cone, FloatArray, GraphCone, base_cone, cone_rows, reach

NARROW = 2.0**-4
"""Entries that differ by less than this share are handed over as differences."""


def subset_sums(values: FloatArray) -> FloatArray:
    """Sums of all 2^k subsets; bit x of the index says whether input x is in."""
    sums = np.zeros(1 << len(values))
    for x, value in enumerate(values):
        sums[1 << x : 2 << x] = sums[: 1 << x] + value
    return sums


def staircase(indices: np.ndarray, size: int, gamma: float) -> FloatArray:
    """The k x n rays whose members are the bits of `indices`: gamma for members, 1 for the others."""
    bits = (np.asarray(indices)[None, :] >> np.arange(size)[:, None]) & 1
    return np.where(bits == 1, gamma, 1.0)


def cyclic_intervals(order: np.ndarray, size: int) -> np.ndarray:
    """Subset indices of all cyclic intervals of the inputs in `order`: each length covers all inputs equally
    often, so that equal priors start at a balanced design."""
    powers = 1 << order.astype(np.int64)
    doubled = np.concatenate([[0], np.cumsum(np.concatenate([powers, powers]))])
    starts = np.arange(size)
    return np.concatenate([doubled[starts + length] - doubled[starts] for length in range(1, size)])


def exact_backend_available() -> bool:
    """Whether cdd.gmp (extra `exact`) is installed: enumeration is then in rationals and complete."""
    try:
        import cdd.gmp  # noqa: F401
    except ImportError:
        return False
    return True


def cone_inequalities(cone: Cone, size: int) -> list[list[Fraction]]:
    """Rows r with r . v >= 0 for exactly the v of the cone; an irrational ratio is taken at its float."""
    base = base_cone(cone)
    rows = [[Fraction(int(x == z)) for z in range(size)] for x in range(size)]
    rows += [[-entry for entry in row] for row in cone_rows(cone)]
    if isinstance(base, CompleteCone):
        gamma = base.level.gamma or Fraction(float(base.level.ratio))
        for x in range(size):
            for z in range(size):
                if x != z:
                    rows.append([gamma if y == z else Fraction(-int(y == x)) for y in range(size)])
    elif isinstance(base, GraphCone):
        for (x, z, _), ratio in zip(base.edges, base.ratios, strict=True):
            exact = ratio.lower if ratio.lower == ratio.upper else Fraction(float(ratio))
            rows.append([exact if y == z else Fraction(-int(y == x)) for y in range(size)])
    return rows


def _width(cone: Cone, size: int) -> float:
    """A power of two that is about how far apart the entries of a column can be, as a share of them, where that is
    small: cddlib takes for zero what is below 1e-7. 0 elsewhere."""
    least = np.exp(np.nanmax(reach(base_cone(cone), size))) - 1.0
    return float(2.0 ** np.ceil(np.log2(least))) if 0 < least < NARROW else 0.0


def _about_constant(row: list[Fraction], width: float) -> list[float]:
    """A row (0, r) in floats; with a `width`, over (v_0, u) where v_x = v_0 + width u_x, its largest entry one."""
    if width:
        row = [row[0], sum(row[1:], Fraction(0)), *(Fraction(width) * entry for entry in row[2:])]
        largest = max(map(abs, row))
        row = [entry / largest for entry in row] if largest else row
    return [float(entry) for entry in row]


def cdd_rays(cone: Cone, size: int) -> FloatArray | Refusal:
    """Candidate extreme rays (k x n, each with entries summing to one) of a polyhedral cone, by cddlib: in
    rationals where cdd.gmp is installed, else in floating point."""
    try:
        import cdd
    except ImportError:
        return Refusal("cddlib is not installed", "pip install pycddlib-standalone")
    # cddlib's rows are (b, A) for b + A v >= 0; the cone has b = 0.
    rows = [[Fraction(0), *row] for row in cone_inequalities(cone, size)]
    try:
        if exact_backend_available():
            import cdd.gmp

            matrix = cdd.gmp.matrix_from_array(rows, rep_type=cdd.RepType.INEQUALITY)
            found = cdd.gmp.copy_generators(cdd.gmp.polyhedron_from_matrix(matrix)).array
        else:
            width = _width(cone, size)
            floats = [_about_constant(row, width) for row in rows]
            matrix = cdd.matrix_from_array(floats, rep_type=cdd.RepType.INEQUALITY)
            generators = cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array
            found = [[row[0], row[1], *(row[1] + width * u for u in row[2:])] if width else row for row in generators]
    except RuntimeError as error:
        return Refusal(f"cddlib failed on this cone ({error})")
    table = np.array([[float(entry) for entry in row] for row in found if row[0] == 0], dtype=np.float64)
    if table.size == 0:
        return np.zeros((size, 0))
    rays = np.clip(table[:, 1:], 0.0, None)
    mass = rays.sum(axis=1)
    return np.asarray((rays[mass > 0] / mass[mass > 0, None]).T)
