"""`rropt report`: what the page says of proved, tampered, contradicting and unreadable results, and in a browser."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import pytest
from drawing import graded, thinned
from rropt.models.plots import Curve, Figure, Panel

import rropt as rr
from rropt.cli import main as cli
from rropt.declare.constraints import Constraint
from rropt.declare.objectives import WORDS, Objective
from rropt.studies.reports.descriptions import CONSTRAINTS
from rropt.studies.reports.report import read_report, report_of, write_report

PRIOR = rr.Prior.from_counts({"<b>never</b>": 40, "seldom & rarely": 30, "often": 20, "always": 10})
LABELS = PRIOR.labels


def solved(problem: rr.Problem, folder: Path, **options: object) -> Path:
    """The folder that `rropt solve --out` writes."""
    cli.write_results(problem.solve(**options), folder)
    return folder


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(1)], name="<i>survey<br>")
    return solved(problem, tmp_path_factory.mktemp("solved") / "result")


def copied(folder: Path, target: Path, name: str, change: Callable[[dict], object]) -> Path:
    """A copy of a result with one of its files changed."""
    shutil.copytree(folder, target)
    document = json.loads((target / name).read_text(encoding="utf-8"))
    change(document)
    (target / name).write_text(json.dumps(document), encoding="utf-8")
    return target


def tampered(folder: Path, target: Path) -> Path:
    """The bound of the certificate is moved down onto the value: a claim that its proof does not bear out."""
    return copied(folder, target, "certificate.json", lambda told: told.update(bound=told["value"]["lower"]))


class Page(HTMLParser):
    """The tags, their attributes and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)
        assert self.open == [], "a tag is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_proved_result(result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.html"
    assert cli.main(["report", str(result), "-o", str(out)]) == 0
    assert capsys.readouterr() == (f"wrote {out}: proved\n", "")
    page = Page(out.read_text(encoding="utf-8"))
    assert "Proved" in page.words
    assert "REFUTED" not in page.words
    verdict = rr.check(str(result / "certificate.json"))
    for line in verdict.report().splitlines():
        assert line in page.words
    assert "proof in lines" in page.words
    assert "rropt check certificate.json" in page.words
    # The value in bits, rounded down, as the solve said it.
    value = json.loads((result / "solution.json").read_text(encoding="utf-8"))["value"]
    assert f"attains {value:.8f}"[:-1] in page.words
    assert sum(tag == "rect" for tag, _ in page.tags) == len(LABELS) * len(read_report(result).mechanism.outputs)


def test_a_screen_reader_finds_the_text_and_a_keyboard_what_scrolls(result: Path, tmp_path: Path) -> None:
    """The rules of axe that pages broke: one main landmark with all of the text, no empty heading of a column, and
    focus on every part that scrolls."""
    write_report(result, out := tmp_path / "report.html")
    text = out.read_text(encoding="utf-8")
    assert re.fullmatch(r"(?s).*<body>\s*<main>.*</main>\s*</body>\s*</html>\s*", text)
    assert not re.search(r"<th[^>]*></th>", text)
    scrolling = [attrs for tag, attrs in Page(text).tags if tag == "pre" or attrs.get("class") == "wide"]
    assert len(scrolling) > 3
    assert all(attrs.get("tabindex") == "0" for attrs in scrolling)


def test_no_line_breaks_between_a_number_and_its_unit(result: Path, tmp_path: Path) -> None:
    """What may be copied has plain spaces: the checker's lines, and the problem file."""
    rr.write_report(result, tmp_path / "report.html")
    words = Page((tmp_path / "report.html").read_text(encoding="utf-8")).words
    assert "seldom & rarely (30\u00a0%)" in words
    assert re.search(r"attains 0\.\d+\u00a0bits", words)
    assert not re.search(r"\d (?:%|nats|bits)", words)
    copied = rr.problem_file.parse_problem("schema = 1" + words.partition("schema = 1")[2])
    assert copied.objective.prior == PRIOR


