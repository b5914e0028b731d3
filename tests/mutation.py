"""Mutation testing of the checker: `python tests/mutation.py [--minutes M] [--function NAME] [--out FILE]`.

Every condition of rropt/checker.py is changed in turn: taken as true, as false, negated; one operand of an `and` or
`or` left out; one end of a chain of comparisons left out; `<` for `<=` and the like; a call that only
checks left out; max for min, any for all. Of each mutant the tests that run its line are run, the one that killed its
neighbour first, until one fails. What survives all of them is printed.

One process collects the tests once, learns in a child which test runs which line (coverage contexts), then forks a
child for each mutant, which gets the changed code in the place of the function's own: a mutant costs what its tests
cost. Mutants are taken in an order that is always the same and spread over the whole file, so that a run that time
cuts off is a sample. Those that no input can tell from the original stand in tests/data/mutation_equivalent.json, each
with the reason. A child that takes ten times the processor time of its test, or too much memory, is killed by it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import signal
import sys
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).resolve().parent
CHECKER = HERE.parent / "rropt" / "checker.py"
EQUIVALENT = HERE / "data" / "mutation_equivalent.json"
FILES = ("test_checker*.py",)
STRIDE = 7919
"""A prime: the order of the mutants goes through the file in steps of so many."""
CALLS = ("_check", "_limit", "_read", "add")
"""Of calls whose result nobody takes: those whose name begins with one of these may be left out."""
WAITS = 20
"""A child that lives this many times as long as its tests may take is killed."""
BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
            ast.IsNot: ast.Is}  # fmt: skip
SWAPS = {"max": "min", "min": "max", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """A change of one function: `apply` makes it in the tree and returns what takes it back."""

    function: str
    line: int
    lines: range
    what: str
    apply: Callable[[], Callable[[], None]]

    @property
    def name(self) -> str:
        """The same as long as the function's text up to here is."""
        return f"{self.function}: {self.what}"


def _put(node: Any, name: str, value: Any, place: int | None = None) -> Callable[[], Callable[[], None]]:
    """A change of one attribute of a node, or of one element of a list of it."""

    def apply() -> Callable[[], None]:
        if place is None:
            before = getattr(node, name)
            setattr(node, name, value)
            return lambda: setattr(node, name, before)
        own = getattr(node, name)
        before = own[place]
        own[place] = value
        return lambda: own.__setitem__(place, before)

    return apply


def _at(node: Any, new: Any) -> Any:
    """`new` with the place of `node`."""
    return ast.fix_missing_locations(ast.copy_location(new, node))


