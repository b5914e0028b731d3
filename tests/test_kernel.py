"""The kernel accepts what the certificates say and nothing that is false; what cannot be read is UNREADABLE."""

from __future__ import annotations

import io
import json
import math
import random
import re
from fractions import Fraction

import flint
import pytest
from core_files import claiming_less, claiming_more, judged, mutants, proof_files, resealed

from rropt import checker, kernel
from rropt.prove.elaborate import elaborate, in_lines
from rropt.prove.labels import power
from rropt.prove.limits import Limits, Paths
from rropt.prove.problems import Problem

FILES = proof_files()
BOUNDS = {name: pair for name, pair in FILES.items() if pair[0]["bound"] is not None}


TREE = "independent_checker/mi-tree"
BOX = "independent_checker/mi-boxes"
PATH = "independent_checker/linear-path"
CONE = "independent_checker/linear-cone"
MATRIX = "independent_checker/matrix"
LABELS = "independent_checker/labels-grid"
GIVEN = "least/given"
GAIN = "least/gain"
LIMITS = "least/limits"
FLOOR = "floor 0 1\nshares 1 1 1 1\nsizes 1 1 1 1\nclaim"


def lines_of(name):
    return FILES[name][1].split("\n")


def with_line(name, start, change, which=0):
    """The file with one of the lines that begin with `start` replaced by what `change` makes of its fields."""
    lines = lines_of(name)
    at = [i for i, line in enumerate(lines) if line.split(" ")[0] == start][which]
    lines[at] = " ".join(change(lines[at].split(" ")))
    return "\n".join(lines)


def field(i, new):
    return lambda fields: [*fields[:i], str(new(int(fields[i]))), *fields[i + 1 :]]


def branched(x, c, again=True):
    """The proof by labels with a branch in the place of its second leaf, which holds in both halves."""
    leaves = 2 if again else 1
    return with_line(LABELS, "e", lambda fields: ["\n".join([f"m {x} {c}", *[" ".join(fields)] * leaves])], 1)


@pytest.mark.parametrize("c", [-(10**40), 0, 1, 2, 10**40])
def test_a_branch_of_labels_keeps_what_it_halves(c):
    assert all(judged(branched(x, c))[0] == 0 for x in range(6))


@pytest.mark.parametrize("name", FILES)
def test_every_certificate_inside_is_proved_with_its_own_bound(name):
    certificate, text = FILES[name]
    status, line = judged(text)
    assert status == 0, line
    if certificate["bound"] is None:
        assert line.endswith("no mechanism exists")
    else:
        ends = [Fraction(end) for end in re.findall(r"-?\d+/\d+", line)]
        low = certificate["problem"]["sense"] == "minimize"
        if certificate["problem"]["utility"]["kind"].startswith("inverse"):  # the bound alone
            assert line == f"PROVED (kernel): at least {certificate['bound']}"
            return
        value = Fraction(certificate["value"]["upper" if low else "lower"])
        assert abs(ends[1 if low else 0] - value) <= Fraction(1, 2**139)
        assert ends[0 if low else 1] == Fraction(certificate["bound"])


def test_the_profile_holds_every_kind_that_the_text_names():
    modes = {
        (one["problem"]["utility"]["kind"], re.search(r"(?m)^mode (\w+)$", text)[1], one["bound"] is None)
        for one, text in FILES.values()
    }
    assert modes >= {
        ("linear", "dual", False),
        ("linear", "dual", True),
        ("bayes", "dual", False),
        ("mutual_information", "corner", False),
        ("mutual_information", "box", False),
        ("mutual_information", "sheets", False),
        ("mutual_information", "known", False),
        ("mutual_information", "labels", False),
        ("mutual_information", "dual", True),
        ("chi_square", "corner", False),
        ("chi_square", "box", False),
        ("chi_square", "sheets", False),
    }
    least = {one["problem"]["utility"]["kind"] for one, _ in FILES.values() if one["problem"]["sense"] == "minimize"}
    assert least >= {"mutual_information", "chi_square", "bayes", "linear"}
    assert any(one["problem"].get("limits") and one["bound"] is None for one, _ in FILES.values())


def test_the_checker_agrees_on_the_certificates():
    for certificate, _ in FILES.values():
        assert checker.check_bytes(json.dumps(certificate).encode()).status == "PROVED"


