"""Ayed, Battiston and Camerlenghi: the polytope of private matrices (8), its rows and its vertices."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from flint import fmpq, fmpq_mat

from rropt.comparison.claims import Claim, Evidence, Formula
from rropt.exact import exp_enclosure
from rropt.program.cones import FreeCone, PolyhedralCone
from rropt.solve.engine.polyhedral import cdd_rays
from rropt.solve.offdiagonal.vertices import arrangements, box, count_vertices, excess, polytope_rows, vertex_kinds

SIZES = (4, 5, 6, 7)
RATIOS = ("1.2", "1.6", "2")
GRID = (("g", RATIOS), ("S", SIZES))
ROW = ("a in a x + b y <= c", "b", "c")
Vector = tuple[Fraction, ...]


# -- the polytope, exactly -------------------------------------------------------------------------------


@cache
def diagonals(size: int, ratio: Fraction) -> list[Vector]:
    """The vertices as vectors q, in closed form; one of each kind (the others are it with inputs exchanged) is checked
    to be private and to have S independent tight rows."""
    found = []
    for kind in vertex_kinds(size, ratio):
        for at, off in enumerate(arrangements(kind)):
            if at == 0:
                tight = [row[1:] for row in polytope_rows(size, ratio) if _at(row, off) == 0]
                table = fmpq_mat([[fmpq(one.numerator, one.denominator) for one in row] for row in tight])
                if excess(off, ratio) > 0 or table.rank() != size:
                    raise ArithmeticError(f"{off} is not a vertex at ratio {ratio}")
            found.append(tuple(1 - (size - 1) * one for one in off))
    return found


@cache
def enumerated(size: int, ratio: Fraction) -> int:
    """The number of vertices that cddlib finds, from the rows alone."""
    rows = tuple(tuple(-one for one in row) for row in polytope_rows(size, ratio))
    rays = cdd_rays(PolyhedralCone(FreeCone(), rows), size + 1)
    if not isinstance(rays, np.ndarray):
        raise ArithmeticError(str(rays))
    return int(sum(ray[0] > 1e-9 * ray.max() for ray in rays.T))


def _at(row: Sequence[Fraction], off: Vector) -> Fraction:
    return row[0] + sum((a * b for a, b in zip(row[1:], off, strict=True)), Fraction(0))


def _pairs(check: tuple[str, str, str]) -> tuple[bool, bool]:
    """(holds, is attained) for a x + b y <= c, given as formulas in g and S, over all pairs of coordinates of all
    vertices of all SIZES and RATIOS."""
    held, attained = True, False
    for size in SIZES:
        for text in RATIOS:
            a, b, c = (Formula(one, ()).at(g=text, S=size) for one in check)
            gaps = [a * q[0] + b * q[1] - c for q in diagonals(size, Fraction(text))]
            held, attained = held and max(gaps) <= 0, attained or max(gaps) == 0
    return held, attained


def _inequality(full: bool, printed: tuple[str, str, str], right: tuple[str, str, str], shown: str) -> Evidence:
    held, attained = _pairs(right)
    wrong, _ = _pairs(printed)
    truth = {name: Formula(one, GRID) for name, one in zip(ROW, right, strict=True)}
    errata = {} if not (held and attained) or wrong else dict.fromkeys(truth, f"it must be {shown}")
    size, g = 10, Fraction(2)
    q = 1 / (1 + g * (size - 1))
    a, b, _ = (Formula(one, ()).at(g=g, S=size) for one in printed)
    return Evidence(
        truth=truth,
        method=(
            "the corrected row follows from (10) as in the text; exhaustive on all vertices for S = 4..7 and"
            " exp(alpha) = 1.2, 1.6, 2: the corrected row holds with equality at one, the printed one fails"
        ),
        computed={"the printed row holds": wrong, "the corrected row holds": held, "with equality": attained},
        errata=errata,
        witness=(
            f"S = 10, exp(alpha) = g = 2, all q = 1/19 = v_-alpha: private, as (1 - q) / (9 q) = 2. With x = y = 1/19\n"
            f"the printed row ({printed[0]}) x + ({printed[1]}) y <= {printed[2]} has {(a + b) * q} on its left side"
        ),
    )


def _eq15(full: bool) -> Evidence:
    return _inequality(full, ("-(S-1)*g", "1", "-1"), ("-(S-1)*g", "-1", "-1"), "-(S-1) e^alpha x - y <= -1")


def _eq18(full: bool) -> Evidence:
    return _inequality(full, ("g**2", "-1", "-1"), ("-g**2", "1", "0"), "y - e^(2 alpha) x <= 0")


def _eq19(full: bool) -> Evidence:
    return _inequality(full, ("-1", "g**2", "-1"), ("1", "-g**2", "0"), "x - e^(2 alpha) y <= 0")


def _vmin(full: bool) -> Evidence:
    least = all(
        min(min(q) for q in diagonals(size, Fraction(g))) == 1 / (Fraction(g) * (Fraction(g) + size - 1))
        for size in SIZES
        for g in RATIOS
    )
    most = all(
        max(max(q) for q in diagonals(size, Fraction(g))) == Fraction(g) ** 2 / (1 + Fraction(g) * (size - 1))
        for size in SIZES
        for g in RATIOS
    )
    errata = {"v_min": "v_min = e^-alpha / (e^alpha + S - 1), as the proof in the appendix has it"} if least else {}
    return Evidence(
        truth={"v_min": Formula("1/(g*(g+S-1))", GRID), "v_max": Formula("g/(1/g+S-1)" if most else "0", GRID)},
        method=(
            "from y <= g^2 x and (S-1) g x + y >= 1 follows x >= 1 / (g (g + S - 1)), attained; smallest and largest"
            " coordinate of all vertices for S = 4..7 and g = exp(alpha) = 1.2, 1.6, 2, exact"
        ),
        errata=errata,
        witness=(
            "the printed v_min is v_-alpha itself. S = 10, g = 2: q = (1/22, 2/11, ..., 2/11) is private"
            " ((1 - 1/22) / (9 * 2/11) = 7/12, (1 - 1/22) / (1 - 2/11) = 7/6, (1 - 2/11) / (9 * 1/22) = 2), and 1/22"
            " < 1/19"
        ),
    )


# -- Proposition 3.2: condition and count -------------------------------------------------------------------


def listed(size: int, ratio: Fraction) -> set[tuple[tuple[Fraction, int], ...]]:
    """The list of Proposition 3.2 with the corrected v_min, as multisets of off-diagonal numbers."""
    low, high = box(size, ratio)
    small, large = (1 - ratio * high) / (size - 1), (ratio - low) / (ratio * (size - 1))
    found = [{low: size}, {high: size}, {large: 1, low: size - 1}, {small: 1, high: size - 1}]
    found += [{low: size - count, high: count} for count in range(2, size - 1)]
    return {tuple(sorted(kind.items())) for kind in found}


def exact_list(size: int, ratio: Fraction) -> bool:
    """Whether that list is the list of vertices: same kinds, and cddlib finds as many vertices."""
    kinds = {tuple(sorted(kind)) for kind in vertex_kinds(size, ratio)}
    number = sum(sum(1 for _ in arrangements(kind)) for kind in listed(size, ratio))
    return kinds == listed(size, ratio) and number == enumerated(size, ratio)


def _condition(full: bool) -> Evidence:
    truth, errata, beyond = {}, {}, {}
    step = Fraction(1, 100)
    for size in SIZES:
        sharp = Fraction(size - 2)
        name = f"S = {size}"
        inside = all(exact_list(size, ratio) for ratio in (Fraction(3, 2), sharp - step, sharp) if ratio > 1)
        outside = not exact_list(size, sharp + step)
        truth[name] = sharp if inside and outside else None
        if truth[name] is not None:
            errata[name] = "the list is exact if and only if alpha <= log(S - 2)"
        off = next(
            kind for kind in vertex_kinds(size, sharp + step) if tuple(sorted(kind)) not in listed(size, sharp + step)
        )
        beyond[f"S = {size}, exp(alpha) = {float(sharp + step)}"] = [
            float(one) for one, number in off for _ in range(number)
        ]
    return Evidence(
        truth=truth,
        method=(
            "largest exp(alpha) for which the list is exact. For all S: the derivation in"
            " rropt/solve/offdiagonal/vertices.py; here for S = 4..7 the vertices by cddlib from the rows alone and"
            " in closed form, each verified exactly (private, S independent tight rows), at S - 2.01 or 1.5, at S -"
            " 2, and at S - 1.99"
        ),
        computed={
            "a vertex off the list (off-diagonal numbers)": beyond,
            "the proof's own condition, exp(alpha) + exp(-alpha) <= S - 2": "sufficient, not necessary",
        },
        errata=errata,
        witness=(
            "S = 5, exp(alpha) = 7/2, inside the printed condition 3.618: the off-diagonal vector\n"
            f"{[str(one) for one in _off_list(5, Fraction(7, 2))]}\n"
            "is private, 5 independent constraints are tight there, and no point of the list has these numbers"
        ),
    )


def _off_list(size: int, ratio: Fraction) -> Vector:
    kind = next(kind for kind in vertex_kinds(size, ratio) if tuple(sorted(kind)) not in listed(size, ratio))
    return next(arrangements(kind))


def _count(full: bool) -> Evidence:
    truth, errata = {}, {}
    for size in SIZES:
        for ratio in (Fraction(3, 2), Fraction(size - 2), Fraction(size - 2) + Fraction(3, 5)):
            number = enumerated(size, ratio)
            if number != len(diagonals(size, ratio)) or number != count_vertices(size, ratio):
                raise ArithmeticError(f"cddlib finds {number} vertices at S = {size}, ratio {ratio}")
            if ratio <= (size + (size * (size - 4)) ** 0.5) / 2:
                name = f"S = {size}, exp(alpha) = {float(ratio):g}"
                truth[name] = number
                if ratio > size - 2:
                    errata[name] = (
                        "2^S up to exp(alpha) = S - 2, beyond it 2^S + S 2^(S-1) - S (S(S-1)/2 fewer at S - 1)"
                    )
    others = {f"S = {size}": enumerated(size, Fraction(8)) for size in (3, *SIZES)}
    return Evidence(
        truth=truth,
        method="vertices enumerated by cddlib from the rows and in closed form, each verified exactly, S = 4..7",
        computed={"vertices at exp(alpha) = 8": others, "for S = 2": 4},
        errata=errata,
    )


V_NAMES = ("v_alpha in item 1", "v_-alpha in item 2")
V_TRUE = ("g/(g+S-1)", "(1/g)/(1/g+S-1)")
U_NAMES = ("u_alpha, first coordinate", "u_alpha, second coordinate")
U_TEXTS = ("((S-1)*g-1)/(S*(S-2))", "((S-1)/g-1)/(S*(S-2))")


def _corner(size: int, g: Fraction) -> tuple[Fraction, Fraction]:
    """The point at which (12) and (14) hold with equality: (S-1) x + g y = g and x + (S-1) g y = 1."""
    n = size - 1
    system = fmpq_mat([[fmpq(n), fmpq(g.numerator, g.denominator)], [fmpq(1), fmpq(n * g.numerator, g.denominator)]])
    found = system.solve(fmpq_mat([[fmpq(g.numerator, g.denominator)], [fmpq(1)]]))
    x, y = (Fraction(int(one.p), int(one.q)) for (one,) in found.tolist())
    return x, y


def _appendix(full: bool) -> Evidence:
    at = [(size, Fraction(g)) for size in SIZES for g in RATIOS]
    constant = {(size, g): {q[0] for q in diagonals(size, g) if len(set(q)) == 1} for size, g in at}
    known = [Formula(text, GRID) for text in V_TRUE]
    right = all(constant[size, g] == {one.at(g=g, S=size) for one in known} for size, g in at)
    corners = [Formula(text, GRID) for text in U_TEXTS]
    met = all(_corner(size, g) == tuple(one.at(g=g, S=size) for one in corners) for size, g in at)
    square = exp_enclosure(Fraction(2))
    least = next(size for size in range(4, 30) if square.upper <= size - 2)
    text = "the denominators of items 1 and 2 are exchanged: e^x / (e^x + S - 1), as in the proposition"
    return Evidence(
        {
            **(dict(zip(V_NAMES, known, strict=True)) if right else dict.fromkeys(V_NAMES)),
            **(dict(zip(U_NAMES, corners, strict=True)) if met else dict.fromkeys(U_NAMES)),
            "least S for alpha up to 2": least,
        },
        "the vertices with all coordinates equal, and where (12) and (14) meet, exactly for S = 4..7 and g = exp(alpha)"
        " = 1.2, 1.6, 2; exp(2) <= S - 2 by `ayed.prop3.2.condition`, the sharp one, which asks for the same S here",
        errata=dict.fromkeys(V_NAMES, text) if right else {},
        witness="S = 10, g = 2: item 1 prints 2 / (1/2 + 9) = 4/19 = v_max. All q = 4/19 is not private: 9 q / (1 - q)"
        " = 12/5 > 2.\nAll q = v_alpha = 2/11 is",
    )


FOLLOWS = "q_3 <= 1 - (S-1) e^alpha q_2 for all q of the polytope"


def _follows(full: bool) -> Evidence:
    printed, _ = _pairs(("(S-1)*g", "1", "1"))
    turned, attained = _pairs(("-(S-1)*g", "-1", "-1"))
    return Evidence(
        {FOLLOWS: printed},
        "all pairs of coordinates of all vertices for S = 4..7 and exp(alpha) = 1.2, 1.6, 2, exactly; the other direction"
        " is (10) for the entries off the diagonal",
        {"the other direction holds": turned, "with equality": attained},
        {FOLLOWS: "q_3 >= 1 - (S-1) e^alpha q_2"} if turned and attained else {},
        "S = 4, exp(alpha) = 2: q = (2/5, 2/5, 2/5, 2/5) is private, and 2/5 > 1 - 3 * 2 * 2/5 = -7/5",
    )


LIST = "Proposition 3.2"
CLAIMS = (
    Claim(
        "ayed.section5.3",
        "section 5.3, proof of Proposition 3.2",
        "since (q_2, q_3) satisfy (15), q_3 <= 1 - (S-1) e^alpha q_2",
        {FOLLOWS: True},
        _follows,
    ),
    *(
        Claim(
            f"ayed.eq{number}",
            f"appendix, ({number})",
            statement,
            {name: Formula(one, GRID) for name, one in zip(ROW, row, strict=True)},
            derive,
        )
        for number, statement, row, derive in (
            (15, "-(S-1) e^alpha x + y <= -1 is a privacy constraint", ("-(S-1)*g", "1", "-1"), _eq15),
            (18, "y - e^(2 alpha) x >= 1 for all pairs of coordinates", ("g**2", "-1", "-1"), _eq18),
            (19, "x - e^(2 alpha) y >= 1 for all pairs of coordinates", ("-1", "g**2", "-1"), _eq19),
        )
    ),
    Claim(
        "ayed.appendix",
        "appendix, proof of Proposition 3.2; after the proposition",
        "(12) to (15) have the vertices u_alpha, ...; V has q_k = e^alpha / (e^-alpha + S - 1) = v_alpha and q_k ="
        " e^-alpha / (e^alpha + S - 1) = v_-alpha; for alpha in [0, 2] the condition holds from S = 10 on",
        {
            **{name: Formula(one, GRID) for name, one in zip(V_NAMES, ("g/(1/g+S-1)", "(1/g)/(g+S-1)"), strict=True)},
            **{name: Formula(one, GRID) for name, one in zip(U_NAMES, U_TEXTS, strict=True)},
            "least S for alpha up to 2": 10,
        },
        _appendix,
    ),
    Claim(
        "ayed.vmin",
        LIST,
        "v_min = e^-alpha / (e^-alpha + S - 1), v_max = e^alpha / (e^-alpha + S - 1)",
        {"v_min": Formula("(1/g)/(1/g+S-1)", GRID), "v_max": Formula("g/(1/g+S-1)", GRID)},
        _vmin,
    ),
    Claim(
        "ayed.prop3.2.condition",
        LIST,
        "the list is exact for S >= 4 and alpha <= log(S + sqrt(S(S-4))) - log 2; here the largest exp(alpha)",
        {"S = 4": "2", "S = 5": "3.618034", "S = 6": "4.732051", "S = 7": "5.791288"},
        _condition,
    ),
    Claim(
        "ayed.prop3.2.count",
        LIST,
        "the number of vertices, 2^S by the list wherever the printed condition holds",
        {
            "S = 4, exp(alpha) = 1.5": 16,
            "S = 4, exp(alpha) = 2": 16,
            **{f"S = {s}, exp(alpha) = {g}": 2**s for s in (5, 6, 7) for g in ("1.5", f"{s - 2}", f"{s - 1.4:g}")},
        },
        _count,
    ),
)