def _slots(root: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node below `root` with the place where it stands, in the order of the text."""
    for name, value in ast.iter_fields(root):
        for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.Assert) and name not in ("annotation", "returns"):
                yield root, name, place, node
                yield from _slots(node)


def changes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, Callable[[], Callable[[], None]]]]:
    """(node, what is changed, the change) of every mutant of one function."""
    for parent, name, place, node in _slots(function):
        is_test = name == "test" or (name == "ifs" and isinstance(parent, ast.comprehension))
        text = ast.unparse(node) if isinstance(node, ast.expr) else ""
        if is_test:
            assert isinstance(node, ast.expr)
            words = ("false",) if isinstance(parent, ast.While) else ("true", "false")
            for word in words if not isinstance(node, ast.Constant) else ():
                yield node, f"{text} -> {word}", _put(parent, name, _at(node, ast.Constant(word == "true")), place)
            if isinstance(parent, ast.If | ast.IfExp | ast.comprehension):
                yield node, f"not ({text})", _put(parent, name, _at(node, ast.UnaryOp(ast.Not(), node)), place)
        if isinstance(node, ast.BoolOp):
            for i, operand in enumerate(node.values):
                rest = node.values[:i] + node.values[i + 1 :]
                fewer = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
                yield operand, f"{text} without {ast.unparse(operand)}", _put(parent, name, _at(node, fewer), place)
        if isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                new = BOUNDARY.get(type(op)) or (None if is_test else OPPOSITE.get(type(op)))
                if new is not None:
                    yield node, f"{text}: {type(op).__name__} {i} -> {new.__name__}", _put(node, "ops", new(), i)
            if len(node.ops) == 2:
                first = ast.Compare(node.left, node.ops[:1], node.comparators[:1])
                second = ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])
                for part in (first, second):
                    yield node, f"{text} -> {ast.unparse(part)}", _put(parent, name, _at(node, part), place)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and not is_test:
            yield node, f"{text} -> {ast.unparse(node.operand)}", _put(parent, name, node.operand, place)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPS:
            new_name = SWAPS[node.func.id]
            yield node, f"{text[:60]}: {new_name}", _put(node.func, "id", new_name)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called.rpartition(".")[2].startswith(CALLS):
                yield node, f"without {ast.unparse(node.value)[:80]}", _put(parent, name, _at(node, ast.Pass()), place)


class _Found(Protocol):
    """A function of the module, with what it takes to compile it again."""

    def __call__(self) -> types.CodeType: ...


def mutants(tree: ast.Module) -> Iterator[tuple[Mutant, str, Callable[[], types.CodeType]]]:
    """(mutant, qualified name, compiler of the function as the tree has it) of every mutant of a module."""
    functions: list[tuple[str, ast.FunctionDef, list[ast.stmt]]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions.append((node.name, node, [node]))
        if isinstance(node, ast.ClassDef):
            for own in node.body:
                if isinstance(own, ast.FunctionDef):
                    shell = ast.ClassDef(node.name, [], [], [own], [], **_type_params())
                    functions.append((f"{node.name}.{own.name}", own, [_at(node, shell)]))
    for name, function, body in functions:

        def code(name: str = name, body: list[ast.stmt] = body) -> types.CodeType:
            whole = ast.Module([ast.ImportFrom("__future__", [ast.alias("annotations")], 0), *body], [])
            found = compile(ast.fix_missing_locations(whole), str(CHECKER), "exec", dont_inherit=True)
            for part in name.split("."):
                found = next(c for c in found.co_consts if isinstance(c, types.CodeType) and c.co_name == part)
            return found

        seen: Counter[str] = Counter()
        for node, what, apply in changes(function):
            seen[what] += 1
            number = f" ({seen[what]})" if seen[what] > 1 else ""
            line, last = getattr(node, "lineno", function.lineno), getattr(node, "end_lineno", None) or function.lineno
            yield Mutant(name, line, range(line, last + 1), what + number, apply), name, code


def _type_params() -> dict[str, Any]:
    """What ast.ClassDef wants from Python 3.12 on."""
    return {"type_params": []} if sys.version_info >= (3, 12) else {}


def function_of(module: types.ModuleType, name: str) -> types.FunctionType:
    """The function object behind a qualified name, under its decorators."""
    head, _, tail = name.partition(".")
    found: Any = module.__dict__[head]
    if tail:
        found = found.__dict__[tail]
    if isinstance(found, property):
        found = found.fget
    found = getattr(found, "__wrapped__", getattr(found, "__func__", found))
    assert isinstance(found, types.FunctionType)
    return found


class Campaign:
    """The pytest plugin: runs the mutants where pytest would run the tests."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.session: Any = None
        self.by_line: dict[int, set[int]] = {}
        self.seconds: list[float] = []
        self.killers: dict[str, list[int]] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        self.session = session
        self.learn()
        self.run()
        return True

    def _report(self, items: list[int], limit: bool) -> int | None:
        """The place of the first of these tests that fails; with `limit`, each within its own processor time."""
        for place, number in enumerate(items):
            item = self.session.items[number]
            after = self.session.items[items[place + 1]] if place + 1 < len(items) else None
            if limit:
                signal.setitimer(signal.ITIMER_VIRTUAL, 10 * self.seconds[number] + 10)
            if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
                return number
        return None

    def learn(self) -> None:
        """Which test runs which line, and how long each takes; in a child, so that this process stays as it is."""
        kept = self.options.contexts
        if kept and kept.exists():
            known = json.loads(kept.read_text())
            names = [item.nodeid for item in self.session.items]
            if known["names"] == names and known["source"] == CHECKER.read_text():
                self.seconds = known["seconds"]
                self.by_line = {int(line): set(own) for line, own in known["lines"].items()}
                return
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            _silence()
            with os.fdopen(writer, "w") as stream:
                json.dump(self._learned(), stream)
                stream.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as stream:
            found = json.load(stream)
        os.wait()
        if found["failed"]:
            # A test that is in a hurry may fail under coverage; it would kill every mutant, so it is left out.
            print(f"left out, as they fail without any change: {', '.join(found['failed'])}", flush=True)
            names = [item.nodeid for item in self.session.items]
            unfit = {names.index(name) for name in found["failed"]}
            found["lines"] = {line: [n for n in own if n not in unfit] for line, own in found["lines"].items()}
        self.seconds = found["seconds"]
        self.by_line = {int(line): set(own) for line, own in found["lines"].items()}
        if kept:
            names = [item.nodeid for item in self.session.items]
            kept.write_text(json.dumps({**found, "names": names, "source": CHECKER.read_text()}))
        print(f"{len(self.seconds)} tests take {sum(self.seconds):.0f} s under coverage", flush=True)

    def _learned(self) -> dict[str, Any]:
        from coverage import Coverage

        measure = Coverage(data_file=None, include=[str(CHECKER)], branch=True, messages=False)
        measure.start()
        seconds: list[float] = []
        failed: list[str] = []
        for number, item in enumerate(self.session.items):
            measure.switch_context(str(number))
            begun = time.process_time()
            after = self.session.items[number + 1] if number + 1 < len(self.session.items) else None
            reports = runtestprotocol(item, log=False, nextitem=after)
            failed += [item.nodeid for report in reports if report.failed]
            seconds.append(time.process_time() - begun)
            if self.options.progress:
                with self.options.progress.open("a") as stream:
                    stream.write(f"{seconds[-1]:.2f} {item.nodeid}\n")
        measure.stop()
        if self.options.progress:
            with self.options.progress.open("a") as stream:
                measure.report(show_missing=True, file=stream)
        contexts = measure.get_data().contexts_by_lineno(str(CHECKER))
        lines = {line: [int(one) for one in own if one] for line, own in contexts.items()}
        return {"seconds": seconds, "lines": lines, "failed": failed}

    def tests_of(self, mutant: Mutant) -> list[int]:
        """The tests that run a mutant's lines: those that killed in this function first, then the quick ones."""
        found = set().union(*(self.by_line.get(line, set()) for line in mutant.lines))
        first = [number for number in self.killers.get(mutant.function, []) if number in found]
        return first + sorted(found - set(first), key=lambda number: self.seconds[number])

    def run(self) -> None:
        """Every mutant, or as many as there is time for."""
        import rropt.checker as checker

        known = json.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}
        source = CHECKER.read_text()
        all_mutants = list(mutants(ast.parse(source)))
        order = sorted(range(len(all_mutants)), key=lambda i: i * STRIDE % len(all_mutants))
        chosen = [all_mutants[i] for i in order]
        if self.options.function:
            chosen = [one for one in chosen if re.search(self.options.function, one[0].function)]
        if self.options.again:
            names = {json.loads(line)["name"] for line in self.options.again.read_text().splitlines() if line}
            chosen = [one for one in chosen if one[0].name in names]
        end = time.monotonic() + 60 * self.options.minutes
        results: Counter[str] = Counter()
        out = self.options.out.open("a") if self.options.out else None
        for mutant, name, code in chosen:
            if time.monotonic() > end:
                break
            if mutant.name in known:
                results["equivalent"] += 1
                continue
            undo = mutant.apply()
            try:
                changed = code()
            finally:
                undo()
            tests = self.tests_of(mutant)
            found, killer = self.outcome(function_of(checker, name), changed, tests) if tests else ("not run", None)
            results[found] += 1
            if killer is not None:
                own = self.killers.setdefault(mutant.function, [])
                if killer in own:
                    own.remove(killer)
                own.insert(0, killer)
                del own[4:]
            if found != "killed" and found != "killed by time":
                print(f"{found}: {CHECKER.name}:{mutant.line}: {mutant.name}", flush=True)
            if out:
                row = {"name": mutant.name, "line": mutant.line, "result": found, "tests": len(tests)}
                out.write(json.dumps(row) + "\n")
                out.flush()
        done = sum(results.values())
        print(f"{done} of {len(chosen)} mutants ({len(all_mutants)} in all): {dict(results)}", flush=True)

    def outcome(self, function: types.FunctionType, code: types.CodeType, tests: list[int]) -> tuple[str, int | None]:
        """What a child says that has this code in the function, and the test that failed."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _silence()
            resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
            # A mutant may wait for what never comes, such as the other end of a pipe, and uses no processor time.
            signal.alarm(WAITS * int(self.options.seconds))
            self._forget(sys.modules[function.__module__])
            function.__code__ = code
            begun, done = time.process_time(), 0
            budget = self.options.seconds
            while done < len(tests) and time.process_time() - begun < budget:
                own = tests[done : done + 1]
                if self._report(own, limit=True) is not None:
                    os.write(writer, b"%d" % own[0])
                    os._exit(1)
                done += 1
            os._exit(0 if done == len(tests) else 2)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            said = stream.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return "killed by time", None
        word = {0: "survived", 1: "killed", 2: "survived the time given"}.get(os.WEXITSTATUS(status), "killed")
        return word, int(said) if said else None

    @staticmethod
    def _forget(module: types.ModuleType) -> None:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def _silence() -> None:
    """What tests print is nobody's business here."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after so many")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for one mutant")
    parser.add_argument("--function", default="", help="only functions that match, such as '_Leaves|_check_tree'")
    parser.add_argument("--again", type=Path, help="only the mutants named in a file that --out wrote")
    parser.add_argument("--out", type=Path, help="append a line of JSON for each mutant")
    parser.add_argument("--progress", type=Path, help="append here how long each test takes, and the coverage")
    parser.add_argument("--tests", default="", help="only these files, such as test_checker.py,test_checker_risk.py")
    parser.add_argument("-k", dest="expression", default="", help="only the tests that this expression of pytest names")
    parser.add_argument("--contexts", type=Path, help="keep here which test runs which line")
    options = parser.parse_args()
    patterns = options.tests.split(",") if options.tests else FILES
    files = sorted({str(path) for pattern in patterns for path in (HERE / "checker").glob(pattern)})
    arguments = ["-q", "--capture=no", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
    arguments += ["-k", options.expression] if options.expression else []
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    sys.exit(pytest.main([*arguments, "-m", "not long and not exact", *files], plugins=[Campaign(options)]))


if __name__ == "__main__":
    main()
