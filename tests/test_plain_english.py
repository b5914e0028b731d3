"""Words: the pages, the messages and the public names keep the terms of docs/glossary.md, and no house idiom."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from documented import documented

from rropt.cli.main import app

IDIOMS = r"\b(?:{})\b".format(
    "|".join((
        r"one (?:number|value|row|column|list|line|label|axis|report)s? an? \w+",  # one per row
        r"(?:is|are|was|were|be) told|ha(?:s|ve) no word|tells? (?:all|everything|nothing)|knows? (?:no|nothing)",
        r"stands? (?:where|alone|among)|(?:of|for) what is none|(?:that|which) (?:is|are) no (?!\w+er\b|more|less)\w+",
        r"nobody|whoever",
        r"believe[sd]?|blames?|strangers?|riddles?|mends?|for ever|in vain|of our own|in no way|left to itself",
    ))
)  # fmt: skip
QUOTING = ("glossary.md", "benchmarks.md", "claims.md", "support.md", "support-leakage.md")
"""Pages that quote papers, other packages, or the words themselves."""


def forbidden(checkout: Path) -> tuple[str, str]:
    """What the last column of the glossary rules out in pages, and in messages and names, as regular expressions."""
    rows = re.findall(r"\| ([^|]*) \|$", (checkout / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    cells = [cell.partition("in messages:") for cell in rows[1:]]
    pages, messages = ([w for cell in cells for w in re.split("[,;] *", cell[at].strip()) if w] for at in (0, 2))
    assert len(pages) > 5 < len(messages), "the glossary was not read"
    return r"\b(?:{})\b".format("|".join(pages)), r"\b(?:{})\b".format("|".join(pages + messages))


def messages(source: str) -> Iterator[str]:
    """The texts of more than one word in a module that are not docstrings, without what is inserted in them."""
    tree = ast.parse(source)
    docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in docs and " " in one.value:
            yield one.value


def faults(text: str, *patterns: str) -> list[str]:
    """Places of a text where one of the patterns is found, across line breaks, in any case; code is left out."""
    flat = " ".join(re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL).split())
    return [flat[max(one.start() - 40, 0) : one.end() + 20] for p in patterns for one in re.finditer(p, flat, re.I)]


def options(command: typer.core.TyperGroup) -> Iterator[str]:
    """The names and options of a command and of those below it."""
    for name, one in command.commands.items():
        yield name
        yield from (option for parameter in one.params for option in parameter.opts)
        if isinstance(one, typer.core.TyperGroup):
            yield from options(one)


def test_pages_keep_the_terms(checkout: Path) -> None:
    words, _ = forbidden(checkout)
    pages = [checkout / "README.md", *(one for one in (checkout / "docs").rglob("*.md") if one.name not in QUOTING)]
    assert len(pages) > 20
    assert [f"{one}: {fault}" for one in pages for fault in faults(one.read_text("utf-8"), words, IDIOMS)] == []


def test_messages_keep_the_terms(checkout: Path) -> None:
    _, words = forbidden(checkout)
    files = [one for one in (checkout / "rropt").rglob("*.py") if one.name not in ("checker.py", "kernel.py")]
    assert len(files) > 300
    texts = ((one, text) for one in files for text in messages(one.read_text("utf-8")))
    assert [f"{one}: {fault}" for one, text in texts for fault in faults(text, words, IDIOMS)] == []


def test_docstrings_begin_with_what_a_thing_is(checkout: Path) -> None:
    """Not with a clause that has to be completed: "the number of", not "how many"; of all but a few folders."""
    folders = [checkout / one for one in ("rropt", "models", "benchmarks", "docs")]
    others = ("checker.py", "kernel.py", "prove", "release", "estimation")
    files = [one for folder in folders for one in folder.rglob("*.py") if not set(others) & {one.name, *one.parts}]
    assert len(files) > 250
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    told = ((one, ast.get_docstring(thing) or "") for one in files for thing in ast.walk(ast.parse(one.read_text("utf-8")))
            if isinstance(thing, kinds))  # fmt: skip
    riddle = re.compile(r"(What|Where|How|Whose|Who|That|Which|When)\b")
    assert [f"{one}: {text[:60]}" for one, text in told if riddle.match(text)] == []


def test_names_keep_the_terms(checkout: Path) -> None:
    _, words = forbidden(checkout)
    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)
    names = [*documented(), *options(root)]
    spoken = [re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]+", " ", name) for name in names]
    assert [fault for name in spoken for fault in faults(name, words)] == []


@pytest.mark.parametrize(
    "sentence", ["the route it took", "give one number\n a label", "it stands where text is needed"]
)
def test_a_planted_word_is_found(checkout: Path, sentence: str) -> None:
    assert faults(sentence, forbidden(checkout)[0], IDIOMS)
    assert not faults("`route` is a key; give one number per label", forbidden(checkout)[0], IDIOMS)
