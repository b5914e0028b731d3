"""The rules of the house as functions on a source tree; each returns what breaks it, one line a fault.

`test_house.py` applies them to the package and, so that no rule is blind, to small trees that break them.
"""

from __future__ import annotations

import ast
import builtins
import gc
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import networkx as nx

# Rooms from the top of the package to its ground; an import goes down, or sideways without a circle.
# The name of a room is the longest prefix here: `solve.kernel` is not in `solve`.
THEORIES = (
    "linear", "ldp", "columns", "matrix", "offdiagonal", "robust", "robust_exact", "designs", "risk", "events",
    "entropy", "permutations", "maximin", "metric", "tangent",
)  # fmt: skip
FACADES = ("claims", "ordering", "patterns", "privacy", "robust")
"""Public namespaces that name things of other rooms and have no code of their own."""
LEVELS: tuple[tuple[str, ...], ...] = (
    ("cli", "__main__", *FACADES),
    ("studies", "models", "__init__"),
    ("comparison", "release", "estimation", "disclosure", "testing"),
    ("problem", "problem_file"),
    ("solve", "solve.compose", "solve.export"),
    tuple(f"solve.{theory}" for theory in THEORIES),
    ("solve.kernel",),
    ("declare", "prove"),
    ("program",),
    ("mechanisms",),
    ("model",),
    ("exact", "io", "errors"),
)
# The trusted checker and the kernel stand apart from the levels: they receive only bytes, like any external caller.
# `prove` writes proof files with the kernel's own forms and rows; what it writes is read as bytes all the same.
APART: dict[str, tuple[str, ...]] = {
    "checker": ("solve", "problem", "prove", "cli", "__init__", "__main__"),
    "kernel": ("solve", "prove"),
}
# `comparison` may use of the rooms of `solve` only these.
COMPARISON_MAY = ("solve.kernel.lp", "solve.kernel.milp")
SOLVERS, SOLVER_ROOM = ("cvxpy", "highspy", "cdd"), "solve"
MOST_NAMES, MOST_FILES, MOST_LEVELS = 20, 15, 12
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
THE_SEARCH = "rropt.solve.kernel.search"
"""The only heap loop over cells."""
OTHER_HEAPS = frozenset(
    f"rropt.{name}"
    for name in (
        "model.privacy.infimum",
        "model.shortest",
        "prove.limits",
        "program.assignments",
        "program.worst_case",
        "solve.candidates",
    )
)
"""Heaps below the solver, or over other things than cells. This list may only get shorter."""


def parsed(text: str) -> ast.Module:
    """The tree of a source. Without the garbage collector, which would walk through all earlier trees again and again,
    that takes a third of the time."""
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        gc.enable()


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
    """A package's modules by dotted name ("rropt.solve.kernel.lp"), as parsed source with its file."""

    modules: Mapping[str, tuple[Path, ast.Module]]

    @classmethod
    def read(cls, folders: Mapping[str, Path]) -> Tree:
        """Parse every .py file of each folder; the key is the folder's name as a package."""
        modules = {}
        for package, folder in folders.items():
            for path in sorted(folder.rglob("*.py")):
                parts = path.relative_to(folder).with_suffix("").parts
                name = ".".join((package, *(part for part in parts if part != "__init__")))
                modules[name] = (path, parsed(path.read_text(encoding="utf-8")))
        return cls(modules)

    def imports(self) -> tuple[Import, ...]:
        """Every import of every module, each with the module that it really names."""
        return self._imports

    @cached_property
    def _imports(self) -> tuple[Import, ...]:
        return tuple(self._found())

    def _found(self) -> Iterator[Import]:
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
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from walk(child, "function" if kind == "module" else kind)
        elif isinstance(child, ast.expr):
            continue  # most of a tree, and without statements
        elif isinstance(child, ast.If) and for_types(child.test):
            for inner in child.body:
                yield from walk(ast.Module([inner], []), "typing")
            for inner in child.orelse:
                yield from walk(ast.Module([inner], []), kind)
        else:
            yield from walk(child, kind)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All below `node` but expressions, which are most of a tree."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def for_types(test: ast.expr) -> bool:
    """Whether a condition names TYPE_CHECKING."""
    return any(getattr(node, "id", getattr(node, "attr", "")) == "TYPE_CHECKING" for node in ast.walk(test))


