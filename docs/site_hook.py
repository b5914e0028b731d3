"""The hooks that mkdocs calls while it builds the site.

`<!-- page: NAME -->` before a heading begins another page of the site, NAME.md, so that a long file is not a long page;
`<!-- page: NAME TITLE -->` gives it a title.
`<!-- names: A B -->` becomes the documentation of these public names (the name of a namespace means all of its names,
`space.A` one of them), `<!-- names: the others -->` that of all names of rropt which the page does not
mention; `<!-- examples -->` the table of the examples of certificates. Pages that the contents in mkdocs.yml do not
name are listed at their end, and names of pages that are not there (yet) are left out.
"""

from __future__ import annotations

import re
import shutil
from html import unescape
from operator import attrgetter
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from markdown.extensions.toc import slugify

ORDER = re.compile(r"<!-- names: (.*?) -->", re.DOTALL)
PAGE = re.compile(r"^<!-- page: (\S+)(?: (.+?))? -->\n", re.MULTILINE)
HEADING = re.compile(r"^(#+) +(.*)$", re.MULTILINE)
LINK = re.compile(r"(\]\()([^()#\s]*)#([\w.-]+)(\))")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
LIST = re.compile(r"^((?!- |\d+\. | |\n)[^\n]+)\n(- |\d+\. )", re.MULTILINE)
"""The last line of a paragraph, and a list after it."""
OTHERS, MORE = "the others", "More"
SKIPPED = ("__version__",)
CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)
ENTRY = re.compile(r"(\w\[\w+\])(\[\w+\])")
"""An entry of a matrix as text has it, a[x][y], which Markdown takes for a link; not within code."""


def expanded(text: str) -> str:
    """The text of a page with its orders carried out. Raises KeyError for a name that rropt does not have."""
    import rropt

    asked = {name for order in ORDER.findall(text) if order != OTHERS for name in order.split()}
    unknown = {name for name in asked if not _is_public(name)}
    placed: set[str] = set()
    if unknown:
        raise KeyError(f"no public names: {', '.join(sorted(unknown))}")
    spaces = {name.partition(".")[0] for name in asked}
    left = [name for name in rropt.__all__ if name not in spaces and name not in SKIPPED]

    def blocks(order: re.Match[str]) -> str:
        homes = [place for name in (left if order[1] == OTHERS else order[1].split()) for place in homes_of(name)]
        new = [place for place in dict.fromkeys(homes) if place not in placed]
        placed.update(new)
        return "\n\n".join(f"::: {place}" for place in new)

    return ORDER.sub(blocks, text)


def shown(text: str) -> str:
    """The text of a page with the table of the examples of certificates in its place."""
    lines = ["| certificate | problem | what it shows | section 6 |", "|---|---|---|---|"]
    for path in sorted((Path(__file__).parent / "examples").glob("*.toml")):
        what, part, *_ = (line.removeprefix("# ") for line in path.read_text(encoding="utf-8").splitlines())
        lines.append(f"| [{path.stem}.json]({path.stem}.json) | [toml]({path.name}) | {what} | {part} |")
    return text.replace("<!-- examples -->", "\n".join(lines))


def _is_public(name: str) -> bool:
    """Whether a name, or one `space.name` of a namespace, is public."""
    import rropt

    space, _, inner = name.partition(".")
    return space in rropt.__all__ and (not inner or inner in getattr(rropt, space).__all__)


def homes_of(name: str) -> list[str]:
    """The modules and the names within them that a public name, or a namespace, stands for in the source."""
    import rropt

    thing = attrgetter(name)(rropt)
    things = [getattr(thing, one) for one in thing.__all__] if isinstance(thing, ModuleType) else [thing]
    return [f"{one.__module__}.{one.__name__}" for one in things]


def contents(nav: list[Any], pages: set[str]) -> list[Any]:
    """The contents without what is not there, and at their end what they do not name."""
    named: set[str] = set()

    def kept(entry: Any) -> Any:
        if isinstance(entry, str):
            named.add(entry)
            return entry if entry in pages else None
        ((title, below),) = entry.items()
        if isinstance(below, str):
            return {title: below} if kept(below) else None
        inner = [one for one in map(kept, below) if one is not None]
        return {title: inner} if inner else None

    found = [one for one in map(kept, nav) if one is not None]
    rest = sorted(pages - named)
    return [*found, {MORE: rest}] if rest else found


