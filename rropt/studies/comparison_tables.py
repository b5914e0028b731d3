"""Comparisons as tables and pictures: CSV, Markdown and LaTeX, and performance profiles over many problems."""

from __future__ import annotations

import csv
import io
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rropt.errors import InputError, NotInstalled, UnknownName, counted, plain
from rropt.exact import shown
from rropt.io.arguments import checked
from rropt.io.files import a_path, write_whole
from rropt.plots import axes_of, cut, finish, styles_of
from rropt.studies.measured import Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = (
    "problem", "method", "solver", "solver_version", "status", "claimed", "value", "bound", "gap", "breach", "verdict",
    "seconds",
)  # fmt: skip
"""Columns of the tables that are read; CSV has all."""
NUMBERS = ("claimed", "value", "bound", "gap", "breach", "seconds")
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """All keys of the rows, numbers in full; what is None is empty."""
    written = io.StringIO()
    table = csv.DictWriter(written, list(rows[0]) if rows else list(SHOWN), lineterminator="\n")
    table.writeheader()
    table.writerows(
        {key: plain(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows
    )
    return written.getvalue()


def markdown_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of the columns that are read."""
    heads, body = _table(rows)
    escaped = [[cell.replace("|", r"\|") for cell in line] for line in body]
    rule = ["---:" if head in NUMBERS else "---" for head in heads]
    return "".join(f"| {' | '.join(line)} |\n" for line in [[head.replace("_", " ") for head in heads], rule, *escaped])


def latex_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same as a `tabular`, which needs no package."""
    heads, body = _table(rows)
    lines = [[head.replace("_", " ") for head in heads], *body]
    written = [" & ".join("".join(LATEX.get(sign, sign) for sign in cell) for cell in line) for line in lines]
    columns = "".join("r" if head in NUMBERS else "l" for head in heads)
    top, *rest = (f"{line} \\\\" for line in written)
    return "\n".join(
        [f"\\begin{{tabular}}{{{columns}}}", "\\hline", top, "\\hline", *rest, "\\hline", "\\end{tabular}", ""]
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    heads = [key for key in SHOWN if any(row.get(key) is not None for row in rows)]
    return heads, [[_cell(row, key) for key in heads] for row in rows]


def _cell(row: Mapping[str, Any], key: str) -> str:
    value, up = row.get(key), row.get("sense") == "maximize"
    if value is None:
        return "-"
    if key in ("value", "bound"):
        return shown(value, 9, up == (key == "bound"))
    if key in ("gap", "breach"):
        return shown(value, 2, True)
    return f"{value:.9g}" if key == "claimed" else f"{value:.3g}" if key == "seconds" else plain(str(value))


def profile(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """For each method and solver the ratios of its seconds to the fewest on the same problem, ascending, one per problem
    that it solved (Dolan and Moré 2002)."""
    seconds: dict[str, dict[str, float]] = {}
    for row in rows:
        found = seconds.setdefault(row["label"], {})
        if row["solved"] and row["seconds"] is not None:
            # Wall times below a millisecond are rounded to zero.
            found[row["problem"]] = max(row["seconds"], 1e-3)
    fewest: dict[str, float] = {}
    for found in seconds.values():
        for name, own in found.items():
            fewest[name] = min(own, fewest.get(name, math.inf))
    return {
        label: sorted(own / fewest[name] for name, own in found.items()) for label, found in seconds.items() if found
    }


def profile_picture(ratios: Mapping[str, Sequence[float]], problems: int, ax: Axes | None, kept: bool = True) -> Axes:
    """Against each factor the share of problems that are solved within so many times the fewest seconds. Raises
    InputError where none is solved."""
    if not ratios:
        raise InputError("no problem was solved", "performance profile", "give more time")
    ax = axes_of(ax, 8.2, 4.2, kept=kept)
    last = 1.15 * max([2.0, *(own[-1] for own in ratios.values())])
    names = dict(zip(ratios, cut(list(ratios), 40), strict=True))
    best_first = sorted(ratios.items(), key=lambda item: (-len(item[1]), item[1]))
    for (label, own), style in zip(best_first, styles_of(ax, len(ratios)), strict=True):
        x = [1.0, *own, last]
        y = [sum(ratio <= 1.0 for ratio in own) / problems, *((n + 1) / problems for n in range(len(own)))]
        ax.step(x, [*y, y[-1]], where="post", color=style["color"], linestyle=style["linestyle"], linewidth=2)
        ax.plot(x[:-1], y, **style | {"linestyle": ""}, label=names[label])
    ax.set(xscale="log", xlim=(0.97, last), ylim=(-0.02, 1.04))
    for set_formatter in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
        set_formatter("{x:g}")
    # Outside: curves may be anywhere.
    outside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    title = counted(problems, "problems")
    return finish(ax, "times the fewest seconds", "share of problems solved", title, legend=outside)


WRITERS = {".csv": csv_text, ".md": markdown_text, ".tex": latex_text}
PICTURES = (".svg", ".pdf", ".png")


def checked_format(path: str | os.PathLike[str]) -> str:
    """The ending of a name that a comparison can be written under. Raises InputError for any other."""
    suffix = a_path(path, "cannot write", "choose another place").suffix.lower()
    if suffix not in (*WRITERS, *PICTURES):
        known = ", ".join((*WRITERS, *PICTURES))
        raise UnknownName(f"{suffix or 'no suffix'!r} is not a format of comparisons", str(path), f"use {known}")
    return suffix


@checked
class Tables(ABC):
    """The forms in which the rows of one problem or of many can be written."""

    @abstractmethod
    def to_list(self) -> list[dict[str, Any]]:
        """The rows as objects, as `rropt compare --json` prints them."""

    def to_csv(self) -> str:
        """All keys, numbers in full; inf where a matrix has an infinite privacy ratio."""
        return csv_text(self._full())

    def to_markdown(self) -> str:
        """A table of what is claimed and what is proved."""
        return markdown_text(self._listed())

    def to_latex(self) -> str:
        """The same as a `tabular`."""
        return latex_text(self._listed())

    def to_frame(self) -> Any:
        """A pandas DataFrame of the rows; `solver_epsilon` and `breach` are inf where a matrix has an infinite privacy ratio.
        Raises InputError where pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise NotInstalled("the package pandas is not installed", "to_frame", "pip install pandas") from None
        return pandas.DataFrame(self._full())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as CSV, Markdown or LaTeX, or the performance profile as a picture, by the name's ending
        (.csv, .md, .tex; .svg, .pdf, .png). Raises InputError."""
        suffix = checked_format(path)
        if suffix in PICTURES:
            drawn = io.BytesIO()
            self._draw(None, kept=False).figure.savefig(drawn, format=suffix[1:])
            return write_whole(path, drawn.getvalue())
        return write_whole(path, WRITERS[suffix](self._full() if suffix == ".csv" else self._listed()))

    def profile(self) -> dict[str, list[float]]:
        """For each method and solver the ratios of its seconds to the fewest, one per problem that it solved, ascending:
        the performance profile of Dolan and Moré (2002)."""
        return profile(self._listed())

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the performance profile (extra `plot`) into `ax`, by default into a new figure. Raises InputError."""
        return self._draw(ax)

    def _draw(self, ax: Axes | None, kept: bool = True) -> Axes:
        return profile_picture(self.profile(), len({row["problem"] for row in self._listed()}), ax, kept)

    def _full(self) -> list[dict[str, Any]]:
        """The list with its infinities."""
        infinite = ({"solver_epsilon": row.solver_epsilon, "breach": row.breach} for row in self._rows())
        return [entry | own for entry, own in zip(self.to_list(), infinite, strict=True)]

    @abstractmethod
    def _rows(self) -> list[Measured]: ...

    @abstractmethod
    def _listed(self) -> list[dict[str, Any]]: ...