@cache
def room(module: str) -> str:
    """The room of a module of the package: the longest known prefix, or its first name."""
    inner = module.partition(".")[2] or "__init__"
    known = [name for level in LEVELS for name in level if f"{inner}.".startswith(f"{name}.")]
    return max(known, key=len, default=inner.partition(".")[0])


@cache
def height(name: str) -> int | None:
    """How high a room stands (the ground is 0), or None for a room that LEVELS does not know."""
    return next((len(LEVELS) - 1 - at for at, level in enumerate(LEVELS) if name in level), None)


def own(imports: Iterable[Import]) -> list[Import]:
    """The imports of the package's own modules."""
    return [one for one in imports if one.target.partition(".")[0] == one.source.partition(".")[0]]


def comparison_may(target: str) -> bool:
    """Whether `comparison` may import `target`: anything but the solver's rooms, and of these the two LP modules."""
    return not room(target).startswith("solve") or target.partition(".")[2] in COMPARISON_MAY


def unplaced(tree: Tree) -> list[str]:
    """Rooms that stand nowhere in LEVELS."""
    rooms = {room(name) for name in tree.modules} - APART.keys()
    return [f"room {name!r} has no place in LEVELS" for name in sorted(rooms) if height(name) is None]


def upward(tree: Tree) -> list[str]:
    """Imports against the direction, whether at the top of a module, in a function or for types only."""
    faults = []
    for one in own(tree.imports()):
        if one.source == "rropt" and one.kind == "typing":
            continue  # the public names, as type checkers see them
        source, target = room(one.source), room(one.target)
        if source in APART or target in APART:
            if source in APART or source not in APART[target]:
                faults.append(f"{one}: a file that stands apart imports nothing and is imported by its callers only")
            continue
        low, high = height(source), height(target)
        if low is None or high is None:
            continue  # `unplaced` speaks of it
        if high > low:
            faults.append(f"{one}: {source} stands below {target}")
        elif source == "comparison" and not comparison_may(one.target):
            faults.append(f"{one}: comparison may use of the solver {', '.join(COMPARISON_MAY)} only")
    return faults


def circles(tree: Tree) -> list[str]:
    """Circles of modules, of folders (subfolders apart), and of rooms, by whatever import that really runs (a
    function's too)."""
    found = [one for one in own(tree.imports()) if one.kind != "typing"]
    modules = nx.DiGraph((one.source, one.target) for one in found)

    def between(place: Callable[[str], str], among: list[Import]) -> nx.DiGraph:
        pairs = ((place(one.source), place(one.target)) for one in among)
        return nx.DiGraph((source, target) for source, target in pairs if source != target)

    def folder(name: str) -> str:
        """Where the file of a module stands; a file at the top of the package stands for itself."""
        path = tree.modules[name][0] if name in tree.modules else None
        alone = path is None or path.name == "__init__.py" or name.count(".") == 1
        return name if alone else name.rpartition(".")[0]

    faults = []
    inside = [one for one in found if room(one.source) == room(one.target)]
    graphs = {"modules": modules, "folders": between(folder, inside), "rooms": between(room, found)}
    for what, graph in graphs.items():
        rings = [ring for ring in nx.strongly_connected_components(graph) if len(ring) > 1]
        rings += [{node} for node in nx.nodes_with_selfloops(graph)]
        faults += [f"circle of {what}: {', '.join(sorted(ring))}" for ring in rings]
    return faults


def levels(tree: Tree) -> list[str]:
    """The longest chain of imports between names at the top, where it passes MOST_LEVELS, and the list of LEVELS."""
    found = [one for one in own(tree.imports()) if one.kind != "typing"]
    tops = nx.DiGraph(pair for one in found if len(set(pair := (top(one.source), top(one.target)))) == 2)
    longest = nx.dag_longest_path(nx.condensation(tops)) if tops else []
    return [f"{n} levels (at most {MOST_LEVELS})" for n in (len(longest), len(LEVELS)) if n > MOST_LEVELS]


