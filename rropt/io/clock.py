"""The clock of a solve: its time limit, Ctrl-C, and the termination of work that checks neither.

Work that checks the clock stops by itself, with its best result so far. Other work is ended: `OutOfTime` is
raised in its thread, wherever it is, and the caller goes on without it. Solvers outside of Python cannot be ended
like this, so `seconds_left` is passed to each as its own limit.
"""

import _weakrefset
import ctypes
import gc
import math
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

LATE = 1.0
"""Seconds after the end of a solve that a search may take to stop by itself."""
BRIEF = 0.4
"""Processor seconds after which a constructor stops; later calls continue its work."""
TICK = 0.1
"""Seconds between two checks of the clock."""
BLINK = 0.003
"""Seconds between two checks of work that is late, but cannot be ended at its current line."""
BUSY = 3.0
"""How much longer than its processor time work may take."""
AGAIN = 2.0
"""Seconds until work is ended a second time, where a callback swallowed the first."""
CHECKS = 100
"""Rounds of an empty loop: the interpreter checks for raised exceptions in each."""
WHOLE = {"__enter__", "__exit__", "__del__"}
"""Functions that are not ended half way."""
STARTING = threading.Thread.start.__code__
"""This function is not ended half way either."""
CALLBACKS = {weakref.__file__, _weakrefset.__file__}
"""Functions of these files are not ended either: the interpreter ignores exceptions in callbacks of weak references."""


class OutOfTime(BaseException):
    """Raised to end work. It does not derive from Exception, so that no part of the work catches it."""


class Clock:
    """The deadline of a solve that began at `begun` (of time.monotonic): `time_limit` seconds later (None: never), or
    at the first Ctrl-C, inside of `listening`."""

    def __init__(self, time_limit: float | None = None, begun: float | None = None) -> None:
        self.begun = time.monotonic() if begun is None else begun
        self.time_limit = time_limit
        self._pressed = math.inf
        self._spent: float | None = None

    @property
    def end(self) -> float:
        """The moment of time.monotonic when the time was up, or will be; infinite where nothing ends it so far."""
        limit = math.inf if self.time_limit is None else self.begun + self.time_limit
        return min(limit, self._pressed)

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.begun

    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed, or `stop` called."""
        return math.isfinite(self._pressed)

    def stop(self) -> None:
        """End the work now, as the first Ctrl-C does; later calls change nothing."""
        self._pressed = min(self._pressed, time.monotonic())

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, the first Ctrl-C only moves `end`; the second one raises KeyboardInterrupt as usual. Outside the
        main thread nothing changes, for no signal arrives there."""

        def press(number: int, frame: FrameType | None) -> None:
            if self.interrupted():
                raise KeyboardInterrupt
            self._pressed = time.monotonic()

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, press)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def is_late(self, seconds: float) -> bool:
        """Whether `end` is so many seconds of processor time ago. Where other work has most of the processor, they are
        up to BUSY times as many on the wall."""
        over = time.monotonic() - self.end
        if over >= 0 and self._spent is None:
            self._spent = time.process_time()
        if over < seconds or self._spent is None:
            return False
        return over >= BUSY * seconds or time.process_time() - self._spent >= seconds

    def within(self, seconds: float, work: Callable[[], T]) -> T | None:
        """The result of `work`; None if it was not done `seconds` after `end` (see `is_late`) and was stopped."""
        stage = _Stage(self, seconds)
        token = _STAGE.set(stage)
        try:
            try:
                _WATCHER.add(stage)
                return work()
            finally:
                stage.close()
        except OutOfTime:
            stage.close()
            if not stage.ended:
                # Work around this one is ended.
                raise
            return None
        finally:
            _STAGE.reset(token)


def seconds_left() -> float:
    """Seconds until the work at hand is ended, TICK at least; infinite where nothing ends it."""
    stage = _STAGE.get()
    return math.inf if stage is None else max(TICK, stage.until() - time.monotonic())


class _Stage:
    """Work in this thread that is ended so many seconds after the end of a clock."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.ended = False
        self._clock, self._seconds, self._around = clock, seconds, _STAGE.get()
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._done = False
        self._next = 0.0

    def until(self) -> float:
        """The moment of time.monotonic when this work, or work around it, is to be ended."""
        own = self._clock.end + self._seconds
        return own if self._around is None else min(own, self._around.until())

    def close(self) -> None:
        """The work is over and is not ended any more. A raised exception that is still pending is received here:
        revoking it would leave the interpreter's flag set, and Python 3.11 then hangs under a profiler or a
        debugger."""
        _WATCHER.drop(self)
        with self._lock:
            self._done = True
        if self.ended:
            try:
                for _ in range(CHECKS):
                    pass
            except OutOfTime:
                return

    def look(self) -> float:
        """End the work if it is late; returns the seconds until the next check."""
        if time.monotonic() < self._next or not self._clock.is_late(self._seconds):
            return TICK
        if self._must_go_on():
            return BLINK
        with self._lock:
            if not self._done:
                self.ended = True
                error = ctypes.py_object(OutOfTime)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), error)
        self._next = time.monotonic() + AGAIN
        return TICK

    def _must_go_on(self) -> bool:
        """Whether the work is loading a module, or entering or leaving a `with`, or is in a destructor: none of these
        may be left half done, for what they change outlives the work. Nor may the start of a thread: the new one has
        the number of the old one until it begins, so that the end would reach it, and the start would not return.
        In callbacks of the garbage collector and of weak references the end would be ignored."""
        collectors = [getattr(one, "__code__", None) for one in gc.callbacks]
        frame = sys._current_frames().get(self._thread)
        while frame is not None:
            code = frame.f_code
            if code.co_name in WHOLE or code is STARTING or code.co_filename.startswith("<frozen importlib"):
                return True
            if code in collectors or code.co_filename in CALLBACKS:
                return True
            frame = frame.f_back
        return False


_STAGE: ContextVar[_Stage | None] = ContextVar("stage", default=None)


class _Watcher:
    """The one thread of this process that checks all work in progress. It is started with the first work."""

    def __init__(self) -> None:
        self._stages: set[_Stage] = set()
        self._wake = threading.Condition()
        self._running = False

    def add(self, stage: _Stage) -> None:
        """Check this work from now on."""
        with self._wake:
            if not self._running:
                try:
                    threading.Thread(target=self._run, daemon=True, name="rropt-clock").start()
                except RuntimeError:
                    return  # a system without threads: a step ends where it looks at the clock itself
                self._running = True
            self._stages.add(stage)
            self._wake.notify()

    def drop(self, stage: _Stage) -> None:
        """Stop checking this work."""
        with self._wake:
            self._stages.discard(stage)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._stages:
                    self._wake.wait()
                stages = list(self._stages)
            time.sleep(min(stage.look() for stage in stages))


_WATCHER = _Watcher()


def _after_fork() -> None:
    """A child has none of the threads of its parent, and locks as they were."""
    global _WATCHER
    _WATCHER = _Watcher()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
