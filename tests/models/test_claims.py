"""The reproducibility report: verdicts follow the published numbers, and every number of every entry can change its
verdict.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from rropt.models.claims import PAPERS, claims_of, select

import rropt as rr
from rropt.comparison.claims import AnyOf, Cell, Claim, Evidence, Formula, matches, plain, worst
from rropt.exact import Interval

QUICK = [claim for paper in PAPERS for claim in claims_of(paper)]
SLOW = (
    "ayed.figure1",
    *("ayed.table1.alpha1", "ayed.table1.alpha2", "ayed.table2", "ayed.table3", "ayed.table4.alpha2", "ayed.general"),
    *("ayed.prop3.2.count", "ayed.eq18", "chai.thm3.1", "chai.thm4.1", "chai.thm5.4", "chai.thm6.4", "chai.lemma6.1"),
    *("chai.prop6.1", "ayed.prop3.1", "ayed.table1.alpha0.5", "bound.invariance"),
    *("bound.example", "lopuhaa.eq44", "lopuhaa.thm7", "lopuhaa.thm1", "lopuhaa.polyopt", "lopuhaa.figure"),
    *("lopuhaa.section8", "others.pml.uniform", "others.clones"),
)
"""Beginnings of the ids of entries that take seconds; they are run with the long tests."""
CASES = [
    pytest.param(claim, id=claim.id, marks=[pytest.mark.long] if claim.id.startswith(SLOW) else []) for claim in QUICK
]


@pytest.fixture(scope="module", params=CASES)
def derived(request: pytest.FixtureRequest) -> tuple[Claim, Evidence]:
    """A claim and what was computed of it: once, since pytest runs the tests of one claim in succession."""
    return request.param, request.param.derive(False)


def printable(value):
    """A true value as it would be published."""
    if isinstance(value, AnyOf):
        return printable(value.values[0])
    if isinstance(value, Interval):
        return (value.lower + value.upper) / 2
    if isinstance(value, tuple | list):
        return tuple(printable(one) for one in value)
    return value


def changed(value):
    """All ways of changing one number (or truth value, or formula) in a published value."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, tuple | list):
        for at, one in enumerate(value):
            for other in changed(one):
                yield (*value[:at], other, *value[at + 1 :])
    elif isinstance(value, Formula):
        for found in re.finditer(r"(?<![a-z*\d])\d+", value.text):
            yield Formula(value.text[: found.start()] + str(int(found[0]) + 1) + value.text[found.end() :], value.over)
        yield Formula(f"({value.text})+1", value.over)
    elif isinstance(value, int):
        yield from (value - 1, value + 1)
    elif isinstance(value, Fraction):
        yield from (value * (1 + Fraction(1, 10**6)) or Fraction(1, 10**6), value + 1)
    elif isinstance(value, str):
        digits = len(value.partition(".")[2])
        yield from (f"{float(value) + step:.{digits}f}" for step in (2 * 10**-digits, -2 * 10**-digits))
    else:
        raise AssertionError(f"a published {type(value).__name__} is not perturbed by this test")


def test_every_published_number_can_change_the_verdict(derived: tuple[Claim, Evidence]) -> None:
    claim, evidence = derived
    assert set(claim.published) == set(evidence.truth)
    judged = claim.judge(evidence)
    for cell in judged.cells:
        if cell.computed is None:
            assert cell.verdict == "not_checkable"
            continue
        right = {**claim.published, cell.name: printable(cell.computed)}
        assert verdict(claim, evidence, right, cell) == "confirmed", cell.name
        for other in changed(right[cell.name]):
            assert verdict(claim, evidence, {**right, cell.name: other}, cell) != "confirmed", (cell.name, plain(other))
        # From what is printed, some change flips the verdict too.
        if cell.verdict == "confirmed":
            tried = [
                verdict(claim, evidence, {**claim.published, cell.name: one}, cell) for one in changed(cell.published)
            ]
            assert all(word != "confirmed" for word in tried), cell.name


def verdict(claim: Claim, evidence: Evidence, published: dict, cell: Cell) -> str:
    (found,) = [one for one in claim.judge(evidence, published).cells if one.name == cell.name]
    return found.verdict


