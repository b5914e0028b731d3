"""Small problems of every kind of proof: name -> problem file."""

from __future__ import annotations

FOUR = """[input]
counts = { a = 8, b = 4, c = 3, d = 1 }
"""
TWO = """[input]
counts = { a = 5, b = 3 }
"""
THREE = """[input]
counts = { a = 5, b = 3, c = 2 }
"""
NINE = "[input]\ncounts = [9, 8, 8, 6, 5, 5, 3, 2, 1]\ncategories = " + str(list("abcdefghi")) + "\n"
PAIRS = """[input]
counts = [[35, 65], [10, 90]]
sensitive = ["yes", "no"]
other = ["u", "v"]
"""
PAIRS_OF_THREE = """[input]
counts = [[35, 65, 40], [10, 90, 20], [30, 30, 50]]
sensitive = 3
other = 3
"""
LDP = """[[constraint]]
kind = "ldp"
epsilon = 1.0
"""
GAMMA = """[[constraint]]
kind = "ldp"
gamma = 3
"""
PATH = """[[constraint]]
kind = "metric_dp"
epsilon = 1.0
graph = [["a", "b"], ["b", "c"]]
"""
FLOOR = """[[constraint]]
kind = "floor"
diagonal = 0.3
"""
FLOOR_OF_TWO = FLOOR.replace("0.3", "{ a = 0.4, b = 0.7 }")
BISTOCHASTIC = """[[constraint]]
kind = "bistochastic"
"""
CONE = """[[constraint]]
kind = "cone"
matrix = [[1, -2, 0], [0, 1, "-3/2"]]
"""


def wanted(word: str, *parts: str, sense: str = "maximize", extra: str = "", outputs: str = "") -> str:
    """A problem file."""
    head, *rest = parts
    return f'schema = 1\n{outputs}{head}[objective]\n{sense} = "{word}"\n{extra}' + "".join(rest)


LOSS = 'matrix = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]\nactions = ["a", "b", "c"]\n'
GAIN = 'gain = [[1, 0, 0.25], [0, 1, 0.25], [0, 0, 1]]\nactions = ["p", "q", "r"]\n'
GIVEN = "given = [[3, 2], [1, 2], [1, 1]]\n"


def robust(form: str) -> str:
    return f"""[[constraint]]
kind = "rldp"
epsilon = 1.0
confidence = "counts"
alpha = 0.05
form = "{form}"
"""


def risk(at_most: str, extra: str = "") -> str:
    return f'[[constraint]]\nkind = "identification_risk"\nat_most = {at_most}\n{extra}'


