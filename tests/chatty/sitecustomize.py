"""Makes solvers print on file descriptor 1, in every process that has this folder on its import path: CHATTY=banner as
HiGHS 1.16 does it, once in a process, and CHATTY=all in each call, whatever they are told."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

NOISE = b"Running a chatty solver: Copyright (c) 2026\n"
MODE = os.environ.get("CHATTY", "")


def with_banner(kind: Any) -> None:
    """HiGHS 1.16 prints its banner when callbacks are enabled first, unless its console is off by then."""
    enable = kind.enableCallbacks
    printed: list[bool] = []

    def enable_callbacks(self: Any) -> None:
        if not printed and self.getOptionValue("output_flag")[1]:
            printed.append(True)
            if self.getOptionValue("log_to_console")[1]:
                os.write(1, NOISE)
        enable(self)

    kind.enableCallbacks = enable_callbacks


def noisy(kind: Any, *names: str) -> None:
    def wrapped(method: Any) -> Any:
        def call(*given: Any, **options: Any) -> Any:
            os.write(1, NOISE)
            return method(*given, **options)

        return call

    for name in names:
        setattr(kind, name, wrapped(getattr(kind, name)))


PATCHES: dict[str, Callable[[Any], None]] = {
    "highspy.highs": lambda module: noisy(module.Highs, "__init__", "run"),
    "cvxpy.problems.problem": lambda module: noisy(module.Problem, "solve"),
}
if MODE == "banner":
    PATCHES = {"highspy.highs": lambda module: with_banner(module.Highs)}


class Patched(importlib.abc.MetaPathFinder):
    """Changes these modules after they were loaded."""

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if MODE not in ("banner", "all") or (patch := PATCHES.pop(name, None)) is None:
            return None
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            patch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, Patched())