def test_the_file_itself_is_taken_too(result: Path, tmp_path: Path) -> None:
    assert rr.write_report(result / "solution.json", tmp_path / "a.html").word == "proved"
    rr.write_report(result, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_nothing_is_fetched_and_labels_are_no_markup(result: Path, tmp_path: Path) -> None:
    rr.write_report(result, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "<b>never</b>" in page.words
    assert "<i>survey<br>" in page.words
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint({"b", "i", "br", "script", "link", "img", "iframe", "object"})
    assert not {name for _, attributes in page.tags for name in attributes} & {"src", "href", "onload", "style"}
    assert "url(" not in text
    assert "@import" not in text


def test_a_tampered_certificate_is_refuted_in_red(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tampered(result, tmp_path / "bad")
    out = tmp_path / "report.html"
    assert cli.main(["report", str(bad), "-o", str(out)]) == 1
    assert re.fullmatch(r"rropt: REFUTED: .+\n", capsys.readouterr().err)
    page = Page(out.read_text(encoding="utf-8"))
    assert "REFUTED" in page.words
    assert "Proved" not in page.words
    assert "(refuted)" in page.words
    boxes = [attributes["class"] for _, attributes in page.tags if "verdict" in (attributes.get("class") or "")]
    assert boxes == ["verdict bad"]


def test_an_unreadable_certificate(result: Path, tmp_path: Path) -> None:
    shutil.copytree(result, tmp_path / "bad")
    (tmp_path / "bad" / "certificate.json").write_text("{", encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "bad"), "-o", str(tmp_path / "r.html")]) == 2
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "UNREADABLE" in page.words
    assert "Proved" not in page.words


def swap(told: dict) -> None:
    rows = told["mechanism"]["numerators"]
    rows[0], rows[1] = rows[1], rows[0]


CONTRADICTIONS = {
    "another value": (lambda told: told.update(value=told["value"] * 1.01), "says value"),
    "another bound": (lambda told: told.update(bound=told["bound"] / 1.01), "says bound"),
    "another mechanism": (swap, "shows another mechanism"),
    "another problem": (
        lambda told: told.update(problem=told["problem"].replace("epsilon = 1\n", "epsilon = 0.5\n")),
        "of another problem",
    ),
    "another prior": (lambda told: told.update(problem=told["problem"].replace("20,", "21,")), "of another problem"),
    "another status": (lambda told: told.update(status="infeasible"), "says infeasible"),
    "a status that is none": (lambda told: told.update(status="optimal"), "'optimal' is not a status"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_files_that_contradict_each_other(result: Path, tmp_path: Path, name: str) -> None:
    change, said = CONTRADICTIONS[name]
    report = rr.write_report(copied(result, tmp_path / "bad", "solution.json", change), tmp_path / "r.html")
    assert (report.word, report.exit_status) == ("contradicted", 1)
    assert any(said in line for line in report.contradictions)
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "contradict each other" in page.words
    assert all(line in page.words for line in report.contradictions)


@pytest.fixture(scope="module")
def least(tmp_path_factory: pytest.TempPathFactory) -> Path:
    loss = rr.ExpectedLoss(PRIOR, [[abs(x - y) for y in range(4)] for x in range(4)])
    return solved(rr.Problem(rr.Minimize(loss), [rr.LDP(1)]), tmp_path_factory.mktemp("least") / "result")


@pytest.mark.parametrize("seed", graded(range(8), range(8, 24)))
def test_a_status_is_held_to_the_gap_that_is_proved(result: Path, least: Path, tmp_path: Path, seed: int) -> None:
    """The bound of the certificate is loosened: it is proved all the same, and no longer certifies a small gap."""
    rng = random.Random(seed)
    folder, sign = rng.choice([(result, 1), (least, -1)])
    loose, wanted, absolute = rng.choice([0, 1e-7, 1e-5, 1e-3, 0.3]), rng.choice([1e-8, 1e-6, 1e-4, 0.5]), 0.0
    absolute = rng.choice([0.0, 0.0, 0.01])
    status = rng.choice(["certified", "certified", "certified", "bounded"])

    def loosen(told: dict) -> None:
        bound = Fraction(told["bound"]) * (1 + sign * Fraction(loose))
        told["bound"] = f"{bound.numerator}/{bound.denominator}"

    copied(folder, tmp_path / "loose", "certificate.json", loosen)
    verdict = rr.check(str(tmp_path / "loose"))
    assert verdict.proved
    unit = math.log(2) if folder is result else 1.0
    limit = float(verdict.upper if sign > 0 else verdict.lower) / unit

    def told(document: dict) -> None:
        document.update(status=status, bound=limit, target_gap=wanted, target_absolute_gap=absolute)

    report = read_report(copied(tmp_path / "loose", tmp_path / "told", "solution.json", told))
    gap = float(verdict.gap) / unit
    false = status == "certified" and gap > min(max(wanted * abs(limit), absolute), abs(limit) / 100)
    assert report.word == ("contradicted" if false else "proved"), report.contradictions
    assert any("says certified" in line for line in report.contradictions) == false


def test_a_solution_in_memory_is_held_to_its_gap_too() -> None:
    prior = rr.Prior.from_counts([18, 73, 98, 9])
    made = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), [rr.LDP(1)]).solve(gap=0.009)
    assert made.gap is not None
    assert made.gap > 1e-9, "a problem whose first bound is not the optimum"
    assert report_of(made).word == "proved"
    assert report_of(replace(made, status="certified", target_gap=1e-12)).word == "contradicted"


def test_certified_without_a_certificate_is_a_contradiction(result: Path, tmp_path: Path) -> None:
    copied(result, tmp_path / "none", "solution.json", lambda told: told.update(certificate=None))
    (tmp_path / "none" / "certificate.json").unlink()
    report = read_report(tmp_path / "none")
    assert (report.word, report.exit_status) == ("contradicted", 1)


def test_a_certificate_that_is_gone_and_one_that_never_was(result: Path, tmp_path: Path) -> None:
    shutil.copytree(result, tmp_path / "gone")
    (tmp_path / "gone" / "certificate.json").unlink()
    assert read_report(tmp_path / "gone").word == "contradicted"
    shutil.copytree(tmp_path / "gone", tmp_path / "none")
    path = tmp_path / "none" / "solution.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "certificate": None, "status": "bounded"}), encoding="utf-8"
    )
    report = rr.write_report(tmp_path / "none", tmp_path / "r.html")
    assert (report.word, report.exit_status) == ("not checked", 0)
    assert "(not machine-checked)" in Page((tmp_path / "r.html").read_text(encoding="utf-8")).words


