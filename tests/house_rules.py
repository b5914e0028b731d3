"""The rules of the house as functions on a source tree; each returns what breaks it, one line a fault.

`test_house.py` applies them to the package and, so that no rule is blind, to small trees that break them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx as nx

# Rooms from the top of the house to its ground; an import goes down, or sideways without a circle.
# The name of a room is the longest prefix here: `comparison.audit` is not in `comparison`.
LEVELS: tuple[tuple[str, ...], ...] = (
    (
        "cli",
        "cli_audit",
        "cli_claims",
        "cli_compare",
        "cli_data",
        "cli_figures",
        "cli_folder",
        "cli_models",
        "cli_report",
        "cli_sweep",
        "__main__",
    ),
    ("studies", "terminal"),
    ("models",),
    ("__init__",),
    ("comparison.audit", "release", "multivariate", "strategy", "remedy", "calibration", "subprotocols"),
    ("robust_utility", "robust_auditing", "correlated"),
    ("problem", "declarations"),
    ("assembly",),
    ("proofs", "rounding", "weight_rounding", "comparison"),
    ("routes", "certificates"),
    ("objectives", "constraints"),
    ("programs", "design_utilities", "least_information", "worst_case"),
    ("cones", "approximate", "confidence_cone", "block_cones", "floors", "mixtures", "mixture_files", "posterior_risk"),
    ("mechanisms",),
    ("inference", "sampling", "criteria", "confidence", "priors"),
    ("exact", "microdata", "files", "assignments", "parallel", "extras", "memory"),
    ("errors",),
)
# The trusted checker stands apart from the levels: it is called as a stranger would call it.
CHECKER, CHECKER_CALLERS = "checker", ("assembly", "problem", "release", "cli", "__init__")
# `comparison` may use of the rooms between it and `mechanisms` only these.
COMPARISON_MAY = ("routes.lp", "routes.milp")
SOLVERS, SOLVER_ROOM = ("cvxpy", "highspy", "cdd"), "routes"
LONGEST_FILE = 400


@dataclass(frozen=True)
class Import:
    """One import: `source` imports `target` at `line`. `kind` is module, function or typing."""

    source: str
    target: str
    line: int
    kind: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target} ({self.kind})"


@dataclass(frozen=True)
class Tree:
    """A package's modules by dotted name ("rropt.routes.lp"), as parsed source with its file."""

    modules: Mapping[str, tuple[Path, ast.Module]]

    @classmethod
    def read(cls, folders: Mapping[str, Path]) -> Tree:
        """Parse every .py file of each folder; the key is the folder's name as a package."""
        modules = {}
        for package, folder in folders.items():
            for path in sorted(folder.rglob("*.py")):
                parts = path.relative_to(folder).with_suffix("").parts
                name = ".".join((package, *(part for part in parts if part != "__init__")))
                modules[name] = (path, ast.parse(path.read_text(encoding="utf-8"), str(path)))
        return cls(modules)

    def imports(self) -> Iterator[Import]:
        """Every import of every module, each with the module that it really names."""
        for name, (path, tree) in self.modules.items():
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            for node, kind in walk(tree, "module"):
                for target in self.targets(node, package):
                    yield Import(name, target, node.lineno, kind)

    def targets(self, node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
        """The modules that one statement names: `from rropt import exact` names rropt.exact, not rropt."""
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            return
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *([base] if base else [])])
        below = {f"{base}.{alias.name}" for alias in node.names}
        yield from sorted(below & self.modules.keys())
        if below - self.modules.keys():
            yield base


