"""Matrices whose columns are tied by rows: the kernel accepts what holds at every matrix, and no line that a rule forbids."""

from __future__ import annotations

import itertools
import random
import re
from fractions import Fraction

import flint
import numpy as np
import pytest
from core_files import judged, proof_files, resealed
from scipy.optimize import linprog

from rropt import kernel
from rropt.kernel import Column, D, Multipliers, OneColumn, Rim, Single, Token

FILES = {name: text for name, (_, text) in proof_files().items() if "\nmode matrix\n" in text}
FOLDER = "independent_checker/corner-tree-"
SMALL = FOLDER + "information-floor"
NUMBERS = FOLDER + "numbers"
BAYES = FOLDER + "bayes"
CHI = FOLDER + "chi-square"
GIVEN = FOLDER + "given"
SUM = "examples/sum"


def changed(name, start, change, which=0):
    """The file with one of the lines that begin with a field replaced by what `change` makes of its fields."""
    lines = FILES[name].split("\n")
    at = [i for i, line in enumerate(lines) if line.split(" ")[0] == start][which]
    lines[at] = " ".join(change(lines[at].split(" ")))
    return "\n".join(lines)


def part(i, change):
    """What `change` makes of one of the lists of a line P."""

    def of(fields):
        parts = [one.split() for one in " ".join(fields[1:]).split(";")]
        parts[i] = [str(n) for n in change([*map(int, parts[i])])]
        return ["P", *" ; ".join(" ".join(own) for own in parts).split()]

    return of


def test_every_stored_tree_is_judged():
    assert len(FILES) == 10
    assert all(judged(text)[0] == 0 for text in FILES.values())


@pytest.mark.parametrize("name", FILES)
def test_no_price_is_lower_and_no_leaf_is_missing(name):
    """Prices that leave nothing over are the least ones: a leaf at lower ones fails."""
    unit = int(re.search(r"(?m)^unit (\d+)$", FILES[name])[1])
    for x in range(2):
        lower = changed(name, "P", part(0, lambda a, x=x: [c - (unit if i == x else 0) for i, c in enumerate(a)]))
        assert judged(lower)[0] == 1
        higher = changed(name, "P", part(0, lambda a, x=x: [c + (unit if i == x else 0) for i, c in enumerate(a)]))
        assert judged(higher)[0] == 1
    lines = FILES[name].split("\n")
    last = max(i for i, line in enumerate(lines) if line.startswith("l"))
    assert judged("\n".join(lines[:last] + lines[last + 1 :]))[0] == 1
    assert judged("\n".join([*lines[:last], lines[last], *lines[last:]]))[0] == 1


@pytest.mark.parametrize(
    "way", [[0, 1, 1], [0, 2, 0], [0, 0, 5], [0, 0, -2], [0, 0], [0, 0, 0, 0], [1, 0, 0], [1, 2, 0]]
)
def test_a_column_stands_only_for_one_that_is_shown(way):
    """It is the column itself, one with the same duty that is shown, or a tree over all corners."""
    whole = changed(SMALL, "P", part(3, lambda _: [-1, 0, 0]))
    assert whole == FILES[SMALL]
    assert judged(changed(SMALL, "P", part(3, lambda _: way)))[0] == 1


def test_a_tree_over_all_corners_needs_the_whole_cone():
    """A branch on a column before it, and the file that begins with the whole cone is refused."""
    lines = FILES[SMALL].split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("P "))
    end = lines.index("end")
    price, tree = lines[at], lines[at + 1 : end]
    for y, status in ((0, 1), (1, 1)):
        branch = [*lines[:at], f"s {y} 0 {3 * D // 2}", price, *tree, price, *tree, *lines[end:]]
        assert judged("\n".join(branch))[0] == status
    both = [*lines[:at], "n 0 1 " + str(2 * D), *([price.replace(" ;  ;", " ; 0 ;"), *tree] * 2), *lines[end:]]
    assert judged("\n".join(both))[0] == 1


def test_numbers_need_measures_that_rows_show():
    text = FILES[NUMBERS]
    assert judged(re.sub(r"(?m)^measures? .*\n", "", text))[0] == 1
    assert judged(re.sub(r"(?m)^measure .*\n", "", text, count=1))[0] == 1
    for i in (1, 5, 9):  # what it is, and the multipliers of the sums and of the rows
        for by in (-1, 1):
            line = changed(
                NUMBERS,
                "measure",
                lambda fields, i=i, by=by: [str(int(f) + by) if j == i else f for j, f in enumerate(fields)],
            )
            assert judged(line)[0] == 1
    common = int(re.search(r"(?m)^measures (\d+)$", text)[1])
    for other in (common + 1, common - 1, -common, 0):
        assert judged(text.replace(f"measures {common}", f"measures {other}"))[0] == 1


