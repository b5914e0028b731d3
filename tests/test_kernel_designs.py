"""Risks of estimation: the kernel accepts bounds that hold, and no line that a rule forbids."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import pytest
from core_files import claiming_less, judged, mutants, proof_files, resealed

from rropt import checker
from rropt.kernel import Column, D, Lone
from rropt.prove.designs import triangular

FILES = {name: pair for name, pair in proof_files().items() if "\nmode design\n" in pair[1]}
TRACE = "independent_checker/design"
QUERIES = "independent_checker/design-queries"
EIGENVALUE = "independent_checker/design-e"
DETERMINANT = "independent_checker/design-d"
TIED = "independent_checker/corner-forms-trace"


def changed(name, start, change, which=0):
    """The file with one of the lines that begin with a field replaced by what `change` makes of its lists."""
    lines = FILES[name][1].split("\n")
    at = [i for i, line in enumerate(lines) if line.split(" ")[0] == start][which]
    lists = [[*map(int, own.split())] for own in lines[at][len(start) :].split(";")]
    change(lists)
    lines[at] = " ".join([start, *(str(n) for own in lists for n in (*own, ";"))][:-1])
    return "\n".join(lines)


def test_every_stored_design_on_a_complete_cone_is_judged():
    assert len(FILES) == 12
    for certificate, text in FILES.values():
        assert judged(text) == (0, f"PROVED (kernel): at least {certificate['bound']}")
        problem = text[text.index("\nsense") + 1 : text.index("\nclaim")]
        assert checker.problem_lines(certificate["problem"]) == problem.split("\n")


@pytest.mark.parametrize("name", FILES)
def test_no_changed_proof_shows_more_than_a_known_mechanism_costs(name):
    """The value of the certificate is a risk that a mechanism has: a bound above it is false."""
    certificate, text = FILES[name]
    lying = claiming_less(text, (-Fraction(certificate["value"]["upper"]) - Fraction(1, 1 << 100)).as_integer_ratio())
    assert judged(lying)[0] == 1
    for mutant in mutants(lying, 60, seed=3):
        assert judged(mutant)[0] != 0, mutant


@pytest.mark.parametrize("name", FILES)
def test_a_bound_has_no_room_for_lower_prices(name):
    """A leaf at lower prices fails, and at higher ones the claim is not covered."""
    unit = int(re.search(r"(?m)^unit (\d+)$", FILES[name][1])[1])

    def by(change):
        def of(lists):
            lists[0][0] += change

        return of

    assert judged(changed(name, "F", by(-(unit**2) // 8)))[0] == 1
    assert judged(changed(name, "F", by(100 * unit**2)))[0] == 1


@pytest.mark.parametrize("name", [TRACE, QUERIES, EIGENVALUE, DETERMINANT])
def test_forms_are_as_many_as_the_risk_asks_for(name):
    for change in (
        lambda lists: lists.append(lists[-1]),
        lambda lists: lists.pop(),
        lambda lists: lists[2].append(0),
        lambda lists: lists[2].pop(),
        lambda lists: lists[0].append(0),
        lambda lists: lists[1].append(1),
    ):
        status = judged(changed(name, "F", change))[0]
        assert status in (1, 2)
        assert status == 1 or name == EIGENVALUE


def test_a_determinant_is_that_of_a_triangle():
    """No number behind the diagonal, and none of at most 0 on it."""

    def behind(lists):
        lists[2][2] = 1

    def negative(lists):
        lists[3] = [-n for n in lists[3]]

    assert judged(changed(DETERMINANT, "F", behind))[0] == 1
    assert judged(changed(DETERMINANT, "F", negative))[0] == 1


def test_a_design_is_proved_by_forms_and_by_nothing_else():
    """Another mode is refused, and so is a value, whose rules are not there; forms prove no other utility."""
    text = FILES[TRACE][1]
    for mode in ("dual", "matrix", "corner", "box", "known", "sheets"):
        assert judged(text.replace("\nmode design\n", f"\nmode {mode}\n"))[0] == 1
    columns = "".join(f"column {own}\n" for own in ("1 0 0", "0 1 0", "0 0 1"))
    bound = re.search(r"(?m)^claim bound .*\n", text)[0]
    assert judged(text.replace(bound, bound + f"value -10 1 1\nlows 1 1\n{columns}"))[0] == 1
    assert judged(text.replace("claim bound", "claim infeasible"))[0] == 1
    other = re.sub(r"(?m)^utility less .*\n(query .*\n)+", "utility less information\n", text)
    assert judged(resealed(other))[0] == 1


def test_free_outputs_have_no_branches_of_one_column():
    """What holds of one column of a branch does not hold of all: only at prices there is one column."""
    lines = FILES[TRACE][1].split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("F "))
    rest = lines[at : lines.index("end")]
    assert judged("\n".join([*lines[:at], f"s 0 0 {2 * D}", *rest, *rest, "end", ""]))[0] == 1


def test_an_entry_that_is_not_1_is_above_it():
    """Branches at 1 on each entry leave nothing; one that leaves an entry out does not close."""
    lines = FILES[TIED][1].split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("F "))
    end = next(i for i in range(at + 1, len(lines)) if lines[i].split(" ")[0] in ("F", "end", "s"))
    one, two = ([f"s 0 {x} {D}", *lines[at + 1 : end]] for x in (0, 1))
    for proof, status in (([*one, *two, "l"], 0), ([*one, "l"], 1), ([*two, "l"], 1)):
        text = "\n".join([*lines[: at + 1], *proof, *lines[end:]])
        assert (judged(text)[0] == 0) <= (status == 0)


def test_an_accepted_leaf_holds_within_its_limits():
    """T^2 sum (f.v)^2 <= (q.v) (W.v) at random vectors of the limits, in exact numbers."""
    draw, accepted, refused = random.Random(1), 0, 0
    for _ in range(300):
        k = draw.randint(1, 4)
        weights, total = [draw.randint(1, 6) for _ in range(k)], 0
        forms = [[draw.randint(-9, 9) for _ in range(k)] for _ in range(draw.randint(1, 3))]
        ends = [sorted(draw.randint(64, 64 + draw.choice([0, 8, 90])) for _ in range(2)) for _ in range(k)]
        total = sum(weights)
        limits = [[n * D // 64 for n in own] for own in zip(*ends, strict=True)]
        middle = [Fraction(a + b, 128) for a, b in ends]
        size = sum(sum(c * y for c, y in zip(form, middle, strict=True)) ** 2 for form in forms)
        weight = sum(w * y for w, y in zip(weights, middle, strict=True))
        level = total**2 * size / weight**2
        own = [int(level * w * draw.choice([1, 1, 2, 4])) + draw.randint(-3, 40) for w in weights]
        box = Column(limits[0], [0] * k, limits[1], [0] * k, [])
        if not Lone(own, forms, box, None).holds(weights):
            refused += 1
            continue
        accepted += 1
        for _ in range(40):
            v = [Fraction(draw.randint(a, b), 64) for a, b in ends]
            size = sum(sum(c * y for c, y in zip(form, v, strict=True)) ** 2 for form in forms)
            price, weight = (sum(c * y for c, y in zip(one, v, strict=True)) for one in (own, weights))
            assert total**2 * size <= price * weight
    assert accepted > 60
    assert refused > 60


def test_triangular_forms_have_no_more_energy():
    draw = random.Random(2)
    for _ in range(30):
        k = draw.randint(1, 5)
        forms = [[Fraction(draw.randint(-99, 99), 16) + 20 * (x == z) for x in range(k)] for z in range(k)]
        found = triangular(forms)
        assert all(form[i] > 0 and not any(form[i + 1 :]) for i, form in enumerate(found))
        for _ in range(20):
            v = [draw.randint(-50, 50) for _ in range(k)]
            one, two = (
                sum(sum(c * y for c, y in zip(form, v, strict=True)) ** 2 for form in own) for own in (found, forms)
            )
            assert one <= two <= one + Fraction(1, 1 << 80)