def problems() -> dict[str, rr.Problem]:
    trace, loss = (
        rr.Maximize(rr.Trace(PRIOR)),
        rr.Minimize(rr.ExpectedLoss(PRIOR, [[abs(x - y) for y in range(4)] for x in range(4)])),
    )
    pairs = rr.Prior.from_counts([[35, 65], [10, 90]], pairs=rr.Pairs(["s", "t"], ["u", "v"]))
    return {
        "robust": rr.Problem(
            rr.Maximize(rr.MutualInformation(pairs)), [rr.RLDP(1, rr.robust.ChiSquareSet(pairs), form="exact")]
        ),
        "metric": rr.Problem(
            rr.Maximize(rr.ChiSquareInformation(PRIOR)), [rr.MetricDP(nx.path_graph(LABELS), epsilon=1)]
        ),
        "risk": rr.Problem(rr.Minimize(rr.MinimaxRisk(rr.Prior.uniform(3))), [rr.LDP(1)]),
        "off-diagonal": rr.Problem(
            rr.Maximize(rr.MutualInformation(rr.Prior.uniform(12))), [rr.LDP(1), rr.patterns.UniformOffDiagonal()]
        ),
        "bistochastic": rr.Problem(trace, [rr.patterns.Bistochastic(), rr.EntropyRate("0.3")]),
        "invariant": rr.Problem(trace, [rr.Invariant(PRIOR), rr.LDP(1)]),
        "floor": rr.Problem(loss, [rr.LDP(2), rr.Floor("0.3")]),
        "approximate": rr.Problem(trace, [rr.ApproximateLDP(1, delta="0.01")]),
        "mixture": rr.Problem(trace, [rr.patterns.PermutationMixture(weights={"identity": (0, "0.4")})]),
        "infeasible": rr.Problem(trace, [rr.LDP(1), rr.Floor("0.9")]),
        "bayes": rr.Problem(rr.Maximize(rr.BayesSuccess(PRIOR)), [rr.LDP(1)]),
    }


@pytest.mark.parametrize("name", thinned(problems(), 2))
def test_every_kind_of_result_is_consistent(name: str, tmp_path: Path) -> None:
    """No contradiction is found where there is none, and the page says what the checker says."""
    problem = problems()[name]
    solution = problem.solve()
    report = rr.write_report(solved(problem, tmp_path / "r"), tmp_path / "r.html")
    assert report.contradictions == ()
    assert report.word == ("proved" if solution.verdict is not None and solution.verdict.proved else "not checked")
    assert rr.write_report(solution, tmp_path / "s.html").word == report.word
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    if solution.status == "infeasible":
        assert "No mechanism satisfies all the constraints together" in page.words
    else:
        assert any(tag == "svg" for tag, _ in page.tags)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this is not JSON"),
        ("[]", "this is not a solution"),
        ('{"format": "rropt-solution"}', "'problem'"),
    ],
)
def test_bad_input_is_one_line(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "solution.json").write_text(text, encoding="utf-8")
    assert cli.main(["report", str(tmp_path), "-o", str(tmp_path / "r.html")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "r.html").exists()


def test_a_folder_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(tmp_path / "nosuch")]) == 2
    assert "there is no solution here" in capsys.readouterr().err


