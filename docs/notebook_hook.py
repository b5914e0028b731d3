"""Runs the notebooks of docs/notebooks, and the Python of pages that ask for it, without Jupyter.

For mkdocs each notebook becomes a page with what its cells print and draw. `<!-- gallery -->` becomes a list of the
notebooks with a thumbnail each. A page with `<!-- pictures -->` shows behind each block of Python what that block draws.
A cell that draws runs once more for the dark picture, so it must not depend on being run once.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
SLATE = "#1e2129"
"""The background of the dark site."""
STYLES: dict[str, list[Any]] = {
    "light": ["default"],
    "dark": ["dark_background", {f"{part}.facecolor": SLATE for part in ("figure", "axes", "savefig")}],
}
WIDTH = 88
"""Characters of a printed line on the site."""
GALLERY, PICTURES = "<!-- gallery -->", "<!-- pictures -->"
BLOCK = re.compile(r"(?ms)^```python\n(.*?)^```$")


@dataclass
class Output:
    """The output of a cell: what it printed and drew, and its last value as HTML or text; `figures` hold an SVG for
    each style."""

    text: str = ""
    html: str = ""
    alt: str = ""
    figures: list[dict[str, bytes]] = field(default_factory=list)


def cells_of(notebook: Path) -> list[tuple[str, str]]:
    """(kind, source) of each cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def run(sources: Sequence[str], styles: Sequence[str] = ("light",)) -> tuple[list[Output], dict[str, Any]]:
    """Execute pieces of code one after the other, in an empty folder: their outputs, and their names at the end."""
    names: dict[str, Any] = {"__name__": "notebook"}
    with tempfile.TemporaryDirectory() as folder, _within(folder):
        return [_output(source, names, styles) for source in sources], names


@contextmanager
def _within(folder: str) -> Iterator[None]:
    from matplotlib import pyplot

    before = os.getcwd()
    os.chdir(folder)
    pyplot.switch_backend("agg")
    pyplot.close("all")  # figures that other code left open do not belong to these pieces
    try:
        yield
    finally:
        pyplot.close("all")
        os.chdir(before)


def _output(source: str, names: dict[str, Any], styles: Sequence[str]) -> Output:
    from matplotlib import pyplot

    found = Output()
    for style in styles:
        with pyplot.style.context(STYLES[style]), redirect_stdout(io.StringIO()) as printed:
            value = _value(source, names)
            figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
            for at, figure in enumerate(figures):
                drawn = io.BytesIO()
                with pyplot.rc_context({"svg.hashsalt": "rropt"}):
                    figure.savefig(drawn, format="svg", metadata={"Date": None})
                found.figures += [{}] if len(found.figures) == at else []
                found.figures[at][style] = drawn.getvalue()
            found.alt = "; ".join(_words(ax) for figure in figures for ax in figure.axes if _words(ax))
        pyplot.close("all")
        if style == styles[0]:
            found.text = printed.getvalue()
            if value is not None and not source.rstrip().endswith(";"):
                html = getattr(value, "_repr_html_", None)
                found.html = html() if html else ""
                found.text += "" if html else f"{value!r}\n"
        if not figures:
            break
    return found


def _value(source: str, names: dict[str, Any]) -> Any:
    """Execute the code: the value of its last line, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "notebook", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "notebook", "eval"), names)


def _words(ax: Any) -> str:
    said = [ax.get_title(), f"{ax.get_ylabel()} against {ax.get_xlabel()}" if ax.get_xlabel() else ""]
    return ", ".join(line for line in said if line).replace("\\", "").translate(str.maketrans("[]\n", "() "))


def pictures(stem: str, output: Output, place: str) -> tuple[str, dict[str, bytes]]:
    """(Markdown of the figures, {file: SVG}); the site shows the one of the reader's mode."""
    lines, files = [], {}
    for at, figure in enumerate(output.figures):
        for style, svg in figure.items():
            files[f"{place}{stem}-{at}-{style}.svg"] = svg
            lines.append(f"![{output.alt}]({place}{stem}-{at}-{style}.svg#only-{style})")
    return "\n".join(lines), files