@cache
def shown() -> dict[str, str]:
    """The verdict of each entry on the page of the documentation."""
    text = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
    found = re.findall(r"^### `(\S+)`$.*?^Verdict: (.+?)\.$", text, re.M | re.S)
    return {name: word.strip("*").replace("an erratum", "erratum").replace(" ", "_") for name, word in found}


def test_the_page_has_the_computed_verdict(derived: tuple[Claim, Evidence]) -> None:
    claim, evidence = derived
    assert shown()[claim.id] == claim.judge(evidence).verdict


def test_optima_are_certified(derived: tuple[Claim, Evidence]) -> None:
    for name, solution in derived[1].solutions.items():
        assert solution.status == "certified", name
        assert solution.verdict is not None
        assert solution.verdict.status == "PROVED", name


def test_witnesses_that_are_programs_run(derived: tuple[Claim, Evidence], capsys: pytest.CaptureFixture[str]) -> None:
    claim, evidence = derived
    witness = claim.judge(evidence).witness
    if not witness.startswith("import numpy"):
        return
    assert len(witness.splitlines()) <= 10
    exec(compile(witness, claim.id, "exec"), {})
    printed = capsys.readouterr().out
    assert printed
    for line in printed.splitlines():
        if "<" in line:
            low, high = (float(part.split()[-1]) for part in line.split("<"))
            assert low < high


def test_ids_are_unique_and_every_entry_says_where() -> None:
    assert len({claim.id for claim in QUICK}) == len(QUICK)
    for claim in QUICK:
        assert claim.where
        assert claim.statement
        assert claim.published
        assert claim.paper in PAPERS


def test_names_select_papers_entries_and_beginnings() -> None:
    assert [claim.id for claim in select(["ayed.table1"])] == [
        f"ayed.table1.alpha{a}" for a in ("0.5", "1", "1.5", "2")
    ]
    assert [claim.id for claim in select(["kairouz"])] == ["kairouz.krr", "kairouz.binary"]
    assert select([]) == tuple(QUICK)
    with pytest.raises(rr.InputError, match=r"did you mean kairouz\?"):
        select(["kairous"])


# -- the comparison itself -----------------------------------------------------------------------------------


def test_a_printed_number_is_right_when_the_true_one_rounds_to_it() -> None:
    assert matches("0.4875", Fraction(48753, 100000))
    assert not matches("0.4875", Fraction(48756, 100000))
    assert matches("184,756", 184_756)
    assert not matches("184,756", 184_757)
    near = Interval(Fraction(48749, 100000), Fraction(48756, 100000))
    assert not matches("0.4875", near), "an enclosure that reaches beyond the rounding decides nothing"
    assert matches((1, True), (1, True))
    assert not matches((1, True), (1, False))
    assert not matches(1, True)
    assert matches(2, AnyOf((1, 2)))


def test_formulas_are_compared_by_their_values() -> None:
    grid = (("g", ("1.5", 3)),)
    assert matches(Formula("g/(g+1)", grid), Formula("1-1/(1+g)", grid))
    assert not matches(Formula("g/(g+2)", grid), Formula("1-1/(1+g)", grid))
    with pytest.raises(ValueError, match="no arithmetic"):
        Formula("__import__('os')", grid).at(g=1)


def test_the_worst_cell_is_the_verdict() -> None:
    truth = {"a": 1, "b": 2, "c": None}
    claim = Claim("x.y", "here", "so", {"a": 1, "b": 3, "c": 4}, lambda full: Evidence(truth, "by hand"))
    evidence = claim.derive(False)
    assert claim.judge(evidence).verdict == "refuted"
    assert [cell.verdict for cell in claim.judge(evidence).cells] == ["confirmed", "refuted", "not_checkable"]
    mended = Evidence(truth, "by hand", errata={"b": "it is 2"})
    assert claim.judge(mended).verdict == "not_checkable"
    assert claim.judge(mended, {"a": 1, "b": 3}).verdict == "confirmed_with_erratum"
    assert claim.judge(mended, {"a": 1, "b": 3}).errata == ("it is 2",)
    assert claim.judge(mended, {"a": 1, "b": 2}).verdict == "confirmed"
    assert worst(["confirmed", "refuted", "not_checkable"]) == "refuted"