def test_every_word_of_a_problem_file_has_a_sentence() -> None:
    def kinds(base: type) -> set[str]:
        found = set()
        for one in base.__subclasses__():
            own = vars(one).get("kind")
            if own is not None and one.__module__.startswith("rropt.") and "studies" not in one.__module__:
                found.add(own)
            found |= kinds(one)
        return found

    assert kinds(Objective) == WORDS.keys()
    assert all(kind.sentence or "explain" in vars(kind) for kind in WORDS.values())
    assert kinds(Constraint) == CONSTRAINTS.keys()


def words_of(solution: rr.Solution, tmp_path: Path) -> str:
    rr.write_report(solution, tmp_path / "r.html")
    return Page((tmp_path / "r.html").read_text(encoding="utf-8")).words.replace("\u00a0", " ")


@pytest.mark.parametrize("late", [True, False])
def test_a_report_says_why_a_bounded_solve_stopped(
    late: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the page and in the terminal as after the solve, from the folder and from memory; a proved optimum has none."""
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1), rr.Invariant(PRIOR)])
    solution = problem.solve(time_limit=1e-6) if late else problem.solve()
    assert solution.status == ("bounded" if late else "certified")
    cli.write_results(solution, tmp_path / "result")
    why = re.findall(r"(?m)^stopped +(.+)$", str(solution))
    assert len(why) == late
    capsys.readouterr()
    assert cli.main(["report", str(tmp_path / "result"), "-o", str(tmp_path / "report.html")]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [f"note: bounded: {line}" for line in why]
    for page in (tmp_path / "report.html", tmp_path / "memory.html"):
        if page.name == "memory.html":
            rr.write_report(solution, page)
        words = Page(page.read_text(encoding="utf-8")).words
        assert all(line in words for line in why)
        assert ("stopped" in words) == late


def test_one_number_is_not_told_as_two_that_differ_in_their_rounding(tmp_path: Path) -> None:
    """The optimum is 9/5; its ends, rounded outwards, were 1.79999999 and 1.80000001, "optimal to within 6e-16"."""
    loss = rr.ExpectedLoss(rr.Prior.uniform(2), [[0, 1], [1, 0]])
    rule = rr.LinearConstraint([[1, 0], [0, 1]], "<=", "9/5")
    solution = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=["a", "b"]).solve()
    least = rr.Problem(rr.Minimize(loss), [rule]).solve()
    told = words_of(solution, tmp_path)
    assert re.search(r"attains 1\.8 \(.+\)\. No mechanism .+ can attain more \(within \d\.?\d*e-\d+\)\. An", told)
    told = told.partition("The certificate")[0]  # the checker's own lines have twelve digits
    assert "1.79999999" not in told
    assert "1.80000001" not in told
    assert re.search(r"attains 0\.1 \(.+\)\. No mechanism .+ can attain less \(within", words_of(least, tmp_path))


def test_a_gap_that_shows_is_told_by_both_ends(tmp_path: Path) -> None:
    """And with its unit."""
    problem = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR, units="bits")), [rr.LDP(1)])
    told = words_of(problem.solve(gap="0.5"), tmp_path)
    found = re.search(r"attains ([\d.]+) bits .+ can attain more (than |\(within )([\d.e-]+) bits", told)
    assert found is not None
    assert found[2] != "than " or float(found[1]) < float(found[3])


def test_every_number_has_its_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The solve is in bits, what the checker says in nats, and a limit in the unit of its objective."""
    bits = rr.MutualInformation(PRIOR, units="bits")
    limits = [rr.LDP(1), rr.AtMost(bits, "0.1")]
    assert limits[1].describe() == "mutual information at most 0.1 bits"
    assert rr.AtMost(rr.MutualInformation(PRIOR), "0.1").describe() == "mutual information at most 0.1 nats"
    assert rr.AtMost(rr.BayesSuccess(PRIOR), "0.6").describe() == "bayes success at most 0.6"
    solution = rr.Problem(rr.Maximize(bits), [rr.LDP(1)]).solve()
    told = words_of(solution, tmp_path)
    assert "The checker's output when this page was written, with values in nats:" in told
    assert re.search(r"attains [\d.]+ bits .+ can attain more (than |\(within )[\d.e-]+ bits", told)
    solution.problem.save(tmp_path / "p.toml")
    assert cli.main(["solve", str(tmp_path / "p.toml"), "--out", str(tmp_path / "o")]) == 0
    assert "Certificate check (values in nats)" in capsys.readouterr().out
    trace = rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.LDP(1)]).solve()
    assert "in nats" not in words_of(trace, tmp_path)