def pages(name: str, text: str) -> dict[str, str]:
    """The pages of the site that a file becomes, by their paths; the headings of the further ones move up."""
    first, *rest = PAGE.split(text)
    folder = PurePosixPath(name).parent
    found = {name: first}
    for page, title, part in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        parts = FENCED.split(part)
        up = min(len(marks) for piece in parts[::2] for marks, _ in HEADING.findall(piece)) - (2 if title else 1)
        parts[::2] = [HEADING.sub(lambda m, up=up: f"{m[1][up:]} {m[2]}", piece) for piece in parts[::2]]
        found[(folder / f"{page}.md").as_posix()] = (f"# {title}\n\n" if title else "") + "".join(parts)
    if len(found) > 1:
        links = "\n".join(
            f"- [{_headings(part)[0]}]({PurePosixPath(page).name})" for page, part in [*found.items()][1:]
        )
        found[name] = f"{first.rstrip()}\n\n## On further pages\n\n{links}\n"
    return found


def _headings(text: str) -> list[str]:
    return [title for piece in FENCED.split(text)[::2] for _, title in HEADING.findall(piece)]


def anchors(text: str) -> list[str]:
    """The anchors of the headings of a page."""
    return [slugify(unescape(re.sub(r"[`*]", "", title)), "-") for title in _headings(text)]


def linked(name: str, text: str, homes: dict[str, dict[str, str]]) -> str:
    """The text of a page with its links to headings that are on further pages; `homes`: by file, by anchor, the page."""
    own = next((file for file, where in homes.items() if name in where.values()), name)

    def link(found: re.Match[str]) -> str:
        before, path, anchor, after = found.groups()
        if ":" in path:
            return found[0]
        target = _resolved(PurePosixPath(name).parent, path) if path else own
        page = homes.get(target, {}).get(anchor)
        if page is None or (page == name and not path):
            return found[0]
        to = "/".join([".."] * len(PurePosixPath(name).parent.parts) + [page])
        return f"{before}{to}#{anchor}{after}"

    parts = CODE.split(text)
    return "".join(part if at % 2 else LINK.sub(link, part) for at, part in enumerate(parts))


def _resolved(folder: PurePosixPath, path: str) -> str:
    parts: list[str] = []
    for part in (*folder.parts, *PurePosixPath(path).parts):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def listed(text: str) -> str:
    """The text with an empty line before each list that follows a paragraph: Python-Markdown needs it."""
    parts = FENCED.split(text)
    parts[::2] = [LIST.sub(r"\1\n\n\2", part) for part in parts[::2]]
    return "".join(parts)


def site(sources: dict[str, str]) -> dict[str, str]:
    """All pages of the site by path, from the files by path."""
    split = {
        name: pages(name, expanded(text) if name == "api.md" else unlinked(listed(shown(text))))
        for name, text in sources.items()
    }
    homes = {
        name: {anchor: page for page, text in reversed(found.items()) for anchor in anchors(text)}
        for name, found in split.items()
        if len(found) > 1
    }
    return {page: linked(page, text, homes) for found in split.values() for page, text in found.items()}


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """mkdocs' event: which files there are. Pages take the place of their files."""
    from mkdocs.structure.files import File

    sources = {file.src_uri: file.content_string for file in files.documentation_pages()}
    made = site(sources)
    for name, text in made.items():
        if sources.get(name) != text:
            if name in sources:
                files.remove(files.get_file_from_path(name))
            files.append(File.generated(config, name, content=text))
    config["nav"] = contents(config["nav"], set(made))
    return files


def unlinked(text: str) -> str:
    """The text with its entries of matrices as what they are."""
    parts = CODE.split(text)
    return "".join(part if at % 2 else ENTRY.sub(r"\1\\\2", part) for at, part in enumerate(parts))


def on_post_build(config: Any, **_: Any) -> None:
    """mkdocs' event: the site is there. The pages of `make web`, if they were built, become its folder `explore`, to
    which browser.md links."""
    built = Path(config["config_file_path"]).parent / "out" / "web"
    if built.is_dir():
        shutil.copytree(built, Path(config["site_dir"]) / "explore", dirs_exist_ok=True)


def on_page_content(html: str, **_: Any) -> str:
    """mkdocs' event: the page as HTML. Formulas become MathML, which browsers draw without a script; a cell above the
    names of rows is not a heading."""
    from latex2mathml.converter import convert

    def drawn(formula: re.Match[str]) -> str:
        return convert(unescape(formula[2]), display="block" if formula[1] == "div" else "inline")

    return FORMULA.sub(drawn, html).replace("<th></th>", "<td></td>")