def walk(node: ast.AST, kind: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    """Every import below `node` with its kind: run at import, run inside a function, or for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, kind
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from walk(child, "function" if kind == "module" else kind)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            for inner in child.body:
                yield from walk(ast.Module([inner], []), "typing")
            for inner in child.orelse:
                yield from walk(ast.Module([inner], []), kind)
        else:
            yield from walk(child, kind)


def room(module: str) -> str:
    """The room of a module of the package: the longest known prefix, or its first name."""
    inner = module.partition(".")[2] or "__init__"
    known = [name for level in LEVELS for name in level if f"{inner}.".startswith(f"{name}.")]
    return max(known, key=len, default=inner.partition(".")[0])


def height(name: str) -> int | None:
    """How high a room stands (the ground is 0), or None for a room that LEVELS does not know."""
    return next((len(LEVELS) - 1 - at for at, level in enumerate(LEVELS) if name in level), None)


def own(imports: Iterable[Import]) -> list[Import]:
    """The imports of the package's own modules."""
    return [one for one in imports if one.target.partition(".")[0] == one.source.partition(".")[0]]


def comparison_may(target: str) -> bool:
    """Whether `comparison` may import `target`: itself, mechanisms and what is below, the two LP modules."""
    ground = height(room(target)) or 0
    inner = target.partition(".")[2]
    return room(target) == "comparison" or ground <= (height("mechanisms") or 0) or inner in COMPARISON_MAY


def unplaced(tree: Tree) -> list[str]:
    """Rooms that stand nowhere in LEVELS."""
    rooms = {room(name) for name in tree.modules} - {CHECKER}
    return [f"room {name!r} has no place in LEVELS" for name in sorted(rooms) if height(name) is None]


def upward(tree: Tree) -> list[str]:
    """Imports against the direction, whether at the top of a module, in a function or for types only."""
    faults = []
    for one in own(tree.imports()):
        source, target = room(one.source), room(one.target)
        if CHECKER in (source, target):
            if source == CHECKER or target not in (source, CHECKER) or source not in CHECKER_CALLERS:
                faults.append(f"{one}: only {', '.join(CHECKER_CALLERS)} may, and the checker nothing")
            continue
        low, high = height(source), height(target)
        if low is None or high is None:
            continue  # `unplaced` speaks of it
        if high > low:
            faults.append(f"{one}: {source} stands below {target}")
        elif source == "comparison" and not comparison_may(one.target):
            faults.append(f"{one}: comparison may use mechanisms and {', '.join(COMPARISON_MAY)}")
    return faults


def circles(tree: Tree) -> list[str]:
    """Circles of modules, and of rooms, by whatever import that really runs (a function's too)."""
    found = [one for one in own(tree.imports()) if one.kind != "typing"]
    modules = nx.DiGraph((one.source, one.target) for one in found)
    rooms = nx.DiGraph((room(one.source), room(one.target)) for one in found if room(one.source) != room(one.target))
    faults = []
    for what, graph in (("modules", modules), ("rooms", rooms)):
        rings = [ring for ring in nx.strongly_connected_components(graph) if len(ring) > 1]
        rings += [{node} for node in nx.nodes_with_selfloops(graph)]
        faults += [f"circle of {what}: {', '.join(sorted(ring))}" for ring in rings]
    return faults


def stray_solvers(tree: Tree) -> list[str]:
    """Imports of a solver outside the routes, or at the top of a module, where importing rropt would pay."""
    return [
        f"{one}: solvers are imported in {SOLVER_ROOM}/ only, inside the function that uses them"
        for one in tree.imports()
        if one.target.partition(".")[0] in SOLVERS
        and one.kind != "typing"
        and (room(one.source) != SOLVER_ROOM or one.kind != "function")
    ]


def undocumented(tree: Tree) -> list[str]:
    """Modules, public classes and public functions without a docstring."""
    faults = []
    for name, (_, module) in tree.modules.items():
        if not ast.get_docstring(module):
            faults.append(f"{name}: the module has no docstring")
        for node in module.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if not node.name.startswith("_") and not ast.get_docstring(node):
                faults.append(f"{name}:{node.lineno} {node.name} has no docstring")
    return faults


def overlong(tree: Tree) -> list[str]:
    """Files that are two rooms, the trusted checker excepted."""
    lengths = {
        name: len(path.read_text(encoding="utf-8").splitlines())
        for name, (path, _) in tree.modules.items()
        if room(name) != CHECKER
    }
    return [f"{name}: {n} lines (at most {LONGEST_FILE})" for name, n in lengths.items() if n > LONGEST_FILE]


# The pieces are joined so that this file does not find itself.
_ROOTS = ("work", "home", "tmp", "root", "Users", "mnt", "opt", "var", "private")
MACHINE_PATH = re.compile(rf"(?<![\w./$}}>-])/(?:{'|'.join(_ROOTS)})/\w|[.]{{2}}/{'shared'}\b|\b[A-Z]:[\\/]Users\b")


def machine_paths(files: Iterable[Path]) -> list[str]:
    """Absolute paths of somebody's machine in text files; binary files are passed over."""
    faults = []
    for path in files:
        data = path.read_bytes()
        if b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if found := MACHINE_PATH.search(line):
                faults.append(f"{path.name}:{number} names a path of one machine: {found[0]}...")
    return faults


PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([0-9][A-Za-z0-9.!+]*)")


def normal(name: str) -> str:
    """A distribution's name in its normal form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> tuple[dict[str, str], list[str]]:
    """The pinned versions of a constraints file by normal name, and the lines that are anything else."""
    found: dict[str, str] = {}
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        match = PIN.fullmatch(line)
        if match is None:
            faults.append(f"line {number} is no name==version: {line!r}")
        elif normal(match[1]) in found:
            faults.append(f"line {number} pins {match[1]} again")
        else:
            found[normal(match[1])] = match[2]
    return found, faults