def test_a_risk_that_is_kept_by_renaming_is_told(tmp_path: Path) -> None:
    """The intruder of the bound does not use the mechanism: one who does looks where the records went."""
    counts = {"a": 3, "b": 3, "c": 30, "d": 40}
    prior = rr.Prior.from_counts(counts)
    rules = [rr.Invariant(counts), rr.IdentificationRisk(counts, "0.15")]
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(prior)), rules).solve(time_limit=10)
    mechanism = solution.mechanism
    assert mechanism is not None
    assert mechanism.matrix[0, 1] > 1 - 1e-9
    (note,) = [one for one in solution.warnings if "renam" in one]
    assert "'a' as 'output 2'" in note
    assert "'b' as 'output 1'" in note
    assert note in words_of(solution, tmp_path)
    loss = rr.ExpectedLoss(prior, [[int(x != y) for y in range(4)] for x in range(4)])
    blocks = rr.IdentificationRisk(counts, "0.15", blocks="auto")
    assert not any("renam" in one for one in rr.Problem(rr.Minimize(loss), [blocks]).solve().warnings)


# ---- in a browser ------------------------------------------------------------------------------------

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here (Debian: apt-get install chromium)")

PROBE = """<!DOCTYPE html><body style="margin:0"><pre id="out"></pre><script>
const pages = PAGES, found = [];
for (const text of pages) {
  const frame = document.createElement("iframe");
  frame.style = "width:400px;height:900px;border:0";
  frame.onload = () => {
    const inner = frame.contentDocument, root = inner.documentElement, view = frame.contentWindow;
    const box = inner.querySelector(".verdict"), style = view.getComputedStyle(box);
    const sizes = [...inner.querySelectorAll("p, li, td, th, code")].map(e => view.getComputedStyle(e).fontSize);
    found.push({
      scroll: root.scrollWidth, width: root.clientWidth, ink: style.color, back: style.backgroundColor,
      page: view.getComputedStyle(inner.body).backgroundColor, words: box.innerText,
      smallest: Math.min(...sizes.map(parseFloat)), map: inner.querySelector("svg").clientWidth,
      fetched: view.performance.getEntriesByType("resource").length});
    if (found.length == pages.length) document.getElementById("out").textContent = JSON.stringify(found);
  };
  frame.srcdoc = text;
  document.body.append(frame);
}
</script>"""


