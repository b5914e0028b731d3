"""The certificate that docs/read-a-certificate.md checks by hand: every number of that section is computed again."""

from __future__ import annotations

import io
import json
import re
from fractions import Fraction
from pathlib import Path

import rropt as rr
from rropt import checker, kernel
from rropt.prove.elaborate import elaborate

PAGE = Path(__file__).parent.parent / "docs" / "read-a-certificate.md"
SECTION = re.search(r"(?ms)^## By hand.*?\n(.*?)^## ", PAGE.read_text(encoding="utf-8"))[1]
SHOWN = re.search(r"(?ms)^```json\n(.*?)^```$", SECTION)[1]
PROOF_FILE = re.search(r"(?ms)^```text\n(.*?)^```$", SECTION)[1]
PROSE = re.sub(r"(?ms)^```\w+\n.*?^```$|^\|.*?$", "", SECTION)

CERTIFICATE = json.loads(SHOWN)
INPUTS = CERTIFICATE["problem"]["inputs"]
WEIGHTS = [int(w) for w in CERTIFICATE["problem"]["weights"]]
PRIOR = [Fraction(w, sum(WEIGHTS)) for w in WEIGHTS]
GAMMA = Fraction(CERTIFICATE["problem"]["cone"]["gamma"])
UNIT, NUMBERS = (line.split(" ")[1:] for line in CERTIFICATE["proof"]["lines"][:2])
PRICES = [Fraction(int(a), int(*UNIT)) for a in NUMBERS]
(DENOMINATOR,) = (int(d) for d in CERTIFICATE["mechanism"]["denominators"])
COLUMNS = [[Fraction(int(n), DENOMINATOR) for n in one["dense"]] for one in CERTIFICATE["mechanism"]["columns"]]


def tables() -> list[list[list[str]]]:
    """The tables of the section: rows of fields, without head and rule."""
    found = re.findall(r"(?m)(?:^\|.*\|\n)+", SECTION)
    return [
        [[field.strip() for field in line.strip("|").split("|")] for line in one.split("\n")[2:-1]] for one in found
    ]


def products() -> list[list[Fraction]]:
    """p times the probability of a report: one row for each guess."""
    return [[p * column[x] for column in COLUMNS] for x, p in enumerate(PRIOR)]


def lines() -> list[list[Fraction]]:
    """p v of a guess minus prices times v, and the largest that it can be with entries between 1 and gamma."""
    found = []
    for guess in range(len(INPUTS)):
        of = [(PRIOR[x] if x == guess else 0) - price for x, price in enumerate(PRICES)]
        found.append([*of, sum((GAMMA if c > 0 else 1) * c for c in of)])
    return found


def as_text(label: str, numbers: list[Fraction]) -> list[str]:
    return [label, *map(str, numbers)]


def test_the_mechanism_the_value_and_the_tests_are_what_the_tables_show() -> None:
    mechanism, value, bound = tables()
    ratios = [max(column) / min(column) for column in COLUMNS]
    rows = [
        as_text(one, [PRIOR[x], *(q[x] for q in COLUMNS), sum(q[x] for q in COLUMNS)]) for x, one in enumerate(INPUTS)
    ]
    assert mechanism == [*rows, ["largest / smallest", "", *map(str, ratios), ""]]
    best = [max(column) for column in zip(*products(), strict=True)]
    assert value == [
        *(as_text(one, row) for one, row in zip(INPUTS, products(), strict=True)),
        as_text("the best", best),
    ]
    assert bound == [as_text(one, row) for one, row in zip(INPUTS, lines(), strict=True)]


def test_the_steps_prove_it() -> None:
    worth = Fraction(CERTIFICATE["bound"])
    assert all(sum(q[x] for q in COLUMNS) == 1 for x in range(len(INPUTS)))
    assert all(max(q) <= GAMMA * min(q) for q in COLUMNS)
    assert sum(max(column) for column in zip(*products(), strict=True)) == worth
    assert sum(PRICES) == worth
    assert all(most <= 0 for *_, most in lines())
    assert CERTIFICATE["value"] == {"lower": str(worth), "upper": str(worth)}
    for guess, gains in enumerate(CERTIFICATE["problem"]["utility"]["gain"]):
        assert [int(g) for g in gains] == [int(x == guess) for x in range(len(INPUTS))]


def test_the_sentences_name_no_other_number() -> None:
    """The 5/9 of the text, the prices, the unit of the proof file, and numbers of the words around them."""
    unit = int(re.search(r"(?m)^unit (\d+)$", PROOF_FILE)[1])
    computed = {CERTIFICATE["bound"], *map(str, PRICES), *(str(a * unit) for a in PRICES), str(unit), str(GAMMA)}
    steps, sum_of_a_row = {"1", "2", "3"}, {"1", "0"}
    said = re.findall(r"(?<![\w/])\d+(?:/\d+)?", PROSE)
    assert len(said) > 10
    assert set(said) <= computed | steps | sum_of_a_row
    counts = {3: "three", 2: "two", 1: "one"}
    said = ", ".join(f"{counts[w]} {'answered ' if x == 0 else ''}{INPUTS[x]}" for x, w in enumerate(WEIGHTS))
    assert f"Of six people {said}." in PROSE
    assert sum(WEIGHTS) == 6


def test_checker_and_kernel_accept_what_is_shown() -> None:
    verdict = checker.check_bytes(SHOWN.encode())
    assert (verdict.status, verdict.lower, verdict.upper) == ("PROVED", Fraction(5, 9), Fraction(5, 9))
    assert "".join(f"{line}\n" for line in elaborate(CERTIFICATE)) == PROOF_FILE
    assert kernel.verdict(io.BytesIO(PROOF_FILE.encode())) == (0, "PROVED (kernel): optimum in [5/9, 5/9]")


def test_a_lower_bound_or_another_price_is_refused() -> None:
    for bound, lines in (("1/2", []), ("5/9", ["unit 18", "prices 8 1 0"]), ("5/9", ["unit 9", "prices 3 1 1"])):
        document = json.loads(SHOWN) | {"bound": bound}
        document["proof"]["lines"][: len(lines)] = lines
        assert checker.check_bytes(json.dumps(document).encode()).status == "REFUTED"
        proof = "".join(f"{line}\n" for line in elaborate(document))
        assert kernel.verdict(io.BytesIO(proof.encode()))[0] == 1


def test_a_solve_of_the_same_problem_agrees() -> None:
    prior = rr.Prior.from_counts(dict(zip(INPUTS, WEIGHTS, strict=True)))
    solution = rr.Problem(rr.Maximize(rr.BayesSuccess(prior)), [rr.LDP(gamma=GAMMA)]).solve()
    verdict = checker.check_bytes(solution.certificate.to_json().encode())
    assert verdict.digest == checker.check_bytes(SHOWN.encode()).digest
    assert verdict.lower <= Fraction(5, 9) <= verdict.upper
