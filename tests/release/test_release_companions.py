"""What goes with a release: matrices in its manifest, warnings in README.txt and metadata, a script in R that agrees."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import rropt as rr
from rropt.cli import main as cli
from rropt.errors import InputError, NotWritten, Unreadable
from rropt.release import (
    CrossClassification,
    ProtectedColumn,
    Release,
    companions,
    estimate_file,
    load_release,
    release_file,
)
from rropt.release.plans.manifest import MOST_TEXT, manifest_text, matrices
from rropt.release.plans.provenance import digest

RSCRIPT = shutil.which("Rscript")
LABELS = ["none", "=some", 'mu"ch, é']


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def krr(labels: list[str], epsilon: float) -> rr.Mechanism:
    return rr.RandomizedResponse(labels, epsilon=epsilon).to_mechanism()


def people(n: int = 900) -> pa.Table:
    draw = np.random.default_rng(5)
    chosen = {
        "x": draw.choice(LABELS, n, p=[0.6, 0.3, 0.1]),
        "s": draw.choice(["m", "f"], n),
        "t": draw.choice(["1", "2"], n),
        "region": draw.choice(["north", "south, far", "east"], n),
        "age": draw.integers(1, 90, n),
    }
    return pa.table({name: list(map(str, values)) for name, values in chosen.items()})


def written(path: str, table: pa.Table, delimiter: str = ",") -> str:
    if path.endswith(".parquet"):
        pq.write_table(table, path)
    elif path.endswith(".feather"):
        pa.feather.write_feather(table, path)
    else:
        from rropt.io.files import csv_text

        rows = [table.column_names, *zip(*(table[name].to_pylist() for name in table.column_names), strict=True)]
        text = csv_text(rows, quote_formulas=False)
        Path(path).write_text(text if delimiter == "," else text.replace(",", delimiter), encoding="utf-8")
    return path


def everything() -> Release:
    """One column by strata, two jointly, in some of the records."""
    joint = CrossClassification({"s": ["m", "f"], "t": ["1", "2"]}, impossible=[{"s": "m", "t": "2"}])
    strata = {"north": krr(LABELS, 1), "south, far": krr(LABELS, 2), "east": krr(LABELS, 3)}
    return Release(
        [
            ProtectedColumn("x", strata, by="region", where="age>=15"),
            ProtectedColumn(("s", "t"), krr(list(joint.labels), 2), where="age>=15"),
        ]
    )


def table_of_everything() -> pa.Table:
    table = people()
    t = ["1" if s == "m" else t for s, t in zip(table["s"].to_pylist(), table["t"].to_pylist(), strict=True)]
    return table.set_column(2, "t", pa.array(t))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_the_manifest_alone_estimates_like_the_mechanisms(name: str) -> None:
    release = everything()
    made = release_file(written(name, table_of_everything()), release, f"o{Path(name).suffix}")
    read = load_release(made.manifest_file)
    assert read.output == made.output
    for own, other in zip(release.columns, read.release.columns, strict=True):
        assert own == other
        assert list(map(digest, (one for _, one in own.strata))) == list(map(digest, (one for _, one in other.strata)))
        columns = {own.released: own}, {own.released: other}
        first, second = (estimate_file(made.output, one) for one in columns)
        assert np.array_equal(first.values, second.values)
        assert first.notes == second.notes


def test_a_changed_matrix_is_refused() -> None:
    made = release_file(written("t.csv", people()), ProtectedColumn("x", krr(LABELS, 1)), "o.csv")
    content: dict[str, Any] = json.loads(made.manifest_file.read_text(encoding="utf-8"))
    (document,) = content["matrices"].values()
    for column in document["columns"]:
        column["dense"].reverse()
    document["columns"].reverse()
    document["inputs"] = document["inputs"][::-1]
    made.manifest_file.write_text(manifest_text(content), encoding="utf-8")
    with pytest.raises(Unreadable, match="was changed"):
        load_release(made.manifest_file)
    content["matrices"] = None
    made.manifest_file.write_text(manifest_text(content), encoding="utf-8")
    with pytest.raises(InputError, match="no matrices"):
        load_release(made.manifest_file)
    assert estimate_file(made.output, {"x": krr(LABELS, 1)}).n == 900


def test_matrices_that_are_too_long_stay_out() -> None:
    labels = [f"{at:0100}" for at in range(MOST_TEXT // 100)]
    assert matrices(Release(ProtectedColumn("x", krr(labels[:300], 1)))) is not None
    assert matrices(Release(ProtectedColumn("x", krr(labels, 1)))) is None


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_every_command_of_the_readme_runs(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Beside each other in any folder: the commands name files without folders."""
    Path("a folder").mkdir()
    made = release_file(written(name, people()), _two(), f"a folder/o{Path(name).suffix}")
    text = Path(f"{made.output}.README.txt").read_text(encoding="utf-8")
    commands = [line.strip() for line in text.splitlines() if line.startswith("  rropt ")]
    assert [shlex.split(one)[1] for one in commands] == ["estimate", "estimate", "estimate", "scores"]
    with pytest.MonkeyPatch.context() as at:
        at.chdir("a folder")
        for command in commands:
            assert cli.main(shlex.split(command)[1:]) == 0, command
    capfd.readouterr()
    for one in ("'x'", "'s'"):
        assert f"olumn {one} is randomised; do not tabulate it directly" in text