def rendered(notebook: Path) -> tuple[str, dict[str, bytes], str]:
    """(the page of a notebook in Markdown, its pictures, Markdown of its last picture)."""
    cells = cells_of(notebook)
    outputs = iter(run([source for kind, source in cells if kind == "code"], tuple(STYLES))[0])
    parts: list[str] = []
    files: dict[str, bytes] = {}
    thumbnail = ""
    for at, (kind, source) in enumerate(cells):
        if kind == "markdown":
            parts.append(source)
            continue
        output = next(outputs)
        parts.append(f"```python\n{source}\n```")
        printed = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in output.text.splitlines())
        parts += [f"```text\n{printed}\n```"] if printed.strip() else []
        parts += [f'<div class="rropt-output">{output.html}</div>'] if output.html else []
        shown, drawn = pictures(f"{notebook.stem}-{at}", output, "figures/")
        if shown:
            parts.append(shown)
            thumbnail = shown
            files |= drawn
    parts.append(f"[Download this notebook]({notebook.name}).")
    return "\n\n".join(parts) + "\n", files, thumbnail


def title_of(notebook: Path) -> str:
    """The heading of the first cell."""
    return cells_of(notebook)[0][1].partition("\n")[0].removeprefix("# ")


def card(notebook: Path, thumbnail: str) -> str:
    """The entry of a notebook in the gallery: its name, its question and its last picture."""
    question = cells_of(notebook)[0][1].split("**Question.** ")[1].partition("\n\n")[0].replace("\n", " ")
    lines = [f"-   **[{title_of(notebook)}]({notebook.stem}.md)**", *thumbnail.splitlines(), question]
    return "\n\n    ".join(lines)


def drawn_page(text: str, stem: str) -> tuple[str, dict[str, bytes]]:
    """(a page with the pictures of its blocks behind them, the pictures)."""
    outputs = iter(run(BLOCK.findall(text), tuple(STYLES))[0])
    files: dict[str, bytes] = {}

    def shown(block: re.Match[str]) -> str:
        words, drawn = pictures(f"{stem}-{block.start()}", next(outputs), "figures/")
        files.update(drawn)
        return f"{block[0]}\n\n{words}" if words else block[0]

    return BLOCK.sub(shown, text.replace(PICTURES, "")), files


# -- mkdocs' events -----------------------------------------------------------------------------------------


def notebooks() -> list[Path]:
    """All notebooks, by name."""
    return sorted(FOLDER.glob("*.ipynb"))


def _expanded(entry: Any) -> Any:
    """The contents, where the gallery is followed by the notebooks."""
    if not isinstance(entry, dict):
        return entry
    ((title, below),) = entry.items()
    if below == "notebooks/index.md":
        below = [below, *({title_of(one): f"notebooks/{one.stem}.md"} for one in notebooks())]
    elif isinstance(below, list):
        below = [_expanded(one) for one in below]
    return {title: below}


def on_config(config: Any, **_: Any) -> Any:
    """mkdocs' event: the settings before anything is read."""
    config["nav"] = [_expanded(entry) for entry in config["nav"]]
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """mkdocs' event: the list of files, to which the pages of the notebooks and all pictures are added."""
    from mkdocs.structure.files import File

    made: dict[str, str | bytes] = {}
    cards = []
    for notebook in notebooks():
        page, drawn, thumbnail = rendered(notebook)
        made[f"notebooks/{notebook.stem}.md"] = page
        made |= {f"notebooks/{name}": svg for name, svg in drawn.items()}
        cards.append(card(notebook, thumbnail))
    for file in list(files.documentation_pages()):
        text = file.content_string
        folder = file.src_uri.rpartition("/")[0]
        if GALLERY in text:
            listed = '<div class="grid cards" markdown>\n\n' + "\n\n".join(cards) + "\n\n</div>"
            made[file.src_uri] = text.replace(GALLERY, listed)
        if PICTURES in text:
            made[file.src_uri], drawn = drawn_page(text, Path(file.src_uri).stem)
            made |= {f"{folder}/{name}".lstrip("/"): svg for name, svg in drawn.items()}
    for name, content in made.items():
        if (known := files.get_file_from_path(name)) is not None:
            files.remove(known)
        files.append(File.generated(config, name, content=content))
    return files