def test_a_number_has_the_sign_of_its_side():
    """At most N has a price of at least 0, more than N one of at most 0."""
    prices = [line for line in FILES[NUMBERS].split("\n") if line.startswith("P ")]
    found = 0
    for which, line in enumerate(prices):
        for j, n in enumerate(line.split(";")[2].split()):
            if n != "0":
                found += 1
                other = part(2, lambda ns, j=j: [-n if i == j else n for i, n in enumerate(ns)])
                assert judged(changed(NUMBERS, "P", other, which))[0] == 1
                longer = part(2, lambda ns: [*ns, 0])
                assert judged(changed(NUMBERS, "P", longer, which))[0] == 1
    assert found > 1


def test_a_number_is_counted_on_the_right_side():
    for by in (-1, 1):
        assert (
            judged(changed(NUMBERS, "n", lambda fields, by=by: [fields[0], str(int(fields[1]) + by), *fields[2:]]))[0]
            == 1
        )


def test_actions_that_are_kept_are_shown():
    """A branch on an action that is none is one on nothing: the other actions are shown in its second half."""
    lines = FILES[BAYES].split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("g "))
    for line in ("g 3 0", "g -1 0", "g 0 7"):
        assert judged("\n".join([*lines[:at], line, *lines[at + 1 :]]))[0] == 1


@pytest.mark.parametrize(
    "line", ["g 0", "g 0 0 0", "g x 0", "n", "n 0 1", "n x", "P", "P 1 ; 2 ; 3", "P 1 ; 2 ; 3 ; 4 ; 5", "P x ; ; ;"]
)
def test_lines_that_cannot_be_read(line):
    text = changed(SMALL, "P", lambda _: [line])
    status, said = judged(text)
    at = 1 + next(i for i, own in enumerate(text.split("\n")) if own == line)
    assert status == 2
    assert said.startswith(f"UNREADABLE line {at} ")


def test_a_sum_needs_one_part():
    """The parts of a problem are not left out: two of them are outside of the rules."""
    text = FILES[SUM]
    again = re.search(r"(?ms)^part .*?(?=^claim)", text)[0]
    twice = text.replace("\nclaim", "\n" + again + "claim", 1)
    assert judged(resealed(twice))[0] == 1


# ---- what a leaf of one column says holds at every column ----


def column(limits, kind):
    """Limits with ends of phi, as a proof has them."""
    rules = OneColumn.__new__(OneColumn)
    rules.phi_kind = kind
    low, high = zip(*limits, strict=True)
    return Column([*low], [*map(rules.phi, low)], [*high], [*map(rules.phi, high)], [])


class Judge:
    """A tree of matrices of one utility, without its problem: the rules of one column."""

    def __init__(self, weights, utility, lists):
        problem = kernel.convex(weights, utility, 1, lists)
        self.tree = kernel.MatrixTree.__new__(kernel.MatrixTree)
        self.tree.rules, self.tree.k = OneColumn(problem, None, 1 << 200, None), len(weights)
        self.tree.fuel, self.tree.words = float("inf"), 1

    def holds(self, state, points):
        """Whether a leaf is accepted."""
        try:
            return self.tree.of_single(state, Token("l", points, Multipliers([], [], []), [], [], [])) == []
        except kernel.RefutedError:
            return False


def worth(weights, lists, utility, v):
    """What a column is worth, times the sum of the weights."""
    flint.ctx.prec = 400
    total, v = sum(weights), [flint.arb(flint.fmpq(y.numerator, y.denominator)) for y in v]
    found = flint.arb(0)
    for group in lists:
        mass = sum((w * y for w, y in zip(group, v, strict=True)), flint.arb(0))
        if utility == "chi-square":
            found += total * sum((w * y * y for w, y in zip(group, v, strict=True)), flint.arb(0)) / mass - mass
        else:
            found += sum(
                (w * y * (y * sum(group) / mass).log() for w, y in zip(group, v, strict=True) if w), flint.arb(0)
            )
    return found


