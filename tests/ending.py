"""Guards for tests: a call that might not end, or might fill the memory, is ended.

They are no stopwatches: a minute of the processor is given to what takes a second, where a defect would take for ever.
How much work is done, tests/test_effort.py counts.
"""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

resource = pytest.importorskip("resource")


class DoesNotEndError(BaseException):
    """Not an Exception: code that goes on after every Exception is ended too."""


@contextlib.contextmanager
def ending(seconds: int = 60, room: int | None = None) -> Iterator[None]:
    """What goes on after `seconds` of the processor, or waits for twenty times as many, is stopped. With `room` the
    process may have so many bytes more than it has now, whatever ran in it before.

    A loop in C, as `value in itertools.count()`, sees no signal: after thirty times as many seconds the process ends
    with a traceback, and pytest names the test as one in which a worker crashed."""

    def stop(*_: object) -> None:
        raise DoesNotEndError(f"it goes on after {seconds} s of the processor, or waits for something")

    handlers = [(number, signal.signal(number, stop)) for number in (signal.SIGVTALRM, signal.SIGALRM)]
    most = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        if room is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (_allocated() + room, most[1]))
        # A callback may swallow the first one.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)
        signal.setitimer(signal.ITIMER_REAL, 20 * seconds, 1)
        faulthandler.dump_traceback_later(30 * seconds, exit=True, file=sys.__stderr__)
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, most)
        for number, before in handlers:
            signal.signal(number, before)


def _allocated() -> int:
    """Bytes of data that this process has; 2^40 where the system does not say, and has no such limit."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmData")), 1 << 40)
