"""Cell keys: the noise against ptable's own tables and a conic solver, and counts against a plain count in Python."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest

import rropt as rr
from rropt.cli.main import main
from rropt.errors import Conflict, InputError, Missing, OutOfRange, TooLarge, Unreadable, WrongType
from rropt.release import PerturbationTable, count_with_noise, load_perturbation_table

TABLES = Path(__file__).parents[1] / "data" / "ptable.txt"
"""What `create_cnt_ptable(D, V, js, mono=)` and `pt_export` of the R package ptable 0.3.3 write (nloptr 2.0.3)."""


def tables() -> dict[str, str]:
    """The text of each table, by its rules."""
    parts = TABLES.read_text(encoding="utf-8").split("# ")[1:]
    return {head: text for head, _, text in (part.partition("\n") for part in parts)}


def rules(head: str) -> rr.CellKey:
    given = dict(one.split("=") for one in head.split())
    return rr.CellKey(int(given["D"]), given["V"], js=int(given["js"]), monotone=given["monotone"] == "1")


def entropy(row: list[Fraction]) -> float:
    return -sum(float(p) * log(p) for p in row if p)


def refuse_broken(table: PerturbationTable, rule: rr.CellKey) -> None:
    """The rules, in exact arithmetic and by their definitions."""
    assert table.row(0) == ((0, 1),)
    for count, row in enumerate(table.rows[1:], 1):
        assert sum(p for _, p in row) == 1
        assert min(p for _, p in row) > 0
        assert sum(v * p for v, p in row) == 0
        assert sum(v * v * p for v, p in row) <= Fraction(rule.V)
        assert all(abs(v) <= rule.D and count + v >= 0 and not 1 <= count + v <= rule.js for v, _ in row)
        falls = [p for v, p in row if v <= 0]
        if rule.monotone and count > rule.js:
            assert all(less <= more for less, more in pairwise(falls))


@pytest.mark.parametrize("head", tables())
def test_no_table_of_ptable_has_a_larger_entropy(head: str, tmp_path: Path) -> None:
    rule = rules(head)
    made = rule.solve()
    assert made.solution is not None
    assert made.solution.status == "certified"
    assert made.gap is not None
    assert made.gap <= 1e-8
    refuse_broken(made, rule)
    (tmp_path / "t.csv").write_text(tables()[head], encoding="utf-8")
    theirs = load_perturbation_table(tmp_path / "t.csv")
    assert len(theirs.rows) == len(made.rows)
    assert theirs.js == rule.js
    for count, row in enumerate(theirs.rows):
        # Theirs has eight decimals, and variances up to 5e-7 above V: that is worth less than 1e-7 nats.
        assert float(made.entropy(count)) >= entropy([p for _, p in row]) - 1e-7
        assert abs(theirs.mean(count)) < Fraction(1, 10**6)


@pytest.mark.parametrize("head", ["D=3 V=2.25 js=2 monotone=1", "D=5 V=3 js=2 monotone=1", "D=9 V=4 js=0 monotone=0"])
def test_the_entropy_is_that_of_a_conic_solver(head: str) -> None:
    """Each row as a problem of its own, from the definition of the rules."""
    cvxpy = pytest.importorskip("cvxpy")
    rule = rules(head)
    made = rule.solve()
    for count in range(1, len(made.rows)):
        noise = [v for v in range(-rule.D, rule.D + 1) if count + v == 0 or count + v > rule.js]
        p, v = cvxpy.Variable(len(noise)), np.array(noise)
        kept = [p >= 0, cvxpy.sum(p) == 1, v @ p == 0, (v * v) @ p <= float(Fraction(rule.V))]
        falls = [at for at, one in enumerate(noise) if one <= 0]
        if rule.monotone and 0 in noise:
            kept += [p[a] <= p[b] for a, b in pairwise(falls)]
        problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.entr(p))), kept)
        problem.solve(solver="CLARABEL")
        assert float(made.entropy(count)) == pytest.approx(problem.value, abs=1e-6)


def test_small_cases_have_a_closed_form() -> None:
    """With noise of at most 1 the variance decides: v/2, 1 - v, v/2, until it is uniform."""
    for variance, share in (("1/2", Fraction(1, 4)), ("1/10", Fraction(1, 20)), (5, Fraction(1, 3))):
        row = dict(rr.CellKey(D=1, V=variance).solve().row(1))
        assert all(abs(row[v] - share) < Fraction(1, 10**6) for v in (-1, 1))


def test_the_least_variance_leaves_no_choice() -> None:
    """Where V is the least of noise that avoids 1 and 2, the counts 1 and 2 go to 0 and 3, as their mean says."""
    table = rr.CellKey(D=5, V=2, js=2).solve()
    assert table.gap is not None
    assert table.gap <= 1e-8
    refuse_broken(table, rr.CellKey(D=5, V=2, js=2))
    for count in (1, 2):
        found = {v: p for v, p in table.row(count) if p > Fraction(1, 10**4)}
        assert set(found) == {-count, 3 - count}
        assert abs(found[3 - count] - Fraction(count, 3)) < Fraction(1, 10**3)


def test_the_certificate_is_of_the_rules(tmp_path: Path) -> None:
    table = rr.CellKey(D=2, V=1, js=1).solve()
    assert table.solution is not None
    assert table.solution.certificate is not None
    assert rr.check(table.solution.certificate.save(tmp_path / "c.json")).proved
    mean = float(table.solution.bound or 0)
    assert mean == pytest.approx(
        sum(float(table.entropy(i)) for i in range(len(table.rows))) / len(table.rows), abs=1e-8
    )


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"D": 0, "V": 1}, OutOfRange),
        ({"D": 3, "V": 0}, OutOfRange),
        ({"D": 3, "V": 1, "js": 4}, OutOfRange),
        ({"D": 3, "V": "1.99", "js": 2}, OutOfRange),
        ({"D": 99, "V": 5, "js": 2}, OutOfRange),
        ({"D": 2.5, "V": 1}, InputError),
        ({"D": 2, "V": "much"}, InputError),
    ],
)
def test_impossible_rules_are_refused(given: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        rr.CellKey(**given)


# -- files ---------------------------------------------------------------------------------------------------


def test_tables_are_read_as_ptable_writes_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(tables()["D=2 V=1.05 js=1 monotone=1"], encoding="utf-8")
    found = load_perturbation_table(tmp_path / "t.csv")
    assert (found.D, found.js, len(found.rows), found.gap) == (2, 1, 5, None)
    assert found.row(1) == ((-1, Fraction("0.50833333")), (1, Fraction("0.475")), (2, Fraction("0.01666667")))
    assert found.row(99) == found.row(4)


@pytest.mark.parametrize("form", ["TauArgus", "SAS"])
def test_a_saved_table_is_the_same_table(form: str, tmp_path: Path) -> None:
    table = rr.CellKey(D=4, V="2.5", js=2).solve()
    again = load_perturbation_table(table.save(tmp_path / "t.csv", form=form))
    assert [[v for v, _ in row] for row in again.rows] == [[v for v, _ in row] for row in table.rows]
    both = zip((p for row in again.rows for _, p in row), (p for row in table.rows for _, p in row), strict=True)
    assert max(abs(a - b) for a, b in both) <= Fraction(1, 10**15)
    head, *lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert head == ("i;j;p;v;p_int_ub" if form == "TauArgus" else "i;j;p;v;p_int_lb;p_int_ub")
    for line in lines:
        i, j, p, v, *ends = line.split(";")
        assert int(j) == int(i) + int(v)
        if form == "SAS":
            assert Fraction(ends[1]) - Fraction(ends[0]) == Fraction(p)


GOOD = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("p_int_ub", "upper", Missing),
        ("i;j;p;v;p_int_ub", "i;j;p;v;p_int_ub;type", Conflict),
        ("1;2;0.5;1;1", "1;3;0.5;1;1", Unreadable),
        ("1;2;0.5;1;1", "1;2;0.5;1;0.9", Unreadable),
        ("1;2;0.5;1;1", "1;2;0.5;1;0.4", Unreadable),
        ("1;2;0.5;1;1", "1;2;0.5;1", Unreadable),
        ("1;2;0.5;1;1", "2;3;0.5;1;1", Unreadable),
        ("1;2;0.5;1;1", "1;2;0.5;one;1", Unreadable),
        ("1;2;0.5;1;1", "1;2;0.5;1;many", InputError),
        ("0;0;1;0;1", "0;0;0.5;0;0.5\n0;1;0.5;1;1", Unreadable),
        (GOOD, "i;j;p;v;p_int_ub\n", Missing),
        (GOOD, "", Missing),
    ],
)
def test_a_damaged_table_is_one_clear_line(old: str, new: str, error: type[Exception], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(GOOD, encoding="utf-8")
    assert load_perturbation_table(path).D == 1
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(error) as caught:
        load_perturbation_table(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


# -- counts --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> PerturbationTable:
    return rr.CellKey(D=4, V="2.5", js=2).solve()


def test_a_count_gets_each_noise_for_its_share_of_the_keys(table: PerturbationTable) -> None:
    """On a grid of keys the shares are those of the table, up to the steps of the grid."""
    grid = (np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)) + np.uint64(1 << 47)
    for count in (0, 1, 2, 3, 5, 7, 1000):
        noise = Counter((table.perturb(np.full(len(grid), count), grid) - count).tolist())
        shares = dict(table.row(count))
        assert set(noise) <= set(shares)
        assert all(abs(noise[v] / len(grid) - float(p)) <= 2 / len(grid) for v, p in shares.items())
    ends = np.array([0, (1 << 64) - 1], dtype=np.uint64)
    assert table.perturb([9, 9], ends).tolist() == [5, 13]


@pytest.mark.parametrize(("counts", "keys"), [([-1], [0]), ([1.5], [0]), ([1], [0, 1])])
def test_wrong_counts_and_keys_are_refused(table: PerturbationTable, counts: list[int], keys: list[int]) -> None:
    with pytest.raises(WrongType):
        table.perturb(counts, np.array(keys, dtype=np.uint64))
    with pytest.raises(WrongType):
        table.perturb([1], np.array([0.5]))


def people(count: int = 400) -> dict[str, list[object]]:
    generator = np.random.default_rng(4)
    keys = generator.integers(0, 1 << 20, count) / (1 << 20)
    return {
        "region": generator.choice(["n", "s", "e"], count).tolist(),
        "job": generator.integers(0, 9, count).tolist(),
        "key": keys.tolist(),
        "person": [f"p{at}" for at in range(count)],
    }


def test_counts_are_those_of_a_plain_count(table: PerturbationTable) -> None:
    """Cells, sums of keys, and intervals again, in rational numbers."""
    pd = pytest.importorskip("pandas")
    records = people()
    found = count_with_noise(pd.DataFrame(records), table, ["region", "job"], record_key="key")
    cells: dict[tuple[str | None, str | None], list[Fraction]] = {}
    for region, job, key in zip(records["region"], records["job"], records["key"], strict=True):
        for cell in ((region, str(job)), (region, None), (None, str(job)), (None, None)):
            cells.setdefault(cell, []).append(Fraction(key))
    wanted = {}
    for cell, keys in cells.items():
        at, end = sum(keys) % 1, Fraction(0)
        ends = [(noise, end := end + p) for noise, p in table.row(len(keys))]
        count = len(keys) + next(noise for noise, end in ends if at < end)
        wanted |= {cell: count} if count else {}
    assert dict(zip(found.cells, found.counts.tolist(), strict=True)) == wanted
    assert found.count({"region": "n"}) == wanted["n", None]
    assert found.count() == wanted[None, None]
    assert found.count({"region": "x"}) == 0


def test_a_cell_has_one_count_in_every_table_and_form(table: PerturbationTable, tmp_path: Path) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame(people())
    key = tmp_path / "key"
    for path in (key, tmp_path / "other"):
        assert main(["key", "new", str(path)]) == 0
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "b.parquet")
    table.save(tmp_path / "t.csv")

    def of(data: object, by: list[str], key: Path = key, **options: object) -> dict[tuple[str | None, ...], int]:
        noise = load_perturbation_table(tmp_path / "t.csv")
        found = count_with_noise(data, noise, by, identity="person", key=key, **options)
        return dict(zip(found.cells, found.counts.tolist(), strict=True))

    both = of(frame, ["region", "job"])
    assert both == of(tmp_path / "a.csv", ["region", "job"])
    assert both == of(tmp_path / "b.parquet", ["region", "job"])
    assert both == of(pl.from_pandas(frame), ["region", "job"])
    assert {cell[:1]: count for cell, count in both.items() if cell[1] is None} == of(frame, ["region"])
    assert {cell[::-1]: count for cell, count in both.items()} == of(frame, ["job", "region"])
    assert {cell: count for cell, count in both.items() if None not in cell} == of(
        frame, ["region", "job"], totals=False
    )
    assert min(both.values()) > table.js
    assert both != of(frame, ["region", "job"], tmp_path / "other")


def test_keys_of_identities_give_the_noise_of_the_table(table: PerturbationTable, tmp_path: Path) -> None:
    """Chi-square of the noise of 20,000 cells with five records each, at the level 1e-6."""
    pd, stats = pytest.importorskip("pandas"), pytest.importorskip("scipy.stats")
    assert main(["key", "new", str(tmp_path / "key")]) == 0
    cells = 20_000
    frame = pd.DataFrame({"cell": np.repeat(np.arange(cells), 5), "id": np.arange(5 * cells)})
    found = count_with_noise(frame, table, ["cell"], identity="id", key=tmp_path / "key", totals=False)
    noise = Counter((found.counts - 5).tolist())
    noise[-5] += cells - len(found.counts)
    row = {v: float(p) for v, p in table.row(5) if p > Fraction(1, 1000)}
    seen = [noise[v] for v in row]
    rest = cells - sum(seen)
    expected = [cells * p for p in row.values()]
    assert stats.chisquare([*seen, rest + 1], [*expected, cells - sum(expected) + 1]).pvalue > 1e-6


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"by": []}, Missing),
        ({"by": "region"}, InputError),
        ({"by": ["region", "region"]}, InputError),
        ({"by": ["area"]}, InputError),
        ({"by": ["region"], "record_key": None}, Missing),
        ({"by": ["region"], "identity": "person"}, Missing),
        ({"by": ["key"]}, Conflict),
        ({"by": ["region"], "record_key": "job"}, OutOfRange),
        ({"by": ["region"], "record_key": "person"}, WrongType),
        ({"by": ["region"], "delimiter": ";"}, Conflict),
        ({"by": [str(at) for at in range(9)]}, TooLarge),
    ],
)
def test_bad_arguments_of_counts_are_refused(
    table: PerturbationTable, options: dict[str, object], error: type[Exception]
) -> None:
    pd = pytest.importorskip("pandas")
    given = {"record_key": "key", **options}
    with pytest.raises(error) as caught:
        count_with_noise(pd.DataFrame(people(20)), table, **given)
    assert "\n" not in str(caught.value)


def test_missing_values_need_a_category(table: PerturbationTable) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"region": ["n"] * 8 + [None] * 8, "key": [0.25] * 16})
    with pytest.raises(Missing):
        count_with_noise(frame, table, ["region"], record_key="key")
    found = count_with_noise(frame, table, ["region"], record_key="key", null="unknown")
    assert {cell[0] for cell in found.cells} == {"n", "unknown", None}
    with pytest.raises(Missing):
        count_with_noise(frame.head(0), table, ["region"], record_key="key", null="unknown")


def test_totals_need_a_word_of_their_own(table: PerturbationTable, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"region": ["Total"] * 9, "key": [0.5] * 9})
    found = count_with_noise(frame, table, ["region"], record_key="key")
    with pytest.raises(Conflict):
        found.save(tmp_path / "c.csv")
    lines = found.save(tmp_path / "c.csv", total="all").read_text(encoding="utf-8").splitlines()
    assert [line.partition(",")[0] for line in lines] == ["region", "all", "Total"]
    renamed = count_with_noise(frame.rename(columns={"region": "count"}), table, ["count"], record_key="key")
    with pytest.raises(Conflict):
        renamed.save(tmp_path / "d.csv", total="all")


def test_the_commands_design_prove_and_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd = pytest.importorskip("pandas")
    noise, proof = tmp_path / "ptable.csv", tmp_path / "ptable.csv.certificate.json"
    design = ["cellkey", "design", "--D", "3", "--V", "2", "--js", "1", "-o", str(noise)]
    assert main([*design, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["D"], shown["js"]) == (3, 1)
    assert shown["gap"] <= 1e-8
    assert main(["check", str(proof)]) == 0
    assert main(design) == 2
    assert "exists already" in capsys.readouterr().err
    pd.DataFrame(people()).to_csv(tmp_path / "people.csv", index=False)
    count = ["cellkey", "count", str(noise), str(tmp_path / "people.csv"), "--by", "region,job", "-o"]
    assert main([*count, str(tmp_path / "c.csv"), "--record-key", "key", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    written = pd.read_csv(tmp_path / "c.csv")
    assert written["count"].tolist() == [one["count"] for one in shown["cells"]]
    assert (written["region"] == "Total").sum() == sum(one["values"][0] is None for one in shown["cells"])
    assert main([*count, str(tmp_path / "c.csv"), "--record-key", "key"]) == 2
    assert main([*count, str(tmp_path / "d.csv")]) == 2
    assert "records need keys" in capsys.readouterr().err
    assert main(["cellkey", "design", "--D", "3", "--V", "1", "--js", "2", "-o", str(tmp_path / "x.csv")]) == 2
    assert not (tmp_path / "x.csv").exists()