@pytest.mark.parametrize("utility", ["information", "given", "chi-square"])
def test_an_accepted_leaf_holds_within_its_limits(utility):
    """Prices near those at which a leaf just holds: at random columns of the limits, and at their corners."""
    draw, accepted, refused = random.Random(utility), 0, 0
    for _ in range(120):
        k = draw.randint(1, 4)
        lists = [[draw.randint(0, 5) for _ in range(k)] for _ in range(2 if utility == "given" else 1)]
        weights = [sum(own) for own in zip(*lists, strict=True)]
        if not all(map(sum, lists)) or min(weights) == 0:
            continue
        ends = [
            sorted(Fraction(draw.randint(64, 64 + draw.choice([4, 40, 200])), 64) for _ in range(2)) for _ in range(k)
        ]
        box = column([(int(a * D), int(b * D)) for a, b in ends], "square" if utility == "chi-square" else "entropic")
        middle = [(a + b) / 2 for a, b in ends]
        judge = Judge(weights, utility, lists)
        masses = [sum(w * y for w, y in zip(group, middle, strict=True)) / sum(group) for group in lists]
        points = [] if utility == "chi-square" else [int(mass * D) for mass in masses]
        # The gradient of the worth at the middle, and a little more, or less.
        step, base = Fraction(1, 1 << 40), worth(weights, lists, utility, middle)
        slopes = []
        for x in range(k):
            moved = [y + (step if z == x else 0) for z, y in enumerate(middle)]
            slope = (worth(weights, lists, utility, moved) - base) / flint.arb(
                flint.fmpq(step.numerator, step.denominator)
            )
            slopes.append(Fraction(float(slope)))
        extra = draw.choice([0, Fraction(1, 100), Fraction(1, 10), 1, 3])
        own = [int((slope + extra * w) * (1 << 200)) for slope, w in zip(slopes, weights, strict=True)]
        if not judge.holds(Single(own, box, None), points):
            refused += 1
            continue
        accepted += 1
        corners = [[pair[n >> x & 1] for x, pair in enumerate(ends)] for n in range(1 << k)]
        inner = [[a + (b - a) * Fraction(draw.randint(0, 64), 64) for a, b in ends] for _ in range(20)]
        for v in corners + inner:
            price = sum(Fraction(a, 1 << 200) * y for a, y in zip(own, v, strict=True))
            assert (
                worth(weights, lists, utility, v) <= flint.arb(flint.fmpq(price.numerator, price.denominator)) + 2**-90
            )
    assert accepted > 20
    assert refused > 10


def test_sets_add_what_every_column_of_the_limits_is_of():
    """All of it where each column is of the set, nothing where none is, and what is negative where some may be."""
    judge = Judge([1, 1], "information", [[1, 1]])
    of = [(0, 2 * D)]

    def settled(limits, below, n):
        return judge.tree.settled(Single([10, 20], column(limits, "entropic"), Rim(below, [(of, n)], [1, 2])))

    one, two, three = (D, 3 * D), (2 * D, 3 * D), (D, D)
    for n in (5, -5):
        assert settled([two, one], [], n) == [10 + n, 20 + 2 * n]
        assert settled([one, one], [(0, 2 * D)], n) == settled([one, one], [(0, 2 * D - 1)], n) == [10, 20]
        for below in ([], [(1, D)], [(0, 2 * D + 1)]):
            assert settled([one, three], below, n) == [10 + min(n, 0), 20 + 2 * min(n, 0)]


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith(FOLDER)])
def test_no_vertex_of_the_mechanisms_beats_the_bound(name):
    """Random vertices of the polytope of all mechanisms, by another linear programme than the package's."""
    made = proof_files()[name][0]
    problem = made["problem"]
    k = m = len(problem["inputs"])
    gamma = float(problem["cone"].get("gamma") or np.exp(float(problem["cone"]["epsilon"])))
    above, right, equal, sides = [], [], [], []
    for x in range(k):
        equal.append([float(z == x) for z in range(k) for _ in range(m)])
        sides.append(1.0)
    for (x, z), y in itertools.product(itertools.permutations(range(k), 2), range(m)):
        row = np.zeros((k, m))
        row[x, y], row[z, y] = 1.0, -gamma
        above.append(row.ravel())
        right.append(0.0)
    for one in problem["rows"]:
        row = np.zeros((k, m))
        for x, y, c in one["terms"]:
            row[x, y] = number(c)
        (equal if one["sense"] == "=" else above).append(row.ravel().tolist())
        (sides if one["sense"] == "=" else right).append(number(one["rhs"]))
    draw, best = np.random.default_rng(0), -np.inf
    for _ in range(150):
        found = linprog(draw.standard_normal(k * m), A_ub=above, b_ub=right, A_eq=equal, b_eq=sides, method="highs")
        best = max(best, utility(problem, found.x.reshape(k, m)))
    assert best <= number(made["bound"]) + 1e-9
    assert best >= 0.97 * number(made["value"]["lower"]), "the vertices come near the bound, or the test is weak"


def number(text):
    return float(Fraction(text))


def utility(problem, matrix):
    weights = np.array([int(weight) for weight in problem["weights"]]) / sum(map(int, problem["weights"]))
    if problem["utility"]["kind"] == "bayes":
        gain = np.array([[number(entry) for entry in row] for row in problem["utility"]["gain"]])
        return float(((weights * gain) @ matrix).max(axis=0).sum())
    if problem["utility"]["kind"] == "chi_square":
        mass = weights @ matrix
        return float((weights @ matrix**2 / mass - mass).sum())
    given = problem["utility"].get("given") or [[weight] for weight in problem["weights"]]
    joint = np.array([[int(entry) for entry in row] for row in given]) / sum(map(int, problem["weights"]))
    mass = joint.T @ matrix / joint.sum(axis=0)[:, None]
    return float((weights @ (matrix * np.log(matrix))).sum() - (joint.sum(axis=0) @ (mass * np.log(mass))).sum())
