"""The pages of web/ in Chromium, from a folder and from `rropt explore`, with the data and the core of `make web`."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import random
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from core_files import compiled_core, judged, mutants, proof_files
from documented import loaded
from mutants import at_random

pytest.importorskip("fcntl", reason="the browser is driven over pipes of POSIX")
from browser import BROWSER, Page, browser

import rropt as rr
from rropt import __main__ as cli
from rropt.checker import check_bytes
from rropt.cli.page_server import page_server
from rropt.mechanisms.mechanism import Mechanism
from rropt.mechanisms.precision import variances
from rropt.problem.plain_terms import entropy_kept, largest_margin, squared_error, worst_posterior
from rropt.problem_file import parse_problem, problem_to_toml
from rropt.solve import verified

ROOT = Path(__file__).resolve().parents[1]
TOOLS = [shutil.which(tool) for tool in ("ocamlfind", "js_of_ocaml")]
pytestmark = [
    pytest.mark.slow,  # The first of them compiles the core and solves some forty problems.
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here (Debian: apt-get install chromium)"),
    pytest.mark.skipif(not all(TOOLS), reason="needs ocaml and js_of_ocaml (Debian: js-of-ocaml)"),
]
EXPLORED = (
    ("census-column", 0),
    ("survey-yes-no", 2),
    ("ordinal-scale", 4),
    ("telemetry-100", 1),
    ("sensitive-pair", 3),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make web` writes, made of the sources as they are now."""
    folder = tmp_path_factory.mktemp("web")
    pages = loaded(ROOT / "docs" / "tools" / "web_pages.py")
    pages.build(folder / "pages", compiled_core(folder))
    return folder / "pages"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(chromium: Page, built: Path) -> Iterator[Page]:
    """A page whose errors and requests to elsewhere fail the test."""
    chromium.fetched.clear()
    chromium.errors.clear()
    yield chromium
    assert chromium.errors == []
    own = (built.as_uri(), "blob:", "data:", "about:blank", "http://127.0.0.1:")
    assert [url for url in chromium.fetched if not url.startswith(own)] == []


def explored(page: Page, built: Path, name: str, at: int) -> dict[str, Any]:
    """The page Explore at a design, and the data of that."""
    page.open((built / "index.html").as_uri())
    page.wait("current")
    page.value(f"element('question').value = '{name}', choose()")
    page.value(f"element('level').value = {at}, element('level').dispatchEvent(new Event('input'))")
    return dict(page.value("current.design"))


@pytest.mark.parametrize(("name", "at"), EXPLORED, ids=[name for name, _ in EXPLORED])
def test_explored_problems_have_the_figures_of_python(
    page: Page, built: Path, tmp_path: Path, name: str, at: int
) -> None:
    design = explored(page, built, name, at)
    problem, mechanism = parse_problem(design["toml"]), Mechanism.parse(design["mechanism"], "mechanism.json")
    prior = problem.objective.prior
    n = int(page.value("answers()"))
    found = page.value("current.figures.designs.map((one) => ({...one, margin: marginOf(one, answers())}))")
    ratio = mechanism.privacy_ratio
    assert not isinstance(ratio, float)
    assert found[0]["kept"] == pytest.approx(float(entropy_kept(mechanism, prior)), rel=1e-9)
    margin = largest_margin(mechanism, n)
    assert found[0]["margin"] == (None if margin is None else pytest.approx(margin, rel=1e-9))
    most = page.value("Number(current.figures.ratio[0]) / Number(current.figures.ratio[1])")
    assert most == pytest.approx(float(ratio), rel=1e-9)
    shown = float(page.text("posterior").removesuffix(" %")) / 100
    exact = worst_posterior(ratio)
    assert exact <= shown < exact * 1.01 or (shown == 1 and exact > 0.99)
    # What is shown is rounded to the side that claims less.
    exact_kept = 100 * entropy_kept(mechanism, prior)
    assert exact_kept * Fraction(99, 100) < Fraction(page.text("kept").removesuffix(" %")) <= exact_kept
    if margin is None:
        assert page.text("margin") == "no estimate"
    else:
        points = float(page.text("margin").removeprefix("± ").removesuffix(" points"))
        assert 100 * margin <= points < 110 * margin
    cells = page.value("[...element('comparison').rows].slice(1, 4).map((row) => row.cells[1].textContent)")
    assert cells == [page.text(one) for one in ("kept", "posterior", "margin")]
    others = {one["name"]: one for one in found[1:]}
    (level,) = [rule for rule in problem.constraints if hasattr(rule, "level")][:1] or [None]
    assert bool(others) is isinstance(problem.constraints[0], rr.LDP)
    if others:
        response = rr.RandomizedResponse(mechanism.inputs, epsilon=level.epsilon, gamma=level.gamma).mechanism
        assert others["k-RR"]["kept"] == pytest.approx(float(entropy_kept(response, prior)), rel=1e-9)
        simple = largest_margin(response, n)
        assert others["k-RR"]["margin"] == (None if simple is None else pytest.approx(simple, rel=1e-9))
        assert others["k-RR"]["error"] == pytest.approx(squared_error(response, prior), rel=1e-9)
    # What is saved is what is shown: the certificate states the problem and is accepted.
    (tmp_path / "certificate.json").write_text(design["certificate"], encoding="utf-8")
    (tmp_path / "problem.toml").write_text(design["toml"], encoding="utf-8")
    (tmp_path / "mechanism.json").write_text(design["mechanism"], encoding="utf-8")
    assert cli.main(["check", str(tmp_path / "certificate.json"), "--problem", str(tmp_path / "problem.toml")]) == 0


