"""What each tuned constant of the solver is worth: `python -m benchmarks.constants [TABLE...]`, in counts, not seconds.

Cases of benchmarks.effort and of benchmarks.constant_cases are solved as they are, then again with one constant lowered
and raised: the two with the most work of those that run a line that reads it. Printed are the ratios of the work (calls
of rropt's own code), of the bytes of the certificate and of the gap (bound minus value; below a hundredth of the wanted
one it counts as that) to those with the value that stands: the geometric mean, and the least and the largest.

A constant is halved and doubled; a tolerance goes by a factor of ten, a number of bits by eight, a share above a half
half the way to one. Constants that are seconds, or shares of a time limit, are not tried: the cases have no clock.
Every solve is a process of its own, with a limit of processor time.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import math
import multiprocessing
import pkgutil
import re
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

import rropt as rr
from benchmarks.constant_cases import MORE
from benchmarks.effort import CASES, Case

SOLVER = Path(rr.__file__).resolve().parent / "solve"
SECONDS, TIMES = 5, 5
"""Of processor time that a solve may take: so many seconds, and so many times what it takes as constants are."""
FORK = multiprocessing.get_context("fork")
COUNTS = {"calls": "the work", "bytes": "the certificate", "gap": "the gap"}
SAME = 0.02
"""Means of work and bytes that differ by less are the same; gaps, by ten times this."""
MOST, DEAR = 2, 30_000
"""Cases for one constant: those with the most work, but for those with more calls than this, which come last."""
CLOCK = re.compile(r"\b[Ss]econds (after|for|in|of|that|without)\b|\b[Ss]hares? of (a|the) time")
"""What docstrings of constants say that are times: no case has a time limit."""
Outcome = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A module with tuned constants, and who reads which of them where."""

    module: str
    tree: ast.Module
    lines: dict[str, set[tuple[str, int]]]
    """For each constant, in order, the (file, line) of every read."""
    users: tuple[tuple[str, str, str], ...]
    """(module, its name for the constant, constant) of every import."""
    early: frozenset[str]
    """Constants that are read while modules are loaded, as arguments' defaults are."""

    def said(self, name: str) -> str:
        """The docstring of a constant."""
        following = zip(self.tree.body, self.tree.body[1:], strict=False)
        return next(ast.unparse(after) for node, after in following if name in names(node))

    def install(self, name: str, value: object) -> None:
        """Give a constant another value here and in all modules that have imported it, and to what follows from it."""
        if name in self.early:
            for loaded in [one for one in sys.modules if one.partition(".")[0] in ("rropt", "benchmarks")]:
                del sys.modules[loaded]
        tree = ast.parse(ast.unparse(self.tree))
        place = next(index for index, node in enumerate(tree.body) if name in names(node))
        tree.body.insert(place + 1, ast.parse(f"{name} = CHANGED").body[0])
        module = importlib.import_module(self.module)
        vars(module)["CHANGED"] = value
        exec(compile(tree, self.module, "exec"), vars(module))
        for user, alias, constant in self.users:
            setattr(importlib.import_module(user), alias, vars(module)[constant])


def names(node: ast.stmt) -> list[str]:
    """The constants with numbers that a statement gives a value to."""
    if not isinstance(node, ast.Assign) or not any(
        isinstance(part, ast.Constant) and type(part.value) in (int, float) for part in ast.walk(node.value)
    ):
        return []
    (target,) = node.targets
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return [part.id for part in parts if isinstance(part, ast.Name) and part.id.isupper()]


def tables() -> list[Table]:
    """Those of all theories: the files budget.py, and the theory that has one file alone."""
    files = {
        ".".join(("rropt", "solve", *path.relative_to(SOLVER).with_suffix("").parts)): path
        for path in sorted(SOLVER.rglob("*.py"))
        if path.name != "__init__.py"
    }
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files.items()}
    return [
        _table(name, trees, files)
        for name in trees
        if name.endswith(".budget") or name == "rropt.solve.maximin.maximin"
    ]


