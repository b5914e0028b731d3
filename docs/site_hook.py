"""What mkdocs asks while it builds the site.

`<!-- names: A B -->` becomes the documentation of these public names (the name of a namespace stands for all of its
names), `<!-- names: the others -->` that of all names of rropt which the page does not
mention; `<!-- examples -->` the table of the examples of certificates. Pages that the contents in mkdocs.yml do not
name are listed at their end, and names of pages that are not there (yet) are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

ORDER = re.compile(r"<!-- names: (.*?) -->", re.DOTALL)
OTHERS, MORE = "the others", "More"
SKIPPED = ("__version__",)
CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)
ENTRY = re.compile(r"(\w\[\w+\])(\[\w+\])")
"""An entry of a matrix as text has it, a[x][y], which Markdown takes for a link; not within code."""


def expanded(text: str) -> str:
    """The text of a page with its orders carried out. Raises KeyError for a name that rropt does not have."""
    import rropt

    asked = {name for order in ORDER.findall(text) if order != OTHERS for name in order.split()}
    unknown = asked - set(rropt.__all__)
    told: set[str] = set()
    if unknown:
        raise KeyError(f"no public names: {', '.join(sorted(unknown))}")
    left = [name for name in rropt.__all__ if name not in asked and name not in SKIPPED]

    def blocks(order: re.Match[str]) -> str:
        homes = [place for name in (left if order[1] == OTHERS else order[1].split()) for place in homes_of(name)]
        new = [place for place in dict.fromkeys(homes) if place not in told]
        told.update(new)
        return "\n\n".join(f"::: {place}" for place in new)

    return ORDER.sub(blocks, text)


def shown(text: str) -> str:
    """The text of a page with the table of the examples of certificates in its place."""
    lines = ["| certificate | problem | what it shows | section 6 |", "|---|---|---|---|"]
    for path in sorted((Path(__file__).parent / "examples").glob("*.toml")):
        what, part, *_ = (line.removeprefix("# ") for line in path.read_text(encoding="utf-8").splitlines())
        lines.append(f"| [{path.stem}.json]({path.stem}.json) | [toml]({path.name}) | {what} | {part} |")
    return text.replace("<!-- examples -->", "\n".join(lines))


def homes_of(name: str) -> list[str]:
    """The modules and the names within them that a public name, or a namespace, stands for in the source."""
    import rropt

    thing = getattr(rropt, name)
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


def on_config(config: Any, **_: Any) -> Any:
    """mkdocs' event: the settings before anything is read."""
    folder = Path(config["docs_dir"])
    config["nav"] = contents(config["nav"], {page.relative_to(folder).as_posix() for page in folder.rglob("*.md")})
    return config


def unlinked(text: str) -> str:
    """The text with its entries of matrices as what they are."""
    parts = CODE.split(text)
    return "".join(part if at % 2 else ENTRY.sub(r"\1\\\2", part) for at, part in enumerate(parts))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """mkdocs' event: the text of a page before it is read."""
    return expanded(markdown) if page.file.src_uri == "api.md" else unlinked(shown(markdown))