def test_a_visitor_drags_checks_and_sees_a_changed_digit_refuted(page: Page, built: Path, tmp_path: Path) -> None:
    """With the keyboard alone; and what is saved is checked as it was shown."""
    explored(page, built, "ordinal-scale", 1)
    before = page.text("kept")
    page.value("element('level').focus()")
    page.press("ArrowRight")
    page.wait(f"element('kept').textContent !== {json.dumps(before)}")
    assert page.value("element('level').getAttribute('aria-valuetext')") == "epsilon 0.7"
    page.ask("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    design = page.value("current.design")
    for name, key in (("proof.core", "proof"), ("problem.toml", "toml"), ("mechanism.csv", "csv")):
        page.value(f"element('save-{key}').focus()")
        page.press("Enter")
        for _ in range(500):
            if not (tmp_path / name).exists():
                page.value("new Promise((resolve) => setTimeout(resolve, 20))")
        assert (tmp_path / name).read_bytes().decode() == design[key]
    page.value("element('to-check').focus()")
    page.press("Enter")
    page.wait("location.pathname.endsWith('check.html') && document.readyState === 'complete'")
    assert verdict(page)[0] == 0
    shown = page.text("bound")
    page.choose_file("file", tmp_path / "proof.core")
    page.wait("document.querySelector('.verdict')?.textContent.includes('proof.core')")
    assert page.text("bound") == shown
    page.value("element('tamper').focus()")
    page.press("Enter")
    page.wait("document.querySelector('.verdict.bad')")
    assert verdict(page)[0] == 1


@pytest.mark.parametrize(
    "counts", [(5, 3, 1, 1, 7), (4, 4, 4, 4, 4, 4), (9, 0, 1, 30, 2, 2, 2), (10**14, 1, 0, 5, 1, 1, 3)]
)
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
def test_closed_forms_of_own_counts_are_those_of_python(page: Page, built: Path, counts: tuple, epsilon: str) -> None:
    page.open((built / "index.html").as_uri())
    page.wait("current")
    lines = "\n".join(f"a <b>, {x}; {n}" for x, n in enumerate(counts))
    page.value(f"element('question').value = OWN, element('counts').value = {json.dumps(lines)}, choose()")
    page.value(f"element('level').value = {epsilon}, element('level').dispatchEvent(new Event('input'))")
    labels = [f"a <b>, {x}" for x in range(len(counts))]
    assert page.value("current.names") == labels
    prior = rr.Prior.from_counts(dict(zip(labels, counts, strict=True)))
    logs = (math.log1p(float(p - 1)) if p > 0.5 else math.log(p) for p in prior.probabilities if p)
    nats = -sum(float(p) * log for p, log in zip(filter(None, prior.probabilities), logs, strict=True))
    found = page.value("current.designs.filter((one) => one.name !== 'best design')")
    subsets = rr.mechanisms.SubsetSelection(labels, epsilon=epsilon)
    designs = [rr.RandomizedResponse(labels, epsilon=epsilon), *([subsets] if subsets.t > 1 else [])]
    assert len(found) == len(designs)
    for one, own in zip(found, designs, strict=True):
        assert one["kept"] == pytest.approx(float(own.mutual_information(prior).lower) / nats, rel=1e-9)
        channel = own.mechanism if isinstance(own, rr.RandomizedResponse) else own
        assert one["variance"] == pytest.approx(float(variances(channel).max()), rel=1e-9)
    assert (
        parse_problem(page.value("problemText()")).compile()
        == rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(epsilon=epsilon)]).compile()
    )


