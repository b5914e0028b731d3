"""What is said to be in no record is in none: for every kind of frequencies, and every type that a column may have."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import rropt as rr
from rropt.cli import main as cli
from rropt.release import ProtectedColumn, release_file, release_table

pa = pytest.importorskip("pyarrow")

CLAIM = re.compile(r"\bno (?:one|person|people|record|records|respondent)\b[^;]*")
QUOTED = re.compile(r"'([^']*)'")


def claimed(text: str) -> set[str]:
    """The labels that a text says are in no record."""
    return {label for claim in CLAIM.findall(text) for label in QUOTED.findall(claim)}


def records(chance: random.Random, labels: list[str]) -> list[str]:
    """Records of some of the labels, rare ones among them."""
    numbers = [chance.choice([0, 1, 3, 14, 49, 51, 400, 900]) for _ in labels]
    numbers[:2] = [300, 700]
    return [label for label, number in zip(labels, numbers, strict=True) for _ in range(number)]


MODES: dict[str, list[str]] = {
    "exact": [],
    "tens": ["--public-counts", "10"],
    "hundreds": ["--public-counts", "100"],
    "noise": ["--public-epsilon", "0.05"],
}


@pytest.mark.parametrize("mode", MODES)
def test_of_solves(mode: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chance, told = random.Random(mode), 0
    labels = ["a", "b", "c", "d", "e", "f"]
    for number in range(6):
        data, place = records(chance, labels), tmp_path / str(number)
        place.mkdir()
        (place / "d.csv").write_text("col\n" + "\n".join(chance.sample(data, len(data))) + "\n")
        named = ", ".join(f'"{label}"' for label in labels)
        goal = '[objective]\nmaximize = "trace"\nweighted = true\n[[constraint]]\nkind = "ldp"\nepsilon = 1\n'
        (place / "p.toml").write_text(f"schema = 1\n[input]\ncategories = [{named}]\n{goal}")
        source = ["solve", str(place / "p.toml"), "--data", str(place / "d.csv"), "--column", "col"]
        assert cli.main([*source, *MODES[mode], "--out", str(place / "o")]) == 0
        said = "".join(capfd.readouterr())
        cli.main(["report", str(place / "o"), "-o", str(place / "r.html")])
        said += "".join(capfd.readouterr()) + re.sub("<[^>]*>", "", (place / "r.html").read_text())
        absent = set(labels) - set(data)
        assert claimed(said) <= absent, said
        if mode == "exact":
            assert claimed(said) == absent
            told += len(absent)
    assert told or mode != "exact"


@pytest.mark.parametrize("of", ["counts", "fractional", "probabilities", "population", "records"])
def test_of_declarations(of: str) -> None:
    """Numbers that somebody wrote down may be rounded: nobody knows that no record has what they call 0."""
    numbers = {"a": 700, "b": 300, "c": 0}
    if of == "probabilities":
        prior = rr.Prior.from_probabilities({"a": 0.7, "b": 0.3, "c": 0})
    else:
        prior = rr.Prior.from_counts({**numbers, "a": 700.5} if of == "fractional" else numbers)
    said = ""
    try:
        rules: list[rr.Constraint] = [rr.LDP(1)]
        if of == "population":
            rules = [rr.LDP(1, properties=[["c"]], population=prior)]
        if of == "records":
            rules.append(rr.IdentificationRisk(prior, "0.25", categories=["c"]))
        said = "; ".join(rr.Problem(rr.Maximize(rr.Trace(prior)), rules).warnings())
    except rr.InputError as error:
        said = str(error)
    assert "c" in said or "property 1" in said
    assert not CLAIM.search(said)
    assert "not have records" not in said
    assert "without records" not in said


@pytest.mark.parametrize("size", [3, 8, 1100])
@pytest.mark.parametrize("seed", range(3))
def test_of_released_types(size: int, seed: int, tmp_path: Path) -> None:
    """Batches with dictionaries of their own, in any order, with missing values; small ones, and some too large."""
    chance = random.Random(f"{size} {seed}")
    pool, seen, batches = [f"c{at}" for at in range(size)], set[str](), []
    for _ in range(chance.randint(1, 3) if size < 1000 else 12):
        values = chance.sample(pool, len(pool))
        used = values[-chance.randint(1, 3) :] if size < 1000 else values[-100:]
        codes = [None if chance.random() < 0.1 else values.index(chance.choice(used)) for _ in range(3 * len(used))]
        seen |= {values[code] for code in codes if code is not None}
        kept = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values))
        batches.append(pa.record_batch({"x": pa.array([chance.choice("ab") for _ in codes]), "kept": kept}))
    column = ProtectedColumn("x", rr.RandomizedResponse(["a", "b"], epsilon=1))
    with pa.ipc.new_stream(tmp_path / "t.arrow", batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    for of in ("table", "file"):
        told: list[str] = []
        if of == "table":
            release_table(pa.Table.from_batches(batches), column, warn=told.append)
        else:
            release_file(tmp_path / "t.arrow", column, warn=told.append)
        found = re.findall(r"with ([\d,]+) categor\w+ that no", " ".join(told))
        number = sum(int(one.replace(",", "")) for one in found)
        assert number == size - len(seen) or (size > 1000 and number <= size - len(seen))