def top(module: str) -> str:
    """The name at the top of the package to which a module belongs."""
    return f"{module}.__init__".split(".")[1]


def stray_solvers(tree: Tree) -> list[str]:
    """Imports of a solver outside the routes, or at the top of a module, where importing rropt would pay."""
    return [
        f"{one}: solvers are imported in {SOLVER_ROOM}/ only, inside the function that uses them"
        for one in tree.imports()
        if one.target.partition(".")[0] in SOLVERS
        and one.kind != "typing"
        and (room(one.source).partition(".")[0] != SOLVER_ROOM or one.kind != "function")
    ]


def heap_loops(tree: Tree) -> list[str]:
    """Best-first loops beside the kernel's, and names on the list of others that have none."""
    found = {one.source for one in tree.imports() if one.target == "heapq" and room(one.source) not in APART}
    stray = sorted(found - OTHER_HEAPS - {THE_SEARCH})
    faults = [f"{name} imports heapq: cells are searched by {THE_SEARCH}" for name in stray]
    return faults + [f"{name} has no heap: take it off the list" for name in OTHER_HEAPS & tree.modules.keys() - found]


def between_theories(tree: Tree) -> list[str]:
    """Imports of one theory by another: what two theories share belongs to the kernel."""
    own_rooms = {f"solve.{theory}" for theory in THEORIES}
    return [
        f"{one}: what two theories share belongs to solve/kernel/"
        for one in own(tree.imports())
        if {room(one.source), room(one.target)} <= own_rooms and room(one.source) != room(one.target)
    ]


def crowded(tree: Tree) -> list[str]:
    """More names at the top than MOST_NAMES, and folders with more than MOST_FILES files or without a docstring."""
    tops = {name.split(".")[1] for name in tree.modules if "." in name} - {"__main__", "models", *FACADES}
    faults = [] if len(tops) <= MOST_NAMES else [f"{len(tops)} names at the top (at most {MOST_NAMES})"]
    folders = Counter(path.parent for path, _ in tree.modules.values())
    faults += [f"{folder.name}/: {n} files (at most {MOST_FILES})" for folder, n in folders.items() if n > MOST_FILES]
    faults += [f"{folder.name}/ has no __init__.py" for folder in folders if not (folder / "__init__.py").exists()]
    return faults


def facades(tree: Tree) -> list[str]:
    """Namespaces with anything but imports and `__all__`, or with an import that they do not show."""
    faults = []
    for name, (_, module) in tree.modules.items():
        if room(name) not in FACADES or ast.get_docstring(module) is None:
            continue
        imported = [alias.name for node in module.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        rest = [node for node in module.body[1:] if not isinstance(node, ast.ImportFrom)]
        shown = rest.pop(0) if rest else None
        listed = ast.literal_eval(shown.value) if isinstance(shown, ast.Assign) else []
        if rest or sorted(imported) != sorted(listed):
            faults.append(f"{name}: a namespace imports what its __all__ lists, and does nothing else")
    return faults


def undocumented(tree: Tree) -> list[str]:
    """Modules, public classes and public functions without a docstring."""
    faults = []
    for name, (_, module) in tree.modules.items():
        if not ast.get_docstring(module):
            faults.append(f"{name}: the module has no docstring")
        for node in module.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            # The overloads of a function share its docstring.
            if any(ast.unparse(one) == "overload" for one in node.decorator_list):
                continue
            if not node.name.startswith("_") and not ast.get_docstring(node):
                faults.append(f"{name}:{node.lineno} {node.name} has no docstring")
    return faults


def annotated(tree: Tree) -> list[str]:
    """Modules that postpone their annotations where all can be evaluated, or do not where one cannot."""
    faults = []
    for name, (_, module) in tree.modules.items():
        postponed = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in module.body)
        known = set(dir(builtins))
        missing = [*unbound(module.body, known)]
        inner = {node for node in statements(module) if isinstance(node, FUNCTIONS) and read(node) - known}
        everywhere = known | {one for function in statements(module) if inner for one in bound(function)}
        missing += [one for function in inner for one in sorted(read(function) - everywhere)]
        if postponed and not missing:
            faults.append(f"{name}: every annotation can be evaluated, so the import of annotations can go")
        if missing and not postponed:
            faults.append(f"{name}: {missing[0]} in an annotation is not known where it is evaluated")
    return faults


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def read(node: ast.AST) -> set[str]:
    """The names that the annotations of a function or a variable read; of texts nothing is read."""
    if isinstance(node, FUNCTIONS):
        every = [one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg)] + [node.returns]
    else:
        every = [node.annotation] if isinstance(node, ast.AnnAssign) else []
    return {one.id for top in every if top is not None for one in ast.walk(top) if isinstance(one, ast.Name)}


