"""From a released file back to frequencies: one column, two columns, the command."""

import json
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt import __main__ as cli

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")

SEX = rr.RandomizedResponse(["f", "m"], gamma=5).to_mechanism()
AGE = rr.RandomizedResponse(["young", "middle", "old"], gamma=4).to_mechanism()
JOINT = np.array([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]])


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    respondents = np.random.default_rng(3).choice(6, 60_000, p=JOINT.ravel())
    csv.write_csv(
        pa.table(
            {
                "sex": [SEX.inputs[s] for s in (respondents // 3).tolist()],
                "age": [AGE.inputs[a] for a in (respondents % 3).tolist()],
            }
        ),
        "people.csv",
    )
    plan = rr.release.Release([rr.release.ProtectedColumn("sex", SEX), rr.release.ProtectedColumn("age", AGE)])
    rr.release.release_file("people.csv", plan, "safe.csv")
    return tmp_path


def test_one_column(released: Path) -> None:
    found = rr.release.estimate_file("safe.csv", {"age": AGE}, method="projected")
    assert found.categories == AGE.inputs
    assert found.n == 60_000
    assert (np.abs(found.values - JOINT.sum(axis=0)) < 5 * found.standard_errors).all()


def test_two_columns_are_estimated_jointly(released: Path) -> None:
    found = rr.release.estimate_file("safe.csv", {"sex": SEX, "age": AGE})
    assert found.categories[:2] == ("f, young", "f, middle")
    assert (np.abs(found.values - JOINT.ravel()) < 5 * found.standard_errors).all()
    # Its sums over one column are the estimate of the other.
    alone = rr.release.estimate_file("safe.csv", {"age": AGE})
    np.testing.assert_allclose(found.values.reshape(2, 3).sum(axis=0), alone.values, atol=1e-10)
    part = rr.release.estimate_file("safe.csv", {"age": AGE}, where={"sex": "f"})
    assert 20_000 < part.n < 40_000


def test_the_command(released: Path, capfd: pytest.CaptureFixture[str]) -> None:
    AGE.save("age.json")
    assert cli.main(["estimate", "age.json", "safe.csv", "--column", "age", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert set(told) == {"categories", "estimate", "standard_error", "interval", "n", "method", "warnings", "notes"}
    assert told["estimate"] == rr.release.estimate_file("safe.csv", {"age": AGE}).values.tolist()
    assert cli.main(["estimate", "age.json", "safe.csv", "--column", "age", "--method", "mle", "--level", "0.9"]) == 0
    out, said = capfd.readouterr()
    assert "rropt: note: standard errors and intervals are those of the linear unbiased estimate, not of 'mle'" in said
    for part in ("Estimated frequencies (maximum likelihood estimator, 60,000 answers)", "90 % from", "middle"):
        assert part in out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["none.json", "safe.csv", "--column", "age"], "cannot read this mechanism file"),
        (["age.json", "none.csv", "--column", "age"], "none.csv"),
        (["age.json", "safe.csv", "--column", "height"], "height"),
        (["age.json", "safe.csv", "--column", "age", "--method", "magic"], "not a method"),
        (["age.json", "safe.csv", "--column", "age", "--level", "95"], "not in (0, 1)"),
        (["age.json", "people.csv", "--column", "sex"], "'sex' was released from this file"),
    ],
)
def test_bad_input(arguments: list[str], what: str, released: Path, capfd: pytest.CaptureFixture[str]) -> None:
    AGE.save("age.json")
    assert cli.main(["estimate", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert what in err


def test_too_many_columns_at_once(released: Path) -> None:
    wide = rr.RandomizedResponse(70, gamma=4).to_mechanism()
    with pytest.raises(rr.InputError, match="cells"):
        rr.release.estimate_file("safe.csv", {"sex": wide, "age": wide})


def test_labels_with_commas_keep_all_cells_of_a_joint_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = rr.Pairs(["a, b", "a", "z"], ["c", "b, c", "w"])
    one, two = (rr.RandomizedResponse(labels, gamma=9).to_mechanism() for labels in (names.sensitive, names.other))
    drawn = np.random.default_rng(5).integers(9, size=3000)
    table = {"A": [one.inputs[x] for x in (drawn // 3).tolist()], "B": [two.inputs[x] for x in (drawn % 3).tolist()]}
    csv.write_csv(pa.table(table), "o.csv")
    found = rr.release.estimate_file("o.csv", {"A": one, "B": two})
    assert found.categories == names.labels
    assert found.values.sum() == pytest.approx(1)
    items = rr.mechanisms.ProductMechanism.of({"A": one, "B": two})
    pair = items.estimate_pair(np.stack([drawn // 3, drawn % 3], axis=1), "A", "B")
    assert pair.categories == names.labels
    np.testing.assert_allclose(pair.values, found.values)
    # Columns that were perturbed jointly, beside another one: their labels stand side by side.
    both = rr.RandomizedResponse(names.labels, gamma=9).to_mechanism()
    csv.write_csv(pa.table(table | {"C": table["A"]}), "p.csv")
    three = rr.release.estimate_file("p.csv", {("A", "B"): both, "C": one})
    assert three.categories[:2] == ("a\\, b, c, a\\, b", "a\\, b, c, a")
    assert len(set(three.categories)) == 27


@pytest.mark.parametrize(("columns", "chosen"), [({"age": AGE}, "age"), ({"sex": SEX, "age": AGE}, "sex")])
def test_records_are_not_chosen_by_the_answer_that_is_estimated(
    released: Path, columns: dict[str, rr.Mechanism], chosen: str, capfd: pytest.CaptureFixture[str]
) -> None:
    for count in (rr.release.estimate_file, rr.release.table_of):
        with pytest.raises(rr.InputError, match=f"where {chosen}=.*: '{chosen}' itself is estimated"):
            count("safe.csv", columns, where={chosen: columns[chosen].inputs[0]})
    AGE.save("age.json")
    assert cli.main(["estimate", "age.json", "safe.csv", "--column", "age", "--where", "age=old"]) == 2
    err = capfd.readouterr().err
    assert "'age' itself is estimated" in err
    assert "damaged" not in err


def test_the_command_takes_columns_of_a_release_file_jointly(released: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, one in (("sex", SEX), ("age", AGE)):
        one.save(f"{name}.json")
    blocks = (f'[[column]]\nname = "{name}"\nmechanism = "{name}.json"\n' for name in ("sex", "age"))
    Path("plan.toml").write_text("schema = 1\n" + "".join(blocks))
    for columns in (("sex", "age"), ("age", "sex")):
        flags = [part for name in columns for part in ("--column", name)]
        assert cli.main(["estimate", "plan.toml", "safe.csv", *flags, "--json"]) == 0
        told = json.loads(capfd.readouterr().out)
        found = rr.release.estimate_file("safe.csv", {name: {"sex": SEX, "age": AGE}[name] for name in columns})
        assert told["categories"] == list(found.categories)
        assert told["estimate"] == found.values.tolist()
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "sex", "--column", "height"]) == 2
    assert "it releases no column 'height'; write some of: --column sex; --column age" in capfd.readouterr().err
    assert cli.main(["estimate", "plan.toml", "safe.csv", "--column", "sex", "--column", "sex"]) == 2
    assert "named twice" in capfd.readouterr().err
