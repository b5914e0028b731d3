"""The threads of linear algebra: one while a problem is solved."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

_BUSY = Lock()
BEGIN = "OPENBLAS_NUM_THREADS"
"""The variable that says with how many threads a library of scipy's begins."""


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """The libraries of linear algebra, looked for again where another number of modules is loaded: with them come
    libraries."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, linear algebra uses one thread: matrices are small here, and threads that wait for each other take many
    times as long. The limit is that of the process, also for a library that is loaded inside. Where one is inside
    already, a second one changes nothing."""
    if not _BUSY.acquire(blocking=False):
        yield
        return
    try:
        try:
            libraries = _libraries(len(sys.modules))
        except ImportError:
            yield  # it is faster with the package, and the same without
            return
        known = {one.filepath: one.num_threads for one in libraries.lib_controllers if one.user_api == "blas"}
        variable = os.environ.get(BEGIN)
        try:
            with libraries.limit(limits=1):
                os.environ[BEGIN] = "1"
                yield
        finally:
            os.environ.pop(BEGIN, None)
            if variable is not None:
                os.environ[BEGIN] = variable
            for one in _libraries(len(sys.modules)).lib_controllers:
                if one.user_api == "blas" and known and one.filepath not in known:
                    one.set_num_threads(max(known.values()))
    finally:
        _BUSY.release()