def own_counts(page: Page, built: Path, counts: dict[str, int], epsilon: str) -> None:
    """The page Explore with counts of a visitor, after its proof was judged."""
    page.open((built / "index.html").as_uri())
    page.wait("current")
    lines = "\n".join(f"{label}, {n}" for label, n in counts.items())
    page.value(f"element('question').value = OWN, element('counts').value = {json.dumps(lines)}, choose()")
    page.value(f"element('level').value = {epsilon}, element('level').dispatchEvent(new Event('input'))")
    page.wait("element('closed').hidden && !element('proof').textContent.includes('about to')")


@pytest.mark.parametrize(
    ("counts", "epsilon"),
    [
        ((520, 310, 120, 50), "1"),
        ((1, 1), "0.1"),
        ((3, 0, 5), "2"),
        ((6, 6, 6, 6, 6, 6), "1.3"),
        ((100, 1, 1, 1, 1, 1, 1), "8"),
        ((40, 40, 40, 40, 20, 20, 20, 20, 10, 10), "1.5"),
        ((92149, 89, 8331, 3, 51545, 502, 8), "0.6"),
        ((999_999_999_999_999, 1, 1), "3.7"),
    ],
)
def test_own_counts_get_the_best_design_with_a_proof(
    page: Page, built: Path, tmp_path: Path, counts: tuple[int, ...], epsilon: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's value is that of `rropt solve`, and `rropt check` accepts what it saves, of the problem that it saves."""
    named = {["output 1", "b, c", "Output 2"][x] if x < 3 else f"c {x}": n for x, n in enumerate(counts)}
    own_counts(page, built, named, epsilon)
    assert page.text("proof").startswith("Proved on this device in ")
    assert page.value(
        "[...element('downloads').children].filter((one) => !one.hidden).map((one) => one.textContent)"
    ) == [f"Save {name}" for name in ("problem.toml", "mechanism.json", "certificate.json", "proof.core")]
    design = page.value("current.design")
    for name, key in (("problem.toml", "toml"), ("mechanism.json", "mechanism"), ("certificate.json", "certificate")):
        (tmp_path / name).write_text(design[key], encoding="utf-8")
    assert judged(design["proof"])[0] == 0
    capsys.readouterr()
    assert (
        cli.main(["check", "--core", str(tmp_path / "certificate.json"), "--problem", str(tmp_path / "problem.toml")])
        == 0
    )
    said = capsys.readouterr().out
    assert "PROVED (kernel and checker)" in said or "PROVED (verified core)" in said
    assert "OF THIS PROBLEM: the certificate states the declared problem" in said
    problem = parse_problem(design["toml"])
    solution = problem.solve(gap=1e-10)
    value, bound = (float(one) for one in re.findall(r"\d\.\d+(?= nats|\. The)", page.text("proof")))
    assert value == pytest.approx(solution.value, abs=1e-9)
    assert solution.bound - 1e-9 <= bound <= value + 1e-9
    # What it costs to estimate from it.
    mechanism, prior = Mechanism.load(tmp_path / "mechanism.json"), problem.objective.prior
    first = page.value("current.designs[0]")
    assert first["kept"] == pytest.approx(float(entropy_kept(mechanism, prior)), rel=1e-9)
    error, margin = squared_error(mechanism, prior), largest_margin(mechanism, 10**18)
    if error is None:
        assert first["error"] is first["variance"] is None
    elif first["error"] is not None:  # a nearly singular matrix may have no estimate on the page
        assert first["error"] == pytest.approx(error, rel=1e-6)
        assert 1.959963984540054 * math.sqrt(first["variance"] / 10**18) == pytest.approx(margin, rel=1e-6)


def test_own_counts_whose_proof_is_refused_are_not_called_the_best(page: Page, built: Path) -> None:
    own_counts(page, built, {"a": 5, "b": 3, "c": 1}, "1")
    page.value(
        "globalThis.keep = optimalDesign, optimalDesign = (...given) => { const found = keep(...given);"
        " return {...found, proof: found.proof.replace(/claim bound (.+) /, (_, n) => `claim bound ${BigInt(n) * 999n / 1000n} `)}; }, show()"
    )
    page.wait("!element('proof').textContent.includes('about to')")
    assert page.text("proof").startswith("This design is not proved to be the best")
    assert page.value("element('save-certificate').hidden && element('save-proof').hidden")
    # More categories than the page solves get closed formulas, and the command.
    lines = "\n".join(f"c{x}, {x + 1}" for x in range(11))
    page.value(f"element('counts').value = {json.dumps(lines)}, show()")
    assert page.value("element('certified').hidden && !element('closed').hidden")
    assert "best design" not in page.value("current.designs.map((one) => one.name)")


def test_hostile_labels_are_text(page: Page, built: Path, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)><script>document.title='bad'</script>"
    page.open((built / "index.html").as_uri())
    page.wait("current")
    page.value(f"element('question').value = OWN, element('counts').value = {json.dumps(hostile)} + ' 3', choose()")
    assert hostile[:40] in page.text("fault")
    own_counts(page, built, {hostile: 3, "b": 2}, "1")
    assert page.value("element('matrix').rows[1].cells[0].textContent") == hostile
    assert page.value("document.querySelectorAll('img, main script').length") == 0
    path = rr.Mechanism.from_matrix(
        [["1/3", "2/3"], ["2/3", "1/3"]], inputs=[hostile, "b"], outputs=["c", hostile]
    ).save(tmp_path / "m.json")
    page.open((built / "randomise.html").as_uri())
    page.choose_file("file", path)
    page.wait("!element('survey').hidden")
    assert page.value("document.querySelector('#options span').textContent") == hostile
    assert page.value("document.querySelectorAll('img, #options script').length") == 0
    assert page.value("document.title") == "rropt: randomise one answer"


# ---- Check ----


def verdict(page: Page) -> tuple[int, str]:
    """The verdict that the page shows, as exit status and last line."""
    page.wait("document.querySelector('.verdict') && element('running').hidden")
    line = str(page.value("element('printed').textContent.trim().split('\\n').at(-1)"))
    return {"PROVED": 0, "REFUTED": 1, "UNREADABLE": 2}[
        page.value("document.querySelector('.verdict').dataset.status")
    ], line


def check(page: Page, text: str) -> tuple[int, str]:
    page.value(f"check(new TextEncoder().encode({json.dumps(text)}), 'file'), 0")
    return verdict(page)


def agree(page: Page, text: str) -> int:
    """Page and kernel have one verdict; of a line that cannot be read both name the line."""
    (status, line), (expected, own) = check(page, text), judged(text)
    assert status == expected, text[:2000]
    said = [one.replace("verified core", "kernel").split(" column ")[0] for one in (line, own)]
    assert said[0] == said[1]
    return status


def test_examples_and_damaged_ones_have_the_verdict_of_the_command(page: Page, built: Path) -> None:
    """And each example with one digit changed is refuted."""
    page.open((built / "check.html").as_uri())
    files = {name: text for name, (_, text) in proof_files().items() if name.startswith("examples/")}
    assert len(files) > 20
    for name, text in files.items():
        assert agree(page, text) == 0, name
        assert page.value("element('tamper').hidden") is False, name
        page.value("element('tamper').click()")
        page.wait("running")
        assert verdict(page)[0] == 1, name
    draw = random.Random(25)
    seen = set()
    for name in draw.choices(sorted(files), k=50):
        seen.add(agree(page, next(mutants(files[name], 1, seed=draw.randrange(1 << 30)))))
    assert seen >= {1, 2}


@pytest.mark.parametrize(("name", "smaller"), [("linear", True), ("information-boxes", False)])
def test_a_file_is_checked_and_what_is_shown_is_what_was_printed(
    page: Page, built: Path, tmp_path: Path, name: str, smaller: bool
) -> None:
    _, text = proof_files()[f"examples/{name}"]
    (tmp_path / "proof.core").write_text(text, encoding="ascii")
    page.open((built / "check.html").as_uri())
    page.choose_file("file", tmp_path / "proof.core")
    assert verdict(page)[0] == 0
    lines = text.split("\n")
    problem = "".join(
        f"{line}\n" for line in lines[2 : next(i for i, line in enumerate(lines) if line.startswith("claim"))]
    )
    assert page.text("printed").startswith(f"problem {hashlib.sha256(problem.encode()).hexdigest()}\n")
    # Both ends are rounded outwards.
    ends = [Fraction(end) for end in re.findall(r"-?\d+/\d+", judged(text)[1])]
    low, high = (Fraction(page.text(one)) for one in (("bound", "value") if smaller else ("value", "bound")))
    assert ends[0] - Fraction(1, 10**9) < low <= ends[0]
    assert ends[1] <= high < ends[1] + Fraction(1, 10**9)
    words = "none has a smaller expected loss" if smaller else "none has a larger mutual information in nats"
    assert f"{words} than the proved bound" in page.text("statement")
    # What is not a proof file is said to be none.
    for other, content in (("bytes", bytes(range(128, 256))), ("empty", b"")):
        (tmp_path / other).write_bytes(content)
        page.value("element('verdict').replaceChildren()")
        page.choose_file("file", tmp_path / other)
        page.wait("document.querySelector('.verdict')")
        assert page.value("document.querySelector('.verdict').dataset.status") == "UNREADABLE"


# ---- Check: certificates ----


@pytest.fixture
def checking(page: Page, built: Path) -> Page:
    """The page Check with Python in it."""
    if not (built / "data" / "python.js").exists():
        pytest.skip("npm does not fetch Pyodide here")
    page.open((built / "check.html").as_uri())
    return page


def on_page(page: Page, files: dict[str, bytes], name: str = "file") -> tuple[str, str]:
    """The status that the page shows of files, and what it says was printed; or "" and its message."""
    given = [[path, base64.b64encode(data).decode()] for path, data in files.items()]
    page.value(
        f"checkFiles({json.dumps(given)}.map(([path, text]) => "
        f"[path, Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]), {json.dumps(name)}), 0"
    )
    return shown(page)


def shown(page: Page) -> tuple[str, str]:
    page.wait("!running && (document.querySelector('.verdict') || element('fault').textContent)")
    if page.text("fault"):
        return "", page.text("fault")
    return page.value("document.querySelector('.verdict').dataset.status"), page.text("printed")


def of_command(data: bytes) -> tuple[str, str]:
    """The status and the lines of `rropt check --core`. The kernel answers for rropt-core, which agrees with it."""

    def core(proof: bytes) -> list[str]:
        stated = json.loads(data)["problem"]
        return [*verified.read_as(stated, proof), verified.judge_kernel(proof).replace("(kernel)", "(verified core)")]

    verdict = verified.strengthen(check_bytes(data), data, core)
    return verdict.status, verdict.report()


def test_certificates_have_the_verdict_of_the_command(checking: Page) -> None:
    """Every example, each with one digit changed, and fifty damaged ones."""
    examples = {path.name: path.read_bytes() for path in sorted((ROOT / "docs" / "examples").glob("*.json"))}
    documents = [json.loads(data) for data in examples.values()]
    assert len(examples) > 30
    for name, data in examples.items():
        found = on_page(checking, {name: data})
        assert found == of_command(data), name
        assert found[0] == "PROVED"
        assert checking.text("statement")
        # Every lemma that is assumed is shown with its meaning.
        assumed = checking.value("[...element('assumptions').querySelectorAll('dt')].map((one) => one.textContent)")
        assert [f"assumption: {one}" for one in assumed] == [
            line for line in found[1].splitlines() if line.startswith("assumption: ")
        ]
        assert all(checking.value("[...element('assumptions').querySelectorAll('dd')].map((one) => one.textContent)"))
        by_core = "PROVED (verified core)" in found[1]
        assert ("proved in Coq (" in checking.text("rules")) is by_core
        checking.value("element('tamper').click()")
        assert shown(checking)[0] == "REFUTED", name
        assert "One digit was changed: in the " in checking.text("verdict")
    draw, seen = random.Random(25), set()
    for document in draw.choices(documents, k=50):
        (mutant,) = at_random(document, documents, 1, draw.randrange(1 << 30))
        found = on_page(checking, {"certificate.json": mutant.data})
        assert found == of_command(mutant.data), mutant.name
        seen.add(found[0])
    assert seen >= {"REFUTED", "UNREADABLE"}


def designed(folder: Path, counts: dict[str, int]) -> Path:
    """The folder that `rropt solve --out` writes."""
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(rr.Prior.from_counts(counts))), [rr.LDP(epsilon=1)])
    (folder.parent / "problem.toml").write_text(problem_to_toml(problem), encoding="utf-8")
    assert cli.main(["solve", str(folder.parent / "problem.toml"), "--out", str(folder)]) == 0
    return folder


