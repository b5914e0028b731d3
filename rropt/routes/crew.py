"""Processes that help with chunks of boxes once a search has proved to be long.

They are started as programmes of their own, not forked (HiGHS may have threads) and not by `multiprocessing` (which
would run the caller's main module again), talk through pipes, and end when their input does. Whatever happens to them,
the search goes on: what they had is bounded again here, and gives the same bits.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rropt.routes.boxchunks import WIDEST, Bounded, Chunk, ChunkSolver
from rropt.routes.separable import SeparableForms

START = 5.0
"""Processor seconds that chunks must have taken before processes are started for more: loading takes them two."""
WORTH = 10.0
"""Seconds that must be left for it."""
SILENT = 60.0
"""Seconds without an answer after which a process is given up: a chunk takes a tenth of a second."""
KEPT = 4
"""Problems that a process remembers."""


@dataclass(eq=False)
class Task:
    """A chunk that was handed in, and its result as soon as there is one."""

    chunk: Chunk
    answer: Bounded | None = None


class Desk:
    """Where the chunks of one problem are handed in, and their results fetched."""

    def __init__(self, crew: Crew, problem: SeparableForms) -> None:
        self.problem, self.waiting = problem, deque[Task]()
        self._crew, self._own = crew, ChunkSolver(problem)
        self._shared = problem.matrix.shape[1] <= WIDEST

    def submit(self, chunk: Chunk) -> Task:
        """Hand in a chunk. Nothing need be done at once: it may never be asked for."""
        task = Task(chunk)
        self.waiting.append(task)
        if self._shared:
            self._crew.serve(self)
        return task

    def result(self, task: Task) -> Bounded:
        """The result of a chunk; while another process has it, this one bounds others."""
        while task.answer is None:
            if task in self.waiting:
                self.waiting.remove(task)
                self._solve(task)
            elif self.waiting:
                self._solve(self.waiting.popleft())
            else:
                self._crew.wait(self)
            if self._shared:
                self._crew.serve(self)
        return task.answer

    def _solve(self, task: Task) -> None:
        begun = time.process_time()
        task.answer = self._own.solve(task.chunk)
        self._crew.spent += time.process_time() - begun


class Crew:
    """At most `workers` processes, this one included, and no more than there are cores. `notes` says what went wrong
    with them, `helped` counts the chunks that came from others. It must be closed (or used in `with`)."""

    def __init__(self, workers: int = 1, remaining: Callable[[], float | None] = lambda: None) -> None:
        self.notes: list[str] = []
        self.spent = 0.0
        self.helped = 0
        self._others = min(workers, _cores()) - 1
        self._remaining = remaining
        self._members: list[_Member] = []
        self._inbox: queue.Queue[tuple[_Member, tuple[int, Bounded] | None]] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def desk(self, problem: SeparableForms) -> Desk:
        """A place for the chunks of a problem."""
        return Desk(self, problem)

    def start(self) -> None:
        """Start the processes now. They take part as soon as they have loaded."""
        for _ in range(self._others):
            try:
                self._members.append(_Member(self._inbox))
            except OSError as error:
                self.notes.append(f"no process could be started beside this one ({error}): the search used one")
                break
        self._others = 0

    def serve(self, desk: Desk) -> None:
        """Give idle processes something to do; start them where that has become worth it."""
        if self._others and self.spent > START:
            left = self._remaining()
            if left is None or left > WORTH:
                self.start()
        if not self._members:
            return
        while self._heard(None):
            pass
        # A second chunk waits with a process while it has one, but only where others are left for this process.
        for most in (1, 2):
            for member in self._members:
                if member.ready and len(member.busy) < most and len(desk.waiting) >= most:
                    member.take(desk, desk.waiting.popleft())

    def wait(self, desk: Desk) -> None:
        """Wait for an answer; processes that have been silent for too long are given up."""
        oldest = min((member.since for member in self._members if member.busy), default=time.monotonic())
        if not self._heard(max(oldest + SILENT - time.monotonic(), 0.0)):
            for member in [one for one in self._members if one.busy and time.monotonic() - one.since >= SILENT]:
                self._lose(member, f"gave no answer for {SILENT:g} s")

    def _heard(self, seconds: float | None) -> bool:
        """Take one message, waiting for at most so long; whether there was one."""
        try:
            member, message = self._inbox.get(block=seconds is not None, timeout=seconds)
        except queue.Empty:
            return False
        if member not in self._members:
            return True
        if message is None:
            self._lose(member, "ended early")
        elif message[0] < 0:
            member.ready = True
        else:
            task = member.busy.pop(message[0])[1]
            member.since = time.monotonic()
            task.answer = message[1]
            self.helped += 1
        return True

    def _lose(self, member: _Member, why: str) -> None:
        """Go on without a process: what it had is handed in again."""
        self._members.remove(member)
        for desk, task in reversed(member.busy.values()):
            desk.waiting.appendleft(task)
        member.close()
        self.notes.append(f"a process beside this one {why}: the search went on without it")

    def close(self) -> None:
        """End the processes."""
        self._others = 0
        while self._members:
            self._members.pop().close()


@dataclass(eq=False)
class _Member:
    """One process, with a thread that writes to it and one that reads from it: nothing that it does or fails to do
    stops this process."""

    inbox: queue.Queue[tuple[_Member, tuple[int, Bounded] | None]]
    ready: bool = False
    since: float = 0.0
    busy: dict[int, tuple[Desk, Task]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What this process can import, that one shall; and one thread each.
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, **single},
            start_new_session=True,
        )
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._number, self._known = 0, deque[Desk](maxlen=KEPT)
        for work in (self._write, self._read):
            threading.Thread(target=work, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    def take(self, desk: Desk, task: Task) -> None:
        """Give it a chunk, and the problem where it does not know it."""
        if not self.busy:
            self.since = time.monotonic()
        new = desk not in self._known
        if new:
            self._known.append(desk)
        self.busy[self._number] = desk, task
        message = self._number, id(desk), desk.problem if new else None, task.chunk
        self._outbox.put(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        self._number += 1

    def _write(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        # Where it has ended, reading says so.
        with suppress(OSError, ValueError):
            while (message := self._outbox.get()) is not None:
                stream.write(message)
                stream.flush()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with suppress(OSError, ValueError, EOFError, pickle.UnpicklingError):
            while True:
                self.inbox.put((self, pickle.load(stream)))
        self.inbox.put((self, None))

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._outbox.put(None)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            # What the dead did not read cannot be flushed.
            with suppress(OSError):
                stream.close()


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main() -> None:
    """What such a process does: bound the chunks that come in, until no more do. Ctrl-C is not meant for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing that is printed may come between the answers.
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    problems: dict[int, ChunkSolver] = {}
    pickle.dump((-1, None), back)
    back.flush()
    while True:
        try:
            number, key, problem, chunk = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if problem is not None:
            problems.pop(key, None)
            problems[key] = ChunkSolver(problem)
            while len(problems) > KEPT:
                del problems[next(iter(problems))]
        pickle.dump((number, problems[key].solve(chunk)), back, pickle.HIGHEST_PROTOCOL)
        back.flush()