PROBLEMS: dict[str, str] = {
    "mi-tree": wanted("mutual_information", FOUR, LDP),
    "mi-tree-gamma": wanted("mutual_information", THREE, GAMMA),
    "mi-boxes": wanted("mutual_information", FOUR, PATH.replace('["b", "c"]]', '["c", "d"]]\nconnected = false')),
    "mi-given": wanted("mutual_information", THREE, LDP, extra=GIVEN),
    "mi-cone": wanted("mutual_information", THREE, LDP, CONE),
    "chi-boxes": wanted("chi_square", THREE, PATH),
    "chi-gamma": wanted("chi_square", THREE, GAMMA),
    "chi-four": wanted("chi_square", FOUR, LDP),
    "chi-uniform": wanted("chi_square", "[input]\nuniform = 7\n", GAMMA.replace("3", "2")),
    "chi-nine": wanted("chi_square", NINE, LDP.replace("1.0", "2.0")),
    "bayes": wanted("bayes_success", THREE, LDP, extra=GAIN),
    "bayes-path": wanted("bayes_success", THREE, PATH, extra=GAIN),
    "bayes-cone": wanted("bayes_success", THREE, GAMMA, CONE, extra=GAIN),
    "linear": wanted("trace", THREE, LDP, FLOOR, extra="weighted = true\n"),
    "linear-path": wanted("expected_loss", THREE, PATH, sense="minimize", extra=LOSS),
    "linear-cone": wanted("expected_loss", THREE, GAMMA, CONE, sense="minimize", extra=LOSS),
    "linear-free": wanted("trace", THREE, BISTOCHASTIC, '[[constraint]]\nkind = "tridiagonal"\n'),
    "farkas": wanted("trace", THREE, LDP, FLOOR.replace("0.3", "0.7")),
    "farkas-mi": wanted("mutual_information", THREE, GAMMA, FLOOR.replace("0.3", "0.7")),
    "off-diagonal": wanted("mutual_information", THREE, LDP, '[[constraint]]\nkind = "uniform_off_diagonal"\n'),
    "off-diagonal-gamma": wanted("mutual_information", FOUR, GAMMA, '[[constraint]]\nkind = "uniform_off_diagonal"\n'),
    "matrix": wanted("mutual_information", TWO, LDP, FLOOR_OF_TWO),
    "matrix-chi": wanted("chi_square", TWO, GAMMA, FLOOR_OF_TWO),
    "entropy": wanted("injected_entropy", THREE, LDP, FLOOR),
    "entropy-floor": wanted("trace", THREE, BISTOCHASTIC, '[[constraint]]\nkind = "entropy_rate"\nat_least = 0.5\n'),
    "entropy-floor-ldp": wanted(
        "expected_loss",
        THREE,
        PATH,
        '[[constraint]]\nkind = "entropy_rate"\nat_least = 0.9\n',
        sense="minimize",
        extra=LOSS,
    ),
    "entropy-farkas": wanted(
        "trace", THREE, FLOOR.replace("0.3", "0.9"), '[[constraint]]\nkind = "entropy_rate"\nat_least = 0.9\n'
    ),
    "robust-polytope": wanted("mutual_information", PAIRS, robust("polytope")),
    "robust-exact": wanted("mutual_information", PAIRS, robust("exact")),
    "robust-product": wanted("mutual_information", PAIRS, robust("product")),
    "robust-cases": wanted("mutual_information", PAIRS, robust("product").replace("1.0", "4.0")),
    "design": wanted("minimax_risk", THREE, LDP, sense="minimize"),
    "design-path": wanted("minimax_risk", THREE, PATH, sense="minimize"),
    "design-d": wanted("d_optimality", THREE, LDP, sense="minimize"),
    "design-d-path": wanted("d_optimality", THREE, PATH, sense="minimize"),
    "design-e": wanted("e_optimality", THREE, GAMMA, sense="minimize"),
    "design-e-path": wanted("e_optimality", THREE, PATH, sense="minimize"),
    "approximate": wanted("trace", THREE, '[[constraint]]\nkind = "approximate_ldp"\nepsilon = 1.0\ndelta = 0.05\n'),
    "approximate-gamma": wanted(
        "expected_loss",
        THREE,
        '[[constraint]]\nkind = "approximate_ldp"\ngamma = 2\ndelta = 0.1\n',
        FLOOR.replace("0.3", "0.2"),
        sense="minimize",
        extra=LOSS,
    ),
    "approximate-farkas": wanted(
        "trace",
        THREE,
        '[[constraint]]\nkind = "approximate_ldp"\ngamma = 2\ndelta = 0.05\n',
        FLOOR.replace("0.3", "0.8"),
    ),
    "risk-linear": wanted("trace", THREE, risk("0.4"), extra="weighted = true\n"),
    "risk-invariant": wanted(
        "trace", THREE, risk("0.4"), '[[constraint]]\nkind = "invariant"\n', extra="weighted = true\n"
    ),
    "risk-blocks": wanted("trace", FOUR, risk("0.4", 'blocks = [["a", "b"], ["c", "d"]]\n'), extra="weighted = true\n"),
    "risk-blocks-mi": wanted("mutual_information", FOUR, risk("0.4", 'blocks = [["a", "b"], ["c", "d"]]\n')),
    "mi-tree-uniform": wanted("mutual_information", "[input]\nuniform = 7\n", GAMMA.replace("3", "2")),
    "mi-tree-nine": wanted(
        "mutual_information",
        NINE,
        LDP,
    ),
    "mi-zero": wanted("mutual_information", THREE.replace("b = 3", "b = 0"), LDP),
    "mi-directed": wanted(
        "mutual_information", THREE, PATH.replace('["b", "c"]]', '["b", "c", 0.5], ["c", "a", 2]]\ndirected = true')
    ),
    "labels": wanted("mutual_information", THREE, PATH),
    "labels-grid": wanted(
        "mutual_information",
        "[input]\ncounts = [9, 1, 5, 2, 7, 3]\ncategories = " + str(list("abcdef")) + "\n",
        PATH.replace("epsilon = 1.0", "epsilon = 0.7").replace(
            '["b", "c"]]', '["b", "c"], ["d", "e"], ["e", "f"], ["a", "d"], ["b", "e"], ["c", "f"]]'
        ),
    ),
    "mi-free-cone": wanted("mutual_information", THREE, CONE),
    "chi-cone": wanted("chi_square", THREE, PATH, CONE),
    "robust-three": wanted("mutual_information", PAIRS_OF_THREE, robust("polytope")),
    "robust-known": wanted(
        "mutual_information", PAIRS, robust("polytope").replace('"counts"\nalpha = 0.05', '"known"')
    ),
    "robust-all": wanted("mutual_information", PAIRS, robust("polytope").replace('"counts"\nalpha = 0.05', '"all"')),
    "design-queries": wanted(
        "minimax_risk", THREE, LDP, sense="minimize", extra="queries = [[1, -1, 0], [0.5, 0.5, -1]]\n"
    ),
    "entropy-shared": wanted(
        "trace", THREE, '[[constraint]]\nkind = "shared_entropy_rate"\nat_least = 0.5\nblocks = [["a", "b"], ["c"]]\n'
    ),
    "approximate-events": wanted(
        "trace", "[input]\nuniform = 9\n", '[[constraint]]\nkind = "approximate_ldp"\nepsilon = 1.0\ndelta = 0.05\n'
    ),
}
# Of the gap wanted: where a proof grows with it, a wide one keeps the file small.
GAPS = {"off-diagonal": 0.1, "off-diagonal-gamma": 0.1, "matrix": 0.03, "matrix-chi": 0.03, "labels-grid": 1e-6}