def chromium(tmp_path: Path, *arguments: str) -> str:
    quiet = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
    own = (f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=4000")
    done = subprocess.run(
        [str(BROWSER), *quiet, *own, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def shown(pages: list[Path], tmp_path: Path, dark: bool) -> dict[str, dict]:
    """What a browser makes of each page in a window of 400 pixels, by the first word of its verdict."""
    texts = json.dumps([page.read_text(encoding="utf-8") for page in pages]).replace("</", "<\\/")
    (tmp_path / "probe.html").write_text(PROBE.replace("PAGES", texts), encoding="utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    dom = chromium(tmp_path, scheme, "--dump-dom", (tmp_path / "probe.html").as_uri())
    found = re.search(r'<pre id="out">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None
    return {one["words"].split()[0]: one for one in json.loads(unescape(found[1]))}


def rgb(text: str) -> tuple[float, ...]:
    return tuple(float(number) for number in re.findall(r"[\d.]+", text)[:3])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as the Web Content Accessibility Guidelines define it."""

    def light(colour: str) -> float:
        parts = [part / 255 for part in rgb(colour)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@needs_browser
@pytest.mark.parametrize(
    "dark", [pytest.param(False, id="light", marks=pytest.mark.long), pytest.param(True, id="dark")]
)
def test_a_browser_shows_both_verdicts_in_their_colours_at_400_pixels(result: Path, tmp_path: Path, dark: bool) -> None:
    rr.write_report(result, tmp_path / "good.html")
    rr.write_report(tampered(result, tmp_path / "bad"), tmp_path / "bad.html")
    found = shown([tmp_path / "good.html", tmp_path / "bad.html"], tmp_path, dark)
    assert found.keys() == {"Proved", "REFUTED"}
    for one in found.values():
        assert one["width"] == 400
        assert one["scroll"] <= 400, "the page is wider than its window"
        assert 0 < one["map"] <= 400
        assert one["smallest"] >= 12
        assert one["fetched"] == 0
        assert contrast(one["ink"], one["back"]) > 4.5
        assert (sum(rgb(one["page"])) < 200) is dark
    red, green, blue = rgb(found["REFUTED"]["ink"])
    assert red > 1.5 * max(green, blue)
    red, green, blue = rgb(found["Proved"]["ink"])
    assert green > max(red, blue)


def png_pixels(path: Path) -> int:
    """How many different bytes the picture of a screenshot holds: one that is blank has next to none."""
    data, at, body = path.read_bytes(), 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            body += data[at + 8 : at + 8 + length]
        at += length + 12
    return len(set(zlib.decompress(body)))


@needs_browser
def test_a_browser_paints_it(result: Path, tmp_path: Path) -> None:
    rr.write_report(result, tmp_path / "report.html")
    picture = tmp_path / "shot.png"
    chromium(tmp_path, f"--screenshot={picture}", "--window-size=800,1200", (tmp_path / "report.html").as_uri())
    assert png_pixels(picture) > 50


def test_the_report_of_a_column_does_not_name_the_model_whose_rules_were_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("level\n" + "HS-grad\n" * 5 + "10th\n" * 3 + "11th\n" * 2)
    assert cli.main(["solve", "adult-pram", "--data", "people.csv", "--column", "level", "--out", "o"]) == 0
    assert "adult-pram" not in capsys.readouterr().out
    assert cli.main(["report", "o", "-o", "r.html"]) == 0
    # The problem file at the end is the one that was solved, with its name.
    shown = Path("r.html").read_text(encoding="utf-8").split("<h2>To solve it again</h2>")[0]
    assert "adult-pram" not in shown
    assert shown.count("column &#x27;level&#x27; of people.csv") >= 3


def test_a_mechanism_without_privacy_is_not_said_to_guarantee_any(tmp_path: Path) -> None:
    told = words_of(rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [rr.patterns.Tridiagonal()]).solve(), tmp_path)
    assert "It does not guarantee any privacy: some output excludes an answer." in told
    assert "It guarantees" not in told


def test_one_constraint_that_cannot_be_met_is_told_in_the_singular(tmp_path: Path) -> None:
    one = rr.AtMost(rr.BayesSuccess(PRIOR), "0.1")
    told = words_of(rr.Problem(rr.Maximize(rr.Trace(PRIOR)), [one]).solve(), tmp_path)
    assert "No mechanism satisfies the constraint bayes success at most 0.1." in told


def test_no_line_breaks_within_a_number(tmp_path: Path) -> None:
    """A hyphen may end a line: "3.4e-" and "7 nats" stood on two."""
    solution = rr.Problem(rr.Maximize(rr.MutualInformation(PRIOR)), [rr.LDP(1)]).solve(gap=1e-5)
    rr.write_report(solution, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8").partition("<h2>The certificate")[0]
    numbers = re.findall(r".{20}\d\.?\d*e-\d+\u00a0nats.{7}", page)
    assert numbers
    for number in numbers:
        assert re.search(r"<span>[\d.]+e-\d+\u00a0nats</span>", number), number
    assert re.search(r"span \{[^}]*white-space: nowrap", page)


def picture(scattered: bool, height: float) -> str:
    curve = Curve.through("one", [(0.0, -height), (1.0, height)])
    return Figure("f", "title", (Panel("p", "x", "y", (curve,), scattered=scattered),), "note").svg()


def test_numbers_of_an_axis_do_not_reach_its_name() -> None:
    for height in (0.0006, 1.0, 40_000.0):
        text = picture(False, height)
        labels = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="end"[^>]*>([^<]*)<', text)
        assert labels
        for x, label in labels:
            assert float(x) - 6.5 * len(label) > 14


def test_the_legend_of_points_has_points() -> None:
    dots, lines = (re.findall(r"<circle", picture(scattered, 1.0)) for scattered in (True, False))
    assert (len(dots), len(lines)) == (3, 0)
    assert "h22" not in picture(True, 1.0)
    assert "h22" in picture(False, 1.0)
