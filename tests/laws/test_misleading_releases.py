"""A release under names that mislead needs `force`: over every way that a mechanism gets to a table."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from drawing import graded

import rropt as rr
from rropt import __main__ as cli
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.off_diagonal import OffDiagonalMechanism
from rropt.release import ProtectedColumn, load_design, release_file, release_table
from rropt.release.learn import RandomizedColumn

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def mechanism(chance: random.Random, inputs: list[str], pool: list[str]) -> Mechanism:
    """A random matrix with random names of outputs; ties, zeros and one number off the diagonal among them."""
    k = len(inputs)
    if chance.random() < 0.2:
        return OffDiagonalMechanism(inputs, [chance.randint(0, 10) for _ in inputs], 10 * (k - 1))
    outputs = chance.sample(pool, chance.randint(2, len(pool)))
    rows = []
    for x in range(k):
        row = [chance.choice([0, 1, 1, 2, 5]) for _ in outputs]
        if inputs[x] in outputs and chance.random() < 0.8:
            row[outputs.index(inputs[x])] += chance.choice([3, 5, 50])
        row[0] += not any(row)
        rows.append([Fraction(entry, sum(row)) for entry in row])
    return Mechanism.from_rationals(rows, inputs=inputs, outputs=outputs)


def misleads(strata: dict[str, Mechanism]) -> bool:
    """The definition: an output is called as an input of the column, and some other input of its stratum is likelier to
    have it than that input (never, where it is not of the stratum)."""
    inputs = {label for one in strata.values() for label in one.inputs}
    for one in strata.values():
        table = [[one.entry(x, y) for x in range(len(one.inputs))] for y in range(len(one.outputs))]
        for label, column in zip(one.outputs, table, strict=True):
            own = column[one.inputs.index(label)] if label in one.inputs else Fraction(0)
            if label in inputs and max(column) > own:
                return True
    return False


@pytest.mark.parametrize("seed", graded(range(2), range(2, 8)))
def test_a_table_needs_force_where_a_name_misleads(seed: int, tmp_path: Path) -> None:
    chance, refused = random.Random(seed), 0
    for number in range(12):
        pool = ["a", "b", "c", "d", "e"]
        names = ["n", "s"][: chance.randint(1, 2)]
        strata = {name: mechanism(chance, chance.sample(pool[:4], chance.randint(2, 4)), pool) for name in names}
        records = [(name, chance.choice(strata[name].inputs)) for name in chance.choices(names, k=40)]
        frame = pd.DataFrame(records, columns=["by", "x"])
        by = {"by": "by"} if len(names) == 2 else {}
        column = ProtectedColumn("x", strata if by else strata["n"], **by)
        wrong = misleads(strata)
        refused += wrong
        if not wrong:
            release_table(frame, column, warn=lambda _: None, unidentified=True)
            continue
        data = tmp_path / f"{number}.csv"
        frame.to_csv(data, index=False)
        with pytest.raises(rr.InputError, match="would look like the data"):
            release_table(frame, column, warn=lambda _: None, unidentified=True)
        with pytest.raises(rr.InputError, match="would look like the data"):
            release_file(data, column, warn=lambda _: None, unidentified=True)
        assert [one.name for one in tmp_path.glob(f"{number}*")] == [data.name]
        told: list[str] = []
        assert len(release_table(frame, column, force=True, warn=told.append)) == 40
        assert any("would look like the data" in one for one in told)
    assert 0 < refused < 12


def test_the_command_and_the_transformer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Mechanism.from_matrix([[0.3, 0.7], [0.7, 0.3]], inputs=["ja", "nein"], outputs=["ja", "nein"])
    made.save(tmp_path / "m.json")
    (tmp_path / "d.csv").write_text("x\n" + "ja\nnein\n" * 20)
    line = ["apply", str(tmp_path / "m.json"), str(tmp_path / "d.csv"), "--column", "x"]
    assert cli.main(line) == 2
    assert "'nein' is released as 'ja'" in " ".join(capsys.readouterr().err.split())
    assert cli.main([*line, "--force"]) == 0
    pytest.importorskip("sklearn")
    with pytest.warns(UserWarning, match="would look like the data"):
        RandomizedColumn(mechanism=made).fit([["ja"], ["nein"]])


@pytest.mark.parametrize("k", [3, 300])
def test_a_design_with_neutral_names_is_released_and_estimated(k: int, tmp_path: Path) -> None:
    """From `solve` to the estimate, by the folder and by the certificate alone; large ones without their matrix."""
    prior = rr.Prior.from_counts({"Abitur": 30, "Hochschule": 31, **{f"c{x}": 39 + x for x in range(k - 2)}})
    if k == 3:
        rules: list[rr.Constraint] = [rr.LDP(1), rr.Invariant(prior)]
        solution = rr.Problem(rr.Maximize(rr.ChiSquareInformation(prior)), rules).solve(time_limit=5)
        made = solution.mechanism
        assert made is not None
        assert made.outputs == ("output 1", "output 2", "output 3")
        assert solution.certificate is not None
        solution.certificate.save(tmp_path / "certificate.json")
        made.save(tmp_path / "mechanism.json")
        assert load_design(tmp_path / "certificate.json").mechanism == made
        again = rr.Solution.load(solution.save(tmp_path / "solution.json"), solution.problem)
        assert again == solution
    else:
        swapped = OffDiagonalMechanism(prior.labels, [0, 900, *[3] * (k - 2)], 900 * k)
        made = swapped.relabelled([f"output {x + 1}" for x in range(k)])
        made.save(tmp_path / "mechanism.json")
    design = load_design(tmp_path)
    assert design.mechanism == made
    data = pd.DataFrame({"x": list(prior.labels) * 5})
    released = release_table(data, ProtectedColumn("x", design), warn=lambda _: None, unidentified=True)
    assert set(released["x"]) <= set(made.outputs)
    counts = [int((released["x"] == label).sum()) for label in made.outputs]
    assert made.estimate(counts).categories == prior.labels
