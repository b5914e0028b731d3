"""The Python of every page runs, block after block, in an empty folder; the site has every page and every name."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import typer
from documented import loaded, other_messages
from drawing import graded

import rropt as rr
from rropt.cli.main import app
from rropt.declare.objectives import WORDS
from rropt.solve.registry import METHODS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "```python\n" in page.read_text(encoding="utf-8"))
LONG = ("bistochastic", "compare", "extend", "pictures-and-reports", "robust")
"""Pages that take seconds, and one whose blocks test_extend.py runs."""


def test_there_are_pages() -> None:
    assert len(PAGES) >= 1


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[list[str]], str]:
    """Runs the blocks of a page one after the other, in an empty folder and with no name but its own, and gives what
    they print. In this process: the start of an interpreter and the imports would take longer than most pages."""
    monkeypatch.chdir(tmp_path)

    def call(code: list[str]) -> str:
        capfd.readouterr()
        exec(compile("\n".join(code), "page", "exec"), {"__name__": "page"})
        printed = capfd.readouterr()
        assert printed.err == ""
        return printed.out

    return call


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page",
    graded([page for page in PAGES if page.stem not in LONG], [page for page in PAGES if page.stem in LONG]),
    ids=lambda page: page.stem,
)
def test_the_python_of_a_page_runs(page: Path, run: Callable[[list[str]], str]) -> None:
    """And prints the text that the page shows as printed."""
    printed = run(blocks(page, "python"))
    for shown in re.findall(r"(?ms)^<!-- printed -->\n```text\n(.*?)^```$", page.read_text(encoding="utf-8")):
        assert shown in printed


def test_a_page_in_a_process_of_its_own(tmp_path: Path) -> None:
    """That a page needs nothing which other tests have imported."""
    code = "\n".join(blocks(ROOT / "docs" / "start.md", "python"))
    done = subprocess.run([sys.executable, "-"], input=code, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_report_that_a_page_shows_is_the_one_that_is_printed(run: Callable[[list[str]], str]) -> None:
    """Word by word; of the numbers that depend on the processor the first nine digits, and that there is a gap."""
    page = ROOT / "docs" / "read-a-certificate.md"
    shown = blocks(page, "text")[1].splitlines()

    def known(line: str) -> str:
        return re.sub(r"\.(\d{9})\d*", r".\1", line.partition("  gap ")[0])

    assert [known(line) for line in run(blocks(page, "python")[:1]).splitlines()] == [known(line) for line in shown]
    assert sum("  gap " in line for line in shown) == 1


SHELL = sorted(page for page in (ROOT / "docs").rglob("*.md") if "```sh\n" in page.read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.parametrize("page", SHELL, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    commands = "\n".join(blocks(page, "sh"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, other_messages(done.stderr)) == (0, "")


def test_commands_in_the_text_of_pages_exist() -> None:
    """Also those that are in no block: `rropt models records`."""
    root = typer.main.get_command(app)
    wrong = []
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for words in re.findall(r"`rropt ((?:[a-z-]+ ?)+)", page.read_text(encoding="utf-8")):
            command: typer.core.TyperCommand | typer.core.TyperGroup | None = root
            for word in words.split():
                if isinstance(command, typer.core.TyperGroup) and not word.startswith("-"):
                    command = command.commands.get(word)
            if command is None:
                wrong.append(f"{page.name}: rropt {words}")
    assert wrong == []


def test_models_that_readers_are_told_to_copy_can_be_estimated_from() -> None:
    """A first problem of one's own must not end in a design that `estimate` refuses."""
    pages = [ROOT / "README.md", *PAGES, ROOT / "docs" / "problem-file.md"]
    copied = {
        name for page in pages for name in re.findall(r"rropt models copy ([\w-]+)", page.read_text(encoding="utf-8"))
    }
    names = {name.strip("`") for name in copied}
    assert names
    for name in sorted(names):
        mechanism = rr.load_problem(ROOT / "models" / f"{name}.toml").solve(gap=1e-3).mechanism
        assert mechanism is not None
        assert mechanism.rank == len(mechanism.inputs), name


def site_hook() -> ModuleType:
    pytest.importorskip("markdown", reason="the pages are built by the extra `docs`")
    return loaded(ROOT / "docs" / "site_hook.py")