@pytest.mark.parametrize("name", BOUNDS)
def test_no_mutant_proves_less_than_a_mechanism_attains(name):
    certificate, text = FILES[name]
    sign = -1 if certificate["problem"]["sense"] == "minimize" else 1
    value = Fraction(certificate["value"]["lower" if sign > 0 else "upper"]) * sign
    false = value - Fraction(1, 10**6)
    lying = claiming_less(text, (false.numerator, false.denominator))
    assert judged(lying)[0] == 1
    for mutant in mutants(lying, 40, seed=7):
        assert judged(mutant)[0] != 0, mutant


@pytest.mark.parametrize("name", [name for name, (_, text) in BOUNDS.items() if "\nvalue " in text])
def test_no_mutant_attains_more_than_the_bound(name):
    certificate, text = FILES[name]
    sign = -1 if certificate["problem"]["sense"] == "minimize" else 1
    false = Fraction(certificate["bound"]) * sign + Fraction(1, 10**6)
    lying = claiming_more(text, (false.numerator, false.denominator))
    assert judged(lying)[0] == 1
    start = lying.index("\nvalue ")
    fixed = lying[: lying.index("\n", start + 1)]
    for mutant in mutants(lying, 40, seed=8):
        if mutant.startswith(fixed):  # the value itself may become smaller, and true
            assert judged(mutant)[0] != 0, mutant


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("value", 3, lambda d: d + 1), id="another denominator"),
        pytest.param(("value", 3, lambda d: 0), id="no denominator"),
        pytest.param(("value", 2, lambda m: -m), id="a value over less than 0"),
        pytest.param(("column", 1, lambda n: n + 1), id="a row that sums to more than 1"),
        pytest.param(("column", 1, lambda n: -1), id="a probability below 0"),
    ],
)
def test_a_mechanism_that_is_none_is_refuted(change):
    key, at, new = change
    for name in (
        TREE,
        BOX,
        PATH,
        MATRIX,
        "independent_checker/mi-given",
        "independent_checker/chi-boxes",
        "independent_checker/bayes-cone",
    ):
        assert judged(with_line(name, key, field(at, new)))[0] == 1


