"""The lines that commands print, the options that several have, and the paths that they are given."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from rropt.errors import Duplicate, plain

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="Delimiter of a text file (default: comma, or tab for .tsv).")
]
Accountant = Annotated[
    str | None,
    typer.Option(
        "--accountant",
        metavar="PATH|URL",
        help="A second privacy accountant; for a folder of data, a folder or one accountant.",
    ),
]
Population = Annotated[
    str | None,
    typer.Option(
        "--population", metavar="NAME", help="Name of the respondents; draws under another name are of other people."
    ),
]
Identity = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="The column that identifies each person, for --key.")
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="FILE", help="A key from rropt key new: under it the same record always gets the same answer."
    ),
]
Null = Annotated[str | None, typer.Option("--null", help="The category of blank values of the column.")]
PublicCounts = Annotated[
    int | None, typer.Option("--public-counts", metavar="N", help="Round the counts of --data to multiples of N.")
]


class Command(TyperCommand):
    """A command that refuses an option which is given twice and counts once: the first value would be lost."""

    def make_parser(self, ctx: Any) -> Any:
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            found = parse(args)
            order = found[2]
            for option in order:
                single = not getattr(option, "multiple", True) and not getattr(option, "is_flag", True)
                if single and order.count(option) > 1:
                    raise Duplicate(f"{option.opts[0]} is given more than once", ctx.command_path, "give it once")
            return found

        parser.parse_args = parse_args
        return parser


def say(line: str, error: bool = False) -> None:
    """Print one line, on the error stream where it is an `error` or a warning. Control characters of file names and
    labels are escaped, so that a terminal does not interpret them."""
    print(plain(line), file=sys.stderr if error else sys.stdout)


def wrote(path: str | os.PathLike[str], what: str = "", error: bool = False) -> None:
    """Say that a file was written, on the error stream also if the file is standard output: it has the content only."""
    say(f"wrote {path}{what}", error=error or is_output(path))


def is_output(path: str | os.PathLike[str]) -> bool:
    """Whether a path names what standard output is, as /dev/stdout does."""
    # A stream of Python's own has no number.
    with suppress(OSError, ValueError):
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    return False


def refuse_empty_paths(command: Any) -> None:
    """Let a command refuse "" wherever it declares a path: pathlib would take it for the current folder."""
    hints = get_type_hints(command, include_extras=True)
    for kind, *declared in filter(None, map(get_args, hints.values())):
        if declared and _has_path(kind):
            declared[0].parser = _a_path
    # Else Typer would read the text of the annotations again, without the parsers.
    command.__annotations__.update(hints)


def _has_path(kind: Any) -> bool:
    return kind is Path or any(map(_has_path, get_args(kind)))


def _a_path(text: str) -> Path:
    if not text:
        raise typer.BadParameter("no file is named (. is this folder)")
    if "\0" in str(text):
        raise typer.BadParameter("a name of a file has no zero byte")
    return Path(text)