def _two() -> Release:
    return Release([ProtectedColumn("x", krr(LABELS, 1)), ProtectedColumn("s", krr(["m", "f"], 1))])


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_the_metadata_warn(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    suffix = Path(name).suffix
    release_file(written(name, people()), _two(), f"o{suffix}")
    schema = pq.read_schema(f"o{suffix}") if suffix == ".parquet" else pa.feather.read_table(f"o{suffix}").schema
    said = schema.metadata[b"rropt"].decode()
    assert said.startswith("column 'x' is randomised; do not tabulate it directly: rropt estimate ")
    for one in said.split("directly: ")[1:]:
        assert cli.main(shlex.split(one.partition(";")[0])[1:]) == 0
    capfd.readouterr()


def test_a_design_without_frequencies_is_named() -> None:
    blind = rr.Mechanism.from_matrix([[0.5, 0.5]] * 2, inputs=["m", "f"], outputs=["m", "f"])
    release = Release([ProtectedColumn("x", krr(LABELS, 1)), ProtectedColumn("s", blind)])
    written("t.csv", people())
    release_file("t.csv", release, "o.csv", warn=lambda caution: None, force=True)
    text = Path("o.csv.README.txt").read_text(encoding="utf-8")
    assert "no frequencies can be estimated from s" in text
    assert "--column s" not in text
    assert {line.split(",")[0] for line in Path("o.csv.for-R/matrix.csv").read_text().splitlines()[1:]} == {"x"}


def test_what_goes_with_an_earlier_release_goes_with_it() -> None:
    """The matrices of one design never stay beside the answers of another."""
    written("t.csv", people())
    mine = Path("o.csv.for-R/notes.txt")
    for other, unidentified in ((0, True), (3, False), (0, True)):
        constant = rr.Mechanism.from_matrix([[1]] * 3, inputs=LABELS, outputs=["z"])
        column = ProtectedColumn("x", krr(LABELS, other) if other else constant)
        made = release_file("t.csv", column, "o.csv", force=True, unidentified=unidentified, warn=lambda _: None)
        assert Path("o.csv.for-R/matrix.csv").exists() == Path("o.csv.for-R/estimate.R").exists() == bool(other)
        assert made.companions == tuple(map(Path, ["o.csv.README.txt", "o.csv.for-R"][: 1 + bool(other)]))
        if other:
            mine.write_text("mine", encoding="utf-8")
    assert mine.read_text(encoding="utf-8") == "mine"


def test_nothing_is_left_beside_a_release_that_took_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another release gets the name while this one writes what goes with it."""
    written("t.csv", people())
    written("u.csv", people(300))
    write = companions.write_whole
    begun: list[bool] = []

    def late(path: Path, text: str) -> Path:
        if path.name == "estimate.R" and not begun:
            begun.append(True)
            column = ProtectedColumn("x", krr(LABELS, 2))
            release_file("u.csv", column, "o.csv", force=True, warn=lambda _: None)
        return write(path, text)

    monkeypatch.setattr(companions, "write_whole", late)
    made = release_file("t.csv", ProtectedColumn("x", krr(LABELS, 1)), "o.csv")
    assert made.companions == ()
    assert any("another release took its name" in note for note in made.notes)
    assert "(300 records)" in Path("o.csv.README.txt").read_text(encoding="utf-8")
    matrix = companions.matrix_csv(Release([ProtectedColumn("x", krr(LABELS, 2))]), quoted=True)
    assert Path("o.csv.for-R/matrix.csv").read_text(encoding="utf-8") == matrix
    assert not Path("o.csv.for-R/estimate.R").exists()


def test_a_release_that_fails_keeps_what_goes_with_the_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    written("t.csv", people())
    release_file("t.csv", ProtectedColumn("x", krr(LABELS, 1)), "o.csv")
    before = {path: path.read_bytes() for path in Path().glob("o.csv*/*") if path.is_file()}
    before |= {path: path.read_bytes() for path in Path().glob("o.csv*") if path.is_file()}

    replace = os.replace

    def full(old: Path, new: Path) -> None:
        if Path(new).name == "o.csv":
            raise OSError(28, "No space left on device")
        replace(old, new)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(NotWritten, match="No space left"):
            release_file("t.csv", ProtectedColumn("x", krr(LABELS, 2)), "o.csv", force=True, warn=lambda _: None)
    assert len(before) == 6
    assert {path: path.read_bytes() for path in before if path.is_file()} == before


@pytest.mark.parametrize("strata", [False, True])
def test_the_readme_names_strata_where_there_are_some(strata: bool) -> None:
    written("t.csv", people())
    design = krr(LABELS, 2)
    column = (
        ProtectedColumn("x", dict.fromkeys(("north", "south, far", "east"), design), by="region")
        if strata
        else ProtectedColumn("x", design)
    )
    release_file("t.csv", column, "o.csv")
    text = Path("o.csv.README.txt").read_text(encoding="utf-8")
    assert ("\n  LDP (epsilon 2), within each region\n" if strata else "\n  LDP (epsilon 2)\n") in text
    assert ("within each" in text) == strata
    assert all(line == line.rstrip() for line in text.splitlines())


def test_files_of_others_are_kept() -> None:
    written("t.csv", people())
    for place in ("o.csv.README.txt", "o.csv.for-R/matrix.csv"):
        path = Path(place)
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
        with pytest.raises(NotWritten, match="not of a release"):
            release_file("t.csv", _two(), "o.csv")
        assert path.read_text(encoding="utf-8") == "mine"
        assert not Path("o.csv").exists()
        path.unlink()
    assert release_file("t.csv", _two(), "o.csv").drawn


# -- R -----------------------------------------------------------------------------------------------------


def in_r(script: str) -> dict[str, tuple[float, float]]:
    """Estimates and standard errors that the script prints, by category."""
    assert RSCRIPT is not None
    code = f"source({json.dumps(script)}, encoding = 'UTF-8', echo = FALSE)\n"
    code += "for (one in release$columns) { s <- rr_frequencies(release, one$released); for (at in seq_len(nrow(s))) "
    code += "cat(utf8ToInt(enc2utf8(s$category[at])), ':', sprintf('%.17g', s$estimate[at]), "
    code += "sprintf('%.17g', s$standard_error[at]), '\\n') }\n"
    made = subprocess.run([RSCRIPT, "-e", code], capture_output=True, text=True, timeout=120, check=False)
    assert made.returncode == 0, made.stderr
    found = {}
    for line in made.stdout.splitlines():
        letters, mark, numbers = line.partition(":")
        if mark and all(one.isdigit() for one in letters.split()):
            value, error = map(float, numbers.split())
            found["".join(chr(int(one)) for one in letters.split())] = value, error
    return found


needs_r = pytest.mark.skipif(RSCRIPT is None, reason="needs Rscript (apt-get install r-base-core)")


@needs_r
@pytest.mark.parametrize("case", ["everything", "more outputs", "semicolon", "as they are"])
def test_the_script_in_r_agrees(case: str) -> None:
    delimiter = ";" if case == "semicolon" else ","
    if case == "everything":
        written("t.csv", table_of_everything())
        release = everything()
    else:
        table = people().select(["s", "t", "age"])
        labels = ["a", "'=b", "c", "d", "e"]
        name = "x" if case == "semicolon" else "x, 1"
        table = table.append_column(name, pa.array(np.random.default_rng(1).choice(labels, 900).tolist()))
        written("t.csv", table, delimiter)
        more = rr.mechanisms.SubsetSelection(labels, epsilon=0.5).to_mechanism()
        assert len(more.outputs) > len(more.inputs)
        release = Release(ProtectedColumn(name, more if case == "more outputs" else krr(labels, 1), null="a"))
    options: dict[str, Any] = {"quote_formulas": case != "as they are", "delimiter": delimiter}
    made = release_file("t.csv", release, "o.csv", **options)
    expected: dict[str, tuple[float, float]] = {}
    for column in release.columns:
        scored = rr.release.estimate_file(made.output, {column.released: column}, delimiter=delimiter)
        expected |= dict(zip(scored.categories, zip(scored.values, scored.standard_errors, strict=True), strict=True))
    found = in_r("o.csv.for-R/estimate.R")
    assert found.keys() == expected.keys()
    for label, (value, _) in expected.items():
        assert found[label][0] == pytest.approx(value, abs=1e-12)
    if case == "everything":
        shares = rr.release.estimate_shares(made.output, dict.fromkeys(["x"], release.columns[0]), "x")
        for label, error in zip(shares.categories, shares.standard_errors[0], strict=True):
            assert found[label][1] == pytest.approx(error, rel=1e-9)


ALSO = """
t <- rr_table(release, "region", "x")
m <- rr_mean(release, "age", "x")
g <- rr_glm(release, "age", "x")$coefficients
cat(sprintf("%.17g", c(t$estimate, t$standard_error, m$estimate, m$standard_error, g$estimate, g$standard_error)))
"""


@needs_r
def test_the_functions_in_r_give_other_estimates() -> None:
    """Tables, means and regressions from the folder for R alone: no manifest, no package."""
    assert RSCRIPT is not None
    written("t.csv", table_of_everything())
    column = everything().columns[0]
    made = release_file("t.csv", Release(column), "o.csv")
    table = rr.release.estimate_table(made.output, {"x": column}, ("region", "x"))
    means = rr.release.estimate_means(made.output, {"x": column}, "x", "age")
    fit = rr.release.estimate_regression(made.output, {"x": column}, "age", ["x"])
    Path(made.manifest_file).unlink()
    source = "invisible(capture.output(source('o.csv.for-R/estimate.R', encoding = 'UTF-8')))"
    done = subprocess.run(
        [RSCRIPT, "--vanilla", "-e", source + ALSO], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    # R sorts the strings of a column by their bytes, and matrices are written column after column.
    order = [table.rows.index(name) for name in sorted(table.rows)]
    expected = [table.values[order].T.ravel(), table.standard_errors[order].T.ravel(), means.values]
    expected += [means.standard_errors, fit.values, fit.standard_errors]
    assert list(map(float, done.stdout.split())) == pytest.approx(np.concatenate(expected).tolist(), rel=1e-6)


def test_the_package_for_r_has_the_functions_that_go_with_a_release() -> None:
    """One text: the sources of the package are the files that Python reads."""
    sources = Path(__file__).parents[2] / "r" / "R"
    text = companions.functions()
    assert companions.SOURCES
    for name in companions.SOURCES:
        assert (sources / f"{name}.R").read_text(encoding="utf-8") in text


# -- a release of several files ----------------------------------------------------------------------------


@pytest.fixture
def parts() -> dict[str, pa.Table]:
    Path("in/deep").mkdir(parents=True)
    found = {"a.parquet": people(700), "deep/b.parquet": people(400)}
    for name, table in found.items():
        written(f"in/{name}", table)
    return found


def test_a_folder_has_one_readme_whose_commands_run(
    parts: dict[str, pa.Table], capfd: pytest.CaptureFixture[str]
) -> None:
    made = rr.release.release_folder("in", _two(), "out")
    assert [one.state for one in made.files] == ["released", "released"]
    text = Path("out.README.txt").read_text(encoding="utf-8")
    assert "File: out (1,100 records)" in text
    commands = [line.strip() for line in text.splitlines() if line.startswith("  rropt ")]
    assert [shlex.split(one)[1] for one in commands] == ["estimate", "estimate", "estimate"]
    for command in commands:
        capfd.readouterr()
        assert cli.main([*shlex.split(command)[1:], "--json"]) == 0, command
        assert json.loads(capfd.readouterr().out)["n"] == 1100
    # Of the folder only: none beside its files.
    assert not [path for path in Path("out").rglob("*") if "README" in path.name or "for-R" in path.name]
    assert sorted(path.name for path in Path("out.for-R").iterdir()) == ["estimate.R", "functions.R", "matrix.csv"]


def test_a_folder_that_is_released_again_keeps_one_readme_of_all(parts: dict[str, pa.Table]) -> None:
    """A second call releases the file that came late, and the README counts all of them."""
    rr.release.release_folder("in", _two(), "out")
    written("in/late.parquet", people(200))
    made = rr.release.release_folder("in", _two(), "out")
    assert sorted(one.state for one in made.files) == ["existing", "existing", "released"]
    assert "File: out (1,300 records)" in Path("out.README.txt").read_text(encoding="utf-8")


def test_a_folder_does_not_replace_files_of_others(parts: dict[str, pa.Table]) -> None:
    for place in ("out.README.txt", "out.for-R/matrix.csv", "out.for-R/functions.R"):
        path = Path(place)
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine", encoding="utf-8")
        with pytest.raises(NotWritten, match="not of a release"):
            rr.release.release_folder("in", _two(), "out")
        assert path.read_text(encoding="utf-8") == "mine"
        assert not list(Path().glob("out/**/*.parquet"))
        path.unlink()


@needs_r
def test_the_script_of_a_folder_reads_all_of_its_files(parts: dict[str, pa.Table]) -> None:
    """With a package arrow of its own, which reads the text of each file: the real one is large."""
    assert RSCRIPT is not None
    rr.release.release_folder("in", _two(), "out")
    for path in Path("out").rglob("*.parquet"):
        written(f"{path}.csv", pq.read_table(path))
    Path("arrow/R").mkdir(parents=True)
    Path("arrow/DESCRIPTION").write_text(
        "Package: arrow\nVersion: 1.0\nTitle: T\nDescription: D.\nLicense: GPL-3\n", encoding="utf-8"
    )
    Path("arrow/NAMESPACE").write_text("export(read_parquet)\nimportFrom(utils, read.csv)\n", encoding="utf-8")
    reader = 'read.csv(paste0(file, ".csv"), colClasses = "character", encoding = "UTF-8")'
    Path("arrow/R/a.R").write_text(f"read_parquet <- function(file) {reader}\n", encoding="utf-8")
    Path("library").mkdir()
    install = [RSCRIPT.removesuffix("script"), "CMD", "INSTALL", "--no-docs", "--library=library", "arrow"]
    subprocess.run(install, check=True, capture_output=True, timeout=120)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("R_LIBS", str(Path("library").resolve()))
        found = in_r("out.for-R/estimate.R")
    for column in _two().columns:
        shares = rr.release.estimate_shares("out", {column.released: column}, column.released[0])
        for label, value, error in zip(shares.categories, shares.values[0], shares.standard_errors[0], strict=True):
            assert found[label] == pytest.approx((value, error), rel=1e-9)