def test_a_mechanism_outside_the_cone_is_refuted():
    """All on the diagonal: rows sum to 1, and no ratio holds."""
    for name in (TREE, BOX, PATH):
        lines = lines_of(name)
        columns = [i for i, line in enumerate(lines) if line.startswith("column ")]
        d = next(line for line in lines if line.startswith("value ")).split(" ")[3]
        k = len(lines[columns[0]].split(" ")) - 1
        for y, i in enumerate(columns):
            lines[i] = " ".join(
                ["column", *(d if x == min(y, k - 1) or (x >= len(columns) and y == 0) else "0" for x in range(k))]
            )
        lines = [f"value -1 1 {d}" if line.startswith("value ") else line for line in lines]
        assert judged("\n".join(lines))[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(with_line(TREE, "prices", field(1, lambda a: a - 10**25)), id="a price that is too low"),
        pytest.param(with_line(TREE, "prices", field(1, lambda a: a + 1)), id="prices above the claim"),
        pytest.param(with_line(TREE, "ratios", field(1, lambda g: g - (1 << 140))), id="a ratio below exp(epsilon)"),
        pytest.param(with_line(TREE, "ratios", field(2, lambda h: h + 1)), id="corners whose lower end is not 1"),
        pytest.param(with_line(TREE, "unit", field(1, lambda e: -e)), id="a unit below 0"),
        pytest.param(with_line(TREE, "unit", field(1, lambda e: e * 2)), id="prices in another unit"),
        pytest.param(with_line(TREE, "l", lambda fields: ["l", "0"]), id="a leaf at 0"),
        pytest.param(with_line(TREE, "l", lambda fields: ["l", "-1"]), id="a leaf below 0"),
        pytest.param(with_line(TREE, "l", lambda fields: ["l"]), id="a leaf without its point"),
        pytest.param(with_line(TREE, "x", lambda fields: ["x", "-1"]), id="a branch on a negative input"),
        pytest.param(with_line(TREE, "x", lambda fields: ["x", "1000"]), id="a branch on an input beyond the last"),
        pytest.param(with_line(TREE, "end", lambda fields: ["l", "1\nend"]), id="a token too many"),
        pytest.param(with_line(TREE, "l", lambda fields: ["c", "0", "0"]), id="a state that is not empty, closed"),
        pytest.param(with_line(TREE, "mode", lambda fields: ["mode", "box"]), id="a tree of corners read as boxes"),
        pytest.param(with_line(BOX, "s", field(1, lambda y: -1)), id="a negative column"),
        pytest.param(with_line(BOX, "s", field(1, lambda y: 1)), id="a second column"),
        pytest.param(with_line(BOX, "s", field(2, lambda x: -1)), id="a negative input"),
        pytest.param(with_line(BOX, "s", field(3, lambda c: -1)), id="a limit below 0"),
        pytest.param(with_line(BOX, "U", field(3, lambda c: c // 2)), id="an upper limit of the root that is too low"),
        pytest.param(with_line(BOX, "L", field(3, lambda c: c * 2)), id="a lower limit of the root that is too high"),
        pytest.param(with_line(BOX, "u", field(2, lambda e: -1)), id="a negative edge"),
        pytest.param(with_line(BOX, "u", field(2, lambda e: 99)), id="an edge beyond the last"),
        pytest.param(with_line(BOX, "s", lambda fields: ["r", "0", "1"]), id="a branch on a form outside corners"),
        pytest.param(with_line(PATH, "l", lambda fields: ["l", "F", "0", "-1"]), id="a negative flow"),
        pytest.param(with_line(PATH, "l", lambda fields: ["l", "F", "-1", "1"]), id="a flow on a negative edge"),
        pytest.param(with_line(PATH, "l", lambda fields: ["l"]), id="a test without its flows"),
        pytest.param(
            with_line(CONE, "l", lambda fields: ["l", "C", "0", "-1"]), id="a negative multiplier of the cone"
        ),
        pytest.param(with_line(CONE, "l", lambda fields: ["l", "C", "-1", "1"]), id="a negative half-space"),
        pytest.param(with_line(MATRIX, "S", lambda fields: ["S", ";", *fields[1:]]), id="a sheet without prices"),
        pytest.param(with_line(MATRIX, "S", lambda fields: [*fields, ";"]), id="a part for a column too many"),
        pytest.param(with_line(LABELS, "step", field(1, lambda f: f - 1)), id="a step below the exponents"),
        pytest.param(with_line(LABELS, "step", field(2, lambda s: -s)), id="a step over less than 0"),
        pytest.param(with_line(LABELS, "lengths", field(1, lambda n: 0)), id="an edge that is too short"),
        pytest.param(with_line(LABELS, "lengths", lambda fields: fields[:-1]), id="an edge without a length"),
        pytest.param(with_line(LABELS, "powers", field(3, lambda n: n + (n >> 100))), id="a power that is too large"),
        pytest.param(with_line(LABELS, "powers", field(4, lambda n: n - (n >> 100))), id="one that is too small"),
        pytest.param(with_line(LABELS, "powers", lambda fields: fields[:5]), id="too few powers"),
        pytest.param(with_line(LABELS, "order", field(1, lambda x: 4)), id="an input without a tree"),
        pytest.param(with_line(LABELS, "order", lambda fields: [*fields, "9"]), id="an input beyond the last"),
        pytest.param(with_line(LABELS, "least", field(1, lambda b: b - 1)), id="a label below 0"),
        pytest.param(
            with_line(LABELS, "links", lambda fields: [*fields, "0", "0"]), id="a link of an input with itself"
        ),
        pytest.param(with_line(LABELS, "links", field(1, lambda x: -1)), id="a link of a negative input"),
        pytest.param(with_line(LABELS, "tree", lambda fields: ["tree"]), id="inputs that no path reaches"),
        pytest.param(with_line(LABELS, "tree", field(1, lambda e: -1)), id="a path along a negative edge"),
        pytest.param(
            with_line(LABELS, "tree", lambda fields: [*fields, fields[-1], "99"]), id="a path beyond the last"
        ),
        pytest.param(branched(-1, 1), id="a branch on the label of a negative input"),
        pytest.param(branched(6, 1), id="a branch on the label of an input beyond the last"),
        pytest.param(branched(0, 1, again=False), id="a branch without its second half"),
        pytest.param(with_line(LABELS, "e", lambda fields: ["e", "0", "0"]), id="a leaf of labels at 0"),
        pytest.param(with_line(LABELS, "e", lambda fields: [*fields, ";", "0", "1", "1", "-1"]), id="a flow back"),
        pytest.param(with_line(LABELS, "e", lambda fields: [*fields, ";", "0", "-1", "1", "1"]), id="a flow from none"),
        pytest.param(with_line(LABELS, "e", lambda fields: [*fields, ";", "0", "1"]), id="a flow without a place"),
        pytest.param(
            with_line(LABELS, "claim", lambda fields: ["claim infeasible -1 1"]), id="labels and no mechanism"
        ),
        pytest.param(with_line(LABELS, "unit", lambda fields: ["minorant\nunit", fields[1]]), id="labels with a form"),
    ],
)
def test_what_breaks_a_rule_is_refuted(text):
    assert judged(text)[0] == 1, judged(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(with_line(GIVEN, "at", field(1, lambda n: 0)), id="a direction with a 0"),
        pytest.param(with_line(GIVEN, "at", field(1, lambda n: -n)), id="a direction below 0"),
        pytest.param(with_line(GIVEN, "at", lambda fields: fields[:-1]), id="a direction that is too short"),
        pytest.param(with_line(GIVEN, "at", lambda fields: ["at"]), id="no direction"),
        pytest.param(with_line(GIVEN, "minorant", lambda fields: ["unit", "1"]), id="no minorant"),
        pytest.param(with_line(GIVEN, "unit", lambda fields: ["minorant\nunit", fields[1]]), id="one too many"),
        pytest.param(with_line(GAIN, "at", field(1, lambda n: n + 1)), id="shares of more than 1"),
        pytest.param(with_line(GAIN, "at", lambda fields: ["at", "-1", str(kernel.D + 1), "0"]), id="a share below 0"),
        pytest.param(with_line(LIMITS, "at", field(1, lambda n: n * 4)), id="chi-square touched elsewhere"),
        pytest.param(resealed(with_line(LIMITS, "limit", field(1, lambda a: 0))), id="a limit that is not kept"),
        pytest.param(resealed(with_line(LIMITS, "limit", field(2, lambda b: -b))), id="a limit over less than 0"),
        pytest.param(resealed(with_line(LIMITS, "limit", field(2, lambda b: 0))), id="a limit over 0"),
        pytest.param(
            resealed(with_line("least/free", "outputs", lambda fields: ["outputs free\nrow <= 1"])),
            id="rows where outputs are free",
        ),
        pytest.param(
            resealed(with_line("least/free", "claim", lambda fields: [FLOOR, *fields[1:]])),
            id="a floor where outputs are free",
        ),
    ],
)
def test_forms_that_are_not_below_are_refused(text):
    assert judged(text)[0] != 0, judged(text)


def worth_of(function, q):
    """What a convex function is at a column of integers, as a ball."""
    total = sum(function.weights)
    if function.utility == "bayes":
        best = max(sum(w * g * n for w, g, n in zip(function.weights, one, q, strict=True)) for one in function.lists)
        return flint.arb(best) / (total * function.den)
    if function.utility == "chi-square":
        mass = kernel.dot(function.weights, q)
        return flint.arb(kernel.dot(function.weights, [n * n for n in q])) / mass - flint.arb(mass) / total
    worth = flint.arb(0)
    for group in function.lists:
        mass, whole = kernel.dot(group, q), sum(group)
        for g, n in zip(group, q, strict=True):
            worth += g * n * (flint.arb(n * whole) / mass).log() if g and n else 0
    return worth / total


@pytest.mark.parametrize("name", ["information", "given", "chi-square", "bayes"])
def test_forms_are_below_their_functions_and_values_above(name):
    draw = random.Random(17)
    flint.ctx.prec = 600
    for _ in range(60):
        k = draw.randint(1, 5)
        lists = [[draw.randrange(1 if name == "information" else 0, 9) for _ in range(k)] for _ in range(3)]
        weights = [sum(column) for column in zip(*lists, strict=True)] if name == "given" else lists[0]
        if not sum(weights):
            continue
        lists = {"information": [weights], "chi-square": [], "bayes": [[n - 4 for n in one] for one in lists]}.get(
            name, lists
        )
        function = kernel.convex(weights, name, draw.randint(1, 5) if name == "bayes" else 1, lists)
        function.check()
        shares = [draw.randrange(1, kernel.D // 3) for _ in range(2)]
        point = [*shares, kernel.D - sum(shares)] if name == "bayes" else [draw.getrandbits(90) + 1 for _ in range(k)]
        form = function.form(point)
        for _ in range(8):
            q = [draw.choice([0, draw.getrandbits(40)]) for _ in range(k)]
            if kernel.dot(weights, q):
                assert kernel.dot(form, q) - 1 <= worth_of(function, q) * function.form_scale()
                d = sum(q)
                scaled = int((worth_of(function, q) / d * 10**30 + 0.5).floor().unique_fmpz())
                function.at_most([q], d, scaled + 1, 10**30)
                with pytest.raises(kernel.RefutedError):
                    function.at_most([q], d, scaled - 2, 10**30)


def test_a_flow_on_an_edge_that_is_none_does_not_pass_for_one():
    """The false proof of the first prototype: F 0 -1 f added to no input what it took from input 0."""
    _, text = FILES[TREE]
    lying = claiming_less(text, (1, 10**9))
    for mult in ("F -1 1", f"F -1 {1 << 400}", f"F 0 {1 << 400}", f"C -1 {1 << 400}"):
        lines = [f"{line} {mult}" if line.startswith("l ") else line for line in lying.split("\n")]
        assert judged("\n".join(lines))[0] != 0


def test_limits_of_one_branch_do_not_reach_the_next():
    """The second half of a split says nothing of the first: swapping what follows must not help."""
    _, text = FILES[BOX]
    lines = text.split("\n")
    splits = [i for i, line in enumerate(lines) if line.startswith("s ")]
    again = [*lines[: splits[-1] + 1], *lines[splits[-1] :]]
    assert judged("\n".join(again))[0] == 1


def test_labels_of_ratios_that_are_numbers():
    """R is a fraction above the logarithm of the ratio, which makes the cone wider: 2.0138 in the place of exp(0.7)."""
    text = re.sub(r"(?m)^(edge \d+ \d+) .*$", r"\1 q 10069 5000", FILES[LABELS][1])
    text = re.sub(r"(?m)^claim bound .*$", "claim bound 1 4", text)
    text = re.sub(r"(?m)^lows .*$", "lows" + " 10069 5000" * len(re.findall(r"(?m)^edge ", text)), text)
    unit = int(re.search(r"(?m)^unit (\d+)$", text)[1])
    dearer = [int(price) + unit // 130 for price in re.search(r"(?m)^prices (.*)$", text)[1].split(" ")]
    text = resealed(re.sub(r"(?m)^prices .*$", " ".join(["prices", *map(str, dearer)]), text))
    step = kernel.log_above(10069, 5000)
    powers = [int(end) for m in range(5) for end in power(Fraction(step * m, kernel.D))]
    lines = {"step": [step, kernel.D], "powers": powers}
    for word, numbers in lines.items():
        text = re.sub(rf"(?m)^{word} .*$", " ".join([word, *map(str, numbers)]), text)
    assert judged(text)[0] == 0
    assert judged(re.sub(r"(?m)^step \d+", f"step {step - 2**20}", text))[0] == 1


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        pytest.param(lambda text: "", "line 1 column 1", id="empty"),
        pytest.param(lambda text: text[:-1], "column", id="no last line end"),
        pytest.param(lambda text: text[: -len("end\n")], "ends", id="no end"),
        pytest.param(lambda text: text + "end\n", "text after the end", id="two ends"),
        pytest.param(lambda text: text + "\n", "text after the end", id="an empty line after the end"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), "line 1 column", id="CRLF"),
        pytest.param(lambda text: text.replace("unit ", "unit +"), "expected an integer", id="a plus sign"),
        pytest.param(lambda text: text.replace("unit ", "unit 0"), "expected an integer", id="a leading zero"),
        pytest.param(lambda text: text.replace("unit ", "unit 0x"), "expected an integer", id="hexadecimal"),
        pytest.param(lambda text: text.replace("unit ", "unit 1_0"), "expected an integer", id="an underscore"),
        pytest.param(lambda text: text.replace("unit ", "unit ١"), "expected an integer", id="another digit"),
        pytest.param(lambda text: text.replace("unit ", "unit  "), "column 6", id="two spaces"),
        pytest.param(lambda text: text.replace("unit ", "unit 1 "), "extra", id="a field too many"),
        pytest.param(lambda text: text.replace("unit ", "units "), "unknown", id="another key"),
        pytest.param(lambda text: text.replace("unit ", "unit " + "9" * 40000), "digits", id="a huge integer"),
        pytest.param(lambda text: text.replace("weights ", "weights 1 "), "SHA-256", id="another problem"),
    ],
)
def test_what_cannot_be_read_is_unreadable(damage, where):
    status, line = judged(damage(FILES[BOX][1]))
    assert status == 2
    assert where in line
    assert line.startswith("UNREADABLE line ")


@pytest.mark.parametrize("name", [TREE, GIVEN, "independent_checker/bayes-cone"])
def test_the_sense_goes_with_the_utility(name):
    """A bound of information from above must not be read as one of a minimum: `less` stands with minimize alone."""
    other = {"maximize": "minimize", "minimize": "maximize"}
    assert judged(resealed(with_line(name, "sense", lambda fields: ["sense", other[fields[1]]])))[0] == 2


def test_any_bytes_end_in_a_verdict():
    draw = random.Random(3)
    for name in (TREE, BOX, PATH, MATRIX):
        whole = FILES[name][1].encode()
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(draw.randint(1, 4)):
                at = draw.randrange(len(data))
                data[at : at + draw.randint(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
            status, line = judged(bytes(data))
            assert status in (1, 2) or bytes(data) == whole or "PROVED" in line


def test_a_changed_problem_proves_only_with_its_own_hash():
    text = FILES[TREE][1].replace("weights ", "weights 0 ", 1)
    assert judged(text)[0] == 2
    assert judged(resealed(text))[0] == 1


def test_the_file_is_read_as_a_stream():
    """The tokens are asked for one line at a time: nothing is read behind the line that refutes."""
    _, text = FILES[BOX]
    start = text.index("\ns ") + 1
    stream = io.BytesIO((text[:start] + "c 0 0\n").encode() + b"s 0 0 1\n" * 10**5)
    assert kernel.verdict(stream)[0] == 1
    assert stream.tell() < start + 100


def test_logarithms_enclose():
    draw = random.Random(11)
    flint.ctx.prec = 600
    for _ in range(4000):
        n, d = (draw.getrandbits(draw.randint(1, 400)) + 1 for _ in range(2))
        low, high = kernel.log(n, d)
        exact = (flint.arb(n) / flint.arb(d)).log() * kernel.D
        assert low <= exact
        assert exact <= high
        assert high - low <= 500 + 130 * abs(n.bit_length() - d.bit_length())
    assert all(math.isclose(kernel.log(n, 7)[0] / kernel.D, math.log(n / 7), abs_tol=1e-15) for n in range(1, 40))


@pytest.mark.parametrize("weights", [[3, 1, 2], [0, 5, 0, 1]], ids=["all positive", "with zeros"])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "2"])
def test_limits_of_the_root_are_accepted_however_long_the_paths(weights, epsilon):
    """Along 40 edges of 2 nats shares are as small as e^-80: what rounding leaves is part of the limit."""
    k = 41
    certificate = json.loads(json.dumps(FILES["independent_checker/mi-directed"][0]))
    edges = [[x, z, epsilon] for x in range(k) for z in (x - 1, x + 1) if 0 <= z < k]
    certificate["problem"] |= {"weights": [str(weights[x % len(weights)]) for x in range(k)]}
    certificate["problem"]["cone"] = {"kind": "graph", "edges": edges}
    problem = Problem(certificate["problem"], "box")
    header = kernel.Header(False, (0, 1), None, 1, [0] * k, [], "box", problem.ratios, [], [])
    text = "".join(f"{line}\n" for line in ["rropt-core", "problem -", *problem.lines(), "claim bound 0 1"])
    reader = kernel.Reader(io.BytesIO(resealed(text).encode()))
    begun = kernel.Kernel(kernel.read_problem(reader), header)
    lines = list(Limits(problem, Paths(problem), 0).root())
    assert {line[0] for line in lines} == {"U", "L"}
    # Nothing but the paths bounds an input of prior 0 from above.
    bounded = {int(line.split()[2]) for line in lines if line[0] == "U"}
    assert bounded >= {x for x in range(k) if not weights[x % len(weights)]}
    for line in lines:
        begun.advance(kernel.read_token([(1, word) for word in line.split(" ")]))


@pytest.mark.parametrize("empty", [[0], [1], [0, 1]], ids=["first", "last", "both"])
def test_columns_that_need_no_multipliers_are_read(empty):
    """Prices of one each are enough for every column; multipliers that are all 0 leave a field without words."""
    certificate = json.loads(json.dumps(FILES["independent_checker/matrix-chi"][0]))
    leaf = {"n": 0, "f": [[0, 1, 1], [1, 0, 1]]}
    columns = [{"n": 0, "f": []} if y in empty else leaf for y in range(2)]
    proof = {
        "kind": "branch-tree",
        "yield": "2",
        "unit": "1000",
        "boxes": [{"a": [1000] * 2, "l": [], "columns": columns}],
    }
    certificate |= {"bound": "2", "proof": {"kind": "lines", "lines": in_lines(certificate["problem"], proof)}}
    assert checker.check_bytes(json.dumps(certificate).encode()).status == "PROVED"
    status, line = judged("".join(f"{line}\n" for line in elaborate(certificate)))
    assert status == 0, line