def bound(node: ast.AST) -> set[str]:
    """The names that a statement and all within it bind."""
    nodes = [*ast.walk(node)]
    names = {
        (alias.asname or alias.name).partition(".")[0]
        for one in nodes
        if isinstance(one, IMPORTS)
        for alias in one.names
    }
    names |= {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return names | {one.name for one in nodes if isinstance(one, (*FUNCTIONS, ast.ClassDef))}


IMPORTS = (ast.Import, ast.ImportFrom)


def unbound(body: Iterable[ast.stmt], known: set[str]) -> Iterator[str]:
    """What annotations of a module or a class read before it is bound there; adds what is bound to `known`."""
    for node in body:
        if isinstance(node, ast.If) and for_types(node.test):
            continue
        yield from sorted(read(node) - known)
        if isinstance(node, ast.ClassDef):
            yield from unbound(node.body, {*known})
        known |= {node.name} if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else bound(node)


GIVEN = frozenset(["ROUTES", "VERSION", "SETTINGS", "ZERO", "PRIMAL", "OPEN, PLAIN, EXCEPTIONAL"])
"""Names of the solver with numbers that nobody chose: of the format, of other programs, of states."""


def constants(tree: Tree) -> Iterator[tuple[str, ast.stmt, str, str]]:
    """(module, statement, name, docstring or "") of the solver's numbers at the top of a module."""
    for name, (_, module) in tree.modules.items():
        if room(name).partition(".")[0] != SOLVER_ROOM:
            continue
        for node, below in zip(module.body, [*module.body[1:], None], strict=True):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and holds_number(node.value):
                named = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target).strip("()")
                if named.isupper():
                    yield name, node, named, _text(below)


def _text(node: ast.stmt | None) -> str:
    """The docstring that a statement is, or nothing."""
    value = node.value if isinstance(node, ast.Expr) else None
    return str(value.value) if isinstance(value, ast.Constant) else ""


def bare_constants(tree: Tree) -> list[str]:
    """Numbers of the solver without a docstring below them: what each one trades."""
    return [f"{name}:{node.lineno} {named} has no docstring" for name, node, named, said in constants(tree) if not said]


def unchosen_constants(tree: Tree) -> list[str]:
    """Tuned numbers whose docstring does not say what they trade and then how each was chosen: measured, or by reason.

    One docstring of several numbers says it for each by its name, or once for all.
    """
    faults = []
    for name, node, named, said in constants(tree):
        trades, _, chosen = " ".join(said.split()).partition(" Chosen: ")
        ways = re.findall(r"(?:(\w+) )?(?:measured in \w+|by reason(?:, as [^:]+)?: \w+)", chosen)
        if named not in GIVEN and said and not (trades and (ways[:1] == [""] or set(ways) >= set(named.split(", ")))):
            faults.append(f"{name}:{node.lineno} {named} does not say how it was chosen")
    return faults


def scattered_constants(tree: Tree) -> list[str]:
    """Folders of the solver whose tuned numbers stand in several files: one table a theory."""
    tables: dict[Path, set[str]] = {}
    for name, _, named, _ in constants(tree):
        if named not in GIVEN:
            tables.setdefault(tree.modules[name][0].parent, set()).add(name)
    return [
        f"{folder.name}/: tuned numbers in {', '.join(sorted(names))}: they stand in one table"
        for folder, names in tables.items()
        if len(names) > 1
    ]