def test_the_contents_of_the_site_have_every_page_that_is_there() -> None:
    """`make docs` builds the site and takes a warning for an error; this needs no mkdocs."""
    nav = ["index.md", {"A": [{"One": "one.md"}, {"Gone": "gone.md"}]}, {"B": [{"Lost": "lost.md"}]}]
    found = site_hook().contents(nav, {"index.md", "one.md", "new.md"})
    assert found == ["index.md", {"A": [{"One": "one.md"}]}, {"More": ["new.md"]}]
    named = set(re.findall(r"([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"index.md", "start.md", "claims.md", "api.md"} <= named


def test_the_site_gets_the_pages_that_make_web_built(tmp_path: Path) -> None:
    config = {"config_file_path": str(tmp_path / "mkdocs.yml"), "site_dir": str(tmp_path / "site")}
    site_hook().on_post_build(config)
    assert not (tmp_path / "site").exists()
    (tmp_path / "out" / "web" / "data").mkdir(parents=True)
    (tmp_path / "out" / "web" / "data" / "core.js").write_text("x", encoding="utf-8")
    site_hook().on_post_build(config)
    assert (tmp_path / "site" / "explore" / "data" / "core.js").read_text(encoding="utf-8") == "x"


def test_the_contents_of_the_site_name_every_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hooks run in the order of mkdocs.yml, as mkdocs runs them; the notebooks are not executed here."""
    pytest.importorskip("mkdocstrings", reason="the pages are built by the extra `docs`")
    from mkdocs.config import load_config
    from mkdocs.structure.files import get_files

    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    config = load_config(str(ROOT / "mkdocs.yml"))
    notebook_hook = config["hooks"]["docs/notebook_hook.py"]
    monkeypatch.setattr(notebook_hook, "rendered", lambda one: (f"# {one.stem}\n", {}, b""))
    monkeypatch.setattr(notebook_hook, "card", lambda one, thumbnail: one.stem)
    monkeypatch.setattr(notebook_hook, "drawn_page", lambda text, stem: (text, {}))
    for hook in config["hooks"].values():
        config = hook.on_config(config) if hasattr(hook, "on_config") else config
    files = get_files(config)
    monkeypatch.setattr(config["plugins"], "_current_plugin", "hooks", raising=False)  # as mkdocs does in a build
    for hook in config["hooks"].values():
        files = hook.on_files(files, config)
    named = set(re.findall(r"notebooks/[\w-]+\.md", repr(config["nav"])))
    assert named == {"notebooks/index.md", *(f"notebooks/{one.stem}.md" for one in notebook_hook.notebooks())}


def test_the_reference_has_every_public_name_once() -> None:
    hook = site_hook()
    text = hook.expanded((ROOT / "docs" / "api.md").read_text(encoding="utf-8"))
    told = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    assert sorted(told) == sorted(
        {place for name in rr.__all__ if name != "__version__" for place in hook.homes_of(name)}
    )
    with pytest.raises(KeyError, match="NoSuchName"):
        hook.expanded("<!-- names: Prior NoSuchName -->")


def test_the_page_of_problem_files_has_every_objective_with_its_keys() -> None:
    """In the checkout too, in the words of the classes."""
    page = (ROOT / "docs" / "problem-file.md").read_text(encoding="utf-8")
    text, *_ = page.split("**`[[constraint]]`**")
    rows = re.findall(r"^\| `\w+` \|.*\| \w+imize \|$", text, re.MULTILINE)
    wanted = []
    for word, kind in sorted(WORDS.items()):
        keys = "; ".join(f"`{key}`: {meaning}" for key, meaning in kind.words.items())
        meaning = " ".join((kind.__doc__ or "").partition("\n\n")[0].split()).replace("|", "\\|")
        wanted.append(f"| `{word}` | {keys} | {meaning} | {kind.sense} |")
    assert rows == wanted


def test_the_page_of_problem_files_has_every_method() -> None:
    page = (ROOT / "docs" / "problem-file.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `method` \|(.*)\|$", page, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(["auto", *(method.name for method in METHODS)])


def _counted(pattern: str, root: Path = ROOT) -> int:
    """Lines of the files of a pattern, with alternatives in braces."""
    start, _, rest = pattern.partition("{")
    names, _, end = rest.partition("}")
    files = [file for name in names.split(",") for file in root.glob(start + name + end)]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def test_pages_give_the_sizes_of_the_trusted_files_as_they_are() -> None:
    """Within a fiftieth, and for every row of the table."""
    page = (ROOT / "docs" / "verified-core.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| (`[^|]+`) \| ([\d,+ ]+) \|", page, re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows += [("`rropt/kernel.py`", size) for size in re.findall(r"kernel of ([\d,]+) lines", readme)]
    assert len(rows) >= 8
    for files, sizes in rows:
        names = re.findall(r"`([^`]+)`", files)
        folder = names[0].rpartition("/")[0]
        for name, size in zip(names, sizes.replace(",", "").split("+"), strict=True):
            now = _counted(name if "/" in name else f"{folder}/{name}")
            assert abs(now - int(size)) <= 0.02 * now, f"{name} has {now} lines"


NAMED = [
    ROOT / "SECURITY.md", *(ROOT / "docs" / "theory").glob("*.md"),
    *(ROOT / "docs" / f"{name}.md" for name in ("architecture", "certificate-format", "reliability", "verified-core")),
]  # fmt: skip


@pytest.mark.parametrize("page", NAMED, ids=lambda page: page.stem)
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    """Of the pages about the code: a path in backticks is in the checkout, in rropt/ or in rropt/solve/."""
    roots = [ROOT, ROOT / "rropt", ROOT / "rropt" / "solve", ROOT / "rropt" / "solve" / "engine"]
    named = re.findall(r"`((?:[a-z_]+/)+[\w*]*(?:\.[a-z]+)?)`", page.read_text(encoding="utf-8"))
    assert not [path for path in named if not any([*root.glob(path.rstrip("/"))] for root in roots)]


def test_the_parts_of_the_checker_have_the_sizes_that_the_page_gives() -> None:
    """Within a tenth or 20 lines, for every heading of the file and no other."""
    lines = (ROOT / "rropt" / "checker.py").read_text(encoding="utf-8").splitlines()
    found = [(i, heading[1]) for i, line in enumerate(lines) if (heading := re.fullmatch(r"# (\d\. .+)", line))]
    sizes = {name: end - i for (i, name), (end, _) in zip(found, [*found[1:], (len(lines), "")], strict=True)}
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    said = {
        name: int(size.replace(",", ""))
        for name, size in re.findall(r"^\| (\d\. .+) \| ([\d,]+) \|$", page, re.MULTILINE)
    }
    assert said.keys() == sizes.keys()
    assert not [name for name, size in sizes.items() if abs(size - said[name]) > max(20, size // 10)]


def test_entries_of_matrices_are_no_links() -> None:
    text = "a[x][y], [a link](x.md), `b[x][y]`\n```py\nc[0][1]\n```\n"
    assert site_hook().unlinked(text) == text.replace("a[x][y]", "a[x]\\[y]")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_a_product_is_not_emphasis(page: Path) -> None:
    """a*b*c would be shown as a, b in italics, and c."""
    outside = re.sub(r"(?ms)^```.*?^```$|`[^`]*`", "", page.read_text(encoding="utf-8"))
    assert not re.findall(r".*[\w)\]}]\*[\w(\[{].*", outside)


def test_a_list_after_a_paragraph_is_shown_as_one() -> None:
    text = "A\nb:\n- c\n- d\n  e\n\n1. f\n2. g\n\n```\nx\n- y\n```\n"
    assert site_hook().listed(text) == text.replace("b:\n", "b:\n\n")


def test_examples_in_docstrings_are_code() -> None:
    """Further in than the text around them, since Markdown takes >>> at its margin for quotations."""
    quoted = [
        f"{path.name}: {line}"
        for path in sorted((ROOT / "rropt").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for line in (ast.get_docstring(node) or "").splitlines()
        if line.startswith(">>>")
    ]
    assert not quoted


def test_a_long_file_becomes_pages_whose_links_lead_to_headings() -> None:
    sources = {
        "a.md": "# A\n\nSee [c](#c-d).\n\n<!-- page: b -->\n## B\n\n```sh\n## no heading\n```\n\n"
        "<!-- page: c The C -->\n### C `d`\n\n[B](#b), [A](#a), [here](#c-d)\n",
        "theory/x.md": "# X\n\n[C](../a.md#c-d), `[C](../a.md#c-d)`, [X](#x)\n",
    }
    found = site_hook().site(sources)
    assert found == {
        "a.md": "# A\n\nSee [c](c.md#c-d).\n\n## On further pages\n\n- [B](b.md)\n- [The C](c.md)\n",
        "b.md": "# B\n\n```sh\n## no heading\n```\n\n",
        "c.md": "# The C\n\n## C `d`\n\n[B](b.md#b), [A](a.md#a), [here](#c-d)\n",
        "theory/x.md": "# X\n\n[C](../c.md#c-d), `[C](../a.md#c-d)`, [X](#x)\n",
    }
