"""The threads of linear algebra: one while a problem is solved."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import threadpoolctl

_BUSY = Lock()
_KNOWN: dict[int, Any] = {}
"""The libraries of linear algebra, by how many modules were loaded when they were looked for."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, linear algebra uses one thread: matrices are small here, and threads that wait for each other take many
    times as long. The limit is that of the process. Where one is inside already, a second one changes nothing."""
    if not _BUSY.acquire(blocking=False):
        yield
        return
    try:
        loaded = len(sys.modules)
        if loaded not in _KNOWN:
            _KNOWN.clear()
            _KNOWN[loaded] = threadpoolctl.ThreadpoolController()
        with _KNOWN[loaded].limit(limits=1):
            yield
    finally:
        _BUSY.release()