def holds_number(value: ast.expr) -> bool:
    """Whether an expression has a number in it."""
    numbers = (node.value for node in ast.walk(value) if isinstance(node, ast.Constant))
    return any(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers)


def overlong(tree: Tree) -> list[str]:
    """Files that are two rooms, the checker and the kernel excepted."""
    lengths = {
        name: len(path.read_text(encoding="utf-8").splitlines())
        for name, (path, _) in tree.modules.items()
        if room(name) not in APART
    }
    return [f"{name}: {n} lines (at most {LONGEST_FILE})" for name, n in lengths.items() if n > LONGEST_FILE]


def long_functions(tree: Tree) -> list[str]:
    """Functions of the solver that are several steps, and name none of them."""
    return [
        f"{name}:{node.lineno} {node.name}: {length} lines (at most {LONGEST_FUNCTION})"
        for name, (_, module) in tree.modules.items()
        if room(name).partition(".")[0] == SOLVER_ROOM
        for node in statements(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    ]


THINGS = frozenset([
    "answers", "arguments", "axes", "blocks", "categories", "cells", "characters", "claims", "codes", "columns",
    "denominators", "draws", "elements", "entries", "equations", "files", "inequalities", "inputs", "items",
    "labels", "levels", "lines", "members", "nodes", "numbers", "observations", "outcomes", "outputs", "parts",
    "people", "permutations", "pieces", "points", "properties", "records", "rows", "samples", "sets", "solutions",
    "thetas", "values", "vertices", "weights",
])  # fmt: skip
"""Nouns that a message counts."""
NEAR = re.compile(rf"\}}[\"'a-z\s]*\b(?:{'|'.join(sorted(THINGS))})\b")
"""A noun near the end of a field: a file without one is not walked."""


def plurals(tree: Tree) -> list[str]:
    """Counts before a noun in the plural ("1 rows"): `errors.counted` writes both."""
    faults = []
    for name, (path, module) in tree.modules.items():
        if room(name) in APART or room(name) == "models":  # the claims of papers, whose sizes are fixed
            continue
        for node in ast.walk(module) if NEAR.search(path.read_text(encoding="utf-8")) else ():
            parts = node.values if isinstance(node, ast.JoinedStr) else []
            for number, text in pairwise(parts):
                if not (isinstance(number, ast.FormattedValue) and isinstance(text, ast.Constant)):
                    continue
                words = re.match(r" (?:[a-z]+ )?([a-z]+)", str(text.value))
                # A number is written as it is or with commas; what has another format is a share or a text.
                plain = number.conversion == -1 and ast.unparse(number.format_spec or ast.Constant("")) in PLAIN
                if words and plain and THINGS & set(words[0].split()) and not large(number.value):
                    faults.append(f"{name}:{number.lineno} {ast.unparse(number.value)}{text.value:.30}: use counted")
    return faults


PLAIN = ("''", "f','")
TEXTS = frozenset(["hint", "parts[2]", "prefix", "program", "share", "where"])


def large(number: ast.expr) -> bool:
    """Whether an expression is never 1: a constant of the module, the size of a domain, `counted` itself, or a text."""
    said = ast.unparse(number)
    name = said.rpartition(".")[2]
    return name.isupper() or name in TEXTS | {"k", "size", "width", "most"} or said.startswith("counted(")


PRIVATE = {
    "mechanisms/test_sampling.py": ("_KeyStream", "_columns"),
    "program/test_worst_information.py": ("_Search",),
    "solve/kernel/test_box_executor.py": ("_Worker", "_cores"),
    "solve/kernel/test_highs_faults.py": ("_RUNNING", "_limit"),
    "solve/kernel/test_pooled.py": ("_solved",),
    "studies/test_sweep_cluster.py": ("_environment", "_one"),
}
"""The private names of the package that tests still speak to, besides those of the checker; it only gets shorter."""


def private_names(folder: Path) -> dict[str, tuple[str, ...]]:
    """Which private names of the package each file of a folder of tests imports, or takes from what it imports. For
    the tests of the checker see `pieces`."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if name.startswith("checker"):
            continue
        text = path.read_text(encoding="utf-8")
        if not re.search(r"[.\s(]_[a-zA-Z]", text):
            continue  # parsing takes most of the time
        nodes = [*ast.walk(parsed(text))]
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom | ast.Import)]
        taken = [(alias.asname or alias.name, alias.name) for node in imports for alias in node.names if of_rropt(node)]
        private = {asked for _, asked in taken if is_private(asked)}
        known = {called for called, _ in taken}
        private |= {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known
            if is_private(node.attr)
        }
        if private:
            found[name] = tuple(sorted(private))
    return found


PIECE = re.compile(r"\bchecker\._(?!_)\w|\bfrom rropt\.checker import (?:[\w, ]*|\([^)]*)\b_\w")


def pieces(folder: Path) -> set[str]:
    """The files of a folder of tests that name something private of the checker."""
    files = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    return {path.stem.removeprefix("test_checker_") for path, text in files.items() if PIECE.search(text)}


def of_rropt(node: ast.ImportFrom | ast.Import) -> bool:
    """Whether a statement imports from the package."""
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return any(name.partition(".")[0] == "rropt" for name in names)


def is_private(name: str) -> bool:
    """Whether a name is a module's own: one underscore in front of it, not two."""
    return name.startswith("_") and not name.startswith("__")


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
            faults.append(f"line {number} is not a name==version: {line!r}")
        elif normal(match[1]) in found:
            faults.append(f"line {number} pins {match[1]} again")
        else:
            found[normal(match[1])] = match[2]
    return found, faults


# ---- plain English -----------------------------------------------------------------------------------

COMPARATIVES = (
    "better|closer|deeper|earlier|farther|fewer|finer|further|greater|higher|larger|later|less|longer|lower|more|"
    "narrower|nearer|other|shorter|slower|smaller|tighter|wider|worse"
)
FORBIDDEN = {
    " no ": rf"(?<!there )\b(?:is|are|was|were|be) no (?!(?:{COMPARATIVES})\b)",
    " no word": r"\bha(?:s|ve) no word\b",
    "know": r"\bknows? (?:no|nothing)\b",
    " told": r"\b(?:is|are|was|were|be) told\b",
    "tell": r"\btells? (?:all|everything|nothing)\b",
    "believe": r"\bbelieve[sd]?\b",
    "blame": r"\bblames?\b",
    "nobody": r"\bnobody\b",
    "whoever": r"\bwhoever\b",
    "stranger": r"\bstrangers?\b",
    "riddle": r"\briddles?\b",
    "mend": r"\bmends?\b",
    "for ever": r"\bfor ever\b",
    " and come": r"\bleaves? and comes? back\b",
    "left to itself": r"\bleft to itself\b",
    " for granted": r"\btakes? for granted\b",
    " looked at": r"\b(?:is|are|be) looked at\b",
    "of our own": r"\bof our own\b",
    "in vain": r"\bin vain\b",
    "for certain": r"\bfor certain\b",
    "what is wanted": r"\bwhat is wanted\b",
    "in no way": r"\bin no way\b",
    "other hands": r"\bother hands\b",
}
"""Phrases that make a riddle of a sentence or a person of a program, each with letters that all its forms have: a file
without them is not searched. "is not a" stands for the first of them."""


def riddles(files: Iterable[Path]) -> list[str]:
    """Phrases of FORBIDDEN in these files, across line breaks, in any case."""
    faults = []
    for path in files:
        text = re.sub(r'"\s*\n\s*[rf]?"', "", path.read_text(encoding="utf-8"))  # literals that follow each other
        text = " ".join(re.sub(r"\n\s*#:? ?", " ", text).lower().split())
        for letters, phrase in FORBIDDEN.items():
            for found in re.finditer(phrase, text) if letters in text else ():
                faults.append(f"{path}: ...{text[max(found.start() - 40, 0) : found.end() + 20]}...")
    return faults