def test_a_folder_and_its_archive_are_checked_with_what_lies_beside(
    checking: Page, built: Path, tmp_path: Path
) -> None:
    folder = designed(tmp_path / "design", {"a, b": 5, "=c": 3, 'say "d"': 2})
    files = {f"design/{path.name}": path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert {"design/mechanism.json", "design/mechanism.csv"} <= set(files)
    for give in (lambda: checking.choose_file("folder", folder), lambda: checking.drop("file", folder)):
        checking.value("element('verdict').replaceChildren(), element('fault').textContent = ''")
        give()
        assert shown(checking)[0] == "PROVED"
        assert checking.text("verdict").startswith("Proveddesign/certificate.json: ")
    assert checking.value("element('matrix').rows[2].cells[0].textContent") == "=c"

    def archive(given: dict[str, bytes]) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
            for name, data in given.items():
                written.writestr(name, data)
        return buffer.getvalue()

    assert on_page(checking, {"design.zip": archive(files)})[0] == "PROVED"
    # Another mechanism beside the certificate, in a number or in a name.
    for name, old, new in (
        ("design/mechanism.json", b'"=c"', b'"=e"'),
        ("design/mechanism.csv", b"0.5", b"0.6"),
        ("design/mechanism.csv", files["design/mechanism.csv"].splitlines()[-1], b""),
    ):
        assert old in files[name]
        changed = {**files, name: files[name].replace(old, new)}
        for given in (changed, {"design.zip": archive(changed)}):
            assert on_page(checking, given)[0] == "OTHER", (name, new)
            assert name.split("/")[1] in checking.text("verdict")
    # What cannot be judged gets one line.
    certificate = files["design/certificate.json"]
    twice = {"a/certificate.json": certificate, "b/certificate.json": certificate}
    large = archive({"certificate.json": bytes((1 << 28) + 1)})
    assert len(large) < 1 << 20
    for given, said in (
        ({"a/b.txt": b"", "a/c.txt": b""}, "has no certificate.json"),
        (twice, "2 files certificate.json"),
        ({"x.zip": archive(twice)}, "2 files certificate.json"),
        ({"x.zip": archive({"notes.txt": b"x"})}, "has no certificate.json"),
        ({"x.zip": b"PK\3\4" + bytes(40)}, "cannot be read"),
        ({"x.zip": archive(files)[:-30]}, "cannot be read"),
        ({"x.zip": large}, "larger than 256 MiB"),
        ({"x.zip": archive({f"{i}.txt": b"" for i in range(10_001)})}, "more than 10000 files"),
    ):
        status, message = on_page(checking, given)
        assert (status, message.count("\n")) == ("", 0)
        assert said in message
    # It still judges.
    assert on_page(checking, {"certificate.json": certificate})[0] == "PROVED"
    assert on_page(checking, {"certificate.json": b"[" * 100_000})[0] == "UNREADABLE"


def test_labels_of_a_certificate_are_text_and_long_checks_end(checking: Page, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)><script>document.title='bad'</script>"
    checking.choose_file("folder", designed(tmp_path / hostile.replace("/", "-"), {hostile: 5, "b": 3}))
    assert shown(checking)[0] == "PROVED"
    assert checking.value("element('matrix').rows[1].cells[0].textContent") == hostile
    assert checking.value("document.querySelectorAll('main img, main script').length") == 0
    assert checking.value("document.title") == "rropt: check a proof"
    # Python runs in its worker: cancelled while it loads, and while it checks, it starts again.
    data = (ROOT / "docs" / "examples" / "linear.json").read_bytes()
    for stage in ("", "python"):
        if stage:
            checking.value("pythonStarted.then(endWorker), pythonStarted = null, 0")
        checking.value(
            "checkFiles([['certificate.json', new TextEncoder().encode('{}')]], 'file'), element('cancel').click()"
        )
        checking.wait("!running")
        assert checking.text("fault") == "file: cancelled"
        assert on_page(checking, {"certificate.json": data})[0] == "PROVED"


def test_a_file_beyond_the_limit_is_not_read(page: Page, built: Path, tmp_path: Path) -> None:
    page.open((built / "check.html").as_uri())
    with (tmp_path / "certificate.json").open("wb") as file:
        file.truncate((1 << 28) + 1)
    page.choose_file("file", tmp_path / "certificate.json")
    page.wait("element('fault').textContent")
    assert "larger than 256 MiB" in page.text("fault")


def test_without_python_the_page_names_the_command(page: Page, built: Path) -> None:
    page.open((built / "check.html").as_uri())
    page.value("hasPython = false")
    data = (ROOT / "docs" / "examples" / "linear.json").read_bytes()
    assert "rropt check linear.json" in on_page(page, {"linear.json": data}, "linear.json")[1]


def test_decimal_numbers_are_rounded_to_their_side(page: Page, built: Path) -> None:
    page.open((built / "check.html").as_uri())
    draw = random.Random(7)
    cases = [(draw.randrange(-(10**a), 10**a), draw.randrange(1, 10**b), draw.choice((3, 12)), draw.random() < 0.5)
             for a in range(1, 30, 4) for b in range(1, 30, 4)]  # fmt: skip
    cases += [(999999, 1000000, 3, True), (-999999, 1000000, 3, False), (10**20, 7, 3, True), (1, 10**9, 3, True)]
    for n, d, digits, up in cases:
        text = page.value(f"decimal({n}n, {d}n, {digits}, {str(up).lower()})")
        found, exact = Fraction(text), Fraction(n, d)
        assert (found >= exact) if up else (found <= exact), (n, d, digits, up, text)
        assert abs(found - exact) <= abs(exact) * Fraction(10) ** (1 - digits), (n, d, digits, up, text)


def test_a_check_shows_progress_and_can_be_cancelled(page: Page, built: Path) -> None:
    text = proof_files()["examples/linear"][1]
    page.open((built / "check.html").as_uri())
    # Zeros that no rule forbids make the file long.
    long = text.replace("end\n", "")
    page.value("globalThis.seen = [], globalThis.keep = startProof")
    filler = json.dumps(long)
    page.value(
        "startProof = (bytes, progress) => keep(bytes, (stage, share) => { seen.push(share); progress(stage, share); }),"
        f"check(new TextEncoder().encode({filler} + 'x'.repeat(1 << 24)), 'file'), 0"
    )
    assert verdict(page)[0] == 2
    seen = page.value("seen")
    assert len(seen) > 10
    assert seen == sorted(seen)
    page.value(f"check(new TextEncoder().encode({filler} + 'x'.repeat(1 << 26)), 'file'), element('cancel').click()")
    page.wait("element('running').hidden")
    assert page.text("fault") == "file: cancelled"
    assert page.text("verdict") == ""


# ---- Randomise ----


def test_the_law_of_a_draw_is_the_row(page: Page, built: Path) -> None:
    """All 256 values of the one byte that a draw needs: as many of them give an output as its numerator is."""
    page.open((built / "randomise.html").as_uri())
    for row in ([3, 0, 4], [1, 99], [128, 127, 1], [256], [1]):
        mechanism = f"{{rows: [[{', '.join(f'{n}n' for n in row)}]], denominators: [{sum(row)}n]}}"
        script = f"""(() => {{
          const found = {[0] * len(row)}, stop = new Error("again");
          for (let byte = 0; byte < 256; byte++) {{
            let asked = 0;
            const source = (count) => {{ if (count !== 1) throw new Error("bytes"); if (asked++) throw stop; return [byte]; }};
            try {{ found[drawReport({mechanism}, 0, source)]++; }} catch (error) {{ if (error !== stop) throw error; }}
          }}
          return [found, 256 - found.reduce((sum, n) => sum + n), Object.keys(found).length];
        }})()"""
        times = 256 >> max((sum(row) - 1).bit_length(), 1)
        assert page.value(script) == [[n * times for n in row], 256 - times * sum(row), len(row)]


def test_a_hundred_thousand_draws_fit_the_matrix(page: Page, built: Path, tmp_path: Path) -> None:
    """A chi-square test, which a right program fails once in 10^9 times."""
    matrix = [["1/7", "2/7", "4/7"], ["3/10", "3/10", "2/5"]]
    path = rr.Mechanism.from_matrix(matrix).save(tmp_path / "mechanism.json")
    page.open((built / "randomise.html").as_uri())
    page.choose_file("file", path)
    page.wait("mechanism")
    for x, row in enumerate(np.array(rr.Mechanism.from_matrix(matrix))):
        count = "const n = [0, 0, 0]; for (let i = 0; i < 50000; i++) n[drawReport(mechanism, X)]++; return n;"
        drawn = page.value(f"(() => {{ {count.replace('X', str(x))} }})()")
        assert sum(drawn) == 50000
        assert scipy.stats.chisquare(drawn, 50000 * row).pvalue > 1e-9


@pytest.mark.parametrize("form", ["dense", "members", "off_diagonal", "groups"])
def test_mechanisms_are_read_as_python_reads_them(page: Page, built: Path, form: str) -> None:
    document = {
        "dense": {"inputs": ["a", "b"], "denominators": ["7", "9"], "outputs": ["c", "d"],
                  "columns": [{"dense": ["3", "4"]}, {"dense": ["4", "5"]}]},
        "members": {"inputs": list("abcdef"), "denominators": ["10"], "outputs": ["c", "d"],
                    "columns": [{"low": "3", "high": "7", "members": "25"}, {"low": "3", "high": "7", "members": "1a"}]},
        "off_diagonal": {"inputs": list("abc"), "denominators": ["10"], "off_diagonal": ["1", "2", "3"]},
        "groups": {"inputs": list("abcd"), "denominators": ["10"], "outputs": ["c", "d"], "groups": [0, 1, 1, 0],
                   "columns": [{"dense": ["3", "9"]}, {"dense": ["7", "1"]}]},
    }[form]  # fmt: skip
    text = json.dumps({"format": "rropt-mechanism", **document})
    page.open((built / "randomise.html").as_uri())
    own = Mechanism.parse(text, "file")
    found = page.value(
        f"(({{rows, denominators}}) => rows.map((row, x) => row.map((n) => `${{n}}/${{denominators[x]}}`)))(readMechanism({json.dumps(text)}))"
    )
    assert [[Fraction(cell) for cell in row] for row in found] == [
        [own.entry(x, y) for y in range(len(own.outputs))] for x in range(len(own.inputs))
    ]
    damaged = text.replace('"10"', '"5"').replace('"9"', '"8"')
    assert page.value(
        f"(() => {{ try {{ readMechanism({json.dumps(damaged)}); }} catch (error) {{ return error.message; }} }})()"
    )
    assert (
        page.value(f"sha256({json.dumps('é' * 100 + text)})") == hashlib.sha256(("é" * 100 + text).encode()).hexdigest()
    )


def test_a_reload_keeps_the_draw_and_the_true_answer_is_not_stored(page: Page, built: Path, tmp_path: Path) -> None:
    size = 64
    row = ["1/64"] * size
    mechanism = rr.Mechanism.from_matrix(
        [row, row], inputs=["true-a", "true-b"], outputs=[f"report {y}" for y in range(size)]
    )
    path = mechanism.save(tmp_path / "mechanism.json")
    # The same mechanism in other integers draws nothing new.
    again = tmp_path / "again.json"
    tripled = re.sub(r'"(\d+)"', lambda found: f'"{3 * int(found[1])}"', path.read_text(encoding="utf-8"))
    again.write_text(tripled, encoding="utf-8")

    def load(file: Path) -> None:
        page.choose_file("file", file)
        page.wait("!element('survey').hidden")

    page.open((built / "randomise.html").as_uri())
    page.value("localStorage.clear()")
    load(path)
    assert page.value("element('report').hidden && !element('form').hidden")
    page.value("document.querySelectorAll('#options input')[1].click(), element('draw').click()")
    first = page.text("report")
    assert page.value("document.querySelector('#options input:checked')") is None
    assert page.value("document.activeElement.id") == "report"
    assert re.fullmatch(r"The report to give: report \d+", first)
    for file in (path, again, path):
        page.reload()
        load(file)
        assert page.text("report") == first
        assert page.value("element('form').hidden")
    stored = page.value("JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage}) + document.cookie")
    assert "true-" not in stored
    assert first.rpartition(": ")[2] in stored
    # Another question is another draw: of twenty at least one is another report.
    found = set()
    for at in range(20):
        page.value(f"element('identifier').value = 'q{at}', element('identifier').dispatchEvent(new Event('input'))")
        assert page.value("element('report').hidden")
        page.value("document.querySelectorAll('#options input')[1].click(), element('draw').click()")
        found.add(page.text("report"))
    assert len(found) > 1


# ---- all pages ----

PAGES = ("index.html", "randomise.html#survey-yes-no:2", "check.html#ordinal-scale:3")
READY = ("current", "!element('survey').hidden", "document.querySelector('.verdict')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_fit_every_width_and_name_every_control(page: Page, built: Path, dark: bool) -> None:
    for name, ready in zip(PAGES, READY, strict=True):
        page.show(1400, dark)
        page.open(f"{built.as_uri()}/{name}")
        page.wait(ready)
        for width in (1400, 800, 360):
            page.show(width, dark)
            assert page.value("document.documentElement.scrollWidth") <= width, (name, width)
        nodes = page.ask("Accessibility.getFullAXTree")["nodes"]
        controls = [
            one
            for one in nodes
            if one.get("role", {}).get("value")
            in ("button", "slider", "combobox", "textbox", "radio", "spinbutton", "link", "table")
        ]
        assert len(controls) >= 3
        assert [one for one in controls if not one.get("name", {}).get("value")] == []


# Without what it would fetch itself.
AXE = """axe.run({ preload: false }).then(({ violations }) =>
  violations.map((one) => [one.id, one.help, ...one.nodes.map((node) => node.html).slice(0, 3)]))"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation(page: Page, built: Path, dark: bool) -> None:
    """The pages, each state that a visitor reaches, at the width of a telephone and of a desk."""
    modules = loaded(ROOT / "docs" / "tools" / "web_pages.py").node_packages()
    if modules is None:
        pytest.skip("npm does not fetch axe-core here")
    axe = (modules / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    changed = "element('tamper').click(), running.verdict.then(() => 0)"
    own = "element('question').value = OWN, choose()"
    states = [*((name, ready, "0") for name, ready in zip(PAGES, READY, strict=True))]
    states += [
        (PAGES[2], READY[2], changed),
        ("index.html", READY[0], own),
        ("check.html#survey-yes-no:2", READY[2], "0"),
    ]
    states += [(PAGES[1], READY[1], "document.querySelector('#options input').click(), element('draw').click()")]
    for name, ready, act in states:
        page.show(1400, dark)
        page.open(f"{built.as_uri()}/{name}")
        page.wait(ready)
        page.value(act)
        # A script that a page does not name may not run in it; the test's own is evaluated by the debugger.
        page.value(f"{axe};0")
        for width in (1400, 360):
            page.show(width, dark)
            assert page.value(AXE) == [], (name, width)
    # It looks: a field without a name is found.
    page.value("document.querySelector('main').append(made('input')), 0")
    assert "label" in [one for one, *_ in page.value(AXE)]


def test_pages_work_from_rropt_explore(page: Page, built: Path) -> None:
    server = page_server(built)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        page.open(f"http://127.0.0.1:{server.server_port}/check.html#census-column:1")
        assert verdict(page)[0] == 0
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
