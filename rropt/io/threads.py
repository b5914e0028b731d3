"""The threads of linear algebra: one while a problem is solved."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from threading import Lock
from typing import Any

_BUSY = Lock()


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """The libraries of linear algebra, looked for again where another number of modules is loaded: with them come
    libraries."""
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, linear algebra uses one thread: matrices are small here, and threads that wait for each other take many
    times as long. The limit is that of the process. Where one is inside already, a second one changes nothing."""
    if not _BUSY.acquire(blocking=False):
        yield
        return
    try:
        # Has its own library, which is loaded at its first use: a limit set before that does not hold for it.
        import scipy.linalg  # noqa: F401

        try:
            limited = _libraries(len(sys.modules)).limit(limits=1)
        except ImportError:
            limited = nullcontext()  # it is faster with the package, and the same without
        with limited:
            yield
    finally:
        _BUSY.release()
