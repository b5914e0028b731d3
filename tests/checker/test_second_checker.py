"""Two checkers, written by two hands from one text, give the same verdict on certificates and on mutants of them.

The second (tests/independent_checker, on python-flint) has seen neither the first nor the writers; the first is called as a
stranger would, with bytes. The files of tests/data/independent_checker hold every kind of proof; most were written by `rropt solve`
from the problems of tests/independent_checker/problems.py, those of tests/independent_checker/loose.py are made loose by hand, and those of
tests/independent_checker/corners.py from the text alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drawing import thinned
from independent_checker import campaign, loose
from independent_checker.checker import check
from independent_checker.problems import GAPS, PROBLEMS

import rropt as rr
from rropt.checker import check_bytes

STORED = campaign.stored()
QUICK, LONG, CAMPAIGN = 8, 60, 370


def agree(trials: list[campaign.Trial]) -> None:
    differ = [f"{one.certificate}: {one.mutant}: {one.first}, {one.second}: {one.why}" for one in trials if one.why]
    assert not differ, "\n".join(differ[:10])


def run(name: str, count: int, seed: int) -> list[campaign.Trial]:
    others = [document for other, document in STORED.items() if other != name]
    return list(campaign.trials(STORED[name], name, others, count, seed))


@pytest.mark.parametrize("name", STORED)
def test_both_prove_the_certificate_and_agree_on_its_mutants(name: str) -> None:
    original, *mutated = run(name, QUICK, 1)
    assert (original.first, original.second) == ("PROVED", "PROVED"), original.why
    agree(mutated)


def test_every_verdict_occurs_and_every_kind_of_proof_is_there() -> None:
    kinds = {campaign.kind(document) for document in STORED.values()}
    proofs = {document["proof"]["kind"] for document in STORED.values()}
    assert len(proofs) == 6  # all that section 3 names
    assert {f"column-dual {form}" for form in ("levels", "cases")} <= kinds
    assert {
        f"lines {mode}" for mode in ("labels", "dual", "corner", "box", "known", "sheets", "blocks", "matrix", "rays")
    } <= kinds
    found = {trial.second for trial in run("mi-tree", 60, 5)}
    assert found == {"PROVED", "REFUTED", "UNREADABLE"}


@pytest.mark.parametrize("seed", thinned([1, 2, 3], 3))
def test_levels_hold_on_trees_drawn_at_random(seed: int) -> None:
    """Trees of levels that no method would write, with the smallest prices that they prove."""
    document = loose.levels(STORED["robust-polytope"], 100 + seed, 6)
    assert campaign.trial("levels", "drawn", json.dumps(document).encode())[2:4] == ("PROVED", "PROVED")


@pytest.mark.long
@pytest.mark.parametrize("name", STORED)
def test_both_agree_on_many_mutants(name: str) -> None:
    agree(run(name, LONG, 2))


@pytest.mark.long
@pytest.mark.campaign
def test_both_agree_on_all_mutants() -> None:
    for name in STORED:
        agree(run(name, CAMPAIGN, 2))


@pytest.mark.long
@pytest.mark.parametrize("name", PROBLEMS)
def test_both_prove_what_is_written_today(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(PROBLEMS[name], encoding="utf-8")
    certificate = rr.load_problem(path).solve(time_limit=20, gap=GAPS.get(name, 0.01)).certificate
    assert certificate is not None
    certificate.save(path.with_suffix(".json"))
    data = path.with_suffix(".json").read_bytes()
    assert (check_bytes(data).status, check(data)) == ("PROVED", "PROVED")
