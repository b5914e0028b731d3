"""The threads of linear algebra: one while a problem is solved."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import threadpoolctl


class _Limit:
    """How many are inside, and what the libraries had before the first one. The libraries are looked for again where
    modules were loaded since."""

    def __init__(self) -> None:
        self.lock, self.inside, self.modules = Lock(), 0, 0
        self.libraries: Any = None
        self.before: Any = None

    def enter(self) -> None:
        with self.lock:
            if not self.inside:
                if self.modules != len(sys.modules):
                    self.libraries, self.modules = threadpoolctl.ThreadpoolController(), len(sys.modules)
                self.before = self.libraries.limit(limits=1)
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.before.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, linear algebra uses one thread: matrices are small here, and threads that wait for each other take many
    times as long. The limit is the whole process's; threads that are inside at once share it, and the last one that
    leaves puts back what was there."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