def _table(module: str, trees: dict[str, ast.Module], files: dict[str, Path]) -> Table:
    lines: dict[str, set[tuple[str, int]]] = {name: set() for node in trees[module].body for name in names(node)}
    users, early = [], set()
    for user, tree in trees.items():
        own = {name: name for name in lines} if user == module else {}
        for node in tree.body:
            for one in node.names if isinstance(node, ast.ImportFrom) else ():
                if node.module == module and one.name in lines:
                    own[one.asname or one.name] = one.name
                    users.append((user, one.asname or one.name, one.name))
                if f"{node.module}.{one.name}" == module:
                    own |= {f"{one.asname or one.name}.{name}": name for name in lines}
        for node, late in below(tree, late=False) if own else ():
            name = own.get(_dotted(node))
            if name and isinstance(node.ctx, ast.Load):
                lines[name].add((str(files[user]), node.lineno))
                early |= set() if late else {name}
    return Table(module, trees[module], lines, tuple(users), frozenset(early))


def _dotted(node: ast.AST) -> str:
    """`name` or `module.name`; nothing for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def below(node: ast.AST, *, late: bool) -> Iterator[tuple[Any, bool]]:
    """Every node under this one, and whether it is run in a call (not when the module is loaded)."""
    body = node.body if isinstance(node, ast.FunctionDef) else []
    for child in ast.iter_child_nodes(node):
        called = late or child in body
        yield child, called
        yield from below(child, late=called)


def scaled(name: str, value: Any, *, up: bool) -> Any:
    """The lower or the higher value that a constant is tried with; None where there is none below one."""
    if isinstance(value, tuple):
        parts = tuple(scaled(name, part, up=up) for part in value)
        return None if None in parts else parts
    if name.endswith("BITS"):
        return value + (8 if up else -8)
    if isinstance(value, int):
        return 2 * value if up else value // 2 or None
    if isinstance(value, Fraction) or (isinstance(value, float) and not 1e-3 < abs(value) < 1e5):
        return value * 10 if up else value / 10
    if isinstance(value, float) and 0.5 < value < 1 and up:
        return (1 + value) / 2
    return value * 2 if up else value / 2


# ---- one solve -----------------------------------------------------------------------------------------


def solved(case: Case) -> Outcome:
    """Status, gap and counts of a case."""
    effort = importlib.import_module("benchmarks.effort")
    problem = case.problem()
    with effort.counted() as found:
        solution = problem.solve(case.method, gap=case.gap, absolute_gap=case.gap)
    size = len(solution.certificate.to_json()) if solution.certificate else 0
    gap = None if solution.gap is None else max(solution.gap, case.gap / 100)  # nobody asks for less
    return {"status": solution.status, "gap": gap, "bytes": size, **found}


def apart(work: Callable[[], Any], seconds: float) -> Any:
    """What `work` returns in a process of its own with so much processor time; what ended it otherwise."""
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_answer, args=(work, theirs, seconds))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return {"status": "over the limit"}
    finally:
        process.join()


def _answer(work: Callable[[], Any], end: Connection, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        end.send(work())
    except Exception as error:  # whatever a wrong value raises is what is asked
        end.send({"status": type(error).__name__})


def reached(case: Case, wanted: set[tuple[str, int]]) -> tuple[set[tuple[str, int]], list[str], float]:
    """The lines of these that a solve runs, the modules that it loads, and its seconds of processor time."""
    files = {file for file, _ in wanted}
    found: set[tuple[str, int]] = set()
    before = set(sys.modules)

    def line(frame: FrameType, event: str, argument: object) -> Any:
        found.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    sys.settrace(lambda frame, event, argument: line if frame.f_code.co_filename in files else None)
    case.problem().solve(case.method, gap=case.gap, absolute_gap=case.gap)
    sys.settrace(None)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return found & wanted, sorted(set(sys.modules) - before), used.ru_utime + used.ru_stime


def load() -> None:
    """Load all of rropt, so that no solve that is counted does."""
    for found in pkgutil.walk_packages(rr.__path__, "rropt."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)


# ---- the report ----------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value that is tried, in a sentence."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def changes(before: dict[str, Outcome], after: dict[str, Outcome]) -> list[str]:
    """How the outcomes of the same cases differ; nothing where they are the same."""
    said = []
    for count, words in COUNTS.items():
        ratios = [
            one[count] / before[name][count]
            for name, one in after.items()
            if one.get(count) and before[name].get(count)
        ]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0
        if abs(mean - 1) > SAME * (10 if count == "gap" else 1):
            between = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
            said.append(f"{words} {mean:.2f} times{between}")
    return said + [f"{name}: {one['status']}" for name, one in after.items() if one["status"] != before[name]["status"]]


def sentence(value: Any, cases: int, found: dict[str, tuple[Any, list[str]]]) -> str:
    """What was measured, as the docstring of the constant says it."""
    where = "one case" if cases == 1 else f"{cases} cases"
    plain = isinstance(value, int | float)
    if not any(said for _, said in found.values()):
        span = " to ".join(shown(other) if plain else word for word, (other, _) in found.items())
        return f"measured in {where}: the same from {span}."
    parts = [
        f"at {shown(other) if plain else word} {', '.join(said) or 'the same'}" for word, (other, said) in found.items()
    ]
    return f"measured in {where}: {'; '.join(parts)}."


def main() -> None:
    """Print what each constant of the tables named (of all without a name) is worth."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants", description=about)
    parser.add_argument("table", nargs="*", help="a folder of rropt/solve, such as ldp or kernel.boxes")
    asked = parser.parse_args().table
    mine = [table for table in tables() if not asked or table.module.split(".", 2)[2].rpartition(".")[0] in asked]
    wanted = {line for table in mine for lines in table.lines.values() for line in lines}
    load()
    cases = {case.name: case for case in (*CASES, *MORE)}
    runs = {name: apart(partial(reached, case, wanted), 600) for name, case in cases.items()}
    for _, modules, _ in runs.values():
        for module in modules:
            with suppress(ImportError):  # a name that a library has registered for itself
                importlib.import_module(module)
    base = {name: apart(partial(solved, case), 600) for name, case in cases.items() if runs[name][0]}
    for table in mine:
        print(table.module)
        for name, lines in table.lines.items():
            reading = sorted((case for case in base if runs[case][0] & lines), key=partial(rank, base))[:MOST]
            users = {case: cases[case] for case in reading}
            limits = {case: SECONDS + TIMES * runs[case][2] for case in users}
            print(f"  {name}: {tried(table, name, users, limits, base)}", flush=True)


def rank(base: dict[str, Outcome], case: str) -> tuple[bool, int]:
    """The order in which cases are taken for a constant."""
    calls = base[case]["calls"]
    return calls > DEAR, calls if calls > DEAR else -calls


def tried(table: Table, name: str, users: dict[str, Case], limits: dict[str, float], base: dict[str, Outcome]) -> str:
    """What two other values of a constant change in the cases that read it."""
    if not users or CLOCK.search(table.said(name)):
        return "no case reads it" if not users else "no case has a clock"
    value, found = vars(importlib.import_module(table.module))[name], {}
    for word in ("half", "double"):
        if (other := scaled(name, value, up=word == "double")) is not None:
            after = {case: apart(partial(again, table, name, other, users[case]), limits[case]) for case in users}
            found[word] = other, changes(base, after)
    return sentence(value, len(users), found)


def again(table: Table, name: str, value: object, case: Case) -> Outcome:
    """A case with another value of one constant; of use in a process that ends then."""
    table.install(name, value)
    return solved(case)


if __name__ == "__main__":
    main()
